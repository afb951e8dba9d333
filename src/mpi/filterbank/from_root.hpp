// A stream read by the root and processed by all: its bytes are distributed by station and the results are gathered.
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
  // `values`: floats per output time of all stations; `inner`: contiguous floats per station; `each`: spectra per
  // output time.
  FromRoot(const Communicator& all, const ridge::filterbank::Geometry& geometry, const std::vector<Part>& stations,
           std::size_t values, std::size_t inner, std::size_t each);

  void start_at(std::uint64_t spectrum, std::uint64_t sample);
  std::size_t due(std::size_t bytes) const;  // output times that `bytes` more would complete
  // Collective. `work` appends this process's results for its own input bytes to `out`.
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
  std::uint64_t bytes_ = 0, times_ = 0;  // bytes of the stream and output times so far
  std::vector<std::vector<std::byte>> dealt_;
  std::vector<float> held_, collected_;
};

}  // namespace ridge::mpi::filterbank
