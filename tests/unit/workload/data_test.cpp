// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/data.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/unit/errors/code_of.h"

namespace npu::workload {
namespace {

namespace fs = std::filesystem;
using contract::ErrorCode;
using graph::DType;
using test::code_of;

struct DataTest : testing::Test {
  DataTest() { fs::create_directories(folder); }
  ~DataTest() override { fs::remove_all(folder); }

  std::string save(const std::string& name, DType type, graph::Shape shape) {
    graph::Value value{type, shape, {}};
    value.bytes.resize(static_cast<size_t>(*graph::element_count(shape) * graph::machine_width(type)));
    for (size_t i = 0; i < value.bytes.size(); ++i) value.bytes[i] = static_cast<uint8_t>(i);
    graph::write_npy(folder / name, graph::to_npy(value));
    return (folder / name).string();
  }

  const fs::path folder = fs::path(testing::TempDir()) / ("npu_data_" + std::to_string(::getpid()));
  const std::vector<GraphPort> one = {{"a=b", DType::kInt8, {2, 3}, false}};
  const std::vector<GraphPort> two = {{"x", DType::kInt8, {2}, false}, {"y", DType::kInt32, {1}, false}};
};

TEST(FileName, KeepsPlainNamesAndEscapesTheRest) {
  EXPECT_EQ(file_name_for("TosaOutput_0"), "TosaOutput_0");
  EXPECT_EQ(file_name_for("a.b-c_D9"), "a.b-c_D9");
  EXPECT_EQ(file_name_for("out/y:0"), "out%2Fy%3A0");
  EXPECT_EQ(file_name_for("a%2Fb"), "a%252Fb");  // no two names share a file
  EXPECT_EQ(file_name_for("."), "%2E");
  EXPECT_EQ(file_name_for(".."), "%2E.");
  EXPECT_EQ(file_name_for(std::string("\0\xc3\xa4", 3)), "%00%C3%A4");
  EXPECT_EQ(file_name_for(""), "%");
}

TEST(FileName, LongNamesStayDifferentAndShortEnough) {
  const std::string a = file_name_for(std::string(300, 'x') + "1"), b = file_name_for(std::string(300, 'x') + "2");
  EXPECT_NE(a, b);
  EXPECT_LE(a.size(), 240u);
  EXPECT_EQ(file_name_for(std::string(200, 'x')), std::string(200, 'x'));
}

TEST_F(DataTest, NamesMayBeLeftOutForOneInputAndSplitAtTheLastEqualsSign) {
  const std::string file = save("x.npy", DType::kInt8, {2, 3});
  EXPECT_EQ(InputData(one, {file}, false).invocation(0)[0].bytes[5], 5);
  EXPECT_EQ(InputData(one, {"a=b=" + file}, false).invocation(0)[0].bytes[5], 5);
  EXPECT_EQ(code_of([&] { InputData(one, {"a=" + file}, false); }), ErrorCode::kBadInput);
}

TEST_F(DataTest, SequencesAreSlicedAlongTheFirstAxis) {
  const InputData data(two, {"y=" + save("y.npy", DType::kInt32, {3, 1}), "x=" + save("x.npy", DType::kInt8, {3, 2})},
                       true);
  EXPECT_EQ(data.invocations(), 3);
  EXPECT_EQ(data.invocation(2)[0].bytes, (std::vector<uint8_t>{4, 5}));
  EXPECT_EQ(data.invocation(1)[1].bytes, (std::vector<uint8_t>{4, 5, 6, 7}));
  EXPECT_EQ(data.invocation(1)[0].shape, (graph::Shape{2}));
}

TEST_F(DataTest, MissingDoubledAndUnnamedInputsAreRefused) {
  const std::string x = save("x.npy", DType::kInt8, {2});
  EXPECT_EQ(code_of([&] { InputData(two, {"x=" + x}, false); }), ErrorCode::kBadInput);
  EXPECT_EQ(code_of([&] { InputData(two, {"x=" + x, "x=" + x}, false); }), ErrorCode::kBadInput);
  EXPECT_EQ(code_of([&] { InputData(two, {x}, false); }), ErrorCode::kBadInput);
  EXPECT_EQ(code_of([&] { InputData(one, {(folder / "none.npy").string()}, false); }), ErrorCode::kCannotRead);
}

TEST_F(DataTest, OutputsAreOneFileEachAndStackedForSequences) {
  OutputData outputs({{"x/1", DType::kInt8, {2}, false}, {"x/1", DType::kInt8, {2}, false}}, true);
  for (uint8_t i = 0; i < 3; ++i) {
    const graph::Value value{DType::kInt8, {2}, {i, 9}};
    outputs.add({value, value});  // one tensor that the graph lists twice
  }
  tool::StagedFiles files;
  outputs.write(files, folder / "deep" / "out");
  files.commit();
  const graph::NpyArray array = graph::read_npy(folder / "deep" / "out" / "x%2F1.npy");
  EXPECT_EQ(array.shape, (graph::Shape{3, 2}));
  EXPECT_EQ(array.bytes, (std::vector<uint8_t>{0, 9, 1, 9, 2, 9}));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "deep" / "out"), fs::directory_iterator()), 1);
}

}  // namespace
}  // namespace npu::workload
