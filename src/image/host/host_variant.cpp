// Runs host variants on images in host buffers.
#include "image/host/host_variant.hpp"

#include <array>

namespace ridge::image {

Image in_memory(const Image& image) {
  if (!image.resident()) return image;
  auto* bytes = reinterpret_cast<std::byte*>(image.buffer().native()) + image.offset();
  return Image::view(static_cast<void*>(bytes), image.shape(), image.pitch());
}

void HostVariant::enqueue(Queue&, std::span<const Image> in, const Image& out) const {
  std::array<Image, 2> images;
  for (std::size_t i = 0; i < in.size(); ++i) images.at(i) = in_memory(in[i]);
  Image result = in_memory(out);
  run(std::span<const Image>(images.data(), in.size()), result);
}

}  // namespace ridge::image
