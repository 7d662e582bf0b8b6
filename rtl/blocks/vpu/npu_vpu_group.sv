// SPDX-License-Identifier: Apache-2.0
// Which micro-operations of a program take their passes together (timing::uop_groups); combinational.
module npu_vpu_group #(
  parameter int unsigned Rescale = 0,  // one with one entry takes one pass, and a product with a shift
  parameter int unsigned Pairs = 0,    // a table's entry comes with the next one
  parameter int unsigned Shared = 0  // loads and stores may share a pass with what computes
) (
  input  npu_contract_pkg::uop_t     [2:0] uops_i,   // the next ones
  input  logic                       [2:0] there_i,  // the program has them
  input  npu_contract_pkg::element_e [7:0] types_i,  // of operands
  output npu_contract_pkg::uop_t           owner_o,  // whose passes they are
  output logic                       [5:0] last_o,   // number of the last pass
  output logic                             load_o,   // a load shares the first one
  output logic                             store_o,  // a store shares the last one
  output npu_contract_pkg::uop_t           store_uop_o,
  output logic                       [1:0] count_o   // micro-operations
);
  npu_contract_pkg::uop_t head, follower;
  logic follows;
  assign head = uops_i[0];

  function automatic logic computes(npu_contract_pkg::uop_e op_arg);
    return op_arg != npu_contract_pkg::UopLoad && op_arg != npu_contract_pkg::UopStore;
  endfunction
  function automatic logic may_share(npu_contract_pkg::element_e type_arg);
    return Shared != 0 && type_arg != npu_contract_pkg::ElementI48;
  endfunction

  assign load_o = head.op == npu_contract_pkg::UopLoad && may_share(types_i[head.a[2:0]]) && there_i[1] &&
                  computes(uops_i[1].op) && uops_i[1].dst == head.dst;
  assign owner_o = load_o ? uops_i[1] : head;
  assign follower = load_o ? uops_i[2] : uops_i[1];
  assign follows = load_o ? there_i[2] : there_i[1];
  // A pass asks once.
  assign store_o = computes(owner_o.op) && follows && follower.op == npu_contract_pkg::UopStore &&
                   follower.a == owner_o.dst && may_share(types_i[follower.b[2:0]]) && !(load_o && last_o == '0);
  assign store_uop_o = store_o ? follower : owner_o;
  assign count_o = 2'd1 + 2'(load_o) + 2'(store_o);

  logic [2:0] operand;  // of an owner that is a load or a store
  npu_contract_pkg::element_e owner_type;
  assign operand = (owner_o.op == npu_contract_pkg::UopStore) ? owner_o.b[2:0] : owner_o.a[2:0];
  assign owner_type = types_i[operand];
  npu_vpu_passes #(.Rescale(Rescale), .Pairs(Pairs)) u_passes (
    .op_i(owner_o.op),
    .wide_i(owner_type == npu_contract_pkg::ElementI48),
    .shifted_i(owner_o.imm0 != '0),
    .channels_i(owner_o.imm0[8]),
    .last_o
  );
endmodule
