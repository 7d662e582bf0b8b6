// SPDX-License-Identifier: Apache-2.0
// What sizes that change take of the host: processor time in which the inputs of a job are set and it is started,
// against a device that does nothing (MockHal).
//
//   build/release/tests/bench/sizes_bench
//
// For each network: jobs of static programs, one for each of some sizes; jobs of the programs for bounds, many at the
// same sizes before they change; and jobs of these whose sizes are others in each. All have the same sizes equally
// often. Choosing the program by the sizes counts. Prints a row of differences for each network, by the least of
// several runs that take turns; exit status 1 when new sizes take more than 50 us longer than a static job.
#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "driver/compiler/bounds.h"
#include "driver/compiler/compile.h"
#include "driver/compiler/size_table.h"
#include "driver/graph/validate.h"
#include "driver/runtime/mock_firmware.h"
#include "driver/runtime/mock_hal.h"
#include "driver/runtime/runtime.h"
#include "driver/specialise/bounded_programs.h"
#include "hw/presets/preset.h"
#include "tests/system/sized/open_networks.h"
#include "tests/system/state/networks.h"

namespace {

using namespace npu;
using graph::GivenShapes;

constexpr double kMostMicroseconds = 50;
constexpr int kRepetitions = 9;
constexpr double kSeconds = 0.05;  // of each, in what is timed
constexpr size_t kSizes = 8;
constexpr size_t kInARow = 64;  // jobs at the same sizes

// Of this thread's work: what else the computer does is not in it.
double seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// A device whose firmware completes a job when the driver waits for it, with the results that its sizes have.
class IdleDevice {
 public:
  explicit IdleDevice(const contract::Capabilities& caps) : IdleDevice(std::make_unique<runtime::MockHal>(caps)) {}

  // Seconds that `start` takes, which starts a job. Waits for its end.
  template <typename Start>
  double time(const compiler::SizeTable& table, const Start& start) {
    const double before = seconds();
    runtime::Job& job = start();
    const double taken = seconds() - before;
    answer(table);
    while (!job.wait(std::chrono::seconds(1))) {
    }
    mock_.clear_log();
    return taken;
  }

  [[nodiscard]] runtime::Context context() { return device_.create_context(); }

 private:
  explicit IdleDevice(std::unique_ptr<runtime::MockHal> hal)
      : mock_(*hal), firmware_(mock_), device_(runtime::Device::open(std::move(hal), options())) {
    firmware_.on_run = [this](const runtime::MockFirmware::Run& run) {
      sizes_ = run.job.sizes;
      firmware_.complete_later(run);
    };
  }

  static runtime::DeviceOptions options() {
    runtime::DeviceOptions options;
    options.firmware = runtime::MockFirmware::image();
    return options;
  }

  // What the firmware computes of a job's sizes.
  void answer(const compiler::SizeTable& table) {
    if (table.empty()) return;
    const uint64_t at = sizes_ + contract::JobSizes::kBytes;
    const uint64_t end = at + (table.symbols.size() + table.results.size()) * sizeof(int64_t);
    uint8_t* bytes = mock_.dram(end).data() + at;
    std::vector<int64_t> sizes(table.symbols.size());
    std::memcpy(sizes.data(), bytes, sizes.size() * sizeof(int64_t));
    bytes += sizes.size() * sizeof(int64_t);
    const compiler::SizeValues values = compiler::evaluate(table, sizes);
    for (const uint16_t result : table.results) {
      const int64_t value = values[result].value();
      std::memcpy(bytes, &value, sizeof(value));
      bytes += sizeof(value);
    }
  }

  runtime::MockHal& mock_;
  runtime::MockFirmware firmware_;
  runtime::Device device_;
  uint64_t sizes_ = 0;  // where those of the job in flight are
};

runtime::JobOptions job_options() {
  runtime::JobOptions options;
  options.poison = false;
  options.events = false;
  return options;
}

runtime::Job& start(runtime::Job& job, const std::vector<graph::Value>& inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) job.set_input(i, inputs[i]);
  job.start();
  return job;
}

// A network with sizes within its bounds, and inputs of these.
struct Subject {
  explicit Subject(test::OpenNetwork network) : name(network.name), bounds(std::move(network.bounds)) {
    open = std::move(network.graph);
    graph::validate(open, graph::Sizes::kMayBeUnknown);
    std::mt19937 random(1);
    for (size_t i = 0; i < kSizes; ++i) {
      shapes.push_back(shapes_of(i));
      fixed.push_back(graph::resolve(open, shapes.back()));
      graph::validate(fixed.back());
      inputs.push_back(test::random_inputs(fixed.back(), random));
    }
  }

  // From the most downwards.
  [[nodiscard]] GivenShapes shapes_of(size_t number) const {
    GivenShapes given;
    for (const graph::TensorId id : open.main().inputs) {
      const graph::Tensor& tensor = open.main().tensors[id];
      graph::Shape shape = tensor.shape;
      for (size_t d = 0; d < shape.size(); ++d) {
        if (shape[d] < 0) shape[d] = size_of(tensor.name + "." + std::to_string(d), number);
      }
      given[tensor.name] = shape;
    }
    return given;
  }
  [[nodiscard]] int64_t size_of(const std::string& symbol, size_t number) const {
    for (const compiler::SizeBounds& one : bounds) {
      if (one.name == symbol) return one.most - static_cast<int64_t>(number) * (one.most - one.least) / 8;
    }
    return size_of(bounds.front().name, number);  // equal to the first
  }

