// SPDX-License-Identifier: Apache-2.0
// What the commands of GDB's remote protocol do to a CPU that is an array.
#include "sim/platform/gdb_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>

namespace npu::platform::gdb::testing {
namespace {

using Halt = model::CpuDebugger::Halt;
using Then = Session::Then;
using ::testing::HasSubstr;

// Memory at 0x100 to 0x1ff; registers (whole aligned words) at 0x2000 to 0x200f; 0x180 and more cannot be written.
class FakeCpu : public model::CpuDebugPort {
 public:
  uint32_t debug_register(uint32_t index) const override { return registers.at(index); }
  void set_debug_register(uint32_t index, uint32_t value) override { registers.at(index) = value; }
  uint32_t debug_csr(uint32_t number) const override { return number + 1; }
  bool debug_read(uint32_t address, std::span<uint8_t> bytes) override {
    const std::span<uint8_t> found = place(address, bytes.size());
    std::copy(found.begin(), found.end(), bytes.begin());
    return !found.empty();
  }
  bool debug_write(uint32_t address, std::span<const uint8_t> bytes) override {
    const std::span<uint8_t> found = address < 0x180 ? place(address, bytes.size()) : std::span<uint8_t>();
    if (!found.empty()) std::copy(bytes.begin(), bytes.end(), found.begin());
    return !found.empty();
  }
  void set_breakpoint(uint32_t address, bool on) override {
    on ? static_cast<void>(breakpoints.insert(address)) : static_cast<void>(breakpoints.erase(address));
  }

  std::array<uint32_t, 33> registers{};
  std::array<uint8_t, 256> memory{};
  std::array<uint8_t, 16> device{};
  std::set<uint32_t> breakpoints;

 private:
  std::span<uint8_t> place(uint32_t address, size_t bytes) {
    if (address >= 0x100 && address + bytes <= 0x200) return std::span(memory).subspan(address - 0x100, bytes);
    const bool words = address % 4 == 0 && bytes % 4 == 0;
    if (words && address >= 0x2000 && address + bytes <= 0x2010)
      return std::span(device).subspan(address - 0x2000, bytes);
    return {};
  }
};

class GdbSessionTest : public ::testing::Test {
 protected:
  std::string ask(std::string_view packet) {
    const Session::Answer answer = session_.handle(packet);
    EXPECT_EQ(answer.then, Then::kStay) << packet;
    return answer.reply.value_or("(no reply)");
  }
  Then then(std::string_view packet) {
    const Session::Answer answer = session_.handle(packet);
    EXPECT_FALSE(answer.reply) << packet;
    return answer.then;
  }

