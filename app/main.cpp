#include <cstdlib>

#include "app/commands/run.hpp"
#include "app/console/signals.hpp"

int main(int argc, char** argv) {
  rayreplay::console::watch_signals();
  const int code = rayreplay::app::run(argc, argv);
  if (code != 0) {
    // Outputs are finished or removed by now, and nothing is buffered. After a write that failed, HDF5's exit handler
    // tries to flush what it could not close, and crashes (seen in 1.10.8); so failures leave without exit handlers.
    std::_Exit(code);
  }
  return code;
}
