// Converts between images and the planes of the flow's stages.
#include "image/flow/plane.hpp"

namespace ridge::image::flow {

Picture picture_of(const Image& frame) {
  Picture picture({static_cast<int>(frame.rows()), static_cast<int>(frame.columns())});
  const std::size_t channels = frame.channels();
  auto to = picture.cells.begin();
  for (std::size_t r = 0; r < frame.rows(); ++r) {
    const auto* pixel = frame.row<std::uint8_t>(r);
    for (std::size_t c = 0; c < frame.columns(); ++c, pixel += channels) {
      *to++ = channels < 3 ? Pixel{{pixel[0], pixel[0], pixel[0]}} : Pixel{{pixel[0], pixel[1], pixel[2]}};
    }
  }
  return picture;
}

}  // namespace ridge::image::flow
