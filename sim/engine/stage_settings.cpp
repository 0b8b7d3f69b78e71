#include "sim/engine/stage_settings.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/list_items.hpp"
#include "base/parameters.hpp"
#include "scheduler-models/launch_order.hpp"
#include "sim/caching/cache_parts.hpp"
#include "sim/engine/shader_accesses.hpp"
#include "sim/settings/machine_settings.hpp"
#include "sim/settings/thread_registers.hpp"

namespace rayreplay::experiment {
namespace {

constexpr std::uint32_t kWord = 4;
constexpr const char* kHints = "scheduler.hints";
constexpr const char* kHintFiles = "scheduler.hint_files";
/// Order of machine::CostSource.
constexpr std::array<std::string_view, 6> kCostSources = {"auto", "default", "spirv", "blocks", "paths", "captured"};
constexpr const char* kPayload = "stream.payload_bytes";
constexpr const char* kPixel = "stream.pixel_bytes";
constexpr std::string_view kCosts = "costs.";
constexpr std::string_view kShaderCosts = "shader_costs.";

[[noreturn]] void usage(const Settings& settings, const std::string& key, const std::string& what,
                        const std::string& expected) {
  throw Error(ErrorKind::Usage,
              {what, place_of(settings.where(key), key), "'" + to_text(settings.at(key)) + "'", expected, ""});
}

std::uint32_t small(const Settings& settings, const char* key) {
  const std::int64_t value = settings.integer(key);
  if (value < 0 || value > std::numeric_limits<std::uint32_t>::max()) {
    usage(settings, key, "the number is out of range", "0 to 4294967295");
  }
  return static_cast<std::uint32_t>(value);
}

std::uint32_t words(const Settings& settings, const char* key) {
  const std::uint32_t bytes = small(settings, key);
  if (bytes % kWord != 0) {
    usage(settings, key, "the size is not a number of words", "a multiple of 4");
  }
  return bytes;
}

std::vector<std::string> hints_in(std::string_view list) {
  std::vector<std::string> hints = list_items(list, ';');
  for (std::string& hint : hints) {
    hint = trimmed(hint, " \t\n");
  }
  std::erase(hints, "");
  return hints;
}

/// Calls `use(shader, key, value)` for each key of an open table.
template <class Use>
void for_table(const Settings& settings, std::string_view table, const Use& use) {
  for (auto it = settings.all().lower_bound(table); it != settings.all().end() && it->first.starts_with(table); ++it) {
    if (it->first.size() > table.size() && it->first.substr(table.size()) != "*") {
      use(it->first.substr(table.size()), it->first, it->second.value);
    }
  }
}

double part_of_cost(const Settings& settings, const std::string& key, std::string_view text, double most) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0 && value <= most)) {
    usage(settings, key, "a shader's cost is not of the form ISSUE, FACTORx, or one of them with :LATENCY",
          fmt::format("numbers from 0 to {:.0f}", most));
  }
  return value;
}

/// A key, and the key that it inherits from: the first that was set counts.
using Inheritance = std::vector<std::string>;

/// Places of the keys that were set, "--set, cache.l1.bytes, cache.l1.ways; workload, …"; `otherwise` where none was.
std::string places_of(const Settings& settings, const std::vector<Inheritance>& keys, std::string otherwise) {
  std::vector<std::string> places, origins;
  for (const Inheritance& inheritance : keys) {
    const auto set =
        std::ranges::find_if(inheritance, [&](const std::string& key) { return !settings.where(key).empty(); });
    if (set == inheritance.end()) {
      continue;
    }
    const std::string& where = settings.where(*set);
    const bool is_flag = where.starts_with("--") && where != "--set";  // --l1 sets several keys
    std::string place = is_flag ? where : place_of(where, *set);
    const auto same = std::ranges::find(origins, where);
    if (same == origins.end()) {
      origins.push_back(where);
      places.push_back(std::move(place));
    } else if (!is_flag) {
      // Named once, with all of its keys.
      places[static_cast<std::size_t>(same - origins.begin())] += ", " + *set;
    }
  }
  return places.empty() ? std::move(otherwise) : fmt::format("{}", fmt::join(places, "; "));
}

/// Place of the settings of a cache's geometry, inherited keys included; the machine where none was set.
std::string place_of_cache(const Settings& settings, const std::string& level) {
  std::vector<Inheritance> keys;
  for (const char* part : {"bytes", "line_bytes", "ways", "sector_bytes"}) {
    keys.push_back({fmt::format("cache.{}.{}", level, part), fmt::format("machine.{}_{}", level, part)});
  }
  return places_of(settings, keys, fmt::format("cache.{} of machine '{}'", level, settings.text(kMachineName)));
}

