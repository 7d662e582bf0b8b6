// SPDX-License-Identifier: Apache-2.0
// The driver's C API: open a device, make a context, load TOSA programs, run jobs. C11, and C++ as it is.
//
//   npu_device* device;      npu_device_open(&hal, NULL, &device, &error);
//   npu_context* context;    npu_context_create(device, NULL, &context, &error);
//   npu_program* program;    npu_program_load_file(context, "net.tosa", &program, &error);  // or "net.npu"
//   npu_job* job;            npu_job_create(program, NULL, &job, &error);
//   npu_job_set_input(job, 0, data, bytes, &error);
//   npu_job_run(job, &error);
//   npu_job_output(job, 0, result, bytes, &error);
//
// docs/guide/write-a-driver.md has a whole driver. A driver for a device implements `npu_hal_ops`; npu_sim.h opens a
// simulated device.
//
// RESULTS. A function that can fail returns NPU_OK or one of the codes below. Its last parameter, which may be NULL,
// then receives a new npu_error with the explanation (NULL on success): destroy it. On failure the function
// leaves its other results untouched, except a handle, which is NULL then. A mistake of the caller (a null pointer, a
// wrong size, an unknown number) is NPU_STATUS_BAD_OPTION; nothing aborts for it, and no exception leaves the library.
//
// HANDLES. `..._destroy` gives up a handle, and ignores NULL. Its object lives on as long as another object needs it:
// a context keeps its device open, a program its context, a job its program; handles may be destroyed in any order.
// Destroying a job that is in flight stops it.
//
// THREADS. All functions may be called from any thread at any time, also on the same handle, with two exceptions: a
// handle must not be in use by, or be used after, its own `..._destroy`; and the objects npu_error and npu_variables
// do not change once they are made, so reading them from several threads is safe too. npu_job_wait() does not keep
// other threads from calling: one may cancel the job that another waits for. Jobs of one context run in order, one at a
// time; jobs of several contexts share the device, the more urgent first. The HAL is called from one thread at a time,
// but not always from the same; `wake` alone may be called while another of its functions is running.
//
// SIZES. A network whose file leaves sizes open is compiled once for all sizes within bounds
// (npu_program_load_bounds()). Each job then brings inputs of the sizes that it likes (npu_job_set_input_shape()), and
// tells those of its outputs (npu_job_output_info()). Behind such an npu_program are up to 32 programs, of which a job
// runs the one for its sizes.
//
// VERSIONS. Structures that may grow start with `struct_size`: set it to sizeof, and every member that you do not use
// to zero (`npu_job_options options = {.struct_size = sizeof options}`), or pass NULL for all defaults; zero is the
// default of every member. A library refuses a member that it does not know unless it is zero, and takes a shorter,
// older structure. The major version counts incompatible changes and is that of the shared library's name
// (libnpu.so.MAJOR).
#ifndef NPU_H_
#define NPU_H_

// NOLINTBEGIN(readability-identifier-naming): C has no namespaces, so every name carries its own.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define NPU_EXPORT __attribute__((visibility("default")))
#else
#define NPU_EXPORT
#endif

#define NPU_API_VERSION_MAJOR 1u
#define NPU_API_VERSION_MINOR 6u
#define NPU_API_VERSION (NPU_API_VERSION_MAJOR << 16 | NPU_API_VERSION_MINOR)

// Version of the library that runs, which may be newer than that of this header: equal major, minor not smaller.
NPU_EXPORT uint32_t npu_api_version(void);

// --- Errors ----------------------------------------------------------------------------------------------------------

// The registry of hw/contract/errors.yaml: (class << 8) | number. Later minor versions may add codes: judge an unknown
// one by its class.
typedef int32_t npu_status;

