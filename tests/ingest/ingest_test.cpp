// What random programs did is what the trace says, event by event.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <fstream>
#include <map>

#include <tbb/global_control.h>

#include "tests/ingest/support.hpp"

namespace rayreplay::ingest {
namespace {

using test::CaptureOptions;
using test::synthesize;
using test::SyntheticCapture;
using testing::HasSubstr;
using trace::EventKind;

CaptureOptions varied(std::uint64_t seed) {
  constexpr std::uint32_t kWarpSizes[] = {8, 32, 1, 64, 5};
  CaptureOptions options;
  options.seed = seed;
  options.size = {1 + static_cast<std::uint32_t>(seed * 7 % 29), 1 + static_cast<std::uint32_t>(seed % 6),
                  1 + static_cast<std::uint32_t>(seed % 3 == 0)};
  options.launches = 1 + static_cast<std::uint32_t>(seed % 3);
  options.warp_size = kWarpSizes[seed % 5];
  options.recursion = seed % 2 == 0;
  options.hit_objects = seed % 4 < 2;
  options.markers = seed % 3 == 1;
  options.window = seed % 7 == 3;
  options.clock = seed % 8 != 0;
  options.repack = seed % 5 == 2;
  options.paths = seed % 3 == 1;
  options.accesses = seed % 11 < 4;
  options.facts = seed % 5 < 3;
  options.images = seed % 4 != 1;
  options.block_words = seed % 3 == 1 ? 50 + seed : 0;
  return options;
}

using RandomCaptureTest = IngestTest;

TEST_F(RandomCaptureTest, IsWhatHappened) {
  std::uint64_t events = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const SyntheticCapture capture = synthesize(varied(seed));
    const trace::Trace found = ingested(capture);
    ASSERT_EQ(capture_difference(capture.expected, found), "") << "seed " << seed;
    for (const trace::Launch& launch : found.launches) {
      events += launch.data.events.size();
    }
  }
  EXPECT_GT(events, 50'000U);
}

TEST_F(RandomCaptureTest, SmallRangesAndOtherWorkersGiveTheSameBytes) {
  for (const std::uint64_t seed : {1U, 4U, 10U}) {
    CaptureOptions how = varied(seed);
    how.size = {40, 9, 1};
    const SyntheticCapture capture = synthesize(how);
    ingested(capture);
    const std::string bytes = trace::read_bytes(file());
    for (const DecodeLimits limits : {DecodeLimits{100, 40}, DecodeLimits{1, 1}, DecodeLimits{5000, 64}}) {
      const tbb::global_control one(tbb::global_control::max_allowed_parallelism, seed % 2 == 0 ? 1 : 3);
      IngestOptions narrow;
      narrow.limits = limits;
      ingested(capture, narrow);
      EXPECT_TRUE(trace::read_bytes(file()) == bytes) << "seed " << seed << ", " << limits.records_together;
    }
  }
}

TEST_F(RandomCaptureTest, ConservesRaysAndGroups) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CaptureOptions how = varied(seed);
    how.window = false;
    const trace::Trace found = ingested(synthesize(how));
    ASSERT_EQ(result_.traces.size(), 1U);
    for (std::size_t l = 0; l < found.launches.size(); ++l) {
      const trace::Launch& launch = found.launches[l];
      const trace::Events& events = launch.data.events;
      const LaunchSummary& summary = result_.traces[0].launches[l];
      const auto of = [&](EventKind kind) { return summary.by_kind[static_cast<std::size_t>(kind)]; };
      const std::uint64_t begins = of(EventKind::Begin) + of(EventKind::OcclusionBegin);
      EXPECT_EQ(begins, summary.rays);
      EXPECT_EQ(begins, launch.data.rays.size());
      EXPECT_GE(begins, of(EventKind::Miss) + of(EventKind::ClosestHit));
      // Groups partition the events; every lane of a group's mask is one of its events, all of one call. Lanes of one
      // trace call may differ in SkipClosestHit, and so in the kind of beginning.
      std::vector<std::uint32_t> members(launch.groups.size());
      std::vector<std::uint32_t> like(launch.groups.size());
      for (std::size_t e = 0; e < events.size(); ++e) {
        const std::uint32_t group = events.group[e];
        const EventKind kind = trace::begins_ray(events.kind[e]) ? EventKind::Begin : events.kind[e];
        const std::uint32_t call = static_cast<std::uint32_t>(kind) << 16U | events.shader[e];
        EXPECT_TRUE(members[group] == 0 || like[group] == call);
        like[group] = call;
        ++members[group];
      }
      std::uint64_t lanes = 0;
      std::uint64_t groups = 0;
      for (std::size_t g = 0; g < members.size(); ++g) {
        EXPECT_EQ(members[g], static_cast<std::uint32_t>(std::popcount(launch.groups.lane_mask[g])));
        if (trace::is_warp_event(static_cast<EventKind>(like[g] >> 16U))) {
          lanes += members[g];
          ++groups;
        }
      }
      EXPECT_EQ(summary.group_lanes, lanes);
      EXPECT_EQ(summary.warp_event_groups, groups);
    }
  }
}

