#include "sim/launch/schedule_file.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <hdf5.h>

#include "base/count_text.hpp"
#include "base/error.hpp"
#include "capture/trace/file/file_descriptor.hpp"
#include "capture/trace/file/hdf5_handle.hpp"
#include "capture/trace/file/hdf5_read.hpp"
#include "capture/trace/file/hdf5_type.hpp"
#include "capture/trace/file/storage.hpp"
#include "capture/trace/reading/column_loader.hpp"

namespace rayreplay::experiment {
namespace {

using scheduler::kAnySm;
using scheduler::kNoSegment;
using scheduler::kNoThread;
using scheduler::Segments;
using scheduler::SegmentSchedule;
using trace::Column;
using trace::hdf5::Handle;

constexpr const char* kAdvice = "write it again: docs/schedule-files.md has the format";
constexpr const char* kRoot = "/";
constexpr std::uint32_t kStateWord = 4;
constexpr std::uint32_t kMaxQueueBytes = 64;
constexpr std::uint32_t kMaxQueuePlaces = 1U << 24U;
constexpr std::uint32_t kNone = 0xFFFF'FFFFU;

hid_t type_of(std::uint8_t /*value*/) {
  return H5T_STD_U8LE;
}
hid_t type_of(std::uint32_t /*value*/) {
  return H5T_STD_U32LE;
}
hid_t type_of(std::uint64_t /*value*/) {
  return H5T_STD_U64LE;
}

/// The columns of the file, as they stand there.
struct Columns {
  Column<std::uint32_t> sm, unit, round;  ///< by warp
  Column<std::uint32_t> delay;            ///< by warp; empty: none
  Column<std::uint32_t> unit_sm;          ///< by unit
  Column<std::uint32_t> segment, thread, events;
  Column<std::uint64_t> first_event;
  Column<std::uint8_t> state;
  Column<std::uint64_t> queue;
};

/// The number of rows that a column must have, and why.
struct Rows {
  std::uint64_t number = 0;
  bool exactly = true;  ///< else at most
  std::string reason;
};

class Reader {
 public:
  Reader(const trace::SourceFile& source, const trace::Trace& trace, const ScheduleTarget& target)
      : source_(source), trace_(trace), data_(trace.launches[target.launch].data), target_(target) {}

  RegroupedLaunch read() {
    read_attributes();
    read_columns();
    cut();
    place();
    check_states();
    place_in_queues();
    return std::move(result_);
  }

 private:
  [[noreturn]] void fail(const std::string& where, const std::string& what, const std::string& found,
                         const std::string& expected) const {
    source_.fail(where, what, found, expected);
  }

  [[nodiscard]] static std::string at(const char* dataset, std::uint64_t row) {
    return fmt::format("{}[{}]", dataset, row);
  }

  void require_number(const char* name, std::uint32_t expected, const char* what, const char* fix) const {
    const std::uint32_t found = source_.number_attribute(source_.root(), name, kRoot);
    if (found != expected) {
      throw Error(ErrorKind::Input, {what, source_.name() + ":" + kRoot + ", attribute '" + name + "'",
                                     fmt::format("{}", found), fmt::format("{}", expected), fix});
    }
  }

