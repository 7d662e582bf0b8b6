// SPDX-License-Identifier: Apache-2.0
// Speed of the tile kernels on this machine: MACs a second for layers of real networks, micro-operations on elements a
// second for element-wise chains. Every benchmark runs on every kernel set (the argument after the name).
#include <benchmark/benchmark.h>

#include <cstring>
#include <string>
#include <vector>

#include "hw/contract/elements.h"
#include "hw/engine/mxu_model.h"
#include "hw/engine/vpu_model.h"

namespace npu::engine {
namespace {

using contract::Element;
using contract::MxuCommand;
using contract::MxuMode;
using contract::Rescale;
using contract::Uop;
using contract::UopCode;

class FlatMemory final : public MemoryView {
 public:
  explicit FlatMemory(size_t bytes) : bytes_(bytes) {
    uint32_t state = 1;
    for (uint8_t& byte : bytes_) byte = static_cast<uint8_t>((state = state * 1664525 + 1013904223) >> 24);
  }
  std::span<uint8_t> resolve(const contract::Address& address, int64_t low, int64_t high, Access) override {
    const int64_t begin = address.offset + low, end = address.offset + high;
    if (begin < 0 || end > static_cast<int64_t>(bytes_.size())) return {};
    return {bytes_.data() + begin, static_cast<size_t>(end - begin)};
  }
  uint8_t* data() { return bytes_.data(); }

