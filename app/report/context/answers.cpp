#include "app/report/context/answers.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"

namespace rayreplay::report {
namespace {

using output::Cell;
using output::Table;
using Row = std::vector<Cell>;

std::size_t column_of(const Table& table, std::string_view key) {
  const auto column = std::ranges::find(table.columns, key, &output::Column::key);
  if (column == table.columns.end()) {
    throw std::logic_error(fmt::format("the table has no column '{}'", key));
  }
  return static_cast<std::size_t>(column - table.columns.begin());
}

/// A number of a row; 0 where the cell is empty.
double number(const Table& table, const Row& row, std::string_view key) {
  const Cell& cell = row[column_of(table, key)];
  if (const auto* whole = std::get_if<std::uint64_t>(&cell)) {
    return static_cast<double>(*whole);
  }
  const auto* real = std::get_if<double>(&cell);
  return real != nullptr ? *real : 0;
}

bool is_known(const Table& table, const Row& row, std::string_view key) {
  return !std::holds_alternative<std::monostate>(row[column_of(table, key)]);
}

/// A cell in the text form of the table.
std::string shown(const Table& table, const Row& row, std::string_view key) {
  const std::size_t column = column_of(table, key);
  return text::printable(output::cell_text(row[column], table.columns[column]));
}

std::string percent(double share) {
  return fmt::format("{:.1f} %", share * 100);
}

}  // namespace

std::string answer_line(const std::string& sentence) {
  return fmt::format("{:<9}{}\n", "answer", sentence);
}

std::string packing_answer(const Table& packings) {
  // The first row is identity, the last one the bound.
  if (packings.rows.size() < 2 || number(packings, packings.rows.front(), "warp_events") == 0) {
    return "";
  }
  const Row& identity = packings.rows.front();
  const Row& bound = packings.rows.back();
  const auto best =
      std::max_element(packings.rows.begin(), packings.rows.end() - 1, [&packings](const Row& a, const Row& b) {
        return number(packings, a, "efficiency") < number(packings, b, "efficiency");
      });
  const std::string end = fmt::format("; no packing can exceed {}", shown(packings, bound, "efficiency"));
  if (best == packings.rows.begin()) {
    return answer_line(fmt::format("no packing of these improves the SIMT efficiency, {}{}",
                                   shown(packings, identity, "efficiency"), end));
  }
  return answer_line(fmt::format("{} packs best: SIMT efficiency {} instead of {} ({}){}",
                                 shown(packings, *best, "packing"), shown(packings, *best, "efficiency"),
                                 shown(packings, identity, "efficiency"), shown(packings, *best, "change"), end));
}

namespace {

/// A class of misses in the words of an answer, and its remedy.
struct MissWords {
  std::string_view key, name, remedy;
};
constexpr std::array<MissWords, 5> kMissWords = {
    {{"cold", "first accesses", "only fewer or more compact data help"},
     {"stored_only", "stored only", "a cache that keeps what is stored helps"},
     {"new_sectors", "new sectors", "larger sectors or prefetching help"},
     {"capacity", "capacity", "a larger cache helps"},
     {"conflict", "conflict", "more ways help"}}};
/// Where full associativity loses at least as many hits as it gains.
constexpr std::string_view kNoWays = "more ways do not help: the cache hits as often as a fully associative LRU one";
constexpr double kShownShare = 0.0005;  ///< smaller shares would read 0.0 %

/// "; of the misses 60.0 % are capacity (a larger cache helps), 40.0 % conflict (more ways help)": the largest first.
/// No remedy states how much it avoids: that of one class changes the others.
std::string miss_text(const Table& levels, const Row& row, double misses) {
  std::array<MissWords, 5> classes = kMissWords;
  if (number(levels, row, "beyond") >= number(levels, row, "conflict")) {
    classes.back().remedy = kNoWays;
  }
  std::ranges::stable_sort(classes, std::greater(), [&](const MissWords& one) { return number(levels, row, one.key); });
  std::string text;
  for (const MissWords& one : classes) {
    const double share = number(levels, row, one.key) / misses;
    if (share >= kShownShare) {
      text += fmt::format("{}{}{} {} ({})", text.empty() ? "; of the misses " : ", ", percent(share),
                          text.empty() ? " are" : "", one.name, one.remedy);
    }
  }
  return text;
}

}  // namespace

std::string cache_answer(const Table& levels) {
  std::string answer;
  for (const Row& row : levels.rows) {
    if (shown(levels, row, "kind") != "all" || number(levels, row, "accesses") == 0) {
      continue;
    }
    std::string sentence = fmt::format("{}: {} of the accesses hit", shown(levels, row, "level"),
                                       percent(number(levels, row, "hit_rate")));
    const double misses = number(levels, row, "misses");
    if (misses > 0 && is_known(levels, row, "capacity")) {
      sentence += miss_text(levels, row, misses);
    }
    answer += answer_line(sentence);
  }
  return answer;
}

std::string test_answer(const Table& kinds) {
  // The first row is necessary, the last one the sum.
  if (kinds.rows.size() < 3 || number(kinds, kinds.rows.back(), "tests") == 0) {
    return "";
  }
  const std::string sentence =
      fmt::format("{} of {} intersection tests were necessary", percent(number(kinds, kinds.rows.front(), "share")),
                  shown(kinds, kinds.rows.back(), "tests"));
  const auto worst = std::max_element(
      kinds.rows.begin() + 1, kinds.rows.end() - 1,
      [&kinds](const Row& a, const Row& b) { return number(kinds, a, "tests") < number(kinds, b, "tests"); });
  if (number(kinds, *worst, "tests") == 0) {
    return answer_line(sentence);
  }
  return answer_line(fmt::format("{}; the most frequent cause of the others: {}, {} of all", sentence,
                                 shown(kinds, *worst, kinds.columns.front().key),
                                 percent(number(kinds, *worst, "share"))));
}

}  // namespace rayreplay::report
