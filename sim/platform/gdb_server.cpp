// SPDX-License-Identifier: Apache-2.0
#include "sim/platform/gdb_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

#include "hw/contract/error.h"

namespace npu::platform {

using gdb::Input;
using Then = gdb::Session::Then;

namespace {

constexpr uint16_t kAnyPort = 1;

// A socket that listens at a port of 127.0.0.1; `port` becomes the one that it got. Throws Error.
int listen_at(uint16_t& port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port == kAnyPort ? 0 : port);
  const int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  socklen_t length = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (file < 0 || setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      bind(file, generic, sizeof address) != 0 || listen(file, 1) != 0 || getsockname(file, generic, &length) != 0) {
    const std::string why = std::strerror(errno);
    if (file >= 0) close(file);
    throw Error(contract::ErrorCode::kBadOption, "cannot wait for a debugger at port " + std::to_string(port) + ": " +
                                                     why + "; use --gdb 1 for any free port");
  }
  port = ntohs(address.sin_port);
  return file;
}

}  // namespace

GdbServer::GdbServer(uint16_t port, model::CpuDebugPort& cpu, std::function<void()> wake)
    : wake_(std::move(wake)), session_(cpu), port_(port) {
  listener_ = listen_at(port_);
  quit_ = eventfd(0, EFD_CLOEXEC);
  try {
    if (quit_ < 0) throw std::system_error(errno, std::generic_category());
    thread_ = std::thread([this] { serve(); });
  } catch (const std::system_error& error) {
    if (quit_ >= 0) close(quit_);
    close(listener_);
    throw Error(contract::ErrorCode::kBudgetExceeded,
                std::string("the system gives no thread or file for the debugger: ") + error.what());
  }
}

GdbServer::~GdbServer() {
  while (pending()) meet(pop());
  closing_ = true;
  if (connected_ && awaits_stop_) {
    send(gdb::frame("W00"));
    const std::lock_guard lock(mutex_);
    if (connection_ >= 0) shutdown(connection_, SHUT_WR);
  }
  const uint64_t one = 1;
  NPU_CHECK(write(quit_, &one, sizeof one) == sizeof one);
  thread_.join();
  close(quit_);
  close(listener_);
}

std::chrono::nanoseconds GdbServer::halted_time() const {
  const std::lock_guard lock(halt_mutex_);
  return halted_before_ + (halted_since_ ? Clock::now() - *halted_since_ : Clock::duration(0));
}

// --- The server's thread.

// False when the server shall end.
bool GdbServer::readable(int file) const {
  std::array<pollfd, 2> files{{{file, POLLIN, 0}, {quit_, POLLIN, 0}}};
  while (poll(files.data(), files.size(), -1) < 0 && errno == EINTR) {
  }
  return files[1].revents == 0;
}

void GdbServer::serve() {
  while (readable(listener_)) {
    const int connection = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) continue;
    const int on = 1;
    setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    serve_connection(connection);
  }
}

void GdbServer::serve_connection(int connection) {
  {
    const std::lock_guard lock(mutex_);
    connection_ = connection;
  }
  push({Message::Kind::kConnected, {}});
  gdb::Parser parser;
  std::array<char, 4096> buffer;
  while (readable(connection)) {
    const ssize_t length = recv(connection, buffer.data(), buffer.size(), 0);
    if (length < 0 && errno == EINTR) continue;
    if (length <= 0) break;
    received({buffer.data(), static_cast<size_t>(length)}, parser);
  }
  if (closing_) {
    // What the debugger still sends is read, so that it gets to see what was sent to it.
    pollfd file{connection, POLLIN, 0};
    while (poll(&file, 1, static_cast<int>(std::chrono::milliseconds(kGoodbye).count())) > 0 &&
           recv(connection, buffer.data(), buffer.size(), 0) > 0) {
    }
  }
  {
    const std::lock_guard lock(mutex_);
    connection_ = -1;
    close(connection);
  }
  push({Message::Kind::kClosed, {}});
}

