// SPDX-License-Identifier: Apache-2.0
#include "driver/graph/element.h"

namespace npu::graph {

std::optional<contract::Element> element_of(DType type) {
  switch (type) {
    case DType::kBool:
      return contract::Element::kBool;
    case DType::kInt4:
    case DType::kInt8:
      return contract::Element::kI8;
    case DType::kInt16:
      return contract::Element::kI16;
    case DType::kInt32:
      return contract::Element::kI32;
    case DType::kInt48:
      return contract::Element::kI48;
    case DType::kFp32:
      return contract::Element::kF32;
    case DType::kFp16:
      return contract::Element::kF16;
    case DType::kBf16:
      return contract::Element::kBf16;
    case DType::kFp8E4M3:
      return contract::Element::kF8e4m3;
    case DType::kFp8E5M2:
      return contract::Element::kF8e5m2;
    case DType::kUnknown:
    case DType::kShape:
    case DType::kFp6E2M3:
    case DType::kFp6E3M2:
    case DType::kFp4E2M1:
    case DType::kFp8Ue8M0:
    case DType::kInt64:
    case DType::kMxInt8:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace npu::graph
