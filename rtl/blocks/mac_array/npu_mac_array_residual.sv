// SPDX-License-Identifier: Apache-2.0
// Adds the residual to the tile's values: fetches it two pixels ahead, and of integers scales one side, and scales the
// sum. See README.md.
`include "npu_assert.svh"

module npu_mac_array_residual #(
  parameter int unsigned Cols = 8,
  parameter int unsigned PixelBits = 6,
  parameter int unsigned Rows = 64,
  parameter int unsigned Float = 0,
  localparam int unsigned ColBits = $clog2(Cols) + 1,
  localparam int unsigned Bits = (Float != 0) ? 32 : 8  // of an element
) (
  input  logic                                clk_i,
  input  logic                                rst_ni,
  input  npu_contract_pkg::mxu_command_t      command_i,
  input  logic                                begin_i,    // a tile that adds begins
  input  npu_contract_pkg::element_e          type_i,     // of the result, and of what is added
  input  logic                                floats_i,
  input  logic                         [ 1:0] element_shift_i,
  input  npu_contract_pkg::parameter_header_t header_i,
  input  logic signed                  [31:0] low_i,      // range of the result's type
  input  logic signed                  [31:0] high_i,

  output logic                                fetch_valid_o,
  input  logic                                fetch_ready_i,
  output logic                         [31:0] fetch_offset_o,
  output logic                  [ColBits-1:0] fetch_columns_o,
  input  logic         [Cols-1:0] [Bits-1:0]  fetch_data_i,

  input  logic                                value_valid_i,
  output logic                                value_ready_o,
  input  logic         [Cols-1:0] [Bits-1:0]  value_i,

  output logic                                valid_o,
  input  logic                                ready_i,
  output logic              [Cols-1:0] [47:0] result_o
);
  localparam int unsigned Stages = 5;  // of npu_rescale
  logic unused_header;
  assign unused_header = ^header_i;

  // Pixels that wait for their values.
  logic fetch_q, write_q, read_q, fetched, fetch_last, joined;
  logic [1:0] held_q;
  logic [Cols-1:0] [Bits-1:0] pixel_q [2];
  assign fetch_valid_o = fetch_q && held_q != 2'd2;
  assign fetched = fetch_valid_o && fetch_ready_i;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      fetch_q <= 1'b0;
      write_q <= 1'b0;
      read_q <= 1'b0;
      held_q <= '0;
    end else begin
      if (begin_i) fetch_q <= 1'b1;
      else if (fetched && fetch_last) fetch_q <= 1'b0;
      if (fetched) write_q <= !write_q;
      if (joined) read_q <= !read_q;
      held_q <= held_q + 2'(fetched) - 2'(joined);
    end
  end
  always_ff @(posedge clk_i) if (fetched) pixel_q[write_q] <= fetch_data_i;

  npu_mac_array_place #(.Cols(Cols), .PixelBits(PixelBits)) u_place (
    .clk_i,
    .init_i(begin_i),
    .next_i(fetched),
    .rows_i(command_i.out_h),
    .columns_i(command_i.out_w),
    .channels_i(command_i.out_c),
    .block_last_i(PixelBits'(Rows - 1)),
    .row_stride_i(command_i.residual_row_stride),
    .pixel_stride_i(command_i.residual_pixel_stride),
    .element_shift_i,
    .offset_o(fetch_offset_o),
    .columns_o(fetch_columns_o),
    .last_o(fetch_last)
  );

  // The side that is scaled, and the one that waits for it, less their zero points. Both wrap at 32 bits. Of floating
  // point the value goes the way of the side that is scaled, as FP32 and unchanged.
  function automatic logic [31:0] left(logic signed [7:0] value, logic [4:0] bits);
    return 32'(value) << bits;
  endfunction

  logic operand_scaled, side_valid, side_ready, sum_ready;
  logic [4:0] side_left, other_left;
  logic [31:0] side_zp, other_zp, side_offset;
  assign operand_scaled = command_i.residual == 2'(npu_contract_pkg::ResidualScaleOperand);
  assign side_left = operand_scaled ? command_i.residual_left : command_i.value_left;
  assign other_left = operand_scaled ? command_i.value_left : command_i.residual_left;
  assign side_zp = left(operand_scaled ? header_i.residual_zp : header_i.value_zp, side_left);
  assign other_zp = left(operand_scaled ? header_i.value_zp : header_i.residual_zp, other_left);
  assign side_offset = floats_i ? '0 : -side_zp;
  assign joined = value_valid_i && held_q != '0 && side_ready;
  assign value_ready_o = held_q != '0 && side_ready;

  logic [Cols-1:0] [47:0] side_value, side_result, other_value;
  logic [Cols-1:0] [Bits-1:0] side, other;
  logic [Stages-1:0] [Cols-1:0] [Bits-1:0] other_q;
  always_comb begin
    side = operand_scaled ? pixel_q[read_q] : value_i;
    other = operand_scaled ? value_i : pixel_q[read_q];
    if (Float != 0 && floats_i) begin
      for (int c = 0; c < Cols; c++) begin
        side[c] = Bits'(npu_float_pkg::widen(type_i, 32'(side[c])));
        other[c] = Bits'(npu_float_pkg::widen(type_i, 32'(other[c])));
      end
    end
  end
  always_ff @(posedge clk_i) if (side_ready) other_q <= {other_q[Stages-2:0], other};
  always_comb begin
    logic [31:0] waited;
    for (int c = 0; c < Cols; c++) begin
      side_value[c] = floats_i ? 48'(side[c]) : 48'(left(side[c][7:0], side_left));
      waited = left(other_q[Stages-1][c][7:0], other_left) - other_zp;
      other_value[c] = floats_i ? 48'(other_q[Stages-1][c]) : 48'(waited);
    end
  end

  npu_rescale #(.Lanes(Cols)) u_side (
    .clk_i,
    .rst_ni,
    .kind_i(floats_i ? npu_contract_pkg::RescaleNone : command_i.rescale),
    .type_i(npu_contract_pkg::ElementI8),
    .wide_i(1'b0),
    .output_zp_i('0),
    .low_i(32'sh8000_0000),
    .high_i(32'sh7fff_ffff),
    .clamp_min_i(32'sh8000_0000),
    .clamp_max_i(32'sh7fff_ffff),
    .valid_i(value_valid_i && held_q != '0),
    .ready_o(side_ready),
    .value_i(side_value),
    .offset_i({Cols{48'(side_offset)}}),
    .multiplier_i({Cols{header_i.residual_multiplier}}),
    .shift_i({Cols{header_i.residual_shift[5:0]}}),
    .valid_o(side_valid),
    .ready_i(sum_ready),
    .result_o(side_result)
  );

  npu_rescale #(.Lanes(Cols), .Float(Float)) u_sum (
    .clk_i,
    .rst_ni,
    .kind_i(command_i.rescale),
    .type_i,
    .wide_i(1'b0),
    .output_zp_i(header_i.output_zp),
    .low_i,
    .high_i,
    .clamp_min_i(header_i.clamp_min),
    .clamp_max_i(header_i.clamp_max),
    .valid_i(side_valid),
    .ready_o(sum_ready),
    .value_i(side_result),
    .offset_i(other_value),
    .multiplier_i({Cols{header_i.sum_multiplier}}),
    .shift_i({Cols{header_i.sum_shift[5:0]}}),
    .valid_o,
    .ready_i,
    .result_o
  );

  `NPU_ASSERT_STABLE(ResidualStable, fetch_valid_o, fetch_ready_i, {fetch_offset_o, fetch_columns_o})
  `NPU_ASSERT(NoneLeft, !(begin_i && (fetch_q || held_q != '0)))

endmodule
