// SER: shader execution reordering (MODELS.md §7; ReRay thesis §3.7.4; NVIDIA's SER white paper).
//
// Contract: paths are cut at pending ClosestHit and Miss calls; the waiting threads are sorted by reorder key
// (reorder_key.hpp) and cut into new warps (regroup.hpp). Arrival "all": round by round, all threads of the scope wait
// for each other; "full" and "timeout": exchanges that the machine fills while it runs. Costs are in the charges. Usage
// for combinations of parameters that do not fit.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/declare_parameters.hpp"
#include "base/error.hpp"
#include "scheduler-models/regrouping/bandwidth.hpp"
#include "scheduler-models/regrouping/exchanges/pool_exchange.hpp"
#include "scheduler-models/regrouping/models/scopes.hpp"
#include "scheduler-models/regrouping/regroup.hpp"
#include "scheduler-models/regrouping/reorder_key.hpp"
#include "scheduler-models/regrouping/scheduler_model.hpp"

namespace rayreplay::scheduler {
namespace {

enum class When : std::uint8_t { All, Full, Timeout };

When parse_arrival(const std::string& name) {
  if (name == "all") {
    return When::All;
  }
  return name == "full" ? When::Full : When::Timeout;
}

SpatialKey parse_spatial(const std::string& name) {
  if (name == "hit") {
    return SpatialKey::Hit;
  }
  return name == "ray" ? SpatialKey::Ray : SpatialKey::None;
}

class Ser final : public SchedulerModel {
 public:
  explicit Ser(const Parameters& parameters)
      : arrival_(parse_arrival(parameters.get_string("arrival"))),
        timeout_cycles_(parameters.get_double("timeout")),
        reorder_cycles_(parameters.get_double("reorder_cycles")),
        live_state_(parameters.get_double("live_state")),
        spills_all_(parameters.get_string("spill") == "all"),
        bandwidth_(get_bandwidth(parameters)),
        split_cycles_(parameters.get_double("split_cycles")),
        withheld_(parameters.get_int("withheld")) {
    cut_.at = CutAt::PendingCall;
    cut_.first_bounce = static_cast<std::uint32_t>(parameters.get_int("first_bounce"));
    if (parameters.get_int("site") >= 0) {
      cut_.site = static_cast<std::uint8_t>(parameters.get_int("site"));
    }
    cut_.captured_only = parameters.get_bool("captured_only");
    key_.shader_bits = static_cast<std::uint32_t>(parameters.get_int("shader_bits"));
    key_.hint = parameters.get_string("hint");
    key_.hint_bits = static_cast<std::uint32_t>(parameters.get_int("hint_bits"));
    key_.spatial = parse_spatial(parameters.get_string("spatial"));
    key_.spatial_bits = static_cast<std::uint32_t>(parameters.get_int("spatial_bits"));
    regrouping_.scope = parse_scope(parameters.get_string("scope"));
    regrouping_.pool_warps = static_cast<std::uint32_t>(parameters.get_int("pool_warps"));
    const bool timed = arrival_ != When::All;
    if (timed && (regrouping_.scope == Scope::Pool || regrouping_.scope == Scope::Warp)) {
      throw Error(ErrorKind::Usage,
                  {"threads that arrive one by one belong to no fixed pool of warps", "scheduler model 'ser'",
                   "scope=" + parameters.get_string("scope") + ",arrival=" + parameters.get_string("arrival"),
                   "scope sm or launch with arrival full or timeout",
                   "say scope=sm: a pool is then any pool_warps warps' worth of threads that wait on one SM; or "
                   "arrival=all"});
    }
  }

  [[nodiscard]] Cut cut() const override {
    return cut_;
  }
  [[nodiscard]] Grouping grouping() const override {
    return arrival_ == When::All ? Grouping::Static : Grouping::Timed;
  }
  [[nodiscard]] Charges charges(const MachineFacts& machine) const override {
    Charges charges;
    charges.cycles_per_warp = reorder_cycles_ < 0 ? machine.reorder_cycles : reorder_cycles_;
    charges.cycles_per_cut = split_cycles_;
    if (regrouping_.scope != Scope::Warp) {
      const double bytes = live_state_ < 0 ? machine.live_state_bytes : live_state_;
      (spills_all_ ? charges.bytes_per_thread : charges.bytes_per_moved) = 2 * bytes;
      charges.state_traffic = spills_all_ ? StateTraffic::All : StateTraffic::Moved;
    }
    charges.bytes_per_cycle = bandwidth_;
    charges.withheld_sms = withheld_sms(machine);
    return charges;
  }
  [[nodiscard]] SegmentSchedule schedule(const PlanContext& context) const override {
    if (arrival_ != When::All) {
      return SchedulerModel::schedule(context);
    }
    PlanContext own = context;
    own.machine.withheld_sms = withheld_sms(context.machine);
    return schedule_by_key(own, key_, regrouping_);
  }
  [[nodiscard]] std::vector<std::unique_ptr<Exchange>> exchanges(const PlanContext& context) const override {
    if (arrival_ == When::All) {
      return SchedulerModel::exchanges(context);
    }
    // Machines of one launch run in parallel, and a device serves one thread at a time.
    PlanContext own = context;
    own.on_device = nullptr;
    const auto keys = std::make_shared<const trace::Column<std::uint64_t>>(reorder_keys(own, key_));
    const std::uint32_t count =
        regrouping_.scope == Scope::Launch ? 1 : context.machine.sms - withheld_sms(context.machine);
    std::vector<std::unique_ptr<Exchange>> result;
    for (std::uint32_t i = 0; i < count; ++i) {
      result.push_back(make_pool_exchange(keys, context.order.warp_size, regrouping_, regrouping_.pool_warps,
                                          arrival_ == When::Full ? kNever : timeout_cycles_));
    }
    return result;
  }

