// SPDX-License-Identifier: Apache-2.0
// The variable table: executes one operation at a time by reading and writing entries in the array. See README.md.
`include "npu_assert.svh"

module npu_persistent_sram_table #(
  parameter int unsigned Bytes = 8192,
  parameter int unsigned PortBytes = 16,
  parameter int unsigned Entries = 32,
  localparam int unsigned Lanes = PortBytes / 8,
  localparam int unsigned RowWidth = $clog2(Bytes / PortBytes)
) (
  input  logic                         clk_i,
  input  logic                         rst_ni,

  input  logic                         valid_i,
  output logic                         ready_o,
  input  npu_persistent_sram_pkg::op_e op_i,
  input  logic [15:0]                  index_i,
  input  logic [31:0]                  hash_i,
  input  logic signed [39:0]           low_i,
  input  logic signed [39:0]           high_i,
  input  logic [15:0]                  owner_i,
  input  logic [7:0]                   epoch_i,
  input  logic                         lost_i,   // contents were lost: nothing may be declared
  output logic                         valid_o,  // for a cycle, at the end of the operation
  output npu_contract_pkg::error_e     error_o,
  output logic [15:0]                  entry_o,  // of two wrong bits
  output logic                         in_dram_o,
  output logic [32:0]                  base_o,   // of the place that the access uses

  output logic                         access_valid_o,
  input  logic                         access_ready_i,
  output logic                         access_write_o,
  output logic [RowWidth-1:0]          access_row_o,
  output logic [PortBytes-1:0]         access_strobe_o,
  output logic [8*PortBytes-1:0]       access_data_o,
  input  logic                         answer_valid_i,
  input  npu_contract_pkg::error_e     answer_error_i,
  input  logic [Lanes-1:0]             answer_failed_i,
  input  logic [8*PortBytes-1:0]       answer_data_i
);
  localparam int unsigned EntryBytes = 16;
  localparam int unsigned Slots = PortBytes / EntryBytes;  // entries in a row
  localparam int unsigned SlotWidth = (Slots > 1) ? $clog2(Slots) : 1;
  localparam int unsigned TableBytes = Entries * EntryBytes;
  localparam int unsigned TableRows = Entries / Slots;
  localparam int unsigned TableRowWidth = (TableRows > 1) ? $clog2(TableRows) : 1;

  typedef enum logic [2:0] {
    StateIdle,
    StateRead,    // the row of the entry, or of the scan
    StateWait,
    StateWrite,   // the entries' flags and epochs
    StateAnswer,  // to the write
    StateDone
  } state_e;
  state_e state_q, state_d;

  npu_persistent_sram_pkg::op_e op_q;
  logic [15:0] index_q, owner_q;
  logic [31:0] hash_q;
  logic signed [39:0] low_q, high_q;
  logic [7:0] epoch_q;
  logic scanning_q, scanning_d;                   // all rows, one by one
  logic [TableRowWidth-1:0] row_q, row_d;
  npu_contract_pkg::error_e error_q, error_d;
  logic [31:0] begin_q;                           // of the variable, with all its places
  logic [33:0] end_q;
  logic [32:0] base_q;
  logic in_dram_q;
  logic [15:0] entry_q;
  logic [Slots-1:0] [EntryBytes*8-1:0] new_d, new_q;
  logic [Slots-1:0] change_d, change_q;           // slots whose flags and epoch are written

  function automatic logic [TableRowWidth-1:0] row_of(logic [15:0] index);
    return TableRowWidth'(index / 16'(Slots));
  endfunction

  npu_persistent_sram_pkg::entry_t entry;         // the variable's, from the row that was read
  logic [Slots-1:0] [33:0] ends;                  // of all entries of that row
  logic [Slots-1:0] [32:0] read_places, write_places;
  logic [SlotWidth-1:0] slot;
  assign slot = SlotWidth'(index_q % 16'(Slots));
  assign entry = npu_persistent_sram_pkg::entry_t'(answer_data_i[EntryBytes*8*slot +: EntryBytes*8]);

  // May this job use the entry, for this operation?
  npu_contract_pkg::error_e verdict;
  logic seen;
  assign seen = entry.seen && entry.seen_epoch == epoch_q;
  // By an execution before this one, which has not declared it.
  logic interrupted;
  assign interrupted = entry.writing && !entry.double_buffered && !seen;
  always_comb begin
    verdict = npu_contract_pkg::ErrorOk;
    if (entry.length == '0) begin
      verdict = npu_contract_pkg::ErrorFaultBadRegion;
    end else if (op_q == npu_persistent_sram_pkg::OpCommit) begin
      verdict = npu_contract_pkg::ErrorOk;
    end else if (entry.owner != owner_q) begin
      verdict = npu_contract_pkg::ErrorFaultAccessRight;
    end else if (!entry.in_dram && (entry.base < TableBytes || ends[slot] > 34'(Bytes))) begin
      verdict = npu_contract_pkg::ErrorFaultOutOfBounds;
    end else if (op_q == npu_persistent_sram_pkg::OpDeclare) begin
      if (entry.hash != hash_q) verdict = npu_contract_pkg::ErrorVariableMismatch;
      else if (seen) verdict = npu_contract_pkg::ErrorVariableRedeclared;
    end else if (!seen && !(entry.declared && op_q != npu_persistent_sram_pkg::OpWriteBegin)) begin
      verdict = npu_contract_pkg::ErrorVariableUndeclared;
    end else if (low_q < 0 || high_q > 40'($signed({1'b0, entry.length}))) begin
      verdict = npu_contract_pkg::ErrorFaultOutOfBounds;
    end else if (op_q == npu_persistent_sram_pkg::OpCheckRead) begin
      if (!entry.written) verdict = npu_contract_pkg::ErrorVariableUnwritten;
      else if (entry.torn || interrupted) verdict = npu_contract_pkg::ErrorVariableTorn;
    end
  end

  // A scan looks at every entry of a row: does it overlap the variable, is its mark too old?
  logic [Slots-1:0] overlaps, stale;
  for (genvar i = 0; i < Slots; i++) begin : gen_slot
    npu_persistent_sram_pkg::entry_t other, marked;
    assign other = npu_persistent_sram_pkg::entry_t'(answer_data_i[EntryBytes*8*i +: EntryBytes*8]);
    npu_persistent_sram_place #(.PortBytes(PortBytes)) u_place (
      .entry_i(other),
      .end_o(ends[i]),
      .read_o(read_places[i]),
      .write_o(write_places[i])
    );
    assign overlaps[i] = other.length != '0 && {row_q, SlotWidth'(i)} != {row_of(index_q), slot} &&
                         other.in_dram == in_dram_q && 34'(other.base) < end_q && 34'(begin_q) < ends[i];
    npu_persistent_sram_marks u_marks (
      .op_i(op_q),
      .owner_i(owner_q),
      .epoch_i(epoch_q),
      .entry_i(other),
      .entry_o(marked),
      .stale_o(stale[i])
    );
    assign new_d[i] = marked;
    assign change_d[i] = (op_q == npu_persistent_sram_pkg::OpBeginJob) ? stale[i] : slot == SlotWidth'(i);
    // Bytes 10 and 11: flags and seen_epoch.
    assign access_strobe_o[EntryBytes*i +: EntryBytes] =
        (state_q == StateRead) ? '1 : (change_q[i] ? 16'h0c00 : '0);
  end
  assign access_data_o = new_q;
  assign access_valid_o = state_q == StateRead || state_q == StateWrite;
  assign access_write_o = state_q == StateWrite;
  assign access_row_o = RowWidth'(row_q);

  // A write that has begun already needs no other mark.
  logic marks_entry;
  assign marks_entry = op_q == npu_persistent_sram_pkg::OpCommit ||
                       (op_q == npu_persistent_sram_pkg::OpWriteBegin && !entry.writing);

  // The first entry of the row that has two wrong bits in a word.
  logic [15:0] wrong_entry;
  always_comb begin
    wrong_entry = 16'(row_q) * 16'(Slots);
    for (int i = Slots - 1; i >= 0; i--) begin
      if (answer_failed_i[EntryBytes/8*i +: EntryBytes/8] != '0) wrong_entry = 16'(row_q) * 16'(Slots) + 16'(i);
    end
  end

  logic last_row;
  assign last_row = row_q == TableRowWidth'(TableRows - 1);

  always_comb begin
    state_d = state_q;
    scanning_d = scanning_q;
    row_d = row_q;
    error_d = error_q;
    unique case (state_q)
      StateIdle: begin
        if (valid_i) begin
          scanning_d = op_i == npu_persistent_sram_pkg::OpBeginJob;
          row_d = scanning_d ? '0 : row_of(index_i);
          error_d = npu_contract_pkg::ErrorOk;
          state_d = StateRead;
          if (op_i == npu_persistent_sram_pkg::OpDeclare && lost_i) begin
            error_d = npu_contract_pkg::ErrorPowerLost;
            state_d = StateDone;
          end else if (!scanning_d && index_i >= 16'(Entries)) begin
            error_d = npu_contract_pkg::ErrorFaultBadRegion;
            state_d = StateDone;
          end
        end
      end
      StateRead: if (access_ready_i) state_d = StateWait;
      StateWait: begin
        if (answer_valid_i) begin
          if (answer_error_i != npu_contract_pkg::ErrorOk) begin
            error_d = answer_error_i;
            state_d = StateDone;
          end else if (op_q == npu_persistent_sram_pkg::OpBeginJob) begin
            row_d = row_q + 1'b1;
            state_d = last_row ? StateDone : StateRead;
            if (stale != '0) begin
              row_d = row_q;
              state_d = StateWrite;
            end
          end else if (scanning_q) begin
            // Of a declaration. Behind the last row comes the entry's own, to be marked.
            row_d = row_q + 1'b1;
            state_d = StateRead;
            if (overlaps != '0) begin
              error_d = npu_contract_pkg::ErrorFaultAccessRight;
              state_d = StateDone;
            end else if (last_row) begin
              row_d = row_of(index_q);
              state_d = StateWrite;
            end
          end else begin
            error_d = verdict;
            state_d = StateDone;
            if (verdict == npu_contract_pkg::ErrorOk && op_q == npu_persistent_sram_pkg::OpDeclare) begin
              scanning_d = 1'b1;
              row_d = '0;
              state_d = StateRead;
            end else if (verdict == npu_contract_pkg::ErrorOk && marks_entry) begin
              state_d = StateWrite;
            end
          end
        end
      end
      StateWrite: if (access_ready_i) state_d = StateAnswer;
      StateAnswer: begin
        if (answer_valid_i) begin
          error_d = answer_error_i;
          state_d = StateDone;
          if (error_d == npu_contract_pkg::ErrorOk && op_q == npu_persistent_sram_pkg::OpBeginJob && !last_row) begin
            row_d = row_q + 1'b1;
            state_d = StateRead;
          end
        end
      end
      StateDone: state_d = StateIdle;
      default: state_d = StateIdle;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StateIdle;
      owner_q <= '0;
      epoch_q <= '0;
    end else begin
      state_q <= state_d;
      if (valid_i && ready_o && op_i == npu_persistent_sram_pkg::OpBeginJob) begin
        owner_q <= owner_i;
        epoch_q <= epoch_i;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    scanning_q <= scanning_d;
    row_q <= row_d;
    error_q <= error_d;
    if (state_q == StateIdle) begin
      op_q <= op_i;
      index_q <= index_i;
      hash_q <= hash_i;
      low_q <= low_i;
      high_q <= high_i;
    end
    if (answer_valid_i) entry_q <= wrong_entry;
    // The row with the marks of the operation: kept while a declaration looks at the others.
    if (state_q == StateWait && answer_valid_i && (op_q == npu_persistent_sram_pkg::OpBeginJob || !scanning_q)) begin
      new_q <= new_d;
      change_q <= change_d;
      begin_q <= entry.base;
      end_q <= ends[slot];
      in_dram_q <= entry.in_dram;
      base_q <= (op_q == npu_persistent_sram_pkg::OpCheckRead) ? read_places[slot] : write_places[slot];
    end
  end

  assign ready_o = state_q == StateIdle;
  assign valid_o = state_q == StateDone;
  assign error_o = error_q;
  assign entry_o = entry_q;
  assign in_dram_o = in_dram_q;
  assign base_o = base_q;

  logic unused_fields;
  assign unused_fields = entry.second;

endmodule
