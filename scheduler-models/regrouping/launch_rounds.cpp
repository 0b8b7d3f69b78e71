#include "scheduler-models/regrouping/launch_rounds.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>

#include "base/error.hpp"
#include "base/huge_pages.hpp"
#include "scheduler-models/regrouping/warp_former.hpp"

namespace rayreplay::scheduler {
namespace {

using Keys = trace::Column<std::uint64_t>;

constexpr std::size_t kThreadsPerTask = 4096;
constexpr std::size_t kBlockWarps = 64;
constexpr std::size_t kFormedPerTask = 512;

/// The keys seen so far, in a hash table: most look-ups end at the first slot.
struct SeenKeys {
  static constexpr std::size_t kSlots = 256;
  struct Slot {
    std::uint64_t key = 0;
    std::uint8_t rank = 0;
    bool used = false;
  };
  std::array<Slot, kSlots> slots{};
  std::set<std::uint64_t> all;

  static std::size_t slot_of(std::uint64_t key) {
    return key * 0x9E37'79B9'7F4A'7C15U >> 56;
  }
  void see(std::uint64_t key) {
    Slot& slot = slots[slot_of(key)];
    if ((!slot.used || slot.key != key) && all.size() <= Ranks::kMax) {
      slot = {key, 0, true};
      all.insert(key);
    }
  }
};

/// Calls `visit(segment)` for every segment but the first of its thread.
template <class Visitor>
void visit_later(const Segments& segments, std::size_t thread, Visitor visit) {
  for (std::size_t segment = std::size_t{segments.first[thread]} + 1; segment < segments.first[thread + 1]; ++segment) {
    visit(segment);
  }
}

std::vector<std::uint64_t> find_values(const Segments& segments, const Keys& keys) {
  tbb::enumerable_thread_specific<SeenKeys> workers;
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, segments.first.size() - 1, kThreadsPerTask),
                    [&](const auto& range) {
                      SeenKeys& seen = workers.local();
                      for (std::size_t thread = range.begin(); thread != range.end(); ++thread) {
                        visit_later(segments, thread, [&](std::size_t segment) { seen.see(keys[segment]); });
                      }
                    });
  std::set<std::uint64_t> all;
  for (const SeenKeys& seen : workers) {
    all.insert(seen.all.begin(), seen.all.end());
  }
  return {all.begin(), all.end()};
}

/// State of one round.
class LaunchRun {
 public:
  LaunchRun(const PlanContext& context, const Ranks& ranks, const Regrouping& regrouping)
      : context_(context), ranks_(ranks), regrouping_(regrouping), warp_size_(context.order.warp_size) {
    schedule_.warp_size = warp_size_;
    reserve();
  }

  SegmentSchedule run(std::span<const std::uint32_t> warps) {
    schedule_.round_begin.push_back(0);
    open(warps);
    while (schedule_.moved.size() > schedule_.round_begin.back()) {
      const std::size_t first_warp = schedule_.round_begin.back();
      schedule_.round_begin.push_back(schedule_.moved.size());
      next_round(first_warp);
    }
    schedule_.unit_begin.push_back(0);
    if (schedule_.rounds() > 0) {
      schedule_.unit_begin.push_back(schedule_.rounds());
      schedule_.unit_sm.push_back(kAnySm);
    }
    schedule_.spread = true;
    return std::move(schedule_);
  }

 private:
  /// A run: the threads of one block and rank. Runs are numbered by rank, then by block.
  struct Cursor {
    std::size_t run;
    std::size_t at;  ///< in the run
  };

  /// For the largest possible number of warps, so that no column moves: every warp is full except the last, or the last
  /// of each rank. Unused memory is never touched.
  void reserve() {
    const std::size_t segments = context_.segments.size();
    const std::size_t ragged = regrouping_.split_keys ? ranks_.count : 1;
    const std::size_t warps = std::min<std::size_t>(
        segments, segments / warp_size_ + context_.order.warps() +
                      std::size_t{context_.segments.most_of_a_thread} * std::max<std::size_t>(ragged, 1));
    schedule_.segment_at.reserve(warps * warp_size_);
    prefer_huge_pages(schedule_.segment_at.data(), schedule_.segment_at.capacity() * sizeof(std::uint32_t));
    schedule_.moved.reserve(warps);
  }

  void grow(std::size_t warps) {
    schedule_.moved.resize(schedule_.moved.size() + warps);
    schedule_.segment_at.resize(schedule_.moved.size() * warp_size_);
  }

