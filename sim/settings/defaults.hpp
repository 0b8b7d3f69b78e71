// Defaults and words that several files of this room use. Internal to it.
#pragma once

namespace rayreplay::experiment {

inline constexpr const char* kDefaultMachine = "rtx4090";
inline constexpr const char* kAuto = "auto";  ///< of "order" and "schedule.distribution": the trace decides

}  // namespace rayreplay::experiment
