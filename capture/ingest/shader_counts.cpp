#include "capture/ingest/shader_counts.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/count_text.hpp"
#include "capture/block_counts/derived_counts.hpp"
#include "capture/block_counts/group_sources.hpp"
#include "capture/ingest/counted_module.hpp"

namespace rayreplay::ingest {
namespace {

using block_counts::CounterSite;
using block_counts::Node;

constexpr std::uint64_t kMostLanes = 64;

/// Bits of a site's cells.
constexpr unsigned kLanes = 1, kGroups = 2, kUniform = 4, kUniformAddress = 8, kUniformBoth = 16;

/// Of a table of values (spool/format.hpp).
constexpr std::uint64_t kSlotCells = 3;
constexpr std::uint64_t kSlotsOfAFilter = 4;
constexpr std::uint64_t kHeldValue = std::uint64_t{1} << 32;
constexpr unsigned kMostComponents = 4;

/// The first cell of a site's slots, counted from the site's first cell.
std::uint64_t slots_of(const spool::CounterSite& site) {
  return static_cast<unsigned>(std::popcount(site.cells)) + (site.slots + kSlotsOfAFilter - 1) / kSlotsOfAFilter;
}

std::uint64_t size_of(const spool::CounterSite& site) {
  return slots_of(site) + site.slots * kSlotCells;
}

struct Sums {
  std::vector<std::uint64_t> cells;
  std::vector<bool> keys;  ///< by cell: of a slot of a table of values
  bool overflow = false;
};

struct BlockRow {
  std::uint32_t pipeline = 0;
  std::uint16_t shader = 0;
  std::uint32_t function = 0, block = 0;
  std::uint64_t lanes = 0, groups = 0;

  bool operator<(const BlockRow& other) const {
    return std::tie(pipeline, shader, function, block) <
           std::tie(other.pipeline, other.shader, other.function, other.block);
  }
};

struct InstructionRow {
  std::uint32_t pipeline = 0;
  std::uint16_t shader = 0;
  std::uint32_t function = 0, block = 0, instruction = 0;
  std::uint64_t lanes = 0, groups = 0, uniform = trace::kNotCompared, uniform_address = trace::kNotCompared;

  [[nodiscard]] auto place() const {
    return std::tie(pipeline, shader, function, instruction);
  }
  bool operator<(const InstructionRow& other) const {
    return place() < other.place();
  }
};

/// A place of trace::ValueCounts with its table.
struct PlaceRow {
  struct Seen {
    std::uint64_t lanes = 0, uniform_groups = 0;
  };
  std::uint32_t pipeline = 0;
  std::uint16_t shader = 0;
  std::uint32_t function = 0, block = 0, instruction = 0;
  std::uint8_t component = 0;
  std::uint64_t lanes = 0, groups = 0;
  std::map<std::uint32_t, Seen> values;

  bool operator<(const PlaceRow& other) const {
    return std::tie(pipeline, shader, function, instruction, component) <
           std::tie(other.pipeline, other.shader, other.function, other.instruction, other.component);
  }
};

struct Rows {
  std::vector<BlockRow> blocks;
  std::vector<InstructionRow> branches, loads;
  std::vector<PlaceRow> places;
};

trace::ValueCounts columns_of(std::vector<PlaceRow>& rows) {
  std::sort(rows.begin(), rows.end());
  trace::ValueCounts result;
  for (const PlaceRow& row : rows) {
    const auto place = static_cast<std::uint32_t>(result.size());
    result.pipeline.push_back(row.pipeline);
    result.shader.push_back(row.shader);
    result.function.push_back(row.function);
    result.block.push_back(row.block);
    result.instruction.push_back(row.instruction);
    result.component.push_back(row.component);
    result.lanes.push_back(row.lanes);
    result.groups.push_back(row.groups);
    for (const auto& [value, seen] : row.values) {
      result.place.push_back(place);
      result.value.push_back(value);
      result.value_lanes.push_back(seen.lanes);
      result.uniform_groups.push_back(seen.uniform_groups);
      result.most_lanes.push_back(seen.lanes);
    }
  }
  return result;
}

trace::InstructionCounts columns_of(std::vector<InstructionRow>& rows, bool addresses) {
  std::sort(rows.begin(), rows.end());
  trace::InstructionCounts result;
  for (const InstructionRow& row : rows) {
    result.pipeline.push_back(row.pipeline);
    result.shader.push_back(row.shader);
    result.function.push_back(row.function);
    result.block.push_back(row.block);
    result.instruction.push_back(row.instruction);
    result.lanes.push_back(row.lanes);
    result.groups.push_back(row.groups);
    result.uniform.push_back(row.uniform);
    if (addresses) {
      result.uniform_address.push_back(row.uniform_address);
    }
  }
  return result;
}

class Reader {
 public:
  Reader(const SpoolContents& contents, const spool::Device& device, std::vector<std::string>& remarks)
      : contents_(contents), device_(device.device), remarks_(remarks), most_lanes_(device.subgroup_size) {
    if (most_lanes_ == 0 || most_lanes_ > kMostLanes) {
      most_lanes_ = kMostLanes;
    }
    for (const spool::Counts& counts : contents.counts) {
      if (counts.device == device.device) {
        add(counts);
      }
    }
  }

