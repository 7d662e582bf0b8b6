// SPDX-License-Identifier: Apache-2.0
#include "driver/graph/reader.h"

#include <array>
#include <unordered_map>

#include "driver/graph/file.h"
#include "driver/graph/file_number.h"
#include "driver/graph/reader_attributes.h"
#include "driver/graph/reader_budget.h"
#include "driver/graph/reader_variables.h"
#include "driver/graph/reader_verify.h"
#include "driver/graph/text.h"
#include "hw/contract/error.h"

namespace npu::graph {
namespace {

using contract::ErrorCode;

constexpr uintmax_t kLargestTosaFile = (uintmax_t{1} << 31) - 2;
// What a name costs beside its characters: a hash table's node and bucket.
constexpr size_t kNameOverhead = 64;
// The serialisation library whose files are read in full: the one that the schema was compared with.
constexpr std::array<int32_t, 3> kReaderVersion = {2026, 8, 0};

std::string_view view(const flatbuffers::String* string) {
  return string == nullptr ? std::string_view{} : std::string_view(string->data(), string->size());
}

std::span<const uint8_t> view(const flatbuffers::Vector<uint8_t>* vector) {
  return vector == nullptr ? std::span<const uint8_t>{} : std::span<const uint8_t>(vector->data(), vector->size());
}

template <typename T>
size_t length(const flatbuffers::Vector<T>* vector) {
  return vector == nullptr ? 0 : vector->size();
}

constexpr size_t round_up_to_8(size_t bytes) { return (bytes + 7) / 8 * 8; }

// Of a number that the schema does not have. A file of TOSA 1.1, of which there are drafts, may mean what came after
// it.
[[noreturn]] void refuse_unknown(ErrorCode code, bool later_version, const std::string& what) {
  if (!later_version) throw Error(code, what);
  throw Error(ErrorCode::kFeatureUnsupported,
              what + "; a later draft of TOSA 1.1 may have it: export the network for TOSA 1.0");
}

void require_supported_type(DType type, bool later_version, const std::string& what) {
  if (type > DType::kMxInt8) {
    refuse_unknown(ErrorCode::kBadType, later_version,
                   what + " has the unknown type number " + std::to_string(static_cast<uint32_t>(type)));
  }
  if (type > DType::kFp8E5M2) {
    throw Error(ErrorCode::kFeatureUnsupported,
                what + " has type " + std::string(name(type)) + ", which TOSA 1.0 does not have");
  }
}

class BlockReader {
 public:
  BlockReader(const tosa::TosaBasicBlock& from, bool is_main, bool later_version, Budget& budget, Block& to)
      : from_(from), is_main_(is_main), later_version_(later_version), budget_(budget), to_(to) {}

  void read() {
    budget_.spend(view(from_.name()).size());
    to_.name = view(from_.name());
    const size_t names = length(from_.tensors()) + length(from_.shapes());
    budget_.spend(names * (sizeof(Tensor) + kNameOverhead));
    to_.tensors.reserve(names);
    ids_.reserve(names);
    if (from_.tensors() != nullptr) {
      for (const auto* tensor : *from_.tensors()) {
        read_tensor(*tensor);
      }
    }
    if (from_.shapes() != nullptr) {
      for (const auto* shape : *from_.shapes()) {
        read_shape(*shape);
      }
    }
    resolve(from_.inputs(), "graph input", to_.inputs);
    if (!is_main_) {
      drop_data_of_inputs();
    }
    resolve(from_.outputs(), "graph output", to_.outputs);
    if (from_.operators() != nullptr) {
      budget_.spend(size_t{from_.operators()->size()} * sizeof(Operator));
      to_.operators.reserve(from_.operators()->size());
      for (const auto* op : *from_.operators()) {
        read_operator(*op);
      }
    }
  }

