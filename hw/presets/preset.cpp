// SPDX-License-Identifier: Apache-2.0
#include "hw/presets/preset.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>

#include "hw/contract/suggestion.h"
#include "hw/presets/embedded.h"
#include "hw/presets/yaml_document.h"

namespace npu::presets {
namespace {

using contract::ErrorCode;

constexpr size_t kMaxFileBytes = 65536;
constexpr uint32_t kMostRefreshPercent = 90;  // of the time of the DRAM
// The firmware works in pieces of at most 1 ms (its watchdog), of which the longest takes some 70 accesses.
constexpr uint64_t kLeastAccesses = 150;
constexpr uint64_t kAccessBytes = 64;  // of DRAM, whatever the control CPU asks for

// Accesses of the control CPU to DRAM in 1 ms, each to a row that a refresh has closed.
uint64_t accesses_per_ms(const Dram& dram) {
  const uint64_t transfers = std::max<uint64_t>(kAccessBytes / (dram.bus_bits / 8), 1);
  uint64_t access_ns = dram.t_rcd_ns + dram.t_cas_ns + transfers * 1000 / dram.data_rate_mts + 1;
  if (dram.refresh_by_bank != 0) access_ns += dram.t_rp_ns;  // closes the row before its refresh
  const uint64_t between = dram.t_refi_ns - dram.t_rfc_ns;
  // Refreshes that come due while an access is longer than the time between them are made up for behind it.
  if (access_ns > between) return between * 1'000'000 / (dram.t_refi_ns * access_ns);
  return between / access_ns * 1'000'000 / dram.t_refi_ns;
}

// A DRAM key with its allowed values; capabilities have theirs in the contract.
struct DramKey {
  std::string_view name;
  std::string_view unit;
  uint32_t min;
  uint32_t max;
  bool power_of_two;
  uint32_t Dram::*member;
  enum { kAlways, kRows, kLatency } of = kRows;  // the kind of memory that has it
  bool optional = false;                         // 0 without it
};

constexpr std::array<DramKey, 14> kDramKeys = {{
    {"data_rate_mts", "MT/s", 50, 20000, false, &Dram::data_rate_mts, DramKey::kAlways},
    {"bus_bits", "bits", 8, 8192, true, &Dram::bus_bits, DramKey::kAlways},
    {"latency_ns", "ns", 1, 1000, false, &Dram::latency_ns, DramKey::kLatency},
    {"banks", "banks", 1, 256, true, &Dram::banks},
    {"row_bytes", "bytes", 256, 65536, true, &Dram::row_bytes},
    {"t_rcd_ns", "ns", 1, 1000, false, &Dram::t_rcd_ns},
    {"t_rp_ns", "ns", 1, 1000, false, &Dram::t_rp_ns},
    {"t_cas_ns", "ns", 1, 1000, false, &Dram::t_cas_ns},
    {"t_ras_ns", "ns", 1, 1000, false, &Dram::t_ras_ns},
    {"t_wr_ns", "ns", 1, 1000, false, &Dram::t_wr_ns},
    {"t_refi_ns", "ns", 100, 1000000, false, &Dram::t_refi_ns},
    {"t_rfc_ns", "ns", 1, 100000, false, &Dram::t_rfc_ns},
    {"refreshes_postponed", "refreshes", 0, 8, false, &Dram::refreshes_postponed, DramKey::kRows, true},
    {"refresh_by_bank", "0 or 1", 0, 1, false, &Dram::refresh_by_bank, DramKey::kRows, true},
}};

// A parser's message may quote a character of the file as it is, a line end too.
std::string without_control(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; }, ' ');
  return text;
}

bool has(const Dram& dram, const DramKey& key) {
  return key.of == DramKey::kAlways || (key.of == DramKey::kLatency) == (dram.latency_ns > 0);
}

// The files being read, the first one outermost: each names the next one as its base.
using Chain = std::vector<std::filesystem::path>;

Preset load_machine(const std::string& name_or_path, const std::filesystem::path& folder, const Chain& chain);

