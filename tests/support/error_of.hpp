// What a call complains of.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "base/error.hpp"

namespace rayreplay::test {

/// The parts of the error that `work` throws, which must be of this kind; without an error the test fails.
ErrorInfo error_of(ErrorKind kind, const auto& work) {
  try {
    static_cast<void>(work());
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.info();
  }
  ADD_FAILURE() << "no error";
  return {};
}

/// Kind and message of the error that `work` throws, to compare both at once; Internal and "no error" without one.
struct Said {
  ErrorKind kind = ErrorKind::Internal;
  std::string text = "no error";
};

Said said(const auto& work) {
  try {
    work();
  } catch (const Error& error) {
    return {error.kind(), error.what()};
  }
  return {};
}

}  // namespace rayreplay::test
