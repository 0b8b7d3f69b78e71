// The group /pipelines: what the driver says of pipelines. Internal to this room.
#include <fmt/format.h>

#include "capture/trace/reading/trace_parts.hpp"

namespace rayreplay::trace {

using hdf5::Handle;

std::uint64_t plan_pipeline_facts(ColumnLoader& loader, PipelineNumbers& numbers) {
  const SourceFile& file = loader.file();
  const std::string root = "/pipelines";
  if (!file.has(file.root(), "pipelines", root)) {
    return 0;
  }
  const Handle pipelines = file.group(file.root(), "pipelines", root);
  const auto add = [&]<class T>(const Handle& group, const std::string& path, const char* name, Column<T>& column,
                                std::optional<std::uint64_t> rows = std::nullopt) {
    return loader.column(group.get(), path, column_spec<T>(name, Elision::Forbidden), column, rows);
  };
  const std::uint64_t rows = add(pipelines, root, "pipeline", numbers.pipeline);
  add(pipelines, root, "recursion_depth", numbers.recursion_depth, rows);
  add(pipelines, root, "dynamic_stack", numbers.dynamic_stack, rows);
  add(pipelines, root, "set_stack", numbers.set_stack, rows);
  add(pipelines, root, "group_offset", numbers.group_offset, rows + 1);
  add(pipelines, root, "executable_offset", numbers.executable_offset, rows + 1);
  {
    const std::string path = root + "/groups";
    const Handle groups = file.group(pipelines.get(), "groups", path);
    const std::uint64_t count = add(groups, path, "general", numbers.general);
    add(groups, path, "closest_hit", numbers.closest_hit, count);
    add(groups, path, "any_hit", numbers.any_hit, count);
    add(groups, path, "intersection", numbers.intersection, count);
    add(groups, path, "general_bytes", numbers.general_bytes, count);
    add(groups, path, "closest_hit_bytes", numbers.closest_hit_bytes, count);
    add(groups, path, "any_hit_bytes", numbers.any_hit_bytes, count);
    add(groups, path, "intersection_bytes", numbers.intersection_bytes, count);
    numbers.copied_bytes += sizeof(PipelineFacts) * rows + sizeof(GroupStack) * count;
  }
  {
    const std::string path = root + "/executables";
    const Handle executables = file.group(pipelines.get(), "executables", path);
    const std::uint64_t count = add(executables, path, "stages", numbers.stages);
    add(executables, path, "subgroup_size", numbers.subgroup_size, count);
    add(executables, path, "statistic_offset", numbers.statistic_offset, count + 1);
    numbers.executable_name = file.texts(executables.get(), "name", path + "/name", count);
    numbers.executable_description = file.texts(executables.get(), "description", path + "/description", count);
    numbers.copied_bytes += sizeof(Executable) * count;
  }
  const std::string path = root + "/statistics";
  const Handle statistics = file.group(pipelines.get(), "statistics", path);
  const std::uint64_t count = add(statistics, path, "format", numbers.format);
  add(statistics, path, "value", numbers.value, count);
  numbers.statistic_name = file.texts(statistics.get(), "name", path + "/name", count);
  numbers.statistic_description = file.texts(statistics.get(), "description", path + "/description", count);
  numbers.copied_bytes += sizeof(Statistic) * count;
  return rows;
}

std::vector<PipelineFacts> assemble_pipeline_facts(const SourceFile& file, const PipelineNumbers& numbers) {
  if (numbers.group_offset.empty()) {
    return {};  // The group is not there: with it, the offsets have a row more than there are pipelines.
  }
  require_offsets(file, "/pipelines/group_offset", numbers.group_offset, numbers.general.size());
  require_offsets(file, "/pipelines/executable_offset", numbers.executable_offset, numbers.stages.size());
  require_offsets(file, "/pipelines/executables/statistic_offset", numbers.statistic_offset, numbers.format.size());
  std::vector<PipelineFacts> facts(numbers.pipeline.size());
  for (std::size_t i = 0; i < facts.size(); ++i) {
    PipelineFacts& pipeline = facts[i];
    pipeline.pipeline = numbers.pipeline[i];
    pipeline.recursion_depth = numbers.recursion_depth[i];
    if (numbers.dynamic_stack[i] > 1) {
      file.fail(fmt::format("/pipelines/dynamic_stack[{}]", i), "there is no such value",
                std::to_string(numbers.dynamic_stack[i]), "0 or 1");
    }
    pipeline.dynamic_stack = numbers.dynamic_stack[i] != 0;
    pipeline.set_stack = numbers.set_stack[i];
    for (std::size_t g = numbers.group_offset[i]; g < numbers.group_offset[i + 1]; ++g) {
      pipeline.groups.push_back({numbers.general[g], numbers.closest_hit[g], numbers.any_hit[g],
                                 numbers.intersection[g], numbers.general_bytes[g], numbers.closest_hit_bytes[g],
                                 numbers.any_hit_bytes[g], numbers.intersection_bytes[g]});
    }
    for (std::size_t e = numbers.executable_offset[i]; e < numbers.executable_offset[i + 1]; ++e) {
      Executable executable{numbers.executable_name[e],
                            numbers.executable_description[e],
                            numbers.stages[e],
                            numbers.subgroup_size[e],
                            {}};
      for (std::size_t s = numbers.statistic_offset[e]; s < numbers.statistic_offset[e + 1]; ++s) {
        executable.statistics.push_back({numbers.statistic_name[s], numbers.statistic_description[s],
                                         static_cast<StatisticFormat>(numbers.format[s]), numbers.value[s]});
      }
      pipeline.executables.push_back(std::move(executable));
    }
  }
  return facts;
}

}  // namespace rayreplay::trace
