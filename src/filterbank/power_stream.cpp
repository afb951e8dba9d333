// Power from samples in one object: a stream and a detector, or, on a device, one kernel whose short sums are
// accumulated in double on the host.
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "filterbank/device/fir/fir.hpp"
#include "filterbank/device/sample_window.hpp"
#include "filterbank/device/separate.hpp"

namespace ridge::filterbank {

class PowerState {
 public:
  virtual ~PowerState() = default;
  virtual std::size_t row_size() const = 0;
  virtual std::string variant() const = 0;
  virtual std::size_t due(std::size_t bytes) const = 0;
  virtual void push(std::span<const std::byte> in, std::span<float> out) = 0;
  virtual std::uint64_t start_at(std::uint64_t spectrum) = 0;
};

namespace {

constexpr std::size_t kPieceBytes = std::size_t{64} << 20;  // of samples per upload

class DetectedSpectra final : public PowerState {
 public:
  DetectedSpectra(const Device& device, const Problem& problem, const Detection& detection,
                  const planner::Options& options)
      : plan_(device, problem, options), stream_(plan_), detector_(plan_.problem(), detection) {}
  std::size_t row_size() const override { return detector_.row_size(); }
  std::string variant() const override { return plan_.variant() + " and a detector"; }
  std::size_t due(std::size_t bytes) const override { return detector_.due(stream_.due(bytes)); }
  void push(std::span<const std::byte> in, std::span<float> out) override {
    spectra_.resize(stream_.due(in.size()) * plan_.spectrum_size());
    stream_.push(in, std::span(spectra_));
    detector_.push(spectra_, out);
  }
  std::uint64_t start_at(std::uint64_t spectrum) override { return stream_.start_at(spectrum); }

 private:
  Plan plan_;
  Stream stream_;
  Detector detector_;
  std::vector<std::complex<float>> spectra_;
};

class FusedPower final : public PowerState {
 public:
  FusedPower(const Device& device, const Problem& problem, const Detection& detection,
             std::shared_ptr<const on_device::CompiledBank> bank)
      : device_(device),
        queue_(device.queue()),
        bank_(std::move(bank)),
        weights_(bank_->prepare(problem.weights)),
        geometry_(resolve(problem)),
        detection_(detection),
        shape_(problem, detection),
        window_(device),
        sums_(geometry_.stations * shape_.products() * geometry_.channels, 0.0) {}

  std::size_t row_size() const override { return shape_.row_size(); }
  std::string variant() const override {
    const auto& design = bank_->design();
    return fmt::format("fused power(fir={}, {} times per sum)", design.fir->name, design.summed);
  }
  std::size_t due(std::size_t bytes) const override {
    const std::uint64_t whole = geometry_.spectra_in(window_.end() + bytes) / detection_.times;
    const std::uint64_t written = spectra_ / detection_.times;
    return whole > written ? static_cast<std::size_t>(whole - written) : 0;  // 0 while a start is being primed
  }

  std::uint64_t start_at(std::uint64_t spectrum) override {
    const Geometry& g = geometry_;
    if (window_.end() != 0 || spectra_ != 0) {
      throw Error(ErrorKind::invalid_argument,
                  "filterbank: start_at() needs a new stream, this one has already received samples");
    }
    if (spectrum > (std::uint64_t{1} << 60) / g.hop) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("filterbank: spectrum {} exceeds the largest stream position (2^60 samples)", spectrum));
    }
    spectra_ = spectrum;
    window_ =
        on_device::SampleWindow(device_, g.frame_start(g.oldest_row(spectrum) * static_cast<std::int64_t>(g.channels)));
    return window_.from() / g.frame_bytes() * g.block;
  }

  void push(std::span<const std::byte> in, std::span<float> out) override {
    const Geometry& g = geometry_;
    float* to = out.data();
    while (!in.empty()) {
      const auto now = in.first(std::min(in.size(), kPieceBytes));
      in = in.subspan(now.size());
      window_.append(queue_, now);
      const std::size_t unit = bank_->design().unit;
      const std::uint64_t whole = g.spectra_in(window_.end()) / unit * unit;
      if (whole > spectra_) {
        to = add(static_cast<std::size_t>(whole - spectra_), to);
        spectra_ = whole;
        window_.forget_before(queue_, std::max(window_.from(), g.frame_start(g.oldest_row(spectra_) *
                                                                             static_cast<std::int64_t>(g.channels))));
      }
    }
    queue_.finish();  // the caller may reuse its buffer
  }