  void read_attributes() {
    const hid_t root = source_.root();
    if (const std::string schema = source_.text_attribute(root, "schema", kRoot); schema != kScheduleSchema) {
      fail(kRoot, "this is no schedule, or one of another version", "'" + schema + "'", std::string(kScheduleSchema));
    }
    if (const std::string hash = source_.text_attribute(root, "trace_hash", kRoot); hash != trace_.hash) {
      throw Error(ErrorKind::Input,
                  {"the schedule was made for another trace", source_.name() + ":" + kRoot + ", attribute 'trace_hash'",
                   hash, trace_.hash, "give the trace from which the schedule was made, or make it from this one"});
    }
    require_number("launch", target_.launch, "the schedule was made for another launch of the trace",
                   "choose the schedule's launch with --launch, or make the schedule for this one");
    require_number("warp_size", target_.warp_size, "the schedule's warps have another size",
                   "choose the schedule's warp size with --warp-size");
    require_number("sms", target_.sms, "the schedule was made for a machine with another number of SMs",
                   "choose the schedule's machine with --machine, or its SMs with --sms");
    const auto optional = [&](const char* name, std::uint32_t most) {
      const std::uint64_t value = source_.number_attribute_or(root, name, kRoot, 0);
      if (value > most) {
        fail(kRoot, fmt::format("the attribute '{}' is out of range", name), fmt::format("{}", value),
             fmt::format("at most {}", most));
      }
      return static_cast<std::uint32_t>(value);
    };
    result_.charges.withheld_sms = optional("withheld_sms", target_.sms - 1);
    result_.schedule.spread = optional("spread", 1) == 1;
    result_.state_bytes = optional("state_bytes", scheduler::kMaxStateBytes);
    if (result_.state_bytes % kStateWord != 0) {
      fail(kRoot, "the attribute 'state_bytes' is not a number of words", fmt::format("{}", result_.state_bytes),
           "a multiple of 4");
    }
    result_.payload_bytes = optional("payload_bytes", result_.state_bytes);
    if (result_.payload_bytes % kStateWord != 0) {
      fail(kRoot, "the attribute 'payload_bytes' is not a number of words", fmt::format("{}", result_.payload_bytes),
           "a multiple of 4");
    }
    queue_bytes_ = optional("queue_bytes", kMaxQueueBytes);
    queue_places_ = optional("queue_places", kMaxQueuePlaces);
    const std::string placement = source_.text_attribute(root, "placement", kRoot);
    if (placement != kPlacedByUnits && placement != kPlacedByWarps) {
      fail(kRoot, "the attribute 'placement' is not understood", "'" + placement + "'",
           fmt::format("{} or {}", kPlacedByUnits, kPlacedByWarps));
    }
    by_warps_ = placement == kPlacedByWarps;
    if (by_warps_ && result_.schedule.spread) {
      fail(kRoot, "the attribute 'spread' is of units, and warps have their SMs", "spread 1 with placement 'warps'",
           "spread 0 or none, or placement 'units'");
    }
    result_.model = fmt::format("file:path={}", source_.name());
  }

  /// Rows of a dataset that can be read; the type must be right.
  template <class T>
  [[nodiscard]] std::uint64_t rows_of(const Handle& dataset, const std::string& where) const {
    const Handle type(H5Dget_type(dataset.get()));
    if (H5Tequal(type.get(), type_of(T{})) <= 0) {
      fail(where, "the dataset has another type", trace::hdf5::type_text(type.get()),
           trace::hdf5::type_text(type_of(T{})));
    }
    const Handle space(H5Dget_space(dataset.get()));
    hsize_t rows = 0;
    if (H5Sget_simple_extent_type(space.get()) != H5S_SIMPLE || H5Sget_simple_extent_ndims(space.get()) != 1 ||
        H5Sget_simple_extent_dims(space.get(), &rows, nullptr) != 1) {
      fail(where, "the dataset has another shape", trace::hdf5::shape_text(space.get()), "one dimension");
    }
    return rows;
  }

  /// A column of `rows.number` rows or, unless `rows.exactly`, of at most that many.
  template <class T>
  void read_column(const Handle& group, const char* path, const char* name, Column<T>& column, const Rows& rows) const {
    const std::string where = fmt::format("{}/{}", path, name);
    const Handle dataset = source_.dataset(group.get(), name, where);
    const std::uint64_t found = rows_of<T>(dataset, where);
    if (rows.exactly ? found != rows.number : found > rows.number) {
      fail(where, found > rows.number ? "the dataset has too many rows" : "the dataset has too few rows",
           fmt::format("{}", found), fmt::format("{}{}, {}", rows.exactly ? "" : "at most ", rows.number, rows.reason));
    }
    const Handle properties(H5Dget_create_plist(dataset.get()));
    switch (H5Pget_layout(properties.get())) {
      case H5D_CONTIGUOUS:
        read_contiguous(dataset.get(), where, found, column);
        break;
      case H5D_CHUNKED: {
        trace::ColumnLoader loader(source_);
        loader.column(group.get(), path, trace::column_spec<T>(name, trace::Elision::Forbidden), column, found);
        loader.run(0, 0, nullptr);
        break;
      }
      default:
        fail(where, "the dataset has another layout", "", "contiguous, or in chunks");
    }
  }

