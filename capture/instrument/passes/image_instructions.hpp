// Instructions that access images, taken apart.
//
// Contract: `image_instruction` gives the parts of reads, writes, fetches, gathers and samples of images, the sparse
// ones too; nothing for any other instruction. Atomics are not among them: their pointer is that of an
// OpImageTexelPointer. Missing parts are 0. Takes malformed instructions.
#pragma once

#include <optional>
#include <string>

#include "capture/instrument/access_layout.hpp"
#include "capture/instrument/module_names.hpp"

namespace rayreplay::instrument {

struct ImageInstruction {
  AccessKind kind = AccessKind::Load;
  Id image = 0;             ///< of type OpTypeImage or OpTypeSampledImage; of an atomic: the pointer to the image
  Id coordinate = 0;        ///< Sample: floats; else integers
  bool projective = false;  ///< the component behind those of the place divides them
  Id lod = 0;               ///< Sample: a float; else an integer
  Id gradient_x = 0, gradient_y = 0;
  Id offset = 0;     ///< in texels
  Id least_lod = 0;  ///< of a sample
  bool four_offsets = false;
};

[[nodiscard]] std::optional<ImageInstruction> image_instruction(const Instruction& instruction);

/// Why an instruction that accesses images in another way is not recorded; "" for any other.
[[nodiscard]] std::string other_image_access(const Instruction& instruction);

}  // namespace rayreplay::instrument
