// Schedules from files: one written by hand is the schedule that the model gives, and what is wrong is refused by name.
#include "sim/launch/schedule_file.hpp"

#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "sim/launch/launch_work.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/launch_builder.hpp"
#include "tests/support/schedule_parts.hpp"
#include "tests/support/temporary_folder.hpp"

namespace rayreplay::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::uint64_t kNo = 0xFFFF'FFFFU;

/// Four threads, two hits and two misses: events 2t and 2t + 1 of thread t. Warps of two lanes.
class ScheduleFile : public testing::Test {
 protected:
  ScheduleFile() {
    trace_.hash = "0123456789abcdef0123456789abcdef";
    trace_.shaders.resize(3);
    trace_.shaders[1].stage = trace::ShaderStage::Miss;
    trace_.shaders[2].stage = trace::ShaderStage::ClosestHit;
    LaunchBuilder builder({4, 1, 1});
    for (int pair = 0; pair < 2; ++pair) {
      builder.thread().begin(0, 0, 0.25F, 0.25F, 1, 0, 0).closest_hit(2);
      builder.thread().begin(0, 0, 5, 5, 1, 0, 0).miss(1);
    }
    trace_.launches.push_back(builder.build());
    start_.warp_size = 2;
    start_.thread_at = {0, 1, 2, 3};
    start_.start_rank = {0, 1};
    start_.tile = {0, 0};
  }

  /// Misses first, then hits, as SER does: segment 2t is the thread's first, 2t + 1 its call.
  [[nodiscard]] ScheduleParts parts() const {
    ScheduleParts made;
    made.texts = {{"schema", "rayreplay.schedule/2"}, {"trace_hash", trace_.hash}, {"placement", "units"}};
    made.numbers = {{"launch", 0}, {"warp_size", 2}, {"sms", 3}, {"state_bytes", 8}};
    made.columns = {{"warps/unit", {0, 0, 0, 0}},
                    {"warps/round", {0, 0, 1, 1}},
                    {"warps/sm", {0, 1, 2, 0}},
                    {"units/sm", {kNo}},
                    {"places/segment", {0, 2, 4, 6, 7, 3, 1, 5}},
                    {"places/thread", {0, 1, 2, 3, 3, 1, 0, 2}},
                    {"places/first_event", {0, 2, 4, 6, 7, 3, 1, 5}},
                    {"places/events", {1, 1, 1, 1, 1, 1, 1, 1}},
                    {"places/state", {0, 0, 0, 0, 1, 0, 1, 0}}};
    return made;
  }
  [[nodiscard]] ScheduleParts played_parts() const {
    ScheduleParts made = parts();
    made.texts["placement"] = "warps";
    return made;
  }

  [[nodiscard]] experiment::RegroupedLaunch read(const ScheduleParts& made) const {
    made.write(file());
    return experiment::read_schedule(file(), trace_, {.launch = 0, .warp_size = 2, .sms = 3});
  }
  [[nodiscard]] std::string file() const {
    return (folder_ / "s.h5").string();
  }

  /// The message of what is wrong after a change.
  [[nodiscard]] std::string refused(ScheduleParts made, const std::function<void(ScheduleParts&)>& change) const {
    change(made);
    try {
      static_cast<void>(read(made));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Input) << error.what();
      EXPECT_THAT(error.what(), HasSubstr(file()));
      return error.what();
    }
    ADD_FAILURE() << "accepted";
    return "";
  }
  [[nodiscard]] std::string column(const char* name, std::vector<std::uint64_t> values) const {
    return refused(parts(), [&](ScheduleParts& made) { made.columns[name] = values; });
  }
  [[nodiscard]] std::string played(const char* name, std::vector<std::uint64_t> values) const {
    return refused(played_parts(), [&](ScheduleParts& made) { made.columns[name] = values; });
  }
  [[nodiscard]] std::string number(const char* name, std::uint32_t value) const {
    return refused(parts(), [&](ScheduleParts& made) { made.numbers[name] = value; });
  }
  [[nodiscard]] std::string text(const char* name, const std::string& value) const {
    return refused(parts(), [&](ScheduleParts& made) { made.texts[name] = value; });
  }

  trace::Trace trace_;
  scheduler::WarpAssignment start_;
  TemporaryFolder folder_;
};

