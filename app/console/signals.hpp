// Signals: Ctrl-C leaves no half-written output behind.
//
// Contract: call `watch_signals` before any other thread starts. A thread of its own then handles SIGINT, SIGTERM and
// SIGHUP: it removes unfinished outputs and ends the process with 128 + the signal's number (130 for Ctrl-C). SIGPIPE
// and SIGXFSZ are ignored, so that writes fail with an error that is reported.
//
// `forward_signals_to` changes the handling. With a process id, signals are forwarded to it (except those that the
// terminal also sends to it). With kRequestStop they are recorded for `stop_requested`. With kRequestStopOnce the first
// is recorded, and a second one ends the process as above. 0 restores the default.
#pragma once

#include <sys/types.h>

namespace rayreplay::console {

inline constexpr pid_t kRequestStop = -1;
inline constexpr pid_t kRequestStopOnce = -2;

void watch_signals();
void forward_signals_to(pid_t process);
[[nodiscard]] bool stop_requested();
/// The signal that requested the stop; 0: none.
[[nodiscard]] int stop_signal();

}  // namespace rayreplay::console
