// SPDX-License-Identifier: Apache-2.0
// Every beat lies within the bytes that the descriptor spans: from the base, down by the negative strides and up by the
// positive ones, and of an indexed walk up by the offset of a row. And a walk ends: it has no more beats than bytes, and
// takes an offset for each row. Reduced: two dimensions, of which one chooses the row, counts and runs up to 3, offsets
// of 0 or 2.
module dma_walk (
  input logic       clk_i,
  input logic       start_i,
  input logic       ready_i,
  input logic [6:0] base_i,
  input logic [1:0] run_i,
  input logic [3:0] count_i,
  input logic [7:0] stride_i,
  input logic       indexed_i,
  input logic       offset_valid_i,
  input logic       offset_i
);
  logic rst_n = 1'b0;
  always @(posedge clk_i) rst_n <= 1'b1;

  logic start_ready, valid, last, taken;
  logic [6:0] address;
  logic [1:0] bytes;
  logic [2:0] unused_phase;
  npu_dma_walk #(
    .PortBytes(2), .AddressWidth(7), .Rank(2), .RowDims(1), .CountWidth(2), .PieceWidth(5), .StrideWidth(4)
  ) u_walk (
    .clk_i,
    .rst_ni(rst_n),
    .start_valid_i(start_i),
    .start_ready_o(start_ready),
    .base_i,
    .run_bytes_i(run_i),
    .count_i,
    .stride_i,
    .waits_i(indexed_i),
    .indexed_i,
    .stop_i(1'b0),
    .offset_valid_i,
    .offset_i({5'd0, offset_i, 1'b0}),
    .offset_taken_o(taken),
    .valid_o(valid),
    .ready_i,
    .address_o(address),
    .bytes_o(bytes),
    .phase_o(unused_phase),
    .last_o(last)
  );

  logic [6:0] base_q;
  logic [6:0] low_q, high_q;  // reach below and above the base
  logic [4:0] left_q = '0;    // bytes that are still to come
  logic [1:0] rows_q;         // that have no offset yet
  logic indexed_q;
  logic signed [6:0] outer, inner;  // from the first index of a dimension to its last
  logic [6:0] low, high;
  assign outer = 7'($signed(stride_i[3:0])) * $signed({5'd0, count_i[1:0] - 2'd1});
  assign inner = 7'($signed(stride_i[7:4])) * $signed({5'd0, count_i[3:2] - 2'd1});
  assign low = (outer < 0 ? -outer : 7'sd0) + (inner < 0 ? -inner : 7'sd0);
  assign high = {5'd0, run_i} + (indexed_i ? 7'd2 : 7'd0) + (outer < 0 ? 7'sd0 : outer) + (inner < 0 ? 7'sd0 : inner);

  logic [4:0] total;
  assign total = {3'd0, run_i} * {3'd0, count_i[1:0]} * {3'd0, count_i[3:2]};
  logic [6:0] offset;  // above the lowest byte
  assign offset = address - base_q + low_q;
  always @(posedge clk_i) begin
    // What the sequencer has checked. Bases only shift, and waiting only holds (BeatStable).
    assume (ready_i);
    assume (offset_valid_i);
    if (start_i) assume (base_i == '0);
    if (start_i) assume (run_i != 0 && count_i[1:0] != 0 && count_i[3:2] != 0);
    if (rst_n && start_i && start_ready) begin
      base_q <= base_i;
      low_q <= low;
      high_q <= high;
      left_q <= total;
      rows_q <= count_i[1:0];
      indexed_q <= indexed_i;
    end else if (rst_n && valid && ready_i) begin
      left_q <= left_q - 5'(bytes);
    end
    if (rst_n && taken) begin
      rows_q <= rows_q - 2'd1;
      assert (indexed_q && rows_q != '0);
    end
    if (rst_n && valid) begin
      assert (!last || !indexed_q || rows_q == '0);
      assert (offset < low_q + high_q);
      assert (offset + 7'(bytes) <= low_q + high_q);
      assert (5'(bytes) <= left_q);
      assert (last == (left_q == 5'(bytes)));
    end
  end
endmodule
