// Sends the bytes of a stream from the root to the stations' processes, and joins their results.
#include "mpi/filterbank/from_root.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <ridge/error.hpp>

namespace ridge::mpi::filterbank {

FromRoot::FromRoot(const Communicator& all, const ridge::filterbank::Geometry& geometry,
                   const std::vector<Part>& stations, std::size_t values, std::size_t inner, std::size_t each)
    : all_(all),
      geometry_(geometry),
      stations_(stations),
      values_(values),
      inner_(inner),
      each_(each),
      dealt_(all.root() ? all.count() : 1) {}

void FromRoot::start_at(std::uint64_t spectrum, std::uint64_t sample) {
  times_ = spectrum / each_;
  bytes_ = sample * (geometry_.frame_bytes() / geometry_.block);
}

std::size_t FromRoot::due(std::size_t bytes) const {
  const std::uint64_t whole = geometry_.spectra_in(bytes_ + bytes) / each_;
  return whole > times_ ? static_cast<std::size_t>(whole - times_) : 0;
}

std::size_t FromRoot::own_values(std::size_t rank, std::size_t times) const {
  return times * (values_ / geometry_.stations) * (stations_[rank].end - stations_[rank].begin);
}

// Calls use(begin, end) for each range of the next `bytes` of the stream that belongs to a process.
template <class Use>
void FromRoot::for_pieces(std::size_t rank, std::uint64_t bytes, const Use& use) const {
  const std::uint64_t frame = geometry_.frame_bytes(), station = frame / geometry_.stations;
  const std::uint64_t last = bytes_ + bytes;
  for (std::uint64_t at = bytes_ / frame * frame; at < last; at += frame) {
    const std::uint64_t begin = std::max(bytes_, at + stations_[rank].begin * station);
    const std::uint64_t end = std::min(last, at + stations_[rank].end * station);
    if (begin < end) use(static_cast<std::size_t>(begin - bytes_), static_cast<std::size_t>(end - bytes_));
  }
}

// Axis orders: spectra are time, polarization, station, channel, or block, channel, station, polarization, time; power
// is time, station, product, channel.
void FromRoot::join(std::size_t rank, const float* from, std::size_t times, float* out) const {
  const Part& mine = stations_[rank];
  const std::size_t run = (mine.end - mine.begin) * inner_, outer = times * values_ / (geometry_.stations * inner_);
  for (std::size_t i = 0; i < outer; ++i) {
    std::copy_n(from + i * run, run, out + (i * geometry_.stations + mine.begin) * inner_);
  }
}

std::size_t FromRoot::push(std::span<const std::byte> in, std::span<float> out, const Work& work) {
  std::uint64_t bytes = in.size();
  all_.broadcast(&bytes, sizeof bytes);
  const std::size_t times = due(static_cast<std::size_t>(bytes)), rank = all_.rank();
  all_.agree([&] {
    if (!all_.root()) return;
    if (out.size() < times * values_) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("filterbank: the output has {} values, this call needs {}", out.size(), times * values_));
    }
    for (std::size_t i = 0; i < dealt_.size(); ++i) {
      dealt_[i].clear();
      for_pieces(i, bytes, [&](std::size_t begin, std::size_t end) {
        dealt_[i].insert(dealt_[i].end(), in.begin() + static_cast<std::ptrdiff_t>(begin),
                         in.begin() + static_cast<std::ptrdiff_t>(end));
      });
    }
  });
  std::vector<Communicator::Message> going, coming;
  if (all_.root()) {
    for (std::size_t i = 1; i < dealt_.size(); ++i) {
      if (!dealt_[i].empty()) going.push_back({i, 3, dealt_[i].data(), dealt_[i].size()});
    }
  } else {
    std::size_t mine = 0;
    for_pieces(rank, bytes, [&](std::size_t begin, std::size_t end) { mine += end - begin; });
    dealt_[0].resize(mine);
    if (mine > 0) coming.push_back({0, 3, dealt_[0].data(), mine});
  }
  all_.exchange(going, coming);
  // The first stations may already have samples of a block that the last one lacks: their results are held back.
  all_.agree([&] {
    work(dealt_[0], held_);
    if (held_.size() < own_values(rank, times)) {
      throw Error(ErrorKind::internal,
                  "filterbank: the stations of one process gave fewer values than complete blocks of all stations");
    }
  });
  const std::size_t mine = own_values(rank, times);
  if (!all_.root()) {
    if (mine > 0) all_.exchange({{0, 4, held_.data(), mine * sizeof(float)}}, {});
  } else {
    join(0, held_.data(), times, out.data());
    for (std::size_t i = 1; i < all_.count(); ++i) {
      const std::size_t theirs = own_values(i, times);
      if (theirs == 0) continue;
      collected_.resize(theirs);
      all_.exchange({}, {{i, 4, collected_.data(), theirs * sizeof(float)}});
      join(i, collected_.data(), times, out.data());
    }
  }
  held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(mine));
  bytes_ += bytes;
  times_ += times;
  return times;
}

}  // namespace ridge::mpi::filterbank
