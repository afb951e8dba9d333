// Correlator on a device. Products are summed in floats (or integers) over a fixed range of times, and the sums are
// added to totals of two floats (a sum and its rounding error). The float16 and int8 arithmetics pack the rounded
// values first and multiply on the matrix units if available.
#include <algorithm>

#include <fmt/format.h>

#include "codegen/text.hpp"
#include "device/kernel_text.hpp"
#include "filterbank/correlator.hpp"
#include "filterbank/device/compiled_bank.hpp"
#include "filterbank/device/correlator/products.hpp"

namespace ridge::filterbank::on_device {

Defines correlator_defines(const ProductsWanted& wanted) {
  const Geometry& g = wanted.geometry;
  const auto number = [](std::size_t value) { return fmt::format("{}", value); };
  return {{"CHANNELS", number(g.channels)},
          {"SUMMED", number(wanted.correlation.channels)},
          {"SIGNAL_COUNT", number(g.stations * g.polarizations)},
          {"BASELINES", number(wanted.baselines)},
          {"POLARIZATIONS", number(g.polarizations)},
          {"USE_FLOAT16", wanted.correlation.arithmetic == Arithmetic::float16 ? "1" : "0"},
          {"PLACE_OF(time, signal)", place_of_value(g)},
          {"PACK_ITEMS", "128"},
          {"FINISH_ITEMS", "128"}};
}

std::string place_of_value(const Geometry& g) {
  if (!g.by_channel) {
    return fmt::format("(((ulong)(time) * {0} + (signal) % {0}) * {1} + (signal) / {0}) * {2} + channel",
                       g.polarizations, g.stations, g.channels);
  }
  return fmt::format("(((ulong)((time) / {0}) * {1} + channel) * {2} + (signal)) * {0} + (time) % {0}", g.times,
                     g.channels, g.stations * g.polarizations);
}

std::string packed_text(std::size_t items) {
  return codegen::matrix_macros_text(items) + ridge::detail::kernel_text("filterbank/packed");
}

namespace {

constexpr std::size_t kPackItems = 128;
constexpr std::size_t kStretch = 128;         // times per float sum, approximately
constexpr std::size_t kBytesStretch = 32768;  // times per int8 sum: the products fit an int32
constexpr std::size_t kSegments = 16;         // float16 sums that the warp-group kernel accumulates itself

class DeviceCorrelator final : public CorrelatorState {
 public:
  DeviceCorrelator(const Device& device, const Problem& problem, const Correlation& correlation, bool matrix)
      : CorrelatorState(problem, correlation), device_(device), queue_(device.queue()) {
    const Geometry& g = geometry_;
    const Arithmetic arithmetic = correlation.arithmetic;
    // Whole output blocks, so that every push can be consumed up to the end of such a range.
    const auto stretch_of = [&](std::size_t times) {
      return std::min(correlation.times, std::max<std::size_t>(1, times / g.times) * g.times);
    };
    held_times_ = stretch_of(kStretch);
    stretch_ = held_times_;
    if (matrix) {
      const std::size_t float16_stretch = kFloat16Stretch * (supports_warp_groups(wanted(false)) ? kSegments : 1);
      stretch_ = std::min(correlation.times, arithmetic == Arithmetic::int8 ? kBytesStretch : float16_stretch);
    }
    direct_ = matrix && correlation.channels == 1 && stretch_ == correlation.times;
    factor_ = static_cast<float>(1 / (static_cast<double>(correlation.scale) * correlation.scale));
    totals_ = device.buffer(baselines() * products() * g.channels * 4 * sizeof(float), {.name = "correlator totals"});
    result_ = device.buffer(size() * sizeof(std::complex<float>), {.name = "correlator result"});
    matrix_ = matrix;
    if (direct_) whole_ = products_of(wanted(true));
    const Program program = device.compile({.name = "filter bank correlator, totals",
                                            .text = packed_text(1) + ridge::detail::kernel_text("filterbank/totals"),
                                            .defines = correlator_defines(wanted(false))});
    finish_ = program.kernel("finish");
    if (packs()) pack_ = program.kernel("pack");
  }

  void push(std::span<const std::complex<float>> spectra, std::complex<float>* out) override {
    const std::size_t each = geometry_.spectrum_size();
    while (!spectra.empty()) {
      const std::size_t within = static_cast<std::size_t>(count_ % correlation_.times);
      // Up to the end of the range or of the integration.
      const std::size_t end = std::min(correlation_.times, (within / held_times_ + 1) * held_times_);
      const std::size_t now = std::min(spectra.size() / each, end - within);
      held_.insert(held_.end(), spectra.begin(), spectra.begin() + static_cast<std::ptrdiff_t>(now * each));
      spectra = spectra.subspan(now * each);
      count_ += now;
      if (within + now < end) return;
      const std::size_t times = held_.size() / each;
      if (!samples_) {
        samples_ = device_.buffer(held_times_ * each * sizeof(std::complex<float>), {.name = "correlator spectra"});
      }
      queue_.upload(held_.data(), samples_, held_.size() * sizeof held_[0]);
      if (packs()) pack_rows(queue_, samples_, 0, times, room_for_rows(times));
      sums().add(
          queue_,
          {.samples = packs() ? packed_ : samples_, .times = times, .begins = end <= held_times_, .to = totals_});
      if (end == correlation_.times) {
        finish(queue_, result_, 0);
        queue_.download(result_, out, size() * sizeof *out);
        out += size();
      }
      queue_.finish();
      held_.clear();
    }
  }

