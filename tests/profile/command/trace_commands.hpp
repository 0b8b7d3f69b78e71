// A test of commands on traces that it makes: saved in a folder of its own, run as a user runs them.
#pragma once

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "capture/trace/writer.hpp"
#include "tests/app/run_command.hpp"

namespace rayreplay::test {

class TraceCommands : public testing::Test {
 protected:
  [[nodiscard]] std::string save(const std::string& name, const trace::Trace& trace) const {
    trace::write(trace, scratch_ / name, {.overwrite = true});
    return scratch_ / name;
  }
  static std::string printed(const std::vector<std::string>& words) {
    const Outcome outcome = run_command(words);
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
    return outcome.output;
  }
  static void refused(const std::vector<std::string>& words, int code, const std::string& text) {
    const Outcome outcome = run_command(words);
    EXPECT_EQ(outcome.code, code) << outcome.errors;
    EXPECT_THAT(outcome.errors, testing::HasSubstr(text));
    EXPECT_EQ(outcome.output, "");
  }

  Scratch scratch_;
};

}  // namespace rayreplay::test
