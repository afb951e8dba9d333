// Compares transforms of random data with the double-double reference.
#include "fft/accuracy.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include <fmt/format.h>
#include <ridge/fft.hpp>

#include "base/aligned.hpp"
#include "base/worst.hpp"
#include "fft/reference.hpp"
#include "fft/variant.hpp"

namespace ridge::fft {
namespace {

constexpr std::size_t kPointsEach = 2048;  // random points per length, in several inputs if they are short

template <class T>
struct Case {
  std::vector<std::complex<T>> in;
  std::vector<reference::Point<reference::Wider<T>>> spectrum;
};

template <class T>
std::vector<Case<T>> cases_of(std::size_t n) {
  std::vector<Case<T>> cases(std::max<std::size_t>(1, kPointsEach / n));
  unsigned seed = static_cast<unsigned>(n);
  for (Case<T>& one : cases) {
    one.in = reference::random_points<T>(n, seed++);
    one.spectrum = reference::dft(one.in, false);
  }
  return cases;
}

// Root mean square error over the cases of `run`.
template <class T, class Run>
double mean_error(const std::vector<Case<T>>& cases, bool inverse, const Run& run) {
  double sum = 0;
  for (const Case<T>& one : cases) {
    // Exchanging real and imaginary parts before and after a forward transform gives the inverse: one reference serves
    // both.
    std::vector<std::complex<T>> in = one.in, out(in.size());
    if (inverse) {
      for (auto& point : in) point = {point.imag(), point.real()};
    }
    run(inverse, in, out);
    if (inverse) {
      for (auto& point : out) point = {point.imag(), point.real()};
    }
    const double error = reference::relative_error(out.data(), 1, one.spectrum);
    sum += error * error;
  }
  return std::sqrt(sum / static_cast<double>(cases.size()));
}

template <class T>
ErrorRow row_of(std::size_t n, const std::string& name, const std::vector<Case<T>>& cases,
                const AccuracyOptions<T>& options, double peer, bool chosen, const auto& run) {
  ErrorRow row;
  row.length = n;
  row.variant = name;
  row.chosen = chosen;
  row.forward = mean_error(cases, false, run);
  row.inverse = mean_error(cases, true, run);
  // Winograd's and Good and Thomas' transforms round more: they add before and after each product.
  const bool winograd = row.variant.starts_with("classic/winograd") || row.variant.starts_with("classic/good_thomas");
  row.gate = options.gate * reference::error_gate<T>(n) * (winograd ? 1.25 : 1.0);
  row.peer = peer;
  row.broken = broken_gate<T>(row);
  return row;
}

template <class T>
ErrorRow chosen_row(std::size_t n, const std::vector<Case<T>>& cases, const AccuracyOptions<T>& options, double peer) {
  const Plan<T> plan(host(), {.shape = {n}, .threads = 1}, {.effort = Effort::quick});
  std::string name = "copy";
  if (!plan.decisions().empty()) {
    const auto& decision = plan.decisions().front();
    name = decision.trials.at(decision.winner).name;
  }
  return row_of(n, name, cases, options, peer, true, [&](bool inverse, const auto& in, auto& out) {
    const std::span<const std::complex<T>> from(in);
    inverse ? plan.inverse(from, std::span(out)) : plan.forward(from, std::span(out));
  });
}

template <class T>
void add_variants(std::size_t n, const std::vector<Case<T>>& cases, const AccuracyOptions<T>& options, double peer,
                  std::vector<ErrorRow>& rows) {
  for (const LineChoice<T>& choice : line_choices<T>(n)) {
    if (!choice.refusal.empty()) continue;
    const auto kernel = choice.make();
    base::AlignedArray<std::complex<T>> scratch(kernel->scratch());
    rows.push_back(row_of(n, choice.name, cases, options, peer, false, [&](bool inverse, const auto& in, auto& out) {
      kernel->run(inverse ? Direction::inverse : Direction::forward, in.data(), out.data(), scratch.data());
    }));
  }
}

}  // namespace

template <class T>
std::string broken_gate(const ErrorRow& row) {
  const double worst = base::worse(row.forward, row.inverse);
  if (!(worst <= row.gate)) return fmt::format("above the gate of {:.2e}", row.gate);
  // If the peer happens to be nearly exact, an eighth of epsilon more is not a defect.
  const double allowance = std::numeric_limits<T>::epsilon() / 8;
  if (row.chosen && row.peer > 0 && row.forward > kPeerGate * row.peer + allowance) {
    return fmt::format("{:.2f} times the peer's", row.forward / row.peer);
  }
  return "";
}

template <class T>
std::vector<ErrorRow> measure_errors(const AccuracyOptions<T>& options) {
  std::vector<ErrorRow> rows;
  std::size_t done = 0;
  for (const std::size_t n : options.lengths) {
    if (options.progress) {
      options.progress(static_cast<double>(done++) / static_cast<double>(options.lengths.size()),
                       fmt::format("{} points", n));
    }
    const auto cases = cases_of<T>(n);
    double peer = 0;
    if (options.peer) {
      bool able = true;
      peer = mean_error(cases, false, [&](bool, const auto& in, auto& out) {
        able = able && options.peer(in.size(), in.data(), out.data());
      });
      if (!able) peer = 0;
    }
    rows.push_back(chosen_row(n, cases, options, peer));
    if (options.variants) add_variants(n, cases, options, peer, rows);
  }
  return rows;
}

std::vector<std::size_t> accuracy_lengths(bool thorough) {
  std::vector<std::size_t> lengths;
  for (std::size_t n = 1; n <= (thorough ? 4096 : 64); ++n) lengths.push_back(n);
  if (!thorough) {
    for (const std::size_t n :
         {81,   100,  101,  125,  127,  128,  210,  243,  251,  256,  257,  343,  360,  397,  499,  512,  625,  719,
          1000, 1009, 1024, 1080, 1155, 1280, 1331, 1920, 2003, 2018, 2048, 2187, 2310, 3000, 3125, 4001, 4095, 4096}) {
      lengths.push_back(n);
    }
  }
  for (const std::size_t n : {5003, 6561, 8191, 8192, 10000, 15015, 16384, 20014, 32768, 65536}) lengths.push_back(n);
  if (thorough) {
    for (const std::size_t n : {10007, 46080, 100000, 131072, 177147, 262144, 524288, 720720, 1000000, 1048576}) {
      lengths.push_back(n);
    }
  }
  return lengths;
}

template std::string broken_gate<float>(const ErrorRow&);
template std::string broken_gate<double>(const ErrorRow&);
template std::vector<ErrorRow> measure_errors<float>(const AccuracyOptions<float>&);
template std::vector<ErrorRow> measure_errors<double>(const AccuracyOptions<double>&);

}  // namespace ridge::fft
