// Accesses to images record their texel: reads, writes, fetches, atomics, gathers and samples.
//
// Contract: `record` appends a call of a probe for an access and completes its site: kind, set and binding. Coordinates
// in texels go to the record as they are. Samples are recorded as a sampler would take them that repeats and has no
// limits of levels: the probe (probes/texels.h) wraps coordinates, takes the nearest level of the instruction's
// operands, and multiplies by that level's size, which the shader asks the image for. Adds no blocks.
#pragma once

#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "capture/instrument/passes/buffer_layout.hpp"
#include "capture/instrument/passes/image_instructions.hpp"
#include "capture/instrument/passes/passes.hpp"

namespace rayreplay::instrument {

class ImageAccesses {
 public:
  ImageAccesses(Rewriter& rewriter, const BufferLayout& layout);

  /// The access of an atomic through a pointer to a texel; empty: the pointer is none.
  [[nodiscard]] std::optional<ImageInstruction> atomic(const PointerDefinitions& definitions, Id pointer) const;
  /// `number`: of the site. Empty, or why it is not recorded.
  [[nodiscard]] std::string record(const Place& place, const PointerDefinitions& definitions,
                                   const ImageInstruction& access, std::uint32_t number, AccessSite& site);

 private:
  /// Of an OpTypeImage.
  struct Shape {
    Id type = 0;
    std::uint32_t form = 0;        ///< RR_IMAGE_…
    std::uint32_t dimensions = 0;  ///< of a place in a layer; a direction's are 3
    bool in_array = false;
  };
  /// A number or vector that an instruction has as an operand.
  struct Numbers {
    Id id = 0, type = 0;
    bool real = false;
    Word bits = 0;
    std::uint32_t count = 0;  ///< components; 1 of a number. 0: it is neither
    bool vector = false;
  };
  struct Descriptor {
    std::uint32_t set = 0, binding = 0;
    Id element = 0;  ///< 0: it is in no array
  };

  [[nodiscard]] std::optional<Shape> shape_of(const ImageInstruction& access, std::string& why) const;
  [[nodiscard]] std::optional<Descriptor> descriptor_of(const PointerDefinitions& definitions,
                                                        const ImageInstruction& access, std::string& why) const;
  [[nodiscard]] Numbers numbers_of(Id id) const;
  /// Empty, or why an operand cannot be recorded: `real` floats (else integers) of `count` components or more.
  [[nodiscard]] std::string fault_of(Id operand, bool real, std::uint32_t count) const;
  [[nodiscard]] std::string fault_of(const ImageInstruction& access, const Shape& shape) const;

  [[nodiscard]] Id make(std::vector<Instruction>& out, spv::Op op, Id type, std::initializer_list<Word> operands);
  /// Components [0, count) of an operand as u32 or float.
  [[nodiscard]] std::vector<Id> components(std::vector<Instruction>& out, Id operand, std::uint32_t count);
  /// A vector; `parts` beyond the last are `rest`.
  [[nodiscard]] Id vector(std::vector<Instruction>& out, Id type, std::vector<Id> parts, std::size_t count, Id rest);
  [[nodiscard]] Id real(std::vector<Instruction>& out, Id operand);
  [[nodiscard]] Id zero(std::vector<Instruction>& out);
  [[nodiscard]] Id element(std::vector<Instruction>& out, const Descriptor& descriptor);
  /// x, y, z or layer, level.
  [[nodiscard]] Id texel(std::vector<Instruction>& out, const ImageInstruction& access, const Shape& shape);
  [[nodiscard]] Id place(std::vector<Instruction>& out, const ImageInstruction& access, const Shape& shape);
  /// Of level 0: width, height, depth or layers; and the number of levels, 1 where `levels` is not set.
  [[nodiscard]] Id extent(std::vector<Instruction>& out, const ImageInstruction& access, const Shape& shape,
                          bool levels);
  [[nodiscard]] bool is_level_0(const ImageInstruction& access) const;

  Rewriter& rewriter_;
  const BufferLayout& layout_;
  std::unordered_set<Id> not_uniform_;  ///< ids that are decorated so
};

}  // namespace rayreplay::instrument
