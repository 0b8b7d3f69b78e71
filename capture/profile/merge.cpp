#include "capture/profile/merge.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/count_text.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "capture/profile/count_sums.hpp"
#include "capture/profile/merged_facts.hpp"
#include "capture/profile/value_sums.hpp"

namespace rayreplay::profile {
namespace {

constexpr const char* kMergedRuns = "merged_runs";  // key of the configuration
constexpr std::size_t kHashDigits = 8;              // that name a run

[[noreturn]] void fail(const std::string& what, const std::string& where, const std::string& found,
                       const std::string& expected, const std::string& fix) {
  throw Error(ErrorKind::Input, {what, where, found, expected, fix});
}

std::string name_of(const Run& run) {
  return run.profile.hash.substr(0, kHashDigits);
}

/// The hash of a run, or of all that were merged into it.
std::vector<std::string> runs_in(const Run& run) {
  std::vector<std::string> hashes;
  const auto configuration = parse_json(run.profile.header.configuration);
  if (configuration && configuration->is_object() && configuration->contains(kMergedRuns)) {
    for (const auto& hash : (*configuration)[kMergedRuns]) {
      if (hash.is_string()) {
        hashes.push_back(hash.get<std::string>());
      }
    }
  }
  return hashes.empty() ? std::vector{run.profile.hash} : hashes;
}

bool has_blocks(const Run& run) {
  return run.profile.block_counts.size() != 0;
}
bool has_values(const Run& run) {
  return run.profile.value_counts.size() != 0;
}

void check(const std::vector<Run>& runs) {
  std::map<std::string, const Run*> seen;
  const bool values_alone = std::ranges::all_of(runs, has_values) && std::ranges::none_of(runs, has_blocks);
  for (const Run& run : runs) {
    if (!values_alone && !has_blocks(run)) {
      fail("the trace has no counts of basic blocks", run.file, "", "/profile/blocks",
           "capture the application with --profile blocks");
    }
    if (run.profile.header.warp_size != runs.front().profile.header.warp_size) {
      fail("the runs have different warp sizes, so their groups of lanes cannot be added", run.file + ":/warp_size",
           std::to_string(run.profile.header.warp_size),
           fmt::format("{}, as in {}", runs.front().profile.header.warp_size, runs.front().file),
           "merge runs on one kind of device");
    }
    for (const std::string& hash : runs_in(run)) {
      if (const auto [at, added] = seen.emplace(hash, &run); !added) {
        fail("one run would count twice", run.file, "the run with hash " + hash,
             fmt::format("a run that is not also in {}", at->second->file), "give each run once");
      }
    }
  }
}

class Merger {
 public:
  explicit Merger(const std::vector<Run>& runs) : runs_(runs), with_values_(std::ranges::all_of(runs, has_values)) {
    for (const Run& run : runs_) {
      add(run);
    }
  }

  Merged finish() {
    result_.pipelines = pipelines_.size();
    for (const auto& [number, pipeline] : pipelines_) {
      if (pipeline.runs.size() == runs_.size()) {
        ++result_.common_pipelines;
      } else {
        std::vector<std::string> names;
        for (const std::uint16_t shader : pipeline.shaders) {
          names.push_back(result_.trace.shaders[shader].name);
        }
        result_.remarks.push_back(fmt::format("pipeline {} ({}) is in {} of {} alone: {}", number, some(names),
                                              pipeline.runs.size(), counted(runs_.size(), "run"), some(pipeline.runs)));
      }
    }
    require_common();
    result_.trace.block_counts = sums_.sums();
    for (const LeftOutFunction& function : sums_.left_out()) {
      result_.remarks.push_back(fmt::format(
          "function {} of shader {} ({}) in pipeline {} is left out: {}", function.function, function.shader,
          result_.trace.shaders[function.shader].name, function.pipeline, reason_text(function, "run")));
    }
    result_.trace.value_counts = values_.sums();
    if (const std::size_t places = values_.left_out(); places != 0) {
      result_.remarks.push_back(
          fmt::format("values of {} are left out: not counted in all runs", counted(places, "loaded number")));
    }
    if (result_.trace.block_counts.size() + result_.trace.value_counts.size() == 0) {
      fail("no function and no load is counted in all runs that have it", runs_.front().file, "", "",
           "capture the runs again");
    }
    if (result_.trace.block_counts.size() != 0 && result_.trace.block_counts.groups.empty()) {
      add_remark_of_groups();
    }
    add_remark_of_agreement();
    add_facts_of_pipelines();
    write_header();
    return std::move(result_);
  }

 private:
  using ShaderKey = std::tuple<trace::ShaderStage, std::string, std::vector<std::uint32_t>>;
  struct Pipeline {
    std::vector<std::uint16_t> shaders;
    std::vector<std::string> runs;
  };

