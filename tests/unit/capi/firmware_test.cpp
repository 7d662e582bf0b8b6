// SPDX-License-Identifier: Apache-2.0
// What the C API does through firmware: boot, cancelling, faults, log, power, contexts.
#include <algorithm>

#include "tests/unit/capi/firmware_fixture.h"

namespace npu::test {
namespace {

using runtime::MockFirmware;

TEST(Firmware, RunsAJob) {
  FirmwareBench bench;
  bench.open_all();
  bench.firmware.on_run = [&](const MockFirmware::Run& run) {
    fill_outputs(*bench.mock, run, 9);
    contract::RingCompletion completion;
    completion.engine_cycles = 100;
    completion.save_cycles = 20;
    completion.saved_bytes = 300;
    completion.preemptions = 2;
    completion.blocked = 40;
    completion.accepted = 5;
    completion.started = 6;
    completion.ended = 7;
    completion.firmware_cycles = 50;
    bench.firmware.complete(run, completion);
  };
  auto options = sized<npu_job_options>();
  options.cycle_limit = 12345;
  bench.make_job(&options);
  const npu_status status = npu_job_run(bench.job, bench.error.out());
  // The pretended counters are all 0, which contradicts 100 cycles: the driver must notice.
  EXPECT_EQ(status, NPU_STATUS_FAULT_COUNTERS) << bench.error.message();
  bench.firmware.on_run = [&](const MockFirmware::Run& run) {
    EXPECT_EQ(run.job.cycle_limit, 12345u);
    fill_outputs(*bench.mock, run, 9);
    contract::RingCompletion completion;
    completion.saved_bytes = 300;
    completion.save_cycles = 20;
    completion.preemptions = 2;
    completion.blocked = 40;
    completion.accepted = 5;
    completion.started = 6;
    completion.ended = 7;
    completion.firmware_cycles = 50;
    bench.firmware.complete(run, completion);
  };
  ASSERT_OK(bench.error, npu_job_run(bench.job, bench.error.out()));
  auto result = sized<npu_job_result>();
  ASSERT_OK(bench.error, npu_job_get_result(bench.job, &result, bench.error.out()));
  EXPECT_EQ(result.cycles, 0u);
  EXPECT_EQ(result.accepted, 5u);
  EXPECT_EQ(result.started, 6u);
  EXPECT_EQ(result.ended, 7u);
  EXPECT_EQ(result.firmware_cycles, 50u);
  EXPECT_EQ(result.blocked, 40u);
  EXPECT_EQ(result.preemptions, 2u);
  EXPECT_EQ(result.save_cycles, 20u);
  EXPECT_EQ(result.saved_bytes, 300u);
  uint8_t output[4] = {};
  ASSERT_OK(bench.error, npu_job_output(bench.job, 0, output, sizeof output, bench.error.out()));
  EXPECT_EQ(std::count(output, output + 4, 9), 4);
}

// What the firmware takes is 6,000 cycles of its clock; the network has a tail at least.
TEST(Firmware, AProgramTellsHowLongItBlocks) {
  FirmwareBench bench;
  bench.open_all();
  auto info = sized<npu_program_info>();
  ASSERT_OK(bench.error, npu_program_get_info(bench.program, &info, bench.error.out()));
  const contract::Capabilities caps = presets::load_preset("nano").caps;
  EXPECT_GT(info.blocking_cycles, uint64_t{6000} * caps.clock_mhz / caps.cpu_clock_mhz);
}

TEST(Firmware, JobOptionsReachTheDevice) {
  FirmwareBench bench;
  bench.open_all();
  contract::Job seen;
  bench.firmware.on_run = [&](const MockFirmware::Run& run) {
    seen = run.job;
    bench.firmware.complete(run);
  };
  auto options = sized<npu_job_options>();
  options.not_before = 777;
  options.no_events = true;
  options.no_cycle_limit = true;
  bench.make_job(&options);
  ASSERT_OK(bench.error, npu_job_run(bench.job, bench.error.out()));
  EXPECT_EQ(seen.not_before, 777u);
  EXPECT_EQ(seen.event_capacity, 0u);
  EXPECT_EQ(seen.cycle_limit, 0u);
  bench.make_job(nullptr);
  ASSERT_OK(bench.error, npu_job_run(bench.job, bench.error.out()));
  EXPECT_EQ(seen.not_before, 0u);
  EXPECT_GT(seen.event_capacity, 0u);
  EXPECT_EQ(seen.cycle_limit, uint64_t{1} << 36);
}

TEST(Firmware, BadImagesAreRefused) {
  FirmwareBench bench;
  bench.options.firmware_size = 10;
  EXPECT_FAILS(bench.error, NPU_STATUS_BAD_FIRMWARE, bench.open());
  EXPECT_EQ(bench.device, nullptr);
}

TEST(Firmware, AFailedBootIsReported) {
  FirmwareBench bench;
  bench.firmware.boots_as = contract::FirmwareState::kFailed;
  bench.firmware.self_test = 2;
  const npu_status status = bench.open();
  EXPECT_TRUE(status == NPU_STATUS_FAULT_FIRMWARE || status == NPU_STATUS_FIRMWARE_MISMATCH) << bench.error.message();
  EXPECT_EQ(npu_error_status(bench.error.error), status);
}

TEST(Firmware, CancelledJobsSaySo) {
  FirmwareBench bench;
  bench.open_all();
  bench.firmware.on_run = [](const MockFirmware::Run&) {};  // never ends by itself
  ASSERT_OK(bench.error, npu_job_start(bench.job, bench.error.out()));
  EXPECT_FAILS(bench.error, NPU_STATUS_WRONG_ORDER,
               npu_device_set_power(bench.device, NPU_POWER_SLEEP, bench.error.out()));
  ASSERT_OK(bench.error, npu_job_cancel(bench.job, bench.error.out()));
  EXPECT_FAILS(bench.error, NPU_STATUS_JOB_CANCELLED,
               npu_job_wait(bench.job, NPU_WAIT_FOREVER, nullptr, bench.error.out()));
  auto fault = sized<npu_fault>();
  EXPECT_FALSE(npu_error_fault(bench.error.error, &fault));
  EXPECT_OK(bench.error, npu_job_cancel(bench.job, bench.error.out()));  // not in flight: nothing happens
}

TEST(Firmware, FaultsComeWithTheirFields) {
  FirmwareBench bench;
  bench.open_all();
  bench.firmware.on_run = [&](const MockFirmware::Run& run) {
    contract::RingCompletion completion;
    completion.code = NPU_STATUS_FAULT_TIMEOUT;
    completion.fault_queue = NPU_JOB_QUEUE_VPU;
    completion.fault_cycle = 99;
    bench.firmware.complete(run, completion);
  };
  EXPECT_FAILS(bench.error, NPU_STATUS_FAULT_TIMEOUT, npu_job_run(bench.job, bench.error.out()));
  auto fault = sized<npu_fault>();
  ASSERT_TRUE(npu_error_fault(bench.error.error, &fault));
  EXPECT_EQ(fault.status, NPU_STATUS_FAULT_TIMEOUT);
  EXPECT_EQ(fault.cycle, 99u);
  bool ended = false;
  EXPECT_FAILS(bench.error, NPU_STATUS_FAULT_TIMEOUT, npu_job_wait(bench.job, 0, &ended, bench.error.out()));
}

TEST(Firmware, IsBootedAgainWhenItStopped) {
  FirmwareBench bench;
  bench.open_all();
  const int boots = bench.firmware.boots();
  const auto well = bench.firmware.on_run;
  bench.firmware.on_run = [&](const MockFirmware::Run&) {
    bench.firmware.stop(contract::CpuStop::kWatchdog, 0x14, 0, 0);
  };
  EXPECT_FAILS(bench.error, NPU_STATUS_FAULT_FIRMWARE, npu_job_run(bench.job, bench.error.out()));
  EXPECT_EQ(npu_error_class(bench.error.error), NPU_CLASS_DEVICE_FAULT);
  EXPECT_NE(bench.error.message().find("npu_dispatch"), std::string::npos) << bench.error.message();
  EXPECT_EQ(bench.firmware.boots(), boots + 1);
  bench.firmware.on_run = well;
  EXPECT_OK(bench.error, npu_job_run(bench.job, bench.error.out()));
}

// All text that can be taken now, `size` bytes of buffer at a time.
std::string take_log(FirmwareBench& bench, size_t size) {
  std::string all;
  std::vector<char> text(size);
  for (size_t length = 1; length > 0;) {
    EXPECT_OK(bench.error,
              npu_device_take_firmware_log(bench.device, text.data(), text.size(), &length, bench.error.out()));
    EXPECT_LT(length, size);
    EXPECT_EQ(std::string(text.data()).size(), length);
    all += text.data();
  }
  return all;
}

TEST(Firmware, LogIsTakenWholeThroughAnyBuffer) {
  FirmwareBench whole, pieces;
  for (FirmwareBench* bench : {&whole, &pieces}) {
    bench->open_all();
    bench->firmware.log("        12 event first line\n");
    bench->firmware.log("        34 event second line\n");
  }
  const std::string text = take_log(whole, 4096);
  EXPECT_NE(text.find("first line\n"), std::string::npos) << text;
  EXPECT_NE(text.find("second line\n"), std::string::npos) << text;
  EXPECT_EQ(take_log(pieces, 2), text);
  EXPECT_EQ(take_log(whole, 4096), "");
}

TEST(Firmware, PowerAndTime) {
  FirmwareBench bench;
  bench.open_all();
  uint32_t last = 99;
  bench.firmware.on_admin = [&](const contract::RingRequest& request) {
    if (request.type == static_cast<uint32_t>(contract::Request::kPower)) last = request.value[0];
  };
  EXPECT_OK(bench.error, npu_device_set_power(bench.device, NPU_POWER_SLEEP, bench.error.out()));
  EXPECT_EQ(last, NPU_POWER_SLEEP + 0u);
  EXPECT_OK(bench.error, npu_device_set_power(bench.device, NPU_POWER_ON, bench.error.out()));
  EXPECT_EQ(last, NPU_POWER_ON + 0u);
  uint64_t time = 0;
  EXPECT_OK(bench.error, npu_device_time(bench.device, &time, bench.error.out()));
  EXPECT_EQ(time, bench.firmware.time());
}

TEST(Firmware, FifteenContextsWithPriorities) {
  FirmwareBench bench;
  ASSERT_EQ(bench.open(), NPU_OK) << bench.error.message();
  std::vector<npu_context*> contexts;
  for (uint32_t i = 0; i < 15; ++i) {
    auto options = sized<npu_context_options>();
    options.priority = i;
    npu_context* context = nullptr;
    ASSERT_OK(bench.error, npu_context_create(bench.device, &options, &context, bench.error.out())) << i;
    contexts.push_back(context);
  }
  std::vector<uint32_t> priorities;
  for (const auto& [number, ring] : bench.firmware.rings()) {
    if (number != 0) priorities.push_back(ring.priority);
  }
  std::sort(priorities.begin(), priorities.end());
  ASSERT_EQ(priorities.size(), 15u);
  for (uint32_t i = 0; i < 15; ++i) EXPECT_EQ(priorities[i], i);
  npu_context* surplus = nullptr;
  EXPECT_FAILS(bench.error, NPU_STATUS_CONTEXTS_FULL,
               npu_context_create(bench.device, nullptr, &surplus, bench.error.out()));
  EXPECT_EQ(npu_error_class(bench.error.error), NPU_CLASS_RESOURCE);
  npu_context_destroy(contexts.back());
  contexts.pop_back();
  EXPECT_OK(bench.error, npu_context_create(bench.device, nullptr, &surplus, bench.error.out()));
  contexts.push_back(surplus);
  for (npu_context* context : contexts) npu_context_destroy(context);
}

TEST(Firmware, PollingRunsWithoutInterrupts) {
  FirmwareBench bench;
  bench.options.polling = true;
  bench.firmware.interrupts = false;
  bench.open_all();
  EXPECT_OK(bench.error, npu_job_run(bench.job, bench.error.out()));
}

}  // namespace
}  // namespace npu::test
