// SPDX-License-Identifier: Apache-2.0
// Random steps through everything that may happen to a variable of open size, beside a plain model of the rules
// (docs/reference/state.md). NPU_SIZED_SEED says from which seed, NPU_SIZED_STEPS how many steps.
#include <gtest/gtest.h>

#include <array>
#include <iostream>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "driver/compiler/bounds.h"
#include "driver/graph/validate.h"
#include "tests/system/device/bench.h"
#include "tests/system/graphs/graph_bench.h"
#include "tests/system/sized/open_networks.h"
#include "tests/system/state/networks.h"
#include "tests/unit/errors/code_of.h"

namespace npu::test {
namespace {

using contract::ErrorCode;
using graph::DType;
using graph::Shape;

constexpr int64_t kColumns = 12;
const std::string kName = "kept";

graph::Value zeros(const Shape& shape) {
  return {DType::kInt8, shape, std::vector<uint8_t>(static_cast<size_t>(*graph::element_count(shape)))};
}

// What the rules say of the variable in one context.
class Model {
 public:
  struct Saved {
    bool allocated = false;
    std::optional<Shape> size;
    std::optional<graph::Value> value;
  };

  Model(int64_t most_rows, bool zero_init) : most_rows_(most_rows), zero_init_(zero_init) {}

  // A job that XORs x to the variable.
  ErrorCode run(const graph::Value& x) {
    if (!fits(x.shape)) return ErrorCode::kSizeOutOfBounds;
    allocate();
    if (size_ && *size_ != x.shape) return ErrorCode::kVariableMismatch;
    bind(x.shape);
    if (!value_) return ErrorCode::kVariableUnwritten;
    for (size_t i = 0; i < x.bytes.size(); ++i) value_->bytes[i] ^= x.bytes[i];
    return ErrorCode::kOk;
  }
  [[nodiscard]] ErrorCode read() const {
    if (!allocated_) return ErrorCode::kVariableUndeclared;
    return value_ ? ErrorCode::kOk : ErrorCode::kVariableUnwritten;
  }
  ErrorCode write(const graph::Value& value) {
    if (!allocated_) return ErrorCode::kVariableUndeclared;
    if (!fits(value.shape) || (size_ && *size_ != value.shape)) return ErrorCode::kVariableMismatch;
    bind(value.shape);
    value_ = value;
    return ErrorCode::kOk;
  }
  ErrorCode clear() {
    if (!allocated_) return ErrorCode::kVariableUndeclared;
    forget();
    return ErrorCode::kOk;
  }
  void forget() {
    allocated_ = false;
    size_.reset();
    value_.reset();
  }
  void allocate() { allocated_ = true; }
  [[nodiscard]] Saved save() const { return {allocated_, size_, value_}; }
  ErrorCode restore(const Saved& saved) {
    if (!saved.allocated) return ErrorCode::kBadSnapshot;
    if (saved.value && !fits(*saved.size)) return ErrorCode::kSizeOutOfBounds;
    forget();
    allocate();
    if (!saved.value) return ErrorCode::kOk;
    bind(*saved.size);
    value_ = saved.value;
    return ErrorCode::kOk;
  }

  [[nodiscard]] bool allocated() const { return allocated_; }
  [[nodiscard]] Shape shape() const { return size_.value_or(Shape{-1, -1}); }
  [[nodiscard]] const std::optional<graph::Value>& value() const { return value_; }
  [[nodiscard]] int64_t most_rows() const { return most_rows_; }

 private:
  [[nodiscard]] bool fits(const Shape& shape) const { return shape[0] <= most_rows_ && shape[1] <= kColumns; }
  void bind(const Shape& shape) {
    if (size_) return;
    size_ = shape;
    if (zero_init_) value_ = zeros(shape);
  }

  int64_t most_rows_;
  bool zero_init_, allocated_ = false;
  std::optional<Shape> size_;
  std::optional<graph::Value> value_;
};

// A context with all programs for its bounds, beside the model.
class Subject {
 public:
  Subject(runtime::Device& device, int64_t most_rows, runtime::ContextOptions options)
      : model(most_rows, options.zero_init), context_(device.create_context(options)) {
    const OpenNetwork network = open_state(most_rows, kColumns);
    graph::Graph open = network.graph;
    graph::validate(open, graph::Sizes::kMayBeUnknown);
    compiler::Options compiling;
    compiling.schedule.two_places = options.double_buffer;
    for (compiler::Program& program :
         compiler::compile_bounds(open, network.bounds, device.capabilities(), compiling)) {
      loaded_.push_back(context_.load(std::move(program)));
    }
    model.allocate();
  }

  ErrorCode run(const graph::Value& x) {
    runtime::Job job = program_for(x.shape).create_job();
    const ErrorCode code = code_of([&] {
      job.set_input("x", x);
      static_cast<void>(job.run());
    });
    if (code == ErrorCode::kOk) compare(job.outputs().front(), *model.value());
    return code;
  }
  ErrorCode read() {
    return code_of([&] { compare(context_.read_variable(kName), *model.value()); });
  }
  ErrorCode write(const graph::Value& value) {
    return code_of([&] { context_.write_variable(kName, value); });
  }
  ErrorCode clear() {
    return code_of([&] { context_.clear(kName); });
  }
  [[nodiscard]] runtime::Snapshot save() { return runtime::parse_snapshot(runtime::serialise(context_.snapshot())); }
  ErrorCode restore(const runtime::Snapshot& snapshot) {
    return code_of([&] { context_.restore(snapshot); });
  }

