#include "capture/reference/tracer.hpp"

#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_pipeline.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/memory.hpp"
#include "base/report_progress.hpp"
#include "base/stopwatch.hpp"
#include "capture/reference/accelerator.hpp"
#include "capture/reference/camera.hpp"
#include "capture/reference/integrator.hpp"
#include "capture/reference/lights.hpp"
#include "capture/reference/pipeline.hpp"
#include "capture/reference/recorder.hpp"

namespace rayreplay::reference {
namespace {

void require_range(const char* what, std::uint64_t value, std::uint64_t low, std::uint64_t high) {
  if (value < low || value > high) {
    throw Error(ErrorKind::Usage, {std::string(what) + " is out of range", "", std::to_string(value),
                                   std::to_string(low) + " to " + std::to_string(high), ""});
  }
}

void require_sound(const TracerOptions& options) {
  constexpr std::uint64_t kMax = 65535;
  require_range("width", options.width, 1, kMax);
  require_range("height", options.height, 1, kMax);
  require_range("samples", options.samples, 1, kMax);
  require_range("depth", options.depth, 1, kMax);
  require_range("batch_threads", options.batch_threads, 0, 1U << 24U);
  if (!(options.t_min >= 0) || !(options.t_max >= 0) || (options.t_max > 0 && options.t_max <= options.t_min)) {
    throw Error(ErrorKind::Usage, {"the ray interval is empty or negative", "t_min, t_max",
                                   std::to_string(options.t_min) + ", " + std::to_string(options.t_max),
                                   "0 <= t_min < t_max, or 0 for either to have it chosen", ""});
  }
}

/// The diagonal of the instances' world box, the camera included.
float scene_extent(const RenderScene& scene) {
  Vec3 low = scene.camera.from;
  Vec3 high = scene.camera.from;
  for (const auto& instance : scene.instances) {
    const auto& blas = scene.blases.at(instance.blas);
    const Transform to_world = as_transform(instance.transform);
    const auto extend = [&](const Vec3& point) {
      const Vec3 world = transform_point(to_world, point);
      low = low.cwiseMin(world);
      high = high.cwiseMax(world);
    };
    for (std::size_t g = blas.first_geometry; g < std::size_t{blas.first_geometry} + blas.geometry_count; ++g) {
      const auto& geometry = scene.geometries.at(g).geometry;
      for (std::size_t i = 0; i + 3 <= geometry.vertices.size(); i += 3) {
        extend(Vec3(&geometry.vertices[i]));
      }
      for (std::size_t i = 0; i + 6 <= geometry.boxes.size(); i += 6) {
        for (unsigned corner = 0; corner < 8; ++corner) {
          extend({geometry.boxes[i + ((corner & 1U) != 0 ? 3 : 0)], geometry.boxes[i + ((corner & 2U) != 0 ? 4 : 1)],
                  geometry.boxes[i + ((corner & 4U) != 0 ? 5 : 2)]});
        }
      }
    }
  }
  return length(high - low);
}

bool has_boxes(const RenderScene& scene) {
  return std::any_of(scene.geometries.begin(), scene.geometries.end(),
                     [](const SceneGeometry& g) { return g.geometry.type == trace::GeometryType::Boxes; });
}

/// Options with everything chosen, and what follows from them and the scene.
struct Prepared {
  Prepared(const RenderScene& scene, const TracerOptions& options)
      : created(Registry<Integrator>::create(options.integrator)), lights(scene) {
    require_sound(options);
    const float extent = scene_extent(scene);
    settings.depth = options.depth;
    settings.next_event = options.next_event;
    settings.t_min = options.t_min > 0 ? options.t_min : has_boxes(scene) ? 0.001F : 1e-5F * extent;
    settings.t_max = options.t_max > 0 ? options.t_max : std::max(10000.0F, extent);
    const bool shadow_rays = created.model->casts_shadow_rays(lights, settings);
    table = make_shader_table(scene, options.hit_groups, shadow_rays, created.spec);
  }

