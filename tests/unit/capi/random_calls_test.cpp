// SPDX-License-Identifier: Apache-2.0
// Calls of the C API in random order, with handles that are there and without, and with arguments that are right, wrong
// or damaged: each answers with a status that it may have, in its return value and in its error, and the library goes
// on.
#include <algorithm>
#include <array>
#include <iostream>
#include <map>
#include <random>

#include "tests/unit/capi/firmware_fixture.h"

namespace npu::test {
namespace {

constexpr int kCalls = 20'000;

// x INT8[?, 4] -> y INT16[?, 4].
std::vector<uint8_t> open_rows() {
  graph::GraphBuilder b;
  b.output(b.cast(b.input("x", graph::DType::kInt8, {-1, 4}), graph::DType::kInt16), "y");
  return graph::serialize(b.build());
}

class RandomCalls : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(bench_.open(), NPU_OK) << bench_.error.message();
    std::cout << "seed " << kSeed << '\n';
  }
  ~RandomCalls() override {
    for (npu_job* job : jobs_) npu_job_destroy(job);
    for (npu_program* program : programs_) npu_program_destroy(program);
    for (npu_context* context : contexts_) npu_context_destroy(context);
  }

  [[nodiscard]] uint32_t below(size_t end) { return static_cast<uint32_t>(random_() % end); }
  // One of them, now and then none.
  template <typename Handle>
  [[nodiscard]] Handle* any(const std::vector<Handle*>& handles) {
    return handles.empty() || below(20) == 0 ? nullptr : handles[below(handles.size())];
  }
  // The handle goes, and another one, if there is one, takes its place.
  template <typename Handle>
  void forget(std::vector<Handle*>& handles, void (*destroy)(Handle*)) {
    if (handles.empty()) return destroy(nullptr);
    std::swap(handles[below(handles.size())], handles.back());
    destroy(handles.back());
    handles.pop_back();
  }
  template <typename T>
  [[nodiscard]] T options() {
    T made = sized<T>();
    if (below(4) == 0) made.struct_size = below(sizeof made + 1);
    return made;
  }
  [[nodiscard]] const char* any_identity() {
    constexpr std::array<const char*, 4> kNames = {"sum/state", "", "none", nullptr};
    return kNames[below(8) < 5 ? 0 : below(kNames.size())];
  }
  [[nodiscard]] int64_t any_rows() {
    constexpr std::array<int64_t, 5> kOdd = {0, -1, 7, INT64_MAX, INT64_MIN};
    return below(8) == 0 ? kOdd[below(kOdd.size())] : 1 + below(6);
  }
  npu_status set_input_shape(npu_error** error) {
    const std::array<int64_t, 3> shape = {any_rows(), 4, 1};
    const bool right = below(4) != 0 && shape[0] > 0 && shape[0] < 16;
    return npu_job_set_input_shape(any(jobs_), below(8) == 0 ? below(3) : 0, shape.data(),
                                   below(16) == 0 ? below(4) : 2, bytes_.data(),
                                   right ? static_cast<size_t>(4 * shape[0]) : any_size(), error);
  }
  [[nodiscard]] size_t any_size() { return below(3) == 0 ? below(bytes_.size() + 1) : 4; }
  void damage(std::vector<uint8_t>& bytes) {
    for (uint32_t left = below(6); left > 0 && !bytes.empty(); --left) {
      bytes[below(bytes.size())] = static_cast<uint8_t>(random_());
    }
    if (below(8) == 0) bytes.resize(below(bytes.size() + 1));
  }

