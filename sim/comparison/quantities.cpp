#include "sim/comparison/quantities.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/parameters.hpp"
#include "sim/comparison/quantity_names.hpp"
#include "sim/comparison/ranges.hpp"
#include "sim/machine/machine_fields.hpp"

namespace rayreplay::experiment {
namespace {

using machine::CallCost;
using machine::Origin;
using scheduler::Charges;
using scheduler::SchedulerModels;

constexpr std::string_view kMachineKeys = "machine.";
constexpr std::string_view kSms = "sms";
constexpr std::string_view kWithheldSms = "withheld_sms";
constexpr std::string_view kReorderCycles = "reorder_cycles";
constexpr std::string_view kTestLatency = "rt_test_latency_cycles";
constexpr std::string_view kLoadLatency = "l1_latency_cycles";
constexpr std::string_view kLiveState = "live_state";
constexpr std::string_view kBandwidth = "dram_bytes_per_second";

/// The numbers of the machine that the time model reads.
constexpr std::array<std::string_view, 11> kOfMachine = {
    kSms,         "resident_warps", "registers", "issue_per_cycle", "clock_mhz",   "rt_steps_per_cycle",
    kTestLatency, kLoadLatency,     kBandwidth,  kWithheldSms,      kReorderCycles};

bool same(const Charges& a, const Charges& b) {
  const auto all = [](const Charges& charges) {
    return std::tuple(charges.cycles_per_warp, charges.cycles_per_cut, charges.bytes_per_moved,
                      charges.bytes_per_thread, charges.bytes_per_cycle, charges.withheld_sms);
  };
  return all(a) == all(b);
}

const machine::MachineField& field_of(std::string_view key) {
  const auto fields = machine::machine_fields();
  return *std::find_if(fields.begin(), fields.end(),
                       [key](const machine::MachineField& field) { return key == field.key; });
}

double number_of(const machine::Machine& machine, std::string_view key) {
  return std::visit(
      [&machine](auto member) -> double {
        using Value = std::remove_cvref_t<decltype(machine.*member)>;
        if constexpr (std::is_arithmetic_v<Value>) {
          return static_cast<double>(machine.*member);
        } else {
          return 0;
        }
      },
      field_of(key).member);
}

void set_number(machine::Machine& machine, std::string_view key, double value) {
  std::visit(
      [&machine, value](auto member) {
        using Value = std::remove_cvref_t<decltype(machine.*member)>;
        if constexpr (std::is_arithmetic_v<Value> && !std::is_same_v<Value, bool>) {
          machine.*member = static_cast<Value>(value);
        }
      },
      field_of(key).member);
}

bool is_whole(std::string_view key) {
  return !std::holds_alternative<double machine::Machine::*>(field_of(key).member);
}

/// The spec with another value of a parameter.
std::string with_value(const std::string& spec, std::string_view parameter, double value, bool whole) {
  const ModelSpec parsed = parse_spec(spec);
  std::string text = parsed.name;
  for (const auto& [key, old] : parsed.settings) {
    text += text == parsed.name ? ':' : ',';
    text += key + "=";
    text += key != parameter ? old : whole ? fmt::format("{:.0f}", value) : fmt::format("{}", value);
  }
  return text;
}

Charges charges_of(const std::string& spec, const scheduler::MachineFacts& facts) {
  return SchedulerModels::create(spec).model->charges(facts);
}

}  // namespace

Quantities::Quantities(const std::vector<trace::Shader>& shaders, std::span<const simt::CallTally> called,
                       TimeInputs now, double counted_steps, const std::set<std::string>& given)
    : now_(std::move(now)), groups_(shaders, called, now_.calls) {
  const auto origin = [&given](const char* key) { return given.contains(key) ? Origin::Given : Origin::Assumed; };
  for (const CallGroup& group : groups_.list()) {
    add(group.quantity);
  }
  constexpr const char* kCycles = "scheduler.cycles_per_instruction";
  add({.kind = QuantityKind::CyclesPerInstruction,
       .key = kCycles,
       .name = std::string(name_of_number(kCycles)),
       .unit = "cycles",
       .origin = origin(kCycles),
       .value = now_.cycles_per_instruction});
  if (!groups_.reads_cycles_per_instruction()) {
    list_.back().low = list_.back().high = list_.back().value;
  }
  constexpr const char* kSteps = "scheduler.steps_per_ray";
  add({.kind = QuantityKind::StepsPerRay,
       .key = kSteps,
       .name = std::string(name_of_number(kSteps)),
       .unit = "visits",
       .origin = counted_steps >= 0 ? Origin::Counted : origin(kSteps),
       .value = counted_steps >= 0 ? counted_steps : now_.steps_per_ray});
  constexpr const char* kRegisters = "registers_per_thread";
  add({.kind = QuantityKind::Registers,
       .key = kRegisters,
       .name = std::string(name_of_number(kRegisters)),
       .unit = "registers",
       .origin = given.contains(kRegisters) ? Origin::Given : now_.registers_origin,
       .value = static_cast<double>(now_.registers_per_thread),
       .whole = true});
  for (const std::string_view one : kOfMachine) {
    const std::string key = std::string(kMachineKeys) + std::string(one);
    add({.kind = QuantityKind::Machine,
         .key = key,
         .name = std::string(name_of_number(key)),
         .unit = field_of(one).unit,
         .origin = now_.machine.origin(one),
         .value = number_of(now_.machine, one),
         .whole = is_whole(one),
         .of_plain = one != kBandwidth && one != kWithheldSms && one != kReorderCycles});
    if (one == kWithheldSms) {
      list_.back().high = std::min(list_.back().high, static_cast<double>(now_.machine.sms) - 1);
    }
    if (one == kTestLatency) {
      set_range_of_tests(list_.back(), now_.machine);
    }
    if (one == kLoadLatency) {  // only as a part of a visit's, which varies with its tests
      list_.back().low = list_.back().high = list_.back().value;
    }
  }
}

void Quantities::add(Quantity quantity) {
  set_range(quantity);
  if (quantity.kind == QuantityKind::StepsPerRay && quantity.origin == Origin::Counted) {
    quantity.low = quantity.high = quantity.value;
  }
  list_.push_back(std::move(quantity));
}

Quantities Quantities::of_model(const std::string& spec, const scheduler::MachineFacts& facts,
                                const std::set<std::string>& given) const {
  Quantities own = *this;
  const auto created = SchedulerModels::create(spec);
  own.now_.model = created.spec;
  const Charges charges = created.model->charges(facts);
  const auto fix = [](Quantity& quantity) { quantity.low = quantity.high = quantity.value; };
  for (Quantity& quantity : own.list_) {
    if (quantity.of_plain) {
      continue;
    }
    const std::string_view key = std::string_view(quantity.key).substr(kMachineKeys.size());
    scheduler::MachineFacts other = facts;
    if (key == kBandwidth) {
      if (charges.bytes_per_cycle > 0 || (charges.bytes_per_moved == 0 && charges.bytes_per_thread == 0)) {
        fix(quantity);
      }
      continue;
    }
    const double different = quantity.value == quantity.low ? quantity.high : quantity.low;
    if (key == kWithheldSms) {
      other.withheld_sms = static_cast<std::uint32_t>(different);
    } else {
      other.reorder_cycles = different;
    }
    if (same(charges, created.model->charges(other))) {
      fix(quantity);
    }
  }
  const ModelSpec parsed = parse_spec(created.spec);
  for (const Parameter& declared : SchedulerModels::describe(parsed.name).parameters) {
    const std::string key = "scheduler.model:" + declared.name;
    const auto set = std::find_if(parsed.settings.begin(), parsed.settings.end(),
                                  [&declared](const auto& setting) { return setting.first == declared.name; });
    if (!is_charge(key) || set == parsed.settings.end()) {
      continue;
    }
    const bool whole = std::holds_alternative<std::int64_t>(declared.default_value);
    const bool usual = set->second == to_text(declared.default_value);
    const double set_value = std::stod(set->second);
    const bool of_shaders = set_value < 0 && declared.name == kLiveState;
    const double value = of_shaders ? now_.live_state.bytes : set_value;
    const bool assumed = usual && !given.contains(declared.name);
    // Below 0, and a bandwidth of 0: the machine's.
    if (value < 0 || (usual && value == 0)) {
      continue;
    }
    own.add({.kind = QuantityKind::Parameter,
             .key = key,
             .name = std::string(name_of_number(key)),
             .unit = declared.unit,
             .origin = of_shaders ? now_.live_state.origin
                       : assumed  ? Origin::Assumed
                                  : Origin::Given,
             .value = value,
             .whole = whole,
             .of_plain = false});
    Quantity& quantity = own.list_.back();
    quantity.low = std::max(quantity.low, std::min(quantity.value, declared.minimum));
    quantity.high = std::min(quantity.high, std::max(quantity.value, declared.maximum));
    if (same(charges, charges_of(with_value(created.spec, declared.name, quantity.low, whole), facts)) &&
        same(charges, charges_of(with_value(created.spec, declared.name, quantity.high, whole), facts))) {
      fix(quantity);
    }
  }
  return own;
}

machine::CallClasses Quantities::classes() const {
  machine::CallClasses classes;
  classes.of_call.assign(now_.calls.size(), machine::kNoClass);
  for (const CallGroup& group : groups_.list()) {
    if (group.quantity.kind != QuantityKind::Call) {
      continue;  // its calls have instructions too
    }
    const std::size_t first = classes.calls.size();
    for (const std::size_t call : group.calls) {
      const CallCost& cost = now_.calls[call];
      const trace::EventKind kind = static_cast<trace::EventKind>(call % trace::kEventKinds);
      std::size_t place = first;
      while (place < classes.calls.size()) {
        const std::size_t other = classes.calls[place];
        const bool alike =
            now_.calls[other].issue == cost.issue && now_.calls[other].latency == cost.latency &&
            now_.calls[other].latency_origin == cost.latency_origin && now_.calls[other].by_path() == cost.by_path() &&
            (static_cast<trace::EventKind>(other % trace::kEventKinds) == trace::EventKind::ClosestHit) ==
                (kind == trace::EventKind::ClosestHit);
        if (alike) {
          break;
        }
        ++place;
      }
      if (place == classes.calls.size()) {
        classes.calls.push_back(call);
      }
      classes.of_call[call] = static_cast<std::uint32_t>(place);
    }
  }
  return classes;
}

std::vector<double> Quantities::now() const {
  std::vector<double> values;
  values.reserve(list_.size());
  for (const Quantity& quantity : list_) {
    values.push_back(quantity.value);
  }
  return values;
}

TimeInputs Quantities::at(std::span<const double> values) const {
  TimeInputs inputs = now_;
  for (std::size_t i = 0; i < list_.size(); ++i) {
    const Quantity& quantity = list_[i];
    const double value = values[i];
    if (value == quantity.value) {
      continue;
    }
    switch (quantity.kind) {
      case QuantityKind::Call:
      case QuantityKind::CallLatency:
        break;
      case QuantityKind::CyclesPerInstruction:
        inputs.cycles_per_instruction = value;
        break;
      case QuantityKind::StepsPerRay:
        inputs.steps_per_ray = value;
        break;
      case QuantityKind::Registers:
        inputs.registers_per_thread = static_cast<std::uint32_t>(value);
        break;
      case QuantityKind::Machine:
        set_number(inputs.machine, std::string_view(quantity.key).substr(kMachineKeys.size()), value);
        break;
      case QuantityKind::Parameter:
        inputs.model = with_value(inputs.model, std::string_view(quantity.key).substr(quantity.key.find(':') + 1),
                                  value, quantity.whole);
        break;
    }
  }
  inputs.calls = groups_.at(values.first(groups_.list().size()), inputs.cycles_per_instruction,
                            inputs.cycles_per_instruction != now_.cycles_per_instruction);
  return inputs;
}

}  // namespace rayreplay::experiment
