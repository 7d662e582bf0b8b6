// SPDX-License-Identifier: Apache-2.0
// Floating point as the contract defines it: FP32 patterns, and smaller formats to and from them. Functions, for the
// VPU applies them to a lane after the other. Values are patterns of 32 bits.
package npu_float_pkg;

  parameter logic [31:0] Nan = 32'h7fc0_0000;  // the only one that arithmetic makes
  parameter logic [31:0] Infinity = 32'h7f80_0000;
  parameter logic [31:0] One = 32'h3f80_0000;

  // The largest of some parameters.
  function automatic int largest(input int a, input int b, input int c, input int d, input int e);
    largest = a;
    if (b > largest) largest = b;
    if (c > largest) largest = c;
    if (d > largest) largest = d;
    if (e > largest) largest = e;
  endfunction

  function automatic logic is_float(input npu_contract_pkg::element_e type_arg);
    is_float = type_arg >= npu_contract_pkg::ElementF16;
  endfunction
  // Log2 of the bytes of an element of floating point.
  function automatic logic [1:0] bytes_log2(input npu_contract_pkg::element_e type_arg);
    case (type_arg)
      npu_contract_pkg::ElementF32: bytes_log2 = 2'd2;
      npu_contract_pkg::ElementF16, npu_contract_pkg::ElementBf16: bytes_log2 = 2'd1;
      default: bytes_log2 = 2'd0;
    endcase
  endfunction
  function automatic logic is_nan(input logic [31:0] value);
    is_nan = value[30:0] > Infinity[30:0];
  endfunction
  function automatic logic is_infinite(input logic [31:0] value);
    is_infinite = value[30:0] == Infinity[30:0];
  endfunction
  function automatic logic is_zero(input logic [31:0] value);
    is_zero = value[30:0] == '0;
  endfunction
  function automatic logic [31:0] one_nan(input logic [31:0] value);
    one_nan = is_nan(value) ? Nan : value;
  endfunction

  // A number is mantissa * 2^(exponent - 150); subnormal ones have the exponent of the smallest normal ones.
  function automatic logic [7:0] exponent(input logic [31:0] value);
    exponent = (value[30:23] == '0) ? 8'd1 : value[30:23];
  endfunction
  function automatic logic [23:0] mantissa(input logic [31:0] value);
    mantissa = {value[30:23] != '0, value[22:0]};
  endfunction

  // Comparisons; a NaN is neither less than nor equal to anything, and zeros are equal.
  function automatic logic less(input logic [31:0] one, input logic [31:0] other);
    if (is_nan(one) || is_nan(other) || (is_zero(one) && is_zero(other))) less = 1'b0;
    else if (one[31] != other[31]) less = one[31];
    else less = one[31] ? one[30:0] > other[30:0] : one[30:0] < other[30:0];
  endfunction
  function automatic logic equal(input logic [31:0] one, input logic [31:0] other);
    equal = !is_nan(one) && !is_nan(other) && (one == other || (is_zero(one) && is_zero(other)));
  endfunction

  // The larger or smaller one, of equal ones the first. Of a NaN and a number: the number or a NaN.
  function automatic logic [31:0] better(input logic larger, input logic ignore_nan, input logic [31:0] one,
                                         input logic [31:0] other);
    better = (larger ? less(one, other) : less(other, one)) ? other : one;
    if (is_nan(one) || is_nan(other)) begin
      better = Nan;
      if (ignore_nan && !is_nan(one)) better = one;
      if (ignore_nan && !is_nan(other)) better = other;
    end
  endfunction
  function automatic logic [31:0] clamp(input logic ignore_nan, input logic [31:0] value, input logic [31:0] least,
                                        input logic [31:0] most);
    clamp = less(value, least) ? least : value;
    clamp = less(most, clamp) ? most : clamp;
    if (is_nan(value)) clamp = ignore_nan ? least : Nan;
  endfunction

  // A signed integer of the same order. NaNs are all the same one, above or below everything.
  function automatic logic [31:0] order(input logic ignore_nan, input logic [31:0] value);
    order = value[31] ? -{1'b0, value[30:0]} : value;
    if (is_nan(value)) order = ignore_nan ? 32'h8000_0000 : 32'h7fff_ffff;
  endfunction

  // FP32 of an element, whose bits are the low ones of `bits`. The halves of f16 and f8e5m2 have the same places.
  function automatic logic [31:0] widen(input npu_contract_pkg::element_e type_arg, input logic [31:0] bits);
    logic negative, special;
    logic [4:0] power;
    logic [9:0] fraction;
    logic [7:0] below;  // FP32's exponent is higher
    logic [3:0] zeros;
    {negative, power, fraction} = bits[15:0];
    below = 8'd112;
    if (type_arg == npu_contract_pkg::ElementF8e5m2) {negative, power, fraction} = {bits[7:0], 8'd0};
    special = power == '1;
    if (type_arg == npu_contract_pkg::ElementF8e4m3) begin
      {negative, power, fraction} = {bits[7], 1'b0, bits[6:0], 7'd0};
      below = 8'd120;
      special = bits[6:0] == '1;
    end
    zeros = '0;
    if (power == '0) begin
      for (int i = 0; i < 10; i++) if (fraction[i]) zeros = 4'(10 - i);
      fraction = fraction << zeros;
    end
    widen = {negative, below + 8'(power) + 8'(power == '0) - 8'(zeros), fraction, 13'd0};
    if (power == '0 && zeros == '0) widen[30:0] = '0;
    if (special) widen = (fraction == '0) ? {negative, Infinity[30:0]} : Nan;
    if (type_arg == npu_contract_pkg::ElementBf16) widen = one_nan({bits[15:0], 16'd0});
    if (type_arg == npu_contract_pkg::ElementF32) widen = bits;
  endfunction

  // The pattern of a smaller format, rounded to nearest, ties to even; an f32 as it is.
  function automatic logic [31:0] narrow(input npu_contract_pkg::element_e type_arg, input logic [31:0] value);
    logic [15:0] most, beyond, none;  // largest number, what follows it, NaN
    logic [4:0] dropped;              // bits of the mantissa
    logic [7:0] least, below;         // exponent of the smallest normal number; FP32's is higher
    logic [8:0] shift;
    logic [49:0] placed;
    logic [17:0] bits;
    logic [3:0] sign_place;
    case (type_arg)
      npu_contract_pkg::ElementBf16: {dropped, least, sign_place} = {5'd16, 8'd1, 4'd15};
      npu_contract_pkg::ElementF8e4m3: {dropped, least, sign_place} = {5'd20, 8'd121, 4'd7};
      npu_contract_pkg::ElementF8e5m2: {dropped, least, sign_place} = {5'd21, 8'd113, 4'd7};
      default: {dropped, least, sign_place} = {5'd13, 8'd113, 4'd15};
    endcase
    case (type_arg)
      npu_contract_pkg::ElementBf16: {most, beyond, none} = {16'h7f7f, 16'h7f80, 16'h7fc0};
      npu_contract_pkg::ElementF8e4m3: {most, beyond, none} = {16'h007e, 16'h007f, 16'h007f};
      npu_contract_pkg::ElementF8e5m2: {most, beyond, none} = {16'h007b, 16'h007c, 16'h007e};
      default: {most, beyond, none} = {16'h7bff, 16'h7c00, 16'h7e00};
    endcase
    // Subnormal numbers lose more bits, at most all of them; the mantissa's upper bit counts for the exponent.
    below = '0;
    shift = 9'(dropped);
    if (exponent(value) < least) shift = shift + 9'(least - exponent(value));
    else below = exponent(value) - least;
    if (shift > 9'd25) shift = 9'd25;
    placed = {mantissa(value), 26'd0} >> shift;
    bits = 18'(placed[49:26]) + 18'(placed[25] && (placed[26] || placed[24:0] != '0));
    case (type_arg)
      npu_contract_pkg::ElementBf16: bits = bits + {3'd0, below, 7'd0};
      npu_contract_pkg::ElementF8e4m3: bits = bits + {7'd0, below, 3'd0};
      npu_contract_pkg::ElementF8e5m2: bits = bits + {8'd0, below, 2'd0};
      default: bits = bits + {below, 10'd0};
    endcase
    if (bits > {2'd0, most}) bits = {2'd0, beyond};
    narrow = 32'(bits[15:0]) | (32'(value[31]) << sign_place);
    if (is_nan(value) || bits[15:0] == none) narrow = 32'(none);  // without a sign
    if (type_arg == npu_contract_pkg::ElementF32) narrow = value;
  endfunction

  // A value rounded to a format, and FP32 again.
  function automatic logic [31:0] rounded(input npu_contract_pkg::element_e type_arg, input logic [31:0] value);
    rounded = widen(type_arg, narrow(type_arg, one_nan(value)));
  endfunction

  // product * 2^(power - 300) + addend, rounded once. The addend is a number; where there is none, a zero of the
  // product's sign.
  function automatic logic [31:0] fused(input logic negative, input logic [47:0] product,
                                        input logic signed [11:0] power, input logic [31:0] addend);
    logic signed [11:0] apart, place, base, biased;
    logic beyond, flipped, up;
    logic [104:0] placed;
    logic [79:0] left, right, sum, rest, marker;
    logic [80:0] difference;
    logic [6:0] zeros;
    // The product has four bits below it. An addend whose last bit is 51 places above the product's makes of the
    // product a bit below all that count, however far apart they are; so does the smallest number of FP32.
    apart = 12'sd150 + 12'(exponent(addend)) - power;
    beyond = apart > 12'sd51 || product == '0;
    place = beyond ? 12'sd80 : (apart < -12'sd29) ? 12'sd0 : apart + 12'sd29;
    base = beyond ? 12'(exponent(addend)) - 12'sd205 : power - 12'sd304;  // 2^base is the last bit
    // What falls off is a last bit. No more than one bit is lost where that happens: the product is larger by far.
    placed = 105'(mantissa(addend)) << place;
    left = {28'd0, product, 4'd0};
    right = placed[104:25] | 80'(placed[24:0] != '0);
    difference = {1'b0, left} - {1'b0, right};
    flipped = 1'b0;
    sum = left + right;
    if (negative != addend[31]) begin
      flipped = difference[80];
      sum = flipped ? right - left : difference[79:0];
    end
    // Up to the first bit, or as far as the smallest exponent allows.
    biased = base + 12'sd205;
    marker = (biased > 12'sd79) ? '0 : {1'b1, 79'd0} >> biased[6:0];
    rest = sum | marker;
    zeros = '0;
    if (rest[79:16] == '0) {zeros[6], rest} = {1'b1, rest << 64};
    if (rest[79:48] == '0) {zeros[5], rest} = {1'b1, rest << 32};
    if (rest[79:64] == '0) {zeros[4], rest} = {1'b1, rest << 16};
    if (rest[79:72] == '0) {zeros[3], rest} = {1'b1, rest << 8};
    if (rest[79:76] == '0) {zeros[2], rest} = {1'b1, rest << 4};
    if (rest[79:78] == '0) {zeros[1], rest} = {1'b1, rest << 2};
    zeros[0] = !rest[79];
    rest = sum << zeros;
    biased = biased + 12'sd1 - 12'(zeros);
    up = rest[55] && (rest[56] || rest[54:0] != '0);
    fused = {flipped ? addend[31] : negative, (rest[79] ? biased[7:0] : 8'd0), rest[78:56]};
    fused[30:0] = fused[30:0] + 31'(up);
    if (rest[79] && biased > 12'sd254) fused[30:0] = Infinity[30:0];
    if (sum == '0) fused = {negative && addend[31], 31'd0};
  endfunction

  // Sums where nothing is multiplied: for the nodes of a tree.
  function automatic logic [31:0] add(input logic [31:0] one, input logic [31:0] other);
    logic swap, up;
    logic [31:0] major, minor;
    logic [7:0] apart, biased;
    logic [53:0] placed;
    logic [27:0] sum, marker, rest;
    logic [4:0] zeros;
    swap = other[30:0] > one[30:0];
    major = swap ? other : one;
    minor = swap ? one : other;
    biased = exponent(major);
    apart = biased - exponent(minor);
    if (apart > 8'd26) apart = 8'd26;
    // A bit above for the carry, three below, of which the last one stands for all that fall off.
    placed = {mantissa(minor), 30'd0} >> apart;
    sum = {1'b0, placed[53:28], placed[27:0] != '0};
    sum = (one[31] != other[31]) ? {1'b0, mantissa(major), 3'd0} - sum : {1'b0, mantissa(major), 3'd0} + sum;
    marker = (biased > 8'd27) ? '0 : {1'b1, 27'd0} >> biased;
    rest = sum | marker;
    zeros = '0;
    if (rest[27:12] == '0) {zeros[4], rest} = {1'b1, rest << 16};
    if (rest[27:20] == '0) {zeros[3], rest} = {1'b1, rest << 8};
    if (rest[27:24] == '0) {zeros[2], rest} = {1'b1, rest << 4};
    if (rest[27:26] == '0) {zeros[1], rest} = {1'b1, rest << 2};
    zeros[0] = !rest[27];
    rest = sum << zeros;
    biased = biased + 8'd1 - 8'(zeros);
    up = rest[3] && (rest[4] || rest[2:0] != '0);
    add = {major[31], rest[27] ? biased : 8'd0, rest[26:4]};
    add[30:0] = add[30:0] + 31'(up);
    if (rest[27] && biased == 8'd255) add[30:0] = Infinity[30:0];
    if (sum == '0) add = {one[31] && other[31], 31'd0};
    if (is_infinite(major)) add = major;
    if (is_infinite(one) && is_infinite(other) && one[31] != other[31]) add = Nan;
    if (is_nan(one) || is_nan(other)) add = Nan;
  endfunction

  // Products where nothing is added, of numbers with `width` bits of mantissa: those of a format, its upper one included.
  function automatic logic [4:0] width_of(input npu_contract_pkg::element_e type_arg);
    case (type_arg)
      npu_contract_pkg::ElementF32: width_of = 5'd24;
      npu_contract_pkg::ElementF16: width_of = 5'd11;
      npu_contract_pkg::ElementBf16: width_of = 5'd8;
      default: width_of = 5'd4;
    endcase
  endfunction
  // With `exact` none needs to be rounded: f16's and f8's have at most 22 bits, and the smallest are normal in FP32.
  function automatic logic is_exact(input npu_contract_pkg::element_e type_arg);
    is_exact = type_arg != npu_contract_pkg::ElementF32 && type_arg != npu_contract_pkg::ElementBf16;
  endfunction
  function automatic logic [31:0] product(input logic [4:0] width, input logic exact, input logic [31:0] one,
                                          input logic [31:0] other);
    logic negative, up;
    logic [23:0] kept;
    logic [47:0] bits, marker, rest;
    logic [95:0] placed;
    logic signed [10:0] biased;
    logic [5:0] zeros, shift;
    negative = one[31] ^ other[31];
    kept = ~(24'hff_ffff >> width);
    bits = {24'd0, mantissa(one) & kept} * {24'd0, mantissa(other) & kept};
    biased = 11'(exponent(one)) + 11'(exponent(other)) - 11'sd126;  // if the first bit is the product's upper one
    if (exact) begin
      rest = bits[47] ? bits : bits << 1;
      biased = biased - 11'(!bits[47]);
    end else if (biased < 11'sd1) begin
      // Down to where subnormal numbers have their bits; what falls off is a last bit.
      shift = (biased < -11'sd46) ? 6'd48 : 6'(11'sd1 - biased);
      placed = {bits, 48'd0} >> shift;
      rest = placed[95:48] | 48'(placed[47:0] != '0);
      biased = 11'sd1;
    end else begin
      // Up to the first bit, or as far as the smallest exponent allows.
      marker = (biased > 11'sd47) ? '0 : {1'b1, 47'd0} >> (biased - 11'sd1);
      rest = bits | marker;
      zeros = '0;
      if (rest[47:16] == '0) {zeros[5], rest} = {1'b1, rest << 32};
      if (rest[47:32] == '0) {zeros[4], rest} = {1'b1, rest << 16};
      if (rest[47:40] == '0) {zeros[3], rest} = {1'b1, rest << 8};
      if (rest[47:44] == '0) {zeros[2], rest} = {1'b1, rest << 4};
      if (rest[47:46] == '0) {zeros[1], rest} = {1'b1, rest << 2};
      zeros[0] = !rest[47];
      rest = bits << zeros;
      biased = biased - 11'(zeros);
    end
    up = !exact && rest[23] && (rest[24] || rest[22:0] != '0);
    product = {negative, rest[47] ? biased[7:0] : 8'd0, rest[46:24]};
    product[30:0] = product[30:0] + 31'(up);
    if (rest[47] && biased > 11'sd254) product[30:0] = Infinity[30:0];
    if (is_infinite(one) || is_infinite(other)) product[30:0] = Infinity[30:0];
    if (is_nan(one) || is_nan(other) || (is_infinite(one) && is_zero(other)) ||
        (is_zero(one) && is_infinite(other))) begin
      product = Nan;
    end
  endfunction

  // The whole number below (mode 0), above (1) or nearest to (2) a value.
  function automatic logic [31:0] whole(input logic [1:0] mode, input logic [31:0] value);
    logic [22:0] below, fraction;
    logic half, up;
    below = (exponent(value) < 8'd127) ? '1 : 23'((24'd1 << (5'd22 - 5'(exponent(value) - 8'd128))) - 24'd1);
    fraction = value[22:0] & below;
    half = (value[22:0] & below & ~(below >> 1)) != '0;  // and more: the bits below that
    if (exponent(value) < 8'd127) begin
      fraction = 23'(!is_zero(value));
      up = exponent(value) == 8'd126 && value[22:0] != '0;
      whole = {value[31], 31'd0};
    end else begin
      up = half && ((fraction & (below >> 1)) != '0 || (value & ({9'd0, below} + 32'd1)) != '0);
      whole = {value[31:23], value[22:0] & ~below};
    end
    if (mode != 2'd2) up = fraction != '0 && value[31] == (mode == 2'd0);
    if (up && exponent(value) < 8'd127) whole[30:0] = One[30:0];
    else if (up) whole[30:0] = whole[30:0] + {8'd0, below} + 31'd1;
    if (exponent(value) >= 8'd150) whole = one_nan(value);
  endfunction

  // The whole number nearest to a value, clipped to a type; of a NaN 0.
  function automatic logic [31:0] integer_of(input npu_contract_pkg::element_e type_arg, input logic [31:0] value);
    logic [65:0] placed;
    logic [31:0] magnitude, most;
    logic [7:0] shift;
    case (type_arg)
      npu_contract_pkg::ElementI8: most = 32'd127;
      npu_contract_pkg::ElementI16: most = 32'd32767;
      default: most = 32'h7fff_ffff;
    endcase
    shift = 8'd158 - exponent(value);
    if (shift > 8'd33) shift = 8'd33;
    placed = {mantissa(value), 42'd0} >> shift;
    magnitude = placed[65:34] + 32'(placed[33] && (placed[34] || placed[32:0] != '0));
    if (exponent(value) >= 8'd158 || magnitude > most + 32'(value[31])) magnitude = most + 32'(value[31]);
    integer_of = value[31] ? -magnitude : magnitude;
    if (is_nan(value)) integer_of = '0;
  endfunction

  // Of the leading bit of a magnitude; a zero has -256, an infinity or NaN 128.
  function automatic logic [31:0] leading(input logic [31:0] value);
    logic [4:0] zeros;
    zeros = '0;
    for (int i = 0; i < 23; i++) if (value[i]) zeros = 5'(22 - i);
    leading = 32'(value[30:23]) - 32'd127;
    if (value[30:23] == '0) leading = -32'd127 - 32'(zeros);
    if (is_zero(value)) leading = -32'd256;
  endfunction

endpackage : npu_float_pkg
