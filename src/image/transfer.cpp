// Copies pixels between host memory and a device, rows with any pitch.
#include <cstring>

#include <fmt/format.h>
#include <ridge/image/image.hpp>

namespace ridge::image {
namespace {

void check_pair(const Image& here, const Image& there, const Queue& queue, const char* what) {
  if (here.resident() || !there.resident()) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("{}: one image must be in host memory and the other on {}", what, queue.device().id()));
  }
  if (here.shape() != there.shape()) {
    throw Error(ErrorKind::invalid_argument, fmt::format("{}: the images need the same shape, got {} and {}", what,
                                                         here.shape().text(), there.shape().text()));
  }
}

// Rows of equal pitch are one copy, including the gaps between them, but nothing behind the last row.
template <class Copy>
void rows_of(const Image& here, const Image& there, const Copy& copy) {
  if (here.pitch() == there.pitch() && here.pitch() == here.shape().row_bytes()) {
    copy(std::size_t{0}, there.offset(), here.span_bytes());
    return;
  }
  for (std::size_t r = 0; r < here.rows(); ++r)
    copy(r * here.pitch(), there.offset() + r * there.pitch(), here.shape().row_bytes());
}

}  // namespace

void upload(Queue& queue, const Image& from, const Image& to) {
  check_pair(from, to, queue, "upload");
  rows_of(from, to, [&](std::size_t here, std::size_t there, std::size_t bytes) {
    queue.upload(from.bytes() + here, to.buffer(), bytes, there);
  });
}

void download(Queue& queue, const Image& from, Image& to) {
  check_pair(to, from, queue, "download");
  std::byte* pixels = to.bytes();
  rows_of(to, from, [&](std::size_t here, std::size_t there, std::size_t bytes) {
    queue.download(from.buffer(), pixels + here, bytes, there);
  });
}

}  // namespace ridge::image
