#include "sim/rays/traverse.hpp"

#include <algorithm>
#include <memory>

#include "base/report_progress.hpp"
#include "base/stopwatch.hpp"
#include "traversal/observed.hpp"

namespace rayreplay::experiment {
namespace {

using traversal::Observed;
using traversal::Ray;
using traversal::RayEnd;

/// The threads of a launch in start order, grouped into warps.
struct Warps {
  std::vector<std::uint32_t> threads;
  std::vector<std::uint64_t> first;  ///< one more than warps
};

Warps warps_by_start(const scheduler::WarpAssignment& assignment) {
  std::vector<std::uint32_t> warp_of_rank(assignment.warps());
  for (std::uint32_t warp = 0; warp < warp_of_rank.size(); ++warp) {
    warp_of_rank[assignment.start_rank[warp]] = warp;
  }
  Warps warps;
  warps.first.push_back(0);
  for (const std::uint32_t warp : warp_of_rank) {
    for (std::uint32_t lane = 0; lane < assignment.warp_size; ++lane) {
      const std::uint32_t thread = assignment.thread_at[std::size_t{warp} * assignment.warp_size + lane];
      if (thread != scheduler::kNoThread) {
        warps.threads.push_back(thread);
      }
    }
    warps.first.push_back(warps.threads.size());
  }
  return warps;
}

/// Some warps' rays in execution order.
struct Batch {
  Observed observed;
  std::vector<std::uint64_t> place;  ///< of ray i in `observed`
  std::vector<std::uint64_t> row;    ///< of ray i in the launch
  std::vector<Ray> rays;
  std::vector<std::uint64_t> first_ray;  ///< of groups that run together, one more at the end
};

Batch make_batch(const trace::Launch& launch, const Warps& warps, std::size_t first_warp, std::size_t last_warp) {
  const auto& offset = launch.data.ray_offset;
  const std::uint64_t first_thread = warps.first[first_warp];
  const std::span<const std::uint32_t> threads =
      std::span(warps.threads).subspan(first_thread, warps.first[last_warp] - first_thread);
  Batch batch;
  batch.observed = traversal::observe(launch, threads);
  std::vector<std::uint64_t> place_of_thread(threads.size() + 1, 0);
  for (std::size_t i = 0; i < threads.size(); ++i) {
    place_of_thread[i + 1] = place_of_thread[i] + offset[std::size_t{threads[i]} + 1] - offset[threads[i]];
  }
  batch.first_ray.push_back(0);
  for (std::size_t warp = first_warp; warp < last_warp; ++warp) {
    std::uint64_t longest = 0;
    for (std::uint64_t i = warps.first[warp] - first_thread; i < warps.first[warp + 1] - first_thread; ++i) {
      longest = std::max(longest, place_of_thread[i + 1] - place_of_thread[i]);
    }
    for (std::uint64_t bounce = 0; bounce < longest; ++bounce) {
      for (std::uint64_t i = warps.first[warp] - first_thread; i < warps.first[warp + 1] - first_thread; ++i) {
        if (bounce < place_of_thread[i + 1] - place_of_thread[i]) {
          batch.place.push_back(place_of_thread[i] + bounce);
          batch.row.push_back(offset[threads[i]] + bounce);
          batch.rays.push_back(batch.observed.rays[batch.place.back()]);
        }
      }
      batch.first_ray.push_back(batch.place.size());
    }
  }
  return batch;
}

/// Warps [first_warp, result) have about `rays` rays at most; at least one warp.
std::size_t batch_of(const trace::Launch& launch, const Warps& warps, std::size_t first_warp, std::uint64_t rays) {
  std::uint64_t sum = 0;
  std::size_t warp = first_warp;
  while (warp + 1 < warps.first.size() && (warp == first_warp || sum < rays)) {
    for (std::uint64_t i = warps.first[warp]; i < warps.first[warp + 1]; ++i) {
      const std::size_t thread = warps.threads[i];
      sum += launch.data.ray_offset[thread + 1] - launch.data.ray_offset[thread];
    }
    ++warp;
  }
  return warp;
}

void compare(const Batch& batch, const std::vector<traversal::Hit>& hits, TraverseRow& row) {
  for (std::size_t i = 0; i < hits.size(); ++i) {
    const traversal::Hit& hit = hits[i];
    const traversal::Hit& recorded = batch.observed.hits[batch.place[i]];
    row.hits += hit.found() ? 1U : 0U;
    bool agrees = false;
    switch (batch.observed.ends[batch.place[i]]) {
      case RayEnd::None:
        continue;
      case RayEnd::Miss:
        agrees = !hit.found();
        break;
      case RayEnd::ImplicitHit:
        agrees = hit.found();
        break;
      case RayEnd::ClosestHit:
        agrees = hit.instance == recorded.instance && hit.geometry == recorded.geometry &&
                 hit.primitive == recorded.primitive;
        break;
    }
    ++row.compared;
    row.agreed += agrees ? 1U : 0U;
  }
}

void add_counters(const std::vector<traversal::RayCounters>& counters, TraverseRow& row) {
  for (const traversal::RayCounters& ray : counters) {
    row.nodes += ray.nodes;
    row.boxes += ray.boxes;
    row.leaves += ray.leaves;
    row.triangles += ray.triangles;
    row.procedurals += ray.procedurals;
    row.any_hits += ray.any_hits;
    row.instances += ray.instances;
    row.restarts += ray.restarts;
    row.stack_sum += ray.stack_depth;
    row.stack_max = std::max(row.stack_max, ray.stack_depth);
  }
}

void add_bytes(std::span<const traversal::Access> accesses, TraverseRow& row) {
  for (const traversal::Access& access : accesses) {
    row.bytes[static_cast<std::size_t>(access.kind)] += access.bytes;
  }
}

void add_observed(const Batch& batch, TraverseRow& row) {
  row.rays += batch.rays.size();
  row.ignored += batch.observed.ignored_rays;
  add_counters(batch.observed.counters, row);
  for (const RayEnd end : batch.observed.ends) {
    row.hits += end == RayEnd::ClosestHit || end == RayEnd::ImplicitHit ? 1U : 0U;
  }
}

class Runner {
 public:
  Runner(const bvh::Bvh& structure, std::uint32_t warp_size, const TraverseOptions& options, TraverseResult& result)
      : structure_(&structure),
        accelerator_(options.accelerator),
        warp_size_(warp_size),
        accesses_(options.accesses),
        result_(&result) {
    result.rows.push_back({.traversal = "observed", .asked = "observed", .kind = TraverseKind::Observed});
    for (const std::string& spec : options.traversals) {
      auto created = traversal::Traversals::create(spec);
      result.rows.push_back({.traversal = created.spec, .asked = spec, .kind = TraverseKind::Scalar});
      scalar_.push_back(std::move(created.model));
    }
    for (const std::string& spec : options.warp_traversals) {
      auto created = traversal::WarpTraversals::create(spec);
      result.rows.push_back({.traversal = created.spec, .asked = spec, .kind = TraverseKind::Warp});
      warp_.push_back(std::move(created.model));
    }
  }

