// SPDX-License-Identifier: Apache-2.0
// The array: Cols dot products of Depth (depthwise: DwTaps) pairs of bytes a cycle. See README.md.
module npu_mac_array_dot #(
  parameter int unsigned Cols = 8,
  parameter int unsigned Depth = 8,
  parameter int unsigned DwTaps = 2,
  parameter int unsigned DwColumns = 8,  // in a beat of weights
  parameter int unsigned PortBytes = 16,
  parameter int unsigned PixelBits = 6,
  parameter int unsigned ActBytes = 32,
  parameter int unsigned Split = 1,
  localparam int unsigned Beats = 2 * Cols * Depth / PortBytes,
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
  input  logic                     [1:0] item_phase_i,
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
    logic           [1:0] phase;
  } item_t;
  item_t item_d, item_q;        // with the operands
  item_t [Levels:0] stage_q;

  assign item_d = '{valid: item_valid_i, start: item_start_i, first: item_first_i, finish: item_finish_i,
                    sums: item_sums_i, half: item_half_i, pixel: item_pixel_i, phase: item_phase_i};

  // What the array computes with has one process of its own, of loops that simulators keep as loops; what others read
  // leaves it through sums_q. Operands are nine bits or 17, without their zero points, in registers of 32.
  localparam int unsigned Weights = Cols * Depth;
  localparam int unsigned Window = Cols * DwTaps;
  logic [31:0] element_q [Split * Depth];    // of each part of the columns: those of its pixel
  logic [31:0] window_q [Window];            // depthwise: of tap t and column c at t * Cols + c
  logic [31:0] low_q [Weights];              // weights of column c at c * Depth: low byte, or all of an 8-bit one
  logic [31:0] high_q [Weights];             // the other byte
  logic  [7:0] shadow_q [2 * Weights];       // as they came
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

  function automatic logic [31:0] activation(int i);
    if (wide_i) return 32'($signed(activations_i[16*i+:16])) - 32'($signed(input_zp_i));
    return 32'($signed(activations_i[8*i+:8])) - 32'($signed(input_zp_i[7:0]));
  endfunction

  function automatic logic [31:0] byte_of(logic [31:0] element);
    if (!wide_i) return element;
    return item_q.phase[0] ? 32'($signed(element[31:8])) : 32'(element[7:0]);
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
    logic [31:0] sum;
    if (!freeze_i) begin
      for (int c = 0; c < Cols; c++) sums_q[c] <= early_q[(Levels-1)*Cols+c];
      for (int i = Levels * Cols - 1; i >= Cols; i--) early_q[i] = early_q[i-Cols];
      if (item_q.valid && !depthwise_i) begin
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
          if (32'(split_i) == s) begin
            for (int c = 0; c < Cols; c++) begin
              for (int t = 0; t < DwTaps; t++) begin
                low_q[c*Depth+t] =
                    32'($signed(shadow_q[c%(Cols>>s)/DwColumns*PortBytes+c%(Cols>>s)%DwColumns*DwTaps+t])) -
                    32'($signed(weight_zp_i[7:0]));
              end
            end
          end
        end
      end else begin
        for (int i = 0; i < Weights; i++) low_q[i] = 32'($signed(shadow_q[i])) - 32'($signed(weight_zp_i[7:0]));
      end
    end
    if (write_i) begin
      // Pixels side by side have the same weights.
      for (int p = 0; p < Split; p++) begin
        if (there(p)) begin
          for (int i = 0; i < PortBytes; i++) begin
            shadow_q[(32'(beat_i)+p*(PartBeats>>split_i))*PortBytes+i] = weights_i[8*i+:8];
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
