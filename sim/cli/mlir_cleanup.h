// Makes the TFLite converter's MLIR text serialisable.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace npu::cli {

// Drops the attributes of the module (metadata of other dialects) and every builtin.unrealized_conversion_cast from a
// type to itself (left around variables), whose uses become uses of its operand.
[[nodiscard]] std::string clean_mlir(std::string_view text);

// Names of operations outside of TOSA that the converter left in, each once: "tfl.rsqrt". It exits with 0 all the same.
[[nodiscard]] std::vector<std::string> foreign_operations(std::string_view text);

}  // namespace npu::cli
