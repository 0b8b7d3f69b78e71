// Every rule of a trace, broken once: the message names the dataset and the row. And the fast check of events against
// the plain one, on random damage.
#include <limits>
#include <numeric>

#include "capture/trace/rules/event_context.hpp"
#include "capture/trace/rules/rules.hpp"
#include "capture/trace/texel_address.hpp"
#include "capture/trace/validate.hpp"
#include "tests/support/launch_builder.hpp"
#include "tests/trace/sound_trace.hpp"
#include "tests/trace/support.hpp"

namespace rayreplay::trace {
namespace {

using test::LaunchBuilder;
using test::Random;
using test::random_trace;
using testing::HasSubstr;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Trace sound_trace_with_everything() {
  Trace trace = sound_trace();
  trace.header.warp_size = 4;
  Launch& launch = trace.launches[0];
  launch.thread_warp = {0, 0};
  launch.thread_lane = {1, 3};
  launch.groups.warp = {0};
  launch.groups.sm = {5};
  launch.groups.lane_mask = {0xA};
  launch.groups.clock = {77};
  launch.data.events.group.assign(14, 0);
  launch.data.events.geometry.assign(14, 0);
  trace.scene.tlases = {{0, 0}, {0, 2}};
  launch.tlas = 1;
  launch.data.rays.site.assign(4, 0);
  launch.data.rays.hint.assign(4, 0);
  launch.data.rays.hint_bits.assign(4, 32);
  launch.shader_table = {{TableRegion::RayGeneration, 0, kRayGen, kNoShader, kNoShader, kNoShader, {1, 2}},
                         {TableRegion::Hit, 3, kNoShader, kHit, kAny, kInt, {}},
                         {TableRegion::Miss, 0, kNoShader, kNoShader, kNoShader, kNoShader, {}}};
  trace.block_counts = {{0, 0, 0, 2}, {1, 1, 3, 1}, {0, 0, 2, 0}, {0, 1, 0, 0}, {7, 0, 9, 4}, {2, 0, 9, 1}};
  trace.branch_counts = {{0, 0}, {1, 1}, {0, 0}, {0, 1}, {6, 12}, {7, 0}, {2, 0}, {1, 0}, {}};
  trace.load_counts = {{0, 2}, {1, 1}, {0, 0}, {0, 1}, {6, 4}, {7, 9}, {2, 3}, {kNotCompared, 3}, {2, 0}};
  trace.value_counts = {{0, 0}, {1, 1},    {0, 0},    {1, 1},    {4, 4},    {0, 2},   {7, 5},
                        {2, 2}, {0, 0, 1}, {3, 9, 1}, {2, 4, 5}, {1, 0, 1}, {2, 5, 5}};
  launch.data.events.ray = {0, 0, 0, 0, 0, 0, 1, 1, 1, 0, kNone, 0, 0, 1};
  trace.paths = {{kRayGen, kHit, kHit}, {2, 0, 1}, {1, 1, 0, 1, 2}, {kRayGen, kHit, kHit}, {0, 0, 0}, {0, 0, 1}};
  launch.data.events.path.assign(14, 0);
  launch.data.events.path[5] = 3;
  launch.thread_path = {1, 1};
  using enum AccessKind;
  using enum AccessSpace;
  trace.access_sites = {{kRayGen, kRayGen, kHit},           {0, 0, 1}, {0, 2, 0}, {5, 9, 3}, {Load, Store, Atomic},
                        {Descriptor, Device, ShaderRecord}, {1, 0, 0}, {2, 0, 0}, {3, 0, 0}, {4, 8, 16}};
  trace.pipeline_facts = sound_pipeline_facts();
  // Two views of a compressed picture with levels, one of a 3D image.
  using enum Filter;
  launch.images = {{0, 0, 1},   {1, 2, 0},  {0, 5, 0}, {0, 0, 1},   {60, 60, 8},
                   {30, 30, 9}, {1, 1, 10}, {2, 2, 1}, {5, 5, 1},   {1, 0, 9},
                   {4, 0, 0},   {5, 5, 1},  {4, 4, 1}, {16, 16, 4}, {None, Linear, Nearest}};
  launch.data.accesses = {{0, 3, 4}, {0, 0, 9, 2}, {0, 1, 2, 1}, {8, 0x1'0000'0000, 0, 16}, {0, 1, 2, 1}};
  return trace;
}

struct Broken {
  const char* name;
  std::function<void(Trace&)> damage;
  const char* where;
  const char* what;
};

void PrintTo(const Broken& broken, std::ostream* out) {
  *out << broken.name;
}

Launch& first(Trace& trace) {
  return trace.launches[0];
}
Events& events(Trace& trace) {
  return first(trace).data.events;
}
Rays& rays(Trace& trace) {
  return first(trace).data.rays;
}

class RulesTest : public testing::TestWithParam<Broken> {};

TEST_P(RulesTest, IsFoundAndNamed) {
  Trace trace = sound_trace_with_everything();
  ASSERT_NO_THROW(check(trace, "t.rrt"));
  GetParam().damage(trace);
  const Error error = error_of([&] { check(trace, "t.rrt"); });
  EXPECT_EQ(error.kind(), ErrorKind::Input);
  EXPECT_EQ(error.info().where, std::string("t.rrt:") + GetParam().where);
  EXPECT_THAT(error.what(), HasSubstr(GetParam().what));
  EXPECT_THAT(error.info().fix, HasSubstr("again"));
  // As the first of all faults.
  const Findings findings = find_faults(trace, "t.rrt", 100);
  ASSERT_FALSE(findings.faults.empty());
  EXPECT_EQ(findings.faults[0].where, error.info().where);
  EXPECT_EQ(findings.faults[0].what, error.info().what);
}

const Broken kBroken[] = {
    {"WarpSize", [](Trace& t) { t.header.warp_size = 65; }, "/warp_size", "the warp size is out of range (found 65"},
    {"Driver", [](Trace& t) { t.header.driver = "a\xFF"; }, "/driver",
     "the text is not UTF-8 (found the byte 0xff at byte 1; expected UTF-8"},
    {"NotCaptured",
     [](Trace& t) {
       t.header.not_captured = {"ok", "\xC3"};
     },
     "/not_captured[1]", "the text is not UTF-8 (found the byte 0xc3 at byte 0; expected UTF-8"},
    {"ShaderName", [](Trace& t) { t.shaders[2].name = "\xED\xA0\x80"; }, "/shaders/name[2]", "the text is not UTF-8"},
    {"ShaderEntry", [](Trace& t) { t.shaders[0].entry = "\x80"; }, "/shaders/entry[0]", "the text is not UTF-8"},
    {"GeometryName", [](Trace& t) { t.scene.geometries[1].name = "\xF4\x90"; }, "/scene/geometries/name[1]",
     "the text is not UTF-8"},
    {"TlasGap", [](Trace& t) { t.scene.tlases[1].first_instance = 1; }, "/scene/tlas/first_instance[1]",
     "the structure does not start where the one before ends (found 1; expected 0)"},
    {"TlasShort", [](Trace& t) { t.scene.tlases[1].instance_count = 1; }, "/scene/tlas/instance_count[1]",
     "the structures do not hold all instances (found 1; expected 2"},
    {"LaunchTlas", [](Trace& t) { first(t).tlas = 2; }, "/launch/0",
     "structure is out of range (found 2; expected less than 2"},
    {"InstanceOfAnotherTlas", [](Trace& t) { first(t).tlas = 0; }, "/launch/0/events/instance[1]",
     "the event's instance is out of range (found 1; expected less than 0"},
    {"SiteLength", [](Trace& t) { rays(t).site.pop_back(); }, "/launch/0/rays/site", "another number of rows"},
    {"HintLength", [](Trace& t) { rays(t).hint_bits.clear(); }, "/launch/0/rays/hint_bits", "another number of rows"},
    {"HintBits", [](Trace& t) { rays(t).hint_bits[2] = 33; }, "/launch/0/rays/hint_bits[2]",
     "more bits than there are"},
    {"RecordRegion", [](Trace& t) { first(t).shader_table[0].region = static_cast<TableRegion>(4); },
     "/launch/0/shader_table/region[0]", "there is no such region (found 4"},
    {"RecordShader", [](Trace& t) { first(t).shader_table[1].any_hit = 6; }, "/launch/0/shader_table/any_hit[1]",
     "shader id is out of range (found 6; expected less than 6"},
    {"RecordStage", [](Trace& t) { first(t).shader_table[2].general = kHit; }, "/launch/0/shader_table/general[2]",
     "cannot stand here (found shader 3, closest-hit; expected miss)"},
    {"RecordSlot", [](Trace& t) { first(t).shader_table[0].any_hit = kAny; }, "/launch/0/shader_table/any_hit[0]",
     "cannot stand here (found shader 2, any-hit; expected none)"},
    {"WarpSizeMissing", [](Trace& t) { t.header.warp_size = 0; }, "/warp_size", "no usable warp size"},
    {"Stage", [](Trace& t) { t.shaders[2].stage = static_cast<ShaderStage>(9); }, "/shaders/stage[2]",
     "there is no such shader stage (found 9; expected less than 9)"},
    {"TooManyShaders", [](Trace& t) { t.shaders.resize(70'000); }, "/shaders", "more shaders than shader ids"},
    {"GeometryType", [](Trace& t) { t.scene.geometries[1].type = static_cast<GeometryType>(2); },
     "/scene/geometries/type[1]", "there is no such geometry type"},
    {"VertexIndex", [](Trace& t) { t.scene.geometries[0].indices[4] = 3; }, "/scene/geometries/type[0]",
     "triangle 1 of the geometry names a vertex that it does not have (found 3; expected less than 3"},
    {"HalfATriangle", [](Trace& t) { t.scene.geometries[0].indices.pop_back(); }, "/scene/geometries/type[0]",
     "not whole vertices, triangles and boxes"},
    {"BoxesOfTriangles", [](Trace& t) { t.scene.geometries[0].boxes.resize(6); }, "/scene/geometries/type[0]",
     "arrays of the other type"},
    {"BlasRange", [](Trace& t) { t.scene.blases[1].geometry_count = 2; }, "/scene/blas/geometry_count[1]",
     "the structure's geometries are out of range"},
    {"BlasWrapsAround",
     [](Trace& t) {
       t.scene.blases[1] = {kNone, 2};
     },
     "/scene/blas/geometry_count[1]", "the structure's geometries are out of range"},
    {"InstanceBlas", [](Trace& t) { t.scene.instances[1].blas = 2; }, "/scene/instances/blas[1]",
     "the instance's structure is out of range (found 2; expected less than 2"},
    {"NoThreads", [](Trace& t) { first(t).size.height = 0; }, "/launch/0", "the launch has no threads"},
    {"TooManyThreads",
     [](Trace& t) {
       first(t).size = {1U << 22, 1U << 22, 1U << 20};
     },
     "/launch/0", "more than 2^32 threads"},
    {"OffsetsLength", [](Trace& t) { first(t).data.ray_offset.push_back(4); }, "/launch/0/threads/ray_offset",
     "another number of rows than its table (found 4; expected 3"},
    {"RayColumnLength", [](Trace& t) { rays(t).t_min.pop_back(); }, "/launch/0/rays/t_min", "(found 3; expected 4"},
    {"EventColumnLength", [](Trace& t) { events(t).group.pop_back(); }, "/launch/0/events/group",
     "(found 13; expected 14"},
    {"LanesLength", [](Trace& t) { first(t).thread_lane.clear(); }, "/launch/0/threads/lane", "(found 0; expected 2"},
    {"GroupsLength", [](Trace& t) { first(t).groups.clock.clear(); }, "/launch/0/groups/clock", "(found 0; expected 1"},
    {"OffsetsStart", [](Trace& t) { first(t).data.event_offset[0] = 1; }, "/launch/0/threads/event_offset[0]",
     "the offsets do not start at 0 (found 1; expected 0)"},
    {"OffsetsFall", [](Trace& t) { first(t).data.event_offset[2] = 9; }, "/launch/0/threads/event_offset[2]",
     "the offsets decrease (found 9; expected at least 10"},
    {"OffsetsEnd", [](Trace& t) { first(t).data.ray_offset[2] = 3; }, "/launch/0/threads/ray_offset[2]",
     "the offsets do not end at the number of rows (found 3; expected 4)"},
    {"OffsetsBeyondTheEnd", [](Trace& t) { first(t).data.ray_offset[2] = 1ULL << 60; },
     "/launch/0/threads/ray_offset[2]", "the offsets do not end at the number of rows"},
    {"WarpsSparse",
     [](Trace& t) {
       first(t).thread_warp = {1, 1};
     },
     "/launch/0/threads/warp", "the warp ids are not dense (found no thread in warp 0"},
    {"WarpFar", [](Trace& t) { first(t).thread_warp[1] = kNone; }, "/launch/0/threads/warp[1]",
     "the warp ids are not dense (found 4294967295"},
    {"LaneRange", [](Trace& t) { first(t).thread_lane[1] = 4; }, "/launch/0/threads/lane[1]",
     "the lane is out of range (found 4; expected less than 4"},
    {"LaneTwice", [](Trace& t) { first(t).thread_lane[1] = 1; }, "/launch/0/threads/lane[1]",
     "two threads hold the same lane of a warp (found lane 1 of warp 0 again"},
    {"GroupWarp", [](Trace& t) { first(t).groups.warp[0] = 1; }, "/launch/0/groups/warp[0]",
     "the group's warp is out of range (found 1; expected less than 1"},
    {"LaneMaskEmpty", [](Trace& t) { first(t).groups.lane_mask[0] = 0; }, "/launch/0/groups/lane_mask[0]",
     "the group's lanes are none, or beyond the warp size (found 0x0; expected 1 to 0xf)"},
    {"LaneMaskBeyond", [](Trace& t) { first(t).groups.lane_mask[0] = 0x10; }, "/launch/0/groups/lane_mask[0]",
     "(found 0x10; expected 1 to 0xf)"},
    {"SbtOffset", [](Trace& t) { rays(t).sbt_offset[2] = 16; }, "/launch/0/rays/sbt_offset[2]",
     "does not fit the 4 bits it has (found 16"},
    {"SbtStride", [](Trace& t) { rays(t).sbt_stride[3] = 255; }, "/launch/0/rays/sbt_stride[3]", "(found 255"},
    {"FlagsOfBegin", [](Trace& t) { rays(t).flags[0] = 8; }, "/launch/0/rays/flags[0]",
     "the ray's flags do not fit its event, Begin in row 0 (found 0x8; expected SkipClosestHit (0x8) not set)"},
    {"FlagsOfOcclusion", [](Trace& t) { rays(t).flags[1] = 1; }, "/launch/0/rays/flags[1]", "OcclusionBegin in row 6"},
    {"Kind", [](Trace& t) { events(t).kind[3] = static_cast<EventKind>(11); }, "/launch/0/events/kind[3]",
     "there is no such event kind (found 11; expected less than 11)"},
    {"KindWrapsAround", [](Trace& t) { events(t).kind[3] = static_cast<EventKind>(16 + 4); },
     "/launch/0/events/kind[3]", "there is no such event kind (found 20"},
    {"ShaderRange", [](Trace& t) { events(t).shader[12] = 6; }, "/launch/0/events/shader[12]",
     "the event's shader id is out of range (found 6; expected less than 6, the number of shaders)"},
    {"NoShader", [](Trace& t) { events(t).shader[12] = kNoShader; }, "/launch/0/events/shader[12]", "(found 65535"},
    {"ShaderStage", [](Trace& t) { events(t).shader[5] = kMiss; }, "/launch/0/events/shader[5]",
     "a shader of this stage cannot make the event ClosestHit (found shader 4, miss; expected closest-hit)"},
    {"CallerStage", [](Trace& t) { events(t).shader[0] = kAny; }, "/launch/0/events/shader[0]",
     "cannot make the event Begin (found shader 2, any-hit; expected ray-generation or closest-hit or miss)"},
    {"MoreRaysThanRows", [](Trace& t) { first(t).data.ray_offset[1] = 1; }, "/launch/0/events/kind[6]",
     "the thread begins more rays than it has (found 2; expected 1)"},
    {"FewerRaysThanRows", [](Trace& t) { first(t).data.ray_offset[1] = 3; }, "/launch/0/threads/ray_offset[1]",
     "the thread begins fewer rays than it has (found 2; expected 3)"},
    {"RayOrder", [](Trace& t) { events(t).ray[6] = 0; }, "/launch/0/events/ray[6]",
     "the event begins another ray than the thread's next (found 0; expected 1)"},
    {"RayNotBegun", [](Trace& t) { events(t).ray[5] = 1; }, "/launch/0/events/ray[5]",
     "the event's ray has not begun (found 1; expected less than 1"},
    {"NoRay", [](Trace& t) { events(t).ray[5] = kNone; }, "/launch/0/events/ray[5]", "the event's ray has not begun"},
    {"RayIsOver", [](Trace& t) { events(t).ray[7] = 0; }, "/launch/0/events/kind[7]",
     "the event cannot happen at this place of its ray (found AnyHit; expected Begin, OcclusionBegin, Callable, "
     "Reorder)"},
    {"GroupRange", [](Trace& t) { events(t).group[13] = 1; }, "/launch/0/events/group[13]",
     "the event's group is out of range (found 1; expected less than 1"},
    {"TOfMiss", [](Trace& t) { events(t).t[12] = 1; }, "/launch/0/events/t[12]",
     "the event Miss does not carry this (found 1; expected 0)"},
    {"InstanceOfBegin", [](Trace& t) { events(t).instance[0] = 1; }, "/launch/0/events/instance[0]",
     "the event Begin does not carry this"},
    {"PrimitiveOfIgnore", [](Trace& t) { events(t).primitive[4] = 1; }, "/launch/0/events/primitive[4]",
     "the event IgnoreIntersection does not carry this"},
    {"GeometryOfTerminate", [](Trace& t) { events(t).geometry[8] = 1; }, "/launch/0/events/geometry[8]",
     "the event TerminateRay does not carry this"},
    {"HitKindOfIntersection", [](Trace& t) { events(t).hit_kind[1] = 1; }, "/launch/0/events/hit_kind[1]",
     "the event Intersection does not carry this"},
    {"AcceptedAnyHit", [](Trace& t) { events(t).accepted[3] = 1; }, "/launch/0/events/accepted[3]",
     "the event AnyHit does not carry this"},
    {"AcceptedTwice", [](Trace& t) { events(t).accepted[2] = 2; }, "/launch/0/events/accepted[2]",
     "the value is neither yes nor no (found 2; expected 0 or 1)"},
    {"NanIntersection", [](Trace& t) { events(t).t[1] = kNan; }, "/launch/0/events/t[1]",
     "the t of Intersection is not a number"},
    {"NanAnyHit", [](Trace& t) { events(t).t[7] = -kNan; }, "/launch/0/events/t[7]", "the t of AnyHit is not a number"},
    {"NanClosestHit", [](Trace& t) { events(t).t[5] = kNan; }, "/launch/0/events/t[5]",
     "the t of ClosestHit is not a number"},
    {"NanAccepted",
     [](Trace& t) {
       events(t).t[2] = kNan;
       events(t).accepted[2] = 1;
     },
     "/launch/0/events/t[2]", "the t of ReportIntersection is not a number"},
    {"InstanceRange", [](Trace& t) { events(t).instance[5] = 2; }, "/launch/0/events/instance[5]",
     "the event's instance is out of range (found 2; expected less than 2, the number of instances)"},
    {"NoInstance", [](Trace& t) { events(t).instance[5] = kNone; }, "/launch/0/events/instance[5]",
     "the event's instance is out of range (found 4294967295"},
    {"GeometryRange", [](Trace& t) { events(t).geometry[5] = 1; }, "/launch/0/events/geometry[5]",
     "the event's geometry is out of range (found 1; expected less than 1, the geometries of instance 0)"},
    {"PrimitiveRange", [](Trace& t) { events(t).primitive[5] = 2; }, "/launch/0/events/primitive[5]",
     "the event's primitive is out of range (found 2; expected less than 2, the primitives of geometry 0 of instance "
     "0"},
    {"ReportInstance",
     [](Trace& t) {
       events(t).instance[2] = 0;
       events(t).primitive[2] = 1;
     },
     "/launch/0/events/instance[2]",
     "the report names another object than its Intersection (found 0; expected 1, as in row 1)"},
    {"BlockColumn", [](Trace& t) { t.block_counts.block.pop_back(); }, "/profile/blocks/block",
     "the column has another length than lanes (found 3; expected 4)"},
    {"BlockGroupsColumn", [](Trace& t) { t.block_counts.groups.push_back(1); }, "/profile/blocks/groups",
     "the column has another length than lanes (found 5; expected 4)"},
    {"BlockShader", [](Trace& t) { t.block_counts.shader[2] = 6; }, "/profile/blocks/shader[2]",
     "the block's shader id is out of range (found 6; expected less than 6, the number of shaders)"},
    {"BlockTwice", [](Trace& t) { t.block_counts.block[1] = 0; }, "/profile/blocks/block[1]",
     "the rows do not ascend (found pipeline 0, shader 1, function 0, block 0"},
    {"BlockGroups", [](Trace& t) { t.block_counts.groups[2] = 10; }, "/profile/blocks/groups[2]",
     "so many lanes cannot have run in so many groups (found 9 lanes in 10 groups; expected 1 to 4 lanes in each)"},
    {"BlockLanes", [](Trace& t) { t.block_counts.lanes[3] = 5; }, "/profile/blocks/groups[3]",
     "so many lanes cannot have run in so many groups (found 5 lanes in 1 groups"},
    {"AccessColumn", [](Trace& t) { first(t).data.accesses.event.pop_back(); }, "/launch/0/accesses/event",
     "the column has another number of rows than its table (found 3; expected 4, the number of accesses)"},
    {"AccessOffsets", [](Trace& t) { first(t).data.accesses.offset[2] = 5; }, "/launch/0/threads/access_offset[2]",
     "the offsets do not end at the number of rows (found 5; expected 4)"},
    {"AccessOffsetsMissing", [](Trace& t) { first(t).data.accesses.offset.clear(); }, "/launch/0/threads/access_offset",
     "the column has another number of rows than its table (found 0; expected 3"},
    {"AccessOfNoSite", [](Trace& t) { first(t).data.accesses.site[3] = 3; }, "/launch/0/accesses/site[3]",
     "there is no such site (found 3; expected less than 3, the number of sites)"},
    {"AccessOffsetTooLarge", [](Trace& t) { first(t).data.accesses.address[2] = 1ULL << 32U; },
     "/launch/0/accesses/address[2]", "an offset has more than 32 bits"},
    {"AccessBeforeTheOneBefore", [](Trace& t) { first(t).data.accesses.event[0] = 1; }, "/launch/0/accesses/event[1]",
     "the events before the access are fewer than before, or too many (found 0;"},
    {"AccessBehindTheThread", [](Trace& t) { first(t).data.accesses.event[2] = 100; }, "/launch/0/accesses/event[2]",
     "the events before the access are fewer than before, or too many (found 100;"},
    {"AccessGroupBeyond", [](Trace& t) { first(t).data.accesses.group[2] = 4; }, "/launch/0/accesses/group[2]",
     "the groups are not dense (found 4; expected less than 4, the number of accesses)"},
    {"AccessGroupMissing", [](Trace& t) { first(t).data.accesses.group[2] = 3; }, "/launch/0/accesses/group",
     "the groups are not dense (found no access in group 2; expected accesses in every group up to 3)"},
    {"AccessGroupOfTwoSites", [](Trace& t) { first(t).data.accesses.group[3] = 2; }, "/launch/0/accesses/group[3]",
     "a group has two sites, or a thread twice (found 2;"},
    {"AccessGroupOfOneThread",
     [](Trace& t) {
       first(t).data.accesses.site[2] = 1;
       first(t).data.accesses.group[2] = 1;
     },
     "/launch/0/accesses/group[2]", "a group has two sites, or a thread twice (found 1;"},
    {"ImageColumn", [](Trace& t) { first(t).images.depth.pop_back(); }, "/launch/0/images/depth",
     "the column has another number of rows than its table (found 2; expected 3)"},
    {"ImageFilterColumn", [](Trace& t) { first(t).images.filter.push_back(Filter::None); }, "/launch/0/images/filter",
     "the column has another number of rows than its table (found 4; expected 3)"},
    {"ImageTwice", [](Trace& t) { first(t).images.set[2] = 0; }, "/launch/0/images/element[2]",
     "the rows do not ascend (found set 0, binding 0, element 0; expected each descriptor once"},
    {"ImageFilter", [](Trace& t) { first(t).images.filter[1] = static_cast<Filter>(3); }, "/launch/0/images/filter[1]",
     "there is no such filter (found 3; expected less than 3)"},
    {"ImageWidth", [](Trace& t) { first(t).images.width[2] = 0; }, "/launch/0/images/image[2]",
     "the image's size is out of range: 0x9x10 with 1 layers, not 1 to 65536 each (found image 1;"},
    {"ImageHeight", [](Trace& t) { first(t).images.height[2] = 65537; }, "/launch/0/images/image[2]",
     "the image's size is out of range: 8x65537x10"},
    {"ImageDepth", [](Trace& t) { first(t).images.depth[0] = 2; }, "/launch/0/images/image[0]",
     "the image has a depth (2) and layers (2)"},
    {"ImageLayers", [](Trace& t) { first(t).images.layers[1] = kNone; }, "/launch/0/images/image[1]",
     "the image's size is out of range: 60x30x1 with 4294967295 layers"},
    {"ImageLevels", [](Trace& t) { first(t).images.levels[1] = 7; }, "/launch/0/images/image[1]",
     "the image's levels are out of range: 7, not 1 to 6"},
    {"ImageBlock", [](Trace& t) { first(t).images.block_height[1] = 17; }, "/launch/0/images/image[1]",
     "the image's blocks are out of range: 5x17 texels of 16 bytes, not 1 to 16 each and 1 to 2048"},
    {"ImageBlockBytes", [](Trace& t) { first(t).images.block_bytes[2] = 0; }, "/launch/0/images/image[2]",
     "the image's blocks are out of range: 1x1 texels of 0 bytes"},
    {"ImageBytes",
     [](Trace& t) {
       Images& images = first(t).images;
       images.width[2] = images.height[2] = images.depth[2] = 65536;
     },
     "/launch/0/images/image[2]", "the image has more than 17592186044416 bytes"},
    {"ImageBaseLayer", [](Trace& t) { first(t).images.base_layer[2] = 10; }, "/launch/0/images/image[2]",
     "the view's first layer is out of range: 10, not less than 10"},
    {"ImageBaseLevel", [](Trace& t) { first(t).images.base_level[0] = 5; }, "/launch/0/images/image[0]",
     "the view's first level is out of range: 5, not less than 5"},
    {"ImageOfTwoSizes", [](Trace& t) { first(t).images.width[1] = 61; }, "/launch/0/images/image[1]",
     "an image has two sizes or two kinds of blocks (found 0;"},
    {"ImageNumber", [](Trace& t) { first(t).images.image[2] = 2; }, "/launch/0/images/image[2]",
     "the numbers of images are not dense (found 2; expected at most 1, in order of first appearance)"},
    {"AccessesWithoutSites", [](Trace& t) { t.access_sites = {}; }, "/launch/0/threads/access_offset",
     "the launch has accesses, but there is no table of their sites"},
    {"AccessSiteColumn", [](Trace& t) { t.access_sites.set.pop_back(); }, "/profile/access_sites/set",
     "the column has another number of rows than its table (found 2; expected 3)"},
    {"AccessSiteShader", [](Trace& t) { t.access_sites.shader[2] = 6; }, "/profile/access_sites/shader[2]",
     "the shader id is out of range (found 6; expected less than 6, the number of shaders)"},
    {"AccessSiteTwice", [](Trace& t) { t.access_sites.instruction[1] = 5; }, "/profile/access_sites/instruction[1]",
     "the rows do not ascend (found shader 0, function 0, instruction 5;"},
    {"AccessSiteKind", [](Trace& t) { t.access_sites.kind[1] = static_cast<AccessKind>(4); },
     "/profile/access_sites/kind[1]", "there is no such value (found 4; expected less than 4)"},
    {"AccessSiteSample", [](Trace& t) { t.access_sites.kind[1] = AccessKind::Sample; }, "/profile/access_sites/kind[1]",
     "only images are sampled (found sample; expected load, store or atomic)"},
    {"AccessSiteImageBytes",
     [](Trace& t) {
       t.access_sites.space[0] = AccessSpace::Image;
       t.access_sites.element[0] = 0;
     },
     "/profile/access_sites/bytes[0]", "an access to an image has bytes (found 4; expected 0)"},
    {"AccessSiteImageElement",
     [](Trace& t) {
       t.access_sites.space[0] = AccessSpace::Image;
       t.access_sites.bytes[0] = 0;
     },
     "/profile/access_sites/element[0]", "the element of an image is in the addresses (found 3; expected 0)"},
    {"AccessSiteSpace", [](Trace& t) { t.access_sites.space[0] = static_cast<AccessSpace>(9); },
     "/profile/access_sites/space[0]", "there is no such value (found 9; expected less than 4)"},
    {"AccessSiteDescriptor", [](Trace& t) { t.access_sites.binding[1] = 1; }, "/profile/access_sites/set[1]",
     "a site without a descriptor names one (found set 0, binding 1, element 0;"},
    {"AccessSiteBytes", [](Trace& t) { t.access_sites.bytes[0] = 0; }, "/profile/access_sites/bytes[0]",
     "an access has no bytes (found 0; expected 1 or more)"},
    {"PipelineTwice", [](Trace& t) { t.pipeline_facts[1].pipeline = 2; }, "/pipelines/pipeline[1]",
     "the rows do not ascend (found 2; expected more than 2)"},
    {"PipelineSetStack", [](Trace& t) { t.pipeline_facts[1].dynamic_stack = false; }, "/pipelines/set_stack[1]",
     "a stack size was set for a pipeline without a dynamic one (found 4096; expected 0)"},
    {"GroupShader", [](Trace& t) { t.pipeline_facts[0].groups[1].any_hit = 6; }, "/pipelines/groups/any_hit[1]",
     "the group's shader id is out of range (found 6; expected less than 6, the number of shaders)"},
    {"GroupStage", [](Trace& t) { t.pipeline_facts[0].groups[3].general = kHit; }, "/pipelines/groups/general[3]",
     "the shader is of another stage (found closest-hit;"},
    {"GroupStageOfHit", [](Trace& t) { t.pipeline_facts[0].groups[1].closest_hit = kMiss; },
     "/pipelines/groups/closest_hit[1]", "the shader is of another stage (found miss;"},
    {"GroupSizeMissing", [](Trace& t) { t.pipeline_facts[0].groups[1].intersection_bytes = kNoStack; },
     "/pipelines/groups/intersection_bytes[1]", "a shader without a stack size"},
    {"GroupSizeOfNoShader", [](Trace& t) { t.pipeline_facts[0].groups[5].general_bytes = 0; },
     "/pipelines/groups/general_bytes[5]", "a stack size without a shader (found 0;"},
    {"ExecutableName", [](Trace& t) { t.pipeline_facts[0].executables[2].name = "\xFF"; },
     "/pipelines/executables/name[2]", ""},
    {"StatisticName", [](Trace& t) { t.pipeline_facts[0].executables[2].statistics[0].description = "\xFF"; },
     "/pipelines/statistics/description[4]", ""},
    {"StatisticFormat",
     [](Trace& t) { t.pipeline_facts[0].executables[0].statistics[0].format = static_cast<StatisticFormat>(4); },
     "/pipelines/statistics/format[0]", "there is no such value (found 4; expected less than 4)"},
    {"StatisticTruth", [](Trace& t) { t.pipeline_facts[0].executables[0].statistics[1].value = 2; },
     "/pipelines/statistics/value[1]", "this is no truth value (found 2; expected 0 or 1)"},
    {"PathCalls", [](Trace& t) { t.paths.calls[1] = 1; }, "/profile/paths/calls[1]",
     "the path has another number of calls than there are (found 1; expected 0)"},
    {"PathColumn", [](Trace& t) { t.paths.calls.pop_back(); }, "/profile/paths/calls",
     "the column has another number of rows than its table (found 2; expected 3)"},
    {"PathBlockColumn", [](Trace& t) { t.paths.function.pop_back(); }, "/profile/path_blocks/function",
     "the column has another number of rows than its table (found 2; expected 3)"},
    {"PathCounts", [](Trace& t) { t.paths.counts.pop_back(); }, "/profile/paths/counts",
     "the column has another number of rows than its table (found 4; expected 5)"},
    {"PathShader", [](Trace& t) { t.paths.shader[2] = 6; }, "/profile/paths/shader[2]",
     "the shader id is out of range (found 6; expected less than 6, the number of shaders)"},
    {"PathShaders", [](Trace& t) { t.paths.shader[1] = t.paths.shader[2] = 0; }, "/profile/paths/counts",
     "the column has another number of rows than its table (found 5; expected 3)"},
    {"PathOrder", [](Trace& t) { t.paths.shader[0] = 4; }, "/profile/paths/shader[1]",
     "the rows do not ascend (found 3; expected at least 4)"},
    {"PathTwice", [](Trace& t) { t.paths.counts[4] = 0; }, "/profile/paths/counts[3]",
     "the paths of a shader do not ascend by their counts (found path 3; expected each path once"},
    {"PathBlockShader", [](Trace& t) { t.paths.block_shader[2] = 6; }, "/profile/path_blocks/shader[2]",
     "the shader id is out of range (found 6; expected less than 6"},
    {"PathBlockTwice", [](Trace& t) { t.paths.block[2] = 0; }, "/profile/path_blocks/block[2]",
     "the rows do not ascend (found shader 3, function 0, block 0; expected each block once"},
    {"PathOfNoRow", [](Trace& t) { events(t).path[5] = 4; }, "/launch/0/events/path[5]",
     "there is no such path (found 4; expected at most 3, the number of paths)"},
    {"PathOfAnotherShader", [](Trace& t) { events(t).path[5] = 1; }, "/launch/0/events/path[5]",
     "the path is of another shader, or what has it enters no shader (found path 1 of shader 0"},
    {"PathOfACaller", [](Trace& t) { events(t).path[0] = 1; }, "/launch/0/events/path[0]",
     "the path is of another shader, or what has it enters no shader"},
    {"PathOfAThread", [](Trace& t) { first(t).thread_path[1] = 2; }, "/launch/0/threads/path[1]",
     "the path is of another shader, or what has it enters no shader (found path 2 of shader 3"},
    {"PathsOfEventsAlone", [](Trace& t) { first(t).thread_path.clear(); }, "/launch/0/events/path",
     "events and threads have paths together, or neither (found 14 rows; expected 0)"},
    {"PathsWithoutTable", [](Trace& t) { t.paths = {}; }, "/launch/0/threads/path",
     "the launch has paths, but there is no table of them"},
    {"PathsOfThreads", [](Trace& t) { first(t).thread_path.pop_back(); }, "/launch/0/threads/path",
     "the column has another number of rows than its table (found 1; expected 2, the number of threads)"},
    {"BranchColumn", [](Trace& t) { t.branch_counts.instruction.pop_back(); }, "/profile/branches/instruction",
     "the column has another length than lanes (found 1; expected 2)"},
    {"BranchAddresses", [](Trace& t) { t.branch_counts.uniform_address = {1, 0}; }, "/profile/branches/uniform_address",
     "the column has another length than lanes (found 2; expected 0)"},
    {"BranchTwice", [](Trace& t) { t.branch_counts.instruction[1] = 6; }, "/profile/branches/instruction[1]",
     "the rows do not ascend (found pipeline 0, shader 1, function 0, instruction 6"},
    {"BranchUniform", [](Trace& t) { t.branch_counts.uniform[0] = 3; }, "/profile/branches/uniform[0]",
     "more executions were uniform than there are (found 3; expected 2 or fewer, or 18446744073709551615"},
    {"LoadShader", [](Trace& t) { t.load_counts.shader[1] = 6; }, "/profile/loads/shader[1]",
     "the instruction's shader id is out of range (found 6; expected less than 6, the number of shaders)"},
    {"LoadGroups", [](Trace& t) { t.load_counts.groups[0] = 1; }, "/profile/loads/groups[0]",
     "so many lanes cannot have run in so many groups (found 7 lanes in 1 groups"},
    {"LoadAddress", [](Trace& t) { t.load_counts.uniform_address[1] = 4; }, "/profile/loads/uniform_address[1]",
     "more executions were uniform than there are (found 4; expected 3 or fewer"},
    {"LoadAddressColumn", [](Trace& t) { t.load_counts.uniform_address.clear(); }, "/profile/loads/uniform_address",
     "the column has another length than lanes (found 0; expected 2)"},
    {"ValueColumn", [](Trace& t) { t.value_counts.component.pop_back(); }, "/profile/values/component",
     "the column has another number of rows than its table (found 1; expected 2)"},
    {"ValueTableColumn", [](Trace& t) { t.value_counts.most_lanes.pop_back(); }, "/profile/value_tables/most_lanes",
     "the column has another number of rows than its table (found 2; expected 3)"},
    {"ValueShader", [](Trace& t) { t.value_counts.shader[0] = 6; }, "/profile/values/shader[0]",
     "the place's shader id is out of range (found 6; expected less than 6"},
    {"ValueComponent", [](Trace& t) { t.value_counts.component[1] = 4; }, "/profile/values/component[1]",
     "a vector has no such component (found 4; expected 0 to 3)"},
    {"ValuePlaceTwice", [](Trace& t) { t.value_counts.component[1] = 0; }, "/profile/values/instruction[1]",
     "the rows do not ascend (found pipeline 0, shader 1, function 0, instruction 4, component 0"},
    {"ValueGroups", [](Trace& t) { t.value_counts.groups[0] = 1; }, "/profile/values/groups[0]",
     "so many lanes cannot have run in so many groups (found 7 lanes in 1 groups"},
    {"ValueOfNoPlace", [](Trace& t) { t.value_counts.place[2] = 2; }, "/profile/value_tables/place[2]",
     "there is no such place (found 2; expected less than 2, the number of places)"},
    {"ValueTwice", [](Trace& t) { t.value_counts.value[1] = 3; }, "/profile/value_tables/value[1]",
     "the rows do not ascend (found place 0, value 3"},
    {"ValueLanes", [](Trace& t) { t.value_counts.value_lanes[1] = 6; }, "/profile/value_tables/lanes[1]",
     "so many of the place's lanes cannot have had the value (found 6; expected 1 to 5)"},
    {"ValueNever", [](Trace& t) { t.value_counts.value_lanes[0] = 0; }, "/profile/value_tables/lanes[0]",
     "so many of the place's lanes cannot have had the value (found 0; expected 1 to 7)"},
    {"ValueUniform", [](Trace& t) { t.value_counts.uniform_groups[2] = 3; }, "/profile/value_tables/uniform_groups[2]",
     "so many of the place's groups cannot have had the value alone (found 3; expected 2 or fewer)"},
    {"ValueBound", [](Trace& t) { t.value_counts.most_lanes[1] = 3; }, "/profile/value_tables/most_lanes[1]",
     "it bounds the value's lanes, which are some of the place's (found 3; expected 4 to 7)"},
    {"ReportPrimitive", [](Trace& t) { events(t).primitive[2] = 1; }, "/launch/0/events/primitive[2]",
     "(found 1; expected 2, as in row 1)"},
};

INSTANTIATE_TEST_SUITE_P(Broken, RulesTest, testing::ValuesIn(kBroken),
                         [](const auto& broken) { return std::string(broken.param.name); });

// ---------------------------------------------------------------- findings

TEST(FindingsTest, LegalButWorthKnowing) {
  Trace trace = sound_trace();
  rays(trace).origin_y[2] = kNan;
  trace.scene.geometries[0].vertices[3] = kNan;
  trace.scene.instances[1].transform[7] = kNan;
  const Findings findings = find_faults(trace, "t", 10);
  EXPECT_TRUE(findings.faults.empty());
  EXPECT_THAT(
      findings.notes,
      testing::ElementsAre(HasSubstr("NaN in 1 coordinate;"), HasSubstr("NaN in 1 transform"),
                           HasSubstr("/launch/0: NaN in 1 of 4 rays"),
                           HasSubstr("/launch/0: 1 of 4 rays ended in no shader (the shader table is not known)")));
}

TEST(FindingsTest, AccessesToImagesWithoutARow) {
  Trace trace = sound_trace_with_everything();
  trace.access_sites.space[2] = AccessSpace::Image;
  trace.access_sites.binding[2] = 2;  // of set 0: the table has element 5 alone
  first(trace).data.accesses.site = {2, 0, 2, 2};
  first(trace).data.accesses.address = {pack({.x = 5, .element = 5}), 8, pack({.element = 1}),
                                        pack({.y = 3, .element = 5})};
  const auto counts = count_events(trace);
  EXPECT_THAT(collect_notes(trace, counts),
              testing::Contains(HasSubstr("/launch/0: 1 of 3 accesses to images are of descriptors whose image is not "
                                          "in the trace")));
  first(trace).images = {};
  EXPECT_THAT(collect_notes(trace, counts), testing::Contains(HasSubstr("/launch/0: 3 of 3 accesses to images")));
}

TEST(ConservationTest, CountsWhatIsThere) {
  const Findings findings = find_faults(sound_trace(), "t", 10);
  ASSERT_EQ(findings.counts.size(), 1U);
  const EventCounts& counts = findings.counts[0];
  EXPECT_EQ(counts.threads, 2U);
  EXPECT_EQ(counts.threads_with_events, 2U);
  EXPECT_EQ(counts.rays, 4U);
  EXPECT_EQ(counts.by_kind.at(static_cast<std::size_t>(EventKind::Begin)), 3U);
  EXPECT_EQ(counts.by_kind.at(static_cast<std::size_t>(EventKind::OcclusionBegin)), 1U);
  EXPECT_EQ(counts.by_kind.at(static_cast<std::size_t>(EventKind::Callable)), 2U);
  EXPECT_EQ(std::accumulate(counts.by_kind.begin(), counts.by_kind.end(), std::uint64_t{0}), 14U);
}

/// The last ray of the second thread has no end. The launch's properties give the reason.
TEST(ConservationTest, ARayWithoutAnEndHasAReasonOrIsLost) {
  Trace trace = sound_trace();
  Launch& launch = trace.launches[0];
  const auto expect = [&](NoEnd reason, const std::string& text) {
    const EventCounts counts = count_events(trace).at(0);
    EXPECT_EQ(counts.without_end(), 1U);
    EXPECT_EQ(counts.no_end.at(static_cast<std::size_t>(reason)), 1U) << to_string(reason);
    EXPECT_THAT(find_faults(trace, "t", 10).notes, testing::ElementsAre(HasSubstr(text)));
  };
  expect(NoEnd::TableUnknown, "is not known");
  const auto record = [](TableRegion region, std::uint32_t index) {
    ShaderRecord made;
    made.region = region;
    made.index = index;
    return made;
  };
  launch.shader_table = {record(TableRegion::Miss, 0), record(TableRegion::Hit, 0)};
  launch.shader_table[0].general = kMiss;
  expect(NoEnd::NoShader, "no shader there");  // the hit record has no closest-hit shader
  launch.shader_table[1].closest_hit = kHit;
  expect(NoEnd::Lost, "lost");
  launch.data.rays.miss_index[3] = 1;  // no such record
  expect(NoEnd::NoShader, "no shader there");
  launch.dropped_events = 1;
  expect(NoEnd::Dropped, "dropped");
  launch.dropped_events = 0;
  launch.data.events.ray = {0, 0, 0, 0, 0, 0, 1, 1, 1, kNone, kNone, 0, 0, 1};
  expect(NoEnd::HitObject, "hit objects");
}

TEST(FindingsTest, NanIsLegalInARejectedReport) {
  Trace trace = sound_trace();
  events(trace).t[2] = kNan;
  EXPECT_NO_THROW(check(trace, "t"));
}

TEST(FindingsTest, WithoutASceneIdsMayBeAnything) {
  Trace trace = sound_trace();
  trace.scene = {};
  events(trace).instance[5] = kNone;
  events(trace).primitive[5] = kNone;
  EXPECT_NO_THROW(check(trace, "t"));
}

TEST(FindingsTest, AllFaultsInOrderUpToTheLimit) {
  Trace trace = random_trace({.seed = 61, .size = {100, 20, 1}, .launches = 2});
  for (const std::size_t e : {std::size_t{5}, std::size_t{1000}, std::size_t{9000}}) {
    trace.launches[0].data.events.shader[e] = 999;
    trace.launches[1].data.events.shader[e] = 999;
  }
  const Findings all = find_faults(trace, "t", 100);
  ASSERT_EQ(all.faults.size(), 6U);
  EXPECT_EQ(all.faults[0].where, "t:/launch/0/events/shader[5]");
  EXPECT_EQ(all.faults[2].where, "t:/launch/0/events/shader[9000]");
  EXPECT_EQ(all.faults[5].where, "t:/launch/1/events/shader[9000]");
  EXPECT_EQ(find_faults(trace, "t", 2).faults.size(), 2U);
}

// ---------------------------------------------------------------- fast and slow

TEST(EventScanTest, AgreesWithThePlainCheckOnRandomDamage) {
  Random random(62);
  std::size_t broken = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    Trace trace = random_trace({.seed = seed % 64,
                                .size = {6, 2, 1},
                                .scene = (seed & 8U) != 0,
                                .geometry = (seed & 1U) != 0,
                                .ray = (seed & 2U) != 0,
                                .group = (seed & 4U) != 0,
                                .capture = (seed & 16U) != 0});
    Events& e = events(trace);
    Rays& r = rays(trace);
    const std::size_t count = e.size();
    if (count == 0) {
      continue;
    }
    for (std::uint32_t damages = random.below(3); damages > 0; --damages) {
      const std::size_t at = random.below(count);
      switch (random.below(12)) {
        case 0:
          e.kind[at] = static_cast<EventKind>(random.below(13));
          break;
        case 1:
          e.kind[at] = static_cast<EventKind>(random.below(256));
          break;
        case 2:
          e.shader[at] = static_cast<std::uint16_t>(random.below(trace.shaders.size() + 1));
          break;
        case 3:
          e.t[at] = random.one_in(2) ? kNan : std::numeric_limits<float>::infinity();
          break;
        case 4:
          e.instance[at] = random.below(trace.scene.instances.size() + 1);
          break;
        case 5:
          e.primitive[at] = random.below(400);
          break;
        case 6:
          e.hit_kind[at] = static_cast<std::uint8_t>(random.below(3));
          break;
        case 7:
          e.accepted[at] = static_cast<std::uint8_t>(random.below(4));
          break;
        case 8:
          if (!e.ray.empty()) {
            e.ray[at] = random.one_in(3) ? kNone : random.below(5);
          }
          break;
        case 9:
          if (!e.group.empty()) {
            e.group[at] = random.below(45);
          }
          break;
        case 10:
          if (!e.geometry.empty()) {
            e.geometry[at] = static_cast<std::uint16_t>(random.below(4));
          }
          break;
        default:
          if (r.size() != 0) {
            const std::size_t ray = random.below(r.size());
            r.flags[ray] = static_cast<std::uint16_t>(random.below(16));
            r.sbt_offset[ray] = static_cast<std::uint8_t>(random.below(18));
            r.sbt_stride[ray] = static_cast<std::uint8_t>(random.below(18));
          }
      }
    }
    if (random.one_in(4)) {
      auto& offsets = first(trace).data.ray_offset;  // one ray goes to the neighbour
      auto& offset = offsets[1 + random.below(offsets.size() - 2)];
      offset += offset < r.size() && offset < (&offset)[1] ? 1U : 0U;
    }
    const EventContext context(first(trace), "/launch/0", trace.shaders, trace.scene);
    for (std::size_t thread = 0; thread < first(trace).data.threads(); ++thread) {
      FaultList faults(1, "t");
      explain_thread(context, thread, faults);
      EXPECT_EQ(threads_are_sound(context, thread, thread + 1), faults.list().empty())
          << "seed " << seed << ", thread " << thread << ": "
          << (faults.list().empty() ? "" : format_error(faults.list()[0]));
      broken += faults.list().empty() ? 0U : 1U;
    }
  }
  EXPECT_GT(broken, 500U);
}

}  // namespace
}  // namespace rayreplay::trace
