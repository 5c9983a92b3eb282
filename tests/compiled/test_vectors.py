"""Many floats, or many bits, at once."""

from __future__ import annotations

import numpy as np

from ocucb.compiled import Floats, bit_length, kernel, largest, lowest_bit, reaching

reaching_at, largest_at = reaching(16), largest(16)


@kernel
def _read(address: int, least: float, out: Floats) -> None:
    bits = reaching_at(address, least)
    out[0] = bits
    out[1] = lowest_bit(bits)
    out[2] = largest_at(address)
    out[3] = bit_length(bits)


def test_a_whole_node_is_read_at_once() -> None:
    random = np.random.default_rng(7)
    for _ in range(200):
        node = random.choice([-np.inf, -1.0, 0.0, 0.5, 2.0, np.inf], size=16)
        least = float(random.choice(node))
        out = np.zeros(4)
        _read(node.ctypes.data, least, out)
        expected = sum(1 << i for i in range(16) if node[i] >= least)
        assert out.tolist() == [expected, (expected & -expected).bit_length() - 1, node.max(), expected.bit_length()]
