// rayreplay cache as a user runs it: answers, files, report, and everything that can be asked wrongly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <numeric>
#include <regex>
#include <set>
#include <sstream>
#include <tuple>

#include <hdf5.h>
#include <nlohmann/json.hpp>

#include "capture/trace/reader.hpp"
#include "capture/trace/writer.hpp"
#include "sim/memory/allocations.hpp"
#include "tests/app/cache/cache_command.hpp"
#include "tests/app/json_keys.hpp"
#include "tests/app/read_column.hpp"

namespace rayreplay::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

using CacheTest = CacheCommand;

std::uint64_t sum(const std::vector<std::uint64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
}

TEST_F(CacheTest, JsonSaysWhatMadeIt) {
  const json result = answer({"--requests"});
  EXPECT_EQ(result["schema"], "rayreplay.cache/3");
  EXPECT_EQ(keys_of(result),
            (std::set<std::string>{"schema", "tool", "device", "devices", "trace", "configuration", "launch", "machine",
                                   "summary", "rows", "levels", "reuse_engine", "sms", "windows", "allocations"}));
  EXPECT_EQ(result["trace"]["hash"], trace::load(trace()).hash);
  EXPECT_EQ(result["machine"]["sms"], 4);
  EXPECT_EQ(result["machine"]["l1_bytes"], 4096);
  EXPECT_EQ(result["configuration"]["cache.l1.bytes"], 4096);
  EXPECT_EQ(result["configuration"]["cache.l1.ways"], 4);
  EXPECT_THAT(result["configuration"]["schedule.distribution"].get<std::string>(), StartsWith("launch"));
  EXPECT_FALSE(result["configuration"].contains("policy")) << "nothing is replayed by one";
  // Keys of an experiment have a page of their own.
  const std::string surfaces = document("surfaces.md") + document("keys.md");
  for (const char* object : {"summary", "configuration"}) {
    expect_named(result[object], surfaces);
  }
  for (const char* list : {"rows", "levels", "sms", "windows", "allocations"}) {
    ASSERT_FALSE(result[list].empty()) << list;
    expect_named(result[list][0], surfaces);
  }
}

/// No number of ways helps a cache that has all of them, and no size one that holds everything.
TEST_F(CacheTest, FullyAssociativeCachesHaveNoConflicts) {
  for (const char* size : {"4KiB", "16MiB"}) {
    for (const char* model : {"lru:write=through,allocate=false", "lru:write=back,allocate=true"}) {
      SCOPED_TRACE(std::string(size) + " " + model);
      const std::string geometry = std::string(size) + ":ways=full,line=128,sector=32";
      const json result = answer({"--l1", geometry, "--l2", geometry, "--l1-model", model, "--l2-model", model});
      double missed_sectors = 0, stored = 0;
      for (const json& row : result["rows"]) {
        EXPECT_EQ(row["conflict"], 0) << row["kind"];
        EXPECT_EQ(row["beyond"], 0) << row["kind"];
        if (std::string(size) == "16MiB") {
          EXPECT_EQ(row["capacity"], 0) << row["kind"];
        }
        EXPECT_DOUBLE_EQ(sum_of_classes(row), row["misses"].get<double>());
        missed_sectors += row["new_sectors"].get<double>();
        stored += row["stored_only"].get<double>();
      }
      EXPECT_GT(missed_sectors, 0);
      EXPECT_EQ(stored > 0, std::string(model).ends_with("false"));
    }
  }
}

