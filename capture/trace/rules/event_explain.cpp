// The slow check of events: rule by rule, in order of rows, with words. Runs where the fast one found something.
#include <cmath>

#include <fmt/format.h>

#include "capture/trace/rules/event_context.hpp"

namespace rayreplay::trace {
namespace {

class Explainer {
 public:
  Explainer(const EventContext& context, std::size_t thread, FaultList& faults)
      : context_(context),
        data_(context.launch.data),
        events_(data_.events),
        faults_(faults),
        first_ray_(data_.ray_offset[thread]),
        rays_(data_.ray_offset[thread + 1] - first_ray_),
        states_(rays_ + 1, RayState::Over),
        intersections_(rays_ + 1) {}

  void run(std::size_t thread) {
    for (std::uint64_t r = first_ray_; r < first_ray_ + rays_; ++r) {
      explain_binding("sbt_offset", r, data_.rays.sbt_offset[r]);
      explain_binding("sbt_stride", r, data_.rays.sbt_stride[r]);
    }
    for (std::size_t e = data_.event_offset[thread]; e < data_.event_offset[thread + 1] && !faults_.full(); ++e) {
      explain_event(e);
    }
    if (!grammar_lost_ && begun_ < rays_) {
      faults_.add_row(context_.path + "/threads/ray_offset", thread + 1, "the thread begins fewer rays than it has",
                      std::to_string(begun_), std::to_string(rays_));
    }
  }

 private:
  void add(const char* column, std::size_t row, const std::string& what, const std::string& found,
           const std::string& expected) {
    faults_.add_row(context_.path + "/events/" + column, row, what, found, expected);
  }

  void explain_binding(const char* column, std::uint64_t row, std::uint8_t value) {
    if (value > 15) {
      faults_.add_row(context_.path + "/rays/" + column, row, "the value does not fit the 4 bits it has",
                      std::to_string(value), "at most 15");
    }
  }

  void explain_event(std::size_t e) {
    const EventKind kind = events_.kind[e];
    if (static_cast<std::size_t>(kind) >= kEventKinds) {
      add("kind", e, "there is no such event kind", std::to_string(static_cast<std::size_t>(kind)),
          fmt::format("less than {}", kEventKinds));
      grammar_lost_ = true;
      return;
    }
    explain_order(e, kind);
    explain_shader(e, kind);
    explain_hit(e, kind);
    explain_report(e, kind);
    if (!events_.group.empty() && events_.group[e] >= context_.launch.groups.size()) {
      add("group", e, "the event's group is out of range", std::to_string(events_.group[e]),
          fmt::format("less than {}, the number of groups", context_.launch.groups.size()));
    }
    if (kind == EventKind::Intersection) {
      intersections_[current_] = e;
    }
  }

  /// Which ray the event belongs to, and whether the grammar allows the event there. After a first fault the thread's
  /// later events cannot be judged.
  void explain_order(std::size_t e, EventKind kind) {
    if (grammar_lost_) {
      return;
    }
    const bool named = !events_.ray.empty();
    if (begins_ray(kind)) {
      if (begun_ >= rays_) {
        add("kind", e, "the thread begins more rays than it has", std::to_string(begun_ + 1), std::to_string(rays_));
        grammar_lost_ = true;
        return;
      }
      explain_flags(e, kind);
      if (named && events_.ray[e] != begun_) {
        add("ray", e, "the event begins another ray than the thread's next", std::to_string(events_.ray[e]),
            std::to_string(begun_));
        grammar_lost_ = true;
        return;
      }
      current_ = begun_++;
    } else if (named) {
      const std::uint32_t ray = events_.ray[e];
      if (may_be_of_no_ray(kind) && ray == kNone) {
        return;
      }
      if (ray >= begun_) {
        add("ray", e, "the event's ray has not begun", std::to_string(ray),
            fmt::format("less than {}, the number of rays begun", begun_));
        grammar_lost_ = true;
        return;
      }
      current_ = ray;
    } else {
      // Events before the first ray belong to a place of their own behind the rays.
      current_ = begun_ == 0 ? rays_ : begun_ - 1;
    }
    RayState& state = states_[current_];
    const RayState next = next_state(state, kind);
    if (next == RayState::Broken) {
      add("kind", e, "the event cannot happen at this place of its ray", to_string(kind), expected_after(state));
      grammar_lost_ = true;
      return;
    }
    state = next;
  }

  [[nodiscard]] static std::string expected_after(RayState state) {
    std::string text;
    for (std::size_t k = 0; k < kEventKinds; ++k) {
      const auto kind = static_cast<EventKind>(k);
      if (next_state(state, kind) != RayState::Broken) {
        text += (text.empty() ? "" : ", ") + std::string(to_string(kind));
      }
    }
    return text;
  }

  void explain_flags(std::size_t e, EventKind kind) {
    const std::uint64_t row = first_ray_ + begun_;
    const unsigned flags = data_.rays.flags[row];
    const bool skips = (flags & kRayFlagSkipClosestHit) != 0;
    if (skips != (kind == EventKind::OcclusionBegin)) {
      faults_.add_row(
          context_.path + "/rays/flags", row,
          fmt::format("the ray's flags do not fit its event, {} in row {}", to_string(kind), e),
          fmt::format("{:#x}", flags),
          fmt::format("SkipClosestHit ({:#x}) {}", unsigned{kRayFlagSkipClosestHit}, skips ? "not set" : "set"));
    }
  }

