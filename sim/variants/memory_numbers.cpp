#include "sim/variants/memory_numbers.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/list_items.hpp"
#include "base/parameters.hpp"
#include "scheduler-models/regrouping/scheduler_model.hpp"
#include "sim/comparison/quantity_names.hpp"
#include "sim/comparison/ranges.hpp"
#include "sim/engine/stage_settings.hpp"
#include "sim/settings/machine_settings.hpp"

namespace rayreplay::experiment {
namespace {

constexpr std::string_view kHit = "shader_costs.closest-hit";
constexpr const char* kSchedulerModel = "scheduler.model";
constexpr std::string_view kOfModel = "scheduler.model:";
constexpr std::string_view kOfMachine = "machine.";
constexpr std::string_view kL1 = "machine.l1_bytes";
constexpr std::string_view kL2 = "machine.l2_bytes";
constexpr std::string_view kBandwidth = "machine.dram_bytes_per_second";
/// Parameters of scheduler models for the state that a thread keeps across a call.
constexpr std::array<std::string_view, 3> kLive = {"live_state", "state", "stack_bytes"};
constexpr double kFactor = 4;
constexpr std::string_view kLatency = "scheduler.cycles_per_instruction";
constexpr std::string_view kWithheld = "machine.withheld_sms";
constexpr std::string_view kReorder = "machine.reorder_cycles";
constexpr std::string_view kTests = "machine.rt_test_latency_cycles";

[[noreturn]] void refuse(std::string what, std::string_view key, std::string expected, std::string fix = "") {
  throw Error(ErrorKind::Usage,
              {std::move(what), "--break-even", fmt::format("'{}'", key), std::move(expected), std::move(fix)});
}

/// The row's parameter of its scheduler model, as text; "": it has none of the name.
std::string parameter_of(const Settings& complete, std::string_view name) {
  const auto settings = parse_spec(complete.text(kSchedulerModel)).settings;
  const auto found = std::ranges::find(settings, name, &std::pair<std::string, std::string>::first);
  return found == settings.end() ? std::string() : found->second;
}

double number_in(const std::string& text, std::string_view key) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    refuse("the key is not a number", key, "a key with a number", "see rayreplay list keys");
  }
  return value;
}

double bound_in(const std::string& text, const std::string& item, const std::string& option) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) {
    throw Error(ErrorKind::Usage,
                {"a bound of the range is not a number", option, fmt::format("'{}'", item),
                 "KEY=LOW..HIGH, plain numbers in the unit of the key", "such as machine.l1_bytes=65536..262144"});
  }
  return value;
}

/// Lowest and highest value of the key.
struct Limits {
  double low = 0, high = 0;
};

Limits limits_of(const Parameter& declared) {
  return {std::isfinite(declared.minimum) ? declared.minimum : -kMaxExact,
          std::isfinite(declared.maximum) ? declared.maximum : kMaxExact};
}

struct Found {
  Quantity quantity{};
  Limits limits{};
};

Found of_model(const Settings& complete, const std::string& key) {
  const std::string name = key.substr(kOfModel.size());
  const std::string text = parameter_of(complete, name);
  const auto declared =
      scheduler::SchedulerModels::describe(parse_spec(complete.text(kSchedulerModel)).name).parameters;
  const auto own = std::ranges::find(declared, name, &Parameter::name);
  if (text.empty() || own == declared.end()) {
    return {};
  }
  const bool usual = text == to_text(own->default_value);
  return {{.kind = QuantityKind::Parameter,
           .key = key,
           .unit = own->unit,
           .origin = usual ? machine::Origin::Assumed : machine::Origin::Given,
           .value = number_in(text, key),
           .whole = std::holds_alternative<std::int64_t>(own->default_value)},
          limits_of(*own)};
}

