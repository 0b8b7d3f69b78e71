// rayreplay cache and bad input, full disks, interruptions: one clear message, nothing half-written, nothing dropped
// without a word.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "capture/trace/reader.hpp"
#include "capture/trace/writer.hpp"
#include "tests/app/cache/cache_command.hpp"
#include "tests/support/launch_builder.hpp"

namespace rayreplay::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class CacheFailure : public CacheCommand {
 protected:
  /// A text memory trace with this header and these records.
  [[nodiscard]] std::string memory_trace(const std::string& name, const std::string& lines) const {
    std::ofstream(scratch_ / name) << "rayreplay-memory-trace 1\nsms 2\n" << lines;
    return scratch_ / name;
  }
  [[nodiscard]] static Outcome import_ask(const std::string& file, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {"cache", file, "--machine", "rtx4060-laptop"};
    words.insert(words.end(), more.begin(), more.end());
    return run_command(words);
  }
};

constexpr const char* kTwoNodes = "allocation node 0x1000 4096 64 n\n0 0 load 4 3 0x1000 0x999999\n";

TEST_F(CacheFailure, TruncatedMemoryTraces) {
  ASSERT_EQ(ask({"--export", scratch_ / "m.rrm"}).code, 0);
  const std::string whole = read_bytes(scratch_ / "m.rrm");
  std::ofstream(scratch_ / "cut.rrm", std::ios::binary) << whole.substr(0, whole.size() / 2);
  for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"--windows", "3"}}) {
    const Outcome outcome = import_ask(scratch_ / "cut.rrm", more);
    EXPECT_EQ(outcome.code, 3);
    EXPECT_EQ(outcome.output, "");
    EXPECT_THAT(outcome.errors, HasSubstr("truncated"));
    EXPECT_THAT(outcome.errors, HasSubstr("cut.rrm"));
  }
}

TEST_F(CacheFailure, ElementsOfNoSize) {
  const Outcome outcome = import_ask(memory_trace("z.txt", "allocation node 0x1000 4096 0 n\n0 0 load 4 1 0x1000\n"));
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.errors, HasSubstr("z.txt:3"));
  EXPECT_THAT(outcome.errors, HasSubstr("elements of no size"));
}

TEST_F(CacheFailure, AddressesOutsideEveryAllocationAreCounted) {
  const std::string file = memory_trace("u.txt", kTwoNodes);
  const Outcome outcome = import_ask(file, {"--format", "json", "--requests"});
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_THAT(outcome.errors, HasSubstr("outside every allocation, and counted as unallocated: 1 of 2 requests"));
  const json result = json::parse(outcome.output);
  EXPECT_EQ(result["summary"]["unallocated_requests"], 1);
  EXPECT_EQ(result["summary"]["requests"], 2);
  EXPECT_EQ(result["summary"]["l1_request_hit_rate"], 0);  // of the one that lies in an allocation
  bool found = false;
  for (const json& row : result["rows"]) {
    found = found || (row["level"] == "L1" && row["kind"] == "unallocated" && row["accesses"] == 1);
  }
  EXPECT_TRUE(found);
}

TEST_F(CacheFailure, AccessesThatStraddleGoByTheirFirstByte) {
  const std::string file = memory_trace("s.txt",
                                        "allocation node 0x1000 128 64 n\nallocation other 0x1080 128 64 o\n"
                                        "0 0 load 16 1 0x1078\n"   // into the next allocation and line
                                        "0 0 load 16 1 0x10f8\n"   // behind all
                                        "0 0 load 16 1 0xff8\n");  // from nowhere
  const Outcome outcome = import_ask(file, {"--format", "json"});
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  const json result = json::parse(outcome.output);
  std::map<std::string, int> accesses;
  for (const json& row : result["rows"]) {
    if (row["level"] == "L1") {
      accesses[row["kind"]] = row["accesses"];
    }
  }
  EXPECT_EQ(accesses, (std::map<std::string, int>{{"node", 2}, {"other", 2}, {"unallocated", 2}, {"all", 6}}));
  EXPECT_EQ(result["summary"]["unallocated_requests"], 2);
}

