// SPDX-License-Identifier: Apache-2.0
// Assertions that simulation and formal tools both read: immediate ones, at the rising clock edge. (Concurrent ones
// would make Verilator sample every signal in them again at each evaluation.)
`ifndef NPU_ASSERT_SVH
`define NPU_ASSERT_SVH

// `prop_` holds at every rising edge of clk_i at which rst_ni is high.
`define NPU_ASSERT(name_, prop_) \
  always @(posedge clk_i) if (rst_ni) name_: assert (prop_);

// What the surroundings promise: assumed in proofs, checked in simulation.
`ifdef YOSYS
`define NPU_ASSUME(name_, prop_) \
  always @(posedge clk_i) if (rst_ni) name_: assume (prop_);
`else
`define NPU_ASSUME(name_, prop_) `NPU_ASSERT(name_, prop_)
`endif

// A handshake's promise: once valid, it stays valid, with the same data, until it is ready.
`define NPU_ASSERT_STABLE(name_, valid_, ready_, data_) \
  logic name_``_waits_q; \
  logic [$bits(data_)-1:0] name_``_data_q; \
  always_ff @(posedge clk_i or negedge rst_ni) begin \
    if (!rst_ni) name_``_waits_q <= 1'b0; \
    else name_``_waits_q <= valid_ && !ready_; \
  end \
  always_ff @(posedge clk_i) name_``_data_q <= data_; \
  `NPU_ASSERT(name_, !name_``_waits_q || (valid_ && name_``_data_q == data_))

`endif
