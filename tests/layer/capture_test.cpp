// The layer around real programs on a real driver: nothing changes for the program, and the spool holds what it did.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <numeric>

#include "tests/layer/captured_run.hpp"

namespace rayreplay::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::uint64_t kThreads = 256;  // of the scenarios' usual launch
constexpr std::uint64_t kHits = 98;      // of its rays that hit the triangle

/// One ray per thread, which ends by a miss or a closest hit.
void expect_conserved(const SpoolContent& content, const spool::Launch& launch) {
  const auto threads = std::uint64_t{launch.width} * launch.height * launch.depth;
  const auto found = content.words.find(launch.launch);
  const auto counts = count_events(found == content.words.end() ? std::vector<std::uint32_t>{} : found->second);
  EXPECT_EQ(counts[RR_RAY_GENERATION], threads);
  EXPECT_EQ(counts[RR_TRACE], threads);
  EXPECT_EQ(counts[RR_MISS] + counts[RR_CLOSEST_HIT], threads);
}

/// What every captured run of one process must be.
SpoolContent expect_sound(const Outcome& captured, const Outcome& plain) {
  EXPECT_EQ(captured.output, plain.output);
  EXPECT_EQ(plain.status, 0) << plain.errors;
  EXPECT_EQ(captured.status, plain.status) << captured.errors;
  EXPECT_EQ(captured.errors, plain.errors);
  if (captured.spools.size() != 1) {
    ADD_FAILURE() << captured.spools.size() << " spool files";
    return {};
  }
  const auto& content = captured.spools.front();
  EXPECT_TRUE(content.sound);
  EXPECT_THAT(content.processes, SizeIs(1));
  EXPECT_EQ(content.all_notes(), "");
  return content;
}

TEST(MarkedTest, AMalformedMarkerIsNamedAndHarmless) {
  const auto plain = run_plain("marked");
  const auto captured = run_captured("marked");
  EXPECT_EQ(plain.output, run_plain("modules").output);
  EXPECT_EQ(captured.output, plain.output);
  EXPECT_EQ(captured.status, 0) << captured.errors;
  const auto& content = captured.spools.at(0);
  EXPECT_THAT(content.all_notes(), HasSubstr("the operand of Hint is no 32-bit integer"));
  ASSERT_THAT(content.launches, SizeIs(1));
  const auto counts = count_events(content.words.at(content.launches[0].launch));
  EXPECT_EQ(counts[RR_HINT], counts[RR_TRACE]);
}

class UnchangedTest : public testing::TestWithParam<const char*> {};

TEST_P(UnchangedTest, SamePrintAndEveryLaunchCaptured) {
  const auto content = expect_sound(run_captured(GetParam()), run_plain(GetParam()));
  EXPECT_TRUE(content.ended);
  EXPECT_THAT(content.launches, testing::Not(IsEmpty()));
  EXPECT_EQ(content.end.launches_seen, content.launches.size());
  EXPECT_EQ(content.end.launches_captured, content.launches.size());
  for (const auto& launch : content.launches) {
    expect_conserved(content, launch);
    EXPECT_LT(launch.pipeline, content.pipelines.size());
    EXPECT_THAT(launch.structures, SizeIs(1));
    EXPECT_EQ(std::accumulate(launch.dropped.begin(), launch.dropped.end(), std::uint64_t{0}), 0U);
  }
}

