// FFT libraries and channelizers behind one interface each, for `ridge bench` and `ridge check accuracy`. A library is
// one file, compiled if it was found when the build was configured, and one line of peer.cpp.
#pragma once
#include <complex>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <ridge/device.hpp>
#include <ridge/fft/tensor.hpp>

namespace ridge::cli {

struct PeerProblem {
  std::vector<std::size_t> shape;  // one to three axes, slowest first; real: of the samples
  std::size_t batch = 1;           // packed
  bool real = false;               // real to n/2+1 complex values along the last axis, or the inverse
  bool inverse = false;
  std::optional<fft::RealKind> kind = {};  // a real-to-real transform along every axis
  bool float64 = false;
  std::size_t threads = 1;  // 0: as many as Ridgeline would use
  bool quick = false;       // plan without measuring: for results, never for times
};

// Runs the transform on the memory it was prepared for.
using PeerRun = std::function<void()>;

struct Peer {
  std::string name;
  std::string missing = {};  // why it is unavailable; prepare is then empty
  // Plans for `in` and `out` and overwrites their contents; a run may overwrite `in` too. Error{unavailable} if the
  // library does not support the problem.
  std::function<PeerRun(const PeerProblem& problem, void* in, void* out)> prepare = {};
  // The same in memory of the queue's device; a run enqueues and does not wait.
  std::function<PeerRun(const PeerProblem& problem, const Buffer& in, const Buffer& out, Queue& queue)>
      prepare_on_device = {};
};

// All known peers, available or not.
std::vector<Peer> fft_peers();

Peer cufft_peer();

// Channelizers, for `ridge bench filterbank`.
struct ChannelizerProblem {
  std::size_t channels = 0, taps = 0, blocks = 0;
  std::vector<double> prototype;
};

struct ChannelizerPeer {
  std::string name;
  std::string missing = {};  // why it is unavailable; prepare is then empty
  // One stream of int8 samples with alternating polarizations to [block][polarization][channel]; critical sampling.
  std::function<PeerRun(const ChannelizerProblem& problem, const std::int8_t* in, std::complex<float>* out)> prepare =
      {};
};
ChannelizerPeer liquid_channelizer();

}  // namespace ridge::cli
