// SPDX-License-Identifier: Apache-2.0
// Rows of PortBytes under ECC, one access a cycle: read, checked and answered in two cycles. See README.md.
`include "npu_assert.svh"

module npu_persistent_sram_array #(
  parameter int unsigned Bytes = 8192,
  parameter int unsigned PortBytes = 16,
  parameter int unsigned TagWidth = 1,
  localparam int unsigned Lanes = PortBytes / 8,
  localparam int unsigned LaneWidth = (Lanes > 1) ? $clog2(Lanes) : 1,
  localparam int unsigned RowWidth = $clog2(Bytes / PortBytes)
) (
  input  logic                             clk_i,
  input  logic                             rst_ni,

  input  npu_persistent_sram_pkg::power_e  power_i,
  output logic                             lost_o,         // contents were lost since lost_clear_i
  input  logic                             lost_clear_i,
  output logic [31:0]                      corrected_o,    // wrong bits found and put right

  input  logic                             inject_valid_i, // flips stored bits, for tests
  output logic                             inject_ready_o,
  input  logic [RowWidth-1:0]              inject_row_i,
  input  logic [LaneWidth-1:0]             inject_lane_i,
  input  logic [71:0]                      inject_flips_i,

  input  logic                             valid_i,
  output logic                             ready_o,
  input  npu_contract_pkg::error_e         refuse_i,       // not ErrorOk: no access, answer with this
  input  logic                             write_i,
  input  logic [RowWidth-1:0]              row_i,
  input  logic [PortBytes-1:0]             strobe_i,       // bytes meant; reads look only at words with one
  input  logic [8*PortBytes-1:0]           data_i,
  input  logic [TagWidth-1:0]              tag_i,
  input  logic                             drop_i,         // the read that was accepted in the cycle before: it has
                                                           // no effect and no answer
  output logic                             valid_o,        // two cycles after the access
  output npu_contract_pkg::error_e         error_o,
  output logic [Lanes-1:0]                 failed_o,       // words with two wrong bits
  output logic [8*PortBytes-1:0]           data_o,
  output logic [TagWidth-1:0]              tag_o
);
  // Contents are cleared, which makes the code right, before the first access after reset or loss of power.
  logic on, off, off_q, clearing, clear_q, lost_q;
  logic [RowWidth-1:0] clear_row_q;
  assign on = power_i == npu_persistent_sram_pkg::PowerOn;
  assign off = power_i == npu_persistent_sram_pkg::PowerOff;
  assign clearing = on && clear_q;
  assign lost_o = lost_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      clear_q <= 1'b1;
      clear_row_q <= '0;
      lost_q <= 1'b0;
      off_q <= 1'b0;
    end else begin
      off_q <= off;
      if (lost_clear_i) lost_q <= 1'b0;
      if (off) begin
        clear_q <= 1'b1;
        clear_row_q <= '0;
        if (!off_q) lost_q <= 1'b1;  // it may be acknowledged while power is still off
      end else if (clearing) begin
        clear_row_q <= clear_row_q + 1'b1;
        if (clear_row_q == '1) clear_q <= 1'b0;
      end
    end
  end

  // What was accepted in the cycle before.
  logic accepted_q, access_q, inject_q, write_q;
  assign access_q = accepted_q && !drop_i;
  npu_contract_pkg::error_e refuse_q;
  logic [RowWidth-1:0] row_q;
  logic [PortBytes-1:0] strobe_q;
  logic [8*PortBytes-1:0] data_q;
  logic [TagWidth-1:0] tag_q;
  logic [LaneWidth-1:0] lane_q;
  logic [71:0] flips_q;

  logic [Lanes-1:0] used, partial, used_q, partial_q;
  logic [Lanes-1:0] corrected, failed, late_write;
  logic [Lanes-1:0] [71:0] stored, coded;
  logic performs, reads, late, faults;

  // Words to be read, or read and then written, hold up the next access if something is to be written behind it.
  assign late = late_write != '0;
  assign inject_ready_o = !clearing && !late;
  assign ready_o = !clearing && !late && !inject_valid_i;
  assign performs = valid_i && ready_o && on && refuse_i == npu_contract_pkg::ErrorOk;
  assign reads = performs && (!write_i || partial != '0);

  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    logic [63:0] decoded, merged, encoder_data;
    logic [71:0] encoded;
    logic lane_corrected, lane_failed, early_write, enable;
    logic inject_here, inject_here_q;

    assign used[i] = strobe_i[8*i +: 8] != '0;
    assign partial[i] = used[i] && strobe_i[8*i +: 8] != '1;
    assign inject_here = inject_valid_i && inject_ready_o && on && inject_lane_i == LaneWidth'(i);
    assign inject_here_q = inject_q && lane_q == LaneWidth'(i);

    npu_ecc_decode u_decode (
      .word_i(stored[i]),
      .data_o(decoded),
      .corrected_o(lane_corrected),
      .failed_o(lane_failed)
    );
    // A word that is replaced as a whole need not be right.
    assign corrected[i] = access_q && used_q[i] && (!write_q || partial_q[i]) && lane_corrected;
    assign failed[i] = access_q && used_q[i] && (!write_q || partial_q[i]) && lane_failed;
    for (genvar b = 0; b < 8; b++) begin : gen_byte
      assign merged[8*b +: 8] =
          (write_q && strobe_q[8*i + b]) ? data_q[64*i + 8*b +: 8] : decoded[8*b +: 8];
    end

    // Behind a read: what it corrected. Behind a write with partial words: all its words, unless one of them is wrong.
    assign late_write[i] = inject_here_q || (!write_q && corrected[i]) ||
                           (access_q && write_q && partial_q != '0 && used_q[i] && !faults);
    assign early_write = clearing || (performs && write_i && partial == '0 && used[i]);
    assign enable = late ? late_write[i] : (early_write || reads || inject_here);
    assign encoder_data = late ? merged : (clearing ? '0 : data_i[64*i +: 64]);
    npu_ecc_encode u_encode (.data_i(encoder_data), .word_o(encoded));
    assign coded[i] = inject_here_q ? stored[i] ^ flips_q : encoded;

    npu_sram #(.Width(72), .Depth(Bytes / PortBytes), .Granule(72)) u_sram (
      .clk_i,
      .enable_i(enable),
      .write_i(late ? late_write[i] : early_write),
      .address_i(late ? row_q : (clearing ? clear_row_q : (inject_valid_i ? inject_row_i : row_i))),
      .data_i(coded[i]),
      .data_o(stored[i])
    );

    always_ff @(posedge clk_i) data_o[64*i +: 64] <= decoded;
  end
  assign faults = failed != '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      accepted_q <= 1'b0;
      inject_q <= 1'b0;
      corrected_o <= '0;
    end else begin
      accepted_q <= valid_i && ready_o;
      inject_q <= inject_valid_i && inject_ready_o && on;
      corrected_o <= corrected_o + 32'($countones(corrected & late_write));  // not of a write that faults
    end
  end

  always_ff @(posedge clk_i) begin
    if (!late) begin
      refuse_q <= on ? refuse_i : npu_contract_pkg::ErrorFaultPower;
      write_q <= write_i;
      row_q <= inject_valid_i ? inject_row_i : row_i;
      strobe_q <= strobe_i;
      used_q <= performs ? used : '0;
      partial_q <= performs ? partial : '0;
      data_q <= data_i;
      tag_q <= tag_i;
      lane_q <= inject_lane_i;
      flips_q <= inject_flips_i;
    end
  end

  // The answer.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_o <= 1'b0;
    end else begin
      valid_o <= access_q;
    end
  end
  always_ff @(posedge clk_i) begin
    error_o <= (refuse_q == npu_contract_pkg::ErrorOk && faults) ? npu_contract_pkg::ErrorFaultEcc : refuse_q;
    failed_o <= failed;
    tag_o <= tag_q;
  end

  `NPU_ASSERT(OnlyReadsAreDropped, !drop_i || !accepted_q || !write_q)

endmodule