  std::uint32_t first_segment(std::size_t place) const {
    const std::uint32_t thread = context_.order.thread_at[place];
    if (thread == kNoThread || context_.segments.first[thread] == context_.segments.first[std::size_t{thread} + 1]) {
      return kNoSegment;
    }
    return context_.segments.first[thread];
  }

  /// Omits warps without a segment.
  void open(std::span<const std::uint32_t> warps) {
    const std::size_t blocks = (warps.size() + kBlockWarps - 1) / kBlockWarps;
    std::vector<std::size_t> begin(blocks + 1, 0);
    const auto visit = [&](std::size_t block, const auto& take) {
      for (std::size_t i = block * kBlockWarps; i < std::min(warps.size(), (block + 1) * kBlockWarps); ++i) {
        const std::size_t place = std::size_t{warps[i]} * warp_size_;
        bool any = false;
        for (std::size_t lane = 0; lane < warp_size_ && !any; ++lane) {
          any = first_segment(place + lane) != kNoSegment;
        }
        if (any) {
          take(place);
        }
      }
    };
    tbb::parallel_for(std::size_t{0}, blocks,
                      [&](std::size_t block) { visit(block, [&](std::size_t) { ++begin[block + 1]; }); });
    for (std::size_t block = 0; block < blocks; ++block) {
      begin[block + 1] += begin[block];
    }
    grow(begin[blocks]);
    tbb::parallel_for(std::size_t{0}, blocks, [&](std::size_t block) {
      std::size_t warp = begin[block];
      visit(block, [&](std::size_t place) {
        for (std::size_t lane = 0; lane < warp_size_; ++lane) {
          schedule_.segment_at[warp * warp_size_ + lane] = first_segment(place + lane);
        }
        schedule_.moved[warp++] = 0;
      });
    });
  }