class Parser {
 public:
  // `folder` is where a base is looked for; `chain` ends with the file whose text is parsed.
  Parser(std::string source, std::filesystem::path folder, Chain chain, bool may_have_base = true)
      : source_(std::move(source)), folder_(std::move(folder)), chain_(std::move(chain)), bases_(may_have_base) {}

  Preset parse(const std::string& name, const std::string& text) {
    const YAML::Node root = load(text);
    const bool has_base = bases_ && has_key(root, "base");
    std::set<std::string> known{"dram"};
    if (has_base) known.emplace("base");
    std::set<std::string> needed{"dram"};
    for (const auto& info : contract::kCapabilities) {
      known.emplace(info.name);
      if (!info.otherwise) needed.emplace(info.name);
    }
    check_keys(root, "", known, has_base ? std::set<std::string>() : needed);
    Preset preset = has_base ? load_base(child(root, "base")) : Preset{};
    preset.name = name;
    for (const auto& info : contract::kCapabilities) {
      if (has_key(root, info.name)) {
        preset.caps.*info.member = number(root, "", info.name, info.unit, info.min, info.max, info.power_of_two);
      } else if (!has_base) {
        preset.caps.*info.member = *info.otherwise * (info.times == nullptr ? 1 : preset.caps.*info.times);
      }
    }
    if (has_key(root, "dram")) parse_dram(child(root, "dram"), has_base, preset.dram);
    check_together(preset);
    return preset;
  }

 private:
  // The machine whose values hold where this file gives none. It must be a whole machine itself.
  [[nodiscard]] Preset load_base(const YAML::Node& node) const {
    const std::string base = node.IsScalar() ? node.Scalar() : "";
    if (base.empty()) fail("base must be the name of a machine or the path of its YAML file");
    try {
      return load_machine(base, folder_, chain_);
    } catch (const Error& error) {
      throw Error(error.code(), source_ + ": base: " + error.what());
    }
  }

  [[noreturn]] void fail(const std::string& what) const { throw Error(ErrorCode::kBadPreset, source_ + ": " + what); }

  YAML::Node load(const std::string& text) const {
    if (text.size() > kMaxFileBytes) {
      fail("has " + std::to_string(text.size()) + " bytes; a machine's file has at most " +
           std::to_string(kMaxFileBytes));
    }
    try {
      const std::optional<YAML::Node> document = only_document(text);
      if (!document || !document->IsMap()) fail("must be one YAML mapping with keys such as 'clock_mhz' and 'dram'");
      return *document;
    } catch (const YAML::Exception& error) {
      fail("line " + std::to_string(error.mark.line + 1) + " is not valid YAML: " + without_control(error.msg));
    }
  }

  // yaml-cpp keeps duplicate keys and finds the first one, so they are looked for here.
  void check_keys(const YAML::Node& map, const std::string& prefix, const std::set<std::string>& known,
                  const std::set<std::string>& needed) const {
    std::set<std::string> seen;
    for (const auto& entry : map) {
      if (!entry.first.IsScalar()) fail("a key is a list or a mapping; keys are names such as 'clock_mhz'");
      const std::string& key = entry.first.Scalar();
      if (!known.contains(key)) fail("the key '" + prefix + shortened(key) + "' is unknown" + did_you_mean(key, known));
      if (!seen.insert(key).second) fail("the key '" + prefix + key + "' appears twice");
    }
    for (const std::string& key : needed) {
      if (!seen.contains(key))
        fail("the key '" + prefix + key + "' is missing (behind 'base: edge', it would be edge's)");
    }
  }

  // operator[] of a mapping compares by conversion; this looks the key up as it is written.
  static YAML::Node child(const YAML::Node& map, std::string_view key) {
    for (const auto& entry : map) {
      if (entry.first.Scalar() == key) return entry.second;
    }
    return {};
  }

  static bool has_key(const YAML::Node& map, std::string_view key) {
    return std::any_of(map.begin(), map.end(), [&](const auto& entry) { return entry.first.Scalar() == key; });
  }

