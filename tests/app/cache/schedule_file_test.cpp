// Schedules that `whatif --segments` writes, played into the caches.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "scheduler-models/regrouping/scheduler_model.hpp"
#include "tests/app/cache/cache_command.hpp"
#include "tests/app/read_column.hpp"

namespace rayreplay::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

class ScheduleFileTest : public CacheCommand {
 protected:
  [[nodiscard]] std::string written(const std::string& model, const std::string& name = "s.h5",
                                    const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {"whatif",     trace(),          "--models",        model,
                                      "--machine",  "rtx4060-laptop", "--sms",           "4",
                                      "--segments", scratch_ / name,  "--force",         "--no-break-even",
                                      "-o",         "/dev/null",      "--no-sensitivity"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = run_command(words);
    EXPECT_EQ(outcome.code, 0) << model << ": " << outcome.errors;
    return scratch_ / name;
  }
};

TEST_F(ScheduleFileTest, EveryModelReadBackGivesItsAccessesAndHits) {
  std::vector<std::string> models = {"ser:scope=sm", "ser:scope=warp", "ser:spill=moved,live_state=16",
                                     "ser:scope=sm,arrival=full,pool_warps=2"};
  for (const std::string& name : scheduler::SchedulerModels::names()) {
    if (scheduler::SchedulerModels::create(name).model->grouping() != scheduler::Grouping::Bound) {
      models.push_back(name);
    }
  }
  for (const std::string& model : models) {
    const std::string file = written(model);
    const json own = answer({"--model", model, "--export", scratch_ / "own.rrm", "--force"});
    const json read = answer({"--schedule-file", file, "--export", scratch_ / "read.rrm", "--force"});
    EXPECT_EQ(read["rows"], own["rows"]) << model;
    EXPECT_EQ(read["summary"], own["summary"]) << model;
    EXPECT_EQ(read["configuration"]["scheduler.file"], file);
    EXPECT_TRUE(read_bytes(scratch_ / "own.rrm") == read_bytes(scratch_ / "read.rrm")) << model;
  }
}

// The largest state that a model takes: the file has it, and the reader accepts it.
TEST_F(ScheduleFileTest, TheLargestStateReadBackGivesItsAccesses) {
  const std::string small = scratch_ / "two.rrt";
  ASSERT_EQ(run_command(
                {"trace", "--scene", "cornell", "--size", "2x1", "--spp", "1", "--integrator", "primary", "-o", small})
                .code,
            0);
  const std::string model = fmt::format("wavefront:state={}", scheduler::kMaxStateBytes), file = scratch_ / "s.h5";
  ASSERT_EQ(run_command({"whatif", small, "--models", model, "--sms", "2", "--segments", file, "--no-break-even",
                         "--no-sensitivity"})
                .code,
            0);
  const auto rows = [&](const std::string& option, const std::string& value) {
    const Outcome outcome = run_command({"cache", small, "--sms", "2", option, value, "--format", "json"});
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
    return outcome.code == 0 ? json::parse(outcome.output)["rows"] : json();
  };
  EXPECT_EQ(rows("--schedule-file", file), rows("--model", model));
  const Outcome more =
      run_command({"whatif", small, "--models", fmt::format("wavefront:state={}", scheduler::kMaxStateBytes + 1)});
  EXPECT_EQ(more.code, 2);
  EXPECT_THAT(more.errors, HasSubstr("0 to 1048576"));
}

// In memory time too, with the delays of exchanges: a file has those of its warps. Not timed models: their own warps
// form in memory time, those of a file have been formed by the time model.
TEST_F(ScheduleFileTest, EveryModelReadBackTakesItsTime) {
  const std::vector<std::string> charges = {"--set", "machine.reorder_cycles=300"};
  const auto timed = [](std::vector<std::string> words) {
    words.insert(words.end(), {"--time", "memory"});
    return answer(words);
  };
  for (const char* model : {"ser", "ser:scope=sm", "wavefront", "compaction"}) {
    const std::string file = written(model, "s.h5", charges);
    const json read = timed({"--schedule-file", file});
    std::vector<std::string> own = {"--model", model};
    own.insert(own.end(), charges.begin(), charges.end());
    EXPECT_EQ(read["time"], timed(own)["time"]) << model;
    const std::vector<std::uint64_t> delays = read_file_column(file, "warps/delay");
    EXPECT_EQ(std::ranges::any_of(delays, [](std::uint64_t cycles) { return cycles > 0; }),
              read["time"]["shares"]["reorder"] > 0)
        << model;
  }
  EXPECT_GT(timed({"--schedule-file", written("ser", "s.h5", charges)})["time"]["shares"]["reorder"], 0);
}

TEST_F(ScheduleFileTest, RunAndSweepsTakeThemToo) {
  const std::string file = written("wavefront");
  const auto metrics = [](const std::string& setting) {
    const Outcome outcome =
        run_command({"run", "--set", "trace=" + trace(), "--set", "outputs=cache", "--set", "machine.sms=4", "--set",
                     "machine.name=rtx4060-laptop", "--set", setting, "--store", "none", "--format", "json"});
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
    return outcome.code == 0 ? json::parse(outcome.output)["rows"] : json();
  };
  EXPECT_EQ(metrics("scheduler.file=" + file), metrics("scheduler.model=wavefront"));
  EXPECT_NE(metrics("scheduler.file=" + file), metrics("scheduler.model=plain"));
}

TEST_F(ScheduleFileTest, TheOutputModelTakesNone) {
  const Outcome outcome = run_command({"run", "--set", "trace=" + trace(), "--set", "outputs=model", "--set",
                                       "scheduler.file=" + written("ser"), "--store", "none"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.errors, HasSubstr("the output model is of a scheduler model"));
}

// The page's folder holds the experiment: the schedule is found from there.
TEST_F(ScheduleFileTest, AReportsConfigurationFindsTheSchedule) {
  const std::string file = std::filesystem::relative(written("compaction")).string();
  const json own = answer({"--schedule-file", file, "--report", scratch_ / "r"});
  EXPECT_EQ(answer({"--config", scratch_ / "r/config.toml"})["rows"], own["rows"]);
}

/// The text between two marks; "" without them.
std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const std::size_t at = text.find(begin);
  const std::size_t from = at + begin.size();
  return at == std::string::npos ? "" : text.substr(from, text.find(end, from) - from);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// The example of docs/schedule-files.md: its program and commands as they stand there, and what they print, in order.
TEST_F(ScheduleFileTest, TheManualsExampleIsRepeatable) {
  const std::string section = between(document("schedule-files.md"), "\n## By hand\n", "\n## ");
  const auto ours = [](const std::string& text) { return replaced(text, "build/ci/rayreplay", RAYREPLAY_COMMAND); };
  const std::string program = between(section, "```python\n", "```");
  const std::string commands = between(section, "```\nbuild/ci/rayreplay trace", "```");
  const std::string printed = between(section, "```text\n", "```");
  ASSERT_FALSE(program.empty() || commands.empty() || printed.empty());
  std::ofstream(scratch_ / "by_hand.py") << ours(program);
  std::ofstream(scratch_ / "commands.sh")
      << "set -e\ncd '" << std::string(scratch_ / ".") << "'\n"
      << replaced(ours("build/ci/rayreplay trace" + commands), "python3", "/usr/bin/python3");
  const std::string output = scratch_ / "output";
  ASSERT_EQ(std::system(("sh '" + std::string(scratch_ / "commands.sh") + "' >'" + output + "'").c_str()), 0);
  const std::string all = read_bytes(output);
  std::size_t at = 0, lines = 0;
  std::istringstream expected(printed);
  for (std::string line; std::getline(expected, line); ++lines) {
    at = all.find(line + "\n", at);
    ASSERT_NE(at, std::string::npos) << line << "\nis not in\n" << all;
  }
  EXPECT_GE(lines, 4U);
}

// Results are kept by the file's content: its name says nothing.
TEST_F(ScheduleFileTest, ContentCountsAndNameDoesNot) {
  const std::string wavefront = written("wavefront", "a.h5");
  const std::string ser = written("ser", "b.h5");
  std::filesystem::copy_file(wavefront, scratch_ / "c.h5");
  const auto key = [](const std::string& file) {
    const Outcome outcome = run_command({"run", "--set", "trace=" + trace(), "--set", "outputs=cache", "--set",
                                         "scheduler.file=" + file, "--dry-run", "--format", "json"});
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
    const json forecast = json::parse(outcome.output);
    for (const json& stage : forecast["rows"]) {
      if (stage["stage"] == "stream") {
        return stage["key"].get<std::string>();
      }
    }
    return std::string();
  };
  EXPECT_NE(key(wavefront), "");
  EXPECT_EQ(key(wavefront), key(scratch_ / "c.h5"));
  EXPECT_NE(key(wavefront), key(ser));
}

TEST_F(ScheduleFileTest, WhatDoesNotGoTogether) {
  const std::string file = written("ser");
  const auto refused = [](const std::vector<std::string>& words, int code, const testing::Matcher<std::string>& says) {
    const Outcome outcome = ask(words);
    EXPECT_EQ(outcome.code, code);
    EXPECT_THAT(outcome.errors, says);
  };
  refused({"--schedule-file", file, "--model", "ser"}, 2, HasSubstr("from a scheduler model and from a file"));
  refused({"--schedule-file", file, "--schedule", "scanline"}, 2, HasSubstr("the schedule places the warps itself"));
  refused({"--schedule-file", file, "--sms", "5"}, 3,
          AllOf(HasSubstr(file), HasSubstr("found 4; expected 5"), HasSubstr("--sms")));
  refused({"--schedule-file", file, "--warp-size", "16"}, 3, HasSubstr("found 32; expected 16"));
  refused({"--schedule-file", scratch_ / "nowhere.h5"}, 3, HasSubstr("nowhere.h5"));
  ASSERT_EQ(
      run_command({"trace", "--scene", "one-weekend", "--size", "16x16", "--spp", "1", "-o", scratch_ / "o.rrt"}).code,
      0);
  const Outcome other = ask({"--schedule-file", file}, scratch_ / "o.rrt");
  EXPECT_EQ(other.code, 3);
  EXPECT_THAT(other.errors, HasSubstr("made for another trace"));
  ASSERT_EQ(ask({"--export", scratch_ / "m.rrm"}).code, 0);
  EXPECT_EQ(ask({"--schedule-file", file}, scratch_ / "m.rrm").code, 2);
}

}  // namespace
}  // namespace rayreplay::test