 private:
  // Computes the short sums of the next `count` spectra and writes every completed integration.
  float* add(std::size_t count, float* out) {
    const std::size_t summed = bank_->design().summed, rows = count / summed;
    const std::size_t bytes = rows * sums_.size() * sizeof(float);
    if (!short_sums_ || short_sums_.size() < bytes) {
      parts_.reset();
      short_sums_ = device_.buffer(bytes, {.name = "power sums"});
      parts_.emplace(device_.buffer(bytes, {.kind = MemoryKind::pinned, .name = "power sums here"}).map());
    }
    bank_->enqueue(queue_,
                   {.samples = window_.bytes(),
                    .start = static_cast<std::int64_t>(window_.from() / geometry_.frame_bytes() * geometry_.block),
                    .spectra = short_sums_,
                    .first = spectra_,
                    .count = count},
                   *weights_);
    queue_.download(short_sums_, parts_->data(), bytes);
    queue_.finish();
    for (std::size_t row = 0; row < rows; ++row) {
      const float* from = reinterpret_cast<const float*>(parts_->data()) + row * sums_.size();
      for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] += static_cast<double>(from[i]);
      if ((spectra_ + (row + 1) * summed) % detection_.times != 0) continue;
      for (std::size_t i = 0; i < sums_.size(); i += detection_.channels) {
        double sum = 0;
        for (std::size_t k = 0; k < detection_.channels; ++k) sum += sums_[i + k];
        *out++ = static_cast<float>(sum);
      }
      std::fill(sums_.begin(), sums_.end(), 0.0);
    }
    return out;
  }

  Device device_;
  Queue queue_;
  std::shared_ptr<const on_device::CompiledBank> bank_;
  std::shared_ptr<const on_device::DeviceWeights> weights_;
  Geometry geometry_;
  Detection detection_;
  Detector shape_;  // for its checks and counts only
  on_device::SampleWindow window_;
  std::vector<double> sums_;  // of the current integration: [station][product][channel]
  Buffer short_sums_;
  std::optional<Mapping> parts_;  // short_sums_ in page-locked host memory
  std::uint64_t spectra_ = 0;
};

std::unique_ptr<PowerState> make_power(const Device& device, const Problem& wanted, const Detection& detection,
                                       const planner::Options& options) {
  const Problem problem = complete(wanted);
  const Geometry g = resolve(problem);
  if (g.delayed)
    throw Error(ErrorKind::invalid_argument,
                "filterbank: a PowerStream does not support delays: use a Stream and a Detector");
  const Detector checked(problem, detection);
  if (!device.is_host()) {
    if (auto bank = on_device::fused_power(device, problem, g, detection.products, detection.times)) {
      return std::make_unique<FusedPower>(device, problem, detection, std::move(bank));
    }
  }
  return std::make_unique<DetectedSpectra>(device, problem, detection, options);
}

}  // namespace

PowerStream::PowerStream(const Device& device, const Problem& problem, const Detection& detection,
                         const planner::Options& options)
    : state_(make_power(device, problem, detection, options)), times_(detection.times) {}
PowerStream::~PowerStream() = default;
PowerStream::PowerStream(PowerStream&&) noexcept = default;
PowerStream& PowerStream::operator=(PowerStream&&) noexcept = default;

std::size_t PowerStream::row_size() const { return state_->row_size(); }
std::string PowerStream::variant() const { return state_->variant(); }
std::size_t PowerStream::due(std::size_t bytes) const { return state_->due(bytes); }
std::uint64_t PowerStream::start_at(std::uint64_t spectrum) {
  if (spectrum % times_ != 0) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("filterbank: start_at() needs a multiple of the {} times of a sum, got spectrum {}", times_,
                            spectrum));
  }
  return state_->start_at(spectrum);
}
std::size_t PowerStream::push(std::span<const std::byte> in, std::span<float> out) {
  const std::size_t rows = due(in.size());
  if (out.size() < rows * row_size()) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("filterbank: {} bytes give {} sums of {} values; the output holds {} values", in.size(),
                            rows, row_size(), out.size()));
  }
  state_->push(in, out);
  return rows;
}

}  // namespace ridge::filterbank
