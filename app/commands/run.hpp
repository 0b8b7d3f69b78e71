// The command as a function: arguments to exit code. See docs/exit-codes.md.
#pragma once

namespace rayreplay::app {

/// Parses, runs the action, and converts every failure to one message on standard error and its exit code. Does not
/// throw.
int run(int argc, char** argv) noexcept;

}  // namespace rayreplay::app
