// SPDX-License-Identifier: Apache-2.0
// Where the bytes of a variable lie: one place, or two of which one is current. In bytes of the persistent SRAM, or in
// units of DRAM. See README.md.
module npu_persistent_sram_place #(
  parameter int unsigned PortBytes = 16
) (
  input  npu_persistent_sram_pkg::entry_t entry_i,
  output logic [33:0]                     end_o,    // behind the last byte of all places
  output logic [32:0]                     read_o,   // the place that reads go to
  output logic [32:0]                     write_o   // the place that writes go to
);
  localparam int unsigned PortWidth = $clog2(PortBytes);
  localparam int unsigned DramWidth = $clog2(npu_contract_pkg::VariableDramUnit);

  // From the first place to the second, whole beats.
  logic [32-PortWidth:0] beats;
  logic [32-DramWidth:0] dram_units;
  logic [32:0] distance;
  assign beats = {1'b0, entry_i.length[31:PortWidth]} + (33-PortWidth)'(entry_i.length[PortWidth-1:0] != '0);
  assign dram_units = {1'b0, entry_i.length[31:DramWidth]} + (33-DramWidth)'(entry_i.length[DramWidth-1:0] != '0);
  assign distance = entry_i.in_dram ? 33'(dram_units) : {beats, PortWidth'(0)};

  logic [31:0] last;  // length of a place
  assign last = entry_i.in_dram ? 32'(dram_units) : entry_i.length;
  assign end_o = 34'(entry_i.base) + 34'(last) + (entry_i.double_buffered ? 34'(distance) : '0);

  logic read_second, write_second;
  assign read_second = entry_i.double_buffered && entry_i.second;
  assign write_second = entry_i.double_buffered && !entry_i.second;
  assign read_o = 33'(entry_i.base) + (read_second ? distance : '0);
  assign write_o = 33'(entry_i.base) + (write_second ? distance : '0);

  logic unused_fields;
  assign unused_fields = ^entry_i;

endmodule
