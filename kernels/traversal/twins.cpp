// Traversals of traversal/ on devices: rays, or warps, are divided into contiguous parts, one a device.
//
// Contract: hits, counters, accesses and steps equal the processor's bit for bit, under the bound on denormals of
// bvh_on_device.hpp. No kernel for: logs of tests; layouts but binary, wide-8 and compressed-wide-8; shaders that are
// neither null nor ObservedShaders; `ordered` without Bvh::own_boxes; accesses of warps whose stack does not fit on
// chip. Unanswered questions are counted in the ObservedShaders as on the processor.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>

#include "base/report_progress.hpp"
#include "kernels/on_each.hpp"
#include "kernels/traversal/trace.hpp"
#include "kernels/twins.hpp"
#include "traversal/kernels/batch.hpp"
#include "traversal/observed.hpp"
#include "traversal/traversal.hpp"
#include "traversal/warp/warp_batch.hpp"

namespace rayreplay::traversal {
namespace {

namespace device = kernels::traversal;

constexpr std::size_t kGrain = 4096;

// The kernels read and write these bytes.
static_assert(sizeof(Ray) == sizeof(device::RayRecord) && offsetof(Ray, t_min) == 12 &&
              offsetof(Ray, direction) == 16 && offsetof(Ray, t_max) == 28 && offsetof(Ray, flags) == 32 &&
              offsetof(Ray, cull_mask) == 34);
static_assert(sizeof(Hit) == sizeof(device::HitRecord) && offsetof(Hit, instance) == 4 &&
              offsetof(Hit, geometry) == 8 && offsetof(Hit, primitive) == 12 && offsetof(Hit, u) == 16 &&
              offsetof(Hit, v) == 20 && offsetof(Hit, hit_kind) == 24);
static_assert(sizeof(RayCounters) == sizeof(device::CounterRecord) && offsetof(RayCounters, boxes) == 4 &&
              offsetof(RayCounters, leaves) == 8 && offsetof(RayCounters, triangles) == 12 &&
              offsetof(RayCounters, procedurals) == 16 && offsetof(RayCounters, any_hits) == 20 &&
              offsetof(RayCounters, instances) == 24 && offsetof(RayCounters, stack_depth) == 28 &&
              offsetof(RayCounters, restarts) == 32);
static_assert(sizeof(Access) == sizeof(device::AccessRecord) && sizeof(WarpStep) == sizeof(device::StepRecord) &&
              offsetof(WarpStep, warp) == 8 && offsetof(WarpStep, kind) == 12);
static_assert(static_cast<int>(AccessKind::Node) == 0 && static_cast<int>(AccessKind::Index) == 1 &&
              static_cast<int>(AccessKind::Vertex) == 2 && static_cast<int>(AccessKind::Instance) == 3 &&
              static_cast<int>(AccessKind::Box) == 4);

/// A view of the same bytes as another type, for copies only.
template <class To, class From>
std::span<To> seen_as(std::span<From> items) {
  static_assert(sizeof(To) == sizeof(From) && std::is_trivially_copyable_v<From>);
  return {reinterpret_cast<To*>(items.data()), items.size()};
}

device::Answers answers_of(const ObservedShaders& shaders) {
  const Observed& observed = shaders.observed();
  device::Answers answers;
  answers.ray_of_place = shaders.ray_of_place();
  answers.offset = observed.tests.offset;
  if (answers.offset.empty()) {
    answers.offset.push_back(0);
  }
  answers.calls.resize(shaders.by_candidate().size());
  answers.reports.resize(observed.reports.size());
  answers.t_min.resize(observed.rays.size());
  constexpr std::uint32_t kProcedural = 0x8000'0000U;
  constexpr std::uint32_t kIgnored = 0x100;
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, answers.calls.size(), kGrain), [&](const auto& range) {
    for (std::size_t i = range.begin(); i < range.end(); ++i) {
      const ObservedTest& test = observed.tests.rows[shaders.by_candidate()[i]];
      const Candidate& candidate = test.test.candidate;
      answers.calls[i] = {candidate.instance, candidate.geometry, candidate.primitive,
                          static_cast<std::uint32_t>(test.first_report),
                          test.reports | (test.test.procedural ? kProcedural : 0U)};
    }
  });
  for (std::size_t i = 0; i < answers.reports.size(); ++i) {
    const ObservedReport& report = observed.reports[i];
    answers.reports[i] = {report.t, report.hit_kind | (report.ignored() ? kIgnored : 0U)};
  }
  for (std::size_t i = 0; i < answers.t_min.size(); ++i) {
    answers.t_min[i] = observed.rays[i].t_min;
  }
  return answers;
}

