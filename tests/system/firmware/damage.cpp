// SPDX-License-Identifier: Apache-2.0
#include "tests/system/firmware/damage.h"

#include <gtest/gtest.h>

#include <span>

#include "hw/contract/gen/commands.h"

namespace npu::test {
namespace {

using contract::Region;

// Changes the destination of the first DMA command that writes the output.
template <typename Change>
compiler::Program with_output(compiler::Program program, Change change) {
  for (size_t at = 0; at < program.main_words;) {
    const std::span<const uint32_t> words = std::span(program.commands).subspan(at);
    const auto header = contract::Header::decode(words);
    if (header.opcode == contract::Opcode::kDma) {
      auto dma = contract::DmaCommand::decode(words);
      if (dma.dst.region == Region::kOutput) {
        change(dma.dst);
        std::vector<uint32_t> changed;
        dma.encode(changed);
        std::copy(changed.begin(), changed.end(), program.commands.begin() + static_cast<ptrdiff_t>(at));
        return program;
      }
    }
    at += header.words;
  }
  ADD_FAILURE() << "no transfer writes the output";
  return program;
}

}  // namespace

compiler::Program beyond_its_output(compiler::Program program) {
  return with_output(std::move(program), [](contract::Address& address) { address.offset = 0x4000'0000; });
}

compiler::Program into_an_unmapped_region(compiler::Program program) {
  return with_output(std::move(program), [](contract::Address& address) { address.region = Region::kSave; });
}

}  // namespace npu::test
