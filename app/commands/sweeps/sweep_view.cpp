#include "app/commands/sweeps/sweep_view.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include <unistd.h>

#include <fmt/format.h>

#include "app/console/console.hpp"
#include "base/text.hpp"

namespace rayreplay::app {
namespace {

constexpr std::size_t kBarWidth = 20;
constexpr std::chrono::seconds kLineEvery{10};
constexpr double kMaxSeconds = 1e15;  // a whole number above any duration

void put(std::string_view text) {
  // A failure to draw the line must not stop the sweep.
  [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

std::string duration_text(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::llround(std::clamp(seconds, 0.0, kMaxSeconds)));
  const std::uint64_t minutes = whole / 60;
  const std::uint64_t hours = minutes / 60;
  if (minutes == 0) {
    return fmt::format("{} s", whole);
  }
  if (hours == 0) {
    return fmt::format("{} min {:02} s", minutes, whole % 60);
  }
  if (hours < 48) {
    return fmt::format("{} h {:02} min", hours, minutes % 60);
  }
  return fmt::format("{} days {} h", hours / 24, hours % 24);
}

std::string standing_line(const sweep::Standing& standing, const std::string& metric, bool bar) {
  const double share = standing.total == 0
                           ? 1.0
                           : std::min(1.0, static_cast<double>(standing.done) / static_cast<double>(standing.total));
  std::string line = "sweep";
  if (bar) {
    const auto full = static_cast<std::size_t>(share * static_cast<double>(kBarWidth));
    line += fmt::format("  [{}{}]  {:.0f} %", std::string(full, '#'), std::string(kBarWidth - full, '.'),
                        std::floor(share * 100));
  }
  line += fmt::format("  {}/{}", standing.done, standing.total);
  if (standing.failed > 0) {
    line += fmt::format("  {} failed", standing.failed);
  }
  line += "  " + duration_text(standing.seconds);
  if (standing.seconds_left >= 0 && standing.done < standing.total) {
    line += fmt::format("  {} left", duration_text(standing.seconds_left));
  }
  if (standing.has_best) {
    line += fmt::format("  best {} {:.6g} (run {})", metric, standing.best, standing.best_run);
  }
  return line;
}

SweepView::SweepView(const sweep::Definition& definition)
    : metric_(definition.objective ? definition.objective->metric : std::string()),
      terminal_(::isatty(STDERR_FILENO) == 1),
      last_(std::chrono::steady_clock::now()) {}

SweepView::~SweepView() {
  erase();
}

void SweepView::erase() {
  if (drawn_) {
    put("\r\x1b[K");
    drawn_ = false;
  }
}

void SweepView::show(const sweep::Standing& standing) {
  if (terminal_) {
    drawn_ = true;
    put("\r\x1b[K" + text::printable(standing_line(standing, metric_, true)));
  } else if (std::chrono::steady_clock::now() - last_ >= kLineEvery) {
    last_ = std::chrono::steady_clock::now();
    console::tell("{}", standing_line(standing, metric_, false));
  }
}

}  // namespace rayreplay::app
