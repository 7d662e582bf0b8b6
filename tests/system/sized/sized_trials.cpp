// SPDX-License-Identifier: Apache-2.0
#include "tests/system/sized/sized_trials.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <set>

#include "driver/graph/builder.h"
#include "driver/graph/resolve.h"
#include "driver/graph/validate.h"
#include "hw/contract/error.h"
#include "tests/system/graphs/graph_bench.h"
#include "tests/unit/compiler/front_check.h"

namespace npu::test {
namespace {

using compiler::Program;
using contract::ErrorCode;

constexpr int kSizes = 10;  // that run, of those
constexpr int kDraws = 60;  // of sizes, many of which fit no graph

std::vector<int64_t> sizes_of(const Program& program, const graph::GivenShapes& shapes) {
  std::vector<int64_t> sizes;
  for (const auto& symbol : program.sizes.symbols) {
    const auto [input, dim] = place_of(symbol.name);
    sizes.push_back(shapes.at(input)[dim]);
  }
  return sizes;
}

// The first one that has the sizes within its bounds; null: none.
const Program* program_for(const std::vector<Program>& programs, const graph::GivenShapes& shapes) {
  for (const Program& program : programs) {
    const std::vector<int64_t> sizes = sizes_of(program, shapes);
    bool within = true;
    for (size_t i = 0; i < sizes.size(); ++i) {
      within = within && sizes[i] >= program.sizes.symbols[i].least && sizes[i] <= program.sizes.symbols[i].most;
    }
    if (within) return &program;
  }
  return nullptr;
}

bool takes(const Program& program, const graph::GivenShapes& shapes) {
  const compiler::SizeValues values = compiler::evaluate(program.sizes, sizes_of(program, shapes));
  return std::all_of(program.sizes.conditions.begin(), program.sizes.conditions.end(),
                     [&](const auto& condition) { return compiler::holds(condition, values); });
}

void expect_same(const std::vector<Program>& a, const std::vector<Program>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].commands, b[i].commands);
    EXPECT_EQ(a[i].constants, b[i].constants);
    EXPECT_EQ(compiler::encode(a[i].sizes), compiler::encode(b[i].sizes));
  }
}

// What must hold of a program whatever the sizes are.
void check_program(const Program& program) {
  graph::GivenShapes largest;
  for (const compiler::Port& port : program.inputs) largest[port.name] = port.shape;
  EXPECT_TRUE(takes(program, largest));
  const Program fixed = compiler::at_sizes(program, sizes_of(program, largest));
  EXPECT_EQ(fixed.commands, program.commands) << "the words are not those of the largest sizes";
  EXPECT_TRUE(fixed.sizes.empty());
  for (size_t i = 0; i < fixed.inputs.size(); ++i) EXPECT_EQ(fixed.inputs[i].bytes, program.inputs[i].bytes);
  for (size_t i = 0; i < fixed.outputs.size(); ++i) EXPECT_EQ(fixed.outputs[i].bytes, program.outputs[i].bytes);
  // The driver writes the one when it loads the program, the firmware the other for each job.
  std::set<uint32_t> patched;
  for (const compiler::Patch& patch : program.patches) patched.insert(patch.word);
  for (const auto& rule : program.sizes.rules) {
    for (const uint32_t word : rule.words) {
      EXPECT_LT(word, program.main_words);
      EXPECT_FALSE(patched.contains(word)) << "a rule changes a word that the driver patches";
    }
  }
}

// A refusal without the names of the graph.
std::string reason_of(const Error& error) {
  const std::string text = error.what();
  for (const char* part : {"several sizes together decide", "more than 16 programs", "its size must be known",
                           "follows from no size of an input", "so it cannot be compiled for bounds",
                           "more different sizes", "a job brings at most"}) {
    if (text.find(part) != std::string::npos) return fmt::format("{}: ... {} ...", name(error.code()), part);
  }
  return fmt::format("{}: {}", name(error.code()), text);
}

// A job that comes in between.
graph::Graph quick_graph() {
  graph::GraphBuilder b;
  const graph::TensorId x = b.input("x", graph::DType::kInt32, {1, 8});
  b.output(b.maximum(x, b.constant(graph::DType::kInt32, {1, 1}, {3})));
  graph::Graph graph = b.build();
  graph::validate(graph);
  return graph;
}

