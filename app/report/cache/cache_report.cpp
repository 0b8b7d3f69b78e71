#include "app/report/cache/cache_report.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/report/cache/cache_curve.hpp"
#include "app/report/cache/cache_evictions.hpp"
#include "app/report/cache/cache_page.hpp"
#include "app/report/cache/cache_pictures.hpp"
#include "app/report/cache/cache_table.hpp"
#include "app/report/cache/cache_time.hpp"
#include "app/report/context/answers.hpp"
#include "app/report/context/experiment_table.hpp"
#include "app/report/context/provenance.hpp"
#include "base/count_text.hpp"
#include "base/json.hpp"
#include "base/output_file.hpp"
#include "base/text.hpp"
#include "sim/settings/machine_settings.hpp"

namespace rayreplay::report {
namespace {

using experiment::CacheResult;
using nlohmann::ordered_json;

constexpr const char* kSchema = "rayreplay.cache/3";
constexpr std::size_t kCurvePoints = 256;
constexpr const char* kScheduleFile = "scheduler.file";
constexpr const char* kHistogramsFile = "histograms.csv";
constexpr const char* kEvictionsFile = "evictions.csv";
constexpr const char* kTimeStagesFile = "time-stages.csv";
constexpr const char* kTimeSmsFile = "time-sms.csv";
constexpr std::array<std::string_view, 9> kFiles = {"index.html",   "cache.json",    "cache.csv",
                                                    "config.toml",  "machine.toml",  kHistogramsFile,
                                                    kEvictionsFile, kTimeStagesFile, kTimeSmsFile};

bool is_cache_file(std::string_view name) {
  const auto& pictures = cache_picture_files();
  return std::find(kFiles.begin(), kFiles.end(), name) != kFiles.end() ||
         std::find(pictures.begin(), pictures.end(), name) != pictures.end();
}

ordered_json geometry_json(const memory::CacheGeometry& geometry) {
  return {{"bytes", geometry.bytes},          {"line_bytes", geometry.line_bytes}, {"sector_bytes", geometry.sector()},
          {"ways", geometry.associativity()}, {"sets", geometry.sets()},           {"lines", geometry.lines()}};
}

ordered_json levels_json(const CacheResult& result) {
  ordered_json levels = ordered_json::array();
  for (std::size_t level = 0; level < memory::kLevels; ++level) {
    if (!has_level(result, level)) {
      continue;
    }
    const memory::LevelResult& found = result.analysis.levels[level];
    ordered_json curve = ordered_json::array();
    for (const memory::SampledPoint& point : level_curve(result, level, kCurvePoints)) {
      ordered_json row = {point.lines, point.miss_ratio};
      if (is_sampled(result)) {
        row.push_back(point.error < 0 ? ordered_json() : ordered_json(point.error));
      }
      curve.push_back(std::move(row));
    }
    levels.push_back({{"level", kLevelNames[level]},
                      {"model", found.model},
                      {"geometry", geometry_json(found.geometry)},
                      {"caches", found.caches},
                      {"counts",
                       {{"accesses", found.counts.accesses},
                        {"hits", from_fixed(found.counts.hits)},
                        {"sector_misses", found.counts.sector_misses},
                        {"evictions", found.counts.evictions},
                        {"sectors_filled", found.counts.sectors_filled},
                        {"sectors_written", found.counts.sectors_written}}},
                      {"reuse_distances", bins_json(found.histogram)},
                      {"miss_ratio_curve", std::move(curve)}});
  }
  return levels;
}

double share(std::uint64_t part, std::uint64_t all) {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

ordered_json summary_json(const CacheResult& result) {
  const CacheSummary summary = summarise(result);
  const machine::InterleaveResult& interleaved = result.interleaved;
  const auto rate = [](double value) { return value < 0 ? ordered_json() : ordered_json(value); };
  const bool both = has_level(result, memory::kL1) && has_level(result, memory::kL2);
  const auto between = [both](std::uint64_t bytes) { return both ? ordered_json(bytes) : ordered_json(); };
  ordered_json json = {{"requests", summary.requests},
                       {"transactions", summary.transactions},
                       {"unallocated_requests", result.analysis.unallocated},
                       {"l1_request_hit_rate", rate(summary.l1_request_rate)},
                       {"l2_request_hit_rate", rate(summary.l2_request_rate)},
                       {"l2_to_l1_bytes", between(summary.filled_bytes[memory::kL1])},
                       {"l1_to_l2_bytes", between(summary.written_bytes[memory::kL1])},
                       {"dram_read_bytes", summary.dram_read_bytes},
                       {"dram_write_bytes", summary.dram_write_bytes}};
  if (!result.scheduled) {
    return json;
  }
  json["instructions"] = summary.instructions;
  json["transactions_per_instruction"] = share(summary.transactions, summary.instructions);
  json["cycles"] = interleaved.cycles;
  json["milliseconds"] = summary.milliseconds;
  json["dram_bytes_per_second"] = summary.dram_bytes_per_second;
  json["mshr_stall_cycles"] = interleaved.mshr_stall_cycles;
  json["served_loads"] = {{"l1", interleaved.l1_hits},
                          {"merged", interleaved.merged},
                          {"l2", interleaved.l2_hits},
                          {"dram", interleaved.dram}};
  json["rays"] = result.tally.rays;
  for (const char* key : {"instructions", "transactions", "requests", "l2_to_l1_bytes", "l1_to_l2_bytes",
                          "dram_read_bytes", "dram_write_bytes"}) {
    const ordered_json& value = json[key];
    json["per_ray"][key] = value.is_null() || result.tally.rays == 0
                               ? ordered_json()
                               : ordered_json(share(value.get<std::uint64_t>(), result.tally.rays));
  }
  json["ignored_rays"] = result.tally.ignored_rays;
  json["unobserved_candidates"] = result.tally.unobserved;
  json["shader_accesses"] = result.tally.shader_accesses;
  json["image_accesses"] = result.tally.image_accesses;
  json["nowhere_accesses"] = result.tally.nowhere_accesses;
  json["assumed_filters"] = result.tally.assumed_filters;
  json["outside_samples"] = result.tally.outside_samples;
  json["stored_pixels"] = result.tally.stored_pixels;
  json["structure_bytes"] = result.structure_bytes;
  return json;
}

ordered_json allocations_json(const memory::Allocations& allocations) {
  ordered_json list = ordered_json::array();
  for (const memory::Allocation& row : allocations.rows()) {
    list.push_back({{"name", row.name},
                    {"kind", memory::to_string(row.kind)},
                    {"start", row.start},
                    {"bytes", row.bytes},
                    {"element_bytes", row.element_bytes},
                    {"first_element", row.first_element}});
  }
  return list;
}

void line(std::string& text, std::string_view name, const std::string& value) {
  text += fmt::format("{:<8} {}\n", name, text::printable(value));
}

std::string level_line(const CacheResult& result, std::size_t level) {
  if (!has_level(result, level)) {
    return "none";
  }
  const memory::LevelResult& found = result.analysis.levels[level];
  return fmt::format("{}, {}{}", to_string(found.geometry), found.model,
                     level == memory::kL1
                         ? fmt::format(", {} of {} used", found.caches, counted(result.machine.sms, "SM"))
                     : result.options.caches.l2_feed == memory::L2Feed::All || !has_level(result, memory::kL1)
                         ? ", fed by every access"
                         : ", fed by the L1s' misses");
}

}  // namespace

std::string application_text(const CacheResult& result) {
  return result.application + (result.application.empty() || result.device.empty() ? "" : ", ") + result.device;
}

std::string cache_sentences(const CacheResult& result) {
  const CacheSummary summary = summarise(result);
  const machine::InterleaveResult& interleaved = result.interleaved;
  const std::uint64_t rays = result.tally.rays;
  const auto per_ray = [rays](std::uint64_t amount, const char* unit) {
    return rays == 0 ? std::string() : fmt::format(" ({:.1f}{} a ray)", share(amount, rays), unit);
  };
  const auto bytes = [&per_ray](std::uint64_t amount) { return output::bytes_text(amount) + per_ray(amount, " B"); };
  std::string text;
  if (result.scheduled) {
    text += fmt::format("{}, {}, {} ({:.2f} an instruction, {}), ", counted(rays, "ray"),
                        counted(summary.instructions, "warp instruction"), counted(summary.transactions, "transaction"),
                        share(summary.transactions, summary.instructions),
                        result.options.stream.coalescing.coalesce ? "coalesced" : "every lane its own");
  } else {
    text += counted(summary.transactions, "transaction") + ", ";
  }
  text += fmt::format("{} ({:.2f} lanes a transaction)\n", counted(summary.requests, "request"),
                      share(summary.requests, summary.transactions));
  if (summary.l1_request_rate >= 0 || summary.l2_request_rate >= 0) {
    text += "hit rates over requests:";
    text += summary.l1_request_rate >= 0 ? fmt::format(" L1 {:.2f} %", 100 * summary.l1_request_rate) : "";
    text += summary.l2_request_rate >= 0 ? fmt::format(" L2 {:.2f} %", 100 * summary.l2_request_rate) : "";
    text += "\n";
  }
  if (result.scheduled) {
    text += fmt::format(
        "{} cycles ({:.3f} ms at {:.0f} MHz); loads served by L1 {:.1f} %, merged {:.1f} %, "
        "L2 {:.1f} %, DRAM {:.1f} %; load units wait for a free MSHR in {:.1f} % of SM-cycles\n",
        with_separators(interleaved.cycles), summary.milliseconds, result.machine.clock_mhz,
        100 * share(interleaved.l1_hits, summary.loads), 100 * share(interleaved.merged, summary.loads),
        100 * share(interleaved.l2_hits, summary.loads), 100 * share(interleaved.dram, summary.loads),
        100 * share(interleaved.mshr_stall_cycles, interleaved.cycles * result.machine.sms));
    text += has_time(result) ? cache_time_sentence(result) : "";
  }
  if (has_level(result, memory::kL1) && has_level(result, memory::kL2)) {
    text += fmt::format("L2 to L1: {}; L1 to L2: {}\n", bytes(summary.filled_bytes[memory::kL1]),
                        bytes(summary.written_bytes[memory::kL1]));
  }
  text += fmt::format("DRAM, estimated: {} read, {} written", bytes(summary.dram_read_bytes),
                      bytes(summary.dram_write_bytes));
  if (result.scheduled) {
    text += fmt::format("; {:.1f} GB/s of {:.0f} over those cycles", summary.dram_bytes_per_second / 1e9,
                        result.machine.dram_bytes_per_second / 1e9);
  }
  return text + "\n";
}

namespace {

/// Notes on captured accesses to images: assumptions, and accesses that touch no memory.
std::vector<std::string> image_notes(const CacheResult& result) {
  const memory::SourceTally& tally = result.tally;
  std::vector<std::string> notes;
  if (tally.image_accesses > 0) {
    notes.push_back(fmt::format("{} to images, whose texels lie as in {} (assumed)",
                                counted(tally.image_accesses, "access", "accesses"),
                                result.options.stream.image_layout));
  }
  if (tally.assumed_filters > 0) {
    notes.push_back(fmt::format("{} through samplers that are not in the trace, taken as linear (assumed)",
                                counted(tally.assumed_filters, "sample")));
  }
  if (tally.outside_samples > 0) {
    notes.push_back(
        fmt::format("{} outside of the image, taken as those of a sampler that repeats (assumed: a trace "
                    "does not have the samplers' address modes)",
                    counted(tally.outside_samples, "sample")));
  }
  if (tally.nowhere_accesses > 0) {
    notes.push_back(
        fmt::format("{} to images that are not in the trace's table, or to texels that the image does not "
                    "have, left out",
                    counted(tally.nowhere_accesses, "access", "accesses")));
  }
  return notes;
}

/// The shaders' own accesses in the stream; "": the trace has none.
std::string shader_accesses_text(const CacheResult& result) {
  std::string text;
  const memory::SourceTally& tally = result.tally;
  if (tally.shader_accesses > 0) {
    text = fmt::format("{} to {}, captured", counted(tally.shader_accesses, "access", "accesses"),
                       tally.image_accesses == 0                       ? "buffers"
                       : tally.image_accesses == tally.shader_accesses ? "images"
                                                                       : "buffers and images");
    if (result.tally.stored_pixels > 0) {
      text += fmt::format("; those of {} stand for the assumed write of their pixels",
                          counted(result.tally.stored_pixels, "thread"));
    }
  }
  for (const std::string& note : image_notes(result)) {
    text += (text.empty() ? "" : "; ") + note;
  }
  for (const std::string& note : result.shader_notes) {
    text += (text.empty() ? "" : "; ") + note;
  }
  return text;
}

}  // namespace

Facts cache_facts(const CacheResult& result) {
  Facts facts;
  if (result.scheduled) {
    facts = {{"machine", fmt::format("{}: {}, {:.0f} MHz", result.machine.name, counted(result.machine.sms, "SM"),
                                     result.machine.clock_mhz)},
             {"schedule", fmt::format("{}, {}, {} of an SM resident, packed {}", result.schedule,
                                      result.options.interleaving.warp_scheduler,
                                      counted(result.options.interleaving.resident_warps, "warp"), result.packing)},
             {"BVH", fmt::format("{}, {}", result.builder, result.layout)},
             {"memory", fmt::format("{}: nodes {}, vertices {}", output::bytes_text(result.structure_bytes),
                                    result.node_order, result.vertex_order)},
             {"accesses", result.warp_traversal}};
    if (result.model != "plain") {
      facts.insert(facts.begin() + 2, {"model", result.model});
    }
    if (!result.schedule_note.empty()) {
      facts.insert(facts.begin() + 2, {"note", result.schedule_note});
    }
    if (const std::string shaders = shader_accesses_text(result); !shaders.empty()) {
      facts.emplace_back("shaders", shaders);
    }
  } else {
    facts = {{"caches", fmt::format("of {}", result.machine.name)}};
  }
  if (!result.guesses.empty()) {
    facts.emplace_back("labels", fmt::format("GUESSED from the traffic for {} of {}", result.guesses.size(),
                                             counted(result.allocations.rows().size(), "allocation")));
  }
  facts.emplace_back("L1", level_line(result, memory::kL1));
  facts.emplace_back("L2", level_line(result, memory::kL2));
  if (!result.analysis.reuse_engine.empty()) {
    const std::string sizes = sampled_sizes_text(result);
    facts.emplace_back("reuse", result.analysis.reuse_engine +
                                    (sizes.empty() ? ""
                                                   : "; misses of fully associative LRU caches of these sizes, ± "
                                                     "standard error: " +
                                                         sizes));
  }
  return facts;
}

std::string cache_text(const CacheContext& context) {
  const CacheResult& result = context.result;
  std::string text = (has_time(result) ? cache_time_answer(result) : "") + cache_answer(cache_rows(result));
  text += text.empty() ? "" : "\n";
  if (context.launch != nullptr) {
    text += context_text(*context.launch);
  } else {
    const std::string both = application_text(result);
    line(text, "trace", context.trace_file + (both.empty() ? "" : " (" + both + ")"));
    if (device_summary(context.stages) != device_summary({})) {
      line(text, "device", stages_text(context.stages));
    }
  }
  for (const auto& [name, value] : cache_facts(result)) {
    line(text, name, value);
  }
  text += "\n" + output::to_text(for_people(cache_rows(result))) + "\n" + cache_sentences(result);
  if (has_time(result)) {
    text += "\n" + output::to_text(cache_time_table(result));
    text += "\n" + output::to_text(cache_time_stages_met(result));
    text += "\n" + output::to_text(cache_time_sms(result));
  }
  if (result.analysis.windows.size() > 1) {
    text += "\n" + output::to_text(cache_windows(result));
  }
  if (!result.guesses.empty()) {
    text += "\nguessed labels: kinds of data above are these suggestions\n" + output::to_text(cache_guesses(result));
  }
  if (const auto parts = histogram_parts(result, context.launches); !parts.empty()) {
    text += "\nreuse distances (lines)\n" + output::to_text(histogram_table(result, parts));
  }
  if (!context.groups.empty()) {
    text += "\nhit rates by the elements' place (over requests)\n" + output::to_text(group_table(context.groups));
  }
  if (result.options.evictions) {
    text += fmt::format("\nmisses that are no first accesses, by the kind of data whose access evicted the line{}\n{}",
                        is_sampled(result) ? " (counted; the causes of misses above are estimates of a sample)" : "",
                        output::to_text(eviction_table(result)));
  }
  return text;
}

ordered_json cache_json(const CacheContext& context) {
  const CacheResult& result = context.result;
  ordered_json document;
  if (context.launch != nullptr) {
    document = context_json(*context.launch, kSchema);
  } else {
    document = {{"schema", kSchema},
                {"tool", {{"name", "rayreplay"}, {"version", RAYREPLAY_VERSION}}},
                {"device", device_summary(context.stages)},
                {"devices", stages_json(context.stages)},
                {"trace",
                 {{"file", context.trace_file},
                  {"hash", result.trace_hash},
                  {"application", result.application},
                  {"device", result.device}}}};
  }
  document["configuration"] = settings_json(context.settings);
  document["configuration"]["scheduled"] = result.scheduled;
  document["configuration"]["captured_sms"] = result.captured_sms;
  document["configuration"]["schedule_note"] = result.schedule_note;
  std::vector<std::string> notes = result.shader_notes;
  std::ranges::move(image_notes(result), std::back_inserter(notes));
  document["configuration"]["shader_notes"] = notes;
  document["machine"] = machine_json(result.machine);
  document["summary"] = summary_json(result);
  if (has_time(result)) {
    document["time"] = cache_time_json(result);
  }
  document["rows"] = to_json(cache_rows(result));
  document["levels"] = levels_json(result);
  document["reuse_engine"] = {{"spec", result.analysis.reuse_engine}, {"weight", result.analysis.reuse_weight}};
  document["sms"] = to_json(cache_sms(result));
  document["windows"] = to_json(cache_windows(result));
  document["allocations"] = allocations_json(result.allocations);
  if (result.options.guess_labels) {
    document["label_guesses"] = to_json(cache_guesses(result));
  }
  if (const auto parts = histogram_parts(result, context.launches); !parts.empty()) {
    document["histograms"] = histograms_json(result, parts);
  }
  if (!context.groups.empty()) {
    document["element_groups"] = to_json(group_table(context.groups));
  }
  if (result.options.evictions) {
    document["evictions"] = to_json(eviction_rows(result));
  }
  return document;
}

output::Table cache_csv_rows(const CacheContext& context) {
  const CacheResult& result = context.result;
  NamedCells cells = {{"trace_hash", result.trace_hash},
                      {"tool_version", std::string(RAYREPLAY_VERSION)},
                      {"device", device_summary(context.stages)},
                      {"devices", stages_text(context.stages)}};
  for (const auto& [key, setting] : context.settings.all()) {
    cells.emplace_back(key, to_text(setting.value));
  }
  return with_cells(cache_rows(result), cells);
}

std::string cache_configuration(const CacheContext& context, const std::string& machine, const std::string& folder) {
  experiment::Settings settings = context.settings;
  if (!machine.empty()) {
    settings.set(experiment::kMachineName, machine, "");
  }
  const std::filesystem::path schedule = settings.text(kScheduleFile);
  if (!folder.empty() && !schedule.empty() && schedule.is_relative()) {
    std::error_code error;
    const std::filesystem::path there = std::filesystem::proximate(schedule, std::filesystem::absolute(folder), error);
    settings.set(kScheduleFile, (error ? schedule : there).string(), "");
  }
  return experiment::to_toml(settings, false);
}

output::FolderKind cache_folder() {
  return {"index.html", kGeneratorMark, is_cache_file};
}

void write_cache_report(const CacheReportOptions& options, const CacheContext& context) {
  output::OutputFolder folder(options.folder, options.force, cache_folder());
  const auto write = [&folder](const std::string& name, std::string_view bytes) {
    write_file(folder.temporary_path() / name, bytes, false);
  };
  const std::vector<std::string> shipped = machine::shipped_machines();
  const bool own = std::ranges::find(shipped, context.settings.text(experiment::kMachineName)) == shipped.end();
  // The page's own machine file: the copy beside it, so that no other file is needed.
  const CachePage page{context, make_cache_pictures(context.result, options.colormap),
                       cache_configuration(context, own ? "./machine.toml" : "", options.folder)};
  for (const Picture& picture : page.pictures) {
    write(picture.file, picture.png);
  }
  write("config.toml", page.configuration_toml);
  write("machine.toml", machine::to_toml(context.result.machine));
  write("cache.json", json_text(cache_json(context), 2) + "\n");
  write("cache.csv", output::to_csv(cache_csv_rows(context)));
  if (const auto parts = histogram_parts(context.result, context.launches); !parts.empty()) {
    write(kHistogramsFile, output::to_csv(histogram_bins(parts)));
  }
  if (context.result.options.evictions) {
    write(kEvictionsFile, output::to_csv(eviction_rows(context.result)));
  }
  if (has_time(context.result)) {
    write(kTimeStagesFile, output::to_csv(cache_time_stages(context.result)));
    write(kTimeSmsFile, output::to_csv(cache_time_states(context.result)));
  }
  write("index.html", to_html(page));
  folder.commit();
}

}  // namespace rayreplay::report
