#include "scheduler-models/regrouping/segments.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>

#include "base/error.hpp"
#include "base/huge_pages.hpp"

namespace rayreplay::scheduler {
namespace {

using trace::EventKind;

constexpr std::size_t kThreadsPerTask = 1024;
constexpr std::uint64_t kMaxSegments = std::uint64_t{kNoSegment} - 1;
constexpr std::uint64_t kMaxBounce = std::numeric_limits<std::uint16_t>::max();

constexpr bool is_pending_call(EventKind kind) {
  return kind == EventKind::ClosestHit || kind == EventKind::Miss;
}

/// Compares eight events at once, one byte each. Kinds are far below 128, so sums never carry into the next byte. A set
/// is the highest bits of its members' bytes.
class EightKinds {
 public:
  explicit EightKinds(const EventKind* kinds) {
    std::memcpy(&bytes_, kinds, sizeof(bytes_));
  }
  [[nodiscard]] std::uint64_t pending_calls() const {
    static_assert(static_cast<int>(EventKind::Miss) + 1 == static_cast<int>(EventKind::ClosestHit));
    return at_least(EventKind::Miss) & ~at_least(EventKind::Callable);
  }
  [[nodiscard]] std::uint64_t begins() const {
    return ~at_least(EventKind::Intersection) & kHighest;
  }
  static std::uint64_t size(std::uint64_t set) {
    return (set >> 7) * kEach >> 56;
  }

 private:
  static constexpr std::uint64_t kEach = 0x0101'0101'0101'0101U;
  static constexpr std::uint64_t kHighest = kEach * 0x80;

  [[nodiscard]] std::uint64_t at_least(EventKind kind) const {
    return (bytes_ + kEach * (0x80 - static_cast<std::uint64_t>(kind))) & kHighest;
  }

  std::uint64_t bytes_ = 0;
};
static_assert(std::endian::native == std::endian::little, "EightKinds counts events from the lowest byte");

/// The thread's first warp event, or `end`.
std::uint64_t first_call(const trace::Events& events, std::uint64_t row, std::uint64_t end) {
  while (row < end && !trace::is_warp_event(events.kind[row])) {
    ++row;
  }
  return row;
}

/// Cuts that depend on kinds alone: at every pending call except one that opens its thread.
class PlainCuts {
 public:
  explicit PlainCuts(const trace::ThreadData& data) : data_(data) {}

  [[nodiscard]] std::uint64_t count(std::size_t thread) const {
    const std::uint64_t end = data_.event_offset[thread + 1];
    const EventKind* const kind = data_.events.kind.data();
    std::uint64_t row = std::min(first_call(data_.events, data_.event_offset[thread], end) + 1, end);
    std::uint64_t cuts = 0;
    for (; row + 8 <= end; row += 8) {
      cuts += EightKinds::size(EightKinds(kind + row).pending_calls());
    }
    for (; row < end; ++row) {
      cuts += is_pending_call(kind[row]) ? 1U : 0U;
    }
    return cuts;
  }
  /// Calls `cut(row, bounce)` at each, in order.
  template <class Sink>
  void visit(std::size_t thread, Sink cut) const {
    const EventKind* const kind = data_.events.kind.data();
    const std::uint64_t end = data_.event_offset[thread + 1];
    std::uint64_t row = first_call(data_.events, data_.event_offset[thread], end);
    std::uint64_t rays = 0;
    if (row < end) {
      rays = trace::begins_ray(kind[row]) ? 1 : 0;
      ++row;
    }
    for (; row + 8 <= end; row += 8) {
      const EightKinds eight(kind + row);
      const std::uint64_t begins = eight.begins();
      for (std::uint64_t calls = eight.pending_calls(); calls != 0; calls &= calls - 1) {
        const std::uint64_t before = (calls & (~calls + 1)) - 1;
        cut(row + static_cast<unsigned>(std::countr_zero(calls)) / 8, bounce(rays + EightKinds::size(begins & before)));
      }
      rays += EightKinds::size(begins);
    }
    for (; row < end; ++row) {
      if (is_pending_call(kind[row])) {
        cut(row, bounce(rays));
      }
      rays += trace::begins_ray(kind[row]) ? 1U : 0U;
    }
  }

