#include "capture/trace/reader.hpp"

#include <utility>

#include "capture/trace/file/envelope.hpp"
#include "capture/trace/reading/trace_parts.hpp"
#include "capture/trace/rules/rules.hpp"
#include "capture/trace/seal.hpp"
#include "capture/trace/validate.hpp"

namespace rayreplay::trace {
namespace {

/// The tables of a profile, which a trace has and what is read of its profile alone.
template <class TraceOrProfile>
void plan_tables(ColumnLoader& loader, TraceOrProfile& into) {
  plan_block_counts(loader, into.block_counts);
  plan_instruction_counts(loader, "branches", false, into.branch_counts);
  plan_instruction_counts(loader, "loads", true, into.load_counts);
  plan_value_counts(loader, into.value_counts);
  plan_paths(loader, into.paths);
  plan_access_sites(loader, into.access_sites);
}

/// Everything behind the envelope, decoded and checked.
Trace load_content(const FileDescriptor& bytes, const std::filesystem::path& path, const LoadOptions& options) {
  Trace trace;
  {
    const SourceFile file(bytes, path);
    ColumnLoader loader(file);
    ShaderNumbers shaders;
    SceneNumbers scene;
    trace.header = read_header(file);
    plan_shaders(loader, shaders);
    plan_scene(loader, scene);
    const std::uint64_t launches = count_launches(file);
    trace.launches.resize(launches);
    std::vector<ShaderTableNumbers> tables(launches);
    for (std::uint64_t i = 0; i < launches; ++i) {
      plan_launch(loader, i, trace.launches[i], tables[i]);
    }
    plan_tables(loader, trace);
    PipelineNumbers pipelines;
    plan_pipeline_facts(loader, pipelines);
    loader.run(options.max_bytes, scene.copied_bytes + pipelines.copied_bytes, options.progress);
    trace.shaders = assemble_shaders(file, shaders);
    trace.scene = assemble_scene(file, scene);
    trace.pipeline_facts = assemble_pipeline_facts(file, pipelines);
    for (std::uint64_t i = 0; i < launches; ++i) {
      trace.launches[i].shader_table = assemble_shader_table(file, i, tables[i]);
    }
  }
  if (options.rules) {
    check(trace, path.string());
  }
  return trace;
}

}  // namespace

Trace load(const std::filesystem::path& path, const LoadOptions& options) {
  const FileDescriptor bytes(path, FileDescriptor::Mode::Read);
  const Envelope envelope = read_envelope(bytes, path);
  verify_content(bytes, envelope, path);
  Trace trace = load_content(bytes, path, options);
  trace.hash = to_hex(envelope.hash);
  return trace;
}

Profile load_profile(const std::filesystem::path& path) {
  const FileDescriptor bytes(path, FileDescriptor::Mode::Read);
  const Envelope envelope = read_envelope(bytes, path);
  verify_content(bytes, envelope, path);
  const SourceFile file(bytes, path);
  Profile profile;
  profile.hash = to_hex(envelope.hash);
  profile.header = read_header(file);
  ColumnLoader loader(file);
  ShaderNumbers shaders;
  plan_shaders(loader, shaders);
  plan_tables(loader, profile);
  PipelineNumbers pipelines;
  plan_pipeline_facts(loader, pipelines);
  loader.run(0, 0, nullptr);
  profile.pipeline_facts = assemble_pipeline_facts(file, pipelines);
  profile.shaders = assemble_shaders(file, shaders);
  FaultList faults(1, path.string());
  check_header(profile.header, faults);
  check_shaders(profile.shaders, faults);
  const std::size_t shader_count = profile.shaders.size();
  const std::uint32_t warp_size = profile.header.warp_size;
  check_block_counts(profile.block_counts, shader_count, warp_size, faults);
  check_instruction_counts(profile.branch_counts, "branches", false, shader_count, warp_size, faults);
  check_instruction_counts(profile.load_counts, "loads", true, shader_count, warp_size, faults);
  check_value_counts(profile.value_counts, shader_count, warp_size, faults);
  check_path_table(profile.paths, shader_count, faults);
  check_access_sites(profile.access_sites, shader_count, faults);
  check_pipeline_facts(profile.pipeline_facts, stages_of(profile.shaders), faults);
  if (!faults.list().empty()) {
    throw Error(ErrorKind::Input, faults.list().front());
  }
  return profile;
}

FileInfo read_info(const std::filesystem::path& path) {
  const FileDescriptor bytes(path, FileDescriptor::Mode::Read);
  const Envelope envelope = read_envelope(bytes, path);
  verify_content(bytes, envelope, path);
  FileInfo info;
  info.file_bytes = bytes.size();
  info.format_version = envelope.version;
  info.hash = to_hex(envelope.hash);

  const SourceFile file(bytes, path);
  info.header = read_header(file);
  ShaderNumbers shaders;
  {
    ColumnLoader loader(file);
    PipelineNumbers pipelines;
    plan_shaders(loader, shaders);
    plan_pipeline_facts(loader, pipelines);
    loader.run(0, 0, nullptr);
    info.shaders = assemble_shaders(file, shaders);
    info.pipeline_facts = assemble_pipeline_facts(file, pipelines);
    FaultList faults(1, path.string());
    check_pipeline_facts(info.pipeline_facts, stages_of(info.shaders), faults);
    if (!faults.list().empty()) {
      throw Error(ErrorKind::Input, faults.list().front());
    }
  }
  // Planned to learn their sizes, never loaded.
  ColumnLoader loader(file);
  SceneNumbers scene;
  plan_shaders(loader, shaders);
  plan_scene(loader, scene);
  info.geometries = scene.geometries;
  info.blases = scene.blases;
  info.instances = scene.instances;
  info.primitives = scene.triangles + scene.box_rows;
  const std::uint64_t launches = count_launches(file);
  for (std::uint64_t i = 0; i < launches; ++i) {
    Launch launch;
    ShaderTableNumbers table;
    const LaunchShape shape = plan_launch(loader, i, launch, table);
    info.launches.push_back({shape.size, shape.rays, shape.events, shape.groups, shape.has_warps, launch.frame,
                             launch.duration_ns, launch.dropped_events, shape.accesses, launch.pipeline, shape.images});
  }
  BlockCounts block_counts;
  InstructionCounts branch_counts, load_counts;
  info.block_counts = plan_block_counts(loader, block_counts);
  info.branch_counts = plan_instruction_counts(loader, "branches", false, branch_counts);
  info.load_counts = plan_instruction_counts(loader, "loads", true, load_counts);
  ValueCounts value_counts;
  info.value_places = plan_value_counts(loader, value_counts);
  Paths paths;
  info.paths = plan_paths(loader, paths);
  AccessSites access_sites;
  info.access_sites = plan_access_sites(loader, access_sites);
  PipelineNumbers pipelines;
  plan_pipeline_facts(loader, pipelines);
  for (const ColumnPlan& plan : loader.plans()) {
    info.columns.push_back({plan.dataset, name_of(plan.disk), plan.rows, plan.stored_bytes});
  }
  return info;
}

std::string seal(const std::filesystem::path& path) {
  {
    const FileDescriptor bytes(path, FileDescriptor::Mode::Read);
    require_trace(bytes, path);
    static_cast<void>(load_content(bytes, path, {}));
  }
  return to_hex(write_envelope(FileDescriptor(path, FileDescriptor::Mode::ReadWrite)));
}

}  // namespace rayreplay::trace
