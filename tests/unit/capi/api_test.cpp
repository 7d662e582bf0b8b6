// SPDX-License-Identifier: Apache-2.0
// What every function of the C API does, over a device that pretends.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "tests/unit/capi/fixture.h"

namespace npu::test {
namespace {

TEST(Api, OpensWithCapabilities) {
  Bench bench;
  const contract::Capabilities caps = presets::load_preset("nano").caps;
  ASSERT_EQ(npu_capability_count(), contract::kCapabilities.size());
  for (size_t i = 0; i < npu_capability_count(); ++i) {
    uint32_t value = 0;
    ASSERT_OK(bench.error, npu_device_capability(bench.device, npu_capability_name(i), &value, bench.error.out()));
    EXPECT_EQ(value, caps.*contract::kCapabilities[i].member) << npu_capability_name(i);
    EXPECT_EQ(npu_capability_unit(i), contract::kCapabilities[i].unit);
  }
}

TEST(Api, MemoryUse) {
  Bench bench;
  auto use = sized<npu_memory_use>();
  auto info = sized<npu_program_info>();
  ASSERT_OK(bench.error, npu_device_memory_use(bench.device, &use, bench.error.out()));
  ASSERT_OK(bench.error, npu_program_get_info(bench.program, &info, bench.error.out()));
  EXPECT_EQ(use.dram_bytes, uint64_t{presets::load_preset("nano").caps.dram_mib} << 20);
  EXPECT_GE(use.dram_used, info.dram_bytes);
  EXPECT_GT(info.dram_bytes, 0u);
  EXPECT_EQ(use.variables, 1u);
  EXPECT_GE(use.persistent_used, 4u);
  EXPECT_GT(info.command_count, 2u);
  EXPECT_GE(info.layer_count, 1u);
  EXPECT_EQ(info.blocking_cycles, 0u) << "nothing is interrupted without firmware";
}

// A caller that was built with version 1.1 has a structure without the newer member.
TEST(Api, TakesTheProgramInfoOfVersionOne) {
  Bench bench;
  struct {
    npu_program_info info;
    uint64_t behind;
  } old{};
  old.info.struct_size = offsetof(npu_program_info, blocking_cycles);
  EXPECT_EQ(old.info.struct_size, 40u);
  old.info.blocking_cycles = 77;
  ASSERT_OK(bench.error, npu_program_get_info(bench.program, &old.info, bench.error.out()));
  EXPECT_GT(old.info.command_count, 2u);
  EXPECT_EQ(old.info.blocking_cycles, 77u) << "it is not the caller's to have";
}

TEST(Api, RegistersAndMemory) {
  Bench bench;
  uint32_t id = 0;
  EXPECT_OK(bench.error, npu_device_read_register(bench.device, contract::reg::kId, &id, bench.error.out()));
  EXPECT_EQ(id, contract::reg::kIdReset);
  const uint8_t written[3] = {1, 2, 3};
  uint8_t read[3] = {};
  const uint64_t top = (uint64_t{presets::load_preset("nano").caps.dram_mib} << 20) - 3;
  EXPECT_OK(bench.error, npu_device_write_memory(bench.device, top, written, 3, bench.error.out()));
  EXPECT_OK(bench.error, npu_device_read_memory(bench.device, top, read, 3, bench.error.out()));
  EXPECT_EQ(std::memcmp(read, written, 3), 0);
  EXPECT_OK(bench.error, npu_device_read_memory(bench.device, 0, nullptr, 0, bench.error.out()));
  EXPECT_FAILS(bench.error, NPU_STATUS_FAULT_BUS,
               npu_device_read_memory(bench.device, top + 1, read, 3, bench.error.out()));
}

TEST(Api, PortsOfAProgram) {
  Bench bench;
  EXPECT_EQ(npu_program_input_count(bench.program), 1u);
  EXPECT_EQ(npu_program_output_count(bench.program), 1u);
  auto info = sized<npu_tensor_info>();
  ASSERT_OK(bench.error, npu_program_input(bench.program, 0, &info, bench.error.out()));
  EXPECT_STREQ(info.name, "x");
  EXPECT_EQ(info.type, NPU_DTYPE_INT8 + 0u);
  ASSERT_EQ(info.rank, 2u);
  EXPECT_EQ(info.shape[0], 1);
  EXPECT_EQ(info.shape[1], 4);
  EXPECT_EQ(info.bytes, 4u);
  EXPECT_FALSE(info.accepts_unsigned);
  ASSERT_OK(bench.error, npu_program_output(bench.program, 0, &info, bench.error.out()));
  EXPECT_STREQ(info.name, "y");
}

TEST(Api, RunsAJob) {
  Bench bench;
  ErrorBox& error = bench.error;
  uint8_t output[4] = {};
  auto result = sized<npu_job_result>();
  EXPECT_FAILS(error, NPU_STATUS_BAD_INPUT, npu_job_start(bench.job, error.out()));  // no input yet
  EXPECT_FAILS(error, NPU_STATUS_WRONG_ORDER, npu_job_output(bench.job, 0, output, 4, error.out()));
  EXPECT_FAILS(error, NPU_STATUS_WRONG_ORDER, npu_job_get_result(bench.job, &result, error.out()));
  EXPECT_FAILS(error, NPU_STATUS_WRONG_ORDER, npu_job_wait(bench.job, 0, nullptr, error.out()));
  std::vector<uint8_t> seen;
  bench.mock->on_start = [&](runtime::MockHal& mock) {
    const uint64_t base =
        mock.get_register(contract::reg::region_base_lo(static_cast<uint32_t>(contract::Region::kInput)));
    const std::vector<uint8_t>& dram = mock.dram(base + 4);
    seen.assign(dram.begin() + static_cast<ptrdiff_t>(base), dram.begin() + static_cast<ptrdiff_t>(base) + 4);
    fill_region(mock, contract::Region::kOutput, 9);
    mock.end_job();
  };
  bench.set_input();
  ASSERT_OK(error, npu_job_start(bench.job, error.out()));
  bool ended = false;
  ASSERT_OK(error, npu_job_wait(bench.job, NPU_WAIT_FOREVER, &ended, error.out()));
  EXPECT_TRUE(ended);
  EXPECT_EQ(seen, (std::vector<uint8_t>{10, 20, 30, 40}));
  ASSERT_OK(error, npu_job_output(bench.job, 0, output, 4, error.out()));
  EXPECT_EQ(std::count(output, output + 4, 9), 4);
  ASSERT_OK(error, npu_job_get_result(bench.job, &result, error.out()));
  uint64_t count = 1;
  EXPECT_OK(error, npu_job_commands_done(bench.job, &count, error.out()));
  ASSERT_OK(error, npu_job_run(bench.job, error.out()));  // again
}

TEST(Api, Counters) {
  Bench bench;
  namespace reg = contract::reg;
  bench.mock->on_start = [](runtime::MockHal& mock) {
    const auto set = [&](contract::Queue queue, contract::Counter counter, uint32_t value) {
      mock.set_register(reg::counter_lo(contract::counter_index(static_cast<uint32_t>(queue), counter)), value);
    };
    set(contract::Queue::kMxu, contract::Counter::kMacs, 1000);
    set(contract::Queue::kVpu, contract::Counter::kCommands, 2);
    set(contract::Queue::kMxu, contract::Counter::kCommands, 3);
    mock.end_job();
  };
  bench.set_input();
  ASSERT_OK(bench.error, npu_job_run(bench.job, bench.error.out()));
  const auto counter = [&](uint32_t queue, uint32_t which) {
    uint64_t value = 0;
    EXPECT_OK(bench.error, npu_job_counter(bench.job, queue, which, &value, bench.error.out()));
    return value;
  };
  EXPECT_EQ(counter(NPU_JOB_QUEUE_MXU, NPU_JOB_COUNTER_MACS), 1000u);
  EXPECT_EQ(counter(NPU_JOB_QUEUE_VPU, NPU_JOB_COUNTER_COMMANDS), 2u);
  EXPECT_EQ(counter(NPU_JOB_QUEUE_ALL, NPU_JOB_COUNTER_COMMANDS), 5u);
  EXPECT_EQ(counter(NPU_JOB_QUEUE_DMA0, NPU_JOB_COUNTER_COMMANDS), 0u);
}

TEST(Api, WaitTimesOut) {
  Bench bench;
  bench.mock->on_start = [](runtime::MockHal&) {};  // never ends
  bench.set_input();
  ASSERT_OK(bench.error, npu_job_start(bench.job, bench.error.out()));
  bool ended = true;
  EXPECT_OK(bench.error, npu_job_wait(bench.job, 1000, &ended, bench.error.out()));
  EXPECT_FALSE(ended);
  uint8_t output[4] = {};
  EXPECT_FAILS(bench.error, NPU_STATUS_WRONG_ORDER, npu_job_output(bench.job, 0, output, 4, bench.error.out()));
  EXPECT_FAILS(bench.error, NPU_STATUS_WRONG_ORDER, npu_job_start(bench.job, bench.error.out()));
}

TEST(Api, ResetStopsJobs) {
  Bench bench;
  bench.mock->on_start = [](runtime::MockHal&) {};
  bench.set_input();
  ASSERT_OK(bench.error, npu_job_start(bench.job, bench.error.out()));
  ASSERT_OK(bench.error, npu_device_soft_reset(bench.device, bench.error.out()));
  EXPECT_FAILS(bench.error, NPU_STATUS_WRONG_ORDER, npu_job_wait(bench.job, 0, nullptr, bench.error.out()));
  EXPECT_EQ(npu_error_class(bench.error.error), NPU_CLASS_USAGE);
  bench.mock->on_start = [](runtime::MockHal& mock) { mock.end_job(); };
  EXPECT_OK(bench.error, npu_job_run(bench.job, bench.error.out()));
  EXPECT_OK(bench.error, npu_device_cold_reset(bench.device, bench.error.out()));
  auto use = sized<npu_memory_use>();
  ASSERT_OK(bench.error, npu_device_memory_use(bench.device, &use, bench.error.out()));
  EXPECT_EQ(use.variables, 0u);
  EXPECT_OK(bench.error, npu_job_run(bench.job, bench.error.out()));
}

TEST(Api, FaultsSayWhere) {
  Bench bench;
  namespace reg = contract::reg;
  auto info = sized<npu_program_info>();
  ASSERT_OK(bench.error, npu_program_get_info(bench.program, &info, bench.error.out()));
  uint32_t command = 0;
  bench.mock->on_start = [&](runtime::MockHal& mock) {
    mock.set_register(reg::kFaultCommand, command);
    mock.set_register(reg::kFaultQueue, static_cast<uint32_t>(contract::Queue::kDma1));
    mock.set_register(reg::kFaultAddressLo, 0x1234);
    mock.set_register(reg::kFaultAddressHi, static_cast<uint32_t>(contract::Region::kInput));
    mock.set_register(reg::kFaultCycleLo, 77);
    mock.end_job_with_fault(contract::ErrorCode::kFaultOutOfBounds);
  };
  bench.set_input();
  size_t with_layer = 0;
  for (; command < info.command_count; ++command) {
    EXPECT_FAILS(bench.error, NPU_STATUS_FAULT_OUT_OF_BOUNDS, npu_job_run(bench.job, bench.error.out()));
    auto fault = sized<npu_fault>();
    ASSERT_TRUE(npu_error_fault(bench.error.error, &fault));
    EXPECT_EQ(fault.status, NPU_STATUS_FAULT_OUT_OF_BOUNDS);
    EXPECT_EQ(fault.command, command);
    EXPECT_EQ(fault.queue, NPU_JOB_QUEUE_DMA1 + 0u);
    EXPECT_EQ(fault.region, static_cast<uint32_t>(contract::Region::kInput));
    EXPECT_EQ(fault.address, 0x1234u);
    EXPECT_EQ(fault.cycle, 77u);
    if (fault.layer == NPU_NO_LAYER) {
      EXPECT_STREQ(fault.layer_name, "");
    } else {
      ++with_layer;
      EXPECT_LT(fault.layer, info.layer_count);
      EXPECT_NE(bench.error.message().find(fault.layer_name), std::string::npos) << bench.error.message();
    }
  }
  EXPECT_GT(with_layer, 0u);
  EXPECT_LT(with_layer, info.command_count);  // `begin` and `end` belong to no layer
  npu_fault fault{};
  EXPECT_FALSE(npu_error_fault(bench.error.error, &fault));  // struct_size was not set
  EXPECT_FALSE(npu_error_fault(bench.error.error, nullptr));
}

TEST(Api, Variables) {
  Bench bench;
  ErrorBox& error = bench.error;
  npu_variables* all = nullptr;
  ASSERT_OK(error, npu_context_variables(bench.context, &all, error.out()));
  ASSERT_EQ(npu_variables_count(all), 1u);
  auto info = sized<npu_variable_info>();
  ASSERT_OK(error, npu_variables_get(all, 0, &info, error.out()));
  EXPECT_STREQ(info.identity, "sum/state");
  EXPECT_EQ(info.type, NPU_DTYPE_INT8 + 0u);
  ASSERT_EQ(info.rank, 2u);
  EXPECT_EQ(info.shape[1], 4);
  EXPECT_EQ(info.bytes, 4u);
  EXPECT_TRUE(info.is_written);
  EXPECT_FAILS(error, NPU_STATUS_BAD_OPTION, npu_variables_get(all, 1, &info, error.out()));
  npu_variables_destroy(all);

  int8_t value[4] = {};
  ASSERT_OK(error, npu_context_read_variable(bench.context, "sum/state", value, 4, error.out()));
  EXPECT_EQ(std::vector<int8_t>(value, value + 4), (std::vector<int8_t>{1, 2, 3, 4}));
  const int8_t changed[4] = {-1, -2, -3, -4};
  ASSERT_OK(error, npu_context_write_variable(bench.context, "sum/state", changed, 4, error.out()));
  ASSERT_OK(error, npu_context_read_variable(bench.context, "sum/state", value, 4, error.out()));
  EXPECT_EQ(std::memcmp(value, changed, 4), 0);
  EXPECT_FAILS(error, NPU_STATUS_VARIABLE_UNDECLARED,
               npu_context_read_variable(bench.context, "absent", value, 4, error.out()));
  EXPECT_EQ(npu_error_class(error.error), NPU_CLASS_UNPREDICTABLE);
  EXPECT_FAILS(error, NPU_STATUS_VARIABLE_UNDECLARED,
               npu_context_write_variable(bench.context, "absent", value, 4, error.out()));
  EXPECT_FAILS(error, NPU_STATUS_VARIABLE_UNDECLARED, npu_context_clear_variable(bench.context, "absent", error.out()));
  EXPECT_OK(error, npu_context_clear_variable(bench.context, "sum/state", error.out()));
  ASSERT_OK(error, npu_context_variables(bench.context, &all, error.out()));
  EXPECT_EQ(npu_variables_count(all), 0u);
  npu_variables_destroy(all);
  EXPECT_OK(error, npu_context_clear_variable(bench.context, nullptr, error.out()));
}

TEST(Api, FilesThatAreNone) {
  Bench bench;
  ErrorBox& error = bench.error;
  npu_program* program = nullptr;
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "npu_capi_files";
  std::filesystem::create_directories(folder);
  const std::string missing = (folder / "missing.tosa").string(), good = (folder / "good.tosa").string();
  EXPECT_FAILS(error, NPU_STATUS_CANNOT_READ,
               npu_program_load_file(bench.context, missing.c_str(), &program, error.out()));
  EXPECT_EQ(npu_error_class(error.error), NPU_CLASS_IO);
  std::vector<uint8_t> file = running_sum();
  std::ofstream(good, std::ios::binary)
      .write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
  ASSERT_OK(error, npu_program_load_file(bench.context, good.c_str(), &program, error.out()));
  npu_program_destroy(program);
  program = bench.program;
  EXPECT_FAILS(error, NPU_STATUS_FILE_DAMAGED,
               npu_program_load_memory(bench.context, file.data(), file.size() / 2, "half", &program, error.out()));
  EXPECT_EQ(program, nullptr);
  EXPECT_EQ(npu_error_class(error.error), NPU_CLASS_ILLEGAL_GRAPH);
  EXPECT_NE(error.message().find("half"), std::string::npos) << error.message();
  EXPECT_FAILS(error, NPU_STATUS_FILE_DAMAGED,
               npu_program_load_memory(bench.context, nullptr, 0, nullptr, &program, error.out()));
  EXPECT_FAILS(error, NPU_STATUS_BUDGET_EXCEEDED,
               npu_program_load_memory(bench.context, file.data(), SIZE_MAX, nullptr, &program, error.out()));
}

TEST(Api, RefusesWhatTheDeviceCannotDo) {
  Bench bench;
  graph::GraphBuilder b;
  const graph::TensorId x = b.input("x", graph::DType::kFp32, {4});
  b.output(b.add(x, x), "y");
  const std::vector<uint8_t> file = graph::serialize(b.build());
  npu_program* program = nullptr;
  EXPECT_NE(npu_program_load_memory(bench.context, file.data(), file.size(), nullptr, &program, bench.error.out()),
            NPU_OK);
  EXPECT_EQ(npu_error_class(bench.error.error), NPU_CLASS_UNSUPPORTED) << bench.error.message();
}

TEST(Api, TakesNetworksThatComputeShapes) {
  Bench bench;
  graph::GraphBuilder b;
  const graph::TensorId x = b.input("x", graph::DType::kInt8, {2, 3});
  const graph::TensorId rows = b.ops(graph::Op::kDim, {x}, {}, {graph::DType::kShape})[0];
  const graph::TensorId all = b.ops(graph::Op::kMulShape, {rows, b.shape({3})}, {}, {graph::DType::kShape})[0];
  b.output(b.raw(graph::Op::kReshape, {x, all}, {}, graph::DType::kInt8, {6}), "y");
  const std::vector<uint8_t> file = graph::serialize(b.build());
  npu_program* program = nullptr;
  EXPECT_OK(bench.error,
            npu_program_load_memory(bench.context, file.data(), file.size(), nullptr, &program, bench.error.out()));
  npu_program_destroy(program);
}

TEST(Api, ErrorsOfBackEnds) {
  npu_error* error = npu_error_create(NPU_STATUS_FAULT_BUS, "no answer");
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(npu_error_status(error), NPU_STATUS_FAULT_BUS);
  EXPECT_EQ(npu_error_class(error), NPU_CLASS_DEVICE_FAULT);
  EXPECT_STREQ(npu_error_message(error), "no answer");
  npu_error_destroy(error);
  error = npu_error_create(NPU_STATUS_FAULT_BUS, nullptr);
  EXPECT_STREQ(npu_error_message(error), "");
  npu_error_destroy(error);
  EXPECT_EQ(npu_error_create(NPU_OK, "fine"), nullptr);
}

TEST(Api, SuccessClearsTheError) {
  Bench bench;
  npu_error* error = reinterpret_cast<npu_error*>(&bench);
  EXPECT_EQ(npu_device_soft_reset(bench.device, &error), NPU_OK);
  EXPECT_EQ(error, nullptr);
}

TEST(Api, HandlesMayBeDestroyedInAnyOrder) {
  Bench bench;
  bench.set_input();
  npu_device_destroy(std::exchange(bench.device, nullptr));
  npu_context_destroy(std::exchange(bench.context, nullptr));
  npu_program_destroy(std::exchange(bench.program, nullptr));
  EXPECT_OK(bench.error, npu_job_run(bench.job, bench.error.out()));
}

TEST(Api, DestroyingARunningJobStopsIt) {
  Bench bench;
  bench.mock->on_start = [](runtime::MockHal&) {};
  bench.set_input();
  ASSERT_OK(bench.error, npu_job_start(bench.job, bench.error.out()));
  npu_job_destroy(std::exchange(bench.job, nullptr));
  bench.mock->on_start = [](runtime::MockHal& mock) { mock.end_job(); };
  ASSERT_OK(bench.error, npu_job_create(bench.program, nullptr, &bench.job, bench.error.out()));
  bench.set_input();
  EXPECT_OK(bench.error, npu_job_run(bench.job, bench.error.out()));
}

TEST(Api, ZeroInit) {
  graph::GraphBuilder b;
  const graph::TensorId x = b.input("x", graph::DType::kInt8, {1, 4});
  const graph::TensorId state = b.variable("s", graph::DType::kInt8, {1, 4});
  b.write(state, x);
  b.output(b.rescale(x, graph::DType::kInt8), "y");
  const std::vector<uint8_t> file = graph::serialize(b.build());
  for (const bool zero_init : {false, true}) {
    Bench bench;
    auto options = sized<npu_context_options>();
    options.priority = 255;
    options.zero_init = zero_init;
    npu_context* context = nullptr;
    npu_program* program = nullptr;
    npu_variables* all = nullptr;
    auto info = sized<npu_variable_info>();
    ASSERT_OK(bench.error, npu_context_create(bench.device, &options, &context, bench.error.out()));
    ASSERT_OK(bench.error,
              npu_program_load_memory(context, file.data(), file.size(), "s", &program, bench.error.out()));
    ASSERT_OK(bench.error, npu_context_variables(context, &all, bench.error.out()));
    ASSERT_OK(bench.error, npu_variables_get(all, 0, &info, bench.error.out()));
    EXPECT_EQ(info.is_written, zero_init);
    npu_variables_destroy(all);
    npu_program_destroy(program);
    npu_context_destroy(context);
  }
}

}  // namespace
}  // namespace npu::test
