// What a call complains of.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "base/error.hpp"

namespace rayreplay::test {

/// The whole error; without one the test fails.
Error error_of(const auto& work) {
  try {
    static_cast<void>(work());
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error";
  return {ErrorKind::Internal, {"no error", "", "", "", ""}};
}

/// The parts of the error that `work` throws, which must be of this kind; without an error the test fails.
ErrorInfo error_of(ErrorKind kind, const auto& work) {
  const Error error = error_of(work);
  EXPECT_EQ(error.kind(), kind) << error.what();
  return error.info();
}

/// The text of the error that `work` throws, which must be of this kind; without an error the test fails.
std::string message_of(ErrorKind kind, const auto& work) {
  const Error error = error_of(work);
  EXPECT_EQ(error.kind(), kind) << error.what();
  return error.what();
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
