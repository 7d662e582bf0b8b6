// SPDX-License-Identifier: Apache-2.0
// The whole device as one SystemC module: the NPU, its control CPU, and the mailbox between host and firmware.
//
//   host        target. Registers at their offsets, whole aligned words: the blocks id and mailbox answer, core and cpu
//               give an address error. Windows: psram (writes to the variable table's part are refused), code (write
//               only, and only while the CPU is held in reset), data (read only). b_transport takes no time; one that
//               resets the core may wait. transport_dbg has no side effects, and may read the code.
//   memory      initiator, the NPU's traffic (npu.h)
//   cpu_memory  initiator, the CPU's traffic: b_transport, taking the target's delay; transport_dbg for phase records
//   irq         level: a raised and enabled bit of host_irq_status
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <systemc>

#include "hw/engine/engine.h"
#include "hw/model/control_cpu.h"
#include "hw/model/mailbox.h"
#include "hw/model/npu.h"

namespace npu::model {

struct ChipConfig {
  NpuConfig npu;
  IssFactory iss;
  std::function<void(char)> uart;  // may be empty
};

class Chip : public sc_core::sc_module, private CpuPeripherals, private MailboxPort {
 private:
  ControlCpu cpu_;
  Npu npu_;
  Mailbox mailbox_;

 public:
  tlm_utils::simple_target_socket<Chip> host;
  MemoryPort::Socket& memory;
  tlm_utils::simple_initiator_socket<ControlCpu>& cpu_memory;
  sc_core::sc_out<bool> irq;

  // Throws Error when there is no instruction-set simulator.
  Chip(const sc_core::sc_module_name& name, const ChipConfig& config, std::unique_ptr<engine::Engine> mxu,
       std::unique_ptr<engine::Engine> vpu, std::unique_ptr<engine::PersistentBackEnd> persistent = nullptr);

  [[nodiscard]] ControlCpu& cpu() { return cpu_; }
  [[nodiscard]] Npu& npu() { return npu_; }
  // Test hook: as many interrupts for the host are lost.
  void drop_interrupts(uint32_t count) { mailbox_.drop_interrupts(count); }

 private:
  // What the CPU reaches.
  [[nodiscard]] bool acts(uint32_t offset, bool write) const override;
  [[nodiscard]] bool access_register(uint32_t offset, bool write, uint32_t& value) override;
  [[nodiscard]] bool access_psram(uint32_t offset, bool write, uint32_t& value) override;
  [[nodiscard]] bool debug_register(uint32_t offset, bool write, uint32_t& value) override;
  [[nodiscard]] bool debug_psram(uint32_t offset, bool write, std::span<uint8_t> bytes) override;
  void cpu_stopped() override;
  // What the mailbox moves.
  void reset_core(bool cold) override;
  void host_irq_changed() override;
  void write_phase(uint64_t address, std::span<const uint8_t> record) override;
  void arm_hang(bool enable, uint32_t queue, uint32_t command) override;
  [[nodiscard]] bool hang_armed() const override;
  void flip_bit(uint32_t address, uint32_t bit) override { npu_.flip_bit(address, bit); }
  void brown_out(uint32_t bytes) override { npu_.brown_out(bytes); }
  [[nodiscard]] uint32_t brown_out_left() const override { return npu_.brown_out_left(); }
  void fail_burst(uint32_t n) override { npu_.fail_burst(n); }
  [[nodiscard]] uint32_t bursts_until_error() const override { return npu_.bursts_until_error(); }

  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned transport_dbg(tlm::tlm_generic_payload& payload);
  [[nodiscard]] tlm::tlm_response_status access(tlm::tlm_generic_payload& payload, bool debug);
  [[nodiscard]] tlm::tlm_response_status access_words(tlm::tlm_generic_payload& payload, bool debug);
  [[nodiscard]] tlm::tlm_response_status access_memory(tlm::tlm_generic_payload& payload, bool debug);
  [[nodiscard]] bool host_word(uint32_t offset, bool write, bool debug, uint32_t& value);
  [[nodiscard]] bool cpu_word(uint32_t offset, bool write, bool debug, uint32_t& value);
  [[nodiscard]] static bool move(std::span<uint8_t> memory, uint64_t offset, bool write, std::span<uint8_t> bytes);
  [[nodiscard]] bool core_access(uint64_t address, bool write, bool debug, std::span<uint8_t> bytes);
  void drive_irq() { irq.write(mailbox_.host_interrupt()); }
  void core_irq_changed() { mailbox_.set_core_interrupt(core_irq_.read()); }

  const uint32_t table_bytes_;
  std::array<bool, contract::kRegisterSpaceBytes / 4> id_{};  // words of block id, which the core answers for
  tlm_utils::simple_initiator_socket<Chip> core_;             // to the Npu's host socket
  sc_core::sc_signal<bool> core_irq_;
  sc_core::sc_event host_irq_event_;
};

}  // namespace npu::model
