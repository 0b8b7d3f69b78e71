#include "base/error.hpp"

#include <utility>

namespace rayreplay {

std::string format_error(const ErrorInfo& info) {
  std::string text;
  if (!info.where.empty()) {
    text += info.where + ": ";
  }
  text += info.what;
  if (!info.found.empty() || !info.expected.empty()) {
    text += " (";
    if (!info.found.empty()) {
      text += "found " + info.found;
    }
    if (!info.expected.empty()) {
      text += std::string(info.found.empty() ? "" : "; ") + "expected " + info.expected;
    }
    text += ")";
  }
  if (!info.fix.empty()) {
    text += ". Fix: " + info.fix;
  }
  return text;
}

void usage(std::string what, std::string where, std::string found, std::string expected, std::string fix) {
  throw Error(ErrorKind::Usage,
              {std::move(what), std::move(where), std::move(found), std::move(expected), std::move(fix)});
}

Error::Error(ErrorKind kind, ErrorInfo info)
    : std::runtime_error(format_error(info)), kind_(kind), info_(std::move(info)) {}

}  // namespace rayreplay