TEST_F(CacheTest, MemoryTimeSaysWhatTheCyclesWentInto) {
  const json result = answer({"--time", "memory"});
  const json& time = result["time"];
  const std::string surfaces = document("surfaces.md");
  for (const char* object : {"shares", "busy"}) {
    expect_named(time[object], surfaces);
  }
  double parts = 0;
  for (const json& share : time["shares"]) {
    parts += share.get<double>();
  }
  EXPECT_NEAR(parts, 1, 1e-9);
  double most = 0;
  for (const json& share : time["busy"]) {
    most = std::max(most, share.get<double>());
  }
  EXPECT_EQ(time["busy"][time["bound"].get<std::string>()], most);
  EXPECT_EQ(time["sms"].size(), 4U);
  // The cache results define DRAM's bytes alike, and the caches are the same.
  EXPECT_EQ(time["dram_bytes"], result["summary"]["dram_read_bytes"].get<std::uint64_t>() +
                                    result["summary"]["dram_write_bytes"].get<std::uint64_t>());
  EXPECT_EQ(time["dram_written_bytes"], result["summary"]["dram_write_bytes"]);
  EXPECT_GT(time["dram_written_bytes"], 0);
  double stages = 0;
  for (const json& stage : time["stages"]) {
    expect_named(stage, surfaces);
    double states = 0;
    for (const char* state : {"reorder", "issue", "traversal", "load_unit", "l1", "merged", "l2", "dram"}) {
      states += stage[state].get<double>();
    }
    EXPECT_NEAR(stage["share"], states, 1e-12) << stage["stage"];
    stages += states;
  }
  EXPECT_NEAR(stages, 1, 1e-9);
  ASSERT_EQ(time["sm_spread"].size(), 11U);
  expect_named(time["sm_spread"][0], surfaces);
  const json& with_warps = time["sm_spread"][10];
  EXPECT_EQ(with_warps["part"], "with warps");
  const json& busiest = time["sms"][with_warps["sm"].get<std::size_t>()];
  EXPECT_DOUBLE_EQ(with_warps["most"], busiest["busy"].get<double>() / result["summary"]["cycles"].get<double>());
  EXPECT_EQ(result["configuration"]["schedule.time"], "memory");
  EXPECT_TRUE(result["configuration"].contains("scheduler.cycles_per_instruction"));
  const json accesses = answer({});
  EXPECT_FALSE(accesses.contains("time"));
  EXPECT_EQ(accesses["configuration"]["schedule.time"], "accesses");
  EXPECT_FALSE(accesses["configuration"].contains("scheduler.cycles_per_instruction"));
  // Work takes time; accesses that do not depend on each other overlap.
  EXPECT_NE(result["summary"]["cycles"], accesses["summary"]["cycles"]);
  EXPECT_EQ(result["summary"]["transactions"], accesses["summary"]["transactions"]);
  const Outcome text = ask({"--time", "memory"});
  EXPECT_THAT(text.output, StartsWith("answer   the busiest resource is "));
  EXPECT_THAT(text.output, HasSubstr("\nSM-cycles: reorder 0.0 %, issue "));
  EXPECT_THAT(text.output, HasSubstr("\nray generation "));
  EXPECT_THAT(text.output, Not(HasSubstr("\nexchange "))) << "no warp was in it";
  EXPECT_THAT(text.output, HasSubstr("\nwith warps "));
  const Outcome wrong = ask({"--time", "memry"});
  EXPECT_NE(wrong.code, 0);
  EXPECT_THAT(wrong.errors, HasSubstr("memory"));
}

TEST_F(CacheTest, SumsAddUp) {
  const json result = answer({"--requests"});
  std::map<std::string, double> accesses, misses, share;
  std::map<std::string, json> all;
  for (const json& row : result["rows"]) {
    const std::string level = row["level"];
    if (row["kind"] == "all") {
      all[level] = row;
      continue;
    }
    accesses[level] += row["accesses"].get<double>();
    misses[level] += row["misses"].get<double>();
    share[level] += row["share"].get<double>();
  }
  for (const char* level : {"L1", "L2"}) {
    const json& sums = all[level];
    EXPECT_GT(accesses[level], 0) << level;
    EXPECT_EQ(sums["accesses"].get<double>(), accesses[level]);
    EXPECT_DOUBLE_EQ(sums["misses"].get<double>(), misses[level]);
    EXPECT_NEAR(share[level], 1, 1e-12);
    EXPECT_DOUBLE_EQ(sum_of_classes(sums), misses[level]);
    EXPECT_DOUBLE_EQ(sums["hit_rate"].get<double>(), 1 - misses[level] / accesses[level]);
  }
  const json& summary = result["summary"];
  EXPECT_EQ(all["L1"]["accesses"], summary["transactions"]);
  EXPECT_GT(summary["requests"], summary["transactions"]);
  EXPECT_EQ(summary["unallocated_requests"], 0);
  EXPECT_EQ(summary["rays"], trace::load(trace()).launches[0].data.rays.size());
  std::uint64_t instructions = 0, l1 = 0;
  for (const json& sm : result["sms"]) {
    instructions += sm["instructions"].get<std::uint64_t>();
    l1 += sm["l1_accesses"].get<std::uint64_t>();
  }
  EXPECT_EQ(instructions, summary["instructions"]);
  EXPECT_EQ(l1, summary["transactions"]);
  // The curve at the L1's size cannot be told from the histogram of a cache of few ways, but its ends can.
  for (const json& level : result["levels"]) {
    const json& curve = level["miss_ratio_curve"];
    ASSERT_FALSE(curve.empty());
    EXPECT_LE(curve.back()[1], curve.front()[1]);
  }
}

