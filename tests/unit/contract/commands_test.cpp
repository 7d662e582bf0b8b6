// SPDX-License-Identifier: Apache-2.0
// The command encoding: every bit of every command survives a round trip or is reserved, and some words written by
// hand.
#include "hw/contract/gen/commands.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "hw/contract/elements.h"

namespace npu::contract {
namespace {

using Words = std::vector<uint32_t>;

constexpr int kRounds = 200;

// Words that are a command but for the random values of its fields.
template <typename Command>
Words random_command(std::mt19937& random) {
  Words words(Command::kWords);
  for (uint32_t& word : words) word = random();
  if constexpr (requires(Command command) { command.operands; }) {
    const uint32_t operands = random() % (kMaxOperands + 1);
    const uint32_t uops = random() % (kMaxUops + 1);
    words[9] = (words[9] & 0xffff0000) | operands | uops << 8;
    for (uint32_t i = 0; i < operands * Operand::kWords + uops * Uop::kWords; ++i) words.push_back(random());
  }
  words[0] =
      (words[0] & 0xffff0000) | static_cast<uint32_t>(Command::kOpcode) | static_cast<uint32_t>(words.size()) << 8;
  return words;
}

template <typename Command>
class RoundTrip : public testing::Test {};

template <typename Variant>
struct TypesOf;
template <typename... Commands>
struct TypesOf<std::variant<Commands...>> {
  using Type = testing::Types<Commands...>;
};
using AllCommands = TypesOf<AnyCommand>::Type;
TYPED_TEST_SUITE(RoundTrip, AllCommands);

TYPED_TEST(RoundTrip, KeepsEveryBitThatIsNotReserved) {
  for (uint32_t seed = 1; seed <= kRounds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const Words words = random_command<TypeParam>(random);
    ASSERT_TRUE(well_formed(words));

    const TypeParam command = TypeParam::decode(words);
    Words again;
    command.encode(again);
    ASSERT_EQ(again.size(), words.size());
    EXPECT_TRUE(reserved_zero(again));
    EXPECT_EQ(TypeParam::decode(again), command);
    for (size_t i = 0; i < words.size(); ++i) {
      ASSERT_EQ(again[i] & ~words[i], 0u) << "word " << i << " has bits that were not set";
      // A bit that was lost must be one that is reserved.
      for (uint32_t lost = words[i] & ~again[i]; lost != 0; lost &= lost - 1) {
        Words marked = again;
        marked[i] |= lost & -lost;
        ASSERT_FALSE(reserved_zero(marked)) << "word " << i << " loses the bits " << std::hex << (lost & -lost);
      }
    }
  }
}

TYPED_TEST(RoundTrip, AppendsAndSetsOpcodeAndLength) {
  Words out{7, 8};
  TypeParam{}.encode(out);
  EXPECT_EQ(out[0], 7u);
  EXPECT_EQ(out[1], 8u);
  const auto words = std::span<const uint32_t>(out).subspan(2);
  EXPECT_TRUE(well_formed(words));
  EXPECT_EQ(command_words(words), TypeParam::kWords);
  EXPECT_EQ(Header::decode(words).opcode, TypeParam::kOpcode);
  EXPECT_EQ(Header::decode(words).words, TypeParam::kWords);
}

TYPED_TEST(RoundTrip, DecodesTruncatedCommandsWithoutHarm) {
  std::mt19937 random(1);
  const Words words = random_command<TypeParam>(random);
  for (size_t size = 0; size < words.size(); ++size) {
    const Words shorter(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(size));
    (void)TypeParam::decode(shorter);
    EXPECT_FALSE(well_formed(shorter)) << size;
  }
}

TEST(Commands, HeaderByHand) {
  EndCommand end;
  end.header = {.queue = Queue::kSequencer, .core = 0x5a, .layer = 0x1234};
  end.header.wait = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 255};
  Words words;
  end.encode(words);
  EXPECT_EQ(words, (Words{0x5a0f0502, 0x1234, 0x04030201, 0x08070605, 0xff0b0a09}));
}

TEST(Commands, DmaByHand) {
  DmaCommand dma;
  dma.header.queue = Queue::kDma3;
  dma.src = {.offset = 0x11223344, .region = Region::kConstants};
  dma.dst = {.offset = 0x55, .region = Region::kVariable, .variable = 0xabc};
  dma.mode = DmaMode::kFill;
  dma.commit = true;
  dma.fill_bytes = 4;
  dma.fill_value_lo = 0xdeadbeef;
  dma.fill_value_hi = 0x01020304;
  dma.run_bytes = 64;
  dma.count = {1, 2, 3, 4, 5};
  dma.src_stride = {0, -1, 2, -3, 4};
  dma.dst_stride = {10, 20, 30, 40, -50};
  Words words;
  dma.encode(words);
  Words expected = {0x00031e10, 0,          0,  0,  0,  0x11223344, 1,  0x55,       0x000abc0f, 0x00040101,
                    0xdeadbeef, 0x01020304, 64, 1,  2,  3,          4,  5,          0,          0xffffffff,
                    2,          0xfffffffd, 4,  10, 20, 30,         40, 0xffffffce, 0,          0};
  EXPECT_EQ(words, expected);
  dma.mode = DmaMode::kGather;
  dma.index = {.offset = 0x44, .region = Region::kInput};
  words.clear();
  dma.encode(words);
  expected[9] = 0x00040102;
  expected[28] = 0x44;
  expected[29] = 3;
  EXPECT_EQ(words, expected);
  EXPECT_EQ(DmaCommand::decode(words).index, dma.index);
}

TEST(Commands, MxuByHand) {
  MxuCommand mxu;
  mxu.header.queue = Queue::kMxu;
  mxu.mode = MxuMode::kDepthwise;
  mxu.rescale = Rescale::kDouble32;
  mxu.src_type = Element::kI16;
  mxu.weight_type = Element::kI8;
  mxu.dst_type = Element::kI48;
  mxu.output_unsigned = true;
  mxu.kernel_h = 3;
  mxu.kernel_w = 5;
  mxu.stride_y = 1;
  mxu.stride_x = 2;
  mxu.dilation_y = 7;
  mxu.dilation_x = 9;
  mxu.pad_top = -1;
  mxu.pad_left = 4;
  mxu.multiplier = 6;
  Words words;
  mxu.encode(words);
  ASSERT_EQ(words.size(), 36u);
  EXPECT_EQ(words[13], 0x13010201u);
  EXPECT_EQ(words[25], 0x00050003u);
  EXPECT_EQ(words[26], 0x00020001u);
  EXPECT_EQ(words[27], 0x00090007u);
  EXPECT_EQ(words[28], 0x0004ffffu);
  EXPECT_EQ(words[29], 6u);
}

TEST(Commands, ElementWiseByHand) {
  VpuEwiseCommand ewise;
  ewise.header.queue = Queue::kVpu;
  ewise.dims = {1, 2, 3, 4};
  ewise.register_count = 6;
  ewise.commit = true;
  ewise.operands = {{.base = {.offset = 32}, .type = Element::kI32, .stride = {0, 1, -1, 4}, .bytes = 9}};
  ewise.uops = {{.op = UopCode::kLoad, .dst = 1},
                {.op = UopCode::kClamp, .dst = 2, .a = 3, .b = 4, .imm0 = -128, .imm1 = 127}};
  Words words;
  ewise.encode(words);
  const Words expected = {0x00091a30, 0,          0, 0,          0,          1,          2, 3,
                          4,          0x01060201, 0, 0,                                         // fixed part
                          32,         0,          2, 0,          1,          0xffffffff, 4, 9,  // operand
                          0x00000100, 0,          0, 0x04030207, 0xffffff80, 127};              // micro-operations
  EXPECT_EQ(words, expected);
}

TEST(Commands, WellFormedRefusesWrongLengthsCountsAndOpcodes) {
  VpuEwiseCommand ewise;
  ewise.uops.resize(kMaxUops);
  ewise.operands.resize(kMaxOperands);
  Words words;
  ewise.encode(words);
  EXPECT_EQ(words.size(), kMaxCommandWords);
  EXPECT_TRUE(well_formed(words));

  Words count = words;
  count[9] -= 1;  // one operand less than there are words for
  EXPECT_FALSE(well_formed(count));
  count[9] = 0xffff;  // more operands and micro-operations than allowed
  EXPECT_FALSE(well_formed(count));
  Words longer = words;
  longer.push_back(0);
  EXPECT_FALSE(well_formed(longer));
  Words opcode = words;
  opcode[0] = (opcode[0] & ~0xffu) | 0x77;
  EXPECT_FALSE(well_formed(opcode));
  EXPECT_FALSE(well_formed({}));
  EXPECT_EQ(command_words({}), 0u);
}

TEST(Commands, EncodePanicsOnValuesThatDoNotFit) {
  Words out;
  MxuCommand mxu;
  mxu.kernel_h = 0x10000;
  EXPECT_DEATH(mxu.encode(out), "internal error");
  mxu.kernel_h = 1;
  mxu.pad_top = 0x8000;
  EXPECT_DEATH(mxu.encode(out), "internal error");
  mxu.pad_top = -0x8001;
  EXPECT_DEATH(mxu.encode(out), "internal error");
  mxu.pad_top = -0x8000;
  mxu.encode(out);
  EXPECT_EQ(MxuCommand::decode(out).pad_top, -0x8000);
  VpuEwiseCommand ewise;
  ewise.uops.resize(kMaxUops + 1);
  EXPECT_DEATH(ewise.encode(out), "internal error");
}

template <typename Structure>
void check_structure(size_t reserved_from) {
  for (uint32_t seed = 1; seed <= kRounds; ++seed) {
    std::mt19937 random(seed);
    std::vector<uint8_t> bytes(Structure::kBytes), again(Structure::kBytes, 0xee);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    for (size_t i = reserved_from; i < bytes.size(); ++i) bytes[i] = 0;
    const Structure value = Structure::load(bytes.data());
    value.store(again.data());
    ASSERT_EQ(again, bytes) << "seed " << seed;
    ASSERT_EQ(Structure::load(again.data()), value);
  }
}

TEST(Structures, KeepEveryByte) {
  check_structure<ParameterHeader>(ParameterHeader::kBytes);
  check_structure<ParameterEntry>(ParameterEntry::kBytes);
  check_structure<VariableEntry>(VariableEntry::kBytes);
  check_structure<Event>(56);
}

TEST(Structures, AreLittleEndian) {
  std::array<uint8_t, ParameterEntry::kBytes> bytes{};
  ParameterEntry{.bias = -2, .multiplier = 0x01020304, .shift = 31}.store(bytes.data());
  EXPECT_EQ(bytes, (std::array<uint8_t, 16>{0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 4, 3, 2, 1, 31, 0, 0, 0}));
}

TEST(Enums, NamesAreThoseOfTheContract) {
  EXPECT_EQ(name(Opcode::kVpuEwise), "vpu_ewise");
  EXPECT_EQ(name(Queue::kDma7), "dma7");
  EXPECT_EQ(name(UopCode::kShrLogical), "shr_logical");
  EXPECT_EQ(name(static_cast<Queue>(12)), "?");
  EXPECT_TRUE(known(Opcode::kBegin));
  EXPECT_FALSE(known(static_cast<Opcode>(0)));
  EXPECT_FALSE(known(static_cast<UopCode>(200)));
}

TEST(Enums, ElementBytes) {
  EXPECT_EQ(element_bytes(Element::kI8), 1u);
  EXPECT_EQ(element_bytes(Element::kI16), 2u);
  EXPECT_EQ(element_bytes(Element::kI32), 4u);
  EXPECT_EQ(element_bytes(Element::kI48), 8u);
  EXPECT_EQ(element_bytes(Element::kBool), 1u);
  EXPECT_EQ(element_bytes(Element::kF16), 2u);
  EXPECT_EQ(element_bytes(Element::kBf16), 2u);
  EXPECT_EQ(element_bytes(Element::kF32), 4u);
  EXPECT_EQ(element_bytes(Element::kF8e4m3), 1u);
  EXPECT_EQ(element_bytes(Element::kF8e5m2), 1u);
  EXPECT_EQ(element_bytes(static_cast<Element>(10)), 0u);
}

TEST(Enums, FloatingPoint) {
  int floats = 0;
  for (uint32_t type = 0; known(static_cast<Element>(type)); ++type) floats += is_float(static_cast<Element>(type));
  EXPECT_EQ(floats, 5);
  EXPECT_FALSE(is_float(Element::kI48));
  EXPECT_FALSE(is_float(Element::kBool));
  EXPECT_TRUE(is_float(Element::kF16));
  EXPECT_FALSE(is_float(static_cast<Element>(10)));
}

}  // namespace
}  // namespace npu::contract
