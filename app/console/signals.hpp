// Signals: Ctrl-C leaves no half-written output behind.
//
// Contract: `watch_signals` must be called before any other thread is started. From then on SIGINT, SIGTERM and SIGHUP
// are taken by a thread of their own, which removes the unfinished outputs and ends the process with 128 + the signal's
// number (130 for Ctrl-C). SIGPIPE and SIGXFSZ are ignored, so that writes fail with an error that is reported.
//
// `forward_signals_to` changes what they do: with a process's number they are passed on to it (but for those that the
// terminal sends to it anyway), with kRequestStop they are noted for `stop_requested`, with kRequestStopOnce the first
// is, and a second one ends the process as usual; with 0 it is as before.
#pragma once

#include <sys/types.h>

namespace rayreplay::console {

inline constexpr pid_t kRequestStop = -1;
inline constexpr pid_t kRequestStopOnce = -2;

void watch_signals();
void forward_signals_to(pid_t process);
[[nodiscard]] bool stop_requested();
/// The signal that asked for it; 0 where none did.
[[nodiscard]] int stop_signal();

}  // namespace rayreplay::console
