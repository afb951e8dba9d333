// Maps memory that the processes of one machine share.
#include "mpi/communicator_state.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <random>

#include <fmt/format.h>

namespace ridge::mpi {
namespace {

struct Ticket {
  std::int64_t process = 0, descriptor = -1;
  std::uint64_t bytes = 0, sign = 0;
};

// An address range that holds all parts one after another.
struct Mappings {
  void* at = MAP_FAILED;
  std::size_t bytes = 0;
  ~Mappings() {
    if (at != MAP_FAILED) ::munmap(at, bytes);
  }
};

// The last 8 bytes of a part hold a random number that identifies it, in case the process number belongs to another
// namespace.
void* sign_of(void* part, std::uint64_t bytes) { return static_cast<char*>(part) + bytes - sizeof(std::uint64_t); }

}  // namespace

std::shared_ptr<void> share_memory(const Communicator& all, std::size_t bytes, std::vector<void*>& parts) {
  auto mappings = std::make_shared<Mappings>();
  parts.clear();
  const auto map = [&](int descriptor, std::size_t offset, std::size_t length) -> void* {
    void* wanted = static_cast<char*>(mappings->at) + offset;
    void* at = ::mmap(wanted, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, descriptor, 0);
    return at == MAP_FAILED ? nullptr : at;
  };
  constexpr std::size_t kPage = 65536;
  Ticket mine{.process = ::getpid(), .bytes = (bytes + 8 + kPage - 1) / kPage * kPage, .sign = std::random_device{}()};
  const int descriptor = ::memfd_create("ridge-mpi", MFD_CLOEXEC);
  // fallocate reserves the memory now, on this process's NUMA node: a later store without free memory would kill the
  // process.
  if (descriptor >= 0 && ::ftruncate(descriptor, static_cast<off_t>(mine.bytes)) == 0 &&
      ::fallocate(descriptor, 0, 0, static_cast<off_t>(mine.bytes)) == 0 &&
      ::pwrite(descriptor, &mine.sign, sizeof mine.sign, static_cast<off_t>(mine.bytes - sizeof mine.sign)) ==
          sizeof mine.sign) {
    mine.descriptor = descriptor;
  }
  std::vector<Ticket> tickets(all.count());
  all.gather(&mine, sizeof mine, tickets.data());
  for (const Ticket& ticket : tickets) mappings->bytes += ticket.bytes;
  mappings->at = ::mmap(nullptr, mappings->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  bool well = mappings->at != MAP_FAILED;
  std::size_t offset = 0;
  for (std::size_t rank = 0; rank < tickets.size() && well; ++rank) {
    const Ticket& theirs = tickets[rank];
    void* at = nullptr;
    if (rank == all.rank()) {
      if (mine.descriptor >= 0) at = map(descriptor, offset, mine.bytes);
    } else {
      const std::string name = fmt::format("/proc/{}/fd/{}", theirs.process, theirs.descriptor);
      const int opened = theirs.descriptor < 0 ? -1 : ::open(name.c_str(), O_RDWR | O_CLOEXEC);
      if (opened >= 0) {
        if (::lseek(opened, 0, SEEK_END) == static_cast<off_t>(theirs.bytes)) at = map(opened, offset, theirs.bytes);
        ::close(opened);
      }
    }
    well = at != nullptr && std::memcmp(sign_of(at, theirs.bytes), &theirs.sign, sizeof theirs.sign) == 0;
    parts.push_back(at);
    offset += theirs.bytes;
  }
  const bool all_well = all.largest(well ? 0 : 1) == 0;
  if (descriptor >= 0) ::close(descriptor);
  if (!all_well) {
    parts.clear();
    return nullptr;
  }
  std::memset(sign_of(parts[all.rank()], mine.bytes), 0, sizeof mine.sign);  // every process has compared it
  return mappings;
}

}  // namespace ridge::mpi
