// Rules of accesses to buffers and images: the table of their sites, and the accesses of each launch.
#include <algorithm>
#include <array>
#include <limits>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "capture/trace/parallel_search.hpp"
#include "capture/trace/rules/rules.hpp"

namespace rayreplay::trace {
namespace {

constexpr const char* kSites = "/profile/access_sites";
constexpr std::uint32_t kMostLanes = 64;

std::string column_of(const char* name) {
  return fmt::format("{}/{}", kSites, name);
}

/// Whether the number of an enumeration is one that there is.
template <class Kind>
bool check_kind(const char* column, std::size_t row, Kind kind, std::size_t kinds, FaultList& faults) {
  const auto number = static_cast<std::size_t>(kind);
  if (number >= kinds) {
    faults.add_row(column_of(column), row, "there is no such value", std::to_string(number),
                   fmt::format("less than {}", kinds));
  }
  return number < kinds;
}

/// Columns of a site that depend on its space.
void check_space(const AccessSites& sites, std::size_t row, FaultList& faults) {
  const bool image = sites.space[row] == AccessSpace::Image;
  const bool descriptor = sites.space[row] == AccessSpace::Descriptor;
  if (!descriptor && !image && (sites.set[row] != 0 || sites.binding[row] != 0 || sites.element[row] != 0)) {
    faults.add_row(
        column_of("set"), row, "a site without a descriptor names one",
        fmt::format("set {}, binding {}, element {}", sites.set[row], sites.binding[row], sites.element[row]),
        "0, 0, 0");
  }
  if (image && sites.element[row] != 0) {
    faults.add_row(column_of("element"), row, "the element of an image is in the addresses",
                   std::to_string(sites.element[row]), "0");
  }
  if (!image && sites.kind[row] == AccessKind::Sample) {
    faults.add_row(column_of("kind"), row, "only images are sampled", to_string(sites.kind[row]),
                   "load, store or atomic");
  }
  if (!image && sites.bytes[row] == 0) {
    faults.add_row(column_of("bytes"), row, "an access has no bytes", "0", "1 or more");
  }
  if (image && sites.bytes[row] != 0) {
    faults.add_row(column_of("bytes"), row, "an access to an image has bytes", std::to_string(sites.bytes[row]), "0");
  }
}

/// Checks the sums of a site against each other: a group has a lane, a line has a sector, and distinct ones are some of
/// those of all groups.
void check_sums(const AccessSites& sites, std::size_t row, FaultList& faults) {
  const auto at_most = [&](const char* column, std::uint64_t found, const char* of, std::uint64_t most) {
    if (found > most) {
      faults.add_row(column_of(column), row, "a site's sums contradict each other", std::to_string(found),
                     fmt::format("at most {}, its {}", most, of));
    }
  };
  at_most("groups", sites.groups[row], "lanes", sites.lanes[row]);
  at_most("sectors", sites.sectors[row], "group_sectors", sites.group_sectors[row]);
  at_most("lines", sites.lines[row], "group_lines", sites.group_lines[row]);
  at_most("lines", sites.lines[row], "sectors", sites.sectors[row]);
  at_most("group_lines", sites.group_lines[row], "group_sectors", sites.group_sectors[row]);
  if (sites.space[row] == AccessSpace::Image && sites.group_sectors[row] != 0) {
    faults.add_row(column_of("group_sectors"), row, "accesses to an image have sectors",
                   std::to_string(sites.group_sectors[row]), "0: their places in memory are not known");
  }
}

/// Events and addresses of a launch's accesses, by thread.
void check_rows(const Launch& launch, const AccessSites& sites, const std::string& path, FaultList& faults) {
  const ThreadData& data = launch.data;
  const Accesses& accesses = data.accesses;
  if (const auto row = first_row(0, accesses.size(), [&](std::size_t i) { return accesses.site[i] >= sites.size(); })) {
    faults.add_row(path + "/accesses/site", *row, "there is no such site", std::to_string(accesses.site[*row]),
                   fmt::format("less than {}, the number of sites", sites.size()));
    return;
  }
  const auto beyond = [&](std::size_t i) {
    const AccessSpace space = sites.space[accesses.site[i]];
    return accesses.address[i] > std::numeric_limits<std::uint32_t>::max() && space != AccessSpace::Device &&
           space != AccessSpace::Image;
  };
  if (const auto row = first_row(0, accesses.size(), beyond)) {
    faults.add_row(path + "/accesses/address", *row, "an offset has more than 32 bits",
                   std::to_string(accesses.address[*row]),
                   "less than 4294967296, if it is no device address and no texel");
  }
  for (std::size_t thread = 0; thread < data.threads() && !faults.full(); ++thread) {
    const std::uint64_t events = data.event_offset[thread + 1] - data.event_offset[thread];
    std::uint32_t before = 0;
    for (std::uint64_t row = accesses.offset[thread]; row < accesses.offset[thread + 1]; ++row) {
      const std::uint32_t event = accesses.event[row];
      if (event < before || event > events) {
        faults.add_row(path + "/accesses/event", row, "the events before the access are fewer than before, or too many",
                       std::to_string(event), fmt::format("{} to {}, the thread's events", before, events));
        return;
      }
      before = event;
    }
  }
}

/// Groups are dense; the lanes of one ran one site, each for another thread.
void check_access_groups(const Launch& launch, const std::string& path, std::uint32_t warp_size, FaultList& faults) {
  const Accesses& accesses = launch.data.accesses;
  const std::string dataset = path + "/accesses/group";
  // Dense numbers cannot reach the number of rows; without this a single row could ask for much memory below.
  if (const auto row =
          first_row(0, accesses.size(), [&](std::size_t i) { return accesses.group[i] >= accesses.size(); })) {
    faults.add_row(dataset, *row, "the groups are not dense", std::to_string(accesses.group[*row]),
                   fmt::format("less than {}, the number of accesses", accesses.size()));
    return;
  }
  struct Group {
    std::uint32_t lanes = 0, site = 0, thread = 0;
  };
  const std::uint32_t last = accesses.size() == 0 ? 0 : *std::max_element(accesses.group.begin(), accesses.group.end());
  std::vector<Group> groups(accesses.size() == 0 ? 0 : std::size_t{last} + 1);
  const std::uint32_t most = warp_size == 0 ? kMostLanes : warp_size;
  for (std::size_t thread = 0; thread + 1 < accesses.offset.size(); ++thread) {
    for (std::uint64_t row = accesses.offset[thread]; row < accesses.offset[thread + 1]; ++row) {
      Group& group = groups[accesses.group[row]];
      if (group.lanes != 0 && (group.site != accesses.site[row] || group.thread == thread)) {
        faults.add_row(dataset, row, "a group has two sites, or a thread twice", std::to_string(accesses.group[row]),
                       fmt::format("accesses of site {} by different threads", group.site));
        return;
      }
      if (++group.lanes > most) {
        faults.add_row(dataset, row, "a group has more lanes than a warp", std::to_string(accesses.group[row]),
                       fmt::format("at most {} lanes", most));
        return;
      }
      group.site = accesses.site[row];
      group.thread = static_cast<std::uint32_t>(thread);
    }
  }
  const auto empty = std::find_if(groups.begin(), groups.end(), [](const Group& group) { return group.lanes == 0; });
  if (empty != groups.end()) {
    faults.add(dataset, "the groups are not dense", fmt::format("no access in group {}", empty - groups.begin()),
               fmt::format("accesses in every group up to {}", last));
  }
}

}  // namespace

void check_access_sites(const AccessSites& sites, std::size_t shaders, FaultList& faults) {
  bool sound = true;
  const auto length = [&](const char* column, std::size_t found) {
    if (found != sites.size()) {
      faults.add(column_of(column), "the column has another number of rows than its table", std::to_string(found),
                 std::to_string(sites.size()));
      sound = false;
    }
  };
  length("function", sites.function.size());
  length("block", sites.block.size());
  length("instruction", sites.instruction.size());
  length("kind", sites.kind.size());
  length("space", sites.space.size());
  length("set", sites.set.size());
  length("binding", sites.binding.size());
  length("element", sites.element.size());
  length("bytes", sites.bytes.size());
  const std::array sums = {std::pair("lanes", &sites.lanes),
                           std::pair("groups", &sites.groups),
                           std::pair("sectors", &sites.sectors),
                           std::pair("lines", &sites.lines),
                           std::pair("group_sectors", &sites.group_sectors),
                           std::pair("group_lines", &sites.group_lines)};
  const bool any_sum = std::ranges::any_of(sums, [](const auto& column) { return !column.second->empty(); });
  for (const auto& [column, values] : sums) {
    if (any_sum) {
      length(column, values->size());
    }
  }
  const auto place = [&](std::size_t row) {
    return std::tuple(sites.shader[row], sites.function[row], sites.instruction[row]);
  };
  for (std::size_t row = 0; row < sites.size() && sound && !faults.full(); ++row) {
    if (sites.shader[row] >= shaders) {
      faults.add_row(column_of("shader"), row, "the shader id is out of range", std::to_string(sites.shader[row]),
                     fmt::format("less than {}, the number of shaders", shaders));
    }
    if (row > 0 && place(row - 1) >= place(row)) {
      faults.add_row(column_of("instruction"), row, "the rows do not ascend",
                     fmt::format("shader {}, function {}, instruction {}", sites.shader[row], sites.function[row],
                                 sites.instruction[row]),
                     "each instruction once, by shader, function and instruction");
    }
    const bool kind_known = check_kind("kind", row, sites.kind[row], kAccessKinds, faults);
    const bool space_known = check_kind("space", row, sites.space[row], kAccessSpaces, faults);
    if (kind_known && space_known) {
      check_space(sites, row, faults);
    }
    if (sites.has_sums() && kind_known && space_known) {
      check_sums(sites, row, faults);
    }
  }
}

void check_accesses(const Trace& trace, FaultList& faults) {
  for (std::size_t i = 0; i < trace.launches.size() && faults.list().empty(); ++i) {
    const Launch& launch = trace.launches[i];
    const std::string path = fmt::format("/launch/{}", i);
    if (launch.data.accesses.offset.empty()) {
      continue;
    }
    if (trace.access_sites.has_sums()) {
      faults.add(path + "/threads/access_offset", "the launch has accesses, and their sites have sums already", "",
                 "sums in files without accesses alone: merged profiles");
      return;
    }
    if (trace.access_sites.size() == 0) {
      faults.add(path + "/threads/access_offset", "the launch has accesses, but there is no table of their sites", "",
                 kSites);
      return;
    }
    check_rows(launch, trace.access_sites, path, faults);
    if (faults.list().empty()) {
      check_access_groups(launch, path, trace.header.warp_size, faults);
    }
  }
}

}  // namespace rayreplay::trace
