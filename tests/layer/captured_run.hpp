// Runs a scenario in a process of its own, with or without the layer, and reads what it left behind.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "capture/instrument/probes/record.h"
#include "capture/spool/format.hpp"
#include "tests/support/temporary_folder.hpp"

namespace rayreplay::test {

/// The blocks of one spool file, decoded.
struct SpoolContent {
  bool sound = false;  ///< no byte is lost before the last whole block
  bool ended = false;  ///< has an End block
  spool::End end;
  std::vector<spool::Process> processes;
  std::vector<spool::Device> devices;
  std::vector<spool::Shader> shaders;
  std::vector<spool::Pipeline> pipelines;
  std::vector<spool::Structure> structures;
  std::vector<spool::Launch> launches;
  std::vector<spool::Note> notes;
  std::vector<spool::Seen> seen;
  std::vector<spool::Counters> counters;
  std::vector<spool::Paths> paths;
  std::vector<spool::Accesses> accesses;
  std::vector<spool::Counts> counts;
  std::vector<spool::PipelineFacts> pipeline_facts;
  std::vector<spool::Images> images;
  std::map<std::uint32_t, std::vector<std::uint32_t>> words;  ///< of each launch

  [[nodiscard]] std::string all_notes() const;
};

/// The record of a group of lanes.
struct Chunk {
  std::uint32_t kind = 0, shader = 0;
  std::vector<std::uint32_t> threads;
};

/// Throws std::runtime_error unless `words` are whole chunks.
[[nodiscard]] std::vector<Chunk> chunks_of(const std::vector<std::uint32_t>& words);

/// Lanes recorded of each kind; throws std::runtime_error unless `words` are whole chunks.
[[nodiscard]] std::vector<std::uint64_t> count_events(const std::vector<std::uint32_t>& words);

/// Throws std::runtime_error if it cannot be decoded.
[[nodiscard]] SpoolContent read_spool(const std::filesystem::path& path);

struct Outcome {
  int status = -1;  ///< as waitpid gives it
  std::string output, errors;
  std::vector<SpoolContent> spools;  ///< sorted by file name; with the layer only
  bool folder = false;               ///< the spool's folder was made
  bool open_to_others = false;       ///< that, or a file in it, can be used by others than its owner
};

using Settings = std::vector<std::pair<std::string, std::string>>;

[[nodiscard]] Outcome run_plain(const std::string& scenario);
/// settings: environment variables.
[[nodiscard]] Outcome run_captured(const std::string& scenario, const Settings& settings = {});
/// Kills the process with SIGKILL once it has printed `lines` lines.
[[nodiscard]] Outcome run_killed(const std::string& scenario, int lines);

}  // namespace rayreplay::test
