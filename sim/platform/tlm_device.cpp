// SPDX-License-Identifier: Apache-2.0
#include "sim/platform/tlm_device.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>

#include "hw/contract/error.h"
#include "hw/contract/gen/registers.h"

// The SystemC library wants this symbol; the program has a main of its own.
extern "C" int sc_main(int, char**) { return 0; }

namespace npu::platform {

using contract::ErrorCode;

namespace {

std::atomic<bool> opened{false};

// Host time.
constexpr std::chrono::nanoseconds kMostPollTime = std::chrono::seconds(1);

// Far from the next window, beyond every memory.
constexpr uint64_t kMaxWindowBytes = 0x8000000;

struct WindowInfo {
  uint64_t base;
  const char* name;
};

const WindowInfo& window_info(runtime::Window window) {
  static constexpr WindowInfo kInfos[] = {{contract::kPsramWindow, "persistent SRAM"},
                                          {contract::kCodeWindow, "code memory"},
                                          {contract::kDataWindow, "data memory"}};
  return kInfos[static_cast<size_t>(window)];
}

// The register that has an offset, and whether anybody may write it; no name: there is none.
struct RegisterRights {
  std::string_view name;
  bool writable = false;
  bool of_cpu = false;  // the control CPU's, where there is one
};

RegisterRights rights_of(uint32_t offset) {
  for (const contract::RegisterInfo& info : contract::kRegisters) {
    for (uint32_t i = 0; i < info.count; ++i) {
      if (info.offset + i * info.step != offset) continue;
      return {info.name, info.writable, info.block == contract::Block::kCore || info.block == contract::Block::kCpu};
    }
  }
  for (const contract::CapabilityInfo& info : contract::kCapabilities) {
    if (info.register_offset == offset) return {info.name};
  }
  return {};
}

// SystemC reports a process without a stack as an error of its own.
bool lacks_memory(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return true;
  const auto* report = dynamic_cast<const sc_core::sc_report*>(&error);
  return report != nullptr && std::string_view(report->get_msg_type()).find("stack setup") != std::string_view::npos;
}

[[noreturn]] void throw_no_access(uint32_t offset, bool write) {
  const RegisterRights rights = rights_of(offset);
  std::ostringstream text;
  if (rights.name.empty()) {
    text << "the device has no register at offset " << offset;
  } else {
    text << "register '" << rights.name << "' at offset 0x" << std::hex << offset;
    if (write && !rights.writable) {
      text << " is read-only: nothing was written";
    } else if (rights.of_cpu) {
      text << " belongs to the control CPU: the host does not reach it";
    } else {
      text << " is followed by an address without a register";
    }
  }
  throw Error(ErrorCode::kFaultBus, text.str());
}

}  // namespace

std::unique_ptr<runtime::Hal> open_tlm_device(const PlatformOptions& options) {
  return std::make_unique<TlmDevice>(options);
}

TlmDevice::TlmDevice(const PlatformOptions& options) {
  check_faults(options.faults, options.preset.caps, options.control_cpu);
  if (opened.exchange(true)) {
    throw Error(ErrorCode::kWrongOrder,
                "a simulated device was already opened in this process, and SystemC allows one: use another process");
  }
  try {
    thread_ = std::thread([this, options] { simulate(options); });
  } catch (const std::system_error& error) {
    opened = false;
    throw Error(ErrorCode::kBudgetExceeded, std::string("the system gives no thread for the simulation: ") +
                                                error.what() +
                                                "; end other programs, or raise their limit (ulimit -u)");
  }
  hand_over_.call();  // answered when the system is built, or has failed to be
  if (failure_ != nullptr) {
    thread_.join();
    std::rethrow_exception(failure_);
  }
  open_ = true;
}

TlmDevice::~TlmDevice() {
  if (!thread_.joinable()) return;
  request_.quit = true;
  hand_over_.post();
  thread_.join();
}

void TlmDevice::simulate(const PlatformOptions& options) {
  try {
    setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
    sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
    sc_core::sc_report_handler::set_actions(sc_core::SC_ERROR, sc_core::SC_THROW);
    hand_over_.receive();
    system_ = std::make_unique<System>("system", options, hand_over_, request_);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    // A device that is closed before it did anything has stopped already.
    while (sc_core::sc_get_status() != sc_core::SC_STOPPED) {
      sc_core::sc_start();
      if (sc_core::sc_get_status() != sc_core::SC_STOPPED) system_->starved();
    }
  } catch (const Error&) {
    failure_ = std::current_exception();
    hand_over_.answer();
  } catch (const std::exception& error) {
    if (open_ || !lacks_memory(error)) {
      panic(__FILE__, __LINE__, std::string("the simulation failed: ") + error.what());
    }
    failure_ = std::make_exception_ptr(
        Error(ErrorCode::kBudgetExceeded,
              "this computer has not enough memory for the simulation of the machine; end other "
              "programs, or raise the limit (ulimit -v)"));
    hand_over_.answer();
  }
  system_.reset();
}

void TlmDevice::flush() {
  if (request_.writes.empty()) return;
  request_.wait_interrupt = false;
  hand_over_.call();
}

uint32_t TlmDevice::read_register(uint32_t offset) {
  uint32_t value = 0;
  read_registers(offset, {&value, 1});
  return value;
}

// Registers are accessed at once, in the calling thread: the simulation waits for a request, and memory is ordered by
// the hand-over. Only what starts and resets belongs to the simulation's thread.
void TlmDevice::write_register(uint32_t offset, uint32_t value) {
  if (system_->needs_simulation(offset)) {
    request_.writes.push_back({offset, value});
    return;
  }
  flush();
  if (!system_->access(tlm::TLM_WRITE_COMMAND, offset, reinterpret_cast<uint8_t*>(&value), 4)) {
    throw_no_access(offset, true);
  }
}

void TlmDevice::read_registers(uint32_t offset, std::span<uint32_t> values) {
  flush();
  if (values.empty()) return;
  auto* const bytes = reinterpret_cast<uint8_t*>(values.data());
  if (!system_->access(tlm::TLM_READ_COMMAND, offset, bytes, static_cast<uint32_t>(values.size_bytes()))) {
    throw_no_access(offset, false);
  }
}

std::span<uint8_t> TlmDevice::memory(uint64_t address, uint64_t bytes) {
  flush();
  const std::span<uint8_t> memory = system_->dram().memory();
  if (address > memory.size() || bytes > memory.size() - address) {
    throw Error(ErrorCode::kFaultBus, "device memory ends at byte " + std::to_string(memory.size()) + ", not beyond " +
                                          std::to_string(address) + " + " + std::to_string(bytes));
  }
  return memory.subspan(address, bytes);
}

void TlmDevice::read_memory(uint64_t address, std::span<uint8_t> bytes) {
  const std::span<uint8_t> source = memory(address, bytes.size());
  if (!bytes.empty()) std::memcpy(bytes.data(), source.data(), bytes.size());
}

void TlmDevice::write_memory(uint64_t address, std::span<const uint8_t> bytes) {
  const std::span<uint8_t> target = memory(address, bytes.size());
  if (!bytes.empty()) std::memcpy(target.data(), bytes.data(), bytes.size());
}

void TlmDevice::fill_memory(uint64_t address, uint64_t bytes, uint8_t value) {
  const std::span<uint8_t> target = memory(address, bytes);
  if (bytes > 0) std::memset(target.data(), value, bytes);
}

void TlmDevice::access_window(tlm::tlm_command command, runtime::Window window, uint32_t offset, uint8_t* data,
                              uint64_t bytes) {
  flush();
  if (bytes == 0) return;
  const WindowInfo& info = window_info(window);
  const bool inside = uint64_t{offset} + bytes <= kMaxWindowBytes;
  if (!inside || !system_->access(command, info.base + offset, data, static_cast<uint32_t>(bytes))) {
    throw Error(ErrorCode::kFaultBus, "the device does not let the host " +
                                          std::string(command == tlm::TLM_READ_COMMAND ? "read " : "write ") +
                                          std::to_string(bytes) + " bytes at offset " + std::to_string(offset) +
                                          " of its " + info.name);
  }
}

void TlmDevice::read_window(runtime::Window window, uint32_t offset, std::span<uint8_t> bytes) {
  access_window(tlm::TLM_READ_COMMAND, window, offset, bytes.data(), bytes.size());
}

void TlmDevice::write_window(runtime::Window window, uint32_t offset, std::span<const uint8_t> bytes) {
  access_window(tlm::TLM_WRITE_COMMAND, window, offset, const_cast<uint8_t*>(bytes.data()), bytes.size());
}

bool TlmDevice::wait_interrupt(std::chrono::nanoseconds timeout) {
  // An absurdly long timeout must not overflow the clock.
  const std::chrono::nanoseconds most = std::chrono::hours(24 * 365);
  // A poll ends by simulated time; by host time only where none passes, while a debugger keeps the CPU halted.
  const bool poll = timeout <= std::chrono::nanoseconds::zero();
  if (poll) timeout = kMostPollTime;
  // While a debugger keeps the CPU halted, the clock of another wait does not count.
  const auto halted = [&] { return poll ? std::chrono::nanoseconds::zero() : system_->halted_time(); };
  const auto begin = std::chrono::steady_clock::now() - halted();
  const auto deadline = [&] { return begin + halted() + std::min(timeout, most); };
  request_.wait_interrupt = true;
  request_.poll = poll;
  hand_over_.post();
  for (auto until = deadline(); !hand_over_.await_answer(until); until = deadline()) {
    if (deadline() > until) continue;
    system_->wake();
    hand_over_.await_answer();
    break;
  }
  system_->forget_wake();
  return request_.interrupted;
}

}  // namespace npu::platform
