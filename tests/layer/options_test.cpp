#include "capture/layer/options/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <map>
#include <set>

#include "tests/support/temporary_folder.hpp"

namespace rayreplay::layer {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

Options from(const std::map<std::string, std::string>& environment) {
  return resolve([&](const char* name) -> const char* {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  });
}

TEST(Options, RangesAsWritten) {
  EXPECT_EQ(parse_range("4")->first, 4U);
  EXPECT_EQ(parse_range("4")->last, 4U);
  EXPECT_EQ(parse_range("3..5")->last, 5U);
  EXPECT_EQ(parse_range("2..")->last, 0xFFFF'FFFFU);
  EXPECT_EQ(parse_range("..7")->first, 0U);
  for (const auto* wrong : {"", "..", "a", "5..3", "1...2", "-1", "1..x", "4294967296", "1 2"}) {
    EXPECT_FALSE(parse_range(wrong)) << wrong;
  }
}

TEST(Options, BytesAsWritten) {
  EXPECT_EQ(parse_bytes("512"), 512U);
  EXPECT_EQ(parse_bytes("64KiB"), 65536U);
  EXPECT_EQ(parse_bytes("2 GiB"), 2ULL << 30U);
  for (const auto* wrong : {"", "GiB", "-1", "1.5GiB", "1GB", "99999999999999999999", "18446744073709551615GiB"}) {
    EXPECT_FALSE(parse_bytes(wrong)) << wrong;
  }
}

TEST(Options, WindowsAsWritten) {
  const auto window = parse_window("1,2,30,40");
  ASSERT_TRUE(window);
  EXPECT_EQ(window->x, 1U);
  EXPECT_EQ(window->y, 2U);
  EXPECT_EQ(window->width, 30U);
  EXPECT_EQ(window->height, 40U);
  for (const auto* wrong : {"", "1,2,3", "1,2,3,4,5", "1,2,0,4", "a,b,c,d", "1,2,3,-4"}) {
    EXPECT_FALSE(parse_window(wrong)) << wrong;
  }
}

TEST(Options, EveryOptionOnceAndItsDefaultHolds) {
  std::set<std::string> names, variables;
  for (const auto& option : option_table()) {
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
    EXPECT_TRUE(variables.insert(option.variable).second) << option.variable;
    Options options;
    const auto before = to_text(options);
    if (std::string(option.default_value).empty()) {
      continue;
    }
    EXPECT_TRUE(set_option(options, option.name, option.default_value)) << option.name;
    EXPECT_EQ(to_text(options), before) << option.name;
  }
}

TEST(Options, ProfilesAndTheirCounters) {
  EXPECT_FALSE(from({}).profile_blocks);
  const auto both = from({{"RAYREPLAY_CAPTURE_PROFILE", "blocks"}, {"RAYREPLAY_CAPTURE_BLOCK_COUNTERS", "minimal"}});
  EXPECT_TRUE(both.profile_blocks);
  EXPECT_EQ(both.block_counters, BlockCounters::Minimal);
  EXPECT_THAT(to_text(both), HasSubstr("profile=blocks\nblock_counters=minimal\n"));
  EXPECT_FALSE(both.profile_branches || both.profile_loads);
  const auto two = from({{"RAYREPLAY_CAPTURE_PROFILE", "loads, branches"}});
  EXPECT_TRUE(two.profile_branches && two.profile_loads && !two.profile_blocks);
  EXPECT_THAT(to_text(two), HasSubstr("profile=branches,loads\n"));
  const auto paths = from({{"RAYREPLAY_CAPTURE_PROFILE", "paths"}});
  EXPECT_TRUE(paths.profile_paths && !paths.profile_blocks);
  EXPECT_THAT(to_text(from({{"RAYREPLAY_CAPTURE_PROFILE", "all"}})),
              HasSubstr("profile=blocks,branches,loads,paths\n"));
  const auto memory =
      from({{"RAYREPLAY_CAPTURE_PROFILE", "memory,paths"}, {"RAYREPLAY_CAPTURE_PROFILE_MEMORY_SAMPLE", "7"}});
  EXPECT_TRUE(memory.profile_memory && memory.profile_paths);
  EXPECT_FALSE(from({{"RAYREPLAY_CAPTURE_PROFILE", "all"}}).profile_memory);
  EXPECT_THAT(to_text(from({{"RAYREPLAY_CAPTURE_PROFILE", "all,values,memory"}})),
              HasSubstr("profile=blocks,branches,loads,paths,values,memory\n"));
  EXPECT_THAT(to_text(from({{"RAYREPLAY_CAPTURE_PROFILE", "values, all"}})),
              HasSubstr("profile=blocks,branches,loads,paths,values\n"));
  EXPECT_THAT(to_text(memory), HasSubstr("profile=paths,memory\n"));
  EXPECT_THAT(to_text(memory), HasSubstr("profile_memory_sample=7\n"));
  EXPECT_THAT(from({{"RAYREPLAY_CAPTURE_PROFILE_MEMORY_SAMPLE", "0"}}).problems, SizeIs(1));
  EXPECT_FALSE(from({{"RAYREPLAY_CAPTURE_PROFILE", "all"}}).profile_compute);
  const auto stages = from({{"RAYREPLAY_CAPTURE_PROFILE_STAGES", "rays, graphics"}});
  EXPECT_TRUE(stages.profile_graphics && !stages.profile_compute);
  EXPECT_THAT(to_text(stages), HasSubstr("profile_stages=rays,graphics\n"));
  EXPECT_TRUE(from({{"RAYREPLAY_CAPTURE_PROFILE_STAGES", "all"}}).profile_compute);
  for (const char* odd : {"", "graphic", "compute,", "all,compute"}) {
    EXPECT_THAT(from({{"RAYREPLAY_CAPTURE_PROFILE_STAGES", odd}}).problems, SizeIs(1)) << odd;
  }
  const auto values =
      from({{"RAYREPLAY_CAPTURE_PROFILE", "values,blocks"}, {"RAYREPLAY_CAPTURE_PROFILE_VALUE_SLOTS", "7"}});
  EXPECT_TRUE(values.profile_values && values.profile_blocks && !values.profile_loads);
  EXPECT_EQ(values.profile_value_slots, 7U);
  EXPECT_THAT(to_text(values), HasSubstr("profile=blocks,values\n"));
  EXPECT_THAT(to_text(values), HasSubstr("profile_value_slots=7\n"));
  EXPECT_FALSE(from({{"RAYREPLAY_CAPTURE_PROFILE", "all"}}).profile_values);
  for (const char* odd : {"0", "1025", "-1", "many"}) {
    EXPECT_THAT(from({{"RAYREPLAY_CAPTURE_PROFILE_VALUE_SLOTS", odd}}).problems, SizeIs(1)) << odd;
  }
  for (const char* odd : {"blocks,", ",blocks", "all,", "blocks,ways"}) {
    EXPECT_THAT(from({{"RAYREPLAY_CAPTURE_PROFILE", odd}}).problems, SizeIs(1)) << odd;
  }
  const auto wrong = from({{"RAYREPLAY_CAPTURE_PROFILE", "ways"}, {"RAYREPLAY_CAPTURE_BLOCK_COUNTERS", "few"}});
  EXPECT_FALSE(wrong.profile_blocks);
  EXPECT_EQ(wrong.block_counters, BlockCounters::All);
  EXPECT_THAT(wrong.problems, SizeIs(2));
}

TEST(Options, TextHasEveryOption) {
  const auto text = to_text(Options{});
  for (const auto& option : option_table()) {
    EXPECT_THAT("\n" + text, HasSubstr("\n" + std::string(option.name) + "="));
  }
}

TEST(Options, EnvironmentWinsOverTheSettingsFile) {
  const test::TemporaryFolder folder;
  const auto file = folder.write("settings.txt",
                                 "# a comment\nother_layer.every = 9\nrayreplay_capture.every = 4\n"
                                 "rayreplay_capture.frames = 1..2 # behind\nrayreplay_capture.memory=1MiB\n");
  const auto options = from({{"RAYREPLAY_CAPTURE_SETTINGS", file}, {"RAYREPLAY_CAPTURE_EVERY", "7"}});
  EXPECT_THAT(options.problems, SizeIs(0));
  EXPECT_EQ(options.every, 7U);
  EXPECT_EQ(options.frames->last, 2U);
  EXPECT_EQ(options.memory, 1U << 20U);
}

TEST(Options, WhatCannotBeReadIsAProblemAndLeavesTheDefault) {
  const test::TemporaryFolder folder;
  const auto file = folder.write("settings.txt", "rayreplay_capture.no_such = 1\nrayreplay_capture.every\n");
  const auto options = from({{"RAYREPLAY_CAPTURE_SETTINGS", file},
                             {"RAYREPLAY_CAPTURE_EVERY", "0"},
                             {"RAYREPLAY_CAPTURE_MEMORY", "1KiB"},
                             {"RAYREPLAY_CAPTURE_RECORD", "maybe"},
                             {"RAYREPLAY_CAPTURE_SWIZZLE", "file"}});
  EXPECT_THAT(options.problems, SizeIs(6));
  EXPECT_EQ(options.every, 1U);
  EXPECT_TRUE(options.record);
  EXPECT_EQ(options.memory, 0U);
  EXPECT_EQ(options.swizzle, "");
  EXPECT_THAT(from({{"RAYREPLAY_CAPTURE_SETTINGS", "/none"}}).problems, SizeIs(1));
}

TEST(Options, SettingsComeFromRegularFilesAlone) {
  const test::TemporaryFolder folder;
  const auto pipe = (folder / "pipe").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const auto& file : {pipe, std::string("/dev/zero"), folder.path().string()}) {
    const auto options = from({{"RAYREPLAY_CAPTURE_SETTINGS", file}});
    ASSERT_THAT(options.problems, SizeIs(1));
    EXPECT_EQ(options.problems[0], "settings file " + file + " is not read: it is no regular file");
  }
  const auto large = folder.write("large", std::string((1U << 20U) + 1, '\n'));
  EXPECT_THAT(from({{"RAYREPLAY_CAPTURE_SETTINGS", large}}).problems, SizeIs(1));
}

}  // namespace
}  // namespace rayreplay::layer
