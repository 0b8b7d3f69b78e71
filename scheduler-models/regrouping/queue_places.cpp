#include "scheduler-models/regrouping/queue_places.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"

namespace rayreplay::scheduler {
namespace {

constexpr std::size_t kMostKeys = std::size_t{1} << 16U;
constexpr std::size_t kMostQueues = std::size_t{1} << 24U;

}  // namespace

QueuePlaces::QueuePlaces(const Segments& segments, const ModelQueues& queues, std::uint32_t groups,
                         std::uint64_t places)
    : entry_bytes_(queues.entry_bytes),
      is_fixed_(places != 0),
      places_(std::max<std::uint64_t>(places, 1)),
      entries_(segments.size()) {
  const trace::Column<std::uint64_t>& keys = *queues.keys;
  const auto visit_later = [&](const auto& visit) {
    for (std::size_t thread = 0; thread + 1 < segments.first.size(); ++thread) {
      for (std::uint64_t s = std::uint64_t{segments.first[thread]} + 1; s < segments.first[thread + 1]; ++s) {
        visit(static_cast<std::uint32_t>(s));
      }
    }
  };
  std::vector<std::uint64_t> found;
  visit_later([&](std::uint32_t segment) {
    const auto at = std::ranges::lower_bound(found, keys[segment]);
    if (at == found.end() || *at != keys[segment]) {
      found.insert(at, keys[segment]);
      if (found.size() > kMostKeys || found.size() * groups > kMostQueues) {
        throw Error(ErrorKind::Resource,
                    {"the scheduler model has too many queues in memory", "queue places",
                     fmt::format("more than {} keys, for each of {} groups", found.size() - 1, groups),
                     fmt::format("at most {} keys and {} queues", kMostKeys, kMostQueues), "set queue_bytes to 0"});
      }
    }
  });
  visit_later([&](std::uint32_t segment) {
    entries_[segment].queue =
        static_cast<std::uint32_t>(std::ranges::lower_bound(found, keys[segment]) - found.begin());
  });
  keys_ = static_cast<std::uint32_t>(found.size());
  next_.resize(std::size_t{keys_} * groups, 0);
}

void QueuePlaces::append(std::span<const std::uint32_t> lanes, std::uint32_t group) {
  for (const std::uint32_t segment : lanes) {
    if (segment == kNoSegment || std::size_t{segment} + 1 >= entries_.size() ||
        entries_[std::size_t{segment} + 1].queue == kNoQueue) {
      continue;
    }
    QueueEntry& entry = entries_[std::size_t{segment} + 1];
    entry.queue += group * keys_;
    entry.place = next_[entry.queue]++;
    if (!is_fixed_) {
      places_ = std::max<std::uint64_t>(places_, next_[entry.queue]);
    }
  }
}

void QueuePlaces::restart(std::uint32_t group) {
  std::fill_n(next_.begin() + static_cast<std::ptrdiff_t>(std::size_t{group} * keys_), keys_, 0U);
}

QueuePlaces static_places(const Segments& segments, const ModelQueues& queues, const SegmentSchedule& schedule) {
  if (schedule.units() > 1) {
    throw Error(ErrorKind::Internal,
                {"queues in memory need a schedule in which all threads wait together", "queue places",
                 fmt::format("{} units", schedule.units()), "one", "report this: the scheduler model is at fault"});
  }
  QueuePlaces places(segments, queues, 2, 0);
  for (std::uint64_t round = 0; round < schedule.rounds(); ++round) {
    const auto next = static_cast<std::uint32_t>((round + 1) % 2);
    places.restart(next);
    for (std::uint64_t warp = schedule.round_begin[round]; warp < schedule.round_begin[round + 1]; ++warp) {
      places.append(std::span(schedule.segment_at).subspan(warp * schedule.warp_size, schedule.warp_size), next);
    }
  }
  return places;
}

QueuePlaces played_places(const Segments& segments, const ModelQueues& queues, const SegmentSchedule& schedule,
                          std::span<const std::uint32_t> sm_of_warp, std::uint32_t first_sm, std::uint32_t sms,
                          std::uint64_t places) {
  QueuePlaces result(segments, queues, sms, places);
  for (std::uint64_t warp = 0; warp < schedule.warps(); ++warp) {
    result.append(std::span(schedule.segment_at).subspan(warp * schedule.warp_size, schedule.warp_size),
                  sm_of_warp[warp] - first_sm);
  }
  return result;
}

}  // namespace rayreplay::scheduler
