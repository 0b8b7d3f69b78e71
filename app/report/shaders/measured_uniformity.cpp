#include "app/report/shaders/measured_uniformity.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "app/report/export/table.hpp"
#include "base/count_text.hpp"

namespace rayreplay::report {
namespace {

using profile::Agreement;
using profile::AgreementOf;
using profile::InstructionProfile;

std::uint64_t bounded_sum(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  return a > kMost - b ? kMost : a + b;
}

/// The level that stands for two pipelines.
Agreement joined(Agreement a, Agreement b) {
  constexpr std::array<Agreement, profile::kAgreements> kFirst = {
      Agreement::Divergent, Agreement::NotCompared, Agreement::Observed, Agreement::NotExecuted, Agreement::Proven};
  return *std::ranges::find_if(kFirst, [&](Agreement level) { return level == a || level == b; });
}

void add(AgreementOf& sum, const AgreementOf& of) {
  sum.uniform = sum.uniform && of.uniform ? std::optional(bounded_sum(*sum.uniform, *of.uniform)) : std::nullopt;
  sum.agreement = joined(sum.agreement, of.agreement);
}

void add(MeasuredPlaces& places, const InstructionProfile& row, bool branch) {
  const auto [at, added] = places.try_emplace({row.function, row.instruction},
                                              MeasuredUniformity{branch, row.groups, row.value, row.address});
  if (!added) {
    at->second.groups = bounded_sum(at->second.groups, row.groups);
    add(at->second.value, row.value);
    add(at->second.address, row.address);
  }
}

std::string level_text(const AgreementOf& of, std::uint64_t groups) {
  switch (of.agreement) {
    case Agreement::Proven:
    case Agreement::Observed:
      return fmt::format("{} uniform", to_string(of.agreement));
    case Agreement::Divergent:
      if (of.uniform && groups != 0) {
        return fmt::format("divergent (uniform in {})",
                           output::percent_text(static_cast<double>(*of.uniform) / static_cast<double>(groups), 1));
      }
      return "divergent";
    case Agreement::NotExecuted:
    case Agreement::NotCompared:
      break;
  }
  return std::string(to_string(of.agreement));
}

}  // namespace

std::string MeasuredUniformity::text() const {
  // A proof holds without an execution, as in capture/profile/agreement_profile.hpp.
  if (groups == 0 && value.agreement != Agreement::Proven && address.agreement != Agreement::Proven) {
    return std::string(to_string(Agreement::NotExecuted));
  }
  const std::string of_value = level_text(value, groups);
  return counted(groups, "group") + ": " +
         (branch ? "condition " + of_value
                 : fmt::format("value {}, address {}", of_value, level_text(address, groups)));
}

std::map<std::uint16_t, MeasuredPlaces> measured_by_shader(const profile::AgreementProfile& profile,
                                                           std::optional<std::uint32_t> only) {
  std::map<std::uint16_t, MeasuredPlaces> shaders;
  for (const auto& [rows, branches] : {std::pair{&profile.branches, true}, std::pair{&profile.loads, false}}) {
    for (const InstructionProfile& row : *rows) {
      if (!only || row.pipeline == *only) {
        add(shaders[row.shader], row, branches);
      }
    }
  }
  return shaders;
}

}  // namespace rayreplay::report
