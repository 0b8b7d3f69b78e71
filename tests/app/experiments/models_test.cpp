// whatif --models as a user runs it: answers, files, report, and everything that can be asked wrongly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>

#include <nlohmann/json.hpp>

#include "app/report/charts/svg.hpp"
#include "app/report/models/models_page.hpp"
#include "app/report/models/models_table.hpp"
#include "capture/trace/reader.hpp"
#include "scheduler-models/regrouping/scheduler_model.hpp"
#include "sim/machine/machine_fields.hpp"
#include "tests/app/json_keys.hpp"
#include "tests/app/read_column.hpp"
#include "tests/app/report/perfetto_reader.hpp"
#include "tests/app/small_trace.hpp"

namespace rayreplay::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kModels = "plain,ser:scope=sm,wavefront,oracle";

class ModelsTest : public SmallTrace {
 protected:
  [[nodiscard]] static Outcome ask(const std::vector<std::string>& more) {
    std::vector<std::string> words = {"whatif", trace(), "--models", kModels, "--machine", "rtx4060-laptop"};
    words.insert(words.end(), more.begin(), more.end());
    return run_command(words);
  }
};

TEST_F(ModelsTest, WarpsHaveTheSizeOfTheMachineInRunToo) {
  const Outcome command =
      run_command({"whatif", trace(), "--models", "plain", "--machine", "arc-a770", "--format", "json"});
  ASSERT_EQ(command.code, 0) << command.errors;
  const json answer = json::parse(command.output);
  EXPECT_EQ(answer["configuration"]["warp_size"], 16);
  const Outcome run = run_command({"run", "--set", "trace=" + trace(), "--set", "machine.name=arc-a770", "--set",
                                   "outputs=model", "--format", "json"});
  ASSERT_EQ(run.code, 0) << run.errors;
  const json metrics = json::parse(run.output)["rows"];
  const auto time = std::ranges::find(metrics, "model_milliseconds", [](const json& row) { return row["metric"]; });
  ASSERT_NE(time, metrics.end());
  EXPECT_EQ((*time)["value"], answer["rows"][0]["milliseconds"]);
}

