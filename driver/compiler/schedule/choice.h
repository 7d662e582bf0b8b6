// SPDX-License-Identifier: Apache-2.0
// From a module to the schedule that is best by the estimate. Private to the back end.
#pragma once

#include <memory>
#include <optional>

#include "driver/compiler/ir.h"
#include "driver/compiler/schedule.h"
#include "driver/compiler/schedule/variants.h"

namespace npu::compiler::backend {

// A module as its tiles are chosen for it. Both must outlive their schedules.
struct Prepared {
  Module module;
  std::optional<Module> direct;  // with values made in variables, where that is another one
};

[[nodiscard]] Prepared prepare(Module&& module, const contract::Capabilities& capabilities,
                               const ScheduleOptions& options);

struct Choice {
  std::shared_ptr<const contract::Capabilities> machine;  // that it was made for; the steps of its layout refer to it
  Schedule schedule;
  bool direct = false;  // of Prepared::direct
  bool kept = false;    // its constants stay
  [[nodiscard]] const Module& module(const Prepared& prepared) const {
    return direct ? *prepared.direct : prepared.module;
  }
};

// The schedule that is best by the estimate.
[[nodiscard]] Choice choose(const Prepared& prepared, const contract::Capabilities& capabilities,
                            const ScheduleOptions& options);

}  // namespace npu::compiler::backend
