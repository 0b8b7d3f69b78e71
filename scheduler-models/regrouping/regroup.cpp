#include "scheduler-models/regrouping/regroup.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "base/error.hpp"
#include "scheduler-models/regrouping/launch_rounds.hpp"
#include "scheduler-models/regrouping/units.hpp"
#include "scheduler-models/regrouping/warp_former.hpp"
#include "scheduler-models/sort_threads.hpp"

namespace rayreplay::scheduler {
namespace {

using Keys = trace::Column<std::uint64_t>;
using Lasts = trace::Column<std::uint8_t>;  ///< by segment: 1 for the last one of a thread

/// Sorts waiting threads by key, stably in the order of their places, and finds the ends of warps.
class Sorter {
 public:
  Sorter(const Keys& keys, std::uint32_t warp_size, bool split_keys)
      : keys_(keys), warp_size_(warp_size), split_keys_(split_keys) {}

  void sort(const std::vector<Waiting>& waiting) {
    items_.resize(waiting.size());
    scratch_.resize(waiting.size());
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      items_[i] = {keys_[waiting[i].segment], static_cast<std::uint32_t>(i)};
    }
    sort_by_key(items_, scratch_);
    sorted_.resize(waiting.size());
    ends_.clear();
    std::size_t begin = 0;
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      sorted_[i] = waiting[items_[i].thread];
      if (i > begin && (i - begin == warp_size_ || (split_keys_ && items_[i].key != items_[i - 1].key))) {
        ends_.push_back(i);
        begin = i;
      }
    }
    if (!waiting.empty()) {
      ends_.push_back(waiting.size());
    }
  }
  [[nodiscard]] const std::vector<Waiting>& sorted() const {
    return sorted_;
  }
  /// One end per warp.
  [[nodiscard]] const std::vector<std::size_t>& ends() const {
    return ends_;
  }

 private:
  const Keys& keys_;
  std::uint32_t warp_size_;
  bool split_keys_;
  trace::Column<KeyedThread> items_, scratch_;
  std::vector<Waiting> sorted_;
  std::vector<std::size_t> ends_;
};

/// Returns the number of moved threads.
std::uint32_t form(std::span<const Waiting> threads, std::uint32_t warp_size, bool keep_lanes, Claims& claims,
                   std::uint32_t* segment_at) {
  place_threads(threads, warp_size, keep_lanes, segment_at);
  return claims.moved(static_cast<std::uint32_t>(threads.size()), find_givers(threads), [&] { return threads; });
}

/// Lanes of the threads that come from another warp than `continued`.
std::uint64_t find_moved_lanes(std::span<const Waiting> threads, std::uint32_t continued, const FormedWarp& warp) {
  std::uint64_t lanes = 0;
  for (const Waiting& thread : threads) {
    if (thread.warp() != continued) {
      const auto lane = std::ranges::find(warp.segment_at, thread.segment) - warp.segment_at.begin();
      lanes |= std::uint64_t{1} << lane;
    }
  }
  return lanes;
}

/// The rounds of one or more units.
struct Part {
  trace::Column<std::uint32_t> segment_at;
  trace::Column<std::uint32_t> moved;
  std::vector<std::uint64_t> round_warps;  ///< by round
  std::vector<std::uint64_t> unit_rounds;  ///< by unit
};

class UnitRun {
 public:
  UnitRun(const PlanContext& context, const Keys& keys, const Lasts& last, const Regrouping& regrouping)
      : context_(context),
        last_(last),
        regrouping_(regrouping),
        warp_size_(context.order.warp_size),
        sorter_(keys, warp_size_, regrouping.split_keys) {}

  /// `warps`: of the assignment, in the order in which they start.
  void run(std::span<const std::uint32_t> warps, Part& part) {
    std::size_t first_warp = part.moved.size();
    open(warps, part);
    std::uint64_t rounds = 0;
    while (part.moved.size() > first_warp) {
      part.round_warps.push_back(part.moved.size() - first_warp);
      ++rounds;
      const std::size_t next = part.moved.size();
      next_round(first_warp, part);
      first_warp = next;
    }
    part.unit_rounds.push_back(rounds);
  }