 private:
  void read_tensor(const tosa::TosaTensor& from) {
    Tensor& tensor = add(from.name(), "tensor");
    const std::string what = "tensor " + in_quotes(tensor.name);
    tensor.type = static_cast<DType>(from.type());
    require_supported_type(tensor.type, later_version_, what);
    refuse_later_features(from, what);
    if (from.shape() != nullptr) {
      budget_.spend(size_t{from.shape()->size()} * sizeof(int64_t));
      tensor.shape.assign(from.shape()->begin(), from.shape()->end());
    }
    budget_.spend(view(from.variable_name()).size());
    tensor.variable_name = view(from.variable_name());
    tensor.variable = from.variable();
    tensor.data = view(from.data());
    tensor.has_data = !tensor.data.empty();
    if (tensor.has_data) {
      trim_padding(tensor, what);
    }
  }

  void read_shape(const tosa::TosaShape& from) {
    Tensor& tensor = add(from.name(), "shape");
    tensor.type = DType::kShape;
    tensor.shape = {from.rank()};
    tensor.data = view(from.data());
    tensor.has_data = from.rank() == 0 || !tensor.data.empty();
    if (tensor.has_data) {
      trim_padding(tensor, "shape " + in_quotes(tensor.name));
    }
  }

  // The input of a region takes its value from control flow. Some writers repeat the data of a constant that is passed
  // there; it is no constant of this block.
  void drop_data_of_inputs() {
    for (const TensorId id : to_.inputs) {
      to_.tensors[id].data = {};
      to_.tensors[id].has_data = false;
    }
  }

  Tensor& add(const flatbuffers::String* file_name, const char* what) {
    const std::string_view name = view(file_name);
    if (name.empty()) {
      throw Error(ErrorCode::kBadStructure,
                  std::string(what) + " " + std::to_string(to_.tensors.size()) + " of " + here() + " has no name");
    }
    if (!ids_.emplace(name, static_cast<TensorId>(to_.tensors.size())).second) {
      throw Error(ErrorCode::kBadStructure, "the name " + in_quotes(name) + " occurs twice in " + here());
    }
    budget_.spend(name.size());
    Tensor& tensor = to_.tensors.emplace_back();
    tensor.name = name;
    return tensor;
  }

  static void refuse_later_features(const tosa::TosaTensor& from, const std::string& what) {
    const auto refuse = [&what](const char* feature) {
      throw Error(ErrorCode::kFeatureUnsupported, what + " " + feature);
    };
    if (static_cast<DType>(from.type()) == DType::kShape) {
      refuse("is a tensor of type SHAPE, which TOSA 1.0 does not have");
    }
    if (from.is_unranked()) {
      refuse("has no rank; export the network with static shapes");
    }
    if (from.offset() != 0 || from.size() != 0) {
      refuse("keeps its data outside of the file, which is not read here");
    }
    if (from.scale_type() != tosa::DType::UNKNOWN || length(from.scale_data()) != 0 ||
        from.block_shape() != tosa::BlockShape::UNKNOWN || from.scale_offset() != 0 || from.scale_size() != 0) {
      refuse("is block-scaled, which TOSA 1.0 does not have");
    }
  }

  // Writers fill data up to a multiple of 8 bytes.
  static void trim_padding(Tensor& tensor, const std::string& what) {
    const auto elements = element_count(tensor.shape);
    if (!elements) {
      throw Error(ErrorCode::kBadShape, what + " has data but the shape " + to_string(tensor.shape));
    }
    const auto needed = static_cast<size_t>(byte_size(tensor.type, *elements));
    // Some write 8 bytes for the shape of no sizes too.
    const bool only_padding = needed == 0 && tensor.data.size() == 8;
    if (tensor.data.size() != needed && tensor.data.size() != round_up_to_8(needed) && !only_padding) {
      throw Error(ErrorCode::kBadData, what + " (" + describe_type(tensor) + ") needs " + std::to_string(needed) +
                                           " bytes of data but has " + std::to_string(tensor.data.size()));
    }
    tensor.data = tensor.data.first(needed);
  }