  [[nodiscard]] ShaderCounts finish() {
    note_uncounted();
    for (const auto& [key, sums] : sums_) {
      resolve(key.first, key.second, sums);
    }
    std::sort(rows_.blocks.begin(), rows_.blocks.end());
    ShaderCounts result;
    for (const BlockRow& row : rows_.blocks) {
      result.blocks.pipeline.push_back(row.pipeline);
      result.blocks.shader.push_back(row.shader);
      result.blocks.function.push_back(row.function);
      result.blocks.block.push_back(row.block);
      result.blocks.lanes.push_back(row.lanes);
      if (has_groups_) {
        result.blocks.groups.push_back(row.groups);
      }
    }
    result.branches = columns_of(rows_.branches, false);
    result.loads = columns_of(rows_.loads, true);
    result.values = columns_of(rows_.places);
    return result;
  }

 private:
  void add(const spool::Counts& counts) {
    const auto layout = contents_.counters.find(counts.module);
    const std::size_t wanted = layout == contents_.counters.end() ? 0 : layout->second.cells;
    if (wanted == 0 || counts.cells.size() != wanted) {
      const std::string launch = counts.launch == spool::kNone ? "" : fmt::format("launch {}: ", counts.launch);
      remarks_.push_back(fmt::format("{}the module of shader {} is not counted: {}", launch, counts.module,
                                     wanted == 0 ? "the places of its counters are not in the spool"
                                                 : fmt::format("{} counts, {} expected", counts.cells.size(), wanted)));
      return;
    }
    Sums& sums = sums_[{counts.pipeline, counts.module}];
    sums.cells.resize(wanted);
    if (sums.keys.empty()) {
      sums.keys = keys_of(layout->second);
    }
    for (std::size_t i = 0; i < wanted; ++i) {
      if (sums.keys[i]) {
        // The same in each launch. Two different ones are no key, and end as a fault of the table.
        sums.cells[i] = sums.cells[i] == 0 || counts.cells[i] == 0 ? sums.cells[i] + counts.cells[i]
                        : sums.cells[i] == counts.cells[i]         ? counts.cells[i]
                                                                   : ~std::uint64_t{0};
        continue;
      }
      sums.cells[i] += counts.cells[i];
      sums.overflow = sums.overflow || sums.cells[i] < counts.cells[i];
    }
  }

  /// For each cell, whether it is the key of a slot of a table of values. Layouts are not checked yet: what does not
  /// fit has no keys.
  static std::vector<bool> keys_of(const spool::Counters& layout) {
    std::vector<bool> keys(layout.cells);
    for (const spool::CountedFunction& function : layout.functions) {
      const std::uint64_t copies = function.shaders.empty() || function.shaders.back() < function.shaders.front()
                                       ? 0
                                       : std::uint64_t{function.shaders.back()} - function.shaders.front() + 1;
      for (std::uint64_t copy = 0; copy < copies; ++copy) {
        const std::uint64_t first = function.first + copy * function.cells;
        if (first + function.cells > layout.cells) {
          break;
        }
        for (const spool::CounterSite& site : function.sites) {
          const std::uint64_t slots = site.kind == spool::SiteKind::Value ? site.slots : 0;
          for (std::uint64_t slot = 0, at = site.cell + slots_of(site); slot < slots && at < function.cells;
               ++slot, at += kSlotCells) {
            keys[first + at] = true;
          }
        }
      }
    }
    return keys;
  }