class SaidTest : public IngestTest {
 protected:
  void expect_said(const trace::Trace& trace, const std::string& text) {
    EXPECT_THAT(trace.header.not_captured, testing::Contains(HasSubstr(text)));
  }
};

TEST_F(SaidTest, HeaderNamesApplicationAndOptions) {
  const trace::Trace found = ingested(synthesize({}));
  EXPECT_THAT(found.header.configuration, HasSubstr("\"window\":\"0,0,4,4\""));
  EXPECT_THAT(found.header.configuration, HasSubstr("\"--fast\""));
  EXPECT_TRUE(found.header.not_captured.empty());
}

TEST_F(SaidTest, WhatIsMissingIsSaid) {
  SyntheticCapture capture = synthesize({});
  capture.shaders[8].status = spool::ShaderStatus::LeftAlone;
  capture.shaders[8].reason = "it is odd";
  capture.launches[0].launch.dropped.assign(RR_KINDS, 2);
  capture.launches[0].launch.structures.clear();
  capture.launches[0].launch.tables[1].missing = "not readable";
  capture.write(file("s.rrspool"), false);
  const trace::Trace found = ingested_file();
  expect_said(found, "shader 8 (shader 8) was not instrumented: it is odd");
  expect_said(
      found,
      "launch 10: 20 events did not fit into the event buffer (--memory): the last events of some threads are missing");
  expect_said(found, "the application ended without closing the capture");
  expect_said(found, "launch 10: its acceleration structure is not known");
  expect_said(found, "launch 10: hit shader table: not readable");
  EXPECT_EQ(found.launches[0].dropped_events, 20U);
  EXPECT_EQ(found.launches[0].tlas, trace::kNone);
  EXPECT_EQ(found.launches[0].shader_table.size(), 1U);
  EXPECT_FALSE(result_.spools[0].ended);
}

