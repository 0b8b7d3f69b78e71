// rayreplay cache --histograms and --evictions: parts that sum to wholes, in JSON, files and page; what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <hdf5.h>
#include <nlohmann/json.hpp>

#include "capture/trace/reader.hpp"
#include "tests/app/cache/cache_command.hpp"
#include "tests/app/json_keys.hpp"
#include "tests/app/read_column.hpp"

namespace rayreplay::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class CachePartsTest : public CacheCommand {};

/// Counts by bin: "cold", or first and last distance.
std::map<std::string, std::uint64_t> bins_of(const json& distances) {
  std::map<std::string, std::uint64_t> bins;
  if (distances["cold"] != 0) {
    bins["cold"] = distances["cold"];
  }
  for (const json& bin : distances["bins"]) {
    bins[bin[0].dump() + "-" + bin[1].dump()] += bin[2].get<std::uint64_t>();
  }
  return bins;
}

TEST_F(CachePartsTest, HistogramsOfPartsSumToTheWhole) {
  const json result = answer({"--histograms", "kind,window=4,launch"});
  EXPECT_EQ(result["windows"].size(), 4U);
  std::map<std::string, json> levels;
  for (const json& level : result["levels"]) {
    levels[level["level"]] = level["reuse_distances"];
  }
  std::map<std::pair<std::string, std::string>, std::map<std::string, std::uint64_t>> parts, wholes;
  std::map<std::string, std::size_t> count;
  const std::string surfaces = document("surfaces.md");
  for (const json& row : result["histograms"]) {
    const std::pair<std::string, std::string> key{row["level"], row["by"]};
    if (row["part"] == "all") {
      wholes[key] = bins_of(row["reuse_distances"]);
    } else {
      ++count[row["by"]];
      for (const auto& [bin, accesses] : bins_of(row["reuse_distances"])) {
        parts[key][bin] += accesses;
      }
    }
    expect_named(row, surfaces);
  }
  EXPECT_EQ(wholes.size(), 6U);
  EXPECT_EQ(parts, wholes);
  for (const auto& [key, whole] : wholes) {
    EXPECT_EQ(whole, bins_of(levels[key.first])) << key.first << " " << key.second;  // the trace has one launch
  }
  EXPECT_EQ(count["window"], 8U);
  EXPECT_EQ(count["launch"], 2U);
  EXPECT_GT(count["kind"], 6U);
}

TEST_F(CachePartsTest, HistogramsOfElementsSumToTheRequests) {
  const std::string file = scratch_ / "parts.h5";
  const json result = answer({"--elements", file, "--histograms", "element", "--per-lane"});
  EXPECT_FALSE(result.contains("histograms")) << "they are in the file";
  const std::vector<std::uint64_t> level = read_file_column(file, "distances/level");
  const std::vector<std::uint64_t> octave = read_file_column(file, "distances/octave");
  const std::vector<std::uint64_t> requests = read_file_column(file, "distances/requests");
  // Every lane has its own transactions: requests are accesses.
  for (std::size_t i = 0; i < 2; ++i) {
    const json& distances = result["levels"][i]["reuse_distances"];
    std::map<std::uint64_t, std::uint64_t> found, expected;
    for (std::size_t row = 0; row < level.size(); ++row) {
      if (level[row] == i) {
        found[octave[row]] += requests[row];
      }
    }
    for (const json& bin : distances["bins"]) {
      std::uint64_t slot = 0;
      while (slot < 32 && (std::uint64_t{1} << slot) <= bin[0].get<std::uint64_t>()) {
        ++slot;
      }
      expected[slot] += bin[2].get<std::uint64_t>();
    }
    if (distances["cold"] != 0) {
      expected[33] = distances["cold"];
    }
    EXPECT_EQ(found, expected) << i;
  }
}