  /// "a, b, c and 4 more".
  static std::string some(const std::vector<std::string>& names) {
    constexpr std::size_t kMost = 5;
    const std::size_t shown = std::min(names.size(), kMost);
    const std::string list =
        fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
    return shown == names.size() ? list : fmt::format("{} and {} more", list, names.size() - shown);
  }

  void add(const Run& run) {
    const trace::BlockCounts& blocks = run.profile.block_counts;
    const trace::ValueCounts& values = run.profile.value_counts;
    const std::vector<RowRange> block_parts = parts_of(blocks);
    const std::vector<RowRange> value_parts = with_values_ ? parts_of(values) : std::vector<RowRange>{};
    Counted pipelines;
    for (const RowRange& part : block_parts) {
      pipelines[blocks.pipeline[part.first]].insert(blocks.shader[part.first]);
    }
    for (const RowRange& part : value_parts) {
      pipelines[values.pipeline[part.first]].insert(values.shader[part.first]);
    }
    const std::map<std::uint16_t, std::uint16_t> shaders = shaders_of(run, pipelines);
    std::map<std::vector<std::uint16_t>, std::size_t> alike;
    std::map<std::uint32_t, std::uint32_t> numbers;
    for (const auto& [pipeline, of_pipeline] : pipelines) {
      std::vector<std::uint16_t> members;
      for (const std::uint16_t shader : of_pipeline) {
        members.push_back(shaders.at(shader));
      }
      std::ranges::sort(members);
      numbers[pipeline] = pipeline_of(members, alike[members]++, pipeline, run);
      add_facts(run, pipeline, numbers.at(pipeline), shaders);
    }
    for (const RowRange& part : block_parts) {
      sums_.add(numbers.at(blocks.pipeline[part.first]), shaders.at(blocks.shader[part.first]), blocks, part, run.file);
    }
    for (const RowRange& part : value_parts) {
      values_.add(numbers.at(values.pipeline[part.first]), shaders.at(values.shader[part.first]), values, part,
                  run.file);
    }
  }

  /// `pipeline`: number in the run; `number`: in the result.
  void add_facts(const Run& run, std::uint32_t pipeline, std::uint32_t number,
                 const std::map<std::uint16_t, std::uint16_t>& shaders) {
    const auto& all = run.profile.pipeline_facts;
    const auto found = std::ranges::find(all, pipeline, &trace::PipelineFacts::pipeline);
    if (found == all.end()) {
      return;
    }
    trace::PipelineFacts facts = *found;
    facts.pipeline = number;
    for (trace::GroupStack& group : facts.groups) {
      for (std::uint16_t* shader : {&group.general, &group.closest_hit, &group.any_hit, &group.intersection}) {
        *shader = *shader == trace::kNoShader ? trace::kNoShader : shaders.at(*shader);
      }
    }
    facts_.add(std::move(facts), name_of(run));
  }

  /// Shaders by pipeline of the run.
  using Counted = std::map<std::uint32_t, std::set<std::uint16_t>>;

  /// Shaders that the run counts, and those of the groups of pipelines that it counts.
  static std::set<std::uint16_t> shaders_in(const Run& run, const Counted& pipelines) {
    std::set<std::uint16_t> shaders;
    for (const auto& [pipeline, counted] : pipelines) {
      shaders.insert(counted.begin(), counted.end());
    }
    for (const trace::PipelineFacts& facts : run.profile.pipeline_facts) {
      for (const trace::GroupStack& group : facts.groups) {
        if (pipelines.contains(facts.pipeline)) {
          shaders.insert({group.general, group.closest_hit, group.any_hit, group.intersection});
        }
      }
    }
    shaders.erase(trace::kNoShader);
    return shaders;
  }

  /// Numbers in the result of the shaders that the run counts, or whose stacks it knows.
  std::map<std::uint16_t, std::uint16_t> shaders_of(const Run& run, const Counted& pipelines) {
    std::map<std::uint16_t, std::uint16_t> numbers;
    std::map<const std::vector<std::uint16_t>*, std::size_t> alike;
    for (const std::uint16_t shader : shaders_in(run, pipelines)) {
      const trace::Shader& one = run.profile.shaders[shader];
      std::vector<std::uint16_t>& known = shaders_[{one.stage, one.entry, one.spirv}];
      const std::size_t place = alike[&known]++;
      if (place == known.size()) {
        if (result_.trace.shaders.size() == trace::kNoShader) {
          fail("the runs have too many different shaders", fmt::format("{}:/shaders[{}]", run.file, shader), "",
               fmt::format("at most {} in all", trace::kNoShader), "merge fewer runs");
        }
        known.push_back(static_cast<std::uint16_t>(result_.trace.shaders.size()));
        result_.trace.shaders.push_back(one);
      }
      numbers[shader] = known[place];
    }
    return numbers;
  }

