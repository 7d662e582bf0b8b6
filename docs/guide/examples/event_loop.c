// SPDX-License-Identifier: Apache-2.0
// Four ways to hear that a job has ended, on the simulated device; the last two let a program do other things
// meanwhile.
//
//   event_loop NETWORK.tosa [MACHINE [FAULTS]]
//
// FAULTS: what shall go wrong, as "hang vpu@0@job2" (npu_sim_options.faults). Exit status: 0, or the class of the
// error.
#define _POSIX_C_SOURCE 200809L  // poll, pipe

#include <inttypes.h>
#include <npu.h>
#include <npu_sim.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { CALLBACK_JOBS = 3, MOST_CYCLES = 1000000, PATIENCE_MS = 60000 };

struct loop {
  npu_device *device;
  npu_context *context;
  npu_program *program;
  npu_job *job;
  // Of the jobs that end_of_job() handles, which is called in the library's thread.
  int finished;  // its end writes the last error's class here
  int jobs_left;
  npu_status last;
};

static int report(const char *what, npu_error *error) {
  const npu_class kind = npu_error_class(error);
  fprintf(stderr, "%s: %s [%s]\n", what, npu_error_message(error), npu_status_name(npu_error_status(error)));
  npu_error_destroy(error);
  return kind;
}

static npu_status open_all(struct loop *loop, int argc, char **argv, npu_error **error) {
  const npu_sim_options simulation = {
      .struct_size = sizeof simulation, .machine = argc > 2 ? argv[2] : NULL, .faults = argc > 3 ? argv[3] : NULL};
  const npu_job_options options = {.struct_size = sizeof options, .cycle_limit = MOST_CYCLES};
  npu_hal_ops hal = {.struct_size = sizeof hal};
  npu_status status = npu_sim_open(&simulation, &hal, error);
  if (status == NPU_OK) status = npu_device_open(&hal, NULL, &loop->device, error);
  if (status == NPU_OK) status = npu_context_create(loop->device, NULL, &loop->context, error);
  if (status == NPU_OK) status = npu_program_load_file(loop->context, argv[1], &loop->program, error);
  if (status == NPU_OK) status = npu_job_create(loop->program, &options, &loop->job, error);
  for (size_t i = 0; status == NPU_OK && i < npu_program_input_count(loop->program); ++i) {
    npu_tensor_info port = {.struct_size = sizeof port};
    status = npu_program_input(loop->program, i, &port, error);
    if (status != NPU_OK) break;
    void *const zeros = calloc(1, port.bytes);
    status = npu_job_set_input(loop->job, i, zeros, port.bytes, error);
    free(zeros);
  }
  return status;
}

static void close_all(struct loop *loop) {
  npu_job_destroy(loop->job);
  npu_program_destroy(loop->program);
  npu_context_destroy(loop->context);
  npu_device_destroy(loop->device);
}

// 1. Sleep in the library until the job has ended.
static npu_status wait_for_it(struct loop *loop, npu_error **error) { return npu_job_run(loop->job, error); }

// 2. Look again and again. Every look lets the simulated device go on a little, so that this comes to an end.
static npu_status look_often(struct loop *loop, npu_error **error) {
  bool ended = false;
  unsigned looks = 0;
  npu_status status = npu_job_start(loop->job, error);
  for (; status == NPU_OK && !ended; ++looks) status = npu_job_wait(loop->job, 0, &ended, error);
  if (status == NPU_OK) printf("looking: ended after %u looks\n", looks);
  return status;
}

// 3. An event loop: the descriptor stands beside those of sockets and timers.
static npu_status poll_for_it(struct loop *loop, npu_error **error) {
  struct pollfd entry = {.events = POLLIN};
  bool ended = false;
  npu_status status = npu_device_fd(loop->device, &entry.fd, error);
  if (status == NPU_OK) status = npu_job_start(loop->job, error);
  while (status == NPU_OK && !ended) {
    if (poll(&entry, 1, PATIENCE_MS) != 1) {
      fprintf(stderr, "poll: nothing happened\n");
      exit(NPU_CLASS_INTERNAL);
    }
    // Collects the completion: the descriptor is not readable any more.
    status = npu_job_wait(loop->job, 0, &ended, error);
  }
  if (status == NPU_OK) printf("polling: ended, %s\n", poll(&entry, 1, 0) == 0 ? "collected" : "not collected");
  return status;
}

// Collects the job and starts it again, or says that all are done. In the library's thread.
static void end_of_job(void *user, npu_job *job) {
  struct loop *const loop = user;
  loop->last = npu_job_wait(job, 0, NULL, NULL);
  if (loop->last == NPU_OK && --loop->jobs_left > 0) loop->last = npu_job_start(job, NULL);
  if (loop->last == NPU_OK && loop->jobs_left > 0) return;
  const char done = 1;
  if (write(loop->finished, &done, 1) != 1) abort();
}

// 4. A function that is called: here it keeps the device busy, and this thread sleeps in a read of its own.
static npu_status be_called(struct loop *loop, npu_error **error) {
  int ends[2];
  char done = 0;
  if (pipe(ends) != 0) abort();
  loop->finished = ends[1];
  loop->jobs_left = CALLBACK_JOBS;
  npu_status status = npu_job_on_complete(loop->job, end_of_job, loop, error);
  if (status == NPU_OK) status = npu_job_start(loop->job, error);
  if (status == NPU_OK && read(ends[0], &done, 1) != 1) abort();
  if (status == NPU_OK) status = loop->last;
  // It tells the error again, with its words.
  if (status != NPU_OK && done == 1) status = npu_job_wait(loop->job, 0, NULL, error);
  if (status == NPU_OK) printf("called: %d jobs\n", CALLBACK_JOBS - loop->jobs_left);
  // After this call the library does not use the pipe any more.
  npu_job_on_complete(loop->job, NULL, NULL, NULL);
  close(ends[0]);
  close(ends[1]);
  return status;
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    npu_status (*run)(struct loop *loop, npu_error **error);
  } ways[] = {{"waiting", wait_for_it}, {"looking", look_often}, {"polling", poll_for_it}, {"being called", be_called}};
  struct loop loop = {.device = NULL};
  npu_error *error = NULL;
  int status = 0;
  if (argc < 2) {
    fprintf(stderr, "usage: event_loop NETWORK.tosa [MACHINE [FAULTS]]\n");
    return NPU_CLASS_USAGE;
  }
  if (open_all(&loop, argc, argv, &error) != NPU_OK) {
    status = report("cannot start", error);
  } else {
    // A job that fails does not keep the next one from running.
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; ++i) {
      if (ways[i].run(&loop, &error) != NPU_OK) status = report(ways[i].name, error);
    }
  }
  close_all(&loop);
  return status;
}
