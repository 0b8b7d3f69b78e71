#include "sim/variants/number_rules.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scheduler-models/regrouping/scheduler_model.hpp"
#include "sim/comparison/quantity_names.hpp"
#include "sim/engine/stage_settings.hpp"
#include "sim/machine/cache_geometry.hpp"
#include "sim/settings/machine_settings.hpp"

namespace rayreplay::experiment {
namespace {

constexpr double kWordBytes = 4;
constexpr const char* kResident = "schedule.resident_warps";
constexpr const char* kBoxes = "machine.rt_boxes_per_cycle";
constexpr const char* kTriangles = "machine.rt_triangles_per_cycle";

/// Numbers that choose something.
constexpr std::array<std::string_view, 12> kChoices = {"launch",
                                                       "warp_size",
                                                       "bvh.leaf_size",
                                                       "machine.warp_size",
                                                       "machine.l1_ways",
                                                       "machine.l1_line_bytes",
                                                       "machine.l1_sector_bytes",
                                                       "machine.l2_ways",
                                                       "machine.l2_line_bytes",
                                                       "machine.l2_sector_bytes",
                                                       "cache.l1.line_bytes",
                                                       "cache.l1.sector_bytes"};

/// Values that mean something else than an amount: 0, or those below it.
enum class From : bool { Zero, BelowZero };
struct Beside {
  std::string_view key;
  From from;
  std::string_view meaning;
};
constexpr std::array kBeside = {
    Beside{"machine.rt_rays", From::Zero, "no limit"},
    Beside{"machine.rt_boxes_per_cycle", From::Zero, "not known"},
    Beside{"machine.rt_triangles_per_cycle", From::Zero, "not known"},
    Beside{kL1Bytes, From::Zero, "no L1"},
    Beside{kL2Bytes, From::Zero, "no L2"},
    Beside{"schedule.resident_warps", From::Zero, "the machine's, by registers"},
    Beside{"stream.stack_entries", From::Zero, "all of them"},
    Beside{"stream.payload_bytes", From::BelowZero, "of the launch's shaders"},
    Beside{"stream.pixel_bytes", From::BelowZero, "16, or what shaders store"},
    Beside{"stream.record_bytes", From::Zero, "records are not read"},
    Beside{"stream.load_bytes", From::Zero, "no limit"},
    Beside{"scheduler.model:bandwidth", From::Zero, "the machine's"},
    Beside{"scheduler.model:simd_width", From::Zero, "the warp size"},
    Beside{"scheduler.model:queue_threads", From::Zero, "no limit"},
    Beside{"scheduler.model:reorder_cycles", From::BelowZero, "the machine's"},
    Beside{"scheduler.model:withheld", From::BelowZero, "the machine's"},
    Beside{"scheduler.model:live_state", From::BelowZero, "of the launch's shaders"},
    Beside{"scheduler.model:site", From::BelowZero, "all trace calls"},
};

/// Bytes of a set of the machine's cache.
double set_bytes(const Settings& complete, std::string_view key) {
  const machine::Machine machine = stream_machine(complete);
  const std::uint32_t line = key == kL1Bytes ? machine.l1_line_bytes : machine.l2_line_bytes;
  const std::uint32_t ways = key == kL1Bytes ? machine.l1_ways : machine.l2_ways;
  return static_cast<double>(line) * std::max(ways, 1U);
}

bool is_number(const Parameter& declared) {
  return std::holds_alternative<std::int64_t>(declared.default_value) ||
         std::holds_alternative<double>(declared.default_value);
}

/// The row's parameter of its scheduler model; "": it has none of the name.
std::string parameter_of(const ModelSpec& model, std::string_view name) {
  const auto found = std::ranges::find(model.settings, name, &std::pair<std::string, std::string>::first);
  return found == model.settings.end() ? std::string() : found->second;
}

/// Charges that memory time takes: all but a bandwidth, because traffic of state is accesses.
auto charges_of(const ModelSpec& model, const scheduler::MachineFacts& facts) {
  std::string spec = model.name;
  for (const auto& [name, value] : model.settings) {
    spec += fmt::format("{}{}={}", spec == model.name ? ':' : ',', name, value);
  }
  const scheduler::Charges charges = scheduler::SchedulerModels::create(spec).model->charges(facts);
  return std::tuple(charges.cycles_per_warp, charges.cycles_per_cut, charges.bytes_per_moved, charges.bytes_per_thread,
                    charges.withheld_sms);
}

/// A machine that can withhold any number of SMs.
constexpr scheduler::MachineFacts kLarge = {.sms = std::numeric_limits<std::uint32_t>::max()};

std::string unread_of_model(const ModelSpec& model, std::string_view name) {
  const auto is = [&](std::string_view choice, std::string_view value) { return parameter_of(model, choice) == value; };
  if (name == "pool_warps" && !is("scope", "pool") && !is("arrival", "full") && !is("arrival", "timeout")) {
    return "no pool is filled: scope is not pool, and arrival is all";
  }
  if (name == "timeout" && !is("arrival", "timeout")) {
    return "arrival is not timeout";
  }
  if (name == "spatial_bits" && is("spatial", "none")) {
    return "spatial is none";
  }
  if (name == "hint_bits" && is("hint", "none")) {
    return "hint is none";
  }
  if (!is_charge(std::string(kModelParameter) + std::string(name))) {
    return "";
  }
  ModelSpec other = model;
  for (auto& [setting, value] : other.settings) {
    if (setting == name) {
      value = value == "1" ? "2" : "1";
    }
  }
  return charges_of(model, kLarge) == charges_of(other, kLarge)
             ? "accesses alone decide how long its bytes take, or the model has no such cost"
             : "";
}

/// Tightens limits by other keys' values.
class Fitting {
 public:
  Fitting(const Settings& complete, Limits& limits) : complete_(complete), limits_(limits) {}

