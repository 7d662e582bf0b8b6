// SPDX-License-Identifier: Apache-2.0
// A first-in first-out buffer of Depth entries. What enters can leave in the next cycle. Throughput: one entry a cycle
// in each direction, also while it is full or empty on the other side.
`include "npu_assert.svh"

module npu_fifo #(
  parameter int unsigned Width = 8,
  parameter int unsigned Depth = 4
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             valid_i,
  output logic             ready_o,
  input  logic [Width-1:0] data_i,
  output logic             valid_o,
  input  logic             ready_i,
  output logic [Width-1:0] data_o
);
  localparam int unsigned IndexWidth = (Depth > 1) ? $clog2(Depth) : 1;
  localparam int unsigned CountWidth = $clog2(Depth + 1);

  logic [Width-1:0] entries_q [Depth];
  logic [IndexWidth-1:0] head_q, tail_q;
  logic [CountWidth-1:0] count_q;
  logic push, pop;

  assign ready_o = count_q != CountWidth'(Depth);
  assign valid_o = count_q != '0;
  assign data_o = entries_q[head_q];
  assign push = valid_i && ready_o;
  assign pop = valid_o && ready_i;

  function automatic logic [IndexWidth-1:0] next(input logic [IndexWidth-1:0] index);
    next = (index == IndexWidth'(Depth - 1)) ? '0 : index + 1'b1;
  endfunction

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      head_q <= '0;
      tail_q <= '0;
      count_q <= '0;
    end else begin
      if (push) tail_q <= next(tail_q);
      if (pop) head_q <= next(head_q);
      if (push != pop) count_q <= push ? count_q + 1'b1 : count_q - 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (push) entries_q[tail_q] <= data_i;
  end

  `NPU_ASSERT(CountInRange, count_q <= CountWidth'(Depth))
  `NPU_ASSERT_STABLE(DataStable, valid_o, ready_i, data_o)

endmodule
