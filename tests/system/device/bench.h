// SPDX-License-Identifier: Apache-2.0
// What the system tests share: networks with their inputs, a device, and the reference beside it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/compiler/compile.h"
#include "driver/graph/graph.h"
#include "driver/graph/value.h"
#include "driver/runtime/runtime.h"
#include "sim/platform/platform.h"
#include "tests/unit/errors/code_of.h"

namespace npu::test {

// A network and what to feed it: one list of inputs an invocation.
struct Network {
  std::string name;
  graph::Graph graph;
  std::vector<std::vector<graph::Value>> frames;
  // The first output of every invocation where somebody else's golden exists.
  std::optional<std::vector<graph::Value>> golden;
};

// Names of the streaming wake-word networks that the set-up imports.
inline const std::vector<std::string> kWakeWords = {"okay_nabu", "hey_jarvis", "alexa", "hey_mycroft"};
// Networks of the optional folder NPU_ZOO_DIR that must run on every machine.
inline const std::vector<std::string> kZooNetworks = {
    "okay_nabu",      "hey_jarvis",          "ds_cnn_int8",           "vww_mbv1_025_int8",
    "resnet8_int8",   "ad_autoencoder_int8", "mobilenet_v2_int8",     "ds_cnn_int16x8",
    "lstm_step_int8", "lstm_step_int16x8",   "transformer_relu_int8", "small_cnn_int8",
    "resnet50_int8"};

// An imported wake word with the frames of a spoken phrase; nullopt when it was not imported (no Python environment).
[[nodiscard]] std::optional<Network> wake_word(const std::string& name);
// A network of NPU_ZOO_DIR with its golden outputs; nullopt without the folder.
[[nodiscard]] std::optional<Network> zoo_network(const std::string& name);

// Outputs and cycles of one invocation.
struct Invocation {
  std::vector<graph::Value> outputs;
  uint64_t cycles = 0;
  bool operator==(const Invocation& other) const;
};

// Called with the options of each device, when it is set (lockstep.cpp).
[[nodiscard]] std::function<void(platform::PlatformOptions&)>& options_hook();
[[nodiscard]] platform::PlatformOptions options(const std::string& preset, model::Mode mode = model::Mode::kTimed);
// A device with its driver; with firmware if it has a control CPU.
[[nodiscard]] runtime::Device open_device(const platform::PlatformOptions& options);

// Runs all frames of a network on a program.
[[nodiscard]] std::vector<Invocation> stream(runtime::Job& job, const Network& network);
// Runs all frames on the reference, with variables that start cleared.
[[nodiscard]] std::vector<std::vector<graph::Value>> reference(const Network& network);

// Expects zero differing elements over all outputs of all invocations; prints how many were compared.
void expect_equal(const std::vector<Invocation>& got, const std::vector<std::vector<graph::Value>>& want,
                  const std::string& what);
// Number of elements that differ.
[[nodiscard]] int64_t differing(const std::vector<Invocation>& got, const std::vector<std::vector<graph::Value>>& want);

}  // namespace npu::test