  Registry<Integrator>::Created created;
  Lights lights;
  PipelineSettings settings;
  ShaderTable table;
};

/// Batches are long enough that handing one over costs little, and short enough that memory stays bounded however
/// many samples a thread takes and that every worker gets its share of a small launch.
std::uint64_t batch_threads(const TracerOptions& options, std::uint64_t threads) {
  if (options.batch_threads != 0) {
    return options.batch_threads;
  }
  constexpr std::uint64_t kBatchSamples = 65536;
  constexpr std::uint64_t kBatches = 64;
  return std::max<std::uint64_t>(64, std::min(kBatchSamples / options.samples, threads / kBatches));
}

/// What one worker needs for one batch; used again for later batches.
struct BatchState {
  BatchState(bool with_geometry, bool record) {
    if (record) {
      recorder = std::make_unique<Recorder>(with_geometry);
    }
  }

  std::unique_ptr<Recorder> recorder;
  std::uint64_t threads = 0;
};

/// Hands out batch states, makes new ones when all are in use. Bounded by the pipeline's tokens.
class BatchPool {
 public:
  BatchPool(bool with_geometry, bool record) : with_geometry_(with_geometry), record_(record) {}

  BatchState* take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) {
      all_.push_back(std::make_unique<BatchState>(with_geometry_, record_));
      return all_.back().get();
    }
    BatchState* state = free_.back();
    free_.pop_back();
    return state;
  }
  void give_back(BatchState* state) {
    const std::lock_guard lock(mutex_);
    free_.push_back(state);
  }
  [[nodiscard]] const std::vector<std::unique_ptr<BatchState>>& all() const {
    return all_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<BatchState>> all_;
  std::vector<BatchState*> free_;
  bool with_geometry_;
  bool record_;
};

class Launch {
 public:
  Launch(const RenderScene& scene, const TracerOptions& options, const Prepared& prepared,
         const Accelerator& accelerator, bool record)
      : options_(&options),
        prepared_(&prepared),
        accelerator_(&accelerator),
        camera_(scene.camera, options.width, options.height),
        pool_(prepared.table.several_geometries, record) {
    result_.image = {options.width, options.height, {}};
    result_.image.rgb.resize(std::size_t{options.width} * options.height * 3);
  }

  TracerResult run(ThreadSink* sink, Progress* progress) {
    const std::uint64_t threads = std::uint64_t{options_->width} * options_->height;
    const std::uint64_t step = batch_threads(*options_, threads);
    const Stopwatch watch;
    // More workers than processors would only make oneTBB complain on the error stream.
    const int processors = oneapi::tbb::info::default_concurrency();
    const int workers =
        options_->workers == 0
            ? processors
            : static_cast<int>(std::min<std::uint64_t>(options_->workers, static_cast<std::uint64_t>(processors)));
    oneapi::tbb::task_arena arena(workers);
    arena.execute([&] {
      namespace tbb = oneapi::tbb;
      const auto tokens = static_cast<std::size_t>(tbb::this_task_arena::max_concurrency()) + 2;
      std::uint64_t next = 0;
      const auto cut = [&](tbb::flow_control& control) -> std::uint64_t {
        if (next >= threads) {
          control.stop();
          return 0;
        }
        return std::exchange(next, next + step);
      };
      const auto trace = [&](std::uint64_t first) { return trace_batch(first, std::min(first + step, threads)); };
      const auto deliver = [&](BatchState* state) {
        if (sink != nullptr) {
          sink->append(state->recorder->finish());
        }
        report_advance(progress, state->threads);
        pool_.give_back(state);
      };
      tbb::parallel_pipeline(tokens,
                             tbb::make_filter<void, std::uint64_t>(tbb::filter_mode::serial_in_order, cut) &
                                 tbb::make_filter<std::uint64_t, BatchState*>(tbb::filter_mode::parallel, trace) &
                                 tbb::make_filter<BatchState*, void>(tbb::filter_mode::serial_in_order, deliver));
    });
    result_.trace_seconds = watch.seconds();
    for (const auto& state : pool_.all()) {
      if (state->recorder != nullptr) {
        for (std::size_t kind = 0; kind < trace::kEventKinds; ++kind) {
          result_.events.at(kind) += state->recorder->counts().at(kind);
        }
      }
    }
    return std::move(result_);
  }