TEST_F(CacheFailure, MemoryTracesWithoutFrameOrRecords) {
  const std::string file = memory_trace("u.txt", kTwoNodes);
  const Outcome outcome = import_ask(file, {"--report", scratch_ / "r", "--elements", scratch_ / "u.h5"});
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_THAT(outcome.errors, HasSubstr("no sums by pixel"));
  EXPECT_THAT(read_bytes(scratch_ / "r/index.html"), Not(HasSubstr("Per pixel")));
  const Outcome empty = import_ask(memory_trace("e.txt", ""), {"--format", "json", "--requests", "--windows", "4"});
  ASSERT_EQ(empty.code, 0) << empty.errors;
  EXPECT_THAT(empty.errors, HasSubstr("warning: the memory trace has no records"));
  EXPECT_EQ(json::parse(empty.output)["summary"]["transactions"], 0);
  EXPECT_TRUE(json::parse(empty.output)["rows"][0]["hit_rate"].is_null());
}

// Each command says which of the two kinds of traces it takes, and which command takes the other.
TEST_F(CacheFailure, TracesOfTheOtherKindAndOfNone) {
  std::ofstream(scratch_ / "other") << "hello\n";
  const Outcome unknown = ask({}, scratch_ / "other");
  EXPECT_EQ(unknown.code, 3);
  for (const char* part : {"other", "neither a trace of rays nor a memory trace", ".rrt", ".rrm",
                           "Fix: rayreplay capture", "docs/memory-traces.md"}) {
    EXPECT_THAT(unknown.errors, HasSubstr(part));
  }
  std::ofstream(scratch_ / "cut") << "RAYRE";
  std::ofstream(scratch_ / "empty") << "";
  for (const char* name : {"cut", "empty", "missing"}) {
    const Outcome outcome = ask({}, scratch_ / name);
    EXPECT_EQ(outcome.code, 3);
    EXPECT_THAT(outcome.errors, Not(HasSubstr("neither"))) << name;
  }
  ASSERT_EQ(ask({"--export", scratch_ / "m.rrm"}).code, 0);
  for (const std::string& file : {std::string(scratch_ / "m.rrm"), memory_trace("u.txt", kTwoNodes)}) {
    for (const char* command : {"info", "whatif", "replay", "bvh"}) {
      const Outcome outcome = run_command({command, file});
      EXPECT_EQ(outcome.code, 3) << command;
      EXPECT_THAT(outcome.errors, HasSubstr("this is a memory trace")) << command;
      EXPECT_THAT(outcome.errors, HasSubstr("Fix: rayreplay cache takes it")) << command;
      EXPECT_THAT(outcome.errors, HasSubstr("rayreplay import")) << command;
    }
    EXPECT_EQ(ask({}, trace()).code, 0);
  }
}

