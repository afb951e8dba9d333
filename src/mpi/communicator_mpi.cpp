// Communicator over MPI. Only nonblocking calls: each is started, then tested until it completes or the deadline
// passes.
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>
#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <thread>

#include <fmt/format.h>
#include <ridge/error.hpp>
#include <ridge/mpi/communicator.hpp>

#include "base/clock.hpp"
#include "base/number.hpp"
#include "mpi/communicator_state.hpp"
#include "mpi/launched.hpp"

namespace ridge::mpi {
namespace {

constexpr int kAliveTag = 30000;                      // tag of "I have stopped waiting"; below every MPI's tag limit
constexpr double kSpin = 2e-3;                        // seconds of polling before a waiting thread sleeps
constexpr double kRollCall = 2;                       // seconds to wait for the kAliveTag messages of other ranks
constexpr std::size_t kPiece = std::size_t{1} << 30;  // bytes per message: MPI counts in int

void must(int status, const char* what) {
  if (status == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(status, text, &length);
  throw Error(ErrorKind::device, fmt::format("MPI: {} failed: {}", what, text));
}

template <class Call>
void in_pieces(void* data, std::size_t bytes, const Call& call) {
  auto* at = static_cast<char*>(data);
  do {
    const std::size_t now = std::min(bytes, kPiece);
    call(at, static_cast<int>(now));
    at += now;
    bytes -= now;
  } while (bytes > 0);
}

void finalize_at_exit() {
  int ended = 0;
  if (MPI_Finalized(&ended) == MPI_SUCCESS && ended == 0) MPI_Finalize();
}

bool main_thread_only(int level) { return level < MPI_THREAD_SERIALIZED; }

struct MpiState final : Communicator::State {
  MPI_Comm comm = MPI_COMM_NULL;
  int level = MPI_THREAD_SINGLE;
  Services services;

  explicit MpiState(const Services& given) : services(given) {}
  MpiState(const MpiState&) = delete;
  MpiState& operator=(const MpiState&) = delete;
  ~MpiState() override {
    int ended = 0;
    if (comm != MPI_COMM_NULL && MPI_Finalized(&ended) == MPI_SUCCESS && ended == 0) MPI_Comm_free(&comm);
  }

  void check_thread() const {
    int here = 1;
    if (main_thread_only(level) && MPI_Is_thread_main(&here) == MPI_SUCCESS && here == 0) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("rank {}: this MPI was started for calls from its main thread only: use "
                              "MPI_Init_thread(..., MPI_THREAD_SERIALIZED, ...)",
                              rank));
    }
  }

  // Waits until all requests are complete.
  void wait(std::span<MPI_Request> requests, MPI_Status* statuses, const char* what) const {
    const int number = static_cast<int>(requests.size());
    double begun = 0, looked = 0;
    for (unsigned turn = 0;; ++turn) {
      int done = 0;
      must(MPI_Testall(number, requests.data(), &done, statuses), what);
      if (done != 0) return;
      if (turn % 16 != 15) continue;
      const double now = base::now();
      if (begun == 0) begun = looked = now;
      // After kSpin seconds the thread sleeps for 2 % of the time waited so far, so that the core is free for others.
      if (now - begun < kSpin) {
        sched_yield();
      } else {
        std::this_thread::sleep_for(std::chrono::duration<double>(std::clamp((now - begun) / 50, 20e-6, 2e-3)));
      }
      if (deadline <= 0) continue;
      if (now - begun > deadline) give_up(what, now - begun);
      if (now - looked < 0.05) continue;
      looked = now;
      int called = 0;
      must(MPI_Iprobe(MPI_ANY_SOURCE, kAliveTag, comm, &called, MPI_STATUS_IGNORE), what);
      if (called != 0) give_up(what, now - begun);
    }
  }
  void wait(MPI_Request request, const char* what) const { wait(std::span(&request, 1), MPI_STATUSES_IGNORE, what); }

  // Ends all processes after the deadline. Ranks that are still waiting answer each other; the lowest of them prints
  // which ranks did not answer.
  [[noreturn]] void give_up(const char* what, double waited) const {
    std::vector<char> tokens(count);
    std::vector<MPI_Request> come(count, MPI_REQUEST_NULL), go = come;
    for (std::size_t i = 0; i < count; ++i) {
      if (i == rank) continue;
      MPI_Irecv(&tokens[i], 1, MPI_CHAR, static_cast<int>(i), kAliveTag, comm, &come[i]);
      MPI_Isend(&tokens[rank], 1, MPI_CHAR, static_cast<int>(i), kAliveTag, comm, &go[i]);
    }
    std::vector<int> done(count, 0);
    for (const double until = base::now() + kRollCall; base::now() < until; sched_yield()) {
      for (std::size_t i = 0; i < come.size(); ++i) {
        int sent = 0;
        if (done[i] == 0) MPI_Test(&come[i], &done[i], MPI_STATUS_IGNORE);
        MPI_Test(&go[i], &sent, MPI_STATUS_IGNORE);
      }
    }
    std::string missing;
    bool first = true;
    for (std::size_t i = 0; i < done.size(); ++i) {
      if (done[i] == 0) missing += fmt::format("{}{}", missing.empty() ? "" : ", ", i);
      if (done[i] != 0 && i < rank) first = false;
    }
    if (first) {
      fmt::print(stderr, "ridge: rank {} waited {:.1f} s while {}{}; all processes end\n", rank, waited, what,
                 missing.empty() ? std::string() : fmt::format(", and rank {} does not answer", missing));
    }
    std::fflush(nullptr);
    // The lowest rank may have started later. Its MPI_Abort ends this process too.
    if (!first) std::this_thread::sleep_for(std::chrono::duration<double>(3 + 2 * kRollCall));
    end_all(1);
  }

