// SPDX-License-Identifier: Apache-2.0
#include "tests/system/capi/sized_bench.h"

#include <cstdlib>

#include "driver/graph/validate.h"
#include "driver/graph/writer.h"

namespace npu::test {
namespace {

// Closed when the process ends, before SystemC is.
class Simulated {
 public:
  Simulated() {
    ErrorBox error;
    const std::string machine = simulated_machine();
    auto options = sized<npu_sim_options>();
    options.machine = machine.c_str();
    auto hal = sized<npu_hal_ops>();
    EXPECT_OK(error, npu_sim_open(&options, &hal, error.out()));
    EXPECT_OK(error, npu_device_open(&hal, nullptr, &device, error.out()));
  }
  ~Simulated() { npu_device_destroy(device); }
  Simulated(const Simulated&) = delete;
  Simulated& operator=(const Simulated&) = delete;

  npu_device* device = nullptr;
};

}  // namespace

std::string simulated_machine() {
  const char* const name = std::getenv("NPU_CAPI_MACHINE");
  return name == nullptr ? "edge" : name;
}

npu_device* simulated_device() {
  static const Simulated simulated;
  return simulated.device;
}

std::vector<uint8_t> file_of(const OpenNetwork& network) { return graph::serialize(network.graph); }

std::vector<npu_size_bounds> bounds_of(const OpenNetwork& network) {
  std::vector<npu_size_bounds> bounds;
  for (const compiler::SizeBounds& one : network.bounds) bounds.push_back({one.name.c_str(), one.least, one.most});
  return bounds;
}

Sizes random_sizes(const OpenNetwork& network, std::mt19937& random) {
  Sizes sizes;
  for (const compiler::SizeBounds& bounds : network.bounds) {
    sizes.push_back(std::uniform_int_distribution<int64_t>(bounds.least, bounds.most)(random));
  }
  return sizes;
}

SizedBench::SizedBench(const OpenNetwork& network, const std::vector<uint8_t>& compiled) : open_(network.graph) {
  graph::validate(open_, graph::Sizes::kMayBeUnknown);
  auto options = sized<npu_context_options>();
  options.zero_init = true;
  EXPECT_OK(error, npu_context_create(simulated_device(), &options, &context, error.out()));
  if (compiled.empty()) {
    const std::vector<uint8_t> file = file_of(network);
    const std::vector<npu_size_bounds> bounds = bounds_of(network);
    EXPECT_OK(error, npu_program_load_bounds(context, file.data(), file.size(), network.name.c_str(), bounds.data(),
                                             bounds.size(), &program, error.out()));
  } else {
    EXPECT_OK(error,
              npu_program_load_memory(context, compiled.data(), compiled.size(), nullptr, &program, error.out()));
  }
  EXPECT_OK(error, npu_job_create(program, nullptr, &job, error.out()));
}

SizedBench::~SizedBench() {
  npu_job_destroy(job);
  npu_program_destroy(program);
  npu_context_destroy(context);
}

graph::GivenShapes SizedBench::shapes(const Sizes& sizes) {
  graph::GivenShapes given;
  for (size_t i = 0; i < npu_program_input_count(program); ++i) {
    auto info = sized<npu_tensor_info>();
    EXPECT_OK(error, npu_program_input(program, i, &info, error.out()));
    graph::Shape& shape = given[info.name];
    for (uint32_t d = 0; d < info.rank; ++d) {
      EXPECT_NE(info.symbols[d], NPU_SIZE_COMPUTED);
      shape.push_back(info.symbols[d] < 0 ? info.shape[d] : sizes.at(static_cast<size_t>(info.symbols[d])));
    }
  }
  return given;
}

std::vector<graph::Value> SizedBench::inputs(const Sizes& sizes, std::mt19937& random) {
  const graph::GivenShapes given = shapes(sizes);
  std::vector<graph::Value> values;
  for (const graph::TensorId id : open_.main().inputs) {
    const graph::Tensor& tensor = open_.main().tensors[id];
    graph::Value value{tensor.type, given.at(tensor.name), {}};
    value.bytes.resize(static_cast<size_t>(graph::element_count(value.shape).value()));
    for (uint8_t& byte : value.bytes) byte = static_cast<uint8_t>(random());
    values.push_back(std::move(value));
  }
  return values;
}

npu_status SizedBench::set_inputs(npu_job* to, const std::vector<graph::Value>& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    const npu_status status =
        npu_job_set_input_shape(to, i, values[i].shape.data(), static_cast<uint32_t>(values[i].shape.size()),
                                values[i].bytes.data(), values[i].bytes.size(), error.out());
    if (status != NPU_OK) return status;
  }
  return NPU_OK;
}

