#include "capture/profile/merge.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/count_text.hpp"
#include "base/error.hpp"
#include "capture/profile/access_profile.hpp"
#include "capture/profile/count_sums.hpp"
#include "capture/profile/instruction_sums.hpp"
#include "capture/profile/merge_state.hpp"
#include "capture/profile/merged_facts.hpp"
#include "capture/profile/path_sums.hpp"
#include "capture/profile/site_sums.hpp"
#include "capture/profile/value_sums.hpp"

namespace rayreplay::profile {
namespace {

[[noreturn]] void fail(const std::string& what, const std::string& where, const std::string& found,
                       const std::string& expected, const std::string& fix) {
  throw Error(ErrorKind::Input, {what, where, found, expected, fix});
}

using Part = std::pair<std::uint32_t, std::uint16_t>;  ///< pipeline, shader

/// A run with what its merge state says.
struct Input {
  const Run* run = nullptr;
  MergeState state;
  std::map<std::uint32_t, std::set<std::uint16_t>> counted;  ///< its shaders, by its pipelines, in the kept kinds
  std::map<std::uint16_t, std::set<Kind>> kinds;             ///< of its shaders, that count them, of the kept ones
  std::map<std::uint16_t, std::size_t> shaders;              ///< of its shaders: identity (Merger::identities_)
  std::map<std::uint32_t, std::size_t> pipelines;            ///< of its pipelines: identity
};

/// The rows of each part of a table.
template <class Counts>
std::map<Part, RowRange> rows_by_part(const Counts& counts) {
  std::map<Part, RowRange> rows;
  for (const RowRange& part : parts_of(counts)) {
    rows[{counts.pipeline[part.first], counts.shader[part.first]}] = part;
  }
  return rows;
}

void check(const std::vector<Input>& inputs) {
  std::map<std::string, const Run*> seen;
  const Run& first = *inputs.front().run;
  for (const Input& input : inputs) {
    const Run& run = *input.run;
    if (run.profile.header.warp_size != first.profile.header.warp_size) {
      fail("the runs have different warp sizes, so their groups of lanes cannot be added", run.file + ":/warp_size",
           std::to_string(run.profile.header.warp_size),
           fmt::format("{}, as in {}", first.profile.header.warp_size, first.file), "merge runs on one kind of device");
    }
    for (const auto& [hash, facts] : input.state.runs) {
      if (const auto [at, added] = seen.emplace(hash, &run); !added) {
        fail("one run would count twice", run.file, "the run with hash " + hash,
             fmt::format("a run that is not also in {}", at->second->file), "give each run once");
      }
      if (facts.kinds.empty()) {
        fail("the trace has no counts to merge", run.file, "", "/profile",
             "capture the application with --profile blocks, or another kind");
      }
    }
  }
}

/// Whether the instruction, whose agreement is left out, is left out as a whole.
bool is_part_of_another(const LeftOut& left, const std::set<LeftOut>& left_out) {
  LeftOut whole = left;
  whole.left = left.left == Left::BranchUniform ? Left::Branch : Left::Load;
  return (left.left == Left::BranchUniform || left.left == Left::LoadUniform || left.left == Left::LoadAddress) &&
         left_out.contains(whole);
}

class Merger {
 public:
  explicit Merger(const std::vector<Run>& runs) {
    for (const Run& run : runs) {
      inputs_.push_back({&run, state_of(run.profile, run.file), {}, {}, {}, {}});
    }
    std::ranges::sort(inputs_, {},
                      [](const Input& input) -> const std::string& { return input.state.runs.begin()->first; });
    check(inputs_);
    for (const Input& input : inputs_) {
      state_.runs.insert(input.state.runs.begin(), input.state.runs.end());
    }
    kinds_ = state_.kinds();
    if (kinds_.empty()) {
      const Input& last = inputs_.back();
      fail("no kind of counts is in all runs", last.run->file,
           fmt::format("{}", fmt::join(difference_lines(state_, {}, {}), "; ")),
           "one kind in all runs; accesses of one sample of threads, without lost ones",
           "capture all runs with the same --profile and --profile-memory-sample, and a --memory that holds all");
    }
  }

