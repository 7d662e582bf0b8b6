// SPDX-License-Identifier: Apache-2.0
// `npu`: dispatches to the subcommands and turns errors into one sentence and an exit status.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <exception>
#include <filesystem>
#include <new>
#include <system_error>

#include "driver/graph/text.h"
#include "hw/contract/error.h"
#include "hw/contract/gen/commands.h"
#include "hw/contract/suggestion.h"
#include "sim/cli/command.h"
#include "sim/tool/say.h"
#include "sim/tool/stop.h"

namespace npu::cli {

using tool::say;
using tool::say_error;

namespace {

using contract::ErrorCode;

constexpr std::array kCommands = {
    Command{"info", "what a network is, needs and costs, and what a machine supports of it", run_info},
    Command{"compile", "compile a network for a machine, into a file that runs without it", run_compile},
    Command{"run", "run a network on the simulated NPU and report its cycles", run_run},
    Command{"what-if", "run a network on machines that differ in one resource, and say which change saves most",
            run_what_if},
    Command{"replay", "run one tile again on model and RTL, with a waveform", run_replay},
    Command{"reference", "run a network on the bit-exact software reference", run_reference},
    Command{"state", "list, compare, clear and check saved variables", run_state},
    Command{"stream", "run several streaming networks at once on one simulated NPU", run_stream},
    Command{"conformance", "run official conformance tests on the software reference", run_conformance},
    Command{"cosim", "compare RTL with model and reference, for a list of networks, operators and trials", run_cosim},
    Command{"operators", "the operators of TOSA, and what the reference and a machine run of them", run_operators},
    Command{"machine", "list the machines that come with the program, or print one as a file", run_machine},
    Command{"import", "convert a .tflite or .mlir file to .tosa", run_import},
    Command{"resolve", "give the sizes that a network's file leaves open, and write it with fixed ones", run_resolve},
    Command{"doctor", "say what is missing on this computer and how to get it", run_doctor},
};

constexpr std::string_view kExitStatuses =
    "exit status: 0 valid, 1 unpredictable, 2 illegal graph, 3 unsupported, 4 does not fit, 5 device fault,\n"
    "             6 state lost, 7 check failed, 64 usage, 66 cannot read or write a file, 70 internal\n";

std::string usage() {
  std::string text =
      "npu: program, measure and verify an NPU before it exists\n\n"
      "usage: npu COMMAND ...\n\n";
  for (const Command& command : kCommands) text += fmt::format("  {:<11} {}\n", command.name, command.summary);
  text +=
      "\n'npu COMMAND --help' explains a command, with examples. 'npu --version' prints the version.\n\n"
      "first steps: npu doctor\n"
      "             npu info network.tosa\n"
      "             npu run network.tosa --input input.npy --check reference\n\n";
  return text + std::string(kExitStatuses);
}

int dispatch(const Arguments& arguments) {
  if (arguments.empty()) {
    tool::say_error_text(usage());
    throw Error(ErrorCode::kBadOption, "no command was given");
  }
  const std::string& first = arguments.front();
  if (first == "--help" || first == "-h" || first == "help") {
    tool::say_text(usage());
    return 0;
  }
  if (first == "--version") {
    say("npu {} (contract {}.{})\n", NPU_VERSION, contract::kContractMajor, contract::kContractMinor);
    return 0;
  }
  const auto command = std::find_if(kCommands.begin(), kCommands.end(), [&](const auto& c) { return c.name == first; });
  if (command == kCommands.end()) {
    std::vector<std::string> names;
    for (const Command& known : kCommands) names.emplace_back(known.name);
    throw Error(ErrorCode::kBadOption,
                fmt::format("there is no command '{}'; see npu --help{}", first, contract::did_you_mean(first, names)));
  }
  return command->run({arguments.begin() + 1, arguments.end()});
}

int report(ErrorCode code, std::string message) {
  while (!message.empty() && (message.back() == '.' || message.back() == '\n')) message.pop_back();
  // Names in it may come out of hostile files.
  say_error("npu: error: {} [{}]\n", graph::printable(message, message.size()), contract::name(code));
  return contract::exit_status(code);
}

// What was printed may sit in a buffer until now: a full disk must not pass for success, nor hide another failure.
int flushed(int status) {
  if (tool::output_is_whole() || status != 0) return status;
  return report(ErrorCode::kCannotWrite, "cannot write to the standard output");
}

// The outputs of a run stay open until all of them are written: as many as the system allows, not as it allows at
// first.
void allow_many_files() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  static_cast<void>(setrlimit(RLIMIT_NOFILE, &limit));
}

}  // namespace

std::span<const Command> commands() { return kCommands; }

}  // namespace npu::cli

int main(int argc, char** argv) {
  using npu::contract::ErrorCode;
  npu::tool::prepare_output();
  npu::tool::clean_up_on_signals();
  npu::cli::allow_many_files();
  std::signal(SIGXFSZ, SIG_IGN);  // so that writing beyond a limit fails as on a full disk, and cleans up
  try {
    return npu::cli::flushed(npu::cli::dispatch({argv + 1, argv + argc}));
  } catch (const npu::Error& error) {
    return npu::cli::report(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return npu::cli::report(ErrorCode::kBudgetExceeded, "this computer has not enough memory for that");
  } catch (const std::filesystem::filesystem_error& error) {
    return npu::cli::report(ErrorCode::kCannotRead, error.what());
  } catch (const std::system_error& error) {
    return npu::cli::report(ErrorCode::kBudgetExceeded, std::string("the system refuses it: ") + error.what());
  } catch (const std::exception& error) {
    return npu::cli::report(ErrorCode::kBug, std::string("internal error: ") + error.what());
  }
}
