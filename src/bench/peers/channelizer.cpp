// Lists the channelizer peers, with the reason if one is unavailable.
#include "bench/peers/channelizer.hpp"

namespace ridge::cli {

std::vector<ChannelizerPeer> channelizer_peers() {
#if defined(RIDGE_HAVE_LIQUID)
  return {liquid_peer()};
#else
  return {{.name = "liquid", .missing = "not found when this was built (Debian: libliquid-dev)"}};
#endif
}

}  // namespace ridge::cli
