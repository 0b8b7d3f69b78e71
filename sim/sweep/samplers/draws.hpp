// Random numbers and permutations of samplers: functions of seed and index alone, the same on every machine.
#pragma once

#include <cstdint>
#include <vector>

namespace rayreplay::sweep {

/// From [0, 1): a multiple of 2^-53.
[[nodiscard]] double unit_number(std::uint64_t bits);

/// 0 … limit − 1, for limits up to 2^32.
[[nodiscard]] std::uint32_t bounded(std::uint64_t bits, std::uint64_t limit);

/// Of 0 … size − 1, sorted by 64 bits drawn for each (of equal ones the smaller first).
[[nodiscard]] std::vector<std::uint32_t> permutation(std::uint64_t seed, std::uint64_t size);

}  // namespace rayreplay::sweep
