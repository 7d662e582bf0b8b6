// SPDX-License-Identifier: Apache-2.0
// The lanes of the VPU, from register read to register write; one micro-operation's pass a cycle in each stage. See
// README.md.
`include "npu_assert.svh"

module npu_vector_alu #(
  parameter int unsigned Lanes = 8,
  parameter int unsigned Registers = 16,
  parameter int unsigned Rescale = 0,  // one with one entry takes one pass, and a product with a shift
  parameter int unsigned Pairs = 0,    // a table's entry comes with the next one
  parameter int unsigned Float = 0,    // there is floating point
  localparam int unsigned Groups = Lanes / 4,
  localparam int unsigned RegBits = $clog2(Registers)
) (
  input  logic                                clk_i,
  input  logic                                rst_ni,
  input  logic                                advance_i,  // all stages move

  // Entries of a RESCALE, a lane of each group a cycle: the first one three cycles before the first pass in register
  // read. In one pass there is one entry, in all groups.
  input  logic                                entry_take_i,
  input  logic                          [1:0] entry_place_i,
  input  logic          [Groups-1:0]   [63:0] entry_i,

  // Register read.
  input  logic                                valid_i,
  input  logic                                first_i,  // pass of the micro-operation
  input  logic                                last_i,
  input  logic                          [5:0] pass_i,
  input  npu_contract_pkg::uop_t              uop_i,
  input  logic                                shares_i,  // reads what is loaded in place of register dst
  input  npu_contract_pkg::parameter_header_t header_i,  // of a RESCALE
  input  logic            [Lanes-1:0]  [63:0] data_i,    // of a load, or of one that shares the pass

  // Execute: tables.
  output logic                                lookup_o,
  output logic                                lookup_wide_o,
  output logic                          [7:0] lookup_operand_o,
  output logic          [Groups-1:0]   [10:0] lookup_offset_o,
  input  logic          [Groups-1:0]   [15:0] lookup_i,
  input  logic          [Groups-1:0]   [15:0] next_i,     // with pairs: the entry behind

  // Execute: FP32 values that meet by `join_op_i`, beside passes that compute nothing.
  input  logic                                join_i,
  input  npu_contract_pkg::uop_e              join_op_i,
  input  logic                                join_ignore_nan_i,
  input  logic            [Lanes-1:0]  [31:0] join_a_i,
  input  logic            [Lanes-1:0]  [31:0] join_b_i,
  output logic            [Lanes-1:0]  [31:0] joined_o,

  // Execute: values of register a, or what was loaded. Register write: the result.
  output logic            [Lanes-1:0]  [63:0] value_o,
  output logic            [Lanes-1:0]  [63:0] result_o
);
  if (Lanes % 4 != 0) begin : gen_lanes
    $error("npu_vector_alu: Lanes must be a multiple of 4");
  end

  // Execute and register write. A micro-operation writes its register behind its last pass.
  logic x_valid_q, x_writes_q, w_writes_q, writes;
  logic [5:0] x_pass_q;
  npu_contract_pkg::uop_t x_uop_q;
  npu_contract_pkg::parameter_header_t x_header_q;
  logic [RegBits-1:0] w_dst_q;
  assign writes = uop_i.op != npu_contract_pkg::UopStore;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      x_valid_q <= 1'b0;
      x_writes_q <= 1'b0;
      w_writes_q <= 1'b0;
    end else if (advance_i) begin
      x_valid_q <= valid_i;
      x_writes_q <= valid_i && last_i && writes;
      w_writes_q <= x_writes_q;
    end
  end
  always_ff @(posedge clk_i) begin
    if (advance_i) begin
      x_pass_q <= pass_i;
      x_uop_q <= uop_i;
      x_header_q <= header_i;
      w_dst_q <= x_uop_q.dst[RegBits-1:0];
    end
  end

  // Registers, and results that are not there yet.
  logic [Lanes-1:0] [63:0] registers_q [Registers];
  logic [Lanes-1:0] [63:0] a_q, b_q, c_q, result_d, result_q;
  logic load;
  logic [RegBits-1:0] x_dst, dst, a, b, c;
  assign load = uop_i.op == npu_contract_pkg::UopLoad;
  assign x_dst = x_uop_q.dst[RegBits-1:0];
  assign dst = uop_i.dst[RegBits-1:0];
  assign a = uop_i.a[RegBits-1:0];
  assign b = uop_i.b[RegBits-1:0];
  assign c = uop_i.imm0[RegBits-1:0];
  always_ff @(posedge clk_i) begin
    if (advance_i) begin
      if (w_writes_q) registers_q[w_dst_q] <= result_q;
      if (x_valid_q) result_q <= result_d;
      if (valid_i && load) begin
        a_q <= data_i;
      end else if (valid_i && first_i) begin
        if (shares_i && dst == a) a_q <= data_i;
        else if (x_writes_q && x_dst == a) a_q <= result_d;
        else if (w_writes_q && w_dst_q == a) a_q <= result_q;
        else a_q <= registers_q[a];
        if (shares_i && dst == b) b_q <= data_i;
        else if (x_writes_q && x_dst == b) b_q <= result_d;
        else if (w_writes_q && w_dst_q == b) b_q <= result_q;
        else b_q <= registers_q[b];
        if (uop_i.op == npu_contract_pkg::UopSelect || (Float != 0 && uop_i.op == npu_contract_pkg::UopFma)) begin
          if (shares_i && dst == c) c_q <= data_i;
          else if (x_writes_q && x_dst == c) c_q <= result_d;
          else if (w_writes_q && w_dst_q == c) c_q <= result_q;
          else c_q <= registers_q[c];
        end
      end
    end
  end
  assign value_o = a_q;
  assign result_o = result_q;

  // The next RESCALE's entries come while one executes: it keeps its own.
  logic [Lanes-1:0] [37:0] entry_q, x_entry_q;
  logic rescale;
  assign rescale = x_uop_q.op == npu_contract_pkg::UopRescale;
  always_ff @(posedge clk_i) begin
    if (advance_i && entry_take_i) begin
      for (int unsigned g = 0; g < Groups; g++) entry_q[4*g+32'(entry_place_i)] <= entry_i[g][37:0];
    end
    if (advance_i && rescale && x_pass_q == '0) x_entry_q <= entry_q;
  end

  // One entry for all lanes goes with its pass, from address to execute.
  localparam int unsigned Stages = 4;
  logic one_pass;
  logic [37:0] single;
  if (Rescale != 0) begin : gen_rescale
    logic [Stages-1:0] [37:0] single_q;
    always_ff @(posedge clk_i) if (advance_i) single_q <= {single_q[Stages-2:0], entry_i[0][37:0]};
    assign one_pass = !x_uop_q.imm0[8];  // a shift is below 64
    assign single = single_q[Stages-1];
  end else begin : gen_no_rescale
    assign one_pass = 1'b0;
    assign single = '0;
  end

  // A lane of each group looks its value up: int8 once a lane, int16 and halves of 32 bits twice, but in pairs once.
  localparam logic [5:0] Lookups = (Pairs != 0) ? 6'd4 : 6'd8;
  logic lookup_twice, lookup_halves;
  logic [1:0] lookup_place;
  assign lookup_twice = Pairs == 0 && lookup_wide_o;
  assign lookup_halves = x_uop_q.op == npu_contract_pkg::UopTable32;
  assign lookup_wide_o = x_uop_q.op == npu_contract_pkg::UopTable16 || lookup_halves;
  assign lookup_o = x_valid_q && (x_uop_q.op == npu_contract_pkg::UopTable8 || (lookup_wide_o && x_pass_q < Lookups));
  assign lookup_operand_o = x_uop_q.b;
  assign lookup_place = lookup_twice ? x_pass_q[2:1] : x_pass_q[1:0];
  always_comb begin
    lookup_offset_o = '0;
    if (lookup_o) begin
      for (int unsigned g = 0; g < Groups; g++) begin
        lookup_offset_o[g] = npu_table_pkg::offset(lookup_wide_o, lookup_twice && x_pass_q[0],
                                                   a_q[4*g+32'(lookup_place)]);
        if (lookup_halves) begin
          lookup_offset_o[g] = npu_table_pkg::offset32(lookup_twice && x_pass_q[0], a_q[4*g+32'(lookup_place)],
                                                       x_uop_q.imm0);
        end
      end
    end
  end

  npu_contract_pkg::element_e limit_type;
  logic no_sign;
  assign limit_type = npu_contract_pkg::element_e'(rescale ? x_uop_q.imm0[23:16] : x_uop_q.b);
  assign no_sign = rescale && x_uop_q.imm0[24];
  npu_vector_alu_execute #(.Lanes(Lanes), .Pairs(Pairs), .Float(Float)) u_execute (
    .clk_i,
    .advance_i,
    .valid_i(x_valid_q),
    .op_i(x_uop_q.op),
    .pass_i(x_pass_q),
    .imm0_i(x_uop_q.imm0),
    .imm1_i(x_uop_q.imm1),
    .flag_i(x_uop_q.b[0]),
    .low_i(npu_cast_pkg::low(limit_type, no_sign)),
    .high_i(npu_cast_pkg::high(limit_type, no_sign)),
    .input_zp_i(x_header_q.input_zp),
    .output_zp_i(x_header_q.output_zp),
    .clamp_min_i(x_header_q.clamp_min),
    .clamp_max_i(x_header_q.clamp_max),
    .a_i(a_q),
    .b_i(b_q),
    .c_i(c_q),
    .entry_i(x_entry_q),
    .one_pass_i(one_pass),
    .single_i(single),
    .lookup_i,
    .next_i,
    .join_i,
    .join_op_i,
    .join_ignore_nan_i,
    .join_a_i,
    .join_b_i,
    .joined_o,
    .result_o(result_d)
  );

  `NPU_ASSUME(RegistersInRange, !valid_i || !writes || uop_i.dst < 8'(Registers))

endmodule
