#include "capture/profile/access_profile.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

namespace rayreplay::profile {
namespace {

/// First and last block of some size.
using Range = std::pair<std::uint64_t, std::uint64_t>;

Range range_of(std::uint64_t address, std::uint32_t bytes, std::uint32_t block) {
  const std::uint64_t room = std::numeric_limits<std::uint64_t>::max() - address;
  const std::uint64_t last = address + std::min<std::uint64_t>(bytes - 1, room);
  return {address / block, last / block};
}

/// Blocks in one range or more.
std::uint64_t united(std::span<Range> ranges) {
  std::sort(ranges.begin(), ranges.end());
  std::uint64_t blocks = 0;
  std::uint64_t next = 0;  // not counted so far
  for (const auto& [first, last] : ranges) {
    const std::uint64_t begin = std::max(first, next);
    blocks += begin <= last ? last - begin + 1 : 0;
    next = std::max(next, last + 1);
  }
  return blocks;
}

/// Rows in the order of `key`, which is less than `keys`; and where each key's rows begin.
struct Sorted {
  Sorted(const trace::Column<std::uint32_t>& key, std::size_t keys) : first(keys + 1, 0), rows(key.size()) {
    for (const std::uint32_t k : key) {
      ++first[k + std::size_t{1}];
    }
    std::partial_sum(first.begin(), first.end(), first.begin());
    std::vector<std::uint64_t> next(first.begin(), first.end() - 1);
    for (std::size_t row = 0; row < key.size(); ++row) {
      rows[next[key[row]]++] = row;
    }
  }
  [[nodiscard]] std::span<const std::uint64_t> of(std::size_t key) const {
    return std::span(rows).subspan(first[key], first[key + 1] - first[key]);
  }
  std::vector<std::uint64_t> first, rows;
};

class LaunchAccesses {
 public:
  LaunchAccesses(const trace::Accesses& accesses, const trace::AccessSites& sites)
      : accesses_(accesses), sites_(sites) {}

  void add_to(std::vector<SiteAccesses>& result) {
    if (accesses_.size() == 0) {
      return;
    }
    {
      const Sorted by_site(accesses_.site, sites_.size());
      for (std::size_t site = 0; site < sites_.size(); ++site) {
        const auto rows = by_site.of(site);
        result[site].lanes += rows.size();
        if (sites_.space[site] == trace::AccessSpace::Image) {
          continue;
        }
        result[site].sectors += blocks(rows, kSectorBytes);
        result[site].lines += blocks(rows, kLineBytes);
      }
    }
    const std::size_t groups = std::size_t{*std::max_element(accesses_.group.begin(), accesses_.group.end())} + 1;
    const Sorted by_group(accesses_.group, groups);
    for (std::size_t group = 0; group < groups; ++group) {
      const auto rows = by_group.of(group);
      const std::uint32_t site = accesses_.site[rows.front()];
      SiteAccesses& of = result[site];
      ++of.groups;
      if (sites_.space[site] == trace::AccessSpace::Image) {
        continue;
      }
      of.group_sectors += blocks(rows, kSectorBytes);
      of.group_lines += blocks(rows, kLineBytes);
    }
  }

 private:
  /// Distinct blocks of accesses of one site.
  std::uint64_t blocks(std::span<const std::uint64_t> rows, std::uint32_t bytes) {
    ranges_.clear();
    for (const std::uint64_t row : rows) {
      ranges_.push_back(range_of(accesses_.address[row], sites_.bytes[accesses_.site[row]], bytes));
    }
    return united(ranges_);
  }

  const trace::Accesses& accesses_;
  const trace::AccessSites& sites_;
  std::vector<Range> ranges_;
};

}  // namespace

std::vector<SiteAccesses> access_profile(const trace::Trace& trace) {
  const trace::AccessSites& sites = trace.access_sites;
  std::vector<SiteAccesses> result(sites.size());
  for (std::size_t site = 0; site < sites.size() && sites.has_sums(); ++site) {
    result[site] = {sites.lanes[site], sites.groups[site],        sites.sectors[site],
                    sites.lines[site], sites.group_sectors[site], sites.group_lines[site]};
  }
  for (const trace::Launch& launch : trace.launches) {
    LaunchAccesses(launch.data.accesses, trace.access_sites).add_to(result);
  }
  return result;
}

}  // namespace rayreplay::profile
