// SPDX-License-Identifier: Apache-2.0
// `npu import`: TensorFlow Lite and MLIR files to TOSA.
#include <fmt/format.h>

#include "hw/contract/error.h"
#include "sim/cli/command.h"
#include "sim/cli/options.h"
#include "sim/importer/import_network.h"
#include "sim/tool/file_places.h"
#include "sim/tool/say.h"
#include "sim/tool/stop.h"
#include "sim/workload/data.h"
#include "sim/workload/network.h"

namespace npu::cli {

namespace po = boost::program_options;
using tool::say;

namespace {

constexpr CommandHelp kImportHelp = {
    "npu import FILE -o FILE.tosa [--function NAME] [--shape NAME=5x4]...",
    "Converts a TensorFlow Lite file, or MLIR of the TOSA dialect (text or bytecode), with "
    "the official tools, and reads and\n"
    "validates the result. Leftovers of exporters in the MLIR are cleaned up. The tools are "
    "looked for in the folder that\n"
    "NPU_PYTHON_TOOLS names, in build/venv/bin of the project, and on PATH; sim/setup.sh "
    "python gets them.",
    "  npu import okay_nabu.tflite -o okay_nabu.tosa\n"
    "  npu import net.tflite --shape serving_default_x:0=8x4 -o net.tosa\n"
    "  npu import net.mlir -o net.tosa                             (sizes that it leaves open stay so)\n"
    "  npu import net.mlirbc --function forward -o net.tosa\n"
    "  NPU_PYTHON_TOOLS=~/venv/bin npu import net.tflite -o net.tosa\n"};

int import_and_report(const std::string& source, const std::string& target, const importer::ImportOptions& options) {
  tool::FilePlaces places;
  places.read("the file to import", source);
  places.write("--output", target);
  tool::check_file_writable(target);
  for (const std::string& note : importer::import_network(source, target, options)) say("{}\n", note);
  const workload::Network network = workload::load_open_network(target);
  say("{} -> {}: {} operators, {} bytes{}\n", source, target, network.graph.main().operators.size(), network.file_bytes,
      network.was_open ? "; it leaves sizes open, which npu info names" : "");
  return 0;
}

}  // namespace

int run_import(const Arguments& arguments) {
  po::options_description options, hidden;
  options.add_options()("output,o", po::value<std::string>()->value_name("FILE.tosa"), "the file to write");
  options.add_options()("function", po::value<std::string>()->value_name("NAME"),
                        "of a file with several functions, the one to take (main)");
  options.add_options()(
      "shape", po::value<std::vector<std::string>>()->value_name("NAME=5x4"),
      "the sizes of an input that has free ones; without it those that a TensorFlow Lite file gives, and MLIR's stay "
      "open");
  hidden.add_options()("file", po::value<std::string>());
  po::positional_options_description positional;
  positional.add("file", 1);
  const auto values = parse(arguments, kImportHelp, options, hidden, positional);
  if (!values) return 0;
  const std::string source = required(*values, "file", "the file to import", "npu import");
  const std::string target = required(*values, "output", "the file to write (-o FILE.tosa)");
  importer::ImportOptions chosen;
  if (values->count("function") > 0) chosen.function = (*values)["function"].as<std::string>();
  chosen.shapes = shape_option(*values);
  return tool::stoppable([&] { return import_and_report(source, target, chosen); });
}

}  // namespace npu::cli
