// SPDX-License-Identifier: Apache-2.0
#include "tests/system/state/walk.h"

#include <gtest/gtest.h>

#include <iostream>

#include "tests/system/state/networks.h"

namespace npu::test {

using contract::ErrorCode;

std::vector<Recipe> random_recipes(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<Recipe> recipes;
  while (recipes.size() < count) recipes.push_back(random_recipe(random));
  return recipes;
}

Walk::Walk(Subject& subject, const std::vector<Recipe>& recipes, uint32_t seed)
    : subject_(subject), recipes_(recipes), random_(seed) {
  for (const Recipe& recipe : recipes_) graphs_.push_back(build(recipe));
  kinds_ = {{"run", 400, [this] { run(); }},
            {"new graph", 100, [this] { new_graph(); }},
            {"read", 100, [this] { read(); }},
            {"write", 80, [this] { write(); }},
            {"clear one", 50, [this] { clear_one(); }},
            {"clear all", 15, [this] { clear_all(); }},
            {"look at all", 30, [this] { look(); }},
            {"new context", 16, [this] { create(); }},
            {"destroy context", 10, [this] { destroy(); }}};
}

void Walk::take(int64_t steps) {
  int total = 0;
  for (const Kind& kind : kinds_) total += kind.weight;
  for (int64_t i = 0; i < steps && !testing::Test::HasFailure(); ++i) {
    auto draw = static_cast<int>(below(static_cast<size_t>(total)));
    const Kind* kind = kinds_.data();
    while (draw >= kind->weight) draw -= (kind++)->weight;
    SCOPED_TRACE("step " + std::to_string(i) + ": " + kind->name);
    ++taken_[kind->name];
    ++steps_;
    kind->step();
  }
  for (const auto& [context, open] : contexts_) {
    if (!testing::Test::HasFailure() && reachable(open)) verify(context, open);
  }
}

void Walk::report(const std::string& what, const std::vector<ErrorCode>& codes) const {
  std::cout << what << ":";
  for (const Kind& kind : kinds_) {
    const auto taken = taken_.find(kind.name);
    const int64_t count = taken == taken_.end() ? 0 : taken->second;
    EXPECT_TRUE(!enough() || count > 0) << "no step of kind " << kind.name;
    std::cout << ' ' << kind.name << ' ' << count << ',';
  }
  std::cout << ' ' << steps_ << " steps in all\nrefused:";
  for (const auto& [code, count] : refused_) std::cout << ' ' << contract::name(code) << ' ' << count << ',';
  for (const ErrorCode code : codes)
    EXPECT_TRUE(!enough() || refused_.contains(code)) << "never " << contract::name(code);
  if (!enough()) std::cout << "\nfewer than " << kStepsForAll << " steps, so no kind of step or refusal must occur";
  std::cout << '\n' << differing_ << " of " << compared_ << " elements differ\n";
  EXPECT_GT(compared_, 0);
}

int64_t Walk::refused(ErrorCode code) const {
  const auto found = refused_.find(code);
  return found == refused_.end() ? 0 : found->second;
}

std::set<ErrorCode> Walk::refusal(const Open& open, const std::string& identity) {
  if (open.rules.cells.contains(identity)) return {};
  return {ErrorCode::kVariableUndeclared};
}

bool Walk::attempt(const std::set<ErrorCode>& codes, const std::function<void()>& action,
                   const std::set<ErrorCode>& may) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_TRUE(codes.contains(error.code()) || may.contains(error.code())) << error.what();
    ++refused_[error.code()];
    return false;
  }
  EXPECT_TRUE(codes.empty()) << "not refused as " << contract::name(*codes.begin());
  return true;
}

std::pair<const int, Walk::Open>& Walk::any_context() {
  if (contexts_.empty()) create();
  return *std::next(contexts_.begin(), static_cast<ptrdiff_t>(below(contexts_.size())));
}

std::vector<graph::Value> Walk::inputs_for(size_t recipe) { return random_inputs(graphs_.at(recipe), random_); }

void Walk::compare(const graph::Value& got, const graph::Value& want, const std::string& what) {
  const graph::Difference difference = graph::compare(got, want);
  compared_ += difference.compared;
  differing_ += difference.differing;
  EXPECT_EQ(difference.differing, 0) << what;
}

void Walk::verify(int context, const Open& open) {
  std::map<std::string, Listed> listed;
  for (Listed& variable : subject_.list(context)) listed.emplace(variable.identity, variable);
  EXPECT_EQ(listed.size(), open.rules.cells.size());
  verify_places(context, listed);
  for (const auto& [identity, cell] : open.rules.cells) {
    ASSERT_TRUE(listed.contains(identity)) << identity;
    EXPECT_EQ(listed[identity].form, cell.form) << identity;
    EXPECT_EQ(listed[identity].is_written, cell.is_written) << identity;
    EXPECT_EQ(listed[identity].torn, cell.torn) << identity;
    if (cell.is_written && !cell.torn) {
      compare(subject_.read(context, identity), {cell.form.type, cell.form.shape, cell.bytes}, identity);
    }
  }
}

