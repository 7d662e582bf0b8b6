// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/constants.h"

#include <cstring>
#include <string_view>

#include "driver/compiler/schedule/dram.h"

namespace npu::compiler::backend {

int64_t ConstantPool::add(std::span<const uint8_t> bytes) {
  const uint64_t hash = std::hash<std::string_view>{}({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  const auto [begin, end] = blocks_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    const Block& block = it->second;
    if (block.bytes == static_cast<int64_t>(bytes.size()) &&
        std::memcmp(data_.data() + block.offset, bytes.data(), bytes.size()) == 0) {
      return block.offset;
    }
  }
  data_.resize((data_.size() + kAlignment - 1) / kAlignment * kAlignment);
  const int64_t offset = static_cast<int64_t>(data_.size());
  check_region("constants", data_.size() + bytes.size());
  data_.insert(data_.end(), bytes.begin(), bytes.end());
  blocks_.emplace(hash, Block{offset, static_cast<int64_t>(bytes.size())});
  return offset;
}

}  // namespace npu::compiler::backend
