#include "capture/layer/standard_error.hpp"

#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <ctime>

namespace rayreplay::layer {
namespace {

/// The file of descriptor 2 at the load of the layer; until then values that no file has.
struct {
  dev_t device = 0;
  ino_t inode = 0;
  bool known = false;
} at_load;

/// Blocks signals that writing raises in this thread, for the lifetime of the object.
class NoSignals {
 public:
  NoSignals() noexcept {
    sigemptyset(&of_writing_);
    sigaddset(&of_writing_, SIGPIPE);
    sigaddset(&of_writing_, SIGXFSZ);
    sigset_t pending;
    sigpending(&pending);
    pending_ = sigismember(&pending, SIGPIPE) == 1 || sigismember(&pending, SIGXFSZ) == 1;
    blocked_ = pthread_sigmask(SIG_BLOCK, &of_writing_, &before_) == 0;
  }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;
  ~NoSignals() {
    if (!blocked_) {
      return;
    }
    const timespec at_once{0, 0};
    while (!pending_ && sigtimedwait(&of_writing_, nullptr, &at_once) > 0) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t of_writing_{}, before_{};
  bool pending_ = false, blocked_ = false;
};

}  // namespace

void remember_standard_error() noexcept {
  struct stat status {};
  at_load.known = fstat(STDERR_FILENO, &status) == 0;
  at_load.device = status.st_dev;
  at_load.inode = status.st_ino;
}

void write_standard_error(std::string_view line) noexcept {
  struct stat status {};
  if (!at_load.known || fstat(STDERR_FILENO, &status) != 0 || status.st_dev != at_load.device ||
      status.st_ino != at_load.inode) {
    return;
  }
  static constexpr std::string_view kWho = "rayreplay capture: ";
  char end = '\n';
  const std::array<iovec, 3> parts = {
      {{const_cast<char*>(kWho.data()), kWho.size()}, {const_cast<char*>(line.data()), line.size()}, {&end, 1}}};
  const NoSignals none;
  [[maybe_unused]] const ssize_t ignored = writev(STDERR_FILENO, parts.data(), static_cast<int>(parts.size()));
}

}  // namespace rayreplay::layer
