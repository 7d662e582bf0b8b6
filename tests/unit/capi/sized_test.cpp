// SPDX-License-Identifier: Apache-2.0
// Sizes within bounds in the C API: what a program tells of them, and what is refused before anything runs. (What jobs
// compute is in tests/system/capi.)
#include <array>
#include <atomic>
#include <cstring>
#include <limits>
#include <optional>
#include <thread>

#include "driver/compiler/bounds.h"
#include "driver/graph/builder.h"
#include "driver/graph/file.h"
#include "driver/graph/validate.h"
#include "driver/program_file/program_file.h"
#include "tests/unit/capi/fixture.h"

namespace npu::test {
namespace {

using graph::DType;
using Op = graph::Op;

constexpr npu_size_bounds kRows = {"x.0", 1, 8};

graph::Graph twice_graph() {
  graph::GraphBuilder b;
  const graph::TensorId x = b.input("x", DType::kInt8, {-1, 4}), w = b.input("w", DType::kInt8, {-1, 4});
  const graph::TensorId mixed = b.raw(Op::kBitwiseXor, {x, w}, {}, DType::kInt8, {-1, 4});
  graph::Attributes axis;
  axis.axis = 0;
  b.output(b.raw(Op::kConcat, {mixed, x}, axis, DType::kInt8, {-1, 4}), "y");
  return b.build();
}

// y INT8[2 n, 4] of x and w INT8[n, 4].
std::vector<uint8_t> twice() { return graph::serialize(twice_graph()); }

// x INT8[m, n] -> y INT16[m, n].
std::vector<uint8_t> two_sizes() {
  graph::GraphBuilder b;
  const graph::TensorId x = b.input("x", DType::kInt8, {-1, -1});
  b.output(b.raw(Op::kCast, {x}, {}, DType::kInt16, {-1, -1}), "y");
  return graph::serialize(b.build());
}

std::vector<uint8_t> compiled_twice() {
  graph::Graph open = twice_graph();
  graph::validate(open, graph::Sizes::kMayBeUnknown);
  program_file::ProgramFile file;
  file.capabilities = presets::load_preset("nano").caps;
  compiler::Options options;
  options.firmware = false;
  file.programs =
      compiler::compile_bounds(open, std::vector<compiler::SizeBounds>{{"x.0", 1, 8}}, file.capabilities, options);
  return program_file::serialise(file);
}

class Sized : public testing::Test {
 protected:
  Sized() {
    const std::vector<uint8_t> file = twice();
    EXPECT_OK(error, load(file, {kRows}, &program));
    EXPECT_OK(error, npu_job_create(program, nullptr, &job, error.out()));
  }
  ~Sized() override {
    npu_job_destroy(job);
    npu_program_destroy(program);
  }
  Sized(const Sized&) = delete;
  Sized& operator=(const Sized&) = delete;

  npu_status load(const std::vector<uint8_t>& file, const std::vector<npu_size_bounds>& bounds, npu_program** loaded) {
    return npu_program_load_bounds(bench.context, file.data(), file.size(), "open", bounds.data(), bounds.size(),
                                   loaded, error.out());
  }
  void expect_refused(npu_status wanted, const std::vector<npu_size_bounds>& bounds, const std::string& words) {
    npu_program* none = program;
    EXPECT_FAILS(error, wanted, load(two_sizes(), bounds, &none));
    EXPECT_EQ(none, nullptr);
    EXPECT_NE(error.message().find(words), std::string::npos) << error.message();
  }
  npu_status set_input(size_t index, int64_t rows, std::optional<size_t> bytes = {}) {
    const std::array<int64_t, 2> shape = {rows, 4};
    return npu_job_set_input_shape(job, index, shape.data(), 2, data.data(),
                                   bytes ? *bytes : static_cast<size_t>(rows * 4), error.out());
  }
  void expect_runs(int64_t rows) {
    for (const size_t index : {0, 1}) ASSERT_OK(error, set_input(index, rows));
    ASSERT_OK(error, npu_job_run(job, error.out()));
    auto info = sized<npu_tensor_info>();
    ASSERT_OK(error, npu_job_output_info(job, 0, &info, error.out()));
    EXPECT_EQ(info.shape[0], 2 * rows);
    EXPECT_EQ(info.shape[1], 4);
    EXPECT_EQ(info.bytes, static_cast<uint64_t>(8 * rows));
    std::vector<uint8_t> y(info.bytes);
    ASSERT_OK(error, npu_job_output(job, 0, y.data(), y.size(), error.out()));
    EXPECT_EQ(y, std::vector<uint8_t>(y.size(), 7));
    EXPECT_FAILS(error, NPU_STATUS_BAD_INPUT, npu_job_output(job, 0, y.data(), y.size() - 1, error.out()));
  }

