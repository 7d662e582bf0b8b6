// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <sstream>
#include <thread>

#include "driver/graph/level.h"
#include "driver/graph/open_sizes.h"
#include "driver/graph/text.h"
#include "hw/contract/error.h"
#include "hw/contract/suggestion.h"
#include "sim/tool/chosen_shape.h"
#include "sim/tool/say.h"

namespace npu::cli {

namespace po = boost::program_options;
using contract::ErrorCode;
using tool::say;

namespace {

std::string did_you_mean(const po::error& error, const po::options_description& options) {
  const auto* unknown = dynamic_cast<const po::unknown_option*>(&error);
  if (unknown == nullptr) return "";
  std::vector<std::string> names;
  for (const auto& known : options.options()) names.push_back("--" + known->long_name());
  return contract::did_you_mean(unknown->get_option_name(), names);
}

// Takes --json=FILE apart for kJsonEquals.
std::pair<std::string, std::string> split_json(const std::string& word) {
  constexpr std::string_view kStart = "--json=";
  if (!word.starts_with(kStart)) return {};
  return {kJsonEquals, word.substr(kStart.size())};
}

std::string describe(const po::error& error) {
  if (const auto* unknown = dynamic_cast<const po::unknown_option*>(&error)) {
    return fmt::format("there is no option '{}'", unknown->get_option_name());
  }
  if (const auto* twice = dynamic_cast<const po::multiple_occurrences*>(&error)) {
    return fmt::format("{} is given twice, but can be given once", twice->get_option_name());
  }
  if (const auto* syntax = dynamic_cast<const po::invalid_syntax*>(&error)) {
    const std::string option = syntax->get_option_name();
    if (syntax->kind() == po::invalid_syntax::missing_parameter) return option + " needs a value";
    if (syntax->kind() == po::invalid_syntax::extra_parameter) return option + " takes no value";
  }
  if (dynamic_cast<const po::too_many_positional_options_error*>(&error) != nullptr) {
    return "there are too many words that are no options";
  }
  return error.what();
}

}  // namespace

std::string_view command_of(const CommandHelp& help) {
  const std::string_view usage = help.usage;
  size_t end = 0;
  for (size_t i = 0; i < usage.size() && ((usage[i] >= 'a' && usage[i] <= 'z') || usage[i] == ' '); ++i) {
    if (usage[i] == ' ') end = i;
  }
  return usage.substr(0, end);
}

std::optional<po::variables_map> parse(const Arguments& arguments, const CommandHelp& help,
                                       po::options_description options, const po::options_description& hidden,
                                       const po::positional_options_description& positional,
                                       std::vector<Given>* order) {
  options.add_options()("help,h", "print this help");
  po::options_description all;
  all.add(options).add(hidden);
  po::variables_map values;
  try {
    // Guessing would make an abbreviation that works today ambiguous tomorrow.
    const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
    po::command_line_parser parser(arguments);
    parser.options(all).positional(positional).style(style);
    if (all.find_nothrow(kJsonEquals, false) != nullptr) parser.extra_parser(split_json);
    const po::parsed_options parsed = parser.run();
    for (const po::option& option : parsed.options) {
      if (order != nullptr) order->push_back({option.string_key, option.value.empty() ? "" : option.value.front()});
    }
    po::store(parsed, values);
    po::notify(values);
  } catch (const po::error& error) {
    throw Error(ErrorCode::kBadOption,
                fmt::format("{}; see {} --help{}", describe(error), command_of(help), did_you_mean(error, options)));
  }
  if (values.count("help") == 0) return values;
  std::ostringstream list;
  list << options;
  say("usage: {}\n\n{}\n\noptions:\n{}\nexamples:\n{}", help.usage, help.text, list.str(), help.examples);
  return std::nullopt;
}

std::string required(const po::variables_map& values, const char* option, std::string_view what,
                     std::string_view command) {
  if (values.count(option) == 0) {
    throw Error(ErrorCode::kBadOption,
                fmt::format("{} is missing{}", what, command.empty() ? "" : fmt::format("; see {} --help", command)));
  }
  return values[option].as<std::string>();
}

std::string file_option(const po::variables_map& values, const char* option) {
  if (values.count(option) == 0) return "";
  std::string name = values[option].as<std::string>();
  if (name.empty()) throw Error(ErrorCode::kBadOption, fmt::format("--{} needs a name, not ''", option));
  return name;
}

uint64_t parse_number(std::string_view text, std::string_view option) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw Error(ErrorCode::kBadOption, fmt::format("{} needs a whole number, not '{}'", option, text));
  }
  return value;
}

