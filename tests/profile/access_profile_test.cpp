// Sectors and lines of accesses to buffers: by hand, and against sets of all blocks.
#include "capture/profile/access_profile.hpp"

#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/random_trace.hpp"

namespace rayreplay::profile {
namespace {

using trace::AccessKind;
using trace::AccessSpace;

void add_site(trace::Trace& trace, AccessSpace space, std::uint32_t bytes) {
  trace::AccessSites& sites = trace.access_sites;
  sites.instruction.push_back(static_cast<std::uint32_t>(sites.size()));
  sites.shader.push_back(0);
  for (auto* column : {&sites.function, &sites.block, &sites.set, &sites.binding, &sites.element}) {
    column->push_back(0);
  }
  sites.kind.push_back(AccessKind::Load);
  sites.space.push_back(space);
  sites.bytes.push_back(bytes);
}

/// One access of each of these sites, addresses and groups.
struct Access {
  std::uint32_t site;
  std::uint64_t address;
  std::uint32_t group;
};
trace::Launch launch_of(const std::vector<Access>& all) {
  trace::Launch launch;
  for (const Access& access : all) {
    launch.data.accesses.event.push_back(0);
    launch.data.accesses.site.push_back(access.site);
    launch.data.accesses.address.push_back(access.address);
    launch.data.accesses.group.push_back(access.group);
  }
  launch.data.accesses.offset = {0, all.size()};
  return launch;
}

TEST(AccessProfile, CountsSectorsAndLines) {
  trace::Trace trace;
  add_site(trace, AccessSpace::Descriptor, 4);
  add_site(trace, AccessSpace::Device, 16);
  add_site(trace, AccessSpace::Device, 8);
  trace.launches = {launch_of({{0, 0, 0}, {0, 4, 0}, {0, 32, 0}, {0, 28, 1}, {1, 0x1000, 2}, {1, 0x1018, 2}}),
                    launch_of({{0, 0, 0}, {1, ~std::uint64_t{0}, 1}})};
  const auto profile = access_profile(trace);
  ASSERT_EQ(profile.size(), 3U);
  EXPECT_EQ(profile[0].lanes, 5U);
  EXPECT_EQ(profile[0].groups, 3U);
  EXPECT_EQ(profile[0].sectors, 2U + 1U);  // two in the first launch, one again in the second
  EXPECT_EQ(profile[0].lines, 1U + 1U);
  EXPECT_EQ(profile[0].group_sectors, 2U + 1U + 1U);
  EXPECT_EQ(profile[0].group_lines, 3U);
  EXPECT_EQ(profile[1].sectors, 2U + 1U);  // 0x1018 + 16 bytes reaches the next sector; memory ends behind the other
  EXPECT_EQ(profile[1].lines, 2U);
  EXPECT_EQ(profile[2].lanes, 0U);
  EXPECT_EQ(profile[2].groups, 0U);
}

// The places of texels in memory are not known without a layout.
TEST(AccessProfile, CountsOnlyExecutionsOfImages) {
  trace::Trace trace;
  add_site(trace, AccessSpace::Image, 0);
  add_site(trace, AccessSpace::Device, 4);
  trace.launches = {launch_of({{0, ~std::uint64_t{0}, 0}, {0, 5, 0}, {0, 7, 1}, {1, 64, 2}})};
  const auto profile = access_profile(trace);
  EXPECT_EQ(profile[0].lanes, 3U);
  EXPECT_EQ(profile[0].groups, 2U);
  EXPECT_EQ(profile[0].sectors, 0U);
  EXPECT_EQ(profile[0].lines, 0U);
  EXPECT_EQ(profile[0].group_sectors, 0U);
  EXPECT_EQ(profile[0].group_lines, 0U);
  EXPECT_EQ(profile[1].group_sectors, 1U);
}

TEST(AccessProfile, AsksForTheBytesOfImages) {
  trace::Trace trace;
  add_site(trace, AccessSpace::Image, 0);
  add_site(trace, AccessSpace::Descriptor, 8);
  trace.launches = {launch_of({{0, 100, 0}, {0, 7, 0}, {0, 200, 1}, {1, 0, 2}, {1, 200, 2}})};
  // Blocks of 4 bytes at 64 · address, two for 200; 7 is outside.
  const auto profile = access_profile(trace, [](const trace::Launch&) -> ImageBytes {
    return [](std::uint32_t site, std::uint64_t address, std::vector<ByteRange>& to) {
      EXPECT_EQ(site, 0U);
      if (address != 7) {
        to.push_back({address * 64, address * 64 + 3});
      }
      if (address == 200) {
        to.insert(to.begin(), {0, 3});
      }
    };
  });
  EXPECT_EQ(profile[0].lanes, 3U);
  EXPECT_EQ(profile[0].nowhere, 1U);
  EXPECT_EQ(profile[0].bytes, 12U);
  EXPECT_EQ(profile[0].sectors, 3U);
  EXPECT_EQ(profile[0].lines, 3U);
  EXPECT_EQ(profile[0].group_sectors, 1U + 2U);
  EXPECT_THAT(profile[0].group_ranges, testing::ElementsAre(0, 1, 1, 0, 0, 0, 0, 0));
  EXPECT_EQ(profile[1].bytes, 16U);
  EXPECT_EQ(profile[1].nowhere, 0U);
  EXPECT_THAT(profile[1].group_ranges, testing::ElementsAre(0, 0, 1, 0, 0, 0, 0, 0));
}

TEST(AccessProfile, RangesOfLines) {
  const std::pair<std::uint64_t, std::size_t> expected[] = {{0, 0},  {1, 1},  {2, 2},  {3, 3},  {4, 3},
                                                            {5, 4},  {8, 4},  {9, 5},  {16, 5}, {17, 6},
                                                            {32, 6}, {33, 7}, {64, 7}, {65, 7}, {~std::uint64_t{0}, 7}};
  for (const auto& [lines, range] : expected) {
    EXPECT_EQ(line_range(lines), range) << lines;
  }
}

TEST(AccessProfile, MergesRangesOfAnySize) {
  trace::Trace trace;
  add_site(trace, AccessSpace::Device, 0xFFFF'FFFF);
  trace.launches = {launch_of({{0, 0, 0}, {0, 32, 0}, {0, 1ULL << 40U, 0}})};
  const auto profile = access_profile(trace);
  EXPECT_EQ(profile[0].sectors, (1ULL << 27U) + 1 + (1ULL << 27U));
}

TEST(AccessProfile, IsThatOfSetsOfBlocks) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    test::Random random(seed);
    trace::Trace trace;
    for (std::uint32_t s = 0; s < 4; ++s) {
      add_site(trace, static_cast<AccessSpace>(random.below(3)), 1 + random.below(300));
    }
    std::vector<SiteAccesses> expected(4);
    for (std::uint32_t l = 0; l < 2; ++l) {
      std::vector<Access> all;
      std::map<std::uint32_t, std::pair<std::set<std::uint64_t>, std::set<std::uint64_t>>> of_group;
      std::map<std::uint32_t, std::uint32_t> site_of;
      std::vector<std::set<std::uint64_t>> launch_sectors(4), launch_lines(4);
      const std::uint32_t groups = 1 + random.below(12);
      for (std::uint32_t i = 0; i < groups + random.below(80); ++i) {
        const std::uint32_t group = i < groups ? i : random.below(groups);
        const std::uint32_t site = site_of.emplace(group, random.below(4)).first->second;
        const std::uint64_t address = random.below(4000);
        all.push_back({site, address, group});
        ++expected[site].lanes;
        for (std::uint64_t byte = address; byte < address + trace.access_sites.bytes[site]; ++byte) {
          launch_sectors[site].insert(byte / 32);
          launch_lines[site].insert(byte / 128);
          of_group[group].first.insert(byte / 32);
          of_group[group].second.insert(byte / 128);
        }
      }
      for (const auto& [group, blocks] : of_group) {
        SiteAccesses& of = expected[site_of[group]];
        ++of.groups;
        of.group_sectors += blocks.first.size();
        of.group_lines += blocks.second.size();
      }
      for (std::uint32_t s = 0; s < 4; ++s) {
        expected[s].sectors += launch_sectors[s].size();
        expected[s].lines += launch_lines[s].size();
      }
      trace.launches.push_back(launch_of(all));
    }
    const auto profile = access_profile(trace);
    for (std::uint32_t s = 0; s < 4; ++s) {
      EXPECT_EQ(profile[s].lanes, expected[s].lanes);
      EXPECT_EQ(profile[s].groups, expected[s].groups);
      EXPECT_EQ(profile[s].sectors, expected[s].sectors);
      EXPECT_EQ(profile[s].lines, expected[s].lines);
      EXPECT_EQ(profile[s].group_sectors, expected[s].group_sectors);
      EXPECT_EQ(profile[s].group_lines, expected[s].group_lines);
    }
  }
}

}  // namespace
}  // namespace rayreplay::profile
