// SPDX-License-Identifier: Apache-2.0
#include "hw/model/memory_port.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "hw/timing/dma_cycles.h"

namespace npu::model {

using sc_core::SC_ZERO_TIME;

MemoryPort::MemoryPort(const sc_core::sc_module_name& name, Socket& socket, const contract::Capabilities& caps,
                       const Clock& clock, Agenda& agenda, JitterSource& jitter)
    : sc_module(name),
      socket_(socket),
      clock_(clock),
      jitter_(jitter),
      port_bytes_(caps.dma_port_bytes),
      burst_bytes_(caps.dma_burst_bytes),
      deliver_alarm_(agenda),
      grant_alarm_(agenda) {
  socket_.register_nb_transport_bw(this, &MemoryPort::nb_transport_bw);
  socket_.register_invalidate_direct_mem_ptr(this, &MemoryPort::invalidate_direct_mem_ptr);
  SC_HAS_PROCESS(MemoryPort);
  SC_METHOD(deliver);
  sensitive << deliver_alarm_.event();
  dont_initialize();
  SC_METHOD(grant);
  sensitive << grant_alarm_.event();
  dont_initialize();
}

MemoryPort::~MemoryPort() = default;

void MemoryPort::begin_job() {
  for (Burst* burst : responses_) burst->release();
  responses_.clear();
  flush();
  requesting_ = nullptr;
  in_flight_ = 0;
  ++job_;
  last_granted_ = kRequesters - 1;
  request_free_ = response_free_ = 0;
}

Burst& MemoryPort::make(bool write, uint64_t address, uint32_t bytes, BurstClient& client) {
  if (pool_.empty()) {
    bursts_.push_back(std::make_unique<Burst>());
    bursts_.back()->buffer_.resize(burst_bytes_);
    bursts_.back()->set_mm(this);
    pool_.push_back(bursts_.back().get());
  }
  Burst& burst = *pool_.back();
  pool_.pop_back();
  burst.acquire();
  burst.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
  burst.set_address(address);
  burst.set_data_ptr(burst.buffer_.data());
  burst.set_data_length(bytes);
  burst.set_streaming_width(bytes);
  burst.set_byte_enable_ptr(nullptr);
  burst.set_dmi_allowed(false);
  burst.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  burst.client_ = &client;
  burst.fails_ = false;
  return burst;
}

bool MemoryPort::one_fails(uint64_t bursts) {
  if (until_error_ == 0) return false;
  const bool fails = bursts >= until_error_;
  until_error_ = fails ? 0 : until_error_ - static_cast<uint32_t>(bursts);
  return fails;
}

void MemoryPort::free(tlm::tlm_generic_payload* payload) {
  payload->reset();
  pool_.push_back(static_cast<Burst*>(payload));
}

void MemoryPort::submit(Burst& burst, uint32_t requester, uint64_t earliest) {
  burst.earliest_ = earliest;
  queues_[requester].push_back(&burst);
  ++queued_;
  // In the next delta cycle, when all who ask in this moment have asked; at the end of deliver(), if it is what they
  // ask in.
  if (requesting_ == nullptr && !delivering_) grant_alarm_.set(std::max(clock_.now(), earliest));
}

// Round robin among those whose first burst may go; without one, sets the alarm for the first that may.
Burst* MemoryPort::next_request(uint64_t now) {
  uint64_t earliest = std::numeric_limits<uint64_t>::max();
  for (uint32_t i = 1; i <= kRequesters; ++i) {
    const uint32_t requester = (last_granted_ + i) % kRequesters;
    auto& queue = queues_[requester];
    if (queue.empty()) continue;
    Burst* const burst = queue.front();
    if (burst->earliest_ > now) {
      earliest = std::min(earliest, burst->earliest_);
      continue;
    }
    queue.pop_front();
    --queued_;
    last_granted_ = requester;
    return burst;
  }
  grant_alarm_.set(earliest);
  return nullptr;
}

void MemoryPort::grant() {
  const uint64_t now = clock_.now();
  while (queued_ > 0 && requesting_ == nullptr) {
    if (request_free_ > now + timing::kArbitrateAhead) {
      grant_alarm_.set(request_free_ - timing::kArbitrateAhead);
      return;
    }
    Burst* const burst = next_request(now);
    if (burst == nullptr) return;
    send(*burst);
  }
}

void MemoryPort::send(Burst& burst) {
  // The phase is annotated with the time at which the last beat of the request is on the wires.
  const uint64_t begin = std::max(clock_.now(), request_free_);
  const uint64_t sent = begin + (burst.is_write() ? port_cycles(burst.get_data_length()) : 1);
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = clock_.until(sent);
  ++in_flight_;
  burst.job_ = job_;
  burst.fails_ = one_fails(1);
  requesting_ = &burst;
  request_free_ = sent;
  const tlm::tlm_sync_enum status = socket_->nb_transport_fw(burst, phase, delay);
  if (status == tlm::TLM_ACCEPTED) return;  // everything else comes on the backward path
  requesting_ = nullptr;
  request_free_ = std::max(sent, clock_.after(delay));
  if (status == tlm::TLM_UPDATED && phase == tlm::END_REQ) return;
  burst.acquire();
  respond(burst, clock_.after(delay));
  if (status == tlm::TLM_UPDATED) {  // BEGIN_RESP: ends the request too, and wants its END_RESP
    phase = tlm::END_RESP;
    delay = clock_.until(response_free_);
    socket_->nb_transport_fw(burst, phase, delay);
  }
  burst.release();
}

tlm::tlm_sync_enum MemoryPort::nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                               sc_core::sc_time& delay) {
  Burst& burst = static_cast<Burst&>(payload);
  if (burst.job_ != job_) {  // late
    if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
    phase = tlm::END_RESP;
    burst.release();
    return tlm::TLM_COMPLETED;
  }
  if (requesting_ == &burst) {  // BEGIN_RESP without an END_REQ implies one
    requesting_ = nullptr;
    request_free_ = std::max(request_free_, clock_.after(delay));
    if (queued_ > 0) grant_alarm_.set(std::max(request_free_, clock_.now()));
  }
  if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
  respond(burst, clock_.after(delay));
  phase = tlm::END_RESP;
  delay = clock_.until(response_free_);
  return tlm::TLM_COMPLETED;
}

