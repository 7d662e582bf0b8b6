#include "tests/system/state/device_walk.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace npu::test {

using contract::ErrorCode;

DeviceWalk::DeviceWalk(DeviceSubject& subject, const std::vector<Recipe>& recipes, uint32_t seed)
    : Walk(subject, recipes, seed), device_(subject) {
  const std::vector<Kind> more = {{"load", 20, [this] { load(); }},
                                  {"unload", 15, [this] { unload(); }},
                                  {"touch in flight", 20, [this] { touch_in_flight(); }},
                                  {"soft reset", 3, [this] { soft_reset(); }},
                                  {"cold reset", 2, [this] { cold_reset(); }}};
  kinds_.insert(kinds_.end(), more.begin(), more.end());
}

// The driver allocates when it loads, and keeps nothing of a program that does not fit.
void DeviceWalk::load_program(int context, Open& open, int program, size_t recipe) {
  open.programs.erase(program);
  std::set<ErrorCode> codes = obstacles(open);
  if (codes.empty() && !open.rules.fits(recipes_[recipe])) codes = {ErrorCode::kVariableMismatch};
  if (!attempt(codes, [&] { device_.load(context, program, recipe); })) return;
  open.programs[program] = recipe;
  open.rules.declare(recipes_[recipe]);
}

// Commands overlap: what a stopped job has written is one of the contents that it would have passed through.
void DeviceWalk::settle(int context, Open& open, const Outcome& outcome) {
  std::map<std::string, Listed> listed;
  for (Listed& variable : device_.list(context)) listed.emplace(variable.identity, variable);
  for (const auto& [identity, passed] : outcome.passed) {
    const Listed& now = listed.at(identity);
    Cell cell{passed.front().form, device_.read(context, identity).bytes, now.is_written};
    const bool known = std::any_of(passed.begin(), passed.end(), [&](const Cell& one) {
      return one.is_written == cell.is_written && (!one.is_written || one.bytes == cell.bytes);
    });
    EXPECT_TRUE(known) << identity << " is neither as it was nor as the job writes it";
    open.rules.cells.at(identity) = std::move(cell);
  }
}

void DeviceWalk::load() {
  auto& [context, open] = any_context();
  load_program(context, open, static_cast<int>(below(3)), below(recipes_.size()));
}

void DeviceWalk::unload() {
  auto& [context, open] = any_context();
  const int program = static_cast<int>(below(3));
  if (open.programs.erase(program) > 0) device_.unload(context, program);
}

void DeviceWalk::touch_in_flight() {
  auto& [context, open] = any_context();
  for (const auto& [program, recipe] : open.programs) {
    if (!obstacles(open).empty() || !open.rules.fits(recipes_[recipe])) continue;
    const std::vector<graph::Value> inputs = inputs_for(recipe);
    runtime::Job& job = device_.job(context, program, inputs);
    open.rules.declare(recipes_[recipe]);
    const Outcome outcome = open.rules.execute(recipes_[recipe], inputs);
    const std::string& identity = recipes_[recipe].uses.front().identity;
    job.start();
    const std::set<ErrorCode> refused = {ErrorCode::kWrongOrder};
    const int id = context;
    attempt(refused, [&] { device_.clear(id); });
    attempt(refused, [&] { device_.clear(id, identity); });
    attempt(refused, [&] { static_cast<void>(device_.read(id, identity)); });
    const bool ran = attempt(outcome.codes, [&] {
      while (!job.wait(std::chrono::seconds(1))) {
      }
    });
    if (!ran) settle(id, open, outcome);
    return;
  }
}

void DeviceWalk::soft_reset() { device_.device().soft_reset(); }

void DeviceWalk::cold_reset() {
  device_.device().cold_reset();
  for (auto& [context, open] : contexts_) open.rules.cells.clear();
}

}  // namespace npu::test