/// Bytes of a set of the machine's cache.
double set_bytes(const Settings& complete, std::string_view key) {
  const machine::Machine machine = stream_machine(complete);
  const std::uint32_t line = key == kL1 ? machine.l1_line_bytes : machine.l2_line_bytes;
  const std::uint32_t ways = key == kL1 ? machine.l1_ways : machine.l2_ways;
  return static_cast<double>(line) * std::max(ways, 1U);
}

Found of_key(const Settings& complete, const std::string& key) {
  const ExperimentParameter* parameter = find_parameter(key);
  if (parameter == nullptr) {
    unknown_key(key, "--break-even");
  }
  const Parameter& declared = parameter->declared;
  const bool whole = std::holds_alternative<std::int64_t>(declared.default_value);
  if (parameter->is_open || !(whole || std::holds_alternative<double>(declared.default_value))) {
    refuse("the key is not a number", key, "a key with a number", "see rayreplay list keys");
  }
  static const StageMask kRead = bit(stage("stream")) | inputs_of(stage("stream"));
  if (!is_read(*parameter, kRead)) {
    refuse("memory time does not depend on the key", key, "a key that the stage stream, or one that it takes, reads");
  }
  const bool of_machine = key.starts_with(kOfMachine);
  const machine::Origin origin = of_machine ? machine_of(complete).origin(key.substr(kOfMachine.size()))
                                 : is_by_hand(complete, key, declared.default_value) ? machine::Origin::Given
                                                                                     : machine::Origin::Assumed;
  return {{.kind = kind_of_number(key),
           .key = key,
           .unit = declared.unit,
           .origin = origin,
           .value = whole ? static_cast<double>(complete.integer(key)) : complete.real(key),
           .whole = whole,
           .step = key == kL1 || key == kL2 ? set_bytes(complete, key) : 1},
          key == kWithheld ? Limits{0, static_cast<double>(machine_of(complete).sms) - 1} : limits_of(declared)};
}

Found find(const Settings& complete, const NumberFacts& facts, const std::string& key) {
  if (key == kHit) {
    constexpr double kMost = 1e6;  // instructions, as a file of costs allows
    return {{.kind = QuantityKind::Call,
             .key = key,
             .unit = "instructions",
             .origin = facts.hit_origin,
             .value = facts.hit_cost},
            {0, facts.hit_cost > 0 ? kMost : 0}};
  }
  return key.starts_with(kOfModel) ? of_model(complete, key) : of_key(complete, key);
}

void set_limits(Found& found, const AskedNumber& asked, const machine::Machine& machine) {
  Quantity& quantity = found.quantity;
  if (asked.range) {
    std::tie(quantity.low, quantity.high) = *asked.range;
    if (!(quantity.low <= quantity.value && quantity.value <= quantity.high && found.limits.low <= quantity.low &&
          quantity.high <= found.limits.high)) {
      refuse("the range of the key does not fit", fmt::format("{}={}..{}", asked.key, quantity.low, quantity.high),
             fmt::format("a range around {}, within {} and {}", quantity.value, found.limits.low, found.limits.high));
    }
  } else {
    if (quantity.key == kTests) {
      set_range_of_tests(quantity, machine);
    } else {
      set_range(quantity);
    }
    if (!quantity.varied()) {
      quantity.low = quantity.value / kFactor;
      quantity.high = quantity.value * kFactor;
    }
    quantity.low = std::max(quantity.low, std::min(quantity.value, found.limits.low));
    quantity.high = std::min(quantity.high, std::max(quantity.value, found.limits.high));
  }
  if (quantity.whole) {
    const double step = quantity.step;
    // 0 often means "no limit" or "the default".
    const double least = quantity.key == kWithheld ? 0 : 1;
    quantity.low = std::min(quantity.value, std::max(least, std::ceil(quantity.low / step)) * step);
    quantity.high = std::max(quantity.value, std::floor(quantity.high / step) * step);
  }
}

