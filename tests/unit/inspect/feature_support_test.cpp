// SPDX-License-Identifier: Apache-2.0
// Profiles and extensions are counted as the table of operators has them.
#include "sim/inspect/feature_support.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "driver/graph/operators.h"
#include "sim/inspect/operator_support.h"

namespace npu::inspect {
namespace {

using graph::FeatureStatus;

const std::vector<FeatureSupport>& all_features() {
  static const std::vector<FeatureSupport> features = inspect_features(built_in_machines());
  return features;
}

const FeatureSupport* find_feature(const std::string& feature, const std::string& with) {
  const auto found = std::find_if(all_features().begin(), all_features().end(), [&](const FeatureSupport& support) {
    return support.feature == feature && support.with == with;
  });
  return found == all_features().end() ? nullptr : &*found;
}

// Rows of the table that need just this.
size_t rows_of(graph::Features any, graph::Features all) {
  size_t rows = 0;
  for (uint32_t i = 1; i < graph::kOpCount; ++i) {
    const graph::OperatorInfo& entry = graph::info(static_cast<graph::Op>(i));
    if (entry.op == graph::Op::kCustom) continue;  // no profile asks for one
    for (const graph::TypeRow& row : entry.types) rows += (row.any_of & any) != 0 && row.all_of == all ? 1 : 0;
    if (entry.types.empty()) rows += (entry.any_of & any) != 0 && all == 0 ? 1 : 0;
  }
  return rows;
}

TEST(FeatureSupport, CountsTheRowsOfTheTable) {
  for (const graph::Features feature :
       {graph::kProInt, graph::kProFp, graph::kExtInt16, graph::kExtInt4, graph::kExtBf16, graph::kExtFp8E4M3,
        graph::kExtFp8E5M2, graph::kExtFft, graph::kExtControlFlow}) {
    const std::string name(graph::feature_name(feature));
    ASSERT_NE(find_feature(name, ""), nullptr) << name;
    EXPECT_EQ(find_feature(name, "")->rows, rows_of(feature, 0)) << name;
  }
  ASSERT_NE(find_feature("EXT-VARIABLE", "PRO-INT"), nullptr);
  EXPECT_EQ(find_feature("EXT-VARIABLE", "PRO-INT")->rows, rows_of(graph::kProInt, graph::kExtVariable));
  EXPECT_EQ(find_feature("EXT-VARIABLE", ""), nullptr) << "it needs a profile";
}

TEST(FeatureSupport, HasEachFeatureWithItsStatus) {
  const std::map<std::string, FeatureStatus> wanted = {{"PRO-INT", FeatureStatus::kComplete},
                                                       {"PRO-FP", FeatureStatus::kComplete},
                                                       {"EXT-INT16", FeatureStatus::kComplete},
                                                       {"EXT-INT4", FeatureStatus::kComplete},
                                                       {"EXT-BF16", FeatureStatus::kExperimental},
                                                       {"EXT-FP8E4M3", FeatureStatus::kExperimental},
                                                       {"EXT-FP8E5M2", FeatureStatus::kExperimental},
                                                       {"EXT-FFT", FeatureStatus::kComplete},
                                                       {"EXT-VARIABLE", FeatureStatus::kExperimental},
                                                       {"EXT-CONTROLFLOW", FeatureStatus::kExperimental},
                                                       {"EXT-DYNAMIC", FeatureStatus::kExperimental},
                                                       {"EXT-DOUBLEROUND", FeatureStatus::kComplete},
                                                       {"EXT-INEXACTROUND", FeatureStatus::kExperimental},
                                                       {"PROPOSAL-VARIABLE", FeatureStatus::kProposal},
                                                       {"EXT-SHAPE", FeatureStatus::kExperimental}};
  EXPECT_EQ(wanted.size(), graph::kFeatureCount);
  std::map<std::string, FeatureStatus> there;
  for (const FeatureSupport& support : all_features()) there[support.feature] = support.status;
  EXPECT_EQ(there, wanted);
}

TEST(FeatureSupport, SaysWhatIsWholeAndWhatIsMissing) {
  std::set<std::string> on_edge;
  for (const FeatureSupport& support : all_features()) {
    ASSERT_EQ(support.runners.size(), 1 + presets::preset_names().size());
    EXPECT_EQ(support.runners[0].runner, "reference");
    EXPECT_TRUE(support.runners[0].missing.empty()) << support.feature << ": the reference runs all of TOSA";
    for (const FeatureCoverage& coverage : support.runners) {
      EXPECT_LE(coverage.missing.size(), support.rows);
      if (coverage.runner == "edge" && coverage.missing.empty()) on_edge.insert(support.feature + support.with);
    }
  }
  for (const char* feature :
       {"PRO-INT", "EXT-INT16", "EXT-INT4", "EXT-CONTROLFLOW", "EXT-VARIABLEPRO-INT", "EXT-BF16"}) {
    EXPECT_EQ(on_edge.count(feature), 1U) << feature;
  }
  EXPECT_EQ(on_edge.count("EXT-FFT"), 0U) << "its MXU has no FP32";
}

TEST(FeatureSupport, CountsRunTimeOperandsAndRoundings) {
  const FeatureSupport* dynamic = find_feature("EXT-DYNAMIC", "PRO-INT");
  const FeatureSupport* doubled = find_feature("EXT-DOUBLEROUND", "PRO-INT");
  ASSERT_TRUE(dynamic != nullptr && doubled != nullptr);
  EXPECT_GT(dynamic->rows, doubled->rows);
  EXPECT_EQ(find_feature("EXT-INEXACTROUND", "PRO-INT")->rows, doubled->rows);
  // Sources of INT48 have 16-bit scales, which DOUBLE_ROUND does not allow.
  EXPECT_NE(find_feature("EXT-INEXACTROUND", "EXT-INT16"), nullptr);
  EXPECT_EQ(find_feature("EXT-DOUBLEROUND", "EXT-INT16"), nullptr);
}

// What integers need besides their types: each machine takes operands at run time, and rounds, wherever it computes.
TEST(FeatureSupport, MachinesTakeRunTimeOperandsAndRoundingsOfAllIntegers) {
  for (const auto& [feature, with] : {std::pair{"EXT-DYNAMIC", "PRO-INT"},
                                      {"EXT-DYNAMIC", "EXT-INT16"},
                                      {"EXT-DYNAMIC", "EXT-INT4"},
                                      {"EXT-DOUBLEROUND", "PRO-INT"},
                                      {"EXT-INEXACTROUND", "PRO-INT"},
                                      {"EXT-INEXACTROUND", "EXT-INT16"}}) {
    SCOPED_TRACE(std::string(feature) + " " + with);
    const FeatureSupport* support = find_feature(feature, with);
    ASSERT_NE(support, nullptr);
    EXPECT_GT(support->rows, 0U);
    for (const FeatureCoverage& coverage : support->runners) {
      EXPECT_TRUE(coverage.missing.empty()) << coverage.runner << ": " << coverage.missing.front();
    }
  }
}

TEST(FeatureSupport, IsPrinted) {
  FeatureSupport whole{"PRO-INT", "", FeatureStatus::kComplete, 3, {{"reference", {}}, {"nano", {}}, {"edge", {}}}};
  FeatureSupport part{"EXT-DYNAMIC", "PRO-INT", FeatureStatus::kExperimental, 3, {}};
  part.runners = {{"reference", {}}, {"nano", {"MUL: INT8, shift at run time", "MUL: INT16, shift at run time"}}};
  part.runners.push_back({"edge", {"ABS: a", "MUL: b", "MUL: c"}});
  const std::string text = to_text({whole, part});
  EXPECT_EQ(text, R"(profile or extension      status        reference      nano           edge
PRO-INT                   complete      whole, 3 rows  whole, 3 rows  whole, 3 rows
EXT-DYNAMIC with PRO-INT  experimental  whole, 3 rows  1 of 3 rows    0 of 3 rows

EXT-DYNAMIC with PRO-INT, missing on nano: MUL (2)
)");
  const nlohmann::ordered_json document = to_json({whole, part});
  EXPECT_EQ(document[1]["runners"][1]["runs"], 1);
  EXPECT_EQ(document[1]["runners"][1]["whole"], false);
  EXPECT_EQ(document[1]["runners"][1]["missing"].size(), 2U);
  EXPECT_EQ(document[0]["runners"][2]["whole"], true);
  EXPECT_EQ(document[1]["with"], "PRO-INT");
  EXPECT_EQ(document[1]["status"], "experimental");
}

TEST(FeatureSupport, AsksAMachineOfItsOwnToo) {
  presets::Preset other = presets::load_preset("edge");
  EXPECT_EQ(machines_with(other).size(), presets::preset_names().size());
  other.name = "mine";
  EXPECT_EQ(machines_with(other).size(), presets::preset_names().size() + 1);
  EXPECT_EQ(machines_with(other).back().name, "mine");
  other.name = "edge";
  other.caps.mxu_int16 = 0;
  EXPECT_EQ(machines_with(other).back().name, "edge (file)");
  EXPECT_EQ(machines_with(other).back().caps.mxu_int16, 0U);
}

}  // namespace
}  // namespace npu::inspect
