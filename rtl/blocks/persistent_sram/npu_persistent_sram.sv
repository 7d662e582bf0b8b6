// SPDX-License-Identifier: Apache-2.0
// Persistent SRAM: an array under ECC with the variable table in its first bytes. See README.md.
`include "npu_assert.svh"

module npu_persistent_sram #(
  parameter int unsigned Bytes = 8192,
  parameter int unsigned PortBytes = 16,
  parameter int unsigned Entries = 32,
  localparam int unsigned Lanes = PortBytes / 8,
  localparam int unsigned LaneWidth = (Lanes > 1) ? $clog2(Lanes) : 1,
  localparam int unsigned RowWidth = $clog2(Bytes / PortBytes)
) (
  input  logic                             clk_i,
  input  logic                             rst_ni,

  input  npu_persistent_sram_pkg::power_e  power_i,
  output logic                             lost_o,
  input  logic                             lost_clear_i,
  output logic [31:0]                      corrected_o,

  input  logic                             inject_valid_i,
  output logic                             inject_ready_o,
  input  logic [RowWidth-1:0]              inject_row_i,
  input  logic [LaneWidth-1:0]             inject_lane_i,
  input  logic [71:0]                      inject_flips_i,

  input  logic                             data_valid_i,
  output logic                             data_ready_o,
  input  logic                             data_write_i,
  input  logic                             data_privileged_i,  // may reach the table
  input  logic [31:0]                      data_address_i,     // of the row, in bytes
  input  logic [PortBytes-1:0]             data_strobe_i,
  input  logic [8*PortBytes-1:0]           data_data_i,
  output logic                             data_valid_o,
  output npu_contract_pkg::error_e         data_error_o,
  output logic [Lanes-1:0]                 data_failed_o,      // words with two wrong bits
  output logic [8*PortBytes-1:0]           data_data_o,

  input  logic                             op_valid_i,
  output logic                             op_ready_o,
  input  npu_persistent_sram_pkg::op_e     op_i,
  input  logic [15:0]                      op_index_i,
  input  logic [31:0]                      op_hash_i,
  input  logic signed [39:0]               op_low_i,
  input  logic signed [39:0]               op_high_i,
  input  logic [15:0]                      op_owner_i,
  input  logic [7:0]                       op_epoch_i,
  output logic                             op_valid_o,
  output npu_contract_pkg::error_e         op_error_o,
  output logic [15:0]                      op_entry_o,
  output logic                             op_in_dram_o,
  output logic [32:0]                      op_base_o
);
  localparam int unsigned OffsetWidth = $clog2(PortBytes);

  logic table_valid, table_ready, table_write, table_answer, table_drop, table_written;
  logic [RowWidth-1:0] table_row;
  logic [PortBytes-1:0] table_strobe;
  logic [8*PortBytes-1:0] table_data;

  // Table and data take turns at the array.
  logic [1:0] grant;
  logic array_ready, answer_valid, answer_tag;
  npu_contract_pkg::error_e answer_error;
  logic [Lanes-1:0] answer_failed;
  logic [8*PortBytes-1:0] answer_data;
  npu_arbiter #(.Requesters(2)) u_arbiter (
    .clk_i,
    .rst_ni,
    .request_i({data_valid_i, table_valid}),
    .ready_i(array_ready),
    .grant_o(grant)
  );
  assign table_ready = grant[0] && array_ready;
  // The table gave up the rows that it asked for last.
  logic table_access_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) table_access_q <= 1'b0;
    else table_access_q <= table_valid && table_ready;
  end
  assign data_ready_o = grant[1] && array_ready;

  npu_contract_pkg::error_e refuse;
  logic in_table;
  assign in_table = data_address_i < 16 * Entries;
  always_comb begin
    refuse = npu_contract_pkg::ErrorOk;
    if (grant[1]) begin
      if (data_address_i >= Bytes) refuse = npu_contract_pkg::ErrorFaultOutOfBounds;
      else if (in_table && !data_privileged_i) refuse = npu_contract_pkg::ErrorFaultAccessRight;
    end
  end
  // Entries may have other places than the table found, or none.
  assign table_written = power_i == npu_persistent_sram_pkg::PowerOff ||
                         (power_i == npu_persistent_sram_pkg::PowerOn && data_valid_i && data_ready_o &&
                          data_write_i && data_privileged_i && in_table);

  npu_persistent_sram_array #(.Bytes(Bytes), .PortBytes(PortBytes), .TagWidth(1)) u_array (
    .clk_i,
    .rst_ni,
    .power_i,
    .lost_o,
    .lost_clear_i,
    .corrected_o,
    .inject_valid_i,
    .inject_ready_o,
    .inject_row_i,
    .inject_lane_i,
    .inject_flips_i,
    .valid_i(grant != '0),
    .ready_o(array_ready),
    .refuse_i(refuse),
    .write_i(grant[0] ? table_write : data_write_i),
    .row_i(grant[0] ? table_row : data_address_i[OffsetWidth +: RowWidth]),
    .strobe_i(grant[0] ? table_strobe : data_strobe_i),
    .data_i(grant[0] ? table_data : data_data_i),
    .tag_i(grant[0]),
    .drop_i(table_drop && table_access_q),
    .valid_o(answer_valid),
    .error_o(answer_error),
    .failed_o(answer_failed),
    .data_o(answer_data),
    .tag_o(answer_tag)
  );
  assign table_answer = answer_valid && answer_tag;
  assign data_valid_o = answer_valid && !answer_tag;
  assign data_error_o = answer_error;
  assign data_failed_o = answer_failed;
  assign data_data_o = answer_data;

  npu_persistent_sram_table #(.Bytes(Bytes), .PortBytes(PortBytes), .Entries(Entries)) u_table (
    .clk_i,
    .rst_ni,
    .valid_i(op_valid_i),
    .ready_o(op_ready_o),
    .op_i,
    .index_i(op_index_i),
    .hash_i(op_hash_i),
    .low_i(op_low_i),
    .high_i(op_high_i),
    .owner_i(op_owner_i),
    .epoch_i(op_epoch_i),
    .lost_i(lost_o),
    .written_i(table_written),
    .valid_o(op_valid_o),
    .error_o(op_error_o),
    .entry_o(op_entry_o),
    .in_dram_o(op_in_dram_o),
    .base_o(op_base_o),
    .access_valid_o(table_valid),
    .access_ready_i(table_ready),
    .access_write_o(table_write),
    .access_row_o(table_row),
    .access_strobe_o(table_strobe),
    .access_data_o(table_data),
    .access_drop_o(table_drop),
    .answer_valid_i(table_answer),
    .answer_error_i(answer_error),
    .answer_failed_i(answer_failed),
    .answer_data_i(answer_data)
  );

  // Power changes between accesses only.
  npu_persistent_sram_pkg::power_e power_q;
  always_ff @(posedge clk_i) power_q <= power_i;
  `NPU_ASSUME(AccessesDone, power_q == power_i || (!data_valid_i && op_ready_o))
  `NPU_ASSUME(RowsAligned, !data_valid_i || data_address_i[OffsetWidth-1:0] == '0)

endmodule
