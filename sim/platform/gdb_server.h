// SPDX-License-Identifier: Apache-2.0
// A debugger of the control CPU over TCP: GDB's remote protocol on a port of 127.0.0.1.
//
// A thread listens and reads; what comes is handled in the simulation's thread, while the CPU halts in halted(), so
// simulated time stands still. Whatever comes while the CPU runs halts it: a debugger that connects, its Ctrl-C, its
// end. The CPU waits at its first reset for a debugger; one that disconnects lets it run on without breakpoints.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "hw/model/cpu_debugger.h"
#include "sim/platform/gdb_session.h"

namespace npu::platform {

class GdbServer : public model::CpuDebugger {
 public:
  // Listens at `port`, or at any free one if it is 1. `wake` is called by the server's thread when the running CPU
  // shall halt; interrupt_requested() tells so then. Throws Error(kBadOption) when the port cannot be used.
  GdbServer(uint16_t port, model::CpuDebugPort& cpu, std::function<void()> wake);
  // Tells a connected debugger that the program has ended, and gives it a moment to hang up.
  ~GdbServer() override;
  GdbServer(const GdbServer&) = delete;
  GdbServer& operator=(const GdbServer&) = delete;

  [[nodiscard]] uint16_t port() const { return port_; }
  // Host time that the CPU has spent halted. Any thread.
  [[nodiscard]] std::chrono::nanoseconds halted_time() const;

  [[nodiscard]] Resume halted(Halt why) override;
  [[nodiscard]] bool interrupt_requested() override { return interrupt_ && interrupt_.exchange(false); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Message {
    enum class Kind : uint8_t { kConnected, kInput, kClosed };
    Kind kind;
    gdb::Input input;
  };
  static constexpr std::chrono::seconds kGoodbye{1};  // for the debugger to hang up

  // The server's thread.
  void serve();
  void serve_connection(int connection);
  void received(std::string_view bytes, gdb::Parser& parser);
  [[nodiscard]] bool readable(int file) const;
  void push(Message message);

  // The simulation's thread.
  [[nodiscard]] Resume converse(Halt why);
  [[nodiscard]] bool pending();
  [[nodiscard]] Message pop();
  void meet(const Message& message);
  [[nodiscard]] gdb::Session::Then handle(const gdb::Input& input);
  void send(const std::string& bytes);
  void reply(std::string_view payload);

  const std::function<void()> wake_;
  gdb::Session session_;
  uint16_t port_ = 0;
  int listener_ = -1, quit_ = -1;
  std::atomic<bool> interrupt_{false}, closing_{false};
  std::atomic<bool> booted_{false};  // the CPU has left its first reset

  mutable std::mutex mutex_;  // of the next three
  std::condition_variable arrived_;
  std::deque<Message> messages_;
  int connection_ = -1;

  // Of the two below, and held for moments only: mutex_ is held for as long as a debugger does not read.
  mutable std::mutex halt_mutex_;
  std::optional<Clock::time_point> halted_since_;  // while the CPU halts
  Clock::duration halted_before_{0};               // the sum of the times before

  // The simulation's thread's view of the connection.
  bool connected_ = false;
  bool awaits_stop_ = false;  // the debugger let the CPU go on and waits for its halt
  std::string last_reply_;
  Halt why_ = Halt::kReset;
  Resume resume_ = Resume::kContinue;

  std::thread thread_;
};

}  // namespace npu::platform
