// SPDX-License-Identifier: Apache-2.0
// Reads a word of npu_ecc_pkg: corrects one wrong bit anywhere in it, detects two; combinational.
module npu_ecc_decode (
  input  logic [71:0] word_i,       // check bits above the data
  output logic [63:0] data_o,
  output logic        corrected_o,  // one bit was wrong; data_o is right
  output logic        failed_o      // two bits were wrong; data_o is not to be used
);
  logic [63:0] flip;
  logic [ 6:0] syndrome;
  logic        odd;
  npu_ecc_syndrome u_syndrome (.word_i, .syndrome_o(syndrome), .odd_o(odd));

  // A syndrome that is the position of no data bit is that of a check bit, which needs no correction, or of no bit: then
  // three or more bits were wrong.
  for (genvar i = 0; i < 64; i++) begin : gen_flip
    assign flip[i] = odd && syndrome == {npu_ecc_pkg::Mask6[i], npu_ecc_pkg::Mask5[i], npu_ecc_pkg::Mask4[i],
                                         npu_ecc_pkg::Mask3[i], npu_ecc_pkg::Mask2[i], npu_ecc_pkg::Mask1[i],
                                         npu_ecc_pkg::Mask0[i]};
  end
  assign data_o = word_i[63:0] ^ flip;
  assign corrected_o = odd && (flip != '0 || (syndrome & (syndrome - 1'b1)) == '0);
  assign failed_o = (odd && !corrected_o) || (!odd && syndrome != '0);
endmodule