  template <class T>
  void read_contiguous(hid_t dataset, const std::string& where, std::uint64_t rows, Column<T>& column) const {
    if (rows > source_.bytes().size() / sizeof(T) || H5Dget_storage_size(dataset) != rows * sizeof(T)) {
      fail(where, "the dataset claims more than the file holds", fmt::format("{} rows", rows),
           fmt::format("rows of {} bytes in a file of {}", sizeof(T), source_.bytes().size()));
    }
    column.resize(rows);
    if (rows > 0 && H5Dread(dataset, type_of(T{}), H5S_ALL, H5S_ALL, H5P_DEFAULT, column.data()) < 0) {
      fail(where, "the dataset cannot be read", trace::hdf5::last_message(), "");
    }
  }

  void read_columns() {
    const Handle warps = source_.group(source_.root(), "warps", "/warps");
    // No warp is empty, and no segment is.
    const std::uint64_t events = std::min<std::uint64_t>(data_.events.size(), kNone - 1);
    const Rows of_warps{events, false, "the events of the launch: each warp runs at least one"};
    if (by_warps_) {
      read_column(warps, "/warps", "sm", columns_.sm, of_warps);
      warps_ = columns_.sm.size();
    } else {
      read_column(warps, "/warps", "unit", columns_.unit, of_warps);
      warps_ = columns_.unit.size();
      read_column(warps, "/warps", "round", columns_.round, {warps_, true, "the rows of /warps/unit"});
      const Handle units = source_.group(source_.root(), "units", "/units");
      // Units without warps are possible.
      read_column(units, "/units", "sm", columns_.unit_sm,
                  {std::max<std::uint64_t>({data_.event_offset.size(), warps_, target_.sms}), false,
                   "a unit for each thread, warp or SM, whatever is most"});
    }
    if (source_.has(warps.get(), "delay", "/warps/delay")) {
      read_column(warps, "/warps", "delay", columns_.delay, {warps_, true, "the number of warps"});
    }
    const Handle group = source_.group(source_.root(), "places", "/places");
    const auto read_places = [&](const char* name, auto& column) {
      read_column(group, "/places", name, column,
                  {warps_ * target_.warp_size, true,
                   fmt::format("{} of {}", counted(warps_, "warp"), counted(target_.warp_size, "lane"))});
    };
    read_places("segment", columns_.segment);
    read_places("thread", columns_.thread);
    read_places("first_event", columns_.first_event);
    read_places("events", columns_.events);
    if (result_.state_bytes > 0) {
      read_places("state", columns_.state);
    }
    if (queue_bytes_ > 0) {
      read_places("queue", columns_.queue);
    }
  }

  /// The place of each segment; each has one.
  void find_places(std::uint64_t segments) {
    place_of_.assign(segments, ~std::uint64_t{0});
    for (std::uint64_t place = 0; place < columns_.segment.size(); ++place) {
      const std::uint32_t segment = columns_.segment[place];
      if (segment == kNoSegment) {
        continue;
      }
      if (segment >= segments) {
        fail(at("/places/segment", place), "there is no such segment", fmt::format("{}", segment),
             fmt::format("less than {}, the number of places that hold one", segments));
      }
      if (place_of_[segment] != ~std::uint64_t{0}) {
        fail(at("/places/segment", place), "a segment is at two places",
             fmt::format("segment {}, also in row {}", segment, place_of_[segment]), "each segment once");
      }
      place_of_[segment] = place;
    }
  }

  /// Segments in the order of their events cover the launch: all threads, each event once.
  void cut() {
    std::uint64_t filled = 0;
    for (std::uint64_t place = 0; place < columns_.segment.size(); ++place) {
      const bool runs = columns_.segment[place] != kNoSegment;
      filled += runs ? 1 : 0;
      if (!runs && (columns_.thread[place] != kNoThread || columns_.events[place] != 0)) {
        fail(at("/places/thread", place), "an empty place has a thread or events",
             fmt::format("thread {}, {} events", columns_.thread[place], columns_.events[place]),
             fmt::format("thread {}, 0 events", kNoThread));
      }
    }
    find_places(filled);
    Segments& segments = result_.segments;
    const std::uint64_t threads = data_.event_offset.empty() ? 0 : data_.event_offset.size() - 1;
    segments.event_offset.resize(filled + 1);
    segments.bounce.resize(filled);
    std::fill(segments.bounce.begin(), segments.bounce.end(), std::uint16_t{0});  // streams do not use it
    segments.first.resize(threads + 1);
    std::uint64_t thread = 0;  ///< of the next segment
    std::uint64_t next = 0;    ///< event
    std::uint32_t of_thread = 0;
    if (threads > 0) {
      segments.first[0] = 0;
    }
    const auto close_threads = [&](std::uint32_t segment) {
      while (thread < threads && next == data_.event_offset[thread + 1]) {
        segments.first[++thread] = segment;
        of_thread = 0;
      }
    };
    for (std::uint32_t segment = 0; segment < filled; ++segment) {
      close_threads(segment);
      check_segment(segment, thread, threads, next);
      segments.event_offset[segment] = next;
      next += columns_.events[place_of_[segment]];
      segments.most_of_a_thread = std::max(segments.most_of_a_thread, ++of_thread);
    }
    close_threads(static_cast<std::uint32_t>(filled));
    if (thread < threads) {
      fail("/places/segment", "a thread is missing", fmt::format("no segment with event {} of thread {}", next, thread),
           fmt::format("segments for all {} events of the launch", data_.events.size()));
    }
    segments.event_offset[filled] = next;
  }