/// Where launches are chosen the application keeps its own pipelines, and variants of them are recorded.
TEST_P(UnchangedTest, VariantsRecordTheSame) {
  const auto all = run_captured(GetParam()).spools.at(0);
  const auto chosen =
      expect_sound(run_captured(GetParam(), {{"RAYREPLAY_CAPTURE_FRAMES", "0.."}}), run_plain(GetParam()));
  ASSERT_EQ(chosen.launches.size(), all.launches.size());
  EXPECT_EQ(chosen.end.launches_captured, all.end.launches_captured);
  std::vector<std::vector<std::uint64_t>> events, wanted;
  for (std::size_t i = 0; i < all.launches.size(); ++i) {
    expect_conserved(chosen, chosen.launches[i]);
    const auto counts = [](const SpoolContent& content, const spool::Launch& launch) {
      const auto found = content.words.find(launch.launch);
      return found == content.words.end() ? std::vector<std::uint64_t>{} : count_events(found->second);
    };
    events.push_back(counts(chosen, chosen.launches[i]));
    wanted.push_back(counts(all, all.launches[i]));
    EXPECT_EQ(chosen.launches[i].structures.size(), all.launches[i].structures.size());
    // The tables are the application's, and so are the handles that they begin with.
    const auto& groups = chosen.pipelines.at(chosen.launches[i].pipeline).groups;
    for (std::size_t region = 0; region < 3; ++region) {
      const auto& bytes = chosen.launches[i].tables.at(region).bytes;
      ASSERT_GE(bytes.size(), groups.at(region).handle.size());
      EXPECT_TRUE(std::equal(groups[region].handle.begin(), groups[region].handle.end(), bytes.begin()));
    }
  }
  std::sort(events.begin(), events.end());  // threads and devices number their launches in any order
  std::sort(wanted.begin(), wanted.end());
  EXPECT_EQ(events, wanted);
}

