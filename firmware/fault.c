// SPDX-License-Identifier: Apache-2.0
#include "firmware/fault.h"

#include "firmware/log.h"
#include "firmware/memory.h"
#include "firmware/phase.h"

static void npu_fault_count(struct npu_context *context, bool main, uint64_t cycles) {
  if (main) {
    context->task->report.engine_cycles += cycles;
  } else {
    context->task->report.save_cycles += cycles;
  }
}

static void npu_fault_log(const struct npu_context *context, const struct npu_fault *fault) {
  npu_log(NPU_LOG_ERROR, "ring %u: request %u ended with code 0x%04x at command %u, queue %u",
          (unsigned)context->number, (unsigned)context->task->id, (unsigned)fault->code, (unsigned)fault->command,
          (unsigned)fault->queue);
}

void npu_fault_end(struct npu_context *context, bool main, uint64_t cycles) {
  npu_phase(NPU_PHASE_FAULT, context->number);
  const struct npu_fault fault = npu_core_fault();
  npu_fault_log(context, &fault);
  npu_fault_count(context, main, cycles);
  npu_context_complete(context, &fault, 0);
  npu_core_reset();
}

// The command that the others wait for: the earliest one that an engine works on, or else that is in any hand.
static void npu_fault_find_culprit(struct npu_fault *fault, const struct npu_queues *queues) {
  bool found = false, found_executing = false;
  for (uint32_t queue = 0; queue < NPU_REG_QUEUE_COUNT; ++queue) {
    const uint32_t state = queues->state[queue];
    if ((state & NPU_REG_QUEUE_STATE_HOLDING_MASK) == 0) continue;
    const bool executing = (state & NPU_REG_QUEUE_STATE_EXECUTING_MASK) != 0;
    const uint32_t command = queues->command[queue];
    const bool better = executing == found_executing ? command < fault->command : executing;
    if (found && !better) continue;
    found = true;
    found_executing = executing;
    fault->command = command;
    fault->queue = queue;
  }
}

void npu_fault_timeout(struct npu_context *context, bool main, uint64_t cycles) {
  npu_phase(NPU_PHASE_FAULT, context->number);
  struct npu_fault fault = {.code = NPU_ERROR_FAULT_TIMEOUT, .queue = NPU_QUEUE_SEQUENCER};
  fault.cycle = context->task->report.engine_cycles + (main ? cycles : 0);
  struct npu_queues queues;
  npu_core_look_at_queues(&queues);
  npu_core_reset();  // before the driver hears of it: it may use the memory again at once
  npu_fault_find_culprit(&fault, &queues);
  npu_fault_log(context, &fault);
  npu_fault_count(context, main, cycles);
  npu_context_complete(context, &fault, &queues);
}
