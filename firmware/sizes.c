// SPDX-License-Identifier: Apache-2.0
#include "firmware/sizes.h"

#include <stddef.h>
#include <stdio.h>

#include "firmware/log.h"
#include "firmware/size_math.h"
#include "firmware/timer.h"

enum {
  kMagic = 0x455a4953,  // 'SIZE'
  kVersion = 1,
  kValueBytes = 8,
  kLeastRuleBytes = sizeof(struct npu_size_rule) + sizeof(struct npu_size_piece),
  // The slowest CPU has 10,000 cycles until its watchdog strikes.
  kKickEvery = 16,       // rows of a table
  kKickEveryWords = 64,  // or pieces, of a rule: they cost less
  kValuesOfALine = 6
};

// What table and job say of themselves. Memory may change at any time: it is read once, and used as it was checked.
struct npu_size_view {
  volatile npu_word *table, *sizes, *stream;
  uint32_t bytes, stream_words;
  uint32_t symbols, expressions, conditions, results, rules;
  uint32_t hash, current;
};

// The values of the job that was evaluated last, and which of them are not defined: a bit each.
static int64_t npu_size_values[NPU_MOST_SIZE_VALUES];
static uint32_t npu_size_undefined[NPU_MOST_SIZE_VALUES / 32];
static uint32_t npu_size_evaluations;
// How often a stream was written, from 1: what was seen of one before may not be so any more.
static uint32_t npu_size_changes = 1;

static bool npu_size_defined(uint32_t value) { return (npu_size_undefined[value / 32] >> value % 32 & 1) == 0; }

static int64_t npu_size_at(volatile const npu_word *from) { return (int64_t)((uint64_t)from[1] << 32 | from[0]); }

static void npu_size_write(volatile npu_word *to, int64_t value) {
  to[0] = npu_low((uint64_t)value);
  to[1] = npu_high((uint64_t)value);
}

// `rows`: how many were read since the last call; of a rule, its words count.
static void npu_size_kick(uint32_t rows) {
  static uint32_t quiet;
  quiet += rows;
  if (quiet < kKickEvery) return;
  quiet = 0;
  npu_watchdog_kick();
}

static inline void npu_size_kick_words(uint32_t word) {
  if (word % kKickEveryWords == kKickEveryWords - 1) npu_watchdog_kick();
}

// Words of a table before its rules.
static uint32_t npu_size_head_words(const struct npu_size_view *view) {
  return (sizeof(struct npu_size_table) + view->symbols * sizeof(struct npu_size_bounds) +
          view->expressions * sizeof(struct npu_size_expression) +
          view->conditions * sizeof(struct npu_size_condition) + view->results * 4) /
         4;
}

static bool npu_size_counts_fit(const struct npu_size_view *view) {
  if (view->symbols == 0 || view->symbols > NPU_MOST_SYMBOLS || view->results > NPU_MOST_SIZE_VALUES ||
      view->conditions > NPU_MOST_SIZE_CONDITIONS || view->symbols + view->expressions > NPU_MOST_SIZE_VALUES) {
    return false;
  }
  const uint32_t head = npu_size_head_words(view) * 4;
  return view->bytes % 8 == 0 && head <= view->bytes && view->rules <= (view->bytes - head) / kLeastRuleBytes;
}

// The stream is written as the table is read: both are seen, and neither is what driver and firmware share.
static bool npu_size_writable(uint64_t address, uint64_t bytes) {
  return npu_job_visible(address, bytes) && npu_grantable(address, bytes);
}

static volatile npu_word *npu_size_member(volatile npu_word *structure, size_t offset) {
  return structure + offset / 4;
}

static bool npu_size_open_table(const struct npu_job *job, struct npu_size_view *view) {
  if (job->size_table % 8 != 0 || !npu_size_writable(job->size_table, sizeof(struct npu_size_table)) ||
      !npu_size_writable(job->commands, (uint64_t)job->command_words * 4)) {
    return false;
  }
  volatile npu_word *table = npu_dram(npu_low(job->size_table));
  view->table = table;
  view->stream = npu_dram(npu_low(job->commands));
  view->stream_words = job->command_words;
  if (table[offsetof(struct npu_size_table, magic) / 4] != kMagic) return false;
  if (table[offsetof(struct npu_size_table, version) / 4] != kVersion) return false;
  view->bytes = table[offsetof(struct npu_size_table, total_bytes) / 4];
  const uint32_t values = table[offsetof(struct npu_size_table, symbols) / 4];
  const uint32_t checks = table[offsetof(struct npu_size_table, conditions) / 4];
  view->symbols = values & UINT16_MAX;
  view->expressions = values >> 16;
  view->conditions = checks & UINT16_MAX;
  view->results = checks >> 16;
  view->rules = table[offsetof(struct npu_size_table, rules) / 4];
  view->hash = table[offsetof(struct npu_size_table, hash) / 4];
  view->current = table[offsetof(struct npu_size_table, current) / 4];
  return view->bytes <= NPU_MOST_SIZE_TABLE_BYTES && npu_size_counts_fit(view) &&
         npu_size_writable(job->size_table, (uint64_t)view->bytes + view->symbols * kValueBytes);
}

