// SPDX-License-Identifier: Apache-2.0
#include "driver/graph/reader.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "driver/graph/validate.h"
#include "driver/graph/writer.h"
#include "tests/unit/errors/code_of.h"
#include "tests/unit/graph/raw_file.h"
#include "tests/unit/graph/samples.h"

namespace npu::graph {
namespace {

using contract::ErrorCode;
using test::code_of;

Graph read(const RawFile& file) { return parse_tosa(file.bytes(), "a file"); }

const Tensor& tensor(const Graph& graph, const std::string& name) {
  for (const Tensor& candidate : graph.main().tensors) {
    if (candidate.name == name) {
      return candidate;
    }
  }
  throw std::runtime_error("no tensor " + name);
}

TEST(Reader, ReadsTheSmallestFile) {
  const Graph graph = read({});
  EXPECT_NO_THROW(validate(graph));
  EXPECT_EQ(graph.main().operators.at(0).op, Op::kAdd);
  EXPECT_EQ(tensor(graph, "y").shape, Shape{3});
}

TEST(Reader, AcceptsVersions) {
  for (const bool draft : {false, true}) {
    for (const int32_t minor : {0, 1}) {
      RawFile file;
      file.minor = minor;
      file.patch = 7;
      file.draft = draft;
      const Version version = read(file).version;
      EXPECT_EQ(version.minor, minor);
      EXPECT_EQ(version.patch, 7);
      EXPECT_EQ(version.draft, draft);
    }
  }
}

TEST(Reader, TakesVariableOperatorsStoredAsIdentity) {
  RawFile file;
  file.variable = true;
  file.graph_inputs = {"x"};
  for (const bool own_number : {false, true}) {
    file.op = static_cast<uint32_t>(own_number ? tosa::Op::VARIABLE_READ : tosa::Op::IDENTITY);
    file.table = tosa::Attribute::VariableReadAttribute;
    file.inputs = {"y"};
    file.outputs = {"z"};
    EXPECT_EQ(read(file).main().operators[0].op, Op::kVariableRead);
    EXPECT_NO_THROW(validate(read(file)));
    file.op = static_cast<uint32_t>(own_number ? tosa::Op::VARIABLE_WRITE : tosa::Op::IDENTITY);
    file.table = tosa::Attribute::VariableWriteAttribute;
    file.inputs = {"x"};
    file.outputs = {"y"};
    EXPECT_EQ(read(file).main().operators[0].op, Op::kVariableWrite);
  }
  file.op = static_cast<uint32_t>(tosa::Op::IDENTITY);
  file.table = tosa::Attribute::IdentityAttribute;
  EXPECT_EQ(read(file).main().operators[0].op, Op::kIdentity);
}

TEST(Reader, TrimsPaddingOfData) {
  RawFile file;
  for (const size_t bytes : {12, 16}) {
    file.data.assign(bytes, 7);
    EXPECT_EQ(tensor(read(file), "y").data.size(), 12u);
  }
  file.type = static_cast<uint32_t>(tosa::DType::INT48);
  file.data.assign(24, 7);
  EXPECT_EQ(tensor(read(file), "y").data.size(), 18u);
  file.type = static_cast<uint32_t>(tosa::DType::INT4);
  file.data.assign(8, 7);
  EXPECT_EQ(tensor(read(file), "y").data.size(), 2u);
}

TEST(Reader, DataStaysInTheFile) {
  RawFile file;
  file.data.assign(16, 7);
  const auto bytes = file.bytes();
  const Graph graph = parse_tosa(bytes, "a file");
  const auto data = tensor(graph, "y").data;
  EXPECT_GE(data.data(), bytes->data());
  EXPECT_LE(data.data() + data.size(), bytes->data() + bytes->size());
  EXPECT_EQ(graph.storage.at(0), bytes) << "the graph keeps the file alive";
}

TEST(Reader, ShapesBecomeTensors) {
  RawFile file;
  file.op = static_cast<uint32_t>(tosa::Op::RESHAPE);
  file.table = tosa::Attribute::ReshapeAttribute;
  file.inputs = {"x", "s"};
  file.shape_name = "s";
  file.shape_rank = 2;
  file.shape_data.assign(16, 0);
  const Graph graph = read(file);
  const Tensor& shape = tensor(graph, "s");
  EXPECT_EQ(shape.type, DType::kShape);
  EXPECT_EQ(shape.shape, Shape{2});
  EXPECT_EQ(shape.data.size(), 16u);
  file.shape_rank = 0;
  file.shape_data = {};
  for (const size_t padding : {0, 8}) {
    file.shape_data.assign(padding, 0);
    const Graph scalar = read(file);
    EXPECT_TRUE(tensor(scalar, "s").has_data) << "the shape of a scalar is constant and empty";
    EXPECT_TRUE(tensor(scalar, "s").data.empty());
  }
  file.shape_data.assign(16, 0);
  EXPECT_THROW(static_cast<void>(read(file)), Error);
}

TEST(Reader, AnInputOfARegionIsNoConstant) {
  Graph graph = samples::nested_control_flow();
  Block& body = graph.regions.back().blocks.front();
  Tensor& passed = body.tensors[body.inputs.at(0)];
  const std::string name = passed.name;
  graph.storage.push_back(std::make_shared<const std::vector<uint8_t>>(16, uint8_t{0}));
  passed.data = *graph.storage.back();
  passed.has_data = true;
  EXPECT_THROW(validate(graph), Error);
  const Graph again = parse_tosa(std::make_shared<const std::vector<uint8_t>>(serialize(graph)), "a file");
  EXPECT_NO_THROW(validate(again));
  const Block& block = again.regions.back().blocks.front();
  EXPECT_FALSE(block.tensors[block.inputs.at(0)].has_data);
}

TEST(Reader, ClampLimitsTakeTheWidthOfTheirType) {
  RawFile file;
  file.op = static_cast<uint32_t>(tosa::Op::CLAMP);
  file.table = tosa::Attribute::ClampAttribute;
  file.inputs = {"x"};
  for (const size_t bytes : {4, 8}) {
    file.limit.assign(bytes, 1);
    EXPECT_EQ(read(file).main().operators[0].attributes.min_val, std::vector<uint8_t>(4, 1));
  }
}

struct Refused {
  const char* name;
  std::function<void(RawFile&)> change;
  ErrorCode code;
  const char* says;
};

void PrintTo(const Refused& refused, std::ostream* stream) { *stream << refused.name; }

class Refuses : public testing::TestWithParam<Refused> {};

TEST_P(Refuses, WithCodeAndReason) {
  RawFile file;
  GetParam().change(file);
  try {
    static_cast<void>(read(file));
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(contract::name(error.code()), contract::name(GetParam().code)) << error.what();
    EXPECT_NE(std::string(error.what()).find(GetParam().says), std::string::npos) << error.what();
    EXPECT_EQ(std::string(error.what()).find("'a file': "), 0u) << error.what();
  }
}

uint32_t number(tosa::Op op) { return static_cast<uint32_t>(op); }
uint32_t number(tosa::DType type) { return static_cast<uint32_t>(type); }

INSTANTIATE_TEST_SUITE_P(
    Reader, Refuses,
    testing::Values(
        Refused{"version_0_80", [](RawFile& f) { f.major = 0, f.minor = 80; }, ErrorCode::kVersionUnsupported,
                "0.80.0"},
        Refused{"version_1_2", [](RawFile& f) { f.minor = 2; }, ErrorCode::kVersionUnsupported, "1.2.0"},
        Refused{"version_2_0", [](RawFile& f) { f.major = 2; }, ErrorCode::kVersionUnsupported, "2.0.0"},
        Refused{"version_unset", [](RawFile& f) { f.major = f.minor = f.patch = -1; }, ErrorCode::kVersionUnsupported,
                "-1.-1.-1"},
        Refused{"feature_mxfp", [](RawFile& f) { f.features = 2; }, ErrorCode::kFeatureUnsupported, "MXFP"},
        Refused{"feature_unknown", [](RawFile& f) { f.features = 1u << 5; }, ErrorCode::kFeatureUnsupported, "32"},
        Refused{"operator_0", [](RawFile& f) { f.op = 0; }, ErrorCode::kUnknownOperator, "number 0"},
        Refused{"operator_unknown", [](RawFile& f) { f.op = 1000; }, ErrorCode::kUnknownOperator, "1000"},
        Refused{"operator_unknown_1_1", [](RawFile& f) { f.op = 1000, f.minor = 1; }, ErrorCode::kFeatureUnsupported,
                "1000; a later draft"},
        Refused{"operator_0_1_1", [](RawFile& f) { f.op = 0, f.minor = 1; }, ErrorCode::kUnknownOperator, "number 0"},
        Refused{"attributes_unknown", [](RawFile& f) { f.table = static_cast<tosa::Attribute>(200); },
                ErrorCode::kBadArgument, "(unknown)"},
        Refused{"attributes_unknown_1_1", [](RawFile& f) { f.table = static_cast<tosa::Attribute>(200), f.minor = 1; },
                ErrorCode::kFeatureUnsupported, "(unknown); a later draft"},
        Refused{"operator_first_of_1_1", [](RawFile& f) { f.op = number(tosa::Op::MATMUL_T_BLOCK_SCALED); },
                ErrorCode::kFeatureUnsupported, "MATMUL_T_BLOCK_SCALED"},
        Refused{"attributes_of_dim", [](RawFile& f) { f.op = number(tosa::Op::DIM); }, ErrorCode::kBadArgument,
                "AddAttribute"},
        Refused{"operator_last", [](RawFile& f) { f.op = number(tosa::Op::MATMUL_T); }, ErrorCode::kFeatureUnsupported,
                "MATMUL_T"},
        Refused{"attributes_of_other", [](RawFile& f) { f.op = number(tosa::Op::SUB); }, ErrorCode::kBadArgument,
                "AddAttribute"},
        Refused{"attributes_missing",
                [](RawFile& f) {
                  f.op = number(tosa::Op::MAXIMUM);
                  f.table = tosa::Attribute::MaximumAttribute;
                  f.attributes = false;
                },
                ErrorCode::kBadArgument, "no attributes"},
        Refused{"nan_mode_unknown",
                [](RawFile& f) {
                  f.op = number(tosa::Op::MAXIMUM);
                  f.table = tosa::Attribute::MaximumAttribute;
                  f.nan_mode = 9;
                },
                ErrorCode::kBadArgument, "nan_mode has the unknown value 9"},
        Refused{"clamp_limit",
                [](RawFile& f) {
                  f.op = number(tosa::Op::CLAMP);
                  f.table = tosa::Attribute::ClampAttribute;
                  f.inputs = {"x"};
                  f.limit = {1, 2};
                },
                ErrorCode::kBadArgument, "2 bytes"},
        Refused{"type_unknown", [](RawFile& f) { f.type = 19; }, ErrorCode::kBadType, "19"},
        Refused{"type_unknown_1_1", [](RawFile& f) { f.type = 19, f.minor = 1; }, ErrorCode::kFeatureUnsupported,
                "19; a later draft"},
        Refused{"nan_mode_unknown_1_1",
                [](RawFile& f) {
                  f.op = number(tosa::Op::MAXIMUM);
                  f.table = tosa::Attribute::MaximumAttribute;
                  f.nan_mode = 9;
                  f.minor = 1;
                },
                ErrorCode::kFeatureUnsupported, "nan_mode has the unknown value 9; a later draft"},
        Refused{"type_int64", [](RawFile& f) { f.type = number(tosa::DType::INT64); }, ErrorCode::kFeatureUnsupported,
                "INT64"},
        Refused{"type_mxint8", [](RawFile& f) { f.type = number(tosa::DType::MXINT8); }, ErrorCode::kFeatureUnsupported,
                "MXINT8"},
        Refused{"type_shape", [](RawFile& f) { f.type = number(tosa::DType::SHAPE); }, ErrorCode::kFeatureUnsupported,
                "SHAPE"},
        Refused{"unranked", [](RawFile& f) { f.unranked = true; }, ErrorCode::kFeatureUnsupported, "no rank"},
        Refused{"data_outside", [](RawFile& f) { f.offset = 64, f.size = 12; }, ErrorCode::kFeatureUnsupported,
                "outside of the file"},
        Refused{"block_scaled", [](RawFile& f) { f.scale_type = number(tosa::DType::FP8UE8M0); },
                ErrorCode::kFeatureUnsupported, "block-scaled"},
        Refused{"data_short", [](RawFile& f) { f.data.assign(8, 0); }, ErrorCode::kBadData,
                "tensor 'y' (INT32[3]) needs 12 bytes of data but has 8"},
        Refused{"data_long", [](RawFile& f) { f.data.assign(24, 0); }, ErrorCode::kBadData, "24"},
        Refused{"data_of_dynamic_shape", [](RawFile& f) { f.data.assign(8, 0), f.shape = {-1}; }, ErrorCode::kBadShape,
                "[-1]"},
        Refused{"data_of_huge_shape",
                [](RawFile& f) {
                  f.data.assign(8, 0), f.shape = {INT32_MAX, INT32_MAX};
                },
                ErrorCode::kBadShape, "'y'"},
        Refused{"shape_data_short",
                [](RawFile& f) {
                  f.shape_name = "s";
                  f.shape_rank = 0xffffffff;
                  f.shape_data.assign(8, 0);
                },
                ErrorCode::kBadData, "shape 's'"},
        Refused{"name_missing", [](RawFile& f) { f.name = std::nullopt; }, ErrorCode::kBadStructure, "has no name"},
        Refused{"name_empty", [](RawFile& f) { f.name.emplace(); }, ErrorCode::kBadStructure, "has no name"},
        Refused{"name_twice", [](RawFile& f) { f.name = "x"; }, ErrorCode::kBadStructure, "'x' occurs twice"},
        Refused{"name_twice_with_shape", [](RawFile& f) { f.shape_name = "x"; }, ErrorCode::kBadStructure,
                "'x' occurs twice"},
        Refused{"input_unknown",
                [](RawFile& f) {
                  f.inputs = {"x", "nothing"};
                },
                ErrorCode::kBadStructure, "'nothing' is no tensor"},
        Refused{"output_unknown", [](RawFile& f) { f.outputs = {"nothing"}; }, ErrorCode::kBadStructure, "'nothing'"},
        Refused{"graph_input_unknown", [](RawFile& f) { f.graph_inputs = {"no\nthing"}; }, ErrorCode::kBadStructure,
                "'no\\x0athing'"}),
    [](const testing::TestParamInfo<Refused>& info) { return std::string(info.param.name); });

TEST(Reader, LeavesAMissingRegionToValidation) {
  RawFile file;
  file.regions = false;
  EXPECT_THROW(validate(read(file)), Error);
}

class ReaderFiles : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("npu_reader_test_" + std::to_string(::getpid()));
};

TEST_F(ReaderFiles, RefusesWhatIsNoFile) {
  EXPECT_EQ(code_of([&] { static_cast<void>(read_tosa(folder_ / "missing.tosa")); }), ErrorCode::kCannotRead);
  EXPECT_EQ(code_of([&] { static_cast<void>(read_tosa(folder_)); }), ErrorCode::kCannotRead);
  std::ofstream(folder_ / "empty.tosa").close();
  EXPECT_EQ(code_of([&] { static_cast<void>(read_tosa(folder_ / "empty.tosa")); }), ErrorCode::kFileDamaged);
  std::ofstream(folder_ / "huge.tosa").close();
  std::filesystem::resize_file(folder_ / "huge.tosa", uintmax_t{3} << 30);
  EXPECT_EQ(code_of([&] { static_cast<void>(read_tosa(folder_ / "huge.tosa")); }), ErrorCode::kBudgetExceeded);
}

TEST_F(ReaderFiles, WritesAndReads) {
  const Graph graph = samples::network();
  write_tosa(folder_ / "network.tosa", graph);
  EXPECT_EQ(samples::difference(graph, read_tosa(folder_ / "network.tosa")), "");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1) << "no temporary file stays";
}

