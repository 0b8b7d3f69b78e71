#include "tests/ingest/spool_generator.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <stdexcept>

#include "capture/instrument/probes/record.h"
#include "capture/spool/writer.hpp"
#include "tests/ingest/shader_program.hpp"
#include "tests/ingest/warp_execution.hpp"
#include "tests/support/branching_shader.hpp"

namespace rayreplay::test {
namespace {

using trace::EventKind;
using trace::ShaderStage;

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
    finish_paths();
    if (options_.facts) {
      describe_facts();
    }
    if (options_.images) {
      describe_images();
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
      shader.spirv = options_.paths ? branching_shader() : std::vector<std::uint32_t>{0x07230203, id};
      if (options_.paths) {
        spool::Paths paths;
        paths.module = id;
        if (has_paths(id)) {
          paths.shaders = {id};
          paths.functions = {{0, {id}, {{spool::kNone, 0}, {spool::kNone, 1}}}};
        }
        result_.paths.push_back(paths);
      }
      result_.shaders.push_back(shader);
      result_.expected.shaders.push_back(
          {static_cast<ShaderStage>(shader.stage), shader.entry, shader.name, shader.spirv});
    }
    if (options_.accesses) {
      describe_accesses();
    }
    result_.pipeline.pipeline = 3;
    for (std::uint8_t i = 0; i < 4; ++i) {
      spool::Group group;
      if (i == 0) {
        group.general = shader_id(ShaderStage::RayGeneration, 0);
      } else if (i == 1) {
        group.general = shader_id(ShaderStage::Miss, 1);
      } else {
        group.closest_hit = shader_id(ShaderStage::ClosestHit, i % 2U);
        group.intersection = i == 2 ? shader_id(ShaderStage::Intersection, 0) : spool::kNoShader;
      }
      group.handle.assign(32, static_cast<std::uint8_t>(i + 1));
      result_.pipeline.groups.push_back(group);
    }
  }

  /// Stack sizes of the pipeline's groups, and two executables with random statistics.
  void describe_facts() {
    spool::PipelineFacts& facts = result_.pipeline_facts.emplace_back();
    trace::PipelineFacts& expected = result_.expected.pipeline_facts.emplace_back();
    facts.device = result_.device.device;
    facts.pipeline = expected.pipeline = result_.pipeline.pipeline;
    facts.recursion_depth = expected.recursion_depth = 1 + random_.below(31);
    expected.dynamic_stack = random_.one_in(2);
    facts.dynamic_stack = expected.dynamic_stack ? 1 : 0;
    for (SyntheticLaunch& launch : result_.launches) {
      launch.launch.stack_bytes = expected.dynamic_stack ? 16 * random_.below(256) : 0;
      if (!launch.words.empty()) {
        expected.set_stack = std::max(expected.set_stack, launch.launch.stack_bytes);
      }
    }
    for (const spool::Group& group : result_.pipeline.groups) {
      const auto bytes = [&](std::uint16_t shader) {
        return shader == spool::kNoShader ? spool::kNoStack : std::uint64_t{16} * random_.below(64);
      };
      const spool::GroupStack stack{group.general,        group.closest_hit,        group.any_hit,
                                    group.intersection,   bytes(group.general),     bytes(group.closest_hit),
                                    bytes(group.any_hit), bytes(group.intersection)};
      facts.groups.push_back(stack);
      expected.groups.push_back({stack.general, stack.closest_hit, stack.any_hit, stack.intersection,
                                 stack.general_bytes, stack.closest_hit_bytes, stack.any_hit_bytes,
                                 stack.intersection_bytes});
    }
    for (std::uint32_t e = 0; e < 2; ++e) {
      facts.executables.push_back({"executable " + std::to_string(e), "of a test", 0x100U << e, 32, {}});
      expected.executables.push_back({"executable " + std::to_string(e), "of a test", 0x100U << e, 32, {}});
      const std::uint32_t count = random_.below(6);
      for (std::uint32_t s = 0; s < count; ++s) {
        const auto format = static_cast<std::uint8_t>(s % 4);
        const std::uint64_t value = format == 0 ? random_.below(2) : random_.bits();
        facts.executables.back().statistics.push_back(
            {"statistic " + std::to_string(s), "", static_cast<spool::StatisticFormat>(format), value});
        expected.executables.back().statistics.push_back(
            {"statistic " + std::to_string(s), "", static_cast<trace::StatisticFormat>(format), value});
      }
    }
  }