 private:
  BatchState* trace_batch(std::uint64_t first, std::uint64_t last) {
    BatchState* const state = pool_.take();
    state->threads = last - first;
    Recorder* const recorder = state->recorder.get();
    if (recorder != nullptr) {
      recorder->start();
    }
    Pipeline pipeline(*accelerator_, prepared_->table, prepared_->lights, prepared_->settings, recorder);
    for (std::uint64_t thread = first; thread < last; ++thread) {
      const Vec3 color = run_thread(thread, pipeline);
      Eigen::Map<Vec3>(&result_.image.rgb[thread * 3]) = color;
      if (recorder != nullptr) {
        recorder->end_thread();
      }
    }
    const std::lock_guard lock(counts_mutex_);
    result_.rays += pipeline.rays() + pipeline.occlusion_rays();
    result_.occlusion_rays += pipeline.occlusion_rays();
    return state;
  }

  /// The ray-generation shader.
  Vec3 run_thread(std::uint64_t thread, Pipeline& pipeline) const {
    const std::uint64_t column = thread % options_->width;
    const std::uint64_t row = thread / options_->width;
    const auto x = static_cast<float>(column);
    const auto y = static_cast<float>(row);
    const auto width = static_cast<float>(options_->width);
    const auto height = static_cast<float>(options_->height);
    Random random(options_->seed, thread);
    Vec3 sum{0, 0, 0};
    for (std::uint32_t sample = 0; sample < options_->samples; ++sample) {
      const float s = (x + random.uniform()) / width;
      const float t = (y + random.uniform()) / height;
      const Ray ray = camera_.through(s, t, prepared_->settings.t_min, prepared_->settings.t_max, random);
      sum += prepared_->created.model->radiance(ray, pipeline, random);
    }
    return sum / static_cast<float>(options_->samples);
  }

  const TracerOptions* options_;
  const Prepared* prepared_;
  const Accelerator* accelerator_;
  CameraRays camera_;
  BatchPool pool_;
  std::mutex counts_mutex_;
  TracerResult result_;
};

const char* to_string(HitGroups groups) {
  return groups == HitGroups::Single ? "single" : "per-material";
}

}  // namespace

TracerResult trace_scene(const RenderScene& scene, const TracerOptions& options, ThreadSink* sink, Progress* progress) {
  check(scene);
  const Prepared prepared(scene, options);
  require_memory(std::uint64_t{options.width} * options.height * 3 * sizeof(float),
                 "the picture needs more memory than there is", "width, height", "render a smaller picture");
  const Stopwatch watch;
  const Accelerator accelerator(scene, prepared.table, {options.flatten});
  const double build_seconds = watch.seconds();
  const trace::LaunchSize size{options.width, options.height, 1};
  if (sink != nullptr) {
    sink->begin(size, {.geometry = prepared.table.several_geometries, .ray = false, .group = false});
  }
  report_start(progress, "tracing", size.threads());
  Launch launch(scene, options, prepared, accelerator, sink != nullptr);
  TracerResult result = launch.run(sink, progress);
  result.build_seconds = build_seconds;
  report_finish(progress);
  return result;
}

CaptureDescription describe_capture(const RenderScene& scene, const TracerOptions& options) {
  check(scene);
  const Prepared prepared(scene, options);
  CaptureDescription description;
  description.header.application = "rayreplay trace";
  description.header.device = "CPU (built-in tracer)";
  description.header.driver = "Embree " + embree_version();
  const nlohmann::ordered_json configuration{
      {"scene", options.scene_spec.empty() ? scene.name : options.scene_spec},
      {"integrator", prepared.created.spec},
      {"width", options.width},
      {"height", options.height},
      {"samples", options.samples},
      {"depth", options.depth},
      {"seed", options.seed},
      {"hit_groups", to_string(options.hit_groups)},
      {"next_event", options.next_event},
      {"t_min", prepared.settings.t_min},
      {"t_max", prepared.settings.t_max},
      {"flatten", options.flatten},
      {"embree", embree_version()},
      {"isa", embree_isa()},
  };
  description.header.configuration = json_text(configuration);
  description.header.not_captured = {
      "groups: the built-in tracer has no warps",
      "clocks: the built-in tracer has no clock that a shader could read",
      "spirv: the shaders of the built-in tracer are C++ functions",
  };
  description.shaders = prepared.table.shaders;
  for (const auto& geometry : scene.geometries) {
    description.scene.geometries.push_back(geometry.geometry);
  }
  description.scene.blases = scene.blases;
  description.scene.instances = scene.instances;
  for (std::size_t i = 0; i < scene.instances.size(); ++i) {
    description.scene.instances[i].hit_group_offset = prepared.table.hit_group_offset[i];
  }
  return description;
}

}  // namespace rayreplay::reference