__attribute__((noinline)) static bool npu_size_open(const struct npu_job *job, struct npu_size_view *view) {
  if (!npu_size_open_table(job, view)) return false;
  const uint32_t values = view->symbols + view->results;
  if (job->sizes % 8 != 0 || !npu_job_shared(job->sizes, sizeof(struct npu_job_sizes) + values * kValueBytes)) {
    return false;
  }
  volatile npu_word *sizes = npu_dram(npu_low(job->sizes));
  view->sizes = npu_size_member(sizes, sizeof(struct npu_job_sizes));
  return sizes[0] == (kVersion | view->symbols << 16) && sizes[offsetof(struct npu_job_sizes, hash) / 4] == view->hash;
}

// Where the sizes stand that the stream is of.
static volatile npu_word *npu_size_kept(const struct npu_size_view *view) { return view->table + view->bytes / 4; }

static volatile npu_word *npu_size_flag(const struct npu_size_view *view) {
  return npu_size_member(view->table, offsetof(struct npu_size_table, current));
}

static void npu_size_define(uint32_t value, int64_t is) {
  npu_size_values[value] = is;
  npu_size_undefined[value / 32] &= ~(1u << value % 32);
}

// The job's sizes become the values of the symbols, and there are no others. A line of memory is read to its end before
// another: it costs most.
static void npu_size_read(struct npu_task *task, const struct npu_size_view *view) {
  task->sizes.evaluation = ++npu_size_evaluations;
  for (uint32_t i = 0; i < sizeof npu_size_undefined / 4; ++i) npu_size_undefined[i] = UINT32_MAX;
  for (uint32_t i = 0; i < view->symbols; ++i) npu_size_define(i, npu_size_at(view->sizes + 2 * i));
}

// Whether the stream is that of the values.
static bool npu_size_same(const struct npu_size_view *view) {
  if (view->current != 1) return false;
  volatile const npu_word *kept = npu_size_kept(view);
  for (uint32_t i = 0; i < view->symbols; ++i) {
    if (npu_size_at(kept + 2 * i) != npu_size_values[i]) return false;
  }
  return true;
}

static void npu_size_note(struct npu_task *task, const struct npu_size_view *view) {
  task->sizes.seen = npu_size_changes;
  task->sizes.current = npu_size_same(view);
}

// The values before are there. False: the table names others.
static bool npu_size_express(uint32_t value, uint32_t head, uint32_t immediate) {
  const uint32_t operation = head & UINT8_MAX, a = head >> 16;
  if (operation == NPU_SIZE_OPERATION_CONSTANT) {
    npu_size_define(value, (int32_t)immediate);
    return true;
  }
  const bool two = npu_size_takes_two(operation);
  if (operation > NPU_SIZE_OPERATION_QUOTIENT || a >= value || (two && immediate >= value)) return false;
  const uint32_t b = two ? immediate : a;
  int64_t result = 0;
  if (npu_size_defined(a) && npu_size_defined(b) &&
      npu_size_compute(operation, npu_size_values[a], npu_size_values[b], &result)) {
    npu_size_define(value, result);
  }
  return true;
}

static enum npu_error npu_size_check(const struct npu_size_view *view, uint32_t head, uint32_t right) {
  const uint32_t relation = head & UINT8_MAX, left = head >> 16, values = view->symbols + view->expressions;
  const bool two = relation <= NPU_SIZE_RELATION_MULTIPLE;
  right = two ? right & UINT16_MAX : left;
  if (relation > NPU_SIZE_RELATION_DEFINED || left >= values || right >= values) return NPU_ERROR_FAULT_SIZES;
  const bool holds = npu_size_defined(left) && npu_size_defined(right) &&
                     npu_size_related(relation, npu_size_values[left], npu_size_values[right]);
  return holds ? NPU_ERROR_OK : NPU_ERROR_SIZE_MISMATCH;
}

