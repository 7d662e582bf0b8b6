// SPDX-License-Identifier: Apache-2.0
// Programs for sizes within bounds through the C API: the same bits as the reference at any sizes, from a network and
// from a compiled program.
#include <array>
#include <filesystem>
#include <iostream>

#include "driver/compiler/bounds.h"
#include "driver/graph/file.h"
#include "driver/graph/validate.h"
#include "driver/program_file/program_file.h"
#include "hw/presets/preset.h"
#include "tests/system/capi/sized_bench.h"

namespace npu::test {
namespace {

constexpr int kInvocations = 10;

// Of one open size, of two and of three; some have several programs.
std::vector<OpenNetwork> networks() {
  std::vector<OpenNetwork> all = open_networks();
  all.push_back(open_images(1, 1, 12));
  return all;
}

std::vector<uint8_t> compiled(const OpenNetwork& network) {
  program_file::ProgramFile file;
  const presets::Preset machine = presets::load_preset(simulated_machine());
  file.capabilities = machine.caps;
  file.machine_name = simulated_machine();
  graph::Graph open = network.graph;
  graph::validate(open, graph::Sizes::kMayBeUnknown);
  file.programs = compiler::compile_bounds(open, network.bounds, machine.caps);
  return program_file::serialise(file);
}

npu_program_info info_of(SizedBench& bench) {
  auto info = sized<npu_program_info>();
  EXPECT_OK(bench.error, npu_program_get_info(bench.program, &info, bench.error.out()));
  return info;
}

void expect_symbols(SizedBench& bench, const OpenNetwork& network) {
  ASSERT_EQ(npu_program_symbol_count(bench.program), network.bounds.size());
  for (size_t i = 0; i < network.bounds.size(); ++i) {
    npu_size_bounds symbol{};
    ASSERT_OK(bench.error, npu_program_symbol(bench.program, i, &symbol, bench.error.out()));
    EXPECT_EQ(symbol.name, network.bounds[i].name);
    EXPECT_EQ(symbol.least, network.bounds[i].least);
    EXPECT_EQ(symbol.most, network.bounds[i].most);
  }
}

TEST(SizedBits, AreThoseOfTheReference) {
  for (const OpenNetwork& network : networks()) {
    SCOPED_TRACE(network.name);
    SizedBench bench(network);
    expect_symbols(bench, network);
    std::mt19937 random(1);
    int64_t compared = 0;
    for (int i = 0; i < kInvocations; ++i) compared += bench.run(random_sizes(network, random), random);
    std::cout << network.name << " on " << simulated_machine() << ": " << info_of(bench).program_count
              << " programs; 0 differing of " << compared << " elements at " << kInvocations << " sizes\n";
  }
}

TEST(SizedBits, AndCyclesOfACompiledProgramAreThoseOfItsNetwork) {
  const std::filesystem::path path =
      std::filesystem::path(testing::TempDir()) / ("npu_capi_sized_" + simulated_machine() + ".npu");
  for (const OpenNetwork& network : {open_rows(300), open_images(1, 1, 12)}) {
    SCOPED_TRACE(network.name);
    const std::vector<uint8_t> file = compiled(network);
    graph::write_file(path, file);
    int64_t compared = 0;
    std::vector<uint64_t> cycles;
    for (const bool from_program : {false, true}) {
      ErrorBox error;
      // So both find the device, and the refreshes of its memory, in the same state.
      ASSERT_OK(error, npu_device_cold_reset(simulated_device(), error.out()));
      SizedBench bench(network, from_program ? file : std::vector<uint8_t>{});
      expect_symbols(bench, network);
      std::mt19937 random(2);
      for (int i = 0; i < kInvocations; ++i) {
        compared += bench.run(random_sizes(network, random), random);
        if (!from_program) {
          cycles.push_back(bench.cycles());
        } else {
          EXPECT_EQ(bench.cycles(), cycles.at(static_cast<size_t>(i)));
        }
      }
      npu_program* again = nullptr;
      ASSERT_OK(error, npu_program_load_file(bench.context, path.string().c_str(), &again, error.out()));
      EXPECT_EQ(npu_program_symbol_count(again), network.bounds.size());
      npu_program_destroy(again);
    }
    std::cout << network.name << ": " << file.size() << " bytes of a file; 0 differing of " << compared
              << " elements at " << kInvocations << " sizes, and the same cycles\n";
  }
  std::filesystem::remove(path);
}

// What a program takes grows with the sizes that come; the numbers that say the most do not change.
TEST(SizedBits, ProgramsArePlacedWhenTheirSizesCome) {
  const OpenNetwork network = open_rows(300);
  SizedBench bench(network);
  const npu_program_info before = info_of(bench);
  ASSERT_GT(before.program_count, 1u);
  std::mt19937 random(3);
  bench.run({300}, random);
  EXPECT_EQ(info_of(bench).dram_bytes, before.dram_bytes) << "the largest sizes have a program from the start";
  bench.run({1}, random);
  const npu_program_info after = info_of(bench);
  EXPECT_GT(after.dram_bytes, before.dram_bytes);
  EXPECT_EQ(after.command_count, before.command_count);
  EXPECT_EQ(after.blocking_cycles, before.blocking_cycles);
  EXPECT_GT(after.blocking_cycles, 0u);
  bench.run({300}, random);
  bench.run({1}, random);
  EXPECT_EQ(info_of(bench).dram_bytes, after.dram_bytes);
  auto use = sized<npu_memory_use>();
  ASSERT_OK(bench.error, npu_device_memory_use(simulated_device(), &use, bench.error.out()));
  EXPECT_GE(use.dram_used, after.dram_bytes);
}

TEST(SizedBits, OfAVariableKeepItsSizeUntilItIsCleared) {
  const OpenNetwork network = open_state(9, 40);
  SizedBench bench(network);
  std::mt19937 random(4);
  int64_t compared = 0;
  std::array<uint8_t, 9 * 40> data{};
  EXPECT_FAILS(bench.error, NPU_STATUS_VARIABLE_MISMATCH,
               npu_context_write_variable(bench.context, "kept", data.data(), data.size(), bench.error.out()));
  const std::vector<Sizes> all = {{1, 1}, {1, 40}, {9, 1}, {2, 3}, {3, 2}, {5, 17}, {8, 39}, {9, 40}, {4, 4}, {7, 11}};
  for (size_t i = 0; i < all.size(); ++i) {
    SCOPED_TRACE(testing::PrintToString(all[i]));
    for (int k = 0; k < 3; ++k) compared += bench.run(all[i], random);
    const auto bytes = static_cast<size_t>(all[i][0] * all[i][1]);
    EXPECT_OK(bench.error, npu_context_read_variable(bench.context, "kept", data.data(), bytes, bench.error.out()));
    EXPECT_OK(bench.error, npu_context_write_variable(bench.context, "kept", data.data(), bytes, bench.error.out()));
    const Sizes& other = all[(i + 1) % all.size()];
    ASSERT_EQ(bench.set_inputs(bench.inputs(other, random)), NPU_OK) << bench.error.message();
    EXPECT_FAILS(bench.error, NPU_STATUS_VARIABLE_MISMATCH, npu_job_start(bench.job, bench.error.out()));
    for (const Sizes& sizes : {other, all[i]}) {
      const std::string shape = "INT8[" + std::to_string(sizes[0]) + ", " + std::to_string(sizes[1]) + "]";
      EXPECT_NE(bench.error.message().find(shape), std::string::npos) << bench.error.message();
    }
    auto info = sized<npu_tensor_info>();
    EXPECT_FAILS(bench.error, NPU_STATUS_WRONG_ORDER, npu_job_output_info(bench.job, 0, &info, bench.error.out()));
    compared += bench.run(all[i], random);
    bench.clear();
  }
  std::cout << "0 differing of " << compared << " elements with a variable of " << all.size() << " sizes\n";
}

// Before the first job, too: the context knows the variables as soon as the program is loaded.
TEST(SizedBits, GoOnFromASnapshot) {
  const OpenNetwork network = open_state(9, 40);
  SizedBench from(network), to(network);
  std::mt19937 random(6);
  from.run({3, 4}, random);
  to.restore(from);
  EXPECT_EQ(to.set_inputs(to.inputs({2, 4}, random)), NPU_OK);
  EXPECT_FAILS(to.error, NPU_STATUS_VARIABLE_MISMATCH, npu_job_start(to.job, to.error.out()));
  EXPECT_EQ(to.run({3, 4}, random), 12);
}

// A program of fixed sizes takes the one shape.
TEST(SizedBits, OfFixedSizesComeTheSameWay) {
  OpenNetwork network = open_rows(5);
  graph::validate(network.graph, graph::Sizes::kMayBeUnknown);
  network.graph = graph::resolve(network.graph, {{"x", {5, 4}}, {"w", {5, 4}}});
  SizedBench bench(network, file_of(network));
  EXPECT_EQ(npu_program_symbol_count(bench.program), 0u);
  EXPECT_EQ(info_of(bench).program_count, 1u);
  std::mt19937 random(5);
  int64_t compared = 0;
  for (int i = 0; i < 3; ++i) compared += bench.run({}, random);
  EXPECT_EQ(compared, 60);
  std::vector<graph::Value> values = bench.inputs({}, random);
  values[0].shape[0] = 4;
  values[0].bytes.resize(16);
  EXPECT_EQ(bench.set_inputs(values), NPU_STATUS_BAD_INPUT) << bench.error.message();
}

}  // namespace
}  // namespace npu::test
