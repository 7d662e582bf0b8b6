// SPDX-License-Identifier: Apache-2.0
// What the compiler hands to the runtime: a relocatable command stream with everything a device needs to run it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "driver/compiler/size_table.h"
#include "driver/graph/graph.h"
#include "hw/contract/gen/fields.h"
#include "hw/contract/queues.h"

namespace npu::compiler {

// A graph input or output: a C-order tensor of machine elements (graph/value.h) in the input or output region.
struct Port {
  std::string name;
  graph::DType type;
  graph::Shape shape;
  bool accepts_unsigned = false;  // feeds or leaves an unsigned RESCALE: uint8/uint16 data is taken as is
  uint32_t offset = 0, bytes = 0;
  // Of a program for sizes within bounds: the number of the value that each dimension is (size_table.h), -1 where it is
  // fixed. Then `shape` and `bytes` are those of the largest sizes. Empty: all are fixed.
  std::vector<int32_t> sizes{};
};

struct Variable {
  std::string identity;     // graph::variable_identity
  std::string tensor_name;  // for people
  graph::DType type;
  graph::Shape shape;
  // As Port::sizes has them. Then `shape`, `bytes` and `hash` are those of the largest that any program that was
  // compiled with this one needs.
  std::vector<int32_t> sizes{};
  uint32_t bytes = 0;            // machine elements
  uint32_t hash = 0;             // of type and shape (variable_hash)
  std::vector<uint8_t> initial;  // machine elements; empty = not initialised
  bool in_dram = false;          // compiled to live in DRAM, where only DMA reaches it; else in persistent SRAM
  bool written = false;          // a command writes it, or another program of the context
  bool read_first = false;       // read before the operator that declares it, always: an earlier job must declare it
  bool declared_late = false;    // the stream declares it behind branches: a job may end without having done so
  std::string writer;            // name of the layer that writes it last; empty: none
  // Of one invocation: bytes of it that the commands move, each time that one does.
  uint64_t read_bytes = 0, written_bytes = 0;
};

// What `declare` and the variable table compare: FNV-1a over type and rank, and an affine function of the dimensions,
// so that a rule of sizes (size_table.h) can make it.
[[nodiscard]] uint32_t variable_hash(graph::DType type, const graph::Shape& shape);

// Who runs control flow.
inline constexpr std::string_view kSequencer = "sequencer";

// What runs a layer or an operator, in words: "mxu", "vpu", "dma"; "view" where nothing moves.
[[nodiscard]] constexpr std::string_view runs_on(std::optional<contract::Engine> engine) {
  return engine ? name(*engine) : "view";
}

// A number that follows from sizes: factor * value * second + addend, of the values with these numbers (size_table.h).
struct SizedNumber {
  int32_t value = -1;   // -1: the number is the same for all sizes
  int32_t second = -1;  // -1: 1
  int64_t factor = 0, addend = 0;
};

// A group of operators that runs as one: a row of the report.
struct Layer {
  std::string name;       // of the tensor that it makes, as in the file; `position` where that has none
  std::string operators;  // "CONV2D+RESCALE+CLAMP"
  std::optional<contract::Engine> engine;  // nullopt: it moves nothing
  std::string location;                    // of the first operator, as in the file
  std::string output;                      // name of the tensor that it produces
  int64_t macs = 0;                        // padding counted
  int64_t tiles = 0;
  std::string
      position{};      // "conv2d_3": name in lower case of the operator that `kind` starts with, position in the file
  std::string kind{};  // `operators` without those that only scale, limit or convert, if others are left: "ADD"
  // Of that operator: its first operand and the layer's result; kernel, stride and dilation (y, x; of CONV3D depth, y,
  // x) where it has them.
  graph::Shape input_shape{}, output_shape{};
  std::vector<int32_t> kernel{}, stride{}, dilation{};
  uint64_t estimated_cycles = 0;  // by which it makes the estimate for the job longer
  bool control = false;  // labels and branches of a COND_IF or WHILE_LOOP, or a late declaration: the sequencer runs it
  // Of a program for sizes within bounds, whose numbers above are those of the largest: what they are for others.
  SizedNumber sized_macs{};
  std::vector<SizedNumber> input_sizes{}, output_sizes{};
};

[[nodiscard]] constexpr std::string_view runs_on(const Layer& layer) {
  return layer.control ? kSequencer : runs_on(layer.engine);
}

// A value that only the loader knows, and the field of a command that it goes into.
struct Patch {
  enum class Source : uint8_t {
    kVariable,  // the index in the device's table of variables[index]; in `commands` the field holds `index`
  };
  uint32_t word = 0;  // of `commands`
  contract::CommandField field{};
  Source source = Source::kVariable;
  uint32_t index = 0;
};

// What to do when the job is stopped at a yield command (the contract's structure `segment`): streams that save what is
// live in the scratchpad to region `save` and bring it back. Both lie behind the main stream in Program::commands.
struct Segment {
  uint32_t yield_word = 0;                 // in the main stream
  uint32_t live_bytes = 0;                 // 0: both streams are empty
  uint32_t save_word = 0, save_words = 0;  // multiples of 16; complete streams, begin to end
  uint32_t restore_word = 0, restore_words = 0;
  // Estimate: what a job takes at most to stop here, from when it has passed the yield before, or from its start.
  uint32_t cycles = 0;
  // Estimates: what the two streams take.
  uint32_t save_cycles = 0, restore_cycles = 0;
};

struct Program {
  uint32_t caps_hash = 0;          // of the device it was compiled for
  std::vector<uint32_t> commands;  // the main stream, then the save and restore streams of the segments
  uint32_t main_words = 0;         // length of the main stream
  uint32_t command_count = 0;      // of the main stream
  uint32_t event_capacity = 0;     // commands that there is a record for; what completes beyond is only counted
  std::vector<Segment> segments;   // by field `segment` of the yield commands
  uint32_t save_bytes = 0;         // of region `save`: what the largest segment needs
  uint32_t tail_cycles = 0;        // estimate, from the last yield, or the start, to the end
  // Constants that stay in the scratchpad from job to job: bytes of region `resident`, the stream that loads them, as
  // those of segments, and an estimate of what that takes. 0: each job loads its constants when it needs them.
  uint32_t resident_bytes = 0, load_word = 0, load_words = 0, load_cycles = 0;
  std::vector<uint8_t> constants;  // region `constants`
  uint32_t workspace_bytes = 0, input_bytes = 0, output_bytes = 0;
  std::vector<Port> inputs, outputs;
  std::vector<Variable> variables;
  std::vector<Patch> patches;  // of the main stream
  std::vector<Layer> layers;   // index = `layer` of the commands
  SizeTable sizes;             // empty: all sizes are fixed
  uint32_t spm_peak_bytes = 0;
  uint64_t estimated_cycles = 0;  // of the main stream, by formulas and without waiting for memory: no measurement
};

}  // namespace npu::compiler
