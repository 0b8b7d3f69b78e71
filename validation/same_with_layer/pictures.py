"""Pictures that differ: where, and by how much. PNG (not interlaced) and binary PGM, PPM; nothing beyond the standard library."""
import struct
import zlib


class Picture:
    def __init__(self, width, height, channels, sample_bytes, rows):
        self.width, self.height, self.channels, self.sample_bytes, self.rows = width, height, channels, sample_bytes, rows

    def pixel(self, x, y):
        size = self.channels * self.sample_bytes
        raw = self.rows[y][x * size:(x + 1) * size]
        if self.sample_bytes == 1:
            return tuple(raw)
        return struct.unpack(f">{self.channels}H", raw)


def _unfiltered(data, stride, step, height):
    """The rows of a PNG's image data, each of which is stored as the output of one of five filters."""
    rows, above = [], bytearray(stride)
    for y in range(height):
        kind, row = data[y * (stride + 1)], bytearray(data[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        if kind > 4 or len(row) != stride:
            return None
        for i in range(stride):
            left = row[i - step] if i >= step else 0
            corner = above[i - step] if i >= step else 0
            if kind == 1:
                row[i] = (row[i] + left) & 255
            elif kind == 2:
                row[i] = (row[i] + above[i]) & 255
            elif kind == 3:
                row[i] = (row[i] + (left + above[i]) // 2) & 255
            elif kind == 4:
                guess = left + above[i] - corner
                distances = (abs(guess - left), abs(guess - above[i]), abs(guess - corner))
                row[i] = (row[i] + (left, above[i], corner)[distances.index(min(distances))]) & 255
        rows.append(bytes(row))
        above = row
    return rows


def _png(data):
    at, packed, head = 8, b"", None
    while at + 8 <= len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        content = data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            head = struct.unpack(">IIBBBBB", content)
        elif kind == b"IDAT":
            packed += content
        at += 12 + length
    if head is None or head[2] not in (8, 16) or head[3] not in (0, 2, 4, 6) or head[6] != 0:
        return None
    width, height, channels = head[0], head[1], {0: 1, 2: 3, 4: 2, 6: 4}[head[3]]
    step = channels * head[2] // 8
    rows = _unfiltered(zlib.decompress(packed), width * step, step, height)
    return rows and Picture(width, height, channels, head[2] // 8, rows)


def _pnm(data):
    words, at = [], 0
    while len(words) < 4:
        while data[at:at + 1].isspace():
            at += 1
        if data[at:at + 1] == b"#":
            at = data.index(b"\n", at)
            continue
        end = at
        while end < len(data) and not data[end:end + 1].isspace():
            end += 1
        words.append(data[at:end])
        at = end
    width, height, largest = (int(word) for word in words[1:])
    channels, sample_bytes = (3 if words[0] == b"P6" else 1), (1 if largest < 256 else 2)
    stride = width * channels * sample_bytes
    rows = [data[at + 1 + y * stride:at + 1 + (y + 1) * stride] for y in range(height)]
    return Picture(width, height, channels, sample_bytes, rows) if len(rows[-1]) == stride else None


def decode(data):
    """None if the data is no picture of a supported format."""
    try:
        if data[:8] == b"\x89PNG\r\n\x1a\n":
            return _png(data)
        return _pnm(data) if data[:2] in (b"P5", b"P6") else None
    except (ValueError, IndexError, struct.error, zlib.error):
        return None


def difference(expected, found):
    """"" if the bytes, or the pixels, are the same; else the first difference, and the amount in all."""
    if expected == found:
        return ""
    first, second = decode(expected), decode(found)
    if first is None or second is None:
        shared = min(len(expected), len(found))
        at = next((i for i in range(shared) if expected[i] != found[i]), shared)
        return f"byte {at} is the first that differs; {len(expected)} bytes without the layer, {len(found)} with it"
    shape = lambda picture: f"{picture.width}x{picture.height}, {picture.channels} channels of {8 * picture.sample_bytes} bits"
    if shape(first) != shape(second):
        return f"{shape(first)} without the layer, {shape(second)} with it"
    count, place, greatest = 0, None, 0
    for y in range(first.height):
        if first.rows[y] == second.rows[y]:
            continue
        for x in range(first.width):
            a, b = first.pixel(x, y), second.pixel(x, y)
            if a != b:
                count, place = count + 1, place or (x, y, a, b)
                greatest = max(greatest, max(abs(i - j) for i, j in zip(a, b)))
    if count == 0:
        return ""
    x, y, a, b = place
    return (f"{count} of {first.width * first.height} pixels; first at ({x}, {y}): {a} without the layer, {b} with it; "
            f"greatest difference of a channel: {greatest}")