TEST_F(ModelsTest, JsonSaysWhatMadeIt) {
  const Outcome outcome = ask({"--format", "json", "--hint", "thing:4=instance%16"});
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  const json answer = json::parse(outcome.output);
  EXPECT_EQ(answer["schema"], "rayreplay.models/1");
  EXPECT_EQ(keys_of(answer), (std::set<std::string>{"schema", "tool", "device", "devices", "trace", "configuration",
                                                    "launch", "machine", "resident_warps", "mean_hit_cost", "costs",
                                                    "quantities", "rows", "stages", "lanes", "response"}));
  // The keys that scheduler models depend on, and what is no key.
  std::set<std::string> configuration = keys_of(answer["configuration"]);
  for (const char* other : {"costs", "models", "hints"}) {
    EXPECT_EQ(configuration.erase(other), 1U) << other;
  }
  std::set<std::string> read;
  for (const experiment::ExperimentParameter& parameter : experiment::experiment_parameters()) {
    using experiment::Stage;
    if (!parameter.is_open && experiment::is_read(parameter, experiment::stages_named("assignment, simt, model"))) {
      read.insert(parameter.declared.name);
    }
  }
  EXPECT_EQ(configuration, read);
  std::set<std::string> machine;
  for (const machine::MachineField& field : machine::machine_fields()) {
    machine.insert(field.key);
  }
  EXPECT_EQ(keys_of(answer["machine"]), machine);
  EXPECT_EQ(answer["trace"]["hash"], trace::load(trace()).hash);
  EXPECT_EQ(answer["machine"]["sms"], 24);
  EXPECT_EQ(answer["configuration"]["warp_size"], 32);
  EXPECT_EQ(answer["configuration"]["hints"][0]["name"], "thing");
  ASSERT_EQ(answer["rows"].size(), 4U);
  std::set<std::string> row_keys = {"model",
                                    "grouping",
                                    "efficiency",
                                    "change",
                                    "mean_active_lanes",
                                    "warp_events",
                                    "active_lanes",
                                    "weighted_efficiency",
                                    "milliseconds",
                                    "cycles",
                                    "speed_up",
                                    "traversal",
                                    "shading",
                                    "reorder",
                                    "idle",
                                    "withheld",
                                    "tail",
                                    "tail_cycles",
                                    "busy_share",
                                    "limited_issue",
                                    "limited_visits",
                                    "limited_bytes",
                                    "traffic_bytes",
                                    "moved",
                                    "state_bytes",
                                    "state",
                                    "segments",
                                    "warps",
                                    "rounds",
                                    "break_even",
                                    "break_even_instructions",
                                    "break_even_hit_cost",
                                    "break_even_within",
                                    "break_even_from",
                                    "break_even_to",
                                    "break_even_from_speed_up",
                                    "break_even_to_speed_up",
                                    "break_even_scatter",
                                    "break_even_busy_share",
                                    "break_even_plain_busy_share",
                                    "too_few_warps",
                                    "charge_cycles_per_warp",
                                    "charge_cycles_per_cut",
                                    "charge_bytes_per_moved",
                                    "charge_bytes_per_thread",
                                    "charge_bytes_per_cycle",
                                    "charge_withheld_sms",
                                    "verdict"};
  for (const char* stage : {"begin", "occlusion_begin", "intersection", "any_hit", "miss", "closest_hit", "callable"}) {
    for (const char* what : {"_warp_events", "_active_lanes", "_efficiency"}) {
      row_keys.insert(std::string(stage) + what);
    }
  }
  const std::string surfaces = read_bytes(std::string(RAYREPLAY_SOURCE_DIR) + "/docs/surfaces.md");
  for (const json& row : answer["rows"]) {
    EXPECT_EQ(keys_of(row), row_keys);
    double sum = 0;
    for (const char* part : {"traversal", "shading", "reorder", "idle", "withheld"}) {
      EXPECT_EQ(row[part].is_null(), row["grouping"] == "bound");
      sum += row[part].is_null() ? 0.2 : row[part].get<double>();
    }
    EXPECT_NEAR(sum, 1, 1e-9);
  }
  for (const char* key : {"model", "mean_active_lanes", "milliseconds", "speed_up", "withheld", "tail",
                          "limited_visits", "moved", "state_bytes", "break_even_hit_cost", "charge_bytes_per_moved",
                          "resident_warps", "mean_hit_cost", "live_bytes", "hit_instructions"}) {
    EXPECT_THAT(surfaces, HasSubstr(std::string("`") + key + "`"));
  }
  // Stages of one model over all bounces are those of its row.
  for (const json& stage : answer["stages"]) {
    if (stage["bounce"].is_null() && stage["stage"] == "closest_hit" && stage["model"] == "plain") {
      EXPECT_EQ(stage["warp_events"], answer["rows"][0]["closest_hit_warp_events"]);
    }
  }
}

TEST_F(ModelsTest, TheSameBytesOnOneWorkerAndOnTwo) {
  const auto files = [&](const std::string& name, const char* threads) {
    const Outcome outcome = ask({"--report", scratch_ / name, "--timeline", scratch_ / (name + ".pftrace"),
                                 "--segments", scratch_ / (name + ".h5"), "--threads", threads, "--format", "json"});
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
    return outcome.output;
  };
  EXPECT_EQ(files("a", "1"), files("b", "2"));
  std::size_t compared = 0;
  for (const auto& entry : std::filesystem::directory_iterator(scratch_ / "a")) {
    EXPECT_TRUE(read_bytes(entry.path()) == read_bytes(scratch_ / ("b/" + entry.path().filename().string())))
        << entry.path();
    ++compared;
  }
  EXPECT_EQ(compared, 7U + 3U);  // page, data, configuration, machine; a map for each model that has warps
  EXPECT_TRUE(read_bytes(scratch_ / "a.pftrace") == read_bytes(scratch_ / "b.pftrace"));
  EXPECT_TRUE(read_bytes(scratch_ / "a.h5") == read_bytes(scratch_ / "b.h5"));
}

