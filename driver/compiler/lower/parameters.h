// SPDX-License-Identifier: Apache-2.0
// Parameter blocks of operators. Zero points, biases, multipliers and shifts that are constants lie in the program;
// those that are known at run time only (EXT-DYNAMIC) are put into a copy of the block before it is used. Engines keep
// of values outside of the operator's conditions what their fields hold (hw/engine/channel_params.h): the results are
// then unpredictable, as the specification has it, and nothing else is.
#pragma once

#include <optional>

#include "driver/compiler/ir.h"
#include "driver/compiler/lower/emitter.h"
#include "driver/compiler/lower/facts.h"

namespace npu::compiler {

// A tensor of one element, or of one for each entry, that a field of the block takes its value from.
struct RunTimeField {
  graph::TensorId tensor = 0;
  bool is_unsigned = false;  // the tensor's bits are an unsigned number
  friend bool operator==(const RunTimeField&, const RunTimeField&) = default;
};

struct BlockParams {
  Params known;  // fields below that are set do not count
  std::optional<RunTimeField> input_zp, weight_zp, output_zp, bias, multiplier, shift;

  [[nodiscard]] bool at_run_time() const { return input_zp || weight_zp || output_zp || bias || multiplier || shift; }
};

// Puts a zero point, of one element, into the field or beside it. One of an unsigned tensor is stored in the bits of
// the signed type.
void set_zero_point(const Facts& facts, graph::TensorId zero_point, bool is_unsigned, int32_t& known,
                    std::optional<RunTimeField>& run_time);

// How a RESCALE maps to a parameter block; the operator must have passed its family's check.
[[nodiscard]] BlockParams rescale_params(const Facts& facts, const graph::Operator& op);
// The width of its multiplier and how it rounds.
[[nodiscard]] contract::Rescale rescale_kind(const graph::Operator& op);
// Whether two blocks of RESCALEs are equal.
[[nodiscard]] bool same_rescale(const BlockParams& a, const BlockParams& b);

// The block in memory, a dense view of its bytes. Adds the steps that make it where fields come at run time.
[[nodiscard]] View parameter_block(Emitter& emitter, const BlockParams& params);
// A block that is made at run time with all of its entries so many times.
[[nodiscard]] View repeated_block(Emitter& emitter, const View& block, int64_t times);
// Gives the step its parameters.
void set_params(Emitter& emitter, BlockParams params, MxuStep& step);

}  // namespace npu::compiler
