// Swizzle files: to hand a packing to an application, and to try a user's own.
//
// Contract: two forms. Flat: little-endian uint32, one per thread, nothing else (what a shader indexes by its row-major
// thread id); HDF5: dataset /swizzle (uint32) with attributes width, height, depth, packing (resolved spec),
// trace_hash. The form is told by the file's content on reading and by the ending on writing (.h5, .hdf5: HDF5; else
// flat). Errors: Input unless the file itself, through no links to others, holds a
// bijection for exactly this launch size; Output as OutputFile.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "capture/trace/trace.hpp"
#include "scheduler-models/packing.hpp"

namespace rayreplay::scheduler {

void write_swizzle(const std::filesystem::path& path, const Swizzle& swizzle, trace::LaunchSize size,
                   const std::string& packing, const std::string& trace_hash, bool overwrite);
[[nodiscard]] Swizzle read_swizzle(const std::filesystem::path& path, trace::LaunchSize size);
/// The size that the file says it is for; nothing for a flat file, or one of HDF5 that leaves width, height or depth
/// out. Errors: Input as read_swizzle.
[[nodiscard]] std::optional<trace::LaunchSize> swizzle_size(const std::filesystem::path& path);

}  // namespace rayreplay::scheduler
