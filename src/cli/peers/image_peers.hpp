// Other libraries' image operators, for `ridge bench image`.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include <ridge/image.hpp>

namespace ridge::cli {

// What is timed: a chain of one operator, a variance or a flow.
struct ImageWork {
  std::vector<image::Operation> operation = {};  // one, or none
  std::size_t variance_window = 0;               // else this
  bool flow = false;                             // else this
  image::Border border = image::Border::reflect_101;
};

// A call that does the same work in the peer's own way, or nothing where it has none. Images stay where they are.
using PeerCall = std::function<void()>;
struct ImagePeer {
  std::string name;
  std::function<PeerCall(const ImageWork& work, const image::Image& in, const image::Image& second,
                         std::size_t threads)>
      prepare;
};

// "opencv" or "vips": a plugin beside the command. Error{unavailable} where it was not built, Error{invalid_argument}
// for any other name.
ImagePeer image_peer(const std::string& name);

// What a plugin has, under this name.
inline constexpr const char* kImagePeerEntry = "ridge_image_peer";
using ImagePeerEntry = void (*)(ImagePeer* peer);

}  // namespace ridge::cli