TEST_F(CacheTest, TrafficAddsUpBetweenLevels) {
  const json result = answer({});
  std::map<std::string, json> all;
  std::map<std::string, std::uint64_t> filled, written;
  for (const json& row : result["rows"]) {
    const std::string level = row["level"];
    if (row["kind"] == "all") {
      all[level] = row;
    } else {
      filled[level] += row["filled_bytes"].get<std::uint64_t>();
      written[level] += row["written_bytes"].get<std::uint64_t>();
      EXPECT_EQ(row["sector_hit_rate"].is_null(), row["stores"] == row["accesses"]) << row["kind"];
    }
  }
  const json& summary = result["summary"];
  for (const json& level : result["levels"]) {
    const std::string name = level["level"];
    const auto sector = level["geometry"]["sector_bytes"].get<std::uint64_t>();
    EXPECT_EQ(all[name]["filled_bytes"], filled[name]);
    EXPECT_EQ(all[name]["written_bytes"], written[name]);
    EXPECT_EQ(filled[name], level["counts"]["sectors_filled"].get<std::uint64_t>() * sector);
    EXPECT_EQ(written[name], level["counts"]["sectors_written"].get<std::uint64_t>() * sector);
  }
  // What leaves the L1s is what the L2 is asked for, and what leaves the L2 is DRAM's.
  EXPECT_EQ(filled["L1"] + written["L1"], all["L2"]["delivered_bytes"]);
  EXPECT_EQ(summary["l2_to_l1_bytes"], filled["L1"]);
  EXPECT_EQ(summary["l1_to_l2_bytes"], written["L1"]);
  EXPECT_EQ(summary["dram_read_bytes"], filled["L2"]);
  EXPECT_EQ(summary["dram_write_bytes"], written["L2"]);
  EXPECT_DOUBLE_EQ(summary["per_ray"]["l2_to_l1_bytes"],
                   static_cast<double>(filled["L1"]) / summary["rays"].get<double>());
  EXPECT_DOUBLE_EQ(
      summary["transactions_per_instruction"],
      summary["transactions"].get<double>() / static_cast<double>(summary["instructions"].get<std::uint64_t>()));
}

TEST_F(CacheTest, StorePoliciesFollowTheLevel) {
  for (const auto& [spec, l1, l2] : std::vector<std::tuple<std::string, std::string, std::string>>{
           {"lru", "lru:write=through,allocate=false", "lru:write=back,allocate=true"},
           {"fifo", "fifo:write=through,allocate=false", "fifo:write=back,allocate=true"},
           {"random", "random:write=through,allocate=false,seed=0", "random:write=back,allocate=true,seed=0"},
           {"lru:write=back", "lru:write=back,allocate=false", "lru:write=back,allocate=true"},
           {"lru:allocate=true", "lru:write=through,allocate=true", "lru:write=back,allocate=true"},
           {"lru:write=through,allocate=false", "lru:write=through,allocate=false", "lru:write=through,allocate=false"},
           {"sdcm", "sdcm", "sdcm"}}) {
    const json result = answer({"--l1-model", spec, "--l2-model", spec});
    EXPECT_EQ(result["configuration"]["cache.l1.model"], l1);
    EXPECT_EQ(result["configuration"]["cache.l2.model"], l2);
    EXPECT_EQ(result["levels"][0]["model"], l1);
    EXPECT_EQ(result["levels"][1]["model"], l2);
  }
  // Said or not, the same numbers.
  EXPECT_EQ(answer({})["rows"], answer({"--l1-model", "lru:write=through,allocate=false"})["rows"]);
  EXPECT_NE(answer({})["rows"], answer({"--l1-model", "lru:write=back,allocate=true"})["rows"]);
}

