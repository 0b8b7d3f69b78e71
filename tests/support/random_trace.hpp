// Random but valid traces for tests: every kind of event, all orders that the grammar allows, optional columns.
//
//   const trace::Trace trace = random_trace({.seed = 7, .size = {16, 8, 1}, .warps = true});
//
// The same options give the same trace on every machine.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/split_mix.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::test {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() {
    return split_mix_finish(state_ += kSplitMixGamma);
  }
  /// 0 … count − 1
  std::uint32_t below(std::uint64_t count) {
    return static_cast<std::uint32_t>((bits() >> 32) * count >> 32);
  }
  bool one_in(std::uint32_t n) {
    return below(n) == 0;
  }
  /// −1 … 1
  float unit() {
    return static_cast<float>(static_cast<double>(bits() >> 40) * (2.0 / 16777216.0) - 1.0);
  }

 private:
  std::uint64_t state_;
};

struct RandomTraceOptions {
  std::uint64_t seed = 1;
  trace::LaunchSize size{8, 4, 1};
  std::uint32_t launches = 1;
  std::uint32_t rays_per_thread = 4;  ///< at most
  bool scene = true;
  bool geometry = false;  ///< optional columns
  bool ray = false;
  bool group = false;
  bool warps = false;
  std::uint32_t warp_size = 8;
  /// Columns that only captures have: sites, hints and reorder calls, top-level structures, shader tables, images, times.
  bool capture = false;
};

namespace detail {

struct RandomObject {
  std::uint32_t instance = 0, primitive = 0;
  std::uint16_t geometry = 0;
};

class RandomTrace {
 public:
  explicit RandomTrace(const RandomTraceOptions& options) : options_(options), random_(options.seed) {}

  trace::Trace make() {
    trace_.header.application = "random_trace";
    trace_.header.device = "none";
    trace_.header.configuration = "{\"seed\": " + std::to_string(options_.seed) + "}";
    trace_.header.not_captured = {"driver: there is none", "clock: \xC3\xA9 not asked for"};
    if (options_.warps || options_.group) {
      trace_.header.warp_size = options_.warp_size;
    }
    add_shaders();
    if (options_.scene) {
      add_scene();
    }
    for (std::uint32_t i = 0; i < options_.launches; ++i) {
      trace_.launches.push_back(launch());
    }
    return trace_;
  }

 private:
  void add_shaders() {
    for (std::size_t s = 0; s < trace::kRayTracingStages; ++s) {
      for (std::uint32_t n = 1 + random_.below(3); n > 0; --n) {
        trace::Shader shader;
        shader.stage = static_cast<trace::ShaderStage>(s);
        shader.entry = "main";
        shader.name = trace::to_string(shader.stage) + std::to_string(n);
        for (std::uint32_t w = random_.below(20); w > 0; --w) {
          shader.spirv.push_back(static_cast<std::uint32_t>(random_.bits()));
        }
        trace_.shaders.push_back(shader);
      }
    }
  }

  void add_scene() {
    trace::Scene& scene = trace_.scene;
    for (std::uint32_t g = 0; g < 5; ++g) {
      trace::Geometry geometry;
      geometry.type = g % 2 == 0 ? trace::GeometryType::Boxes : trace::GeometryType::Triangles;
      geometry.opaque = random_.one_in(2);
      geometry.name = g == 3 ? "" : "geometry " + std::to_string(g);
      const std::uint32_t primitives = 1 + random_.below(300);
      if (geometry.type == trace::GeometryType::Boxes) {
        for (std::uint32_t p = 0; p < 6 * primitives; ++p) {
          geometry.boxes.push_back(random_.unit());
        }
      } else {
        const std::uint32_t vertices = 3 + random_.below(100);
        for (std::uint32_t v = 0; v < 3 * vertices; ++v) {
          geometry.vertices.push_back(random_.unit());
        }
        for (std::uint32_t p = 0; p < 3 * primitives; ++p) {
          geometry.indices.push_back(random_.below(vertices));
        }
      }
      scene.geometries.push_back(geometry);
    }
    scene.blases = {{0, 1}, {1, 3}, {3, 2}};
    for (std::uint32_t i = 0; i < 7; ++i) {
      trace::Instance instance;
      for (float& value : instance.transform) {
        value = random_.unit();
      }
      instance.blas = random_.below(scene.blases.size());
      instance.custom_index = random_.below(1U << 24);
      instance.hit_group_offset = random_.below(10);
      instance.mask = static_cast<std::uint8_t>(1 + random_.below(255));
      instance.flags = static_cast<std::uint8_t>(random_.below(16));
      scene.instances.push_back(instance);
    }
    if (options_.capture) {
      scene.tlases = {{0, 3}, {3, 0}, {3, 4}};
    }
  }

