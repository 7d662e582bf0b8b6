// SPDX-License-Identifier: Apache-2.0
// The reference on real networks against Arm's official reference model: of integer networks every result, every state
// and every operator's result equal to the goldens; of floating-point networks the results near them.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "driver/graph/float_format.h"
#include "driver/graph/npy.h"
#include "driver/graph/reader.h"
#include "sim/reference/reference.h"

namespace npu::reference {
namespace {

namespace fs = std::filesystem;
using graph::DType;
using graph::Value;
using nlohmann::json;

const fs::path kZoo = NPU_ZOO_DIR;

json read_json(const fs::path& path) {
  std::ifstream file(path);
  return json::parse(file);
}

uint32_t crc32(std::span<const uint8_t> bytes) {
  uint32_t crc = 0xffffffff;
  for (const uint8_t byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320 : 0);
    }
  }
  return ~crc;
}

// An array as the value of a tensor.
Value value_of(const graph::NpyArray& array, const graph::Tensor& tensor) {
  return graph::to_value(array, tensor.type, &tensor.shape, false);
}

// Folder of its own with the members of a .npz; removed at the end.
class Npz {
 public:
  explicit Npz(const fs::path& file) {
    std::string name = (fs::temp_directory_path() / "npzXXXXXX").string();
    folder_ = mkdtemp(name.data());
#ifdef NPU_PYTHON
    const std::string command =
        std::string("'") + NPU_PYTHON + "' -m zipfile -e '" + file.string() + "' '" + folder_.string() + "'";
    unpacked_ = std::system(command.c_str()) == 0;
#endif
  }
  Npz(const Npz&) = delete;
  Npz& operator=(const Npz&) = delete;
  ~Npz() { fs::remove_all(folder_); }
  [[nodiscard]] bool unpacked() const { return unpacked_; }
  [[nodiscard]] graph::NpyArray read(const std::string& name) const {
    return graph::read_npy(folder_ / (name + ".npy"));
  }

 private:
  fs::path folder_;
  bool unpacked_ = false;
};

// Elements compared and found different.
struct Count {
  int64_t compared = 0, differing = 0;
  void add(const graph::Difference& difference) {
    compared += difference.compared;
    differing += difference.differing;
  }
};

// Compares each operator's result with its CRC.
class Taps {
 public:
  explicit Taps(const json& taps, const graph::Block& block) : block_(block) {
    for (const json& tap : taps) {
      expected_[tap.at("t").get<std::string>()] = tap;
    }
  }
  void observe(const graph::Operator& op, const std::vector<const Value*>& results) {
    for (size_t i = 0; i < results.size(); ++i) {
      const std::string& tensor = block_.tensors[op.outputs[i]].name;
      const auto tap = expected_.find(tensor);
      if (tap == expected_.end()) {
        continue;
      }
      EXPECT_EQ(crc32(results[i]->bytes), tap->second.at("crc32").get<uint32_t>())
          << "first wrong: " << graph::name(op.op) << " '" << tensor << "'";
      ++compared_;
    }
  }
  void finish() const { EXPECT_EQ(compared_, expected_.size()) << "operators of taps.json that were not seen"; }
  [[nodiscard]] size_t compared() const { return compared_; }

 private:
  const graph::Block& block_;
  std::map<std::string, json> expected_;
  size_t compared_ = 0;
};

bool is_float(const json& model) { return model.at("inputs").at(0).at("dtype").get<std::string>().starts_with("FP"); }

std::vector<std::string> networks(bool floats) {
  const json manifest = read_json(kZoo / "manifest.json");
  std::vector<std::string> names;
  for (const json& model : manifest.at("models")) {
    if (is_float(model) == floats) {
      names.push_back(model.at("name"));
    }
  }
  return names;
}

json model_of(const std::string& name) {
  const json manifest = read_json(kZoo / "manifest.json");
  for (const json& model : manifest.at("models")) {
    if (model.at("name") == name) {
      return model;
    }
  }
  throw std::runtime_error("no such network");
}

class Network : public testing::TestWithParam<std::string> {};

