#include "tests/ingest/spool_generator.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <stdexcept>

#include "capture/instrument/probes/record.h"
#include "capture/spool/writer.hpp"
#include "tests/support/random_trace.hpp"

namespace rayreplay::test {
namespace {

using trace::EventKind;
using trace::kNone;
using trace::ShaderStage;

constexpr std::uint32_t kBoxGeometry = 1;

/// What a lane executes: a record, and the event that it stands for.
struct Step {
  std::uint32_t kind = 0;
  std::uint16_t shader = 0;
  std::uint8_t site = 0;
  std::vector<std::uint32_t> fields;  ///< behind the thread
  std::size_t event = SIZE_MAX;       ///< in the thread's events
};

struct ExpectedEvent {
  EventKind kind = EventKind::Begin;
  std::uint16_t shader = 0;
  float t = 0;
  std::uint32_t instance = 0, primitive = 0;
  std::uint8_t hit_kind = 0, accepted = 0;
  std::uint16_t geometry = 0;
  std::uint32_t ray = kNone;
  std::uint32_t group = kNone;
};

struct ExpectedRay {
  float origin[3] = {}, direction[3] = {}, t_min = 0, t_max = 0;
  std::uint16_t flags = 0, miss = 0;
  std::uint8_t cull = 0, offset = 0, stride = 0, site = 0, hint_bits = 0;
  std::uint32_t hint = 0;
};

struct Thread {
  std::vector<Step> steps;
  std::vector<ExpectedEvent> events;
  std::vector<ExpectedRay> rays;
  std::size_t done = 0;  ///< steps
  bool recorded = true;
};

std::uint32_t bits(float x) {
  return std::bit_cast<std::uint32_t>(x);
}

class Generator {
 public:
  explicit Generator(const CaptureOptions& options) : options_(options), random_(options.seed * 77 + 5) {}

  SyntheticCapture run() {
    describe();
    add_scene();
    for (std::uint32_t i = 0; i < options_.launches; ++i) {
      add_launch(i);
    }
    if (options_.launches < 2) {
      // The second top-level structure was not used.
      result_.expected.scene.tlases.pop_back();
      result_.expected.scene.instances.resize(2);
    }
    return std::move(result_);
  }

 private:
  void describe() {
    result_.block_words = options_.block_words;
    result_.process.pid = 42;
    result_.process.executable = "/opt/app";
    result_.process.command_line = {"app", "--fast"};
    result_.process.options = "window=0,0,4,4\nevery=1";
    result_.device.name = "made up";
    result_.device.driver_name = "driver";
    result_.device.driver_info = "1.2";
    result_.device.subgroup_size = options_.warp_size;
    result_.device.has_clock = options_.clock ? 1 : 0;
    result_.device.shader_group_handle_size = 32;
    result_.device.events_words = 1U << 20;
    result_.expected.header.application = "/opt/app";
    result_.expected.header.device = "made up";
    result_.expected.header.driver = "driver 1.2";
    result_.expected.header.warp_size = options_.warp_size;
    for (std::uint16_t id = 0; id < 12; ++id) {
      spool::Shader shader;
      shader.shader = id;
      shader.stage = static_cast<std::uint8_t>(id % 6);
      shader.entry = "main";
      shader.name = "shader " + std::to_string(id);
      shader.spirv = {0x07230203, id};
      result_.shaders.push_back(shader);
      result_.expected.shaders.push_back(
          {static_cast<ShaderStage>(shader.stage), shader.entry, shader.name, shader.spirv});
    }
    result_.pipeline.pipeline = 3;
    for (std::uint8_t i = 0; i < 4; ++i) {
      spool::Group group;
      if (i == 0) {
        group.general = id_of(ShaderStage::RayGeneration, 0);
      } else if (i == 1) {
        group.general = id_of(ShaderStage::Miss, 1);
      } else {
        group.closest_hit = id_of(ShaderStage::ClosestHit, i % 2U);
        group.intersection = i == 2 ? id_of(ShaderStage::Intersection, 0) : spool::kNoShader;
      }
      group.handle.assign(32, static_cast<std::uint8_t>(i + 1));
      result_.pipeline.groups.push_back(group);
    }
  }

