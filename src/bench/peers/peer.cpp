// Lists the FFT peers, with the reason for each that is unavailable.
#include "bench/peers/peer.hpp"

namespace ridge::cli {

std::vector<Peer> fft_peers() {
  std::vector<Peer> peers;
#if defined(RIDGE_HAVE_FFTW)
  peers.push_back(fftw_peer());
#else
  peers.push_back({.name = "fftw", .missing = "not found when this was built (Debian: libfftw3-dev)"});
#endif
#if defined(RIDGE_HAVE_KISSFFT)
  peers.push_back(kissfft_peer());
#else
  peers.push_back({.name = "kissfft", .missing = "not found when this was built (Debian: libkissfft-dev)"});
#endif
#if defined(RIDGE_HAVE_NE10)
  peers.push_back(ne10_peer());
#else
  peers.push_back({.name = "ne10", .missing = "not found when this was built (Debian on ARM: libne10-dev)"});
#endif
  peers.push_back(cufft_peer());
#if defined(RIDGE_HAVE_CLFFT)
  peers.push_back(clfft_peer());
#else
  peers.push_back({.name = "clfft", .missing = "not found when this was built (Debian: libclfft-dev)"});
#endif
#if defined(RIDGE_HAVE_VKFFT)
  peers.push_back(vkfft_peer());
#else
  peers.push_back({.name = "vkfft", .missing = "not found when this was built (Debian: libvkfft-dev)"});
#endif
  return peers;
}

}  // namespace ridge::cli
