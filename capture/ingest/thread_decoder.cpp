#include "capture/ingest/thread_decoder.hpp"

namespace rayreplay::ingest {

using trace::EventKind;
using trace::kNone;

namespace {

/// A marker does not say how many of its bits count.
constexpr std::uint8_t kMarkerBits = 32;

}  // namespace

void ThreadDecoder::decode(std::span<const RecordReference> records, std::uint32_t& thread_path) {
  if (data_.ray_offset.empty()) {
    data_.ray_offset.push_back(0);
    data_.event_offset.push_back(0);
    if (!accesses_.empty()) {
      data_.accesses.offset.push_back(0);
    }
  }
  open_calls_ = 0;
  depth_of_ray_.clear();
  intersection_ = {};
  report_open_ = false;
  executing_ = kNone;
  execute_without_ray_ = false;
  for (const std::uint16_t shader : opened_) {
    open_paths_[shader].clear();
  }
  opened_.clear();
  for (const RecordReference& reference : records) {
    const std::uint64_t chunk = reference.chunk();
    take({parse_header(index_.chunks[chunk]), reference.rank(), index_.group_of_chunk[chunk]}, thread_path);
  }
  data_.ray_offset.push_back(data_.rays.size());
  data_.event_offset.push_back(data_.events.size());
  if (!accesses_.empty()) {
    data_.accesses.offset.push_back(data_.accesses.size());
  }
}

void ThreadDecoder::add_access(const Record& record) {
  const auto row = accesses_.row_of(record.chunk);
  if (!row || record.chunk.has_no_texel(record.rank)) {
    return;  // counted by the index
  }
  trace::Accesses& accesses = data_.accesses;
  accesses.event.push_back(static_cast<std::uint32_t>(data_.events.size() - data_.event_offset.back()));
  accesses.site.push_back(*row);
  accesses.address.push_back(record.chunk.address(record.rank));
  accesses.group.push_back(record.group);
}

void ThreadDecoder::open_path(std::uint16_t shader, std::size_t event) {
  if (paths_ == nullptr || !paths_->has(shader)) {
    return;
  }
  if (open_paths_.size() <= shader) {
    open_paths_.resize(shader + std::size_t{1});
  }
  if (open_paths_[shader].empty()) {
    opened_.push_back(shader);
  }
  open_paths_[shader].push_back(event);
}

void ThreadDecoder::set_path(const Record& record, std::uint32_t& thread_path) {
  const Chunk& chunk = record.chunk;
  if (chunk.shader >= open_paths_.size() || open_paths_[chunk.shader].empty()) {
    return;  // its entry is lost
  }
  std::vector<std::size_t>& open = open_paths_[chunk.shader];
  const std::size_t event = open.back();
  if (event != kNoEvent) {
    const std::uint32_t path = paths_->path_of(chunk, record.rank, scratch_);
    (event == kStart ? thread_path : data_.events.path[event]) = path;
  }
  if (!chunk.goes_on()) {
    open.pop_back();
  }
}

void ThreadDecoder::take(const Record& record, std::uint32_t& thread_path) {
  if (is_path(record.chunk.kind)) {
    return set_path(record, thread_path);
  }
  if (is_access(record.chunk.kind)) {
    return add_access(record);
  }
  // An EXECUTE refers to the next record.
  const std::uint32_t executed = executing_;
  const bool without_ray = execute_without_ray_;
  executing_ = kNone;
  execute_without_ray_ = false;
  const std::uint32_t current = static_cast<std::uint32_t>(depth_of_ray_.size()) - 1;  // kNone before the first
  const Chunk& chunk = record.chunk;
  switch (chunk.kind) {
    case RR_RAY_GENERATION:
      enter_call(0, chunk.shader);
      return open_path(chunk.shader, kStart);
    case RR_TRACE:
      return begin(record);
    case RR_INTERSECTION:
      intersection_ = object_of(record);
      report_open_ = false;
      return event(record, EventKind::Intersection, current, intersection_);
    case RR_REPORT:
      return report(record);
    case RR_REPORT_REJECTED:
      if (report_open_) {
        data_.events.accepted[last_report_] = 0;
        report_open_ = false;
      }
      return;
    case RR_ANY_HIT:
      return event(record, EventKind::AnyHit, current, object_of(record),
                   static_cast<std::uint8_t>(chunk.field(4, record.rank) >> 24U));
    case RR_IGNORE:
      return event(record, EventKind::IgnoreIntersection, current);
    case RR_TERMINATE:
      return event(record, EventKind::TerminateRay, current);
    case RR_MISS:
    case RR_CLOSEST_HIT:
      if (without_ray) {
        ++rayless_;
        return open_path(chunk.shader, kNoEvent);
      }
      return end_ray(record, chunk.kind == RR_MISS ? EventKind::Miss : EventKind::ClosestHit,
                     executed == kNone ? current : executed);
    case RR_CALLABLE:
      return event(record, EventKind::Callable, kNone);
    case RR_REORDER:
      return reorder(record);
    case RR_HINT:
      call_of(chunk.shader).marker = chunk.field(1, record.rank);
      return;
    default:  // RR_EXECUTE: the index refuses other kinds
      executing_ = ray_named(chunk.shader, chunk.field(1, record.rank));
      execute_without_ray_ = executing_ == kNone;
  }
}

void ThreadDecoder::begin(const Record& record) {
  const Chunk& chunk = record.chunk;
  const std::uint32_t r = record.rank;
  Call& call = call_of(chunk.shader);
  const auto ray = static_cast<std::uint32_t>(depth_of_ray_.size());
  call.rays.push_back(ray);
  depth_of_ray_.push_back(static_cast<std::uint32_t>(open_calls_ - 1));
  report_open_ = false;
  trace::Rays& rays = data_.rays;
  const auto flags = static_cast<std::uint16_t>(chunk.field(1, r));
  const std::uint32_t sbt = chunk.field(2, r);
  rays.flags.push_back(flags);
  rays.cull_mask.push_back(static_cast<std::uint8_t>(sbt));
  rays.sbt_offset.push_back(static_cast<std::uint8_t>(sbt >> 8U & 15U));
  rays.sbt_stride.push_back(static_cast<std::uint8_t>(sbt >> 12U & 15U));
  rays.miss_index.push_back(static_cast<std::uint16_t>(chunk.field(3, r)));
  rays.origin_x.push_back(chunk.real(4, r));
  rays.origin_y.push_back(chunk.real(5, r));
  rays.origin_z.push_back(chunk.real(6, r));
  rays.t_min.push_back(chunk.real(7, r));
  rays.direction_x.push_back(chunk.real(8, r));
  rays.direction_y.push_back(chunk.real(9, r));
  rays.direction_z.push_back(chunk.real(10, r));
  rays.t_max.push_back(chunk.real(11, r));
  rays.site.push_back(chunk.site);
  if (index_.has_hints) {
    rays.hint.push_back(call.marker.value_or(0));
    rays.hint_bits.push_back(call.marker ? kMarkerBits : 0);
    call.marker.reset();
  }
  event(record, (flags & trace::kRayFlagSkipClosestHit) != 0 ? EventKind::OcclusionBegin : EventKind::Begin, ray);
}

void ThreadDecoder::end_ray(const Record& record, EventKind kind, std::uint32_t ray) {
  const bool hit = kind == EventKind::ClosestHit;
  event(record, kind, ray, hit ? object_of(record) : Object{},
        hit ? static_cast<std::uint8_t>(record.chunk.field(4, record.rank) >> 24U) : std::uint8_t{0});
  // The caller is the call that began the ray; without one, the outermost call.
  enter_call(ray == kNone ? open_calls_ : depth_of_ray_[ray] + std::size_t{1}, record.chunk.shader);
}

void ThreadDecoder::report(const Record& record) {
  Object object = intersection_;
  object.t = record.chunk.real(1, record.rank);
  event(record, EventKind::ReportIntersection, static_cast<std::uint32_t>(depth_of_ray_.size()) - 1, object,
        static_cast<std::uint8_t>(record.chunk.field(2, record.rank)));
  last_report_ = data_.events.size() - 1;
  data_.events.accepted[last_report_] = 1;
  report_open_ = true;
}

void ThreadDecoder::reorder(const Record& record) {
  const std::uint32_t bits_and_ray = record.chunk.field(2, record.rank);
  const std::uint32_t ray = ray_named(record.chunk.shader, bits_and_ray >> 8U);
  event(record, EventKind::Reorder, ray);
  if (ray != kNone) {
    const std::uint64_t row = data_.ray_offset.back() + ray;
    data_.rays.hint[row] = record.chunk.field(1, record.rank);
    data_.rays.hint_bits[row] = static_cast<std::uint8_t>(bits_and_ray & 0xFFU);
  }
}

void ThreadDecoder::event(const Record& record, EventKind kind, std::uint32_t ray, const Object& object,
                          std::uint8_t hit_kind) {
  trace::Events& events = data_.events;
  events.kind.push_back(kind);
  events.shader.push_back(record.chunk.shader);
  events.t.push_back(object.t);
  events.instance.push_back(object.instance);
  events.primitive.push_back(object.primitive);
  events.hit_kind.push_back(hit_kind);
  events.accepted.push_back(0);
  if (index_.has_geometry) {
    events.geometry.push_back(static_cast<std::uint16_t>(object.geometry));
  }
  if (index_.has_ray_names) {
    events.ray.push_back(ray);
  }
  events.group.push_back(record.group);
  if (paths_ != nullptr) {
    events.path.push_back(0);
    if (trace::enters_shader(kind)) {
      open_path(record.chunk.shader, events.size() - 1);
    }
  }
}

Object ThreadDecoder::object_of(const Record& record) {
  const std::uint32_t r = record.rank;
  return {record.chunk.real(1, r), record.chunk.field(2, r), record.chunk.field(3, r),
          record.chunk.field(4, r) & 0xFFFFU};
}

ThreadDecoder::Call& ThreadDecoder::enter_call(std::size_t depth, std::uint16_t shader) {
  open_calls_ = depth + 1;
  if (calls_.size() < open_calls_) {
    calls_.resize(open_calls_);
  }
  calls_[depth].shader = shader;
  calls_[depth].rays.clear();
  calls_[depth].marker.reset();
  return calls_[depth];
}

ThreadDecoder::Call& ThreadDecoder::call_of(std::uint16_t shader) {
  for (std::size_t depth = open_calls_; depth-- > 0;) {
    if (calls_[depth].shader == shader) {
      open_calls_ = depth + 1;
      return calls_[depth];
    }
  }
  return enter_call(0, shader);
}

std::uint32_t ThreadDecoder::ray_named(std::uint16_t shader, std::uint32_t number) {
  if (number == RR_NO_RAY) {
    return kNone;
  }
  const Call& call = call_of(shader);
  return number < call.rays.size() ? call.rays[number] : kNone;
}

}  // namespace rayreplay::ingest
