// SPDX-License-Identifier: Apache-2.0
// The same module scheduled in several ways, and the fastest of them by estimate.
#pragma once

#include <span>
#include <vector>

#include "driver/compiler/schedule/emit.h"
#include "driver/compiler/schedule/estimate.h"
#include "driver/compiler/schedule/footprint.h"
#include "driver/compiler/schedule/layout.h"
#include "driver/compiler/schedule/tokens.h"

namespace npu::compiler::backend {

struct Schedule {
  Layout layout;
  Stream stream;                                 // ordered, with tokens
  std::vector<std::vector<ByteSet>> footprints;  // one a command of the stream
  Timeline timeline;                             // estimate
  double cost = 0;                               // what the best one has least of
};

// The commands of a layout. `needs`: what they need for other sizes, in the order of emit() (sizes.h); empty: nothing.
// `order`, if any, gets the position of each command of the stream in that order.
[[nodiscard]] Schedule make_schedule(const Module& module, const contract::Capabilities& capabilities,
                                     const ScheduleOptions& options, Layout layout, bool contents,
                                     std::span<const QueueCounts> needs = {}, std::vector<size_t>* order = nullptr);

// The module must outlive the result. Throws what make_layout throws.
[[nodiscard]] Schedule best_schedule(const Module& module, const contract::Capabilities& capabilities,
                                     const ScheduleOptions& options);

}  // namespace npu::compiler::backend
