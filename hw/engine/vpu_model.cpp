// SPDX-License-Identifier: Apache-2.0
#include "hw/engine/vpu_model.h"

#include <variant>

#include "hw/contract/overloaded.h"
#include "hw/engine/vpu_ewise.h"
#include "hw/engine/vpu_pool.h"
#include "hw/engine/vpu_reduce.h"

namespace npu::engine {

namespace {

class VpuModel final : public Engine {
 public:
  VpuModel(const contract::Capabilities& caps, const Kernels& kernels)
      : caps_(caps), ewise_(caps_, kernels), pool_(caps_, kernels), reduce_(caps_, kernels) {}

  TileResult run(const Tile& any, MemoryView& memory, bool timed) override {
    return std::visit(Overloaded{
                          [&](const MxuTile&) { return refused(contract::ErrorCode::kFaultBadCommand); },
                          [&](const EwiseTile& tile) { return ewise_.run(tile, memory, timed); },
                          [&](const PoolTile& tile) { return pool_.run(tile, memory, timed); },
                          [&](const ReduceTile& tile) { return reduce_.run(tile, memory, timed); },
                      },
                      any);
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
