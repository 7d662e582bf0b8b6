// SPDX-License-Identifier: Apache-2.0
#include "firmware/core.h"

#include "firmware/device.h"
#include "firmware/log.h"
#include "firmware/memory.h"
#include "firmware/timer.h"

enum { kPowerPolls = 10000 };  // of at least 10 cycles each: 50 times what it takes

uint32_t npu_core_resets;
uint32_t npu_core_registers[NPU_CORE_COUNT];
struct npu_mapping npu_core_regions[NPU_CORE_REGIONS];
bool npu_core_powered;
uint32_t npu_core_persistent;

void npu_core_set_region(uint32_t index, uint64_t base, uint32_t limit, uint32_t flags) {
  struct npu_mapping *known = &npu_core_regions[index];
  if (known->base != base) {
    npu_write(NPU_REG_REGION_BASE_LO(index), npu_low(base));
    npu_write(NPU_REG_REGION_BASE_HI(index), npu_high(base));
    known->base = base;
  }
  npu_core_update(&known->limit, NPU_REG_REGION_LIMIT(index), limit);
  npu_core_update(&known->flags, NPU_REG_REGION_FLAGS(index), flags);
}

void npu_core_set_scratchpad(uint32_t index, uint32_t base, uint32_t limit, bool writable) {
  npu_core_set_region(index, base, limit,
                      NPU_REG_REGION_FLAGS_READABLE_MASK | (writable ? NPU_REG_REGION_FLAGS_WRITABLE_MASK : 0) |
                          NPU_SPACE_SCRATCHPAD << NPU_REG_REGION_FLAGS_SPACE_LSB);
}

static void npu_core_init_regions(void) {
  for (uint32_t i = 0; i < NPU_REG_REGION_COUNT; ++i) {
    npu_write(NPU_REG_REGION_BASE_LO(i), 0);
    npu_write(NPU_REG_REGION_BASE_HI(i), 0);
    npu_write(NPU_REG_REGION_LIMIT(i), 0);
    npu_write(NPU_REG_REGION_FLAGS(i), 0);
  }
  for (uint32_t i = 0; i < NPU_CORE_REGIONS; ++i) npu_core_regions[i] = (struct npu_mapping){0};
  npu_core_set_scratchpad(NPU_REGION_SCRATCHPAD, 0, npu_device.spm_bytes, true);
}

void npu_core_init(void) {
  static const uint16_t used[] = {
      NPU_REG_COMMAND_BASE_LO, NPU_REG_COMMAND_BASE_HI, NPU_REG_COMMAND_WORDS,   NPU_REG_COMMAND_START,
      NPU_REG_EVENT_BASE_LO,   NPU_REG_EVENT_BASE_HI,   NPU_REG_EVENT_CAPACITY,  NPU_REG_CYCLE_LIMIT_LO,
      NPU_REG_CYCLE_LIMIT_HI,  NPU_REG_JOB_OWNER,       NPU_REG_JOB_EPOCH,       NPU_REG_JOB_FLAGS,
      NPU_REG_CYCLE_BASE_LO,   NPU_REG_CYCLE_BASE_HI,   NPU_REG_COUNTER_BASE_LO, NPU_REG_COUNTER_BASE_HI,
  };
  for (uint32_t i = 0; i < sizeof used / sizeof used[0]; ++i) {
    npu_core_registers[(used[i] - NPU_CORE_FIRST) / 4] = 0;
    npu_write(used[i], 0);
  }
  npu_core_init_regions();
  ++npu_core_resets;
  npu_write(NPU_REG_IRQ_ENABLE, NPU_REG_IRQ_ENABLE_JOB_MASK);
  npu_core_powered = (npu_read(NPU_REG_STATUS) & NPU_REG_STATUS_POWERED_MASK) != 0;
  npu_core_persistent = npu_read(NPU_REG_PSRAM_POWER);
}

struct npu_core_result npu_core_take_result(void) {
  struct npu_core_result result = {.end = NPU_CORE_BUSY};
  npu_write(NPU_REG_IRQ_STATUS, NPU_REG_IRQ_STATUS_JOB_MASK);
  const uint32_t status = npu_read(NPU_REG_STATUS);
  if ((status & NPU_REG_STATUS_RUNNING_MASK) != 0) return result;
  if ((status & NPU_REG_STATUS_FAULT_MASK) != 0) {
    result.end = NPU_CORE_FAULT;
  } else if ((status & NPU_REG_STATUS_PREEMPTED_MASK) != 0) {
    result.end = NPU_CORE_PREEMPTED;
    result.next_word = npu_read(NPU_REG_COMMAND_NEXT);
    result.segment = npu_read(NPU_REG_YIELD_SEGMENT);
  } else if ((status & NPU_REG_STATUS_DONE_MASK) != 0) {
    result.end = NPU_CORE_DONE;
  } else {
    return result;
  }
  result.cycles = (uint64_t)npu_read(NPU_REG_JOB_CYCLES_HI) << 32 | npu_read(NPU_REG_JOB_CYCLES_LO);
  result.events = npu_core_events();
  return result;
}

