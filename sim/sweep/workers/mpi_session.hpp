// The MPI session of this process: the team of its ranks, and the processors of each rank.
//
// Contract: `mpi_launch` inspects the environment only (Open MPI, MPICH and derivatives, Slurm with PMIx): a process
// without an MPI launcher, or a single one, never touches MPI. `begin` starts MPI; Missing if rayreplay was built
// without it. With `per_node`, the first rank of each machine works with the processors of all its ranks (their
// affinity masks) and the others only attend; without it each rank works with its own. The destructor ends MPI and
// waits for all ranks. An MPI error, such as a lost rank, ends the whole job with MPI's message. All calls come from
// the thread that called `begin`. Source: MPI: A Message-Passing Interface Standard 3.1, chapters 5 (collective
// operations), 8 and 11 (one-sided communication).
//
// The counters are a window of rank 0, which others change with MPI_Fetch_and_op. Over a network, Open MPI 4.1
// progresses these operations only inside MPI calls of rank 0: without calls an operation took 3.2 s in a test, with
// MPI_Iprobe every 2 ms at most 0.1 s, on two busy cores. A separate MPI thread is not possible, because that window
// does not support MPI_THREAD_MULTIPLE. Rank 0 therefore calls MPI while it waits for results. On one machine ranks
// share memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "sim/sweep/workers/team.hpp"

namespace rayreplay::sweep {

struct MpiLaunch {
  bool asked = false;  ///< started with several ranks
  std::string sign;    ///< "OMPI_COMM_WORLD_SIZE=4"
};

[[nodiscard]] MpiLaunch mpi_launch();
[[nodiscard]] bool built_with_mpi();
/// "Open MPI v4.1.4, …"; "" without MPI.
[[nodiscard]] std::string mpi_version();

class MpiSession : public Team {
 public:
  [[nodiscard]] static std::unique_ptr<MpiSession> begin(bool per_node);

  [[nodiscard]] virtual bool works() const = 0;           ///< always true for rank 0
  [[nodiscard]] virtual std::uint32_t cores() const = 0;  ///< available for evaluation
  [[nodiscard]] virtual int node_rank() const = 0;        ///< among the ranks of this machine
  [[nodiscard]] virtual int node_workers() const = 0;     ///< ranks of this machine that work
};

}  // namespace rayreplay::sweep
