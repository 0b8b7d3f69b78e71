#include "sim/settings/machine_settings.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <type_traits>
#include <variant>

#include "sim/settings/defaults.hpp"

namespace rayreplay::experiment {
namespace {

using machine::Machine;
using Member = std::variant<bool Machine::*, std::uint32_t Machine::*, std::uint64_t Machine::*, double Machine::*>;

constexpr const char* kTime = "model";
constexpr const char* kStream = "stream";
constexpr const char* kTimeAndStream = "model, stream";

struct Field {
  const char* key;
  Member member;
  const char* readers;
  const char* unit;
  const char* text;
  double minimum = 0;
  double maximum = 0;
};

// The same ranges as in machine files; a test compares them.
const std::vector<Field>& fields() {
  static const std::vector<Field> list = {
      {"machine.sms", &Machine::sms, kTimeAndStream, "SMs", "SMs of the machine", 1, 4096},
      {"machine.warp_size", &Machine::warp_size, kTimeAndStream, "threads",
       "Threads of the machine's own warps, for people; those of the experiment are warp_size", 1,
       scheduler::kMaxWarpSize},
      {"machine.resident_warps", &Machine::resident_warps, kTimeAndStream, "warps", "Most warps of an SM at once", 1,
       1024},
      {"machine.registers", &Machine::registers, kTimeAndStream, "registers", "32-bit registers of an SM", 1, 1 << 24},
      {"machine.issue_per_cycle", &Machine::issue_per_cycle, kTime, "instructions",
       "Warp instructions that an SM starts per cycle", 1e-3, 1e3},
      {"machine.clock_mhz", &Machine::clock_mhz, kTime, "MHz", "Clock under load", 1, 1e5},
      {"machine.rt_steps_per_cycle", &Machine::rt_steps_per_cycle, kTime, "visits",
       "Node and leaf visits that an SM's ray-tracing unit starts per cycle, over all lanes", 1e-3, 1e3},
      {"machine.rt_step_latency_cycles", &Machine::rt_step_latency_cycles, kTime, "cycles",
       "Latency of one visit of one ray, with nobody else there", 0, 1e6},
      {"machine.dram_bytes_per_second", &Machine::dram_bytes_per_second, kTime, "bytes/s",
       "Bandwidth of the memory, whole machine", 1e6, 1e15},
      {"machine.l2_bytes_per_second", &Machine::l2_bytes_per_second, kTime, "bytes/s",
       "Bandwidth of the L2, whole machine; no model reads it by itself", 1e6, 1e16},
      {"machine.l1_bytes", &Machine::l1_bytes, kStream, "bytes",
       "L1 of an SM as it times the schedule; 0: there is none", 0, machine::kMostL1Bytes},
      {"machine.l1_line_bytes", &Machine::l1_line_bytes, kStream, "bytes", "Its line", 4, 1 << 15},
      {"machine.l1_sector_bytes", &Machine::l1_sector_bytes, kStream, "bytes", "Its sector: what a miss fetches", 4,
       1 << 15},
      {"machine.l1_ways", &Machine::l1_ways, kStream, "ways", "Its associativity; 0: fully associative", 0, 1 << 20},
      {"machine.l2_bytes", &Machine::l2_bytes, kStream, "bytes",
       "L2 as it times the schedule, all slices together; 0: there is none", 0, machine::kMostL2Bytes},
      {"machine.l2_line_bytes", &Machine::l2_line_bytes, kStream, "bytes", "Its line", 4, 1 << 16},
      {"machine.l2_sector_bytes", &Machine::l2_sector_bytes, kStream, "bytes", "Its sector: what memory is asked for",
       4, 1 << 16},
      {"machine.l2_ways", &Machine::l2_ways, kStream, "ways", "Its associativity; 0: fully associative", 0, 1 << 20},
      {"machine.l1_latency_cycles", &Machine::l1_latency_cycles, kStream, "cycles",
       "From issue to data, with nobody else there: a hit in the L1", 1, 1e6},
      {"machine.l2_latency_cycles", &Machine::l2_latency_cycles, kStream, "cycles", "... a miss that the L2 has", 1,
       1e6},
      {"machine.dram_latency_cycles", &Machine::dram_latency_cycles, kStream, "cycles", "... one that memory serves", 1,
       1e6},
      {"machine.outstanding_misses", &Machine::outstanding_misses, kStream, "transactions",
       "Transactions of an SM that missed its L1 and have not come back; one more waits", 1, 1 << 20},
      {"machine.software_traversal", &Machine::software_traversal, kTime, "",
       "Whether there is no ray-tracing unit, and visits take issue slots"},
      {"machine.reorders", &Machine::reorders, kTime, "", "Whether the hardware reorders threads (SER)"},
      {"machine.withheld_sms", &Machine::withheld_sms, kTime, "SMs",
       "SMs that do not shade while a model exchanges threads: less than machine.sms", 0, 4095},
      {"machine.reorder_cycles", &Machine::reorder_cycles, kTime, "cycles",
       "Latency of an exchange, for each warp that it forms", 0, 1e6},
  };
  return list;
}

ParameterValue value_of(const Machine& machine, const Member& member) {
  return std::visit(
      [&machine](auto pointer) -> ParameterValue {
        const auto value = machine.*pointer;
        if constexpr (std::is_same_v<decltype(value), const bool> || std::is_same_v<decltype(value), const double>) {
          return value;
        } else {
          return static_cast<std::int64_t>(value);
        }
      },
      member);
}

}  // namespace

const Machine& known_machine(const std::string& name_or_path) {
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<const Machine>, std::less<>> known;
  const std::scoped_lock lock(mutex);
  auto found = known.find(name_or_path);
  if (found == known.end()) {
    found = known.emplace(name_or_path, std::make_unique<Machine>(machine::load_machine(name_or_path))).first;
  }
  return *found->second;
}

std::vector<ExperimentParameter> machine_parameters() {
  const Machine& standard = known_machine(kDefaultMachine);
  std::vector<ExperimentParameter> result;
  for (const Field& field : fields()) {
    ExperimentParameter parameter;
    parameter.declared.name = field.key;
    parameter.declared.default_value = value_of(standard, field.member);
    parameter.declared.unit = field.unit;
    parameter.declared.text = field.text;
    if (!std::holds_alternative<bool Machine::*>(field.member)) {
      parameter.declared.minimum = field.minimum;
      parameter.declared.maximum = field.maximum;
    }
    parameter.readers = field.readers;
    parameter.inherits = "machine";
    result.push_back(std::move(parameter));
  }
  return result;
}

std::vector<std::pair<std::string, ParameterValue>> machine_values(const Machine& machine) {
  std::vector<std::pair<std::string, ParameterValue>> result;
  for (const Field& field : fields()) {
    result.emplace_back(field.key, value_of(machine, field.member));
  }
  return result;
}

Machine machine_of(const Settings& complete) {
  Machine machine = known_machine(complete.text(kMachineName));
  for (const Field& field : fields()) {
    const ParameterValue& value = complete.at(field.key);
    std::visit(
        [&](auto pointer) {
          using Value = std::remove_reference_t<decltype(machine.*pointer)>;
          if constexpr (std::is_same_v<Value, bool> || std::is_same_v<Value, double>) {
            machine.*pointer = std::get<Value>(value);
          } else {
            machine.*pointer = static_cast<Value>(std::get<std::int64_t>(value));
          }
        },
        field.member);
  }
  return machine;
}

}  // namespace rayreplay::experiment
