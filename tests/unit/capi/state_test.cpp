// SPDX-License-Identifier: Apache-2.0
// Power, losses, error correction and snapshots through the C API.
#include <cstddef>
#include <cstring>
#include <filesystem>

#include "tests/unit/capi/fixture.h"

// In headers.c.
extern "C" npu_status npu_test_state_in_c(npu_device* device, npu_context* context, uint32_t* told);

namespace npu::test {
namespace {

using runtime::MockHal;

std::vector<uint8_t> read_sum(Bench& bench) {
  std::vector<uint8_t> bytes(4);
  EXPECT_OK(bench.error,
            npu_context_read_variable(bench.context, "sum/state", bytes.data(), bytes.size(), bench.error.out()));
  return bytes;
}

npu_variable_info first_variable(Bench& bench, std::string& last_writer) {
  npu_variables* all = nullptr;
  EXPECT_OK(bench.error, npu_context_variables(bench.context, &all, bench.error.out()));
  auto info = sized<npu_variable_info>();
  EXPECT_OK(bench.error, npu_variables_get(all, 0, &info, bench.error.out()));
  last_writer = info.last_writer;
  npu_variables_destroy(all);
  return info;
}

TEST(CState, SnapshotsGoToABufferAndBack) {
  Bench bench;
  ErrorBox& error = bench.error;
  size_t length = 0;
  ASSERT_OK(error, npu_context_snapshot(bench.context, "sum", nullptr, 0, &length, error.out()));
  std::vector<uint8_t> file(length + 3);
  size_t told = 0;
  EXPECT_FAILS(error, NPU_STATUS_BAD_INPUT,
               npu_context_snapshot(bench.context, "sum", file.data(), length - 1, &told, error.out()));
  EXPECT_EQ(told, 0u);
  ASSERT_OK(error, npu_context_snapshot(bench.context, "sum", file.data(), file.size(), &told, error.out()));
  EXPECT_EQ(told, length);
  file.resize(length);

  const uint8_t other[4] = {9, 9, 9, 9};
  ASSERT_OK(error, npu_context_write_variable(bench.context, "sum/state", other, 4, error.out()));
  std::string last_writer;
  static_cast<void>(first_variable(bench, last_writer));
  EXPECT_EQ(last_writer, "host");
  ASSERT_OK(error, npu_context_restore(bench.context, file.data(), file.size(), error.out()));
  EXPECT_EQ(read_sum(bench), (std::vector<uint8_t>{1, 2, 3, 4}));
  static_cast<void>(first_variable(bench, last_writer));
  EXPECT_EQ(last_writer, "snapshot");

  file[file.size() / 2] ^= 1;
  EXPECT_FAILS(error, NPU_STATUS_BAD_SNAPSHOT,
               npu_context_restore(bench.context, file.data(), file.size(), error.out()));
  EXPECT_FAILS(error, NPU_STATUS_BAD_SNAPSHOT, npu_context_restore(bench.context, nullptr, 0, error.out()));
  EXPECT_FAILS(error, NPU_STATUS_BAD_OPTION, npu_context_restore(bench.context, nullptr, 7, error.out()));
}

// Programs are compiled for the places that variables of their context take: what fits once only goes to DRAM.
TEST(CState, TwoPlacesThatDoNotFitGoToDram) {
  graph::GraphBuilder b;
  const graph::TensorId x = b.input("x", graph::DType::kInt8, {1, 5000});
  const graph::TensorId state = b.variable("state", graph::DType::kInt8, {1, 5000});
  b.output(b.read(state));
  b.write(state, x);
  const std::vector<uint8_t> file = graph::serialize(b.build());
  for (const bool double_buffer : {false, true}) {
    Bench bench;  // of 8 KiB
    auto options = sized<npu_context_options>();
    options.double_buffer = double_buffer;
    npu_context* context = nullptr;
    ASSERT_OK(bench.error, npu_context_create(bench.device, &options, &context, bench.error.out()));
    npu_program* program = nullptr;
    ASSERT_OK(bench.error,
              npu_program_load_memory(context, file.data(), file.size(), "twice", &program, bench.error.out()));
    npu_variables* all = nullptr;
    ASSERT_OK(bench.error, npu_context_variables(context, &all, bench.error.out()));
    auto info = sized<npu_variable_info>();
    ASSERT_OK(bench.error, npu_variables_get(all, 0, &info, bench.error.out()));
    EXPECT_EQ(info.in_dram, double_buffer);
    EXPECT_EQ(info.double_buffered, double_buffer);
    npu_variables_destroy(all);
    npu_program_destroy(program);
    npu_context_destroy(context);
  }
}

TEST(CState, SnapshotsGoToAFileAndBack) {
  Bench bench;
  ErrorBox& error = bench.error;
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "capi_state_test.state";
  ASSERT_OK(error, npu_context_snapshot_file(bench.context, nullptr, path.c_str(), error.out()));
  const uint8_t other[4] = {9, 9, 9, 9};
  ASSERT_OK(error, npu_context_write_variable(bench.context, "sum/state", other, 4, error.out()));
  ASSERT_OK(error, npu_context_restore_file(bench.context, path.c_str(), error.out()));
  EXPECT_EQ(read_sum(bench), (std::vector<uint8_t>{1, 2, 3, 4}));
  std::filesystem::remove(path);
  EXPECT_FAILS(error, NPU_STATUS_CANNOT_READ, npu_context_restore_file(bench.context, path.c_str(), error.out()));
  EXPECT_FAILS(error, NPU_STATUS_CANNOT_WRITE,
               npu_context_snapshot_file(bench.context, nullptr, (path / "no" / "folder").c_str(), error.out()));
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_FAILS(error, NPU_STATUS_CANNOT_WRITE,
               npu_context_snapshot_file(bench.context, nullptr, path.c_str(), error.out()));
  EXPECT_TRUE(std::filesystem::is_fifo(path));
  std::filesystem::remove(path);
}

TEST(CState, LossesAreToldAndAcknowledged) {
  Bench bench;
  ErrorBox& error = bench.error;
  std::vector<std::string> lost;
  uint64_t listener = 0;
  ASSERT_OK(error, npu_context_on_state_lost(
                       bench.context,
                       [](void* user, const char* const* identities, size_t count) {
                         for (size_t i = 0; i < count; ++i) {
                           static_cast<std::vector<std::string>*>(user)->emplace_back(identities[i]);
                         }
                       },
                       &lost, &listener, error.out()));
  bench.set_input();
  ASSERT_OK(error, npu_device_set_persistent_power(bench.device, NPU_PERSISTENT_RETENTION, error.out()));
  uint32_t state = 7;
  ASSERT_OK(error, npu_device_persistent_power(bench.device, &state, error.out()));
  EXPECT_EQ(state, uint32_t{NPU_PERSISTENT_RETENTION});
  uint8_t bytes[4];
  EXPECT_FAILS(error, NPU_STATUS_FAULT_POWER,
               npu_context_read_variable(bench.context, "sum/state", bytes, 4, error.out()));
  ASSERT_OK(error, npu_job_run(bench.job, error.out()));
  EXPECT_TRUE(lost.empty());
  bool is_lost = true;
  ASSERT_OK(error, npu_context_state_lost(bench.context, &is_lost, error.out()));
  EXPECT_FALSE(is_lost);

  ASSERT_OK(error, npu_device_set_persistent_power(bench.device, NPU_PERSISTENT_OFF, error.out()));
  EXPECT_EQ(lost, std::vector<std::string>{"sum/state"});
  ASSERT_OK(error, npu_context_state_lost(bench.context, &is_lost, error.out()));
  EXPECT_TRUE(is_lost);
  EXPECT_FAILS(error, NPU_STATUS_POWER_LOST, npu_job_run(bench.job, error.out()));
  EXPECT_NE(error.message().find("sum/state"), std::string::npos);
  EXPECT_EQ(npu_error_class(error.error), NPU_CLASS_STATE_LOST);
  ASSERT_OK(error, npu_context_acknowledge_loss(bench.context, error.out()));
  ASSERT_OK(error, npu_job_run(bench.job, error.out()));
  EXPECT_EQ(read_sum(bench), (std::vector<uint8_t>{1, 2, 3, 4}));

  ASSERT_OK(error, npu_context_remove_listener(bench.context, listener, error.out()));
  ASSERT_OK(error, npu_context_remove_listener(bench.context, 12345, error.out()));
  ASSERT_OK(error, npu_device_set_persistent_power(bench.device, NPU_PERSISTENT_OFF, error.out()));
  EXPECT_EQ(lost.size(), 1u);
}

TEST(CState, ScrubNamesWhatIsDamaged) {
  Bench bench;
  ErrorBox& error = bench.error;
  std::string last_writer;
  bench.mock->wrong_words = {first_variable(bench, last_writer).offset};
  npu_scrub* scrub = nullptr;
  ASSERT_OK(error, npu_device_scrub(bench.device, &scrub, error.out()));
  EXPECT_EQ(npu_scrub_corrected(scrub), 0u);
  EXPECT_EQ(npu_scrub_uncorrectable(scrub), 1u);
  ASSERT_EQ(npu_scrub_damaged_count(scrub), 1u);
  EXPECT_STREQ(npu_scrub_damaged(scrub, 0), "sum/state");
  EXPECT_EQ(npu_scrub_damaged(scrub, 1), nullptr);
  npu_scrub_destroy(scrub);
  npu_scrub_destroy(nullptr);
  EXPECT_EQ(npu_scrub_damaged_count(nullptr), 0u);
  EXPECT_EQ(npu_scrub_corrected(nullptr) + npu_scrub_uncorrectable(nullptr), 0u);
  uint8_t bytes[4];
  EXPECT_FAILS(error, NPU_STATUS_FAULT_ECC,
               npu_context_read_variable(bench.context, "sum/state", bytes, 4, error.out()));
  auto counts = sized<npu_ecc_counts>();
  ASSERT_OK(error, npu_device_ecc_counts(bench.device, &counts, error.out()));
  EXPECT_EQ(counts.corrected, 0u);
  EXPECT_GE(counts.uncorrectable, 2u);
  ASSERT_OK(error, npu_context_clear_variable(bench.context, "sum/state", error.out()));
  EXPECT_TRUE(bench.mock->wrong_words.empty());
}

TEST(CState, VariablesTellTornAndDoubleBuffered) {
  Bench bench;
  ErrorBox& error = bench.error;
  auto options = sized<npu_context_options>();
  options.double_buffer = true;
  npu_context* context = nullptr;
  ASSERT_OK(error, npu_context_create(bench.device, &options, &context, error.out()));
  std::swap(context, bench.context);
  using namespace graph;
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {1, 64});
  const TensorId state = b.variable("long", DType::kInt8, {1, 64}, std::vector<double>(64, 1));
  b.output(b.read(state), "y");
  b.write(state, x);
  const std::vector<uint8_t> file = serialize(b.build());
  npu_program* program = nullptr;
  ASSERT_OK(error, npu_program_load_memory(bench.context, file.data(), file.size(), "long", &program, error.out()));
  std::string last_writer;
  npu_variable_info info = first_variable(bench, last_writer);
  EXPECT_TRUE(info.double_buffered);
  EXPECT_FALSE(info.torn || info.in_dram);
  EXPECT_EQ(info.invocations, 0u);
  EXPECT_EQ(info.dram_address, 0u);
  bench.mock->persistent()[info.index * 16 + 10] |= static_cast<uint8_t>(contract::VariableFlag::kTorn);
  info = first_variable(bench, last_writer);
  EXPECT_TRUE(info.torn);
  std::vector<uint8_t> bytes(64);
  EXPECT_FAILS(error, NPU_STATUS_VARIABLE_TORN,
               npu_context_read_variable(bench.context, "long", bytes.data(), bytes.size(), error.out()));
  npu_program_destroy(program);
  npu_context_destroy(context);
}

// Programs built with the header of version 1.0 pass smaller structures, with anything in what was padding.
TEST(CState, StructuresOfVersionOneAreTaken) {
  Bench bench;
  ErrorBox& error = bench.error;
  npu_context_options options;
  std::memset(static_cast<void*>(&options), 0xff, sizeof options);
  options.struct_size = offsetof(npu_context_options, double_buffer);
  EXPECT_EQ(options.struct_size, 16u);
  options.priority = 3;
  options.zero_init = true;
  npu_context* context = nullptr;
  ASSERT_OK(error, npu_context_create(bench.device, &options, &context, error.out()));
  npu_context_destroy(context);

  npu_variables* all = nullptr;
  ASSERT_OK(error, npu_context_variables(bench.context, &all, error.out()));
  npu_variable_info info;
  std::memset(static_cast<void*>(&info), 0xee, sizeof info);
  info.struct_size = offsetof(npu_variable_info, dram_address);
  EXPECT_EQ(info.struct_size, 56u);
  ASSERT_OK(error, npu_variables_get(all, 0, &info, error.out()));
  EXPECT_STREQ(info.identity, "sum/state");
  EXPECT_EQ(info.dram_address, 0xeeeeeeeeeeeeeeeeu);  // untouched
  npu_variables_destroy(all);
  npu_memory_use use;
  std::memset(static_cast<void*>(&use), 0xee, sizeof use);
  use.struct_size = offsetof(npu_memory_use, state_dram_used);
  ASSERT_OK(error, npu_device_memory_use(bench.device, &use, error.out()));
  EXPECT_EQ(use.state_dram_used, 0xeeeeeeeeeeeeeeeeu);
}

TEST(CState, MisuseIsRefused) {
  Bench bench;
  ErrorBox& error = bench.error;
  npu_scrub* scrub = nullptr;
  uint32_t number = 0;
  size_t length = 0;
  bool lost = false;
  char byte = 0;
  auto counts = sized<npu_ecc_counts>();
  const auto function = [](void*, const char* const*, size_t) {};
#define REFUSED(call) EXPECT_FAILS(error, NPU_STATUS_BAD_OPTION, call)
  REFUSED(npu_device_set_persistent_power(nullptr, 0, error.out()));
  REFUSED(npu_device_set_persistent_power(bench.device, 3, error.out()));
  REFUSED(npu_device_persistent_power(nullptr, &number, error.out()));
  REFUSED(npu_device_persistent_power(bench.device, nullptr, error.out()));
  REFUSED(npu_device_scrub(nullptr, &scrub, error.out()));
  REFUSED(npu_device_scrub(bench.device, nullptr, error.out()));
  REFUSED(npu_device_ecc_counts(nullptr, &counts, error.out()));
  REFUSED(npu_device_ecc_counts(bench.device, nullptr, error.out()));
  counts.struct_size = 3;
  REFUSED(npu_device_ecc_counts(bench.device, &counts, error.out()));
  REFUSED(npu_context_snapshot(nullptr, nullptr, nullptr, 0, &length, error.out()));
  REFUSED(npu_context_snapshot(bench.context, nullptr, nullptr, 0, nullptr, error.out()));
  REFUSED(npu_context_snapshot(bench.context, nullptr, nullptr, 1, &length, error.out()));
  REFUSED(npu_context_snapshot_file(nullptr, nullptr, "x", error.out()));
  REFUSED(npu_context_snapshot_file(bench.context, nullptr, nullptr, error.out()));
  REFUSED(npu_context_restore(nullptr, &byte, 1, error.out()));
  REFUSED(npu_context_restore_file(nullptr, "x", error.out()));
  REFUSED(npu_context_restore_file(bench.context, nullptr, error.out()));
  REFUSED(npu_context_state_lost(nullptr, &lost, error.out()));
  REFUSED(npu_context_state_lost(bench.context, nullptr, error.out()));
  REFUSED(npu_context_acknowledge_loss(nullptr, error.out()));
  REFUSED(npu_context_on_state_lost(nullptr, function, nullptr, nullptr, error.out()));
  REFUSED(npu_context_on_state_lost(bench.context, nullptr, nullptr, nullptr, error.out()));
  REFUSED(npu_context_remove_listener(nullptr, 1, error.out()));
#undef REFUSED
}

TEST(CState, WorksFromC) {
  Bench bench;
  uint32_t told = 0;
  EXPECT_EQ(npu_test_state_in_c(bench.device, bench.context, &told), NPU_OK);
  EXPECT_EQ(told, 1u);
}

}  // namespace
}  // namespace npu::test
