// SPDX-License-Identifier: Apache-2.0
// The indices of a gather or scatter: reads all of them into a buffer, checks each, and makes the offsets of the rows
// that they choose. See README.md.
`include "npu_assert.svh"

module npu_dma_index #(
  parameter int unsigned PortBytes = 16,
  parameter int unsigned AddressWidth = 40,
  localparam int unsigned BytesWidth = $clog2(PortBytes + 1),
  localparam int unsigned PlaceWidth = $clog2(npu_contract_pkg::DmaIndices)
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,

  input  logic                    start_valid_i,
  output logic                    start_ready_o,
  input  logic [AddressWidth-1:0] base_i,     // a multiple of 4
  input  logic [PlaceWidth:0]     batches_i,  // batches times indices: 1 to DmaIndices
  input  logic [PlaceWidth:0]     indices_i,
  input  logic [31:0]             choices_i,  // each index is below it
  input  logic [31:0]             stride_i,   // signed bytes from row to row

  output logic                    valid_o,    // a beat is wanted
  input  logic                    ready_i,    // and is here
  output logic [AddressWidth-1:0] address_o,
  output logic [BytesWidth-1:0]   bytes_o,
  output logic                    last_o,
  input  logic [8*PortBytes-1:0]  data_i,

  output logic                    offset_valid_o,
  output logic [AddressWidth-1:0] offset_o,
  input  logic                    offset_taken_i,
  input  logic                    done_i,     // the walks are

  output logic                    wrong_o,    // for one cycle: the first index that chooses no row
  output logic [PlaceWidth-1:0]   wrong_place_o,
  output logic [31:0]             wrong_index_o
);
  localparam int unsigned Lanes = PortBytes < 4 ? 1 : PortBytes / 4;  // indices of a beat, or of several
  localparam int unsigned LaneWidth = $clog2(Lanes);
  localparam int unsigned Rows = 2 ** (PlaceWidth > LaneWidth ? PlaceWidth - LaneWidth : 1);  // of the buffer
  localparam int unsigned RowWidth = $clog2(Rows);

  typedef enum logic [2:0] {
    StateIdle,
    StateMultiply,
    StateWait,    // as long as the walks multiply and merge
    StateLoad,
    StateCheck,
    StateOffer
  } state_e;
  state_e state_q;

  logic [PlaceWidth:0] batches_q, indices_q, count_q, place_q;  // place_q: loaded, or offered
  logic [31:0] choices_q, stride_q;
  logic [AddressWidth-1:0] address_q, offset_q;
  logic [32*Lanes-1:0] buffer_q [Rows];
  logic wrong_q;
  logic [PlaceWidth-1:0] wrong_place_q;
  logic [31:0] wrong_index_q;

  logic [PlaceWidth:0] left;
  logic beat, complete;
  logic [32*Lanes-1:0] words;  // with this beat, where it completes them
  assign left = count_q - place_q;
  assign last_o = complete && 32'(left) <= Lanes;
  assign valid_o = state_q == StateLoad;
  assign beat = valid_o && ready_i;
  assign address_o = address_q;
  assign start_ready_o = state_q == StateIdle || (state_q == StateOffer && done_i);
  assign offset_valid_o = state_q == StateOffer;
  assign offset_o = offset_q;
  assign wrong_o = state_q == StateCheck && wrong_q;
  assign wrong_place_o = wrong_place_q;
  assign wrong_index_o = wrong_index_q;

  if (PortBytes >= 4) begin : gen_words
    assign words = data_i;
    assign complete = 1'b1;
    assign bytes_o = last_o ? BytesWidth'({left, 2'b00}) : BytesWidth'(PortBytes);
  end else begin : gen_parts
    logic [31:0] word_q;
    logic [1:0] part_q;
    assign words = {data_i, word_q[31:8*PortBytes]};
    assign complete = 32'(part_q) == 4 / PortBytes - 1;
    assign bytes_o = BytesWidth'(PortBytes);
    always_ff @(posedge clk_i) begin
      if (state_q == StateMultiply) part_q <= '0;
      if (beat) begin
        word_q <= words;
        part_q <= complete ? '0 : part_q + 2'd1;
      end
    end
    logic unused_word;
    assign unused_word = ^word_q[8*PortBytes-1:0];
  end

  // The first wrong one of a beat.
  logic wrong;
  logic [PlaceWidth-1:0] wrong_place;
  logic [31:0] wrong_index;
  always_comb begin
    wrong = 1'b0;
    wrong_place = '0;
    wrong_index = '0;
    for (int i = Lanes - 1; i >= 0; i--) begin
      if (i < 32'(left) && (words[32*i + 31] || words[32*i +: 32] >= choices_q)) begin
        wrong = 1'b1;
        wrong_place = PlaceWidth'(place_q) + PlaceWidth'(i);
        wrong_index = words[32*i +: 32];
      end
    end
  end

  // The offset behind the one that is taken.
  logic [PlaceWidth-1:0] next_place;
  logic [32*Lanes-1:0] next_row;
  logic [31:0] next_index;
  logic [63:0] next_offset;
  assign next_place = state_q == StateCheck ? '0 : PlaceWidth'(place_q) + PlaceWidth'(1);
  assign next_row = buffer_q[RowWidth'(next_place >> LaneWidth)];
  assign next_index = next_row[32*(32'(next_place) % Lanes) +: 32];
  assign next_offset = {32'd0, next_index} * {{32{stride_q[31]}}, stride_q};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StateIdle;
    end else begin
      unique case (state_q)
        StateIdle: if (start_valid_i) state_q <= StateMultiply;
        StateMultiply: state_q <= StateWait;
        StateWait: state_q <= StateLoad;
        StateLoad: if (beat && last_o) state_q <= StateCheck;
        StateCheck: state_q <= wrong_q ? StateIdle : StateOffer;
        StateOffer: if (done_i) state_q <= start_valid_i ? StateMultiply : StateIdle;
        default: state_q <= StateIdle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_valid_i && start_ready_o) begin
      address_q <= base_i;
      batches_q <= batches_i;
      indices_q <= indices_i;
      choices_q <= choices_i;
      stride_q <= stride_i;
    end
    if (state_q == StateMultiply) begin
      count_q <= (PlaceWidth + 1)'(batches_q * indices_q);
      place_q <= '0;
      wrong_q <= 1'b0;
    end
    if (beat) address_q <= address_q + AddressWidth'(PortBytes);
    if (beat && complete) begin
      place_q <= last_o ? '0 : place_q + (PlaceWidth + 1)'(Lanes);
      buffer_q[RowWidth'(place_q >> LaneWidth)] <= words;
      if (!wrong_q) begin
        wrong_q <= wrong;
        wrong_place_q <= wrong_place;
        wrong_index_q <= wrong_index;
      end
    end
    if (state_q == StateCheck || offset_taken_i) offset_q <= next_offset[AddressWidth-1:0];
    if (offset_taken_i) place_q <= place_q + (PlaceWidth + 1)'(1);
  end

  logic unused_offset;
  assign unused_offset = ^next_offset[63:AddressWidth];

  `NPU_ASSERT_STABLE(BeatStable, valid_o, ready_i, ({address_o, bytes_o, last_o}))
  // A row for each index, and no more.
  `NPU_ASSERT(RowHasIndex, !offset_taken_i || place_q < count_q)

endmodule