  void at_least(const char* key, double plus = 0) {
    tighten(complete_.integer(key), plus, true, key);
  }
  void at_most(const char* key, double plus = 0) {
    tighten(complete_.integer(key), plus, false, key);
  }
  void at_least_product(const char* key, std::uint32_t factor) {
    tighten(complete_.integer(key) * factor, 0, true, key);
  }
  void at_most_part(const char* key, std::uint32_t divisor) {
    tighten(complete_.integer(key) / divisor, 0, false, key);
  }

 private:
  void tighten(std::int64_t value, double plus, bool low, const char* key) {
    const double limit = static_cast<double>(value) + plus;
    if (low ? limit > limits_.low : limit < limits_.high) {
      (low ? limits_.low : limits_.high) = limit;
      limits_.why += fmt::format("{}{} = {}", limits_.why.empty() ? "" : ", ", key, complete_.integer(key));
    }
  }

  const Settings& complete_;
  Limits& limits_;
};

/// The interleaving's limit on the lines of all caches.
void limit_lines(const Settings& complete, std::string_view key, Limits& limits) {
  const machine::Machine machine = stream_machine(complete);
  const double of_l1s = static_cast<double>(machine.l1_bytes) / machine.l1_line_bytes * machine.sms;
  const double of_l2 = static_cast<double>(machine.l2_bytes) / machine.l2_line_bytes;
  const auto most = static_cast<double>(machine::kMaxLines);
  const double bytes =
      key == kL1Bytes ? (most - of_l2) / machine.sms * machine.l1_line_bytes : (most - of_l1s) * machine.l2_line_bytes;
  if (bytes < limits.high) {
    const double step = step_of(complete, key);
    limits.high = std::floor(bytes / step) * step;
    limits.why = fmt::format("the most lines of all caches together, {}", machine::kMaxLines);
  }
}

}  // namespace

const std::vector<std::string>& amount_keys() {
  static const std::vector<std::string> list = [] {
    const StageMask read = bit(stage("stream")) | inputs_of(stage("stream"));
    std::vector<std::string> made;
    for (const ExperimentParameter& parameter : experiment_parameters()) {
      if (!parameter.is_open && is_number(parameter.declared) && is_read(parameter, read) &&
          std::ranges::find(kChoices, parameter.declared.name) == kChoices.end()) {
        made.push_back(parameter.declared.name);
      }
    }
    return made;
  }();
  return list;
}

std::string amount_keys_text() {
  return fmt::format("one of {0}STAGE (such as {1}), {2}PARAMETER, {3}", kCallCosts, kHitCost, kModelParameter,
                     fmt::join(amount_keys(), ", "));
}

std::string_view meaning_beside(std::string_view key, double value) {
  const auto* const found = std::ranges::find(kBeside, key, &Beside::key);
  const bool beside = found != kBeside.end() && (value < 0 || (value == 0 && found->from == From::Zero));
  return beside ? found->meaning : std::string_view();
}

std::optional<double> amount_without_limit(const Settings& complete, std::string_view key, std::uint32_t warp_size) {
  const bool of_rays = key == "machine.rt_rays";
  if ((!of_rays && key != "stream.load_bytes" && key != "stream.stack_entries") ||
      complete.integer(std::string(key)) != 0) {
    return std::nullopt;
  }
  return of_rays ? static_cast<double>(complete.integer("machine.resident_warps")) * warp_size
                 : find_parameter(key)->declared.maximum;
}

std::string unread_because(const Settings& complete, std::string_view key) {
  const ModelSpec model = parse_spec(complete.text("scheduler.model"));
  if (key.starts_with(kModelParameter)) {
    return unread_of_model(model, key.substr(kModelParameter.size()));
  }
  if (key == "scheduler.steps_per_ray") {
    return "it makes the visits of each ray itself";
  }
  scheduler::MachineFacts other = kLarge;
  if (key == "machine.reorder_cycles") {
    other.reorder_cycles = 1;
  } else if (key == "machine.withheld_sms") {
    other.withheld_sms = 1;
  }
  if ((key == "machine.reorder_cycles" || key == "machine.withheld_sms") &&
      charges_of(model, kLarge) == charges_of(model, other)) {
    return fmt::format("the scheduler model {} has no such cost, or one of its own", model.name);
  }
  if ((key == "registers_per_thread" || key == "machine.registers") && complete.integer(kResident) > 0) {
    return fmt::format("{} is given", kResident);
  }
  const bool software = complete.flag("machine.software_traversal");
  if (software && (key == "machine.rt_rays" || key == kBoxes || key == kTriangles)) {
    return "shaders traverse in software";
  }
  if ((key == kBoxes || key == kTriangles) && complete.real(kBoxes) == 0) {
    return "rates of boxes and triangles are not known, so that machine.rt_steps_per_cycle is in use";
  }
  if (!software && key == "machine.rt_steps_per_cycle" && complete.real(kBoxes) > 0) {
    return fmt::format("{} is given", kBoxes);
  }
  return "";
}

double step_of(const Settings& complete, std::string_view key) {
  return key == kL1Bytes || key == kL2Bytes                            ? set_bytes(complete, key)
         : key == "stream.payload_bytes" || key == "stream.load_bytes" ? kWordBytes
                                                                       : 1;
}

Limits limits_of(const Parameter& declared) {
  return {std::isfinite(declared.minimum) ? declared.minimum : -kMaxExact,
          std::isfinite(declared.maximum) ? declared.maximum : kMaxExact};
}

Limits limits_of(const Settings& complete, const Parameter& declared, std::uint32_t warp_size) {
  constexpr const char* kL1Latency = "machine.l1_latency_cycles";
  constexpr const char* kL2Latency = "machine.l2_latency_cycles";
  constexpr const char* kDramLatency = "machine.dram_latency_cycles";
  const std::string& key = declared.name;
  const bool has_l1 = complete.integer(std::string(kL1Bytes)) > 0;
  const bool has_l2 = complete.integer(std::string(kL2Bytes)) > 0;
  Limits limits = limits_of(declared);
  Fitting fitting(complete, limits);
  if (key == "machine.withheld_sms") {
    fitting.at_most("machine.sms", -1);
  } else if (key == "machine.sms") {
    fitting.at_least("machine.withheld_sms", 1);
  } else if (key == kL1Latency && has_l1) {
    fitting.at_most(has_l2 ? kL2Latency : kDramLatency);
  } else if (key == kL2Latency && has_l2) {
    fitting.at_most(kDramLatency);
    if (has_l1) {
      fitting.at_least(kL1Latency);
    }
  } else if (key == kDramLatency && (has_l1 || has_l2)) {
    fitting.at_least(has_l2 ? kL2Latency : kL1Latency);
  } else if (key == "schedule.resident_warps") {
    fitting.at_most("machine.resident_warps");
  } else if (key == "machine.resident_warps") {
    fitting.at_least("schedule.resident_warps");
  } else if (key == "registers_per_thread" && warp_size > 0) {
    fitting.at_most_part("machine.registers", warp_size);
  } else if (key == "machine.registers") {
    fitting.at_least_product("registers_per_thread", warp_size);
  }
  if (key == kL1Bytes || key == kL2Bytes) {
    limit_lines(complete, key, limits);
  }
  if (std::holds_alternative<std::int64_t>(declared.default_value) && !meaning_beside(key, limits.low).empty()) {
    limits.low = std::max(limits.low, 0.0);
    if (!meaning_beside(key, 0).empty()) {
      limits.low += step_of(complete, key);
    }
  }
  return limits;
}

}  // namespace rayreplay::experiment
