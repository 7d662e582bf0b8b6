// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "driver/capi/handles.h"
#include "driver/runtime/sizes.h"
#include "hw/contract/gen/commands.h"
#include "hw/contract/gen/registers.h"

using npu::capi::guarded;
using npu::capi::misuse;
using npu::capi::need;
using npu::capi::Port;
using npu::capi::port_at;
using npu::contract::Counter;
using npu::contract::Queue;

namespace {

// How long one slice of an endless wait takes.
constexpr auto kSlice = std::chrono::seconds(1);

npu::runtime::JobOptions job_options(const npu_job_options* given) {
  const npu_job_options from = npu::capi::take_options(given, "npu_job_create", "npu_job_options");
  if (from.no_cycle_limit && from.cycle_limit != 0) {
    misuse("npu_job_create", "no_cycle_limit is set, and cycle_limit too");
  }
  npu::runtime::JobOptions options;
  options.poison = !from.no_poison;
  options.events = !from.no_events;
  options.not_before = from.not_before;
  if (from.no_cycle_limit) options.cycle_limit = 0;
  if (from.cycle_limit != 0) options.cycle_limit = from.cycle_limit;
  return options;
}

// Of a shape that the input may have, in so many bytes.
void set_input(npu_job& job, size_t index, npu::graph::Shape shape, const void* bytes, size_t size) {
  const auto* data = static_cast<const uint8_t*>(bytes);
  npu::graph::Value value{job.sized.programs().inputs()[index].largest.type, std::move(shape), {data, data + size}};
  const std::lock_guard lock(job.mutex);
  job.sized.set_input(index, std::move(value));
}

void start(npu_job& job) {
  const std::lock_guard lock(job.mutex);
  job.sized.start();
}

// True when the job has ended.
bool wait(npu_job& job, uint64_t timeout_ns) {
  if (timeout_ns <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return job.job().wait(std::chrono::nanoseconds(static_cast<int64_t>(timeout_ns)));
  }
  while (!job.job().wait(kSlice)) {
  }
  return true;
}

npu_job_result convert(const npu::runtime::RunResult& from) {
  npu_job_result told{};
  told.cycles = from.cycles;
  told.submitted = from.times.submitted;
  told.accepted = from.times.accepted;
  told.started = from.times.started;
  told.ended = from.times.ended;
  told.completed = from.times.completed;
  told.firmware_cycles = from.times.firmware_cycles;
  told.blocked = from.times.blocked;
  told.save_cycles = from.times.save_cycles;
  told.saved_bytes = from.times.saved_bytes;
  told.preemptions = from.times.preemptions;
  return told;
}

bool is_queue(uint32_t queue) { return npu::contract::name(static_cast<Queue>(queue)) != "?"; }
bool is_counter(uint32_t counter) { return counter < npu::contract::kCounterCount; }

}  // namespace

npu_status npu_job_create(npu_program* program, const npu_job_options* options, npu_job** job, npu_error** error) {
  return guarded(error, [&] {
    need(job, "npu_job_create", "job") = nullptr;
    const auto& programs = need(program, "npu_job_create", "program").programs;
    *job = new npu_job(programs, job_options(options));
  });
}

void npu_job_destroy(npu_job* job) {
  if (job == nullptr) return;
  // Its function may be running, and use it.
  static_cast<void>(npu_job_on_complete(job, nullptr, nullptr, nullptr));
  // A function may destroy its job before the call that started it has returned: that one must have let go.
  { const std::lock_guard started(job->mutex); }
  delete job;
}

npu_status npu_job_set_input(npu_job* job, size_t index, const void* bytes, size_t size, npu_error** error) {
  return guarded(error, [&] {
    constexpr const char* kFunction = "npu_job_set_input";
    npu_job& target = need(job, kFunction, "job");
    const Port& input = port_at(target.sized.programs().inputs(), index, kFunction);
    npu::capi::need_bytes(bytes, size, kFunction);
    if (input.is_open() && size != input.largest.bytes) {
      throw npu::Error(npu::contract::ErrorCode::kBadInput,
                       fmt::format("{}: input '{}' has {} bytes when it is largest, not {}; give one of another size "
                                   "with npu_job_set_input_shape",
                                   kFunction, input.largest.name, input.largest.bytes, size));
    }
    npu::capi::need_size(size, input.largest.bytes, fmt::format("input '{}'", input.largest.name), kFunction);
    set_input(target, index, input.largest.shape, bytes, size);
  });
}

npu_status npu_job_set_input_shape(npu_job* job, size_t index, const int64_t* shape, uint32_t rank, const void* bytes,
                                   size_t size, npu_error** error) {
  return guarded(error, [&] {
    constexpr const char* kFunction = "npu_job_set_input_shape";
    npu_job& target = need(job, kFunction, "job");
    const npu::capi::Programs& programs = target.sized.programs();
    const npu::compiler::Port& input = port_at(programs.inputs(), index, kFunction).largest;
    if (shape == nullptr && rank > 0) misuse(kFunction, "shape is NULL");
    npu::capi::need_bytes(bytes, size, kFunction);
    if (rank != input.shape.size()) {
      throw npu::Error(
          npu::contract::ErrorCode::kBadInput,
          fmt::format("{}: input '{}' has {} dimensions, not {}", kFunction, input.name, input.shape.size(), rank));
    }
    npu::graph::Shape wanted;
    if (rank > 0) wanted.assign(shape, shape + rank);
    npu::runtime::check_input(programs.sizes(), input, input.type, wanted, size);
    set_input(target, index, std::move(wanted), bytes, size);
  });
}

