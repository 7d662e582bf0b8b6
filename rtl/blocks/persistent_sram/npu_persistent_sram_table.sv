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
  input  logic                         written_i,  // entries were, but for their marks
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
  output logic                         access_drop_o,  // the read that was taken in the cycle before: no answer to it
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
  localparam int unsigned EntryWidth = $clog2(Entries);
  localparam int unsigned TableRowWidth = (TableRows > 1) ? $clog2(TableRows) : 1;

  typedef enum logic [2:0] {
    StateIdle,
    StateRead,    // rows, one a cycle, while the answers to earlier ones are looked at
    StateDrain,   // a row that is on offer when the reading is over goes on being offered
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
  logic scans_q, scans_d;                         // all rows are read
  logic asks_q, asks_d;                           // in StateRead: a row
  logic ask_entry_q, ask_entry_d;                 // the row of the entry, first of all; then those of the scan
  logic look_entry_q, look_entry_d;               // likewise for the answers
  logic [TableRowWidth-1:0] ask_row_q, ask_row_d; // of the scan, that is asked for
  logic [TableRowWidth-1:0] look_row_q, look_row_d;  // of the scan, whose answer comes next
  logic marks_q, marks_d;                         // behind StateDrain comes StateWrite
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

  // The row of the entry, too, once it was written.
  logic [TableRowWidth-1:0] entry_row, look_row;
  assign entry_row = row_of(index_q);
  assign look_row = look_entry_q ? entry_row : look_row_q;

  // Variables whose places were compared with those of all others, and have not been written since.
  logic [Entries-1:0] compared_q;
  logic fresh_q;  // no entry was written since the operation began

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
    assign overlaps[i] = other.length != '0 && {look_row_q, SlotWidth'(i)} != {entry_row, slot} &&
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
        access_write_o ? (change_q[i] ? 16'h0c00 : '0) : '1;
  end
  assign access_data_o = new_q;
  assign access_valid_o = (state_q == StateRead && asks_q) || state_q == StateDrain || state_q == StateWrite;
  assign access_write_o = state_q == StateWrite;
  logic [TableRowWidth-1:0] access_row;
  assign access_row = access_write_o ? look_row : (ask_entry_q ? entry_row : ask_row_q);
  assign access_row_o = RowWidth'(access_row);

  // A write that has begun already needs no other mark.
  logic marks_entry;
  assign marks_entry = op_q == npu_persistent_sram_pkg::OpCommit ||
                       (op_q == npu_persistent_sram_pkg::OpWriteBegin && !entry.writing);

  // The first entry of the row that has two wrong bits in a word.
  logic [15:0] wrong_entry;
  always_comb begin
    wrong_entry = 16'(look_row) * 16'(Slots);
    for (int i = Slots - 1; i >= 0; i--) begin
      if (answer_failed_i[EntryBytes/8*i +: EntryBytes/8] != '0) wrong_entry = 16'(look_row) * 16'(Slots) + 16'(i);
    end
  end

  localparam logic [TableRowWidth-1:0] LastRow = TableRowWidth'(TableRows - 1);
  logic begins_job, passed, looks;
  assign begins_job = op_q == npu_persistent_sram_pkg::OpBeginJob;
  assign looks = state_q == StateRead && answer_valid_i;
  // A declaration has looked at all rows.
  assign passed = looks && answer_error_i == npu_contract_pkg::ErrorOk && !look_entry_q && !begins_job &&
                  overlaps == '0 && look_row_q == LastRow;

  // What an answer means for the reading.
  logic over, marks;
  npu_contract_pkg::error_e found;
  always_comb begin
    over = 1'b0;
    marks = 1'b0;
    found = answer_error_i;
    if (answer_error_i != npu_contract_pkg::ErrorOk) begin
      over = 1'b1;
    end else if (look_entry_q) begin
      found = verdict;
      over = verdict != npu_contract_pkg::ErrorOk || !scans_q;
      marks = verdict == npu_contract_pkg::ErrorOk &&
              (marks_entry || op_q == npu_persistent_sram_pkg::OpDeclare);
    end else if (begins_job) begin
      over = stale != '0 || look_row_q == LastRow;
      marks = stale != '0;
    end else begin
      if (overlaps != '0) found = npu_contract_pkg::ErrorFaultAccessRight;
      over = overlaps != '0 || look_row_q == LastRow;
      marks = overlaps == '0;
    end
  end

  // Rows that were taken behind the one that ends the reading are dropped: in the cycle before, and from now on.
  logic unwanted_q, taken;
  assign taken = access_valid_o && access_ready_i;
  assign access_drop_o = (looks && over) || unwanted_q;

  always_comb begin
    state_d = state_q;
    scans_d = scans_q;
    asks_d = asks_q;
    ask_entry_d = ask_entry_q;
    look_entry_d = look_entry_q;
    ask_row_d = ask_row_q;
    look_row_d = look_row_q;
    marks_d = marks_q;
    error_d = error_q;
    if (taken && !access_write_o) begin
      ask_entry_d = 1'b0;
      if (!ask_entry_q) ask_row_d = ask_row_q + 1'b1;
      if (ask_entry_q ? !scans_q : ask_row_q == LastRow) asks_d = 1'b0;
    end
    unique case (state_q)
      StateIdle: begin
        if (valid_i) begin
          ask_entry_d = op_i != npu_persistent_sram_pkg::OpBeginJob;
          look_entry_d = ask_entry_d;
          scans_d = !ask_entry_d || (op_i == npu_persistent_sram_pkg::OpDeclare && !compared_q[EntryWidth'(index_i)]);
          asks_d = 1'b1;
          ask_row_d = '0;
          look_row_d = '0;
          error_d = npu_contract_pkg::ErrorOk;
          state_d = StateRead;
          if (op_i == npu_persistent_sram_pkg::OpDeclare && lost_i) begin
            error_d = npu_contract_pkg::ErrorPowerLost;
            state_d = StateDone;
          end else if (ask_entry_d && index_i >= 16'(Entries)) begin
            error_d = npu_contract_pkg::ErrorFaultBadRegion;
            state_d = StateDone;
          end
        end
      end
      StateRead: begin
        if (looks && over) begin
          error_d = found;
          marks_d = marks;
          if (access_valid_o && !access_ready_i) state_d = StateDrain;
          else state_d = marks ? StateWrite : StateDone;
        end else if (looks) begin
          look_entry_d = 1'b0;
          if (!look_entry_q) look_row_d = look_row_q + 1'b1;
        end
        // Behind the scan of a declaration its own row is marked.
        if (passed) look_entry_d = 1'b1;
      end
      StateDrain: if (access_ready_i) state_d = marks_q ? StateWrite : StateDone;
      StateWrite: if (access_ready_i) state_d = StateAnswer;
      StateAnswer: begin
        if (answer_valid_i) begin
          error_d = answer_error_i;
          state_d = StateDone;
          if (error_d == npu_contract_pkg::ErrorOk && begins_job && look_row_q != LastRow) begin
            asks_d = 1'b1;
            ask_row_d = look_row_q + 1'b1;
            look_row_d = look_row_q + 1'b1;
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
      unwanted_q <= 1'b0;
      compared_q <= '0;
    end else begin
      state_q <= state_d;
      unwanted_q <= taken && ((looks && over) || state_q == StateDrain);
      if (valid_i && ready_o && op_i == npu_persistent_sram_pkg::OpBeginJob) begin
        owner_q <= owner_i;
        epoch_q <= epoch_i;
      end
      if (written_i) compared_q <= '0;
      else if (passed && fresh_q) compared_q[EntryWidth'(index_q)] <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    scans_q <= scans_d;
    asks_q <= asks_d;
    ask_entry_q <= ask_entry_d;
    look_entry_q <= look_entry_d;
    ask_row_q <= ask_row_d;
    look_row_q <= look_row_d;
    marks_q <= marks_d;
    error_q <= error_d;
    fresh_q <= (fresh_q || state_q == StateIdle) && !written_i;
    if (state_q == StateIdle) begin
      op_q <= op_i;
      index_q <= index_i;
      hash_q <= hash_i;
      low_q <= low_i;
      high_q <= high_i;
    end
    if (answer_valid_i) entry_q <= wrong_entry;
    // The row with the marks of the operation: kept while a declaration looks at the others.
    if (looks && (begins_job || look_entry_q)) begin
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

  `NPU_ASSERT_STABLE(OffersStay, access_valid_o, access_ready_i, {access_write_o, access_row_o, access_strobe_o})

endmodule
