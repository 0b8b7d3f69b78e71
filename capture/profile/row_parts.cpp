#include "capture/profile/row_parts.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace rayreplay::profile {

void add_count(std::uint64_t& sum, std::uint64_t count, const SummedColumn& column, std::size_t row) {
  if (__builtin_add_overflow(sum, count, &sum)) {
    throw Error(ErrorKind::Input,
                {column.what, fmt::format("{}:{}[{}]", column.file, column.path, row), std::to_string(count),
                 "counts whose sum is below 2^64", "leave this profile out, or capture it again"});
  }
}

}  // namespace rayreplay::profile
