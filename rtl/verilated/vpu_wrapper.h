// SPDX-License-Identifier: Apache-2.0
// Vpu around a Verilated module, of whatever machine and variant. Only wrappers include this.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "hw/contract/error.h"
#include "hw/contract/overloaded.h"
#include "hw/contract/queues.h"
#include "rtl/verilated/clocked.h"
#include "rtl/verilated/machines.h"
#include "rtl/verilated/vpu.h"

namespace npu::rtl {

template <class Model, class Waveform = NoWaveform>
class VerilatedVpu final : public Vpu {
 public:
  explicit VerilatedVpu(const contract::Capabilities& sizes, Waveform waveform = {})
      : lanes_(sizes.vpu_lanes),
        registers_(sizes.vpu_registers),
        table_bytes_(sizes.vpu_table_bytes),
        model_(std::move(waveform)) {
    reset();
  }

  uint32_t lanes() const override { return lanes_; }

  void reset() override {
    model_->start_valid_i = 0;
    hold();
    model_.reset();
  }

  void start(const contract::AnyCommand& any) override {
    std::visit(Overloaded{
                   [&]<contract::VpuCommand Command>(const Command& command) {
                     put(command);
                     model_->opcode_i = static_cast<uint8_t>(Command::kOpcode);
                     model_->start_valid_i = 1;
                   },
                   [](const auto&) { panic(__FILE__, __LINE__, "a command that is not of the VPU"); },
               },
               any);
  }

  bool parameters(Parameters& request) override {
    if (model_->param_valid_o == 0) return false;
    request.operand = model_->param_operand_o;
    request.offset = model_->param_offset_o;
    request.bytes = model_->param_count_o;
    request.data = bytes_of(model_->param_data_i);
    return true;
  }
  bool read(Read& request) override {
    if (model_->operand_valid_o == 0) return false;
    request.operand = model_->operand_operand_o;
    request.element_bytes = model_->operand_bytes_o;
    request.lanes = model_->operand_lanes_o;
    request.offsets = words_of(model_->operand_offset_o);
    request.data = words_of(model_->operand_data_i);
    return true;
  }
  bool write(Write& request) override {
    if (model_->result_valid_o == 0) return false;
    request.operand = model_->result_operand_o;
    request.element_bytes = model_->result_bytes_o;
    request.lanes = model_->result_lanes_o;
    request.offsets = words_of(model_->result_offset_o);
    request.data = words_of(model_->result_data_o);
    return true;
  }
  void grant_parameters() override { model_->param_ready_i = 1; }
  void grant_read() override { model_->operand_ready_i = 1; }
  void grant_write() override { model_->result_ready_i = 1; }

  void tick() override {
    model_.tick();
    model_->start_valid_i = 0;
    hold();
  }
  bool done() const override { return model_->done_o != 0; }
  uint64_t cycles() const override { return model_.cycles(); }

 private:
  [[noreturn]] static void unsupported(const std::string& what) {
    throw Error(contract::ErrorCode::kArgumentUnsupported, "the RTL of the VPU " + what + ", or run it on the model");
  }
  static bool spans(uint32_t out, uint32_t stride, int32_t pad, uint32_t kernel, uint32_t in) {
    return int64_t{out - 1} * stride + kernel - pad > INT32_MAX || in > INT32_MAX;
  }
  void put(const contract::VpuEwiseCommand& command) {
    if (command.register_count > registers_) {
      unsupported("has " + std::to_string(registers_) + " registers: give the program fewer");
    }
    uint64_t rows = 0;
    for (const contract::Operand& operand : command.operands) rows += (uint64_t{operand.bytes} + row() - 1) / row();
    if (rows * row() > table_bytes_) {
      unsupported("holds " + std::to_string(table_bytes_) + " bytes of tables and parameters: split the tile");
    }
    std::vector<uint32_t> words;
    command.encode(words);
    put(model_->ewise_i, words, 0, contract::VpuEwiseCommand::kWords);
    const size_t operand_words = command.operands.size() * contract::Operand::kWords;
    put(model_->operands_i, words, contract::VpuEwiseCommand::kWords, operand_words);
    put(model_->uops_i, words, contract::VpuEwiseCommand::kWords + operand_words,
        command.uops.size() * contract::Uop::kWords);
  }
  void put(const contract::VpuPoolCommand& command) {
    if (spans(command.out_h, command.stride_y, command.pad_top, command.kernel_h, command.in_h) ||
        spans(command.out_w, command.stride_x, command.pad_left, command.kernel_w, command.in_w)) {
      unsupported("counts rows and columns with 32 bits: split the tile");
    }
    std::vector<uint32_t> words;
    command.encode(words);
    put(model_->pool_i, words, 0, contract::VpuPoolCommand::kWords);
  }
  void put(const contract::VpuReduceCommand& command) {
    std::vector<uint32_t> words;
    command.encode(words);
    put(model_->reduce_i, words, 0, contract::VpuReduceCommand::kWords);
  }
  [[nodiscard]] uint32_t row() const { return 4 * lanes_; }
  void hold() {
    model_->param_ready_i = 0;
    model_->operand_ready_i = 0;
    model_->result_ready_i = 0;
  }
  template <class Port>
  static void put(Port& port, const std::vector<uint32_t>& words, size_t begin, size_t count) {
    if (count > 0) std::memcpy(bytes_of(port), words.data() + begin, count * sizeof(uint32_t));
  }

  uint32_t lanes_, registers_, table_bytes_;
  Clocked<Model, Waveform> model_;
};

}  // namespace npu::rtl
