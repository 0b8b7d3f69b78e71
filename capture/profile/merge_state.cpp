#include "capture/profile/merge_state.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/count_text.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "capture/trace/access_sample.hpp"
#include "capture/trace/lost_accesses.hpp"

namespace rayreplay::profile {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kMergedRuns = "merged_runs";  // keys of the configuration
constexpr const char* kState = "merged";
constexpr const char* kAccessEvery = "access_every";  // members of a run, where they are other than 1, 0 and 0
constexpr const char* kLostAccesses = "lost_accesses";
constexpr const char* kLostWords = "lost_words";
constexpr std::size_t kHashDigits = 8;  // that name a run

constexpr std::array<const char*, kKinds> kKindNames = {"blocks", "groups", "branches", "loads",
                                                        "values", "paths",  "accesses"};
constexpr const char* kFactsText = "facts";
constexpr std::array<const char*, kKinds> kKindTexts = {"counts of blocks",  "groups of lanes", "counts of branches",
                                                        "counts of loads",   "values of loads", "paths of calls",
                                                        "accesses to memory"};
constexpr std::array<const char*, kLefts> kLeftNames = {
    "function", "branch", "branch uniform", "load", "load uniform", "load address", "value", "paths", "facts"};

/// Reads parts of the state, with errors of its own: the state is text of a file, so it may be anything.
class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file) {}

  [[noreturn]] void fail(const std::string& what, const std::string& found) const {
    throw Error(ErrorKind::Input,
                {"the record of merged runs cannot be read: " + what, file_ + ":/configuration", found,
                 "a record as docs/trace-format.md has it, under Merged profiles", "merge the runs' own traces again"});
  }
  [[nodiscard]] const Json& member(const Json& object, const char* name, Json::value_t type) const {
    if (!object.is_object() || !object.contains(name) || object[name].type() != type) {
      fail(fmt::format("'{}' is missing, or of another type", name), "");
    }
    return object[name];
  }
  [[nodiscard]] std::string text(const Json& object, const char* name) const {
    return member(object, name, Json::value_t::string).get<std::string>();
  }
  [[nodiscard]] std::uint32_t number(const Json& value, std::uint32_t most) const {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most) {
      fail(fmt::format("a number of 0 to {} is none", most), value.dump());
    }
    return value.get<std::uint32_t>();
  }
  /// `otherwise` without the member.
  [[nodiscard]] std::uint64_t number_or(const Json& object, const char* name, std::uint64_t otherwise,
                                        std::uint64_t least) const {
    if (!object.is_object() || !object.contains(name)) {
      return otherwise;
    }
    const auto number = member(object, name, Json::value_t::number_unsigned).get<std::uint64_t>();
    if (number < least) {
      fail(fmt::format("'{}' is less than {}", name, least), std::to_string(number));
    }
    return number;
  }
  template <std::size_t N>
  [[nodiscard]] std::size_t name(const Json& value, const std::array<const char*, N>& names) const {
    const auto found =
        value.is_string() ? std::find(names.begin(), names.end(), value.get<std::string>()) : names.end();
    if (found == names.end()) {
      fail("there is no such name", value.dump());
    }
    return static_cast<std::size_t>(found - names.begin());
  }

 private:
  const std::string& file_;
};

std::set<Kind> kinds_of(const trace::Profile& profile) {
  std::set<Kind> kinds;
  const auto add = [&](Kind kind, bool has) {
    if (has) {
      kinds.insert(kind);
    }
  };
  add(Kind::Blocks, profile.block_counts.size() != 0);
  add(Kind::Groups, !profile.block_counts.groups.empty());
  add(Kind::Branches, profile.branch_counts.size() != 0);
  add(Kind::Loads, profile.load_counts.size() != 0);
  add(Kind::Values, profile.value_counts.size() != 0);
  add(Kind::Paths, profile.paths.size() != 0);
  add(Kind::Accesses, profile.access_sites.size() != 0);
  return kinds;
}

std::set<std::uint32_t> pipelines_of(const trace::Profile& profile) {
  std::set<std::uint32_t> pipelines;
  for (const auto* column : {&profile.block_counts.pipeline, &profile.branch_counts.pipeline,
                             &profile.load_counts.pipeline, &profile.value_counts.pipeline}) {
    pipelines.insert(column->begin(), column->end());
  }
  return pipelines;
}