void GdbServer::received(std::string_view bytes, gdb::Parser& parser) {
  parser.feed(bytes);
  while (std::optional<Input> input = parser.next()) {
    // The connection loses nothing, so that an acknowledgement says nothing.
    if (input->kind != Input::Kind::kAck) push({Message::Kind::kInput, std::move(*input)});
  }
}

void GdbServer::push(Message message) {
  {
    const std::lock_guard lock(mutex_);
    messages_.push_back(std::move(message));
    interrupt_ = true;
  }
  arrived_.notify_one();
  if (booted_) wake_();
}

// --- The simulation's thread.

model::CpuDebugger::Resume GdbServer::halted(Halt why) {
  const bool first = !booted_.exchange(true);
  if (why == Halt::kReset && !first) return Resume::kContinue;
  // What asked for this halt may have been dealt with in the one before.
  if (why == Halt::kInterrupt && !pending()) return resume_;
  {
    const std::lock_guard lock(halt_mutex_);
    halted_since_ = Clock::now();
  }
  resume_ = converse(why);
  {
    const std::lock_guard lock(halt_mutex_);
    halted_before_ += Clock::now() - *halted_since_;
    halted_since_.reset();
  }
  const std::lock_guard lock(mutex_);
  interrupt_ = !messages_.empty();
  return resume_;
}

model::CpuDebugger::Resume GdbServer::converse(Halt why) {
  why_ = why;
  bool wait_for_debugger = why == Halt::kReset;
  if (connected_ && awaits_stop_) reply(session_.halted(why));
  awaits_stop_ = false;
  while (connected_ || wait_for_debugger || pending()) {
    const Message message = pop();
    if (message.kind != Message::Kind::kInput) {
      meet(message);
      wait_for_debugger = false;
      continue;
    }
    const Then then = handle(message.input);
    if (then == Then::kStay) continue;
    awaits_stop_ = then != Then::kDetach;
    if (then == Then::kDetach) session_.remove_breakpoints();
    return then == Then::kStep ? Resume::kStep : Resume::kContinue;
  }
  return Resume::kContinue;
}

bool GdbServer::pending() {
  const std::lock_guard lock(mutex_);
  return !messages_.empty();
}

GdbServer::Message GdbServer::pop() {
  std::unique_lock lock(mutex_);
  arrived_.wait(lock, [this] { return !messages_.empty(); });
  Message message = std::move(messages_.front());
  messages_.pop_front();
  return message;
}

void GdbServer::meet(const Message& message) {
  if (message.kind == Message::Kind::kInput) return;
  connected_ = message.kind == Message::Kind::kConnected;
  awaits_stop_ = false;
  session_.remove_breakpoints();
  if (connected_) session_.restart(why_);
}

Then GdbServer::handle(const Input& input) {
  switch (input.kind) {
    case Input::Kind::kResend:
      send(last_reply_);
      return Then::kStay;
    case Input::Kind::kDamaged:
      if (!session_.without_acks()) send("-");
      return Then::kStay;
    case Input::Kind::kTooLong:
      if (!session_.without_acks()) send("+");
      reply("E04");
      return Then::kStay;
    case Input::Kind::kPacket:
      break;
    default:
      return Then::kStay;
  }
  if (!session_.without_acks()) send("+");
  const gdb::Session::Answer answer = session_.handle(input.data);
  if (answer.reply) reply(*answer.reply);
  return answer.then;
}

void GdbServer::reply(std::string_view payload) {
  last_reply_ = gdb::frame(payload);
  send(last_reply_);
}

// What a debugger that has gone does not get is no error: its end is among the messages.
void GdbServer::send(const std::string& bytes) {
  const std::lock_guard lock(mutex_);
  for (size_t sent = 0; connection_ >= 0 && sent < bytes.size();) {
    const ssize_t length = ::send(connection_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (length < 0 && errno != EINTR) return;
    if (length > 0) sent += static_cast<size_t>(length);
  }
}

}  // namespace npu::platform
