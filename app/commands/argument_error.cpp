#include "app/commands/argument_error.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/list_items.hpp"
#include "base/parameters.hpp"

namespace rayreplay::app {
namespace {

/// The subcommands in the arguments, from the root to the deepest.
std::vector<const CLI::App*> chosen_path(const CLI::App& root) {
  std::vector<const CLI::App*> path = {&root};
  for (auto parsed = root.get_subcommands(); !parsed.empty(); parsed = path.back()->get_subcommands()) {
    path.push_back(parsed.front());
  }
  return path;
}

/// From the deepest to the root: commands that may own an option.
std::vector<const CLI::App*> with_options(const CLI::App& root) {
  std::vector<const CLI::App*> path = chosen_path(root);
  std::ranges::reverse(path);
  return path;
}

/// "results best"; "" for the root.
std::string path_name(const std::vector<const CLI::App*>& path) {
  std::vector<std::string> names;
  for (std::size_t i = 1; i < path.size(); ++i) {
    names.push_back(path[i]->get_name());
  }
  return fmt::format("{}", fmt::join(names, " "));
}

std::vector<std::string> option_names(const CLI::App& root) {
  std::vector<std::string> names;
  for (const CLI::App* app : with_options(root)) {
    for (const CLI::Option* option : app->get_options()) {
      for (const std::string& name : option->get_lnames()) {
        names.push_back("--" + name);
      }
    }
  }
  return names;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

/// CLI11 reports an unknown argument, but not the nearest known one.
ErrorInfo unknown_argument(const CLI::App& root, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  const bool is_option = word.starts_with("-");
  const std::vector<const CLI::App*> path = chosen_path(root);
  const std::string where = path_name(path);
  const std::vector<std::string> commands = command_names(*path.back());
  const bool is_command = !is_option && !commands.empty();
  const std::string near = nearest(name, is_option ? option_names(root) : commands);
  std::string fix;
  if ((is_option || is_command) && !near.empty()) {
    fix = "did you mean '" + near + "'?";
  } else {
    fix = fmt::format("see rayreplay {}{}--help", where, where.empty() ? "" : " ");
  }
  const bool nested = is_command && path.size() > 1;
  return {is_option    ? "unknown option"
          : nested     ? "unknown subcommand"
          : is_command ? "unknown command"
                       : "unexpected argument",
          where, "'" + word + "'", nested ? fmt::format("one of {}", fmt::join(commands, ", ")) : "", fix};
}

/// The option whose name stands before `after` at the start of a message; null: none.
const CLI::Option* option_before(const CLI::App& root, std::string_view message, std::string_view after) {
  for (const CLI::App* app : with_options(root)) {
    for (const CLI::Option* option : app->get_options()) {
      if (message.starts_with(option->get_name() + std::string(after))) {
        return option;
      }
    }
  }
  return nullptr;
}

/// "--launch", or "the argument trace".
std::string name_of(const CLI::Option& option) {
  return option.get_positional() ? "the argument " + option.get_name() : option.get_name();
}

ErrorInfo not_convertible(const CLI::App& root, const std::string& message) {
  constexpr std::string_view kStart = "Could not convert: ";
  const std::string rest = message.substr(std::min(message.size(), kStart.size()));
  const CLI::Option* option = option_before(root, rest, " = ");
  if (option == nullptr) {
    return {message, "", "", "", ""};
  }
  const std::string value = rest.substr(option->get_name().size() + std::string_view(" = ").size());
  const bool too_large = !value.empty() && value.find_first_not_of("0123456789") == std::string::npos;
  return {too_large ? "the value is too large" : "the value is not a whole number", option->get_name(),
          "'" + value + "'",
          too_large ? fmt::format("at most {}", std::numeric_limits<std::uint32_t>::max())
                    : std::string("a whole number of at least 0"),
          ""};
}

std::optional<double> number_in(const std::string& text) {
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && stop == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// "0.000000" as "0"; no text for the greatest number of a type.
std::string end_of_range(const std::string& text) {
  constexpr double kHuge = 1e300;
  const std::optional<double> value = number_in(text);
  return !value ? text : *value >= kHuge ? std::string() : fmt::format("{:.16g}", *value);
}

/// "V not in {a,b}", "Value V not in range A to B" (CLI11 from 2.4: "[A - B]"), or a sentence of a check of our own.
ErrorInfo not_allowed(const CLI::Option& option, const std::string& said) {
  constexpr std::string_view kSet = " not in {", kRange = " not in range ", kValue = "Value ";
  if (const auto set = said.find(kSet); set != std::string::npos) {
    const std::string list = said.substr(set + kSet.size(), said.rfind('}') - set - kSet.size());
    const std::string value = said.substr(0, set);
    const std::vector<std::string> known = list_items(list, ',');
    const std::string near = nearest(value, known);
    return {"the value is not allowed", name_of(option), "'" + value + "'",
            fmt::format("one of {}", fmt::join(known, ", ")), near.empty() ? "" : "did you mean '" + near + "'?"};
  }
  if (const auto range = said.find(kRange); range != std::string::npos && said.starts_with(kValue)) {
    std::string ends = said.substr(range + kRange.size());
    std::string_view between = " to ";
    if (ends.starts_with('[') && ends.ends_with(']')) {
      ends = ends.substr(1, ends.size() - 2);
      between = " - ";
    }
    const auto to = ends.find(between);
    if (to != std::string::npos) {
      const std::string low = end_of_range(ends.substr(0, to));
      const std::string high = end_of_range(ends.substr(to + between.size()));
      const std::string value = said.substr(kValue.size(), range - kValue.size());
      const bool is_number = number_in(value).has_value();
      return {is_number ? "the value is out of range" : "the value is not a number", name_of(option),
              is_number ? value : "'" + value + "'", high.empty() ? "at least " + low : low + " to " + high, ""};
    }
  }
  return {said, name_of(option), "", "", ""};
}

/// An option that is there too often, or without its value.
ErrorInfo wrong_number_of_values(const CLI::App& root, const std::string& message) {
  if (const CLI::Option* option = option_before(root, message, ": At Most ")) {
    const std::string received = message.substr(message.rfind(' ') + 1);
    return {"there are too many values", name_of(*option), received + " values", "one", "give it once"};
  }
  if (const CLI::Option* option = option_before(root, message, ": ")) {
    return {"the value is missing", name_of(*option), "",
            fmt::format("{} {}", option->get_name(), option->get_type_name()), ""};
  }
  if (const CLI::Option* option = option_before(root, message, " was given")) {
    return {"the option takes no value", name_of(*option), "", "", "leave out what follows the '='"};
  }
  return {message, "", "", "", ""};
}

/// "A excludes B", "A requires B".
std::optional<std::pair<std::string, std::string>> pair_in(const std::string& message, std::string_view verb) {
  const auto at = message.find(verb);
  return at == std::string::npos ? std::nullopt
                                 : std::optional(std::pair(message.substr(0, at), message.substr(at + verb.size())));
}

}  // namespace

ErrorInfo argument_error(const CLI::App& root, const CLI::ParseError& error) {
  for (const std::string& word : root.remaining(true)) {
    if (word != "--") {
      return unknown_argument(root, word);
    }
  }
  const std::string message = error.what();
  if (root.get_subcommands().empty() && dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    return {"a command is needed", "", "", "", "see rayreplay --help"};
  }
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) {
    return not_convertible(root, message);
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    return wrong_number_of_values(root, message);
  }
  if (dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr) {
    if (const auto two = pair_in(message, " excludes ")) {
      return {"two options do not go together", two->first + " and " + two->second, "", "one of the two",
              "leave one out"};
    }
  }
  if (dynamic_cast<const CLI::RequiresError*>(&error) != nullptr) {
    if (const auto two = pair_in(message, " requires ")) {
      return {"the option has nothing to act on", two->first, "", two->second + " beside it", "add " + two->second};
    }
  }
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    if (const CLI::Option* option = option_before(root, message, " is required")) {
      const std::string path = path_name(chosen_path(root));
      return {option->get_positional() ? "an argument is missing" : "an option is missing", path, "",
              fmt::format("{}: {}", option->get_name(), option->get_description()),
              fmt::format("see rayreplay {} --help", path)};
    }
  }
  if (const CLI::Option* option = option_before(root, message, ": ")) {
    return not_allowed(*option, message.substr(option->get_name().size() + 2));
  }
  return {message, "", "", "", ""};
}

void require_values(const CLI::App& root) {
  for (const CLI::App* app : with_options(root)) {
    for (const CLI::Option* option : app->get_options()) {
      const bool takes_one =
          !option->get_positional() && option->get_expected_min() > 0 && option->get_items_expected() > 0;
      if (takes_one && std::ranges::find(option->results(), "") != option->results().end()) {
        throw Error(ErrorKind::Usage, {"the value is empty", name_of(*option), "''",
                                       fmt::format("{} {}", option->get_name(), option->get_type_name()),
                                       "give a value, or leave the option out"});
      }
    }
  }
}

}  // namespace rayreplay::app
