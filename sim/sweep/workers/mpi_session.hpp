// MPI, where this process was started by it: the team of its ranks, and which processors each may use.
//
// Contract: `mpi_launch` looks at the environment alone (Open MPI, MPICH and its kin, Slurm with PMIx): a process that
// was not started by an MPI launcher, or alone, never touches MPI. `begin` starts MPI; Missing where rayreplay was
// built without it. `per_node`: the first rank of each machine works, with all processors that its ranks may use
// together (their affinity masks), and the others attend; otherwise each rank works with its own. The destructor ends
// MPI, and waits for all ranks. An error of MPI, such as a rank that is lost, ends the whole job, with a message of
// MPI. All calls come from the thread that called `begin`. Source: MPI: A Message-Passing Interface Standard 3.1,
// chapters 5 (collective operations), 8 and 11 (one-sided communication).
//   The counters are a window of rank 0, which others change by MPI_Fetch_and_op. Over a network Open MPI 4.1 answers
// only while rank 0 calls MPI: without calls an operation took until the next one (3.2 s in a test), with MPI_Iprobe
// every 2 ms at most 0.1 s, on two busy cores. A thread of its own for MPI is no choice there, as that window does not
// support MPI_THREAD_MULTIPLE. So rank 0 calls MPI between looking for results. On one machine ranks share the memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "sim/sweep/workers/team.hpp"

namespace rayreplay::sweep {

struct MpiLaunch {
  bool asked = false;  ///< several ranks
  std::string sign;    ///< "OMPI_COMM_WORLD_SIZE=4"
};

[[nodiscard]] MpiLaunch mpi_launch();
[[nodiscard]] bool built_with_mpi();
/// "Open MPI v4.1.4, …"; "" without MPI.
[[nodiscard]] std::string mpi_version();

class MpiSession : public Team {
 public:
  [[nodiscard]] static std::unique_ptr<MpiSession> begin(bool per_node);

  [[nodiscard]] virtual bool works() const = 0;           ///< rank 0 always does
  [[nodiscard]] virtual std::uint32_t cores() const = 0;  ///< to work with
  [[nodiscard]] virtual int node_rank() const = 0;        ///< among the ranks of this machine
  [[nodiscard]] virtual int node_workers() const = 0;     ///< ranks of this machine that work
};

}  // namespace rayreplay::sweep
