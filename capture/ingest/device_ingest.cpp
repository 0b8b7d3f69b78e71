#include "capture/ingest/device_ingest.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/count_text.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/memory.hpp"
#include "base/report_progress.hpp"
#include "capture/ingest/pipeline_facts.hpp"
#include "capture/ingest/shader_table.hpp"
#include "capture/trace/validate.hpp"
#include "capture/trace/writer.hpp"

namespace rayreplay::ingest {
namespace {

using trace::kNone;

constexpr std::uint64_t kBytesAThread = 9 + 3 * 8;  ///< of an index, and of offsets

/// A large launch's records are read once in order and once by thread; pages that were read need not stay mapped.
constexpr std::uint64_t kBatchesARelease = 4;

std::string size_fault(const spool::Launch& launch) {
  const std::uint64_t pixels = std::uint64_t{launch.width} * launch.height;
  if (pixels == 0 || launch.depth == 0 || pixels > kNone / launch.depth) {
    return fmt::format("its size {}x{}x{} is none, or more than 2^32 threads", launch.width, launch.height,
                       launch.depth);
  }
  return "";
}

}  // namespace

bool has_events(const SpooledLaunch& launch) {
  return std::any_of(launch.events.begin(), launch.events.end(), [](const auto& part) { return !part.words.empty(); });
}

bool counts_work(const SpoolContents& contents, std::uint32_t device) {
  return std::ranges::any_of(contents.counts, [&](const spool::Counts& counts) {
    return counts.device == device && counts.launch == spool::kNone;
  });
}

DeviceIngest::DeviceIngest(const SpoolContents& contents, const spool::SpoolReader& reader, const spool::Device& device,
                           const IngestOptions& options)
    : contents_(contents), reader_(reader), device_(device), options_(options), scene_(contents) {
  header_ = make_header(contents, device);
  make_shaders();
  counts_ = read_shader_counts(contents, device, count_remarks_);
  if (!contents.paths.empty()) {
    paths_.emplace(contents, count_remarks_);
  }
  accesses_ = AccessTable(contents, count_remarks_);
  pipeline_facts_ = read_pipeline_facts(contents, device, stages_, count_remarks_);
  make_plans();
}

void DeviceIngest::make_shaders() {
  const std::size_t count = contents_.shaders.empty() ? 0 : std::size_t{contents_.shaders.rbegin()->first} + 1;
  shaders_.resize(std::min<std::size_t>(count, trace::kNoShader));
  stages_.assign(shaders_.size(), kUnknownStage);
  for (std::size_t i = 0; i < shaders_.size(); ++i) {
    const auto from = contents_.shaders.find(static_cast<std::uint16_t>(i));
    if (from == contents_.shaders.end() || from->second.stage >= trace::kShaderStages) {
      shaders_[i].name = "(lost)";
      shader_remarks_.push_back(fmt::format("shader {}: its block is lost or damaged", i));
      continue;
    }
    stages_[i] = from->second.stage;
    if (!is_utf8(from->second.entry) || !is_utf8(from->second.name)) {
      shader_remarks_.push_back(fmt::format("shader {}: its name is not UTF-8: {}", i, kReplaced));
    }
    shaders_[i] = {static_cast<trace::ShaderStage>(from->second.stage), clean(from->second.entry),
                   clean(from->second.name), from->second.spirv};
  }
}

void DeviceIngest::make_plans() {
  for (const auto& [number, launch] : contents_.launches) {
    if (launch.launch.device != device_.device || !has_events(launch)) {
      continue;
    }
    Plan& plan = plans_.emplace_back();
    plan.spooled = &launch;
    plan.summary.launch = number;
    plan.summary.frame = launch.launch.frame;
    plan.summary.size = {launch.launch.width, launch.launch.height, launch.launch.depth};
    const bool measured = launch.launch.end_ns > launch.launch.begin_ns;
    plan.summary.duration_ns = measured ? launch.launch.end_ns - launch.launch.begin_ns : 0;
    for (std::size_t kind = 0; kind < std::min<std::size_t>(launch.launch.dropped.size(), RR_KINDS); ++kind) {
      plan.summary.dropped_events += makes_event(static_cast<std::uint32_t>(kind)) ? launch.launch.dropped[kind] : 0;
    }
    plan.left_out = size_fault(launch.launch);
    if (plan.left_out.empty()) {
      bind(plan);
    }
  }
}

/// Scene, shader table and images of a launch.
void DeviceIngest::bind(Plan& plan) {
  const spool::Launch& launch = plan.spooled->launch;
  for (const std::uint32_t structure : launch.structures) {
    if (plan.tlas == kNone) {
      plan.tlas = scene_.tlas_of(structure);
    }
  }
  if (launch.structures.size() > 1 && plan.tlas != kNone) {
    plan.remarks.push_back(fmt::format("it may have used any of {} structures; the likeliest that is known was taken",
                                       launch.structures.size()));
  }
  const auto pipeline = contents_.pipelines.find(launch.pipeline);
  if (pipeline == contents_.pipelines.end()) {
    plan.remarks.emplace_back("its pipeline is not known: the records of its shader table name no shaders");
  }
  plan.shader_table = read_shader_table(launch, pipeline == contents_.pipelines.end() ? nullptr : &pipeline->second,
                                        device_.shader_group_handle_size, stages_, plan.remarks);
  if (const auto images = contents_.images.find(launch.launch); images != contents_.images.end()) {
    plan.images = read_images(images->second, plan.remarks);
  }
}

LaunchIndex DeviceIngest::index(Plan& plan) {
  const std::uint64_t needed = kBytesAThread * plan.summary.size.threads();
  const std::uint64_t available = options_.max_bytes != 0 ? options_.max_bytes : available_memory();
  if (needed > available) {
    plan.left_out = fmt::format("{} would need more memory than there is ({} of {}): ingest on a machine with more",
                                counted(plan.summary.size.threads(), "thread"), counted(needed, "byte"),
                                with_separators(available));
    return {};
  }
  LaunchIndex index = index_launch(*plan.spooled, stages_, header_.warp_size == 0 ? 64 : header_.warp_size, accesses_);
  if (!plan.indexed) {
    plan.indexed = true;
    remark(plan, index);
    for (const std::uint32_t* words : index.chunks) {
      if (const Chunk chunk = parse_header(words); paths_ && is_path(chunk.kind)) {
        paths_->add(chunk);
      }
    }
  }
  if (header_.warp_size == 0) {
    index.groups = {};
    index.thread_warp.clear();
    index.thread_lane.clear();
  }
  return index;
}

void DeviceIngest::remark(Plan& plan, const LaunchIndex& index) {
  plan.summary.groups = header_.warp_size == 0 ? 0 : index.groups.size();
  plan.summary.warp_event_groups = index.warp_event_groups;
  plan.summary.group_lanes = index.group_lanes;
  if (!index.damage.empty()) {
    plan.remarks.push_back(
        fmt::format("lost from its events: {}: {}", counted(index.lost_words, "word"), index.damage));
  }
  if (plan.spooled->launch.structures.empty() && index.has_rays) {
    plan.remarks.emplace_back("its acceleration structure is not known");
  }
  remark_threads(plan, index);
  if (index.unknown_accesses != 0) {
    plan.remarks.push_back(counted(index.unknown_accesses, "access record") + " of sites that the spool does not have");
  }
  if (index.accesses_without_texel != 0) {
    plan.remarks.push_back(counted(index.accesses_without_texel, "access", "accesses") +
                           " to images at negative coordinates, or at others that a trace has no room for");
  }
  if (index.geometry_too_large) {
    plan.left_out = "a geometry index is larger than 65535";
  }
  if (header_.warp_size == 0) {
    plan.remarks.emplace_back("warps and groups: the device's subgroup size is not known");
  } else if (!index.no_warps.empty()) {
    plan.remarks.push_back("which warp ran which thread: " + index.no_warps);
  }
  if (index.repacked_groups != 0) {
    plan.remarks.push_back(fmt::format("repacked by the hardware, of {}: {}, which belong to no launched warp",
                                       counted(index.groups.size(), "group"), with_separators(index.repacked_groups)));
  }
}

/// Notes threads, or parts of them, that are missing in the trace: the only lines about a full event buffer.
void DeviceIngest::remark_threads(Plan& plan, const LaunchIndex& index) {
  const spool::Launch& launch = plan.spooled->launch;
  LaunchSummary& summary = plan.summary;
  const bool chosen = are_threads_chosen(contents_.process.value_or(spool::Process{}));
  const bool starts_known = index.no_warps.empty();
  const std::uint64_t absent = starts_known ? index.unrecorded_threads : 0;
  // A thread's first record is its start: threads whose start did not fit have no records.
  const std::uint64_t crowded_out =
      std::min(absent, launch.dropped.size() > RR_RAY_GENERATION ? launch.dropped[RR_RAY_GENERATION] : 0);
  if (starts_known) {
    summary.recorded_threads = summary.size.threads() - absent;
  }
  summary.threads_missing = summary.dropped_events != 0 || absent != 0 || (!starts_known && chosen);
  const auto not_recorded = [&](std::uint64_t count, const std::string& why) {
    return fmt::format("threads not recorded: {} of {}{}; the trace gives them made-up warps of their own",
                       with_separators(count), with_separators(summary.size.threads()), why);
  };
  if (summary.dropped_events != 0) {
    plan.remarks.push_back(fmt::format(
        "{} did not fit into the event buffer (--memory): the last events of some threads are missing{}",
        counted(summary.dropped_events, "event"), crowded_out == 0 ? "" : "; " + not_recorded(crowded_out, "")));
  } else if (crowded_out != 0) {
    plan.remarks.push_back(not_recorded(crowded_out, ", because the event buffer was full (--memory)"));
  }
  const auto dropped = [&](std::size_t kind) { return launch.dropped.size() > kind ? launch.dropped[kind] : 0; };
  const std::uint64_t accesses = dropped(RR_ACCESS_OFFSET) + dropped(RR_ACCESS_ADDRESS) + dropped(RR_ACCESS_IMAGE);
  plan.missing_accesses = {accesses + index.unknown_accesses, index.lost_words};
  if (accesses != 0) {
    plan.remarks.push_back(fmt::format(
        "{} to buffers and images did not fit into the event buffer (--memory): the last of some threads are missing",
        counted(accesses, "access", "accesses")));
  }
  if (absent != crowded_out) {
    plan.remarks.push_back(not_recorded(absent - crowded_out, chosen ? " (--window, --every)"
                                                              : index.lost_words != 0
                                                                  ? " (their start records are lost)"
                                                                  : ""));
  }
}

bool DeviceIngest::process(Plan& plan, trace::Writer* writer) {
  LaunchIndex index = kept_ ? std::move(*kept_) : this->index(plan);
  kept_.reset();
  if (!plan.left_out.empty()) {
    return false;
  }
  const bool has_groups = header_.warp_size != 0;
  trace::Launch part;
  part.tlas = plan.tlas;
  part.shader_table = plan.shader_table;
  part.groups = std::move(index.groups);
  if (writer != nullptr) {
    writer->begin_launch(plan.summary.size, {index.has_geometry, index.has_ray_names, has_groups, true, index.has_hints,
                                             plan.tlas, path_table_.size(), accesses_.sites().size()});
  }
  const bool has_paths = path_table_.size() != 0;
  trace::Column<std::uint32_t> thread_path;
  const auto count_calls = [&](const trace::Column<std::uint32_t>& ids) {
    for (const std::uint32_t id : ids) {
      if (id != 0) {
        ++path_table_.calls[id - 1];
      }
    }
  };
  LaunchSummary& summary = plan.summary;
  summary.rays = summary.events = 0;
  summary.by_kind = {};
  bool sound = true;
  std::uint64_t batches = 0;
  const std::uint64_t rayless = decode_launch(
      index,
      [&](trace::ThreadData& batch) {
        if (!has_groups) {
          batch.events.group.clear();
        }
        part.size = {static_cast<std::uint32_t>(batch.threads()), 1, 1};
        part.data = std::move(batch);
        if (!plan.checked) {
          const auto faults = trace::find_event_faults(part, "", shaders_, scene_.scene(), 1);
          if (!faults.empty()) {
            const ErrorInfo& fault = faults.front();
            const std::string text = fmt::format("{} (found {}; expected {})", fault.what, fault.found, fault.expected);
            if (plan.tlas != kNone) {
              plan.tlas = kNone;
              plan.remarks.push_back("its structure does not fit its events and is given as unknown: " + text);
            } else {
              plan.left_out = "its events break the rules of a trace: " + text;
            }
            return sound = false;
          }
        }
        summary.rays += part.data.rays.size();
        summary.events += part.data.events.size();
        for (const trace::EventKind kind : part.data.events.kind) {
          ++summary.by_kind.at(static_cast<std::size_t>(kind));
        }
        if (writer != nullptr) {
          writer->append(part.data);
          count_calls(part.data.events.path);
        }
        if (++batches % kBatchesARelease == 0) {
          reader_.forget_pages();
        }
        report_advance(options_.progress, part.data.events.size());
        return true;
      },
      accesses_, options_.limits, has_paths ? PathColumn{&*paths_, &thread_path} : PathColumn{});
  if (!sound) {
    return false;
  }
  plan.checked = true;
  if (rayless != plan.rayless) {
    plan.rayless = rayless;
    plan.remarks.push_back("not shown: " + counted(rayless, "call") + " of hit objects that no trace call made");
    return false;
  }
  if (writer != nullptr) {
    count_calls(thread_path);
    writer->end_launch(part.groups, index.thread_warp, index.thread_lane,
                       {summary.frame, summary.duration_ns, summary.dropped_events, plan.shader_table,
                        std::move(thread_path), plan.spooled->launch.pipeline, image_numbers_.numbered(plan.images)});
  }
  return true;
}

std::vector<std::string> DeviceIngest::not_captured() const {
  Lines lines;
  add_spool_lines(contents_, reader_, device_, lines);
  lines.add_all(shader_remarks_);
  lines.add_all(count_remarks_);
  lines.add_all(scene_.notes());
  for (const Plan& plan : plans_) {
    if (!plan.left_out.empty()) {
      lines.add(fmt::format("launch {} is left out: {}", plan.summary.launch, plan.left_out));
      continue;
    }
    for (const std::string& remark : plan.remarks) {
      lines.add(fmt::format("launch {}: {}", plan.summary.launch, remark));
    }
  }
  return lines.finish();
}

/// Adds the keys /capture/threads_missing, indices of launches in the trace with missing threads or parts of threads,
/// and /capture/missing_accesses (missing_accesses.hpp).
std::string DeviceIngest::with_missing_parts(const std::string& configuration) const {
  nlohmann::json document = nlohmann::json::parse(configuration);
  nlohmann::json missing = nlohmann::json::array();
  std::size_t index = 0;
  for (const Plan& plan : plans_) {
    if (!plan.left_out.empty()) {
      continue;
    }
    if (plan.summary.threads_missing) {
      missing.push_back(index);
    }
    if (accesses_.sites().size() != 0 && plan.missing_accesses.any()) {
      document["capture"]["missing_accesses"].push_back({{"launch", index},
                                                         {"accesses", plan.missing_accesses.accesses},
                                                         {"lost_words", plan.missing_accesses.lost_words}});
    }
    ++index;
  }
  document["capture"]["threads_missing"] = std::move(missing);
  return json_text(document);
}

/// False if something was found that the header must state.
bool DeviceIngest::write(const std::filesystem::path& path, TraceSummary& summary) {
  header_.not_captured = not_captured();
  header_.configuration = with_missing_parts(header_.configuration);
  if (!counts_work(contents_, device_.device) &&
      std::ranges::none_of(plans_, [](const Plan& plan) { return plan.left_out.empty(); })) {
    summary.path.clear();
    return true;
  }
  path_table_.calls.assign(path_table_.size(), 0);
  image_numbers_ = {};
  trace::Writer writer(path, header_, shaders_, scene_.scene(), {.overwrite = options_.overwrite});
  for (Plan& plan : plans_) {
    if (plan.left_out.empty() && !process(plan, &writer)) {
      return false;
    }
  }
  if (counts_.blocks.size() != 0) {
    writer.add_block_counts(counts_.blocks);
  }
  if (counts_.branches.size() != 0) {
    writer.add_branch_counts(counts_.branches);
  }
  if (counts_.loads.size() != 0) {
    writer.add_load_counts(counts_.loads);
  }
  if (counts_.values.size() != 0) {
    writer.add_value_counts(counts_.values);
  }
  if (path_table_.size() != 0) {
    writer.add_paths(path_table_);
  }
  if (!accesses_.empty()) {
    writer.add_access_sites(accesses_.sites());
  }
  if (!pipeline_facts_.empty()) {
    writer.add_pipeline_facts(pipeline_facts_);
  }
  summary.hash = writer.finish();
  return true;
}

TraceSummary DeviceIngest::run(const std::filesystem::path& path) {
  TraceSummary summary;
  summary.path = path;
  summary.pid = contents_.process ? contents_.process->pid : 0;
  // The header is first in the file, so the pass over the records that finds missing parts comes before.
  for (Plan& plan : plans_) {
    if (plan.left_out.empty()) {
      LaunchIndex found = index(plan);
      if (plans_.size() == 1 && plan.left_out.empty()) {
        kept_ = std::move(found);
      }
    }
  }
  if (paths_) {
    paths_->finish();
    path_table_ = paths_->paths();
  }
  report_start(options_.progress, "ingesting", 0);
  if (!write(path, summary)) {
    // A launch broke a rule. Every launch is checked to its end before the file is started again.
    for (Plan& plan : plans_) {
      while (plan.left_out.empty() && !process(plan, nullptr)) {
      }
    }
    if (!write(path, summary)) {
      throw Error(ErrorKind::Internal, {"a launch's check changed its mind", path.string(), "", "", ""});
    }
  }
  report_finish(options_.progress);
  summary.header = header_;
  for (const Plan& plan : plans_) {
    if (plan.left_out.empty()) {
      summary.launches.push_back(plan.summary);
    }
  }
  return summary;
}

}  // namespace rayreplay::ingest
