// SPDX-License-Identifier: Apache-2.0
// The output stage: Lanes values a cycle through RESCALE, in order, five cycles after they came. See README.md.
`include "npu_assert.svh"

module npu_rescale
#(
  parameter int unsigned Lanes = 8,
  parameter int unsigned Float = 0
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  // Held while values are in the pipeline.
  input  npu_contract_pkg::rescale_e     kind_i,
  input  npu_contract_pkg::element_e     type_i,
  input  logic                           wide_i,
  input  logic signed             [31:0] output_zp_i,
  input  logic signed             [31:0] low_i,
  input  logic signed             [31:0] high_i,
  input  logic signed             [31:0] clamp_min_i,
  input  logic signed             [31:0] clamp_max_i,

  input  logic                           valid_i,
  output logic                           ready_o,
  input  logic        [Lanes-1:0] [47:0] value_i,
  input  logic        [Lanes-1:0] [47:0] offset_i,
  input  logic        [Lanes-1:0] [31:0] multiplier_i,
  input  logic        [Lanes-1:0] [ 5:0] shift_i,

  output logic                           valid_o,
  input  logic                           ready_i,
  output logic        [Lanes-1:0] [47:0] result_o
);
  localparam int unsigned Stages = 5;

  // The pipeline moves as a whole, and stands still while its last stage holds a result that is not taken.
  logic [Stages-1:0] valid_q;
  logic advance;
  assign advance = !valid_o || ready_i;
  assign ready_o = advance;
  assign valid_o = valid_q[Stages-1];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= '0;
    end else if (advance) begin
      valid_q <= {valid_q[Stages-2:0], valid_i};
    end
  end

  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    npu_rescale_lane #(.Float(Float)) u_lane (
      .clk_i,
      .advance_i(advance),
      .kind_i,
      .type_i,
      .wide_i,
      .output_zp_i,
      .low_i,
      .high_i,
      .clamp_min_i,
      .clamp_max_i,
      .value_i(value_i[i]),
      .offset_i(offset_i[i]),
      .multiplier_i(multiplier_i[i]),
      .shift_i(shift_i[i]),
      .result_o(result_o[i])
    );
  end

  `NPU_ASSERT_STABLE(ResultStable, valid_o, ready_i, result_o)
  // The configuration may change only while the pipeline is empty.
  logic [$bits({kind_i, type_i, wide_i, output_zp_i, low_i, high_i, clamp_min_i, clamp_max_i})-1:0] config_d, config_q;
  assign config_d = {kind_i, type_i, wide_i, output_zp_i, low_i, high_i, clamp_min_i, clamp_max_i};
  always_ff @(posedge clk_i) config_q <= config_d;
  `NPU_ASSUME(ConfigHeld, valid_q == '0 || config_q == config_d)

endmodule
