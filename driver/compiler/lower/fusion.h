// SPDX-License-Identifier: Apache-2.0
// Which operators run as one step: MXU operators with their output stage, and chains of element-wise operators.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "driver/compiler/lower/facts.h"
#include "driver/compiler/lower/grouping.h"
#include "hw/contract/gen/capabilities.h"

namespace npu::compiler {

// The operator that alone reads a tensor, as its first operand; nullopt where an output names the tensor, too.
[[nodiscard]] std::optional<size_t> only_reader(const Facts& facts, graph::TensorId id);

// RESCALE and CLAMP that the output stage of an MXU operator takes with it, in order; with `residual` the operators of
// an addition (residual.h), too.
[[nodiscard]] std::vector<size_t> mxu_followers(const Facts& facts, size_t op, bool residual);

// Whether anything but `ignored` operators reads the tensor, an alias of it, or a view of either.
[[nodiscard]] bool read_outside(const Facts& facts, graph::TensorId id, const std::function<bool(size_t)>& ignored);

// Puts the nodes into groups, each of which a command of the machine can hold. Contracting each group leaves the
// dependencies without a cycle. `group_of` gets a group's index for each node and Grouping::kNone for other operators.
[[nodiscard]] std::vector<Group> fuse(const Facts& facts, const Dependencies& dependencies,
                                      const contract::Capabilities& machine, std::vector<size_t>& group_of);

}  // namespace npu::compiler
