// SPDX-License-Identifier: Apache-2.0
// By what name a variable of a file is known.
#include <gtest/gtest.h>

#include <iostream>
#include <set>

#include "driver/graph/builder.h"
#include "driver/graph/reader.h"
#include "driver/graph/validate.h"
#include "driver/graph/writer.h"

namespace npu::graph {
namespace {

Graph read(const std::vector<uint8_t>& file) {
  return parse_tosa(std::make_shared<const std::vector<uint8_t>>(file), "a file");
}

// A graph of two variables, declared by operators, with what the file says of each of them.
struct Said {
  std::string variable_name, location;
};
Graph graph_of(const Said& first, const Said& second) {
  GraphBuilder b;
  for (const char* name : {"first", "second"}) {
    const TensorId state = b.variable(name, DType::kInt8, {3});
    b.declare(state);
    b.output(b.read(state));
  }
  Graph graph = b.build();
  const Said* said = &first;
  for (Operator& op : graph.main().operators) {
    if (op.op != Op::kVariable) continue;
    graph.main().tensors[op.outputs[0]].variable_name = said->variable_name;
    op.location = said->location;
    said = &second;
  }
  return graph;
}

std::vector<std::string> identities(const Graph& graph) {
  std::vector<std::string> found;
  for (const Operator& op : graph.main().operators) {
    if (op.op == Op::kVariable) found.push_back(variable_identity(graph.main().tensors[op.outputs[0]]));
  }
  return found;
}

std::vector<std::string> read_identities(const Said& first, const Said& second) {
  const Graph graph = read(serialize(graph_of(first, second)));
  EXPECT_NO_THROW(validate(graph));
  return identities(graph);
}

using Names = std::vector<std::string>;

TEST(VariableIdentity, IsTheVariableName) {
  EXPECT_EQ(read_identities({"a b/c:0.x", "loc(\"other\")"}, {"d", ""}), (Names{"a b/c:0.x", "d"}));
}

TEST(VariableIdentity, ElseTheNameOfTheOperatorThatDeclaresIt) {
  EXPECT_EQ(read_identities({"", "stream/state"}, {"", "loc(\"cell\")"}), (Names{"stream/state", "cell"}));
  EXPECT_EQ(read_identities({"", "loc(\"cell\"(\"net.mlir\":5:10))"}, {"d", ""}), (Names{"cell", "d"}));
}

// Places in a source file are no names, nor is what two operators have.
TEST(VariableIdentity, ElseOneThatNoOtherFileHas) {
  std::set<std::string> known;
  int count = 0;
  for (const char* location : {"", "loc(unknown)", "loc(\"net.mlir\":5:10)", "loc(\"open", "loc(\"open\"", "loc(\"\")",
                               "loc(callsite(\"f\" at \"g\"))", "cell"}) {
    const Names names = read_identities({"", location}, {"", location});
    EXPECT_EQ(names, read_identities({"", location}, {"", location})) << "the same file, " << location;
    EXPECT_NE(names[0], names[1]) << location;
    EXPECT_EQ(names[0].substr(0, 9), names[1].substr(0, 9)) << "they share the file's checksum";
    for (const std::string& name : names) {
      EXPECT_TRUE(name.size() > 9 && name[8] == '/') << name;
      EXPECT_NE(name.find("Variable_"), std::string::npos) << name;
      EXPECT_TRUE(known.insert(name).second) << name << " is another file's, too";
      ++count;
    }
  }
  std::cout << count << " variables without a name have names of their own\n";
}

TEST(VariableIdentity, StaysWhenTheGraphIsWrittenAgain) {
  const Graph graph = read(serialize(graph_of({"", ""}, {"", "cell"})));
  EXPECT_EQ(identities(read(serialize(graph))), identities(graph));
}

// The tensor of a branch is the variable of the main block, whose operator has the name.
TEST(VariableIdentity, IsTheSameInAllBlocks) {
  for (const char* location : {"", "cell"}) {
    GraphBuilder b;
    const TensorId flag = b.input("flag", DType::kBool, {1});
    const TensorId state = b.variable("state", DType::kInt8, {3});
    b.declare(state);
    const std::string tensor = b.tensor(state).name;
    for (const char* region : {"then", "else"}) {
      GraphBuilder branch(region);
      const TensorId inner = branch.variable("state", DType::kInt8, {3});
      branch.output(branch.read(inner), std::string(region) + "_out");
      b.add_region(branch);
    }
    b.output(b.cond_if(flag, {}, "then", "else")[0]);
    Graph graph = b.build();
    graph.main().operators[0].location = location;
    for (Region& region : graph.regions) {
      for (Tensor& each : region.blocks[0].tensors) {
        each.variable_name.clear();
        if (each.variable) each.name = tensor;
      }
    }
    graph = read(serialize(graph));
    EXPECT_NO_THROW(validate(graph));
    std::set<std::string> names;
    int variables = 0;
    for (const Region& region : graph.regions) {
      for (const Tensor& each : region.blocks[0].tensors) {
        if (!each.variable) continue;
        names.insert(variable_identity(each));
        ++variables;
      }
    }
    EXPECT_EQ(variables, 3);
    EXPECT_EQ(names.size(), 1U);
  }
}

}  // namespace
}  // namespace npu::graph
