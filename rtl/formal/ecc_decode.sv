// SPDX-License-Identifier: Apache-2.0
// Of the decoder: it is right for every single and every double error of the word 0, whose syndromes are those of the
// same errors of any fresh word (ecc_code.sv). Of a word it sees the syndrome and the data, which it turns round bit by
// bit: so it is right for those too.
module ecc_decode (
  input  logic [6:0] first_i,  // wrong bits; 72 and above: none
  input  logic [6:0] second_i,
  output logic       wrong_o
);
  logic [71:0] flips;
  logic single, double;
  assign flips = (72'd1 << first_i) ^ (72'd1 << second_i);
  assign single = (first_i < 72) != (second_i < 72);
  assign double = first_i < 72 && second_i < 72 && first_i != second_i;

  logic [63:0] data;
  logic corrected, failed;
  npu_ecc_decode u_decode (.word_i(flips), .data_o(data), .corrected_o(corrected), .failed_o(failed));
  always_comb begin
    if (single) wrong_o = !corrected || failed || data != '0;
    else if (double) wrong_o = corrected || !failed;
    else wrong_o = corrected || failed || data != '0;
  end
endmodule
