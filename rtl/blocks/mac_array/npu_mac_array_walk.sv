// SPDX-License-Identifier: Apache-2.0
// Walks the output pixels of a tile, row by row, in blocks that can be walked again. See README.md.
module npu_mac_array_walk #(
  parameter int unsigned PixelBits = 8  // of the index within a block
) (
  input  logic                 clk_i,
  input  logic                 init_i,        // go to the tile's first pixel
  input  logic                 next_i,        // go on
  input  logic                 keep_i,        // at a block's end: to the next block, else back to its start
  input  logic          [31:0] rows_i,
  input  logic          [31:0] columns_i,
  input  logic [PixelBits-1:0] block_last_i,  // index of a full block's last pixel
  // A position and a byte offset that move with the pixel.
  input  logic          [31:0] y_first_i,
  input  logic          [31:0] y_step_i,
  input  logic          [31:0] x_first_i,
  input  logic          [31:0] x_step_i,
  input  logic          [31:0] offset_first_i,
  input  logic          [31:0] offset_row_i,
  input  logic          [31:0] offset_column_i,

  output logic [PixelBits-1:0] index_o,       // of the pixel in its block
  output logic                 last_o,        // of the block
  output logic                 final_o,       // of the tile
  output logic          [31:0] y_o,
  output logic          [31:0] x_o,
  output logic          [31:0] offset_o
);
  typedef struct packed {
    logic [31:0] rows_left;     // behind this one
    logic [31:0] columns_left;
    logic [31:0] y;
    logic [31:0] x;
    logic [31:0] row_offset;    // of the row's first pixel
    logic [31:0] offset;
  } place_t;

  place_t place_d, place_q, block_q;
  logic [PixelBits-1:0] index_q;
  logic row_ends;

  assign row_ends = place_q.columns_left == '0;
  assign final_o = row_ends && place_q.rows_left == '0;
  assign last_o = final_o || index_q == block_last_i;
  assign index_o = index_q;
  assign y_o = place_q.y;
  assign x_o = place_q.x;
  assign offset_o = place_q.offset;

  always_comb begin
    place_d = place_q;
    if (row_ends) begin
      place_d.rows_left = place_q.rows_left - 32'd1;
      place_d.columns_left = columns_i - 32'd1;
      place_d.y = place_q.y + y_step_i;
      place_d.x = x_first_i;
      place_d.row_offset = place_q.row_offset + offset_row_i;
      place_d.offset = place_d.row_offset;
    end else begin
      place_d.columns_left = place_q.columns_left - 32'd1;
      place_d.x = place_q.x + x_step_i;
      place_d.offset = place_q.offset + offset_column_i;
    end
  end

  place_t first;
  assign first = '{rows_left: rows_i - 32'd1, columns_left: columns_i - 32'd1, y: y_first_i, x: x_first_i,
                   row_offset: offset_first_i, offset: offset_first_i};

  always_ff @(posedge clk_i) begin
    if (init_i) begin
      place_q <= first;
      block_q <= first;
      index_q <= '0;
    end else if (next_i) begin
      index_q <= last_o ? '0 : index_q + 1'b1;
      place_q <= (last_o && !keep_i) ? block_q : place_d;
      if (last_o && keep_i) block_q <= place_d;
    end
  end

endmodule
