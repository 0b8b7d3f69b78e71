#include "scheduler-models/regrouping/segment_schedule.hpp"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "scheduler-models/warp_assignment.hpp"

namespace rayreplay::scheduler {
namespace {

[[noreturn]] void broken(std::string where, std::string found, std::string expected) {
  throw Error(ErrorKind::Internal, {"a segment schedule breaks its contract", std::move(where), std::move(found),
                                    std::move(expected), "report this: the scheduler model is at fault"});
}

/// Checks for offsets from 0 to `last`, ascending.
void check_offsets(const trace::Column<std::uint64_t>& offsets, std::uint64_t last, const char* name) {
  if (offsets.empty() || offsets.front() != 0 || offsets.back() != last) {
    broken(name, offsets.empty() ? "nothing" : fmt::format("{} to {}", offsets.front(), offsets.back()),
           fmt::format("0 to {}", last));
  }
  for (std::size_t i = 1; i < offsets.size(); ++i) {
    if (offsets[i] < offsets[i - 1]) {
      broken(fmt::format("{}[{}]", name, i), fmt::format("{}", offsets[i]), fmt::format("at least {}", offsets[i - 1]));
    }
  }
}

}  // namespace

void check(const SegmentSchedule& schedule, const Segments& segments) {
  const std::size_t warps = schedule.warps();
  if (schedule.warp_size == 0 || schedule.warp_size > kMaxWarpSize) {
    broken("warp_size", fmt::format("{}", schedule.warp_size), fmt::format("1 to {}", kMaxWarpSize));
  }
  if (schedule.segment_at.size() != warps * schedule.warp_size) {
    broken("segment_at", fmt::format("{} places", schedule.segment_at.size()),
           fmt::format("{} for {} warps", warps * schedule.warp_size, warps));
  }
  check_offsets(schedule.round_begin, warps, "round_begin");
  check_offsets(schedule.unit_begin, schedule.rounds(), "unit_begin");
  if (schedule.unit_sm.size() != schedule.units()) {
    broken("unit_sm", fmt::format("{} entries", schedule.unit_sm.size()), fmt::format("{}", schedule.units()));
  }
  constexpr std::uint64_t kNowhere = ~std::uint64_t{0};
  std::vector<std::uint64_t> round_of(segments.size(), kNowhere);
  std::vector<std::uint32_t> unit_of(segments.size());
  for (std::size_t unit = 0; unit < schedule.units(); ++unit) {
    for (std::uint64_t round = schedule.unit_begin[unit]; round < schedule.unit_begin[unit + 1]; ++round) {
      for (std::uint64_t warp = schedule.round_begin[round]; warp < schedule.round_begin[round + 1]; ++warp) {
        std::uint32_t standing = 0;
        for (std::uint64_t place = warp * schedule.warp_size; place < (warp + 1) * schedule.warp_size; ++place) {
          const std::uint32_t segment = schedule.segment_at[place];
          if (segment == kNoSegment) {
            continue;
          }
          if (segment >= segments.size() || round_of[segment] != kNowhere) {
            broken(fmt::format("segment_at[{}]", place),
                   fmt::format("segment {}{}", segment, segment >= segments.size() ? "" : " for the second time"),
                   fmt::format("each of {} segments once", segments.size()));
          }
          round_of[segment] = round;
          unit_of[segment] = static_cast<std::uint32_t>(unit);
          ++standing;
        }
        if (standing == 0 || schedule.moved[warp] > standing) {
          broken(fmt::format("warp {}", warp),
                 fmt::format("{} segments, of which {} moved", standing, schedule.moved[warp]),
                 "at least one segment, and no more that moved");
        }
      }
    }
  }
  for (std::size_t thread = 0; thread + 1 < segments.first.size(); ++thread) {
    for (std::uint32_t segment = segments.first[thread]; segment < segments.first[thread + 1]; ++segment) {
      if (round_of[segment] == kNowhere) {
        broken(fmt::format("segment {}", segment), "at no place", "at one");
      }
      if (segment > segments.first[thread] &&
          (round_of[segment] <= round_of[segment - 1] || unit_of[segment] != unit_of[segment - 1])) {
        broken(fmt::format("segment {} of thread {}", segment, thread),
               fmt::format("round {} of unit {}", round_of[segment], unit_of[segment]),
               fmt::format("after round {} in unit {}", round_of[segment - 1], unit_of[segment - 1]));
      }
    }
  }
}

}  // namespace rayreplay::scheduler
