// The fast check of events: almost without branches; a block of threads is sound or it is not.
#include <algorithm>
#include <bit>
#include <optional>

#include <fmt/format.h>

#include "capture/trace/parallel_search.hpp"
#include "capture/trace/rules/event_context.hpp"

namespace rayreplay::trace {
namespace {

/// For each kind, all ones where the rule holds for it.
struct KindMasks {
  std::uint32_t repeats_object = 0;  ///< has the object of its Intersection
  std::uint32_t carries_hit = 0;
  std::uint32_t carries_none = 0;
  std::uint32_t t_is_number = 0;
  std::uint8_t no_hit_kind = 0;
  std::uint8_t not_accepted = 0;  ///< bits that `accepted` cannot have
  std::uint8_t illegal_stages = 0;
};

// The last bit stands for ids that no shader has: illegal for every kind.
constexpr std::uint8_t kNoStage = 0x80;

constexpr std::array<KindMasks, kKindSlots> make_masks() {
  std::array<KindMasks, kKindSlots> table{};
  for (std::size_t k = 0; k < kEventKinds; ++k) {
    const auto kind = static_cast<EventKind>(k);
    table[k].repeats_object = kind == EventKind::ReportIntersection ? ~0U : 0U;
    table[k].carries_hit = carries_hit(kind) ? ~0U : 0U;
    table[k].carries_none = ~table[k].carries_hit;
    table[k].t_is_number = table[k].carries_hit & ~table[k].repeats_object;
    table[k].no_hit_kind = carries_hit_kind(kind) ? 0 : 0xFF;
    table[k].not_accepted = kind == EventKind::ReportIntersection ? 0xFE : 0xFF;
    table[k].illegal_stages = static_cast<std::uint8_t>(~legal_stages(kind));
  }
  return table;
}
constexpr auto kMasks = make_masks();

bool is_any(std::uint32_t kind, EventKind wanted) {
  return kind == static_cast<std::uint32_t>(wanted);
}

/// Follows the grammar where every event belongs to the ray begun last. Without branches: which kind comes next is
/// what a branch predictor cannot know.
class SequentialRays {
 public:
  explicit SequentialRays(const Events& /*events*/) {}
  void enter_thread(std::uint64_t /*rays*/, std::size_t first_event) {
    state_ = RayState::Over;
    intersection_ = first_event;
  }
  void step(std::size_t event, std::uint32_t kind, std::uint64_t /*begun*/) {
    state_ = kGrammar[static_cast<std::size_t>(state_)][kind];
    intersection_ = is_any(kind, EventKind::Intersection) ? event : intersection_;
  }
  /// Whether any ray of the thread broke the grammar: what is Broken stays so.
  [[nodiscard]] bool broken() const {
    return state_ == RayState::Broken;
  }
  /// Of the event's ray; any event where there is none, which the grammar then refuses.
  [[nodiscard]] std::size_t last_intersection(std::size_t /*event*/) const {
    return intersection_;
  }

 private:
  RayState state_ = RayState::Over;
  std::size_t intersection_ = 0;
};

/// The same where each event names its ray.
class NamedRays {
 public:
  explicit NamedRays(const Events& events) : ray_(events.ray) {}
  void enter_thread(std::uint64_t rays, std::size_t first_event) {
    states_.assign(rays, RayState::Over);
    intersections_.assign(rays, first_event);
    broken_ = false;
  }
  /// `begun`: rays begun before this event.
  void step(std::size_t event, std::uint32_t kind, std::uint64_t begun) {
    const std::uint32_t ray = ray_[event];
    const bool begins = kind <= static_cast<std::uint32_t>(EventKind::OcclusionBegin);
    if (ray >= states_.size() || (begins ? ray != begun : ray >= begun)) {
      broken_ |= ray != kNone || !may_be_of_no_ray(static_cast<EventKind>(kind));
      return;
    }
    RayState& state = states_[ray];
    state = kGrammar[static_cast<std::size_t>(state)][kind];
    broken_ |= state == RayState::Broken;
    if (is_any(kind, EventKind::Intersection)) {
      intersections_[ray] = event;
    }
  }
  [[nodiscard]] bool broken() const {
    return broken_;
  }
  [[nodiscard]] std::size_t last_intersection(std::size_t event) const {
    return ray_[event] < intersections_.size() ? intersections_[ray_[event]] : event;
  }

