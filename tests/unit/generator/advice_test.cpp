// SPDX-License-Identifier: Apache-2.0
// Where the compiler says that `npu reference` runs what the device does not, the reference runs it.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "driver/compiler/support.h"
#include "driver/graph/builder.h"
#include "hw/presets/preset.h"
#include "sim/generator/operator_forms.h"
#include "sim/reference/reference.h"

namespace npu::generator {
namespace {

// Whether something is refused with that advice; what is has to run on the reference.
bool is_sent_to_reference(const OperatorSample& sample) {
  const auto rows = compiler::support(sample.graph, presets::load_preset("edge").caps);
  const bool sent = std::any_of(rows.begin(), rows.end(), [](const compiler::SupportRow& row) {
    return !row.ok && row.way_out.find("npu reference") != std::string::npos;
  });
  if (!sent) return false;
  reference::Context context;
  EXPECT_NO_THROW(static_cast<void>(reference::run(sample.graph, sample.inputs, context)));
  return true;
}

// Those with operands at run time and other roundings are among them.
TEST(Advice, TheReferenceRunsTheOperatorsThatAreSentToIt) {
  int sent = 0, at_run_time = 0;
  for (const OperatorForm& form : operator_forms()) {
    SCOPED_TRACE(std::string(name(form.info->op)) + " " + form.text);
    const bool is_sent = is_sent_to_reference(form.sample);
    sent += is_sent ? 1 : 0;
    at_run_time += (form.all_of & graph::kExtDynamic) != 0 ? 1 : 0;
  }
  EXPECT_GT(sent, 0);
  EXPECT_GT(at_run_time, 0);
}

TEST(Advice, TheReferenceRunsWindowsThatAreSentToIt) {
  graph::GraphBuilder b;
  b.output(b.max_pool2d(b.input("x", graph::DType::kInt8, {1, 70001, 1, 1}), {70000, 1}, {1, 1}, {0, 0, 0, 0}));
  OperatorSample sample{b.build(), {}};
  sample.inputs.push_back({graph::DType::kInt8, {1, 70001, 1, 1}, std::vector<uint8_t>(70001, 3)});
  EXPECT_TRUE(is_sent_to_reference(sample));
}

}  // namespace
}  // namespace npu::generator
