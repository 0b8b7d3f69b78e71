#include "app/report/models/stage_key.hpp"

#include "sim/machine/shader_names.hpp"

namespace rayreplay::report {

std::string stage_key(trace::EventKind kind) {
  return machine::word_of_call(kind);
}

}  // namespace rayreplay::report
