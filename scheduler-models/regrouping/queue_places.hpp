// Queues in memory: the places of waiting threads' entries (MODELS.md §7.6, docs/access-streams.md).
//
// Contract: some models keep threads that wait in queues in memory. A model says so by `ModelQueues`: how many bytes a
// thread's entry has, and under which key each segment's thread waits for it. There is a queue for each key and
// *group*; groups do not share queues. Timed models have a group for each exchange. Static ones have two, which take
// turns round by round: while warps read one set of queues, they append to the other. Queues are numbered group by
// group, by ascending key.
//   A warp appends when it starts: `append` gives the threads that go on the next places of their queues, lane by lane.
// So places follow the order in which warps start. A queue has `places` places, which are used again and again (a ring;
// entry n is at place n mod `places`). `restart` empties the queues of a group.
//   `static_places` and `played_places` fill in the places of a whole schedule: round by round, or warp by warp where
// each warp's SM is known. The rings of static schedules hold the most entries that a queue has in a round.
// O(segments · log keys) time for the numbers of queues, O(1) an entry; 8 bytes a segment. Deterministic. Errors:
// Internal for schedules of several units; Resource for more than 2^16 keys or 2^24 queues.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "capture/trace/column.hpp"
#include "scheduler-models/regrouping/segment_schedule.hpp"
#include "scheduler-models/regrouping/segments.hpp"

namespace rayreplay::scheduler {

inline constexpr std::uint32_t kNoQueue = 0xFFFF'FFFFU;

struct ModelQueues {
  std::uint32_t entry_bytes = 0;                             ///< 0: no queues in memory
  std::shared_ptr<const trace::Column<std::uint64_t>> keys;  ///< by segment
};

struct QueueEntry {
  std::uint32_t queue = kNoQueue;
  std::uint32_t place = 0;
};

class QueuePlaces {
 public:
  /// `places`: of each queue; 0: as many as the most entries between two restarts. Segments must outlive the
  /// constructor alone.
  QueuePlaces(const Segments& segments, const ModelQueues& queues, std::uint32_t groups, std::uint64_t places);

  /// The warp of these segments starts; kNoSegment for empty lanes.
  void append(std::span<const std::uint32_t> lanes, std::uint32_t group);
  void restart(std::uint32_t group);

  [[nodiscard]] std::uint32_t entry_bytes() const {
    return entry_bytes_;
  }
  [[nodiscard]] std::uint64_t queues() const {
    return next_.size();
  }
  [[nodiscard]] std::uint64_t places() const {
    return places_;
  }
  /// The entry by which a thread gets to this segment, which is not its first. It exists once the warp of the segment
  /// before has started.
  [[nodiscard]] QueueEntry entry(std::uint32_t segment) const {
    const QueueEntry numbered = entries_[segment];
    return {numbered.queue, static_cast<std::uint32_t>(numbered.place % places_)};
  }
  [[nodiscard]] std::size_t segments() const {
    return entries_.size();
  }
  [[nodiscard]] std::uint64_t bytes() const {
    return entries_.capacity() * sizeof(QueueEntry) + next_.capacity() * sizeof(std::uint32_t);
  }

 private:
  std::uint32_t entry_bytes_;
  std::uint32_t keys_ = 0;
  bool is_fixed_;
  std::uint64_t places_;
  std::vector<std::uint32_t> next_;  ///< by queue: entries appended since its last restart
  /// By segment: until its entry exists, `queue` is the number of its key; kNoQueue for first segments.
  std::vector<QueueEntry> entries_;
};

[[nodiscard]] QueuePlaces static_places(const Segments& segments, const ModelQueues& queues,
                                        const SegmentSchedule& schedule);
/// `sm_of_warp`: from `first_sm` on, one of `sms`. `places`: of each queue.
[[nodiscard]] QueuePlaces played_places(const Segments& segments, const ModelQueues& queues,
                                        const SegmentSchedule& schedule, std::span<const std::uint32_t> sm_of_warp,
                                        std::uint32_t first_sm, std::uint32_t sms, std::uint64_t places);

}  // namespace rayreplay::scheduler
