// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/mutate_attributes.h"

#include "driver/graph/operators.h"

namespace npu::fuzz {
namespace {

using graph::Attributes;
using graph::Block;
using graph::Graph;
using graph::Operator;

void change_list(std::vector<int32_t>& list, Draw& draw) {
  if (list.empty() || draw.one_in(16)) {
    list.push_back(draw.signed_number());
  } else if (draw.one_in(4)) {
    std::swap(draw.any(list), draw.any(list));
  } else {
    draw.any(list) = draw.signed_number();
  }
}

void change_bytes(std::vector<uint8_t>& bytes, Draw& draw) {
  if (!bytes.empty()) {
    draw.any(bytes) = static_cast<uint8_t>(draw.next());
  }
}

void change_rescale(Attributes& a, Draw& draw) {
  switch (draw.below(5)) {
    case 0:
      a.scale32 = !a.scale32;
      break;
    case 1:
      a.rounding_mode = static_cast<graph::RoundingMode>(1 + draw.below(3));
      break;
    case 2:
      a.per_channel = !a.per_channel;
      break;
    case 3:
      a.input_unsigned = !a.input_unsigned;
      break;
    default:
      a.output_unsigned = !a.output_unsigned;
  }
}

bool change_attribute_of(Graph& graph, Operator& op, graph::AttributeSet which, Draw& draw) {
  if ((graph::info(op.op).attributes & which) == 0) {
    return false;
  }
  Attributes& a = op.attributes;
  switch (which) {
    case graph::kHasAxis:
      a.axis = draw.signed_number();
      break;
    case graph::kHasKernel:
      change_list(a.kernel, draw);
      break;
    case graph::kHasStride:
      change_list(a.stride, draw);
      break;
    case graph::kHasPad:
      change_list(a.pad, draw);
      break;
    case graph::kHasDilation:
      change_list(a.dilation, draw);
      break;
    case graph::kHasOutPad:
      change_list(a.out_pad, draw);
      break;
    case graph::kHasPerms:
      change_list(a.perms, draw);
      break;
    case graph::kHasAccType:
      a.acc_type = draw.any(kTypes);
      break;
    case graph::kHasLimits:
      change_bytes(draw.one_in(2) ? a.min_val : a.max_val, draw);
      break;
    case graph::kHasNanMode:
      a.nan_mode = draw.one_in(2) ? graph::NanMode::kIgnore : graph::NanMode::kPropagate;
      break;
    case graph::kHasRound:
      a.round = !a.round;
      break;
    case graph::kHasResizeMode:
      a.resize_mode = draw.one_in(2) ? graph::ResizeMode::kNearest : graph::ResizeMode::kBilinear;
      break;
    case graph::kHasRescale:
      change_rescale(a, draw);
      break;
    case graph::kHasInverse:
      a.inverse = !a.inverse;
      break;
    case graph::kHasAllowBroadcast:
      a.allow_broadcast = !a.allow_broadcast;
      break;
    case graph::kHasBranches:
      (draw.one_in(2) ? a.then_graph : a.else_graph) = draw.any(graph.regions).name;
      break;
    case graph::kHasLoop:
      (draw.one_in(2) ? a.cond_graph : a.body_graph) = draw.any(graph.regions).name;
      break;
    case graph::kHasCustom:
      change_bytes(a.custom_attributes, draw);
      break;
    default:
      a.local_bound = !a.local_bound;
  }
  return true;
}

}  // namespace

void change_attribute(Graph& graph, Block& block, Draw& draw) {
  std::vector<Operator*> candidates;
  for (Operator& op : block.operators) {
    if (graph::info(op.op).attributes != 0) {
      candidates.push_back(&op);
    }
  }
  if (candidates.empty()) {
    return;
  }
  Operator& op = *draw.any(candidates);
  // Until one hits an attribute that the operator has.
  for (int tries = 0; tries < 8 && !change_attribute_of(graph, op, 1u << draw.below(18), draw); ++tries) {
  }
}

}  // namespace npu::fuzz
