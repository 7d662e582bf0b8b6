// SPDX-License-Identifier: Apache-2.0
// Codes of the persistent SRAM's ports.
package npu_persistent_sram_pkg;

  typedef enum logic [1:0] {
    PowerOff = 2'd0,        // contents are lost
    PowerRetention = 2'd1,  // contents are kept, accesses fault
    PowerOn = 2'd2
  } power_e;

  typedef enum logic [2:0] {
    OpBeginJob = 3'd0,   // takes owner and epoch, forgets marks too old to compare
    OpDeclare = 3'd1,    // VARIABLE: checks, marks as declared and seen; a write that never came to its end has torn it
    OpCheck = 3'd2,      // may this job reach bytes [low, high) of the variable?
    OpCheckRead = 3'd3,  // may it read them, and is there something to read?
    OpCommit = 3'd4,     // the write is complete
    OpWriteBegin = 3'd5  // may it write them? Marks that a write has begun
  } op_e;

  // variable_entry of the contract.
  typedef struct packed {
    logic [31:0] hash;
    logic [7:0]  seen_epoch;
    logic        declared;
    logic        in_dram;
    logic        second;
    logic        double_buffered;
    logic        torn;
    logic        writing;
    logic        seen;
    logic        written;
    logic [15:0] owner;
    logic [31:0] length;
    logic [31:0] base;  // bytes; VariableDramUnit bytes in DRAM
  } entry_t;

endpackage : npu_persistent_sram_pkg
