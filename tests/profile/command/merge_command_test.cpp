// rayreplay profile merge, run as a user runs it, and commands on what it writes.
#include <algorithm>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "capture/trace/reader.hpp"
#include "tests/profile/command/trace_commands.hpp"
#include "tests/profile/profile_maker.hpp"
#include "tests/support/file_bytes.hpp"

namespace rayreplay {
namespace {

using test::Outcome;
using test::run_command;
using testing::HasSubstr;
using testing::Not;

class MergeCommand : public test::TraceCommands {
 protected:
  using TraceCommands::save;
  std::string save(const std::string& name, const profile::Run& run) const {
    trace::Trace trace;
    trace.header = run.profile.header;
    trace.shaders = run.profile.shaders;
    trace.block_counts = run.profile.block_counts;
    return save(name, trace);
  }
};

TEST_F(MergeCommand, MergeAddsRuns) {
  std::vector<std::string> runs;
  for (const std::uint64_t scale : {1U, 2U, 5U}) {
    runs.push_back(save(std::to_string(scale) + ".rrt", test::two_shaders("", scale)));
  }
  const auto merge = [&](const std::vector<std::string>& inputs, const std::string& output,
                         const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {"profile", "merge"};
    words.insert(words.end(), inputs.begin(), inputs.end());
    words.insert(words.end(), {"-o", scratch_ / output});
    words.insert(words.end(), more.begin(), more.end());
    return run_command(words);
  };
  const Outcome outcome = merge(runs, "all.rrt");
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_EQ(outcome.output, "");
  EXPECT_THAT(outcome.errors, HasSubstr("3 runs merged in "));
  EXPECT_THAT(outcome.errors, HasSubstr("1 of 1 pipeline in all of them"));
  // As one run with all of them, whatever is computed.
  const std::string all = scratch_ / "all.rrt";
  const std::string one = save("one.rrt", test::two_shaders("", 8));
  EXPECT_EQ(printed({"profile", all}), printed({"profile", one}));
  EXPECT_EQ(printed({"profile", all, "--blocks", "--format", "csv"}),
            printed({"profile", one, "--blocks", "--format", "csv"}));
  EXPECT_EQ(printed({"shaders", all, "--disassemble", "sky"}), printed({"shaders", one, "--disassemble", "sky"}));
  // Any order, the same bytes; nothing is replaced unasked.
  EXPECT_EQ(merge({runs[2], runs[0], runs[1]}, "again.rrt", {"--threads", "1"}).code, 0);
  EXPECT_EQ(test::read_bytes(scratch_ / "again.rrt"), test::read_bytes(all));
  const Outcome there = merge({runs[0], runs[1]}, "all.rrt");
  EXPECT_EQ(there.code, 4);
  EXPECT_THAT(there.errors, HasSubstr("all.rrt"));
  EXPECT_EQ(test::read_bytes(scratch_ / "again.rrt"), test::read_bytes(all));
  EXPECT_EQ(merge({runs[0], runs[1]}, "all.rrt", {"--force"}).code, 0);
  EXPECT_EQ(merge(runs, "1.rrt", {"--force"}).code, 2) << "an output that is an input";
  EXPECT_EQ(merge({runs[0]}, "x.rrt").code, 2);
  EXPECT_EQ(merge({runs[0], runs[0]}, "x.rrt").code, 3);
  EXPECT_EQ(merge(runs, "x.rrt", {"--blocks"}).code, 2);
  EXPECT_EQ(merge({runs[0], scratch_ / "nothing.rrt"}, "x.rrt").code, 3);
  EXPECT_FALSE(std::filesystem::exists(scratch_ / "x.rrt"));
}

/// A real capture of each kind, merged with its own copy: all tables of one capture are there.
TEST_F(MergeCommand, MergedCapturesHaveEveryTable) {
  const std::string folder = std::string(RAYREPLAY_SOURCE_DIR) + "/tests/data/lavapipe/";
  const std::string whole = folder + "one-weekend-profile.rrt", memory = folder + "one-weekend-memory.rrt";
  for (const std::string& file : {whole, memory}) {
    // The same counts under another hash.
    trace::Trace again = trace::load(file);
    again.header.application += " again";
    const std::string copy = save("copy.rrt", again), merged = scratch_ / "merged.rrt";
    const Outcome outcome = run_command({"profile", "merge", file, copy, "-o", merged, "--force"});
    ASSERT_EQ(outcome.code, 0) << outcome.errors;
    EXPECT_THAT(outcome.errors, Not(HasSubstr("left out")));
    EXPECT_EQ(run_command({"validate", merged}).code, 0);
    const bool has_accesses = again.access_sites.size() != 0;
    EXPECT_EQ(trace::load(merged).access_sites.has_sums(), has_accesses);
    EXPECT_EQ(printed({"info", merged}).find("sums of accesses to buffers and images at ") != std::string::npos,
              has_accesses);
    const std::vector<std::string> rows =
        has_accesses ? std::vector<std::string>{"memory"} : std::vector<std::string>{"branches", "loads", "uniformity"};
    for (const std::string& name : rows) {
      const std::string one = printed({"profile", file, "--rows", name, "--format", "csv"});
      const std::string both = printed({"profile", merged, "--rows", name, "--format", "csv"});
      EXPECT_EQ(std::ranges::count(both, '\n'), std::ranges::count(one, '\n')) << name;
    }
    if (!has_accesses) {
      printed({"profile", merged, "--report", scratch_ / "report", "--force"});
      printed({"shaders", merged, "--disassemble", "0"});
      printed({"optimise", merged, "-o", scratch_ / "modules", "--force"});
    }
  }
}

TEST_F(MergeCommand, AMergedProfileIsATraceWithoutLaunches) {
  const std::string a = save("a.rrt", test::two_shaders("", 1));
  const std::string b = save("b.rrt", test::two_shaders("", 2));
  const std::string merged = scratch_ / "m.rrt";
  EXPECT_EQ(run_command({"profile", "merge", a, b, "-o", merged}).code, 0);
  EXPECT_EQ(run_command({"validate", merged}).code, 0);
  EXPECT_THAT(printed({"info", merged}), HasSubstr("the merged profile of 2 runs alone"));
  EXPECT_THAT(printed({"shaders", merged}), HasSubstr("ground"));
  for (const char* command : {"whatif", "replay", "traverse", "cache", "explain", "advise", "bvh"}) {
    const Outcome outcome = run_command({command, merged});
    EXPECT_NE(outcome.code, 0) << command;
    EXPECT_THAT(outcome.errors, testing::AnyOf(HasSubstr("launch"), HasSubstr("no geometry"))) << command;
    EXPECT_THAT(outcome.errors, Not(HasSubstr("internal"))) << command;
  }
}

}  // namespace
}  // namespace rayreplay
