// Memory that is given back stays with the program.
//
// Contract: from now on, memory that is freed serves what is allocated next, instead of going back to the system, which
// clears every page before it hands it out again. For commands that make and drop arrays of the size of a trace again
// and again, as where scheduler model follows scheduler model: comparing four of them, up to a sixth of the time.
// The most memory in use at one time is the same; less of it is given back before the end: holes between what is still
// in use count as taken. Where there is a limit to hold, `keep_freed_blocks` does so for blocks below 32 MiB alone, and
// larger ones, whose pages cost little beside what fills them, go back at once. `keep_small_blocks` is for a limit that
// is tight: whatever has a mebibyte or more goes back at once. The last call holds. Does nothing without glibc.
#pragma once

namespace rayreplay {

void keep_freed_memory() noexcept;
void keep_freed_blocks() noexcept;
void keep_small_blocks() noexcept;
/// What was kept so far goes back to the system: of glibc's arenas but the first not what is free at their ends, which
/// stays small where small blocks alone are kept.
void give_back_freed_memory() noexcept;

}  // namespace rayreplay