  void next_round(std::size_t first_warp) {
    const std::size_t warps = schedule_.moved.size() - first_warp;
    if (warps >= Waiting::kMaxWarps) {
      throw Error(ErrorKind::Resource, {"a round has too many warps", "", fmt::format("{}", warps),
                                        fmt::format("less than {}", Waiting::kMaxWarps), "split the launch"});
    }
    gather(first_warp, warps);
    number_runs();
    const std::size_t formed = warp_begin_.back();
    if (regrouping_.only_if_fewer && formed >= living_.back()) {
      go_on(first_warp, warps);
      return;
    }
    const std::size_t next = schedule_.moved.size();
    grow(formed);
    givers_.resize(formed);
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, formed, kFormedPerTask), [&](const auto& range) {
      std::array<Waiting, kMaxWarpSize> threads;  // NOLINT(cppcoreguidelines-pro-type-member-init)
      Cursor cursor = find(begin_of(range.begin()));
      for (std::size_t warp = range.begin(); warp != range.end(); ++warp) {
        const std::span<const Waiting> taken(threads.data(), take(cursor, size_of(warp), threads.data()));
        place_threads(taken, warp_size_, regrouping_.keep_lanes,
                      schedule_.segment_at.data() + (next + warp) * warp_size_);
        givers_[warp] = find_givers(taken);
      }
    });
    claims_.start(warps);
    std::array<Waiting, kMaxWarpSize> threads;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    for (std::size_t warp = 0; warp < formed; ++warp) {
      const std::size_t size = size_of(warp);
      schedule_.moved[next + warp] = claims_.moved(static_cast<std::uint32_t>(size), givers_[warp], [&] {
        Cursor cursor = find(begin_of(warp));
        return std::span<const Waiting>(threads.data(), take(cursor, size, threads.data()));
      });
    }
  }

  /// Sorts the continuing threads of each block by rank.
  void gather(std::size_t first_warp, std::size_t warps) {
    const std::size_t block_places = kBlockWarps * warp_size_;
    blocks_ = (warps + kBlockWarps - 1) / kBlockWarps;
    if (threads_.size() < blocks_ * block_places) {
      threads_.resize(blocks_ * block_places);
      prefer_huge_pages(threads_);
    }
    count_.assign(blocks_ * ranks_.count, 0);
    living_.assign(blocks_ + 1, 0);
    tbb::parallel_for(std::size_t{0}, blocks_, [&](std::size_t block) {
      std::array<Waiting, kBlockWarps * kMaxWarpSize> found;      // NOLINT(cppcoreguidelines-pro-type-member-init)
      std::array<std::uint8_t, kBlockWarps * kMaxWarpSize> rank;  // NOLINT(cppcoreguidelines-pro-type-member-init)
      const std::size_t begin = block * kBlockWarps;
      const std::size_t end = std::min(warps, begin + kBlockWarps);
      const std::uint32_t* segment = schedule_.segment_at.data() + (first_warp + begin) * warp_size_;
      const std::uint32_t* const last = schedule_.segment_at.data() + schedule_.segment_at.size() - 1;
      std::size_t size = 0;
      for (std::size_t warp = begin; warp < end; ++warp) {
        const std::size_t before = size;
        for (std::uint32_t lane = 0; lane < warp_size_; ++lane, ++segment) {
          __builtin_prefetch(ranks_.of.data() + static_cast<std::uint32_t>(*std::min(segment + kAhead, last) + 1));
          // kNoSegment + 1 is segment 0, a first segment: it counts as no continuation.
          const std::uint32_t next = *segment + 1;
          const std::uint8_t its = ranks_.of[next];
          found[size] = Waiting::at(next, static_cast<std::uint32_t>(warp), lane);
          rank[size] = its;
          size += its != Ranks::kFirst ? 1 : 0;
        }
        living_[block + 1] += size > before ? 1 : 0;
      }
      std::uint32_t* const count = count_.data() + block * ranks_.count;
      for (std::size_t i = 0; i < size; ++i) {
        ++count[rank[i]];
      }
      std::array<std::uint32_t, Ranks::kMax> next;  // NOLINT(cppcoreguidelines-pro-type-member-init)
      std::uint32_t sum = 0;
      for (std::size_t r = 0; r < ranks_.count; ++r) {
        next[r] = sum;
        sum += count[r];
      }
      Waiting* const sorted = threads_.data() + block * block_places;
      for (std::size_t i = 0; i < size; ++i) {
        sorted[next[rank[i]]++] = found[i];
      }
    });
    for (std::size_t block = 0; block < blocks_; ++block) {
      living_[block + 1] += living_[block];
    }
  }

  /// The start and cursor of each run in the order of all threads, and the first warp of each rank.
  void number_runs() {
    const std::size_t runs = blocks_ * ranks_.count;
    run_begin_.resize(runs + 1);
    run_at_.resize(runs);
    rank_begin_.assign(ranks_.count + std::size_t{1}, 0);
    warp_begin_.assign(1, 0);
    std::vector<std::uint32_t> used(blocks_, 0);
    std::size_t sum = 0;
    for (std::size_t rank = 0; rank < ranks_.count; ++rank) {
      rank_begin_[rank] = sum;
      for (std::size_t block = 0; block < blocks_; ++block) {
        const std::size_t run = rank * blocks_ + block;
        run_begin_[run] = sum;
        run_at_[run] = block * kBlockWarps * warp_size_ + used[block];
        used[block] += count_[block * ranks_.count + rank];
        sum += count_[block * ranks_.count + rank];
      }
      if (regrouping_.split_keys) {
        warp_begin_.push_back(warp_begin_.back() + (sum - rank_begin_[rank] + warp_size_ - 1) / warp_size_);
      }
    }
    run_begin_[runs] = sum;
    rank_begin_[ranks_.count] = sum;
    if (!regrouping_.split_keys) {
      rank_begin_ = {0, sum};
      warp_begin_.push_back((sum + warp_size_ - 1) / warp_size_);
    }
  }

  /// The stretch that holds the warp: its rank with split keys, else the whole round. Warps do not cross stretches.
  [[nodiscard]] std::size_t stretch_of(std::size_t warp) const {
    return static_cast<std::size_t>(std::upper_bound(warp_begin_.begin(), warp_begin_.end(), warp) -
                                    warp_begin_.begin()) -
           1;
  }
  [[nodiscard]] std::size_t begin_of(std::size_t warp) const {
    const std::size_t stretch = stretch_of(warp);
    return rank_begin_[stretch] + (warp - warp_begin_[stretch]) * warp_size_;
  }
  [[nodiscard]] std::size_t size_of(std::size_t warp) const {
    const std::size_t stretch = stretch_of(warp);
    const std::size_t begin = rank_begin_[stretch] + (warp - warp_begin_[stretch]) * warp_size_;
    return std::min<std::size_t>(warp_size_, rank_begin_[stretch + 1] - begin);
  }
  [[nodiscard]] Cursor find(std::size_t thread) const {
    const auto run =
        static_cast<std::size_t>(std::upper_bound(run_begin_.begin(), run_begin_.end(), thread) - run_begin_.begin()) -
        1;
    return {run, thread - run_begin_[run]};
  }
  /// Copies the next `count` threads and advances the cursor.
  std::size_t take(Cursor& cursor, std::size_t count, Waiting* out) const {
    for (std::size_t left = count; left > 0;) {
      const std::size_t in_run = run_begin_[cursor.run + 1] - run_begin_[cursor.run] - cursor.at;
      const std::size_t part = std::min(left, in_run);
      std::copy_n(threads_.data() + run_at_[cursor.run] + cursor.at, part, out);
      out += part;
      left -= part;
      cursor.at += part;
      if (part == in_run && left > 0) {
        ++cursor.run;
        cursor.at = 0;
      }
    }
    return count;
  }

  /// Threads keep their places; warps without threads are dropped.
  void go_on(std::size_t first_warp, std::size_t warps) {
    const std::size_t next = schedule_.moved.size();
    grow(living_.back());
    tbb::parallel_for(std::size_t{0}, blocks_, [&](std::size_t block) {
      std::size_t to = next + living_[block];
      for (std::size_t warp = block * kBlockWarps; warp < std::min(warps, (block + 1) * kBlockWarps); ++warp) {
        std::array<std::uint32_t, kMaxWarpSize> stay;  // NOLINT(cppcoreguidelines-pro-type-member-init)
        bool any = false;
        for (std::size_t lane = 0; lane < warp_size_; ++lane) {
          const std::uint32_t segment = schedule_.segment_at[(first_warp + warp) * warp_size_ + lane] + 1;
          const bool lives = ranks_.of[segment] != Ranks::kFirst;
          stay[lane] = lives ? segment : kNoSegment;
          any = any || lives;
        }
        if (any) {
          std::copy_n(stay.data(), warp_size_, schedule_.segment_at.data() + to * warp_size_);
          schedule_.moved[to++] = 0;
        }
      }
    });
  }

  static constexpr std::ptrdiff_t kAhead = 64;  ///< places

  const PlanContext& context_;
  const Ranks& ranks_;
  const Regrouping& regrouping_;
  std::uint32_t warp_size_;
  SegmentSchedule schedule_;

  std::size_t blocks_ = 0;
  trace::Column<Waiting> threads_;       ///< block by block; the rest of a block's part is unused
  std::vector<std::uint32_t> count_;     ///< threads, by block · ranks + rank
  std::vector<std::size_t> living_;      ///< blocks + 1: warps with a continuing thread before the block
  std::vector<std::size_t> run_begin_;   ///< runs + 1
  std::vector<std::size_t> run_at_;      ///< by run: in threads_
  std::vector<std::size_t> rank_begin_;  ///< stretches + 1, in threads
  std::vector<std::size_t> warp_begin_;  ///< stretches + 1, in warps
  trace::Column<Givers> givers_;         ///< by warp formed
  Claims claims_;
};

}  // namespace