std::uint64_t count_ignored_rays(std::span<const Ray> rays) {
  return tbb::parallel_reduce(
      tbb::blocked_range<std::size_t>(0, rays.size(), kGrain), std::uint64_t{0},
      [&](const auto& range, std::uint64_t count) {
        for (std::size_t i = range.begin(); i < range.end(); ++i) {
          count += is_traversable(rays[i]) ? 0U : 1U;
        }
        return count;
      },
      std::plus<>{});
}

/// Beginning of part i of `parts`, a multiple of `grain`.
std::size_t part_begin(std::size_t items, std::size_t parts, std::size_t i, std::size_t grain) {
  const std::size_t grains = (items + grain - 1) / grain;
  return std::min(items, grains * i / parts * grain);
}

void check_shaders(const Shaders* shaders) {
  if (shaders == nullptr) {
    return;
  }
  const auto* observed = dynamic_cast<const ObservedShaders*>(shaders);
  if (observed == nullptr) {
    throw NoKernel{"shaders that are code of the processor"};
  }
  if (observed->observed().reports.size() > 0xFFFF'FFFFU) {
    throw NoKernel{"2^32 reports of shaders or more in one batch"};
  }
}

/// The structure in the caller's slot, or, without one, in `own`.
const kernels::BvhOnDevice& structure_of(const bvh::Bvh& bvh, DeviceSlot* slot, DeviceSlot& own) {
  DeviceSlot& used = slot == nullptr ? own : *slot;
  if (used == nullptr) {
    used = std::make_shared<kernels::BvhOnDevice>(bvh);
  }
  const auto& structure = *static_cast<const kernels::BvhOnDevice*>(used.get());
  if (&structure.bvh() != &bvh) {
    throw Error(ErrorKind::Internal, {"the device copies belong to another structure", "traversal", "", "", ""});
  }
  if (!structure.unfit().empty()) {
    throw NoKernel{structure.unfit()};
  }
  return structure;
}

/// Writes arriving log rows into the blocks of AccessLog. `first`: of the part, a multiple of kRays.
void put_accesses(AccessLog& log, std::size_t first, std::span<const std::uint64_t> ends,
                  std::span<const device::AccessRecord> rows) {
  constexpr std::size_t kRays = AccessLog::kRays;
  const std::size_t blocks = (ends.size() + kRays - 1) / kRays;
  tbb::parallel_for(std::size_t{0}, blocks, [&](std::size_t block) {
    const std::size_t begin = block * kRays;
    const std::size_t end = std::min(ends.size(), begin + kRays);
    const std::uint64_t first_row = begin == 0 ? 0 : ends[begin - 1];
    const std::uint64_t count = ends[end - 1] - first_row;
    AccessRows& to = log.blocks[first / kRays + block];
    to.clear();
    if (count > 0) {
      std::memcpy(static_cast<void*>(to.append(count)), rows.data() + first_row, count * sizeof(Access));
    }
    for (std::size_t ray = begin; ray < end; ++ray) {
      log.end[first + ray] = ends[ray] - first_row;
    }
  });
}

