// SPDX-License-Identifier: Apache-2.0
#include "sim/importer/mlir_text.h"

#include <gtest/gtest.h>

#include "hw/contract/error.h"

namespace npu::importer {
namespace {

std::string printed(const MlirFile& file) {
  std::string text;
  for (const MlirOperation& op : file.operations) print_mlir(op, text);
  return text;
}

TEST(ParseMlir, TakesAnOperationApart) {
  const std::string text = R"(%5:2 = "a.b"(%0#1, %arg0) <{x = "})>", y = array<i64: 1, 2>}> {foreign.z = "("}
  : (tensor<4x!q.t<"->a">>, i32) -> (f32, tensor<*xi8>) loc("n"(#loc3))
#loc3 = loc("a.mlir":3:1)
{-# dialect_resources: {} #-}
)";
  const MlirFile file = parse_mlir(text);
  ASSERT_EQ(file.operations.size(), 1u);
  const MlirOperation& op = file.operations[0];
  EXPECT_EQ(op.name, "a.b");
  EXPECT_EQ(op.operands, (std::vector<std::string>{"%0#1", "%arg0"}));
  EXPECT_EQ(op.operand_types, (std::vector<std::string>{"tensor<4x!q.t<\"->a\">>", "i32"}));
  EXPECT_EQ(op.result_types, (std::vector<std::string>{"f32", "tensor<*xi8>"}));
  EXPECT_EQ(op.result_value(1), "%5#1");
  EXPECT_EQ(property(op.properties, "y"), "array<i64: 1, 2>");
  EXPECT_EQ(string_property(op.properties, "x"), "})>");
  EXPECT_EQ(property(op.properties, "z"), "");
  EXPECT_EQ(op.location, "loc(\"n\"(#loc3))");
  EXPECT_EQ(file.aliases, (std::vector<std::string_view>{"#loc3 = loc(\"a.mlir\":3:1)"}));
  EXPECT_EQ(file.resources, "{-# dialect_resources: {} #-}\n");
}

TEST(ParseMlir, PrintsRegionsAgain) {
  const std::string text =
      "%0:2 = \"tosa.cond_if\"(%arg0) ({\n"
      "^bb0(%a: tensor<i1> loc(unknown), %b: i8):\n"
      "\"tosa.yield\"() : () -> ()\n"
      "}, {\n"
      "}) : (tensor<i1>) -> (i8, i8) loc(#loc)\n";
  EXPECT_EQ(printed(parse_mlir(text)), text);
}

TEST(ParseMlir, RefusesWhatIsNotOfThisForm) {
  const std::string nested(100'000, '(');
  for (const std::string& text :
       {std::string("module {}"), std::string("\"a.b\"("), std::string("\"a.b"),
        std::string("\"a.b\"() <{x = [}> : () -> ()"), std::string("\"a.b\"(%0) : () -> ()"),
        std::string("%0 = \"a.b\"() : () -> ()"), "\"a.b\"() " + nested, std::string("\"a.b\"() ({ : () -> ()")}) {
    EXPECT_THROW((void)parse_mlir(text), Error) << text.substr(0, 40);
  }
}

TEST(ParseMlir, RefusesDeepNesting) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "\"a\"() ({";
  EXPECT_THROW((void)parse_mlir(text), Error);
}

TEST(Signless, ChangesTypesAndNothingElse) {
  EXPECT_EQ(signless("tensor<4xui8>, tensor<?xsi16>, ui32, tensor<ui8>"),
            "tensor<4xi8>, tensor<?xi16>, i32, tensor<i8>");
  EXPECT_EQ(signless("<{maxui8 = \"4xui8\", ui8_ = \"\\\"ui8\", v = 1 : ui8}>"),
            "<{maxui8 = \"4xui8\", ui8_ = \"\\\"ui8\", v = 1 : i8}>");
  EXPECT_EQ(signless("tensor<4x!quant.uniform<u8:f32, 0.5:3>>"), "tensor<4xu8>");
  EXPECT_EQ(signless("tensor<4x!quant.uniform<i8<-127:127>:f32:0, {0.1, 0.2}>>"), "tensor<4xi8>");
}

TEST(WithoutQuantisation, LeavesWhatStoresTheValues) {
  EXPECT_EQ(without_quantisation("tensor<4x!quant.uniform<i8<-127:127>:f32, 5.0e-01:-3>>, !quant.any<u8:f32>"),
            "tensor<4xi8>, ui8");
  EXPECT_EQ(without_quantisation("a !quant.uniform<i8:f32:0, {0.5,\n 0.25}> b\n"), "a i8\n b\n") << "lines stay";
  for (const char* same : {"\"!quant.uniform<i8>\"", "// !quant.uniform<i8>\n", "!quant.mine, x", "!quant", "a / b"}) {
    EXPECT_EQ(without_quantisation(same), same);
  }
}

}  // namespace
}  // namespace npu::importer
