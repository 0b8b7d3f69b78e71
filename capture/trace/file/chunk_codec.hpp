// One chunk of a column between memory and disk: narrowing, byte shuffle, deflate, and back. Internal to this room.
//
// Contract: pure functions of their inputs (and of libdeflate's version), safe to run in parallel, one encoder or
// decoder per thread. The bytes are what HDF5's own shuffle and deflate filters read and write. The choice between
// compressing a chunk and storing it raw looks at a fixed sample of the chunk's values.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "capture/trace/file/storage.hpp"

struct libdeflate_compressor;
struct libdeflate_decompressor;

namespace rayreplay::trace {

/// zlib's deflate cannot expand more than this, so that a stored byte vouches for at most so many.
inline constexpr std::uint64_t kGreatestDeflateRatio = 1032;

struct EncodedChunk {
  enum class Form : std::uint8_t { LeftOut, Raw, Packed };  ///< LeftOut: all elements equal the fill value
  Form form = Form::LeftOut;
  std::vector<std::byte> bytes;
  bool out_of_range = false;  ///< a value was greater than the column allows
};

/// Narrows `count` numbers from their storage in memory to that on disk; false if one is greater than spec.greatest.
bool narrow(const ColumnSpec& spec, const std::byte* from, std::size_t count, std::byte* to);

class ChunkEncoder {
 public:
  ChunkEncoder();
  /// `elements`: in disk storage, a whole chunk.
  void encode(const ColumnSpec& spec, std::span<const std::byte> elements, std::span<const std::byte> fill,
              EncodedChunk& result);

 private:
  struct Free {
    void operator()(libdeflate_compressor* compressor) const;
  };
  std::unique_ptr<libdeflate_compressor, Free> compressor_;
  std::vector<std::byte> shuffled_, sample_, packed_;
};

/// How the bytes of a stored chunk came about.
struct ChunkFilters {
  bool shuffle = false;
  bool deflate = false;
};

class ChunkDecoder {
 public:
  ChunkDecoder();
  /// Room for `size` stored bytes, to be filled before decode_stored.
  [[nodiscard]] std::span<std::byte> stored(std::size_t size);
  /// Decodes `stored()`, a chunk of `chunk_elements` numbers, of which the first `count` are widened into `to`. Returns
  /// null or what is wrong.
  [[nodiscard]] const char* decode(Storage disk, Storage memory, ChunkFilters filters, std::size_t chunk_elements,
                                   std::size_t count, std::byte* to);

 private:
  struct Free {
    void operator()(libdeflate_decompressor* decompressor) const;
  };
  std::unique_ptr<libdeflate_decompressor, Free> decompressor_;
  std::vector<std::byte> stored_, inflated_;
};

/// Writes `count` copies of a fill value (in disk storage) in memory storage.
void fill_column(Storage disk, Storage memory, std::span<const std::byte> fill, std::size_t count, std::byte* to);

}  // namespace rayreplay::trace