  void run(const Batch& batch) {
    std::size_t row = 0;
    add_observed(batch, result_->rows[row]);
    result_->bounce_warps += batch.first_ray.size() - 1;
    for (const auto& model : scalar_) {
      run_scalar(batch, *model, ++row);
    }
    for (const auto& model : warp_) {
      run_warp(batch, *model, ++row);
    }
  }

 private:
  void run_scalar(const Batch& batch, const traversal::Traversal& model, std::size_t index) {
    TraverseRow& row = result_->rows[index];
    const traversal::ObservedShaders shaders(batch.observed, batch.place);
    traversal::TraceResult& traced = traced_;
    const Stopwatch watch;
    traced = model.trace(*structure_, batch.rays,
                         {.accesses = true,
                          .shaders = &shaders,
                          .recycled = &traced,
                          .accelerator = accelerator_,
                          .on_device = &on_device_});
    row.seconds += watch.seconds();
    add_common(batch, traced.hits, traced.counters, traced.ignored_rays, shaders.unobserved(), row);
    for (const traversal::AccessRows& block : traced.accesses.blocks) {
      add_bytes(block, row);
    }
    if (accesses_) {
      accesses_(index, batch.row, traced.accesses.joined());
    }
  }

  void run_warp(const Batch& batch, const traversal::WarpTraversal& model, std::size_t index) {
    TraverseRow& row = result_->rows[index];
    const traversal::ObservedShaders shaders(batch.observed, batch.place);
    const Stopwatch watch;
    const traversal::WarpTraceResult traced = model.trace(*structure_, batch.rays, batch.first_ray,
                                                          {.warp_size = warp_size_,
                                                           .accesses = true,
                                                           .shaders = &shaders,
                                                           .accelerator = accelerator_,
                                                           .on_device = &on_device_});
    row.seconds += watch.seconds();
    add_common(batch, traced.hits, traced.counters, traced.ignored_rays, shaders.unobserved(), row);
    add_bytes(traced.accesses, row);
    for (std::size_t kind = 0; kind < traversal::kStepKinds; ++kind) {
      row.steps[kind] += traced.tally[kind];
    }
  }

  static void add_common(const Batch& batch, const std::vector<traversal::Hit>& hits,
                         const std::vector<traversal::RayCounters>& counters, std::uint64_t ignored,
                         std::uint64_t unobserved, TraverseRow& row) {
    row.rays += batch.rays.size();
    row.ignored += ignored;
    row.unobserved += unobserved;
    add_counters(counters, row);
    compare(batch, hits, row);
  }

  const bvh::Bvh* structure_;
  DeviceSlot on_device_;
  Accelerator* accelerator_;
  std::uint32_t warp_size_;
  const AccessSink& accesses_;
  TraverseResult* result_;
  std::vector<std::unique_ptr<traversal::Traversal>> scalar_;
  traversal::TraceResult traced_;  ///< of the latest batch and model; reused for its capacity
  std::vector<std::unique_ptr<traversal::WarpTraversal>> warp_;
};

}  // namespace

TraverseResult traverse(const trace::Launch& launch, const bvh::Bvh& structure, const scheduler::WarpAssignment& packed,
                        const TraverseOptions& options) {
  TraverseResult result;
  result.builder = structure.builder;
  result.layout = structure.layout_spec;
  result.node_order = structure.node_order;
  result.vertex_order = structure.vertex_order;
  result.structure_bytes = structure.memory.read;
  result.ignored = structure.scene.ignored;
  const Warps warps = warps_by_start(packed);
  result.warps = warps.first.size() - 1;
  Runner runner(structure, packed.warp_size, options, result);
  report_start(options.progress, "replaying rays", launch.data.rays.size());
  for (std::size_t warp = 0; warp < result.warps;) {
    const std::size_t end = batch_of(launch, warps, warp, options.batch_rays);
    const Batch batch = make_batch(launch, warps, warp, end);
    runner.run(batch);
    report_advance(options.progress, batch.rays.size());
    warp = end;
  }
  report_finish(options.progress);
  return result;
}

}  // namespace rayreplay::experiment
