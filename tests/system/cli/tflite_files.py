# SPDX-License-Identifier: Apache-2.0
"""Writes small TensorFlow Lite files: a flatbuffer writer of its own, and the kinds of network that the tests need."""

import struct

FLOAT32, INT32, INT16, INT8 = 0, 2, 7, 9
RELU, RESHAPE, LSTM = 19, 22, 44
SEQUENCE_LSTM_OPTIONS, TANH = 71, 4


class Vector:
    """Of scalars of one struct format, of tables, or (bytes) of raw data. Used twice, it is in the file once."""

    def __init__(self, items, form=None):
        self.items, self.form = items, form


class Table:
    """Fields by number: (struct format, value), a Table, a Vector or a str."""

    def __init__(self, fields):
        self.fields = {number: value for number, value in fields.items() if value is not None}


def flatbuffer(root, identifier):
    out, waiting, placed = bytearray(8), [(0, root)], {}
    out[4:8] = identifier

    def align(size):
        out.extend(bytes(-len(out) % size))

    for where, thing in waiting:
        if id(thing) in placed:
            struct.pack_into("<I", out, where, placed[id(thing)] - where)
            continue
        if isinstance(thing, Table):
            align(8)
            length = 1 + max(thing.fields, default=-1)
            table = len(out) + (4 + 2 * length + 7) // 8 * 8
            places, body = [0] * length, bytearray(8)
            for number, value in thing.fields.items():
                form, size = (value[0], struct.calcsize("<" + value[0])) if isinstance(value, tuple) else ("I", 4)
                body.extend(bytes(-len(body) % size))
                places[number] = len(body)
                if isinstance(value, tuple):
                    body.extend(struct.pack("<" + form, value[1]))
                else:
                    waiting.append((table + len(body), value))
                    body.extend(bytes(4))
            body[0:4] = struct.pack("<i", table - len(out))
            out.extend(struct.pack(f"<HH{length}H", 4 + 2 * length, len(body), *places))
            align(8)
            start = table
            out.extend(body)
        else:
            if isinstance(thing, str):
                data, count = thing.encode() + b"\0", len(thing.encode())
            elif isinstance(thing.items, bytes):
                data, count = thing.items, len(thing.items)
            elif thing.form:
                data, count = struct.pack(f"<{len(thing.items)}{thing.form}", *thing.items), len(thing.items)
            else:
                data, count = bytes(4 * len(thing.items)), len(thing.items)
            out.extend(bytes(-(len(out) + 4) % 16))
            start = len(out)
            out.extend(struct.pack("<I", count) + data)
            align(4)
            if not isinstance(thing, str) and not isinstance(thing.items, bytes) and not thing.form:
                waiting.extend((start + 4 + 4 * i, item) for i, item in enumerate(thing.items))
        struct.pack_into("<I", out, where, start - where)
        if isinstance(thing, Vector):
            placed[id(thing)] = start
    return bytes(out)


def ints(items):
    return items if isinstance(items, Vector) else Vector(items, "i")


class Model:
    """One graph of a file: the first, or one behind those of the file that `behind` ends."""

    def __init__(self, behind=None, name="main"):
        self.tensors, self.operators, self.name = [], [], name
        self.buffers, self.codes, self.graphs, self.signatures = ([Table({})], [], [], []) if behind is None else (
            behind.buffers, behind.codes, behind.graphs, behind.signatures)

    def tensor(self, name, kind, shape, data=None, scale=None, zero=0, variable=False, signature=None):
        """Its number. `data` is bytes; `shape` and `signature` are sizes, or a Vector that several tensors share."""
        buffer = 0
        if data is not None:
            buffer = len(self.buffers)
            self.buffers.append(Table({0: Vector(data)}))
        quantization = None if scale is None else Table({2: Vector([scale], "f"), 3: Vector([zero], "q")})
        self.tensors.append(Table({0: ints(shape), 1: ("b", kind), 2: ("I", buffer), 3: name, 4: quantization,
                                   5: ("b", 1) if variable else None,
                                   7: ints(signature) if signature else None}))
        return len(self.tensors) - 1

    def operator(self, code, operands, outputs, options=None, kind=0, intermediates=None):
        self.codes.append(Table({0: ("b", code), 2: ("i", 1), 3: ("i", code)}))
        self.operators.append(Table({0: ("I", len(self.codes) - 1), 1: Vector(operands, "i"), 2: Vector(outputs, "i"),
                                     3: ("B", kind) if kind else None, 4: options,
                                     8: Vector(intermediates, "i") if intermediates else None}))

    def bytes(self, inputs, outputs):
        self.graphs.append(Table({0: Vector(self.tensors), 1: Vector(inputs, "i"), 2: Vector(outputs, "i"),
                                  3: Vector(self.operators), 4: self.name}))
        self.signatures.append(self.signature(inputs, outputs))
        # Converters drop graphs beside the first one that no signature names.
        signatures = Vector(self.signatures) if len(self.graphs) > 1 else None
        return flatbuffer(Table({0: ("I", 3), 1: Vector(self.codes), 2: Vector(self.graphs), 3: "test",
                                 4: Vector(self.buffers), 7: signatures}), b"TFL3")

    def signature(self, inputs, outputs):
        """Under the graph's name; operands and results have the names of their numbers."""
        operands, results = ([Table({0: str(tensor), 1: ("I", tensor)}) for tensor in tensors] for tensors in (inputs, outputs))
        return Table({0: Vector(operands), 1: Vector(results), 2: self.name, 4: ("I", len(self.graphs) - 1)})


