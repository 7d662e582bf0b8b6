// SPDX-License-Identifier: Apache-2.0
// TensorFlow Lite's UNIDIRECTIONAL_SEQUENCE_LSTM, which has no TOSA form, as TOSA operators: one step behind the other,
// and the state in variables, which TensorFlow Lite keeps from one invocation to the next, too.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "sim/importer/mlir_text.h"

namespace npu::importer {

// Operands by number, as TensorFlow Lite has them; gates are input, forget, cell, output.
inline constexpr size_t kLstmInput = 0, kLstmWeights = 1, kLstmRecurrent = 5, kLstmPeephole = 9, kLstmBias = 12,
                        kLstmProjection = 16, kLstmOutputState = 18, kLstmCellState = 19, kLstmNormalisation = 20,
                        kLstmOperands = 24;

struct LstmScale {
  double scale = 0;
  int64_t zero = 0;
  size_t count = 0;  // of scales: 0 when the tensor is not quantised, more than 1 by channel
};

// What the MLIR of the converter does not say of one of them.
struct LstmFacts {
  std::array<LstmScale, kLstmOperands> operands;
  LstmScale hidden;                      // of the output before a projection
  std::string output_state, cell_state;  // names
};

struct LstmContext {
  std::string source;                        // the file's name, for messages
  const std::vector<LstmFacts>* facts;       // null when the file is MLIR
  std::function<std::string()> new_value;    // a name for a value
  std::deque<std::string>& text;             // keeps what the operations point to
  std::vector<std::string> taken_variables;  // names that the module's variables have
};

// Replaces each of them among the operations of the main block, and gives the variables that it needs. Throws Error:
// kOperatorUnsupported for what is not expanded (peephole connections, projection, layer normalisation, other
// activations than TANH, other types than FP32 throughout and int8 with an int16 cell), naming it; kBadStructure for
// operands that do not fit together.
[[nodiscard]] std::vector<MlirOperation> expand_lstms(std::vector<MlirOperation>& operations, LstmContext context);

}  // namespace npu::importer
