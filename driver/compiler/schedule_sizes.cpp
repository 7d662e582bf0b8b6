// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "driver/compiler/schedule.h"
#include "driver/compiler/schedule/choice.h"
#include "driver/compiler/schedule/emit.h"
#include "driver/compiler/schedule/encode.h"
#include "driver/compiler/schedule/finish.h"
#include "driver/compiler/schedule/size_rules.h"
#include "driver/compiler/schedule/sizes.h"
#include "hw/contract/error.h"

namespace npu::compiler {
namespace {

using backend::Choice;
using backend::Prepared;

using ValuesOfSizes = std::vector<std::vector<int64_t>>;

// The first word of each command of the main stream, without begin, yields and end.
std::vector<uint32_t> command_starts(const Program& program) {
  std::vector<uint32_t> starts;
  uint32_t at = 0;
  while (at < program.main_words) {
    const auto rest = std::span(program.commands).subspan(at);
    const contract::Opcode opcode = contract::Header::decode(rest).opcode;
    const bool frame =
        opcode == contract::Opcode::kBegin || opcode == contract::Opcode::kYield || opcode == contract::Opcode::kEnd;
    if (!frame) starts.push_back(at);
    at += contract::command_words(rest);
  }
  return starts;
}

constexpr size_t kSkipWord = 1;  // of a command: the one that holds Header::skip

// That word of a command which is skipped.
uint32_t skipped(uint32_t word) {
  std::vector<uint32_t> words;
  contract::DmaCommand command;
  command.header.skip = true;
  command.encode(words);
  return word | words[kSkipWord];
}

// A word for each of the sizes, the largest first; nullopt where it does not count.
backend::WordBySize by_size(size_t word, const std::vector<const backend::SizedCommand*>& commands) {
  backend::WordBySize words;
  for (const backend::SizedCommand* command : commands) {
    std::optional<uint32_t>& own = words.emplace_back();
    if (command->words.empty()) {
      if (word == kSkipWord) own = skipped(commands.front()->words[word]);
    } else if (!std::binary_search(command->unused.begin(), command->unused.end(), word)) {
      own = command->words[word];
    }
  }
  return words;
}

// Bits of a word that are in no field. The device looks at those of skipped commands, too.
uint32_t reserved_bits(std::vector<uint32_t> command, size_t word) {
  uint32_t reserved = 0;
  for (uint32_t bit = 0; bit < 32; ++bit) {
    const uint32_t was = std::exchange(command[word], command[word] | uint32_t{1} << bit);
    if (!contract::reserved_zero(command)) reserved |= uint32_t{1} << bit;
    command[word] = was;
  }
  return reserved;
}

bool differ(const backend::WordBySize& words) {
  const std::optional<uint32_t>* known = nullptr;
  for (const std::optional<uint32_t>& word : words) {
    if (!word) continue;
    if (known != nullptr && **known != *word) return true;
    known = &word;
  }
  return false;
}

// What of a command depends on the sizes. `program`: the stream of the largest from it on, `start` its place, and
// `commands` as each has it, the largest first.
void add_rules(std::span<const uint32_t> program, uint32_t start,
               const std::vector<const backend::SizedCommand*>& commands, std::string_view layer,
               backend::RuleMaker& rules) {
  for (size_t w = 0; w < commands.front()->words.size(); ++w) {
    if (w < contract::kHeaderWords && w != kSkipWord) continue;  // queue and tokens are the same for all
    const backend::WordBySize words = by_size(w, commands);
    if (!differ(words)) continue;
    // Else a rule would undo what the schedule has made of it since.
    NPU_CHECK(!words.front() || *words.front() == program[w]);
    const uint32_t reserved = reserved_bits(commands.front()->words, w);
    if (rules.add(start + static_cast<uint32_t>(w), words, reserved)) continue;
    throw Error(contract::ErrorCode::kArgumentUnsupported,
                "how layer " + std::string(layer) +
                    " is cut into tiles follows from more sizes together than a table of sizes takes; give some of "
                    "them, or compile for each choice of sizes.");
  }
}

// For each value the first sizes that differ in it tell which dimensions do.
void note_open_dimensions(const SizedModules& modules, const ValuesOfSizes& values,
                          const contract::Capabilities& capabilities, const ScheduleOptions& options,
                          Prepared& largest) {
  std::set<size_t> sizes;
  for (const std::vector<int64_t>& value : values) {
    const auto other = std::find_if(value.begin(), value.end(), [&](int64_t one) { return one != value.front(); });
    if (other != value.end()) sizes.insert(static_cast<size_t>(other - value.begin()));
  }
  for (const size_t i : sizes) {
    const Prepared other = backend::prepare(modules.module(i), capabilities, options);
    backend::note_open_dimensions(largest.module, other.module);
    if (largest.direct && other.direct) backend::note_open_dimensions(*largest.direct, *other.direct);
  }
}

// Whether numbers, one a size, are factor * product + addend.
bool fits(const std::vector<int64_t>& numbers, const std::vector<int64_t>& products, SizedNumber& sized) {
  size_t other = 0;
  while (other < products.size() && products[other] == products.front()) ++other;
  if (other == products.size()) return false;
  const int64_t rise = numbers[other] - numbers.front(), run = products[other] - products.front();
  if (rise % run != 0) return false;
  sized.factor = rise / run;
  sized.addend = numbers.front() - sized.factor * products.front();
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (sized.factor * products[i] + sized.addend != numbers[i]) return false;
  }
  return true;
}

// `numbers` of the sizes as they follow from values of them; nullopt where they follow from more than two.
std::optional<SizedNumber> sized_number(const std::vector<int64_t>& numbers, const ValuesOfSizes& values) {
  SizedNumber sized;
  if (std::equal(numbers.begin() + 1, numbers.end(), numbers.begin())) return sized;
  for (size_t first = 0; first < values.size(); ++first) {
    sized.value = static_cast<int32_t>(first);
    if (fits(numbers, values[first], sized)) return sized;
  }
  std::vector<int64_t> products(numbers.size());
  for (size_t first = 0; first < values.size(); ++first) {
    for (size_t second = first; second < values.size(); ++second) {
      sized.value = static_cast<int32_t>(first);
      sized.second = static_cast<int32_t>(second);
      for (size_t i = 0; i < products.size(); ++i) products[i] = values[first][i] * values[second][i];
      if (fits(numbers, products, sized)) return sized;
    }
  }
  return std::nullopt;
}

// How large a layer is for other sizes. `layers`: of each size that is taken, the largest first.
void describe_sizes(size_t number, const std::vector<std::vector<Layer>>& layers, const ValuesOfSizes& values,
                    Layer& layer) {
  const auto sized = [&](const auto& get) {
    std::vector<int64_t> numbers;
    for (const std::vector<Layer>& of_size : layers) numbers.push_back(get(of_size[number]));
    const std::optional<SizedNumber> found = sized_number(numbers, values);
    if (found) return *found;
    throw Error(contract::ErrorCode::kArgumentUnsupported,
                "how large layer " + layer.name +
                    " is follows from more than two sizes, and no report could tell; "
                    "give all sizes but two, or compile for each choice of sizes");
  };
  layer.sized_macs = sized([](const Layer& one) { return one.macs; });
  for (auto [shape, sizes] :
       {std::pair{&Layer::input_shape, &Layer::input_sizes}, std::pair{&Layer::output_shape, &Layer::output_sizes}}) {
    for (size_t d = 0; d < (layer.*shape).size(); ++d) {
      (layer.*sizes).push_back(sized([&, shape = shape](const Layer& one) { return (one.*shape)[d]; }));
    }
  }
}

// Of all sizes together, whose words take about a GiB.
constexpr size_t kMostSizedCommands = 1 << 22;

// The sizes of a graph in one layout, that of the largest.
class SizesScheduler {
 public:
  // All must outlive the object.
  SizesScheduler(const SizedModules& modules, const ValuesOfSizes& values, const contract::Capabilities& capabilities,
                 const ScheduleOptions& options)
      : modules_(modules),
        values_(values),
        capabilities_(capabilities),
        options_(options),
        prepared_(prepare_largest()),
        choice_(backend::choose(prepared_, capabilities, options)),
        same_(options) {
    same_.resident_constants = choice_.kept;
    for (const Variable& variable : largest().variables) same_.placed_in_dram[variable.identity] = variable.in_dram;
  }

