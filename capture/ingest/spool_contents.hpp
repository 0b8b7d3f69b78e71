// A spool file's content, except the words of its events: every block decoded once. Internal to this room.
//
// Contract: `read_contents` takes the blocks of a reader; a block with an invalid payload is counted and skipped, a
// second block of the same number replaces the first. Structures, which hold geometry, stay encoded until they are
// requested. Views point into the reader's mapping.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "capture/spool/format.hpp"
#include "capture/spool/reader.hpp"

namespace rayreplay::ingest {

/// A launch and the parts of its word stream in order of first_word.
struct SpooledLaunch {
  spool::Launch launch;
  std::vector<spool::EventsView> events;
};

struct SpoolContents {
  std::optional<spool::Process> process;
  std::map<std::uint32_t, spool::Device> devices;
  std::map<std::uint16_t, spool::Shader> shaders;
  std::map<std::uint32_t, spool::Pipeline> pipelines;
  std::map<std::uint32_t, std::span<const std::byte>> structures;  ///< payloads by number
  std::map<std::uint32_t, SpooledLaunch> launches;                 ///< by number
  std::map<std::uint16_t, spool::Counters> counters;               ///< by module
  std::vector<spool::Counts> counts;
  std::map<std::uint16_t, spool::Paths> paths;                   ///< by module
  std::map<std::uint16_t, spool::Accesses> accesses;             ///< by module
  std::map<std::uint32_t, spool::PipelineFacts> pipeline_facts;  ///< by pipeline
  std::map<std::uint32_t, spool::Images> images;                 ///< by launch
  std::vector<spool::Note> notes;
  std::optional<spool::End> end;
  std::set<spool::Sight> seen;
  std::uint64_t unreadable_blocks = 0;
  std::uint64_t stray_words = 0;  ///< of events whose launch is not there
};

[[nodiscard]] SpoolContents read_contents(const spool::SpoolReader& reader);

}  // namespace rayreplay::ingest