namespace {

// For a heap whose top is delivered first.
constexpr auto kLater = [](const auto* a, const auto* b) { return *b < *a; };

}  // namespace

void MemoryPort::respond(Burst& burst, uint64_t arrived) {
  response_free_ = std::max(arrived, response_free_) + (burst.is_read() ? port_cycles(burst.get_data_length()) : 1);
  burst.done_ = response_free_ + jitter_.memory();
  burst.sequence_ = responses_seen_++;
  responses_.push_back(&burst);
  std::push_heap(responses_.begin(), responses_.end(), kLater);
  deliver_alarm_.set(responses_.front()->done_);
}

void MemoryPort::deliver() {
  delivering_ = true;
  while (!responses_.empty() && responses_.front()->done_ <= clock_.now()) {
    std::pop_heap(responses_.begin(), responses_.end(), kLater);
    Burst& burst = *responses_.back();
    responses_.pop_back();
    --in_flight_;
    if (burst.client_ == nullptr) {
      burst.release();
    } else {
      burst.client_->burst_done(burst, burst.is_response_ok() && !burst.fails_);
    }
  }
  delivering_ = false;
  if (!responses_.empty()) deliver_alarm_.set(responses_.front()->done_);
  grant();
  if (idle()) idle_.notify(SC_ZERO_TIME);
}

void MemoryPort::flush() {
  for (auto& queue : queues_) {
    for (Burst* burst : queue) burst->release();
    queue.clear();
  }
  queued_ = 0;
  for (const auto& burst : bursts_) burst->client_ = nullptr;
  if (idle()) idle_.notify(SC_ZERO_TIME);
}

void MemoryPort::invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) { dmi_valid_ = dmi_refused_ = false; }

uint8_t* MemoryPort::direct(uint64_t address, uint64_t bytes, bool write) {
  if (!dmi_valid_ && !dmi_refused_) {
    tlm::tlm_generic_payload probe;
    probe.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
    probe.set_address(address);
    dmi_valid_ = socket_->get_direct_mem_ptr(probe, dmi_) && dmi_.is_read_write_allowed();
    dmi_refused_ = !dmi_valid_;
  }
  if (!dmi_valid_ || bytes == 0) return nullptr;
  if (address < dmi_.get_start_address() || address > dmi_.get_end_address() ||
      bytes - 1 > dmi_.get_end_address() - address) {
    return nullptr;
  }
  return dmi_.get_dmi_ptr() + (address - dmi_.get_start_address());
}

bool MemoryPort::transfer(tlm::tlm_command command, uint64_t address, uint8_t* data, uint64_t bytes) {
  while (bytes > 0) {
    const uint64_t length = timing::burst_bytes(address, bytes, burst_bytes_);
    tlm::tlm_generic_payload payload;
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(data);
    payload.set_data_length(static_cast<unsigned>(length));
    payload.set_streaming_width(static_cast<unsigned>(length));
    payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    sc_core::sc_time delay = SC_ZERO_TIME;
    socket_->b_transport(payload, delay);
    if (!payload.is_response_ok()) return false;
    address += length;
    data += length;
    bytes -= length;
  }
  return true;
}

bool MemoryPort::read_now(uint64_t address, std::span<uint8_t> data) {
  if (one_fails(bursts_of(address, data.size()))) return false;
  if (const uint8_t* memory = direct(address, data.size(), false)) {
    std::memcpy(data.data(), memory, data.size());
    return true;
  }
  return transfer(tlm::TLM_READ_COMMAND, address, data.data(), data.size());
}

bool MemoryPort::write_now(uint64_t address, std::span<const uint8_t> data) {
  if (one_fails(bursts_of(address, data.size()))) return false;
  if (uint8_t* memory = direct(address, data.size(), true)) {
    std::memcpy(memory, data.data(), data.size());
    return true;
  }
  return transfer(tlm::TLM_WRITE_COMMAND, address, const_cast<uint8_t*>(data.data()), data.size());
}

uint64_t MemoryPort::debug_transport(tlm::tlm_command command, uint64_t address, uint8_t* data, uint64_t bytes) {
  tlm::tlm_generic_payload payload;
  payload.set_command(command);
  payload.set_address(address);
  payload.set_data_ptr(data);
  payload.set_data_length(static_cast<unsigned>(bytes));
  payload.set_streaming_width(static_cast<unsigned>(bytes));
  return socket_->transport_dbg(payload);
}

bool MemoryPort::debug_write(uint64_t address, std::span<const uint8_t> data) {
  uint8_t* const bytes = const_cast<uint8_t*>(data.data());
  return debug_transport(tlm::TLM_WRITE_COMMAND, address, bytes, data.size()) == data.size();
}

bool MemoryPort::debug_read(uint64_t address, std::span<uint8_t> data) {
  return debug_transport(tlm::TLM_READ_COMMAND, address, data.data(), data.size()) == data.size();
}

}  // namespace npu::model