  /// Counts of compute and graphics pipelines are spooled when they are destroyed: others have none, and get a remark.
  void note_uncounted() {
    for (const auto& [number, pipeline] : contents_.pipelines) {
      const auto of_work = [&](const spool::Group& group) {
        const auto shader = contents_.shaders.find(group.general);
        return shader != contents_.shaders.end() && shader->second.stage >= trace::kRayTracingStages;
      };
      const bool counted = std::ranges::any_of(
          contents_.counts, [number = number](const spool::Counts& counts) { return counts.pipeline == number; });
      if (pipeline.device == device_ && !counted && std::ranges::any_of(pipeline.groups, of_work)) {
        remarks_.push_back(fmt::format(
            "pipeline {} is not counted: the application ended without destroying the pipeline or its device", number));
      }
    }
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
        remarks_.push_back(fmt::format("the module of shader {} is not counted: {}", shader, reason));
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
      remarks_.push_back(fmt::format("{} in pipeline {} is not counted: {}", what, pipeline, why));
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
    const std::uint64_t end = counted.first + slots * counted.cells;
    if (end > sums.cells.size()) {
      return fmt::format("its last count would be number {} of {}", end, sums.cells.size());
    }
    const spirv::Function& function = module.module.functions[counted.function];
    std::string reason;
    const auto flow = spirv::control_flow(function, module.selectors, reason);
    if (!flow) {
      return reason;
    }
    const std::vector<Node> sources = block_counts::group_sources(function, *flow);
    if (std::string why = site_fault(counted, *flow, sources); !why.empty()) {
      return why;
    }
    const std::vector<bool> may_end = module.ends.blocks_of(function, *flow);
    Rows rows;
    for (const std::uint16_t shader : shaders) {
      if (!is_in(pipeline, shader)) {
        continue;
      }
      const std::size_t first = counted.first + std::size_t{counted.cells} * (shader - shaders.front() + 0U);
      const Counted of{pipeline, shader, counted, *flow, sources, {sums.cells.data() + first, counted.cells}};
      std::string why = add_blocks(of, may_end, rows);
      why = why.empty() ? add_instructions(of, rows) : why;
      why = why.empty() ? add_values(of, rows) : why;
      if (!why.empty()) {
        return fmt::format("in shader {}: {}", shader, why);
      }
    }
    const auto append = [](auto& to, const auto& more) { to.insert(to.end(), more.begin(), more.end()); };
    append(rows_.blocks, rows.blocks);
    append(rows_.branches, rows.branches);
    append(rows_.loads, rows.loads);
    append(rows_.places, rows.places);
    return {};
  }

  /// A function's counts for one shader.
  struct Counted {
    std::uint32_t pipeline;
    std::uint16_t shader;
    const spool::CountedFunction& function;
    const spirv::ControlFlow& flow;
    const std::vector<Node>& sources;  ///< of the blocks' groups
    std::span<const std::uint64_t> cells;

    /// The number of a site that has it.
    [[nodiscard]] std::uint64_t number(const spool::CounterSite& site, unsigned bit) const {
      return cells[site.cell + static_cast<unsigned>(std::popcount(site.cells & (bit - 1U)))];
    }
  };

  /// By block, whether a site counts its groups.
  static std::vector<bool> with_groups(const spool::CountedFunction& counted, const std::vector<Node>& sources) {
    std::vector<bool> own(sources.size());
    for (const spool::CounterSite& site : counted.sites) {
      if (site.kind == spool::SiteKind::Block && (site.cells & kGroups) != 0 && site.to < own.size()) {
        own[site.to] = true;
      }
    }
    std::vector<bool> result = own;
    for (std::size_t b = 0; b < result.size(); ++b) {
      result[b] = own[b] || own[sources[b]];
    }
    return result;
  }

