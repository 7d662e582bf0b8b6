// SPDX-License-Identifier: Apache-2.0
// A lane against RESCALE in the specification's words: value * multiplier / 2^shift to the nearest, half up; plus the
// output zero point; clipped. Reduced: values and multipliers of 4 bits, shifts from 2 to 5. A lane has no state but
// its pipeline, so that what holds for one value behind the reset holds for all.
module rescale (
  input logic              clk_i,
  input logic signed [3:0] value_i,
  input logic signed [1:0] offset_i,
  input logic signed [3:0] multiplier_i,
  input logic        [1:0] shift_i,
  input logic signed [3:0] zp_i,
  input logic signed [3:0] low_i,
  input logic signed [3:0] high_i
);
  // The zero point and the range are the same for all values in the pipeline.
  logic started_q = 1'b0;
  logic [11:0] config_q;
  always @(posedge clk_i) begin
    started_q <= 1'b1;
    config_q <= {zp_i, low_i, high_i};
    assume (low_i <= high_i);
    if (started_q) assume ({zp_i, low_i, high_i} == config_q);
  end

  logic signed [47:0] result;
  npu_rescale_lane u_lane (
    .clk_i,
    .advance_i(1'b1),
    .kind_i(npu_contract_pkg::RescaleSingle32),
    .type_i(npu_contract_pkg::ElementI8),
    .wide_i(1'b0),
    .output_zp_i(32'($signed(zp_i))),
    .low_i(-32'sd128),
    .high_i(32'sd127),
    .clamp_min_i(32'($signed(low_i))),
    .clamp_max_i(32'($signed(high_i))),
    .value_i(48'($signed(value_i))),
    .offset_i(48'($signed(offset_i))),
    .multiplier_i(32'($signed(multiplier_i))),
    .shift_i(6'(shift_i) + 6'd2),
    .result_o(result)
  );

  // The product plus a half, and the shift, beside the pipeline.
  logic signed [11:0] rounded_d, rounded_q0, rounded_q1, rounded_q2, rounded_q3, rounded_q;
  logic [1:0] shift_q0, shift_q1, shift_q2, shift_q3, shift_q;
  logic [4:0] filled_q = '0;
  assign rounded_d = (value_i + offset_i) * multiplier_i + (12'sd2 <<< shift_i);
  always @(posedge clk_i) begin
    filled_q <= {filled_q[3:0], 1'b1};
    {rounded_q, rounded_q3, rounded_q2, rounded_q1, rounded_q0} <=
        {rounded_q3, rounded_q2, rounded_q1, rounded_q0, rounded_d};
    {shift_q, shift_q3, shift_q2, shift_q1, shift_q0} <= {shift_q3, shift_q2, shift_q1, shift_q0, shift_i};
  end

  // The quotient q is the one with q * 2^shift <= rounded < (q + 1) * 2^shift; within the range, q = result - zp.
  logic signed [11:0] quotient, below, above;
  assign quotient = result - zp_i;
  assign below = (quotient <<< shift_q) <<< 2;
  assign above = ((quotient + 12'sd1) <<< shift_q) <<< 2;
  always @(posedge clk_i) begin
    if (filled_q[4]) begin
      assert (result >= low_i && result <= high_i);
      if (result > low_i) assert (below <= rounded_q);
      if (result < high_i) assert (rounded_q < above);
    end
  end
endmodule