/// Applications and drivers give names in any encoding: the trace is not lost for that.
TEST_F(SaidTest, NamesThatAreNotUtf8AreReplacedAndSaid) {
  SyntheticCapture capture = synthesize({});
  capture.process.executable = "/opt/caf\xE9/\xED\xA0\x80";
  capture.process.command_line = {"\xFF"};
  capture.device.name = "GPU \x80";
  capture.shaders[1].name = "ombr\xE9";
  capture.shaders[2].entry = "\xC0\xAF";
  for (spool::Structure& structure : capture.structures) {
    structure.name = "b\xE2te\x1b";
  }
  const trace::Trace found = ingested(capture);
  EXPECT_EQ(found.header.application, "/opt/caf\uFFFD/\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(found.header.device, "GPU \uFFFD");
  EXPECT_EQ(found.shaders[1].name, "ombr\uFFFD");
  EXPECT_EQ(found.shaders[2].entry, "\uFFFD\uFFFD");
  expect_said(found, "texts of the application or its driver are not UTF-8");
  expect_said(found, "shader 1: its name is not UTF-8: invalid bytes are replaced by U+FFFD");
  expect_said(found, "shader 2: its name is not UTF-8");
  expect_said(found, "bottom-level structure");
  for (const trace::Geometry& geometry : found.scene.geometries) {
    EXPECT_THAT(geometry.name, testing::StartsWith("b\uFFFDte "));
  }
}

TEST_F(SaidTest, ALaunchWithoutItsEventsIsSaid) {
  SyntheticCapture capture = synthesize({.seed = 4, .launches = 2});
  const std::uint32_t number = capture.launches[1].launch.launch;
  capture.launches[1].words.clear();
  capture.launches[1].launch.words = 77;
  capture.write(file("s.rrspool"), false);
  expect_said(ingested_file(),
              "launch " + std::to_string(number) + " is left out: its events (77 words) are not in the spool");
}

/// A name moves no cursor and turns no text round, whatever program prints the trace.
TEST_F(SaidTest, ControlAndInvisibleCharactersOfNamesBecomeBlanks) {
  SyntheticCapture capture = synthesize({});
  capture.process.executable = "/opt/a\x1b[2J\u009bb\u202ec\u2028d\U000E0001e";
  capture.process.command_line = {"x\u2066y"};
  capture.device.name = "GPU\u0085 \u00e9";
  capture.shaders[1].name = "m\u200fain";
  const trace::Trace found = ingested(capture);
  EXPECT_EQ(found.header.application, "/opt/a [2J b c d e");
  EXPECT_EQ(found.header.device, "GPU  \u00e9");
  EXPECT_EQ(found.shaders[1].name, "m ain");
  EXPECT_THAT(found.header.configuration, testing::HasSubstr("x y"));
}

TEST_F(SaidTest, WindowIsSaid) {
  const trace::Trace found = ingested(synthesize({.seed = 5, .window = true}));
  expect_said(found, " of 91 (--window, --every); the trace gives them made-up warps of their own");
}

/// Threads whose start did not fit are counted in the line about the full buffer, not in the line about a window.
TEST_F(SaidTest, AFullBufferIsOneLine) {
  SyntheticCapture capture = synthesize({.seed = 5, .window = true});
  const trace::Trace window = ingested(capture);
  const std::uint64_t absent = 91 - result_.traces[0].launches[0].recorded_threads.value();
  ASSERT_GT(absent, 0U);
  EXPECT_TRUE(result_.traces[0].launches[0].threads_missing);
  capture.process.options.clear();
  capture.launches[0].launch.dropped.assign(RR_KINDS, 0);
  capture.launches[0].launch.dropped[RR_RAY_GENERATION] = absent;
  const auto lines_with = [](const trace::Trace& trace, const std::string& text) {
    return std::count_if(trace.header.not_captured.begin(), trace.header.not_captured.end(),
                         [&](const std::string& line) { return line.find(text) != std::string::npos; });
  };
  trace::Trace found = ingested(capture);
  EXPECT_EQ(lines_with(found, "threads not recorded: " + std::to_string(absent) + " of 91"), 1);
  EXPECT_EQ(lines_with(found, "because the event buffer was full"), 1);
  EXPECT_TRUE(result_.traces[0].launches[0].threads_missing);
  capture.launches[0].launch.dropped[RR_TRACE] = 1;
  found = ingested(capture);
  EXPECT_EQ(lines_with(found, "1 event did not fit into the event buffer"), 1);
  EXPECT_EQ(lines_with(found, "threads not recorded"), 1);
  capture = synthesize({.seed = 5});
  ingested(capture);
  EXPECT_FALSE(result_.traces[0].launches[0].threads_missing);
  EXPECT_EQ(result_.traces[0].launches[0].recorded_threads, 91U);
}

TEST_F(SaidTest, InactiveInstancesAreNothingToSay) {
  SyntheticCapture capture = synthesize({.seed = 6});
  const auto used = std::find_if(capture.structures.begin(), capture.structures.end(), [&](const auto& structure) {
    return structure.structure == capture.launches[0].launch.structures.front();
  });
  ASSERT_NE(used, capture.structures.end());
  spool::Structure& top = *used;
  top.instances.push_back(top.instances.back());
  top.instances.back().structure = spool::kNullReference;
  trace::Trace found = ingested(capture);
  EXPECT_TRUE(found.header.not_captured.empty()) << found.header.not_captured.front();
  EXPECT_EQ(found.scene.instances.size(), 3U);
  top.instances.back().structure = spool::kNone;
  expect_said(ingested(capture), "of 3 instances, 1 refers to no structure that was seen; in the trace it is empty");
}

TEST_F(SaidTest, UnknownStructureLeavesEventsUnchecked) {
  for (const int how : {0, 1, 2, 3}) {
    SyntheticCapture capture = synthesize({.seed = 6});
    if (how == 0) {
      capture.structures[0].geometries[0].vertex_format = 1;
    } else if (how == 1) {
      capture.structures[0].missing = "built on another planet";
    } else if (how == 2) {
      capture.structures[0].geometries[0].indices.pop_back();
    } else {
      capture.structures[0].geometries[1].primitive_count = 1;  // fewer than the events name
    }
    const trace::Trace found = ingested(capture);
    ASSERT_EQ(found.launches.size(), 1U);
    EXPECT_EQ(found.launches[0].tlas, trace::kNone);
    expect_said(found, how == 3 ? "its structure does not fit its events" : "bottom-level structure 0");
    EXPECT_EQ(found.scene.instances.size(), how == 3 ? 2U : 0U);
    EXPECT_EQ(found.launches[0].data.events.size(), capture.expected.launches[0].data.events.size());
  }
}

TEST_F(SaidTest, ALaunchThatBreaksARuleIsLeftOutAlone) {
  SyntheticCapture capture = synthesize({.seed = 8, .launches = 3});
  // A second miss in a row.
  auto& words = capture.launches[1].words;
  const std::vector<std::uint32_t> miss{RR_MISS | 4U << 8U, 1, 1U << 20U, 0, 0};
  words.insert(words.end(), miss.begin(), miss.end());
  words.insert(words.end(), miss.begin(), miss.end());
  capture.launches[1].launch.words = words.size();
  const trace::Trace found = ingested(capture);
  EXPECT_EQ(found.launches.size(), 2U);
  expect_said(found, "launch 11 is left out: its events break the rules of a trace: the event cannot happen");
  capture.expected.launches.erase(capture.expected.launches.begin() + 1);
  EXPECT_EQ(capture_difference(capture.expected, found), "");
}

/// While it lives, this process may take `bytes` of address space besides what it has.
class AddressSpaceLimit {
 public:
  explicit AddressSpaceLimit(std::uint64_t bytes) {
    std::uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    EXPECT_EQ(::getrlimit(RLIMIT_AS, &before_), 0);
    rlimit limit = before_;
    limit.rlim_cur =
        std::min<rlim_t>(before_.rlim_cur, pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) + bytes);
    EXPECT_EQ(::setrlimit(RLIMIT_AS, &limit), 0);
  }
  AddressSpaceLimit(const AddressSpaceLimit&) = delete;
  AddressSpaceLimit& operator=(const AddressSpaceLimit&) = delete;
  ~AddressSpaceLimit() {
    EXPECT_EQ(::setrlimit(RLIMIT_AS, &before_), 0);
  }

 private:
  rlimit before_{};
};

