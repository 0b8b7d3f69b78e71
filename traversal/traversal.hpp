// Traversals: rays through an acceleration structure, one at a time (MODELS.md §10).
//
// Contract: `trace` finds for every ray its closest accepted hit in [t_min, t_max], or, for rays that end on their
// first hit, the hit at which the traversal ended. Closest hits are the same bits for every traversal, layout, order
// and number of threads (ties: ray.hpp); so are the answers "hit or not" of first-hit rays. Ray flags, cull masks,
// instance masks and flags mean what they mean in Vulkan. Which boxes and primitives are visited on the way is each
// model's own: counters, tests and accesses say so. Batches: memory is O(rays) plus what is asked to be logged; a
// caller with many rays goes batch by batch. Parallel over rays, same bytes for any number of threads. To add one: a
// .cpp file in traversal/models/.
//
// Candidates that only the application can decide on are put to `Shaders`: what an intersection shader reports, and
// whether any-hit accepts. A null Shaders means: boxes report nothing, every candidate is accepted.
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

/// Called from several threads at once. `ray` is the ray's place in the span given to `trace`.
class Shaders {
 public:
  virtual ~Shaders() = default;
  /// The intersection shader of a box primitive: its hit in [t_min, t_max], t_max being the ray's current one. Must not
  /// lie before the ray enters the box: the order of visits would matter otherwise.
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
  bool accepted = false;  ///< by any-hit or for want of one
  bool procedural = false;

  bool operator==(const PrimitiveTest&) const = default;
};

/// Rows of ray r: [offset[r], offset[r + 1]), in the order they happened.
template <class T>
struct RayRows {
  std::vector<std::uint64_t> offset;
  std::vector<T> rows;

  [[nodiscard]] std::span<const T> of(std::size_t ray) const {
    return std::span(rows).subspan(offset[ray], offset[ray + 1] - offset[ray]);
  }
};

/// The accesses of a batch, in blocks of kRays rays as the workers wrote them: nothing is copied to put them in a row.
/// Blocks, and rays within one, come in the order of the rays.
struct AccessLog {
  static constexpr std::size_t kRays = 256;

  std::vector<AccessRows> blocks;  ///< kRays rays each, fewer in the last
  std::vector<std::uint64_t> end;  ///< of each ray's rows in its block

  [[nodiscard]] std::span<const Access> of(std::size_t ray) const {
    const std::uint64_t begin = ray % kRays == 0 ? 0 : end[ray - 1];
    return std::span<const Access>(blocks[ray / kRays]).subspan(begin, end[ray] - begin);
  }
  [[nodiscard]] std::uint64_t size() const;
  /// A copy in one piece.
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
  /// The result of an earlier batch that is no longer needed: its memory is used again, and it is left empty, so that
  /// many batches ask the system for memory once. May be null.
  TraceResult* recycled = nullptr;
  /// Devices that trace, rays divided among them; null: the processor. The result is the same.
  Accelerator* accelerator = nullptr;
  /// Of this Bvh alone, which must not change: devices keep it from batch to batch. Null: uploaded for this call alone.
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
  /// On the accelerator's devices where kernels/ has the model, else on the processor.
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
