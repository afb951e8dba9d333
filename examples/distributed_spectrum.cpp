// Transforms a wave in a box of 48 x 40 x 36 points distributed over processes, and finds the peak of its spectrum.
//   mpirun -n 4 example_distributed_spectrum
#include <cmath>
#include <cstdio>
#include <vector>

#include <ridge/error.hpp>
#include <ridge/mpi.hpp>

int main() try {
  const auto all = ridge::mpi::Communicator::world();
  const ridge::mpi::Shape shape{48, 40, 36};
  const ridge::mpi::fft::Plan<float> fft(all, {.shape = shape, .kind = ridge::fft::Kind::real});

  // This process's samples: 5 waves along z, 3 along y, 7 along x.
  const ridge::mpi::Box mine = fft.input();
  std::vector<float> wave(mine.size());
  std::size_t i = 0;
  for (std::size_t z = mine.begin[0]; z < mine.end[0]; ++z) {
    for (std::size_t y = mine.begin[1]; y < mine.end[1]; ++y) {
      for (std::size_t x = mine.begin[2]; x < mine.end[2]; ++x) {
        const double turns = 5.0 * double(z) / 48 + 3.0 * double(y) / 40 + 7.0 * double(x) / 36;
        wave[i++] = float(std::cos(2 * std::acos(-1.0) * turns));
      }
    }
  }
  std::vector<std::complex<float>> spectrum(fft.output().size());
  fft.forward(wave, spectrum);

  // The output has the layout that the last exchange left; strides() describes it.
  const ridge::mpi::Box box = fft.output();
  const auto strides = box.strides();
  float highest = 0;
  for (const auto& value : spectrum) highest = std::max(highest, std::abs(value));
  const double peak = all.largest(highest);
  for (std::size_t z = box.begin[0]; z < box.end[0]; ++z) {
    for (std::size_t y = box.begin[1]; y < box.end[1]; ++y) {
      for (std::size_t x = box.begin[2]; x < box.end[2]; ++x) {
        const auto value = spectrum[(z - box.begin[0]) * strides[0] + (y - box.begin[1]) * strides[1] +
                                    (x - box.begin[2]) * strides[2]];
        if (std::abs(value) > 0.99 * peak) std::printf("peak at %zu %zu %zu\n", z, y, x);
      }
    }
  }
} catch (const ridge::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
