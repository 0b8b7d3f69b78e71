// The fast check of events: one pass over the columns, almost without branches; a thread is sound or it is not.
#include <bit>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "capture/trace/event_context.hpp"
#include "capture/trace/parallel_search.hpp"

namespace rayreplay::trace {
namespace {

constexpr std::uint32_t kInfinityBits = 0x7F80'0000U;

template <class Predicate>
constexpr std::uint32_t kinds_where(Predicate&& predicate) {
  std::uint32_t mask = 0;
  for (std::uint32_t k = 0; k < kEventKinds; ++k) {
    mask |= predicate(static_cast<EventKind>(k)) ? 1U << k : 0U;
  }
  return mask;
}
constexpr std::uint32_t kCarriesHit = kinds_where(carries_hit);
constexpr std::uint32_t kCarriesHitKind = kinds_where(carries_hit_kind);

constexpr std::array<std::uint8_t, kKindSlots> make_legal_stages() {
  std::array<std::uint8_t, kKindSlots> table{};
  for (std::size_t k = 0; k < kEventKinds; ++k) {
    table[k] = legal_stages(static_cast<EventKind>(k));
  }
  return table;
}
constexpr auto kLegalStages = make_legal_stages();

bool is_any(std::uint32_t kind, EventKind wanted) {
  return kind == static_cast<std::uint32_t>(wanted);
}

/// Follows the grammar where every event belongs to the ray begun last.
class SequentialRays {
 public:
  explicit SequentialRays(const Events&) {}
  void enter_thread(std::uint64_t /*rays*/) {
    state_ = RayState::Over;
    intersection_ = kNowhere;
  }
  bool step(std::size_t /*event*/, std::uint32_t kind, std::uint64_t /*begun*/) {
    state_ = kGrammar[static_cast<std::size_t>(state_)][kind];
    return state_ != RayState::Broken;
  }
  void intersection_at(std::size_t event) {
    intersection_ = event;
  }
  [[nodiscard]] std::size_t last_intersection(std::size_t /*event*/) const {
    return intersection_;
  }
  static constexpr std::size_t kNowhere = ~std::size_t{0};

 private:
  RayState state_ = RayState::Over;
  std::size_t intersection_ = kNowhere;
};

/// The same where each event names its ray.
class NamedRays {
 public:
  explicit NamedRays(const Events& events) : ray_(events.ray) {}
  void enter_thread(std::uint64_t rays) {
    states_.assign(rays, RayState::Over);
    intersections_.assign(rays, kNowhere);
  }
  /// `begun`: rays begun before this event.
  bool step(std::size_t event, std::uint32_t kind, std::uint64_t begun) {
    const std::uint32_t ray = ray_[event];
    if (is_any(kind, EventKind::Begin) || is_any(kind, EventKind::OcclusionBegin)) {
      if (ray != begun || ray >= states_.size()) {
        return false;
      }
    } else if (ray >= begun || ray >= states_.size()) {
      return ray == kNone && is_any(kind, EventKind::Callable);
    }
    RayState& state = states_[ray];
    state = kGrammar[static_cast<std::size_t>(state)][kind];
    return state != RayState::Broken;
  }
  void intersection_at(std::size_t event) {
    if (ray_[event] < intersections_.size()) {
      intersections_[ray_[event]] = event;
    }
  }
  [[nodiscard]] std::size_t last_intersection(std::size_t event) const {
    return ray_[event] < intersections_.size() ? intersections_[ray_[event]] : kNowhere;
  }
  static constexpr std::size_t kNowhere = SequentialRays::kNowhere;

