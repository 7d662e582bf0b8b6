#include "sim/cli/staged_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <optional>

#include "hw/contract/error.h"

namespace npu::cli {
namespace {

namespace fs = std::filesystem;
using contract::ErrorCode;

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
  std::ofstream(folder / "c.part") << "c";
  files.adopt(folder / "c.part", folder / "c");
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
  fs::create_directory(folder / "taken");
  {
    StagedFiles files;
    files.write(folder / "a", "new");
    files.make_folder(folder / "x" / "y");
    files.write(folder / "x" / "y" / "b", "b");
    files.write(folder / "taken", "late");
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

}  // namespace
}  // namespace npu::cli