TEST_F(ModelsTest, TheConfigurationMakesTheSameNumbersAgain) {
  const std::string config = scratch_ / "c.toml";
  ASSERT_EQ(ask({"--print-config", "--shader-cost", "closest-hit=90", "-o", config}).code, 0);
  const Outcome direct = ask({"--shader-cost", "closest-hit=90", "--format", "csv"});
  const std::string printed = read_bytes(config);
  // The first line says which models were compared with the experiment that follows.
  const std::string start = "# rayreplay whatif TRACE --config THIS_FILE --models ";
  ASSERT_THAT(printed, testing::StartsWith(start));
  const std::string models = printed.substr(start.size(), printed.find('\n') - start.size());
  const Outcome again = run_command({"whatif", trace(), "--config", config, "--models", models, "--format", "csv"});
  ASSERT_EQ(again.code, 0) << again.errors;
  EXPECT_EQ(again.output, direct.output);
  const Outcome twice = run_command({"whatif", trace(), "--config", config, "--models", models, "--print-config"});
  EXPECT_EQ(twice.output, printed);
  // Counted visits: the keys of the structure are part of the configuration.
  const std::string counted = scratch_ / "counted.toml";
  ASSERT_EQ(ask({"--print-config", "--replay-steps", "--layout", "binary", "-o", counted}).code, 0);
  EXPECT_THAT(read_bytes(counted), HasSubstr("layout = \"binary"));
  EXPECT_THAT(printed, testing::Not(HasSubstr("[bvh]"))) << "not read without --replay-steps";
  // Without models it is about packings.
  const Outcome packings =
      run_command({"whatif", trace(), "--config", config, "--packing", "numrays", "--format", "csv"});
  EXPECT_THAT(packings.output, HasSubstr("numrays"));
}

TEST_F(ModelsTest, ASmallLaunchIsSaidToBeOne) {
  const Outcome text = ask({"--report", scratch_ / "small"});
  const std::string page = read_bytes(scratch_ / "small/index.html");
  for (const std::string& where : {text.output, text.errors, page}) {
    EXPECT_THAT(where, HasSubstr("hold for a launch of this size"));
  }
  const json answer = json::parse(ask({"--format", "json"}).output);
  for (const json& row : answer["rows"]) {
    if (row["grouping"] == "bound") {
      EXPECT_TRUE(row["too_few_warps"].is_null());
    } else {
      EXPECT_EQ(row["too_few_warps"], true) << row["model"];
    }
  }
}

TEST_F(ModelsTest, TheVerdictAndWhatItHangsOn) {
  const Outcome text = ask({});
  EXPECT_THAT(text.output, HasSubstr("what the verdict hangs on"));
  EXPECT_THAT(text.output,
              testing::ContainsRegex(
                  "answer   ser:scope=sm: (cannot tell|pays|does not pay|changes nothing) on rtx4060-laptop"));
  const json answer = json::parse(ask({"--format", "json"}).output);
  EXPECT_TRUE(answer["rows"][0]["verdict"].is_null());
  std::set<std::string> keys;
  for (const json& quantity : answer["quantities"]) {
    keys.insert(quantity["quantity"]);
    EXPECT_LE(quantity["low"], quantity["value"]) << quantity;
    EXPECT_LE(quantity["value"], quantity["high"]) << quantity;
  }
  for (const char* key : {"shader_costs.closest-hit", "registers_per_thread", "scheduler.steps_per_ray", "machine.sms",
                          "machine.withheld_sms", "scheduler.model:live_state"}) {
    EXPECT_TRUE(keys.contains(key)) << key;
  }
  const json verdict = answer["rows"][1]["verdict"];
  EXPECT_EQ(keys_of(verdict), (std::set<std::string>{"answer", "sign", "dominating", "hangs_on", "least_speed_up",
                                                     "most_speed_up", "points", "together", "ranges", "samples"}));
  EXPECT_EQ(verdict["dominating"], verdict["ranges"][0]["quantity"]);
  EXPECT_EQ(verdict["sign"] == "pays", answer["rows"][1]["speed_up"] > 1);
  EXPECT_GE(verdict["samples"].size(), 2U + 32U);
  for (const json& range : verdict["ranges"]) {
    EXPECT_TRUE(keys.contains(range["quantity"])) << range["quantity"];
  }
  const Outcome without = ask({"--no-sensitivity"});
  EXPECT_THAT(without.output, HasSubstr("as long as plain on rtx4060-laptop; it "));
  EXPECT_THAT(without.output, Not(HasSubstr("what the verdict hangs on")));
  const json plain_rows = json::parse(ask({"--no-sensitivity", "--format", "json"}).output)["rows"];
  for (std::size_t i = 0; i < plain_rows.size(); ++i) {
    EXPECT_TRUE(plain_rows[i]["verdict"].is_null());
    json row = answer["rows"][i];
    row["verdict"] = nullptr;
    EXPECT_EQ(row, plain_rows[i]) << "no other number depends on it";
  }
}

