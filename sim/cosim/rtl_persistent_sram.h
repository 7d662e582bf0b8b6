// SPDX-License-Identifier: Apache-2.0
// The persistent SRAM of a device on RTL: all that happens to the model's happens to the block, and the device goes on
// with what the block answers; or, in lockstep, with the model's answers, and each of the block's is compared.
//
// The block works without other users of its port. How long its operations then take is compared with
// hw/timing/table_cycles.h; the cycles that the device plays are the model's, whichever computes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hw/contract/gen/capabilities.h"
#include "hw/engine/persistent_back_end.h"
#include "sim/cosim/cycle_comparison.h"
#include "sim/cosim/persistent_block.h"

namespace npu::cosim {

struct PersistentRecord {
  uint64_t operations = 0;  // on the table
  uint64_t accesses = 0;    // of a row each
  // Words of 8 bytes that were read, entries of the table, places of variables, answers and status bits that were
  // compared.
  uint64_t compared = 0;
  // Of operations that end well, and of the times that the memory cleared itself.
  CycleComparison cycles;
};

class RtlPersistentSram final : public engine::PersistentBackEnd {
 public:
  // Told once, with the reason: elements_differ in lockstep, else bug.
  using Fail = std::function<void(contract::ErrorCode code, const std::string& text)>;

  // The block has the sizes of the machine.
  RtlPersistentSram(std::unique_ptr<rtl::PersistentSram> block, bool lockstep, PersistentRecord& record, Fail fail);

  void connect(std::span<uint8_t> image) override;
  void reset() override;
  void set_power(contract::PsramPower power) override;
  void acknowledge_loss() override;
  void flip(uint64_t word, uint32_t bit) override;
  [[nodiscard]] engine::TableAnswer operate(const engine::TableRequest& request,
                                            const engine::TableAnswer& model) override;
  [[nodiscard]] std::optional<uint64_t> read(uint64_t low, uint64_t high, bool host,
                                             std::optional<uint64_t> wrong) override;
  void write(uint64_t low, uint64_t high, bool host) override;
  void put(uint64_t low, uint64_t high, std::span<const engine::WrongWord> wrong) override;
  void scrub(uint32_t uncorrectable) override;
  void refuse(uint64_t address) override;
  [[nodiscard]] engine::PersistentStatus status(const engine::PersistentStatus& model) override;
  [[nodiscard]] contract::ErrorCode failure() const override { return failure_; }

  // Between jobs, when the run is over: compares all that the memory holds, in lockstep and while it is on. The block
  // is left alone from then on.
  void finish();

 private:
  struct Row {
    uint32_t number, strobe;
    uint64_t low, high;  // bytes meant
  };

  template <class Work>
  void work(Work&& work);
  template <class Visit>
  void for_each_row(uint64_t low, uint64_t high, Visit&& visit) const;
  [[nodiscard]] PersistentBlock::Answer access(const Row& row, bool write, bool host);
  void take(const Row& row, const PersistentBlock::Answer& answer);
  void compare_row(const Row& row, const PersistentBlock::Answer& answer);
  void must_take(const Row& row, bool host);
  void inject(uint64_t word, uint64_t data_flips, uint8_t check_flips);
  void compare_end(const engine::TableRequest& request, const engine::TableAnswer& model,
                   const PersistentBlock::End& end);
  void take_marks(const engine::TableRequest& request);
  void cleared(uint64_t cycles);
  void compare(uint64_t got, uint64_t wanted, const std::string& what);
  void fail(contract::ErrorCode code, const std::string& text);
  [[nodiscard]] uint32_t lanes() const;
  [[nodiscard]] uint64_t table_bytes() const { return table_.bytes(); }

  PersistentBlock block_;
  const bool lockstep_;
  PersistentRecord& record_;
  Fail fail_;
  std::span<uint8_t> image_;
  engine::VariableTable table_;  // of the image
  contract::PsramPower power_ = contract::PsramPower::kOn;
  std::vector<engine::WrongWord> flips_;  // until power is on again
  contract::ErrorCode failure_ = contract::ErrorCode::kOk;
  bool over_ = false;  // the block is not used any more
};

// The RTL of the machine: that which was built of one with the same sizes. Throws npu::Error: feature_unsupported when
// there is no RTL beside this program, bad_preset when none was built with these sizes.
[[nodiscard]] std::unique_ptr<rtl::PersistentSram> make_rtl_persistent_sram(const contract::Capabilities& caps);
// Whether it was built. Throws feature_unsupported when there is no RTL at all.
[[nodiscard]] bool has_rtl_persistent_sram(const contract::Capabilities& caps);

}  // namespace npu::cosim