  std::string name;
  graph::Graph open;
  std::vector<compiler::SizeBounds> bounds;
  std::vector<GivenShapes> shapes;
  std::vector<graph::Graph> fixed;
  std::vector<std::vector<graph::Value>> inputs;
};

// The jobs of a network on a device.
class Rig {
 public:
  Rig(IdleDevice& idle, const contract::Capabilities& caps, Subject subject)
      : subject_(std::move(subject)),
        idle_(idle),
        programs_(idle.context(), compiler::compile_bounds(subject_.open, subject_.bounds, caps), true) {
    runtime::Context context = idle.context();
    for (const graph::Graph& fixed : subject_.fixed) {
      fixed_.push_back(context.load(compiler::compile(fixed, caps)).create_job(job_options()));
    }
    for (const GivenShapes& shapes : subject_.shapes) {
      const auto program = programs_.get(shapes);
      if (!jobs_.contains(program.get())) jobs_.emplace(program.get(), program->program.create_job(job_options()));
    }
  }

  [[nodiscard]] const std::string& name() const { return subject_.name; }
  [[nodiscard]] size_t programs() const { return jobs_.size(); }

  void run_static(benchmark::State& state) {
    size_t count = 0;
    for (auto _ : state) {
      const size_t i = count++ / kInARow % kSizes;
      state.SetIterationTime(idle_.time({}, [&]() -> runtime::Job& { return start(fixed_[i], subject_.inputs[i]); }));
    }
  }

  // `in_a_row`: jobs at the same sizes.
  void run_bounded(benchmark::State& state, size_t in_a_row) {
    size_t count = 0;
    for (auto _ : state) {
      const size_t i = count++ / in_a_row % kSizes;
      const GivenShapes& shapes = subject_.shapes[i];
      const compiler::SizeTable& table = programs_.get(shapes)->program.program().sizes;
      state.SetIterationTime(idle_.time(
          table, [&]() -> runtime::Job& { return start(jobs_.at(programs_.get(shapes).get()), subject_.inputs[i]); }));
    }
  }

 private:
  Subject subject_;
  IdleDevice& idle_;
  specialise::BoundedPrograms programs_;
  std::vector<runtime::Job> fixed_;
  std::map<const specialise::SizedProgram*, runtime::Job> jobs_;
};

double least(const std::vector<double>& times) { return *std::min_element(times.begin(), times.end()); }

// Keeps the least time of each, in microseconds.
class LeastTimes : public benchmark::ConsoleReporter {
 public:
  LeastTimes() : ConsoleReporter(OO_None) {}
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.aggregate_name == "least") times[run.run_name.function_name] = run.GetAdjustedRealTime();
    }
    ConsoleReporter::ReportRuns(runs);
  }
  std::map<std::string, double> times;
};

// Whether it is within the limit.
bool report(const Rig& rig, const LeastTimes& least_times) {
  const auto of = [&](const char* what) { return least_times.times.at(rig.name() + what); };
  const double fixed = of("/static"), same = of("/same sizes") - fixed, fresh = of("/new sizes") - fixed;
  std::printf(
      "%-15s static %5.2f us; for bounds, %zu programs: same sizes %+5.2f us, new sizes %+5.2f us (limit %+.0f)\n",
      rig.name().c_str(), fixed, rig.programs(), same, fresh, kMostMicroseconds);
  return fresh <= kMostMicroseconds;
}

void add(Rig& rig, const char* what, const std::function<void(benchmark::State&)>& run) {
  benchmark::RegisterBenchmark((rig.name() + what).c_str(), run)
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond)
      ->MinTime(kSeconds)
      ->Repetitions(kRepetitions)
      ->ComputeStatistics("least", least)
      ->ReportAggregatesOnly();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) {
    std::fprintf(stderr, "usage: sizes_bench\n");
    return 64;
  }
  std::string turns = "--benchmark_enable_random_interleaving=true";
  std::array<char*, 2> arguments = {argv[0], turns.data()};
  int count = arguments.size();
  benchmark::Initialize(&count, arguments.data());
  const contract::Capabilities caps = presets::load_preset("edge").caps;
  IdleDevice idle(caps);
  std::vector<std::unique_ptr<Rig>> rigs;
  for (const test::OpenNetwork& network :
       {test::open_rows(300), test::open_images(4, 1, 32), test::open_attention_cache(64)}) {
    rigs.push_back(std::make_unique<Rig>(idle, caps, Subject(network)));
    Rig& rig = *rigs.back();
    add(rig, "/static", [&rig](benchmark::State& state) { rig.run_static(state); });
    add(rig, "/same sizes", [&rig](benchmark::State& state) { rig.run_bounded(state, kInARow); });
    add(rig, "/new sizes", [&rig](benchmark::State& state) { rig.run_bounded(state, 1); });
  }
  LeastTimes least_times;
  benchmark::RunSpecifiedBenchmarks(&least_times);
  bool within = true;
  for (const std::unique_ptr<Rig>& rig : rigs) within &= report(*rig, least_times);
  return within ? 0 : 1;
}