TEST_F(SaidTest, ALaunchLargerThanMemoryIsLeftOutAlone) {
  SyntheticCapture capture = synthesize({.seed = 9, .launches = 3});
  capture.launches[1].launch.width = capture.launches[1].launch.height = 65535;
  const AddressSpaceLimit limit(std::uint64_t{8} << 30U);
  const trace::Trace found = ingested(capture);
  EXPECT_EQ(found.launches.size(), 2U);
  expect_said(
      found,
      "launch 11 is left out: 4,294,836,225 threads would need more memory than there is (141,729,595,425 bytes of");
  capture.expected.launches.erase(capture.expected.launches.begin() + 1);
  EXPECT_EQ(capture_difference(capture.expected, found), "");
}

TEST_F(SaidTest, ALaunchThatNeedsMoreThanMaxBytesIsLeftOutAlone) {
  constexpr std::uint64_t kMaxBytes = 1U << 20U;
  SyntheticCapture capture = synthesize({.seed = 9, .launches = 3});
  capture.launches[1].launch.width = kMaxBytes / 32;
  capture.launches[1].launch.height = 1;
  IngestOptions options;
  options.max_bytes = kMaxBytes;
  const trace::Trace found = ingested(capture, options);
  EXPECT_EQ(found.launches.size(), 2U);
  expect_said(found, "launch 11 is left out: 32,768 threads would need more memory than there is");
}

TEST_F(SaidTest, ManyDevicesGiveManyTraces) {
  const SyntheticCapture first = synthesize({.seed = 1});
  SyntheticCapture second = synthesize({.seed = 2});
  second.process.start_unix_ns = 5;
  first.write(file("a.rrspool"));
  second.write(file("b.rrspool"));
  std::ofstream(file("c.rrspool")).flush();
  std::ofstream(file("d.rrspool")) << "something else";
  const IngestResult result = ingest(find_spools(file("").parent_path()), file());
  ASSERT_EQ(result.traces.size(), 2U);
  EXPECT_EQ(capture_difference(first.expected, trace::load(file())), "");
  EXPECT_EQ(capture_difference(second.expected, trace::load(file("t-2.rrt"))), "");
  ASSERT_EQ(result.spools.size(), 4U);
  EXPECT_THAT(result.spools[2].fault, HasSubstr("empty"));
  EXPECT_THAT(result.spools[3].fault, HasSubstr("not a spool"));
}

TEST_F(SaidTest, NothingTracedGivesNoTrace) {
  SyntheticCapture capture = synthesize({});
  capture.launches.clear();
  capture.write(file("s.rrspool"));
  EXPECT_TRUE(ingest({file("s.rrspool")}, file()).traces.empty());
  EXPECT_FALSE(std::filesystem::exists(file()));
}

TEST_F(SaidTest, HitObjectsWithoutATraceCallAreCounted) {
  SyntheticCapture capture = synthesize({.seed = 3, .size = {1, 1, 1}, .warp_size = 1, .actions = 0});
  auto& words = capture.launches[0].words;
  for (const std::uint32_t word :
       {RR_EXECUTE | 0U, 1U, 1U << 20U, 0U, 0U, RR_NO_RAY, RR_MISS | 4U << 8U, 1U, 1U << 20U, 0U, 0U}) {
    words.push_back(word);
  }
  capture.launches[0].launch.words = words.size();
  const trace::Trace found = ingested(capture);
  ASSERT_EQ(found.launches.size(), 1U);
  EXPECT_EQ(found.launches[0].data.events.size(), 0U);
  expect_said(found, "not shown: 1 call of hit objects that no trace call made");
}

}  // namespace
}  // namespace rayreplay::ingest
