// SPDX-License-Identifier: Apache-2.0
// The address generator's RTL: beats against the model's walk and against plain loops, cycles against hw/timing.
#include "rtl/verilated/dma_address.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "hw/contract/dma_walk.h"
#include "hw/timing/dma_cycles.h"
#include "rtl/verilated/machines.h"
#include "sim/cosim/dma_commands.h"
#include "tests/block/stream.h"

namespace npu::rtl::test {
namespace {

using contract::DmaCommand;
using contract::DmaMode;
using cosim::describe;
using cosim::dma_beats;
using cosim::DmaBeat;
using Beat = DmaAddress::Beat;
using Strides = std::array<int32_t, 5>;

constexpr uint64_t kSrcBase = uint64_t{1} << 38, kDstBase = uint64_t{3} << 37, kIndexBase = uint64_t{5} << 36;

DmaCommand copy(uint32_t run, std::array<uint32_t, 5> count, Strides src, Strides dst) {
  DmaCommand command;
  command.header.opcode = contract::Opcode::kDma;
  command.header.words = DmaCommand::kWords;
  command.mode = DmaMode::kCopy;
  command.run_bytes = run;
  command.count = count;
  command.src_stride = src;
  command.dst_stride = dst;
  return command;
}

DmaCommand fill(uint32_t run, std::array<uint32_t, 5> count, Strides dst, uint32_t bytes, uint64_t pattern) {
  DmaCommand command = copy(run, count, {}, dst);
  command.mode = DmaMode::kFill;
  command.fill_bytes = bytes;
  command.fill_value_lo = static_cast<uint32_t>(pattern);
  command.fill_value_hi = static_cast<uint32_t>(pattern >> 32);
  return command;
}

// Rows of `choices` by batches x indices; strides of dimensions 0, 1 or 2, 3 and 4.
DmaCommand gather(uint32_t run, std::array<uint32_t, 5> count, Strides src, Strides dst) {
  DmaCommand command = copy(run, count, src, dst);
  command.mode = DmaMode::kGather;
  return command;
}
DmaCommand scatter(uint32_t run, std::array<uint32_t, 5> count, Strides src, Strides dst) {
  DmaCommand command = copy(run, count, src, dst);
  command.mode = DmaMode::kScatter;
  return command;
}

// The address of every byte, in order. `indices`: of an indexed side.
std::vector<uint64_t> plain_addresses(uint64_t base, const DmaCommand& command, const Strides& stride,
                                      std::span<const int32_t> indices = {}) {
  std::vector<uint64_t> addresses;
  std::array<uint32_t, 5> count = command.count;
  if (contract::has_indices(command)) count[1] = 1;
  size_t rows = 0;
  const std::function<void(size_t, uint64_t)> visit = [&](size_t dim, uint64_t at) {
    if (dim == 3 && !indices.empty()) at += static_cast<uint64_t>(int64_t{indices[rows++]} * stride[1]);
    if (dim == count.size()) {
      for (uint32_t byte = 0; byte < command.run_bytes; ++byte) addresses.push_back(at + byte);
      return;
    }
    for (uint32_t i = 0; i < count[dim]; ++i) visit(dim + 1, at + static_cast<uint64_t>(int64_t{stride[dim]} * i));
  };
  visit(0, base);
  return addresses;
}

// One side's port: takes beats when the throttle says so, and sees that an offered beat stays.
class Side {
 public:
  Side(std::vector<DmaBeat> expected, Throttle throttle) : expected_(std::move(expected)), throttle_(throttle) {}

  // Looks at the beat of this cycle; true when it is to be taken.
  bool offer(bool valid, const Beat& beat, Buckets& buckets, const std::string& what) {
    if (held_) {
      buckets.compare(
          valid && beat.address == held_->address && beat.bytes == held_->bytes, 1,
          [] { return "an offered beat changed"; }, [&] { return what; });
    }
    held_.reset();
    if (!valid) return false;
    if (!throttle_.next()) {
      held_ = beat;
      return false;
    }
    const size_t index = taken_++;
    if (index >= expected_.size()) {
      buckets.compare(
          1, 0, [] { return "surplus beats"; }, [&] { return what; });
      return true;
    }
    const DmaBeat& wanted = expected_[index];
    const auto detail = [&] { return fmt::format("{}, beat {}", what, index); };
    buckets.compare(
        static_cast<int64_t>(beat.address), static_cast<int64_t>(wanted.address), [] { return "address"; }, detail);
    buckets.compare(
        beat.bytes, wanted.bytes, [] { return "bytes"; }, detail);
    buckets.compare(
        beat.last, wanted.last, [] { return "last"; }, detail);
    return true;
  }
  [[nodiscard]] bool complete() const { return taken_ == expected_.size(); }