  void check_segment(std::uint32_t segment, std::uint64_t thread, std::uint64_t threads, std::uint64_t next) const {
    const std::uint64_t place = place_of_[segment];
    const std::uint64_t first = columns_.first_event[place];
    const std::uint32_t events = columns_.events[place];
    if (thread == threads) {
      fail(at("/places/segment", place), "a segment has events that others have",
           fmt::format("segment {} from event {}", segment, first), "each event of the launch once");
    }
    const std::uint64_t end = data_.event_offset[thread + 1];
    if (first != next) {
      fail(at("/places/first_event", place),
           first > next ? "events are in no segment, or segments are not numbered by thread and event"
                        : "events are in two segments, or segments are not numbered by thread and event",
           fmt::format("segment {} from event {}", segment, first),
           fmt::format("from event {} of thread {}", next, thread));
    }
    if (columns_.thread[place] != thread) {
      fail(at("/places/thread", place), "a segment is not of this thread", fmt::format("{}", columns_.thread[place]),
           fmt::format("{}, the thread of event {}", thread, next));
    }
    if (events == 0 || events > end - next) {
      fail(at("/places/events", place), "a segment has no events, or more than its thread", fmt::format("{}", events),
           fmt::format("1 to {}", end - next));
    }
    if (next != data_.event_offset[thread] && !trace::is_warp_event(data_.events.kind[next])) {
      fail(at("/places/first_event", place), "a segment begins inside of a call", fmt::format("event {}", next),
           "the first event of a thread, or one at which a shader starts or resumes");
    }
  }

  void place() {
    SegmentSchedule& schedule = result_.schedule;
    schedule.warp_size = target_.warp_size;
    schedule.moved.resize(warps_);
    std::fill(schedule.moved.begin(), schedule.moved.end(), 0U);  // streams use `state`
    for (std::uint64_t warp = 0; warp < warps_; ++warp) {
      const auto begin = columns_.segment.begin() + static_cast<std::ptrdiff_t>(warp * target_.warp_size);
      if (std::all_of(begin, begin + target_.warp_size, [](std::uint32_t one) { return one == kNoSegment; })) {
        fail(at("/places/segment", warp * target_.warp_size), "a warp is empty", fmt::format("warp {}", warp),
             "at least one segment");
      }
    }
    schedule.segment_at = std::move(columns_.segment);
    result_.start_delay.assign(columns_.delay.begin(), columns_.delay.end());
    if (by_warps_) {
      place_warps();
    } else {
      place_units();
    }
  }

  [[nodiscard]] std::uint32_t warp_of(std::uint32_t segment) const {
    return static_cast<std::uint32_t>(place_of_[segment] / target_.warp_size);
  }

  /// Calls `check(segment, thread)` for all segments but the first of each thread.
  template <class Check>
  void for_later_segments(const Check& check) const {
    const Segments& segments = result_.segments;
    for (std::size_t thread = 0; thread + 1 < segments.first.size(); ++thread) {
      for (std::uint32_t segment = segments.first[thread] + 1; segment < segments.first[thread + 1]; ++segment) {
        check(segment, thread);
      }
    }
  }

