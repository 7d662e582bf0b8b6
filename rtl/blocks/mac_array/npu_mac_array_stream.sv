// SPDX-License-Identifier: Apache-2.0
// Streams the pixels of a block through the step whose weights sit in the array: asks for their activations, walks the
// kernel positions. See README.md.
`include "npu_assert.svh"

module npu_mac_array_stream #(
  parameter int unsigned Cols = 8,
  parameter int unsigned Depth = 8,
  parameter int unsigned DwTaps = 2,
  parameter int unsigned AccBytes = 4096,
  parameter int unsigned Split = 1,
  parameter int unsigned PhaseBits = 2,
  localparam int unsigned Rows = AccBytes / 2 / 4 / Cols,
  localparam int unsigned PixelBits = $clog2(Rows),
  localparam int unsigned ColBits = $clog2(Cols) + 1,
  localparam int unsigned DepthBits = $clog2(Depth) + 1,
  localparam int unsigned CountBits = (Cols > Depth) ? ColBits : DepthBits
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  npu_contract_pkg::mxu_command_t command_i,
  input  logic                     [1:0] bytes_log2_i,  // of an activation
  input  logic           [PhaseBits-1:0] phase_last_i,  // of a pixel's cycles in a step
  input  logic                     [1:0] split_i,   // log2 of the pixels side by side
  input  logic                           setup_i,   // compute what depends on the command only
  input  logic                           begin_i,   // the cycle behind it
  input  logic                           freeze_i,

  output logic                           valid_o,
  input  logic                           ready_i,
  output logic    [Split-1:0][Depth-1:0] positions_o,  // that lie inside the input box, of each pixel
  output logic        [Depth-1:0] [31:0] offset_o,     // bytes, of the first pixel's positions
  output logic                    [31:0] pixel_stride_o,  // to those of the next pixel
  output logic           [CountBits-1:0] elements_o,   // of each position
  output logic                           depthwise_o,  // positions are Cols elements apart in the data, else one

  // The step whose weights are there, or will be with the end of this cycle.
  input  logic                           loaded_i,
  input  logic                           end_i,
  input  logic                           first_i,
  input  logic                           last_i,
  input  logic                           group_first_i,
  input  logic                           group_last_i,
  input  logic                           chunk_last_i,
  input  logic             [ColBits-1:0] columns_i,
  input  logic           [DepthBits-1:0] step_elements_i,
  output logic                           switch_o,     // goes on to it

  // What enters the array: a pixel, the end of a group, or both.
  output logic                           item_valid_o,
  output logic                           item_take_o,   // with new activations
  output logic                           item_start_o,  // first of its group
  output logic                           item_first_o,  // first that this accumulator gets
  output logic                           item_finish_o,
  output logic                           item_sums_o,   // completes those of a pixel that is not its group's last
  output logic                           item_half_o,
  output logic           [PixelBits-1:0] item_pixel_o,
  // Cycle of the pixel. Of 16-bit operands bytes: of the activation, of the weight.
  output logic           [PhaseBits-1:0] item_phase_o,
  output logic    [Split-1:0][Depth-1:0] lanes_o,       // that hold an element of the input; others count as zero
  output logic [Cols-1:0] [ColBits-1:0]  channel_o      // depthwise: element of the position that each column takes
);
  logic wide, depthwise, run;
  assign wide = command_i.src_type == 4'(npu_contract_pkg::ElementI16);
  assign depthwise = command_i.mode == npu_contract_pkg::MxuModeDepthwise;
  assign run = !depthwise && command_i.in_c >= Depth;
  assign depthwise_o = depthwise;

  // Constants of the tile, in the two cycles before the first step. Offsets wrap at 32 bits, like the memory's.
  logic [31:0] tap_offset_x_q, tap_offset_y_q;      // of the next kernel column, row
  logic [31:0] pixel_offset_x_q, pixel_offset_y_q;  // of the next output column, row
  logic [31:0] first_offset_q;                      // of the first pixel
  logic [Split-1:0] [31:0] pixel_x_q;               // of a pixel, from the first one on
  logic [31:0] pad_top, pad_left;
  assign pad_top = 32'($signed(command_i.pad_top));
  assign pad_left = 32'($signed(command_i.pad_left));
  always_ff @(posedge clk_i) begin
    if (setup_i) begin
      tap_offset_x_q <= 32'(command_i.dilation_x) * command_i.src_pixel_stride;
      tap_offset_y_q <= 32'(command_i.dilation_y) * command_i.src_row_stride;
      pixel_offset_x_q <= 32'(command_i.stride_x) * command_i.src_pixel_stride;
      pixel_offset_y_q <= 32'(command_i.stride_y) * command_i.src_row_stride;
      for (int unsigned p = 0; p < Split; p++) pixel_x_q[p] <= 32'(p) * 32'(command_i.stride_x);
      first_offset_q <= -(pad_top * command_i.src_row_stride + pad_left * command_i.src_pixel_stride);
    end
  end

  // A lane's place in the window: channel, kernel column, position, byte offset. A step moves all lanes on by as many
  // elements as it takes: by a constant, and others where the channel or the kernel column wraps.
  logic [Depth-1:0] [31:0] lane_channel_q, lane_column_q, lane_x_q, lane_y_q, lane_offset_q;
  logic [DepthBits-1:0] packed_channels;  // of the input, when lanes take the window densely
  assign packed_channels = depthwise ? DepthBits'(1) : DepthBits'(command_i.in_c);

  logic [31:0] move_channel_q, move_column_q, move_x_q, move_y_q, move_offset_q;  // always
  logic [31:0] carry_offset_q;                                                    // where the channel wraps
  logic [31:0] wrap_x_q, wrap_offset_q;                                           // where the column wraps

  // A small number divided by one of the command: a table, no divider.
  logic [31:0] kernel_w, channels, move_elements, move_positions, move_columns, move_rows;
  assign kernel_w = 32'(command_i.kernel_w);
  assign channels = 32'(packed_channels);
  assign move_elements = run ? '0 : depthwise ? 32'(DwTaps) : 32'(Depth);
  always_comb begin
    move_positions = '0;
    move_columns = '0;
    move_rows = '0;
    if (begin_i && !run) begin
      move_positions = move_elements / channels;
      move_columns = move_positions % kernel_w;
      move_rows = move_positions / kernel_w;
    end
  end
  always_ff @(posedge clk_i) begin
    if (begin_i) begin
      move_channel_q <= run ? '0 : move_elements % channels;
      move_column_q <= move_columns;
      move_x_q <= move_columns * 32'(command_i.dilation_x);
      move_y_q <= move_rows * 32'(command_i.dilation_y);
      move_offset_q <= (run ? '0 : (move_elements % channels) << bytes_log2_i) + move_columns * tap_offset_x_q +
                       move_rows * tap_offset_y_q;
      carry_offset_q <= tap_offset_x_q - (run ? '0 : channels << bytes_log2_i);
      wrap_x_q <= kernel_w * 32'(command_i.dilation_x);
      wrap_offset_q <= tap_offset_y_q - kernel_w * tap_offset_x_q;
    end
  end

  logic move_lanes, start_lanes;
  assign move_lanes = switch_o && !end_i && !first_i;
  assign start_lanes = switch_o && !end_i && first_i;
  always_ff @(posedge clk_i) begin
    logic [31:0] position, channel, row, column;
    logic carry, wrap;
    if (start_lanes) begin
      for (int unsigned k = 0; k < Depth; k++) begin
        if (k == 0 || !run) begin
          position = run ? '0 : k / channels;
          channel = run ? '0 : k % channels;
          row = position / kernel_w;
          column = position % kernel_w;
          lane_channel_q[k] <= channel;
          lane_column_q[k] <= column;
          lane_x_q[k] <= column * 32'(command_i.dilation_x);
          lane_y_q[k] <= row * 32'(command_i.dilation_y);
          lane_offset_q[k] <= (channel << bytes_log2_i) + column * tap_offset_x_q + row * tap_offset_y_q;
        end
      end
    end
    if (move_lanes) begin
      for (int unsigned k = 0; k < Depth; k++) begin
        if (k == 0 || !run) begin
          channel = lane_channel_q[k] + move_channel_q;
          carry = run ? chunk_last_q : channel >= channels;
          column = lane_column_q[k] + move_column_q + 32'(carry);
          wrap = column >= kernel_w;
          lane_channel_q[k] <= (carry && !run) ? channel - channels : channel;
          lane_column_q[k] <= wrap ? column - kernel_w : column;
          lane_x_q[k] <= lane_x_q[k] + move_x_q + (carry ? 32'(command_i.dilation_x) : '0) - (wrap ? wrap_x_q : '0);
          lane_y_q[k] <= lane_y_q[k] + move_y_q + (wrap ? 32'(command_i.dilation_y) : '0);
          lane_offset_q[k] <= lane_offset_q[k] + move_offset_q + (carry ? carry_offset_q : '0) +
                              (wrap ? wrap_offset_q : '0);
        end
      end
    end
  end

  // The step at hand.
  logic active_q, done_q, first_q, last_q, group_last_q, chunk_last_q, half_q;
  logic [DepthBits-1:0] elements_q;
  logic [Depth-1:0] lanes_q;  // below elements_q
  logic [31:0] chunk_offset_q;  // of the step's first channel, where lanes do not know it
  logic [PhaseBits-1:0] phase_q;

  logic enter, phase_last, step_last, pixel_last, waits_q;
  assign phase_last = phase_q == phase_last_i;
  assign valid_o = active_q && !done_q && phase_q == '0 && (!freeze_i || waits_q);
  assign enter = (phase_q == '0) ? valid_o && ready_i : active_q && !done_q && !freeze_i;
  assign step_last = enter && phase_last && pixel_last;
  assign switch_o = !freeze_i && (!active_q || done_q || step_last) && (loaded_i || (end_i && active_q));

  assign item_valid_o = enter;
  assign item_take_o = enter && phase_q == '0;
  assign item_start_o = enter && first_q && item_pixel_o == '0 && phase_q == '0;
  assign item_first_o = first_q && phase_q == '0;
  assign item_finish_o = switch_o && active_q && last_q;
  assign item_sums_o = enter && phase_last && last_q && !pixel_last;
  assign item_half_o = half_q;
  assign item_phase_o = phase_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      active_q <= 1'b0;
      done_q <= 1'b0;
      phase_q <= '0;
      waits_q <= 1'b0;
      half_q <= 1'b0;
    end else begin
      waits_q <= valid_o && !ready_i;
      if (begin_i) half_q <= 1'b0;
      if (enter) phase_q <= phase_last ? '0 : phase_q + 1'b1;
      if (switch_o) begin
        active_q <= !end_i;
        done_q <= 1'b0;
        if (active_q && last_q) half_q <= !half_q;
      end else if (step_last) begin
        done_q <= 1'b1;
      end
    end
  end

  // Depthwise: columns take `multiplier` output channels of an input channel in turn. Pixels side by side have the
  // channels of one group, each in its own part of the columns and of the data.
  logic [Cols-1:0] [31:0] turn_q;            // of the column within its input channel
  logic [Cols-1:0] [ColBits-1:0] channel_q;  // input channel, from that of column 0 on
  logic [ColBits-1:0] move_channels, move_turns;
  assign move_channels = ColBits'(32'(Cols) / command_i.multiplier);
  assign move_turns = ColBits'(32'(Cols) % command_i.multiplier);
  logic [ColBits-1:0] columns_q;
  logic turn0_wraps;
  assign turn0_wraps = turn_q[0] + 32'(move_turns) >= command_i.multiplier;
  assign channel_o = channel_q;
  logic [31:0] in_part;  // bits of a column's number within its pixel's part
  assign in_part = 32'(Cols - 1) >> split_i;

  always_ff @(posedge clk_i) begin
    if (switch_o && !end_i) begin
      first_q <= first_i;
      last_q <= last_i;
      group_last_q <= group_last_i;
      chunk_last_q <= chunk_last_i;
      elements_q <= step_elements_i;
      columns_q <= columns_i;
      for (int unsigned k = 0; k < Depth; k++) lanes_q[k] <= DepthBits'(k) < step_elements_i;
      if (run) begin
        chunk_offset_q <= (first_i || chunk_last_q) ? '0 : chunk_offset_q + (32'(Depth) << bytes_log2_i);
      end else begin
        if (first_i && depthwise) begin
          for (int unsigned c = 0; c < Cols; c++) begin
            if (group_first_i) begin
              turn_q[c] <= (32'(c) & in_part) % command_i.multiplier;
              channel_q[c] <= ColBits'((32'(c) & in_part) / command_i.multiplier) + ColBits'(32'(c) & ~in_part);
            end else begin
              turn_q[c] <= (turn_q[c] + 32'(move_turns) >= command_i.multiplier)
                           ? turn_q[c] + 32'(move_turns) - command_i.multiplier : turn_q[c] + 32'(move_turns);
              channel_q[c] <= channel_q[c] - ColBits'(turn0_wraps) +
                              ColBits'(turn_q[c] + 32'(move_turns) >= command_i.multiplier);
            end
          end
          chunk_offset_q <= group_first_i ? '0
              : chunk_offset_q + ((32'(move_channels) + 32'(turn0_wraps)) << bytes_log2_i);
        end else if (!depthwise) begin
          chunk_offset_q <= '0;
        end
      end
    end
  end

  // The pixel at hand.
  logic [31:0] y, x, offset;
  logic unused_final;
  npu_mac_array_walk #(.PixelBits(PixelBits)) u_walk (
    .clk_i,
    .init_i(begin_i),
    .next_i(enter && phase_last),
    .keep_i(last_q && group_last_q),
    .rows_i(command_i.out_h),
    .columns_i(command_i.out_w),
    .block_last_i(wide ? PixelBits'(Rows / 2 - 1) : PixelBits'(Rows - 1)),
    .y_first_i(-pad_top),
    .y_step_i(32'(command_i.stride_y)),
    .x_first_i(-pad_left),
    .x_step_i(32'(command_i.stride_x) << split_i),
    .offset_first_i(first_offset_q),
    .offset_row_i(pixel_offset_y_q),
    .offset_column_i(pixel_offset_x_q << split_i),
    .index_o(walk_index),
    .last_o(pixel_last),
    .final_o(unused_final),
    .y_o(y),
    .x_o(x),
    .offset_o(offset)
  );
  // Behind a step's last pixel the walk is at the next block's start already.
  logic [PixelBits-1:0] walk_index, last_index_q;
  assign item_pixel_o = done_q ? last_index_q : walk_index;
  always_ff @(posedge clk_i) if (step_last) last_index_q <= walk_index;

  // Rows and columns are signed; one comparison of unsigned numbers sees both ends.
  logic [31:0] pixel_offset;
  logic [Split-1:0] there;  // pixels
  assign pixel_offset = offset + chunk_offset_q;
  assign pixel_stride_o = pixel_offset_x_q;
  always_comb for (int unsigned p = 0; p < Split; p++) there[p] = p >> split_i == 0;
  always_comb begin
    positions_o = '0;
    offset_o = '0;
    if (run) begin
      for (int unsigned p = 0; p < Split; p++) begin
        if (there[p]) begin
          positions_o[p][0] = y + lane_y_q[0] < command_i.in_h && x + pixel_x_q[p] + lane_x_q[0] < command_i.in_w;
        end
      end
      offset_o[0] = pixel_offset + lane_offset_q[0];
    end else begin
      for (int unsigned p = 0; p < Split; p++) begin
        if (there[p]) begin
          for (int unsigned k = 0; k < Depth; k++) begin
            positions_o[p][k] = lanes_q[k] && y + lane_y_q[k] < command_i.in_h &&
                                x + pixel_x_q[p] + lane_x_q[k] < command_i.in_w;
          end
        end
      end
      for (int unsigned k = 0; k < Depth; k++) offset_o[k] = pixel_offset + lane_offset_q[k];
    end
  end
  always_comb begin
    elements_o = CountBits'(1);
    if (run) elements_o = CountBits'(elements_q);
    if (depthwise) elements_o = CountBits'(channel_q[$clog2(Cols)'(columns_q - 1'b1)]) + CountBits'(1);
  end
  always_comb begin
    for (int unsigned p = 0; p < Split; p++) lanes_o[p] = run ? lanes_q & {Depth{positions_o[p][0]}} : positions_o[p];
  end

  `NPU_ASSERT_STABLE(ActivationStable, valid_o, ready_i, {positions_o, offset_o, elements_o})

endmodule