  void add_shader_table(trace::Launch& launch) {
    using Region = trace::TableRegion;
    using Stage = trace::ShaderStage;
    for (std::uint32_t i = 0; i < 12; ++i) {
      trace::ShaderRecord record;
      record.region = static_cast<Region>(i % 4);
      record.index = i / 4;
      if (record.region == Region::Hit) {
        record.closest_hit = shader(Stage::ClosestHit);
        record.any_hit = random_.one_in(2) ? shader(Stage::AnyHit) : trace::kNoShader;
        record.intersection = random_.one_in(2) ? shader(Stage::Intersection) : trace::kNoShader;
      } else if (!random_.one_in(4)) {
        record.general = shader(record.region == Region::RayGeneration ? Stage::RayGeneration
                                : record.region == Region::Miss        ? Stage::Miss
                                                                       : Stage::Callable);
      }
      for (std::uint32_t byte = random_.below(40); byte > 0; --byte) {
        record.data.push_back(static_cast<std::uint8_t>(random_.bits()));
      }
      launch.shader_table.push_back(record);
    }
  }

  /// Views of a few images, which launches share. Numbers of its own: the rest of the trace stays what it was.
  void add_images(trace::Launch& launch) {
    Random random(options_.seed * 31 + trace_.launches.size());
    trace::Images& images = launch.images;
    for (std::uint32_t row = 0; row < 1 + random.below(9); ++row) {
      const std::uint32_t image = random.below(std::min(images_ + 1, 4U));
      images_ = std::max(images_, image + 1);
      images.set.push_back(row / 4);
      images.binding.push_back(row % 4 / 2);
      images.element.push_back(row % 2 * 7);
      images.image.push_back(image);
      images.width.push_back(64 + 1000 * image);
      images.height.push_back(17);
      images.depth.push_back(image == 2 ? 5 : 1);
      images.layers.push_back(image == 1 ? 6 : 1);
      images.levels.push_back(image + 1);
      images.base_layer.push_back(random.below(image == 1 ? 6 : 1));
      images.base_level.push_back(random.below(image + 1));
      images.block_width.push_back(image == 3 ? 5 : 1);
      images.block_height.push_back(image == 3 ? 4 : 1);
      images.block_bytes.push_back(image == 3 ? 16 : 4);
      images.filter.push_back(static_cast<trace::Filter>(random.below(trace::kFilters)));
    }
  }

  std::uint16_t shader(trace::ShaderStage stage) {
    std::vector<std::uint16_t> of_stage;
    for (std::size_t i = 0; i < trace_.shaders.size(); ++i) {
      if (trace_.shaders[i].stage == stage) {
        of_stage.push_back(static_cast<std::uint16_t>(i));
      }
    }
    return of_stage[random_.below(of_stage.size())];
  }

  RandomObject object() {
    RandomObject result;
    if (!options_.scene || tlas_ == trace::kNone) {
      result.instance = static_cast<std::uint32_t>(random_.bits());
      result.primitive = static_cast<std::uint32_t>(random_.bits());
      result.geometry = options_.geometry ? static_cast<std::uint16_t>(random_.bits()) : std::uint16_t{0};
      return result;
    }
    const auto& tlases = trace_.scene.tlases;
    const std::uint32_t first = tlases.empty() ? 0 : tlases[tlas_].first_instance;
    result.instance = random_.below(tlases.empty() ? trace_.scene.instances.size() : tlases[tlas_].instance_count);
    const trace::Blas& blas = trace_.scene.blases[trace_.scene.instances[first + result.instance].blas];
    result.geometry =
        options_.geometry ? static_cast<std::uint16_t>(random_.below(blas.geometry_count)) : std::uint16_t{0};
    result.primitive = random_.below(trace_.scene.geometries[blas.first_geometry + result.geometry].primitives());
    return result;
  }

