#include "capture/trace/pipeline_registers.hpp"

#include <algorithm>

namespace rayreplay::trace {

bool counts_registers(const Statistic& statistic) {
  // The bits of a negative i64 are beyond the limit, too.
  return (statistic.name == "Register Count" || statistic.name == "VGPRs") &&
         (statistic.format == StatisticFormat::Uint64 || statistic.format == StatisticFormat::Int64) &&
         statistic.value > 0 && statistic.value <= kMostRegisters;
}

std::optional<PipelineRegisters> registers_of(const PipelineFacts& pipeline) {
  std::optional<PipelineRegisters> most;
  for (const Executable& executable : pipeline.executables) {
    for (const Statistic& statistic : executable.statistics) {
      if (counts_registers(statistic) && (!most || statistic.value > most->registers)) {
        most = {static_cast<std::uint32_t>(statistic.value), statistic.name};
      }
    }
  }
  return most;
}

std::optional<PipelineRegisters> registers_of(const std::vector<PipelineFacts>& facts, std::uint32_t pipeline) {
  const auto found = std::ranges::find(facts, pipeline, &PipelineFacts::pipeline);
  return pipeline == kNone || found == facts.end() ? std::nullopt : registers_of(*found);
}

}  // namespace rayreplay::trace
