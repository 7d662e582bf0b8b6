// SPDX-License-Identifier: Apache-2.0
// Parsing of a subcommand's arguments with Boost.Program_options, with errors as npu::Error.
#pragma once

#include <boost/program_options.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "driver/compiler/bounds.h"
#include "driver/graph/resolve.h"
#include "sim/cli/command.h"

namespace npu::cli {

struct CommandHelp {
  std::string_view usage;     // "npu info FILE [options]"
  std::string_view text;      // what it does
  std::string_view examples;  // indented lines
};

// The words of the usage in front that are to be typed as they are: "npu state list" of "npu state list FILE
// [options]".
[[nodiscard]] std::string_view command_of(const CommandHelp& help);

// An option or argument as it stands on the command line.
struct Given {
  std::string option;  // its long name, for an argument that of its hidden option
  std::string value;   // empty for an option without one
};

// A hidden option of the commands whose --json may stand without FILE: what --json=FILE gives. Boost's options with an
// optional value would take an argument behind --json for it.
inline constexpr const char* kJsonEquals = "json-equals";

// `options` are shown in the help; `positional` go, in order, to hidden options of type string, the last of which may
// take the rest. `order` gets all that was given, in order. Returns nullopt after printing the help for --help. Throws
// Error(kBadOption).
[[nodiscard]] std::optional<boost::program_options::variables_map> parse(
    const Arguments& arguments, const CommandHelp& help, boost::program_options::options_description options,
    const boost::program_options::options_description& hidden,
    const boost::program_options::positional_options_description& positional, std::vector<Given>* order = nullptr);

// The value of an option that must be there; `what` completes "... is missing".
[[nodiscard]] std::string required(const boost::program_options::variables_map& values, const char* option,
                                   std::string_view what, std::string_view command = "");

// The value of an option that names a file or a folder to read or write; empty without the option. Throws
// Error(kBadOption) when it is given with an empty name: what a script's unset variable leaves would pass for not
// given.
[[nodiscard]] std::string file_option(const boost::program_options::variables_map& values, const char* option);

// A decimal number. Throws Error(kBadOption) naming the option.
[[nodiscard]] uint64_t parse_number(std::string_view text, std::string_view option);

// --dim NAME=LOW..HIGH, any number of times; the bounds of sizes that a network leaves open. Throws Error(kBadOption).
[[nodiscard]] std::vector<compiler::SizeBounds> dim_option(const boost::program_options::variables_map& values);

// --shape NAME=5x4, any number of times: sizes of inputs, or of variables, that the network's file leaves open.
void add_shape_option(boost::program_options::options_description& options);
// Throws Error(kBadOption), also for a name that is given twice.
[[nodiscard]] graph::GivenShapes shape_option(const boost::program_options::variables_map& values);

// --most-iterations N: of each loop.
void add_iterations_option(boost::program_options::options_description& options);
// Nullopt without the option. Throws Error(kBadOption) for what the device does not count to.
[[nodiscard]] std::optional<uint32_t> iterations_option(const boost::program_options::variables_map& values);

// --promote fp32: products of floating-point formats that the MXU lacks (driver/compiler/promote.h).
void add_promote_option(boost::program_options::options_description& options);
// Whether it is given. Throws Error(kBadOption) for another word.
[[nodiscard]] bool promote_option(const boost::program_options::variables_map& values);

// The number of --jobs; as many as processors when the text is empty. Throws Error(kBadOption).
[[nodiscard]] size_t parse_jobs(const std::string& text);

}  // namespace npu::cli
