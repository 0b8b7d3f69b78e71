#include "app/commands/capture/capture_timing.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/console/console.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "capture/ingest/report.hpp"
#include "capture/layer/options/module_list.hpp"
#include "capture/spool/payload.hpp"
#include "capture/spool/reader.hpp"

namespace rayreplay::app {
namespace {

/// Notes contain text of the application: one line each.
std::string line_of(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return text;
}

void add(const spool::Block& block, std::uint64_t process, Timings& result, bool& ended) {
  if (block.type == spool::BlockType::Device) {
    ++result.facts.devices;
    if (spool::Device device; spool::decode(block.payload, device)) {
      result.device = line_of(fmt::format("{} ({} {})", device.name, device.driver_name, device.driver_info));
    }
  } else if (spool::Process process_block;
             block.type == spool::BlockType::Process && spool::decode(block.payload, process_block)) {
    result.facts.chosen = result.facts.chosen || ingest::are_launches_chosen(process_block);
  } else if (spool::End end; block.type == spool::BlockType::End && spool::decode(block.payload, end)) {
    result.facts.launches_seen += end.launches_seen;
    ended = true;
  } else if (spool::Seen seen; block.type == spool::BlockType::Seen && spool::decode(block.payload, seen)) {
    result.facts.seen.insert(seen.sight);
  } else if (block.type == spool::BlockType::Launch) {
    LaunchTiming timing;
    timing.process = process;
    if (spool::decode(block.payload, timing.launch)) {
      timing.launch.tables.clear();
      result.launches.push_back(std::move(timing));
    } else {
      result.faults.emplace_back("a launch of the spool cannot be understood");
    }
  } else if (spool::Note note; block.type == spool::BlockType::Note && spool::decode(block.payload, note)) {
    if (note.text.starts_with(layer::kReplacedNote)) {
      const std::string module = line_of(note.text.substr(layer::kReplacedNote.size()));
      if (std::find(result.replaced.begin(), result.replaced.end(), module) == result.replaced.end()) {
        result.replaced.push_back(module);
      }
      return;
    }
    result.notes.push_back(line_of(note.text));
  }
}

}  // namespace

Timings read_timings(const std::vector<std::filesystem::path>& spools) {
  Timings result;
  for (std::size_t process = 0; process < spools.size(); ++process) {
    bool ended = false;
    ++result.facts.spools;
    try {
      const spool::SpoolReader reader(spools[process]);
      for (const spool::Block& block : reader.blocks()) {
        add(block, process, result, ended);
      }
      if (reader.damaged_places() != 0 || reader.cut_bytes() != 0) {
        result.faults.push_back(fmt::format("{} is damaged: launches may be missing", spools[process].string()));
      }
    } catch (const Error& error) {
      result.faults.push_back(format_error(error.info()));
    }
    result.facts.all_closed = result.facts.all_closed && ended;
  }
  std::stable_sort(result.launches.begin(), result.launches.end(), [](const auto& a, const auto& b) {
    return std::pair(a.process, a.launch.launch) < std::pair(b.process, b.launch.launch);
  });
  return result;
}

output::Table timing_table(const Timings& timings) {
  const bool one_process = timings.launches.empty() || timings.launches.back().process == 0;
  output::Table table;
  table.columns = {{"process", "process", {}, 0, one_process},
                   {"launch", "launch"},
                   {"frame", "frame"},
                   {"size", "size"},
                   {"swizzled", "swizzled"},
                   {"device_ms", "device ms", output::Show::Plain, 3}};
  for (const LaunchTiming& timing : timings.launches) {
    const spool::Launch& launch = timing.launch;
    const bool measured = launch.end_ns > launch.begin_ns;
    const std::string depth = launch.depth == 1 ? "" : fmt::format("x{}", launch.depth);
    const bool known = launch.width != 0 || launch.height != 0 || launch.depth != 0;
    table.rows.push_back(
        {timing.process, std::uint64_t{launch.launch}, std::uint64_t{launch.frame},
         known ? output::Cell{fmt::format("{}x{}{}", launch.width, launch.height, depth)} : output::Cell{},
         launch.swizzled != 0,
         measured ? output::Cell{static_cast<double>(launch.end_ns - launch.begin_ns) * 1e-6} : output::Cell{}});
  }
  return table;
}

void print_timings(const Timings& timings, output::Format format) {
  const output::Table table = timing_table(timings);
  if (format != output::Format::Json) {
    console::print(output::render(table, format));
    return;
  }
  nlohmann::ordered_json document = {
      {"schema", "rayreplay.timing/1"}, {"notes", timings.notes}, {"launches", output::to_json(table)}};
  if (timings.not_asked_for) {
    document["shaders"] = {{"replaced", timings.replaced}, {"not_asked_for", *timings.not_asked_for}};
  }
  console::print(json_text(document, 2) + "\n");
}

}  // namespace rayreplay::app
