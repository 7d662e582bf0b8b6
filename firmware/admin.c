// SPDX-License-Identifier: Apache-2.0
#include "firmware/admin.h"

#include "firmware/context.h"
#include "firmware/log.h"
#include "firmware/phase.h"
#include "firmware/power.h"
#include "firmware/variables.h"

// The context that value[0] names, or null.
static struct npu_context *npu_admin_context(volatile const struct npu_ring_request *request) {
  const uint32_t number = request->value[0];
  return number > 0 && number < NPU_RINGS ? &npu_contexts[number] : 0;
}

static enum npu_error npu_admin_open(volatile const struct npu_ring_request *request) {
  struct npu_context *context = npu_admin_context(request);
  if (context == 0 || npu_ring_served(&context->ring)) return NPU_ERROR_FAULT_REQUEST;
  const enum npu_self_test wrong = npu_ring_open(&context->ring, request->argument);
  if (wrong != NPU_SELF_TEST_NONE) {
    npu_log(NPU_LOG_ERROR, "ring %u not opened: self-test %u", (unsigned)context->number, (unsigned)wrong);
    return NPU_ERROR_FAULT_REQUEST;
  }
  context->priority = request->value[1];
  context->owner = request->value[2];
  context->attention = 0;
  for (uint32_t i = 0; i < sizeof context->cancelled; ++i) context->cancelled[i] = 0;
  npu_log(NPU_LOG_EVENT, "ring %u opened, priority %u, owner %u", (unsigned)context->number,
          (unsigned)context->priority, (unsigned)context->owner);
  return NPU_ERROR_OK;
}

static enum npu_error npu_admin_close(volatile const struct npu_ring_request *request) {
  struct npu_context *context = npu_admin_context(request);
  if (context == 0 || context->ring.header == 0) return NPU_ERROR_FAULT_REQUEST;
  npu_context_close(context);
  npu_log(NPU_LOG_EVENT, "ring %u closed", (unsigned)context->number);
  return NPU_ERROR_OK;
}

static enum npu_error npu_admin_cancel(volatile const struct npu_ring_request *request) {
  struct npu_context *context = npu_admin_context(request);
  if (context == 0) return NPU_ERROR_FAULT_REQUEST;
  npu_context_cancel(context, request->value[1]);
  return NPU_ERROR_OK;
}

enum npu_error npu_admin(uint32_t type, volatile const struct npu_ring_request *request, uint32_t values[4]) {
  npu_phase(NPU_PHASE_ADMIN, 0);
  switch (type) {
    case NPU_REQUEST_CANCEL:
      return npu_admin_cancel(request);
    case NPU_REQUEST_CONTEXT_OPEN:
      return npu_admin_open(request);
    case NPU_REQUEST_CONTEXT_CLOSE:
      return npu_admin_close(request);
    case NPU_REQUEST_VARIABLE_WRITE:
      return npu_variable_write(request);
    case NPU_REQUEST_VARIABLE_READ:
      return npu_variable_read(request->value[0], values);
    case NPU_REQUEST_POWER:
      return npu_power(request->value[0]);
    case NPU_REQUEST_PERSISTENT_POWER:
      return npu_persistent_power(request->value[0]);
    case NPU_REQUEST_SCRUB:
      return npu_scrub(values);
    case NPU_REQUEST_ACKNOWLEDGE_LOSS:
      npu_core_acknowledge_loss();
      return NPU_ERROR_OK;
    default:
      return NPU_ERROR_FAULT_REQUEST;
  }
}
