// SPDX-License-Identifier: Apache-2.0
// Facts and bins of the convolutions that the compiler makes of several steps.
#pragma once

#include <string_view>

#include "tests/unit/bins/bins.h"
#include "tests/unit/bins/operator_instance.h"

namespace npu::test {

// TRANSPOSE_CONV2D: weights [OC,KH,KW,IC], strides and padding of y and x.
inline constexpr Fact<OperatorInstance> kTransposedFacts[] = {
    {"batch > 1", [](const OperatorInstance& i) { return i.shape()[0] > 1; }},
    {"stride y > 1", [](const OperatorInstance& i) { return i.op.attributes.stride[0] > 1; }},
    {"stride x > 1", [](const OperatorInstance& i) { return i.op.attributes.stride[1] > 1; }},
    {"kernel height < stride", [](const OperatorInstance& i) { return i.in(1).shape[1] < i.op.attributes.stride[0]; }},
    {"kernel width < stride", [](const OperatorInstance& i) { return i.in(1).shape[2] < i.op.attributes.stride[1]; }},
    {"kernel width of strides",
     [](const OperatorInstance& i) { return i.in(1).shape[2] % i.op.attributes.stride[1] == 0; }},
    {"out pad top < 0", [](const OperatorInstance& i) { return i.op.attributes.out_pad[0] < 0; }},
    {"out pad top > 0", [](const OperatorInstance& i) { return i.op.attributes.out_pad[0] > 0; }},
    {"out pad right < 0", [](const OperatorInstance& i) { return i.op.attributes.out_pad[3] < 0; }},
    {"out pad right > 0", [](const OperatorInstance& i) { return i.op.attributes.out_pad[3] > 0; }},
    {"constant weights", [](const OperatorInstance& i) { return i.constant(1); }},
};
inline constexpr std::string_view kTransposedBins[] = {
    "kernel height < stride & kernel width < stride",
    "stride y > 1 & stride x > 1 & !kernel height < stride & !kernel width < stride",
    "stride x > 1 & kernel width of strides & constant weights",
    "stride x > 1 & !kernel width of strides & !constant weights",
    "!stride y > 1 & !stride x > 1",
};

// CONV3D: weights [OC,KD,KH,KW,IC].
inline constexpr Fact<OperatorInstance> kConv3dFacts[] = {
    {"batch > 1", [](const OperatorInstance& i) { return i.shape()[0] > 1; }},
    {"kernel depth > 1", [](const OperatorInstance& i) { return i.in(1).shape[1] > 1; }},
    {"kernel width > 1", [](const OperatorInstance& i) { return i.in(1).shape[3] > 1; }},
    {"stride depth > 1", [](const OperatorInstance& i) { return i.op.attributes.stride[0] > 1; }},
    {"stride x > 1", [](const OperatorInstance& i) { return i.op.attributes.stride[2] > 1; }},
    {"dilation x > 1", [](const OperatorInstance& i) { return i.op.attributes.dilation[2] > 1; }},
    {"pad front", [](const OperatorInstance& i) { return i.op.attributes.pad[0] > 0; }},
    {"pad left", [](const OperatorInstance& i) { return i.op.attributes.pad[4] > 0; }},
    {"out width > 1", [](const OperatorInstance& i) { return i.out()[3] > 1; }},
    {"constant weights", [](const OperatorInstance& i) { return i.constant(1); }},
};
inline constexpr std::string_view kConv3dBins[] = {
    "!kernel depth > 1 & pad front",
    "!kernel depth > 1 & stride depth > 1 & batch > 1",
    "kernel depth > 1 & kernel width > 1 & dilation x > 1 & stride x > 1 & out width > 1",
    "kernel depth > 1 & kernel width > 1 & pad left & batch > 1 & out width > 1",
    "kernel depth > 1 & kernel width > 1 & !pad left & !dilation x > 1",
};

}  // namespace npu::test
