// MPI, where this process was started by it: the line between ranks, and which cores each may use.
//
// Contract: `mpi_launch` looks at the environment alone (Open MPI, MPICH and its kin, Slurm with PMIx): a process that
// was not started by an MPI launcher, or alone, never touches MPI. `begin` starts MPI; Missing where rayreplay was
// built without it. `per_node`: the first rank of each machine works, with all processors that its ranks may use
// together (their affinity masks), and the others sleep; otherwise each rank works with its own. The destructor ends
// MPI, but not where the line is broken, and it does not wait for ever: a process that is lost cannot answer. All calls
// from the thread that called `begin`. Source: MPI: A Message-Passing Interface Standard 3.1, chapters 8 and 12.4.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "sim/sweep/workers/link.hpp"

namespace rayreplay::sweep {

struct MpiLaunch {
  bool asked = false;  ///< several ranks
  std::string sign;    ///< "OMPI_COMM_WORLD_SIZE=4"
};

[[nodiscard]] MpiLaunch mpi_launch();
[[nodiscard]] bool built_with_mpi();
/// "Open MPI v4.1.4, …"; "" without MPI.
[[nodiscard]] std::string mpi_version();

class MpiSession {
 public:
  [[nodiscard]] static std::unique_ptr<MpiSession> begin(bool per_node);
  virtual ~MpiSession() = default;

  [[nodiscard]] virtual Link& link() = 0;
  [[nodiscard]] virtual bool works() const = 0;           ///< rank 0 always does
  [[nodiscard]] virtual std::uint32_t cores() const = 0;  ///< to work with
  [[nodiscard]] virtual int node_rank() const = 0;        ///< among the ranks of this machine
  [[nodiscard]] virtual int node_workers() const = 0;     ///< ranks of this machine that work
  [[nodiscard]] virtual bool broken() const = 0;
  /// What to leave with should MPI not end.
  virtual void set_exit_code(int code) = 0;
};

}  // namespace rayreplay::sweep