std::vector<AskedNumber> usual_numbers(const Settings& complete) {
  std::vector<AskedNumber> usual = {{std::string(kHit)}};
  for (const std::string_view name : kLive) {
    if (!parameter_of(complete, name).empty()) {
      usual.push_back({std::string(kOfModel) + std::string(name)});
    }
  }
  usual.push_back({std::string(kLatency)});
  const machine::Machine machine = machine_of(complete);
  for (const std::string_view key : varied_of_machine()) {
    // DRAM's is below, however it is known.
    if (key != kBandwidth && machine.origin(key.substr(kOfMachine.size())) == machine::Origin::Assumed) {
      usual.push_back({std::string(key)});
    }
  }
  for (const std::string_view key : {kL1, kL2, kBandwidth}) {
    usual.push_back({std::string(key)});
  }
  return usual;
}

}  // namespace

std::vector<AskedNumber> parse_numbers(std::string_view list, const std::string& option) {
  std::vector<AskedNumber> numbers;
  for (const std::string& item : list_items(list, ',')) {
    const auto equals = item.find('=');
    AskedNumber one{item.substr(0, equals)};
    if (equals != std::string::npos) {
      const std::string text = item.substr(equals + 1);
      const auto dots = text.find("..");
      if (dots == std::string::npos) {
        throw Error(ErrorKind::Usage, {"a range of a key is not of the form LOW..HIGH", option,
                                       fmt::format("'{}'", item), "KEY or KEY=LOW..HIGH", ""});
      }
      one.range =
          std::pair{bound_in(text.substr(0, dots), item, option), bound_in(text.substr(dots + 2), item, option)};
    }
    if (one.key.empty()) {
      throw Error(ErrorKind::Usage,
                  {"a key is missing", option, fmt::format("'{}'", list), "KEY or KEY=LOW..HIGH, between commas", ""});
    }
    numbers.push_back(std::move(one));
  }
  return numbers;
}

void check_numbers(std::span<const Settings> rows, const std::vector<AskedNumber>& asked) {
  for (const AskedNumber& one : asked) {
    if (one.key == kHit) {
      continue;  // what it costs now, the launch says
    }
    if (!one.key.starts_with(kOfModel)) {
      static_cast<void>(numbers_of(rows.front(), {}, {one}));
    } else if (std::ranges::none_of(
                   rows, [&](const Settings& row) { return !of_model(row, one.key).quantity.key.empty(); })) {
      refuse("no scheduler model of the rows has the parameter", one.key, "a parameter of a model",
             "see rayreplay describe, with the model's name");
    }
  }
}

std::vector<Quantity> numbers_of(const Settings& complete, const NumberFacts& facts,
                                 const std::vector<AskedNumber>& asked) {
  std::vector<Quantity> numbers;
  for (const AskedNumber& one : asked.empty() ? usual_numbers(complete) : asked) {
    Found found = find(complete, facts, one.key);
    const bool has_value = found.quantity.value > 0 || one.key == kReorder;
    if (!has_value && !(one.range && !found.quantity.key.empty())) {
      if (!asked.empty() && one.key != kHit && !one.key.starts_with(kOfModel)) {
        refuse("the key is 0, so that it has no range", one.key, "KEY=LOW..HIGH");
      }
      continue;  // this row, or this launch, does not have it
    }
    set_limits(found, one, machine_of(complete));
    const std::string_view name = one.key == kHit ? "a closest-hit call" : name_of_number(one.key);
    found.quantity.name = name.empty() ? one.key : name;
    numbers.push_back(std::move(found.quantity));
  }
  return numbers;
}

void set_number(Settings& asked, const Quantity& quantity, double value) {
  if (quantity.kind == QuantityKind::Call) {
    asked.set(quantity.key, fmt::format("{}", value), "");
  } else if (quantity.whole) {
    asked.set(quantity.key, static_cast<std::int64_t>(std::llround(value)), "");
  } else {
    asked.set(quantity.key, value, "");
  }
}

}  // namespace rayreplay::experiment
