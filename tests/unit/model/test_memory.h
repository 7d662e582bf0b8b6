// SPDX-License-Identifier: Apache-2.0
// A memory for tests: a TLM-2.0 target that answers in one of the ways that the base protocol allows, and that checks
// the rules which bind the initiator.
#pragma once

#include <gtest/gtest.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <cstring>
#include <deque>
#include <systemc>
#include <tlm>
#include <vector>

namespace npu::model::testing {

enum class Answer {
  kUpdated,     // END_REQ on the return path, BEGIN_RESP later
  kFourPhases,  // TLM_ACCEPTED, END_REQ later, BEGIN_RESP later, waits for END_RESP
  kNoEndReq,    // TLM_ACCEPTED, BEGIN_RESP implies END_REQ
  kCompleted,   // TLM_COMPLETED with a delay
  kBeginResp,   // BEGIN_RESP on the return path
  kReversed,    // as kUpdated, every second response overtakes the one before
  kSilent,      // never answers, unless answer_held() is called
};

class TestMemory : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<TestMemory> socket;

  TestMemory(const sc_core::sc_module_name& name, uint64_t bytes, Answer answer, bool dmi)
      : sc_module(name), socket("socket"), data(bytes, 0xcd), answer_(answer), dmi_(dmi) {
    socket.register_b_transport(this, &TestMemory::b_transport);
    socket.register_nb_transport_fw(this, &TestMemory::nb_transport_fw);
    socket.register_get_direct_mem_ptr(this, &TestMemory::get_direct_mem_ptr);
    socket.register_transport_dbg(this, &TestMemory::transport_dbg);
    SC_HAS_PROCESS(TestMemory);
    SC_METHOD(end_request);
    sensitive << end_request_event_;
    dont_initialize();
    SC_METHOD(respond);
    sensitive << respond_event_;
    dont_initialize();
  }

  // From the next request on.
  void set_answer(Answer answer) { answer_ = answer; }
  // Responds now to what it was silent about.
  void answer_held() {
    for (tlm::tlm_generic_payload* payload : held_) waiting_.push_back({payload, sc_core::sc_time_stamp()});
    held_.clear();
    schedule();
  }

  std::vector<uint8_t> data;
  sc_core::sc_time latency{20, sc_core::SC_NS};
  uint64_t bursts = 0, blocking = 0;
  std::vector<uint32_t> lengths;
  uint32_t in_flight = 0, most_in_flight = 0;

