// SPDX-License-Identifier: Apache-2.0
// Accumulators that fold one vector of values after the other, and then, level by level, each other. See README.md.
module npu_reduce #(
  parameter int unsigned Lanes = 8,
  parameter int unsigned Tree = 0,  // a vector can be folded in one pass
  parameter int unsigned Float = 0,  // values may be FP32
  localparam int unsigned LaneBits = $clog2(Lanes)
) (
  input  logic                           clk_i,
  input  logic                           advance_i,
  input  npu_contract_pkg::reduce_op_e   op_i,
  input  logic                           fold_i,    // values into the accumulators
  input  logic                           tree_i,    // accumulator i + 2^level into i
  input  logic                           whole_i,   // fold: all lanes at once, into accumulator `level_i`
  input  logic                           first_i,   // fold: of a result
  input  logic                           second_i,  // pass of argmax: select
  input  logic            [LaneBits-1:0] level_i,
  input  logic              [LaneBits:0] used_i,    // tree: lanes that hold something
  input  logic                    [31:0] init_i,    // of lanes without a value in the first vector
  input  logic                    [31:0] index_i,   // argmax: of lane 0
  input  logic                           spread_i,  // argmax: lanes hold neighbours, else all the same index
  input  logic               [Lanes-1:0] lanes_i,   // that have a value
  input  logic        [Lanes-1:0] [31:0] value_i,
  // FP32: what meets goes out, and comes back joined.
  input  logic                           float_i,
  input  logic                           ignore_nan_i,
  input  logic                           zero_i,    // a result is joined to +0 first
  output logic        [Lanes-1:0] [31:0] join_a_o,
  output logic        [Lanes-1:0] [31:0] join_b_o,
  input  logic        [Lanes-1:0] [31:0] joined_i,
  output logic        [Lanes-1:0] [31:0] result_o   // registered
);
  logic [Lanes-1:0] [31:0] acc_q, best_q, other, other_index, met, entering;
  logic [Lanes-1:0] greater_q, holds;
  logic argmax, floats;
  assign argmax = op_i == npu_contract_pkg::ReduceOpArgmax;
  assign floats = Float != 0 && float_i;
  assign result_o = argmax ? best_q : acc_q;

  // What each lane meets: a value, or the accumulator a number of lanes away. Here and below, a simulation reckons all
  // that a function's own conditions do not spare it.
  function automatic logic [Lanes-1:0] [31:0] met_by(logic [Lanes-1:0] [31:0] accumulators,
                                                     logic [Lanes-1:0] [31:0] from_outside);
    met_by = from_outside;
    if (tree_i) met_by = accumulators >> {LaneBits'(1) << level_i, 5'd0};
  endfunction
  function automatic logic [Lanes-1:0] [31:0] counted(logic [31:0] from, logic neighbours);
    for (int unsigned i = 0; i < Lanes; i++) counted[i] = neighbours ? from + 32'(i) : from;
  endfunction
  always_comb begin
    other = met_by(acc_q, entering);
    other_index = met_by(best_q, counted(index_i, spread_i));
  end

  logic [Lanes-1:0] meets;
  for (genvar i = 0; i < Lanes; i++) begin : gen_meets
    assign meets[i] = Tree != 0 && whole_i ? LaneBits'(i) == level_i
                      : tree_i ? 32'(i) + (32'd1 << level_i) < 32'(used_i) : lanes_i[i];
  end

  function automatic logic [31:0] joined(logic signed [31:0] one, logic signed [31:0] next);
    case (op_i)
      npu_contract_pkg::ReduceOpSum: joined = one + next;
      npu_contract_pkg::ReduceOpMin, npu_contract_pkg::ReduceOpAll: joined = (one < next) ? one : next;
      default: joined = (one > next) ? one : next;
    endcase
  endfunction
  function automatic logic [31:0] folded(logic signed [31:0] acc, logic signed [31:0] value);
    case (op_i)
      npu_contract_pkg::ReduceOpProduct: folded = acc * value;
      default: folded = joined(acc, value);
    endcase
  endfunction

  // All values of a vector; lanes without one hold what changes no other. Not for products and argmax.
  if (Tree != 0) begin : gen_tree
    logic at_once;
    assign at_once = whole_i && fold_i;
    function automatic logic [31:0] whole();
      logic [Lanes-1:0] [31:0] values;
      values = '0;
      if (at_once && !floats) begin
        for (int unsigned i = 0; i < Lanes; i++) begin
          case (op_i)
            npu_contract_pkg::ReduceOpSum: values[i] = '0;
            npu_contract_pkg::ReduceOpMin, npu_contract_pkg::ReduceOpAll: values[i] = 32'h7fff_ffff;
            default: values[i] = 32'h8000_0000;
          endcase
          if (lanes_i[i]) values[i] = value_i[i];
        end
        for (int unsigned width = Lanes / 2; width > 0; width = width / 2) begin
          for (int unsigned i = 0; i < width; i++) values[i] = joined(values[i], values[i+width]);
        end
      end
      whole = values[0];
    endfunction
    logic [31:0] all;
    if (Float != 0) begin : gen_float
      // Lanes with a value are the first ones: no value meets a lane without one.
      function automatic logic [31:0] whole_float();
        logic [Lanes-1:0] [31:0] values;
        values = '0;
        if (at_once && floats) begin
          values = value_i;
          for (int unsigned width = Lanes / 2; width > 0; width = width / 2) begin
            for (int unsigned i = 0; i < width; i++) begin
              if (lanes_i[i+width]) begin
                if (op_i == npu_contract_pkg::ReduceOpSum) begin
                  values[i] = npu_float_pkg::add(values[i], values[i+width]);
                end else begin
                  values[i] = npu_float_pkg::better(op_i == npu_contract_pkg::ReduceOpMax, ignore_nan_i, values[i],
                                                    values[i+width]);
                end
              end
            end
          end
        end
        whole_float = values[0];
      endfunction
      always_comb all = floats ? whole_float() : whole();
    end else begin : gen_integer
      always_comb all = whole();
    end
    assign met = whole_i ? {Lanes{all}} : other;
  end else begin : gen_no_tree
    assign met = other;
    logic unused_whole;
    assign unused_whole = whole_i;
  end

  // FP32. Of argmax, integers of the same order meet. The first value of a lane stands for itself, for no number would
  // let a NaN that is ignored stay.
  if (Float != 0) begin : gen_float
    logic [Lanes-1:0] holds_q;
    always_ff @(posedge clk_i) begin
      if (advance_i && (fold_i || tree_i)) holds_q <= (first_i ? '0 : holds_q) | meets;
    end
    assign holds = first_i ? '0 : holds_q;
    assign join_a_o = (first_i && zero_i) ? '0 : acc_q;
    assign join_b_o = met;
    function automatic logic [Lanes-1:0] [31:0] entered();
      entered = value_i;
      if (floats && argmax) begin
        for (int unsigned i = 0; i < Lanes; i++) entered[i] = npu_float_pkg::order(ignore_nan_i, value_i[i]);
      end
    endfunction
    always_comb entering = entered();
  end else begin : gen_no_float
    assign holds = '1;
    assign entering = value_i;
    assign join_a_o = '0;
    assign join_b_o = '0;
    logic unused_float;
    assign unused_float = ^{float_i, ignore_nan_i, zero_i, joined_i, holds};
  end

  // Of equal values the one that comes first counts.
  function automatic logic wins(logic signed [31:0] value, logic [31:0] index, logic signed [31:0] acc,
                                logic [31:0] best);
    return value > acc || (value == acc && index < best);
  endfunction

  function automatic logic [Lanes-1:0] [31:0] next_acc();
    for (int unsigned i = 0; i < Lanes; i++) begin
      next_acc[i] = acc_q[i];
      if (first_i && !lanes_i[i] && !(Tree != 0 && whole_i)) next_acc[i] = init_i;
      else if (meets[i] && (first_i || (argmax && greater_q[i]))) next_acc[i] = met[i];
      else if (meets[i] && !argmax) next_acc[i] = folded(acc_q[i], met[i]);
      if (floats && !argmax && meets[i]) next_acc[i] = (holds[i] || zero_i) ? joined_i[i] : met[i];
    end
  endfunction
  function automatic logic [Lanes-1:0] next_greater();
    for (int unsigned i = 0; i < Lanes; i++) begin
      next_greater[i] = first_i || (meets[i] && wins(other[i], other_index[i], acc_q[i], best_q[i]));
    end
  endfunction
  function automatic logic [Lanes-1:0] [31:0] next_best();
    for (int unsigned i = 0; i < Lanes; i++) next_best[i] = greater_q[i] ? other_index[i] : best_q[i];
  endfunction

  always_ff @(posedge clk_i) begin
    if (advance_i && (fold_i || tree_i)) begin
      if (argmax && !second_i) begin
        greater_q <= next_greater();
      end else begin
        acc_q <= next_acc();
        if (argmax) best_q <= next_best();
      end
    end
  end

endmodule
