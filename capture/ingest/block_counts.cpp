#include "capture/ingest/block_counts.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/count_text.hpp"
#include "capture/block_counts/derived_counts.hpp"
#include "capture/block_counts/invocation_ends.hpp"

namespace rayreplay::ingest {
namespace {

using block_counts::CounterSite;
using block_counts::Node;

constexpr std::uint64_t kMostLanes = 64;

/// A module and what is asked about its functions.
struct CountedModule {
  explicit CountedModule(spirv::Module parsed) : module(std::move(parsed)), selectors(module), ends(module) {}

  spirv::Module module;
  spirv::WideSelectors selectors;
  block_counts::InvocationEnds ends;
};

struct Sums {
  std::vector<std::uint64_t> lanes, groups;
  bool overflow = false;
};

struct Row {
  std::uint32_t pipeline = 0;
  std::uint16_t shader = 0;
  std::uint32_t function = 0, block = 0;
  std::uint64_t lanes = 0, groups = 0;

  bool operator<(const Row& other) const {
    return std::tie(pipeline, shader, function, block) <
           std::tie(other.pipeline, other.shader, other.function, other.block);
  }
};

class Reader {
 public:
  Reader(const SpoolContents& contents, const spool::Device& device, std::vector<std::string>& remarks)
      : contents_(contents), remarks_(remarks), most_lanes_(device.subgroup_size) {
    if (most_lanes_ == 0 || most_lanes_ > kMostLanes) {
      most_lanes_ = kMostLanes;
    }
    for (const spool::Counts& counts : contents.counts) {
      if (counts.device == device.device) {
        add(counts);
      }
    }
  }

  [[nodiscard]] trace::BlockCounts finish() {
    for (const auto& [key, sums] : sums_) {
      resolve(key.first, key.second, sums);
    }
    std::sort(rows_.begin(), rows_.end());
    trace::BlockCounts result;
    const bool groups = std::all_of(contents_.counters.begin(), contents_.counters.end(),
                                    [](const auto& known) { return known.second.groups != 0; });
    for (const Row& row : rows_) {
      result.pipeline.push_back(row.pipeline);
      result.shader.push_back(row.shader);
      result.function.push_back(row.function);
      result.block.push_back(row.block);
      result.lanes.push_back(row.lanes);
      if (groups) {
        result.groups.push_back(row.groups);
      }
    }
    return result;
  }

 private:
  void add(const spool::Counts& counts) {
    const auto layout = contents_.counters.find(counts.module);
    const std::size_t wanted = layout == contents_.counters.end() ? 0 : layout->second.counters;
    const std::size_t groups = wanted != 0 && layout->second.groups != 0 ? wanted : 0;
    if (wanted == 0 || counts.lanes.size() != wanted || counts.groups.size() != groups) {
      remarks_.push_back(
          wanted == 0
              ? fmt::format("launch {}: blocks of the module of shader {} are not counted: where its counters "
                            "stand is not in the spool",
                            counts.launch, counts.module)
              : fmt::format("launch {}: blocks of the module of shader {} are not counted: {} counts of lanes "
                            "and {} of groups, {} and {} expected",
                            counts.launch, counts.module, counts.lanes.size(), counts.groups.size(), wanted, groups));
      return;
    }
    Sums& sums = sums_[{counts.pipeline, counts.module}];
    const auto sum = [&sums](std::vector<std::uint64_t>& to, const std::vector<std::uint64_t>& more) {
      to.resize(more.size());
      for (std::size_t i = 0; i < more.size(); ++i) {
        to[i] += more[i];
        sums.overflow = sums.overflow || to[i] < more[i];
      }
    };
    sum(sums.lanes, counts.lanes);
    sum(sums.groups, counts.groups);
  }

  /// Null, with a remark, where the module is not there or no module.
  const CountedModule* module_of(std::uint16_t shader) {
    const auto [known, fresh] = modules_.try_emplace(shader);
    if (fresh) {
      const auto source = contents_.shaders.find(shader);
      std::string reason = "it is not in the spool";
      if (source != contents_.shaders.end()) {
        if (auto module = spirv::parse(source->second.spirv, reason)) {
          known->second = std::make_unique<CountedModule>(std::move(*module));
        }
      }
      if (!known->second) {
        remarks_.push_back(fmt::format("blocks of the module of shader {} are not counted: {}", shader, reason));
      }
    }
    return known->second.get();
  }

  void resolve(std::uint32_t pipeline, std::uint16_t first_shader, const Sums& sums) {
    const CountedModule* module = module_of(first_shader);
    if (module == nullptr) {
      return;
    }
    const auto left_out = [&](const std::string& what, const std::string& why) {
      remarks_.push_back(fmt::format("blocks of {} in pipeline {} are not counted: {}", what, pipeline, why));
    };
    if (sums.overflow) {
      left_out(fmt::format("the module of shader {}", first_shader), "a count has more than 64 bits");
      return;
    }
    std::set<std::uint32_t> functions;
    for (const spool::CountedFunction& counted : contents_.counters.at(first_shader).functions) {
      const std::string what = fmt::format("function {} of the module of shader {}", counted.function, first_shader);
      if (!functions.insert(counted.function).second) {
        left_out(what, "it is there twice");
      } else if (std::string why = resolve(pipeline, *module, counted, sums); !why.empty()) {
        left_out(what, why);
      }
    }
  }

