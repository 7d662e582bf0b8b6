// SPDX-License-Identifier: Apache-2.0
// What the firmware knows about the device it runs on; filled in by the self-test.
#pragma once

#include <stdint.h>

struct npu_device {
  uint64_t dram_bytes;
  uint32_t psram_bytes, psram_port_bytes, var_entries, spm_bytes;
  uint32_t cycles_per_us;  // of the engines' clock, which counts the device time
  // Memory that driver and firmware share, as device addresses below 2 GiB.
  uint32_t shared_base, shared_end;
};

extern struct npu_device npu_device;
