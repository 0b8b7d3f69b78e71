// The first 512 bytes of a trace file: what is checked before libhdf5 sees a byte. Internal to this room.
//
// Contract: the envelope is the file's HDF5 user block (docs/trace-format.md, "Envelope"): magic, format version,
// length of the file, content hash, zeros. `read_envelope` tells apart empty files, other files, other versions,
// truncated and overlong files; `verify_content` finds any changed byte behind the envelope. The content hash is
// XXH3-128 over the XXH3-128 values of consecutive 4 MiB blocks, so that it is computed in parallel.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>

#include "capture/trace/file/file_descriptor.hpp"

namespace rayreplay::trace {

inline constexpr std::uint64_t kEnvelopeBytes = 512;

using ContentHash = std::array<unsigned char, 16>;  ///< big-endian, as XXH128_canonicalFromHash gives it

struct Envelope {
  std::uint32_t version = 0;
  std::uint64_t file_bytes = 0;
  ContentHash hash{};
};

[[nodiscard]] std::string to_hex(const ContentHash& hash);

/// Throws Input unless the file starts with a sound envelope of this version and has the length it states.
[[nodiscard]] Envelope read_envelope(const FileDescriptor& file, const std::filesystem::path& path);

/// Throws Input unless the file starts as a trace does and has content: what sealing asks for.
void require_trace(const FileDescriptor& file, const std::filesystem::path& path);

/// Throws Input unless the content has the envelope's hash.
void verify_content(const FileDescriptor& file, const Envelope& envelope, const std::filesystem::path& path);

/// Hashes what stands behind the envelope and writes the envelope; returns the hash. Checks nothing.
ContentHash write_envelope(const FileDescriptor& file);

}  // namespace rayreplay::trace