MergeState read_state(const Json& json, const trace::Profile& profile, const std::string& file) {
  const Reader reader(file);
  const auto shader_count = static_cast<std::uint32_t>(profile.shaders.size());
  constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max();
  MergeState state;
  std::vector<std::string> hashes;
  for (const Json& item : reader.member(json, "runs", Json::value_t::array)) {
    RunFacts run{reader.text(item, "application"), reader.text(item, "device"), reader.text(item, "driver"), {}, {}};
    run.access_every = reader.number_or(item, kAccessEvery, 1, 1);
    run.missing_accesses = {reader.number_or(item, kLostAccesses, 0, 0), reader.number_or(item, kLostWords, 0, 0)};
    for (const Json& kind : reader.member(item, "kinds", Json::value_t::array)) {
      run.kinds.insert(static_cast<Kind>(reader.name(kind, kKindNames)));
    }
    for (const Json& line : reader.member(item, "not_captured", Json::value_t::array)) {
      if (!line.is_string()) {
        reader.fail("a line of 'not_captured' is no text", line.dump());
      }
      run.not_captured.push_back(line.get<std::string>());
    }
    hashes.push_back(reader.text(item, "hash"));
    if (!state.runs.emplace(hashes.back(), std::move(run)).second) {
      reader.fail("a run is there twice", hashes.back());
    }
  }
  if (state.runs.empty()) {
    reader.fail("there is no run", "");
  }
  for (const Json& item : reader.member(json, "pipelines", Json::value_t::array)) {
    if (!item.is_array() || item.size() < 2) {
      reader.fail("a pipeline has no runs", item.dump());
    }
    std::set<std::string>& runs = state.pipelines[reader.number(item[0], kMost)];
    for (std::size_t i = 1; i < item.size(); ++i) {
      runs.insert(hashes[reader.number(item[i], static_cast<std::uint32_t>(hashes.size() - 1))]);
    }
  }
  for (const std::uint32_t pipeline : pipelines_of(profile)) {
    if (!state.pipelines.contains(pipeline)) {
      reader.fail("a counted pipeline has no runs", std::to_string(pipeline));
    }
  }
  for (const Json& item : reader.member(json, "left_out", Json::value_t::array)) {
    constexpr std::size_t kNumbers = 6;
    if (!item.is_array() || item.size() != kNumbers) {
      reader.fail("an item of 'left_out' has another length", item.dump());
    }
    LeftOut left{static_cast<Left>(reader.name(item[0], kLeftNames)), reader.number(item[1], kMost), 0, 0, 0, 0};
    left.shader = static_cast<std::uint16_t>(reader.number(item[2], trace::kNoShader));
    left.function = reader.number(item[3], kMost);
    left.instruction = reader.number(item[4], kMost);
    left.component = reader.number(item[5], kMost);
    const bool has_pipeline = left.left == Left::Paths || state.pipelines.contains(left.pipeline);
    if (!has_pipeline || (left.left != Left::Facts && left.shader >= shader_count)) {
      reader.fail("an item of 'left_out' names a pipeline or shader that is not there", item.dump());
    }
    state.left_out.insert(left);
  }
  for (const Json& item : reader.member(json, "names", Json::value_t::array)) {
    if (!item.is_array() || item.size() != 3 || !item[2].is_string()) {
      reader.fail("an item of 'names' is no shader, kind and name", item.dump());
    }
    const std::uint32_t shader = reader.number(item[0], trace::kNoShader);
    const std::size_t kind = item[1] == kFactsText ? kFactsName : reader.name(item[1], kKindNames);
    state.names[{static_cast<std::uint16_t>(shader), kind}] = item[2].get<std::string>();
  }
  return state;
}

/// "a, b, c and 4 more".
std::string some(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 5;
  const std::size_t shown = std::min(names.size(), kMost);
  const std::string list =
      fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  return shown == names.size() ? list : fmt::format("{} and {} more", list, names.size() - shown);
}

using Runs = std::map<std::string, RunFacts>;

/// The names of runs with accesses, by their sample.
std::map<std::uint64_t, std::vector<std::string>> runs_by_sample(const Runs& runs) {
  std::map<std::uint64_t, std::vector<std::string>> by_sample;
  for (const auto& [hash, run] : runs) {
    if (run.kinds.contains(Kind::Accesses)) {
      by_sample[run.access_every].push_back(run_name(hash));
    }
  }
  return by_sample;
}

/// Whether accesses of all runs that have some can be added.
bool are_of_the_same_threads(const Runs& runs) {
  return runs_by_sample(runs).size() <= 1 &&
         std::ranges::none_of(runs, [](const auto& run) { return run.second.missing_accesses.any(); });
}

