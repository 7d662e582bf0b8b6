// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/graph/raw_file.h"

namespace npu::graph {

std::shared_ptr<const std::vector<uint8_t>> RawFile::bytes() const {
  flatbuffers::FlatBufferBuilder b;
  const auto tensor = [&b](const char* tensor_name) {
    const auto label = b.CreateString(tensor_name);
    const auto sizes = b.CreateVector(std::vector<int32_t>{3});
    return tosa::CreateTosaTensor(b, label, sizes, tosa::DType::INT32);
  };
  std::vector<flatbuffers::Offset<tosa::TosaTensor>> tensors = {tensor("x"), tensor("z")};
  const flatbuffers::Offset<flatbuffers::String> label = name ? b.CreateString(*name) : 0;
  const auto sizes = b.CreateVector(shape);
  b.ForceVectorAlignment(data.size(), 1, 8);
  const auto payload = b.CreateVector(data);
  tensors.push_back(tosa::CreateTosaTensor(b, label, sizes, static_cast<tosa::DType>(type), payload, variable, unranked,
                                           0, offset, size, static_cast<tosa::DType>(scale_type)));
  std::vector<flatbuffers::Offset<tosa::TosaShape>> shapes;
  if (!shape_name.empty()) {
    const auto shape_label = b.CreateString(shape_name);
    b.ForceVectorAlignment(shape_data.size(), 1, 8);
    const auto values = b.CreateVector(shape_data);
    shapes.push_back(tosa::CreateTosaShape(b, shape_label, shape_rank, values));
  }
  flatbuffers::Offset<void> fields = 0;
  if (attributes && table == tosa::Attribute::ClampAttribute) {
    const auto bound = b.CreateVector(limit);
    fields = tosa::CreateClampAttribute(b, bound, bound).Union();
  } else if (attributes && table == tosa::Attribute::MaximumAttribute) {
    fields = tosa::CreateMaximumAttribute(b, static_cast<tosa::NanPropagationMode>(nan_mode)).Union();
  } else if (attributes) {
    fields = {b.EndTable(b.StartTable())};
  }
  const auto ins = b.CreateVectorOfStrings(inputs);
  const auto outs = b.CreateVectorOfStrings(outputs);
  const auto node = tosa::CreateTosaOperator(b, static_cast<tosa::Op>(op), table, fields, ins, outs);
  const auto nodes = b.CreateVector(&node, 1);
  const auto tensor_list = b.CreateVector(tensors);
  const auto shape_list = b.CreateVector(shapes);
  const auto graph_ins = b.CreateVectorOfStrings(graph_inputs);
  const auto graph_outs = b.CreateVectorOfStrings({"z"});
  const auto main = b.CreateString("main");
  const auto block = tosa::CreateTosaBasicBlock(b, main, nodes, tensor_list, graph_ins, graph_outs, shape_list);
  const auto blocks = b.CreateVector(&block, 1);
  const auto region = tosa::CreateTosaRegion(b, main, blocks);
  const auto region_list = b.CreateVector(&region, 1);
  const auto version = tosa::CreateVersion(b, major, minor, patch, draft);
  const auto compatibility = tosa::CreateSerializationCompatibility(b, 0, features);
  tosa::FinishTosaGraphBuffer(b, tosa::CreateTosaGraph(b, version, regions ? region_list : 0, 0, compatibility));
  return std::make_shared<const std::vector<uint8_t>>(b.GetBufferPointer(), b.GetBufferPointer() + b.GetSize());
}

}  // namespace npu::graph
