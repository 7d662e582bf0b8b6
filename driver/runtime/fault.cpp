#include "driver/runtime/fault.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <optional>
#include <string>
#include <string_view>

#include "driver/graph/text.h"

namespace npu::runtime {
namespace {

using contract::Counter;
using contract::ErrorCode;
using contract::Header;
using contract::Queue;
namespace reg = contract::reg;

std::optional<Header> find_command(const compiler::Program& program, uint32_t index) {
  const std::span<const uint32_t> commands = std::span(program.commands).first(program.main_words);
  for (size_t at = 0; at + contract::kHeaderWords <= commands.size();) {
    const Header header = Header::decode(commands.subspan(at));
    if (index-- == 0) return header;
    if (header.words == 0) break;
    at += header.words;
  }
  return std::nullopt;
}

// "command 12 (dma on dma0, layer 'conv2d_3')"
std::string describe_command(const compiler::Program& program, uint32_t index) {
  const std::optional<Header> header = find_command(program, index);
  if (!header) return fmt::format("command {}", index);
  std::string layer;
  if (header->layer < program.layers.size()) {
    layer = fmt::format(", layer {}", graph::in_quotes(program.layers[header->layer].name));
  }
  return fmt::format("command {} ({} on {}{})", index, contract::name(header->opcode), contract::name(header->queue),
                     layer);
}

std::string describe_address(const contract::Address& address, const VariableManager& variables) {
  if (address.region == contract::Region::kVariable) {
    return fmt::format("byte {} of variable {}", address.offset,
                       graph::in_quotes(variables.identity_of(address.variable)));
  }
  return fmt::format("byte {:#x} of region {}", address.offset, contract::name(address.region));
}

// What happened, for variable faults with the variable's name, for the others as the registry says it.
std::string describe_event(const Fault& fault, const VariableManager& variables, uint64_t cycle_limit) {
  const auto variable = [&] { return graph::in_quotes(variables.identity_of(fault.other)); };
  switch (fault.code) {
    case ErrorCode::kVariableUnwritten:
      return fmt::format("variable {} was read, but never written nor initialised", variable());
    case ErrorCode::kVariableUndeclared:
      return fmt::format("variable {} was used before its declaration", variable());
    case ErrorCode::kVariableRedeclared:
      return fmt::format("variable {} was declared twice in one execution", variable());
    case ErrorCode::kVariableMismatch:
      return fmt::format("variable {} was declared with another shape or type than it is held with", variable());
    case ErrorCode::kFaultTimeout:
      return fmt::format("the job did not end within {} cycles", cycle_limit);
    default:
      break;
  }
  std::string text(contract::describe(fault.code));
  while (!text.empty() && text.back() == '.') text.pop_back();
  return text;
}

bool has_address(ErrorCode code) {
  return code == ErrorCode::kFaultBadRegion || code == ErrorCode::kFaultOutOfBounds ||
         code == ErrorCode::kFaultAccessRight || code == ErrorCode::kFaultHazard || code == ErrorCode::kFaultBus;
}

void check_counters_of(Queue queue, const Counters& counters, uint64_t cycles) {
  const auto get = [&](Counter counter) { return counters.get(queue, counter); };
  const auto fail = [&](const std::string& what) {
    throw Error(ErrorCode::kFaultCounters,
                fmt::format("the device's counters of queue {} cannot be right: {}.", contract::name(queue), what));
  };
  const uint64_t busy = get(Counter::kBusy), stalled = get(Counter::kStalled), idle = get(Counter::kIdle);
  if (busy + stalled + idle != cycles) {
    fail(fmt::format("busy {} + stalled {} + idle {} is not the job's {} cycles", busy, stalled, idle, cycles));
  }
  const auto same = [&](Counter moved, Counter asked) {
    if (get(moved) != get(asked)) {
      fail(fmt::format("{} is {}, {} is {}", contract::name(moved), get(moved), contract::name(asked), get(asked)));
    }
  };
  same(Counter::kBytesRead, Counter::kBytesReadAsked);
  same(Counter::kBytesWritten, Counter::kBytesWrittenAsked);
  const auto part = [&](uint64_t sum, std::string_view parts, Counter whole) {
    if (sum > get(whole)) fail(fmt::format("{} are {}, {} is {}", parts, sum, contract::name(whole), get(whole)));
  };
  part(get(Counter::kDramRead) + get(Counter::kPsramRead), "dram_read + psram_read", Counter::kBytesRead);
  part(get(Counter::kDramWritten) + get(Counter::kPsramWritten), "dram_written + psram_written",
       Counter::kBytesWritten);
  part(get(Counter::kBankConflicts), "bank_conflicts", Counter::kStalled);
}

}  // namespace

Fault read_fault(Hal& hal) {
  Fault fault;
  fault.code = static_cast<ErrorCode>(hal.read_register(reg::kFaultCode));
  fault.command = hal.read_register(reg::kFaultCommand);
  fault.other = hal.read_register(reg::kFaultOther);
  fault.queue = static_cast<Queue>(hal.read_register(reg::kFaultQueue));
  fault.address.offset = hal.read_register(reg::kFaultAddressLo);
  const uint32_t where = hal.read_register(reg::kFaultAddressHi);
  fault.address.region = static_cast<contract::Region>(where & 0xff);
  fault.address.variable = static_cast<uint16_t>(where >> 8);
  fault.cycle = hal.read_register(reg::kFaultCycleLo);
  fault.cycle |= uint64_t{hal.read_register(reg::kFaultCycleHi)} << 32;
  return fault;
}

FaultError fault_error(const Fault& fault, const compiler::Program& program, const VariableManager& variables,
                       uint64_t cycle_limit) {
  std::string text = describe_event(fault, variables, cycle_limit);
  text += fmt::format(": {} stopped the job at cycle {}", describe_command(program, fault.command), fault.cycle);
  if (fault.code == ErrorCode::kFaultHazard) {
    text += fmt::format("; the other is {}", describe_command(program, fault.other));
  }
  if (has_address(fault.code)) text += fmt::format("; at {}", describe_address(fault.address, variables));
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

Counters read_counters(Hal& hal, const contract::Capabilities& caps, uint64_t cycles) {
  // Low and high halves alternate.
  std::array<uint32_t, size_t{2} * reg::kCounterCount> words;
  static_assert(reg::kCounterStep == 8 && reg::kCounterHi == reg::kCounterLo + 4);
  hal.read_registers(reg::kCounterLo, words);
  Counters counters;
  const auto take_queue = [&](Queue queue) {
    for (uint32_t i = 0; i < contract::kCounterCount; ++i) {
      const auto counter = static_cast<Counter>(i);
      const uint32_t index = contract::counter_index(static_cast<uint32_t>(queue), counter);
      counters.set(queue, counter, words[2 * index] | uint64_t{words[2 * index + 1]} << 32);
    }
    check_counters_of(queue, counters, cycles);
  };
  for (uint32_t channel = 0; channel < caps.dma_channels; ++channel) take_queue(static_cast<Queue>(channel));
  take_queue(Queue::kMxu);
  take_queue(Queue::kVpu);
  take_queue(Queue::kSequencer);
  return counters;
}

}  // namespace npu::runtime
