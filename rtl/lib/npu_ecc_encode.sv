// SPDX-License-Identifier: Apache-2.0
// Adds the check bits of npu_ecc_pkg to a word; combinational.
module npu_ecc_encode (
  input  logic [63:0] data_i,
  output logic [71:0] word_o  // check bits above the data
);
  logic [6:0] hamming;
  assign hamming = {^(data_i & npu_ecc_pkg::Mask6), ^(data_i & npu_ecc_pkg::Mask5), ^(data_i & npu_ecc_pkg::Mask4),
                    ^(data_i & npu_ecc_pkg::Mask3), ^(data_i & npu_ecc_pkg::Mask2), ^(data_i & npu_ecc_pkg::Mask1),
                    ^(data_i & npu_ecc_pkg::Mask0)};
  assign word_o = {^{hamming, data_i}, hamming, data_i};
endmodule