 private:
  const Column<std::uint32_t>& ray_;
  std::vector<RayState> states_;
  std::vector<std::size_t> intersections_;
};

template <class RayTracker, bool HasScene, bool HasGeometry>
bool scan(const EventContext& context, std::size_t first, std::size_t last) {
  const ThreadData& data = context.launch.data;
  const Events& events = data.events;
  const std::uint8_t* const stages = context.shader_stage.data();
  const std::uint32_t* const limits = context.first_primitives.data();
  const auto instances = static_cast<std::uint32_t>(context.first_primitives.size() - 1);
  RayTracker rays(events);
  unsigned bad = 0;
  for (std::size_t thread = first; thread < last; ++thread) {
    std::uint64_t ray = data.ray_offset[thread];
    const std::uint64_t ray_end = data.ray_offset[thread + 1];
    const std::uint64_t ray_begin = ray;
    rays.enter_thread(ray_end - ray);
    const std::size_t end = data.event_offset[thread + 1];
    for (std::size_t e = data.event_offset[thread]; e < end; ++e) {
      const auto raw_kind = static_cast<std::uint32_t>(events.kind[e]);
      const std::uint32_t kind = raw_kind % kKindSlots;
      bad |= static_cast<unsigned>(raw_kind >= kEventKinds);
      bad |= static_cast<unsigned>(!rays.step(e, kind, ray - ray_begin));
      bad |= static_cast<unsigned>((kLegalStages[kind] & stages[events.shader[e]]) == 0);
      if (kind <= static_cast<std::uint32_t>(EventKind::OcclusionBegin)) {
        if (ray >= ray_end) {
          return false;
        }
        const bool skips = (data.rays.flags[ray] & kRayFlagSkipClosestHit) != 0;
        bad |= static_cast<unsigned>(skips != is_any(kind, EventKind::OcclusionBegin));
        ++ray;
      }

      const bool hit = ((kCarriesHit >> kind) & 1U) != 0;
      const bool report = is_any(kind, EventKind::ReportIntersection);
      const std::uint32_t t_bits = std::bit_cast<std::uint32_t>(events.t[e]) & 0x7FFF'FFFFU;
      const std::uint32_t instance = events.instance[e];
      const std::uint32_t primitive = events.primitive[e];
      const std::uint32_t geometry = HasGeometry ? events.geometry[e] : 0U;
      const std::uint8_t accepted = events.accepted[e];
      bad |= static_cast<unsigned>(!hit & ((t_bits | instance | primitive | geometry) != 0));
      bad |= static_cast<unsigned>(hit & (t_bits > kInfinityBits) & (!report | (accepted != 0)));
      bad |= static_cast<unsigned>(accepted > static_cast<unsigned>(report));
      bad |= static_cast<unsigned>((events.hit_kind[e] != 0) & (((kCarriesHitKind >> kind) & 1U) == 0));
      if constexpr (HasScene) {
        if constexpr (HasGeometry) {
          bad |= static_cast<unsigned>(hit && primitive >= context.primitives(instance, geometry));
        } else {
          bad |= static_cast<unsigned>(hit & (primitive >= limits[std::min(instance, instances)]));
        }
      }
      if (is_any(kind, EventKind::Intersection)) {
        rays.intersection_at(e);
      } else if (report) {
        const std::size_t of = rays.last_intersection(e);
        if (of == RayTracker::kNowhere) {
          return false;
        }
        bad |= static_cast<unsigned>((events.instance[of] != instance) | (events.primitive[of] != primitive));
        if constexpr (HasGeometry) {
          bad |= static_cast<unsigned>(events.geometry[of] != geometry);
        }
      }
    }
    bad |= static_cast<unsigned>(ray != ray_end);
  }
  return bad == 0;
}

template <class RayTracker>
bool scan_as(const EventContext& context, std::size_t first, std::size_t last) {
  const bool has_geometry = !context.launch.data.events.geometry.empty();
  if (context.scene.instances.empty()) {
    return has_geometry ? scan<RayTracker, false, true>(context, first, last)
                        : scan<RayTracker, false, false>(context, first, last);
  }
  return has_geometry ? scan<RayTracker, true, true>(context, first, last)
                      : scan<RayTracker, true, false>(context, first, last);
}

bool groups_are_sound(const Launch& launch, std::size_t first, std::size_t last) {
  const auto& group = launch.data.events.group;
  unsigned bad = 0;
  for (std::size_t e = first; !group.empty() && e < last; ++e) {
    bad |= static_cast<unsigned>(group[e] >= launch.groups.size());
  }
  return bad == 0;
}

bool bindings_are_sound(const Rays& rays, std::size_t first, std::size_t last) {
  unsigned seen = 0;
  for (std::size_t r = first; r < last; ++r) {
    seen |= static_cast<unsigned>(rays.sbt_offset[r]) | static_cast<unsigned>(rays.sbt_stride[r]);
  }
  return seen < 16;
}

}  // namespace

EventContext::EventContext(const Launch& launch_in, std::string path_in, const std::vector<Shader>& shaders_in,
                           const Scene& scene_in)
    : launch(launch_in),
      path(std::move(path_in)),
      shaders(shaders_in),
      scene(scene_in),
      shader_stage(std::size_t{1} << 16) {
  for (std::size_t i = 0; i < shaders.size(); ++i) {
    shader_stage[i] = stage_bit(shaders[i].stage);
  }
  for (std::size_t i = 0; i < scene.instances.size(); ++i) {
    first_primitives.push_back(static_cast<std::uint32_t>(primitives(static_cast<std::uint32_t>(i), 0)));
  }
  first_primitives.push_back(0);
}

std::uint64_t EventContext::primitives(std::uint32_t instance, std::uint32_t geometry) const {
  if (instance >= scene.instances.size()) {
    return 0;
  }
  const Blas& blas = scene.blases[scene.instances[instance].blas];
  return geometry < blas.geometry_count ? scene.geometries[blas.first_geometry + geometry].primitives() : 0;
}

bool threads_are_sound(const EventContext& context, std::size_t first, std::size_t last) {
  const ThreadData& data = context.launch.data;
  const bool sound = data.events.ray.empty() ? scan_as<SequentialRays>(context, first, last)
                                             : scan_as<NamedRays>(context, first, last);
  return sound && groups_are_sound(context.launch, data.event_offset[first], data.event_offset[last]) &&
         bindings_are_sound(data.rays, data.ray_offset[first], data.ray_offset[last]);
}

void check_events(const Launch& launch, const std::string& path, const std::vector<Shader>& shaders, const Scene& scene,
                  FaultList& faults) {
  if (faults.full()) {
    return;
  }
  const EventContext context(launch, path, shaders, scene);
  const std::size_t threads = launch.data.threads();
  // Blocks of about equal numbers of events, if threads are alike.
  constexpr std::size_t kEventsTogether = std::size_t{1} << 16;
  const std::size_t events_a_thread = launch.data.events.size() / threads + 1;
  const std::size_t grain = std::max<std::size_t>(1, kEventsTogether / events_a_thread);
  const auto has_fault = [&](std::size_t begin, std::size_t end) -> std::optional<std::size_t> {
    if (threads_are_sound(context, begin, end)) {
      return std::nullopt;
    }
    while (threads_are_sound(context, begin, begin + 1)) {
      ++begin;
    }
    return begin;
  };
  const std::optional<std::size_t> first = first_in_blocks(0, threads, grain, has_fault);
  if (!first) {
    return;
  }
  const std::size_t known = faults.list().size();
  for (std::size_t thread = *first; thread < threads && !faults.full(); ++thread) {
    explain_thread(context, thread, faults);
  }
  if (faults.list().size() == known) {
    throw Error(ErrorKind::Internal, {"two checks of one trace disagree", fmt::format("{}, thread {}", path, *first),
                                      "no fault", "a fault", ""});
  }
}

}  // namespace rayreplay::trace
