// SPDX-License-Identifier: Apache-2.0
// The accumulators: two halves, one filled by the array, one read by the output stage. See README.md.
module npu_mac_array_acc #(
  parameter int unsigned Cols = 8,
  parameter int unsigned AccBytes = 4096,
  parameter int unsigned Float = 0,
  localparam int unsigned Rows = AccBytes / 2 / 4 / Cols,
  localparam int unsigned PixelBits = $clog2(Rows)
) (
  input  logic                   clk_i,
  input  logic                   wide_i,   // 48 bits, else 32
  input  logic                   floats_i,

  input  logic                   valid_i,
  input  logic                   first_i,  // starts at zero
  input  logic                   half_i,
  input  logic   [PixelBits-1:0] pixel_i,
  input  logic             [1:0] bytes_i,  // sums are worth 256 to the power of this
  input  logic [Cols-1:0] [31:0] sums_i,

  input  logic                   read_half_i,
  input  logic   [PixelBits-1:0] read_pixel_i,
  output logic [Cols-1:0] [47:0] value_o
);
  // Two banks: narrow accumulators of even and odd pixels, or the low 32 and the high 16 bits of wide ones.
  logic [Cols-1:0] [31:0] even_q [Rows];
  logic [Cols-1:0] [31:0] odd_q [Rows];

  function automatic logic [PixelBits-1:0] row(logic half, logic [PixelBits-1:0] pixel);
    return wide_i ? {half, pixel[PixelBits-2:0]} : {half, pixel[PixelBits-1:1]};
  endfunction

  function automatic logic [Cols-1:0] [31:0] added(logic [Cols-1:0] [31:0] old);
    logic [Cols-1:0] [31:0] sum;
    if (Float != 0 && floats_i) begin
      for (int c = 0; c < Cols; c++) sum[c] = npu_float_pkg::add(first_i ? '0 : old[c], sums_i[c]);
    end else begin
      for (int c = 0; c < Cols; c++) sum[c] = (first_i ? '0 : old[c]) + sums_i[c];
    end
    return sum;
  endfunction

  function automatic logic [47:0] added_wide(logic [31:0] low, logic [15:0] high, logic [31:0] sum);
    return (first_i ? '0 : {high, low}) + (48'($signed(sum)) << {bytes_i, 3'b000});
  endfunction

  logic [PixelBits-1:0] at;
  assign at = row(half_i, pixel_i);
  function automatic logic [Cols-1:0] [31:0] low_words();
    logic [Cols-1:0] [31:0] words;
    for (int c = 0; c < Cols; c++) words[c] = 32'(added_wide(even_q[at][c], odd_q[at][c][15:0], sums_i[c]));
    return words;
  endfunction
  function automatic logic [Cols-1:0] [31:0] high_words();
    logic [Cols-1:0] [31:0] words;
    for (int c = 0; c < Cols; c++) words[c] = 32'(added_wide(even_q[at][c], odd_q[at][c][15:0], sums_i[c]) >> 32);
    return words;
  endfunction

  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      if (wide_i) begin
        even_q[at] <= low_words();
        odd_q[at] <= high_words();
      end else if (pixel_i[0]) begin
        odd_q[at] <= added(odd_q[at]);
      end else begin
        even_q[at] <= added(even_q[at]);
      end
    end
  end

  logic [PixelBits-1:0] read_at;
  logic [Cols-1:0] [31:0] even, odd, narrow;
  assign read_at = row(read_half_i, read_pixel_i);
  assign even = even_q[read_at];
  assign odd = odd_q[read_at];
  assign narrow = read_pixel_i[0] ? odd : even;
  always_comb begin
    for (int c = 0; c < Cols; c++) value_o[c] = wide_i ? {odd[c][15:0], even[c]} : 48'(narrow[c]);
  end

endmodule