enum {
  NPU_OK = 0,
  // The specification calls the result unpredictable.
  NPU_STATUS_REQUIRE_FAILED = 0x101,
  NPU_STATUS_VARIABLE_UNWRITTEN = 0x102,
  NPU_STATUS_VARIABLE_UNDECLARED = 0x103,
  NPU_STATUS_VARIABLE_REDECLARED = 0x104,
  NPU_STATUS_VARIABLE_MISMATCH = 0x105,
  NPU_STATUS_INDEX_OUT_OF_RANGE = 0x106,  // a job's: of GATHER or SCATTER
  NPU_STATUS_SIZE_MISMATCH = 0x107,       // of a network whose file leaves sizes open
  // Illegal graph: nothing ran.
  NPU_STATUS_FILE_DAMAGED = 0x201,
  NPU_STATUS_UNKNOWN_OPERATOR = 0x202,
  NPU_STATUS_BAD_STRUCTURE = 0x203,
  NPU_STATUS_BAD_ARGUMENT = 0x204,
  NPU_STATUS_BAD_TYPE = 0x205,
  NPU_STATUS_BAD_SHAPE = 0x206,
  NPU_STATUS_BAD_DATA = 0x207,
  // Legal, but this device or this version cannot do it.
  NPU_STATUS_VERSION_UNSUPPORTED = 0x301,
  NPU_STATUS_FEATURE_UNSUPPORTED = 0x302,
  NPU_STATUS_OPERATOR_UNSUPPORTED = 0x303,
  NPU_STATUS_TYPE_UNSUPPORTED = 0x304,
  NPU_STATUS_ARGUMENT_UNSUPPORTED = 0x305,
  NPU_STATUS_CONTRACT_MISMATCH = 0x306,
  NPU_STATUS_FIRMWARE_MISMATCH = 0x307,
  // Does not fit.
  NPU_STATUS_SCRATCHPAD_FULL = 0x401,
  NPU_STATUS_DRAM_FULL = 0x402,
  NPU_STATUS_PERSISTENT_FULL = 0x403,
  NPU_STATUS_VARIABLE_TABLE_FULL = 0x404,
  NPU_STATUS_BUDGET_EXCEEDED = 0x405,  // also: the host has not enough memory
  NPU_STATUS_CONTEXTS_FULL = 0x406,
  NPU_STATUS_QUEUE_FULL = 0x407,
  NPU_STATUS_LOOP_LIMIT = 0x408,  // a job's: it was stopped in a loop
  // The device stopped a job, or does not work.
  NPU_STATUS_FAULT_BAD_COMMAND = 0x501,
  NPU_STATUS_FAULT_BAD_REGION = 0x502,
  NPU_STATUS_FAULT_OUT_OF_BOUNDS = 0x503,
  NPU_STATUS_FAULT_ACCESS_RIGHT = 0x504,
  NPU_STATUS_FAULT_HAZARD = 0x505,
  NPU_STATUS_FAULT_BUS = 0x506,
  NPU_STATUS_FAULT_TIMEOUT = 0x507,
  NPU_STATUS_FAULT_TOKEN = 0x508,
  NPU_STATUS_FAULT_COUNTERS = 0x509,
  NPU_STATUS_FAULT_POWER = 0x50a,
  NPU_STATUS_FAULT_FIRMWARE = 0x50b,
  NPU_STATUS_FAULT_RING = 0x50c,
  NPU_STATUS_FAULT_REQUEST = 0x50d,
  NPU_STATUS_JOB_CANCELLED = 0x50e,
  NPU_STATUS_FAULT_ECC = 0x50f,
  NPU_STATUS_FAULT_SIZES = 0x510,
  NPU_STATUS_FAULT_PATCH = 0x511,
  // The content of persistent memory is gone.
  NPU_STATUS_POWER_LOST = 0x601,
  NPU_STATUS_VARIABLE_TORN = 0x602,
  // A comparison found differences.
  NPU_STATUS_ELEMENTS_DIFFER = 0x701,
  // The caller's mistake.
  NPU_STATUS_BAD_OPTION = 0x4001,
  NPU_STATUS_BAD_INPUT = 0x4002,
  NPU_STATUS_BAD_NPY = 0x4003,
  NPU_STATUS_BAD_PRESET = 0x4004,
  NPU_STATUS_WRONG_ORDER = 0x4005,
  NPU_STATUS_BAD_FIRMWARE = 0x4006,
  NPU_STATUS_BAD_SNAPSHOT = 0x4007,
  NPU_STATUS_SIZE_OUT_OF_BOUNDS = 0x4008,  // of a program that was compiled for sizes within bounds
  // Files and programs.
  NPU_STATUS_CANNOT_READ = 0x4201,
  NPU_STATUS_CANNOT_WRITE = 0x4202,
  NPU_STATUS_TOOL_MISSING = 0x4203,
  NPU_STATUS_TOOL_FAILED = 0x4204,
  // A bug of this library.
  NPU_STATUS_BUG = 0x4601,
};

// Kind of a status; also the exit status of the program `npu`.
typedef int32_t npu_class;

enum {
  NPU_CLASS_VALID = 0,
  NPU_CLASS_UNPREDICTABLE = 1,
  NPU_CLASS_ILLEGAL_GRAPH = 2,
  NPU_CLASS_UNSUPPORTED = 3,
  NPU_CLASS_RESOURCE = 4,
  NPU_CLASS_DEVICE_FAULT = 5,
  NPU_CLASS_STATE_LOST = 6,
  NPU_CLASS_CHECK_FAILED = 7,
  NPU_CLASS_USAGE = 64,
  NPU_CLASS_IO = 66,
  NPU_CLASS_INTERNAL = 70,
};

NPU_EXPORT npu_class npu_status_class(npu_status status);
// "fault_timeout", "device_fault"; "?" for a number that is not in the registry. Never NULL, never freed.
NPU_EXPORT const char* npu_status_name(npu_status status);
NPU_EXPORT const char* npu_class_name(npu_class kind);
// One sentence: what the code stands for in general.
NPU_EXPORT const char* npu_status_describe(npu_status status);

// The error of one call. (The contract's header has an enum of the same tag.)
typedef struct npu_error_object npu_error;

// For back ends (npu_hal_ops) that hand out errors of their own. NULL without memory or for status NPU_OK; a NULL
// message is taken as an empty one.
NPU_EXPORT npu_error* npu_error_create(npu_status status, const char* message);
NPU_EXPORT void npu_error_destroy(npu_error* error);
// NPU_OK, NPU_CLASS_VALID and "" for NULL.
NPU_EXPORT npu_status npu_error_status(const npu_error* error);
NPU_EXPORT npu_class npu_error_class(const npu_error* error);
// Sentences for people, which name the thing concerned and often the way out. They live as long as the error.
NPU_EXPORT const char* npu_error_message(const npu_error* error);

#define NPU_NO_LAYER UINT32_MAX

// Where in a job the device stopped.
typedef struct npu_fault {
  size_t struct_size;
  npu_status status;
  uint32_t command;        // index in the program's commands
  uint32_t other;          // NPU_STATUS_FAULT_HAZARD: the other command; variables: the entry of the table
  uint32_t queue;          // NPU_JOB_QUEUE_...
  uint32_t layer;          // index among the program's layers; NPU_NO_LAYER when the fault is not about one
  const char* layer_name;  // "conv2d_3", or "" ; lives as long as the error
  uint32_t region;         // of the address at fault, as in the contract (region)
  uint32_t variable;       // of the address at fault, when it lies in a variable: entry of the table
  uint64_t address;        // byte in the region
  uint64_t cycle;          // of the job
} npu_fault;

