#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "app/commands/command.hpp"
#include "app/commands/options/options.hpp"
#include "app/console/console.hpp"
#include "app/report/charts/svg.hpp"
#include "app/report/sweep/sweep_matrix.hpp"
#include "app/report/sweep/sweep_page.hpp"
#include "app/report/sweep/sweep_plots.hpp"
#include "app/report/sweep/sweep_table.hpp"
#include "base/count_text.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "sim/settings/settings.hpp"

namespace rayreplay::app {
namespace {

struct ResultsArguments {
  std::string file;
  std::string query;
  std::string where;
  std::vector<std::string> columns;
  bool errors = false;
  std::optional<std::uint64_t> config;
  std::string format = "table";
  OutputOption output;
  // of subcommands
  std::string best_metric;
  bool less = false, more = false;
  std::size_t most = 10;
  std::vector<std::string> goals;
  std::vector<std::string> metrics;
  std::uint64_t run_a = 0, run_b = 0;
  std::vector<std::string> plot;
  std::string by;
  std::string metric;
  bool times = false;
};

const std::vector<std::string>& formats() {
  static const std::vector<std::string> names = {"table", "json", "csv", "jsonl"};
  return names;
}

void check_format(const std::string& name) {
  if (std::ranges::find(formats(), name) == formats().end()) {
    const std::string near = nearest(name, formats());
    throw Error(ErrorKind::Usage, {"unknown output format", "--format", "'" + name + "'",
                                   fmt::format("one of {}", fmt::join(formats(), ", ")),
                                   near.empty() ? "" : "did you mean '" + near + "'?"});
  }
}

[[noreturn]] void usage(const std::string& what, const std::string& where, const std::string& expected) {
  throw Error(ErrorKind::Usage, {what, where, "", expected, ""});
}

struct Asked {
  std::vector<std::string> metrics;
  bool unchanging = true;
};

/// `asked`: columns that a table must show; empty: it shows all.
std::string render_rows(const sweep::ResultsReader& reader, const sweep::ResultSet& rows, const std::string& format,
                        const std::optional<Asked>& asked = {}) {
  if (format == "json") {
    return report::results_json(reader, rows);
  }
  output::Table table = report::to_table(rows);
  if (format == "table" && asked) {
    if (const std::size_t hidden = report::mark_details(table, rows, asked->metrics, asked->unchanging); hidden > 0) {
      console::note("{}: --columns A,B, or --format json, csv or jsonl", counted(hidden, "more metric"));
    }
  }
  return format == "csv"     ? output::to_csv(table)
         : format == "jsonl" ? report::to_jsonl(table)
                             : output::to_text(report::printable(table));
}

/// The columns of --columns; without --columns all, of which the text form omits details.
std::string render_chosen(const sweep::ResultsReader& reader, const sweep::ResultSet& rows,
                          const ResultsArguments& options, const Asked& asked) {
  return options.columns.empty()
             ? render_rows(reader, rows, options.format, asked)
             : render_rows(reader, report::with_columns(reader, rows, options.columns), options.format);
}

std::string render_table(const output::Table& table, const std::string& format) {
  if (format == "jsonl") {
    return report::to_jsonl(table);
  }
  return format == "table" ? output::to_text(report::printable(table))
                           : output::render(table, output::parse_format(format));
}

/// The file name extension in lower case.
std::string ending(const std::string& path) {
  const auto dot = path.rfind('.');
  std::string result = dot == std::string::npos ? "" : path.substr(dot);
  std::ranges::transform(result, result.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return result;
}

pictures::Chart chart_of(const sweep::ResultsReader& reader, const ResultsArguments& options) {
  const std::vector<std::string>& words = options.plot;
  const std::string& kind = words.front();
  const auto require_names = [&](std::size_t count, const char* names) {
    if (words.size() != count + 1) {
      usage("a plot of this kind needs other names", "plot " + kind, names);
    }
  };
  if (kind == "heatmap") {
    require_names(3, "X Y METRIC");
    return report::heat_map_plot(reader, words[1], words[2], words[3], options.where);
  }
  if (kind == "lines") {
    require_names(2, "X METRIC");
    return report::line_plot(reader, words[1], words[2], options.by, options.where);
  }
  if (kind == "pareto") {
    require_names(2, "X Y");
    return report::pareto_plot(reader, report::parse_metric(reader, words[1]), report::parse_metric(reader, words[2]),
                               options.where);
  }
  const std::string near = nearest(kind, {"heatmap", "lines", "pareto"});
  throw Error(ErrorKind::Usage, {"unknown plot", "plot", "'" + kind + "'", "one of heatmap, lines, pareto",
                                 near.empty() ? "" : "did you mean '" + near + "'?"});
}

std::string draw(const sweep::ResultsReader& reader, const ResultsArguments& options) {
  const pictures::Chart chart = chart_of(reader, options);
  return ending(options.output.path) == ".png" ? pictures::encode_png(pictures::render(chart))
                                               : report::svg_file(chart);
}

/// The sweep's main metric.
std::vector<std::string> objective(const sweep::ResultsReader& reader) {
  const std::string& text = reader.about().objective;  // "more l1_hit_rate"
  const auto space = text.find(' ');
  return space == std::string::npos ? std::vector<std::string>{} : std::vector{text.substr(space + 1)};
}

/// The configuration with absolute paths; comments at its top give the inputs it was resolved against.
std::string with_whole_paths(const std::string& text, const std::string& folder, const std::string& source) {
  if (folder.empty() || text.empty()) {
    return text;
  }
  std::size_t head = 0;
  while (head < text.size() && text[head] == '#') {
    head = std::min(text.find('\n', head), text.size() - 1) + 1;
  }
  return text.substr(0, head) + experiment::to_toml(experiment::parse_experiment(text, source, folder), false);
}

std::string list_rows(const sweep::ResultsReader& reader, const ResultsArguments& options) {
  if (!options.query.empty()) {
    return render_rows(reader, reader.query(options.query), options.format);
  }
  if (options.config) {
    return text::printable_lines(
        with_whole_paths(reader.configuration(*options.config), reader.about().folder, options.file));
  }
  std::string where = options.where;
  std::vector<std::string> names = options.columns;
  if (options.errors) {
    where = where.empty() ? "status <> 'ok'" : "status <> 'ok' AND (" + where + ")";
    if (names.empty()) {
      names = {"run"};
      for (const sweep::ResultColumn& column : reader.columns()) {
        if (column.role == sweep::Role::Axis) {
          names.push_back(column.name);
        }
      }
      names.emplace_back("error");
    }
  }
  if (!names.empty()) {
    return render_rows(reader, reader.select(names, where), options.format);
  }
  return render_rows(reader, reader.select(report::default_columns(reader), where), options.format,
                     Asked{objective(reader), false});
}

std::string sensitivity_text(const sweep::ResultsReader& reader, const ResultsArguments& options) {
  const auto all = report::sensitivities(reader, options.metrics, options.where);
  for (const report::MetricSensitivity& one : all) {
    for (const std::string& note : one.result.notes) {
      console::note("{}: {}", one.metric, note);
    }
    if (!one.result.pairs.empty() && one.result.pairs.front().share >= 0.01) {
      const sweep::PairIndex& pair = one.result.pairs.front();
      console::note("{}: {} and {} together explain {:.1f} % beyond what each does", one.metric,
                    one.result.parameters[pair.a].name, one.result.parameters[pair.b].name, pair.share * 100);
    }
  }
  return render_table(report::sensitivity_table(all), options.format);
}

std::string answer(const CLI::App& command, const ResultsArguments& options) {
  // The reader closes before anything is printed, because a writer waits for it.
  const sweep::ResultsReader reader(options.file);
  if (!reader.has_checksums()) {
    console::note(
        "{} is of an older format, whose rows have no checksums: damaged values "
        "are not found",
        options.file);
  }
  if (command.got_subcommand("best")) {
    report::MetricGoal goal;
    if (options.less || options.more) {
      goal = {reader.column(options.best_metric, "best").name,
              options.less ? experiment::Goal::Less : experiment::Goal::More};
    } else {
      goal = report::parse_metric(reader, options.best_metric);
    }
    return render_chosen(reader, report::best_rows(reader, goal, options.most, options.where), options,
                         {{goal.metric}});
  }
  if (command.got_subcommand("pareto")) {
    std::vector<report::MetricGoal> goals;
    std::vector<std::string> names;
    for (const std::string& text : options.goals) {
      goals.push_back(report::parse_metric(reader, text));
      names.push_back(goals.back().metric);
    }
    return render_chosen(reader, report::front_rows(reader, goals, options.where), options, {names});
  }
  if (command.got_subcommand("sensitivity")) {
    return sensitivity_text(reader, options);
  }
  if (command.got_subcommand("compare")) {
    return render_table(report::comparison_table(sweep::compare_runs(reader, options.run_a, options.run_b),
                                                 options.run_a, options.run_b),
                        options.format);
  }
  if (command.got_subcommand("plot")) {
    return draw(reader, options);
  }
  if (command.got_subcommand("report")) {
    return report::sweep_page(reader, options.metric, options.where);
  }
  if (command.got_subcommand("export")) {
    const sweep::ResultSet rows = reader.select(
        options.columns.empty() ? report::export_columns(reader, options.times) : options.columns, options.where);
    const std::string end = ending(options.output.path);
    return render_rows(reader, rows, end == ".json" || end == ".jsonl" ? end.substr(1) : "csv");
  }
  return list_rows(reader, options);
}

/// Subcommands with columns of their own.
void refuse_columns(const CLI::App& command, const ResultsArguments& options) {
  std::string where = !options.query.empty() ? "--query" : options.config ? "--config" : "";
  for (const char* question : {"sensitivity", "compare", "plot", "report"}) {
    if (command.got_subcommand(question)) {
      where = question;
    }
  }
  if (!where.empty() && !options.columns.empty()) {
    throw Error(ErrorKind::Usage, {"this subcommand has fixed columns", "--columns", where,
                                   "rows, best, pareto or export", "leave --columns out"});
  }
}

int act(const CLI::App& command, const ResultsArguments& options) {
  check_format(options.format);
  refuse_columns(command, options);
  if (options.less && options.more) {
    usage("less and more exclude each other", "best", "--less or --more");
  }
  if (command.got_subcommand("pareto") && options.goals.size() < 2) {
    usage("a front needs several goals", "pareto", "two metrics or more");
  }
  const bool plots = command.got_subcommand("plot");
  if (plots || command.got_subcommand("report") || command.got_subcommand("export")) {
    if (options.output.path == "-" && plots) {
      usage("a picture needs a file", "plot", "-o FILE.svg or -o FILE.png");
    }
    const std::string end = ending(options.output.path);
    if (plots && end != ".svg" && end != ".png") {
      usage("the kind of picture is not known", options.output.path, "a name that ends in .svg or .png");
    }
    if (command.got_subcommand("export") && options.output.path != "-" && end != ".csv" && end != ".jsonl" &&
        end != ".json") {
      usage("the kind of export is not known", options.output.path, "a name that ends in .csv, .jsonl or .json");
    }
  }
  require_distinct({{"--output", options.output.path}}, {{"the database", options.file}});
  options.output.check();
  options.output.write(answer(command, options));
  return 0;
}

void add_subcommands(CLI::App& command, ResultsArguments& options) {
  constexpr const char* kGroup = "Questions";
  CLI::App* best = command.add_subcommand("best", "The best configurations by a metric")->group(kGroup);
  best->add_option("metric", options.best_metric, "Metric or parameter")->type_name("METRIC")->required();
  best->add_flag("--less", options.less, "Less is better");
  best->add_flag("--more", options.more, "More is better");
  best->add_option("-n,--most", options.most, "Rows at most")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(1.0, std::numeric_limits<double>::max(), ""));
  CLI::App* pareto =
      command.add_subcommand("pareto", "Configurations that no other beats in all metrics")->group(kGroup);
  pareto->add_option("metrics", options.goals, "Two metrics or more; less:NAME or more:NAME says what is better")
      ->type_name("METRIC")
      ->required();
  command.add_subcommand("sensitivity", "Which parameter moves which metric (Sobol indices)")
      ->group(kGroup)
      ->add_option("metrics", options.metrics, "Metrics; none: all")
      ->type_name("METRIC");
  CLI::App* compare = command.add_subcommand("compare", "Two configurations side by side")->group(kGroup);
  compare->add_option("a", options.run_a, "Number of a run")->type_name("RUN")->required();
  compare->add_option("b", options.run_b, "Number of a run")->type_name("RUN")->required();
  CLI::App* plot =
      command.add_subcommand("plot", "A picture: heatmap X Y METRIC, lines X METRIC, pareto X Y")->group(kGroup);
  plot->add_option("what", options.plot, "heatmap X Y METRIC; lines X METRIC; pareto X Y")
      ->type_name("KIND NAMES")
      ->required()
      ->expected(1, 4);
  plot->add_option("--by", options.by, "lines: one line for each value of this parameter")->type_name("NAME");
  command.add_subcommand("report", "One HTML page about the sweep")
      ->group(kGroup)
      ->add_option("--metric", options.metric, "Main metric of the page [the sweep's objective]")
      ->type_name("METRIC");
  command.add_subcommand("export", "All columns as CSV, JSON Lines or JSON")
      ->group(kGroup)
      ->add_flag("--times", options.times, "Also device, host, start and seconds, which differ from run to run");
  for (CLI::App* one : command.get_subcommands([](const CLI::App*) { return true; })) {
    one->fallthrough();
  }
}

}  // namespace

void add_results_command(CLI::App& root, Session& session) {
  CLI::App* command = root.add_subcommand("results", "Results of a sweep: rows, best, front, sensitivity, pictures");
  command->group("Experiments");
  auto options = std::make_shared<ResultsArguments>();
  command->add_option("file", options->file, "Database that rayreplay sweep wrote")->type_name("FILE")->required();
  command->add_option("--where", options->where, "Only rows for which this holds: cache.l1.bytes >= 65536")
      ->type_name("EXPR");
  command->add_option("--columns", options->columns, "Columns to print, between commas")
      ->delimiter(',')
      ->type_name("A,B");
  CLI::Option* query =
      command->add_option("--query", options->query, "One SELECT over runs, columns, about, inputs")->type_name("SQL");
  command->add_flag("--errors", options->errors, "Only configurations that failed, with their errors")->excludes(query);
  command->add_option("--config", options->config, "Print the complete configuration (TOML) of one run")
      ->type_name("RUN")
      ->excludes(query);
  command->add_option("--format", options->format, "table, json, csv or jsonl")
      ->type_name("FORMAT")
      ->capture_default_str();
  options->output.add_to(*command, "Where to write the result; - is standard output");
  add_subcommands(*command, *options);
  command->require_subcommand(0, 1);
  command->callback(
      [&session, command, options] { session.action = [command, options] { return act(*command, *options); }; });
}

}  // namespace rayreplay::app