TEST_F(ScheduleFile, ByHandIsWhatTheModelGives) {
  experiment::RegroupOptions options;
  options.machine.sms = 3;
  options.resident_warps = 2;
  const experiment::RegroupedLaunch made =
      experiment::regroup_launch(trace_, trace_.launches[0], start_, "ser:spill=moved,live_state=8", options);
  const experiment::RegroupedLaunch found = read(parts());
  EXPECT_EQ(found.segments.event_offset, made.segments.event_offset);
  EXPECT_EQ(found.segments.first, made.segments.first);
  EXPECT_EQ(found.segments.size(), made.segments.size());
  EXPECT_EQ(found.segments.most_of_a_thread, made.segments.most_of_a_thread);
  EXPECT_EQ(found.schedule.segment_at, made.schedule.segment_at);
  EXPECT_EQ(found.schedule.round_begin, made.schedule.round_begin);
  EXPECT_EQ(found.schedule.unit_begin, made.schedule.unit_begin);
  EXPECT_EQ(found.schedule.unit_sm, made.schedule.unit_sm);
  EXPECT_EQ(found.state_moves, made.state_moves);
  EXPECT_EQ(found.state_bytes, made.state_bytes);
  EXPECT_EQ(found.sm, made.sm);
  scheduler::check(found.schedule, found.segments);
}

/// Threads 3 and 1 wait for the miss shader, 0 and 2 for the hit shader.
TEST_F(ScheduleFile, ThreadsMayWaitInQueues) {
  EXPECT_EQ(read(parts()).queues, nullptr);
  ScheduleParts made = parts();
  made.numbers["queue_bytes"] = 4;
  made.columns["places/queue"] = {0, 0, 0, 0, 70, 70, 90, 90};
  const auto expect = [](const experiment::RegroupedLaunch& found, std::uint64_t queues, std::uint64_t places,
                         std::uint32_t miss_3, std::uint32_t miss_1, std::uint32_t hit_0, std::uint32_t hit_2) {
    ASSERT_NE(found.queues, nullptr);
    EXPECT_EQ(found.queues->entry_bytes(), 4U);
    EXPECT_EQ(found.queues->queues(), queues);
    EXPECT_EQ(found.queues->places(), places);
    EXPECT_EQ(found.queues->entry(7).queue, miss_3);
    EXPECT_EQ(found.queues->entry(3).queue, miss_1);
    EXPECT_EQ(found.queues->entry(1).queue, hit_0);
    EXPECT_EQ(found.queues->entry(5).queue, hit_2);
  };
  expect(read(made), 4, 2, 2, 2, 3, 3);  // those of odd rounds
  EXPECT_EQ(read(made).queues->entry(3).place, 0U) << "thread 1 starts before thread 3";
  EXPECT_EQ(read(made).queues->entry(7).place, 1U);
  made.texts["placement"] = "warps";
  made.numbers["queue_places"] = 9;
  expect(read(made), 6, 9, 2, 0, 1, 3);  // of the SM on which the thread's warp before ran: 0 or 1
  EXPECT_EQ(read([&] {
              ScheduleParts narrow = made;
              narrow.numbers["queue_places"] = 1;
              return narrow;
            }())
                .queues->places(),
            1U)
      << "one thread waits in each queue";
  ScheduleParts crowded = made;
  crowded.columns["places/queue"] = {0, 0, 0, 0, 70, 70, 70, 70};
  crowded.numbers["queue_places"] = 1;
  EXPECT_THAT(refused(crowded, [](ScheduleParts&) {}), AllOf(HasSubstr("too few places for the threads"), HasSubstr("1")));
  EXPECT_THAT(refused(made, [](ScheduleParts& changed) { changed.numbers.erase("queue_places"); }),
              AllOf(HasSubstr("have no places"), HasSubstr("1 to 16777216")));
  EXPECT_THAT(refused(made, [](ScheduleParts& changed) { changed.columns.erase("places/queue"); }),
              AllOf(HasSubstr("missing"), HasSubstr("/places/queue")));
  EXPECT_THAT(refused(made, [](ScheduleParts& changed) { changed.numbers["queue_bytes"] = 65; }),
              HasSubstr("at most 64"));
  EXPECT_THAT(refused(made, [](ScheduleParts& changed) { changed.numbers["queue_places"] = (1U << 24U) + 1; }),
              HasSubstr("at most 16777216"));
  made.texts["placement"] = "units";
  EXPECT_THAT(refused(made,
                      [](ScheduleParts& changed) {
                        changed.columns["units/sm"] = {kNo, kNo};
                      }),
              AllOf(HasSubstr("those of one unit"), HasSubstr("2 units")));
}

