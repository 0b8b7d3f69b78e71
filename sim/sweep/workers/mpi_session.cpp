#include "sim/sweep/workers/mpi_session.hpp"

#include <cstdlib>
#include <string_view>

#include "base/error.hpp"

#ifdef RAYREPLAY_HAS_MPI
#include <algorithm>
#include <array>
#include <chrono>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include <mpi.h>
#include <sched.h>
#endif

namespace rayreplay::sweep {
namespace {

/// The variable's value as a number of ranks; 0 if it is not set.
long number(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? 0 : std::strtol(value, nullptr, 10);
}

}  // namespace

MpiLaunch mpi_launch() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"}) {
    if (number(name) > 1) {
      return {true, std::string(name) + "=" + std::getenv(name)};
    }
  }
  // With srun --mpi=pmix only the PMIx server's address reveals MPI.
  for (const char* name : {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"}) {
    if (std::getenv("PMIX_RANK") != nullptr && number(name) > 1) {
      return {true, std::string("PMIX_RANK, ") + name + "=" + std::getenv(name)};
    }
  }
  return {};
}

#ifndef RAYREPLAY_HAS_MPI

bool built_with_mpi() {
  return false;
}

std::string mpi_version() {
  return "";
}

std::unique_ptr<MpiSession> MpiSession::begin(bool /*per_node*/) {
  throw Error(ErrorKind::Missing,
              {"this rayreplay was built without MPI, and was started by an MPI launcher", "", mpi_launch().sign, "",
               "build it with MPI (-DRAYREPLAY_MPI=ON), or give each job its part: --shard i/N, then rayreplay merge"});
}

#else

namespace {

constexpr std::chrono::microseconds kFirstWait{100}, kLongestWait{10'000};

/// Yields the processor, which MPI_Wait does not.
void wait(MPI_Request request) {
  int done = 0;
  for (std::chrono::microseconds pause = kFirstWait;; pause = std::min(2 * pause, kLongestWait)) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done != 0) {
      return;
    }
    std::this_thread::sleep_for(pause);
  }
}

/// The affinity masks of all ranks of one machine, by local rank.
std::vector<cpu_set_t> masks_of(MPI_Comm node, int size) {
  cpu_set_t own;
  CPU_ZERO(&own);
  ::sched_getaffinity(0, sizeof own, &own);
  std::vector<cpu_set_t> all(static_cast<std::size_t>(size));
  MPI_Allgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, node);
  return all;
}

/// Ranks of one machine need no network. Without the search for one, Open MPI starts in half the time. The user's own
/// settings stay.
void leave_network_out() {
  if (number("OMPI_COMM_WORLD_SIZE") < 1 || number("OMPI_COMM_WORLD_SIZE") != number("OMPI_COMM_WORLD_LOCAL_SIZE")) {
    return;
  }
  // An exclusion list is valid even if this version has none of these components.
  constexpr std::array kSettings = {std::pair("OMPI_MCA_pml", "ob1"),
                                    std::pair("OMPI_MCA_btl", "^tcp,openib,usnic,uct,ofi,ugni,portals4"),
                                    std::pair("OMPI_MCA_osc", "^ucx,portals4"), std::pair("OMPI_MCA_coll", "^hcoll")};
  const bool asked = std::any_of(kSettings.begin(), kSettings.end(),
                                 [](const auto& setting) { return std::getenv(setting.first) != nullptr; });
  for (const auto& [name, value] : kSettings) {
    if (!asked) {
      ::setenv(name, value, 1);
    }
  }
}

