// Writes a trace where no file can be longer than a limit, which is how a full disk looks to libhdf5.
//
//   write_with_limit FILE BYTES
//
// Exit code: 0 written; 1 the error with its fix, and nothing left in the folder; 2 another error;
// 3 something is left in the folder. A process of its own, because the limit cannot be raised again, and because
// libhdf5 tidies up when a process ends: that must work after a failure, too.
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <sys/resource.h>

#include "base/error.hpp"
#include "capture/trace/writer.hpp"
#include "tests/support/random_trace.hpp"

int main(int argc, char** argv) {
  using namespace rayreplay;
  if (argc != 3) {
    return 2;
  }
  const std::filesystem::path path = argv[1];
  const rlim_t limit = std::strtoull(argv[2], nullptr, 10);
  const trace::Trace trace = test::random_trace({.seed = 42, .size = {100, 50, 1}});
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit bound{limit, limit};
  ::setrlimit(RLIMIT_FSIZE, &bound);
  try {
    trace::write(trace, path, {.overwrite = false, .chunk_rows = 1000});
  } catch (const Error& error) {
    const std::string text = error.what();
    // libhdf5 keeps the system's reason, or says only that a write failed.
    const bool says_why = text.find("free space on that disk") != std::string::npos ||
                          text.find("raise the limit on the size of files") != std::string::npos;
    const bool right = error.kind() == ErrorKind::Output && says_why && text.find(path.string()) != std::string::npos;
    return !right ? 2 : std::filesystem::is_empty(path.parent_path()) ? 1 : 3;
  }
  return 0;
}