  SizedProgram run() {
    fit_sizes();
    leave_sizes();
    wait_for_all();
    std::vector<uint32_t> layers;
    for (const backend::Command& command : choice_.schedule.stream.commands) {
      layers.push_back(backend::header_of(command.body).layer);
    }
    Program& program = result_.program;
    program = backend::finish(std::move(prepared_), std::move(choice_), others_, capabilities_, options_, nullptr);
    ValuesOfSizes taken = values_of_taken();
    for (size_t i = 0; i < program.layers.size(); ++i) {
      describe_sizes(i, layers_by_size_, taken, program.layers[i]);
    }
    backend::RuleMaker rules(std::move(taken));
    make_rules(layers, rules);
    program.sizes.rules = rules.take();
    return std::move(result_);
  }

 private:
  [[nodiscard]] const Module& largest() const { return choice_.module(prepared_); }

  [[nodiscard]] Prepared prepare_largest() const {
    Prepared largest = backend::prepare(modules_.module(0), capabilities_, options_);
    note_open_dimensions(modules_, values_, capabilities_, options_, largest);
    return largest;
  }

  // Which sizes have their words in the layout.
  void fit_sizes() {
    backend::Layout& layout = choice_.schedule.layout;
    bare_ = backend::emit(largest(), layout, *choice_.machine, {false, choice_.kept});
    if (modules_.count * bare_.commands.size() > kMostSizedCommands) {
      throw Error(contract::ErrorCode::kBudgetExceeded,
                  "the bounds allow " + std::to_string(modules_.count) + " choices of sizes, and the program has " +
                      std::to_string(bare_.commands.size()) + " commands for each; narrow the bounds");
    }
    layers_by_size_ = {largest().layers};
    result_.taken = {true};
    for (size_t i = 1; i < modules_.count; ++i) result_.taken.push_back(fit(i, layout));
  }

