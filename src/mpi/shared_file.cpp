// Reads and writes boxes of a file at their offsets, rows merged where they are consecutive.
#include "mpi/shared_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <complex>
#include <system_error>
#include <type_traits>

#include <fmt/format.h>
#include <ridge/error.hpp>
#include <ridge/mpi/files.hpp>

#include "base/aligned.hpp"
#include "base/new_file.hpp"
#include "io/arrays/npy.hpp"
#include "io/telescopes/stream.hpp"
#include "mpi/route.hpp"

namespace ridge::mpi {
namespace {

std::string reason(int error) { return std::generic_category().message(error); }

// Calls use(offset in the file, offset in the packed rows, both in elements, memory of a plane of the box) for each
// row. One plane of the slowest axis at a time, so that little memory is needed for any axis order.
template <class Use>
void for_planes(const Shape& shape, const Box& box, const Use& use) {
  if (box.size() == 0) return;
  const std::size_t n1 = shape.size() > 1 ? shape[1] : 1, n2 = shape.size() > 2 ? shape[2] : 1;
  const auto strides = box.strides();
  for (std::size_t a = box.begin[0]; a < box.end[0]; ++a) {
    const Copy packed{{1, box.extent(1), box.extent(2)}, strides, {1, box.extent(2), 1}};
    const std::size_t first = (a * n1 + box.begin[1]) * n2 + box.begin[2];
    // Rows that are consecutive in the file are merged.
    const std::size_t rows = box.extent(2) == n2 ? 1 : box.extent(1), row = box.extent(1) * box.extent(2) / rows;
    use(first, n2, rows, row, packed, (a - box.begin[0]) * strides[0]);
  }
}

}  // namespace

SharedInput::SharedInput(const std::string& path)
    : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (descriptor_ < 0) throw Error(ErrorKind::io, fmt::format("cannot read {}: {}", path, reason(errno)));
}

SharedInput::~SharedInput() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void SharedInput::read(std::uint64_t at, void* to, std::size_t bytes) const {
  auto* where = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t got = ::pread(descriptor_, where, std::min(bytes, std::size_t{1} << 30), static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw Error(ErrorKind::io, fmt::format("cannot read {}: {}", path_, reason(errno)));
    if (got == 0) throw Error(ErrorKind::io, fmt::format("{} ends before the data that were to be read", path_));
    where += got;
    at += static_cast<std::uint64_t>(got);
    bytes -= static_cast<std::size_t>(got);
  }
}

void SharedInput::read(std::uint64_t at, const Shape& shape, const Box& box, std::size_t element, void* to) const {
  base::AlignedArray<std::byte> plane(box.extent(1) * box.extent(2) * element);
  for_planes(shape, box,
             [&](std::size_t first, std::size_t n2, std::size_t rows, std::size_t row, const Copy& packed,
                 std::size_t in_box) {
               for (std::size_t i = 0; i < rows; ++i) {
                 read(at + (first + i * n2) * element, plane.data() + i * row * element, row * element);
               }
               const Copy unpack{packed.extent, packed.to, packed.from};
               copy_box(unpack, element, plane.data(), static_cast<std::byte*>(to) + in_box * element);
             });
}

SharedOutput::SharedOutput(const Communicator& all, const std::string& path, std::uint64_t bytes) : all_(all) {
  std::array<unsigned, 2> mark{static_cast<unsigned>(::getpid()), base::next_temporary_number()};
  all.broadcast(mark.data(), sizeof mark);
  path_ = base::link_target(path);
  temporary_ = base::temporary_beside(path_, static_cast<pid_t>(mark[0]), mark[1]);
  known_ = base::TemporaryName(temporary_);
  try {
    all.agree([&] {
      if (all.root()) open(true, bytes);
    });
    all.agree([&] {
      if (!all.root()) open(false, bytes);
    });
  } catch (...) {
    give_up();
    throw;
  }
  known_.made();
}

void SharedOutput::give_up() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (descriptor_ >= 0 && all_.root()) ::unlink(temporary_.c_str());
  descriptor_ = -1;
  known_.made();
}

void SharedOutput::open(bool create, std::uint64_t bytes) {
  if (create) {
    base::check_replaceable(path_);
    base::remove_stale_temporaries(path_.has_parent_path() ? path_.parent_path() : ".");
  }
  descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CLOEXEC | (create ? O_CREAT | O_EXCL : 0), 0666);
  if (descriptor_ < 0) fail(errno);
  if (!create) return;
  if (!base::claim_temporary(temporary_, descriptor_)) fail(EBUSY);
  base::keep_permissions(path_, descriptor_);
  const int full = bytes > 0 ? ::posix_fallocate(descriptor_, 0, static_cast<off_t>(bytes)) : 0;
  if (full != 0 && full != EOPNOTSUPP && full != EINVAL) fail(full);
  if (::ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) fail(errno);
}

