#include "app/report/models/models_timeline.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "app/report/export/timeline.hpp"
#include "app/report/models/models_table.hpp"
#include "base/count_text.hpp"

namespace rayreplay::report {
namespace {

using experiment::CompareRow;

/// An event of a warp, with its time in cycles.
struct Moment {
  double cycles = 0;
  std::uint32_t warp = 0;
  bool starts = false;
};

/// By time. At equal times warps end before others start, so that no slot holds two and no counter overshoots. A warp
/// of zero length still starts before it ends.
std::vector<Moment> moments(std::span<const std::uint32_t> warps, const machine::Placement& placement) {
  std::vector<Moment> list;
  list.reserve(warps.size() * 2);
  for (const std::uint32_t warp : warps) {
    list.push_back({placement.start[warp], warp, true});
    list.push_back({placement.end[warp], warp, false});
  }
  const auto order = [&placement](const Moment& moment) {
    const bool momentary = placement.start[moment.warp] == placement.end[moment.warp];
    return std::tuple(moment.cycles, momentary ? 1 : moment.starts ? 2 : 0, moment.warp, !moment.starts);
  };
  std::sort(list.begin(), list.end(), [&order](const Moment& a, const Moment& b) { return order(a) < order(b); });
  return list;
}

class Writer {
 public:
  Writer(const std::string& path, bool force, const CompareRow& row, const machine::Machine& machine,
         Progress* progress)
      : row_(row), machine_(machine), progress_(progress), timeline_(path, force) {}

  void write() {
    const scheduler::SegmentSchedule& schedule = row_.schedule;
    if (progress_ != nullptr) {
      progress_->start("timeline", machine_.sms + 1);
    }
    number_rounds();
    // Sorts warps by SM (counting sort).
    const std::vector<std::uint32_t>& sm = row_.timing.placement.sm;
    std::vector<std::size_t> begin(machine_.sms + 1);
    for (const std::uint32_t of_warp : sm) {
      ++begin[of_warp + 1];
    }
    for (std::size_t i = 1; i < begin.size(); ++i) {
      begin[i] += begin[i - 1];
    }
    std::vector<std::uint32_t> warps(schedule.warps());
    std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
    for (std::uint32_t warp = 0; warp < warps.size(); ++warp) {
      warps[next[sm[warp]]++] = warp;
    }
    write_launch(warps);
    for (std::uint32_t i = 0; i < machine_.sms; ++i) {
      write_sm(i, std::span(warps).subspan(begin[i], begin[i + 1] - begin[i]));
    }
    timeline_.commit();
    if (progress_ != nullptr) {
      progress_->finish();
    }
  }

 private:
  [[nodiscard]] std::uint64_t nanoseconds(double cycles) const {
    constexpr double kNanosecondsPerMicrosecond = 1e3;
    return static_cast<std::uint64_t>(std::llround(cycles * kNanosecondsPerMicrosecond / machine_.clock_mhz));
  }

  [[nodiscard]] std::span<const std::uint32_t> segments(std::uint32_t warp) const {
    const std::size_t size = row_.schedule.warp_size;
    return std::span(row_.schedule.segment_at).subspan(warp * size, size);
  }

  void number_rounds() {
    const scheduler::SegmentSchedule& schedule = row_.schedule;
    unit_.resize(schedule.warps());
    round_.resize(schedule.warps());
    for (std::size_t unit = 0; unit < schedule.units(); ++unit) {
      for (std::uint64_t round = schedule.unit_begin[unit]; round < schedule.unit_begin[unit + 1]; ++round) {
        for (std::uint64_t warp = schedule.round_begin[round]; warp < schedule.round_begin[round + 1]; ++warp) {
          unit_[warp] = static_cast<std::uint32_t>(unit);
          round_[warp] = static_cast<std::uint32_t>(round - schedule.unit_begin[unit]);
        }
      }
    }
  }

