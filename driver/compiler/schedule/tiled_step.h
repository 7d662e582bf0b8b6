// A step as the planner sees it: axes that may be cut into tiles, operands whose boxes follow from a tile, and the
// commands that compute one tile. One implementation a kind of step (mxu_tiles.cpp, ewise_tiles.cpp, ...).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "driver/compiler/ir.h"
#include "driver/compiler/schedule/view.h"
#include "hw/contract/gen/capabilities.h"
#include "hw/contract/gen/commands.h"

namespace npu::compiler::backend {

using Body = std::variant<contract::DmaCommand, contract::MxuCommand, contract::VpuEwiseCommand,
                          contract::VpuPoolCommand, contract::VpuReduceCommand, contract::DeclareCommand>;

// Axes of one group are cut like rows: one axis is split, those outside of it take one position at a time, those inside
// of it stay whole, so that a tile is as contiguous as it can be. Groups are cut independently of each other.
struct Axis {
  int64_t extent = 1;
  int64_t granule = 1;  // tile sizes are multiples of it, or the extent
  uint32_t group = 0;
  bool divisible = true;  // smaller tiles than the granule are allowed where nothing else fits
};

// One range an axis.
using Tile = std::vector<Range>;

struct Operand {
  const View* view = nullptr;  // null: bytes that the step makes itself, a parameter block
  bool result = false;
  bool walkable = true;     // the engine can address the view as it stands, if its memory is the right one
  bool any_memory = false;  // DMA: DRAM is the right one too
  uint32_t axes = 0;        // bit i: the box depends on axis i
  bool repeats = false;     // the engine can repeat a position by a stride of 0
  bool commits = false;     // result: the command can set is_written of a variable
};

// Where the box of an operand lies: its first element, and bytes between elements, a stride a dimension of the view.
struct Placed {
  contract::Address address;
  std::vector<int64_t> strides;
};

class TiledStep {
 public:
  virtual ~TiledStep() = default;

  enum class Engine : uint8_t { kMxu, kVpu, kDma };

  explicit TiledStep(Engine engine) : engine_(engine) {}
  [[nodiscard]] Engine engine() const { return engine_; }
  [[nodiscard]] const std::vector<Axis>& axes() const { return axes_; }
  [[nodiscard]] const std::vector<Operand>& operands() const { return operands_; }

  // The part of operand `index` that a tile reads or writes. Only for operands with a view.
  virtual void box_of(size_t index, const Tile& tile, Box& box) const = 0;
  [[nodiscard]] Box box(size_t index, const Tile& tile) const;
  // Bytes that operand `index` takes in a tile buffer, for one tile.
  [[nodiscard]] virtual int64_t bytes(size_t index, const Tile& tile) const;
  // The same, for the largest of all tiles of this size (one an axis).
  [[nodiscard]] virtual int64_t largest_bytes(size_t index, std::span<const int64_t> size) const;
  // Bytes of a parameter block.
  virtual void make(size_t index, const Tile& tile, uint8_t* out) const;
  // The engine's cycles for a tile of this size, with ideal memory.
  [[nodiscard]] virtual double cycles(std::span<const int64_t> size) const = 0;
  // The commands that compute a tile, in order, on one queue; queue, layer and tokens are not set.
  virtual void commands(const Tile& tile, std::span<const Placed> operands, std::vector<Body>& out) const = 0;

 protected:
  std::vector<Axis> axes_;
  std::vector<Operand> operands_;

 private:
  const Engine engine_;
};

// The step must outlive the result. Null for a step that is no tile work (DeclareStep).
[[nodiscard]] std::unique_ptr<TiledStep> make_tiled(const Step& step, const contract::Capabilities& capabilities);

[[nodiscard]] std::unique_ptr<TiledStep> tile_mxu(const MxuStep& step, const contract::Capabilities& capabilities);
[[nodiscard]] std::unique_ptr<TiledStep> tile_ewise(const EwiseStep& step, const contract::Capabilities& capabilities);
[[nodiscard]] std::unique_ptr<TiledStep> tile_pool(const PoolStep& step, const contract::Capabilities& capabilities);
[[nodiscard]] std::unique_ptr<TiledStep> tile_reduce(const ReduceStep& step,
                                                     const contract::Capabilities& capabilities);
[[nodiscard]] std::unique_ptr<TiledStep> tile_copy(const CopyStep& step, const contract::Capabilities& capabilities);

// A field of 32 bits with sign, or of 16; throws Error(argument_unsupported) when the value does not fit.
[[nodiscard]] int32_t field32(int64_t value);
[[nodiscard]] int32_t field16(int64_t value);

// `address` moved by `bytes`.
[[nodiscard]] contract::Address moved(contract::Address address, int64_t bytes);

}  // namespace npu::compiler::backend
