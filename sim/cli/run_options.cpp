// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/run_options.h"

#include <fmt/format.h>

#include "hw/contract/error.h"
#include "sim/cli/options.h"
#include "sim/workload/data.h"

namespace npu::cli {

namespace po = boost::program_options;
using contract::ErrorCode;

namespace {

constexpr CommandHelp kRunHelp = {
    "npu run FILE [--input [NAME=]FILE.npy]... [options]",
    "Runs a network, or what npu compile made of one, on the simulated NPU and prints what each layer costs\n"
    "and what limits it. Without --input it runs random inputs. Variables start cleared, or as a run before left them "
    "(--resume). Cycle counts are the model's; "
    "the\nreport says what they are worth.",
    "  npu run net.tosa                                            (with random inputs, for the cycles)\n"
    "  npu run net.tosa --input input.npy\n"
    "  npu run net.tosa --input a=left.npy --input b=right.npy --config nano --check reference\n"
    "  npu run wake_word.tosa --input frames.npy --sequence --outputs out/ --json out/report.json\n"
    "  npu run wake_word.tosa --input frames.npy --sequence --invocations 20 --save-state s.state\n"
    "  npu run wake_word.tosa --input frames.npy --sequence --skip 20 --resume s.state --save-state s.state\n"
    "  npu run open.tosa --input frames/ --sequence --outputs out/ (frames/0.npy, 1.npy, ... of any sizes)\n"
    "  npu run open.tosa --input frames/ --sequence --specialise 1000000\n"
    "  npu run open.tosa --input frames/ --sequence --dim x.0=1..64 (one program for all of these sizes)\n"
    "  npu run net.tosa --input input.npy --trace trace.json      (open it at ui.perfetto.dev)\n"
    "  npu run net.tosa --input input.npy --firmware-log          (what the control CPU says)\n"
    "  npu run net.tosa --input input.npy --gdb 1234              (debug its firmware)\n"
    "  npu run net.tosa --input input.npy --lockstep              (model and RTL, compared tile by tile)\n"
    "  npu run net.tosa --input input.npy --rtl mxu@conv2d_3      (one layer on RTL)\n"
    "  npu run net.tosa --input input.npy --check reference --inject constants:1000\n"
    "  npu run net.npu --input input.npy                          (compiled before: npu compile --help)\n"
    "  npu run net.npu --input input.npy --graph net.tosa --check reference\n"
    "  npu run open.npu --input input.npy                         (compiled with --dim: the data's sizes, or --shape)\n"
    "  npu run wake_word.tosa --input frames.npy --sequence --faults 'flip 0x800.3@job7'\n"};

po::options_description visible_options() {
  po::options_description options;
  add_data_options(options);
  options.add_options()  //
      ("random-inputs", po::value<std::string>()->value_name("SEED"),
       "make random data, the same for the same SEED, for each input without a file; 1 where no input has one");
  add_machine_options(options);
  add_iterations_option(options);
  add_promote_option(options);
  options.add_options()  //
      ("check", po::value<std::string>()->value_name("reference"),
       "run the software reference too and compare every element of every output; exit status 7 when any differs (of "
       "floating point: by more than 64 units in the last place of its output's largest number, fewer in small "
       "formats, "
       "which is no bound of the specification)")  //
      ("graph", po::value<std::string>()->value_name("FILE.tosa"),
       "the network that FILE was compiled from, for --check, --level and --strict")  //
      ("state-in-dram", po::bool_switch(),
       "put all variables into DRAM instead of the persistent SRAM: the same bits, to see what that memory is worth")  //
      ("double-buffer", po::bool_switch(),
       "give each variable that the network writes two places, so that an interrupted write leaves its old value")  //
      ("resident-constants", po::bool_switch(),
       "keep the constants in the scratchpad from one invocation to the next, if they fit there beside what the "
       "network needs, and that is faster: the first one loads all of them, the others none")  //
      ("dim", po::value<std::vector<std::string>>()->value_name("NAME=LOW..HIGH"),
       "compile once for all sizes within bounds, for each size that the network leaves open, as npu info names it "
       "(x.0: dimension 0 of input x); NAME=N fixes it. In a sequence with a file for each invocation the firmware "
       "makes the program's commands those of each one's sizes; else they are made once, for the sizes of the data or "
       "of --shape")  //
      ("specialise", po::value<std::string>()->value_name("BYTES"),
       "of a sequence with a file for each invocation: keep the programs of its sizes in at most so many bytes of "
       "device "
       "memory; those used longest ago go first, and are compiled again when their sizes come back. Without it, as "
       "many "
       "as the memory holds")  //
      ("roofline", po::bool_switch(),
       "print a line for each layer with MACs, too: its MACs a byte of DRAM, and what rate is attainable and "
       "attained")                                                                              //
      ("json", po::value<std::string>()->value_name("FILE"), "write the report as JSON")        //
      ("csv", po::value<std::string>()->value_name("FILE"), "write the layers as CSV")          //
      ("trace", po::value<std::string>()->value_name("FILE"), "write a Chrome/Perfetto trace")  //
      ("firmware", po::value<std::string>()->value_name("FILE"),
       "boot the control CPU with this image instead of the built-in one")  //
      ("firmware-log", po::bool_switch(),
       "print what the firmware logs and what it writes to its UART on the standard error; log lines start with the "
       "device time")  //
      ("gdb", po::value<std::string>()->value_name("PORT"),
       "wait for a debugger at this TCP port of 127.0.0.1 before the control CPU starts; 1: any free port")  //
      ("bypass-firmware", po::bool_switch(),
       "on a device without control CPU, drive the engines directly: to measure what the firmware costs")  //
      ("jitter", po::value<std::string>()->value_name("SEED:MAX"),
       "test hook: random extra latency of up to MAX cycles on every tile, DMA command and burst, drawn anew from SEED "
       "in every invocation")  //
      ("inject", po::value<std::vector<std::string>>()->value_name("constants:OFFSET[:BIT]"),
       "test hook: flip a bit of a byte of the constants in device memory before the first invocation; not every bit "
       "matters to an output")  //
      ("faults", po::value<std::string>()->value_name("FAULTS"),
       "test hooks: what shall go wrong, as 'hang mxu@40; flip 0x800.3@job7; drop-irq 2; brown-out 100@job2; bus-error "
       "7' "
       "(docs/reference/npu.md)");
  add_back_end_options(options);
  return options;
}

// SEED:MAX
std::pair<uint64_t, uint32_t> parse_jitter(const std::string& text) {
  const size_t colon = text.find(':');
  if (colon == std::string::npos) {
    throw Error(ErrorCode::kBadOption, fmt::format("--jitter needs SEED:MAX, not '{}'", text));
  }
  constexpr uint64_t kMost = 1'000'000;
  const uint64_t most = parse_number(std::string_view(text).substr(colon + 1), "MAX of --jitter");
  if (most > kMost) {
    throw Error(ErrorCode::kBadOption, fmt::format("MAX of --jitter is {}, but at most {} is allowed", most, kMost));
  }
  return {parse_number(std::string_view(text).substr(0, colon), "SEED of --jitter"), static_cast<uint32_t>(most)};
}

// constants:OFFSET[:BIT]
Injection parse_injection(const std::string& text) {
  constexpr std::string_view kPrefix = "constants:";
  if (text.rfind(kPrefix, 0) != 0) {
    throw Error(ErrorCode::kBadOption, fmt::format("--inject needs constants:OFFSET[:BIT], not '{}'", text));
  }
  const std::string_view rest = std::string_view(text).substr(kPrefix.size());
  const size_t colon = rest.find(':');
  Injection injection;
  injection.offset = parse_number(rest.substr(0, colon), "OFFSET of --inject");
  if (colon != std::string_view::npos) {
    const uint64_t bit = parse_number(rest.substr(colon + 1), "BIT of --inject");
    if (bit > 7)
      throw Error(ErrorCode::kBadOption, fmt::format("BIT of --inject is {}, but a byte has bits 0 to 7", bit));
    injection.bit = static_cast<uint32_t>(bit);
  }
  return injection;
}

uint16_t parse_port(const std::string& text) {
  constexpr uint64_t kLast = 65535;
  const uint64_t port = parse_number(text, "PORT of --gdb");
  if (port == 0 || port > kLast) {
    throw Error(ErrorCode::kBadOption, fmt::format("PORT of --gdb is {}, but ports go from 1 to {}", port, kLast));
  }
  return static_cast<uint16_t>(port);
}

void read_firmware_options(const po::variables_map& values, RunOptions& options) {
  if (values.count("firmware") > 0) options.firmware = values["firmware"].as<std::string>();
  if (values.count("firmware") > 0 && options.firmware.empty()) {
    throw Error(ErrorCode::kCannotRead, "cannot read '', the image of --firmware: no such file");
  }
  options.firmware_log = values["firmware-log"].as<bool>();
  if (values.count("gdb") > 0) options.gdb_port = parse_port(values["gdb"].as<std::string>());
  options.bypass_firmware = values["bypass-firmware"].as<bool>();
  if (!options.bypass_firmware) return;
  for (const auto& [given, name] :
       {std::pair{values.count("firmware") > 0, "--firmware"}, std::pair{options.firmware_log, "--firmware-log"},
        std::pair{options.gdb_port != 0, "--gdb"}}) {
    if (given) {
      throw Error(ErrorCode::kBadOption,
                  fmt::format("{} has no meaning with --bypass-firmware: no firmware runs then", name));
    }
  }
}

void refuse_what_needs_time(const RunOptions& options) {
  if (options.machine.timed()) return;
  for (const auto& [given, name] :
       {std::pair{options.jitter.has_value(), "--jitter"}, std::pair{!options.trace.empty(), "--trace"},
        std::pair{options.roofline, "--roofline"}}) {
    if (!given) continue;
    throw Error(
        ErrorCode::kBadOption,
        fmt::format("{} has no meaning with --mode functional, which has no cycles: leave one of them out", name));
  }
}

RunOptions read_options(const po::variables_map& values) {
  RunOptions options;
  options.data = data_options(values);
  options.file = required(values, "file", "the network's FILE", "npu run");
  options.machine = machine_options(values);
  options.machine_given = !values["config"].defaulted();
  options.graph = file_option(values, "graph");
  if (values.count("check") > 0) {
    if (values["check"].as<std::string>() != "reference") {
      throw Error(ErrorCode::kBadOption,
                  fmt::format("--check knows 'reference', not '{}'", values["check"].as<std::string>()));
    }
    options.check = true;
  }
  for (const auto& [name, target] :
       {std::pair{"json", &options.json}, std::pair{"csv", &options.csv}, std::pair{"trace", &options.trace}}) {
    *target = file_option(values, name);
    if (!target->empty()) tool::check_file_writable(*target);
  }
  if (options.trace == tool::kStandardOutput) {
    throw Error(ErrorCode::kBadOption,
                "--trace needs the name of a file; standard output, '-', is for --json or --csv");
  }
  if (values.count("random-inputs") > 0) {
    options.random_inputs = parse_number(values["random-inputs"].as<std::string>(), "SEED of --random-inputs");
  }
  options.roofline = values["roofline"].as<bool>();
  options.most_iterations = iterations_option(values);
  options.promote = promote_option(values);
  if (values.count("specialise") > 0) {
    options.specialise = parse_number(values["specialise"].as<std::string>(), "BYTES of --specialise");
  }
  options.dims = dim_option(values);
  if (!options.dims.empty() && options.specialise) {
    throw Error(ErrorCode::kBadOption,
                "--dim compiles once for all sizes, and --specialise for each choice of them: leave one out");
  }
  options.state_in_dram = values["state-in-dram"].as<bool>();
  options.double_buffer = values["double-buffer"].as<bool>();
  options.resident_constants = values["resident-constants"].as<bool>();
  if (options.resident_constants && values["bypass-firmware"].as<bool>()) {
    throw Error(ErrorCode::kBadOption,
                "--resident-constants needs the firmware, which looks after them: leave out --bypass-firmware");
  }
  if (!options.data.outputs.empty()) tool::check_folder_writable(options.data.outputs);
  read_firmware_options(values, options);
  if (values.count("jitter") > 0) options.jitter = parse_jitter(values["jitter"].as<std::string>());
  if (values.count("inject") > 0) {
    for (const std::string& text : values["inject"].as<std::vector<std::string>>()) {
      options.injections.push_back(parse_injection(text));
    }
  }
  if (values.count("faults") > 0) options.faults = platform::parse_faults(values["faults"].as<std::string>());
  options.back_ends = back_end_options(values);
  refuse_what_needs_time(options);
  return options;
}

// Throws for a file that is read and written, or written twice.
void add_places(RunOptions& options) {
  tool::FilePlaces& places = options.data.places;
  places.read_machine(options.machine.config);
  places.read("the firmware", options.firmware);
  places.read("--graph", options.graph);
  places.write("--json", options.json);
  places.write("--csv", options.csv);
  places.write("--trace", options.trace);
}

}  // namespace

std::optional<RunOptions> parse_run_options(const Arguments& arguments) {
  po::options_description hidden;
  po::positional_options_description positional;
  add_file_and_inputs(hidden, positional);
  const auto values = parse(arguments, kRunHelp, visible_options(), hidden, positional);
  if (!values) return std::nullopt;
  RunOptions options = read_options(*values);
  add_places(options);
  return options;
}

}  // namespace npu::cli
