// SPDX-License-Identifier: Apache-2.0
// Packets of GDB's remote protocol, whole, in pieces and damaged.
#include "sim/platform/gdb_protocol.h"

#include <gtest/gtest.h>

namespace npu::platform::gdb::testing {
namespace {

using Kind = Input::Kind;

std::vector<Input> parse(std::string_view bytes, size_t piece = 1) {
  Parser parser;
  std::vector<Input> inputs;
  for (size_t at = 0; at < bytes.size(); at += piece) {
    parser.feed(bytes.substr(at, piece));
    while (auto input = parser.next()) inputs.push_back(*input);
  }
  return inputs;
}

TEST(GdbParserTest, PacketsInAnyPieces) {
  for (const size_t piece : {1, 2, 3, 100}) {
    const std::vector<Input> inputs = parse("+$qC#b4-$#00\x03", piece);
    ASSERT_EQ(inputs.size(), 5u);
    EXPECT_EQ(inputs[0].kind, Kind::kAck);
    EXPECT_EQ(inputs[1].kind, Kind::kPacket);
    EXPECT_EQ(inputs[1].data, "qC");
    EXPECT_EQ(inputs[2].kind, Kind::kResend);
    EXPECT_EQ(inputs[3].kind, Kind::kPacket);
    EXPECT_EQ(inputs[3].data, "");
    EXPECT_EQ(inputs[4].kind, Kind::kInterrupt);
  }
}

TEST(GdbParserTest, EscapesAndBinaryData) {
  // } 0x03 is '#', } 0x04 is '$', } ']' is '}'; 0x03 within a packet is data. Sum of the bytes as sent.
  const std::string sent("X}\x03}\x04}]\x03\x00", 9);
  unsigned sum = 0;
  for (const char value : sent) sum += static_cast<uint8_t>(value);
  char text[4];
  std::snprintf(text, sizeof text, "#%02x", sum & 0xff);
  const std::vector<Input> inputs = parse("$" + sent + text);
  ASSERT_EQ(inputs.size(), 1u);
  EXPECT_EQ(inputs[0].kind, Kind::kPacket);
  EXPECT_EQ(inputs[0].data, std::string("X#$}\x03\x00", 6));
}

TEST(GdbParserTest, WrongChecksums) {
  for (const char* bytes : {"$qC#b5", "$qC#zz", "$qC#b ", "$qc#b4"}) {
    const std::vector<Input> inputs = parse(bytes);
    ASSERT_EQ(inputs.size(), 1u) << bytes;
    EXPECT_EQ(inputs[0].kind, Kind::kDamaged) << bytes;
  }
}

TEST(GdbParserTest, APacketThatIsCutOffIsForgotten) {
  const std::vector<Input> inputs = parse("$m100,4$qC#b4$g#6$?#3f");
  ASSERT_EQ(inputs.size(), 2u);
  EXPECT_EQ(inputs[0].data, "qC");
  EXPECT_EQ(inputs[1].data, "?");
  EXPECT_TRUE(parse("$qC#b").empty());
  EXPECT_TRUE(parse("noise # } ").empty());
}

TEST(GdbParserTest, TheLongestPacketAndOneByteMore) {
  const std::string longest(kMaxPacket, 'a');
  std::vector<Input> inputs = parse(frame(longest), 1000);
  ASSERT_EQ(inputs.size(), 1u);
  EXPECT_EQ(inputs[0].kind, Kind::kPacket);
  EXPECT_EQ(inputs[0].data, longest);
  inputs = parse(frame(longest + "a") + "$qC#b4", 1000);
  ASSERT_EQ(inputs.size(), 2u);
  EXPECT_EQ(inputs[0].kind, Kind::kTooLong);
  EXPECT_EQ(inputs[0].data, "");
  EXPECT_EQ(inputs[1].data, "qC");
}

TEST(GdbFrameTest, ChecksumAndEscapes) {
  EXPECT_EQ(frame(""), "$#00");
  EXPECT_EQ(frame("OK"), "$OK#9a");  // 0x4f + 0x4b
  // 'a' 0x61, then '}' 0x7d and the byte with bit 5 turned: 0x03, 0x04, 0x5d, 0x0a; sum 0x2c3.
  EXPECT_EQ(frame("a#$}*"), "$a}\x03}\x04}]}\x0a#c3");
}

TEST(GdbHexTest, BytesAndRegisters) {
  EXPECT_EQ(to_hex(std::vector<uint8_t>{0, 0x1f, 0xa0}), "001fa0");
  EXPECT_EQ(from_hex("001Fa0"), (std::vector<uint8_t>{0, 0x1f, 0xa0}));
  EXPECT_EQ(from_hex(""), std::vector<uint8_t>());
  EXPECT_FALSE(from_hex("0"));
  EXPECT_FALSE(from_hex("0g"));
  EXPECT_EQ(register_to_hex(0x12345678), "78563412");
  EXPECT_EQ(register_from_hex("78563412"), 0x12345678u);
  EXPECT_FALSE(register_from_hex("785634"));
  EXPECT_FALSE(register_from_hex("7856341200"));
}

TEST(GdbFieldsTest, FromLeftToRight) {
  Fields fields("1f,FFFFFFFF:rest:of it");
  EXPECT_EQ(fields.number(), 0x1fu);
  EXPECT_TRUE(fields.literal(","));
  EXPECT_EQ(fields.number(), 0xffffffffu);
  EXPECT_FALSE(fields.complete());
  EXPECT_TRUE(fields.literal(":"));
  EXPECT_EQ(fields.rest(), "rest:of it");
  EXPECT_TRUE(fields.complete());
}

TEST(GdbFieldsTest, MistakesStay) {
  for (const char* text : {"", "x", "100000000", "ffffffffffffffffffffffff", ",1"}) {
    Fields fields(text);
    EXPECT_EQ(fields.number(), 0u) << text;
    EXPECT_FALSE(fields.good()) << text;
    EXPECT_FALSE(fields.literal("")) << text;
    EXPECT_EQ(fields.rest(), "") << text;
    EXPECT_FALSE(fields.complete()) << text;
  }
}

}  // namespace
}  // namespace npu::platform::gdb::testing
