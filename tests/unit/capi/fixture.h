// SPDX-License-Identifier: Apache-2.0
// A device of the C API over the recording mock, and small networks as the bytes of a .tosa file.
#pragma once

#include <gtest/gtest.h>
#include <npu.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "driver/capi/hal_bridge.h"
#include "driver/graph/builder.h"
#include "driver/graph/writer.h"
#include "driver/runtime/mock_hal.h"
#include "hw/contract/gen/commands.h"
#include "hw/contract/gen/registers.h"
#include "hw/presets/preset.h"
#include "tests/unit/capi/calls.h"

namespace npu::test {

// Fills the region with one byte value, as a job would that computed it.
inline void fill_region(runtime::MockHal& mock, contract::Region region, uint8_t value) {
  namespace reg = contract::reg;
  const auto index = static_cast<uint32_t>(region);
  const uint64_t base = mock.get_register(reg::region_base_lo(index));
  const uint64_t bytes = mock.get_register(reg::region_limit(index));
  std::vector<uint8_t>& dram = mock.dram(base + bytes);
  for (uint64_t i = 0; i < bytes; ++i) dram[base + i] = value;
}

inline npu_hal_ops mock_ops(runtime::MockHal*& mock) {
  auto hal = std::make_unique<runtime::MockHal>(presets::load_preset("nano").caps);
  mock = hal.get();
  npu_hal_ops ops{};
  ops.struct_size = sizeof ops;
  capi::fill_ops(std::move(hal), ops);
  return ops;
}

inline npu_device_options bypass_options() {
  npu_device_options options{};
  options.struct_size = sizeof options;
  options.bypass_firmware = true;
  return options;
}

// x INT8[1, 4] -> y INT8[1, 4], adding to the variable "sum/state", which starts at [1, 2, 3, 4].
inline std::vector<uint8_t> running_sum() {
  using namespace graph;
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {1, 4});
  const TensorId state = b.variable("sum/state", DType::kInt8, {1, 4}, std::vector<double>{1, 2, 3, 4});
  const TensorId wide = b.add(b.cast(b.read(state), DType::kInt32), b.cast(x, DType::kInt32));
  const TensorId sum = b.cast(wide, DType::kInt8);
  b.write(state, sum);
  b.output(sum, "y");
  return serialize(b.build());
}

// An opened device whose jobs end at once with every output byte 7, a context, a program and a job.
struct Bench {
  Bench() {
    const npu_hal_ops ops = mock_ops(mock);
    mock->on_start = [](runtime::MockHal& device) {
      fill_region(device, contract::Region::kOutput, 7);
      device.end_job();
    };
    const npu_device_options options = bypass_options();
    EXPECT_OK(error, npu_device_open(&ops, &options, &device, error.out()));
    EXPECT_OK(error, npu_context_create(device, nullptr, &context, error.out()));
    const std::vector<uint8_t> file = running_sum();
    EXPECT_OK(error, npu_program_load_memory(context, file.data(), file.size(), "sum", &program, error.out()));
    EXPECT_OK(error, npu_job_create(program, nullptr, &job, error.out()));
  }
  ~Bench() {
    npu_job_destroy(job);
    npu_program_destroy(program);
    npu_context_destroy(context);
    npu_device_destroy(device);
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  void set_input() {
    const int8_t data[4] = {10, 20, 30, 40};
    ASSERT_OK(error, npu_job_set_input(job, 0, data, sizeof data, error.out()));
  }

  ErrorBox error;
  runtime::MockHal* mock = nullptr;
  npu_device* device = nullptr;
  npu_context* context = nullptr;
  npu_program* program = nullptr;
  npu_job* job = nullptr;
};

}  // namespace npu::test
