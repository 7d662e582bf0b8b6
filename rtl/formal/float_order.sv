// SPDX-License-Identifier: Apache-2.0
// Comparisons of all pairs of FP32 numbers: those of the integers that npu_float_pkg::order makes of them; what is
// clamped lies within limits that are in order, and is the value where that does; a NaN stays one.
module float_order (
  input  logic [31:0] a_i,
  input  logic [31:0] b_i,
  input  logic [31:0] c_i,
  output logic        wrong_o
);
  logic signed [31:0] a, b, clamped, least, most;
  logic [31:0] result;
  logic nan_a, nan_b, nan_c, fits;
  always_comb begin
    nan_a = npu_float_pkg::is_nan(a_i);
    nan_b = npu_float_pkg::is_nan(b_i);
    nan_c = npu_float_pkg::is_nan(c_i);
    a = npu_float_pkg::order(1'b0, a_i);
    b = npu_float_pkg::order(1'b0, b_i);
    wrong_o = npu_float_pkg::less(a_i, b_i) != (!nan_a && !nan_b && a < b) ||
              npu_float_pkg::equal(a_i, b_i) != (!nan_a && !nan_b && a == b);

    result = npu_float_pkg::clamp(1'b0, a_i, b_i, c_i);
    clamped = npu_float_pkg::order(1'b0, result);
    least = b;
    most = npu_float_pkg::order(1'b0, c_i);
    fits = !nan_a && least <= a && a <= most;
    if (!nan_b && !nan_c && least <= most) begin
      if (nan_a && result != npu_float_pkg::Nan) wrong_o = 1'b1;
      if (!nan_a && (clamped < least || clamped > most)) wrong_o = 1'b1;
      if (fits && result != a_i) wrong_o = 1'b1;
    end
  end
endmodule
