// SPDX-License-Identifier: Apache-2.0
#include "driver/graph/writer.h"

#include "driver/graph/file.h"
#include "driver/graph/file_number.h"
#include "driver/graph/writer_attributes.h"
#include "hw/contract/error.h"

namespace npu::graph {
namespace {

using contract::ErrorCode;
using flatbuffers::Offset;
using flatbuffers::String;
using flatbuffers::Vector;

using Names = Offset<Vector<Offset<String>>>;

class Writer {
 public:
  explicit Writer(const WriteOptions& options) : options_(options) {}

  std::vector<uint8_t> write(const Graph& graph) {
    std::vector<Offset<tosa::TosaRegion>> regions;
    for (const Region& region : graph.regions) {
      regions.push_back(write_region(region));
    }
    const auto region_list = file_.CreateVector(regions);
    const auto version =
        tosa::CreateVersion(file_, graph.version.major, graph.version.minor, graph.version.patch, graph.version.draft);
    Offset<tosa::SoftwareVersion> software = 0;
    if (graph.software_version) {
      software = write_software_version(*graph.software_version);
    }
    Offset<tosa::SerializationCompatibility> compatibility = 0;
    if (graph.min_reader_version) {
      compatibility = tosa::CreateSerializationCompatibility(file_, write_software_version(*graph.min_reader_version));
    }
    tosa::FinishTosaGraphBuffer(file_, tosa::CreateTosaGraph(file_, version, region_list, software, compatibility));
    return {file_.GetBufferPointer(), file_.GetBufferPointer() + file_.GetSize()};
  }

 private:
  Offset<tosa::SoftwareVersion> write_software_version(const SoftwareVersion& version) {
    const auto modifier = file_.CreateString(version.modifier);
    return tosa::CreateSoftwareVersion(file_, version.major, version.minor, version.micro, modifier);
  }

  Offset<tosa::TosaRegion> write_region(const Region& region) {
    std::vector<Offset<tosa::TosaBasicBlock>> blocks;
    for (const Block& block : region.blocks) {
      blocks.push_back(write_block(block));
    }
    const auto list = file_.CreateVector(blocks);
    const auto name = file_.CreateString(region.name);
    return tosa::CreateTosaRegion(file_, name, list);
  }

  Offset<tosa::TosaBasicBlock> write_block(const Block& block) {
    std::vector<Offset<tosa::TosaOperator>> operators;
    for (const Operator& op : block.operators) {
      operators.push_back(write_operator(block, op));
    }
    std::vector<Offset<tosa::TosaTensor>> tensors;
    std::vector<Offset<tosa::TosaShape>> shapes;
    for (const Tensor& tensor : block.tensors) {
      if (tensor.type == DType::kShape) {
        shapes.push_back(write_shape(tensor));
      } else {
        tensors.push_back(write_tensor(tensor));
      }
    }
    const auto operator_list = file_.CreateVector(operators);
    const auto tensor_list = file_.CreateVector(tensors);
    const auto inputs = names(block, block.inputs);
    const auto outputs = names(block, block.outputs);
    const auto shape_list = file_.CreateVector(shapes);
    const auto name = file_.CreateString(block.name);
    return tosa::CreateTosaBasicBlock(file_, name, operator_list, tensor_list, inputs, outputs, shape_list);
  }

  Offset<tosa::TosaTensor> write_tensor(const Tensor& tensor) {
    const std::vector<int32_t> sizes(tensor.shape.begin(), tensor.shape.end());
    const auto shape = file_.CreateVector(sizes);
    const auto bytes = data(tensor);
    const auto no_scale = aligned({});
    const auto name = file_.CreateString(tensor.name);
    const auto variable_name = file_.CreateString(tensor.variable_name);
    return tosa::CreateTosaTensor(file_, name, shape, static_cast<tosa::DType>(tensor.type), bytes, tensor.variable,
                                  false, variable_name, 0, 0, tosa::DType::UNKNOWN, no_scale);
  }

