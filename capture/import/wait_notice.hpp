// Opens memory traces, with a notice of waiting for a named pipe.
//
// Contract: as open_memory_trace and open_nvbit_trace without a notice, which wait silently for the writer of a named
// pipe. If such a pipe has no byte and no end within a second, `on_wait` is called once with its name.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "capture/import/memory_trace.hpp"
#include "capture/import/nvbit.hpp"

namespace rayreplay::import {

/// Gets the name of the pipe. May be empty.
using WaitNotice = std::function<void(const std::string& name)>;

[[nodiscard]] std::unique_ptr<MemoryTraceReader> open_memory_trace(const std::string& path, const WaitNotice& on_wait);
[[nodiscard]] std::unique_ptr<NvbitReader> open_nvbit_trace(const std::string& path, const TraceHeader& header,
                                                            const WaitNotice& on_wait);

}  // namespace rayreplay::import