// Fills `fault` and returns true when the error is that of a job that the device stopped; otherwise, and for a
// cancelled job, returns false.
NPU_EXPORT bool npu_error_fault(const npu_error* error, npu_fault* fault);

// --- Hardware --------------------------------------------------------------------------------------------------------

enum { NPU_WINDOW_PERSISTENT = 0, NPU_WINDOW_CODE = 1, NPU_WINDOW_DATA = 2 };

#define NPU_HAL_VERSION 1u

// How the driver reaches a device: the owner of the device implements it. Functions return NPU_OK or the code of the
// failure, usually NPU_STATUS_FAULT_BUS. The caller's call then fails with that code; a number that is not a code
// counts as NPU_STATUS_FAULT_BUS. Every pointer but those marked as optional must be set. `user` is passed to each.
typedef struct npu_hal_ops {
  size_t struct_size;
  uint32_t version;  // NPU_HAL_VERSION
  void* user;
  // A 32-bit register of the host port; offset in bytes, as in the contract.
  npu_status (*read_register)(void* user, uint32_t offset, uint32_t* value);
  npu_status (*write_register)(void* user, uint32_t offset, uint32_t value);
  // Optional: `count` registers at offset, offset + 4, ...; without, they are read one after the other.
  npu_status (*read_registers)(void* user, uint32_t offset, uint32_t* values, size_t count);
  // Device memory (DRAM), by the device's addresses. The device must see data that the driver wrote
  // before a register, and the driver data that the device wrote before an interrupt: caches and write buffers are
  // this layer's.
  npu_status (*read_memory)(void* user, uint64_t address, void* bytes, size_t size);
  npu_status (*write_memory)(void* user, uint64_t address, const void* bytes, size_t size);
  // Optional: without, memory is filled by write_memory.
  npu_status (*fill_memory)(void* user, uint64_t address, uint64_t size, uint8_t value);
  // The memories behind the host port's windows (NPU_WINDOW_...); offset in bytes from the memory's start.
  npu_status (*read_window)(void* user, uint32_t window, uint32_t offset, void* bytes, size_t size);
  npu_status (*write_window)(void* user, uint32_t window, uint32_t offset, const void* bytes, size_t size);
  // Waits until the interrupt line is up: *up = true. *up = false when `timeout_ns` of host time passed first, when
  // wake() was called, or when nothing can happen any more. Returns at once when the line is up already.
  npu_status (*wait_interrupt)(void* user, uint64_t timeout_ns, bool* up);
  // Makes a wait_interrupt() that is going on, or else the next one, return soon. From any thread, at any time.
  void (*wake)(void* user);
  // Optional: the device will not be used any more. After the last call of another function.
  void (*destroy)(void* user);
  // Optional: a text about the last failed call of the same thread; copied at once. May return NULL.
  const char* (*error_text)(void* user);
} npu_hal_ops;

// --- Device ----------------------------------------------------------------------------------------------------------

typedef struct npu_device npu_device;

typedef struct npu_device_options {
  size_t struct_size;
  // Image for the control CPU; NULL: the one that the library was built with. Copied.
  const void* firmware;
  size_t firmware_size;
  // Its symbols for backtraces, lines "ADDRESS NAME" as nm prints them; NULL: none, or those of the built-in image.
  const char* firmware_symbols;
  // Drives the sequencer directly, on a device without control CPU: to measure what the firmware costs. Such a
  // device runs one job at a time: starting another meanwhile is NPU_STATUS_WRONG_ORDER.
  bool bypass_firmware;
  // Looks into memory now and then instead of enabling interrupts.
  bool polling;
  // Of the firmware: NPU_LOG_...; 0: NPU_LOG_EVENTS.
  uint32_t log_level;
} npu_device_options;

enum { NPU_LOG_DEFAULT = 0, NPU_LOG_ERRORS = 1, NPU_LOG_EVENTS = 2, NPU_LOG_REQUESTS = 3, NPU_LOG_NOTHING = 4 };

// Takes over a device, brings it to its first state (persistent memory is empty then) and boots its firmware. The
// device becomes the library's: `hal->destroy` is called when it is not needed any more, also when opening fails, but
// not when `hal`, `options` or `device` themselves are refused (NPU_STATUS_BAD_OPTION). `hal` is copied.
// NPU_STATUS_CONTRACT_MISMATCH: no NPU, or another version of the contract; NPU_STATUS_BAD_FIRMWARE: the image is
// damaged; NPU_STATUS_FIRMWARE_MISMATCH: of another version; NPU_STATUS_FAULT_FIRMWARE: the firmware does not get
// ready.
NPU_EXPORT npu_status npu_device_open(const npu_hal_ops* hal, const npu_device_options* options, npu_device** device,
                                      npu_error** error);
NPU_EXPORT void npu_device_destroy(npu_device* device);

// Capabilities: the sizes and features of a device, as named numbers ("clock_mhz", "spm_bytes", "dram_mib", ...).
NPU_EXPORT size_t npu_capability_count(void);
// NULL behind the last one.
NPU_EXPORT const char* npu_capability_name(size_t index);
NPU_EXPORT const char* npu_capability_unit(size_t index);
NPU_EXPORT npu_status npu_device_capability(const npu_device* device, const char* name, uint32_t* value,
                                            npu_error** error);

typedef struct npu_memory_use {
  size_t struct_size;
  uint64_t dram_bytes, dram_used;              // of the whole device
  uint64_t persistent_bytes, persistent_used;  // without the variable table
  uint32_t variable_entries, variables;        // of the variable table
  // Since version 1.1:
  uint64_t state_dram_used;  // by variables in DRAM; part of dram_used
} npu_memory_use;

NPU_EXPORT npu_status npu_device_memory_use(const npu_device* device, npu_memory_use* use, npu_error** error);

