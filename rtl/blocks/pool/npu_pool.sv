// SPDX-License-Identifier: Apache-2.0
// Averages: the reciprocal of each lane's count while the sum comes in, then the sum times that. See README.md.
module npu_pool #(
  parameter int unsigned Lanes = 8,
  parameter int unsigned Float = 0  // values may be FP32
) (
  input  logic                           clk_i,
  input  logic                           advance_i,
  input  logic                           first_i,   // counts come, the division begins
  input  logic                           divide_i,
  input  logic                           finish_i,
  input  logic                     [2:0] pass_i,    // of finish
  input  logic                    [31:0] input_zp_i,
  input  logic                    [31:0] output_zp_i,
  input  logic signed             [31:0] low_i,
  input  logic signed             [31:0] high_i,
  input  logic        [Lanes-1:0] [31:0] count_i,   // window positions inside the input
  input  logic        [Lanes-1:0] [31:0] sum_i,
  // FP32: the number nearest to 1 / count, and the sum times that, in the first pass of finish.
  input  logic                           float_i,
  output logic        [Lanes-1:0] [31:0] reciprocal_o,
  input  logic        [Lanes-1:0] [31:0] product_i,
  output logic        [Lanes-1:0] [31:0] result_o   // behind the last pass of finish
);
  // TOSA's reciprocal of a count n: (2^30 + 1) * 2^log / n with log = ceil(log2(n)), rounded down; its shift is
  // 30 + log. The quotient has 31 bits. Its first remainder is 2^log; the lower 1 of the dividend follows when `log`
  // bits are left. In FP32 there is none, so that the quotient is 2^(30 + log) / n rounded down, and bit 6 says whether
  // 24 bits of it are rounded up: no quotient lies in the middle, for only powers of two divide what would.
  logic [Lanes-1:0] [33:0] rest_q;
  logic [Lanes-1:0] [31:0] count_q, multiplier_q;
  logic [Lanes-1:0] [4:0] log_q;
  logic [4:0] left_q;
  logic dividing_q, floats;
  assign floats = Float != 0 && float_i;

  function automatic logic [4:0] log_of(logic [31:0] count);
    logic [31:0] below;
    below = count - 32'd1;
    log_of = '0;
    for (int unsigned i = 0; i < 31; i++) if (count > 32'd1 && below[i]) log_of = 5'(i + 1);
  endfunction
  function automatic logic [Lanes-1:0] [4:0] logs(logic [Lanes-1:0] [31:0] count);
    for (int unsigned i = 0; i < Lanes; i++) logs[i] = log_of(count[i]);
  endfunction
  function automatic logic [Lanes-1:0] [33:0] first_rests(logic [Lanes-1:0] [31:0] count);
    for (int unsigned i = 0; i < Lanes; i++) first_rests[i] = 34'd1 << log_of(count[i]);
  endfunction
  function automatic logic fits(logic [33:0] rest, logic [31:0] count);
    return rest >= 34'(count);
  endfunction
  function automatic logic [Lanes-1:0] [33:0] next_rests();
    for (int unsigned i = 0; i < Lanes; i++) begin
      next_rests[i] = fits(rest_q[i], count_q[i]) ? rest_q[i] - 34'(count_q[i]) : rest_q[i];
      next_rests[i] = {next_rests[i][32:0], left_q == log_q[i] + 5'd1 && !floats};
    end
  endfunction
  function automatic logic [Lanes-1:0] [31:0] next_multipliers();
    for (int unsigned i = 0; i < Lanes; i++) begin
      next_multipliers[i] = {multiplier_q[i][30:0], fits(rest_q[i], count_q[i])};
    end
  endfunction
  always_ff @(posedge clk_i) begin
    if (advance_i && first_i && divide_i) begin
      count_q <= count_i;
      log_q <= logs(count_i);
      rest_q <= first_rests(count_i);
      multiplier_q <= '0;
      left_q <= 5'd30;
      dividing_q <= 1'b1;
    end else if (advance_i && divide_i && dividing_q) begin
      rest_q <= next_rests();
      multiplier_q <= next_multipliers();
      left_q <= left_q - 5'd1;
      dividing_q <= left_q != '0;
    end
  end

  // Count times zero point, off the sum, times the reciprocal, rounding shift, output zero point and clip.
  logic [Lanes-1:0] [63:0] work_q;
  function automatic logic [63:0] finished(int unsigned i);
    logic [31:0] low_half;
    logic [5:0] shift;
    shift = 6'd30 + 6'(log_q[i]);
    low_half = work_q[i][31:0];
    case (pass_i)
      3'd0: low_half = count_q[i] * input_zp_i;
      3'd1: low_half = sum_i[i] - low_half;
      3'd4: low_half = low_half + output_zp_i;
      default: ;
    endcase
    finished = 64'($signed(low_half));
    if (pass_i == 3'd2) finished = 64'($signed(work_q[i])) * 64'($signed(multiplier_q[i]));
    if (pass_i == 3'd3) finished = 64'($signed(work_q[i] + (64'd1 << (shift - 6'd1))) >>> shift);
    if (pass_i == 3'd4) finished = npu_cast_pkg::limit(finished, low_i, high_i);
    if (floats) finished = (pass_i == 3'd0) ? 64'(product_i[i]) : work_q[i];
  endfunction
  function automatic logic [Lanes-1:0] [63:0] all_finished();
    for (int unsigned i = 0; i < Lanes; i++) all_finished[i] = finished(i);
  endfunction
  always_ff @(posedge clk_i) if (advance_i && finish_i) work_q <= all_finished();
  always_comb begin
    for (int unsigned i = 0; i < Lanes; i++) result_o[i] = work_q[i][31:0];
  end

  if (Float != 0) begin : gen_float
    for (genvar i = 0; i < Lanes; i++) begin : gen_reciprocal
      assign reciprocal_o[i] = {1'b0, 8'd127 - 8'(log_q[i]), multiplier_q[i][29:7]} + 32'(multiplier_q[i][6]);
    end
  end else begin : gen_no_float
    assign reciprocal_o = '0;
    logic unused_float;
    assign unused_float = ^{float_i, product_i};
  end

endmodule
