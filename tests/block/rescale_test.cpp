// SPDX-License-Identifier: Apache-2.0
// The output stage's RTL against the reference's scaling.
#include "rtl/verilated/rescale.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <tuple>
#include <vector>

#include "hw/contract/error.h"
#include "rtl/verilated/machines.h"
#include "sim/reference/arithmetic.h"
#include "tests/block/stream.h"

namespace npu::rtl::test {
namespace {

using Config = Rescale::Config;
using Value = Rescale::Value;
constexpr int64_t kMin32 = std::numeric_limits<int32_t>::min(), kMax32 = std::numeric_limits<int32_t>::max();

// The reference's arithmetic, which complains where the specification leaves the result open.
int64_t expected(const Config& config, const Value& v) {
  static const graph::Operator op;
  static const graph::Block block;
  const reference::Call call(op, block, {}, {});
  const int64_t sum = v.value + v.offset;
  if (config.kind == contract::Rescale::kNone) return sum;
  const auto shift = static_cast<int32_t>(v.shift);
  const int32_t scaled = config.kind == contract::Rescale::kSingle16
                             ? reference::scale_16(call, sum, v.multiplier, shift)
                             : reference::scale_32(call, static_cast<int32_t>(sum), v.multiplier, shift,
                                                   config.kind == contract::Rescale::kDouble32);
  const int64_t placed = int64_t{scaled} + config.output_zp;
  return std::clamp<int64_t>(std::clamp<int64_t>(placed, config.low, config.high), config.clamp_min, config.clamp_max);
}

bool defined(const Config& config, const Value& v) {
  try {
    const int64_t sum = v.value + v.offset;
    const int64_t limit = config.wide ? int64_t{1} << 47 : int64_t{1} << 31;
    // A zero point must not push the scaled value over 32 bits either.
    Config bare = config;
    bare.output_zp = 0;
    bare.low = bare.clamp_min = static_cast<int32_t>(kMin32);
    bare.high = bare.clamp_max = static_cast<int32_t>(kMax32);
    const int64_t placed = expected(bare, v) + config.output_zp;
    return sum >= -limit && sum < limit && placed >= kMin32 && placed <= kMax32;
  } catch (const Error&) {
    return false;
  }
}

// Sends the values through the block and compares every result, in order.
void stream(Rescale& block, const Config& config, const std::vector<Value>& values, Buckets& buckets, Throttle source,
            Throttle sink) {
  const unsigned lanes = block.lanes();
  block.configure(config);
  size_t sent = 0, received = 0, cycles = 0;
  bool offered = false;
  while (received < values.size()) {
    ASSERT_LT(cycles++, 100 * values.size() + 1000) << "the block does not end";
    if (!offered && sent < values.size() && source.next()) {
      for (unsigned i = 0; i < lanes; ++i) block.set_value(i, sent + i < values.size() ? values[sent + i] : Value{});
      offered = true;
    }
    block.set_valid(offered);
    block.set_ready(sink.next());
    const bool taken = offered && block.ready();
    const bool arrives = block.valid() && block.ready();
    if (arrives) {
      for (unsigned i = 0; i < lanes && received + i < values.size(); ++i) {
        const Value& v = values[received + i];
        buckets.compare(
            block.result(i), expected(config, v),
            [&] { return fmt::format("kind {}, shift {}", contract::name(config.kind), v.shift); },
            [&] { return fmt::format("({} + {}) * {} >> {}, lane {}", v.value, v.offset, v.multiplier, v.shift, i); });
      }
      received += lanes;
    }
    block.tick();
    if (taken) {
      sent += lanes;
      offered = false;
    }
  }
  block.set_valid(false);
}

Config plain(contract::Rescale kind, bool wide) {
  const auto low = static_cast<int32_t>(kMin32), high = static_cast<int32_t>(kMax32);
  return {kind, wide, 0, low, high, low, high};
}

struct Kind {
  contract::Rescale kind;
  bool wide;
};
constexpr Kind kKinds[] = {{contract::Rescale::kNone, false},     {contract::Rescale::kNone, true},
                           {contract::Rescale::kSingle32, false}, {contract::Rescale::kDouble32, false},
                           {contract::Rescale::kSingle16, false}, {contract::Rescale::kSingle16, true}};

class RescaleBlock : public testing::TestWithParam<const char*> {
 protected:
  std::unique_ptr<Rescale> block_ = make_rescale(GetParam());
};

// Extremes, and the values around every tie, for every shift that the specification allows.
TEST_P(RescaleBlock, EveryShiftAtTiesAndExtremes) {
  Buckets buckets("ties and extremes", 0);
  for (const Kind& kind : kKinds) {
    const Config config = plain(kind.kind, kind.wide);
    const int64_t edge = kind.wide ? int64_t{1} << 47 : int64_t{1} << 31;
    std::vector<Value> values;
    for (uint32_t shift = 2; shift <= 62; ++shift) {
      const int32_t widest = kind.kind == contract::Rescale::kSingle16 ? 32767 : std::numeric_limits<int32_t>::max();
      for (const int32_t multiplier : {0, 1, 2, 3, widest / 2 + 1, widest - 1, widest}) {
        std::vector<int64_t> numbers = {-edge, -edge + 1, -2, -1, 0, 1, 2, edge - 2, edge - 1};
        // value * multiplier next to an odd multiple of half a unit
        for (const int64_t odd : {int64_t{1}, int64_t{3}, int64_t{-1}, int64_t{-3}}) {
          const int64_t tie = multiplier == 0 ? 0 : odd * (int64_t{1} << std::min(shift - 1, 60u)) / multiplier;
          for (int64_t near = -1; near <= 1; ++near) numbers.push_back(tie + near);
        }
        for (const int64_t number : numbers) {
          const Value value{number, 0, multiplier, shift};
          if (defined(config, value)) values.push_back(value);
        }
      }
    }
    stream(*block_, config, values, buckets, Throttle(1, 100), Throttle(2, 100));
  }
  EXPECT_GT(buckets.compared(), 10'000u);
}

Value random_value(std::mt19937_64& random, const Kind& kind, bool tame) {
  const unsigned bits = kind.wide ? 48 : 32;
  const auto number = [&](unsigned width) { return static_cast<int64_t>(random()) >> (64 - width); };
  Value value;
  value.value = number(tame ? bits - 8 : 1 + static_cast<unsigned>(random() % bits));
  value.offset = number(tame ? bits - 8 : 1 + static_cast<unsigned>(random() % bits));
  value.multiplier = static_cast<int32_t>(random() >> (kind.kind == contract::Rescale::kSingle16 ? 49 : 33));
  if (tame) value.multiplier |= kind.kind == contract::Rescale::kSingle16 ? 1 << 14 : 1 << 30;
  value.shift = static_cast<uint32_t>(tame ? 30 + random() % 20 : 2 + random() % 61);
  return value;
}

Config random_config(std::mt19937_64& random, const Kind& kind) {
  struct Type {
    int32_t low, high;
  };
  constexpr Type kTypes[] = {{-128, 127}, {0, 255}, {-32768, 32767}, {0, 65535}};
  Config config = plain(kind.kind, kind.wide);
  if (random() % 6 == 0) {
    // Any limits, as no type has them.
    const auto any = [&] { return static_cast<int32_t>(random()); };
    std::tie(config.low, config.high) = std::minmax({any(), any()});
    std::tie(config.clamp_min, config.clamp_max) = std::minmax({any(), any()});
  } else if (random() % 4 != 0) {
    const Type& type = kTypes[random() % 4];
    config.low = type.low;
    config.high = type.high;
    config.output_zp = type.low + static_cast<int32_t>(random() % static_cast<uint64_t>(type.high - type.low + 1));
    config.clamp_min = type.low + static_cast<int32_t>(random() % 100);
    config.clamp_max = type.high - static_cast<int32_t>(random() % 100);
  }
  return config;
}

TEST_P(RescaleBlock, RandomValuesUnderRandomBackPressure) {
  const uint64_t first = seed(20260);
  for (uint64_t round = 0; round < 60; ++round) {
    std::mt19937_64 random(first + round);
    const Kind& kind = kKinds[round % std::size(kKinds)];
    const Config config = random_config(random, kind);
    std::vector<Value> values;
    while (values.size() < 1500) {
      const Value value = random_value(random, kind, /*tame=*/round % 2 == 0);
      if (defined(config, value)) values.push_back(value);
    }
    Buckets buckets("random", first + round);
    stream(*block_, config, values, buckets, Throttle(random(), 20 + 20 * (round % 5)),
           Throttle(random(), 20 + 20 * (round / 5 % 5)));
  }
}

// A vector a cycle, each after exactly the stated latency.
TEST_P(RescaleBlock, LatencyAndThroughput) {
  block_->configure(plain(contract::Rescale::kNone, true));
  block_->set_ready(true);
  std::deque<int64_t> in_flight;
  for (int64_t cycle = 0; cycle < 100; ++cycle) {
    ASSERT_TRUE(block_->ready());
    ASSERT_EQ(block_->valid(), cycle >= Rescale::kLatency) << "cycle " << cycle;
    if (block_->valid()) {
      ASSERT_EQ(block_->result(0), in_flight.front());
      in_flight.pop_front();
    }
    block_->set_value(0, {cycle, 1000, 0, 0});
    block_->set_valid(true);
    in_flight.push_back(cycle + 1000);
    block_->tick();
  }
}

INSTANTIATE_TEST_SUITE_P(Presets, RescaleBlock, testing::ValuesIn(built_machines()));

TEST(RescaleWrapper, NamesAPresetThatWasNotBuilt) {
  try {
    (void)make_rescale("server");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), contract::ErrorCode::kBadPreset);
    EXPECT_NE(std::string(error.what()).find("server"), std::string::npos);
  }
}

}  // namespace
}  // namespace npu::rtl::test
