// SPDX-License-Identifier: Apache-2.0
// Requests of ring 0: contexts, cancelling, variables, power, the persistent SRAM.
#pragma once

#include "hw/contract/gen/npu_contract.h"

// Does what a request of type `type` asks for; `values` go into its completion. The error code to complete it with.
__attribute__((noinline)) enum npu_error npu_admin(uint32_t type, volatile const struct npu_ring_request *request,
                                                   uint32_t values[4]);
