// SPDX-License-Identifier: Apache-2.0
// Which files a command reads and writes: none that is read may be written, and none may be written twice.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace npu::tool {

class FilePlaces {
 public:
  // `what` names the file in messages ("the network", "--json"); an empty `file` is none. Both throw Error(kBadOption)
  // naming two that are the same file when one of them is written.
  void read(std::string_view what, const std::filesystem::path& file);
  // The file of --config, unless that is the name of a machine that the program brings along.
  void read_machine(const std::string& name_or_path);
  // `replaced`: what may be read there, for all that it is written.
  void write(std::string_view what, const std::filesystem::path& file, std::string_view replaced = {});

 private:
  struct File {
    std::string what;
    bool written = false;
  };
  void add(File file, const std::filesystem::path& given, std::string_view replaced);

  // By their places: a sequence may have a file for each of very many invocations.
  std::multimap<std::filesystem::path, File> files_;
};

// The file of NAME=FILE, whichever '=' stands behind the name. Throws as FilePlaces::read().
void read_input(FilePlaces& places, std::string_view what, const std::string& input);

}  // namespace npu::tool
