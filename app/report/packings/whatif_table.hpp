// The table of `rayreplay whatif`.
//
// Contract: one row per packing in the order of the result, and on request a last row "bound": the upper limit of any
// packing. Keys of JSON and CSV are listed in docs/surfaces.md. Per-stage columns are detail: not in text.
#pragma once

#include "app/report/export/table.hpp"
#include "sim/engine/stages/simt.hpp"

namespace rayreplay::report {

[[nodiscard]] output::Table whatif_table(const experiment::WhatIfResult& result, bool with_bound);

}  // namespace rayreplay::report
