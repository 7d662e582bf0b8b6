// SPDX-License-Identifier: Apache-2.0
// Drains finished groups from the accumulators through the output stage, and says where the results go. See README.md.
module npu_mac_array_output #(
  parameter int unsigned Cols = 8,
  parameter int unsigned PixelBits = 6,
  parameter int unsigned Rows = 64,
  localparam int unsigned ColBits = $clog2(Cols) + 1
) (
  input  logic                                clk_i,
  input  logic                                rst_ni,
  input  npu_contract_pkg::mxu_command_t      command_i,
  input  logic                                wide_i,
  input  logic                                begin_i,

  // A group is complete.
  input  logic                                finish_i,
  input  logic                                half_i,
  input  logic                [PixelBits-1:0] last_i,     // its last pixel
  output logic                                almost_o,   // room for another with the end of this cycle, unless memory
                                                          // holds results back
  output logic                                full_o,     // memory did

  input  logic                                params_i,   // of the group are there
  output logic                                release_o,  // a group has left the accumulators
  input  logic signed                  [31:0] output_zp_i,
  input  logic signed                  [31:0] clamp_min_i,
  input  logic signed                  [31:0] clamp_max_i,
  input  logic              [Cols-1:0] [47:0] bias_i,
  input  logic              [Cols-1:0] [31:0] multiplier_i,
  input  logic              [Cols-1:0] [ 5:0] shift_i,

  output logic                                read_half_o,
  output logic                [PixelBits-1:0] read_pixel_o,
  input  logic              [Cols-1:0] [47:0] value_i,

  output logic                                valid_o,
  input  logic                                ready_i,
  output logic                         [31:0] offset_o,
  output logic                  [ColBits-1:0] columns_o,
  output logic              [Cols-1:0] [47:0] result_o,
  output logic                                last_o     // result of the tile
);
  // Groups that wait or drain, in order; they lie in alternate halves.
  logic [1:0] groups_q;
  logic half_q;
  logic [PixelBits-1:0] pixel_q;
  logic [1:0] [PixelBits-1:0] last_q;
  logic valid, ready, pixel_last;

  assign valid = groups_q != '0 && params_i;
  assign pixel_last = pixel_q == last_q[half_q];
  assign release_o = valid && ready && pixel_last;
  assign almost_o = groups_q == '0 || (valid && pixel_last);
  assign full_o = groups_q == 2'd2;
  assign read_half_o = half_q;
  assign read_pixel_o = pixel_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      groups_q <= '0;
      half_q <= 1'b0;
      pixel_q <= '0;
    end else begin
      groups_q <= groups_q + 2'(finish_i) - 2'(release_o);
      if (begin_i) half_q <= 1'b0;
      if (release_o) half_q <= !half_q;
      if (valid && ready) pixel_q <= pixel_last ? '0 : pixel_q + 1'b1;
    end
  end
  always_ff @(posedge clk_i) if (finish_i) last_q[half_i] <= last_i;

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
  end

  npu_rescale #(.Lanes(Cols)) u_rescale (
    .clk_i,
    .rst_ni,
    .kind_i(command_i.rescale),
    .wide_i,
    .output_zp_i,
    .low_i(low),
    .high_i(high),
    .clamp_min_i,
    .clamp_max_i,
    .valid_i(valid),
    .ready_o(ready),
    .value_i,
    .offset_i(bias_i),
    .multiplier_i,
    .shift_i,
    .valid_o,
    .ready_i,
    .result_o
  );

  // Where the results go: the same walk as that of the activations, several cycles later.
  logic [31:0] columns_left_q, group_offset_q, pixel_offset;
  logic group_last, block_last, tile_last, taken;
  logic [1:0] element_shift;  // 1, 2, 4 or 8 bytes
  logic unused_walk;
  logic [PixelBits-1:0] walk_index;
  logic [31:0] walk_y, walk_x;
  assign unused_walk = ^{walk_index, walk_y, walk_x};
  assign element_shift = command_i.dst_type[1:0];
  assign group_last = columns_left_q <= 32'(Cols);
  assign columns_o = group_last ? ColBits'(columns_left_q) : ColBits'(Cols);
  assign offset_o = pixel_offset + group_offset_q;
  assign last_o = tile_last && group_last;
  assign taken = valid_o && ready_i;
  npu_mac_array_walk #(.PixelBits(PixelBits)) u_walk (
    .clk_i,
    .init_i(begin_i),
    .next_i(taken),
    .keep_i(group_last),
    .rows_i(command_i.out_h),
    .columns_i(command_i.out_w),
    .block_last_i(wide_i ? PixelBits'(Rows / 2 - 1) : PixelBits'(Rows - 1)),
    .y_first_i('0),
    .y_step_i('0),
    .x_first_i('0),
    .x_step_i('0),
    .offset_first_i('0),
    .offset_row_i(command_i.dst_row_stride),
    .offset_column_i(command_i.dst_pixel_stride),
    .index_o(walk_index),
    .last_o(block_last),
    .final_o(tile_last),
    .y_o(walk_y),
    .x_o(walk_x),
    .offset_o(pixel_offset)
  );
  always_ff @(posedge clk_i) begin
    if (begin_i || (taken && block_last && group_last)) begin
      columns_left_q <= command_i.out_c;
      group_offset_q <= '0;
    end else if (taken && block_last) begin
      columns_left_q <= columns_left_q - 32'(Cols);
      group_offset_q <= group_offset_q + (32'(Cols) << element_shift);
    end
  end

endmodule
