// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/load_network.h"

#include <vector>

#include "hw/contract/error.h"
#include "sim/cli/sized_sequence.h"
#include "sim/workload/data.h"
#include "sim/workload/file_sequence.h"

namespace npu::cli {

graph::GivenShapes shapes_of_data(const DataOptions& options, const std::vector<workload::GraphPort>& inputs) {
  return with_given_shapes(options, workload::shapes_of(inputs, options.inputs, options.sequence));
}

workload::Network load_network(const DataOptions& options, const std::string& file) {
  std::string invocation;  // that has the sizes, in words
  const auto shapes = [&](const std::vector<workload::GraphPort>& inputs) {
    if (!SizedSequence::is_meant(options, inputs)) return shapes_of_data(options, inputs);
    const workload::FileSequence files(inputs, options.inputs, options.range);
    invocation = SizedSequence::in_words(files, 0) + ": ";
    return with_given_shapes(options, files.read(0).shapes);
  };
  try {
    return workload::load_network(file, shapes);
  } catch (const Error& error) {
    if (invocation.empty()) throw;
    throw Error(error.code(), invocation + error.what());
  }
}

}  // namespace npu::cli
