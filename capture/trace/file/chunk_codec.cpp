#include "capture/trace/file/chunk_codec.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include <libdeflate.h>

namespace rayreplay::trace {
namespace {

// Level 1 packs these columns to within a few per cent of higher levels at several times their speed.
constexpr int kDeflateLevel = 1;
// A chunk is compressed if its sample shrinks below this share: beyond it, packing and inflating cost more time than
// writing and reading. Floats pay later, because their noisy low planes make deflate slow for the little they give.
constexpr std::size_t kWorthwhilePercent = 45;
constexpr std::size_t kWorthwhileFloatPercent = 15;
constexpr std::size_t kSampleRuns = 16;
constexpr std::size_t kSampleRunElements = 1024;

/// Plane b of the result holds byte b of every element.
template <std::size_t Size>
void shuffle_bytes(const std::byte* __restrict from, std::size_t count, std::byte* __restrict to) {
  for (std::size_t b = 0; b < Size; ++b) {
    std::byte* plane = to + b * count;
    for (std::size_t i = 0; i < count; ++i) {
      plane[i] = from[i * Size + b];
    }
  }
}

void shuffle(std::size_t size, const std::byte* from, std::size_t count, std::byte* to) {
  switch (size) {
    case 2:
      return shuffle_bytes<2>(from, count, to);
    case 4:
      return shuffle_bytes<4>(from, count, to);
    default:
      return shuffle_bytes<8>(from, count, to);
  }
}

template <class Disk>
Disk read_as(const std::byte* from) {
  Disk value;
  std::memcpy(&value, from, sizeof(Disk));
  return value;
}

template <class Disk, class Memory>
bool narrow_as(const std::byte* from, std::size_t count, std::uint64_t greatest, std::byte* to) {
  Memory seen = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = read_as<Memory>(from + i * sizeof(Memory));
    seen = std::max(seen, value);
    const auto narrowed = static_cast<Disk>(value);
    std::memcpy(to + i * sizeof(Disk), &narrowed, sizeof(Disk));
  }
  return std::uint64_t{seen} <= greatest;
}

/// Gathers the planes of a shuffled chunk of `chunk` elements and widens the first `count`.
template <class Disk, class Memory>
void unshuffle_as(const std::byte* __restrict planes, std::size_t chunk, std::size_t count, std::byte* __restrict to) {
  const auto* const in = reinterpret_cast<const std::uint8_t*>(planes);
  for (std::size_t i = 0; i < count; ++i) {
    Memory value = in[i];
    if constexpr (sizeof(Disk) >= 2) {
      value = static_cast<Memory>(value | static_cast<Memory>(Memory{in[chunk + i]} << 8));
    }
    if constexpr (sizeof(Disk) >= 4) {
      value |=
          static_cast<Memory>(Memory{in[2 * chunk + i]} << 16) | static_cast<Memory>(Memory{in[3 * chunk + i]} << 24);
    }
    if constexpr (sizeof(Disk) >= 8) {
      value |= (Memory{in[4 * chunk + i]} << 32) | (Memory{in[5 * chunk + i]} << 40) |
               (Memory{in[6 * chunk + i]} << 48) | (Memory{in[7 * chunk + i]} << 56);
    }
    std::memcpy(to + i * sizeof(Memory), &value, sizeof(Memory));
  }
}

template <class Disk, class Memory>
void widen_as(const std::byte* __restrict from, std::size_t count, std::byte* __restrict to) {
  if constexpr (sizeof(Disk) == sizeof(Memory)) {
    std::memcpy(to, from, count * sizeof(Disk));
  } else {
    for (std::size_t i = 0; i < count; ++i) {
      const Memory value = read_as<Disk>(from + i * sizeof(Disk));
      std::memcpy(to + i * sizeof(Memory), &value, sizeof(Memory));
    }
  }
}

/// Calls act.template operator()<Disk, Memory>() with unsigned types of the two sizes, Disk no wider than Memory.
template <class Act>
void with_types(std::size_t disk, std::size_t memory, Act&& act) {
  const auto with_memory = [&]<class Disk>() {
    switch (memory) {
      case 1:
        if constexpr (sizeof(Disk) <= 1) {
          return act.template operator()<Disk, std::uint8_t>();
        }
        break;
      case 2:
        if constexpr (sizeof(Disk) <= 2) {
          return act.template operator()<Disk, std::uint16_t>();
        }
        break;
      case 4:
        if constexpr (sizeof(Disk) <= 4) {
          return act.template operator()<Disk, std::uint32_t>();
        }
        break;
      default:
        return act.template operator()<Disk, std::uint64_t>();
    }
  };
  switch (disk) {
    case 1:
      return with_memory.template operator()<std::uint8_t>();
    case 2:
      return with_memory.template operator()<std::uint16_t>();
    case 4:
      return with_memory.template operator()<std::uint32_t>();
    default:
      return with_memory.template operator()<std::uint64_t>();
  }
}

bool all_equal(std::span<const std::byte> elements, std::span<const std::byte> fill) {
  // If the first element is the fill value and each byte equals the one an element before, all are.
  return std::memcmp(elements.data(), fill.data(), fill.size()) == 0 &&
         std::memcmp(elements.data(), elements.data() + fill.size(), elements.size() - fill.size()) == 0;
}

}  // namespace

