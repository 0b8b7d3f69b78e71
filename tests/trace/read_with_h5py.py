"""What a user of h5py does with a trace.

read_with_h5py.py dump TRACE PREFIX          every dataset of numbers as raw bytes, in the types the program has in memory
read_with_h5py.py edit TRACE COLUMN ROW VALUE   changes one value of launch 0
"""

import sys

import h5py
import numpy

IN_MEMORY = {
    "shader": "u2", "instance": "u4", "primitive": "u4", "geometry": "u2", "warp": "u4",
}


def dump(trace, prefix):
    with h5py.File(trace, "r") as file:
        assert file.userblock_size == 512

        def write(name, item):
            if isinstance(item, h5py.Dataset) and item.dtype.kind in "uf":
                values = item[...]
                assert values.shape == item.shape
                wanted = IN_MEMORY.get(name.split("/")[-1], item.dtype)
                values.astype(wanted).tofile(prefix + "_" + name.replace("/", "_"))

        file.visititems(write)
        text = [
            file.attrs["application"], file.attrs["not_captured"][1], file["shaders/name"][0],
            file["scene/geometries/name"][4],
            *(str(file["launch/0"].attrs.get(name, 0)) for name in ("tlas", "frame", "duration_ns")),
        ]
        with open(prefix + ".header", "wb") as header:
            header.write(b"|".join(numpy.bytes_(t) if isinstance(t, bytes) else t.encode() for t in text))


def edit(trace, column, row, value):
    with h5py.File(trace, "r+") as file:
        dataset = file["launch/0/" + column]
        dataset[int(row)] = dataset.dtype.type(float(value))


if __name__ == "__main__":
    {"dump": dump, "edit": edit}[sys.argv[1]](*sys.argv[2:])
