// SPDX-License-Identifier: Apache-2.0
// Opens a simulated device for the C API of the driver (npu.h): one NPU with its memory, in SystemC.
//
//   npu_hal_ops hal = {.struct_size = sizeof hal};
//   npu_sim_open(NULL, &hal, &error);
//   npu_device_open(&hal, NULL, &device, &error);
//
// Link libnpu_sim beside libnpu; SystemC comes with it. A process can open one simulated device, and only once: the
// SystemC kernel allows no more. It runs in a thread of its own, in simulated time only: cycle counts are the same in
// each run.
#ifndef NPU_SIM_H_
#define NPU_SIM_H_

// NOLINTBEGIN(readability-identifier-naming): C has no namespaces, so every name carries its own.

#include <npu.h>

#ifdef __cplusplus
extern "C" {
#endif

// Timed: results and cycles. Functional: the same results faster, without time.
enum { NPU_SIM_TIMED = 0, NPU_SIM_FUNCTIONAL = 1 };

typedef struct npu_sim_options {
  size_t struct_size;
  // A preset ("edge", "nano") or a YAML file with the sizes of a machine; NULL: "edge".
  const char* machine;
  uint32_t mode;  // NPU_SIM_TIMED, ...
  // Random extra latency of up to jitter_max_cycles (at most 1,000,000) on every tile, DMA command and burst; bits stay
  // the same.
  uint32_t jitter_max_cycles;
  uint64_t jitter_seed;
  // Do not overwrite the scratchpad at every job start.
  bool no_poison;
  // Leave out control CPU, firmware and mailbox; the driver must be told (npu_device_options.bypass_firmware).
  bool no_control_cpu;
  // TCP port of 127.0.0.1 for GDB's remote protocol on the control CPU; 0: none, 1: any free one. The CPU waits for the
  // debugger before it boots.
  uint16_t gdb_port;
  // Called once with the port when a debugger can connect, in the simulation's thread. May be NULL.
  void (*debugger_waiting)(void* user, uint16_t port);
  // Called with every character that the firmware prints to its UART, in the simulation's thread. May be NULL.
  void (*uart)(void* user, char character);
  void* user;  // for both
  // Shared module with the simulator of the control CPU; NULL: libnpu_iss.so where the loader finds it, first beside
  // libnpu_sim.
  const char* iss_module;
  // Since version 1.2 of npu.h: what shall go wrong, for tests, as "hang mxu@40; flip 0x800.3@job7; drop-irq 2";
  // NULL: nothing. docs/guide/write-a-driver.md has the forms.
  const char* faults;
} npu_sim_options;

// Builds the device and fills `hal`, whose struct_size must be set; NULL options are all defaults. The device lives
// until hal->destroy, which npu_device_open() sees to. NPU_STATUS_BAD_PRESET, NPU_STATUS_CANNOT_READ: the machine's
// file; NPU_STATUS_BAD_OPTION: among others, `faults` is wrong; NPU_STATUS_WRONG_ORDER: the process has opened one
// already.
NPU_EXPORT npu_status npu_sim_open(const npu_sim_options* options, npu_hal_ops* hal, npu_error** error);

#ifdef __cplusplus
}
#endif

// NOLINTEND(readability-identifier-naming)

#endif  // NPU_SIM_H_
