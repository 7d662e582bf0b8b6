// SPDX-License-Identifier: Apache-2.0
// Inputs and outputs of a run: .npy files, one invocation or a sequence of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driver/graph/npy.h"
#include "driver/graph/value.h"
#include "sim/tool/file_places.h"
#include "sim/tool/staged_files.h"
#include "sim/workload/network.h"

namespace npu::workload {

// Which invocations to run.
struct InvocationRange {
  int64_t skip = 0;              // of a sequence, at its front
  std::optional<int64_t> count;  // the first of what is left, or so many with the same inputs; nullopt: all, or one
};

// How many invocations of a sequence of this length to run. Throws Error(bad_option) where it has fewer than `range`
// wants.
[[nodiscard]] int64_t invocations_in(int64_t length, const InvocationRange& range);

// The shapes of the inputs that have a file, as `arguments` and `sequence` name them for InputData: what a network
// whose file leaves sizes open gets. Throws Error: kBadInput for names that are not there; kBadNpy; kCannotRead.
[[nodiscard]] graph::GivenShapes shapes_of(const std::vector<GraphPort>& ports,
                                           const std::vector<std::string>& arguments, bool sequence);

class InputData {
 public:
  // `arguments` are NAME=FILE.npy, split behind an input's name, or FILE.npy for a network with one input. With
  // `sequence` the first axis of every file counts invocations. Reads all files and checks types, shapes and lengths.
  // Throws Error: kBadInput for missing, surplus or doubled names and for wrong types or shapes; kBadNpy; kCannotRead.
  // kBadOption when a sequence has fewer invocations than `range` wants. With a `seed`, inputs without a file get
  // random elements (usual_range()), the same for the same seed; kBadOption when there is none without, or no count of
  // a sequence.
  InputData(const std::vector<GraphPort>& ports, const std::vector<std::string>& arguments, bool sequence,
            const InvocationRange& range = {}, std::optional<uint64_t> seed = std::nullopt);

  [[nodiscard]] int64_t invocations() const { return invocations_; }
  // Whether results are stacked along an axis of invocations, be it of one.
  [[nodiscard]] bool stacked() const { return sequence_ || range_.count; }
  // One value per port, in the ports' order.
  [[nodiscard]] std::vector<graph::Value> invocation(int64_t index) const;

 private:
  void read_files(const std::vector<std::string>& files);
  [[nodiscard]] graph::Value random_frame(size_t port, int64_t frame) const;

  std::vector<GraphPort> ports_;
  std::vector<std::optional<graph::NpyArray>> arrays_;  // nullopt: random
  bool sequence_;
  InvocationRange range_;
  std::optional<uint64_t> seed_;
  int64_t invocations_ = 1;
};

class OutputData {
 public:
  OutputData(std::vector<GraphPort> ports, bool stacked) : ports_(std::move(ports)), stacked_(stacked) {}
  void add(const std::vector<graph::Value>& values);
  // Writes <name>.npy for each output into a folder, which is made when it is not there; they appear with the other
  // files. With `stacked` they are stacked along a new first axis. Elements have the type of the tensor: unsigned
  // results keep their bits in signed integers. Throws Error(kCannotWrite).
  void write(tool::StagedFiles& files, const std::filesystem::path& folder) const;

 private:
  std::vector<GraphPort> ports_;
  bool stacked_;
  std::vector<std::vector<graph::Value>> values_;  // [port][invocation]
};

// A file name for an output: every byte but letters, digits, '.', '_' and '-', and a leading '.', becomes %XX; names
// that get longer than 200 bytes keep 200 of them, then %~ and the first 16 digits of the SHA-256 of the whole name; an
// empty name is %.
[[nodiscard]] std::string file_name_for(std::string_view output);

// The files that OutputData::write() makes of these outputs; an empty folder is none. Throws Error(kBadOption) for one
// that is another file of the command.
void add_outputs(tool::FilePlaces& places, const std::vector<GraphPort>& ports, const std::filesystem::path& folder);

}  // namespace npu::workload