  Merged merge() {
    for (Input& input : inputs_) {
      find_counted(input);
      find_shaders(input);
    }
    require_common();
    number_shaders();
    for (Input& input : inputs_) {
      find_pipelines(input);
    }
    number_pipelines();
    for (const Input& input : inputs_) {
      add(input);
    }
    finish();
    return std::move(result_);
  }

 private:
  using ShaderKey = std::tuple<trace::ShaderStage, std::string, std::vector<std::uint32_t>>;
  /// A shader of the result: the `place`-th of those that are alike.
  using Identity = std::pair<const ShaderKey*, std::size_t>;
  struct SameShader {
    const trace::Shader* shader = nullptr;  ///< of one run
    /// The first by bytes where it is counted in this kind, or in groups of facts (kFactsName).
    std::map<std::size_t, std::string> names;
    std::size_t runs = 0;
    std::uint16_t number = trace::kNoShader;
  };
  struct SamePipeline {
    std::vector<std::uint16_t> members;
    std::size_t place = 0;  ///< among alike ones
    std::set<std::string> runs;
    std::uint32_t number = 0;
  };

  [[nodiscard]] bool has(Kind kind) const {
    return kinds_.contains(kind);
  }
  [[nodiscard]] bool keeps(const LeftOut& left) const {
    return left.left == Left::Facts || has(kind_of(left.left));
  }

  /// Calls `take` with each kept table that has pipelines.
  template <class Take>
  void each_table(const trace::Profile& profile, Take&& take) const {
    if (has(Kind::Blocks)) {
      take(profile.block_counts, Kind::Blocks);
    }
    if (has(Kind::Branches)) {
      take(profile.branch_counts, Kind::Branches);
    }
    if (has(Kind::Loads)) {
      take(profile.load_counts, Kind::Loads);
    }
    if (has(Kind::Values)) {
      take(profile.value_counts, Kind::Values);
    }
  }

  /// The name where kept kinds count the shader; else where groups of facts have it.
  static std::string name_of(const SameShader& same) {
    std::optional<std::string> first;
    for (const auto& [kind, name] : same.names) {
      if (kind != kFactsName || !first) {
        first = first ? std::min(*first, name) : name;
      }
    }
    return first.value_or("");
  }

  void add_names(const Input& input, std::uint16_t number, SameShader& same) const {
    const auto add = [&](std::size_t kind) {
      const auto known = input.state.names.find({number, kind});
      const std::string& name =
          known == input.state.names.end() ? input.run->profile.shaders[number].name : known->second;
      const auto [at, fresh] = same.names.emplace(kind, name);
      at->second = fresh ? name : std::min(at->second, name);
    };
    const auto kinds = input.kinds.find(number);
    if (kinds == input.kinds.end()) {
      add(kFactsName);
      return;
    }
    for (const Kind kind : kinds->second) {
      add(static_cast<std::size_t>(kind));
    }
  }

  /// Names that a kind alone has, for a merge in which others are left out.
  void keep_names(const SameShader& same, std::uint16_t number) {
    const std::string own = name_of(same);
    for (const auto& [kind, name] : same.names) {
      if (name != own) {
        state_.names[{number, kind}] = name;
      }
    }
  }

  void find_counted(Input& input) const {
    each_table(input.run->profile, [&](const auto& counts, Kind kind) {
      for (const RowRange& part : parts_of(counts)) {
        input.counted[counts.pipeline[part.first]].insert(counts.shader[part.first]);
        input.kinds[counts.shader[part.first]].insert(kind);
      }
    });
    for (const LeftOut& left : input.state.left_out) {
      if (left.left != Left::Facts && keeps(left)) {
        input.kinds[left.shader].insert(kind_of(left.left));
        if (left.left != Left::Paths) {
          input.counted[left.pipeline].insert(left.shader);
        }
      }
    }
    const auto add = [&](const auto& column, Kind kind) {
      for (const std::uint16_t shader : column) {
        if (has(kind)) {
          input.kinds[shader].insert(kind);
        }
      }
    };
    add(input.run->profile.paths.block_shader, Kind::Paths);
    add(input.run->profile.access_sites.shader, Kind::Accesses);
  }