class Session : public MpiSession {
 public:
  explicit Session(bool per_node) {
    leave_network_out();
    int given = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node);
    int node_size = 1;
    MPI_Comm_rank(node, &node_rank_);
    MPI_Comm_size(node, &node_size);
    find_cores(masks_of(node, node_size), per_node);
    works_ = !per_node || node_rank_ == 0;
    node_workers_ = per_node ? 1 : node_size;
    const int own = works_ ? 1 : 0;
    MPI_Allreduce(&own, &workers_, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Comm_free(&node);
    const MPI_Aint bytes = rank_ == 0 ? kCounters * sizeof(std::int64_t) : 0;
    MPI_Win_allocate(bytes, sizeof(std::int64_t), MPI_INFO_NULL, MPI_COMM_WORLD, &counters_, &window_);
    if (rank_ == 0) {
      std::fill_n(counters_, kCounters, 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
  }

  ~Session() override {
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
    MPI_Finalize();
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  [[nodiscard]] int rank() const override {
    return rank_;
  }
  [[nodiscard]] int workers() const override {
    return workers_;
  }

  [[nodiscard]] std::vector<std::string> gather(const std::string& mine) override {
    const auto length = static_cast<int>(mine.size());
    std::vector<int> lengths(static_cast<std::size_t>(size_));
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, MPI_COMM_WORLD, &request);
    wait(request);
    std::vector<int> places(lengths.size());
    std::exclusive_scan(lengths.begin(), lengths.end(), places.begin(), 0);
    std::string all(static_cast<std::size_t>(places.back() + lengths.back()), '\0');
    MPI_Iallgatherv(mine.data(), length, MPI_BYTE, all.data(), lengths.data(), places.data(), MPI_BYTE, MPI_COMM_WORLD,
                    &request);
    wait(request);
    std::vector<std::string> result;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      result.push_back(all.substr(static_cast<std::size_t>(places[i]), static_cast<std::size_t>(lengths[i])));
    }
    return result;
  }

  std::int64_t fetch_add(Counter counter, std::int64_t value) override {
    std::int64_t before = 0;
    MPI_Fetch_and_op(&value, &before, MPI_INT64_T, 0, static_cast<MPI_Aint>(counter), MPI_SUM, window_);
    MPI_Win_flush(0, window_);
    if (rank_ == 0) {
      int any = 0;  // progresses the operations of other ranks on rank 0's window
      MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &any, MPI_STATUS_IGNORE);
    }
    return before;
  }

  [[nodiscard]] bool works() const override {
    return works_;
  }
  [[nodiscard]] std::uint32_t cores() const override {
    return cores_;
  }
  [[nodiscard]] int node_rank() const override {
    return node_rank_;
  }
  [[nodiscard]] int node_workers() const override {
    return node_workers_;
  }

 private:
  void find_cores(const std::vector<cpu_set_t>& masks, bool per_node) {
    const cpu_set_t own = masks[static_cast<std::size_t>(node_rank_)];
    if (!per_node) {
      // Unbound ranks have equal masks and share the processors.
      const auto sharing = std::count_if(masks.begin(), masks.end(),
                                         [&](const cpu_set_t& other) { return CPU_EQUAL(&other, &own) != 0; });
      cores_ = static_cast<std::uint32_t>(std::max<std::ptrdiff_t>(1, CPU_COUNT(&own) / sharing));
      return;
    }
    cpu_set_t all;
    CPU_ZERO(&all);
    for (const cpu_set_t& mask : masks) {
      CPU_OR(&all, &all, &mask);
    }
    cores_ = static_cast<std::uint32_t>(std::max(1, CPU_COUNT(&all)));
    if (node_rank_ == 0) {
      // Threads started later inherit the mask.
      ::sched_setaffinity(0, sizeof all, &all);
    }
  }

  int rank_ = 0, size_ = 1, workers_ = 1;
  std::int64_t* counters_ = nullptr;
  MPI_Win window_ = MPI_WIN_NULL;
  bool works_ = true;
  std::uint32_t cores_ = 1;
  int node_rank_ = 0;
  int node_workers_ = 1;
};

}  // namespace

bool built_with_mpi() {
  return true;
}

std::string mpi_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  const std::string_view whole(text.data(), static_cast<std::size_t>(length));
  return std::string(whole.substr(0, whole.find(',')));
}

std::unique_ptr<MpiSession> MpiSession::begin(bool per_node) {
  return std::make_unique<Session>(per_node);
}

#endif

}  // namespace rayreplay::sweep
