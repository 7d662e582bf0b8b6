// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/lower/parameters.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "driver/compiler/lower/ewise_step.h"
#include "driver/compiler/parameter_block.h"
#include "hw/contract/error.h"

namespace npu::compiler {
namespace {

using contract::ParameterEntry;
using contract::ParameterHeader;
using contract::UopCode;

// Stores elements into fields of a block, one field after the other in one step of the VPU, which extends them.
class FieldWriter {
 public:
  FieldWriter(Emitter& emitter, int64_t count) : emitter_(emitter) {
    step_.dims = {count};
    step_.register_count = 1;
  }

  void store(const std::optional<RunTimeField>& from, const View& field) {
    if (!from) return;
    View source = emitter_.read_dense(from->tensor);
    const int64_t elements = product(source.dims);
    NPU_CHECK(elements == 1 || elements == step_.dims[0]);
    source.dims = step_.dims;
    source.strides = {elements == 1 ? 0 : int64_t{contract::element_bytes(source.type)}};
    const auto operand = static_cast<uint32_t>(step_.operands.size());
    step_.operands.push_back({std::move(source), false, false});
    step_.operands.push_back({field, false, true});
    step_.uops.push_back({UopCode::kLoad, 0, operand, 0, from->is_unsigned ? 1 : 0, 0});
    step_.uops.push_back({UopCode::kStore, 0, 0, operand + 1, 0, 0});
  }

  void finish() {
    if (step_.operands.empty()) return;
    merge_dimensions(step_);
    emitter_.add(std::move(step_));
  }

 private:
  Emitter& emitter_;
  EwiseStep step_;
};

}  // namespace

void set_zero_point(const Facts& facts, graph::TensorId zero_point, bool is_unsigned, int32_t& known,
                    std::optional<RunTimeField>& run_time) {
  if (graph::float_format(facts.tensor(zero_point).type)) return;  // it is 0, and does not count
  const Constant* value = facts.constant(zero_point);
  if (value == nullptr) {
    run_time = RunTimeField{zero_point, is_unsigned};
  } else if (!is_unsigned) {
    known = static_cast<int32_t>(value->at(0));
  } else {
    known = facts.tensor(zero_point).type == graph::DType::kInt8 ? static_cast<uint8_t>(value->at(0))
                                                                 : static_cast<uint16_t>(value->at(0));
  }
}

contract::Rescale rescale_kind(const graph::Operator& op) {
  if (!op.attributes.scale32) return contract::Rescale::kSingle16;
  return op.attributes.rounding_mode == graph::RoundingMode::kDoubleRound ? contract::Rescale::kDouble32
                                                                          : contract::Rescale::kSingle32;
}

BlockParams rescale_params(const Facts& facts, const graph::Operator& op) {
  BlockParams params;
  contract::ParameterHeader& header = params.known.header;
  set_zero_point(facts, op.inputs[3], op.attributes.input_unsigned, header.input_zp, params.input_zp);
  set_zero_point(facts, op.inputs[4], op.attributes.output_unsigned, header.output_zp, params.output_zp);
  header.clamp_min = INT32_MIN;
  header.clamp_max = INT32_MAX;
  const Constant *multiplier = facts.constant(op.inputs[1]), *shift = facts.constant(op.inputs[2]);
  if (multiplier == nullptr) params.multiplier = RunTimeField{op.inputs[1]};
  if (shift == nullptr) params.shift = RunTimeField{op.inputs[2]};
  const int64_t count = op.attributes.per_channel ? facts.tensor(op.inputs[1]).shape[0] : 1;
  for (int64_t i = 0; i < count; ++i) {
    contract::ParameterEntry& entry = params.known.entries.emplace_back();
    if (multiplier != nullptr) entry.multiplier = static_cast<int32_t>(multiplier->at(i));
    if (shift != nullptr) entry.shift = static_cast<int32_t>(shift->at(i));
  }
  return params;
}

bool same_rescale(const BlockParams& a, const BlockParams& b) {
  const auto header = [](const BlockParams& p) {
    const ParameterHeader& h = p.known.header;
    return std::make_tuple(h.input_zp, h.output_zp, h.clamp_min, h.clamp_max);
  };
  const auto run_time = [](const BlockParams& p) { return std::tie(p.input_zp, p.output_zp, p.multiplier, p.shift); };
  const std::vector<ParameterEntry>&x = a.known.entries, &y = b.known.entries;
  return header(a) == header(b) && run_time(a) == run_time(b) && x.size() == y.size() &&
         std::equal(x.begin(), x.end(), y.begin(), [](const ParameterEntry& one, const ParameterEntry& other) {
           return one.multiplier == other.multiplier && one.shift == other.shift;
         });
}

View parameter_block(Emitter& emitter, const BlockParams& params) {
  const View known = emitter.constant_blob(bytes_of_params(params.known));
  if (!params.at_run_time()) return known;
  const View block = emitter.intermediate("parameters", known.type, known.dims);
  emitter.add_copy(known, block);
  FieldWriter header(emitter, 1), entries(emitter, entries_of_block(block));
  header.store(params.input_zp, header_field(block, &ParameterHeader::input_zp));
  header.store(params.weight_zp, header_field(block, &ParameterHeader::weight_zp));
  header.store(params.output_zp, header_field(block, &ParameterHeader::output_zp));
  header.finish();
  entries.store(params.bias, entry_field(block, &ParameterEntry::bias));
  entries.store(params.multiplier, entry_field(block, &ParameterEntry::multiplier));
  entries.store(params.shift, entry_field(block, &ParameterEntry::shift));
  entries.finish();
  return block;
}

View repeated_block(Emitter& emitter, const View& block, int64_t times) {
  const int64_t count = entries_of_block(block);
  const View repeated = emitter.intermediate("parameters", block.type, {bytes_of_block(count * times)});
  emitter.add_copy(block_header(block), block_header(repeated));
  View from = block_entries(block, 0, count), to = block_entries(repeated, 0, count);
  for (View* entries : {&from, &to}) entries->dims.insert(entries->dims.begin(), times);
  from.strides.insert(from.strides.begin(), 0);
  to.strides.insert(to.strides.begin(), count * int64_t{ParameterEntry::kBytes});
  emitter.add_copy(std::move(from), std::move(to));
  return repeated;
}

void set_params(Emitter& emitter, BlockParams params, MxuStep& step) {
  if (params.at_run_time()) step.block = parameter_block(emitter, params);
  step.params = std::move(params.known);
}

}  // namespace npu::compiler
