// Bitmap: exact reuse distances from a table of last accesses and counted bits of time slots.
//
// Contract: see slot_rank.hpp and line_table.hpp. O(1) an access for up to 2^24 live lines; memory 4 to 48 bytes a line
// and 9.2 bits a slot, of which there are at least four to a line. When slots run out, live ones are renumbered. Up to
// 2^30 lines, Resource beyond.
#include "sim/memory/reuse/engines/bitmap_stack.hpp"

namespace rayreplay::memory {
namespace {

class Bitmap final : public ReuseEngine {
 public:
  [[nodiscard]] std::unique_ptr<ReuseStack> make() const override {
    return std::make_unique<BitmapStack>();
  }
};

const ReuseEngines::Registrar kRegistrar(
    {.kind = {},
     .name = "bitmap",
     .summary = "Exact, the fastest: bits of time slots, counted at four levels",
     .text =
         "Each line's last access holds a slot of time; the distance is the number of slots held after it. "
         "Counts of held slots by 64, 4096, 131072 and 2 million make that one sum of a cache line's counts at each "
         "level. A table of pages finds a line's slot, so that dense line numbers cost an access to an array; sparse "
         "ones go to a hash. Slots are renumbered when they run out. O(1) an access; at most 2^30 lines.",
     .source =
         "Bennett and Kruskal, IBM Journal of Research and Development 1975 (bits of last accesses, counted); the "
         "four levels and groups of accesses: rayreplay",
     .parameters = {}},
    [](const Parameters&) { return std::make_unique<Bitmap>(); });

}  // namespace
}  // namespace rayreplay::memory
