#include "capture/profile/access_profile.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

namespace rayreplay::profile {
namespace {

/// The bytes of an access to a buffer; memory ends behind the last address.
ByteRange range_of(std::uint64_t address, std::uint32_t bytes) {
  const std::uint64_t room = std::numeric_limits<std::uint64_t>::max() - address;
  return {address, address + std::min<std::uint64_t>(bytes - 1, room)};
}

/// The number of blocks of `bytes` bytes that the ranges touch, each once; ranges are sorted by their first byte.
std::uint64_t united(std::span<const ByteRange> ranges, std::uint32_t bytes) {
  std::uint64_t blocks = 0;
  std::uint64_t next = 0;  // not counted so far
  for (const ByteRange& range : ranges) {
    const std::uint64_t last = range.last / bytes;
    const std::uint64_t begin = std::max(range.first / bytes, next);
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
  LaunchAccesses(const trace::Accesses& accesses, const trace::AccessSites& sites, ImageBytes images)
      : accesses_(accesses), sites_(sites), images_(std::move(images)) {}

  void add_to(std::vector<SiteAccesses>& result) {
    if (accesses_.size() == 0) {
      return;
    }
    {
      const Sorted by_site(accesses_.site, sites_.size());
      for (std::size_t site = 0; site < sites_.size(); ++site) {
        SiteAccesses& of = result[site];
        of.lanes += by_site.of(site).size();
        if (!has_bytes(site)) {
          continue;
        }
        of.nowhere += find_ranges(by_site.of(site));
        of.bytes += bytes_;
        of.sectors += united(ranges_, kSectorBytes);
        of.lines += united(ranges_, kLineBytes);
      }
    }
    const std::size_t groups = std::size_t{*std::max_element(accesses_.group.begin(), accesses_.group.end())} + 1;
    const Sorted by_group(accesses_.group, groups);
    for (std::size_t group = 0; group < groups; ++group) {
      const auto rows = by_group.of(group);
      const std::uint32_t site = accesses_.site[rows.front()];
      SiteAccesses& of = result[site];
      ++of.groups;
      if (!has_bytes(site)) {
        continue;
      }
      find_ranges(rows);
      const std::uint64_t lines = united(ranges_, kLineBytes);
      of.group_sectors += united(ranges_, kSectorBytes);
      of.group_lines += lines;
      ++of.group_ranges.at(line_range(lines));
    }
  }

 private:
  [[nodiscard]] bool has_bytes(std::size_t site) const {
    return sites_.space[site] != trace::AccessSpace::Image || images_;
  }

  /// Finds the byte ranges of accesses of one site, sorted, and the sum of their sizes, in which a byte counts as often
  /// as it is touched. Returns the number of accesses that touch none.
  std::uint64_t find_ranges(std::span<const std::uint64_t> rows) {
    ranges_.clear();
    bytes_ = 0;
    std::uint64_t nowhere = 0;
    for (const std::uint64_t row : rows) {
      const std::uint32_t site = accesses_.site[row];
      const std::size_t before = ranges_.size();
      if (sites_.space[site] == trace::AccessSpace::Image) {
        images_(site, accesses_.address[row], ranges_);
      } else {
        ranges_.push_back(range_of(accesses_.address[row], sites_.bytes[site]));
      }
      nowhere += ranges_.size() == before ? 1U : 0U;
      for (std::size_t i = before; i < ranges_.size(); ++i) {
        bytes_ += ranges_[i].last - ranges_[i].first + 1;
      }
    }
    std::ranges::sort(ranges_, {}, &ByteRange::first);
    return nowhere;
  }

  const trace::Accesses& accesses_;
  const trace::AccessSites& sites_;
  ImageBytes images_;
  std::vector<ByteRange> ranges_;
  std::uint64_t bytes_ = 0;
};

}  // namespace

std::size_t line_range(std::uint64_t lines) {
  return lines == 0 ? 0 : std::min<std::size_t>(std::bit_width(lines - 1) + 1, kLineRanges - 1);
}

std::vector<SiteAccesses> access_profile(const trace::Trace& trace, const LaunchImages& images) {
  const trace::AccessSites& sites = trace.access_sites;
  std::vector<SiteAccesses> result(sites.size());
  for (std::size_t site = 0; site < sites.size() && sites.has_sums(); ++site) {
    result[site] = {.lanes = sites.lanes[site],
                    .groups = sites.groups[site],
                    .sectors = sites.sectors[site],
                    .lines = sites.lines[site],
                    .group_sectors = sites.group_sectors[site],
                    .group_lines = sites.group_lines[site],
                    .bytes = sites.lanes[site] * sites.bytes[site]};
  }
  for (const trace::Launch& launch : trace.launches) {
    LaunchAccesses(launch.data.accesses, trace.access_sites, images ? images(launch) : ImageBytes()).add_to(result);
  }
  return result;
}

}  // namespace rayreplay::profile
