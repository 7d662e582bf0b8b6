// SPDX-License-Identifier: Apache-2.0
// What somebody meant who wrote a name that does not exist.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace npu::contract {

// "; did you mean 'edge'?" for the one of `known` that is nearest to `word`; empty where none is near: more than a
// third of its letters (but for one) would have to change, be left out, be put in, or change places with their
// neighbours.
[[nodiscard]] std::string did_you_mean(std::string_view word, std::span<const std::string> known);

}  // namespace npu::contract
