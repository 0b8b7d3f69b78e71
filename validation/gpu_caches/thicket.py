#!/usr/bin/env python3
"""Writes a thicket as an OBJ file: a ball of narrow leaves, three triangles each, whose boxes overlap.

  thicket.py OUT.obj [LEAVES=150000] [SEED=1]

A mesh for measure_time.py that is unlike a closed surface: thin triangles at all angles, so that a ray enters many
leaves of the structure that it does not hit. Same arguments, same bytes. The ball has the radius 1.
"""
import math
import random
import sys


def direction(source):
    """Uniform on the sphere."""
    z, turn = source.uniform(-1, 1), source.uniform(0, 2 * math.pi)
    flat = math.sqrt(1 - z * z)
    return (flat * math.cos(turn), flat * math.sin(turn), z)


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def leaf(source):
    """Five corners from stem to tip."""
    radius, outward = source.random() ** (1 / 3), direction(source)
    root = tuple(radius * x for x in outward)
    along, bend = direction(source), direction(source)
    length, width = source.uniform(0.03, 0.09), source.uniform(0.004, 0.01)
    across = cross(along, bend)

    def at(share, side):
        return tuple(root[i] + length * (share * along[i] + 0.3 * share * share * bend[i]) + side * width * across[i]
                     for i in range(3))

    return [at(0, -0.5), at(0, 0.5), at(0.5, -1), at(0.5, 1), at(1, 0)]


def main():
    if len(sys.argv) not in (2, 3, 4):
        sys.exit(__doc__)
    leaves = int(sys.argv[2]) if len(sys.argv) > 2 else 150_000
    source = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    with open(sys.argv[1], "w", encoding="ascii", newline="\n") as out:
        for _ in range(leaves):
            for corner in leaf(source):
                out.write("v {:.6f} {:.6f} {:.6f}\n".format(*corner))
        for i in range(leaves):
            first = 5 * i + 1
            for a, b, c in ((0, 1, 2), (1, 3, 2), (2, 3, 4)):
                out.write(f"f {first + a} {first + b} {first + c}\n")


if __name__ == "__main__":
    main()
