// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/stream_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "driver/graph/text.h"
#include "hw/contract/gen/commands.h"
#include "sim/report/columns.h"
#include "sim/report/table.h"
#include "sim/tool/say.h"
#include "sim/tool/staged_files.h"

namespace npu::cli {

using report::grouped;
using tool::say;

namespace {

using Json = nlohmann::ordered_json;

struct StreamBytes {
  uint64_t all = 0, in_dram = 0;
};

StreamBytes stream_bytes(const Stream& stream) {
  StreamBytes bytes;
  for (const compiler::Variable& variable : stream.program.variables) {
    bytes.all += variable.bytes;
    bytes.in_dram += variable.in_dram ? variable.bytes : 0;
  }
  return bytes;
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

Json persistent_json(const report::PersistentRun& run) {
  return {{"back_end", run.back_end}, {"operations", run.operations},           {"accesses", run.accesses},
          {"compared", run.compared}, {"cycles_compared", run.cycles_compared}, {"cycles_exact", run.cycles_exact}};
}

Json stream_json(const StreamOptions& options, const std::vector<Stream>& streams, const StreamReport& report) {
  const Interleaved& run = report.run;
  const std::optional<StreamCheck>& check = report.check;
  Json networks = Json::array(), rounds = Json::array();
  for (size_t i = 0; i < streams.size(); ++i) {
    const StreamBytes bytes = stream_bytes(streams[i]);
    networks.push_back({{"name", streams[i].name},
                        {"file", streams[i].network.path.string()},
                        {"sha256", workload::sha256_of(streams[i].network)},
                        {"frames", streams[i].frames.invocations()},
                        {"variables", streams[i].program.variables.size()},
                        {"bytes", bytes.all},
                        {"dram_bytes", bytes.in_dram},
                        {"cycles", run.cycles[i]}});
  }
  for (const Round& round : run.rounds) {
    rounds.push_back({{"networks", round.streams}, {"power_down", round.power_down}});
  }
  Json checked;
  if (check) {
    checked = {{"against", options.check}, {"compared", check->compared}, {"differing", check->differing}};
  }
  return {{"schema", "npu-stream"},
          {"schema_version", 1},
          {"machine", options.machine.config},
          {"mode", options.machine.mode},
          {"seed", options.seed},
          {"shared", options.share},
          {"power_downs", run.power_downs},
          {"networks", networks},
          {"rounds", rounds},
          {"check", checked},
          {"engines", engines_json(report.engines)},
          {"persistent_sram", persistent_json(report.persistent_sram)}};
}

}  // namespace

std::filesystem::path outputs_folder(const StreamOptions& options, const Stream& stream) {
  return std::filesystem::path(options.outputs) / workload::file_name_for(stream.name);
}

void print(const StreamOptions& options, const std::vector<Stream>& streams, const StreamReport& report) {
  const Interleaved& run = report.run;
  const std::optional<StreamCheck>& check = report.check;
  std::vector<report::Row> rows;
  for (size_t i = 0; i < streams.size(); ++i) {
    const auto frames = static_cast<uint64_t>(streams[i].frames.invocations());
    const StreamBytes bytes = stream_bytes(streams[i]);
    rows.push_back({graph::printable(streams[i].name, streams[i].name.size()), grouped(frames),
                    grouped(streams[i].program.variables.size()), grouped(bytes.all), grouped(bytes.in_dram),
                    run.cycles[i] == 0 ? "-" : grouped((run.cycles[i] + frames / 2) / frames)});
  }
  say("{} network{} on {} ({}), {}, seed {}\n\n{}", streams.size(), streams.size() == 1 ? "" : "s",
      options.machine.config, options.machine.mode,
      options.share ? "all in one context" : "each in a context of its own", options.seed,
      report::render({{"network", true}, {"frames"}, {"variables"}, {"bytes"}, {"in DRAM"}, {"cycles a frame"}}, rows));
  say("\nrounds    {} of {}, the device powered down after {} of them\n", grouped(run.rounds.size()),
      options.share ? "a frame of each network in turn" : "random choices in random order", grouped(run.power_downs));
  say("{}", report::back_end_lines(report.engines, report.persistent_sram));
  if (!check) return;
  say("check     {} differing of {} elements compared with {}\n", grouped(check->differing), grouped(check->compared),
      options.check == "reference" ? "the reference" : "runs of each network alone on the device");
}

void write_files(const StreamOptions& options, const std::vector<Stream>& streams, const StreamReport& report) {
  const Interleaved& run = report.run;
  tool::StagedFiles files;
  for (size_t i = 0; i < streams.size() && !options.outputs.empty(); ++i) {
    workload::OutputData outputs(streams[i].network.outputs, true);
    for (const std::vector<graph::Value>& frame : run.outputs[i]) outputs.add(frame);
    outputs.write(files, outputs_folder(options, streams[i]));
  }
  if (!options.json.empty()) {
    files.write(options.json,
                stream_json(options, streams, report).dump(2, ' ', false, Json::error_handler_t::replace) + '\n');
  }
  files.commit();
}

}  // namespace npu::cli
