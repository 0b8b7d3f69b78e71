#include "sim/machine/machine.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <variant>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "base/parameters.hpp"
#include "base/toml.hpp"
#include "sim/machine/contradictions.hpp"
#include "sim/machine/latency_order.hpp"
#include "sim/machine/machine_fields.hpp"
#include "sim/machine/shipped.hpp"
#include "sim/machine/toml_quote.hpp"
#include "sim/machine/toml_table.hpp"
#include "sim/memory/caches/cache_model.hpp"

namespace rayreplay::machine {
namespace {

// Upper limits: far above any machine, far below the loss of whole numbers in sums of cycles or bytes.
constexpr std::array kFields = {
    MachineField{"name", &Machine::name},
    MachineField{"vendor", &Machine::vendor},
    MachineField{"architecture", &Machine::architecture},
    MachineField{"sms", &Machine::sms, 1, 4096, "SMs", "SMs of the machine"},
    MachineField{"warp_size", &Machine::warp_size, 1, scheduler::kMaxWarpSize, "threads",
                 "Threads of a warp on this GPU: the warp size where neither warp_size nor the trace gives one"},
    MachineField{"resident_warps", &Machine::resident_warps, 1, 1024, "warps",
                 "Maximum number of warps that an SM holds at a time; registers may allow fewer"},
    MachineField{"registers", &Machine::registers, 1, 1 << 24, "registers",
                 "32-bit registers of an SM: room for at least one warp (warp size times registers_per_thread)"},
    MachineField{"issue_per_cycle", &Machine::issue_per_cycle, 1e-3, 1e3, "instructions",
                 "Warp instructions that an SM starts per cycle"},
    MachineField{
        "issue_partitions", &Machine::issue_partitions, 1, kMaxIssuePartitions, "partitions",
        "Partitions of an SM, each with its part of the issue slots and of the warps; more than resident warps: some "
        "idle"},
    MachineField{"clock_mhz", &Machine::clock_mhz, 1, 1e5, "MHz", "Clock under load"},
    MachineField{"rt_steps_per_cycle", &Machine::rt_steps_per_cycle, 1e-3, 1e3, "visits",
                 "Node and leaf visits that an SM's ray-tracing unit starts per cycle, over all lanes"},
    MachineField{"rt_boxes_per_cycle", &Machine::rt_boxes_per_cycle, 0, 1e3, "boxes",
                 "Child boxes that the ray-tracing unit tests per cycle; 0: not known, rt_steps_per_cycle is the rate"},
    MachineField{
        "rt_triangles_per_cycle", &Machine::rt_triangles_per_cycle, 0, 1e3, "triangles",
        "Triangles and other contents of leaves that the unit tests per cycle; given with rt_boxes_per_cycle, or not "
        "at all"},
    MachineField{"rt_rays", &Machine::rt_rays, 0, 1 << 20, "rays",
                 "Maximum rays in flight in an SM's ray-tracing unit; 0: no limit"},
    MachineField{"rt_test_latency_cycles", &Machine::rt_test_latency_cycles, 0, 1e6, "cycles",
                 "Latency of the tests of one visit of one ray in an idle unit, without the visit's load"},
    MachineField{"dram_bytes_per_second", &Machine::dram_bytes_per_second, 1e6, 1e15, "bytes/s",
                 "Bandwidth of DRAM, whole machine"},
    MachineField{"l2_bytes_per_second", &Machine::l2_bytes_per_second, 1e6, 1e16, "bytes/s",
                 "Bandwidth of the L2, whole machine; only memory time reads it"},
    MachineField{"l1_bytes", &Machine::l1_bytes, 0, kMaxL1Bytes, "bytes",
                 "Size of the L1 that decides the latencies of an SM's loads; 0: no L1"},
    MachineField{"l1_line_bytes", &Machine::l1_line_bytes, 4, 1 << 15, "bytes", "Line size of that L1"},
    MachineField{"l1_sector_bytes", &Machine::l1_sector_bytes, 4, 1 << 15, "bytes",
                 "Sector size of that L1: what a miss fetches"},
    MachineField{"l1_ways", &Machine::l1_ways, 0, 1 << 20, "ways", "Ways of that L1; 0: fully associative"},
    MachineField{"l2_bytes", &Machine::l2_bytes, 0, kMaxL2Bytes, "bytes",
                 "Size of the L2 that decides the latencies of loads, all slices together; 0: no L2"},
    MachineField{"l2_line_bytes", &Machine::l2_line_bytes, 4, 1 << 16, "bytes", "Line size of that L2"},
    MachineField{"l2_sector_bytes", &Machine::l2_sector_bytes, 4, 1 << 16, "bytes",
                 "Sector size of that L2: what a miss fetches from DRAM"},
    MachineField{"l2_ways", &Machine::l2_ways, 0, 1 << 20, "ways", "Ways of that L2; 0: fully associative"},
    MachineField{"l1_latency_cycles", &Machine::l1_latency_cycles, 1, 1e6, "cycles",
                 "Cycles from issue to data on an idle machine: a load that hits the L1; at most l2_latency_cycles"},
    MachineField{"l2_latency_cycles", &Machine::l2_latency_cycles, 1, 1e6, "cycles",
                 "Cycles from issue to data on an idle machine: a load that misses the L1 and hits the L2; at most "
                 "dram_latency_cycles"},
    MachineField{"dram_latency_cycles", &Machine::dram_latency_cycles, 1, 1e6, "cycles",
                 "Cycles from issue to data on an idle machine: a load that misses both caches"},
    MachineField{"outstanding_misses", &Machine::outstanding_misses, 1, 1 << 20, "transactions",
                 "Maximum misses of an SM's L1 in flight (MSHRs); one more waits"},
    MachineField{"software_traversal", &Machine::software_traversal, 0, 0, "",
                 "Whether shader code traverses, without a ray-tracing unit: visits then take issue slots"},
    MachineField{"reorders", &Machine::reorders, 0, 0, "", "Whether the hardware reorders threads (SER)"},
    MachineField{"withheld_sms", &Machine::withheld_sms, 0, 4095, "SMs",
                 "SMs that do not shade while a model exchanges threads: less than machine.sms"},
    MachineField{"reorder_cycles", &Machine::reorder_cycles, 0, 1e6, "cycles",
                 "Latency of an exchange, for each warp that it forms"},
};

template <class... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
// Clang deduces aggregates only from version 17 on.
template <class... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

std::string value_text(const Machine& machine, const MachineMember& member) {
  return std::visit(Overloaded{[&](std::string Machine::*text) { return quoted(machine.*text); },
                               [&](bool Machine::*flag) { return std::string(machine.*flag ? "true" : "false"); },
                               [&](auto Machine::*number) { return fmt::format("{}", machine.*number); }},
                    member);
}

constexpr const char* kOrigins = "origins";

/// A text says what the machine is; it has no origin.
bool has_origin(const MachineField& field) {
  return !std::holds_alternative<std::string Machine::*>(field.member);
}

/// An origin of a key that the file does not set; `set`: those that it does.
[[noreturn]] void not_set(const std::string& key, const std::vector<std::string>& set, std::string where) {
  const std::string near = nearest(key, set);
  throw Error(ErrorKind::Usage,
              {"an origin is given for a key that the file does not set", std::move(where), "'" + key + "'",
               set.empty() ? std::string("a key that the file sets; it sets none with an origin")
                           : fmt::format("a key that the file sets: one of {}", fmt::join(set, ", ")),
               near.empty() ? fmt::format("set {}, or remove its origin", key)
                            : fmt::format("did you mean '{}'? Otherwise set {}, or remove its origin", near, key)});
}

/// The table [origins]: `published = ["sms", …]`. Each key must be one that `file` sets.
std::map<std::string, Origin, std::less<>> read_origins(const toml::node& node, const TomlTable& file,
                                                        const std::string& source) {
  if (!node.is_table()) {
    file.wrong(node, kOrigins, "a table of lists of keys");
  }
  std::vector<std::string> keys, set;
  for (const MachineField& field : kFields) {
    if (has_origin(field)) {
      keys.emplace_back(field.key);
      if (file.table().contains(field.key)) {
        set.emplace_back(field.key);
      }
    }
  }
  const TomlTable table(*node.as_table(), source);
  table.allow(machine_origin_names());
  std::map<std::string, Origin, std::less<>> origins;
  for (const Origin origin : machine_origins()) {
    const toml::node* list = table.table().get(to_string(origin));
    if (list == nullptr) {
      continue;
    }
    if (!list->is_array()) {
      table.wrong(*list, to_string(origin), "a list of keys");
    }
    for (const toml::node& entry : *list->as_array()) {
      if (!entry.is_string()) {
        table.wrong(entry, to_string(origin), "a list of keys");
      }
      const std::string key = entry.as_string()->get();
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
        const std::string near = nearest(key, keys);
        throw Error(ErrorKind::Usage, {"an origin is given for an unknown key", table.place(entry), "'" + key + "'",
                                       fmt::format("one of {}", fmt::join(keys, ", ")),
                                       near.empty() ? "" : "did you mean '" + near + "'?"});
      }
      if (std::find(set.begin(), set.end(), key) == set.end()) {
        not_set(key, set, table.place(entry));
      }
      if (const auto [there, is_new] = origins.emplace(key, origin); !is_new) {
        throw Error(ErrorKind::Usage,
                    {"a key has two origins", table.place(entry), "'" + key + "'",
                     fmt::format("one origin: it is {} already", to_string(there->second)), "remove one of the two"});
      }
    }
  }
  return origins;
}

/// Of a file: in an experiment other keys may replace the machine's.
void check_caches(const Machine& machine, const std::string& source) {
  memory::check(
      memory::CacheGeometry{machine.l1_bytes, machine.l1_line_bytes, machine.l1_ways, machine.l1_sector_bytes},
      source + ", l1_*");
  memory::check(
      memory::CacheGeometry{machine.l2_bytes, machine.l2_line_bytes, machine.l2_ways, machine.l2_sector_bytes},
      source + ", l2_*");
}

bool is_path(const std::string& text) {
  constexpr std::string_view kEnding = ".toml";
  return text.find('/') != std::string::npos ||
         (text.size() >= kEnding.size() && text.compare(text.size() - kEnding.size(), kEnding.size(), kEnding) == 0);
}

const ShippedText* find_shipped(const std::string& name) {
  for (const ShippedText& shipped : shipped_texts()) {
    if (shipped.name == name) {
      return &shipped;
    }
  }
  return nullptr;
}

[[noreturn]] void unknown_machine(const std::string& name) {
  const std::vector<std::string> known = shipped_machines();
  const std::string near = nearest(name, known);
  throw Error(ErrorKind::Usage, {"unknown machine", "", "'" + name + "'",
                                 fmt::format("one of {}, or a TOML file", fmt::join(known, ", ")),
                                 near.empty() ? "" : "did you mean '" + near + "'?"});
}

}  // namespace

