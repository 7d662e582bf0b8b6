// SPDX-License-Identifier: Apache-2.0
// Commands that are wrong: each is refused with its code, none crashes, hangs or writes anything.
#include <gtest/gtest.h>

#include <functional>

#include "hw/contract/gen/micro_operations.h"
#include "hw/engine/mxu_model.h"
#include "hw/engine/vpu_model.h"
#include "sim/cosim/random_floats.h"
#include "tests/unit/engine/mxu_case.h"
#include "tests/unit/engine/scalar_uops.h"
#include "tests/unit/engine/support.h"

namespace npu::engine::testing {
namespace {

using contract::Element;
using contract::ErrorCode;
using contract::MxuCommand;
using contract::Operand;
using contract::PoolMode;
using contract::ReduceOp;
using contract::Rescale;
using contract::Uop;
using contract::UopCode;
using contract::VpuEwiseCommand;
using contract::VpuPoolCommand;
using contract::VpuReduceCommand;

template <class Command>
struct Mistake {
  const char* what;
  std::function<void(Command&)> make;
  ErrorCode code = ErrorCode::kFaultBadCommand;
};

template <class Command>
void expect_refused(Engine& engine, const Command& good, const TestMemory& memory,
                    const std::vector<Mistake<Command>>& mistakes) {
  TestMemory fine = memory;
  ASSERT_EQ(engine.run(encode(good), fine, true).error, ErrorCode::kOk) << "the command without a mistake";
  for (const Mistake<Command>& mistake : mistakes) {
    Command command = good;
    mistake.make(command);
    TestMemory copy = memory;
    const TileResult result = engine.run(encode(command), copy, true);
    EXPECT_EQ(result.error, mistake.code) << mistake.what;
    EXPECT_EQ(result.cycles, 0u) << mistake.what;
    EXPECT_EQ(result.ports.schedule, nullptr) << mistake.what;
    EXPECT_EQ(copy.scratchpad(), memory.scratchpad()) << mistake.what;
  }
}

constexpr ErrorCode kOut = ErrorCode::kFaultOutOfBounds;

TEST(Malformed, MxuWithPixelsSideBySide) {
  Random random(116);
  MxuShape shape;
  shape.in_h = shape.in_w = 4;
  shape.in_c = 6;
  shape.out_c = 16;
  shape.side_by_side_log2 = 1;
  shape.rescale = Rescale::kDouble32;
  shape.dst_type = Element::kI8;
  cosim::add_residual(shape, random);
  const MxuCase test = make_case(shape, random);
  const std::unique_ptr<Engine> engine = make_mxu_model(test_machine());
  using M = MxuCommand;
  expect_refused<M>(*engine, test.command, test.memory,
                    {{"columns that are no multiple", [](M& c) { c.out_w = 3; }},
                     {"more pixels than columns", [](M& c) { c.side_by_side_log2 = 3; }},
                     {"a gap between results",
                      [](M& c) {
                        c.dst_pixel_stride += 1;
                        c.dst_row_stride += 4;
                      }},
                     {"results in reverse", [](M& c) { c.dst_pixel_stride *= -1; }},
                     {"a gap between pixels of the residual", [](M& c) { c.residual_pixel_stride += 1; }},
                     {"repeated pixels of the residual", [](M& c) { c.residual_pixel_stride = 0; }},
                     {"matmul", [](M& c) {
                        c.mode = contract::MxuMode::kMatmul;
                        c.residual = contract::Residual::kNone;
                        c.in_h = c.out_h = 1;
                      }}});
}

TEST(Malformed, Mxu) {
  Random random(111);
  MxuShape shape;
  shape.in_h = shape.in_w = 4;
  shape.in_c = 6;
  shape.out_c = 5;
  shape.rescale = Rescale::kDouble32;
  shape.dst_type = Element::kI8;
  const MxuCase test = make_case(shape, random);
  const std::unique_ptr<Engine> engine = make_mxu_model(test_machine());
  using M = MxuCommand;
  expect_refused<M>(*engine, test.command, test.memory,
                    {{"mode", [](M& c) { c.mode = static_cast<contract::MxuMode>(9); }},
                     {"rescale", [](M& c) { c.rescale = static_cast<Rescale>(200); }},
                     {"source type", [](M& c) { c.src_type = Element::kI32; }},
                     {"unknown type", [](M& c) { c.weight_type = static_cast<Element>(15); }},
                     {"wide weights in a convolution", [](M& c) { c.src_type = c.weight_type = Element::kI16; }},
                     {"wide times narrow in a matmul",
                      [](M& c) {
                        c.mode = contract::MxuMode::kMatmul;
                        c.src_type = Element::kI16;
                      }},
                     {"raw result of the wrong type", [](M& c) { c.rescale = Rescale::kNone; }},
                     {"32-bit scale of a wide accumulator", [](M& c) { c.src_type = Element::kI16; }},
                     {"result type", [](M& c) { c.dst_type = Element::kBool; }},
                     {"unsigned 32-bit result",
                      [](M& c) {
                        c.dst_type = Element::kI32;
                        c.output_unsigned = true;
                      }},
                     {"no rows", [](M& c) { c.in_h = 0; }},
                     {"no channels", [](M& c) { c.in_c = 0; }},
                     {"no results", [](M& c) { c.out_w = 0; }},
                     {"no output channels", [](M& c) { c.out_c = 0; }},
                     {"no kernel", [](M& c) { c.kernel_w = 0; }},
                     {"stride 0", [](M& c) { c.stride_y = 0; }},
                     {"dilation 0", [](M& c) { c.dilation_x = 0; }},
                     {"depthwise channels",
                      [](M& c) {
                        c.mode = contract::MxuMode::kDepthwise;
                        c.multiplier = 3;
                      }},
                     {"depthwise multiplier 0",
                      [](M& c) {
                        c.mode = contract::MxuMode::kDepthwise;
                        c.multiplier = 0;
                      }},
                     {"matmul with rows", [](M& c) { c.mode = contract::MxuMode::kMatmul; }},
                     {"residual of floating point", [](M& c) { c.residual = contract::Residual::kFloating; }},
                     {"residual of results that are not scaled",
                      [](M& c) {
                        c.residual = contract::Residual::kScaleValue;
                        c.rescale = Rescale::kNone;
                        c.dst_type = Element::kI32;
                      }},
                     {"residual of 16 bits",
                      [](M& c) {
                        c.residual = contract::Residual::kScaleOperand;
                        c.dst_type = Element::kI16;
                      }},
                     {"residual of an unsigned result",
                      [](M& c) {
                        c.residual = contract::Residual::kScaleOperand;
                        c.output_unsigned = true;
                      }},
                     {"results overlap", [](M& c) { c.dst_pixel_stride = 4; }},
                     {"result rows overlap", [](M& c) { c.dst_row_stride = 0; }},
                     {"weights overlap", [](M& c) { c.w_stride = 1; }},
                     {"endless work",
                      [](M& c) {
                        c.out_h = c.out_w = c.in_h = c.in_w = UINT32_MAX;
                        c.src_row_stride = c.src_pixel_stride = 0;
                      }},
                     {"work that overflows", [](M& c) { c.in_c = c.out_c = c.out_h = c.out_w = UINT32_MAX; }},
                     {"source beyond the memory", [](M& c) { c.src.offset = 1 << 20; }, kOut},
                     {"source rows beyond the memory", [](M& c) { c.src_row_stride = INT32_MAX; }, kOut},
                     {"source rows before the memory", [](M& c) { c.src_row_stride = INT32_MIN; }, kOut},
                     {"weights beyond the memory", [](M& c) { c.weights.offset = UINT32_MAX; }, kOut},
                     {"weights in DRAM", [](M& c) { c.weights.region = contract::Region::kConstants; }, kOut},
                     {"unknown region", [](M& c) { c.src.region = static_cast<contract::Region>(77); }, kOut},
                     {"unknown variable", [](M& c) { c.src.region = contract::Region::kVariable; }, kOut},
                     {"parameters beyond the memory", [](M& c) { c.params.offset = 1 << 20; }, kOut},
                     {"results beyond the memory", [](M& c) { c.dst.offset = 1 << 20; }, kOut},
                     {"results before the memory", [](M& c) { c.dst_row_stride = -1000000; }, kOut}});
}

TEST(Malformed, MxuOfFloats) {
  Random random(117);
  MxuShape shape;
  shape.in_h = shape.in_w = 4;
  shape.in_c = 6;
  shape.out_c = 5;
  make_float(shape, Element::kF16, random);
  shape.dst_type = Element::kF16;
  const MxuCase test = make_case(shape, random);
  using M = MxuCommand;
  const std::vector<Mistake<M>> mistakes = {
      {"two formats", [](M& c) { c.weight_type = Element::kBf16; }},
      {"two formats of 8 bits",
       [](M& c) {
         c.src_type = Element::kF8e4m3;
         c.weight_type = Element::kF8e5m2;
       }},
      {"integer weights", [](M& c) { c.weight_type = Element::kI8; }},
      {"integer source", [](M& c) { c.src_type = Element::kI8; }},
      {"integer source of 16 bits", [](M& c) { c.src_type = Element::kI16; }},
      {"integers whose output stage is of floating point", [](M& c) { c.src_type = c.weight_type = Element::kI8; }},
      {"raw accumulators",
       [](M& c) {
         c.rescale = Rescale::kNone;
         c.dst_type = Element::kF32;
       }},
      {"integer scale", [](M& c) { c.rescale = Rescale::kSingle32; }},
      {"integer result", [](M& c) { c.dst_type = Element::kI16; }},
      {"result of 8 bits", [](M& c) { c.dst_type = Element::kF8e4m3; }},
      {"other result of 8 bits", [](M& c) { c.dst_type = Element::kF8e5m2; }},
      {"unsigned result", [](M& c) { c.output_unsigned = true; }},
      {"residual of integers", [](M& c) { c.residual = contract::Residual::kScaleOperand; }},
      {"other residual of integers", [](M& c) { c.residual = contract::Residual::kScaleValue; }},
      {"residual beyond the memory",
       [](M& c) {
         c.residual = contract::Residual::kFloating;
         c.residual_src.offset = 1 << 20;
       },
       kOut},
      {"unknown format", [](M& c) { c.src_type = c.weight_type = static_cast<Element>(10); }},
  };
  expect_refused<M>(*make_mxu_model(test_machine()), test.command, test.memory, mistakes);
  // Whose array has no order for its sums.
  contract::Capabilities without = test_machine();
  without.mxu_fp16_cycles = 0;
  TestMemory memory = test.memory;
  EXPECT_EQ(make_mxu_model(without)->run(test.words, memory, true).error, ErrorCode::kFaultBadCommand);
  EXPECT_EQ(memory.scratchpad(), test.memory.scratchpad());
}

TEST(Malformed, WrongLengthOrOpcode) {
  Random random(112);
  const MxuCase test = make_case(MxuShape{}, random);
  EwiseCase ewise = make_ewise_case(random);
  TestMemory memory = test.memory;
  const std::unique_ptr<Engine> mxu = make_mxu_model(test_machine()), vpu = make_vpu_model(test_machine());
  for (const std::vector<uint32_t>& words : {test.words, ewise.words}) {
    for (size_t length = 0; length < words.size(); ++length) {
      const std::span<const uint32_t> cut(words.data(), length);
      EXPECT_EQ(mxu->run(cut, memory, true).error, ErrorCode::kFaultBadCommand);
      EXPECT_EQ(vpu->run(cut, memory, true).error, ErrorCode::kFaultBadCommand);
    }
  }
  EXPECT_EQ(mxu->run(ewise.words, memory, true).error, ErrorCode::kFaultBadCommand);
  EXPECT_EQ(vpu->run(test.words, memory, true).error, ErrorCode::kFaultBadCommand);
  for (const uint32_t counts : {0xffffffffu, 0x00000000u, 0x00ff0002u, 0x05200900u}) {
    std::vector<uint32_t> words = ewise.words;
    words[9] = counts;
    EXPECT_EQ(vpu->run(words, ewise.memory, true).error, ErrorCode::kFaultBadCommand) << counts;
  }
}

TEST(Malformed, Ewise) {
  // out[i] = rescale(table16(table8(a[i]) + a[i])), 3 x 10 elements.
  VpuEwiseCommand good;
  good.dims = {1, 1, 3, 10};
  good.register_count = 3;
  good.operands.resize(5);
  good.operands[0].base = scratchpad(0);
  good.operands[0].stride = {0, 0, 10, 1};
  good.operands[1].base = scratchpad(64);
  good.operands[1].stride = {0, 0, 10, 1};
  good.operands[2].base = scratchpad(128);
  good.operands[2].bytes = 256;
  good.operands[3].base = scratchpad(512);
  good.operands[3].bytes = 1026;
  good.operands[4].base = scratchpad(2048);
  good.operands[4].bytes = 32 + 10 * 16;
  const int32_t fields = static_cast<int32_t>(Rescale::kSingle32) | 1 << 8;
  good.uops = {{UopCode::kLoad, 0, 0, 0, 0, 0},         {UopCode::kTable8, 1, 0, 2, 0, 0},
               {UopCode::kAdd, 2, 0, 1, 0, 0},          {UopCode::kTable16, 2, 2, 3, 0, 0},
               {UopCode::kRescale, 2, 2, 4, fields, 0}, {UopCode::kStore, 0, 2, 1, 0, 0}};
  TestMemory memory(4096);
  const std::unique_ptr<Engine> engine = make_vpu_model(test_machine());
  using E = VpuEwiseCommand;
  const auto insert = [](Uop uop) { return [uop](E& c) { c.uops.insert(c.uops.begin() + 1, uop); }; };
  std::vector<Mistake<E>> mistakes = {
      {"no elements", [](E& c) { c.dims[1] = 0; }},
      {"endless work",
       [](E& c) {
         c.dims = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
       }},
      {"no program", [](E& c) { c.uops.clear(); }},
      {"shift of booleans", insert({UopCode::kShl, 1, 0, 0, 4, 0})},
      {"logical shift of booleans", insert({UopCode::kShrLogical, 1, 0, 0, 4, 0})},
      {"no store", [](E& c) { std::erase_if(c.uops, [](const Uop& uop) { return uop.op == UopCode::kStore; }); }},
      {"unknown operation", insert({static_cast<UopCode>(contract::kUopCount), 0, 0, 0, 0, 0})},
      {"unknown type", [](E& c) { c.operands[0].type = static_cast<Element>(10); }},
      {"register beyond the count", [](E& c) { c.register_count = 2; }},
      {"no registers", [](E& c) { c.register_count = 0; }},
      {"result register", insert({UopCode::kAdd, 3, 0, 0, 0, 0})},
      {"register not written", insert({UopCode::kAdd, 1, 2, 0, 0, 0})},
      {"second register not written", insert({UopCode::kAdd, 1, 0, 255, 0, 0})},
      {"condition not written", insert({UopCode::kSelect, 1, 0, 0, 2, 0})},
      {"negative condition", insert({UopCode::kSelect, 1, 0, 0, -1, 0})},
      {"operand of a load", [](E& c) { c.uops[0].a = 5; }},
      {"load of a table", [](E& c) { c.uops[0].a = 2; }},
      {"flags of a load", [](E& c) { c.uops[0].imm0 = 2; }},
      {"operand of a store", [](E& c) { c.uops[5].b = 200; }},
      {"store to a table", [](E& c) { c.uops[5].b = 3; }},
      {"operand of a table", [](E& c) { c.uops[1].b = 9; }},
      {"a stream as table", [](E& c) { c.uops[1].b = 0; }},
      {"short table of bytes", [](E& c) { c.operands[2].bytes = 255; }},
      {"short table of words", [](E& c) { c.operands[3].bytes = 1025; }},
      {"table with strides", [](E& c) { c.operands[2].stride[3] = 1; }},
      {"short parameters", [](E& c) { c.operands[4].bytes = 32 + 9 * 16; }},
      {"kind of rescale", [](E& c) { c.uops[4].imm0 = 0; }},
      {"unknown kind of rescale", [](E& c) { c.uops[4].imm0 = 4; }},
      {"type of rescale", [fields](E& c) { c.uops[4].imm0 = fields | 3 << 16; }},
      {"unsigned 32-bit rescale", [fields](E& c) { c.uops[4].imm0 = fields | 2 << 16 | 1 << 24; }},
      {"flags of rescale", [fields](E& c) { c.uops[4].imm0 = fields | 2 << 24; }},
      {"channels of rescale", [](E& c) { c.uops[4].imm0 |= 2 << 8; }},
      {"shift of a product", insert({UopCode::kMul, 1, 0, 0, 64, 0})},
      {"negative shift of a product", insert({UopCode::kMul, 1, 0, 0, -1, 0})},
      {"type of a shift", insert({UopCode::kShl, 1, 0, 0, 5, 0})},
      {"negative type of a shift", insert({UopCode::kShrLogical, 1, 0, 0, -1, 0})},
      {"rounding of a shift", insert({UopCode::kShrArith, 1, 0, 0, 2, 0})},
      {"type of a cast", insert({UopCode::kCast, 1, 0, 0, 99, 0})},
      {"type of a negation", insert({UopCode::kNegate, 1, 0, 4, 0, 0})},
      {"repeated result", [](E& c) { c.operands[1].stride[2] = 0; }},
      {"overlapping result", [](E& c) { c.operands[1].stride[2] = 9; }},
      {"source beyond the memory", [](E& c) { c.operands[0].stride[3] = 1000; }, kOut},
      {"source before the memory", [](E& c) { c.operands[0].stride[3] = -1; }, kOut},
      {"result beyond the memory", [](E& c) { c.operands[1].base.offset = 4090; }, kOut},
      {"result in DRAM", [](E& c) { c.operands[1].base.region = contract::Region::kOutput; }, kOut},
      {"table beyond the memory", [](E& c) { c.operands[2].base.offset = 4000; }, kOut},
      {"table beyond the memory that no operation names",
       [](E& c) {
         c.operands.push_back(c.operands[2]);
         c.operands.back().base.offset = 4000;
       },
       kOut}};
  expect_refused<E>(*engine, good, memory, mistakes);
}

TEST(Malformed, EwiseOfFloats) {
  VpuEwiseCommand good;
  good.dims = {1, 1, 1, 4};
  good.register_count = 3;
  good.operands.resize(2);
  good.operands[0].type = good.operands[1].type = Element::kF16;
  good.operands[0].base = scratchpad(0);
  good.operands[1].base = scratchpad(64);
  good.operands[0].stride = good.operands[1].stride = {0, 0, 0, 2};
  const auto code = [](Element type) { return static_cast<int32_t>(type); };
  const int32_t f16 = code(Element::kF16);
  good.uops = {{UopCode::kLoad, 0, 0, 0, 0, 0},
               {UopCode::kFadd, 1, 0, 0, f16, 0},
               {UopCode::kFma, 2, 0, 1, 1, 0},
               {UopCode::kStore, 0, 2, 1, 0, 0}};
  TestMemory memory(128);
  using E = VpuEwiseCommand;
  const auto insert = [](Uop uop) { return [uop](E& c) { c.uops.insert(c.uops.begin() + 1, uop); }; };
  expect_refused<E>(*make_vpu_model(test_machine()), good, memory,
                    {{"sum in 8 bits", [&](E& c) { c.uops[1].imm0 = code(Element::kF8e4m3); }},
                     {"sum in integers", [&](E& c) { c.uops[1].imm0 = code(Element::kI32); }},
                     {"third factor not written", [](E& c) { c.uops[2].imm0 = 2; }},
                     {"third factor beyond the registers", [](E& c) { c.uops[2].imm0 = 3; }},
                     {"negative third factor", [](E& c) { c.uops[2].imm0 = -1; }},
                     {"NaNs of a maximum", insert({UopCode::kFmax, 1, 0, 0, 2, 0})},
                     {"NaNs of a minimum", insert({UopCode::kFmin, 1, 0, 0, -1, 0})},
                     {"NaNs of a clamp", insert({UopCode::kFclamp, 1, 0, 2, 0, 0})},
                     {"way of rounding", insert({UopCode::kFround, 1, 0, 0, 3, 0})},
                     {"cast to FP32", insert({UopCode::kFcast, 1, 0, 0, code(Element::kF32), 0})},
                     {"cast to integers", insert({UopCode::kFcast, 1, 0, 0, code(Element::kI8), 0})},
                     {"integers to 8 bits", insert({UopCode::kIntToFloat, 1, 0, 0, code(Element::kF8e5m2), 0})},
                     {"numbers to 48 bits", insert({UopCode::kFloatToInt, 1, 0, 0, code(Element::kI48), 0})},
                     {"numbers to truth", insert({UopCode::kFloatToInt, 1, 0, 0, code(Element::kBool), 0})},
                     {"integer cast to a format", insert({UopCode::kCast, 1, 0, 0, f16, 0})},
                     {"shift of a format", insert({UopCode::kShl, 1, 0, 0, f16, 0})},
                     {"flags of a load", [](E& c) { c.uops[0].imm0 = 2; }},
                     {"overlapping result", [](E& c) { c.operands[1].stride[3] = 1; }},
                     {"source beyond the memory", [](E& c) { c.operands[0].stride[3] = 60; }, kOut}});
}

TEST(Malformed, PoolOfFloats) {
  VpuPoolCommand good;
  good.mode = PoolMode::kMax;
  good.type = Element::kBf16;
  good.ignore_nan = true;
  good.in_h = good.in_w = 4;
  good.channels = 3;
  good.out_h = good.out_w = 2;
  good.kernel_h = good.kernel_w = good.stride_y = good.stride_x = 2;
  good.src = scratchpad(0);
  good.dst = scratchpad(128);
  good.src_row_stride = 24;
  good.src_pixel_stride = good.dst_pixel_stride = 6;
  good.dst_row_stride = 12;
  TestMemory memory(256);
  using P = VpuPoolCommand;
  expect_refused<P>(*make_vpu_model(test_machine()), good, memory,
                    {{"NaNs of integers", [](P& c) { c.type = Element::kI16; }},
                     {"unknown format", [](P& c) { c.type = static_cast<Element>(10); }},
                     {"NaNs of an average", [](P& c) { c.mode = PoolMode::kAvg; }},
                     {"overlapping results", [](P& c) { c.dst_pixel_stride = 4; }},
                     {"source beyond the memory", [](P& c) { c.type = Element::kF32, c.src.offset = 170; }, kOut}});
}

TEST(Malformed, ReduceOfFloats) {
  VpuReduceCommand good;
  good.op = ReduceOp::kMax;
  good.type = Element::kF16;
  good.ignore_nan = true;
  good.outer = 2;
  good.axis = 3;
  good.inner = 4;
  good.src = scratchpad(0);
  good.dst = scratchpad(128);
  good.src_outer_stride = 48;
  good.src_axis_stride = good.dst_outer_stride = 16;
  TestMemory memory(256);
  using R = VpuReduceCommand;
  expect_refused<R>(*make_vpu_model(test_machine()), good, memory,
                    {{"8 bits", [](R& c) { c.type = Element::kF8e4m3; }},
                     {"NaNs of integers", [](R& c) { c.type = Element::kI32; }},
                     {"NaNs of a sum", [](R& c) { c.op = ReduceOp::kSum; }},
                     {"NaNs of a product", [](R& c) { c.op = ReduceOp::kProduct; }},
                     {"all", [](R& c) { c.op = ReduceOp::kAll, c.ignore_nan = false; }},
                     {"any", [](R& c) { c.op = ReduceOp::kAny, c.ignore_nan = false; }},
                     {"sum of 8 bits",
                      [](R& c) {
                        c.op = ReduceOp::kSum;
                        c.ignore_nan = false;
                        c.type = Element::kF8e5m2;
                      }},
                     {"NaNs of integers that are compared",
                      [](R& c) {
                        c.op = ReduceOp::kArgmax;
                        c.type = Element::kI8;
                      }},
                     {"overlapping results", [](R& c) { c.dst_outer_stride = 4; }},
                     {"overlapping indices", [](R& c) {
                        c.op = ReduceOp::kArgmax;
                        c.dst_outer_stride = 8;
                      }}});
}

TEST(Malformed, Pool) {
  VpuPoolCommand good;
  good.mode = PoolMode::kAvg;
  good.in_h = good.in_w = 4;
  good.channels = 3;
  good.out_h = good.out_w = 2;
  good.kernel_h = good.kernel_w = good.stride_y = good.stride_x = 2;
  good.src = scratchpad(0);
  good.params = scratchpad(64);
  good.dst = scratchpad(128);
  good.src_row_stride = 12;
  good.src_pixel_stride = good.dst_pixel_stride = 3;
  good.dst_row_stride = 6;
  TestMemory memory(256);
  using P = VpuPoolCommand;
  expect_refused<P>(*make_vpu_model(test_machine()), good, memory,
                    {{"mode", [](P& c) { c.mode = static_cast<PoolMode>(2); }},
                     {"type", [](P& c) { c.type = Element::kI32; }},
                     {"no rows", [](P& c) { c.in_h = 0; }},
                     {"no channels", [](P& c) { c.channels = 0; }},
                     {"no results", [](P& c) { c.out_h = 0; }},
                     {"no window", [](P& c) { c.kernel_h = 0; }},
                     {"stride 0", [](P& c) { c.stride_x = 0; }},
                     {"endless work", [](P& c) { c.out_h = c.out_w = UINT32_MAX; }},
                     {"overlapping results", [](P& c) { c.dst_row_stride = 5; }},
                     {"source beyond the memory", [](P& c) { c.src.offset = 250; }, kOut},
                     {"parameters beyond the memory", [](P& c) { c.params.offset = 250; }, kOut},
                     {"results in DRAM", [](P& c) { c.dst.region = contract::Region::kWorkspace; }, kOut}});
}

TEST(Malformed, Reduce) {
  VpuReduceCommand good;
  good.op = ReduceOp::kSum;
  good.type = Element::kI32;
  good.outer = 2;
  good.axis = 3;
  good.inner = 4;
  good.src = scratchpad(0);
  good.dst = scratchpad(128);
  good.src_outer_stride = 48;
  good.src_axis_stride = good.dst_outer_stride = 16;
  TestMemory memory(256);
  using R = VpuReduceCommand;
  expect_refused<R>(*make_vpu_model(test_machine()), good, memory,
                    {{"operation", [](R& c) { c.op = static_cast<ReduceOp>(7); }},
                     {"type", [](R& c) { c.type = static_cast<Element>(9); }},
                     {"sum of bytes", [](R& c) { c.type = Element::kI8; }},
                     {"any of numbers", [](R& c) { c.op = ReduceOp::kAny; }},
                     {"argmax of truth",
                      [](R& c) {
                        c.op = ReduceOp::kArgmax;
                        c.type = Element::kBool;
                      }},
                     {"no axis", [](R& c) { c.axis = 0; }},
                     {"no rows", [](R& c) { c.outer = 0; }},
                     {"no inner", [](R& c) { c.inner = 0; }},
                     {"endless work", [](R& c) { c.outer = c.axis = UINT32_MAX; }},
                     {"overlapping results", [](R& c) { c.dst_outer_stride = 8; }},
                     {"source beyond the memory", [](R& c) { c.src.offset = 200; }, kOut},
                     {"results beyond the memory", [](R& c) { c.dst.offset = 250; }, kOut}});
}

// Random damage to good commands: any answer is fine, a crash or a write outside the memory is not.
TEST(Malformed, FlippedBitsDoNoHarm) {
  Random random(113);
  const std::unique_ptr<Engine> mxu = make_mxu_model(test_machine()), vpu = make_vpu_model(test_machine());
  int64_t refused = 0, ran = 0;
  const auto damage = [&](std::vector<uint32_t> words, TestMemory& memory, Engine& engine) {
    for (int64_t flips = random.between(1, 4); flips > 0; --flips) {
      words[static_cast<size_t>(random.between(5, static_cast<int64_t>(words.size()) - 1))] ^= 1u
                                                                                               << random.between(0, 31);
    }
    (engine.run(words, memory, true).error == ErrorCode::kOk ? ran : refused) += 1;
  };
  for (int i = 0; i < 150; ++i) {
    MxuShape shape = cosim::random_mxu_shape(random);
    shape.in_c = std::min<int64_t>(shape.in_c, 20);
    if (shape.mode == contract::MxuMode::kDepthwise) shape.out_c = shape.in_c * shape.multiplier;
    if (random.chance(40)) make_float(shape, *cosim::random_mxu_format(test_machine(), random), random);
    MxuCase test = make_case(shape, random);
    EwiseCase ewise = make_ewise_case(cosim::random_ewise(random, random.chance(50)), random);
    for (int k = 0; k < 20; ++k) {
      damage(test.words, test.memory, *mxu);
      damage(ewise.words, ewise.memory, *vpu);
    }
  }
  std::printf("%lld damaged commands refused, %lld ran\n", static_cast<long long>(refused),
              static_cast<long long>(ran));
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace npu::engine::testing
