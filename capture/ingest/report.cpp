#include "capture/ingest/report.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/count_text.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"

namespace rayreplay::ingest {
namespace {

constexpr std::size_t kGreatestLine = 400;
constexpr std::size_t kGreatestLines = 1000;

nlohmann::json options_of(const std::string& text) {
  nlohmann::json options = nlohmann::json::object();
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    if (const std::size_t equals = line.find('='); equals != std::string::npos) {
      options[clean(line.substr(0, equals))] = clean(line.substr(equals + 1));
    }
    begin = end + 1;
  }
  return options;
}

}  // namespace

std::string clean(std::string_view text) {
  const std::string valid = text::replaced(text);
  std::string result;
  result.reserve(valid.size());
  for (std::size_t at = 0; at < valid.size();) {
    const utf8::Decoded one = utf8::decode(valid, at);
    if (utf8::only_shows(one.code)) {
      result.append(valid, at, one.bytes);
    } else {
      result += ' ';
    }
    at += one.bytes;
  }
  return result;
}

bool is_utf8(std::string_view text) {
  return text::invalid_at(text) == text::kAllValid;
}

namespace {

bool texts_are_utf8(const SpoolContents& contents, const spool::Device& device) {
  const spool::Process process = contents.process.value_or(spool::Process{});
  return is_utf8(process.executable) && std::ranges::all_of(process.command_line, is_utf8) &&
         is_utf8(process.application_name) && is_utf8(process.engine_name) && is_utf8(process.options) &&
         is_utf8(device.name) && is_utf8(device.driver_name) && is_utf8(device.driver_info);
}

}  // namespace

void Lines::add(std::string line) {
  if (lines_.size() == kGreatestLines) {
    ++more_;
    return;
  }
  line = clean(line);
  if (line.size() > kGreatestLine) {
    std::size_t end = kGreatestLine;
    while ((static_cast<unsigned char>(line[end]) & 0xC0U) == 0x80U) {
      --end;  // not in the middle of a code point
    }
    line.resize(end);
    line += " …";
  }
  lines_.push_back(std::move(line));
}

void Lines::add_all(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    add(line);
  }
}

std::vector<std::string> Lines::finish() const {
  std::vector<std::string> lines = lines_;
  if (more_ != 0) {
    lines.push_back("and " + counted(more_, "more line"));
  }
  return lines;
}

bool are_launches_chosen(const spool::Process& process) {
  const nlohmann::json options = options_of(process.options);
  return options.value("frames", "") != "" || options.value("launch", "") != "" ||
         options.value("trigger_file", "") != "";
}

bool are_threads_chosen(const spool::Process& process) {
  const nlohmann::json options = options_of(process.options);
  return options.value("window", "") != "" || options.value("every", "1") != "1";
}

trace::Header make_header(const SpoolContents& contents, const spool::Device& device) {
  trace::Header header;
  const spool::Process process = contents.process.value_or(spool::Process{});
  header.application = clean(process.executable.empty() ? "unknown" : process.executable);
  header.device = clean(device.name.empty() ? "unknown" : device.name);
  header.driver = clean(device.driver_name + (device.driver_info.empty() ? "" : " " + device.driver_info));
  header.warp_size = device.subgroup_size <= 64 ? device.subgroup_size : 0;
  nlohmann::json capture;
  capture["executable"] = clean(process.executable);
  capture["command_line"] = nlohmann::json::array();
  for (const std::string& argument : process.command_line) {
    capture["command_line"].push_back(clean(argument));
  }
  capture["application_name"] = clean(process.application_name);
  capture["engine_name"] = clean(process.engine_name);
  capture["layer_version"] = clean(process.tool_version);
  capture["options"] = options_of(process.options);
  capture["start_unix_ns"] = process.start_unix_ns;
  capture["sm_count"] = device.sm_count;
  capture["warps_per_sm"] = device.warps_per_sm;
  nlohmann::json launches = nlohmann::json::array();
  for (const auto& [number, launch] : contents.launches) {
    if (launch.launch.device == device.device && (launch.launch.swizzled != 0 || launch.launch.observe_all != 0)) {
      launches.push_back({{"launch", number},
                          {"swizzled", launch.launch.swizzled != 0},
                          {"observe_all", launch.launch.observe_all != 0}});
    }
  }
  capture["changed_launches"] = launches;
  header.configuration = json_text(nlohmann::json{{"capture", capture}});
  return header;
}

void add_spool_lines(const SpoolContents& contents, const spool::SpoolReader& reader, const spool::Device& described,
                     Lines& lines) {
  const std::uint32_t device = described.device;
  if (!contents.end) {
    lines.add(
        "the application ended without closing the capture (crash, kill, or exit in mid-frame); what it had "
        "recorded is here");
  }
  if (reader.damaged_places() != 0) {
    lines.add(fmt::format("the spool is damaged in {}: {} lost", counted(reader.damaged_places(), "place"),
                          counted(reader.lost_bytes(), "byte")));
  }
  if (reader.cut_bytes() != 0) {
    lines.add("the spool ends in a block that is not whole: " + counted(reader.cut_bytes(), "byte") + " of it");
  }
  if (contents.unreadable_blocks != 0) {
    lines.add(counted(contents.unreadable_blocks, "block") + " of the spool cannot be understood");
  }
  if (contents.stray_words != 0) {
    lines.add(fmt::format("{} of events {} to launches that are not in the spool",
                          counted(contents.stray_words, "word"), contents.stray_words == 1 ? "belongs" : "belong"));
  }
  if (!contents.process) {
    lines.add("the spool does not say of which process it is");
  }
  if (!texts_are_utf8(contents, described)) {
    lines.add(fmt::format("texts of the application or its driver are not UTF-8 (path, command line, or names): {}",
                          kReplaced));
  }
  for (const auto& [number, launch] : contents.launches) {
    const bool none =
        std::all_of(launch.events.begin(), launch.events.end(), [](const auto& part) { return part.words.empty(); });
    if (none && launch.launch.words != 0 && launch.launch.device == device) {
      lines.add(fmt::format("launch {} is left out: its events ({}) are not in the spool", number,
                            counted(launch.launch.words, "word")));
    }
  }
  for (const spool::Note& note : contents.notes) {
    if (note.launch == spool::kNone) {
      lines.add(note.text);
      continue;
    }
    const auto launch = contents.launches.find(note.launch);
    if (launch == contents.launches.end() || launch->second.launch.device == device) {
      lines.add(fmt::format("launch {}: {}", note.launch, note.text));
    }
  }
  for (const auto& [number, shader] : contents.shaders) {
    if (shader.status == spool::ShaderStatus::LeftAlone) {
      lines.add(fmt::format("shader {} ({}) was not instrumented: {}", number,
                            shader.name.empty() ? shader.entry : shader.name, shader.reason));
    }
  }
}

}  // namespace rayreplay::ingest
