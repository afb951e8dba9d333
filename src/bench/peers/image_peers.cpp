// Loads the OpenCV and libvips plugins.
#include "bench/peers/image_peers.hpp"

#include <dlfcn.h>

#include <filesystem>

#include <fmt/format.h>

namespace ridge::cli {

ImagePeer image_peer(const std::string& name) {
  if (name != "opencv" && name != "vips") {
    throw Error(ErrorKind::invalid_argument, fmt::format("no peer \"{}\"; the peers are opencv and vips", name));
  }
  std::error_code ignored;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", ignored);
  const std::string file = (self.parent_path() / ("libridge_peer_" + name + ".so")).string();
  // Stays open, because the peer's threads and tables do.
  void* plugin = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  auto* entry = plugin == nullptr ? nullptr : reinterpret_cast<ImagePeerEntry>(dlsym(plugin, kImagePeerEntry));
  if (entry == nullptr) {
    if (std::filesystem::exists(file, ignored)) {
      const char* why = dlerror();
      throw Error(ErrorKind::unavailable,
                  fmt::format("{} cannot be opened: {}", file, why == nullptr ? "it has no peer entry point" : why));
    }
    throw Error(ErrorKind::unavailable, fmt::format("{} is not next to this ridge: install {} and build again", name,
                                                    name == "opencv" ? "libopencv-contrib-dev" : "libvips-dev"));
  }
  ImagePeer peer;
  entry(&peer);
  return peer;
}

}  // namespace ridge::cli