/// A layer that never records leaves every pipeline as it is.
TEST_P(UnchangedTest, NothingIsInstrumentedForFramesOfTheFarFuture) {
  const auto content =
      expect_sound(run_captured(GetParam(), {{"RAYREPLAY_CAPTURE_FRAMES", "1000000"}}), run_plain(GetParam()));
  EXPECT_TRUE(content.ended);
  EXPECT_THAT(content.launches, IsEmpty());
  EXPECT_GT(content.end.launches_seen, 0U);
  EXPECT_THAT(content.shaders, IsEmpty());
  EXPECT_THAT(content.pipelines, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Programs, UnchangedTest,
                         testing::Values("modules", "inline", "library", "gone", "deferred", "dynamic-stack",
                                         "compute-between", "table-of-device", "individual-features", "plain-features",
                                         "indirect", "many-launches", "resubmitted", "submit2", "secondary", "threads",
                                         "devices", "frames", "wait-before-signal", "queue-held", "churn", "odd-calls",
                                         "left-alive"),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

class UntouchedTest : public testing::TestWithParam<const char*> {};

TEST_P(UntouchedTest, SamePrintAndEnd) {
  const auto plain = run_plain(GetParam());
  EXPECT_EQ(plain.status, 0) << plain.errors;
  const auto captured = run_captured(GetParam(), {{"RAYREPLAY_CAPTURE_LOG", "info"}});
  EXPECT_EQ(captured.output, plain.output);
  EXPECT_EQ(captured.status, plain.status);
  ASSERT_THAT(captured.spools, SizeIs(1));
  EXPECT_TRUE(captured.spools[0].sound);
}

INSTANTIATE_TEST_SUITE_P(Programs, UntouchedTest,
                         testing::Values("unasked", "unasked-without-tracing", "without-standard-descriptors"),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Capture, SpoolsAreTheirOwnersAlone) {
  const auto outcome = run_captured("modules");
  EXPECT_TRUE(outcome.folder);
  EXPECT_THAT(outcome.spools, SizeIs(1));
  EXPECT_FALSE(outcome.open_to_others);
}

TEST(Capture, PrivilegedProgramsAreLeftAlone) {
  const char* sanitizer = std::getenv("ASAN_OPTIONS");
  const auto outcome = run_captured(
      "modules", {{"LD_PRELOAD", RAYREPLAY_PRIVILEGED},
                  {"RAYREPLAY_CAPTURE_LOG", "info"},
                  {"ASAN_OPTIONS", std::string(sanitizer == nullptr ? "" : sanitizer) + ":verify_asan_link_order=0"}});
  const auto plain = run_plain("modules");
  EXPECT_EQ(outcome.output, plain.output);
  EXPECT_EQ(outcome.errors, plain.errors);
  EXPECT_EQ(outcome.status, plain.status);
  EXPECT_FALSE(outcome.folder);
}

TEST(Capture, OneLaunchIsWhole) {
  const auto content = run_captured("modules").spools.at(0);
  ASSERT_THAT(content.launches, SizeIs(1));
  const auto& launch = content.launches[0];
  EXPECT_EQ(launch.width, 16U);
  EXPECT_EQ(launch.height, 16U);
  EXPECT_EQ(launch.depth, 1U);
  EXPECT_GT(launch.end_ns, launch.begin_ns);
  const auto counts = count_events(content.words.at(0));
  EXPECT_EQ(counts[RR_CLOSEST_HIT], kHits);
  EXPECT_EQ(counts[RR_MISS], kThreads - kHits);
  ASSERT_THAT(content.shaders, SizeIs(3));
  for (const auto& shader : content.shaders) {
    EXPECT_EQ(shader.status, spool::ShaderStatus::Instrumented) << shader.reason;
    EXPECT_THAT(shader.spirv, testing::Not(IsEmpty()));
  }
  ASSERT_THAT(content.pipelines, SizeIs(1));
  const auto& groups = content.pipelines[0].groups;
  ASSERT_THAT(groups, SizeIs(3));
  EXPECT_EQ(content.shaders[groups[0].general].stage, 0);      // ray generation
  EXPECT_EQ(content.shaders[groups[1].general].stage, 4);      // miss
  EXPECT_EQ(content.shaders[groups[2].closest_hit].stage, 3);  // closest hit
  // The tables begin with the handles of those groups.
  ASSERT_THAT(launch.tables, SizeIs(4));
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& handle = groups[i].handle;
    ASSERT_GE(launch.tables[i].bytes.size(), handle.size());
    EXPECT_TRUE(std::equal(handle.begin(), handle.end(), launch.tables[i].bytes.begin()));
  }
  ASSERT_THAT(content.structures, SizeIs(2));
  ASSERT_THAT(content.structures[0].geometries, SizeIs(1));
  EXPECT_EQ(content.structures[0].geometries[0].primitive_count, 1U);
  EXPECT_THAT(content.structures[1].instances, SizeIs(1));
}

TEST(Capture, GroupsOfLibrariesFollowThePipelinesOwn) {
  const auto content = run_captured("library").spools.at(0);
  ASSERT_THAT(content.pipelines, SizeIs(1));
  const auto& groups = content.pipelines[0].groups;
  ASSERT_THAT(groups, SizeIs(3));
  EXPECT_EQ(content.shaders[groups[0].general].stage, 0);
  EXPECT_EQ(content.shaders[groups[1].general].stage, 4);
  EXPECT_EQ(content.shaders[groups[2].closest_hit].stage, 3);
}

TEST(Capture, ImagesChangePlacesBetweenLaunches) {
  const auto plain = run_plain("images");
  const auto content = expect_sound(run_captured("images", {{"RAYREPLAY_CAPTURE_PROFILE", "memory"}}), plain);
  ASSERT_THAT(content.images, SizeIs(2));
  for (std::size_t launch = 0; launch < 2; ++launch) {
    const spool::Images& of = content.images[launch];
    EXPECT_EQ(of.launch, content.launches.at(launch).launch);
    ASSERT_THAT(of.images, SizeIs(2));
    ASSERT_THAT(of.descriptors, SizeIs(2));
    EXPECT_EQ(of.images[0].width, launch == 0 ? 32U : 64U);
    EXPECT_EQ(of.images[1].width, launch == 0 ? 64U : 32U);
    EXPECT_EQ(of.images[0].image, launch);
    for (std::uint32_t i = 0; i < 2; ++i) {
      EXPECT_EQ(of.descriptors[i].set, 1U);
      EXPECT_EQ(of.descriptors[i].binding, i);
      EXPECT_EQ(of.descriptors[i].place, i);
      EXPECT_EQ(of.descriptors[i].filter, i == 0 ? spool::ImageFilter::None : spool::ImageFilter::Linear);
    }
  }
  EXPECT_THAT(expect_sound(run_captured("images"), plain).images, IsEmpty());
}

TEST(Capture, IndirectLaunchesHaveTheirSizes) {
  for (const auto* scenario : {"indirect", "indirect2", "unrelated-table"}) {
    const auto captured = run_captured(scenario);
    EXPECT_EQ(captured.output, run_plain(scenario).output) << scenario;
    ASSERT_THAT(captured.spools, SizeIs(1)) << scenario;
    const auto& content = captured.spools[0];
    ASSERT_THAT(content.launches, SizeIs(1));
    EXPECT_EQ(content.launches[0].width, 16U);
    EXPECT_EQ(content.launches[0].height, 16U);
    EXPECT_EQ(content.launches[0].depth, 1U);
    expect_conserved(content, content.launches[0]);
    // Tables that are named on the device are left out, and that is said.
    const bool read = std::string(scenario) == "indirect";
    ASSERT_THAT(content.launches[0].tables, SizeIs(4)) << scenario;
    EXPECT_EQ(content.launches[0].tables[0].bytes.empty(), !read) << scenario;
    EXPECT_EQ(content.launches[0].tables[0].missing.empty(), read) << scenario;
    EXPECT_THAT(content.notes, SizeIs(read ? 0 : 1)) << content.all_notes();
  }
}

/// Twice in one batch, and submitted twice before either begins.
TEST(Capture, OfTwoRunsOfOneRecordingTheLastIsCapturedAndTheOtherNoted) {
  for (const auto* scenario : {"twice-in-a-batch", "twice-pending"}) {
    const auto captured = run_captured(scenario);
    EXPECT_EQ(captured.output, run_plain(scenario).output) << scenario;
    const auto& content = captured.spools.at(0);
    ASSERT_THAT(content.launches, SizeIs(1)) << scenario;
    EXPECT_EQ(content.launches[0].launch, 1U);
    expect_conserved(content, content.launches[0]);
    ASSERT_THAT(content.notes, SizeIs(1)) << scenario;
    EXPECT_EQ(content.notes[0].launch, 0U);
    EXPECT_EQ(content.end.launches_seen, 2U);
  }
}

/// Thread and shader of every callable's record.
std::vector<std::pair<std::uint32_t, std::uint32_t>> called_shaders(const std::vector<std::uint32_t>& words) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> calls;
  for (const auto& chunk : chunks_of(words)) {
    if (chunk.kind == RR_CALLABLE) {
      for (const auto thread : chunk.threads) {
        calls.emplace_back(thread, chunk.shader);
      }
    }
  }
  return calls;
}

