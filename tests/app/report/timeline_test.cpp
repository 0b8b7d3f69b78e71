// Is a timeline what Perfetto's protos say it is? Decoded again, field by field.
#include "app/report/export/timeline.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.hpp"
#include "tests/app/report/perfetto_reader.hpp"
#include "tests/app/run_command.hpp"

namespace rayreplay::test {
namespace {

TEST(Timeline, ComesBackAsItWasWritten) {
  const Scratch scratch;
  const std::string path = scratch / "t.pftrace";
  {
    output::Timeline timeline(path, false);
    timeline.begin_process("SM 0");
    const std::uint64_t counter = timeline.add_counter("running");
    const std::uint64_t track = timeline.add_track("slot 0");
    timeline.begin_slice(track, 5, "one", {{"warp", 7}, {"round", 1}});
    timeline.count(counter, 5, 1);
    timeline.end_slice(track, 9);
    timeline.begin_slice(track, 9, "one", {});
    timeline.end_slice(track, 12);
    timeline.count(counter, 12, -3);
    timeline.begin_process("SM 1");
    const std::uint64_t other = timeline.add_track("slot 0");
    timeline.begin_slice(other, 0, "one", {{"warp", 8}});
    timeline.end_slice(other, 4'000'000'000'000);
    EXPECT_FALSE(std::filesystem::exists(path));
    timeline.commit();
  }
  const PerfettoTrace trace = read_perfetto(read_bytes(path));
  EXPECT_EQ(trace.fault, "");
  ASSERT_EQ(trace.processes.size(), 2U);
  EXPECT_EQ(trace.processes[1].name, "SM 1");
  ASSERT_EQ(trace.tracks.size(), 2U);
  EXPECT_NE(trace.tracks[0].tid, trace.tracks[1].tid);
  EXPECT_EQ(trace.tracks[1].pid, trace.processes[1].pid);
  ASSERT_EQ(trace.slices.size(), 3U);
  EXPECT_EQ(trace.slices[0].name, "one");
  EXPECT_EQ(trace.slices[0].begin, 5U);
  EXPECT_EQ(trace.slices[0].end, 9U);
  EXPECT_EQ(trace.slices[0].notes, (std::map<std::string, std::uint64_t>{{"warp", 7}, {"round", 1}}));
  EXPECT_EQ(trace.slices[2].end, 4'000'000'000'000U);
  EXPECT_EQ(trace.slices[2].track, trace.tracks[1].uuid);
  ASSERT_EQ(trace.counts.size(), 2U);
  EXPECT_EQ(trace.counts[0].name, "running");
  EXPECT_EQ(trace.counts[1].value, -3);
}

TEST(Timeline, LeavesNothingWithoutCommit) {
  const Scratch scratch;
  {
    output::Timeline timeline(scratch / "t.pftrace", false);
    timeline.begin_process("SM 0");
  }
  EXPECT_TRUE(scratch.names().empty());
}

TEST(Timeline, NeedsAFolderAndAFreeName) {
  const Scratch scratch;
  EXPECT_THROW(output::Timeline(scratch / "nowhere/t.pftrace", false), Error);
  output::Timeline first(scratch / "t.pftrace", false);
  first.commit();
  EXPECT_THROW(output::Timeline(scratch / "t.pftrace", false), Error);
}

}  // namespace
}  // namespace rayreplay::test