TEST_F(ModelsTest, WhatIsSetByHandIsGiven) {
  const auto origin = [](const json& answer, const std::string& key) {
    for (const json& quantity : answer["quantities"]) {
      if (quantity["quantity"] == key) {
        return quantity["origin"].get<std::string>();
      }
    }
    return std::string();
  };
  const json usual = json::parse(ask({"--format", "json"}).output);
  EXPECT_EQ(origin(usual, "registers_per_thread"), "assumed");
  EXPECT_EQ(origin(usual, "machine.rt_steps_per_cycle"), "derived");
  EXPECT_EQ(origin(usual, "machine.withheld_sms"), "measured");
  const json given = json::parse(ask({"--registers", "64", "--set", "machine.rt_steps_per_cycle=1.52", "--steps", "30",
                                      "--shader-cost", "closest-hit=250", "--format", "json"})
                                     .output);
  for (const char* key :
       {"registers_per_thread", "machine.rt_steps_per_cycle", "scheduler.steps_per_ray", "shader_costs.closest-hit"}) {
    EXPECT_EQ(origin(given, key), "given") << key;
  }
  // A printed configuration has every key; those at their defaults stay assumed.
  ASSERT_EQ(ask({"--print-config", "-o", scratch_ / "c.toml"}).code, 0);
  const json again = json::parse(ask({"--config", scratch_ / "c.toml", "--format", "json"}).output);
  EXPECT_EQ(again["quantities"], usual["quantities"]);
}

TEST_F(ModelsTest, CostsComeFromWhereTheySay) {
  std::ofstream(scratch_ / "costs.toml") << "[shader_costs]\nclosest-hit = 77\n";
  const json given = json::parse(ask({"--config", scratch_ / "costs.toml", "--format", "json"}).output);
  const json usual = json::parse(ask({"--format", "json"}).output);
  EXPECT_DOUBLE_EQ(given["mean_hit_cost"].get<double>(), 77);
  bool by_hand = false;
  for (const json& cost : given["costs"]) {
    by_hand = by_hand || (cost["call"] == "closest_hit" && cost["source"] == "hand" && cost["issue"] == 77);
  }
  EXPECT_TRUE(by_hand);
  EXPECT_NE(usual["mean_hit_cost"], given["mean_hit_cost"]);
}

TEST_F(ModelsTest, SaysWhenCapturedSmsAreNotUsed) {
  const auto notes = [](const std::string& machine) {
    const Outcome outcome =
        run_command({"whatif", RAYREPLAY_SOURCE_DIR "/tests/data/h200/bunny.rrt", "--models",
                     "ser:scope=sm,wavefront,ser:scope=sm,arrival=full", "--machine", machine, "--no-break-even"});
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
    return outcome.errors;
  };
  constexpr const char* kNote = "the captured SMs are not used";
  EXPECT_THAT(notes("h200"), Not(HasSubstr(kNote)));
  const std::string fewer = notes("rtx4060-laptop");
  EXPECT_THAT(fewer, HasSubstr(std::string("ser:scope=sm: ") + kNote));
  EXPECT_EQ(fewer.find(kNote), fewer.rfind(kNote)) << fewer;
}

