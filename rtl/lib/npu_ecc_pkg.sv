// SPDX-License-Identifier: Apache-2.0
// SECDED over words of 64 bits: an extended Hamming code with 8 check bits. Bit i of the data stands at the i-th
// position that is not a power of two; check bit k < 7 is the parity of all data positions with bit k set, check bit 7
// that of data and check bits 0 to 6 together.
package npu_ecc_pkg;

  // Data positions whose number has bit k set, as a mask over the data.
  function automatic [63:0] parity_mask(input integer k);
    integer i, position;
    parity_mask = 64'd0;
    position = 3;
    for (i = 0; i < 64; i = i + 1) begin
      parity_mask[i] = ((position >> k) % 2) == 1;
      position = position + 1;
      if ((position & (position - 1)) == 0) position = position + 1;
    end
  endfunction

  parameter logic [63:0] Mask0 = parity_mask(0);
  parameter logic [63:0] Mask1 = parity_mask(1);
  parameter logic [63:0] Mask2 = parity_mask(2);
  parameter logic [63:0] Mask3 = parity_mask(3);
  parameter logic [63:0] Mask4 = parity_mask(4);
  parameter logic [63:0] Mask5 = parity_mask(5);
  parameter logic [63:0] Mask6 = parity_mask(6);

endpackage : npu_ecc_pkg
