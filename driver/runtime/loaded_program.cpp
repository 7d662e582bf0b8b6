// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <span>

#include "driver/compiler/dram_needs.h"
#include "driver/compiler/size_check.h"
#include "driver/compiler/size_table.h"
#include "driver/runtime/device_state.h"
#include "driver/runtime/dram_advice.h"
#include "driver/runtime/limits.h"
#include "driver/runtime/patches.h"
#include "driver/runtime/runtime.h"
#include "driver/runtime/sizes.h"
#include "hw/contract/gen/registers.h"
#include "hw/contract/stream.h"

namespace npu::runtime {
namespace {

using contract::ErrorCode;

constexpr uint64_t kCurrentOffset = 28;  // structure `size_table`

static_assert(std::endian::native == std::endian::little, "device memory is little endian and copied as it is");

bool has_branches(const compiler::Program& program) {
  const size_t size = std::min<size_t>(program.main_words, program.commands.size());  // unchecked as yet
  bool found = false;
  (void)contract::for_each_command(std::span(program.commands).first(size), [&](const contract::Header& header, auto) {
    found = header.opcode == contract::Opcode::kBranch;
    return !found;
  });
  return found;
}

// Estimate: engine cycles for which a job of higher priority waits at most until this program has stopped for it. The
// longest restore, segment and save that follow each other: what was restored runs to its next yield first. With
// branches any segment may follow another.
uint64_t longest_stop(const compiler::Program& program) {
  uint64_t most = 0, restore = 0, longest = 0;
  if (has_branches(program)) {
    for (const compiler::Segment& segment : program.segments)
      longest = std::max<uint64_t>(longest, segment.restore_cycles);
  }
  for (const compiler::Segment& segment : program.segments) {
    restore = std::max(restore, longest);
    most = std::max(most, restore + segment.cycles + segment.save_cycles);
    restore = segment.restore_cycles;
  }
  return std::max(most, std::max(restore, longest) + program.tail_cycles);
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

void check_variables(std::span<const compiler::Variable> variables) {
  for (const compiler::Variable& variable : variables) {
    const std::optional<int64_t> elements = graph::element_count(variable.shape);
    if (!elements || *elements == 0 ||
        static_cast<uint64_t>(*elements * graph::machine_width(variable.type)) != variable.bytes) {
      throw_damaged(fmt::format("variable '{}' is no {} of {} bytes", variable.identity,
                                graph::describe_type(variable.type, variable.shape), variable.bytes));
    }
    if (!variable.initial.empty() && variable.initial.size() != variable.bytes) {
      throw_damaged(fmt::format("variable '{}' and its initial value differ in size", variable.identity));
    }
  }
}

using BlockSizes = std::array<uint64_t, ProgramState::kBlockCount>;

BlockSizes block_sizes(const compiler::DramNeeds& needs) {
  BlockSizes sizes{};
  sizes[ProgramState::kConstants] = needs.constants;
  sizes[ProgramState::kCommands] = needs.commands;
  sizes[ProgramState::kWorkspace] = needs.workspace;
  sizes[ProgramState::kInput] = needs.input;
  sizes[ProgramState::kOutput] = needs.output;
  sizes[ProgramState::kEvents] = needs.events;
  sizes[ProgramState::kSave] = needs.save;
  sizes[ProgramState::kSegments] = needs.segments;
  sizes[ProgramState::kSizes] = needs.sizes;
  return sizes;
}

// Every block has an address of its own, but many programs have nothing to save.
bool takes_memory(const BlockSizes& sizes, size_t block) {
  return (block != ProgramState::kSave && block < ProgramState::kSegments) || sizes[block] > 0;
}

// `needs` without variables.
[[noreturn]] void throw_dram_full(const ContextState& context, const compiler::Program& program,
                                  compiler::DramNeeds needs) {
  const DeviceState& device = *context.device;
  const RangeAllocator& dram = device.dram;
  for (const compiler::Variable& variable : program.variables) {
    if (!variable.in_dram || device.variables.find(context.owner, variable.identity)) continue;
    needs.variables.push_back(
        compiler::variable_dram_bytes(variable.bytes, context.options.double_buffer && variable.written));
  }
  throw Error(ErrorCode::kDramFull,
              fmt::format("the program needs {} bytes of DRAM ({}), but {} of {} are free; {}.", needs.total(),
                          needs.describe(), dram.capacity() - dram.used(), dram.capacity(),
                          dram_way_out(dram, needs,
                                       device.variables.lacking(context.owner, program.variables, context.options))));
}

// Only the part of DRAM that the control CPU sees will do for some: they are the first to get memory, as high as it
// sees. Commands that it writes are among them where there is more DRAM than that; else they lie where others do.
bool allocate_seen(const BlockSizes& sizes, DeviceState& device, std::vector<DramBlock>& blocks) {
  std::vector<size_t> seen = {ProgramState::kSegments, ProgramState::kSizes};
  if (sizes[ProgramState::kSizes] > 0 && device.dram.end() > contract::kCpuDramBytes) {
    seen.push_back(ProgramState::kCommands);
  }
  for (const size_t block : seen) {
    if (!takes_memory(sizes, block)) continue;
    const std::optional<uint64_t> address = device.dram.allocate_high(sizes[block], contract::kCpuDramBytes);
    if (!address) return false;
    blocks[block].assign(device, sizes[block], *address);
  }
  return true;
}

std::vector<DramBlock> allocate_blocks(const ContextState& context, const compiler::Program& program) {
  DeviceState& device = *context.device;
  const compiler::DramNeeds needs = compiler::needs_of(program, !device.sees_core);
  const BlockSizes sizes = block_sizes(needs);
  std::vector<DramBlock> blocks(ProgramState::kBlockCount);
  bool done = allocate_seen(sizes, device, blocks);
  for (size_t block = 0; done && block < ProgramState::kSegments; ++block) {
    if (blocks[block].allocated() || !takes_memory(sizes, block)) continue;
    const std::optional<uint64_t> address = device.dram.allocate(sizes[block]);
    if (address) blocks[block].assign(device, sizes[block], *address);
    done = address.has_value();
  }
  if (done) return blocks;
  blocks.clear();
  throw_dram_full(context, program, needs);
}

// What a job needs of the scratchpad, in the device's unit; 0: it may need all.
uint32_t own_scratchpad(const compiler::Program& program, const contract::Capabilities& caps) {
  constexpr uint32_t kUnit = contract::kResidentUnit;
  const uint64_t least = program.resident_bytes > 0 ? 1 : 0;
  const uint64_t own = (std::max<uint64_t>(program.spm_peak_bytes, least) + kUnit - 1) / kUnit * kUnit;
  return own > caps.spm_bytes ? 0 : static_cast<uint32_t>(own);
}

void check_resident(const compiler::Program& program, const DeviceState& device) {
  if (program.resident_bytes == 0) return;
  const bool words_fit = program.load_word % 16 == 0 && program.load_word >= program.main_words &&
                         program.load_words > 0 && program.load_word <= program.commands.size() &&
                         program.load_words <= program.commands.size() - program.load_word;
  if (!words_fit || program.resident_bytes > program.constants.size()) {
    throw_damaged("the stream that loads its constants is missing");
  }
  if (!device.sees_core) return;
  throw Error(ErrorCode::kBadOption,
              "the program's constants stay in the scratchpad, which the firmware looks after; compile it without "
              "resident constants, or use the device with its firmware.");
}

// What the device is told of a program, the same in all runs.
contract::Job make_job(const ProgramState& state) {
  using contract::Region;
  namespace reg = contract::reg;
  contract::Job job;
  job.commands = state.block(ProgramState::kCommands).address();
  job.command_words = state.program.main_words;
  job.events = state.block(ProgramState::kEvents).address();
  job.segments = state.block(ProgramState::kSegments).address();
  job.segment_count = static_cast<uint32_t>(state.block(ProgramState::kSegments).bytes() / contract::Segment::kBytes);
  const auto map = [&](Region region, ProgramState::Block which, uint32_t rights) {
    const DramBlock& block = state.block(which);
    const auto index = static_cast<uint32_t>(region);
    job.region_base[index] = block.address();
    job.region_limit[index] = static_cast<uint32_t>(block.bytes());
    // An empty region is not mapped, so that naming it is a fault.
    const auto space = static_cast<uint32_t>(contract::Space::kDram) << reg::kRegionFlagsSpaceLsb;
    job.region_flags[index] = block.bytes() == 0 ? 0 : space | rights;
  };
  constexpr uint32_t kRead = reg::kRegionFlagsReadableMask, kReadWrite = kRead | reg::kRegionFlagsWritableMask;
  map(Region::kConstants, ProgramState::kConstants, kRead);
  map(Region::kWorkspace, ProgramState::kWorkspace, kReadWrite);
  map(Region::kInput, ProgramState::kInput, kRead);
  map(Region::kOutput, ProgramState::kOutput, kReadWrite);
  map(Region::kSave, ProgramState::kSave, kReadWrite);
  job.region_base[0] = uint64_t{state.resident.bytes()} << 32 | state.resident.offset();
  job.region_limit[0] = own_scratchpad(state.program, state.context->device->caps);
  job.region_flags[0] = state.resident.id();
  job.load_word = state.program.load_word;
  job.load_words = state.program.load_words;
  job.size_table = state.block(ProgramState::kSizes).address();
  return job;
}

void check_sizes(const compiler::Program& program) {
  const std::string damage = compiler::find_size_damage(program);
  if (!damage.empty()) throw_damaged(damage);
}

void check_segments(const compiler::Program& program) {
  const auto fits = [&](uint32_t word, uint32_t words) {
    return words == 0 || (word % 16 == 0 && word >= program.main_words && word <= program.commands.size() &&
                          words <= program.commands.size() - word);
  };
  for (const compiler::Segment& segment : program.segments) {
    if (segment.yield_word >= program.main_words || !fits(segment.save_word, segment.save_words) ||
        !fits(segment.restore_word, segment.restore_words)) {
      throw_damaged("a segment points behind the commands");
    }
  }
}

void write_segments(Hal& hal, uint64_t address, std::span<const compiler::Segment> segments) {
  std::vector<uint8_t> bytes(segments.size() * contract::Segment::kBytes);
  for (size_t i = 0; i < segments.size(); ++i) {
    const compiler::Segment& from = segments[i];
    contract::Segment to;
    to.yield_word = from.yield_word;
    to.live_bytes = from.live_bytes;
    to.save_word = from.save_word;
    to.save_words = from.save_words;
    to.restore_word = from.restore_word;
    to.restore_words = from.restore_words;
    to.cycles = from.cycles;
    to.store(bytes.data() + i * contract::Segment::kBytes);
  }
  hal.write_memory(address, bytes);
}

}  // namespace

ProgramState::ProgramState(std::shared_ptr<ContextState> context_state, compiler::Program loaded)
    : context(std::move(context_state)), program(std::move(loaded)), branches(has_branches(program)) {
  DeviceState& device = *context->device;
  check_version(program, device.caps);
  check_ports(program.inputs, program.input_bytes, "input");
  check_ports(program.outputs, program.output_bytes, "output");
  check_variables(program.variables);
  check_commands(program);
  check_segments(program);
  check_sizes(program);
  check_resident(program, device);
  if (program.resident_bytes > 0) {
    resident = device.resident.take(own_scratchpad(program, device.caps), program.resident_bytes);
  } else if (!program.sizes.empty()) {
    resident = device.resident.none();
  }
  blocks = allocate_blocks(*context, program);
  job = make_job(*this);
  placement = device.link->place(job, program.sizes);
  Hal& hal = *device.hal;
  if (job.size_table != 0) hal.write_memory(job.size_table, compiler::encode(program.sizes));
  bind_variables();
  if (job.segment_count > 0) write_segments(hal, job.segments, program.segments);
  if (!program.constants.empty()) hal.write_memory(block(kConstants).address(), program.constants);
  // Nothing is ever written between the inputs; a command that reads there must not find zeros by chance.
  if (program.input_bytes > 0) hal.fill_memory(block(kInput).address(), program.input_bytes, kPoison);
  context->programs.push_back(this);
}

ProgramState::~ProgramState() {
  const Lock lock(context->device->mutex);
  std::erase(context->programs, this);
  resident = {};
  placement.reset();
  blocks.clear();
}

void ProgramState::bind_variables() {
  NPU_CHECK(in_flight == nullptr);
  DeviceState& device = *context->device;
  if (!program.variables.empty()) context->require_state();
  if (bound_generation == device.variables.generation()) return;
  if (!program.variables.empty()) device.tell_loss();
  std::vector<uint32_t> indices = device.variables.declare(context->owner, program.variables, context->options);
  bound_generation = device.variables.generation();
  if (bound_variables == indices) return;
  bound_generation = 0;  // until the commands are written
  forget_sizes();
  write_commands(patched_commands(program, indices));
  bound_variables = std::move(indices);
  bound_generation = device.variables.generation();
}

void ProgramState::write_commands(std::span<const uint32_t> commands) {
  std::vector<uint8_t> bytes(commands.size() * sizeof(uint32_t));
  std::memcpy(bytes.data(), commands.data(), bytes.size());
  context->device->hal->write_memory(block(kCommands).address(), bytes);
}

// The firmware has to write the words that depend on sizes again, or the driver itself.
void ProgramState::forget_sizes() {
  written_sizes.reset();
  if (job.size_table == 0 || !bound_variables) return;
  constexpr std::array<uint8_t, sizeof(uint32_t)> kNo{};
  context->device->hal->write_memory(job.size_table + kCurrentOffset, kNo);
}

void ProgramState::bring_sizes(std::span<const int64_t> sizes) {
  NPU_CHECK(in_flight == nullptr && bound_variables);
  placement->bring_sizes(sizes);
  if (!context->device->sees_core) return;
  // On a device without control CPU the driver writes the commands.
  const std::vector<int64_t> wanted(sizes.begin(), sizes.end());
  if (written_sizes == wanted) return;
  written_sizes.reset();
  std::vector<uint32_t> commands = patched_commands(program, *bound_variables);
  compiler::apply_rules(program.sizes, compiler::evaluate(program.sizes, wanted), commands);
  write_commands(std::span(commands).first(program.main_words));
  written_sizes = wanted;
}

void ProgramState::begin_variables() {
  if (begun_generation == bound_generation) return;
  if (context->device->variables.begin(*bound_variables, program.variables, context->options)) {
    begun_generation = bound_generation;
  }
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

uint64_t LoadedProgram::blocking_cycles() const { return Context(state_->context).blocking_cycles(state_->program); }

void ProgramState::require_idle() const {
  if (in_flight == nullptr) return;
  throw Error(ErrorCode::kWrongOrder,
              "cannot start a job while a job of the same program is in flight, since they share its memory; wait "
              "for its end first, or load the program again.");
}

void LoadedProgram::require_idle() const {
  const Lock lock(state_->context->device->mutex);
  state_->require_idle();
}

uint64_t Context::blocking_cycles(const compiler::Program& program) const {
  const DeviceState& device = *state_->device;
  if (device.sees_core) return 0;
  const uint64_t firmware = (kMostFirmwareBlocking + firmware_cycles(program.sizes)) * device.caps.clock_mhz;
  const uint32_t divisor = device.caps.cpu_clock_mhz;
  return program.load_cycles + longest_stop(program) + (firmware + divisor - 1) / divisor;
}

}  // namespace npu::runtime
