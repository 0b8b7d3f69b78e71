// The command as a function: arguments to exit code. See docs/exit-codes.md.
#pragma once

namespace rayreplay::app {

/// Parses, acts, and turns every failure into one message on standard error and its exit code. Throws nothing.
int run(int argc, char** argv) noexcept;

}  // namespace rayreplay::app