/// The models' parameters and the reader have one limit; the live state of shaders knows none.
TEST_F(ScheduleFile, StatesHaveOneLimit) {
  ScheduleParts made = parts();
  made.numbers["state_bytes"] = scheduler::kMaxStateBytes;
  experiment::RegroupOptions options;
  options.machine.sms = 3;
  options.resident_warps = 2;
  const auto regrouped = [&](const std::string& model) {
    return experiment::regroup_launch(trace_, trace_.launches[0], start_, model, options);
  };
  for (const std::string parameter : {"wavefront:state=", "ser:live_state=", "compaction:live_state="}) {
    const std::string at_limit = parameter + std::to_string(scheduler::kMaxStateBytes);
    EXPECT_EQ(regrouped(at_limit).state_bytes, read(made).state_bytes) << at_limit;
    EXPECT_THROW(regrouped(parameter + std::to_string(scheduler::kMaxStateBytes + 1)), Error) << parameter;
  }
  options.live_state_bytes = scheduler::kMaxStateBytes + 1;
  EXPECT_THAT(error_of(ErrorKind::Usage, [&] { return regrouped("ser"); }).found, HasSubstr("1048577 bytes"));
  EXPECT_EQ(regrouped("ser:live_state=8").state_bytes, 8U);
}

TEST_F(ScheduleFile, WarpsMayHaveTheirSms) {
  const experiment::RegroupedLaunch found = read(played_parts());
  EXPECT_EQ(found.sm, (std::vector<std::uint32_t>{0, 1, 2, 0}));
  EXPECT_EQ(found.schedule.warps(), 4U);
}

TEST_F(ScheduleFile, WarpsMayHaveDelays) {
  EXPECT_TRUE(read(parts()).start_delay.empty());
  for (ScheduleParts made : {parts(), played_parts()}) {
    made.columns["warps/delay"] = {0, 0, 70, 4000000000};
    const experiment::RegroupedLaunch found = read(made);
    EXPECT_EQ(found.start_delay, (std::vector<std::uint32_t>{0, 0, 70, 4000000000}));
    EXPECT_EQ(experiment::start_delays(found), found.start_delay);
  }
  EXPECT_THAT(column("warps/delay", {0, 0, 70}),
              AllOf(HasSubstr("/warps/delay: the dataset has too few rows (found 3; expected 4, the number of warps)"),
                    HasSubstr("Fix: ")));
}

TEST_F(ScheduleFile, UnitsWithoutWarpsAndRoundsThatAreLeftOutChangeNothing) {
  ScheduleParts made = parts();
  made.columns["warps/unit"] = {1, 1, 1, 1};
  made.columns["warps/round"] = {3, 3, 9, 9};
  made.columns["units/sm"] = {2, 0, 1};
  const experiment::RegroupedLaunch found = read(made);
  EXPECT_EQ(found.schedule.unit_begin, (trace::Column<std::uint64_t>{0, 0, 2, 2}));
  EXPECT_EQ(found.schedule.round_begin, (trace::Column<std::uint64_t>{0, 2, 4}));
}