  static std::uint16_t id_of(ShaderStage stage, unsigned which) {
    return static_cast<std::uint16_t>(static_cast<unsigned>(stage) + 6 * which);
  }
  std::uint16_t any_of(ShaderStage stage) {
    return id_of(stage, random_.below(2));
  }

  void add_scene() {
    trace::Scene& scene = result_.expected.scene;
    spool::Structure blas;
    blas.structure = 0;
    blas.name = "blas";
    spool::Geometry triangles;
    triangles.flags = 1;
    triangles.primitive_count = 40;
    triangles.vertex_format = 106;  // R32G32B32_SFLOAT
    triangles.vertex_count = 30;
    triangles.vertex_stride = 16;
    triangles.index_type = 0;  // UINT16
    trace::Geometry expected_triangles;
    expected_triangles.name = "blas 0";
    triangles.vertices.assign(30 * 16, 0xEE);
    for (std::uint32_t v = 0; v < 30; ++v) {
      for (std::uint32_t c = 0; c < 3; ++c) {
        const float x = random_.unit();
        std::memcpy(&triangles.vertices[v * 16 + c * 4], &x, 4);
        expected_triangles.vertices.push_back(x);
      }
    }
    for (std::uint32_t i = 0; i < 120; ++i) {
      const auto index = static_cast<std::uint16_t>(random_.below(30));
      triangles.indices.push_back(static_cast<std::uint8_t>(index));
      triangles.indices.push_back(static_cast<std::uint8_t>(index >> 8U));
      expected_triangles.indices.push_back(index);
    }
    spool::Geometry boxes;
    boxes.type = spool::GeometryType::Boxes;
    boxes.primitive_count = 9;
    boxes.box_stride = 24;
    trace::Geometry expected_boxes;
    expected_boxes.name = "blas 1";
    expected_boxes.type = trace::GeometryType::Boxes;
    expected_boxes.opaque = false;
    boxes.boxes.resize(9 * 24);
    for (std::uint32_t i = 0; i < 54; ++i) {
      const float x = random_.unit();
      std::memcpy(&boxes.boxes[i * 4], &x, 4);
      expected_boxes.boxes.push_back(x);
    }
    blas.geometries = {triangles, boxes};
    result_.structures.push_back(blas);
    scene.geometries = {expected_triangles, expected_boxes};
    scene.blases = {{0, 2}};
    for (std::uint32_t which = 0; which < 2; ++which) {
      spool::Structure tlas;
      tlas.structure = 1 + which;
      tlas.top_level = 1;
      scene.tlases.push_back({static_cast<std::uint32_t>(scene.instances.size()), 2 + which});
      for (std::uint32_t i = 0; i < 2 + which; ++i) {
        spool::Instance instance;
        trace::Instance expected;
        for (std::size_t k = 0; k < 12; ++k) {
          instance.transform[k] = expected.transform[k] = random_.unit();
        }
        instance.custom_index = expected.custom_index = random_.below(1000);
        instance.hit_group_offset = expected.hit_group_offset = i;
        instance.mask = expected.mask = 0x7F;
        instance.flags = expected.flags = 4;
        instance.structure = 0;
        tlas.instances.push_back(instance);
        scene.instances.push_back(expected);
      }
      result_.structures.push_back(tlas);
    }
  }

  // ---- programs

  void step(Thread& thread, std::uint32_t kind, std::uint16_t shader, std::vector<std::uint32_t> fields,
            std::uint8_t site = 0) {
    thread.steps.push_back({kind, shader, site, std::move(fields), SIZE_MAX});
  }
  ExpectedEvent& event(Thread& thread, EventKind kind, std::uint16_t shader, std::uint32_t ray) {
    thread.steps.back().event = thread.events.size();
    ExpectedEvent& result = thread.events.emplace_back();
    result.kind = kind;
    result.shader = shader;
    result.ray = ray;
    return result;
  }

  struct Hit {
    float t = 0;
    std::uint32_t instance = 0, geometry = 0, primitive = 0;
  };
  Hit random_hit(bool box) {
    const std::uint32_t geometry = box ? kBoxGeometry : 0;
    return {random_.unit() + 2, random_.below(2 + tlas_), geometry, random_.below(box ? 9 : 40)};
  }
  static void describe_hit(ExpectedEvent& event, const Hit& hit, std::uint8_t hit_kind) {
    event.t = hit.t;
    event.instance = hit.instance;
    event.primitive = hit.primitive;
    event.geometry = static_cast<std::uint16_t>(hit.geometry);
    event.hit_kind = hit_kind;
  }

