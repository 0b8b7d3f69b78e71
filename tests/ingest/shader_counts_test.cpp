// Counts of blocks, branches and loads from the counters of a spool: summed, derived, and left out with a line where
// they contradict themselves.
#include "capture/ingest/shader_counts.hpp"

#include "tests/ingest/support.hpp"
#include "tests/support/branching_shader.hpp"

namespace rayreplay::ingest {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Lines = std::vector<std::string>;
using spool::SiteKind;

spool::CounterSite block_site(std::uint32_t block, std::uint32_t cell, std::uint8_t cells) {
  return {SiteKind::Block, spool::kNone, block, 0, cell, cells, 0};
}

/// Shaders 4 and 6 of a module run its function; a counter at the first block and one at the second.
SpoolContents contents() {
  SpoolContents result;
  for (const std::uint16_t id : std::initializer_list<std::uint16_t>{4, 5, 6}) {
    spool::Shader shader;
    shader.shader = id;
    shader.spirv = test::branching_shader();
    result.shaders[id] = shader;
  }
  result.counters[4] = {4, 6, {{0, 0, 2, {4, 6}, {block_site(0, 0, 1), block_site(1, 1, 1)}}}};
  result.counts.push_back({0, 1, 2, 4, {10, 3, 0, 0, 7, 7}});
  return result;
}

SpoolContents contents_with_groups() {
  SpoolContents result = contents();
  result.counters[4] = {
      4, 8, {{0, 0, 8, {4}, {block_site(0, 0, 3), block_site(1, 2, 3), block_site(2, 4, 3), block_site(3, 6, 3)}}}};
  result.counts = {{0, 1, 2, 4, {10, 2, 3, 1, 7, 1, 10, 3}}};
  return result;
}

/// Also the branch, which is instruction 6, and the loads 8 and 9 of block 1 and 4 of block 0. Load 9 has no counter,
/// load 4 none of its address.
SpoolContents contents_with_instructions() {
  SpoolContents result = contents_with_groups();
  spool::Counters& counters = result.counters[4];
  counters.cells = counters.functions[0].cells = 19;
  auto& sites = counters.functions[0].sites;
  sites.push_back({SiteKind::Branch, spool::kNone, 0, 6, 8, 7, 0});
  sites.push_back({SiteKind::Load, spool::kNone, 1, 8, 11, 31, 0});
  sites.push_back({SiteKind::Load, spool::kNone, 1, 9, 16, 0, 12});
  sites.push_back({SiteKind::Load, spool::kNone, 0, 4, 16, 7, 0});
  for (const std::uint64_t count : {10U, 1U, 1U, 3U, 0U, 1U, 0U, 0U, 9U, 0U, 2U}) {
    result.counts[0].cells.push_back(count);
  }
  return result;
}

ShaderCounts read_all(const SpoolContents& spool, Lines& remarks) {
  spool::Device device;
  device.subgroup_size = 8;
  return read_shader_counts(spool, device, remarks);
}

trace::BlockCounts read(const SpoolContents& spool, Lines& remarks) {
  return read_all(spool, remarks).blocks;
}

/// Lanes of blocks 1 and 3, groups of all.
TEST(BlockCountsOfASpool, FollowFromFewLanes) {
  SpoolContents spool = contents();
  spool.counters[4] = {
      4, 6, {{0, 0, 6, {4}, {block_site(0, 0, 2), block_site(1, 1, 3), block_site(2, 3, 2), block_site(3, 4, 3)}}}};
  spool.counts = {{0, 1, 2, 4, {2, 3, 1, 1, 10, 3}}};
  Lines remarks;
  const trace::BlockCounts counts = read(spool, remarks);
  EXPECT_THAT(remarks, IsEmpty());
  EXPECT_THAT(counts.lanes, ElementsAre(10, 3, 7, 10));
  EXPECT_THAT(counts.groups, ElementsAre(2, 1, 1, 3));
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
  spool.counts.push_back({0, 2, 2, 4, {1, 1, 0, 0, 0, 0}});
  spool.counts.push_back({0, 3, 1, 4, {5, 0, 0, 0, 0, 0}});
  spool.counts.push_back({1, 4, 2, 4, {100, 0, 0, 0, 0, 0}});  // of another device
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

TEST(InstructionCountsOfASpool, AreTheCountersOrThoseOfTheirBlocks) {
  SpoolContents spool = contents_with_instructions();
  spool.counts.push_back(spool.counts[0]);
  Lines remarks;
  const ShaderCounts counts = read_all(spool, remarks);
  EXPECT_THAT(remarks, IsEmpty());
  EXPECT_THAT(counts.blocks.lanes, ElementsAre(20, 6, 14, 20));
  EXPECT_THAT(counts.branches.pipeline, ElementsAre(2));
  EXPECT_THAT(counts.branches.block, ElementsAre(0));
  EXPECT_THAT(counts.branches.instruction, ElementsAre(6));
  EXPECT_THAT(counts.branches.lanes, ElementsAre(20));
  EXPECT_THAT(counts.branches.groups, ElementsAre(4));
  EXPECT_THAT(counts.branches.uniform, ElementsAre(2));
  EXPECT_THAT(counts.branches.uniform_address, IsEmpty());
  EXPECT_THAT(counts.loads.shader, ElementsAre(4, 4, 4));
  EXPECT_THAT(counts.loads.block, ElementsAre(0, 1, 1));
  EXPECT_THAT(counts.loads.instruction, ElementsAre(4, 8, 9));
  EXPECT_THAT(counts.loads.lanes, ElementsAre(18, 6, 6));
  EXPECT_THAT(counts.loads.groups, ElementsAre(4, 2, 2));
  EXPECT_THAT(counts.loads.uniform, ElementsAre(4, 2, 2));
  EXPECT_THAT(counts.loads.uniform_address, ElementsAre(trace::kNotCompared, 0, 2));
}

TEST(InstructionCountsOfASpool, NeedNoBlocks) {
  SpoolContents spool = contents_with_instructions();
  auto& sites = spool.counters[4].functions[0].sites;
  sites.erase(sites.begin(), sites.begin() + 4);
  Lines remarks;
  const ShaderCounts counts = read_all(spool, remarks);
  EXPECT_THAT(remarks, IsEmpty());
  EXPECT_EQ(counts.blocks.size(), 0U);
  EXPECT_THAT(counts.branches.lanes, ElementsAre(10));
  EXPECT_THAT(counts.loads.lanes, ElementsAre(9, 3, 3)) << "the last one's are those of the load before it";
  EXPECT_THAT(counts.loads.groups, ElementsAre(2, 1, 1));
}

/// A table of three slots for load 8 of block 1: 5 in two lanes, 2^31 in one, a free slot.
SpoolContents contents_with_values() {
  SpoolContents result = contents_with_instructions();
  spool::Counters& counters = result.counters[4];
  counters.cells = counters.functions[0].cells = 19 + 12;
  counters.functions[0].sites.push_back({SiteKind::Value, spool::kNone, 1, 8, 19, 3, 0, 2, 3});
  constexpr std::uint64_t kHeld = std::uint64_t{1} << 32;
  for (const std::uint64_t count :
       {std::uint64_t{3}, std::uint64_t{2}, std::uint64_t{0}, kHeld + 5, std::uint64_t{2}, std::uint64_t{1},
        kHeld + 0x80000000, std::uint64_t{1}, std::uint64_t{0}, std::uint64_t{0}, std::uint64_t{0}, std::uint64_t{0}}) {
    result.counts[0].cells.push_back(count);
  }
  return result;
}

TEST(ValueCountsOfASpool, AreTheTables) {
  Lines remarks;
  const trace::ValueCounts values = read_all(contents_with_values(), remarks).values;
  EXPECT_THAT(remarks, IsEmpty());
  EXPECT_THAT(values.pipeline, ElementsAre(2));
  EXPECT_THAT(values.shader, ElementsAre(4));
  EXPECT_THAT(values.block, ElementsAre(1));
  EXPECT_THAT(values.instruction, ElementsAre(8));
  EXPECT_THAT(values.component, ElementsAre(2));
  EXPECT_THAT(values.lanes, ElementsAre(3));
  EXPECT_THAT(values.groups, ElementsAre(2));
  EXPECT_THAT(values.place, ElementsAre(0, 0));
  EXPECT_THAT(values.value, ElementsAre(5, 0x80000000));
  EXPECT_THAT(values.value_lanes, ElementsAre(2, 1));
  EXPECT_THAT(values.uniform_groups, ElementsAre(1, 0));
  EXPECT_THAT(values.most_lanes, ElementsAre(2, 1));
}

/// A key comes with each launch that added to its slot; executions of a slot without a key have no value.
TEST(ValueCountsOfASpool, AreSumsOfLaunches) {
  SpoolContents spool = contents_with_values();
  spool.counts.push_back(spool.counts[0]);
  auto& later = spool.counts[1].cells;
  later[22] = later[25] = 0;
  later[28] = (std::uint64_t{1} << 32) + 9;
  later[19] = 6;
  later[29] = 2;
  Lines remarks;
  const trace::ValueCounts values = read_all(spool, remarks).values;
  EXPECT_THAT(remarks, IsEmpty());
  EXPECT_THAT(values.lanes, ElementsAre(9));
  EXPECT_THAT(values.value, ElementsAre(5, 9, 0x80000000));
  EXPECT_THAT(values.value_lanes, ElementsAre(4, 2, 2));
  later[22] = spool.counts[0].cells[22];
  later[25] = spool.counts[0].cells[25];
  EXPECT_THAT(read_all(spool, remarks).values.value_lanes, ElementsAre(4, 2, 2)) << "keys of both launches";
  const trace::ValueCounts alone = [&] {
    SpoolContents later_alone = spool;
    later_alone.counts.erase(later_alone.counts.begin());
    return read_all(later_alone, remarks).values;
  }();
  EXPECT_THAT(alone.value, ElementsAre(5, 9, 0x80000000)) << "a launch alone has the keys of its slots";
  EXPECT_THAT(remarks, IsEmpty());
  later[22] = (std::uint64_t{1} << 32) + 6;
  EXPECT_TRUE(read_all(spool, remarks).values.value.empty());
  EXPECT_THAT(remarks, ElementsAre(HasSubstr("has a value of"))) << "a slot with two keys";
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
  SpoolContents spool = contents_with_values();
  GetParam().damage(spool);
  Lines remarks;
  const ShaderCounts counts = read_all(spool, remarks);
  EXPECT_EQ(counts.blocks.size() + counts.branches.size() + counts.loads.size() + counts.values.size(), 0U);
  EXPECT_THAT(remarks, ElementsAre(HasSubstr(GetParam().line)));
}

spool::CountedFunction& function(SpoolContents& spool) {
  return spool.counters[4].functions[0];
}

INSTANTIATE_TEST_SUITE_P(
    Spool, DamagedCounters,
    testing::Values(
        Damage{"NoLayout", [](SpoolContents& s) { s.counters.clear(); },
               "launch 1: the module of shader 4 is not counted: the places of its counters are not in the spool"},
        Damage{"TooFew", [](SpoolContents& s) { s.counts[0].cells.pop_back(); }, "30 counts, 31 expected"},
        Damage{"NoModule",
               [](SpoolContents& s) {
                 s.shaders[4].spirv = {1, 2, 3};
               },
               "the words do not begin with a SPIR-V header"},
        Damage{"NoShader", [](SpoolContents& s) { s.shaders.clear(); },
               "the module of shader 4 is not counted: it is not in the spool"},
        Damage{"Overflow",
               [](SpoolContents& s) {
                 s.counts[0].cells[0] = ~std::uint64_t{0};
                 s.counts.push_back(s.counts[0]);
               },
               "the module of shader 4 in pipeline 2 is not counted: a count has more than 64 bits"},
        Damage{"Function", [](SpoolContents& s) { function(s).function = 9; },
               "function 9 of the module of shader 4 in pipeline 2 is not counted: the module has 2 functions"},
        Damage{"ShaderOfFunction",
               [](SpoolContents& s) {
                 function(s).shaders = {6, 4};
               },
               "its shaders are not in the spool, or not in order"},
        Damage{"NoShaderOfFunction", [](SpoolContents& s) { function(s).shaders.clear(); },
               "its shaders are not in the spool, or not in order"},
        Damage{"Counter", [](SpoolContents& s) { function(s).first = 1; }, "its last count would be number 32 of 31"},
        Damage{"HugeCounter", [](SpoolContents& s) { function(s).first = 0xFFFFFFFF; }, "its last count would be"},
        Damage{"Site", [](SpoolContents& s) { function(s).sites[3].to = 7; }, "block 7 is counted, which the function"},
        Damage{"Flow", [](SpoolContents& s) { s.counts[0].cells[6] = 11; },
               "in shader 4: they contradict each other: block 0: not as many invocations come in as go out"},
        Damage{"Groups", [](SpoolContents& s) { s.counts[0].cells[5] = 8; },
               "block 2 would have run with 7 lanes in 8 groups"},
        Damage{"FewGroups", [](SpoolContents& s) { s.counts[0].cells[7] = 1; },
               "block 3 would have run with 10 lanes in 1 group"},
        Damage{"GroupsOfAnEdge", [](SpoolContents& s) { function(s).sites[1].from = 0; },
               "groups of lanes cannot be counted on an edge"},
        Damage{"Cells", [](SpoolContents& s) { function(s).sites[4].cells = 5; }, "a site has the numbers 5"},
        Damage{"CellsOfABlock", [](SpoolContents& s) { function(s).sites[0].cells = 7; }, "a site has the numbers 7"},
        Damage{"ProvenAndCounted", [](SpoolContents& s) { function(s).sites[4].always = 4; },
               "a site has the numbers 7"},
        Damage{"CellBehindTheLast", [](SpoolContents& s) { function(s).sites[7].cell = 29; },
               "a site's last count would be number 32 of 31"},
        Damage{"TableBehindTheLast", [](SpoolContents& s) { function(s).sites[8].slots = 4; },
               "a site's last count would be number 34 of 31"},
        Damage{"HugeTable", [](SpoolContents& s) { function(s).sites[8].slots = 0xFFFF; },
               "a site's last count would be number 213010 of 31"},
        Damage{"NoTable", [](SpoolContents& s) { function(s).sites[8].slots = 0; },
               "a site of component 2 has a table of size 0"},
        Damage{"TableOfALoad", [](SpoolContents& s) { function(s).sites[5].slots = 1; },
               "a site of component 0 has a table of size 1"},
        Damage{"Component", [](SpoolContents& s) { function(s).sites[8].component = 4; },
               "a site of component 4 has a table of size 3"},
        Damage{"ComponentTwice", [](SpoolContents& s) { function(s).sites.push_back(function(s).sites[8]); },
               "instruction 8 is there twice"},
        Damage{"Key", [](SpoolContents& s) { s.counts[0].cells[22] = 5; }, "instruction 8 has a value of 5"},
        Damage{"TwoKeysOfASlot",
               [](SpoolContents& s) {
                 s.counts.push_back(s.counts[0]);
                 ++s.counts.back().cells[22];
               },
               "instruction 8 has a value of 18446744073709551615"},
        Damage{"MoreOfAValueThanExecuted", [](SpoolContents& s) { s.counts[0].cells[26] = 2; },
               "instruction 8 would have had a value in 2 lanes and 0 groups of 3 lanes in 2 groups"},
        Damage{"MoreUniformOfAValue", [](SpoolContents& s) { s.counts[0].cells[24] = 3; },
               "instruction 8 would have had a value in 2 lanes and 3 groups of 3 lanes in 2 groups"},
        Damage{"KeyWithoutLanes", [](SpoolContents& s) { s.counts[0].cells[26] = 0; },
               "instruction 8 would have had a value in 0 lanes"},
        Damage{"GroupsOfAValue", [](SpoolContents& s) { s.counts[0].cells[20] = 4; },
               "instruction 8 would have run with 3 lanes in 4 groups"},
        Damage{"Instruction", [](SpoolContents& s) { function(s).sites[4].instruction = 7; },
               "block 0 has no instruction 7"},
        Damage{"BlockOfAnInstruction", [](SpoolContents& s) { function(s).sites[4].to = 4; },
               "block 4 has no instruction 6"},
        Damage{"InstructionTwice", [](SpoolContents& s) { function(s).sites[6].instruction = 8; },
               "instruction 8 is there twice"},
        Damage{
            "NoCounterAndNoBlock",
            [](SpoolContents& s) { function(s).sites.erase(function(s).sites.begin(), function(s).sites.begin() + 6); },
            "instruction 9 has no counter, and its block has none"},
        Damage{"MoreUniformThanExecuted", [](SpoolContents& s) { function(s).sites[7].cells = 4; },
               "instruction 4 would have been uniform in 9 of 2 groups"},
        Damage{"NotBothKinds", [](SpoolContents& s) { function(s).sites[5].cells = 15; }, "a site has the numbers 15"},
        Damage{"GroupsOfAnInstruction", [](SpoolContents& s) { s.counts[0].cells[11] = 0; },
               "instruction 8 would have run with 0 lanes in 1 group"}),
    [](const auto& damage) { return std::string(damage.param.name); });

/// The rest of the trace is there.
class TraceWithBlockCounts : public IngestTest {};

TEST_F(TraceWithBlockCounts, KeepsItsEventsWhateverTheCountersSay) {
  test::SyntheticCapture capture = test::synthesize({});
  capture.shaders[0].spirv = test::branching_shader();
  capture.expected.shaders[0].spirv = test::branching_shader();
  const spool::Counters counters = {0, 2, {{0, 0, 2, {0}, {block_site(0, 0, 1), block_site(1, 1, 1)}}}};
  for (const std::uint64_t second : {3U, 11U}) {
    std::filesystem::remove(file("s.rrspool"));
    capture.counters = {counters};
    capture.counts = {
        {capture.device.device, capture.launches[0].launch.launch, capture.pipeline.pipeline, 0, {10, second}}};
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
