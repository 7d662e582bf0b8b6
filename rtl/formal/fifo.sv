// SPDX-License-Identifier: Apache-2.0
// Every entry comes out once, in its turn: one that the solver chooses is followed through the buffer.
module fifo #(
  parameter int unsigned Depth = 3
) (
  input logic       clk_i,
  input logic       valid_i,
  input logic       ready_i,
  input logic       follow_i,
  input logic [1:0] data_i
);
  logic rst_n = 1'b0;
  always @(posedge clk_i) rst_n <= 1'b1;

  logic ready, valid;
  logic [1:0] data;
  npu_fifo #(.Width(2), .Depth(Depth)) u_fifo (
    .clk_i,
    .rst_ni(rst_n),
    .valid_i,
    .ready_o(ready),
    .data_i,
    .valid_o(valid),
    .ready_i,
    .data_o(data)
  );

  logic push, pop;
  assign push = rst_n && valid_i && ready;
  assign pop = rst_n && valid && ready_i;
  logic [3:0] held = '0, ahead = '0;  // entries held, and of them those in front of the one that is followed
  logic following = 1'b0;
  logic [1:0] followed;
  always @(posedge clk_i) begin
    held <= held + 4'(push) - 4'(pop);
    if (!following && push && follow_i) begin
      following <= 1'b1;
      followed <= data_i;
      ahead <= held - 4'(pop);
    end else if (following && pop) begin
      if (ahead == '0) following <= 1'b0;
      else ahead <= ahead - 1'b1;
    end
    if (rst_n) begin
      assert (valid == (held != '0));
      assert (ready == (held != Depth));
      if (following) assert (valid);
      if (following && ahead == '0) assert (data == followed);
    end
  end
endmodule
