// Reading a trace file (.rrt, HDF5), with every check before use.
//
// Contract: `load` returns a Trace that satisfies all rules of trace.hpp, or throws rayreplay::Error (Input: missing,
// truncated, damaged, wrong version, breaks a rule, names dataset and row; Resource: would need more memory than
// `max_bytes`). A file is untrusted: sizes, types, offsets, enumerations and ids are checked before they are used.
// Cost: one pass over the file's bytes and one over the decoded columns, in parallel over chunks; memory is the trace
// plus a few chunks per worker.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/progress.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::trace {

struct LoadOptions {
  std::uint64_t max_bytes = 0;  ///< of memory for columns; 0: what the machine has available
  Progress* progress = nullptr;
  /// False: the content is decoded but the rules of validate.hpp are not checked, so that `find_faults` can list every
  /// fault. Nothing else may use such a trace.
  bool rules = true;
};

[[nodiscard]] Trace load(const std::filesystem::path& path, const LoadOptions& options = {});

/// The profile of a file's shaders, with the errors and checks of `load`: launches and scene are hashed as bytes, but
/// not decoded.
struct Profile {
  Header header;
  std::vector<Shader> shaders;
  BlockCounts block_counts;
  InstructionCounts branch_counts, load_counts;
  std::string hash;  ///< as Trace::hash
  Paths paths{};
  AccessSites access_sites{};
  std::vector<PipelineFacts> pipeline_facts{};
  ValueCounts value_counts{};
};
[[nodiscard]] Profile load_profile(const std::filesystem::path& path);

/// Sizes and storage of a file: what `rayreplay info` shows. Checks the file's length, content hash and structure, with
/// the errors of `load`, so that `hash` is the identity of what the file holds. The columns are hashed as bytes, but
/// neither decoded nor held against the rules of trace.hpp, except those of /shaders and /pipelines: that is what
/// `load` does. One pass over the file's bytes.
struct ColumnInfo {
  std::string dataset;  ///< "/launch/0/events/kind"
  std::string type;     ///< on disk: "u8", "f32"
  std::uint64_t rows = 0;
  std::uint64_t stored_bytes = 0;
};
struct LaunchInfo {
  LaunchSize size;
  std::uint64_t rays = 0;
  std::uint64_t events = 0;
  std::uint64_t groups = 0;
  bool has_warps = false;
  std::uint32_t frame = 0;
  std::uint64_t duration_ns = 0;
  std::uint64_t dropped_events = 0;
  std::uint64_t accesses = 0;
  std::uint32_t pipeline = kNone;
  std::uint64_t images = 0;  ///< rows
};
struct FileInfo {
  std::uint64_t file_bytes = 0;
  std::uint32_t format_version = 0;
  std::string hash;
  Header header;
  std::vector<Shader> shaders;
  std::uint64_t geometries = 0;
  std::uint64_t blases = 0;
  std::uint64_t instances = 0;
  std::uint64_t primitives = 0;
  std::vector<LaunchInfo> launches;
  std::uint64_t block_counts = 0, branch_counts = 0, load_counts = 0, paths = 0, access_sites = 0;  ///< rows
  std::vector<ColumnInfo> columns;
  std::vector<PipelineFacts> pipeline_facts{};  ///< checked, as by `load`
  std::uint64_t value_places = 0;               ///< rows
};
[[nodiscard]] FileInfo read_info(const std::filesystem::path& path);

}  // namespace rayreplay::trace