  void any_hit(Thread& thread, std::uint32_t ray, const Hit& hit, std::uint8_t hit_kind) {
    const std::uint16_t shader = any_of(ShaderStage::AnyHit);
    step(thread, RR_ANY_HIT, shader,
         {bits(hit.t), hit.instance, hit.primitive, hit.geometry | std::uint32_t{hit_kind} << 24U});
    describe_hit(event(thread, EventKind::AnyHit, shader, ray), hit, hit_kind);
    if (random_.one_in(3)) {
      const bool ignore = random_.one_in(2);
      step(thread, ignore ? RR_IGNORE : RR_TERMINATE, shader, {});
      event(thread, ignore ? EventKind::IgnoreIntersection : EventKind::TerminateRay, shader, ray);
    }
  }

  void traversal(Thread& thread, std::uint32_t ray) {
    for (std::uint32_t tests = random_.below(4); tests > 0; --tests) {
      if (random_.one_in(2)) {
        any_hit(thread, ray, random_hit(false), 0xFE);
        continue;
      }
      const Hit hit = random_hit(true);
      const std::uint16_t shader = any_of(ShaderStage::Intersection);
      step(thread, RR_INTERSECTION, shader, {bits(hit.t), hit.instance, hit.primitive, hit.geometry});
      describe_hit(event(thread, EventKind::Intersection, shader, ray), hit, 0);
      for (std::uint32_t reports = random_.below(3); reports > 0; --reports) {
        Hit reported = hit;
        reported.t = random_.unit();
        const auto hit_kind = static_cast<std::uint8_t>(random_.below(100));
        step(thread, RR_REPORT, shader, {bits(reported.t), hit_kind});
        const std::size_t at = thread.events.size();
        describe_hit(event(thread, EventKind::ReportIntersection, shader, ray), reported, hit_kind);
        thread.events[at].accepted = 1;
        if (random_.one_in(2)) {
          any_hit(thread, ray, reported, hit_kind);
        }
        if (random_.one_in(2)) {
          step(thread, RR_REPORT_REJECTED, shader, {});
          thread.events[at].accepted = 0;
        }
      }
    }
  }

