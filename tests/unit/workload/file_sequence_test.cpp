// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/file_sequence.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "tests/unit/errors/code_of.h"

namespace npu::workload {
namespace {

namespace fs = std::filesystem;
using contract::ErrorCode;
using graph::DType;
using test::code_of;

struct FileSequenceTest : testing::Test {
  FileSequenceTest() { fs::create_directories(folder); }
  ~FileSequenceTest() override { fs::remove_all(folder); }

  // INT8 elements of that value.
  std::string save(const fs::path& name, graph::Shape shape, uint8_t value = 0) {
    fs::create_directories((folder / name).parent_path());
    const auto count = static_cast<size_t>(*graph::element_count(shape));
    graph::write_npy(folder / name, graph::to_npy({DType::kInt8, shape, std::vector<uint8_t>(count, value)}));
    return (folder / name).string();
  }
  [[nodiscard]] std::string in(const std::string& name) const { return (folder / name).string(); }

  const fs::path folder = fs::path(testing::TempDir()) / ("npu_file_sequence_" + std::to_string(::getpid()));
  const std::vector<GraphPort> one = {{"x", DType::kInt8, {-1}, false}};
  const std::vector<GraphPort> two = {{"x", DType::kInt8, {-1}, false}, {"w", DType::kInt8, {-1, 2}, false}};
};

TEST_F(FileSequenceTest, IsMeantBySeveralFilesOrAFolder) {
  const std::string x = save("x.npy", {2}), w = save("w.npy", {2, 2});
  EXPECT_FALSE(FileSequence::is_meant(one, {}));
  EXPECT_FALSE(FileSequence::is_meant(one, {x}));
  EXPECT_FALSE(FileSequence::is_meant(two, {"x=" + x, "w=" + w}));
  EXPECT_TRUE(FileSequence::is_meant(one, {x, x}));
  EXPECT_TRUE(FileSequence::is_meant(two, {"x=" + x, "w=" + w, "x=" + x}));
  EXPECT_TRUE(FileSequence::is_meant(one, {folder.string()}));
  EXPECT_EQ(code_of([&] { (void)FileSequence::is_meant(two, {"v=" + x}); }), ErrorCode::kBadInput);
}

TEST_F(FileSequenceTest, FilesComeInTheirOrder) {
  for (const int number : {9, 10, 100}) {
    save("many/f" + std::to_string(number) + ".npy", {number}, static_cast<uint8_t>(number));
  }
  save("many/f0011.npy", {11}, 11);
  const std::string last = save("last.npy", {1}, 1);
  const FileSequence files(one, {in("many"), "x=" + last}, {.skip = 1, .count = {}});
  ASSERT_EQ(files.invocations(), 4);
  int64_t index = 0;
  for (const int64_t number : {10, 11, 100, 1}) {
    const FileSequence::Frame frame = files.read(index++);
    EXPECT_EQ(frame.shapes, (graph::GivenShapes{{"x", {number}}}));
    const auto values = FileSequence::values(frame, {{"x", DType::kInt8, {number}, false}});
    EXPECT_EQ(values[0].bytes.front(), number);
  }
  EXPECT_EQ(files.files_of(3), "'" + last + "'");
  EXPECT_EQ(FileSequence(one, {in("many")}, {.skip = 1, .count = 2}).invocations(), 2);
  EXPECT_EQ(code_of([&] { FileSequence(one, {in("many")}, {.skip = 4, .count = {}}); }), ErrorCode::kBadOption);
  EXPECT_EQ(code_of([&] { FileSequence(one, {in("many")}, {.skip = 1, .count = 4}); }), ErrorCode::kBadOption);
}

TEST_F(FileSequenceTest, RefusesWhatGivesNoOrder) {
  fs::create_directories(folder / "empty");
  EXPECT_EQ(code_of([&] { FileSequence(one, {in("empty")}, {}); }), ErrorCode::kBadInput);
  save("names/a.npy", {1});
  EXPECT_EQ(code_of([&] { FileSequence(one, {in("names")}, {}); }), ErrorCode::kBadInput);
  save("zeros/0.npy", {1});
  save("zeros/000.npy", {1});
  std::string text;
  EXPECT_EQ(code_of([&] { FileSequence(one, {in("zeros")}, {}); }, &text), ErrorCode::kBadInput);
  EXPECT_NE(text.find("number 0 of"), std::string::npos) << text;
}

TEST_F(FileSequenceTest, FoldersNeedTheSameNumbers) {
  for (const char* name : {"a/0.npy", "a/x_2.npy", "b/0.npy", "b/w_02.npy", "c/0.npy", "c/1.npy"}) save(name, {2, 2});
  EXPECT_EQ(FileSequence(two, {"x=" + in("a"), "w=" + in("b")}, {}).invocations(), 2);
  for (const auto& [x, w] : {std::pair("a", "c"), std::pair("c", "a")}) {
    std::string text;
    EXPECT_EQ(code_of(
                  [&, x = x, w = w] {
                    FileSequence(two, {"x=" + in(x), "w=" + in(w)}, {});
                  },
                  &text),
              ErrorCode::kBadInput);
    EXPECT_NE(text.find("of the sequence"), std::string::npos) << text;
  }
}

TEST_F(FileSequenceTest, AllInputsNeedAsManyFiles) {
  const std::string x = save("x.npy", {2}), w = save("w.npy", {2, 2});
  EXPECT_EQ(code_of([&] { FileSequence(two, {"x=" + x, "x=" + x, "w=" + w}, {}); }), ErrorCode::kBadInput);
  EXPECT_EQ(code_of([&] { FileSequence(two, {"x=" + x, "x=" + x}, {}); }), ErrorCode::kBadInput);
  EXPECT_EQ(FileSequence(two, {"x=" + x, "w=" + w, "x=" + x, "w=" + w}, {}).invocations(), 2);
}

TEST_F(FileSequenceTest, FilesAreReadWhenTheirInvocationComes) {
  const std::string x = save("x.npy", {2});
  std::ofstream(folder / "damaged.npy") << "no array";
  const FileSequence files(one, {x, in("damaged.npy"), in("none.npy")}, {});
  EXPECT_EQ(files.read(0).shapes.at("x"), (graph::Shape{2}));
  EXPECT_EQ(code_of([&] { (void)files.read(1); }), ErrorCode::kBadNpy);
  EXPECT_EQ(code_of([&] { (void)files.read(2); }), ErrorCode::kCannotRead);
}

TEST_F(FileSequenceTest, OutputsAreThereWhenTheirInvocationHasEnded) {
  FileOutputs outputs({{"y/1", DType::kInt8, {-1}, false}, {"y/1", DType::kInt8, {-1}, false}}, folder / "out", 4);
  for (const int64_t count : {3, 1}) {
    const graph::Value value{DType::kInt8, {count}, std::vector<uint8_t>(static_cast<size_t>(count), 7)};
    outputs.add({value, value});
  }
  EXPECT_EQ(graph::read_npy(folder / "out" / "y%2F1" / "4.npy").shape, (graph::Shape{3}));
  EXPECT_EQ(graph::read_npy(folder / "out" / "y%2F1" / "5.npy").shape, (graph::Shape{1}));
  EXPECT_EQ(outputs.files_of("y/1"), in("out/y%2F1/4.npy to 5.npy"));
  EXPECT_EQ(FileOutputs(one, "", 0).files_of("x"), "");
}

TEST_F(FileSequenceTest, NoOutputReplacesAnInput) {
  save("y/0.npy", {1});
  save("y/1.npy", {1});
  const FileSequence files(one, {in("y")}, {.skip = 1, .count = {}});
  tool::FilePlaces places;
  files.add_to(places);
  // Those that are skipped are the user's, too.
  for (const int64_t first : {0, 1}) {
    const FileOutputs outputs({{"y", DType::kInt8, {-1}, false}}, folder, first);
    EXPECT_EQ(code_of([&] { outputs.add_to(places, files.invocations()); }), ErrorCode::kBadOption);
  }
  FileOutputs({{"z", DType::kInt8, {-1}, false}}, folder, 0).add_to(places, files.invocations());
}

}  // namespace
}  // namespace npu::workload