std::vector<compiler::SizeBounds> dim_option(const po::variables_map& values) {
  std::vector<compiler::SizeBounds> dims;
  if (values.count("dim") == 0) return dims;
  for (const std::string& text : values["dim"].as<std::vector<std::string>>()) {
    const size_t equal = text.rfind('=');
    if (equal == std::string::npos || equal == 0) {
      throw Error(ErrorCode::kBadOption,
                  fmt::format("--dim takes NAME=LOW..HIGH, such as x.0=1..64, not {}", graph::in_quotes(text)));
    }
    compiler::SizeBounds& bounds = dims.emplace_back();
    bounds.name = text.substr(0, equal);
    const std::string_view range = std::string_view(text).substr(equal + 1);
    const size_t dots = range.find("..");
    const auto size = [&](std::string_view digits) {
      const uint64_t number = parse_number(digits, "a size of --dim " + bounds.name);
      if (number <= graph::kMostSize) return static_cast<int64_t>(number);
      throw Error(ErrorCode::kBadOption, fmt::format("{} are no bounds for size {}; a size is 1 to {}", range,
                                                     graph::in_quotes(bounds.name), graph::kMostSize));
    };
    bounds.least = size(range.substr(0, dots));
    bounds.most = dots == std::string_view::npos ? bounds.least : size(range.substr(dots + 2));
  }
  return dims;
}

void add_iterations_option(po::options_description& options) {
  options.add_options()("most-iterations", po::value<std::string>()->value_name("N"),
                        "end the job with an error when a loop takes more than N iterations, 10000000 at most, which "
                        "is also what holds without the option");
}

std::optional<uint32_t> iterations_option(const po::variables_map& values) {
  if (values.count("most-iterations") == 0) return std::nullopt;
  const uint64_t number = parse_number(values["most-iterations"].as<std::string>(), "--most-iterations");
  if (number < 1 || number > graph::kMostIterations) {
    throw Error(ErrorCode::kBadOption,
                fmt::format("--most-iterations takes a number from 1 to {}, not {}", graph::kMostIterations, number));
  }
  return static_cast<uint32_t>(number);
}

void add_promote_option(po::options_description& options) {
  options.add_options()("promote", po::value<std::string>()->value_name("fp32"),
                        "compute convolutions and matrix products of floating-point formats that the machine's MXU "
                        "lacks in FP32, where it has that, instead of refusing them");
}

bool promote_option(const po::variables_map& values) {
  if (values.count("promote") == 0) return false;
  const std::string& word = values["promote"].as<std::string>();
  if (word == "fp32") return true;
  throw Error(ErrorCode::kBadOption, fmt::format("--promote takes fp32, not {}", graph::in_quotes(word)));
}

void add_shape_option(po::options_description& options) {
  options.add_options()("shape", po::value<std::vector<std::string>>()->value_name("NAME=5x4"),
                        "sizes of an input, or of a variable, that the network's file leaves open");
}

graph::GivenShapes shape_option(const po::variables_map& values) {
  graph::GivenShapes shapes;
  if (values.count("shape") == 0) return shapes;
  for (const std::string& text : values["shape"].as<std::vector<std::string>>()) {
    const tool::ChosenShape shape = tool::parse_chosen_shape(text);
    if (shapes.emplace(shape.input, shape.sizes).second) continue;
    throw Error(ErrorCode::kBadOption, fmt::format("--shape gives {} twice", graph::in_quotes(shape.input)));
  }
  return shapes;
}

size_t parse_jobs(const std::string& text) {
  constexpr uint64_t kMaxJobs = 256;
  const uint64_t jobs = text.empty() ? std::max(1u, std::thread::hardware_concurrency()) : parse_number(text, "--jobs");
  if (jobs == 0 || jobs > kMaxJobs) {
    throw Error(ErrorCode::kBadOption, fmt::format("--jobs takes 1 to {}, not {}", kMaxJobs, jobs));
  }
  return jobs;
}

}  // namespace npu::cli
