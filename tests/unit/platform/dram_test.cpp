// SPDX-License-Identifier: Apache-2.0
// The DRAM as a TLM-2.0 target.
#include "sim/platform/dram.h"

#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <memory>
#include <vector>

namespace npu::platform::testing {
namespace {

using sc_core::sc_time;

class Manager : public tlm::tlm_mm_interface {
 public:
  void free(tlm::tlm_generic_payload*) override { ++freed; }
  int freed = 0;
};

// An initiator that sends what it is told and notes the responses.
class Initiator : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<Initiator> socket;

  Initiator(const sc_core::sc_module_name& name, tlm::tlm_sync_enum answer)
      : sc_module(name), socket("socket"), answer_(answer) {
    socket.register_nb_transport_bw(this, &Initiator::nb_transport_bw);
  }

  void send(tlm::tlm_generic_payload& payload) {
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_time delay = sc_core::SC_ZERO_TIME;
    EXPECT_EQ(socket->nb_transport_fw(payload, phase, delay), tlm::TLM_UPDATED);
    EXPECT_EQ(phase, tlm::END_REQ);
  }
  void end_response() {
    tlm::tlm_phase phase = tlm::END_RESP;
    sc_time delay = sc_core::SC_ZERO_TIME;
    EXPECT_EQ(socket->nb_transport_fw(*last_, phase, delay), tlm::TLM_COMPLETED);
  }

  std::vector<sc_time> responses;

 private:
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_time& delay) {
    EXPECT_EQ(phase, tlm::BEGIN_RESP);
    responses.push_back(sc_core::sc_time_stamp());
    last_ = &payload;
    if (answer_ == tlm::TLM_COMPLETED) {
      phase = tlm::END_RESP;
      delay = sc_time(40, sc_core::SC_NS);  // the response phase is long
    }
    return answer_;
  }

  tlm::tlm_sync_enum answer_;
  tlm::tlm_generic_payload* last_ = nullptr;
};

