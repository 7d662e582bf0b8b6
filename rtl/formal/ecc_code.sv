// SPDX-License-Identifier: Apache-2.0
// Of the code, for all words: a fresh word has syndrome 0, and a wrong bit changes the syndrome of any word, right or
// wrong, by a constant of its own. So the syndrome of a fresh word with wrong bits is the sum of their constants.
module ecc_code (
  input  logic [63:0] data_i,
  input  logic [71:0] any_i,
  output logic        wrong_o
);
  logic [71:0] word;
  logic [6:0] fresh, syndrome;
  logic fresh_odd, odd;
  npu_ecc_encode u_encode (.data_i, .word_o(word));
  npu_ecc_syndrome u_fresh (.word_i(word), .syndrome_o(fresh), .odd_o(fresh_odd));
  npu_ecc_syndrome u_any (.word_i(any_i), .syndrome_o(syndrome), .odd_o(odd));

  logic [71:0] wrong;
  for (genvar i = 0; i < 72; i++) begin : gen_bit
    logic [6:0] flipped, alone;
    logic flipped_odd, alone_odd;
    npu_ecc_syndrome u_flipped (.word_i(any_i ^ (72'd1 << i)), .syndrome_o(flipped), .odd_o(flipped_odd));
    npu_ecc_syndrome u_alone (.word_i(72'd1 << i), .syndrome_o(alone), .odd_o(alone_odd));
    assign wrong[i] = flipped != (syndrome ^ alone) || flipped_odd == odd || !alone_odd;
  end
  assign wrong_o = word[63:0] != data_i || fresh != '0 || fresh_odd || wrong != '0;
endmodule
