// The contents of a run's spools in numbers, to see whether a run with a failure lacks something and says so.
//
// Contract: made from the folder of a run's spools, which may not exist. `fault` is empty, or what is wrong with a file
// by itself: damage, a file that cannot be read and has no marker beside it (".failed"), or a note that stands twice.
// `lacks_unsaid` is empty if the run has all that `sound` has, or if anything tells of the loss: a note that `sound`
// lacks, or a marker. Else it names the loss. Notes that only tell of something that works ("shaders: replaced …") do
// not count.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace rayreplay::test {

class SpoolBooks {
 public:
  SpoolBooks() = default;
  explicit SpoolBooks(const std::filesystem::path& folder);

  [[nodiscard]] const std::string& fault() const {
    return fault_;
  }
  [[nodiscard]] std::string lacks_unsaid(const SpoolBooks& sound) const;
  [[nodiscard]] bool has_note(const std::string& beginning) const;
  /// Whether a shader, as it ran, has hit objects.
  [[nodiscard]] bool has_hit_objects() const;
  /// A folder for RAYREPLAY_CAPTURE_SHADERS: each shader of the spools with another number of its generator.
  void write_rewritten(const std::filesystem::path& folder) const;

 private:
  std::string fault_;
  bool has_marker_ = false;
  std::map<std::string, std::uint64_t> amounts_;  ///< blocks by type, and words of events
  std::set<std::string> notes_;
  std::vector<std::vector<std::uint32_t>> modules_;
};

}  // namespace rayreplay::test