  std::uint32_t trace_call(Thread& thread, std::uint16_t caller, bool hit_object) {
    const auto ray = static_cast<std::uint32_t>(thread.rays.size());
    ExpectedRay expected;
    for (std::size_t c = 0; c < 3; ++c) {
      expected.origin[c] = random_.unit();
      expected.direction[c] = random_.unit();
    }
    expected.t_min = 0.25F;
    expected.t_max = random_.one_in(3) ? std::numeric_limits<float>::infinity() : 9;
    expected.flags = static_cast<std::uint16_t>(random_.below(1U << 10U));
    expected.miss = static_cast<std::uint16_t>(random_.below(70'000));
    expected.cull = static_cast<std::uint8_t>(random_.bits());
    expected.offset = static_cast<std::uint8_t>(random_.below(16));
    expected.stride = static_cast<std::uint8_t>(random_.below(16));
    expected.site = static_cast<std::uint8_t>(random_.below(200));
    const std::uint32_t sbt = expected.cull | std::uint32_t{expected.offset} << 8U |
                              std::uint32_t{expected.stride} << 12U | (hit_object ? 1U << 16U : 0U);
    step(thread, RR_TRACE, caller,
         {expected.flags, sbt, expected.miss, bits(expected.origin[0]), bits(expected.origin[1]),
          bits(expected.origin[2]), bits(expected.t_min), bits(expected.direction[0]), bits(expected.direction[1]),
          bits(expected.direction[2]), bits(expected.t_max)},
         expected.site);
    const bool occlusion = (expected.flags & trace::kRayFlagSkipClosestHit) != 0;
    thread.rays.push_back(expected);
    event(thread, occlusion ? EventKind::OcclusionBegin : EventKind::Begin, caller, ray);
    traversal(thread, ray);
    return ray;
  }

  void shade(Thread& thread, std::uint32_t ray, std::uint32_t depth) {
    const bool occlusion = (thread.rays[ray].flags & trace::kRayFlagSkipClosestHit) != 0;
    const std::uint32_t outcome = random_.below(6);
    if (outcome == 0) {
      return;
    }
    const bool miss = occlusion || outcome < 3;
    const std::uint16_t shader = any_of(miss ? ShaderStage::Miss : ShaderStage::ClosestHit);
    if (miss) {
      step(thread, RR_MISS, shader, {});
      event(thread, EventKind::Miss, shader, ray);
    } else {
      const bool box = random_.one_in(2);
      const Hit hit = random_hit(box);
      step(thread, RR_CLOSEST_HIT, shader,
           {bits(hit.t), hit.instance, hit.primitive, hit.geometry | (box ? 7U : 0xFFU) << 24U});
      describe_hit(event(thread, EventKind::ClosestHit, shader, ray), hit, box ? 7 : 0xFF);
    }
    if (options_.recursion && depth < 3) {
      call(thread, shader, depth + 1);
    }
  }

  void callable(Thread& thread) {
    const std::uint16_t shader = any_of(ShaderStage::Callable);
    step(thread, RR_CALLABLE, shader, {});
    event(thread, EventKind::Callable, shader, kNone);
  }

  void call(Thread& thread, std::uint16_t shader, std::uint32_t depth) {
    std::uint32_t rays_of_call = 0;
    for (std::uint32_t actions = random_.below(depth == 0 ? options_.actions + 1 : 2); actions > 0; --actions) {
      if (random_.one_in(6)) {
        callable(thread);
      }
      if (depth == 0 && options_.hit_objects && random_.one_in(2)) {
        // Two hit objects at once, reordered and executed in any order; or one that is thrown away.
        const std::uint32_t first = trace_call(thread, shader, true);
        const std::uint32_t first_number = rays_of_call++;
        const std::uint32_t second = trace_call(thread, shader, true);
        const std::uint32_t second_number = rays_of_call++;
        if (random_.one_in(2)) {
          const std::uint32_t hint = random_.below(100);
          step(thread, RR_REORDER, shader, {hint, 7U | first_number << 8U});
          event(thread, EventKind::Reorder, shader, first);
          thread.rays[first].hint = hint;
          thread.rays[first].hint_bits = 7;
        }
        if (random_.one_in(4)) {
          step(thread, RR_REORDER, shader, {5, 3U | std::uint32_t{RR_NO_RAY} << 8U});
          event(thread, EventKind::Reorder, shader, kNone);
        }
        if (random_.one_in(2)) {
          step(thread, RR_EXECUTE, shader, {second_number});
          shade(thread, second, depth);
        }
        step(thread, RR_EXECUTE, shader, {first_number});
        shade(thread, first, depth);
        continue;
      }
      const std::uint32_t ray = trace_call(thread, shader, false);
      ++rays_of_call;
      shade(thread, ray, depth);
    }
  }

  // ---- execution

  void add_launch(std::uint32_t number) {
    tlas_ = number % 2;
    const auto threads = static_cast<std::uint32_t>(options_.size.threads());
    std::vector<Thread> all(threads);
    const std::uint16_t raygen = id_of(ShaderStage::RayGeneration, 0);
    for (Thread& thread : all) {
      thread.recorded = !options_.window || random_.one_in(3);
      step(thread, RR_RAY_GENERATION, raygen, {});
      call(thread, raygen, 0);
    }
    SyntheticLaunch launch;
    trace::Launch expected;
    launch.launch.launch = 10 + number;
    launch.launch.frame = expected.frame = number / 2;
    launch.launch.width = options_.size.width;
    launch.launch.height = options_.size.height;
    launch.launch.depth = options_.size.depth;
    expected.size = options_.size;
    launch.launch.pipeline = 3;
    launch.launch.structures = {1 + tlas_};
    expected.tlas = tlas_;
    launch.launch.begin_ns = 1000;
    launch.launch.end_ns = 1500 + number;
    expected.duration_ns = 500 + number;
    add_tables(launch.launch, expected);
    execute(all, launch, expected);
    finish(all, expected);
    launch.launch.words = launch.words.size();
    result_.launches.push_back(std::move(launch));
    result_.expected.launches.push_back(std::move(expected));
  }

  void add_tables(spool::Launch& launch, trace::Launch& expected) {
    spool::Table raygen{spool::TableRegion::RayGeneration, 64, std::vector<std::uint8_t>(40, 9), ""};
    std::fill_n(raygen.bytes.begin(), 32, std::uint8_t{1});
    spool::Table hit{spool::TableRegion::Hit, 48, {}, ""};
    for (const std::uint8_t group : {std::uint8_t{2}, std::uint8_t{3}, std::uint8_t{99}, std::uint8_t{0}}) {
      hit.bytes.insert(hit.bytes.end(), 32, static_cast<std::uint8_t>(group + 1));
      hit.bytes.insert(hit.bytes.end(), 16, group);
    }
    launch.tables = {raygen, hit};
    const auto none = trace::kNoShader;
    using Region = trace::TableRegion;
    expected.shader_table = {
        {Region::RayGeneration, 0, id_of(ShaderStage::RayGeneration, 0), none, none, none, {9, 9, 9, 9, 9, 9, 9, 9}},
        {Region::Hit, 0, none, id_of(ShaderStage::ClosestHit, 0), none, id_of(ShaderStage::Intersection, 0),
         std::vector<std::uint8_t>(16, 2)},
        {Region::Hit, 1, none, id_of(ShaderStage::ClosestHit, 1), none, none, std::vector<std::uint8_t>(16, 3)},
        {Region::Hit, 2, none, none, none, none, std::vector<std::uint8_t>(16, 99)},
        {Region::Hit, 3, none, none, none, none, std::vector<std::uint8_t>(16, 0)}};
  }

  /// Lanes hold thread ids, kNone where a warp is not full.
  void execute(std::vector<Thread>& threads, SyntheticLaunch& launch, trace::Launch& expected) {
    const std::uint32_t lanes = options_.warp_size;
    const auto count = static_cast<std::uint32_t>(threads.size());
    std::vector<std::vector<std::uint32_t>> warps;
    for (std::uint32_t first = 0; first < count; first += lanes) {
      std::vector<std::uint32_t> warp(lanes, kNone);
      for (std::uint32_t lane = 0; lane < std::min(lanes, count - first); ++lane) {
        warp[lanes - 1 - lane] = first + lane;
      }
      warps.push_back(warp);
    }
    for (std::size_t i = warps.size(); i > 1; --i) {
      std::swap(warps[i - 1], warps[random_.below(i)]);
    }
    expected.thread_warp.assign(count, kNone);
    expected.thread_lane.assign(count, 0);
    std::uint32_t clock = 0xFFFF'FF00U;  // about to wrap around
    std::uint64_t elapsed = 0;
    std::vector<std::uint32_t> alive;
    for (std::uint32_t w = 0; w < warps.size(); ++w) {
      alive.push_back(w);
    }
    std::uint32_t started = 0;
    std::vector<bool> moved(count);
    while (!alive.empty()) {
      const std::uint32_t place = random_.below(alive.size());
      std::vector<std::uint32_t>& warp = warps[alive[place]];
      const Step* wanted = nullptr;
      std::uint64_t mask = 0;
      std::uint64_t recorded = 0;
      for (std::uint32_t lane = 0; lane < lanes; ++lane) {
        if (warp[lane] == kNone) {
          continue;
        }
        const Thread& thread = threads[warp[lane]];
        if (thread.done == thread.steps.size()) {
          continue;
        }
        const Step& step = thread.steps[thread.done];
        // A warp starts as a whole; later it may diverge.
        if (wanted != nullptr && (step.kind != wanted->kind || step.shader != wanted->shader ||
                                  step.site != wanted->site || (step.kind != RR_RAY_GENERATION && random_.one_in(5)))) {
          continue;
        }
        wanted = wanted == nullptr ? &step : wanted;
        mask |= std::uint64_t{1} << lane;
        recorded |= std::uint64_t{thread.recorded ? 1U : 0U} << lane;
      }
      if (wanted == nullptr) {
        alive.erase(alive.begin() + static_cast<std::ptrdiff_t>(place));
        continue;
      }
      const Step like = *wanted;
      elapsed += random_.below(1000);
      const bool makes_group =
          like.kind != RR_RAY_GENERATION && like.kind != RR_EXECUTE && like.kind != RR_REPORT_REJECTED;
      if (recorded != 0) {
        append_chunk(launch.words, threads, warp, like, mask, recorded, clock + static_cast<std::uint32_t>(elapsed));
        if (like.kind == RR_RAY_GENERATION) {
          for (std::uint32_t lane = 0; lane < lanes; ++lane) {
            if ((recorded >> lane & 1U) != 0) {
              expected.thread_warp[warp[lane]] = started;
              expected.thread_lane[warp[lane]] = static_cast<std::uint8_t>(lane);
            }
          }
          ++started;
        }
      }
      if (recorded != 0 && makes_group) {
        std::optional<std::uint32_t> of;
        bool one_warp = true;
        for (std::uint32_t lane = 0; lane < lanes; ++lane) {
          if ((recorded >> lane & 1U) != 0) {
            const std::uint32_t thread = warp[lane];
            one_warp &= expected.thread_lane[thread] == lane &&
                        of.value_or(expected.thread_warp[thread]) == expected.thread_warp[thread];
            of = expected.thread_warp[thread];
          }
        }
        expected.groups.warp.push_back(one_warp ? *of : kNone);
        expected.groups.sm.push_back(77);
        expected.groups.lane_mask.push_back(mask);
        expected.groups.clock.push_back(options_.clock ? elapsed : 0);
      }
      for (std::uint32_t lane = 0; lane < lanes; ++lane) {
        if ((mask >> lane & 1U) != 0) {
          Thread& thread = threads[warp[lane]];
          const Step& step = thread.steps[thread.done++];
          if (step.event != SIZE_MAX && recorded != 0) {
            thread.events[step.event].group = static_cast<std::uint32_t>(expected.groups.size() - 1);
          }
        }
      }
      if (options_.repack && random_.one_in(4)) {
        swap_lanes(warps, threads);
      }
    }
    if (!expected.groups.clock.empty() && options_.clock) {
      const std::uint64_t earliest = expected.groups.clock.front();
      for (std::uint64_t& value : expected.groups.clock) {
        value -= earliest;
      }
    }
    std::uint32_t next = 0;
    for (std::uint32_t thread = 0; thread < count; ++thread) {
      if (expected.thread_warp[thread] == kNone) {
        expected.thread_warp[thread] = started + next / lanes;
        expected.thread_lane[thread] = static_cast<std::uint8_t>(next++ % lanes);
      }
    }
  }

  /// Two threads that have started change places.
  void swap_lanes(std::vector<std::vector<std::uint32_t>>& warps, const std::vector<Thread>& threads) {
    std::uint32_t& a = warps[random_.below(warps.size())][random_.below(options_.warp_size)];
    std::uint32_t& b = warps[random_.below(warps.size())][random_.below(options_.warp_size)];
    const auto may_move = [&](std::uint32_t thread) {
      return thread != kNone && threads[thread].done > 0 && threads[thread].done < threads[thread].steps.size();
    };
    if (may_move(a) && may_move(b)) {
      std::swap(a, b);
    }
  }

  void append_chunk(std::vector<std::uint32_t>& words, const std::vector<Thread>& threads,
                    const std::vector<std::uint32_t>& warp, const Step& like, std::uint64_t mask,
                    std::uint64_t recorded, std::uint32_t clock) {
    const bool wide = options_.warp_size > 32;
    const bool partial = recorded != mask;
    const auto n = static_cast<std::uint32_t>(std::popcount(recorded));
    words.push_back(like.kind | (wide ? RR_WIDE : 0U) | (partial ? RR_PARTIAL : 0U) | std::uint32_t{like.shader} << 8U |
                    std::uint32_t{like.site} << 24U);
    words.push_back(static_cast<std::uint32_t>(mask));
    words.push_back(77U | 3U << 12U | n << 20U);
    words.push_back(options_.clock ? clock : 0);
    if (wide) {
      words.push_back(static_cast<std::uint32_t>(mask >> 32U));
    }
    if (partial) {
      words.push_back(static_cast<std::uint32_t>(recorded));
      if (wide) {
        words.push_back(static_cast<std::uint32_t>(recorded >> 32U));
      }
    }
    for (std::size_t field = 0; field <= like.fields.size(); ++field) {
      for (std::uint32_t lane = 0; lane < warp.size(); ++lane) {
        if ((recorded >> lane & 1U) != 0) {
          const Thread& thread = threads[warp[lane]];
          words.push_back(field == 0 ? warp[lane] : thread.steps[thread.done].fields[field - 1]);
        }
      }
    }
  }

  void finish(const std::vector<Thread>& threads, trace::Launch& launch) {
    const bool names = std::any_of(threads.begin(), threads.end(), [](const Thread& thread) {
      return thread.recorded && std::any_of(thread.steps.begin(), thread.steps.end(), [](const Step& step) {
               return step.kind == RR_EXECUTE || step.kind == RR_REORDER;
             });
    });
    const bool hints = std::any_of(threads.begin(), threads.end(), [](const Thread& thread) {
      return thread.recorded && std::any_of(thread.events.begin(), thread.events.end(),
                                            [](const auto& e) { return e.kind == EventKind::Reorder; });
    });
    const bool geometry = std::any_of(threads.begin(), threads.end(), [](const Thread& thread) {
      return thread.recorded &&
             std::any_of(thread.events.begin(), thread.events.end(), [](const auto& e) { return e.geometry != 0; });
    });
    trace::Rays& rays = launch.data.rays;
    trace::Events& events = launch.data.events;
    launch.data.ray_offset.push_back(0);
    launch.data.event_offset.push_back(0);
    for (const Thread& thread : threads) {
      for (const ExpectedRay& ray : thread.rays) {
        if (!thread.recorded) {
          break;
        }
        rays.origin_x.push_back(ray.origin[0]);
        rays.origin_y.push_back(ray.origin[1]);
        rays.origin_z.push_back(ray.origin[2]);
        rays.direction_x.push_back(ray.direction[0]);
        rays.direction_y.push_back(ray.direction[1]);
        rays.direction_z.push_back(ray.direction[2]);
        rays.t_min.push_back(ray.t_min);
        rays.t_max.push_back(ray.t_max);
        rays.flags.push_back(ray.flags);
        rays.cull_mask.push_back(ray.cull);
        rays.sbt_offset.push_back(ray.offset);
        rays.sbt_stride.push_back(ray.stride);
        rays.miss_index.push_back(ray.miss);
        rays.site.push_back(ray.site);
        if (hints) {
          rays.hint.push_back(ray.hint);
          rays.hint_bits.push_back(ray.hint_bits);
        }
      }
      for (const ExpectedEvent& event : thread.events) {
        if (!thread.recorded) {
          break;
        }
        events.kind.push_back(event.kind);
        events.shader.push_back(event.shader);
        events.t.push_back(event.t);
        events.instance.push_back(event.instance);
        events.primitive.push_back(event.primitive);
        events.hit_kind.push_back(event.hit_kind);
        events.accepted.push_back(event.accepted);
        if (geometry) {
          events.geometry.push_back(event.geometry);
        }
        if (names) {
          events.ray.push_back(event.ray);
        }
        events.group.push_back(event.group);
      }
      launch.data.ray_offset.push_back(rays.size());
      launch.data.event_offset.push_back(events.size());
    }
  }

  CaptureOptions options_;
  Random random_;
  std::uint32_t tlas_ = 0;
  SyntheticCapture result_;
};

}  // namespace

SyntheticCapture synthesize(const CaptureOptions& options) {
  return Generator(options).run();
}

void SyntheticCapture::write(const std::filesystem::path& path, bool end) const {
  spool::SpoolWriter writer;
  bool sound = writer.open(path.string()) && writer.append(process) && writer.append(device);
  for (const spool::Shader& shader : shaders) {
    sound = sound && writer.append(shader);
  }
  sound = sound && writer.append(pipeline);
  for (const spool::Structure& structure : structures) {
    sound = sound && writer.append(structure);
  }
  for (const SyntheticLaunch& launch : launches) {
    sound = sound && writer.append(launch.launch);
    const std::uint64_t step = block_words == 0 ? std::max<std::uint64_t>(launch.words.size(), 1) : block_words;
    for (std::uint64_t first = 0; first < launch.words.size(); first += step) {
      sound = sound && writer.append_events(launch.launch.launch, first, launch.words.data() + first,
                                            std::min<std::uint64_t>(step, launch.words.size() - first));
    }
  }
  if (end) {
    sound = sound && writer.append(spool::End{static_cast<std::uint32_t>(launches.size()),
                                              static_cast<std::uint32_t>(launches.size())});
  }
  if (!sound) {
    throw std::runtime_error("the spool cannot be written: " + writer.error());
  }
}

}  // namespace rayreplay::test
