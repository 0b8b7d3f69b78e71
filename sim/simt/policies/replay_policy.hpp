// The replay policies as the program lists and describes them.
//
// Contract: a policy's file in this folder holds its name and its documentation for people; the enumerator's comment
// in replayer.hpp is the definition, and its steps are in kernel/steps.hpp, compiled once for each instruction set. The
// set is closed: a policy costs some tens of cycles a step, so it is a template argument of the loop and not an object
// that the loop calls. To add one: an enumerator, its steps, an order of codes (call_dictionary.cpp), a file here.
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