  /// Identities of the shaders that the run counts, and then of those of the groups of pipelines that it counts.
  void find_shaders(Input& input) {
    const trace::Profile& profile = input.run->profile;
    std::set<std::uint16_t> of_groups;
    for (const trace::PipelineFacts& facts : profile.pipeline_facts) {
      for (const trace::GroupStack& group : facts.groups) {
        if (input.counted.contains(facts.pipeline)) {
          of_groups.insert({group.general, group.closest_hit, group.any_hit, group.intersection});
        }
      }
    }
    of_groups.erase(trace::kNoShader);
    std::map<const ShaderKey*, std::size_t> alike;
    const auto identify = [&](std::uint16_t number, bool counted) {
      if (input.shaders.contains(number)) {
        return;
      }
      const trace::Shader& shader = profile.shaders[number];
      const ShaderKey* key = &*keys_.insert({shader.stage, shader.entry, shader.spirv}).first;
      const auto [at, fresh] = identity_of_.try_emplace({key, alike[key]++}, identities_.size());
      if (fresh) {
        identities_.push_back({&shader, {}, 0, trace::kNoShader});
      }
      SameShader& same = identities_[at->second];
      add_names(input, number, same);
      same.runs += counted ? 1U : 0U;
      if (counted) {
        used_.insert(at->second);
      }
      input.shaders[number] = at->second;
    };
    for (const auto& [shader, kinds] : input.kinds) {
      identify(shader, true);
    }
    for (const std::uint16_t shader : of_groups) {
      identify(shader, false);
    }
  }

  /// The shaders' order: by stage, entry point, words and place.
  void number_shaders() {
    std::map<std::tuple<ShaderKey, std::size_t>, std::size_t> order;
    for (const auto& [identity, index] : identity_of_) {
      order.emplace(std::tuple(*identity.first, identity.second), index);
    }
    if (order.size() > trace::kNoShader) {
      fail("the runs have too many different shaders", inputs_.back().run->file + ":/shaders",
           std::to_string(order.size()), fmt::format("at most {} in all", trace::kNoShader), "merge fewer runs");
    }
    std::uint16_t next = 0;
    for (const auto& [key, index] : order) {
      identities_[index].number = next++;
    }
  }

  void find_pipelines(Input& input) {
    std::map<std::vector<std::uint16_t>, std::size_t> alike;
    for (const auto& [pipeline, counted] : input.counted) {
      std::vector<std::uint16_t> members;
      for (const std::uint16_t shader : counted) {
        members.push_back(number_of(input, shader));
      }
      std::ranges::sort(members);
      const std::size_t place = alike[members]++;
      const auto [at, fresh] = pipeline_of_.try_emplace({members, place}, pipelines_.size());
      if (fresh) {
        pipelines_.push_back({members, place, {}, 0});
      }
      const std::set<std::string>& runs = input.state.pipelines.at(pipeline);
      pipelines_[at->second].runs.insert(runs.begin(), runs.end());
      input.pipelines[pipeline] = at->second;
    }
  }

  void number_pipelines() {
    std::uint32_t next = 0;
    for (const auto& [key, index] : pipeline_of_) {
      pipelines_[index].number = next++;
      state_.pipelines[pipelines_[index].number] = pipelines_[index].runs;
    }
  }

  [[nodiscard]] std::uint16_t number_of(const Input& input, std::uint16_t shader) const {
    return identities_[input.shaders.at(shader)].number;
  }

