// Is the sign really another one at the values that a verdict names?
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/app/run_command.hpp"

namespace rayreplay::test {
namespace {

using nlohmann::json;

using Words = std::vector<std::string>;

class VerdictSearchTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    made_ = std::make_unique<Scratch>();
    for (const auto& [name, size] : {std::pair{"t.rrt", "64x36"}, std::pair{"small.rrt", "24x14"}}) {
      const Outcome outcome =
          run_command({"trace", "--scene", "cornell", "--size", size, "--spp", "1", "-o", *made_ / name});
      ASSERT_EQ(outcome.code, 0) << outcome.errors;
    }
  }
  static void TearDownTestSuite() {
    made_.reset();
  }

  static json answer_of(Words words) {
    words.insert(words.end(), {"--format", "json"});
    const Outcome outcome = run_command(words);
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
    return json::parse(outcome.output);
  }

  /// The options with which a new comparison has the values; a model's own go into its spec.
  static Words options_of(const json& values, std::string& model) {
    Words options;
    for (const auto& [label, value] : values.items()) {
      const std::string key = label.substr(0, label.find(' '));
      const std::string number = fmt::format("{}", value.get<double>());
      const std::string last = key.substr(key.find_last_of(".:") + 1);
      if (key.starts_with("shader_costs.")) {
        options.insert(options.end(), {"--shader-cost", fmt::format("{}={}", last, number)});
      } else if (key.starts_with("scheduler.model:")) {
        model += fmt::format("{}{}={}", model.find(':') == std::string::npos ? ":" : ",", last, number);
      } else {
        options.insert(options.end(), {"--set", fmt::format("{}={}", key, number)});
      }
    }
    return options;
  }

  /// Checks the rows whose sign several numbers change together; gives their number.
  static std::size_t check(const Words& question, const Words& models, const Words& quick) {
    Words words = question;
    std::string list = "plain";
    for (const std::string& model : models) {
      list += "," + model;
    }
    words.insert(words.end(), {"--models", list});
    const json rows = answer_of(words)["rows"];
    std::size_t checked = 0;
    for (std::size_t i = 0; i < models.size(); ++i) {
      const json& verdict = rows[i + 1]["verdict"];
      if (verdict["together"].is_null()) {
        continue;
      }
      ++checked;
      SCOPED_TRACE(models[i] + " " + verdict["together"].dump());
      EXPECT_EQ(verdict["answer"], "cannot-tell");
      const json& values = verdict["together"]["values"];
      EXPECT_TRUE(values.contains(verdict["hangs_on"].get<std::string>()));
      EXPECT_NE(verdict["together"]["speed_up"] > 1, rows[i + 1]["speed_up"] > 1);
      std::string model = models[i];
      Words again = question;
      const Words options = options_of(values, model);
      again.insert(again.end(), options.begin(), options.end());
      again.insert(again.end(), quick.begin(), quick.end());
      again.insert(again.end(), {"--models", "plain," + model});
      EXPECT_EQ(answer_of(again)["rows"][1]["speed_up"], verdict["together"]["speed_up"]);
    }
    return checked;
  }

  static inline std::unique_ptr<Scratch> made_;
};

TEST_F(VerdictSearchTest, NumbersThatChangeTheSignTogetherDo) {
  EXPECT_GE(check({"whatif", *made_ / "t.rrt", "--machine", "rtx4090"}, {"ser", "wavefront", "bindless-dispatch"},
                  {"--no-sensitivity"}),
            2U);
}

/// No corner of the ranges has the other sign here: it needs a search.
TEST_F(VerdictSearchTest, AlsoInMemoryTime) {
  EXPECT_EQ(
      check({"whatif", *made_ / "small.rrt", "--machine", "rtx4060-laptop", "--sms", "1", "--outputs", "cache,time"},
            {"ser:scope=sm"}, {"--no-break-even"}),
      1U);
}

}  // namespace
}  // namespace rayreplay::test
