// SPDX-License-Identifier: Apache-2.0
#include "hw/model/command.h"

namespace npu::model {

using contract::Opcode;

DecodedCommand decode(std::span<const uint32_t> words) {
  switch (contract::Header::decode(words).opcode) {
    case Opcode::kBegin:
      return contract::BeginCommand::decode(words);
    case Opcode::kEnd:
      return contract::EndCommand::decode(words);
    case Opcode::kDeclare:
      return contract::DeclareCommand::decode(words);
    case Opcode::kYield:
      return contract::YieldCommand::decode(words);
    case Opcode::kDma:
      return contract::DmaCommand::decode(words);
    case Opcode::kMxu:
      return contract::MxuCommand::decode(words);
    case Opcode::kVpuEwise:
      return contract::VpuEwiseCommand::decode(words);
    case Opcode::kVpuPool:
      return contract::VpuPoolCommand::decode(words);
    case Opcode::kVpuReduce:
      return contract::VpuReduceCommand::decode(words);
  }
  return std::monostate{};
}

}  // namespace npu::model