  /// Adds each of the run's parts, also those without rows: their shader's other parts must not be sums of other runs.
  template <class Counts, class Add>
  void add_parts(const Input& input, const Counts& counts, const Add& add) const {
    const std::map<Part, RowRange> rows = rows_by_part(counts);
    for (const auto& [pipeline, shaders] : input.counted) {
      for (const std::uint16_t shader : shaders) {
        const auto found = rows.find({pipeline, shader});
        add(pipelines_[input.pipelines.at(pipeline)].number, number_of(input, shader), counts,
            found == rows.end() ? RowRange{} : found->second, input.run->file);
      }
    }
  }

  void add(const Input& input) {
    const trace::Profile& profile = input.run->profile;
    const auto into = [](auto& sums) { return [&sums](auto&&... part) { sums.add(part...); }; };
    if (has(Kind::Blocks)) {
      add_parts(input, profile.block_counts, into(blocks_));
    }
    if (has(Kind::Branches)) {
      add_parts(input, profile.branch_counts, into(branches_));
    }
    if (has(Kind::Loads)) {
      add_parts(input, profile.load_counts, into(loads_));
    }
    if (has(Kind::Values)) {
      add_parts(input, profile.value_counts, into(values_));
    }
    std::map<std::uint16_t, std::uint16_t> numbers;
    for (const auto& [shader, identity] : input.shaders) {
      numbers[shader] = identities_[identity].number;
    }
    if (has(Kind::Paths)) {
      paths_.add(profile.paths, numbers, input.run->file);
    }
    if (has(Kind::Accesses)) {
      sites_.add(profile.access_sites, numbers, input.run->file);
    }
    for (LeftOut left : input.state.left_out) {
      if (!keeps(left) || (left.left == Left::Facts && !input.pipelines.contains(left.pipeline))) {
        continue;
      }
      left.shader = left.left == Left::Facts ? std::uint16_t{0} : number_of(input, left.shader);
      left.pipeline = left.left == Left::Paths ? 0 : pipelines_[input.pipelines.at(left.pipeline)].number;
      state_.left_out.insert(left);
    }
    for (const trace::PipelineFacts& facts : profile.pipeline_facts) {
      if (input.pipelines.contains(facts.pipeline)) {
        add_facts(input, facts, numbers);
      }
    }
  }

  void add_facts(const Input& input, trace::PipelineFacts facts,
                 const std::map<std::uint16_t, std::uint16_t>& shaders) {
    facts.pipeline = pipelines_[input.pipelines.at(facts.pipeline)].number;
    for (trace::GroupStack& group : facts.groups) {
      for (std::uint16_t* shader : {&group.general, &group.closest_hit, &group.any_hit, &group.intersection}) {
        *shader = *shader == trace::kNoShader ? trace::kNoShader : shaders.at(*shader);
      }
    }
    facts_.add(std::move(facts), run_name(input.run->profile.hash));
  }

  void finish() {
    trace::Trace& trace = result_.trace;
    trace.block_counts = blocks_.sums();
    if (!has(Kind::Groups)) {
      trace.block_counts.groups.clear();
    }
    trace.branch_counts = branches_.sums();
    trace.load_counts = loads_.sums();
    trace.value_counts = values_.sums();
    trace.paths = paths_.sums();
    trace.access_sites = sites_.sums();
    for (const LeftOutFunction& left : blocks_.left_out()) {
      state_.left_out.insert({Left::Function, left.pipeline, left.shader, left.function, 0, 0});
    }
    branches_.add_left_out(state_.left_out);
    loads_.add_left_out(state_.left_out);
    values_.add_left_out(state_.left_out);
    paths_.add_left_out(state_.left_out);
    std::erase_if(state_.left_out, [&](const LeftOut& left) { return is_part_of_another(left, state_.left_out); });
    drop_left_out_paths();
    take_facts();
    take_shaders();
    for (const LeftOutFunction& left : blocks_.left_out()) {
      result_.reasons.push_back(fmt::format("function {} of shader {} in pipeline {}: {}", left.function, left.shader,
                                            left.pipeline, reason_text(left, "profile")));
    }
    if (trace.block_counts.size() + trace.branch_counts.size() + trace.load_counts.size() + trace.value_counts.size() +
            trace.paths.size() + trace.access_sites.size() ==
        0) {
      fail("no function, instruction or path is counted in all runs that have it", inputs_.front().run->file, "", "",
           "capture the runs again");
    }
    std::map<std::uint32_t, std::vector<std::uint16_t>> members;
    for (const SamePipeline& pipeline : pipelines_) {
      members[pipeline.number] = pipeline.members;
      result_.common_pipelines += pipeline.runs.size() == state_.runs.size() ? 1U : 0U;
    }
    result_.pipelines = pipelines_.size();
    result_.remarks = difference_lines(state_, trace.shaders, members);
    write_header();
  }

