#include "viewer/export.hpp"

#include <string_view>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/json.hpp"
#include "viewer/content/answers.hpp"
#include "viewer/page/page_files.hpp"

namespace rayreplay::viewer {
namespace {

using Parameters = std::vector<std::pair<std::string, std::string>>;

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8U | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text += k <= count ? kDigits[group >> (18 - 6 * k) & 63U] : '=';
    }
  }
  return text;
}

/// As encodeURIComponent of the page's script does.
std::string encoded(std::string_view text) {
  constexpr std::string_view kPlain = "-_.!~*'()";
  std::string result;
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    const bool plain = (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') ||
                       kPlain.find(letter) != std::string_view::npos;
    result += plain ? std::string(1, letter) : fmt::format("%{:02X}", byte);
  }
  return result;
}

class Exporter {
 public:
  explicit Exporter(Content& content) : content_(&content) {}

  void add(const std::string& path, const Parameters& parameters = {}) {
    const Answer answer = content_->answer({path, parameters});
    if (answer.status != 200) {
      const auto told = parse_json(answer.body);
      throw Error(ErrorKind::Missing,
                  {"an answer of the page cannot be computed", path,
                   told && told->contains("error") ? (*told)["error"].get<std::string>() : "", "", ""});
    }
    std::string where = path;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      where += (i == 0 ? '?' : '&') + encoded(parameters[i].first) + '=' + encoded(parameters[i].second);
    }
    data_[where] = base64(answer.body);
  }

  [[nodiscard]] std::string script() const {
    return "window.rayreplayData=" + json_text(data_) + ";\n";
  }

 private:
  Content* content_;
  nlohmann::ordered_json data_ = nlohmann::ordered_json::object();
};

Parameters with(Parameters first, const Parameters& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

}  // namespace

std::vector<ExportedFile> export_files(Content& content, const ExportWanted& wanted) {
  Exporter exporter(content);
  const trace::Trace& trace = content.trace();
  exporter.add("trace");
  exporter.add("keys");
  for (std::size_t geometry = 0; geometry < trace.scene.geometries.size(); ++geometry) {
    exporter.add(fmt::format("geometry/{}", geometry));
  }
  const std::string launch = fmt::format("launch/{}/", wanted.launch);
  exporter.add(launch + "camera");
  for (const Choice& metric : face_metrics()) {
    exporter.add(launch + "faces", {{"metric", metric.name}});
  }
  const trace::Launch& shown = experiment::launch_of(trace, wanted.launch, "--launch");
  const bool has_groups = !shown.thread_warp.empty() && !shown.data.events.group.empty();
  for (const Choice& map : known_maps(shown)) {
    exporter.add(launch + "pixels", {{"map", map.name}});
    for (const Parameters& answer : wanted.answers) {
      if (map.of_settings) {
        exporter.add(launch + "pixels", with({{"map", map.name}}, answer));
      }
    }
  }
  exporter.add(launch + "ranking");
  exporter.add(launch + "whatif");
  for (const Parameters& answer : wanted.answers) {
    exporter.add(launch + "whatif", answer);
    exporter.add(launch + "ranking", answer);
  }
  for (const std::uint64_t thread : wanted.threads) {
    exporter.add(fmt::format("{}thread/{}", launch, thread));
    exporter.add(launch + "warp", {{"thread", std::to_string(thread)}});
    if (has_groups) {
      exporter.add(launch + "captured", {{"thread", std::to_string(thread)}});
    }
    for (const Parameters& answer : wanted.answers) {
      exporter.add(launch + "warp", with({{"thread", std::to_string(thread)}}, answer));
    }
  }
  std::vector<ExportedFile> files;
  for (const PageFile& file : page_files()) {
    std::string text(file.text);
    if (file.name == "index.html") {
      constexpr std::string_view kScript = "<script src=\"viewer.js\">";
      const std::size_t at = text.find(kScript);
      text.insert(at, "<script src=\"data.js\"></script>\n");
    }
    files.push_back({std::string(file.name), std::move(text)});
  }
  files.push_back({"data.js", exporter.script()});
  return files;
}

}  // namespace rayreplay::viewer
