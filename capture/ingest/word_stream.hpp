// The words of a launch as one stream across several blocks. Internal to this room.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "capture/spool/reader.hpp"

namespace rayreplay::ingest {

class WordStream {
 public:
  /// Parts in order of first_word. Ends before the first gap, and after `words`, what the launch claims.
  WordStream(const std::vector<spool::EventsView>& parts, std::uint64_t words) {
    for (const spool::EventsView& part : parts) {
      received_ += part.words.size();
      if (part.first_word == words_ && !part.words.empty() && words_ < words) {
        const auto count = std::min<std::uint64_t>(part.words.size(), words - words_);
        parts_.push_back(part.words.first(count));
        words_ += count;
      }
    }
  }
  [[nodiscard]] std::uint64_t words() const {
    return words_;
  }
  /// Words in the file, reachable or not.
  [[nodiscard]] std::uint64_t received() const {
    return received_;
  }
  [[nodiscard]] std::uint64_t left() const {
    return words_ - done_;
  }
  /// The next `count` words (at most `left`) in place, or copied to `copy` if they straddle two parts.
  const std::uint32_t* peek(std::uint32_t count, std::uint32_t* copy) const {
    const std::span<const std::uint32_t> here = parts_[part_].subspan(place_);
    if (here.size() >= count) {
      return here.data();
    }
    std::size_t part = part_;
    std::size_t place = place_;
    for (std::uint32_t i = 0; i < count; ++i, ++place) {
      while (place == parts_[part].size()) {
        ++part;
        place = 0;
      }
      copy[i] = parts_[part][place];
    }
    return copy;
  }
  void skip(std::uint64_t count) {
    done_ += count;
    place_ += count;
    while (part_ < parts_.size() && place_ >= parts_[part_].size()) {
      place_ -= parts_[part_++].size();
    }
  }
  /// Whether all words that are left are 0.
  [[nodiscard]] bool rest_is_zero() const {
    for (std::size_t part = part_; part < parts_.size(); ++part) {
      const auto words = parts_[part].subspan(part == part_ ? place_ : 0);
      if (!std::all_of(words.begin(), words.end(), [](std::uint32_t word) { return word == 0; })) {
        return false;
      }
    }
    return true;
  }

 private:
  std::vector<std::span<const std::uint32_t>> parts_;
  std::uint64_t words_ = 0, received_ = 0, done_ = 0;
  std::size_t part_ = 0, place_ = 0;
};

}  // namespace rayreplay::ingest