  FakeCpu cpu_;
  Session session_{cpu_};
};

TEST_F(GdbSessionTest, AgreesOnWhatItCanDo) {
  const std::string features = ask("qSupported:multiprocess+;swbreak+");
  EXPECT_THAT(features, HasSubstr("PacketSize=4000"));
  EXPECT_THAT(features, HasSubstr("qXfer:features:read+"));
  EXPECT_FALSE(session_.without_acks());
  EXPECT_EQ(ask("QStartNoAckMode"), "OK");
  EXPECT_TRUE(session_.without_acks());
  session_.restart(Halt::kReset);
  EXPECT_FALSE(session_.without_acks());
  EXPECT_EQ(ask("vMustReplyEmpty"), "");
  EXPECT_EQ(ask("qSymbol::"), "");
  EXPECT_EQ(ask("!"), "");
  EXPECT_EQ(ask(""), "");
  EXPECT_EQ(ask("Hg0"), "OK");
  EXPECT_EQ(ask("T1"), "OK");
}

TEST_F(GdbSessionTest, DescribesTheCpu) {
  std::string xml;
  for (char more = 'm'; more == 'm';) {
    char request[64];
    std::snprintf(request, sizeof request, "qXfer:features:read:target.xml:%zx,100", xml.size());
    const std::string piece = ask(request);
    ASSERT_FALSE(piece.empty());
    more = piece[0];
    ASSERT_TRUE(more == 'm' ? piece.size() == 0x101 : more == 'l');
    xml += piece.substr(1);
  }
  EXPECT_THAT(xml, HasSubstr("<architecture>riscv:rv32</architecture>"));
  for (const char* name : {"\"zero\"", "\"ra\"", "\"fp\"", "\"t6\"", "\"pc\"", "\"mepc\""})
    EXPECT_THAT(xml, HasSubstr(name));
  EXPECT_THAT(xml, HasSubstr("name=\"pc\" bitsize=\"32\" regnum=\"32\""));
  EXPECT_EQ(ask("qXfer:features:read:target.xml:ffff,100"), "l");
  EXPECT_EQ(ask("qXfer:features:read:other.xml:0,100"), "E01");
  EXPECT_EQ(ask("qXfer:features:read:target.xml:0"), "E01");
}

TEST_F(GdbSessionTest, Registers) {
  for (uint32_t i = 0; i < 33; ++i) cpu_.registers[i] = 0x01020300 + i;
  const std::string all = ask("g");
  ASSERT_EQ(all.size(), 33u * 8);
  EXPECT_EQ(all.substr(0, 8), "00030201");
  EXPECT_EQ(all.substr(32 * 8), "20030201");
  EXPECT_EQ(ask("p20"), "20030201");
  EXPECT_EQ(ask("P1f=04030201"), "OK");
  EXPECT_EQ(cpu_.registers[31], 0x01020304u);
  EXPECT_EQ(ask("P0=04030201"), "OK");
  EXPECT_EQ(cpu_.registers[0], 0x01020300u);           // x0 is not written
  EXPECT_EQ(ask("p382"), register_to_hex(0x341 + 1));  // mepc, 65 + 0x341
  EXPECT_EQ(ask("p21"), "E03");
  EXPECT_EQ(ask("p41"), "E03");  // a CSR that is not described
  EXPECT_EQ(ask("P382=00000000"), "E03");
  std::string new_values;
  for (uint32_t i = 0; i < 33; ++i) new_values += register_to_hex(7 * i);
  EXPECT_EQ(ask("G" + new_values), "OK");
  EXPECT_EQ(cpu_.registers[0], 0x01020300u);
  EXPECT_EQ(cpu_.registers[1], 7u);
  EXPECT_EQ(cpu_.registers[32], 7u * 32);
  for (const char* bad :
       {"p", "px", "p1,2", "P1", "P1=", "P1=00", "P1=0000000g", "P=00000000", "G00", "G", "p123456789"}) {
    EXPECT_EQ(ask(bad), "E01") << bad;
  }
}

TEST_F(GdbSessionTest, Memory) {
  EXPECT_EQ(ask("M100,3:0a0B0c"), "OK");
  EXPECT_EQ(ask("m100,4"), "0a0b0c00");
  EXPECT_EQ(ask("X104,3:" + std::string("\x00#}", 3)), "OK");
  EXPECT_EQ(ask("m104,3"), "00237d");
  EXPECT_EQ(ask("X0,0:"), "OK");  // how a debugger asks for X
  EXPECT_EQ(ask("m300,4"), "E02");
  EXPECT_EQ(ask("m1fe,4"), "E02");
  EXPECT_EQ(ask("M180,1:00"), "E02");
  EXPECT_EQ(ask("m100,0"), "");
  for (const char* bad :
       {"m", "m100", "m100,", "m100,4,", "m,4", "m100,4000", "m100,ffffffff", "m100000000,1", "M100,2:00", "M100,1:0",
        "M100,1:0000", "M100,1", "M100,1:zz", "X100,2:a", "X100", "X100,1"}) {
    EXPECT_EQ(ask(bad), "E01") << bad;
  }
}

TEST_F(GdbSessionTest, RegistersOfTheDeviceInAnyBytes) {
  for (uint8_t i = 0; i < 16; ++i) cpu_.device[i] = i;
  EXPECT_EQ(ask("m2001,1"), "01");
  EXPECT_EQ(ask("m2003,6"), "030405060708");
  EXPECT_EQ(ask("m200e,2"), "0e0f");
  EXPECT_EQ(ask("m200e,3"), "E02");
}

TEST_F(GdbSessionTest, Breakpoints) {
  EXPECT_EQ(ask("Z0,104,2"), "OK");
  EXPECT_EQ(ask("Z1,108,4"), "OK");
  EXPECT_EQ(cpu_.breakpoints, (std::set<uint32_t>{0x104, 0x108}));
  EXPECT_EQ(ask("z0,104,2"), "OK");
  EXPECT_EQ(cpu_.breakpoints, (std::set<uint32_t>{0x108}));
  EXPECT_EQ(ask("Z2,108,4"), "");  // no watchpoints
  for (const char* bad : {"Z", "Z0", "Z0,", "Z0,1", "Z0,x,2", "Z0,104,2;X1"}) EXPECT_EQ(ask(bad), "E01") << bad;
  session_.remove_breakpoints();
  EXPECT_TRUE(cpu_.breakpoints.empty());
}

TEST_F(GdbSessionTest, GoingOn) {
  EXPECT_EQ(then("c"), Then::kContinue);
  EXPECT_EQ(then("s"), Then::kStep);
  EXPECT_EQ(then("C05"), Then::kContinue);
  EXPECT_EQ(then("S05;104"), Then::kStep);
  EXPECT_EQ(cpu_.registers[32], 0x104u);
  EXPECT_EQ(then("c108"), Then::kContinue);
  EXPECT_EQ(cpu_.registers[32], 0x108u);
  EXPECT_EQ(ask("vCont?"), "vCont;c;C;s;S");
  EXPECT_EQ(then("vCont;c"), Then::kContinue);
  EXPECT_EQ(then("vCont;s:1;c"), Then::kStep);
  EXPECT_EQ(then("vCont;C05:1"), Then::kContinue);
  EXPECT_EQ(then("k"), Then::kDetach);
  for (const char* bad : {"cx", "C", "C05;", "s1 2", "vCont;", "vCont;;", "vCont;t"}) EXPECT_EQ(ask(bad), "E01") << bad;
  const Session::Answer detach = session_.handle("D");
  EXPECT_EQ(detach.reply, "OK");
  EXPECT_EQ(detach.then, Then::kDetach);
}

TEST_F(GdbSessionTest, WhyItHalted) {
  EXPECT_EQ(ask("?"), "T05thread:1;");
  EXPECT_EQ(session_.halted(Halt::kBreakpoint), "T05thread:1;");
  EXPECT_EQ(session_.halted(Halt::kInterrupt), "T02thread:1;");
  EXPECT_EQ(ask("?"), "T02thread:1;");
  EXPECT_EQ(session_.halted(Halt::kStopped), "T06thread:1;");
}

}  // namespace
}  // namespace npu::platform::gdb::testing