  void event(trace::EventKind kind, trace::ShaderStage stage, const RandomObject& object = {}, float t = 0) {
    trace::Events& events = data_.events;
    const bool accepted = kind == trace::EventKind::ReportIntersection && random_.one_in(2);
    const bool has_hit_kind = kind == trace::EventKind::ReportIntersection || kind == trace::EventKind::AnyHit ||
                              kind == trace::EventKind::ClosestHit;
    events.kind.push_back(kind);
    events.shader.push_back(shader(stage));
    events.t.push_back(kind == trace::EventKind::ReportIntersection && !accepted && random_.one_in(8)
                           ? std::numeric_limits<float>::quiet_NaN()
                           : t);
    events.instance.push_back(object.instance);
    events.primitive.push_back(object.primitive);
    events.hit_kind.push_back(has_hit_kind ? static_cast<std::uint8_t>(random_.below(256)) : std::uint8_t{0});
    events.accepted.push_back(accepted ? 1 : 0);
    if (options_.geometry) {
      events.geometry.push_back(object.geometry);
    }
    if (options_.ray) {
      events.ray.push_back(ray_);
    }
    if (options_.group) {
      events.group.push_back(random_.below(groups_));
    }
  }

  void ray(bool occlusion) {
    trace::Rays& rays = data_.rays;
    rays.origin_x.push_back(random_.one_in(50) ? std::numeric_limits<float>::quiet_NaN() : random_.unit());
    rays.origin_y.push_back(random_.unit());
    rays.origin_z.push_back(random_.unit());
    rays.direction_x.push_back(random_.unit());
    rays.direction_y.push_back(random_.unit());
    rays.direction_z.push_back(random_.unit());
    rays.t_min.push_back(0.001F);
    rays.t_max.push_back(random_.one_in(3) ? std::numeric_limits<float>::infinity() : 1e4F);
    rays.flags.push_back(static_cast<std::uint16_t>((random_.below(1U << 10) & ~8U) | (occlusion ? 8U : 0U)));
    rays.cull_mask.push_back(0xFF);
    rays.sbt_offset.push_back(static_cast<std::uint8_t>(random_.below(16)));
    rays.sbt_stride.push_back(static_cast<std::uint8_t>(random_.below(16)));
    rays.miss_index.push_back(static_cast<std::uint16_t>(random_.below(3)));
    if (options_.capture) {
      rays.site.push_back(static_cast<std::uint8_t>(random_.below(4)));
      rays.hint.push_back(random_.below(1000));
      rays.hint_bits.push_back(static_cast<std::uint8_t>(random_.below(33)));
    }
    const trace::ShaderStage callers[] = {trace::ShaderStage::RayGeneration, trace::ShaderStage::ClosestHit,
                                          trace::ShaderStage::Miss};
    event(occlusion ? trace::EventKind::OcclusionBegin : trace::EventKind::Begin, callers[random_.below(3)]);
  }

  void verdict() {
    if (random_.one_in(3)) {
      event(random_.one_in(2) ? trace::EventKind::IgnoreIntersection : trace::EventKind::TerminateRay,
            trace::ShaderStage::AnyHit);
    }
  }

  void traversal() {
    const RandomObject met = object();
    if (random_.one_in(2)) {
      event(trace::EventKind::AnyHit, trace::ShaderStage::AnyHit, met, random_.unit());
      return verdict();
    }
    event(trace::EventKind::Intersection, trace::ShaderStage::Intersection, met,
          random_.one_in(4) ? std::numeric_limits<float>::infinity() : random_.unit());
    for (std::uint32_t reports = random_.below(3); reports > 0; --reports) {
      event(trace::EventKind::ReportIntersection, trace::ShaderStage::Intersection, met, random_.unit());
      if (random_.one_in(2)) {
        event(trace::EventKind::AnyHit, trace::ShaderStage::AnyHit, met, random_.unit());
        verdict();
      }
    }
  }

