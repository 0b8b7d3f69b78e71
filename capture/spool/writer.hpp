// Appending to a spool from inside an application.
//
// Contract: `open` creates the file (never an existing one) and writes its first 16 bytes; each `append` adds one whole
// block, or nothing. All return false on failure, never throw, and may be called from any thread. After the first
// failure (full disk, file size limit, memory) every later append returns false at once and `error` says why; the file
// then ends with the last whole block and stays valid. What the caller passes is borrowed for the call alone; arrays
// of 4 KiB or more are checksummed and written where they lie. Events are cut into blocks of kEventsBlockWords.
// The file is its owner's alone (0600), as it holds command lines and shaders.
// The application is never disturbed: none of its standard descriptors is taken (guest_files.hpp), no signal (writes
// beyond RLIMIT_FSIZE are refused before they are tried), nothing written in a forked child (it returns false there) or
// into a descriptor that the application closed and took for its own. Standard library and xxhash (header-only) alone.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "capture/spool/format.hpp"

namespace rayreplay::spool {

/// What the names of spool files end with; `ingest` reads all files of a folder that do.
inline constexpr char kFileExtension[] = ".rrspool";

/// Behind the whole name of a spool that could not be written to its end: a file that holds the reason, or nothing
/// where even that had no room.
inline constexpr char kFailedExtension[] = ".failed";

/// Words in an Events block at most (16 MiB): damage costs no more than one block.
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
  /// As Events blocks of `count` words, of which the first is word `first_word` of the launch.
  bool append_events(std::uint32_t launch, std::uint64_t first_word, const std::uint32_t* words,
                     std::uint64_t count) noexcept;

  /// "" as long as all went well. Settled before an append returns false; do not read it while others append.
  [[nodiscard]] const std::string& error() const noexcept;
  /// Of the file so far.
  [[nodiscard]] std::uint64_t bytes() const noexcept;
  void close() noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rayreplay::spool