  /// Descriptors of each launch with views of five images, which have different blocks.
  void describe_images() {
    const spool::Image images[] = {{90, 37, 640, 360, 1, 1, 1, 1},  // R8G8B8A8_UNORM
                                   {7, 109, 33, 1, 1, 1, 1, 1},     // R32G32B32A32_SFLOAT
                                   {8, 145, 61, 61, 1, 6, 6, 1},    // BC7_UNORM_BLOCK
                                   {91, 177, 50, 40, 9, 1, 2, 1},   // ASTC_10x8_UNORM_BLOCK
                                   {2, 37, 8, 8, 1, 2, 1, 4}};      // four samples
    constexpr std::array<std::array<std::uint32_t, 3>, 5> kBlocks = {
        {{1, 1, 4}, {1, 1, 16}, {4, 4, 16}, {10, 8, 16}, {1, 1, 16}}};
    std::array<std::uint32_t, 5> number{};
    number.fill(trace::kNone);
    std::uint32_t next = 0;
    std::size_t expected_launch = 0;
    for (const SyntheticLaunch& launch : result_.launches) {
      spool::Images& of = result_.images.emplace_back();
      of.launch = launch.launch.launch;
      std::array<std::uint32_t, 5> place{};
      place.fill(trace::kNone);
      trace::Images expected;
      for (std::uint32_t row = 0; row < random_.below(8); ++row) {
        const std::uint32_t i = random_.below(5);
        const spool::Image& image = images[i];
        if (place.at(i) == trace::kNone) {
          place.at(i) = static_cast<std::uint32_t>(of.images.size());
          of.images.push_back(image);
        }
        if (number.at(i) == trace::kNone) {
          number.at(i) = next++;
        }
        const std::uint32_t layer = random_.below(std::max(image.layers, image.depth));
        const std::uint32_t level = random_.below(image.levels);
        const auto filter = static_cast<std::uint8_t>(random_.below(3));
        of.descriptors.push_back(
            {row / 3, row % 3, row, place.at(i), image.format, layer, level, static_cast<spool::ImageFilter>(filter)});
        expected.set.push_back(row / 3);
        expected.binding.push_back(row % 3);
        expected.element.push_back(row);
        expected.image.push_back(number.at(i));
        expected.width.push_back(image.width);
        expected.height.push_back(image.height);
        expected.depth.push_back(image.depth);
        expected.layers.push_back(image.layers);
        expected.levels.push_back(image.levels);
        expected.base_layer.push_back(layer);
        expected.base_level.push_back(level);
        expected.block_width.push_back(kBlocks.at(i)[0]);
        expected.block_height.push_back(kBlocks.at(i)[1]);
        expected.block_bytes.push_back(kBlocks.at(i)[2]);
        expected.filter.push_back(static_cast<trace::Filter>(filter));
      }
      result_.expected.launches.at(expected_launch++).images = expected;
    }
  }

