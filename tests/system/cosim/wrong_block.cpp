// SPDX-License-Identifier: Apache-2.0
// `npu` with wrong blocks of RTL in place of the right ones, to see that they are found.
#include <cstdint>
#include <memory>
#include <vector>

#include "rtl/verilated/wrong.h"
#include "sim/cosim/blocks.h"
#include "tests/block/other_persistent_sram.h"

namespace {

// Bit 6 of all bytes that a command writes is another one.
class WrongPersistentSram final : public npu::rtl::test::OtherPersistentSram {
 public:
  using OtherPersistentSram::OtherPersistentSram;
  void access(const Access& access) override {
    std::vector<uint8_t> data(access.data.begin(), access.data.end());
    const bool wrong = access.write && !access.privileged;
    for (uint8_t& byte : data) byte ^= wrong ? 0x40 : 0;
    Access other = access;
    other.data = data;
    OtherPersistentSram::access(other);
  }
};

[[maybe_unused]] const bool wrong = [] {
  npu::cosim::Blocks& blocks = npu::cosim::blocks();
  blocks.mac_array = [](std::string_view) { return npu::rtl::make_wrong_mac_array(); };
  blocks.vpu = [](std::string_view) { return npu::rtl::make_wrong_vpu(); };
  blocks.persistent_sram = [right = blocks.persistent_sram](std::string_view machine) {
    return std::make_unique<WrongPersistentSram>(right(machine));
  };
  blocks.traced_mac_array = nullptr;
  blocks.traced_vpu = nullptr;
  return true;
}();

}  // namespace
