#include "sim/variants/memory_numbers.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/count_text.hpp"
#include "base/error.hpp"
#include "base/list_items.hpp"
#include "base/parameters.hpp"
#include "scheduler-models/regrouping/scheduler_model.hpp"
#include "sim/caching/cache_parts.hpp"
#include "sim/comparison/quantity_names.hpp"
#include "sim/comparison/ranges.hpp"
#include "sim/engine/shader_accesses.hpp"
#include "sim/engine/stage_settings.hpp"
#include "sim/settings/machine_settings.hpp"
#include "sim/settings/thread_registers.hpp"
#include "sim/variants/call_numbers.hpp"
#include "sim/variants/number_rules.hpp"

namespace rayreplay::experiment {
namespace {

constexpr const char* kSchedulerModel = "scheduler.model";
constexpr const char* kOption = "--break-even";
constexpr std::string_view kOfMachine = "machine.";
constexpr std::string_view kBandwidth = "machine.dram_bytes_per_second";
constexpr std::string_view kRegisters = "registers_per_thread";
constexpr std::string_view kPayload = "stream.payload_bytes";
constexpr std::string_view kPixel = "stream.pixel_bytes";
constexpr std::string_view kLoadBytes = "stream.load_bytes";
constexpr std::string_view kStackEntries = "stream.stack_entries";
constexpr double kFactor = 4;
constexpr std::string_view kLatency = "scheduler.cycles_per_instruction";
constexpr std::string_view kWithheld = "machine.withheld_sms";
constexpr std::string_view kReorder = "machine.reorder_cycles";
constexpr std::string_view kLiveState = "scheduler.model:live_state";
constexpr std::string_view kTests = "machine.rt_test_latency_cycles";

[[noreturn]] void refuse(std::string what, std::string_view found, std::string expected, std::string fix = "") {
  throw Error(ErrorKind::Usage,
              {std::move(what), kOption, fmt::format("'{}'", found), std::move(expected), std::move(fix)});
}

[[noreturn]] void refuse_key(std::string what, std::string_view key) {
  refuse(std::move(what), key, amount_keys_text(), "rayreplay list keys has their meanings");
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
    refuse_key("the key is not a number", key);
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

using Found = LimitedNumber;

/// The live state of a thread that an exchange moves, with the payload if that is in registers.
machine::LiveState moved_state(const Settings& complete, const NumberFacts& facts) {
  return is_payload_in_registers(complete) ? facts.live_state : facts.live_state.besides_payload();
}

Found of_model(const Settings& complete, const NumberFacts& facts, const std::string& key) {
  const std::string name = key.substr(kModelParameter.size());
  const std::string text = parameter_of(complete, name);
  const auto declared =
      scheduler::SchedulerModels::describe(parse_spec(complete.text(kSchedulerModel)).name).parameters;
  const auto own = std::ranges::find(declared, name, &Parameter::name);
  if (text.empty() || own == declared.end()) {
    return {};
  }
  const auto given = facts.given.find(complete.text(kSchedulerModel));
  const bool usual =
      text == to_text(own->default_value) && (given == facts.given.end() || !given->second.contains(name));
  const double value = number_in(text, key);
  const bool of_shaders = key == kLiveState && value < 0;
  return {{.kind = QuantityKind::Parameter,
           .key = key,
           .unit = own->unit,
           .origin = of_shaders ? facts.live_state.origin
                     : usual    ? machine::Origin::Assumed
                                : machine::Origin::Given,
           .value = of_shaders ? moved_state(complete, facts).bytes : value,
           .whole = std::holds_alternative<std::int64_t>(own->default_value)},
          limits_of(*own)};
}

Found of_key(const Settings& complete, const NumberFacts& facts, const std::string& key) {
  const ExperimentParameter* parameter = find_parameter(key);
  if (parameter == nullptr) {
    unknown_key(key, kOption);
  }
  const Parameter& declared = parameter->declared;
  const bool whole = std::holds_alternative<std::int64_t>(declared.default_value);
  if (key != declared.name || parameter->is_open ||
      !(whole || std::holds_alternative<double>(declared.default_value))) {
    refuse_key("the key is not a number", key);
  }
  static const StageMask kRead = bit(stage("stream")) | inputs_of(stage("stream"));
  if (!is_read(*parameter, kRead)) {
    refuse_key("memory time does not depend on the key", key);
  }
  if (std::ranges::find(amount_keys(), key) == amount_keys().end()) {
    refuse_key("the key is a choice that must fit other keys, not an amount to vary", key);
  }
  const bool of_machine = key.starts_with(kOfMachine);
  const bool of_shaders = key == kPayload && is_payload_of_shaders(complete);
  const machine::Origin origin = of_machine          ? machine_of(complete).origin(key.substr(kOfMachine.size()))
                                 : of_shaders        ? facts.live_state.origin
                                 : key == kRegisters ? origin_of_registers(complete)
                                 : key == kLatency && are_cycles_decided(complete)   ? machine::Origin::Assumed
                                 : is_by_hand(complete, key, declared.default_value) ? machine::Origin::Given
                                                                                     : machine::Origin::Assumed;
  const std::optional<double> unlimited = amount_without_limit(complete, key, facts.warp_size);
  return {{.kind = kind_of_number(key),
           .key = key,
           .unit = declared.unit,
           .origin = origin,
           .value = unlimited                                    ? *unlimited
                    : of_shaders                                 ? facts.live_state.payload_in_words(kMaxSize)
                    : key == kPixel && !is_pixel_given(complete) ? memory::kAssumedPixel
                    : whole                                      ? static_cast<double>(complete.integer(key))
                                                                 : complete.real(key),
           .whole = whole,
           .meaning = unlimited ? std::string(meaning_beside(key, 0)) : std::string(),
           .step = step_of(complete, key)},
          limits_of(complete, declared, facts.warp_size)};
}

/// Several of one key: calls whose costs are known in several ways. None: the row does not have it.
std::vector<Found> find(const Settings& complete, const NumberFacts& facts, const std::string& key) {
  if (names_calls(key)) {
    return numbers_of_calls(facts.calls, key);
  }
  Found found = key.starts_with(kModelParameter) ? of_model(complete, facts, key) : of_key(complete, facts, key);
  return found.quantity.key.empty() ? std::vector<Found>() : std::vector<Found>{std::move(found)};
}

/// unread_because, also by facts of the launch.
std::string unread(const Settings& complete, const NumberFacts& facts, std::string_view key) {
  return key == kLatency && !facts.calls.reads_cycles_per_instruction()
             ? "the latencies of all calls are given or captured"
             : unread_because(complete, key);
}

std::string text_of(const AskedNumber& asked) {
  return asked.range ? fmt::format("{}={}..{}", asked.key, asked.range->first, asked.range->second) : asked.key;
}

[[noreturn]] void refuse_range(const AskedNumber& asked, std::string expected, std::string fix = "") {
  refuse("the range of the key does not fit", text_of(asked), std::move(expected), std::move(fix));
}

void set_asked(Found& found, const AskedNumber& asked) {
  Quantity& quantity = found.quantity;
  const auto [low, high] = *asked.range;
  if (!(low <= high)) {
    refuse_range(asked, "LOW..HIGH with LOW below HIGH");
  }
  if (const std::string_view meaning = meaning_beside(asked.key, low); !meaning.empty()) {
    refuse_range(asked, fmt::format("a range of amounts: {} means '{}'", low, meaning),
                 "begin the range with the least amount");
  }
  const Limits& limits = found.limits;
  if (!(limits.low <= low && high <= limits.high)) {
    refuse_range(asked, fmt::format("values from {} to {}{}", limits.low, limits.high,
                                    limits.why.empty() ? "" : ", by " + limits.why));
  }
  if (!(low <= quantity.value && quantity.value <= high)) {
    refuse_range(asked, fmt::format("a range around {}, the present value", quantity.value));
  }
  if (quantity.whole && quantity.step == 1 && (low != std::floor(low) || high != std::floor(high))) {
    refuse_range(asked, "whole numbers");
  }
  quantity.low = low;
  quantity.high = high;
}

void set_limits(Found& found, const AskedNumber& asked, const machine::Machine& machine, std::uint32_t warp_size) {
  Quantity& quantity = found.quantity;
  if (asked.range) {
    set_asked(found, asked);
  } else {
    if (!quantity.meaning.empty()) {
      set_range_without_limit(quantity, warp_size);
    } else if (quantity.key == kTests) {
      set_range_of_tests(quantity, machine);
    } else {
      set_range(quantity);
    }
    if (!quantity.varied() && quantity.meaning.empty()) {
      quantity.low = quantity.key == kWithheld ? 0 : quantity.value / kFactor;
      quantity.high = quantity.value * kFactor;
    }
    quantity.low = std::max(quantity.low, std::min(quantity.value, found.limits.low));
    quantity.high = std::min(quantity.high, std::max(quantity.value, found.limits.high));
  }
  if (quantity.whole) {
    const double step = quantity.step;
    const double least = asked.range || quantity.key == kWithheld ? 0 : 1;
    quantity.low = std::min(quantity.value, std::max(least, std::ceil(quantity.low / step)) * step);
    quantity.high = std::max(quantity.value, std::floor(quantity.high / step) * step);
  }
  if (asked.range && !quantity.varied()) {
    refuse_range(asked, quantity.step == 1 ? fmt::format("another value beside {}, the present one", quantity.value)
                                           : fmt::format("another multiple of {} beside {}, the present value",
                                                         quantity.step, quantity.value));
  }
}

/// Why the number, as it is now, cannot be varied; nothing: it can.
struct Hindrance {
  std::string what, expected, fix;
};
std::optional<Hindrance> hindrance(const Quantity& quantity, const AskedNumber& asked) {
  if (quantity.kind == QuantityKind::Call || quantity.kind == QuantityKind::CallLatency) {
    const std::string why = fixed_because(quantity);
    return why.empty() ? std::nullopt : std::optional<Hindrance>({why, "calls that the launch makes", ""});
  }
  if (const std::string_view meaning = meaning_beside(quantity.key, quantity.value); !meaning.empty()) {
    return Hindrance{fmt::format("the key has no amount now: {} means '{}'", quantity.value, meaning),
                     "a key with an amount", "set the key to an amount first, or leave it out"};
  }
  if (quantity.value == 0 && !asked.range && quantity.key != kReorder) {
    return Hindrance{"the key is 0, so that it has no range", "KEY=LOW..HIGH", ""};
  }
  return std::nullopt;
}

/// A range asked for is that of the numbers whose value it holds. It must hold one.
void keep_those_in_range(std::vector<Found>& all, const AskedNumber& asked) {
  if (all.size() < 2 || !asked.range) {
    return;
  }
  std::vector<std::string> values;
  for (const Found& one : all) {
    values.push_back(fmt::format("{} ({})", one.quantity.value, to_string(one.quantity.origin)));
  }
  std::erase_if(all, [&](const Found& one) {
    return !(asked.range->first <= one.quantity.value && one.quantity.value <= asked.range->second);
  });
  if (all.empty()) {
    refuse_range(asked, fmt::format("a range around {}, the present values", fmt::join(values, " or ")));
  }
}

/// Numbers of calls have their names.
void name(Quantity& quantity) {
  if (quantity.name.empty()) {
    quantity.name = name_of_number(quantity.key);
  }
}

std::vector<AskedNumber> usual_numbers(const Settings& complete, const NumberFacts& facts) {
  std::vector<AskedNumber> usual;
  for (const CallGroup& group : facts.calls.list()) {
    const std::string& key = group.quantity.key;
    if (std::ranges::find(usual, key, &AskedNumber::key) == usual.end()) {
      usual.push_back({key});
    }
  }
  for (const auto& [name, value] : parse_spec(complete.text(kSchedulerModel)).settings) {
    if (std::string key = std::string(kModelParameter) + name; is_charge(key)) {
      usual.push_back({std::move(key)});
    }
  }
  usual.push_back({std::string(kLatency)});
  usual.push_back({std::string(kRegisters)});
  usual.push_back({std::string(kPayload)});
  const machine::Machine machine = machine_of(complete);
  for (const std::string_view key : varied_of_machine()) {
    // DRAM's is below, however it is known.
    if (key != kBandwidth && is_uncertain(machine.origin(key.substr(kOfMachine.size())))) {
      usual.push_back({std::string(key)});
    }
  }
  for (const std::string_view key : {kLoadBytes, kStackEntries}) {
    const Parameter& declared = find_parameter(key)->declared;
    if (amount_without_limit(complete, key, facts.warp_size) &&
        !is_by_hand(complete, std::string(key), declared.default_value)) {
      usual.push_back({std::string(key)});
    }
  }
  for (const std::string_view key : {kL1Bytes, kL2Bytes, kBandwidth}) {
    usual.push_back({std::string(key)});
  }
  return usual;
}

}  // namespace

std::vector<AskedNumber> parse_numbers(std::span<const std::string> lists, const std::string& option) {
  std::vector<AskedNumber> numbers;
  std::vector<std::string> items;
  for (const std::string& list : lists) {
    for (std::string& item : list_items(list, ',')) {
      items.push_back(std::move(item));
    }
  }
  for (const std::string& item : items) {
    const auto equals = item.find('=');
    AskedNumber one{item.substr(0, equals)};
    if (equals != std::string::npos) {
      const std::string text = item.substr(equals + 1);
      const auto dots = text.find("..");
      if (dots == std::string::npos || text.find("...") != std::string::npos) {
        throw Error(ErrorKind::Usage, {"a range of a key is not of the form LOW..HIGH", option,
                                       fmt::format("'{}'", item), "KEY or KEY=LOW..HIGH", ""});
      }
      one.range =
          std::pair{bound_in(text.substr(0, dots), item, option), bound_in(text.substr(dots + 2), item, option)};
    }
    if (one.key.empty()) {
      throw Error(ErrorKind::Usage, {"a key is missing", option, fmt::format("'{}'", fmt::join(lists, "', '")),
                                     "KEY or KEY=LOW..HIGH, between commas", ""});
    }
    if (std::ranges::find(numbers, one.key, &AskedNumber::key) != numbers.end()) {
      throw Error(ErrorKind::Usage,
                  {"a key is named twice", option, fmt::format("'{}'", one.key), "each key once", "leave one out"});
    }
    numbers.push_back(std::move(one));
  }
  return numbers;
}

void check_numbers(std::span<const Settings> rows, const NumberFacts& facts, const std::vector<AskedNumber>& asked) {
  for (const AskedNumber& one : asked) {
    bool found = false;
    std::string why;
    for (const Settings& row : rows) {
      found = !numbers_of(row, facts, {one}).empty() || found;
      if (!find(row, facts, one.key).empty()) {
        why = unread(row, facts, one.key);
      }
    }
    if (!found && !why.empty()) {
      refuse("memory time does not depend on the key: " + why, one.key, "a key that the rows' machine and models read",
             "leave it out");
    }
    if (!found) {
      refuse("no scheduler model of the rows has the parameter", one.key, "a parameter of a model",
             "see rayreplay describe, with the model's name");
    }
  }
}

std::vector<Quantity> numbers_of(const Settings& complete, const NumberFacts& facts,
                                 const std::vector<AskedNumber>& asked) {
  std::vector<Quantity> numbers;
  for (const AskedNumber& one : asked.empty() ? usual_numbers(complete, facts) : asked) {
    if (!unread(complete, facts, one.key).empty()) {
      continue;
    }
    std::vector<Found> all = find(complete, facts, one.key);
    keep_those_in_range(all, one);
    for (Found& found : all) {
      if (const auto reason = hindrance(found.quantity, one)) {
        if (asked.empty()) {
          continue;
        }
        refuse(reason->what, text_of(one), reason->expected, reason->fix);
      }
      set_limits(found, one, machine_of(complete), facts.warp_size);
      if (!found.quantity.varied() && asked.empty()) {
        continue;
      }
      name(found.quantity);
      numbers.push_back(std::move(found.quantity));
    }
  }
  return numbers;
}

std::vector<Quantity> numbers_in_use(const Settings& complete, const NumberFacts& facts,
                                     std::span<const Quantity> varied) {
  std::vector<Quantity> numbers;
  for (const CallGroup& group : facts.calls.list()) {
    numbers.push_back(group.quantity);
  }
  std::vector<std::string> keys;
  const std::string model = parse_spec(complete.text(kSchedulerModel)).name;
  for (const Parameter& parameter : scheduler::SchedulerModels::describe(model).parameters) {
    if (std::holds_alternative<std::int64_t>(parameter.default_value) ||
        std::holds_alternative<double>(parameter.default_value)) {
      keys.push_back(std::string(kModelParameter) + parameter.name);
    }
  }
  keys.insert(keys.end(), amount_keys().begin(), amount_keys().end());
  for (const std::string& key : keys) {
    for (Found& found : find(complete, facts, key)) {
      if (unread(complete, facts, key).empty() &&
          !meaning_beside(key, found.quantity.value).starts_with(kTheMachines)) {  // another number stands for it
        name(found.quantity);
        numbers.push_back(std::move(found.quantity));
      }
    }
  }
  for (Quantity& quantity : numbers) {
    const auto found = std::ranges::find_if(varied, [&](const Quantity& other) { return other.is(quantity); });
    quantity.low = found == varied.end() ? quantity.value : found->low;
    quantity.high = found == varied.end() ? quantity.value : found->high;
  }
  return numbers;
}

std::vector<std::string> left_out(const Settings& complete, const NumberFacts& facts,
                                  const std::vector<AskedNumber>& asked) {
  std::vector<std::string> keys;
  const std::vector<Quantity> varied = numbers_of(complete, facts, asked);
  const std::vector<Quantity> used = numbers_in_use(complete, facts, varied);
  for (const Quantity& quantity : used) {
    if (is_uncertain(quantity.origin) && !quantity.varied()) {
      keys.push_back(label_of(used, quantity));
    }
  }
  return keys;
}

std::string range_note(const Quantity& quantity, const AskedNumber& asked) {
  if (!asked.range || (quantity.low == asked.range->first && quantity.high == asked.range->second)) {
    return "";
  }
  const auto text = [](double value) { return with_separators(static_cast<std::uint64_t>(std::llround(value))); };
  return fmt::format("{}: multiples of {} {}, so {} to {} in place of {}..{}", quantity.key, text(quantity.step),
                     quantity.unit, text(quantity.low), text(quantity.high), asked.range->first, asked.range->second);
}

std::vector<double> used_numbers(const NumberFacts& facts, std::span<const Quantity> quantities,
                                 std::span<const double> values) {
  std::vector<double> used(values.begin(), values.end());
  const auto place_of_key = [&](std::string_view key) -> double* {
    const auto found = std::ranges::find(quantities, key, &Quantity::key);
    return found == quantities.end() ? nullptr : &used[static_cast<std::size_t>(found - quantities.begin())];
  };
  const auto raise = [](double* number, const double* least, double factor) {
    if (number != nullptr && least != nullptr) {
      *number = std::max(*number, *least * factor);
    }
  };
  const double* nearer = nullptr;
  for (const std::string_view key :
       {"machine.l1_latency_cycles", "machine.l2_latency_cycles", "machine.dram_latency_cycles"}) {
    if (double* const latency = place_of_key(key)) {
      raise(latency, nearer, 1);
      nearer = latency;
    }
  }
  double* const withheld = place_of_key(kWithheld);
  if (const double* const sms = place_of_key("machine.sms"); sms != nullptr && withheld != nullptr) {
    *withheld = std::min(*withheld, *sms - 1);
  }
  raise(place_of_key("machine.registers"), place_of_key(kRegisters), facts.warp_size);
  raise(place_of_key("machine.resident_warps"), place_of_key("schedule.resident_warps"), 1);
  return used;
}

void set_numbers(Settings& asked, const NumberFacts& facts, std::span<const Quantity> quantities,
                 std::span<const double> values, bool of_model) {
  const std::vector<double> used = used_numbers(facts, quantities, values);
  set_calls(asked, facts.calls, quantities, used);
  for (std::size_t i = 0; i < quantities.size(); ++i) {
    const Quantity& quantity = quantities[i];
    const bool of_calls = quantity.kind == QuantityKind::Call || quantity.kind == QuantityKind::CallLatency;
    if (used[i] == quantity.value || of_calls || (quantity.key.starts_with(kModelParameter) && !of_model)) {
      continue;
    }
    // With a place: a number that someone has set, also at its default (decided_value.hpp).
    const char* const where = quantity.key == kRegisters || quantity.key == kLatency ? kOption : "";
    if (quantity.whole) {
      asked.set(quantity.key, static_cast<std::int64_t>(std::llround(used[i])), where);
    } else {
      asked.set(quantity.key, used[i], where);
    }
  }
}

}  // namespace rayreplay::experiment