  void explain_shader(std::size_t e, EventKind kind) {
    const std::uint16_t shader = events_.shader[e];
    if (shader >= context_.shaders.size()) {
      add("shader", e, "the event's shader id is out of range", std::to_string(shader),
          fmt::format("less than {}, the number of shaders", context_.shaders.size()));
      return;
    }
    const ShaderStage stage = context_.shaders[shader].stage;
    if ((legal_stages(kind) & stage_bit(stage)) == 0) {
      std::string legal;
      for (std::size_t s = 0; s < kRayTracingStages; ++s) {
        if ((legal_stages(kind) & stage_bit(static_cast<ShaderStage>(s))) != 0) {
          legal += (legal.empty() ? "" : " or ") + std::string(to_string(static_cast<ShaderStage>(s)));
        }
      }
      add("shader", e, fmt::format("a shader of this stage cannot make the event {}", to_string(kind)),
          fmt::format("shader {}, {}", shader, to_string(stage)), legal);
    }
  }

  void explain_hit(std::size_t e, EventKind kind) {
    const float t = events_.t[e];
    const std::uint32_t geometry = events_.geometry.empty() ? 0U : events_.geometry[e];
    const auto expect_zero = [&](const char* column, bool is_zero, const std::string& found) {
      if (!is_zero) {
        add(column, e, fmt::format("the event {} does not carry this", to_string(kind)), found, "0");
      }
    };
    if (!carries_hit(kind)) {
      expect_zero("t", t == 0, fmt::format("{}", t));
      expect_zero("instance", events_.instance[e] == 0, std::to_string(events_.instance[e]));
      expect_zero("primitive", events_.primitive[e] == 0, std::to_string(events_.primitive[e]));
      expect_zero("geometry", geometry == 0, std::to_string(geometry));
    } else {
      const bool must_be_number = kind != EventKind::ReportIntersection || events_.accepted[e] != 0;
      if (must_be_number && std::isnan(t)) {
        add("t", e, fmt::format("the t of {} is not a number", to_string(kind)), "NaN", "a number");
      }
      if (context_.has_scene()) {
        explain_object(e, geometry);
      }
    }
    if (!carries_hit_kind(kind)) {
      expect_zero("hit_kind", events_.hit_kind[e] == 0, std::to_string(events_.hit_kind[e]));
    }
    if (kind != EventKind::ReportIntersection) {
      expect_zero("accepted", events_.accepted[e] == 0, std::to_string(events_.accepted[e]));
    } else if (events_.accepted[e] > 1) {
      add("accepted", e, "the value is neither yes nor no", std::to_string(events_.accepted[e]), "0 or 1");
    }
  }

  void explain_object(std::size_t e, std::uint32_t geometry) {
    const Scene& scene = context_.scene;
    const std::uint32_t instance = events_.instance[e];
    if (instance >= context_.instances().size()) {
      add("instance", e, "the event's instance is out of range", std::to_string(instance),
          fmt::format("less than {}, the number of instances", context_.instances().size()));
      return;
    }
    const std::uint32_t geometries = scene.blases[context_.instances()[instance].blas].geometry_count;
    if (geometry >= geometries) {
      add(events_.geometry.empty() ? "instance" : "geometry", e, "the event's geometry is out of range",
          std::to_string(geometry), fmt::format("less than {}, the geometries of instance {}", geometries, instance));
      return;
    }
    const std::uint64_t primitives = context_.primitives(instance, geometry);
    if (events_.primitive[e] >= primitives) {
      add("primitive", e, "the event's primitive is out of range", std::to_string(events_.primitive[e]),
          fmt::format("less than {}, the primitives of geometry {} of instance {}", primitives, geometry, instance));
    }
  }

  void explain_report(std::size_t e, EventKind kind) {
    if (kind != EventKind::ReportIntersection || grammar_lost_) {
      return;
    }
    const std::size_t of = intersections_[current_];
    const auto expect_same = [&](const char* column, std::uint32_t found, std::uint32_t expected) {
      if (found != expected) {
        add(column, e, "the report names another object than its Intersection", std::to_string(found),
            fmt::format("{}, as in row {}", expected, of));
      }
    };
    expect_same("instance", events_.instance[e], events_.instance[of]);
    expect_same("primitive", events_.primitive[e], events_.primitive[of]);
    if (!events_.geometry.empty()) {
      expect_same("geometry", events_.geometry[e], events_.geometry[of]);
    }
  }

  const EventContext& context_;
  const ThreadData& data_;
  const Events& events_;
  FaultList& faults_;
  std::uint64_t first_ray_;
  std::uint64_t rays_;
  std::vector<RayState> states_;
  std::vector<std::size_t> intersections_;
  std::uint64_t begun_ = 0;
  std::uint64_t current_ = 0;
  bool grammar_lost_ = false;
};

}  // namespace

void explain_thread(const EventContext& context, std::size_t thread, FaultList& faults) {
  Explainer(context, thread, faults).run(thread);
}

}  // namespace rayreplay::trace