 private:
  /// The first round is the launch order itself.
  void open(std::span<const std::uint32_t> warps, Part& part) {
    for (const std::uint32_t warp : warps) {
      bool any = false;
      const std::size_t place = part.segment_at.size();
      for (std::size_t lane = 0; lane < warp_size_; ++lane) {
        const std::uint32_t thread = context_.order.thread_at[std::size_t{warp} * warp_size_ + lane];
        std::uint32_t segment = kNoSegment;
        if (thread != kNoThread && context_.segments.first[thread] < context_.segments.first[thread + 1]) {
          segment = context_.segments.first[thread];
          any = true;
        }
        part.segment_at.push_back(segment);
      }
      if (any) {
        part.moved.push_back(0);
      } else {
        part.segment_at.resize(place);
      }
    }
  }

  void next_round(std::size_t first_warp, Part& part) {
    waiting_.clear();
    std::uint32_t living = 0;  // warps with a continuing thread
    const std::size_t warps = part.moved.size() - first_warp;
    for (std::size_t warp = 0; warp < warps; ++warp) {
      const std::size_t before = waiting_.size();
      for (std::size_t lane = 0; lane < warp_size_; ++lane) {
        const std::uint32_t segment = part.segment_at[(first_warp + warp) * warp_size_ + lane];
        if (segment != kNoSegment && last_[segment] == 0) {
          waiting_.push_back(Waiting::at(segment + 1, living, static_cast<std::uint32_t>(lane)));
        }
      }
      living += waiting_.size() > before ? 1U : 0U;
    }
    if (living >= Waiting::kMaxWarps) {
      throw Error(ErrorKind::Resource, {"a round has too many warps", "", fmt::format("{}", living),
                                        fmt::format("less than {}", Waiting::kMaxWarps), "split the launch"});
    }
    sorter_.sort(waiting_);
    if (regrouping_.only_if_fewer && sorter_.ends().size() >= living) {
      go_on(living, part);
      return;
    }
    claims_.start(living);
    std::size_t begin = 0;
    for (const std::size_t end : sorter_.ends()) {
      const std::size_t place = part.segment_at.size();
      part.segment_at.resize(place + warp_size_);
      part.moved.push_back(form(std::span(sorter_.sorted()).subspan(begin, end - begin), warp_size_,
                                regrouping_.keep_lanes, claims_, part.segment_at.data() + place));
      begin = end;
    }
  }

  /// Threads keep their places; warps without threads are dropped.
  void go_on(std::uint32_t living, Part& part) const {
    const std::size_t place = part.segment_at.size();
    part.segment_at.resize(place + std::size_t{living} * warp_size_, kNoSegment);
    part.moved.resize(part.moved.size() + living, 0);
    for (const Waiting& thread : waiting_) {
      part.segment_at[place + std::size_t{thread.warp()} * warp_size_ + thread.lane()] = thread.segment;
    }
  }

  const PlanContext& context_;
  const Lasts& last_;
  const Regrouping& regrouping_;
  std::uint32_t warp_size_;
  Sorter sorter_;
  Claims claims_;
  std::vector<Waiting> waiting_;
};

Lasts find_last_segments(const Segments& segments) {
  Lasts last(segments.size());
  const std::size_t threads = segments.first.empty() ? 0 : segments.first.size() - 1;
  constexpr std::size_t kThreadsPerTask = 4096;
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, threads, kThreadsPerTask), [&](const auto& range) {
    for (std::size_t thread = range.begin(); thread != range.end(); ++thread) {
      const std::uint32_t begin = segments.first[thread];
      const std::uint32_t end = segments.first[thread + 1];
      std::fill(last.begin() + begin, last.begin() + end, std::uint8_t{0});
      if (begin != end) {
        last[end - 1] = 1;
      }
    }
  });
  return last;
}

