// rayreplay list, rayreplay describe: the registered models and machines, and the keys and metrics of experiments.
#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/commands/command.hpp"
#include "app/commands/options/options.hpp"
#include "app/console/console.hpp"
#include "base/count_text.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/registry.hpp"
#include "sim/machine/machine.hpp"
#include "sim/settings/key_readers.hpp"
#include "sim/settings/metrics.hpp"
#include "sim/settings/parameter_table.hpp"

namespace rayreplay::app {
namespace {

constexpr const char* kMachine = "machine";
// Kinds that are no models: keys and metrics of experiments.
constexpr const char* kKeys = "keys";
constexpr const char* kMetrics = "metrics";

/// A shipped machine as a model for `list` and `describe`: its text is its file, with every figure's source.
ModelDescription describe_machine(const std::string& name) {
  const machine::Machine machine = machine::load_machine(name);
  ModelDescription description;
  description.kind = kMachine;
  description.name = name;
  description.summary = fmt::format(
      "{}{}{}, {:.0f} MHz, {:.0f} GB/s{}", machine.vendor.empty() ? "" : machine.vendor + " ",
      machine.architecture.empty() ? "" : machine.architecture + ": ", counted(machine.sms, "SM"), machine.clock_mhz,
      machine.dram_bytes_per_second / 1e9, machine.reorders ? ", reorders in hardware" : "");
  description.text = machine::shipped_machine_text(name);
  description.source = fmt::format("machines/{}.toml", name);
  return description;
}

/// All models and machines, by kind and name.
const std::vector<ModelDescription>& everything() {
  static const std::vector<ModelDescription> list = [] {
    std::vector<ModelDescription> result = all_models();
    for (const std::string& name : machine::shipped_machines()) {
      result.push_back(describe_machine(name));
    }
    std::stable_sort(result.begin(), result.end(), [](const auto& a, const auto& b) { return a.kind < b.kind; });
    return result;
  }();
  return list;
}

/// "launch order" as one word: "launch-order".
std::string kind_word(const std::string& kind) {
  std::string word = kind;
  std::replace(word.begin(), word.end(), ' ', '-');
  return word;
}

std::vector<std::string> kinds() {
  std::vector<std::string> result;
  for (const ModelDescription& model : everything()) {
    if (std::find(result.begin(), result.end(), kind_word(model.kind)) == result.end()) {
      result.push_back(kind_word(model.kind));
    }
  }
  result.emplace_back(kKeys);
  result.emplace_back(kMetrics);
  return result;
}

[[noreturn]] void unknown(const std::string& what, const std::string& word, const std::vector<std::string>& known) {
  const std::string near = nearest(word, known);
  throw Error(ErrorKind::Usage,
              {"unknown " + what, "", "'" + word + "'", fmt::format("one of {}", fmt::join(known, ", ")),
               near.empty() ? "see rayreplay list" : "did you mean '" + near + "'?"});
}

std::string check_kind(const std::string& given) {
  const std::string word = kind_word(given);
  const std::vector<std::string> known = kinds();
  for (const std::string& kind : known) {
    if (word == kind || word == kind + "s" || word + "s" == kind) {
      return kind;
    }
  }
  unknown("kind of model", given, known);
}

output::Table model_table(const std::string& kind) {
  output::Table table;
  table.columns = {{"kind", "kind"}, {"name", "name"}, {"summary", "summary"}};
  for (const ModelDescription& model : everything()) {
    if (kind.empty() || kind_word(model.kind) == kind) {
      table.rows.push_back({kind_word(model.kind), model.name, model.summary});
    }
  }
  return table;
}

std::string type_name(const ParameterValue& value) {
  constexpr std::array kNames = {"truth value", "whole number", "number", "text"};
  return kNames.at(value.index());
}

std::string range_text(const Parameter& parameter) {
  if (!parameter.choices.empty()) {
    return fmt::format("{}", fmt::join(parameter.choices, ", "));
  }
  if (std::holds_alternative<bool>(parameter.default_value) ||
      std::holds_alternative<std::string>(parameter.default_value)) {
    return "";
  }
  const bool low = std::isfinite(parameter.minimum);
  const bool high = std::isfinite(parameter.maximum);
  if (low && high) {
    return fmt::format("{} to {}", parameter.minimum, parameter.maximum);
  }
  return low    ? fmt::format("at least {}", parameter.minimum)
         : high ? fmt::format("at most {}", parameter.maximum)
                : std::string();
}

output::Table parameter_table(const ModelDescription& model) {
  output::Table table;
  table.columns = {{"name", "parameter"}, {"type", "type"},    {"default", "default"},
                   {"unit", "unit"},      {"range", "values"}, {"text", "meaning"}};
  for (const Parameter& parameter : model.parameters) {
    table.rows.push_back({parameter.name, type_name(parameter.default_value), to_text(parameter.default_value),
                          parameter.unit, range_text(parameter), parameter.text});
  }
  return table;
}

output::Table keys_table() {
  output::Table table;
  table.columns = {{"name", "key"},
                   {"flag", "flag"},
                   {"type", "type"},
                   {"default", "default"},
                   {"unit", "unit"},
                   {"range", "values"},
                   {"text", "meaning"},
                   {"inherits", "as", output::Show::Plain, 0, true},
                   {"read_by", "read by", output::Show::Plain, 0, true}};
  for (const experiment::ExperimentParameter& parameter : experiment::experiment_parameters()) {
    const Parameter& declared = parameter.declared;
    std::string values = range_text(declared);
    if (!parameter.model_kind.empty()) {
      values = kind_word(parameter.model_kind);
    }
    table.rows.push_back({declared.name, parameter.flag, type_name(declared.default_value),
                          to_text(declared.default_value), declared.unit, values, declared.text, parameter.inherits,
                          experiment::readers_of(parameter)});
  }
  return table;
}

output::Table metrics_table() {
  output::Table table;
  table.columns = {{"name", "metric"}, {"output", "output"}, {"unit", "unit"}, {"goal", "better"}, {"text", "meaning"}};
  for (const experiment::Metric& metric : experiment::all_metrics()) {
    const char* const goal = metric.goal == experiment::Goal::More   ? "more"
                             : metric.goal == experiment::Goal::Less ? "less"
                                                                     : "";
    table.rows.push_back({metric.name, metric.output, metric.unit, std::string(goal), metric.text});
  }
  return table;
}

output::Table list_table(const std::string& kind) {
  return kind == kKeys ? keys_table() : kind == kMetrics ? metrics_table() : model_table(kind);
}

/// A key or metric is no model: its own text is the answer.
void refuse_key(const std::string& given) {
  const auto refuse = [&](const char* what, const char* kind, const std::string& text) {
    throw Error(ErrorKind::Usage, {fmt::format("this is {}, not a model", what), "", "'" + given + "': " + text,
                                   "the name of a model or machine",
                                   fmt::format("rayreplay list {} shows all of it, with default and values", kind)});
  };
  for (const experiment::ExperimentParameter& parameter : experiment::experiment_parameters()) {
    if (parameter.declared.name == given || (!parameter.flag.empty() && parameter.flag == given)) {
      refuse("a key", kKeys, parameter.declared.text);
    }
  }
  for (const experiment::Metric& metric : experiment::all_metrics()) {
    if (metric.name == given) {
      refuse("a metric", kMetrics, metric.text);
    }
  }
}

std::vector<ModelDescription> find_models(const std::string& given) {
  const auto slash = given.find('/');
  const std::string kind = slash == std::string::npos ? "" : check_kind(given.substr(0, slash));
  const std::string name = slash == std::string::npos ? given : given.substr(slash + 1);
  std::vector<ModelDescription> found;
  std::vector<std::string> known;
  for (const ModelDescription& model : everything()) {
    if (!kind.empty() && kind_word(model.kind) != kind) {
      continue;
    }
    known.push_back(model.name);
    if (model.name == name) {
      found.push_back(model);
    }
  }
  if (found.empty()) {
    refuse_key(given);
    unknown("model", name, known);
  }
  return found;
}

std::string describe_text(const ModelDescription& model) {
  // A machine is shown as its file, which can be edited and given to --machine.
  if (model.kind == kMachine) {
    return model.text;
  }
  std::string text = fmt::format("{}/{}\n{}\n\n{}\n\n", kind_word(model.kind), model.name, model.summary, model.text);
  text += model.parameters.empty() ? "No parameters.\n" : output::to_text(parameter_table(model));
  return text + fmt::format("\nSource: {}\n", model.source);
}

nlohmann::ordered_json describe_json(const ModelDescription& model) {
  return {{"kind", kind_word(model.kind)}, {"name", model.name},
          {"summary", model.summary},      {"text", model.text},
          {"source", model.source},        {"parameters", to_json(parameter_table(model))}};
}

std::string describe(const std::vector<ModelDescription>& models, output::Format format) {
  std::string text;
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const ModelDescription& model : models) {
    switch (format) {
      case output::Format::Table:
        text += (text.empty() ? "" : "\n") + describe_text(model);
        break;
      case output::Format::Csv:
        text += output::to_csv(parameter_table(model));
        break;
      case output::Format::Json:
        list.push_back(describe_json(model));
        break;
    }
  }
  return format == output::Format::Json ? json_text(list, 2) + "\n" : text;
}

/// "(whole number: 0 to 8, in children; default 0)"
std::string facts(const Parameter& parameter) {
  const std::string range = range_text(parameter);
  const std::string standard = to_text(parameter.default_value);
  return fmt::format("({}{}{}{})", type_name(parameter.default_value), range.empty() ? "" : ": " + range,
                     parameter.unit.empty() ? "" : ", in " + parameter.unit,
                     standard.empty() ? "" : "; default " + standard);
}

/// docs/reference.md is generated from the registrations.
std::string reference() {
  std::string text =
      "# Reference of models\n\nMade by `rayreplay describe --all --markdown`; a test compares the two. A model is "
      "picked as "
      "`name` or\n`name:key=value,key=value`. Keys and metrics of experiments: "
      "[keys.md](keys.md).\n";
  std::string kind;
  for (const ModelDescription& model : everything()) {
    const bool first = model.kind != kind;
    if (first) {
      kind = model.kind;
      text += fmt::format("\n## {}\n", kind_word(kind));
    }
    if (model.kind == kMachine) {
      text += fmt::format("{}- `{}`: {} ({})\n", first ? "\n" : "", model.name, model.summary, model.source);
      continue;
    }
    text += fmt::format("\n### {}\n{}\n\n{}\n\n", model.name, model.summary, model.text);
    for (const Parameter& parameter : model.parameters) {
      text += fmt::format("- `{}` {}: {}\n", parameter.name, facts(parameter), parameter.text);
    }
    text += fmt::format("- Source: {}\n", model.source);
  }
  return text;
}

/// A Markdown table: titles and cells, the first column as code. '|' would end a cell.
std::string markdown(const output::Table& table) {
  std::string head, rule, rows;
  for (const output::Column& column : table.columns) {
    head += fmt::format("| {} ", column.title);
    rule += "| --- ";
  }
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      std::string text = output::cell_text(row[i], table.columns[i]);
      for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) {
        text.insert(at, 1, '\\');
      }
      rows += i == 0 ? fmt::format("| `{}` ", text) : fmt::format("| {} ", text);
    }
    rows += "|\n";
  }
  return head + "|\n" + rule + "|\n" + rows;
}

