// Configuration of a what-if experiment: what a user may choose, as TOML and as it was resolved against a trace.
//
// Contract: every key has a default, so that the empty configuration is valid. `parse_configuration` reads TOML:
//
//   launch = 0                    # which launch of the trace
//   warp_size = 0                 # lanes; 0: the trace's, or 32 when it has none
//   order = "auto"                # launch order spec; auto: captured when the trace has its warps, else z-order
//   policy = "stage-majority"     # of the replayer
//   packings = []                 # packing specs; empty: every registered packing with its defaults
//   swizzles = []                 # swizzle files, tried beside the packings
//   default_cost = 1              # cycles per shader call, where [costs] says nothing
//   [costs]                       # cycles by shader: a stage ("closest-hit"), a name ("metal") or an id ("4");
//   metal = 20                    # the id wins over the name, the name over the stage
//
// and, for scheduler models (compare.hpp):
//
//   models = []                   # scheduler model specs; not empty: they are compared instead of packings
//   machine = "rtx4090"           # a shipped machine's name, or a path
//   hints = []                    # "NAME:BITS=FORMULA" each (scheduler-models/regrouping/hints.hpp)
//   hint_files = []               # "NAME:BITS=FILE" each
//   registers_per_thread = 64     # of the pipeline: decides how many warps an SM holds
//   cost_source = "default"       # of calls that [shader_costs] does not name: default, spirv, captured
//   start_packing = "identity"    # how threads are packed when they start, for all models
//   cycles_per_instruction = 6    # latency where only instructions are known
//   steps_per_ray = 24            # visits of the ray-tracing unit
//   replay_steps = false          # instead count them, ray by ray, in a rebuilt structure
//   [shader_costs]                # instructions of a call, by shader as in [costs] (sim/machine/costs.hpp)
//
// and a table [cache] with the keys of cache_settings.hpp, which `rayreplay cache` reads.
//
// Unknown keys and values of the wrong type are Usage errors that say where (file, line) and name the nearest known
// key. `resolve` completes and checks it against a trace; its result written with `to_toml` resolves to itself.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/trace/trace.hpp"
#include "sim/machine/costs.hpp"
#include "sim/simt/replayer.hpp"

namespace rayreplay::experiment {

/// In the order given; later entries win within the same rank.
using ShaderCosts = std::vector<std::pair<std::string, std::uint32_t>>;

struct ModelsConfiguration {
  std::vector<std::string> models;
  std::string machine = "rtx4090";
  std::vector<std::string> hints;
  std::vector<std::string> hint_files;
  std::uint32_t registers_per_thread = 64;
  std::string cost_source = "default";
  std::string start_packing = "identity";
  double cycles_per_instruction = 6;
  double steps_per_ray = 24;
  bool replay_steps = false;
  std::vector<machine::HandCost> shader_costs;
};

/// A key of [cache] with its value as text, and where it stands, for messages.
struct CacheSetting {
  std::string key;
  std::string value;
  std::string where;
};

struct Configuration {
  std::uint32_t launch = 0;
  std::uint32_t warp_size = 0;
  std::string order = "auto";
  std::string policy = "stage-majority";
  std::vector<std::string> packings;
  std::vector<std::string> swizzles;
  std::uint32_t default_cost = 1;
  ShaderCosts costs;
  ModelsConfiguration compared;
  std::vector<CacheSetting> cache{};  ///< not yet checked: apply_cache_settings (cache_settings.hpp) does
};

/// `source` names the file in messages.
[[nodiscard]] Configuration parse_configuration(std::string_view toml, const std::string& source);

/// Only `default_cost` and `[costs]`: a file of costs alone. Replaces those of `configuration`.
void parse_costs(std::string_view toml, const std::string& source, Configuration& configuration);

/// "metal=20,closest-hit=5": Usage unless every item is NAME=CYCLES with 0 ≤ CYCLES < 2^32.
[[nodiscard]] ShaderCosts parse_cost_list(std::string_view text);

struct Resolved {
  std::uint32_t launch = 0;
  std::uint32_t warp_size = 0;
  std::string order;  ///< with every parameter
  simt::Policy policy = simt::Policy::StageMajority;
  std::vector<std::string> packings;  ///< with every parameter; identity first, no spec twice
  std::vector<std::string> swizzles;
  std::vector<std::uint32_t> costs;  ///< cycles by shader id; empty: no costs were given
};

/// Errors: Usage (unknown model, parameter, policy, shader; launch or warp size out of range); Missing when the order
/// is "captured" and the trace has no warps.
[[nodiscard]] Resolved resolve(const Configuration& configuration, const trace::Trace& trace);

/// `models`: if given, its keys too.
[[nodiscard]] std::string to_toml(const Resolved& resolved, const trace::Trace& trace,
                                  const ModelsConfiguration* models = nullptr);

}  // namespace rayreplay::experiment
