// Lines on the application's standard error.
//
// Contract: `remember` is called when the layer is loaded. A line is written only while descriptor 2 is the same file
// as then: an application that closed or replaced it gets nothing. Writing raises no signal in the application, even if
// the other end of a pipe is closed or a file is at its limit. Nothing throws or allocates.
#pragma once

#include <string_view>

namespace rayreplay::layer {

void remember_standard_error() noexcept;

void write_standard_error(std::string_view line) noexcept;

}  // namespace rayreplay::layer