std::vector<std::uint32_t> numbers(const SpoolContent& content) {
  std::vector<std::uint32_t> result;
  for (const auto& launch : content.launches) {
    result.push_back(launch.launch);
    expect_conserved(content, launch);
  }
  return result;
}

TEST(Selection, FramesAndLaunches) {
  const auto plain = run_plain("frames");
  const auto frames = expect_sound(run_captured("frames", {{"RAYREPLAY_CAPTURE_FRAMES", "1..2"}}), plain);
  EXPECT_THAT(numbers(frames), ElementsAre(2, 3, 4, 5));
  EXPECT_EQ(frames.end.launches_seen, 12U);
  EXPECT_EQ(frames.end.launches_captured, 4U);
  const auto launches = expect_sound(run_captured("frames", {{"RAYREPLAY_CAPTURE_LAUNCH", "3"}}), plain);
  EXPECT_THAT(numbers(launches), ElementsAre(3));
  const auto both = expect_sound(
      run_captured("frames", {{"RAYREPLAY_CAPTURE_FRAMES", "5.."}, {"RAYREPLAY_CAPTURE_LAUNCH", "..10"}}), plain);
  EXPECT_THAT(numbers(both), ElementsAre(10));
}

TEST(Selection, TriggerFile) {
  const auto plain = run_plain("frames");
  const TemporaryFolder folder;
  const auto file = folder.write("trigger", "");
  EXPECT_THAT(numbers(expect_sound(run_captured("frames", {{"RAYREPLAY_CAPTURE_TRIGGER_FILE", file}}), plain)),
              SizeIs(12));
  const auto none = expect_sound(run_captured("frames", {{"RAYREPLAY_CAPTURE_TRIGGER_FILE", file + "-not"}}), plain);
  EXPECT_THAT(none.launches, IsEmpty());
  EXPECT_EQ(none.end.launches_seen, 12U);
}