TEST_F(CacheFailure, FrameBuffersThatAreNotTheFrame) {
  const std::string large = memory_trace("l.txt",
                                         "frame 2 2\nallocation frame-buffer 0x9000 4096 4 fb\n"
                                         "0 0 store 4 3 0x9000 0x9010\n0 0 store 4 1 0x9100\n0 0 load 4 1 0x9004\n");
  const Outcome outcome = import_ask(large, {"--elements", scratch_ / "l.h5"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.errors, HasSubstr("2 accesses of lanes to elements of a frame buffer behind pixel 3"));
  EXPECT_THAT(outcome.errors, Not(HasSubstr("frame buffers")));
  EXPECT_THAT(import_ask(large).errors, Not(HasSubstr("pixel")));  // none were asked for
  const std::string two = memory_trace(
      "t.txt",
      "frame 2 2\nallocation frame-buffer 0x9000 16 4 a\nallocation frame-buffer 0xa000 16 4 b\n0 0 load 4 1 0xa004\n");
  const Outcome both = import_ask(two, {"--elements", scratch_ / "t.h5"});
  EXPECT_EQ(both.code, 0);
  EXPECT_THAT(both.errors, HasSubstr("the memory trace has 2 frame buffers"));
  EXPECT_THAT(both.errors, Not(HasSubstr("behind pixel")));
}

TEST_F(CacheFailure, AFrameOfOneRowHasNoPictures) {
  const std::string file = memory_trace(
      "r.txt", "frame 4 1\nallocation frame-buffer 0x9000 16 4 fb\n0 0 store 4 0xf 0x9000 0x9004 0x9008 0x900c\n");
  const Outcome outcome = import_ask(file, {"--report", scratch_ / "r"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.errors, HasSubstr("no pictures per pixel: the frame has one row"));
  EXPECT_THAT(read_bytes(scratch_ / "r/index.html"), HasSubstr("There are no pictures per pixel"));
}

TEST_F(CacheFailure, TracesThatAreNoFilesNameNoElements) {
  const std::string file = memory_trace("u.txt", kTwoNodes);
  for (const char* input : {"-", "/dev/stdin", "/dev/null"}) {
    const Outcome outcome = import_ask(input, {"--elements"});
    EXPECT_EQ(outcome.code, 2) << input;
    EXPECT_THAT(outcome.errors, HasSubstr("add --elements FILE"));
  }
  EXPECT_EQ(import_ask(file, {"--elements"}).code, 0);
  EXPECT_THAT(scratch_.names(), testing::ElementsAre("u.cache.h5", "u.txt"));
}

TEST_F(CacheFailure, ATraceOfNobodyHasNoEmptyBrackets) {
  const Outcome outcome = import_ask(memory_trace("u.txt", kTwoNodes));
  EXPECT_THAT(outcome.output, HasSubstr("u.txt\n"));
  EXPECT_THAT(outcome.output, Not(HasSubstr("()")));
}

// Not the machine, which has nothing to do with it.
TEST_F(CacheFailure, SizesThatDoNotFitNameTheKeysThatAreSet) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"cache.l1.line_bytes=96"}, "--set, cache.l1.line_bytes: the line size"},
      {{"cache.l1.sector_bytes=48"}, "--set, cache.l1.sector_bytes: the sector size"},
      {{"cache.l1.ways=7"}, "--set, cache.l1.ways: the ways"},
      {{"cache.l2.bytes=1000"}, "--set, cache.l2.bytes: the size"},
      {{"cache.l2.line_bytes=96"}, "--set, cache.l2.line_bytes: the line size"},
      {{"cache.l2.sector_bytes=8"}, "--set, cache.l2.sector_bytes: the sector size"},
      {{"machine.l1_ways=7"}, "--set, machine.l1_ways: the ways"},
      {{"machine.l1_line_bytes=96"}, "--set, machine.l1_line_bytes: the line size"},
      {{"machine.l2_sector_bytes=8"}, "--set, machine.l2_sector_bytes: the sector size"},
      {{"machine.l2_line_bytes=16", "machine.l2_sector_bytes=16"}, "--set, machine.l2_line_bytes: the L2's lines are"},
      {{"cache.l2.line_bytes=16", "cache.l2.sector_bytes=16"}, "--set, cache.l2.line_bytes: the L2's lines are"},
      {{"cache.l1.sector_bytes=64", "cache.l2.line_bytes=32", "cache.l2.sector_bytes=32"},
       "--set, cache.l1.sector_bytes, cache.l2.line_bytes: the L2's lines are"},
      {{"machine.l1_bytes=0", "cache.l1.bytes=65536", "cache.l1.line_bytes=64"},
       "--set, machine.l1_bytes, cache.l1.bytes, cache.l1.line_bytes: the L1's lines are"},
  };
  for (const auto& [settings, message] : cases) {
    std::vector<std::string> words = {"cache", trace()};
    std::vector<std::string> run = {"run", "--set", "trace=" + trace(), "--set", "outputs=cache"};
    for (const std::string& setting : settings) {
      words.insert(words.end(), {"--set", setting});
      run.insert(run.end(), {"--set", setting});
    }
    for (const std::vector<std::string>& command : {words, run}) {
      const Outcome outcome = run_command(command);
      EXPECT_EQ(outcome.code, 2);
      EXPECT_THAT(outcome.errors, HasSubstr("error: " + message));
    }
  }
  // A geometry of the machine's own file is the machine's.
  std::string machine = read_bytes(std::string(RAYREPLAY_SOURCE_DIR) + "/machines/rtx4060-laptop.toml");
  machine.replace(machine.find("l1_ways = 256"), 13, "l1_ways = 7");
  std::ofstream(scratch_ / "odd.toml") << machine;
  EXPECT_THAT(run_command({"cache", trace(), "--machine", scratch_ / "odd.toml"}).errors,
              HasSubstr("odd.toml, l1_*: the ways"));
}

TEST_F(CacheFailure, OptionsOfLaunchesAreRefusedForMemoryTraces) {
  const std::string file = memory_trace("u.txt", kTwoNodes);
  for (const auto& [option, value] : {std::pair{"--layout", "wide-4"},
                                      {"--schedule", "launch"},
                                      {"--sms", "2"},
                                      {"--launch", "0"},
                                      {"--order", "z-order"},
                                      {"--warp-size", "16"},
                                      {"--packing", "numrays"},
                                      {"--payload-bytes", "16"},
                                      {"--export", "-"}}) {
    const Outcome outcome = import_ask(file, {option, value, "-o", scratch_ / "o"});
    EXPECT_EQ(outcome.code, 2) << option;
    EXPECT_THAT(outcome.errors, HasSubstr(option));
  }
}