// Device time in cycles of the engines' clock.
NPU_EXPORT npu_status npu_device_time(npu_device* device, uint64_t* cycles, npu_error** error);

// A file descriptor for poll(), epoll and their like, the same each time: readable while a job has ended that
// npu_job_wait() or npu_job_run() has not told of, that was not started again and not destroyed; also when the hardware
// layer has failed while no call was waiting (npu_job_wait() reports it). From the first call on, a thread of the
// library lets the device run while jobs are in flight, whatever the program does meanwhile; so on a simulated device
// the moment in device time at which the program starts its next job depends on the host. The descriptor is the
// library's: do not read or close it. It lives as long as the device. Since version 1.2.
NPU_EXPORT npu_status npu_device_fd(npu_device* device, int* fd, npu_error** error);

// Stops all jobs (waiting for them then is NPU_STATUS_WRONG_ORDER), clears faults and counters and boots the firmware
// again. Variables keep their values, contexts and programs stay usable. The driver does this by itself when the
// firmware has stopped.
NPU_EXPORT npu_status npu_device_soft_reset(npu_device* device, npu_error** error);
// The same, and every variable of every context is forgotten.
NPU_EXPORT npu_status npu_device_cold_reset(npu_device* device, npu_error** error);

enum { NPU_POWER_ON = 0, NPU_POWER_SLEEP = 1 };

// Power of engines and scratchpad; a job wakes a sleeping device, variables keep their values. NPU_STATUS_WRONG_ORDER
// while jobs are in flight.
NPU_EXPORT npu_status npu_device_set_power(npu_device* device, uint32_t state, npu_error** error);

enum { NPU_PERSISTENT_ON = 0, NPU_PERSISTENT_RETENTION = 1, NPU_PERSISTENT_OFF = 2 };

// Power of the persistent SRAM. In retention variables keep their values, but cannot be read, and new ones cannot
// be allocated (NPU_STATUS_FAULT_POWER); a job switches it on by itself. Off: contexts that have variables lose them,
// see npu_context_state_lost(). NPU_STATUS_WRONG_ORDER while jobs are in flight. Since version 1.1, as all of this
// block.
NPU_EXPORT npu_status npu_device_set_persistent_power(npu_device* device, uint32_t state, npu_error** error);
NPU_EXPORT npu_status npu_device_persistent_power(npu_device* device, uint32_t* state, npu_error** error);

// The result of a scrub.
typedef struct npu_scrub npu_scrub;

// Reads all of the persistent SRAM and corrects single wrong bits. NPU_STATUS_WRONG_ORDER while jobs are in flight,
// NPU_STATUS_FAULT_POWER unless it is on.
NPU_EXPORT npu_status npu_device_scrub(npu_device* device, npu_scrub** scrub, npu_error** error);
// Wrong bits that it corrected, and words with two wrong bits that it found; 0 for NULL.
NPU_EXPORT uint32_t npu_scrub_corrected(const npu_scrub* scrub);
NPU_EXPORT uint32_t npu_scrub_uncorrectable(const npu_scrub* scrub);
// Identities of the variables that these words belong to, with "(context N)" where several contexts have one of that
// name; NULL behind the last one. They live as long as the npu_scrub.
NPU_EXPORT size_t npu_scrub_damaged_count(const npu_scrub* scrub);
NPU_EXPORT const char* npu_scrub_damaged(const npu_scrub* scrub, size_t index);
NPU_EXPORT void npu_scrub_destroy(npu_scrub* scrub);

// Of the persistent SRAM's error correction, since the device was opened or cold reset.
typedef struct npu_ecc_counts {
  size_t struct_size;
  uint32_t corrected;      // wrong bits that were corrected
  uint32_t uncorrectable;  // how often a word with two wrong bits was read
} npu_ecc_counts;

NPU_EXPORT npu_status npu_device_ecc_counts(npu_device* device, npu_ecc_counts* counts, npu_error** error);

// Text of the firmware's log that was not taken yet: copies at most size - 1 bytes and a final zero. `length` receives
// the bytes without it, 0 at the end of the log; text that does not fit stays for the next call.
NPU_EXPORT npu_status npu_device_take_firmware_log(npu_device* device, char* text, size_t size, size_t* length,
                                                   npu_error** error);

// A register that the contract gives to the host; offset in bytes. For tests and debuggers.
NPU_EXPORT npu_status npu_device_read_register(npu_device* device, uint32_t offset, uint32_t* value, npu_error** error);
NPU_EXPORT npu_status npu_device_write_register(npu_device* device, uint32_t offset, uint32_t value, npu_error** error);
// Device memory as a debugger sees it. NPU_STATUS_WRONG_ORDER while a job runs, NPU_STATUS_FAULT_BUS outside of it.
NPU_EXPORT npu_status npu_device_read_memory(npu_device* device, uint64_t address, void* bytes, size_t size,
                                             npu_error** error);
NPU_EXPORT npu_status npu_device_write_memory(npu_device* device, uint64_t address, const void* bytes, size_t size,
                                              npu_error** error);

// --- Tensors ---------------------------------------------------------------------------------------------------------

// Element types, numbered as in TOSA files. Data is in C order, little endian, without padding: BOOL 1 byte an element,
// INT4 and INT8 1, INT16 2, INT32 4, INT48 8, FP16 and BF16 2, FP32 4, SHAPE 8.
typedef uint32_t npu_dtype;

