// Traversals: rays through an acceleration structure, one at a time (MODELS.md §10).
//
// Contract: `trace` finds for every ray its closest accepted hit in [t_min, t_max], or, for rays that end on their
// first hit, the hit at which the traversal ended. Closest hits are the same bits for every traversal, layout, order
// and number of threads (ties: ray.hpp); so is "hit or not" of first-hit rays. Ray flags, cull masks, instance masks
// and flags have Vulkan's meaning. The visited boxes and primitives depend on the model: counters, tests and accesses
// report them. Memory is O(rays) plus the wanted logs; callers with many rays go in batches. Parallel over rays, same
// bytes for any number of threads. To add one: a .cpp file in traversal/models/.
//
// `Shaders` decide on candidates as the application would: reports of intersection shaders, acceptance by any-hit.
// Null: boxes report nothing, every candidate is accepted.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "base/progress.hpp"
#include "base/registry.hpp"
#include "base/twin.hpp"
#include "bvh/bvh.hpp"
#include "traversal/access_rows.hpp"
#include "traversal/ray.hpp"

namespace rayreplay::traversal {

struct Candidate {
  std::uint32_t instance = 0;
  std::uint32_t geometry = 0;
  std::uint32_t primitive = 0;

  auto operator<=>(const Candidate&) const = default;
};

struct Report {
  bool found = false;
  float t = 0;
  std::uint8_t hit_kind = 0;
};

/// Called from several threads concurrently. `ray` is the index in the span given to `trace`.
class Shaders {
 public:
  virtual ~Shaders() = default;
  /// The intersection shader of a box primitive: its hit in [t_min, t_max], with the ray's current t_max. The hit must
  /// not lie before the entry into the box, or the order of visits would matter.
  [[nodiscard]] virtual Report intersect(std::size_t ray, const Candidate& candidate, float t_max) const = 0;
  /// The any-hit shader of a candidate that is not opaque: accepted or ignored.
  [[nodiscard]] virtual bool accept(std::size_t ray, const Candidate& candidate, float t,
                                    std::uint8_t hit_kind) const = 0;
};

/// One intersection test: a triangle test, or a call of a box primitive's intersection shader.
struct PrimitiveTest {
  Candidate candidate;
  float t_max = 0;        ///< the ray's current one when the test was made; at most bvh::kFarthest
  float t = 0;            ///< where the ray hits it, in reach or not; infinity: nowhere, or culled by facing
  bool hit = false;       ///< within [t_min, t_max]
  bool accepted = false;  ///< by the any-hit shader, or because there is none
  bool procedural = false;

  bool operator==(const PrimitiveTest&) const = default;
};

/// Rows of ray r: [offset[r], offset[r + 1]), in order.
template <class T>
struct RayRows {
  std::vector<std::uint64_t> offset;
  std::vector<T> rows;

  [[nodiscard]] std::span<const T> of(std::size_t ray) const {
    return std::span(rows).subspan(offset[ray], offset[ray + 1] - offset[ray]);
  }
};

/// The accesses of a batch in blocks of kRays rays, as the workers wrote them (never copied together). Blocks and rays
/// are in order.
struct AccessLog {
  static constexpr std::size_t kRays = 256;

  std::vector<AccessRows> blocks;  ///< kRays rays each, fewer in the last
  std::vector<std::uint64_t> end;  ///< of each ray's rows in its block

  [[nodiscard]] std::span<const Access> of(std::size_t ray) const {
    const std::uint64_t begin = ray % kRays == 0 ? 0 : end[ray - 1];
    return std::span<const Access>(blocks[ray / kRays]).subspan(begin, end[ray] - begin);
  }
  [[nodiscard]] std::uint64_t size() const;
  /// A contiguous copy.
  [[nodiscard]] RayRows<Access> joined() const;

  bool operator==(const AccessLog&) const = default;
};

struct TraceResult;

struct TraceOptions {
  bool counters = true;
  bool accesses = false;
  bool tests = false;
  const Shaders* shaders = nullptr;
  Progress* progress = nullptr;
  /// The result of an earlier batch, whose memory is reused; left empty. May be null.
  TraceResult* recycled = nullptr;
  /// Devices that trace, rays divided among them. Null: the CPU. The result is the same.
  Accelerator* accelerator = nullptr;
  /// Device copies of this Bvh, which must not change, kept between batches. Null: uploaded for each call.
  DeviceSlot* on_device = nullptr;
};

struct TraceResult {
  std::vector<Hit> hits;
  std::vector<RayCounters> counters;  ///< empty unless asked for, as the rest
  AccessLog accesses;
  RayRows<PrimitiveTest> tests;
  std::uint64_t ignored_rays = 0;
};

class Traversal : public HasOrigin {
 public:
  static constexpr const char* kModelKind = "traversal";
  virtual ~Traversal() = default;
  /// On the accelerator's devices where kernels/ has the model, else on the CPU.
  [[nodiscard]] TraceResult trace(const bvh::Bvh& bvh, std::span<const Ray> rays,
                                  const TraceOptions& options = {}) const;

 private:
  [[nodiscard]] virtual TraceResult trace_on_cpu(const bvh::Bvh& bvh, std::span<const Ray> rays,
                                                 const TraceOptions& options) const = 0;
};

inline constinit Twin<TraceResult(const ModelOrigin&, const bvh::Bvh&, std::span<const Ray>, const TraceOptions&)>
    trace_twin{"traversal"};

using Traversals = Registry<Traversal>;

}  // namespace rayreplay::traversal
