// Accesses to buffers and images record their address: loads, stores and atomics of storage buffers, of device
// addresses and of shader records; and what image_accesses.hpp does.
//
// Contract: `before` takes every instruction of every function that ray-tracing shaders reach, in order, behind `enter`
// for its function; it appends a call of a probe before an access that can be recorded and adds a site to the result.
// `finish` notes how many accesses are not recorded, and why. Adds no blocks.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "capture/instrument/passes/buffer_layout.hpp"
#include "capture/instrument/passes/image_accesses.hpp"
#include "capture/instrument/passes/passes.hpp"

namespace rayreplay::instrument {

class Accesses {
 public:
  explicit Accesses(Rewriter& rewriter) : rewriter_(rewriter), layout_(rewriter), images_(rewriter, layout_) {}

  void enter(const Function& function);
  /// `index`: of the instruction in the function as it was given.
  void before(const Place& place, std::size_t function, std::uint32_t index, const Instruction& instruction);
  void finish();

 private:
  struct Access {
    AccessKind kind = AccessKind::Load;
    Id pointer = 0;
    Id type = 0;  ///< of the value
  };
  [[nodiscard]] std::optional<Access> access_of(const Instruction& instruction) const;
  /// Why an instruction that accesses buffers in another way is not recorded; "" for any other.
  [[nodiscard]] std::string beyond(const Instruction& instruction) const;
  /// Empty, or why it is not recorded.
  [[nodiscard]] std::string record(const Place& place, const Access& access, AccessSite site);
  [[nodiscard]] std::string record_image(const Place& place, const ImageInstruction& access, AccessSite site);
  /// Empty, or why there can be no further site.
  [[nodiscard]] std::string fault_of_number() const;
  void add(const Place& place, AccessSite site);
  /// A place's bytes from its root; with a base, of 64 bits: base plus these.
  [[nodiscard]] Id sum(std::vector<Instruction>& out, const BufferPlace& place, Id base);
  [[nodiscard]] Id offset(std::vector<Instruction>& out, const BufferPlace& place);
  [[nodiscard]] Id address(std::vector<Instruction>& out, const std::optional<BufferPlace>& place, Id pointer);

  Rewriter& rewriter_;
  BufferLayout layout_;
  ImageAccesses images_;
  std::optional<PointerDefinitions> definitions_;
  std::uint32_t labels_ = 0;                     ///< of the function so far
  std::map<std::string, std::size_t> left_out_;  ///< accesses to buffers by reason
  std::map<std::string, std::size_t> images_left_out_;
};

}  // namespace rayreplay::instrument
