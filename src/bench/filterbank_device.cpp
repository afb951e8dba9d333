// Benchmark of the filter bank on a device: resident data, next to a separate FIR + cuFFT and a copy of the same bytes;
// optionally with transfers and energy.
#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "bench/cases.hpp"
#include "bench/peers/peer.hpp"
#include "device/timing.hpp"
#include "filterbank/device/separate.hpp"

namespace ridge::cli {
namespace {

constexpr std::size_t kFewestSpectra = 40;

class DeviceCase {
 public:
  DeviceCase(const Device& device, const filterbank::Problem& problem, const FilterbankCases& wanted)
      : device_(device), problem_(problem), wanted_(wanted), g_(filterbank::resolve(problem)), queue_(device.queue()) {
    const double size = wanted.size > 0 ? wanted.size : 1e8;
    spectra_ = std::max<std::size_t>(kFewestSpectra,
                                     static_cast<std::size_t>(size) / (g_.hop * g_.stations * g_.polarizations));
    const std::size_t frames = (spectra_ * g_.hop + g_.block - 1) / g_.block;
    noise_.resize(
        std::min(frames * g_.frame_bytes(), std::max<std::size_t>(kFewestSpectra * 2 * g_.frame_bytes(), 1 << 24)) /
        g_.frame_bytes() * g_.frame_bytes());
    fill_random(std::span(noise_), random_of(problem.samples));
    in_ = device.buffer(frames * g_.frame_bytes(), {.name = "bench samples"});
    out_ = device.buffer(spectra_ * g_.spectrum_size() * sizeof(std::complex<float>), {.name = "bench spectra"});
    for (std::size_t at = 0; at < in_.size(); at += noise_.size()) {
      queue_.upload(noise_.data(), in_, std::min(noise_.size(), in_.size() - at), at);
    }
    queue_.finish();
  }

  BenchResult run(const BenchOptions& options) {
    const filterbank::Plan chosen =
        filterbank::plan(device_, problem_, {.effort = Effort::quick, .variant = options.variant});
    BenchResult result{.explanation = chosen.explain()};
    const auto expected = on_host();
    const auto times = static_cast<double>(spectra_);
    const double samples = times * static_cast<double>(g_.hop * g_.stations * g_.polarizations);
    std::vector<filterbank::Plan> plans;
    Contest contest{device_, filterbank_text(problem_)};
    for (const auto& candidate : filterbank::candidates(device_, problem_)) {
      const bool slow =
          candidate.variant == "reference" || candidate.variant == "mapped" || candidate.variant == "sequential";
      const bool skip = options.variant.empty() && (slow || !(wanted_.all || candidate.name() == chosen.variant()));
      if (skip || !is_wanted(candidate, options.variant)) continue;
      plans.push_back(filterbank::plan(device_, problem_, only(candidate.name())));
      const auto call = [this, plan = plans.back()] {
        plan.enqueue(queue_, {.samples = in_, .spectra = out_, .count = spectra_});
      };
      queue_.fill(out_, std::byte{0});
      call();
      check(plans.back().variant(), expected);
      contest.ours.push_back({.name = plans.back().variant(),
                              .call = call,
                              .flops = chosen.flops() * times,
                              .bytes = chosen.bytes() * times,
                              .chosen = plans.back().variant() == chosen.variant()});
    }
    contest.copied = out_.size() / 2;
    const Buffer other = device_.buffer(contest.copied, {.name = "bench copy"});
    contest.others.emplace_back([&] { queue_.copy(out_, other, contest.copied); });
    add_separate(options, expected, contest, result.notes);
    result.rows = contest.time([this](const auto& calls) { return seconds_of(calls); });
    const double rate = contest.copy_rate();
    for (std::size_t i = 0; i < result.rows.size(); ++i) {
      const report::BenchRow& row = result.rows[i];
      const Contest::Entry& one = contest.ours[i];
      result.notes.push_back(
          fmt::format("{} {}: {:.1f} Gsample/s, {:.3f} of a copy ({:.0f} GB/s){}", row.problem, row.variant,
                      samples / row.seconds * 1e-9, row.roof_share, rate * 1e-9,
                      wanted_.power ? "; " + power_of(device_, one.call, one.flops, row.seconds, &queue_) : ""));
    }
    if (contest.others.size() > 1) {
      const double seconds = contest.other_seconds.back();
      const double flops = static_cast<double>(g_.spectrum_size()) * (2 + 4 * (static_cast<double>(g_.taps) - 1));
      result.notes.push_back(fmt::format("{} FIR alone: {:.1f} Gsample/s, {:.0f} GFLOP/s", contest.problem,
                                         samples / seconds * 1e-9, flops * times / seconds * 1e-9));
    }
    if (wanted_.detect) {
      detected(expected, rate, samples, result.notes);
      kurtosis(expected, samples, result.notes);
    }
    if (wanted_.transfers) transfers(plans, samples, result.notes);
    return result;
  }

