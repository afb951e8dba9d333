// The filter bank by its definition, in double precision.
#include "filterbank/reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "filterbank/geometry.hpp"
#include "filterbank/raw_view.hpp"

namespace ridge::filterbank {
namespace {

template <class T>
std::complex<double> pair_at(const std::byte* bytes, std::size_t index) {
  T parts[2];
  std::memcpy(parts, bytes + index * sizeof parts, sizeof parts);
  return {static_cast<double>(parts[0]), static_cast<double>(parts[1])};
}

// Discrete Fourier transform of n values `stride` apart, for n * stride roots of unity: two transforms of half the
// length while n is even, else the sum of the definition.
void transform(const std::complex<double>* in, std::size_t n, std::size_t stride,
               const std::vector<std::complex<double>>& roots, std::complex<double>* out) {
  if (n % 2 == 0) {
    transform(in, n / 2, 2 * stride, roots, out);
    transform(in + stride, n / 2, 2 * stride, roots, out + n / 2);
    for (std::size_t k = 0; k < n / 2; ++k) {
      const std::complex<double> even = out[k], odd = out[k + n / 2] * roots[k * stride];
      out[k] = even + odd;
      out[k + n / 2] = even - odd;
    }
    return;
  }
  for (std::size_t k = 0; k < n; ++k) {
    out[k] = 0;
    for (std::size_t m = 0; m < n; ++m) out[k] += in[m * stride] * roots[k * m % n * stride];
  }
}

}  // namespace

std::complex<double> sample_at(Samples type, const std::byte* bytes, std::size_t index) {
  switch (type) {
    case Samples::int4: {
      const int both = std::to_integer<int>(bytes[index]);
      const auto nibble = [](int value) { return static_cast<double>(value >= 8 ? value - 16 : value); };
      return {nibble(both & 15), nibble(both >> 4)};
    }
    case Samples::int8:
      return pair_at<std::int8_t>(bytes, index);
    case Samples::int16:
      return pair_at<std::int16_t>(bytes, index);
    default:
      return pair_at<float>(bytes, index);
  }
}

std::vector<std::complex<double>> station_samples(const Problem& problem, std::span<const std::byte> bytes,
                                                  std::size_t station, std::size_t polarization) {
  const Geometry g = resolve(problem);
  const RawView raw(0, bytes.data(), bytes.size(), nullptr, 0);
  std::vector<std::complex<double>> samples(g.samples_in(bytes.size()));
  std::vector<std::byte> room(g.polarizations * g.sample_bytes);
  for (std::size_t n = 0; n < samples.size(); ++n) {
    const std::byte* at = raw.samples(g, station, static_cast<std::int64_t>(n), 1, room.data());
    samples[n] = sample_at(problem.samples, at, polarization);
  }
  return samples;
}

std::vector<std::complex<double>> reference(const Problem& problem, std::span<const std::complex<double>> samples,
                                            std::uint64_t first, std::size_t spectra, std::int64_t start) {
  const Problem whole = complete(problem);
  const Geometry g = resolve(whole);
  const auto channels = static_cast<std::int64_t>(g.channels);
  std::vector<std::complex<double>> roots(g.channels);
  for (std::size_t k = 0; k < g.channels; ++k) {
    roots[k] = std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(g.channels));
  }
  std::vector<std::complex<double>> out(spectra * g.channels);
  std::vector<std::complex<double>> branches(g.channels);
  for (std::size_t t = 0; t < spectra; ++t) {
    const std::int64_t newest = g.newest(first + t);
    std::fill(branches.begin(), branches.end(), 0.0);
    for (std::size_t age = 0; age < whole.weights.size(); ++age) {
      const std::int64_t n = newest - static_cast<std::int64_t>(age);
      if (n < start || n - start >= static_cast<std::int64_t>(samples.size())) continue;
      const double sign = g.centred && n % 2 != 0 ? -1 : 1;
      branches[static_cast<std::size_t>((n % channels + channels) % channels)] +=
          sign * whole.weights[age] * samples[static_cast<std::size_t>(n - start)];
    }
    transform(branches.data(), g.channels, 1, roots, out.data() + t * g.channels);
  }
  return out;
}

}  // namespace ridge::filterbank
