// SPDX-License-Identifier: Apache-2.0
// What a micro-operation does with the values of its registers, pass by pass, in all lanes. See README.md.
module npu_vector_alu_execute #(
  parameter int unsigned Lanes = 8,
  parameter int unsigned Pairs = 0,  // a table's entry comes with the next one
  parameter int unsigned Float = 0,  // there is floating point
  localparam int unsigned Groups = Lanes / 4
) (
  input  logic                             clk_i,
  input  logic                             advance_i,  // to the next pass
  input  logic                             valid_i,
  input  npu_contract_pkg::uop_e           op_i,
  input  logic                       [5:0] pass_i,
  input  logic signed               [31:0] imm0_i,
  input  logic signed               [31:0] imm1_i,
  input  logic                             flag_i,     // of fclamp: a NaN is ignored
  input  logic signed               [31:0] low_i,      // limits of the result's type
  input  logic signed               [31:0] high_i,
  input  logic signed               [31:0] input_zp_i,
  input  logic signed               [31:0] output_zp_i,
  input  logic signed               [31:0] clamp_min_i,
  input  logic signed               [31:0] clamp_max_i,
  input  logic          [Lanes-1:0] [63:0] a_i,
  input  logic          [Lanes-1:0] [63:0] b_i,
  input  logic          [Lanes-1:0] [63:0] c_i,
  input  logic          [Lanes-1:0] [37:0] entry_i,    // of a RESCALE: shift, multiplier
  input  logic                             one_pass_i, // it takes, and so does a product with a shift
  input  logic                      [37:0] single_i,   // of a RESCALE in one pass: the entry of all lanes
  input  logic         [Groups-1:0] [15:0] lookup_i,   // entry of a table for one lane of each group
  input  logic         [Groups-1:0] [15:0] next_i,     // with pairs: the entry behind
  input  logic                             join_i,     // FP32 values meet, and no micro-operation is at work
  input  npu_contract_pkg::uop_e           join_op_i,
  input  logic                             join_ignore_nan_i,
  input  logic          [Lanes-1:0] [31:0] join_a_i,
  input  logic          [Lanes-1:0] [31:0] join_b_i,
  output logic          [Lanes-1:0] [31:0] joined_o,
  output logic          [Lanes-1:0] [63:0] result_o    // with the last pass
);
  npu_contract_pkg::element_e kept_type;
  logic single16, double32;
  assign kept_type = npu_contract_pkg::element_e'(imm0_i[7:0]);
  assign single16 = imm0_i[7:0] == 8'(npu_contract_pkg::RescaleSingle16);
  assign double32 = imm0_i[7:0] == 8'(npu_contract_pkg::RescaleDouble32);

  function automatic logic signed [63:0] half_of(logic [5:0] shift_arg);
    return (shift_arg == '0) ? '0 : 64'sd1 <<< (shift_arg - 6'd1);
  endfunction
  function automatic logic [63:0] magnitude(logic [31:0] value);
    return {32'd0, value[31] ? -value : value};
  endfunction
  function automatic logic [63:0] sign32(logic [31:0] value);
    return {{32{value[31]}}, value};
  endfunction

  // What passes hand on. Work: product, scaled value, remainder above the quotient, entry of a table. Side: divisor,
  // what is added to round, the next entry, slope times fraction.
  logic [Lanes-1:0] [63:0] work_q, work_d, side_q, side_d;
  logic multi_pass;
  always_ff @(posedge clk_i) begin
    if (advance_i && multi_pass) begin
      work_q <= work_d;
      side_q <= side_d;
    end
  end

  // Floating point; what meets otherwise takes the place of a micro-operation's values.
  if (Float != 0) begin : gen_float
    logic takes;
    npu_contract_pkg::uop_e float_op;
    npu_contract_pkg::element_e float_type;
    logic [31:0] choice;
    assign takes = join_i || (valid_i && op_i >= npu_contract_pkg::UopFadd);
    assign float_op = join_i ? join_op_i : op_i;
    assign float_type = join_i ? npu_contract_pkg::ElementF32 : kept_type;
    assign choice = join_i ? {31'd0, join_ignore_nan_i} : imm0_i;
    for (genvar i = 0; i < Lanes; i++) begin : gen_lane
      npu_float_lane u_lane (
        .valid_i(takes),
        .op_i(float_op),
        .type_i(float_type),
        .imm0_i(choice),
        .imm1_i(imm1_i),
        .flag_i,
        .a_i(join_i ? join_a_i[i] : a_i[i][31:0]),
        .b_i(join_i ? join_b_i[i] : b_i[i][31:0]),
        .c_i(c_i[i][31:0]),
        .result_o(joined_o[i])
      );
    end
  end else begin : gen_no_float
    assign joined_o = '0;
    logic unused_join;
    assign unused_join = ^{flag_i, join_i, join_op_i, join_ignore_nan_i, join_a_i, join_b_i};
  end

  // Of the lane at hand. The multiplier has 64 x 33 bits, of which the low 64 count.
  logic signed [63:0] a, b, work, side, work_next, side_next, result, product, moved, value, rounding, scaled;
  logic signed [32:0] factor;
  logic [32:0] remainder;
  logic [31:0] rest;
  logic [37:0] entry;
  logic [5:0] shift;
  logic [15:0] lookup;
  logic [1:0] place;
  always_comb begin
    work_d = work_q;
    side_d = side_q;
    result_o = a_i;  // load and store
    {a, b, work, side, work_next, side_next, result, product, moved, value, rounding, scaled} = '0;
    {factor, remainder, rest, entry, shift, lookup, place} = '0;
    multi_pass = 1'b0;
    if (valid_i && op_i > npu_contract_pkg::UopStore) begin
      multi_pass = op_i == npu_contract_pkg::UopMul || op_i == npu_contract_pkg::UopRescale ||
                   op_i == npu_contract_pkg::UopTable8 || op_i == npu_contract_pkg::UopTable16 ||
                   op_i == npu_contract_pkg::UopTable32 || op_i == npu_contract_pkg::UopIntdiv;
      for (int unsigned i = 0; i < Lanes; i++) begin
        a = a_i[i];
        b = b_i[i];
        work = work_q[i];
        side = side_q[i];
        work_next = work;
        side_next = side;
        result = a;
        shift = b[5:0];
        place = i[1:0];
        case (op_i)
          npu_contract_pkg::UopAdd: begin
            result = a + b;
            result = sign32(result[31:0]);
          end
          npu_contract_pkg::UopSub: begin
            result = a - b;
            result = sign32(result[31:0]);
          end
          npu_contract_pkg::UopMul: begin
            // Then the shift, in another pass or behind it.
            factor = 33'($signed(b[31:0]));
            product = a * 64'(factor);
            work_next = product;
            result = product;
            if (imm0_i[5:0] != '0) result = ((one_pass_i ? product : work) + half_of(imm0_i[5:0])) >>> imm0_i[5:0];
            result = sign32(result[31:0]);
          end
          npu_contract_pkg::UopMax: result = (a > b) ? a : b;
          npu_contract_pkg::UopMin: result = (a < b) ? a : b;
          npu_contract_pkg::UopClamp: result = npu_cast_pkg::limit(a, imm0_i, imm1_i);
          npu_contract_pkg::UopAbs: begin
            result = (a < 0) ? -a : a;
            result = sign32(result[31:0]);
          end
          npu_contract_pkg::UopNegate: begin
            result = npu_cast_pkg::limit(64'(imm1_i) - (a - 64'(imm0_i)), low_i, high_i);
          end
          npu_contract_pkg::UopClz: begin
            rest = a[31:0];
            result = (rest == '0) ? 64'sd32 : 64'sd0;
            if (rest != '0) begin
              if (rest[31:16] == '0) {result[4], rest} = {1'b1, rest << 16};
              if (rest[31:24] == '0) {result[3], rest} = {1'b1, rest << 8};
              if (rest[31:28] == '0) {result[2], rest} = {1'b1, rest << 4};
              if (rest[31:30] == '0) {result[1], rest} = {1'b1, rest << 2};
              result[0] = !rest[31];
            end
          end
          npu_contract_pkg::UopBitAnd: result = a & b;
          npu_contract_pkg::UopBitOr: result = a | b;
          npu_contract_pkg::UopBitXor: result = a ^ b;
          npu_contract_pkg::UopBitNot: result = ~a;
          npu_contract_pkg::UopShl: result = npu_cast_pkg::keep(kept_type, a << shift);
          npu_contract_pkg::UopShrLogical: begin
            result = npu_cast_pkg::keep(kept_type, npu_cast_pkg::mask(kept_type, a) >> shift);
          end
          npu_contract_pkg::UopCast: result = npu_cast_pkg::keep(kept_type, a);
          npu_contract_pkg::UopShrArith: begin
            // Rounding half up adds the last bit that falls off.
            result = a >>> shift;
            if (imm0_i[0] && shift != '0) result = result + 64'(a[shift-6'd1]);
          end
          npu_contract_pkg::UopEq: result = 64'(a == b);
          npu_contract_pkg::UopGt: result = 64'(a > b);
          npu_contract_pkg::UopGe: result = 64'(a >= b);
          npu_contract_pkg::UopSelect: result = (c_i[i] != '0) ? a : b;
          npu_contract_pkg::UopLogicalNot: result = 64'(a == '0);
          npu_contract_pkg::UopRescale: begin
            entry = one_pass_i ? single_i : entry_i[i];
            shift = entry[37:32];
            factor = single16 ? 33'($signed(entry[15:0])) : 33'($signed(entry[31:0]));
            // Each pass hands its part on; one pass is all parts, one behind the other.
            moved = a - 64'(input_zp_i);
            moved = single16 ? 64'($signed(moved[47:0])) : 64'($signed(moved[31:0]));
            value = one_pass_i ? moved : work;
            rounding = half_of(shift);
            if (double32 && shift > 6'd31) begin
              rounding = rounding + ((value < 0) ? -64'sd1073741824 : 64'sd1073741824);
            end
            product = value * 64'(factor);
            scaled = (one_pass_i ? product + rounding : work + side) >>> shift;
            case (pass_i[1:0])
              2'd0: work_next = moved;
              2'd1: {work_next, side_next} = {product, rounding};
              default: work_next = scaled;
            endcase
            result = one_pass_i ? scaled : work;
            result = sign32(result[31:0] + output_zp_i);
            result = npu_cast_pkg::limit(npu_cast_pkg::limit(result, low_i, high_i), clamp_min_i, clamp_max_i);
          end
          npu_contract_pkg::UopTable8: begin
            lookup = lookup_i[i/4];
            if (pass_i[1:0] == place) work_next = 64'($signed(lookup));
            result = work_next;
          end
          npu_contract_pkg::UopTable16: begin
            lookup = lookup_i[i/4];
            // Beyond the ends of the table the fraction is that of the end.
            factor = {26'd0, (a < -64'sd32768) ? 7'd0 : (a > 64'sd32767) ? 7'd127 : a[6:0]};
            product = (side - work) * 64'(factor);
            if (Pairs != 0) begin
              if (pass_i == {4'd0, place}) {work_next, side_next} = {64'($signed(lookup)), 64'($signed(next_i[i/4]))};
              result = (work <<< 7) + product;
            end else begin
              if (pass_i >= 6'd8) side_next = product;
              else if (pass_i[2:0] == {place, 1'b0}) work_next = 64'($signed(lookup));
              else if (pass_i[2:0] == {place, 1'b1}) side_next = 64'($signed(lookup));
              result = (work <<< 7) + side;
            end
          end
          npu_contract_pkg::UopTable32: begin
            lookup = lookup_i[i/4];
            if (Pairs != 0) begin
              if (pass_i[1:0] == place) work_next = sign32({next_i[i/4], lookup});
            end else begin
              if (pass_i[2:0] == {place, 1'b0}) work_next = {48'd0, lookup};
              else if (pass_i[2:0] == {place, 1'b1}) work_next = sign32({lookup, work[15:0]});
            end
            result = work_next;
          end
          npu_contract_pkg::UopIntdiv: begin
            // Magnitudes, a bit of the quotient a pass, sign.
            remainder = work[63:31];
            if (pass_i == '0) begin
              work_next = magnitude(a[31:0]);
              side_next = magnitude(b[31:0]);
            end else if (remainder >= {1'b0, side[31:0]}) begin
              remainder = remainder - {1'b0, side[31:0]};
              work_next = {remainder[31:0], work[30:0], 1'b1};
            end else begin
              work_next = {remainder[31:0], work[30:0], 1'b0};
            end
            result = (side[31:0] == '0) ? '0 : sign32((a[31] != b[31]) ? -work[31:0] : work[31:0]);
          end
          default: if (Float != 0) result = sign32(joined_o[i]);
        endcase
        result_o[i] = result;
        if (multi_pass) begin
          work_d[i] = work_next;
          side_d[i] = side_next;
        end
      end
    end
  end

endmodule