  /// Each stage's two shaders are one module's.
  void describe_accesses() {
    trace::AccessSites& sites = result_.expected.access_sites;
    for (std::uint16_t id = 0; id < 6; ++id) {
      spool::Accesses& of = result_.accesses.emplace_back();
      of.module = id;
      for (std::uint32_t i = 0; i < access_sites(id); ++i) {
        spool::AccessSite& site = of.sites.emplace_back();
        for (const unsigned shader : {id + 0U, id + 6U}) {
          if (has_access_site(static_cast<std::uint16_t>(shader), i)) {
            site.shaders.push_back(static_cast<std::uint16_t>(shader));
          }
        }
        site.function = i / 4;
        site.block = i % 4;
        site.instruction = 10 + i;
        site.kind = static_cast<spool::AccessKind>(kind_of_site(i));
        site.space = static_cast<spool::AccessSpace>(space_of_site(i));
        const bool image = site.space == spool::AccessSpace::Image;
        if (image || site.space == spool::AccessSpace::Descriptor) {
          site.set = id;
          site.binding = i;
          site.element = image ? 0 : i % 2;
        }
        site.bytes = image ? 0 : 4 + 4 * (i % 4);
      }
    }
    for (std::uint16_t id = 0; id < 12; ++id) {
      for (std::uint32_t i = 0; i < access_sites(id); ++i) {
        if (!has_access_site(id, i)) {
          continue;
        }
        access_rows_[{id, i}] = static_cast<std::uint32_t>(sites.size());
        const bool image = space_of_site(i) == trace::AccessSpace::Image;
        const bool descriptor = image || space_of_site(i) == trace::AccessSpace::Descriptor;
        sites.shader.push_back(id);
        sites.function.push_back(i / 4);
        sites.block.push_back(i % 4);
        sites.instruction.push_back(10 + i);
        sites.kind.push_back(kind_of_site(i));
        sites.space.push_back(space_of_site(i));
        sites.set.push_back(descriptor ? id % 6U : 0U);
        sites.binding.push_back(descriptor ? i : 0);
        sites.element.push_back(descriptor && !image ? i % 2 : 0);
        sites.bytes.push_back(image ? 0 : 4 + 4 * (i % 4));
      }
    }
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

  void add_launch(std::uint32_t number) {
    tlas_ = number % 2;
    const auto threads = static_cast<std::uint32_t>(options_.size.threads());
    std::vector<Thread> all(threads);
    for (Thread& thread : all) {
      thread.recorded = !options_.window || (options_.first_whole && number == 0) || random_.one_in(3);
      write_program(thread, options_, tlas_, random_);
    }
    SyntheticLaunch launch;
    trace::Launch expected;
    launch.launch.launch = 10 + number;
    launch.launch.frame = expected.frame = number / 2;
    launch.launch.width = options_.size.width;
    launch.launch.height = options_.size.height;
    launch.launch.depth = options_.size.depth;
    expected.size = options_.size;
    launch.launch.pipeline = expected.pipeline = 3;
    launch.launch.structures = {1 + tlas_};
    expected.tlas = tlas_;
    launch.launch.begin_ns = 1000;
    launch.launch.end_ns = 1500 + number;
    expected.duration_ns = 500 + number;
    add_tables(launch.launch, expected);
    execute(all, options_, random_, launch.words, expected);
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
        {Region::RayGeneration,
         0,
         shader_id(ShaderStage::RayGeneration, 0),
         none,
         none,
         none,
         {9, 9, 9, 9, 9, 9, 9, 9}},
        {Region::Hit, 0, none, shader_id(ShaderStage::ClosestHit, 0), none, shader_id(ShaderStage::Intersection, 0),
         std::vector<std::uint8_t>(16, 2)},
        {Region::Hit, 1, none, shader_id(ShaderStage::ClosestHit, 1), none, none, std::vector<std::uint8_t>(16, 3)},
        {Region::Hit, 2, none, none, none, none, std::vector<std::uint8_t>(16, 99)},
        {Region::Hit, 3, none, none, none, none, std::vector<std::uint8_t>(16, 0)}};
  }

