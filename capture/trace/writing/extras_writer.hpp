// Parts of a trace besides threads, rays, events and groups: a launch's attributes, shader table and images, and
// profiles. Internal to this room.
//
// Unknown parts are not written, so that a trace without them has the bytes that it always had.
#pragma once

#include <string>

#include "capture/trace/writer.hpp"
#include "capture/trace/writing/column_writer.hpp"

namespace rayreplay::trace {

/// `group`: the launch's, `path` its name.
void write_launch_extras(hid_t group, const std::string& path, std::uint32_t tlas, const LaunchExtras& extras,
                         ChunkPipeline& pipeline, std::uint64_t chunk_rows);

/// Groups below /profile. `kind`: "branches" or "loads".
void write_block_counts(hid_t root, const BlockCounts& counts, ChunkPipeline& pipeline, std::uint64_t chunk_rows);
void write_instruction_counts(hid_t root, const char* kind, const InstructionCounts& counts, ChunkPipeline& pipeline,
                              std::uint64_t chunk_rows);
void write_value_counts(hid_t root, const ValueCounts& counts, ChunkPipeline& pipeline, std::uint64_t chunk_rows);
void write_access_sites(hid_t root, const AccessSites& sites, ChunkPipeline& pipeline, std::uint64_t chunk_rows);
/// The group /pipelines.
void write_pipeline_facts(hid_t root, const std::vector<PipelineFacts>& facts, ChunkPipeline& pipeline,
                          std::uint64_t chunk_rows);
void write_paths(hid_t root, const Paths& paths, ChunkPipeline& pipeline, std::uint64_t chunk_rows);

}  // namespace rayreplay::trace