std::span<const MachineField> machine_fields() {
  return kFields;
}

Machine parse_machine(std::string_view toml, const std::string& source) {
  const toml::table document = parse_toml(toml, source, "machine");
  const TomlTable table(document, source);
  std::vector<std::string> keys;
  for (const MachineField& field : kFields) {
    keys.emplace_back(field.key);
  }
  keys.emplace_back(kOrigins);
  table.allow(keys);
  Machine machine;
  if (const toml::node* origins = document.get(kOrigins)) {
    machine.origins = read_origins(*origins, table, source);
  }
  for (const MachineField& field : kFields) {
    std::visit(Overloaded{[&](std::string Machine::*text) { table.read(field.key, machine.*text); },
                          [&](bool Machine::*flag) { table.read(field.key, machine.*flag); },
                          [&](auto Machine::*number) {
                            table.read(field.key, machine.*number, {field.minimum, field.maximum});
                          }},
               field.member);
    if (has_origin(field) && document.contains(field.key)) {
      machine.origins.try_emplace(field.key, Origin::Given);
    }
  }
  if (machine.withheld_sms >= machine.sms) {
    const toml::node* node = document.get("withheld_sms");
    throw Error(ErrorKind::Usage,
                {"the machine withholds all of its SMs", node ? table.place(*node) : source,
                 fmt::format("{}", machine.withheld_sms), fmt::format("less than sms = {}", machine.sms), ""});
  }
  if ((machine.rt_boxes_per_cycle > 0) != (machine.rt_triangles_per_cycle > 0)) {
    const char* const given = machine.rt_boxes_per_cycle > 0 ? "rt_boxes_per_cycle" : "rt_triangles_per_cycle";
    const toml::node* node = document.get(given);
    throw Error(ErrorKind::Usage,
                {"only one of the rates of the ray-tracing unit is given", node ? table.place(*node) : source,
                 fmt::format("only {}", given), "rt_boxes_per_cycle and rt_triangles_per_cycle, or none of them", ""});
  }
  if (const auto found = contradiction(machine)) {
    const toml::node* node = document.get(found->number);
    throw Error(ErrorKind::Usage, error_of(*found, "", node ? table.place(*node) : source));
  }
  if (const auto fault = latency_fault({.has_l1 = machine.l1_bytes > 0,
                                        .has_l2 = machine.l2_bytes > 0,
                                        .l1 = machine.l1_latency_cycles,
                                        .l2 = machine.l2_latency_cycles,
                                        .dram = machine.dram_latency_cycles})) {
    const toml::node* node = document.get(fault->farther);
    node = node == nullptr ? document.get(fault->nearer) : node;
    throw Error(ErrorKind::Usage, error_of(*fault, "", node ? table.place(*node) : source));
  }
  return machine;
}

