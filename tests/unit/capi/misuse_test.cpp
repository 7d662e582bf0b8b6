// SPDX-License-Identifier: Apache-2.0
// Mistakes of the caller: null pointers, wrong sizes, numbers out of range. Each is NPU_STATUS_BAD_OPTION with words
// that name the function, and changes nothing.
#include <cstring>
#include <functional>

#include "tests/unit/capi/fixture.h"

namespace npu::test {
namespace {

using Call = std::function<npu_status(npu_error**)>;

void expect_misuse(const std::string& function, const Call& call) {
  ErrorBox box;
  EXPECT_FAILS(box, NPU_STATUS_BAD_OPTION, call(box.out()));
  EXPECT_EQ(npu_error_class(box.error), NPU_CLASS_USAGE);
  EXPECT_EQ(box.message().rfind(function + ":", 0), 0u) << box.message();
  EXPECT_EQ(call(nullptr), NPU_STATUS_BAD_OPTION) << function;  // the error is optional
}

TEST(Misuse, DestroyTakesNull) {
  npu_error_destroy(nullptr);
  npu_device_destroy(nullptr);
  npu_context_destroy(nullptr);
  npu_variables_destroy(nullptr);
  npu_program_destroy(nullptr);
  npu_job_destroy(nullptr);
}

TEST(Misuse, PlainQuestionsTakeNull) {
  EXPECT_EQ(npu_error_status(nullptr), NPU_OK);
  EXPECT_EQ(npu_error_class(nullptr), NPU_CLASS_VALID);
  EXPECT_STREQ(npu_error_message(nullptr), "");
  npu_fault fault{};
  EXPECT_FALSE(npu_error_fault(nullptr, &fault));
  EXPECT_EQ(npu_variables_count(nullptr), 0u);
  EXPECT_EQ(npu_program_input_count(nullptr), 0u);
  EXPECT_EQ(npu_program_output_count(nullptr), 0u);
  EXPECT_EQ(npu_program_symbol_count(nullptr), 0u);
  EXPECT_EQ(npu_capability_name(npu_capability_count()), nullptr);
  EXPECT_EQ(npu_capability_unit(npu_capability_count()), nullptr);
}

TEST(Misuse, NullHandles) {
  uint32_t word = 0;
  uint64_t wide = 0;
  size_t length = 0;
  bool flag = false;
  char text[8];
  uint8_t bytes[4] = {};
  auto use = sized<npu_memory_use>();
  auto variable = sized<npu_variable_info>();
  auto tensor = sized<npu_tensor_info>();
  auto info = sized<npu_program_info>();
  auto result = sized<npu_job_result>();
  npu_device* device = nullptr;
  npu_context* context = nullptr;
  npu_variables* variables = nullptr;
  npu_program* program = nullptr;
  npu_job* job = nullptr;
  const auto check = expect_misuse;
  check("npu_device_open", [&](auto e) { return npu_device_open(nullptr, nullptr, &device, e); });
  check("npu_device_capability", [&](auto e) { return npu_device_capability(nullptr, "clock_mhz", &word, e); });
  check("npu_device_memory_use", [&](auto e) { return npu_device_memory_use(nullptr, &use, e); });
  check("npu_device_time", [&](auto e) { return npu_device_time(nullptr, &wide, e); });
  check("npu_device_soft_reset", [&](auto e) { return npu_device_soft_reset(nullptr, e); });
  check("npu_device_cold_reset", [&](auto e) { return npu_device_cold_reset(nullptr, e); });
  check("npu_device_set_power", [&](auto e) { return npu_device_set_power(nullptr, NPU_POWER_ON, e); });
  check("npu_device_take_firmware_log",
        [&](auto e) { return npu_device_take_firmware_log(nullptr, text, sizeof text, &length, e); });
  check("npu_device_read_register", [&](auto e) { return npu_device_read_register(nullptr, 0, &word, e); });
  check("npu_device_write_register", [&](auto e) { return npu_device_write_register(nullptr, 0, 0, e); });
  check("npu_device_read_memory", [&](auto e) { return npu_device_read_memory(nullptr, 0, bytes, 4, e); });
  check("npu_device_write_memory", [&](auto e) { return npu_device_write_memory(nullptr, 0, bytes, 4, e); });
  check("npu_context_create", [&](auto e) { return npu_context_create(nullptr, nullptr, &context, e); });
  check("npu_context_variables", [&](auto e) { return npu_context_variables(nullptr, &variables, e); });
  check("npu_variables_get", [&](auto e) { return npu_variables_get(nullptr, 0, &variable, e); });
  check("npu_context_read_variable", [&](auto e) { return npu_context_read_variable(nullptr, "v", bytes, 4, e); });
  check("npu_context_write_variable", [&](auto e) { return npu_context_write_variable(nullptr, "v", bytes, 4, e); });
  check("npu_context_clear_variable", [&](auto e) { return npu_context_clear_variable(nullptr, nullptr, e); });
  check("npu_program_load_file", [&](auto e) { return npu_program_load_file(nullptr, "x.tosa", &program, e); });
  check("npu_program_load_memory",
        [&](auto e) { return npu_program_load_memory(nullptr, bytes, 4, nullptr, &program, e); });
  npu_size_bounds bounds = {"x.0", 1, 2};
  const int64_t shape[2] = {1, 4};
  check("npu_program_load_bounds",
        [&](auto e) { return npu_program_load_bounds(nullptr, bytes, 4, nullptr, &bounds, 1, &program, e); });
  check("npu_program_load_file_bounds",
        [&](auto e) { return npu_program_load_file_bounds(nullptr, "x.tosa", &bounds, 1, &program, e); });
  check("npu_program_symbol", [&](auto e) { return npu_program_symbol(nullptr, 0, &bounds, e); });
  check("npu_job_set_input_shape", [&](auto e) { return npu_job_set_input_shape(nullptr, 0, shape, 2, bytes, 4, e); });
  check("npu_job_output_info", [&](auto e) { return npu_job_output_info(nullptr, 0, &tensor, e); });
  check("npu_program_input", [&](auto e) { return npu_program_input(nullptr, 0, &tensor, e); });
  check("npu_program_output", [&](auto e) { return npu_program_output(nullptr, 0, &tensor, e); });
  check("npu_program_get_info", [&](auto e) { return npu_program_get_info(nullptr, &info, e); });
  check("npu_job_create", [&](auto e) { return npu_job_create(nullptr, nullptr, &job, e); });
  check("npu_job_set_input", [&](auto e) { return npu_job_set_input(nullptr, 0, bytes, 4, e); });
  check("npu_job_start", [&](auto e) { return npu_job_start(nullptr, e); });
  check("npu_job_wait", [&](auto e) { return npu_job_wait(nullptr, 0, &flag, e); });
  check("npu_job_run", [&](auto e) { return npu_job_run(nullptr, e); });
  check("npu_job_cancel", [&](auto e) { return npu_job_cancel(nullptr, e); });
  check("npu_job_commands_done", [&](auto e) { return npu_job_commands_done(nullptr, &wide, e); });
  check("npu_job_output", [&](auto e) { return npu_job_output(nullptr, 0, bytes, 4, e); });
  check("npu_job_get_result", [&](auto e) { return npu_job_get_result(nullptr, &result, e); });
  check("npu_job_counter",
        [&](auto e) { return npu_job_counter(nullptr, NPU_JOB_QUEUE_ALL, NPU_JOB_COUNTER_BUSY, &wide, e); });
  EXPECT_EQ(device, nullptr);
  EXPECT_EQ(context, nullptr);
}

TEST(Misuse, NullPlacesForResults) {
  Bench bench;
  bench.set_input();
  ASSERT_OK(bench.error, npu_job_run(bench.job, bench.error.out()));
  uint32_t word = 0;
  size_t length = 0;
  char text[8];
  auto ops = sized<npu_hal_ops>();
  const auto check = expect_misuse;
  check("npu_device_open", [&](auto e) { return npu_device_open(&ops, nullptr, nullptr, e); });
  check("npu_device_capability", [&](auto e) { return npu_device_capability(bench.device, nullptr, &word, e); });
  check("npu_device_capability", [&](auto e) { return npu_device_capability(bench.device, "clock_mhz", nullptr, e); });
  check("npu_device_memory_use", [&](auto e) { return npu_device_memory_use(bench.device, nullptr, e); });
  check("npu_device_time", [&](auto e) { return npu_device_time(bench.device, nullptr, e); });
  check("npu_device_take_firmware_log",
        [&](auto e) { return npu_device_take_firmware_log(bench.device, nullptr, 8, &length, e); });
  check("npu_device_take_firmware_log",
        [&](auto e) { return npu_device_take_firmware_log(bench.device, text, 8, nullptr, e); });
  check("npu_device_take_firmware_log",
        [&](auto e) { return npu_device_take_firmware_log(bench.device, text, 1, &length, e); });
  check("npu_device_read_register", [&](auto e) { return npu_device_read_register(bench.device, 0, nullptr, e); });
  check("npu_device_read_memory", [&](auto e) { return npu_device_read_memory(bench.device, 0, nullptr, 4, e); });
  check("npu_device_write_memory", [&](auto e) { return npu_device_write_memory(bench.device, 0, nullptr, 4, e); });
  check("npu_context_create", [&](auto e) { return npu_context_create(bench.device, nullptr, nullptr, e); });
  check("npu_context_variables", [&](auto e) { return npu_context_variables(bench.context, nullptr, e); });
  check("npu_context_read_variable",
        [&](auto e) { return npu_context_read_variable(bench.context, nullptr, text, 4, e); });
  check("npu_context_read_variable",
        [&](auto e) { return npu_context_read_variable(bench.context, "sum/state", nullptr, 4, e); });
  check("npu_context_write_variable",
        [&](auto e) { return npu_context_write_variable(bench.context, nullptr, text, 4, e); });
  check("npu_context_write_variable",
        [&](auto e) { return npu_context_write_variable(bench.context, "sum/state", nullptr, 4, e); });
  check("npu_program_load_file", [&](auto e) { return npu_program_load_file(bench.context, "x.tosa", nullptr, e); });
  npu_program* program = nullptr;
  check("npu_program_load_file", [&](auto e) { return npu_program_load_file(bench.context, nullptr, &program, e); });
  check("npu_program_load_memory",
        [&](auto e) { return npu_program_load_memory(bench.context, nullptr, 4, nullptr, &program, e); });
  check("npu_program_load_memory",
        [&](auto e) { return npu_program_load_memory(bench.context, text, 4, nullptr, nullptr, e); });
  const npu_size_bounds bounds = {"x.0", 1, 2};
  const int64_t shape[2] = {1, 4};
  check("npu_program_load_bounds",
        [&](auto e) { return npu_program_load_bounds(bench.context, nullptr, 4, nullptr, &bounds, 1, &program, e); });
  check("npu_program_load_bounds",
        [&](auto e) { return npu_program_load_bounds(bench.context, text, 4, nullptr, nullptr, 1, &program, e); });
  check("npu_program_load_bounds",
        [&](auto e) { return npu_program_load_bounds(bench.context, text, 4, nullptr, &bounds, 1, nullptr, e); });
  check("npu_program_load_file_bounds",
        [&](auto e) { return npu_program_load_file_bounds(bench.context, nullptr, &bounds, 1, &program, e); });
  check("npu_program_load_file_bounds",
        [&](auto e) { return npu_program_load_file_bounds(bench.context, "x.tosa", nullptr, 1, &program, e); });
  check("npu_program_load_file_bounds",
        [&](auto e) { return npu_program_load_file_bounds(bench.context, "x.tosa", &bounds, 1, nullptr, e); });
  check("npu_program_symbol", [&](auto e) { return npu_program_symbol(bench.program, 0, nullptr, e); });
  check("npu_job_set_input_shape",
        [&](auto e) { return npu_job_set_input_shape(bench.job, 0, nullptr, 2, text, 4, e); });
  check("npu_job_set_input_shape",
        [&](auto e) { return npu_job_set_input_shape(bench.job, 0, shape, 2, nullptr, 4, e); });
  check("npu_job_output_info", [&](auto e) { return npu_job_output_info(bench.job, 0, nullptr, e); });
  check("npu_program_input", [&](auto e) { return npu_program_input(bench.program, 0, nullptr, e); });
  check("npu_program_get_info", [&](auto e) { return npu_program_get_info(bench.program, nullptr, e); });
  check("npu_job_create", [&](auto e) { return npu_job_create(bench.program, nullptr, nullptr, e); });
  check("npu_job_set_input", [&](auto e) { return npu_job_set_input(bench.job, 0, nullptr, 4, e); });
  check("npu_job_commands_done", [&](auto e) { return npu_job_commands_done(bench.job, nullptr, e); });
  check("npu_job_output", [&](auto e) { return npu_job_output(bench.job, 0, nullptr, 4, e); });
  check("npu_job_get_result", [&](auto e) { return npu_job_get_result(bench.job, nullptr, e); });
  check("npu_job_counter", [&](auto e) { return npu_job_counter(bench.job, 0, 0, nullptr, e); });
}

TEST(Misuse, NumbersOutOfRange) {
  Bench bench;
  bench.set_input();
  ASSERT_OK(bench.error, npu_job_run(bench.job, bench.error.out()));
  uint8_t bytes[4] = {};
  uint32_t word = 0;
  uint64_t wide = 0;
  auto tensor = sized<npu_tensor_info>();
  npu_context* context = nullptr;
  npu_job* job = nullptr;
  const auto check = expect_misuse;
  check("npu_device_capability", [&](auto e) { return npu_device_capability(bench.device, "beauty", &word, e); });
  check("npu_device_set_power", [&](auto e) { return npu_device_set_power(bench.device, 2, e); });
  check("npu_program_input", [&](auto e) { return npu_program_input(bench.program, 1, &tensor, e); });
  check("npu_program_output", [&](auto e) { return npu_program_output(bench.program, SIZE_MAX, &tensor, e); });
  check("npu_job_set_input", [&](auto e) { return npu_job_set_input(bench.job, 1, bytes, 4, e); });
  check("npu_job_output", [&](auto e) { return npu_job_output(bench.job, 1, bytes, 4, e); });
  npu_size_bounds symbol{};
  const int64_t shape[2] = {1, 4};
  check("npu_program_symbol", [&](auto e) { return npu_program_symbol(bench.program, 0, &symbol, e); });
  check("npu_job_set_input_shape",
        [&](auto e) { return npu_job_set_input_shape(bench.job, 1, shape, 2, bytes, 4, e); });
  check("npu_job_output_info", [&](auto e) { return npu_job_output_info(bench.job, SIZE_MAX, &tensor, e); });
  check("npu_job_counter", [&](auto e) { return npu_job_counter(bench.job, 12, 0, &wide, e); });
  check("npu_job_counter", [&](auto e) { return npu_job_counter(bench.job, 0, 14, &wide, e); });
  auto urgent = sized<npu_context_options>();
  urgent.priority = 256;
  check("npu_context_create", [&](auto e) { return npu_context_create(bench.device, &urgent, &context, e); });
  auto both = sized<npu_job_options>();
  both.cycle_limit = 5;
  both.no_cycle_limit = true;
  check("npu_job_create", [&](auto e) { return npu_job_create(bench.program, &both, &job, e); });
}

TEST(Misuse, WrongBufferSizes) {
  Bench bench;
  bench.set_input();
  ErrorBox& error = bench.error;
  uint8_t bytes[8] = {};
  EXPECT_FAILS(error, NPU_STATUS_BAD_INPUT, npu_job_set_input(bench.job, 0, bytes, 5, error.out()));
  EXPECT_NE(error.message().find("'x' has 4 bytes, not 5"), std::string::npos) << error.message();
  ASSERT_OK(error, npu_job_run(bench.job, error.out()));
  EXPECT_FAILS(error, NPU_STATUS_BAD_INPUT, npu_job_output(bench.job, 0, bytes, 3, error.out()));
  EXPECT_NE(error.message().find("'y' has 4 bytes, not 3"), std::string::npos) << error.message();
  EXPECT_FAILS(error, NPU_STATUS_BAD_INPUT,
               npu_context_read_variable(bench.context, "sum/state", bytes, 8, error.out()));
  EXPECT_FAILS(error, NPU_STATUS_BAD_INPUT,
               npu_context_write_variable(bench.context, "sum/state", bytes, 3, error.out()));
}

// A structure with room behind it, as a later version of the header would have.
template <typename T>
struct Longer {
  T known{};
  uint64_t unknown = 0;
};

TEST(Misuse, StructSizes) {
  Bench bench;
  npu_context* context = nullptr;
  for (const size_t size : {size_t{0}, size_t{1}, sizeof(npu_context_options) - 1, size_t{4097}, SIZE_MAX}) {
    npu_context_options options{};
    options.struct_size = size;
    expect_misuse("npu_context_create",
                  [&](auto e) { return npu_context_create(bench.device, &options, &context, e); });
    npu_memory_use use{};
    use.struct_size = size;
    expect_misuse("npu_device_memory_use", [&](auto e) { return npu_device_memory_use(bench.device, &use, e); });
  }
  Longer<npu_context_options> later;
  later.known.struct_size = sizeof later;
  EXPECT_OK(bench.error, npu_context_create(bench.device, &later.known, &context, bench.error.out()));
  npu_context_destroy(context);
  later.unknown = 1;
  expect_misuse("npu_context_create",
                [&](auto e) { return npu_context_create(bench.device, &later.known, &context, e); });
  Longer<npu_memory_use> use;
  use.known.struct_size = sizeof use;
  use.unknown = 1;
  EXPECT_OK(bench.error, npu_device_memory_use(bench.device, &use.known, bench.error.out()));
  EXPECT_EQ(use.unknown, 0u);
  EXPECT_EQ(use.known.struct_size, sizeof use);
  EXPECT_GT(use.known.dram_bytes, 0u);
}

}  // namespace
}  // namespace npu::test
