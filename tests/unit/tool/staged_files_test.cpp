// SPDX-License-Identifier: Apache-2.0
#include "sim/tool/staged_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <utility>

#include "tests/unit/errors/code_of.h"

namespace npu::tool {
namespace {

namespace fs = std::filesystem;
using contract::ErrorCode;
using test::code_of;

struct StagedFilesTest : testing::Test {
  StagedFilesTest() { fs::create_directories(folder); }
  ~StagedFilesTest() override { fs::remove_all(folder); }

  [[nodiscard]] static std::string text(const fs::path& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  [[nodiscard]] size_t count() const {
    return static_cast<size_t>(
        std::distance(fs::recursive_directory_iterator(folder), fs::recursive_directory_iterator()));
  }

  const fs::path folder = fs::path(testing::TempDir()) / ("npu_staged_" + std::to_string(::getpid()));
};

TEST_F(StagedFilesTest, AppearTogether) {
  std::ofstream(folder / "a") << "old";
  StagedFiles files;
  files.write(folder / "a", "new");
  files.make_folder(folder / "x" / "y");
  files.write(folder / "x" / "y" / "b", "b");
  graph::NewFile other(folder / "c", graph::NewFile::Name::kNeeded);
  std::ofstream(other.part()) << "c";
  files.adopt(std::move(other));
  EXPECT_EQ(text(folder / "a"), "old");
  EXPECT_FALSE(fs::exists(folder / "x" / "y" / "b"));
  files.commit();
  EXPECT_EQ(text(folder / "a"), "new");
  EXPECT_EQ(text(folder / "x" / "y" / "b"), "b");
  EXPECT_EQ(text(folder / "c"), "c");
  EXPECT_EQ(count(), 5u);
}

TEST_F(StagedFilesTest, LeaveNothingWhenOneFails) {
  std::ofstream(folder / "a") << "old";
  {
    StagedFiles files;
    files.write(folder / "a", "new");
    files.make_folder(folder / "x" / "y");
    files.write(folder / "x" / "y" / "b", "b");
    files.write(folder / "taken", "late");
    fs::create_directory(folder / "taken");
    try {
      files.commit();
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kCannotWrite);
      EXPECT_NE(std::string(error.what()).find("taken"), std::string::npos) << error.what();
    }
  }
  EXPECT_EQ(text(folder / "a"), "old");
  EXPECT_EQ(count(), 2u);  // a, taken
}

TEST_F(StagedFilesTest, OnePlaceTwiceAndWhatIsNoFileAreRefusedBeforeAnythingChanges) {
  std::ofstream(folder / "a") << "old";
  std::ofstream(folder / "b") << "old";
  fs::create_symlink("a", folder / "link");
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  for (const char* name : {"a", "link", "./a", "fifo"}) {
    StagedFiles files;
    files.write(folder / "b", "new");
    files.write(folder / "a", "new");
    try {
      files.write(folder / name, "other");
      files.commit();
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kCannotWrite) << error.what();
    }
  }
  EXPECT_EQ(text(folder / "a") + text(folder / "b"), "oldold");
  EXPECT_TRUE(fs::is_fifo(folder / "fifo"));
  EXPECT_EQ(count(), 4u);
}

TEST_F(StagedFilesTest, LinksAreWrittenThrough) {
  fs::create_directory(folder / "x");
  fs::create_symlink("x/a", folder / "link");
  for (const char* data : {"one", "two"}) {
    StagedFiles files;
    files.write(folder / "link", std::string(data));
    files.commit();
    EXPECT_TRUE(fs::is_symlink(folder / "link"));
    EXPECT_EQ(text(folder / "x" / "a"), data);
  }
  EXPECT_EQ(count(), 3u);  // x, x/a, link
}

TEST_F(StagedFilesTest, ErrorsNameTheFile) {
  StagedFiles files;
  try {
    files.write(folder / "no" / "such.json", "text");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("such.json"), std::string::npos) << error.what();
  }
}

TEST_F(StagedFilesTest, AFolderWithOthersFilesStays) {
  {
    StagedFiles files;
    files.make_folder(folder / "x");
    std::ofstream(folder / "x" / "theirs") << "1";
  }
  EXPECT_TRUE(fs::exists(folder / "x" / "theirs"));
}

// Two programs of one process number (in two containers) write to one folder.
TEST_F(StagedFilesTest, TwoWithTheSameProcessNumberKeepTheirOwn) {
  StagedFiles files, others;
  files.write(folder / "a", "mine");
  others.write(folder / "b", "theirs");
  others.commit();
  files.commit();
  EXPECT_EQ(text(folder / "a"), "mine");
  EXPECT_EQ(text(folder / "b"), "theirs");
  EXPECT_EQ(count(), 2u);
}

TEST_F(StagedFilesTest, NamesCannotBeForeseen) {
  std::set<std::string> names;
  for (int i = 0; i < 200; ++i)
    names.insert(graph::NewFile(folder / "a", graph::NewFile::Name::kNeeded).part().string());
  EXPECT_EQ(names.size(), 200u);
  EXPECT_EQ(count(), 0u);
}

TEST_F(StagedFilesTest, ASignalsHandlerRemovesWhatIsNotFinished) {
  std::ofstream(folder / "a") << "old";
  StagedFiles files;
  files.make_folder(folder / "x" / "y");
  files.write(folder / "a", "new");
  files.write(folder / "x" / "y" / "b", "new");
  const graph::NewFile named(folder / "x" / "y" / "c", graph::NewFile::Name::kNeeded);
  EXPECT_GE(count(), 4u);  // a, x, y and the named one
  graph::Unfinished::remove_all();
  EXPECT_EQ(text(folder / "a"), "old");
  EXPECT_EQ(count(), 1u);
}

TEST_F(StagedFilesTest, PlacesThatCannotBeWrittenAreFoundBefore) {
  const fs::path file = folder / "x.npy";
  std::ofstream(file) << "x";
  check_file_writable(folder / "new.json");
  check_file_writable(file);
  check_folder_writable(folder / "a" / "b");
  for (const fs::path& path : {folder, folder / "no" / "f", file / "f", fs::path()}) {
    EXPECT_EQ(code_of([&] { check_file_writable(path); }), ErrorCode::kCannotWrite) << path;
  }
  for (const fs::path& path : {file, file / "sub"}) {
    EXPECT_EQ(code_of([&] { check_folder_writable(path); }), ErrorCode::kCannotWrite) << path;
  }
}

}  // namespace
}  // namespace npu::tool
