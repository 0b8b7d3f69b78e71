#include "capture/trace/access_sample.hpp"

#include <charconv>
#include <string>

#include <nlohmann/json.hpp>

#include "base/json.hpp"

namespace rayreplay::trace {

std::uint64_t access_sample(const Header& header) {
  const auto document = parse_json(header.configuration);
  if (!document || !document->is_object()) {
    return 1;
  }
  const auto capture = document->find("capture");
  if (capture == document->end() || !capture->is_object()) {
    return 1;
  }
  const auto options = capture->find("options");
  if (options == capture->end() || !options->is_object()) {
    return 1;
  }
  const auto sample = options->find("profile_memory_sample");
  if (sample == options->end() || !sample->is_string()) {
    return 1;
  }
  const auto text = sample->get<std::string>();
  std::uint64_t every = 1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), every);
  return error == std::errc() && end == text.data() + text.size() && every > 0 ? every : 1;
}

}  // namespace rayreplay::trace
