#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdio>
#include <numbers>
#include <vector>

#include <ridge/fft/tensor.hpp>

using Complex = std::complex<double>;

// A cube with one wave along one axis. Its transform along that axis has a single peak, at the number of cycles.
std::vector<Complex> wave(std::size_t axis, std::size_t cycles) {
  const std::size_t shape[] = {30, 40, 50};
  std::vector<Complex> cube;
  for (std::size_t z = 0; z < 30; ++z)
    for (std::size_t y = 0; y < 40; ++y)
      for (std::size_t x = 0; x < 50; ++x) {
        const std::size_t place[] = {z, y, x};
        cube.push_back(std::polar(
            1.0, 2 * std::numbers::pi * static_cast<double>(cycles * place[axis]) / static_cast<double>(shape[axis])));
      }
  return cube;
}

int main() {
  const ridge::planner::Options quick{.effort = ridge::Effort::quick};
  std::vector<Complex> out(30 * 40 * 50);

  // Along the first axis, where neighbours are 2000 elements apart. {length, input stride, output stride}
  const auto first =
      ridge::fft::tensor_plan<double>(ridge::host(), {.axes = {{30, 2000, 2000}}, .loops = {{2000, 1, 1}}}, quick);
  first.run(wave(0, 7).data(), out.data());
  std::printf("along the first axis, 7 cycles: %.0f at 7, %.0f elsewhere\n", std::abs(out[7 * 2000]),
              std::abs(out[8 * 2000]));

  // Every second column in reverse order: a stride of -100, starting at the last column.
  const auto backwards = ridge::fft::tensor_plan<double>(
      ridge::host(), {.axes = {{20, -100, 50}}, .loops = {{30, 2000, 1000}, {50, 1, 1}}}, quick);
  const std::vector<Complex> columns = wave(1, 6);
  backwards.run(columns.data() + 39 * 50, out.data());
  std::printf("backwards, 6 cycles: %.0f at 20 - 6, %.0f at 6\n", std::abs(out[14 * 50]), std::abs(out[6 * 50]));

  // In place: no new memory.
  std::vector<Complex> cube = wave(2, 3);
  const auto whole = ridge::fft::tensor_plan<double>(
      ridge::host(), {.axes = {{30, 2000, 2000}, {40, 50, 50}, {50, 1, 1}}, .in_place = true}, quick);
  whole.run(cube.data(), cube.data());
  std::printf("three axes in place: %.0f at (0, 0, 3)\n", std::abs(cube[3]));
}
