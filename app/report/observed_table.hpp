// What the device itself reached (sim/simt/observed.hpp), to stand beside a replay.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "app/output/table.hpp"
#include "capture/trace/trace.hpp"
#include "sim/simt/observed.hpp"

namespace rayreplay::report {

/// Rows: the launch, then each stage that has groups.
[[nodiscard]] output::Table observed_table(const simt::Observed& observed, std::uint32_t warp_size);

/// Whether threads of the launch were left out (window, every, full memory): its groups are then those that at least
/// one recorded thread took part in, so that large groups are seen more often than small ones.
[[nodiscard]] bool threads_are_missing(const trace::Trace& trace, const trace::Launch& launch);

/// "\nobserved on DEVICE (…)" and the table; "" when groups were not captured.
[[nodiscard]] std::string observed_text(const trace::Trace& trace, const trace::Launch& launch);

/// The value of the key `observed`; null when groups were not captured.
[[nodiscard]] nlohmann::ordered_json observed_json(const trace::Trace& trace, const trace::Launch& launch);

}  // namespace rayreplay::report
