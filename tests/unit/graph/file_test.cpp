// SPDX-License-Identifier: Apache-2.0
#include "driver/graph/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "hw/contract/error.h"

namespace npu::graph {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<uint8_t>;

struct FileTest : testing::Test {
  FileTest() { fs::create_directories(folder); }
  ~FileTest() override { fs::remove_all(folder); }

  [[nodiscard]] static Bytes content(const fs::path& file) { return read_file(file, 100); }
  [[nodiscard]] std::ptrdiff_t count() const {
    return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
  }
  // Is refused for this reason, and leaves everything as it is.
  void refused(const fs::path& file, const std::string& why) const {
    const std::ptrdiff_t before = count();
    try {
      write_file(file, Bytes{1});
      ADD_FAILURE() << file << " was written";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), contract::ErrorCode::kCannotWrite) << error.what();
      EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
    }
    EXPECT_EQ(count(), before) << file;
  }

  const fs::path folder = fs::path(testing::TempDir()) / ("npu_file_" + std::to_string(::getpid()));
};

TEST_F(FileTest, IsMadeAndReplaced) {
  write_file(folder / "a", Bytes{1, 2, 3});
  EXPECT_EQ(content(folder / "a"), (Bytes{1, 2, 3}));
  write_file(folder / "a", Bytes{});
  EXPECT_EQ(content(folder / "a"), Bytes{});
  const fs::path longest = folder / std::string(255, 'x');  // no room for anything behind the name
  write_file(longest, Bytes{4});
  EXPECT_EQ(content(longest), Bytes{4});
  EXPECT_EQ(count(), 2);
}

TEST_F(FileTest, LinksAreWrittenThrough) {
  fs::create_directory(folder / "deep");
  fs::create_symlink("deep/target", folder / "link");
  fs::create_symlink(folder / "link", folder / "link_to_link");
  fs::create_directory_symlink("deep", folder / "shallow");
  for (const char* name : {"link", "link_to_link", "shallow/target"}) {
    write_file(folder / name, Bytes{7});
    EXPECT_EQ(content(folder / "deep" / "target"), Bytes{7}) << name;
    write_file(folder / name, Bytes{8});
    EXPECT_EQ(content(folder / "deep" / "target"), Bytes{8}) << name;
    EXPECT_EQ(place_of(folder / name), fs::canonical(folder) / "deep" / "target");
    fs::remove(folder / "deep" / "target");
  }
  EXPECT_TRUE(fs::is_symlink(folder / "link") && fs::is_symlink(folder / "link_to_link"));
}

TEST_F(FileTest, OnlyRegularFilesAreReplaced) {
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  fs::create_symlink("fifo", folder / "to_fifo");
  fs::create_symlink("circle", folder / "circle");
  fs::create_directory(folder / "deep");
  fs::create_directory_symlink("deep", folder / "to_deep");
  for (const char* name : {"fifo", "to_fifo"}) refused(folder / name, "it is there and no regular file");
  for (const char* name : {"deep", "to_deep", "deep/", "deep/."}) refused(folder / name, "it is a folder");
  refused(folder / "circle", "it is a link that leads back to itself");
  refused(folder / "none" / "a", "No such file or directory");
  refused(folder / std::string(256, 'x'), "File name too long");
  refused("", "it is not the name of a file");
  EXPECT_TRUE(fs::is_fifo(folder / "fifo"));
  EXPECT_TRUE(fs::is_symlink(folder / "circle"));
}

}  // namespace
}  // namespace npu::graph
