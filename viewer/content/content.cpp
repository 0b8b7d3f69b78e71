#include "viewer/content/content.hpp"

#include <charconv>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "sim/engine/stage_settings.hpp"
#include "sim/engine/stages/assignment.hpp"
#include "viewer/content/answers.hpp"

namespace rayreplay::viewer {
namespace {

using Parameters = std::vector<std::pair<std::string, std::string>>;

constexpr int kBad = 400;
constexpr int kUnknown = 404;
constexpr int kBroken = 500;

std::vector<std::string> parts_of(std::string_view path) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t slash = path.find('/');
    parts.emplace_back(path.substr(0, slash));
    if (slash == std::string_view::npos) {
      return parts;
    }
    path.remove_prefix(slash + 1);
  }
}

std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

Answer json_answer(const nlohmann::ordered_json& document) {
  return {200, "application/json", json_text(document)};
}

Answer slice_answer(std::string bytes) {
  return {200, "application/octet-stream", std::move(bytes)};
}

Answer failure(int status, const std::string& text) {
  return {status, "application/json", json_text(nlohmann::ordered_json{{"error", text}})};
}

/// The one parameter that an address has beside keys.
std::string take(Parameters& parameters, const std::string& name) {
  for (auto at = parameters.begin(); at != parameters.end(); ++at) {
    if (at->first == name) {
      std::string value = std::move(at->second);
      parameters.erase(at);
      return value;
    }
  }
  throw Error(ErrorKind::Usage, {"a parameter is missing", name, "", "", ""});
}

void require_none(const Parameters& parameters) {
  if (!parameters.empty()) {
    throw Error(ErrorKind::Usage, {"unknown parameter", parameters.front().first, "", "a key of the page", ""});
  }
}

/// Keys that the page may set: those that say which warps run, and how. Never files.
bool is_of_page(const experiment::ExperimentParameter& parameter) {
  static const experiment::StageMask kStages = experiment::stages_named("assignment, simt");
  return experiment::is_read(parameter, kStages) && !parameter.is_path && parameter.declared.name != "launch";
}

}  // namespace

Content::Content(ContentOptions options, std::shared_ptr<const experiment::InputData> data, Accelerator* accelerator)
    : options_(std::move(options)),
      data_(std::move(data)),
      accelerator_(accelerator),
      evaluator_({.store = nullptr, .memory_bytes = options_.kept_bytes}) {}

experiment::Settings Content::asked_of(const Request& request, std::uint64_t launch, Parameters& rest) const {
  experiment::Settings asked = options_.asked;
  asked.set("launch", static_cast<std::int64_t>(launch), "the page");
  for (const auto& [name, value] : request.parameters) {
    const experiment::ExperimentParameter* parameter = experiment::find_parameter(name);
    if (parameter == nullptr) {
      rest.emplace_back(name, value);
    } else if (is_of_page(*parameter)) {
      asked.set_text(name + "=" + value, "the page");
    } else {
      throw Error(ErrorKind::Usage, {"the page does not set this key", name, "", "", "set it on the command line"});
    }
  }
  return asked;
}

Answer Content::routed(const Request& request) {
  const std::vector<std::string> parts = parts_of(request.path);
  const trace::Trace& all = trace();
  const bool plain = request.parameters.empty();
  if (request.path == "trace" && plain) {
    return json_answer(trace_facts(all, options_.trace_file, options_.asked));
  }
  if (request.path == "keys" && plain) {
    return json_answer(key_facts(options_.asked));
  }
  if (parts.size() == 2 && parts[0] == "geometry" && plain) {
    const auto number = number_of(parts[1]);
    return number ? slice_answer(geometry_slice(all, *number)) : failure(kUnknown, "no such address");
  }
  const auto number = parts.size() >= 3 && parts[0] == "launch" ? number_of(parts[1]) : std::nullopt;
  if (!number) {
    return failure(kUnknown, "no such address");
  }
  const trace::Launch& launch = experiment::launch_of(all, *number, "launch");
  const std::string& what = parts[2];
  Parameters rest;
  const experiment::Settings asked = asked_of(request, *number, rest);
  const experiment::Settings settings = experiment::complete(asked, experiment::NamedInput::Elsewhere);
  if (what == "camera" && parts.size() == 3 && plain) {
    return json_answer(camera_facts(launch));
  }
  if (what == "faces" && parts.size() == 3) {
    const std::string metric = take(rest, "metric");
    require_none(rest);
    return slice_answer(face_slice(all, launch, metric));
  }
  if (what == "thread" && parts.size() == 4 && plain) {
    const auto thread = number_of(parts[3]);
    return thread ? json_answer(thread_facts(all, launch, *thread)) : failure(kUnknown, "no such address");
  }
  if (what == "captured" && parts.size() == 3) {
    const auto thread = number_of(take(rest, "thread"));
    require_none(rest);
    return thread ? json_answer(captured_warp_facts(all, launch, *thread)) : failure(kUnknown, "no such address");
  }
  if ((what != "pixels" && what != "warp" && what != "whatif" && what != "ranking") || parts.size() != 3) {
    return failure(kUnknown, "no such address");
  }
  const experiment::Experiment experiment = experiment::Evaluator::open(settings, data_, options_.trace_file);
  const experiment::Resolved resolved = experiment::resolved_of(settings, all, true);
  experiment::Workbench bench = evaluator_.workbench(accelerator_, nullptr);
  if (what == "pixels") {
    const std::string map = take(rest, "map");
    require_none(rest);
    return slice_answer(pixel_slice(map, bench, experiment, resolved, all));
  }
  if (what == "ranking") {
    require_none(rest);
    return json_answer(ranking_facts(bench, experiment, resolved, all));
  }
  if (what == "whatif") {
    require_none(rest);
    return json_answer(what_if_facts(bench, experiment, options_.trace_file, asked));
  }
  const auto thread = number_of(take(rest, "thread"));
  require_none(rest);
  if (!thread) {
    throw Error(ErrorKind::Usage, {"the thread is not a whole number", "thread", "", "a whole number", ""});
  }
  const auto packed = experiment::assignment(bench, experiment);
  return json_answer(warp_facts(all, launch, resolved, *packed, *thread));
}

Answer Content::answer(const Request& request) {
  const std::scoped_lock lock(mutex_);
  try {
    return routed(request);
  } catch (const Error& error) {
    return failure(error.kind() == ErrorKind::Internal ? kBroken : kBad, format_error(error.info()));
  }
}

}  // namespace rayreplay::viewer
