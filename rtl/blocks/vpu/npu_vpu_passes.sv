// SPDX-License-Identifier: Apache-2.0
// Passes that a vector spends in a micro-operation; combinational.
module npu_vpu_passes #(
  parameter int unsigned Rescale = 0,  // in one pass, with one entry, and so a product with a shift
  parameter int unsigned Pairs = 0     // a table's entry comes with the next one
) (
  input  npu_contract_pkg::uop_e       op_i,
  input  logic                         wide_i,      // load and store: 48 bits, in two halves
  input  logic                         shifted_i,   // multiplication with a shift
  input  logic                         channels_i,  // RESCALE with an entry a channel
  output logic                   [5:0] last_o       // number of the last pass
);
  always_comb begin
    unique case (op_i)
      npu_contract_pkg::UopLoad, npu_contract_pkg::UopStore: last_o = wide_i ? 6'd1 : 6'd0;
      npu_contract_pkg::UopMul: last_o = (Rescale == 0 && shifted_i) ? 6'd1 : 6'd0;  // product, shift
      // Zero point, product, shift, output zero point and limits.
      npu_contract_pkg::UopRescale: last_o = (Rescale != 0 && !channels_i) ? 6'd0 : 6'd3;
      npu_contract_pkg::UopTable8: last_o = 6'd3;    // four lanes
      // Two entries of four lanes, product, sum; pairs: two at once, then the rest.
      npu_contract_pkg::UopTable16: last_o = (Pairs != 0) ? 6'd4 : 6'd9;
      npu_contract_pkg::UopTable32: last_o = (Pairs != 0) ? 6'd3 : 6'd7;  // two halves of four lanes
      npu_contract_pkg::UopIntdiv: last_o = 6'd33;   // magnitudes, 32 bits, sign
      default: last_o = 6'd0;
    endcase
  end
endmodule
