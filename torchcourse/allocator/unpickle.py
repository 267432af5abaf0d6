"""Reads a pickle that holds plain values only, without the `pickle` module: nothing in the file can run.

Known are the opcodes that Python 3 writes for dictionaries, lists, tuples, strings, bytes, numbers, booleans
and None in protocols 2 to 5. Every other opcode is refused by name, and so is what it wanted to import.
No length is believed beyond the end of the data, and each byte costs at most some 80 bytes of memory.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from pickletools import opcodes

_NAMES = {opcode.code: opcode.name for opcode in opcodes}
_LARGEST_INTEGER = 16  # bytes; a snapshot's numbers have 8


class SnapshotError(ValueError):
    """The file or the dictionary is no snapshot that can be read; the message says why in a sentence."""


def read_plain(data: bytes) -> object:
    """The value that the pickle in `data` holds; SnapshotError where it holds anything but plain values."""
    reader = _Reader(data)
    try:
        return reader.run()
    except SnapshotError:
        raise
    except (IndexError, TypeError, ValueError, OverflowError, MemoryError, RecursionError, struct.error):
        where = reader.position
        raise SnapshotError(
            f"The file is damaged or cut short: it makes no sense at byte {where} of {len(data)}."
        ) from None


class _Reader:
    """The pickle machine: a stack, the heights at which marks stand, and the memo."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.position = 0
        self.stack: list[object] = []
        self.marks: list[int] = []
        self.memo: list[object] = []  # filled in order, as every pickler does
        self.far: dict[int, object] = {}  # entries out of order

    def run(self) -> object:
        protocol = self.data[1] if self.data[:1] == b"\x80" and len(self.data) > 1 else None
        if protocol not in (2, 3, 4, 5):
            raise SnapshotError("This is no snapshot: a snapshot is a pickle of protocol 2, 3, 4 or 5.")
        self.position = 2
        data, known = self.data, _KNOWN
        while (code := data[self.position]) != _STOP:
            self.position += 1
            do = known.get(code)
            if do is None:
                self.refuse(code)
            else:
                do(self)
        return self.stack.pop()

    # --- the data ---------------------------------------------------------------------------------

    def take(self, length: int) -> bytes:
        """The next bytes, if the file holds them."""
        end = self.position + length
        if length < 0 or end > len(self.data):
            raise SnapshotError(
                f"The file is damaged or cut short: at byte {self.position} it announces {length} bytes, "
                f"and {len(self.data) - self.position} are left."
            )
        piece = self.data[self.position : end]
        self.position = end
        return piece

    def number(self, form: str) -> int:
        (value,) = struct.unpack(form, self.take(struct.calcsize(form)))
        return int(value)

    def line(self) -> str:
        end = self.data.index(b"\n", self.position)
        return self.take(end + 1 - self.position)[:-1].decode("utf-8", "replace")

    def refuse(self, code: int) -> None:
        """Say what the file wanted, and that it did not get it."""
        letter = chr(code)
        if letter in "ci":
            wanted = f"{self.line()}.{self.line()}"
        elif letter == "\x93":
            name, module = self.stack.pop(), self.stack.pop()
            wanted = f"{module}.{name}" if isinstance(module, str) and isinstance(name, str) else "a name"
        else:
            name = _NAMES.get(letter, f"{code:#04x}")
            raise SnapshotError(
                f"The file holds more than plain values (opcode {name} at byte {self.position - 1}). "
                f"A snapshot needs none of that, so it was not read, and nothing in it ran."
            )
        raise SnapshotError(
            f"The file wants to import {_short(wanted)}. A snapshot holds only plain values, so it was not read, "
            f"and nothing in it ran. Do not open this file with pickle."
        )

    # --- values -----------------------------------------------------------------------------------

    def push_text(self, form: str) -> None:
        self.stack.append(self.take(self.number(form)).decode("utf-8", "surrogatepass"))

    def push_bytes(self, form: str) -> None:
        self.stack.append(self.take(self.number(form)))

    def push_integer(self, form: str) -> None:
        length = self.number(form)
        if length > _LARGEST_INTEGER:
            raise SnapshotError(
                f"The file holds a whole number of {length} bytes; a snapshot has none so long."
            )
        self.stack.append(int.from_bytes(self.take(length), "little", signed=True))

    def push_float(self) -> None:
        self.stack.append(struct.unpack(">d", self.take(8))[0])

    def frame(self) -> None:
        length = self.number("<Q")
        if length > len(self.data) - self.position:
            raise SnapshotError(f"The file is cut short: a frame of {length} bytes reaches beyond its end.")

    # --- containers -------------------------------------------------------------------------------

    def since_mark(self) -> list[object]:
        mark = self.marks.pop()
        items = self.stack[mark:]
        del self.stack[mark:]
        return items

    def wrap(self, count: int) -> None:
        if count > len(self.stack):
            raise IndexError
        self.stack[-count:] = [tuple(self.stack[-count:])]

    def extend(self, items: list[object]) -> None:
        target = self.stack[-1]
        if type(target) is not list:
            raise TypeError
        target.extend(items)

    def fill(self, items: list[object]) -> None:
        target = self.stack[-1]
        if type(target) is not dict or len(items) % 2:
            raise TypeError
        for key, value in zip(items[::2], items[1::2], strict=True):
            if type(key) is not str:  # other keys could be made to collide, or to nest beyond C's stack
                raise SnapshotError(
                    f"The file has a dictionary key of type {type(key).__name__}, not a string."
                )
            target[key] = value

    def fill_one(self) -> None:
        value, key = self.stack.pop(), self.stack.pop()
        self.fill([key, value])

    # --- memo -------------------------------------------------------------------------------------

    def put(self, place: int) -> None:
        value = self.stack[-1]
        if place == len(self.memo):
            self.memo.append(value)
        elif place < len(self.memo):
            self.memo[place] = value
        else:
            self.far[place] = value

    def get(self, place: int) -> None:
        if place < len(self.memo):
            self.stack.append(self.memo[place])
        elif place in self.far:
            self.stack.append(self.far[place])
        else:
            raise IndexError