TEST(Selection, OneRunOfAKeptCommandBuffer) {
  const auto content =
      expect_sound(run_captured("resubmitted", {{"RAYREPLAY_CAPTURE_LAUNCH", "2"}}), run_plain("resubmitted"));
  EXPECT_THAT(numbers(content), ElementsAre(2));
}

/// A launch that is written long before its submission has the application's own shaders.
TEST(Selection, LaunchesRecordedTooFarAheadAreNoted) {
  const auto plain = run_plain("recorded-ahead");
  const auto captured = run_captured("recorded-ahead", {{"RAYREPLAY_CAPTURE_FRAMES", "70..71"}});
  EXPECT_EQ(captured.output, plain.output);
  const auto& content = captured.spools.at(0);
  EXPECT_THAT(content.launches, IsEmpty());
  EXPECT_EQ(content.end.launches_seen, 80U);
  ASSERT_THAT(content.notes, SizeIs(2)) << content.all_notes();
  EXPECT_EQ(content.notes[0].launch, 70U);
  EXPECT_EQ(content.notes[1].launch, 71U);
  EXPECT_THAT(content.notes[0].text, HasSubstr("with the application's own shaders"));
  // Near enough, they are captured.
  EXPECT_THAT(numbers(expect_sound(run_captured("recorded-ahead", {{"RAYREPLAY_CAPTURE_FRAMES", "60"}}), plain)),
              ElementsAre(60));
}

/// Tables that only the device can locate cannot be copied: such devices are instrumented at once.
TEST(Selection, TablesNamedInDeviceMemory) {
  const auto captured = run_captured("indirect2", {{"RAYREPLAY_CAPTURE_FRAMES", "0"}});
  EXPECT_EQ(captured.output, run_plain("indirect2").output);
  EXPECT_THAT(numbers(captured.spools.at(0)), ElementsAre(0));
}

/// Many small shaders, each called by one thread: every call is of the shader that the table names.
TEST(Capture, ManyCallables) {
  for (const auto& settings : {Settings{}, Settings{{"RAYREPLAY_CAPTURE_LAUNCH", "0"}}}) {
    const auto content = expect_sound(run_captured("callables", settings), run_plain("callables"));
    ASSERT_THAT(content.launches, SizeIs(1));
    ASSERT_THAT(content.shaders, SizeIs(65));
    const auto& groups = content.pipelines.at(0).groups;
    for (const auto& [thread, shader] : called_shaders(content.words.at(0))) {
      EXPECT_EQ(shader, groups.at(thread + 1).general) << "thread " << thread;
    }
    EXPECT_EQ(count_events(content.words.at(0))[RR_CALLABLE], 64U);
  }
}

TEST(Selection, WindowAndEvery) {
  const auto plain = run_plain("modules");
  const auto window = expect_sound(run_captured("modules", {{"RAYREPLAY_CAPTURE_WINDOW", "2,3,4,5"}}), plain);
  EXPECT_EQ(count_events(window.words.at(0))[RR_RAY_GENERATION], 20U);
  const auto every = expect_sound(run_captured("modules", {{"RAYREPLAY_CAPTURE_EVERY", "3"}}), plain);
  EXPECT_EQ(count_events(every.words.at(0))[RR_RAY_GENERATION], 86U);
}

