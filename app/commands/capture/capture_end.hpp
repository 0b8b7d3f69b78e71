// The reason for an empty capture: cause, consequence, remedy.
//
// Contract: the cause is the application's own failure (a signal, an exit code, a process that ended without closing
// the capture), else the first missing step before an event: a device under the layer, a device for ray tracing, one
// that can record, a launch, a selected launch, events in it.
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
enum CaptureCode : int {
  kNoLayer = 10,
  kNoRayTracing = 11,
  kNothingTraced = 12,
  kPicturesDiffer = 13,
  kApplicationFailed = 14
};

/// Facts about a run without events, for all its processes together.
struct CaptureFacts {
  std::string program;
  std::optional<console::ChildEnd> end;  ///< none: this command did not run the application
  bool record = true;
  bool chosen = false;  ///< only some launches were selected
  std::uint32_t spools = 0;
  bool all_closed = true;  ///< every process closed the capture: launches_seen counts all
  std::uint32_t devices = 0, recording_devices = 0;
  std::uint32_t launches_seen = 0, launches_captured = 0;
  std::size_t notes = 0;  ///< already printed before the message
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
