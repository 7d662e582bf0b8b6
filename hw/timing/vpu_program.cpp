// SPDX-License-Identifier: Apache-2.0
#include "hw/timing/vpu_program.h"

#include "hw/contract/uop_fields.h"
#include "hw/timing/vpu_cycles.h"

namespace npu::timing {
namespace {

using contract::Element;
using contract::Uop;
using contract::UopCode;

class Grouper {
 public:
  Grouper(std::span<const Uop> uops, std::span<const Element> types, const contract::Capabilities& caps)
      : uops_(uops), types_(types), caps_(caps) {}

  std::vector<UopGroup> run() {
    std::vector<UopGroup> groups;
    for (size_t next = 0; next < uops_.size(); next = groups.back().end()) groups.push_back(from(next));
    return groups;
  }

 private:
  [[nodiscard]] UopGroup from(size_t first) const {
    UopGroup group;
    group.first = first;
    group.load_shares = load_shares(first);
    group.passes = uop_passes(uops_[group.owner()], type_of(uops_[group.owner()]), caps_);
    const bool asks = group.load_shares && group.passes == 1;
    group.store_shares = !asks && store_shares(group.owner());
    return group;
  }

  [[nodiscard]] Element type_of(const Uop& uop) const {
    const contract::NamedOperand operand = operand_of(uop);
    return operand.role != contract::UopRole::kUnused && operand.index < types_.size() ? types_[operand.index]
                                                                                       : Element::kI32;
  }

  [[nodiscard]] static bool computes(const Uop& uop) { return uop.op != UopCode::kLoad && uop.op != UopCode::kStore; }

  // Whether a load or store may do without passes of its own.
  [[nodiscard]] bool may_share(const Uop& memory) const {
    return caps_.vpu_shared_pass != 0 && type_of(memory) != Element::kI48;
  }

  // Whether micro-operation `i` is a load that shares the first pass of the one behind it.
  [[nodiscard]] bool load_shares(size_t i) const {
    if (i + 1 >= uops_.size() || uops_[i].op != UopCode::kLoad || !may_share(uops_[i])) return false;
    return computes(uops_[i + 1]) && uops_[i + 1].dst == uops_[i].dst;
  }

  // Whether what is behind micro-operation `i` stores its result and shares its last pass.
  [[nodiscard]] bool store_shares(size_t i) const {
    if (i + 1 >= uops_.size() || uops_[i + 1].op != UopCode::kStore || !may_share(uops_[i + 1])) return false;
    return computes(uops_[i]) && uops_[i + 1].a == uops_[i].dst;
  }

  const std::span<const Uop> uops_;
  const std::span<const Element> types_;
  const contract::Capabilities& caps_;
};

}  // namespace

std::vector<UopGroup> uop_groups(std::span<const Uop> uops, std::span<const Element> types,
                                 const contract::Capabilities& caps) {
  return Grouper(uops, types, caps).run();
}

std::vector<UopGroup> uop_groups(const contract::VpuEwiseCommand& command, const contract::Capabilities& caps) {
  std::vector<Element> types;
  for (const contract::Operand& operand : command.operands) types.push_back(operand.type);
  return uop_groups(command.uops, types, caps);
}

uint64_t program_passes(std::span<const UopGroup> groups) {
  uint64_t passes = 0;
  for (const UopGroup& group : groups) passes += group.passes;
  return passes;
}

}  // namespace npu::timing
