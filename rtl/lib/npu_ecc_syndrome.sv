// SPDX-License-Identifier: Apache-2.0
// What is wrong with a word of npu_ecc_pkg: both outputs are 0 for a right one; combinational, XORs only.
module npu_ecc_syndrome (
  input  logic [71:0] word_i,      // check bits above the data
  output logic [ 6:0] syndrome_o,  // with one wrong bit: its position in the code, 0 for check bit 7
  output logic        odd_o        // an odd number of bits is wrong
);
  logic [63:0] data;
  assign data = word_i[63:0];
  assign syndrome_o = word_i[70:64] ^
                      {^(data & npu_ecc_pkg::Mask6), ^(data & npu_ecc_pkg::Mask5), ^(data & npu_ecc_pkg::Mask4),
                       ^(data & npu_ecc_pkg::Mask3), ^(data & npu_ecc_pkg::Mask2), ^(data & npu_ecc_pkg::Mask1),
                       ^(data & npu_ecc_pkg::Mask0)};
  assign odd_o = ^word_i;
endmodule
