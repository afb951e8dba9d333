// Other libraries behind one interface, for `ridge bench fft` and `ridge check accuracy`. A library is a file here,
// compiled where it was found when the build was configured.
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
  std::size_t batch = 1;           // packed one after the other
  bool real = false;               // from reals to n/2+1 complex values in the last axis, or back
  bool inverse = false;
  std::optional<fft::RealKind> kind = {};  // a real-to-real transform along every axis; the bench asks FFTW alone
  bool float64 = false;
  std::size_t threads = 1;  // 0: as many as our own transforms would use
  bool quick = false;       // plan without measuring: for answers, never for times
};

// Runs the transform on the memory it was prepared for.
using PeerRun = std::function<void()>;

struct Peer {
  std::string name;
  std::string missing = {};  // why it is not there; then it can prepare nothing
  // Plans for `in` and `out`, whose contents are lost; a run may spoil `in` too. Error{unavailable} where the library
  // cannot do the problem.
  std::function<PeerRun(const PeerProblem& problem, void* in, void* out)> prepare = {};
  // The same on memory of the queue's device; a run enqueues and does not wait.
  std::function<PeerRun(const PeerProblem& problem, const Buffer& in, const Buffer& out, Queue& queue)>
      prepare_on_device = {};
};

// All we know of, there or not.
std::vector<Peer> fft_peers();

// Each in its file.
Peer fftw_peer();
Peer kissfft_peer();
Peer ne10_peer();
Peer cufft_peer();
Peer clfft_peer();
Peer vkfft_peer();

}  // namespace ridge::cli
