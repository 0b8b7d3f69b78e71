// [shader_costs]: costs by hand.
#include <fmt/format.h>

#include "base/error.hpp"
#include "base/parameters.hpp"
#include "base/toml.hpp"
#include "sim/machine/cost_sources.hpp"
#include "sim/machine/costs.hpp"
#include "sim/machine/toml_table.hpp"

namespace rayreplay::machine {
namespace {

constexpr const char* kTable = "shader_costs";
constexpr double kMaxExecutions = 1e15;

/// issue = Σ instructions · executions / calls.
double issue_of_blocks(const TomlTable& cost, const toml::node& blocks, const std::string& source) {
  const toml::array* rows = blocks.as_array();
  const toml::node* calls_node = cost.table().get("calls");
  if (rows == nullptr) {
    cost.wrong(blocks, "blocks", "a list of {instructions, executions}");
  }
  if (calls_node == nullptr) {
    throw Error(ErrorKind::Usage, {"'blocks' needs 'calls'", cost.place(blocks), "no 'calls'",
                                   "how often the shader was called while the blocks were counted", ""});
  }
  const double calls = cost.number(*calls_node, "calls", {1, kMaxExecutions});
  double sum = 0;
  for (const toml::node& row : *rows) {
    const toml::table* block = row.as_table();
    if (block == nullptr) {
      cost.wrong(row, "blocks", "{instructions, executions}");
    }
    const TomlTable table(*block, source);
    table.allow({"instructions", "executions"});
    const toml::node* instructions = block->get("instructions");
    const toml::node* executions = block->get("executions");
    if (instructions == nullptr || executions == nullptr) {
      cost.wrong(row, "blocks", "both 'instructions' and 'executions'");
    }
    sum += table.number(*instructions, "instructions", {0, kMaxIssue}) *
           table.number(*executions, "executions", {0, kMaxExecutions});
  }
  const double issue = sum / calls;
  if (issue > kMaxIssue) {
    cost.wrong(blocks, "blocks", fmt::format("at most {} instructions a call", kMaxIssue));
  }
  return issue;
}

HandCost read_cost(const std::string& shader, const toml::node& node, const TomlTable& costs,
                   const std::string& source) {
  HandCost cost;
  cost.shader = shader;
  const toml::table* fields = node.as_table();
  if (fields == nullptr) {
    cost.issue = costs.number(node, shader, {0, kMaxIssue});
    return cost;
  }
  const TomlTable table(*fields, source);
  table.allow({"issue", "latency", "blocks", "calls", "times"});
  table.read("issue", cost.issue, {0, kMaxIssue});
  table.read("times", cost.times, {0, kMaxTimes});
  table.read("latency", cost.latency, {0, kMaxLatency});
  if (const toml::node* blocks = fields->get("blocks")) {
    if (fields->contains("issue")) {
      table.wrong(*blocks, "blocks", "either 'issue' or 'blocks'");
    }
    cost.issue = issue_of_blocks(table, *blocks, source);
  }
  if (cost.times >= 0 && cost.issue >= 0) {
    table.wrong(*fields->get("times"), "times", "either a factor, or the instructions by 'issue' or 'blocks'");
  }
  if (cost.issue < 0 && cost.latency < 0 && cost.times < 0) {
    table.wrong(node, shader, "a table with 'issue', 'latency', 'blocks' or 'times'");
  }
  if (cost.latency >= 0 && cost.latency < cost.issue) {
    table.wrong(*fields->get("latency"), "latency", fmt::format("at least the {} issue slots", cost.issue));
  }
  return cost;
}

}  // namespace

std::vector<HandCost> parse_shader_costs(std::string_view toml, const std::string& source) {
  const toml::table document = parse_toml(toml, source, "costs");
  const TomlTable top(document, source);
  std::vector<HandCost> result;
  for (const auto& [key, value] : document) {
    const std::string name(key.str());
    if (name != kTable && nearest(name, {kTable}) == kTable) {
      throw Error(ErrorKind::Usage, {"unknown key", top.place(value), "'" + name + "'", kTable,
                                     fmt::format("did you mean '{}'?", kTable)});
    }
  }
  const toml::node* node = document.get(kTable);
  if (node == nullptr) {
    return result;
  }
  if (!node->is_table()) {
    top.wrong(*node, kTable, "a table of costs by shader");
  }
  const TomlTable costs(*node->as_table(), source);
  for (const auto& [shader, value] : costs.table()) {
    result.push_back(read_cost(std::string(shader.str()), value, costs, source));
  }
  return result;
}

}  // namespace rayreplay::machine
