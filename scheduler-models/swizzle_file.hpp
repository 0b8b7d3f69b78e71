// Swizzle files: packings for an application, and a user's own packings.
//
// Contract: two forms. Flat: little-endian uint32, one per thread (a shader indexes it by row-major thread id). HDF5:
// dataset /swizzle (uint32) with attributes width, height, depth, packing (resolved spec), trace_hash. Reading tells
// the form by content, writing by the ending (.h5, .hdf5: HDF5; else flat). Errors: Input unless the file itself,
// without links to other files, holds a bijection for exactly this launch size; Output as OutputFile.
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
/// The launch size that the file states; empty for a flat file, or if width, height or depth is missing. Errors: Input
/// as read_swizzle.
[[nodiscard]] std::optional<trace::LaunchSize> swizzle_size(const std::filesystem::path& path);

}  // namespace rayreplay::scheduler
