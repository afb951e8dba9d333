// One stream that the root has and all processes work on: its bytes are dealt out by stations, what they become is
// collected.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <ridge/mpi/box.hpp>
#include <ridge/mpi/communicator.hpp>

#include "filterbank/geometry.hpp"

namespace ridge::mpi::filterbank {

class FromRoot {
 public:
  // `values`: floats of one output time of all stations; `inner`: of one station, where they lie together; `each`:
  // spectra of one output time.
  FromRoot(const Communicator& all, const ridge::filterbank::Geometry& geometry, const std::vector<Part>& stations,
           std::size_t values, std::size_t inner, std::size_t each);

  void start_at(std::uint64_t spectrum, std::uint64_t sample);
  std::size_t due(std::size_t bytes) const;  // output times
  // By all. `work`: this process's own bytes in, its floats appended to what it is given.
  using Work = std::function<void(std::span<const std::byte> in, std::vector<float>& out)>;
  std::size_t push(std::span<const std::byte> in, std::span<float> out, const Work& work);

 private:
  std::size_t own_values(std::size_t rank, std::size_t times) const;
  template <class Use>
  void for_pieces(std::size_t rank, std::uint64_t bytes, const Use& use) const;
  void join(std::size_t rank, const float* from, std::size_t times, float* out) const;

  Communicator all_;
  ridge::filterbank::Geometry geometry_;
  std::vector<Part> stations_;
  std::size_t values_, inner_, each_;
  std::uint64_t bytes_ = 0, times_ = 0;  // of the stream; output times so far
  std::vector<std::vector<std::byte>> dealt_;
  std::vector<float> held_, collected_;
};

}  // namespace ridge::mpi::filterbank
