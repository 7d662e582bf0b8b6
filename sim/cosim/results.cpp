// SPDX-License-Identifier: Apache-2.0
#include "sim/cosim/results.h"

#include <cstring>
#include <variant>

#include "hw/contract/error.h"
#include "hw/contract/gen/accesses.h"

namespace npu::cosim {
namespace {

// The run is the innermost dimension; of an access with four dimensions it is one element.
ResultArray written(const contract::MemoryAccess& access) {
  ResultArray result;
  result.base = access.base;
  result.type = access.type;
  result.is_unsigned = access.is_unsigned;
  size_t last = result.dims.size();
  const uint64_t inner = access.run / result.element_bytes();
  if (access.rank < result.dims.size()) {
    result.dims[--last] = inner;
    result.stride[last] = result.element_bytes();
  }
  NPU_CHECK(access.rank <= last && (inner == 1 || access.rank < result.dims.size()));
  result.rank = access.rank + (result.dims.size() - last);
  for (size_t i = 1; i <= access.rank; ++i) {
    const contract::MemoryAccess::Dim& dim = access.dims[access.dims.size() - i];
    result.dims[last - i] = dim.count;
    result.stride[last - i] = dim.stride;
  }
  return result;
}

}  // namespace

std::array<uint64_t, 4> ResultArray::index(uint64_t element) const {
  std::array<uint64_t, 4> index{};
  for (size_t i = dims.size(); i-- > 0; element /= dims[i]) index[i] = element % dims[i];
  return index;
}

int64_t ResultArray::offset(uint64_t element) const {
  const std::array<uint64_t, 4> at = index(element);
  int64_t offset = 0;
  for (size_t i = 0; i < at.size(); ++i) offset += static_cast<int64_t>(at[i]) * stride[i];
  return offset;
}

int64_t ResultArray::value(const uint8_t* bytes) const {
  uint64_t value = 0;
  std::memcpy(&value, bytes, element_bytes());
  const uint32_t unused = 64 - 8 * element_bytes();
  if (is_unsigned) return static_cast<int64_t>(value);
  return static_cast<int64_t>(value << unused) >> unused;
}

std::vector<ResultArray> results_of(const engine::Tile& tile) {
  std::vector<ResultArray> results;
  std::visit(
      [&](const auto& kind) {
        for_each_access(kind.command, [&](const contract::MemoryAccess& access) {
          if (access.access == contract::Access::kWrite) results.push_back(written(access));
        });
      },
      tile);
  return results;
}

}  // namespace npu::cosim
