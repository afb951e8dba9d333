// Base of the host variants: a host buffer is accessed like any memory.
#pragma once
#include "image/variant.hpp"

namespace ridge::image {

class HostVariant : public Variant {
 public:
  void enqueue(Queue& queue, std::span<const Image> in, const Image& out) const final;
};

// View of an image whose host buffer is plain memory.
Image in_memory(const Image& image);

}  // namespace ridge::image
