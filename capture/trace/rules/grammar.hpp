// The grammar of a ray's events (validate.hpp) as a table of states, and what each kind of event demands. Internal.
#pragma once

#include <array>
#include <cstdint>

#include "capture/trace/trace.hpp"

namespace rayreplay::trace {

/// Where a ray stands. "Open": within an Intersection, whose reports may still come.
enum class RayState : std::uint8_t {
  Over = 0,            ///< not begun, or ended by Miss, ClosestHit or a Callable
  Traversal,           ///< begun; no Intersection open
  AnyHit,              ///< an AnyHit of its own: may be ignored or may terminate
  Open,                ///< an Intersection, which may report
  Reported,            ///< a report, which may have its AnyHit
  ReportAnyHit,        ///< the AnyHit of a report
  Traversed,           ///< traversal is over, as a Reorder told; its Miss or ClosestHit may come
  OcclusionTraversal,  ///< the same for OcclusionBegin, which has no ClosestHit
  OcclusionAnyHit,
  OcclusionOpen,
  OcclusionReported,
  OcclusionReportAnyHit,
  OcclusionTraversed,
  Broken,  ///< the grammar does not allow what happened; stays
};
inline constexpr std::size_t kRayStates = 14;
inline constexpr std::size_t kKindSlots = 16;  ///< kinds that do not exist lead to Broken

using GrammarTable = std::array<std::array<RayState, kKindSlots>, 16>;

[[nodiscard]] constexpr GrammarTable make_grammar() {
  GrammarTable table{};
  for (auto& row : table) {
    row.fill(RayState::Broken);
  }
  const auto at = [&](RayState from, EventKind kind) -> RayState& {
    return table[static_cast<std::size_t>(from)][static_cast<std::size_t>(kind)];
  };
  for (std::size_t s = 0; s + 1 < kRayStates; ++s) {
    const auto from = static_cast<RayState>(s);
    at(from, EventKind::Begin) = RayState::Traversal;
    at(from, EventKind::OcclusionBegin) = RayState::OcclusionTraversal;
    at(from, EventKind::Callable) = RayState::Over;
    at(from, EventKind::Reorder) = RayState::Over;
    if (from == RayState::Over) {
      continue;
    }
    const bool occlusion = from >= RayState::OcclusionTraversal;
    const auto shift = [&](RayState state) {
      return static_cast<RayState>(static_cast<std::size_t>(state) + (occlusion ? 6U : 0U));
    };
    at(from, EventKind::Reorder) = shift(RayState::Traversed);
    at(from, EventKind::Miss) = RayState::Over;
    if (!occlusion) {
      at(from, EventKind::ClosestHit) = RayState::Over;
    }
    if (from == shift(RayState::Traversed)) {
      continue;
    }
    at(from, EventKind::Intersection) = shift(RayState::Open);
    at(from, EventKind::AnyHit) =
        from == shift(RayState::Reported) ? shift(RayState::ReportAnyHit) : shift(RayState::AnyHit);
    if (from == shift(RayState::Open) || from == shift(RayState::Reported) || from == shift(RayState::ReportAnyHit)) {
      at(from, EventKind::ReportIntersection) = shift(RayState::Reported);
    }
    for (const EventKind kind : {EventKind::IgnoreIntersection, EventKind::TerminateRay}) {
      if (from == shift(RayState::AnyHit)) {
        at(from, kind) = shift(RayState::Traversal);
      } else if (from == shift(RayState::ReportAnyHit)) {
        at(from, kind) = shift(RayState::Open);
      }
    }
  }
  return table;
}

inline constexpr GrammarTable kGrammar = make_grammar();

[[nodiscard]] constexpr RayState next_state(RayState state, EventKind kind) {
  return kGrammar[static_cast<std::size_t>(state)][static_cast<std::size_t>(kind) % kKindSlots];
}

[[nodiscard]] constexpr std::uint8_t stage_bit(ShaderStage stage) {
  return static_cast<std::uint8_t>(1U << static_cast<unsigned>(stage));
}

/// Stages whose shaders make an event of this kind.
[[nodiscard]] constexpr std::uint8_t legal_stages(EventKind kind) {
  switch (kind) {
    case EventKind::Begin:
    case EventKind::OcclusionBegin:
      return stage_bit(ShaderStage::RayGeneration) | stage_bit(ShaderStage::ClosestHit) | stage_bit(ShaderStage::Miss);
    case EventKind::Intersection:
    case EventKind::ReportIntersection:
      return stage_bit(ShaderStage::Intersection);
    case EventKind::AnyHit:
    case EventKind::IgnoreIntersection:
    case EventKind::TerminateRay:
      return stage_bit(ShaderStage::AnyHit);
    case EventKind::Miss:
      return stage_bit(ShaderStage::Miss);
    case EventKind::ClosestHit:
      return stage_bit(ShaderStage::ClosestHit);
    case EventKind::Callable:
      return stage_bit(ShaderStage::Callable);
    case EventKind::Reorder:
      return stage_bit(ShaderStage::RayGeneration);
  }
  return 0;
}

/// Whether the event may belong to no ray.
[[nodiscard]] constexpr bool may_be_of_no_ray(EventKind kind) {
  return kind == EventKind::Callable || kind == EventKind::Reorder;
}

[[nodiscard]] constexpr bool carries_hit_kind(EventKind kind) {
  return kind == EventKind::ReportIntersection || kind == EventKind::AnyHit || kind == EventKind::ClosestHit;
}

}  // namespace rayreplay::trace
