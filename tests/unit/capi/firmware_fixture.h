// SPDX-License-Identifier: Apache-2.0
// A device of the C API over the mock with pretended firmware: the way that drivers go by default.
#pragma once

#include <string>
#include <vector>

#include "driver/runtime/mock_firmware.h"
#include "tests/unit/capi/fixture.h"

namespace npu::test {

// Fills the job's outputs with one byte value, as a device would that computed it.
inline void fill_outputs(runtime::MockHal& mock, const runtime::MockFirmware::Run& run, uint8_t value) {
  const auto output = static_cast<size_t>(contract::Region::kOutput);
  const uint64_t base = run.job.region_base[output], bytes = run.job.region_limit[output];
  std::vector<uint8_t>& dram = mock.dram(base + bytes);
  for (uint64_t i = 0; i < bytes; ++i) dram[base + i] = value;
}

// Every job writes 7 to all outputs and ends at once, unless a test says otherwise.
class FirmwareBench {
 public:
  FirmwareBench() : ops(mock_ops(mock)), firmware(*mock), image(runtime::MockFirmware::image()) {
    firmware.on_run = [this](const runtime::MockFirmware::Run& run) {
      fill_outputs(*mock, run, 7);
      firmware.complete(run);
    };
    options = sized<npu_device_options>();
    options.firmware = image.data();
    options.firmware_size = image.size();
    options.firmware_symbols = "00000000 start\n00000010 t npu_dispatch\n00000040 T npu_main\n";
  }
  ~FirmwareBench() {
    npu_job_destroy(job);
    npu_program_destroy(program);
    npu_context_destroy(context);
    npu_device_destroy(device);
  }
  FirmwareBench(const FirmwareBench&) = delete;
  FirmwareBench& operator=(const FirmwareBench&) = delete;

  npu_status open() { return npu_device_open(&ops, &options, &device, error.out()); }

  // Device, context, program, and a job with its input.
  void open_all() {
    ASSERT_EQ(open(), NPU_OK) << error.message();
    ASSERT_OK(error, npu_context_create(device, nullptr, &context, error.out()));
    const std::vector<uint8_t> file = running_sum();
    ASSERT_OK(error, npu_program_load_memory(context, file.data(), file.size(), "sum", &program, error.out()));
    make_job(nullptr);
  }

  void make_job(const npu_job_options* job_options) {
    npu_job_destroy(job);
    ASSERT_OK(error, npu_job_create(program, job_options, &job, error.out()));
    const int8_t data[4] = {10, 20, 30, 40};
    ASSERT_OK(error, npu_job_set_input(job, 0, data, sizeof data, error.out()));
  }

  ErrorBox error;
  runtime::MockHal* mock = nullptr;
  npu_hal_ops ops;
  runtime::MockFirmware firmware;
  std::vector<uint8_t> image;
  npu_device_options options;
  npu_device* device = nullptr;
  npu_context* context = nullptr;
  npu_program* program = nullptr;
  npu_job* job = nullptr;
};

}  // namespace npu::test
