// SPDX-License-Identifier: Apache-2.0
// What an operation makes of the marks of an entry. See README.md.
module npu_persistent_sram_marks (
  input  npu_persistent_sram_pkg::op_e    op_i,
  input  logic [15:0]                     owner_i,  // of the job
  input  logic [7:0]                      epoch_i,
  input  npu_persistent_sram_pkg::entry_t entry_i,
  output npu_persistent_sram_pkg::entry_t entry_o,
  output logic                            stale_o   // seen so long ago that the epoch can no longer be compared
);
  logic [7:0] age;
  assign age = epoch_i - entry_i.seen_epoch;
  assign stale_o = entry_i.length != '0 && entry_i.owner == owner_i && entry_i.seen && age >= 8'd128;

  always_comb begin
    entry_o = entry_i;
    unique case (op_i)
      npu_persistent_sram_pkg::OpDeclare: begin
        // A write that never came to its end; one to a place of its own has torn nothing.
        entry_o.torn = entry_i.torn || (entry_i.writing && !entry_i.double_buffered);
        entry_o.writing = 1'b0;
        entry_o.seen = 1'b1;
        entry_o.declared = 1'b1;
        entry_o.seen_epoch = epoch_i;
      end
      npu_persistent_sram_pkg::OpCommit: begin
        entry_o.written = 1'b1;
        entry_o.writing = 1'b0;
        entry_o.torn = 1'b0;
        entry_o.second = entry_i.second ^ entry_i.double_buffered;
      end
      npu_persistent_sram_pkg::OpWriteBegin: entry_o.writing = 1'b1;
      default: entry_o.seen = 1'b0;  // of a job that begins: for entries that are stale
    endcase
  end

endmodule
