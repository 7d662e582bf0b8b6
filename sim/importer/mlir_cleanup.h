// SPDX-License-Identifier: Apache-2.0
// Makes MLIR as exporters leave it serialisable as TOSA 1.0.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/importer/mlir_lstm.h"

namespace npu::importer {

// Takes MLIR in its generic form with locations and values of unique names (see mlir_text.h) and gives a module with
// the variables and one function:
// - the function named `function`, else "main", else the only one; other functions and other dialects' things at module
//   level go, as do all attributes that are not an operator's own;
// - builtin.unrealized_conversion_cast between types that differ in signedness or quantisation only: its uses become
//   uses of its operand;
// - unsigned and signed integer types become signless ones;
// - IDENTITYN (tosa.custom, or tf.IdentityN) becomes an IDENTITY for each operand;
// - a RESHAPE of 48-bit integers, which TOSA does not have, goes behind the RESCALE that narrows them;
// - variables that the function does not use go;
// - TensorFlow Lite's LSTMs become steps (see mlir_lstm.h);
// - constants that the regions of loops and conditions use from outside are repeated inside.
// `source` is the file's name, for messages. `converted` is not null for what a converter made of another file, whose
// lines messages do not name, and has that file's LSTMs. Throws Error naming the place in the source: kBadOption when
// the function must be chosen or is not there; kBadStructure; kOperatorUnsupported for operations that TOSA 1.0 does
// not have; kFeatureUnsupported for types without static shape; kTypeUnsupported for types that TOSA 1.0 does not have
// and for unsigned data where it has none; what expand_lstms() throws; kBadData for constants whose data was left out;
// kToolFailed for text that is not of this form.
[[nodiscard]] std::string clean_mlir(std::string_view generic, std::string_view source, std::string_view function = "",
                                     const std::vector<LstmFacts>* converted = nullptr);

}  // namespace npu::importer