/// The columns of `keys_table` that people read, with the key that a default comes from in place of a value.
output::Table keys_for_people() {
  const output::Table all = keys_table();
  output::Table table;
  table.columns = {{"name", "key"},     {"flag", "flag"},       {"default", "default"}, {"unit", "unit"},
                   {"range", "values"}, {"read_by", "read by"}, {"text", "meaning"}};
  for (const auto& row : all.rows) {
    const std::string& from = std::get<std::string>(row[7]);
    table.rows.push_back({row[0], row[1], from.empty() || from == kMachine ? row[3] : output::Cell(from), row[4],
                          row[5], row[8], row[6]});
  }
  return table;
}

/// docs/keys.md is generated from the table of keys.
std::string keys_reference() {
  std::string text =
      "# Keys and metrics of experiments\n\nMade by `rayreplay list keys --markdown`; a test compares the two. "
      "[experiments.md](experiments.md) says how keys\nare written and where they come from.\n\n## Keys\n\n"
      "*Flag* is what commands take that read the key ([cli.md](cli.md)); of a truth value it sets the opposite of "
      "the\n"
      "default. *Read by*: [stages](stages.md). A default that is a key's name is that key's value.\n\n";
  text += markdown(keys_for_people());
  text +=
      "\nFlags that set several keys: those of `machine`, whose caches decide latencies and so the schedule, and\n"
      "those of `cache`, the analysed caches:\n\n";
  for (const experiment::Shorthand& shorthand : experiment::shorthands()) {
    text += fmt::format("- `{} {}`: {}\n", shorthand.flag, shorthand.type, shorthand.text);
  }
  text +=
      "\n## Metrics\n\nThe key `outputs` asks for them by the name in the second column. A metric that an experiment "
      "does not have,\nsuch as the hit rate of an L2 that is not there, is left out.\n\n";
  return text + markdown(metrics_table());
}

}  // namespace

