#include "app/commands/capture/capture_report.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/console/console.hpp"
#include "base/count_text.hpp"
#include "base/error.hpp"
#include "base/input_file.hpp"
#include "base/json.hpp"
#include "capture/ingest/report.hpp"
#include "capture/spool/writer.hpp"

namespace rayreplay::app {
namespace {

constexpr std::size_t kLinesShown = 20;

output::Cell count_of(const ingest::LaunchSummary& launch, trace::EventKind kind) {
  return launch.by_kind.at(static_cast<std::size_t>(kind));
}

std::string size_text(trace::LaunchSize size) {
  return size.depth == 1 ? fmt::format("{}x{}", size.width, size.height)
                         : fmt::format("{}x{}x{}", size.width, size.height, size.depth);
}

/// True if the efficiency of a launch is computed from some of its threads only.
bool is_biased(const ingest::IngestResult& result) {
  return std::any_of(result.traces.begin(), result.traces.end(), [](const ingest::TraceSummary& trace) {
    return std::any_of(trace.launches.begin(), trace.launches.end(),
                       [](const ingest::LaunchSummary& launch) { return launch.threads_missing; });
  });
}

}  // namespace

output::Table launch_table(const ingest::IngestResult& result) {
  output::Table table;
  table.columns = {{"trace", "trace", {}, 0, result.traces.size() < 2},
                   {"index", "index"},
                   {"launch", "launch"},
                   {"frame", "frame"},
                   {"size", "size"},
                   {"rays", "rays"},
                   {"events", "events"},
                   {"groups", "groups"},
                   {"simt_efficiency", "observed SIMT", output::Show::Percent, 1},
                   {"threads_missing", "biased", {}, 0, !is_biased(result)},
                   {"recorded_threads", "recorded threads", {}, 0, true},
                   {"device_ms", "device ms", output::Show::Plain, 3},
                   {"dropped_events", "dropped"},
                   {"closest_hits", "closest hits", {}, 0, true},
                   {"misses", "misses", {}, 0, true},
                   {"any_hits", "any-hits", {}, 0, true},
                   {"intersections", "intersections", {}, 0, true}};
  for (const ingest::TraceSummary& trace : result.traces) {
    std::uint64_t index = 0;
    for (const ingest::LaunchSummary& launch : trace.launches) {
      const std::uint64_t places = launch.warp_event_groups * trace.header.warp_size;
      using trace::EventKind;
      table.rows.push_back(
          {trace.path.string(), index++, std::uint64_t{launch.launch}, std::uint64_t{launch.frame},
           size_text(launch.size), launch.rays, launch.events, launch.groups,
           places == 0 ? output::Cell{} : static_cast<double>(launch.group_lanes) / static_cast<double>(places),
           launch.threads_missing, launch.recorded_threads ? output::Cell{*launch.recorded_threads} : output::Cell{},
           launch.duration_ns == 0 ? output::Cell{} : static_cast<double>(launch.duration_ns) * 1e-6,
           launch.dropped_events, count_of(launch, EventKind::ClosestHit), count_of(launch, EventKind::Miss),
           count_of(launch, EventKind::AnyHit), count_of(launch, EventKind::Intersection)});
    }
  }
  return table;
}

std::vector<SpoolFailure> spool_failures(const std::filesystem::path& path) {
  namespace fs = std::filesystem;
  constexpr std::size_t kGreatestReason = 1000;
  std::error_code error;
  std::vector<SpoolFailure> failures;
  const auto add = [&](const fs::path& marker) {
    std::string reason;
    try {
      reason = read_start(marker, kGreatestReason);
    } catch (const Error& unreadable) {
      reason = unreadable.info().found;
    }
    failures.push_back({fs::path(marker).replace_extension(), ingest::clean(reason)});
  };
  if (!fs::is_directory(path, error)) {
    const fs::path marker = path.string() + spool::kFailedExtension;
    if (fs::exists(marker, error)) {
      add(marker);
    }
    return failures;
  }
  for (const auto& entry : fs::directory_iterator(path, error)) {
    if (entry.path().extension() == spool::kFailedExtension &&
        entry.path().stem().extension() == spool::kFileExtension) {
      add(entry.path());
    }
  }
  std::sort(failures.begin(), failures.end(),
            [](const SpoolFailure& a, const SpoolFailure& b) { return a.spool < b.spool; });
  return failures;
}

void log_failures(const std::vector<SpoolFailure>& failures) {
  for (const SpoolFailure& failure : failures) {
    console::tell(
        "error: {}",
        format_error({"the spool could not be written completely: what the application did after that is lost",
                      failure.spool.string(), failure.reason.empty() ? "no reason is known" : failure.reason, "",
                      "make room on the disk, or capture less (--frames, --window, --every)"}));
  }
}

bool has_traces(const ingest::IngestResult& result) {
  // A program without launches may have counts of other work.
  return std::any_of(result.traces.begin(), result.traces.end(),
                     [](const ingest::TraceSummary& trace) { return !trace.launches.empty() || !trace.hash.empty(); });
}

Error no_launch(const std::string& output) {
  return Error(ErrorKind::Missing, {"no launch could be kept, so there is no trace", output, "", "",
                                    "the lines above say why each was left out"});
}

void print_launches(const ingest::IngestResult& result, output::Format format) {
  const output::Table table = launch_table(result);
  if (format != output::Format::Json) {
    std::string text = output::render(table, format);
    if (format == output::Format::Table && is_biased(result)) {
      text += "biased: not all threads were recorded, and large groups are seen more often than small ones\n";
    }
    console::print(text);
    return;
  }
  nlohmann::ordered_json traces = nlohmann::ordered_json::array();
  for (const ingest::TraceSummary& trace : result.traces) {
    if (trace.path.empty()) {
      continue;
    }
    traces.push_back({{"file", trace.path.string()},
                      {"hash", trace.hash},
                      {"application", trace.header.application},
                      {"pid", trace.pid},
                      {"device", trace.header.device},
                      {"driver", trace.header.driver},
                      {"warp_size", trace.header.warp_size},
                      {"not_captured", trace.header.not_captured}});
  }
  const nlohmann::ordered_json document = {
      {"schema", "rayreplay.ingest/1"}, {"traces", traces}, {"launches", to_json(table)}};
  console::print(json_text(document, 2) + "\n");
}

void log_traces(const ingest::IngestResult& result) {
  if (result.traces.size() > 1) {
    console::tell("{} devices or processes traced rays; each has a trace of its own", result.traces.size());
  }
  for (const ingest::SpoolSummary& spool : result.spools) {
    if (!spool.fault.empty()) {
      console::tell("{} is skipped: {}", spool.path.string(), spool.fault);
    }
  }
  for (const ingest::TraceSummary& trace : result.traces) {
    std::uint64_t rays = 0;
    std::uint64_t events = 0;
    for (const ingest::LaunchSummary& launch : trace.launches) {
      rays += launch.rays;
      events += launch.events;
    }
    if (trace.path.empty()) {
      console::tell("no trace of {} on {}: no launch could be kept", trace.header.application, trace.header.device);
      for (const std::string& line : trace.header.not_captured) {
        console::log("  not captured: " + line);
      }
      continue;
    }
    console::tell("{}: {}, {}, {} of {} on {}", trace.path.string(),
                  counted(trace.launches.size(), "launch", "launches"), counted(rays, "ray"), counted(events, "event"),
                  trace.header.application, trace.header.device);
    const auto& missing = trace.header.not_captured;
    for (std::size_t i = 0; i < std::min(missing.size(), kLinesShown); ++i) {
      console::log("  not captured: " + missing[i]);
    }
    if (missing.size() > kLinesShown) {
      console::log(fmt::format("  and {}: see rayreplay info {}", counted(missing.size() - kLinesShown, "more line"),
                               trace.path.string()));
    }
  }
}

}  // namespace rayreplay::app
