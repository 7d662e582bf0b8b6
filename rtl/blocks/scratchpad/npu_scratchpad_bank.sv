// SPDX-License-Identifier: Apache-2.0
// One bank: serves one of its requesters each cycle, in turn.
module npu_scratchpad_bank #(
  parameter int unsigned Requesters = 4,
  parameter int unsigned BankBytes = 16,
  parameter int unsigned Rows = 16
) (
  input  logic                                        clk_i,
  input  logic                                        rst_ni,
  input  logic [Requesters-1:0]                       request_i,
  output logic [Requesters-1:0]                       grant_o,
  input  logic [Requesters-1:0]                       write_i,
  input  logic [Requesters-1:0] [$clog2(Rows)-1:0]    row_i,
  input  logic [Requesters-1:0] [BankBytes-1:0]       strobe_i,
  input  logic [Requesters-1:0] [8*BankBytes-1:0]     data_i,
  output logic [8*BankBytes-1:0]                      data_o
);
  npu_arbiter #(.Requesters(Requesters)) u_arbiter (
    .clk_i,
    .rst_ni,
    .request_i,
    .ready_i(1'b1),
    .grant_o
  );

  // A write without a byte is no access to the memory, nor is it a read.
  logic enable;
  logic [BankBytes-1:0] strobe;
  logic [$clog2(Rows)-1:0] row;
  logic [8*BankBytes-1:0] data;
  always_comb begin
    enable = 1'b0;
    strobe = '0;
    row = '0;
    data = '0;
    for (int unsigned i = 0; i < Requesters; i++) begin
      if (grant_o[i]) begin
        enable = !write_i[i] || strobe_i[i] != '0;
        strobe = write_i[i] ? strobe_i[i] : '0;
        row = row_i[i];
        data = data_i[i];
      end
    end
  end

  npu_sram #(.Width(8 * BankBytes), .Depth(Rows), .Granule(8)) u_sram (
    .clk_i,
    .enable_i(enable),
    .write_i(strobe),
    .address_i(row),
    .data_i(data),
    .data_o
  );

endmodule
