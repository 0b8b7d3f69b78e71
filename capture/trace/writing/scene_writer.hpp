// What a trace file holds besides launches: header, shaders, scene. Internal to this room.
#pragma once

#include <vector>

#include "capture/trace/trace.hpp"
#include "capture/trace/writing/column_writer.hpp"

namespace rayreplay::trace {

/// Greatest legal value of each id column, from what is known before the first event.
struct IdBounds {
  std::uint64_t shader = 0;
  std::uint64_t instance = 0;
  std::uint64_t primitive = 0;
  std::uint64_t geometry = 0;
};
/// The same where instance, primitive and geometry ids are not checked.
[[nodiscard]] IdBounds unknown_scene(IdBounds bounds);
[[nodiscard]] IdBounds id_bounds(const std::vector<Shader>& shaders, const Scene& scene);

void write_header(hid_t root, const Header& header);
void write_shaders(hid_t root, const std::vector<Shader>& shaders, ChunkPipeline& pipeline, std::uint64_t chunk_rows);
void write_scene(hid_t root, const Scene& scene, ChunkPipeline& pipeline, std::uint64_t chunk_rows);

}  // namespace rayreplay::trace
