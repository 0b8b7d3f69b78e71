#include "sim/simt/observed.hpp"

#include <algorithm>
#include <bit>
#include <tuple>
#include <unordered_map>
#include <vector>

#include <tbb/parallel_sort.h>

namespace rayreplay::simt {
namespace {

using trace::EventKind;
using trace::kNone;

constexpr std::uint64_t kNever = ~std::uint64_t{0};

struct Fragment {
  std::uint32_t warp = kNone;
  std::uint64_t ordinal = kNever;
  std::uint32_t call = kNone;  ///< kind << 16 | shader; kNone: no warp event
  std::uint32_t group = 0;
};

/// Counts a thread's calls of each kind in each of its rays.
class CallCounts {
 public:
  /// Some threads return to an earlier ray, so the counts must be kept. Otherwise rays are consecutive, and nothing
  /// needs to be kept.
  explicit CallCounts(bool returns) : returns_(returns) {}

  /// The count before this call.
  std::uint32_t count(std::uint32_t call, std::uint32_t ray) {
    Last& last = last_[call];
    if (last.ray != ray) {
      if (returns_ && last.ray != kNone) {
        earlier_[key(call, last.ray)] = last.times;
      }
      last = {ray, returns_ ? earlier_[key(call, ray)] : 0};
    }
    return last.times++;
  }
  void forget(std::uint32_t call) {
    last_[call] = {};
  }
  void next_thread() {
    earlier_.clear();
  }

 private:
  struct Last {
    std::uint32_t ray = kNone;
    std::uint32_t times = 0;
  };
  static std::uint64_t key(std::uint32_t call, std::uint32_t ray) {
    return std::uint64_t{call} << 32U | ray;
  }
  bool returns_;
  std::vector<Last> last_{std::vector<Last>(trace::kEventKinds << 16U)};
  std::unordered_map<std::uint64_t, std::uint32_t> earlier_;
};

/// One entry per group, with the properties of its events.
std::vector<Fragment> fragments_of(const trace::Launch& launch) {
  const trace::Events& events = launch.data.events;
  std::vector<Fragment> fragments(launch.groups.size());
  CallCounts counts(!events.ray.empty());
  for (std::size_t thread = 0; thread < launch.data.threads(); ++thread) {
    const std::uint64_t begin = launch.data.event_offset[thread];
    const std::uint64_t end = launch.data.event_offset[thread + 1];
    const auto call_of = [&](std::uint64_t e) {
      return static_cast<std::uint32_t>(events.kind[e]) << 16U | events.shader[e];
    };
    std::uint32_t begun = 0;
    for (std::uint64_t e = begin; e < end; ++e) {
      begun += trace::begins_ray(events.kind[e]) ? 1U : 0U;
      if (trace::is_warp_event(events.kind[e])) {
        const std::uint32_t own = events.ray.empty() ? kNone : events.ray[e];
        const std::uint32_t ray = own != kNone ? own : std::max(begun, 1U) - 1;
        Fragment& fragment = fragments[events.group[e]];
        fragment.call = fragment.call == kNone ? call_of(e) : fragment.call;
        fragment.ordinal = std::min(fragment.ordinal, std::uint64_t{ray} << 32U | counts.count(call_of(e), ray));
      }
    }
    for (std::uint64_t e = begin; e < end; ++e) {
      counts.forget(call_of(e));
    }
    counts.next_thread();
  }
  for (std::uint32_t g = 0; g < fragments.size(); ++g) {
    fragments[g].group = g;
    fragments[g].warp = launch.groups.warp[g];
  }
  return fragments;
}

void add(ObservedTally& tally, std::uint64_t lanes) {
  ++tally.groups;
  tally.lanes += lanes;
}

}  // namespace

Observed observe(const trace::Launch& launch) {
  Observed result;
  if (launch.data.events.group.empty()) {
    return result;
  }
  std::vector<Fragment> fragments = fragments_of(launch);
  std::erase_if(fragments, [](const Fragment& fragment) { return fragment.call == kNone; });
  const auto key = [](const Fragment& f) { return std::tuple(f.warp, f.call, f.ordinal); };
  tbb::parallel_sort(fragments.begin(), fragments.end(), [&](const Fragment& a, const Fragment& b) {
    return std::pair(key(a), a.group) < std::pair(key(b), b.group);
  });
  std::vector<std::uint64_t> open;  // masks of the united events of the current key
  for (std::size_t i = 0; i < fragments.size(); ++i) {
    const Fragment& fragment = fragments[i];
    const std::uint64_t mask = launch.groups.lane_mask[fragment.group];
    const auto lanes = static_cast<std::uint64_t>(std::popcount(mask));
    const std::size_t kind = fragment.call >> 16U;
    add(result.fragments, lanes);
    add(result.fragments_by_kind.at(kind), lanes);
    if (i == 0 || fragment.warp == kNone || key(fragment) != key(fragments[i - 1])) {
      open.clear();
    }
    const auto place = std::find_if(open.begin(), open.end(), [&](std::uint64_t other) { return (other & mask) == 0; });
    for (ObservedTally* tally : {&result.united, &result.united_by_kind.at(kind)}) {
      tally->groups += place == open.end() ? 1U : 0U;
      tally->lanes += lanes;
    }
    if (place == open.end()) {
      open.push_back(mask);
    } else {
      *place |= mask;
    }
  }
  return result;
}

}  // namespace rayreplay::simt
