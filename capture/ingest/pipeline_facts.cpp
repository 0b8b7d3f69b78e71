#include "capture/ingest/pipeline_facts.hpp"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "base/count_text.hpp"
#include "capture/ingest/report.hpp"

namespace rayreplay::ingest {
namespace {

using trace::ShaderStage;

constexpr std::size_t kMostText = 255;  // VK_MAX_DESCRIPTION_SIZE without the zero

class FactsReader {
 public:
  explicit FactsReader(const std::vector<std::uint8_t>& stages) : stages_(stages) {}

  trace::PipelineFacts read(const spool::PipelineFacts& from, std::uint32_t set_stack,
                            std::vector<std::string>& remarks) {
    trace::PipelineFacts facts;
    facts.pipeline = from.pipeline;
    facts.recursion_depth = from.recursion_depth;
    facts.dynamic_stack = from.dynamic_stack != 0;
    facts.set_stack = facts.dynamic_stack ? set_stack : 0;
    left_out_ = 0;
    changed_names_ = false;
    for (const spool::GroupStack& group : from.groups) {
      facts.groups.push_back(read_group(group));
    }
    for (const spool::Executable& executable : from.executables) {
      facts.executables.push_back(read_executable(executable));
    }
    if (left_out_ != 0) {
      remarks.push_back(fmt::format("pipeline {}: stack sizes of {} that the spool does not have, or of another stage",
                                    from.pipeline, counted(left_out_, "shader")));
    }
    if (changed_names_) {
      remarks.push_back(fmt::format("pipeline {}: a name of its executables or statistics is not UTF-8: {}",
                                    from.pipeline, kReplaced));
    }
    return facts;
  }

 private:
  [[nodiscard]] bool is(std::uint16_t shader, std::initializer_list<ShaderStage> allowed) const {
    return shader < stages_.size() && std::any_of(allowed.begin(), allowed.end(), [&](ShaderStage stage) {
             return stages_[shader] == static_cast<std::uint8_t>(stage);
           });
  }
  void read_place(std::uint16_t shader, std::uint64_t bytes, std::initializer_list<ShaderStage> allowed,
                  std::uint16_t& to_shader, std::uint64_t& to_bytes) {
    if (is(shader, allowed) && bytes != spool::kNoStack) {
      to_shader = shader;
      to_bytes = bytes;
    } else if (shader != spool::kNoShader || bytes != spool::kNoStack) {
      ++left_out_;
    }
  }
  trace::GroupStack read_group(const spool::GroupStack& from) {
    trace::GroupStack group{};
    read_place(from.general, from.general_bytes, {ShaderStage::RayGeneration, ShaderStage::Miss, ShaderStage::Callable},
               group.general, group.general_bytes);
    read_place(from.closest_hit, from.closest_hit_bytes, {ShaderStage::ClosestHit}, group.closest_hit,
               group.closest_hit_bytes);
    read_place(from.any_hit, from.any_hit_bytes, {ShaderStage::AnyHit}, group.any_hit, group.any_hit_bytes);
    read_place(from.intersection, from.intersection_bytes, {ShaderStage::Intersection}, group.intersection,
               group.intersection_bytes);
    return group;
  }
  std::string text(std::string_view from) {
    changed_names_ |= !is_utf8(from);
    return clean(from.substr(0, kMostText));
  }
  trace::Executable read_executable(const spool::Executable& from) {
    trace::Executable executable{text(from.name), text(from.description), from.stages, from.subgroup_size, {}};
    for (const spool::Statistic& statistic : from.statistics) {
      executable.statistics.push_back(
          {text(statistic.name), text(statistic.description), static_cast<trace::StatisticFormat>(statistic.format),
           statistic.format == spool::StatisticFormat::Bool ? std::uint64_t{statistic.value != 0} : statistic.value});
    }
    return executable;
  }

  const std::vector<std::uint8_t>& stages_;
  std::uint64_t left_out_ = 0;
  bool changed_names_ = false;
};

}  // namespace

std::vector<trace::PipelineFacts> read_pipeline_facts(const SpoolContents& contents, const spool::Device& device,
                                                      const std::vector<std::uint8_t>& stages,
                                                      std::vector<std::string>& remarks) {
  std::map<std::uint32_t, std::uint32_t> used;  // pipeline → the largest stack size that was set
  for (const auto& [number, launch] : contents.launches) {
    const bool has_events =
        std::any_of(launch.events.begin(), launch.events.end(), [](const auto& part) { return !part.words.empty(); });
    if (launch.launch.device == device.device && launch.launch.pipeline != spool::kNone && has_events) {
      auto& set_stack = used[launch.launch.pipeline];
      set_stack = std::max(set_stack, launch.launch.stack_bytes);
    }
  }
  const bool wanted =
      contents.process && ("\n" + contents.process->options).find("\npipeline_facts=on\n") != std::string::npos;
  std::vector<trace::PipelineFacts> facts;
  FactsReader reader(stages);
  for (const auto& [pipeline, set_stack] : used) {
    const auto found = contents.pipeline_facts.find(pipeline);
    if (found != contents.pipeline_facts.end() && found->second.device == device.device) {
      facts.push_back(reader.read(found->second, set_stack, remarks));
    } else if (wanted) {
      remarks.push_back(fmt::format("pipeline {}: what the driver says of it (--pipeline-facts)", pipeline));
    }
  }
  return facts;
}

}  // namespace rayreplay::ingest