  npu_status create_context(npu_error** error) {
    auto how = options<npu_context_options>();
    how.priority = below(300);
    how.zero_init = below(2) != 0;
    how.double_buffer = below(2) != 0;
    npu_context* context = nullptr;
    const npu_status status = npu_context_create(bench_.device, below(2) != 0 ? &how : nullptr, &context, error);
    if (context != nullptr) contexts_.push_back(context);
    return status;
  }
  npu_status load(npu_error** error) {
    const bool open = below(2) != 0;
    std::vector<uint8_t> file = open ? open_ : running_sum();
    if (below(2) != 0) damage(file);
    npu_program* program = nullptr;
    const char* const name = below(2) != 0 ? "a network" : nullptr;
    const npu_size_bounds bounds = {below(8) == 0 ? any_identity() : "x.0", below(8) == 0 ? any_rows() : 1,
                                    below(8) == 0 ? any_rows() : 6};
    const npu_status status =
        open ? npu_program_load_bounds(any(contexts_), file.data(), file.size(), name, &bounds, below(8) == 0 ? 0 : 1,
                                       &program, error)
             : npu_program_load_memory(any(contexts_), file.data(), file.size(), name, &program, error);
    if (program != nullptr) programs_.push_back(program);
    return status;
  }
  npu_status create_job(npu_error** error) {
    auto how = options<npu_job_options>();
    how.cycle_limit = below(2) * random_();
    npu_job* job = nullptr;
    const npu_status status = npu_job_create(any(programs_), below(2) != 0 ? &how : nullptr, &job, error);
    if (job != nullptr) jobs_.push_back(job);
    return status;
  }
  npu_status restore(npu_error** error) {
    std::vector<uint8_t> state(4096);
    size_t length = 0;
    if (npu_context_snapshot(any(contexts_), "label", state.data(), state.size(), &length, nullptr) == NPU_OK) {
      state.resize(length);
    }
    if (below(2) != 0) damage(state);
    return npu_context_restore(any(contexts_), state.data(), state.size(), error);
  }

  // One call. NPU_OK for those that cannot fail.
  npu_status call(npu_error** error) {
    bool flag = false;
    uint32_t word = 0;
    uint64_t wide = 0;
    switch (below(30)) {
      case 0:
        return contexts_.size() < 20 ? create_context(error) : NPU_OK;
      case 1:
        return programs_.size() < 20 ? load(error) : NPU_OK;
      case 2:
        return jobs_.size() < 20 ? create_job(error) : NPU_OK;
      case 3:
        if (below(4) == 0) forget(contexts_, npu_context_destroy);
        return NPU_OK;
      case 4:
        if (below(4) == 0) forget(programs_, npu_program_destroy);
        return NPU_OK;
      case 5:
        forget(jobs_, npu_job_destroy);
        return NPU_OK;
      case 6:
      case 7:
        return npu_job_set_input(any(jobs_), below(8) == 0 ? below(3) : 0, bytes_.data(), any_size(), error);
      case 8:
        return npu_job_start(any(jobs_), error);
      case 9:
        return npu_job_wait(any(jobs_), below(2) * 1'000'000, below(10) == 0 ? nullptr : &flag, error);
      case 10:
      case 11:
        return npu_job_run(any(jobs_), error);
      case 12:
        return npu_job_cancel(any(jobs_), error);
      case 13:
        return npu_job_commands_done(any(jobs_), &wide, error);
      case 14:
        return npu_job_output(any(jobs_), below(8) == 0 ? below(3) : 0, bytes_.data(), any_size(), error);
      case 15: {
        auto result = options<npu_job_result>();
        return npu_job_get_result(any(jobs_), &result, error);
      }
      case 16:
        return npu_context_read_variable(any(contexts_), any_identity(), bytes_.data(), any_size(), error);
      case 17:
        return npu_context_write_variable(any(contexts_), any_identity(), bytes_.data(), any_size(), error);
      case 18:
        return npu_context_clear_variable(any(contexts_), any_identity(), error);
      case 19:
        return restore(error);
      case 20: {
        npu_variables* variables = nullptr;
        const npu_status status = npu_context_variables(any(contexts_), &variables, error);
        auto info = options<npu_variable_info>();
        static_cast<void>(npu_variables_get(variables, below(4), &info, nullptr));
        npu_variables_destroy(variables);
        return status;
      }
      case 21:
        return npu_device_set_power(bench_.device, below(4), error);
      case 22:
        return npu_device_set_persistent_power(bench_.device, below(5), error);
      case 23:
        return below(20) == 0   ? npu_device_soft_reset(bench_.device, error)
               : below(20) == 0 ? npu_device_cold_reset(bench_.device, error)
                                : npu_context_acknowledge_loss(any(contexts_), error);
      case 24:
        return npu_device_persistent_power(bench_.device, &word, error);
      case 25:
      case 26:
        return set_input_shape(error);
      case 27: {
        auto info = options<npu_tensor_info>();
        return npu_job_output_info(any(jobs_), below(8) == 0 ? below(3) : 0, &info, error);
      }
      case 28: {
        npu_size_bounds symbol{};
        return npu_program_symbol(any(programs_), below(2), &symbol, error);
      }
      default: {
        auto info = options<npu_program_info>();
        return npu_program_get_info(any(programs_), &info, error);
      }
    }
  }