 private:
  std::vector<DmaBeat> expected_;
  Throttle throttle_;
  size_t taken_ = 0;
  std::optional<Beat> held_;
};

uint64_t beats_of_formula(const DmaCommand& command, uint32_t port_bytes) {
  contract::Capabilities caps;
  caps.dma_port_bytes = port_bytes;
  return timing::dma_cycles(command, caps).steady;
}

class DmaAddressBlock : public testing::TestWithParam<const char*> {
 protected:
  // Runs a command and checks every beat; returns the cycles from its start until the block is idle.
  uint64_t run(const DmaCommand& command, Buckets& buckets, const std::vector<int32_t>& indices = {},
               const Throttle& src_throttle = Throttle(0, 100), const Throttle& dst_throttle = Throttle(0, 100),
               const Throttle& index_throttle = Throttle(0, 100)) {
    const std::string what = describe(command);
    const uint32_t port = block_->port_bytes();
    const bool fills = command.mode == DmaMode::kFill;
    const std::vector<int64_t> offsets = cosim::row_offsets(command, indices);
    auto src_beats = fills ? std::vector<DmaBeat>{} : dma_beats(contract::dma_source(command), kSrcBase, port, offsets);
    auto dst_beats = dma_beats(contract::dma_destination(command), kDstBase, port, offsets);
    auto list_beats = cosim::index_beats(command, kIndexBase, port);
    const uint64_t before = list_beats.empty() ? 0 : list_beats.size() + timing::kDmaIndexCycles;
    const uint64_t longest = before + std::max(src_beats.size(), dst_beats.size());
    buckets.compare(
        static_cast<int64_t>(longest), static_cast<int64_t>(beats_of_formula(command, port)),
        [] { return "beats of the formula"; }, [&] { return what; });
    Side src(std::move(src_beats), src_throttle), dst(std::move(dst_beats), dst_throttle),
        list(std::move(list_beats), index_throttle);
    std::span<const uint8_t> left(reinterpret_cast<const uint8_t*>(indices.data()), indices.size() * sizeof(int32_t));

    EXPECT_TRUE(block_->idle());
    block_->start(command, kSrcBase, kDstBase, kIndexBase);
    uint64_t cycles = 0, filled = 0;
    do {
      block_->tick();
      ++cycles;
      Beat beat;
      DmaAddress::Wrong wrong;
      EXPECT_FALSE(block_->wrong(wrong)) << what;
      const bool list_valid = block_->indices(beat);
      const bool answers = list.offer(list_valid, beat, buckets, what) && beat.bytes <= left.size();
      block_->answer(answers ? left.first(beat.bytes) : std::span<const uint8_t>());
      if (answers) left = left.subspan(beat.bytes);
      const bool src_valid = block_->source(beat);
      const bool take_src = src.offer(src_valid, beat, buckets, what);
      const bool dst_valid = block_->destination(beat);
      const bool take_dst = dst.offer(dst_valid, beat, buckets, what);
      buckets.compare(
          beat.fill != nullptr, fills, [] { return "fill"; }, [&] { return what; });
      if (take_dst && fills) filled += check_fill(command, beat, filled, buckets, what);
      block_->set_ready(take_src, take_dst);
      if (cycles > 100 * (longest + 10)) {
        ADD_FAILURE() << what << ": does not end";
        break;
      }
    } while (!block_->idle());
    buckets.compare(
        src.complete() && dst.complete() && list.complete(), 1, [] { return "lost beats"; }, [&] { return what; });
    return cycles;
  }

  static uint64_t check_fill(const DmaCommand& command, const Beat& beat, uint64_t before, Buckets& buckets,
                             const std::string& what) {
    for (uint32_t i = 0; i < beat.bytes; ++i) {
      buckets.compare(
          beat.fill[i], cosim::fill_byte(command, before + i), [] { return "fill data"; },
          [&] { return fmt::format("{}, byte {}", what, before + i); });
    }
    return beat.bytes;
  }

