// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/json_option.h"

#include <fmt/format.h>

#include "hw/contract/error.h"
#include "sim/tool/say.h"
#include "sim/tool/staged_files.h"

namespace npu::cli {

namespace po = boost::program_options;

namespace {

constexpr const char* kJson = "json";
constexpr const char* kJsonFile = "json-file";  // the word behind the last argument

}  // namespace

JsonOption::JsonOption(po::options_description& options, po::options_description& hidden,
                       po::positional_options_description& positional, const char* help) {
  options.add_options()(kJson, po::bool_switch(), help);
  hidden.add_options()(kJsonFile, po::value<std::string>())(kJsonEquals, po::value<std::string>());
  positional.add(kJsonFile, 1);
}

void JsonOption::read(const po::variables_map& values, const std::vector<Given>& order, const CommandHelp& command,
                      tool::FilePlaces places) {
  if (values[kJson].as<bool>()) file_ = tool::kStandardOutput;
  for (size_t i = 0; i < order.size(); ++i) {
    if (order[i].option != kJsonFile) continue;
    if (i == 0 || order[i - 1].option != kJson) {
      throw Error(contract::ErrorCode::kBadOption,
                  fmt::format("there are too many words that are no options; see {} --help", command_of(command)));
    }
    file_ = file_option(values, kJsonFile);
  }
  if (values.count(kJsonEquals) > 0) {
    if (file_) throw Error(contract::ErrorCode::kBadOption, "--json is given twice, but can be given once");
    file_ = file_option(values, kJsonEquals);
  }
  if (!file_ || *file_ == tool::kStandardOutput) return;
  tool::check_file_writable(*file_);
  places.write("--json", *file_);
}

void JsonOption::tell(const std::function<std::string()>& text, const std::function<std::string()>& json) const {
  if (file_ == tool::kStandardOutput) return tool::say("{}", json());
  if (file_) {
    tool::StagedFiles files;
    files.write(*file_, json());
    files.commit();
  }
  tool::say("{}", text());
}

}  // namespace npu::cli
