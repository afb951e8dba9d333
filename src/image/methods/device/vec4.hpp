// Support for kernels that load and store four channels at a time.
#pragma once
#include <utility>

#include "image/methods/device/steps.hpp"

namespace ridge::image::on_device {

KernelSource vec4_source(const char* file, const Shape& in, Border border, double constant);

// Returns the only operation that is not Gray, or null. Operations that only move pixels may follow the conversion to
// gray.
const Operation* operation_besides_grays(const Link& link);
// Source of a kernel that reads single pixels, converted to gray if the link does so.
KernelSource fetch_source(const char* file, const Link& link);

// Step with one kernel that needs only the input and output image and the input's size.
class Vec4Step final : public Step {
 public:
  Vec4Step(Kernel kernel, const Launch& launch) : kernel_(std::move(kernel)), launch_(launch) {}
  void enqueue(Queue& queue, const Image& in, const Image&, const Image& out) const override;

 private:
  Kernel kernel_;
  Launch launch_;
};

// Step with one kernel and tables in device memory. The kernel's arguments: both images, numbers(), the tables.
class TableStep : public Step {
 public:
  void enqueue(Queue& queue, const Image& in, const Image&, const Image& out) const override;

 protected:
  explicit TableStep(Kernel kernel) : kernel_(std::move(kernel)) {}
  virtual std::vector<std::size_t> numbers(const Image& in, const Image& out) const = 0;

  Launch launch_{};
  std::vector<Buffer> tables_{};

 private:
  Kernel kernel_;
};

// Copies a table to a new buffer on the device.
template <class T>
Buffer uploaded(const Device& device, Queue& queue, const std::vector<T>& values, const char* name) {
  Buffer buffer = device.buffer(values.size() * sizeof(T), {.name = name});
  queue.upload(std::span<const T>(values), buffer);
  return buffer;
}

}  // namespace ridge::image::on_device
