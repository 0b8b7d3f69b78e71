// Sites of accesses from the spool: their rows, and layouts and records that do not fit.
#include "capture/ingest/access_table.hpp"

#include <functional>

#include "capture/trace/missing_accesses.hpp"
#include "tests/ingest/support.hpp"

namespace rayreplay::ingest {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Lines = std::vector<std::string>;
using Words = std::vector<std::uint32_t>;

spool::AccessSite site(std::vector<std::uint16_t> shaders, std::uint32_t instruction,
                       spool::AccessSpace space = spool::AccessSpace::Descriptor) {
  spool::AccessSite result;
  result.shaders = std::move(shaders);
  result.instruction = instruction;
  result.space = space;
  result.bytes = 4;
  return result;
}

/// Shaders 4 and 6 of one module, 5 of another.
SpoolContents spool_with_accesses() {
  SpoolContents result;
  for (const std::uint16_t id : std::initializer_list<std::uint16_t>{4, 5, 6}) {
    result.shaders[id].shader = id;
  }
  result.accesses[4] = {4, {site({4}, 1), site({4, 6}, 2, spool::AccessSpace::Device), site({6}, 3)}};
  result.accesses[5] = {5, {site({5}, 7)}};
  return result;
}

/// A record of one lane; its fields are 0.
Words record(std::uint32_t kind, std::uint16_t shader, std::uint32_t number) {
  return {kind | std::uint32_t{shader} << 8U | number << 24U, 1, 1U << 20U | number >> 8U << RR_SITE_SHIFT, 0, 9, 0, 0};
}

TEST(AccessTable, HasARowForEachShaderAndSite) {
  Lines remarks;
  const AccessTable table(spool_with_accesses(), remarks);
  EXPECT_THAT(remarks, IsEmpty());
  EXPECT_THAT(table.sites().shader, ElementsAre(4, 4, 5, 6, 6));
  EXPECT_THAT(table.sites().instruction, ElementsAre(1, 2, 7, 2, 3));
  const auto row = [&](std::uint32_t kind, std::uint16_t shader, std::uint32_t number) {
    const Words words = record(kind, shader, number);
    return table.row_of(parse_header(words.data()));
  };
  EXPECT_EQ(row(RR_ACCESS_OFFSET, 4, 0), 0U);
  EXPECT_EQ(row(RR_ACCESS_ADDRESS, 6, 1), 3U);
  EXPECT_EQ(row(RR_ACCESS_OFFSET, 5, 0), 2U);
  EXPECT_EQ(row(RR_ACCESS_OFFSET, 4, 2), std::nullopt);    // the other shader's
  EXPECT_EQ(row(RR_ACCESS_OFFSET, 4, 1), std::nullopt);    // no offset
  EXPECT_EQ(row(RR_ACCESS_ADDRESS, 4, 0), std::nullopt);   // no address
  EXPECT_EQ(row(RR_ACCESS_OFFSET, 4, 256), std::nullopt);  // beyond the module's
  EXPECT_EQ(row(RR_ACCESS_OFFSET, 7, 0), std::nullopt);
}

TEST(AccessTable, LeavesOutModulesThatDoNotFit) {
  struct Case {
    std::function<void(std::vector<spool::AccessSite>&)> damage;
    const char* why;
  };
  for (const Case& of :
       {Case{[](auto& sites) { sites[1].instruction = 1; }, "site 1 is out of order"},
        Case{[](auto& sites) { sites[0].shaders = {9}; }, "the shaders of site 0"},
        Case{[](auto& sites) {
               sites[1].shaders = {6, 4};
             },
             "the shaders of site 1"},
        Case{[](auto& sites) { sites[2].shaders.clear(); }, "the shaders of site 2"},
        Case{[](auto& sites) { sites[0].bytes = 0; },
             "site 0 has bytes or a descriptor that it cannot have, or lacks bytes"},
        Case{[](auto& sites) { sites[0].space = spool::AccessSpace::Image; }, "site 0 has bytes"},
        Case{[](auto& sites) {
               sites[0].space = spool::AccessSpace::Image;
               sites[0].bytes = 0;
               sites[0].element = 1;
             },
             "site 0 has bytes or a descriptor that it cannot have"},
        Case{[](auto& sites) { sites[0].kind = spool::AccessKind::Sample; }, "site 0 samples a buffer"},
        Case{[](auto& sites) { sites[1].binding = 1; }, "a descriptor that it cannot have"},
        Case{[](auto& sites) {
               for (std::uint32_t i = 4; i < RR_MAX_ACCESS_SITES + 2; ++i) {
                 sites.push_back(site({4}, i));
               }
             },
             "it has 8193 sites, more than 8192"}}) {
    SpoolContents contents = spool_with_accesses();
    of.damage(contents.accesses[4].sites);
    Lines remarks;
    const AccessTable table(contents, remarks);
    EXPECT_THAT(remarks, ElementsAre(HasSubstr(of.why)));
    EXPECT_THAT(table.sites().shader, ElementsAre(5));
  }
}

using AccessIngest = IngestTest;

TEST_F(AccessIngest, SaysWhatIsMissing) {
  test::CaptureOptions how;
  how.seed = 5;
  how.accesses = true;
  test::SyntheticCapture capture = test::synthesize(how);
  capture.launches[0].launch.dropped.assign(RR_KINDS, 0);
  capture.launches[0].launch.dropped[RR_ACCESS_OFFSET] = 3;
  capture.launches[0].launch.dropped[RR_ACCESS_ADDRESS] = 4;
  capture.launches[0].launch.dropped[RR_ACCESS_IMAGE] = 5;
  std::uint64_t hits = 0;  // of modules that are lost
  const trace::Accesses& all = capture.expected.launches[0].data.accesses;
  for (const std::uint32_t row : all.site) {
    hits += capture.expected.access_sites.shader[row] % 6U == 3 ? 1U : 0U;
  }
  ASSERT_GT(hits, 0U);
  std::erase_if(capture.accesses, [](const spool::Accesses& of) { return of.module == 3; });
  const trace::Trace found = ingested(capture);
  EXPECT_EQ(found.launches[0].data.accesses.size(), all.size() - hits);
  EXPECT_THAT(found.header.not_captured,
              Contains(HasSubstr("12 accesses to buffers and images did not fit into the event buffer (--memory)")));
  EXPECT_EQ(trace::missing_accesses(found.header, 0), (trace::MissingAccesses{12 + hits, 0}));
  EXPECT_FALSE(trace::missing_accesses(found.header, 1).any());
  EXPECT_THAT(found.header.not_captured,
              Contains(HasSubstr(std::to_string(hits) + " access records of sites that the spool does not have")));
}

/// The two accesses of a chunk of two lanes, of which the first has no texel.
TEST(AccessTable, KnowsRecordsOfImages) {
  SpoolContents contents = spool_with_accesses();
  spool::AccessSite& image = contents.accesses[5].sites[0];
  image.space = spool::AccessSpace::Image;
  image.kind = spool::AccessKind::Sample;
  image.bytes = 0;
  image.set = 1;
  image.binding = 2;
  Lines remarks;
  const AccessTable table(contents, remarks);
  EXPECT_THAT(remarks, IsEmpty());
  const Words words = {RR_ACCESS_IMAGE | 5U << 8U, 3, 2U << 20U, 0, 9, 8, RR_NO_TEXEL, RR_NO_TEXEL, RR_NO_TEXEL, 7};
  const Chunk chunk = parse_header(words.data());
  EXPECT_EQ(table.row_of(chunk), 2U);
  EXPECT_EQ(table.sites().kind[2], trace::AccessKind::Sample);
  EXPECT_EQ(table.sites().binding[2], 2U);
  EXPECT_TRUE(chunk.has_no_texel(0));
  EXPECT_FALSE(chunk.has_no_texel(1));
  EXPECT_EQ(chunk.address(1), 0x7'FFFF'FFFFU);
  const Words offset = record(RR_ACCESS_OFFSET, 5, 0);
  EXPECT_EQ(table.row_of(parse_header(offset.data())), std::nullopt);
}

TEST_F(AccessIngest, CountsAccessesWithoutATexel) {
  test::CaptureOptions how;
  how.seed = 6;
  how.accesses = true;
  const trace::Trace found = ingested(test::synthesize(how));
  EXPECT_THAT(found.header.not_captured, Contains(HasSubstr(" to images at negative coordinates, or at others")));
}

}  // namespace
}  // namespace rayreplay::ingest