TEST_P(Network, EqualsGoldensStatesAndTaps) {
  const json model = model_of(GetParam());
  const graph::Graph graph = graph::read_tosa(kZoo / model.at("file").get<std::string>());
  const graph::Block& block = graph.main();
  const bool sequence = model.contains("steps") && !model.at("steps").is_null();
  const int64_t steps = sequence ? model.at("steps").get<int64_t>() : 1;

  std::vector<graph::NpyArray> inputs, goldens;
  for (const json& input : model.at("inputs")) {
    inputs.push_back(graph::read_npy(kZoo / input.at("npy").get<std::string>()));
  }
  for (const json& output : model.at("outputs")) {
    goldens.push_back(graph::read_npy(kZoo / output.at("npy").get<std::string>()));
  }
  std::unique_ptr<Npz> states;
  if (sequence) {
    states = std::make_unique<Npz>(kZoo / model.at("states_npz").get<std::string>());
  }
  Taps taps(read_json(kZoo / model.at("taps").get<std::string>()), block);

  Context context;
  Count outputs, state;
  double best = 1e9;
  for (int64_t step = 0; step < steps; ++step) {
    std::vector<Value> values;
    for (size_t i = 0; i < inputs.size(); ++i) {
      values.push_back(
          value_of(sequence ? graph::slice_axis0(inputs[i], step) : inputs[i], block.tensors[block.inputs[i]]));
    }
    std::vector<Value> results;
    if (step == 0) {
      Context before = context;
      (void)run(graph, values, before,
                [&](size_t, const graph::Operator& op, const std::vector<const Value*>& r) { taps.observe(op, r); });
      taps.finish();
    }
    const auto start = std::chrono::steady_clock::now();
    results = run(graph, values, context);
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    ASSERT_EQ(results.size(), goldens.size());
    for (size_t i = 0; i < results.size(); ++i) {
      const graph::NpyArray golden = sequence ? graph::slice_axis0(goldens[i], step) : goldens[i];
      outputs.add(graph::compare(results[i], value_of(golden, block.tensors[block.outputs[i]])));
    }
    if (states && states->unpacked()) {
      for (const json& variable : model.at("variables")) {
        const auto all = states->read(variable.at("tensor"));
        const Value& got = context.variables.at(variable.at("variable_name")).value;
        state.add(graph::compare(got, graph::to_value(graph::slice_axis0(all, step), got.type, &got.shape, false)));
      }
    }
    ASSERT_EQ(outputs.differing + state.differing, 0) << "at step " << step;
  }
  std::cout << GetParam() << ": " << outputs.differing << " of " << outputs.compared << " output elements differ, "
            << state.differing << " of " << state.compared << " state elements differ, " << taps.compared()
            << " operators' results have the right CRC; " << best << " s a run\n";
  if (sequence && !states->unpacked()) {
    GTEST_SKIP() << "states not compared: no Python to unpack the .npz with";
  }
}

INSTANTIATE_TEST_SUITE_P(Zoo, Network, testing::ValuesIn(networks(false)), [](const auto& info) { return info.param; });

std::vector<double> reals_of(DType type, std::span<const uint8_t> bytes) {
  std::vector<double> reals;
  if (type == DType::kFp16) {
    for (size_t i = 0; i + 1 < bytes.size(); i += 2) {
      reals.push_back(decode(graph::kFp16Format, static_cast<uint32_t>(bytes[i] | bytes[i + 1] << 8)));
    }
    return reals;
  }
  for (size_t i = 0; i + 3 < bytes.size(); i += 4) {
    float element = 0;
    std::memcpy(&element, bytes.data() + i, sizeof element);
    reals.push_back(element);
  }
  return reals;
}

double largest_distance(const std::vector<double>& a, const std::vector<double>& b) {
  EXPECT_EQ(a.size(), b.size());
  double largest = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const double distance = std::fabs(a[i] - b[i]);
    largest = distance <= largest ? largest : distance;  // a NaN stays
  }
  return largest;
}

// The goldens of the double-precision run, which no tensor's type holds: what follows the header of an .npy file.
std::vector<double> read_doubles(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(bytes.find("'<f8'"), std::string::npos) << path;
  const size_t header = 10 + static_cast<uint8_t>(bytes.at(8)) + 256 * static_cast<uint8_t>(bytes.at(9));
  std::vector<double> numbers((bytes.size() - header) / sizeof(double));
  std::memcpy(numbers.data(), bytes.data() + header, numbers.size() * sizeof(double));
  return numbers;
}

class FloatNetwork : public testing::TestWithParam<std::string> {};