 private:
  std::vector<double> seconds_of(const Contest::Calls& calls) {
    return best_device_seconds(queue_, calls,
                               {.seconds = wanted_.seconds, .at_least = 5, .at_most = 2000, .round = 2e-3});
  }

  // Computes all spectra on the host.
  std::vector<std::complex<float>> on_host() {
    const filterbank::Plan plan = filterbank::plan(host(), problem_, {.effort = Effort::quick});
    filterbank::Stream stream(plan);
    std::vector<std::complex<float>> out(spectra_ * g_.spectrum_size()), some;
    std::size_t done = 0;
    for (std::size_t at = 0; at < in_.size() && done < out.size(); at += noise_.size()) {
      const std::size_t bytes = std::min(noise_.size(), in_.size() - at);
      some.resize(stream.due(bytes) * g_.spectrum_size());
      stream.push(std::span<const std::byte>(noise_).first(bytes), some);
      const std::size_t taken = std::min(some.size(), out.size() - done);
      std::copy_n(some.begin(), taken, out.begin() + static_cast<std::ptrdiff_t>(done));
      done += taken;
    }
    out.resize(done);
    return out;
  }

  void check(const std::string& name, std::span<const std::complex<float>> expected) {
    std::vector<std::complex<float>> ours(expected.size());
    queue_.download(out_, ours.data(), ours.size() * sizeof ours[0]);
    queue_.finish();
    const auto values = [](const auto& all) {
      return std::span(reinterpret_cast<const float*>(all.data()), 2 * all.size());
    };
    if (const double far = distance(values(ours), values(expected)); !(far < 1e-6)) {
      throw Error(ErrorKind::internal,
                  fmt::format("{}: {} differs by {:.2g} from the host", filterbank_text(problem_), name, far));
    }
  }

  // FIR and cuFFT as two passes; the FIR alone is timed as well.
  void add_separate(const BenchOptions& options, std::span<const std::complex<float>> expected, Contest& contest,
                    std::vector<std::string>& notes) {
    if (std::find(options.against.begin(), options.against.end(), "cufft") == options.against.end()) return;
    const Peer peer = cufft_peer();
    if (!peer.missing.empty()) return notes.push_back(fmt::format("cufft: {}", peer.missing));
    branches_ = device_.buffer(out_.size(), {.name = "bench branches"});
    const filterbank::Problem complete = filterbank::complete(problem_);
    const auto bank = filterbank::on_device::fir_alone(device_, complete, g_);
    const auto fir = [this, bank, weights = bank->prepare(complete.weights)] {
      bank->enqueue(queue_, {.samples = in_, .spectra = branches_, .count = spectra_}, *weights);
    };
    contest.others.emplace_back(fir);
    try {
      PeerRun transform = peer.prepare_on_device(
          {.shape = {g_.channels}, .batch = spectra_ * g_.polarizations * g_.stations}, branches_, out_, queue_);
      const auto both = [fir, transform] {
        fir();
        transform();
      };
      queue_.fill(out_, std::byte{0});
      both();
      check("FIR + cuFFT", expected);
      contest.peers.push_back({"cufft", both});
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::unavailable) throw;
      notes.push_back(fmt::format("cufft: left out: {}", error.what()));
    }
  }

