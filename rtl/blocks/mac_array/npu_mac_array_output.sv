// SPDX-License-Identifier: Apache-2.0
// Drains complete sums from the accumulators through the output stage, and says where the results go. See README.md.
module npu_mac_array_output #(
  parameter int unsigned Cols = 8,
  parameter int unsigned PixelBits = 6,
  parameter int unsigned Rows = 64,
  parameter int unsigned Residual = 1,
  parameter int unsigned Float = 0,
  localparam int unsigned ColBits = $clog2(Cols) + 1,
  localparam int unsigned ResidualBits = (Float != 0) ? 32 : 8
) (
  input  logic                                clk_i,
  input  logic                                rst_ni,
  input  npu_contract_pkg::mxu_command_t      command_i,
  input  logic                                wide_i,
  input  logic                                begin_i,
  input  logic                                fetch_i,    // the command is there: a residual may be fetched

  input  logic                                sums_i,     // a pixel's are complete; it is not its group's last one
  // A group is complete, with its last pixel.
  input  logic                                finish_i,
  input  logic                                half_i,
  input  logic                [PixelBits-1:0] last_i,     // its last pixel
  output logic                                almost_o,   // room for another with the end of this cycle, unless memory
                                                          // holds results back
  output logic                                full_o,     // memory did

  input  logic                                params_i,   // of the group are there
  output logic                                release_o,  // a group has left the accumulators
  input  npu_contract_pkg::parameter_header_t header_i,
  input  logic              [Cols-1:0] [47:0] bias_i,
  input  logic              [Cols-1:0] [31:0] multiplier_i,
  input  logic              [Cols-1:0] [ 5:0] shift_i,

  output logic                                read_half_o,
  output logic                [PixelBits-1:0] read_pixel_o,
  input  logic              [Cols-1:0] [47:0] value_i,

  output logic                                fetch_valid_o,  // of the residual
  input  logic                                fetch_ready_i,
  output logic                         [31:0] fetch_offset_o,
  output logic                  [ColBits-1:0] fetch_columns_o,
  input  logic [Cols-1:0] [ResidualBits-1:0]  fetch_data_i,

  output logic                                valid_o,
  input  logic                                ready_i,
  output logic                         [31:0] offset_o,
  output logic                  [ColBits-1:0] columns_o,
  output logic              [Cols-1:0] [47:0] result_o,
  output logic                                last_o     // result of the tile
);
  // Complete groups that wait or drain, in order; they lie in alternate halves. The group behind them drains, too, as
  // far as its sums are complete.
  logic [1:0] groups_q;
  logic [PixelBits+1:0] complete_q;  // pixels that may drain
  logic half_q;
  logic [PixelBits-1:0] pixel_q;
  logic [1:0] [PixelBits-1:0] last_q;
  logic valid, ready, pixel_last;

  assign valid = complete_q != '0 && params_i;
  assign pixel_last = groups_q != '0 && pixel_q == last_q[half_q];
  assign release_o = valid && ready && pixel_last;
  assign almost_o = groups_q == '0 || (valid && pixel_last);
  assign full_o = groups_q == 2'd2;
  assign read_half_o = half_q;
  assign read_pixel_o = pixel_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      groups_q <= '0;
      complete_q <= '0;
      half_q <= 1'b0;
      pixel_q <= '0;
    end else begin
      groups_q <= groups_q + 2'(finish_i) - 2'(release_o);
      complete_q <= complete_q + (PixelBits+2)'(sums_i || finish_i) - (PixelBits+2)'(valid && ready);
      if (begin_i) half_q <= 1'b0;
      if (release_o) half_q <= !half_q;
      if (valid && ready) pixel_q <= pixel_last ? '0 : pixel_q + 1'b1;
    end
  end
  always_ff @(posedge clk_i) if (finish_i) last_q[half_i] <= last_i;

  logic unused_header;
  assign unused_header = ^header_i;
  npu_contract_pkg::element_e type_;
  logic floats;
  logic [1:0] element_shift;
  assign type_ = npu_contract_pkg::element_e'(8'(command_i.dst_type));
  assign floats = (Float != 0) && npu_float_pkg::is_float(type_);
  assign element_shift = floats ? npu_float_pkg::bytes_log2(type_) : command_i.dst_type[1:0];
  logic signed [31:0] low, high;
  always_comb begin
    low = 32'sh8000_0000;
    high = 32'sh7fff_ffff;
    if (command_i.dst_type == 4'(npu_contract_pkg::ElementI8)) begin
      low = command_i.output_unsigned ? 32'sd0 : -32'sd128;
      high = command_i.output_unsigned ? 32'sd255 : 32'sd127;
    end else if (command_i.dst_type == 4'(npu_contract_pkg::ElementI16)) begin
      low = command_i.output_unsigned ? 32'sd0 : -32'sd32768;
      high = command_i.output_unsigned ? 32'sd65535 : 32'sd32767;
    end
    // A value that is rounded before something is added is not limited.
    if (floats) {low, high} = {1'b1, npu_float_pkg::Infinity[30:0], npu_float_pkg::Infinity};
  end

  // The value's RESCALE is all, or with a residual the first of three.
  logic adds, value_valid, value_ready;
  logic [Cols-1:0] [47:0] value_result;
  assign adds = (Residual != 0) && command_i.residual != 2'(npu_contract_pkg::ResidualNone);
  npu_rescale #(.Lanes(Cols), .Float(Float)) u_rescale (
    .clk_i,
    .rst_ni,
    .kind_i(command_i.rescale),
    .type_i(type_),
    .wide_i,
    .output_zp_i(adds ? 32'(header_i.value_zp) : header_i.output_zp),
    .low_i(low),
    .high_i(high),
    .clamp_min_i(adds ? low : header_i.clamp_min),
    .clamp_max_i(adds ? high : header_i.clamp_max),
    .valid_i(valid),
    .ready_o(ready),
    .value_i,
    .offset_i(bias_i),
    .multiplier_i,
    .shift_i,
    .valid_o(value_valid),
    .ready_i(value_ready),
    .result_o(value_result)
  );

  if (Residual != 0) begin : gen_residual
    logic join_ready, sum_valid;
    logic [Cols-1:0] [47:0] sum;
    logic [Cols-1:0] [ResidualBits-1:0] elements;
    always_comb for (int c = 0; c < Cols; c++) elements[c] = value_result[c][ResidualBits-1:0];
    npu_mac_array_residual #(.Cols(Cols), .PixelBits(PixelBits), .Rows(Rows), .Float(Float)) u_residual (
      .clk_i,
      .rst_ni,
      .command_i,
      .begin_i(fetch_i && adds),
      .type_i(type_),
      .floats_i(floats),
      .element_shift_i(element_shift),
      .header_i,
      .low_i(low),
      .high_i(high),
      .fetch_valid_o,
      .fetch_ready_i,
      .fetch_offset_o,
      .fetch_columns_o,
      .fetch_data_i,
      .value_valid_i(value_valid && adds),
      .value_ready_o(join_ready),
      .value_i(elements),
      .valid_o(sum_valid),
      .ready_i,
      .result_o(sum)
    );
    assign value_ready = adds ? join_ready : ready_i;
    assign valid_o = adds ? sum_valid : value_valid;
    assign result_o = adds ? sum : value_result;
  end else begin : gen_value
    logic unused_fetch;
    assign unused_fetch = ^{fetch_i, fetch_ready_i, fetch_data_i};
    assign fetch_valid_o = 1'b0;
    assign fetch_offset_o = '0;
    assign fetch_columns_o = '0;
    assign value_ready = ready_i;
    assign valid_o = value_valid;
    assign result_o = value_result;
  end

  npu_mac_array_place #(.Cols(Cols), .PixelBits(PixelBits)) u_place (
    .clk_i,
    .init_i(begin_i),
    .next_i(valid_o && ready_i),
    .rows_i(command_i.out_h),
    .columns_i(command_i.out_w),
    .channels_i(command_i.out_c),
    .block_last_i(wide_i ? PixelBits'(Rows / 2 - 1) : PixelBits'(Rows - 1)),
    .row_stride_i(command_i.dst_row_stride),
    .pixel_stride_i(command_i.dst_pixel_stride),
    .element_shift_i(element_shift),
    .offset_o,
    .columns_o,
    .last_o
  );

endmodule