enum {
  NPU_DTYPE_UNKNOWN = 0,
  NPU_DTYPE_BOOL = 1,
  NPU_DTYPE_INT4 = 2,
  NPU_DTYPE_INT8 = 3,
  NPU_DTYPE_INT16 = 4,
  NPU_DTYPE_INT32 = 5,
  NPU_DTYPE_INT48 = 6,
  NPU_DTYPE_FP32 = 7,
  NPU_DTYPE_FP16 = 8,
  NPU_DTYPE_BF16 = 9,
  NPU_DTYPE_SHAPE = 10,
};

// "INT8"; "?" for a number that is none.
NPU_EXPORT const char* npu_dtype_name(npu_dtype type);

// What a dimension is that is no symbol: the same in all jobs, or a number that follows from symbols.
enum { NPU_SIZE_FIXED = -1, NPU_SIZE_COMPUTED = -2 };

// An input or output. Pointers live as long as the program and its jobs; but see npu_job_output_info().
typedef struct npu_tensor_info {
  size_t struct_size;
  const char* name;
  npu_dtype type;
  uint32_t rank;
  const int64_t* shape;   // `rank` numbers; of a program for sizes within bounds that of the largest data
  uint64_t bytes;         // of its data in this shape; no sizes within the bounds need more
  bool accepts_unsigned;  // meant for uint8 or uint16 data, which is taken and given as it is
  uint8_t reserved[7];
  // Since version 1.6: `rank` numbers, of each dimension the index of its symbol (npu_program_symbol()), or
  // NPU_SIZE_FIXED or NPU_SIZE_COMPUTED. Of a program of fixed sizes all are NPU_SIZE_FIXED.
  const int32_t* symbols;
} npu_tensor_info;

// --- Contexts and variables ------------------------------------------------------------------------------------------

// Owns variables; contexts never see each other's.
typedef struct npu_context npu_context;

typedef struct npu_context_options {
  size_t struct_size;
  // 0 to 255. The device prefers jobs of contexts with a larger priority, and interrupts others for them.
  uint32_t priority;
  // A variable without initial value starts as zeros that count as written, instead of as unwritten.
  bool zero_init;
  uint8_t reserved[3];
  // Since version 1.1: a variable that a program writes gets two places, so that an interrupted write leaves its old
  // value. Without, it is torn then.
  bool double_buffer;
} npu_context_options;

// NPU_STATUS_CONTEXTS_FULL beyond 15 contexts at a time.
NPU_EXPORT npu_status npu_context_create(npu_device* device, const npu_context_options* options, npu_context** context,
                                         npu_error** error);
NPU_EXPORT void npu_context_destroy(npu_context* context);

// The variables that a context has at one moment.
typedef struct npu_variables npu_variables;

// Pointers live as long as the npu_variables.
typedef struct npu_variable_info {
  size_t struct_size;
  const char* identity;  // by which programs of the context share it
  npu_dtype type;
  uint32_t rank;
  const int64_t* shape;  // -1 where jobs bring a size and none has so far (sizes within bounds, since version 1.6)
  uint64_t bytes;        // of the shape, with the largest size in place of -1
  uint32_t offset;       // in the persistent SRAM; 0 with in_dram
  uint32_t index;        // in the variable table
  bool is_written;
  uint8_t reserved[7];
  // Since version 1.1:
  uint64_t dram_address;  // with in_dram; 0 without
  // Layer that wrote it last, "host" for npu_context_write_variable(), "snapshot" for a restored one; "": none.
  const char* last_writer;
  uint64_t invocations;  // jobs that declared it and ended well, since it was allocated
  bool in_dram;
  bool double_buffered;
  // A write of it was interrupted: it cannot be read until it is written whole, restored or cleared.
  bool torn;
} npu_variable_info;

NPU_EXPORT npu_status npu_context_variables(npu_context* context, npu_variables** variables, npu_error** error);
NPU_EXPORT size_t npu_variables_count(const npu_variables* variables);
NPU_EXPORT npu_status npu_variables_get(const npu_variables* variables, size_t index, npu_variable_info* info,
                                        npu_error** error);
NPU_EXPORT void npu_variables_destroy(npu_variables* variables);

// The data of a variable, and writing it. `size` must be its bytes (NPU_STATUS_BAD_INPUT). One without a size so far
// (npu_variable_info) cannot be written: NPU_STATUS_VARIABLE_MISMATCH.
// NPU_STATUS_VARIABLE_UNDECLARED for an unknown one, NPU_STATUS_WRONG_ORDER while a job of the context is in flight.
// As all calls about variables: NPU_STATUS_POWER_LOST when the context lost them, NPU_STATUS_FAULT_POWER while the
// persistent SRAM is in retention or off, NPU_STATUS_FAULT_ECC for two wrong bits in a word, and for reading
// NPU_STATUS_VARIABLE_UNWRITTEN when it was never written nor initialised, else NPU_STATUS_VARIABLE_TORN.
NPU_EXPORT npu_status npu_context_read_variable(npu_context* context, const char* identity, void* bytes, size_t size,
                                                npu_error** error);
NPU_EXPORT npu_status npu_context_write_variable(npu_context* context, const char* identity, const void* bytes,
                                                 size_t size, npu_error** error);
// De-allocates one variable, or with NULL all of the context: the next job that declares it applies its initial value
// again.
NPU_EXPORT npu_status npu_context_clear_variable(npu_context* context, const char* identity, npu_error** error);

// The contents of all variables of the context, in the file format of npu_context_restore() and the program `npu`;
// `label` is free text and may be NULL. `length` receives its bytes, which are copied to `bytes` when `size` is at
// least as many; with `bytes` NULL and `size` 0 the call gives only the length. NPU_STATUS_BAD_INPUT for too small a
// buffer. Since version 1.1, as all that follows here.
NPU_EXPORT npu_status npu_context_snapshot(npu_context* context, const char* label, void* bytes, size_t size,
                                           size_t* length, npu_error** error);
