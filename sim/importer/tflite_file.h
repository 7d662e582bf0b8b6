// SPDX-License-Identifier: Apache-2.0
// What the converter does not do with a TensorFlow Lite file: sizes that the file leaves free, and the quantisation of
// LSTMs, which the converter's MLIR does not have.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driver/graph/resolve.h"
#include "sim/importer/mlir_lstm.h"

namespace npu::importer {

// A file in memory. `source` is its name, for messages. Its main graph is the one that is named `function`, else the
// first.
class TfliteFile {
 public:
  // Throws Error(kFileDamaged) for a file that is cut off or damaged.
  TfliteFile(std::vector<uint8_t> bytes, std::string source, std::string_view function);

  // Gives each free size (-1 in shape_signature) a value: that of `chosen`, else the one that the file has in `shape`.
  // Free sizes of other tensors change as those of the inputs do. Returns a line about each input that has free sizes.
  // Throws Error: kBadOption for an input that is not there or has no such sizes; kArgumentUnsupported where it does
  // not follow from the inputs' sizes what another tensor's are. The bytes are of no use after an error.
  std::vector<std::string> fix_shapes(const graph::GivenShapes& chosen);

  // Of each UNIDIRECTIONAL_SEQUENCE_LSTM of the main graph, in the order of operators.
  [[nodiscard]] std::vector<LstmFacts> lstms() const;

  [[nodiscard]] const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
  std::string source_;
  uint32_t main_graph_ = 0;
};

}  // namespace npu::importer