TEST_F(CachePartsTest, EvictionsAreTheMissesThatAreNoFirstAccesses) {
  const json result = answer({"--evictions"});
  std::map<std::pair<std::string, std::string>, double> sums, misses;
  std::map<std::string, double> shares;
  for (const json& row : result["evictions"]) {
    sums[{row["level"], row["kind"]}] += row["misses"].get<double>();
    shares[row["level"]] += row["share"].get<double>();
  }
  for (const json& row : result["rows"]) {
    const double more = row["misses"].get<double>() - row["cold"].get<double>();
    if (row["kind"] != "all" && more > 0) {
      misses[{row["level"], row["kind"]}] = more;
    }
  }
  EXPECT_EQ(sums, misses);
  EXPECT_GT(sums.size(), 4U);
  for (const auto& [level, share] : shares) {
    EXPECT_NEAR(share, 1, 1e-12) << level;
  }
  EXPECT_FALSE(answer({}).contains("evictions"));
  EXPECT_THAT(ask({"--evictions"}).output, AllOf(HasSubstr("no first accesses"), HasSubstr("by node")));
}

// Reasons of misses are counted, whatever the engine; the split of misses is an estimate with an engine that samples.
TEST_F(CachePartsTest, EvictionsAreCountedWithSampledDistancesToo) {
  const std::vector<std::string> sampled = {"--evictions", "--reuse-engine", "sampled:rate=0.25"};
  const json all = answer({"--evictions"});
  EXPECT_EQ(answer(sampled)["evictions"], all["evictions"]);
  EXPECT_THAT(ask(sampled).output, HasSubstr("(counted; the causes of misses above are estimates of a sample)"));
  EXPECT_THAT(ask({"--evictions"}).output, Not(HasSubstr("estimates of a sample")));
}

TEST_F(CachePartsTest, ReportHasFilesAndCharts) {
  const std::string folder = scratch_ / "report";
  ASSERT_EQ(ask({"--histograms", "kind,window=2", "--evictions", "--report", folder}).code, 0);
  const std::string page = read_bytes(folder + "/index.html");
  for (const char* title : {"L1 reuse distances by kind", "L2 reuse distances by window",
                            "L1: misses by the kind of data that evicted the line", "Reuse distances by part"}) {
    EXPECT_THAT(page, HasSubstr(title));
  }
  EXPECT_THAT(read_bytes(folder + "/histograms.csv"),
              testing::StartsWith("level,by,part,sort,first,last,accesses\r\n"));
  EXPECT_THAT(read_bytes(folder + "/evictions.csv"), testing::StartsWith("level,kind,reason,misses,share\r\n"));
  ASSERT_EQ(ask({"--report", folder, "--force"}).code, 0) << "the folder is recognised";
  EXPECT_FALSE(std::filesystem::exists(folder + "/evictions.csv"));
  EXPECT_THAT(read_bytes(folder + "/index.html"), Not(HasSubstr("Evictions by kind of data")));
}

/// Pixels whose first ray ends at a triangle, by triangle.
std::vector<std::uint64_t> first_hits(const std::string& path) {
  const trace::Trace trace = trace::load(path);
  const trace::Launch& launch = trace.launches[0];
  const trace::Events& events = launch.data.events;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint64_t> found;
  for (std::size_t thread = 0; thread < launch.data.threads(); ++thread) {
    for (std::uint64_t e = launch.data.event_offset[thread]; e < launch.data.event_offset[thread + 1]; ++e) {
      if (events.kind[e] == trace::EventKind::ClosestHit) {
        ++found[{events.instance[e], events.geometry.empty() ? 0 : events.geometry[e], events.primitive[e]}];
      }
      if (events.kind[e] == trace::EventKind::ClosestHit || events.kind[e] == trace::EventKind::Miss) {
        break;
      }
    }
  }
  std::vector<std::uint64_t> counts;
  for (const auto& [triangle, pixels] : found) {
    counts.push_back(pixels);
  }
  return counts;
}