// Gives every variable of the context the content and the size that it has in the snapshot. One that is not written
// there starts as after npu_context_clear_variable(): with programs for sizes within bounds (since version 1.6) its
// size is open again, whatever the snapshot says. Before anything changes: NPU_STATUS_BAD_SNAPSHOT when the snapshot is
// damaged or does not have exactly the variables that the loaded programs declare, of the same types and fixed sizes;
// NPU_STATUS_SIZE_OUT_OF_BOUNDS for a written one that is larger than the bounds;
// NPU_STATUS_VARIABLE_MISMATCH when the loaded programs do not fit together. A job that brings another size than the
// restored one is NPU_STATUS_VARIABLE_MISMATCH, too, until the variable is cleared.
NPU_EXPORT npu_status npu_context_restore(npu_context* context, const void* bytes, size_t size, npu_error** error);
// The same to and from a file: NPU_STATUS_CANNOT_WRITE, NPU_STATUS_CANNOT_READ.
NPU_EXPORT npu_status npu_context_snapshot_file(npu_context* context, const char* label, const char* path,
                                                npu_error** error);
NPU_EXPORT npu_status npu_context_restore_file(npu_context* context, const char* path, npu_error** error);

// Whether the persistent SRAM was without power while the context had variables. They are gone: every call about them,
// and every job of a program with variables, fails (NPU_STATUS_POWER_LOST) until the loss is acknowledged. Then they
// start as after npu_context_clear_variable().
NPU_EXPORT npu_status npu_context_state_lost(npu_context* context, bool* lost, npu_error** error);
// NPU_STATUS_WRONG_ORDER while a job from before the loss that uses variables is in flight: wait for it, or cancel it
// and wait.
NPU_EXPORT npu_status npu_context_acknowledge_loss(npu_context* context, npu_error** error);

// Receives the names of the variables that a context lost; they live until the function returns.
typedef void (*npu_state_lost_function)(void* user, const char* const* identities, size_t count);

// The function is called once a loss, by the thread whose call found it, before that call returns; it may call anything
// but destroy handles that are in use. `listener` (may be NULL) receives a number for npu_context_remove_listener();
// listeners also go when the context is not needed any more.
NPU_EXPORT npu_status npu_context_on_state_lost(npu_context* context, npu_state_lost_function function, void* user,
                                                uint64_t* listener, npu_error** error);
// An unknown number is ignored.
NPU_EXPORT npu_status npu_context_remove_listener(npu_context* context, uint64_t listener, npu_error** error);

// --- Programs --------------------------------------------------------------------------------------------------------

// A network in device memory.
typedef struct npu_program npu_program;

// Reads a .tosa file, checks it, compiles it for the context's device and places it there. Errors: the classes
// illegal_graph, unsupported and resource; NPU_STATUS_CANNOT_READ; NPU_STATUS_VARIABLE_MISMATCH with a variable that
// the context has already. A network that leaves sizes of inputs open is NPU_STATUS_FEATURE_UNSUPPORTED:
// npu_program_load_bounds() takes it.
//
// Since version 1.4 the file may also be one that `npu compile` wrote, which is told by its first bytes: it is checked
// and placed, and nothing is compiled. NPU_STATUS_FILE_DAMAGED: it is truncated or damaged, or says what no program
// says; NPU_STATUS_CONTRACT_MISMATCH: it is of another version, or compiled for other capabilities than the device's;
// NPU_STATUS_WRONG_ORDER: compiled for contexts with double_buffer and this one is without, or the other way round.
// Since version 1.6 it may be one for sizes within bounds (`npu compile --dim`), see npu_program_load_bounds().
NPU_EXPORT npu_status npu_program_load_file(npu_context* context, const char* path, npu_program** program,
                                            npu_error** error);
// The same for the file's bytes, which are copied; `name` is for messages and may be NULL.
NPU_EXPORT npu_status npu_program_load_memory(npu_context* context, const void* bytes, size_t size, const char* name,
                                              npu_program** program, npu_error** error);
NPU_EXPORT void npu_program_destroy(npu_program* program);

// Bounds of a size that a network's file leaves open, both included: 1 to 2^31 - 1. It stands in arrays, so it does not
// grow, and has no struct_size. (The contract's header has a structure of the same tag.)
typedef struct npu_named_bounds {
  const char* name;  // as `npu info` has it: "x.0" is dimension 0 of input x
  int64_t least, most;
} npu_size_bounds;

// Reads the bytes of a .tosa file that leaves sizes open, as npu_program_load_memory() does, and compiles it once for
// all sizes within bounds: `count` of them, one for each size of an input that is open and not the same as another one
// by the rules of the operators. That takes longer than a compilation for one choice of sizes. The program for the
// largest sizes is placed at once, others when a job brings their sizes first. Errors: also NPU_STATUS_BAD_OPTION for a
// bound that is missing, twice, unknown or no range, and for a file that `npu compile` wrote, which has its bounds:
// load it with npu_program_load_memory(); NPU_STATUS_SIZE_MISMATCH: no sizes within the bounds fit the network;
// NPU_STATUS_BUDGET_EXCEEDED: more than 16,384 choices of sizes; NPU_STATUS_FEATURE_UNSUPPORTED: sizes that do not
// follow from those of inputs; NPU_STATUS_ARGUMENT_UNSUPPORTED: what takes more than 32 programs, 16 sizes or a
// device's table of sizes. Since version 1.6, as all that follows here about sizes.
NPU_EXPORT npu_status npu_program_load_bounds(npu_context* context, const void* bytes, size_t size, const char* name,
                                              const npu_size_bounds* bounds, size_t count, npu_program** program,
                                              npu_error** error);