  Bench bench;
  ErrorBox& error = bench.error;
  npu_program* program = nullptr;
  npu_job* job = nullptr;
  std::array<uint8_t, 256> data{};
};

TEST_F(Sized, ProgramsTellTheirSymbols) {
  ASSERT_EQ(npu_program_symbol_count(program), 1u);
  npu_size_bounds symbol{};
  ASSERT_OK(error, npu_program_symbol(program, 0, &symbol, error.out()));
  EXPECT_STREQ(symbol.name, "x.0");
  EXPECT_EQ(symbol.least, 1);
  EXPECT_EQ(symbol.most, 8);
  EXPECT_FAILS(error, NPU_STATUS_BAD_OPTION, npu_program_symbol(program, 1, &symbol, error.out()));
  EXPECT_FAILS(error, NPU_STATUS_BAD_OPTION, npu_program_symbol(program, 0, nullptr, error.out()));
  EXPECT_EQ(npu_program_symbol_count(bench.program), 0u);
  EXPECT_EQ(npu_program_symbol_count(nullptr), 0u);
}

TEST_F(Sized, PortsTellTheLargestAndWhatTheirDimensionsAre) {
  auto info = sized<npu_tensor_info>();
  for (const size_t index : {0, 1}) {
    ASSERT_OK(error, npu_program_input(program, index, &info, error.out()));
    EXPECT_EQ(info.shape[0], 8);
    EXPECT_EQ(info.bytes, 32u);
    EXPECT_EQ(info.symbols[0], 0) << "w.0 is the same size as x.0";
    EXPECT_EQ(info.symbols[1], NPU_SIZE_FIXED);
  }
  ASSERT_OK(error, npu_program_output(program, 0, &info, error.out()));
  EXPECT_EQ(info.shape[0], 16);
  EXPECT_EQ(info.bytes, 64u);
  EXPECT_EQ(info.symbols[0], NPU_SIZE_COMPUTED);
  EXPECT_EQ(info.symbols[1], NPU_SIZE_FIXED);
  ASSERT_OK(error, npu_program_input(bench.program, 0, &info, error.out()));
  EXPECT_EQ(info.symbols[0], NPU_SIZE_FIXED);
  EXPECT_EQ(info.symbols[1], NPU_SIZE_FIXED);
}

// The structures as earlier headers had them: nothing is written behind their end.
TEST_F(Sized, StructuresOfEarlierVersionsAreFilled) {
  std::array<uint8_t, sizeof(npu_tensor_info)> bytes{};
  const auto fill = [&](size_t size, const auto& call) {
    bytes.fill(0xee);
    std::memcpy(bytes.data(), &size, sizeof size);
    const npu_status status = call();
    for (size_t i = size; i < bytes.size(); ++i) EXPECT_EQ(bytes[i], 0xee) << "byte " << i;
    return status;
  };
  auto* const tensor = reinterpret_cast<npu_tensor_info*>(bytes.data());
  const auto input = [&] { return npu_program_input(program, 0, tensor, error.out()); };
  EXPECT_OK(error, fill(offsetof(npu_tensor_info, symbols), input));
  EXPECT_EQ(tensor->bytes, 32u);
  for (const size_t size : {offsetof(npu_tensor_info, symbols) - 1, offsetof(npu_tensor_info, symbols) + 1}) {
    EXPECT_EQ(fill(size, input), NPU_STATUS_BAD_OPTION);
  }
  for (const size_t size : {offsetof(npu_program_info, blocking_cycles), offsetof(npu_program_info, program_count)}) {
    npu_program_info info{};
    info.struct_size = size;
    info.program_count = 99;
    EXPECT_OK(error, npu_program_get_info(program, &info, error.out()));
    EXPECT_EQ(info.program_count, 99u);
    EXPECT_GT(info.command_count, 0u);
    info.struct_size = size + 1;
    EXPECT_FAILS(error, NPU_STATUS_BAD_OPTION, npu_program_get_info(program, &info, error.out()));
  }
  auto info = sized<npu_program_info>();
  EXPECT_OK(error, npu_program_get_info(program, &info, error.out()));
  EXPECT_GE(info.program_count, 1u);
  EXPECT_OK(error, npu_program_get_info(bench.program, &info, error.out()));
  EXPECT_EQ(info.program_count, 1u);
}

TEST_F(Sized, BoundsMustBeThoseOfTheOpenSizes) {
  expect_refused(NPU_STATUS_BAD_OPTION, {}, "'x.0'");
  expect_refused(NPU_STATUS_BAD_OPTION, {{"x.0", 1, 8}}, "'x.1'");
  expect_refused(NPU_STATUS_BAD_OPTION, {{"x.0", 1, 8}, {"x.1", 1, 8}, {"x.2", 1, 8}}, "'x.2'");
  expect_refused(NPU_STATUS_BAD_OPTION, {{"x.0", 1, 8}, {"x.0", 1, 8}}, "twice");
  constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
  for (const auto& [least, most] : {std::pair<int64_t, int64_t>{0, 8}, {-1, 8}, {9, 8}, {1, kHuge}, {-kHuge - 1, 1}}) {
    expect_refused(NPU_STATUS_BAD_OPTION, {{"x.0", least, most}, {"x.1", 1, 8}}, "no bounds");
  }
  expect_refused(NPU_STATUS_BAD_OPTION, {{nullptr, 1, 8}}, "bounds[0].name is NULL");
  expect_refused(NPU_STATUS_BUDGET_EXCEEDED, {{"x.0", 1, 1000}, {"x.1", 1, 1000}}, "choices");
  const std::vector<uint8_t> file = two_sizes();
  npu_program* none = program;
  EXPECT_FAILS(
      error, NPU_STATUS_BAD_OPTION,
      npu_program_load_bounds(bench.context, file.data(), file.size(), nullptr, nullptr, 1, &none, error.out()));
  EXPECT_EQ(none, nullptr);
  EXPECT_FAILS(error, NPU_STATUS_FEATURE_UNSUPPORTED,
               npu_program_load_memory(bench.context, file.data(), file.size(), nullptr, &none, error.out()));
  EXPECT_NE(error.message().find("npu_program_load_bounds"), std::string::npos) << error.message();
  const std::vector<uint8_t> fixed = running_sum();
  EXPECT_FAILS(error, NPU_STATUS_BAD_OPTION, load(fixed, {kRows}, &none));
}

// What the file leaves open and no input decides is known without bounds.
TEST_F(Sized, SizesThatFollowFromFixedOnesNeedNoBounds) {
  graph::GraphBuilder b;
  const graph::TensorId x = b.input("x", DType::kInt8, {2, 6});
  b.output(b.raw(Op::kReshape, {x, b.shape({4, -1})}, {}, DType::kInt8, {4, -1}), "y");
  const std::vector<uint8_t> file = graph::serialize(b.build());
  npu_program* fixed = nullptr;
  ASSERT_OK(error, npu_program_load_memory(bench.context, file.data(), file.size(), nullptr, &fixed, error.out()));
  auto info = sized<npu_tensor_info>();
  ASSERT_OK(error, npu_program_output(fixed, 0, &info, error.out()));
  EXPECT_EQ(info.shape[1], 3);
  EXPECT_EQ(info.symbols[1], NPU_SIZE_FIXED);
  npu_program_destroy(fixed);
  EXPECT_FAILS(error, NPU_STATUS_BAD_OPTION, load(file, {}, &fixed));
  EXPECT_EQ(fixed, nullptr);
}

TEST_F(Sized, SizesOfInputsThatTheRulesDecideNeedNoBounds) {
  graph::GraphBuilder b;
  const graph::TensorId x = b.input("x", DType::kInt8, {-1, 6}), y = b.input("y", DType::kInt8, {2, 6});
  b.output(b.raw(Op::kBitwiseXor, {x, y}, {}, DType::kInt8, {-1, 6}), "z");
  const std::vector<uint8_t> file = graph::serialize(b.build());
  npu_program* fixed = nullptr;
  ASSERT_OK(error, npu_program_load_memory(bench.context, file.data(), file.size(), nullptr, &fixed, error.out()));
  auto info = sized<npu_tensor_info>();
  ASSERT_OK(error, npu_program_input(fixed, 0, &info, error.out()));
  EXPECT_EQ(info.shape[0], 2);
  EXPECT_EQ(info.symbols[0], NPU_SIZE_FIXED);
  npu_program_destroy(fixed);
}

TEST_F(Sized, CompiledProgramsHaveTheirBounds) {
  const std::vector<uint8_t> file = compiled_twice();
  const std::string path = testing::TempDir() + "npu_capi_bounds.npu";
  graph::write_file(path, file);
  npu_program* loaded = program;
  EXPECT_FAILS(error, NPU_STATUS_BAD_OPTION, load(file, {kRows}, &loaded));
  EXPECT_EQ(loaded, nullptr);
  EXPECT_NE(error.message().find("npu_program_load_memory"), std::string::npos) << error.message();
  EXPECT_FAILS(error, NPU_STATUS_BAD_OPTION,
               npu_program_load_file_bounds(bench.context, path.c_str(), &kRows, 1, &loaded, error.out()));
  EXPECT_NE(error.message().find("npu_program_load_file"), std::string::npos) << error.message();
  ASSERT_OK(error, npu_program_load_file(bench.context, path.c_str(), &loaded, error.out()));
  std::filesystem::remove(path);
  npu_size_bounds symbol{};
  ASSERT_OK(error, npu_program_symbol(loaded, 0, &symbol, error.out()));
  EXPECT_EQ(symbol.most, 8);
  npu_job_destroy(job);
  npu_program_destroy(program);
  program = loaded;
  ASSERT_OK(error, npu_job_create(program, nullptr, &job, error.out()));
  for (const int64_t rows : {8, 1, 3, 8, 2}) expect_runs(rows);
}

TEST_F(Sized, NetworksAreReadFromFiles) {
  const std::string path = testing::TempDir() + "npu_capi_open.tosa";
  graph::write_file(path, twice());
  npu_program* loaded = nullptr;
  ASSERT_OK(error, npu_program_load_file_bounds(bench.context, path.c_str(), &kRows, 1, &loaded, error.out()));
  EXPECT_EQ(npu_program_symbol_count(loaded), 1u);
  npu_program_destroy(loaded);
  std::filesystem::remove(path);
  EXPECT_FAILS(error, NPU_STATUS_CANNOT_READ,
               npu_program_load_file_bounds(bench.context, path.c_str(), &kRows, 1, &loaded, error.out()));
  EXPECT_EQ(loaded, nullptr);
}

TEST_F(Sized, InputsMustBeWithinTheBounds) {
  constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
  expect_runs(5);
  for (const int64_t rows : {int64_t{0}, int64_t{-1}, int64_t{9}, kHuge, -kHuge - 1}) {
    EXPECT_FAILS(error, NPU_STATUS_SIZE_OUT_OF_BOUNDS, set_input(0, rows, 4));
    EXPECT_NE(error.message().find("dimension 0 of input 'x'"), std::string::npos) << error.message();
  }
  for (const size_t bytes : {size_t{0}, size_t{11}, size_t{13}, size_t{32}}) {
    EXPECT_FAILS(error, NPU_STATUS_BAD_INPUT, set_input(0, 3, bytes));
  }
  EXPECT_FAILS(error, NPU_STATUS_BAD_INPUT, set_input(0, 3, SIZE_MAX));
  std::vector<int64_t> shape = {3, 4, 1};
  for (const uint32_t rank : {0u, 1u, 3u, UINT32_MAX}) {
    EXPECT_FAILS(error, NPU_STATUS_BAD_INPUT,
                 npu_job_set_input_shape(job, 0, shape.data(), rank, data.data(), 12, error.out()));
  }
  for (const int64_t columns : {int64_t{0}, int64_t{-1}, int64_t{3}, kHuge}) {
    shape = {3, columns};
    EXPECT_FAILS(error, NPU_STATUS_BAD_INPUT,
                 npu_job_set_input_shape(job, 0, shape.data(), 2, data.data(), 12, error.out()));
  }
  EXPECT_FAILS(error, NPU_STATUS_BAD_INPUT, npu_job_set_input(job, 0, data.data(), 12, error.out()));
  EXPECT_NE(error.message().find("npu_job_set_input_shape"), std::string::npos) << error.message();
  // What was set before stays.
  ASSERT_OK(error, npu_job_run(job, error.out()));
  auto info = sized<npu_tensor_info>();
  ASSERT_OK(error, npu_job_output_info(job, 0, &info, error.out()));
  EXPECT_EQ(info.shape[0], 10);
}

TEST_F(Sized, SizesThatDoNotFitEachOtherAreFoundAtTheStart) {
  for (const auto& [x, w] : {std::pair{3, 4}, {8, 1}, {1, 8}, {2, 1}}) {
    ASSERT_OK(error, set_input(0, x));
    ASSERT_OK(error, set_input(1, w));
    EXPECT_FAILS(error, NPU_STATUS_SIZE_MISMATCH, npu_job_start(job, error.out()));
    EXPECT_NE(error.message().find("is " + std::to_string(x)), std::string::npos) << error.message();
    expect_runs(x);
    expect_runs(w);
  }
}

TEST_F(Sized, TheShapeOfAnOutputStaysUntilTheNextStart) {
  expect_runs(3);
  auto info = sized<npu_tensor_info>();
  ASSERT_OK(error, npu_job_output_info(job, 0, &info, error.out()));
  ASSERT_OK(error, set_input(0, 5));
  ASSERT_OK(error, set_input(1, 5));
  EXPECT_EQ(info.shape[0], 6);
  info.struct_size = 5;
  EXPECT_FAILS(error, NPU_STATUS_BAD_OPTION, npu_job_output_info(job, 0, &info, error.out()));
  EXPECT_FAILS(error, NPU_STATUS_BAD_OPTION, npu_job_output_info(job, 1, &info, error.out()));
}

// Jobs of one program, each in a thread and one in both; for the thread sanitizer, too.
TEST_F(Sized, JobsOfSeveralThreads) {
  std::atomic<int> ran = 0;
  const auto look = [](void*, npu_job* ended) {
    auto info = sized<npu_tensor_info>();
    static_cast<void>(npu_job_output_info(ended, 0, &info, nullptr));  // it may run again already
  };
  ASSERT_OK(error, npu_job_on_complete(job, look, nullptr, error.out()));
  const auto use = [&](int64_t first) {
    npu_job* own = nullptr;
    ASSERT_EQ(npu_job_create(program, nullptr, &own, nullptr), NPU_OK);
    const std::array<uint8_t, 32> bytes{};
    for (int64_t i = 0; i < 60; ++i) {
      ErrorBox box;
      npu_job* const one = i % 2 == 0 ? own : job;
      const std::array<int64_t, 2> shape = {1 + (first + i) % 8, 4};
      for (const size_t index : {0, 1}) {
        EXPECT_OK(box, npu_job_set_input_shape(one, index, shape.data(), 2, bytes.data(),
                                               static_cast<size_t>(4 * shape[0]), box.out()));
      }
      const npu_status status = npu_job_run(one, box.out());
      if (status == NPU_OK) ++ran;
      EXPECT_TRUE(status == NPU_OK || status == NPU_STATUS_WRONG_ORDER || status == NPU_STATUS_SIZE_MISMATCH ||
                  status == NPU_STATUS_JOB_CANCELLED)
          << box.message();
      std::array<uint8_t, 64> y{};
      const npu_status copied = npu_job_output(one, 0, y.data(), static_cast<size_t>(8 * shape[0]), box.out());
      EXPECT_TRUE(copied == NPU_OK || copied == NPU_STATUS_WRONG_ORDER || copied == NPU_STATUS_BAD_INPUT)
          << box.message();
      auto info = sized<npu_program_info>();
      EXPECT_OK(box, npu_program_get_info(program, &info, box.out()));
      EXPECT_OK(box, npu_job_cancel(one, box.out()));
    }
    npu_job_destroy(own);
  };
  std::thread one(use, 0), other(use, 3);
  one.join();
  other.join();
  EXPECT_GT(ran, 0);
  EXPECT_OK(error, npu_job_on_complete(job, nullptr, nullptr, error.out()));
  expect_runs(4);
}

TEST_F(Sized, AFixedShapeIsTakenAsItIs) {
  const std::array<int64_t, 2> shape = {1, 4}, other = {2, 4};
  ASSERT_OK(error, npu_job_set_input_shape(bench.job, 0, shape.data(), 2, data.data(), 4, error.out()));
  ASSERT_OK(error, npu_job_run(bench.job, error.out()));
  auto info = sized<npu_tensor_info>();
  ASSERT_OK(error, npu_job_output_info(bench.job, 0, &info, error.out()));
  EXPECT_EQ(info.bytes, 4u);
  EXPECT_FAILS(error, NPU_STATUS_BAD_INPUT,
               npu_job_set_input_shape(bench.job, 0, other.data(), 2, data.data(), 8, error.out()));
}

}  // namespace
}  // namespace npu::test