 private:
  static std::uint64_t bounce(std::uint64_t rays) {
    return rays == 0 ? 0 : rays - 1;
  }

  const trace::ThreadData& data_;
};

/// Any cut, event by event.
class ChosenCuts {
 public:
  ChosenCuts(const trace::ThreadData& data, const Cut& cut) : data_(data), cut_(cut) {}

  [[nodiscard]] std::uint64_t count(std::size_t thread) const {
    std::uint64_t cuts = 0;
    visit(thread, [&cuts](std::uint64_t, std::uint64_t) { ++cuts; });
    return cuts;
  }
  template <class Sink>
  void visit(std::size_t thread, Sink cut) const {
    if (cut_.at == CutAt::Nothing) {
      return;
    }
    const trace::Events& events = data_.events;
    const std::uint64_t first_ray = cut_.site ? data_.ray_offset[thread] : 0;
    const bool named = !events.ray.empty();
    std::vector<std::uint64_t> reordered;  // rays for which a reorder call was made, in order of the calls
    std::uint64_t begun = 0;
    bool opened = false;  // a warp event was seen
    for (std::uint64_t row = data_.event_offset[thread]; row < data_.event_offset[thread + 1]; ++row) {
      const EventKind kind = events.kind[row];
      begun += trace::begins_ray(kind) ? 1U : 0U;
      std::uint64_t ray = begun == 0 ? 0 : begun - 1;
      if (named) {
        ray = events.ray[row] == trace::kNone ? 0 : events.ray[row];
      }
      if (kind == EventKind::Reorder && cut_.captured_only) {
        reordered.push_back(ray);
      }
      if (!trace::is_warp_event(kind)) {
        continue;
      }
      if (!opened) {
        opened = true;
        continue;
      }
      const bool chosen =
          cut_.at == CutAt::EveryCall
              ? starts_anew(row)
              : (is_pending_call(kind) && ray >= cut_.first_bounce &&
                 (!cut_.site || data_.rays.site[first_ray + ray] == *cut_.site) &&
                 (!cut_.captured_only || std::find(reordered.begin(), reordered.end(), ray) != reordered.end()));
      if (chosen) {
        cut(row, ray);
      }
    }
  }

 private:
  /// EveryCall: for a warp event that is not the first of its thread.
  [[nodiscard]] bool starts_anew(std::uint64_t row) const {
    const trace::Events& events = data_.events;
    const EventKind before = events.kind[row - 1];
    if (trace::begins_ray(events.kind[row])) {
      const bool entered = is_pending_call(before) || before == EventKind::Callable;
      return !entered || events.shader[row - 1] != events.shader[row];
    }
    return !(cut_.inline_any_hit && events.kind[row] == EventKind::AnyHit && before == EventKind::ReportIntersection);
  }

