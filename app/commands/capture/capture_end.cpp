#include "app/commands/capture/capture_end.hpp"

#include <cstring>

#include <fmt/format.h>

#include "base/count_text.hpp"

namespace rayreplay::app {
namespace {

/// The first missing step. `what` is a complete message; `until` continues the message of an application's failure.
struct Stage {
  int code = kNothingTraced;
  std::string what, until, found, expected, fix;
};

constexpr const char* kQueries =
    "capture a program that traces with ray-tracing pipelines (vkCmdTraceRaysKHR); ray queries are not captured yet";

/// The remedy if the capture itself failed.
std::string look_at_notes(const CaptureFacts& facts) {
  return facts.notes == 0 ? "no note says why: please report it"
                          : "the notes above say what the capture could not do; if none explains it, please report it";
}

Stage no_spool(const CaptureFacts& facts) {
  return {
      kNoLayer,
      "nothing was recorded: the application made no Vulkan device under the capture layer",
      "before it made a Vulkan device under the capture layer",
      "no spool",
      "a spool of each process that makes a Vulkan device",
      facts.end && !facts.end->succeeded()
          ? ""
          : "check that the program uses Vulkan (not another API), runs in this process tree (no launcher service or "
            "container), and is not set-user-id; VK_LOADER_DEBUG=layer shows what the loader does"};
}

Stage no_device(const CaptureFacts& facts) {
  if (facts.seen.contains(spool::Sight::RayQueryDevice)) {
    return {kNoRayTracing,
            "the application uses ray queries alone, which are not captured yet",
            "; its device was made for ray queries alone, which are not captured yet",
            "a device with VK_KHR_ray_query and without VK_KHR_ray_tracing_pipeline",
            "",
            kQueries};
  }
  return {kNoRayTracing,
          "the application made no device for ray tracing",
          "before it made a device for ray tracing",
          facts.seen.contains(spool::Sight::DeviceWithoutRays) ? "a device without VK_KHR_ray_tracing_pipeline" : "",
          "",
          "check that it runs with ray tracing on this machine's driver: vulkaninfo lists VK_KHR_ray_tracing_pipeline"};
}

Stage stage_without_launch(const CaptureFacts& facts) {
  if (facts.seen.contains(spool::Sight::RayQueryShader)) {
    return {kNothingTraced,
            "the application launched no ray-tracing pipeline; its shaders use ray queries, which are not captured yet",
            "before it traced rays with a ray-tracing pipeline; its shaders also use ray queries, which are not "
            "captured yet",
            "shaders with ray queries, no launch of a ray-tracing pipeline",
            "",
            kQueries};
  }
  const bool queries = facts.seen.contains(spool::Sight::RayQueryDevice);
  return {kNothingTraced,
          "the application made a device for ray tracing but traced no rays",
          "before it traced rays",
          "no launch of a ray-tracing pipeline",
          "",
          std::string("check that it was told to render with ray tracing, and long enough") +
              (queries ? "; if it traces by ray queries (its device has VK_KHR_ray_query): those are not captured yet"
                       : "")};
}

Stage not_chosen(const CaptureFacts& facts) {
  const std::string launches = counted(facts.launches_seen, "launch", "launches");
  const bool missed = facts.seen.contains(spool::Sight::MissedLaunch);
  if (!facts.chosen || missed) {
    return {kNothingTraced,
            facts.chosen
                ? "the application traced rays that were asked for, but none of their launches could be captured"
                : "the application traced rays, but none of its launches could be captured",
            "before a launch could be captured",
            facts.all_closed ? launches : "",
            "",
            look_at_notes(facts)};
  }
  return {kNothingTraced,
          "the application traced no rays that were asked for",
          "before it traced rays that were asked for",
          facts.all_closed ? launches + ", none of them asked for" : "",
          "launches within --frames, --launch and --trigger-file",
          "ask for other frames or launches; both count from 0"};
}

Stage no_events(const CaptureFacts& facts) {
  return {kNothingTraced,
          "the launches that were captured hold no events",
          "before a launch held events",
          counted(facts.launches_captured, "captured launch", "captured launches") + " without events",
          "",
          std::string("check --window and --every, and that the launches have threads") +
              (facts.notes == 0 ? "" : "; the notes above name shaders that were left alone")};
}

Stage stage_of(const CaptureFacts& facts) {
  if (facts.spools == 0) {
    return no_spool(facts);
  }
  if (facts.devices == 0) {
    return no_device(facts);
  }
  if (facts.record && facts.recording_devices == 0) {
    return {kNoRayTracing,       "the application's device cannot record", "; its device cannot record", "", "",
            look_at_notes(facts)};
  }
  if (facts.launches_captured != 0) {
    return no_events(facts);
  }
  if (facts.launches_seen == 0 && (facts.all_closed || !facts.chosen)) {
    return stage_without_launch(facts);
  }
  return not_chosen(facts);
}

}  // namespace

void CaptureFacts::add(const ingest::SpoolSummary& spool) {
  ++spools;
  all_closed = all_closed && spool.ended;
  devices += spool.devices;
  recording_devices += spool.recording_devices;
  launches_seen += spool.launches_seen;
  launches_captured += spool.launches_captured;
  chosen = chosen || spool.launches_chosen;
  notes += spool.notes.size();
  seen.insert(spool.seen.begin(), spool.seen.end());
}

std::string end_text(const console::ChildEnd& end) {
  return end.signal != 0 ? fmt::format("the application was ended by signal {} ({})", end.signal, strsignal(end.signal))
                         : fmt::format("the application ended with exit code {}", end.code);
}

CaptureFailure why_nothing(const CaptureFacts& facts) {
  Stage stage = stage_of(facts);
  const bool failed = facts.end && !facts.end->succeeded();
  const bool cut = !facts.all_closed;  // a process was killed, even if its parent succeeded
  if (!failed && !cut) {
    return {stage.code, {stage.what, facts.program, stage.found, stage.expected, stage.fix}};
  }
  const std::string cause = failed ? end_text(*facts.end)
                                   : "a process of the application ended without closing the capture (crash, kill, or "
                                     "exit at once)";
  const std::string link = stage.until.starts_with(";") ? "" : " ";
  const std::string alone =
      "run the application without the capture: if it ends that way there too, its own messages say why; if it does "
      "not, "
      "please report it";
  return {stage.code,
          {cause + link + stage.until, facts.program, stage.found, failed ? "" : stage.expected,
           stage.fix.empty() ? alone : alone + ". Otherwise: " + stage.fix}};
}

}  // namespace rayreplay::app
