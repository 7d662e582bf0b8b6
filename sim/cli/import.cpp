// `npu import`: TensorFlow Lite files to TOSA.
#include <fmt/format.h>

#include "hw/contract/error.h"
#include "sim/cli/command.h"
#include "sim/cli/data.h"
#include "sim/cli/import_tflite.h"
#include "sim/cli/network.h"
#include "sim/cli/options.h"

namespace npu::cli {

namespace po = boost::program_options;

namespace {

constexpr CommandHelp kHelp = {"npu import FILE.tflite -o FILE.tosa",
                               "Converts a TensorFlow Lite file with the official tools, reads and validates the "
                               "result. The tools are looked for in\n"
                               "the folder that NPU_PYTHON_TOOLS names, in build/venv/bin of the project, and on PATH; "
                               "sim/setup.sh python gets them.",
                               "  npu import okay_nabu.tflite -o okay_nabu.tosa\n"
                               "  NPU_PYTHON_TOOLS=~/venv/bin npu import net.tflite -o net.tosa\n"};

}  // namespace

int run_import(const Arguments& arguments) {
  po::options_description options, hidden;
  options.add_options()("output,o", po::value<std::string>()->value_name("FILE.tosa"), "the file to write");
  hidden.add_options()("file", po::value<std::string>());
  po::positional_options_description positional;
  positional.add("file", 1);
  const auto values = parse(arguments, kHelp, options, hidden, positional);
  if (!values) return 0;
  const std::string source = required(*values, "file", "the FILE.tflite", "npu import");
  const std::string target = required(*values, "output", "the file to write (-o FILE.tosa)");
  check_file_writable(target);
  import_tflite(source, target);
  const Network network = load_network(target);
  fmt::print("{} -> {}: {} operators, {} bytes\n", source, target, network.graph.main().operators.size(),
             network.file_bytes);
  return 0;
}

}  // namespace npu::cli