// The same of a file.
NPU_EXPORT npu_status npu_program_load_file_bounds(npu_context* context, const char* path,
                                                   const npu_size_bounds* bounds, size_t count, npu_program** program,
                                                   npu_error** error);

// The sizes that jobs bring, with the bounds that the program was compiled for. 0 for a program of fixed sizes, and for
// NULL.
NPU_EXPORT size_t npu_program_symbol_count(const npu_program* program);
// The name lives as long as the program and its jobs. NPU_STATUS_BAD_OPTION behind the last one.
NPU_EXPORT npu_status npu_program_symbol(const npu_program* program, size_t index, npu_size_bounds* symbol,
                                         npu_error** error);

// 0 for NULL.
NPU_EXPORT size_t npu_program_input_count(const npu_program* program);
NPU_EXPORT size_t npu_program_output_count(const npu_program* program);
// NPU_STATUS_BAD_OPTION behind the last one.
NPU_EXPORT npu_status npu_program_input(const npu_program* program, size_t index, npu_tensor_info* info,
                                        npu_error** error);
NPU_EXPORT npu_status npu_program_output(const npu_program* program, size_t index, npu_tensor_info* info,
                                         npu_error** error);

// With sizes within bounds, dram_bytes is what those of its programs take that are placed by now: it grows when a job
// brings sizes of another one. scratchpad_bytes, the counts and blocking_cycles are the most that any of its programs
// has, placed or not.
typedef struct npu_program_info {
  size_t struct_size;
  uint64_t dram_bytes;        // of device memory that it takes
  uint64_t scratchpad_bytes;  // at most, of the scratchpad
  uint32_t command_count;
  uint32_t layer_count;
  uint32_t segment_count;  // points at which the device may interrupt it
  uint8_t reserved[4];
  // Since version 1.2: device cycles for which a job of higher priority waits at most until a job of this program has
  // stopped for it: the longest restore, segment and save by the compiler's estimate, and what the firmware takes. 0
  // when firmware is bypassed.
  uint64_t blocking_cycles;
  uint32_t program_count;  // since version 1.6: programs that are behind it; 1 when its sizes are fixed
  uint8_t reserved_1_6[4];
} npu_program_info;

NPU_EXPORT npu_status npu_program_get_info(const npu_program* program, npu_program_info* info, npu_error** error);

// --- Jobs ------------------------------------------------------------------------------------------------------------

// One execution of a program at a time; may be started again and again.
typedef struct npu_job npu_job;

typedef struct npu_job_options {
  size_t struct_size;
  // Device time before which the device does not start the job, nor later jobs of its context.
  uint64_t not_before;
  // Cycles after which the device stops the job (NPU_STATUS_FAULT_TIMEOUT); 0: 2^36. The firmware looks 1,000
  // cycles later, and takes a few thousand more to stop the engines and report. After a power-up of the persistent
  // SRAM, those count in which it clears itself.
  uint64_t cycle_limit;
  bool no_cycle_limit;
  // Leave out the aids for finding mistakes: filling memory with a pattern before the job, and a record of each
  // command (without it npu_job_commands_done() stays 0).
  bool no_poison;
  bool no_events;
} npu_job_options;

NPU_EXPORT npu_status npu_job_create(npu_program* program, const npu_job_options* options, npu_job** job,
                                     npu_error** error);
NPU_EXPORT void npu_job_destroy(npu_job* job);

// Data of an input in the shape of its npu_tensor_info, copied; `size` must be its bytes (NPU_STATUS_BAD_INPUT). Stays
// set until it is replaced; while the job is in flight, this is for its next start.
NPU_EXPORT npu_status npu_job_set_input(npu_job* job, size_t index, const void* bytes, size_t size, npu_error** error);
// The same in a shape of `rank` numbers, within the bounds of the program; of fixed sizes it must be that of the
// npu_tensor_info. NPU_STATUS_BAD_INPUT: another rank, another number where a dimension is fixed, or other bytes than
// the shape has; NPU_STATUS_SIZE_OUT_OF_BOUNDS, with the dimension. Whether the sizes of all inputs fit each other
// shows at the start. Since version 1.6.
NPU_EXPORT npu_status npu_job_set_input_shape(npu_job* job, size_t index, const int64_t* shape, uint32_t rank,
                                              const void* bytes, size_t size, npu_error** error);

// Told that a job has ended, well or badly; npu_job_wait() says which.
typedef void (*npu_job_function)(void* user, npu_job* job);

// The function is called after each end of the job from now on, instead of the one before; NULL: none. One thread of
// the library calls the functions of all jobs of a device, one after the other. A function may call anything: collect
// its job with npu_job_wait(), read outputs, start the job again, wait for others, destroy its own job. The others are
// called when it has returned. When this call has returned, the function before is not called any more, nor is it being
// called, unless this is a call from within it; the same holds for npu_job_destroy(). So neither may be called with a
// lock that the function takes. Since version 1.2.
NPU_EXPORT npu_status npu_job_on_complete(npu_job* job, npu_job_function function, void* user, npu_error** error);

// Queues the job behind the jobs of its context. NPU_STATUS_BAD_INPUT when an input was never set,
// NPU_STATUS_WRONG_ORDER while a job of the same program is in flight (they share its memory), NPU_STATUS_QUEUE_FULL.
// With sizes within bounds also NPU_STATUS_SIZE_MISMATCH and NPU_STATUS_SIZE_OUT_OF_BOUNDS when the sizes of the inputs
// do not fit each other, NPU_STATUS_VARIABLE_MISMATCH when a variable has another size by those of an earlier job (it
// keeps its size until it is cleared), and NPU_STATUS_DRAM_FULL when the device has no room for the program of these
// sizes. After each of these nothing runs, inputs stay set, and the job may be started again.
NPU_EXPORT npu_status npu_job_start(npu_job* job, npu_error** error);

