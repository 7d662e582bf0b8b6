// SPDX-License-Identifier: Apache-2.0
#include "driver/runtime/dram_advice.h"

#include <fmt/format.h>

#include "hw/contract/advice.h"

namespace npu::runtime {

std::string dram_way_out(const RangeAllocator& dram, compiler::DramNeeds needs, std::vector<contract::Need> lacking) {
  const bool firmware = dram.reserved() > 0;
  const uint64_t others = dram.used() - dram.reserved();
  if (others > 0) needs.others = {others};
  const std::string destroy = "destroy programs or clear contexts that are not needed any more";
  if (compiler::fits_into(needs, dram.capacity(), firmware)) {
    return fmt::format("the largest free piece has {}, since loaded programs lie between; {}", dram.largest_free(),
                       destroy);
  }
  lacking.push_back({"dram_mib", compiler::least_dram_mib(needs, firmware)});
  std::string way_out =
      contract::smallest_machine(lacking, others > 0 ? "it together with what is loaded already" : "it");
  if (others > 0) way_out += "; or " + destroy;
  return way_out;
}

}  // namespace npu::runtime
