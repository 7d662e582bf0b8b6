// SPDX-License-Identifier: Apache-2.0
#include "sim/cosim/dma_commands.h"

#include <fmt/format.h>

#include <algorithm>

#include "hw/contract/dma_walk.h"

namespace npu::cosim {

using contract::DmaCommand;
using contract::DmaMode;

namespace {

int32_t random_stride(std::mt19937_64& random, int64_t follows) {
  switch (random() % 5) {
    case 0:
      return static_cast<int32_t>(random() % 200) - 100;
    case 1:
      return static_cast<int32_t>(random() >> 40) - (1 << 23);
    case 2:
      return static_cast<int32_t>(-follows);
    default:
      return static_cast<int32_t>(follows);  // goes on where the inner dimensions end
  }
}

// Many indices now and then, and rows to choose from.
void make_indexed(DmaCommand& command, std::mt19937_64& random) {
  if (random() % 4 == 0) command.count[0] = 1 + static_cast<uint32_t>(random() % 16);
  if (random() % 4 == 0) command.count[contract::kDmaIndexDim] = 1 + static_cast<uint32_t>(random() % 16);
  command.count[contract::kDmaChoices] = 1 + static_cast<uint32_t>(random() % 1000);
  const bool gathers = command.mode == DmaMode::kGather;
  command.src_stride[gathers ? contract::kDmaIndexDim : contract::kDmaChoices] = 0;
  command.dst_stride[gathers ? contract::kDmaChoices : contract::kDmaIndexDim] = 0;
}

}  // namespace

DmaCommand random_dma_command(std::mt19937_64& random) {
  const bool fills = random() % 4 == 0;
  const bool indexed = !fills && random() % 3 == 0;
  const uint32_t pattern = 1u << random() % 4;
  DmaCommand command;
  command.header.opcode = contract::Opcode::kDma;
  command.header.words = DmaCommand::kWords;
  command.mode = fills ? DmaMode::kFill : DmaMode::kCopy;
  if (indexed) command.mode = random() % 2 == 0 ? DmaMode::kGather : DmaMode::kScatter;
  command.run_bytes = static_cast<uint32_t>(fills ? pattern * (1 + random() % 8) : 1 + random() % 40);
  if (fills) {
    command.fill_bytes = pattern;
    command.fill_value_lo = static_cast<uint32_t>(random());
    command.fill_value_hi = static_cast<uint32_t>(random());
  }
  int64_t src_piece = command.run_bytes, dst_piece = command.run_bytes;
  for (size_t i = 5; i-- > 0;) {
    command.count[i] = 1 + static_cast<uint32_t>(random() % 4);
    const bool repeats = random() % 8 == 0;
    const int32_t src_stride = random_stride(random, src_piece);
    command.src_stride[i] = fills || repeats ? 0 : src_stride;
    command.dst_stride[i] = random_stride(random, dst_piece);
    src_piece = int64_t{command.src_stride[i]} * command.count[i];
    dst_piece = int64_t{command.dst_stride[i]} * command.count[i];
  }
  if (indexed) make_indexed(command, random);
  return command;
}

std::vector<int32_t> random_indices(const DmaCommand& command, std::mt19937_64& random) {
  std::vector<int32_t> indices(contract::index_count(command));
  for (int32_t& index : indices) index = static_cast<int32_t>(random() % command.count[contract::kDmaChoices]);
  return indices;
}

std::vector<int64_t> row_offsets(const DmaCommand& command, std::span<const int32_t> indices) {
  std::vector<int64_t> offsets;
  for (const int32_t index : indices) offsets.push_back(int64_t{index} * contract::row_stride(command));
  return offsets;
}

std::string describe(const DmaCommand& command) {
  std::string text = fmt::format("{} of {} bytes, count/src/dst", contract::name(command.mode), command.run_bytes);
  for (size_t i = 0; i < command.count.size(); ++i) {
    text += fmt::format(" {}/{}/{}", command.count[i], command.src_stride[i], command.dst_stride[i]);
  }
  return text;
}

std::vector<DmaBeat> dma_beats(const contract::DmaSide& side, uint64_t base, uint32_t port_bytes,
                               std::span<const int64_t> offsets) {
  contract::ExtentWalk walk;
  walk.start(base, side, side.indexed ? offsets : std::span<const int64_t>());
  std::vector<DmaBeat> beats;
  while (!walk.done()) {
    DmaBeat beat;
    beat.address = walk.address();
    beat.bytes = static_cast<uint32_t>(std::min<uint64_t>(walk.contiguous(), port_bytes));
    walk.advance(beat.bytes);
    beat.last = walk.done();
    beats.push_back(beat);
  }
  return beats;
}

std::vector<DmaBeat> index_beats(const DmaCommand& command, uint64_t base, uint32_t port_bytes) {
  if (!contract::has_indices(command)) return {};
  return dma_beats({sizeof(int32_t) * contract::index_count(command), {1, 1, 1, 1, 1}, {}, false}, base, port_bytes);
}

uint8_t fill_byte(const DmaCommand& command, uint64_t index) {
  const uint64_t pattern = uint64_t{command.fill_value_hi} << 32 | command.fill_value_lo;
  return static_cast<uint8_t>(pattern >> (8 * (index % command.fill_bytes)));
}

}  // namespace npu::cosim
