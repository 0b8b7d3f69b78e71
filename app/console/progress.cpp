#include "app/console/progress.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>

#include <unistd.h>

#include <fmt/format.h>

#include "base/text.hpp"

namespace rayreplay::console {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kBarWidth = 30;
constexpr std::chrono::milliseconds kRedraw{100};

void put(const std::string& text) {
  // A failure to draw the bar must not stop the work.
  [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, text.data(), text.size());
}

class TerminalProgress : public Progress {
 public:
  TerminalProgress() = default;
  ~TerminalProgress() override {
    erase();
  }
  TerminalProgress(const TerminalProgress&) = delete;
  TerminalProgress& operator=(const TerminalProgress&) = delete;

  void start(std::string_view stage, std::uint64_t total) override {
    const std::lock_guard lock(mutex_);
    stage_ = text::printable(stage);
    total_ = total;
    done_ = 0;
    begun_ = Clock::now();
    next_draw_ = 0;
  }

  void advance(std::uint64_t units) override {
    done_ += units;
    const auto now = Clock::now().time_since_epoch().count();
    auto due = next_draw_.load();
    const auto next = now + std::chrono::duration_cast<Clock::duration>(kRedraw).count();
    if (now >= due && next_draw_.compare_exchange_strong(due, next)) {
      draw();
    }
  }

  void finish() override {
    erase();
  }

 private:
  void draw() {
    const std::lock_guard lock(mutex_);
    const double seconds = std::chrono::duration<double>(Clock::now() - begun_).count();
    drawn_ = true;
    put("\r\x1b[K" + progress_line(stage_, done_, total_, seconds));
  }
  void erase() {
    const std::lock_guard lock(mutex_);
    if (drawn_) {
      put("\r\x1b[K");
      drawn_ = false;
    }
  }

  std::mutex mutex_;
  std::string stage_;
  std::uint64_t total_ = 0;
  std::atomic<std::uint64_t> done_{0};
  std::atomic<Clock::rep> next_draw_{0};
  Clock::time_point begun_;
  bool drawn_ = false;
};

}  // namespace

std::string progress_line(std::string_view stage, std::uint64_t done, std::uint64_t total, double seconds) {
  if (total == 0) {
    return fmt::format("{}  {}  {:.0f} s", stage, done, seconds);
  }
  const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
  const auto full = static_cast<std::size_t>(share * static_cast<double>(kBarWidth));
  return fmt::format("{}  [{}{}]  {:.0f} %  {:.0f} s", stage, std::string(full, '#'),
                     std::string(kBarWidth - full, '.'), share * 100, seconds);
}

std::unique_ptr<Progress> make_progress() {
  return ::isatty(STDERR_FILENO) == 1 ? std::make_unique<TerminalProgress>() : nullptr;
}

}  // namespace rayreplay::console