TEST_F(CachePartsTest, ElementGroupsSumToTheElementsAndHaveSizes) {
  const std::string cornell = scratch_ / "cornell.rrt", file = scratch_ / "groups.h5";
  ASSERT_EQ(run_command({"trace", "--scene", "cornell", "--size", "64x64", "--spp", "1", "-o", cornell}).code, 0);
  const Outcome outcome = ask({"--element-groups", "--elements", file, "--format", "json"}, cornell);
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  const json result = json::parse(outcome.output);
  std::map<std::string, std::uint64_t> by, elements;
  std::map<double, std::uint64_t> sizes;  // triangles by the lower end of their octave
  for (const json& row : result["element_groups"]) {
    by[row["by"]] += row["requests"].get<std::uint64_t>();
    elements[row["by"]] += row["elements"].get<std::uint64_t>();
    EXPECT_LE(row["l1_hit_rate"], 1.0);
    if (row["by"] == "pixels" && row["group"] != "instanced") {
      sizes[std::strtod(row["group"].get<std::string>().c_str(), nullptr)] += row["elements"].get<std::uint64_t>();
    }
  }
  std::map<std::string, std::uint64_t> of_kind;
  const std::vector<std::uint64_t> allocation = read_file_column(file, "elements/allocation");
  const std::vector<std::uint64_t> requests = read_file_column(file, "elements/requests");
  for (std::size_t i = 0; i < allocation.size(); ++i) {
    of_kind[result["allocations"][allocation[i]]["kind"]] += requests[i];
  }
  EXPECT_EQ(by["top depth"] + by["bottom depth"], of_kind["node"]);
  EXPECT_EQ(by["pixels"], of_kind["index"]) << "vertices count for their triangle";
  EXPECT_EQ(by["facing"], by["pixels"]);
  EXPECT_EQ(elements["facing"], elements["pixels"]);
  // A triangle cannot be seen in more pixels than it would cover alone, but for those that it covers in part.
  const std::vector<std::uint64_t> seen = first_hits(cornell);
  EXPECT_GT(seen.size(), 10U);
  for (double least = 8; least <= 4096; least *= 2) {
    std::uint64_t as_large = 0;
    for (const auto& [low, count] : sizes) {
      as_large += 2 * low >= least / 2 ? count : 0;
    }
    EXPECT_LE(std::ranges::count_if(seen, [&](std::uint64_t pixels) { return static_cast<double>(pixels) >= least; }),
              static_cast<std::ptrdiff_t>(as_large))
        << least;
  }
  EXPECT_LT(sizes.rbegin()->first, 64 * 64 * 4) << "no triangle of the box is larger than a few pictures";
  EXPECT_THAT(ask({"--element-groups"}, cornell).output, HasSubstr("bottom depth"));
}

TEST_F(CachePartsTest, RefusesWhatCannotBe) {
  const std::vector<std::pair<std::vector<std::string>, const char*>> cases = {
      {{"--histograms", "kinds"}, "did you mean 'kind'?"},
      {{"--histograms", "kind,kind"}, "a part is given twice"},
      {{"--histograms", "window"}, "more than one window"},
      {{"--histograms", "window=0"}, "more than one window"},
      {{"--histograms", "window=4", "--windows", "8"}, "the time windows are set twice"},
      {{"--histograms", "window=4", "--window-requests", "1000"}, "the time windows are set twice"},
      {{"--histograms", "window=2000"}, "too many time windows for histograms"},
      {{"--histograms", "element"}, "add --elements"},
      {{"--histograms", "kind", "--no-distances"}, "require reuse distances"},
      {{"--histograms", "launch", "--no-distances"}, "require reuse distances"},
      {{"--evictions", "--l1-model", "sdcm"}, "--l1-model: the cache model evicts no lines"},
      {{"--guess-labels"}, "a trace of rays has labels"}};
  for (const auto& [words, expected] : cases) {
    const Outcome outcome = ask(words);
    EXPECT_NE(outcome.code, 0) << expected;
    EXPECT_THAT(outcome.errors, HasSubstr(expected));
  }
}

}  // namespace
}  // namespace rayreplay::test