/// Why accesses are left out, other than that a run has none.
void add_access_lines(const Runs& runs, std::vector<std::string>& lines) {
  const std::string left_out =
      fmt::format("{} are left out: ", kKindTexts.at(static_cast<std::size_t>(Kind::Accesses)));
  if (const auto by_sample = runs_by_sample(runs); by_sample.size() > 1) {
    std::vector<std::string> samples;
    for (const auto& [every, names] : by_sample) {
      const std::string threads = every == 1 ? "all threads" : fmt::format("one thread in {}", with_separators(every));
      samples.push_back(fmt::format("of {} in {}", threads, some(names)));
    }
    lines.push_back(left_out + some(samples));
  }
  std::vector<std::string> incomplete;
  for (const auto& [hash, run] : runs) {
    if (run.missing_accesses.any()) {
      incomplete.push_back(run_name(hash));
    }
  }
  if (!incomplete.empty()) {
    lines.push_back(fmt::format("{}some were lost by the capture of {}", left_out, some(incomplete)));
  }
}

/// A line on left-out parts: "3 loads of shader 1 (ground) in pipeline 0 are left out: …"; `number` of them.
std::string text_of(const LeftOut& left, std::size_t number, const std::vector<trace::Shader>& shaders) {
  const std::string shader =
      left.left == Left::Facts ? "" : fmt::format("shader {} ({})", left.shader, shaders[left.shader].name);
  const auto in = [&](const std::string& items) {
    return fmt::format("{} of {} in pipeline {}", items, shader, left.pipeline);
  };
  const char* const are = number == 1 ? "is" : "are";
  switch (left.left) {
    case Left::Function:
      return fmt::format(
          "function {} of {} in pipeline {} is left out: not counted, with the same blocks, in all runs "
          "that have the pipeline",
          left.function, shader, left.pipeline);
    case Left::Branch:
      return fmt::format("{} {} left out: not counted in all runs that have the pipeline",
                         in(counted(number, "branch", "branches")), are);
    case Left::Load:
      return fmt::format("{} {} left out: not counted in all runs that have the pipeline", in(counted(number, "load")),
                         are);
    case Left::BranchUniform:
      return fmt::format("{} {} not compared in all runs: how often lanes agreed is left out",
                         in(counted(number, "branch", "branches")), are);
    case Left::LoadUniform:
    case Left::LoadAddress:
      return fmt::format("{} of {} not compared in all runs: how often lanes agreed is left out",
                         number == 1 ? (left.left == Left::LoadUniform ? "the value" : "the address")
                                     : (left.left == Left::LoadUniform ? "values" : "addresses"),
                         in(counted(number, "load")) + " " + are);
    case Left::Value:
      return fmt::format("values of {} {} left out: not counted in all runs that have the pipeline",
                         in(counted(number, "loaded number")), "are");
    case Left::Paths:
      return fmt::format("paths of {} are left out: their blocks differ between the runs", shader);
    case Left::Facts:
      return fmt::format("what the driver says of pipeline {} is left out: the runs disagree", left.pipeline);
  }
  return {};
}

}  // namespace

Kind kind_of(Left left) {
  constexpr std::array<Kind, kLefts> kKindOf = {Kind::Blocks, Kind::Branches, Kind::Branches, Kind::Loads, Kind::Loads,
                                                Kind::Loads,  Kind::Values,   Kind::Paths,    Kind::Blocks};
  return kKindOf.at(static_cast<std::size_t>(left));
}

std::set<Kind> MergeState::kinds() const {
  std::set<Kind> common;
  for (std::size_t k = 0; k < kKinds; ++k) {
    const auto kind = static_cast<Kind>(k);
    if (std::ranges::all_of(runs, [&](const auto& run) { return run.second.kinds.contains(kind); }) &&
        (kind != Kind::Accesses || are_of_the_same_threads(runs))) {
      common.insert(kind);
    }
  }
  return common;
}

std::string run_name(const std::string& hash) {
  return hash.substr(0, kHashDigits);
}

MergeState state_of(const trace::Profile& profile, const std::string& file) {
  const auto parsed = parse_json(profile.header.configuration);
  const Json configuration = parsed && parsed->is_object() ? Json(*parsed) : Json::object();
  if (configuration.contains(kState) && configuration.contains(kMergedRuns)) {
    return read_state(configuration[kState], profile, file);
  }
  MergeState state;
  RunFacts facts{profile.header.application, profile.header.device, profile.header.driver, kinds_of(profile), {}};
  if (facts.kinds.contains(Kind::Accesses)) {
    facts.access_every = trace::access_sample(profile.header);
    facts.missing_accesses = trace::all_missing_accesses(profile.header);
  }
  if (configuration.contains(kMergedRuns)) {
    for (const auto& hash : configuration[kMergedRuns]) {
      if (hash.is_string()) {
        state.runs.emplace(hash.get<std::string>(), facts);
      }
    }
  }
  if (state.runs.empty()) {
    state.runs.emplace(profile.hash, facts);
  }
  state.runs.begin()->second.not_captured = profile.header.not_captured;
  for (const std::uint32_t pipeline : pipelines_of(profile)) {
    for (const auto& [hash, run] : state.runs) {
      state.pipelines[pipeline].insert(hash);
    }
  }
  return state;
}

