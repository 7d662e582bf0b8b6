// SPDX-License-Identifier: Apache-2.0
// The subcommands of `npu`. Each has a file of its own.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace npu::cli {

using Arguments = std::vector<std::string>;

struct Command {
  std::string_view name;
  std::string_view summary;
  // Gets what follows the name on the command line; returns the exit status. Throws Error.
  int (*run)(const Arguments& arguments);
};

int run_info(const Arguments& arguments);
int run_compile(const Arguments& arguments);
int run_run(const Arguments& arguments);
int run_what_if(const Arguments& arguments);
int run_replay(const Arguments& arguments);
int run_reference(const Arguments& arguments);
int run_state(const Arguments& arguments);
int run_stream(const Arguments& arguments);
int run_conformance(const Arguments& arguments);
int run_cosim(const Arguments& arguments);
int run_operators(const Arguments& arguments);
int run_machine(const Arguments& arguments);
int run_resolve(const Arguments& arguments);
int run_import(const Arguments& arguments);
int run_doctor(const Arguments& arguments);

// All of them, in the order of the help text.
[[nodiscard]] std::span<const Command> commands();

}  // namespace npu::cli
