#include "capture/trace/rules/rules.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace rayreplay::trace {
namespace {

constexpr const char* kFix = "capture or trace the scene again; if your own program wrote this, mend it there";

}  // namespace

void FaultList::add(const std::string& where, const std::string& what, const std::string& found,
                    const std::string& expected) {
  if (!full()) {
    list_.push_back({what, fmt::format("{}:{}", file_, where), found, expected, kFix});
  }
}

void FaultList::add_row(const std::string& dataset, std::uint64_t row, const std::string& what,
                        const std::string& found, const std::string& expected) {
  add(fmt::format("{}[{}]", dataset, row), what, found, expected);
}

std::string launch_size_fault(LaunchSize size) {
  if (size.width == 0 || size.height == 0 || size.depth == 0) {
    return fmt::format("the launch has no threads: its size is {}x{}x{}", size.width, size.height, size.depth);
  }
  const std::uint64_t pixels = std::uint64_t{size.width} * size.height;
  if (pixels > kNone / size.depth) {
    return fmt::format("the launch has more than 2^32 threads: its size is {}x{}x{}", size.width, size.height,
                       size.depth);
  }
  return "";
}

void check_text(const std::string& text, const std::string& where, FaultList& faults) {
  if (const std::size_t at = text::invalid_at(text); at != text::kAllValid) {
    faults.add(where, "the text is not UTF-8",
               fmt::format("the byte 0x{:02x} at byte {}", static_cast<unsigned char>(text[at]), at), "UTF-8");
  }
}

void check_header(const Header& header, FaultList& faults) {
  check_text(header.tool, "/tool", faults);
  check_text(header.tool_version, "/tool_version", faults);
  check_text(header.application, "/application", faults);
  check_text(header.device, "/device", faults);
  check_text(header.driver, "/driver", faults);
  check_text(header.configuration, "/configuration", faults);
  for (std::size_t i = 0; i < header.not_captured.size(); ++i) {
    check_text(header.not_captured[i], fmt::format("/not_captured[{}]", i), faults);
  }
  if (header.warp_size > 64) {
    faults.add("/warp_size", "the warp size is out of range", std::to_string(header.warp_size), "at most 64");
  }
}

void check_shaders(const std::vector<Shader>& shaders, FaultList& faults) {
  if (shaders.size() > kNoShader) {
    faults.add("/shaders", "there are more shaders than shader ids", std::to_string(shaders.size()),
               fmt::format("at most {}", kNoShader));
  }
  for (std::size_t i = 0; i < shaders.size() && !faults.full(); ++i) {
    check_text(shaders[i].entry, fmt::format("/shaders/entry[{}]", i), faults);
    check_text(shaders[i].name, fmt::format("/shaders/name[{}]", i), faults);
    const auto stage = static_cast<std::size_t>(shaders[i].stage);
    if (stage >= kShaderStages) {
      faults.add_row("/shaders/stage", i, "there is no such shader stage", std::to_string(stage),
                     fmt::format("less than {}", kShaderStages));
    }
  }
}

}  // namespace rayreplay::trace