  void place_warps() {
    for (std::uint64_t warp = 0; warp < warps_; ++warp) {
      if (columns_.sm[warp] < result_.charges.withheld_sms || columns_.sm[warp] >= target_.sms) {
        fail(at("/warps/sm", warp),
             columns_.sm[warp] < target_.sms ? "the SM is withheld: it runs no warps" : "there is no such SM",
             fmt::format("{}", columns_.sm[warp]),
             fmt::format("{} to {} ({}, the lowest {} withheld)", result_.charges.withheld_sms, target_.sms - 1,
                         counted(target_.sms, "SM"), result_.charges.withheld_sms));
      }
    }
    for_later_segments([this](std::uint32_t segment, std::size_t thread) {
      if (warp_of(segment) <= warp_of(segment - 1)) {
        fail(at("/places/segment", place_of_[segment]), "a warp comes before one that it waits for",
             fmt::format("segment {} of thread {} in warp {}, its previous one in warp {}", segment, thread,
                         warp_of(segment), warp_of(segment - 1)),
             "warps in an order in which they can start");
      }
    });
    SegmentSchedule& schedule = result_.schedule;
    schedule.round_begin = {0, warps_};
    schedule.unit_begin = {0, 1};
    schedule.unit_sm = {kAnySm};
    result_.sm.assign(columns_.sm.begin(), columns_.sm.end());
  }

  void place_units() {
    SegmentSchedule& schedule = result_.schedule;
    const std::uint64_t units = columns_.unit_sm.size();
    const std::uint32_t shading = target_.sms - result_.charges.withheld_sms;
    for (std::uint64_t unit = 0; unit < units; ++unit) {
      if (columns_.unit_sm[unit] != kAnySm && columns_.unit_sm[unit] >= shading) {
        fail(at("/units/sm", unit), "there is no such SM among those that run warps",
             fmt::format("{}", columns_.unit_sm[unit]),
             fmt::format("0 to {} ({} less {} withheld), or {} for any", shading - 1, counted(target_.sms, "SM"),
                         result_.charges.withheld_sms, kAnySm));
      }
    }
    std::vector<std::uint32_t> round_of(warps_);  ///< among all rounds
    std::uint64_t unit = 0;
    for (std::uint64_t warp = 0; warp < warps_; ++warp) {
      const std::uint32_t its = columns_.unit[warp];
      if (its >= units) {
        fail(at("/warps/unit", warp), "there is no such unit", fmt::format("{}", its),
             fmt::format("less than {}, the number of rows of /units/sm", units));
      }
      if (its < unit) {
        fail(at("/warps/unit", warp), "the units of the warps do not ascend", fmt::format("{}", its),
             fmt::format("at least {}, the unit of the warp before", unit));
      }
      const bool is_same = warp > 0 && columns_.unit[warp - 1] == its;
      if (is_same && columns_.round[warp] < columns_.round[warp - 1]) {
        fail(at("/warps/round", warp), "the rounds of a unit do not ascend", fmt::format("{}", columns_.round[warp]),
             fmt::format("at least {}, the round of the warp before", columns_.round[warp - 1]));
      }
      if (!is_same || columns_.round[warp] != columns_.round[warp - 1]) {
        while (!is_same && schedule.unit_begin.size() <= its) {
          schedule.unit_begin.push_back(schedule.round_begin.size());
        }
        schedule.round_begin.push_back(warp);
      }
      unit = its;
      round_of[warp] = static_cast<std::uint32_t>(schedule.round_begin.size() - 1);
    }
    while (schedule.unit_begin.size() <= units) {
      schedule.unit_begin.push_back(schedule.round_begin.size());
    }
    schedule.round_begin.push_back(warps_);
    for_later_segments([&](std::uint32_t segment, std::size_t thread) {
      const std::uint32_t warp = warp_of(segment), before = warp_of(segment - 1);
      if (columns_.unit[warp] != columns_.unit[before] || round_of[warp] <= round_of[before]) {
        fail(at("/places/segment", place_of_[segment]), "a segment does not come after the previous one of its thread",
             fmt::format("segment {} of thread {} in unit {}, round {}", segment, thread, columns_.unit[warp],
                         columns_.round[warp]),
             fmt::format("in unit {} after round {}", columns_.unit[before], columns_.round[before]));
      }
    });
    schedule.unit_sm = std::move(columns_.unit_sm);
  }