  // A network still runs, whatever happened before.
  void expect_good() {
    ErrorBox box;
    for (npu_job*& job : jobs_) npu_job_destroy(std::exchange(job, nullptr));
    jobs_.clear();
    ASSERT_OK(box, npu_device_set_persistent_power(bench_.device, NPU_PERSISTENT_ON, box.out()));
    while (!contexts_.empty()) forget(contexts_, npu_context_destroy);
    while (!programs_.empty()) forget(programs_, npu_program_destroy);
    ASSERT_OK(box, npu_context_create(bench_.device, nullptr, &bench_.context, box.out()));
    const std::vector<uint8_t> file = running_sum();
    ASSERT_OK(box,
              npu_program_load_memory(bench_.context, file.data(), file.size(), "sum", &bench_.program, box.out()));
    bench_.make_job(nullptr);
    ASSERT_OK(box, npu_job_run(bench_.job, box.out()));
    std::array<int8_t, 4> output{};
    ASSERT_OK(box, npu_job_output(bench_.job, 0, output.data(), output.size(), box.out()));
    EXPECT_EQ(output, (std::array<int8_t, 4>{7, 7, 7, 7}));
    npu_job_destroy(std::exchange(bench_.job, nullptr));
    npu_program_destroy(std::exchange(bench_.program, nullptr));
    npu_context_destroy(std::exchange(bench_.context, nullptr));
  }

  static constexpr uint32_t kSeed = 20261123;
  FirmwareBench bench_;
  std::mt19937 random_{kSeed};
  std::vector<npu_context*> contexts_;
  std::vector<npu_program*> programs_;
  std::vector<npu_job*> jobs_;
  std::array<uint8_t, 64> bytes_{};
  const std::vector<uint8_t> open_ = open_rows();
};

TEST_F(RandomCalls, AnswerAndGoOn) {
  std::map<npu_status, int> answers;
  for (int i = 0; i < kCalls && !HasFailure(); ++i) {
    SCOPED_TRACE("call " + std::to_string(i));
    ErrorBox box;
    const bool wants_error = below(4) != 0;
    const npu_status status = call(wants_error ? box.out() : nullptr);
    ++answers[status];
    EXPECT_STRNE(npu_status_name(status), "?");
    EXPECT_NE(npu_status_class(status), NPU_CLASS_INTERNAL) << box.message();
    if (wants_error) {
      EXPECT_EQ(npu_error_status(box.error), status) << box.message();
      EXPECT_EQ(box.message().empty(), status == NPU_OK);
    }
    if (i % 1000 == 999) expect_good();
  }
  for (const auto& [status, count] : answers) std::cout << npu_status_name(status) << ' ' << count << '\n';
  EXPECT_GT(answers.size(), 8U) << "too few kinds of answers";
}

}  // namespace
}  // namespace npu::test
