// Identities that every correct answer obeys: linearity, impulses, shifts, energies, adjoints, inverses. They need no
// reference, so they also check sizes that are too large for one (`ridge check --laws`).
#pragma once
#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "check/check.hpp"

namespace ridge::sar {
struct Problem;
}

namespace ridge::check {

std::string frame_text(const sar::Problem& problem);  // of a radar frame, in descriptions of problems

Outcome fft_laws(Draw& draw);
Outcome transpose_laws(Draw& draw);
Outcome stencil_laws(Draw& draw);
Outcome filterbank_laws(Draw& draw);
Outcome nufft_laws(Draw& draw);
Outcome sar_laws(Draw& draw);
Outcome search_laws(Draw& draw);
Outcome image_laws(Draw& draw);
const std::vector<Workload>& laws();

// Describes how `got` differs from a x + b y, by the relative least-squares error of `line` values at a time. Empty if
// it does not.
template <class T>
std::string not_the_sum(std::span<const T> got, double a, std::span<const T> x, double b, std::span<const T> y,
                        std::size_t line, double allowed) {
  for (std::size_t from = 0; from < got.size(); from += line) {
    double difference = 0, norm = 0;
    for (std::size_t i = from; i < std::min(from + line, got.size()); ++i) {
      const double p = a * static_cast<double>(x[i]), q = b * static_cast<double>(y[i]);
      const double off = static_cast<double>(got[i]) - (p + q);
      difference += off * off;
      norm += p * p + q * q;
    }
    if (!(std::sqrt(difference) <= allowed * std::sqrt(norm)))
      return fmt::format("linearity: values {} on are off by {:.2e} of their size, allowed {:.1e}", from,
                         std::sqrt(difference / norm), allowed);
  }
  return {};
}

}  // namespace ridge::check
