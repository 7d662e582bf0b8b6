// SPDX-License-Identifier: Apache-2.0
// The addresses of a DMA command: a walker for each side, and the pattern of a fill. See README.md.
module npu_dma_address #(
  parameter int unsigned PortBytes = 16,
  parameter int unsigned AddressWidth = 40,
  localparam int unsigned BytesWidth = $clog2(PortBytes + 1)
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,

  input  logic                           start_valid_i,
  output logic                           start_ready_o,
  input  npu_contract_pkg::dma_command_t command_i,
  input  logic [AddressWidth-1:0]        src_base_i,  // addresses of the first runs, checked
  input  logic [AddressWidth-1:0]        dst_base_i,

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
  logic fills, src_start_ready, dst_start_ready;
  assign fills = command_i.mode == npu_contract_pkg::DmaModeFill;
  assign start_ready_o = src_start_ready && dst_start_ready;

  logic [2:0] unused_phase;
  npu_dma_walk #(.PortBytes(PortBytes), .AddressWidth(AddressWidth)) u_src (
    .clk_i,
    .rst_ni,
    .start_valid_i(start_valid_i && start_ready_o && !fills),
    .start_ready_o(src_start_ready),
    .base_i(src_base_i),
    .run_bytes_i(command_i.run_bytes),
    .count_i(command_i.count),
    .stride_i(command_i.src_stride),
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
    .count_i(command_i.count),
    .stride_i(command_i.dst_stride),
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
                            command_i.reserved3, command_i.reserved4, command_i.commit};

endmodule
