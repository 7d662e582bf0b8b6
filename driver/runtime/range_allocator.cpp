// SPDX-License-Identifier: Apache-2.0
#include "driver/runtime/range_allocator.h"

#include <algorithm>
#include <iterator>

#include "hw/contract/error.h"

namespace npu::runtime {

RangeAllocator::RangeAllocator(uint64_t begin, uint64_t end, uint64_t alignment)
    : begin_((begin + alignment - 1) / alignment * alignment),
      end_(std::max(end / alignment * alignment, begin_)),
      alignment_(alignment) {}

uint64_t RangeAllocator::rounded(uint64_t bytes) const {
  return (std::max<uint64_t>(bytes, 1) + alignment_ - 1) / alignment_ * alignment_;
}

std::optional<uint64_t> RangeAllocator::allocate(uint64_t bytes) {
  if (bytes > capacity()) return std::nullopt;
  const uint64_t size = rounded(bytes);
  uint64_t candidate = begin_;
  for (const auto& [address, length] : pieces_) {
    if (address - candidate >= size) break;
    candidate = address + length;
  }
  if (end_ - candidate < size) return std::nullopt;
  pieces_.emplace(candidate, size);
  used_ += size;
  return candidate;
}

std::optional<uint64_t> RangeAllocator::allocate_high(uint64_t bytes, uint64_t limit) {
  if (bytes > capacity()) return std::nullopt;
  const uint64_t size = rounded(bytes);
  uint64_t end = std::min(end_, limit / alignment_ * alignment_);
  for (auto piece = pieces_.rbegin(); piece != pieces_.rend(); ++piece) {
    const auto& [address, length] = *piece;
    if (end >= address + length && end - (address + length) >= size) break;
    end = std::min(end, address);
  }
  if (end < begin_ || end - begin_ < size) return std::nullopt;
  pieces_.emplace(end - size, size);
  used_ += size;
  return end - size;
}

void RangeAllocator::release(uint64_t address) {
  const auto piece = pieces_.find(address);
  NPU_CHECK(piece != pieces_.end());
  used_ -= piece->second;
  pieces_.erase(piece);
}

void RangeAllocator::release_all() {
  NPU_CHECK(reserved_ == 0);
  pieces_.clear();
  used_ = 0;
}

bool RangeAllocator::take(uint64_t address, uint64_t bytes) {
  NPU_CHECK(address % alignment_ == 0);
  if (address < begin_ || address > end_ || bytes > end_ - address) return false;
  const uint64_t size = rounded(bytes);
  const auto next = pieces_.lower_bound(address);
  if (next != pieces_.end() && next->first < address + size) return false;
  if (next != pieces_.begin() && std::prev(next)->first + std::prev(next)->second > address) return false;
  pieces_.emplace(address, size);
  used_ += size;
  return true;
}

bool RangeAllocator::reserve(uint64_t address, uint64_t bytes) {
  NPU_CHECK(bytes % alignment_ == 0);
  if (!take(address, bytes)) return false;
  reserved_ += bytes;
  return true;
}

uint64_t RangeAllocator::largest_free() const {
  uint64_t largest = 0, candidate = begin_;
  for (const auto& [address, length] : pieces_) {
    largest = std::max(largest, address - candidate);
    candidate = address + length;
  }
  return std::max(largest, end_ - candidate);
}

}  // namespace npu::runtime
