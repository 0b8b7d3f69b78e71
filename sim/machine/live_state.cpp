#include "sim/machine/live_state.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "capture/profile/entry_function.hpp"
#include "capture/spirv/call_graph.hpp"
#include "capture/spirv/facts.hpp"
#include "capture/spirv/trace_calls.hpp"
#include "capture/spirv/trace_sites.hpp"

namespace rayreplay::machine {
namespace {

using trace::EventKind;

constexpr std::size_t kSites = spirv::kLastSite + 1;
using BySite = std::array<std::uint64_t, kSites>;

/// Closest-hit and miss calls of the launch, by the shader and the number of the trace call that they belong to. All
/// numbers are 0 if the trace has none.
std::map<std::uint16_t, BySite> calls_of_sites(const trace::Launch& launch) {
  const trace::ThreadData& data = launch.data;
  std::map<std::uint16_t, BySite> calls;
  std::vector<BySite*> of_ray;  // of the thread
  for (std::size_t thread = 0; thread < data.threads(); ++thread) {
    of_ray.clear();
    const std::uint64_t first_ray = data.ray_offset[thread];
    const auto site_of = [&](std::size_t ray) {
      return data.rays.site.empty() ? std::uint8_t{0} : data.rays.site[first_ray + ray];
    };
    for (std::uint64_t row = data.event_offset[thread]; row < data.event_offset[thread + 1]; ++row) {
      const EventKind kind = data.events.kind[row];
      if (trace::begins_ray(kind)) {
        of_ray.push_back(&calls[data.events.shader[row]]);
      } else if ((kind == EventKind::ClosestHit || kind == EventKind::Miss) && !of_ray.empty()) {
        const std::size_t last = of_ray.size() - 1;
        const std::size_t ray = data.events.ray.empty() ? last : std::min<std::size_t>(data.events.ray[row], last);
        ++(*of_ray[ray])[site_of(ray)];
      }
    }
  }
  return calls;
}

struct Bytes {
  double live = 0;  ///< with the payload
  double payload = 0;
};

/// The trace calls of one shader.
struct TraceCalls {
  std::array<std::optional<Bytes>, kSites> bytes{};  ///< by number; the most of all calls that share it
  std::optional<Bytes> mean;                         ///< over the calls
};

/// A module and its facts.
struct AnalysedModule {
  explicit AnalysedModule(spirv::Module given) : module(std::move(given)), analysed(module) {
    facts = spirv::facts_of(analysed, 0);
  }
  spirv::Module module;
  spirv::Analysed analysed;
  spirv::ModuleFacts facts;
};

/// The module's ray-tracing entry points that reach each function.
std::vector<std::vector<std::uint32_t>> reached_by(const spirv::Module& module) {
  std::vector<std::vector<std::uint32_t>> result(module.functions.size());
  const spirv::CallGraph graph = spirv::call_graph(module);
  for (std::uint32_t e = 0; e < module.entry_points.size(); ++e) {
    const spirv::Instruction& entry = module.entry_points[e];
    const bool traces = entry[1] >= static_cast<spirv::Word>(spv::ExecutionModel::RayGenerationKHR) &&
                        entry[1] <= static_cast<spirv::Word>(spv::ExecutionModel::CallableKHR);
    const auto function = graph.function_of.find(entry[2]);
    if (traces && function != graph.function_of.end()) {
      for (const std::uint32_t f : spirv::reached_from(graph, function->second).functions) {
        result[f].push_back(e);
      }
    }
  }
  return result;
}

TraceCalls trace_calls_of(const AnalysedModule& code, std::uint32_t entry) {
  std::map<spirv::Place, Bytes> bytes;
  for (const spirv::ShaderFacts& shader : code.facts.shaders) {
    if (shader.entry_point == entry) {
      for (const spirv::CallFacts& call : shader.calls) {
        const auto payload = static_cast<double>(call.payload_bytes);
        bytes[call.at.place] = {static_cast<double>(call.live.bytes()) + payload, payload};
      }
    }
  }
  TraceCalls calls;
  Bytes sum;
  double known = 0;
  const auto shaders = reached_by(code.module);
  spirv::SiteNumbers numbers(code.module.entry_points.size());
  for (std::uint32_t f = 0; f < code.module.functions.size(); ++f) {
    const std::vector<spirv::Instruction>& body = code.module.functions[f].body;
    for (std::uint32_t i = 0; i < body.size() && !shaders[f].empty(); ++i) {
      if (!spirv::is_trace_call(body[i].op())) {
        continue;
      }
      const std::uint8_t site = numbers.next(shaders[f]).number;
      if (const auto at = bytes.find({f, i});
          at != bytes.end() && std::ranges::find(shaders[f], entry) != shaders[f].end()) {
        // Both from one call, so that the payload stays a part of the live state.
        if (const auto& before = calls.bytes[site]; !before || before->live < at->second.live) {
          calls.bytes[site] = at->second;
        }
        sum.live += at->second.live;
        sum.payload += at->second.payload;
        ++known;
      }
    }
  }
  if (known > 0) {
    calls.mean = Bytes{sum.live / known, sum.payload / known};
  }
  return calls;
}

/// Modules, each analysed once.
class Modules {
 public:
  /// Without a mean if the shader has no module that can be analysed.
  [[nodiscard]] TraceCalls trace_calls(const trace::Shader& shader) {
    const AnalysedModule* const code = analysed(shader.spirv);
    const auto entry = code == nullptr ? std::nullopt : profile::entry_point(code->module, shader.stage, shader.entry);
    return entry ? trace_calls_of(*code, *entry) : TraceCalls();
  }

