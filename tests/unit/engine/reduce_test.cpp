// SPDX-License-Identifier: Apache-2.0
// Reductions against naive loops.
#include <gtest/gtest.h>

#include <algorithm>

#include "hw/engine/vpu_model.h"
#include "sim/cosim/random_vpu.h"
#include "tests/unit/engine/scalar_math.h"
#include "tests/unit/engine/support.h"

namespace npu::engine::testing {
namespace {

using contract::Element;
using contract::ErrorCode;
using contract::ReduceOp;
using contract::VpuReduceCommand;

int64_t reduce(ReduceOp op, const std::vector<int64_t>& values) {
  Wide sum = 0;
  int64_t product = 1;
  for (const int64_t v : values) {
    sum += v;
    product = wrap(Wide{product} * v, 32);
  }
  const auto most = std::max_element(values.begin(), values.end());
  switch (op) {
    case ReduceOp::kSum:
      return wrap(sum, 32);
    case ReduceOp::kProduct:
      return product;
    case ReduceOp::kMax:
      return *most;
    case ReduceOp::kMin:
      return *std::min_element(values.begin(), values.end());
    case ReduceOp::kAll:
      return std::all_of(values.begin(), values.end(), [](int64_t v) { return v != 0; });
    case ReduceOp::kAny:
      return std::any_of(values.begin(), values.end(), [](int64_t v) { return v != 0; });
    case ReduceOp::kArgmax:
      return most - values.begin();
  }
  return 0;
}

TEST(Reduce, RandomTilesEqualNaiveLoops) {
  Random random(91);
  const std::unique_ptr<Engine> engine = make_vpu_model(test_machine());
  int64_t compared = 0;
  for (int i = 0; i < 3000; ++i) {
    cosim::MadeTile<VpuReduceCommand> made =
        cosim::make_reduce_tile(cosim::random_reduce(random, test_machine().vpu_lanes), random);
    const VpuReduceCommand command = made.command;
    TestMemory memory(std::move(made.bytes));
    const int64_t bytes = element_bytes(command.type);
    const Element out = command.op == ReduceOp::kArgmax ? Element::kI32 : command.type;
    const int64_t out_bytes = element_bytes(out);

    std::vector<uint8_t> expected = memory.scratchpad();
    for (int64_t o = 0; o < command.outer; ++o) {
      for (int64_t j = 0; j < command.inner; ++j) {
        std::vector<int64_t> values;
        for (int64_t a = 0; a < command.axis; ++a) {
          values.push_back(
              load(memory.at(command.src) + o * command.src_outer_stride + a * command.src_axis_stride + j * bytes,
                   command.type));
        }
        store(expected.data() + command.dst.offset + o * command.dst_outer_stride + j * out_bytes, out,
              reduce(command.op, values));
        ++compared;
      }
    }
    ASSERT_EQ(engine->run(encode(command), memory, /*timed=*/true).error, ErrorCode::kOk);
    ASSERT_EQ(memory.scratchpad(), expected)
        << name(command.op) << ' ' << name(command.type) << " case " << i << ", " << random.name();
  }
  std::printf("%lld elements compared\n", static_cast<long long>(compared));
}

}  // namespace
}  // namespace npu::engine::testing