  /// Paths that an earlier merge left out may come back with a run that it did not have.
  void drop_left_out_paths() {
    std::set<std::uint16_t> dropped;
    for (const LeftOut& left : state_.left_out) {
      if (left.left == Left::Paths) {
        dropped.insert(left.shader);
      }
    }
    if (!dropped.empty()) {
      result_.trace.paths = without(result_.trace.paths, dropped);
    }
  }

  /// Facts that no run, and no merge before, contradicts.
  void take_facts() {
    for (const auto& [pipeline, reason] : facts_.contradictions()) {
      state_.left_out.insert({Left::Facts, pipeline, 0, 0, 0, 0});
      result_.reasons.push_back(fmt::format("facts of pipeline {}: {}", pipeline, reason));
    }
    for (trace::PipelineFacts& facts : facts_.facts()) {
      if (!state_.left_out.contains({Left::Facts, facts.pipeline, 0, 0, 0, 0})) {
        result_.trace.pipeline_facts.push_back(std::move(facts));
      }
    }
  }

  /// Takes the shaders, except those that only left-out facts name, and renumbers the rest.
  void take_shaders() {
    std::set<std::uint16_t> needed;
    for (const std::size_t index : used_) {
      needed.insert(identities_[index].number);
    }
    for (const trace::PipelineFacts& facts : result_.trace.pipeline_facts) {
      for (const trace::GroupStack& group : facts.groups) {
        needed.insert({group.general, group.closest_hit, group.any_hit, group.intersection});
      }
    }
    needed.erase(trace::kNoShader);
    std::vector<const SameShader*> by_number(identities_.size());
    for (const SameShader& same : identities_) {
      by_number[same.number] = &same;
    }
    std::vector<std::uint16_t> renumbered(identities_.size(), trace::kNoShader);
    for (const std::uint16_t number : needed) {
      renumbered[number] = static_cast<std::uint16_t>(result_.trace.shaders.size());
      keep_names(*by_number[number], renumbered[number]);
      result_.trace.shaders.push_back(*by_number[number]->shader);
      result_.trace.shaders.back().name = name_of(*by_number[number]);
    }
    if (needed.size() != identities_.size()) {
      renumber(renumbered);
    }
  }

  void renumber(const std::vector<std::uint16_t>& numbers) {
    trace::Trace& trace = result_.trace;
    for (auto* column :
         {&trace.block_counts.shader, &trace.branch_counts.shader, &trace.load_counts.shader,
          &trace.value_counts.shader, &trace.paths.shader, &trace.paths.block_shader, &trace.access_sites.shader}) {
      for (std::uint16_t& shader : *column) {
        shader = numbers[shader];
      }
    }
    for (trace::PipelineFacts& facts : trace.pipeline_facts) {
      for (trace::GroupStack& group : facts.groups) {
        for (std::uint16_t* shader : {&group.general, &group.closest_hit, &group.any_hit, &group.intersection}) {
          *shader = *shader == trace::kNoShader ? trace::kNoShader : numbers[*shader];
        }
      }
    }
    for (SamePipeline& pipeline : pipelines_) {
      for (std::uint16_t& shader : pipeline.members) {
        shader = numbers[shader];
      }
    }
    std::set<LeftOut> left_out;
    for (LeftOut left : state_.left_out) {
      left.shader = left.left == Left::Facts ? std::uint16_t{0} : numbers[left.shader];
      left_out.insert(left);
    }
    state_.left_out = std::move(left_out);
  }

