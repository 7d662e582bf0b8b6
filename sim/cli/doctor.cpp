// SPDX-License-Identifier: Apache-2.0
// `npu doctor`: what is missing on this computer, for which purpose, and how to get it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <sstream>

#include "firmware/image.h"
#include "hw/contract/error.h"
#include "hw/contract/gen/commands.h"
#include "hw/presets/preset.h"
#include "sim/cli/command.h"
#include "sim/cli/json_option.h"
#include "sim/cli/options.h"
#include "sim/inspect/feature_support.h"
#include "sim/platform/iss_loader.h"
#include "sim/tool/process.h"

namespace npu::cli {

namespace po = boost::program_options;
namespace fs = std::filesystem;
using contract::ErrorCode;

namespace {

constexpr CommandHelp kDoctorHelp = {
    "npu doctor [options]",
    "Checks the needs of the commands: the machines that come with the program, the firmware and the simulator of the\n"
    "control CPU that runs it, the Python tools of `npu import`, and the packages for building and testing. Says "
    "which\n"
    "profiles and extensions of TOSA the reference and the machines run whole. Exit status 66 when a command of `npu`\n"
    "cannot work; a package that only building and testing need does not change the status.",
    "  npu doctor\n"
    "  npu doctor --json\n"};

struct Check {
  std::string what, needed_for;
  bool ok = false;
  bool required = false;  // by a command of `npu`
  std::string detail;     // what was found, or what is missing
  std::string remedy;     // how to get it; empty when ok
};

Check check_machines() {
  Check check{"machines", "npu run, npu info", true, true, "", ""};
  for (const std::string& name : presets::preset_names()) {
    try {
      static_cast<void>(presets::load_preset(name));
      check.detail += (check.detail.empty() ? "" : ", ") + name;
    } catch (const Error& error) {
      return {check.what, check.needed_for, false, true, error.what(), "build the program again"};
    }
  }
  return check;
}

Check check_import_tools() {
  const std::vector<std::string> programs = {"tosa-converter-for-tflite", "tosa-opt"};
  Check check{"import tools", "npu import", false, true, "", ""};
  if (const auto folder = tool::find_tools(programs)) {
    check.ok = true;
    check.detail = folder->string();
  } else {
    check.detail = fmt::format("{} were not found", fmt::join(programs, " and "));
    check.remedy = "sim/setup.sh python, or name the folder that holds them in NPU_PYTHON_TOOLS";
  }
  return check;
}

// The image that this program boots the control CPU with; the header is what the driver checks, too.
Check check_firmware() {
  Check check{"firmware", "npu run", false, true, "", "build the program again"};
  const std::span<const uint8_t> image = firmware::image();
  if (image.size() < contract::FirmwareHeader::kBytes) {
    check.detail = "the image in this program is truncated";
    return check;
  }
  const auto header = contract::FirmwareHeader::load(image.data());
  check.ok = header.major == contract::kContractMajor && header.minor == contract::kContractMinor;
  check.detail = fmt::format("{} bytes of code, {} of data and stacks, contract {}.{}", header.code_bytes,
                             header.data_bytes, header.major, header.minor);
  if (check.ok) {
    check.remedy.clear();
  } else {
    check.detail += fmt::format(", but this program speaks {}.{}", contract::kContractMajor, contract::kContractMinor);
  }
  return check;
}

// The shared module that executes the firmware.
Check check_iss() {
  try {
    static_cast<void>(platform::load_iss(""));
    return {"CPU simulator", "npu run", true, true, "libnpu_iss.so", ""};
  } catch (const Error& error) {
    return {"CPU simulator", "npu run", false, true, error.what(), "sim/setup.sh build, then build the program again"};
  }
}

// The project's set-up script, when this program still lies in its build folder.
std::optional<fs::path> setup_script() {
  std::error_code failure;
  const fs::path self = fs::read_symlink("/proc/self/exe", failure);
  for (fs::path folder = self.parent_path(); !failure && folder.has_relative_path(); folder = folder.parent_path()) {
    if (fs::is_regular_file(folder / "sim" / "setup.sh", failure)) return folder / "sim" / "setup.sh";
    failure.clear();
  }
  return std::nullopt;
}

std::vector<std::string> missing_packages(const std::vector<std::string>& packages) {
  std::vector<std::string> command = {"/usr/bin/dpkg-query", "-W", "-f=${db:Status-Abbrev} ${Package}\n"};
  command.insert(command.end(), packages.begin(), packages.end());
  std::istringstream lines(tool::run_process(command, "/", "/usr/bin").output);
  std::vector<std::string> installed;
  for (std::string status, package; lines >> status >> package;) {
    if (status.size() > 1 && status[1] == 'i') installed.push_back(package);
  }
  std::vector<std::string> missing;
  for (const std::string& package : packages) {
    if (std::find(installed.begin(), installed.end(), package) == installed.end()) missing.push_back(package);
  }
  return missing;
}

// One check for each group of packages of the set-up script.
std::vector<Check> check_packages() {
  const auto script = setup_script();
  if (!script || !fs::exists("/usr/bin/dpkg-query")) return {};
  const tool::ProcessResult list = tool::run_process({"/bin/bash", script->string(), "--list"}, "/", "/usr/bin");
  if (list.status != 0) return {};
  std::vector<Check> checks;
  std::istringstream lines(list.output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string group;
    words >> group;
    if (group.empty() || group.back() != ':') continue;
    group.pop_back();
    const std::vector<std::string> packages{std::istream_iterator<std::string>(words), {}};
    const std::vector<std::string> missing = missing_packages(packages);
    checks.push_back({fmt::format("packages '{}'", group), group == "build" ? "building" : "development",
                      missing.empty(), false,
                      missing.empty() ? fmt::format("{} installed", packages.size())
                                      : fmt::format("missing: {}", fmt::join(missing, " ")),
                      missing.empty() ? "" : "sim/setup.sh " + group});
  }
  return checks;
}

std::string checks_text(const std::vector<Check>& checks, const std::vector<inspect::FeatureSupport>& features) {
  std::string text;
  for (const Check& check : checks) {
    text += fmt::format("{:<8} {:<18} for {:<18} {}\n", check.ok ? "ok" : "MISSING", check.what, check.needed_for,
                        check.detail);
    if (!check.ok) text += fmt::format("{:<8} {:<18} get it: {}\n", "", "", check.remedy);
  }
  if (!features.empty()) text += "\n" + inspect::to_text(features);
  return text;
}

std::string checks_json(const std::vector<Check>& checks, const std::vector<inspect::FeatureSupport>& features) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Check& check : checks) {
    list.push_back({{"what", check.what},
                    {"needed_for", check.needed_for},
                    {"ok", check.ok},
                    {"required", check.required},
                    {"detail", check.detail},
                    {"remedy", check.remedy}});
  }
  const nlohmann::ordered_json document = {
      {"schema", "npu-doctor"}, {"schema_version", 1}, {"checks", list}, {"features", inspect::to_json(features)}};
  return document.dump(2, ' ', true, nlohmann::json::error_handler_t::replace) + '\n';
}

}  // namespace

int run_doctor(const Arguments& arguments) {
  po::options_description options, hidden;
  po::positional_options_description positional;
  JsonOption json(options, hidden, positional, kJsonHelp);
  std::vector<Given> order;
  const auto values = parse(arguments, kDoctorHelp, options, hidden, positional, &order);
  if (!values) return 0;
  json.read(*values, order, kDoctorHelp, {});
  std::vector<Check> checks = {check_machines(), check_firmware(), check_iss(), check_import_tools()};
  for (Check& check : check_packages()) checks.push_back(std::move(check));
  // Machines that cannot be loaded are the first check's.
  const std::vector<inspect::FeatureSupport> features = checks.front().ok
                                                            ? inspect::inspect_features(inspect::built_in_machines())
                                                            : std::vector<inspect::FeatureSupport>();
  json.tell([&] { return checks_text(checks, features); }, [&] { return checks_json(checks, features); });
  for (const Check& check : checks) {
    if (check.required && !check.ok) {
      throw Error(ErrorCode::kToolMissing,
                  fmt::format("{} cannot work: {}; get it with {}", check.needed_for, check.detail, check.remedy));
    }
  }
  return 0;
}

}  // namespace npu::cli