 private:
  const AnalysedModule* analysed(const std::vector<std::uint32_t>& words) {
    const auto [known, fresh] = modules_.try_emplace(words);
    if (fresh) {
      std::string reason;
      if (auto module = spirv::parse(words, reason)) {
        known->second = std::make_unique<AnalysedModule>(std::move(*module));
      }
    }
    return known->second.get();
  }

  std::map<std::vector<std::uint32_t>, std::unique_ptr<AnalysedModule>> modules_;  ///< by words; null: no module
};

}  // namespace

std::uint32_t LiveState::payload_in_words(std::uint32_t most) const {
  constexpr double kWord = 4;
  return static_cast<std::uint32_t>(std::min(std::ceil(payload / kWord) * kWord, static_cast<double>(most)));
}

LiveState live_state(const trace::Trace& trace, const trace::Launch& launch) {
  if (std::ranges::all_of(trace.shaders, [](const trace::Shader& shader) { return shader.spirv.empty(); })) {
    return {};
  }
  const bool has_sites = !launch.data.rays.site.empty();
  Modules modules;
  Bytes sum;
  double calls = 0;
  for (const auto& [shader, by_site] : calls_of_sites(launch)) {
    const TraceCalls known = modules.trace_calls(trace.shaders[shader]);
    for (std::size_t site = 0; known.mean && site < kSites; ++site) {
      const auto count = static_cast<double>(by_site[site]);
      const Bytes of_call = has_sites ? known.bytes[site].value_or(*known.mean) : *known.mean;
      sum.live += count * of_call.live;
      sum.payload += count * of_call.payload;
      calls += count;
    }
  }
  return calls > 0 ? LiveState{sum.live / calls, sum.payload / calls, Origin::Counted} : LiveState{};
}

bool depends_on_live_state(const std::string& model) {
  const auto created = scheduler::SchedulerModels::create(model).model;
  const auto bytes_at = [&](double live_state) {
    // Any number of SMs may be withheld.
    const scheduler::Charges charges =
        created->charges({.sms = std::numeric_limits<std::uint32_t>::max(), .live_state_bytes = live_state});
    return std::tuple(charges.bytes_per_moved, charges.bytes_per_thread);
  };
  return bytes_at(1) != bytes_at(2);
}

}  // namespace rayreplay::machine