  /// Empty, or the fault of a function's sites.
  static std::string site_fault(const spool::CountedFunction& counted, const spirv::ControlFlow& flow,
                                const std::vector<Node>& sources) {
    std::vector<bool> executions = with_groups(counted, sources);  // by block: known before the next site
    std::set<std::pair<std::uint32_t, unsigned>> instructions;     // with the component + 1 of values
    for (const spool::CounterSite& site : counted.sites) {
      const std::uint64_t end = std::uint64_t{site.cell} + size_of(site);
      const unsigned cells = site.cells, always = site.always, own = cells & (kLanes | kGroups);
      const bool is_block = site.kind == spool::SiteKind::Block, is_value = site.kind == spool::SiteKind::Value;
      if (is_value ? cells != own || site.slots == 0 || site.component >= kMostComponents
                   : site.slots != 0 || site.component != 0) {
        return fmt::format("a site of component {} has a table of size {}", site.component, site.slots);
      }
      if (is_block ? cells == 0 || cells != own
                   : (own != 0 && own != (kLanes | kGroups)) || cells > 31 || (cells & always) != 0 ||
                         ((cells & kUniformBoth) != 0) != ((cells & kUniform) != 0 && (cells & kUniformAddress) != 0)) {
        return fmt::format("a site has the numbers {}", cells);
      }
      if (end > counted.cells) {
        return fmt::format("a site's last count would be number {} of {}", end, counted.cells);
      }
      if (is_block) {
        if (site.from != spool::kNone && (cells & kGroups) != 0) {
          return "groups of lanes cannot be counted on an edge";
        }
        continue;
      }
      if (site.to >= flow.blocks.size() || site.instruction < flow.blocks[site.to].first ||
          site.instruction > flow.blocks[site.to].last) {
        return fmt::format("block {} has no instruction {}", site.to, site.instruction);
      }
      if (!instructions.emplace(site.instruction, is_value ? site.component + 1U : 0U).second) {
        return fmt::format("instruction {} is there twice", site.instruction);
      }
      if (own == 0 && !executions[site.to]) {
        return fmt::format("instruction {} has no counter, and its block has none", site.instruction);
      }
      executions[site.to] = true;
    }
    return {};
  }

  /// Adds rows for the function's blocks, if these are counted. Empty, or why there are no rows.
  std::string add_blocks(const Counted& of, const std::vector<bool>& may_end, Rows& rows) {
    std::vector<CounterSite> sites;
    std::vector<std::uint64_t> lanes;
    for (const spool::CounterSite& site : of.function.sites) {
      if (site.kind == spool::SiteKind::Block && (site.cells & kLanes) != 0) {
        sites.push_back({site.from, site.to});
        lanes.push_back(of.number(site, kLanes));
      }
    }
    if (sites.empty()) {
      return {};
    }
    const auto derived = block_counts::derive_counts(of.flow, may_end, sites, lanes);
    if (!derived.fault.empty()) {
      return "they contradict each other: " + derived.fault;
    }
    const std::size_t begin = rows.blocks.size();
    for (Node b = 0; b < of.flow.blocks.size(); ++b) {
      rows.blocks.push_back({of.pipeline, of.shader, of.function.function, b, derived.blocks[b], 0});
    }
    const std::vector<bool> known = with_groups(of.function, of.sources);
    bool groups = true;
    for (Node b = 0; b < of.flow.blocks.size(); ++b) {
      groups = groups && (known[b] || !of.flow.reached(b));
    }
    std::vector<std::optional<std::uint64_t>> counted(of.flow.blocks.size());
    for (const spool::CounterSite& site : of.function.sites) {
      if (site.kind == spool::SiteKind::Block && (site.cells & kGroups) != 0 && site.to < counted.size()) {
        counted[site.to] = of.number(site, kGroups);
      }
    }
    for (Node b = 0; b < of.flow.blocks.size(); ++b) {
      rows.blocks[begin + b].groups = counted[b] ? *counted[b] : counted[of.sources[b]].value_or(0);
    }
    has_groups_ = has_groups_ && groups;
    for (std::size_t r = begin; r < rows.blocks.size() && groups; ++r) {
      const BlockRow& row = rows.blocks[r];
      if (std::string why = group_fault("block", row.block, row.lanes, row.groups); !why.empty()) {
        return why;
      }
    }
    return {};
  }

  struct Executions {
    std::uint64_t lanes = 0, groups = 0;
  };
  /// Calls `visit` with each site of an instruction and its executions: its own, else those of the last site before it
  /// in its block, else those of the block. Rows of blocks are there. Empty, or a fault of `visit`.
  template <typename Visit>
  static std::string for_each_instruction(const Counted& of, const Rows& rows, const Visit& visit) {
    std::map<std::uint32_t, Executions> last;  // by block
    for (std::size_t r = rows.blocks.size() - (rows.blocks.empty() ? 0 : of.flow.blocks.size()); r < rows.blocks.size();
         ++r) {
      last[rows.blocks[r].block] = {rows.blocks[r].lanes, rows.blocks[r].groups};
    }
    for (const spool::CounterSite& site : of.function.sites) {
      if (site.kind == spool::SiteKind::Block) {
        continue;
      }
      Executions& executions = last[site.to];
      if ((site.cells & kLanes) != 0) {
        executions = {of.number(site, kLanes), 0};
        for (const unsigned bit : {kGroups, kUniform, kUniformAddress, kUniformBoth}) {
          executions.groups += (site.cells & bit) != 0 ? of.number(site, bit) : 0;
        }
      }
      if (std::string why = visit(site, executions); !why.empty()) {
        return why;
      }
    }
    return {};
  }

