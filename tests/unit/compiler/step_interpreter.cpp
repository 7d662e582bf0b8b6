// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/compiler/step_interpreter.h"

#include <cstring>
#include <map>

#include "hw/contract/error.h"
#include "tests/unit/compiler/step_math.h"

namespace npu::compiler::testing {
namespace {

class Runner {
 public:
  explicit Runner(Buffers& buffers) : buffers_(buffers) {}

  void operator()(const MxuStep& s) {
    const Params params = s.block ? params_at(*s.block) : s.params;
    OutputStage stage{params.header, params.entries, s.rescale, s.output_unsigned, s.dst.type, {}, {}, 0, 0};
    if (s.residual) {
      stage.adds = s.residual->scales;
      stage.value_left = s.residual->value_left;
      stage.residual_left = s.residual->residual_left;
    }
    const WindowMath window{s.kernel_h,   s.kernel_w,   s.stride_y, s.stride_x,
                            s.dilation_y, s.dilation_x, s.pad_top,  s.pad_left};
    for (int64_t n = 0; n < s.dst.dims[0]; ++n) {
      const Strided src = inner(s.src, n), dst = inner(s.dst, n);
      if (s.residual) stage.residual = inner(s.residual->view, n);
      const std::array in{s.src.dims[1], s.src.dims[2], s.src.dims[3]},
          out{s.dst.dims[1], s.dst.dims[2], s.dst.dims[3]};
      switch (s.mode) {
        case contract::MxuMode::kConv:
          conv(src, in, strided(s.weights), dst, out, window, stage);
          break;
        case contract::MxuMode::kDepthwise:
          depthwise(src, in, strided(s.weights), dst, out, window, s.multiplier, stage);
          break;
        case contract::MxuMode::kMatmul: {
          const Strided rows{src.first, src.type, {src.strides[1], src.strides[2]}};
          const Strided result{dst.first, dst.type, {dst.strides[1], dst.strides[2]}};
          matmul(rows, inner(s.weights, s.weights.dims[0] == 1 ? 0 : n), result, in[1], in[2], out[2], stage);
          break;
        }
      }
    }
  }

  void operator()(const EwiseStep& s) {
    std::vector<EwiseOperand> operands;
    for (const EwiseStep::Operand& o : s.operands) {
      const Strided view = strided(o.view);
      operands.push_back(o.blob ? EwiseOperand{{}, view.first} : EwiseOperand{view, nullptr});
    }
    ewise(s.dims, operands, s.uops, s.register_count);
  }

  void operator()(const PoolStep& s) {
    const WindowMath window{s.kernel_h, s.kernel_w, s.stride_y, s.stride_x, 1, 1, s.pad_top, s.pad_left};
    contract::ParameterHeader header;
    header.input_zp = s.input_zp;
    header.output_zp = s.output_zp;
    if (s.block) header = params_at(*s.block).header;
    for (int64_t n = 0; n < s.dst.dims[0]; ++n) {
      pool(s.mode, inner(s.src, n), {s.src.dims[1], s.src.dims[2], s.src.dims[3]}, inner(s.dst, n),
           {s.dst.dims[1], s.dst.dims[2], s.dst.dims[3]}, window, header.input_zp, header.output_zp);
    }
  }

  void operator()(const ReduceStep& s) {
    reduce(s.op, strided(s.src), strided(s.dst), s.src.dims[0], s.src.dims[1], s.src.dims[2]);
  }

  void operator()(const CopyStep& s) {
    const Strided dst = strided(s.dst);
    const Strided src = s.fill ? Strided{} : strided(s.src);
    std::vector<int64_t> index(s.dst.dims.size());
    for (;;) {
      if (s.fill) {
        std::memcpy(dst.at(index), &s.fill_value, element_bytes(dst.type));
      } else {
        std::memcpy(dst.at(index), src.at(index), element_bytes(dst.type));
      }
      size_t d = index.size();
      while (d > 0 && ++index[d - 1] == s.dst.dims[d - 1]) index[--d] = 0;
      if (d == 0) return;
    }
  }

  void operator()(const GatherStep& s) {
    const Strided table = strided(s.table), rows = strided(s.rows), index = strided(s.index);
    for (int64_t n = 0; n < s.rows.dims[0]; ++n) {
      for (int64_t w = 0; w < s.rows.dims[1]; ++w) {
        int32_t chosen = 0;
        std::memcpy(&chosen, index.at(std::array{n, w}), sizeof(chosen));
        NPU_CHECK(chosen >= 0 && chosen < s.table.dims[1]);
        for (int64_t c = 0; c < s.rows.dims[2]; ++c) {
          uint8_t *in_table = table.at(std::array<int64_t, 3>{n, chosen, c}), *in_rows = rows.at(std::array{n, w, c});
          const size_t bytes = element_bytes(s.rows.type);
          s.scatter ? std::memcpy(in_table, in_rows, bytes) : std::memcpy(in_rows, in_table, bytes);
        }
      }
    }
  }

  void operator()(const DeclareStep&) {}
  void operator()(const LabelStep&) {}

  void operator()(const BranchStep& s) {
    taken = true;
    if (s.mode == contract::BranchMode::kIfFalse) taken = *strided(s.condition).first == 0;
    if (s.mode != contract::BranchMode::kRepeat) return;
    uint32_t count = 0;
    uint8_t* counter = strided(s.counter).first;
    std::memcpy(&count, counter, sizeof(count));
    if (count++ >= s.limit) throw Error(contract::ErrorCode::kLoopLimit, "a loop is beyond its limit");
    std::memcpy(counter, &count, sizeof(count));
  }

  bool taken = false;  // the last branch

 private:
  Strided strided(const View& view) { return {buffers_[view.buffer].data() + view.offset, view.type, view.strides}; }
  // A parameter block in memory.
  Params params_at(const View& block) {
    const uint8_t* bytes = strided(block).first;
    Params params{contract::ParameterHeader::load(bytes), {}};
    for (uint32_t at = contract::ParameterHeader::kBytes; at < block.dims[0]; at += contract::ParameterEntry::kBytes) {
      params.entries.push_back(contract::ParameterEntry::load(bytes + at));
    }
    return params;
  }
  // Without its first dimension, at position `n` of it.
  Strided inner(const View& view, int64_t n) {
    return {buffers_[view.buffer].data() + view.offset + n * view.strides[0],
            view.type,
            {view.strides.begin() + 1, view.strides.end()}};
  }

  Buffers& buffers_;
};

}  // namespace

Buffers make_buffers(const Module& module) {
  Buffers buffers;
  for (const Buffer& b : module.buffers) {
    buffers.push_back(b.kind == BufferKind::kConstant ? b.data : std::vector<uint8_t>(b.bytes));
  }
  return buffers;
}

void run_steps(const Module& module, Buffers& buffers) {
  Runner runner(buffers);
  std::map<uint32_t, size_t> labels;
  for (size_t s = 0; s < module.steps.size(); ++s) {
    if (const auto* label = std::get_if<LabelStep>(&module.steps[s].work)) labels[label->label] = s;
  }
  for (size_t s = 0; s < module.steps.size(); ++s) {
    std::visit(runner, module.steps[s].work);
    const auto* branch = std::get_if<BranchStep>(&module.steps[s].work);
    if (branch != nullptr && runner.taken) s = labels.at(branch->label);
  }
}

}  // namespace npu::compiler::testing
