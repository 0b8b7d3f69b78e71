// rayreplay cache --guess-labels: traces of built-in scenes without their labels, guess against truth.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "capture/import/memory_trace.hpp"
#include "tests/app/json_keys.hpp"
#include "tests/app/run_command.hpp"
#include "tests/support/file_bytes.hpp"

namespace rayreplay::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// Copies a memory trace without kinds, names and element sizes; returns the kinds.
std::vector<std::string> strip_labels(const std::string& from, const std::string& to) {
  const auto reader = import::open_memory_trace(from);
  import::TraceHeader header = reader->header();
  std::vector<std::string> kinds;
  for (import::TraceAllocation& row : header.allocations) {
    kinds.emplace_back(import::kDataNames[row.data]);
    row.data = import::kDataOther;
    row.name.clear();
    row.element_bytes = 1;
  }
  const auto writer = import::create_memory_trace(to, import::TraceForm::Binary, true, header);
  import::RecordBlock block;
  while (reader->next(block)) {
    writer->append(block);
  }
  writer->commit();
  return kinds;
}

struct SetUpOfScene {
  const char* scene;
  std::vector<std::string> options;
};

class GuessLabels : public testing::Test {
 protected:
  /// Exports a launch of the scene, and answers for it without labels. `truth`: kinds by allocation.
  json guess(const SetUpOfScene& one, std::vector<std::string>& truth) {
    const std::string trace = scratch_ / "t.rrt", exported = scratch_ / "t.rrm", stripped = scratch_ / "s.rrm";
    const Outcome made =
        run_command({"trace", "--scene", one.scene, "--size", "48x32", "--spp", "1", "-o", trace, "--force"});
    EXPECT_EQ(made.code, 0) << made.errors;
    std::vector<std::string> words = {"cache",          trace,      "--machine", "rtx4060-laptop",
                                      "--no-distances", "--export", exported,    "--force"};
    words.insert(words.end(), one.options.begin(), one.options.end());
    const Outcome sent = run_command(words);
    EXPECT_EQ(sent.code, 0) << sent.errors;
    truth = strip_labels(exported, stripped);
    const Outcome outcome = run_command(
        {"cache", stripped, "--machine", "rtx4060-laptop", "--no-distances", "--guess-labels", "--format", "json"});
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
    EXPECT_THAT(outcome.errors, HasSubstr("are guesses from their traffic"));
    return json::parse(outcome.output);
  }

  Scratch scratch_;
};

// The floors are what the rules reach here, a little rounded down, by kind and in all; the table goes to the test's
// output. The rules were written with these traces at hand: docs/memory-traces.md has others.
TEST_F(GuessLabels, AgreeWithTheTruthOfBuiltInScenes) {
  const std::vector<SetUpOfScene> cases = {
      {"one-weekend", {}},
      {"cornell", {"--load-bytes", "16"}},
      {"one-weekend", {"--stack-entries", "2"}},
      {"cornell", {"--stack-entries", "1", "--layout", "compressed-wide-8"}},
      {"statue", {"--warp-traversal", "if-if", "--layout", "binary"}},
      {"hall", {"--model", "ser"}},
      {"cornell", {"--model", "wavefront"}},
      // Its payload of two words looks like a stack, and misleads about the records.
      {"hall", {"--payload-bytes", "8"}}};
  std::map<std::string, std::uint64_t> right, all;
  for (const SetUpOfScene& one : cases) {
    SCOPED_TRACE(std::string(one.scene) + (one.options.empty() ? "" : " " + one.options[0]));
    std::vector<std::string> truth;
    const json result = guess(one, truth);
    ASSERT_EQ(result["label_guesses"].size(), truth.size());
    for (std::size_t i = 0; i < truth.size(); ++i) {
      const json& row = result["label_guesses"][i];
      EXPECT_EQ(row["allocation"], i);
      EXPECT_EQ(result["allocations"][i]["kind"], row["kind"]) << "the guess is used";
      EXPECT_GE(row["confidence"], 0.0);
      EXPECT_LE(row["confidence"], 1.0);
      EXPECT_FALSE(row["reason"].get<std::string>().empty());
      if (row["reason"] == "no accesses") {
        continue;
      }
      ++all[truth[i]];
      right[truth[i]] += row["kind"] == truth[i] ? 1U : 0U;
      if (row["kind"] != truth[i]) {
        std::printf("%s %s: %s of %s bytes guessed as %s: %s\n", one.scene,
                    one.options.empty() ? "" : one.options[0].c_str(), truth[i].c_str(), row["bytes"].dump().c_str(),
                    row["kind"].get<std::string>().c_str(), row["reason"].get<std::string>().c_str());
      }
    }
  }
  std::uint64_t right_sum = 0, sum = 0;
  for (const auto& [kind, count] : all) {
    std::printf("%-14s %llu of %llu\n", kind.c_str(), static_cast<unsigned long long>(right[kind]),
                static_cast<unsigned long long>(count));
    right_sum += right[kind];
    sum += count;
    const double floor = kind == "shader-record" || kind == "payload" ? 0.8 : 0.95;
    EXPECT_GE(static_cast<double>(right[kind]), floor * static_cast<double>(count)) << kind;
  }
  EXPECT_EQ(all.size(), 11U) << "every kind that a launch has";
  EXPECT_GE(100 * right_sum, 97 * sum) << right_sum << " of " << sum;
}

TEST_F(GuessLabels, KeepLabelsAndSayWhatTheyAre) {
  const std::string text = scratch_ / "t.txt";
  write_bytes(text,
              "rayreplay-memory-trace 1\nwarp-size 4\nsms 1\n"
              "allocation node 0x1000 4096 64 nodes\n"
              "allocation other 0x4000 4096 1 picture\n"
              "allocation other 0x8000 4096 8 unused\n"
              "0 0 load 64 0x1 0x1000\n0 0 store 16 0x3 0x4000 0x4010\n");
  const Outcome outcome =
      run_command({"cache", text, "--machine", "rtx4060-laptop", "--guess-labels", "--format", "json"});
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  const json result = json::parse(outcome.output);
  ASSERT_EQ(result["label_guesses"].size(), 2U);
  const std::string surfaces = read_bytes(std::string(RAYREPLAY_SOURCE_DIR) + "/docs/surfaces.md");
  expect_named(result["label_guesses"][0], surfaces);
  EXPECT_EQ(result["label_guesses"][0]["kind"], "frame-buffer");
  EXPECT_EQ(result["label_guesses"][0]["element_bytes"], 16);
  EXPECT_DOUBLE_EQ(result["label_guesses"][0]["confidence"], 0.5) << "few accesses";
  EXPECT_EQ(result["label_guesses"][1]["kind"], "other");
  EXPECT_EQ(result["label_guesses"][1]["element_bytes"], 8);
  EXPECT_EQ(result["label_guesses"][1]["reason"], "no accesses");
  EXPECT_EQ(result["allocations"][0]["kind"], "node");
  const Outcome table = run_command({"cache", text, "--machine", "rtx4060-laptop", "--guess-labels"});
  EXPECT_THAT(table.output, HasSubstr("GUESSED from the traffic for 2 of 3 allocations"));
  EXPECT_FALSE(json::parse(run_command({"cache", text, "--machine", "rtx4060-laptop", "--format", "json"}).output)
                   .contains("label_guesses"));
}

}  // namespace
}  // namespace rayreplay::test
