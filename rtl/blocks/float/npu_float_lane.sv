// SPDX-License-Identifier: Apache-2.0
// The micro-operations of floating point in one lane; combinational. Sums, products, and what rounds like them share
// one multiplier and one adder. See README.md.
module npu_float_lane (
  input  logic                         valid_i,  // else the result means nothing
  input  npu_contract_pkg::uop_e       op_i,
  input  npu_contract_pkg::element_e   type_i,   // what imm0 names, where it names one
  input  logic                  [31:0] imm0_i,
  input  logic                  [31:0] imm1_i,
  input  logic                         flag_i,   // of fclamp: ignore a NaN
  input  logic                  [31:0] a_i,
  input  logic                  [31:0] b_i,
  input  logic                  [31:0] c_i,      // of fma: the register that imm0 names
  output logic                  [31:0] result_o
);
  // a * factor + addend; without an addend a zero that changes nothing.
  logic [31:0] factor, addend, magnitude, sum;
  logic has_addend, negative, infinite, whole;
  logic [47:0] product;
  logic signed [11:0] power, by;
  always_comb begin
    {factor, addend, magnitude, sum, has_addend, negative, infinite, whole, product, power, by} = '0;
    if (valid_i) begin
      factor = npu_float_pkg::One;
      addend = b_i;
      has_addend = 1'b1;
      case (op_i)
        npu_contract_pkg::UopFsub: addend[31] = !b_i[31];
        npu_contract_pkg::UopFma: {factor, addend} = {b_i, c_i};
        npu_contract_pkg::UopFmaImm: {factor, addend} = {b_i, imm0_i};
        npu_contract_pkg::UopFaffine: {factor, addend} = {imm0_i, imm1_i};
        npu_contract_pkg::UopFmul: {factor, has_addend} = {b_i, 1'b0};
        npu_contract_pkg::UopFscale, npu_contract_pkg::UopFcast, npu_contract_pkg::UopIntToFloat: has_addend = 1'b0;
        default: ;
      endcase
      negative = a_i[31] ^ factor[31];
      if (!has_addend) addend = {negative, 31'd0};

      // An integer is a product of its own. A format with fewer bits than FP32 rounds as if it saw all of them: where
      // one of the last eight falls off, the bit above them is set.
      whole = op_i == npu_contract_pkg::UopIntToFloat;
      magnitude = a_i[31] ? -a_i : a_i;
      if (type_i != npu_contract_pkg::ElementF32 && magnitude[31:24] != '0) begin
        magnitude = {magnitude[31:9], magnitude[8:0] != '0, 8'd0};
      end
      // Beyond 600 all is zero or infinite.
      by = b_i[11:0];
      if ($signed(b_i) > 32'sd600) by = 12'sd600;
      if ($signed(b_i) < -32'sd600) by = -12'sd600;
      if (op_i != npu_contract_pkg::UopFscale) by = '0;
      product = 48'(npu_float_pkg::mantissa(a_i)) * 48'(npu_float_pkg::mantissa(factor));
      power = 12'(npu_float_pkg::exponent(a_i)) + 12'(npu_float_pkg::exponent(factor)) + by;
      if (whole) {product, power} = {16'd0, magnitude, 12'sd300};
      sum = npu_float_pkg::fused(negative, product, power, addend);

      infinite = npu_float_pkg::is_infinite(a_i) || npu_float_pkg::is_infinite(factor);
      if (!whole) begin
        if (npu_float_pkg::is_infinite(addend)) sum = addend;
        if (infinite) sum = {negative, npu_float_pkg::Infinity[30:0]};
        if (npu_float_pkg::is_nan(a_i) || npu_float_pkg::is_nan(factor) || npu_float_pkg::is_nan(addend) ||
            (infinite && (npu_float_pkg::is_zero(a_i) || npu_float_pkg::is_zero(factor))) ||
            (infinite && npu_float_pkg::is_infinite(addend) && negative != addend[31])) begin
          sum = npu_float_pkg::Nan;
        end
      end
    end
  end

  always_comb begin
    result_o = sum;
    if (valid_i) begin
      case (op_i)
        npu_contract_pkg::UopFadd, npu_contract_pkg::UopFsub, npu_contract_pkg::UopFmul, npu_contract_pkg::UopFcast,
        npu_contract_pkg::UopIntToFloat: result_o = npu_float_pkg::rounded(type_i, sum);
        npu_contract_pkg::UopFmax, npu_contract_pkg::UopFmin: begin
          result_o = npu_float_pkg::better(op_i == npu_contract_pkg::UopFmax, imm0_i[0], a_i, b_i);
        end
        npu_contract_pkg::UopFclamp: result_o = npu_float_pkg::clamp(flag_i, a_i, imm0_i, imm1_i);
        npu_contract_pkg::UopFabs: result_o = {1'b0, a_i[30:0]};
        npu_contract_pkg::UopFneg: result_o = {!a_i[31], a_i[30:0]};
        npu_contract_pkg::UopFeq: result_o = 32'(npu_float_pkg::equal(a_i, b_i));
        npu_contract_pkg::UopFgt: result_o = 32'(npu_float_pkg::less(b_i, a_i));
        npu_contract_pkg::UopFge: begin
          result_o = 32'(npu_float_pkg::less(b_i, a_i) || npu_float_pkg::equal(a_i, b_i));
        end
        npu_contract_pkg::UopFround: result_o = npu_float_pkg::whole(imm0_i[1:0], a_i);
        npu_contract_pkg::UopFloatToInt: result_o = npu_float_pkg::integer_of(type_i, a_i);
        npu_contract_pkg::UopFexponent: result_o = npu_float_pkg::leading(a_i);
        default: ;
      endcase
    end
  end
endmodule