std::optional<Ranks> rank_keys(const Segments& segments, const Keys& keys) {
  const std::vector<std::uint64_t> values = find_values(segments, keys);
  if (values.size() > Ranks::kMax - 1) {
    return std::nullopt;
  }
  SeenKeys known;
  for (std::size_t rank = 0; rank < values.size(); ++rank) {
    known.slots[SeenKeys::slot_of(values[rank])] = {values[rank], static_cast<std::uint8_t>(rank), true};
  }
  Ranks ranks;
  ranks.count = static_cast<std::uint32_t>(values.size());
  ranks.of.resize(segments.size() + 1);
  prefer_huge_pages(ranks.of);
  ranks.of[segments.size()] = Ranks::kFirst;
  tbb::parallel_for(
      tbb::blocked_range<std::size_t>(0, segments.first.size() - 1, kThreadsPerTask), [&](const auto& range) {
        for (std::size_t thread = range.begin(); thread != range.end(); ++thread) {
          if (segments.first[thread] < segments.first[thread + 1]) {
            ranks.of[segments.first[thread]] = Ranks::kFirst;
          }
          visit_later(segments, thread, [&](std::size_t segment) {
            const SeenKeys::Slot& slot = known.slots[SeenKeys::slot_of(keys[segment])];
            ranks.of[segment] =
                slot.key == keys[segment]
                    ? slot.rank
                    : static_cast<std::uint8_t>(std::lower_bound(values.begin(), values.end(), keys[segment]) -
                                                values.begin());
          });
        }
      });
  return ranks;
}

SegmentSchedule schedule_launch(const PlanContext& context, std::span<const std::uint32_t> warps, const Ranks& ranks,
                                const Regrouping& regrouping) {
  return LaunchRun(context, ranks, regrouping).run(warps);
}

}  // namespace rayreplay::scheduler