TraceResult trace_on(std::span<kernels::Device* const> devices, device::Order order, const kernels::BvhOnDevice& bvh,
                     std::span<const Ray> rays, const TraceOptions& options) {
  TraceResult result = detail::prepare_result(rays.size(), options.counters, options.accesses, false, options.recycled);
  report_start(options.progress, "tracing rays", rays.size());
  result.ignored_rays = count_ignored_rays(rays);
  const auto* shaders = dynamic_cast<const ObservedShaders*>(options.shaders);
  const std::optional<device::Answers> answers =
      shaders == nullptr ? std::nullopt : std::optional(answers_of(*shaders));
  std::vector<std::uint64_t> unobserved(devices.size());
  kernels::on_each(devices.size(), [&](std::size_t i) {
    constexpr std::size_t kPiece = AccessLog::kRays;
    const std::size_t begin = part_begin(rays.size(), devices.size(), i, kPiece);
    const std::size_t count = part_begin(rays.size(), devices.size(), i + 1, kPiece) - begin;
    device::TraceInput input;
    input.rays = seen_as<const device::RayRecord>(rays.subspan(begin, count));
    input.first_place = begin;
    input.answers = answers ? &*answers : nullptr;
    device::TraceOutput output;
    output.hits = seen_as<device::HitRecord>(std::span(result.hits).subspan(begin, count));
    output.piece = kPiece;
    if (options.counters) {
      output.counters = seen_as<device::CounterRecord>(std::span(result.counters).subspan(begin, count));
    }
    if (options.accesses) {
      output.accesses = [&](std::uint64_t first, std::span<const std::uint64_t> ends,
                            std::span<const device::AccessRecord> rows) {
        put_accesses(result.accesses, begin + first, ends, rows);
      };
    }
    device::trace(*devices[i], bvh, order, input, output);
    unobserved[i] = output.unobserved;
    report_advance(options.progress, count);
  });
  if (shaders != nullptr) {
    for (const std::uint64_t questions : unobserved) {
      shaders->add_unobserved(questions);
    }
  }
  report_finish(options.progress);
  return result;
}

/// Appends rows as the kernels wrote them.
template <class T, class Record>
void append(std::vector<T>& to, const std::vector<Record>& rows) {
  static_assert(sizeof(T) == sizeof(Record) && std::is_trivially_copyable_v<T>);
  const std::size_t before = to.size();
  to.resize(before + rows.size());
  if (!rows.empty()) {
    std::memcpy(static_cast<void*>(to.data() + before), rows.data(), rows.size() * sizeof(T));
  }
}

WarpTraceResult trace_warps_on(std::span<kernels::Device* const> devices, device::Schedule schedule,
                               const kernels::BvhOnDevice& bvh, std::span<const Ray> rays,
                               std::span<const std::uint64_t> first_ray, const WarpTraceOptions& options) {
  const std::size_t warps = first_ray.empty() ? 0 : first_ray.size() - 1;
  WarpTraceResult result;
  result.hits.resize(rays.size());
  result.counters.resize(options.counters ? rays.size() : 0);
  if (options.accesses) {
    result.access_offset.push_back(0);
  }
  if (warps == 0) {
    return result;
  }
  report_start(options.progress, "tracing warps", warps);
  result.ignored_rays = count_ignored_rays(rays.subspan(first_ray[0], first_ray[warps] - first_ray[0]));
  const auto* shaders = dynamic_cast<const ObservedShaders*>(options.shaders);
  const std::optional<device::Answers> answers =
      shaders == nullptr ? std::nullopt : std::optional(answers_of(*shaders));
  std::vector<device::WarpOutput> outputs(devices.size());
  kernels::on_each(devices.size(), [&](std::size_t i) {
    const std::size_t begin = part_begin(warps, devices.size(), i, 1);
    const std::size_t end = part_begin(warps, devices.size(), i + 1, 1);
    const std::uint64_t first = first_ray[begin];
    const std::uint64_t count = first_ray[end] - first;
    device::TraceInput input;
    input.rays = seen_as<const device::RayRecord>(rays.subspan(first, count));
    input.first_place = first;
    input.answers = answers ? &*answers : nullptr;
    device::WarpOutput& output = outputs[i];
    output.hits = seen_as<device::HitRecord>(std::span(result.hits).subspan(first, count));
    if (options.counters) {
      output.counters = seen_as<device::CounterRecord>(std::span(result.counters).subspan(first, count));
    }
    output.with_steps = options.steps;
    output.with_accesses = options.accesses;
    device::trace_warps(*devices[i], bvh, schedule, options.warp_size, static_cast<std::uint32_t>(begin),
                        first_ray.subspan(begin, end - begin + 1), input, output);
    report_advance(options.progress, end - begin);
  });
  for (device::WarpOutput& output : outputs) {
    result.tally[static_cast<std::size_t>(StepKind::Node)] += {output.node_steps, output.node_lanes};
    result.tally[static_cast<std::size_t>(StepKind::Leaf)] += {output.leaf_steps, output.leaf_lanes};
    append(result.steps, output.steps);
    append(result.ray, output.lanes);
    for (const std::uint64_t access_end : output.access_ends) {
      result.access_offset.push_back(result.accesses.size() + access_end);
    }
    append(result.accesses, output.accesses);
    if (shaders != nullptr) {
      shaders->add_unobserved(output.unobserved);
    }
    output = {};
  }
  report_finish(options.progress);
  return result;
}

