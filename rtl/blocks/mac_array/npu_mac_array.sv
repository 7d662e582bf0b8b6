// SPDX-License-Identifier: Apache-2.0
// The MXU: one tile of a convolution, depthwise convolution or matrix product, with its output stage. See README.md.
`include "npu_assert.svh"

module npu_mac_array #(
  parameter int unsigned Cols = 8,
  parameter int unsigned Depth = 8,
  parameter int unsigned DwTaps = 2,
  parameter int unsigned AccBytes = 4096,
  parameter int unsigned WeightPortBytes = 16,
  parameter int unsigned Int16 = 1,
  parameter int unsigned Residual = 1,
  parameter int unsigned Split = 1,
  // Cycles of a step of floating point; 0: the array has no such format.
  parameter int unsigned Fp8Cycles = 0,
  parameter int unsigned Fp16Cycles = 0,
  parameter int unsigned Bf16Cycles = 0,
  parameter int unsigned Fp32Cycles = 0,
  // Of ports; leave as they are.
  localparam int unsigned ColBits = $clog2(Cols) + 1,
  localparam int unsigned DepthBits = $clog2(Depth) + 1,
  localparam int unsigned CountBits = (Cols > Depth) ? ColBits : DepthBits,
  localparam int unsigned ByteBits = $clog2(WeightPortBytes) + 1,
  localparam int unsigned MostBytes = (Fp32Cycles != 0) ? 4 : 2,  // of an element
  localparam int unsigned ActBytes = MostBytes * ((Split * Depth > Cols * DwTaps) ? Split * Depth : Cols * DwTaps),
  localparam int unsigned Float = 32'(Fp8Cycles + Fp16Cycles + Bf16Cycles + Fp32Cycles != 0),
  localparam int unsigned ResidualBits = (Float != 0) ? 32 : 8  // of a column
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,

  input  logic                           start_valid_i,
  output logic                           start_ready_o,
  input  npu_contract_pkg::mxu_command_t command_i,
  output logic                           done_o,

  output logic                           act_valid_o,
  input  logic                           act_ready_i,
  output logic    [Split-1:0][Depth-1:0] act_positions_o,
  output logic        [Depth-1:0] [31:0] act_offset_o,
  output logic                    [31:0] act_pixel_stride_o,
  output logic           [CountBits-1:0] act_elements_o,
  output logic                           act_depthwise_o,
  input  logic          [8*ActBytes-1:0] act_data_i,

  output logic                           weight_valid_o,
  input  logic                           weight_ready_i,
  output logic                    [31:0] weight_offset_o,
  output logic                    [31:0] weight_column_stride_o,
  output logic                    [31:0] weight_element_stride_o,
  output logic             [ColBits-1:0] weight_columns_o,
  output logic           [DepthBits-1:0] weight_elements_o,
  input  logic   [8*WeightPortBytes-1:0] weight_data_i,

  output logic                           param_valid_o,
  input  logic                           param_ready_i,
  output logic                    [31:0] param_offset_o,
  output logic            [ByteBits-1:0] param_bytes_o,
  input  logic   [8*WeightPortBytes-1:0] param_data_i,

  output logic                           residual_valid_o,
  input  logic                           residual_ready_i,
  output logic                    [31:0] residual_offset_o,
  output logic             [ColBits-1:0] residual_columns_o,
  input  logic   [ResidualBits*Cols-1:0] residual_data_i,

  output logic                           result_valid_o,
  input  logic                           result_ready_i,
  output logic                    [31:0] result_offset_o,
  output logic             [ColBits-1:0] result_columns_o,
  output logic         [Cols-1:0] [47:0] result_data_o
);
  localparam int unsigned Rows = AccBytes / 2 / 4 / Cols;  // pixels of a block of 32-bit accumulators
  localparam int unsigned PixelBits = $clog2(Rows);
  localparam int unsigned BeatBits = $clog2(MostBytes * Cols * Depth / WeightPortBytes);
  localparam int unsigned DwColumns = WeightPortBytes / DwTaps;  // that a beat has room for, of bytes
  // A pixel's cycles in a step are counted: 4 of 16-bit operands, or those of a format.
  localparam int unsigned PhaseBits = $clog2(npu_float_pkg::largest(4, Fp8Cycles, Fp16Cycles, Bf16Cycles, Fp32Cycles));

  if (Rows < 4 || WeightPortBytes < MostBytes * Depth || WeightPortBytes < 16 ||
      WeightPortBytes > 2 * Cols * Depth / 2 || Split * WeightPortBytes > Cols * Depth || DwTaps > Depth
  ) begin : gen_sizes
    $error("npu_mac_array: sizes out of range; see README.md");
  end

  // A tile: idle, setup until the zero points are there, one cycle of begin, then work until the last result is taken.
  npu_contract_pkg::mxu_command_t command_q, command_d;
  logic idle_q, setup_q, begin_q, done_q, begin_d;
  logic zero_points, result_last, tile_done;
  assign start_ready_o = idle_q;
  assign done_o = done_q;
  assign begin_d = setup_q && zero_points;
  assign tile_done = result_valid_o && result_ready_i && result_last;

  always_comb begin
    command_d = command_i;
    if (command_i.mode == npu_contract_pkg::MxuModeMatmul) begin
      {command_d.kernel_h, command_d.kernel_w, command_d.stride_y, command_d.stride_x} = {4{16'd1}};
      {command_d.dilation_y, command_d.dilation_x} = {2{16'd1}};
      {command_d.pad_top, command_d.pad_left} = '0;
    end
    // Pixels side by side are walked as one.
    if (Split > 1) begin
      command_d.out_w = command_i.out_w >> command_i.side_by_side_log2;
      command_d.dst_pixel_stride = command_i.dst_pixel_stride << command_i.side_by_side_log2;
      command_d.residual_pixel_stride = command_i.residual_pixel_stride << command_i.side_by_side_log2;
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      idle_q <= 1'b1;
      setup_q <= 1'b0;
      begin_q <= 1'b0;
      done_q <= 1'b0;
    end else begin
      begin_q <= begin_d;
      done_q <= tile_done;
      if (start_valid_i && idle_q) begin
        idle_q <= 1'b0;
        setup_q <= 1'b1;
      end else if (begin_d) begin
        setup_q <= 1'b0;
      end else if (tile_done) begin
        idle_q <= 1'b1;
      end
    end
  end
  logic start;
  assign start = start_valid_i && idle_q;
  always_ff @(posedge clk_i) if (start) command_q <= command_d;

  // Log2 of the pixels side by side. Results and residual see one pixel with the channels of all.
  logic [1:0] split;
  npu_contract_pkg::mxu_command_t output_command;
  assign split = (Split > 1) ? command_q.side_by_side_log2[1:0] : '0;
  always_comb begin
    output_command = command_q;
    output_command.out_c = command_q.out_c << split;
  end

  logic wide, wide_weights, depthwise, floats;
  assign wide = (Int16 != 0) && command_q.src_type == 4'(npu_contract_pkg::ElementI16);
  assign wide_weights = (Int16 != 0) && command_q.weight_type == 4'(npu_contract_pkg::ElementI16);
  assign depthwise = command_q.mode == npu_contract_pkg::MxuModeDepthwise;

  // Of an operand's element: log2 of its bytes. Of a pixel in a step: its last cycle.
  npu_contract_pkg::element_e format;
  logic [1:0] source_log2, weight_log2;
  logic [PhaseBits-1:0] phase_last;
  assign format = npu_contract_pkg::element_e'(8'(command_q.src_type));
  assign floats = (Float != 0) && npu_float_pkg::is_float(format);
  always_comb begin
    source_log2 = {1'b0, command_q.src_type == 4'(npu_contract_pkg::ElementI16)};
    weight_log2 = {1'b0, command_q.weight_type == 4'(npu_contract_pkg::ElementI16)};
    phase_last = PhaseBits'({weight_log2[0], source_log2[0]});
    if (floats) begin
      source_log2 = npu_float_pkg::bytes_log2(format);
      weight_log2 = source_log2;
      case (format)
        npu_contract_pkg::ElementF16: phase_last = PhaseBits'(Fp16Cycles - 1);
        npu_contract_pkg::ElementBf16: phase_last = PhaseBits'(Bf16Cycles - 1);
        npu_contract_pkg::ElementF32: phase_last = PhaseBits'(Fp32Cycles - 1);
        default: phase_last = PhaseBits'(Fp8Cycles - 1);
      endcase
    end
  end

  // A finished group stands in front of the accumulators until its entries are there and the other half is drained;
  // with it stands all in front of it. Only registers decide that: no port's ready reaches another's valid.
  logic freeze, sums_valid, sums_finish, params_almost, output_almost, output_full;
  assign freeze = (sums_finish && !(params_almost && output_almost)) || (sums_valid && output_full);

  logic loaded, step_end, step_first, step_last, group_first, group_last, chunk_last, switch_step, weight_write;
  logic [ColBits-1:0] group_columns;
  logic [BeatBits-1:0] weight_beat;
  npu_mac_array_weights #(
    .Cols(Cols), .Depth(Depth), .DwTaps(DwTaps), .DwColumns(DwColumns), .AccBytes(AccBytes),
    .PortBytes(WeightPortBytes), .MostBytes(MostBytes), .Float(Float)
  ) u_weights (
    .clk_i,
    .rst_ni,
    .command_i(command_q),
    .bytes_log2_i(weight_log2),
    .setup_i(setup_q),
    .begin_i(begin_d),
    .freeze_i(freeze),
    .valid_o(weight_valid_o),
    .ready_i(weight_ready_i),
    .offset_o(weight_offset_o),
    .column_stride_o(weight_column_stride_o),
    .element_stride_o(weight_element_stride_o),
    .columns_o(weight_columns_o),
    .elements_o(weight_elements_o),
    .write_o(weight_write),
    .beat_o(weight_beat),
    .loaded_o(loaded),
    .end_o(step_end),
    .first_o(step_first),
    .last_o(step_last),
    .group_first_o(group_first),
    .group_last_o(group_last),
    .chunk_last_o(chunk_last),
    .group_columns_o(group_columns),
    .switch_i(switch_step)
  );

  logic item_valid, item_take, item_start, item_first, item_finish, item_sums, item_half;
  logic [PixelBits-1:0] item_pixel;
  logic [PhaseBits-1:0] item_phase;
  logic [Split-1:0][Depth-1:0] lanes;
  logic [Cols-1:0] [ColBits-1:0] channel;
  npu_mac_array_stream #(
    .Cols(Cols), .Depth(Depth), .DwTaps(DwTaps), .AccBytes(AccBytes), .Split(Split), .PhaseBits(PhaseBits)
  ) u_stream (
    .clk_i,
    .rst_ni,
    .command_i(command_q),
    .bytes_log2_i(source_log2),
    .phase_last_i(phase_last),
    .split_i(split),
    .setup_i(setup_q),
    .begin_i(begin_q),
    .freeze_i(freeze),
    .valid_o(act_valid_o),
    .ready_i(act_ready_i),
    .positions_o(act_positions_o),
    .offset_o(act_offset_o),
    .pixel_stride_o(act_pixel_stride_o),
    .elements_o(act_elements_o),
    .depthwise_o(act_depthwise_o),
    .loaded_i(loaded),
    .end_i(step_end),
    .first_i(step_first),
    .last_i(step_last),
    .group_first_i(group_first),
    .group_last_i(group_last),
    .chunk_last_i(chunk_last),
    .columns_i(group_columns),
    .step_elements_i(weight_elements_o),
    .switch_o(switch_step),
    .item_valid_o(item_valid),
    .item_take_o(item_take),
    .item_start_o(item_start),
    .item_first_o(item_first),
    .item_finish_o(item_finish),
    .item_sums_o(item_sums),
    .item_half_o(item_half),
    .item_pixel_o(item_pixel),
    .item_phase_o(item_phase),
    .lanes_o(lanes),
    .channel_o(channel)
  );

  npu_contract_pkg::parameter_header_t header;
  logic unused_header;
  assign unused_header = ^header;
  logic sums_start, sums_first, sums_complete, sums_half;
  logic [PixelBits-1:0] sums_pixel;
  logic [1:0] sums_bytes;
  logic [Cols-1:0] [31:0] sums;
  npu_mac_array_dot #(
    .Cols(Cols), .Depth(Depth), .DwTaps(DwTaps), .DwColumns(DwColumns), .PortBytes(WeightPortBytes),
    .PixelBits(PixelBits), .PhaseBits(PhaseBits), .MostBytes(MostBytes), .ActBytes(ActBytes), .Split(Split),
    .Fp8Cycles(Fp8Cycles), .Fp16Cycles(Fp16Cycles), .Bf16Cycles(Bf16Cycles), .Fp32Cycles(Fp32Cycles)
  ) u_dot (
    .clk_i,
    .rst_ni,
    .split_i(split),
    .freeze_i(freeze),
    .depthwise_i(depthwise),
    .wide_i(wide),
    .wide_weights_i(wide_weights),
    .floats_i(floats),
    .format_i(format),
    .bytes_log2_i(weight_log2),
    .input_zp_i(header.input_zp[15:0]),
    .weight_zp_i(header.weight_zp[15:0]),
    .write_i(weight_write),
    .beat_i(weight_beat),
    .weights_i(weight_data_i),
    .switch_i(switch_step && !step_end),
    .item_valid_i(item_valid),
    .item_take_i(item_take),
    .item_start_i(item_start),
    .item_first_i(item_first),
    .item_finish_i(item_finish),
    .item_sums_i(item_sums),
    .item_half_i(item_half),
    .item_pixel_i(item_pixel),
    .item_phase_i(item_phase),
    .lanes_i(lanes),
    .channel_i(channel),
    .activations_i(act_data_i),
    .start_o(sums_start),
    .valid_o(sums_valid),
    .first_o(sums_first),
    .finish_o(sums_finish),
    .complete_o(sums_complete),
    .half_o(sums_half),
    .pixel_o(sums_pixel),
    .bytes_o(sums_bytes),
    .sums_o(sums)
  );

  logic read_half;
  logic [PixelBits-1:0] read_pixel;
  logic [Cols-1:0] [47:0] value;
  npu_mac_array_acc #(.Cols(Cols), .AccBytes(AccBytes), .Float(Float)) u_acc (
    .clk_i,
    .wide_i(wide),
    .floats_i(floats),
    .valid_i(sums_valid && !freeze),
    .first_i(sums_first),
    .half_i(sums_half),
    .pixel_i(sums_pixel),
    .bytes_i(sums_bytes),
    .sums_i(sums),
    .read_half_i(read_half),
    .read_pixel_i(read_pixel),
    .value_o(value)
  );

  logic params_there, params_release;
  logic [Cols-1:0] [47:0] bias;
  logic [Cols-1:0] [31:0] multiplier;
  logic [Cols-1:0] [5:0] shift;
  npu_mac_array_params #(.Cols(Cols), .PortBytes(WeightPortBytes), .Split(Split)) u_params (
    .clk_i,
    .rst_ni,
    .split_i(split),
    .columns_i(start ? command_d.out_c : command_q.out_c),
    .init_i(start),
    .zero_points_o(zero_points),
    .valid_o(param_valid_o),
    .ready_i(param_ready_i),
    .offset_o(param_offset_o),
    .bytes_o(param_bytes_o),
    .data_i(param_data_i),
    .start_i(sums_start),
    .almost_o(params_almost),
    .there_o(params_there),
    .release_i(params_release),
    .header_o(header),
    .bias_o(bias),
    .multiplier_o(multiplier),
    .shift_o(shift)
  );

  npu_mac_array_output #(.Cols(Cols), .PixelBits(PixelBits), .Rows(Rows), .Residual(Residual), .Float(Float)) u_output (
    .clk_i,
    .rst_ni,
    .command_i(output_command),
    .wide_i(wide),
    .begin_i(begin_q),
    .fetch_i(begin_d),
    .sums_i(sums_complete && !freeze),
    .finish_i(sums_finish && !freeze),
    .half_i(sums_half),
    .last_i(sums_pixel),
    .almost_o(output_almost),
    .full_o(output_full),
    .params_i(params_there),
    .release_o(params_release),
    .header_i(header),
    .bias_i(bias),
    .multiplier_i(multiplier),
    .shift_i(shift),
    .read_half_o(read_half),
    .read_pixel_o(read_pixel),
    .value_i(value),
    .fetch_valid_o(residual_valid_o),
    .fetch_ready_i(residual_ready_i),
    .fetch_offset_o(residual_offset_o),
    .fetch_columns_o(residual_columns_o),
    .fetch_data_i(residual_data_i),
    .valid_o(result_valid_o),
    .ready_i(result_ready_i),
    .offset_o(result_offset_o),
    .columns_o(result_columns_o),
    .result_o(result_data_o),
    .last_o(result_last)
  );

  `NPU_ASSERT(PixelsFillTheColumns, !(begin_q && split != '0 && output_command.out_c != Cols))
  `NPU_ASSERT(ResultHasPlace, !(sums_valid && !freeze && output_full))

endmodule
