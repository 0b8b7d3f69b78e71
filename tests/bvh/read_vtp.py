"""Reads a .vtp with nothing but Python's own library, checks that it holds together, and prints its arrays as JSON."""
import json
import struct
import sys
import xml.etree.ElementTree as xml

TYPES = {"Float32": "f", "Int32": "i", "Int64": "q", "UInt8": "B"}


APPENDED = b'<AppendedData encoding="raw">\n_'
END = b"\n </AppendedData>\n</VTKFile>\n"


def decode(array, blocks):
    """The block at the array's offset: a byte count, then the values."""
    assert array.get("format") == "appended"
    start = int(array.get("offset"))
    (size,) = struct.unpack("<Q", blocks[start:start + 8])
    assert start + 8 + size <= len(blocks), (array.get("Name"), start, size, len(blocks))
    letter = TYPES[array.get("type")]
    assert size % struct.calcsize(letter) == 0
    decode.bytes += 8 + size
    return list(struct.unpack(f"<{size // struct.calcsize(letter)}{letter}", blocks[start + 8:start + 8 + size]))


decode.bytes = 0


def main():
    with open(sys.argv[1], "rb") as file:
        content = file.read()
    # No XML parser takes raw bytes: the text around them is parsed.
    head, blocks = content.split(APPENDED, 1)
    assert blocks.endswith(END)
    blocks = blocks[:-len(END)]
    root = xml.fromstring(head + b"</VTKFile>")
    assert root.tag == "VTKFile" and root.get("type") == "PolyData" and root.get("version") == "1.0"
    assert root.get("byte_order") == "LittleEndian" and root.get("header_type") == "UInt64"
    (piece,) = root.findall("PolyData/Piece")
    count = {name: int(piece.get("NumberOf" + name)) for name in ("Points", "Verts", "Lines", "Strips", "Polys")}
    assert count["Verts"] == count["Strips"] == 0
    assert count["Lines"] == 0 or count["Polys"] == 0
    cells = count["Lines"] + count["Polys"]
    (points,) = piece.findall("Points/DataArray")
    assert points.get("NumberOfComponents") == "3"
    result = {"cells": cells, "points": decode(points, blocks), "data": {}}
    assert len(result["points"]) == 3 * count["Points"]
    (topology,) = [element for element in piece if element.tag in ("Lines", "Polys")]
    for array in topology:
        result[array.get("Name")] = decode(array, blocks)
    offsets, connectivity = result["offsets"], result["connectivity"]
    assert len(offsets) == cells
    assert offsets == sorted(set(offsets))
    assert (offsets[-1] if offsets else 0) == len(connectivity)
    assert all(0 <= point < count["Points"] for point in connectivity)
    assert set(connectivity) == set(range(count["Points"]))
    for array in piece.findall("CellData/DataArray"):
        values = decode(array, blocks)
        assert len(values) == cells, array.get("Name")
        result["data"][array.get("Name")] = values
    assert piece.find("CellData").get("Scalars") in result["data"]
    assert decode.bytes == len(blocks), "every byte belongs to an array"
    result["shape"] = topology.tag
    print(json.dumps(result))


main()
