// SPDX-License-Identifier: Apache-2.0
// The addresses of a DMA command: a walker for each side, the indices of a gather or scatter, and the pattern of a fill.
// See README.md.
module npu_dma_address #(
  parameter int unsigned PortBytes = 16,
  parameter int unsigned AddressWidth = 40,
  localparam int unsigned BytesWidth = $clog2(PortBytes + 1),
  localparam int unsigned PlaceWidth = $clog2(npu_contract_pkg::DmaIndices)
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,

  input  logic                           start_valid_i,
  output logic                           start_ready_o,
  input  npu_contract_pkg::dma_command_t command_i,
  input  logic [AddressWidth-1:0]        src_base_i,  // addresses of the first runs, checked
  input  logic [AddressWidth-1:0]        dst_base_i,
  input  logic [AddressWidth-1:0]        index_base_i,

  output logic                           index_valid_o,  // indices are wanted
  input  logic                           index_ready_i,  // and here, in index_data_i
  output logic [AddressWidth-1:0]        index_address_o,
  output logic [BytesWidth-1:0]          index_bytes_o,
  output logic                           index_last_o,
  input  logic [8*PortBytes-1:0]         index_data_i,
  output logic                           index_wrong_o,  // this one chooses no row: the command has ended
  output logic [PlaceWidth-1:0]          index_wrong_place_o,
  output logic [31:0]                    index_wrong_value_o,

  output logic                           src_valid_o,
  input  logic                           src_ready_i,
  output logic [AddressWidth-1:0]        src_address_o,
  output logic [BytesWidth-1:0]          src_bytes_o,
  output logic                           src_last_o,

  output logic                           dst_valid_o,
  input  logic                           dst_ready_i,
  output logic [AddressWidth-1:0]        dst_address_o,
  output logic [BytesWidth-1:0]          dst_bytes_o,
  output logic                           dst_last_o,
  output logic                           dst_fill_o,  // dst_data_o has the beat's bytes
  output logic [8*PortBytes-1:0]         dst_data_o
);
  // A fill reads nothing.
  logic fills, gathers, scatters, src_start_ready, dst_start_ready, index_start_ready;
  assign fills = command_i.mode == npu_contract_pkg::DmaModeFill;
  assign gathers = command_i.mode == npu_contract_pkg::DmaModeGather;
  assign scatters = command_i.mode == npu_contract_pkg::DmaModeScatter;
  assign start_ready_o = src_start_ready && dst_start_ready && index_start_ready;

  // Dimension 1 counts the rows that an index chooses from: it is no dimension of the walks.
  logic [4:0] [31:0] counts;
  always_comb begin
    counts = command_i.count;
    if (gathers || scatters) counts[1] = 32'd1;
  end

  logic offset_valid, src_takes, dst_takes;
  logic [AddressWidth-1:0] offset;
  logic [PlaceWidth:0] batches, indices;
  assign batches = command_i.count[0][PlaceWidth:0];
  assign indices = command_i.count[2][PlaceWidth:0];
  npu_dma_index #(.PortBytes(PortBytes), .AddressWidth(AddressWidth)) u_index (
    .clk_i,
    .rst_ni,
    .start_valid_i(start_valid_i && start_ready_o && (gathers || scatters)),
    .start_ready_o(index_start_ready),
    .base_i(index_base_i),
    .batches_i(batches),
    .indices_i(indices),
    .choices_i(command_i.count[1]),
    .stride_i(gathers ? command_i.src_stride[1] : command_i.dst_stride[1]),
    .valid_o(index_valid_o),
    .ready_i(index_ready_i),
    .address_o(index_address_o),
    .bytes_o(index_bytes_o),
    .last_o(index_last_o),
    .data_i(index_data_i),
    .offset_valid_o(offset_valid),
    .offset_o(offset),
    .offset_taken_i(src_takes || dst_takes),
    .done_i(dst_start_ready && src_start_ready),
    .wrong_o(index_wrong_o),
    .wrong_place_o(index_wrong_place_o),
    .wrong_index_o(index_wrong_value_o)
  );

  logic [2:0] unused_phase;
  npu_dma_walk #(.PortBytes(PortBytes), .AddressWidth(AddressWidth)) u_src (
    .clk_i,
    .rst_ni,
    .start_valid_i(start_valid_i && start_ready_o && !fills),
    .start_ready_o(src_start_ready),
    .base_i(src_base_i),
    .run_bytes_i(command_i.run_bytes),
    .count_i(counts),
    .stride_i(command_i.src_stride),
    .waits_i(gathers || scatters),
    .indexed_i(gathers),
    .stop_i(index_wrong_o),
    .offset_valid_i(offset_valid),
    .offset_i(offset),
    .offset_taken_o(src_takes),
    .valid_o(src_valid_o),
    .ready_i(src_ready_i),
    .address_o(src_address_o),
    .bytes_o(src_bytes_o),
    .phase_o(unused_phase),
    .last_o(src_last_o)
  );

  logic [2:0] phase;
  npu_dma_walk #(.PortBytes(PortBytes), .AddressWidth(AddressWidth)) u_dst (
    .clk_i,
    .rst_ni,
    .start_valid_i(start_valid_i && start_ready_o),
    .start_ready_o(dst_start_ready),
    .base_i(dst_base_i),
    .run_bytes_i(command_i.run_bytes),
    .count_i(counts),
    .stride_i(command_i.dst_stride),
    .waits_i(gathers || scatters),
    .indexed_i(scatters),
    .stop_i(index_wrong_o),
    .offset_valid_i(offset_valid),
    .offset_i(offset),
    .offset_taken_o(dst_takes),
    .valid_o(dst_valid_o),
    .ready_i(dst_ready_i),
    .address_o(dst_address_o),
    .bytes_o(dst_bytes_o),
    .phase_o(phase),
    .last_o(dst_last_o)
  );

  // The pattern, repeated to 8 bytes. Pieces are whole patterns, so that each begins with its first byte.
  logic [7:0] [7:0] value, pattern_d, pattern_q;
  assign value = {command_i.fill_value_hi, command_i.fill_value_lo};
  always_comb begin
    unique case (command_i.fill_bytes)
      8'd1: pattern_d = {8{value[0]}};
      8'd2: pattern_d = {4{value[1:0]}};
      8'd4: pattern_d = {2{value[3:0]}};
      default: pattern_d = value;
    endcase
  end
  always_ff @(posedge clk_i) begin
    if (start_valid_i && start_ready_o) begin
      pattern_q <= pattern_d;
      dst_fill_o <= fills;
    end
  end
  for (genvar i = 0; i < PortBytes; i++) begin : gen_byte
    assign dst_data_o[8*i +: 8] = pattern_q[3'(i) + phase];
  end

  logic unused_command;
  assign unused_command = ^{command_i.header, command_i.src, command_i.dst, command_i.reserved1, command_i.reserved2,
                            command_i.index, command_i.commit};

endmodule