// The specification bounds single operators, not networks. The yardstick is what correct implementations differ by: the
// official model's own distance between its normal and its double-precision run (in the manifest, up to 1.4e-6 of FP32
// and 7.5e-5 of FP16), and where there is no such run, the 4.2e-7 by which TensorFlow Lite's kernels differ from it.
TEST_P(FloatNetwork, IsAsNearAsImplementationsAre) {
  const json model = model_of(GetParam());
  const graph::Graph graph = graph::read_tosa(kZoo / model.at("file").get<std::string>());
  const graph::Block& block = graph.main();
  const graph::NpyArray input = graph::read_npy(kZoo / model.at("inputs").at(0).at("npy").get<std::string>());
  const json& output = model.at("outputs").at(0);
  const graph::NpyArray golden = graph::read_npy(kZoo / output.at("npy").get<std::string>());
  const bool sequence = model.contains("steps") && !model.at("steps").is_null();
  const bool has_precise = output.contains("npy_precise_fp64");
  ASSERT_NE(has_precise, sequence) << "each has states or a double-precision golden";
  const double spread = has_precise ? model.at("max_abs_normal_vs_precise").get<double>() : 4.2e-7;
  std::unique_ptr<Npz> states;
  if (sequence) {
    states = std::make_unique<Npz>(kZoo / model.at("states_npz").get<std::string>());
  }
  const graph::Tensor& result = block.tensors[block.outputs[0]];
  Context context;
  double largest = 0, state = 0, precise = 0;
  for (int64_t step = 0; step < (sequence ? model.at("steps").get<int64_t>() : 1); ++step) {
    const Value value = value_of(sequence ? graph::slice_axis0(input, step) : input, block.tensors[block.inputs[0]]);
    const std::vector<double> got = reals_of(result.type, run(graph, {value}, context).at(0).bytes);
    const graph::NpyArray want = sequence ? graph::slice_axis0(golden, step) : golden;
    largest = std::max(largest, largest_distance(got, reals_of(result.type, want.bytes)));
    if (has_precise) {
      precise = largest_distance(got, read_doubles(kZoo / output.at("npy_precise_fp64").get<std::string>()));
    }
    for (const json& variable : states && states->unpacked() ? model.at("variables") : json::array()) {
      const Value& held = context.variables.at(variable.at("variable_name")).value;
      const auto after = graph::slice_axis0(states->read(variable.at("tensor")), step);
      state = std::max(state, largest_distance(reals_of(held.type, held.bytes), reals_of(held.type, after.bytes)));
    }
  }
  std::cout << GetParam() << ": at most " << largest << " from the golden, " << precise
            << " from that of double precision, states " << state << "; implementations differ by " << spread << "\n";
  EXPECT_LE(largest, 2 * spread);
  EXPECT_LE(precise, 2 * spread);
  EXPECT_LE(state, 2 * spread);
  if (sequence && !states->unpacked()) {
    GTEST_SKIP() << "states not compared: no Python to unpack the .npz with";
  }
}

INSTANTIATE_TEST_SUITE_P(Zoo, FloatNetwork, testing::ValuesIn(networks(true)),
                         [](const auto& info) { return info.param; });

// Runs a file on numbered inputs and compares with numbered outputs.
Count compare_case(const json& micro) {
  const graph::Graph graph = graph::read_tosa(kZoo / micro.at("file").get<std::string>());
  const graph::Block& block = graph.main();
  std::vector<Value> values;
  for (size_t i = 0; i < block.inputs.size(); ++i) {
    values.push_back(value_of(graph::read_npy(kZoo / micro.at("inputs").at(i).at("npy").get<std::string>()),
                              block.tensors[block.inputs[i]]));
  }
  Context context;
  const std::vector<Value> results = run(graph, values, context);
  Count count;
  for (size_t i = 0; i < results.size(); ++i) {
    count.add(graph::compare(results[i],
                             value_of(graph::read_npy(kZoo / micro.at("outputs").at(i).at("npy").get<std::string>()),
                                      block.tensors[block.outputs[i]])));
  }
  return count;
}

TEST(Micro, EqualsGoldens) {
  const json manifest = read_json(kZoo / "manifest.json");
  for (const json& micro : manifest.at("micro")) {
    const Count count = compare_case(micro);
    EXPECT_EQ(count.differing, 0) << micro.at("name");
    EXPECT_GT(count.compared, 0) << micro.at("name");
    std::cout << micro.at("name").get<std::string>() << ": " << count.differing << " of " << count.compared
              << " elements differ\n";
  }
}

TEST(Negative, TwoWritesAreValidInOrder) {
  const std::string base = "negative/double_write";
  const Count count = compare_case({{"file", base + ".tosa"},
                                    {"inputs", {{{"npy", base + ".in0.npy"}}}},
                                    {"outputs", {{{"npy", base + ".out0.npy"}}, {{"npy", base + ".out1.npy"}}}}});
  EXPECT_EQ(count.differing, 0);
  EXPECT_EQ(count.compared, 8);
}

TEST(Negative, ProperVariableOpcodesAreRead) {
  const graph::Graph graph = graph::read_tosa(kZoo / "negative/proper_variable_opcodes.tosa");
  std::vector<Value> inputs;
  for (const graph::TensorId id : graph.main().inputs) {
    const graph::Tensor& tensor = graph.main().tensors[id];
    const auto count = static_cast<size_t>(graph::element_count(tensor.shape).value());
    inputs.push_back({tensor.type, tensor.shape, std::vector<uint8_t>(count * graph::machine_width(tensor.type), 1)});
  }
  Context context;
  EXPECT_FALSE(run(graph, inputs, context).empty());
  EXPECT_FALSE(context.variables.empty());
}

}  // namespace
}  // namespace npu::reference
