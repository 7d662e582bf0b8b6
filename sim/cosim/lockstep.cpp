// SPDX-License-Identifier: Apache-2.0
#include "sim/cosim/lockstep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "hw/contract/error.h"
#include "sim/cosim/results.h"

namespace npu::cosim {

using contract::Address;
using contract::ErrorCode;
using engine::Access;
using engine::TileResult;

namespace {

// Bytes that a tile may touch: `bytes` of an operand, `low` from its address.
struct Touched {
  Address address;
  int64_t low = 0;
  std::span<uint8_t> bytes;
};

// The result of one operand: from its first byte to its last, with what lies between its rows.
struct Written : Touched {
  std::vector<uint8_t> before, by_rtl;
};

// Both values of an element: the RTL's and, in memory, the model's.
struct Pair {
  const uint8_t* rtl = nullptr;
  const uint8_t* model = nullptr;
};

Pair find(std::span<const Written> written, const ResultArray& result, uint64_t element) {
  const int64_t offset = result.offset(element);
  for (const Written& part : written) {
    const int64_t at = offset - part.low;
    if (part.address != result.base || at < 0 || at + result.element_bytes() > static_cast<int64_t>(part.bytes.size()))
      continue;
    return {part.by_rtl.data() + at, part.bytes.data() + at};
  }
  panic(__FILE__, __LINE__, "an engine did not resolve a result that its command has");
}

std::string first_difference(const ResultArray& result, size_t number, size_t count, uint64_t element,
                             const Pair& values) {
  const std::array<uint64_t, 4> index = result.index(element);
  std::string text;
  for (size_t i = index.size() - result.rank; i < index.size(); ++i) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", index[i]);
  }
  const std::string which = count == 1 ? "" : fmt::format(" of result {}", number);
  return fmt::format("the first is element [{}]{} (number {}, {}): RTL {}, model {}", text, which, element,
                     contract::name(result.type), result.value(values.rtl), result.value(values.model));
}

}  // namespace

// Passes requests on, notes what they gave, and copies what will be written: engines resolve before they write.
class Lockstep::Recorder final : public engine::MemoryView {
 public:
  void begin(engine::MemoryView& memory) {
    memory_ = &memory;
    touched_.clear();
    written_.clear();
  }

  std::span<uint8_t> resolve(const Address& address, int64_t low, int64_t high, Access access) override {
    const std::span<uint8_t> bytes = memory_->resolve(address, low, high, access);
    if (bytes.empty()) return bytes;
    touched_.push_back({address, low, bytes});
    if (access == Access::kWrite) add_written(address, low, bytes);
    return bytes;
  }

  // When the RTL did not get to its results.
  void nothing_by_rtl() {
    for (Written& part : written_) part.by_rtl = part.before;
  }

  // Takes out what the RTL wrote.
  void put_back() {
    for (Written& part : written_) part.by_rtl.assign(part.bytes.begin(), part.bytes.end());
    for (const Written& part : written_) std::copy(part.before.begin(), part.before.end(), part.bytes.begin());
  }

  void compare(const engine::Tile& tile, Comparison& comparison) const {
    const std::vector<ResultArray> results = results_of(tile);
    for (const ResultArray& result : results) comparison.elements += result.elements();
    if (std::all_of(written_.begin(), written_.end(), [](const Written& part) {
          return std::equal(part.by_rtl.begin(), part.by_rtl.end(), part.bytes.begin());
        })) {
      return;
    }
    std::string first;
    for (size_t i = 0; i < results.size(); ++i) {
      for (uint64_t element = 0; element < results[i].elements(); ++element) {
        const Pair values = find(written_, results[i], element);
        if (std::memcmp(values.rtl, values.model, results[i].element_bytes()) == 0) continue;
        if (comparison.differing++ == 0) first = first_difference(results[i], i, results.size(), element, values);
      }
    }
    comparison.difference = comparison.differing == 0 ? "the RTL writes beside the result"
                                                      : fmt::format("{} of {} elements differ, {}",
                                                                    comparison.differing, comparison.elements, first);
  }

  // After the model ran: both results, and all that the tile touches as it was before.
  void keep(const engine::Tile& tile, Comparison& comparison) const {
    for (const ResultArray& result : results_of(tile)) {
      for (uint64_t element = 0; element < result.elements(); ++element) {
        const Pair values = find(written_, result, element);
        comparison.got.insert(comparison.got.end(), values.rtl, values.rtl + result.element_bytes());
        comparison.expected.insert(comparison.expected.end(), values.model, values.model + result.element_bytes());
      }
    }
    std::vector<std::vector<uint8_t>> by_model;
    for (const Written& part : written_) by_model.emplace_back(part.bytes.begin(), part.bytes.end());
    for (const Written& part : written_) std::copy(part.before.begin(), part.before.end(), part.bytes.begin());
    comparison.memory = memory_before();
    for (size_t i = 0; i < written_.size(); ++i) {
      std::copy(by_model[i].begin(), by_model[i].end(), written_[i].bytes.begin());
    }
  }

