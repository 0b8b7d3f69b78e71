// From spool to trace: recordings of a captured application become .rrt files.
//
// Contract: `ingest` reads spool files and writes one trace for each device of each process that recorded events: the
// first is `output`, further ones get "-2", "-3", … before the extension (processes by start, devices by number). The
// bytes of a trace depend on the spool alone, not on the number of workers. Damaged parts are recovered as far as they
// are whole, and named in the trace's `not_captured`; a launch whose events break the rules of a trace is left out with
// its first fault, so that written traces always validate. Spool files that are empty, and among several those that are
// none, are skipped (SpoolSummary::fault says so). Errors: Input (no spool, another version), Output, Resource. A spool
// without events is no error: `traces` is empty. Cost: one pass over the records to find them, one to sort them, and
// the decoding on all cores; memory is 8 bytes a record (at most 1 GB at a time), 34 bytes a group, 9 a thread and the
// Writer's chunks; the spool is mapped, not copied.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/progress.hpp"
#include "capture/ingest/launch_decoder.hpp"
#include "capture/spool/format.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::ingest {

struct IngestOptions {
  bool overwrite = false;
  Progress* progress = nullptr;
  /// Launches whose threads need more are left out; 0: the available memory.
  std::uint64_t max_bytes = 0;
  DecodeLimits limits;
};

struct LaunchSummary {
  std::uint32_t launch = 0;  ///< number of the application's launches
  std::uint32_t frame = 0;
  trace::LaunchSize size;
  std::uint64_t rays = 0, events = 0, groups = 0;
  std::array<std::uint64_t, trace::kEventKinds> by_kind{};
  std::uint64_t warp_event_groups = 0, group_lanes = 0;  ///< SIMT efficiency = group_lanes / (warp size · groups)
  std::uint64_t dropped_events = 0;
  std::optional<std::uint64_t> recorded_threads;  ///< not known where no start of a thread was recorded
  bool threads_missing = false;   ///< window, sampling or a full event buffer left threads, or parts of them, out
  std::uint64_t duration_ns = 0;  ///< 0: not measured
};

struct TraceSummary {
  std::filesystem::path path;  ///< empty: no launch could be kept, and nothing was written
  std::string hash;
  std::uint32_t pid = 0;
  trace::Header header;
  std::vector<LaunchSummary> launches;
};

struct SpoolSummary {
  std::filesystem::path path;
  std::string fault;  ///< not empty: nothing could be read, and why
  std::uint32_t pid = 0;
  std::string executable;
  std::uint32_t devices = 0, recording_devices = 0, launches = 0;
  bool ended = false;
  std::uint32_t launches_seen = 0;      ///< known if ended
  std::uint32_t launches_captured = 0;  ///< with or without events
  bool launches_chosen = false;         ///< frames, launches or a trigger file were asked for
  std::set<spool::Sight> seen;
  std::vector<std::string> notes;
};

struct IngestResult {
  std::vector<SpoolSummary> spools;
  std::vector<TraceSummary> traces;
};

[[nodiscard]] IngestResult ingest(const std::vector<std::filesystem::path>& spools, const std::filesystem::path& output,
                                  const IngestOptions& options = {});

/// The spool files of a folder (names ending in spool::kFileExtension), or the file itself. Throws Input if there is
/// neither.
[[nodiscard]] std::vector<std::filesystem::path> find_spools(const std::filesystem::path& path);

}  // namespace rayreplay::ingest
