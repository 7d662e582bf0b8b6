// SPDX-License-Identifier: Apache-2.0
// What the splitting of steps (split.h) shares: parts of views, new buffers, and where the new steps go.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "driver/compiler/ir.h"
#include "driver/compiler/schedule/view.h"
#include "hw/contract/gen/capabilities.h"

namespace npu::compiler::backend {

// A part takes so much of the scratchpad at most, 1 / kPartShare, so that loads and work overlap.
inline constexpr int64_t kPartShare = 4;

class StepParts {
 public:
  StepParts(Module& module, const contract::Capabilities& capabilities)
      : module_(module), capabilities_(capabilities) {}

  [[nodiscard]] const contract::Capabilities& capabilities() const { return capabilities_; }
  [[nodiscard]] int64_t scratchpad() const { return capabilities_.spm_bytes; }
  // What a constant holds from the view's first element on; nullopt for other buffers.
  [[nodiscard]] std::optional<std::span<const uint8_t>> data(const View& view) const;

  // A dense intermediate result.
  [[nodiscard]] View intermediate(std::vector<int64_t> dims, contract::Element type);
  // A dense constant of bytes.
  [[nodiscard]] View constant(std::vector<uint8_t> bytes, std::vector<int64_t> dims, contract::Element type);
  // Positions of one dimension.
  [[nodiscard]] static View part(View view, size_t dim, Range range);

  // The steps that are made next belong to this layer.
  void begin(uint32_t layer) { layer_ = layer; }
  template <typename Work>
  void add(Work&& work) {
    Step& step = steps_.emplace_back();
    step.layer = layer_;
    step.work.template emplace<std::decay_t<Work>>(std::forward<Work>(work));
  }
  // DMA: a copy between views of equal dims, and one element for all of a view.
  void copy(const View& src, const View& dst);
  void fill(const View& dst, uint64_t value);
  void keep(Step&& step) { steps_.push_back(std::move(step)); }
  [[nodiscard]] std::vector<Step>& steps() { return steps_; }

 private:
  BufferId add_buffer(Buffer&& buffer);

  Module& module_;
  const contract::Capabilities& capabilities_;
  std::vector<Step> steps_;
  uint32_t layer_ = 0;
};

// How results of parts become one.
enum class Join : uint8_t { kMax, kAdd32, kAdd48 };  // additions that wrap at so many bits

// Adds steps that join the views in groups until one step can join the rest, and returns that one: its result is in
// register 0, and nothing is stored yet.
[[nodiscard]] EwiseStep join(std::vector<View> views, Join how, StepParts& parts);
void store(EwiseStep& step, const View& dst);

// The sums of a step's parts, of which inputs and weights of `columns` channels fit into a share of the scratchpad,
// joined by join(). What the step does with sums is left out.
[[nodiscard]] EwiseStep sum_parts(const MxuStep& step, int64_t columns, StepParts& parts);

// Each adds steps that compute the same, or returns false where one step will do, or where there is no way.
[[nodiscard]] bool split_reduce(const ReduceStep& step, StepParts& parts);
[[nodiscard]] bool split_ewise(const EwiseStep& step, StepParts& parts);
[[nodiscard]] bool split_mxu(const MxuStep& step, StepParts& parts);
[[nodiscard]] bool split_pool(const PoolStep& step, StepParts& parts);

}  // namespace npu::compiler::backend
