// Rules of a launch around its events: size, lengths, offsets, warps and lanes, groups.
#include <algorithm>

#include <fmt/format.h>

#include "base/count_text.hpp"
#include "capture/trace/file/storage.hpp"
#include "capture/trace/parallel_search.hpp"
#include "capture/trace/rules/rules.hpp"

namespace rayreplay::trace {
namespace {

constexpr std::uint32_t kGreatestWarpSize = 64;

bool check_lengths(const Launch& launch, const std::string& path, FaultList& faults) {
  const auto expect = [&](const std::string& dataset, std::uint64_t found, std::uint64_t expected, const char* of) {
    if (found != expected) {
      faults.add(path + dataset, "the column has another number of rows than its table", std::to_string(found),
                 fmt::format("{}{}", expected, of));
    }
    return found == expected;
  };
  const ThreadData& data = launch.data;
  const std::uint64_t threads = launch.size.threads();
  bool sound = expect("/threads/ray_offset", data.ray_offset.size(), threads + 1, ", one more than threads");
  sound &= expect("/threads/event_offset", data.event_offset.size(), threads + 1, ", one more than threads");
  visit_rays(data.rays, [&](const std::string& name, const auto& column, bool optional) {
    if (!optional || !column.empty()) {
      sound &= expect("/rays/" + name, column.size(), data.rays.size(), ", the number of rays");
    }
  });
  sound &= expect("/rays/hint_bits", data.rays.hint_bits.size(), data.rays.hint.size(), ", as hint has");
  visit_events(data.events, [&](const std::string& name, const auto& column, bool optional) {
    if (!optional || !column.empty()) {
      sound &= expect("/events/" + name, column.size(), data.events.size(), ", the number of events");
    }
  });
  if (!launch.thread_warp.empty() || !launch.thread_lane.empty()) {
    sound &= expect("/threads/warp", launch.thread_warp.size(), threads, ", the number of threads");
    sound &= expect("/threads/lane", launch.thread_lane.size(), threads, ", the number of threads");
  }
  if (!launch.thread_path.empty()) {
    sound &= expect("/threads/path", launch.thread_path.size(), threads, ", the number of threads");
  }
  if (const Accesses& accesses = data.accesses; !accesses.offset.empty() || accesses.size() != 0) {
    sound &= expect("/threads/access_offset", accesses.offset.size(), threads + 1, ", one more than threads");
  }
  visit_accesses(data.accesses, [&](const std::string& name, const auto& column) {
    sound &= expect("/accesses/" + name, column.size(), data.accesses.size(), ", the number of accesses");
  });
  const Groups& groups = launch.groups;
  sound &= expect("/groups/sm", groups.sm.size(), groups.size(), ", the number of groups");
  sound &= expect("/groups/lane_mask", groups.lane_mask.size(), groups.size(), ", the number of groups");
  sound &= expect("/groups/clock", groups.clock.size(), groups.size(), ", the number of groups");
  return sound;
}

bool check_offsets(const Column<std::uint64_t>& offsets, std::uint64_t rows, const std::string& dataset,
                   FaultList& faults) {
  if (offsets.front() != 0) {
    faults.add_row(dataset, 0, "the offsets do not start at 0", std::to_string(offsets.front()), "0");
    return false;
  }
  if (const auto row = first_row(1, offsets.size(), [&](std::size_t i) { return offsets[i] < offsets[i - 1]; })) {
    faults.add_row(dataset, *row, "the offsets decrease", std::to_string(offsets[*row]),
                   fmt::format("at least {}, the one before", offsets[*row - 1]));
    return false;
  }
  if (offsets.back() != rows) {
    faults.add_row(dataset, offsets.size() - 1, "the offsets do not end at the number of rows",
                   std::to_string(offsets.back()), std::to_string(rows));
    return false;
  }
  return true;
}

void check_warps(const Launch& launch, const std::string& path, std::uint32_t warp_size, FaultList& faults) {
  const auto& warps = launch.thread_warp;
  const auto& lanes = launch.thread_lane;
  if (warps.empty()) {
    return;
  }
  if (warp_size == 0 || warp_size > kGreatestWarpSize) {
    faults.add("/warp_size", "the trace has warps but no usable warp size", std::to_string(warp_size), "1 to 64");
    return;
  }
  // Dense ids cannot reach the number of threads; without this a single row could ask for 32 GB below.
  if (const auto row = first_row(0, warps.size(), [&](std::size_t i) { return warps[i] >= warps.size(); })) {
    faults.add_row(path + "/threads/warp", *row, "the warp ids are not dense", std::to_string(warps[*row]),
                   fmt::format("less than {}, the number of threads", warps.size()));
    return;
  }
  if (const auto row = first_row(0, lanes.size(), [&](std::size_t i) { return lanes[i] >= warp_size; })) {
    faults.add_row(path + "/threads/lane", *row, "the lane is out of range", std::to_string(lanes[*row]),
                   fmt::format("less than {}, the warp size", warp_size));
    return;
  }
  std::vector<std::uint64_t> taken(std::size_t{*std::max_element(warps.begin(), warps.end())} + 1);
  for (std::size_t i = 0; i < warps.size(); ++i) {
    const std::uint64_t lane = std::uint64_t{1} << lanes[i];
    if ((taken[warps[i]] & lane) != 0) {
      faults.add_row(path + "/threads/lane", i, "two threads hold the same lane of a warp",
                     fmt::format("lane {} of warp {} again", lanes[i], warps[i]), "a lane of its own");
      return;
    }
    taken[warps[i]] |= lane;
  }
  const auto unused = std::find(taken.begin(), taken.end(), 0);
  if (unused != taken.end()) {
    faults.add(path + "/threads/warp", "the warp ids are not dense",
               fmt::format("no thread in warp {}", unused - taken.begin()),
               fmt::format("threads in every warp up to {}", taken.size() - 1));
  }
}

void check_groups(const Launch& launch, const std::string& path, std::uint32_t warp_size, FaultList& faults) {
  const Groups& groups = launch.groups;
  if (groups.size() == 0) {
    return;
  }
  if (warp_size == 0 || warp_size > kGreatestWarpSize) {
    faults.add("/warp_size", "the trace has groups but no usable warp size", std::to_string(warp_size), "1 to 64");
    return;
  }
  if (!launch.thread_warp.empty()) {
    const std::uint64_t warps =
        std::uint64_t{*std::max_element(launch.thread_warp.begin(), launch.thread_warp.end())} + 1;
    if (const auto row = first_row(0, groups.size(),
                                   [&](std::size_t i) { return groups.warp[i] >= warps && groups.warp[i] != kNone; })) {
      faults.add_row(path + "/groups/warp", *row, "the group's warp is out of range", std::to_string(groups.warp[*row]),
                     fmt::format("less than {}, the number of warps", warps));
    }
  }
  const std::uint64_t lanes = warp_size == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << warp_size) - 1;
  const auto bad_mask = [&](std::size_t i) { return groups.lane_mask[i] == 0 || (groups.lane_mask[i] & ~lanes) != 0; };
  if (const auto row = first_row(0, groups.size(), bad_mask)) {
    faults.add_row(path + "/groups/lane_mask", *row, "the group's lanes are none, or beyond the warp size",
                   fmt::format("{:#x}", groups.lane_mask[*row]), fmt::format("1 to {:#x}", lanes));
  }
}

bool check_both_offsets(const Launch& launch, const std::string& path, FaultList& faults) {
  const bool rays =
      check_offsets(launch.data.ray_offset, launch.data.rays.size(), path + "/threads/ray_offset", faults);
  const bool events =
      check_offsets(launch.data.event_offset, launch.data.events.size(), path + "/threads/event_offset", faults);
  const bool accesses =
      launch.data.accesses.offset.empty() ||
      check_offsets(launch.data.accesses.offset, launch.data.accesses.size(), path + "/threads/access_offset", faults);
  return rays && events && accesses;
}

}  // namespace

bool check_launch_columns(const Launch& launch, const std::string& path, FaultList& faults) {
  return check_lengths(launch, path, faults) && check_both_offsets(launch, path, faults);
}

bool check_launch_frame(const Launch& launch, const std::string& path, std::uint32_t warp_size, FaultList& faults) {
  if (const std::string fault = launch_size_fault(launch.size); !fault.empty()) {
    faults.add(path, fault, "", "1 to 2^32 - 1 threads");
    return false;
  }
  if (!check_lengths(launch, path, faults)) {
    return false;
  }
  if (const std::size_t events = launch.thread_path.empty() ? 0 : launch.data.events.size();
      launch.data.events.path.size() != events) {
    faults.add(path + "/events/path", "events and threads have paths together, or neither",
               counted(launch.data.events.path.size(), "row"), std::to_string(events));
    return false;
  }
  const bool sound = check_both_offsets(launch, path, faults);
  check_warps(launch, path, warp_size, faults);
  check_groups(launch, path, warp_size, faults);
  return sound;
}

}  // namespace rayreplay::trace
