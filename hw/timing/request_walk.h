// SPDX-License-Identifier: Apache-2.0
// The requests of one port, in order, where they are known from the beginning.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "hw/timing/memory_request.h"

namespace npu::timing {

class RequestWalk {
 public:
  // `requests` requests move `bytes` bytes, each its even share, between `address` and `extent` bytes behind it. Fewer
  // bytes than that: once through it, with gaps; more: it starts over, whenever a request would not fit behind the last
  // one. No request has more than the extent.
  struct Range {
    OnChip memory = OnChip::kScratchpad;
    bool write = false;
    uint64_t address = 0, extent = 0, bytes = 0, requests = 0;
  };

  struct Bytes {
    uint64_t address = 0, bytes = 0;
  };

  // Goes through the requests of a range.
  class Part {
   public:
    Part() = default;
    explicit Part(const Range& range) : range_(range), left_(range.requests), gaps_(range.bytes < range.extent) {
      if (range.requests == 0) return;
      bytes_ = {range.bytes / range.requests, range.bytes % range.requests, 0};
      step_ = {range.extent / range.requests, range.extent % range.requests, 0};
    }

    [[nodiscard]] const Range& range() const { return range_; }
    [[nodiscard]] uint64_t left() const { return left_; }
    // No request has more.
    [[nodiscard]] uint64_t most_bytes() const { return bytes_.whole + 1; }
    // Bytes of the requests that were taken.
    [[nodiscard]] uint64_t moved() const { return bytes_.of_first(range_.requests - left_, range_.requests); }

    [[nodiscard]] MemoryRequest request(const Bytes& bytes) const {
      return {range_.memory, range_.write, bytes.address, bytes.bytes};
    }
    // The next of those left.
    [[nodiscard]] Bytes take() {
      --left_;
      const uint64_t bytes = bytes_.next(range_.requests);
      uint64_t offset = offset_;
      if (gaps_) {
        offset = std::min(offset, range_.extent - bytes);
        offset_ += step_.next(range_.requests);
      } else {
        if (offset + bytes > range_.extent) offset = 0;
        offset_ = offset + bytes;
      }
      return {range_.address + offset, bytes};
    }
    // So many of those left. visit(bytes) gets what they move, in their order, maybe several of them at once.
    template <class Visit>
    void take(uint64_t requests, Visit visit) {
      while (requests > 0) {
        // Those that fit for sure behind the last one.
        const uint64_t known = gaps_ ? 0 : std::min(requests, (range_.extent - offset_) / most_bytes());
        if (known > 1) {
          const uint64_t bytes = bytes_.next(known, range_.requests);
          visit(Bytes{range_.address + offset_, bytes});
          offset_ += bytes;
          left_ -= known;
          requests -= known;
        } else {
          visit(take());
          --requests;
        }
      }
    }

   private:
    // total * k / requests for k = 1, 2, ..., without a division each, and without branches: which of two neighbours is
    // next is not to be predicted.
    struct Share {
      uint64_t whole = 0, rest = 0, sum = 0;
      [[nodiscard]] uint64_t next(uint64_t requests) {
        sum += rest;
        const uint64_t one = sum >= requests ? 1 : 0;
        sum -= requests & (0 - one);
        return whole + one;
      }
      // The sum of the next so many.
      [[nodiscard]] uint64_t next(uint64_t many, uint64_t requests) {
        sum += rest * many;
        const uint64_t ones = rest == 0 ? 0 : sum / requests;
        sum -= ones * requests;
        return whole * many + ones;
      }
      [[nodiscard]] uint64_t of_first(uint64_t many, uint64_t requests) const {
        return requests == 0 ? 0 : whole * many + rest * many / requests;
      }
    };

    Range range_;
    uint64_t left_ = 0, offset_ = 0;
    bool gaps_ = true;
    Share bytes_, step_;
  };

  // There are none, one range after the other.
  void clear() {
    parts_.clear();
    turns_.clear();
    at_ = 0;
  }
  void add(const Range& range) { parts_.emplace_back(range); }
  // Request k is one of range turns[k modulo their number].
  void take_turns(const std::vector<uint32_t>& turns) { turns_ = turns; }

  // Without bytes where it moves none, and behind the last one.
  [[nodiscard]] MemoryRequest next() {
    Part* const part = next_part();
    return part == nullptr ? MemoryRequest{} : part->request(part->take());
  }
  // The next request is to be taken from there; null where there is none.
  [[nodiscard]] Part* next_part() {
    if (turns_.empty()) return current();
    Part& part = parts_[turns_[at_]];
    if (++at_ == turns_.size()) at_ = 0;
    return part.left() == 0 ? nullptr : &part;
  }
  // Where the next requests are, as many as it has left; null behind the last one, and where they take turns.
  [[nodiscard]] Part* current() {
    if (!turns_.empty()) return nullptr;
    while (at_ < parts_.size() && parts_[at_].left() == 0) ++at_;
    return at_ == parts_.size() ? nullptr : &parts_[at_];
  }
  // Requests.
  [[nodiscard]] uint64_t left() const {
    uint64_t left = 0;
    for (const Part& part : parts_) left += part.left();
    return left;
  }
  [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }

 private:
  std::vector<Part> parts_;
  std::vector<uint32_t> turns_;
  size_t at_ = 0;  // part, or turn
};

}  // namespace npu::timing
