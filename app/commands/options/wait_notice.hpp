// The message while a command waits for a named pipe.
#pragma once

#include <string>

#include "app/console/console.hpp"

namespace rayreplay::app {

/// For import::open_memory_trace.
inline void tell_wait(const std::string& name) {
  console::log("rayreplay: waiting for a writer of " + name + ": it is a pipe without data yet");
}

}  // namespace rayreplay::app
