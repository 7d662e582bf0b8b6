// SPDX-License-Identifier: Apache-2.0
// All FP32 numbers to f16, bf16, f8e4m3 and f8e5m2: the nearest number, of two the even one, with the value's sign;
// beyond the largest one infinity, or NaN where there is none; a NaN becomes the format's. Going by `widen`, whose few
// patterns tests/block/float_test tries one by one.
module float_narrow (
  input  logic [31:0] value_i,
  input  logic  [1:0] format_i,
  output logic        wrong_o
);
  npu_contract_pkg::element_e format;
  logic [15:0] most, none;     // largest number, NaN
  logic  [3:0] sign_place;
  logic [30:0] half_of_least;  // of the smallest number
  always_comb begin
    case (format_i)
      2'd0: {format, most, none, sign_place} = {npu_contract_pkg::ElementF16, 16'h7bff, 16'h7e00, 4'd15};
      2'd1: {format, most, none, sign_place} = {npu_contract_pkg::ElementBf16, 16'h7f7f, 16'h7fc0, 4'd15};
      2'd2: {format, most, none, sign_place} = {npu_contract_pkg::ElementF8e4m3, 16'h007e, 16'h007f, 4'd7};
      default: {format, most, none, sign_place} = {npu_contract_pkg::ElementF8e5m2, 16'h007b, 16'h007e, 4'd7};
    endcase
    case (format_i)
      2'd0: half_of_least = {8'd102, 23'd0};  // 2^-25
      2'd1: half_of_least = 31'h8000;
      2'd2: half_of_least = {8'd117, 23'd0};  // 2^-10
      default: half_of_least = {8'd110, 23'd0};  // 2^-17
    endcase
  end

  // Patterns of FP32 are in the order of what they mean, and linear from one number of a format to the next, but from
  // zero to the first.
  logic [31:0] result, sign, what_follows;  // the largest number
  logic [15:0] pattern;
  logic [30:0] magnitude, here, previous, following, next;
  logic [31:0] wide_here, wide_last, wide_next;
  logic beyond, odd;
  always_comb begin
    result = npu_float_pkg::narrow(format, value_i);
    pattern = result[15:0] & ~(16'd1 << sign_place);
    magnitude = value_i[30:0];
    sign = 32'(value_i[31]) << sign_place;
    what_follows = {16'd0, most} + 32'd1;
    if (what_follows[15:0] != none) what_follows = what_follows | sign;
    odd = pattern[0];
    beyond = pattern > most;
    wide_here = npu_float_pkg::widen(format, 32'(beyond ? most : pattern));
    wide_last = npu_float_pkg::widen(format, 32'((beyond ? most : pattern) - 16'd1));
    wide_next = npu_float_pkg::widen(format, 32'(pattern + 16'd1));
    {here, previous, following} = {wide_here[30:0], wide_last[30:0], wide_next[30:0]};
    // Where the next number would be behind the largest one.
    if (pattern >= most) following = here + (here - previous);
    // The middles to both sides.
    next = (pattern == '0) ? half_of_least : here + ((following - here) >> 1);
    previous = (pattern == 16'd1) ? half_of_least : previous + ((here - previous) >> 1);

    wrong_o = result[31:16] != '0;
    if (npu_float_pkg::is_nan(value_i)) begin
      if (result != 32'(none)) wrong_o = 1'b1;
    end else if (beyond) begin
      if (magnitude < next || (magnitude == next && !most[0])) wrong_o = 1'b1;
      if (result != what_follows) wrong_o = 1'b1;
    end else begin
      if (result != (32'(pattern) | sign)) wrong_o = 1'b1;
      if (magnitude > next || (magnitude == next && odd)) wrong_o = 1'b1;
      if (pattern != '0 && (magnitude < previous || (magnitude == previous && odd))) wrong_o = 1'b1;
    end
  end
endmodule
