// SPDX-License-Identifier: Apache-2.0
// Each form is legal and needs just the profiles and extensions that it names.
#include "sim/generator/operator_forms.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "driver/graph/analyse.h"
#include "driver/graph/validate.h"

namespace npu::generator {
namespace {

TEST(OperatorForms, AreLegalAndNeedWhatTheyName) {
  std::set<std::string> texts;
  graph::Features seen = 0;
  for (const OperatorForm& form : operator_forms()) {
    const std::string text = std::string(name(form.info->op)).append(" ").append(form.text);
    SCOPED_TRACE(text);
    EXPECT_TRUE(texts.insert(text).second) << "twice";
    ASSERT_NO_THROW(graph::validate(form.sample.graph));
    const graph::Needs needs = graph::analyse(form.sample.graph);
    seen |= form.any_of | form.all_of;
    if (graph::is_shape_operator(form.info->op)) continue;  // is a constant in the sample
    for (uint32_t i = 0; i < graph::kFeatureCount; ++i) {
      if ((form.all_of >> i & 1) == 0) continue;
      EXPECT_EQ(needs.extensions.count(std::string(graph::feature_name(1u << i))), 1U) << graph::feature_name(1u << i);
    }
    for (const graph::Features extension : {graph::kExtDynamic, graph::kExtDoubleRound, graph::kExtInexactRound}) {
      if ((form.all_of & extension) != 0) continue;
      EXPECT_EQ(needs.extensions.count(std::string(graph::feature_name(extension))), 0U)
          << graph::feature_name(extension);
    }
  }
  EXPECT_EQ(seen, (1u << graph::kFeatureCount) - 1) << "a profile or an extension without a form";
}

}  // namespace
}  // namespace npu::generator