Machine load_machine(const std::string& name_or_path) {
  if (is_path(name_or_path)) {
    Machine machine = parse_machine(read_text_file(name_or_path, kMaxTextBytes, "machine file"), name_or_path);
    check_caches(machine, name_or_path);
    return machine;
  }
  return parse_machine(shipped_machine_text(name_or_path), name_or_path + ".toml");
}

std::vector<std::string> shipped_machines() {
  std::vector<std::string> names;
  for (const ShippedText& shipped : shipped_texts()) {
    names.emplace_back(shipped.name);
  }
  std::sort(names.begin(), names.end());  // generated sorted by name with ".toml"
  return names;
}

std::string shipped_machine_text(const std::string& name) {
  const ShippedText* shipped = find_shipped(name);
  if (shipped == nullptr) {
    unknown_machine(name);
  }
  return std::string(shipped->text);
}

std::string to_toml(const Machine& machine) {
  std::string text;
  for (const MachineField& field : kFields) {
    text += fmt::format("{} = {}\n", field.key, value_text(machine, field.member));
  }
  return text;
}

std::string to_toml_with_origins(const Machine& machine) {
  std::string text = to_toml(machine) + fmt::format("\n[{}]\n", kOrigins);
  for (const Origin origin : machine_origins()) {
    std::vector<std::string> keys;
    for (const MachineField& field : kFields) {
      if (has_origin(field) && machine.origin(field.key) == origin) {
        keys.push_back(quoted(field.key));
      }
    }
    if (!keys.empty()) {
      text += fmt::format("{} = [{}]\n", to_string(origin), fmt::join(keys, ", "));
    }
  }
  return text;
}

std::uint32_t resident_warps(const Machine& machine, std::uint32_t warp_size, std::uint32_t registers_per_thread) {
  const std::uint64_t of_a_warp = std::uint64_t{warp_size} * std::max(registers_per_thread, 1U);
  const std::uint64_t fitting = machine.registers / std::max<std::uint64_t>(of_a_warp, 1);
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(fitting, 1, machine.resident_warps));
}

scheduler::MachineFacts facts(const Machine& machine, std::uint32_t resident_warps, double live_state_bytes) {
  scheduler::MachineFacts result;
  result.sms = machine.sms;
  result.resident_warps = resident_warps;
  result.reorders = machine.reorders;
  result.withheld_sms = machine.withheld_sms;
  result.reorder_cycles = machine.reorder_cycles;
  result.exchange_bytes_per_cycle = machine.dram_bytes_per_second / (machine.clock_mhz * 1e6) / machine.sms;
  result.live_state_bytes = live_state_bytes;
  return result;
}

}  // namespace rayreplay::machine
