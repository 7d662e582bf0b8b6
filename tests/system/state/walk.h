// SPDX-License-Identifier: Apache-2.0
// A random walk over everything that can be done with state, held against the rules at every step.
#pragma once

#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/system/state/rules.h"
#include "tests/system/state/subject.h"

namespace npu::test {

[[nodiscard]] std::vector<Recipe> random_recipes(size_t count, uint32_t seed);

class Walk {
 public:
  Walk(Subject& subject, const std::vector<Recipe>& recipes, uint32_t seed);
  virtual ~Walk() = default;
  Walk(const Walk&) = delete;
  Walk& operator=(const Walk&) = delete;

  // Stops at the first failure.
  void take(int64_t steps);
  // From so many steps on it is certain that each kind of them occurs, and whatever may refuse it.
  static constexpr int64_t kStepsForAll = 10'000;
  // Prints counts of steps, refusals and elements compared; expects that each kind of step occurred, and each refusal
  // of `codes`, if there were enough steps.
  void report(const std::string& what, const std::vector<contract::ErrorCode>& codes) const;
  [[nodiscard]] bool enough() const { return steps_ >= kStepsForAll; }
  // How often.
  [[nodiscard]] int64_t refused(contract::ErrorCode code) const;

 protected:
  struct Open {
    Rules rules;
    std::map<int, size_t> programs;  // number -> recipe
    std::vector<int> order;          // in which a driver has loaded them
  };
  struct Kind {
    std::string name;
    int weight;
    std::function<void()> step;
  };

  // Runs `action`, which must be refused with one of `codes`, or not at all if there are none; `may` be refused with
  // others. True if it was not.
  bool attempt(const std::set<contract::ErrorCode>& codes, const std::function<void()>& action,
               const std::set<contract::ErrorCode>& may = {});
  // What refuses to look at a variable, or to change it; nothing: it is there, and can be reached.
  virtual std::set<contract::ErrorCode> refusal(const Open& open, const std::string& identity);
  // What refuses a job before its declarations.
  virtual std::set<contract::ErrorCode> refusal_to_run(const Open&) { return {}; }
  // Whether a context can be looked at as a whole.
  virtual bool reachable(const Open&) { return true; }
  // A program's variables come to be, as the rules have it; or what refuses that.
  virtual contract::ErrorCode declare(int context, Open& open, size_t recipe);
  // What load() does: nothing but remembering, unless a driver allocates.
  virtual void load_program(int context, Open& open, int program, size_t recipe);
  // Where the variables of a context are, which only drivers know.
  virtual void verify_places(int /*context*/, const std::map<std::string, Listed>&) {}
  // Brings the rules up to date after a job that was stopped.
  virtual void settle(int /*context*/, Open&, const Outcome&) {}

  // Jobs may also be stopped as `may` says.
  void run_program(int context, Open& open, int program, const std::set<contract::ErrorCode>& may = {});
  void compare(const graph::Value& got, const graph::Value& want, const std::string& what);
  // All that a context holds, against the rules.
  void verify(int context, const Open& open);

  std::pair<const int, Open>& any_context();
  // One of its programs; there is one.
  int any_program(const Open& open);
  std::string any_identity() { return "state_" + std::to_string(random_() % 6); }
  size_t below(size_t limit) { return random_() % limit; }
  std::vector<graph::Value> inputs_for(size_t recipe);

  Subject& subject_;
  std::vector<Recipe> recipes_;
  std::vector<graph::Graph> graphs_;
  std::mt19937 random_;
  std::vector<Kind> kinds_;
  std::map<int, Open> contexts_;
  int next_context_ = 0;
  int64_t steps_ = 0;
  std::map<std::string, int64_t> taken_;
  std::map<contract::ErrorCode, int64_t> refused_;
  int64_t compared_ = 0, differing_ = 0;

 private:
  void create();
  void destroy();
  void run();
  void new_graph();
  void read();
  void write();
  void clear_one();
  void clear_all();
  void look();
};

}  // namespace npu::test