TEST_F(CacheFailure, KeysOfLaunchesInAConfigurationAreWarnedOfForMemoryTraces) {
  const std::string file = memory_trace("u.txt", kTwoNodes);
  std::ofstream(scratch_ / "c.toml")
      << "order = \"linear\"\nbvh.layout = \"wide-4\"\ntraversal.warp = \"while-while\"\n"
         "[machine]\nl1_bytes = \"8KiB\"\nl1_ways = 8\n[scheduler]\nmodel = \"ser\"\n";
  const Outcome outcome = import_ask(file, {"--config", scratch_ / "c.toml"});
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_THAT(outcome.errors,
              HasSubstr("is not used: " + (scratch_ / "c.toml") + ":2, bvh.layout; " + (scratch_ / "c.toml") +
                        ":1, order; " + (scratch_ / "c.toml") + ":8, scheduler.model\n"));
  // A report's own configuration has every key, as it is.
  ASSERT_EQ(import_ask(file, {"--report", scratch_ / "r"}).code, 0);
  const Outcome again = run_command({"cache", file, "--config", scratch_ / "r/config.toml", "--machine", "rtx4090"});
  EXPECT_EQ(again.code, 0) << again.errors;
  EXPECT_THAT(again.errors, Not(HasSubstr("is not used")));
}

TEST_F(CacheFailure, DistancesThatAModelNeedsAreSaid) {
  const std::string file = memory_trace("u.txt", kTwoNodes);
  EXPECT_THAT(import_ask(file, {"--l1-model", "sdcm", "--no-distances"}).errors,
              AllOf(HasSubstr("reuse distances of the L1 are computed anyway: its model sdcm needs them"),
                    Not(HasSubstr("of the L2"))));
  EXPECT_THAT(import_ask(file, {"--no-distances"}).errors, Not(HasSubstr("all the same")));
}

TEST_F(CacheFailure, AnOrderThatChangesNothingIsSaid) {
  constexpr const char* kNote = "the order changes nothing";
  EXPECT_THAT(ask({"--schedule", "scanline", "--order", "linear"}).errors, HasSubstr(kNote));
  EXPECT_THAT(ask({"--schedule", "scanline"}).errors, Not(HasSubstr(kNote)));
  EXPECT_THAT(ask({"--schedule", "launch", "--order", "linear"}).errors, Not(HasSubstr(kNote)));
}

TEST_F(CacheFailure, AnEmptyLaunchHasNoAccesses) {
  trace::Trace empty = trace::load(trace());
  const std::uint32_t tlas = empty.launches[0].tlas;
  empty.launches[0] = LaunchBuilder({16, 4, 1}).build();
  empty.launches[0].tlas = tlas;
  trace::write(empty, scratch_ / "empty.rrt");
  const Outcome outcome =
      ask({"--format", "json", "--windows", "3", "--report", scratch_ / "r", "--elements", scratch_ / "e.h5"},
          scratch_ / "empty.rrt");
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  const json result = json::parse(outcome.output);
  EXPECT_EQ(result["summary"]["transactions"], 0);
  EXPECT_EQ(result["summary"]["cycles"], 0);
  EXPECT_TRUE(result["summary"]["per_ray"]["transactions"].is_null());
  EXPECT_THAT(read_bytes(scratch_ / "r/index.html"), Not(AnyOf(HasSubstr("nan"), HasSubstr("inf "))));
  EXPECT_EQ(ask({}, scratch_ / "empty.rrt").code, 0);
}

TEST_F(CacheFailure, TheTableSaysOfHowManyLaunches) {
  trace::Trace two = trace::load(trace());
  two.launches.push_back(two.launches[0]);
  trace::write(two, scratch_ / "two.rrt");
  EXPECT_THAT(ask({"--launch", "1"}, scratch_ / "two.rrt").output, HasSubstr("launch   1 of 2: "));
  EXPECT_THAT(ask({}).output, HasSubstr("launch   0: "));
}

