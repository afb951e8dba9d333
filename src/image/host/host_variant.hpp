// What the host's variants share: buffers of the host are memory like any other.
#pragma once
#include "image/variant.hpp"

namespace ridge::image {

class HostVariant : public Variant {
 public:
  void enqueue(Queue& queue, std::span<const Image> in, const Image& out) const final;
};

// An image in a buffer of the host, seen as memory.
Image in_memory(const Image& image);

}  // namespace ridge::image
