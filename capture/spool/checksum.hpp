// The checksum of a block's payload: XXH3-64 with the block's sequence number as seed. Internal to this room.
#pragma once

// The library's code becomes part of this file, hidden: nothing to link, no symbol visible to an application.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstddef>
#include <cstdint>

namespace rayreplay::spool {

class Checksum {
 public:
  explicit Checksum(std::uint64_t seed) {
    XXH3_INITSTATE(&state_);
    XXH3_64bits_reset_withSeed(&state_, seed);
  }
  void update(const void* data, std::size_t bytes) {
    XXH3_64bits_update(&state_, data, bytes);
  }
  [[nodiscard]] std::uint64_t value() const {
    return XXH3_64bits_digest(&state_);
  }

 private:
  XXH3_state_t state_;
};

}  // namespace rayreplay::spool
