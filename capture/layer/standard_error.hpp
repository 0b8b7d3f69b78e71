// Lines on the application's standard error.
//
// Contract: `remember` is called when the layer is loaded. A line is written only if descriptor 2 is then and still the
// same file: an application that closed it, or has a file of its own there, gets nothing. Writing raises no signal in
// it, even if the other end of a pipe is closed or a file is at its limit. Nothing throws or allocates.
#pragma once

#include <string_view>

namespace rayreplay::layer {

void remember_standard_error() noexcept;

void write_standard_error(std::string_view line) noexcept;

}  // namespace rayreplay::layer
