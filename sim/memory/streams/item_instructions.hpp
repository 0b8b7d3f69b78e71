// The instructions of an item around its traversals: queues, states, shader calls, payloads, pixels. Internal to this
// folder.
//
// Contract: the parts of launch_source.hpp's order, one function each. The caller asks for them in that order, and for
// each group writes the steps of its traversal between `trace_call` and `rays_end`. The arguments must outlive this
// object.
//
// Work, if the writer has it: the different calls (shader and kind) among the lanes run one after another. The trace
// calls of a group come before its payload stores, other calls between the loads of record and payload and the store.
// Words of one array follow each other, and so do record and payload of a call; all else does not. Instructions belong
// to the stages of work_stage.hpp; the j-th calls of all lanes, with their records and payloads, are one round.
//
// Recorded accesses of shaders, if wanted, as access_alignment.hpp puts them together. Those of a call come after its
// work. Those around calls (recorded_accesses.hpp) come after the work of the next trace call or, of shaders other than
// ray generation, behind the segment's last ray. Lanes without rays enter with those before their first one. When all
// rays have ended, all lanes finish together: accesses of ray generation behind its last trace call, then pixels. None
// follows another, because the trace does not say which depends on which.
// Lanes whose images have blocks of another size, in an array of descriptors, make an instruction of their own, which
// follows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/memory/streams/access_alignment.hpp"
#include "sim/memory/streams/call_work.hpp"
#include "sim/memory/streams/instruction_writer.hpp"
#include "sim/memory/streams/launch_chunk.hpp"
#include "sim/memory/streams/launch_memory.hpp"
#include "sim/memory/streams/launch_source.hpp"

namespace rayreplay::memory {

class ItemInstructions {
 public:
  ItemInstructions(const trace::Trace& trace, const trace::Launch& launch, const LaunchMemory& memory,
                   const LaunchWork& work, const StreamOptions& options)
      : sites_(&trace.access_sites),
        recorded_(&launch.data.accesses),
        memory_(&memory),
        work_(work),
        options_(&options) {}

  /// Everything before the segments' rays.
  void start(const LaunchChunk& chunk, std::size_t item, InstructionWriter& out) const;
  /// The trace call of a group: payloads are written.
  void trace_call(const LaunchChunk& chunk, std::size_t item, std::size_t group, InstructionWriter& out) const;
  /// After the traversal of a group.
  void rays_end(const LaunchChunk& chunk, std::size_t item, std::size_t group, InstructionWriter& out) const;
  /// Everything after the segments' rays: finish, states; without `append` where items form during the run.
  void end(const LaunchChunk& chunk, std::size_t item, InstructionWriter& out) const;
  /// Counters and entries of the queues through which the threads go on.
  void append(std::span<const LaneGoingOn> lanes, InstructionWriter& out) const;

 private:
  void entries(const LaunchChunk& chunk, std::size_t item, InstructionWriter& out) const;
  void add_entry(std::uint32_t lane, std::uint32_t thread, std::uint32_t segment, InstructionWriter& out) const;
  template <class Moves>
  void states(const LaunchChunk& chunk, std::size_t item, bool store, Moves moves, InstructionWriter& out) const;
  void calls(const LaunchChunk& chunk, std::size_t item, std::uint64_t number, InstructionWriter& out) const;
  void run_with_accesses(const LaunchChunk& chunk, std::size_t item, std::uint64_t number, std::size_t j,
                         const std::vector<CallRun>& runs, InstructionWriter& out) const;
  void behind_rays(const LaunchChunk& chunk, std::size_t item, std::uint64_t number, InstructionWriter& out) const;
  void before_rays(const LaunchChunk& chunk, std::size_t item, std::uint64_t number, InstructionWriter& out) const;
  void finish(const LaunchChunk& chunk, std::size_t item, InstructionWriter& out) const;
  void accesses(std::span<const LaunchChunk::Lane* const> lanes, std::span<const std::span<const std::uint64_t>> rows,
                InstructionWriter& out) const;
  void image_accesses(std::uint32_t site, std::span<const AlignedAccess> together,
                      std::span<const LaunchChunk::Lane* const> lanes,
                      std::span<const std::span<const std::uint64_t>> rows, InstructionWriter& out) const;
  void pixels(const LaunchChunk& chunk, std::size_t item, InstructionWriter& out) const;

  [[nodiscard]] std::vector<CallRun> together(std::vector<LaneCall>& calls, InstructionWriter& out) const;
  [[nodiscard]] static WorkStage stage_of_round(const std::vector<CallRun>& calls);
  static void run(const std::vector<CallRun>& calls, InstructionWriter& out);
  void add_local(const LaunchArray& array, std::uint32_t bytes, const RayOwner& owner, InstructionWriter& out) const;
  void put_local(DataKind kind, std::uint32_t bytes, bool store, InstructionWriter& out) const;
  [[nodiscard]] const LaunchArray& region_of(trace::TableRegion region) const;

  const trace::AccessSites* sites_;
  const trace::Accesses* recorded_;
  const LaunchMemory* memory_;
  LaunchWork work_;
  const StreamOptions* options_;
};

}  // namespace rayreplay::memory
