// SPDX-License-Identifier: Apache-2.0
// Loads the weights of the next step, and says which step that is: the loops over blocks, groups of channels and steps
// of the reduction are counted here. See README.md.
`include "npu_assert.svh"

module npu_mac_array_weights #(
  parameter int unsigned Cols = 8,
  parameter int unsigned Depth = 8,
  parameter int unsigned DwTaps = 2,
  parameter int unsigned DwColumns = 8,   // that a beat has room for, of bytes
  parameter int unsigned AccBytes = 4096,
  parameter int unsigned PortBytes = 16,
  parameter int unsigned MostBytes = 2,   // of a weight
  parameter int unsigned Float = 0,
  localparam int unsigned Beats = MostBytes * Cols * Depth / PortBytes,
  localparam int unsigned BeatBits = $clog2(Beats),
  localparam int unsigned ColBits = $clog2(Cols) + 1,
  localparam int unsigned DepthBits = $clog2(Depth) + 1
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  npu_contract_pkg::mxu_command_t command_i,
  input  logic                     [1:0] bytes_log2_i,  // of a weight
  input  logic                           setup_i,    // take the command's sizes
  input  logic                           begin_i,    // the last cycle of that
  input  logic                           freeze_i,

  output logic                           valid_o,
  input  logic                           ready_i,
  output logic                    [31:0] offset_o,          // of the beat's first column, first element
  output logic                    [31:0] column_stride_o,   // bytes
  output logic                    [31:0] element_stride_o,  // bytes
  output logic             [ColBits-1:0] columns_o,         // in this beat
  output logic           [DepthBits-1:0] elements_o,        // of each column
  output logic                           write_o,           // the beat goes into the shadow registers
  output logic            [BeatBits-1:0] beat_o,

  // The step that is being loaded.
  output logic                           loaded_o,    // with the end of this cycle at the latest
  output logic                           end_o,       // there is none
  output logic                           first_o,     // of its group
  output logic                           last_o,      // of its group
  output logic                           group_first_o,
  output logic                           group_last_o,
  output logic                           chunk_last_o,  // next one is at another kernel position
  output logic             [ColBits-1:0] group_columns_o,
  input  logic                           switch_i     // the array takes it
);
  localparam int unsigned Rows = AccBytes / 2 / 4 / Cols;  // pixels of a block of 32-bit accumulators

  logic wide, depthwise, run;
  assign wide = command_i.src_type == 4'(npu_contract_pkg::ElementI16);
  assign depthwise = command_i.mode == npu_contract_pkg::MxuModeDepthwise;
  assign run = !depthwise && command_i.in_c >= Depth;

  // Sizes of the tile.
  logic [36:0] reduction_q, pixels_left_q, block_pixels;
  localparam logic [36:0] RowCount = 37'(Rows);
  assign block_pixels = wide ? RowCount >> 1 : RowCount;
  logic [31:0] taps;
  assign taps = command_i.kernel_h * command_i.kernel_w;
  logic [ColBits-1:0] beat_columns;  // of a whole beat
  function automatic logic [ColBits-1:0] at_most_all(input int unsigned columns);
    at_most_all = (columns < Cols) ? ColBits'(columns) : ColBits'(Cols);
  endfunction
  always_comb begin
    beat_columns = at_most_all(PortBytes / Depth);
    if (bytes_log2_i[0]) beat_columns = at_most_all(PortBytes / Depth / 2);
    if (MostBytes == 4 && bytes_log2_i[1]) beat_columns = at_most_all(PortBytes / Depth / 4);
    if (depthwise) begin
      beat_columns = at_most_all(DwColumns);
      if (Float != 0 && bytes_log2_i[0]) beat_columns = at_most_all(DwColumns / 2);
      if (MostBytes == 4 && bytes_log2_i[1]) beat_columns = at_most_all(DwColumns / 4);
    end
  end

  // Strides. In a convolution a column's weights are contiguous; else columns are neighbours.
  logic [31:0] element_bytes;
  logic conv;
  assign conv = command_i.mode == npu_contract_pkg::MxuModeConv;
  assign element_bytes = 32'd1 << bytes_log2_i;
  assign column_stride_o = conv ? command_i.w_stride : element_bytes;
  assign element_stride_o = conv ? element_bytes : command_i.w_stride;

  // The step at hand.
  logic busy_q, full_q, end_q, first_q, group_first_q;
  logic [36:0] left_q;          // of the reduction, this step included
  logic [31:0] channels_left_q; // of the input, at this kernel position
  logic [31:0] columns_left_q;  // output channels, this group included
  logic [31:0] group_offset_q, step_offset_q, beat_offset_q;
  logic [ColBits-1:0] beat_left_q;
  logic [BeatBits-1:0] beat_q;

  logic [DepthBits-1:0] most;
  assign most = depthwise ? DepthBits'(DwTaps) : DepthBits'(Depth);
  always_comb begin
    elements_o = most;
    if (run) begin
      if (channels_left_q < 32'(Depth)) elements_o = DepthBits'(channels_left_q);
    end else if (left_q < 37'(most)) begin
      elements_o = DepthBits'(left_q);
    end
  end
  assign chunk_last_o = run && channels_left_q <= 32'(Depth);
  assign first_o = first_q;
  assign last_o = left_q == 37'(elements_o);
  assign group_first_o = group_first_q;
  assign group_last_o = columns_left_q <= 32'(Cols);
  assign group_columns_o = group_last_o ? ColBits'(columns_left_q) : ColBits'(Cols);

  // A request that waits stays; other work stops with the array.
  logic waits_q, beat_last;
  assign valid_o = busy_q && (!freeze_i || waits_q);
  assign write_o = valid_o && ready_i;
  assign beat_last = beat_left_q <= beat_columns;
  assign columns_o = beat_last ? beat_left_q : beat_columns;
  assign offset_o = beat_offset_q;
  assign beat_o = beat_q;
  assign loaded_o = full_q || (write_o && beat_last);
  assign end_o = end_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      full_q <= 1'b0;
      end_q <= 1'b1;
      waits_q <= 1'b0;
    end else begin
      waits_q <= valid_o && !ready_i;
      if (begin_i) begin
        busy_q <= 1'b1;
        full_q <= 1'b0;
        end_q <= 1'b0;
      end else if (switch_i) begin
        busy_q <= !(end_q || tile_last);
        full_q <= 1'b0;
        end_q <= end_q || tile_last;
      end else if (write_o && beat_last) begin
        busy_q <= 1'b0;
        full_q <= 1'b1;
      end
    end
  end

  logic tile_last;
  assign tile_last = last_o && group_last_o && pixels_left_q <= block_pixels;

  // Where the next step begins.
  logic [31:0] next_group, next_columns, next_offset;
  always_comb begin
    next_group = group_offset_q;
    next_columns = columns_left_q;
    next_offset = step_offset_q + (conv ? 32'(elements_o) << bytes_log2_i : 32'(most) * command_i.w_stride);
    if (last_o) begin
      next_group = group_last_o ? '0 : group_offset_q + 32'(Cols) * column_stride_o;
      next_columns = group_last_o ? command_i.out_c : columns_left_q - 32'(Cols);
      next_offset = next_group;
    end
    if (setup_i) begin
      next_group = '0;
      next_columns = command_i.out_c;
      next_offset = '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (setup_i || switch_i) begin
      first_q <= setup_i || last_o;
      group_first_q <= setup_i || (last_o ? group_last_o : group_first_q);
      group_offset_q <= next_group;
      columns_left_q <= next_columns;
      step_offset_q <= next_offset;
      beat_offset_q <= next_offset;
      beat_left_q <= (next_columns < 32'(Cols)) ? ColBits'(next_columns) : ColBits'(Cols);
      beat_q <= '0;
    end else if (write_o) begin
      beat_offset_q <= beat_offset_q + 32'(beat_columns) * column_stride_o;
      beat_left_q <= beat_left_q - beat_columns;
      beat_q <= beat_q + 1'b1;
    end
    if (setup_i) begin
      reduction_q <= 37'(taps) * (depthwise ? 37'd1 : 37'(command_i.in_c));
      left_q <= 37'(taps) * (depthwise ? 37'd1 : 37'(command_i.in_c));
      channels_left_q <= command_i.in_c;
      pixels_left_q <= 37'(command_i.out_h) * 37'(command_i.out_w);
    end else if (switch_i) begin
      left_q <= last_o ? reduction_q : left_q - 37'(elements_o);
      channels_left_q <= (last_o || chunk_last_o) ? command_i.in_c : channels_left_q - 32'(Depth);
      if (last_o && group_last_o) pixels_left_q <= pixels_left_q - block_pixels;
    end
  end

  `NPU_ASSERT_STABLE(WeightStable, valid_o, ready_i, {offset_o, columns_o, elements_o})
endmodule
