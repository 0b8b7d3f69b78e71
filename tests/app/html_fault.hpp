// A check that a page is well-formed.
#pragma once

#include <algorithm>
#include <regex>
#include <string>
#include <vector>

namespace rayreplay::test {

/// "", or the first fault: a tag not closed in order, an attribute without quotes, a stray '<'. Also of charts (SVG).
inline std::string html_fault(const std::string& html) {
  static const std::regex tag(R"(<(/?)([a-zA-Z0-9]+)((?:\s+[a-zA-Z0-9-]+(?:="[^"<]*")?)*)\s*(/?)>)");
  const std::vector<std::string> empty_elements = {"meta", "img", "link", "br"};
  std::vector<std::string> open;
  for (std::size_t place = html.find('<'); place != std::string::npos; place = html.find('<', place + 1)) {
    if (html.compare(place, 15, "<!DOCTYPE html>") == 0) {
      continue;
    }
    std::smatch match;
    const std::string rest = html.substr(place, 2000);
    if (!std::regex_search(rest, match, tag, std::regex_constants::match_continuous)) {
      return "no tag: " + rest.substr(0, 60);
    }
    const std::string name = match[2];
    if (match[4].length() != 0 ||
        std::find(empty_elements.begin(), empty_elements.end(), name) != empty_elements.end()) {
      continue;
    }
    if (match[1].length() == 0) {
      open.push_back(name);
    } else if (open.empty() || open.back() != name) {
      return "closed without being open: " + name;
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : "never closed: " + open.back();
}

}  // namespace rayreplay::test
