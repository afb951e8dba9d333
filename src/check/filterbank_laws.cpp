// Checks filter banks by identities: linearity, and a stream delayed by whole frames gives equally delayed spectra.
#include <algorithm>
#include <complex>
#include <cstring>
#include <limits>
#include <vector>

#include <fmt/format.h>
#include <ridge/filterbank.hpp>

#include "check/check.hpp"
#include "check/laws.hpp"

namespace ridge::check {
namespace {

constexpr double kBankGate = 1e-5;  // relative to the spectra's root mean square, as in comparisons

std::vector<std::complex<float>> spectra_of(const filterbank::Plan& plan, const std::vector<float>& samples) {
  filterbank::Stream stream(plan);
  const float none = std::numeric_limits<float>::quiet_NaN();
  const std::span<const std::byte> bytes = std::as_bytes(std::span(samples));
  std::vector<std::complex<float>> out(stream.due(bytes.size()) * plan.spectrum_size(), {none, none});
  stream.push(bytes, out);
  return out;
}

}  // namespace

Outcome filterbank_laws(Draw& draw) {
  Random& random = draw.random;
  filterbank::Problem problem;
  problem.samples = filterbank::Samples::float32;
  problem.polarizations = random.between(1, 2);
  problem.threads = random.below(4);
  problem.taps = random.one_of(std::vector<std::size_t>{4, 8, 16});
  const bool oversampled = random.chance(0.3);
  const std::uint64_t data = random.bits(), by_chance = random.bits();
  problem.stations = random.magnitude(std::clamp<std::size_t>(draw.points / 4096, 1, 32));
  const std::size_t each = problem.stations * problem.polarizations;
  problem.channels = random.length(std::clamp<std::size_t>(draw.points / each / problem.taps, 4, 65536));
  if (oversampled && problem.channels % 4 == 0) problem.oversampling = {4, 3};
  const std::size_t frames = problem.taps + std::max<std::size_t>(4, draw.points / (each * problem.channels));
  draw.problem =
      fmt::format("{} channels x {} taps, {} stations, {} polarizations, {} blocks{}", problem.channels, problem.taps,
                  problem.stations, problem.polarizations, frames, problem.oversampling.numerator != 1 ? ", 4/3" : "");
  const filterbank::Plan plan =
      filterbank::plan(draw.device, problem, some_variant(filterbank::candidates(draw.device, problem), by_chance));
  draw.problem += ", " + plan.variant();

  const std::size_t frame = 2 * each * problem.channels;  // floats
  std::vector<float> x(frames * frame), y(x.size()), sum(x.size());
  fill_values(std::as_writable_bytes(std::span(x)), Values::float32, data);
  fill_values(std::as_writable_bytes(std::span(y)), Values::float32, data + 1);
  for (std::size_t i = 0; i < x.size(); ++i) sum[i] = 0.5F * x[i] - 0.25F * y[i];
  std::vector<std::complex<float>> X = spectra_of(plan, x);
  draw.answered(std::as_writable_bytes(std::span(X)));
  const std::vector<std::complex<float>> Y = spectra_of(plan, y), Z = spectra_of(plan, sum);
  const auto numbers = [](const std::vector<std::complex<float>>& of) {
    return std::span<const float>(reinterpret_cast<const float*>(of.data()), 2 * of.size());
  };
  if (std::string wrong =
          not_the_sum<float>(numbers(Z), 0.5, numbers(X), -0.25, numbers(Y), 2 * plan.spectrum_size(), kBankGate);
      !wrong.empty())
    return {.wrong = wrong};

  // `blocks` blocks of leading zeros are a whole number of spectra and of periods of every channel.
  const std::size_t blocks = problem.oversampling.denominator, later = problem.oversampling.numerator;
  std::vector<float> late(blocks * frame);
  late.insert(late.end(), x.begin(), x.end());
  const std::vector<std::complex<float>> L = spectra_of(plan, late);
  const std::size_t skipped = later * plan.spectrum_size();
  if (L.size() != X.size() + skipped)
    return {.wrong = fmt::format("{} values of the delayed stream instead of {}", L.size(), X.size() + skipped)};
  const auto shifted = numbers(L).subspan(2 * skipped);
  const std::string wrong =
      not_the_sum<float>(shifted, 1, numbers(X), 0, numbers(X), 2 * plan.spectrum_size(), kBankGate);
  return {.wrong = wrong.empty() ? "" : "a stream that begins with zeros: " + wrong};
}

}  // namespace ridge::check