  void callables() {
    while (random_.one_in(6)) {
      event(trace::EventKind::Callable, trace::ShaderStage::Callable);
    }
  }

  void thread() {
    ray_ = trace::kNone;
    callables();
    const std::uint32_t rays = random_.below(options_.rays_per_thread + 1);
    for (std::uint32_t r = 0; r < rays; ++r) {
      const bool occlusion = random_.one_in(3);
      ray_ = r;
      ray(occlusion);
      for (std::uint32_t tests = random_.below(4); tests > 0; --tests) {
        traversal();
      }
      while (options_.capture && random_.one_in(4)) {
        event(trace::EventKind::Reorder, trace::ShaderStage::RayGeneration);
      }
      if (random_.one_in(3)) {
        event(trace::EventKind::Miss, trace::ShaderStage::Miss);
      } else if (!occlusion && !random_.one_in(6)) {
        event(trace::EventKind::ClosestHit, trace::ShaderStage::ClosestHit, object(), random_.unit());
      }
      // Where rays are named, a shader of an earlier ray may go on after the later ray has ended.
      ray_ = random_.below(r + 1);
      callables();
    }
    data_.ray_offset.push_back(data_.rays.size());
    data_.event_offset.push_back(data_.events.size());
  }

  trace::Launch launch() {
    trace::Launch launch;
    launch.size = options_.size;
    if (options_.capture) {
      constexpr std::uint32_t kChoices[] = {0, 2, trace::kNone};
      launch.tlas = tlas_ = options_.scene ? kChoices[random_.below(3)] : 0;
      launch.frame = random_.below(100);
      launch.duration_ns = random_.bits() >> 20;
      launch.dropped_events = random_.one_in(2) ? random_.bits() >> 30 : 0;
      launch.pipeline = launch.frame % 3 == 0 ? trace::kNone : launch.frame % 3 - 1;
      add_shader_table(launch);
      add_images(launch);
    }
    groups_ = 1 + random_.below(40);
    data_ = {};
    data_.ray_offset.push_back(0);
    data_.event_offset.push_back(0);
    for (std::uint64_t i = 0; i < launch.size.threads(); ++i) {
      thread();
    }
    launch.data = data_;
    const auto threads = static_cast<std::uint32_t>(launch.size.threads());
    const std::uint32_t warps = (threads + options_.warp_size - 1) / options_.warp_size;
    if (options_.warps) {
      // Rows of threads in reverse: not the order of launch, yet a bijection onto dense warps.
      for (std::uint32_t i = 0; i < threads; ++i) {
        launch.thread_warp.push_back((threads - 1 - i) / options_.warp_size);
        launch.thread_lane.push_back(static_cast<std::uint8_t>((threads - 1 - i) % options_.warp_size));
      }
    }
    for (std::uint32_t g = 0; options_.group && g < groups_; ++g) {
      launch.groups.warp.push_back(random_.below(warps));
      launch.groups.sm.push_back(static_cast<std::uint16_t>(random_.below(46)));
      launch.groups.lane_mask.push_back(1 + random_.below((std::uint64_t{1} << options_.warp_size) - 1));
      launch.groups.clock.push_back(random_.bits());
    }
    return launch;
  }

  RandomTraceOptions options_;
  Random random_;
  trace::Trace trace_;
  trace::ThreadData data_;
  std::uint32_t ray_ = 0;
  std::uint32_t tlas_ = 0;
  std::uint32_t groups_ = 1;
  std::uint32_t images_ = 0;  ///< with a number
};

}  // namespace detail

[[nodiscard]] inline trace::Trace random_trace(const RandomTraceOptions& options) {
  return detail::RandomTrace(options).make();
}

}  // namespace rayreplay::test
