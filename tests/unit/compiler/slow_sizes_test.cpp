// SPDX-License-Identifier: Apache-2.0
// Programs for slow sizes, with a made-up compiler: which parts of the bounds get one, and when it ends.
#include "driver/compiler/slow_sizes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "driver/graph/builder.h"
#include "driver/graph/validate.h"
#include "hw/contract/error.h"

namespace npu::compiler {
namespace {

// Sizes of x [?, ?], 1 to 64 each.
class SlowSizes : public ::testing::Test {
 protected:
  static graph::Graph open() {
    graph::GraphBuilder b;
    const graph::TensorId x = b.input("x", graph::DType::kInt8, {-1, -1});
    b.output(b.raw(graph::Op::kReverse, {x}, {}, graph::DType::kInt8, {-1, -1}));
    graph::Graph graph = b.build();
    graph::validate(graph, graph::Sizes::kMayBeUnknown);
    return graph;
  }

  [[nodiscard]] uint64_t volume(size_t choice) const {
    const std::vector<int64_t>& sizes = choices_.choices()[choice];
    return static_cast<uint64_t>(sizes[0] * sizes[1]);
  }

  // The number of the largest choice is all that a program has here.
  Program compile(const std::vector<size_t>& choices) {
    ++compiled_;
    Program made;
    made.estimated_cycles = volume(choices.front());
    const std::vector<int64_t>& most = choices_.choices()[choices.front()];
    const std::vector<int64_t>& least = choices_.choices()[choices.back()];
    for (size_t d = 0; d < most.size(); ++d)
      made.sizes.symbols.push_back({"", static_cast<int32_t>(least[d]), static_cast<int32_t>(most[d])});
    return made;
  }

  // A share of what a program takes is for its largest sizes, whatever the sizes are.
  SlowSizesOptions options(double share) {
    SlowSizesOptions options;
    options.most_programs = 32;
    options.most_bytes = 1000;
    options.bytes = [](const Program&) { return uint64_t{10}; };
    options.compile = [this](const std::vector<size_t>& choices) { return compile(choices); };
    options.cycles = [this, share](const Program& program, size_t choice) {
      const auto largest = static_cast<double>(program.estimated_cycles), own = static_cast<double>(volume(choice));
      return static_cast<uint64_t>(100 * (share * largest + (1 - share) * own));
    };
    options.cycles_alone = [this](size_t choice) { return 100 * volume(choice); };
    options.progress = [this](size_t done, size_t all) {
      const double part = static_cast<double>(done) / static_cast<double>(all);
      EXPECT_GE(part, part_);
      EXPECT_LT(part, 1);
      part_ = part;
    };
    return options;
  }

  std::vector<Program> run(const SlowSizesOptions& options) {
    std::vector<size_t> all;
    for (size_t i = 0; i < choices_.choices().size(); ++i) all.push_back(i);
    std::vector<Program> programs = {compile(all)};
    compiled_ = 0;
    add_programs_for_slow_sizes(choices_, options, programs);
    return programs;
  }

  // Of all choices, in the first program that is for them.
  [[nodiscard]] double slowest(const std::vector<Program>& programs, const SlowSizesOptions& options) const {
    double most = 0;
    for (size_t c = 0; c < choices_.choices().size(); ++c) {
      const auto own = std::find_if(programs.begin(), programs.end(),
                                    [&](const Program& one) { return is_within(choices_.choices()[c], one.sizes); });
      if (own == programs.end()) {
        ADD_FAILURE() << "no program is for choice " << c;
        continue;
      }
      most = std::max(most, static_cast<double>(options.cycles(*own, c)) / static_cast<double>(100 * volume(c)));
    }
    return most;
  }

  const graph::Graph graph_ = open();
  const graph::Inference inference_ = infer(graph_);
  const std::vector<SizeBounds> bounds_ = {{"x.0", 1, 64}, {"x.1", 1, 64}};
  const SizeChoices choices_{graph_, inference_, bounds_};
  size_t compiled_ = 0;
  double part_ = 0;
};

TEST_F(SlowSizes, GetProgramsOfTheirOwn) {
  const SlowSizesOptions slow = options(0.05);
  const std::vector<Program> programs = run(slow);
  EXPECT_GT(programs.size(), 4U);
  EXPECT_LE(programs.size(), 32U);
  EXPECT_EQ(programs.back().estimated_cycles, 64U * 64) << "that of all sizes stays, behind the others";
  EXPECT_GT(part_, 0.5);
  EXPECT_GT(slowest({programs.back()}, slow), 200);
  EXPECT_LT(slowest(programs, slow), 1.6) << "between those that were looked at, too";
}

TEST_F(SlowSizes, AreNotLookedForWhereNoneAre) {
  EXPECT_EQ(run(options(0)).size(), 1U);
  EXPECT_EQ(compiled_, 0U);
}

TEST_F(SlowSizes, AreGivenUpWhereNothingHelps) {
  SlowSizesOptions useless = options(1);
  useless.cycles = [](const Program&, size_t) { return uint64_t{1'000'000}; };
  EXPECT_EQ(run(useless).size(), 1U);
  EXPECT_GT(compiled_, 0U);
  EXPECT_LE(compiled_, 64U);
}

TEST_F(SlowSizes, KeepTheirProgramWhereTheyCanHaveNoOther) {
  SlowSizesOptions impossible = options(1);
  impossible.compile = [&](const std::vector<size_t>&) -> Program {
    ++compiled_;
    throw Error(contract::ErrorCode::kArgumentUnsupported, "no table has that");
  };
  EXPECT_EQ(run(impossible).size(), 1U);
  EXPECT_GT(compiled_, 0U);
}

TEST_F(SlowSizes, GetAsManyProgramsAsMayBe) {
  SlowSizesOptions few = options(1);
  few.most_programs = 5;
  EXPECT_EQ(run(few).size(), 5U);
  few.most_programs = 32;
  few.most_bytes = 79;
  part_ = 0;
  EXPECT_EQ(run(few).size(), 7U) << "of 10 bytes each";
}

}  // namespace
}  // namespace npu::compiler
