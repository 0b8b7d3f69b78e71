#include "capture/trace/writing/extras_writer.hpp"

#include "capture/trace/file/storage.hpp"
#include "capture/trace/writing/table_writer.hpp"

namespace rayreplay::trace {
namespace {

void write_shader_table(hid_t group, const std::string& path, const std::vector<ShaderRecord>& records,
                        ChunkPipeline& pipeline, std::uint64_t chunk_rows) {
  Table table(group, "shader_table", path + "/shader_table", pipeline, chunk_rows);
  table.column<std::uint8_t>("region", records, [](const ShaderRecord& r) { return r.region; });
  table.column<std::uint32_t>("index", records, [](const ShaderRecord& r) { return r.index; });
  table.column<std::uint16_t>("general", records, [](const ShaderRecord& r) { return r.general; });
  table.column<std::uint16_t>("closest_hit", records, [](const ShaderRecord& r) { return r.closest_hit; });
  table.column<std::uint16_t>("any_hit", records, [](const ShaderRecord& r) { return r.any_hit; });
  table.column<std::uint16_t>("intersection", records, [](const ShaderRecord& r) { return r.intersection; });
  table.arrays<std::uint8_t>(
      "data", "data_offset", 1, records, [](const ShaderRecord& r) -> const auto& { return r.data; });
  table.finish();
}

void write_images(hid_t group, const std::string& path, const Images& images, ChunkPipeline& pipeline,
                  std::uint64_t chunk_rows) {
  Table table(group, "images", path + "/images", pipeline, chunk_rows);
  visit_images(images, [&]<class T>(const char* name, const Column<T>& column) {
    table.rows<T>(name, 1, column.data(), column.size());
  });
  table.finish();
}

}  // namespace

void write_launch_extras(hid_t group, const std::string& path, std::uint32_t tlas, const LaunchExtras& extras,
                         ChunkPipeline& pipeline, std::uint64_t chunk_rows) {
  if (tlas != 0) {
    hdf5::write_attribute(group, "tlas", tlas, path);
  }
  if (extras.frame != 0) {
    hdf5::write_attribute(group, "frame", extras.frame, path);
  }
  if (extras.duration_ns != 0) {
    hdf5::write_attribute(group, "duration_ns", extras.duration_ns, path);
  }
  if (extras.dropped_events != 0) {
    hdf5::write_attribute(group, "dropped_events", extras.dropped_events, path);
  }
  if (extras.pipeline != kNone) {
    hdf5::write_attribute(group, "pipeline", extras.pipeline, path);
  }
  if (!extras.shader_table.empty()) {
    write_shader_table(group, path, extras.shader_table, pipeline, chunk_rows);
  }
  if (extras.images.size() != 0) {
    write_images(group, path, extras.images, pipeline, chunk_rows);
  }
}

namespace {

hdf5::Handle profile_group(hid_t root) {
  if (H5Lexists(root, "profile", H5P_DEFAULT) > 0) {
    return hdf5::Handle(H5Gopen2(root, "profile", H5P_DEFAULT));
  }
  return hdf5::create_group(root, "profile", "/profile");
}

}  // namespace

void write_block_counts(hid_t root, const BlockCounts& counts, ChunkPipeline& pipeline, std::uint64_t chunk_rows) {
  const hdf5::Handle profile = profile_group(root);
  Table table(profile.get(), "blocks", "/profile/blocks", pipeline, chunk_rows);
  const std::uint64_t rows = counts.size();
  table.rows<std::uint32_t>("pipeline", 1, counts.pipeline.data(), rows);
  table.rows<std::uint16_t>("shader", 1, counts.shader.data(), rows);
  table.rows<std::uint32_t>("function", 1, counts.function.data(), rows);
  table.rows<std::uint32_t>("block", 1, counts.block.data(), rows);
  table.rows<std::uint64_t>("lanes", 1, counts.lanes.data(), rows);
  if (!counts.groups.empty()) {
    table.rows<std::uint64_t>("groups", 1, counts.groups.data(), rows);
  }
  table.finish();
}

void write_instruction_counts(hid_t root, const char* kind, const InstructionCounts& counts, ChunkPipeline& pipeline,
                              std::uint64_t chunk_rows) {
  const hdf5::Handle profile = profile_group(root);
  Table table(profile.get(), kind, std::string("/profile/") + kind, pipeline, chunk_rows);
  const std::uint64_t rows = counts.size();
  table.rows<std::uint32_t>("pipeline", 1, counts.pipeline.data(), rows);
  table.rows<std::uint16_t>("shader", 1, counts.shader.data(), rows);
  table.rows<std::uint32_t>("function", 1, counts.function.data(), rows);
  table.rows<std::uint32_t>("block", 1, counts.block.data(), rows);
  table.rows<std::uint32_t>("instruction", 1, counts.instruction.data(), rows);
  table.rows<std::uint64_t>("lanes", 1, counts.lanes.data(), rows);
  table.rows<std::uint64_t>("groups", 1, counts.groups.data(), rows);
  table.rows<std::uint64_t>("uniform", 1, counts.uniform.data(), rows);
  if (!counts.uniform_address.empty()) {
    table.rows<std::uint64_t>("uniform_address", 1, counts.uniform_address.data(), rows);
  }
  table.finish();
}

void write_value_counts(hid_t root, const ValueCounts& counts, ChunkPipeline& pipeline, std::uint64_t chunk_rows) {
  const hdf5::Handle profile = profile_group(root);
  Table table(profile.get(), "values", "/profile/values", pipeline, chunk_rows);
  const std::uint64_t rows = counts.size();
  table.rows<std::uint32_t>("pipeline", 1, counts.pipeline.data(), rows);
  table.rows<std::uint16_t>("shader", 1, counts.shader.data(), rows);
  table.rows<std::uint32_t>("function", 1, counts.function.data(), rows);
  table.rows<std::uint32_t>("block", 1, counts.block.data(), rows);
  table.rows<std::uint32_t>("instruction", 1, counts.instruction.data(), rows);
  table.rows<std::uint8_t>("component", 1, counts.component.data(), rows);
  table.rows<std::uint64_t>("lanes", 1, counts.lanes.data(), rows);
  table.rows<std::uint64_t>("groups", 1, counts.groups.data(), rows);
  table.finish();
  Table values(profile.get(), "value_tables", "/profile/value_tables", pipeline, chunk_rows);
  const std::uint64_t entries = counts.value.size();
  values.rows<std::uint32_t>("place", 1, counts.place.data(), entries);
  values.rows<std::uint32_t>("value", 1, counts.value.data(), entries);
  values.rows<std::uint64_t>("lanes", 1, counts.value_lanes.data(), entries);
  values.rows<std::uint64_t>("uniform_groups", 1, counts.uniform_groups.data(), entries);
  values.rows<std::uint64_t>("most_lanes", 1, counts.most_lanes.data(), entries);
  values.finish();
}

void write_paths(hid_t root, const Paths& paths, ChunkPipeline& pipeline, std::uint64_t chunk_rows) {
  const hdf5::Handle profile = profile_group(root);
  Table table(profile.get(), "paths", "/profile/paths", pipeline, chunk_rows);
  table.rows<std::uint16_t>("shader", 1, paths.shader.data(), paths.size());
  table.rows<std::uint64_t>("calls", 1, paths.calls.data(), paths.calls.size());
  table.rows<std::uint32_t>("counts", 1, paths.counts.data(), paths.counts.size());
  table.finish();
  Table blocks(profile.get(), "path_blocks", "/profile/path_blocks", pipeline, chunk_rows);
  blocks.rows<std::uint16_t>("shader", 1, paths.block_shader.data(), paths.block_shader.size());
  blocks.rows<std::uint32_t>("function", 1, paths.function.data(), paths.function.size());
  blocks.rows<std::uint32_t>("block", 1, paths.block.data(), paths.block.size());
  blocks.finish();
}

void write_access_sites(hid_t root, const AccessSites& sites, ChunkPipeline& pipeline, std::uint64_t chunk_rows) {
  const hdf5::Handle profile = profile_group(root);
  Table table(profile.get(), "access_sites", "/profile/access_sites", pipeline, chunk_rows);
  const std::uint64_t rows = sites.size();
  table.rows<std::uint16_t>("shader", 1, sites.shader.data(), rows);
  table.rows<std::uint32_t>("function", 1, sites.function.data(), rows);
  table.rows<std::uint32_t>("block", 1, sites.block.data(), rows);
  table.rows<std::uint32_t>("instruction", 1, sites.instruction.data(), rows);
  table.rows<AccessKind>("kind", 1, sites.kind.data(), rows);
  table.rows<AccessSpace>("space", 1, sites.space.data(), rows);
  table.rows<std::uint32_t>("set", 1, sites.set.data(), rows);
  table.rows<std::uint32_t>("binding", 1, sites.binding.data(), rows);
  table.rows<std::uint32_t>("element", 1, sites.element.data(), rows);
  table.rows<std::uint32_t>("bytes", 1, sites.bytes.data(), rows);
  if (sites.has_sums()) {
    table.rows<std::uint64_t>("lanes", 1, sites.lanes.data(), rows);
    table.rows<std::uint64_t>("groups", 1, sites.groups.data(), rows);
    table.rows<std::uint64_t>("sectors", 1, sites.sectors.data(), rows);
    table.rows<std::uint64_t>("lines", 1, sites.lines.data(), rows);
    table.rows<std::uint64_t>("group_sectors", 1, sites.group_sectors.data(), rows);
    table.rows<std::uint64_t>("group_lines", 1, sites.group_lines.data(), rows);
  }
  table.finish();
}

}  // namespace rayreplay::trace
