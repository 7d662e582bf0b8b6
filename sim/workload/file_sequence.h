// SPDX-License-Identifier: Apache-2.0
// Sequences with a file for each invocation: sizes may change from one to the next.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "driver/graph/npy.h"
#include "driver/graph/value.h"
#include "sim/tool/file_places.h"
#include "sim/workload/data.h"
#include "sim/workload/network.h"

namespace npu::workload {

class FileSequence {
 public:
  // Whether an input has several arguments or a folder: then each file is one invocation. Throws Error(bad_input) for
  // names that are not there.
  [[nodiscard]] static bool is_meant(const std::vector<GraphPort>& ports, const std::vector<std::string>& arguments);

  // `arguments` are NAME=FILE.npy in the order of the invocations, or NAME=DIR with files that end with their number
  // ("frame_12.npy"), which is their order; NAME may be left out where there is one input. Lists folders, reads no
  // file. Throws Error: bad_input for inputs without data, a folder with none or with names that give no order, inputs
  // with different numbers of files, and folders with files of different numbers; what invocations_in() throws;
  // cannot_read.
  FileSequence(const std::vector<GraphPort>& ports, const std::vector<std::string>& arguments,
               const InvocationRange& range);

  // Those that run, and the number of the first one in the whole sequence.
  [[nodiscard]] int64_t invocations() const { return invocations_; }
  [[nodiscard]] int64_t first() const { return skip_; }
  // Adds all files to what the command reads, those of invocations that do not run, too: they are the user's.
  void add_to(tool::FilePlaces& places) const;
  // In words: "'frames/3.npy'".
  [[nodiscard]] std::string files_of(int64_t invocation) const;

  struct Frame {
    std::vector<graph::NpyArray> arrays;  // by input
    graph::GivenShapes shapes;
  };
  // Throws Error: bad_npy, cannot_read.
  [[nodiscard]] Frame read(int64_t invocation) const;
  // `ports`: of the network with the sizes of this frame. Throws Error(bad_input) for another type or shape.
  [[nodiscard]] static std::vector<graph::Value> values(const Frame& frame, const std::vector<GraphPort>& ports);

 private:
  [[nodiscard]] const std::filesystem::path& file(size_t port, int64_t invocation) const {
    return files_[port][static_cast<size_t>(skip_ + invocation)];
  }

  std::vector<std::string> names_;                         // of the inputs
  std::vector<std::vector<std::filesystem::path>> files_;  // [port][of the whole sequence]
  int64_t skip_, invocations_ = 0;
};

// Where the outputs of such a sequence go: DIR/<output>/<invocation>.npy, as soon as the invocation has ended, by its
// number in the whole sequence. So those of earlier ones are there when a later one fails, and a folder of them is an
// input of another sequence.
class FileOutputs {
 public:
  // An empty folder: outputs go nowhere. `first`: number of the first invocation.
  FileOutputs(const std::vector<GraphPort>& ports, std::filesystem::path folder, int64_t first);
  // Throws Error(bad_option) for files that are others of the command.
  void add_to(tool::FilePlaces& places, int64_t invocations) const;
  // The next invocation. Throws Error(cannot_write).
  void add(const std::vector<graph::Value>& values);
  // Of an output, in words: "out/y/0.npy to 3.npy".
  [[nodiscard]] std::string files_of(const std::string& output) const;

 private:
  [[nodiscard]] std::filesystem::path file(const std::string& output, int64_t invocation) const;

  std::vector<std::string> names_;  // of the outputs
  std::filesystem::path folder_;
  int64_t first_, next_;
};

}  // namespace npu::workload
