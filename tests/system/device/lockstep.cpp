// SPDX-License-Identifier: Apache-2.0
// With the environment variable NPU_LOCKSTEP, the devices of a test program have their persistent SRAM (psram), or
// their engines too (all), on model and RTL in lockstep; each test then also fails where the two differ, and prints how
// much was compared.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "sim/cosim/back_ends.h"
#include "tests/system/device/bench.h"

namespace npu::test {
namespace {

using cosim::BackEnd;
using cosim::BackEnds;
using cosim::Unit;

// They outlive the devices, which a test's fixture may hold.
std::vector<std::unique_ptr<BackEnds>>& all_back_ends() {
  static auto* const all = new std::vector<std::unique_ptr<BackEnds>>();
  return *all;
}

void put_in_lockstep(platform::PlatformOptions& options) {
  all_back_ends().push_back(std::make_unique<BackEnds>(options.preset.caps));
  BackEnds& back_ends = *all_back_ends().back();
  if (std::getenv("NPU_LOCKSTEP") == std::string("all")) {
    back_ends.choose(Unit::kMxu, BackEnd::kLockstep);
    back_ends.choose(Unit::kVpu, BackEnd::kLockstep);
  }
  back_ends.choose_persistent(BackEnd::kLockstep);
  options.make_mxu = [&] { return back_ends.make(Unit::kMxu); };
  options.make_vpu = [&] { return back_ends.make(Unit::kVpu); };
  options.make_persistent = [&] { return back_ends.make_persistent(); };
}

class Judge final : public testing::EmptyTestEventListener {
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (result.failed()) say_failures();
  }
  void OnTestEnd(const testing::TestInfo& info) override {
    for (const auto& back_ends : all_back_ends()) {
      const cosim::PersistentRecord& record = back_ends->persistent_record();
      std::cout << "persistent SRAM in lockstep: " << record.operations << " operations on the table, "
                << record.accesses << " accesses, 0 of " << record.compared
                << " words, entries and answers differ; cycles equal in " << record.cycles.exact << " of "
                << record.cycles.count << "\n";
      if (back_ends->failure()) ADD_FAILURE() << info.name() << ": " << back_ends->failure()->text;
      if (!record.cycles.all_exact()) ADD_FAILURE() << info.name() << ": cycles of RTL and device differ";
    }
    all_back_ends().clear();
  }
  static void say_failures() {
    for (const auto& back_ends : all_back_ends()) {
      if (back_ends->failure()) std::cout << "lockstep: " << back_ends->failure()->text << "\n";
    }
  }
};

[[maybe_unused]] const bool lockstep = [] {
  if (std::getenv("NPU_LOCKSTEP") == nullptr) return false;
  options_hook() = put_in_lockstep;
  testing::UnitTest::GetInstance()->listeners().Append(new Judge());
  return true;
}();

}  // namespace
}  // namespace npu::test