TEST_F(ModelsTest, TimelineHoldsEveryWarpOfTheModel) {
  const std::string path = scratch_ / "t.pftrace";
  const Outcome outcome =
      ask({"--timeline", path, "--timeline-model", "ser:scope=sm", "--format", "json", "--no-break-even"});
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  const json row = json::parse(outcome.output)["rows"][1];
  const PerfettoTrace timeline = read_perfetto(read_bytes(path));
  EXPECT_EQ(timeline.fault, "");
  EXPECT_EQ(timeline.slices.size(), row["warps"].get<std::size_t>());
  EXPECT_EQ(timeline.processes.size(), 1U + 24U);
  std::uint64_t end = 0, moved = 0;
  for (const PerfettoTrace::Slice& slice : timeline.slices) {
    EXPECT_LE(slice.begin, slice.end);
    EXPECT_THAT(slice.name, testing::MatchesRegex("bounce [0-9]+: [0-9]+ lanes?"));
    end = std::max(end, slice.end);
    moved += slice.notes.at("moved");
  }
  EXPECT_NEAR(static_cast<double>(end), row["milliseconds"].get<double>() * 1e6, 2);
  EXPECT_EQ(moved, row["moved"].get<std::uint64_t>());
  std::set<std::string> counters;
  std::int64_t last_waiting = -1;
  for (const PerfettoTrace::Count& count : timeline.counts) {
    EXPECT_GE(count.value, 0);
    counters.insert(count.name);
    last_waiting = count.name == "waiting threads" ? count.value : last_waiting;
  }
  EXPECT_EQ(counters, (std::set<std::string>{"running warps", "waiting threads"}));
  EXPECT_EQ(last_waiting, 0);
}

TEST_F(ModelsTest, ScheduleFileHoldsEveryEventOnceInItsThread) {
  const std::string path = scratch_ / "s.h5";
  const Outcome outcome =
      ask({"--segments", path, "--segments-model", "wavefront", "--format", "json", "--no-break-even"});
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  const trace::Trace loaded = trace::load(trace());
  const auto thread = read_file_column(path, "places/thread"), first = read_file_column(path, "places/first_event"),
             events = read_file_column(path, "places/events"), sm = read_file_column(path, "warps/sm");
  EXPECT_EQ(sm.size() * 32, thread.size());
  EXPECT_EQ(sm.size(), json::parse(outcome.output)["rows"][2]["warps"].get<std::size_t>());
  const trace::ThreadData& data = loaded.launches[0].data;
  std::vector<int> seen(data.events.size());
  for (std::size_t i = 0; i < thread.size(); ++i) {
    for (std::uint64_t event = first[i]; event < first[i] + events[i]; ++event) {
      ++seen[event];
      EXPECT_GE(event, data.event_offset[thread[i]]);
      EXPECT_LT(event, data.event_offset[thread[i] + 1]);
    }
  }
  EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](int times) { return times == 1; }));
  for (const std::uint64_t one : sm) {
    EXPECT_LT(one, 24U);
  }
}

TEST_F(ModelsTest, ReportIsWholeAndOffline) {
  const std::string folder = scratch_ / "r";
  ASSERT_EQ(ask({"--report", folder, "--image", image()}).code, 0);
  const std::string html = read_bytes(folder + "/index.html");
  for (const char* bad : {"<script", "http", "nan", "inf\"", "src=\"/"}) {
    EXPECT_THAT(html, Not(HasSubstr(bad)));
  }
  for (const char* good : {"SIMT efficiency per bounce", "Active lanes", "Speed-up against shader cost",
                           "Speed-up against live state", "Where the time goes", "sm-ser.png", "rendered.png"}) {
    EXPECT_THAT(html, HasSubstr(good));
  }
  const json data = json::parse(read_bytes(folder + "/models.json"));
  EXPECT_FALSE(data["response"].empty());
  // It is replaced with --force alone, and never where something else lies in it.
  EXPECT_EQ(ask({"--report", folder}).code, 4);
  EXPECT_EQ(ask({"--report", folder, "--force", "--no-break-even"}).code, 0);
  std::ofstream(folder + "/mine.txt") << "mine";
  EXPECT_EQ(ask({"--report", folder, "--force"}).code, 4);
  EXPECT_EQ(read_bytes(folder + "/mine.txt"), "mine");
}