  bool fit(size_t size, const backend::Layout& layout) {
    Prepared prepared = backend::prepare(modules_.module(size), capabilities_, same_);
    if (choice_.direct && !prepared.direct) return false;
    Module& module = choice_.direct ? *prepared.direct : prepared.module;
    std::vector<backend::QueueCounts> needs;
    std::optional<backend::SizedWords> words =
        backend::words_of_size(module, {largest(), layout, bare_}, *choice_.machine, same_, needs);
    if (!words) return false;
    others_.words.push_back(std::move(*words));
    needs_.push_back(std::move(needs));
    layers_by_size_.push_back(std::move(module.layers));
    return true;
  }

  // The schedule whose commands wait for what those of any size need.
  void wait_for_all() {
    std::vector<backend::QueueCounts> all(bare_.commands.size());
    for (const std::vector<backend::QueueCounts>& own : needs_) {
      for (size_t i = 0; i < all.size(); ++i) backend::join(all[i], own[i]);
    }
    backend::Layout layout = std::move(choice_.schedule.layout);
    choice_.schedule =
        backend::make_schedule(largest(), *choice_.machine, same_, std::move(layout), true, all, &others_.order);
  }

  void leave_sizes() {
    if (!modules_.leave) return;
    std::vector<bool> taken = result_.taken;
    modules_.leave(taken);
    NPU_CHECK(taken.front());
    if (taken == result_.taken) return;
    size_t from = 0, to = 0;
    for (size_t i = 1; i < taken.size(); ++i) {
      NPU_CHECK(result_.taken[i] || !taken[i]);
      if (!result_.taken[i]) continue;
      if (taken[i] && to != from) {
        others_.words[to] = std::move(others_.words[from]);
        needs_[to] = std::move(needs_[from]);
        layers_by_size_[to + 1] = std::move(layers_by_size_[from + 1]);
      }
      ++from;
      to += taken[i] ? 1 : 0;
    }
    others_.words.resize(to);
    needs_.resize(to);
    layers_by_size_.resize(to + 1);
    result_.taken = std::move(taken);
  }

  [[nodiscard]] ValuesOfSizes values_of_taken() const {
    ValuesOfSizes taken(values_.size());
    for (size_t value = 0; value < values_.size(); ++value) {
      for (size_t i = 0; i < modules_.count; ++i) {
        if (result_.taken[i]) taken[value].push_back(values_[value][i]);
      }
    }
    return taken;
  }

  // `layers`: of the commands.
  void make_rules(const std::vector<uint32_t>& layers, backend::RuleMaker& rules) const {
    const std::vector<uint32_t> starts = command_starts(result_.program);
    NPU_CHECK(starts.size() == others_.order.size());
    for (size_t k = 0; k < starts.size(); ++k) {
      const size_t position = others_.order[k];
      const backend::SizedCommand largest = backend::sized(bare_.commands[position].body);
      std::vector<const backend::SizedCommand*> commands = {&largest};
      for (const backend::SizedWords& other : others_.words) commands.push_back(&other[position]);
      add_rules(std::span(result_.program.commands).subspan(starts[k]), starts[k], commands,
                result_.program.layers[layers[k]].name, rules);
    }
  }

  const SizedModules& modules_;
  const ValuesOfSizes& values_;
  const contract::Capabilities& capabilities_;
  const ScheduleOptions& options_;
  Prepared prepared_;  // the largest sizes
  Choice choice_;
  ScheduleOptions same_;  // by which the others are laid out as these
  backend::Stream bare_;  // of the largest, without contents
  backend::OtherSizes others_;
  std::vector<std::vector<backend::QueueCounts>> needs_;  // of each other size
  std::vector<std::vector<Layer>> layers_by_size_;        // of each size that is taken
  SizedProgram result_;
};

}  // namespace

SizedProgram schedule_sizes(const SizedModules& modules, const std::vector<std::vector<int64_t>>& values,
                            const contract::Capabilities& capabilities, const ScheduleOptions& options) {
  return SizesScheduler(modules, values, capabilities, options).run();
}

}  // namespace npu::compiler