  // Compares the sums of each unit, added over its rows, with sums of the host's spectra. Throws if they differ.
  void check_sums(const filterbank::on_device::CompiledBank& bank, const Buffer& sums, std::size_t count,
                  std::span<const std::complex<float>> expected) {
    const auto& design = bank.design();
    const bool squared = design.products == filterbank::Products::moments;
    const std::size_t products = design.product_count(), values = g_.stations * products * g_.channels;
    const std::size_t units = std::min(count, expected.size() / g_.spectrum_size()) / design.unit;
    const std::size_t rows = design.unit / design.summed;
    std::vector<float> ours(units * rows * values);
    queue_.download(sums, ours.data(), ours.size() * sizeof(float));
    queue_.finish();
    double worst = 0;
    for (std::size_t i = 0; i < units * values; ++i) {
      const std::size_t unit = i / values, place = i % values, product = place / g_.channels % products;
      const std::size_t channel = place / (products * g_.channels) * g_.channels + place % g_.channels;
      double wanted = 0, got = 0;
      for (std::size_t n = 0; n < design.unit * g_.polarizations; ++n) {
        if (products > 1 && n % g_.polarizations != product % g_.polarizations) continue;
        const std::size_t row = unit * design.unit * g_.polarizations + n;
        const double power = std::norm(std::complex<double>(expected[row * g_.stations * g_.channels + channel]));
        wanted += squared && product >= g_.polarizations ? power * power : power;
      }
      for (std::size_t r = 0; r < rows; ++r) got += static_cast<double>(ours[(unit * rows + r) * values + place]);
      const double off = std::abs(got - wanted) / std::max(wanted, 1e-30);
      if (!(off <= worst)) worst = std::isnan(off) ? HUGE_VAL : off;
    }
    if (!(worst < 1e-4)) throw Error(ErrorKind::internal, fmt::format("power: differs by {:.2g} from the host", worst));
  }

  // FIR, transform, power and a short sum over times in one kernel: reads samples, writes sums.
  void detected(std::span<const std::complex<float>> expected, double rate, double samples,
                std::vector<std::string>& notes) {
    const filterbank::Problem problem = filterbank::complete(problem_);
    const auto bank = filterbank::on_device::fused_power(device_, problem, g_, filterbank::Products::total, 64);
    if (!bank) return notes.push_back(fmt::format("{}: no kernel with fused detection", filterbank_text(problem_)));
    const auto weights = bank->prepare(problem.weights);
    const std::size_t summed = bank->design().summed, unit = bank->design().unit, count = spectra_ / unit * unit;
    const std::size_t row = g_.stations * g_.channels;
    const Buffer sums = device_.buffer(count / summed * row * sizeof(float), {.name = "bench power"});
    const auto call = [&] {
      bank->enqueue(queue_, {.samples = in_, .start = 0, .spectra = sums, .first = 0, .count = count}, *weights);
    };
    call();
    check_sums(*bank, sums, count, expected);
    const double seconds = seconds_of({call}).front();
    const double bytes =
        static_cast<double>(count * g_.hop) / static_cast<double>(g_.block) * static_cast<double>(g_.frame_bytes()) +
        static_cast<double>(sums.size());
    notes.push_back(fmt::format(
        "{} power, {} times per sum: {:.1f} Gsample/s, {:.0f} GB/s read and written, {:.3f} of a copy",
        filterbank_text(problem_), summed, samples / seconds * 1e-9, bytes / seconds * 1e-9, bytes / seconds / rate));
  }

