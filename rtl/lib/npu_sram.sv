// SPDX-License-Identifier: Apache-2.0
// A single-port memory as an SRAM compiler makes it: one access a cycle, read data a cycle later and held until the
// next read. Contents are undefined until they are written.
module npu_sram #(
  parameter int unsigned Width = 64,
  parameter int unsigned Depth = 16,
  parameter int unsigned Granule = 8  // bits under one write enable
) (
  input  logic                     clk_i,
  input  logic                     enable_i,
  input  logic [Width/Granule-1:0] write_i,    // 0: read
  input  logic [$clog2(Depth)-1:0] address_i,
  input  logic [Width-1:0]         data_i,
  output logic [Width-1:0]         data_o
);
  logic [Width-1:0] memory_q [Depth];

  always_ff @(posedge clk_i) begin
    if (enable_i && write_i == '0) data_o <= memory_q[address_i];
    for (int unsigned i = 0; i < Width / Granule; i++) begin
      if (enable_i && write_i[i]) memory_q[address_i][Granule*i +: Granule] <= data_i[Granule*i +: Granule];
    end
  end

endmodule
