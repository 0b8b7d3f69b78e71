// Signals: Ctrl-C leaves no half-written output behind.
//
// Contract: `watch_signals` must be called before any other thread is started. From then on SIGINT, SIGTERM and SIGHUP
// are taken by a thread of their own, which removes the unfinished outputs and ends the process with 128 + the signal's
// number (130 for Ctrl-C). SIGPIPE and SIGXFSZ are ignored, so that writes fail with an error that is reported.
#pragma once

namespace rayreplay::console {

void watch_signals();

}  // namespace rayreplay::console
