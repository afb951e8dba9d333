// Times one batch on several devices together and on each alone.
#include "bench/fft.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <optional>
#include <random>

#include <fmt/format.h>
#include <ridge/fft/hybrid.hpp>

#include "base/aligned.hpp"
#include "base/text.hpp"

namespace ridge::cli {
namespace {

// An array in host memory of the requested kind.
template <class Value>
class Array {
 public:
  Array(const std::vector<Device>& devices, bool pinned, std::size_t count) : count_(count) {
    const auto found = std::find_if(devices.begin(), devices.end(), [](const Device& d) { return !d.is_host(); });
    if (pinned && found != devices.end()) {
      buffer_ = found->buffer(count * sizeof(Value), {.kind = MemoryKind::pinned, .name = "bench array"});
      mapping_.emplace(buffer_.map());
      data_ = mapping_->as<Value>().data();
    } else {
      plain_ = base::AlignedArray<Value>(count);
      data_ = plain_.data();
    }
  }
  std::span<Value> span() const { return {data_, count_}; }

 private:
  std::size_t count_;
  Buffer buffer_;
  std::optional<Mapping> mapping_;
  base::AlignedArray<Value> plain_;
  Value* data_ = nullptr;
};

template <class T>
double distance(std::span<const std::complex<T>> a, std::span<const std::complex<T>> b) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += std::norm(std::complex<double>(a[i]) - std::complex<double>(b[i]));
    norm += std::norm(std::complex<double>(b[i]));
  }
  return norm > 0 ? std::sqrt(difference / norm) : std::sqrt(difference);
}

fft::HybridOptions options_of(const HybridBenchOptions& options) {
  fft::HybridOptions hybrid{.memory = options.pinned ? fft::CallersMemory::pinned : fft::CallersMemory::pageable,
                            .cores = options.cores,
                            .units = options.units,
                            .pin = !options.no_pin,
                            .seconds = options.seconds,
                            .planning = {.effort = Effort::measured}};
  if (!options.piece.empty()) {
    const auto bytes = base::parse_bytes(options.piece);
    if (!bytes || *bytes == 0) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("--piece {}: needs a size in bytes, as in 1M or 256K", options.piece));
    }
    hybrid.piece_bytes = *bytes;
  }
  return hybrid;
}

template <class T>
FftBenchResult bench_hybrid(const std::vector<Device>& devices, const FftBench& wanted,
                            const HybridBenchOptions& options) {
  using Complex = std::complex<T>;
  if (wanted.problem.real)
    throw Error(ErrorKind::invalid_argument, "several devices at once need complex transforms: leave out --real");
  const fft::Problem problem{.shape = wanted.problem.shape, .batch = wanted.problem.batch};
  const fft::HybridPlan<T> hybrid(devices, problem, options_of(options));
  const fft::Plan<T> single(host(), problem, {.effort = Effort::quick});
  const Array<Complex> in(devices, options.pinned, single.input_size());
  const Array<Complex> out(devices, options.pinned, single.output_size());
  const Array<Complex> expected(devices, false, single.output_size());
  std::mt19937 generator(1);
  std::uniform_real_distribution<T> uniform(T(-0.5), T(0.5));
  for (Complex& value : in.span()) {
    const T re = uniform(generator), im = uniform(generator);
    value = {re, im};
  }
  hybrid.forward(in.span(), out.span());
  single.forward(std::span<const Complex>(in.span()), expected.span());
  if (const double far = distance<T>(out.span(), expected.span()); !(far < (sizeof(T) == sizeof(float) ? 1e-5 : 1e-13)))
    throw Error(ErrorKind::internal, fmt::format("{}: all devices together differ from the host alone by {:.2g}",
                                                 fft_problem_text(wanted.problem), far));

  FftBenchResult result;
  result.explanation = hybrid.explain();
  result.flops = single.flops();
  result.bytes = single.bytes();
  report::BenchRow row;
  row.problem = fft_problem_text(wanted.problem);
  row.seconds = hybrid.seconds();
  row.gflops = result.flops / row.seconds * 1e-9;
  row.gbytes_per_s = result.bytes / row.seconds * 1e-9;
  row.roof_share = hybrid.ideal_seconds() / hybrid.seconds();
  row.chosen = true;
  row.more["best_seconds"] = hybrid.best_seconds();
  row.more["ideal_seconds"] = hybrid.ideal_seconds();
  row.variant = options.pinned ? "pinned" : "pageable";
  for (const auto& share : hybrid.shares()) {
    row.device += (row.device.empty() ? "" : "+") + share.device;
    row.variant += fmt::format(" {}", share.transforms);
    row.peers[share.device + " alone"] = share.alone_seconds;
    row.more[share.device + "_transforms_per_s_together"] = share.rate;
  }
  result.rows.push_back(row);
  return result;
}

}  // namespace

std::vector<Device> parse_joined_devices(const std::string& names) {
  std::vector<Device> found;
  for (std::size_t at = 0; at <= names.size();) {
    const std::size_t end = std::min(names.find('+', at), names.size());
    if (end == at) throw Error(ErrorKind::invalid_argument, fmt::format("--device {}: a name is missing", names));
    found.push_back(device(names.substr(at, end - at)));
    at = end + 1;
  }
  return found;
}

FftBenchResult bench_fft_hybrid(const std::vector<Device>& devices, const FftBench& wanted,
                                const HybridBenchOptions& options) {
  return wanted.problem.float64 ? bench_hybrid<double>(devices, wanted, options)
                                : bench_hybrid<float>(devices, wanted, options);
}

}  // namespace ridge::cli
