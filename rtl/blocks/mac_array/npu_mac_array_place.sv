// SPDX-License-Identifier: Apache-2.0
// Where the output stage reads and writes: the output pixels of a tile, block by block, and within a block group by
// group of channels; the same walk as that of the activations. See README.md.
module npu_mac_array_place #(
  parameter int unsigned Cols = 8,
  parameter int unsigned PixelBits = 6,
  localparam int unsigned ColBits = $clog2(Cols) + 1
) (
  input  logic                 clk_i,
  input  logic                 init_i,            // go to the tile's first pixel
  input  logic                 next_i,            // go on
  input  logic          [31:0] rows_i,
  input  logic          [31:0] columns_i,
  input  logic          [31:0] channels_i,
  input  logic [PixelBits-1:0] block_last_i,      // index of a full block's last pixel
  input  logic          [31:0] row_stride_i,
  input  logic          [31:0] pixel_stride_i,
  input  logic           [1:0] element_shift_i,   // elements of 1, 2, 4 or 8 bytes

  output logic          [31:0] offset_o,
  output logic   [ColBits-1:0] columns_o,         // channels that the group has
  output logic                 last_o             // of the tile
);
  logic [31:0] columns_left_q, group_offset_q, pixel_offset;
  logic group_last, block_last, tile_last;
  logic unused_walk;
  logic [PixelBits-1:0] walk_index;
  logic [31:0] walk_y, walk_x;
  assign unused_walk = ^{walk_index, walk_y, walk_x};
  assign group_last = columns_left_q <= 32'(Cols);
  assign columns_o = group_last ? ColBits'(columns_left_q) : ColBits'(Cols);
  assign offset_o = pixel_offset + group_offset_q;
  assign last_o = tile_last && group_last;
  npu_mac_array_walk #(.PixelBits(PixelBits)) u_walk (
    .clk_i,
    .init_i,
    .next_i,
    .keep_i(group_last),
    .rows_i,
    .columns_i,
    .block_last_i,
    .y_first_i('0),
    .y_step_i('0),
    .x_first_i('0),
    .x_step_i('0),
    .offset_first_i('0),
    .offset_row_i(row_stride_i),
    .offset_column_i(pixel_stride_i),
    .index_o(walk_index),
    .last_o(block_last),
    .final_o(tile_last),
    .y_o(walk_y),
    .x_o(walk_x),
    .offset_o(pixel_offset)
  );
  always_ff @(posedge clk_i) begin
    if (init_i || (next_i && block_last && group_last)) begin
      columns_left_q <= channels_i;
      group_offset_q <= '0;
    end else if (next_i && block_last) begin
      columns_left_q <= columns_left_q - 32'(Cols);
      group_offset_q <= group_offset_q + (32'(Cols) << element_shift_i);
    end
  end

endmodule
