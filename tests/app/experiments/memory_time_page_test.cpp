// docs/memory-time.md: are its examples and its table what today's command prints?
#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/app/run_command.hpp"

namespace rayreplay::test {
namespace {

using nlohmann::json;

class MemoryTimePage : public testing::Test {
 protected:
  static constexpr const char* kGap = "…";

  [[nodiscard]] static std::string source(const std::string& path) {
    return std::string(RAYREPLAY_SOURCE_DIR) + "/" + path;
  }

  [[nodiscard]] static std::string page() {
    return read_bytes(source("docs/memory-time.md"));
  }

  [[nodiscard]] static std::string between(const std::string& text, const std::string& begin, const std::string& end) {
    const std::size_t first = text.find(begin);
    if (first == std::string::npos) {
      ADD_FAILURE() << "the page lacks " << begin;
      return "";
    }
    const std::size_t start = first + begin.size();
    return text.substr(start, text.find(end, start) - start);
  }

  [[nodiscard]] static std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
      lines.push_back(line);
    }
    return lines;
  }

  /// "$ rayreplay cache t.rrt --sms 2": the words after the program. Traces of the source tree are found there, files
  /// made by the example in the scratch folder.
  [[nodiscard]] std::vector<std::string> words_of(const std::string& line) const {
    std::vector<std::string> words;
    std::istringstream stream(line.substr(std::string("$ rayreplay ").size()));
    for (std::string word; stream >> word;) {
      words.push_back(word.starts_with("tests/data/") ? source(word) : word.ends_with(".rrt") ? scratch_ / word : word);
    }
    return words;
  }

  /// The line stands in the text at or after `at`, with anything in place of each gap; `at` moves behind it.
  static void expect_printed(const std::string& text, const std::string& line, std::size_t& at) {
    std::size_t from = 0;
    while (from <= line.size()) {
      const std::size_t gap = std::min(line.find(kGap, from), line.size());
      const std::string piece = line.substr(from, gap - from);
      const std::size_t found = text.find(piece, at);
      ASSERT_NE(found, std::string::npos) << "the page has: " << line << "\nwhich is not, or not there, in:\n" << text;
      at = found + piece.size();
      from = gap + std::string(kGap).size();
    }
  }

 private:
  Scratch scratch_;
};

TEST_F(MemoryTimePage, TheAnswerIsWhatTheCommandPrints) {
  const std::vector<std::string> lines =
      lines_of(between(between(page(), "\n## The answer\n", "\n## "), "```\n", "```"));
  ASSERT_GE(lines.size(), 4U);
  const Outcome outcome = run_command(words_of(lines.front()));
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  std::size_t at = 0;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    expect_printed(outcome.output, lines[i], at);
  }
}

/// All but the verdict, whose hundred memory times take longer than the rest of these tests.
TEST_F(MemoryTimePage, TheWhatIfIsWhatTheCommandPrints) {
  const std::vector<std::string> lines = lines_of(between(page(), "```\n$ rayreplay trace", "```"));
  ASSERT_GE(lines.size(), 10U);
  ASSERT_EQ(run_command(words_of("$ rayreplay trace" + lines.front())).code, 0);
  std::vector<std::string> words = words_of(lines[1]);
  words.emplace_back("--no-break-even");
  const Outcome outcome = run_command(words);
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  std::size_t at = 0, compared = 0;
  for (std::size_t i = 2; i < lines.size(); ++i) {
    if (!lines[i].starts_with("answer")) {
      expect_printed(outcome.output, lines[i], at);
      ++compared;
    }
  }
  EXPECT_GE(compared, 12U);
}

/// The rows of the captured launches; the others take a minute.
TEST_F(MemoryTimePage, TheTableOfBothModelsIsWhatTheCommandPrints) {
  const std::string text = page();
  for (const std::string launch : {"bunny", "teapot-alpha"}) {
    for (const auto& [cost, shown] : {std::pair{"250", "250"}, {"2500", "2,500"}}) {
      const Outcome outcome =
          run_command({"whatif", source("tests/data/h200/" + launch + ".rrt"), "--models",
                       "plain,ser,ser:scope=sm,wavefront,bindless-dispatch", "--outputs", "model,time",
                       "--no-break-even", "--machine", "rtx4060-laptop", "--shader-cost",
                       std::string("closest-hit=") + cost, "--sms", "4", "--format", "json"});
      ASSERT_EQ(outcome.code, 0) << outcome.errors;
      std::string row = fmt::format("\n| {} (captured) | {} |", launch, shown);
      const json answer = json::parse(outcome.output);
      ASSERT_EQ(answer["rows"].size(), 5U);
      for (const json& variant : answer["rows"]) {
        const double fluid = variant["model_milliseconds"], memory = variant["milliseconds"];
        row += fmt::format(" {:.3f} → {:.3f} ({:.2f}) |", fluid, memory, memory / fluid);
      }
      EXPECT_NE(text.find(row + "\n"), std::string::npos) << "docs/memory-time.md needs the row" << row;
    }
  }
}

}  // namespace
}  // namespace rayreplay::test