  // The sums of powers and of their squares, from which spectral kurtosis is computed, beside the sums of powers alone.
  void kurtosis(std::span<const std::complex<float>> expected, double samples, std::vector<std::string>& notes) {
    const filterbank::Problem problem = filterbank::complete(problem_);
    Contest::Calls calls;
    for (const auto products : {filterbank::Products::powers, filterbank::Products::moments}) {
      const std::shared_ptr bank = filterbank::on_device::fused_power(device_, problem, g_, products, 64);
      if (!bank) return notes.push_back(fmt::format("{}: no kernel with fused moments", filterbank_text(problem_)));
      const std::size_t unit = bank->design().unit, count = spectra_ / unit * unit;
      const std::size_t values =
          g_.stations * g_.channels * filterbank::product_count(products, g_.polarizations) * sizeof(float);
      const Buffer sums = device_.buffer(count / bank->design().summed * values, {.name = "bench moments"});
      calls.emplace_back([this, bank, sums, count, weights = bank->prepare(problem.weights)] {
        bank->enqueue(queue_, {.samples = in_, .start = 0, .spectra = sums, .first = 0, .count = count}, *weights);
      });
      calls.back()();
      check_sums(*bank, sums, count, expected);
    }
    const std::vector<double> seconds = seconds_of(calls);
    notes.push_back(
        fmt::format("{} power per polarization: {:.1f} Gsample/s; with sums of squares (kurtosis): {:.1f}, "
                    "{:+.1f} % time",
                    filterbank_text(problem_), samples / seconds[0] * 1e-9, samples / seconds[1] * 1e-9,
                    100 * (seconds[1] / seconds[0] - 1)));
  }

  // With transfers from and to page-locked host memory, relative to the time of the transfers alone.
  void transfers(const std::vector<filterbank::Plan>& plans, double samples, std::vector<std::string>& notes) {
    const Buffer from = device_.buffer(in_.size(), {.kind = MemoryKind::pinned, .name = "bench host samples"});
    const Buffer to = device_.buffer(out_.size(), {.kind = MemoryKind::pinned, .name = "bench host spectra"});
    const Mapping in = from.map(), out = to.map();
    for (std::size_t at = 0; at < in.size(); at += noise_.size()) {
      std::memcpy(in.data() + at, noise_.data(), std::min(noise_.size(), in.size() - at));
    }
    std::memset(out.data(), 0, out.size());
    Queue second = device_.queue();
    const auto both = base::best_seconds(
        [&] {
          queue_.upload(in.data(), in_, in.size());
          second.download(out_, out.data(), out.size());
          queue_.finish();
          second.finish();
        },
        {.seconds = wanted_.seconds, .at_least = 2});
    for (const filterbank::Plan& plan : plans) {
      const double seconds = base::best_seconds(
          [&] {
            filterbank::Stream stream(plan);
            stream.push(std::span<const std::byte>(in.data(), in.size()), out.as<std::complex<float>>());
          },
          {.seconds = wanted_.seconds, .at_least = 2});
      notes.push_back(
          fmt::format("{} {} with transfers: {:.2f} Gsample/s, {:.3f} of the link ({:.1f} GB/s in both directions)",
                      filterbank_text(problem_), plan.variant(), samples / seconds * 1e-9, both / seconds,
                      static_cast<double>(in.size() + out.size()) / both * 1e-9));
    }
  }

  Device device_;
  filterbank::Problem problem_;
  const FilterbankCases& wanted_;
  filterbank::Geometry g_;
  Queue queue_;
  std::size_t spectra_ = 0;
  std::vector<std::byte> noise_;
  Buffer in_, out_, branches_;
};

}  // namespace

BenchResult bench_filterbank_on_device(const Device& device, const filterbank::Problem& problem,
                                       const FilterbankCases& wanted, const BenchOptions& options) {
  return DeviceCase(device, problem, wanted).run(options);
}

}  // namespace ridge::cli
