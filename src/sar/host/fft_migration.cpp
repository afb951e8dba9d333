// Migration correction by FFT on the host. A line of one Doppler bin, straightened, is a trigonometric polynomial
// evaluated at (1 + s) r + d, r = 0, 1, ...: exact for band-limited echoes, where 16 taps approximate.
//
// chirp_z: with i r = (i^2 + r^2 - (r - i)^2) / 2 the sum over frequencies i is a convolution of the spectrum, times a
// chirp, with another chirp (Bluestein; R. Lanari used it for migration in 1995): one transform of n points and two of
// at least 2 n - 1.
//
// phase: every range migrates as the middle one does, so that the shift is one phase per range frequency (O. Altun et
// al., the method that the thesis retains): two transforms of n points, and an error that grows towards the ends.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <ridge/fft.hpp>

#include "base/complex_product.hpp"
#include "base/threads.hpp"
#include "sar/geometry.hpp"
#include "sar/variant.hpp"

namespace ridge::sar {
namespace {

constexpr std::size_t kBins = 8;            // per block: a cache line of the plane
constexpr double kMostResidual = 1.0 / 32;  // cells that `phase` may leave uncorrected
const planner::Options kQuick{.effort = Effort::quick};

std::complex<double> rotation(double turns) { return std::polar(1.0, 2 * kPi * (turns - std::floor(turns))); }

// Smallest product of powers of 2, 3 and 5 that is at least n.
std::size_t convolution_points(std::size_t n) {
  std::size_t best = std::size_t{1} << 62;
  for (std::size_t five = 1; five < best; five *= 5) {
    for (std::size_t three = five; three < best; three *= 3) {
      std::size_t two = three;
      while (two < n) two *= 2;
      best = std::min(best, two);
    }
  }
  return best;
}

// Cells by which the migration of the first and the last range differs from that of the middle one.
double residual_of(const Problem& problem, const Tables& tables) {
  const double stretch{*std::max_element(tables.stretch.begin(), tables.stretch.end())};
  return stretch * static_cast<double>(problem.samples) / 2;
}

class HostFrequencyMigration final : public Migration {
 public:
  HostFrequencyMigration(const Problem& problem, const Tables& tables, bool chirp_z)
      : problem_(problem),
        tables_(tables),
        n_(problem.samples),
        points_(chirp_z ? convolution_points(2 * n_ - 1) : n_),
        chirp_z_(chirp_z),
        line_(host(), {.shape = {n_}, .threads = 1}, kQuick),
        convolution_(host(), {.shape = {points_}, .in_place = true, .threads = 1}, kQuick) {
    for (std::size_t f = 0; f <= problem.pulses / 2; ++f) {
      if (in_band(f)) distinct_ = f + 1;
    }
    before_.resize(distinct_ * n_);
    if (chirp_z) middle_.resize(distinct_ * points_), after_.resize(distinct_ * n_);
    const auto exact = fft::plan<double>(host(), {.shape = {points_}, .in_place = true, .threads = 1}, kQuick);
    base::parallel(problem.threads, [&](std::size_t thread, std::size_t threads) {
      const auto [begin, end] = base::share(distinct_, thread, threads);
      for (std::size_t f = begin; f < end; ++f) chirp_z ? set_chirps(f, exact) : set_phases(f);
    });
  }

  double residual() const override { return chirp_z_ ? 0 : residual_of(problem_, tables_); }
  void run(const Complex* in, Complex* out) const override {
    const std::size_t blocks = (problem_.pulses + kBins - 1) / kBins;
    base::parallel(problem_.threads, [&](std::size_t thread, std::size_t threads) {
      std::vector<Complex> lines(kBins * n_), spectrum(n_), work(points_);
      // Every thread gets blocks of all parts of the plane: those outside the Doppler band cost nothing.
      for (std::size_t block = thread; block < blocks; block += threads) {
        const std::size_t first = block * kBins, bins = std::min(kBins, problem_.pulses - first);
        gather(in + first, bins, lines.data());
        for (std::size_t f = first; f < first + bins; ++f) {
          Complex* line = lines.data() + (f - first) * n_;
          if (!in_band(f)) {
            std::fill_n(line, n_, Complex());
          } else {
            line_.forward_unchecked(line, spectrum.data());
            straighten(std::min(f, problem_.pulses - f), spectrum.data(), work.data(), line);
          }
        }
        scatter(lines.data(), first, bins, out);
      }
    });
  }

 private:
  // The azimuth filter is zero outside the Doppler band, equally in every row.
  bool in_band(std::size_t f) const { return tables_.azimuth[f] != Complex(); }
  double frequency(std::size_t k) const { return bin_frequency(k, n_, static_cast<double>(n_)); }

  void set_phases(std::size_t f) {
    const double shift = (double{tables_.first_range} + static_cast<double>(n_ / 2)) * double{tables_.stretch[f]};
    for (std::size_t k = 0; k < n_; ++k) {
      before_[f * n_ + k] = Complex(rotation(frequency(k) * shift / static_cast<double>(n_)) / static_cast<double>(n_));
    }
  }

