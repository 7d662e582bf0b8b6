// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/play/channel.h"

#include <algorithm>
#include <utility>

#include "hw/timing/crossbar.h"
#include "hw/timing/dma_cycles.h"

namespace npu::compiler::play {
namespace {

constexpr uint32_t kRows = 0, kIndices = 1, kFetched = 2, kLanded = 3, kAhead = 4, kEnded = 5;
// From a flight's last beat, which leaves its place free, to the cycle in which its command can end.
constexpr uint64_t kBehindLastBeat = 1;

}  // namespace

Channel::Channel(Moments& moments, Memory& memory, const Clashes& clashes, const contract::Capabilities& capabilities,
                 size_t requester, std::function<Next()> next, std::function<void()> ended)
    : moments_(moments),
      memory_(memory),
      clashes_(clashes),
      requester_(requester),
      port_bytes_(capabilities.dma_port_bytes),
      burst_bytes_(capabilities.dma_burst_bytes),
      row_bytes_(capabilities.psram_port_bytes),
      next_(std::move(next)),
      ended_(std::move(ended)),
      bytes_(capabilities.dma_outstanding),
      here_(capabilities.dma_outstanding) {}

void Channel::start(const contract::DmaCommand& command, const Place& src, const Place& dst, const Place& index) {
  command_ = &command;
  src_ = src;
  dst_ = dst;
  index_ = index;
  from_dram_ = false;  // until its walk begins nothing is read ahead of the next one
  const uint64_t now = moments_.now();
  const uint64_t walked = ahead_.command == nullptr ? now + timing::kDmaWalkCycles : std::max(now, ahead_.from);
  moments_.set(walked, *this, contract::has_indices(command) ? kIndices : kRows);
}

void Channel::act(uint32_t what) {
  switch (what) {
    case kIndices:
      return start_indices();
    case kRows:
      return start_rows();
    case kFetched:
      return fetched();
    case kAhead:
      return issue_ahead();
    case kEnded:
      return end();
    default:
      return land(indices_ ? 0 : kBehindLastBeat);
  }
}

void Channel::start_indices() {
  indices_ = true;
  from_dram_ = index_.dram;
  to_dram_ = false;
  src_walk_.start(index_.address, contract::element_bytes(contract::Element::kI32) * contract::index_count(*command_));
  unissued_ = src_walk_.left();
  issue();
}

void Channel::start_rows() {
  indices_ = false;
  from_dram_ = !fills() && src_.dram;
  to_dram_ = dst_.dram;
  dst_walk_.start(dst_.address, contract::dma_destination(*command_));
  if (!fills()) src_walk_.start(src_.address, contract::dma_source(*command_));
  unissued_ = dst_walk_.left();
  if (ahead_.command != nullptr) {
    src_walk_ = ahead_.walk;
    unissued_ = ahead_.unissued;
    if (unissued_ == 0) last_ = issued_;
    ahead_ = {};
    place_arrived();
  }
  issue();
}

uint32_t Channel::burst_length(const contract::ExtentWalk& walk) const {
  return static_cast<uint32_t>(timing::burst_bytes(walk.address(), walk.contiguous(), burst_bytes_));
}

uint64_t Channel::scratchpad_cycles(contract::ExtentWalk& walk, uint64_t bytes) {
  uint64_t beats = 0;
  while (bytes > 0) {
    const uint64_t piece = std::min(bytes, walk.contiguous());
    beats += timing::ceil_div(piece, port_bytes_);
    walk.advance(piece);
    bytes -= piece;
  }
  beats_ += beats;
  return clashes_.beat_cycles(beats);
}

// One port, no banks: a cycle for each row of a beat, and one more where a row is written in part.
uint64_t Channel::persistent_cycles(contract::ExtentWalk& walk, uint64_t bytes, bool write) const {
  uint64_t cycles = 0;
  while (bytes > 0) {
    const uint64_t beat = std::min({bytes, walk.contiguous(), uint64_t{port_bytes_}});
    const uint64_t end = walk.address() + beat;
    const uint64_t rows = (end - 1) / row_bytes_ - walk.address() / row_bytes_ + 1;
    const bool first = walk.address() % timing::Crossbar::kCodeBytes != 0,
               last = end % timing::Crossbar::kCodeBytes != 0;
    cycles += rows;
    if (write) cycles += rows == 1 ? first || last : uint64_t{first} + uint64_t{last};
    walk.advance(beat);
    bytes -= beat;
  }
  return cycles;
}

uint64_t Channel::pass(contract::ExtentWalk& walk, const Place& place, bool write, uint64_t free, uint64_t bytes) {
  const uint64_t cycles = place.persistent ? persistent_cycles(walk, bytes, write) : scratchpad_cycles(walk, bytes);
  return std::max(moments_.now(), free) + cycles;
}

void Channel::issue() {
  while (unissued_ > 0 && issued_ - landed_ < bytes_.size()) {
    uint32_t bytes = static_cast<uint32_t>(std::min<uint64_t>(unissued_, burst_bytes_));
    if (from_dram_) bytes = std::min(bytes, burst_length(src_walk_));
    if (to_dram_) bytes = std::min(bytes, burst_length(dst_walk_));
    unissued_ -= bytes;
    if (unissued_ == 0) last_ = issued_ + 1;
    issue(bytes);
  }
  issue_ahead();
}

void Channel::look_ahead() {
  if (command_ == nullptr || unissued_ > 0 || ahead_.command != nullptr || indices_ || !from_dram_ || to_dram_) return;
  const Next next = next_();
  if (next.command == nullptr) return;
  ahead_.command = next.command;
  ahead_.walk.start(next.address, contract::dma_source(*next.command));
  ahead_.unissued = ahead_.walk.left();
  ahead_.from = moments_.now() + timing::kDmaWalkCycles;
  moments_.set(ahead_.from, *this, kAhead);
}

void Channel::issue_ahead() {
  look_ahead();
  if (ahead_.command == nullptr || unissued_ > 0 || moments_.now() < ahead_.from) return;
  while (ahead_.unissued > 0 && issued_ - landed_ < bytes_.size()) {
    const uint64_t number = issued_++;
    const uint32_t bytes = burst_length(ahead_.walk);
    this->bytes(number) = bytes;
    here_[number % here_.size()] = false;
    memory_.submit({ahead_.walk.address(), bytes, false, static_cast<uint32_t>(number), this}, requester_);
    ahead_.walk.advance(bytes);
    ahead_.unissued -= bytes;
  }
}

void Channel::issue(uint32_t bytes) {
  const uint64_t number = issued_++;
  this->bytes(number) = bytes;
  here_[number % here_.size()] = false;
  if (from_dram_) {
    memory_.submit({src_walk_.address(), bytes, false, static_cast<uint32_t>(number), this}, requester_);
    src_walk_.advance(bytes);
  } else if (fills()) {
    fetched();
  } else {
    source_free_ = pass(src_walk_, src_, /*write=*/false, source_free_, bytes);
    moments_.set(source_free_, *this, kFetched);
  }
}

// The next flight's data is there, not from DRAM.
void Channel::fetched() {
  const uint64_t number = fetched_++;
  const uint32_t bytes = this->bytes(number);
  if (to_dram_) {
    memory_.submit({dst_walk_.address(), bytes, true, static_cast<uint32_t>(number), this}, requester_);
    dst_walk_.advance(bytes);
    return;
  }
  here_[number % here_.size()] = true;
  place_arrived();
}

void Channel::burst_done(uint32_t tag, bool write) {
  if (write) return land(0);
  if (ahead_.command != nullptr && unissued_ == 0 && tag >= last_) {
    here_[tag % here_.size()] = true;
    return;
  }
  if (to_dram_) {
    memory_.submit({dst_walk_.address(), bytes(tag), true, tag, this}, requester_);
    dst_walk_.advance(bytes(tag));
    return;
  }
  here_[tag % here_.size()] = true;
  place_arrived();
}

// On the chip, in the order of the walk.
void Channel::place_arrived() {
  const uint64_t end = unissued_ > 0 ? issued_ : last_;
  for (; placed_ != end && here_[placed_ % here_.size()]; ++placed_) {
    here_[placed_ % here_.size()] = false;
    if (!indices_) target_free_ = pass(dst_walk_, dst_, /*write=*/true, target_free_, bytes(placed_));
    moments_.set(indices_ ? moments_.now() : target_free_ - kBehindLastBeat, *this, kLanded);
  }
}

// `rest`: cycles until the command may end with it.
void Channel::land(uint64_t rest) {
  ++landed_;
  issue();
  if (unissued_ > 0 || landed_ != last_) return;
  fetched_ = placed_ = last_;
  if (indices_) {
    moments_.set(moments_.now() + timing::kDmaIndexCycles, *this, kRows);
  } else if (rest == 0) {
    end();
  } else {
    moments_.set(moments_.now() + rest, *this, kEnded);
  }
}

void Channel::end() {
  command_ = nullptr;
  ended_();
}

}  // namespace npu::compiler::play
