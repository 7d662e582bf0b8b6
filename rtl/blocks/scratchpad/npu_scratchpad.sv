// SPDX-License-Identifier: Apache-2.0
// The scratchpad: interleaved banks of one access a cycle each, shared by Requesters. See README.md.
`include "npu_assert.svh"

module npu_scratchpad #(
  parameter int unsigned Bytes = 65536,
  parameter int unsigned Banks = 4,
  parameter int unsigned BankBytes = 16,
  parameter int unsigned Requesters = 4,
  localparam int unsigned WordWidth = $clog2(Bytes / BankBytes)
) (
  input  logic                                    clk_i,
  input  logic                                    rst_ni,

  input  logic [Requesters-1:0]                   valid_i,
  output logic [Requesters-1:0]                   ready_o,
  input  logic [Requesters-1:0]                   write_i,
  input  logic [Requesters-1:0] [WordWidth-1:0]   word_i,    // byte address / BankBytes
  input  logic [Requesters-1:0] [BankBytes-1:0]   strobe_i,  // bytes to write
  input  logic [Requesters-1:0] [8*BankBytes-1:0] data_i,

  output logic [Requesters-1:0]                   valid_o,   // a cycle after a read was granted
  output logic [Requesters-1:0] [8*BankBytes-1:0] data_o
);
  localparam int unsigned BankWidth = $clog2(Banks);
  localparam int unsigned Rows = Bytes / BankBytes / Banks;

  logic [Requesters-1:0] [WordWidth-BankWidth-1:0] row;
  logic [Requesters-1:0] [BankWidth-1:0] bank_q;
  logic [Banks-1:0] [Requesters-1:0] request, grant;
  logic [Banks-1:0] [8*BankBytes-1:0] bank_data;

  for (genvar b = 0; b < Banks; b++) begin : gen_bank
    for (genvar r = 0; r < Requesters; r++) begin : gen_request
      assign request[b][r] = valid_i[r] && word_i[r][BankWidth-1:0] == BankWidth'(b);
    end
    npu_scratchpad_bank #(.Requesters(Requesters), .BankBytes(BankBytes), .Rows(Rows)) u_bank (
      .clk_i,
      .rst_ni,
      .request_i(request[b]),
      .grant_o(grant[b]),
      .write_i,
      .row_i(row),
      .strobe_i,
      .data_i,
      .data_o(bank_data[b])
    );
  end

  for (genvar r = 0; r < Requesters; r++) begin : gen_requester
    assign row[r] = word_i[r][WordWidth-1:BankWidth];
    assign ready_o[r] = grant[word_i[r][BankWidth-1:0]][r];
    assign data_o[r] = bank_data[bank_q[r]];
    `NPU_ASSERT(GrantedWhereAsked, !ready_o[r] || valid_i[r])
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_o <= '0;
    end else begin
      valid_o <= valid_i & ready_o & ~write_i;
    end
  end

  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < Requesters; i++) bank_q[i] <= word_i[i][BankWidth-1:0];
  end

endmodule
