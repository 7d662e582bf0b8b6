// SPDX-License-Identifier: Apache-2.0
// `npu replay`: one tile of a replay bundle on model and RTL.
#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <system_error>

#include "driver/graph/file.h"
#include "driver/graph/text.h"
#include "hw/contract/error.h"
#include "sim/cli/command.h"
#include "sim/cli/options.h"
#include "sim/cli/rtl_on_demand.h"
#include "sim/cosim/back_ends.h"
#include "sim/cosim/bundle.h"
#include "sim/report/table.h"
#include "sim/tool/file_places.h"
#include "sim/tool/say.h"
#include "sim/workload/data.h"

namespace npu::cli {

namespace po = boost::program_options;
namespace fs = std::filesystem;
using contract::ErrorCode;
using tool::say;

namespace {

constexpr CommandHelp kReplayHelp = {
    "npu replay DIR [options]",
    "Runs the tile of a replay bundle again on model and RTL ('npu run --lockstep' leaves a bundle when they differ),\n"
    "compares them, and writes a waveform of the RTL's signals. Exit status 7 when they differ.",
    "  npu replay npu-bundle\n"
    "  npu replay npu-bundle --waveform tile.fst      (open it with gtkwave)\n"};

// Throws when nothing was compared, since neither engine wrote anything.
cosim::Comparison run_tile(const fs::path& folder, const cosim::Bundle& bundle, const std::string& waveform) {
  cosim::BundleMemory memory(bundle.found.memory);
  cosim::Lockstep lockstep(cosim::make_model_engine(bundle.unit, bundle.caps),
                           cosim::make_rtl_engine(bundle.unit, bundle.caps, waveform));
  lockstep.keep_always(true);
  const engine::TileResult result = lockstep.run(bundle.command, memory, /*timed=*/true);
  if (lockstep.comparison().equal() && lockstep.comparison().elements == 0) {
    const std::string why = result.error == ErrorCode::kOk
                                ? "the command writes nothing"
                                : fmt::format("the {} refuses the command, or the memory that it reaches, as {}",
                                              title(bundle.unit), contract::name(result.error));
    throw Error(ErrorCode::kBadInput, fmt::format("{}: {}, so that there is nothing to compare",
                                                  graph::in_quotes((folder / "tile.json").string()), why));
  }
  return lockstep.comparison();
}

std::string outcome(const cosim::Comparison& comparison) {
  return comparison.equal() ? fmt::format("equal in all of {} elements", report::grouped(comparison.elements))
                            : comparison.difference;
}

void print(const fs::path& folder, const cosim::Bundle& bundle, const cosim::Comparison& now) {
  say("{}: layer '{}' ({}), tile {} of invocation {} on the {}, of {}\n\n", folder.string(), bundle.layer,
      bundle.operators, bundle.tile, bundle.invocation, title(bundle.unit), bundle.network);
  say("recorded  {}\nnow       {}\n", outcome(bundle.found), outcome(now));
  const bool same = now.expected == bundle.found.expected && now.got == bundle.found.got;
  say("results   {}\n", same ? "of model and RTL, every byte as recorded" : "not those that were recorded");
  say("cycles    {} on the RTL, {} in the model\n", now.rtl_cycles, now.model_cycles);
}

// Throws where no waveform can be, also over a part of the bundle.
void check_waveform(const fs::path& folder, const fs::path& waveform) {
  tool::check_file_writable(waveform);
  tool::FilePlaces places;
  std::error_code ignored;
  for (const fs::directory_entry& file : fs::directory_iterator(folder, ignored)) {
    if (file.path().extension() != ".fst") places.read("a part of the bundle", file.path());
  }
  places.write("--waveform", waveform);
}

}  // namespace

int run_replay(const Arguments& arguments) {
  po::options_description visible, hidden;
  visible.add_options()  //
      ("waveform", po::value<std::string>()->value_name("FILE.fst"),
       "where to write the waveform (default: tile.fst in DIR)")  //
      ("no-waveform", po::bool_switch(), "write none");
  hidden.add_options()("folder", po::value<std::string>());
  po::positional_options_description positional;
  positional.add("folder", 1);
  const auto values = parse(arguments, kReplayHelp, visible, hidden, positional);
  if (!values) return 0;
  const fs::path folder = required(*values, "folder", "the replay bundle's DIR", "npu replay");
  const cosim::Bundle bundle = cosim::read_bundle(folder);
  provide_rtl();

  const bool asked = values->count("waveform") > 0;
  const bool trace = !(*values)["no-waveform"].as<bool>() && (asked || cosim::has_traced_rtl(bundle.unit));
  const fs::path waveform = asked ? fs::path((*values)["waveform"].as<std::string>()) : folder / "tile.fst";
  std::optional<graph::NewFile> written;
  if (trace) {
    check_waveform(folder, waveform);
    written.emplace(waveform, graph::NewFile::Name::kNeeded);
  }
  const cosim::Comparison now = run_tile(folder, bundle, trace ? written->part().string() : "");
  if (trace) written->take_place();
  print(folder, bundle, now);
  if (trace) {
    say("waveform  {}\n", waveform.string());
  } else if (!cosim::has_traced_rtl(bundle.unit)) {
    say("waveform  none: the RTL beside this program was built without blocks that write one (-DNPU_RTL_TRACE=ON)\n");
  }
  if (now.equal()) return 0;
  throw Error(ErrorCode::kElementsDiffer, "model and RTL differ: " + now.difference);
}

}  // namespace npu::cli
