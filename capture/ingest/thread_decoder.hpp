// A thread's records as rays and events. Internal to this room.
//
// Contract: `ThreadDecoder::decode` takes the records of one thread in order and appends the thread to a ThreadData.
//   TRACE                    Begin or, with SkipClosestHit, OcclusionBegin; a new ray
//   INTERSECTION, ANY_HIT, IGNORE, TERMINATE
//                            the event of that name, of the ray begun last: traversals do not interleave
//   REPORT                   ReportIntersection, of the object of the Intersection before; accepted unless a
//                            REPORT_REJECTED follows before the next report or Intersection
//   CLOSEST_HIT, MISS        the ray named by the EXECUTE directly before, else the ray begun last
//   CALLABLE                 belongs to no ray where rays are named, else by position
//   REORDER                  Reorder, with hint and bits for the ray it names
//   HINT                     no event: the hint, of 32 bits, of the next ray that this shader call begins; a later HINT
//                            replaces it. A REORDER of that ray overrules it
//   RAY_GENERATION, EXECUTE, REPORT_REJECTED: no event
//   PATH, PATH_BYTES         path of the newest open entry of this shader. Closes the entry, unless the record may be
//                            replaced. Calls nest, and each has a last record
//   ACCESS_OFFSET, ACCESS_ADDRESS, ACCESS_IMAGE
//                            an access behind the events so far; none for an image's without a texel
// EXECUTE and REORDER count rays within a shader call, and calls are inferred from the records: a CLOSEST_HIT or MISS
// is called by the shader call that began its ray; a trace call, marker, reorder or execute of shader S is made by the
// innermost open call of S, which ends the calls inside it. A closest-hit shader that recurses into itself and
// continues after the inner call cannot be told from a continuing inner call; this matters to hit objects only. A
// ClosestHit or Miss of a hit object without a trace call has no ray: it is counted in `rayless` and left out.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "capture/ingest/call_paths.hpp"
#include "capture/ingest/chunk.hpp"
#include "capture/ingest/launch_index.hpp"

namespace rayreplay::ingest {

/// A record: chunk number and rank of the lane among the recorded ones.
class RecordReference {
 public:
  RecordReference() = default;
  RecordReference(std::uint64_t chunk, std::uint32_t rank) : bits_(chunk << 6U | rank) {}
  [[nodiscard]] std::uint64_t chunk() const {
    return bits_ >> 6U;
  }
  [[nodiscard]] std::uint32_t rank() const {
    return static_cast<std::uint32_t>(bits_ & 63U);
  }

 private:
  std::uint64_t bits_ = 0;
};

/// The object of an event with a hit.
struct Object {
  float t = 0;
  std::uint32_t instance = 0, primitive = 0, geometry = 0;
};

class ThreadDecoder {
 public:
  /// `paths`: null without paths.
  ThreadDecoder(const LaunchIndex& index, const CallPaths* paths, const AccessTable& accesses, trace::ThreadData& data)
      : index_(index), paths_(paths), accesses_(accesses), data_(data) {}

  /// `thread_path`: gets the path of the thread's ray-generation call.
  void decode(std::span<const RecordReference> records, std::uint32_t& thread_path);
  [[nodiscard]] std::uint64_t rayless() const {
    return rayless_;
  }

 private:
  struct Record {
    Chunk chunk;
    std::uint32_t rank = 0;
    std::uint32_t group = 0;
  };
  /// An open shader call: the rays it began.
  struct Call {
    std::uint16_t shader = 0;
    std::vector<std::uint32_t> rays;
    std::optional<std::uint32_t> marker;  ///< the hint of its next ray
  };

  void take(const Record& record, std::uint32_t& thread_path);
  void begin(const Record& record);
  void end_ray(const Record& record, trace::EventKind kind, std::uint32_t ray);
  void report(const Record& record);
  void reorder(const Record& record);
  /// An entry of a shader: of the event made last, of the thread (kStart) or of no event (kNoEvent).
  void open_path(std::uint16_t shader, std::size_t event);
  void add_access(const Record& record);
  void set_path(const Record& record, std::uint32_t& thread_path);
  void event(const Record& record, trace::EventKind kind, std::uint32_t ray, const Object& object = {},
             std::uint8_t hit_kind = 0);
  [[nodiscard]] static Object object_of(const Record& record);
  Call& enter_call(std::size_t depth, std::uint16_t shader);
  Call& call_of(std::uint16_t shader);
  [[nodiscard]] std::uint32_t ray_named(std::uint16_t shader, std::uint32_t number);

  static constexpr std::size_t kStart = ~std::size_t{0}, kNoEvent = kStart - 1;

  const LaunchIndex& index_;
  const CallPaths* paths_;
  const AccessTable& accesses_;
  trace::ThreadData& data_;
  std::uint64_t rayless_ = 0;

  // Of the current thread.
  std::vector<Call> calls_;
  std::size_t open_calls_ = 0;  ///< the calls behind are kept for their memory
  std::vector<std::uint32_t> depth_of_ray_;
  Object intersection_;
  std::size_t last_report_ = 0;
  bool report_open_ = false;
  std::uint32_t executing_ = trace::kNone;  ///< the ray of the EXECUTE right before, kNone: none
  bool execute_without_ray_ = false;
  std::vector<std::vector<std::size_t>> open_paths_;  ///< by shader: events of its open entries
  std::vector<std::uint16_t> opened_;                 ///< shaders that may have open entries
  std::vector<std::uint32_t> scratch_;
};

}  // namespace rayreplay::ingest