TEST_F(CacheFailure, LaunchesThatAreNotThere) {
  const Outcome outcome = ask({"--launch", "7"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.errors, HasSubstr("expected 0 to 0"));
}

TEST_F(CacheFailure, TooManyWindows) {
  const Outcome outcome = ask({"--window-requests", "1", "--elements", scratch_ / "e.h5"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.errors, HasSubstr("more than 65536 windows of 1 requests"));
  EXPECT_THAT(scratch_.names(), IsEmpty());
  EXPECT_EQ(ask({"--windows", "65537"}).code, 2);
}

TEST_F(CacheFailure, HistogramsThatCannotBe) {
  const auto refused = [](const std::vector<std::string>& words, const std::string& says) {
    const Outcome outcome = ask(words);
    EXPECT_EQ(outcome.code, 2) << outcome.errors;
    EXPECT_THAT(outcome.errors, testing::AllOf(HasSubstr("--histograms"), HasSubstr(says), HasSubstr("Fix: ")));
  };
  for (const char* window : {"window=0", "window=1", "window=1025", "window=-3"}) {
    refused({"--histograms", window}, std::string("found '") + window + "'; expected 2 to 1024 windows");
  }
  for (const char* window : {"window=", "window=x", "window=8.5", "window=99999999999999999999"}) {
    refused({"--histograms", window}, "not a whole number");
  }
  refused({"--histograms", "window"}, "found 1 window; expected 2 to 1024 windows");
  refused({"--histograms", "window", "--windows", "1025"}, "found 1,025 windows");
  for (const char* part : {"kind", "launch", "window=4"}) {
    refused({"--histograms", part, "--no-distances"}, "leave --no-distances or --histograms out");
  }
}

TEST_F(CacheFailure, TwoResultsOnStandardOutput) {
  const Outcome outcome = ask({"--export", "-"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.output, "");
  EXPECT_THAT(outcome.errors, HasSubstr("standard output"));
  const Outcome piped = ask({"--export", "-", "--export-text", "-o", scratch_ / "table.txt"});
  EXPECT_EQ(piped.code, 0);
  EXPECT_THAT(piped.output, StartsWith("rayreplay-memory-trace 1\n"));
}

TEST_F(CacheFailure, FullDisksLeaveNothing) {
  // Large enough for the message on standard error, too small for the outputs.
  RunOptions full;
  full.max_file_bytes = 4096;
  for (const auto& [option, name] : {std::pair{"--elements", "e.h5"}, {"--report", "r"}, {"--export", "m.rrm"}}) {
    const Outcome outcome = ask({option, scratch_ / name}, trace(), full);
    EXPECT_EQ(outcome.code, 4) << option << ": " << outcome.errors;
    EXPECT_EQ(outcome.output, "") << option;
    EXPECT_THAT(outcome.errors, HasSubstr(name));
    EXPECT_THAT(scratch_.names(), IsEmpty()) << option;
  }
  const Outcome table = ask({"-o", "/dev/full"});
  EXPECT_EQ(table.code, 4);
  EXPECT_THAT(table.errors, HasSubstr("/dev/full"));
}

TEST_F(CacheFailure, AnInterruptionLeavesNothing) {
  RunOptions interrupted;
  // As soon as an output has been begun: so many windows take longer.
  interrupted.interrupt_when = [this] { return !scratch_.names().empty(); };
  const Outcome outcome = ask({"--elements", scratch_ / "e.h5", "--export", scratch_ / "m.rrm", "--windows", "65536"},
                              trace(), interrupted);
  EXPECT_EQ(outcome.code, 130);
  EXPECT_EQ(outcome.output, "");
  EXPECT_THAT(scratch_.names(), IsEmpty());
}

TEST_F(CacheFailure, OutputsThatCannotBeMade) {
  for (const char* option : {"--elements", "--export", "--report", "-o"}) {
    const Outcome outcome = ask({option, scratch_ / "nowhere/x"});
    EXPECT_EQ(outcome.code, 4) << option;
    EXPECT_THAT(outcome.errors, HasSubstr("nowhere"));
    EXPECT_EQ(outcome.output, "");
  }
  std::ofstream(scratch_ / "there") << "mine";
  for (const char* option : {"--elements", "--export", "--report", "-o"}) {
    EXPECT_EQ(ask({option, scratch_ / "there"}).code, 4) << option;
  }
  EXPECT_EQ(read_bytes(scratch_ / "there"), "mine");
}

}  // namespace
}  // namespace rayreplay::test
