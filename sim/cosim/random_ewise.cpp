// SPDX-License-Identifier: Apache-2.0
#include "sim/cosim/random_ewise.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "hw/contract/elements.h"
#include "hw/contract/error.h"
#include "hw/contract/uop_fields.h"
#include "hw/timing/vpu_cycles.h"
#include "sim/cosim/random_floats.h"

namespace npu::cosim {

using contract::Element;
using contract::Operand;
using contract::ParameterEntry;
using contract::ParameterHeader;
using contract::Rescale;
using contract::Uop;
using contract::UopCode;
using contract::VpuEwiseCommand;

namespace {

constexpr int kEwiseTries = 10'000;  // of tiles that take too long
constexpr uint32_t kRegisters = 5;   // of a program that was not lengthened
constexpr uint32_t kOperations = 8;  // between its loads and stores
// Tables of 16 and of 32 bits are the same bytes.
enum Blob : uint32_t { kParameters, kTable8, kWideTable, kFirstStream };

uint32_t add_stream(EwisePlan& plan, Random& random, Element type, bool result) {
  // Dense or with gaps, any order of dimensions; inputs also broadcast or reversed.
  Operand operand;
  operand.type = type;
  std::array<size_t, 4> order = {3, 2, 1, 0};
  if (random.chance(25)) std::swap(order[0], order[static_cast<size_t>(random.between(1, 3))]);
  int64_t step = element_bytes(type), low = 0;
  for (const size_t d : order) {
    if (random.chance(20)) step += random.between(1, 7);
    int64_t stride = step;
    if (!result && random.chance(25)) stride = 0;
    if (stride != 0) step *= plan.command.dims[d];
    if (stride != 0 && random.chance(15)) {
      low += stride * (plan.command.dims[d] - 1);
      stride = -stride;
    }
    operand.stride[d] = static_cast<int32_t>(stride);
  }
  plan.bytes += random.between(1, 5);
  operand.base = scratchpad(static_cast<uint32_t>(plan.bytes + low));
  plan.bytes += step + 8;
  plan.command.operands.push_back(operand);
  return static_cast<uint32_t>(plan.command.operands.size() - 1);
}

void add_blob(EwisePlan& plan, Random& random, uint32_t bytes) {
  Operand operand;
  plan.bytes += random.between(1, 5);
  operand.base = scratchpad(static_cast<uint32_t>(plan.bytes));
  operand.bytes = bytes;
  plan.bytes += bytes;
  plan.command.operands.push_back(operand);
}

Element random_type(const EwisePlan& plan, Random& random) {
  if (plan.floats && random.chance(40)) {
    return random.pick(
        {Element::kF16, Element::kBf16, Element::kF32, Element::kF32, Element::kF8e4m3, Element::kF8e5m2});
  }
  return random.pick({Element::kI8, Element::kI8, Element::kI16, Element::kI32, Element::kI48, Element::kBool});
}

contract::RescaleImmediate random_rescale(Random& random) {
  contract::RescaleImmediate how;
  how.kind = random.pick({Rescale::kSingle32, Rescale::kDouble32, Rescale::kSingle16});
  how.per_channel = random.chance(50);
  how.type = random.pick({Element::kI8, Element::kI16, Element::kI32});
  how.output_unsigned = how.type != Element::kI32 && random.chance(50);
  return how;
}

// What the contract allows in fields that are neither registers nor tables.
void fill_fields(Uop& uop, Random& random) {
  const auto chosen = [](const contract::UopField& field) {
    return field.role == contract::UopRole::kNumber || field.role == contract::UopRole::kElement;
  };
  const auto any = [&](const contract::UopField& field) -> int64_t {
    if (field.role == contract::UopRole::kNumber) return random.between(field.low, field.high);
    for (;;) {
      const int64_t element = random.between(0, 31);
      if ((field.elements >> element & 1) != 0) return element;
    }
  };
  const contract::UopInfo& info = contract::uop_info(uop.op);
  if (chosen(info.b)) uop.b = static_cast<uint32_t>(any(info.b));
  if (chosen(info.imm0)) uop.imm0 = static_cast<int32_t>(any(info.imm0));
  if (chosen(info.imm1)) uop.imm1 = static_cast<int32_t>(any(info.imm1));
}

// Fields of an operation on floating point but its registers.
void fill_float_fields(Uop& uop, bool tame, Random& random) {
  fill_fields(uop, random);
  const auto pattern = [&] {
    return static_cast<int32_t>(random_float(Element::kF32, FloatRange::kAroundOne, random));
  };
  const bool numbers = tame || uop.op == UopCode::kFclamp;  // whose limits are no NaNs
  if (!numbers) return;
  if (uop.op == UopCode::kFclamp || uop.op == UopCode::kFmaImm || uop.op == UopCode::kFaffine) uop.imm0 = pattern();
  if (uop.op == UopCode::kFclamp || uop.op == UopCode::kFaffine) uop.imm1 = pattern();
}

// Operations on floating point are the last ones.
UopCode random_code(const EwisePlan& plan, Random& random) {
  constexpr auto kFirst = static_cast<int64_t>(UopCode::kAdd), kFirstOfFloats = static_cast<int64_t>(UopCode::kFadd);
  const bool floats = plan.floats && random.chance(50);
  return static_cast<UopCode>(floats ? random.between(kFirstOfFloats, int64_t{contract::kUopCount} - 1)
                                     : random.between(kFirst, kFirstOfFloats - 1));
}

// An operation on registers that were written, often on the one that was written last, so that few results get lost.
Uop random_uop(const EwisePlan& plan, Random& random, uint32_t written, uint32_t last) {
  const bool tame = plan.tame;
  const auto reg = [&] { return static_cast<uint32_t>(random.between(0, written - 1)); };
  Uop uop = {random_code(plan, random), 0, random.chance(50) ? last : reg(), reg(), 0, 0};
  const auto element = [&] { return static_cast<int32_t>(random.pick({Element::kI8, Element::kI16, Element::kI32})); };
  switch (uop.op) {
    case UopCode::kMul:
      uop.imm0 = static_cast<int32_t>(random.between(0, tame ? 8 : 63));
      break;
    case UopCode::kClamp:
      uop.imm0 = static_cast<int32_t>(random.between(-200, 0));
      uop.imm1 = static_cast<int32_t>(random.between(0, 200));
      break;
    case UopCode::kNegate:
      uop.b = static_cast<uint32_t>(element());
      uop.imm0 = static_cast<int32_t>(random.between(-128, 127));
      uop.imm1 = static_cast<int32_t>(random.between(-128, 127));
      break;
    case UopCode::kCast:
      uop.imm0 = random.chance(30) ? static_cast<int32_t>(random.pick({Element::kBool, Element::kI48})) : element();
      break;
    case UopCode::kShl:
    case UopCode::kShrLogical:
      uop.imm0 = random.chance(15) ? static_cast<int32_t>(Element::kI48) : element();
      break;
    case UopCode::kShrArith:
      uop.imm0 = static_cast<int32_t>(random.between(0, 1));
      break;
    case UopCode::kSelect:
    case UopCode::kFma:
      uop.imm0 = static_cast<int32_t>(reg());
      break;
    case UopCode::kRescale:
      uop.b = kParameters;
      uop.imm0 = random_rescale(random).pack();
      break;
    case UopCode::kTable8:
      uop.op = UopCode::kAdd;  // only behind a cast to int8: see add_loads
      break;
    case UopCode::kTable16:
      uop.b = kWideTable;
      break;
    case UopCode::kTable32:
      uop.b = kWideTable;
      uop.imm0 =
          static_cast<int32_t>(random.chance(80) ? random.between(-300, 50) : random.between(INT32_MIN, INT32_MAX));
      break;
    default:
      contract::uop_info(uop.op).floats ? fill_float_fields(uop, tame, random) : fill_fields(uop, random);
  }
  return uop;
}

// Of registers 0 and 1.
void add_loads(EwisePlan& plan, Random& random) {
  for (uint32_t reg = 0; reg < 2; ++reg) {
    const Element in = random_type(plan, random);
    const uint32_t index = add_stream(plan, random, in, /*result=*/false);
    plan.command.uops.push_back({UopCode::kLoad, reg, index, 0, static_cast<int32_t>(random.between(0, 1)), 0});
    // Values of 48 bits are for RESCALE; the other operations get 32.
    if (in == Element::kI48 && random.chance(50)) {
      plan.command.uops.push_back({UopCode::kCast, reg, reg, 0, static_cast<int32_t>(Element::kI32), 0});
    }
  }
  if (random.chance(30)) {
    plan.command.uops.push_back({UopCode::kCast, 0, 0, 0, static_cast<int32_t>(Element::kI8), 0});
    plan.command.uops.push_back({UopCode::kTable8, 0, 0, kTable8, 0, 0});
  }
}

// A load, and behind it an operation into the same register, which may share a pass with it.
void add_shared_load(EwisePlan& plan, uint32_t registers, Random& random) {
  const auto stream = static_cast<uint32_t>(kFirstStream + random.between(0, 1));
  if (plan.command.operands[stream].type == Element::kI48) return;
  const auto reg = static_cast<uint32_t>(random.between(0, registers - 1));
  plan.command.uops.push_back({UopCode::kLoad, reg, stream, 0, static_cast<int32_t>(random.between(0, 1)), 0});
  Uop uop = random_uop(plan, random, registers, reg);
  uop.dst = reg;
  plan.command.uops.push_back(uop);
}

bool broadcast(const Operand& operand) {
  return std::find(operand.stride.begin(), operand.stride.end(), 0) != operand.stride.end();
}

void add_stores(EwisePlan& plan, Random& random) {
  const auto results = static_cast<uint32_t>(random.between(1, 3));
  for (uint32_t i = 0; i < results; ++i) {
    // The last result is the one that depends on most operations.
    const auto reg = i == 0 && random.chance(50) ? plan.command.uops.back().dst
                                                 : static_cast<uint32_t>(random.between(0, kRegisters - 1));
    plan.in_place = plan.in_place || (i == 0 && random.chance(60) && !broadcast(plan.command.operands[kFirstStream]));
    const uint32_t index = plan.in_place && i == 0
                               ? static_cast<uint32_t>(kFirstStream)
                               : add_stream(plan, random, random_type(plan, random), /*result=*/true);
    plan.command.uops.push_back({UopCode::kStore, 0, reg, index, 0, 0});
  }
}

// Other registers for all of a program.
void rename(VpuEwiseCommand& command, const std::vector<uint32_t>& order) {
  command.register_count = static_cast<uint32_t>(order.size());
  for (Uop& uop : command.uops) {
    for_each_source(uop, [&](uint32_t& source) { source = order.at(source); });
    if (has_result(uop.op)) uop.dst = order.at(uop.dst);
  }
}

// Elements of small values, of whatever type: every byte but the lowest is the sign. Floating point lies around 1.
void tame_elements(MadeTile<VpuEwiseCommand>& tile, const Operand& operand, const std::array<uint32_t, 4>& dims,
                   Random& random) {
  const uint32_t bytes = element_bytes(operand.type);
  std::array<int64_t, 4> index{};
  for (index[0] = 0; index[0] < dims[0]; ++index[0]) {
    for (index[1] = 0; index[1] < dims[1]; ++index[1]) {
      for (index[2] = 0; index[2] < dims[2]; ++index[2]) {
        for (index[3] = 0; index[3] < dims[3]; ++index[3]) {
          uint8_t* element = tile.at(operand.base);
          for (size_t d = 0; d < 4; ++d) element += index[d] * operand.stride[d];
          if (contract::is_float(operand.type)) {
            fill_floats(element, 1, operand.type, FloatRange::kAroundOne, random);
            continue;
          }
          std::fill(element + 1, element + bytes, static_cast<uint8_t>((*element & 0x80) != 0 ? 0xff : 0));
        }
      }
    }
  }
}

}  // namespace

int64_t EwisePlan::elements() const {
  return int64_t{command.dims[0]} * command.dims[1] * command.dims[2] * command.dims[3];
}

std::string EwisePlan::kind() const {
  return fmt::format("ewise{}{}{}{}", floats ? " floats" : "", tame ? " tame" : "", long_program ? " long" : "",
                     in_place ? " in place" : "");
}

EwisePlan random_ewise(Random& random, bool floats) {
  EwisePlan plan;
  plan.floats = floats;
  VpuEwiseCommand& command = plan.command;
  command.header.queue = contract::Queue::kVpu;
  command.register_count = kRegisters;
  plan.tame = random.chance(30);
  for (uint32_t& dim : command.dims) dim = static_cast<uint32_t>(random.pick<int64_t>({1, 1, 2, 3, 5, 8, 17}));
  if (random.chance(10)) command.dims[3] = static_cast<uint32_t>(random.between(500, 1300)), command.dims[0] = 1;

  add_blob(plan, random, ParameterHeader::kBytes + command.dims[3] * ParameterEntry::kBytes);
  add_blob(plan, random, 256);
  add_blob(plan, random, 513 * 2);
  add_loads(plan, random);
  for (uint32_t i = 0; i < kOperations; ++i) {
    if (random.chance(15)) add_shared_load(plan, std::min(2 + i, kRegisters), random);
    Uop uop = random_uop(plan, random, std::min(2 + i, kRegisters), command.uops.back().dst);
    uop.dst = 2 + i < kRegisters ? 2 + i : static_cast<uint32_t>(random.between(0, kRegisters - 1));
    command.uops.push_back(uop);
  }
  add_stores(plan, random);
  NPU_CHECK(command.uops.size() <= contract::kMaxUops);
  plan.bytes += 64;
  return plan;
}

EwisePlan random_ewise(Random& random, const contract::Capabilities& caps, uint64_t most_cycles) {
  for (int i = 0; i < kEwiseTries; ++i) {
    EwisePlan plan = random_ewise(random, caps.vpu_float != 0 && random.chance(50));
    if (random.chance(25)) lengthen(plan, random, caps.vpu_registers);
    if (timing::vpu_cycles(plan.command, caps).total() <= most_cycles &&
        timing::table_rows_of(plan.command, caps) <= timing::table_rows(caps)) {
      return plan;
    }
  }
  throw Error(contract::ErrorCode::kBadInput,
              fmt::format("of {} random element-wise tiles none takes at most {} cycles: allow more", kEwiseTries,
                          most_cycles));
}

void lengthen(EwisePlan& plan, Random& random, uint32_t registers) {
  VpuEwiseCommand& command = plan.command;
  const auto stores =
      std::find_if(command.uops.begin(), command.uops.end(), [](const Uop& uop) { return uop.op == UopCode::kStore; });
  const auto first =
      std::find_if(command.uops.begin(), stores, [](const Uop& uop) { return uop.op != UopCode::kLoad; });
  const std::vector<Uop> body(first, stores), results(stores, command.uops.end());
  command.uops.erase(stores, command.uops.end());
  while (command.uops.size() + results.size() < contract::kMaxUops) {
    command.uops.push_back(body[static_cast<size_t>(random.between(0, static_cast<int64_t>(body.size()) - 1))]);
    if (random.chance(5)) break;
  }
  command.uops.insert(command.uops.end(), results.begin(), results.end());
  std::vector<uint32_t> order(registers);
  for (uint32_t r = 0; r < order.size(); ++r) order[r] = r;
  for (uint32_t& r : order) std::swap(r, order[static_cast<size_t>(random.between(0, order.size() - 1))]);
  rename(command, order);
  plan.long_program = true;
}

MadeTile<VpuEwiseCommand> make_ewise_tile(const EwisePlan& plan, Random& random) {
  MadeTile<VpuEwiseCommand> tile{plan.command, std::vector<uint8_t>(static_cast<size_t>(plan.bytes))};
  random.fill(tile.bytes);
  if (plan.tame) {
    for (const Operand& operand : plan.command.operands) {
      if (operand.bytes == 0) tame_elements(tile, operand, plan.command.dims, random);
    }
  }
  ParameterHeader header;
  header.input_zp = static_cast<int32_t>(random.between(-128, 255));
  header.output_zp = static_cast<int32_t>(random.between(-128, 255));
  header.clamp_min = random.chance(50) ? INT32_MIN : -50;
  header.clamp_max = random.chance(50) ? INT32_MAX : 90;
  uint8_t* params = tile.at(plan.command.operands[kParameters].base);
  header.store(params);
  for (uint32_t c = 0; c < plan.command.dims[3]; ++c) {
    ParameterEntry entry;
    entry.multiplier = static_cast<int32_t>(random.between(plan.tame ? 0x4000 : 0, 0x7fff));
    entry.shift = static_cast<int32_t>(plan.tame ? random.between(12, 18) : random.between(2, 62));
    entry.store(params + ParameterHeader::kBytes + c * ParameterEntry::kBytes);
  }
  return tile;
}

std::string describe(const VpuEwiseCommand& command) {
  std::string text = fmt::format("{}x{}x{}x{}:", command.dims[0], command.dims[1], command.dims[2], command.dims[3]);
  for (const Uop& uop : command.uops) {
    text += fmt::format(" {}(r{} {} {} {} {})", name(uop.op), uop.dst, uop.a, uop.b, uop.imm0, uop.imm1);
  }
  for (const Operand& operand : command.operands) {
    text += operand.bytes != 0 ? fmt::format(" [{} bytes]", operand.bytes)
                               : fmt::format(" [{} {} {} {} {}]", name(operand.type), operand.stride[0],
                                             operand.stride[1], operand.stride[2], operand.stride[3]);
  }
  return text;
}

}  // namespace npu::cosim
