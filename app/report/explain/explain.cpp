#include "app/report/explain/explain.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/report/context/answers.hpp"
#include "app/report/context/experiment_table.hpp"
#include "app/report/context/provenance.hpp"
#include "base/count_text.hpp"
#include "base/text.hpp"

namespace rayreplay::report {
namespace {

using output::Cell;
using output::Show;
using output::Table;
using traversal::KindCounts;
using traversal::kTestKinds;
using traversal::PrimitiveType;
using traversal::RayGoal;
using traversal::sum;
using traversal::TestKind;

double ratio(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::uint64_t unnecessary(const KindCounts& counts) {
  return sum(counts) - counts[static_cast<std::size_t>(TestKind::Necessary)];
}

TestKind kind_at(std::size_t index) {
  return static_cast<TestKind>(index);
}

void add_kind_columns(Table& table) {
  table.columns.push_back({"tests", "tests"});
  table.columns.push_back({"unnecessary", "unnecessary"});
  for (std::size_t kind = 0; kind < kTestKinds; ++kind) {
    table.columns.push_back({to_key(kind_at(kind)), to_string(kind_at(kind))});
  }
}

void add_kind_cells(std::vector<Cell>& row, const KindCounts& counts) {
  row.emplace_back(sum(counts));
  row.emplace_back(unnecessary(counts));
  for (const std::uint64_t count : counts) {
    row.emplace_back(count);
  }
}

/// Indices of the `most` items with the most unnecessary tests; items without any are left out.
template <class CountsOf>
std::vector<std::size_t> worst_of(std::size_t items, std::size_t most, const CountsOf& counts_of) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < items; ++i) {
    if (unnecessary(counts_of(i)) > 0) {
      order.push_back(i);
    }
  }
  const auto worse = [&](std::size_t a, std::size_t b) {
    const std::uint64_t of_a = unnecessary(counts_of(a));
    const std::uint64_t of_b = unnecessary(counts_of(b));
    return of_a != of_b ? of_a > of_b : a < b;
  };
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(most, order.size()));
  std::partial_sort(order.begin(), end, order.end(), worse);
  order.erase(end, order.end());
  return order;
}

std::string geometry_name(const Explanation& explanation, const traversal::ObjectCounts& object) {
  const trace::Scene& scene = explanation.trace.scene;
  const std::uint32_t tlas = explanation.trace.launches[explanation.launch].tlas;
  const std::uint32_t first = scene.tlases.empty() ? 0 : scene.tlases[tlas].first_instance;
  const trace::Blas& blas = scene.blases[scene.instances[first + std::size_t{object.instance}].blas];
  return scene.geometries[blas.first_geometry + std::size_t{object.geometry}].name;
}

void add_counted(std::vector<std::string>& lines, std::uint64_t count, const char* what) {
  if (count > 0) {
    lines.push_back(fmt::format("{} {}", with_separators(count), what));
  }
}

/// Notes on data that was left out or assumed.
std::vector<std::string> remarks(const traversal::Classification& result) {
  std::vector<std::string> lines = explain_warnings(result);
  add_counted(lines, result.replayed_rays, "rays whose closest hit is from the ordered replay");
  add_counted(lines, result.unobserved, "candidates that only the replay met");
  add_counted(lines, result.assumed_rays,
              "rays whose closest hit is a triangle that no shader saw, taken to be accepted");
  add_counted(lines, result.assumed_tests,
              "R1, R3 and \"R2 or R3\" tests of these rays, which depend on that assumption");
  add_counted(lines, result.late_tests,
              "R3 and \"R2 or R3\" tests made when t_max was already before the original box");
  return lines;
}

std::string metric_text(const Explanation& explanation) {
  const traversal::Classification& result = explanation.result;
  if (explanation.simulation != nullptr) {
    return "";
  }
  return fmt::format("any-hit calls beyond the closest hit (ReRay's unnecessary tests): {} of {} ({:.1f} %)\n",
                     with_separators(result.any_hits_beyond), with_separators(result.any_hit_calls),
                     ratio(result.any_hits_beyond, result.any_hit_calls) * 100);
}

