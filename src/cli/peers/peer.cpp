#include "cli/peers/peer.hpp"

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
  return peers;
}

}  // namespace ridge::cli
