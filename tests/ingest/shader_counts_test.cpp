// Counts of blocks from the counters of a spool: summed, derived, and left out with a line where they contradict
// themselves.
#include "capture/ingest/block_counts.hpp"

#include "tests/ingest/support.hpp"
#include "tests/support/branching_shader.hpp"

namespace rayreplay::ingest {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Lines = std::vector<std::string>;

/// Shaders 4 and 6 of a module run its function; a counter at the first block and one at the second.
SpoolContents contents() {
  SpoolContents result;
  for (const std::uint16_t id : std::initializer_list<std::uint16_t>{4, 5, 6}) {
    spool::Shader shader;
    shader.shader = id;
    shader.spirv = test::branching_shader();
    result.shaders[id] = shader;
  }
  result.counters[4] = {4, 6, 0, {{0, 0, {4, 6}, {{spool::kNone, 0}, {spool::kNone, 1}}}}};
  result.counts.push_back({0, 1, 2, 4, {10, 3, 0, 0, 7, 7}, {}});
  return result;
}

SpoolContents contents_with_groups() {
  SpoolContents result = contents();
  result.counters[4] = {
      4, 4, 1, {{0, 0, {4}, {{spool::kNone, 0}, {spool::kNone, 1}, {spool::kNone, 2}, {spool::kNone, 3}}}}};
  result.counts = {{0, 1, 2, 4, {10, 3, 7, 10}, {2, 1, 1, 3}}};
  return result;
}

trace::BlockCounts read(const SpoolContents& spool, Lines& remarks) {
  spool::Device device;
  device.subgroup_size = 8;
  return read_block_counts(spool, device, remarks);
}

TEST(BlockCountsOfASpool, AreDerivedForEachShader) {
  Lines remarks;
  const trace::BlockCounts counts = read(contents(), remarks);
  EXPECT_THAT(remarks, IsEmpty());
  EXPECT_THAT(counts.pipeline, ElementsAre(2, 2, 2, 2, 2, 2, 2, 2));
  EXPECT_THAT(counts.shader, ElementsAre(4, 4, 4, 4, 6, 6, 6, 6));
  EXPECT_THAT(counts.block, ElementsAre(0, 1, 2, 3, 0, 1, 2, 3));
  EXPECT_THAT(counts.lanes, ElementsAre(10, 3, 7, 10, 7, 7, 0, 7));
  EXPECT_THAT(counts.groups, IsEmpty());
}

TEST(BlockCountsOfASpool, AreSumsOfLaunchesByPipeline) {
  SpoolContents spool = contents();
  spool.counts.push_back({0, 2, 2, 4, {1, 1, 0, 0, 0, 0}, {}});
  spool.counts.push_back({0, 3, 1, 4, {5, 0, 0, 0, 0, 0}, {}});
  spool.counts.push_back({1, 4, 2, 4, {100, 0, 0, 0, 0, 0}, {}});  // of another device
  Lines remarks;
  const trace::BlockCounts counts = read(spool, remarks);
  EXPECT_THAT(remarks, IsEmpty());
  EXPECT_THAT(counts.pipeline, ElementsAre(1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2));
  EXPECT_THAT(counts.lanes, ElementsAre(5, 0, 5, 5, 0, 0, 0, 0, 11, 4, 7, 11, 7, 7, 0, 7));
}

TEST(BlockCountsOfASpool, LeaveOutShadersThatThePipelineDoesNotHave) {
  SpoolContents spool = contents();
  spool.pipelines[2].groups = {{6, spool::kNoShader, spool::kNoShader, spool::kNoShader, {}}};
  Lines remarks;
  EXPECT_THAT(read(spool, remarks).shader, ElementsAre(6, 6, 6, 6));
}

TEST(BlockCountsOfASpool, HaveGroupsWhereTheyAreCounted) {
  Lines remarks;
  const trace::BlockCounts counts = read(contents_with_groups(), remarks);
  EXPECT_THAT(remarks, IsEmpty());
  EXPECT_THAT(counts.groups, ElementsAre(2, 1, 1, 3));
}

struct Damage {
  const char* name;
  std::function<void(SpoolContents&)> damage;
  const char* line;
};

void PrintTo(const Damage& damage, std::ostream* out) {
  *out << damage.name;
}

class DamagedCounters : public testing::TestWithParam<Damage> {};

TEST_P(DamagedCounters, AreLeftOutAndNamed) {
  SpoolContents spool = contents_with_groups();
  GetParam().damage(spool);
  Lines remarks;
  EXPECT_EQ(read(spool, remarks).size(), 0U);
  EXPECT_THAT(remarks, ElementsAre(HasSubstr(GetParam().line)));
}

spool::CountedFunction& function(SpoolContents& spool) {
  return spool.counters[4].functions[0];
}

INSTANTIATE_TEST_SUITE_P(
    Spool, DamagedCounters,
    testing::Values(
        Damage{"NoLayout", [](SpoolContents& s) { s.counters.clear(); },
               "launch 1: blocks of the module of shader 4 are not counted: where its counters stand is not in the "
               "spool"},
        Damage{"TooFew", [](SpoolContents& s) { s.counts[0].lanes.pop_back(); },
               "3 counts of lanes and 4 of groups, 4 and 4 expected"},
        Damage{"NoModule",
               [](SpoolContents& s) {
                 s.shaders[4].spirv = {1, 2, 3};
               },
               "the words do not begin with a SPIR-V header"},
        Damage{"NoShader", [](SpoolContents& s) { s.shaders.clear(); },
               "blocks of the module of shader 4 are not counted: it is not in the spool"},
        Damage{"Overflow",
               [](SpoolContents& s) {
                 s.counts[0].lanes[0] = ~std::uint64_t{0};
                 s.counts.push_back(s.counts[0]);
               },
               "blocks of the module of shader 4 in pipeline 2 are not counted: a count has more than 64 bits"},
        Damage{"Function", [](SpoolContents& s) { function(s).function = 9; },
               "function 9 of the module of shader 4 in pipeline 2 are not counted: the module has 2 functions"},
        Damage{"ShaderOfFunction",
               [](SpoolContents& s) {
                 function(s).shaders = {6, 4};
               },
               "its shaders are not in the spool, or not in order"},
        Damage{"NoShaderOfFunction", [](SpoolContents& s) { function(s).shaders.clear(); },
               "its shaders are not in the spool, or not in order"},
        Damage{"Counter", [](SpoolContents& s) { function(s).first = 1; }, "its last counter would be number 5 of 4"},
        Damage{"HugeCounter", [](SpoolContents& s) { function(s).first = 0xFFFFFFFF; }, "its last counter would be"},
        Damage{"Site", [](SpoolContents& s) { function(s).sites[3].to = 7; }, "block 7 is counted, which the function"},
        Damage{"Flow", [](SpoolContents& s) { s.counts[0].lanes[3] = 11; },
               "in shader 4 they contradict each other: block 0: not as many invocations come in as go out"},
        Damage{"Groups", [](SpoolContents& s) { s.counts[0].groups[2] = 8; },
               "block 2 would have run with 7 lanes in 8 groups"},
        Damage{"FewGroups", [](SpoolContents& s) { s.counts[0].groups[3] = 1; },
               "block 3 would have run with 10 lanes in 1 group"},
        Damage{"GroupsOfAnEdge",
               [](SpoolContents& s) {
                 function(s).sites[1] = {0, 1};
               },
               "groups of lanes cannot be counted on an edge"}),
    [](const auto& damage) { return std::string(damage.param.name); });

/// The rest of the trace is there.
class TraceWithBlockCounts : public IngestTest {};

TEST_F(TraceWithBlockCounts, KeepsItsEventsWhateverTheCountersSay) {
  test::SyntheticCapture capture = test::synthesize({});
  capture.shaders[0].spirv = test::branching_shader();
  capture.expected.shaders[0].spirv = test::branching_shader();
  const spool::Counters counters = {0, 2, 0, {{0, 0, {0}, {{spool::kNone, 0}, {spool::kNone, 1}}}}};
  for (const std::uint64_t second : {3U, 11U}) {
    std::filesystem::remove(file("s.rrspool"));
    capture.counters = {counters};
    capture.counts = {
        {capture.device.device, capture.launches[0].launch.launch, capture.pipeline.pipeline, 0, {10, second}, {}}};
    const trace::Trace found = ingested(capture);
    ASSERT_EQ(found.launches.size(), 1U);
    if (second == 3) {
      EXPECT_THAT(found.block_counts.lanes, ElementsAre(10, 3, 7, 10));
      EXPECT_THAT(found.header.not_captured, IsEmpty());
    } else {
      EXPECT_EQ(found.block_counts.size(), 0U);
      EXPECT_THAT(found.header.not_captured, testing::Contains(HasSubstr("would have a negative count")));
    }
    trace::Trace rest = found;
    rest.block_counts = {};
    EXPECT_EQ(capture_difference(capture.expected, rest), "");
  }
}

}  // namespace
}  // namespace rayreplay::ingest
