// SPDX-License-Identifier: Apache-2.0
// --json of the commands that tell something and write nothing else. As everywhere, --json FILE writes JSON to FILE,
// and the file "-" is standard output. These commands may leave out FILE, which then is "-", and JSON takes the place
// of the text there.
#pragma once

#include <boost/program_options.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/cli/options.h"
#include "sim/tool/file_places.h"

namespace npu::cli {

inline constexpr const char* kJsonHelp =
    "write JSON to the FILE behind it; without FILE to standard output, in place of the text";

class JsonOption {
 public:
  // The option with its help, and one more word behind the last argument of the command, which `positional` has.
  JsonOption(boost::program_options::options_description& options, boost::program_options::options_description& hidden,
             boost::program_options::positional_options_description& positional, const char* help);

  // `order` is what parse() gave with `command`. A word behind --json is its FILE where the command has all of its
  // arguments already. `places` has what the command reads. Throws Error: kBadOption, also for one word too many;
  // kCannotWrite where no file can be made.
  void read(const boost::program_options::variables_map& values, const std::vector<Given>& order,
            const CommandHelp& command, tool::FilePlaces places);

  // Says the text unless JSON takes its place, and writes the JSON where it was asked for; both end with a line end.
  // Throws Error(kCannotWrite).
  void tell(const std::function<std::string()>& text, const std::function<std::string()>& json) const;

 private:
  std::optional<std::string> file_;
};

}  // namespace npu::cli
