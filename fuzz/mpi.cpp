// Messages of other MPI processes. The processes are simulated: each message is a valid one, modified by the remaining
// input bytes, so that empty input is a valid run. The first six bytes choose the number of processes, this rank and
// the redistribution.
#include "support.hpp"

#include <algorithm>
#include <cstring>

#include <ridge/mpi/redistribute.hpp>

namespace ridge::mpi {
namespace {

std::string_view left;
std::size_t processes = 1, own_rank = 0;
std::vector<Box> sides[2];  // results of the first and the second all-gather of boxes
std::size_t gathered = 0;

void change(void* data, std::size_t bytes) {
  const std::size_t some = std::min(bytes, left.size());
  for (std::size_t i = 0; i < some; ++i) static_cast<char*>(data)[i] = static_cast<char*>(data)[i] ^ left[i];
  left.remove_prefix(some);
}

}  // namespace

struct Communicator::State {};
struct Communicator::Pending::State {};
Communicator::Pending::Pending() = default;
Communicator::Pending::~Pending() = default;
bool Communicator::Pending::test() { return true; }
void Communicator::Pending::wait() {}
Communicator Communicator::alone() { return Communicator(nullptr); }
std::size_t Communicator::rank() const { return own_rank; }
std::size_t Communicator::count() const { return processes; }
void Communicator::broadcast(void* data, std::size_t bytes) const {
  if (own_rank != 0) change(data, bytes);
}
double Communicator::largest(double value) const {
  std::uint8_t theirs = 0;
  change(&theirs, 1);
  return std::max<double>(value, theirs);
}
void Communicator::gather(const void* mine, std::size_t bytes, void* all) const {
  const bool boxes = bytes == sizeof(Box) && gathered < 2;
  for (std::size_t rank = 0; rank < processes; ++rank) {
    char* at = static_cast<char*>(all) + rank * bytes;
    std::memcpy(at, boxes ? &sides[gathered][rank] : mine, bytes);
    if (rank != own_rank) change(at, bytes);
  }
  if (boxes) ++gathered;
}
void Communicator::post(Pending&, std::span<const Message>, std::span<const Message> in) const {
  for (const Message& message : in) {
    std::memset(message.data, 0, message.bytes);
    change(message.data, message.bytes);
  }
}

}  // namespace ridge::mpi

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ridge;
  if (size < 6) return 0;
  mpi::processes = 1 + data[0] % 5;
  mpi::own_rank = data[1] % mpi::processes;
  const mpi::Shape shape{1 + data[2] % 8u, 1 + data[3] % 8u, 1 + data[4] % 8u};
  const std::size_t axes = data[5] % 9, batch = 1 + data[5] / 128;
  mpi::left = fuzz::text_of(data + 6, size - 6);
  auto &from = mpi::sides[0], &to = mpi::sides[1];
  from = mpi::slabs(shape, mpi::processes, axes / 3);
  to = mpi::slabs(shape, mpi::processes, axes % 3);
  if (data[5] % 2 != 0) {
    for (mpi::Box& box : to) box.order = {2, 0, 1};
  }
  mpi::gathered = 0;
  const mpi::Communicator all = mpi::Communicator::alone();
  try {
    const mpi::Redistribute<float> route(all, shape, from[mpi::own_rank], to[mpi::own_rank], batch);
    const std::vector<float> in(from[mpi::own_rank].size() * batch, 1.0f);
    std::vector<float> out(to[mpi::own_rank].size() * batch);
    route.run(in, out);
  } catch (const Error& error) {  // of any kind: failures of other processes are reported here
    if (std::strlen(error.what()) > 2000) std::abort();
  }
  return 0;
}