// Reads the table row by row; each takes two words.
static enum npu_error npu_size_check_symbols(const struct npu_size_view *view, volatile const npu_word *rows,
                                             uint32_t *fault) {
  for (uint32_t i = 0; i < view->symbols; ++i, rows += 2) {
    const int32_t least = (int32_t)rows[0], most = (int32_t)rows[1];
    *fault = i;
    if (npu_size_values[i] < least || npu_size_values[i] > most) return NPU_ERROR_SIZE_OUT_OF_BOUNDS;
  }
  return NPU_ERROR_OK;
}

static bool npu_size_express_all(const struct npu_size_view *view, volatile const npu_word *rows) {
  for (uint32_t i = 0; i < view->expressions; ++i, rows += 2) {
    if (!npu_size_express(view->symbols + i, rows[0], rows[1])) return false;
    npu_size_kick(1);
  }
  return true;
}

static enum npu_error npu_size_check_conditions(const struct npu_size_view *view, volatile const npu_word *rows,
                                                uint32_t *fault) {
  for (uint32_t i = 0; i < view->conditions; ++i, rows += 2) {
    *fault = i;
    const enum npu_error error = npu_size_check(view, rows[0], rows[1]);
    if (error != NPU_ERROR_OK) return error;
    npu_size_kick(1);
  }
  return NPU_ERROR_OK;
}

static bool npu_size_write_results(const struct npu_size_view *view, volatile const npu_word *rows) {
  volatile npu_word *to = view->sizes + 2 * view->symbols;
  for (uint32_t i = 0; i < view->results; ++i, to += 2) {
    const uint32_t value = rows[i];
    if (value >= view->symbols + view->expressions || !npu_size_defined(value)) return false;
    npu_size_write(to, npu_size_values[value]);
    npu_size_kick(1);
  }
  return true;
}

// Behind npu_size_read() and npu_size_note(). Sizes that the stream is of have been checked before.
__attribute__((noinline)) static enum npu_error npu_size_evaluate(struct npu_task *task,
                                                                  const struct npu_size_view *view) {
  const bool known = task->sizes.current;
  volatile const npu_word *rows = view->table + sizeof(struct npu_size_table) / 4;
  enum npu_error error = known ? NPU_ERROR_OK : npu_size_check_symbols(view, rows, &task->sizes.fault);
  rows += 2 * view->symbols;
  if (error != NPU_ERROR_OK) return error;
  if (!npu_size_express_all(view, rows)) return NPU_ERROR_FAULT_SIZES;
  rows += 2 * view->expressions;
  if (!known) error = npu_size_check_conditions(view, rows, &task->sizes.fault);
  rows += 2 * view->conditions;
  if (error != NPU_ERROR_OK) return error;
  return npu_size_write_results(view, rows) ? NPU_ERROR_OK : NPU_ERROR_FAULT_SIZES;
}

enum npu_error npu_sizes_load(struct npu_task *task) {
  struct npu_size_view view;
  if (!npu_size_open(&task->job, &view)) return NPU_ERROR_FAULT_SIZES;
  npu_size_read(task, &view);
  npu_size_note(task, &view);
  return npu_size_evaluate(task, &view);
}

bool npu_sizes_current(struct npu_task *task) {
  if (task->sizes.seen == npu_size_changes) return task->sizes.current;
  struct npu_size_view view;
  task->sizes.current = false;
  if (!npu_size_open(&task->job, &view)) return false;
  npu_size_read(task, &view);
  npu_size_note(task, &view);
  task->sizes.evaluation = 0;
  return task->sizes.current;
}

// A rule as its first words say it.
struct npu_size_rule_view {
  uint32_t selector, first, second, pieces, words;
  int32_t most;
};

// What its words are; reads the pieces.
static uint32_t npu_size_word(const struct npu_size_rule_view *rule, volatile const npu_word *piece) {
  const int64_t selector = npu_size_values[rule->selector];
  uint32_t first = piece[1], second = piece[2], addend = piece[3];
  for (uint32_t i = 1; i < rule->pieces; ++i) {
    piece += sizeof(struct npu_size_piece) / 4;
    if (selector < (int32_t)piece[0]) break;
    first = piece[1];
    second = piece[2];
    addend = piece[3];
    npu_size_kick_words(i);
  }
  return npu_low((uint64_t)npu_size_values[rule->first]) * first +
         npu_low((uint64_t)npu_size_values[rule->second]) * second + addend;
}

