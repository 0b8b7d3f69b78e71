#include "sim/memory/streams/step_instructions.hpp"

#include <array>
#include <bit>
#include <cstddef>

#include <fmt/format.h>

#include "base/error.hpp"

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
    case AccessKind::Stack:
      return DataKind::Stack;
  }
  return DataKind::Other;
}

struct Meeting {
  AccessKind kind;
  bool store;
};
constexpr std::array<Meeting, 7> kOrder = {{{AccessKind::Node, false},
                                            {AccessKind::Instance, false},
                                            {AccessKind::Index, false},
                                            {AccessKind::Vertex, false},
                                            {AccessKind::Box, false},
                                            {AccessKind::Stack, true},
                                            {AccessKind::Stack, false}}};

class Step {
 public:
  Step(const traversal::WarpTraceResult& traced, std::span<const RayOwner> owners, const ElementFinder& elements,
       const StackMemory& stack, InstructionWriter& out)
      : traced_(&traced), owners_(owners), elements_(&elements), stack_(stack), out_(&out) {}

  /// Rows [row, row + lanes) of `traced.ray`.
  void append(std::uint64_t row, std::size_t lanes) {
    out_->depend();
    const std::uint64_t* const offset = traced_->access_offset.data() + row;
    const Access* const accesses = traced_->accesses.data();
    bool one_each = offset[lanes] - offset[0] == lanes;
    bool triangle_each = offset[lanes] - offset[0] == lanes * 4;
    for (std::size_t i = 0; i < lanes; ++i) {
      owner_[i] = &owners_[traced_->ray[row + i]];
      one_each &= offset[i + 1] - offset[i] == 1 && accesses[offset[i]].kind == accesses[offset[0]].kind &&
                  accesses[offset[i]].kind != AccessKind::Stack;
      triangle_each &= offset[i + 1] - offset[i] == 4 && accesses[offset[i]].kind == AccessKind::Index;
    }
    if (one_each) {
      one(accesses + offset[0], lanes);
    } else if (triangle_each) {
      triangles(accesses + offset[0], lanes);
    } else {
      any(offset, lanes);
    }
  }

 private:
  /// Every lane has one access, all of one kind.
  void one(const Access* access, std::size_t lanes) {
    for (std::size_t i = 0; i < lanes; ++i) {
      const std::uint64_t address = access[i].address;
      out_->add(owner_[i]->lane, address, elements_->counted(address), owner_[i]->thread);
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
      if (j == 1) {
        out_->depend();
      }
      out_->put(j == 0 ? DataKind::Index : DataKind::Vertex, access[j].bytes, false);
    }
  }
  void any(const std::uint64_t* offset, std::size_t lanes) {
    std::array<std::uint64_t, 64> next;
    std::copy(offset, offset + lanes, next.begin());
    std::uint64_t left = offset[lanes] - offset[0];
    while (left > 0) {
      out_->depend();
      Needs needs;
      for (const Meeting& meeting : kOrder) {
        while (const std::uint64_t taken = meet(meeting, offset, next, lanes, needs)) {
          left -= taken;
        }
      }
    }
  }
  /// The data that the instructions of a round have waited for.
  struct Needs {
    bool blocks = false;  ///< leaf blocks are read, and not waited for
    bool indices = false;

