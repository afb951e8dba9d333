// Rows of floats in input order and their weights.
#include "filterbank/host/plain_rows.hpp"

#include <algorithm>

#include "filterbank/host/kernels.hpp"
#include "filterbank/reference.hpp"

namespace ridge::filterbank {
namespace {

std::size_t row_floats(const Geometry& g) { return whole_lines((g.channels + kBlock) * g.polarizations * 2) + 16; }
std::size_t branch_floats(const Geometry& g) { return whole_lines((g.channels + kBlock) * 2); }
std::size_t block_floats(const Geometry& g) { return whole_lines(g.taps * kBlock * g.polarizations * 2); }
std::size_t room_floats(const Geometry& g) { return whole_lines(g.row_bytes() / 4 + 1); }

}  // namespace

void plain_row(const Geometry& geometry, const std::byte* from, float* to, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) {
    const std::complex<double> value = sample_at(geometry.samples, from, i);
    to[2 * i] = static_cast<float>(value.real());
    to[2 * i + 1] = static_cast<float>(value.imag());
  }
}

TapWeights::TapWeights(const Geometry& geometry, std::span<const double> prototype)
    : stride_(whole_lines(geometry.channels + kBlock)), table_(geometry.taps * stride_) {
  std::fill(table_.begin(), table_.end(), 0.0f);
  const std::size_t channels = geometry.channels;
  for (std::size_t i = 0; i < geometry.taps; ++i) {
    for (std::size_t m = 0; m < channels; ++m) {
      const double weight = prototype[i * channels + (channels - 1 - m)];
      table_[i * stride_ + m] = static_cast<float>(geometry.centred && m % 2 == 1 ? -weight : weight);
    }
  }
}

std::size_t PlainScratch::floats(const Geometry& g, const fft::LineKernel<float>& line) {
  return g.taps * row_floats(g) + g.polarizations * branch_floats(g) + block_floats(g) + room_floats(g) +
         2 * line.scratch() + 64;
}

PlainScratch::PlainScratch(const Geometry& g, float* memory)
    : geometry_(g), row_floats_(row_floats(g)), branch_floats_(branch_floats(g)), slots_(memory) {
  branches_ = slots_ + g.taps * row_floats_;
  block_ = branches_ + g.polarizations * branch_floats_;
  float* const room = block_ + block_floats(g);
  room_ = reinterpret_cast<std::byte*>(room);
  fft_ = reinterpret_cast<std::complex<float>*>(room + room_floats(g));
  std::fill(slots_, slots_ + g.taps * row_floats_, 0.0f);
}

std::size_t PlainScratch::slot_of(std::int64_t row) const {
  const auto taps = static_cast<std::int64_t>(geometry_.taps);
  return static_cast<std::size_t>((row % taps + taps) % taps);
}

void PlainScratch::load(const RawView& raw, std::size_t station, std::int64_t row) {
  plain_row(geometry_, bytes(raw, station, row), slot(slot_of(row)), 0, geometry_.row_samples());
}

}  // namespace ridge::filterbank