// `left`: words of the table from `from` on. Returns how many of them the rule takes; 0: it is none.
static uint32_t npu_size_read_rule(volatile const npu_word *from, uint32_t left, struct npu_size_rule_view *rule) {
  enum { kRuleWords = sizeof(struct npu_size_rule) / 4, kPieceWords = sizeof(struct npu_size_piece) / 4 };
  if (left < kRuleWords) return 0;
  const uint32_t values = from[0], more = from[1];
  rule->selector = values & UINT16_MAX;
  rule->first = values >> 16;
  rule->second = more & UINT16_MAX;
  rule->pieces = more >> 16;
  rule->most = (int32_t)from[2];
  rule->words = from[3];
  const uint32_t before = kRuleWords + rule->pieces * kPieceWords;
  return rule->pieces == 0 || before > left || rule->words > left - before ? 0 : before + rule->words;
}

static bool npu_size_known(const struct npu_size_view *view, uint32_t value) {
  return value < view->symbols + view->expressions && npu_size_defined(value);
}

static enum npu_error npu_size_apply_rule(const struct npu_size_view *view, volatile const npu_word *from,
                                          uint32_t left, uint32_t *taken) {
  struct npu_size_rule_view rule;
  *taken = npu_size_read_rule(from, left, &rule);
  if (*taken == 0 || !npu_size_known(view, rule.selector) || !npu_size_known(view, rule.first) ||
      !npu_size_known(view, rule.second)) {
    return NPU_ERROR_FAULT_SIZES;
  }
  if (npu_size_values[rule.selector] > rule.most) return NPU_ERROR_OK;
  const uint32_t word = npu_size_word(&rule, from + sizeof(struct npu_size_rule) / 4);
  volatile const npu_word *at = from + *taken - rule.words;
  volatile npu_word *stream = view->stream;
  for (uint32_t i = 0; i < rule.words; ++i) {
    const uint32_t place = at[i];
    if (place >= view->stream_words) return NPU_ERROR_FAULT_PATCH;
    stream[place] = word;
    npu_size_kick_words(i);
  }
  return NPU_ERROR_OK;
}

static enum npu_error npu_size_write_stream(const struct npu_size_view *view, uint32_t *fault) {
  const uint32_t head = npu_size_head_words(view);
  volatile const npu_word *rule = view->table + head;
  uint32_t left = view->bytes / 4 - head;
  for (uint32_t i = 0; i < view->rules; ++i) {
    uint32_t taken = 0;
    *fault = i;
    const enum npu_error error = npu_size_apply_rule(view, rule, left, &taken);
    if (error != NPU_ERROR_OK) return error;
    rule += taken;
    left -= taken;
    npu_size_kick(taken);
  }
  return left < 2 ? NPU_ERROR_OK : NPU_ERROR_FAULT_SIZES;  // but for what fills up the last 8 bytes
}

enum npu_error npu_sizes_apply(struct npu_task *task) {
  struct npu_size_view view;
  if (!npu_size_open(&task->job, &view)) return NPU_ERROR_FAULT_SIZES;
  enum npu_error error = NPU_ERROR_OK;
  if (task->sizes.evaluation != npu_size_evaluations) {
    npu_size_read(task, &view);
    error = npu_size_evaluate(task, &view);
  }
  if (error != NPU_ERROR_OK) return error;
  ++npu_size_changes;
  *npu_size_flag(&view) = 0;
  error = npu_size_write_stream(&view, &task->sizes.fault);
  if (error != NPU_ERROR_OK) return error;
  for (uint32_t i = 0; i < view.symbols; ++i) npu_size_write(npu_size_kept(&view) + 2 * i, npu_size_values[i]);
  *npu_size_flag(&view) = 1;
  task->sizes.seen = npu_size_changes;
  task->sizes.current = true;
  return NPU_ERROR_OK;
}

static void npu_size_tell_line(const struct npu_task *task, volatile const npu_word *sizes, uint32_t count) {
  char text[kValuesOfALine * 12 + 1];
  uint32_t length = 0;
  for (uint32_t i = 0; i < count; ++i) {
    length += (uint32_t)snprintf(text + length, sizeof text - length, " %ld", (long)(int32_t)sizes[2 * i]);
  }
  npu_log(NPU_LOG_REQUEST, "request %u: sizes%s", (unsigned)task->id, text);
}

// They lie within bounds of 32 bits.
void npu_sizes_tell(const struct npu_task *task) {
  struct npu_size_view view;
  if (!npu_sized(&task->job) || !npu_size_open(&task->job, &view)) return;
  for (uint32_t first = 0; first < view.symbols; first += kValuesOfALine) {
    const uint32_t left = view.symbols - first;
    npu_size_tell_line(task, view.sizes + 2 * first, left < kValuesOfALine ? left : kValuesOfALine);
  }
}