#define NPU_WAIT_FOREVER UINT64_MAX

// Waits for the end of the job, for `timeout_ns` of host time at most. NPU_OK with *ended = true: it ended well; with
// false: time was up. A job that ended badly is reported as its error, each time it is asked: class device_fault or
// unpredictable with npu_error_fault(), NPU_STATUS_JOB_CANCELLED, NPU_STATUS_WRONG_ORDER after a reset or without
// start. `ended` may be NULL. A timeout of 0 does not sleep; it lets a simulated device run for 10 us of device time at
// most, so that a loop that only looks comes to an end.
NPU_EXPORT npu_status npu_job_wait(npu_job* job, uint64_t timeout_ns, bool* ended, npu_error** error);
// Start, and wait for the end.
NPU_EXPORT npu_status npu_job_run(npu_job* job, npu_error** error);
// Asks the device to stop the job, queued or running; waiting tells how it ended. A job that is not in flight is left
// alone.
NPU_EXPORT npu_status npu_job_cancel(npu_job* job, npu_error** error);
// Commands that the device has completed so far, of npu_program_info's command_count (with sizes within bounds: of at
// most as many); at most as many as it has records for. Those of a loop count in each iteration, those of a block that
// does not run never.
NPU_EXPORT npu_status npu_job_commands_done(npu_job* job, uint64_t* count, npu_error** error);

// Data of an output of the last execution; `size` must be its bytes (NPU_STATUS_BAD_INPUT), of a program for sizes
// within bounds those that npu_job_output_info() tells. NPU_STATUS_WRONG_ORDER unless it ended well.
NPU_EXPORT npu_status npu_job_output(npu_job* job, size_t index, void* bytes, size_t size, npu_error** error);
// An output of the last execution as npu_program_output() tells it, but with the shape and bytes that it has there.
// `shape` lives until the job is started again, also in vain, or destroyed. NPU_STATUS_WRONG_ORDER unless the execution
// ended well. Since version 1.6.
NPU_EXPORT npu_status npu_job_output_info(npu_job* job, size_t index, npu_tensor_info* info, npu_error** error);

// The cost of the last execution. Times are device time in cycles of the engines' clock; 0 when firmware is bypassed.
typedef struct npu_job_result {
  size_t struct_size;
  uint64_t cycles;           // in which its commands ran; 0 without simulated time
  uint64_t submitted;        // the doorbell
  uint64_t accepted;         // the firmware took the request
  uint64_t started;          // its commands started first
  uint64_t ended;            // the firmware saw their end
  uint64_t completed;        // the driver was told
  uint64_t firmware_cycles;  // of the control CPU's clock, busy between accepted and completed
  uint64_t blocked;          // ready, but a job of lower priority had to stop and be saved first
  uint64_t save_cycles;      // in which it was saved and restored
  uint64_t saved_bytes;
  uint32_t preemptions;  // how often it was interrupted itself
} npu_job_result;

// NPU_STATUS_WRONG_ORDER unless it ended well.
NPU_EXPORT npu_status npu_job_get_result(npu_job* job, npu_job_result* result, npu_error** error);

// In-order queues of the device: DMA channels, engines, and the sequencer itself.
enum {
  NPU_JOB_QUEUE_DMA0 = 0,
  NPU_JOB_QUEUE_DMA1 = 1,
  NPU_JOB_QUEUE_DMA2 = 2,
  NPU_JOB_QUEUE_DMA3 = 3,
  NPU_JOB_QUEUE_DMA4 = 4,
  NPU_JOB_QUEUE_DMA5 = 5,
  NPU_JOB_QUEUE_DMA6 = 6,
  NPU_JOB_QUEUE_DMA7 = 7,
  NPU_JOB_QUEUE_MXU = 8,
  NPU_JOB_QUEUE_VPU = 9,
  NPU_JOB_QUEUE_SEQUENCER = 15,
  NPU_JOB_QUEUE_ALL = 0xff,  // the sum of all
};

// Performance counters. Per queue, busy + stalled + idle are the job's cycles, and bytes moved are bytes asked for.
enum {
  NPU_JOB_COUNTER_BUSY = 0,
  NPU_JOB_COUNTER_STALLED = 1,
  NPU_JOB_COUNTER_IDLE = 2,
  NPU_JOB_COUNTER_COMMANDS = 3,
  NPU_JOB_COUNTER_BYTES_READ_ASKED = 4,
  NPU_JOB_COUNTER_BYTES_READ = 5,
  NPU_JOB_COUNTER_BYTES_WRITTEN_ASKED = 6,
  NPU_JOB_COUNTER_BYTES_WRITTEN = 7,
  NPU_JOB_COUNTER_DRAM_READ = 8,
  NPU_JOB_COUNTER_DRAM_WRITTEN = 9,
  NPU_JOB_COUNTER_PSRAM_READ = 10,
  NPU_JOB_COUNTER_PSRAM_WRITTEN = 11,
  NPU_JOB_COUNTER_BANK_CONFLICTS = 12,
  NPU_JOB_COUNTER_MACS = 13,
};

// "mxu", "dram_read"; "?" for a number that is none.
NPU_EXPORT const char* npu_queue_name(uint32_t queue);
NPU_EXPORT const char* npu_counter_name(uint32_t counter);
// A counter of the last execution. NPU_STATUS_WRONG_ORDER unless it ended well.
NPU_EXPORT npu_status npu_job_counter(npu_job* job, uint32_t queue, uint32_t counter, uint64_t* value,
                                      npu_error** error);

#ifdef __cplusplus
}
#endif

// NOLINTEND(readability-identifier-naming)

#endif  // NPU_H_