std::string truth_text(const traversal::GroundTruth& truth) {
  return fmt::format(
      "wrong: {} of {} ({:.4f} %), {} of them within the slack; \"R2 or R3\": {} ({:.2f} %); joint: {} "
      "({:.2f} %)\n",
      with_separators(truth.wrong()), counted(truth.total(), "test"), ratio(truth.wrong(), truth.total()) * 100,
      with_separators(truth.rounding), with_separators(truth.undecided()),
      ratio(truth.undecided(), truth.total()) * 100, with_separators(truth.joint()),
      ratio(truth.joint(), truth.total()) * 100);
}

nlohmann::ordered_json truth_json(const traversal::GroundTruth& truth) {
  return {{"tests", truth.total()},
          {"wrong", truth.wrong()},
          {"wrong_within_slack", truth.rounding},
          {"wrong_share", ratio(truth.wrong(), truth.total())},
          {"undecided", truth.undecided()},
          {"undecided_share", ratio(truth.undecided(), truth.total())},
          {"joint", truth.joint()},
          {"joint_share", ratio(truth.joint(), truth.total())},
          {"rows", to_json(truth_table(truth))}};
}

}  // namespace

std::vector<std::string> explain_warnings(const traversal::Classification& result) {
  std::vector<std::string> lines;
  add_counted(lines, result.ignored_rays,
              "rays that cannot be traversed: no direction, not finite, or t_min above t_max");
  add_counted(lines, result.inactive_tests, "tests of primitives that take no part in the scene");
  for (const std::string& line : describe(result.ignored)) {
    lines.push_back("ignored: " + line);
  }
  return lines;
}

Table kind_table(const traversal::Classification& result) {
  Table table;
  table.columns = {{"kind", "kind"},
                   {"tests", "tests"},
                   {"share", "share", Show::Percent},
                   {"per_ray", "per ray", Show::Plain, 4},
                   {"closest_hit_procedural", "closest hit: boxes"},
                   {"closest_hit_triangle", "triangles"},
                   {"first_hit_procedural", "first hit: boxes"},
                   {"first_hit_triangle", "triangles"}};
  const std::uint64_t tests = sum(result.total);
  const auto add = [&](const char* name, std::uint64_t count, auto&& part) {
    std::vector<Cell> row{std::string(name), count, ratio(count, tests), ratio(count, result.rays)};
    for (const RayGoal goal : {RayGoal::ClosestHit, RayGoal::FirstHit}) {
      for (const PrimitiveType type : {PrimitiveType::Procedural, PrimitiveType::Triangle}) {
        row.emplace_back(part(result.split[static_cast<std::size_t>(goal)][static_cast<std::size_t>(type)]));
      }
    }
    table.rows.push_back(std::move(row));
  };
  for (std::size_t kind = 0; kind < kTestKinds; ++kind) {
    add(to_string(kind_at(kind)), result.total[kind], [&](const KindCounts& counts) { return counts[kind]; });
  }
  add("all", tests, [](const KindCounts& counts) { return sum(counts); });
  return table;
}

Table object_table(const Explanation& explanation) {
  Table table;
  table.columns = {{"instance", "instance"}, {"geometry", "geometry"}, {"name", "name"}, {"primitive", "primitive"}};
  add_kind_columns(table);
  const auto& objects = explanation.result.by_object;
  const auto counts_of = [&](std::size_t i) -> const KindCounts& { return objects[i].counts; };
  for (const std::size_t place : worst_of(objects.size(), explanation.worst, counts_of)) {
    const traversal::ObjectCounts& object = objects[place];
    table.rows.push_back({std::uint64_t{object.instance}, std::uint64_t{object.geometry},
                          geometry_name(explanation, object), std::uint64_t{object.primitive}});
    add_kind_cells(table.rows.back(), object.counts);
  }
  return table;
}

Table pixel_table(const Explanation& explanation) {
  Table table;
  table.columns = {{"x", "x"}, {"y", "y"}, {"z", "z"}};
  add_kind_columns(table);
  const trace::LaunchSize size = explanation.trace.launches[explanation.launch].size;
  table.columns[2].detail = size.depth == 1;
  const auto& threads = explanation.result.by_thread;
  const auto counts_of = [&](std::size_t i) -> const KindCounts& { return threads[i]; };
  for (const std::size_t thread : worst_of(threads.size(), explanation.worst, counts_of)) {
    const std::uint64_t line = thread / size.width;
    table.rows.push_back(
        {std::uint64_t{thread % size.width}, std::uint64_t{line % size.height}, std::uint64_t{line / size.height}});
    add_kind_cells(table.rows.back(), threads[thread]);
  }
  return table;
}

