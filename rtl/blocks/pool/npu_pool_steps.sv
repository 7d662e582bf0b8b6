// SPDX-License-Identifier: Apache-2.0
// The passes of a vpu_pool tile, one a cycle. See README.md.
module npu_pool_steps #(
  parameter int unsigned Float = 0  // values may be floating point
) (
  input  logic                                clk_i,
  input  npu_contract_pkg::vpu_pool_command_t command_i,
  input  logic                                init_i,
  input  logic                                next_i,       // to the next pass
  input  logic                                walk_last_i,  // the walk is over the results
  // This pass.
  output logic                                last_o,       // of the tile
  output logic                                fold_o,       // a window position
  output logic                                first_o,      // of a result
  output logic                                divide_o,     // the reciprocal of the counts is on its way
  output logic                                finish_o,     // from the sum to the average
  output logic                          [2:0] finish_pass_o,
  output logic                                store_o,
  output logic                   [3:0] [31:0] stride_o,
  output logic                         [31:0] base_o,
  output logic                         [31:0] row_o,        // of the input that output row 0 meets
  output logic                         [31:0] column_o
);
  localparam int unsigned Reciprocal = 32;  // passes
  localparam int unsigned Finish = 5;

  typedef enum logic [1:0] {
    PhaseWindow,
    PhaseFinish,
    PhaseStore
  } phase_e;

  phase_e phase_q;
  logic average, positions_done_q, row_last, window_last, enough;
  logic [15:0] ky_q, kx_q;
  logic [5:0] passes_q;  // of the window phase, up to Reciprocal
  logic [2:0] finish_q;
  logic [31:0] bytes, base_q, row_base_q, origin_q, row_step_q, pixel_step_q;
  logic signed [31:0] pad_top, pad_left;
  assign average = command_i.mode == npu_contract_pkg::PoolModeAvg;
  assign bytes = 32'(npu_cast_pkg::port_bytes(Float != 0, command_i.type_));
  assign pad_top = 32'(command_i.pad_top);
  assign pad_left = 32'(command_i.pad_left);

  // Steps of the input from one output row or pixel to the next, and the window's first position for output 0.
  always_ff @(posedge clk_i) begin
    if (init_i) begin
      row_step_q <= command_i.src_row_stride * 32'(command_i.stride_y);
      pixel_step_q <= command_i.src_pixel_stride * 32'(command_i.stride_x);
      origin_q <= -(command_i.src_row_stride * pad_top) - command_i.src_pixel_stride * pad_left;
    end
  end
  assign stride_o = store_o ? {bytes, command_i.dst_pixel_stride, command_i.dst_row_stride, 32'd0}
                            : {bytes, pixel_step_q, row_step_q, 32'd0};
  assign base_o = store_o ? '0 : origin_q + base_q;
  assign row_o = 32'(ky_q) - pad_top;
  assign column_o = 32'(kx_q) - pad_left;

  assign row_last = kx_q + 16'd1 == command_i.kernel_w;
  assign window_last = positions_done_q || (row_last && ky_q + 16'd1 == command_i.kernel_h);
  assign enough = !average || passes_q >= 6'(Reciprocal - 1);
  assign fold_o = phase_q == PhaseWindow && !positions_done_q;
  assign first_o = fold_o && passes_q == '0;
  assign divide_o = phase_q == PhaseWindow && average;
  assign finish_o = phase_q == PhaseFinish;
  assign finish_pass_o = finish_q;
  assign store_o = phase_q == PhaseStore;
  assign last_o = store_o && walk_last_i;

  always_ff @(posedge clk_i) begin
    if (init_i || (next_i && store_o)) begin
      phase_q <= PhaseWindow;
      positions_done_q <= 1'b0;
      {ky_q, kx_q} <= '0;
      {base_q, row_base_q} <= '0;
      passes_q <= '0;
      finish_q <= '0;
    end else if (next_i && phase_q == PhaseWindow) begin
      if (!positions_done_q) begin
        kx_q <= row_last ? '0 : kx_q + 16'd1;
        base_q <= row_last ? row_base_q + command_i.src_row_stride : base_q + command_i.src_pixel_stride;
        if (row_last) begin
          ky_q <= ky_q + 16'd1;
          row_base_q <= row_base_q + command_i.src_row_stride;
        end
        positions_done_q <= window_last;
      end
      if (passes_q != 6'(Reciprocal)) passes_q <= passes_q + 6'd1;
      if (window_last && enough) phase_q <= average ? PhaseFinish : PhaseStore;
    end else if (next_i) begin
      finish_q <= finish_q + 3'd1;
      if (finish_q == 3'(Finish - 1)) phase_q <= PhaseStore;
    end
  end

endmodule
