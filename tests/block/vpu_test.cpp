// SPDX-License-Identifier: Apache-2.0
// The VPU's RTL, tile by tile: bits against the model and one-value-at-a-time arithmetic, cycles against the formula,
// the ports' requests against their schedule, whatever memory grants.
#include "rtl/verilated/vpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hw/contract/elements.h"
#include "hw/contract/error.h"
#include "hw/contract/gen/micro_operations.h"
#include "hw/engine/vpu_model.h"
#include "hw/timing/vpu_cycles.h"
#include "hw/timing/vpu_ports.h"
#include "rtl/verilated/machines.h"
#include "sim/cosim/cycle_comparison.h"
#include "sim/cosim/random_ewise.h"
#include "sim/cosim/random_vpu.h"
#include "tests/block/stream.h"
#include "tests/block/tested_machines.h"
#include "tests/block/vpu_driver.h"
#include "tests/unit/engine/scalar_uops.h"
#include "tests/unit/reference/operator_case.h"

namespace npu::rtl::test {
namespace {

using contract::Capabilities;
using contract::Element;
using contract::Operand;
using contract::PoolMode;
using contract::ReduceOp;
using contract::Uop;
using contract::UopCode;
using contract::VpuEwiseCommand;
using contract::VpuPoolCommand;
using contract::VpuReduceCommand;
using engine::testing::EwiseCase;
using engine::testing::Random;
using engine::testing::TestMemory;

// The operator that a reduction stands for, on its [outer][axis][inner]. Nothing when the reference complains, as it
// does where the specification leaves the result open.
std::optional<std::vector<int64_t>> by_reference(const VpuReduceCommand& command, const TestMemory& memory) {
  std::vector<int64_t> numbers;
  for (int64_t o = 0; o < command.outer; ++o) {
    for (int64_t a = 0; a < command.axis; ++a) {
      for (int64_t j = 0; j < command.inner; ++j) {
        const int64_t value = engine::testing::load(memory.at(command.src) + o * command.src_outer_stride +
                                                        a * command.src_axis_stride + j * element_bytes(command.type),
                                                    command.type);
        numbers.push_back(command.type == Element::kBool ? int64_t{value != 0} : value);
      }
    }
  }
  static const std::map<ReduceOp, graph::Op> kOps = {
      {ReduceOp::kSum, graph::Op::kReduceSum}, {ReduceOp::kMax, graph::Op::kReduceMax},
      {ReduceOp::kMin, graph::Op::kReduceMin}, {ReduceOp::kAll, graph::Op::kReduceAll},
      {ReduceOp::kAny, graph::Op::kReduceAny}, {ReduceOp::kProduct, graph::Op::kReduceProduct},
      {ReduceOp::kArgmax, graph::Op::kArgMax},
  };
  static const std::map<Element, graph::DType> kTypes = {{Element::kI8, graph::DType::kInt8},
                                                         {Element::kI16, graph::DType::kInt16},
                                                         {Element::kI32, graph::DType::kInt32},
                                                         {Element::kBool, graph::DType::kBool}};
  const bool argmax = command.op == ReduceOp::kArgmax;
  if (contract::is_float(command.type)) return std::nullopt;  // joined in another order
  // Integer products, and maxima of 32 bits' places, are no operators of the specification.
  if (command.op == ReduceOp::kProduct || (argmax && command.type == Element::kI32)) return std::nullopt;
  reference::test::OperatorCase test;
  test.op = kOps.at(command.op);
  const graph::DType type = kTypes.at(command.type);
  test.inputs = {reference::test::value_of(type, {command.outer, command.axis, command.inner}, numbers)};
  test.result_type = argmax ? graph::DType::kInt32 : type;
  test.result_shape =
      argmax ? graph::Shape{command.outer, command.inner} : graph::Shape{command.outer, 1, command.inner};
  test.attributes.axis = 1;
  try {
    return test.numbers();
  } catch (const Error&) {
    return std::nullopt;
  }
}

// The operator that a pooling stands for, on its [row][column][channel].
std::optional<std::vector<int64_t>> by_reference(const VpuPoolCommand& command, const TestMemory& memory) {
  if (contract::is_float(command.type)) return std::nullopt;
  const int64_t bottom =
      int64_t{command.out_h - 1} * command.stride_y + command.kernel_h - command.in_h - command.pad_top;
  const int64_t right =
      int64_t{command.out_w - 1} * command.stride_x + command.kernel_w - command.in_w - command.pad_left;
  if (command.pad_top < 0 || command.pad_left < 0 || bottom < 0 || right < 0) return std::nullopt;
  std::vector<int64_t> numbers;
  for (int64_t y = 0; y < command.in_h; ++y) {
    for (int64_t x = 0; x < command.in_w; ++x) {
      for (int64_t c = 0; c < command.channels; ++c) {
        numbers.push_back(engine::testing::load(memory.at(command.src) + y * command.src_row_stride +
                                                    x * command.src_pixel_stride + c * element_bytes(command.type),
                                                command.type));
      }
    }
  }
  const graph::DType type = command.type == Element::kI8 ? graph::DType::kInt8 : graph::DType::kInt16;
  reference::test::OperatorCase test;
  test.op = command.mode == PoolMode::kAvg ? graph::Op::kAvgPool2d : graph::Op::kMaxPool2d;
  test.inputs = {reference::test::value_of(type, {1, command.in_h, command.in_w, command.channels}, numbers)};
  if (command.mode == PoolMode::kAvg) {
    const auto header = contract::ParameterHeader::load(memory.at(command.params));
    test.inputs.push_back(reference::test::value_of(type, {1}, {header.input_zp}));
    test.inputs.push_back(reference::test::value_of(type, {1}, {header.output_zp}));
  }
  test.result_type = type;
  test.result_shape = {1, command.out_h, command.out_w, command.channels};
  test.attributes.kernel = {static_cast<int32_t>(command.kernel_h), static_cast<int32_t>(command.kernel_w)};
  test.attributes.stride = {static_cast<int32_t>(command.stride_y), static_cast<int32_t>(command.stride_x)};
  test.attributes.pad = {command.pad_top, static_cast<int32_t>(bottom), command.pad_left, static_cast<int32_t>(right)};
  test.attributes.acc_type = graph::DType::kInt32;
  try {
    return test.numbers();
  } catch (const Error&) {
    return std::nullopt;
  }
}

// Tiles whose ports were compared with the schedule in every cycle.
struct PortErrors {
  uint64_t tiles = 0, throttled = 0, cycles = 0, throttled_cycles = 0, differing = 0;
  void add(const timing::PortWatch& watch, bool is_throttled) {
    ++tiles;
    throttled += is_throttled ? 1 : 0;
    cycles += watch.cycles();
    throttled_cycles += is_throttled ? watch.cycles() : 0;
    differing += watch.difference().empty() ? 0 : 1;
  }
};

class VpuBlock : public testing::TestWithParam<const char*> {
 protected:
  // Runs a tile on the RTL and on the model: all of memory must be equal afterwards, the cycles those of the formula,
  // or at least as many when memory throttles the ports, and what these ask for what their schedule says.
  template <class Command>
  void check(const Command& command, std::vector<uint32_t> bases, TestMemory& memory, uint64_t formula,
             uint64_t elements, Random& random, bool throttled, const std::string& text) {
    std::vector<uint8_t> bytes = memory.scratchpad();
    VpuMemory served(bytes, std::move(bases));
    VpuGates gates;
    if (throttled) {
      const bool starved = formula < 300 && random.chance(10);
      for (Throttle* gate : {&gates.parameters, &gates.reads, &gates.writes}) {
        *gate = Throttle(random.bits(), random.pick({starved ? 1 : 10, 50, 80, 95, 100}));
      }
    }
    timing::PortWatch watch(timing::vpu_ports(command, caps_));
    const uint64_t cycles = run_vpu(*block_, command, served, gates, formula * 400 + 10'000, &watch);
    ports_.add(watch, throttled);
    EXPECT_EQ(watch.difference(), "") << text;
    ASSERT_NE(cycles, 0u) << "the block does not end: " << text;
    EXPECT_EQ(served.outside(), 0u) << text;
    reads_without_lanes_ += served.without_lanes();
    if (throttled) {
      EXPECT_GE(cycles, formula) << text;
    } else {
      cycles_.add(cycles, formula);
      EXPECT_EQ(cycles, formula) << text;
    }
    ASSERT_EQ(model_->run(engine::testing::encode(command), memory, /*timed=*/false).error, contract::ErrorCode::kOk)
        << text;
    ++tiles_;
    elements_ += elements;
    const auto difference = std::mismatch(bytes.begin(), bytes.end(), memory.scratchpad().begin());
    if (difference.first == bytes.end()) return;
    ++differing_;
    FAIL() << "byte " << difference.first - bytes.begin() << " is " << int{*difference.first} << ", the model has "
           << int{*difference.second} << ": " << text;
  }

  // The results, which RTL and model agree on, once more.
  void compare_with_reference(const VpuReduceCommand& command, const TestMemory& before, const TestMemory& after,
                              const std::string& text) {
    const std::optional<std::vector<int64_t>> wanted = by_reference(command, before);
    if (!wanted) return;
    const Element type = command.op == ReduceOp::kArgmax ? Element::kI32 : command.type;
    for (size_t i = 0; i < wanted->size(); ++i) {
      const auto o = static_cast<int64_t>(i / command.inner), j = static_cast<int64_t>(i % command.inner);
      const uint8_t* at = after.at(command.dst) + o * command.dst_outer_stride + j * element_bytes(type);
      ASSERT_EQ(engine::testing::load(at, type), (*wanted)[i]) << "reference, element " << i << ": " << text;
    }
    ++judged_by_reference_;
  }

  void compare_with_reference(const VpuPoolCommand& command, const TestMemory& before, const TestMemory& after,
                              const std::string& text) {
    const std::optional<std::vector<int64_t>> wanted = by_reference(command, before);
    if (!wanted) return;
    for (size_t i = 0; i < wanted->size(); ++i) {
      const auto pixel = static_cast<int64_t>(i / command.channels),
                 channel = static_cast<int64_t>(i % command.channels);
      const uint8_t* at = after.at(command.dst) + pixel / command.out_w * command.dst_row_stride +
                          pixel % command.out_w * command.dst_pixel_stride + channel * element_bytes(command.type);
      ASSERT_EQ(engine::testing::load(at, command.type), (*wanted)[i]) << "reference, element " << i << ": " << text;
    }
    ++judged_by_reference_;
  }

  void TearDown() override {
    if (judged_by_reference_ > 0) {
      std::printf("%s: %llu tiles also judged by the reference\n", GetParam(),
                  static_cast<unsigned long long>(judged_by_reference_));
    }
    std::printf("%s: %llu tiles, %llu elements compared, %llu tiles differ, cycles equal in %llu of %llu, worst %lld\n",
                GetParam(), static_cast<unsigned long long>(tiles_), static_cast<unsigned long long>(elements_),
                static_cast<unsigned long long>(differing_), static_cast<unsigned long long>(cycles_.exact),
                static_cast<unsigned long long>(cycles_.count), static_cast<long long>(cycles_.worst));
    fmt::print(
        "{}: ports compared in {} cycles of {} tiles, with memory that throttles in {} cycles of {}; {} differ\n",
        GetParam(), ports_.cycles, ports_.tiles, ports_.throttled_cycles, ports_.throttled, ports_.differing);
  }

  // Half of what is drawn, where the machine has it.
  bool of_floats(Random& random) const { return caps_.vpu_float != 0 && random.chance(50); }

  const Capabilities caps_ = tested_sizes(GetParam());
  std::unique_ptr<Vpu> block_ = make_tested_vpu(GetParam());
  std::unique_ptr<engine::Engine> model_ = engine::make_vpu_model(caps_);
  cosim::CycleComparison cycles_;  // of tiles without back-pressure
  PortErrors ports_;
  uint64_t reads_without_lanes_ = 0;  // of poolings, in padding
  uint64_t tiles_ = 0, elements_ = 0, differing_ = 0, judged_by_reference_ = 0;
};

uint64_t stores(const VpuEwiseCommand& command) {
  return static_cast<uint64_t>(
      std::count_if(command.uops.begin(), command.uops.end(), [](const Uop& u) { return u.op == UopCode::kStore; }));
}

std::string describe(const VpuEwiseCommand& command, const Random& random, int i) {
  return fmt::format("tile {}, {}, {}", i, random.name(), cosim::describe(command));
}

// Programs of the element-wise unit tests: every micro-operation, type, broadcast, gap, reversal and per-channel
// parameters. One value at a time gives the expected bytes too.
TEST_P(VpuBlock, RandomProgramsEqualScalarOnes) {
  Random random(seed(7'000));
  std::map<UopCode, int> seen;
  for (int i = 0; i < 5'000 && !HasFailure(); ++i) {
    EwiseCase test = engine::testing::make_ewise_case(cosim::random_ewise(random, of_floats(random)), random);
    if (test.elements > (i % 50 == 0 ? 20'000 : 2'000)) continue;
    if (timing::table_rows_of(test.command, caps_) > timing::table_rows(caps_)) {
      EXPECT_THROW(block_->start(test.command), Error);
      continue;
    }
    for (const Uop& uop : test.command.uops) ++seen[uop.op];
    const uint64_t formula = timing::vpu_cycles(test.command, caps_).total();
    const std::string text = describe(test.command, random, i);
    check(test.command, bases_of(test.command), test.memory, formula,
          static_cast<uint64_t>(test.elements) * stores(test.command), random, i % 3 == 2, text);
    ASSERT_EQ(test.memory.scratchpad(), test.expected) << "model and scalar arithmetic differ: " << text;
  }
  EXPECT_EQ(seen.size(), caps_.vpu_float != 0 ? size_t{contract::kUopCount} : static_cast<size_t>(UopCode::kFadd));
  for (const auto& [op, count] : seen) EXPECT_GE(count, 50) << name(op);
}

// Programs of up to 32 micro-operations over all registers, so that results are forwarded at every distance.
TEST_P(VpuBlock, LongPrograms) {
  Random random(seed(8'000));
  for (int i = 0; i < 3'000 && !HasFailure(); ++i) {
    cosim::EwisePlan plan = cosim::random_ewise(random, of_floats(random));
    if (plan.elements() > 500 || timing::table_rows_of(plan.command, caps_) > timing::table_rows(caps_)) continue;
    lengthen(plan, random, caps_.vpu_registers);
    EwiseCase test = engine::testing::make_ewise_case(plan, random);
    const VpuEwiseCommand& command = test.command;
    const uint64_t elements = static_cast<uint64_t>(test.elements) * stores(command);
    check(command, bases_of(command), test.memory, timing::vpu_cycles(command, caps_).total(), elements, random,
          i % 3 == 2, describe(command, random, i));
    ASSERT_EQ(test.memory.scratchpad(), test.expected)
        << "model and scalar arithmetic differ: " << describe(command, random, i);
  }
}

TEST_P(VpuBlock, InPlace) {
  Random random(seed(9'000));
  for (int i = 0; i < 200 && !HasFailure(); ++i) {
    VpuEwiseCommand command;
    command.dims = {1, 2, static_cast<uint32_t>(random.between(1, 5)), static_cast<uint32_t>(random.between(1, 300))};
    command.register_count = 2;
    Operand operand;
    operand.type = random.pick({Element::kI8, Element::kI32, Element::kI48});
    operand.base = engine::testing::scratchpad(4);
    const auto bytes = static_cast<int32_t>(element_bytes(operand.type)),
               row = static_cast<int32_t>(command.dims[3]) * bytes;
    operand.stride = {0, row * static_cast<int32_t>(command.dims[2]), row, bytes};
    command.operands = {operand};
    command.uops = {
        {UopCode::kLoad, 0, 0, 0, 0, 0}, {UopCode::kBitNot, 1, 0, 0, 0, 0}, {UopCode::kStore, 0, 1, 0, 0, 0}};
    TestMemory memory(static_cast<size_t>(operand.stride[1]) * 2 + 8);
    random.fill(memory.scratchpad());
    check(command, bases_of(command), memory, timing::vpu_cycles(command, caps_).total(),
          static_cast<uint64_t>(operand.stride[1]) * 2 / static_cast<uint64_t>(bytes), random, i % 3 == 2,
          describe(command, random, i));
  }
}

TEST_P(VpuBlock, Reductions) {
  Random random(seed(10'000));
  for (int i = 0; i < 4'200 && !HasFailure(); ++i) {
    VpuReduceCommand shape = cosim::random_reduce(random, caps_.vpu_lanes);
    if (of_floats(random)) make_float(shape, random);
    cosim::MadeTile<VpuReduceCommand> made = cosim::make_reduce_tile(shape, random);
    const VpuReduceCommand& command = made.command;
    const TestMemory before(std::move(made.bytes));
    TestMemory memory = before;
    const std::string text = fmt::format("tile {}, {}, {}", i, random.name(), cosim::describe(command));
    check(command, {command.src.offset, command.dst.offset}, memory, timing::vpu_cycles(command, caps_).total(),
          uint64_t{command.outer} * command.inner, random, i % 3 == 2, text);
    if (i % 2 == 0) compare_with_reference(command, before, memory, text);
  }
}

TEST_P(VpuBlock, Poolings) {
  Random random(seed(11'000));
  for (int i = 0; i < 4'000 && !HasFailure(); ++i) {
    VpuPoolCommand shape = cosim::random_pool(random, caps_.vpu_lanes);
    if (of_floats(random)) make_float(shape, random);
    cosim::MadeTile<VpuPoolCommand> made = cosim::make_pool_tile(shape, random);
    const VpuPoolCommand& command = made.command;
    const TestMemory before(std::move(made.bytes));
    TestMemory memory = before;
    const std::string text = fmt::format("tile {}, {}, {}", i, random.name(), cosim::describe(command));
    check(command, {command.src.offset, command.dst.offset, command.params.offset}, memory,
          timing::vpu_cycles(command, caps_).total(), uint64_t{command.out_h} * command.out_w * command.channels,
          random, i % 3 == 2, text);
    compare_with_reference(command, before, memory, text);
  }
  EXPECT_GE(judged_by_reference_, 500u);
  EXPECT_GE(reads_without_lanes_, 1'000u);
}

// The reciprocal of every count up to 600, at both ends of the values.
TEST_P(VpuBlock, EveryCountOfAverages) {
  Random random(seed(12'000));
  for (uint32_t count = 1; count <= 600 && !HasFailure(); ++count) {
    VpuPoolCommand command;
    command.mode = PoolMode::kAvg;
    command.type = count % 3 == 0 ? Element::kI16 : Element::kI8;
    command.in_h = command.kernel_h = count;
    command.in_w = command.out_h = command.out_w = command.kernel_w = command.stride_y = command.stride_x = 1;
    command.channels = static_cast<uint32_t>(element_bytes(command.type) == 2 ? 5 : 9);
    command.src_pixel_stride = command.src_row_stride =
        static_cast<int32_t>(command.channels * element_bytes(command.type));
    command.params = engine::testing::scratchpad(0);
    command.dst = engine::testing::scratchpad(32);
    command.src = engine::testing::scratchpad(64);
    TestMemory memory(64 + static_cast<size_t>(command.src_row_stride) * count);
    random.fill(memory.scratchpad());
    if (count % 4 == 0) std::fill(memory.scratchpad().begin() + 64, memory.scratchpad().end(), uint8_t{0x80});
    contract::ParameterHeader{}.store(memory.at(command.params));
    const TestMemory before = memory;
    check(command, {64, 32, 0}, memory, timing::vpu_cycles(command, caps_).total(), command.channels, random,
          /*throttled=*/false, fmt::format("count {}", count));
    compare_with_reference(command, before, memory, fmt::format("count {}", count));
  }
}

// A single 1 in the window leaves the reciprocal of its count.
TEST_P(VpuBlock, EveryCountOfFloatAverages) {
  if (caps_.vpu_float == 0) GTEST_SKIP() << "the machine has no floating point";
  Random random(seed(12'500));
  for (uint32_t count = 1; count <= 3'000 && !HasFailure(); count += count < 300 ? 1 : 7) {
    VpuPoolCommand command;
    command.mode = PoolMode::kAvg;
    command.type = Element::kF32;
    command.in_h = command.kernel_h = count;
    command.in_w = command.out_h = command.out_w = command.kernel_w = command.stride_y = command.stride_x = 1;
    command.channels = 3;
    command.src_pixel_stride = command.src_row_stride = 12;
    command.params = engine::testing::scratchpad(0);
    command.dst = engine::testing::scratchpad(32);
    command.src = engine::testing::scratchpad(64);
    TestMemory memory(64 + size_t{12} * count);
    const float one = 1.0F;
    std::memcpy(memory.at(command.src) + 12 * random.between(0, count - 1) + 4, &one, sizeof(one));
    const std::string text = fmt::format("count {}", count);
    check(command, {64, 32, 0}, memory, timing::vpu_cycles(command, caps_).total(), command.channels, random,
          /*throttled=*/false, text);
    float average = 0;
    std::memcpy(&average, memory.at(command.dst) + 4, sizeof(average));
    ASSERT_EQ(average, static_cast<float>(1.0 / count)) << text;
  }
}

// Axes, counts and strides of many bits.
TEST_P(VpuBlock, LongAndFarTiles) {
  Random random(seed(13'000));
  constexpr uint32_t kResults = 1u << 21;
  TestMemory memory(2 * size_t{kResults});
  random.fill(memory.scratchpad());
  const auto reduce = [&](VpuReduceCommand command, const std::string& text) {
    command.type = Element::kI8;
    command.op = random.pick({ReduceOp::kMax, ReduceOp::kMin, ReduceOp::kArgmax});
    command.dst = engine::testing::scratchpad(kResults);
    const TestMemory before = memory;
    check(command, {0, kResults}, memory, timing::vpu_cycles(command, caps_).total(),
          uint64_t{command.outer} * command.inner, random, /*throttled=*/false, text);
    compare_with_reference(command, before, memory, text);
  };
  struct Sizes {
    uint32_t outer, axis, inner;
  };
  for (const auto& [outer, axis, inner] :
       {Sizes{1, 50'000, 1}, Sizes{1, 65'000, 1}, Sizes{40'000, 1, 1}, Sizes{1, 2, 40'000}, Sizes{2, 1, 25'000}}) {
    VpuReduceCommand command;
    command.outer = outer, command.axis = axis, command.inner = inner;
    command.src_axis_stride = static_cast<int32_t>(inner);
    command.src_outer_stride = static_cast<int32_t>(axis * inner);
    command.dst_outer_stride = static_cast<int32_t>(4 * inner);
    reduce(command, fmt::format("{}x{}x{}", outer, axis, inner));
  }
  for (int i = 0; i < 20 && !HasFailure(); ++i) {
    VpuReduceCommand command;
    command.outer = command.axis = 2;
    command.inner = 3;
    command.src_axis_stride = static_cast<int32_t>(random.between(3, kResults / 3));
    command.src_outer_stride = static_cast<int32_t>(random.between(3, kResults / 3));
    command.dst_outer_stride = static_cast<int32_t>(random.between(12, kResults - 16));
    reduce(command, fmt::format("far tile {}", i));
  }
  for (int i = 0; i < 40 && !HasFailure(); ++i) {
    VpuPoolCommand command;
    command.mode = PoolMode::kMax;
    command.type = Element::kI8;
    command.in_h = command.in_w = command.kernel_h = command.kernel_w = 2;
    command.out_h = command.out_w = 1;
    command.channels = 3;
    // A step of many bits leads behind the input, where padding is.
    command.stride_y = static_cast<uint32_t>(random.between(1, 65'535));
    command.stride_x = static_cast<uint32_t>(random.between(1, 65'535));
    if (i % 4 == 0) command.out_w = 2, command.in_w = command.stride_x + 2;
    if (i % 4 == 1) command.out_h = 2, command.in_h = command.stride_y + 2;
    if (i % 4 == 3) command.kernel_h = static_cast<uint32_t>(random.between(2, 3000)), command.in_h = command.kernel_h;
    command.src_pixel_stride = static_cast<int32_t>(random.between(3, kResults / 4 / command.in_w));
    command.src_row_stride = static_cast<int32_t>(random.between(3, kResults / 4 / command.in_h));
    command.dst_pixel_stride = static_cast<int32_t>(random.between(3, kResults / 3));
    command.dst_row_stride = static_cast<int32_t>(random.between(3, kResults / 3));
    command.dst = engine::testing::scratchpad(kResults);
    command.params = engine::testing::scratchpad(2 * kResults - 64);
    check(command, {0, kResults, 2 * kResults - 64}, memory, timing::vpu_cycles(command, caps_).total(),
          uint64_t{command.out_h} * command.out_w * command.channels, random, /*throttled=*/false,
          fmt::format("far pooling {}", i));
  }
}

TEST(VpuWrapper, SaysWhatItCannotDo) {
  EXPECT_THROW((void)make_vpu("server"), Error);
  VpuEwiseCommand command;
  command.register_count = sizes_of(built_machines()[0]).vpu_registers + 1;
  EXPECT_THROW(make_vpu(built_machines()[0])->start(command), Error);
  VpuPoolCommand pool;
  pool.in_h = pool.in_w = pool.out_h = pool.out_w = pool.kernel_h = pool.kernel_w = 1;
  pool.stride_y = pool.stride_x = 3;
  pool.out_w = 1'000'000'000;
  EXPECT_THROW(make_vpu(built_machines()[0])->start(pool), Error);
}

INSTANTIATE_TEST_SUITE_P(Presets, VpuBlock, testing::ValuesIn(tested_machines()));

}  // namespace
}  // namespace npu::rtl::test
