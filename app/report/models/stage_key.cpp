#include "app/report/models/stage_key.hpp"

#include <cctype>

namespace rayreplay::report {

std::string stage_key(trace::EventKind kind) {
  std::string key;
  for (const char c : std::string(trace::to_string(kind))) {
    if (std::isupper(static_cast<unsigned char>(c)) != 0) {
      key += key.empty() ? "" : "_";
      key += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else {
      key += c;
    }
  }
  return key;
}

}  // namespace rayreplay::report