Table truth_table(const traversal::GroundTruth& truth) {
  Table table;
  table.columns = {{"truth", "truth"}, {"tests", "tests"}};
  for (std::size_t kind = 0; kind < kTestKinds; ++kind) {
    table.columns.push_back({to_key(kind_at(kind)), to_string(kind_at(kind))});
  }
  for (std::size_t cause = 0; cause < traversal::kCauses; ++cause) {
    table.rows.push_back({std::string(to_string(static_cast<traversal::Cause>(cause))), sum(truth.tests[cause])});
    for (const std::uint64_t count : truth.tests[cause]) {
      table.rows.back().emplace_back(count);
    }
  }
  return table;
}

std::string explain_text(const Explanation& explanation) {
  const trace::Launch& launch = explanation.trace.launches[explanation.launch];
  const traversal::Classification& result = explanation.result;
  std::string text = test_answer(kind_table(result));
  text += text.empty() ? "" : "\n";
  const auto line = [&text](std::string_view name, const std::string& value) {
    text += fmt::format("{:<27}{}\n", name, text::printable(value));
  };
  line("trace", fmt::format("{} ({})", explanation.trace_file, explanation.trace.header.application));
  line("launch",
       fmt::format("{}: {}x{}x{}, {}, {} of them tested", explanation.launch, launch.size.width, launch.size.height,
                   launch.size.depth, counted(result.rays, "ray"), with_separators(result.tested_rays)));
  for (const auto& [key, setting] : explanation.configuration.all()) {
    if (key != "launch") {
      line(key, to_text(setting.value));
    }
  }
  for (const std::string& remark : remarks(result)) {
    line("note", remark);
  }
  if (device_summary(explanation.stages) != device_summary({})) {
    line("device", stages_text(explanation.stages));
  }
  text += "\n" + output::to_text(kind_table(result)) + metric_text(explanation);
  if (explanation.ground_truth) {
    text += "\nground truth\n" + output::to_text(truth_table(explanation.simulation->truth)) +
            truth_text(explanation.simulation->truth);
  }
  if (explanation.worst > 0) {
    text += "\nobjects with the most unnecessary tests\n" + output::to_text(object_table(explanation)) +
            "\npixels with the most unnecessary tests\n" + output::to_text(pixel_table(explanation));
  }
  return text;
}

nlohmann::ordered_json explain_json(const Explanation& explanation) {
  const trace::Trace& trace = explanation.trace;
  const trace::Launch& launch = trace.launches[explanation.launch];
  const traversal::Classification& result = explanation.result;
  nlohmann::ordered_json document =
      provenance_json(kExplainSchema, explanation.trace_file, explanation.trace, explanation.stages);
  document.update({{"configuration", settings_json(explanation.configuration)},
                   {"launch",
                    {{"width", launch.size.width},
                     {"height", launch.size.height},
                     {"depth", launch.size.depth},
                     {"rays", result.rays},
                     {"tested_rays", result.tested_rays},
                     {"replayed_rays", result.replayed_rays},
                     {"ignored_rays", result.ignored_rays},
                     {"unobserved", result.unobserved},
                     {"assumed_rays", result.assumed_rays},
                     {"assumed_tests", result.assumed_tests},
                     {"inactive_tests", result.inactive_tests},
                     {"late_tests", result.late_tests},
                     {"notes", remarks(result)}}},
                   {"rows", to_json(kind_table(result))},
                   {"objects", to_json(object_table(explanation))},
                   {"pixels", to_json(pixel_table(explanation))}});
  if (explanation.simulation == nullptr) {
    document["any_hit"] = {{"calls", result.any_hit_calls},
                           {"beyond", result.any_hits_beyond},
                           {"share", ratio(result.any_hits_beyond, result.any_hit_calls)}};
  }
  if (explanation.ground_truth) {
    document["ground_truth"] = truth_json(explanation.simulation->truth);
  }
  return document;
}

Table explain_rows(const Explanation& explanation) {
  Table table = kind_table(explanation.result);
  NamedCells cells = provenance_cells(explanation.trace, explanation.stages);
  for (const auto& [key, setting] : explanation.configuration.all()) {
    cells.emplace_back(key, to_text(setting.value));
  }
  return with_cells(std::move(table), cells);
}

}  // namespace rayreplay::report
