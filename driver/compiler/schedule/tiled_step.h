// SPDX-License-Identifier: Apache-2.0
// A step as the planner sees it: axes that may be cut into tiles, operands whose boxes follow from a tile, and the
// commands that compute one tile. One implementation a kind of step (mxu_tiles.cpp, ewise_tiles.cpp, ...).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "driver/compiler/ir.h"
#include "driver/compiler/schedule/view.h"
#include "hw/contract/gen/capabilities.h"
#include "hw/contract/gen/commands.h"
#include "hw/contract/queues.h"

namespace npu::compiler::backend {

using Body =
    std::variant<contract::DmaCommand, contract::MxuCommand, contract::VpuEwiseCommand, contract::VpuPoolCommand,
                 contract::VpuReduceCommand, contract::DeclareCommand, contract::LabelCommand, contract::BranchCommand>;

// Axes of one group are cut like rows: one axis is split, those outside of it take one position at a time, those inside
// of it stay whole, so that a tile is as contiguous as it can be. Groups are cut independently of each other.
struct Axis {
  int64_t extent = 1;
  int64_t granule = 1;  // tile sizes are multiples of it, or the extent
  uint32_t group = 0;
  bool divisible = true;       // smaller tiles than the granule are allowed where nothing else fits
  std::string_view name = {};  // for people; empty: one of several that only their positions tell apart
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
  bool scratch = false;     // memory that a chain keeps rows in; has no view
  bool direct = false;      // the step's own commands store it, from rows that a chain keeps
  int64_t moved = -1;       // bytes of it that the step moves; -1: all
  uint32_t part = 0;        // of a chain: the step that it belongs to, counted from the first
};

// The axis along which a step makes its result row by row, each row contiguous behind the one before, and each image
// behind the image before: rows [a, b) of an image are positions [a * unit, b * unit) of `axis`. Images have an axis of
// their own, or follow each other on the same one.
struct RowAxis {
  size_t axis = 0;
  int64_t unit = 1, rows = 1;  // rows: of an image
  int64_t images = 1;
  std::optional<size_t> image_axis = {};
};

// Where the box of an operand lies: its first element, and bytes between elements, a stride a dimension of the view. Of
// a scratch operand: its memory, and what TiledStep::scratch_parts() says instead of strides.
struct Placed {
  contract::Address address;
  std::vector<int64_t> strides;
};

class TiledStep {
 public:
  virtual ~TiledStep() = default;

  explicit TiledStep(contract::Engine engine) : engine_(engine) {}
  [[nodiscard]] contract::Engine engine() const { return engine_; }
  [[nodiscard]] const std::vector<Axis>& axes() const { return axes_; }
  [[nodiscard]] const std::vector<Operand>& operands() const { return operands_; }

  // Whether a tile leaves operand `index` alone; its box must not be asked for then.
  [[nodiscard]] virtual bool idle(size_t index, const Tile& tile) const;
  // The part of operand `index` that a tile reads or writes. Only for operands with a view.
  virtual void box_of(size_t index, const Tile& tile, Box& box) const = 0;
  [[nodiscard]] Box box(size_t index, const Tile& tile) const;
  // Bytes that operand `index` takes in a tile buffer, for one tile.
  [[nodiscard]] virtual int64_t bytes(size_t index, const Tile& tile) const;
  // The same, for the largest of all tiles of this size (one an axis).
  [[nodiscard]] virtual int64_t largest_bytes(size_t index, std::span<const int64_t> size) const;
  // How a step of these tile sizes uses the memory of a scratch operand.
  [[nodiscard]] virtual std::vector<int64_t> scratch_parts(size_t index, std::span<const int64_t> size) const;
  // Bytes of a parameter block.
  virtual void make(size_t index, const Tile& tile, uint8_t* out) const;
  // The engine's cycles for a tile of this size, with ideal memory.
  [[nodiscard]] virtual double cycles(std::span<const int64_t> size) const = 0;
  // Nullopt when there is no such axis.
  [[nodiscard]] virtual std::optional<RowAxis> row_axis() const { return std::nullopt; }
  // The variable that it writes is complete when all tiles are done.
  [[nodiscard]] bool completes_write() const { return completes_write_; }
  // The commands that compute a tile, in order. Queue and tokens are not set; `layer` is the part of a chain.
  virtual void commands(const Tile& tile, std::span<const Placed> operands, std::vector<Body>& out) const = 0;

 protected:
  std::vector<Axis> axes_;
  std::vector<Operand> operands_;

  bool completes_write_ = false;

 private:
  friend std::unique_ptr<TiledStep> make_tiled(const Step& step, const contract::Capabilities& capabilities);

  const contract::Engine engine_;
};

// The step must outlive the result. Null for a step that is no tile work: declarations and control flow.
[[nodiscard]] std::unique_ptr<TiledStep> make_tiled(const Step& step, const contract::Capabilities& capabilities);

[[nodiscard]] std::unique_ptr<TiledStep> tile_mxu(const MxuStep& step, const contract::Capabilities& capabilities);
[[nodiscard]] std::unique_ptr<TiledStep> tile_ewise(const EwiseStep& step, const contract::Capabilities& capabilities);
[[nodiscard]] std::unique_ptr<TiledStep> tile_pool(const PoolStep& step, const contract::Capabilities& capabilities);
[[nodiscard]] std::unique_ptr<TiledStep> tile_reduce(const ReduceStep& step,
                                                     const contract::Capabilities& capabilities);
[[nodiscard]] std::unique_ptr<TiledStep> tile_copy(const CopyStep& step, const contract::Capabilities& capabilities);
[[nodiscard]] std::unique_ptr<TiledStep> tile_gather(const GatherStep& step,
                                                     const contract::Capabilities& capabilities);

// A field of 32 bits with sign; throws Error(argument_unsupported) when the value does not fit.
[[nodiscard]] int32_t field32(int64_t value);
// Fields of kernel, stride and dilation, and of padding; the front end has checked the operator's (ir.h).
[[nodiscard]] uint32_t field_of_window(int64_t value);
[[nodiscard]] int32_t field_of_padding(int64_t value);

[[nodiscard]] contract::Header& header_of(Body& body);
[[nodiscard]] const contract::Header& header_of(const Body& body);
// Whether a command cuts the stream into blocks: nothing moves across it, and everything before it is done behind it.
[[nodiscard]] bool is_control(const Body& body);

// `address` moved by `bytes`.
[[nodiscard]] contract::Address moved(contract::Address address, int64_t bytes);

}  // namespace npu::compiler::backend
