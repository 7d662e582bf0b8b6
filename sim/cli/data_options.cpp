#include "sim/cli/data_options.h"

namespace npu::cli {

namespace po = boost::program_options;

void add_data_options(po::options_description& options) {
  options.add_options()  //
      ("input,i", po::value<std::vector<std::string>>()->value_name("NAME=FILE.npy"),
       "data of an input; NAME may be left out when there is one input; the text is split at its last '='")  //
      ("sequence", po::bool_switch(),
       "the first axis of every input counts invocations, outputs are stacked the same way; variables keep their "
       "values from one to the next")  //
      ("outputs,o", po::value<std::string>()->value_name("DIR"),
       "write each output to DIR/<name>.npy; bytes of the name other than letters, digits, '.', '_' and '-' become "
       "%XX; unsigned results keep their bits in the signed type of the tensor")                                  //
      ("zero-init", po::bool_switch(), "variables without initial value start as zeros instead of as unwritten")  //
      ("quiet,q", po::bool_switch(), "no progress on long runs");
}

void add_file_and_inputs(po::options_description& hidden, po::positional_options_description& positional) {
  hidden.add_options()("file", po::value<std::string>())("more-inputs", po::value<std::vector<std::string>>());
  positional.add("file", 1).add("more-inputs", -1);
}

DataOptions data_options(const po::variables_map& values) {
  DataOptions options;
  for (const char* name : {"input", "more-inputs"}) {
    if (values.count(name) == 0) continue;
    const auto& more = values[name].as<std::vector<std::string>>();
    options.inputs.insert(options.inputs.end(), more.begin(), more.end());
  }
  options.sequence = values["sequence"].as<bool>();
  if (values.count("outputs") > 0) options.outputs = values["outputs"].as<std::string>();
  options.zero_init = values["zero-init"].as<bool>();
  options.quiet = values["quiet"].as<bool>();
  return options;
}

}  // namespace npu::cli
