#define OMPI_SKIP_MPICXX 1
#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <system_error>
#include <thread>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/temporaries.hpp"
#include "base/threads.hpp"
#include "mpi/processes.hpp"

namespace ridge::mpi {
namespace {

void must(int status, const char* what) {
  if (status == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(status, text, &length);
  throw Error(ErrorKind::device, fmt::format("MPI: {} failed: {}", what, text));
}

// Messages are counted in ints: a large one travels as elements of a megabyte and the rest.
constexpr std::size_t kPiece = std::size_t{1} << 30;

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

// Processes on this machine that may use the very same cores share them out. Binding by the launcher is left alone.
void share_cores(MPI_Comm here, int rank_here, int count_here) {
  if (std::getenv("RIDGE_THREADS") != nullptr) return;
  cpu_set_t mine;
  CPU_ZERO(&mine);
  if (sched_getaffinity(0, sizeof mine, &mine) != 0) return;
  std::vector<cpu_set_t> all(static_cast<std::size_t>(count_here));
  must(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, here), "sharing cores");
  std::size_t before = 0, equal = 0;
  for (int i = 0; i < count_here; ++i) {
    if (CPU_EQUAL(&all[static_cast<std::size_t>(i)], &mine) == 0) continue;
    ++equal;
    if (i < rank_here) ++before;
  }
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &mine)) cores.push_back(core);
  }
  if (equal < 2 || cores.empty()) return;
  cpu_set_t share;
  CPU_ZERO(&share);
  if (cores.size() < equal) {  // more processes than cores
    CPU_SET(cores[before % cores.size()], &share);
  } else {
    const base::Share part = base::share(cores.size(), before, equal);
    for (std::size_t i = part.begin; i < part.end; ++i) CPU_SET(cores[i], &share);
  }
  sched_setaffinity(0, sizeof share, &share);
}

void must_have_come(const MPI_Status& status, int wanted) {
  int got = 0;
  if (MPI_Get_count(&status, MPI_BYTE, &got) == MPI_SUCCESS && got == wanted) return;
  throw Error(ErrorKind::internal,
              fmt::format("MPI: process {} sent {} bytes where {} were expected", status.MPI_SOURCE, got, wanted));
}

// Messages on their way; the first ones are those to come.
struct Posted {
  std::vector<MPI_Request> requests{};
  std::vector<int> expected{};  // bytes of each that is to come
  std::vector<MPI_Status> statuses{};

  void check() const {
    for (std::size_t i = 0; i < expected.size(); ++i) must_have_come(statuses[i], expected[i]);
  }
};

Posted post(const std::vector<Processes::Message>& out, const std::vector<Processes::Message>& in) {
  Posted posted;
  auto& requests = posted.requests;
  for (const auto& message : in) {
    in_pieces(message.data, message.bytes, [&](char* at, int count) {
      posted.expected.push_back(count);
      must(MPI_Irecv(at, count, MPI_BYTE, static_cast<int>(message.rank), message.tag, MPI_COMM_WORLD,
                     &requests.emplace_back()),
           "receiving a halo");
    });
  }
  for (const auto& message : out) {
    in_pieces(message.data, message.bytes, [&](char* at, int count) {
      must(MPI_Isend(at, count, MPI_BYTE, static_cast<int>(message.rank), message.tag, MPI_COMM_WORLD,
                     &requests.emplace_back()),
           "sending a halo");
    });
  }
  posted.statuses.resize(requests.size());
  return posted;
}

void wait(Posted& posted) {
  must(MPI_Waitall(static_cast<int>(posted.requests.size()), posted.requests.data(), posted.statuses.data()),
       "exchanging halos");
  posted.check();
}

}  // namespace

Processes::Processes() {
  const Launch launched = launch();
  if (!launched.perhaps_others()) return;
  int level = MPI_THREAD_SINGLE;
  must(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level), "MPI_Init_thread");
  started_ = true;
  can_overlap_ = level >= MPI_THREAD_SERIALIZED;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int rank = 0, count = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  rank_ = static_cast<std::size_t>(rank);
  count_ = static_cast<std::size_t>(count);
  if (count_ == 1 && launched.others()) {
    started_ = false;
    MPI_Finalize();
    throw Error(ErrorKind::unavailable,
                fmt::format("several processes were started ({}), but the MPI this ridge was built with does not find "
                            "the others: start it with that MPI's mpirun, or with srun --mpi=pmix",
                            launched.variable));
  }
  MPI_Comm here = MPI_COMM_NULL;
  must(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &here), "finding this machine");
  int rank_here = 0, count_here = 1;
  MPI_Comm_rank(here, &rank_here);
  MPI_Comm_size(here, &count_here);
  rank_here_ = static_cast<std::size_t>(rank_here);
  share_cores(here, rank_here, count_here);
  MPI_Comm_free(&here);
}

Processes::~Processes() {
  if (started_) MPI_Finalize();
}

void Processes::broadcast(void* data, std::size_t bytes) const {
  if (count_ == 1 || bytes == 0) return;
  in_pieces(data, bytes,
            [](char* at, int count) { must(MPI_Bcast(at, count, MPI_BYTE, 0, MPI_COMM_WORLD), "broadcast"); });
}

double Processes::largest(double value) const {
  if (count_ == 1) return value;
  double result = value;
  must(MPI_Allreduce(&value, &result, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD), "MPI_Allreduce");
  return result;
}

void Processes::barrier() const {
  if (count_ > 1) must(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
}

void Processes::send(std::size_t to, const void* data, std::size_t bytes) const {
  in_pieces(const_cast<void*>(data), bytes, [&](char* at, int count) {
    must(MPI_Send(at, count, MPI_BYTE, static_cast<int>(to), 100, MPI_COMM_WORLD), "sending");
  });
}

void Processes::receive(std::size_t from, void* data, std::size_t bytes) const {
  in_pieces(data, bytes, [&](char* at, int count) {
    MPI_Status status{};
    must(MPI_Recv(at, count, MPI_BYTE, static_cast<int>(from), 100, MPI_COMM_WORLD, &status), "receiving");
    must_have_come(status, count);
  });
}

void Processes::exchange(const std::vector<Message>& out, const std::vector<Message>& in) const {
  Posted posted = post(out, in);
  wait(posted);
}

void Processes::exchange_during(const std::vector<Message>& out, const std::vector<Message>& in,
                                const std::function<void()>& work) const {
  if (!can_overlap_) {
    exchange(out, in);
    work();
    return;
  }
  Posted posted = post(out, in);
  // This thread computes and makes no call to MPI meanwhile, which is what MPI_THREAD_SERIALIZED asks.
  std::exception_ptr failure;
  std::thread messenger;
  try {
    messenger = std::thread([&] {
      try {
        int done = 0;
        while (done == 0) {
          must(MPI_Testall(static_cast<int>(posted.requests.size()), posted.requests.data(), &done,
                           posted.statuses.data()),
               "exchanging halos");
          if (done == 0) std::this_thread::yield();
        }
        posted.check();
      } catch (...) {
        failure = std::current_exception();
      }
    });
  } catch (const std::system_error&) {  // no thread to be had: one after the other
    wait(posted);
    work();
    return;
  }
  try {
    work();
  } catch (...) {
    messenger.join();
    throw;
  }
  messenger.join();
  if (failure) std::rethrow_exception(failure);
}

void Processes::abort(int code) const {
  base::remove_temporaries();
  if (started_ && count_ > 1) MPI_Abort(MPI_COMM_WORLD, code);
  std::_Exit(code);
}

}  // namespace ridge::mpi