npu_status npu_job_on_complete(npu_job* job, npu_job_function function, void* user, npu_error** error) {
  return guarded(error, [&] {
    npu_job& target = need(job, "npu_job_on_complete", "job");
    if (function == nullptr) {
      target.job().on_complete({});
    } else {
      target.job().on_complete([=] { function(user, job); });
    }
  });
}

npu_status npu_job_start(npu_job* job, npu_error** error) {
  return guarded(error, [&] { start(need(job, "npu_job_start", "job")); });
}

npu_status npu_job_wait(npu_job* job, uint64_t timeout_ns, bool* ended, npu_error** error) {
  return guarded(error, [&] {
    const bool done = wait(need(job, "npu_job_wait", "job"), timeout_ns);
    if (ended != nullptr) *ended = done;
  });
}

npu_status npu_job_run(npu_job* job, npu_error** error) {
  return guarded(error, [&] {
    npu_job& target = need(job, "npu_job_run", "job");
    start(target);
    (void)wait(target, NPU_WAIT_FOREVER);
  });
}

npu_status npu_job_cancel(npu_job* job, npu_error** error) {
  return guarded(error, [&] { need(job, "npu_job_cancel", "job").job().cancel(); });
}

npu_status npu_job_commands_done(npu_job* job, uint64_t* count, npu_error** error) {
  return guarded(error, [&] {
    uint64_t& out = need(count, "npu_job_commands_done", "count");
    out = need(job, "npu_job_commands_done", "job").job().commands_done();
  });
}

npu_status npu_job_output(npu_job* job, size_t index, void* bytes, size_t size, npu_error** error) {
  return guarded(error, [&] {
    constexpr const char* kFunction = "npu_job_output";
    npu_job& from = need(job, kFunction, "job");
    const Port& output = port_at(from.sized.programs().outputs(), index, kFunction);
    npu::capi::need_bytes(bytes, size, kFunction);
    const std::lock_guard lock(from.mutex);
    const npu::graph::Value& value = from.job().outputs().at(index);
    npu::capi::need_size(size, value.bytes.size(), fmt::format("output '{}'", output.largest.name), kFunction);
    std::copy(value.bytes.begin(), value.bytes.end(), static_cast<uint8_t*>(bytes));
  });
}

npu_status npu_job_output_info(npu_job* job, size_t index, npu_tensor_info* info, npu_error** error) {
  return guarded(error, [&] {
    constexpr const char* kFunction = "npu_job_output_info";
    npu_job& from = need(job, kFunction, "job");
    const Port& output = port_at(from.sized.programs().outputs(), index, kFunction);
    const std::lock_guard lock(from.mutex);
    const npu::graph::Value& value = from.job().outputs().at(index);
    npu::capi::give_port(output, value.shape, value.bytes.size(), info, kFunction);
  });
}

npu_status npu_job_get_result(npu_job* job, npu_job_result* result, npu_error** error) {
  return guarded(error, [&] {
    npu_job& from = need(job, "npu_job_get_result", "job");
    const std::lock_guard lock(from.mutex);
    npu::capi::give(convert(from.job().result()), result, "npu_job_get_result", "npu_job_result");
  });
}

const char* npu_queue_name(uint32_t queue) {
  return queue == NPU_JOB_QUEUE_ALL ? "all" : npu::contract::name(static_cast<Queue>(queue)).data();
}

const char* npu_counter_name(uint32_t counter) { return npu::contract::name(static_cast<Counter>(counter)).data(); }

const char* npu_dtype_name(npu_dtype type) {
  const std::string_view name = npu::graph::name(static_cast<npu::graph::DType>(type));
  return name == npu::graph::name(npu::graph::DType::kUnknown) ? "?" : name.data();
}

npu_status npu_job_counter(npu_job* job, uint32_t queue, uint32_t counter, uint64_t* value, npu_error** error) {
  return guarded(error, [&] {
    constexpr const char* kFunction = "npu_job_counter";
    npu_job& from = need(job, kFunction, "job");
    uint64_t& out = need(value, kFunction, "value");
    if (!is_counter(counter)) misuse(kFunction, fmt::format("there is no counter {}", counter));
    if (queue != NPU_JOB_QUEUE_ALL && !is_queue(queue)) misuse(kFunction, fmt::format("there is no queue {}", queue));
    const auto which = static_cast<Counter>(counter);
    const std::lock_guard lock(from.mutex);
    const npu::runtime::Counters& counters = from.job().result().counters;
    out = queue == NPU_JOB_QUEUE_ALL ? counters.total(which) : counters.get(static_cast<Queue>(queue), which);
  });
}
