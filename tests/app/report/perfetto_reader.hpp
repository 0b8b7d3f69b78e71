// What a Perfetto trace of TrackEvents says, by a reader of its own: for tests.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <protozero/pbf_reader.hpp>

namespace rayreplay::test {

struct PerfettoTrace {
  struct Process {
    std::int32_t pid = 0;
    std::string name;
  };
  struct Track {
    std::uint64_t uuid = 0;
    std::int32_t pid = 0, tid = 0;
    std::string name;
  };
  struct Slice {
    std::uint64_t track = 0, begin = 0, end = 0;
    std::string name;
    std::map<std::string, std::uint64_t> notes;
  };
  struct Count {
    std::string name;
    std::uint64_t time = 0;
    std::int64_t value = 0;
  };
  std::vector<Process> processes;
  std::vector<Track> tracks;
  std::vector<Slice> slices;  ///< in the order of their ends
  std::vector<Count> counts;
  std::string fault;  ///< "" or what breaks the format
};

class PerfettoReader {
 public:
  PerfettoTrace read(const std::string& bytes) {
    protozero::pbf_reader file(bytes);
    while (file.next()) {
      if (file.tag() != 1) {
        fail("something that is no packet");
        file.skip();
        continue;
      }
      packet(file.get_message());
    }
    if (!open_.empty()) {
      fail("a slice that never ends");
    }
    return trace_;
  }

 private:
  struct Sequence {
    std::map<std::uint64_t, std::string> names, note_names;
    std::uint64_t now = 0;
  };

  void fail(const std::string& what) {
    trace_.fault = trace_.fault.empty() ? what : trace_.fault;
  }

  void packet(protozero::pbf_reader packet) {
    std::uint32_t sequence = 0, flags = 0;
    std::uint64_t time = 0;
    bool timed = false;
    protozero::data_view event, descriptor, interned;
    while (packet.next()) {
      switch (packet.tag()) {
        case 8:
          time = packet.get_uint64();
          timed = true;
          break;
        case 10:
          sequence = packet.get_uint32();
          break;
        case 11:
          event = packet.get_view();
          break;
        case 12:
          interned = packet.get_view();
          break;
        case 13:
          flags = packet.get_uint32();
          break;
        case 60:
          descriptor = packet.get_view();
          break;
        default:
          fail("an unknown field of a packet");
          packet.skip();
      }
    }
    if (sequence == 0 || (flags & 2U) == 0) {
      fail("a packet without sequence, or without need of its state");
    }
    if ((flags & 1U) != 0) {
      sequences_[sequence] = {};
    }
    Sequence& state = sequences_[sequence];
    if (interned.size() > 0) {
      intern(protozero::pbf_reader(interned), state);
    }
    if (descriptor.size() > 0) {
      describe(protozero::pbf_reader(descriptor));
    }
    if (event.size() > 0) {
      if (!timed || time < state.now) {
        fail("time goes backwards");
      }
      state.now = time;
      track_event(protozero::pbf_reader(event), time, state);
    }
  }

  static void intern(protozero::pbf_reader data, Sequence& state) {
    while (data.next()) {
      auto& names = data.tag() == 2 ? state.names : state.note_names;
      protozero::pbf_reader entry = data.get_message();
      std::uint64_t id = 0;
      while (entry.next()) {
        if (entry.tag() == 1) {
          id = entry.get_uint64();
        } else {
          names[id] = entry.get_string();
        }
      }
    }
  }

  void describe(protozero::pbf_reader track) {
    std::uint64_t uuid = 0;
    std::string name;
    while (track.next()) {
      switch (track.tag()) {
        case 1:
          uuid = track.get_uint64();
          break;
        case 2:
          name = track.get_string();
          break;
        case 3: {
          PerfettoTrace::Process process;
          protozero::pbf_reader inner = track.get_message();
          while (inner.next()) {
            inner.tag() == 1 ? static_cast<void>(process.pid = inner.get_int32())
                             : static_cast<void>(process.name = inner.get_string());
          }
          trace_.processes.push_back(process);
          break;
        }
        case 4: {
          PerfettoTrace::Track thread;
          thread.uuid = uuid;
          protozero::pbf_reader inner = track.get_message();
          while (inner.next()) {
            inner.tag() == 1   ? static_cast<void>(thread.pid = inner.get_int32())
            : inner.tag() == 2 ? static_cast<void>(thread.tid = inner.get_int32())
                               : static_cast<void>(thread.name = inner.get_string());
          }
          trace_.tracks.push_back(thread);
          break;
        }
        case 8:
          counters_[uuid] = name;
          track.skip();
          break;
        default:
          track.skip();
      }
    }
    if (uuid == 0 || !uuids_.emplace(uuid, true).second) {
      fail("a track without a number of its own");
    }
  }

  void track_event(protozero::pbf_reader event, std::uint64_t time, const Sequence& state) {
    std::int32_t type = 0;
    std::uint64_t track = 0, name = 0;
    std::int64_t value = 0;
    std::map<std::string, std::uint64_t> notes;
    while (event.next()) {
      switch (event.tag()) {
        case 4: {
          protozero::pbf_reader note = event.get_message();
          std::uint64_t id = 0;
          while (note.next()) {
            if (note.tag() == 1) {
              id = note.get_uint64();
            } else {
              notes[known(state.note_names, id)] = note.get_uint64();
            }
          }
          break;
        }
        case 9:
          type = event.get_enum();
          break;
        case 10:
          name = event.get_uint64();
          break;
        case 11:
          track = event.get_uint64();
          break;
        case 30:
          value = event.get_int64();
          break;
        default:
          fail("an unknown field of an event");
          event.skip();
      }
    }
    if (uuids_.find(track) == uuids_.end()) {
      fail("an event on a track that is not described");
    }
    if (type == 1) {
      if (!open_.emplace(track, PerfettoTrace::Slice{track, time, 0, known(state.names, name), notes}).second) {
        fail("two slices of a track at once");
      }
    } else if (type == 2) {
      const auto place = open_.find(track);
      if (place == open_.end()) {
        fail("an end without a begin");
        return;
      }
      place->second.end = time;
      trace_.slices.push_back(place->second);
      open_.erase(place);
    } else if (type == 4) {
      trace_.counts.push_back({known(counters_, track), time, value});
    } else {
      fail("an event of an unknown type");
    }
  }

  std::string known(const std::map<std::uint64_t, std::string>& names, std::uint64_t id) {
    const auto place = names.find(id);
    if (place == names.end()) {
      fail("a name that is not interned");
      return "";
    }
    return place->second;
  }

  PerfettoTrace trace_;
  std::map<std::uint32_t, Sequence> sequences_;
  std::map<std::uint64_t, bool> uuids_;
  std::map<std::uint64_t, std::string> counters_;
  std::map<std::uint64_t, PerfettoTrace::Slice> open_;
};

inline PerfettoTrace read_perfetto(const std::string& bytes) {
  return PerfettoReader().read(bytes);
}

}  // namespace rayreplay::test
