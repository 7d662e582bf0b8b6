// SPDX-License-Identifier: Apache-2.0
// `npu compile`: a network becomes a program for one machine, as a file, or an explanation of that program.
#include "driver/compiler/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "driver/compiler/bounds.h"
#include "driver/compiler/promote.h"
#include "driver/graph/infer.h"
#include "driver/graph/text.h"
#include "driver/program_file/program_file.h"
#include "driver/specialise/bounded_programs.h"
#include "hw/contract/error.h"
#include "hw/presets/preset.h"
#include "sim/cli/command.h"
#include "sim/cli/json_option.h"
#include "sim/cli/machine_options.h"
#include "sim/cli/options.h"
#include "sim/cli/run_subject.h"
#include "sim/cli/sized_report.h"
#include "sim/inspect/explain.h"
#include "sim/report/table.h"
#include "sim/tool/file_places.h"
#include "sim/tool/progress.h"
#include "sim/tool/say.h"
#include "sim/tool/staged_files.h"
#include "sim/workload/network.h"

namespace npu::cli {

namespace po = boost::program_options;

namespace {

constexpr CommandHelp kCompileHelp = {
    "npu compile FILE [-o FILE.npu] [--explain] [options]",
    "Compiles a network for a machine. The file holds all that the machine runs, and the machine: npu run, and drivers "
    "in\n"
    "C and C++, load it without the network and without compiling. The same network, machine and options give the same "
    "bytes.\n"
    "With --explain it says what the compiler decided, and why: for each step its engine and tiles, where operands "
    "live,\n"
    "bytes, when constants are loaded, estimated cycles, and what limits them. Then -o may be left out.",
    "  npu compile net.tosa -o net.npu\n"
    "  npu compile net.tosa -o net.npu --config nano\n"
    "  npu compile net.tosa -o net.npu --effort 2\n"
    "  npu compile net.tosa -o net.npu && npu run net.npu --input input.npy\n"
    "  npu run net.npu --input input.npy --graph net.tosa --check reference\n"
    "  npu compile open.tosa -o open.npu --dim x.0=1..64           (for all of these sizes)\n"
    "  npu compile half.tosa -o half.npu --config my.yaml --promote fp32\n"
    "  npu compile net.tosa --explain\n"
    "  npu compile net.tosa -o net.npu --config nano --explain --show schedule,memory\n"
    "  npu compile net.tosa --explain --json | jq .memory.lost_share\n"};

struct CompileOptions {
  std::string file, output;
  std::string config;
  bool state_in_dram = false, double_buffer = false, resident_constants = false, promote = false;
  std::optional<uint32_t> most_iterations;  // of each loop
  compiler::Effort effort = compiler::Effort::kNormal;
  std::vector<compiler::SizeBounds> dims;  // empty: sizes are fixed
  bool quiet = false;
  bool explain = false;
  inspect::Shown shown;
};

// A word of --show, and what it asks for.
struct ShowWord {
  std::string_view word;
  bool inspect::Shown::*part;
};
constexpr std::array kShowWords = {ShowWord{"schedule", &inspect::Shown::schedule},
                                   ShowWord{"memory", &inspect::Shown::memory}};

po::options_description visible_compile_options() {
  po::options_description options;
  options.add_options()("output,o", po::value<std::string>()->value_name("FILE.npu"), "the file to write");
  add_config_option(options);
  options.add_options()                                                                                   //
      ("state-in-dram", po::bool_switch(), "put all variables into DRAM instead of the persistent SRAM")  //
      ("double-buffer", po::bool_switch(),
       "give each variable that the network writes two places, so that an interrupted write leaves its old value")  //
      ("resident-constants", po::bool_switch(),
       "the program keeps its constants in the scratchpad from one invocation to the next, if they fit there beside "
       "what it "
       "needs, and that is faster");
  add_iterations_option(options);
  add_promote_option(options);
  options.add_options()("effort", po::value<std::string>()->value_name("N")->default_value("1"),
                        "how much to try: 0 takes the first schedule, 1 the best of several by a quick estimate, 2 the "
                        "best of more, each played with the machine's DRAM");
  options.add_options()("dim", po::value<std::vector<std::string>>()->value_name("NAME=LOW..HIGH"),
                        "compile for all sizes within bounds; for each size that the network leaves open, as npu info "
                        "names it (x.0: dimension 0 of input x). NAME=N fixes it");
  options.add_options()("quiet,q", po::bool_switch(), "no progress on long compilations");
  options.add_options()("explain", po::bool_switch(), "say what the compiler decided about each step")  //
      ("show", po::value<std::string>()->value_name("PARTS"),
       "with --explain, print more, words with commas: schedule (all commands over the estimated time), memory (the "
       "scratchpad over the steps)");
  return options;
}

inspect::Shown read_show(const po::variables_map& values) {
  inspect::Shown shown;
  if (values.count("show") == 0) return shown;
  std::string_view rest = values["show"].as<std::string>();
  for (bool more = true; more;) {
    const size_t comma = rest.find(',');
    const std::string_view word = rest.substr(0, comma);
    more = comma != std::string_view::npos;
    if (more) rest.remove_prefix(comma + 1);
    const auto known =
        std::find_if(kShowWords.begin(), kShowWords.end(), [&](const ShowWord& one) { return one.word == word; });
    if (known == kShowWords.end()) {
      throw Error(
          contract::ErrorCode::kBadOption,
          fmt::format("--show takes schedule and memory, with a comma between them, not {}", graph::in_quotes(word)));
    }
    shown.*known->part = true;
  }
  return shown;
}

compiler::Effort read_effort(const std::string& word) {
  constexpr std::array kEfforts = {compiler::Effort::kLeast, compiler::Effort::kNormal, compiler::Effort::kMost};
  if (word.size() == 1 && word[0] >= '0' && word[0] < '0' + static_cast<int>(kEfforts.size()))
    return kEfforts[static_cast<size_t>(word[0] - '0')];
  throw Error(contract::ErrorCode::kBadOption, fmt::format("--effort takes 0, 1 or 2, not {}", graph::in_quotes(word)));
}

CompileOptions read_compile_options(const po::variables_map& values, const std::vector<Given>& order,
                                    JsonOption& json) {
  CompileOptions options;
  options.file = required(values, "file", "the network's FILE", "npu compile");
  options.output = file_option(values, "output");
  options.explain = values["explain"].as<bool>();
  options.shown = read_show(values);
  if (!options.explain) {
    const auto lacks = [](const char* option) {
      throw Error(contract::ErrorCode::kBadOption, fmt::format("{} says more of --explain; give that, too", option));
    };
    if (values.count("show") > 0) lacks("--show");
    if (values["json"].as<bool>() || values.count(kJsonEquals) > 0) lacks("--json");
  }
  if (options.output.empty() && !options.explain)
    static_cast<void>(required(values, "output", "-o FILE.npu", "npu compile"));
  options.config = values["config"].as<std::string>();
  options.effort = read_effort(values["effort"].as<std::string>());
  options.most_iterations = iterations_option(values);
  options.promote = promote_option(values);
  options.dims = dim_option(values);
  options.quiet = values["quiet"].as<bool>();
  if (!options.dims.empty() && options.explain) {
    throw Error(
        contract::ErrorCode::kBadOption,
        "--explain says what was decided for one choice of sizes: leave out --dim, and explain what npu resolve "
        "makes of the network");
  }
  options.state_in_dram = values["state-in-dram"].as<bool>();
  options.double_buffer = values["double-buffer"].as<bool>();
  options.resident_constants = values["resident-constants"].as<bool>();
  tool::FilePlaces places;
  places.read_machine(options.config);
  places.read("the network", options.file);
  if (!options.output.empty()) {
    places.write("-o", options.output);
    tool::check_file_writable(options.output);
  }
  json.read(values, order, kCompileHelp, std::move(places));
  return options;
}

// " --dim x.0=1..64" of each size that the network leaves open; empty where it cannot be compiled for bounds, or has
// too many of them for an example.
std::string example_bounds(const graph::Graph& open) {
  std::vector<const graph::Symbol*> free;
  try {
    const graph::Inference inference = graph::infer(open);
    for (const graph::Symbol& symbol : inference.open.symbols()) {
      if (!symbol.value) free.push_back(&symbol);
    }
    const bool of_inputs = std::all_of(
        free.begin(), free.end(), [](const graph::Symbol* symbol) { return symbol->of == graph::Symbol::Of::kInput; });
    if (!of_inputs || !inference.without_expression.empty()) return "";
    const int64_t most = free.size() <= 2 ? 64 : 8;
    constexpr size_t kMostDims = 4;
    std::string dims;
    for (size_t i = 0; i < free.size() && free.size() <= kMostDims; ++i) {
      dims +=
          fmt::format(" --dim {}={}..{}", free[i]->name, free[i]->low, std::clamp(most, free[i]->low, free[i]->high));
    }
    return dims;
  } catch (const Error&) {
    return "";  // npu resolve says what is wrong
  }
}

std::string ways_to_sizes(const graph::Graph& open) {
  const std::string dims = example_bounds(open);
  return "npu resolve makes a file with fixed sizes" +
         (dims.empty() ? "" : fmt::format(", and bounds compile it for all sizes within them:{}, say", dims));
}

workload::Network load(const CompileOptions& options) {
  if (!options.dims.empty()) return workload::load_open_network(options.file);
  return workload::load_network(options.file, {}, ways_to_sizes);
}

std::vector<compiler::Program> programs_of(const CompileOptions& options, const workload::Network& network,
                                           const contract::Capabilities& caps, const compiler::Options& compile,
                                           compiler::Explanation* explanation) {
  if (options.dims.empty()) return {compiler::compile(network.graph, caps, compile, explanation)};
  tool::Progress progress(1, "compilation", options.quiet);
  return compiler::compile_bounds(network.graph, options.dims, caps, compile, [&](uint64_t done, uint64_t all) {
    progress.part(static_cast<double>(done) / static_cast<double>(all));
  });
}

program_file::ProgramFile compile_network(const CompileOptions& options, const workload::Network& network,
                                          const presets::Preset& preset, compiler::Explanation* explanation) {
  compiler::Options compile;
  compile.schedule.state_in_dram = options.state_in_dram;
  compile.schedule.two_places = options.double_buffer;
  compile.schedule.resident_constants = options.resident_constants;
  compile.schedule.dram = preset.dram;
  compile.schedule.effort = options.effort;
  if (options.most_iterations) compile.most_iterations = *options.most_iterations;
  compile.promote_to_fp32 = options.promote;
  program_file::ProgramFile file;
  file.capabilities = preset.caps;
  file.machine_name = preset.name;
  file.machine = presets::to_yaml(preset);
  file.network = network.path.filename().string();
  file.network_sha256 = workload::sha256_of(network);
  file.two_places = options.double_buffer;
  file.state_in_dram = options.state_in_dram;
  file.programs = programs_of(options, network, preset.caps, compile, explanation);
  return file;
}

// "3 programs for x.0 1 to 64, "; nothing of fixed sizes.
std::string sizes_in_words(const program_file::ProgramFile& file) {
  if (!file.is_sized()) return "";
  const size_t count = file.programs.size();
  return fmt::format("{} program{} for {}, ", count, count == 1 ? "" : "s",
                     in_words(specialise::bounds_of(file.programs)));
}

// Writes the file; what to say of it.
std::string write_program(const CompileOptions& options, const program_file::ProgramFile& file) {
  const std::vector<uint8_t> bytes = program_file::serialise(file);
  tool::StagedFiles files;
  files.write(options.output, bytes);
  files.commit();
  uint64_t commands = 0;
  for (const compiler::Program& program : file.programs) commands += program.command_count;
  return fmt::format("{}: {} for {}, {}{} commands, {} bytes\n", options.output, options.file, file.machine_name,
                     sizes_in_words(file), report::grouped(commands), report::grouped(bytes.size()));
}

}  // namespace

int run_compile(const Arguments& arguments) {
  po::options_description options_shown = visible_compile_options(), hidden;
  hidden.add_options()("file", po::value<std::string>());
  po::positional_options_description positional;
  positional.add("file", 1);
  JsonOption json(options_shown, hidden, positional,
                  "with --explain, write all of it as JSON to the FILE behind it; without FILE to standard output, in "
                  "place of the text");
  std::vector<Given> order;
  const auto values = parse(arguments, kCompileHelp, options_shown, hidden, positional, &order);
  if (!values) return 0;
  const CompileOptions options = read_compile_options(*values, order, json);
  const presets::Preset preset = presets::load_preset(options.config);
  const workload::Network network = load(options);
  compiler::Explanation explanation;
  program_file::ProgramFile file = compile_network(options, network, preset, options.explain ? &explanation : nullptr);
  std::string text = options.output.empty() ? "" : write_program(options, file);
  const bool none_stay = std::all_of(file.programs.begin(), file.programs.end(),
                                     [](const compiler::Program& program) { return program.resident_bytes == 0; });
  if (options.resident_constants && none_stay) text += fmt::format("constants {}\n", kConstantsDoNotStay);
  if (options.promote)
    text += fmt::format("promoted  {}\n", in_words(compiler::promotions(network.graph, preset.caps)));
  if (!options.explain) {
    tool::say("{}", text);
    return 0;
  }
  const inspect::Explained explained =
      inspect::explain(options.file, preset, std::move(file.programs.front()), std::move(explanation));
  json.tell([&] { return text + inspect::to_text(explained, options.shown); },
            [&] { return inspect::to_json_text(explained); });
  return 0;
}

}  // namespace npu::cli
