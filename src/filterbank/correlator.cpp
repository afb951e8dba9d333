// Correlator on the host: products of all pairs of signals (one polarization of one station each), vectorized across
// channels. Blocks of 16 channels of all signals over a few times are split into real and imaginary parts, and tiles of
// 2 x 4 signals are summed from them. Sums are floats over at most kTimes times, so that long integrations keep their
// precision, and doubles over those.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <ridge/filterbank.hpp>
#include <ridge/half.hpp>

#include "base/aligned.hpp"
#include "base/threads.hpp"
#include "filterbank/correlator.hpp"
#include "filterbank/host/products.hpp"

namespace ridge::filterbank {
namespace {

constexpr std::size_t kTimes = 64;
constexpr std::size_t kStaged = 32;  // times staged at once

}  // namespace

Arithmetic arithmetic_named(std::string_view name) {
  if (name == "float32") return Arithmetic::float32;
  if (name == "float16") return Arithmetic::float16;
  if (name == "int8") return Arithmetic::int8;
  throw Error(ErrorKind::invalid_argument, fmt::format("no arithmetic \"{}\": use float32, float16 or int8", name));
}

CorrelatorState::CorrelatorState(const Problem& problem, const Correlation& correlation)
    : geometry_(resolve(problem)), correlation_(correlation) {
  const Geometry& g = geometry_;
  if (correlation.times == 0)
    throw Error(ErrorKind::invalid_argument, "filterbank: a correlation needs at least 1 time, got 0");
  // A bank of one tap may be a part of a band (mpi/filterbank/correlator.cpp), whose ends are not the band's edges.
  const bool divides = correlation.channels != 0 && g.channels % correlation.channels == 0;
  if (problem.taps != 1 || !divides) check_summed(g, correlation.channels, "a correlation");
  if (correlation.times % g.times != 0) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("filterbank: an integration needs a multiple of the {} times of an output block, got {}",
                            g.times, correlation.times));
  }
  if (!(correlation.scale > 0) || !std::isfinite(correlation.scale) ||
      (correlation.arithmetic == Arithmetic::float32 && correlation.scale != 1)) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("filterbank: the correlation's scale is {}: it must be above 0, and 1 for float32",
                            correlation.scale));
  }
}

void CorrelatorState::enqueue(Queue&, const Buffer&, std::size_t, const Buffer&) {
  throw Error(ErrorKind::invalid_argument,
              "filterbank: this correlator runs on the host: use push(), enqueue() needs a device");
}
void CorrelatorState::pack(Queue& queue, const Buffer& spectra, std::size_t times, const Buffer& rows) {
  enqueue(queue, spectra, times, rows);
}
void CorrelatorState::enqueue_packed(Queue& queue, const Buffer& rows, std::size_t times, const Buffer& out) {
  enqueue(queue, rows, times, out);
}

namespace {

class HostCorrelator final : public CorrelatorState {
 public:
  HostCorrelator(const Problem& problem, const Correlation& correlation) : CorrelatorState(problem, correlation) {
    const Geometry& g = geometry_;
    signals_ = (g.stations * g.polarizations + kTileColumns - 1) / kTileColumns * kTileColumns;
    blocks_ = (g.channels + kProductChannels - 1) / kProductChannels;
    for (std::size_t column = 0; column < signals_; column += kTileColumns) {
      for (std::size_t row = 0; row < column + kTileColumns; row += kTileRows) tiles_.push_back({row, column});
    }
    if (signals_ > (std::size_t{1} << 16) || blocks_ * tiles_.size() > (std::size_t{1} << 28)) {
      throw Error(
          ErrorKind::invalid_argument,
          fmt::format("filterbank: {} stations x {} channels exceed the correlator's limit (65536 signals, 2^28 tiles)",
                      g.stations, g.channels));
    }
    sums_ = base::AlignedArray<float>(blocks_ * tiles_.size() * kTileFloats);
    std::fill(sums_.begin(), sums_.end(), 0.0f);
    totals_.assign(sums_.size(), 0.0);
    threads_ = std::min(g.threads, blocks_);
    factor_ = 1 / (static_cast<double>(correlation.scale) * correlation.scale);
    for (std::size_t i = 0; i < threads_; ++i) staged_.emplace_back(kStaged * signals_ * kSignalFloats);
  }

