// SPDX-License-Identifier: Apache-2.0
#include "rtl/verilated/float.h"

#include <Vfloat_cell.h>

#include "rtl/verilated/clocked.h"

namespace npu::rtl {
namespace {

class VerilatedFloat final : public Float {
 public:
  Outputs run(const Inputs& inputs) override {
    model_->op_i = static_cast<uint8_t>(inputs.op);
    model_->imm0_i = inputs.imm0;
    model_->imm1_i = inputs.imm1;
    model_->flag_i = inputs.flag;
    model_->type_i = static_cast<uint8_t>(inputs.type);
    model_->a_i = inputs.a;
    model_->b_i = inputs.b;
    model_->c_i = inputs.c;
    model_.tick();
    return {model_->result_o, model_->widened_o, model_->narrowed_o,
            model_->sum_o,    model_->product_o, static_cast<int32_t>(model_->order_o),
            model_->larger_o};
  }

 private:
  Clocked<Vfloat_cell> model_;
};

}  // namespace

std::unique_ptr<Float> make_float() { return std::make_unique<VerilatedFloat>(); }

}  // namespace npu::rtl
