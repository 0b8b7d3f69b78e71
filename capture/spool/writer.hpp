// Appending to a spool from inside an application.
//
// Contract: `open` creates the file (never an existing one) and writes its first 16 bytes; each `append` adds one whole
// block, or nothing. All return false on failure, never throw, and may be called from any thread. After the first
// failure (full disk, file size limit, memory) every later append returns false and `error` says why; the file then
// ends with the last whole block and stays valid. Arguments are borrowed for the call only; arrays of 4 KiB or more are
// checksummed and written in place. Events are divided into blocks of kEventsBlockWords. Only the owner can read the
// file (0600), as it holds command lines and shaders. The application is not disturbed: no use of its standard
// descriptors (guest_files.hpp), no signal (writes beyond RLIMIT_FSIZE are refused before they are tried), no write in
// a forked child (returns false) or into a descriptor that the application closed and reused. Standard library and
// xxhash (header-only) alone.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "capture/spool/format.hpp"

namespace rayreplay::spool {

/// The extension of spool files; `ingest` reads all files of a folder that have it.
inline constexpr char kFileExtension[] = ".rrspool";

/// Appended to the name of a spool that could not be completed: a file with the reason, or empty if the disk is full.
inline constexpr char kFailedExtension[] = ".failed";

/// Most words of an Events block (16 MiB): damage costs one block.
inline constexpr std::uint64_t kEventsBlockWords = std::uint64_t{1} << 22;

class SpoolWriter {
 public:
  SpoolWriter() noexcept;
  ~SpoolWriter();
  SpoolWriter(const SpoolWriter&) = delete;
  SpoolWriter& operator=(const SpoolWriter&) = delete;

  bool open(const std::string& path) noexcept;
  [[nodiscard]] bool is_open() const noexcept;

  bool append(const Process& block) noexcept;
  bool append(const Device& block) noexcept;
  bool append(const Shader& block) noexcept;
  bool append(const Pipeline& block) noexcept;
  bool append(const Structure& block) noexcept;
  bool append(const Launch& block) noexcept;
  bool append(const Events& block) noexcept;
  bool append(const Note& block) noexcept;
  bool append(const End& block) noexcept;
  bool append(const Seen& block) noexcept;
  bool append(const Counters& block) noexcept;
  bool append(const Counts& block) noexcept;
  bool append(const Paths& block) noexcept;
  bool append(const Accesses& block) noexcept;
  bool append(const PipelineFacts& block) noexcept;
  bool append(const Images& block) noexcept;
  /// As Events blocks of `count` words, of which the first is word `first_word` of the launch.
  bool append_events(std::uint32_t launch, std::uint64_t first_word, const std::uint32_t* words,
                     std::uint64_t count) noexcept;

  /// "" without failures. Set before an append returns false; must not be read during other appends.
  [[nodiscard]] const std::string& error() const noexcept;
  /// Bytes of the file so far.
  [[nodiscard]] std::uint64_t bytes() const noexcept;
  void close() noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rayreplay::spool
