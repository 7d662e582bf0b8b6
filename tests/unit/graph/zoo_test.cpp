// SPDX-License-Identifier: Apache-2.0
// Real networks: each file reads, validates, needs what its manifest says, and survives being written again.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "driver/graph/analyse.h"
#include "driver/graph/npy.h"
#include "driver/graph/reader.h"
#include "driver/graph/validate.h"
#include "driver/graph/writer.h"
#include "hw/contract/error.h"
#include "tests/unit/graph/samples.h"

namespace npu::graph {
namespace {

using nlohmann::json;

const std::filesystem::path kZoo = NPU_ZOO_DIR;

json load(const std::filesystem::path& path) { return json::parse(std::ifstream(path)); }

std::set<std::string> features(const json& names, const std::string& prefix) {
  std::set<std::string> result;
  for (std::string name : names) {
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::toupper(c); });
    std::replace(name.begin(), name.end(), '_', '-');
    result.insert(prefix + name);
  }
  return result;
}

// What the manifest states about a network.
void check_against_manifest(const Graph& graph, const json& model) {
  EXPECT_EQ(macs(graph), model["macs"].get<int64_t>());
  std::map<std::string, int64_t> operators;
  for (const Region& region : graph.regions) {
    for (const Operator& op : region.blocks.front().operators) {
      ++operators[std::string(name(op.op))];
    }
  }
  EXPECT_EQ(operators, (model["ops"].get<std::map<std::string, int64_t>>()));
  const Needs needs = analyse(graph);
  EXPECT_EQ(needs.level, "8K");
  if (model["needs"]["valid_1_0"].get<bool>()) {
    EXPECT_EQ(needs.profiles, features(model["needs"]["profiles"], ""));
    EXPECT_EQ(needs.extensions, features(model["needs"]["extensions"], "EXT-"));
  } else {
    // The one reason in this collection: variables of INT16.
    EXPECT_TRUE(needs.extensions.contains("PROPOSAL-VARIABLE"));
  }
  for (const auto& [entries, ids] :
       {std::pair{model["inputs"], graph.main().inputs}, std::pair{model["outputs"], graph.main().outputs}}) {
    ASSERT_EQ(entries.size(), ids.size());
    for (size_t i = 0; i < ids.size(); ++i) {
      const Tensor& tensor = graph.main().tensors[ids[i]];
      EXPECT_EQ(tensor.name, entries[i]["name"]);
      EXPECT_EQ(name(tensor.type), entries[i]["dtype"].get<std::string>());
      EXPECT_EQ(tensor.shape, entries[i]["shape"].get<Shape>());
      const NpyArray array = read_npy(kZoo / entries[i]["npy"].get<std::string>());
      const bool steps = array.shape.size() == tensor.shape.size() + 1;
      EXPECT_EQ(to_value(steps ? slice_axis0(array, 0) : array, tensor.type, &tensor.shape, false).type, tensor.type);
    }
  }
}

TEST(Zoo, NetworksAreAsTheManifestSays) {
  const json manifest = load(kZoo / "manifest.json");
  ASSERT_FALSE(manifest["models"].empty());
  for (const json& model : manifest["models"]) {
    SCOPED_TRACE(model["file"]);
    const Graph graph = read_tosa(kZoo / model["file"].get<std::string>());
    ASSERT_NO_THROW(validate(graph));
    check_against_manifest(graph, model);
  }
}

TEST(Zoo, EveryFileSurvivesBeingWritten) {
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kZoo)) {
    if (entry.path().extension() != ".tosa") {
      continue;
    }
    SCOPED_TRACE(entry.path());
    ++files;
    const Graph graph = read_tosa(entry.path());
    const auto bytes = std::make_shared<const std::vector<uint8_t>>(serialize(graph));
    EXPECT_EQ(samples::difference(graph, parse_tosa(bytes, "written")), "");
  }
  EXPECT_GT(files, 0);
}

TEST(Zoo, SpecialFilesDoWhatTheyMust) {
  const auto check = [](const char* file) { validate(read_tosa(kZoo / file)); };
  const json cases = load(kZoo / "negative" / "negative.json");
  for (const json& special : cases) {
    const auto file = special["file"].get<std::string>();
    SCOPED_TRACE(file);
    // Values decide about unpredictable ones, so they pass here.
    if (special["here"].get<std::string>().starts_with("illegal")) {
      try {
        check(file.c_str());
        ADD_FAILURE() << "accepted";
      } catch (const Error& error) {
        EXPECT_EQ(error.exit_status(), 2) << error.what();
      }
    } else {
      EXPECT_NO_THROW(check(file.c_str()));
    }
  }
}

TEST(Zoo, DraftOfLaterVersionIsTheSameGraph) {
  Graph draft = read_tosa(kZoo / "okay_nabu" / "okay_nabu.v1_1_draft.tosa");
  Graph release = read_tosa(kZoo / "okay_nabu" / "okay_nabu.tosa");
  EXPECT_EQ(draft.version.minor, 1);
  draft.version = release.version;
  for (auto* graph : {&draft, &release}) {
    for (Operator& op : graph->main().operators) {
      op.location.clear();  // names the file that it was made from
    }
  }
  EXPECT_EQ(samples::difference(draft, release), "");
}

}  // namespace
}  // namespace npu::graph