TEST(Overflow, IsCountedExactly) {
  const auto captured = run_captured("threads", {{"RAYREPLAY_CAPTURE_MEMORY", "64KiB"}});
  EXPECT_EQ(captured.output, run_plain("threads").output);
  // 64 KiB hold one such launch, and a submission has one: nothing is lost.
  for (const auto& launch : captured.spools.at(0).launches) {
    expect_conserved(captured.spools[0], launch);
  }
  // Twelve launches in one submission do not fit.
  const auto many = run_captured("many-launches", {{"RAYREPLAY_CAPTURE_MEMORY", "64KiB"}});
  EXPECT_EQ(many.output, run_plain("many-launches").output);
  const auto& content = many.spools.at(0);
  ASSERT_THAT(content.launches, SizeIs(12));
  std::uint64_t all_dropped = 0;
  for (const auto& launch : content.launches) {
    const auto found = content.words.find(launch.launch);
    const auto counts = count_events(found == content.words.end() ? std::vector<std::uint32_t>{} : found->second);
    const std::uint64_t threads = std::uint64_t{launch.width} * launch.height;
    ASSERT_EQ(launch.dropped.size(), std::size_t{RR_KINDS});
    const auto total = [&](std::size_t kind) { return counts[kind] + launch.dropped[kind]; };
    EXPECT_EQ(total(RR_RAY_GENERATION), threads);
    EXPECT_EQ(total(RR_TRACE), threads);
    EXPECT_EQ(total(RR_MISS) + total(RR_CLOSEST_HIT), threads);
    all_dropped += std::accumulate(launch.dropped.begin(), launch.dropped.end(), std::uint64_t{0});
  }
  EXPECT_GT(all_dropped, 0U);
  // Ingest reports it, from these counts.
  EXPECT_EQ(content.all_notes(), "");
  EXPECT_EQ(many.errors, run_plain("many-launches").errors);
}

TEST(Switches, RecordOffTimesLaunchesOnly) {
  const auto content =
      expect_sound(run_captured("modules", {{"RAYREPLAY_CAPTURE_RECORD", "off"}}), run_plain("modules"));
  ASSERT_THAT(content.launches, SizeIs(1));
  EXPECT_EQ(content.launches[0].words, 0U);
  EXPECT_GT(content.launches[0].end_ns, content.launches[0].begin_ns);
}

/// Nothing that is printed without records needs the sizes of indirect launches.
TEST(Switches, RecordOffDoesNotMissSizes) {
  for (const auto* scenario : {"indirect", "indirect2"}) {
    const auto content =
        expect_sound(run_captured(scenario, {{"RAYREPLAY_CAPTURE_RECORD", "off"}}), run_plain(scenario));
    ASSERT_THAT(content.launches, SizeIs(1)) << scenario;
    EXPECT_GT(content.launches[0].end_ns, content.launches[0].begin_ns);
  }
  // A swizzle is for launches of one size.
  const TemporaryFolder folder;
  std::string table;
  for (std::uint32_t i = 0; i < kThreads; ++i) {
    table.append(reinterpret_cast<const char*>(&i), sizeof i);
  }
  const auto captured = run_captured("indirect", {{"RAYREPLAY_CAPTURE_RECORD", "off"},
                                                  {"RAYREPLAY_CAPTURE_SWIZZLE", folder.write("swizzle", table)},
                                                  {"RAYREPLAY_CAPTURE_SWIZZLE_SIZE", "16x16"}});
  EXPECT_THAT(captured.spools.at(0).all_notes(), HasSubstr("the size of this indirect launch is unknown"));
  EXPECT_THAT(captured.spools.at(0).all_notes(), testing::Not(HasSubstr("another size")));
}

TEST(Switches, ObserveAllHasNothingToSayOfLaunchesWithoutRays) {
  const auto content =
      expect_sound(run_captured("without-rays", {{"RAYREPLAY_CAPTURE_OBSERVE_ALL", "on"}}), run_plain("without-rays"));
  ASSERT_THAT(content.launches, SizeIs(2));
  EXPECT_EQ(count_events(content.words.at(0))[RR_TRACE], 0U);
}

