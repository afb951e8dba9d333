// Runs a pass whose work-groups send each other values, and compares with the reference in double.
#pragma once
#include <cmath>
#include <cstddef>
#include <vector>

#include "device_support.hpp"
#include "stencil/device/layout.hpp"
#include "stencil/device/pass.hpp"
#include "support/worst.hpp"

namespace ridge::stencil::device_tests {

// Largest error after some steps with fixed borders.
template <class T>
double worst_of_pass(const Device& device, const Pass& pass, const DeviceLayout& place,
                     const std::vector<std::size_t>& shape, const std::vector<Term>& terms, std::size_t steps) {
  std::vector<double> start = scattered(place.cells());
  for (double& value : start) value = static_cast<double>(static_cast<T>(value));
  const std::vector<double> expected =
      reference(start, shape, Borders::all(Border::fixed), terms, static_cast<int>(steps));
  std::vector<T> field(place.field, static_cast<T>(std::nan("")));
  const auto at = [&](std::size_t cell) {
    return place.origin + cell / place.width() * place.pitch + cell % place.width();
  };
  for (std::size_t i = 0; i < place.cells(); ++i) field[at(i)] = static_cast<T>(start[i]);
  const Buffer a = device.buffer(field.size() * sizeof(T)), b = device.buffer(field.size() * sizeof(T));
  const std::vector<Buffer> mail(pass.scratch(), device.buffer(pass.scratch_bytes(0)));
  Queue queue = device.queue();
  queue.upload(std::span<const T>(field), a);
  queue.upload(std::span<const T>(field), b);
  queue.download(pass.enqueue_steps(queue, a, b, mail, steps) ? b : a, std::span<T>(field));
  queue.finish();
  ridge::test::Worst worst;
  for (std::size_t i = 0; i < place.cells(); ++i) worst.add(std::abs(static_cast<double>(field[at(i)]) - expected[i]));
  return worst.value();
}

}  // namespace ridge::stencil::device_tests
