// The face that each lane of a warp loaded last. Internal to this folder.
//
// Contract: accesses of an imported memory trace are accounted like those of a launch (instructions.hpp): a lane's
// vertices count for the face whose index triple the same lane of the same warp of the same SM loaded last. Memory is
// bounded to kWarps warps, more than a GPU holds at a time. The least recently used warp is evicted; its vertices
// then count as vertices until the lane loads the next index triple. O(1) a warp instruction.
#pragma once

#include <cstdint>
#include <list>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace rayreplay::experiment {

class LaneFaces {
 public:
  static constexpr std::size_t kWarps = 1U << 16U;

  explicit LaneFaces(std::uint32_t warp_size) : warp_size_(warp_size) {}
  /// By lane; memory::kNoElement: none yet. Valid until the next call.
  [[nodiscard]] std::span<std::uint32_t> of(std::uint32_t sm, std::uint32_t warp);

 private:
  struct Warp {
    std::uint64_t key;
    std::vector<std::uint32_t> faces;
  };

  std::uint32_t warp_size_;
  std::list<Warp> warps_;  ///< most recently used first
  std::unordered_map<std::uint64_t, std::list<Warp>::iterator> places_;
};

}  // namespace rayreplay::experiment
