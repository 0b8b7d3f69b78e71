// A timeline for Perfetto (ui.perfetto.dev, trace_processor): processes with tracks of slices, and counters.
//
// Contract: packets are written in the order of calls, a buffer at a time; memory is that of the distinct names. The
// file has a temporary name until `commit`; without it no file is left. Times are nanoseconds. Slices of a track do not
// overlap: an end comes before the next begin. Each process is a packet sequence of its own, whose calls must be in
// order of time; processes may be written one after another (Perfetto sorts them). Names are interned per process. The
// same calls give the same bytes. Format: Perfetto's protos, TrackEvent (perfetto.dev, protos/perfetto/trace). Errors:
// Output with the system's reason.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace rayreplay::output {

class Timeline {
 public:
  /// A number and its name, shown with a slice.
  using Note = std::pair<const char*, std::uint64_t>;

  Timeline(const std::string& path, bool force);
  ~Timeline();
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  /// Starts a process; later calls belong to it until the next one.
  void begin_process(const std::string& name);
  /// Ids of tracks and counters, valid in all processes.
  [[nodiscard]] std::uint64_t add_track(const std::string& name);
  [[nodiscard]] std::uint64_t add_counter(const std::string& name);

  void begin_slice(std::uint64_t track, std::uint64_t nanoseconds, const std::string& name,
                   const std::vector<Note>& notes);
  void end_slice(std::uint64_t track, std::uint64_t nanoseconds);
  void count(std::uint64_t counter, std::uint64_t nanoseconds, std::int64_t value);

  void commit();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rayreplay::output
