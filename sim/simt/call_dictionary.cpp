#include "sim/simt/call_dictionary.hpp"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "sim/simt/kernel/kernel.hpp"

namespace rayreplay::simt {
namespace {

constexpr std::size_t kMaxNarrowCalls = kernel::kNoCall<std::uint8_t>;
constexpr std::size_t kMaxCalls = kernel::kNoCall<std::uint16_t>;

constexpr std::size_t kWarpEventKinds = [] {
  std::size_t kinds = 0;
  for (std::size_t kind = 0; kind < trace::kEventKinds; ++kind) {
    kinds += trace::is_warp_event(static_cast<trace::EventKind>(kind)) ? 1U : 0U;
  }
  return kinds;
}();

/// By shader << kKindBits | kind: true if the launch has such an event.
std::vector<std::uint8_t> find_calls(const trace::Events& events, std::size_t shaders) {
  using Seen = std::vector<std::uint8_t>;
  oneapi::tbb::enumerable_thread_specific<Seen> workers(Seen(shaders << kernel::kKindBits));
  constexpr std::size_t kGrain = 65'536;
  oneapi::tbb::parallel_for(oneapi::tbb::blocked_range<std::size_t>(0, events.size(), kGrain), [&](const auto& range) {
    Seen& seen = workers.local();
    for (std::size_t row = range.begin(); row != range.end(); ++row) {
      seen[static_cast<std::size_t>(events.shader[row]) << kernel::kKindBits |
           static_cast<std::size_t>(events.kind[row])] = 1;
    }
  });
  Seen all(shaders << kernel::kKindBits);
  for (const Seen& seen : workers) {
    std::transform(all.begin(), all.end(), seen.begin(), all.begin(),
                   [](std::uint8_t a, std::uint8_t b) { return std::max(a, b); });
  }
  return all;
}

bool in_traversal(Call call) {
  return call.kind == trace::EventKind::Intersection || call.kind == trace::EventKind::AnyHit;
}

bool traces_from_ray_generation(Call call, const std::vector<trace::Shader>& shaders) {
  return trace::begins_ray(call.kind) && shaders[call.shader].stage == trace::ShaderStage::RayGeneration;
}

bool is_favoured(Call call, const std::vector<trace::Shader>& shaders, Policy policy) {
  switch (policy) {
    case Policy::StageMajority:
      return in_traversal(call);
    case Policy::Independent:
      return traces_from_ray_generation(call, shaders);
    case Policy::MinShader:
    case Policy::OldestLane:
    case Policy::TraceBarrier:
      break;
  }
  return false;
}

/// Rank of a call under `policy`; sorts by it are stable, over calls ordered by shader, then kind.
int rank(Call call, const std::vector<trace::Shader>& shaders, Policy policy) {
  switch (policy) {
    case Policy::MinShader:
      return static_cast<int>(call.kind);
    case Policy::TraceBarrier:
      return in_traversal(call) ? 0 : traces_from_ray_generation(call, shaders) ? 2 : 1;
    case Policy::StageMajority:
    case Policy::Independent:
    case Policy::OldestLane:
      break;
  }
  return is_favoured(call, shaders, policy) ? 0 : 1;
}

}  // namespace

bool CallDictionary::narrow() const {
  return calls.size() <= kMaxNarrowCalls;
}

std::size_t possible_calls(std::size_t shaders) {
  return shaders * kWarpEventKinds;
}

CallDictionary make_call_dictionary(const trace::Launch& launch, const std::vector<trace::Shader>& shaders,
                                    Policy policy) {
  std::vector<std::uint8_t> occurs;
  if (possible_calls(shaders.size()) > kMaxNarrowCalls) {
    occurs = find_calls(launch.data.events, shaders.size());
  }
  return order_calls(shaders, policy, occurs);
}

CallDictionary order_calls(const std::vector<trace::Shader>& shaders, Policy policy,
                           const std::vector<std::uint8_t>& occurs) {
  CallDictionary dictionary;
  for (std::size_t shader = 0; shader < shaders.size(); ++shader) {
    for (std::size_t k = 0; k < trace::kEventKinds; ++k) {
      const Call call{static_cast<trace::EventKind>(k), static_cast<std::uint16_t>(shader)};
      if (trace::is_warp_event(call.kind) && (occurs.empty() || occurs[shader << kernel::kKindBits | k] != 0)) {
        dictionary.calls.push_back(call);
        dictionary.favoured += is_favoured(call, shaders, policy) ? 1U : 0U;
      }
    }
  }
  if (dictionary.calls.size() > kMaxCalls) {
    throw Error(ErrorKind::Resource,
                {"too many distinct shader calls to replay", "", std::to_string(dictionary.calls.size()),
                 "at most " + std::to_string(kMaxCalls), "split the launch or merge shaders that never differ"});
  }
  std::stable_sort(dictionary.calls.begin(), dictionary.calls.end(),
                   [&](Call a, Call b) { return rank(a, shaders, policy) < rank(b, shaders, policy); });
  return dictionary;
}

}  // namespace rayreplay::simt
