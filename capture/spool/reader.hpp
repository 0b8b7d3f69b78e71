// Reading a spool: whole blocks in order, past damage.
//
// Contract: the constructor maps the file and finds every block that is whole (header in range, checksum right,
// sequence numbers rising). Where a block is damaged, the next whole one is searched for at every 8-byte boundary
// behind; bytes between are counted as lost. A file that ends in the middle of a block is sound up to there
// (`cut_bytes`). Payloads are spans into the mapping and live as long as the reader. A file is untrusted: nothing is
// used before it was checked, and the search checksums at most kSearchFactor times the file's bytes. Errors: Input if
// the file cannot be read, is empty, is no spool or one of another version. Do not change the file while it is read.
// Cost: one pass over the bytes, on one core.
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

/// An Events block whose words stay where they are.
struct EventsView {
  std::uint32_t launch = 0;
  std::uint64_t first_word = 0;
  std::span<const std::uint32_t> words;
};
/// Nothing unless `payload` is exactly an Events.
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
  /// Bytes between whole blocks that belong to none.
  [[nodiscard]] std::uint64_t lost_bytes() const {
    return lost_bytes_;
  }
  [[nodiscard]] std::uint64_t damaged_places() const {
    return damaged_places_;
  }
  /// Bytes behind the last whole block: the block that was being written, or damage to the end.
  [[nodiscard]] std::uint64_t cut_bytes() const {
    return cut_bytes_;
  }
  /// Takes the file's pages out of this process's memory until they are read again. The payloads stay valid.
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
