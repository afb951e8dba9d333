// Packs, sends and unpacks the intersections of two sets of boxes.
#include "mpi/route.hpp"

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>

#include <fmt/format.h>
#include <ridge/error.hpp>
#include <ridge/mpi/redistribute.hpp>

namespace ridge::mpi {
namespace {

std::size_t offset(const Box& box, const Box& within) {
  const auto strides = box.strides();
  std::size_t at = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) at += (within.begin[axis] - box.begin[axis]) * strides[axis];
  return at;
}

std::array<std::size_t, 3> extents(const Box& box) { return {box.extent(0), box.extent(1), box.extent(2)}; }

}  // namespace

std::vector<Box> gather_boxes(const Communicator& all, const Shape& shape, const Box& mine, const char* what) {
  std::vector<Box> boxes(all.count());
  all.gather(&mine, sizeof mine, boxes.data());
  must_tile(shape, boxes, what);  // all processes check the same boxes: all throw or none
  return boxes;
}

Route::Peer Route::peer(std::size_t rank, const Box& mine, const Box& common, bool sending) const {
  Peer peer{.rank = rank,
            .points = common.size(),
            .copy = {extents(common), mine.strides(), common.strides()},
            .in_box = offset(mine, common)};
  if (!sending) std::swap(peer.copy.from, peer.copy.to);
  return peer;
}

Route::Route(const Communicator& all, const std::vector<Box>& from, const std::vector<Box>& to, std::size_t element,
             std::size_t batch)
    : all_(all), from_(from[all.rank()]), to_(to[all.rank()]), element_(element), batch_(batch) {
  std::size_t out_points = 0, in_points = 0;
  for (std::size_t step = 1; step < all.count(); ++step) {
    const std::size_t next = (all.rank() + step) % all.count(), last = (all.rank() + all.count() - step) % all.count();
    // Packed in the receiver's order, which then copies whole rows.
    Box go = intersection(to[next], from_), come = intersection(to_, from[last]);
    if (go.size() > 0) {
      out_.push_back(peer(next, from_, go, true));
      out_.back().at = out_points;
      out_points += go.size() * batch;
    }
    if (come.size() > 0) {
      in_.push_back(peer(last, to_, come, false));
      in_.back().at = in_points;
      in_points += come.size() * batch;
    }
  }
  sent_ = out_points / batch * element;
  const Box own = intersection(from_, to_);
  own_ = {extents(own), from_.strides(), to_.strides()};
  if (own.size() > 0) {
    own_from_ = offset(from_, own);
    own_to_ = offset(to_, own);
  }
  packed_out_ = base::AlignedArray<std::byte>(out_points * element);
  packed_in_ = base::AlignedArray<std::byte>(in_points * element);
}

void Route::run(const void* in, void* out) const {
  const auto* from = static_cast<const std::byte*>(in);
  auto* to = static_cast<std::byte*>(out);
  Communicator::Pending pending;
  for (const Peer& peer : in_) {
    const Communicator::Message message{peer.rank, 1, packed_in_.data() + peer.at * element_,
                                        peer.points * batch_ * element_};
    all_.post(pending, {}, std::span(&message, 1));
  }
  for (const Peer& peer : out_) {
    std::byte* packed = packed_out_.data() + peer.at * element_;
    for (std::size_t b = 0; b < batch_; ++b) {
      copy_box(peer.copy, element_, from + (b * from_.size() + peer.in_box) * element_,
               packed + b * peer.points * element_);
    }
    const Communicator::Message message{peer.rank, 1, packed, peer.points * batch_ * element_};
    all_.post(pending, std::span(&message, 1), {});
    pending.test();
  }
  for (std::size_t b = 0; b < batch_; ++b) {
    copy_box(own_, element_, from + (b * from_.size() + own_from_) * element_,
             to + (b * to_.size() + own_to_) * element_);
  }
  pending.wait();
  for (const Peer& peer : in_) {
    for (std::size_t b = 0; b < batch_; ++b) {
      copy_box(peer.copy, element_, packed_in_.data() + (peer.at + b * peer.points) * element_,
               to + (b * to_.size() + peer.in_box) * element_);
    }
  }
}

template <class Element>
Redistribute<Element>::Redistribute(const Communicator& communicator, const Shape& shape, const Box& from,
                                    const Box& to, std::size_t batch)
    : shape_(shape), from_(from), to_(to), batch_(batch) {
  std::string words = fmt::format("a redistribution of {} grids of {} bytes per point and", batch, sizeof(Element));
  for (const std::size_t extent : shape) words += fmt::format(" {}", extent);
  communicator.must_be_equal(words + " points");
  const auto all_from = gather_boxes(communicator, shape, from, "old");
  const auto all_to = gather_boxes(communicator, shape, to, "new");
  communicator.agree(
      [&] { route_ = std::make_shared<const Route>(communicator, all_from, all_to, sizeof(Element), batch); });
}