 private:
  std::vector<uint8_t> bytes_;
};

// Of a server, whose array takes 128 elements a step.
contract::Capabilities float_machine() {
  contract::Capabilities caps;
  caps.mxu_cols = caps.mxu_depth = 128;
  caps.mxu_dw_taps = 9;
  caps.mxu_acc_bytes = 1 << 20;
  caps.mxu_weight_port_bytes = 512;
  caps.mxu_fp8_cycles = 1;
  caps.mxu_fp16_cycles = caps.mxu_bf16_cycles = 2;
  caps.mxu_fp32_cycles = 8;
  caps.vpu_lanes = 512;
  caps.vpu_float = 1;
  return caps;
}

contract::Capabilities machine() {
  contract::Capabilities caps;
  caps.mxu_cols = caps.mxu_depth = 32;
  caps.mxu_dw_taps = 9;
  caps.mxu_acc_bytes = 65536;
  caps.mxu_weight_port_bytes = 64;
  caps.vpu_lanes = 64;
  return caps;
}

struct Layer {
  const char* name;
  MxuMode mode;
  uint32_t out_h, out_w, in_c, out_c, kernel, stride;
  Element src = Element::kI8;
};

// Tiles as a compiler makes them for a scratchpad of 1 MiB.
const Layer kLayers[] = {
    {"first_3x3s2_3_32", MxuMode::kConv, 28, 112, 3, 32, 3, 2},
    {"pointwise_112_16_96", MxuMode::kConv, 14, 112, 16, 96, 1, 1},
    {"pointwise_56_144_24", MxuMode::kConv, 28, 56, 144, 24, 1, 1},
    {"pointwise_28_32_192", MxuMode::kConv, 28, 28, 32, 192, 1, 1},
    {"pointwise_14_384_64", MxuMode::kConv, 14, 14, 384, 64, 1, 1},
    {"pointwise_7_960_160", MxuMode::kConv, 7, 7, 960, 160, 1, 1},
    {"pointwise_7_320_1280", MxuMode::kConv, 7, 7, 320, 1280, 1, 1},
    {"dense_1280_500", MxuMode::kConv, 1, 1, 1280, 500, 1, 1},
    {"resnet_3x3_56_64", MxuMode::kConv, 28, 56, 64, 64, 3, 1},
    {"resnet_3x3_14_256", MxuMode::kConv, 14, 14, 256, 128, 3, 1},
    {"resnet_3x3_7_512", MxuMode::kConv, 7, 7, 512, 64, 3, 1},
    {"streaming_40_64", MxuMode::kConv, 1, 1, 40, 64, 1, 1},
    {"depthwise_112_96", MxuMode::kDepthwise, 7, 56, 96, 96, 3, 2},
    {"depthwise_56_144", MxuMode::kDepthwise, 14, 56, 144, 144, 3, 1},
    {"depthwise_14_384", MxuMode::kDepthwise, 14, 14, 384, 384, 3, 1},
    {"depthwise_7_960", MxuMode::kDepthwise, 7, 7, 960, 960, 3, 1},
    {"matmul_128_64_128", MxuMode::kMatmul, 1, 128, 64, 128, 1, 1},
    {"wide_conv_14_64_64", MxuMode::kConv, 14, 14, 64, 64, 3, 1, Element::kI16},
    {"wide_depthwise_14_64", MxuMode::kDepthwise, 14, 14, 64, 64, 3, 1, Element::kI16},
    {"f32_resnet_3x3_14_256", MxuMode::kConv, 14, 14, 256, 128, 3, 1, Element::kF32},
    {"f16_resnet_3x3_14_256", MxuMode::kConv, 14, 14, 256, 128, 3, 1, Element::kF16},
    {"bf16_resnet_3x3_14_256", MxuMode::kConv, 14, 14, 256, 128, 3, 1, Element::kBf16},
    {"f8e4m3_resnet_3x3_14_256", MxuMode::kConv, 14, 14, 256, 128, 3, 1, Element::kF8e4m3},
    {"f16_first_7x7s2_3_64", MxuMode::kConv, 16, 112, 3, 64, 7, 2, Element::kF16},
    {"f16_pointwise_7_960_160", MxuMode::kConv, 7, 7, 960, 160, 1, 1, Element::kF16},
    {"f16_dense_1280_500", MxuMode::kConv, 1, 1, 1280, 500, 1, 1, Element::kF16},
    {"f32_dense_1280_500", MxuMode::kConv, 1, 1, 1280, 500, 1, 1, Element::kF32},
    {"f16_depthwise_14_384", MxuMode::kDepthwise, 14, 14, 384, 384, 3, 1, Element::kF16},
    {"f16_matmul_128_64_128", MxuMode::kMatmul, 1, 128, 64, 128, 1, 1, Element::kF16},
};

// Elements, parameters and output stage of floating point: numbers around 1, no limits.
void fill_floats(FlatMemory& memory, Element type, const contract::Address& params, uint32_t channels) {
  const bool wide = type == Element::kF32, narrow = element_bytes(type) == 1;
  uint8_t* bytes = memory.data();
  for (size_t i = 0; i < params.offset; ++i) {
    // The upper byte has the exponent: of 1 and a little less.
    const bool upper = narrow || (wide ? i % 4 == 3 : i % 2 == 1);
    const uint8_t exponent = narrow ? 0x30 : type == Element::kF16 ? 0x38 : 0x3f;
    if (upper) bytes[i] = static_cast<uint8_t>((bytes[i] & 0x83) | exponent);
  }
  contract::ParameterHeader header;
  header.clamp_min = INT32_MIN | 0x7f800000;
  header.clamp_max = 0x7f800000;
  header.store(bytes + params.offset);
  for (uint32_t c = 0; c < channels; ++c) {
    contract::ParameterEntry().store(bytes + params.offset + contract::ParameterHeader::kBytes + 16 * c);
  }
}

void run_layer(benchmark::State& state, const Layer& layer, const Kernels& kernels) {
  const bool wide = layer.src == Element::kI16;
  MxuCommand command;
  command.mode = layer.mode;
  const bool floats = contract::is_float(layer.src);
  command.src_type = layer.src;
  command.weight_type = floats ? layer.src : Element::kI8;
  command.rescale = floats ? Rescale::kFloating : wide ? Rescale::kSingle16 : Rescale::kDouble32;
  command.dst_type = floats && element_bytes(layer.src) == 1 ? Element::kF16 : layer.src;
  command.in_h = (layer.out_h - 1) * layer.stride + layer.kernel;
  command.in_w = (layer.out_w - 1) * layer.stride + layer.kernel;
  command.in_c = layer.in_c;
  command.out_h = layer.out_h;
  command.out_w = layer.out_w;
  command.out_c = layer.out_c;
  command.kernel_h = command.kernel_w = layer.kernel;
  command.stride_y = command.stride_x = layer.stride;
  command.dilation_y = command.dilation_x = command.multiplier = 1;
  const auto bytes = static_cast<int32_t>(element_bytes(layer.src));
  command.src_pixel_stride = static_cast<int32_t>(layer.in_c) * bytes;
  command.src_row_stride = command.src_pixel_stride * static_cast<int32_t>(command.in_w);
  command.dst_pixel_stride = static_cast<int32_t>(layer.out_c * element_bytes(command.dst_type));
  command.dst_row_stride = command.dst_pixel_stride * static_cast<int32_t>(layer.out_w);
  const bool conv = layer.mode == MxuMode::kConv;
  command.w_stride =
      static_cast<int32_t>(conv ? layer.kernel * layer.kernel * layer.in_c : layer.out_c) * (floats ? bytes : 1);
  command.src.offset = 0;
  command.weights.offset = 8 << 20;
  command.params.offset = 12 << 20;
  command.dst.offset = 13 << 20;
  FlatMemory memory(16 << 20);
  contract::ParameterHeader header;
  header.input_zp = wide ? 0 : -128;
  header.clamp_min = -128;
  header.clamp_max = 127;
  header.store(memory.data() + command.params.offset);
  for (uint32_t c = 0; c < layer.out_c; ++c) {
    contract::ParameterEntry{1000, wide ? 20000 : 1500000000, wide ? 25 : 40}.store(
        memory.data() + command.params.offset + contract::ParameterHeader::kBytes + 16 * c);
  }
  if (floats) fill_floats(memory, layer.src, command.params, layer.out_c);
  std::vector<uint32_t> words;
  command.encode(words);
  const std::unique_ptr<Engine> engine = make_mxu_model(floats ? float_machine() : machine(), kernels);
  uint64_t macs = 0;
  for (auto _ : state) {
    const TileResult result = engine->run(words, memory, /*timed=*/true);
    if (result.error != contract::ErrorCode::kOk) return state.SkipWithError("the tile failed");
    macs += result.macs;
  }
  state.counters["MAC/s"] = benchmark::Counter(static_cast<double>(macs), benchmark::Counter::kIsRate);
}

struct Chain {
  const char* name;
  std::vector<Uop> uops;
  Element type = Element::kI8;
};

// Operands: 0, 1 int8 tensors, 2 the int8 result, 3 a parameter block, 4 and 5 tables.
std::vector<Chain> chains() {
  const int32_t to_i32 = static_cast<int32_t>(Rescale::kDouble32) | static_cast<int32_t>(Element::kI32) << 16;
  const int32_t to_i8 = static_cast<int32_t>(Rescale::kDouble32) | static_cast<int32_t>(Element::kI8) << 16;
  return {{"copy", {{UopCode::kLoad, 0, 0, 0, 0, 0}, {UopCode::kStore, 0, 0, 2, 0, 0}}},
          {"residual_add",
           {{UopCode::kLoad, 0, 0, 0, 0, 0},
            {UopCode::kRescale, 0, 0, 3, to_i32, 0},
            {UopCode::kLoad, 1, 1, 0, 0, 0},
            {UopCode::kRescale, 1, 1, 3, to_i32, 0},
            {UopCode::kAdd, 0, 0, 1, 0, 0},
            {UopCode::kRescale, 0, 0, 3, to_i8, 0},
            {UopCode::kStore, 0, 0, 2, 0, 0}}},
          {"rescale_per_channel",
           {{UopCode::kLoad, 0, 0, 0, 0, 0},
            {UopCode::kRescale, 0, 0, 3, to_i8 | 1 << 8, 0},
            {UopCode::kStore, 0, 0, 2, 0, 0}}},
          {"table8",
           {{UopCode::kLoad, 0, 0, 0, 0, 0}, {UopCode::kTable8, 0, 0, 4, 0, 0}, {UopCode::kStore, 0, 0, 2, 0, 0}}},
          {"table16",
           {{UopCode::kLoad, 0, 0, 0, 0, 0}, {UopCode::kTable16, 0, 0, 5, 0, 0}, {UopCode::kStore, 0, 0, 2, 0, 0}}},
          {"mul_shift",
           {{UopCode::kLoad, 0, 0, 0, 0, 0},
            {UopCode::kLoad, 1, 1, 0, 0, 0},
            {UopCode::kMul, 0, 0, 1, 7, 0},
            {UopCode::kMul, 0, 0, 1, 5, 0},
            {UopCode::kClamp, 0, 0, 0, -100, 100},
            {UopCode::kStore, 0, 0, 2, 0, 0}}}};
}

// Operands 0 and 1 are tensors of the type, 2 is the result.
std::vector<Chain> float_chains() {
  const auto format = [](Element type) { return static_cast<int32_t>(type); };
  const Uop load0 = {UopCode::kLoad, 0, 0, 0, 0, 0}, load1 = {UopCode::kLoad, 1, 1, 0, 0, 0};
  const Uop store = {UopCode::kStore, 0, 0, 2, 0, 0};
  return {{"f16_add", {load0, load1, {UopCode::kFadd, 0, 0, 1, format(Element::kF16), 0}, store}, Element::kF16},
          {"f32_add", {load0, load1, {UopCode::kFadd, 0, 0, 1, format(Element::kF32), 0}, store}, Element::kF32},
          {"f32_polynomial",
           {load0,
            load1,
            {UopCode::kFaffine, 2, 0, 0, 0x3f000000, 0x3f800000},
            {UopCode::kFmaImm, 2, 2, 0, 0x3e000000, 0},
            {UopCode::kFmaImm, 2, 2, 0, 0x3d000000, 0},
            {UopCode::kFscale, 2, 2, 1, 0, 0},
            {UopCode::kFclamp, 0, 2, 0, 0, 0x40c00000},
            store},
           Element::kF32}};
}

void run_chain(benchmark::State& state, const Chain& chain, const Kernels& kernels) {
  contract::VpuEwiseCommand command;
  command.dims = {1, 28, 28, 192};
  command.register_count = 3;
  command.operands.resize(6);
  const auto bytes = static_cast<int32_t>(element_bytes(chain.type));
  for (uint32_t i = 0; i < 3; ++i) {
    command.operands[i].base.offset = i << 20;
    command.operands[i].type = chain.type;
    command.operands[i].stride = {0, 28 * 192 * bytes, 192 * bytes, bytes};
  }
  const uint32_t lengths[] = {32 + 192 * 16, 256, 1026};
  for (uint32_t i = 3; i < 6; ++i) {
    command.operands[i].base.offset = i << 20;
    command.operands[i].bytes = lengths[i - 3];
  }
  command.uops = chain.uops;
  FlatMemory memory(8 << 20);
  for (uint32_t c = 0; c < 192; ++c) {
    contract::ParameterEntry{0, 1500000000, 40}.store(memory.data() + (3 << 20) + 32 + 16 * c);
  }
  std::vector<uint32_t> words;
  command.encode(words);
  const std::unique_ptr<Engine> engine = make_vpu_model(machine(), kernels);
  uint64_t work = 0;
  for (auto _ : state) {
    if (engine->run(words, memory, /*timed=*/true).error != contract::ErrorCode::kOk) {
      return state.SkipWithError("the tile failed");
    }
    work += uint64_t{28 * 28 * 192} * chain.uops.size();
  }
  state.counters["uop/s"] = benchmark::Counter(static_cast<double>(work), benchmark::Counter::kIsRate);
}

void register_all() {
  for (const Kernels* kernels : supported_kernels()) {
    for (const Layer& layer : kLayers) {
      benchmark::RegisterBenchmark((std::string(layer.name) + '/' + kernels->name).c_str(),
                                   [&layer, kernels](benchmark::State& state) { run_layer(state, layer, *kernels); });
    }
    std::vector<Chain> all = chains();
    for (const Chain& chain : float_chains()) all.push_back(chain);
    for (const Chain& chain : all) {
      benchmark::RegisterBenchmark((std::string(chain.name) + '/' + kernels->name).c_str(),
                                   [chain, kernels](benchmark::State& state) { run_chain(state, chain, *kernels); });
    }
  }
}

}  // namespace
}  // namespace npu::engine

int main(int argc, char** argv) {
  npu::engine::register_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
