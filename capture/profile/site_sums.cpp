#include "capture/profile/site_sums.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "capture/profile/row_parts.hpp"

namespace rayreplay::profile {
namespace {

/// The columns with sums, in one order.
template <class Sites>
auto columns_of(Sites& sites) {
  return std::array{&sites.lanes, &sites.groups,        &sites.sectors,
                    &sites.lines, &sites.group_sectors, &sites.group_lines};
}

}  // namespace

void SiteSums::add(const trace::AccessSites& sites, const std::map<std::uint16_t, std::uint16_t>& shaders,
                   const std::string& file) {
  constexpr std::array kPaths = {"/profile/access_sites/lanes",         "/profile/access_sites/groups",
                                 "/profile/access_sites/sectors",       "/profile/access_sites/lines",
                                 "/profile/access_sites/group_sectors", "/profile/access_sites/group_lines"};
  const auto columns = columns_of(sites);
  for (std::size_t row = 0; row < sites.size(); ++row) {
    const What what{sites.block[row],   sites.kind[row],    sites.space[row], sites.set[row],
                    sites.binding[row], sites.element[row], sites.bytes[row]};
    const Place place{shaders.at(sites.shader[row]), sites.function[row], sites.instruction[row]};
    const auto [known, fresh] = sites_.try_emplace(place, Site{what, {}});
    if (!fresh && known->second.what != what) {
      throw Error(
          ErrorKind::Input,
          {"two runs disagree on what an instruction of one module accesses",
           fmt::format("{}:/profile/access_sites[{}]", file, row),
           fmt::format("{} of {}, {}", to_string(sites.kind[row]), to_string(sites.space[row]), sites.bytes[row]),
           "the block, kind, memory, descriptor and bytes of the other run", "capture the run that is wrong again"});
    }
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (!columns.at(c)->empty()) {
        add_count(known->second.counts.at(c), (*columns.at(c))[row],
                  {file, kPaths.at(c), "the sum of a site's accesses exceeds 64 bits"}, row);
      }
    }
  }
}

trace::AccessSites SiteSums::sums() const {
  trace::AccessSites result;
  for (const auto& [place, site] : sites_) {
    result.shader.push_back(std::get<0>(place));
    result.function.push_back(std::get<1>(place));
    result.instruction.push_back(std::get<2>(place));
    result.block.push_back(std::get<0>(site.what));
    result.kind.push_back(std::get<1>(site.what));
    result.space.push_back(std::get<2>(site.what));
    result.set.push_back(std::get<3>(site.what));
    result.binding.push_back(std::get<4>(site.what));
    result.element.push_back(std::get<5>(site.what));
    result.bytes.push_back(std::get<6>(site.what));
    const auto columns = columns_of(result);
    for (std::size_t c = 0; c < columns.size(); ++c) {
      columns.at(c)->push_back(site.counts.at(c));
    }
  }
  return result;
}

}  // namespace rayreplay::profile