template <class Element>
void Redistribute<Element>::run(std::span<const Element> in, std::span<Element> out) const {
  route_->all().agree([&] {
    if (in.size() >= route_->in_elements() && out.size() >= route_->out_elements()) return;
    throw Error(ErrorKind::invalid_argument,
                fmt::format("redistribute: the arrays have {} and {} elements, the boxes need {} and {}", in.size(),
                            out.size(), route_->in_elements(), route_->out_elements()));
  });
  route_->run(in.data(), out.data());
}

template <class Element>
std::size_t Redistribute<Element>::bytes_sent() const {
  return route_->bytes_sent();
}

template <class Element>
Redistribute<Element> Redistribute<Element>::adjoint() const {
  return Redistribute(route_->all(), shape_, to_, from_, batch_);
}

template class Redistribute<float>;
template class Redistribute<double>;
template class Redistribute<std::complex<float>>;
template class Redistribute<std::complex<double>>;
template class Redistribute<std::int32_t>;
template class Redistribute<std::uint8_t>;

namespace {

struct Axis {
  std::size_t extent, from, to;
};

template <std::size_t bytes>
struct Element {
  std::byte at[bytes];
};

// Transposes a plane in tiles, so that both sides touch whole cache lines.
template <std::size_t bytes>
void turn(const Axis& a, const Axis& b, const std::byte* from, std::byte* to) {
  constexpr std::size_t kTile = 16;
  for (std::size_t i0 = 0; i0 < a.extent; i0 += kTile) {
    const std::size_t i1 = std::min(a.extent, i0 + kTile);
    for (std::size_t j0 = 0; j0 < b.extent; j0 += kTile) {
      const std::size_t j1 = std::min(b.extent, j0 + kTile);
      for (std::size_t i = i0; i < i1; ++i) {
        for (std::size_t j = j0; j < j1; ++j) {
          std::memcpy(to + (i * a.to + j * b.to) * bytes, from + (i * a.from + j * b.from) * bytes, bytes);
        }
      }
    }
  }
}

template <std::size_t bytes>
void copy_sorted(const std::array<Axis, 3>& axes, const std::byte* from, std::byte* to) {
  const Axis &slow = axes[0], &middle = axes[1], &fast = axes[2];  // ordered by the strides of `to`
  for (std::size_t i = 0; i < slow.extent; ++i, from += slow.from * bytes, to += slow.to * bytes) {
    if (fast.from == 1 && fast.to == 1) {
      if (middle.from == fast.extent && middle.to == fast.extent) {
        std::memcpy(to, from, middle.extent * fast.extent * bytes);
        continue;
      }
      for (std::size_t j = 0; j < middle.extent; ++j) {
        std::memcpy(to + j * middle.to * bytes, from + j * middle.from * bytes, fast.extent * bytes);
      }
    } else {
      turn<bytes>(middle, fast, from, to);
    }
  }
}

}  // namespace

void copy_box(const Copy& copy, std::size_t element, const void* from, void* to) {
  std::array<Axis, 3> axes{};
  for (std::size_t i = 0; i < 3; ++i) axes[i] = {copy.extent[i], copy.from[i], copy.to[i]};
  if (std::any_of(axes.begin(), axes.end(), [](const Axis& axis) { return axis.extent == 0; })) return;
  // Axes with a single point go first, the others by decreasing destination stride.
  std::stable_sort(axes.begin(), axes.end(), [](const Axis& a, const Axis& b) {
    return (a.extent == 1) != (b.extent == 1) ? a.extent == 1 : a.to > b.to;
  });
  // If the contiguous source axis is not contiguous in the destination, it becomes one of the two axes of the plane.
  if (axes[2].from != 1 && axes[0].from == 1 && axes[0].extent > 1) std::swap(axes[0], axes[1]);
  if (axes[2].extent == 1) axes[2] = {1, 1, 1};
  const auto* source = static_cast<const std::byte*>(from);
  auto* target = static_cast<std::byte*>(to);
  if (element == 1) return copy_sorted<1>(axes, source, target);
  if (element == 2) return copy_sorted<2>(axes, source, target);
  if (element == 4) return copy_sorted<4>(axes, source, target);
  if (element == 8) return copy_sorted<8>(axes, source, target);
  copy_sorted<16>(axes, source, target);
}

}  // namespace ridge::mpi
