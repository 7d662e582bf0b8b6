// SPDX-License-Identifier: Apache-2.0
// The document on the accuracy of cycle counts: every number of it is counted, every verdict follows from the numbers.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "hw/contract/gen/commands.h"
#include "hw/presets/preset.h"
#include "sim/cosim/device_time.h"
#include "sim/regression/report.h"
#include "sim/report/columns.h"
#include "sim/report/table.h"
#include "sim/tool/junit.h"

namespace npu::regression {
namespace {

using report::grouped;
using report::Row;

std::string table(const std::vector<std::string>& titles, const std::vector<Row>& rows) {
  std::string text = fmt::format("| {} |\n|{}\n", fmt::join(titles, " | "), [&] {
    std::string line;
    for (size_t i = 0; i < titles.size(); ++i) line += "---|";
    return line;
  }());
  for (const Row& row : rows) text += fmt::format("| {} |\n", fmt::join(row, " | "));
  return text + "\n";
}

// What may be said of a formula or schedule: exact where every trial was.
std::string verdict(const TrialNumbers& numbers) {
  if (numbers.trials == 0) return "not measured";
  return numbers.cycles.all_exact() && numbers.port_differences == 0 ? "exact" : "not exact";
}

Row block_row(const BlockNumbers& block, const TrialNumbers& numbers) {
  const cosim::CycleComparison& cycles = numbers.cycles;
  return {std::string(name(block.block)),
          block.preset,
          grouped(numbers.trials),
          grouped(numbers.compared),
          grouped(numbers.differing),
          fmt::format("{:.2f} %", 100 * cycles.share_exact()),
          fmt::format("{:.3f}", cycles.mean_absolute()),
          fmt::format("{:+d}", cycles.worst),
          verdict(numbers)};
}

std::string ideal_table(const std::vector<BlockNumbers>& blocks) {
  std::vector<Row> rows;
  for (const BlockNumbers& block : blocks) {
    if (block.ideal.trials > 0) rows.push_back(block_row(block, block.ideal));
  }
  return table({"block", "preset", "trials", "compared", "differing", "equal cycles", "mean difference",
                "worst difference", "formula"},
               rows);
}

std::string held_back_table(const std::vector<BlockNumbers>& blocks) {
  std::vector<Row> rows;
  for (const BlockNumbers& block : blocks) {
    if (block.held_back.trials == 0) continue;
    Row row = block_row(block, block.held_back);
    row.insert(row.end() - 1, grouped(block.held_back.port_differences));
    rows.push_back(std::move(row));
  }
  return table({"block", "preset", "trials", "compared", "differing", "equal cycles", "mean difference",
                "worst difference", "other requests", "schedule"},
               rows);
}

std::string contention_table(const std::vector<BlockNumbers>& blocks) {
  std::vector<Row> rows;
  for (const BlockNumbers& block : blocks) {
    const cosim::CycleComparison& device = block.held_back.device;
    if (device.count == 0) continue;
    rows.push_back({std::string(name(block.block)), block.preset, grouped(device.count), grouped(device.rtl),
                    fmt::format("{:+.2f}", device.mean()), fmt::format("{:+.2f} %", 100 * device.relative()),
                    fmt::format("{:.2f}", device.mean_absolute()), fmt::format("{:+d}", device.worst),
                    fmt::format("{:+.1f} %", 100 * device.worst_relative)});
  }
  return table({"block", "preset", "trials", "cycles on RTL", "mean difference", "relative", "mean absolute",
                "worst difference", "worst relative"},
               rows);
}

// The columns that networks and operators share, behind those that say what it is.
Row device_row(Row what, const DeviceNumbers& d) {
  const Row numbers = {grouped(d.invocations), grouped(d.compared),
                       grouped(d.differing),   grouped(d.tiles),
                       grouped(d.exact),       d.model_cycles ? grouped(*d.model_cycles) : "not measured"};
  what.insert(what.end(), numbers.begin(), numbers.end());
  return what;
}

std::string device_table(std::vector<std::string> titles, const std::vector<Row>& rows) {
  static const std::vector<std::string> kNumbers = {"invocations", "outputs compared", "differing",
                                                    "tiles",       "equal cycles",     "cycles of the device"};
  titles.insert(titles.end(), kNumbers.begin(), kNumbers.end());
  return table(titles, rows);
}

std::string network_table(const RegressionRun& run) {
  std::vector<Row> rows;
  for (size_t i = 0; i < run.cases.size(); ++i) {
    const auto* network = std::get_if<NetworkCase>(&run.cases[i].work);
    if (network == nullptr || run.results[i].outcome == Outcome::kMissing) continue;
    const Case& one = run.cases[i];
    rows.push_back(device_row({network->network, one.preset, fmt::format("{}", one.seed)}, run.results[i].device));
  }
  return device_table({"network", "preset", "seed"}, rows);
}

// All operators and seeds of a machine together.
std::string operator_table(const RegressionRun& run) {
  struct Sum {
    std::string preset;
    std::set<graph::Op> operators;
    DeviceNumbers numbers;
  };
  std::vector<Sum> sums;
  for (size_t i = 0; i < run.cases.size(); ++i) {
    const auto* work = std::get_if<OperatorCase>(&run.cases[i].work);
    if (work == nullptr) continue;
    const std::string& preset = run.cases[i].preset;
    auto sum = std::find_if(sums.begin(), sums.end(), [&](const Sum& candidate) { return candidate.preset == preset; });
    if (sum == sums.end()) sum = sums.insert(sums.end(), {preset, {}, {0, 0, 0, 0, 0, 0, 0, 0, 0}});
    sum->operators.insert(work->op);
    sum->numbers.add(run.results[i].device);
  }
  std::vector<Row> rows;
  for (const Sum& sum : sums) {
    rows.push_back(device_row({fmt::format("{}", sum.operators.size()), sum.preset}, sum.numbers));
  }
  return device_table({"operators", "preset"}, rows);
}

// Seeds and what the trials were, for those who want the same ones again.
std::string trial_table(const std::vector<BlockNumbers>& blocks) {
  std::vector<Row> rows;
  for (const BlockNumbers& block : blocks) {
    TrialNumbers all = block.ideal;
    all.add(block.held_back);
    std::vector<std::string> kinds;
    for (const auto& [kind, trials] : all.kinds) kinds.push_back(fmt::format("{} {}", kind, grouped(trials)));
    rows.push_back({std::string(name(block.block)), block.preset, fmt::format("{}", fmt::join(block.seeds, ", ")),
                    fmt::format("{}", fmt::join(kinds, ", "))});
  }
  return table({"block", "preset", "seeds", "trials by kind"}, rows);
}

// The cycles of rtl/blocks/persistent_sram.
std::string variable_table(const RegressionRun& run) {
  std::vector<Row> rows;
  std::set<std::string> seen;
  for (const Case& one : run.cases) {
    if (!seen.insert(one.preset).second) continue;
    const contract::Capabilities caps = presets::load_preset(one.preset).caps;
    const cosim::TableOperations cycles = cosim::table_operations(caps);
    rows.push_back({one.preset, grouped(cycles.rows),
                    fmt::format("{} to {}", grouped(cycles.begin_least), grouped(cycles.begin_most)),
                    grouped(cycles.declaration_first), grouped(cycles.declaration_next), grouped(cycles.check),
                    grouped(cycles.begin_write), grouped(cycles.commit)});
  }
  return table({"preset", "R", "begin of a job: R + 5 S + 3", "first declaration: R + 7", "later declaration", "check",
                "begin of a write", "commit"},
               rows);
}

// Nothing where everything was measured and passed.
std::string reservations(const RegressionRun& run) {
  std::string text;
  for (const Outcome outcome : {Outcome::kFailed, Outcome::kBroken, Outcome::kNotRun, Outcome::kMissing}) {
    if (const uint64_t cases = count(run, outcome); cases > 0) {
      text += fmt::format("- {} of {} cases: {}\n", grouped(cases), grouped(run.cases.size()), name(outcome));
    }
  }
  return text.empty() ? "" : "**These numbers are not complete:**\n\n" + text + "\n";
}

constexpr const char* kIntro =
    "The accuracy of the model's cycle counts, measured against the RTL. One command counts everything here and\n"
    "writes this page:\n\n"
    "    npu cosim {}{} --markdown {}\n\n"
    "Differences are the RTL's cycles minus the predicted ones: positive where the RTL takes longer. `exact` means\n"
    "that every single trial was exact. [Cosim](cosim.md) describes the runs. Networks of a zoo need its folder, too\n"
    "(`--networks`).\n\n";

constexpr const char* kIdeal =
    "## Blocks with ideal memory\n\n"
    "Random work, each request for memory granted in its cycle. Trials compare results with the model's, and cycles "
    "with\n"
    "these formulas; the compiler's cost model uses those of `mxu` and `vpu`.\n\n"
    "- `mxu`, `vpu`: a tile, with its formula of `hw/timing`. `compared` counts elements of results.\n"
    "- `dma`: the walk of a command over its addresses, with 3 cycles and the beats of `hw/timing/dma_cycles`. Of the "
    "rest\n"
    "  of the DMA, for which that formula has 4 cycles at the start and 2 at the end, there is no RTL; it is not "
    "compared.\n"
    "  `compared` counts beats, and bytes of fills.\n"
    "- `scratchpad`: accesses of each requester to banks of its own, with a cycle an access and one for the last "
    "data.\n"
    "  `compared` counts bytes that are read.\n"
    "- `persistent_sram`: accesses and operations one after the other, with the cycles that `sim/cosim` has for each.\n"
    "  `compared` counts bytes that are read, errors, and memories and places of variables.\n\n";

constexpr const char* kHeldBack =
    "## Blocks that memory holds back\n\n"
    "The same with memory that does not serve all requests at once. `other requests` are trials in which a request or "
    "an\n"
    "answer came in another cycle than the schedule says.\n\n"
    "- `mxu`, `vpu`, `dma`: requests are granted at random, in every second trial by the device's crossbar; the\n"
    "  schedule of `hw/timing` (`mxu_ports`, `vpu_ports`, `dma_ports`) says under any grants which port asks in which "
    "cycle.\n"
    "- `scratchpad`: the requesters compete for banks, as lanes of the device's crossbar (`hw/timing/crossbar`).\n"
    "- `persistent_sram`: accesses and operations compete; the schedule is that of `sim/cosim`.\n\n";

constexpr const char* kContention =
    "## What the device makes of contention\n\n"
    "In a job the device's crossbar (`hw/timing/crossbar`) plays all who ask for memory cycle by cycle: the ports of "
    "tiles,\n"
    "sides of DMA channels, operations on the variable table. Banks and the port of the persistent SRAM serve them in "
    "turn,\n"
    "as the RTL's arbiters do. Here its cycles stand beside the RTL's. In every second trial of `mxu`, `vpu` and `dma` "
    "the\n"
    "device plays the work first, with the requests that it has in a job, among one to four competitors for the banks "
    "and\n"
    "the port; the RTL then gets exactly the grants that the crossbar made, none in any other cycle. In `scratchpad` "
    "and\n"
    "`persistent_sram` the competitors are lanes of that crossbar: requesters; data and operations of the variable "
    "table (of\n"
    "the trials with power, and without bits that flip). Where the differences are positive, the RTL takes longer.\n\n";

constexpr const char* kUnmeasured =
    "What the device does not count as the RTL does, or what no RTL says:\n\n"
    "- Which bytes a request of an engine moves: its even share of all that the tile moves there, in order of their\n"
    "  addresses. Requests that jump far collide in other cycles. A request that is wider than a bank is granted when "
    "the\n"
    "  last of its banks has served it.\n"
    "- The device's DMA takes {} cycles before a command's first beat or request to DRAM, and the RTL's beats. Bursts, "
    "and\n"
    "  beats that wait for the data of the next burst, have no RTL; nor has a copy's way from one side to the other.\n"
    "- Of the persistent SRAM the device counts the arbitration, the cycle more of a word that is written in part, and "
    "the\n"
    "  later answer to the last read of a command. It leaves out the cycle more of a word that is corrected.\n"
    "- An entry of the variable table that the control CPU or the host writes while a declaration reads the table: the "
    "RTL\n"
    "  compares the place anew at the next declaration, the device does not.\n\n"
    "## Operations on the variable table\n\n"
    "The device gives them the cycles of the RTL: with R rows of the table (`var_entries` * 16 / `psram_port_bytes`) "
    "and S\n"
    "of them in which a job takes back old marks (2 cycles less if the last row is one of them), so many while the "
    "memory\n"
    "has no other users. The first declaration of a variable since an entry of the table was written compares its "
    "place "
    "with\n"
    "those of all others; later ones need not. The trials of `persistent_sram` compare all of them, each operation by "
    "itself,\n"
    "and in competition. A job begins once and declares each of its variables once; each access to one is checked when "
    "its\n"
    "command is issued and when it starts, where a write begins as well; each write commits. The sequencer waits for "
    "its\n"
    "operations, and a command for its own.\n\n";

constexpr const char* kNetworks =
    "## Networks\n\n"
    "Networks with random data: outputs are compared with the reference, tiles one by one between model and RTL in\n"
    "lockstep. `equal cycles` are tiles of which the RTL, with ideal memory, took as many as the formula says. Cycles "
    "are\n"
    "those of the whole device, all invocations together.\n\n";

constexpr const char* kOperators =
    "## Operators\n\n"
    "Random small networks of each operator that the machine runs on integers or booleans, with each combination of\n"
    "such types, in the same way. Floating point is in the tiles of `mxu` and `vpu`.\n\n";

constexpr const char* kTrials = "## Seeds and kinds of trials\n\n";

constexpr const char* kRest =
    "## What is not calibrated\n\n"
    "The DRAM behind the DMA is a model with the timing of a data sheet. There is no RTL of it, of its controller, or "
    "of\n"
    "the path from the DMA to it to compare it with; nor of the sequencer.\n";

}  // namespace

std::string to_markdown(const RegressionRun& run, const std::string& file) {
  const std::vector<BlockNumbers> blocks = by_block(run);
  return "# Cycle accuracy\n\n" +
         fmt::format(fmt::runtime(kIntro), tool::printable(run.list), run.selection, tool::printable(file)) +
         reservations(run) + kIdeal + ideal_table(blocks) + kHeldBack + held_back_table(blocks) + kContention +
         contention_table(blocks) + fmt::format(kUnmeasured, cosim::dma_walk_cycles()) + variable_table(run) +
         kNetworks + network_table(run) + kOperators + operator_table(run) + kTrials + trial_table(blocks) + kRest;
}

}  // namespace npu::regression
