#include "app/commands/run.hpp"
#include "app/console/signals.hpp"

int main(int argc, char** argv) {
  rayreplay::console::watch_signals();
  return rayreplay::app::run(argc, argv);
}
