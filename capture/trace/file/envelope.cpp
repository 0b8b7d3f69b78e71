#include "capture/trace/file/envelope.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <xxhash.h>

#include "base/error.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::trace {
namespace {

static_assert(std::endian::native == std::endian::little, "the file's integers are little-endian, as are ours");

constexpr std::string_view kMagic = "RAYREPLAY\n";
constexpr std::size_t kVersionAt = 12;
constexpr std::size_t kLengthAt = 16;
constexpr std::size_t kHashAt = 24;
constexpr std::size_t kZerosAt = 40;
constexpr std::uint64_t kBlockBytes = std::uint64_t{4} << 20;
// Read in pieces that stay in the second-level cache between the copy and the hash.
constexpr std::uint64_t kPieceBytes = std::uint64_t{256} << 10;

constexpr const char* kFetchAgain = "copy the file again from where it came, or make the trace again";

ContentHash hash_block(const FileDescriptor& file, std::uint64_t first, std::uint64_t last,
                       std::vector<std::byte>& buffer) {
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(), &XXH3_freeState);
  if (!state) {
    throw std::bad_alloc();
  }
  XXH3_128bits_reset(state.get());
  for (std::uint64_t at = first; at < last; at += kPieceBytes) {
    const std::uint64_t bytes = std::min(kPieceBytes, last - at);
    file.read({buffer.data(), bytes}, at);
    XXH3_128bits_update(state.get(), buffer.data(), bytes);
  }
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state.get()));
  ContentHash hash{};
  std::memcpy(hash.data(), &canonical, hash.size());
  return hash;
}

ContentHash hash_content(const FileDescriptor& file) {
  const std::uint64_t bytes = file.size() - kEnvelopeBytes;
  std::vector<ContentHash> blocks((bytes + kBlockBytes - 1) / kBlockBytes);
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, blocks.size()), [&](const auto& range) {
    std::vector<std::byte> buffer(kPieceBytes);
    for (std::size_t i = range.begin(); i != range.end(); ++i) {
      const std::uint64_t first = kEnvelopeBytes + i * kBlockBytes;
      blocks[i] = hash_block(file, first, std::min(first + kBlockBytes, file.size()), buffer);
    }
  });
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(blocks.data(), blocks.size() * sizeof(ContentHash)));
  ContentHash hash{};
  std::memcpy(hash.data(), &canonical, hash.size());
  return hash;
}

template <class T>
T load_at(const std::array<std::byte, kEnvelopeBytes>& block, std::size_t at) {
  T value{};
  std::memcpy(&value, block.data() + at, sizeof(T));
  return value;
}

[[noreturn]] void truncated(const std::filesystem::path& path, std::uint64_t found, const std::string& expected) {
  throw Error(ErrorKind::Input,
              {"the trace is truncated", path.string(), fmt::format("{} bytes", found), expected, kFetchAgain});
}

}  // namespace

std::string to_hex(const ContentHash& hash) {
  std::string text;
  for (const unsigned char byte : hash) {
    text += fmt::format("{:02x}", byte);
  }
  return text;
}

void require_trace(const FileDescriptor& file, const std::filesystem::path& path) {
  if (file.size() == 0) {
    throw Error(ErrorKind::Input, {"the file is empty", path.string(), "0 bytes", "a trace", kFetchAgain});
  }
  std::array<std::byte, kEnvelopeBytes> block{};
  const std::uint64_t present = std::min<std::uint64_t>(file.size(), kEnvelopeBytes);
  file.read({block.data(), present}, 0);
  // What there is of it: a file cut within its first bytes is a truncated trace, not a file of another kind.
  const std::size_t comparable = std::min<std::size_t>(kMagic.size(), present);
  if (std::memcmp(block.data(), kMagic.data(), comparable) != 0) {
    const bool is_hdf5 = present >= 8 && std::memcmp(block.data(), "\x89HDF\r\n\x1a\n", 8) == 0;
    throw Error(
        ErrorKind::Input,
        {"this is not a trace of rayreplay", path.string(),
         is_hdf5 ? "an HDF5 file without rayreplay's first 512 bytes" : "a file of another kind",
         "a file that starts with RAYREPLAY",
         is_hdf5
             ? "if a tool such as h5repack dropped them: give it --ublock, then seal the file (docs/trace-format.md)"
             : ""});
  }
  if (file.size() <= kEnvelopeBytes) {
    truncated(path, file.size(), fmt::format("more than {}", kEnvelopeBytes));
  }
}

Envelope read_envelope(const FileDescriptor& file, const std::filesystem::path& path) {
  require_trace(file, path);
  std::array<std::byte, kEnvelopeBytes> block{};
  file.read(block, 0);
  Envelope envelope;
  envelope.version = load_at<std::uint32_t>(block, kVersionAt);
  envelope.file_bytes = load_at<std::uint64_t>(block, kLengthAt);
  std::memcpy(envelope.hash.data(), block.data() + kHashAt, envelope.hash.size());
  if (envelope.version != kFormatVersion) {
    throw Error(ErrorKind::Input,
                {"the trace has another format version", path.string(), std::to_string(envelope.version),
                 std::to_string(kFormatVersion),
                 envelope.version > kFormatVersion ? "use a newer rayreplay, or make the trace again with this one"
                                                   : "make the trace again with this rayreplay"});
  }
  if (file.size() < envelope.file_bytes) {
    truncated(path, file.size(), fmt::format("{}", envelope.file_bytes));
  }
  if (file.size() > envelope.file_bytes) {
    throw Error(ErrorKind::Input, {"the trace is longer than it was written", path.string(),
                                   fmt::format("{} bytes", file.size()), fmt::format("{}", envelope.file_bytes),
                                   "if you edited the file on purpose, seal it (docs/trace-format.md)"});
  }
  const bool rest_is_zero =
      std::memcmp(block.data() + 10, "\0\0", 2) == 0 &&
      std::all_of(block.begin() + kZerosAt, block.end(), [](std::byte b) { return b == std::byte{0}; });
  if (!rest_is_zero) {
    throw Error(ErrorKind::Input, {"the trace is damaged", path.string(),
                                   "data in the unused part of its first 512 bytes", "zeros", kFetchAgain});
  }
  return envelope;
}

void verify_content(const FileDescriptor& file, const Envelope& envelope, const std::filesystem::path& path) {
  const ContentHash found = hash_content(file);
  if (found != envelope.hash) {
    throw Error(ErrorKind::Input, {"the trace is damaged: its content is not what was written", path.string(),
                                   "hash " + to_hex(found), to_hex(envelope.hash),
                                   std::string(kFetchAgain) + "; if you edited it on purpose: rayreplay seal FILE"});
  }
}

ContentHash write_envelope(const FileDescriptor& file) {
  if (file.size() <= kEnvelopeBytes) {
    truncated(file.path(), file.size(), fmt::format("more than {}", kEnvelopeBytes));
  }
  const ContentHash hash = hash_content(file);
  std::array<std::byte, kEnvelopeBytes> block{};
  const std::uint32_t version = kFormatVersion;
  const std::uint64_t bytes = file.size();
  std::memcpy(block.data(), kMagic.data(), kMagic.size());
  std::memcpy(block.data() + kVersionAt, &version, sizeof(version));
  std::memcpy(block.data() + kLengthAt, &bytes, sizeof(bytes));
  std::memcpy(block.data() + kHashAt, hash.data(), hash.size());
  file.write(block, 0);
  return hash;
}

}  // namespace rayreplay::trace
