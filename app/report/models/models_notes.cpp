#include "app/report/models/models_notes.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "app/report/context/answers.hpp"
#include "app/report/models/models_table.hpp"
#include "app/report/models/verdict.hpp"
#include "base/count_text.hpp"
#include "base/text.hpp"

namespace rayreplay::report {

using experiment::BreakEvenKind;
using experiment::CompareResult;
using experiment::CompareRow;

std::string model_answer(const CompareResult& result) {
  std::string answer;
  for (std::size_t i = 1; i < result.rows.size(); ++i) {
    const CompareRow& row = result.rows[i];
    if (!(row.speed_up > 0)) {
      continue;
    }
    if (row.verdict.kind != experiment::VerdictKind::NotAsked) {
      answer += answer_line(verdict_sentence(result, row));
      continue;
    }
    const std::string time = time_against(row.speed_up, "plain");
    const std::string pays = to_sentence(row.break_even, result.mean_hit_cost);
    answer += answer_line(fmt::format("{}{} {} on {}{}{}", text::printable(short_spec(row.model)),
                                      row.grouping == scheduler::Grouping::Bound ? ", a bound," : "", time,
                                      text::printable(result.machine.name), pays.empty() ? "" : "; it ", pays));
  }
  return answer;
}

std::string few_warps_note(const CompareResult& result) {
  const CompareRow& plain = result.rows.front();
  double least_of_plain = plain.timing.busy_share;
  std::string models, running;
  const auto add = [&](const CompareRow& row, double share) {
    if (share < experiment::kFewBusy) {
      running +=
          fmt::format("{}{} {:.1f}", running.empty() ? "" : ", ", short_spec(row.model), share * result.resident_warps);
    }
  };
  for (std::size_t i = 1; i < result.rows.size(); ++i) {
    const CompareRow& row = result.rows[i];
    if (!too_few_warps(result, row)) {
      continue;
    }
    models += (models.empty() ? "" : ", ") + short_spec(row.model);
    double least = row.timing.busy_share;
    if (row.break_even.kind != BreakEvenKind::NotAsked) {
      least = std::min(least, row.break_even_busy_share);
      least_of_plain = std::min(least_of_plain, row.break_even_plain_busy_share);
    }
    add(row, least);
  }
  if (models.empty()) {
    return "";
  }
  add(plain, least_of_plain);
  return fmt::format(
      "the launch has few warps for each SM ({:.0f}) of {}: at the present shader cost, or at the one that decides "
      "break-even, an SM runs fewer than half of the {} that it can hold ({}). The speed-up and break-even of {} "
      "hold for a launch of this size; in a larger one, other warps fill these waits",
      static_cast<double>(plain.warps) / result.machine.sms, result.machine.name,
      counted(result.resident_warps, "warp"), running, models);
}

}  // namespace rayreplay::report
