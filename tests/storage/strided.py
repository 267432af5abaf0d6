"""Random strided tensors, and the slow, certain answers that the fast ones are held to."""

from itertools import product

import torch
from hypothesis import strategies as st

STORAGE = 40  # elements


@st.composite
def layouts(draw, most_dims=4, most=4, storage=STORAGE):
    """(size, stride, offset) within a storage of this many elements; overlap and expansion included."""
    size = draw(st.lists(st.integers(0, most), max_size=most_dims))
    room, stride = storage - 1, []
    for n in size:
        step = draw(st.integers(0, min(12, room // max(n - 1, 1))))
        room -= step * max(n - 1, 0)
        stride.append(step)
    return tuple(size), tuple(stride), draw(st.integers(0, room))


def tensors(storage=STORAGE, **limits):
    """Tensors over a storage of their own."""
    return layouts(storage=storage, **limits).map(lambda layout: torch.arange(storage).as_strided(*layout))


@st.composite
def folded(draw):
    """(tensor, shape) as readers make them: slices, permutations, expansions of something contiguous.

    The shape mostly has the right number of elements, so that the strides decide.
    """
    sizes = draw(st.lists(st.sampled_from([1, 1, 2, 2, 3, 4, 6]), min_size=0, max_size=4))
    tensor = torch.empty(sizes)
    tensor = tensor.permute(draw(st.permutations(range(len(sizes)))))
    for d, n in enumerate(tensor.shape):
        match draw(st.integers(0, 5)):
            case 0:
                tensor = tensor.narrow(d, 0, draw(st.integers(0, n)))
            case 1 if n == 1:
                tensor = tensor.expand([2 if k == d else -1 for k in range(tensor.dim())])
            case 2 if n > 1:
                tensor = tensor.unsqueeze(d).transpose(d, -1).contiguous().transpose(d, -1).squeeze(d)
    return tensor, draw(shapes(tensor.numel()))


@st.composite
def shapes(draw, numel):
    """A shape of `numel` elements, now and then with a -1, a 1, or a wrong entry."""
    shape, rest = [], numel
    while rest > 1 and draw(st.integers(0, 4)):
        n = draw(st.sampled_from([n for n in range(1, rest + 1) if rest % n == 0]))
        shape.append(n)
        rest //= n
    shape.append(rest) if rest != 1 or draw(st.booleans()) else None
    if shape and draw(st.integers(0, 3)) == 0:
        place, entry = draw(st.integers(0, len(shape) - 1)), draw(st.sampled_from([-1, -1, 0, 1, 5, -2]))
        shape[place] = entry
    return tuple(shape)


def addresses(tensor):
    """The element of the storage behind each index, one by one."""
    places = product(*map(range, tensor.size()))
    return [
        tensor.storage_offset() + sum(i * s for i, s in zip(at, tensor.stride(), strict=True))
        for at in places
    ]


def touched_bytes(tensor):
    """Every byte of memory that the tensor touches."""
    start, width = tensor.untyped_storage().data_ptr(), tensor.element_size()
    return {start + a * width + k for a in addresses(tensor) for k in range(width)}
