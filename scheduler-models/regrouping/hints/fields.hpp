// Fields: the properties of a pending call that a formula may use, read from the trace.
//
// Contract: every field is a number (kFields lists them). For a pending Miss all fields of the hit are 0. A
// `FieldReader` reads batches of pending calls; it is made once per launch for a set of fields and may be used from
// several threads. Errors: Missing when the trace lacks a field. O(1) a value; `object` sorts the launch's hits when
// the reader is made, and takes 4 bytes a segment.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <span>
#include <string_view>

#include "capture/trace/trace.hpp"
#include "scheduler-models/regrouping/segments.hpp"

namespace rayreplay::scheduler::formula {

enum class Field : std::uint8_t {
  Instance,
  Primitive,
  Geometry,
  Object,
  Material,
  CustomIndex,
  HitKind,
  FrontFace,
  Distance,
  Shader,
  Miss,
  X,
  Y,
  Z,
  Bounce,
  Site,
  Flags,
  OriginX,
  OriginY,
  OriginZ,
  DirectionX,
  DirectionY,
  DirectionZ,
  PointX,
  PointY,
  PointZ,
  TMin,
  TMax,
  CapturedHint,
};
inline constexpr std::size_t kFieldCount = 29;

struct FieldInfo {
  const char* name;
  const char* text;
};

/// By Field.
inline constexpr std::array<FieldInfo, kFieldCount> kFields = {{
    {"instance", "instance id of the hit"},
    {"primitive", "primitive id of the hit"},
    {"geometry", "geometry index of the hit in its bottom-level structure; 0 where not captured"},
    {"object",
     "number of the hit's (instance, primitive) among those that pending closest hits of the launch meet, "
     "ascending, from 0"},
    {"material",
     "hit-group record of the shader binding table: the instance's offset + geometry · the ray's stride + "
     "the ray's offset"},
    {"custom_index", "the instance's custom index"},
    {"hit_kind", "hit kind: 254 front and 255 back of a triangle, else the intersection shader's"},
    {"front_face", "1 where hit_kind is 254"},
    {"distance", "t of the hit"},
    {"shader", "id of the pending shader"},
    {"miss", "1 for a pending miss shader"},
    {"x", "the thread's coordinates in the launch"},
    {"y", "as x"},
    {"z", "as x"},
    {"bounce", "index of the ray in its thread, from 0"},
    {"site", "number of the trace call in its shader's code"},
    {"flags", "ray flags"},
    {"ox", "origin of the ray"},
    {"oy", "as ox"},
    {"oz", "as ox"},
    {"dx", "direction of the ray, as the application gave it"},
    {"dy", "as dx"},
    {"dz", "as dx"},
    {"px", "hit point: origin + distance · direction"},
    {"py", "as px"},
    {"pz", "as px"},
    {"t_min", "the ray's shortest distance"},
    {"t_max", "the ray's longest distance"},
    {"hint", "captured hint: the number of its hint_bits low bits; 0 without one"},
}};

using FieldSet = std::bitset<kFieldCount>;

/// A segment that opens with a pending call.
struct PendingCall {
  std::uint32_t segment = 0;
  std::uint32_t thread = 0;
  std::uint64_t event = 0;  ///< row
  std::uint64_t ray = 0;    ///< row
};

/// Calls visit(PendingCall) for the pending calls of threads [first, last), in order.
template <class Visit>
void for_each_pending(const trace::Launch& launch, const Segments& segments, std::size_t first, std::size_t last,
                      const Visit& visit) {
  const trace::Events& events = launch.data.events;
  for (std::size_t thread = first; thread < last; ++thread) {
    // Without the column the ray is the one that began last.
    std::uint64_t next_ray = launch.data.ray_offset[thread];
    for (std::uint32_t s = segments.first[thread]; s < segments.first[thread + 1]; ++s) {
      const std::uint64_t row = segments.event_offset[s];
      const trace::EventKind kind = events.kind[row];
      if (kind == trace::EventKind::ClosestHit || kind == trace::EventKind::Miss) {
        const std::uint64_t ray = events.ray.empty() ? next_ray - 1 : launch.data.ray_offset[thread] + events.ray[row];
        visit(PendingCall{s, static_cast<std::uint32_t>(thread), row, ray});
      }
      if (events.ray.empty()) {
        for (std::uint64_t e = row; e < segments.event_offset[s + 1]; ++e) {
          next_ray += trace::begins_ray(events.kind[e]) ? 1U : 0U;
        }
      }
    }
  }
}

class FieldReader {
 public:
  FieldReader(const trace::Trace& trace, const trace::Launch& launch, const Segments& segments, FieldSet fields);

  void read(Field field, std::span<const PendingCall> calls, double* out) const;

  /// The fields that can be read from this trace.
  [[nodiscard]] static FieldSet available(const trace::Trace& trace, const trace::Launch& launch);

  [[nodiscard]] const trace::Launch& launch() const {
    return launch_;
  }
  [[nodiscard]] const Segments& segments() const {
    return segments_;
  }

 private:
  void number_objects();
  [[nodiscard]] const trace::Instance& instance_of(const PendingCall& call) const;

  const trace::Trace& trace_;
  const trace::Launch& launch_;
  const Segments& segments_;
  trace::Column<std::uint32_t> object_;  ///< by segment; empty unless asked for
};

}  // namespace rayreplay::scheduler::formula
