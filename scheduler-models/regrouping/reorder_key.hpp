// Reorder keys of waiting threads (MODELS.md §7; NVIDIA's SER white paper for the order of the parts).
//
// Contract: a key holds, from the most significant part: shader, hint, place in space. Segments that open with no
// pending ClosestHit or Miss have key 0.
//   shader   the low `shader_bits` bits of the call's number; calls are numbered by kind (Miss before ClosestHit), then
//            shader id
//   hint     the high `hint_bits` bits of the hint
//   space    Morton code of `spatial_bits` bits an axis over the box of all points of the launch: `hit`: the hit point
//            (origin + t · direction of the pending ray; a miss: its direction), `ray`: the pending ray's origin
// Usage for parts of more than 64 bits together. O(segments), parallel; 8 bytes a segment. Missing when places are
// wanted and the trace has none (hits without a finite t > 0, or rays not captured); `check_rays` and `check_hits`
// throw it.
//
// On a device where the context names one, except values of hints from formulas or files, and places if its doubles are
// not exact. `keys_on_cpu` gives the same on the CPU for any context.
#pragma once

#include <cstdint>
#include <string>

#include "scheduler-models/regrouping/scheduler_model.hpp"

namespace rayreplay::scheduler {

enum class SpatialKey : std::uint8_t { None, Hit, Ray };

struct KeyParts {
  std::uint32_t shader_bits = 17;  ///< 17: the whole number
  std::uint32_t hint_bits = 32;    ///< at most as many as the hint has
  std::string hint = "auto";       ///< as `make_hints` takes it
  SpatialKey spatial = SpatialKey::None;
  std::uint32_t spatial_bits = 8;  ///< an axis, 1 to 16
};

/// Bits of the place beside `hint_bits` bits of a hint. Usage for parts that are out of range or do not fit.
[[nodiscard]] std::uint32_t place_bits(const KeyParts& parts, std::uint32_t hint_bits);

/// By segment.
[[nodiscard]] trace::Column<std::uint64_t> reorder_keys(const PlanContext& context, const KeyParts& parts);
[[nodiscard]] trace::Column<std::uint64_t> keys_on_cpu(const PlanContext& context, const KeyParts& parts);

void check_rays(const trace::Launch& launch);
void check_hits(const trace::Launch& launch, bool any_hit);

inline constinit Twin<trace::Column<std::uint64_t>(const PlanContext&, const KeyParts&)> reorder_keys_twin{
    "reorder keys"};

}  // namespace rayreplay::scheduler
