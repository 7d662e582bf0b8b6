// SPDX-License-Identifier: Apache-2.0
#include "sim/importer/import_network.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <sstream>
#include <string_view>

#include "driver/graph/file.h"
#include "driver/graph/reader.h"
#include "driver/graph/resolve.h"
#include "driver/graph/text.h"
#include "driver/graph/validate.h"
#include "driver/graph/writer.h"
#include "hw/contract/error.h"
#include "sim/importer/mlir_cleanup.h"
#include "sim/importer/mlir_text.h"
#include "sim/importer/mlir_types.h"
#include "sim/importer/tflite_file.h"
#include "sim/tool/process.h"
#include "sim/tool/temporary_folder.h"

namespace npu::importer {
namespace {

namespace fs = std::filesystem;
using contract::ErrorCode;

constexpr const char* kConverter = "tosa-converter-for-tflite";
constexpr const char* kOptimiser = "tosa-opt";
// Formats with 32-bit offsets cannot be larger, and text is not worth more.
constexpr uintmax_t kMaxFile = uintmax_t{2} << 30;

enum class Kind { kTflite, kMlir };

// What cannot be read is refused as everywhere, before the tools say it in their way.
Kind kind_of(const fs::path& path) {
  constexpr uintmax_t kHead = 4096;
  const std::vector<uint8_t> bytes = graph::read_head(path, kMaxFile, kHead);
  const std::string_view head(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::string_view identifier = head.size() < 8 ? std::string_view() : head.substr(4, 4);
  if (identifier == "TFL3") return Kind::kTflite;
  if (head.starts_with("ML\xefR")) return Kind::kMlir;
  const std::string quoted = graph::in_quotes(path.string());
  if (identifier == "TOSA") {
    throw Error(ErrorCode::kFileDamaged, fmt::format("{} is a .tosa file already: it needs no import", quoted));
  }
  const std::string ending = path.extension().string();
  const bool text = std::none_of(bytes.begin(), bytes.end(), [](uint8_t byte) { return byte == 0; });
  if (ending == ".tflite" || bytes.empty() || !text || head.starts_with("\x1f\x8b")) {
    throw Error(ErrorCode::kFileDamaged, fmt::format("{} is neither a TensorFlow Lite file nor MLIR: it is {}", quoted,
                                                     bytes.empty()                  ? "empty"
                                                     : head.starts_with("\x1f\x8b") ? "compressed, so gunzip it first"
                                                     : text                         ? "text, but named .tflite"
                                                            : "none of the binary formats that are known here"));
  }
  return Kind::kMlir;
}

std::string read_text(const fs::path& path) {
  const std::vector<uint8_t> bytes = graph::read_file(path, UINTMAX_MAX);
  return {bytes.begin(), bytes.end()};
}

[[noreturn]] void cannot_write(const fs::path& path, const std::error_code& error) {
  throw Error(ErrorCode::kCannotWrite, fmt::format("cannot write {}: {}", path.string(), error.message()));
}

void write_text(const fs::path& path, const std::string& text) {
  graph::write_file(path, {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

// What a tool said that tells most: its first line with "error:" in it, else its last one with "error", else its last.
std::string essence(const std::string& output) {
  std::istringstream lines(output);
  std::string last, error;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    last = line;
    if (line.find("rror") != std::string::npos) error = line;
    if (line.find("error: ") != std::string::npos) break;
  }
  std::string text = error.empty() ? last : error;
  constexpr size_t kLongest = 300;
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  return text;
}

// What a tool says of a file that it got instead of the user's.
std::string without_made(std::string text) {
  constexpr std::string_view kMade = "made/clean.mlir:";
  for (size_t at = text.find(kMade); at != std::string::npos; at = text.find(kMade)) {
    size_t end = at + kMade.size();
    while (end < text.size() && (std::isdigit(static_cast<unsigned char>(text[end])) != 0 || text[end] == ':')) ++end;
    if (end < text.size() && text[end] == ' ') ++end;
    text.erase(at, end - at);
  }
  return text;
}

// The programs of the Python environment, and a folder to work in that is gone afterwards.
class Tools {
 public:
  Tools(const std::vector<std::string>& programs, fs::path source) : source_(std::move(source)) {
    const auto found = tool::find_tools(programs);
    if (!found) {
      throw Error(ErrorCode::kToolMissing,
                  fmt::format("{} {} not found: run sim/setup.sh python, or name their folder in NPU_PYTHON_TOOLS",
                              fmt::join(programs, " and "), programs.size() > 1 ? "were" : "was"));
    }
    folder_ = *found;
    std::error_code error;
    if (!fs::create_directory(work("made"), error)) cannot_write(work("made"), error);
  }

  [[nodiscard]] fs::path work(const std::string& name) const { return work_.path() / name; }

  [[nodiscard]] tool::ProcessResult run(const std::string& program, std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), (folder_ / program).string());
    return tool::run_process(arguments, work_.path(), folder_);
  }

  [[noreturn]] void fail(const std::string& program, const tool::ProcessResult& result) const {
    throw Error(ErrorCode::kToolFailed,
                fmt::format("{} failed on {} with status {}: {}", program, graph::in_quotes(source_.string()),
                            result.status, without_made(essence(result.output))));
  }

  void must_run(const std::string& program, const std::vector<std::string>& arguments) const {
    const tool::ProcessResult result = run(program, arguments);
    if (result.status == 0) return;
    if (result.output.find("couldn't parse flatbuffer") != std::string::npos) {
      throw Error(ErrorCode::kFileDamaged, fmt::format("{} is not a whole TensorFlow Lite file: {} cannot parse it",
                                                       graph::in_quotes(source_.string()), program));
    }
    fail(program, result);
  }

 private:
  fs::path source_, folder_;
  tool::TemporaryFolder work_;
};

// A name that tools neither take for an option nor print in another way: locations keep it.
std::string plain_name(const fs::path& source) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  const std::string name = source.filename().string();
  const bool plain = name.find_first_not_of(kPlain) == std::string::npos && !name.starts_with('-');
  const bool known = source.extension().string().starts_with(".mlir") || source.extension() == ".tflite";
  return plain && known ? name : "network.mlir";
}

// "net.mlir:3:8: error: ..." of a tool as "line 3: ...".
std::string without_file(const std::string& message, const std::string& file) {
  std::string text = message;
  if (!text.starts_with(file + ":")) return text;
  text.erase(0, file.size() + 1);
  const std::string line = text.substr(0, text.find(':'));
  const size_t error = text.find("error: ");
  if (error == std::string::npos) return text;
  text = text.substr(error + 7);
  return line == "0" ? text : fmt::format("line {}: {}", line, text);
}

// Whether the first error of the tool is about an operation that is not TOSA: one that it does not know, or one of
// another dialect that it does know.
bool is_about_foreign(const std::string& output) {
  constexpr std::string_view kError = "error: ";
  const std::string_view message = std::string_view(output).substr(output.find(kError) + kError.size());
  const std::string_view line = message.substr(0, message.find('\n'));
  if (line.find("' not found for custom op '") != std::string_view::npos) return true;
  if (line.find("unregistered operation '") != std::string_view::npos) return true;
  return line.starts_with('\'') && !line.starts_with("'tosa.") && !line.starts_with("'func.") &&
         !line.starts_with("'builtin.") && line.find("' op ") != std::string_view::npos;
}

// The type in the tool's first error, where that says of one that it is none of an operand or result.
std::string refused_type(const std::string& output) {
  constexpr std::string_view kGot = ", but got '";
  const std::string message = essence(output);
  const size_t at = message.find(kGot);
  if (at == std::string::npos || !message.ends_with('\'')) return "";
  return message.substr(at + kGot.size(), message.size() - at - kGot.size() - 1);
}

// MLIR in its generic form, whatever form the file has.
std::string generic_form(const Tools& tools, const std::string& file, std::string_view source) {
  const tool::ProcessResult result = tools.run(
      kOptimiser, {"--allow-unregistered-dialect", "--mlir-print-op-generic", "--mlir-print-debuginfo",
                   "--mlir-print-unique-ssa-ids", "--mlir-disable-diagnostic-notes", file, "-o", "made/generic.mlir"});
  if (result.status == 0) return read_text(tools.work("made/generic.mlir"));
  if (result.status != 1 || result.output.find("error: ") == std::string::npos) tools.fail(kOptimiser, result);
  if (const std::string type = refused_type(result.output); !has_known_element(type)) {
    throw Error(ErrorCode::kTypeUnsupported,
                fmt::format("{} has the type {}, which TOSA 1.0 does not have; export the network with other types",
                            source, type));
  }
  throw Error(is_about_foreign(result.output) ? ErrorCode::kOperatorUnsupported : ErrorCode::kFileDamaged,
              fmt::format("{} is not MLIR in the TOSA dialect of {}: {}", source, kOptimiser,
                          without_file(essence(result.output), file)));
}

// Makes made/out.tosa of MLIR that lies in the folder for work.
void serialise(const Tools& tools, const std::string& file, std::string_view source, std::string_view function,
               const std::vector<LstmFacts>* converted) {
  write_text(tools.work("made/clean.mlir"), clean_mlir(generic_form(tools, file, source), source, function, converted));
  tools.must_run(kOptimiser, {"--allow-unregistered-dialect", "--tosa-attach-target=specification_version=1.0",
                              "--tosa-serialize=retain-graph-input-output-names tosa-flatbuffer-filename=made/out.tosa",
                              "made/clean.mlir", "-o", "/dev/null"});
}

// Puts MLIR into the folder for work, under its own name, which messages and the locations of operators have. Returns
// that name.
std::string place_mlir(const Tools& tools, const fs::path& source) {
  std::string file = plain_name(source);
  std::string text = read_text(source);
  if (!text.starts_with("ML\xefR") && text.find("!quant.") != std::string::npos) {
    write_text(tools.work(file), without_quantisation(text));
    return file;
  }
  std::error_code error;
  fs::create_symlink(fs::absolute(source), tools.work(file), error);
  if (error) cannot_write(tools.work(file), error);
  return file;
}

std::string kept_state(const std::string& source, size_t lstms) {
  return fmt::format(
      "{}: the state of its {} stays in variables from one invocation to the next, as TensorFlow Lite keeps it; each "
      "npu "
      "run starts it at zero unless --resume continues an earlier one",
      source, lstms == 1 ? "LSTM" : fmt::format("{} LSTMs", lstms));
}

graph::Graph parse(std::vector<uint8_t> made, const fs::path& source) {
  return graph::parse_tosa(std::make_shared<const std::vector<uint8_t>>(std::move(made)), source.string());
}

// The file that was made of MLIR, with errors that name the user's. Sizes that it leaves open are those of `shapes`, or
// stay so.
std::vector<uint8_t> checked_mlir(std::vector<uint8_t> made, const fs::path& source, const graph::GivenShapes& shapes) {
  graph::Graph graph = parse(made, source);
  if (!graph::has_unknown_sizes(graph)) {
    static_cast<void>(graph::static_form(std::move(graph)));
    if (shapes.empty()) return made;
    throw Error(ErrorCode::kBadOption,
                fmt::format("{} leaves no size open: leave out --shape", graph::in_quotes(source.string())));
  }
  graph::validate(graph, graph::Sizes::kMayBeUnknown);
  if (shapes.empty()) return made;
  const graph::Graph fixed = graph::resolve(graph, shapes);
  graph::validate(fixed);
  return graph::serialize(fixed);
}

// Of TensorFlow Lite no size is left open.
void check_tflite(const std::vector<uint8_t>& made, const fs::path& source, bool chosen_shapes) {
  try {
    static_cast<void>(graph::static_form(parse(made, source)));
  } catch (const Error& error) {
    if (!chosen_shapes) throw;
    throw Error(
        ErrorCode::kArgumentUnsupported,
        fmt::format("{} cannot have the sizes of --shape, since sizes in it do not follow from its inputs'; export it "
                    "for them ({})",
                    graph::in_quotes(source.string()), error.what()));
  }
}

}  // namespace

std::vector<std::string> import_network(const fs::path& source, const fs::path& tosa, const ImportOptions& options) {
  const Kind kind = kind_of(source);
  const std::string quoted = graph::in_quotes(source.string());
  const Tools tools(
      kind == Kind::kTflite ? std::vector<std::string>{kConverter, kOptimiser} : std::vector<std::string>{kOptimiser},
      source);
  std::vector<std::string> notes;
  if (kind == Kind::kTflite) {
    TfliteFile network(graph::read_file(source, kMaxFile), quoted, options.function);
    notes = network.fix_shapes(options.shapes);
    graph::write_file(tools.work("made/fixed.tflite"), network.bytes());
    const std::string file = plain_name(source);
    tools.must_run(kConverter, {"--text", "made/fixed.tflite", "-o", file});
    const std::vector<LstmFacts> lstms = network.lstms();
    serialise(tools, file, quoted, options.function, &lstms);
    if (!lstms.empty()) notes.push_back(kept_state(quoted, lstms.size()));
  } else {
    serialise(tools, place_mlir(tools, source), quoted, options.function, nullptr);
  }
  std::vector<uint8_t> made = graph::read_file(tools.work("made/out.tosa"), UINTMAX_MAX);
  if (kind == Kind::kTflite) {
    check_tflite(made, source, !options.shapes.empty());
  } else {
    made = checked_mlir(std::move(made), source, options.shapes);
  }
  graph::write_file(tosa, made);
  return notes;
}

}  // namespace npu::importer
