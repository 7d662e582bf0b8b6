// SPDX-License-Identifier: Apache-2.0
// Loads parameter blocks and tables, operand by operand, into rows of the table memory. See README.md.
`include "npu_assert.svh"

module npu_vpu_blobs #(
  parameter int unsigned RowBytes = 32,
  parameter int unsigned Rows = 256,
  localparam int unsigned RowBits = $clog2(Rows),
  localparam int unsigned CountBits = $clog2(RowBytes) + 1
) (
  input  logic                                      clk_i,
  input  logic                                      rst_ni,
  input  logic                                      init_i,
  input  logic                         [7:0] [31:0] bytes_i,    // of each operand; 0: nothing to load
  output logic                                      done_o,     // with this cycle everything is there

  output logic                                      valid_o,
  input  logic                                      ready_i,
  output logic                                [2:0] operand_o,
  output logic                               [31:0] offset_o,
  output logic                      [CountBits-1:0] count_o,    // bytes
  input  logic                     [8*RowBytes-1:0] data_i,

  output logic                                      write_o,
  output logic                        [RowBits-1:0] write_row_o,
  output logic                  [7:0] [RowBits-1:0] row_o,      // where an operand's bytes begin
  output npu_contract_pkg::parameter_header_t [7:0] header_o    // its first bytes
);
  if (RowBytes < 32) begin : gen_row
    $error("npu_vpu_blobs: a parameter header must fit into a row");
  end

  logic [7:0] left_q, this_one;
  logic [31:0] offset_q, rest;
  logic [RowBits:0] row_q;
  logic last, taken;
  assign this_one = left_q & (~left_q + 8'd1);
  always_comb begin
    operand_o = '0;
    for (int unsigned i = 0; i < 8; i++) if (this_one[i]) operand_o = 3'(i);
  end
  assign rest = bytes_i[operand_o] - offset_q;
  assign last = rest <= 32'(RowBytes);
  assign valid_o = left_q != '0;
  assign taken = valid_o && ready_i;
  assign offset_o = offset_q;
  assign count_o = last ? CountBits'(rest) : CountBits'(RowBytes);
  assign done_o = left_q == '0 || (taken && last && left_q == this_one);
  assign write_o = taken;
  assign write_row_o = row_q[RowBits-1:0];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      left_q <= '0;
    end else if (init_i) begin
      for (int unsigned i = 0; i < 8; i++) left_q[i] <= bytes_i[i] != '0;
    end else if (taken && last) begin
      left_q <= left_q & ~this_one;
    end
  end
  always_ff @(posedge clk_i) begin
    if (init_i) begin
      offset_q <= '0;
      row_q <= '0;
    end else if (taken) begin
      offset_q <= last ? '0 : offset_q + 32'(RowBytes);
      row_q <= row_q + 1'b1;
      if (offset_q == '0) begin
        row_o[operand_o] <= row_q[RowBits-1:0];
        header_o[operand_o] <= data_i[255:0];
      end
    end
  end

  `NPU_ASSUME(RowsSuffice, !valid_o || row_q < (RowBits + 1)'(Rows))
  `NPU_ASSERT_STABLE(ParameterStable, valid_o, ready_i, {operand_o, offset_o, count_o})

endmodule