  /// Adds rows for its branches and loads, after those for its blocks. Empty, or why there are no rows.
  std::string add_instructions(const Counted& of, Rows& rows) const {
    return for_each_instruction(of, rows, [&](const spool::CounterSite& site, const Executions& executions) {
      if (site.kind == spool::SiteKind::Value) {
        return std::string();
      }
      InstructionRow row{of.pipeline, of.shader, of.function.function, site.to, site.instruction};
      row.lanes = executions.lanes;
      row.groups = executions.groups;
      const std::uint64_t both = (site.cells & kUniformBoth) != 0 ? of.number(site, kUniformBoth) : 0;
      const auto uniform = [&](unsigned bit) {
        return (site.always & bit) != 0  ? row.groups
               : (site.cells & bit) != 0 ? of.number(site, bit) + both
                                         : trace::kNotCompared;
      };
      row.uniform = uniform(kUniform);
      row.uniform_address = uniform(kUniformAddress);
      if (std::string why = group_fault("instruction", row.instruction, row.lanes, row.groups); !why.empty()) {
        return why;
      }
      for (const std::uint64_t uniform_groups : {row.uniform, row.uniform_address}) {
        if (uniform_groups != trace::kNotCompared && uniform_groups > row.groups) {
          return fmt::format("instruction {} would have been uniform in {} of {}", row.instruction, uniform_groups,
                             counted(row.groups, "group"));
        }
      }
      (site.kind == spool::SiteKind::Branch ? rows.branches : rows.loads).push_back(row);
      return std::string();
    });
  }

  /// Adds rows for its loaded values. Empty, or why there are no rows.
  [[nodiscard]] std::string add_values(const Counted& of, Rows& rows) const {
    return for_each_instruction(of, rows, [&](const spool::CounterSite& site, const Executions& executions) {
      if (site.kind != spool::SiteKind::Value) {
        return std::string();
      }
      PlaceRow row{of.pipeline,    of.shader,        of.function.function, site.to, site.instruction,
                   site.component, executions.lanes, executions.groups,    {}};
      if (std::string why = group_fault("instruction", row.instruction, row.lanes, row.groups); !why.empty()) {
        return why;
      }
      std::uint64_t lanes = 0, groups = 0;
      for (std::size_t slot = 0; slot < site.slots; ++slot) {
        const auto cells = of.cells.subspan(site.cell + slots_of(site) + slot * kSlotCells, kSlotCells);
        if (cells[0] == 0) {
          continue;
        }
        if (cells[0] / kHeldValue != 1) {
          return fmt::format("instruction {} has a value of {}", row.instruction, cells[0]);
        }
        PlaceRow::Seen& seen = row.values[static_cast<std::uint32_t>(cells[0])];
        seen.lanes += cells[1];
        seen.uniform_groups += cells[2];
        if (cells[1] == 0 || cells[1] > row.lanes - lanes || cells[2] > cells[1] || cells[2] > row.groups - groups) {
          return fmt::format("instruction {} would have had a value in {} and {} of {} in {}", row.instruction,
                             counted(cells[1], "lane"), counted(cells[2], "group"), counted(row.lanes, "lane"),
                             counted(row.groups, "group"));
        }
        lanes += cells[1];
        groups += cells[2];
      }
      rows.places.push_back(std::move(row));
      return std::string();
    });
  }

  /// Empty, or why so many groups cannot have so many lanes.
  [[nodiscard]] std::string group_fault(const char* kind, std::uint32_t number, std::uint64_t lanes,
                                        std::uint64_t groups) const {
    if (groups > lanes || lanes / most_lanes_ + (lanes % most_lanes_ != 0 ? 1 : 0) > groups) {
      return fmt::format("{} {} would have run with {} in {}", kind, number, counted(lanes, "lane"),
                         counted(groups, "group"));
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
  std::uint32_t device_;
  std::vector<std::string>& remarks_;
  std::uint64_t most_lanes_;
  std::map<std::pair<std::uint32_t, std::uint16_t>, Sums> sums_;  ///< by pipeline and module
  std::map<std::uint16_t, std::unique_ptr<CountedModule>> modules_;
  Rows rows_;
  bool has_groups_ = true;  ///< all counted blocks have groups
};

}  // namespace

ShaderCounts read_shader_counts(const SpoolContents& contents, const spool::Device& device,
                                std::vector<std::string>& remarks) {
  return Reader(contents, device, remarks).finish();
}

}  // namespace rayreplay::ingest
