// What the kernels that move four channels at a time are compiled with and given.
#pragma once
#include <utility>

#include "image/operators/device/steps.hpp"

namespace ridge::image::on_device {

KernelSource vec4_source(const char* file, const Shape& in, Border border, double constant);

// A kernel over an image and another of its rows and columns.
class Vec4Step final : public Step {
 public:
  Vec4Step(Kernel kernel, const Launch& launch) : kernel_(std::move(kernel)), launch_(launch) {}
  void enqueue(Queue& queue, const Image& in, const Image&, const Image& out) const override;

 private:
  Kernel kernel_;
  Launch launch_;
};

// A table that a step keeps on its device.
template <class T>
Buffer uploaded(const Device& device, Queue& queue, const std::vector<T>& values, const char* name) {
  Buffer buffer = device.buffer(values.size() * sizeof(T), {.name = name});
  queue.upload(std::span<const T>(values), buffer);
  return buffer;
}

}  // namespace ridge::image::on_device