  void check_states() {
    if (result_.state_bytes == 0) {
      return;
    }
    const Segments& segments = result_.segments;
    result_.state_moves.resize(segments.size());
    for (std::uint32_t segment = 0; segment < segments.size(); ++segment) {
      const std::uint8_t moves = columns_.state[place_of_[segment]];
      if (moves > 1) {
        fail(at("/places/state", place_of_[segment]), "the value is neither 0 nor 1", fmt::format("{}", moves),
             "0 or 1");
      }
      result_.state_moves[segment] = moves;
    }
    for (std::size_t thread = 0; thread + 1 < segments.first.size(); ++thread) {
      const std::uint32_t first = segments.first[thread];
      if (first < segments.first[thread + 1] && result_.state_moves[first] != 0) {
        fail(at("/places/state", place_of_[first]), "the state of a thread moves before its first segment", "1", "0");
      }
    }
  }

  void place_in_queues() {
    if (queue_bytes_ == 0) {
      return;
    }
    const Segments& segments = result_.segments;
    Column<std::uint64_t> keys(segments.size());
    for (std::size_t segment = 0; segment < segments.size(); ++segment) {
      keys[segment] = columns_.queue[place_of_[segment]];
    }
    const scheduler::ModelQueues queues{queue_bytes_, std::make_shared<const Column<std::uint64_t>>(std::move(keys))};
    const SegmentSchedule& schedule = result_.schedule;
    if (by_warps_ && queue_places_ == 0) {
      fail(kRoot, "the SMs' queues in memory have no places", "'queue_places' 0",
           fmt::format("1 to {}, as 'queue_bytes' is not 0", kMaxQueuePlaces));
    }
    if (!by_warps_ && schedule.units() > 1) {
      fail(kRoot, "queues in memory are those of one unit", fmt::format("{} units", schedule.units()),
           "one unit, or 'queue_bytes' 0");
    }
    const std::uint32_t withheld = result_.charges.withheld_sms;
    result_.queues = std::make_shared<const scheduler::QueuePlaces>(
        by_warps_ ? scheduler::played_places(segments, queues, schedule, result_.sm, withheld, target_.sms - withheld,
                                             queue_places_)
                  : scheduler::static_places(segments, queues, schedule));
    if (by_warps_) {
      check_room(*result_.queues);
    }
  }

  /// Each ring has room for the threads that wait in it, in the order of the warps: a warp leaves its queues before its
  /// threads are appended again.
  void check_room(const scheduler::QueuePlaces& queues) const {
    const SegmentSchedule& schedule = result_.schedule;
    std::vector<std::uint64_t> waiting(queues.queues());
    for (std::uint64_t warp = 0; warp < schedule.warps(); ++warp) {
      const auto lanes = std::span(schedule.segment_at).subspan(warp * schedule.warp_size, schedule.warp_size);
      for (const std::uint32_t segment : lanes) {
        if (segment != scheduler::kNoSegment && queues.entry(segment).queue != scheduler::kNoQueue) {
          --waiting[queues.entry(segment).queue];
        }
      }
      for (const std::uint32_t segment : lanes) {
        if (segment == scheduler::kNoSegment || std::size_t{segment} + 1 >= queues.segments()) {
          continue;
        }
        const std::uint32_t queue = queues.entry(segment + 1).queue;
        if (queue != scheduler::kNoQueue && ++waiting[queue] > queue_places_) {
          fail(kRoot, "a queue has too few places for the threads that wait in it",
               fmt::format("'queue_places' {}, and more threads that wait behind warp {}", queue_places_, warp),
               "as many places as threads wait in one queue at a time, or more");
        }
      }
    }
  }

  const trace::SourceFile& source_;
  const trace::Trace& trace_;
  const trace::ThreadData& data_;
  const ScheduleTarget& target_;
  bool by_warps_ = false;
  std::uint32_t queue_bytes_ = 0, queue_places_ = 0;
  std::uint64_t warps_ = 0;
  Columns columns_;
  std::vector<std::uint64_t> place_of_;  ///< by segment
  RegroupedLaunch result_;
};

}  // namespace

RegroupedLaunch read_schedule(const std::filesystem::path& path, const trace::Trace& trace,
                              const ScheduleTarget& target) {
  const trace::hdf5::QuietScope quiet;
  const trace::FileDescriptor bytes(path, trace::FileDescriptor::Mode::Read, "schedule");
  const trace::SourceFile source(bytes, path, {0, kAdvice});
  return Reader(source, trace, target).read();
}

}  // namespace rayreplay::experiment
