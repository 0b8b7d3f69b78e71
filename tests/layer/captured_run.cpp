#include "tests/layer/captured_run.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "capture/spool/payload.hpp"
#include "capture/spool/reader.hpp"
#include "tests/support/file_bytes.hpp"
#include "tests/support/software_driver.hpp"

namespace rayreplay::test {
namespace {

template <typename Block>
void take(std::vector<Block>& to, std::span<const std::byte> payload) {
  if (!spool::decode(payload, to.emplace_back())) {
    throw std::runtime_error("a block cannot be decoded");
  }
}

/// kill_after: lines of output after which the process is killed; 0: never.
Outcome run(const std::string& scenario, const Settings& settings, bool with_layer, int kill_after) {
  const TemporaryFolder folder;
  const auto spool_folder = folder / "spool";
  std::array<int, 2> pipe_ends{};
  if (pipe(pipe_ends.data()) != 0) {
    throw std::runtime_error("pipe");
  }
  const auto child = fork();
  if (child == 0) {
    const int errors = open((folder / "errors").c_str(), O_CREAT | O_WRONLY, 0600);
    dup2(pipe_ends[1], STDOUT_FILENO);
    dup2(errors, STDERR_FILENO);
    close(pipe_ends[0]);
    use_software_driver();
    if (with_layer) {
      setenv("VK_ADD_LAYER_PATH", RAYREPLAY_LAYER_FOLDER, 1);
      setenv("VK_INSTANCE_LAYERS", "VK_LAYER_RAYREPLAY_capture", 1);
      setenv("RAYREPLAY_CAPTURE_SPOOL", spool_folder.c_str(), 1);
      for (const auto& [name, value] : settings) {
        setenv(name.c_str(), value.c_str(), 1);
      }
    }
    alarm(300);  // A program that hangs ends by a signal, so the test fails.
    execl(RAYREPLAY_SCENARIOS, RAYREPLAY_SCENARIOS, scenario.c_str(), nullptr);
    _exit(127);
  }
  close(pipe_ends[1]);
  Outcome outcome;
  std::array<char, 4096> part{};
  for (ssize_t got = 0; (got = read(pipe_ends[0], part.data(), part.size())) > 0;) {
    outcome.output.append(part.data(), static_cast<std::size_t>(got));
    if (kill_after > 0 && std::count(outcome.output.begin(), outcome.output.end(), '\n') >= kill_after) {
      kill(child, SIGKILL);
      kill_after = 0;
    }
  }
  close(pipe_ends[0]);
  waitpid(child, &outcome.status, 0);
  outcome.errors = read_bytes(folder / "errors");
  if (std::filesystem::exists(spool_folder)) {
    outcome.folder = true;
    const auto closed = [](const std::filesystem::path& path) {
      constexpr auto kOthers = std::filesystem::perms::group_all | std::filesystem::perms::others_all;
      return (std::filesystem::status(path).permissions() & kOthers) == std::filesystem::perms::none;
    };
    outcome.open_to_others = !closed(spool_folder);
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(spool_folder)) {
      files.push_back(entry.path());
      outcome.open_to_others |= !closed(entry.path());
    }
    std::sort(files.begin(), files.end());
    for (const auto& file : files) {
      outcome.spools.push_back(read_spool(file));
    }
  }
  return outcome;
}

}  // namespace

SpoolContent read_spool(const std::filesystem::path& path) {
  const spool::SpoolReader reader(path);
  SpoolContent content;
  content.sound = reader.lost_bytes() == 0 && reader.damaged_places() == 0;
  for (const auto& block : reader.blocks()) {
    switch (block.type) {
      case spool::BlockType::Process:
        take(content.processes, block.payload);
        break;
      case spool::BlockType::Device:
        take(content.devices, block.payload);
        break;
      case spool::BlockType::Shader:
        take(content.shaders, block.payload);
        break;
      case spool::BlockType::Pipeline:
        take(content.pipelines, block.payload);
        break;
      case spool::BlockType::Structure:
        take(content.structures, block.payload);
        break;
      case spool::BlockType::Launch:
        take(content.launches, block.payload);
        break;
      case spool::BlockType::Events: {
        const auto view = spool::view_events(block.payload).value();
        auto& words = content.words[view.launch];
        if (words.size() != view.first_word) {
          throw std::runtime_error("events do not follow each other");
        }
        words.insert(words.end(), view.words.begin(), view.words.end());
        break;
      }
      case spool::BlockType::Note:
        take(content.notes, block.payload);
        break;
      case spool::BlockType::End:
        content.ended = spool::decode(block.payload, content.end);
        break;
      case spool::BlockType::Seen:
        take(content.seen, block.payload);
        break;
      case spool::BlockType::Counters:
        take(content.counters, block.payload);
        break;
      case spool::BlockType::Accesses:
        take(content.accesses, block.payload);
        break;
      case spool::BlockType::PipelineFacts:
        take(content.pipeline_facts, block.payload);
        break;
      case spool::BlockType::Images:
        take(content.images, block.payload);
        break;
      case spool::BlockType::Paths:
        take(content.paths, block.payload);
        break;
      case spool::BlockType::Counts:
        take(content.counts, block.payload);
        break;
    }
  }
  return content;
}

std::string SpoolContent::all_notes() const {
  std::string text;
  for (const auto& note : notes) {
    text += note.text + "\n";
  }
  return text;
}

std::vector<Chunk> chunks_of(const std::vector<std::uint32_t>& words) {
  constexpr std::array<std::size_t, RR_KINDS> kFields = {1, 12, 5, 3, 1, 5, 1, 1, 1, 5, 1, 3, 2, 0, 0, 2, 3, 2};
  std::vector<Chunk> chunks;
  for (std::size_t at = 0; at < words.size();) {
    if (at + RR_HEADER_WORDS > words.size() || (words[at] & 31U) >= RR_KINDS) {
      throw std::runtime_error("no chunk at word " + std::to_string(at));
    }
    Chunk chunk{words[at] & 31U, (words[at] >> 8U) & 0xFFFFU, {}};
    const auto lanes = (words[at + 2] >> 20U) & 127U;
    const std::size_t wide = (words[at] & RR_WIDE) != 0 ? 1 : 0;
    const std::size_t partial = (words[at] & RR_PARTIAL) != 0 ? 1 + wide : 0;
    const std::size_t fields =
        chunk.kind == RR_PATH_BYTES || chunk.kind == RR_PATH ? 1 + (words[at] >> 24U & 127U) : kFields.at(chunk.kind);
    at += RR_HEADER_WORDS + wide + partial;
    const auto end = at + fields * lanes;
    if (lanes == 0 || fields == 0 || end > words.size()) {
      throw std::runtime_error("a chunk is cut");
    }
    const auto first = words.begin() + static_cast<std::ptrdiff_t>(at);
    chunk.threads.assign(first, first + static_cast<std::ptrdiff_t>(lanes));
    chunks.push_back(std::move(chunk));
    at = end;
  }
  return chunks;
}

std::vector<std::uint64_t> count_events(const std::vector<std::uint32_t>& words) {
  std::vector<std::uint64_t> counts(RR_KINDS);
  for (const auto& chunk : chunks_of(words)) {
    counts[chunk.kind] += chunk.threads.size();
  }
  return counts;
}

Outcome run_plain(const std::string& scenario) {
  return run(scenario, {}, false, 0);
}

Outcome run_captured(const std::string& scenario, const Settings& settings) {
  return run(scenario, settings, true, 0);
}

Outcome run_killed(const std::string& scenario, int lines) {
  return run(scenario, {}, true, lines);
}

}  // namespace rayreplay::test
