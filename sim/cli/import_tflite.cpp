#include "sim/cli/import_tflite.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <sstream>

#include "driver/graph/file.h"
#include "driver/graph/reader.h"
#include "driver/graph/validate.h"
#include "hw/contract/error.h"
#include "sim/cli/mlir_cleanup.h"
#include "sim/cli/process.h"
#include "sim/cli/temporary_folder.h"

namespace npu::cli {
namespace {

namespace fs = std::filesystem;
using contract::ErrorCode;

constexpr const char* kConverter = "tosa-converter-for-tflite";
constexpr const char* kOptimiser = "tosa-opt";
// Of a TensorFlow Lite file: the format has 32-bit offsets.
constexpr uintmax_t kMaxFile = uintmax_t{2} << 30;

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) throw Error(ErrorCode::kCannotRead, fmt::format("cannot read {}", path.string()));
  return std::move(text).str();
}

void write_text(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw Error(ErrorCode::kCannotWrite, fmt::format("cannot write {}", path.string()));
}

// What a tool said that tells most: its last line with "error" in it, else its last line.
std::string essence(const std::string& output) {
  std::istringstream lines(output);
  std::string last, error;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    last = line;
    if (line.find("rror") != std::string::npos) error = line;
  }
  std::string text = error.empty() ? last : error;
  constexpr size_t kLongest = 300;
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  return text;
}

void run_tool(const fs::path& tools, const fs::path& folder, std::vector<std::string> arguments,
              const fs::path& source) {
  const std::string name = arguments.front();
  arguments.front() = (tools / name).string();
  const ProcessResult result = run_process(arguments, folder, tools);
  if (result.status != 0) {
    throw Error(ErrorCode::kToolFailed, fmt::format("{} failed on {} with status {}: {}", name, source.string(),
                                                    result.status, essence(result.output)));
  }
}

// Copies under a temporary name beside `to`, checks what was copied, then renames.
void deliver(const fs::path& from, const fs::path& to) {
  fs::path temporary = to;
  temporary += ".tmp";
  std::error_code error;
  fs::copy_file(from, temporary, fs::copy_options::overwrite_existing, error);
  if (!error) fs::rename(temporary, to, error);
  if (error) {
    std::error_code ignored;
    fs::remove(temporary, ignored);
    throw Error(ErrorCode::kCannotWrite, fmt::format("cannot write {}: {}", to.string(), error.message()));
  }
}

}  // namespace

void import_tflite(const fs::path& tflite, const fs::path& tosa) {
  // What cannot be read is refused as everywhere, before the tools say it in their way.
  (void)graph::read_file(tflite, kMaxFile);
  const auto tools = find_tools({kConverter, kOptimiser});
  if (!tools) {
    throw Error(
        ErrorCode::kToolMissing,
        fmt::format("{} and {} were not found: run sim/setup.sh python, or name their folder in NPU_PYTHON_TOOLS",
                    kConverter, kOptimiser));
  }
  const TemporaryFolder work;
  const fs::path raw = work.path() / "raw.mlir";
  run_tool(*tools, work.path(), {kConverter, "--text", fs::absolute(tflite).string(), "-o", raw.string()}, tflite);
  const std::string text = read_text(raw);
  if (const auto left = foreign_operations(text); !left.empty()) {
    throw Error(ErrorCode::kOperatorUnsupported,
                fmt::format("{} has operators that the converter cannot express in TOSA: {}", tflite.string(),
                            fmt::join(left, ", ")));
  }
  // The serialiser records the path of its input as it is given, so it gets a bare name.
  write_text(work.path() / "clean.mlir", clean_mlir(text));
  run_tool(*tools, work.path(),
           {kOptimiser, "--tosa-convert-integer-type-to-signless", "--tosa-attach-target=specification_version=1.0",
            "--tosa-serialize", "--tosa-flatbuffer-filename=out.tosa", "clean.mlir"},
           tflite);
  const fs::path serialised = work.path() / "out.tosa";
  graph::validate(graph::read_tosa(serialised));
  deliver(serialised, tosa);
}

}  // namespace npu::cli