bool narrow(const ColumnSpec& spec, const std::byte* from, std::size_t count, std::byte* to) {
  if (count == 0) {
    return true;
  }
  if (spec.memory == Storage::F32) {
    std::memcpy(to, from, count * sizeof(float));
    return true;
  }
  bool in_range = true;
  with_types(bytes_of(spec.disk), bytes_of(spec.memory),
             [&]<class Disk, class Memory>() { in_range = narrow_as<Disk, Memory>(from, count, spec.greatest, to); });
  return in_range;
}

void ChunkEncoder::Free::operator()(libdeflate_compressor* compressor) const {
  libdeflate_free_compressor(compressor);
}

ChunkEncoder::ChunkEncoder() : compressor_(libdeflate_alloc_compressor(kDeflateLevel)) {
  if (!compressor_) {
    throw std::bad_alloc();
  }
}

void ChunkEncoder::encode(const ColumnSpec& spec, std::span<const std::byte> elements, std::span<const std::byte> fill,
                          EncodedChunk& result) {
  if (spec.elision == Elision::Allowed && all_equal(elements, fill)) {
    result.form = EncodedChunk::Form::LeftOut;
    return;
  }
  const std::size_t size = bytes_of(spec.disk);
  const std::size_t count = elements.size() / size;
  const auto pack = [&](const std::byte* from, std::size_t bytes, std::size_t room) {
    packed_.resize(room);
    return libdeflate_zlib_compress(compressor_.get(), from, bytes, packed_.data(), room);
  };
  const auto shuffled = [&](const std::byte* from, std::size_t elements_in) -> const std::byte* {
    if (size == 1) {
      return from;
    }
    shuffled_.resize(elements_in * size);
    shuffle(size, from, elements_in, shuffled_.data());
    return shuffled_.data();
  };

  if (count > 2 * kSampleRuns * kSampleRunElements) {
    const std::size_t run_bytes = kSampleRunElements * size;
    sample_.resize(kSampleRuns * run_bytes);
    for (std::size_t run = 0; run < kSampleRuns; ++run) {
      const std::size_t first = (count - kSampleRunElements) / (kSampleRuns - 1) * run;
      std::memcpy(sample_.data() + run * run_bytes, elements.data() + first * size, run_bytes);
    }
    const std::size_t percent = spec.memory == Storage::F32 ? kWorthwhileFloatPercent : kWorthwhilePercent;
    const std::size_t room = sample_.size() * percent / 100;
    if (pack(shuffled(sample_.data(), kSampleRuns * kSampleRunElements), sample_.size(), room) == 0) {
      result.form = EncodedChunk::Form::Raw;
      result.bytes.assign(elements.begin(), elements.end());
      return;
    }
  }
  // The whole may shrink less than its sample did, but never grows: what has no room below its raw size stays raw.
  const std::size_t bytes = pack(shuffled(elements.data(), count), elements.size(), elements.size());
  if (bytes == 0) {
    result.form = EncodedChunk::Form::Raw;
    result.bytes.assign(elements.begin(), elements.end());
  } else {
    result.form = EncodedChunk::Form::Packed;
    result.bytes.assign(packed_.data(), packed_.data() + bytes);
  }
}

void ChunkDecoder::Free::operator()(libdeflate_decompressor* decompressor) const {
  libdeflate_free_decompressor(decompressor);
}

ChunkDecoder::ChunkDecoder() : decompressor_(libdeflate_alloc_decompressor()) {
  if (!decompressor_) {
    throw std::bad_alloc();
  }
}

std::span<std::byte> ChunkDecoder::stored(std::size_t size) {
  stored_.resize(size);
  return stored_;
}

const char* ChunkDecoder::decode(Storage disk, Storage memory, ChunkFilters filters, std::size_t chunk_elements,
                                 std::size_t count, std::byte* to) {
  const std::size_t size = bytes_of(disk);
  const std::size_t chunk_bytes = chunk_elements * size;
  const std::byte* source = stored_.data();
  if (filters.deflate) {
    const bool in_place = disk == memory && (!filters.shuffle || size == 1) && count == chunk_elements;
    if (!in_place) {
      inflated_.resize(chunk_bytes);
    }
    std::byte* const target = in_place ? to : inflated_.data();
    std::size_t produced = 0;
    const libdeflate_result result =
        libdeflate_zlib_decompress(decompressor_.get(), stored_.data(), stored_.size(), target, chunk_bytes, &produced);
    if (result != LIBDEFLATE_SUCCESS || produced != chunk_bytes) {
      return result == LIBDEFLATE_BAD_DATA ? "the compressed data of a chunk is damaged"
                                           : "a chunk inflates to another size than the chunk has";
    }
    if (in_place) {
      return nullptr;
    }
    source = target;
  } else if (stored_.size() != chunk_bytes) {
    return "an uncompressed chunk has another size than the chunk";
  }
  with_types(size, bytes_of(memory), [&]<class Disk, class Memory>() {
    if (filters.shuffle && sizeof(Disk) > 1) {
      unshuffle_as<Disk, Memory>(source, chunk_elements, count, to);
    } else {
      widen_as<Disk, Memory>(source, count, to);
    }
  });
  return nullptr;
}

void fill_column(Storage disk, Storage memory, std::span<const std::byte> fill, std::size_t count, std::byte* to) {
  with_types(bytes_of(disk), bytes_of(memory), [&]<class Disk, class Memory>() {
    const auto value = static_cast<Memory>(read_as<Disk>(fill.data()));
    for (std::size_t i = 0; i < count; ++i) {
      std::memcpy(to + i * sizeof(Memory), &value, sizeof(Memory));
    }
  });
}

}  // namespace rayreplay::trace
