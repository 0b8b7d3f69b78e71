// The kinds of observed tests (MODELS.md §8) and counts of them.
//
// Contract: t is the distance of the ray's hit on the primitive, t_in of its entry into the primitive's original box,
// t* of its closest accepted hit. Every test has exactly one kind.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace rayreplay::traversal {

enum class TestKind : std::uint8_t {
  Necessary = 0,       ///< hit at t ≤ t*
  BoxMiss,             ///< t_in ≤ t*, not hit
  Overlap,             ///< R1: t_in ≤ t* < t
  Enlargement,         ///< R2: the original box is not met at all
  Order,               ///< R3: t* < t_in, enlarged boxes too
  EnlargementOrOrder,  ///< R2 or R3: t* < t_in, but an enlarged box is entered at ≤ t*
  BeforeTMin,          ///< the original box is met in [0, t_min) alone
};
inline constexpr std::size_t kTestKinds = 7;
[[nodiscard]] const char* to_string(TestKind kind);  ///< "box miss", "R1 overlap", …
/// For keys and file names: "box_miss", "overlap", …
[[nodiscard]] const char* to_key(TestKind kind);

using KindCounts = std::array<std::uint64_t, kTestKinds>;

[[nodiscard]] constexpr std::uint64_t sum(const KindCounts& counts) {
  std::uint64_t total = 0;
  for (const std::uint64_t count : counts) {
    total += count;
  }
  return total;
}

/// R1, R2, R3, "R2 or R3" and before t_min: tests that the ideal order of hits along the ray does not make.
[[nodiscard]] constexpr std::uint64_t beyond(const KindCounts& counts) {
  return counts[static_cast<std::size_t>(TestKind::Overlap)] + counts[static_cast<std::size_t>(TestKind::Enlargement)] +
         counts[static_cast<std::size_t>(TestKind::Order)] +
         counts[static_cast<std::size_t>(TestKind::EnlargementOrOrder)] +
         counts[static_cast<std::size_t>(TestKind::BeforeTMin)];
}

}  // namespace rayreplay::traversal