 private:
  // Rows come in ascending order, in one piece of memory.
  void add_written(const Address& address, int64_t low, std::span<uint8_t> bytes) {
    if (!written_.empty()) {
      Written& last = written_.back();
      if (last.address == address && low >= last.low + static_cast<int64_t>(last.bytes.size())) {
        const size_t known = last.bytes.size();
        last.bytes = {last.bytes.data(), static_cast<size_t>(low - last.low) + bytes.size()};
        last.before.insert(last.before.end(), last.bytes.begin() + static_cast<std::ptrdiff_t>(known),
                           last.bytes.end());
        return;
      }
    }
    written_.push_back({{address, low, bytes}, {bytes.begin(), bytes.end()}, {}});
  }

  // One block a region and variable, from the first to the last byte touched; what lies between is 0.
  [[nodiscard]] std::vector<MemoryBlock> memory_before() const {
    std::vector<MemoryBlock> blocks;
    const auto begin = [](const Touched& part) { return int64_t{part.address.offset} + part.low; };
    for (const Touched& part : touched_) {
      const auto same = [&](const MemoryBlock& block) {
        return block.region == part.address.region && block.variable == part.address.variable;
      };
      auto block = std::find_if(blocks.begin(), blocks.end(), same);
      if (block == blocks.end()) {
        blocks.push_back({part.address.region, part.address.variable, static_cast<uint32_t>(begin(part)), {}});
        block = blocks.end() - 1;
      }
      if (begin(part) < block->offset) {
        block->bytes.insert(block->bytes.begin(), static_cast<size_t>(block->offset - begin(part)), 0);
        block->offset = static_cast<uint32_t>(begin(part));
      }
      const auto at = static_cast<size_t>(begin(part) - block->offset);
      block->bytes.resize(std::max(block->bytes.size(), at + part.bytes.size()));
      std::copy(part.bytes.begin(), part.bytes.end(), block->bytes.begin() + static_cast<std::ptrdiff_t>(at));
    }
    return blocks;
  }

  engine::MemoryView* memory_ = nullptr;
  std::vector<Touched> touched_;
  std::vector<Written> written_;
};

Lockstep::Lockstep(std::unique_ptr<engine::Engine> model, std::unique_ptr<RtlEngine> rtl)
    : model_(std::move(model)), rtl_(std::move(rtl)), recorder_(std::make_unique<Recorder>()) {}

Lockstep::~Lockstep() = default;

TileResult Lockstep::run(std::span<const uint32_t> command, engine::MemoryView& memory, bool timed) {
  engine::Tile tile;
  const ErrorCode error = engine::parse_tile(command, tile);
  if (error == ErrorCode::kOk) return run(tile, memory, timed);
  comparison_ = {};
  comparison_.model_error = comparison_.rtl_error = error;
  return engine::refused(error);
}

TileResult Lockstep::run(const engine::Tile& tile, engine::MemoryView& memory, bool timed) {
  comparison_ = {};
  recorder_->begin(memory);
  const TileResult of_rtl = rtl_->run(tile, *recorder_, timed);
  const bool refused = of_rtl.error != ErrorCode::kOk && rtl_->problem().empty();
  recorder_->put_back();
  if (refused) recorder_->begin(memory);
  TileResult of_model = model_->run(tile, refused ? *recorder_ : memory, timed);
  if (refused) recorder_->nothing_by_rtl();
  comparison_.model_error = of_model.error;
  comparison_.rtl_error = of_rtl.error;
  comparison_.model_cycles = of_model.cycles;
  comparison_.rtl_cycles = of_rtl.cycles;
  comparison_.port_difference = rtl_->port_difference();
  if (!rtl_->problem().empty()) {
    comparison_.difference = "the RTL " + rtl_->problem();
  } else if (of_rtl.error != of_model.error) {
    comparison_.difference =
        fmt::format("the RTL answers {}, the model {}", contract::name(of_rtl.error), contract::name(of_model.error));
  }
  if (of_model.error != ErrorCode::kOk) return of_model;
  if (of_rtl.error == ErrorCode::kOk) recorder_->compare(tile, comparison_);
  if (!comparison_.equal() || keep_always_) recorder_->keep(tile, comparison_);
  return of_model;
}

}  // namespace npu::cosim
