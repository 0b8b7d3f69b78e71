"""Reads a .vtp with nothing but Python's own library, checks that it holds together, and prints its arrays as JSON."""
import base64
import json
import struct
import sys
import xml.etree.ElementTree as xml

TYPES = {"Float32": "f", "Int32": "i", "Int64": "q", "UInt8": "B"}


def decode(array):
    assert array.get("format") == "binary"
    raw = base64.b64decode(array.text.strip(), validate=True)
    (size,) = struct.unpack("<Q", raw[:8])
    assert size == len(raw) - 8, (array.get("Name"), size, len(raw))
    letter = TYPES[array.get("type")]
    assert size % struct.calcsize(letter) == 0
    return list(struct.unpack(f"<{size // struct.calcsize(letter)}{letter}", raw[8:]))


def main():
    root = xml.parse(sys.argv[1]).getroot()
    assert root.tag == "VTKFile" and root.get("type") == "PolyData" and root.get("version") == "1.0"
    assert root.get("byte_order") == "LittleEndian" and root.get("header_type") == "UInt64"
    (piece,) = root.findall("PolyData/Piece")
    count = {name: int(piece.get("NumberOf" + name)) for name in ("Points", "Verts", "Lines", "Strips", "Polys")}
    assert count["Verts"] == count["Strips"] == 0
    assert count["Lines"] == 0 or count["Polys"] == 0
    cells = count["Lines"] + count["Polys"]
    (points,) = piece.findall("Points/DataArray")
    assert points.get("NumberOfComponents") == "3"
    result = {"cells": cells, "points": decode(points), "data": {}}
    assert len(result["points"]) == 3 * count["Points"]
    (topology,) = [element for element in piece if element.tag in ("Lines", "Polys")]
    for array in topology:
        result[array.get("Name")] = decode(array)
    offsets, connectivity = result["offsets"], result["connectivity"]
    assert len(offsets) == cells
    assert offsets == sorted(set(offsets))
    assert (offsets[-1] if offsets else 0) == len(connectivity)
    assert all(0 <= point < count["Points"] for point in connectivity)
    assert set(connectivity) == set(range(count["Points"]))
    for array in piece.findall("CellData/DataArray"):
        values = decode(array)
        assert len(values) == cells, array.get("Name")
        result["data"][array.get("Name")] = values
    assert piece.find("CellData").get("Scalars") in result["data"]
    result["shape"] = topology.tag
    print(json.dumps(result))


main()
