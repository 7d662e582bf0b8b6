// SPDX-License-Identifier: Apache-2.0
#include "sim/cosim/bundle.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "driver/graph/file.h"
#include "hw/contract/error.h"

namespace npu::cosim {

using contract::ErrorCode;
using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

namespace {

constexpr int kSchemaVersion = 1;
constexpr uintmax_t kMaxFile = uintmax_t{64} << 20;  // more than any memory that an engine reaches

// A folder that is being filled: gone again unless it gets its name.
class NewFolder {
 public:
  explicit NewFolder(const fs::path& folder)
      : place_(graph::place_of(folder.has_filename() ? folder : folder.parent_path())),
        part_(graph::unique_path_beside(place_)) {
    std::error_code error;
    fs::create_directories(place_.parent_path(), error);
    if (!fs::create_directory(part_, error)) {
      throw Error(ErrorCode::kCannotWrite, fmt::format("cannot create '{}': {}", folder.string(), error.message()));
    }
    unfinished_.emplace_back(part_);
  }
  ~NewFolder() {
    std::error_code ignored;
    if (!part_.empty()) fs::remove_all(part_, ignored);
  }
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  void write(const std::string& name, const void* data, size_t bytes) {
    unfinished_.emplace_back(part_ / name);
    std::ofstream file(part_ / name, std::ios::binary);
    file.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
    file.close();
    if (!file) throw Error(ErrorCode::kCannotWrite, fmt::format("cannot write '{}'", (place_ / name).string()));
  }

  void take_place() {
    std::error_code error;
    fs::rename(part_, place_, error);
    if (error) {
      throw Error(ErrorCode::kCannotWrite, fmt::format("cannot create '{}': {}", place_.string(), error.message()));
    }
    part_.clear();
    unfinished_.clear();
  }

 private:
  fs::path place_, part_;
  std::vector<graph::Unfinished> unfinished_;
};

std::string memory_file(size_t number) { return fmt::format("memory-{}.bin", number); }

Json json_of(const Bundle& bundle) {
  Json caps = Json::object(), memory = Json::array();
  for (const contract::CapabilityInfo& info : contract::kCapabilities) caps[info.name] = bundle.caps.*info.member;
  for (size_t i = 0; i < bundle.found.memory.size(); ++i) {
    const MemoryBlock& block = bundle.found.memory[i];
    memory.push_back({{"file", memory_file(i)},
                      {"region", static_cast<uint32_t>(block.region)},
                      {"variable", block.variable},
                      {"offset", block.offset},
                      {"bytes", block.bytes.size()}});
  }
  return {{"schema", "npu-tile"},
          {"schema_version", kSchemaVersion},
          {"engine", name(bundle.unit)},
          {"network", bundle.network},
          {"layer", bundle.layer},
          {"operators", bundle.operators},
          {"invocation", bundle.invocation},
          {"tile", bundle.tile},
          {"seed", bundle.seed},
          {"found",
           {{"difference", bundle.found.difference},
            {"elements", bundle.found.elements},
            {"differing", bundle.found.differing},
            {"model_cycles", bundle.found.model_cycles},
            {"rtl_cycles", bundle.found.rtl_cycles}}},
          {"command", bundle.command},
          {"memory", memory},
          {"machine", caps}};
}

Bundle understand(const Json& json) {
  if (json.at("schema") != "npu-tile" || json.at("schema_version") != kSchemaVersion) {
    throw Error(ErrorCode::kBadInput, fmt::format("it is no replay bundle of version {}", kSchemaVersion));
  }
  Bundle bundle;
  const auto engine = json.at("engine").get<std::string>();
  if (engine != name(Unit::kMxu) && engine != name(Unit::kVpu)) {
    throw Error(ErrorCode::kBadInput, fmt::format("there is no engine '{}'", engine));
  }
  bundle.unit = engine == name(Unit::kMxu) ? Unit::kMxu : Unit::kVpu;
  json.at("network").get_to(bundle.network);
  json.at("layer").get_to(bundle.layer);
  json.at("operators").get_to(bundle.operators);
  json.at("invocation").get_to(bundle.invocation);
  json.at("tile").get_to(bundle.tile);
  json.at("seed").get_to(bundle.seed);
  const Json& found = json.at("found");
  found.at("difference").get_to(bundle.found.difference);
  found.at("elements").get_to(bundle.found.elements);
  found.at("differing").get_to(bundle.found.differing);
  found.at("model_cycles").get_to(bundle.found.model_cycles);
  found.at("rtl_cycles").get_to(bundle.found.rtl_cycles);
  json.at("command").get_to(bundle.command);
  for (const contract::CapabilityInfo& info : contract::kCapabilities) {
    json.at("machine").at(std::string(info.name)).get_to(bundle.caps.*info.member);
  }
  for (const Json& part : json.at("memory")) {
    MemoryBlock block;
    block.region = static_cast<contract::Region>(part.at("region").get<uint32_t>());
    part.at("variable").get_to(block.variable);
    part.at("offset").get_to(block.offset);
    bundle.found.memory.push_back(std::move(block));
  }
  return bundle;
}

}  // namespace

void write_bundle(const Bundle& bundle, const fs::path& folder) {
  NewFolder made(folder);
  const std::string text = json_of(bundle).dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
  made.write("tile.json", text.data(), text.size());
  for (size_t i = 0; i < bundle.found.memory.size(); ++i) {
    const std::vector<uint8_t>& bytes = bundle.found.memory[i].bytes;
    made.write(memory_file(i), bytes.data(), bytes.size());
  }
  made.write("expected.bin", bundle.found.expected.data(), bundle.found.expected.size());
  made.write("got.bin", bundle.found.got.data(), bundle.found.got.size());
  made.take_place();
}

Bundle read_bundle(const fs::path& folder) {
  const std::vector<uint8_t> text = graph::read_file(folder / "tile.json", kMaxFile);
  Bundle bundle;
  try {
    bundle = understand(Json::parse(text.begin(), text.end()));
  } catch (const Json::exception& error) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("'{}' is damaged: {}", (folder / "tile.json").string(), error.what()));
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("'{}': {}", (folder / "tile.json").string(), error.what()));
  }
  for (size_t i = 0; i < bundle.found.memory.size(); ++i) {
    bundle.found.memory[i].bytes = graph::read_file(folder / memory_file(i), kMaxFile);
  }
  bundle.found.expected = graph::read_file(folder / "expected.bin", kMaxFile);
  bundle.found.got = graph::read_file(folder / "got.bin", kMaxFile);
  return bundle;
}

std::span<uint8_t> BundleMemory::resolve(const contract::Address& address, int64_t low, int64_t high, engine::Access) {
  for (MemoryBlock& block : blocks_) {
    if (block.region != address.region || block.variable != address.variable) continue;
    const int64_t begin = int64_t{address.offset} + low - block.offset,
                  end = int64_t{address.offset} + high - block.offset;
    if (begin < 0 || begin > end || end > static_cast<int64_t>(block.bytes.size())) return {};
    return std::span(block.bytes).subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
  }
  return {};
}

}  // namespace npu::cosim
