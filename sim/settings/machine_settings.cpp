#include "sim/settings/machine_settings.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <type_traits>
#include <variant>

#include "sim/machine/machine_fields.hpp"
#include "sim/settings/defaults.hpp"

namespace rayreplay::experiment {
namespace {

using machine::Machine;
using machine::MachineField;

constexpr const char* kWithheld = "machine.withheld_sms";

/// The stages that read the key itself; readers of keys that inherit from it are not included.
const char* readers_of(const MachineField& field) {
  constexpr std::array kTimeAndStream = {"sms",
                                         "warp_size",
                                         "resident_warps",
                                         "registers",
                                         "issue_per_cycle",
                                         "clock_mhz",
                                         "rt_steps_per_cycle",
                                         "rt_test_latency_cycles",
                                         "l1_latency_cycles",
                                         "dram_bytes_per_second",
                                         "software_traversal"};
  constexpr std::array kStream = {
      "l1_bytes",          "l1_line_bytes",       "l1_sector_bytes",        "l1_ways",
      "l2_bytes",          "l2_line_bytes",       "l2_sector_bytes",        "l2_ways",
      "l2_latency_cycles", "dram_latency_cycles", "outstanding_misses",     "l2_bytes_per_second",
      "issue_partitions",  "rt_boxes_per_cycle",  "rt_triangles_per_cycle", "rt_rays"};
  const std::string_view key = field.key;
  return std::ranges::find(kTimeAndStream, key) != kTimeAndStream.end() ? "model, regrouping, stream"
         : std::ranges::find(kStream, key) != kStream.end()             ? "stream"
                                                                        : "model, regrouping";
}

std::string key_of(const MachineField& field) {
  return std::string("machine.") + field.key;
}

/// Fields that are keys: numbers and truth values, not descriptive texts.
const std::vector<MachineField>& fields() {
  static const std::vector<MachineField> list = [] {
    std::vector<MachineField> made(machine::machine_fields().begin(), machine::machine_fields().end());
    std::erase_if(made, [](const MachineField& field) { return std::string_view(field.text).empty(); });
    return made;
  }();
  return list;
}

ParameterValue value_of(const Machine& machine, const machine::MachineMember& member) {
  return std::visit(
      [&machine](auto pointer) -> ParameterValue {
        const auto value = machine.*pointer;
        if constexpr (std::is_integral_v<decltype(value)> && !std::is_same_v<decltype(value), const bool>) {
          return static_cast<std::int64_t>(value);
        } else {
          return value;
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
  for (const MachineField& field : fields()) {
    ExperimentParameter parameter;
    parameter.declared.name = key_of(field);
    parameter.declared.default_value = value_of(standard, field.member);
    parameter.declared.unit = field.unit;
    parameter.declared.text = field.text;
    if (!std::holds_alternative<bool Machine::*>(field.member)) {
      parameter.declared.minimum = field.minimum;
      parameter.declared.maximum = field.maximum;
    }
    parameter.readers = readers_of(field);
    parameter.inherits = "machine";
    result.push_back(std::move(parameter));
  }
  return result;
}

std::vector<std::pair<std::string, ParameterValue>> machine_values(const Machine& machine) {
  std::vector<std::pair<std::string, ParameterValue>> result;
  for (const MachineField& field : fields()) {
    result.emplace_back(key_of(field), value_of(machine, field.member));
  }
  return result;
}

std::optional<std::uint32_t> cut_withheld(const Settings& complete) {
  const std::uint32_t own = known_machine(complete.text(kMachineName)).withheld_sms;
  const std::int64_t sms = complete.integer("machine.sms");
  return own >= sms && complete.integer(kWithheld) == sms - 1 && !complete.where(kWithheld).starts_with("--")
             ? std::optional(own)
             : std::nullopt;
}

Machine machine_of(const Settings& complete) {
  Machine machine = known_machine(complete.text(kMachineName));
  for (const MachineField& field : fields()) {
    const std::string key = key_of(field);
    const ParameterValue& value = complete.at(key);
    if (is_by_hand(complete, key, value_of(machine, field.member)) && (key != kWithheld || !cut_withheld(complete))) {
      machine.origins.insert_or_assign(field.key, machine::Origin::Given);
    }
    std::visit(
        [&](auto pointer) {
          using Value = std::remove_reference_t<decltype(machine.*pointer)>;
          if constexpr (std::is_integral_v<Value> && !std::is_same_v<Value, bool>) {
            machine.*pointer = static_cast<Value>(std::get<std::int64_t>(value));
          } else {
            machine.*pointer = std::get<Value>(value);
          }
        },
        field.member);
  }
  const Machine& own = known_machine(complete.text(kMachineName));
  if (own.withheld_sms != 0 && machine.sms != own.sms && machine.origin("withheld_sms") != machine::Origin::Given) {
    machine.origins.insert_or_assign("withheld_sms", machine::Origin::Assumed);
  }
  return machine;
}

}  // namespace rayreplay::experiment
