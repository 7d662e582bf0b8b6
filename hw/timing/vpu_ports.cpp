// SPDX-License-Identifier: Apache-2.0
#include "hw/timing/vpu_ports.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "hw/contract/uop_fields.h"
#include "hw/timing/cycles.h"
#include "hw/timing/vpu_cycles.h"
#include "hw/timing/vpu_program.h"

namespace npu::timing {

namespace {

using contract::Capabilities;
using contract::Element;
using contract::PoolMode;
using contract::UopRole;

constexpr Ports kNoPort = 0;

// `times` times: a pass that asks on `port`, and passes without a request up to `passes`.
struct Part {
  uint64_t times;
  Ports port;
  uint64_t passes;
};

// The passes of a tile in order: all parts, and that as often as there are rounds; then those of a tail, once.
class Passes {
 public:
  Passes(std::vector<Part> parts, uint64_t rounds, std::vector<Part> tail)
      : parts_(std::move(parts)), tail_(std::move(tail)), rounds_(rounds) {
    for (std::vector<Part>* all : {&parts_, &tail_}) {
      std::erase_if(*all, [](const Part& part) { return part.times == 0; });
    }
    if (rounds_ == 0) begin_tail();
  }

  [[nodiscard]] bool any() const { return rounds_ != 0 && !parts_.empty(); }

  // Where the next pass asks; nothing behind the last one.
  std::optional<Ports> next() {
    if (rounds_ == 0 || parts_.empty()) return std::nullopt;
    const Part& part = parts_[part_];
    const Ports port = pass_ == 0 ? part.port : kNoPort;
    if (++pass_ < part.passes) return port;
    pass_ = 0;
    if (++time_ < part.times) return port;
    time_ = 0;
    if (++part_ < parts_.size()) return port;
    part_ = 0;
    if (--rounds_ == 0) begin_tail();
    return port;
  }

 private:
  void begin_tail() {
    if (tail_.empty()) return;
    parts_ = std::exchange(tail_, {});
    rounds_ = 1;
  }

  std::vector<Part> parts_, tail_;
  uint64_t rounds_, part_ = 0, time_ = 0, pass_ = 0;
};

// Setup; the rows of parameters, one after the other; then the passes through a pipeline that is rigid: its stages move
// together, once everything that they ask for is granted. What is granted before the rest is not asked for again.
class VpuPorts final : public SteppedSchedule<VpuPorts> {
 public:
  VpuPorts(uint64_t rows, Passes passes)
      : rows_(rows), passes_(std::move(passes)), empty_(passes_.any() ? 0 : kStages) {}

  Ports asking() const override { return asking_; }
  bool done() const override { return empty_ == kStages; }

  void step(Ports granted) override {
    asking_ &= ~granted;
    if (asking_ != kNoPort) return;
    if (rows_ > 0) {
      --rows_;
      asking_ = kVpuParameters;
    } else {
      move();
    }
  }

 private:
  // Behind fetch. The last stage is the cycle between the last result and `done`.
  static constexpr uint32_t kReadStage = 2, kWriteStage = 8, kStages = 10;

  void move() {
    const std::optional<Ports> pass = passes_.next();
    if (!pass) ++empty_;
    reads_ = reads_ << 1 | (pass == kVpuRead ? 1 : 0);
    writes_ = writes_ << 1 | (pass == kVpuWrite ? 1 : 0);
    if ((reads_ >> kReadStage & 1) != 0) asking_ |= kVpuRead;
    if ((writes_ >> kWriteStage & 1) != 0) asking_ |= kVpuWrite;
  }

