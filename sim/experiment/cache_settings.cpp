#include "sim/experiment/cache_settings.hpp"

#include <algorithm>
#include <functional>
#include <type_traits>

#include <fmt/format.h>

#include "base/error.hpp"
#include "sim/experiment/cache_parts.hpp"
#include "sim/machine/toml_quote.hpp"

namespace rayreplay::experiment {
namespace {

constexpr const char* kMachine = "Machine";
constexpr const char* kStructure = "Structure";
constexpr const char* kStream = "Accesses";
constexpr const char* kCaches = "Caches";

constexpr double kMostSms = 4096;
constexpr double kMostWarps = 1024;
constexpr double kMostRegisters = 1024;
constexpr double kMostCycles = 1e6;
constexpr double kMostEntries = 1024;
constexpr double kMostBytes = kMostSize;
constexpr double kMostRequests = 9e18;
constexpr double kMostLeaf = 4294967295.0;

struct Entry {
  CacheParameter shown;
  std::function<ParameterValue(const CacheOptions&)> get;
  std::function<void(CacheOptions&, const ParameterValue&)> set;
};

Parameter declare(const char* name, ParameterValue value, const char* unit, const char* meaning) {
  Parameter parameter;
  parameter.name = name;
  parameter.default_value = std::move(value);
  parameter.unit = unit;
  parameter.text = meaning;
  return parameter;
}

/// `member`: options, constant or not, to a reference to their member.
template <class Member>
Entry text(const char* name, const char* group, const char* type, const char* meaning, Member member) {
  const CacheOptions defaults;
  return {
      {declare(name, member(defaults), "", meaning), group, type},
      [member](const CacheOptions& options) { return ParameterValue(member(options)); },
      [member](CacheOptions& options, const ParameterValue& value) { member(options) = std::get<std::string>(value); }};
}

template <class Member>
Entry number(const char* name, const char* group, const char* unit, const char* meaning, double low, double high,
             Member member) {
  const CacheOptions defaults;
  Parameter parameter = declare(name, static_cast<std::int64_t>(member(defaults)), unit, meaning);
  parameter.minimum = low;
  parameter.maximum = high;
  return {{std::move(parameter), group, "N"},
          [member](const CacheOptions& options) { return ParameterValue(static_cast<std::int64_t>(member(options))); },
          [member](CacheOptions& options, const ParameterValue& value) {
            auto& place = member(options);
            place = static_cast<std::remove_reference_t<decltype(place)>>(std::get<std::int64_t>(value));
          }};
}

template <class Member>
Entry flag(const char* name, const char* group, const char* meaning, Member member) {
  const CacheOptions defaults;
  return {{declare(name, bool{member(defaults)}, "", meaning), group, ""},
          [member](const CacheOptions& options) { return ParameterValue(bool{member(options)}); },
          [member](CacheOptions& options, const ParameterValue& value) { member(options) = std::get<bool>(value); }};
}

const std::string& feed_name(memory::L2Feed feed) {
  static const std::string kAll = "all", kMisses = "misses";
  return feed == memory::L2Feed::All ? kAll : kMisses;
}

Entry l2_feed() {
  Parameter parameter = declare("l2_feed", feed_name(CacheOptions{}.l2_feed), "",
                                "What the L2 gets: every access (all, as published), or what the L1s ask for (misses)");
  parameter.choices = {feed_name(memory::L2Feed::All), feed_name(memory::L2Feed::Misses)};
  return {{std::move(parameter), kCaches, "NAME"},
          [](const CacheOptions& options) { return ParameterValue(feed_name(options.l2_feed)); },
          [](CacheOptions& options, const ParameterValue& value) {
            options.l2_feed = std::get<std::string>(value) == feed_name(memory::L2Feed::All) ? memory::L2Feed::All
                                                                                             : memory::L2Feed::Misses;
          }};
}

/// An option names its key itself.
Parameters resolve_at(const CacheSetting& setting, const std::vector<Parameter>& declared) {
  try {
    return rayreplay::resolve(declared, {{setting.key, setting.value}}, setting.where);
  } catch (const Error& error) {
    ErrorInfo info = error.info();
    if (setting.where.starts_with("--")) {
      info.where = setting.where;
    }
    throw Error(error.kind(), info);
  }
}

const std::vector<Entry>& entries() {
  static const std::vector<Entry> list = {
      text(
          "machine", kMachine, "NAME|FILE", "Machine: a shipped one's name, or a TOML file",
          [](auto& o) -> auto& { return o.machine; }),
      text(
          "l1", kMachine, "GEOMETRY",
          "L1 of an SM instead of the machine's: 32KiB:line=128,ways=64,sector=32 (what is left out stays), or none",
          [](auto& o) -> auto& { return o.l1; }),
      text(
          "l2", kMachine, "GEOMETRY", "L2 instead of the machine's, in the same form",
          [](auto& o) -> auto& { return o.l2; }),
      number(
          "sms", kMachine, "SMs", "SMs; 0: the machine's", 0, kMostSms, [](auto& o) -> auto& { return o.sms; }),
      text(
          "schedule", kMachine, "SPEC",
          "Work distribution: which warp runs where; auto: captured where the trace has warps on several SMs, else "
          "launch",
          [](auto& o) -> auto& { return o.schedule; }),
      text(
          "warp_scheduler", kMachine, "SPEC", "Which of an SM's ready warps issues next",
          [](auto& o) -> auto& { return o.warp_scheduler; }),
      number(
          "resident_warps", kMachine, "warps", "Warps of an SM at once; 0: the machine's, by registers", 0, kMostWarps,
          [](auto& o) -> auto& { return o.resident_warps; }),
      number(
          "registers_per_thread", kMachine, "registers", "Registers of a thread: decide how many warps an SM holds", 1,
          kMostRegisters, [](auto& o) -> auto& { return o.registers_per_thread; }),
      number(
          "compute_cycles", kMachine, "cycles", "Cycles that a warp computes between two of its accesses", 0,
          kMostCycles, [](auto& o) -> auto& { return o.compute_cycles; }),
      text(
          "builder", kStructure, "SPEC", "Builder", [](auto& o) -> auto& { return o.structure.builder; }),
      text(
          "layout", kStructure, "SPEC", "Layout", [](auto& o) -> auto& { return o.structure.layout; }),
      text(
          "node_order", kStructure, "SPEC", "Order of nodes in memory",
          [](auto& o) -> auto& { return o.structure.node_order; }),
      text(
          "vertex_order", kStructure, "SPEC", "Order of vertices in memory",
          [](auto& o) -> auto& { return o.structure.vertex_order; }),
      number(
          "leaf_size", kStructure, "references", "Most references of a leaf; 0: the builder's", 0, kMostLeaf,
          [](auto& o) -> auto& { return o.structure.leaf_size; }),
      text(
          "warp_traversal", kStream, "SPEC", "How a warp traverses",
          [](auto& o) -> auto& { return o.stream.warp_traversal; }),
      number(
          "stack_entries", kStream, "entries", "Stack entries of a lane kept on chip, others are spilled; 0: all", 0,
          kMostEntries, [](auto& o) -> auto& { return o.stream.stack_entries; }),
      number(
          "payload_bytes", kStream, "bytes", "Payload of a ray, multiple of 4; 0: it stays in registers", 0, kMostBytes,
          [](auto& o) -> auto& { return o.stream.payload_bytes; }),
      number(
          "record_bytes", kStream, "bytes", "Stride of shader records; 0: not read", 0, kMostBytes,
          [](auto& o) -> auto& { return o.stream.record_bytes; }),
      number(
          "pixel_bytes", kStream, "bytes", "Written to the frame buffer when a thread ends; 0: nothing", 0, kMostBytes,
          [](auto& o) -> auto& { return o.stream.pixel_bytes; }),
      number(
          "load_bytes", kStream, "bytes",
          "Most bytes that a lane reads by one instruction; 0: any (a node is one instruction)", 0, kMostBytes,
          [](auto& o) -> auto& { return o.stream.load_bytes; }),
      flag(
          "coalesce", kStream, "Whether lanes that touch one line share a transaction; false: every lane counts",
          [](auto& o) -> auto& { return o.stream.coalescing.coalesce; }),
      text(
          "l1_model", kCaches, "SPEC",
          "Cache model of the L1s; stores go through and take no line unless the spec has write=back or allocate=true",
          [](auto& o) -> auto& { return o.l1_model; }),
      text(
          "l2_model", kCaches, "SPEC",
          "Cache model of the L2; stores take lines and stay until evicted unless it has write=through, allocate=false",
          [](auto& o) -> auto& { return o.l2_model; }),
      l2_feed(),
      text(
          "reuse_engine", kCaches, "SPEC", "Engine of reuse distances",
          [](auto& o) -> auto& { return o.reuse_engine; }),
      flag(
          "distances", kCaches, "Reuse distances: histograms, curves, and the split of misses",
          [](auto& o) -> auto& { return o.distances; }),
      number(
          "windows", kCaches, "windows", "Time windows, equal in requests (an extra pass counts them)", 1, kMostWindows,
          [](auto& o) -> auto& { return o.windows; }),
      number(
          "window_requests", kCaches, "requests", "... or a new window every so many requests; 0: not", 0,
          kMostRequests, [](auto& o) -> auto& { return o.window_requests; }),
  };
  return list;
}

}  // namespace

const std::vector<CacheParameter>& cache_parameters() {
  static const std::vector<CacheParameter> list = [] {
    std::vector<CacheParameter> result;
    std::ranges::transform(entries(), std::back_inserter(result), &Entry::shown);
    return result;
  }();
  return list;
}

void apply_cache_settings(const std::vector<CacheSetting>& settings, CacheOptions& options) {
  std::vector<Parameter> declared;
  std::ranges::transform(cache_parameters(), std::back_inserter(declared), &CacheParameter::declared);
  for (const CacheSetting& setting : settings) {
    const Parameters values = resolve_at(setting, declared);
    for (std::size_t i = 0; i < values.all().size(); ++i) {
      if (values.all()[i].first == setting.key) {
        entries()[i].set(options, values.all()[i].second);
        options.where[setting.key] =
            setting.where.starts_with("--") ? setting.where : setting.where + ", " + setting.key;
      }
    }
  }
}

std::vector<std::pair<std::string, ParameterValue>> cache_settings(const CacheOptions& options) {
  std::vector<std::pair<std::string, ParameterValue>> result;
  for (const Entry& entry : entries()) {
    result.emplace_back(entry.shown.declared.name, entry.get(options));
  }
  return result;
}

std::string cache_toml(const CacheOptions& options) {
  std::string toml = "[cache]\n";
  for (const auto& [key, value] : cache_settings(options)) {
    const std::string plain = to_text(value);
    toml += fmt::format("{} = {}\n", key, std::holds_alternative<std::string>(value) ? machine::quoted(plain) : plain);
  }
  return toml;
}

}  // namespace rayreplay::experiment
