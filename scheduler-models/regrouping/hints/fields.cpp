#include "scheduler-models/regrouping/hints/fields.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_sort.h>

#include "base/error.hpp"
#include "capture/trace/launch_scene.hpp"

namespace rayreplay::scheduler::formula {
namespace {

constexpr std::size_t kGrain = 1024;

using Range = oneapi::tbb::blocked_range<std::size_t>;

bool is_available(Field field, const trace::Trace& trace, const trace::Launch& launch) {
  switch (field) {
    case Field::Material:
    case Field::CustomIndex:
      return trace::has_scene(trace.scene, launch);
    case Field::Site:
      return !launch.data.rays.site.empty();
    case Field::CapturedHint:
      return !launch.data.rays.hint.empty();
    default:
      return true;
  }
}

[[noreturn]] void missing(Field field) {
  std::string what = std::string("the formula's field '") + kFields[static_cast<std::size_t>(field)].name + "'";
  switch (field) {
    case Field::Site:
      throw Error(ErrorKind::Missing, {what + " is not in the trace", "", "rays without the number of their trace call",
                                       "a trace with it", "capture with rayreplay capture, or do without this field"});
    case Field::CapturedHint:
      throw Error(ErrorKind::Missing, {what + " is not in the trace", "", "rays without hints",
                                       "a trace of an application that makes reorder calls (SER)",
                                       "capture such an application, or write the hint as a formula of other fields"});
    default:
      throw Error(ErrorKind::Missing,
                  {what + " needs the scene's instances", "",
                   "a trace without them, or a launch whose top-level structure is not known", "a trace with its scene",
                   "capture the scene too, or use 'instance' or 'shader' instead"});
  }
}

std::uint64_t object_key(const trace::Events& events, std::uint64_t row) {
  return std::uint64_t{events.instance[row]} << 32U | events.primitive[row];
}

std::uint64_t low_bits(std::uint64_t value, std::uint32_t bits) {
  return bits >= 64 ? value : value & ((std::uint64_t{1} << bits) - 1);
}

}  // namespace

FieldSet FieldReader::available(const trace::Trace& trace, const trace::Launch& launch) {
  FieldSet set;
  for (std::size_t i = 0; i < kFieldCount; ++i) {
    set[i] = is_available(static_cast<Field>(i), trace, launch);
  }
  return set;
}

FieldReader::FieldReader(const trace::Trace& trace, const trace::Launch& launch, const Segments& segments,
                         FieldSet fields)
    : trace_(trace), launch_(launch), segments_(segments) {
  for (std::size_t i = 0; i < kFieldCount; ++i) {
    if (fields[i] && !is_available(static_cast<Field>(i), trace, launch)) {
      missing(static_cast<Field>(i));
    }
  }
  if (fields[static_cast<std::size_t>(Field::Object)]) {
    number_objects();
  }
}

void FieldReader::number_objects() {
  const trace::Events& events = launch_.data.events;
  const std::size_t count = segments_.size();
  const auto is_hit = [&](std::size_t s) {
    return events.kind[segments_.event_offset[s]] == trace::EventKind::ClosestHit;
  };
  std::vector<std::uint64_t> met;
  for (std::size_t s = 0; s < count; ++s) {
    if (is_hit(s)) {
      const std::uint64_t key = object_key(events, segments_.event_offset[s]);
      if (met.empty() || met.back() != key) {
        met.push_back(key);
      }
    }
  }
  oneapi::tbb::parallel_sort(met.begin(), met.end());
  met.erase(std::unique(met.begin(), met.end()), met.end());
  object_.resize(count);
  oneapi::tbb::parallel_for(Range(0, count, kGrain), [&](const Range& range) {
    for (std::size_t s = range.begin(); s < range.end(); ++s) {
      object_[s] = is_hit(s)
                       ? static_cast<std::uint32_t>(
                             std::lower_bound(met.begin(), met.end(), object_key(events, segments_.event_offset[s])) -
                             met.begin())
                       : 0;
    }
  });
}

const trace::Instance& FieldReader::instance_of(const PendingCall& call) const {
  const auto& tlases = trace_.scene.tlases;
  const std::uint32_t first = tlases.empty() ? 0 : tlases[launch_.tlas].first_instance;
  return trace_.scene.instances[first + launch_.data.events.instance[call.event]];
}

void FieldReader::read(Field field, std::span<const PendingCall> calls, double* out) const {
  const trace::Events& events = launch_.data.events;
  const trace::Rays& rays = launch_.data.rays;
  const auto each = [&](const auto& value) {
    for (std::size_t i = 0; i < calls.size(); ++i) {
      out[i] = static_cast<double>(value(calls[i]));
    }
  };
  const auto is_hit = [&](const PendingCall& call) { return events.kind[call.event] == trace::EventKind::ClosestHit; };
  const auto of_hit = [&](const auto& value) {
    each([&](const PendingCall& call) { return is_hit(call) ? static_cast<double>(value(call)) : 0.0; });
  };
  const auto of_ray = [&](const auto& column) { each([&](const PendingCall& call) { return column[call.ray]; }); };
  const auto point = [&](const auto& origin, const auto& direction) {
    of_hit([&](const PendingCall& call) {
      return static_cast<double>(origin[call.ray]) +
             static_cast<double>(events.t[call.event]) * static_cast<double>(direction[call.ray]);
    });
  };
  const std::uint64_t width = std::max<std::uint64_t>(launch_.size.width, 1);
  const std::uint64_t height = std::max<std::uint64_t>(launch_.size.height, 1);
  switch (field) {
    case Field::Instance:
      return of_hit([&](const PendingCall& call) { return events.instance[call.event]; });
    case Field::Primitive:
      return of_hit([&](const PendingCall& call) { return events.primitive[call.event]; });
    case Field::Geometry:
      return of_hit([&](const PendingCall& call) {
        return events.geometry.empty() ? std::uint16_t{0} : events.geometry[call.event];
      });
    case Field::Object:
      return each([&](const PendingCall& call) { return object_[call.segment]; });
    case Field::Material:
      return of_hit([&](const PendingCall& call) {
        const std::uint32_t geometry = events.geometry.empty() ? 0U : events.geometry[call.event];
        return std::uint64_t{instance_of(call).hit_group_offset} +
               std::uint64_t{geometry} * (rays.sbt_stride[call.ray] & 15U) + (rays.sbt_offset[call.ray] & 15U);
      });
    case Field::CustomIndex:
      return of_hit([&](const PendingCall& call) { return instance_of(call).custom_index; });
    case Field::HitKind:
      return of_hit([&](const PendingCall& call) { return events.hit_kind[call.event]; });
    case Field::FrontFace:
      return of_hit(
          [&](const PendingCall& call) { return events.hit_kind[call.event] == trace::kHitKindFrontFacing ? 1 : 0; });
    case Field::Distance:
      return of_hit([&](const PendingCall& call) { return events.t[call.event]; });
    case Field::Shader:
      return each([&](const PendingCall& call) { return events.shader[call.event]; });
    case Field::Miss:
      return each([&](const PendingCall& call) { return is_hit(call) ? 0 : 1; });
    case Field::X:
      return each([&](const PendingCall& call) { return call.thread % width; });
    case Field::Y:
      return each([&](const PendingCall& call) { return call.thread / width % height; });
    case Field::Z:
      return each([&](const PendingCall& call) { return call.thread / width / height; });
    case Field::Bounce:
      return each([&](const PendingCall& call) { return call.ray - launch_.data.ray_offset[call.thread]; });
    case Field::Site:
      return of_ray(rays.site);
    case Field::Flags:
      return of_ray(rays.flags);
    case Field::OriginX:
      return of_ray(rays.origin_x);
    case Field::OriginY:
      return of_ray(rays.origin_y);
    case Field::OriginZ:
      return of_ray(rays.origin_z);
    case Field::DirectionX:
      return of_ray(rays.direction_x);
    case Field::DirectionY:
      return of_ray(rays.direction_y);
    case Field::DirectionZ:
      return of_ray(rays.direction_z);
    case Field::PointX:
      return point(rays.origin_x, rays.direction_x);
    case Field::PointY:
      return point(rays.origin_y, rays.direction_y);
    case Field::PointZ:
      return point(rays.origin_z, rays.direction_z);
    case Field::TMin:
      return of_ray(rays.t_min);
    case Field::TMax:
      return of_ray(rays.t_max);
    case Field::CapturedHint:
      return each([&](const PendingCall& call) { return low_bits(rays.hint[call.ray], rays.hint_bits[call.ray]); });
  }
}

}  // namespace rayreplay::scheduler::formula
