// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/run_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "driver/graph/file.h"
#include "driver/graph/text.h"
#include "firmware/image.h"
#include "hw/contract/error.h"
#include "sim/platform/platform.h"
#include "sim/tool/say.h"

namespace npu::cli {

using contract::ErrorCode;
using tool::say_error;

namespace {

// Of DeviceOptions::log_level: a user who reads the log wants to see every request.
constexpr uint32_t kLogRequests = 3;

// An oversized file is refused before it is read.
constexpr uintmax_t kMaxFirmware = uintmax_t{16} << 20;

// The command that attaches a debugger: an installed program knows the ELF file that was installed with it.
std::string debugger_command(uint16_t port) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  fs::path elf = fs::read_symlink("/proc/self/exe", ignored).parent_path() / "../share/tosa-npu/npu_firmware.elf";
  elf = fs::is_regular_file(elf, ignored) ? elf.lexically_normal() : fs::path(firmware::elf_path());
  const std::string_view sources = firmware::source_root();
  const std::string directory =
      fs::is_directory(sources, ignored) ? fmt::format(" -ex 'directory {}'", sources) : std::string();
  return fmt::format("gdb-multiarch {}{} -ex 'target remote :{}'", elf.string(), directory, port);
}

platform::PlatformOptions platform_options(const RunOptions& options, const presets::Preset& preset,
                                           const FirmwareConsole& console, cosim::BackEnds& back_ends) {
  platform::PlatformOptions machine = platform_options(options.machine, preset);
  connect_back_ends(back_ends, machine);
  if (options.jitter) {
    machine.jitter_seed = options.jitter->first;
    machine.jitter_max_cycles = options.jitter->second;
  }
  machine.faults = options.faults;
  machine.control_cpu = !options.bypass_firmware;
  machine.uart = console.uart();
  machine.gdb_port = options.gdb_port;
  machine.debugger_waiting = [](uint16_t port) {
    say_error("waiting for a debugger at 127.0.0.1:{}: {}\n", port, debugger_command(port));
  };
  return machine;
}

// FILE.sym, which the build leaves beside an image; empty where there is none.
std::string symbols_beside(std::filesystem::path image) {
  image.replace_extension(".sym");
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(image, ignored)) return "";
  const std::vector<uint8_t> text = graph::read_file(image, kMaxFirmware);
  return {text.begin(), text.end()};
}

// The image that --firmware names.
std::vector<uint8_t> read_firmware(const std::string& file) {
  constexpr std::string_view kElf = "\177ELF";
  std::vector<uint8_t> image = graph::read_file(file, kMaxFirmware);
  if (image.empty()) {
    throw Error(ErrorCode::kBadFirmware, fmt::format("{} is empty: it holds no firmware", graph::in_quotes(file)));
  }
  if (image.size() >= kElf.size() && std::equal(kElf.begin(), kElf.end(), image.begin())) {
    throw Error(ErrorCode::kBadFirmware,
                fmt::format("{} is an ELF file; give the .bin beside it", graph::in_quotes(file)));
  }
  return image;
}

}  // namespace

runtime::Device open_device(const RunOptions& options, const presets::Preset& preset, const FirmwareConsole& console,
                            cosim::BackEnds& back_ends) {
  runtime::DeviceOptions driver;
  driver.bypass_firmware = options.bypass_firmware;
  if (!options.firmware.empty()) {
    driver.firmware = read_firmware(options.firmware);
    driver.firmware_symbols = symbols_beside(options.firmware);
  }
  if (options.firmware_log) driver.log_level = kLogRequests;
  try {
    return runtime::Device::open(platform::open_tlm_device(platform_options(options, preset, console, back_ends)),
                                 driver);
  } catch (const Error& error) {
    const bool image = error.code() == ErrorCode::kBadFirmware || error.code() == ErrorCode::kFirmwareMismatch;
    if (!image || options.firmware.empty()) throw;
    throw Error(error.code(), fmt::format("{}: {}", graph::in_quotes(options.firmware), error.what()));
  }
}

std::vector<std::string> inject(const std::vector<Injection>& injections, runtime::Device& device,
                                const runtime::LoadedProgram& program) {
  std::vector<std::string> done;
  for (const Injection& injection : injections) {
    const uint64_t address = program.constant_address(injection.offset);
    std::vector<uint8_t> byte(1);
    device.read_memory(address, byte);
    byte[0] ^= static_cast<uint8_t>(1u << injection.bit);
    device.write_memory(address, byte);
    done.push_back(fmt::format("bit {} of constants byte {} flipped", injection.bit, injection.offset));
  }
  return done;
}

void check_jobs(const std::vector<platform::FaultClause>& faults, int64_t invocations) {
  for (const platform::FaultClause& fault : faults) {
    if (fault.job <= static_cast<uint64_t>(invocations)) continue;
    throw Error(ErrorCode::kBadOption, fmt::format("fault '{}' is for job {}, but this run has {}, one an invocation",
                                                   fault.text, fault.job, invocations));
  }
}

void note_unstruck(const RunOptions& options, runtime::Device& device) {
  namespace reg = contract::reg;
  if (options.faults.empty() || options.bypass_firmware) return;
  const auto note = [](std::string_view hook, const std::string& what) {
    say_error("npu: note: --faults: {} has not struck: {}\n", hook, what);
  };
  if ((device.read_register(reg::kTestHang) & reg::kTestHangEnableMask) != 0) {
    note("hang", "its queue had no such command");
  }
  if (const uint32_t left = device.read_register(reg::kTestBrownout); left > 0) {
    note("brown-out",
         fmt::format("{} more byte{} would have had to be written to variables", left, left == 1 ? "" : "s"));
  }
  if (const uint32_t left = device.read_register(reg::kTestBusError); left > 0) {
    note("bus-error", fmt::format("{} more burst{} would have had to go to DRAM", left, left == 1 ? "" : "s"));
  }
}

}  // namespace npu::cli