size_t failures() {
  const testing::TestResult& result = *testing::UnitTest::GetInstance()->current_test_info()->result();
  size_t count = 0;
  for (int i = 0; i < result.total_part_count(); ++i) count += result.GetTestPartResult(i).failed() ? 1 : 0;
  return count;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Counts& counts) {
  out << fmt::format(
      "{} graphs compiled to {} programs (at most {} a graph), {} rules for {} words; {} sizes ran, {} refused by "
      "graph and program; {} elements compared\n{} graphs leave nothing open, {} are refused at one size too, {} are "
      "refused "
      "for bounds\n",
      counts.compiled, counts.programs, counts.most_programs, counts.rules, counts.words, counts.sizes,
      counts.refused_sizes, counts.compared, counts.without_sizes, counts.static_refused, counts.refusals());
  for (const auto& [reason, count] : counts.refused) out << fmt::format("  {} x {}\n", count, reason);
  return out;
}

Trials::Trials(const presets::Preset& machine, const Graphs& graphs, Interrupt interrupt)
    : device_(open_graph_device(machine)),
      graphs_(graphs),
      interrupt_(interrupt == Interrupt::kYes),
      quick_(quick_graph()) {
  graphs_.most_choices = number_from("NPU_SIZED_CHOICES", static_cast<uint32_t>(graphs.most_choices));
}

void Trials::run(uint32_t first, uint32_t count) {
  std::cout << "seeds " << first << " to " << first + count - 1 << " (NPU_SIZED_SEED, NPU_RANDOM_SIZES)" << std::endl;
  int failed = 0;
  for (uint32_t seed = first; seed < first + count && failed < 10; ++seed) {
    SCOPED_TRACE(fmt::format("NPU_SIZED_SEED={}", seed));
    const size_t before = failures();
    try {
      try_graph(seed);
    } catch (const Error& error) {
      ADD_FAILURE() << name(error.code()) << ": " << error.what();
    }
    device_.cold_reset();
    if (failures() > before) ++failed;
  }
  std::cout << counts << std::flush;
}

compiler::Options Trials::random_options(cosim::Random& random) const {
  compiler::Options options;
  options.firmware = device_.has_firmware();
  compiler::ScheduleOptions& schedule = options.schedule;
  schedule.double_buffer = !random.chance(20);
  schedule.prefetch = !random.chance(20);
  schedule.state_in_dram = random.chance(15);
  schedule.two_places = random.chance(25);
  schedule.resident_constants = random.chance(25);
  schedule.segment_cycles = random.chance(30) ? 256 : random.chance(20) ? 0 : 2048;
  if (random.chance(20)) schedule.effort = compiler::Effort::kLeast;
  if (interrupt_) schedule.segment_cycles = 64;
  return options;
}

bool Trials::compiles_at_one_size(const OpenGraph& open, const compiler::Options& options) const {
  try {
    graph::Graph sized = graph::resolve(open.graph, open.base);
    graph::validate(sized);
    static_cast<void>(compiler::compile(sized, device_.capabilities(), options));
    return true;
  } catch (const Error&) {
    return false;
  }
}

void Trials::try_graph(uint32_t seed) {
  const std::optional<OpenGraph> open = random_open_graph(seed, graphs_);
  if (!open) {
    ++counts.without_sizes;
    return;
  }
  cosim::Random random(seed);
  const compiler::Options options = random_options(random);
  std::vector<Program> programs;
  try {
    programs = compiler::compile_bounds(open->graph, open->bounds, device_.capabilities(), options);
  } catch (const Error& error) {
    if (!compiles_at_one_size(*open, options)) {
      ++counts.static_refused;
      return;
    }
    ++counts.refused[reason_of(error)];
    if (std::getenv("NPU_SIZED_VERBOSE") != nullptr) std::cout << seed << ": " << error.what() << '\n';
    return;
  }
  ++counts.compiled;
  if (std::getenv("NPU_SIZED_VERBOSE") != nullptr && programs.size() > 1)
    std::cout << seed << ": " << programs.size() << " programs\n";
  counts.programs += programs.size();
  counts.most_programs = std::max<uint64_t>(counts.most_programs, programs.size());
  for (const Program& program : programs) {
    check_program(program);
    for (size_t i = 0; i < program.variables.size(); ++i) {
      EXPECT_EQ(program.variables[i].in_dram, programs.front().variables.at(i).in_dram) << "one context runs them all";
    }
    counts.rules += program.sizes.rules.size();
    for (const auto& rule : program.sizes.rules) counts.words += rule.words.size();
  }
  if (seed % 8 == 0) {
    expect_same(programs, compiler::compile_bounds(open->graph, open->bounds, device_.capabilities(), options));
  }
  run_at_random_sizes(*open, programs, options, random);
}

