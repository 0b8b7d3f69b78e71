#include "sim/sweep/workers/written_row.hpp"

#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include "sim/sweep/definition/paths.hpp"

namespace rayreplay::sweep {
namespace {

bool is_part_of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.' || c == '/';
}

/// Replaces `from` with `to` at the start of a name; unless `from` is a folder, the name must also end there.
void replace(std::string& text, const std::string& from, const std::string& to) {
  const bool is_beginning = from.ends_with('/');
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    const std::size_t end = at + from.size();
    const bool begins = at == 0 || !is_part_of_name(text[at - 1]);
    const bool ends = is_beginning || end == text.size() || !is_part_of_name(text[end]);
    if (begins && ends) {
      text.replace(at, from.size(), to);
      at += to.size();
    } else {
      at = end;
    }
  }
}

}  // namespace

void as_written(const Plan& plan, ResultRow& row) {
  const Definition& definition = plan.definition();
  std::vector<std::pair<std::string, std::string>> changed;
  const auto written = [&](const std::string& key, const ParameterValue& value) {
    for (const std::string& path : paths_in(key, value)) {
      if (std::string now = written_path(definition, path); now != path) {
        changed.emplace_back(path, std::move(now));
      }
    }
    return written_value(definition, key, value);
  };
  for (auto& [key, value] : row.axis_values) {
    value = written(key, value);
  }
  const experiment::Settings before = row.settings;
  for (const auto& [key, setting] : before.all()) {
    if (!paths_in(key, setting.value).empty()) {
      row.settings.set(key, written(key, setting.value), setting.where);
    }
  }
  for (const auto& [path, now] : changed) {
    replace(row.outcome.configuration, path, now);
  }
  if (!row.outcome.failure) {
    return;
  }
  ErrorInfo& info = row.outcome.failure->info;
  for (std::string* text : {&info.what, &info.where, &info.found, &info.expected, &info.fix}) {
    for (const auto& [path, now] : changed) {
      replace(*text, path, now);
    }
    // The sweep file, and the experiment file that it starts from.
    if (!definition.folder.empty()) {
      replace(*text, definition.folder + (definition.folder.ends_with('/') ? "" : "/"), "");
    }
  }
}

}  // namespace rayreplay::sweep
