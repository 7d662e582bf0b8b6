// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/stream_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "driver/graph/text.h"
#include "hw/contract/gen/commands.h"
#include "sim/report/columns.h"
#include "sim/report/json.h"
#include "sim/report/table.h"
#include "sim/workload/oracle.h"

namespace npu::cli {

using report::grouped;

namespace {

using Json = nlohmann::ordered_json;

// The text shows the order in the first rounds; the JSON has all.
constexpr size_t kRoundsShown = 3, kFramesShown = 12;

struct StateBytes {
  uint64_t all = 0, in_dram = 0;
};

StateBytes state_bytes(const Stream& stream) {
  StateBytes bytes;
  for (const compiler::Variable& variable : stream.program.variables) {
    bytes.all += variable.bytes;
    bytes.in_dram += variable.in_dram ? variable.bytes : 0;
  }
  return bytes;
}

// Whether networks were put together by --context.
bool has_names(const StreamOptions& options) {
  return std::any_of(options.contexts.begin(), options.contexts.end(),
                     [](const ContextArgument& context) { return !context.name.empty(); });
}

bool has_priorities(const StreamOptions& options) {
  return std::any_of(options.contexts.begin(), options.contexts.end(),
                     [](const ContextArgument& context) { return context.priority > 0; });
}

bool all_in_one(const StreamOptions& options) { return options.contexts.size() == 1 && has_names(options); }

uint64_t power_downs(const Schedule& schedule) {
  return static_cast<uint64_t>(
      std::count_if(schedule.begin(), schedule.end(), [](const Round& round) { return round.power_down; }));
}

std::string shown_name(const std::string& name) { return graph::printable(name, name.size()); }

Json networks_json(const StreamRun& run) {
  Json networks = Json::array();
  for (size_t i = 0; i < run.streams.size(); ++i) {
    const Stream& stream = run.streams[i];
    const StateBytes bytes = state_bytes(stream);
    networks.push_back({{"name", stream.name},
                        {"file", stream.network.path.string()},
                        {"sha256", workload::sha256_of(stream.network)},
                        {"context", stream.context},
                        {"frames", stream.frames.invocations()},
                        {"frames_a_round", stream.per_round},
                        {"variables", stream.program.variables.size()},
                        {"bytes", bytes.all},
                        {"dram_bytes", bytes.in_dram},
                        {"resident_bytes", stream.program.resident_bytes},
                        {"loads", run.results[i].loads},
                        {"cycles", run.results[i].cycles},
                        {"interruptions", run.results[i].interruptions}});
  }
  return networks;
}

Json contexts_json(const StreamRun& run) {
  Json contexts = Json::array();
  for (const ContextArgument& context : run.options.contexts) {
    contexts.push_back({{"name", context.name.empty() ? Json() : Json(context.name)}, {"priority", context.priority}});
  }
  return contexts;
}

Json engines_json(const std::vector<report::EngineRun>& engines) {
  Json result = Json::array();
  for (const report::EngineRun& run : engines) {
    result.push_back({{"engine", contract::name(run.engine)},
                      {"back_end", run.back_end},
                      {"tiles", run.tiles},
                      {"rtl_tiles", run.rtl_tiles},
                      {"elements_compared", run.elements_compared}});
  }
  return result;
}

std::string contexts_in_words(const StreamOptions& options) {
  if (all_in_one(options)) return "all in one context";
  if (!has_names(options)) return "each in a context of its own";
  return fmt::format("in {} contexts", options.contexts.size());
}

// "  encoder 0, encoder 1, decoder 0": a name, and which of its frames.
std::string frames_in_words(const Round& round, const std::vector<Stream>& streams, std::vector<uint64_t>& next) {
  std::string text;
  for (size_t at = 0; at < round.streams.size(); ++at) {
    const size_t i = round.streams[at];
    const uint64_t frame = next[i]++;
    if (at < kFramesShown) text += fmt::format("{}{} {}", at == 0 ? "" : ", ", shown_name(streams[i].name), frame);
  }
  if (round.streams.size() > kFramesShown) {
    text += fmt::format(" and {} more", grouped(round.streams.size() - kFramesShown));
  }
  return text;
}

std::string order_in_words(const StreamRun& run) {
  std::string text;
  std::vector<uint64_t> next(run.streams.size());
  const size_t shown = std::min(kRoundsShown, run.schedule.size());
  for (size_t i = 0; i < shown; ++i) {
    text += fmt::format("{}round {}: {}\n", i == 0 ? "order     " : "          ", i,
                        frames_in_words(run.schedule[i], run.streams, next));
  }
  if (shown < run.schedule.size()) {
    text += fmt::format("          and {} more rounds, which --json lists\n", grouped(run.schedule.size() - shown));
  }
  return text;
}

std::string table_of(const StreamRun& run) {
  const bool contexts = has_names(run.options), interruptions = has_priorities(run.options);
  std::vector<report::Column> columns = {{"network", true}};
  if (contexts) columns.push_back({"context", true});
  if (contexts) columns.push_back({"a round"});
  for (const char* title : {"frames", "variables", "bytes", "in DRAM", "cycles a frame"}) columns.push_back({title});
  if (interruptions) columns.push_back({"interrupted"});
  std::vector<report::Row> rows;
  for (size_t i = 0; i < run.streams.size(); ++i) {
    const Stream& stream = run.streams[i];
    const auto frames = static_cast<uint64_t>(stream.frames.invocations());
    const StateBytes bytes = state_bytes(stream);
    const uint64_t cycles = run.results[i].cycles;
    report::Row row = {shown_name(stream.name)};
    if (contexts) {
      const std::string& name = run.options.contexts[stream.context].name;
      row.push_back(name.empty() ? "-" : shown_name(name));
      row.push_back(grouped(static_cast<uint64_t>(stream.per_round)));
    }
    for (const uint64_t number : {frames, uint64_t{stream.program.variables.size()}, bytes.all, bytes.in_dram}) {
      row.push_back(grouped(number));
    }
    row.push_back(cycles == 0 ? "-" : grouped((cycles + frames / 2) / frames));
    if (interruptions) row.push_back(grouped(run.results[i].interruptions));
    rows.push_back(std::move(row));
  }
  return report::render(std::move(columns), rows);
}

// Empty where each frame loads its constants.
std::string constants_in_words(const StreamRun& run) {
  uint64_t bytes = 0, loads = 0, networks = 0;
  for (size_t i = 0; i < run.streams.size(); ++i) {
    bytes += run.streams[i].program.resident_bytes;
    networks += run.streams[i].program.resident_bytes > 0 ? 1 : 0;
    loads += run.results[i].loads;
  }
  if (networks == 0) return "";
  return fmt::format("constants {} bytes of {} network{} stay in the scratchpad; loaded {} time{}\n", grouped(bytes),
                     grouped(networks), networks == 1 ? "" : "s", grouped(loads), loads == 1 ? "" : "s");
}

std::string choices_in_words(const StreamRun& run) {
  if (all_in_one(run.options)) return "the networks in turn";
  return has_names(run.options) ? "random choices of the contexts in random order" : "random choices in random order";
}

}  // namespace

std::string to_json_text(const StreamRun& run) {
  const StreamOptions& options = run.options;
  Json rounds = Json::array();
  for (const Round& round : run.schedule) {
    rounds.push_back({{"networks", round.streams}, {"power_down", round.power_down}});
  }
  Json checked;
  if (run.check) {
    checked = {{"against", options.check}, {"compared", run.check->compared}, {"differing", run.check->differing}};
  }
  const Json document = {{"schema", "npu-stream"},
                         {"schema_version", 1},
                         {"machine", options.machine.config},
                         {"mode", options.machine.mode},
                         {"seed", options.seed},
                         {"shared", all_in_one(options)},
                         {"power_downs", power_downs(run.schedule)},
                         {"contexts", contexts_json(run)},
                         {"networks", networks_json(run)},
                         {"rounds", rounds},
                         {"check", checked},
                         {"engines", engines_json(run.engines)},
                         {"persistent_sram", report::to_json(run.persistent_sram)}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string to_text(const StreamRun& run) {
  const StreamOptions& options = run.options;
  const size_t count = run.streams.size();
  std::string text =
      fmt::format("{} network{} on {} ({}), {}, seed {}\n\n{}", count, count == 1 ? "" : "s", options.machine.config,
                  options.machine.mode, contexts_in_words(options), options.seed, table_of(run));
  text += fmt::format("\nrounds    {} of {}, the device powered down after {} of them\n", grouped(run.schedule.size()),
                      choices_in_words(run), grouped(power_downs(run.schedule)));
  text += order_in_words(run);
  text += constants_in_words(run);
  text += report::back_end_lines(run.engines, run.persistent_sram);
  if (!run.check) return text;
  return text +
         fmt::format("check     {} differing of {} elements compared with {}\n", grouped(run.check->differing),
                     grouped(run.check->compared),
                     options.check == "reference" ? "the reference"
                     : has_names(options)         ? "runs of each context alone on the device"
                                                  : "runs of each network alone on the device") +
         workload::float_line(*run.check);
}

}  // namespace npu::cli
