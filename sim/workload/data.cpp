// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/data.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>

#include "driver/graph/text.h"
#include "hw/contract/error.h"
#include "sim/generator/random_network.h"
#include "sim/report/sha256.h"
#include "sim/workload/input_argument.h"

namespace npu::workload {
namespace {

namespace fs = std::filesystem;
using contract::ErrorCode;
using graph::in_quotes;

// Whether a shape is that of a frame with one more axis before it.
bool is_sequence_of(const graph::Shape& shape, const graph::Shape& frame) {
  return shape.size() == frame.size() + 1 && std::equal(frame.begin(), frame.end(), shape.begin() + 1);
}

void refuse_folder(const GraphPort& port, const std::string& file) {
  std::error_code ignored;
  if (!fs::is_directory(file, ignored)) return;
  throw Error(ErrorCode::kBadInput, label(port) + " is the folder " + in_quotes(file) +
                                        "; 'npu run --sequence' takes one, with a file for each invocation");
}

}  // namespace

int64_t invocations_in(int64_t length, const InvocationRange& range) {
  if (range.skip >= length) {
    throw Error(ErrorCode::kBadOption,
                fmt::format("--skip {} leaves none of the {} invocations of the sequence", range.skip, length));
  }
  const int64_t left = length - range.skip;
  if (range.count.value_or(0) > left) {
    throw Error(ErrorCode::kBadOption, fmt::format("--invocations is {}, but the sequence has {}{}", *range.count, left,
                                                   range.skip > 0 ? " behind those that --skip leaves out" : ""));
  }
  return range.count.value_or(left);
}

graph::GivenShapes shapes_of(const std::vector<GraphPort>& ports, const std::vector<std::string>& arguments,
                             bool sequence) {
  graph::GivenShapes shapes;
  for (const std::string& argument : arguments) {
    const NamedFile named = split(ports, argument);
    const GraphPort& port = ports[named.port];
    refuse_folder(port, named.file);
    graph::Shape shape = graph::read_npy(named.file).shape;
    if (sequence && shape.size() == port.shape.size() + 1) shape.erase(shape.begin());
    shapes.insert_or_assign(port.name, std::move(shape));
  }
  return shapes;
}

InputData::InputData(const std::vector<GraphPort>& ports, const std::vector<std::string>& arguments, bool sequence,
                     const InvocationRange& range, std::optional<uint64_t> seed)
    : ports_(ports), arrays_(ports.size()), sequence_(sequence), range_(range), seed_(seed) {
  std::vector<bool> given(ports.size());
  std::vector<std::string> files(ports.size());
  for (const std::string& argument : arguments) {
    const NamedFile named = split(ports, argument);
    if (given[named.port]) {
      throw Error(ErrorCode::kBadInput,
                  label(ports[named.port]) + " is given twice; 'npu run --sequence' takes a file for each invocation");
    }
    refuse_folder(ports[named.port], named.file);
    given[named.port] = true;
    files[named.port] = named.file;
    arrays_[named.port].emplace();
  }
  for (size_t i = 0; i < ports.size() && !seed; ++i) {
    if (!given[i]) throw_missing(ports[i]);
  }
  if (sequence && ports.empty()) {
    throw Error(ErrorCode::kBadInput, "--sequence needs inputs to count invocations by, and the network has none");
  }
  if (seed && std::all_of(given.begin(), given.end(), [](bool one) { return one; })) {
    throw Error(ErrorCode::kBadOption, ports.empty() ? "--random-inputs makes data for inputs, and the network has none"
                                                     : "--random-inputs makes data for inputs without a file, and each "
                                                       "input has one; leave out --random-inputs or an --input");
  }
  if (sequence && arguments.empty() && !range.count) {
    throw Error(ErrorCode::kBadOption,
                "--sequence without --input has no file that says how many invocations there are; add --invocations N");
  }
  read_files(files);
  if (!sequence) {
    invocations_ = range.count.value_or(1);
  } else {
    invocations_ = arguments.empty() ? *range.count : invocations_in(invocations_, range);
  }
  // All invocations of an array have one type and shape, so the first one stands for all.
  static_cast<void>(invocation(0));
}

void InputData::read_files(const std::vector<std::string>& files) {
  std::optional<size_t> first;  // that counts invocations
  for (size_t i = 0; i < ports_.size(); ++i) {
    if (!arrays_[i]) continue;
    *arrays_[i] = graph::read_npy(files[i]);
    if (!sequence_) continue;
    const graph::Shape& shape = arrays_[i]->shape;
    if (shape.empty() || shape[0] < 1) {
      throw Error(ErrorCode::kBadInput, fmt::format("{} has shape {}, whose first axis counts no invocations",
                                                    label(ports_[i]), graph::to_string(shape)));
    }
    if (first && shape[0] != invocations_) {
      throw Error(ErrorCode::kBadInput, fmt::format("{} has {} invocations, but {} has {}", label(ports_[i]), shape[0],
                                                    label(ports_[*first]), invocations_));
    }
    if (!first) first = i;
    invocations_ = shape[0];
  }
}

graph::Value InputData::random_frame(size_t port, int64_t frame) const {
  // Each input and frame has numbers of its own, which do not depend on how many are run.
  std::seed_seq sequence{*seed_ & UINT32_MAX, *seed_ >> 32, uint64_t{port}, static_cast<uint64_t>(frame)};
  std::array<uint32_t, 2> mixed{};
  sequence.generate(mixed.begin(), mixed.end());
  cosim::Random random(uint64_t{mixed[0]} << 32 | mixed[1]);
  const GraphPort& of = ports_[port];
  graph::Value value = generator::random_value(of.type, of.shape, 1, generator::usual_range(of.type), random);
  value.shape.erase(value.shape.begin());
  return value;
}

std::vector<graph::Value> InputData::invocation(int64_t index) const {
  std::vector<graph::Value> values;
  for (size_t i = 0; i < ports_.size(); ++i) {
    if (!arrays_[i]) {
      values.push_back(random_frame(i, sequence_ ? range_.skip + index : 0));
      continue;
    }
    const graph::NpyArray& file = *arrays_[i];
    const GraphPort& port = ports_[i];
    const auto convert = [&](const graph::NpyArray& array) {
      if (!sequence_ && is_sequence_of(array.shape, port.shape)) {
        throw Error(ErrorCode::kBadInput,
                    fmt::format("{} has shape {}, but the tensor has {}; add --sequence to run it frame by frame",
                                label(port), graph::to_string(array.shape), graph::to_string(port.shape)));
      }
      if (sequence_ && array.shape != port.shape) {
        throw Error(ErrorCode::kBadInput,
                    fmt::format("{} counts invocations by its first axis, and each has shape {}, but the tensor has {}",
                                label(port), graph::to_string(array.shape), graph::to_string(port.shape)));
      }
      return graph::to_value(array, port.type, &port.shape, port.is_unsigned, label(port));
    };
    values.push_back(sequence_ ? convert(graph::slice_axis0(file, range_.skip + index)) : convert(file));
  }
  return values;
}

void OutputData::add(const std::vector<graph::Value>& values) {
  NPU_CHECK(values.size() == ports_.size());
  values_.resize(ports_.size());
  for (size_t i = 0; i < values.size(); ++i) values_[i].push_back(values[i]);
}

void OutputData::write(tool::StagedFiles& files, const fs::path& folder) const {
  files.make_folder(folder);
  std::set<std::string> written;  // an output that is listed twice is the same tensor
  for (size_t i = 0; i < ports_.size(); ++i) {
    if (!written.insert(ports_[i].name).second) continue;
    const graph::Value value = stacked_ ? graph::stack(values_[i]) : values_[i].front();
    files.write(folder / (file_name_for(ports_[i].name) + ".npy"), graph::serialize_npy(graph::to_npy(value)));
  }
}

void add_outputs(tool::FilePlaces& places, const std::vector<GraphPort>& ports, const fs::path& folder) {
  if (folder.empty()) return;
  std::set<std::string> added;
  for (const GraphPort& port : ports) {
    if (!added.insert(port.name).second) continue;
    places.write("output " + in_quotes(port.name), folder / (file_name_for(port.name) + ".npy"));
  }
}

std::string file_name_for(std::string_view output) {
  constexpr size_t kLongest = 200;
  std::string name;
  for (size_t i = 0; i < output.size(); ++i) {
    const auto byte = static_cast<unsigned char>(output[i]);
    const bool letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9');
    const bool plain = letter || byte == '_' || byte == '-' || (byte == '.' && i > 0);
    name += plain ? std::string(1, static_cast<char>(byte)) : fmt::format("%{:02X}", byte);
  }
  if (name.empty()) return "%";
  if (name.size() <= kLongest) return name;
  report::Sha256 hash;
  hash.add(output.data(), output.size());
  return name.substr(0, kLongest) + "%~" + hash.hex().substr(0, 16);
}

}  // namespace npu::workload
