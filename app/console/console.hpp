// The command's two streams: data on standard output, everything for people on standard error.
//
// Contract: `print` writes all bytes or throws: BrokenPipe when the reader has gone (`rayreplay list | head -1`), Error
// of kind Output otherwise. `log` writes one line to standard error and never fails.
#pragma once

#include <stdexcept>
#include <string_view>

namespace rayreplay::console {

/// The reader of standard output has closed it. Not an error worth a message.
class BrokenPipe : public std::runtime_error {
 public:
  BrokenPipe() : std::runtime_error("broken pipe") {}
};

void print(std::string_view text);
void log(std::string_view line);

}  // namespace rayreplay::console
