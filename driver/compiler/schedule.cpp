// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "driver/compiler/play/player.h"
#include "driver/compiler/room.h"
#include "driver/compiler/schedule/direct_writes.h"
#include "driver/compiler/schedule/dram.h"
#include "driver/compiler/schedule/encode.h"
#include "driver/compiler/schedule/explain.h"
#include "driver/compiler/schedule/last_writes.h"
#include "driver/compiler/schedule/liveness.h"
#include "driver/compiler/schedule/segments.h"
#include "driver/compiler/schedule/size_rules.h"
#include "driver/compiler/schedule/sizes.h"
#include "driver/compiler/schedule/split.h"
#include "driver/compiler/schedule/state_plan.h"
#include "driver/compiler/schedule/variants.h"
#include "hw/contract/error.h"

namespace npu::compiler {
namespace {

// What a program for several sizes has beside that for the largest.
struct OtherSizes {
  std::vector<backend::SizedWords> words;  // one a size
  std::vector<size_t> order;               // of the stream's commands, in that of emit()
};

void check_buffers(const Module& module) {
  for (const Buffer& buffer : module.buffers) {
    if (buffer.bytes > INT32_MAX) {
      throw Error(contract::ErrorCode::kDramFull,
                  "tensor " + buffer.name + " takes " + std::to_string(buffer.bytes) +
                      " bytes, more than a command can stride over; make it smaller than 2 GiB");
    }
    NPU_CHECK(buffer.kind != BufferKind::kConstant || buffer.data.size() == buffer.bytes);
  }
  NPU_CHECK(module.inputs.size() == module.input_buffers.size());
  NPU_CHECK(module.outputs.size() == module.output_buffers.size());
}

// The bytes that are live before each of these commands, for the largest sizes or any other.
std::vector<std::vector<backend::ByteSpan>> live_before(const std::vector<size_t>& places,
                                                        const backend::Liveness& largest,
                                                        const std::vector<backend::Jump>& jumps,
                                                        const OtherSizes& others) {
  std::vector<std::vector<backend::ByteSpan>> spans = largest.spans(places);
  if (others.words.empty()) return spans;
  std::vector<backend::IntervalSet> live(places.size());
  const auto add = [&](const std::vector<std::vector<backend::ByteSpan>>& more) {
    for (size_t i = 0; i < more.size(); ++i) {
      for (const backend::ByteSpan& span : more[i]) live[i].add(span.low, span.high);
    }
  };
  add(spans);
  for (const backend::SizedWords& words : others.words) {
    const std::vector<std::vector<backend::ByteSet>> emitted = backend::footprints_of(words);
    std::vector<std::vector<backend::ByteSet>> footprints;
    footprints.reserve(emitted.size());
    for (const size_t position : others.order) footprints.push_back(emitted[position]);
    add(backend::Liveness(footprints, jumps).spans(places));
  }
  for (size_t i = 0; i < live.size(); ++i) spans[i] = live[i].spans();
  return spans;
}

// The stream, with the points at which it can be stopped and what is to be done there. Returns the command that follows
// each point.
std::vector<size_t> encode_with_segments(const backend::Schedule& schedule, const backend::Timeline& timeline,
                                         const contract::Capabilities& capabilities, uint32_t segment_cycles,
                                         const OtherSizes& others, Program& program) {
  const std::vector<backend::Command>& commands = schedule.stream.commands;
  if (segment_cycles == 0) {
    backend::encode(commands, backend::no_yields(timeline), capabilities, program);
    return {};
  }
  const std::vector<backend::Jump> jumps = backend::jumps_of(commands);
  const backend::Liveness liveness(schedule.footprints, jumps);
  const backend::Yields yields = backend::choose_yields(commands, timeline, liveness.bytes(), segment_cycles);
  backend::encode(commands, yields, capabilities, program);
  std::vector<size_t> places;
  std::vector<uint32_t> layers;
  for (const backend::YieldPoint& point : yields.points) {
    places.push_back(point.before);
    layers.push_back(backend::header_of(commands[point.before].body).layer);
  }
  backend::add_segment_streams(live_before(places, liveness, jumps, others), layers, capabilities, program);
  return places;
}

// Each with the yield before it.
std::vector<uint32_t> words_of(const std::vector<backend::Command>& commands, const std::vector<size_t>& yields) {
  std::vector<uint32_t> words = backend::words_of(commands);
  for (const size_t before : yields) words[before] += contract::YieldCommand::kWords;
  return words;
}

// The layers' parts of the estimate: each is charged with the time by which its commands move the end. They add up.
void spread_estimate(const std::vector<backend::Command>& commands, const backend::Timeline& timeline,
                     Program& program) {
  for (size_t i = 0; i < commands.size(); ++i) {
    const auto end = static_cast<uint64_t>(std::llround(timeline.completed[i]));
    program.layers[backend::header_of(commands[i].body).layer].estimated_cycles += end - program.estimated_cycles;
    program.estimated_cycles = end;
  }
}

// What the commands do with the variables.
void count_state(const backend::Schedule& schedule, Program& program) {
  const std::vector<backend::Command>& commands = schedule.stream.commands;
  for (size_t i = 0; i < commands.size(); ++i) {
    for (const backend::ByteSet& set : schedule.footprints[i]) {
      if (set.space < backend::kVariableSpace) continue;
      Variable& variable = program.variables[set.space - backend::kVariableSpace];
      (set.write ? variable.written_bytes : variable.read_bytes) += static_cast<uint64_t>(set.moved_bytes());
      if (!set.write) continue;
      variable.written = true;
      variable.writer = program.layers[backend::header_of(commands[i].body).layer].name;
    }
  }
}

struct Choice {
  std::shared_ptr<const contract::Capabilities> machine;  // that it was made for; the steps of its layout refer to it
  backend::Schedule schedule;
  bool direct = false;
};

Choice choose_schedule(const Module& module, const std::optional<Module>& direct,
                       const contract::Capabilities& capabilities, const ScheduleOptions& options) {
  const auto machine = std::make_shared<const contract::Capabilities>(capabilities);
  if (!direct) return {machine, backend::best_schedule(module, *machine, options), false};
  Choice best{machine, backend::best_schedule(*direct, *machine, options), true};
  backend::Schedule copied = backend::best_schedule(module, *machine, options);
  if (copied.cost < best.schedule.cost) best = {machine, std::move(copied), false};
  return best;
}

int64_t constant_bytes(const Module& module) {
  int64_t bytes = 0;
  for (const Buffer& buffer : module.buffers) {
    if (buffer.kind == BufferKind::kConstant) bytes += buffer.bytes;
  }
  return bytes;
}

// With all constants in the scratchpad; nullopt where they leave too little of it for the steps. How many bytes they
// are depends on the tiles, and the tiles on the room that they leave.
std::optional<Choice> keep_constants(const Module& module, const std::optional<Module>& direct,
                                     const contract::Capabilities& capabilities, const ScheduleOptions& options) {
  constexpr int kTries = 3;
  const int64_t all = capabilities.spm_bytes;
  int64_t constants = constant_bytes(module);
  for (int i = 0; i < kTries; ++i) {
    constants = backend::round_up(constants, contract::kResidentUnit);
    if (constants == 0 || constants >= all) return std::nullopt;
    contract::Capabilities rest = capabilities;
    rest.spm_bytes = static_cast<uint32_t>(all - constants);
    try {
      Choice choice = choose_schedule(module, direct, rest, options);
      constants = static_cast<int64_t>(choice.schedule.stream.constants.size());
      const int64_t own =
          backend::round_up(std::max<int64_t>(choice.schedule.layout.scratchpad_peak, 1), contract::kResidentUnit);
      if (own + constants <= all) return choice;
    } catch (const NoRoom&) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

// A module as its tiles are chosen for it. Both must outlive their schedules.
struct Prepared {
  Module module;
  std::optional<Module> direct;  // with values made in variables, where that is another one
};

Prepared prepare(Module&& module, const contract::Capabilities& capabilities, const ScheduleOptions& options) {
  Prepared prepared{std::move(module), std::nullopt};
  check_buffers(prepared.module);
  backend::split_large_steps(prepared.module, capabilities);
  check_buffers(prepared.module);
  backend::keep_last_writes(prepared.module);
  backend::plan_state(prepared.module, capabilities, options);
  prepared.direct = backend::write_directly(prepared.module, capabilities);
  return prepared;
}

// The schedule that is best by the estimate.
struct Chosen {
  Choice choice;
  bool kept = false;  // its constants stay
};

Chosen choose(const Prepared& prepared, const contract::Capabilities& capabilities, const ScheduleOptions& options) {
  ScheduleOptions loading = options;
  loading.resident_constants = false;
  Chosen best{choose_schedule(prepared.module, prepared.direct, capabilities, loading)};
  if (!options.resident_constants) return best;
  std::optional<Choice> keeping = keep_constants(prepared.module, prepared.direct, capabilities, options);
  // What they take of the scratchpad may cost the steps more than loading does.
  if (keeping && keeping->schedule.cost < best.choice.schedule.cost) best = {std::move(*keeping), true};
  return best;
}

Program finish(Prepared&& prepared, Chosen&& chosen, const OtherSizes& others,
               const contract::Capabilities& capabilities, const ScheduleOptions& options, Explanation* explanation) {
  Module& module = prepared.module;
  const Choice& choice = chosen.choice;
  const bool kept = chosen.kept;
  backend::Schedule& best = chosen.choice.schedule;
  if (choice.direct) module.layers = prepared.direct->layers;
  const backend::Layout& layout = best.layout;
  backend::Stream& stream = best.stream;

  Program program;
  program.variables = std::move(module.variables);
  const backend::Timeline& timeline = best.timeline;
  const std::vector<size_t> yields =
      encode_with_segments(best, timeline, capabilities, options.segment_cycles, others, program);
  best.timeline = play::Player(stream.commands, words_of(stream.commands, yields), program.variables, capabilities,
                               options.dram.value_or(play::any_dram(capabilities)))
                      .play();
  if (explanation != nullptr) {
    *explanation = backend::explain(choice.direct ? *prepared.direct : module, best, yields,
                                    {int64_t{choice.machine->spm_bytes}, kept});
  }
  program.constants = std::move(stream.constants);
  if (kept) backend::add_load_stream(capabilities, program);
  program.workspace_bytes = static_cast<uint32_t>(layout.workspace_bytes);
  program.input_bytes = static_cast<uint32_t>(layout.input_bytes);
  program.output_bytes = static_cast<uint32_t>(layout.output_bytes);
  program.spm_peak_bytes = static_cast<uint32_t>(layout.scratchpad_peak);
  program.inputs = std::move(module.inputs);
  program.outputs = std::move(module.outputs);
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    program.inputs[i].offset = static_cast<uint32_t>(layout.dram[module.input_buffers[i]]);
    program.inputs[i].bytes = static_cast<uint32_t>(module.buffers[module.input_buffers[i]].bytes);
  }
  for (size_t i = 0; i < program.outputs.size(); ++i) {
    program.outputs[i].offset = static_cast<uint32_t>(layout.dram[module.output_buffers[i]]);
    program.outputs[i].bytes = static_cast<uint32_t>(module.buffers[module.output_buffers[i]].bytes);
  }
  program.layers = std::move(module.layers);
  for (size_t i = 0; i < program.layers.size(); ++i) program.layers[i].tiles = stream.layer_tiles[i];
  spread_estimate(stream.commands, timeline, program);
  count_state(best, program);
  return program;
}

// The cycles of a size, as those of the program are estimated.
uint64_t cycles_of(const backend::SizedWords& words, const std::vector<size_t>& order, const backend::Schedule& largest,
                   const std::vector<Variable>& variables, const contract::Capabilities& capabilities,
                   const ScheduleOptions& options) {
  std::vector<backend::Command> commands = largest.stream.commands;
  for (size_t k = 0; k < commands.size(); ++k) {
    commands[k].body = backend::body_of(words[order[k]], largest.stream.commands[k].body);
  }
  play::Player player(commands, backend::words_of(commands), variables, capabilities,
                      options.dram.value_or(play::any_dram(capabilities)));
  return static_cast<uint64_t>(std::llround(player.play().cycles()));
}

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

// What of a command depends on the sizes. `commands`: as each has it, the largest first.
void add_rules(uint32_t start, const std::vector<const backend::SizedCommand*>& commands, std::string_view layer,
               backend::RuleMaker& rules) {
  for (size_t w = 0; w < commands.front()->words.size(); ++w) {
    if (w < contract::kHeaderWords && w != kSkipWord) continue;  // queue and tokens are the same for all
    const backend::WordBySize words = by_size(w, commands);
    if (!differ(words)) continue;
    const uint32_t reserved = reserved_bits(commands.front()->words, w);
    if (rules.add(start + static_cast<uint32_t>(w), words, reserved)) continue;
    throw Error(contract::ErrorCode::kArgumentUnsupported,
                "how layer " + std::string(layer) +
                    " is cut into tiles follows from more sizes together than a table of sizes takes; give some of "
                    "them, or compile for each choice of sizes.");
  }
}

// For each value the first sizes that differ in it tell which dimensions do.
void note_open_dimensions(const SizedModules& modules, const std::vector<std::vector<int64_t>>& values,
                          const contract::Capabilities& capabilities, const ScheduleOptions& options,
                          Prepared& largest) {
  std::set<size_t> sizes;
  for (const std::vector<int64_t>& value : values) {
    const auto other = std::find_if(value.begin(), value.end(), [&](int64_t one) { return one != value.front(); });
    if (other != value.end()) sizes.insert(static_cast<size_t>(other - value.begin()));
  }
  for (const size_t i : sizes) {
    const Prepared other = prepare(modules.module(i), capabilities, options);
    backend::note_open_dimensions(largest.module, other.module);
    if (largest.direct && other.direct) backend::note_open_dimensions(*largest.direct, *other.direct);
  }
}

// Of all sizes together, whose words take about a GiB.
constexpr size_t kMostSizedCommands = 1 << 22;

using ValuesOfSizes = std::vector<std::vector<int64_t>>;

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

}  // namespace

SizedProgram schedule_sizes(const SizedModules& modules, const std::vector<std::vector<int64_t>>& values,
                            const contract::Capabilities& capabilities, const ScheduleOptions& options) {
  Prepared prepared = prepare(modules.module(0), capabilities, options);
  note_open_dimensions(modules, values, capabilities, options, prepared);
  Chosen chosen = choose(prepared, capabilities, options);
  Choice& choice = chosen.choice;
  const Module& module = choice.direct ? *prepared.direct : prepared.module;
  const contract::Capabilities& machine = *choice.machine;
  ScheduleOptions same = options;
  same.resident_constants = chosen.kept;
  for (const Variable& variable : module.variables) same.placed_in_dram[variable.identity] = variable.in_dram;

  backend::Layout layout = std::move(choice.schedule.layout);
  const backend::Stream bare = backend::emit(module, layout, machine, {false, chosen.kept});
  if (modules.count * bare.commands.size() > kMostSizedCommands) {
    throw Error(contract::ErrorCode::kBudgetExceeded,
                "the bounds allow " + std::to_string(modules.count) + " choices of sizes, and the program has " +
                    std::to_string(bare.commands.size()) + " commands for each; narrow the bounds");
  }
  std::vector<backend::QueueCounts> needs(bare.commands.size());
  OtherSizes others;
  std::vector<std::vector<Layer>> layers_by_size = {module.layers};
  SizedProgram result;
  result.taken.assign(modules.count, false);
  result.taken[0] = true;
  for (size_t i = 1; i < modules.count; ++i) {
    Prepared smaller = prepare(modules.module(i), capabilities, same);
    if (choice.direct && !smaller.direct) continue;
    std::optional<backend::SizedWords> words = backend::words_of_size(choice.direct ? *smaller.direct : smaller.module,
                                                                      {module, layout, bare}, machine, same, needs);
    if (!words) continue;
    result.taken[i] = true;
    others.words.push_back(std::move(*words));
    layers_by_size.push_back(std::move((choice.direct ? *smaller.direct : smaller.module).layers));
  }
  choice.schedule = backend::make_schedule(module, machine, same, std::move(layout), true, needs, &others.order);
  for (const size_t probe : modules.probes) {
    uint64_t& cycles = result.estimated_cycles.emplace_back();
    if (!result.taken[probe] || probe == 0) continue;
    const auto number =
        std::count(result.taken.begin() + 1, result.taken.begin() + static_cast<std::ptrdiff_t>(probe), true);
    cycles = cycles_of(others.words[static_cast<size_t>(number)], others.order, choice.schedule, module.variables,
                       capabilities, options);
  }
  std::vector<uint32_t> layers;
  for (const backend::Command& command : choice.schedule.stream.commands) {
    layers.push_back(backend::header_of(command.body).layer);
  }
  result.program = finish(std::move(prepared), std::move(chosen), others, capabilities, options, nullptr);

  std::vector<std::vector<int64_t>> taken(values.size());
  for (size_t value = 0; value < values.size(); ++value) {
    for (size_t i = 0; i < modules.count; ++i) {
      if (result.taken[i]) taken[value].push_back(values[value][i]);
    }
  }
  for (size_t i = 0; i < result.program.layers.size(); ++i) {
    describe_sizes(i, layers_by_size, taken, result.program.layers[i]);
  }
  backend::RuleMaker rules(std::move(taken));
  const std::vector<uint32_t> starts = command_starts(result.program);
  NPU_CHECK(starts.size() == others.order.size());
  for (size_t k = 0; k < starts.size(); ++k) {
    const size_t position = others.order[k];
    const backend::SizedCommand largest = backend::sized(bare.commands[position].body);
    std::vector<const backend::SizedCommand*> commands = {&largest};
    for (const backend::SizedWords& other : others.words) commands.push_back(&other[position]);
    add_rules(starts[k], commands, result.program.layers[layers[k]].name, rules);
  }
  result.program.sizes.rules = rules.take();
  return result;
}

void estimate(const contract::Capabilities& capabilities, const timing::Dram& dram, Program& program) {
  std::vector<backend::Command> commands;
  std::vector<uint32_t> words;
  uint32_t yields = 0;  // words of those before the next command
  uint32_t at = 0;
  while (at < program.main_words) {
    const uint32_t length = contract::command_words(std::span(program.commands).subspan(at));
    const auto command = std::span(program.commands).subspan(at, length);
    const contract::Opcode opcode = contract::Header::decode(command).opcode;
    at += length;
    if (opcode == contract::Opcode::kYield) yields += length;
    std::optional<backend::Body> body = backend::decoded(command);
    if (!body) continue;
    commands.push_back({*std::move(body)});
    words.push_back(std::exchange(yields, 0) + length);
  }
  const backend::Timeline timeline =
      play::Player(commands, std::move(words), program.variables, capabilities, dram).play();
  program.estimated_cycles = 0;
  for (Layer& layer : program.layers) layer.estimated_cycles = 0;
  spread_estimate(commands, timeline, program);
}

Program schedule(Module&& module, const contract::Capabilities& capabilities, const ScheduleOptions& options,
                 Explanation* explanation) {
  Prepared prepared = prepare(std::move(module), capabilities, options);
  Chosen chosen = choose(prepared, capabilities, options);
  return finish(std::move(prepared), std::move(chosen), {}, capabilities, options, explanation);
}

}  // namespace npu::compiler
