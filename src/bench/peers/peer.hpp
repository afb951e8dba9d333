// FFT libraries behind one interface, for `ridge bench fft` and `ridge check accuracy`. Each library is one file,
// compiled if it was found when the build was configured.
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
  std::optional<fft::RealKind> kind = {};  // a real-to-real transform along every axis; FFTW only
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

// One per file.
Peer fftw_peer();
Peer kissfft_peer();
Peer ne10_peer();
Peer cufft_peer();
Peer clfft_peer();
Peer vkfft_peer();

}  // namespace ridge::cli