  /// A pipeline, or where the runs have none a shader, that two of the files have.
  void require_common() const {
    std::map<std::set<std::size_t>, std::size_t> files;
    bool common = false, any_pipeline = false;
    for (const Input& input : inputs_) {
      std::set<std::set<std::size_t>> own;
      for (const auto& [pipeline, counted] : input.counted) {
        std::set<std::size_t> members;
        for (const std::uint16_t shader : counted) {
          members.insert(input.shaders.at(shader));
        }
        own.insert(members);
        any_pipeline = true;
      }
      for (const std::set<std::size_t>& members : own) {
        common = ++files[members] > 1 || common;
      }
    }
    if (!any_pipeline) {
      common = std::ranges::any_of(identities_, [](const SameShader& same) { return same.runs > 1; });
    }
    if (!common) {
      fail("the runs have no pipeline in common", inputs_.back().run->file,
           any_pipeline ? "every pipeline in one run alone" : "every shader in one run alone",
           "a pipeline with the same shaders in two runs: stage, entry point and every word of the module",
           "merge runs of one application and version");
    }
  }

  void write_header() {
    trace::Header& header = result_.trace.header;
    std::set<std::string> applications, devices, drivers;
    for (const auto& [hash, run] : state_.runs) {
      applications.insert(run.application);
      devices.insert(run.device);
      drivers.insert(run.driver);
    }
    header.application = fmt::format("{}", fmt::join(applications, "; "));
    header.device = fmt::format("{}", fmt::join(devices, "; "));
    header.driver = fmt::format("{}", fmt::join(drivers, "; "));
    header.warp_size = inputs_.front().run->profile.header.warp_size;
    header.configuration = configuration_text(state_);
    header.not_captured.push_back(
        fmt::format("launches, rays, events and geometry: the file has the merged profile of {} alone",
                    counted(state_.runs.size(), "run")));
    header.not_captured.insert(header.not_captured.end(), result_.remarks.begin(), result_.remarks.end());
    for (const auto& [hash, run] : state_.runs) {
      for (const std::string& line : run.not_captured) {
        header.not_captured.push_back(fmt::format("run {}: {}", run_name(hash), line));
      }
    }
  }

  std::vector<Input> inputs_;  ///< by the first hash of their runs
  MergeState state_;           ///< of the result
  std::set<Kind> kinds_;
  Merged result_;
  CountSums blocks_;
  InstructionSums branches_{false}, loads_{true};
  ValueSums values_;
  PathSums paths_;
  SiteSums sites_;
  MergedFacts facts_;
  std::set<ShaderKey> keys_;
  std::map<Identity, std::size_t> identity_of_;  ///< places in `identities_`
  std::vector<SameShader> identities_;
  std::set<std::size_t> used_;  ///< identities that a kept kind counts
  std::map<std::pair<std::vector<std::uint16_t>, std::size_t>, std::size_t> pipeline_of_;  ///< places in `pipelines_`
  std::vector<SamePipeline> pipelines_;
};

}  // namespace

Run load_run(const std::filesystem::path& path) {
  Run run{path.string(), trace::load_profile(path)};
  trace::AccessSites& sites = run.profile.access_sites;
  if (sites.size() != 0 && !sites.has_sums()) {
    for (const SiteAccesses& of : access_profile(trace::load(path))) {
      sites.lanes.push_back(of.lanes);
      sites.groups.push_back(of.groups);
      sites.sectors.push_back(of.sectors);
      sites.lines.push_back(of.lines);
      sites.group_sectors.push_back(of.group_sectors);
      sites.group_lines.push_back(of.group_lines);
    }
  }
  return run;
}

Merged merge(const std::vector<Run>& runs) {
  return Merger(runs).merge();
}

}  // namespace rayreplay::profile