  void expect_as_in_model() {
    const std::vector<runtime::VariableInfo> all = context_.variables();
    ASSERT_EQ(all.size(), model.allocated() ? 1U : 0U);
    if (all.empty()) return;
    EXPECT_EQ(all.front().shape, model.shape());
    EXPECT_EQ(all.front().largest, (Shape{model.most_rows(), kColumns}));
    EXPECT_EQ(all.front().is_written, model.value().has_value());
  }

  Model model;
  int64_t compared = 0;

 private:
  // The last one, where none is for them.
  runtime::LoadedProgram& program_for(const Shape& sizes) {
    for (runtime::LoadedProgram& loaded : loaded_) {
      const auto& symbols = loaded.program().sizes.symbols;
      bool fits = true;
      for (size_t d = 0; d < sizes.size(); ++d) fits &= sizes[d] >= symbols[d].least && sizes[d] <= symbols[d].most;
      if (fits) return loaded;
    }
    return loaded_.back();
  }

  void compare(const graph::Value& got, const graph::Value& want) {
    const graph::Difference difference = graph::compare(got, want);
    EXPECT_EQ(difference.differing, 0);
    compared += difference.compared;
  }

  runtime::Context context_;
  std::vector<runtime::LoadedProgram> loaded_;
};

class SizedWalk : public testing::TestWithParam<std::string> {};

TEST_P(SizedWalk, KeepsTheRules) {
  const uint32_t seed = number_from("NPU_SIZED_SEED", 1), steps = number_from("NPU_SIZED_STEPS", 10000);
  runtime::Device device = open_device(options(GetParam(), model::Mode::kFunctional));
  std::vector<Subject> subjects;
  subjects.reserve(4);
  subjects.emplace_back(device, 9, runtime::ContextOptions{});
  subjects.emplace_back(device, 9, runtime::ContextOptions{.zero_init = true});
  subjects.emplace_back(device, 9, runtime::ContextOptions{.zero_init = true, .double_buffer = true});
  subjects.emplace_back(device, 4, runtime::ContextOptions{.zero_init = true});
  std::mt19937 random(seed);
  const auto below = [&](size_t count) { return std::uniform_int_distribution<size_t>(0, count - 1)(random); };
  const auto size_for = [&](const Model& model) {
    if (model.shape()[0] > 0 && below(4) > 0) return model.shape();
    return Shape{static_cast<int64_t>(below(10)) + 1, static_cast<int64_t>(below(kColumns + 1)) + 1};
  };
  struct Kept {
    runtime::Snapshot snapshot;
    Model::Saved saved;
  };
  std::array<std::optional<Kept>, 6> kept;
  std::map<std::string, std::map<ErrorCode, int>> ends;  // by step
  for (uint32_t step = 0; step < steps && !testing::Test::HasFailure(); ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    Subject& subject = subjects[below(subjects.size())];
    const auto end = [&](const char* what, ErrorCode got, ErrorCode want) {
      EXPECT_EQ(contract::name(got), contract::name(want)) << what;
      ++ends[what][got];
    };
    const size_t action = below(100);
    if (action < 50) {
      const graph::Value x = random_value(DType::kInt8, size_for(subject.model), random);
      const ErrorCode want = subject.model.run(x);
      end("run", subject.run(x), want);
    } else if (action < 60) {
      end("read", subject.read(), subject.model.read());
    } else if (action < 70) {
      const graph::Value value = random_value(DType::kInt8, size_for(subject.model), random);
      const ErrorCode want = subject.model.write(value);
      end("write", subject.write(value), want);
    } else if (action < 78) {
      const ErrorCode want = subject.model.clear();
      end("clear", subject.clear(), want);
    } else if (action < 87) {
      kept[below(kept.size())] = Kept{subject.save(), subject.model.save()};
      ++ends["save"][ErrorCode::kOk];
    } else if (action < 97) {
      const std::optional<Kept>& from = kept[below(kept.size())];
      if (!from) continue;
      const ErrorCode want = subject.model.restore(from->saved);
      end("restore", subject.restore(from->snapshot), want);
    } else if (action < 99) {
      device.soft_reset();
      ++ends["soft reset"][ErrorCode::kOk];
    } else {
      device.cold_reset();
      for (Subject& one : subjects) one.model.forget();
      ++ends["cold reset"][ErrorCode::kOk];
    }
    subject.expect_as_in_model();
  }
  int64_t compared = 0;
  for (Subject& subject : subjects) {
    if (subject.model.value()) {
      EXPECT_EQ(subject.read(), ErrorCode::kOk);
    }
    compared += subject.compared;
  }
  std::cout << "seed " << seed << ", " << steps << " steps; 0 differing of " << compared << " elements\n";
  for (const auto& [what, codes] : ends) {
    for (const auto& [code, count] : codes)
      std::cout << "  " << what << ": " << contract::name(code) << ' ' << count << '\n';
  }
  for (const ErrorCode code :
       {ErrorCode::kOk, ErrorCode::kSizeOutOfBounds, ErrorCode::kVariableMismatch, ErrorCode::kVariableUnwritten}) {
    EXPECT_GT(ends["run"][code], 0) << "this walk tested little";
  }
  EXPECT_GT(ends["restore"][ErrorCode::kSizeOutOfBounds], 0);
}

INSTANTIATE_TEST_SUITE_P(Machines, SizedWalk, testing::Values("edge", "nano"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace npu::test