  // Frequencies are i - n / 2, i = 0 ... n - 1.
  void set_chirps(std::size_t f, const fft::Plan<double>& exact) {
    const auto n = static_cast<double>(n_), half = static_cast<double>(n_ / 2);
    const double stretch{tables_.stretch[f]}, scale = 1 + stretch, shift = double{tables_.first_range} * stretch;
    const auto chirp_at = [&](double i) { return scale * i * i / (2 * n); };  // in turns
    std::vector<std::complex<double>> chirp(points_);
    for (std::size_t i = 0; i < n_; ++i) {
      const auto at = static_cast<double>(i);
      before_[f * n_ + i] = Complex(rotation((at - half) * shift / n + chirp_at(at)));
      after_[f * n_ + i] = Complex(rotation(chirp_at(at) - std::fmod(half * scale / n * at, 1.0)));
      chirp[i] = rotation(-chirp_at(at)) / (n * static_cast<double>(points_));
      if (i > 0) chirp[points_ - i] = chirp[i];
    }
    exact.forward(chirp);
    for (std::size_t i = 0; i < points_; ++i) middle_[f * points_ + i] = Complex(chirp[i]);
  }

  void straighten(std::size_t f, const Complex* spectrum, Complex* work, Complex* line) const {
    const Complex* before = before_.data() + f * n_;
    if (!chirp_z_) {
      for (std::size_t k = 0; k < n_; ++k) line[k] = base::product(spectrum[k], before[k]);
      convolution_.inverse_unchecked(line, line);
      return;
    }
    const std::size_t negative = n_ / 2;  // frequencies below zero: bins n - n / 2 ... n - 1
    for (std::size_t i = 0; i < negative; ++i) work[i] = base::product(spectrum[n_ - negative + i], before[i]);
    for (std::size_t i = negative; i < n_; ++i) work[i] = base::product(spectrum[i - negative], before[i]);
    std::fill(work + n_, work + points_, Complex());
    convolution_.forward_unchecked(work, work);
    const Complex* middle = middle_.data() + f * points_;
    for (std::size_t i = 0; i < points_; ++i) work[i] = base::product(work[i], middle[i]);
    convolution_.inverse_unchecked(work, work);
    const Complex* after = after_.data() + f * n_;
    for (std::size_t r = 0; r < n_; ++r) line[r] = base::product(work[r], after[r]);
  }

  void gather(const Complex* in, std::size_t bins, Complex* lines) const {
    for (std::size_t r = 0; r < n_; ++r) {
      for (std::size_t j = 0; j < bins; ++j) lines[j * n_ + r] = in[r * problem_.pulses + j];
    }
  }
  void scatter(const Complex* lines, std::size_t first, std::size_t bins, Complex* out) const {
    for (std::size_t r = 0; r < n_; ++r) {
      const std::size_t at = r * problem_.pulses + first;
      for (std::size_t j = 0; j < bins; ++j) out[at + j] = base::product(lines[j * n_ + r], tables_.azimuth[at + j]);
    }
  }

  const Problem& problem_;
  const Tables& tables_;
  const std::size_t n_, points_;
  const bool chirp_z_;
  const fft::Plan<float> line_, convolution_;
  std::size_t distinct_ = 0;                      // Doppler bins f and -f migrate equally
  std::vector<Complex> before_, middle_, after_;  // factors [bin][point]: of the spectrum, of its transform, of rows
};

double line_flops(std::size_t n) {
  return 5.0 * static_cast<double>(n) * std::log2(static_cast<double>(n)) + 6.0 * static_cast<double>(n);
}

double bins_of(const Problem& problem) {
  return static_cast<double>(problem.pulses) * doppler_band(problem) / problem.radar.pulse_rate_hz;
}

}  // namespace

void list_host_chirp_z(const Device&, const Problem& problem, const Tables& tables, std::vector<Entry>& entries) {
  const std::size_t points = convolution_points(2 * problem.samples - 1);
  const double flops = bins_of(problem) * (line_flops(problem.samples) + 2 * line_flops(points));
  entries.push_back({.candidate = planner::Candidate{.variant = "chirp_z",
                                                     .parameters = {{"points", std::to_string(points)}},
                                                     .refusal = {},
                                                     .cost = migration_cost(problem, flops, 0.15)},
                     .build = [&] { return std::make_shared<const HostFrequencyMigration>(problem, tables, true); }});
}

void list_host_phase(const Device&, const Problem& problem, const Tables& tables, std::vector<Entry>& entries) {
  const double residual = residual_of(problem, tables);
  std::string refusal;
  if (residual > kMostResidual) {
    refusal = fmt::format(
        "migration differs by {:.3f} cells between the middle and the ends of the frame, this variant allows {:.3f}",
        residual, kMostResidual);
  }
  entries.push_back({.candidate =
                         planner::Candidate{
                             .variant = "phase",
                             .parameters = {},
                             .refusal = refusal,
                             .cost = migration_cost(problem, bins_of(problem) * 2 * line_flops(problem.samples), 0.15)},
                     .build = [&] { return std::make_shared<const HostFrequencyMigration>(problem, tables, false); }});
}

}  // namespace ridge::sar