memory::CacheGeometry geometry_of(const Settings& settings, const std::string& level) {
  const std::string prefix = "cache." + level + ".";
  memory::CacheGeometry geometry;
  geometry.bytes = static_cast<std::uint64_t>(settings.integer(prefix + "bytes"));
  geometry.line_bytes = small(settings, (prefix + "line_bytes").c_str());
  geometry.ways = small(settings, (prefix + "ways").c_str());
  geometry.sector_bytes = small(settings, (prefix + "sector_bytes").c_str());
  if (geometry.bytes > 0) {
    memory::check(geometry, place_of_cache(settings, level));
  }
  return geometry;
}

/// Usage if a line of the L2 holds less than one sector of the accesses.
void require_whole_sectors(const memory::CacheGeometry& l2, const memory::CoalesceOptions& accesses,
                           const std::string& where) {
  if (l2.line_bytes < accesses.sector_bytes) {
    throw Error(ErrorKind::Usage,
                {"the L2's lines are smaller than the sectors of the accesses", where,
                 fmt::format("lines of {} bytes, sectors of {}", l2.line_bytes, accesses.sector_bytes),
                 fmt::format("lines of {} bytes or more", accesses.sector_bytes), ""});
  }
}

/// Usage if the analysed caches cannot take the accesses, which have lines and sectors of the load unit.
void require_fit(const Settings& settings, const Hierarchy& hierarchy) {
  const memory::CoalesceOptions accesses = coalescing_of(settings);
  const std::string machine = fmt::format("machine '{}'", settings.text(kMachineName));
  if (hierarchy.l1.bytes > 0 && hierarchy.l1.line_bytes != accesses.line_bytes) {
    throw Error(ErrorKind::Usage,
                {"the L1's lines are not those of the accesses",
                 places_of(settings,
                           {{"machine.l1_bytes"},
                            {"cache.l1.bytes"},
                            {"cache.l1.line_bytes", "machine.l1_line_bytes"},
                            {"machine.l2_line_bytes"}},
                           machine),
                 fmt::format("{} bytes", hierarchy.l1.line_bytes), fmt::format("{} bytes", accesses.line_bytes),
                 "a machine without an L1 coalesces into lines of its L2: give the machine an L1 (machine.l1_bytes), "
                 "or the analysed L1 these lines"});
  }
  if (hierarchy.l2.bytes > 0) {
    require_whole_sectors(hierarchy.l2, accesses,
                          places_of(settings,
                                    {{"cache.l1.sector_bytes", "machine.l1_sector_bytes"},
                                     {"cache.l2.line_bytes", "machine.l2_line_bytes"}},
                                    machine));
  }
}

/// The warp size of the settings, of the trace (`captured`; 0: none) or of the machine: the first that is set.
std::uint32_t warp_size_of(const Settings& complete, std::uint32_t captured) {
  const std::uint32_t asked = small(complete, "warp_size");
  return asked != 0 ? asked : captured != 0 ? captured : small(complete, "machine.warp_size");
}

}  // namespace

TraceDecisions decisions(const Settings& complete, const InputFacts& facts) {
  TraceDecisions decided;
  decided.warp_size = warp_size_of(complete, facts.warp_size);
  decided.order = complete.text("order");
  if (decided.order == "auto") {
    static const std::string captured = scheduler::LaunchOrders::create("captured").spec;
    static const std::string modelled = scheduler::LaunchOrders::create("z-order").spec;
    const std::uint32_t launch = small(complete, "launch");
    decided.order = launch < facts.launches.size() && facts.launches[launch].has_warps ? captured : modelled;
  }
  return decided;
}

Resolved resolved_of(const Settings& complete, const trace::Trace& trace, bool costs) {
  return resolved_of(complete, trace, costs, {complete.text("packing")}, {});
}

Resolved resolved_of(const Settings& complete, const trace::Trace& trace, bool costs,
                     const std::vector<std::string>& packings, const std::vector<std::string>& swizzles) {
  Configuration configuration;
  configuration.launch = small(complete, "launch");
  configuration.warp_size = warp_size_of(complete, trace.header.warp_size);
  configuration.order = complete.text("order");
  configuration.policy = complete.text("policy");
  configuration.packings = packings;
  configuration.swizzles = swizzles;
  if (costs) {
    configuration.default_cost = small(complete, "default_cost");
    for_table(complete, kCosts, [&](const std::string& shader, const std::string& key, const ParameterValue&) {
      configuration.costs.emplace_back(shader, small(complete, key.c_str()));
    });
  }
  return resolve(configuration, trace);
}