def relu(shape, signature, output_signature=None):
    model = Model()
    x = model.tensor("x", FLOAT32, shape, signature=signature)
    y = model.tensor("y", FLOAT32, shape, signature=output_signature or signature)
    model.operator(RELU, [x], [y])
    return model.bytes([x], [y])


def flattened(shape, signature):
    """RELU, then a RESHAPE that keeps the last dimension and makes the others one."""
    model = Model()
    x = model.tensor("x", FLOAT32, shape, signature=signature)
    y = model.tensor("y", FLOAT32, shape, signature=signature)
    rows = 1
    for size in shape[:-1]:
        rows *= size
    sizes = model.tensor("sizes", INT32, [2], struct.pack("<2i", -1, shape[-1]))
    z = model.tensor("z", FLOAT32, [rows, shape[-1]], signature=[-1, shape[-1]])
    model.operator(RELU, [x], [y])
    model.operator(RESHAPE, [y, sizes], [z])
    return model.bytes([x], [z])


def lstm(choice, steps, inputs, cells, batch=1, int8=False, cifg=False, time_major=False, clip=0.0, peephole=False,
         projection=False, normalisation=False, hybrid=False, activation=TANH, model=None, finer=1):
    """`choice` is a random.Random. `finer` divides the scales of the weights; `model` is where the operator goes."""
    model = model or Model()
    order = [steps, batch] if time_major else [batch, steps]
    quantised = {"scale": 1 / 64, "zero": 3} if int8 else {}
    state = {"scale": 1 / 128, "zero": -4} if int8 else {}

    def floats(count, most):
        return struct.pack(f"<{count}f", *[choice.uniform(-most, most) for _ in range(count)])

    def weights(name, shape, scale):
        count = shape[0] * shape[1]
        if not int8 and not hybrid:
            return model.tensor(name, FLOAT32, shape, floats(count, 0.8))
        return model.tensor(name, INT8, shape, bytes(choice.randrange(1, 256) - 128 & 255 for _ in range(count)), scale)

    def bias(name, scale):
        if not int8:
            return model.tensor(name, FLOAT32, [cells], floats(cells, 0.5))
        values = struct.pack(f"<{cells}i", *[int(choice.uniform(-0.5, 0.5) / scale) for _ in range(cells)])
        return model.tensor(name, INT32, [cells], values, scale)

    x = model.tensor("x", INT8 if int8 else FLOAT32, order + [inputs], **quantised)
    gates = range(1 if cifg else 0, 4)
    scales = [scale / finer for scale in (0.007, 0.0061, 0.0052, 0.0083)]
    own, recurrent, biases, peepholes = [-1] * 4, [-1] * 4, [-1] * 4, [-1] * 3
    for gate in gates:
        own[gate] = weights(f"w{gate}", [cells, inputs], scales[gate])
        recurrent[gate] = weights(f"r{gate}", [cells, cells], scales[-1 - gate])
    for gate in gates:
        biases[gate] = bias(f"b{gate}", scales[gate] / 64)
    if peephole:
        peepholes = [model.tensor(f"p{gate}", FLOAT32, [cells], floats(cells, 0.5)) for gate in range(3)]
    projected = model.tensor("p", FLOAT32, [cells, cells], floats(cells * cells, 0.5)) if projection else -1
    norms = [model.tensor(f"n{gate}", FLOAT32, [cells], floats(cells, 0.5)) if normalisation else -1 for gate in range(4)]
    h = model.tensor("h", INT8 if int8 else FLOAT32, [batch, cells], variable=True, **state)
    c = model.tensor("c", INT16 if int8 else FLOAT32, [batch, cells], variable=True,
                     **({"scale": 2.0**-12, "zero": 0} if int8 else {}))
    y = model.tensor("y", INT8 if int8 else FLOAT32, order + [cells], **state)
    intermediates = None
    if int8:
        intermediates = [model.tensor(f"i{i}", INT16, [], scale=2.0**-12) for i in range(4)]
        intermediates.append(model.tensor("i4", INT8, [], **state))
    options = Table({0: ("b", activation), 1: ("f", clip) if clip else None, 3: ("B", 1) if time_major else None})
    operands = [x, *own, *recurrent, *peepholes, *biases, projected, -1, h, c, *norms]
    model.operator(LSTM, operands, [y], options, SEQUENCE_LSTM_OPTIONS, intermediates)
    return model.bytes([x], [y])
