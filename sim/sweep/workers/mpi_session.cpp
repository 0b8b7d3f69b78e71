#include "sim/sweep/workers/mpi_session.hpp"

#include <cstdlib>
#include <string_view>

#include "base/error.hpp"

#ifdef RAYREPLAY_HAS_MPI
#include <algorithm>
#include <array>
#include <chrono>
#include <list>
#include <thread>
#include <utility>

#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <fmt/format.h>
#endif

namespace rayreplay::sweep {
namespace {

/// The variable's value as a number of ranks; 0 where there is none.
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
  // srun --mpi=pmix says nothing of MPI but where its server is.
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

/// One message of this size holds the rows of a million configurations: more is a fault.
constexpr int kMostBytes = 1 << 30;
constexpr int kTag = 8;
constexpr std::chrono::seconds kFinalize{10};
constexpr std::chrono::milliseconds kPoll{1};

std::string mpi_reason(int code) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  return {text.data(), static_cast<std::size_t>(length)};
}

void require(int code, const char* what) {
  if (code != MPI_SUCCESS) {
    throw Error(ErrorKind::Resource, {what, "MPI", mpi_reason(code), "", ""});
  }
}

class MpiLink : public Link {
 public:
  MpiLink(MPI_Comm communicator, std::vector<int> workers) : communicator_(communicator), workers_(std::move(workers)) {
    MPI_Comm_rank(communicator_, &rank_);
    MPI_Comm_size(communicator_, &size_);
  }

  [[nodiscard]] int rank() const override {
    return rank_;
  }
  [[nodiscard]] int size() const override {
    return size_;
  }
  [[nodiscard]] const std::vector<int>& workers() const override {
    return workers_;
  }
  [[nodiscard]] bool broken() const {
    return broken_;
  }
  void mark_broken() override {
    broken_ = true;
  }

  void send(int to, std::string bytes) override {
    progress();
    Sending& sending = sending_.emplace_back();
    sending.bytes = std::move(bytes);
    const int code = MPI_Isend(sending.bytes.data(), static_cast<int>(sending.bytes.size()), MPI_BYTE, to, kTag,
                               communicator_, &sending.request);
    if (code != MPI_SUCCESS) {
      sending_.pop_back();  // it is gone; the silence tells
    }
  }

  [[nodiscard]] std::optional<Envelope> receive() override {
    progress();
    begin_receives();
    // What a sender that is gone did not finish comes no more; its silence tells.
    receiving_.remove_if([](Receiving& receiving) { return test(receiving.request) == State::Failed; });
    for (auto it = receiving_.begin(); it != receiving_.end(); ++it) {
      // The order of one sender is kept: what it sent before comes first.
      const bool first = std::none_of(receiving_.begin(), it,
                                      [&](const Receiving& other) { return other.envelope.from == it->envelope.from; });
      if (first && test(it->request) == State::Done) {
        Envelope envelope = std::move(it->envelope);
        receiving_.erase(it);
        return envelope;
      }
    }
    return std::nullopt;
  }

  void flush(std::chrono::milliseconds most) override {
    const auto until = std::chrono::steady_clock::now() + most;
    progress();
    while (!sending_.empty() && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(kPoll);
      progress();
    }
  }

 private:
  struct Sending {
    std::string bytes;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  struct Receiving {
    Envelope envelope;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  enum class State : std::uint8_t { Waiting, Done, Failed };

  static State test(MPI_Request& request) {
    if (request == MPI_REQUEST_NULL) {
      return State::Done;
    }
    int done = 0;
    if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
      return State::Failed;
    }
    return done != 0 ? State::Done : State::Waiting;
  }

  void progress() {
    sending_.remove_if([](Sending& sending) { return test(sending.request) != State::Waiting; });
  }