scheduler::HintSources hints_of(const Settings& complete) {
  scheduler::HintSources hints;
  const auto add = [&](std::pair<std::string, scheduler::HintSource> hint, const char* key) {
    const std::string name = hint.first;
    if (!hints.insert(std::move(hint)).second) {
      throw Error(ErrorKind::Usage, {"two hints have one name", place_of(complete.where(key), key), "'" + name + "'",
                                     "a name of its own for each", ""});
    }
  };
  for (const std::string& hint : hints_in(complete.text(kHints))) {
    add(scheduler::parse_hint(hint), kHints);
  }
  for (const std::string& hint : hints_in(complete.text(kHintFiles))) {
    add(scheduler::parse_hint_file(hint), kHintFiles);
  }
  return hints;
}

machine::CostOptions costs_in_memory_time(const Settings& complete) {
  machine::CostOptions options = compare_of(complete).costs;
  options.cycles_per_instruction = complete.real(kCyclesPerInstruction);
  return options;
}

bvh::BvhOptions structure_of(const Settings& complete) {
  bvh::BvhOptions options;
  options.builder = complete.text("bvh.builder");
  options.layout = complete.text("bvh.layout");
  options.node_order = complete.text("bvh.node_order");
  options.vertex_order = complete.text("bvh.vertex_order");
  options.leaf_size = small(complete, "bvh.leaf_size");
  options.enlarge = complete.real("bvh.enlarge");
  return options;
}

std::vector<std::string> hint_file_paths(std::string_view hint_files) {
  std::vector<std::string> paths;
  for (const std::string& file : hints_in(hint_files)) {
    const auto equals = file.find('=');
    if (equals != std::string::npos) {
      paths.push_back(file.substr(equals + 1));
    }
  }
  return paths;
}

CompareOptions compare_of(const Settings& complete) {
  CompareOptions options;
  options.machine = machine_of(complete);
  options.hints = hints_of(complete);
  options.registers_per_thread = small(complete, kThreadRegisters);
  options.registers_origin = origin_of_registers(complete);
  const auto source = std::ranges::find(kCostSources, complete.text("scheduler.cost_source"));
  options.costs.source = static_cast<machine::CostSource>(source - kCostSources.begin());
  options.costs.cycles_per_instruction = are_cycles_decided(complete) ? machine::CostOptions().cycles_per_instruction
                                                                      : complete.real(kCyclesPerInstruction);
  options.costs.steps_per_ray = complete.real("scheduler.steps_per_ray");
  for_table(
      complete, kShaderCosts, [&](const std::string& shader, const std::string& key, const ParameterValue& value) {
        const std::string text = to_text(value);
        const auto colon = text.find(':');
        machine::HandCost cost{shader};
        if (std::string_view amount = std::string_view(text).substr(0, colon); amount.ends_with('x')) {
          amount.remove_suffix(1);
          cost.times = part_of_cost(complete, key, amount, machine::kMaxTimes);
        } else if (colon != 0) {
          cost.issue = part_of_cost(complete, key, amount, machine::kMaxIssue);
        }
        if (colon != std::string::npos) {
          cost.latency = part_of_cost(complete, key, std::string_view(text).substr(colon + 1), machine::kMaxLatency);
        }
        options.costs.hand.push_back(std::move(cost));
      });
  for (const char* key : {kCyclesPerInstruction, "scheduler.steps_per_ray"}) {
    if (!(key == kCyclesPerInstruction && are_cycles_decided(complete)) &&
        is_by_hand(complete, key, find_parameter(key)->declared.default_value)) {
      options.given.insert(key);
    }
  }
  options.break_even = false;
  return options;
}

machine::Machine stream_machine(const Settings& complete) {
  machine::Machine machine = machine_of(complete);
  machine.l1_line_bytes = small(complete, "cache.l1.line_bytes");
  machine.l1_sector_bytes = small(complete, "cache.l1.sector_bytes");
  const Inheritance l1_sector = {"cache.l1.sector_bytes", "machine.l1_sector_bytes"};
  const memory::CacheGeometry l1 = l1_of(machine);
  if (l1.bytes > 0) {
    memory::check(
        l1,
        places_of(
            complete,
            {{"machine.l1_bytes"}, {"cache.l1.line_bytes", "machine.l1_line_bytes"}, {"machine.l1_ways"}, l1_sector},
            fmt::format("machine '{}', L1", machine.name)));
  }
  const memory::CacheGeometry l2 = l2_of(machine);
  if (l2.bytes > 0) {
    const std::string otherwise = fmt::format("machine '{}', L2", machine.name);
    memory::check(
        l2,
        places_of(complete,
                  {{"machine.l2_bytes"}, {"machine.l2_line_bytes"}, {"machine.l2_ways"}, {"machine.l2_sector_bytes"}},
                  otherwise));
    require_whole_sectors(l2, coalescing_of(complete),
                          places_of(complete, {l1_sector, {"machine.l2_line_bytes"}}, otherwise));
  }
  return machine;
}