  void push(std::span<const std::complex<float>> spectra, std::complex<float>* out) override {
    const std::size_t times = spectra.size() / geometry_.spectrum_size();
    std::complex<float>* to = out;
    for (std::size_t t = 0; t < times;) {
      const std::uint64_t within = count_ % correlation_.times;
      // Up to the end of the float sum or of the integration.
      const std::uint64_t left = std::min(kTimes - within % kTimes, correlation_.times - within);
      const std::size_t now = static_cast<std::size_t>(std::min<std::uint64_t>(left, times - t));
      const bool carry = now == left, last = within + now == correlation_.times;
      const auto task = [&](std::size_t thread, std::size_t threads) {
        const base::Share mine = base::share(blocks_, thread, threads);
        for (std::size_t block = mine.begin; block < mine.end; ++block) {
          add(spectra.data(), t, now, block, staged_[thread].data());
          if (carry) carry_up(block);
        }
      };
      if (threads_ == 1) {
        task(0, 1);
      } else {
        base::parallel(threads_, task);
      }
      if (last) write(to), to += size();
      count_ += now;
      t += now;
    }
  }

 private:
  struct TileAt {
    std::size_t row, column;
  };

  float* tile_sums(std::size_t block, std::size_t tile) {
    return sums_.data() + (block * tiles_.size() + tile) * kTileFloats;
  }

  // Adds times `first` to `first` + `count` of the push to the float sums of one block of channels.
  void add(const std::complex<float>* spectra, std::size_t first, std::size_t count, std::size_t block, float* staged) {
    for (std::size_t t = 0; t < count; t += kStaged) {
      const std::size_t now = std::min(kStaged, count - t);
      stage(spectra, first + t, now, block, staged);
      for (std::size_t i = 0; i < tiles_.size(); ++i) {
        product_kernels().tile({.rows = staged + tiles_[i].row * kSignalFloats,
                                .columns = staged + tiles_[i].column * kSignalFloats,
                                .time_stride = signals_ * kSignalFloats,
                                .times = now,
                                .sums = tile_sums(block, i)});
      }
    }
  }

  // Copies the values of one block of channels to [time][station][polarization][re, im][channel].
  void stage(const std::complex<float>* spectra, std::size_t first, std::size_t count, std::size_t block,
             float* staged) const {
    const Geometry& g = geometry_;
    const std::size_t channel = block * kProductChannels, there = std::min(kProductChannels, g.channels - channel);
    for (std::size_t t = 0; t < count; ++t) {
      float* to = staged + t * signals_ * kSignalFloats;
      for (std::size_t s = 0; s < g.stations; ++s) {
        for (std::size_t p = 0; p < g.polarizations; ++p, to += kSignalFloats) {
          const std::complex<float>* from = spectra + g.place(0, first + t, p, s, channel);
          if (g.by_channel) {
            std::fill(to, to + kSignalFloats, 0.0f);
            const std::size_t stride = g.stations * g.polarizations * g.times;
            for (std::size_t k = 0; k < there; ++k) {
              to[k] = from[k * stride].real(), to[kProductChannels + k] = from[k * stride].imag();
            }
          } else {
            product_kernels().split(reinterpret_cast<const float*>(from), there, to);
          }
          if (correlation_.arithmetic != Arithmetic::float32) round_values({to, kSignalFloats});
        }
      }
      std::fill(to, staged + (t + 1) * signals_ * kSignalFloats, 0.0f);
    }
  }

  void round_values(std::span<float> values) const {
    for (float& value : values) {
      value *= correlation_.scale;
      if (correlation_.arithmetic == Arithmetic::float16) {
        value = from_float16(to_float16(value));
      } else {
        value = std::isnan(value) ? 0 : std::nearbyint(std::clamp(value, -127.0f, 127.0f));
      }
    }
  }

  void carry_up(std::size_t block) {
    float* const from = tile_sums(block, 0);
    double* const to = totals_.data() + (from - sums_.data());
    for (std::size_t i = 0; i < tiles_.size() * kTileFloats; ++i) {
      to[i] += static_cast<double>(from[i]);
      from[i] = 0;
    }
  }

  // Writes the totals in output order and resets them.
  void write(std::complex<float>* out) {
    const Geometry& g = geometry_;
    for (std::size_t i = 0; i < tiles_.size(); ++i) {
      for (std::size_t r = 0; r < kTileRows; ++r) {
        for (std::size_t c = 0; c < kTileColumns; ++c) {
          const std::size_t row = tiles_[i].row + r, column = tiles_[i].column + c;
          const std::size_t a = row / g.polarizations, b = column / g.polarizations;
          if (a > b || b >= g.stations) continue;
          std::complex<float>* to = out + (b * (b + 1) / 2 + a) * channels() * products() +
                                    row % g.polarizations * g.polarizations + column % g.polarizations;
          write_channels(i * kTileFloats + (r * kTileColumns + c) * kSignalFloats, to);
        }
      }
    }
    std::fill(totals_.begin(), totals_.end(), 0.0);
  }