  void read_operator(const tosa::TosaOperator& from) {
    Operator& op = to_.operators.emplace_back();
    const size_t position = to_.operators.size() - 1;
    if (from.location() != nullptr) {
      budget_.spend(view(from.location()->text()).size());
      op.location = view(from.location()->text());
    }
    read_opcode(from, op, position);
    const std::string what = describe(op, position);
    try {
      decode_attributes(from, attribute_table(op.op), budget_, op.attributes);
    } catch (const UnknownValue& error) {
      refuse_unknown(ErrorCode::kBadArgument, later_version_, what + ": " + error.what());
    } catch (const Error& error) {
      throw Error(error.code(), what + ": " + error.what());
    }
    resolve(from.inputs(), what + ": input", op.inputs);
    resolve(from.outputs(), what + ": output", op.outputs);
    if (op.op == Op::kClamp && !op.inputs.empty()) {
      trim_limit(op.attributes.min_val, to_.tensors[op.inputs[0]].type, what + ": min_val");
      trim_limit(op.attributes.max_val, to_.tensors[op.inputs[0]].type, what + ": max_val");
    }
  }

  void read_opcode(const tosa::TosaOperator& from, Operator& op, size_t position) const {
    const auto number = static_cast<uint32_t>(from.op());
    const std::string what = "operator " + std::to_string(position) + " of " + here();
    if (number == 0 || from.op() > tosa::Op::MAX) {
      refuse_unknown(ErrorCode::kUnknownOperator, later_version_ && number != 0,
                     what + " has the unknown number " + std::to_string(number));
    }
    op.op = op_of_file(from.op());
    if (op.op == Op::kUnknown) {
      throw Error(ErrorCode::kFeatureUnsupported,
                  what + " is " + tosa::EnumNameOp(from.op()) + ", which TOSA 1.0 does not have");
    }
    const tosa::Attribute table = from.attribute_type();
    // Exporters write operators on variables as IDENTITY; only the attribute table tells.
    if (op.op == Op::kIdentity &&
        (table == tosa::Attribute::VariableAttribute || table == tosa::Attribute::VariableReadAttribute ||
         table == tosa::Attribute::VariableWriteAttribute)) {
      op.op = static_cast<Op>(table);
    }
    if (table != attribute_table(op.op) && table != tosa::Attribute::NONE) {
      const bool unknown = table > tosa::Attribute::MAX;
      refuse_unknown(ErrorCode::kBadArgument, later_version_ && unknown,
                     describe(op, position) + ": its attributes are those of another operator (" +
                         (unknown ? "unknown" : tosa::EnumNameAttribute(table)) + ")");
    }
  }

  void resolve(const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>* names, const std::string& what,
               std::vector<TensorId>& ids) {
    if (names == nullptr) {
      return;
    }
    budget_.spend(size_t{names->size()} * sizeof(TensorId));
    ids.reserve(names->size());
    for (const auto* file_name : *names) {
      const auto found = ids_.find(view(file_name));
      if (found == ids_.end()) {
        throw Error(ErrorCode::kBadStructure,
                    what + " " + in_quotes(view(file_name)) + " is no tensor or shape of " + here());
      }
      ids.push_back(found->second);
    }
  }

  static void trim_limit(std::vector<uint8_t>& limit, DType type, const std::string& what) {
    const auto needed = static_cast<size_t>(byte_size(type, 1));
    if (limit.size() != needed && limit.size() != round_up_to_8(needed)) {
      throw Error(ErrorCode::kBadArgument, what + " has " + std::to_string(limit.size()) + " bytes, but a value of " +
                                               std::string(name(type)) + " has " + std::to_string(needed));
    }
    limit.resize(needed);
  }

  [[nodiscard]] std::string here() const { return "block " + in_quotes(to_.name); }

