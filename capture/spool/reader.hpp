// Reading a spool: whole blocks in order, skipping damage.
//
// Contract: the constructor maps the file and finds all whole blocks (header in range, checksum right, sequence numbers
// rising). After a damaged block the next whole one is searched at every 8-byte boundary; skipped bytes count as lost.
// A file that ends inside a block is valid up to it (`cut_bytes`). Payloads are spans into the mapping and live as long
// as the reader. Files are untrusted: nothing is used unchecked, and the search checksums at most kSearchFactor times
// the file's bytes. Errors: Input if the file cannot be read, is empty, is no spool or has another version. The file
// must not change while it is read. Cost: one pass over the bytes, on one core.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "capture/spool/format.hpp"

namespace rayreplay::spool {

inline constexpr std::uint64_t kSearchFactor = 8;

struct Block {
  BlockType type = BlockType::Note;  ///< one of those that exist
  std::uint64_t position = 0;        ///< of its header in the file
  std::uint64_t sequence = 0;
  std::span<const std::byte> payload;  ///< 8-byte aligned
};

/// An Events block whose words stay in the mapping.
struct EventsView {
  std::uint32_t launch = 0;
  std::uint64_t first_word = 0;
  std::span<const std::uint32_t> words;
};
/// Empty unless `payload` is exactly an Events.
[[nodiscard]] std::optional<EventsView> view_events(std::span<const std::byte> payload);

class SpoolReader {
 public:
  explicit SpoolReader(const std::filesystem::path& path);
  ~SpoolReader();
  SpoolReader(const SpoolReader&) = delete;
  SpoolReader& operator=(const SpoolReader&) = delete;

  [[nodiscard]] const std::vector<Block>& blocks() const {
    return blocks_;
  }
  /// Skipped bytes between whole blocks.
  [[nodiscard]] std::uint64_t lost_bytes() const {
    return lost_bytes_;
  }
  [[nodiscard]] std::uint64_t damaged_places() const {
    return damaged_places_;
  }
  /// Bytes after the last whole block: an unfinished block, or damage at the end.
  [[nodiscard]] std::uint64_t cut_bytes() const {
    return cut_bytes_;
  }
  /// Releases the file's pages from memory; they are read again on use. The payloads stay valid.
  void forget_pages() const;
  [[nodiscard]] std::uint64_t file_bytes() const {
    return bytes_.size();
  }

 private:
  void find_blocks();
  [[nodiscard]] std::optional<Block> block_at(std::uint64_t position);

  std::span<const std::byte> bytes_;
  std::vector<Block> blocks_;
  std::uint64_t lost_bytes_ = 0, damaged_places_ = 0, cut_bytes_ = 0;
  std::uint64_t checksummed_ = 0;
  std::uint64_t next_sequence_ = 0;
};

}  // namespace rayreplay::spool