def _short(text: str) -> str:
    return repr(text if len(text) <= 100 else text[:100] + "…")


_STOP = ord(".")
_STEPS: dict[bytes, Callable[[_Reader], object]] = {
    b"N": lambda r: r.stack.append(None),
    b"\x88": lambda r: r.stack.append(True),
    b"\x89": lambda r: r.stack.append(False),
    b"K": lambda r: r.stack.append(r.number("<B")),
    b"M": lambda r: r.stack.append(r.number("<H")),
    b"J": lambda r: r.stack.append(r.number("<i")),
    b"G": _Reader.push_float,
    b"\x8a": lambda r: r.push_integer("<B"),
    b"\x8b": lambda r: r.push_integer("<i"),
    b"\x8c": lambda r: r.push_text("<B"),
    b"X": lambda r: r.push_text("<I"),
    b"\x8d": lambda r: r.push_text("<Q"),
    b"C": lambda r: r.push_bytes("<B"),
    b"B": lambda r: r.push_bytes("<I"),
    b"\x8e": lambda r: r.push_bytes("<Q"),
    b"}": lambda r: r.stack.append({}),
    b"]": lambda r: r.stack.append([]),
    b")": lambda r: r.stack.append(()),
    b"(": lambda r: r.marks.append(len(r.stack)),
    b"0": lambda r: r.stack.pop(),
    b"1": _Reader.since_mark,
    b"a": lambda r: r.extend([r.stack.pop()]),
    b"e": lambda r: r.extend(r.since_mark()),
    b"s": _Reader.fill_one,
    b"u": lambda r: r.fill(r.since_mark()),
    b"t": lambda r: r.stack.append(tuple(r.since_mark())),
    b"\x85": lambda r: r.wrap(1),
    b"\x86": lambda r: r.wrap(2),
    b"\x87": lambda r: r.wrap(3),
    b"q": lambda r: r.put(r.number("<B")),
    b"r": lambda r: r.put(r.number("<I")),
    b"\x94": lambda r: r.put(len(r.memo) + len(r.far)),
    b"h": lambda r: r.get(r.number("<B")),
    b"j": lambda r: r.get(r.number("<I")),
    b"\x95": _Reader.frame,
}
_KNOWN = {code[0]: step for code, step in _STEPS.items()}