TEST_F(ScheduleFile, ForAnotherTraceLaunchOrMachine) {
  EXPECT_THAT(text("schema", "rayreplay.schedule/1"), AllOf(HasSubstr("another version"), HasSubstr("schedule/2")));
  EXPECT_THAT(text("trace_hash", "beef"),
              AllOf(HasSubstr("another trace"), HasSubstr("found beef"), HasSubstr(trace_.hash)));
  EXPECT_THAT(number("launch", 1), AllOf(HasSubstr("another launch"), HasSubstr("--launch")));
  EXPECT_THAT(number("warp_size", 32), AllOf(HasSubstr("warp_size"), HasSubstr("found 32; expected 2")));
  EXPECT_THAT(number("sms", 4), AllOf(HasSubstr("found 4; expected 3"), HasSubstr("--sms")));
  EXPECT_THAT(number("withheld_sms", 3), HasSubstr("at most 2"));
  EXPECT_THAT(number("spread", 2), HasSubstr("at most 1"));
  EXPECT_THAT(number("state_bytes", 6), HasSubstr("a multiple of 4"));
  EXPECT_THAT(number("state_bytes", scheduler::kMaxStateBytes + 4),
              HasSubstr("'state_bytes' is out of range (found 1048580; expected at most 1048576)"));
  EXPECT_THAT(text("placement", "unit"), HasSubstr("units or warps"));
  EXPECT_THAT(refused(parts(), [](ScheduleParts& made) { made.texts.erase("trace_hash"); }), HasSubstr("trace_hash"));
}

TEST_F(ScheduleFile, SpreadIsOfUnits) {
  ScheduleParts made = parts();
  made.numbers["spread"] = 1;
  EXPECT_TRUE(read(made).schedule.spread);
  EXPECT_THAT(
      refused(played_parts(), [](ScheduleParts& changed) { changed.numbers["spread"] = 1; }),
      AllOf(HasSubstr("the attribute 'spread' is of units"), HasSubstr("placement 'warps'"), HasSubstr("Fix: ")));
}

TEST_F(ScheduleFile, AttributesOfOtherTypes) {
  const auto with_text = [&](const char* name) {
    return refused(parts(), [&](ScheduleParts& made) {
      made.numbers.erase(name);
      made.texts[name] = "12";
    });
  };
  EXPECT_THAT(with_text("sms"), HasSubstr("/: the attribute 'sms' has another type (found one value: texts of 2 bytes; "
                                          "expected one u32)"));
  EXPECT_THAT(with_text("state_bytes"), HasSubstr("found one value: texts of 2 bytes; expected one u64 or u32"));
  EXPECT_THAT(refused(parts(),
                      [](ScheduleParts& made) {
                        made.texts.erase("placement");
                        made.numbers["placement"] = 1;
                      }),
              HasSubstr("'placement' has another type (found one value: 32-bit unsigned integers, little-endian; "
                        "expected text of fixed length)"));
}

TEST_F(ScheduleFile, ColumnsOfOtherShapes) {
  for (const char* name : {"warps/unit", "warps/round", "units/sm", "places/segment", "places/thread",
                           "places/first_event", "places/events", "places/state"}) {
    EXPECT_THAT(refused(parts(), [&](ScheduleParts& made) { made.columns.erase(name); }), HasSubstr("missing")) << name;
    EXPECT_THAT(refused(parts(), [&](ScheduleParts& made) { made.types[name] = H5T_IEEE_F64LE; }),
                AllOf(HasSubstr("another type (found 64-bit floats, little-endian; expected "),
                      HasSubstr("-bit unsigned integers"), HasSubstr(std::string("/") + name)));
    if (std::string(name) != "units/sm" && std::string(name) != "warps/unit") {
      EXPECT_THAT(refused(parts(), [&](ScheduleParts& made) { made.columns[name].push_back(0); }),
                  AllOf(HasSubstr("too many rows"), HasSubstr(std::string("/") + name), HasSubstr("Fix: ")));
    }
  }
  EXPECT_THAT(
      refused(parts(), [&](ScheduleParts& made) { made.types["warps/round"] = H5T_STD_U32BE; }),
      HasSubstr("found 32-bit unsigned integers, big-endian; expected 32-bit unsigned integers, little-endian"));
  EXPECT_THAT(refused(parts(), [&](ScheduleParts& made) { made.types["places/state"] = H5T_STD_I8LE; }),
              HasSubstr("/places/state: the dataset has another type (found 8-bit signed integers; expected 8-bit "
                        "unsigned integers)"));
  EXPECT_THAT(column("warps/unit", std::vector<std::uint64_t>(9, 0)),
              HasSubstr("too many rows (found 9; expected at most 8, the events of the launch: each warp"));
  EXPECT_THAT(column("units/sm", std::vector<std::uint64_t>(9, 0)),
              HasSubstr("/units/sm: the dataset has too many rows (found 9; expected at most 5, a unit for each"));
  EXPECT_THAT(column("places/thread", {0, 1}), HasSubstr("too few rows (found 2; expected 8, 4 warps of 2 lanes)"));
}

