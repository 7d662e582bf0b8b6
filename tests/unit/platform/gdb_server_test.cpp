// SPDX-License-Identifier: Apache-2.0
// Debuggers of the control CPU: GDB itself with a script, and a client that speaks the protocol byte by byte.
#include "sim/platform/gdb_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <future>
#include <thread>

#include "hw/contract/error.h"
#include "sim/platform/gdb_protocol.h"
#include "tests/unit/platform/chip_fixture.h"

namespace npu::platform::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

// What a shell command prints, on both outputs.
std::string output_of(const std::string& command) {
  FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return "popen failed";
  std::string text;
  std::array<char, 256> buffer;
  while (fgets(buffer.data(), buffer.size(), pipe) != nullptr) text += buffer.data();
  pclose(pipe);
  return text;
}

class Client {
 public:
  explicit Client(uint16_t port) : file_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    EXPECT_EQ(connect(file_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    const timeval limit{30, 0};
    setsockopt(file_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  }
  ~Client() { close(file_); }
  void send(std::string_view bytes) {
    EXPECT_EQ(::send(file_, bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }
  // The next byte; -1 at the end.
  int byte() {
    char value = 0;
    return recv(file_, &value, 1, 0) == 1 ? static_cast<uint8_t>(value) : -1;
  }
  // The next packet's payload; the end if there is none.
  std::string packet() {
    for (;;) {
      while (auto input = parser_.next()) {
        if (input->kind == gdb::Input::Kind::kPacket) return input->data;
      }
      const int value = byte();
      if (value < 0) return "(end)";
      const char text = static_cast<char>(value);
      parser_.feed({&text, 1});
    }
  }
  std::string ask(std::string_view payload) {
    send(gdb::frame(payload));
    return packet();
  }

 private:
  int file_;
  gdb::Parser parser_;
};

class GdbServerTest : public ChipFixture {
 protected:
  void open_with_debugger() {
    PlatformOptions options;
    options.gdb_port = 1;
    options.debugger_waiting = [this](uint16_t port) { port_ = port; };
    open(options);
    ASSERT_GT(port_, 1);
  }
  uint16_t port_ = 0;
};

TEST_F(GdbServerTest, ScriptedSession) {
  open_with_debugger();
  std::string text;
  std::thread gdb([&] {
    const std::string elf = NPU_ECHO_PROGRAM ".elf";
    std::string command = "gdb-multiarch -nx -batch";
    for (const std::string& line : {
             std::string("set remotetimeout 30"),
             "file " + elf,
             "target remote 127.0.0.1:" + std::to_string(port_),
             std::string("info registers pc"),
             std::string("break npu_handle"),
             std::string("continue"),
             std::string("print *todo"),
             std::string("set var todo->count = 41"),
             std::string("next"),
             std::string("print todo->count"),
             std::string("print/x $a0"),
             std::string("stepi"),
             std::string("x/1xh 0x20000000"),
             std::string("x/1xw 0x80001000"),
             std::string("print $mcause"),
             std::string("backtrace"),
             std::string("delete"),
             std::string("continue"),
         }) {
      command += " -ex '" + line + "'";
    }
    text = output_of(command);
  });
  device_->write_memory(0x1000, std::vector<uint8_t>{0xef, 0xbe, 0xad, 0xde});
  boot();
  const uint64_t before = time();
  ring(0);
  // The debugger takes much longer than the wait may.
  EXPECT_TRUE(answered(milliseconds(100)));
  const uint64_t took = time() - before;
  EXPECT_LT(took, 200u);
  EXPECT_EQ(data_word(4), 42u);
  device_.reset();
  gdb.join();
  SCOPED_TRACE(text);
  EXPECT_THAT(text, HasSubstr("Breakpoint 1, npu_handle"));
  EXPECT_THAT(text, HasSubstr("{bells = 1, count = 0, word = 0}"));
  EXPECT_THAT(text, HasSubstr("= 42"));
  EXPECT_THAT(text, HasSubstr("= 0x10000000"));
  EXPECT_THAT(text, HasSubstr("0x5055"));      // half of the register id
  EXPECT_THAT(text, HasSubstr("0xdeadbeef"));  // device memory
  EXPECT_THAT(text, HasSubstr("in npu_main"));
  EXPECT_THAT(text, HasSubstr("exited normally"));
}

TEST_F(GdbServerTest, TheCpuWaitsForADebuggerAndRunsOnWithoutIt) {
  open_with_debugger();
  std::thread debugger([&] {
    std::this_thread::sleep_for(milliseconds(20));
    Client client(port_);
    EXPECT_EQ(client.ask("?"), "T05thread:1;");
    EXPECT_EQ(client.ask("p20"), "00000000");  // the reset vector
    EXPECT_EQ(client.ask("Z0,0,4"), "OK");
  });
  boot();  // until the client has closed its connection, which takes the breakpoint away
  debugger.join();
  ring(0);
  EXPECT_TRUE(answered());
  boot();  // later resets do not wait
  ring(0);
  EXPECT_TRUE(answered());
}

TEST_F(GdbServerTest, InterruptsALoopAndComesBackLater) {
  open_with_debugger();
  std::thread debugger([&] {
    Client client(port_);
    client.send(gdb::frame("c"));
    std::this_thread::sleep_for(milliseconds(50));
    client.send("\x03");
    EXPECT_EQ(client.packet(), "T02thread:1;");
    const std::string there = client.ask("p20");
    client.send(gdb::frame("s"));
    EXPECT_EQ(client.packet(), "T05thread:1;");
    EXPECT_EQ(client.ask("p20"), there);  // a jump to itself
    EXPECT_EQ(client.ask("D"), "OK");
  });
  boot();
  ring(2);
  // The time in which the debugger keeps the CPU does not count, but it loops for long after.
  EXPECT_FALSE(device_->wait_interrupt(milliseconds(300)));
  debugger.join();
  std::thread second([&] {
    Client client(port_);
    EXPECT_EQ(client.ask("?"), "T02thread:1;");
    client.send(gdb::frame("c"));
    EXPECT_EQ(client.packet(), "T06thread:1;");  // the program counter is moved to an illegal instruction below
    EXPECT_EQ(client.ask("p382").size(), 8u);
  });
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_FALSE(device_->wait_interrupt(milliseconds(100)));
  device_->write_register(reg::kCpuControl, 0);
  boot();
  ring(3);
  EXPECT_TRUE(device_->wait_interrupt(seconds(60)));
  EXPECT_EQ(device_->read_register(reg::kHostIrqStatus), uint32_t{reg::kHostIrqStatusCpuStoppedMask});
  second.join();
}

TEST_F(GdbServerTest, DamagedAndOversizedPackets) {
  open_with_debugger();
  std::thread debugger([&] {
    Client client(port_);
    client.send("$p20#00");
    EXPECT_EQ(client.byte(), '-');
    client.send("+garbage#$");
    client.send(gdb::frame("p20"));
    EXPECT_EQ(client.byte(), '+');
    EXPECT_EQ(client.packet(), "00000000");
    client.send("-");
    EXPECT_EQ(client.packet(), "00000000");
    EXPECT_EQ(client.ask("M10000000,8000:" + std::string(0x10000, '0')), "E04");
    EXPECT_EQ(client.ask("QStartNoAckMode"), "OK");
    client.send(gdb::frame("nonsense"));
    EXPECT_EQ(client.byte(), '$');
    EXPECT_EQ(client.ask("k"), "(end)");
  });
  EXPECT_TRUE(device_->read_register(reg::kId) == reg::kIdReset);
  boot();
  ring(0);
  EXPECT_TRUE(answered());
  device_.reset();
  debugger.join();
}

TEST_F(GdbServerTest, SaysGoodbye) {
  open_with_debugger();
  std::thread debugger([&] {
    Client client(port_);
    client.send(gdb::frame("c"));
    EXPECT_EQ(client.packet(), "W00");
    EXPECT_EQ(client.packet(), "(end)");
  });
  boot();
  device_.reset();
  debugger.join();
}

// A CPU whose memory is zeros.
class EmptyCpu : public model::CpuDebugPort {
 public:
  uint32_t debug_register(uint32_t) const override { return 0; }
  void set_debug_register(uint32_t, uint32_t) override {}
  uint32_t debug_csr(uint32_t) const override { return 0; }
  bool debug_read(uint32_t, std::span<uint8_t> bytes) override {
    ++reads;
    std::fill(bytes.begin(), bytes.end(), uint8_t{0});
    return true;
  }
  bool debug_write(uint32_t, std::span<const uint8_t>) override { return false; }
  void set_breakpoint(uint32_t, bool) override {}

  std::atomic<int> reads = 0;
};

TEST(GdbServerAlone, ADebuggerThatDoesNotReadKeepsNobodyFromTheHaltedTime) {
  EmptyCpu cpu;
  GdbServer server(1, cpu, [] {});
  std::thread simulation([&] { static_cast<void>(server.halted(model::CpuDebugger::Halt::kReset)); });
  std::future<std::chrono::nanoseconds> time;
  {
    Client client(server.port());
    // Answers of 16 MiB: more than the connection holds.
    for (int i = 0; i < 1024; ++i) client.send(gdb::frame("m0,2000"));
    // Until the CPU's side gets no further.
    for (int before = -1; before != cpu.reads || before == 0;) {
      before = cpu.reads;
      std::this_thread::sleep_for(milliseconds(400));
    }
    EXPECT_LT(cpu.reads, 1024);
    time = std::async(std::launch::async, [&] { return server.halted_time(); });
    EXPECT_EQ(time.wait_for(seconds(10)), std::future_status::ready);
  }
  EXPECT_GE(time.get(), milliseconds(400));
  simulation.join();
}

TEST_F(GdbServerTest, APortThatIsTaken) {
  const int file = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  ASSERT_EQ(bind(file, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(file, 1), 0);
  ASSERT_EQ(getsockname(file, reinterpret_cast<sockaddr*>(&address), &length), 0);
  PlatformOptions options;
  options.gdb_port = ntohs(address.sin_port);
  try {
    open(options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), contract::ErrorCode::kBadOption);
  }
  close(file);
}

TEST_F(GdbServerTest, NothingToDebugWithoutControlCpu) {
  PlatformOptions options;
  options.control_cpu = false;
  options.gdb_port = 1;
  EXPECT_THROW(open(options), Error);
}

}  // namespace
}  // namespace npu::platform::testing
