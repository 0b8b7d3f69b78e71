#include "sim/engine/shader_accesses.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace rayreplay::experiment {
namespace {

constexpr const char* kShaderAccesses = "stream.shader_accesses";

}  // namespace

bool takes_shader_accesses(const Experiment& experiment) {
  const std::string& wanted = experiment.settings->text(kShaderAccesses);
  const std::uint64_t recorded = experiment.launch().accesses;
  if (wanted == "on" && recorded == 0) {
    throw Error(ErrorKind::Missing, {"the launch has no recorded accesses of shaders",
                                     place_of(experiment.settings->where(kShaderAccesses), kShaderAccesses),
                                     experiment.facts->name, "a capture of what its shaders load and store",
                                     "capture with --profile memory (docs/capture.md), or leave the key out"});
  }
  return recorded > 0 && (wanted == "on" || (wanted == "auto" && experiment.facts->access_every == 1));
}

std::string shader_access_note(const Experiment& experiment) {
  const std::uint64_t every = experiment.facts->access_every;
  if (experiment.launch().accesses == 0 || every == 1 || experiment.settings->text(kShaderAccesses) == "off") {
    return "";
  }
  return takes_shader_accesses(experiment)
             ? fmt::format(
                   "the accesses of shaders are those of one thread in {} alone (--profile-memory-sample); "
                   "nothing is scaled",
                   every)
             : fmt::format(
                   "the trace has the accesses of shaders for one thread in {} alone "
                   "(--profile-memory-sample), so they are left out; {}=on takes them",
                   every, kShaderAccesses);
}

}  // namespace rayreplay::experiment