TEST(Capture, InactiveInstancesAreNotThoseOfUnknownStructures) {
  const auto content = expect_sound(run_captured("inactive-instance"), run_plain("inactive-instance"));
  const auto top = std::find_if(content.structures.begin(), content.structures.end(),
                                [](const auto& structure) { return structure.top_level != 0; });
  ASSERT_NE(top, content.structures.end());
  ASSERT_THAT(top->instances, SizeIs(2));
  EXPECT_LT(top->instances[0].structure, content.structures.size());
  EXPECT_EQ(top->instances[1].structure, spool::kNullReference);
}

TEST(Capture, RayQueriesAreSeen) {
  const auto sights = [](const char* scenario) {
    const auto captured = run_captured(scenario);
    std::vector<spool::Sight> result;
    for (const auto& seen : captured.spools.at(0).seen) {
      result.push_back(seen.sight);
    }
    return result;
  };
  EXPECT_THAT(sights("ray-queries"), ElementsAre(spool::Sight::RayQueryDevice));
  EXPECT_THAT(sights("ray-queries-beside"), ElementsAre(spool::Sight::RayQueryDevice, spool::Sight::RayQueryShader));
  EXPECT_THAT(sights("plain-device"), ElementsAre(spool::Sight::DeviceWithoutRays));
  EXPECT_THAT(sights("modules"), IsEmpty());
}

TEST(Switches, GeometryOffLeavesStructuresOut) {
  const auto content =
      expect_sound(run_captured("modules", {{"RAYREPLAY_CAPTURE_GEOMETRY", "off"}}), run_plain("modules"));
  ASSERT_THAT(content.launches, SizeIs(1));
  expect_conserved(content, content.launches[0]);
  EXPECT_THAT(content.structures, IsEmpty());
}

TEST(Switches, ObserveAllShowsTestsOnOpaqueGeometry) {
  const auto plain = run_plain("modules");
  const auto captured = run_captured("modules", {{"RAYREPLAY_CAPTURE_OBSERVE_ALL", "on"}});
  EXPECT_EQ(captured.output, plain.output);
  const auto& content = captured.spools.at(0);
  const auto counts = count_events(content.words.at(0));
  EXPECT_EQ(counts[RR_ANY_HIT], kHits);
  EXPECT_EQ(counts[RR_CLOSEST_HIT], kHits);
  EXPECT_EQ(content.launches.at(0).observe_all, 1);
  EXPECT_EQ(std::count_if(content.shaders.begin(), content.shaders.end(),
                          [](const auto& shader) { return shader.status == spool::ShaderStatus::Added; }),
            1);
}

/// Threads of the ray-generation records, in lane order.
std::vector<std::uint32_t> generated_threads(const std::vector<std::uint32_t>& words) {
  std::vector<std::uint32_t> threads;
  for (const auto& chunk : chunks_of(words)) {
    if (chunk.kind == RR_RAY_GENERATION) {
      threads.insert(threads.end(), chunk.threads.begin(), chunk.threads.end());
    }
  }
  return threads;
}

TEST(Swizzle, ThreadsRunAsTheTableSays) {
  const TemporaryFolder folder;
  std::string bytes;
  for (std::uint32_t i = 0; i < kThreads; ++i) {
    const auto thread = static_cast<std::uint32_t>((i * 5 + 3) % kThreads);
    bytes.append(reinterpret_cast<const char*>(&thread), sizeof thread);
  }
  const auto file = folder.write("swizzle", bytes);
  const Settings settings = {{"RAYREPLAY_CAPTURE_SWIZZLE", file}, {"RAYREPLAY_CAPTURE_SWIZZLE_SIZE", "16x16"}};
  const auto content = expect_sound(run_captured("modules", settings), run_plain("modules"));
  ASSERT_THAT(content.launches, SizeIs(1));
  EXPECT_EQ(content.launches[0].swizzled, 1);
  expect_conserved(content, content.launches[0]);
  // Neighbouring lanes run threads that are five apart.
  const auto threads = generated_threads(content.words.at(0));
  ASSERT_EQ(threads.size(), kThreads);
  std::size_t steps = 0;
  for (std::size_t i = 1; i < threads.size(); ++i) {
    steps += (threads[i] - threads[i - 1] + kThreads) % kThreads == 5 ? 1U : 0U;
  }
  EXPECT_GT(steps, kThreads / 2);
}