  const tosa::TosaBasicBlock& from_;
  bool is_main_, later_version_;
  Budget& budget_;
  Block& to_;
  std::unordered_map<std::string_view, TensorId> ids_;  // views of the file
};

std::string to_text(const tosa::Version& version) {
  return std::to_string(version._major()) + "." + std::to_string(version._minor()) + "." +
         std::to_string(version._patch()) + (version._draft() ? " draft" : "");
}

Version read_version(const tosa::Version& from) {
  if (from._major() != 1 || (from._minor() != 0 && from._minor() != 1) || from._patch() < 0) {
    throw Error(ErrorCode::kVersionUnsupported,
                "the file has TOSA version " + to_text(from) +
                    ", but versions 1.0 and 1.1 are read here; export the network for one of them");
  }
  return {from._major(), from._minor(), from._patch(), from._draft()};
}

SoftwareVersion read_software_version(const tosa::SoftwareVersion& from, Budget& budget) {
  budget.spend(view(from._modifier()).size());
  return {from._major(), from._minor(), from._micro(), std::string(view(from._modifier()))};
}

void read_compatibility(const tosa::SerializationCompatibility& from, Budget& budget, Graph& graph) {
  // Bit 0 stands for "none".
  const uint64_t features = from.features() & ~uint64_t{1};
  if (features != 0) {
    const bool only_mxfp = features == uint64_t{1} << static_cast<uint32_t>(tosa::CompatibilityFeature::MXFP);
    throw Error(ErrorCode::kFeatureUnsupported,
                "the file needs a feature of later versions (" +
                    (only_mxfp ? std::string("MXFP") : "bit map " + std::to_string(features)) + ")");
  }
  if (from.min_reader_version() != nullptr) {
    graph.min_reader_version = read_software_version(*from.min_reader_version(), budget);
    const SoftwareVersion& asked = *graph.min_reader_version;
    if (std::array{asked.major, asked.minor, asked.micro} > kReaderVersion) {
      const auto text = [](int32_t major, int32_t minor, int32_t micro) {
        return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(micro);
      };
      throw Error(ErrorCode::kVersionUnsupported,
                  "the file asks for a reader of version " + text(asked.major, asked.minor, asked.micro) +
                      ", but this one has the format of " +
                      text(kReaderVersion[0], kReaderVersion[1], kReaderVersion[2]) +
                      "; write the file with tosa-tools of that version or an earlier one");
    }
  }
}

// What the file says of itself. Throws Error: version_unsupported, feature_unsupported.
void read_versions(const tosa::TosaGraph& file, Budget& budget, Graph& graph) {
  graph.version = read_version(*file.version());
  if (file.software_version() != nullptr) {
    graph.software_version = read_software_version(*file.software_version(), budget);
  }
  if (file.compatibility() != nullptr) {
    read_compatibility(*file.compatibility(), budget, graph);
  }
}

Graph read_graph(std::span<const uint8_t> bytes, Budget& budget) {
  Graph graph;
  const tosa::TosaGraph& file =
      verify_file(bytes, budget, [&](const tosa::TosaGraph& root) { read_versions(root, budget, graph); });
  if (file.regions() == nullptr) {
    return graph;
  }
  for (const auto* from : *file.regions()) {
    budget.spend(sizeof(Region) + view(from->name()).size());
    Region& region = graph.regions.emplace_back();
    region.name = view(from->name());
    if (from->blocks() == nullptr) {
      continue;
    }
    for (const auto* block : *from->blocks()) {
      budget.spend(sizeof(Block));
      const bool is_main = graph.regions.size() == 1 && region.blocks.empty();
      BlockReader(*block, is_main, graph.version.minor > 0, budget, region.blocks.emplace_back()).read();
    }
  }
  return graph;
}

}  // namespace

Graph parse_tosa(std::shared_ptr<const std::vector<uint8_t>> file, std::string_view name) {
  try {
    if (file->size() > kLargestTosaFile) {
      throw Error(ErrorCode::kBudgetExceeded, "the file is larger than 2 GiB");
    }
    Budget budget(file->size());
    Graph graph = read_graph(*file, budget);
    name_variables(graph, *file, budget);
    graph.storage.push_back(std::move(file));
    return graph;
  } catch (const Error& error) {
    throw Error(error.code(), in_quotes(name) + ": " + error.what());
  }
}

Graph read_tosa(const std::filesystem::path& path) {
  return parse_tosa(std::make_shared<const std::vector<uint8_t>>(read_file(path, kLargestTosaFile)), path.string());
}

}  // namespace npu::graph
