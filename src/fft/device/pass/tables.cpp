#include "fft/device/pass/tables.hpp"

#include <memory>

#include "base/aligned.hpp"
#include "fft/device/pass/real_kind.hpp"
#include "fft/host/prime/numbers.hpp"
#include "fft/registry.hpp"
#include "fft/roots.hpp"

namespace ridge::fft::on_device {
namespace {

// Computed on the host in double.
std::vector<std::complex<double>> transformed(const std::vector<std::complex<double>>& in) {
  const std::unique_ptr<LineKernel<double>> line = default_line<double>(in.size());
  base::AlignedArray<std::complex<double>> from(in.size()), to(in.size()), scratch(line->scratch() + 1);
  std::copy(in.begin(), in.end(), from.begin());
  line->run(Direction::forward, from.data(), to.data(), scratch.data());
  return {to.begin(), to.end()};
}

std::vector<std::complex<double>> rader_filter(std::size_t p) {
  const std::size_t m = p - 1;
  const AnyRoots<double> roots(p);
  const RaderOrder order = rader_order(p);
  std::vector<std::complex<double>> filter(m);
  for (std::size_t q = 0; q < m; ++q) filter[q] = roots.at(order.scatter[q]) / static_cast<double>(m);
  return transformed(filter);
}

template <class T>
std::complex<T> rounded(std::complex<double> value) {
  return {static_cast<T>(value.real()), static_cast<T>(value.imag())};
}

}  // namespace

RaderOrder rader_order(std::size_t p) {
  const std::size_t m = p - 1, g = prime::primitive_root(p), inverse = prime::power_modulo(g, p - 2, p);
  RaderOrder order{std::vector<std::uint32_t>(m), std::vector<std::uint32_t>(m)};
  for (std::size_t q = 0, a = 1, b = 1; q < m; ++q, a = a * g % p, b = b * inverse % p) {
    order.gather[q] = static_cast<std::uint32_t>(a);
    order.scatter[q] = static_cast<std::uint32_t>(b);
  }
  return order;
}

std::vector<std::complex<double>> chirp(std::size_t n) {
  const AnyRoots<double> roots(2 * n);
  std::vector<std::complex<double>> values(n);
  for (std::size_t j = 0, square = 0; j < n; square = (square + 2 * j + 1) % (2 * n), ++j) {
    values[j] = roots.at(square);
  }
  return values;
}

std::vector<std::complex<double>> chirp_filter(std::size_t n, std::size_t padded) {
  const auto values = chirp(n);
  std::vector<std::complex<double>> filter(padded);
  for (std::size_t j = 0; j < n; ++j) {
    filter[j] = std::conj(values[j]) / static_cast<double>(padded);
    if (j > 0) filter[padded - j] = filter[j];
  }
  return transformed(filter);
}

template <class T>
std::vector<std::complex<T>> pass_tables(const PassDesign& design) {
  const TableOffsets offsets = table_offsets(design);
  std::vector<std::complex<T>> tables(offsets.end);
  for (const StageDesign& stage : stages_of(design)) {
    if (stage.before == 1) continue;
    const AnyRoots<T> roots(stage.before * stage.radix);
    std::size_t at = stage.table;
    for (const std::size_t s : loaded_powers(stage.radix, design.few_twiddles)) {
      for (std::size_t k = 0; k < stage.before; ++k) tables[at++] = roots.at(k * s);
    }
  }
  if (design.twiddle) {
    const std::uint64_t order = design.twiddle->order;
    const AnyRoots<T> roots(order);
    const std::size_t fine = std::size_t{1} << offsets.fine_bits;
    for (std::size_t k = 0; k < fine; ++k) tables[offsets.fine + k] = roots.at(k % order);
    for (std::size_t k = 0; k <= (order - 1) >> offsets.fine_bits; ++k) tables[offsets.coarse + k] = roots.at(k * fine);
    if (offsets.step_table) {
      const std::size_t radix = stages_of(design).back().radix, butterflies = design.length / radix;
      std::size_t at = offsets.step;
      for (const std::size_t u : loaded_powers(radix, design.few_twiddles)) {
        for (std::size_t column = 0; column < design.twiddle->columns; ++column) {
          tables[at++] = roots.at(column * u * butterflies);
        }
      }
    }
  }
  if (design.convolves_by(Convolution::rader) || design.convolves_by(Convolution::bluestein)) {
    const auto filter = design.convolves_by(Convolution::rader) ? rader_filter(design.points)
                                                                : chirp_filter(design.points, design.length);
    for (std::size_t k = 0; k < design.length; ++k) tables[offsets.filter + k] = rounded<T>(filter[k]);
  }
  if (design.convolves_by(Convolution::bluestein)) {
    const auto values = chirp(design.points);
    for (std::size_t j = 0; j < design.points; ++j) tables[offsets.chirp + j] = rounded<T>(values[j]);
  }
  if (design.load.values == Values::half || design.store.values == Values::half) {
    const AnyRoots<T> roots(2 * design.length);
    for (std::size_t k = 0; k < design.length; ++k) tables[offsets.half + k] = roots.at(k);
  }
  if (design.real_to_real()) {
    const KindRoots wanted = real_kind_roots(design.real_to_real()->kind, design.real_to_real()->points);
    const AnyRoots<T> roots(wanted.order);
    for (std::size_t k = 0; k < wanted.count; ++k) tables[offsets.kind + k] = roots.at(wanted.exponent(k));
  }
  return tables;
}

template std::vector<std::complex<float>> pass_tables<float>(const PassDesign&);
template std::vector<std::complex<double>> pass_tables<double>(const PassDesign&);

}  // namespace ridge::fft::on_device
