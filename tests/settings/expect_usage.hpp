// An error that must come, and what it must say.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace rayreplay::test {

/// Usage, and every piece stands in its text.
template <class Call>
void expect_usage(Call call, const std::vector<std::string>& pieces) {
  try {
    call();
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Usage) << error.what();
    for (const std::string& piece : pieces) {
      EXPECT_NE(std::string(error.what()).find(piece), std::string::npos) << error.what() << "\nlacks: " << piece;
    }
  }
}

}  // namespace rayreplay::test
