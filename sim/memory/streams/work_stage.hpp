// The stage of the ray-tracing pipeline that a warp is in.
//
// Contract: the shader instructions of a row (warp_work.hpp) belong to one stage, and so does a clause. Tests and waits
// for the ray-tracing unit belong to Traversal. A *round* of shader calls has at most one call of each lane. If its
// calls are of several stages, it belongs to the stage whose different calls take longest in sum (`LongestStage`).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace rayreplay::memory {

enum class WorkStage : std::uint8_t {
  RayGeneration,  ///< also trace calls of other shaders, and pixels
  Traversal,
  Intersection,
  AnyHit,
  ClosestHit,
  Miss,
  Callable,
  Exchange,  ///< delays of exchanges, and moves of live state
};
inline constexpr std::size_t kWorkStages = 8;

/// By WorkStage.
inline constexpr std::array<const char*, kWorkStages> kWorkStageNames = {
    "ray generation", "traversal", "intersection", "any-hit", "closest-hit", "miss", "callable", "exchange"};

/// The stage with the most cycles; ties: the one with more instructions, then the first of the enumeration.
class LongestStage {
 public:
  void add(WorkStage stage, std::uint32_t instructions, std::uint32_t cycles) {
    Sum& sum = sums_[static_cast<std::size_t>(stage)];
    sum.calls = 1;
    sum.cycles += cycles;
    sum.instructions += instructions;
  }
  /// Without calls: ray generation.
  [[nodiscard]] WorkStage stage() const {
    return static_cast<WorkStage>(std::max_element(sums_.begin(), sums_.end()) - sums_.begin());
  }

 private:
  struct Sum {
    std::uint64_t cycles = 0, instructions = 0, calls = 0;
    auto operator<=>(const Sum&) const = default;
  };
  std::array<Sum, kWorkStages> sums_{};
};

}  // namespace rayreplay::memory
