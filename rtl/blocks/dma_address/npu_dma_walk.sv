// SPDX-License-Identifier: Apache-2.0
// Walks one side of a DMA descriptor: a beat a cycle, of at most PortBytes bytes that follow each other. Of an indexed
// side each row begins at an offset of its own. See README.md.
`include "npu_assert.svh"

module npu_dma_walk #(
  parameter int unsigned PortBytes = 16,
  parameter int unsigned AddressWidth = 40,
  parameter int unsigned Rank = 5,
  parameter int unsigned RowDims = 3,       // dimensions that choose a row; those behind them are within it
  parameter int unsigned CountWidth = 32,   // of counts and runs
  parameter int unsigned PieceWidth = 32,   // of runs that follow each other: a checked piece fits
  parameter int unsigned StrideWidth = 32,
  localparam int unsigned BytesWidth = $clog2(PortBytes + 1)
) (
  input  logic                                       clk_i,
  input  logic                                       rst_ni,

  input  logic                                       start_valid_i,
  output logic                                       start_ready_o,
  input  logic [AddressWidth-1:0]                    base_i,
  input  logic [CountWidth-1:0]                      run_bytes_i,
  input  logic [Rank*CountWidth-1:0]                 count_i,   // outermost lowest, at least 1
  input  logic [Rank*StrideWidth-1:0]                stride_i,  // signed bytes
  input  logic                                       waits_i,   // for the first offset, indexed or not
  input  logic                                       indexed_i,

  input  logic                                       stop_i,    // gives up a walk that waits
  input  logic                                       offset_valid_i,  // once it is, always
  input  logic [AddressWidth-1:0]                    offset_i,  // of the next row
  output logic                                       offset_taken_o,

  output logic                                       valid_o,
  input  logic                                       ready_i,
  output logic [AddressWidth-1:0]                    address_o,
  output logic [BytesWidth-1:0]                      bytes_o,   // from there on
  output logic [2:0]                                 phase_o,   // bytes of the piece before this beat, modulo 8
  output logic                                       last_o     // of the walk
);
  localparam int unsigned ProductWidth = CountWidth + StrideWidth;

  typedef enum logic [2:0] {
    StateIdle,
    StateMultiply,
    StateMerge,
    StateOffset,
    StateWalk
  } state_e;
  state_e state_q;

  logic [PieceWidth-1:0] run_q, left_q;
  // Of each dimension, outermost lowest; flat, because yosys reads no packed arrays.
  logic [Rank*CountWidth-1:0] count_q, more_q;    // more_q: steps that it still has
  logic [Rank*StrideWidth-1:0] stride_q;
  logic [Rank*ProductWidth-1:0] product_q;
  logic [Rank*AddressWidth-1:0] row_q;            // where its current index begins
  logic [AddressWidth-1:0] address_q;
  logic [2:0] phase_q;
  logic waits_q, indexed_q;

  // Dimensions that go on where the piece so far ends become part of it, from inside out. A dimension that does has
  // stride = piece, so that its product is the new piece: nothing is multiplied twice.
  logic [Rank-1:0] merged;
  logic [ProductWidth-1:0] piece;
  always_comb begin
    logic joined;
    joined = 1'b1;
    merged = '0;
    piece = ProductWidth'(run_q);
    for (int i = Rank - 1; i >= 0; i--) begin
      if (count_q[CountWidth*i +: CountWidth] != CountWidth'(1)) begin
        merged[i] = joined && !(indexed_q && 32'(i) < RowDims) &&
                    !stride_q[StrideWidth*i + StrideWidth - 1] &&
                    ProductWidth'(stride_q[StrideWidth*i +: StrideWidth]) == piece;
        joined = merged[i];
        if (merged[i]) piece = product_q[ProductWidth*i +: ProductWidth];
      end
    end
  end

  // Behind a piece: the innermost dimension that has a step left takes it, those inside of it begin again.
  logic [Rank-1:0] steps, restarts;
  logic [AddressWidth-1:0] next_row, next_address;
  logic new_row;
  assign new_row = indexed_q && steps[RowDims-1:0] != '0;
  assign next_address = new_row ? next_row + offset_i : next_row;
  always_comb begin
    logic found;
    found = 1'b0;
    steps = '0;
    restarts = '0;
    next_row = address_q;
    for (int i = Rank - 1; i >= 0; i--) begin
      restarts[i] = !found;
      steps[i] = !found && more_q[CountWidth*i +: CountWidth] != '0;
      if (steps[i]) begin
        next_row = row_q[AddressWidth*i +: AddressWidth] +
                   AddressWidth'($signed(stride_q[StrideWidth*i +: StrideWidth]));
        restarts[i] = 1'b0;
        found = 1'b1;
      end
    end
  end

  logic piece_ends, beat;
  assign piece_ends = left_q <= PieceWidth'(PortBytes);
  assign beat = valid_o && ready_i;
  assign start_ready_o = state_q == StateIdle;
  assign valid_o = state_q == StateWalk;
  assign address_o = address_q;
  assign bytes_o = piece_ends ? left_q[BytesWidth-1:0] : BytesWidth'(PortBytes);
  assign phase_o = phase_q;
  assign last_o = piece_ends && steps == '0;

  logic begins;  // the first row
  assign begins = state_q == StateOffset && offset_valid_i;
  assign offset_taken_o = indexed_q && (begins || (beat && piece_ends && new_row));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StateIdle;
    end else begin
      unique case (state_q)
        StateIdle: if (start_valid_i) state_q <= StateMultiply;
        StateMultiply: state_q <= StateMerge;
        StateMerge: state_q <= waits_q ? StateOffset : StateWalk;
        StateOffset: begin
          if (stop_i) state_q <= StateIdle;
          else if (offset_valid_i) state_q <= StateWalk;
        end
        StateWalk: if (beat && last_o) state_q <= StateIdle;
        default: state_q <= StateIdle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q == StateIdle && start_valid_i) begin
      address_q <= base_i;
      run_q <= PieceWidth'(run_bytes_i);
      stride_q <= stride_i;
      waits_q <= waits_i;
      indexed_q <= indexed_i;
    end
    if (state_q == StateMerge) begin
      run_q <= piece[PieceWidth-1:0];
      left_q <= piece[PieceWidth-1:0];
      phase_q <= '0;
    end
    if (begins && indexed_q) address_q <= address_q + offset_i;
    if (beat) begin
      address_q <= piece_ends ? next_address : address_q + AddressWidth'(PortBytes);
      left_q <= piece_ends ? run_q : left_q - PieceWidth'(PortBytes);
      phase_q <= piece_ends ? '0 : phase_q + 3'(PortBytes);
    end
  end

  for (genvar i = 0; i < Rank; i++) begin : gen_dim
    always_ff @(posedge clk_i) begin
      if (state_q == StateIdle && start_valid_i) begin
        count_q[CountWidth*i +: CountWidth] <= count_i[CountWidth*i +: CountWidth];
      end
      if (state_q == StateMultiply) begin
        product_q[ProductWidth*i +: ProductWidth] <=
            ProductWidth'($signed(stride_q[StrideWidth*i +: StrideWidth])) *
            ProductWidth'(count_q[CountWidth*i +: CountWidth]);
      end
      if (state_q == StateMerge) begin
        if (merged[i]) count_q[CountWidth*i +: CountWidth] <= CountWidth'(1);
        more_q[CountWidth*i +: CountWidth] <= merged[i] ? '0 : count_q[CountWidth*i +: CountWidth] - CountWidth'(1);
        row_q[AddressWidth*i +: AddressWidth] <= address_q;
      end
      if (i >= RowDims && begins && indexed_q) row_q[AddressWidth*i +: AddressWidth] <= address_q + offset_i;
      if (beat && piece_ends) begin
        if (steps[i]) more_q[CountWidth*i +: CountWidth] <= more_q[CountWidth*i +: CountWidth] - CountWidth'(1);
        if (restarts[i]) more_q[CountWidth*i +: CountWidth] <= count_q[CountWidth*i +: CountWidth] - CountWidth'(1);
        if (steps[i] || restarts[i]) begin
          row_q[AddressWidth*i +: AddressWidth] <= i >= RowDims ? next_address : next_row;
        end
      end
    end
  end

  `NPU_ASSERT_STABLE(BeatStable, valid_o, ready_i, ({address_o, bytes_o, phase_o, last_o}))
  // From 1 to PortBytes; 0 less 1 is more than any port.
  `NPU_ASSERT(BeatHasBytes, !valid_o || 32'(bytes_o) - 32'd1 < PortBytes)

endmodule