  /// Empty, or why a function's counts are left out.
  std::string resolve(std::uint32_t pipeline, const CountedModule& module, const spool::CountedFunction& counted,
                      const Sums& sums) {
    if (counted.function >= module.module.functions.size()) {
      return fmt::format("the module has {} functions", module.module.functions.size());
    }
    const auto& shaders = counted.shaders;
    const bool known = !shaders.empty() &&
                       std::adjacent_find(shaders.begin(), shaders.end(), std::greater_equal<>()) == shaders.end() &&
                       std::all_of(shaders.begin(), shaders.end(),
                                   [&](std::uint16_t shader) { return contents_.shaders.contains(shader); });
    if (!known) {
      return "its shaders are not in the spool, or not in order";
    }
    const std::uint64_t slots = shaders.back() - shaders.front() + 1U;
    const std::uint64_t end = counted.first + slots * counted.sites.size();
    if (end > sums.lanes.size()) {
      return fmt::format("its last counter would be number {} of {}", end, sums.lanes.size());
    }
    const spirv::Function& function = module.module.functions[counted.function];
    std::string reason;
    const auto flow = spirv::control_flow(function, module.selectors, reason);
    if (!flow) {
      return reason;
    }
    std::vector<CounterSite> sites;
    for (const spool::CounterSite& site : counted.sites) {
      sites.push_back({site.from, site.to});
    }
    const std::vector<bool> may_end = module.ends.blocks_of(function, *flow);
    std::vector<Row> rows;
    for (const std::uint16_t shader : shaders) {
      if (!is_in(pipeline, shader)) {
        continue;
      }
      const std::size_t first = counted.first + std::size_t{shader} * sites.size() - shaders.front() * sites.size();
      const std::span<const std::uint64_t> lanes(sums.lanes.data() + first, sites.size());
      const auto derived = block_counts::derive_counts(*flow, may_end, sites, lanes);
      if (!derived.fault.empty()) {
        return fmt::format("in shader {} they contradict each other: {}", shader, derived.fault);
      }
      const std::size_t begin = rows.size();
      for (Node b = 0; b < flow->blocks.size(); ++b) {
        rows.push_back({pipeline, shader, counted.function, b, derived.blocks[b], 0});
      }
      if (!sums.groups.empty()) {
        if (std::string why = add_groups({rows.data() + begin, flow->blocks.size()}, sites,
                                         {sums.groups.data() + first, sites.size()});
            !why.empty()) {
          return fmt::format("in shader {}: {}", shader, why);
        }
      }
    }
    rows_.insert(rows_.end(), rows.begin(), rows.end());
    return {};
  }

  /// `rows`: of the function's blocks.
  [[nodiscard]] std::string add_groups(std::span<Row> rows, const std::vector<CounterSite>& sites,
                                       std::span<const std::uint64_t> groups) const {
    for (std::size_t s = 0; s < sites.size(); ++s) {
      if (sites[s].from != block_counts::kNoNode) {
        return "groups of lanes cannot be counted on an edge";
      }
      rows[sites[s].to].groups = groups[s];
    }
    for (const Row& row : rows) {
      if (row.groups > row.lanes || row.lanes / most_lanes_ + (row.lanes % most_lanes_ != 0 ? 1 : 0) > row.groups) {
        return fmt::format("block {} would have run with {} in {}", row.block, counted(row.lanes, "lane"),
                           counted(row.groups, "group"));
      }
    }
    return {};
  }

  /// Whether a pipeline has the shader; true for one that is not known.
  [[nodiscard]] bool is_in(std::uint32_t pipeline, std::uint16_t shader) const {
    const auto known = contents_.pipelines.find(pipeline);
    return known == contents_.pipelines.end() ||
           std::any_of(known->second.groups.begin(), known->second.groups.end(), [&](const spool::Group& group) {
             return group.general == shader || group.closest_hit == shader || group.any_hit == shader ||
                    group.intersection == shader;
           });
  }

  const SpoolContents& contents_;
  std::vector<std::string>& remarks_;
  std::uint64_t most_lanes_;
  std::map<std::pair<std::uint32_t, std::uint16_t>, Sums> sums_;  ///< by pipeline and module
  std::map<std::uint16_t, std::unique_ptr<CountedModule>> modules_;
  std::vector<Row> rows_;
};

}  // namespace

trace::BlockCounts read_block_counts(const SpoolContents& contents, const spool::Device& device,
                                     std::vector<std::string>& remarks) {
  return Reader(contents, device, remarks).finish();
}

}  // namespace rayreplay::ingest
