// Loads the OpenCV and libvips plugins.
#include "bench/peers/image_peers.hpp"

#include <dlfcn.h>

#include <fmt/format.h>

#include "base/library.hpp"

namespace ridge::cli {

ImagePeer image_peer(const std::string& name) {
  if (name != "opencv" && name != "vips") {
    throw Error(ErrorKind::invalid_argument, fmt::format("no peer \"{}\"; the peers are opencv and vips", name));
  }
  const std::string file = base::find_plugin(("libridge_peer_" + name + ".so").c_str()).string();
  if (file.empty())
    throw Error(ErrorKind::unavailable, fmt::format("{} is not next to this ridge: install {} and build again", name,
                                                    name == "opencv" ? "libopencv-contrib-dev" : "libvips-dev"));
  // Stays open, because the peer's threads and tables do.
  void* plugin = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  auto* entry = plugin == nullptr ? nullptr : reinterpret_cast<ImagePeerEntry>(dlsym(plugin, kImagePeerEntry));
  if (entry == nullptr) {
    const char* why = dlerror();
    throw Error(ErrorKind::unavailable,
                fmt::format("{} cannot be opened: {}", file, why == nullptr ? "it has no peer entry point" : why));
  }
  ImagePeer peer;
  entry(&peer);
  return peer;
}

}  // namespace ridge::cli