  uint32_t number(const YAML::Node& map, const std::string& prefix, std::string_view key, std::string_view unit,
                  uint32_t min, uint32_t max, bool power_of_two) const {
    const YAML::Node node = child(map, key);
    const std::string text = node.IsScalar() ? node.Scalar() : "not a number";
    uint32_t value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = problem == std::errc() && end == text.data() + text.size();
    if (!whole || value < min || value > max || (power_of_two && (value & (value - 1)) != 0)) {
      fail(prefix + std::string(key) + " is " + shortened(text) + ", but must be a " +
           (power_of_two ? "power of two" : "whole number") + " from " + std::to_string(min) + " to " +
           std::to_string(max) + " (" + std::string(unit) + ")");
    }
    return value;
  }

  // `dram` holds the base's values, if there is a base.
  void parse_dram(const YAML::Node& node, bool has_base, Dram& dram) const {
    if (!node.IsMap()) fail("dram must be a mapping with keys such as 'data_rate_mts'");
    std::set<std::string> known{"name"}, needed{"name"};
    if (has_key(node, "latency_ns")) dram.latency_ns = 1;  // for now; it is read below
    for (const DramKey& key : kDramKeys) {
      known.emplace(key.name);
      if (has(dram, key)) {
        if (!key.optional) needed.emplace(key.name);
      } else if (has_key(node, key.name)) {
        fail("dram." + std::string(key.name) + " has no meaning where dram.latency_ns is the latency of each access");
      } else {
        dram.*key.member = 0;
      }
    }
    check_keys(node, "dram.", known, has_base ? std::set<std::string>() : needed);
    if (has_key(node, "name")) dram.name = dram_name(child(node, "name"));
    for (const DramKey& key : kDramKeys) {
      if (!has_key(node, key.name)) continue;
      dram.*key.member = number(node, "dram.", key.name, key.unit, key.min, key.max, key.power_of_two);
    }
  }

  [[nodiscard]] std::string dram_name(const YAML::Node& node) const {
    std::string name = node.IsScalar() ? node.Scalar() : "";
    if (name.empty() || name.size() > 64 ||
        !std::all_of(name.begin(), name.end(), [](unsigned char c) { return c >= ' ' && c != 0x7f; })) {
      fail("dram.name must be a text of 1 to 64 printable characters");
    }
    return name;
  }

  // A relation between two values; `rule` says what must hold.
  void require(bool holds, std::string_view key, uint64_t value, const std::string& rule) const {
    if (!holds) fail(std::string(key) + " is " + std::to_string(value) + ", but must be " + rule);
  }

  void check_together(const Preset& preset) const {
    const contract::Capabilities& caps = preset.caps;
    const Dram& dram = preset.dram;
    const auto text = [](uint64_t value) { return std::to_string(value); };
    require(caps.mxu_acc_bytes / 16 >= caps.mxu_cols, "mxu_acc_bytes", caps.mxu_acc_bytes,
            "at least " + text(uint64_t{caps.mxu_cols} * 16) +
                ": each half holds one 48-bit accumulator for each of the mxu_cols channels");
    require(caps.mxu_split * 2 <= caps.mxu_cols, "mxu_split", caps.mxu_split,
            "at most " + text(caps.mxu_cols / 2) + ": each pixel has at least two of the mxu_cols columns");
    const uint64_t spm_width = uint64_t{caps.spm_banks} * caps.spm_bank_bytes;
    require(spm_width <= caps.spm_bytes, "spm_bytes", caps.spm_bytes,
            "at least " + text(spm_width) + ", one row of the spm_banks banks of spm_bank_bytes");
    require(caps.mxu_weight_port_bytes <= spm_width, "mxu_weight_port_bytes", caps.mxu_weight_port_bytes,
            "at most " + text(spm_width) + ", the width of all scratchpad banks");
    const uint64_t row = uint64_t{caps.vpu_lanes} * 4;
    require(row <= caps.vpu_table_bytes, "vpu_table_bytes", caps.vpu_table_bytes,
            "at least " + text(row) + ", one row of the table memory of vpu_lanes lanes");
    const uint64_t table = uint64_t{caps.var_entries} * 16;
    require(table < caps.psram_bytes, "var_entries", caps.var_entries,
            "less than " + text(caps.psram_bytes / 16) + ": its table of " + text(table) +
                " bytes lies in the persistent SRAM of psram_bytes = " + text(caps.psram_bytes));
    require(caps.dma_port_bytes <= caps.dma_burst_bytes, "dma_port_bytes", caps.dma_port_bytes,
            "at most dma_burst_bytes = " + text(caps.dma_burst_bytes));
    require(dram.bus_bits / 8 <= caps.dma_burst_bytes, "dram.bus_bits", dram.bus_bits,
            "at most " + text(uint64_t{caps.dma_burst_bytes} * 8) + ", the bits of a burst of dma_burst_bytes");
    if (dram.latency_ns == 0) check_rows(caps, dram);
  }

