// Listing and description of the replay policies.
//
// Contract: a policy's file in this folder holds its name and its documentation for users. The enumerator's comment in
// replayer.hpp is the definition; the steps are in kernel/steps.hpp, compiled once for each instruction set. The set is
// closed: a step costs some tens of cycles, so a policy is a template argument of the loop instead of a virtual object.
// To add one: an enumerator, its steps, an order of codes (call_dictionary.cpp), a file here.
#pragma once

#include "base/registry.hpp"
#include "sim/simt/replayer.hpp"

namespace rayreplay::simt {

struct ReplayPolicy {
  static constexpr const char* kModelKind = "replay policy";
  Policy policy;
};

using ReplayPolicies = Registry<ReplayPolicy>;

/// Registers `policy` under its name.
[[nodiscard]] ReplayPolicies::Registrar register_policy(Policy policy, std::string summary, std::string text,
                                                        std::string source);

}  // namespace rayreplay::simt
