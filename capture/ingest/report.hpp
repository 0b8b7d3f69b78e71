// The capture's part of a trace's header. Internal to this room.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "capture/ingest/spool_contents.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::ingest {

/// Lines for not_captured: cleaned (no control characters), cut at a length, ended with a count where there are too
/// many.
class Lines {
 public:
  void add(std::string line);
  void add_all(const std::vector<std::string>& lines);
  [[nodiscard]] std::vector<std::string> finish() const;

 private:
  std::vector<std::string> lines_;
  std::uint64_t more_ = 0;
};

/// Each control character, mark of direction and other invisible character (base/utf8.hpp, only_shows) becomes a blank.
/// Each invalid sequence of UTF-8 becomes U+FFFD, because the text of a trace is UTF-8. For a name that `is_utf8`
/// refuses, callers add a line with `kReplaced` to `not_captured`.
[[nodiscard]] std::string clean(std::string_view text);
[[nodiscard]] bool is_utf8(std::string_view text);
inline constexpr const char* kReplaced = "invalid bytes are replaced by U+FFFD";

/// The capture's options leave launches out (frames, launch, trigger file); threads (window, every).
[[nodiscard]] bool are_launches_chosen(const spool::Process& process);
[[nodiscard]] bool are_threads_chosen(const spool::Process& process);

/// All of the header but `not_captured`.
[[nodiscard]] trace::Header make_header(const SpoolContents& contents, const spool::Device& device);

/// Adds what the spool as a whole lacks: notes, unchanged shaders, damage, an application that did not end.
void add_spool_lines(const SpoolContents& contents, const spool::SpoolReader& reader, const spool::Device& device,
                     Lines& lines);

}  // namespace rayreplay::ingest
