// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/lower/registers.h"

#include <algorithm>
#include <map>
#include <set>

#include "hw/contract/error.h"
#include "hw/contract/uop_fields.h"

namespace npu::compiler {
using contract::Uop;
using contract::UopRole;

namespace {

bool loads(const Uop& uop) { return operand_of(uop).role == UopRole::kLoaded; }

}  // namespace

void number_values(std::vector<Uop>& uops) {
  std::map<uint32_t, uint32_t> value_in;  // by register
  uint32_t count = 0;
  for (Uop& uop : uops) {
    for_each_source(uop, [&](uint32_t& source) { source = value_in.at(source); });
    if (!has_result(uop.op)) continue;
    value_in[uop.dst] = count;
    uop.dst = count++;
  }
}

void loads_before_use(std::vector<Uop>& uops) {
  for (size_t i = uops.size(); i-- > 0;) {
    if (!loads(uops[i])) continue;
    const auto stays = [&](Uop uop) {
      bool reads = operand_of(uop).role == UopRole::kStored;
      for_each_source(uop, [&](uint32_t value) { reads |= value == uops[i].dst; });
      return reads;
    };
    const auto load = uops.begin() + static_cast<std::ptrdiff_t>(i);
    std::rotate(load, load + 1, std::find_if(load + 1, uops.end(), stays));
  }
  number_values(uops);
}

uint32_t allocate_registers(std::vector<Uop>& uops) {
  std::vector<size_t> last_use;
  for (size_t i = 0; i < uops.size(); ++i) {
    if (has_result(uops[i].op)) {
      NPU_CHECK(uops[i].dst == last_use.size());
      last_use.push_back(i);
    }
    for_each_source(uops[i], [&](uint32_t value) { last_use[value] = i; });
  }
  std::vector<uint32_t> home(last_use.size());
  std::set<uint32_t> free;
  uint32_t count = 0;
  for (size_t i = 0; i < uops.size(); ++i) {
    Uop& uop = uops[i];
    std::vector<uint32_t> dying;
    for_each_source(uop, [&](uint32_t& value) {
      if (last_use[value] == i) dying.push_back(home[value]);
      value = home[value];
    });
    free.insert(dying.begin(), dying.end());
    if (!has_result(uop.op)) continue;
    if (free.empty()) free.insert(count++);
    const uint32_t value = uop.dst;
    const bool replaces = i > 0 && loads(uops[i - 1]) && free.count(uops[i - 1].dst) != 0;
    uop.dst = home[value] = replaces ? uops[i - 1].dst : *free.begin();
    // A result without readers gives its register back at once.
    if (last_use[value] != i) free.erase(uop.dst);
  }
  return count;
}

std::optional<MicroProgram> loads_before_stores(const MicroProgram& program, const std::function<bool(uint32_t)>& early,
                                                const std::function<bool(uint32_t)>& late, uint32_t registers) {
  const auto is_store = [&](const Uop& uop) {
    const contract::NamedOperand operand = operand_of(uop);
    return operand.role == UopRole::kStored && late(operand.index);
  };
  const auto is_load = [&](const Uop& uop) {
    const contract::NamedOperand operand = operand_of(uop);
    return operand.role == UopRole::kLoaded && early(operand.index);
  };
  MicroProgram out = program;
  const auto store = std::find_if(out.uops.begin(), out.uops.end(), is_store);
  if (std::none_of(store, out.uops.end(), is_load)) return out;
  number_values(out.uops);
  std::stable_partition(store, out.uops.end(), is_load);
  number_values(out.uops);
  out.register_count = allocate_registers(out.uops);
  if (out.register_count > registers) return std::nullopt;
  return out;
}

}  // namespace npu::compiler