  /// Threads between the end of a segment and the start of their next.
  void write_launch(std::span<const std::uint32_t> warps) {
    const scheduler::Segments& cut = row_.cut;
    std::vector<bool> opens(cut.size()), closes(cut.size());
    for (std::size_t thread = 0; thread + 1 < cut.first.size(); ++thread) {
      if (cut.first[thread] < cut.first[thread + 1]) {
        opens[cut.first[thread]] = true;
        closes[cut.first[thread + 1] - 1] = true;
      }
    }
    timeline_.begin_process(fmt::format("launch: {}", short_spec(row_.model)));
    const std::uint64_t counter = timeline_.add_counter("waiting threads");
    std::int64_t waiting = 0;
    timeline_.count(counter, 0, waiting);
    const std::vector<Moment> all = moments(warps, row_.timing.placement);
    for (std::size_t i = 0; i < all.size();) {
      const std::uint64_t now = nanoseconds(all[i].cycles);
      const std::int64_t before = waiting;
      for (; i < all.size() && nanoseconds(all[i].cycles) == now; ++i) {
        for (const std::uint32_t segment : segments(all[i].warp)) {
          if (segment != scheduler::kNoSegment) {
            waiting += all[i].starts ? (opens[segment] ? 0 : -1) : (closes[segment] ? 0 : 1);
          }
        }
      }
      if (waiting != before) {
        timeline_.count(counter, now, waiting);
      }
    }
    advance();
  }

  void write_sm(std::uint32_t sm, std::span<const std::uint32_t> warps) {
    const machine::Placement& placement = row_.timing.placement;
    timeline_.begin_process(fmt::format("SM {}", sm));
    const std::uint64_t counter = timeline_.add_counter("running warps");
    std::uint32_t slots = 0;
    for (const std::uint32_t warp : warps) {
      slots = std::max(slots, placement.slot[warp] + 1);
    }
    std::vector<std::uint64_t> tracks;
    for (std::uint32_t slot = 0; slot < slots; ++slot) {
      tracks.push_back(timeline_.add_track(fmt::format("warp slot {}", slot)));
    }
    std::int64_t running = 0;
    timeline_.count(counter, 0, running);
    const std::vector<Moment> all = moments(warps, placement);
    for (std::size_t i = 0; i < all.size();) {
      const std::uint64_t now = nanoseconds(all[i].cycles);
      const std::int64_t before = running;
      for (; i < all.size() && nanoseconds(all[i].cycles) == now; ++i) {
        const std::uint32_t warp = all[i].warp;
        const std::uint64_t track = tracks[placement.slot[warp]];
        if (all[i].starts) {
          timeline_.begin_slice(
              track, now, name(warp),
              {{"warp", warp}, {"unit", unit_[warp]}, {"round", round_[warp]}, {"moved", row_.schedule.moved[warp]}});
        } else {
          timeline_.end_slice(track, now);
        }
        running += all[i].starts ? 1 : -1;
      }
      if (running != before) {
        timeline_.count(counter, now, running);
      }
    }
    advance();
  }

  [[nodiscard]] std::string name(std::uint32_t warp) const {
    std::uint32_t lanes = 0;
    std::uint16_t bounce = std::numeric_limits<std::uint16_t>::max();
    for (const std::uint32_t segment : segments(warp)) {
      if (segment != scheduler::kNoSegment) {
        ++lanes;
        bounce = std::min(bounce, row_.cut.bounce[segment]);
      }
    }
    return fmt::format("bounce {}: {}", bounce, counted(lanes, "lane"));
  }

  void advance() const {
    if (progress_ != nullptr) {
      progress_->advance(1);
    }
  }

  const CompareRow& row_;
  const machine::Machine& machine_;
  Progress* progress_;
  output::Timeline timeline_;
  std::vector<std::uint32_t> unit_, round_;
};

}  // namespace

void write_timeline(const std::string& path, bool force, const CompareRow& row, const machine::Machine& machine,
                    Progress* progress) {
  Writer(path, force, row, machine, progress).write();
}

}  // namespace rayreplay::report
