// The options for data that `run` and `reference` share.
#pragma once

#include <boost/program_options.hpp>
#include <string>
#include <vector>

#include "sim/cli/data.h"

namespace npu::cli {

struct DataOptions {
  std::vector<std::string> inputs;
  bool sequence = false;
  std::string outputs;  // folder; empty: none
  bool zero_init = false;
  bool strict = false;  // refuse what TOSA 1.0 does not have
  InvocationRange range;
  std::string resume, save_state;  // snapshots; empty: none
  bool quiet = false;
};

void add_data_options(boost::program_options::options_description& options);
// FILE, then any number of further inputs: `--input a=x.npy b=y.npy` and `--input a=x.npy --input b=y.npy` are the
// same.
void add_file_and_inputs(boost::program_options::options_description& hidden,
                         boost::program_options::positional_options_description& positional);
// Throws Error: kBadOption; kCannotWrite for a --save-state where no file can be made.
[[nodiscard]] DataOptions data_options(const boost::program_options::variables_map& values);

}  // namespace npu::cli
