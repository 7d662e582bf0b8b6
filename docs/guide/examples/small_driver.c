// SPDX-License-Identifier: Apache-2.0
// A complete driver on the C API: runs a network on the simulated device a few times, meets an error, cancels a job.
//
//   small_driver NETWORK.tosa [MACHINE]
//
// Exit status: 0, or the class of the error (npu_class).
#include <inttypes.h>
#include <npu.h>
#include <npu_sim.h>
#include <stdio.h>
#include <stdlib.h>

enum { INVOCATIONS = 3 };

// Everything that main() has to give back.
struct driver {
  npu_device *device;
  npu_context *context;
  npu_program *program;
  npu_job *job;
};

// Prints the error, gives it back, and returns the exit status for it.
static int report(const char *what, npu_error *error) {
  const npu_class kind = npu_error_class(error);
  npu_fault fault = {.struct_size = sizeof fault};
  fprintf(stderr, "%s: %s [%s, %s]\n", what, npu_error_message(error), npu_class_name(kind),
          npu_status_name(npu_error_status(error)));
  if (npu_error_fault(error, &fault)) {
    fprintf(stderr, "  queue %s, command %" PRIu32 ", layer '%s', cycle %" PRIu64 "\n", npu_queue_name(fault.queue),
            fault.command, fault.layer_name, fault.cycle);
  }
  npu_error_destroy(error);
  return kind;
}

// Device, context, program and job.
static npu_status open_all(struct driver *driver, const char *machine, const char *network, npu_error **error) {
  const npu_sim_options simulation = {.struct_size = sizeof simulation, .machine = machine};
  const npu_context_options urgent = {.struct_size = sizeof urgent, .priority = 10};
  npu_hal_ops hal = {.struct_size = sizeof hal};
  npu_status status = npu_sim_open(&simulation, &hal, error);
  if (status == NPU_OK) status = npu_device_open(&hal, NULL, &driver->device, error);
  if (status == NPU_OK) status = npu_context_create(driver->device, &urgent, &driver->context, error);
  if (status == NPU_OK) status = npu_program_load_file(driver->context, network, &driver->program, error);
  if (status == NPU_OK) status = npu_job_create(driver->program, NULL, &driver->job, error);
  return status;
}

static void close_all(struct driver *driver) {
  npu_job_destroy(driver->job);
  npu_program_destroy(driver->program);
  npu_context_destroy(driver->context);
  npu_device_destroy(driver->device);
}

// Fills every input with a ramp that starts at `first`.
static npu_status set_inputs(struct driver *driver, int first, npu_error **error) {
  npu_status status = NPU_OK;
  for (size_t i = 0; i < npu_program_input_count(driver->program) && status == NPU_OK; ++i) {
    npu_tensor_info port = {.struct_size = sizeof port};
    status = npu_program_input(driver->program, i, &port, error);
    if (status != NPU_OK) break;
    uint8_t *const data = malloc(port.bytes);
    for (uint64_t k = 0; data != NULL && k < port.bytes; ++k) data[k] = (uint8_t)((uint64_t)first + k);
    status = npu_job_set_input(driver->job, i, data, port.bytes, error);
    free(data);
  }
  return status;
}

// The first bytes of every output.
static npu_status print_outputs(struct driver *driver, npu_error **error) {
  npu_status status = NPU_OK;
  for (size_t i = 0; i < npu_program_output_count(driver->program) && status == NPU_OK; ++i) {
    npu_tensor_info port = {.struct_size = sizeof port};
    status = npu_program_output(driver->program, i, &port, error);
    if (status != NPU_OK) break;
    uint8_t *const data = malloc(port.bytes);
    status = npu_job_output(driver->job, i, data, port.bytes, error);
    if (status == NPU_OK) {
      printf("  %s %s:", port.name, npu_dtype_name(port.type));
      for (uint64_t k = 0; k < port.bytes && k < 8; ++k) printf(" %d", data[k]);
      printf("%s\n", port.bytes > 8 ? " ..." : "");
    }
    free(data);
  }
  return status;
}

// Runs the network and prints what came out and what it took.
static npu_status run(struct driver *driver, int invocation, npu_error **error) {
  npu_job_result result = {.struct_size = sizeof result};
  bool ended = false;
  npu_status status = set_inputs(driver, invocation, error);
  if (status == NPU_OK) status = npu_job_start(driver->job, error);
  // One could do something else here, and look after the job now and then.
  while (status == NPU_OK && !ended) status = npu_job_wait(driver->job, 100000000, &ended, error);
  if (status == NPU_OK) status = npu_job_get_result(driver->job, &result, error);
  if (status != NPU_OK) return status;
  printf("invocation %d: %" PRIu64 " cycles in the engines, %" PRIu64 " from doorbell to completion\n", invocation,
         result.cycles, result.completed - result.submitted);
  return print_outputs(driver, error);
}

// Starts a job that the device must not begin for a long time, and calls it off.
static npu_status cancel(struct driver *driver, npu_error **error) {
  npu_job_options later = {.struct_size = sizeof later};
  npu_job *const first = driver->job;
  npu_status status = npu_device_time(driver->device, &later.not_before, error);
  later.not_before += 1000000000;
  if (status == NPU_OK) status = npu_job_create(driver->program, &later, &driver->job, error);
  if (status == NPU_OK) status = set_inputs(driver, 0, error);
  if (status == NPU_OK) status = npu_job_start(driver->job, error);
  if (status == NPU_OK) status = npu_job_cancel(driver->job, error);
  if (status == NPU_OK) status = npu_job_wait(driver->job, NPU_WAIT_FOREVER, NULL, error);
  if (driver->job != first) npu_job_destroy(driver->job);
  driver->job = first;
  return status;
}

static npu_status print_log(struct driver *driver, npu_error **error) {
  char text[256];
  size_t length = 0;
  npu_status status;
  printf("firmware log:\n");
  do {
    status = npu_device_take_firmware_log(driver->device, text, sizeof text, &length, error);
    if (status == NPU_OK) fputs(text, stdout);
  } while (status == NPU_OK && length > 0);
  return status;
}

int main(int argc, char **argv) {
  struct driver driver = {NULL, NULL, NULL, NULL};
  npu_error *error = NULL;
  int status = 0;
  if (argc < 2) {
    fprintf(stderr, "usage: small_driver NETWORK.tosa [MACHINE]\n");
    return NPU_CLASS_USAGE;
  }
  if (open_all(&driver, argc > 2 ? argv[2] : NULL, argv[1], &error) != NPU_OK) status = report("cannot start", error);
  for (int i = 0; i < INVOCATIONS && status == 0; ++i) {
    if (run(&driver, i, &error) != NPU_OK) status = report("the job failed", error);
  }
  if (status == 0) {
    // A mistake, to see what becomes of it: an input of one byte.
    if (npu_job_set_input(driver.job, 0, "x", 1, &error) != NPU_OK) report("as expected", error);
    // A cancelled job is reported as an error, too; everything else goes on.
    if (cancel(&driver, &error) != NPU_STATUS_JOB_CANCELLED) {
      status = error == NULL ? NPU_CLASS_INTERNAL : report("not cancelled", error);
    } else {
      report("as expected", error);
    }
  }
  if (status == 0 && run(&driver, INVOCATIONS, &error) != NPU_OK) status = report("the job failed", error);
  if (status == 0 && print_log(&driver, &error) != NPU_OK) status = report("no log", error);
  close_all(&driver);
  return status;
}