TEST_F(CacheTest, ThreadsDoNotMatter) {
  const std::vector<std::string> more = {"--format", "json", "--windows", "3", "--force"};
  const auto run = [&](const std::string& threads, const std::string& name) {
    std::vector<std::string> words = more;
    words.insert(words.end(),
                 {"--threads", threads, "--elements", scratch_ / (name + ".h5"), "--report", scratch_ / name});
    const Outcome outcome = ask(words);
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
    return outcome.output;
  };
  EXPECT_EQ(run("1", "one"), run("4", "many"));
  EXPECT_EQ(read_bytes(scratch_ / "one.h5"), read_bytes(scratch_ / "many.h5"));
  for (const char* file : {"index.html", "cache.json", "cache.csv", "write-order.png", "write-windows.png"}) {
    EXPECT_EQ(read_bytes(scratch_ / ("one/" + std::string(file))), read_bytes(scratch_ / ("many/" + std::string(file))))
        << file;
  }
}

TEST_F(CacheTest, ElementsMergeOverWindows) {
  const std::string whole = scratch_ / "whole.h5", parts = scratch_ / "parts.h5";
  const json result = answer({"--elements", whole, "--requests"});
  const json windows = answer({"--elements", parts, "--windows", "5"});
  ASSERT_EQ(windows["windows"].size(), 5U);
  EXPECT_EQ(windows["rows"], result["rows"]);
  const std::uint64_t requests = result["summary"]["requests"];
  for (const std::string& path : {whole, parts}) {
    // Over requests, elements and pixels say the same as the command.
    EXPECT_DOUBLE_EQ(static_cast<double>(sum(read_file_column(path, "elements/l1_hits"))) / (1U << 30U) /
                         static_cast<double>(requests),
                     result["summary"]["l1_request_hit_rate"].get<double>());
    EXPECT_EQ(sum(read_file_column(path, "elements/l2_hits")), sum(read_file_column(path, "pixels/l2_hits")));
    EXPECT_EQ(sum(read_file_column(path, "elements/requests")), requests);
    EXPECT_EQ(sum(read_file_column(path, "pixels/requests")), requests);
    EXPECT_EQ(sum(read_file_column(path, "kinds/accesses")), sum(read_file_column(path, "sms/accesses")));
    EXPECT_EQ(sum(read_file_column(path, "windows/requests")), requests);
  }
  for (const char* column : {"elements/requests", "elements/l1_hits", "elements/l2_requests", "elements/l2_hits"}) {
    std::map<std::uint64_t, std::uint64_t> merged;
    const auto element = read_file_column(parts, "elements/element");
    const auto values = read_file_column(parts, column);
    for (std::size_t i = 0; i < element.size(); ++i) {
      merged[element[i]] += values[i];
    }
    const auto once = read_file_column(whole, "elements/element");
    const auto expected = read_file_column(whole, column);
    ASSERT_EQ(merged.size(), once.size());
    for (std::size_t i = 0; i < once.size(); ++i) {
      ASSERT_EQ(merged[once[i]], expected[i]) << column << " of element " << once[i];
    }
  }
  for (const json& window : windows["windows"]) {
    // A transaction, of up to 32 requests, is in one window.
    EXPECT_NEAR(window["requests"].get<double>(), static_cast<double>(requests) / 5, 32);
  }
}

TEST_F(CacheTest, ElementsAreNodesFacesAndInstances) {
  const std::string path = scratch_ / "e.h5";
  const json result = answer({"--elements", path});
  // Every node that was read has a box, and every element lies in its allocation.
  const auto boxes = read_file_column(path, "boxes/element");
  const std::set<std::uint64_t> boxed(boxes.begin(), boxes.end());
  EXPECT_EQ(boxed.size(), boxes.size());
  const auto element = read_file_column(path, "elements/element");
  const auto first = read_file_column(path, "allocations/first_element");
  const auto count = read_file_column(path, "allocations/elements");
  const auto kind = read_file_column(path, "allocations/kind");
  std::map<std::uint64_t, std::uint64_t> touched;
  for (const std::uint64_t e : element) {
    const auto row = static_cast<std::size_t>(std::upper_bound(first.begin(), first.end(), e) - first.begin()) - 1;
    ASSERT_LT(e, first[row] + count[row]);
    ++touched[kind[row]];
    if (kind[row] == 0) {
      EXPECT_TRUE(boxed.contains(e)) << e;
    }
  }
  EXPECT_GT(touched[static_cast<std::uint64_t>(memory::DataKind::Node)], 0U);
  EXPECT_GT(touched[static_cast<std::uint64_t>(memory::DataKind::FrameBuffer)], 0U);
  // A frame buffer's elements are pixels: each is written once by every thread.
  const auto written = read_file_column(path, "pixels/written");
  EXPECT_EQ(written.size(), 64U * 36);
  EXPECT_EQ(std::set<std::uint64_t>(written.begin(), written.end()).size(), written.size());
}

