// Transforms slabs on devices, and exchanges their blocks.
#include "mpi/fft/on_device.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace ridge::mpi::fft {
namespace {

constexpr int kForwardTag = 11000, kInverseTag = 11001;

}  // namespace

template <class T>
OnDevice<T>::OnDevice(const Communicator& all, const OnDeviceProblem& problem, const Device& device,
                      const planner::Options& options)
    : all_(all), problem_(problem), transport_(transport_for(all, device)), staging_(device, "distributed fft") {
  const bool planes = problem.samples[0] > 1;
  slow_ = planes ? problem.spectrum[0] : problem.spectrum[1];
  middle_ = planes ? problem.spectrum[1] : problem.spectrum[2];
  inner_ = planes ? problem.spectrum[2] : 1;
  for (std::size_t rank = 0; rank < all.count(); ++rank) {
    const Part slab = part(slow_, rank, all.count()), middle = part(middle_, rank, all.count());
    slabs_.push_back({slab.begin, slab.end});
    middle_shares_.push_back({middle.begin, middle.end});
  }
  const Share &mine = slabs_[all.rank()], &behind = middle_shares_[all.rank()];
  // Scale factors are applied by the last stage of each direction.
  if (mine.count() > 0) {
    ridge::fft::Problem plan{.batch = mine.count(),
                             .kind = problem.real ? ridge::fft::Kind::real : ridge::fft::Kind::complex,
                             .scale_inverse = problem.scale_inverse};
    plan.shape = planes ? std::vector{problem.samples[1], problem.samples[2]} : std::vector{problem.samples[2]};
    planes_.emplace(device, plan, options);
    planes_buffer_ = device.buffer(block(mine.count(), middle_), {.name = "transformed planes"});
  }
  if (behind.count() > 0) {
    const std::size_t beside = behind.count() * inner_;
    columns_.emplace(device,
                     ridge::fft::Problem{.shape = {slow_},
                                         .batch = beside,
                                         .input = {.axes = {beside}, .batch = 1},
                                         .output = {.axes = {beside}, .batch = 1},
                                         .scale_forward = problem.scale_forward},
                     options);
  }
  out_.emplace(device, transport_, block(mine.count(), middle_), "blocks to send");
  in_.emplace(device, transport_, block(slow_, behind.count()), "blocks received");
}

template <class T>
Pitches OnDevice<T>::in_plane(std::size_t rank) const {
  return {.offset = block(1, middle_shares_[rank].begin), .row = block(1, middle_)};
}

template <class T>
void OnDevice<T>::forward(Queue& queue, const Buffer& in, const Buffer& out) {
  const std::size_t rank = all_.rank();
  const Share &mine = slabs_[rank], &behind = middle_shares_[rank];
  Communicator::Pending pending;
  std::byte* arriving = in_->to_receive();
  for (std::size_t i = 1; i < all_.count(); ++i) {
    const std::size_t peer = (rank + all_.count() - i) % all_.count();
    const std::size_t bytes = block(slabs_[peer].count(), behind.count());
    if (bytes == 0) continue;
    const Communicator::Message message{peer, kForwardTag, arriving + block(slabs_[peer].begin, behind.count()), bytes};
    all_.post(pending, {}, std::span(&message, 1));
  }
  if (planes_) planes_->enqueue_forward(queue, in, planes_buffer_);
  // Blocks are cut out of the planes by row copies. One block is sent while the next is copied from the device.
  for (std::size_t peer = 0; peer < all_.count() && mine.count() > 0; ++peer) {
    if (peer == rank || middle_shares_[peer].count() == 0) continue;
    queue.copy(planes_buffer_, in_plane(peer), out_->buffer(),
               {.offset = block(mine.count(), middle_shares_[peer].begin)},
               {.bytes = block(1, middle_shares_[peer].count()), .rows = mine.count()});
  }
  for (std::size_t i = 1; i < all_.count(); ++i) {
    const std::size_t peer = (rank + i) % all_.count();
    const std::size_t bytes = block(mine.count(), middle_shares_[peer].count());
    if (bytes == 0) continue;
    const std::size_t at = block(mine.count(), middle_shares_[peer].begin);
    const Communicator::Message message{peer, kForwardTag, out_->to_send(queue, at, bytes) + at, bytes};
    all_.post(pending, std::span(&message, 1), {});
    pending.test();
  }
  pending.wait();
  out_->give_back();
  for (std::size_t peer = 0; peer < all_.count(); ++peer) {
    if (peer != rank)
      in_->received(queue, block(slabs_[peer].begin, behind.count()), block(slabs_[peer].count(), behind.count()));
  }
  if (transport_ == Transport::mapped) in_->give_back();
  if (mine.count() > 0 && behind.count() > 0) {
    queue.copy(planes_buffer_, in_plane(rank), in_->buffer(), {.offset = block(mine.begin, behind.count())},
               {.bytes = block(1, behind.count()), .rows = mine.count()});
  }
  if (columns_) columns_->enqueue_forward(queue, in_->buffer(), out);
}