std::string configuration_text(const MergeState& state) {
  Json hashes = Json::array(), runs = Json::array(), pipelines = Json::array(), left_out = Json::array(),
       names = Json::array();
  std::map<std::string, std::size_t> place;
  for (const auto& [hash, run] : state.runs) {
    place.emplace(hash, place.size());
    hashes.push_back(hash);
    Json kinds = Json::array();
    for (const Kind kind : run.kinds) {
      kinds.push_back(kKindNames.at(static_cast<std::size_t>(kind)));
    }
    runs.push_back({{"hash", hash},
                    {"application", run.application},
                    {"device", run.device},
                    {"driver", run.driver},
                    {"kinds", std::move(kinds)},
                    {"not_captured", run.not_captured}});
    if (run.access_every != 1) {
      runs.back()[kAccessEvery] = run.access_every;
    }
    if (run.missing_accesses.any()) {
      runs.back()[kLostAccesses] = run.missing_accesses.accesses;
      runs.back()[kLostWords] = run.missing_accesses.lost_words;
    }
  }
  for (const auto& [pipeline, of] : state.pipelines) {
    Json item = Json::array({pipeline});
    for (const std::string& hash : of) {
      item.push_back(place.at(hash));
    }
    pipelines.push_back(std::move(item));
  }
  for (const LeftOut& left : state.left_out) {
    left_out.push_back(Json::array({kLeftNames.at(static_cast<std::size_t>(left.left)), left.pipeline, left.shader,
                                    left.function, left.instruction, left.component}));
  }
  for (const auto& [place_of, name] : state.names) {
    const auto& [shader, kind] = place_of;
    names.push_back(Json::array({shader, kind == kFactsName ? kFactsText : kKindNames.at(kind), name}));
  }
  Json record{{"runs", std::move(runs)},
              {"pipelines", std::move(pipelines)},
              {"left_out", std::move(left_out)},
              {"names", std::move(names)}};
  Json configuration{{kMergedRuns, std::move(hashes)}, {kState, std::move(record)}};
  const std::uint64_t every = state.runs.empty() ? 1 : state.runs.begin()->second.access_every;
  if (every != 1 && state.kinds().contains(Kind::Accesses)) {
    // The sums are of a sample, too: said where a capture says it (access_sample.hpp).
    configuration["capture"]["options"]["profile_memory_sample"] = std::to_string(every);
  }
  return json_text(configuration);
}

std::vector<std::string> difference_lines(const MergeState& state, const std::vector<trace::Shader>& shaders,
                                          const std::map<std::uint32_t, std::vector<std::uint16_t>>& members) {
  std::vector<std::string> lines;
  const bool blocks = state.kinds().contains(Kind::Blocks);
  for (std::size_t k = 0; k < kKinds; ++k) {
    const auto kind = static_cast<Kind>(k);
    std::vector<std::string> without;
    for (const auto& [hash, run] : state.runs) {
      if (!run.kinds.contains(kind)) {
        without.push_back(run_name(hash));
      }
    }
    // Groups are named where blocks remain: without blocks they are left out with these.
    if (!without.empty() && without.size() != state.runs.size() && (kind != Kind::Groups || blocks)) {
      lines.push_back(fmt::format("{} are left out: not counted in {}", kKindTexts.at(k), some(without)));
    }
  }
  add_access_lines(state.runs, lines);
  for (const auto& [number, runs] : state.pipelines) {
    if (runs.size() != state.runs.size()) {
      std::vector<std::string> names, of;
      for (const std::uint16_t shader : members.at(number)) {
        names.push_back(shaders[shader].name);
      }
      std::ranges::transform(runs, std::back_inserter(of), run_name);
      lines.push_back(fmt::format("pipeline {} ({}) is in {} of {} alone: {}", number, some(names), runs.size(),
                                  counted(state.runs.size(), "run"), some(of)));
    }
  }
  // One line for all places of a shader, but for functions.
  for (auto left = state.left_out.begin(); left != state.left_out.end();) {
    auto end = left;
    std::size_t number = 0;
    do {
      ++number;
      ++end;
    } while (end != state.left_out.end() && left->left != Left::Function && end->left == left->left &&
             end->pipeline == left->pipeline && end->shader == left->shader);
    lines.push_back(text_of(*left, number, shaders));
    left = end;
  }
  return lines;
}

}  // namespace rayreplay::profile
