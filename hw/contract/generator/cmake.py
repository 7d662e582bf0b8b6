# SPDX-License-Identifier: Apache-2.0
"""capabilities.cmake: what the RTL's build checks machine files with."""

from generator.model import Contract
from generator.text import notice


def capabilities(contract: Contract) -> str:
    lines = [notice("capabilities.yaml", mark="#"), "# Names of the capabilities; of each the least and the largest value, whether it is a power of two,",
             "# and the value, for each of a capability, in a file without it.",
             "set(NPU_CAPABILITIES"]
    lines += [f"    {cap.name}" for cap in contract.capabilities]
    lines[-1] += ")"
    for cap in contract.capabilities:
        power = "ON" if cap.power_of_two else "OFF"
        lines += [f"set(NPU_CAPABILITY_{cap.name} {cap.min} {cap.max} {power}" +
                  (f" {cap.otherwise} {cap.times}".rstrip() if cap.otherwise is not None else "") + ")"]
    return "\n".join(lines) + "\n"
