// SPDX-License-Identifier: Apache-2.0
// The port to memory (DRAM): bursts of all DMA channels and of the command fetch, on one TLM-2.0 initiator socket.
//
// Timed mode: the approximately-timed base protocol, one request and one response phase at a time, any number of bursts
// in flight, completed in any order. Requesters are served round robin. The port has a request and a response path,
// each dma_port_bytes a cycle: a read takes the request path for one cycle and the response path for its data, a write
// takes the request path for its data and the response path for one cycle. A response counts from BEGIN_RESP, which a
// target sends when it holds the whole burst. Functional mode: direct memory pointers where the target grants them,
// b_transport elsewhere.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <systemc>
#include <tlm>
#include <vector>

#include "hw/contract/gen/capabilities.h"
#include "hw/model/agenda.h"
#include "hw/model/clock.h"
#include "hw/model/jitter.h"

namespace npu::model {

class Burst;

class BurstClient {
 public:
  virtual ~BurstClient() = default;
  // The last byte of the response has come. The client releases the burst when it has used the data. `ok` is false when
  // the target answered with an error.
  virtual void burst_done(Burst& burst, bool ok) = 0;
};

// A transaction with its data; owned by the port's pool.
class Burst : public tlm::tlm_generic_payload {
 public:
  [[nodiscard]] std::span<uint8_t> data() { return {buffer_.data(), get_data_length()}; }
  uint32_t tag = 0;  // the client's

  // Order of delivery.
  friend bool operator<(const Burst& a, const Burst& b) {
    return a.done_ != b.done_ ? a.done_ < b.done_ : a.sequence_ < b.sequence_;
  }

 private:
  friend class MemoryPort;
  std::vector<uint8_t> buffer_;
  BurstClient* client_ = nullptr;
  uint64_t earliest_ = 0;  // cycle before which it is not sent
  uint64_t done_ = 0;      // cycle at which its response is through
  uint64_t sequence_ = 0;  // responses of one cycle stay in the order in which they came
  uint64_t job_ = 0;       // in which it was sent
  bool fails_ = false;     // by the test hook
};

class MemoryPort : public sc_core::sc_module, public tlm::tlm_mm_interface {
 public:
  using Socket = tlm_utils::simple_initiator_socket<MemoryPort>;
  static constexpr uint32_t kFetchRequester = 8;  // DMA channels are 0 to 7
  static constexpr uint32_t kRequesters = 9;

  MemoryPort(const sc_core::sc_module_name& name, Socket& socket, const contract::Capabilities& caps,
             const Clock& clock, Agenda& agenda, JitterSource& jitter);
  ~MemoryPort() override;

  // Forgets what an aborted job left behind. A later answer to its bursts is dropped.
  void begin_job();

  // A burst of `bytes` <= dma_burst_bytes to fill in (write) and submit.
  [[nodiscard]] Burst& make(bool write, uint64_t address, uint32_t bytes, BurstClient& client);
  // Not sent before cycle `earliest`; the bursts of a requester are sent in order.
  void submit(Burst& burst, uint32_t requester, uint64_t earliest = 0);
  // The client is done with a burst that burst_done gave it.
  void release(Burst& burst) { burst.release(); }

  // Forgets bursts that were not sent; those in flight complete without a client.
  void flush();
  [[nodiscard]] bool idle() const { return in_flight_ == 0 && queued_ == 0; }
  // Notified when the last burst in flight completes.
  [[nodiscard]] const sc_core::sc_event& idle_event() const { return idle_; }

  // Test hook: the n-th burst from now on is answered as if the target had said that it failed; 0: none.
  void fail_burst(uint32_t n) { until_error_ = n; }
  // How many are still to come until then; 0: none, or it has struck.
  [[nodiscard]] uint32_t bursts_until_error() const { return until_error_; }

  // Functional mode: the whole transfer now. False when the target answers with an error.
  [[nodiscard]] bool read_now(uint64_t address, std::span<uint8_t> data);
  [[nodiscard]] bool write_now(uint64_t address, std::span<const uint8_t> data);
  // The trace port: no time, no traffic. False when the target did not take or give all of it.
  bool debug_write(uint64_t address, std::span<const uint8_t> data);
  bool debug_read(uint64_t address, std::span<uint8_t> data);

 private:
  void free(tlm::tlm_generic_payload* payload) override;
  void grant();
  [[nodiscard]] Burst* next_request(uint64_t now);
  void send(Burst& burst);
  void respond(Burst& burst, uint64_t arrived);
  void deliver();
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  void invalidate_direct_mem_ptr(sc_dt::uint64 low, sc_dt::uint64 high);
  [[nodiscard]] uint8_t* direct(uint64_t address, uint64_t bytes, bool write);
  bool transfer(tlm::tlm_command command, uint64_t address, uint8_t* data, uint64_t bytes);
  // So many bursts go out: whether one of them is the one that fails.
  [[nodiscard]] bool one_fails(uint64_t bursts);
  [[nodiscard]] uint64_t bursts_of(uint64_t address, uint64_t bytes) const {
    return (address % burst_bytes_ + bytes + burst_bytes_ - 1) / burst_bytes_;
  }
  [[nodiscard]] uint64_t port_cycles(uint64_t bytes) const { return (bytes + port_bytes_ - 1) / port_bytes_; }

  uint64_t debug_transport(tlm::tlm_command command, uint64_t address, uint8_t* data, uint64_t bytes);

  Socket& socket_;
  const Clock& clock_;
  JitterSource& jitter_;
  const uint32_t port_bytes_;
  const uint32_t burst_bytes_;

  std::vector<std::unique_ptr<Burst>> bursts_;  // all that exist
  std::vector<Burst*> pool_;                    // those that are free
  std::deque<Burst*> queues_[kRequesters];
  uint32_t queued_ = 0;
  uint32_t in_flight_ = 0;
  bool delivering_ = false;
  uint32_t until_error_ = 0;
  uint32_t last_granted_ = kRequesters - 1;
  Burst* requesting_ = nullptr;  // sent BEGIN_REQ, END_REQ not seen
  uint64_t request_free_ = 0;    // cycle from which the request path is free
  uint64_t response_free_ = 0;
  std::vector<Burst*> responses_;  // heap, the next one to deliver first
  uint64_t responses_seen_ = 0;
  uint64_t job_ = 0;  // number of jobs begun
  Alarm deliver_alarm_, grant_alarm_;
  sc_core::sc_event idle_;
  tlm::tlm_dmi dmi_;
  bool dmi_valid_ = false, dmi_refused_ = false;
};

}  // namespace npu::model
