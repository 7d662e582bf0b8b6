// SPDX-License-Identifier: Apache-2.0
// One lane of the output stage: RESCALE of one value, in five steps with a register behind each. See README.md.
module npu_rescale_lane #(
  parameter int unsigned Float = 0
) (
  input  logic                       clk_i,
  input  logic                       advance_i,  // all registers take their next value
  // The same for all values in the pipeline.
  input  npu_contract_pkg::rescale_e kind_i,
  input  npu_contract_pkg::element_e type_i,  // of a result of floating point
  input  logic               wide_i,       // values of 48 bits, else of 32
  input  logic signed [31:0] output_zp_i,
  input  logic signed [31:0] low_i,        // range of the result's type
  input  logic signed [31:0] high_i,
  input  logic signed [31:0] clamp_min_i,
  input  logic signed [31:0] clamp_max_i,
  // With the value.
  input  logic signed [47:0] value_i,
  input  logic signed [47:0] offset_i,     // bias, or minus the input zero point
  input  logic signed [31:0] multiplier_i,
  input  logic        [ 5:0] shift_i,
  output logic signed [47:0] result_o
);

  // 1: offset, wrapping at the width of the value.
  logic signed [47:0] sum, moved_d, moved_q;
  assign sum = value_i + offset_i;
  logic signed [31:0] multiplier_q;
  logic        [ 5:0] shift_q1, shift_q2;

  // 2: product, wrapping at 64 bits.
  logic signed [31:0] factor;
  logic signed [63:0] product_q;
  logic signed [47:0] raw_q2, raw_q3, raw_q4;
  assign factor = (kind_i == npu_contract_pkg::RescaleSingle16) ? 32'($signed(multiplier_q[15:0])) : multiplier_q;

  // 3: rounding shift.
  logic signed [63:0] half, extra, rounded, shifted;
  logic signed [31:0] scaled_q;
  always_comb begin
    half = (shift_q2 == '0) ? '0 : 64'sd1 <<< (shift_q2 - 6'd1);
    extra = '0;
    if (kind_i == npu_contract_pkg::RescaleDouble32 && shift_q2 > 6'd31) begin
      extra = raw_q2 < 0 ? -64'sd1073741824 : 64'sd1073741824;
    end
    rounded = product_q + half + extra;
    shifted = rounded >>> shift_q2;
  end

  // 4: output zero point, clip to the range of the type. 5: clamp.
  logic signed [31:0] placed, clipped_q;
  assign placed = scaled_q + output_zp_i;

  function automatic logic signed [31:0] limit(logic signed [31:0] value, logic signed [31:0] low,
                                               logic signed [31:0] high);
    logic signed [31:0] raised;
    raised = (value < low) ? low : value;
    limit = (raised > high) ? high : raised;
  endfunction

  // Floating point: 1: bias, 4: clamp, 5: rounded to the result's type.
  logic signed [47:0] raw_d4, result_d;
  always_comb begin
    moved_d = wide_i ? sum : 48'($signed(sum[31:0]));
    raw_d4 = raw_q3;
    result_d = (kind_i == npu_contract_pkg::RescaleNone) ? raw_q4 : 48'(limit(clipped_q, clamp_min_i, clamp_max_i));
    if (Float != 0 && kind_i == npu_contract_pkg::RescaleFloating) begin
      moved_d = 48'(npu_float_pkg::add(value_i[31:0], offset_i[31:0]));
      raw_d4 = 48'(npu_float_pkg::clamp(1'b0, raw_q3[31:0], clamp_min_i, clamp_max_i));
      result_d = 48'(npu_float_pkg::narrow(type_i, raw_q4[31:0]));
    end
  end

  // Data registers need no reset: what is valid is known beside them.
  always_ff @(posedge clk_i) begin
    if (advance_i) begin
      moved_q <= moved_d;
      multiplier_q <= multiplier_i;
      shift_q1 <= shift_i;

      product_q <= 64'(moved_q) * 64'(factor);
      raw_q2 <= moved_q;
      shift_q2 <= shift_q1;

      scaled_q <= shifted[31:0];
      raw_q3 <= raw_q2;

      clipped_q <= limit(placed, low_i, high_i);
      raw_q4 <= raw_d4;

      result_o <= result_d;
    end
  end

  logic unused_shifted;
  assign unused_shifted = ^shifted[63:32];

endmodule