 private:
  const Column<std::uint32_t>& ray_;
  std::vector<RayState> states_;
  std::vector<std::size_t> intersections_;
  bool broken_ = false;
};

template <class RayTracker, bool HasScene, bool HasGeometry>
bool scan(const EventContext& context, std::size_t first, std::size_t last) {
  const ThreadData& data = context.launch.data;
  const Events& events = data.events;
  const EventKind* const kinds = events.kind.data();
  const std::uint16_t* const shaders = events.shader.data();
  const std::uint32_t* const instances = events.instance.data();
  const std::uint32_t* const primitives = events.primitive.data();
  const std::uint16_t* const geometries = events.geometry.data();
  const float* const ts = events.t.data();
  const std::uint8_t* const hit_kinds = events.hit_kind.data();
  const std::uint8_t* const accepteds = events.accepted.data();
  const std::uint8_t* const stages = context.shader_stage.data();
  const std::uint32_t* const limits = context.first_primitives.data();
  const auto no_instance = static_cast<std::uint32_t>(context.first_primitives.size() - 1);
  // Flags of a ray that is not there are never read: the first one stands in, and the count of rays tells.
  const std::uint16_t none = 0;
  const std::uint64_t all_rays = data.rays.size();
  const std::uint16_t* const flags = all_rays == 0 ? &none : data.rays.flags.data();
  RayTracker rays(events);
  std::uint32_t bad = 0;
  constexpr std::uint32_t kSlots = kKindSlots;
  constexpr std::uint32_t kInfinityBits = 0x7F80'0000U;
  for (std::size_t thread = first; thread < last; ++thread) {
    const std::uint64_t ray_begin = data.ray_offset[thread];
    const std::uint64_t ray_end = data.ray_offset[thread + 1];
    const std::size_t begin = data.event_offset[thread];
    const std::size_t end = data.event_offset[thread + 1];
    std::uint64_t ray = ray_begin;
    rays.enter_thread(ray_end - ray_begin, begin);
    for (std::size_t e = begin; e < end; ++e) {
      // Kinds 11 to 15 break the grammar, and larger ones are found here.
      const auto raw_kind = static_cast<std::uint32_t>(kinds[e]);
      const std::uint32_t kind = raw_kind % kSlots;
      const KindMasks& masks = kMasks[kind];
      rays.step(e, kind, ray - ray_begin);

      const std::uint32_t begins = kind <= static_cast<std::uint32_t>(EventKind::OcclusionBegin) ? 1 : 0;
      const std::uint32_t skips = flags[ray < all_rays ? ray : 0] / std::uint32_t{kRayFlagSkipClosestHit};
      const std::uint32_t of_flags = (skips ^ kind) & begins;  // of the two kinds, OcclusionBegin is 1
      ray += begins;

      const std::uint32_t instance = instances[e];
      const std::uint32_t primitive = primitives[e];
      const std::uint32_t geometry = HasGeometry ? geometries[e] : 0U;
      std::uint32_t outside = 0;
      if constexpr (HasScene && HasGeometry) {
        outside = primitive >= context.primitives(instance, geometry) ? ~0U : 0U;
      } else if constexpr (HasScene) {
        outside = primitive >= limits[std::min(instance, no_instance)] ? ~0U : 0U;
      }
      const std::size_t of = rays.last_intersection(e);
      std::uint32_t other = (instances[of] ^ instance) | (primitives[of] ^ primitive);
      if constexpr (HasGeometry) {
        other |= geometries[of] ^ geometry;
      }
      const std::uint32_t t_bits = std::bit_cast<std::uint32_t>(ts[e]) & 0x7FFF'FFFFU;
      const std::uint32_t not_a_number = (kInfinityBits - t_bits) >> 31U;  // the difference is below zero
      const std::uint32_t accepted = accepteds[e];

      const std::uint32_t of_shader = std::uint32_t{masks.illegal_stages} & stages[shaders[e]];
      const std::uint32_t of_hit = (t_bits | instance | primitive | geometry) & masks.carries_none;
      const std::uint32_t of_t = not_a_number & (masks.t_is_number | accepted);
      const std::uint32_t of_bytes =
          (accepted & masks.not_accepted) | (std::uint32_t{hit_kinds[e]} & masks.no_hit_kind);
      const std::uint32_t of_object = (outside & masks.carries_hit) | (other & masks.repeats_object);
      bad |= ((raw_kind & ~(kSlots - 1U)) | of_flags | of_shader) | (of_hit | of_t) | (of_bytes | of_object);
    }
    bad |= ray != ray_end || rays.broken() ? 1U : 0U;
  }
  return bad == 0;
}

template <class RayTracker>
bool scan_as(const EventContext& context, std::size_t first, std::size_t last) {
  const bool has_geometry = !context.launch.data.events.geometry.empty();
  if (!context.has_scene()) {
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
      shader_stage(std::size_t{1} << 16, kNoStage),
      has_scene_(!scene_in.instances.empty() && launch_in.tlas != kNone),
      instances_(scene_in.instances) {
  if (!has_scene_) {
    instances_ = {};
  } else if (!scene.tlases.empty()) {
    const Tlas& tlas = scene.tlases[launch.tlas];
    instances_ = instances_.subspan(tlas.first_instance, tlas.instance_count);
  }
  for (std::size_t i = 0; i < shaders.size(); ++i) {
    shader_stage[i] = stage_bit(shaders[i].stage);
  }
  for (std::size_t i = 0; i < instances_.size(); ++i) {
    first_primitives.push_back(static_cast<std::uint32_t>(primitives(static_cast<std::uint32_t>(i), 0)));
  }
  first_primitives.push_back(0);
}

std::uint64_t EventContext::primitives(std::uint32_t instance, std::uint32_t geometry) const {
  if (instance >= instances_.size()) {
    return 0;
  }
  const Blas& blas = scene.blases[instances_[instance].blas];
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
