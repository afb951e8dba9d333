// Base of the dedispersion variants on devices: arrays in host memory pass through page-locked buffers.
#pragma once
#include "device/staging.hpp"
#include "search/variant.hpp"

namespace ridge::search {

class DeviceVariant : public Variant {
 public:
  DeviceVariant(const Device& device, const Layout& layout) : layout_(layout), staging_(device, "search") {}
  void run(const std::uint8_t* in, float* out) const final {
    staging_.run({.in = in, .in_bytes = layout_.input_bytes(), .out = out, .out_bytes = layout_.output_bytes()},
                 [this](Queue& queue, const Buffer& from, const Buffer& to) { enqueue(queue, from, to); });
  }

 protected:
  const Layout layout_;

 private:
  Staging staging_;
};

}  // namespace ridge::search