  void finish(const std::vector<Thread>& threads, trace::Launch& launch) {
    const bool names = std::any_of(threads.begin(), threads.end(), [](const Thread& thread) {
      return thread.recorded && std::any_of(thread.steps.begin(), thread.steps.end(), [](const Step& step) {
               return step.kind == RR_EXECUTE || step.kind == RR_REORDER;
             });
    });
    const bool hints = std::any_of(threads.begin(), threads.end(), [](const Thread& thread) {
      return thread.recorded && std::any_of(thread.steps.begin(), thread.steps.end(), [](const Step& step) {
               return step.kind == RR_REORDER || step.kind == RR_HINT;
             });
    });
    const bool geometry = std::any_of(threads.begin(), threads.end(), [](const Thread& thread) {
      return thread.recorded &&
             std::any_of(thread.events.begin(), thread.events.end(), [](const auto& e) { return e.geometry != 0; });
    });
    trace::Rays& rays = launch.data.rays;
    trace::Events& events = launch.data.events;
    launch.data.ray_offset.push_back(0);
    launch.data.event_offset.push_back(0);
    paths_.emplace_back();
    trace::Accesses& accesses = launch.data.accesses;
    if (options_.accesses) {
      accesses.offset.push_back(0);
    }
    for (const Thread& thread : threads) {
      for (const ExpectedAccess& access : thread.accesses) {
        if (!thread.recorded) {
          break;
        }
        if (!access.is_row) {
          continue;
        }
        accesses.event.push_back(access.event);
        accesses.site.push_back(access_rows_.at({access.shader, access.site}));
        accesses.address.push_back(access.address);
        accesses.group.push_back(access.group);
      }
      if (options_.accesses) {
        accesses.offset.push_back(accesses.size());
      }
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
        paths_.back().of_events.emplace_back(event.shader, event.path);
      }
      launch.data.ray_offset.push_back(rays.size());
      launch.data.event_offset.push_back(events.size());
      paths_.back().of_threads.emplace_back(shader_id(ShaderStage::RayGeneration, 0),
                                            thread.recorded ? thread.path : ExpectedPath{});
      add_records(thread);
    }
  }

  /// The blocks' counts of a path.
  static std::array<std::uint32_t, 4> blocks_of(const ExpectedPath& path) {
    return {path.first, path.second, path.first - path.second, path.first};
  }

  /// Everything that was recorded is in the table, also what a later record of the call replaced.
  void add_records(const Thread& thread) {
    for (const Step& step : thread.steps) {
      if (thread.recorded && step.kind == RR_PATH) {
        known_[step.shader][blocks_of({step.fields[0], step.fields[1]})];
      } else if (thread.recorded && step.kind == RR_PATH_BYTES) {
        known_[step.shader][blocks_of({step.fields[0] & 0xFFU, step.fields[0] >> 8U & 0xFFU})];
      }
    }
  }

  /// Numbers the paths, and gives them to events and threads.
  void finish_paths() {
    trace::Paths& paths = result_.expected.paths;
    for (auto& [shader, rows] : known_) {
      for (auto& [blocks, row] : rows) {
        paths.shader.push_back(shader);
        paths.counts.insert(paths.counts.end(), blocks.begin(), blocks.end());
        row = static_cast<std::uint32_t>(paths.size());
      }
      for (std::uint32_t block = 0; block < 4; ++block) {
        paths.block_shader.push_back(shader);
        paths.function.push_back(0);
        paths.block.push_back(block);
      }
    }
    paths.calls.assign(paths.size(), 0);
    const auto give = [&](const auto& from, trace::Column<std::uint32_t>& to) {
      for (const auto& [shader, path] : from) {
        to.push_back(path.first == 0 ? 0 : known_.at(shader).at(blocks_of(path)));
        if (to.back() != 0) {
          ++paths.calls[to.back() - 1];
        }
      }
    };
    for (std::size_t i = 0; i < paths_.size() && options_.paths; ++i) {
      give(paths_[i].of_events, result_.expected.launches[i].data.events.path);
      give(paths_[i].of_threads, result_.expected.launches[i].thread_path);
    }
  }

  struct LaunchPaths {
    std::vector<std::pair<std::uint16_t, ExpectedPath>> of_events, of_threads;
  };
  std::vector<LaunchPaths> paths_;
  std::map<std::uint16_t, std::map<std::array<std::uint32_t, 4>, std::uint32_t>> known_;
  std::map<std::pair<std::uint16_t, std::uint32_t>, std::uint32_t> access_rows_;  ///< by shader and site
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
  for (const spool::Counters& layout : counters) {
    sound = sound && writer.append(layout);
  }
  for (const spool::Paths& layout : paths) {
    sound = sound && writer.append(layout);
  }
  for (const spool::Accesses& layout : accesses) {
    sound = sound && writer.append(layout);
  }
  for (const spool::Images& of : images) {
    sound = sound && writer.append(of);
  }
  for (const spool::PipelineFacts& facts : pipeline_facts) {
    sound = sound && writer.append(facts);
  }
  for (const spool::Counts& count : counts) {
    sound = sound && writer.append(count);
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
