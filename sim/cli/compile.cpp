// SPDX-License-Identifier: Apache-2.0
// `npu compile`: a network becomes a program for one machine, as a file.
#include "driver/compiler/compile.h"

#include <string>
#include <utility>
#include <vector>

#include "driver/program_file/program_file.h"
#include "hw/presets/preset.h"
#include "sim/cli/command.h"
#include "sim/cli/machine_options.h"
#include "sim/cli/options.h"
#include "sim/cli/run_subject.h"
#include "sim/report/table.h"
#include "sim/tool/file_places.h"
#include "sim/tool/say.h"
#include "sim/tool/staged_files.h"
#include "sim/workload/network.h"

namespace npu::cli {

namespace po = boost::program_options;

namespace {

constexpr CommandHelp kCompileHelp = {
    "npu compile FILE -o FILE.npu [options]",
    "Compiles a network for a machine. The file holds all that the machine runs, and the machine: npu run, and drivers "
    "in\n"
    "C and C++, load it without the network and without compiling. The same network, machine and options give the same "
    "bytes.",
    "  npu compile net.tosa -o net.npu\n"
    "  npu compile net.tosa -o net.npu --config nano\n"
    "  npu compile net.tosa -o net.npu && npu run net.npu --input input.npy\n"
    "  npu run net.npu --input input.npy --graph net.tosa --check reference\n"};

struct CompileOptions {
  std::string file, output;
  std::string config;
  bool state_in_dram = false, double_buffer = false, resident_constants = false;
};

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
  return options;
}

CompileOptions read_compile_options(const po::variables_map& values) {
  CompileOptions options;
  options.file = required(values, "file", "the network's FILE", "npu compile");
  options.output = file_option(values, "output");
  if (options.output.empty()) static_cast<void>(required(values, "output", "-o FILE.npu", "npu compile"));
  options.config = values["config"].as<std::string>();
  options.state_in_dram = values["state-in-dram"].as<bool>();
  options.double_buffer = values["double-buffer"].as<bool>();
  options.resident_constants = values["resident-constants"].as<bool>();
  tool::FilePlaces places;
  places.read_machine(options.config);
  places.read("the network", options.file);
  places.write("-o", options.output);
  tool::check_file_writable(options.output);
  return options;
}

program_file::ProgramFile compile_network(const CompileOptions& options, const workload::Network& network,
                                          const presets::Preset& preset) {
  compiler::Options compile;
  compile.schedule.state_in_dram = options.state_in_dram;
  compile.schedule.two_places = options.double_buffer;
  compile.schedule.resident_constants = options.resident_constants;
  program_file::ProgramFile file;
  file.capabilities = preset.caps;
  file.machine_name = preset.name;
  file.machine = presets::to_yaml(preset);
  file.network = network.path.filename().string();
  file.network_sha256 = workload::sha256_of(network);
  file.two_places = options.double_buffer;
  file.state_in_dram = options.state_in_dram;
  file.program = compiler::compile(network.graph, preset.caps, compile);
  return file;
}

}  // namespace

int run_compile(const Arguments& arguments) {
  po::options_description hidden;
  hidden.add_options()("file", po::value<std::string>());
  po::positional_options_description positional;
  positional.add("file", 1);
  const auto values = parse(arguments, kCompileHelp, visible_compile_options(), hidden, positional);
  if (!values) return 0;
  const CompileOptions options = read_compile_options(*values);
  const presets::Preset preset = presets::load_preset(options.config);
  const workload::Network network = workload::load_network(options.file);
  const program_file::ProgramFile file = compile_network(options, network, preset);
  const std::vector<uint8_t> bytes = program_file::serialise(file);
  tool::StagedFiles files;
  files.write(options.output, bytes);
  files.commit();
  tool::say("{}: {} for {}, {} commands, {} bytes\n", options.output, options.file, preset.name,
            report::grouped(file.program.command_count), report::grouped(bytes.size()));
  if (options.resident_constants && file.program.resident_bytes == 0) tool::say("constants {}\n", kConstantsDoNotStay);
  return 0;
}

}  // namespace npu::cli
