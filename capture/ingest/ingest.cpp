#include "capture/ingest/ingest.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "capture/ingest/device_ingest.hpp"
#include "capture/ingest/spool_contents.hpp"
#include "capture/spool/writer.hpp"

namespace rayreplay::ingest {
namespace {

namespace fs = std::filesystem;

struct OpenSpool {
  std::unique_ptr<spool::SpoolReader> reader;
  SpoolContents contents;
};

SpoolSummary summarize(const fs::path& path, const SpoolContents& contents) {
  SpoolSummary summary;
  summary.path = path;
  if (contents.process) {
    summary.pid = contents.process->pid;
    summary.launches_chosen = are_launches_chosen(*contents.process);
    summary.executable = clean(contents.process->executable);
  }
  summary.devices = static_cast<std::uint32_t>(contents.devices.size());
  for (const auto& [number, device] : contents.devices) {
    summary.recording_devices += device.events_words != 0 ? 1U : 0U;
  }
  for (const auto& [number, launch] : contents.launches) {
    summary.launches += has_events(launch) ? 1U : 0U;
  }
  summary.ended = contents.end.has_value();
  summary.launches_captured = static_cast<std::uint32_t>(contents.launches.size());
  summary.seen = contents.seen;
  summary.launches_seen = contents.end ? contents.end->launches_seen : 0;
  for (const spool::Note& note : contents.notes) {
    summary.notes.push_back(clean(note.text));
  }
  return summary;
}

fs::path numbered(const fs::path& output, std::size_t number) {
  if (number == 1) {
    return output;
  }
  fs::path path = output;
  path.replace_filename(fmt::format("{}-{}{}", output.stem().string(), number, output.extension().string()));
  return path;
}

}  // namespace

std::vector<fs::path> find_spools(const fs::path& path) {
  std::error_code error;
  std::vector<fs::path> files;
  if (!fs::is_directory(path, error)) {
    return {path};
  }
  for (const auto& entry : fs::directory_iterator(path, error)) {
    if (entry.path().extension() == spool::kFileExtension) {
      files.push_back(entry.path());
    }
  }
  if (error) {
    throw Error(ErrorKind::Input, {"the folder cannot be read", path.string(), error.message(), "", ""});
  }
  std::sort(files.begin(), files.end());
  if (files.empty()) {
    throw Error(ErrorKind::Input, {"there is no spool in the folder", path.string(), "",
                                   fmt::format("files that end in '{}'", spool::kFileExtension), ""});
  }
  return files;
}

IngestResult ingest(const std::vector<fs::path>& spools, const fs::path& output, const IngestOptions& options) {
  IngestResult result;
  std::vector<OpenSpool> open;
  for (const fs::path& path : spools) {
    std::error_code error;
    if (fs::file_size(path, error) == 0 && !error) {
      SpoolSummary summary;
      summary.path = path;
      summary.fault = "the file is empty: the application ended before anything was recorded";
      result.spools.push_back(summary);
      continue;
    }
    try {
      OpenSpool spool;
      spool.reader = std::make_unique<spool::SpoolReader>(path);
      spool.contents = read_contents(*spool.reader);
      result.spools.push_back(summarize(path, spool.contents));
      open.push_back(std::move(spool));
    } catch (const Error& failure) {
      // With several spools a damaged one does not stop the others.
      if (spools.size() == 1 || failure.kind() != ErrorKind::Input) {
        throw;
      }
      SpoolSummary summary;
      summary.path = path;
      summary.fault = failure.info().what;
      result.spools.push_back(summary);
    }
  }
  std::stable_sort(open.begin(), open.end(), [](const OpenSpool& a, const OpenSpool& b) {
    const auto key = [](const OpenSpool& s) {
      return s.contents.process ? std::pair(s.contents.process->start_unix_ns, s.contents.process->pid)
                                : std::pair(~std::uint64_t{0}, ~std::uint32_t{0});
    };
    return key(a) < key(b);
  });
  std::size_t written = 0;
  for (const OpenSpool& spool : open) {
    // Devices with launches but without a description also give a trace.
    std::map<std::uint32_t, spool::Device> devices;
    for (const auto& [number, launch] : spool.contents.launches) {
      if (has_events(launch)) {
        spool::Device& device = devices[launch.launch.device];
        const auto known = spool.contents.devices.find(launch.launch.device);
        if (known != spool.contents.devices.end()) {
          device = known->second;
        }
        device.device = launch.launch.device;
      }
    }
    for (const auto& [number, device] : spool.contents.devices) {
      if (counts_work(spool.contents, number)) {
        devices[number] = device;
      }
    }
    for (const auto& [number, device] : devices) {
      DeviceIngest ingest(spool.contents, *spool.reader, device, options);
      result.traces.push_back(ingest.run(numbered(output, written + 1)));
      written += result.traces.back().path.empty() ? 0U : 1U;
    }
  }
  return result;
}

}  // namespace rayreplay::ingest