 private:
  void execute(tlm::tlm_generic_payload& payload) {
    const uint64_t address = payload.get_address();
    const uint32_t length = payload.get_data_length();
    EXPECT_GT(length, 0u);
    EXPECT_EQ(payload.get_byte_enable_ptr(), nullptr);
    EXPECT_GE(payload.get_streaming_width(), length);
    if (address + length > data.size()) {
      payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
      return;
    }
    if (payload.is_read()) std::memcpy(payload.get_data_ptr(), data.data() + address, length);
    if (payload.is_write()) std::memcpy(data.data() + address, payload.get_data_ptr(), length);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }

  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
    ++blocking;
    execute(payload);
  }

  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) {
    EXPECT_TRUE(payload.has_mm());
    if (phase == tlm::END_RESP) {
      EXPECT_TRUE(awaiting_end_response_);
      awaiting_end_response_ = false;
      response_free_ = sc_core::sc_time_stamp() + delay;
      schedule();
      return tlm::TLM_COMPLETED;
    }
    EXPECT_EQ(phase, tlm::BEGIN_REQ);
    EXPECT_EQ(requesting_, nullptr) << "BEGIN_REQ before the END_REQ of the request before";
    EXPECT_GE(sc_core::sc_time_stamp() + delay, request_end_) << "BEGIN_REQ in the request phase before";
    EXPECT_EQ(payload.get_response_status(), tlm::TLM_INCOMPLETE_RESPONSE);
    ++bursts;
    lengths.push_back(payload.get_data_length());
    if (answer_ == Answer::kCompleted) {
      execute(payload);
      delay += latency;
      return tlm::TLM_COMPLETED;
    }
    if (answer_ == Answer::kBeginResp) {
      execute(payload);
      awaiting_end_response_ = true;
      delay += latency;
      phase = tlm::BEGIN_RESP;
      return tlm::TLM_UPDATED;
    }
    most_in_flight = std::max(most_in_flight, ++in_flight);
    payload.acquire();
    if (answer_ == Answer::kSilent) {
      held_.push_back(&payload);
      return tlm::TLM_ACCEPTED;
    }
    if (answer_ == Answer::kUpdated || answer_ == Answer::kReversed) {
      request_end_ = sc_core::sc_time_stamp() + delay;
      enqueue(payload);
      phase = tlm::END_REQ;
      return tlm::TLM_UPDATED;
    }
    requesting_ = &payload;
    if (answer_ == Answer::kNoEndReq) enqueue(payload);
    if (answer_ == Answer::kFourPhases) end_request_event_.notify(delay + latency);
    return tlm::TLM_ACCEPTED;
  }

  // The response is due `latency` after the request was made.
  void enqueue(tlm::tlm_generic_payload& payload) {
    const Response response{&payload, sc_core::sc_time_stamp() + latency};
    if (answer_ == Answer::kReversed && waiting_.size() % 2 == 1) {
      waiting_.push_front(response);
    } else {
      waiting_.push_back(response);
    }
    schedule();
  }

  void schedule() {
    if (waiting_.empty() || awaiting_end_response_) return;
    const sc_core::sc_time at = std::max(waiting_.front().at, response_free_);
    const sc_core::sc_time& now = sc_core::sc_time_stamp();
    respond_event_.notify(at > now ? at - now : sc_core::SC_ZERO_TIME);
  }

  void end_request() {
    tlm::tlm_phase phase = tlm::END_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    tlm::tlm_generic_payload& payload = *requesting_;
    requesting_ = nullptr;
    socket->nb_transport_bw(payload, phase, delay);
    enqueue(payload);
  }

  void respond() {
    if (waiting_.empty() || awaiting_end_response_) return;
    if (std::max(waiting_.front().at, response_free_) > sc_core::sc_time_stamp()) return schedule();
    tlm::tlm_generic_payload& payload = *waiting_.front().payload;
    waiting_.pop_front();
    if (&payload == requesting_) requesting_ = nullptr;
    execute(payload);
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    awaiting_end_response_ = true;
    if (socket->nb_transport_bw(payload, phase, delay) == tlm::TLM_COMPLETED) {
      awaiting_end_response_ = false;
      response_free_ = sc_core::sc_time_stamp() + delay;
    }
    --in_flight;
    payload.release();
    schedule();
  }

  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi& access) {
    if (!dmi_) return false;
    access.set_dmi_ptr(data.data());
    access.set_start_address(0);
    access.set_end_address(data.size() - 1);
    access.allow_read_write();
    return true;
  }

  unsigned transport_dbg(tlm::tlm_generic_payload& payload) {
    const uint64_t address = payload.get_address();
    const uint32_t length = payload.get_data_length();
    if (address + length > data.size()) return 0;
    if (payload.is_write()) std::memcpy(data.data() + address, payload.get_data_ptr(), length);
    if (payload.is_read()) std::memcpy(payload.get_data_ptr(), data.data() + address, length);
    return length;
  }

  struct Response {
    tlm::tlm_generic_payload* payload;
    sc_core::sc_time at;
  };

  Answer answer_;
  bool dmi_;
  tlm::tlm_generic_payload* requesting_ = nullptr;
  std::deque<Response> waiting_;
  std::vector<tlm::tlm_generic_payload*> held_;
  bool awaiting_end_response_ = false;
  sc_core::sc_time request_end_, response_free_;
  sc_core::sc_event end_request_event_, respond_event_;
};

}  // namespace npu::model::testing