TEST_F(ScheduleFile, SegmentsThatAreNotThoseOfTheLaunch) {
  EXPECT_THAT(column("places/segment", {0, 2, 4, 6, 7, 3, 1, 1}),
              AllOf(HasSubstr("/places/segment[7]"), HasSubstr("at two places"), HasSubstr("row 6")));
  EXPECT_THAT(column("places/segment", {0, 2, 4, 6, 7, 3, 1, 8}),
              AllOf(HasSubstr("/places/segment[7]"), HasSubstr("found 8"), HasSubstr("less than 8")));
  EXPECT_THAT(column("places/segment", {2, 0, 4, 6, 7, 3, 1, 5}), HasSubstr("/places/first_event"));
  EXPECT_THAT(column("places/first_event", {0, 2, 4, 6, 7, 2, 1, 5}), HasSubstr("events are in two segments"));
  EXPECT_THAT(column("places/events", {1, 2, 1, 1, 1, 1, 1, 1}), HasSubstr("/places/first_event[5]"));
  EXPECT_THAT(column("places/events", {3, 1, 1, 1, 1, 1, 1, 1}), HasSubstr("more than its thread"));
  EXPECT_THAT(column("places/events", {0, 1, 1, 1, 1, 1, 1, 1}), HasSubstr("no events"));
  EXPECT_THAT(column("places/thread", {0, 1, 2, 2, 3, 1, 0, 2}),
              AllOf(HasSubstr("/places/thread[3]"), HasSubstr("found 2; expected 3")));
  EXPECT_THAT(column("places/state", {1, 0, 0, 0, 1, 0, 1, 0}), HasSubstr("before its first segment"));
  EXPECT_THAT(column("places/state", {0, 0, 0, 0, 2, 0, 1, 0}), HasSubstr("neither 0 nor 1"));
}

TEST_F(ScheduleFile, ThreadsThatAreMissing) {
  // Thread 3 is left out.
  const std::string message = refused(parts(), [](ScheduleParts& made) {
    made.columns["warps/unit"] = {0, 0, 0, 0};
    made.columns["places/segment"] = {0, 2, 4, kNo, kNo, 3, 1, 5};
    made.columns["places/thread"] = {0, 1, 2, kNo, kNo, 1, 0, 2};
    made.columns["places/first_event"] = {0, 2, 4, 0, 0, 3, 1, 5};
    made.columns["places/events"] = {1, 1, 1, 0, 0, 1, 1, 1};
    made.columns["places/state"] = {0, 0, 0, 0, 0, 0, 1, 0};
  });
  EXPECT_THAT(message, AllOf(HasSubstr("a thread is missing"), HasSubstr("event 6 of thread 3")));
  EXPECT_THAT(column("places/thread", {0, 1, 2, kNo, 3, 1, 0, 2}), HasSubstr("/places/thread[3]"));
  EXPECT_THAT(refused(parts(),
                      [](ScheduleParts& made) {
                        made.columns["warps/unit"].push_back(0);
                        made.columns["warps/round"].push_back(1);
                        for (const auto& [name, value] : {std::pair{"segment", kNo},
                                                          {"thread", kNo},
                                                          {"first_event", std::uint64_t{0}},
                                                          {"events", std::uint64_t{0}},
                                                          {"state", std::uint64_t{0}}}) {
                          auto& values = made.columns[std::string("places/") + name];
                          values.insert(values.end(), {value, value});
                        }
                      }),
              HasSubstr("a warp is empty"));
}