  uint64_t rows_;  // of parameters that are to be asked for
  Passes passes_;
  Ports asking_ = kNoPort;
  uint32_t reads_ = 0, writes_ = 0;  // bit i: of the pass in stage i
  uint32_t empty_;                   // stages behind the last pass
};

std::unique_ptr<PortSchedule> schedule(uint64_t rows, std::vector<Part> parts, uint64_t rounds,
                                       std::vector<Part> tail = {}) {
  return std::make_unique<VpuPorts>(rows, Passes(std::move(parts), rounds, std::move(tail)));
}

// Every pass of a load or store asks: 48 bits come and go in two halves. One that shares passes asks in the first or
// the last one.
void add_parts(const UopGroup& group, const contract::VpuEwiseCommand& command, std::vector<Part>& parts) {
  const UopRole role = operand_of(command.uops[group.owner()]).role;
  if (role == UopRole::kLoaded || role == UopRole::kStored) {
    parts.push_back({group.passes, role == UopRole::kLoaded ? kVpuRead : kVpuWrite, 1});
    return;
  }
  const uint64_t last = group.store_shares ? 1 : 0;
  if (group.passes > last) parts.push_back({1, group.load_shares ? kVpuRead : kNoPort, group.passes - last});
  if (last != 0) parts.push_back({1, kVpuWrite, 1});
}

}  // namespace

std::unique_ptr<PortSchedule> vpu_ports(const contract::VpuEwiseCommand& command, const Capabilities& caps) {
  uint64_t elements = 1, parameters = 0;
  for (const uint32_t dim : command.dims) elements *= dim;
  for (const contract::Operand& operand : command.operands) parameters += table_rows_of(operand.bytes, caps);
  std::vector<Part> program;
  for (const UopGroup& group : uop_groups(command, caps)) add_parts(group, command, program);
  return schedule(parameters, std::move(program), ceil_div(elements, caps.vpu_lanes));
}

// Positions of a window are asked for, too, where they lie in padding: the request then has no lane.
std::unique_ptr<PortSchedule> vpu_ports(const contract::VpuPoolCommand& command, const Capabilities& caps) {
  const uint64_t elements = uint64_t{command.out_h} * command.out_w * command.channels;
  const uint64_t window = uint64_t{command.kernel_h} * command.kernel_w;
  std::vector<Part> parts = {{window, kVpuRead, 1}};
  uint64_t parameters = 0;
  if (command.mode == PoolMode::kAvg) {
    parameters = table_rows_of(contract::ParameterHeader::kBytes, caps);
    parts.push_back({1, kNoPort, std::max(window, kReciprocalPasses) - window + kAveragePasses});
  }
  parts.push_back({1, kVpuWrite, 1});
  return schedule(parameters, std::move(parts), ceil_div(elements, caps.vpu_lanes));
}

std::unique_ptr<PortSchedule> vpu_ports(const contract::VpuReduceCommand& command, const Capabilities& caps) {
  const uint64_t passes = reduce_passes(command.op);
  const uint64_t results = command.axis == 0 ? 0 : uint64_t{command.outer} * command.inner;
  const Part store{1, kVpuWrite, 1};
  if (command.inner > 1) {
    return schedule(0, {{command.axis, kVpuRead, passes}, store}, ceil_div(results, caps.vpu_lanes));
  }
  const uint64_t vectors = ceil_div(command.axis, caps.vpu_lanes);
  if (reduces_at_once(command, caps)) {
    // Vectors of as many rows as there are lanes, then their results; the last ones may be fewer.
    const uint64_t rest = results % caps.vpu_lanes;
    std::vector<Part> tail;
    if (rest != 0) tail = {{rest * vectors, kVpuRead, 1}, store};
    return schedule(0, {{caps.vpu_lanes * vectors, kVpuRead, 1}, store}, results / caps.vpu_lanes, std::move(tail));
  }
  // Vectors of the axis, then a tree over its lanes, for every result.
  const uint64_t levels = tree_levels(std::min<uint64_t>(command.axis, caps.vpu_lanes));
  return schedule(0, {{vectors, kVpuRead, passes}, {levels, kNoPort, passes}, store}, results);
}

}  // namespace npu::timing