  void begin_receives() {
    for (;;) {
      int there = 0;
      MPI_Message message = MPI_MESSAGE_NULL;
      MPI_Status status;
      require(MPI_Improbe(MPI_ANY_SOURCE, kTag, communicator_, &there, &message, &status),
              "messages cannot be received");
      if (there == 0) {
        return;
      }
      int count = 0;
      MPI_Get_count(&status, MPI_BYTE, &count);
      if (count < 0 || count > kMostBytes) {
        throw Error(ErrorKind::Input, {"a message is too long", fmt::format("rank {}", status.MPI_SOURCE),
                                       fmt::format("{} bytes", count), fmt::format("at most {}", kMostBytes), ""});
      }
      Receiving& receiving = receiving_.emplace_back();
      receiving.envelope.from = status.MPI_SOURCE;
      receiving.envelope.bytes.resize(static_cast<std::size_t>(count));
      require(MPI_Imrecv(receiving.envelope.bytes.data(), count, MPI_BYTE, &message, &receiving.request),
              "a message cannot be received");
    }
  }

  MPI_Comm communicator_;
  std::vector<int> workers_;
  int rank_ = 0;
  int size_ = 1;
  bool broken_ = false;
  std::list<Sending> sending_;
  std::list<Receiving> receiving_;
};

/// The masks of all ranks of one machine, by rank there.
std::vector<cpu_set_t> masks_of(MPI_Comm node, int size) {
  cpu_set_t own;
  CPU_ZERO(&own);
  ::sched_getaffinity(0, sizeof own, &own);
  std::vector<cpu_set_t> all(static_cast<std::size_t>(size));
  require(MPI_Allgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, node),
          "the ranks of a machine cannot be asked for their processors");
  return all;
}

/// Ranks of one machine need no network: not looking for one halves the time that Open MPI takes to start. What the
/// user asks for stays.
void leave_network_out() {
  if (number("OMPI_COMM_WORLD_SIZE") < 1 || number("OMPI_COMM_WORLD_SIZE") != number("OMPI_COMM_WORLD_LOCAL_SIZE")) {
    return;
  }
  // What the components of this version are called does not matter for those that are left out.
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
    require(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &given), "MPI cannot be started");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm world = MPI_COMM_NULL;
    require(MPI_Comm_dup(MPI_COMM_WORLD, &world), "MPI gives no communicator");
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    int rank = 0;
    int size = 1;
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    MPI_Comm node = MPI_COMM_NULL;
    require(MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node),
            "MPI does not tell which ranks share a machine");
    int node_size = 1;
    MPI_Comm_rank(node, &node_rank_);
    MPI_Comm_size(node, &node_size);
    find_cores(masks_of(node, node_size), per_node);
    works_ = !per_node || node_rank_ == 0;
    node_workers_ = per_node ? 1 : node_size;
    const int own = works_ ? 1 : 0;
    std::vector<int> flags(static_cast<std::size_t>(size));
    require(MPI_Allgather(&own, 1, MPI_INT, flags.data(), 1, MPI_INT, world), "the ranks cannot be asked who works");
    std::vector<int> workers;
    for (int other = 1; other < size; ++other) {
      if (flags[static_cast<std::size_t>(other)] == 1) {
        workers.push_back(other);
      }
    }
    MPI_Comm_free(&node);
    link_ = std::make_unique<MpiLink>(world, std::move(workers));
  }

  ~Session() override {
    if (link_->broken()) {
      return;
    }
    std::thread([code = exit_code_] {
      std::this_thread::sleep_for(kFinalize);
      ::_exit(code);
    }).detach();
    MPI_Finalize();
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  [[nodiscard]] Link& link() override {
    return *link_;
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
  [[nodiscard]] bool broken() const override {
    return link_->broken();
  }
  void set_exit_code(int code) override {
    exit_code_ = code;
  }

 private:
  void find_cores(const std::vector<cpu_set_t>& masks, bool per_node) {
    const cpu_set_t own = masks[static_cast<std::size_t>(node_rank_)];
    if (!per_node) {
      // Ranks that were not bound have one mask: they share its processors.
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
      // Threads started from here on inherit it.
      ::sched_setaffinity(0, sizeof all, &all);
    }
  }

  std::unique_ptr<MpiLink> link_;
  bool works_ = true;
  std::uint32_t cores_ = 1;
  int node_rank_ = 0;
  int node_workers_ = 1;
  int exit_code_ = static_cast<int>(ErrorKind::Resource);
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