  /// `place`: among pipelines of the run with the same shaders. `wanted`: its number in the run.
  std::uint32_t pipeline_of(const std::vector<std::uint16_t>& members, std::size_t place, std::uint32_t wanted,
                            const Run& run) {
    std::vector<std::uint32_t>& known = by_members_[members];
    if (place == known.size()) {
      const std::uint32_t number = pipelines_.contains(wanted) ? free_number(run) : wanted;
      known.push_back(number);
      pipelines_[number].shaders = members;
    }
    pipelines_[known[place]].runs.push_back(name_of(run));
    return known[place];
  }

  [[nodiscard]] std::uint32_t free_number(const Run& run) const {
    const std::uint32_t highest = pipelines_.rbegin()->first;
    if (highest == std::numeric_limits<std::uint32_t>::max()) {
      fail("no number is left for a pipeline", run.file + ":/profile/blocks/pipeline", std::to_string(highest),
           "numbers of pipelines below it", "capture the application again");
    }
    return highest + 1;
  }

  void require_common() {
    const bool common =
        std::ranges::any_of(pipelines_, [](const auto& pipeline) { return pipeline.second.runs.size() > 1; });
    if (!common) {
      fail("the runs have no pipeline in common", runs_.back().file, "every pipeline in one run alone",
           "a pipeline with the same shaders in two runs: stage, entry point and every word of the module",
           "merge runs of one application and version");
    }
  }

  void add_remark_of_groups() {
    std::vector<std::string> names;
    for (const Run& run : runs_) {
      if (run.profile.block_counts.groups.empty()) {
        names.push_back(name_of(run));
      }
    }
    result_.remarks.push_back("groups of lanes are left out: not counted in " + some(names));
  }

  void add_remark_of_agreement() {
    std::vector<std::string> names;
    for (const Run& run : runs_) {
      if (run.profile.branch_counts.size() + run.profile.load_counts.size() != 0) {
        names.push_back(name_of(run));
      }
    }
    if (!names.empty()) {
      result_.remarks.push_back("counts of branches and loads are left out: those of " + some(names));
    }
    names.clear();
    for (const Run& run : runs_) {
      if (!with_values_ && has_values(run)) {
        names.push_back(name_of(run));
      }
    }
    if (!names.empty()) {
      result_.remarks.push_back("values of loads are left out: only counted in " + some(names));
    }
  }

  void add_facts_of_pipelines() {
    result_.trace.pipeline_facts = facts_.facts();
    for (std::string& remark : facts_.remarks()) {
      result_.remarks.push_back(std::move(remark));
    }
  }

  void write_header() {
    trace::Header& header = result_.trace.header;
    std::set<std::string> applications, devices, drivers;
    nlohmann::ordered_json hashes = nlohmann::ordered_json::array();
    for (const Run& run : runs_) {
      applications.insert(run.profile.header.application);
      devices.insert(run.profile.header.device);
      drivers.insert(run.profile.header.driver);
      for (const std::string& hash : runs_in(run)) {
        hashes.push_back(hash);
      }
    }
    std::sort(hashes.begin(), hashes.end());
    header.application = fmt::format("{}", fmt::join(applications, "; "));
    header.device = fmt::format("{}", fmt::join(devices, "; "));
    header.driver = fmt::format("{}", fmt::join(drivers, "; "));
    header.warp_size = runs_.front().profile.header.warp_size;
    header.configuration = json_text(nlohmann::ordered_json{{kMergedRuns, hashes}});
    header.not_captured.push_back(
        fmt::format("launches, rays, events and geometry: the file has the merged profile of {} alone",
                    counted(hashes.size(), "run")));
    header.not_captured.insert(header.not_captured.end(), result_.remarks.begin(), result_.remarks.end());
    for (const Run& run : runs_) {
      for (const std::string& line : run.profile.header.not_captured) {
        header.not_captured.push_back(fmt::format("run {}: {}", name_of(run), line));
      }
    }
  }

  const std::vector<Run>& runs_;
  bool with_values_;  ///< all runs have counts of loaded values
  Merged result_;
  CountSums sums_;
  MergedFacts facts_;
  ValueSums values_;
  std::map<ShaderKey, std::vector<std::uint16_t>> shaders_;  ///< numbers in the result
  std::map<std::vector<std::uint16_t>, std::vector<std::uint32_t>> by_members_;
  std::map<std::uint32_t, Pipeline> pipelines_;
};

}  // namespace

Merged merge(std::vector<Run> runs) {
  std::ranges::sort(runs, {}, [](const Run& run) { return run.profile.hash; });
  check(runs);
  return Merger(runs).finish();
}

}  // namespace rayreplay::profile
