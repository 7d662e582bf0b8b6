// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/compiler/command_interpreter.h"

#include <algorithm>
#include <cstring>
#include <random>

#include "tests/unit/compiler/step_math.h"

namespace npu::compiler::testing {
namespace {

using contract::Address;
using contract::Region;

constexpr uint8_t kPoison = 0xA5;

struct Reach {
  int64_t low = 0, high = 0;
};

Reach reach(std::initializer_list<std::pair<int64_t, int64_t>> dims, int64_t run) {
  Reach r{0, run};
  for (const auto& [count, stride] : dims) (stride < 0 ? r.low : r.high) += (count - 1) * stride;
  return r;
}

}  // namespace

CommandInterpreter::CommandInterpreter(const Program& program, const contract::Capabilities& capabilities,
                                       bool two_places)
    : program_(program), capabilities_(capabilities), two_places_(two_places) {
  scratchpad_.assign(capabilities.spm_bytes, kPoison);
  constants_ = program.constants;
  workspace_.assign(program.workspace_bytes, kPoison);
  input_.assign(program.input_bytes, kPoison);
  output_.assign(program.output_bytes, kPoison);
  for (const Variable& v : program.variables) {
    State& state = variables_.emplace_back();
    state.places[0] = v.initial;
    state.places[0].resize(v.bytes);
    state.places[1].assign(v.bytes, kPoison);
  }
  save_.assign(program.save_bytes, kPoison);
  if (program.main_words > program.commands.size()) {
    complain("the main stream is longer than all words");
    return;
  }
  commands_ = split(std::span(program.commands).first(program.main_words));
  if (!complaints.empty()) return;
  if (commands_.size() != program.command_count) complain("wrong command count");
  commands_.erase(commands_.begin());
  commands_.pop_back();
  std::vector<uint32_t> complete(variables_.size());
  for (const std::span<const uint32_t> words : commands_) {
    complete_before_.push_back(complete);
    branches_ |= contract::Header::decode(words).opcode == contract::Opcode::kBranch;
    for (uint32_t variable : completes(words)) ++complete[variable];
  }
  resident_.assign(program.resident_bytes, kPoison);
  loading_ = true;
  run_side_stream(program.load_word, program.load_words, Region::kConstants, Region::kResident);
  loading_ = false;
  if (uint64_t{program.spm_peak_bytes} + program.resident_bytes > scratchpad_.size()) complain("no room for constants");
}

std::vector<uint32_t> CommandInterpreter::completes(std::span<const uint32_t> words) {
  std::vector<uint32_t> out;
  const auto add = [&](const Address& address) {
    if (address.region != Region::kVariable) return;
    if (std::find(out.begin(), out.end(), address.variable) == out.end()) out.push_back(address.variable);
  };
  const contract::Opcode opcode = contract::Header::decode(words).opcode;
  if (opcode == contract::Opcode::kDma) {
    const auto c = contract::DmaCommand::decode(words);
    if (c.commit) add(c.dst);
  } else if (opcode == contract::Opcode::kVpuEwise) {
    const auto c = contract::VpuEwiseCommand::decode(words);
    for (const contract::Uop& uop : c.uops) {
      if (c.commit && uop.op == contract::UopCode::kStore) add(c.operands[uop.b].base);
    }
  }
  return out;
}

// Commands from begin to end, both included; none when they are damaged.
std::vector<std::span<const uint32_t>> CommandInterpreter::split(std::span<const uint32_t> stream) {
  std::vector<std::span<const uint32_t>> commands;
  for (size_t at = 0; at < stream.size();) {
    const uint32_t words = contract::command_words(stream.subspan(at));
    if (words == 0 || at + words > stream.size() || !contract::well_formed(stream.subspan(at, words)) ||
        !contract::reserved_zero(stream.subspan(at, words))) {
      complain("damaged command");
      return {};
    }
    commands.push_back(stream.subspan(at, words));
    at += words;
  }
  if (commands.size() < 2) {
    complain("no begin and end");
    return {};
  }
  const auto begin = contract::BeginCommand::decode(commands.front());
  if (begin.header.opcode != contract::Opcode::kBegin || begin.command_count != commands.size() ||
      begin.caps_hash != contract::caps_hash(capabilities_)) {
    complain("bad begin");
  }
  if (contract::Header::decode(commands.back()).opcode != contract::Opcode::kEnd) complain("bad end");
  return commands;
}

void CommandInterpreter::set_input(size_t port, std::span<const uint8_t> bytes) {
  const Port& p = program_.inputs[port];
  std::copy_n(bytes.begin(), p.bytes, input_.begin() + p.offset);
}

std::vector<uint8_t> CommandInterpreter::output(size_t port) const {
  const Port& p = program_.outputs[port];
  return {output_.begin() + p.offset, output_.begin() + p.offset + p.bytes};
}

void CommandInterpreter::complain(const std::string& what) {
  complaints.push_back("command " + std::to_string(current_) + ": " + what);
}

uint8_t* CommandInterpreter::resolve(const Address& address, int64_t low, int64_t high, bool write, bool dma) {
  std::vector<uint8_t>* region = nullptr;
  bool engine = false, writable = true;
  switch (address.region) {
    case Region::kScratchpad:
      region = &scratchpad_;
      engine = true;
      break;
    case Region::kConstants:
      region = &constants_;
      writable = false;
      break;
    case Region::kWorkspace:
      region = &workspace_;
      break;
    case Region::kInput:
      region = &input_;
      writable = false;
      break;
    case Region::kOutput:
      region = &output_;
      break;
    case Region::kSave:
      region = &save_;
      break;
    case Region::kResident:
      region = &resident_;
      engine = true;
      writable = loading_;
      break;
    case Region::kVariable:
      if (address.variable >= variables_.size()) break;
      region = &place_of(address.variable, write);
      engine = !program_.variables[address.variable].in_dram;
      break;
  }
  const int64_t offset = address.offset;
  if (region == nullptr || offset + low < 0 || offset + high > static_cast<int64_t>(region->size()) ||
      (write && !writable) || (!dma && !engine)) {
    complain("bad access to region " + std::to_string(static_cast<int>(address.region)) + " at " +
             std::to_string(offset) + " [" + std::to_string(low) + ", " + std::to_string(high) + ")" +
             (write ? " write" : " read"));
    nowhere_.assign(static_cast<size_t>(high - low), kPoison);
    return nowhere_.data() - low;
  }
  return region->data() + offset;
}

void CommandInterpreter::run() {
  run([](size_t) {});
}

void CommandInterpreter::run(const std::function<void(size_t)>& at_yield) {
  for (size_t i = 0; i < commands_.size() && complaints.size() < 10; ++i) {
    execute(i);
    if (contract::Header::decode(commands_[i]).opcode == contract::Opcode::kBranch) {
      const auto branch = contract::BranchCommand::decode(commands_[i]);
      if (is_taken(branch)) i = branch.target_index - 1;  // commands_ is without `begin`; a label does nothing
    }
    if (contract::Header::decode(commands_[i]).opcode != contract::Opcode::kYield) continue;
    at_yield(contract::YieldCommand::decode(commands_[i]).segment);
  }
}

// As the contract says that several pixels must be.
void CommandInterpreter::check_side_by_side(const contract::MxuCommand& c) {
  const uint32_t pixels = 1U << c.side_by_side_log2;
  if (c.mode == contract::MxuMode::kMatmul || pixels > capabilities_.mxu_split) complain("pixels side by side");
  if (c.out_w % pixels != 0 || c.out_c * pixels != capabilities_.mxu_cols) complain("size of pixels side by side");
  const bool adds = c.residual != contract::Residual::kNone;
  if (c.dst_pixel_stride != static_cast<int64_t>(c.out_c * element_bytes(c.dst_type)) ||
      (adds && c.residual_pixel_stride != static_cast<int64_t>(c.out_c))) {
    complain("strides of pixels side by side");
  }
}

// It must go to a label.
void CommandInterpreter::check_branch(const contract::BranchCommand& branch) {
  const uint32_t* target = program_.commands.data() + branch.target;
  if (branch.target_index == 0 || branch.target_index > commands_.size() ||
      commands_[branch.target_index - 1].data() != target ||
      contract::Header::decode(commands_[branch.target_index - 1]).opcode != contract::Opcode::kLabel) {
    complain("a branch that does not go to a label");
  }
}

bool CommandInterpreter::is_taken(const contract::BranchCommand& branch) {
  if (branch.mode == contract::BranchMode::kIfFalse) return *resolve(branch.condition, 0, 1, false, false) == 0;
  if (branch.mode != contract::BranchMode::kRepeat) return true;
  uint8_t* counter = resolve(branch.counter, 0, 4, true, false);
  uint32_t count = 0;
  std::memcpy(&count, counter, sizeof(count));
  if (count++ >= branch.limit) complain("a loop beyond its limit");
  std::memcpy(counter, &count, sizeof(count));
  return true;
}

void CommandInterpreter::preempt(size_t segment, uint32_t seed) {
  if (segment >= program_.segments.size()) {
    complain("no such segment");
    return;
  }
  const Segment& s = program_.segments[segment];
  run_side_stream(s.save_word, s.save_words, Region::kScratchpad, Region::kSave);
  std::mt19937 random(seed);
  for (uint8_t& byte : scratchpad_) byte = static_cast<uint8_t>(random());
  run_side_stream(s.restore_word, s.restore_words, Region::kSave, Region::kScratchpad);
}

void CommandInterpreter::run_side_stream(uint32_t word, uint32_t words, Region from, Region to) {
  if (words == 0) return;
  if (word < program_.main_words || uint64_t{word} + words > program_.commands.size()) {
    complain("a side stream lies outside of the words behind the main stream");
    return;
  }
  const auto commands = split(std::span(program_.commands).subspan(word, words));
  for (size_t i = 1; i + 1 < commands.size(); ++i) {
    const auto copy = contract::DmaCommand::decode(commands[i]);
    if (copy.header.opcode != contract::Opcode::kDma || copy.mode != contract::DmaMode::kCopy ||
        copy.src.region != from || copy.dst.region != to) {
      complain("a side stream does something else than to save, restore or load");
      return;
    }
    execute(commands[i]);
  }
}

void CommandInterpreter::check_yield(const contract::YieldCommand& yield) {
  if (yield.header.queue != contract::Queue::kSequencer) complain("yield on another queue");
  for (uint8_t wait : yield.header.wait) {
    if (wait != 0) complain("yield with a token");
  }
  const auto begin = contract::BeginCommand::decode(std::span(program_.commands));
  if (yield.major != begin.major || yield.minor != begin.minor || yield.caps_hash != begin.caps_hash ||
      yield.command_count != begin.command_count) {
    complain("yield and begin differ");
  }
  if (yield.index != current_ + 1) complain("yield with another's index");
  if (yield.segment >= program_.segments.size() ||
      program_.commands.data() + program_.segments[yield.segment].yield_word != commands_[current_].data()) {
    complain("yield without its segment");
  }
}

std::vector<uint8_t>& CommandInterpreter::place_of(uint32_t variable, bool write) {
  // In loops a command runs behind as many writes as there were: only straight streams have an order to check.
  const uint32_t before = branches_ ? variables_[variable].completed : complete_before_[current_][variable];
  if (variables_[variable].completed != before) complain("not in order with what completes a write of the variable");
  return variables_[variable].places[two_places_ ? (before + (write ? 1 : 0)) % 2 : 0];
}

void CommandInterpreter::execute(size_t i) {
  current_ = i;
  execute(commands_[i]);
  for (uint32_t variable : completes(commands_[i])) {
    State& state = variables_[variable];
    ++state.completed;
    if (two_places_) state.places[(state.completed + 1) % 2].assign(state.places[0].size(), kPoison);
  }
}

// By dimensions: batch, row of the table, index, pieces of a row.
void CommandInterpreter::move_rows(const contract::DmaCommand& c) {
  const bool gathers = c.mode == contract::DmaMode::kGather;
  const auto [batches, choices, indices, outer, inner] = c.count;
  Reach src{0, c.run_bytes}, dst{0, c.run_bytes};
  for (size_t d = 0; d < 5; ++d) {
    (c.src_stride[d] < 0 ? src.low : src.high) += (int64_t{c.count[d]} - 1) * c.src_stride[d];
    (c.dst_stride[d] < 0 ? dst.low : dst.high) += (int64_t{c.count[d]} - 1) * c.dst_stride[d];
  }
  if (c.src_stride[gathers ? 2 : 1] != 0 || c.dst_stride[gathers ? 1 : 2] != 0) complain("a stride of the other side");
  const int64_t places = int64_t{batches} * indices;
  if (places > contract::kDmaIndices || c.index.offset % 4 != 0) complain("indices beyond the channel");
  const uint8_t* list = resolve(c.index, 0, 4 * places, false, true);
  uint8_t* to = resolve(c.dst, dst.low, dst.high, true, true);
  const uint8_t* from = resolve(c.src, src.low, src.high, false, true);
  for (int64_t place = 0; place < places; ++place) {
    int32_t chosen = 0;
    std::memcpy(&chosen, list + 4 * place, 4);
    if (chosen < 0 || static_cast<uint32_t>(chosen) >= choices) {
      complain("an index that chooses no row");
      return;
    }
    const std::array<int64_t, 3> at{place / indices, chosen, place % indices};
    for (int64_t piece = 0; piece < int64_t{outer} * inner; ++piece) {
      const std::array<int64_t, 5> index{at[0], at[1], at[2], piece / inner, piece % inner};
      int64_t a = 0, b = 0;
      for (size_t d = 0; d < 5; ++d) {
        a += index[d] * c.src_stride[d];
        b += index[d] * c.dst_stride[d];
      }
      std::memcpy(to + b, from + a, c.run_bytes);
    }
  }
}

void CommandInterpreter::execute(std::span<const uint32_t> words) {
  const contract::Header header = contract::Header::decode(words);
  const auto queue = static_cast<uint32_t>(header.queue);
  switch (header.opcode) {
    case contract::Opcode::kDma: {
      const auto c = contract::DmaCommand::decode(words);
      if (queue >= capabilities_.dma_channels) complain("DMA channel does not exist");
      if (c.mode == contract::DmaMode::kGather || c.mode == contract::DmaMode::kScatter) {
        move_rows(c);
        break;
      }
      Reach src{0, c.run_bytes}, dst{0, c.run_bytes};
      for (size_t d = 0; d < 5; ++d) {
        (c.src_stride[d] < 0 ? src.low : src.high) += (int64_t{c.count[d]} - 1) * c.src_stride[d];
        (c.dst_stride[d] < 0 ? dst.low : dst.high) += (int64_t{c.count[d]} - 1) * c.dst_stride[d];
      }
      uint8_t* to = resolve(c.dst, dst.low, dst.high, true, true);
      const bool fill = c.mode == contract::DmaMode::kFill;
      const uint8_t* from = fill ? nullptr : resolve(c.src, src.low, src.high, false, true);
      const uint64_t value = uint64_t{c.fill_value_hi} << 32 | c.fill_value_lo;
      std::array<int64_t, 5> index{};
      for (;;) {
        int64_t a = 0, b = 0;
        for (size_t d = 0; d < 5; ++d) {
          a += index[d] * c.src_stride[d];
          b += index[d] * c.dst_stride[d];
        }
        if (fill) {
          for (uint32_t k = 0; k < c.run_bytes; ++k)
            to[b + k] = static_cast<uint8_t>(value >> (8 * (k % c.fill_bytes)));
        } else {
          std::memmove(to + b, from + a, c.run_bytes);
        }
        size_t d = 5;
        while (d > 0 && ++index[d - 1] == c.count[d - 1]) index[--d] = 0;
        if (d == 0) break;
      }
      break;
    }
    case contract::Opcode::kMxu: {
      const auto c = contract::MxuCommand::decode(words);
      if (header.queue != contract::Queue::kMxu) complain("MXU command on another queue");
      if (c.side_by_side_log2 > 0) check_side_by_side(c);
      const int64_t unit = element_bytes(c.weight_type);
      const Reach src =
          reach({{c.in_h, c.src_row_stride}, {c.in_w, c.src_pixel_stride}}, c.in_c * element_bytes(c.src_type));
      const Reach dst =
          reach({{c.out_h, c.dst_row_stride}, {c.out_w, c.dst_pixel_stride}}, c.out_c * element_bytes(c.dst_type));
      const int64_t window = c.kernel_h * c.kernel_w;
      const Reach weights = c.mode == contract::MxuMode::kConv ? reach({{c.out_c, c.w_stride}}, window * c.in_c * unit)
                            : c.mode == contract::MxuMode::kDepthwise ? reach({{window, c.w_stride}}, c.out_c * unit)
                                                                      : reach({{c.in_c, c.w_stride}}, c.out_c * unit);
      OutputStage stage;
      const int64_t block = contract::ParameterHeader::kBytes + int64_t{c.out_c} * contract::ParameterEntry::kBytes;
      if (c.params.offset % 16 != 0) complain("parameter block is not aligned");
      const uint8_t* params = resolve(c.params, 0, block, false, false);
      stage.header = contract::ParameterHeader::load(params);
      for (uint32_t k = 0; k < c.out_c; ++k) {
        stage.entries.push_back(contract::ParameterEntry::load(params + contract::ParameterHeader::kBytes +
                                                               k * contract::ParameterEntry::kBytes));
      }
      stage.rescale = c.rescale;
      stage.output_unsigned = c.output_unsigned;
      stage.type = c.dst_type;
      stage.adds = c.residual;
      if (c.residual != contract::Residual::kNone) {
        const Reach added = reach({{c.out_h, c.residual_row_stride}, {c.out_w, c.residual_pixel_stride}}, c.out_c);
        stage.residual = {resolve(c.residual_src, added.low, added.high, false, false),
                          contract::Element::kI8,
                          {c.residual_row_stride, c.residual_pixel_stride, 1}};
        stage.value_left = c.value_left;
        stage.residual_left = c.residual_left;
      }
      const int64_t src_unit = element_bytes(c.src_type), dst_unit = element_bytes(c.dst_type);
      const Strided in{resolve(c.src, src.low, src.high, false, false),
                       c.src_type,
                       {c.src_row_stride, c.src_pixel_stride, src_unit}};
      const Strided out{
          resolve(c.dst, dst.low, dst.high, true, false), c.dst_type, {c.dst_row_stride, c.dst_pixel_stride, dst_unit}};
      Strided w{resolve(c.weights, weights.low, weights.high, false, false), c.weight_type, {}};
      const WindowMath math{c.kernel_h,   c.kernel_w,   c.stride_y, c.stride_x,
                            c.dilation_y, c.dilation_x, c.pad_top,  c.pad_left};
      const std::array<int64_t, 3> in_dims{c.in_h, c.in_w, c.in_c}, out_dims{c.out_h, c.out_w, c.out_c};
      switch (c.mode) {
        case contract::MxuMode::kConv:
          w.strides = {c.w_stride, int64_t{c.kernel_w} * c.in_c * unit, c.in_c * unit, unit};
          conv(in, in_dims, w, out, out_dims, math, stage);
          break;
        case contract::MxuMode::kDepthwise:
          if (c.out_c != c.in_c * c.multiplier) complain("depthwise channels");
          w.strides = {int64_t{c.kernel_w} * c.w_stride, c.w_stride, c.multiplier * unit, unit};
          depthwise(in, in_dims, w, out, out_dims, math, c.multiplier, stage);
          break;
        case contract::MxuMode::kMatmul:
          if (c.in_h != 1 || c.out_h != 1 || c.in_w != c.out_w) complain("matmul shape");
          w.strides = {c.w_stride, unit};
          matmul({in.first, in.type, {c.src_pixel_stride, src_unit}}, w,
                 {out.first, out.type, {c.dst_pixel_stride, dst_unit}}, c.in_w, c.in_c, c.out_c, stage);
          break;
      }
      break;
    }
    case contract::Opcode::kVpuEwise: {
      const auto c = contract::VpuEwiseCommand::decode(words);
      if (header.queue != contract::Queue::kVpu) complain("VPU command on another queue");
      std::vector<EwiseOperand> operands;
      for (size_t k = 0; k < c.operands.size(); ++k) {
        const contract::Operand& o = c.operands[k];
        bool write = false;
        for (const contract::Uop& u : c.uops) write |= u.op == contract::UopCode::kStore && u.b == k;
        if (o.bytes > 0) {
          operands.push_back({{}, resolve(o.base, 0, o.bytes, false, false)});
          continue;
        }
        Reach r{0, element_bytes(o.type)};
        for (size_t d = 0; d < 4; ++d) (o.stride[d] < 0 ? r.low : r.high) += (int64_t{c.dims[d]} - 1) * o.stride[d];
        operands.push_back(
            {{resolve(o.base, r.low, r.high, write, false), o.type, {o.stride.begin(), o.stride.end()}}, nullptr});
      }
      ewise(std::array<int64_t, 4>{c.dims[0], c.dims[1], c.dims[2], c.dims[3]}, operands, c.uops, c.register_count);
      break;
    }
    case contract::Opcode::kVpuPool: {
      const auto c = contract::VpuPoolCommand::decode(words);
      if (header.queue != contract::Queue::kVpu) complain("VPU command on another queue");
      const int64_t unit = element_bytes(c.type);
      const Reach src = reach({{c.in_h, c.src_row_stride}, {c.in_w, c.src_pixel_stride}}, c.channels * unit);
      const Reach dst = reach({{c.out_h, c.dst_row_stride}, {c.out_w, c.dst_pixel_stride}}, c.channels * unit);
      contract::ParameterHeader params;
      if (c.mode == contract::PoolMode::kAvg) {
        params = contract::ParameterHeader::load(resolve(c.params, 0, contract::ParameterHeader::kBytes, false, false));
      }
      pool(c.mode,
           {resolve(c.src, src.low, src.high, false, false), c.type, {c.src_row_stride, c.src_pixel_stride, unit}},
           {c.in_h, c.in_w, c.channels},
           {resolve(c.dst, dst.low, dst.high, true, false), c.type, {c.dst_row_stride, c.dst_pixel_stride, unit}},
           {c.out_h, c.out_w, c.channels},
           {c.kernel_h, c.kernel_w, c.stride_y, c.stride_x, 1, 1, c.pad_top, c.pad_left}, params.input_zp,
           params.output_zp);
      break;
    }
    case contract::Opcode::kVpuReduce: {
      const auto c = contract::VpuReduceCommand::decode(words);
      if (header.queue != contract::Queue::kVpu) complain("VPU command on another queue");
      const contract::Element result = c.op == contract::ReduceOp::kArgmax ? contract::Element::kI32 : c.type;
      const int64_t unit = element_bytes(c.type), result_unit = element_bytes(result);
      const Reach src = reach({{c.outer, c.src_outer_stride}, {c.axis, c.src_axis_stride}}, c.inner * unit);
      const Reach dst = reach({{c.outer, c.dst_outer_stride}}, c.inner * result_unit);
      reduce(c.op,
             {resolve(c.src, src.low, src.high, false, false), c.type, {c.src_outer_stride, c.src_axis_stride, unit}},
             {resolve(c.dst, dst.low, dst.high, true, false), result, {c.dst_outer_stride, result_unit}}, c.outer,
             c.axis, c.inner);
      break;
    }
    case contract::Opcode::kDeclare: {
      const auto c = contract::DeclareCommand::decode(words);
      if (c.variable >= program_.variables.size() || c.hash != program_.variables[c.variable].hash)
        complain("bad declare");
      break;
    }
    case contract::Opcode::kYield:
      check_yield(contract::YieldCommand::decode(words));
      break;
    case contract::Opcode::kLabel:
      if (contract::LabelCommand::decode(words).index != current_ + 1) complain("a label in the wrong place");
      break;
    case contract::Opcode::kBranch:
      check_branch(contract::BranchCommand::decode(words));
      break;
    default:
      complain("begin or end inside the stream");
  }
}

}  // namespace npu::compiler::testing
