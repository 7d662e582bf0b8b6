// SPDX-License-Identifier: Apache-2.0
#include "tests/system/state/device_walk.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "hw/contract/gen/registers.h"

namespace npu::test {

using contract::ErrorCode;
using contract::PsramPower;

namespace {

std::set<ErrorCode> refusals(ErrorCode code) { return code == ErrorCode::kOk ? std::set<ErrorCode>{} : std::set{code}; }

}  // namespace

DeviceWalk::DeviceWalk(DeviceSubject& subject, const std::vector<Recipe>& recipes, uint32_t seed)
    : Walk(subject, recipes, seed), device_(subject), room_(subject.device().capabilities()) {
  const std::vector<Kind> more = {{"load", 20, [this] { load(); }},
                                  {"unload", 15, [this] { unload(); }},
                                  {"touch in flight", 20, [this] { touch_in_flight(); }},
                                  {"cancel", 15, [this] { cancel(); }},
                                  {"brown-out", 30, [this] { brown_out(); }},
                                  {"soft reset", 3, [this] { soft_reset(); }},
                                  {"cold reset", 2, [this] { cold_reset(); }},
                                  {"save", 25, [this] { save(); }},
                                  {"restore", 40, [this] { restore(); }},
                                  {"scrub", 3, [this] { scrub(); }},
                                  {"retention", 20, [this] { switch_power(PsramPower::kRetention); }},
                                  {"power off", 3, [this] { switch_power(PsramPower::kOff); }},
                                  {"power on", 15, [this] { switch_power(PsramPower::kOn); }},
                                  {"acknowledge", 80, [this] { acknowledge(); }}};
  kinds_.insert(kinds_.end(), more.begin(), more.end());
}

std::set<ErrorCode> DeviceWalk::refusal(const Open& open, const std::string& identity) {
  if (open.rules.lost) return {ErrorCode::kPowerLost};
  if (!open.rules.cells.contains(identity)) return {ErrorCode::kVariableUndeclared};
  if (power_ != PsramPower::kOn) return {ErrorCode::kFaultPower};
  return {};
}

// A job switches the memory on by itself.
std::set<ErrorCode> DeviceWalk::refusal_to_run(const Open& open) {
  if (open.rules.lost) return {ErrorCode::kPowerLost};
  power_ = PsramPower::kOn;
  return {};
}

// The driver allocates when it loads, and keeps nothing of a program that does not fit.
void DeviceWalk::load_program(int context, Open& open, int program, size_t recipe) {
  open.programs.erase(program);
  std::erase(open.order, program);
  const ErrorCode refused = open.rules.lost ? ErrorCode::kPowerLost : declare(context, open, recipe);
  if (!attempt(refusals(refused), [&] { device_.load(context, program, recipe); })) return;
  open.programs[program] = recipe;
  open.order.push_back(program);
}

Room& DeviceWalk::room() {
  std::erase_if(room_.contexts(), [&](const auto& places) { return !contexts_.contains(places.first); });
  for (auto& [context, places] : room_.contexts()) {
    const auto& cells = contexts_.at(context).rules.cells;
    std::erase_if(places, [&](const auto& place) { return !cells.contains(place.first); });
  }
  return room_;
}

ErrorCode DeviceWalk::declare(int context, Open& open, size_t recipe) {
  const ErrorCode refused =
      room().declare(context, device_.variables(recipe), open.rules.double_buffer, power_ == PsramPower::kOn);
  if (refused == ErrorCode::kOk) open.rules.declare(recipes_[recipe]);
  return refused;
}

void DeviceWalk::verify_places(int context, const std::map<std::string, Listed>& listed) {
  const runtime::MemoryUse use = device_.device().memory_use();
  EXPECT_EQ(use.variables, room().entries());
  EXPECT_EQ(use.persistent_used, room().sram_bytes());
  for (const auto& [identity, place] : room().contexts()[context]) {
    ASSERT_TRUE(listed.contains(identity)) << identity;
    EXPECT_EQ(listed.at(identity).in_dram, place.in_dram) << identity;
    EXPECT_EQ(listed.at(identity).double_buffered, place.two_places) << identity;
  }
}

// Commands overlap: what a stopped job has written is one of the contents that it would have passed through, or it is
// torn.
void DeviceWalk::settle(int context, Open& open, const Outcome& outcome) {
  std::map<std::string, Listed> listed;
  for (Listed& variable : device_.list(context)) listed.emplace(variable.identity, variable);
  for (const auto& [identity, passed] : outcome.passed) {
    const Listed& now = listed.at(identity);
    Cell cell{passed.front().form, {}, now.is_written, now.torn};
    EXPECT_FALSE(cell.torn && now.double_buffered) << identity << " has two places and is torn";
    // Only read.
    if (passed.size() == 1) {
      EXPECT_EQ(cell.torn, passed.front().torn) << identity;
    }
    if (cell.is_written && !cell.torn) cell.bytes = device_.read(context, identity).bytes;
    const bool known = std::any_of(passed.begin(), passed.end(), [&](const Cell& one) {
      if (cell.torn) return one.is_written == cell.is_written;
      return !one.torn && one.is_written == cell.is_written && (!one.is_written || one.bytes == cell.bytes);
    });
    EXPECT_TRUE(known) << identity << " is neither as it was nor as the job writes it, nor torn";
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
  std::erase(open.order, program);
  if (open.programs.erase(program) > 0) device_.unload(context, program);
}

void DeviceWalk::with_job(const std::function<void(int, const Recipe&, runtime::Job&)>& meanwhile,
                          const std::set<ErrorCode>& may) {
  auto& [context, open] = any_context();
  if (open.programs.empty() || open.rules.lost) return;
  const int program = any_program(open);
  const Recipe& recipe = recipes_[open.programs.at(program)];
  const std::vector<graph::Value> inputs = inputs_for(open.programs.at(program));
  static_cast<void>(refusal_to_run(open));
  const ErrorCode refused = declare(context, open, open.programs.at(program));
  runtime::Job& job = device_.job(context, program, inputs);
  if (!attempt(refusals(refused), [&] { job.start(); })) return;
  const Outcome outcome = open.rules.execute(recipe, inputs);
  meanwhile(context, recipe, job);
  const bool ran = attempt(
      outcome.codes,
      [&] {
        while (!job.wait(std::chrono::seconds(1))) {
        }
      },
      may);
  if (!ran) settle(context, open, outcome);
}

void DeviceWalk::touch_in_flight() {
  with_job(
      [this](int context, const Recipe& recipe, runtime::Job&) {
        const std::set<ErrorCode> refused = {ErrorCode::kWrongOrder};
        const std::string& identity = recipe.uses.front().identity;
        attempt(refused, [&] { device_.clear(context); });
        attempt(refused, [&] { device_.clear(context, identity); });
        attempt(refused, [&] { static_cast<void>(device_.read(context, identity)); });
        attempt(refused, [&] { static_cast<void>(device_.context(context).snapshot()); });
        attempt(refused, [&] { device_.device().set_persistent_power(PsramPower::kRetention); });
      },
      {});
}

void DeviceWalk::cancel() {
  with_job([](int, const Recipe&, runtime::Job& job) { job.cancel(); }, {ErrorCode::kJobCancelled});
}

// Power breaks down after so many more bytes that jobs write to variables.
void DeviceWalk::brown_out() {
  auto& [context, open] = any_context();
  if (open.programs.empty() || open.rules.lost) return;
  device_.device().write_register(contract::reg::kTestBrownout, static_cast<uint32_t>(1 + below(500)));
  const int64_t before = refused(ErrorCode::kFaultPower);
  run_program(context, open, any_program(open), {ErrorCode::kFaultPower});
  brown_outs_ += refused(ErrorCode::kFaultPower) - before;
  device_.device().write_register(contract::reg::kTestBrownout, 0);
}

// With a job in flight, which it stops.
void DeviceWalk::soft_reset() {
  with_job([this](int, const Recipe&, runtime::Job&) { device_.device().soft_reset(); }, {ErrorCode::kWrongOrder});
}

void DeviceWalk::cold_reset() {
  device_.device().cold_reset();
  power_ = PsramPower::kOn;
  for (auto& [context, open] : contexts_) {
    open.rules.cells.clear();
    open.rules.lost = false;
  }
}

void DeviceWalk::save() {
  auto& [context, open] = any_context();
  std::set<ErrorCode> codes;
  const auto& cells = open.rules.cells;
  if (open.rules.lost) {
    codes = {ErrorCode::kPowerLost};
  } else if (power_ != PsramPower::kOn && !cells.empty()) {
    codes = {ErrorCode::kFaultPower};
  } else if (std::any_of(cells.begin(), cells.end(),
                         [](const auto& cell) { return cell.second.is_written && cell.second.torn; })) {
    codes = {ErrorCode::kVariableTorn};
  }
  runtime::Snapshot snapshot;
  if (!attempt(codes, [&, id = context] { snapshot = device_.context(id).snapshot("walk"); })) return;
  // A few are kept, in the form of a file.
  const Saved saved{cells, runtime::parse_snapshot(runtime::serialise(snapshot))};
  if (saved_.size() < 8) {
    saved_.push_back(saved);
  } else {
    saved_[below(saved_.size())] = saved;
  }
}

void DeviceWalk::restore() {
  auto& [context, open] = any_context();
  if (saved_.empty()) return;
  const Saved& saved = saved_[below(saved_.size())];
  // What the context declares: what it holds, and what its programs will allocate.
  Rules declared = open.rules;
  bool fit = true;  // together
  for (const auto& [program, recipe] : open.programs) {
    fit = fit && declared.fits(recipes_[recipe]);
    declared.declare(recipes_[recipe]);
  }
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first && a.second.form == b.second.form; };
  std::set<ErrorCode> codes;
  if (open.rules.lost) {
    codes = {ErrorCode::kPowerLost};
  } else if (power_ != PsramPower::kOn) {
    codes = {ErrorCode::kFaultPower};
  } else if (!fit) {
    codes = {ErrorCode::kVariableMismatch};
  } else if (!std::equal(declared.cells.begin(), declared.cells.end(), saved.cells.begin(), saved.cells.end(), same)) {
    codes = {ErrorCode::kBadSnapshot};
  }
  // The last thing before the contents; what one of the programs cannot have, none of them gets.
  const Room room_before = room();
  const Rules rules_before = open.rules;
  for (const int program : open.order) {
    if (!codes.empty()) break;
    codes = refusals(declare(context, open, open.programs.at(program)));
    if (codes.empty()) continue;
    room_ = room_before;
    open.rules = rules_before;
  }
  if (!attempt(codes, [&, id = context] { device_.context(id).restore(saved.snapshot); })) {
    if (reachable(open)) verify(context, open);
    return;
  }
  // What was unwritten starts anew, with the initial value of the first program that declares it, or has no owner.
  Rules anew;
  anew.zero_init = open.rules.zero_init;
  for (const int program : open.order) anew.declare(recipes_[open.programs.at(program)]);
  open.rules.cells.clear();
  for (auto [identity, cell] : saved.cells) {
    cell.torn = cell.untouched = false;
    if (cell.is_written) {
      open.rules.cells.emplace(identity, cell);
    } else if (const auto declared = anew.cells.find(identity); declared != anew.cells.end()) {
      open.rules.cells.insert(*declared);
    }
  }
  verify(context, open);
}

void DeviceWalk::scrub() {
  const bool on = power_ == PsramPower::kOn;
  runtime::ScrubResult result;
  attempt(on ? std::set<ErrorCode>{} : std::set{ErrorCode::kFaultPower}, [&] { result = device_.device().scrub(); });
  EXPECT_EQ(result.corrected + result.uncorrectable, 0U);
}

void DeviceWalk::switch_power(PsramPower state) {
  device_.device().set_persistent_power(state);
  const bool loses = state == PsramPower::kOff && power_ != PsramPower::kOff;
  power_ = state;
  EXPECT_EQ(device_.device().persistent_power(), power_);
  for (auto& [context, open] : contexts_) {
    const std::vector<runtime::StateLoss> told = device_.take_losses(context);
    EXPECT_EQ(told.size(), loses && !open.rules.cells.empty() ? 1U : 0U) << "context " << context;
    if (told.empty()) continue;
    std::vector<std::string> identities;
    for (const auto& [identity, cell] : open.rules.cells) identities.push_back(identity);
    EXPECT_EQ(told[0].identities, identities);
    open.rules.lost = true;
    open.rules.cells.clear();
  }
}

void DeviceWalk::acknowledge() {
  auto& [context, open] = any_context();
  EXPECT_EQ(device_.context(context).state_lost(), open.rules.lost);
  device_.context(context).acknowledge_loss();
  open.rules.lost = false;
}

}  // namespace npu::test