  void write_channels(std::size_t at, std::complex<float>* to) const {
    const auto total = [&](std::size_t channel) {
      const double* block = totals_.data() + channel / kProductChannels * tiles_.size() * kTileFloats + at;
      return std::complex<double>(block[channel % kProductChannels],
                                  block[kProductChannels + channel % kProductChannels]);
    };
    for (std::size_t k = 0; k < channels(); ++k, to += products()) {
      std::complex<double> sum = 0;
      for (std::size_t i = 0; i < correlation_.channels; ++i) sum += total(k * correlation_.channels + i);
      *to = static_cast<std::complex<float>>(sum * factor_);
    }
  }

  std::size_t signals_ = 0, blocks_ = 0, threads_ = 1;
  double factor_ = 1;
  std::vector<TileAt> tiles_;
  base::AlignedArray<float> sums_;  // [block of channels][tile][row, column][re, im][channel]
  std::vector<double> totals_;      // same layout as sums_
  std::vector<base::AlignedArray<float>> staged_;
};

}  // namespace

Correlator::Correlator(const Problem& problem, const Correlation& correlation)
    : state_(std::make_unique<HostCorrelator>(problem, correlation)) {}
Correlator::Correlator(const Device& device, const Problem& problem, const Correlation& correlation) {
  if (device.is_host()) {
    state_ = std::make_unique<HostCorrelator>(problem, correlation);
  } else {
    state_ = on_device::make_correlator(device, problem, correlation);
  }
}
Correlator::~Correlator() = default;
Correlator::Correlator(Correlator&&) noexcept = default;
Correlator& Correlator::operator=(Correlator&&) noexcept = default;

std::size_t Correlator::baselines() const { return state_->baselines(); }
std::size_t Correlator::channels() const { return state_->channels(); }
std::size_t Correlator::size() const { return state_->size(); }
std::size_t Correlator::due(std::size_t spectra) const { return state_->due(spectra); }
double Correlator::flops() const {
  return 8.0 * static_cast<double>(state_->baselines() * state_->products() * state_->geometry().channels);
}
std::size_t Correlator::push(std::span<const std::complex<float>> spectra, std::span<std::complex<float>> out) {
  const Geometry& g = state_->geometry();
  const std::size_t each = g.times * g.spectrum_size(), written = state_->due(spectra.size() / g.spectrum_size());
  if (spectra.size() % each != 0 || out.size() < written * size()) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("filterbank: push() needs a multiple of {} values ({} times), got {}; its {} integrations "
                            "of {} values need an output of {}, got {}",
                            each, g.times, spectra.size(), written, size(), written * size(), out.size()));
  }
  state_->push(spectra, out.data());
  return written;
}

namespace {
void check_resident(const CorrelatorState& state, std::size_t sample_bytes, const Buffer& samples, std::size_t times,
                    const Buffer& out) {
  const std::size_t each = state.correlation().times, value = sizeof(std::complex<float>);
  if (times % each != 0 || samples.size() / sample_bytes / state.geometry().spectrum_size() < times ||
      out.size() / value / state.size() < times / each) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("filterbank: enqueue() needs a multiple of {} times, and buffers that hold them and their "
                            "integrations; got {} times, {} and {} bytes",
                            each, times, samples.size(), out.size()));
  }
}
}  // namespace

void Correlator::enqueue(Queue& queue, const Buffer& spectra, std::size_t times, const Buffer& out) {
  check_resident(*state_, sizeof(std::complex<float>), spectra, times, out);
  state_->enqueue(queue, spectra, times, out);
}

std::size_t Correlator::packed_times() const {
  switch (state_->correlation().arithmetic) {
    case Arithmetic::float16:
      return 16;
    case Arithmetic::int8:
      return 32;
    default:
      throw Error(ErrorKind::invalid_argument,
                  "filterbank: packed rows need float16 or int8 arithmetic; use enqueue() with float32");
  }
}

void Correlator::pack(Queue& queue, const Buffer& spectra, std::size_t times, const Buffer& rows) {
  const std::size_t row = packed_times(), spectrum = state_->geometry().spectrum_size();
  if (times % row != 0 || spectra.size() / sizeof(std::complex<float>) / spectrum < times ||
      rows.size() / (64 / row) / spectrum < times) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("filterbank: pack() needs a multiple of {} times, and buffers that hold their spectra and "
                            "rows; got {} times, {} and {} bytes",
                            row, times, spectra.size(), rows.size()));
  }
  state_->pack(queue, spectra, times, rows);
}

void Correlator::enqueue_packed(Queue& queue, const Buffer& rows, std::size_t times, const Buffer& out) {
  const std::size_t row = packed_times();
  if (state_->correlation().times % row != 0) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("filterbank: packed rows need integrations of a multiple of {} times, got {}", row,
                            state_->correlation().times));
  }
  check_resident(*state_, 64 / row, rows, times, out);
  state_->enqueue_packed(queue, rows, times, out);
}

}  // namespace ridge::filterbank