TEST_F(ModelsTest, AModelSetAsAKeyIsComparedLikeAnyOther) {
  const auto answer = [](const std::vector<std::string>& words) {
    std::vector<std::string> all = {"whatif", trace(), "--no-break-even", "--no-sensitivity", "--format", "json"};
    all.insert(all.end(), words.begin(), words.end());
    const Outcome outcome = run_command(all);
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
    return outcome.output;
  };
  const std::string listed = answer({"--models", "ser:scope=sm"});
  EXPECT_EQ(answer({"--set", "scheduler.model=ser:scope=sm"}), listed);
  EXPECT_EQ(answer({"--set", "scheduler.model=ser", "--set", "scheduler.model:scope=sm"}), listed);
  EXPECT_EQ(answer({"--models", "wavefront", "--set", "scheduler.model=ser"}), answer({"--models", "wavefront,ser"}));
  EXPECT_EQ(answer({"--set", "scheduler.model=plain"}), answer({"--models", "plain"}));
}

TEST_F(ModelsTest, WhatIsAskedWronglyIsSaidBeforeAnyWork) {
  const auto refused = [&](const std::vector<std::string>& words, const std::string& says, int code = 2) {
    std::vector<std::string> all = {"whatif", "/nowhere.rrt"};
    all.insert(all.end(), words.begin(), words.end());
    const Outcome outcome = run_command(all);
    EXPECT_EQ(outcome.code, code) << outcome.errors;
    EXPECT_THAT(outcome.errors, HasSubstr(says));
  };
  refused({"--models", "serr"}, "'ser'");
  refused({"--models", "ser:scoep=sm"}, "'scope'");
  refused({"--models", "plain,,ser"}, "missing");
  refused({"--models", "scope=sm"}, "no model's name");
  refused({"--models", "ser", "--machine", "rtx4060-labtop"}, "rtx4060-laptop");
  refused({"--models", "ser", "--machine", "nowhere.toml"}, "nowhere.toml", 3);
  refused({"--models", "ser", "--packing", "numrays", "--packing", "objects"}, "two runs");
  refused({"--models", "ser", "--swizzle", "s.bin"}, "two runs");
  refused({"--models", "ser", "--compare", "p.toml"}, "--compare");
  refused({"--models", "ser", "--hint", "m:4=instanc"}, "instance");
  refused({"--models", "ser", "--hint", "m:40=instance"}, "32");
  refused({"--models", "ser", "--hint", "m=instance"}, "error: --hint: the hint is not of the form");
  refused({"--models", "ser", "--shader-cost", "closest-hit"}, "SHADER=ISSUE");
  refused({"--models", "ser", "--shader-cost", "metal=1,closest-hit=3,metal=2"}, "'metal=1' and 'metal=2'");
  refused({"--models", "ser", "--shader-cost", "metal=1", "--shader-cost", "metal=1"}, "a shader has two costs");
  refused({"--models", "ser", "--shader-cost", "metal=1,,miss=2"}, "SHADER=ISSUE");
  refused({"--models", "ser", "--shader-cost", "=3"}, "SHADER=ISSUE");
  refused({"--models", "ser", "--cost-source", "guess"}, "--cost-source");
  refused({"--models", "ser", "--registers", "0"}, "registers");
  refused({"--models", "ser", "--timeline", "-"}, "--timeline");
  refused({"--models", "ser", "--segments", "-"}, "--segments");
  refused({"--models", "ser", "--timeline", "t", "--timeline-model", "wavefront"}, "--models");
  refused({"--models", "ser,oracle", "--timeline", "t", "--timeline-model", "oracle"}, "bound");
  refused({"--models", "oracle", "--segments", "s.h5"},
          "--segments: no model that was asked for has warps (found oracle");
  refused({"--models", "oracle", "--segments", "s.h5"}, "--segments-model plain");
  refused({"--models", "oracle", "--timeline", "t.pftrace"}, "--timeline: no model that was asked for has warps");
  refused({"--models", "ser", "--timeline", "x.bin", "--segments", "x.bin"}, "same file");
  refused({"--models", "ser", "--timeline", "/nowhere.rrt"}, "also an input");
  refused({"--models", "ser", "--hint-file", "m:4=/nowhere.bin", "-o", "/nowhere.bin"}, "also an input");
  for (const char* option : {"--timeline", "--segments", "--machine", "--hint", "--shader-cost", "--registers"}) {
    refused({option, "3"}, "--models");
  }
  refused({"--no-break-even"}, "--models");
  refused({"--no-sensitivity"}, "--models");
  refused({"--models", "ser:bandwidth=1e-308"}, "at least 0.001");
  refused({"--models", "wavefront:bandwidth=1e-320"}, "at least 0.001");
  refused({"--models", "compaction:bandwidth=0.0009"}, "at least 0.001");
  refused({"--models", "ser", "--timeline-model", "ser"}, "add --timeline FILE");
  refused({"--models", "ser", "--segments-model", "ser"}, "add --segments FILE");
  refused({"--models", "ser", "--schedule", "s.h5"}, "--schedule");
  refused({"--models", "ser", "--set", "scheduler.model:scope=sm"}, "--models NAME:scope=VALUE");
  refused({"--set", "scheduler.model:scope=sm"}, "--set scheduler.model=NAME beside it");
  refused({"--set", "scheduler.model=serr"}, "'ser'");
  refused({"--set", "scheduler.model=ser:scope=foo"}, "'foo'");
  refused({"--model", "ser", "--set", "scheduler.model=ser"}, "set twice");
  refused({"--models", "ser", "--steps", "4", "--replay-steps"}, "either given or counted");
  refused({"--models", "ser", "--layout", "binary"}, "add --replay-steps");
  for (const char* unknown : {"foo=1", "cache.l1.byte=5", "packing =numrays", "costs.=1"}) {
    refused({"--set", unknown}, "unknown key");
    refused({"--models", "ser", "--set", unknown}, "unknown key");
  }
  refused({"--packing", "numrays", "--set", "packing=identity"}, "a key is set twice");
  refused({"--models", "ser", "--shader-cost", "closest-hit=1000001"}, "0 to 1000000");
  refused({"--models", "ser", "--cycles-per-instruction", "201"}, "1 to 200");
  refused({"--models", "ser", "--packing", "numray"}, "'numrays'");
  std::ofstream(scratch_ / "zero.toml") << "sms = 0\n";
  refused({"--models", "ser", "--machine", scratch_ / "zero.toml"}, "sms");
  std::ofstream(scratch_ / "odd.toml") << "smss = 3\n";
  refused({"--models", "ser", "--machine", scratch_ / "odd.toml"}, "'sms'");
  std::ofstream(scratch_ / "config.toml") << "modles = []\n";
  refused({"--config", scratch_ / "config.toml"}, "'modles'");
  std::ofstream(scratch_ / "config1.toml") << "models = [\"ser\"]\n";
  refused({"--config", scratch_ / "config1.toml"}, "the key is scheduler.model");
  std::ofstream(scratch_ / "config2.toml") << "scheduler.replay_steps = 3\n";
  refused({"--config", scratch_ / "config2.toml"}, "true or false");
  std::ofstream(scratch_ / "there.pftrace") << "mine";
  refused({"--models", "ser", "--timeline", scratch_ / "there.pftrace"}, "--force", 4);
  EXPECT_EQ(read_bytes(scratch_ / "there.pftrace"), "mine");
}

