#include "sim/cli/mlir_cleanup.h"

#include <gtest/gtest.h>

namespace npu::cli {
namespace {

TEST(CleanMlir, DropsModuleAttributes) {
  EXPECT_EQ(clean_mlir("module attributes {tfl.metadata = {a = \"}{\"}} {\n}\n"), "module {\n}\n");
}

TEST(CleanMlir, DropsCastsToTheSameTypeAndFollowsChains) {
  EXPECT_EQ(clean_mlir("  %1 = builtin.unrealized_conversion_cast %0 : tensor<1xi8> to tensor<1xi8>\n"
                       "  %2 = builtin.unrealized_conversion_cast %1 : tensor<1xi8> to tensor<1xi8>\n"
                       "  %10 = tosa.add %1, %2 : (tensor<1xi8>) -> tensor<1xi8>\n"),
            "  %10 = tosa.add %0, %0 : (tensor<1xi8>) -> tensor<1xi8>\n");
}

TEST(CleanMlir, KeepsCastsThatChangeTheType) {
  const std::string text = "  %1 = builtin.unrealized_conversion_cast %0 : tensor<1xi8> to tensor<1xui8>\n";
  EXPECT_EQ(clean_mlir(text), text);
}

TEST(CleanMlir, LeavesStringsAlone) {
  const std::string cast = "  %1 = builtin.unrealized_conversion_cast %0 : tensor<1xi8> to tensor<1xi8>\n";
  EXPECT_EQ(clean_mlir(cast + "  tosa.variable @\"%1 \\\" %1\" = %1\n"), "  tosa.variable @\"%1 \\\" %1\" = %0\n");
}

TEST(ForeignOperations, NamesEachOnce) {
  EXPECT_EQ(foreign_operations("  %1 = \"tfl.rsqrt\"(%0) : x\n  %2 = \"tfl.rsqrt\"(%1) : x\n  \"tf.If\"(%2)\n"),
            (std::vector<std::string>{"tfl.rsqrt", "tf.If"}));
}

TEST(ForeignOperations, AttributesAreNone) {
  EXPECT_TRUE(
      foreign_operations("func.func @main() attributes {tf.entry_function = {}} {\n  %1 = tosa.add %0, %0\n").empty());
}

}  // namespace
}  // namespace npu::cli
