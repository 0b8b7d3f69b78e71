// Layout wide-8: nodes of 8 children with boxes of 32-bit floats, 256 bytes.
//
// Contract: bytes in wide.hpp.
#include "bvh/layouts/wide_layout.hpp"

namespace rayreplay::bvh {
namespace {

const Layouts::Registrar kRegistrar(
    {.kind = {},
     .name = "wide-8",
     .summary = "8 children, boxes of 32-bit floats, 256 bytes a node",
     .text =
         "Planes lie axis by axis, as SIMD kernels load them. A child takes 32 bits for its record or first reference "
         "and 32 bits for the number of references. Boxes are the tree's, bit for bit.",
     .source = "Wald, Benthin and Boulos 2008; Embree's BVH8",
     .parameters = {}},
    [](const Parameters&) { return std::make_unique<WideLayout<8>>(); });

}  // namespace
}  // namespace rayreplay::bvh