TEST_F(ModelsTest, WhatTheTraceLacksIsNamed) {
  EXPECT_EQ(ask({"--launch", "9"}).code, 2);
  const Outcome commas = ask({"--shader-cost", "closest-hit=9,leaf, two-sided=3"});
  EXPECT_EQ(commas.code, 2);
  EXPECT_THAT(commas.errors, HasSubstr("'leaf, two-sided'")) << "a name with a comma";
  const Outcome shader = ask({"--shader-cost", "mettal=3"});
  EXPECT_EQ(shader.code, 2);
  EXPECT_THAT(shader.errors, HasSubstr("mettal"));
  const Outcome hints = run_command({"whatif", trace(), "--models", "ser:hint=captured"});
  EXPECT_EQ(hints.code, 6) << hints.errors;
  const Outcome clocks = ask({"--cost-source", "captured"});
  EXPECT_EQ(clocks.code, 6) << clocks.errors;
  const Outcome modules = ask({"--cost-source", "spirv"});
  EXPECT_EQ(modules.code, 6) << modules.errors;
  EXPECT_THAT(modules.errors, HasSubstr("no shader modules"));
}

TEST_F(ModelsTest, AHintThatNoModelNamesIsToldOf) {
  const Outcome unused =
      run_command({"whatif", trace(), "--models", "ser", "--hint", "mine:4=bounce%16", "--no-break-even"});
  EXPECT_EQ(unused.code, 0);
  EXPECT_THAT(unused.errors, HasSubstr("no model uses the hint 'mine'"));
  const Outcome used =
      run_command({"whatif", trace(), "--models", "ser:hint=mine", "--hint", "mine:4=bounce%16", "--no-break-even"});
  EXPECT_THAT(used.errors, Not(HasSubstr("no model uses")));
}

