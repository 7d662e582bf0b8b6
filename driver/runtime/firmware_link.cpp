// SPDX-License-Identifier: Apache-2.0
#include "driver/runtime/firmware_link.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "driver/runtime/limits.h"
#include "firmware/image.h"
#include "hw/contract/gen/registers.h"

namespace npu::runtime {
namespace {

using contract::ErrorCode;
using contract::Request;
using contract::RingCompletion;
using contract::RingRequest;
using contract::VariableEntry;
namespace reg = contract::reg;

constexpr uint32_t kRings = kMaxContexts + 1;
constexpr uint32_t kAdminEntries = 32;
constexpr uint32_t kLogBytes = 16 << 10;

RingRequest make_request(Request type) {
  RingRequest request;
  request.type = static_cast<uint32_t>(type);
  return request;
}

std::vector<uint8_t> image_of(const DeviceOptions& options) {
  if (!options.firmware.empty()) return options.firmware;
  const std::span<const uint8_t> image = firmware::image();
  return {image.begin(), image.end()};
}

std::string_view symbols_of(const DeviceOptions& options) {
  if (!options.firmware_symbols.empty() || !options.firmware.empty()) return options.firmware_symbols;
  return firmware::symbols();
}

}  // namespace

FirmwareLink::ContextRing::ContextRing(Hal& hal, SharedMemory::Piece piece, uint32_t number, uint16_t owner_id,
                                       uint32_t context_priority)
    : memory(std::move(piece)),
      ring(hal, memory.address(), kMaxQueuedJobs, number),
      owner(owner_id),
      priority(context_priority) {}

FirmwareLink::FirmwareLink(Hal& hal, const contract::Capabilities& caps, const DeviceOptions& options,
                           uint64_t shared_base, uint64_t shared_bytes)
    : hal_(hal),
      log_level_(options.log_level),
      cpu_(hal, caps, image_of(options), symbols_of(options), options.polling),
      shared_(shared_base, shared_bytes),
      admin_memory_(shared_.allocate(Ring::bytes(kAdminEntries), "ring 0")),
      log_memory_(shared_.allocate(kLogBytes, "the firmware's log")),
      phase_memory_(shared_.allocate(uint64_t{kPhaseRecords} * contract::PhaseRecord::kBytes, "the phase records")),
      admin_(hal, admin_memory_.address(), kAdminEntries, 0),
      log_(hal, log_memory_.address(), kLogBytes),
      rings_(kRings),
      job_watch_(caps) {
  if (log_level_ > 3) {
    throw Error(ErrorCode::kBadOption, fmt::format("the firmware has log levels 0 to 3; there is no {}.", log_level_));
  }
}

void FirmwareLink::boot_once(bool cold) {
  cpu_.load(cold);
  contract::Ring header;
  header.shared_base = shared_.base();
  header.shared_bytes = shared_.bytes();
  header.log_base = log_memory_.address();
  header.log_bytes = kLogBytes;
  header.log_level = log_level_;
  admin_.lay_out(header);
  laid_out_ = true;
  admin_completions_.clear();
  log_.restart();
  phases_taken_ = 0;
  standstill_.restart();
  cpu_.start({admin_memory_.address(), phase_memory_.address(), kPhaseRecords});
  for (uint32_t number = 1; number < kRings; ++number) {
    if (rings_[number]) open_ring_once(*rings_[number], number);
  }
}

void FirmwareLink::restart(bool cold) {
  const std::vector<Flight> flights = take_flights();
  if (laid_out_) log_.fetch(admin_.log_produced());
  JobEnd end;
  end.kind = JobEnd::Kind::kReset;
  try {
    boot_once(cold);
    dead_.clear();
  } catch (const FirmwareGone& gone) {
    dead_ = gone.what() + cpu_.hold_and_describe();
  } catch (const Error& error) {
    dead_ = error.what();
    tell(flights, end);
    throw;
  }
  tell(flights, end);
  require_alive();
}

void FirmwareLink::require_alive() const {
  if (dead_.empty()) return;
  throw Error(ErrorCode::kFaultFirmware,
              fmt::format("{}. Nothing runs on the device until a reset or a new opening succeeds.", dead_));
}

// The device is reset before the jobs are told: nothing uses their memory any more then.
void FirmwareLink::recover(const std::string& story) {
  std::string text = story;
  log_.fetch(admin_.log_produced());
  if (const std::string lines = log_.last_lines(3); !lines.empty()) text += "; the end of its log:\n" + lines;
  std::replace(text.begin(), text.end(), '\n', ' ');
  collect_rest();
  const std::vector<Flight> flights = take_flights();
  try {
    boot_once(false);
  } catch (const FirmwareGone& again) {
    dead_ = fmt::format("{}. It could not be started again: {}{}", text, again.what(), cpu_.hold_and_describe());
  } catch (const Error& error) {
    dead_ = fmt::format("{}. It could not be started again: {}", text, error.what());
  }
  JobEnd end;
  end.kind = JobEnd::Kind::kFault;
  end.fault.code = ErrorCode::kFaultFirmware;
  end.story = text;
  tell(flights, end);
}

// --- Requests to ring 0

void FirmwareLink::wait_once(Patience& patience, std::string_view what, const std::function<bool()>& done) {
  while (!done()) {
    const Wakeup wakeup = cpu_.wait();
    cpu_.take_interrupts();
    collect_once();
    if (!done()) patience.check(wakeup, what);
  }
}

std::vector<RingCompletion> FirmwareLink::exchange_once(std::span<RingRequest> requests) {
  std::vector<RingCompletion> completions;
  while (!requests.empty()) {
    const std::span<RingRequest> batch = requests.first(std::min<size_t>(requests.size(), kAdminEntries));
    requests = requests.subspan(batch.size());
    Patience patience(cpu_, sizes_cycles());
    admin_completions_.clear();
    for (RingRequest& request : batch) {
      request.id = next_id_++;
      admin_.push(request);
    }
    hal_.write_register(reg::kDoorbell, 0);
    wait_once(patience, "did not answer a request", [&] { return admin_completions_.size() == batch.size(); });
    for (size_t i = 0; i < batch.size(); ++i) {
      if (admin_completions_[i].id != batch[i].id) {
        throw FirmwareGone(fmt::format("the firmware completed request {} of ring 0, but {} came first",
                                       admin_completions_[i].id, batch[i].id));
      }
    }
    completions.insert(completions.end(), admin_completions_.begin(), admin_completions_.end());
  }
  return completions;
}

std::vector<RingCompletion> FirmwareLink::exchange(std::span<RingRequest> requests, std::string_view what) {
  std::vector<RingCompletion> completions = guarded([&] { return exchange_once(requests); });
  for (const RingCompletion& completion : completions) {
    if (completion.code == 0) continue;
    const auto code = static_cast<ErrorCode>(completion.code);
    const bool known = contract::name(code) != "?";
    throw Error(known ? code : ErrorCode::kFaultFirmware,
                fmt::format("the firmware refused {}: {}", what,
                            known ? std::string(contract::describe(code))
                                  : fmt::format("unknown code {:#x}.", completion.code)));
  }
  return completions;
}

RingCompletion FirmwareLink::request(RingRequest request, std::string_view what) {
  return exchange({&request, 1}, what).front();
}

void FirmwareLink::write_entries(std::span<const Write> writes) {
  std::vector<RingRequest> requests;
  for (const Write& write : writes) {
    RingRequest request = make_request(Request::kVariableWrite);
    std::array<uint8_t, VariableEntry::kBytes> bytes{};
    write.entry.store(bytes.data());
    request.value[0] = write.index;
    std::memcpy(&request.value[1], bytes.data(), bytes.size());
    requests.push_back(request);
  }
  exchange(requests, "to write an entry of the variable table");
}

std::vector<VariableEntry> FirmwareLink::read_entries(std::span<const uint32_t> indices) {
  std::vector<RingRequest> requests;
  for (const uint32_t index : indices) {
    requests.push_back(make_request(Request::kVariableRead));
    requests.back().value[0] = index;
  }
  std::vector<VariableEntry> entries;
  for (const RingCompletion& completion : exchange(requests, "to read an entry of the variable table")) {
    std::array<uint8_t, VariableEntry::kBytes> bytes{};
    std::memcpy(bytes.data(), completion.value.data(), bytes.size());
    entries.push_back(VariableEntry::load(bytes.data()));
  }
  return entries;
}

void FirmwareLink::set_power(contract::PowerState state) {
  if (in_flight()) {
    throw Error(ErrorCode::kWrongOrder, "cannot change the power while jobs are in flight; wait for their end first.");
  }
  RingRequest power = make_request(Request::kPower);
  power.value[0] = static_cast<uint32_t>(state);
  request(power, "to change the power");
}

void FirmwareLink::set_persistent_power(contract::PsramPower state) {
  RingRequest power = make_request(Request::kPersistentPower);
  power.value[0] = static_cast<uint32_t>(state);
  request(power, "to change the power of the persistent SRAM");
}

Link::Scrubbed FirmwareLink::scrub() {
  const RingCompletion completion = request(make_request(Request::kScrub), "to scrub the persistent SRAM");
  return {completion.value[0], completion.value[1]};
}

void FirmwareLink::acknowledge_loss() {
  request(make_request(Request::kAcknowledgeLoss), "to acknowledge that the persistent SRAM lost its contents");
}

// --- Contexts

void FirmwareLink::open_ring_once(ContextRing& ring, uint32_t number) {
  ring.ring.lay_out();
  ring.corrupt = false;
  RingRequest open = make_request(Request::kContextOpen);
  open.argument = ring.ring.address();
  open.value[0] = number;
  open.value[1] = ring.priority;
  open.value[2] = ring.owner;
  const RingCompletion completion = exchange_once({&open, 1}).front();
  if (completion.code != 0) {
    throw FirmwareGone(fmt::format("the firmware refused to open ring {} (code {:#x})", number, completion.code));
  }
}

uint32_t FirmwareLink::open_context(uint16_t owner, uint32_t priority) {
  require_alive();
  const auto place = std::find(rings_.begin() + 1, rings_.end(), nullptr);
  if (place == rings_.end()) {
    throw Error(
        ErrorCode::kContextsFull,
        fmt::format("the firmware serves {} contexts at a time, and so many are open; release one.", kRings - 1));
  }
  const auto number = static_cast<uint32_t>(place - rings_.begin());
  auto ring = std::make_unique<ContextRing>(hal_, shared_.allocate(Ring::bytes(kMaxQueuedJobs), "the context's ring"),
                                            number, owner, priority);
  guarded([&] { open_ring_once(*ring, number); });
  rings_[number] = std::move(ring);
  return number;
}

void FirmwareLink::close_context(uint32_t context) {
  // No start of the firmware opens it again from here on.
  const std::unique_ptr<ContextRing> ring = std::move(rings_.at(context));
  NPU_CHECK(ring != nullptr && std::all_of(ring->flights.begin(), ring->flights.end(),
                                           [](const Flight& flight) { return flight.listener == nullptr; }));
  RingRequest close = make_request(Request::kContextClose);
  close.value[0] = context;
  request(close, "to close a context");
}

// The firmware does not serve a ring that it found corrupt until it is opened again. Closing it stops its job, so that
// its memory can go.
void FirmwareLink::reopen_corrupt_once() {
  for (uint32_t number = 1; number < kRings; ++number) {
    if (!rings_[number] || !rings_[number]->corrupt) continue;
    ContextRing& ring = *rings_[number];
    RingRequest close = make_request(Request::kContextClose);
    close.value[0] = number;
    static_cast<void>(exchange_once({&close, 1}));
    open_ring_once(ring, number);
    JobEnd end;
    end.kind = JobEnd::Kind::kFault;
    end.fault.code = ErrorCode::kFaultRing;
    end.story = fmt::format("the firmware found ring {} corrupt and dropped its requests; it was opened again", number);
    tell(std::exchange(ring.flights, {}), end);
  }
}

std::string FirmwareLink::take_log() {
  if (laid_out_) log_.fetch(admin_.log_produced());
  return log_.take();
}

}  // namespace npu::runtime
