// What the tests of sweeps share.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "sim/sweep/definition/definition.hpp"
#include "sim/sweep/plan/plan.hpp"

namespace rayreplay::sweep::testing {

inline Definition parsed(const std::string& text) {
  return parse_sweep(text, "s.toml", "");
}

/// A sweep of an experiment with a trace.
inline Definition of(const std::string& text) {
  Definition definition = parsed(text);
  definition.base.set("trace", std::string("t.rrt"), "");
  return definition;
}

/// The message of the Usage error that `act` must throw.
inline std::string message_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Usage) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

inline std::vector<std::string> texts(const std::vector<ParameterValue>& values) {
  std::vector<std::string> result;
  result.reserve(values.size());
  for (const ParameterValue& value : values) {
    result.push_back(to_text(value));
  }
  return result;
}

/// Every run's values, as text.
inline std::vector<std::vector<std::string>> rows(const Plan& plan) {
  std::vector<std::vector<std::string>> result;
  for (std::uint64_t run = 0; run < plan.runs(); ++run) {
    result.push_back(texts(plan.values(run)));
  }
  return result;
}

}  // namespace rayreplay::sweep::testing
