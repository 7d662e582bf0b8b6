// SPDX-License-Identifier: Apache-2.0
// Back ends in C: what their table must have, how their failures arrive, and who destroys them.
#include <algorithm>
#include <cstring>
#include <map>

#include "hw/contract/gen/capabilities.h"
#include "tests/unit/capi/fixture.h"

namespace npu::test {
namespace {

// A back end written as C users write them: every call is passed on, counted, and may be made to fail.
struct Proxy {
  npu_hal_ops inner{};
  runtime::MockHal* mock = nullptr;
  std::map<std::string, int> calls;
  npu_status fail = NPU_OK;  // of every call
  const char* text = nullptr;
  int destroyed = 0;

  Proxy() { inner = mock_ops(mock); }
  ~Proxy() { inner.destroy(inner.user); }
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  npu_status count(const char* what) {
    ++calls[what];
    return fail;
  }

  npu_hal_ops ops();
};

Proxy& self(void* user) { return *static_cast<Proxy*>(user); }

npu_status read_register(void* user, uint32_t offset, uint32_t* value) {
  const npu_status status = self(user).count("read_register");
  return status != NPU_OK ? status : self(user).inner.read_register(self(user).inner.user, offset, value);
}
npu_status write_register(void* user, uint32_t offset, uint32_t value) {
  const npu_status status = self(user).count("write_register");
  return status != NPU_OK ? status : self(user).inner.write_register(self(user).inner.user, offset, value);
}
npu_status read_memory(void* user, uint64_t address, void* bytes, size_t size) {
  const npu_status status = self(user).count("read_memory");
  return status != NPU_OK ? status : self(user).inner.read_memory(self(user).inner.user, address, bytes, size);
}
npu_status write_memory(void* user, uint64_t address, const void* bytes, size_t size) {
  const npu_status status = self(user).count("write_memory");
  return status != NPU_OK ? status : self(user).inner.write_memory(self(user).inner.user, address, bytes, size);
}
npu_status read_window(void* user, uint32_t window, uint32_t offset, void* bytes, size_t size) {
  const npu_status status = self(user).count("read_window");
  return status != NPU_OK ? status : self(user).inner.read_window(self(user).inner.user, window, offset, bytes, size);
}
npu_status write_window(void* user, uint32_t window, uint32_t offset, const void* bytes, size_t size) {
  const npu_status status = self(user).count("write_window");
  return status != NPU_OK ? status : self(user).inner.write_window(self(user).inner.user, window, offset, bytes, size);
}
npu_status wait_interrupt(void* user, uint64_t timeout_ns, bool* up) {
  const npu_status status = self(user).count("wait_interrupt");
  return status != NPU_OK ? status : self(user).inner.wait_interrupt(self(user).inner.user, timeout_ns, up);
}
void wake(void* user) { ++self(user).calls["wake"]; }
void destroy(void* user) { ++self(user).destroyed; }
const char* error_text(void* user) { return self(user).text; }

// Without what is optional.
npu_hal_ops Proxy::ops() {
  npu_hal_ops table{};
  table.struct_size = sizeof table;
  table.version = NPU_HAL_VERSION;
  table.user = this;
  table.read_register = read_register;
  table.write_register = write_register;
  table.read_memory = read_memory;
  table.write_memory = write_memory;
  table.read_window = read_window;
  table.write_window = write_window;
  table.wait_interrupt = wait_interrupt;
  table.wake = wake;
  table.destroy = destroy;
  return table;
}

npu_device* open(Proxy& proxy, const npu_hal_ops& ops, ErrorBox& error) {
  npu_device* device = nullptr;
  const npu_device_options options = bypass_options();
  EXPECT_OK(error, npu_device_open(&ops, &options, &device, error.out()));
  EXPECT_EQ(proxy.destroyed, 0);
  return device;
}

TEST(Hal, RunsWithoutOptionalFunctions) {
  Proxy proxy;
  npu_hal_ops ops = proxy.ops();
  ops.destroy = nullptr;
  ErrorBox error;
  npu_device* device = open(proxy, ops, error);
  npu_context* context = nullptr;
  npu_program* program = nullptr;
  npu_job* job = nullptr;
  const std::vector<uint8_t> file = running_sum();
  ASSERT_OK(error, npu_context_create(device, nullptr, &context, error.out()));
  ASSERT_OK(error, npu_program_load_memory(context, file.data(), file.size(), nullptr, &program, error.out()));
  ASSERT_OK(error, npu_job_create(program, nullptr, &job, error.out()));
  const int8_t data[4] = {1, 2, 3, 4};
  ASSERT_OK(error, npu_job_set_input(job, 0, data, sizeof data, error.out()));
  ASSERT_OK(error, npu_job_run(job, error.out()));
  uint8_t output[4] = {};
  ASSERT_OK(error, npu_job_output(job, 0, output, sizeof output, error.out()));
  // The pretended device computes nothing: the output is the pattern that memory was filled with, through write_memory.
  EXPECT_EQ(std::count(output, output + 4, output[0]), 4);
  EXPECT_NE(output[0], 0);
  EXPECT_GT(proxy.calls["write_memory"], 0);
  EXPECT_GT(proxy.calls["wait_interrupt"], 0);
  npu_device_destroy(device);
  npu_context_destroy(context);
  npu_program_destroy(program);
  npu_job_destroy(job);
}

TEST(Hal, IsDestroyedOnceWhenTheLastHandleIsGone) {
  Proxy proxy;
  ErrorBox error;
  npu_device* device = open(proxy, proxy.ops(), error);
  npu_context* context = nullptr;
  ASSERT_OK(error, npu_context_create(device, nullptr, &context, error.out()));
  npu_device_destroy(device);
  EXPECT_EQ(proxy.destroyed, 0);
  npu_context_destroy(context);
  EXPECT_EQ(proxy.destroyed, 1);
}

TEST(Hal, IsDestroyedWhenOpeningFails) {
  Proxy proxy;
  proxy.mock->set_register(contract::reg::kId, 1);
  const npu_hal_ops ops = proxy.ops();
  const npu_device_options options = bypass_options();
  ErrorBox error;
  npu_device* device = reinterpret_cast<npu_device*>(&proxy);
  EXPECT_FAILS(error, NPU_STATUS_CONTRACT_MISMATCH, npu_device_open(&ops, &options, &device, error.out()));
  EXPECT_EQ(npu_error_class(error.error), NPU_CLASS_UNSUPPORTED);
  EXPECT_EQ(device, nullptr);
  EXPECT_EQ(proxy.destroyed, 1);
}

TEST(Hal, IncompleteTablesAreRefusedAndNotTakenOver) {
  Proxy proxy;
  const auto refuse = [&](const char* what, const auto& damage) {
    npu_hal_ops ops = proxy.ops();
    damage(ops);
    ErrorBox error;
    npu_device* device = nullptr;
    EXPECT_FAILS(error, NPU_STATUS_BAD_OPTION, npu_device_open(&ops, nullptr, &device, error.out()));
    EXPECT_NE(error.message().find(what), std::string::npos) << error.message();
  };
  refuse("read_register", [](npu_hal_ops& ops) { ops.read_register = nullptr; });
  refuse("write_register", [](npu_hal_ops& ops) { ops.write_register = nullptr; });
  refuse("read_memory", [](npu_hal_ops& ops) { ops.read_memory = nullptr; });
  refuse("write_memory", [](npu_hal_ops& ops) { ops.write_memory = nullptr; });
  refuse("read_window", [](npu_hal_ops& ops) { ops.read_window = nullptr; });
  refuse("write_window", [](npu_hal_ops& ops) { ops.write_window = nullptr; });
  refuse("wait_interrupt", [](npu_hal_ops& ops) { ops.wait_interrupt = nullptr; });
  refuse("wake", [](npu_hal_ops& ops) { ops.wake = nullptr; });
  refuse("version", [](npu_hal_ops& ops) { ops.version = NPU_HAL_VERSION + 1; });
  refuse("struct_size", [](npu_hal_ops& ops) { ops.struct_size = 8; });
  EXPECT_EQ(proxy.destroyed, 0);
}

TEST(Hal, BadDeviceOptionsLeaveTheDeviceToTheCaller) {
  Proxy proxy;
  const npu_hal_ops ops = proxy.ops();
  const auto refuse = [&](const auto& damage) {
    npu_device_options options = bypass_options();
    damage(options);
    ErrorBox error;
    npu_device* device = nullptr;
    EXPECT_FAILS(error, NPU_STATUS_BAD_OPTION, npu_device_open(&ops, &options, &device, error.out()));
  };
  refuse([](npu_device_options& options) { options.log_level = 5; });
  refuse([](npu_device_options& options) { options.firmware_size = 5; });
  refuse([](npu_device_options& options) { options.firmware = "x"; });
  refuse([](npu_device_options& options) { options.struct_size = 3; });
  EXPECT_EQ(proxy.destroyed, 0);
  EXPECT_TRUE(proxy.calls.empty());
}

TEST(Hal, FailuresArriveWithCodeAndText) {
  Proxy proxy;
  npu_hal_ops ops = proxy.ops();
  ops.error_text = error_text;
  ErrorBox error;
  npu_device* device = open(proxy, ops, error);
  uint8_t bytes[4] = {};
  proxy.fail = NPU_STATUS_FAULT_BUS;
  proxy.text = "the link is down";
  EXPECT_FAILS(error, NPU_STATUS_FAULT_BUS, npu_device_read_memory(device, 0x40, bytes, 4, error.out()));
  EXPECT_EQ(error.message(), "reading memory at 0x40 failed: the link is down");
  EXPECT_EQ(npu_error_class(error.error), NPU_CLASS_DEVICE_FAULT);
  auto fault = sized<npu_fault>();
  EXPECT_FALSE(npu_error_fault(error.error, &fault));
  proxy.text = nullptr;
  proxy.fail = NPU_STATUS_POWER_LOST;
  EXPECT_FAILS(error, NPU_STATUS_POWER_LOST, npu_device_write_memory(device, 0x44, bytes, 4, error.out()));
  EXPECT_EQ(error.message(), "writing memory at 0x44 failed");
  proxy.fail = -5;  // no code of the registry
  EXPECT_FAILS(error, NPU_STATUS_FAULT_BUS, npu_device_read_memory(device, 0x48, bytes, 4, error.out()));
  EXPECT_EQ(error.message(), "reading memory at 0x48 failed (status -5)");
  npu_context* context = nullptr;
  proxy.fail = NPU_OK;
  ASSERT_OK(error, npu_context_create(device, nullptr, &context, error.out()));
  proxy.fail = NPU_STATUS_FAULT_BUS;
  npu_program* program = nullptr;
  const std::vector<uint8_t> file = running_sum();
  EXPECT_FAILS(error, NPU_STATUS_FAULT_BUS,
               npu_program_load_memory(context, file.data(), file.size(), nullptr, &program, error.out()));
  EXPECT_EQ(program, nullptr);
  // Giving up handles must not fail, whatever the device does.
  npu_context_destroy(context);
  npu_device_destroy(device);
  EXPECT_EQ(proxy.destroyed, 1);
}

TEST(Hal, HandlesOfADeadDeviceCanBeDestroyed) {
  Proxy proxy;
  ErrorBox error;
  npu_device* device = open(proxy, proxy.ops(), error);
  npu_context* context = nullptr;
  npu_program* program = nullptr;
  npu_job* job = nullptr;
  const std::vector<uint8_t> file = running_sum();
  ASSERT_OK(error, npu_context_create(device, nullptr, &context, error.out()));
  ASSERT_OK(error, npu_program_load_memory(context, file.data(), file.size(), nullptr, &program, error.out()));
  ASSERT_OK(error, npu_job_create(program, nullptr, &job, error.out()));
  const int8_t data[4] = {};
  ASSERT_OK(error, npu_job_set_input(job, 0, data, sizeof data, error.out()));
  proxy.mock->on_start = [](runtime::MockHal&) {};  // never ends
  ASSERT_OK(error, npu_job_start(job, error.out()));
  proxy.fail = NPU_STATUS_FAULT_BUS;
  bool ended = false;
  EXPECT_FAILS(error, NPU_STATUS_FAULT_BUS, npu_job_wait(job, 1000, &ended, error.out()));
  EXPECT_FALSE(ended);
  npu_job_destroy(job);
  npu_program_destroy(program);
  npu_context_destroy(context);
  npu_device_destroy(device);
  EXPECT_EQ(proxy.destroyed, 1);
}

TEST(Hal, ExceptionsOfACppDeviceBecomeStatuses) {
  runtime::MockHal* mock = nullptr;
  const npu_hal_ops ops = mock_ops(mock);
  uint32_t value = 0;
  uint8_t bytes[4] = {};
  EXPECT_EQ(ops.read_window(ops.user, 9, 0, bytes, 4), NPU_STATUS_FAULT_BUS);
  EXPECT_STREQ(ops.error_text(ops.user), "there is no window 9");
  mock->expect({});  // any access is a deviation, which is no npu::Error
  EXPECT_EQ(ops.read_register(ops.user, 0, &value), NPU_STATUS_BUG);
  EXPECT_STRNE(ops.error_text(ops.user), "");
  ops.destroy(ops.user);
}

}  // namespace
}  // namespace npu::test
