// SPDX-License-Identifier: Apache-2.0
// What goes wrong between driver and firmware: corrupt rings, bad streams, storms of doorbells, lost interrupts. Each
// is reported in the time that docs/architecture/firmware.md states, and other contexts do not notice.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>

#include "tests/system/firmware/damage.h"
#include "tests/system/firmware/streams.h"
#include "tests/system/firmware/tampering_hal.h"

namespace npu::test {
namespace {

using contract::ErrorCode;
namespace reg = contract::reg;

constexpr const char* kNotImported = "not imported: the Python environment is missing (sim/setup.sh python)";
// What the firmware may take around anything (docs/architecture/firmware.md, Faults): 15,000 cycles of its CPU, in
// device cycles of edge.
constexpr uint64_t kAround = 30'000;

uint64_t cycles_of(const runtime::Device& device, uint64_t microseconds) {
  return microseconds * device.capabilities().clock_mhz;
}

contract::Ring ring_at(runtime::Device& device, uint64_t address) {
  std::vector<uint8_t> bytes(contract::Ring::kBytes);
  device.read_memory(address, bytes);
  return contract::Ring::load(bytes.data());
}

uint64_t admin_ring(runtime::Device& device) {
  return uint64_t{device.read_register(reg::kAdminRingHi)} << 32 | device.read_register(reg::kAdminRingLo);
}

// Headers of the rings behind the admin ring's, found by their magic number, in the order of their addresses.
std::vector<uint64_t> context_rings(runtime::Device& device) {
  const uint64_t admin = admin_ring(device);
  const contract::Ring header = ring_at(device, admin);
  std::vector<uint8_t> shared(header.shared_bytes);
  device.read_memory(header.shared_base, shared);
  std::vector<uint64_t> rings;
  for (uint64_t at = 0; at + contract::Ring::kBytes <= shared.size(); at += 64) {
    if (header.shared_base + at == admin) continue;
    const contract::Ring ring = contract::Ring::load(shared.data() + at);
    if (ring.magic == header.magic && ring.version == header.version) rings.push_back(header.shared_base + at);
  }
  return rings;
}

void expect_fault(runtime::Job& job, ErrorCode code) {
  try {
    static_cast<void>(job.run());
    FAIL() << "the job ended well";
  } catch (const Error& error) {
    std::cout << error.what() << "\n";
    EXPECT_EQ(error.code(), code) << error.what();
  }
}

struct Rings : testing::Test {
  Rings() : network(wake_word("okay_nabu")), other_network(wake_word("hey_jarvis")) {
    if (!network || !other_network) return;
    auto tampering = std::make_unique<TamperingHal>(platform::open_tlm_device(options("edge")));
    hal = tampering.get();
    device.emplace(runtime::Device::open(std::move(tampering)));
    other = std::make_unique<Streamer>(*device, *other_network);
    other->run(40);
  }

  // The rest of the other context's stream, whose variables must have survived.
  void expect_other_unharmed() {
    other->run(40);
    other->expect_reference("in another context");
  }

  std::optional<Network> network, other_network;
  TamperingHal* hal = nullptr;  // the device's
  std::optional<runtime::Device> device;
  std::unique_ptr<Streamer> other;
};

TEST_F(Rings, CorruptIndicesFailTheJobAndOthersRunOn) {
  if (!device) GTEST_SKIP() << kNotImported;
  const std::vector<uint64_t> before = context_rings(*device);
  Streamer mine(*device, *network);
  std::vector<uint64_t> rings = context_rings(*device);
  std::erase_if(rings, [&](uint64_t ring) { return std::count(before.begin(), before.end(), ring) > 0; });
  ASSERT_EQ(rings.size(), 1U);
  mine.run(5);

  constexpr uint64_t kRequestProducer = 48;  // of the contract's `ring`
  hal->tamper(rings[0] + kRequestProducer, ring_at(*device, rings[0]).entries + 3);
  const uint64_t start = device->time();
  runtime::Job job = mine.program().create_job();
  job.set_input(0, network->frames[0][0]);
  expect_fault(job, ErrorCode::kFaultRing);
  EXPECT_TRUE(hal->tampered()) << "no index was changed: this test tested nothing";
  const uint64_t took = device->time() - start;
  std::cout << "reported after " << took << " device cycles\n";
  EXPECT_LE(took, kAround);
  expect_other_unharmed();

  // Its own context goes on as well, with the state that it had.
  mine.run(5);
  mine.expect_reference("after its ring was corrupt");
}

TEST_F(Rings, StreamsThatReachBeyondTheirContextAreStopped) {
  if (!device) GTEST_SKIP() << kNotImported;
  const compiler::Program good = compiler::compile(network->graph, device->capabilities());
  runtime::Context context = device->create_context();
  for (const auto& [program, code] : {std::pair{beyond_its_output(good), ErrorCode::kFaultOutOfBounds},
                                      std::pair{into_an_unmapped_region(good), ErrorCode::kFaultBadRegion}}) {
    const runtime::LoadedProgram loaded = context.load(program);
    runtime::Job job = loaded.create_job();
    job.set_input(0, network->frames[0][0]);
    const uint64_t start = device->time();
    expect_fault(job, code);
    EXPECT_LE(device->time() - start, kAround);
    context.clear();  // the fault has torn what the job was writing
  }
  expect_other_unharmed();
}

TEST_F(Rings, AStormOfDoorbellsChangesNothing) {
  if (!device) GTEST_SKIP() << kNotImported;
  Streamer mine(*device, *network);
  constexpr int kDoorbells = 200;
  for (size_t i = 0; i < 8; ++i) {
    mine.queue();
    for (int k = 0; k < kDoorbells; ++k) device->write_register(reg::kDoorbell, static_cast<uint32_t>(k % 16));
    mine.collect();
  }
  mine.expect_reference("in a storm of doorbells");
  expect_other_unharmed();
}

TEST_F(Rings, LostInterruptsAreRaisedAgain) {
  if (!device) GTEST_SKIP() << kNotImported;
  Streamer mine(*device, *network);
  const auto took = [&] {
    const uint64_t start = device->time();
    mine.run(1);
    return device->time() - start;
  };
  static_cast<void>(took());
  const uint64_t usual = took();
  constexpr uint32_t kLost = 3;
  device->write_register(reg::kTestDropInterrupts, kLost);
  const uint64_t late = took();
  std::cout << "usually " << usual << " device cycles, with " << kLost << " lost interrupts " << late << "\n";
  EXPECT_EQ(device->read_register(reg::kTestDropInterrupts), 0U) << "no interrupt was lost: this test tested nothing";
  EXPECT_GT(late, usual + cycles_of(*device, 100));
  EXPECT_LE(late, usual + kLost * cycles_of(*device, 100) + kAround);
  mine.run(5);
  mine.expect_reference("around lost interrupts");
  expect_other_unharmed();
}

}  // namespace
}  // namespace npu::test
