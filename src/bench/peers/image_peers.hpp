// Image operators of other libraries, for `ridge bench image`.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include <ridge/image.hpp>

namespace ridge::cli {

// The timed work: a chain of one operator, a variance or a flow.
struct ImageWork {
  std::vector<image::Operation> operation = {};  // one, or none
  std::size_t variance_window = 0;               // if there is no operation
  bool flow = false;                             // if there is neither
  image::Border border = image::Border::reflect_101;
};

// A call that does the same work with the peer's library, or empty if it has no such function. Images stay in place.
using PeerCall = std::function<void()>;
struct ImagePeer {
  std::string name;
  std::function<PeerCall(const ImageWork& work, const image::Image& in, const image::Image& second,
                         std::size_t threads)>
      prepare;
};

// Loads the plugin "opencv" or "vips" next to the command. Error{unavailable} if it was not built,
// Error{invalid_argument} for other names.
ImagePeer image_peer(const std::string& name);

// Entry point of a plugin.
inline constexpr const char* kImagePeerEntry = "ridge_image_peer";
using ImagePeerEntry = void (*)(ImagePeer* peer);

}  // namespace ridge::cli
