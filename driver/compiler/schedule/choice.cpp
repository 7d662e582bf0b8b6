// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/choice.h"

#include <algorithm>
#include <string>
#include <utility>

#include "driver/compiler/room.h"
#include "driver/compiler/schedule/direct_writes.h"
#include "driver/compiler/schedule/last_writes.h"
#include "driver/compiler/schedule/split.h"
#include "driver/compiler/schedule/state_plan.h"
#include "hw/contract/error.h"

namespace npu::compiler::backend {
namespace {

void check_buffers(const Module& module) {
  for (const Buffer& buffer : module.buffers) {
    if (buffer.bytes > INT32_MAX) {
      throw Error(contract::ErrorCode::kDramFull,
                  "tensor " + buffer.name + " takes " + std::to_string(buffer.bytes) +
                      " bytes, more than a command can stride over; make it smaller than 2 GiB");
    }
    NPU_CHECK(buffer.kind != BufferKind::kConstant || buffer.data.size() == buffer.bytes);
  }
  NPU_CHECK(module.inputs.size() == module.input_buffers.size());
  NPU_CHECK(module.outputs.size() == module.output_buffers.size());
}

Choice choose_schedule(const Module& module, const std::optional<Module>& direct,
                       const contract::Capabilities& capabilities, const ScheduleOptions& options) {
  const auto machine = std::make_shared<const contract::Capabilities>(capabilities);
  if (!direct) return {machine, best_schedule(module, *machine, options), false};
  Choice best{machine, best_schedule(*direct, *machine, options), true};
  Schedule copied = best_schedule(module, *machine, options);
  if (copied.cost < best.schedule.cost) best = {machine, std::move(copied), false};
  return best;
}

int64_t constant_bytes(const Module& module) {
  int64_t bytes = 0;
  for (const Buffer& buffer : module.buffers) {
    if (buffer.kind == BufferKind::kConstant) bytes += buffer.bytes;
  }
  return bytes;
}

// With all constants in the scratchpad; nullopt where they leave too little of it for the steps. How many bytes they
// are depends on the tiles, and the tiles on the room that they leave.
std::optional<Choice> keep_constants(const Module& module, const std::optional<Module>& direct,
                                     const contract::Capabilities& capabilities, const ScheduleOptions& options) {
  constexpr int kTries = 3;
  const int64_t all = capabilities.spm_bytes;
  int64_t constants = constant_bytes(module);
  for (int i = 0; i < kTries; ++i) {
    constants = round_up(constants, contract::kResidentUnit);
    if (constants == 0 || constants >= all) return std::nullopt;
    contract::Capabilities rest = capabilities;
    rest.spm_bytes = static_cast<uint32_t>(all - constants);
    try {
      Choice choice = choose_schedule(module, direct, rest, options);
      constants = static_cast<int64_t>(choice.schedule.stream.constants.size());
      const int64_t own =
          round_up(std::max<int64_t>(choice.schedule.layout.scratchpad_peak, 1), contract::kResidentUnit);
      if (own + constants <= all) return choice;
    } catch (const NoRoom&) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace

Prepared prepare(Module&& module, const contract::Capabilities& capabilities, const ScheduleOptions& options) {
  Prepared prepared{std::move(module), std::nullopt};
  check_buffers(prepared.module);
  split_large_steps(prepared.module, capabilities);
  check_buffers(prepared.module);
  keep_last_writes(prepared.module);
  plan_state(prepared.module, capabilities, options);
  prepared.direct = write_directly(prepared.module, capabilities);
  return prepared;
}

Choice choose(const Prepared& prepared, const contract::Capabilities& capabilities, const ScheduleOptions& options) {
  ScheduleOptions loading = options;
  loading.resident_constants = false;
  Choice best = choose_schedule(prepared.module, prepared.direct, capabilities, loading);
  if (!options.resident_constants) return best;
  std::optional<Choice> keeping = keep_constants(prepared.module, prepared.direct, capabilities, options);
  // What they take of the scratchpad may cost the steps more than loading does.
  if (!keeping || keeping->schedule.cost >= best.schedule.cost) return best;
  keeping->kept = true;
  return *std::move(keeping);
}

}  // namespace npu::compiler::backend
