// What a call throws, for tests of messages.
#pragma once

#include <optional>

#include "base/error.hpp"

namespace rayreplay::test {

template <class Call>
std::optional<Error> error_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

}  // namespace rayreplay::test
