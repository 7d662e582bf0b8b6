#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "driver/runtime/device_state.h"
#include "driver/runtime/runtime.h"

namespace npu::runtime {
namespace {

using contract::ErrorCode;

static_assert(std::endian::native == std::endian::little, "device memory is little endian and copied as it is");

[[noreturn]] void throw_damaged(const std::string& what) {
  throw Error(ErrorCode::kContractMismatch, fmt::format("the program is damaged: {}.", what));
}

void check_version(const compiler::Program& program, const contract::Capabilities& caps) {
  if (program.caps_hash != contract::caps_hash(caps)) {
    throw Error(ErrorCode::kContractMismatch,
                fmt::format("the program was compiled for a machine with capabilities {:#010x}, this one has "
                            "{:#010x}; compile it again.",
                            program.caps_hash, contract::caps_hash(caps)));
  }
  if (program.commands.size() < contract::BeginCommand::kWords) throw_damaged("it has no begin command");
  const auto begin = contract::BeginCommand::decode(program.commands);
  if (begin.header.opcode != contract::Opcode::kBegin) throw_damaged("it has no begin command");
  if (begin.major != contract::kContractMajor || begin.minor > contract::kContractMinor) {
    throw Error(ErrorCode::kContractMismatch,
                fmt::format("the program was compiled for version {}.{} of the contract, this driver speaks {}.{}; "
                            "compile it again.",
                            begin.major, begin.minor, contract::kContractMajor, contract::kContractMinor));
  }
}

void check_ports(std::span<const compiler::Port> ports, uint64_t region_bytes, std::string_view what) {
  for (const compiler::Port& port : ports) {
    const std::optional<int64_t> elements = graph::element_count(port.shape);
    if (!elements || static_cast<uint64_t>(*elements * graph::machine_width(port.type)) != port.bytes ||
        uint64_t{port.offset} + port.bytes > region_bytes) {
      throw_damaged(fmt::format("{} '{}' does not fit its region", what, port.name));
    }
  }
}

// For every relocation whether its command is a declare, found by walking the main stream.
std::vector<bool> classify_relocations(const compiler::Program& program) {
  if (program.main_words > program.commands.size()) throw_damaged("its last command is incomplete");
  const std::span<const uint32_t> commands = std::span(program.commands).first(program.main_words);
  std::vector<uint32_t> declares;  // word indices of their variable fields
  uint32_t count = 0;
  for (size_t at = 0; at < commands.size(); ++count) {
    const std::span<const uint32_t> rest = commands.subspan(at);
    if (rest.size() < contract::kHeaderWords) throw_damaged("its last command is incomplete");
    const auto header = contract::Header::decode(rest);
    if (header.words < contract::kHeaderWords || header.words > rest.size()) {
      throw_damaged(fmt::format("command {} has an impossible length", count));
    }
    if (header.opcode == contract::Opcode::kDeclare) declares.push_back(static_cast<uint32_t>(at) + 5);
    at += header.words;
  }
  if (count != program.command_count) throw_damaged("its number of commands is wrong");

  std::vector<bool> is_declare;
  for (const uint32_t word : program.variable_relocations) {
    if (word >= commands.size()) throw_damaged("a relocation points behind the commands");
    is_declare.push_back(std::binary_search(declares.begin(), declares.end(), word));
    const uint32_t variable = is_declare.back() ? commands[word] & 0xffff : commands[word] >> 8 & 0xffff;
    if (variable >= program.variables.size()) throw_damaged("a relocation names a variable that is not there");
  }
  return is_declare;
}

void check_variables(std::span<const compiler::Variable> variables) {
  for (const compiler::Variable& variable : variables) {
    if (variable.bytes == 0 || (!variable.initial.empty() && variable.initial.size() != variable.bytes)) {
      throw_damaged(fmt::format("variable '{}' and its initial value differ in size", variable.identity));
    }
  }
}

using BlockSizes = std::array<uint64_t, ProgramState::kBlockCount>;

BlockSizes block_sizes(const compiler::Program& program) {
  BlockSizes sizes{};
  sizes[ProgramState::kConstants] = program.constants.size();
  sizes[ProgramState::kCommands] = program.commands.size() * sizeof(uint32_t);
  sizes[ProgramState::kWorkspace] = program.workspace_bytes;
  sizes[ProgramState::kInput] = program.input_bytes;
  sizes[ProgramState::kOutput] = program.output_bytes;
  sizes[ProgramState::kEvents] = uint64_t{program.command_count} * contract::Event::kBytes;
  return sizes;
}

std::vector<DramBlock> allocate_blocks(DeviceState& device, const compiler::Program& program) {
  const BlockSizes sizes = block_sizes(program);
  std::vector<DramBlock> blocks;
  blocks.reserve(sizes.size());
  for (const uint64_t bytes : sizes) {
    const std::optional<uint64_t> address = device.dram.allocate(bytes);
    if (!address) {
      blocks.clear();
      uint64_t needed = device.dram.used();
      for (const uint64_t size : sizes) needed += device.dram.rounded(size);
      const uint64_t program_bytes = needed - device.dram.used();
      throw Error(ErrorCode::kDramFull,
                  fmt::format("the program needs {} bytes of DRAM (constants {}, commands {}, workspace {}, inputs {}, "
                              "outputs {}, events {}), but {} of {} are free; dram_mib: {} is the smallest machine "
                              "that holds it.",
                              program_bytes, sizes[0], sizes[1], sizes[2], sizes[3], sizes[4], sizes[5],
                              device.dram.capacity() - device.dram.used(), device.dram.capacity(),
                              (needed + (1 << 20) - 1) >> 20));
    }
    blocks.emplace_back(device, bytes, *address);
  }
  return blocks;
}

}  // namespace

ProgramState::ProgramState(std::shared_ptr<ContextState> context_state, compiler::Program loaded)
    : context(std::move(context_state)), program(std::move(loaded)) {
  DeviceState& device = *context->device;
  check_version(program, device.caps);
  check_ports(program.inputs, program.input_bytes, "input");
  check_ports(program.outputs, program.output_bytes, "output");
  check_variables(program.variables);
  relocation_is_declare = classify_relocations(program);
  blocks = allocate_blocks(device, program);
  bind_variables();
  Hal& hal = *device.hal;
  if (!program.constants.empty()) hal.write_memory(block(kConstants).address(), program.constants);
  // Nothing is ever written between the inputs; a command that reads there must not find zeros by chance.
  if (program.input_bytes > 0) hal.fill_memory(block(kInput).address(), program.input_bytes, kPoison);
}

ProgramState::~ProgramState() {
  const Lock lock(context->device->mutex);
  blocks.clear();
}

void ProgramState::bind_variables() {
  DeviceState& device = *context->device;
  std::vector<uint32_t> indices =
      device.variables.declare(context->owner, program.variables, context->options.zero_init);
  if (bound_variables == indices) return;
  std::vector<uint32_t> commands = program.commands;
  for (size_t i = 0; i < program.variable_relocations.size(); ++i) {
    uint32_t& word = commands[program.variable_relocations[i]];
    if (relocation_is_declare[i]) {
      word = (word & 0xffff0000) | indices[word & 0xffff];
    } else {
      word = (word & 0xff0000ff) | indices[word >> 8 & 0xffff] << 8;
    }
  }
  std::vector<uint8_t> bytes(commands.size() * sizeof(uint32_t));
  std::memcpy(bytes.data(), commands.data(), bytes.size());
  device.hal->write_memory(block(kCommands).address(), bytes);
  bound_variables = std::move(indices);
}

const compiler::Program& LoadedProgram::program() const { return state_->program; }

Job LoadedProgram::create_job(const JobOptions& options) const {
  return Job(std::make_shared<JobState>(state_, options));
}

uint64_t LoadedProgram::constant_address(uint64_t offset) const {
  if (offset >= state_->program.constants.size()) {
    throw Error(ErrorCode::kBadOption, fmt::format("the program has {} bytes of constants; there is no byte {}.",
                                                   state_->program.constants.size(), offset));
  }
  return state_->block(ProgramState::kConstants).address() + offset;
}

uint64_t LoadedProgram::dram_bytes() const {
  uint64_t sum = 0;
  for (const DramBlock& block : state_->blocks) sum += block.bytes();
  return sum;
}

}  // namespace npu::runtime