std::vector<graph::Value> SizedBench::outputs(npu_job* of) {
  std::vector<graph::Value> values;
  for (size_t i = 0; i < npu_program_output_count(program); ++i) {
    auto info = sized<npu_tensor_info>();
    EXPECT_OK(error, npu_job_output_info(of, i, &info, error.out()));
    auto largest = sized<npu_tensor_info>();
    EXPECT_OK(error, npu_program_output(program, i, &largest, error.out()));
    EXPECT_LE(info.bytes, largest.bytes);
    EXPECT_STREQ(info.name, largest.name);
    EXPECT_EQ(info.symbols, largest.symbols);
    graph::Value value{static_cast<graph::DType>(info.type), {info.shape, info.shape + info.rank}, {}};
    value.bytes.resize(info.bytes);
    EXPECT_OK(error, npu_job_output(of, i, value.bytes.data(), value.bytes.size(), error.out()));
    values.push_back(std::move(value));
  }
  return values;
}

uint64_t SizedBench::cycles() {
  auto result = sized<npu_job_result>();
  EXPECT_OK(error, npu_job_get_result(job, &result, error.out()));
  return result.cycles;
}

std::vector<graph::Value> SizedBench::reference(const Sizes& sizes, const std::vector<graph::Value>& values) {
  graph::Graph fixed = graph::resolve(open_, shapes(sizes));
  graph::validate(fixed);
  for (const graph::Tensor& tensor : fixed.main().tensors) {
    if (!tensor.variable || tensor.has_data) continue;
    const auto bytes = static_cast<size_t>(graph::element_count(tensor.shape).value());
    reference::VariableState zeros{{tensor.type, tensor.shape, std::vector<uint8_t>(bytes)}, true};
    state_.variables.emplace(graph::variable_identity(tensor), std::move(zeros));
  }
  return reference::run(fixed, values, state_);
}

int64_t SizedBench::compare(const std::vector<graph::Value>& got, const std::vector<graph::Value>& want) {
  EXPECT_EQ(got.size(), want.size());
  int64_t compared = 0;
  for (size_t k = 0; k < want.size(); ++k) {
    EXPECT_EQ(got.at(k).shape, want[k].shape);
    const graph::Difference difference = graph::compare(got.at(k), want[k]);
    EXPECT_EQ(difference.differing, 0) << "output " << k;
    compared += difference.compared;
  }
  return compared;
}

int64_t SizedBench::run(const Sizes& sizes, std::mt19937& random) {
  SCOPED_TRACE("sizes " + testing::PrintToString(sizes));
  const std::vector<graph::Value> values = inputs(sizes, random);
  EXPECT_EQ(set_inputs(values), NPU_OK) << error.message();
  EXPECT_OK(error, npu_job_run(job, error.out()));
  return compare(outputs(job), reference(sizes, values));
}

void SizedBench::clear() {
  EXPECT_OK(error, npu_context_clear_variable(context, nullptr, error.out()));
  state_.variables.clear();
}

void SizedBench::restore(const SizedBench& other) {
  std::vector<uint8_t> snapshot(1 << 16);
  size_t length = 0;
  EXPECT_OK(error,
            npu_context_snapshot(other.context, nullptr, snapshot.data(), snapshot.size(), &length, error.out()));
  EXPECT_OK(error, npu_context_restore(context, snapshot.data(), length, error.out()));
  state_ = other.state_;
}

}  // namespace npu::test
