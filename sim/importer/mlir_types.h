// SPDX-License-Identifier: Apache-2.0
// What import asks of a type of MLIR, which is text.
#pragma once

#include <string_view>

namespace npu::importer {

// Whether it is known how many dimensions a tensor has; true for a type that is not a tensor.
[[nodiscard]] bool has_rank(std::string_view type);

// Has the letters of a type such as ui8, of any width.
[[nodiscard]] bool is_unsigned(std::string_view type);

// Whether TOSA 1.0 has the tensor's element type, signed or not; true for a type that is not a tensor.
[[nodiscard]] bool has_known_element(std::string_view type);

}  // namespace npu::importer
