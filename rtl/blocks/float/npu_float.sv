// SPDX-License-Identifier: Apache-2.0
// All floating point that the engines have for a lane, side by side and registered: for the block's test. See README.md.
module npu_float (
  input  logic                         clk_i,
  input  npu_contract_pkg::uop_e       op_i,
  input  logic                  [31:0] imm0_i,
  input  logic                  [31:0] imm1_i,
  input  logic                         flag_i,
  input  npu_contract_pkg::element_e   type_i,      // of the conversions
  input  logic                  [31:0] a_i,
  input  logic                  [31:0] b_i,
  input  logic                  [31:0] c_i,
  output logic                  [31:0] result_o,    // of the micro-operation
  output logic                  [31:0] widened_o,   // a
  output logic                  [31:0] narrowed_o,  // a
  output logic                  [31:0] sum_o,       // a + b
  output logic                  [31:0] product_o,   // a * b, of two numbers of the type
  output logic                  [31:0] order_o,     // of a; NaNs below with the flag
  output logic                  [31:0] larger_o     // the larger one of a and b; a number before a NaN with the flag
);
  logic [31:0] result;
  npu_float_lane u_lane (
    .valid_i(1'b1),
    .op_i,
    .type_i(npu_contract_pkg::element_e'(imm0_i[7:0])),
    .imm0_i,
    .imm1_i,
    .flag_i,
    .a_i,
    .b_i,
    .c_i,
    .result_o(result)
  );
  always_ff @(posedge clk_i) begin
    result_o <= result;
    widened_o <= npu_float_pkg::widen(type_i, a_i);
    narrowed_o <= npu_float_pkg::narrow(type_i, a_i);
    sum_o <= npu_float_pkg::add(a_i, b_i);
    product_o <= npu_float_pkg::product(npu_float_pkg::width_of(type_i), npu_float_pkg::is_exact(type_i), a_i, b_i);
    order_o <= npu_float_pkg::order(flag_i, a_i);
    larger_o <= npu_float_pkg::better(1'b1, flag_i, a_i, b_i);
  end
endmodule
