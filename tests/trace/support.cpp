#include "tests/trace/support.hpp"

#include <tuple>

#include "capture/trace/file/storage.hpp"

namespace rayreplay::trace {
namespace {

class Comparison {
 public:
  template <class T>
  void values(const std::string& name, const T& a, const T& b) {
    if (result_.empty() && !(a == b)) {
      result_ = name;
    }
  }
  template <class C>
  void columns(const std::string& name, const C& a, const C& b) {
    values(name, bytes_of_column(a), bytes_of_column(b));
  }
  [[nodiscard]] const std::string& result() const {
    return result_;
  }

 private:
  std::string result_;
};

void compare_scenes(const Scene& a, const Scene& b, Comparison& c) {
  c.values("geometries", a.geometries.size(), b.geometries.size());
  for (std::size_t i = 0; i < std::min(a.geometries.size(), b.geometries.size()); ++i) {
    c.values("geometry name", a.geometries[i].name, b.geometries[i].name);
    c.values("geometry type", a.geometries[i].type, b.geometries[i].type);
    c.values("geometry opaque", a.geometries[i].opaque, b.geometries[i].opaque);
    c.columns("vertices", a.geometries[i].vertices, b.geometries[i].vertices);
    c.columns("indices", a.geometries[i].indices, b.geometries[i].indices);
    c.columns("boxes", a.geometries[i].boxes, b.geometries[i].boxes);
  }
  c.values("blases", a.blases.size(), b.blases.size());
  for (std::size_t i = 0; i < std::min(a.blases.size(), b.blases.size()); ++i) {
    c.values("first_geometry", a.blases[i].first_geometry, b.blases[i].first_geometry);
    c.values("geometry_count", a.blases[i].geometry_count, b.blases[i].geometry_count);
  }
  c.values("tlases", a.tlases.size(), b.tlases.size());
  for (std::size_t i = 0; i < std::min(a.tlases.size(), b.tlases.size()); ++i) {
    c.values("first_instance", a.tlases[i].first_instance, b.tlases[i].first_instance);
    c.values("instance_count", a.tlases[i].instance_count, b.tlases[i].instance_count);
  }
  c.values("instances", a.instances.size(), b.instances.size());
  for (std::size_t i = 0; i < std::min(a.instances.size(), b.instances.size()); ++i) {
    c.columns("transform", a.instances[i].transform, b.instances[i].transform);
    c.values("blas", a.instances[i].blas, b.instances[i].blas);
    c.values("custom_index", a.instances[i].custom_index, b.instances[i].custom_index);
    c.values("hit_group_offset", a.instances[i].hit_group_offset, b.instances[i].hit_group_offset);
    c.values("mask", a.instances[i].mask, b.instances[i].mask);
    c.values("flags", a.instances[i].flags, b.instances[i].flags);
  }
}

void compare_launches(const Launch& a, const Launch& b, Comparison& c) {
  c.values("size", a.size, b.size);
  c.columns("ray_offset", a.data.ray_offset, b.data.ray_offset);
  c.columns("event_offset", a.data.event_offset, b.data.event_offset);
  std::vector<std::string> columns;
  visit_rays(a.data.rays, [&](const char*, const auto& column, bool) { columns.push_back(bytes_of_column(column)); });
  visit_events(a.data.events,
               [&](const char*, const auto& column, bool) { columns.push_back(bytes_of_column(column)); });
  std::size_t place = 0;
  visit_rays(b.data.rays, [&](const char* name, const auto& column, bool) {
    c.values(name, columns.at(place++), bytes_of_column(column));
  });
  visit_events(b.data.events, [&](const char* name, const auto& column, bool) {
    c.values(name, columns.at(place++), bytes_of_column(column));
  });
  c.columns("threads/access_offset", a.data.accesses.offset, b.data.accesses.offset);
  c.columns("accesses/event", a.data.accesses.event, b.data.accesses.event);
  c.columns("accesses/site", a.data.accesses.site, b.data.accesses.site);
  c.columns("accesses/address", a.data.accesses.address, b.data.accesses.address);
  c.columns("accesses/group", a.data.accesses.group, b.data.accesses.group);
  c.columns("groups/warp", a.groups.warp, b.groups.warp);
  c.columns("groups/sm", a.groups.sm, b.groups.sm);
  c.columns("groups/lane_mask", a.groups.lane_mask, b.groups.lane_mask);
  c.columns("groups/clock", a.groups.clock, b.groups.clock);
  c.columns("threads/warp", a.thread_warp, b.thread_warp);
  c.columns("threads/lane", a.thread_lane, b.thread_lane);
  c.columns("threads/path", a.thread_path, b.thread_path);
  c.values("tlas", a.tlas, b.tlas);
  c.values("frame", a.frame, b.frame);
  c.values("duration_ns", a.duration_ns, b.duration_ns);
  c.values("dropped_events", a.dropped_events, b.dropped_events);
  c.values("pipeline", a.pipeline, b.pipeline);
  std::vector<std::string> of_images;
  visit_images(a.images, [&](const char*, const auto& column) { of_images.push_back(bytes_of_column(column)); });
  place = 0;
  visit_images(b.images, [&](const char* name, const auto& column) {
    c.values(std::string("images/") + name, of_images.at(place++), bytes_of_column(column));
  });
  c.values("shader_table", a.shader_table.size(), b.shader_table.size());
  for (std::size_t i = 0; i < std::min(a.shader_table.size(), b.shader_table.size()); ++i) {
    const ShaderRecord& x = a.shader_table[i];
    const ShaderRecord& y = b.shader_table[i];
    c.values("region", x.region, y.region);
    c.values("index", x.index, y.index);
    c.values("general", x.general, y.general);
    c.values("closest_hit", x.closest_hit, y.closest_hit);
    c.values("any_hit", x.any_hit, y.any_hit);
    c.values("intersection", x.intersection, y.intersection);
    c.values("data", x.data, y.data);
  }
}

void compare_facts(const PipelineFacts& a, const PipelineFacts& b, Comparison& c) {
  c.values("pipelines/pipeline", a.pipeline, b.pipeline);
  c.values("pipelines/recursion_depth", a.recursion_depth, b.recursion_depth);
  c.values("pipelines/dynamic_stack", a.dynamic_stack, b.dynamic_stack);
  c.values("pipelines/set_stack", a.set_stack, b.set_stack);
  c.values("pipelines/groups", a.groups.size(), b.groups.size());
  for (std::size_t i = 0; i < std::min(a.groups.size(), b.groups.size()); ++i) {
    const auto row = [](const GroupStack& g) {
      return std::tuple(g.general, g.closest_hit, g.any_hit, g.intersection, g.general_bytes, g.closest_hit_bytes,
                        g.any_hit_bytes, g.intersection_bytes);
    };
    c.values("pipelines/groups row", row(a.groups[i]), row(b.groups[i]));
  }
  c.values("pipelines/executables", a.executables.size(), b.executables.size());
  for (std::size_t i = 0; i < std::min(a.executables.size(), b.executables.size()); ++i) {
    const Executable& x = a.executables[i];
    const Executable& y = b.executables[i];
    const auto row = [](const Executable& e) { return std::tuple(e.name, e.description, e.stages, e.subgroup_size); };
    c.values("pipelines/executables row", row(x), row(y));
    c.values("pipelines/statistics", x.statistics.size(), y.statistics.size());
    for (std::size_t s = 0; s < std::min(x.statistics.size(), y.statistics.size()); ++s) {
      const auto statistic = [](const Statistic& t) { return std::tuple(t.name, t.description, t.format, t.value); };
      c.values("pipelines/statistics row", statistic(x.statistics[s]), statistic(y.statistics[s]));
    }
  }
}

}  // namespace

std::string difference(const Trace& a, const Trace& b) {
  Comparison c;
  c.values("tool", a.header.tool, b.header.tool);
  c.values("tool_version", a.header.tool_version, b.header.tool_version);
  c.values("application", a.header.application, b.header.application);
  c.values("device", a.header.device, b.header.device);
  c.values("driver", a.header.driver, b.header.driver);
  c.values("configuration", a.header.configuration, b.header.configuration);
  c.values("warp_size", a.header.warp_size, b.header.warp_size);
  c.values("not_captured", a.header.not_captured, b.header.not_captured);
  c.values("shaders", a.shaders.size(), b.shaders.size());
  for (std::size_t i = 0; i < std::min(a.shaders.size(), b.shaders.size()); ++i) {
    c.values("stage", a.shaders[i].stage, b.shaders[i].stage);
    c.values("entry", a.shaders[i].entry, b.shaders[i].entry);
    c.values("name", a.shaders[i].name, b.shaders[i].name);
    c.values("spirv", a.shaders[i].spirv, b.shaders[i].spirv);
  }
  compare_scenes(a.scene, b.scene, c);
  c.columns("paths/shader", a.paths.shader, b.paths.shader);
  c.columns("paths/calls", a.paths.calls, b.paths.calls);
  c.columns("paths/counts", a.paths.counts, b.paths.counts);
  c.columns("path_blocks/shader", a.paths.block_shader, b.paths.block_shader);
  c.columns("path_blocks/function", a.paths.function, b.paths.function);
  c.columns("path_blocks/block", a.paths.block, b.paths.block);
  const AccessSites& x_sites = a.access_sites;
  const AccessSites& y_sites = b.access_sites;
  c.columns("access_sites/shader", x_sites.shader, y_sites.shader);
  c.columns("access_sites/function", x_sites.function, y_sites.function);
  c.columns("access_sites/block", x_sites.block, y_sites.block);
  c.columns("access_sites/instruction", x_sites.instruction, y_sites.instruction);
  c.columns("access_sites/kind", x_sites.kind, y_sites.kind);
  c.columns("access_sites/space", x_sites.space, y_sites.space);
  c.columns("access_sites/set", x_sites.set, y_sites.set);
  c.columns("access_sites/binding", x_sites.binding, y_sites.binding);
  c.columns("access_sites/element", x_sites.element, y_sites.element);
  c.columns("access_sites/bytes", x_sites.bytes, y_sites.bytes);
  c.columns("access_sites/lanes", x_sites.lanes, y_sites.lanes);
  c.columns("access_sites/groups", x_sites.groups, y_sites.groups);
  c.columns("access_sites/sectors", x_sites.sectors, y_sites.sectors);
  c.columns("access_sites/lines", x_sites.lines, y_sites.lines);
  c.columns("access_sites/group_sectors", x_sites.group_sectors, y_sites.group_sectors);
  c.columns("access_sites/group_lines", x_sites.group_lines, y_sites.group_lines);
  c.columns("blocks/pipeline", a.block_counts.pipeline, b.block_counts.pipeline);
  c.columns("blocks/shader", a.block_counts.shader, b.block_counts.shader);
  c.columns("blocks/function", a.block_counts.function, b.block_counts.function);
  c.columns("blocks/block", a.block_counts.block, b.block_counts.block);
  c.columns("blocks/lanes", a.block_counts.lanes, b.block_counts.lanes);
  c.columns("blocks/groups", a.block_counts.groups, b.block_counts.groups);
  for (const auto& [kind, x, y] : {std::tuple("branches/", &a.branch_counts, &b.branch_counts),
                                   std::tuple("loads/", &a.load_counts, &b.load_counts)}) {
    const std::string path = kind;
    c.columns(path + "pipeline", x->pipeline, y->pipeline);
    c.columns(path + "shader", x->shader, y->shader);
    c.columns(path + "function", x->function, y->function);
    c.columns(path + "block", x->block, y->block);
    c.columns(path + "instruction", x->instruction, y->instruction);
    c.columns(path + "lanes", x->lanes, y->lanes);
    c.columns(path + "groups", x->groups, y->groups);
    c.columns(path + "uniform", x->uniform, y->uniform);
    c.columns(path + "uniform_address", x->uniform_address, y->uniform_address);
  }
  const ValueCounts& x_values = a.value_counts;
  const ValueCounts& y_values = b.value_counts;
  c.columns("values/pipeline", x_values.pipeline, y_values.pipeline);
  c.columns("values/shader", x_values.shader, y_values.shader);
  c.columns("values/function", x_values.function, y_values.function);
  c.columns("values/block", x_values.block, y_values.block);
  c.columns("values/instruction", x_values.instruction, y_values.instruction);
  c.columns("values/component", x_values.component, y_values.component);
  c.columns("values/lanes", x_values.lanes, y_values.lanes);
  c.columns("values/groups", x_values.groups, y_values.groups);
  c.columns("value_tables/place", x_values.place, y_values.place);
  c.columns("value_tables/value", x_values.value, y_values.value);
  c.columns("value_tables/lanes", x_values.value_lanes, y_values.value_lanes);
  c.columns("value_tables/uniform_groups", x_values.uniform_groups, y_values.uniform_groups);
  c.columns("value_tables/most_lanes", x_values.most_lanes, y_values.most_lanes);
  c.values("pipelines", a.pipeline_facts.size(), b.pipeline_facts.size());
  for (std::size_t i = 0; i < std::min(a.pipeline_facts.size(), b.pipeline_facts.size()); ++i) {
    compare_facts(a.pipeline_facts[i], b.pipeline_facts[i], c);
  }
  c.values("launches", a.launches.size(), b.launches.size());
  for (std::size_t i = 0; i < std::min(a.launches.size(), b.launches.size()); ++i) {
    compare_launches(a.launches[i], b.launches[i], c);
  }
  return c.result();
}

}  // namespace rayreplay::trace