TEST_F(ReaderFiles, CannotWriteIsAnErrorThatLeavesNothing) {
  EXPECT_EQ(code_of([&] { write_tosa(folder_ / "missing" / "x.tosa", samples::network()); }), ErrorCode::kCannotWrite);
  EXPECT_EQ(code_of([&] { write_tosa(folder_, samples::network()); }), ErrorCode::kCannotWrite);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST(RoundTrip, EveryOperator) {
  std::vector<Op> operators = samples::all_operators();
  for (const Op op : samples::shape_operators()) operators.push_back(op);
  for (const Op op : operators) {
    const Graph graph = samples::of(op);
    for (const bool variable_opcodes : {false, true}) {
      const auto bytes = std::make_shared<const std::vector<uint8_t>>(serialize(graph, {variable_opcodes}));
      const Graph again = parse_tosa(bytes, "a file");
      EXPECT_EQ(samples::difference(graph, again), "") << name(op);
      EXPECT_NO_THROW(validate(again, Sizes::kMayBeUnknown)) << name(op);
      // From the second time on, even the order of tensors stays.
      const auto second = std::make_shared<const std::vector<uint8_t>>(serialize(again, {variable_opcodes}));
      EXPECT_EQ(serialize(parse_tosa(second, "a file"), {variable_opcodes}), *second) << name(op);
    }
  }
}

TEST(RoundTrip, KeepsTheWritersVersions) {
  Graph graph = samples::nested_control_flow();
  graph.version.patch = 3;
  graph.software_version = SoftwareVersion{2026, 8, 0, "beta"};
  graph.min_reader_version = SoftwareVersion{2025, 1, 2, ""};
  const Graph again = parse_tosa(std::make_shared<const std::vector<uint8_t>>(serialize(graph)), "a file");
  EXPECT_EQ(samples::difference(graph, again), "");
  ASSERT_TRUE(again.software_version && again.min_reader_version);
  EXPECT_EQ(again.software_version->modifier, "beta");
  EXPECT_EQ(again.min_reader_version->minor, 1);
}

}  // namespace
}  // namespace npu::graph