SharedOutput::~SharedOutput() {
  if (committed_) {
    ::close(descriptor_);
  } else {
    give_up();
  }
}

void SharedOutput::fail(int error) const {
  throw Error(ErrorKind::io, fmt::format("cannot write {}: {}", path_.string(), reason(error)));
}

void SharedOutput::write(std::uint64_t at, const void* from, std::size_t bytes) const {
  const auto* where = static_cast<const char*>(from);
  while (bytes > 0) {
    const ssize_t put = ::pwrite(descriptor_, where, std::min(bytes, std::size_t{1} << 30), static_cast<off_t>(at));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail(errno);
    where += put;
    at += static_cast<std::uint64_t>(put);
    bytes -= static_cast<std::size_t>(put);
  }
}

void SharedOutput::write(std::uint64_t at, const Shape& shape, const Box& box, std::size_t element,
                         const void* from) const {
  base::AlignedArray<std::byte> plane(box.extent(1) * box.extent(2) * element);
  for_planes(shape, box,
             [&](std::size_t first, std::size_t n2, std::size_t rows, std::size_t row, const Copy& packed,
                 std::size_t in_box) {
               copy_box(packed, element, static_cast<const std::byte*>(from) + in_box * element, plane.data());
               for (std::size_t i = 0; i < rows; ++i) {
                 write(at + (first + i * n2) * element, plane.data() + i * row * element, row * element);
               }
             });
}

void SharedOutput::commit() {
  all_.agree([&] {
    if (::fsync(descriptor_) != 0 && errno != EINVAL) fail(errno);
  });
  all_.agree([&] {
    if (!all_.root()) return;
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail(errno);
    base::flush_folder(path_.parent_path().empty() ? "." : path_.parent_path());
  });
  committed_ = true;
  known_.forget();
}

namespace {

void must_hold(const Box& box, std::size_t elements) {
  if (elements >= box.size()) return;
  throw Error(ErrorKind::invalid_argument,
              fmt::format("the array has {} elements, the box needs {}", elements, box.size()));
}

}  // namespace

template <class Element>
void read_npy(const Communicator& all, const std::string& path, const Shape& shape, const Box& box,
              std::span<Element> data) {
  all.agree([&] {
    must_hold(box, data.size());
    io::InputStream stream(path);
    const std::uint64_t whole = stream.remaining().value_or(0);
    const io::NpyHeader header = io::read_npy_header(stream);
    if (header.type != element_type_of<Element>() || header.shape != shape) {
      throw Error(ErrorKind::io, fmt::format("{} holds {}, which differs from the requested shape or type", path,
                                             io::name_of(header.type)));
    }
    SharedInput(path).read(whole - header.elements() * sizeof(Element), shape, box, sizeof(Element), data.data());
  });
}

template <class Element>
void write_npy(const Communicator& all, const std::string& path, const Shape& shape, const Box& box,
               std::span<const Element> data) {
  gather_boxes(all, shape, box, "file's");
  all.agree([&] { must_hold(box, data.size()); });
  const std::string header = io::npy_header({element_type_of<Element>(), shape});
  std::uint64_t points = 1;
  for (const std::size_t extent : shape) points *= extent;
  SharedOutput out(all, path, header.size() + points * sizeof(Element));
  all.agree([&] {
    if (all.root()) out.write(0, header.data(), header.size());
    out.write(header.size(), shape, box, sizeof(Element), data.data());
  });
  out.commit();
}

template void read_npy(const Communicator&, const std::string&, const Shape&, const Box&, std::span<float>);
template void write_npy(const Communicator&, const std::string&, const Shape&, const Box&, std::span<const float>);
template void read_npy(const Communicator&, const std::string&, const Shape&, const Box&, std::span<double>);
template void write_npy(const Communicator&, const std::string&, const Shape&, const Box&, std::span<const double>);
template void read_npy(const Communicator&, const std::string&, const Shape&, const Box&,
                       std::span<std::complex<float>>);
template void write_npy(const Communicator&, const std::string&, const Shape&, const Box&,
                        std::span<const std::complex<float>>);
template void read_npy(const Communicator&, const std::string&, const Shape&, const Box&,
                       std::span<std::complex<double>>);
template void write_npy(const Communicator&, const std::string&, const Shape&, const Box&,
                        std::span<const std::complex<double>>);
template void read_npy(const Communicator&, const std::string&, const Shape&, const Box&, std::span<std::int32_t>);
template void write_npy(const Communicator&, const std::string&, const Shape&, const Box&,
                        std::span<const std::int32_t>);
template void read_npy(const Communicator&, const std::string&, const Shape&, const Box&, std::span<std::uint8_t>);
template void write_npy(const Communicator&, const std::string&, const Shape&, const Box&,
                        std::span<const std::uint8_t>);

}  // namespace ridge::mpi