  const trace::ThreadData& data_;
  const Cut& cut_;
};

void check_sites(const trace::Launch& launch, std::uint8_t site) {
  const trace::Column<std::uint8_t>& sites = launch.data.rays.site;
  if (sites.empty() && launch.data.rays.size() > 0) {
    throw Error(ErrorKind::Missing,
                {"the trace does not say which trace call began a ray", "rays.site", "no such column",
                 fmt::format("a column with site {}", site),
                 "capture the application with the layer, which numbers the trace calls of a shader, or cut at all "
                 "of them (site=-1)"});
  }
  if (!sites.empty() && std::find(sites.begin(), sites.end(), site) == sites.end()) {
    const std::set<unsigned> known(sites.begin(), sites.end());
    throw Error(ErrorKind::Missing,
                {"no ray was begun by this trace call", "site", fmt::format("{}", site),
                 fmt::format("one of the sites of the launch: {}", fmt::join(known, ", ")), "choose one of these"});
  }
}

void check_reorder_calls(const trace::Launch& launch) {
  const auto& kinds = launch.data.events.kind;
  if (!kinds.empty() && std::find(kinds.begin(), kinds.end(), EventKind::Reorder) == kinds.end()) {
    throw Error(ErrorKind::Missing,
                {"the trace has no reorder calls", "events.kind", "none of kind Reorder",
                 "the calls with which the application asked for reordering",
                 "capture an application that uses SER (rayreplay capture ser), or leave out captured_only: then every "
                 "pending call may reorder"});
  }
}

/// Computes first[t] in one pass: a thread with events has one segment more than cuts.
template <class Cuts>
void number_segments(const trace::ThreadData& data, const Cuts& cuts, Segments& segments) {
  const std::size_t threads = data.threads();
  // Counts are stored one entry later, where their sums belong.
  segments.first.resize(threads + 1);
  segments.first[0] = 0;
  segments.most_of_a_thread = tbb::parallel_reduce(
      tbb::blocked_range<std::size_t>(0, threads, kThreadsPerTask), std::uint32_t{0},
      [&](const auto& range, std::uint32_t most) {
        for (std::size_t thread = range.begin(); thread != range.end(); ++thread) {
          const bool any = data.event_offset[thread] < data.event_offset[thread + 1];
          const std::uint64_t count = any ? std::min(cuts.count(thread) + 1, kMaxSegments + 1) : 0;
          segments.first[thread + 1] = static_cast<std::uint32_t>(count);
          most = std::max(most, static_cast<std::uint32_t>(count));
        }
        return most;
      },
      [](std::uint32_t a, std::uint32_t b) { return std::max(a, b); });
  std::uint64_t sum = 0;
  for (std::size_t thread = 0; thread < threads; ++thread) {
    sum += segments.first[thread + 1];
    if (sum > kMaxSegments) {
      throw Error(
          ErrorKind::Resource,
          {"the paths fall into too many segments", "", fmt::format("more than {}", kMaxSegments),
           fmt::format("at most {}", kMaxSegments), "cut at fewer calls (first_bounce, site), or split the launch"});
    }
    segments.first[thread + 1] = static_cast<std::uint32_t>(sum);
  }
}

template <class Cuts>
Segments cut_at(const trace::Launch& launch, const Cuts& cuts) {
  const trace::ThreadData& data = launch.data;
  Segments segments;
  number_segments(data, cuts, segments);
  const std::size_t size = segments.first.back();
  segments.event_offset.resize(size + 1);
  prefer_huge_pages(segments.event_offset);
  segments.bounce.resize(size);
  prefer_huge_pages(segments.bounce);
  segments.event_offset[size] = data.events.size();
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, data.threads(), kThreadsPerTask), [&](const auto& range) {
    for (std::size_t thread = range.begin(); thread != range.end(); ++thread) {
      std::uint32_t segment = segments.first[thread];
      if (segment == segments.first[thread + 1]) {
        continue;
      }
      segments.event_offset[segment] = data.event_offset[thread];
      segments.bounce[segment] = 0;
      cuts.visit(thread, [&](std::uint64_t row, std::uint64_t bounce) {
        ++segment;
        segments.event_offset[segment] = row;
        segments.bounce[segment] = static_cast<std::uint16_t>(std::min(bounce, kMaxBounce));
      });
    }
  });
  return segments;
}

}  // namespace

Segments cut_paths(const trace::Launch& launch, const Cut& cut, trace::AcceleratedLaunch* accelerated) {
  const bool pending = cut.at == CutAt::PendingCall;
  if (pending && cut.site) {
    check_sites(launch, *cut.site);
  }
  if (pending && cut.captured_only) {
    check_reorder_calls(launch);
  }
  const bool by_kind_alone =
      pending && cut.first_bounce == 0 && !cut.site && !cut.captured_only && launch.data.events.ray.empty();
  const auto on_cpu = [&] {
    return by_kind_alone ? cut_at(launch, PlainCuts(launch.data)) : cut_at(launch, ChosenCuts(launch.data, cut));
  };
  return cut_paths_twin.run(accelerator_of(accelerated), on_cpu, accelerated, cut);
}

trace::Column<std::uint32_t> thread_of_segments(const Segments& segments) {
  trace::Column<std::uint32_t> thread_of(segments.size());
  const std::size_t threads = segments.first.empty() ? 0 : segments.first.size() - 1;
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, threads, kThreadsPerTask), [&](const auto& range) {
    for (std::size_t thread = range.begin(); thread != range.end(); ++thread) {
      std::fill(thread_of.begin() + segments.first[thread], thread_of.begin() + segments.first[thread + 1],
                static_cast<std::uint32_t>(thread));
    }
  });
  return thread_of;
}

}  // namespace rayreplay::scheduler
