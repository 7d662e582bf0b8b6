// SPDX-License-Identifier: Apache-2.0
// The chip in a platform of its own: prints the id that it answers with, through its host socket.
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdio>
#include <cstring>
#include <systemc>
#include <vector>

#include "firmware/image.h"
#include "hw/contract/error.h"
#include "hw/contract/gen/registers.h"
#include "hw/engine/mxu_model.h"
#include "hw/engine/vpu_model.h"
#include "hw/model/chip.h"
#include "hw/presets/preset.h"
#include "sim/platform/iss_loader.h"

namespace {

class Memory : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<Memory> socket;

  Memory(const sc_core::sc_module_name& name, size_t bytes) : sc_module(name), socket("socket"), bytes_(bytes) {
    socket.register_b_transport(this, &Memory::b_transport);
  }

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    const uint64_t address = payload.get_address(), length = payload.get_data_length();
    const bool fits = address <= bytes_.size() && length <= bytes_.size() - address;
    payload.set_response_status(fits ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
    delay += sc_core::sc_time(60, sc_core::SC_NS);
    if (!fits) return;
    if (payload.is_write()) std::memcpy(bytes_.data() + address, payload.get_data_ptr(), length);
    if (payload.is_read()) std::memcpy(payload.get_data_ptr(), bytes_.data() + address, length);
  }
  std::vector<uint8_t> bytes_;
};

class Board : public sc_core::sc_module {
 public:
  Board(const sc_core::sc_module_name& name, const npu::model::ChipConfig& config)
      : sc_module(name),
        chip("chip", config, npu::engine::make_mxu_model(config.npu.caps),
             npu::engine::make_vpu_model(config.npu.caps)),
        memory("memory", 1 << 20),
        cpu_memory("cpu_memory", 1 << 20),
        host("host"),
        irq("irq") {
    host.bind(chip.host);
    chip.memory.bind(memory.socket);
    chip.cpu_memory.bind(cpu_memory.socket);
    chip.irq.bind(irq);
  }

  npu::model::Chip chip;
  Memory memory, cpu_memory;
  tlm_utils::simple_initiator_socket<Board> host;
  sc_core::sc_signal<bool> irq;

  uint32_t read(uint32_t offset) {
    uint32_t value = 0;
    tlm::tlm_generic_payload payload;
    payload.set_command(tlm::TLM_READ_COMMAND);
    payload.set_address(offset);
    payload.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
    payload.set_data_length(4);
    payload.set_streaming_width(4);
    sc_core::sc_time delay;
    host->b_transport(payload, delay);
    return payload.is_response_ok() ? value : 0;
  }
};

}  // namespace

int sc_main(int, char**) {
  try {
    npu::model::ChipConfig config;
    config.npu.caps = npu::presets::load_preset("nano").caps;
    config.iss = npu::platform::load_iss(CPU_SIMULATOR);
    Board board("board", config);
    sc_core::sc_start(1, sc_core::SC_US);
    std::printf("id 0x%08x after %s, firmware of %zu bytes\n",
                static_cast<unsigned>(board.read(npu::contract::reg::kId)),
                sc_core::sc_time_stamp().to_string().c_str(), npu::firmware::image().size());
  } catch (const npu::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.exit_status();
  }
  return 0;
}