void Trials::run_at_random_sizes(const OpenGraph& open, const std::vector<Program>& programs,
                                 const compiler::Options& options, cosim::Random& random) {
  runtime::Context context = device_.create_context({.priority = 1, .double_buffer = options.schedule.two_places});
  reference::Context state;
  int ran = 0;
  for (int draw = 0; draw < kDraws && ran < kSizes; ++draw) {
    const std::optional<graph::GivenShapes> shapes = random_shapes(open, random);
    if (!shapes) continue;
    std::string text;
    for (const auto& [input, shape] : *shapes) text += input + testing::PrintToString(shape) + ' ';
    SCOPED_TRACE(text);
    const Program* program = program_for(programs, *shapes);
    graph::Graph sized;
    try {
      sized = graph::resolve(open.graph, *shapes);
      graph::validate(sized);
    } catch (const Error& error) {
      ++counts.refused_sizes;
      EXPECT_FALSE(program != nullptr && takes(*program, *shapes)) << error.what();
      continue;
    }
    ASSERT_NE(program, nullptr);
    ASSERT_TRUE(takes(*program, *shapes));
    ++ran;
    run_at(sized, compiler::at_sizes(*program, sizes_of(*program, *shapes)), context, state);
    if (testing::Test::HasFatalFailure()) return;
  }
  for (const auto& [identity, variable] : state.variables) {
    if (!variable.is_written) continue;
    EXPECT_EQ(context.read_variable(identity).bytes, variable.value.bytes) << identity;
    counts.compared += *graph::element_count(variable.value.shape);
  }
}

void Trials::run_at(const graph::Graph& sized, const Program& fixed, runtime::Context& context,
                    reference::Context& state) {
  runtime::LoadedProgram loaded = context.load(fixed);
  uint64_t wait = 0, cycles = 0;  // of the job before: until its stream starts, and in which that runs
  for (int frame = 0; frame < (interrupt_ ? 2 : 1); ++frame) {
    std::vector<graph::Value> inputs, want;
    for (const graph::TensorId id : sized.main().inputs) {
      const graph::Tensor& tensor = sized.main().tensors[id];
      inputs.push_back(compiler::testing::random_value(tensor.type, tensor.shape, data_));
    }
    reference::Context after = state;
    try {
      want = reference::run(sized, inputs, after);
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ErrorCode::kRequireFailed) << error.what();
      return;  // unpredictable
    }
    state = std::move(after);
    runtime::Job job = loaded.create_job();
    for (size_t k = 0; k < inputs.size(); ++k) job.set_input(k, inputs[k]);
    runtime::RunResult result;
    if (interrupt_) {
      result = run_interrupted(job, wait, cycles);
    } else {
      result = job.run();
    }
    wait = result.times.started - result.times.submitted;
    cycles = result.cycles;
    const std::vector<graph::Value> got = job.outputs();
    ASSERT_EQ(got.size(), want.size());
    for (size_t k = 0; k < want.size(); ++k) {
      const graph::Difference difference = graph::compare(got[k], want[k]);
      counts.compared += difference.compared;
      ASSERT_EQ(difference.differing, 0) << "output " << k << ", the first is element " << difference.first;
    }
  }
  ++counts.sizes;
}

runtime::RunResult Trials::run_interrupted(runtime::Job& job, uint64_t wait, uint64_t cycles) {
  constexpr std::chrono::hours kForever{1};
  if (cycles == 0) return job.run();
  runtime::Context high = device_.create_context({.priority = 2});
  runtime::LoadedProgram program = high.load(compiler::compile(quick_, device_.capabilities()));
  job.start();
  runtime::Job quick = program.create_job({.not_before = device_.time() + wait + data_() % cycles});
  const graph::Value in = compiler::testing::random_value(graph::DType::kInt32, {1, 8}, data_);
  quick.set_input(0, in);
  quick.start();
  EXPECT_TRUE(job.wait(kForever));
  EXPECT_TRUE(quick.wait(kForever));
  reference::Context none;
  EXPECT_EQ(quick.outputs().at(0).bytes, reference::run(quick_, {in}, none)[0].bytes);
  runtime::RunResult result = job.result();
  counts.interruptions += result.times.preemptions;
  counts.saved_bytes += result.times.saved_bytes;
  return result;
}

}  // namespace npu::test
