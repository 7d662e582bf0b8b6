// SPDX-License-Identifier: Apache-2.0
#include "driver/runtime/fault.h"

#include <fmt/format.h>

#include <cctype>
#include <string>
#include <string_view>

#include "driver/graph/text.h"
#include "driver/runtime/sizes.h"
#include "hw/contract/dma_sides.h"
#include "hw/contract/gen/registers.h"
#include "hw/contract/stream.h"

namespace npu::runtime {
namespace {

using contract::ErrorCode;
using contract::Header;
using contract::Queue;
namespace reg = contract::reg;

// Field waits_for of queue_state: none.
constexpr uint32_t kNoQueue = 255;

// Its words; none when there is no such command.
std::span<const uint32_t> find_command(const compiler::Program& program, uint32_t index) {
  std::span<const uint32_t> found;
  (void)contract::for_each_command(std::span(program.commands).first(program.main_words),
                                   [&](const Header&, std::span<const uint32_t> words) {
                                     if (index-- > 0) return true;
                                     found = words;
                                     return false;
                                   });
  return found;
}

// "command 12 (dma on dma0, layer 'conv2d_3')"
std::string describe_command(const compiler::Program& program, uint32_t index) {
  const std::span<const uint32_t> words = find_command(program, index);
  if (words.empty()) return fmt::format("command {}", index);
  const Header header = Header::decode(words);
  std::string layer;
  if (header.layer < program.layers.size()) {
    layer = fmt::format(", layer {}", graph::in_quotes(program.layers[header.layer].name));
  }
  return fmt::format("command {} ({} on {}{})", index, contract::name(header.opcode), contract::name(header.queue),
                     layer);
}

// Whether a fault with this code is about a command.
bool concerns_command(ErrorCode code) {
  switch (code) {
    case ErrorCode::kFaultFirmware:
    case ErrorCode::kFaultRing:
    case ErrorCode::kFaultRequest:
    case ErrorCode::kFaultCounters:
    case ErrorCode::kFaultPower:
    case ErrorCode::kSizeOutOfBounds:
    case ErrorCode::kSizeMismatch:
    case ErrorCode::kFaultSizes:
    case ErrorCode::kFaultPatch:
    case ErrorCode::kJobCancelled:
      return false;
    default:
      return true;
  }
}

// That of its command; commands of the stream itself belong to none.
void name_layer(const compiler::Program& program, Fault& fault) {
  if (!concerns_command(fault.code)) return;
  const std::span<const uint32_t> words = find_command(program, fault.command);
  if (words.empty()) return;
  const Header header = Header::decode(words);
  const bool of_stream = header.opcode == contract::Opcode::kBegin || header.opcode == contract::Opcode::kEnd ||
                         header.opcode == contract::Opcode::kYield;
  if (of_stream || header.layer >= program.layers.size()) return;
  fault.layer = header.layer;
  fault.layer_name = program.layers[header.layer].name;
}

// "index 97 of GATHER is outside 0..31"
std::string describe_index(const Fault& fault, const compiler::Program& program) {
  const std::span<const uint32_t> words = find_command(program, fault.command);
  const auto index = static_cast<int32_t>(fault.other);
  if (words.size() < contract::DmaCommand::kWords) return fmt::format("index {} chooses no row", index);
  const auto dma = contract::DmaCommand::decode(words);
  const bool known = dma.header.layer < program.layers.size();
  const std::string operators =
      known ? program.layers[dma.header.layer].operators : std::string(contract::name(dma.mode));
  return fmt::format("index {} of {} is outside 0..{}", index, operators,
                     int64_t{dma.count[contract::kDmaChoices]} - 1);
}

std::string describe_address(const contract::Address& address, const VariableManager& variables) {
  if (address.region == contract::Region::kVariable) {
    return fmt::format("byte {} of variable {}", address.offset,
                       graph::in_quotes(variables.identity_of(address.variable)));
  }
  return fmt::format("byte {:#x} of region {}", address.offset, contract::name(address.region));
}

// Of another context, whose entry every job reads, too.
std::string describe_damaged_entry(const VariableSlot& slot) {
  return fmt::format(
      "the table entry of variable {0} of context {1} has two wrong bits in a word; run the job again, for it is "
      "written anew as soon as no job of context {1} is in flight, and only that context has to write or clear {0}",
      graph::in_quotes(slot.identity), slot.owner);
}

// What happened, for variable faults with the variable's name, for the others as the registry says it.
std::string describe_event(const Fault& fault, const VariableManager& variables, uint16_t owner) {
  const auto variable = [&] { return graph::in_quotes(variables.identity_of(fault.other)); };
  switch (fault.code) {
    case ErrorCode::kVariableUnwritten:
      return fmt::format("variable {} was read, but never written nor initialised", variable());
    case ErrorCode::kVariableUndeclared:
      return fmt::format("variable {} was used before its declaration", variable());
    case ErrorCode::kVariableRedeclared:
      return fmt::format("variable {} was declared twice in one execution", variable());
    case ErrorCode::kVariableTorn:
      if (variables.taken(fault.other) && variables.slot(fault.other).entry_lost) {
        return fmt::format(
            "variable {} was read, but its table entry had two wrong bits in a word, so its contents are unknown; "
            "write it, clear it, or restore a snapshot",
            variable());
      }
      return fmt::format(
          "variable {} was read, but a write of it was interrupted before, so it holds neither the old "
          "nor the new value; write it, clear it, or restore a snapshot",
          variable());
    case ErrorCode::kFaultEcc:
      if (variables.taken(fault.other) && variables.slot(fault.other).owner != owner) {
        return describe_damaged_entry(variables.slot(fault.other));
      }
      if (variables.taken(fault.other)) {
        return fmt::format("variable {} has two wrong bits in a word; write it, clear it, or restore a snapshot",
                           variable());
      }
      return "a word of the persistent SRAM that belongs to no variable has two wrong bits; run the job again";
    case ErrorCode::kPowerLost:
      return "the persistent SRAM lost its power, and with it all variables; call acknowledge_loss() on their contexts "
             "to start with initial values again";
    case ErrorCode::kFaultPower:
      return "the engines had no power, or lost it; the next job switches it on";
    case ErrorCode::kLoopLimit:
      return fmt::format("the loop takes more than its limit of {} iterations", fault.other);
    case ErrorCode::kVariableMismatch:
      return fmt::format("variable {} was declared with another shape or type than it is held with", variable());
    default:
      break;
  }
  std::string text(contract::describe(fault.code));
  while (!text.empty() && text.back() == '.') text.pop_back();
  return text;
}

bool has_address(ErrorCode code) {
  return code == ErrorCode::kFaultBadRegion || code == ErrorCode::kFaultOutOfBounds ||
         code == ErrorCode::kFaultAccessRight || code == ErrorCode::kFaultHazard || code == ErrorCode::kFaultBus ||
         code == ErrorCode::kFaultEcc || code == ErrorCode::kIndexOutOfRange;
}

// "mxu works on command 12 (...)", "dma0 holds command 13 (...), waits for mxu, and has 2 commands behind it".
std::string describe_queue(Queue queue, uint32_t state, const std::string& command) {
  const uint32_t waits_for = (state & reg::kQueueStateWaitsForMask) >> reg::kQueueStateWaitsForLsb;
  const uint32_t behind = (state & reg::kQueueStateFifoMask) >> reg::kQueueStateFifoLsb;
  const uint32_t bursts = (state & reg::kQueueStateBurstsMask) >> reg::kQueueStateBurstsLsb;
  const bool executing = (state & reg::kQueueStateExecutingMask) != 0;
  std::string text = fmt::format("{} {} {}", contract::name(queue), executing ? "works on" : "holds", command);
  if (waits_for != kNoQueue) {
    text += fmt::format(", waits for {}", contract::name(static_cast<Queue>(waits_for)));
  } else if (!executing) {
    text += ", waits for nothing";
  }
  if (bursts > 0) text += fmt::format(", waits for {} bursts of memory", bursts);
  if (behind > 0) text += fmt::format(", and has {} behind it", behind);
  return text;
}

// Who held which command when the time was over, and waited for whom; empty when no queue held any.
std::string describe_queues(const JobEnd& end, const compiler::Program& program) {
  std::string text;
  for (uint32_t i = 0; i < end.queue_state.size(); ++i) {
    if ((end.queue_state[i] & reg::kQueueStateHoldingMask) == 0) continue;
    const std::string command = describe_command(program, end.queue_command[i]);
    text += (text.empty() ? "" : "; ") + describe_queue(static_cast<Queue>(i), end.queue_state[i], command);
  }
  return text;
}

std::string describe_timeout(const JobEnd& end, const compiler::Program& program, uint64_t cycle_limit) {
  if (end.fault.other == contract::kTimeoutRepeats) {
    return fmt::format("the loops of the job took more than {} iterations in all: {} was about to begin one more.",
                       contract::kMostRepeats, describe_command(program, end.fault.command));
  }
  std::string text = fmt::format("the job did not end within its cycle_limit of {} cycles: ", cycle_limit);
  const std::string queues = describe_queues(end, program);
  if (!queues.empty()) return text + queues + '.';
  return text +
         fmt::format("{} was stopped at cycle {}.", describe_command(program, end.fault.command), end.fault.cycle);
}

// What the firmware has against the sizes of a job that the driver let pass.
std::string describe_sizes(const Fault& fault, const compiler::SizeTable& table) {
  if (fault.code == ErrorCode::kSizeOutOfBounds && fault.other < table.symbols.size()) {
    const compiler::SizeTable::Symbol& symbol = table.symbols[fault.other];
    return fmt::format("the firmware refused the job: size {} is not within {} to {}.", graph::in_quotes(symbol.name),
                       symbol.least, symbol.most);
  }
  if (fault.code == ErrorCode::kSizeMismatch && fault.other < table.conditions.size()) {
    return fmt::format("the firmware refused the job: {}, but its sizes are others.",
                       graph::printable(table.conditions[fault.other].text, kLongestCondition));
  }
  if (fault.code == ErrorCode::kFaultPatch) {
    return fmt::format(
        "the firmware refused the job: rule {} of its sizes is for a word that the stream does not have.", fault.other);
  }
  return "the firmware refused the job: its sizes, or the table of the program's sizes, are damaged.";
}

}  // namespace

FaultText describe_fault(const JobEnd& end, const compiler::Program& program, const VariableManager& variables,
                         uint16_t owner, uint64_t cycle_limit) {
  Fault fault = end.fault;
  name_layer(program, fault);
  switch (fault.code) {
    case ErrorCode::kFaultFirmware:
    case ErrorCode::kFaultRing:
      return {fault, (end.story.empty() ? std::string(contract::describe(fault.code)) : end.story + '.')};
    case ErrorCode::kFaultRequest:
      return {fault, "the firmware refused the job: it is malformed, or points outside of what it may use."};
    case ErrorCode::kSizeOutOfBounds:
    case ErrorCode::kSizeMismatch:
    case ErrorCode::kFaultSizes:
    case ErrorCode::kFaultPatch:
      return {fault, describe_sizes(fault, program.sizes)};
    case ErrorCode::kJobCancelled:
      return {fault, "the job was cancelled."};
    case ErrorCode::kFaultTimeout:
      return {fault, describe_timeout(end, program, cycle_limit)};
    default:
      break;
  }
  const bool index = fault.code == ErrorCode::kIndexOutOfRange;
  std::string text = index ? describe_index(fault, program) : describe_event(fault, variables, owner);
  text += fmt::format(": {} stopped the job at cycle {}", describe_command(program, fault.command), fault.cycle);
  if (fault.code == ErrorCode::kFaultHazard) {
    text += fmt::format("; the other is {}", describe_command(program, fault.other));
  }
  if (has_address(fault.code)) text += fmt::format("; at {}", describe_address(fault.address, variables));
  if (index) text += "; let its indices choose rows, or bound them before by MAXIMUM and MINIMUM";
  text += '.';
  if (contract::name(fault.code) == "?" || fault.code == ErrorCode::kOk) {
    Fault unknown = fault;
    unknown.code = ErrorCode::kFaultBus;
    return {unknown, fmt::format("the device reports a fault with the unknown code {:#x}: {}",
                                 static_cast<uint32_t>(fault.code), text)};
  }
  text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return {fault, text};
}

}  // namespace npu::runtime
