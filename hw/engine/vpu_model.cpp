// SPDX-License-Identifier: Apache-2.0
#include "hw/engine/vpu_model.h"

#include "hw/engine/vpu_ewise.h"
#include "hw/engine/vpu_pool.h"
#include "hw/engine/vpu_reduce.h"

namespace npu::engine {

namespace {

using contract::Opcode;

class VpuModel final : public Engine {
 public:
  VpuModel(const contract::Capabilities& caps, const Kernels& kernels)
      : caps_(caps), ewise_(caps_, kernels), pool_(caps_, kernels), reduce_(caps_) {}

  TileResult run(std::span<const uint32_t> command, MemoryView& memory, bool timed) override {
    switch (contract::Header::decode(command).opcode) {
      case Opcode::kVpuEwise:
        return ewise_.run(command, memory, timed);
      case Opcode::kVpuPool:
        return pool_.run(command, memory, timed);
      case Opcode::kVpuReduce:
        return reduce_.run(command, memory, timed);
      default:
        TileResult result;
        result.error = contract::ErrorCode::kFaultBadCommand;
        return result;
    }
  }

 private:
  const contract::Capabilities caps_;
  EwiseRunner ewise_;
  PoolRunner pool_;
  ReduceRunner reduce_;
};

}  // namespace

std::unique_ptr<Engine> make_vpu_model(const contract::Capabilities& caps, const Kernels& kernels) {
  return std::make_unique<VpuModel>(caps, kernels);
}

}  // namespace npu::engine
