// SPDX-License-Identifier: Apache-2.0
#include "sim/importer/mlir_cleanup.h"

#include <gtest/gtest.h>

#include "hw/contract/error.h"

namespace npu::importer {
namespace {

using contract::ErrorCode;

std::string function(const std::string& body, const std::string& name = "main") {
  return "\"func.func\"() <{sym_name = \"" + name + "\"}> ({\n^bb0(%a: tensor<4xi8>):\n" + body +
         "\"func.return\"(%r) : (tensor<4xi8>) -> ()\n}) {tf.x} : () -> ()\n";
}

std::string module(const std::string& operations) {
  return "\"builtin.module\"() ({\n" + operations + "}) {tfl.metadata = {a = \"}{\"}} : () -> ()\n";
}

// What a module with this function becomes, without what is around the body.
std::string body_of(const std::string& body) {
  const std::string text = clean_mlir(module(function(body)), "net.mlir");
  const std::string_view head = "^bb0(%a: tensor<4xi8>):\n", tail = "\"func.return\"";
  const size_t begin = text.find(head) + head.size();
  return text.substr(begin, text.rfind(tail) - begin);
}

std::string copy(const std::string& result, const std::string& operand) {
  return result + " = \"tosa.identity\"(" + operand + ") : (tensor<4xi8>) -> (tensor<4xi8>)\n";
}

void expect_error(const std::string& text, ErrorCode code, const std::string& fragment, const std::string& name = "") {
  try {
    (void)clean_mlir(text, "net.mlir", name);
    ADD_FAILURE() << "taken: " << text;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_NE(std::string(error.what()).find(fragment), std::string::npos) << error.what();
  }
}

TEST(CleanMlir, KeepsVariablesAndTheFunctionOnly) {
  const std::string variable = "\"tosa.variable\"() <{sym_name = \"v\"}> : () -> ()\n",
                    unused = "\"tosa.variable\"() <{sym_name = \"w\"}> : () -> ()\n",
                    write = "\"tosa.variable_write\"(%a) <{name = \"v\"}> : (tensor<4xi8>) -> ()\n";
  const std::string text =
      clean_mlir("#loc = loc(\"a\":1:1)\n" +
                     module("\"ml_program.global\"() {x} : () -> ()\n" + function(copy("%r", "%a"), "other") +
                            variable + unused + function(copy("%r", "%a") + write)) +
                     "{-# x #-}\n",
                 "net.mlir");
  EXPECT_EQ(text, "#loc = loc(\"a\":1:1)\n\"builtin.module\"() ({\n" + variable +
                      "\"func.func\"() <{sym_name = \"main\"}> ({\n^bb0(%a: tensor<4xi8>):\n" + copy("%r", "%a") +
                      write + "\"func.return\"(%r) : (tensor<4xi8>) -> ()\n}) : () -> ()\n}) : () -> ()\n{-# x #-}\n");
}

TEST(CleanMlir, ChoosesTheFunction) {
  const std::string one = module(function(copy("%r", "%a"), "f")),
                    nested = module(module(function(copy("%r", "%a"), "f") + function(copy("%r", "%a"), "g")));
  EXPECT_NE(clean_mlir(one, "net.mlir").find("\"f\""), std::string::npos);
  EXPECT_NE(clean_mlir(nested, "net.mlir", "g").find("\"g\""), std::string::npos);
  EXPECT_EQ(clean_mlir(nested, "net.mlir", "g").find("\"f\""), std::string::npos);
  expect_error(nested, ErrorCode::kBadOption, "--function (f, g)");
  expect_error(one, ErrorCode::kBadOption, "no function g", "g");
  expect_error(module("\"func.func\"() <{sym_name = \"main\"}> ({\n}) : () -> ()\n"), ErrorCode::kBadStructure,
               "net.mlir");
}

TEST(CleanMlir, DropsCastsThatChangeNoBitsAndFollowsChains) {
  const std::string cast = "\"builtin.unrealized_conversion_cast\"";
  EXPECT_EQ(
      body_of("%1 = " + cast + "(%a) : (tensor<4xi8>) -> tensor<4xui8>\n%2 = " + cast +
              "(%1) : (tensor<4xui8>) -> tensor<4x!quant.uniform<i8:f32, 0.5>>\n%3:2 = " + cast +
              "(%2, %a) : (tensor<4x!quant.uniform<i8:f32, 0.5>>, tensor<4xi8>) -> (tensor<4xi8>, tensor<4xsi8>)\n" +
              copy("%r", "%3#0") + copy("%4", "%3#1")),
      copy("%r", "%a") + copy("%4", "%a"));
  expect_error(module(function("%r = " + cast + "(%a) : (tensor<4xi8>) -> tensor<4xi16> loc(\"x.mlir\":7:1)\n")),
               ErrorCode::kOperatorUnsupported, "from tensor<4xi8> to tensor<4xi16> (x.mlir line 7)");
}

TEST(CleanMlir, SplitsIdentityN) {
  const std::string types = " : (tensor<4xi8>, tensor<2xf32>) -> (tensor<4xi8>, tensor<2xf32>)\n";
  const std::string expected =
      "%b = \"tosa.const\"() <{values = 0}> : () -> (tensor<2xf32>)\n" + copy("%npu_import_0", "%a") +
      "%npu_import_1 = \"tosa.identity\"(%b) : (tensor<2xf32>) -> (tensor<2xf32>)\n" + copy("%r", "%npu_import_0");
  for (const std::string& name : {std::string("\"tosa.custom\"(%a, %b) <{operator_name = \"IDENTITYN\"}>"),
                                  std::string("\"tf.IdentityN\"(%a, %b)")}) {
    EXPECT_EQ(body_of("%b = \"tosa.const\"() <{values = 0}> : () -> tensor<2xf32>\n%0:2 = " + name + types +
                      copy("%r", "%0#0")),
              expected);
  }
  const std::string custom =
      "%r = \"tosa.custom\"(%a) <{operator_name = \"mine\"}> : (tensor<4xi8>) -> (tensor<4xi8>)\n";
  EXPECT_EQ(body_of(custom), custom);
}

TEST(CleanMlir, RepeatsConstantsInsideOfRegions) {
  const std::string constant = "\"tosa.const\"() <{values = 1}> : () -> (tensor<4xi8>)\n";
  const std::string loop = "%r = \"tosa.while_loop\"(%a) ({\n^bb0(%b: tensor<4xi8>):\n",
                    end = "\"tosa.yield\"(%b) : (tensor<4xi8>) -> ()\n}) : (tensor<4xi8>) -> (tensor<4xi8>)\n";
  EXPECT_EQ(body_of("%c = " + constant + loop + copy("%d", "%c") + copy("%e", "%c") + copy("%f", "%d") + end),
            "%c = " + constant + loop + "%npu_import_0 = " + constant + copy("%d", "%npu_import_0") +
                copy("%e", "%npu_import_0") + copy("%f", "%d") + end);
  expect_error(module(function(loop + copy("%d", "%a") + end)), ErrorCode::kBadStructure, "from outside");
}

TEST(CleanMlir, PutsWideReshapesBehindTheirRescale) {
  const std::string wide = "%w = \"tosa.cast\"(%a) : (tensor<4xi8>) -> (tensor<2x2xi48>)\n";
  const auto reshape = [](const std::string& to) {
    return "%0 = \"tosa.reshape\"(%w, %s) : (tensor<2x2xi48>, !tosa.shape<1>) -> (tensor<" + to + "xi48>)\n";
  };
  const auto rescale = [](const std::string& channel) {
    return "\"tosa.rescale\"(%0, %m) <{per_channel = " + channel +
           "}> : (tensor<4xi48>, tensor<1xi16>) -> (tensor<4xi8>)\n";
  };
  EXPECT_EQ(
      body_of(wide + reshape("4") + "%r = " + rescale("false")),
      wide +
          "%npu_import_0 = \"tosa.rescale\"(%w, %m) <{per_channel = false}> : (tensor<2x2xi48>, tensor<1xi16>) -> "
          "(tensor<2x2xi8>)\n"
          "%r = \"tosa.reshape\"(%npu_import_0, %s) : (tensor<2x2xi8>, !tosa.shape<1>) -> (tensor<4xi8>)\n");
  const std::string other_channels = wide + reshape("4") + "%r = " + rescale("true");
  EXPECT_EQ(body_of(other_channels), other_channels);
  const std::string other_use = wide + reshape("4") + copy("%1", "%0") + "%r = " + rescale("false");
  EXPECT_EQ(body_of(other_use), other_use);
}

TEST(CleanMlir, NamesForeignOperationsAndTheirPlaces) {
  expect_error("#loc1 = loc(\"x.mlir\":9:2)\n#loc2 = loc(\"layer\"(#loc1))\n" +
                   module(function("%0 = \"tfl.rsqrt\"(%a) : (tensor<4xi8>) -> tensor<4xi8> loc(#loc2)\n"
                                   "%1 = \"tfl.rsqrt\"(%0) : (tensor<4xi8>) -> tensor<4xi8>\n"
                                   "%r = \"tosa.row_gather\"(%1) : (tensor<4xi8>) -> tensor<4xi8>\n")),
               ErrorCode::kOperatorUnsupported, ": tfl.rsqrt (x.mlir line 9), tosa.row_gather (net.mlir)");
  expect_error(module(function("%r = \"func.call\"(%a) : (tensor<4xi8>) -> tensor<4xi8>\n")),
               ErrorCode::kOperatorUnsupported, "inlined");
}

TEST(CleanMlir, RefusesUnsignedArithmetic) {
  expect_error(module(function("%r = \"tosa.abs\"(%a) : (tensor<4xui8>) -> tensor<4xui8>\n")),
               ErrorCode::kTypeUnsupported, "tosa.abs has the unsigned type tensor<4xui8>");
  const std::string operation = "%r = \"tosa.rescale\"(%a) <{input_unsigned = false, output_unsigned = ",
                    types = "}> : (tensor<4xi8>) -> (tensor<4x";
  EXPECT_EQ(body_of(operation + "true" + types + "ui8>)\n"), operation + "true" + types + "i8>)\n");
  expect_error(module(function(operation + "false" + types + "ui8>)\n")), ErrorCode::kTypeUnsupported,
               "output_unsigned");
}

TEST(CleanMlir, RefusesElementsThatTosaLacks) {
  for (const char* element : {"i64", "f64", "index", "i7", "complex<f32>"}) {
    const std::string type = std::string("tensor<2x4x") + element + ">";
    expect_error(module(function("%r = \"tosa.abs\"(%a) : (tensor<4xi8>) -> " + type + "\n")),
                 ErrorCode::kTypeUnsupported, type);
  }
  for (const char* element : {"i1", "si8", "i48", "f16", "bf16", "f8E4M3FN", "!quant.uniform<i8:f32, 0.5>"}) {
    EXPECT_NE(body_of(std::string("%r = \"tosa.identity\"(%a) : (tensor<4xi8>) -> (tensor<") + element + ">)\n"), "");
  }
}

TEST(CleanMlir, NamesNoLinesOfWhatWasConverted) {
  const std::vector<LstmFacts> none;
  try {
    (void)clean_mlir(module(function("%r = \"tfl.x\"(%a) : (tensor<4xi8>) -> tensor<4xi8> loc(\"n.tflite\":3:1)\n")),
                     "'n.tflite'", "", &none);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "'n.tflite' has operations that TOSA 1.0 does not have: tfl.x");
  }
}

TEST(CleanMlir, RefusesWhatHasNoSizesOrData) {
  expect_error(module(function("%r = \"tosa.abs\"(%a) : (tensor<4xi8>) -> tensor<*xi8>\n")),
               ErrorCode::kFeatureUnsupported, "tensor<*xi8>");
  expect_error(module(function("%r = \"tosa.const\"() <{values = dense_resource<__elided__> : tensor<4xi8>}> : () -> "
                               "tensor<4xi8>\n")),
               ErrorCode::kBadData, "__elided__");
}

TEST(CleanMlir, RefusesBranches) {
  expect_error(R"("func.func"() <{sym_name = "main"}> ({
"cf.br"()[^bb1] : () -> ()
^bb1:  // pred: ^bb0
"func.return"() : () -> ()
}) : () -> ()
)",
               ErrorCode::kBadStructure, "cf.br");
}

}  // namespace
}  // namespace npu::importer
