// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/back_end_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "driver/graph/text.h"
#include "hw/contract/error.h"
#include "sim/cli/options.h"
#include "sim/cli/rtl_on_demand.h"

namespace npu::cli {

namespace po = boost::program_options;
namespace fs = std::filesystem;
using contract::ErrorCode;
using cosim::BackEnd;
using cosim::Unit;

namespace {

constexpr Unit kAllUnits[] = {Unit::kMxu, Unit::kVpu};
constexpr std::string_view kPersistentSram = "psram";
using Persistent = BackEndOptions::Persistent;

Unit parse_unit(std::string_view text) {
  for (const Unit unit : kAllUnits) {
    if (text == name(unit)) return unit;
  }
  throw Error(ErrorCode::kBadOption, fmt::format("--rtl knows mxu, vpu and {}, not '{}'", kPersistentSram, text));
}

// ENGINE[@LAYER]
void parse_rtl_item(std::string_view item, BackEndOptions& options) {
  const size_t at = item.find('@');
  const bool whole = at == std::string_view::npos;
  if (item.substr(0, at) == kPersistentSram) {
    if (!whole) {
      throw Error(ErrorCode::kBadOption,
                  fmt::format("--rtl names a layer of {0}, which all layers use: give {0}", kPersistentSram));
    }
    options.persistent = Persistent::kYes;
    return;
  }
  const Unit unit = parse_unit(item.substr(0, at));
  BackEndOptions::Choice& choice = options.choices[static_cast<size_t>(unit)];
  if (choice.chosen && whole != choice.layers.empty()) {
    throw Error(ErrorCode::kBadOption,
                fmt::format("--rtl names the whole {0} and also a layer of it: give {0} or {0}@LAYER", name(unit)));
  }
  choice.chosen = true;
  if (!whole) choice.layers.emplace_back(item.substr(at + 1));
}

// ENGINE[@LAYER],...
void parse_rtl(std::string_view text, BackEndOptions& options) {
  for (;;) {
    const size_t comma = text.find(',');
    parse_rtl_item(text.substr(0, comma), options);
    if (comma == std::string_view::npos) return;
    text.remove_prefix(comma + 1);
  }
}

// The layers that a name or, where none has that name, a number means.
void mark_layers(const std::string& which, const std::vector<compiler::Layer>& layers, std::vector<bool>& marked) {
  bool found = false;
  for (size_t i = 0; i < layers.size(); ++i) {
    if (layers[i].name != which && layers[i].position != which) continue;
    marked[i] = found = true;
  }
  if (found) return;
  const bool digits = !which.empty() && which.size() < 9 &&
                      std::all_of(which.begin(), which.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (digits && std::stoul(which) < layers.size()) {
    marked[std::stoul(which)] = true;
    return;
  }
  throw Error(
      ErrorCode::kBadOption,
      fmt::format("--rtl names layer {}, but the network has no such layer; it has {} of them, from {} (0) to {} ({}): "
                  "name one as the report of npu run without --rtl does, or count its rows from 0",
                  graph::in_quotes(which), layers.size(), graph::in_quotes(layers.empty() ? "" : layers.front().name),
                  graph::in_quotes(layers.empty() ? "" : layers.back().name), layers.empty() ? 0 : layers.size() - 1));
}

std::string free_folder() {
  std::string folder = "npu-bundle";
  for (int i = 2; fs::exists(folder); ++i) folder = fmt::format("npu-bundle-{}", i);
  return folder;
}

}  // namespace

void add_back_end_options(po::options_description& options) {
  options.add_options()  //
      ("rtl", po::value<std::vector<std::string>>()->value_name("ENGINE[@LAYER],..."),
       "run these on their RTL: mxu, vpu, psram (the persistent SRAM with its variable table); an engine with @LAYER, "
       "a "
       "name or the number of a row in the report, from 0, only in that layer of the one network that runs")  //
      ("lockstep", po::bool_switch(),
       "run model and RTL of each tile, and of each operation and access of the persistent SRAM, and compare every "
       "byte, "
       "answer and cycle; the first difference stops the run with exit status 7; for what --rtl names, or all that has "
       "RTL")  //
      ("keep-bundle", po::value<std::string>()->value_name("DIR"),
       "where --lockstep leaves the tile that differs, for npu replay (default: npu-bundle)");
}

BackEndOptions back_end_options(const po::variables_map& values) {
  BackEndOptions options;
  for (const Unit unit : kAllUnits) options.choices[static_cast<size_t>(unit)].unit = unit;
  options.lockstep = values["lockstep"].as<bool>();
  if (values.count("rtl") > 0) {
    for (const std::string& text : values["rtl"].as<std::vector<std::string>>()) parse_rtl(text, options);
  } else if (options.lockstep) {
    for (BackEndOptions::Choice& choice : options.choices) choice.chosen = true;
    options.persistent = Persistent::kIfBuilt;
  }
  if (values.count("keep-bundle") == 0) return options;
  options.bundle = values["keep-bundle"].as<std::string>();
  if (!options.lockstep) {
    throw Error(ErrorCode::kBadOption, "--keep-bundle keeps what --lockstep finds: give --lockstep too");
  }
  if (options.bundle.empty() || fs::exists(options.bundle)) {
    throw Error(ErrorCode::kBadOption,
                fmt::format("--keep-bundle needs a folder that does not exist yet, not '{}'", options.bundle));
  }
  return options;
}

void choose_back_ends(const BackEndOptions& options, const contract::Capabilities& caps, cosim::BackEnds& back_ends) {
  const BackEnd back_end = options.lockstep ? BackEnd::kLockstep : BackEnd::kRtl;
  for (const BackEndOptions::Choice& choice : options.choices) {
    if (!choice.chosen) continue;
    provide_rtl();
    back_ends.choose(choice.unit, back_end);
  }
  if (options.persistent == Persistent::kNo) return;
  provide_rtl();
  if (options.persistent == Persistent::kYes || cosim::has_rtl_persistent_sram(caps)) {
    back_ends.choose_persistent(back_end);
  }
}

void connect_back_ends(cosim::BackEnds& back_ends, platform::PlatformOptions& machine) {
  machine.make_mxu = [&] { return back_ends.make(Unit::kMxu); };
  machine.make_vpu = [&] { return back_ends.make(Unit::kVpu); };
  machine.make_persistent = [&] { return back_ends.make_persistent(); };
}

void choose_layers(const BackEndOptions& options, const compiler::Program& program, cosim::BackEnds& back_ends) {
  for (const BackEndOptions::Choice& choice : options.choices) {
    if (choice.layers.empty()) continue;
    std::vector<bool> marked(program.layers.size());
    for (const std::string& layer : choice.layers) mark_layers(layer, program.layers, marked);
    back_ends.set_layers(choice.unit, std::move(marked));
  }
}

namespace {

contract::Engine engine_of(cosim::Unit unit) {
  switch (unit) {
    case cosim::Unit::kMxu:
      return contract::Engine::kMxu;
    case cosim::Unit::kVpu:
      return contract::Engine::kVpu;
  }
  panic(__FILE__, __LINE__, "a unit without an engine");
}

}  // namespace

std::vector<report::EngineRun> engine_runs(const BackEndOptions& options, const cosim::BackEnds& back_ends) {
  std::vector<report::EngineRun> runs;
  for (const BackEndOptions::Choice& choice : options.choices) {
    const cosim::EngineRecord& record = back_ends.record(choice.unit);
    report::EngineRun run;
    run.engine = engine_of(choice.unit);
    run.back_end = name(record.back_end);
    run.layers = choice.layers;
    run.tiles = record.tiles;
    run.rtl_tiles = record.rtl_tiles;
    run.elements_compared = record.elements;
    run.cycles_compared = record.cycles.count;
    run.cycles_exact = record.cycles.exact;
    run.cycles_mean_absolute = record.cycles.mean_absolute();
    run.cycles_worst = record.cycles.worst;
    run.same_requests = record.same_requests;
    runs.push_back(std::move(run));
  }
  return runs;
}

report::PersistentRun persistent_run(const cosim::BackEnds& back_ends) {
  const cosim::PersistentRecord& record = back_ends.persistent_record();
  report::PersistentRun run;
  run.back_end = name(back_ends.persistent_back_end());
  run.operations = record.operations;
  run.accesses = record.accesses;
  run.compared = record.compared;
  run.cycles_compared = record.cycles.count;
  run.cycles_exact = record.cycles.exact;
  run.cycles_mean_absolute = record.cycles.mean_absolute();
  run.cycles_worst = record.cycles.worst;
  return run;
}

void throw_failure(const cosim::Failure& failure, cosim::Bundle bundle, const compiler::Program& program,
                   const BackEndOptions& options) {
  if (failure.layer && *failure.layer < program.layers.size()) {
    bundle.layer = program.layers[*failure.layer].name;
    bundle.operators = program.layers[*failure.layer].operators;
  }
  std::string text = failure.text;
  if (failure.layer && bundle.layer.empty()) {
    text = fmt::format("layer {} of a network, {}", *failure.layer, text);
  } else if (failure.layer) {
    text = fmt::format("layer {} {} ({}), {}", *failure.layer, graph::in_quotes(bundle.layer), bundle.operators, text);
  }
  if (!bundle.seed.empty()) text += fmt::format("; {}", bundle.seed);
  if (failure.replayable) {
    const std::string folder = options.bundle.empty() ? free_folder() : options.bundle;
    write_bundle(bundle, folder);
    text += fmt::format("; run it again with: npu replay {}", folder);
  }
  throw Error(failure.code, text);
}

}  // namespace npu::cli