TEST_F(ScheduleFile, PlacesThatDoNotExistAndOrdersThatNeverEnd) {
  EXPECT_THAT(played("warps/sm", {0, 1, 3, 0}),
              AllOf(HasSubstr("/warps/sm[2]"), HasSubstr("found 3"), HasSubstr("0 to 2")));
  EXPECT_THAT(column("units/sm", {3}),
              HasSubstr("/units/sm[0]: there is no such SM among those that run warps (found 3; expected 0 to 2 (3 SMs "
                        "less 0 withheld), or 4294967295 for any)"));
  EXPECT_THAT(
      refused(played_parts(), [](ScheduleParts& made) { made.numbers["withheld_sms"] = 1; }),
      HasSubstr("/warps/sm[0]: the SM is withheld: it runs no warps (found 0; expected 1 to 2 (3 SMs, the lowest "
                "1 withheld))"));
  EXPECT_THAT(column("units/sm", {}),
              HasSubstr("/warps/unit[0]: there is no such unit (found 0; expected less than 0"));
  EXPECT_THAT(column("warps/unit", {0, 0, 1, 1}), HasSubstr("/warps/unit[2]: there is no such unit (found 1"));
  EXPECT_THAT(refused(parts(),
                      [](ScheduleParts& made) {
                        made.columns["units/sm"] = {kNo, kNo};
                        made.columns["warps/unit"] = {0, 1, 0, 0};
                      }),
              HasSubstr("/warps/unit[2]: the units of the warps do not ascend (found 0; expected at least 1"));
  EXPECT_THAT(column("warps/round", {0, 0, 1, 0}), HasSubstr("do not ascend"));
  EXPECT_THAT(column("warps/round", {0, 0, 0, 1}),
              AllOf(HasSubstr("does not come after the previous one of its thread"), HasSubstr("in unit 0")));
  // The warp of calls first: it waits for warps behind it on the same SM.
  const std::string message = refused(played_parts(), [](ScheduleParts& made) {
    made.columns["places/segment"] = {7, 3, 2, 0, 4, 6, 1, 5};
    made.columns["places/thread"] = {3, 1, 1, 0, 2, 3, 0, 2};
    made.columns["places/first_event"] = {7, 3, 2, 0, 4, 6, 1, 5};
    made.columns["places/state"] = {1, 0, 0, 0, 0, 0, 1, 0};
  });
  EXPECT_THAT(message, AllOf(HasSubstr("comes before one that it waits for"), HasSubstr("warp 0")));
  // A warp that waits for itself.
  EXPECT_THAT(refused(played_parts(),
                      [](ScheduleParts& made) {
                        made.columns["places/segment"] = {0, 1, 2, 3, 4, 5, 6, 7};
                        made.columns["places/first_event"] = {0, 1, 2, 3, 4, 5, 6, 7};
                        made.columns["places/thread"] = {0, 0, 1, 1, 2, 2, 3, 3};
                        made.columns["places/state"] = {0, 0, 0, 0, 0, 0, 0, 0};
                      }),
              HasSubstr("comes before one that it waits for"));
}

TEST_F(ScheduleFile, FilesThatAreNone) {
  const auto message = [this](const std::string& path) {
    try {
      static_cast<void>(experiment::read_schedule(path, trace_, {.launch = 0, .warp_size = 2, .sms = 3}));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Input);
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(message((folder_ / "nowhere.h5").string()), HasSubstr("nowhere.h5"));
  EXPECT_THAT(message("/dev/null"), HasSubstr("/dev/null"));
  std::ofstream(file()) << "hello";
  EXPECT_THAT(message(file()), HasSubstr("cannot open the schedule"));
}

}  // namespace
}  // namespace rayreplay::test