void add_list_command(CLI::App& root, Session& session) {
  CLI::App* command = root.add_subcommand("list", "List models and machines: packings, schedulers, ...");
  command->group("Models");
  auto kind = std::make_shared<std::string>();
  auto format = std::make_shared<FormatOption>();
  auto as_document = std::make_shared<bool>(false);
  command->add_option("kind", *kind, "Only models of this kind; keys, metrics: of experiments")->type_name("KIND");
  CLI::Option* document = command->add_flag("--markdown", *as_document, "Of keys: docs/keys.md");
  format->add_to(*command);
  document->excludes("--format");
  command->callback([&session, kind, format, as_document] {
    session.action = [kind, format, as_document] {
      if (*as_document) {
        if (*kind != kKeys) {
          throw Error(ErrorKind::Usage, {"--markdown applies to keys only", "list", "'" + *kind + "'",
                                         "rayreplay list keys", "models: rayreplay describe --all --markdown"});
        }
        console::print(keys_reference());
        return 0;
      }
      const output::Table table = list_table(kind->empty() ? "" : check_kind(*kind));
      console::print(output::render(table, format->format()));
      return 0;
    };
  });
}

void add_describe_command(CLI::App& root, Session& session) {
  CLI::App* command =
      root.add_subcommand("describe", "Describe a model or machine: what it computes, parameters, source");
  command->group("Models");
  auto name = std::make_shared<std::string>();
  auto format = std::make_shared<FormatOption>();
  auto all = std::make_shared<bool>(false);
  auto markdown = std::make_shared<bool>(false);
  CLI::Option* one = command->add_option("name", *name, "NAME or KIND/NAME")->type_name("NAME");
  CLI::Option* every = command->add_flag("--all", *all, "Every model")->excludes(one);
  command->add_flag("--markdown", *markdown, "As the reference document")->needs(every);
  format->add_to(*command);
  command->callback([&session, name, all, markdown, format] {
    session.action = [name, all, markdown, format] {
      if (name->empty() && !*all) {
        throw Error(ErrorKind::Usage,
                    {"a model's name is missing", "describe", "", "NAME, KIND/NAME or --all", "see rayreplay list"});
      }
      console::print(*markdown ? reference() : describe(*all ? everything() : find_models(*name), format->format()));
      return 0;
    };
  });
}

}  // namespace rayreplay::app