TEST(Swizzle, WrongFilesAreNotApplied) {
  const TemporaryFolder folder;
  const auto plain = run_plain("modules");
  const auto short_file = folder.write("short", "12345678");
  const auto no_permutation = folder.write("zeros", std::string(kThreads * 4, '\0'));
  for (const auto& [file, size, text] : {std::tuple{short_file, "16x16", "bytes"},
                                         {no_permutation, "16x16", "permutation"},
                                         {folder.path().string() + "/none", "16x16", "cannot be opened"},
                                         {std::string("/dev/zero"), "16x16", "no regular file"}}) {
    const auto captured =
        run_captured("modules", {{"RAYREPLAY_CAPTURE_SWIZZLE", file}, {"RAYREPLAY_CAPTURE_SWIZZLE_SIZE", size}});
    EXPECT_EQ(captured.output, plain.output);
    const auto& content = captured.spools.at(0);
    EXPECT_THAT(content.all_notes(), HasSubstr(text));
    EXPECT_EQ(content.launches.at(0).swizzled, 0);
  }
}

TEST(Faults, KilledInMidCapture) {
  const auto killed = run_killed("endless", 5);
  EXPECT_TRUE(WIFSIGNALED(killed.status) && WTERMSIG(killed.status) == SIGKILL);
  ASSERT_THAT(killed.spools, SizeIs(1));
  const auto& content = killed.spools[0];
  EXPECT_TRUE(content.sound);
  EXPECT_FALSE(content.ended);
  ASSERT_GE(content.launches.size(), 5U);
  for (std::size_t i = 0; i < 5; ++i) {
    expect_conserved(content, content.launches[i]);
  }
}

TEST(Faults, ForkedChildHasASpoolOfItsOwn) {
  const auto captured = run_captured("forked");
  EXPECT_EQ(captured.output, run_plain("forked").output);
  ASSERT_THAT(captured.spools, SizeIs(2));
  std::size_t launches = 0;
  for (const auto& content : captured.spools) {
    EXPECT_TRUE(content.sound);
    for (const auto& launch : content.launches) {
      expect_conserved(content, launch);
    }
    launches += content.launches.size();
  }
  EXPECT_EQ(launches, 3U);
  EXPECT_NE(captured.spools[0].processes.at(0).pid, captured.spools[1].processes.at(0).pid);
}

TEST(Faults, UnloadedAndLoadedAgain) {
  const auto captured = run_captured("again");
  EXPECT_EQ(captured.output, run_plain("again").output);
  std::size_t launches = 0;
  for (const auto& content : captured.spools) {
    EXPECT_TRUE(content.sound);
    EXPECT_TRUE(content.ended);
    launches += content.launches.size();
  }
  EXPECT_EQ(launches, 2U);
}

TEST(Faults, EndsAtOnce) {
  const auto content = expect_sound(run_captured("left-at-once"), run_plain("left-at-once"));
  EXPECT_FALSE(content.ended);
  ASSERT_THAT(content.launches, SizeIs(1));
  expect_conserved(content, content.launches[0]);
}

TEST(Faults, SpoolCannotBeWritten) {
  const auto captured = run_captured("modules", {{"RAYREPLAY_CAPTURE_SPOOL", "/proc/none"}});
  EXPECT_EQ(captured.output, run_plain("modules").output);
  EXPECT_THAT(captured.errors, HasSubstr("nothing is recorded"));
}

TEST(Faults, OptionsThatCannotBeRead) {
  const auto captured = run_captured("modules", {{"RAYREPLAY_CAPTURE_FRAMES", "soon"}});
  EXPECT_EQ(captured.output, run_plain("modules").output);
  EXPECT_THAT(captured.spools.at(0).all_notes(), HasSubstr("RAYREPLAY_CAPTURE_FRAMES"));
}

}  // namespace
}  // namespace rayreplay::test
