// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/compiler/back_modules.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "driver/compiler/schedule/view.h"
#include "hw/contract/error.h"

namespace npu::compiler::testing {

using backend::elements;
using contract::Element;
using contract::Uop;
using contract::UopCode;

contract::Capabilities edge_capabilities() {
  contract::Capabilities c;
  c.clock_mhz = 1000;
  c.cpu_clock_mhz = 500;
  c.mxu_cols = 32;
  c.mxu_depth = 32;
  c.mxu_dw_taps = 9;
  c.mxu_int16 = 1;
  c.mxu_split = 4;
  c.mxu_acc_bytes = 64 << 10;
  c.mxu_weight_port_bytes = 64;
  c.vpu_lanes = 64;
  c.vpu_registers = 16;
  c.vpu_table_bytes = 64 << 10;
  c.spm_bytes = 1 << 20;
  c.spm_banks = 16;
  c.spm_bank_bytes = 32;
  c.psram_bytes = 64 << 10;
  c.psram_port_bytes = 32;
  c.var_entries = 128;
  c.dma_channels = 4;
  c.dma_port_bytes = 16;
  c.dma_burst_bytes = 256;
  c.dma_outstanding = 8;
  c.fifo_depth = 8;
  c.dram_mib = 1024;
  return c;
}

contract::Capabilities nano_capabilities() {
  contract::Capabilities c = edge_capabilities();
  c.clock_mhz = c.cpu_clock_mhz = 200;
  c.mxu_cols = c.mxu_depth = 8;
  c.mxu_dw_taps = 2;
  c.mxu_split = 1;
  c.mxu_acc_bytes = 4 << 10;
  c.mxu_weight_port_bytes = 16;
  c.vpu_lanes = 8;
  c.vpu_table_bytes = 8 << 10;
  c.spm_bytes = 64 << 10;
  c.spm_banks = 4;
  c.spm_bank_bytes = 16;
  c.psram_bytes = 8 << 10;
  c.psram_port_bytes = 16;
  c.var_entries = 32;
  c.dma_channels = 2;
  c.dma_port_bytes = 4;
  c.dma_burst_bytes = 64;
  c.dma_outstanding = 4;
  c.fifo_depth = 4;
  c.dram_mib = 64;
  return c;
}

View ModuleBuilder::dense_view(BufferId buffer, std::vector<int64_t> dims, Element type) {
  View view{buffer, 0, type, dims, std::vector<int64_t>(dims.size())};
  int64_t stride = element_bytes(type);
  for (size_t i = dims.size(); i-- > 0; stride *= dims[i]) view.strides[i] = stride;
  return view;
}

View ModuleBuilder::input(std::vector<int64_t> dims, Element type) {
  View view = tensor(dims, type);
  Buffer& buffer = module.buffers.back();
  buffer.kind = BufferKind::kInput;
  buffer.index = static_cast<uint32_t>(module.inputs.size());
  module.inputs.push_back({"input" + std::to_string(buffer.index), graph::DType::kInt8, dims});
  module.input_buffers.push_back(view.buffer);
  return view;
}

View ModuleBuilder::constant(std::vector<int64_t> dims, Element type) {
  View view = tensor(dims, type);
  Buffer& buffer = module.buffers.back();
  buffer.kind = BufferKind::kConstant;
  buffer.data.resize(buffer.bytes);
  for (uint8_t& byte : buffer.data) byte = static_cast<uint8_t>(pick(0, 255));
  return view;
}

View ModuleBuilder::tensor(std::vector<int64_t> dims, Element type, bool output) {
  Buffer buffer;
  buffer.name = "tensor" + std::to_string(module.buffers.size());
  buffer.bytes = static_cast<uint64_t>(elements(dims) * element_bytes(type));
  const auto id = static_cast<BufferId>(module.buffers.size());
  if (output) {
    buffer.kind = BufferKind::kOutput;
    buffer.index = static_cast<uint32_t>(module.outputs.size());
    module.outputs.push_back({"output" + std::to_string(buffer.index), graph::DType::kInt8, dims});
    module.output_buffers.push_back(id);
  }
  module.buffers.push_back(std::move(buffer));
  return dense_view(id, std::move(dims), type);
}

View ModuleBuilder::variable(std::vector<int64_t> dims, Element type) {
  View view = tensor(dims, type);
  Buffer& buffer = module.buffers.back();
  buffer.kind = BufferKind::kVariable;
  buffer.index = static_cast<uint32_t>(module.variables.size());
  Variable v;
  v.identity = buffer.name;
  v.bytes = static_cast<uint32_t>(buffer.bytes);
  v.hash = static_cast<uint32_t>(pick(0, 1 << 30));
  for (uint32_t i = 0; i < v.bytes; ++i) v.initial.push_back(static_cast<uint8_t>(pick(0, 255)));
  module.variables.push_back(v);
  step("declare", DeclareStep{buffer.index});
  return view;
}

Params ModuleBuilder::parameters(int64_t channels, Element src, Element dst) {
  Params params;
  params.header.input_zp = src == Element::kI8 ? static_cast<int32_t>(pick(-20, 20)) : 0;
  params.header.output_zp = dst == Element::kI8 ? static_cast<int32_t>(pick(-20, 20)) : 0;
  params.header.clamp_min = dst == Element::kI8 ? -120 : INT32_MIN;
  params.header.clamp_max = dst == Element::kI8 ? 121 : INT32_MAX;
  for (int64_t i = 0; i < channels; ++i) {
    params.entries.push_back(
        {pick(-1000, 1000), static_cast<int32_t>(pick(1 << 29, (1 << 30) - 1)), static_cast<int32_t>(pick(36, 40))});
  }
  return params;
}

void ModuleBuilder::step(std::string name, Work work) {
  Layer layer;
  layer.name = name + "_" + std::to_string(module.layers.size());
  module.steps.push_back({static_cast<uint32_t>(module.layers.size()), std::move(work)});
  module.layers.push_back(layer);
}

std::vector<int64_t> ModuleBuilder::window_result(const std::vector<int64_t>& src, const ConvShape& s,
                                                  int64_t channels) {
  const int64_t h = src[1] + s.pad_top + s.pad_bottom - (s.kernel_h - 1) * s.dilation_y - 1;
  const int64_t w = src[2] + s.pad_left + s.pad_right - (s.kernel_w - 1) * s.dilation_x - 1;
  NPU_CHECK(h >= 0 && w >= 0);
  return {src[0], h / s.stride_y + 1, w / s.stride_x + 1, channels};
}

void ModuleBuilder::conv(const View& src, const View& dst, const ConvShape& s) {
  MxuStep work;
  work.mode = contract::MxuMode::kConv;
  work.src = src;
  work.weights = constant({dst.dims[3], s.kernel_h, s.kernel_w, src.dims[3]});
  work.dst = dst;
  work.params = parameters(dst.dims[3], src.type, dst.type);
  work.rescale = dst.type == Element::kI32 ? contract::Rescale::kNone : contract::Rescale::kDouble32;
  work.kernel_h = s.kernel_h;
  work.kernel_w = s.kernel_w;
  work.stride_y = s.stride_y;
  work.stride_x = s.stride_x;
  work.dilation_y = s.dilation_y;
  work.dilation_x = s.dilation_x;
  work.pad_top = s.pad_top;
  work.pad_left = s.pad_left;
  step("conv2d", std::move(work));
}

void ModuleBuilder::depthwise(const View& src, const View& dst, const ConvShape& s) {
  conv(src, dst, s);
  auto& work = std::get<MxuStep>(module.steps.back().work);
  work.mode = contract::MxuMode::kDepthwise;
  work.multiplier = s.multiplier;
  work.weights = constant({s.kernel_h, s.kernel_w, src.dims[3], s.multiplier});
  module.layers.back().name = "depthwise_" + std::to_string(module.layers.size() - 1);
}

void ModuleBuilder::matmul(const View& a, const View& b, const View& dst) {
  MxuStep work;
  work.mode = contract::MxuMode::kMatmul;
  work.src = a;
  work.weights = b;
  work.dst = dst;
  work.params = parameters(dst.dims[3], a.type, dst.type);
  work.rescale = dst.type == Element::kI32 ? contract::Rescale::kNone : contract::Rescale::kSingle32;
  step("matmul", std::move(work));
}

void ModuleBuilder::pool(contract::PoolMode mode, const View& src, const View& dst, const ConvShape& s) {
  PoolStep work;
  work.mode = mode;
  work.src = src;
  work.dst = dst;
  work.kernel_h = s.kernel_h;
  work.kernel_w = s.kernel_w;
  work.stride_y = s.stride_y;
  work.stride_x = s.stride_x;
  work.pad_top = s.pad_top;
  work.pad_left = s.pad_left;
  work.input_zp = static_cast<int32_t>(pick(-5, 5));
  work.output_zp = static_cast<int32_t>(pick(-5, 5));
  step("pool", work);
}

void ModuleBuilder::add(const View& a, const View& b, const View& dst) {
  EwiseStep work;
  work.dims = dst.dims;
  work.operands = {{a, false, false}, {b, false, false}, {dst, false, true}};
  const int32_t limit = dst.type == Element::kI8 ? 127 : dst.type == Element::kI16 ? 32767 : INT32_MAX;
  work.uops = {{UopCode::kLoad, 0, 0, 0, 0, 0},
               {UopCode::kLoad, 1, 1, 0, 0, 0},
               {UopCode::kAdd, 0, 0, 1, 0, 0},
               {UopCode::kClamp, 0, 0, 0, -limit - 1, limit},
               {UopCode::kStore, 0, 0, 2, 0, 0}};
  work.register_count = 2;
  step("add", std::move(work));
}

void ModuleBuilder::add_twice(const View& a, const View& b, const View& old, const View& fresh, const View& sum) {
  EwiseStep work;
  work.dims = fresh.dims;
  work.operands = {{a, false, false}, {b, false, false}, {old, false, false}, {fresh, false, true}, {sum, false, true}};
  const Uop clamp{UopCode::kClamp, 0, 0, 0, -128, 127};
  work.uops = {{UopCode::kLoad, 0, 0, 0, 0, 0},  {UopCode::kLoad, 1, 1, 0, 0, 0}, {UopCode::kAdd, 0, 0, 1, 0, 0}, clamp,
               {UopCode::kStore, 0, 0, 3, 0, 0}, {UopCode::kLoad, 1, 2, 0, 0, 0}, {UopCode::kAdd, 0, 0, 1, 0, 0}, clamp,
               {UopCode::kStore, 0, 0, 4, 0, 0}};
  work.register_count = 2;
  step("add_twice", std::move(work));
}

void ModuleBuilder::rescale(const View& src, const View& dst, bool per_channel) {
  EwiseStep work;
  work.dims = dst.dims;
  const int64_t channels = per_channel ? dst.dims.back() : 1;
  const Params params = parameters(channels, src.type, dst.type);
  View block = constant({contract::ParameterHeader::kBytes + channels * contract::ParameterEntry::kBytes});
  uint8_t* out = module.buffers.back().data.data();
  params.header.store(out);
  for (int64_t i = 0; i < channels; ++i) {
    params.entries[static_cast<size_t>(i)].store(out + contract::ParameterHeader::kBytes +
                                                 i * contract::ParameterEntry::kBytes);
  }
  work.operands = {{src, false, false}, {block, true, false}, {dst, false, true}};
  const int32_t kind = static_cast<int32_t>(contract::Rescale::kDouble32) | (per_channel ? 1 : 0) << 8 |
                       static_cast<int32_t>(dst.type) << 16;
  work.uops = {
      {UopCode::kLoad, 0, 0, 0, 0, 0}, {UopCode::kRescale, 0, 0, 1, kind, 0}, {UopCode::kStore, 0, 0, 2, 0, 0}};
  work.register_count = 1;
  work.innermost_fixed = per_channel;
  step("rescale", std::move(work));
}

void ModuleBuilder::table(const View& src, const View& dst) {
  EwiseStep work;
  work.dims = dst.dims;
  work.operands = {{src, false, false}, {constant({256}), true, false}, {dst, false, true}};
  work.uops = {{UopCode::kLoad, 0, 0, 0, 0, 0}, {UopCode::kTable8, 0, 0, 1, 0, 0}, {UopCode::kStore, 0, 0, 2, 0, 0}};
  work.register_count = 1;
  step("table", std::move(work));
}

void ModuleBuilder::reduce(contract::ReduceOp op, const View& src, const View& dst) {
  step("reduce", ReduceStep{op, src, dst});
}

void ModuleBuilder::copy(const View& src, const View& dst, bool commit) {
  step("copy", CopyStep{src, dst, false, 0});
  module.steps.back().commit = commit;
}

void ModuleBuilder::gather(const View& table, const View& rows, bool scatter) {
  const int64_t batches = rows.dims[0], count = rows.dims[1], choices = table.dims[1];
  const View index = constant({batches, count}, Element::kI32);
  std::vector<uint8_t>& data = module.buffers[index.buffer].data;
  for (int64_t n = 0; n < batches; ++n) {
    std::vector<int32_t> chosen(static_cast<size_t>(choices));
    std::iota(chosen.begin(), chosen.end(), 0);
    std::shuffle(chosen.begin(), chosen.end(), random);
    for (int64_t w = 0; w < count; ++w) {
      // As many as there are indices for, and some of them again.
      const int32_t row = chosen[static_cast<size_t>(w < choices ? w : pick(0, choices - 1))];
      std::memcpy(data.data() + (n * count + w) * 4, &row, 4);
    }
  }
  step(scatter ? "scatter" : "gather", GatherStep{table, index, rows, scatter});
}

void ModuleBuilder::fill(const View& dst, uint64_t value) { step("fill", CopyStep{{}, dst, true, value}); }

View broadcast(View view, const std::vector<int64_t>& dims) {
  for (size_t i = 0; i < dims.size(); ++i) {
    if (view.dims[i] == 1 && dims[i] > 1) view.strides[i] = 0;
    view.dims[i] = dims[i];
  }
  return view;
}

Module with_residuals(Module module, uint32_t seed, int64_t spm_bytes, size_t& count) {
  ModuleBuilder b(seed);
  b.module = std::move(module);
  for (Step& step : b.module.steps) {
    auto* work = std::get_if<MxuStep>(&step.work);
    if (work == nullptr || work->mode == contract::MxuMode::kMatmul || work->src.type != Element::kI8 ||
        work->dst.type != Element::kI8 || b.pick(0, 3) == 0) {
      continue;
    }
    const bool depthwise = work->mode == contract::MxuMode::kDepthwise;
    const int64_t channels = depthwise ? 1 : work->src.dims[3], columns = depthwise ? work->multiplier : 1;
    const int64_t reach = ((work->kernel_h - 1) * work->dilation_y + 1) * ((work->kernel_w - 1) * work->dilation_x + 1);
    constexpr int64_t kRest = contract::ParameterEntry::kBytes + 2;
    const int64_t least = reach * channels + columns * (work->kernel_h * work->kernel_w * channels + kRest);
    if (least > spm_bytes / 4) continue;
    // The source again, an input, or one whose rows and columns are exchanged.
    const std::vector<int64_t>& dims = work->dst.dims;
    View operand = work->src;
    if (operand.dims != dims || b.pick(0, 1) == 0) {
      const bool exchanged = b.pick(0, 3) == 0;
      operand = b.input(exchanged ? std::vector<int64_t>{dims[0], dims[2], dims[1], dims[3]} : dims);
      if (exchanged) {
        std::swap(operand.dims[1], operand.dims[2]);
        std::swap(operand.strides[1], operand.strides[2]);
      }
    }
    work->residual =
        MxuResidual{operand, b.pick(0, 1) == 0 ? contract::Residual::kScaleValue : contract::Residual::kScaleOperand,
                    static_cast<uint32_t>(b.pick(15, 20)), static_cast<uint32_t>(b.pick(15, 20))};
    contract::ParameterHeader& header = work->params.header;
    header.value_zp = static_cast<decltype(header.value_zp)>(b.pick(-20, 20));
    header.residual_zp = static_cast<decltype(header.residual_zp)>(b.pick(-20, 20));
    header.residual_multiplier = 1319873913;
    header.residual_shift = 33;
    header.sum_multiplier = 1738800762;
    header.sum_shift = 50;
    ++count;
  }
  return std::move(b.module);
}

}  // namespace npu::compiler::testing