struct Bench {
  explicit Bench(tlm::tlm_sync_enum answer) : initiator("initiator", answer), cpu("cpu", answer) {
    initiator.socket.bind(dram.socket);
    cpu.socket.bind(dram.cpu);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  tlm::tlm_generic_payload& payload(bool write, uint64_t address, std::vector<uint8_t>& data) {
    payloads.push_back(std::make_unique<tlm::tlm_generic_payload>(&manager));
    tlm::tlm_generic_payload& payload = *payloads.back();
    payload.acquire();
    payload.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
    payload.set_address(address);
    payload.set_data_ptr(data.data());
    payload.set_data_length(static_cast<unsigned>(data.size()));
    payload.set_streaming_width(static_cast<unsigned>(data.size()));
    return payload;
  }
  static presets::Dram timing() { return presets::load_preset("edge").dram; }

  Dram dram{"dram", timing(), 1 << 20};
  Initiator initiator, cpu;
  Manager manager;
  std::vector<std::unique_ptr<tlm::tlm_generic_payload>> payloads;
};

TEST(DramTest, ResponsesComeWhenTheRowModelSays) {
  Bench bench(tlm::TLM_COMPLETED);
  std::vector<uint8_t> written(256, 7), read(256, 0);
  bench.initiator.send(bench.payload(true, 512, written));
  bench.initiator.send(bench.payload(false, 512, read));
  sc_core::sc_start(sc_time(1, sc_core::SC_US));
  ASSERT_EQ(bench.initiator.responses.size(), 2u);
  // Closed row: 18 + 18 ns to data, 256 bytes at 12.8 bytes a ns = 20 ns.
  EXPECT_EQ(bench.initiator.responses[0], sc_time(56, sc_core::SC_NS));
  // Its data is there at 76; the response phase before it ends at 96.
  EXPECT_EQ(bench.initiator.responses[1], sc_time(96, sc_core::SC_NS));
  EXPECT_EQ(read, written);
  EXPECT_TRUE(bench.payloads[0]->is_response_ok());
  EXPECT_EQ(bench.payloads[0]->get_ref_count(), 1);
}

TEST(DramTest, WaitsForEndResp) {
  Bench bench(tlm::TLM_ACCEPTED);
  std::vector<uint8_t> data(64, 0);
  bench.initiator.send(bench.payload(false, 0, data));
  bench.initiator.send(bench.payload(false, 64, data));
  sc_core::sc_start(sc_time(1, sc_core::SC_US));
  ASSERT_EQ(bench.initiator.responses.size(), 1u);
  bench.initiator.end_response();
  sc_core::sc_start(sc_time(1, sc_core::SC_US));
  EXPECT_EQ(bench.initiator.responses.size(), 2u);
}

TEST(DramTest, BlockingTransportAddsTheSameTime) {
  Bench bench(tlm::TLM_COMPLETED);
  std::vector<uint8_t> data(256, 0);
  tlm::tlm_generic_payload& payload = bench.payload(false, 0, data);
  sc_time delay(5, sc_core::SC_NS);
  bench.initiator.socket->b_transport(payload, delay);
  EXPECT_EQ(delay, sc_time(5 + 56, sc_core::SC_NS));
  EXPECT_TRUE(payload.is_response_ok());
}

TEST(DramTest, BothSocketsShareStorageRowsAndBus) {
  Bench bench(tlm::TLM_COMPLETED);
  std::vector<uint8_t> written(256, 7), word(4, 0);
  // Annotated to arrive at 30 ns: closed row, 18 + 18 ns to data, 20 ns of it, done at 86.
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_time delay(30, sc_core::SC_NS);
  ASSERT_EQ(bench.initiator.socket->nb_transport_fw(bench.payload(true, 0, written), phase, delay), tlm::TLM_UPDATED);
  // Arrives with it, finds its row open, and waits for the bus: 64 bytes at 12.8 bytes a ns after 86.
  tlm::tlm_generic_payload& read = bench.payload(false, 64, word);
  delay = sc_core::SC_ZERO_TIME;
  bench.cpu.socket->b_transport(read, delay);
  EXPECT_EQ(delay, sc_time(91, sc_core::SC_NS));
  EXPECT_TRUE(read.is_response_ok());
  EXPECT_EQ(word, std::vector<uint8_t>(4, 7));
  std::vector<uint8_t> back(4, 9);
  EXPECT_EQ(bench.cpu.socket->transport_dbg(bench.payload(true, 128, back)), 4u);
  EXPECT_EQ(bench.dram.memory()[128], 9);
  EXPECT_EQ(bench.initiator.socket->transport_dbg(bench.payload(false, 128, word)), 4u);
  EXPECT_EQ(word, back);
  sc_core::sc_start(sc_time(1, sc_core::SC_US));
  EXPECT_EQ(bench.initiator.responses, std::vector<sc_time>{sc_time(86, sc_core::SC_NS)});
  EXPECT_TRUE(bench.cpu.responses.empty());
}

TEST(DramTest, OutsideIsAnAddressError) {
  Bench bench(tlm::TLM_COMPLETED);
  std::vector<uint8_t> data(64, 0);
  sc_time delay = sc_core::SC_ZERO_TIME;
  for (const uint64_t address : {uint64_t{(1 << 20) - 63}, uint64_t{1} << 20, ~uint64_t{0} - 10}) {
    tlm::tlm_generic_payload& payload = bench.payload(false, address, data);
    bench.initiator.socket->b_transport(payload, delay);
    EXPECT_EQ(payload.get_response_status(), tlm::TLM_ADDRESS_ERROR_RESPONSE);
  }
  tlm::tlm_generic_payload& payload = bench.payload(false, (1 << 20) - 10, data);
  EXPECT_EQ(bench.initiator.socket->transport_dbg(payload), 10u);
}

TEST(DramTest, DmiIsAllOfTheMemory) {
  Bench bench(tlm::TLM_COMPLETED);
  std::vector<uint8_t> data(64, 0);
  tlm::tlm_dmi dmi;
  ASSERT_TRUE(bench.initiator.socket->get_direct_mem_ptr(bench.payload(false, 0, data), dmi));
  EXPECT_EQ(dmi.get_start_address(), 0u);
  EXPECT_EQ(dmi.get_end_address(), (1u << 20) - 1);
  EXPECT_TRUE(dmi.is_read_write_allowed());
  EXPECT_EQ(dmi.get_dmi_ptr(), bench.dram.memory().data());
}

}  // namespace
}  // namespace npu::platform::testing