  Offset<tosa::TosaShape> write_shape(const Tensor& tensor) {
    NPU_CHECK(tensor.shape.size() == 1);
    const auto bytes = data(tensor);
    const auto name = file_.CreateString(tensor.name);
    return tosa::CreateTosaShape(file_, name, static_cast<uint32_t>(tensor.shape[0]), bytes);
  }

  // Data fills up whole groups of 8 bytes.
  Offset<Vector<uint8_t>> data(const Tensor& tensor) {
    if (!tensor.has_data) {
      return aligned({});
    }
    std::vector<uint8_t> padded;
    if (tensor.data.size() % 8 != 0) {
      padded.assign(tensor.data.begin(), tensor.data.end());
      padded.resize((padded.size() + 7) / 8 * 8);
      return aligned(padded);
    }
    return aligned(tensor.data);
  }

  Offset<Vector<uint8_t>> aligned(std::span<const uint8_t> bytes) {
    file_.ForceVectorAlignment(bytes.size(), sizeof(uint8_t), 8);
    return file_.CreateVector(bytes.data(), bytes.size());
  }

  Offset<tosa::TosaOperator> write_operator(const Block& block, const Operator& op) {
    const bool on_variable = op.op == Op::kVariable || op.op == Op::kVariableRead || op.op == Op::kVariableWrite;
    const Op number = on_variable && !options_.variable_opcodes ? Op::kIdentity : op.op;
    const auto attributes = encode_attributes(file_, op);
    const auto inputs = names(block, op.inputs);
    const auto outputs = names(block, op.outputs);
    Offset<tosa::OpLocation> location = 0;
    if (!op.location.empty()) {
      location = tosa::CreateOpLocation(file_, file_.CreateString(op.location));
    }
    return tosa::CreateTosaOperator(file_, file_number(number), attribute_table(op.op), attributes, inputs, outputs,
                                    location);
  }

  Names names(const Block& block, const std::vector<TensorId>& ids) {
    std::vector<Offset<String>> strings;
    for (const TensorId id : ids) {
      strings.push_back(file_.CreateString(block.tensors[id].name));
    }
    return file_.CreateVector(strings);
  }

  const WriteOptions& options_;
  flatbuffers::FlatBufferBuilder file_;
};

// The builder of the flatbuffer library aborts above 2 GiB, so sizes are estimated first, on the safe side.
void require_room(const Graph& graph) {
  constexpr size_t kMost = (size_t{1} << 31) - (size_t{1} << 20);
  constexpr size_t kTable = 256;
  size_t bytes = kTable;
  for (const Region& region : graph.regions) {
    bytes += kTable + region.name.size();
    for (const Block& block : region.blocks) {
      bytes += kTable + block.name.size();
      for (const Tensor& tensor : block.tensors) {
        bytes +=
            kTable + tensor.data.size() + 4 * tensor.shape.size() + tensor.name.size() + tensor.variable_name.size();
      }
      const auto add_names = [&](const std::vector<TensorId>& ids) {
        for (const TensorId id : ids) {
          bytes += 16 + block.tensors[id].name.size();
        }
      };
      add_names(block.inputs);
      add_names(block.outputs);
      for (const Operator& op : block.operators) {
        const Attributes& a = op.attributes;
        bytes += kTable + op.location.size() + a.then_graph.size() + a.else_graph.size() + a.cond_graph.size() +
                 a.body_graph.size() + a.custom_operator.size() + a.custom_domain.size() + a.custom_attributes.size();
        add_names(op.inputs);
        add_names(op.outputs);
      }
    }
  }
  if (bytes > kMost) {
    throw Error(ErrorCode::kBudgetExceeded, "the graph takes more than the 2 GiB that a .tosa file can hold");
  }
}

}  // namespace

std::vector<uint8_t> serialize(const Graph& graph, const WriteOptions& options) {
  require_room(graph);
  return Writer(options).write(graph);
}

void write_tosa(const std::filesystem::path& path, const Graph& graph, const WriteOptions& options) {
  write_file(path, serialize(graph, options));
}

}  // namespace npu::graph
