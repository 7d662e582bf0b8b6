// Codes of the persistent SRAM's ports.
package npu_persistent_sram_pkg;

  typedef enum logic [1:0] {
    PowerOff = 2'd0,        // contents are lost
    PowerRetention = 2'd1,  // contents are kept, accesses fault
    PowerOn = 2'd2
  } power_e;

  typedef enum logic [2:0] {
    OpBeginJob = 3'd0,   // takes owner and epoch, forgets marks too old to compare
    OpDeclare = 3'd1,    // VARIABLE: checks and marks as seen
    OpCheck = 3'd2,      // may this job reach bytes [low, high) of the variable?
    OpCheckRead = 3'd3,  // as OpCheck, and is it written?
    OpCommit = 3'd4      // sets is_written
  } op_e;

endpackage : npu_persistent_sram_pkg