  std::unique_ptr<DmaAddress> block_ = make_dma_address(GetParam());
};

std::vector<DmaCommand> corners() {
  constexpr int32_t kFar = std::numeric_limits<int32_t>::max(), kBack = std::numeric_limits<int32_t>::min();
  return {
      copy(1, {1, 1, 1, 1, 1}, {}, {}),
      copy(4096, {1, 1, 1, 1, 1}, {5, 5, 5, 5, 5}, {7, 7, 7, 7, 7}),
      copy(3, {2, 3, 4, 5, 6}, {1080, 360, 90, 18, 3}, {1080, 360, 90, 18, 3}),  // all of it one piece
      copy(3, {2, 3, 4, 5, 6}, {1080, 360, 90, 18, 3}, {1080, 360, 90, 20, 3}),  // the destination merges less
      copy(3, {2, 3, 4, 5, 6}, {1080, 360, 91, 18, 3}, {1080, 361, 90, 18, 3}),
      copy(3, {2, 1, 1, 1, 6}, {18, 0, 0, 0, 3}, {18, -9, 77, 3, 3}),  // dimensions of one index do not count
      copy(2, {1, 1, 1, 4, 8}, {0, 0, 0, 2, 8}, {0, 0, 0, 16, 2}),     // transposition
      copy(5, {1, 1, 1, 1, 9}, {0, 0, 0, 0, -5}, {0, 0, 0, 0, 5}),     // reversal
      copy(16, {1, 1, 1, 1, 9}, {0, 0, 0, 0, 0}, {0, 0, 0, 0, 16}),    // repetition
      copy(8, {2, 2, 2, 2, 2}, {kFar, kBack, kFar, kBack, kFar}, {kBack, kFar, kFar, kFar, kBack}),
      copy(1, {1, 1, 1, 2, 40}, {0, 0, 0, 40, 1}, {0, 0, 0, 41, 1}),
      // 2^31 bytes behind each other would follow, if strides were unsigned; 2^32, if products were cut.
      copy(16, {1, 1, 2, 1, 3}, {0, 0, kBack, 0, 16}, {0, 0, 48, 0, 16}),
      copy(16, {1, 3, 4, 2, 1}, {0, 16, 1 << 30, 16, 0}, {0, 0, 32, 16, 0}),
      fill(8, {1, 1, 3, 3, 3}, {0, 0, 300, 100, 8}, 8, 0x0102030405060708),
      fill(24, {1, 1, 1, 3, 3}, {0, 0, 0, -100, 30}, 4, 0x01020304),
      fill(10, {1, 1, 1, 1, 5}, {0, 0, 0, 0, 10}, 2, 0x0102),
      fill(7, {1, 1, 1, 5, 5}, {0, 0, 0, 7, 64}, 1, 0xab),
      gather(3, {1, 1, 1, 1, 1}, {5, 5, 0, 5, 5}, {7, 0, 7, 7, 7}),  // one index
      gather(1, {1, 9, 40, 1, 1}, {}, {0, 0, 1, 0, 0}),              // rows of a byte, all the same one
      gather(3, {2, 3, 4, 5, 6}, {270, 90, 0, 18, 3}, {360, 0, 90, 18, 3}),
      gather(3, {2, 1000, 4, 5, 6}, {90, -100, 0, 18, 3}, {360, 0, 90, 18, 3}),  // batches where rows end
      gather(16, {256, 7, 1, 1, 1}, {-16, 16, 0, 0, 0}, {16, 0, 0, 0, 0}),
      gather(300, {1, 0x7fffffff, 256, 1, 1}, {0, 4, 0, 0, 0}, {0, 0, 300, 0, 0}),
      gather(5, {1, 0xffffffff, 3, 1, 1}, {0, -1, 0, 0, 0}, {0, 0, 5, 0, 0}),
      gather(8, {2, 2, 2, 2, 2}, {kFar, kBack, 0, kBack, kFar}, {kBack, 0, kFar, kFar, kBack}),
      scatter(3, {2, 3, 4, 5, 6}, {360, 0, 90, 18, 3}, {270, 90, 0, 18, 3}),
      scatter(40, {3, 17, 5, 1, 1}, {-200, 0, 40, 0, 0}, {680, 40, 0, 0, 0}),
      scatter(2, {1, 5, 3, 4, 1}, {0, 0, 9, 2, 0}, {0, kBack, 0, 7, 0}),
  };
}

std::vector<int32_t> some_indices(const DmaCommand& command) {
  std::mt19937_64 random(1);
  std::vector<int32_t> indices(contract::index_count(command));
  for (int32_t& index : indices) {
    index = static_cast<int32_t>(random() % std::min(command.count[1], uint32_t{1} << 31));
  }
  if (!indices.empty()) indices.back() = static_cast<int32_t>(std::min(command.count[1], uint32_t{1} << 31) - 1);
  return indices;
}

TEST_P(DmaAddressBlock, Corners) {
  Buckets buckets("corners", 0);
  for (const DmaCommand& command : corners()) {
    const uint64_t cycles = run(command, buckets, some_indices(command));
    EXPECT_EQ(cycles, DmaAddress::kLatency + beats_of_formula(command, block_->port_bytes())) << describe(command);
  }
}

// Which index is told, and nothing moves; the next command finds nothing of it.
TEST_P(DmaAddressBlock, AWrongIndexEndsTheCommand) {
  const uint64_t first = seed(99);
  std::mt19937_64 random(first);
  Buckets buckets("wrong indices", first);
  for (int trial = 0; trial < 200; ++trial) {
    DmaCommand command = cosim::random_dma_command(random);
    if (!contract::has_indices(command)) continue;
    std::vector<int32_t> indices = cosim::random_indices(command, random);
    const auto choices = static_cast<int32_t>(command.count[1]);
    const std::array<int32_t, 6> values = {-1, choices, choices + 1, INT32_MIN, INT32_MAX, -choices};
    const size_t place = random() % indices.size();
    indices[place] = values[random() % values.size()];
    if (random() % 2 == 0) indices[place + random() % (indices.size() - place)] = -1;
    const int32_t value = indices[place];
    std::span<const uint8_t> left(reinterpret_cast<const uint8_t*>(indices.data()), indices.size() * sizeof(int32_t));
    block_->start(command, kSrcBase, kDstBase, kIndexBase);
    block_->set_ready(true, true);
    uint64_t told = 0;
    for (uint64_t cycles = 0; told == 0 || !block_->idle(); ++cycles) {
      ASSERT_LT(cycles, 5000u) << describe(command);
      block_->tick();
      Beat beat;
      DmaAddress::Wrong wrong;
      const bool wanted = block_->indices(beat);
      const bool answers = wanted && random() % 3 != 0;
      block_->answer(answers ? left.first(beat.bytes) : std::span<const uint8_t>());
      if (answers) left = left.subspan(beat.bytes);
      ASSERT_FALSE(block_->source(beat)) << describe(command);
      ASSERT_FALSE(block_->destination(beat)) << describe(command);
      if (!block_->wrong(wrong)) continue;
      ++told;
      ASSERT_EQ(wrong.place, place) << describe(command);
      ASSERT_EQ(static_cast<int32_t>(wrong.value), value) << describe(command);
      ASSERT_TRUE(left.empty());
    }
    ASSERT_EQ(told, 1u);
    indices = cosim::random_indices(command, random);
    (void)run(command, buckets, indices);
  }
}

TEST_P(DmaAddressBlock, RandomCommandsUnderRandomBackPressure) {
  const uint64_t first = seed(4711);
  for (uint64_t round = 0; round < 25; ++round) {
    std::mt19937_64 random(first + round);
    Buckets buckets("random", first + round);
    for (int trial = 0; trial < 20; ++trial) {
      const DmaCommand command = cosim::random_dma_command(random);
      const std::vector<int32_t> indices = cosim::random_indices(command, random);
      (void)run(command, buckets, indices, Throttle(random(), 20 + 20 * (round % 5)),
                Throttle(random(), 20 + 20 * (round / 5 % 5)), Throttle(random(), 60));
      // The pieces cover the bytes of five plain loops, in their order.
      const std::vector<int64_t> offsets = cosim::row_offsets(command, indices);
      const auto bytes_of = [&](const contract::DmaSide& side, uint64_t base) {
        std::vector<uint64_t> bytes;
        for (const DmaBeat& beat : dma_beats(side, base, block_->port_bytes(), offsets)) {
          for (uint32_t i = 0; i < beat.bytes; ++i) bytes.push_back(beat.address + i);
        }
        return bytes;
      };
      const auto indices_of = [&](DmaMode mode) {
        return command.mode == mode ? std::span<const int32_t>(indices) : std::span<const int32_t>();
      };
      ASSERT_EQ(bytes_of(contract::dma_source(command), kSrcBase),
                plain_addresses(kSrcBase, command, command.src_stride, indices_of(DmaMode::kGather)))
          << describe(command);
      ASSERT_EQ(bytes_of(contract::dma_destination(command), kDstBase),
                plain_addresses(kDstBase, command, command.dst_stride, indices_of(DmaMode::kScatter)))
          << describe(command);
    }
  }
}

// A beat a cycle on each side, the first one after the stated latency, exactly as many as hw/timing counts.
TEST_P(DmaAddressBlock, CyclesAreThoseOfTheFormula) {
  const uint64_t first = seed(815);
  std::mt19937_64 random(first);
  Buckets buckets("cycles", first);
  for (int trial = 0; trial < 500; ++trial) {
    const DmaCommand command = cosim::random_dma_command(random);
    const uint64_t cycles = run(command, buckets, cosim::random_indices(command, random));
    ASSERT_EQ(cycles, DmaAddress::kLatency + beats_of_formula(command, block_->port_bytes())) << describe(command);
  }
}

// Counts, runs and strides of all 32 bits, from any address: more than can be run to the end.
TEST_P(DmaAddressBlock, FirstBeatsOfHugeCommands) {
  const uint64_t first = seed(2400);
  std::mt19937_64 random(first);
  Buckets buckets("huge commands", first);
  constexpr uint64_t kAddresses = (uint64_t{1} << 40) - 1;
  for (size_t trial = 0; trial < 300; ++trial) {
    DmaCommand command = copy(1, {1, 1, 1, 1, 1}, {}, {});
    uint64_t bits_left = 60;  // of the bytes in all
    for (size_t i = 0; i < 6; ++i) {
      const size_t field = (trial + i) % 6;
      const uint64_t bits = random() % (1 + std::min<uint64_t>(bits_left, 32));
      bits_left -= bits;
      const auto value = static_cast<uint32_t>((random() & ((uint64_t{1} << bits) - 1)) | (uint64_t{1} << bits >> 1));
      (field == 5 ? command.run_bytes : command.count.at(field)) = std::max(1u, value);
    }
    for (size_t i = 0; i < 5; ++i) {
      command.src_stride.at(i) = static_cast<int32_t>(random());
      command.dst_stride.at(i) = static_cast<int32_t>(random());
    }
    const uint64_t src_base = random() & kAddresses, dst_base = random() & kAddresses;
    contract::ExtentWalk src, dst;
    src.start(src_base, contract::dma_source(command));
    dst.start(dst_base, contract::dma_destination(command));
    const auto check = [&](bool valid, const Beat& beat, contract::ExtentWalk& walk) {
      if (!valid) return;
      const auto what = [&] { return describe(command); };
      ASSERT_FALSE(walk.done()) << what();
      const auto bytes = static_cast<uint32_t>(std::min<uint64_t>(walk.contiguous(), block_->port_bytes()));
      buckets.compare(
          static_cast<int64_t>(beat.address), static_cast<int64_t>(walk.address() & kAddresses),
          [] { return "address"; }, what);
      buckets.compare(
          beat.bytes, bytes, [] { return "bytes"; }, what);
      walk.advance(bytes);
    };
    block_->start(command, src_base, dst_base, 0);
    block_->set_ready(true, true);
    for (int cycle = 0; cycle < 100; ++cycle) {
      block_->tick();
      Beat beat;
      const bool src_valid = block_->source(beat);
      check(src_valid, beat, src);
      const bool dst_valid = block_->destination(beat);
      check(dst_valid, beat, dst);
    }
    EXPECT_LT(src.left(), uint64_t{command.run_bytes} * command.count[0] * command.count[1] * command.count[2] *
                              command.count[3] * command.count[4]);
    block_->reset();
  }
}

INSTANTIATE_TEST_SUITE_P(Presets, DmaAddressBlock, testing::ValuesIn(built_machines()));

}  // namespace
}  // namespace npu::rtl::test
