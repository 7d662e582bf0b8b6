// SPDX-License-Identifier: Apache-2.0
// A grant goes to one that asks, and a requester that keeps asking waits for at most Requesters - 1 grants to others.
module arbiter #(
  parameter int unsigned Requesters = 5
) (
  input logic                  clk_i,
  input logic [Requesters-1:0] request_i,
  input logic                  ready_i
);
  logic rst_n = 1'b0;
  always @(posedge clk_i) rst_n <= 1'b1;

  logic [Requesters-1:0] grant;
  npu_arbiter #(.Requesters(Requesters)) u_arbiter (
    .clk_i,
    .rst_ni(rst_n),
    .request_i,
    .ready_i,
    .grant_o(grant)
  );

  for (genvar i = 0; i < Requesters; i++) begin : gen_requester
    logic [3:0] others = '0;  // granted since i asks
    always @(posedge clk_i) begin
      if (!rst_n || !request_i[i] || (grant[i] && ready_i)) others <= '0;
      else if (ready_i) others <= others + 1'b1;
      if (rst_n) assert (others < Requesters);
      if (rst_n && others == Requesters - 1 && request_i[i]) assert (grant[i]);
    end
  end
endmodule