memory::CoalesceOptions coalescing_of(const Settings& complete) {
  const bool has_l1 = complete.integer("machine.l1_bytes") > 0;
  memory::CoalesceOptions coalescing;
  coalescing.line_bytes = small(complete, has_l1 ? "cache.l1.line_bytes" : "machine.l2_line_bytes");
  coalescing.sector_bytes = small(complete, has_l1 ? "cache.l1.sector_bytes" : "machine.l2_sector_bytes");
  coalescing.coalesce = complete.flag("stream.coalesce");
  coalescing.requests = false;
  memory::check(coalescing, place_of_cache(complete, has_l1 ? "l1" : "l2"));
  return coalescing;
}

bool is_payload_of_shaders(const Settings& complete) {
  return complete.integer(kPayload) < 0;
}

bool is_payload_in_registers(const Settings& complete) {
  return complete.integer(kPayload) == 0;
}

bool is_pixel_given(const Settings& complete) {
  return complete.integer(kPixel) >= 0;
}

memory::StreamOptions stream_of(const Settings& complete, std::uint32_t warp_size) {
  memory::StreamOptions options;
  options.warp_traversal = complete.text("traversal.warp");
  options.warp_size = warp_size;
  options.stack_entries = small(complete, "stream.stack_entries");
  if (!is_payload_of_shaders(complete)) {
    options.payload_bytes = words(complete, kPayload);
  }
  options.record_bytes = small(complete, "stream.record_bytes");
  if (is_pixel_given(complete)) {
    options.pixel_bytes = small(complete, kPixel);
    options.stores_are_pixels = false;
  }
  options.load_bytes = words(complete, "stream.load_bytes");
  options.image_layout = complete.text("stream.image_layout");
  options.coalescing = coalescing_of(complete);
  return options;
}

machine::InterleaveOptions interleaving_of(const Settings& complete, const machine::Machine& machine,
                                           std::uint32_t warp_size) {
  machine::InterleaveOptions options;
  options.warp_scheduler = complete.text("schedule.warp_scheduler");
  options.resident_warps = small(complete, "schedule.resident_warps");
  if (options.resident_warps == 0) {
    options.resident_warps = machine::resident_warps(machine, warp_size, small(complete, kThreadRegisters));
  }
  options.compute_cycles = small(complete, "schedule.compute_cycles");
  return options;
}

Hierarchy hierarchy_of(const Settings& complete) {
  Hierarchy hierarchy;
  hierarchy.l1 = geometry_of(complete, "l1");
  hierarchy.l2 = geometry_of(complete, "l2");
  if (hierarchy.l1.bytes == 0 && hierarchy.l2.bytes == 0) {
    throw Error(ErrorKind::Usage, {"there is no cache to simulate", "cache.l1.bytes and cache.l2.bytes", "no L1, no L2",
                                   "one of them", ""});
  }
  hierarchy.l1_model = resolved_model(complete.text("cache.l1.model"), memory::kL1);
  hierarchy.l2_model = resolved_model(complete.text("cache.l2.model"), memory::kL2);
  hierarchy.l2_feed = complete.text("cache.l2_feed") == "all" ? memory::L2Feed::All : memory::L2Feed::Misses;
  require_fit(complete, hierarchy);
  return hierarchy;
}

CacheOptions cache_of(const Settings& complete) {
  const std::int64_t windows = complete.integer("cache.windows");
  const std::int64_t window_requests = complete.integer("cache.window_requests");
  if (windows > 1 && window_requests > 0) {
    throw Error(ErrorKind::Usage,
                {"the time windows are set both by number and by length",
                 fmt::format("{} and {}", place_of(complete.where("cache.windows"), "cache.windows"),
                             place_of(complete.where("cache.window_requests"), "cache.window_requests")),
                 "both", "one of the two", "leave one out"});
  }
  CacheOptions options;
  options.machine = stream_machine(complete);
  options.caches = hierarchy_of(complete);
  options.stream = stream_of(complete, options.stream.warp_size);
  options.reuse_engine = complete.text("cache.reuse_engine");
  options.distances = complete.flag("cache.distances");
  options.windows = static_cast<std::uint32_t>(windows);
  options.window_requests = static_cast<std::uint64_t>(window_requests);
  return options;
}

}  // namespace rayreplay::experiment