template <class Kernel>
Kernel kernel_of(const ModelOrigin& model, std::initializer_list<std::pair<std::string_view, Kernel>> kernels) {
  for (const auto& [name, kernel] : kernels) {
    if (name == model.name) {
      return kernel;
    }
  }
  throw NoKernel{model.name + " has no kernel"};
}

TraceResult trace(std::span<kernels::Device* const> devices, const ModelOrigin& model, const bvh::Bvh& bvh,
                  std::span<const Ray> rays, const TraceOptions& options) {
  const auto order = kernel_of<device::Order>(model, {{"fixed-order", device::Order::BySlot},
                                                      {"near-first", device::Order::NearFirst},
                                                      {"ordered", device::Order::Ordered}});
  if (options.tests) {
    throw NoKernel{"a log of tests"};
  }
  if (rays.size() > 0xFFFF'FFFFU) {
    throw NoKernel{"2^32 rays or more in one batch"};
  }
  if (order == device::Order::Ordered && !bvh.own_boxes) {
    throw NoKernel{"ordered traversal without the primitives' own boxes"};
  }
  check_shaders(options.shaders);
  DeviceSlot own;
  return trace_on(devices, order, structure_of(bvh, options.on_device, own), rays, options);
}

WarpTraceResult trace_warps(std::span<kernels::Device* const> devices, const ModelOrigin& model, const bvh::Bvh& bvh,
                            std::span<const Ray> rays, std::span<const std::uint64_t> first_ray,
                            const WarpTraceOptions& options) {
  const auto schedule = kernel_of<device::Schedule>(
      model, {{"if-if", device::Schedule::IfIf}, {"while-while", device::Schedule::WhileWhile}});
  check_warps(rays, first_ray, options);
  if (options.accesses && options.stack_entries > 0) {
    throw NoKernel{"accesses of stack entries that are not on chip"};
  }
  if (options.tests) {
    throw NoKernel{"tests by step"};
  }
  check_shaders(options.shaders);
  DeviceSlot own;
  return trace_warps_on(devices, schedule, structure_of(bvh, options.on_device, own), rays, first_ray, options);
}

const decltype(trace_twin)::Registrar kTraceTwin(trace_twin, {.run = kernels::all_devices(trace),
                                                              .needs = [](auto&&...) { return device::kNeeds; }});
const decltype(trace_warps_twin)::Registrar kTraceWarpsTwin(trace_warps_twin,
                                                            {.run = kernels::all_devices(trace_warps),
                                                             .needs = [](auto&&...) { return device::kNeeds; }});

}  // namespace
}  // namespace rayreplay::traversal