    /// Whether instructions of this kind wait.
    bool wait(AccessKind kind) {
      const bool waits =
          kind == AccessKind::Vertex ? indices : blocks && (kind == AccessKind::Index || kind == AccessKind::Box);
      if (waits) {
        *this = {};
      }
      blocks |= kind == AccessKind::Node;
      indices |= kind == AccessKind::Index;
      return waits;
    }
  };
  /// One instruction for the lanes whose next access is of this kind. Returns their number.
  std::uint64_t meet(const Meeting& meeting, const std::uint64_t* offset, std::array<std::uint64_t, 64>& next,
                     std::size_t lanes, Needs& needs) {
    const AccessKind kind = meeting.kind;
    std::uint64_t taken = 0;
    std::uint32_t bytes = 0;
    for (std::size_t i = 0; i < lanes; ++i) {
      if (next[i] == offset[i + 1] || traced_->accesses[next[i]].kind != kind ||
          traced_->accesses[next[i]].store != meeting.store) {
        continue;
      }
      const Access& access = traced_->accesses[next[i]++];
      ++taken;
      if (kind == AccessKind::Stack) {
        add_stack_entry(i, access);
        continue;
      }
      if (kind == AccessKind::Index) {
        face_[i] = elements_->element(access.address);
      }
      const bool of_face = kind == AccessKind::Index || (kind == AccessKind::Vertex && !elements_->holds_primitives());
      out_->add(owner_[i]->lane, access.address, of_face ? face_[i] : elements_->counted(access.address),
                owner_[i]->thread);
      bytes = access.bytes;
    }
    if (taken == 0) {
      return 0;
    }
    if (needs.wait(kind)) {
      out_->depend();
    }
    if (kind == AccessKind::Stack) {
      out_->put_words(DataKind::Stack, traversal::kStackEntryBytes / kLocalWord, stack_.warp_size * kLocalWord,
                      meeting.store);
    } else {
      out_->put(data_kind(kind), bytes, false);
    }
    return taken;
  }
  void add_stack_entry(std::size_t i, const Access& access) {
    const std::uint64_t entry = access.address / traversal::kStackEntryBytes;
    if (entry >= stack_.entries) {
      throw Error(ErrorKind::Internal,
                  {"a stack grew beyond the structure's depth", "access streams",
                   fmt::format("{} spilled entries", entry + 1), fmt::format("at most {}", stack_.entries), ""});
    }
    constexpr std::uint64_t kWords = traversal::kStackEntryBytes / kLocalWord;
    const std::uint32_t block = owner_[i]->home / stack_.warp_size;
    const std::uint64_t word = (std::uint64_t{block} * stack_.entries + entry) * kWords * stack_.warp_size +
                               owner_[i]->home % stack_.warp_size;
    out_->add(owner_[i]->lane, stack_.start + word * kLocalWord, stack_.first_element + block, owner_[i]->thread);
  }

  const traversal::WarpTraceResult* traced_;
  std::span<const RayOwner> owners_;
  const ElementFinder* elements_;
  StackMemory stack_;
  InstructionWriter* out_;
  std::array<const RayOwner*, 64> owner_{};
  std::array<std::uint32_t, 64> face_{};  ///< by lane: the index triple it loaded last
};

/// Rays that take a step. A warp gives a lane one ray here.
std::uint32_t rays_of(const traversal::WarpTraceResult& traced, std::size_t first_step, std::size_t last_step) {
  std::uint64_t lanes = 0;
  for (std::size_t index = first_step; index < last_step; ++index) {
    lanes |= traced.steps[index].kind == traversal::StepKind::Fetch ? 0 : traced.steps[index].mask;
  }
  return static_cast<std::uint32_t>(std::popcount(lanes));
}

}  // namespace

std::uint64_t append_steps(const traversal::WarpTraceResult& traced, std::size_t first_step, std::size_t last_step,
                           std::uint64_t first_lane, std::span<const RayOwner> owners, const ElementFinder& elements,
                           const StackMemory& stack, InstructionWriter& out) {
  Step step(traced, owners, elements, stack, out);
  WorkWriter* const work = out.work();
  out.enter(WorkStage::Traversal);
  const std::uint32_t rays = work == nullptr ? 0 : rays_of(traced, first_step, last_step);
  if (rays > 0) {
    work->begin_rays(rays);
  }
  std::uint64_t row = first_lane;
  for (std::size_t index = first_step; index < last_step; ++index) {
    const traversal::WarpStep& taken = traced.steps[index];
    const auto lanes = static_cast<std::uint32_t>(std::popcount(taken.mask));
    step.append(row, lanes);
    row += lanes;
    if (work != nullptr) {
      const traversal::StepTests& tests = traced.tests[index];
      const std::uint32_t nodes = taken.kind == traversal::StepKind::Node ? lanes : 0;
      const std::uint32_t references = taken.kind == traversal::StepKind::Leaf ? lanes : 0;
      work->test(tests.leaves + nodes, tests.boxes, references);
    }
  }
  if (rays > 0) {
    work->end_rays(rays);
  }
  return row;
}

}  // namespace rayreplay::memory
