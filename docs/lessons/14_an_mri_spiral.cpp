#include <cmath>
#include <complex>
#include <cstdio>
#include <numbers>
#include <vector>

#include <ridge/nufft.hpp>

namespace nu = ridge::nufft;
using Image = std::vector<std::complex<double>>;

double dot(const Image& a, const Image& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (std::conj(a[i]) * b[i]).real();
  return sum;
}

double error(const Image& image, const Image& phantom, double scale = 1) {
  Image difference = image;
  for (std::size_t i = 0; i < image.size(); ++i) difference[i] = scale * image[i] - phantom[i];
  return std::sqrt(dot(difference, difference) / dot(phantom, phantom));
}

int main() {
  constexpr std::size_t n = 64, count = 12000;
  constexpr double turns = 40, pi = std::numbers::pi;
  Image phantom(n * n);  // a disc with a darker one inside
  for (std::size_t i = 0; i < n * n; ++i) {
    const double y = (double(i / n) - n / 2) / n, x = (double(i % n) - n / 2) / n;
    phantom[i] = (std::hypot(x, y) < 0.4 ? 1.0 : 0.0) - (std::hypot(x - 0.1, y) < 0.15 ? 0.5 : 0.0);
  }
  std::vector<double> t(count), kx(count), ky(count);
  for (std::size_t j = 0; j < count; ++j) {
    t[j] = (double(j) + 0.5) / count;
    kx[j] = pi * t[j] * std::cos(2 * pi * turns * t[j]);
    ky[j] = pi * t[j] * std::sin(2 * pi * turns * t[j]);
  }
  const nu::Problem problem{.type = nu::Type::to_points, .modes = {n, n}, .points = count, .epsilon = 1e-6, .sign = -1};
  auto scan = nu::plan<double>(ridge::host(), problem);  // image to samples
  scan.set_points(ky, kx);
  Image samples(count), adjoint(n * n), residual(n * n);
  scan.run(phantom, samples);  // what the scanner measures
  scan.adjoint(samples, adjoint);
  for (std::size_t j = 0; j < count; ++j) samples[j] *= t[j];
  scan.adjoint(samples, residual);
  std::printf("%zu samples on a spiral of %.0f turns\n", count, turns);
  std::printf("the adjoint: off by %.2f; with samples weighted by area: %.2f\n",
              error(adjoint, phantom, dot(adjoint, phantom) / dot(adjoint, adjoint)),
              error(residual, phantom, dot(residual, phantom) / dot(residual, residual)));

  const nu::Normal<double> normal(problem, {ky, kx}, t);  // A* W A as one convolution: no points from here on
  Image image(n * n), step = residual, applied(n * n);
  for (int iteration = 0; iteration < 20; ++iteration) {  // conjugate gradients
    normal.run(step, applied);
    const double size = dot(residual, residual), length = size / dot(step, applied);
    for (std::size_t i = 0; i < n * n; ++i) {
      image[i] += length * step[i];
      residual[i] -= length * applied[i];
    }
    const double ratio = dot(residual, residual) / size;
    for (std::size_t i = 0; i < n * n; ++i) step[i] = residual[i] + ratio * step[i];
  }
  std::printf("20 iterations of conjugate gradients: %.2f\n", error(image, phantom));
}
