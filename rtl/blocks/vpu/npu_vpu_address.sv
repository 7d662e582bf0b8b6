// SPDX-License-Identifier: Apache-2.0
// Byte offsets of a vector's elements in an operand, registered. See README.md.
module npu_vpu_address #(
  parameter int unsigned Lanes = 8
) (
  input  logic                    clk_i,
  input  logic                    take_i,
  input  logic       [3:0] [31:0] dims_i,    // outermost first
  input  logic       [3:0] [31:0] stride_i,
  input  logic             [31:0] base_i,
  input  logic       [3:0] [31:0] first_i,   // where lane 0 stands
  input  logic [Lanes-1:0]  [1:0] step_i,    // of each lane: the outermost dimension that moves
  output logic [Lanes-1:0] [31:0] offset_o
);
  // From an element to the next: one up in a dimension, and back to the start in those within.
  logic [3:0] [31:0] up, back;
  logic [31:0] origin;
  always_comb begin
    for (int d = 0; d < 4; d++) back[d] = (dims_i[d] - 32'd1) * stride_i[d];
    up[3] = stride_i[3];
    up[2] = stride_i[2] - back[3];
    up[1] = stride_i[1] - back[2] - back[3];
    up[0] = stride_i[0] - back[1] - back[2] - back[3];
    origin = base_i;
    for (int d = 0; d < 4; d++) origin = origin + first_i[d] * stride_i[d];
  end
  logic unused_back;
  assign unused_back = ^back[0];

  // A prefix sum.
  function automatic logic [Lanes-1:0] [31:0] sums(logic [31:0] first, logic [3:0] [31:0] ups,
                                                   logic [Lanes-1:0] [1:0] step);
    logic [31:0] sum;
    sum = first;
    for (int unsigned i = 0; i < Lanes; i++) begin
      if (i != 0) sum = sum + ups[step[i]];
      sums[i] = sum;
    end
  endfunction
  always_ff @(posedge clk_i) if (take_i) offset_o <= sums(origin, up, step_i);

endmodule