uint32_t npu_core_events(void) { return npu_read(NPU_REG_EVENT_COUNT); }

bool npu_core_running(void) { return (npu_read(NPU_REG_STATUS) & NPU_REG_STATUS_RUNNING_MASK) != 0; }

struct npu_fault npu_core_fault(void) {
  struct npu_fault fault;
  fault.code = (enum npu_error)npu_read(NPU_REG_FAULT_CODE);
  fault.command = npu_read(NPU_REG_FAULT_COMMAND);
  fault.other = npu_read(NPU_REG_FAULT_OTHER);
  fault.queue = npu_read(NPU_REG_FAULT_QUEUE);
  fault.address = (uint64_t)npu_read(NPU_REG_FAULT_ADDRESS_HI) << 32 | npu_read(NPU_REG_FAULT_ADDRESS_LO);
  fault.cycle = (uint64_t)npu_read(NPU_REG_FAULT_CYCLE_HI) << 32 | npu_read(NPU_REG_FAULT_CYCLE_LO);
  return fault;
}

void npu_core_look_at_queues(struct npu_queues *queues) {
  enum { kTries = 4 };
  for (uint32_t i = 0; i < NPU_REG_QUEUE_COUNT; ++i) {
    uint32_t command = npu_read(NPU_REG_QUEUE_COMMAND(i));
    for (int tries = 0; tries < kTries; ++tries) {
      queues->command[i] = command;
      queues->state[i] = npu_read(NPU_REG_QUEUE_STATE(i));
      command = npu_read(NPU_REG_QUEUE_COMMAND(i));
      if (command == queues->command[i]) break;
    }
  }
}

void npu_core_preempt(void) { npu_write(NPU_REG_CONTROL, NPU_REG_CONTROL_PREEMPT_MASK); }

void npu_core_reset(void) {
  npu_write(NPU_REG_CONTROL, NPU_REG_CONTROL_SOFT_RESET_MASK);
  npu_write(NPU_REG_IRQ_STATUS, NPU_REG_IRQ_STATUS_JOB_MASK);
  npu_core_init();
}

bool npu_core_power_up(void) {
  if (npu_core_powered) return true;
  npu_write(NPU_REG_ENGINE_POWER, NPU_REG_ENGINE_POWER_ON_MASK);
  for (uint32_t i = 0; i < kPowerPolls && !npu_core_powered; ++i) {
    npu_watchdog_kick();
    npu_core_powered = (npu_read(NPU_REG_STATUS) & NPU_REG_STATUS_POWERED_MASK) != 0;
  }
  npu_log(NPU_LOG_EVENT, npu_core_powered ? "engines have power" : "engines get no power");
  return npu_core_powered;
}

void npu_core_power_down(void) {
  npu_write(NPU_REG_ENGINE_POWER, 0);
  npu_core_powered = false;
  npu_log(NPU_LOG_EVENT, "engines without power");
}

bool npu_core_wake(void) {
  if (npu_core_persistent != NPU_PSRAM_POWER_ON) npu_core_persistent_power(NPU_PSRAM_POWER_ON);
  return npu_core_powered || npu_core_power_up();
}

bool npu_core_persistent_on(void) { return npu_core_persistent == NPU_PSRAM_POWER_ON; }

void npu_core_persistent_power(enum npu_psram_power state) {
  static const char *const names[] = {"on", "retention", "off"};
  if (npu_core_persistent == (uint32_t)state) return;
  npu_core_persistent = state;
  npu_write(NPU_REG_PSRAM_POWER, state);
  npu_log(NPU_LOG_EVENT, "persistent SRAM: %s", names[state]);
}

struct npu_scrubbed npu_core_scrub(void) {
  struct npu_scrubbed result = {.corrected = npu_read(NPU_REG_ECC_CORRECTED),
                                .damaged = npu_read(NPU_REG_ECC_UNCORRECTABLE)};
  npu_write(NPU_REG_PSRAM_SCRUB, NPU_REG_PSRAM_SCRUB_START_MASK);
  result.corrected = npu_read(NPU_REG_ECC_CORRECTED) - result.corrected;
  result.damaged = npu_read(NPU_REG_ECC_UNCORRECTABLE) - result.damaged;
  result.address = npu_read(NPU_REG_ECC_ADDRESS);
  npu_log(NPU_LOG_EVENT, "scrub: %u bits corrected, %u words damaged", (unsigned)result.corrected,
          (unsigned)result.damaged);
  return result;
}

void npu_core_acknowledge_loss(void) {
  npu_write(NPU_REG_PSRAM_STATUS, NPU_REG_PSRAM_STATUS_LOST_MASK);
  npu_log(NPU_LOG_EVENT, "persistent SRAM: loss acknowledged");
}