  [[noreturn]] void end_all(int code) const override {
    services.remove_temporaries();
    try {  // MPI_Abort may block forever
      std::thread([code] {
        std::this_thread::sleep_for(std::chrono::seconds(5));
        std::_Exit(code);
      }).detach();
    } catch (const std::system_error&) {
    }
    MPI_Abort(MPI_COMM_WORLD, code);
    std::_Exit(code);
  }

  void find_machines() {
    int number = 0, processes = 1;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &number);
    MPI_Comm_size(comm, &processes);
    rank = static_cast<std::size_t>(number);
    count = static_cast<std::size_t>(processes);
    can_overlap = !main_thread_only(level);
    MPI_Comm here = MPI_COMM_NULL;
    must(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, number, MPI_INFO_NULL, &here), "finding this machine");
    int rank_on_it = 0, on_it = 1;
    MPI_Comm_rank(here, &rank_on_it);
    MPI_Comm_size(here, &on_it);
    rank_here = static_cast<std::size_t>(rank_on_it);
    count_here = static_cast<std::size_t>(on_it);
    std::size_t leader = rank;
    must(MPI_Bcast(&leader, sizeof leader, MPI_BYTE, 0, here), "finding this machine");
    MPI_Comm_free(&here);
    struct Mine {
      std::size_t leader;
      cpu_set_t cores;
    } mine{leader, {}};
    const bool known = sched_getaffinity(0, sizeof mine.cores, &mine.cores) == 0;
    std::vector<Mine> all(count);
    must(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, comm), "finding machines");
    std::vector<std::size_t> leaders;
    machine_of.clear();
    std::size_t sharing = 0;
    for (const Mine& one : all) {
      const auto found = std::find(leaders.begin(), leaders.end(), one.leader);
      machine_of.push_back(static_cast<std::size_t>(found - leaders.begin()));
      if (found == leaders.end()) leaders.push_back(one.leader);
      if (one.leader == leader && CPU_EQUAL(&one.cores, &mine.cores) != 0) ++sharing;
    }
    machines = leaders.size();
    threads = services.hardware_threads();
    if (known && std::getenv("RIDGE_THREADS") == nullptr) threads /= std::max<std::size_t>(1, sharing);
    threads = level == MPI_THREAD_SINGLE ? 1 : std::max<std::size_t>(1, threads);
  }

  std::shared_ptr<State> split(std::size_t group) const override {
    check_thread();
    barrier();  // applies the deadline to missing ranks, which MPI_Comm_split does not
    auto part = std::make_shared<MpiState>(services);
    part->level = level;
    part->deadline = deadline;
    must(MPI_Comm_split(comm, static_cast<int>(group), static_cast<int>(rank), &part->comm), "MPI_Comm_split");
    part->find_machines();
    part->threads = threads;  // other groups use the remaining cores
    return part;
  }

  bool knows_cuda_memory() const override {
// Open MPI has the extension (it may still report no support); MPICH has it since version 4.
#if defined(MPIX_CUDA_AWARE_SUPPORT) || defined(MPICH)
    return MPIX_Query_cuda_support() == 1;
#else
    return false;
#endif
  }

  void barrier() const override {
    check_thread();
    MPI_Request request;
    must(MPI_Ibarrier(comm, &request), "MPI_Ibarrier");
    wait(request, "waiting for the other ranks");
  }

  void broadcast(void* data, std::size_t bytes) const override {
    check_thread();
    in_pieces(data, bytes, [&](char* at, int length) {
      MPI_Request request;
      must(MPI_Ibcast(at, length, MPI_BYTE, 0, comm, &request), "MPI_Ibcast");
      wait(request, "waiting for the root");
    });
  }

  double reduce(double value, MPI_Op how) const {
    check_thread();
    double result = value;
    MPI_Request request;
    must(MPI_Iallreduce(&value, &result, 1, MPI_DOUBLE, how, comm, &request), "MPI_Iallreduce");
    wait(request, "waiting for the other ranks");
    return result;
  }
  double largest(double value) const override { return reduce(value, MPI_MAX); }
  double sum(double value) const override { return reduce(value, MPI_SUM); }

  void gather(const void* mine, std::size_t bytes, void* all) const override {
    check_thread();
    if (bytes > kPiece / count) {
      throw Error(ErrorKind::internal,
                  fmt::format("MPI: gather needs at most {} bytes per rank, got {}", kPiece / count, bytes));
    }
    MPI_Request request;
    const int length = static_cast<int>(bytes);
    must(MPI_Iallgather(mine, length, MPI_BYTE, all, length, MPI_BYTE, comm, &request), "MPI_Iallgather");
    wait(request, "waiting for the other ranks");
  }

  void post(std::unique_ptr<Communicator::Pending::State>& pending, std::span<const Communicator::Message> out,
            std::span<const Communicator::Message> in) const override;
};