 private:
  [[nodiscard]] std::uint32_t withheld_sms(const MachineFacts& machine) const {
    const std::uint32_t withheld = withheld_ < 0 ? machine.withheld_sms : static_cast<std::uint32_t>(withheld_);
    if (withheld >= machine.sms) {
      throw Error(
          ErrorKind::Usage,
          {"no SM is left to shade", "scheduler model 'ser', withheld", std::to_string(withheld),
           "less than " + std::to_string(machine.sms) + ", the machine's SMs", "withhold fewer, or raise machine.sms"});
    }
    return withheld;
  }

  Cut cut_;
  KeyParts key_;
  Regrouping regrouping_;
  When arrival_;
  double timeout_cycles_;
  double reorder_cycles_;
  double live_state_;
  bool spills_all_;
  double bandwidth_;
  double split_cycles_;
  std::int64_t withheld_;
};

std::vector<Parameter> parameters() {
  return {
      scope_parameter("launch"),
      pool_warps_parameter("Size of a pool, for scope pool and for arrival full and timeout. The default is a choice "
                           "(docs/assumptions.md)."),
      declare::choice("arrival", "all", {"all", "full", "timeout"},
                      "When waiting threads are sorted: all: when all threads of the scope wait; full: when they fill "
                      "a pool; timeout: when they fill a pool, or the first of them has waited for `timeout` cycles."),
      declare::real("timeout", 2000.0, "cycles",
                    "Longest wait of a thread for its pool to fill (arrival timeout). The default is a choice "
                    "(docs/assumptions.md).",
                    0, 1e12),
      declare::whole(
          "shader_bits", 17, "bits",
          "Low bits of the pending call's number in the key: 16 for the shader, the 17th for hit or miss; 0: none.", 0,
          17),
      declare::text(
          "hint", "auto", "",
          "The coherence hint: auto (captured where there is one), none, captured, or a name that was given to a "
          "formula or file."),
      declare::whole("hint_bits", 32, "bits", "High bits of the hint in the key, at most as many as it has.", 0, 32),
      declare::choice(
          "spatial", "none", {"none", "hit", "ray"},
          "The place in the key, as a Morton code: of the hit point (a miss: of its direction), of the ray's "
          "origin, or none."),
      declare::whole("spatial_bits", 8, "bits", "Bits of the place for each of its three axes.", 1, 16),
      declare::whole("first_bounce", 0, "rays", "Calls of earlier rays of a thread do not reorder.", 0, 65535),
      declare::whole("site", -1, "", "Only rays of this trace call reorder; -1: all.", -1, 255),
      declare::flag("captured_only", false, "Reorder only rays for which the application made a reorder call."),
      declare::real("reorder_cycles", -1.0, "cycles",
                    "Latency of every warp that an exchange forms; below 0: the machine's.", -1, 1e9),
      declare::real(
          "live_state", -1.0, "bytes",
          "State of a thread that is written before the call and read after it, with the payload; below 0: that of the "
          "launch's shaders, or 84 without their SPIR-V, NVIDIA's figure for Indiana Jones after a reduction from 222.",
          -1, kMaxStateBytes),
      declare::choice("spill", "all", {"all", "moved"},
                      "Threads whose live state goes through memory: all that reorder, or those alone that moved to "
                      "another warp. Scope warp spills nothing."),
      bandwidth_parameter("live state"),
      declare::real(
          "split_cycles", 0.0, "cycles",
          "Latency added to every warp of later segments, reordered or not: the cost of splitting trace calls.", 0,
          1e9),
      declare::whole("withheld", -1, "SMs", "SMs that do not shade while the hardware reorders; -1: the machine's.", -1,
                     65535),
  };
}

const SchedulerModels::Registrar kRegistrar(
    {.kind = {},
     .name = "ser",
     .summary = "Shader execution reordering: threads sorted at pending hit and miss calls",
     .text =
         "A trace call is split in three: traverse (intersection and any-hit calls), reorder, execute (closest hit or "
         "miss). The threads of the scope that wait to execute are sorted by key (shader first, then hint, then "
         "place; equal keys in the order in which they ran last) and cut into warps. In its warp a thread keeps its "
         "lane if it can. Each new warp continues the warp that gives it most threads; its other threads have moved. "
         "Live state is written and read by all threads that reorder, as published times suggest "
         "(docs/validation-ser.md), or, with spill=moved, by those alone that moved.\n\n"
         "Assumes: a thread is exchanged when its ray has ended, whatever the others of its warp do; the scope, when "
         "threads are sorted, and what it costs are parameters, for no vendor documents them; a hit object is executed "
         "where the trace executes it. With arrival all, every thread waits for the last one of the scope, "
         "which no hardware would wait for at launch scope: the upper end of what sorting can do for efficiency, not "
         "for time. withheld says how many SMs trace and sort but do not shade, seen on one laptop GPU.\n\n"
         "Cost: linear in segments and in bytes of the key.",
     .source = "NVIDIA, Shader Execution Reordering white paper (2022); ReRay thesis, section 3.7.4",
     .parameters = parameters()},
    [](const Parameters& parameters) { return std::make_unique<Ser>(parameters); });

}  // namespace
}  // namespace rayreplay::scheduler