TEST_F(ModelsTest, AllModelsStartFromThePackingAskedFor) {
  const auto plain = [this](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"whatif", trace(), "--models", "plain", "--no-break-even", "--format", "json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return nlohmann::json::parse(run_command(arguments).output);
  };
  const nlohmann::json packed = plain({"--packing", "random:seed=3"});
  EXPECT_EQ(packed["configuration"]["packing"], "random:seed=3,tiled=false");
  const nlohmann::json rows = nlohmann::json::parse(
      run_command({"whatif", trace(), "--packing", "random:seed=3", "--warp-size", "32", "--format", "json"})
          .output)["rows"];
  EXPECT_EQ(packed["rows"][0]["warp_events"], rows[1]["warp_events"]);
  EXPECT_NE(packed["rows"][0]["warp_events"], plain({})["rows"][0]["warp_events"]);
}

TEST_F(ModelsTest, MachinesAreListedAndDescribed) {
  const Outcome list = run_command({"list", "machine"});
  EXPECT_EQ(list.code, 0);
  EXPECT_THAT(list.output, HasSubstr("rtx4060-laptop"));
  const Outcome one = run_command({"describe", "rtx4060-laptop"});
  EXPECT_EQ(one.code, 0);
  EXPECT_THAT(one.output, HasSubstr("sms = 24"));
  EXPECT_THAT(run_command({"describe", "rtx4060-labtop"}).errors, HasSubstr("rtx4060-laptop"));
  EXPECT_EQ(run_command({"describe", "machine/generic", "--format", "json"}).code, 0);
  EXPECT_THAT(run_command({"describe", "fluid-sms"}).output, HasSubstr("cycles_per_instruction  number  6"));
  EXPECT_THAT(run_command({"describe", "ser"}).output, HasSubstr("scheduler-model/ser"));
}

TEST(ModelsPage, NothingGetsThroughUnescaped) {
  trace::Trace trace;
  trace.header.application = "<script>";
  trace.header.not_captured = {"<b>"};
  trace.shaders.resize(1);
  trace.shaders[0].name = "<i>";
  experiment::CompareResult result;
  result.configuration.order = "<u>";
  result.configuration.warp_size = 32;
  result.machine.name = "<em>";
  result.costs.calls.resize(trace::kEventKinds);
  result.costs.calls[0].origin = "<tt>";
  experiment::CompareRow row;
  row.model = scheduler::SchedulerModels::create("ser:hint=<s>").spec;
  row.timing.cycles = 1;
  row.replay.by_bounce.resize(1);
  row.replay.replay.by_call.push_back({trace::EventKind::Begin, 0, {1, 1, 1, 1}});
  result.rows = {row, row};
  const report::Context context{"<img>", trace, result.configuration, {}};
  const experiment::Settings settings = experiment::complete({}, experiment::NamedInput::Elsewhere);
  const scheduler::HintSources hints;
  const report::ModelsContext models{context, result, settings, hints};
  const std::vector<report::SmMap> maps(2);
  const std::string html = to_html(report::ModelsPage{models, maps, {"", ""}, "", "</pre><h6>"});
  for (const char* bad : {"<script", "<b>", "<i>", "<u>", "<em>", "<tt>", "<s>", "<img>", "<h6>"}) {
    EXPECT_THAT(html, Not(HasSubstr(bad)));
  }
}

TEST(ShortSpec, LeavesOutWhatIsUsual) {
  EXPECT_EQ(report::short_spec(scheduler::SchedulerModels::create("ser").spec), "ser");
  EXPECT_EQ(report::short_spec(scheduler::SchedulerModels::create("ser:scope=sm").spec), "ser:scope=sm");
}

}  // namespace
}  // namespace rayreplay::test