/// Appends the parts' columns; units without segments are omitted.
SegmentSchedule join(std::vector<Part>& parts, const Units& units, std::uint32_t warp_size) {
  SegmentSchedule schedule;
  schedule.warp_size = warp_size;
  std::size_t warps = 0;
  for (const Part& part : parts) {
    warps += part.moved.size();
  }
  schedule.segment_at.reserve(warps * warp_size);
  schedule.moved.reserve(warps);
  schedule.round_begin.push_back(0);
  schedule.unit_begin.push_back(0);
  std::size_t unit = 0;
  for (Part& part : parts) {
    schedule.segment_at.insert(schedule.segment_at.end(), part.segment_at.begin(), part.segment_at.end());
    schedule.moved.insert(schedule.moved.end(), part.moved.begin(), part.moved.end());
    for (const std::uint64_t round : part.round_warps) {
      schedule.round_begin.push_back(schedule.round_begin.back() + round);
    }
    for (const std::uint64_t rounds : part.unit_rounds) {
      if (rounds > 0) {
        schedule.unit_begin.push_back(schedule.unit_begin.back() + rounds);
        schedule.unit_sm.push_back(units.sm[unit]);
      }
      ++unit;
    }
    part = {};
  }
  return schedule;
}

}  // namespace

void form_warps(std::span<const Arrival> waiting, const Keys& keys, std::uint32_t warp_size,
                const Regrouping& regrouping, std::vector<FormedWarp>& out) {
  std::vector<Waiting> list;
  list.reserve(waiting.size());
  std::uint32_t earlier = 0;
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    earlier += i > 0 && waiting[i].warp != waiting[i - 1].warp ? 1U : 0U;
    list.push_back(Waiting::at(waiting[i].segment, earlier, waiting[i].lane));
  }
  Sorter sorter(keys, warp_size, regrouping.split_keys);
  sorter.sort(list);
  Claims claims;
  claims.start(std::size_t{earlier} + 1);
  std::size_t begin = 0;
  for (const std::size_t end : sorter.ends()) {
    FormedWarp& warp = out.emplace_back();
    warp.segment_at.fill(kNoSegment);
    const auto threads = std::span(sorter.sorted()).subspan(begin, end - begin);
    warp.moved = form(threads, warp_size, regrouping.keep_lanes, claims, warp.segment_at.data());
    warp.moved_lanes = find_moved_lanes(threads, claims.continued(), warp);
    begin = end;
  }
}

namespace {

SegmentSchedule rounds_on_cpu(const PlanContext& context, const Keys& keys, const Regrouping& regrouping) {
  const Units units = make_units(context, regrouping);
  if (regrouping.scope == Scope::Launch && context.segments.size() > 0) {
    if (const std::optional<Ranks> ranks = rank_keys(context.segments, keys)) {
      return schedule_launch(context, units.warps, *ranks, regrouping);
    }
  }
  const Lasts last = find_last_segments(context.segments);
  const std::size_t count = units.begin.size() - 1;
  // A few thousand warps a task, for units of any size.
  constexpr std::size_t kWarpsPerTask = 4096;
  const std::size_t units_per_task =
      std::max<std::size_t>(1, kWarpsPerTask * count / std::max<std::size_t>(1, units.warps.size()));
  std::vector<Part> parts((count + units_per_task - 1) / units_per_task);
  tbb::parallel_for(std::size_t{0}, parts.size(), [&](std::size_t p) {
    UnitRun run(context, keys, last, regrouping);
    for (std::size_t unit = p * units_per_task; unit < std::min(count, (p + 1) * units_per_task); ++unit) {
      run.run(units.of(unit), parts[p]);
    }
  });
  SegmentSchedule schedule = join(parts, units, context.order.warp_size);
  schedule.spread = regrouping.scope == Scope::Launch;
  schedule.sm_source = units.source;
  return schedule;
}

}  // namespace

SegmentSchedule schedule_rounds(const PlanContext& context, const Keys& keys, const Regrouping& regrouping) {
  return regroup_twin.run(
      accelerator_of(context.on_device), [&] { return rounds_on_cpu(context, keys, regrouping); }, context, &keys,
      std::nullopt, regrouping);
}

SegmentSchedule schedule_by_key(const PlanContext& context, const std::optional<KeyParts>& parts,
                                const Regrouping& regrouping) {
  const auto on_cpu = [&] {
    const Keys keys = parts ? keys_on_cpu(context, *parts) : Keys(context.segments.size(), 0);
    return rounds_on_cpu(context, keys, regrouping);
  };
  return regroup_twin.run(accelerator_of(context.on_device), on_cpu, context, nullptr, parts, regrouping);
}

}  // namespace rayreplay::scheduler
