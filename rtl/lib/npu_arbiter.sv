// SPDX-License-Identifier: Apache-2.0
// Round robin: grants one of the requests in the same cycle. The one granted last comes last the next time, so that a
// request that stays waits for at most Requesters - 1 grants to others.
`include "npu_assert.svh"

module npu_arbiter #(
  parameter int unsigned Requesters = 4
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic [Requesters-1:0] request_i,
  input  logic                  ready_i,  // the grant is taken
  output logic [Requesters-1:0] grant_o   // one-hot, or 0 without a request
);
  // Requests above the last grant come first. The lowest bit set is (x & -x).
  logic [Requesters-1:0] above_q, preferred;
  assign preferred = request_i & above_q;
  assign grant_o = (preferred != '0) ? (preferred & (~preferred + 1'b1)) : (request_i & (~request_i + 1'b1));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      above_q <= '0;
    end else if (ready_i && grant_o != '0) begin
      above_q <= ~(grant_o | (grant_o - 1'b1));
    end
  end

  `NPU_ASSERT(GrantIsAsked, (grant_o & ~request_i) == '0)
  `NPU_ASSERT(GrantIsOne, (grant_o & (grant_o - 1'b1)) == '0)
  `NPU_ASSERT(SomebodyWins, request_i == '0 || grant_o != '0)

endmodule