  void check_rows(const contract::Capabilities& caps, const Dram& dram) const {
    const auto text = [](uint64_t value) { return std::to_string(value); };
    require(caps.dma_burst_bytes <= dram.row_bytes, "dma_burst_bytes", caps.dma_burst_bytes,
            "at most dram.row_bytes = " + text(dram.row_bytes));
    const uint64_t rows = uint64_t{dram.banks} * dram.row_bytes;
    require(rows <= uint64_t{caps.dram_mib} << 20, "dram.banks", dram.banks,
            "so few that a row of each fits into dram_mib = " + text(caps.dram_mib));
    require(dram.t_ras_ns >= dram.t_rcd_ns, "dram.t_ras_ns", dram.t_ras_ns,
            "at least dram.t_rcd_ns = " + text(dram.t_rcd_ns));
    uint64_t most_refresh = uint64_t{dram.t_refi_ns} * kMostRefreshPercent / 100;
    std::string of_banks;
    if (dram.refresh_by_bank != 0) {  // one bank behind the other, and each is closed before
      most_refresh = most_refresh / dram.banks - std::min<uint64_t>(dram.t_rp_ns, most_refresh / dram.banks);
      of_banks = ", shared by " + text(dram.banks) + " banks that take dram.t_rp_ns to close";
    }
    require(dram.t_rfc_ns <= most_refresh, "dram.t_rfc_ns", dram.t_rfc_ns,
            "at most " + text(most_refresh) + " (" + text(kMostRefreshPercent) +
                " % of dram.t_refi_ns = " + text(dram.t_refi_ns) + of_banks +
                "), so that refreshes leave time for work; lower it or raise " + "dram.t_refi_ns");
    const uint64_t accesses = accesses_per_ms(dram);
    require(accesses >= kLeastAccesses, "dram.t_rfc_ns", dram.t_rfc_ns,
            "so short that the control CPU reaches the DRAM " + text(kLeastAccesses) + " times in 1 ms, but it does " +
                text(accesses) + " times; lower it, dram.t_rcd_ns or dram.t_cas_ns, or raise dram.data_rate_mts");
  }

  static std::string did_you_mean(const std::string& key, const std::set<std::string>& known) {
    return contract::did_you_mean(key, std::vector<std::string>(known.begin(), known.end()));
  }

  // Text of the file for a message: one printable line of bounded length.
  static std::string shortened(const std::string& text) {
    std::string line = text.substr(0, 40);
    std::replace_if(
        line.begin(), line.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, '?');
    return line.empty() ? "empty" : line + (text.size() > 40 ? "..." : "");
  }

  std::string source_;
  std::filesystem::path folder_;
  Chain chain_;
  bool bases_;  // whether the key `base` is known
};

std::string read_file(const std::string& path) {
  std::error_code problem;
  if (std::filesystem::is_directory(path, problem)) {
    throw Error(ErrorCode::kCannotRead, path + ": is a folder, not a machine's YAML file");
  }
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxFileBytes + 1, '\0');
  if (file) file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad()) throw Error(ErrorCode::kCannotRead, path + ": cannot be read");
  text.resize(static_cast<size_t>(file.gcount()));
  return text;
}

