// Channelizers of other libraries behind one interface, for `ridge bench filterbank`.
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ridge::cli {

struct ChannelizerProblem {
  std::size_t channels = 0, taps = 0, blocks = 0;
  std::vector<double> prototype;
};

struct ChannelizerPeer {
  std::string name;
  std::string missing = {};  // why it is unavailable; prepare is then empty
  // One stream of int8 samples with alternating polarizations to [block][polarization][channel]; critical sampling.
  std::function<std::function<void()>(const ChannelizerProblem& problem, const std::int8_t* in,
                                      std::complex<float>* out)>
      prepare = {};
};

std::vector<ChannelizerPeer> channelizer_peers();
ChannelizerPeer liquid_peer();

}  // namespace ridge::cli
