// SPDX-License-Identifier: Apache-2.0
// Key/value caches that grow: in each step a network looks at one row more of its variables, by the programs of one
// compilation, in one context. Half of a stream goes on in another device, from a snapshot.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "driver/compiler/bounds.h"
#include "driver/graph/file.h"
#include "driver/graph/validate.h"
#include "driver/runtime/snapshot.h"
#include "hw/presets/preset.h"
#include "tests/system/device/bench.h"
#include "tests/system/sized/open_networks.h"
#include "tests/system/sized/sized_stream.h"

namespace npu::test {
namespace {

namespace fs = std::filesystem;
constexpr int64_t kSteps = 64;
constexpr uintmax_t kMostBytes = 1 << 20;  // of a snapshot

// A network and the programs of the one compilation that all devices run.
struct Cache {
  OpenNetwork network;
  graph::Graph open;
  std::vector<compiler::Program> programs;
};

std::vector<Cache> compiled(const std::string& machine) {
  std::vector<Cache> caches;
  for (OpenNetwork& network : std::vector{open_cache(kSteps), open_attention_cache(kSteps)}) {
    graph::Graph open = network.graph;
    graph::validate(open, graph::Sizes::kMayBeUnknown);
    std::vector<compiler::Program> programs =
        compiler::compile_bounds(open, network.bounds, presets::load_preset(machine).caps);
    caches.push_back({std::move(network), std::move(open), std::move(programs)});
  }
  return caches;
}

// Steps `first` to `last`, in which so many rows are seen. Elements compared.
int64_t run(SizedStream& stream, int64_t first, int64_t last, std::mt19937& random) {
  int64_t compared = 0;
  for (int64_t step = first; step <= last; ++step) compared += stream.run({step}, random);
  return compared;
}

fs::path snapshot_of(const fs::path& folder, const Cache& cache) { return folder / cache.network.name; }

// In a process of its own, which must have no device yet; whether nothing differed.
template <typename Work>
bool apart(const Work& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      work();
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
    std::cout.flush();
    ::_exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = -1;
  return ::waitpid(child, &status, 0) == child && status == 0;
}

class CacheStream : public testing::TestWithParam<std::tuple<std::string, model::Mode>> {
 protected:
  [[nodiscard]] static std::string machine() { return std::get<0>(GetParam()); }
  [[nodiscard]] static runtime::Device open() { return open_device(options(machine(), std::get<1>(GetParam()))); }

  static void report(const Cache& cache, int64_t first, int64_t last, int64_t compared) {
    EXPECT_GT(compared, 0);
    std::cout << cache.network.name << ", steps " << first << " to " << last << ", " << cache.programs.size()
              << " programs of one compilation: 0 differing of " << compared << " elements of outputs and variables\n";
  }
};

TEST_P(CacheStream, GrowsByARowAStep) {
  const std::vector<Cache> caches = compiled(machine());
  runtime::Device device = open();
  for (const Cache& cache : caches) {
    SCOPED_TRACE(cache.network.name);
    std::mt19937 random(1);
    SizedStream stream(device, cache.network, cache.open, cache.programs);
    report(cache, 1, kSteps, run(stream, 1, kSteps, random));
  }
}

TEST_P(CacheStream, GoesOnInAFreshDeviceFromASnapshot) {
  const std::vector<Cache> caches = compiled(machine());
  const fs::path folder = fs::path(testing::TempDir()) / ("npu-cache-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  EXPECT_TRUE(apart([&] {
    runtime::Device device = open();
    for (const Cache& cache : caches) {
      std::mt19937 random(1);
      SizedStream stream(device, cache.network, cache.open, cache.programs);
      report(cache, 1, kSteps / 2, run(stream, 1, kSteps / 2, random));
      graph::write_file(snapshot_of(folder, cache), runtime::serialise(stream.context.snapshot()));
    }
  }));
  runtime::Device device = open();
  for (const Cache& cache : caches) {
    SCOPED_TRACE(cache.network.name);
    std::mt19937 random(1);
    SizedStream stream(device, cache.network, cache.open, cache.programs);
    for (int64_t step = 1; step <= kSteps / 2; ++step) static_cast<void>(stream.run_reference({step}, random));
    stream.load({kSteps / 2 + 1});
    stream.context.restore(runtime::parse_snapshot(graph::read_file(snapshot_of(folder, cache), kMostBytes)));
    report(cache, kSteps / 2 + 1, kSteps, run(stream, kSteps / 2 + 1, kSteps, random));
  }
  fs::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(Machines, CacheStream,
                         testing::Combine(testing::Values("edge", "nano"),
                                          testing::Values(model::Mode::kTimed, model::Mode::kFunctional)),
                         [](const auto& info) {
                           const bool timed = std::get<1>(info.param) == model::Mode::kTimed;
                           return std::get<0>(info.param) + (timed ? "_timed" : "_functional");
                         });

}  // namespace
}  // namespace npu::test
