// SPDX-License-Identifier: Apache-2.0
// MLIR in its generic form, as `tosa-opt --mlir-print-op-generic` prints it: a tree of operations whose types and
// attributes stay text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace npu::importer {

struct MlirRegion;

// Views point into the text that was parsed, or into literals.
struct MlirOperation {
  std::string result;  // "%5"; of several results the common part; empty without results
  std::string_view name;
  std::vector<std::string> operands;  // "%arg0", "%5#1"
  std::string_view properties;        // "<{...}>", or empty
  std::vector<MlirRegion> regions;
  std::vector<std::string> operand_types, result_types;
  std::string_view location;  // "loc(...)", or empty

  // The name of the result with this number: "%5", or "%5#1" where there are several.
  [[nodiscard]] std::string result_value(size_t index) const;
};

struct MlirArgument {
  std::string name;
  std::string_view type;
  std::string_view location;
};

struct MlirBlock {
  std::vector<MlirArgument> arguments;
  std::vector<MlirOperation> operations;
};

struct MlirRegion {
  std::vector<MlirBlock> blocks;
};

struct MlirFile {
  std::vector<MlirOperation> operations;
  std::vector<std::string_view> aliases;  // "#loc3 = loc(...)", one each
  std::string_view resources;             // "{-# ... #-}" at the end, or empty
};

// Branch targets and discardable attributes (those behind the regions: TOSA has none) are dropped. Throws
// Error(kToolFailed) naming the line when the text is not of this form.
[[nodiscard]] MlirFile parse_mlir(std::string_view generic);

// Generic form again, with signed and unsigned integer types as signless ones; every region has at most one block.
void print_mlir(const MlirOperation& operation, std::string& out);

// The text with "ui8" and "si8" (any width) outside of strings as "i8", and "!quant.uniform<i8:f32, ...>" as "i8".
[[nodiscard]] std::string signless(std::string_view text);

// The text with types of quantised values outside of strings and comments as the types that store them:
// "!quant.uniform<u8<0:255>:f32, ...>" as "ui8". Lines stay where they are.
[[nodiscard]] std::string without_quantisation(std::string_view text);

// The value of a key of "<{key = value, ...}>"; empty when there is none.
[[nodiscard]] std::string_view property(std::string_view properties, std::string_view key);
// The same without quotes around it.
[[nodiscard]] std::string_view string_property(std::string_view properties, std::string_view key);

}  // namespace npu::importer