template <class T>
void OnDevice<T>::inverse(Queue& queue, const Buffer& in, const Buffer& out) {
  const std::size_t rank = all_.rank();
  const Share &mine = slabs_[rank], &behind = middle_shares_[rank];
  // The inverse sends from the buffer that the forward transform receives into, and vice versa.
  if (columns_) columns_->enqueue_inverse(queue, in, in_->buffer());
  Communicator::Pending pending;
  std::byte* arriving = out_->to_receive();
  for (std::size_t i = 1; i < all_.count(); ++i) {
    const std::size_t peer = (rank + all_.count() - i) % all_.count();
    const std::size_t bytes = block(mine.count(), middle_shares_[peer].count());
    if (bytes == 0) continue;
    const Communicator::Message message{peer, kInverseTag, arriving + block(mine.count(), middle_shares_[peer].begin),
                                        bytes};
    all_.post(pending, {}, std::span(&message, 1));
  }
  for (std::size_t i = 1; i < all_.count(); ++i) {
    const std::size_t peer = (rank + i) % all_.count();
    const std::size_t bytes = block(slabs_[peer].count(), behind.count());
    if (bytes == 0) continue;
    const std::size_t at = block(slabs_[peer].begin, behind.count());
    const Communicator::Message message{peer, kInverseTag, in_->to_send(queue, at, bytes) + at, bytes};
    all_.post(pending, std::span(&message, 1), {});
    pending.test();
  }
  pending.wait();
  in_->give_back();
  for (std::size_t peer = 0; peer < all_.count(); ++peer) {
    const std::size_t at = block(mine.count(), middle_shares_[peer].begin);
    const std::size_t bytes = block(mine.count(), middle_shares_[peer].count());
    if (peer != rank) out_->received(queue, at, bytes);
  }
  if (transport_ == Transport::mapped) out_->give_back();
  for (std::size_t peer = 0; peer < all_.count() && mine.count() > 0; ++peer) {
    if (middle_shares_[peer].count() == 0) continue;
    const std::size_t at = block(mine.count(), middle_shares_[peer].begin);
    const ByteBox box{.bytes = block(1, middle_shares_[peer].count()), .rows = mine.count()};
    if (peer == rank) {
      queue.copy(in_->buffer(), {.offset = block(mine.begin, behind.count())}, planes_buffer_, in_plane(rank), box);
    } else {
      queue.copy(out_->buffer(), {.offset = at}, planes_buffer_, in_plane(peer), box);
    }
  }
  if (planes_) planes_->enqueue_inverse(queue, planes_buffer_, out);
}

template <class T>
void OnDevice<T>::run(bool backwards, Queue& queue, const Buffer& in, const Buffer& out) {
  backwards ? inverse(queue, in, out) : forward(queue, in, out);
}

template <class T>
void OnDevice<T>::run(bool backwards, const void* in, std::size_t in_bytes, void* out, std::size_t out_bytes) {
  std::byte nothing{};  // a process without points still takes part
  if (in_bytes == 0) in = &nothing, in_bytes = 1;
  if (out_bytes == 0) out = &nothing, out_bytes = 1;
  staging_.run({.in = in, .in_bytes = in_bytes, .out = out, .out_bytes = out_bytes},
               [&](Queue& queue, const Buffer& from, const Buffer& to) { run(backwards, queue, from, to); });
}

template <class T>
Box OnDevice<T>::samples() const {
  Box box{{0, 0, 0}, problem_.samples};
  const std::size_t axis = problem_.samples[0] > 1 ? 0 : 1;
  box.begin[axis] = slabs_[all_.rank()].begin;
  box.end[axis] = slabs_[all_.rank()].end;
  return box;
}

template <class T>
Box OnDevice<T>::spectrum() const {
  Box box{{0, 0, 0}, problem_.spectrum};
  const std::size_t axis = problem_.samples[0] > 1 ? 1 : 2;
  box.begin[axis] = middle_shares_[all_.rank()].begin;
  box.end[axis] = middle_shares_[all_.rank()].end;
  return box;
}

template <class T>
std::string OnDevice<T>::name() const {
  return fmt::format("on_device(grid={}, transport={})", all_.count(), to_string(transport_));
}

template <class T>
std::size_t OnDevice<T>::bytes_sent() const {
  const Share& mine = slabs_[all_.rank()];
  return block(mine.count(), middle_ - middle_shares_[all_.rank()].count());
}

template <class T>
std::string OnDevice<T>::explain() const {
  return fmt::format("  device memory: slabs of {}x{}x{} points, blocks sent {}, {} per run\n",
                     slabs_[all_.rank()].count(), middle_, inner_,
                     transport_ == Transport::direct   ? "from device to device (CUDA-aware MPI)"
                     : transport_ == Transport::mapped ? "from host memory that the device accesses in place"
                                                       : "through page-locked host memory",
                     base::human_bytes(static_cast<double>(bytes_sent())));
}

template class OnDevice<float>;
template class OnDevice<double>;

}  // namespace ridge::mpi::fft
