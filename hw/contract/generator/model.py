# SPDX-License-Identifier: Apache-2.0
"""The contract in memory; load.py reads and checks it."""

from dataclasses import dataclass, field

BLOCKS = ("id", "core", "mailbox", "cpu")


@dataclass
class Field:
    """A field of a command, a repeat group or a register."""

    name: str
    word: int
    lsb: int
    width: int
    kind: str  # unsigned, signed, enum, address
    enum: str = ""
    array: int = 0
    doc: str = ""
    names_variable: bool = False  # an index in the table of variables, other than that of an address

    @property
    def reserved(self) -> bool:
        return self.name.startswith("reserved")

    def places(self):
        """(word, lsb) of each element."""
        for i in range(max(self.array, 1)):
            bit = self.lsb + i * self.width
            yield self.word + bit // 32, bit % 32


@dataclass
class Factor:
    """number: `value`; field: its value; bytes: of the element type that the field or member `name` is; size: of a structure."""

    kind: str
    name: str = ""
    value: int = 0


@dataclass
class Window:
    """The part of an input box, in one direction, that `count` windows reach; all but `dilation` name fields."""

    size: str
    step: str
    count: str
    stride: str
    pad: str
    kernel: str
    dilation: str


@dataclass
class Access:
    """Bytes that a command reads or writes. Sums are lists of products, products lists of factors."""

    field: str
    write: bool
    condition: tuple  # (field, members, whether it must be one of them), or ()
    dims: list  # (sum, name of the field with the stride)
    windows: list
    run: list
    type: str = ""  # a field or an element type
    unsigned: str = ""
    commit: str = ""
    block: str = ""  # of a group: the field with the length of an element that is a block
    moves: list = field(default_factory=list)  # a sum; none: all bytes


@dataclass
class UopField:
    """What a field of a micro-operation means."""

    role: str  # result, source, loaded, stored, parameters, table, element, number, packed
    elements: list = field(default_factory=list)
    bytes: int = 0
    low: int = 0
    high: int = 0
    packed: str = ""


@dataclass
class Immediate:
    """A number of 32 bits that holds several fields."""

    name: str
    doc: str
    fields: list
    only: dict  # field -> members of its enum that it may be
    excludes: list  # values of fields that it may not have together: {field: member of its enum, or a bit}


@dataclass
class Group:
    """Words that follow the fixed part of a command, `count` times."""

    name: str
    count: str
    max: int
    words: int
    fields: list
    access: Access = None

    @property
    def element(self) -> str:
        return self.name.removesuffix("s")


@dataclass
class Command:
    name: str
    opcode: str
    words: int
    doc: str
    fields: list
    groups: list
    memories: list = field(default_factory=list)
    accesses: list = field(default_factory=list)
    queue: str | None = None  # where it belongs, if there is one such queue
    sizes: list = field(default_factory=list)  # fields: of what it computes, outermost first

    @property
    def max_words(self) -> int:
        return self.words + sum(group.max * group.words for group in self.groups)


@dataclass
class StructField:
    name: str
    offset: int
    bytes: int
    signed: bool
    array: int
    doc: str

    @property
    def reserved(self) -> bool:
        return self.name.startswith("reserved")


@dataclass
class Structure:
    name: str
    bytes: int
    doc: str
    fields: list


@dataclass
class Register:
    name: str
    block: str
    offset: int
    access: str
    reset: int
    doc: str
    fields: list
    count: int = 1
    step: int = 0
    group: str = ""

    def offsets(self):
        return [self.offset + i * self.step for i in range(self.count)]


@dataclass
class Range:
    """A window of the host's socket (no bytes), or a part of the control CPU's address space."""

    name: str
    base: int
    bytes: int
    doc: str


@dataclass
class Constant:
    """A number that is the same for every device."""

    name: str
    value: int
    doc: str


@dataclass
class Capability:
    name: str
    unit: str
    min: int
    max: int
    power_of_two: bool
    doc: str
    offset: int
    otherwise: int | None = None  # in a machine's file without it, for each of `times`; None: it must be there
    times: str = ""


@dataclass
class Counter:
    name: str
    index: int
    doc: str


@dataclass
class ErrorClass:
    name: str
    id: int
    doc: str


@dataclass
class ErrorCode:
    name: str
    cls: ErrorClass
    number: int
    doc: str

    @property
    def code(self) -> int:
        return self.cls.id << 8 | self.number


@dataclass
class Contract:
    major: int = 0
    minor: int = 0
    constants: list = field(default_factory=list)
    enums: dict = field(default_factory=dict)  # name -> {member: value}
    enum_docs: dict = field(default_factory=dict)  # name -> {member: doc}
    immediates: list = field(default_factory=list)
    micro_operations: dict = field(default_factory=dict)  # name -> {field: UopField}
    float_operations: set = field(default_factory=set)  # names of those that compute in FP32
    header: list = field(default_factory=list)
    header_words: int = 0
    commands: list = field(default_factory=list)
    structures: list = field(default_factory=list)
    registers: list = field(default_factory=list)
    register_space: int = 0
    windows: list = field(default_factory=list)
    cpu_map: list = field(default_factory=list)
    counters: list = field(default_factory=list)
    counters_per_queue: int = 0
    capabilities: list = field(default_factory=list)
    classes: list = field(default_factory=list)
    errors: list = field(default_factory=list)
