// The parts of a trace file: header, shaders, scene, launches, profile. Internal to this room.
//
// Contract: `plan_…` plans the columns of a part with a ColumnLoader, into numbers that must stay where they are;
// `assemble_…` turns the loaded numbers into what trace.hpp has, checking the offsets that cut them. What the numbers
// mean is checked later, by validate.hpp.
#pragma once

#include <string>
#include <vector>

#include "capture/trace/reading/column_loader.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::trace {

[[nodiscard]] Header read_header(const SourceFile& file);

struct ShaderNumbers {
  std::vector<std::string> entry, name;
  Column<std::uint8_t> stage;
  Column<std::uint32_t> spirv;
  Column<std::uint64_t> spirv_offset;
};
void plan_shaders(ColumnLoader& loader, ShaderNumbers& numbers);
[[nodiscard]] std::vector<Shader> assemble_shaders(const SourceFile& file, const ShaderNumbers& numbers);

struct SceneNumbers {
  std::vector<std::string> name;
  Column<std::uint8_t> type, opaque;
  Column<float> vertices, boxes;
  Column<std::uint32_t> indices;
  Column<std::uint64_t> vertex_offset, index_offset, box_offset;
  Column<std::uint32_t> first_geometry, geometry_count;
  Column<std::uint32_t> blas, custom_index, hit_group_offset;
  Column<std::uint8_t> mask, flags;
  Column<float> transform;
  Column<std::uint32_t> first_instance, instance_count;

  // Known once planned.
  std::uint64_t geometries = 0, triangles = 0, box_rows = 0, blases = 0, instances = 0;
  std::uint64_t copied_bytes = 0;  ///< that `assemble_scene` copies
};
void plan_scene(ColumnLoader& loader, SceneNumbers& numbers);
[[nodiscard]] Scene assemble_scene(const SourceFile& file, const SceneNumbers& numbers);

/// The columns go straight into `counts`; none without the group /profile/blocks. Returns the rows.
std::uint64_t plan_block_counts(ColumnLoader& loader, BlockCounts& counts);

/// The same for the group /profile/`kind`. `addresses`: the group has a column for them.
std::uint64_t plan_instruction_counts(ColumnLoader& loader, const char* kind, bool addresses,
                                      InstructionCounts& counts);
std::uint64_t plan_value_counts(ColumnLoader& loader, ValueCounts& counts);

/// The same for the groups /profile/paths and /profile/path_blocks; the rows are the paths.
std::uint64_t plan_paths(ColumnLoader& loader, Paths& paths);

/// The same for the group /profile/access_sites.
std::uint64_t plan_access_sites(ColumnLoader& loader, AccessSites& sites);

/// The group /pipelines; no columns without it.
struct PipelineNumbers {
  Column<std::uint32_t> pipeline, recursion_depth, set_stack;
  Column<std::uint8_t> dynamic_stack;
  Column<std::uint64_t> group_offset, executable_offset, statistic_offset;
  Column<std::uint16_t> general, closest_hit, any_hit, intersection;
  Column<std::uint64_t> general_bytes, closest_hit_bytes, any_hit_bytes, intersection_bytes;
  std::vector<std::string> executable_name, executable_description, statistic_name, statistic_description;
  Column<std::uint32_t> stages, subgroup_size;
  Column<std::uint8_t> format;
  Column<std::uint64_t> value;

  std::uint64_t copied_bytes = 0;  ///< that `assemble_pipeline_facts` copies; known once planned
};
/// Returns the rows.
std::uint64_t plan_pipeline_facts(ColumnLoader& loader, PipelineNumbers& numbers);
[[nodiscard]] std::vector<PipelineFacts> assemble_pipeline_facts(const SourceFile& file,
                                                                 const PipelineNumbers& numbers);

/// What a launch claims, before its columns are loaded.
struct LaunchShape {
  LaunchSize size;
  std::uint64_t rays = 0;
  std::uint64_t events = 0;
  std::uint64_t groups = 0;
  std::uint64_t accesses = 0;
  std::uint64_t images = 0;
  bool has_warps = false;
};
struct ShaderTableNumbers {
  Column<std::uint8_t> region, data;
  Column<std::uint32_t> index;
  Column<std::uint16_t> general, closest_hit, any_hit, intersection;
  Column<std::uint64_t> data_offset;
};
[[nodiscard]] std::uint64_t count_launches(const SourceFile& file);
/// The columns go straight into `launch`, but for those of the shader table.
LaunchShape plan_launch(ColumnLoader& loader, std::uint64_t index, Launch& launch, ShaderTableNumbers& table);
[[nodiscard]] std::vector<ShaderRecord> assemble_shader_table(const SourceFile& file, std::uint64_t launch,
                                                              const ShaderTableNumbers& numbers);

/// Checks offsets that cut an array of `rows` rows into pieces.
void require_offsets(const SourceFile& file, const std::string& dataset, const Column<std::uint64_t>& offsets,
                     std::uint64_t rows);

}  // namespace rayreplay::trace
