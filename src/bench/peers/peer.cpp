// Lists the peers, with the reason for each that is unavailable.
#include "bench/peers/peer.hpp"

#include <fmt/format.h>

namespace ridge::cli {
namespace {

template <class P>
P peer_or_reason(P (*make)(), const char* name, const char* package) {
  if (make != nullptr) return make();
  return {.name = name, .missing = fmt::format("not found when this was built (Debian{})", package)};
}

}  // namespace

// One line per library, whose file defines the function. It is null if the library was not found when this was built.
// clang-format off
std::vector<Peer> fft_peers() {
  using Make = Peer();
  std::vector<Peer> peers;
  const auto list = [&](Make* make, const char* name, const char* package) {
    peers.push_back(peer_or_reason(make, name, package));
  };
  [[gnu::weak]] Make fftw_peer; list(fftw_peer, "fftw", ": libfftw3-dev");
  [[gnu::weak]] Make pocketfft_peer; list(pocketfft_peer, "pocketfft", " 12 has none: install pocketfft_hdronly.h");
  [[gnu::weak]] Make kissfft_peer; list(kissfft_peer, "kissfft", ": libkissfft-dev");
  [[gnu::weak]] Make ne10_peer; list(ne10_peer, "ne10", " on ARM: libne10-dev");
  list(cufft_peer, "cufft", "");
  [[gnu::weak]] Make clfft_peer; list(clfft_peer, "clfft", ": libclfft-dev");
  [[gnu::weak]] Make vkfft_peer; list(vkfft_peer, "vkfft", ": libvkfft-dev");
  return peers;
}

ChannelizerPeer liquid_channelizer() {
  using Make = ChannelizerPeer();
  [[gnu::weak]] Make liquid_peer;
  return peer_or_reason(liquid_peer, "liquid", ": libliquid-dev");
}
// clang-format on

}  // namespace ridge::cli
