// Settings of malloc: freed memory is kept by the process for later allocations.
//
// Contract: each call replaces the setting of the previous one. `keep_freed_memory` keeps all freed memory: the system
// would clear every page again, which takes up to a sixth of the time when four scheduler models allocate and free
// arrays of the size of a trace. Peak use of live memory is unchanged, but resident memory includes free holes.
// `keep_freed_blocks`, for commands with a memory limit, keeps blocks below 32 MiB; larger blocks are returned at once,
// because clearing their pages costs little compared with filling them. `keep_small_blocks`, for a tight limit, keeps
// blocks below 1 MiB. Without glibc the calls do nothing.
#pragma once

namespace rayreplay {

void keep_freed_memory() noexcept;
void keep_freed_blocks() noexcept;
void keep_small_blocks() noexcept;
/// Returns kept memory to the system (malloc_trim). Free memory at the ends of glibc's secondary arenas is not
/// returned; with `keep_small_blocks` that is little.
void give_back_freed_memory() noexcept;

}  // namespace rayreplay
