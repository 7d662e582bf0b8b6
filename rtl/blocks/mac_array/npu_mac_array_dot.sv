// SPDX-License-Identifier: Apache-2.0
// The array: Cols dot products of Depth (depthwise: DwTaps) pairs of bytes a cycle, or of as many pairs of floating point
// as its format takes in a cycle. See README.md.
module npu_mac_array_dot #(
  parameter int unsigned Cols = 8,
  parameter int unsigned Depth = 8,
  parameter int unsigned DwTaps = 2,
  parameter int unsigned DwColumns = 8,  // that a beat of weights has room for, of bytes
  parameter int unsigned PortBytes = 16,
  parameter int unsigned PixelBits = 6,
  parameter int unsigned PhaseBits = 2,
  parameter int unsigned MostBytes = 2,
  parameter int unsigned ActBytes = 32,
  parameter int unsigned Split = 1,
  parameter int unsigned Fp8Cycles = 0,
  parameter int unsigned Fp16Cycles = 0,
  parameter int unsigned Bf16Cycles = 0,
  parameter int unsigned Fp32Cycles = 0,
  localparam int unsigned Beats = MostBytes * Cols * Depth / PortBytes,
  localparam int unsigned BeatBits = $clog2(Beats),
  localparam int unsigned ColBits = $clog2(Cols) + 1
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  logic                     [1:0] split_i,   // log2 of the pixels side by side
  input  logic                           freeze_i,
  input  logic                           depthwise_i,
  input  logic                           wide_i,
  input  logic                           wide_weights_i,
  input  logic                           floats_i,
  input  npu_contract_pkg::element_e     format_i,      // of both operands then
  input  logic                     [1:0] bytes_log2_i,  // of a weight
  input  logic                    [15:0] input_zp_i,
  input  logic                    [15:0] weight_zp_i,

  // Weights of the next step go into the shadow registers; the array takes them in the cycle behind the switch.
  input  logic                           write_i,
  input  logic            [BeatBits-1:0] beat_i,
  input  logic         [8*PortBytes-1:0] weights_i,
  input  logic                           switch_i,

  input  logic                           item_valid_i,
  input  logic                           item_take_i,
  input  logic                           item_start_i,
  input  logic                           item_first_i,
  input  logic                           item_finish_i,
  input  logic                           item_sums_i,
  input  logic                           item_half_i,
  input  logic           [PixelBits-1:0] item_pixel_i,
  input  logic           [PhaseBits-1:0] item_phase_i,
  input  logic    [Split-1:0][Depth-1:0] lanes_i,
  input  logic [Cols-1:0]  [ColBits-1:0] channel_i,
  input  logic          [8*ActBytes-1:0] activations_i,

  output logic                           start_o,   // a group's first sums come with the next cycle
  output logic                           valid_o,
  output logic                           first_o,
  output logic                           finish_o,
  output logic                           complete_o,
  output logic                           half_o,
  output logic           [PixelBits-1:0] pixel_o,
  output logic                     [1:0] bytes_o,   // sums are worth 256 to the power of this
  output logic         [Cols-1:0] [31:0] sums_o
);
  // Registers behind the products and behind each level of the adder tree. Sums are formed in front of them, for
  // synthesis to move the registers in between. Depthwise trees are flatter: their sums enter further back.
  localparam int unsigned Levels = $clog2(Depth);
  localparam int unsigned DwEntry = Levels - $clog2(DwTaps);

  typedef struct packed {
    logic                 valid;
    logic                 start;
    logic                 first;
    logic                 finish;
    logic                 sums;
    logic                 half;
    logic [PixelBits-1:0] pixel;
    logic [PhaseBits-1:0] phase;
  } item_t;
  item_t item_d, item_q;        // with the operands
  item_t [Levels:0] stage_q;

  assign item_d = '{valid: item_valid_i, start: item_start_i, first: item_first_i, finish: item_finish_i,
                    sums: item_sums_i, half: item_half_i, pixel: item_pixel_i, phase: item_phase_i};

  // What the array computes with has one process of its own, of loops that simulators keep as loops; what others read
  // leaves it through sums_q. Operands are nine bits or 17, without their zero points, or FP32, in registers of 32.
  localparam int unsigned Weights = Cols * Depth;
  localparam int unsigned Window = Cols * DwTaps;
  logic [31:0] element_q [Split * Depth];    // of each part of the columns: those of its pixel
  logic [31:0] window_q [Window];            // depthwise: of tap t and column c at t * Cols + c
  logic        inside_q [Split * Depth];     // of floating point: there is an element
  logic [31:0] low_q [Weights];              // weights of column c at c * Depth: low byte, or all of an 8-bit one
  logic [31:0] high_q [Weights];             // the other byte
  logic  [7:0] shadow_q [MostBytes * Weights];  // as they came
  logic [31:0] early_q [Levels * Cols];      // sums in all stages but the last
  logic [Cols-1:0] [31:0] sums_q;

  // Parts of the columns that may have a pixel of their own, and the pixel that each of them takes.
  localparam int unsigned PartCols = Cols / Split;
  localparam int unsigned PartBeats = Cols * Depth / PortBytes;  // of all parts
  function automatic int unsigned pixel_of(int unsigned part);
    return part >> ($clog2(Split) - 32'(split_i));
  endfunction
  function automatic logic there(int unsigned pixel);
    return pixel >> split_i == 0;
  endfunction

  // Activation i; the weight whose first byte is byte i.
  function automatic logic [31:0] activation(int unsigned i);
    if (Float != 0 && floats_i) return activation_float(i);
    if (wide_i) return 32'($signed(activations_i[16*i+:16])) - 32'($signed(input_zp_i));
    return 32'($signed(activations_i[8*i+:8])) - 32'($signed(input_zp_i[7:0]));
  endfunction

  function automatic logic [31:0] weight(int unsigned i);
    if (Float != 0 && floats_i) return weight_float(i);
    return 32'($signed(shadow_q[i])) - 32'($signed(weight_zp_i[7:0]));
  endfunction

  function automatic logic [31:0] byte_of(logic [31:0] element);
    if (!wide_i) return element;
    return item_q.phase[0] ? 32'($signed(element[31:8])) : 32'(element[7:0]);
  endfunction

  // Of floating point a column makes `at_once` products in a cycle, of neighbours.
  localparam int unsigned Float = 32'(Fp8Cycles + Fp16Cycles + Bf16Cycles + Fp32Cycles != 0);
  function automatic int share(int elements, int cycles);
    return (cycles == 0) ? 0 : (elements + cycles - 1) / cycles;
  endfunction
  localparam int Fp16Lanes = share(Depth, Fp16Cycles);
  localparam int Bf16Lanes = share(Depth, Bf16Cycles);
  localparam int Fp32Lanes = share(Depth, Fp32Cycles);
  localparam int FloatLanes = npu_float_pkg::largest(Float, share(Depth, Fp8Cycles), Fp16Lanes, Bf16Lanes, Fp32Lanes);
  localparam int Nodes = 1 << $clog2(FloatLanes);  // of the tree's first level
  // Bytes of an element of it; integers have cases of their own.
  localparam int unsigned MostLog2 = (Float != 0) ? $clog2(MostBytes) : 0;
  logic [1:0] float_log2;
  assign float_log2 = (Float != 0) ? bytes_log2_i : '0;
  int at_once;
  always_comb begin
    case (format_i)
      npu_contract_pkg::ElementF16: at_once = depthwise_i ? share(DwTaps, Fp16Cycles) : Fp16Lanes;
      npu_contract_pkg::ElementBf16: at_once = depthwise_i ? share(DwTaps, Bf16Cycles) : Bf16Lanes;
      npu_contract_pkg::ElementF32: at_once = depthwise_i ? share(DwTaps, Fp32Cycles) : Fp32Lanes;
      default: at_once = depthwise_i ? share(DwTaps, Fp8Cycles) : share(Depth, Fp8Cycles);
    endcase
  end

  // A lane multiplies as many bits as the widest format that reaches it has.
  function automatic logic [4:0] width(int lane);
    if (lane < Fp32Lanes) return npu_float_pkg::width_of(npu_contract_pkg::ElementF32);
    if (lane < Fp16Lanes) return npu_float_pkg::width_of(npu_contract_pkg::ElementF16);
    if (lane < Bf16Lanes) return npu_float_pkg::width_of(npu_contract_pkg::ElementBf16);
    return npu_float_pkg::width_of(npu_contract_pkg::ElementF8e4m3);
  endfunction
  function automatic logic [31:0] product(int lane, logic [31:0] one, logic [31:0] other);
    return npu_float_pkg::product(width(lane), lane >= Fp32Lanes && lane >= Bf16Lanes, one, other);
  endfunction

  // FP32 of an activation and of a weight.
  function automatic logic [31:0] activation_float(int unsigned i);
    logic [31:0] bits;
    bits = 32'(activations_i[8*i+:8]);
    if (float_log2 == 2'd1) bits = 32'(activations_i[16*i+:16]);
    if (MostBytes == 4 && float_log2 == 2'd2) bits = activations_i[32*i+:32];
    return npu_float_pkg::widen(format_i, bits);
  endfunction
  function automatic logic [31:0] weight_float(int unsigned i);
    logic [31:0] bits;
    bits = 32'(shadow_q[i]);
    if (float_log2 != 2'd0) bits[15:8] = shadow_q[i+1];
    if (MostBytes == 4 && float_log2 == 2'd2) bits[31:16] = {shadow_q[i+3], shadow_q[i+2]};
    return npu_float_pkg::widen(format_i, bits);
  endfunction

  logic swap_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      item_q.valid <= 1'b0;
      item_q.finish <= 1'b0;
      swap_q <= 1'b0;
      for (int i = 0; i <= Levels; i++) begin
        stage_q[i].valid <= 1'b0;
        stage_q[i].finish <= 1'b0;
      end
    end else begin
      swap_q <= switch_i || (swap_q && freeze_i);
      // A request that waited may be answered while the array stands; its place is empty then.
      if (!freeze_i || item_valid_i) item_q <= item_d;
      if (!freeze_i) begin
        stage_q[0] <= depthwise_i ? '0 : item_q;
        for (int i = 1; i <= Levels; i++) stage_q[i] <= (depthwise_i && i == DwEntry) ? item_q : stage_q[i-1];
        if (depthwise_i && DwEntry == 0) stage_q[0] <= item_q;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    logic [31:0] taken [Split * Depth];
    logic [31:0] bytes [Split * Depth];
    logic [31:0] window [Window];
    logic [31:0] sum, one;
    logic [31:0] node [Nodes];
    int at;
    if (!freeze_i) begin
      for (int c = 0; c < Cols; c++) sums_q[c] <= early_q[(Levels-1)*Cols+c];
      for (int i = Levels * Cols - 1; i >= Cols; i--) early_q[i] = early_q[i-Cols];
      if (Float != 0 && floats_i) begin
        if (item_q.valid) begin
          for (int c = 0; c < Cols; c++) begin
            for (int j = 0; j < Nodes; j++) node[j] = '0;
            for (int j = 0; j < FloatLanes; j++) begin
              at = 32'(item_q.phase) * at_once + j;
              if (j < at_once && at < Depth && inside_q[c/PartCols*Depth+at]) begin
                one = depthwise_i ? window_q[at*Cols+c] : element_q[c/PartCols*Depth+at];
                node[j] = product(j, one, low_q[c*Depth+at]);
              end
            end
            // Pairs of neighbours. Without a product it is +0, and so is the sum of two of these.
            for (int s = 1; s < Nodes; s = 2 * s) begin
              for (int j = 0; j < Nodes; j = j + 2 * s) begin
                if (j < at_once) node[j] = npu_float_pkg::add(node[j], node[j+s]);
              end
            end
            if (!depthwise_i) early_q[c] = node[0];
            else if (DwEntry < Levels) early_q[DwEntry*Cols+c] = node[0];
            else sums_q[c] <= node[0];
          end
        end
      end else if (item_q.valid && !depthwise_i) begin
        for (int k = 0; k < Split * Depth; k++) bytes[k] = byte_of(element_q[k]);
        if (item_q.phase[1]) begin
          for (int c = 0; c < Cols; c++) begin
            sum = '0;
            for (int k = 0; k < Depth; k++) sum = sum + bytes[c/PartCols*Depth+k] * high_q[c*Depth+k];
            early_q[c] = sum;
          end
        end else begin
          for (int c = 0; c < Cols; c++) begin
            sum = '0;
            for (int k = 0; k < Depth; k++) sum = sum + bytes[c/PartCols*Depth+k] * low_q[c*Depth+k];
            early_q[c] = sum;
          end
        end
      end else if (item_q.valid) begin
        for (int i = 0; i < Window; i++) window[i] = byte_of(window_q[i]);
        for (int c = 0; c < Cols; c++) begin
          sum = '0;
          for (int t = 0; t < DwTaps; t++) sum = sum + window[t*Cols+c] * low_q[c*Depth+t];
          if (DwEntry < Levels) early_q[DwEntry*Cols+c] = sum;
          else sums_q[c] <= sum;
        end
      end
    end
    if (item_take_i && !depthwise_i) begin
      for (int p = 0; p < Split; p++) begin
        if (there(p)) for (int k = 0; k < Depth; k++) taken[p*Depth+k] = lanes_i[p][k] ? activation(p * Depth + k) : '0;
      end
      for (int part = 0; part < Split; part++) begin
        for (int k = 0; k < Depth; k++) element_q[part*Depth+k] = taken[pixel_of(part)*Depth+k];
      end
    end
    if (item_take_i && depthwise_i) begin
      for (int part = 0; part < Split; part++) begin
        for (int t = 0; t < DwTaps; t++) begin
          for (int c = part * PartCols; c < (part + 1) * PartCols; c++) begin
            window_q[t*Cols+c] = lanes_i[pixel_of(part)][t] ? activation(t * Cols + 32'(channel_i[c])) : '0;
          end
        end
      end
    end
    if (Float != 0 && item_take_i && floats_i) begin
      for (int part = 0; part < Split; part++) begin
        for (int k = 0; k < Depth; k++) inside_q[part*Depth+k] = lanes_i[pixel_of(part)][k];
      end
    end
    if (swap_q && !freeze_i) begin
      if (wide_weights_i) begin
        for (int i = 0; i < Weights; i++) begin
          sum = 32'($signed({shadow_q[2*i+1], shadow_q[2*i]})) - 32'($signed(weight_zp_i));
          low_q[i] = 32'(sum[7:0]);
          high_q[i] = 32'($signed(sum[31:8]));
        end
      end else if (depthwise_i) begin
        // A beat has whole columns: behind them it may have bytes of none. So beats do not begin with a part of the
        // columns, and all parts take those of the first.
        for (int unsigned s = 0; s <= $clog2(Split); s++) begin
          for (int unsigned b = 0; b <= MostLog2; b++) begin
            if (32'(split_i) == s && 32'(float_log2) == b) begin
              for (int unsigned c = 0; c < Cols; c++) begin
                for (int unsigned t = 0; t < DwTaps; t++) begin
                  low_q[c*Depth+t] = weight(c % (Cols >> s) / (DwColumns >> b) * PortBytes +
                                            (c % (Cols >> s) % (DwColumns >> b) * DwTaps + t << b));
                end
              end
            end
          end
        end
      end else begin
        for (int unsigned i = 0; i < Weights; i++) low_q[i] = weight(i << float_log2);
      end
    end
    if (write_i) begin
      // Pixels side by side have the same weights.
      for (int p = 0; p < Split; p++) begin
        if (there(p)) begin
          for (int i = 0; i < PortBytes; i++) begin
            shadow_q[(32'(beat_i)+p*(PartBeats<<float_log2>>split_i))*PortBytes+i] = weights_i[8*i+:8];
          end
        end
      end
    end
  end

  item_t last;
  assign last = stage_q[Levels];
  assign valid_o = last.valid;
  assign first_o = last.first;
  assign finish_o = last.finish;
  assign complete_o = last.valid && last.sums;
  assign half_o = last.half;
  assign pixel_o = last.pixel;
  assign bytes_o = 2'(last.phase[0]) + 2'(last.phase[1]);
  assign sums_o = sums_q;

  item_t entering;  // the last stage
  assign entering = (Levels == (depthwise_i ? DwEntry : 0)) ? item_q : stage_q[(Levels == 0) ? 0 : Levels-1];
  assign start_o = !freeze_i && entering.valid && entering.start;
  logic unused_items;
  assign unused_items = ^{last, entering};

endmodule
