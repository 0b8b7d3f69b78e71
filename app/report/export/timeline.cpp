#include "app/report/export/timeline.hpp"

#include <map>

#include <protozero/pbf_writer.hpp>

#include "base/output_file.hpp"
#include "base/text.hpp"

namespace rayreplay::output {
namespace {

using protozero::pbf_writer;

constexpr std::size_t kBufferBytes = std::size_t{1} << 20U;
constexpr std::int32_t kFirstThread = 100'000;  // above every process's number

// Field numbers of Perfetto's protos.
constexpr protozero::pbf_tag_type kTracePacket = 1;
namespace packet {
constexpr protozero::pbf_tag_type kTimestamp = 8, kSequence = 10, kTrackEvent = 11, kInterned = 12, kFlags = 13,
                                  kTrackDescriptor = 60;
}
namespace descriptor {
constexpr protozero::pbf_tag_type kUuid = 1, kName = 2, kProcess = 3, kThread = 4, kParent = 5, kCounter = 8;
constexpr protozero::pbf_tag_type kPid = 1, kTid = 2, kThreadName = 5, kProcessName = 6, kUnit = 3;
}  // namespace descriptor
namespace event {
constexpr protozero::pbf_tag_type kNotes = 4, kType = 9, kNameId = 10, kTrack = 11, kCounterValue = 30;
constexpr std::int32_t kBegin = 1, kEnd = 2, kCounter = 4;
}  // namespace event
namespace interned {
constexpr protozero::pbf_tag_type kEventNames = 2, kNoteNames = 3, kId = 1, kName = 2;
}
namespace note {
constexpr protozero::pbf_tag_type kNameId = 1, kUint = 3;
}
constexpr std::uint32_t kStateCleared = 1, kNeedsState = 2;  // of a packet's flags
constexpr std::int32_t kUnitCount = 2;

using Ids = std::map<std::string, std::uint64_t, std::less<>>;

}  // namespace

struct Timeline::State {
  State(const std::string& path, bool force) : output(path, force) {}

  void flush() {
    output.write(buffer);
    buffer.clear();
  }

  /// `fill` writes the packet's content.
  template <class Fill>
  void add_packet(const Fill& fill) {
    content.clear();
    pbf_writer writer(content);
    fill(writer);
    writer.add_uint32(packet::kSequence, sequence);
    writer.add_uint32(packet::kFlags, fresh ? kStateCleared | kNeedsState : kNeedsState);
    fresh = false;
    pbf_writer(buffer).add_message(kTracePacket, content);
    if (buffer.size() >= kBufferBytes) {
      flush();
    }
  }

  template <class Fill>
  std::uint64_t add_descriptor(const Fill& fill) {
    const std::uint64_t uuid = next_uuid++;
    add_packet([&](pbf_writer& writer) {
      pbf_writer track(writer, packet::kTrackDescriptor);
      track.add_uint64(descriptor::kUuid, uuid);
      fill(track);
    });
    return uuid;
  }

  /// The name's id; defines it if it is new to the process.
  static std::uint64_t intern(Ids& ids, const std::string& name, protozero::pbf_tag_type kind,
                              std::string& fresh_names) {
    const auto [place, added] = ids.emplace(name, ids.size() + 1);
    if (added) {
      pbf_writer list(fresh_names);
      pbf_writer entry(list, kind);
      entry.add_uint64(interned::kId, place->second);
      entry.add_string(interned::kName, text::printable(name));
    }
    return place->second;
  }

  OutputFile output;
  std::string buffer;
  std::string content;
  std::uint32_t sequence = 0;
  bool fresh = true;  ///< nothing of this sequence has been written
  std::uint64_t next_uuid = 1;
  std::uint64_t process = 0;
  std::int32_t pid = 0;
  std::int32_t next_tid = kFirstThread;
  Ids names, note_names;
};

Timeline::Timeline(const std::string& path, bool force) : state_(std::make_unique<State>(path, force)) {}

Timeline::~Timeline() = default;

void Timeline::begin_process(const std::string& name) {
  State& state = *state_;
  ++state.sequence;
  ++state.pid;
  state.fresh = true;
  state.names.clear();
  state.note_names.clear();
  state.process = state.add_descriptor([&](pbf_writer& track) {
    pbf_writer process(track, descriptor::kProcess);
    process.add_int32(descriptor::kPid, state.pid);
    process.add_string(descriptor::kProcessName, text::printable(name));
  });
}

std::uint64_t Timeline::add_track(const std::string& name) {
  State& state = *state_;
  return state.add_descriptor([&](pbf_writer& track) {
    track.add_uint64(descriptor::kParent, state.process);
    pbf_writer thread(track, descriptor::kThread);
    thread.add_int32(descriptor::kPid, state.pid);
    thread.add_int32(descriptor::kTid, state.next_tid++);
    thread.add_string(descriptor::kThreadName, text::printable(name));
  });
}

std::uint64_t Timeline::add_counter(const std::string& name) {
  State& state = *state_;
  return state.add_descriptor([&](pbf_writer& track) {
    track.add_string(descriptor::kName, text::printable(name));
    track.add_uint64(descriptor::kParent, state.process);
    pbf_writer counter(track, descriptor::kCounter);
    counter.add_enum(descriptor::kUnit, kUnitCount);
  });
}

void Timeline::begin_slice(std::uint64_t track, std::uint64_t nanoseconds, const std::string& name,
                           const std::vector<Note>& notes) {
  State& state = *state_;
  std::string fresh_names;
  const std::uint64_t id = State::intern(state.names, name, interned::kEventNames, fresh_names);
  std::vector<std::uint64_t> note_ids;
  note_ids.reserve(notes.size());
  for (const Note& one : notes) {
    note_ids.push_back(State::intern(state.note_names, one.first, interned::kNoteNames, fresh_names));
  }
  state.add_packet([&](pbf_writer& writer) {
    writer.add_uint64(packet::kTimestamp, nanoseconds);
    if (!fresh_names.empty()) {
      writer.add_message(packet::kInterned, fresh_names);
    }
    pbf_writer begun(writer, packet::kTrackEvent);
    begun.add_enum(event::kType, event::kBegin);
    begun.add_uint64(event::kTrack, track);
    begun.add_uint64(event::kNameId, id);
    for (std::size_t i = 0; i < notes.size(); ++i) {
      pbf_writer one(begun, event::kNotes);
      one.add_uint64(note::kNameId, note_ids[i]);
      one.add_uint64(note::kUint, notes[i].second);
    }
  });
}

void Timeline::end_slice(std::uint64_t track, std::uint64_t nanoseconds) {
  state_->add_packet([&](pbf_writer& writer) {
    writer.add_uint64(packet::kTimestamp, nanoseconds);
    pbf_writer ended(writer, packet::kTrackEvent);
    ended.add_enum(event::kType, event::kEnd);
    ended.add_uint64(event::kTrack, track);
  });
}

void Timeline::count(std::uint64_t counter, std::uint64_t nanoseconds, std::int64_t value) {
  state_->add_packet([&](pbf_writer& writer) {
    writer.add_uint64(packet::kTimestamp, nanoseconds);
    pbf_writer counted(writer, packet::kTrackEvent);
    counted.add_enum(event::kType, event::kCounter);
    counted.add_uint64(event::kTrack, counter);
    counted.add_int64(event::kCounterValue, value);
  });
}

void Timeline::commit() {
  state_->flush();
  state_->output.commit();
}

}  // namespace rayreplay::output