  void enqueue(Queue& queue, const Buffer& spectra, std::size_t times, const Buffer& out) override {
    for (std::size_t done = 0; done < times; done += correlation_.times) {
      if (packs()) pack_rows(queue, spectra, done, correlation_.times, room_for_rows(correlation_.times));
      integrate(queue, packs() ? packed_ : spectra, packs() ? 0 : done, out, done / correlation_.times * size());
    }
  }

  void pack(Queue& queue, const Buffer& spectra, std::size_t times, const Buffer& rows) override {
    pack_rows(queue, spectra, 0, times, rows);
  }

  void enqueue_packed(Queue& queue, const Buffer& rows, std::size_t times, const Buffer& out) override {
    for (std::size_t done = 0; done < times; done += correlation_.times) {
      integrate(queue, rows, done, out, done / correlation_.times * size());
    }
  }

 private:
  ProductsWanted wanted(bool direct) const {
    return {.device = device_,
            .geometry = geometry_,
            .correlation = correlation_,
            .baselines = baselines(),
            .direct = direct};
  }
  // Sums over ranges of times, for push() and for integrations that are not a single sum.
  ProductSums& sums() {
    if (!sums_) sums_ = products_of(wanted(false));
    return *sums_;
  }
  std::unique_ptr<ProductSums> products_of(const ProductsWanted& wanted) const {
    if (!matrix_) return register_products(wanted);
    return supports_warp_groups(wanted) ? warp_group_products(wanted) : matrix_products(wanted);
  }
  bool packs() const { return correlation_.arithmetic != Arithmetic::float32; }

  // Computes one integration that begins with time `first`.
  void integrate(Queue& queue, const Buffer& samples, std::size_t first, const Buffer& out, std::size_t offset) {
    const std::size_t times = correlation_.times;
    if (direct_) {
      whole_->add(queue,
                  {.samples = samples, .first = first, .times = times, .to = out, .offset = offset, .factor = factor_});
      return;
    }
    for (std::size_t t = 0; t < times; t += stretch_) {
      sums().add(queue, {.samples = samples,
                         .first = first + t,
                         .times = std::min(stretch_, times - t),
                         .begins = t == 0,
                         .to = totals_});
    }
    finish(queue, out, offset);
  }

  std::size_t row_words(std::size_t times) const {
    const std::size_t row = row_times(correlation_.arithmetic);
    return (times + row - 1) / row * geometry_.spectrum_size() * 16;
  }
  const Buffer& room_for_rows(std::size_t times) {
    const std::size_t bytes = row_words(times) * 4;
    if (!packed_ || packed_.size() < bytes) packed_ = device_.buffer(bytes, {.name = "correlator rows"});
    return packed_;
  }

  void pack_rows(Queue& queue, const Buffer& spectra, std::size_t first, std::size_t times, const Buffer& rows) {
    const std::size_t words = row_words(times);
    queue.launch(pack_, {.groups = {(words + kPackItems - 1) / kPackItems}, .items = {kPackItems}},
                 {spectra, rows, static_cast<std::int32_t>(first), static_cast<std::int32_t>(times),
                  static_cast<std::uint64_t>(words), correlation_.scale});
  }

  void finish(Queue& queue, const Buffer& out, std::size_t offset) {
    const auto values = static_cast<std::uint64_t>(size());
    queue.launch(finish_, {.groups = {(values + kPackItems - 1) / kPackItems}, .items = {kPackItems}},
                 {totals_, out, static_cast<std::uint64_t>(offset), values, factor_});
  }

  Device device_;
  Queue queue_;
  Kernel finish_, pack_;
  std::unique_ptr<ProductSums> sums_, whole_;
  Buffer totals_, result_, samples_, packed_;
  std::size_t stretch_ = 1, held_times_ = 1;
  bool matrix_ = false, direct_ = false;
  float factor_ = 1;
  std::vector<std::complex<float>> held_;  // values of the current range
};

}  // namespace

std::unique_ptr<CorrelatorState> make_correlator(const Device& device, const Problem& problem,
                                                 const Correlation& correlation) {
  return make_correlator(device, problem, correlation, device.info().limits.matrix_units);
}

std::unique_ptr<CorrelatorState> make_correlator(const Device& device, const Problem& problem,
                                                 const Correlation& correlation, bool matrix_units) {
  return std::make_unique<DeviceCorrelator>(device, problem, correlation,
                                            matrix_units && correlation.arithmetic != Arithmetic::float32);
}

}  // namespace ridge::filterbank::on_device
