// SPDX-License-Identifier: Apache-2.0
// `npu state`: what is in the files of --save-state.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "driver/graph/text.h"
#include "driver/runtime/variable_sizes.h"
#include "hw/contract/error.h"
#include "sim/cli/command.h"
#include "sim/cli/json_option.h"
#include "sim/cli/options.h"
#include "sim/report/columns.h"
#include "sim/report/sha256.h"
#include "sim/report/table.h"
#include "sim/tool/say.h"
#include "sim/workload/state_file.h"

namespace npu::cli {

namespace po = boost::program_options;
using contract::ErrorCode;
using graph::in_quotes;
using report::grouped;
using runtime::Snapshot;
using runtime::SnapshotVariable;
using tool::say;

namespace {

using Json = nlohmann::ordered_json;

constexpr CommandHelp kListHelp = {"npu state list FILE [options]",
                                   "Prints the variables of a file that --save-state left, and who had them: identity, "
                                   "type, shape, the place where it lay,\n"
                                   "whether it is written, who wrote it last, and how many invocations it has seen.",
                                   "  npu state list s.state\n"
                                   "  npu state list s.state --json | jq '.variables[].identity'\n"};

constexpr CommandHelp kDiffHelp = {"npu state diff A B [options]",
                                   "Compares the variables of two files, element by element. Exit status 7 when any "
                                   "differs; who wrote a variable and\n"
                                   "when does not count.",
                                   "  npu state diff device.state reference.state\n"
                                   "  npu state diff a.state b.state --json\n"
                                   "  npu state diff a.state b.state --json differences.json\n"};

constexpr CommandHelp kClearHelp = {"npu state clear FILE [NAME]... [options]",
                                    "Marks variables as not written, all of them without NAME: a run that resumes from "
                                    "the file starts them with their\n"
                                    "initial value, and where the network leaves a size open with that of its data, as "
                                    "after a clear.",
                                    "  npu state clear s.state\n"
                                    "  npu state clear s.state stream_6/states -o cleared.state\n"};

constexpr CommandHelp kCheckHelp = {"npu state check FILE NETWORK.tosa",
                                    "Says whether a network can resume from a file: both must have the same variables, "
                                    "of the same types and shapes. Any size\n"
                                    "fits where the network leaves it open.",
                                    "  npu state check s.state wake_word.tosa\n"};

std::string dump(const Json& document) { return document.dump(2, ' ', true, Json::error_handler_t::replace) + '\n'; }

// Of the largest sizes, where no job has brought any.
int64_t bytes_of(const SnapshotVariable& variable) {
  const bool open = runtime::has_open(variable.shape);
  const graph::Shape shape = open ? runtime::filled({variable.shape, variable.largest}) : variable.shape;
  return graph::element_count(shape).value_or(0) * graph::machine_width(variable.type);
}

// "INT8[5, 16] of [64, 16]" where the sizes are those of the first job.
std::string declaration_of(const SnapshotVariable& variable) {
  if (variable.largest.empty()) return graph::describe_type(variable.type, variable.shape);
  return fmt::format("{} of {}", runtime::describe(variable.type, {variable.shape, variable.largest}),
                     graph::to_string(variable.largest));
}

// Positional arguments go to options of these names, the last of which may take the rest.
std::optional<po::variables_map> parse_files(const Arguments& arguments, const CommandHelp& help,
                                             const po::options_description& options,
                                             const std::vector<const char*>& names, bool rest) {
  po::options_description hidden;
  po::positional_options_description positional;
  for (size_t i = 0; i < names.size(); ++i) {
    if (rest && i + 1 == names.size()) {
      hidden.add_options()(names[i], po::value<std::vector<std::string>>());
      positional.add(names[i], -1);
    } else {
      hidden.add_options()(names[i], po::value<std::string>());
      positional.add(names[i], 1);
    }
  }
  return parse(arguments, help, options, hidden, positional);
}

// What a command that reads files and tells something was given.
struct Told {
  po::variables_map values;
  JsonOption json;
};

// Its files are positional arguments with these names. Nullopt after printing the help.
std::optional<Told> parse_told(const Arguments& arguments, const CommandHelp& help,
                               const std::vector<const char*>& names) {
  po::options_description options, hidden;
  po::positional_options_description positional;
  for (const char* name : names) {
    hidden.add_options()(name, po::value<std::string>());
    positional.add(name, 1);
  }
  JsonOption json(options, hidden, positional, kJsonHelp);
  std::vector<Given> order;
  const auto values = parse(arguments, help, options, hidden, positional, &order);
  if (!values) return std::nullopt;
  tool::FilePlaces places;
  for (const char* name : names) {
    if (values->count(name) > 0) places.read("a file of variables", (*values)[name].as<std::string>());
  }
  json.read(*values, order, help, std::move(places));
  return Told{*values, json};
}

std::string_view name(runtime::StatePlace place) {
  switch (place) {
    case runtime::StatePlace::kPersistentSram:
      return "persistent SRAM";
    case runtime::StatePlace::kDram:
      return "DRAM";
    case runtime::StatePlace::kHost:
      break;
  }
  return "host";
}

// Whose the variables were.
std::string owner_of(const Snapshot& snapshot) {
  return snapshot.owner == 0 ? "the reference" : fmt::format("context {}", snapshot.owner);
}

Json list_json(const std::string& file, const Snapshot& snapshot) {
  Json variables = Json::array();
  for (const SnapshotVariable& variable : snapshot.variables) {
    Json hash;
    if (variable.is_written) {
      report::Sha256 sha;
      sha.add(variable.bytes.data(), variable.bytes.size());
      hash = sha.hex();
    }
    variables.push_back({{"identity", variable.identity},
                         {"tensor", variable.tensor_name},
                         {"type", graph::name(variable.type)},
                         {"shape", variable.shape},
                         {"largest_shape", variable.largest.empty() ? Json() : Json(variable.largest)},
                         {"bytes", bytes_of(variable)},
                         {"place", name(variable.place)},
                         {"is_written", variable.is_written},
                         {"sha256", hash},
                         {"last_writer", variable.last_writer},
                         {"invocations", variable.invocations}});
  }
  return {{"schema", "npu-state"},   {"schema_version", 1},     {"file", file},
          {"label", snapshot.label}, {"owner", snapshot.owner}, {"variables", variables}};
}

std::string list_text(const std::string& file, const Snapshot& snapshot) {
  int64_t bytes = 0;
  std::vector<report::Row> rows;
  for (const SnapshotVariable& variable : snapshot.variables) {
    bytes += bytes_of(variable);
    rows.push_back({graph::printable(variable.identity, variable.identity.size()), declaration_of(variable),
                    grouped(static_cast<uint64_t>(bytes_of(variable))), std::string(name(variable.place)),
                    variable.is_written ? "yes" : "no",
                    variable.last_writer.empty() ? "-" : graph::printable(variable.last_writer),
                    grouped(variable.invocations)});
  }
  return fmt::format("{}: {} variable{} of {}, owner: {}, {} bytes\n\n{}", file, rows.size(),
                     rows.size() == 1 ? "" : "s", in_quotes(snapshot.label), owner_of(snapshot),
                     grouped(static_cast<uint64_t>(bytes)),
                     report::render({{"variable", true},
                                     {"type", true},
                                     {"bytes"},
                                     {"place", true},
                                     {"written", true},
                                     {"last writer", true},
                                     {"invocations"}},
                                    rows));
}

int list(const Arguments& arguments) {
  const auto given = parse_told(arguments, kListHelp, {"file"});
  if (!given) return 0;
  const std::string file = required(given->values, "file", "the FILE", "npu state list");
  const Snapshot snapshot = workload::read_snapshot(file);
  given->json.tell([&] { return list_text(file, snapshot); }, [&] { return dump(list_json(file, snapshot)); });
  return 0;
}

// Elements of variables that both have, declared alike and written.
uint64_t comparable(const Snapshot& a, const Snapshot& b) {
  uint64_t elements = 0;
  for (const SnapshotVariable& one : a.variables) {
    const auto other = std::find_if(b.variables.begin(), b.variables.end(),
                                    [&](const SnapshotVariable& v) { return v.identity == one.identity; });
    if (other == b.variables.end() || !one.is_written || !other->is_written) continue;
    if (one.type != other->type || one.shape != other->shape) continue;
    elements += static_cast<uint64_t>(graph::element_count(one.shape).value_or(0));
  }
  return elements;
}

using Differences = std::vector<runtime::SnapshotDifference>;

Json diff_json(const Differences& differences) {
  Json list = Json::array();
  for (const runtime::SnapshotDifference& difference : differences) {
    list.push_back({{"identity", difference.identity},
                    {"what", difference.what},
                    {"compared", difference.compared},
                    {"differing", difference.differing},
                    {"max_abs", difference.max_abs}});
  }
  return list;
}

std::string diff_text(const Differences& differences, uint64_t compared) {
  std::string text;
  for (const runtime::SnapshotDifference& difference : differences) {
    text += fmt::format("{}: {}\n", in_quotes(difference.identity), difference.what);
  }
  return text + fmt::format("{} differing variable{}, {} elements compared\n", differences.size(),
                            differences.size() == 1 ? "" : "s", grouped(compared));
}

int diff(const Arguments& arguments) {
  const auto given = parse_told(arguments, kDiffHelp, {"first", "second"});
  if (!given) return 0;
  const std::string first = required(given->values, "first", "the first file", "npu state diff");
  const std::string second = required(given->values, "second", "the second file", "npu state diff");
  const Snapshot a = workload::read_snapshot(first), b = workload::read_snapshot(second);
  const Differences differences = runtime::diff(a, b);
  const uint64_t compared = comparable(a, b);
  given->json.tell([&] { return diff_text(differences, compared); },
                   [&] {
                     return dump({{"schema", "npu-state-diff"},
                                  {"schema_version", 1},
                                  {"a", first},
                                  {"b", second},
                                  {"compared", compared},
                                  {"differences", diff_json(differences)}});
                   });
  if (differences.empty()) return 0;
  throw Error(ErrorCode::kElementsDiffer, fmt::format("{} and {} differ in {}: {}", in_quotes(first), in_quotes(second),
                                                      in_quotes(differences[0].identity), differences[0].what));
}

SnapshotVariable& find(Snapshot& snapshot, const std::string& name, const std::string& file) {
  std::string names;
  for (SnapshotVariable& variable : snapshot.variables) {
    if (variable.identity == name) return variable;
    names += (names.empty() ? "" : ", ") + in_quotes(variable.identity);
  }
  throw Error(ErrorCode::kBadOption, fmt::format("{} has no variable {}; there are: {}", in_quotes(file),
                                                 in_quotes(name), names.empty() ? "none" : names));
}

int clear(const Arguments& arguments) {
  po::options_description options;
  options.add_options()("output,o", po::value<std::string>()->value_name("OUT"),
                        "write the result there instead of over FILE");
  const auto values = parse_files(arguments, kClearHelp, options, {"file", "names"}, true);
  if (!values) return 0;
  const std::string file = required(*values, "file", "the FILE", "npu state clear");
  const std::string given = file_option(*values, "output");
  const std::string out = given.empty() ? file : given;
  tool::check_file_writable(out);
  Snapshot snapshot = workload::read_snapshot(file);
  std::set<std::string> names;  // one that is named twice counts once
  if (values->count("names") > 0) {
    const auto& list = (*values)["names"].as<std::vector<std::string>>();
    names.insert(list.begin(), list.end());
  } else {
    for (const SnapshotVariable& variable : snapshot.variables) names.insert(variable.identity);
  }
  for (const std::string& name : names) {
    SnapshotVariable& variable = find(snapshot, name, file);
    variable.is_written = false;
    variable.bytes.clear();
    variable.last_writer.clear();
    variable.invocations = 0;
  }
  tool::StagedFiles files;
  workload::write_snapshot(files, out, snapshot);
  files.commit();
  say("cleared {} of {} variables -> {}\n", names.size(), snapshot.variables.size(), out);
  return 0;
}

int check(const Arguments& arguments) {
  const auto values = parse_files(arguments, kCheckHelp, {}, {"file", "network"}, false);
  if (!values) return 0;
  const std::string file = required(*values, "file", "the FILE", "npu state check");
  const workload::Network network =
      workload::load_open_network(required(*values, "network", "the NETWORK", "npu state check"));
  const Snapshot snapshot = workload::read_snapshot(file);
  workload::check_fit(snapshot, file, network);
  const std::string sizes = workload::open_sizes_of(snapshot, network);
  say("{} fits {}{}: {} variable{} of the same types and shapes\n", file, network.path.string(),
      sizes.empty() ? "" : ", with " + sizes, snapshot.variables.size(), snapshot.variables.size() == 1 ? "" : "s");
  return 0;
}

struct Action {
  std::string_view name, usage;
  int (*run)(const Arguments& arguments);
};

constexpr Action kActions[] = {
    {"list", "list FILE [--json]               print the variables in a file", list},
    {"diff", "diff A B [--json]                print where two files differ; exit status 7 when they do", diff},
    {"clear", "clear FILE [NAME]... [-o OUT]    let variables start anew", clear},
    {"check", "check FILE NETWORK.tosa          say whether a network can resume from a file", check},
};

std::string usage() {
  std::string text =
      "usage: npu state ACTION ...\n\nThe files are those of npu run --save-state and npu reference "
      "--save-state.\n\n";
  for (const Action& action : kActions) text += fmt::format("  npu state {}\n", action.usage);
  return text + "\n'npu state ACTION --help' explains an action, with examples.\n";
}

}  // namespace

int run_state(const Arguments& arguments) {
  const std::string first = arguments.empty() ? std::string() : arguments.front();
  if (first == "--help" || first == "-h") {
    say("{}", usage());
    return 0;
  }
  for (const Action& action : kActions) {
    if (action.name == first) return action.run({arguments.begin() + 1, arguments.end()});
  }
  throw Error(ErrorCode::kBadOption,
              first.empty() ? "npu state needs an action: list, diff, clear or check; see npu state --help"
                            : fmt::format("npu state knows no action {}; see npu state --help", in_quotes(first)));
}

}  // namespace npu::cli