TEST_F(CacheTest, ReportIsWholeAndMakesItsNumbersAgain) {
  const std::string folder = scratch_ / "report";
  const Outcome outcome = ask({"--report", folder, "--windows", "4", "--layout", "wide-4", "--schedule", "z-order"});
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  const std::string page = read_bytes(folder + "/index.html");
  for (const char* part : {"Miss ratio against cache size", "Reuse distances", "Hit rate over time", "l1-hit-rate.png",
                           "l2-hit-rate.png", "dram-bytes.png", "write-order.png", "write-windows.png"}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
  for (const char* part : {"<script", "http://", "https://", "nan", "inf\""}) {
    EXPECT_THAT(page, Not(HasSubstr(part)));
  }
  const Outcome again = run_command({"cache", trace(), "--config", folder + "/config.toml", "--machine",
                                     folder + "/machine.toml", "--format", "json"});
  ASSERT_EQ(again.code, 0) << again.errors;
  const json before = json::parse(read_bytes(folder + "/cache.json")), after = json::parse(again.output);
  for (const char* part : {"rows", "levels", "sms", "windows", "machine", "allocations"}) {
    EXPECT_EQ(before[part], after[part]) << part;
  }
  // A folder of one's own is not replaced, a report is.
  EXPECT_EQ(ask({"--report", folder}).code, 4);
  EXPECT_EQ(ask({"--report", folder, "--force"}).code, 0);
}

TEST_F(CacheTest, LanesCountAloneWithoutCoalescing) {
  const json together = answer({}), alone = answer({"--per-lane"});
  EXPECT_EQ(together["summary"]["requests"], alone["summary"]["requests"]);
  EXPECT_EQ(alone["summary"]["requests"], alone["summary"]["transactions"]);
  EXPECT_LT(together["summary"]["transactions"], alone["summary"]["transactions"]);
  EXPECT_EQ(answer({"--per-lane=false"})["summary"], together["summary"]);
}

TEST_F(CacheTest, WithoutDistancesThereAreNoCurves) {
  const json with = answer({}), without = answer({"--no-distances"});
  for (std::size_t i = 0; i < with["rows"].size(); ++i) {
    EXPECT_EQ(with["rows"][i]["hit_rate"], without["rows"][i]["hit_rate"]);
    EXPECT_FALSE(with["rows"][i]["cold"].is_null());
    EXPECT_TRUE(without["rows"][i]["cold"].is_null());
  }
  EXPECT_TRUE(without["levels"][0]["miss_ratio_curve"].empty());
  const Outcome report = ask({"--no-distances", "--report", scratch_ / "r"});
  ASSERT_EQ(report.code, 0) << report.errors;
  EXPECT_THAT(read_bytes(scratch_ / "r/index.html"), Not(HasSubstr("Miss ratio against cache size")));
}

TEST_F(CacheTest, OneLevelIsEnough) {
  const json no_l1 = answer({"--l1", "none"}), no_l2 = answer({"--l2", "none"});
  ASSERT_EQ(no_l1["levels"].size(), 1U);
  EXPECT_EQ(no_l1["levels"][0]["level"], "L2");
  ASSERT_EQ(no_l2["levels"].size(), 1U);
  EXPECT_EQ(no_l2["levels"][0]["level"], "L1");
}

TEST_F(CacheTest, ExportedInstructionsGiveTheSameL1) {
  for (const bool text : {false, true}) {
    const std::string file = scratch_ / (text ? "m.txt" : "m.bin");
    std::vector<std::string> more = {"--export", file};
    if (text) {
      more.emplace_back("--export-text");
    }
    const json launch = answer(more);
    const Outcome outcome = run_command({"cache", file, "--machine", "rtx4060-laptop", "--l1", "4KiB:ways=4", "--l2",
                                         "32KiB:ways=8", "--format", "json"});
    ASSERT_EQ(outcome.code, 0) << outcome.errors;
    const json imported = json::parse(outcome.output);
    EXPECT_EQ(imported["configuration"]["scheduled"], false);
    EXPECT_EQ(imported["summary"]["requests"], launch["summary"]["requests"]);
    std::size_t compared = 0;
    for (std::size_t i = 0; i < launch["rows"].size() && launch["rows"][i]["level"] == "L1"; ++i, ++compared) {
      EXPECT_EQ(imported["rows"][i], launch["rows"][i]);
    }
    EXPECT_GT(compared, 2U);
    EXPECT_EQ(run_command({"cache", file, "--layout", "wide-4"}).code, 2);
  }
}

TEST_F(CacheTest, TablesSayWhatMatters) {
  const Outcome outcome = ask({"--windows", "2"});
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  for (const char* part : {"hit rate", "cold", "stored only", "new sectors", "capacity", "conflict", "frame-buffer",
                           "DRAM, estimated", "requests", "transactions", "cycles", "loads served by L1", "window"}) {
    EXPECT_THAT(outcome.output, HasSubstr(part));
  }
  const Outcome csv = ask({"--format", "csv"});
  EXPECT_THAT(csv.output, StartsWith("level,kind,accesses,"));
  EXPECT_THAT(csv.output, HasSubstr("trace_hash"));
  EXPECT_THAT(outcome.output, Not(HasSubstr("policy"))) << "nothing is replayed by one";
}

TEST_F(CacheTest, WrongQuestionsAreRefused) {
  struct Case {
    std::vector<std::string> more;
    int code;
    const char* part;
  };
  std::ofstream(scratch_ / "there.h5") << "mine";
  for (const Case& wrong : std::vector<Case>{
           {{"--machine", "rtx409"}, 2, "unknown machine"},
           {{"--layout", "wide-9"}, 2, "unknown layout"},
           {{"--l1-model", "lruu"}, 2, "did you mean 'lru'"},
           {{"--schedule", "z-oder"}, 2, "z-order"},
           {{"--warp-scheduler", "greedy"}, 2, "warp scheduler"},
           {{"--reuse-engine", "splai"}, 2, "splay"},
           {{"--l2-feed", "mises"}, 2, "did you mean 'misses'"},
           {{"--sms", "x"}, 2, "--sms"},
           {{"--sms", "5000"}, 2, "--sms"},
           {{"--windows", "0"}, 2, "error: --windows: the value"},
           {{"--windows", "2", "--window-requests", "5"}, 2, "one of the two"},
           {{"--l1", "4KiB:line=100"}, 2, "--l1"},
           {{"--l1", "4KiB:ways=5"}, 2, "--l1"},
           {{"--l1", "none", "--l2", "none"}, 2, "no cache"},
           {{"--elements", scratch_ / "there.h5"}, 4, "there.h5"},
           {{"--elements", "-"}, 2, "standard output"},
           {{"--elements", trace(), "--force"}, 2, "also an input"},
           {{"--payload-bytes", "6"},
            2,
            "--payload-bytes: the size is not a number of words (found '6'; expected a multiple of 4)"},
           {{"--payload-bytes", "1000000"}, 2, "expected -1 to 4096"},
           {{"--l1", "2048MiB"}, 2, "--l1, machine.l1_bytes: the value is out of range"},
           {{"--load-bytes", "3"}, 2, "--load-bytes"},
           {{"--l1", "64KiB:line=128,line=64"}, 2, "given twice"},
           {{"--l1", "1MiB:line=65536,ways=4,sector=8192"},
            2,
            "--l1, machine.l1_line_bytes: the value is out of range (found 65536"},
           {{"--colormap", "jet"}, 2, "jet"},
           {{"--frobnicate"}, 2, "unknown option"},
       }) {
    const Outcome outcome = ask(wrong.more);
    EXPECT_EQ(outcome.code, wrong.code) << wrong.more[0] << ": " << outcome.errors;
    EXPECT_THAT(outcome.errors, HasSubstr(wrong.part)) << wrong.more[0];
    EXPECT_EQ(outcome.output, "");
  }
}

TEST_F(CacheTest, ConfigurationFilesAreChecked) {
  const auto run = [&](const std::string& toml) {
    std::ofstream(scratch_ / "c.toml") << toml;
    return ask({"--config", scratch_ / "c.toml", "--format", "json"});
  };
  const Outcome good =
      run("bvh.layout = \"wide-4\"\nstream.coalesce = false\nexplain.slack = 4\n[cache]\nwindows = 2\n");
  ASSERT_EQ(good.code, 0) << good.errors;
  const json result = json::parse(good.output);
  EXPECT_EQ(result["windows"].size(), 2U);
  EXPECT_EQ(result["configuration"]["stream.coalesce"], false);
  EXPECT_FALSE(result["configuration"].contains("explain.slack")) << "a file may hold what others read";
  const Outcome key = run("[bvh]\n\nlayot = \"wide-4\"\n");
  EXPECT_EQ(key.code, 2);
  EXPECT_THAT(key.errors, AllOf(HasSubstr("c.toml:3"), HasSubstr("did you mean 'bvh.layout'?")));
  EXPECT_THAT(run("[cache]\nwindows = 0\n").errors, HasSubstr("c.toml:2, cache.windows: the value"));
  // Names of former files are said with what took their place.
  EXPECT_THAT(run("[cache]\nl1 = \"64KiB\"\n").errors, AllOf(HasSubstr("c.toml:2"), HasSubstr("cache.l1.bytes")));
  EXPECT_THAT(run("[cache]\nbuilder = \"high\"\n").errors, HasSubstr("did you mean 'bvh.builder'?"));
  EXPECT_EQ(run("[cache]\nwindows = \"many\"\n").code, 2);
  // What is wrong about a value is said at its line too.
  std::ofstream(scratch_ / "d.toml") << "[cache.l2]\n\nline_bytes = 100\n";
  EXPECT_THAT(run_command({"cache", trace(), "--config", scratch_ / "d.toml"}).errors,
              AllOf(HasSubstr("d.toml:3, cache.l2.line_bytes: "), Not(HasSubstr("--l2"))));
  for (const auto& [line, part] :
       {std::pair{"bvh.layout = \"wide-9\"", "c.toml:2, bvh.layout: unknown layout"},
        {"schedule.distribution = \"z-oder\"", "c.toml:2, schedule.distribution: unknown work distribution"},
        {"stream.load_bytes = 3", "c.toml:2, stream.load_bytes: the size"},
        {"cache.l1.model = \"lru:wriet=back\"", "c.toml:2, cache.l1.model: "}}) {
    const Outcome value = run(std::string("\n") + line + "\n");
    EXPECT_EQ(value.code, 2) << line;
    EXPECT_THAT(value.errors, HasSubstr(part));
  }
  EXPECT_EQ(run("[cache]\nwindows = [1]\n").code, 2);
  EXPECT_EQ(run("cache = 3\n").code, 2);
}

TEST_F(CacheTest, EveryOptionIsDocumented) {
  const std::string cli = document("cli.md");
  const std::size_t begin = cli.find("\n## cache\n");
  const std::string section = cli.substr(begin, cli.find("\n## ", begin + 1) - begin);
  const Outcome help = run_command({"cache", "--help"});
  const std::regex option("--[a-z][a-z0-9-]*");
  std::set<std::string> seen;
  for (auto match = std::sregex_iterator(help.output.begin(), help.output.end(), option);
       match != std::sregex_iterator(); ++match) {
    EXPECT_TRUE(match->str() == "--help" || section.find(match->str()) != std::string::npos) << match->str();
    seen.insert(match->str());
  }
  for (const char* known : {"--config", "--set", "--machine", "--l1", "--registers", "--per-lane", "--no-distances",
                            "--elements", "--export", "--report"}) {
    EXPECT_TRUE(seen.contains(known)) << known;
  }
}

TEST_F(CacheTest, KeysAfterSetAreThoseOfRun) {
  const json flags = answer({"--layout", "wide-4", "--stack-entries", "4"});
  const json keys = answer({"--set", "bvh.layout=wide-4", "--set", "stream.stack_entries=4"});
  EXPECT_EQ(flags["rows"], keys["rows"]);
  EXPECT_EQ(flags["configuration"], keys["configuration"]);
  EXPECT_THAT(ask({"--set", "explain.slack=4"}).errors, HasSubstr("the command does not read the key"));
  EXPECT_THAT(ask({"--set", "bvh.layot=wide-4"}).errors, HasSubstr("did you mean 'bvh.layout'?"));
  EXPECT_THAT(ask({"--set", "bvh.layout=wide-4", "--layout", "wide-8"}).errors, HasSubstr("a key is set twice"));
  EXPECT_THAT(ask({"--set", "cache.l1.bytes=4KiB"}).errors, HasSubstr("--l1 and --set"));
}

}  // namespace
}  // namespace rayreplay::test
