// SPDX-License-Identifier: Apache-2.0
#include "hw/presets/preset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

namespace npu::presets {
namespace {

using contract::ErrorCode;
using testing::HasSubstr;

// The line of a key and what takes its place; nothing: the line is removed.
struct Edit {
  std::string key, line;
};

// The edge preset as text, with edits and text added at its end.
std::string edited(const std::vector<Edit>& edits, const std::string& added) {
  std::ifstream file(std::string(NPU_PRESET_DIR) + "/edge.yaml");
  std::string text, current;
  size_t done = 0;
  while (std::getline(file, current)) {
    const size_t indent = current.find_first_not_of(' ');
    const std::string trimmed = indent == std::string::npos ? "" : current.substr(indent);
    const auto edit = std::find_if(edits.begin(), edits.end(), [&](const Edit& e) {
      return trimmed.compare(0, e.key.size() + 1, e.key + ":") == 0;
    });
    if (edit == edits.end()) {
      text += current + "\n";
      continue;
    }
    ++done;
    if (!edit->line.empty()) text += current.substr(0, indent) + edit->line + "\n";
  }
  EXPECT_EQ(done, edits.size());
  return text + added;
}

// Code and message of the error that `text` causes.
std::pair<ErrorCode, std::string> error_of(const std::string& text) {
  try {
    (void)parse_preset("test", "test.yaml", text);
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {ErrorCode::kOk, ""};
}

TEST(Presets, NamedOnesLoad) {
  EXPECT_EQ(preset_names(), (std::vector<std::string>{"nano", "edge", "server"}));
  for (const std::string& name : preset_names()) EXPECT_EQ(load_preset(name).name, name);

  const Preset edge = load_preset("edge");
  EXPECT_EQ(edge.caps.mxu_cols * edge.caps.mxu_depth, 1024u);
  EXPECT_EQ(edge.caps.mxu_cols * edge.caps.mxu_dw_taps, 288u);
  EXPECT_EQ(edge.caps.spm_bytes, 1u << 20);
  EXPECT_EQ(edge.caps.psram_bytes, 1u << 16);
  EXPECT_EQ(edge.caps.clock_mhz, 1000u);
  EXPECT_EQ(edge.dram.bytes_per_second(), 12'800'000'000u);

  const Preset nano = load_preset("nano");
  EXPECT_EQ(nano.caps.mxu_cols * nano.caps.mxu_depth, 64u);
  EXPECT_EQ(nano.caps.mxu_cols * nano.caps.mxu_dw_taps, 16u);
  EXPECT_EQ(nano.caps.spm_bytes, 1u << 16);
  EXPECT_EQ(nano.caps.psram_bytes, 1u << 13);
  EXPECT_EQ(nano.dram.bytes_per_second(), 800'000'000u);
}

TEST(Presets, FileLoadsAsTheNamedOne) {
  Preset preset = load_preset(std::string(NPU_PRESET_DIR) + "/edge.yaml");
  EXPECT_EQ(preset, load_preset("edge"));
}

struct BadPreset {
  std::vector<Edit> edits;
  std::string added;
  std::string message;
};

const BadPreset kBadPresets[] = {
    {{{"spm_bytes", "spm_bytes: -1048576"}},
     "",
     "spm_bytes is -1048576, but must be a power of two from 16384 to 268435456 (bytes)"},
    {{{"spm_bytes", "spm_bytes: 1000000"}}, "", "spm_bytes is 1000000, but must be a power of two"},
    {{{"spm_bytes", "spm_bytes: 0"}}, "", "spm_bytes is 0, but"},
    {{{"spm_bytes", "spm_bytes: 99999999999999999999999"}}, "", "spm_bytes is 99999999999999999999999, but"},
    {{{"spm_bytes", "spm_bytes: 1 MiB"}}, "", "spm_bytes is 1 MiB, but must be a power of two"},
    {{{"spm_bytes", "spm_bytes: 1e6"}}, "", "spm_bytes is 1e6, but"},
    {{{"spm_bytes", "spm_bytes: 0x100000"}}, "", "spm_bytes is 0x100000, but"},
    {{{"spm_bytes", "spm_bytes:"}}, "", "spm_bytes is"},
    {{{"spm_bytes", "spm_bytes: ''"}}, "", "spm_bytes is empty, but"},
    {{{"spm_bytes", "spm_bytes: [1, 2]"}}, "", "spm_bytes is not a number, but"},
    {{{"clock_mhz", "clock_mhz: 1000.5"}}, "", "clock_mhz is 1000.5, but must be a whole number from 10 to"},
    {{{"clock_mhz", "clock_mhz: 9"}}, "", "clock_mhz is 9, but"},
    {{{"clock_mhz", "clock_mhz: \"1000\\n\\x07\""}}, "", "clock_mhz is 1000??, but"},
    {{{"dma_channels", "dma_channels: 9"}}, "", "dma_channels is 9, but must be a whole number from 2 to 8"},
    {{{"mxu_dw_taps", "mxu_dw_taps: 65"}}, "", "mxu_dw_taps is 65, but must be a whole number from 1 to 64 (taps)"},
    {{{"vpu_lanes", ""}}, "", "the key 'vpu_lanes' is missing"},
    {{{"banks", ""}}, "", "the key 'dram.banks' is missing"},
    {{{"vpu_lanes", "vpu_lane: 64"}}, "", "the key 'vpu_lane' is unknown; did you mean 'vpu_lanes'?"},
    {{}, "colour: red\n", "the key 'colour' is unknown"},
    {{}, "? [1, 2]\n: 3\n", "a key is a list or a mapping"},
    {{}, "clock_mhz: 1000\n", "the key 'clock_mhz' appears twice"},
    {{{"banks", "banks: 8\n  banks: 8"}}, "", "the key 'dram.banks' appears twice"},
    {{}, "---\nclock_mhz: 1\n", "must be one YAML mapping"},
    {{}, "a: [1\n", "is not valid YAML"},
    {{{"name", "name: ''"}}, "", "dram.name must be a text"},
    {{{"name", "name: \"a\\nb\""}}, "", "dram.name must be a text"},
    {{{"row_bytes", "row_bytes: 4095"}}, "", "dram.row_bytes is 4095, but must be a power of two"},
    {{{"t_rp_ns", "t_rp_ns: -18"}}, "", "dram.t_rp_ns is -18, but"},
    // Values that are fine alone.
    {{{"mxu_weight_port_bytes", "mxu_weight_port_bytes: 4096"}},
     "",
     "mxu_weight_port_bytes is 4096, but must be at most 512"},
    {{{"vpu_table_bytes", "vpu_table_bytes: 4096"}, {"vpu_lanes", "vpu_lanes: 2048"}},
     "",
     "vpu_table_bytes is 4096, but must be at least 8192, one row"},
    {{{"mxu_split", "mxu_split: 3"}}, "", "mxu_split is 3, but must be a power of two from 1 to 8 (pixels)"},
    {{{"mxu_split", "mxu_split: 4"}, {"mxu_cols", "mxu_cols: 4"}}, "", "mxu_split is 4, but must be at most 2"},
    {{{"vpu_registers", "vpu_registers: 4"}}, "", "vpu_registers is 4, but must be a power of two from 8 to 32"},
    {{{"var_entries", "var_entries: 4096"}}, "", "var_entries is 4096, but must be less than 4096: its table"},
    {{{"psram_port_bytes", "psram_port_bytes: 4"}},
     "",
     "psram_port_bytes is 4, but must be a power of two from 8 to 512 (bytes/cycle)"},
    {{{"psram_bytes", "psram_bytes: 2048"}}, "", "var_entries is 128, but must be less than 128: its table"},
    {{{"dma_port_bytes", "dma_port_bytes: 512"}}, "", "dma_port_bytes is 512, but must be at most dma_burst_bytes"},
    {{{"t_rfc_ns", "t_rfc_ns: 422"}},
     "",
     "dram.t_rfc_ns is 422, but must be at most 421 (90 % of dram.t_refi_ns = 3904, shared by 8 banks that take "
     "dram.t_rp_ns to close), so that refreshes leave time for work; lower it or raise dram.t_refi_ns"},
    {{{"t_rfc_ns", "t_rfc_ns: 1"}, {"t_rp_ns", "t_rp_ns: 500"}}, "", "dram.t_rfc_ns is 1, but must be at most 0 ("},
    {{{"t_rfc_ns", "t_rfc_ns: 3514"}, {"refresh_by_bank", "refresh_by_bank: 0"}},
     "",
     "dram.t_rfc_ns is 3514, but must be at most 3513 (90 % of dram.t_refi_ns = 3904), so that refreshes leave time "
     "for work; lower it or raise dram.t_refi_ns"},
    {{{"refresh_by_bank", "refresh_by_bank: 2"}}, "", "dram.refresh_by_bank is 2, but"},
    {{{"t_refi_ns", "t_refi_ns: 111111"},
      {"t_rfc_ns", "t_rfc_ns: 99999"},
      {"refresh_by_bank", "refresh_by_bank: 0"},
      {"t_rcd_ns", "t_rcd_ns: 1000"},
      {"t_ras_ns", "t_ras_ns: 1000"},
      {"t_cas_ns", "t_cas_ns: 1000"}},
     "",
     "dram.t_rfc_ns is 99999, but must be so short that the control CPU reaches the DRAM 150 times in 1 ms, but it "
     "does 45 times"},
    {{{"t_ras_ns", "t_ras_ns: 17"}}, "", "dram.t_ras_ns is 17, but must be at least dram.t_rcd_ns = 18"},
    {{{"bus_bits", "bus_bits: 4096"}}, "", "dram.bus_bits is 4096, but must be at most 2048"},
    {{{"mxu_acc_bytes", "mxu_acc_bytes: 1024"}, {"mxu_cols", "mxu_cols: 128"}},
     "",
     "mxu_acc_bytes is 1024, but must be at least 2048"},
    {{{"spm_bytes", "spm_bytes: 16384"}, {"spm_banks", "spm_banks: 128"}, {"spm_bank_bytes", "spm_bank_bytes: 512"}},
     "",
     "spm_bytes is 16384, but must be at least 65536"},
    {{{"dma_burst_bytes", "dma_burst_bytes: 4096"}, {"row_bytes", "row_bytes: 2048"}},
     "",
     "dma_burst_bytes is 4096, but must be at most dram.row_bytes = 2048"},
    {{{"dram_mib", "dram_mib: 1"}, {"banks", "banks: 256"}, {"row_bytes", "row_bytes: 65536"}},
     "",
     "dram.banks is 256, but must be so few"}};

TEST(Presets, BadOnesAreRefusedWithOneSentence) {
  for (const BadPreset& bad : kBadPresets) {
    SCOPED_TRACE(bad.message);
    const auto [code, message] = error_of(edited(bad.edits, bad.added));
    EXPECT_EQ(code, ErrorCode::kBadPreset);
    EXPECT_THAT(message, testing::StartsWith("test.yaml: "));
    EXPECT_THAT(message, HasSubstr(bad.message));
    EXPECT_EQ(message.find('\n'), std::string::npos);
    EXPECT_LT(message.size(), 250u);
  }
}

// load_preset's own mistakes: code and message.
std::pair<ErrorCode, std::string> load_error(const std::string& name_or_path) {
  try {
    (void)load_preset(name_or_path);
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {ErrorCode::kOk, ""};
}

// Files from before a key was there keep their machine.
TEST(Presets, LaterKeysMayBeMissing) {
  const Preset preset = parse_preset("test", "test.yaml",
                                     edited({{"vpu_registers", ""},
                                             {"vpu_table_bytes", ""},
                                             {"mxu_int16", ""},
                                             {"mxu_residual", ""},
                                             {"mxu_split", ""},
                                             {"vpu_rescale", ""},
                                             {"vpu_tree", ""},
                                             {"vpu_table_pairs", ""},
                                             {"vpu_shared_pass", ""},
                                             {"dma_read_ahead", ""},
                                             {"vpu_lanes", "vpu_lanes: 32"}},
                                            ""));
  EXPECT_EQ(preset.caps.vpu_registers, 16u);
  EXPECT_EQ(preset.caps.mxu_int16, 1u);
  EXPECT_EQ(preset.caps.mxu_residual, 0u);
  EXPECT_EQ(preset.caps.mxu_split, 1u);
  EXPECT_EQ(preset.caps.vpu_rescale, 0u);
  EXPECT_EQ(preset.caps.vpu_tree, 0u);
  EXPECT_EQ(preset.caps.vpu_table_pairs, 0u);
  EXPECT_EQ(preset.caps.vpu_shared_pass, 0u);
  EXPECT_EQ(preset.caps.dma_read_ahead, 0u);
  EXPECT_EQ(preset.caps.vpu_table_bytes, 32u * 1024);
  EXPECT_EQ(parse_preset("test", "test.yaml", "base: edge\nvpu_lanes: 32\n").caps.vpu_table_bytes,
            load_preset("edge").caps.vpu_table_bytes);
}

TEST(Presets, MissingFilesAndNamesAreToldApart) {
  const auto [name_code, name_message] = load_error("huge");
  EXPECT_EQ(name_code, ErrorCode::kBadPreset);
  EXPECT_THAT(name_message, HasSubstr("there is no machine 'huge': choose one of nano, edge, server"));
  EXPECT_EQ(load_error("no/such/file.yaml").first, ErrorCode::kCannotRead);
  EXPECT_EQ(load_error(NPU_PRESET_DIR).first, ErrorCode::kCannotRead);
  EXPECT_EQ(load_error("").first, ErrorCode::kBadPreset);
}

TEST(Presets, FileGivesItsName) {
  const std::string path = testing::TempDir() + "my_machine.yaml";
  std::ofstream(path) << edited({{"vpu_lanes", "vpu_lanes: 128"}}, "");
  const Preset preset = load_preset(path);
  EXPECT_EQ(preset.name, "my_machine");
  EXPECT_EQ(preset.caps.vpu_lanes, 128u);
  std::filesystem::remove(path);
}

// A folder of machine files of one test, removed with it.
class PresetFolder {
 public:
  PresetFolder() : path_(testing::TempDir() + "machines_" + std::to_string(std::random_device()())) {
    std::filesystem::create_directories(path_ / "below");
  }
  ~PresetFolder() { std::filesystem::remove_all(path_); }
  PresetFolder(const PresetFolder&) = delete;
  PresetFolder& operator=(const PresetFolder&) = delete;

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
    return (path_ / name).string();
  }

 private:
  std::filesystem::path path_;
};

TEST(Presets, WithABaseOnlyWhatDiffersIsListed) {
  const PresetFolder folder;
  Preset expected = load_preset("edge");
  expected.name = "wide";
  expected.caps.vpu_lanes = 128;
  expected.dram.t_rcd_ns = 20;
  const std::string wide = folder.write("wide.yaml", "base: edge\nvpu_lanes: 128\ndram:\n  t_rcd_ns: 20\n");
  EXPECT_EQ(load_preset(wide), expected);

  // A file as base, found from the file that names it.
  expected.name = "wider";
  expected.caps.vpu_lanes = 256;
  EXPECT_EQ(load_preset(folder.write("below/wider.yaml", "vpu_lanes: 256\nbase: ../wide.yaml\n")), expected);
  expected.name = "same";
  EXPECT_EQ(load_preset(folder.write("same.yaml", "base: below/wider.yaml\n")), expected);
  // A name stands for the program's machine, whatever lies beside the file.
  EXPECT_EQ(load_preset(folder.write("nano.yaml", "base: nano\n")), load_preset("nano"));
}

TEST(Presets, AMemoryOfOneLatencyHasNoRows) {
  const PresetFolder folder;
  const Preset edge = load_preset("edge");
  const Preset ideal = load_preset(folder.write("ideal.yaml", "base: edge\ndram: {latency_ns: 50}\n"));
  EXPECT_EQ(ideal.dram.latency_ns, 50u);
  EXPECT_EQ(ideal.dram.bytes_per_second(), edge.dram.bytes_per_second());
  EXPECT_EQ(ideal.dram.banks, 0u);
  EXPECT_EQ(ideal.caps, edge.caps);
  const std::string text = to_yaml(ideal);
  EXPECT_THAT(text, testing::Not(HasSubstr("banks: 8")));
  Preset again = parse_preset("ideal", "ideal.yaml", text);
  EXPECT_EQ(again, ideal);
  EXPECT_THAT(to_yaml(edge), testing::Not(HasSubstr("latency_ns")));
  const auto error = [&](const std::string& dram) {
    return load_error(folder.write("test.yaml", "base: ideal.yaml\ndram: {" + dram + "}\n")).second;
  };
  EXPECT_EQ(error("latency_ns: 60"), "");
  for (const char* dram : {"t_rcd_ns: 20", "latency_ns: 60, banks: 4"}) {
    EXPECT_THAT(error(dram), HasSubstr(" has no meaning where dram.latency_ns is the latency of each access"));
  }
  EXPECT_THAT(error("latency_ns: 0"),
              HasSubstr("dram.latency_ns is 0, but must be a whole number from 1 to 1000 (ns)"));
  EXPECT_THAT(error_of(edited({}, "  latency_ns: 9\n")).second, HasSubstr("has no meaning where"));
}

TEST(Presets, BadBasesAreRefused) {
  const PresetFolder folder;
  const std::string fine = folder.write("fine.yaml", "base: edge\n");
  const auto error = [&](const std::string& text) { return load_error(folder.write("test.yaml", text)); };
  EXPECT_THAT(error("base: huge\n").second,
              HasSubstr("test.yaml: base: there is no machine 'huge': choose one of nano, edge, server"));
  EXPECT_EQ(error("base: huge\n").first, ErrorCode::kBadPreset);
  EXPECT_EQ(error("base: no/such.yaml\n").first, ErrorCode::kCannotRead);
  EXPECT_EQ(error("base:\n").second.substr(folder.write("test.yaml", "").size()),
            ": base must be the name of a machine or the path of its YAML file");
  EXPECT_THAT(error("base: [edge]\n").second, HasSubstr("base must be the name of a machine"));
  EXPECT_THAT(error("base: edge\nbase: nano\n").second, HasSubstr("the key 'base' appears twice"));
  EXPECT_THAT(error("base: edge\nvpu_lane: 64\n").second, HasSubstr("the key 'vpu_lane' is unknown"));
  EXPECT_THAT(error("base: edge\nvpu_lanes: 64\nvpu_lanes: 8\n").second,
              HasSubstr("the key 'vpu_lanes' appears twice"));
  EXPECT_THAT(error("base: edge\nvpu_lanes:\n").second, HasSubstr("vpu_lanes is not a number, but must be"));
  EXPECT_THAT(error("base: edge\ndram:\n").second, HasSubstr("dram must be a mapping"));
  EXPECT_THAT(error("base: edge\ndram:\n  bank: 8\n").second, HasSubstr("the key 'dram.bank' is unknown"));
  EXPECT_THAT(error("base: edge\ndram:\n  name: ''\n").second, HasSubstr("dram.name must be a text"));
  // Values are judged together with the base's.
  EXPECT_THAT(error("base: edge\npsram_bytes: 2048\n").second,
              HasSubstr("var_entries is 128, but must be less than 128"));
  // The base's own mistakes are named with both files.
  folder.write("bad.yaml", "base: edge\nvpu_lanes: 3\n");
  EXPECT_THAT(error("base: bad.yaml\nvpu_lanes: 64\n").second,
              testing::AllOf(HasSubstr("test.yaml: base: "), HasSubstr("bad.yaml: vpu_lanes is 3, but")));
}

TEST(Presets, CyclesOfBasesAreRefused) {
  const PresetFolder folder;
  const auto [own_code, own_message] = load_error(folder.write("own.yaml", "base: own.yaml\n"));
  EXPECT_EQ(own_code, ErrorCode::kBadPreset);
  EXPECT_THAT(own_message, HasSubstr("own.yaml: is its own base, directly or through others"));
  folder.write("one.yaml", "base: below/two.yaml\n");
  const auto [code, message] = load_error(folder.write("below/two.yaml", "base: ../below/../one.yaml\n"));
  EXPECT_EQ(code, ErrorCode::kBadPreset);
  EXPECT_THAT(message, HasSubstr("two.yaml: is its own base, directly or through others"));
}

TEST(Presets, PrintedOnesLoadAgain) {
  for (const std::string& name : preset_names()) {
    EXPECT_EQ(parse_preset(name, name, std::string(preset_text(name))), load_preset(name));
    Preset preset = load_preset(name);
    preset.dram.name = "yes: 'quoted' # \"x\"";
    EXPECT_EQ(parse_preset(name, name, to_yaml(preset)), preset);
  }
  EXPECT_TRUE(preset_text("huge").empty());
}

TEST(Presets, HugeAndDeepTextsAreRefused) {
  EXPECT_THAT(error_of(std::string(100000, '#')).second, HasSubstr("100000 bytes; a machine's file has at most"));
  EXPECT_EQ(error_of(std::string(60000, '[')).first, ErrorCode::kBadPreset);
  EXPECT_EQ(error_of(std::string(30000, '{')).first, ErrorCode::kBadPreset);
  EXPECT_EQ(error_of("&a [*a]").first, ErrorCode::kBadPreset);
  EXPECT_EQ(error_of("").first, ErrorCode::kBadPreset);
}

// Every change of one byte either loads or is refused properly; nothing else comes out.
// yaml-cpp makes documents without end of it.
TEST(Presets, ACommaIsNoMachine) {
  for (const char* text : {",", ",\nclock_mhz: 1\n", "# edge\n, the default machine\nclock_mhz: 1\n"}) {
    EXPECT_THAT(error_of(text).second, HasSubstr("must be one YAML mapping"));
  }
}

TEST(Presets, FlippedBytesNeverCrash) {
  const std::string good = edited({}, "");
  for (uint32_t seed = 1; seed <= 1000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    std::string text = good;
    text[random() % text.size()] = static_cast<char>(random());
    const auto [code, message] = error_of(text);
    EXPECT_TRUE(code == ErrorCode::kOk || code == ErrorCode::kBadPreset) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace npu::presets