const EmbeddedPreset* find_embedded(const std::string& name) {
  const auto presets = embedded_presets();
  const auto found =
      std::find_if(presets.begin(), presets.end(), [&](const auto& preset) { return preset.name == name; });
  return found == presets.end() ? nullptr : &*found;
}

// The path that the user wrote names the file in messages; what it leads to tells whether it is read already.
Preset load_file(const std::filesystem::path& path, Chain chain) {
  const std::string text = read_file(path.string());
  std::error_code problem;
  const std::filesystem::path real = std::filesystem::canonical(path, problem);
  if (std::find(chain.begin(), chain.end(), real) != chain.end()) {
    throw Error(ErrorCode::kBadPreset, path.string() + ": is its own base, directly or through others");
  }
  chain.push_back(real);
  return Parser(path.string(), path.parent_path(), std::move(chain)).parse(path.stem().string(), text);
}

// Parsed once: a program asks for one several times, and YAML takes long.
Preset load_embedded(const EmbeddedPreset& preset) {
  static std::mutex mutex;
  static std::map<std::string_view, Preset> parsed;
  {
    const std::lock_guard lock(mutex);
    const auto known = parsed.find(preset.name);
    if (known != parsed.end()) return known->second;
  }
  const std::string name(preset.name);
  Preset machine = Parser(name, {}, {}).parse(name, std::string(preset.text));
  const std::lock_guard lock(mutex);
  return parsed.emplace(preset.name, std::move(machine)).first->second;
}

Preset load_machine(const std::string& name_or_path, const std::filesystem::path& folder, const Chain& chain) {
  if (const EmbeddedPreset* preset = find_embedded(name_or_path)) return load_embedded(*preset);
  const std::filesystem::path path = folder / name_or_path;
  std::error_code problem;
  if (!path.has_extension() && (name_or_path.empty() || !std::filesystem::exists(path, problem))) {
    const std::vector<std::string> known = preset_names();
    std::string names;
    for (const std::string& name : known) names += (names.empty() ? "" : ", ") + name;
    throw Error(ErrorCode::kBadPreset, "there is no machine '" + name_or_path + "': choose one of " + names +
                                           ", or give the path of a YAML file" +
                                           contract::did_you_mean(name_or_path, known));
  }
  return load_file(path, chain);
}

}  // namespace

std::vector<std::pair<std::string_view, uint32_t>> keys_of(const Dram& dram) {
  std::vector<std::pair<std::string_view, uint32_t>> keys;
  for (const DramKey& key : kDramKeys) {
    if (has(dram, key)) keys.emplace_back(key.name, dram.*key.member);
  }
  return keys;
}

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const EmbeddedPreset& preset : embedded_presets()) names.emplace_back(preset.name);
  return names;
}

std::string_view preset_text(const std::string& name) {
  const EmbeddedPreset* preset = find_embedded(name);
  return preset == nullptr ? std::string_view() : preset->text;
}

std::string to_yaml(const Preset& preset) {
  std::string text;
  const auto line = [&](std::string_view indent, std::string_view key, const std::string& value) {
    text += std::string(indent) + std::string(key) + ": " + value + "\n";
  };
  for (const auto& info : contract::kCapabilities) {
    line("", info.name, std::to_string(preset.caps.*info.member));
  }
  text += "dram:\n";
  std::string name;  // in quotes, because it may be what YAML takes for something else
  for (const char c : preset.dram.name) name += c == '\'' ? "''" : std::string(1, c);
  line("  ", "name", "'" + name + "'");
  for (const auto& [key, value] : keys_of(preset.dram)) line("  ", key, std::to_string(value));
  return text;
}

Preset parse_preset(const std::string& name, const std::string& source, const std::string& text) {
  return Parser(source, {}, {}).parse(name, text);
}

Preset parse_whole_preset(const std::string& name, const std::string& source, const std::string& text) {
  return Parser(source, {}, {}, false).parse(name, text);
}

Preset load_preset(const std::string& name_or_path) { return load_machine(name_or_path, {}, {}); }

}  // namespace npu::presets
