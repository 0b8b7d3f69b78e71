#include "app/report/calibration/calibration_answer.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "app/report/context/answers.hpp"
#include "app/report/export/table.hpp"
#include "base/count_text.hpp"
#include "base/text.hpp"

namespace rayreplay::report {
namespace {

using calibration::CalibratedKey;
using calibration::Known;
using calibration::Measurement;
using calibration::Use;

constexpr std::size_t kNamed = 5;  // rows or keys in one sentence

std::string percent_text(double share) {
  return output::percent_text(share, 2);
}

/// "1.2 % less than measured".
std::string off_text(double share) {
  return fmt::format("{} {} than measured", output::percent_text(std::abs(share), 1), share < 0 ? "less" : "more");
}

/// "a, b and c"; of many the first, and how many more.
std::string listed(const std::vector<std::string>& items) {
  std::string text;
  const std::size_t shown = items.size() > kNamed ? kNamed : items.size();
  for (std::size_t i = 0; i < shown; ++i) {
    text += (i == 0 ? "" : i + 1 == items.size() ? " and " : ", ") + items[i];
  }
  return shown == items.size() ? text : fmt::format("{} and {} more", text, items.size() - shown);
}

std::string named(const Measurement& one) {
  return text::printable(one.name);
}

std::string error_text(const RowErrors& errors) {
  return errors.after && errors.before
             ? fmt::format("RMS error {} instead of {}", percent_text(*errors.after), percent_text(*errors.before))
             : std::string("errors in the table");
}

std::string values_text(const CalibrationContext& context) {
  std::vector<std::string> values;
  for (const CalibratedKey& one : context.result.keys) {
    values.push_back(one.value == one.key.value
                         ? fmt::format("{} {:.6g} (as before)", one.key.key, one.value)
                         : fmt::format("{} {:.6g} (was {:.6g})", one.key.key, one.value, one.key.value));
  }
  return listed(values);
}

/// Rows of a use with their errors after the fit.
std::vector<std::pair<const Measurement*, double>> errors_after(const CalibrationContext& context) {
  std::vector<std::pair<const Measurement*, double>> result;
  for (std::size_t i = 0; i < context.measurements.size(); ++i) {
    const Measurement& one = context.measurements[i];
    if (const auto share = calibration::error_share(context.result.rows[i].after, one.value)) {
      result.emplace_back(&one, *share);
    }
  }
  return result;
}

std::string worst_text(const CalibrationContext& context) {
  const auto errors = errors_after(context);
  const std::pair<const Measurement*, double>* worst = nullptr;
  for (const auto& one : errors) {
    if (one.first->use == Use::Fit && (worst == nullptr || std::abs(one.second) > std::abs(worst->second))) {
      worst = &one;
    }
  }
  return worst == nullptr ? "" : fmt::format("; worst row: {}, {}", named(*worst->first), off_text(worst->second));
}

std::string unexplained_line(const CalibrationContext& context) {
  std::vector<std::string> rows;
  for (const auto& [one, share] : errors_after(context)) {
    if (std::abs(share) > kUnexplained) {
      rows.push_back(fmt::format("{} ({}{})", named(*one), off_text(share), one->use == Use::Fit ? "" : ", held out"));
    }
  }
  return rows.empty() ? ""
                      : answer_line(fmt::format("not explained, off by more than {:.0f} % after the fit: {}",
                                                kUnexplained * 100, listed(rows)));
}

std::string bound_lines(const CalibrationContext& context) {
  std::string lines;
  for (const CalibratedKey& one : context.result.keys) {
    if (one.known == Known::Idle || !(one.on_low() || one.on_high())) {
      continue;
    }
    lines += answer_line(fmt::format("{} is on its {} bound, {:.6g} ({}){}", one.key.key,
                                     one.on_low() ? "lower" : "upper", one.value, to_string(one.key.from),
                                     one.known == Known::Held
                                         ? fmt::format(": a {} value fits better", one.on_low() ? "lower" : "higher")
                                         : std::string()));
  }
  return lines;
}

std::string undetermined_lines(const CalibrationContext& context) {
  std::string lines;
  std::vector<std::string> together, alone, idle;
  for (std::size_t i = 0; i < context.result.keys.size(); ++i) {
    const CalibratedKey& one = context.result.keys[i];
    const auto& partners = context.result.partners;
    if (std::ranges::find(partners, i) != partners.end()) {
      together.push_back(one.key.key);
    } else if (one.known == Known::Undetermined && one.hardly_moves_rows()) {
      alone.push_back(one.key.key);
    } else if (one.known == Known::Idle) {
      idle.push_back(one.key.key);
    }
  }
  if (!together.empty()) {
    lines += answer_line(fmt::format(
        "these rows do not tell {} apart ({}): other values together fit as well; fix one of them with --set, or add "
        "rows on which they act differently",
        listed(together),
        std::isinf(*context.result.condition) ? std::string("rank deficient")
                                              : fmt::format("condition {:.3g}", *context.result.condition)));
  }
  for (const std::string& key : alone) {
    lines += answer_line(
        fmt::format("these rows hardly depend on {}: an error of 1 % in them moves it by half or more", key));
  }
  for (const std::string& key : idle) {
    lines += answer_line(fmt::format("no fitted row changes with {} around this value: the value is not fitted", key));
  }
  return lines;
}

/// The end of the second search, if it differs.
std::string other_line(const CalibrationContext& context) {
  if (!context.result.other) {
    return "";
  }
  std::vector<std::string> values;
  for (std::size_t i = 0; i < context.result.keys.size(); ++i) {
    if (context.result.other->differs[i]) {
      values.push_back(fmt::format("{} {:.6g}", context.result.keys[i].key.key,
                                   context.result.other->values[static_cast<Eigen::Index>(i)]));
    }
  }
  const auto error = other_error(context);
  return answer_line(
      fmt::format("a second search, from the opposite corner of the bounds, ended at {}{}: {}", listed(values),
                  error ? fmt::format(" (RMS error {})", percent_text(*error)) : std::string(),
                  context.result.other_fits()
                      ? "as good, so that these rows do not determine the values; narrow the bounds, or add rows"
                      : "worse, but the fit has several minima: narrow the bounds to what is possible"));
}

}  // namespace

std::string calibration_answer(const CalibrationContext& context) {
  const RowErrors fitted = row_errors(context, Use::Fit);
  const RowErrors held_out = row_errors(context, Use::Predict);
  std::string text = answer_line(fmt::format("{} fitted to {}: {}; {}{}", counted(context.result.keys.size(), "key"),
                                             counted(fitted.rows, "row"), values_text(context), error_text(fitted),
                                             worst_text(context)));
  if (held_out.rows > 0) {
    text += answer_line(fmt::format("{} held out: {}", counted(held_out.rows, "row"), error_text(held_out)));
  }
  text += unexplained_line(context) + bound_lines(context) + undetermined_lines(context) + other_line(context);
  if (context.result.stop == calibration::Stop::Evaluations) {
    text +=
        answer_line(fmt::format("the search ended with its {}, before small steps stopped to help: raise "
                                "--max-evaluations",
                                counted(context.result.evaluations, "evaluation")));
  }
  return text;
}

}  // namespace rayreplay::report
