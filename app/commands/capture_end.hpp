// Why a capture holds nothing: first the cause, then its consequence, then the remedy.
//
// Contract: the cause is the application's own end where it failed (a signal, an exit code, a process that ended
// without closing the capture), then the first missing step on the way to an event: a device under the layer,
// a device for ray tracing, one that can record, a launch, a launch that was asked for, events in it.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "app/console/child.hpp"
#include "base/error.hpp"
#include "capture/ingest/ingest.hpp"
#include "capture/spool/format.hpp"

namespace rayreplay::app {

/// Exit codes of `capture` alone (docs/exit-codes.md).
enum CaptureCode : int { kNoLayer = 10, kNoRayTracing = 11, kNothingTraced = 12, kApplicationFailed = 14 };

/// Facts about a run that left no events, for all its processes together.
struct CaptureFacts {
  std::string program;
  std::optional<console::ChildEnd> end;  ///< none: the application was not run by this command
  bool record = true;
  bool chosen = false;  ///< not all launches were asked for
  std::uint32_t spools = 0;
  bool all_closed = true;  ///< every process ended by itself: launches_seen counts all
  std::uint32_t devices = 0, recording_devices = 0;
  std::uint32_t launches_seen = 0, launches_captured = 0;
  std::size_t notes = 0;  ///< told already, before the message
  std::set<spool::Sight> seen;

  void add(const ingest::SpoolSummary& spool);
};

/// "the application was ended by signal 11 (Segmentation fault)", "the application ended with exit code 7".
[[nodiscard]] std::string end_text(const console::ChildEnd& end);

struct CaptureFailure {
  int code = kNothingTraced;
  ErrorInfo info;
};
[[nodiscard]] CaptureFailure why_nothing(const CaptureFacts& facts);

}  // namespace rayreplay::app
