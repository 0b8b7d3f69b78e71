#include "sim/memory/streams/step_instructions.hpp"

#include <array>
#include <bit>
#include <cstddef>

namespace rayreplay::memory {
namespace {

using traversal::Access;
using traversal::AccessKind;

constexpr DataKind data_kind(AccessKind kind) {
  switch (kind) {
    case AccessKind::Node:
      return DataKind::Node;
    case AccessKind::Index:
      return DataKind::Index;
    case AccessKind::Vertex:
      return DataKind::Vertex;
    case AccessKind::Instance:
      return DataKind::Instance;
    case AccessKind::Box:
      return DataKind::Box;
  }
  return DataKind::Other;
}

constexpr std::array kOrder = {AccessKind::Node, AccessKind::Instance, AccessKind::Index, AccessKind::Vertex,
                               AccessKind::Box};

class Step {
 public:
  Step(const traversal::WarpTraceResult& traced, std::span<const RayOwner> owners, const ElementFinder& elements,
       InstructionWriter& out)
      : traced_(&traced), owners_(owners), elements_(&elements), out_(&out) {}

  /// Rows [row, row + lanes) of `traced.ray`.
  void append(std::uint64_t row, std::size_t lanes) {
    const std::uint64_t* const offset = traced_->access_offset.data() + row;
    const Access* const accesses = traced_->accesses.data();
    bool one_each = offset[lanes] - offset[0] == lanes;
    bool triangle_each = offset[lanes] - offset[0] == lanes * 4;
    for (std::size_t i = 0; i < lanes; ++i) {
      owner_[i] = &owners_[traced_->ray[row + i]];
      one_each &= offset[i + 1] - offset[i] == 1 && accesses[offset[i]].kind == accesses[offset[0]].kind;
      triangle_each &= offset[i + 1] - offset[i] == 4 && accesses[offset[i]].kind == AccessKind::Index;
    }
    if (one_each) {
      one(accesses + offset[0], 1, lanes);
    } else if (triangle_each) {
      triangles(accesses + offset[0], lanes);
    } else {
      any(offset, lanes);
    }
  }

 private:
  /// Every lane has one access, all of one kind.
  void one(const Access* access, std::size_t stride, std::size_t lanes) {
    for (std::size_t i = 0; i < lanes; ++i) {
      const std::uint64_t address = access[i * stride].address;
      out_->add(owner_[i]->lane, address, elements_->element(address), owner_[i]->thread);
    }
    out_->put(data_kind(access->kind), access->bytes, false);
  }
  /// Every lane tests a triangle: an index triple and three vertices.
  void triangles(const Access* access, std::size_t lanes) {
    for (std::size_t i = 0; i < lanes; ++i) {
      face_[i] = elements_->element(access[i * 4].address);
    }
    for (std::size_t j = 0; j < 4; ++j) {
      for (std::size_t i = 0; i < lanes; ++i) {
        out_->add(owner_[i]->lane, access[i * 4 + j].address, face_[i], owner_[i]->thread);
      }
      out_->put(j == 0 ? DataKind::Index : DataKind::Vertex, access[j].bytes, false);
    }
  }
  void any(const std::uint64_t* offset, std::size_t lanes) {
    std::array<std::uint64_t, 64> next;
    std::copy(offset, offset + lanes, next.begin());
    std::uint64_t left = offset[lanes] - offset[0];
    while (left > 0) {
      for (const AccessKind kind : kOrder) {
        while (const std::uint64_t taken = meet(kind, offset, next, lanes)) {
          left -= taken;
        }
      }
    }
  }
  /// The lanes whose next access is of this kind make it together. Returns how many.
  std::uint64_t meet(AccessKind kind, const std::uint64_t* offset, std::array<std::uint64_t, 64>& next,
                     std::size_t lanes) {
    std::uint64_t taken = 0;
    std::uint32_t bytes = 0;
    for (std::size_t i = 0; i < lanes; ++i) {
      if (next[i] == offset[i + 1] || traced_->accesses[next[i]].kind != kind) {
        continue;
      }
      const Access& access = traced_->accesses[next[i]++];
      if (kind == AccessKind::Index) {
        face_[i] = elements_->element(access.address);
      }
      const bool of_face = kind == AccessKind::Index || kind == AccessKind::Vertex;
      out_->add(owner_[i]->lane, access.address, of_face ? face_[i] : elements_->element(access.address),
                owner_[i]->thread);
      bytes = access.bytes;
      ++taken;
    }
    out_->put(data_kind(kind), bytes, false);
    return taken;
  }

  const traversal::WarpTraceResult* traced_;
  std::span<const RayOwner> owners_;
  const ElementFinder* elements_;
  InstructionWriter* out_;
  std::array<const RayOwner*, 64> owner_{};
  std::array<std::uint32_t, 64> face_{};  ///< of each lane: the index triple it loaded last
};

}  // namespace

std::uint64_t append_steps(const traversal::WarpTraceResult& traced, std::size_t first_step, std::size_t last_step,
                           std::uint64_t first_lane, std::span<const RayOwner> owners, const ElementFinder& elements,
                           const StackMemory& /*stack*/, InstructionWriter& out) {
  Step step(traced, owners, elements, out);
  std::uint64_t row = first_lane;
  for (std::size_t index = first_step; index < last_step; ++index) {
    const auto lanes = static_cast<std::size_t>(std::popcount(traced.steps[index].mask));
    step.append(row, lanes);
    row += lanes;
  }
  return row;
}

}  // namespace rayreplay::memory
