// Hits of many LRU caches on devices: the calls of lru_hits.hpp to kernels/caches.
//
// Contract: lru_hits.hpp. Streams are processed in batches of as many whole ones as fit; devices share the numbers of
// sets. Errors: DeviceError, Memory if one stream alone is too long.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/device/device.hpp"

namespace rayreplay::memory {

struct LruStreams {
  std::span<const std::uint64_t> lines;
  std::span<const std::uint64_t> begins;

  [[nodiscard]] std::size_t count() const {
    return begins.size() - 1;
  }
  [[nodiscard]] std::span<const std::uint64_t> of(std::size_t stream) const {
    return lines.subspan(begins[stream], begins[stream + 1] - begins[stream]);
  }
};

/// Configurations of one number of sets.
struct LruGroup {
  std::uint64_t sets = 1;
  std::vector<std::uint64_t> ways;  ///< ascending, different
};

/// By group, number of ways, stream.
using LruGroupHits = std::vector<std::vector<std::vector<std::uint64_t>>>;

[[nodiscard]] inline LruGroupHits no_hits(const LruStreams& streams, const std::vector<LruGroup>& groups) {
  LruGroupHits hits;
  for (const LruGroup& group : groups) {
    hits.emplace_back(group.ways.size(), std::vector<std::uint64_t>(streams.count()));
  }
  return hits;
}

[[nodiscard]] LruGroupHits lru_hits_on_devices(const LruStreams& streams, const std::vector<LruGroup>& groups,
                                               std::span<kernels::Device* const> devices);

}  // namespace rayreplay::memory