struct MpiPending final : Communicator::Pending::State {
  std::shared_ptr<const MpiState> of;
  std::vector<MPI_Request> requests;  // receives first, then sends
  std::vector<int> expected;          // bytes of each receive
  std::vector<MPI_Status> statuses;

  void finish() {
    for (std::size_t i = 0; i < expected.size(); ++i) {
      int got = 0;
      if (MPI_Get_count(&statuses[i], MPI_BYTE, &got) == MPI_SUCCESS && got == expected[i]) continue;
      throw Error(ErrorKind::internal, fmt::format("MPI: rank {} sent {} bytes to rank {} where {} were expected",
                                                   statuses[i].MPI_SOURCE, got, of->rank, expected[i]));
    }
    requests.clear();
    expected.clear();
  }

  bool test() override {
    if (requests.empty()) return true;
    int done = 0;
    must(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, statuses.data()), "exchanging");
    if (done != 0) finish();
    return done != 0;
  }

  void wait() override {
    if (requests.empty()) return;
    of->wait(requests, statuses.data(), "exchanging data");
    finish();
  }
};

void MpiState::post(std::unique_ptr<Communicator::Pending::State>& pending, std::span<const Communicator::Message> out,
                    std::span<const Communicator::Message> in) const {
  check_thread();
  if (!pending) pending = std::make_unique<MpiPending>();
  auto& posted = static_cast<MpiPending&>(*pending);
  if (!in.empty() && posted.requests.size() != posted.expected.size()) {
    throw Error(ErrorKind::internal, "receives must be posted before sends");
  }
  posted.of = std::static_pointer_cast<const MpiState>(shared_from_this());
  for (const Communicator::Message& message : in) {
    in_pieces(message.data, message.bytes, [&](char* at, int length) {
      posted.expected.push_back(length);
      must(MPI_Irecv(at, length, MPI_BYTE, static_cast<int>(message.rank), message.tag, comm,
                     &posted.requests.emplace_back()),
           "receiving");
    });
  }
  for (const Communicator::Message& message : out) {
    in_pieces(message.data, message.bytes, [&](char* at, int length) {
      must(MPI_Isend(at, length, MPI_BYTE, static_cast<int>(message.rank), message.tag, comm,
                     &posted.requests.emplace_back()),
           "sending");
    });
  }
  posted.statuses.resize(posted.requests.size());
}

}  // namespace

std::shared_ptr<Communicator::State> mpi_world(const Services& services) {
  int started = 0;
  must(MPI_Initialized(&started), "MPI_Initialized");
  const Launch launched = launch();
  if (started == 0) {
    if (!launched.perhaps_others()) return nullptr;
    int level = MPI_THREAD_SINGLE;
    must(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level), "MPI_Init_thread");
    std::atexit(finalize_at_exit);
  }
  int count = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  if (count == 1 && launched.others()) {
    throw Error(ErrorKind::unavailable,
                fmt::format("several processes were started ({}), but the MPI this ridge was built with does not find "
                            "the others: start it with that MPI's mpirun, or with srun --mpi=pmix",
                            launched.variable));
  }
  return mpi_from(MPI_Comm_c2f(MPI_COMM_WORLD), services);
}

std::shared_ptr<Communicator::State> mpi_from(int handle, const Services& services) {
  int started = 0, ended = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  if (started == 0 || ended != 0) {
    throw Error(ErrorKind::invalid_argument, "a communicator needs MPI between MPI_Init_thread and MPI_Finalize");
  }
  const MPI_Comm given = MPI_Comm_f2c(handle);
  if (given == MPI_COMM_NULL) throw Error(ErrorKind::invalid_argument, "needs a communicator, got MPI_COMM_NULL");
  auto state = std::make_shared<MpiState>(services);
  must(MPI_Query_thread(&state->level), "MPI_Query_thread");
  state->check_thread();
  must(MPI_Comm_dup(given, &state->comm), "MPI_Comm_dup");
  if (const char* seconds = std::getenv("RIDGE_MPI_DEADLINE")) state->deadline = base::number_of(seconds).value_or(0);
  state->find_machines();
  return state;
}

}  // namespace ridge::mpi
