#include "sim/simt/policies/replay_policy.hpp"

#include <memory>
#include <utility>

namespace rayreplay::simt {

ReplayPolicies::Registrar register_policy(Policy policy, std::string summary, std::string text, std::string source) {
  ModelDescription description;
  description.name = to_string(policy);
  description.summary = std::move(summary);
  description.text = std::move(text);
  description.source = std::move(source);
  return {std::move(description),
          [policy](const Parameters&) { return std::make_unique<ReplayPolicy>(ReplayPolicy{policy}); }};
}

Policy parse_policy(std::string_view name) {
  return ReplayPolicies::create(name).model->policy;
}

const char* to_string(Policy policy) {
  switch (policy) {
    case Policy::StageMajority:
      return "stage-majority";
    case Policy::MinShader:
      return "min-shader";
    case Policy::OldestLane:
      return "oldest-lane";
    case Policy::Independent:
      return "independent";
    case Policy::TraceBarrier:
      return "trace-barrier";
  }
  return "";
}

}  // namespace rayreplay::simt
