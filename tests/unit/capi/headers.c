// SPDX-License-Identifier: Apache-2.0
// The public headers are C11 without extensions, need nothing but themselves, and live together with the contract's.
#include <npu_sim.h>
//
#include <npu.h>

#include "hw/contract/gen/npu_contract.h"

_Static_assert((int)NPU_STATUS_FAULT_TIMEOUT == (int)NPU_ERROR_FAULT_TIMEOUT, "one registry");
_Static_assert(sizeof(npu_status) == 4 && sizeof(npu_class) == 4 && sizeof(npu_dtype) == 4,
               "sizes are part of the ABI");
_Static_assert(offsetof(npu_job_options, struct_size) == 0 && offsetof(npu_hal_ops, struct_size) == 0, "first member");

// New members stand behind the structures of earlier versions.
_Static_assert(sizeof(void*) != 8 || offsetof(npu_tensor_info, symbols) == 48, "as large as in version 1.5");
_Static_assert(sizeof(void*) != 8 || offsetof(npu_program_info, program_count) == 48, "as large as in version 1.5");
_Static_assert(offsetof(npu_tensor_info, symbols) % sizeof(void*) == 0, "no padding in front");

uint32_t npu_test_version_in_c(void);
npu_status npu_test_misuse_in_c(void);

uint32_t npu_test_version_in_c(void) { return npu_api_version() == NPU_API_VERSION ? NPU_API_VERSION : 0; }

// Null pointers and all default options, as C writes them.
npu_status npu_test_misuse_in_c(void) {
  const npu_job_options options = {.struct_size = sizeof options};
  npu_error* error = NULL;
  npu_job* job = NULL;
  const npu_status status = npu_job_create(NULL, &options, &job, &error);
  const npu_class kind = npu_error_class(error);
  npu_error_destroy(error);
  return kind == NPU_CLASS_USAGE && job == NULL ? status : NPU_OK;
}

npu_status npu_test_bounds_in_c(void);

// Bounds as C writes them.
npu_status npu_test_bounds_in_c(void) {
  const npu_size_bounds bounds[] = {{.name = "x.0", .least = 1, .most = 8}, {"x.1", 1, 8}};
  npu_program* program = NULL;
  return npu_program_load_file_bounds(NULL, "net.tosa", bounds, 2, &program, NULL);
}

static void count_losses(void* user, const char* const* identities, size_t count) {
  if (count == 1 && identities[0] != NULL) ++*(uint32_t*)user;
}

npu_status npu_test_state_in_c(npu_device* device, npu_context* context, uint32_t* told);

// A snapshot, a loss, and the snapshot again. The context has one variable.
npu_status npu_test_state_in_c(npu_device* device, npu_context* context, uint32_t* told) {
  static unsigned char bytes[4096];
  size_t length = 0;
  uint64_t listener = 0;
  npu_status status = npu_context_snapshot(context, "in C", bytes, sizeof bytes, &length, NULL);
  if (status == NPU_OK) status = npu_context_on_state_lost(context, count_losses, told, &listener, NULL);
  if (status == NPU_OK) status = npu_device_set_persistent_power(device, NPU_PERSISTENT_OFF, NULL);
  if (status == NPU_OK) status = npu_device_set_persistent_power(device, NPU_PERSISTENT_ON, NULL);
  if (npu_context_restore(context, bytes, length, NULL) != NPU_STATUS_POWER_LOST) return NPU_STATUS_BUG;
  if (status == NPU_OK) status = npu_context_acknowledge_loss(context, NULL);
  if (status == NPU_OK) status = npu_context_restore(context, bytes, length, NULL);
  if (status == NPU_OK) status = npu_context_remove_listener(context, listener, NULL);
  return status;
}
