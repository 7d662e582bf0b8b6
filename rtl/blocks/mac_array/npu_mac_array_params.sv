// SPDX-License-Identifier: Apache-2.0
// Loads the tile's parameter block: the header, then the entries of each group of channels, one group ahead of the
// output stage. See README.md.
`include "npu_assert.svh"

module npu_mac_array_params #(
  parameter int unsigned Cols = 8,
  parameter int unsigned PortBytes = 16,
  parameter int unsigned Split = 1,
  localparam int unsigned ColBits = $clog2(Cols) + 1,
  localparam int unsigned ByteBits = $clog2(PortBytes) + 1
) (
  input  logic                                clk_i,
  input  logic                                rst_ni,
  input  logic                          [1:0] split_i,    // log2 of the pixels side by side: all have the same entries
  input  logic                         [31:0] columns_i,  // of the tile
  input  logic                                init_i,     // a tile begins
  output logic                                zero_points_o,  // of the operands: come with this cycle

  output logic                                valid_o,
  input  logic                                ready_i,
  output logic                         [31:0] offset_o,   // bytes from the parameter block
  output logic                 [ByteBits-1:0] bytes_o,
  input  logic              [8*PortBytes-1:0] data_i,

  input  logic                                start_i,    // the first sums of a group come: fetch its entries
  output logic                                almost_o,   // nothing but the last beat of a group's entries is missing
  output logic                                there_o,    // the oldest group's entries are there
  input  logic                                release_i,  // and of no use any more
  output npu_contract_pkg::parameter_header_t header_o,
  output logic              [Cols-1:0] [47:0] bias_o,
  output logic              [Cols-1:0] [31:0] multiplier_o,
  output logic              [Cols-1:0] [ 5:0] shift_o
);
  localparam int unsigned HeaderBytes = $bits(npu_contract_pkg::parameter_header_t) / 8;
  localparam int unsigned EntryBytes = $bits(npu_contract_pkg::parameter_entry_t) / 8;
  localparam int unsigned HeaderBeats = (HeaderBytes + PortBytes - 1) / PortBytes;
  localparam int unsigned BeatEntries = PortBytes / EntryBytes;
  localparam int unsigned HeaderBits = $clog2(HeaderBeats + 1);

  logic [HeaderBits-1:0] header_left_q;
  logic [1:0] asked_q, there_q;      // groups: asked for and not complete, complete and in use
  logic fill_q, use_q;               // sets: being filled, in use
  logic [31:0] columns_left_q, offset_q;
  logic [ColBits-1:0] entry_q;       // of the group
  logic [ColBits-1:0] group_left;    // columns of the group that are still to come
  logic in_header, taken, beat_last, group_last;

  assign in_header = header_left_q != '0;
  assign group_last = columns_left_q <= 32'(Cols) - 32'(entry_q);
  assign group_left = group_last ? ColBits'(columns_left_q) : ColBits'(Cols) - entry_q;
  assign beat_last = group_left <= ColBits'(BeatEntries);
  assign valid_o = in_header || (asked_q != '0 && there_q < 2'd2);
  assign taken = valid_o && ready_i;
  assign offset_o = offset_q;
  always_comb begin
    bytes_o = ByteBits'(PortBytes);
    if (in_header) begin
      if (HeaderBytes < PortBytes) bytes_o = ByteBits'(HeaderBytes);
    end else if (beat_last) begin
      bytes_o = ByteBits'(32'(group_left) * EntryBytes);
    end
  end
  assign zero_points_o = taken && header_left_q == HeaderBits'(HeaderBeats);
  assign almost_o = asked_q == '0 || (!in_header && beat_last);
  assign there_o = there_q != '0;

  logic group_done;
  assign group_done = taken && !in_header && beat_last;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      header_left_q <= '0;
      asked_q <= '0;
      there_q <= '0;
      fill_q <= 1'b0;
      use_q <= 1'b0;
    end else begin
      if (init_i) header_left_q <= HeaderBits'(HeaderBeats);
      else if (taken && in_header) header_left_q <= header_left_q - 1'b1;
      asked_q <= asked_q + 2'(start_i) - 2'(group_done);
      there_q <= there_q + 2'(group_done) - 2'(release_i);
      if (group_done) fill_q <= !fill_q;
      if (release_i) use_q <= !use_q;
    end
  end

  logic [Cols-1:0] [47:0] bias_q [2];
  logic [Cols-1:0] [31:0] multiplier_q [2];
  logic [Cols-1:0] [5:0] shift_q [2];
  logic [8*PortBytes*HeaderBeats-1:0] header_q;
  assign header_o = header_q[8*HeaderBytes-1:0];
  logic unused_header;
  assign unused_header = ^header_q;

  function automatic logic [$clog2(Cols)-1:0] column(int unsigned pixel, int unsigned entry);
    return $clog2(Cols)'(32'(entry_q) + entry + pixel * (Cols >> split_i));
  endfunction
  npu_contract_pkg::parameter_entry_t [BeatEntries-1:0] entries;
  assign entries = data_i;
  always_ff @(posedge clk_i) begin
    if (init_i) begin
      offset_q <= '0;
      columns_left_q <= columns_i;
      entry_q <= '0;
    end else if (taken && in_header) begin
      for (int unsigned i = 0; i < HeaderBeats; i++) begin
        if (32'(header_left_q) == HeaderBeats - i) header_q[8*PortBytes*i+:8*PortBytes] <= data_i;
      end
      offset_q <= offset_q + 32'(bytes_o);
    end else if (taken) begin
      for (int unsigned p = 0; p < Split; p++) begin
        for (int unsigned i = 0; i < BeatEntries; i++) begin
          if (p >> split_i == 0 && 32'(entry_q) + i < Cols >> split_i) begin
            bias_q[fill_q][column(p, i)] <= entries[i].bias[47:0];
            multiplier_q[fill_q][column(p, i)] <= entries[i].multiplier;
            shift_q[fill_q][column(p, i)] <= entries[i].shift[5:0];
          end
        end
      end
      entry_q <= beat_last ? '0 : entry_q + ColBits'(BeatEntries);
      // Behind the last group comes the next block's first.
      if (beat_last && group_last) begin
        offset_q <= 32'(HeaderBytes);
        columns_left_q <= columns_i;
      end else begin
        offset_q <= offset_q + 32'(bytes_o);
        columns_left_q <= columns_left_q - (beat_last ? 32'(group_left) : BeatEntries);
      end
    end
  end
  assign bias_o = bias_q[use_q];
  assign multiplier_o = multiplier_q[use_q];
  assign shift_o = shift_q[use_q];

  `NPU_ASSERT_STABLE(ParameterStable, valid_o, ready_i, {offset_o, bytes_o})

endmodule