ErrorCode Walk::declare(int, Open& open, size_t recipe) {
  if (!open.rules.fits(recipes_[recipe])) return ErrorCode::kVariableMismatch;
  open.rules.declare(recipes_[recipe]);
  return ErrorCode::kOk;
}

void Walk::load_program(int context, Open& open, int program, size_t recipe) {
  subject_.load(context, program, recipe);
  open.programs[program] = recipe;
}

void Walk::run_program(int context, Open& open, int program, const std::set<ErrorCode>& may) {
  const size_t recipe = open.programs.at(program);
  const std::vector<graph::Value> inputs = inputs_for(recipe);
  std::set<ErrorCode> codes = refusal_to_run(open);
  Outcome outcome;
  bool executes = false;
  if (codes.empty()) {
    const ErrorCode refused = declare(context, open, recipe);
    executes = refused == ErrorCode::kOk;
    if (executes) outcome = open.rules.execute(recipes_[recipe], inputs);
    codes = executes ? outcome.codes : std::set{refused};
  }
  std::vector<graph::Value> outputs;
  const bool ran = attempt(
      codes, [&] { outputs = subject_.run(context, program, inputs); }, may);
  if (testing::Test::HasFailure()) return;
  if (!ran) {
    if (executes) settle(context, open, outcome);
    return;
  }
  ASSERT_EQ(outputs.size(), outcome.outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) compare(outputs[i], outcome.outputs[i], "output " + std::to_string(i));
}

int Walk::any_program(const Open& open) {
  return std::next(open.programs.begin(), static_cast<ptrdiff_t>(below(open.programs.size())))->first;
}

void Walk::create() {
  const bool full = contexts_.size() >= subject_.most_contexts();
  Rules rules;
  rules.zero_init = subject_.has_zero_init() && random_() % 4 == 0;
  rules.double_buffer = random_() % 2 == 0;
  if (attempt(full ? std::set{ErrorCode::kContextsFull} : std::set<ErrorCode>{},
              [&] { subject_.create(next_context_, rules); })) {
    contexts_[next_context_++].rules = rules;
  }
}

void Walk::destroy() {
  const int context = any_context().first;
  subject_.destroy(context);
  contexts_.erase(context);
}

void Walk::run() {
  auto& [context, open] = any_context();
  if (open.programs.empty()) return new_graph();
  run_program(context, open, any_program(open));
}

void Walk::new_graph() {
  auto& [context, open] = any_context();
  const int program = static_cast<int>(below(3));
  load_program(context, open, program, below(recipes_.size()));
  if (open.programs.contains(program) && !testing::Test::HasFailure()) run_program(context, open, program);
}

void Walk::read() {
  auto& [context, open] = any_context();
  const std::string identity = any_identity();
  const auto cell = open.rules.cells.find(identity);
  std::set<ErrorCode> codes = refusal(open, identity);
  if (codes.empty() && !cell->second.is_written) codes = {ErrorCode::kVariableUnwritten};
  if (codes.empty() && cell->second.torn) codes = {ErrorCode::kVariableTorn};
  graph::Value value;
  if (!attempt(codes, [&, id = context] { value = subject_.read(id, identity); })) return;
  compare(value, {cell->second.form.type, cell->second.form.shape, cell->second.bytes}, identity);
}

void Walk::write() {
  auto& [context, open] = any_context();
  const std::string identity = any_identity();
  const auto cell = open.rules.cells.find(identity);
  std::set<ErrorCode> codes = refusal(open, identity);
  graph::Value value{graph::DType::kInt8, {7}, std::vector<uint8_t>(7)};
  if (cell != open.rules.cells.end()) {
    if (random_() % 8 != 0) {
      value = random_value(cell->second.form.type, cell->second.form.shape, random_);
    } else {
      codes.insert(ErrorCode::kVariableMismatch);
    }
  }
  if (attempt(codes, [&, id = context] { subject_.write(id, identity, value); }))
    open.rules.write(identity, value.bytes);
}

void Walk::clear_one() {
  auto& [context, open] = any_context();
  const std::string identity = any_identity();
  if (attempt(refusal(open, identity), [&, id = context] { subject_.clear(id, identity); })) {
    open.rules.cells.erase(identity);
  }
}

void Walk::clear_all() {
  auto& [context, open] = any_context();
  if (!reachable(open)) return;
  subject_.clear(context);
  open.rules.cells.clear();
}

void Walk::look() {
  auto& [context, open] = any_context();
  if (reachable(open)) verify(context, open);
}

}  // namespace npu::test
