// SPDX-License-Identifier: Apache-2.0
// The part of npu.h about what happens to variables: power, losses, error correction, snapshots.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "driver/capi/handles.h"
#include "driver/graph/file.h"

using npu::capi::guarded;
using npu::capi::misuse;
using npu::capi::need;
using npu::contract::PsramPower;

static_assert(static_cast<uint32_t>(PsramPower::kOn) == NPU_PERSISTENT_ON);
static_assert(static_cast<uint32_t>(PsramPower::kRetention) == NPU_PERSISTENT_RETENTION);
static_assert(static_cast<uint32_t>(PsramPower::kOff) == NPU_PERSISTENT_OFF);

namespace {

// No device has that much persistent state.
constexpr uintmax_t kMostSnapshotBytes = uintmax_t{1} << 32;

std::vector<uint8_t> take_snapshot(const npu_context& from, const char* label) {
  return npu::runtime::serialise(from.context.snapshot(label == nullptr ? "" : label));
}

}  // namespace

npu_status npu_device_set_persistent_power(npu_device* device, uint32_t state, npu_error** error) {
  return guarded(error, [&] {
    constexpr const char* kFunction = "npu_device_set_persistent_power";
    npu_device& target = need(device, kFunction, "device");
    if (state > NPU_PERSISTENT_OFF) {
      misuse(kFunction, fmt::format("state is {}, which is none of NPU_PERSISTENT_...", state));
    }
    target.device.set_persistent_power(static_cast<PsramPower>(state));
  });
}

npu_status npu_device_persistent_power(npu_device* device, uint32_t* state, npu_error** error) {
  return guarded(error, [&] {
    uint32_t& out = need(state, "npu_device_persistent_power", "state");
    out = static_cast<uint32_t>(need(device, "npu_device_persistent_power", "device").device.persistent_power());
  });
}

npu_status npu_device_scrub(npu_device* device, npu_scrub** scrub, npu_error** error) {
  return guarded(error, [&] {
    need(scrub, "npu_device_scrub", "scrub") = nullptr;
    npu_device& target = need(device, "npu_device_scrub", "device");
    *scrub = new npu_scrub{target.device.scrub()};
  });
}

uint32_t npu_scrub_corrected(const npu_scrub* scrub) { return scrub == nullptr ? 0 : scrub->result.corrected; }

uint32_t npu_scrub_uncorrectable(const npu_scrub* scrub) { return scrub == nullptr ? 0 : scrub->result.uncorrectable; }

size_t npu_scrub_damaged_count(const npu_scrub* scrub) { return scrub == nullptr ? 0 : scrub->result.damaged.size(); }

const char* npu_scrub_damaged(const npu_scrub* scrub, size_t index) {
  return index < npu_scrub_damaged_count(scrub) ? scrub->result.damaged[index].c_str() : nullptr;
}

void npu_scrub_destroy(npu_scrub* scrub) { delete scrub; }

npu_status npu_device_ecc_counts(npu_device* device, npu_ecc_counts* counts, npu_error** error) {
  return guarded(error, [&] {
    const npu::runtime::EccCounts from = need(device, "npu_device_ecc_counts", "device").device.ecc_counts();
    npu_ecc_counts told{};
    told.corrected = from.corrected;
    told.uncorrectable = from.uncorrectable;
    npu::capi::give(told, counts, "npu_device_ecc_counts", "npu_ecc_counts");
  });
}

npu_status npu_context_snapshot(npu_context* context, const char* label, void* bytes, size_t size, size_t* length,
                                npu_error** error) {
  return guarded(error, [&] {
    constexpr const char* kFunction = "npu_context_snapshot";
    const npu_context& from = need(context, kFunction, "context");
    size_t& out = need(length, kFunction, "length");
    npu::capi::need_bytes(bytes, size, kFunction);
    const std::vector<uint8_t> file = take_snapshot(from, label);
    if (bytes != nullptr && size < file.size()) {
      throw npu::Error(
          npu::contract::ErrorCode::kBadInput,
          fmt::format("{}: the snapshot has {} bytes, and there is room for {}", kFunction, file.size(), size));
    }
    if (bytes != nullptr) std::copy(file.begin(), file.end(), static_cast<uint8_t*>(bytes));
    out = file.size();
  });
}

npu_status npu_context_restore(npu_context* context, const void* bytes, size_t size, npu_error** error) {
  return guarded(error, [&] {
    constexpr const char* kFunction = "npu_context_restore";
    npu_context& to = need(context, kFunction, "context");
    npu::capi::need_bytes(bytes, size, kFunction);
    to.context.restore(npu::runtime::parse_snapshot({static_cast<const uint8_t*>(bytes), size}));
  });
}

npu_status npu_context_snapshot_file(npu_context* context, const char* label, const char* path, npu_error** error) {
  return guarded(error, [&] {
    constexpr const char* kFunction = "npu_context_snapshot_file";
    const npu_context& from = need(context, kFunction, "context");
    const char* const name = &need(path, kFunction, "path");
    npu::graph::write_file(name, take_snapshot(from, label));
  });
}

npu_status npu_context_restore_file(npu_context* context, const char* path, npu_error** error) {
  return guarded(error, [&] {
    constexpr const char* kFunction = "npu_context_restore_file";
    npu_context& to = need(context, kFunction, "context");
    const char* const name = &need(path, kFunction, "path");
    to.context.restore(npu::runtime::parse_snapshot(npu::graph::read_file(name, kMostSnapshotBytes)));
  });
}

npu_status npu_context_state_lost(npu_context* context, bool* lost, npu_error** error) {
  return guarded(error, [&] {
    bool& out = need(lost, "npu_context_state_lost", "lost");
    out = need(context, "npu_context_state_lost", "context").context.state_lost();
  });
}

npu_status npu_context_acknowledge_loss(npu_context* context, npu_error** error) {
  return guarded(error, [&] { need(context, "npu_context_acknowledge_loss", "context").context.acknowledge_loss(); });
}

npu_status npu_context_on_state_lost(npu_context* context, npu_state_lost_function function, void* user,
                                     uint64_t* listener, npu_error** error) {
  return guarded(error, [&] {
    constexpr const char* kFunction = "npu_context_on_state_lost";
    npu_context& target = need(context, kFunction, "context");
    if (function == nullptr) misuse(kFunction, "function is NULL");
    const uint64_t id = target.context.on_state_lost([function, user](const npu::runtime::StateLoss& loss) {
      std::vector<const char*> names;
      for (const std::string& identity : loss.identities) names.push_back(identity.c_str());
      function(user, names.data(), names.size());
    });
    if (listener != nullptr) *listener = id;
  });
}

npu_status npu_context_remove_listener(npu_context* context, uint64_t listener, npu_error** error) {
  return guarded(error,
                 [&] { need(context, "npu_context_remove_listener", "context").context.remove_listener(listener); });
}
