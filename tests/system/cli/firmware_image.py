# SPDX-License-Identifier: Apache-2.0
"""Images of the firmware as tests make them: other bytes with a checksum that is right."""

import struct

HEADER = struct.Struct("<IHHIII12x")  # firmware_header of the contract


def fnv1a(data):
    value = 2166136261
    for byte in data:
        value = (value ^ byte) * 16777619 & 0xFFFFFFFF
    return value


def sealed(image):
    """The image with the checksum of its code."""
    fields, code = list(HEADER.unpack_from(image)), bytes(image[HEADER.size:])
    fields[4] = fnv1a(code)
    return HEADER.pack(*fields) + code
