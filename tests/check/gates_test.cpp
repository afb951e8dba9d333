// Tests that every error bound of src/check is as narrow as documented: an answer off by ten times the bound is called
// wrong. The bounds are repeated here, so that a bound that grows is noticed.
#include "check/check.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <regex>
#include <string>
#include <vector>

#include <ridge/error.hpp>

namespace {

using ridge::check::Draw;
using ridge::check::Outcome;
using ridge::check::Random;

constexpr double kFloat = std::numeric_limits<float>::epsilon(), kDouble = std::numeric_limits<double>::epsilon();

// Changes every number except NaN, which fills the memory between the points.
void change(std::span<std::byte> answer, bool wide, const std::function<double(double)>& to) {
  const auto each = [&]<class T>(T) {
    for (std::size_t at = 0; at + sizeof(T) <= answer.size(); at += sizeof(T)) {
      T number;
      std::memcpy(&number, answer.data() + at, sizeof(T));
      if (!std::isfinite(number)) continue;
      number = static_cast<T>(to(static_cast<double>(number)));
      std::memcpy(answer.data() + at, &number, sizeof(T));
    }
  };
  wide ? each(double{}) : each(float{});
}

double largest(std::span<const std::byte> answer, bool wide) {
  double most = 0;
  for (std::size_t at = 0; at + (wide ? 8 : 4) <= answer.size(); at += wide ? 8 : 4) {
    double number = 0;
    float narrow = 0;
    std::memcpy(wide ? static_cast<void*>(&number) : &narrow, answer.data() + at, wide ? 8 : 4);
    if (!wide) number = static_cast<double>(narrow);
    if (std::isfinite(number)) most = std::max(most, std::abs(number));
  }
  return most;
}

bool has(const std::string& text, const std::string& word) { return text.find(word) != std::string::npos; }

// The number after `name`, as in "12 times by 3".
double number_after(const std::string& text, const std::string& name) {
  std::smatch found;
  return std::regex_search(text, found, std::regex(name + " ([0-9]+)")) ? std::stod(found[1]) : 0;
}

struct Pin {
  const char* name;
  Outcome (*check)(Draw&);
  std::function<bool(const std::string& problem)> wanted;
  std::function<void(const std::string& problem, std::span<std::byte> answer)> spoil;
  std::size_t points = 500;
  int cases = 12;  // number of cases that must have been spoilt
  int seeds = 600;
};

// All but a few of the selected problems must be called wrong, changed in either direction.
void expect_noticed(const Pin& pin) {
  int spoilt = 0, noticed = 0;
  std::string missed;
  for (int seed = 0; seed < pin.seeds && spoilt < pin.cases; ++seed) {
    Draw draw{ridge::host(), Random(static_cast<std::uint64_t>(seed) * 977 + 5), pin.points};
    bool changed = false;
    draw.tamper = [&](std::span<std::byte> answer) {
      if (answer.size() < 256 || !pin.wanted(draw.problem)) return;
      changed = true;
      pin.spoil(draw.problem, answer);
    };
    std::string wrong;
    try {
      wrong = pin.check(draw).wrong;
    } catch (const ridge::Error&) {
      continue;
    }
    spoilt += changed;
    noticed += changed && !wrong.empty();
    if (changed && wrong.empty()) missed += "\n  " + draw.problem;
  }
  EXPECT_GE(spoilt, pin.cases) << pin.name;
  // An answer of zeros, or one compared in a few places only, may pass.
  EXPECT_GE(noticed, spoilt - spoilt / 10) << pin.name << missed;
}

// 0.6 epsilon sqrt(log2 N), doubled for convolutions, plus 0.6 for each of six factors: 500 points.
TEST(CheckGates, Transforms) {
  expect_noticed({.name = "fft",
                  .check = ridge::check::check_fft,
                  .wanted = [](const std::string& p) { return p[0] == 'f' && !has(p, " of ") && !has(p, "denormals"); },
                  .spoil =
                      [](const std::string& p, std::span<std::byte> answer) {
                        const bool wide = p.starts_with("f64");
                        const double off = 10 * (1.2 * 3 + 0.6 * 6) * (wide ? kDouble : kFloat);
                        change(answer, wide, [&](double x) { return x * (1 + off); });
                      },
                  .cases = 30});
}

// As above; cosine and sine transforms have up to four more factors along each of four axes.
TEST(CheckGates, Tensors) {
  expect_noticed({.name = "tensor",
                  .check = ridge::check::check_tensor,
                  .wanted = [](const std::string& p) { return !has(p, "split"); },
                  .spoil =
                      [](const std::string& p, std::span<std::byte> answer) {
                        const bool wide = has(p, " f64 ");
                        const double off = 10 * (1.2 * 3 + 0.6 * 4) * (wide ? kDouble : kFloat);
                        change(answer, wide, [&](double x) { return x * (1 + off); });
                      },
                  .cases = 30});
}

// The error in the L2 norm is at most epsilon.
TEST(CheckGates, NonuniformTransforms) {
  expect_noticed({.name = "nufft",
                  .check = ridge::check::check_nufft,
                  .wanted = [](const std::string& p) { return has(p, " uniform "); },
                  .spoil =
                      [](const std::string& p, std::span<std::byte> answer) {
                        std::smatch found;
                        std::regex_search(p, found, std::regex("epsilon ([0-9.e-]+)"));
                        const double off = 10 * std::stod(found[1]);
                        change(answer, p.starts_with("f64"), [&](double x) { return x * (1 + off); });
                      },
                  .points = 300});
}

// 8 epsilon in the L2 norm.
TEST(CheckGates, Boxes) {
  expect_noticed({.name = "boxes",
                  .check = ridge::check::check_boxes,
                  .wanted = [](const std::string&) { return true; },
                  .spoil =
                      [](const std::string& p, std::span<std::byte> answer) {
                        const bool wide = p.starts_with("f64");
                        const double off = 10 * 8 * (wide ? kDouble : kFloat);
                        change(answer, wide, [&](double x) { return x * (1 + off); });
                      },
                  .cases = 40});
}

// 1e-12 of the norms in double, 2e-5 in float. A random product is smaller than the norms by the root of its length.
TEST(CheckGates, Adjoints) {
  expect_noticed({.name = "adjoint",
                  .check = ridge::check::check_adjoint,
                  .wanted = [](const std::string& p) { return has(p, " tensor "); },
                  .spoil =
                      [](const std::string& p, std::span<std::byte> answer) {
                        const bool wide = has(p, " double ");
                        const double off = 10 * (wide ? 1e-12 : 2e-5) * 30 * std::sqrt(500.0);
                        change(answer, wide, [&](double x) { return x * (1 + off); });
                      },
                  .cases = 30});
}

// 6 epsilon sqrt(min) sqrt(log2(a + b)).
TEST(CheckGates, Convolutions) {
  expect_noticed({.name = "convolution",
                  .check = ridge::check::check_convolution,
                  .wanted = [](const std::string&) { return true; },
                  .spoil =
                      [](const std::string& p, std::span<std::byte> answer) {
                        const bool wide = p.starts_with("f64");
                        const double a = number_after(p, "of"), b = number_after(p, "and");
                        const double off = 10 * 6 * (wide ? kDouble : kFloat) * std::sqrt(std::min(a, b)) *
                                           std::sqrt(std::max(1.0, std::log2(a + b)));
                        change(answer, wide, [&](double x) { return x + off; });
                      },
                  .cases = 30});
}

// Two roundings for each of 125 points, or 56 of values that grow sixfold: the largest number in one step.
TEST(CheckGates, Stencils) {
  expect_noticed({.name = "stencil",
                  .check = ridge::check::check_stencil,
                  .wanted =
                      [](const std::string& p) {
                        return std::regex_search(p, std::regex("^f(32|64) .* steps 1 borders")) && !has(p, "NaN");
                      },
                  .spoil =
                      [](const std::string& p, std::span<std::byte> answer) {
                        const bool wide = p.starts_with("f64");
                        const double off = 10 * 56 * 6 * (wide ? kDouble : kFloat);
                        change(answer, wide, [&](double x) { return x + off; });
                      },
                  .cases = 12});
}

// 32 epsilon of the largest value (at least 1) in float, where the roundings of the powers in double are negligible.
TEST(CheckGates, Leaps) {
  expect_noticed({.name = "leap",
                  .check = ridge::check::check_leap,
                  .wanted = [](const std::string& p) { return has(p, "leap f32") && !has(p, " wave "); },
                  .spoil =
                      [](const std::string&, std::span<std::byte> answer) {
                        const double off = 10 * 32 * kFloat * std::max(1.0, largest(answer, false));
                        change(answer, false, [&](double x) { return x + off; });
                      },
                  .cases = 15});
}

// 1e-5 of the spectra's root mean square; 3e-5 of powers.
TEST(CheckGates, FilterBanks) {
  const auto banks = [](const std::string& p) { return has(p, " taps, ") && !has(p, "NaN"); };
  expect_noticed({.name = "spectra",
                  .check = ridge::check::check_filterbank,
                  .wanted = [&](const std::string& p) { return banks(p) && !has(p, ", power"); },
                  .spoil =
                      [](const std::string&, std::span<std::byte> answer) {
                        change(answer, false, [](double x) { return x * (1 + 10 * 1e-5); });
                      },
                  .cases = 20});
  expect_noticed({.name = "power",
                  .check = ridge::check::check_filterbank,
                  .wanted = [&](const std::string& p) { return banks(p) && has(p, ", power"); },
                  .spoil =
                      [](const std::string&, std::span<std::byte> answer) {
                        change(answer, false, [](double x) { return x * (1 + 10 * 3e-5); });
                      },
                  .cases = 15});
}

// 4e-6 sqrt(n) + 1e-6 of sums of n products in float; powers 1e-5 of their size.
TEST(CheckGates, Correlators) {
  expect_noticed({.name = "correlator",
                  .check = ridge::check::check_correlator,
                  .wanted = [](const std::string& p) { return has(p, "correlator of"); },
                  .spoil =
                      [](const std::string& p, std::span<std::byte> answer) {
                        const double summed = number_after(p, "channels by") * number_after(p, "times by");
                        const double off = 10 * (4e-6 * std::sqrt(summed) + 1e-6);
                        change(answer, false, [&](double x) { return x + off; });
                      },
                  .cases = 20});
  expect_noticed({.name = "detector",
                  .check = ridge::check::check_correlator,
                  .wanted = [](const std::string& p) { return has(p, "detector 0") || has(p, "detector 1"); },
                  .spoil =
                      [](const std::string&, std::span<std::byte> answer) {
                        change(answer, false, [](double x) { return x * (1 + 10 * 1e-5); });
                      },
                  .cases = 10});
}

// 2e-5 of the image's root mean square.
TEST(CheckGates, RadarImages) {
  expect_noticed({.name = "sar",
                  .check = ridge::check::check_sar,
                  .wanted = [](const std::string&) { return true; },
                  .spoil =
                      [](const std::string&, std::span<std::byte> answer) {
                        change(answer, false, [](double x) { return x * (1 + 10 * 2e-5); });
                      },
                  .cases = 6});
}

// Sums of bytes are exact: one more is wrong.
TEST(CheckGates, DedispersedSums) {
  expect_noticed({.name = "search",
                  .check = ridge::check::check_search,
                  .wanted = [](const std::string&) { return true; },
                  .spoil = [](const std::string&,
                              std::span<std::byte> answer) { change(answer, false, [](double x) { return x + 1; }); },
                  .points = 20000});
}

// Half a grey level and what rounding in float leaves; variances 2e-5 of the range's square; flow 0.02 pixels.
TEST(CheckGates, Images) {
  expect_noticed({.name = "operators",
                  .check = ridge::check::check_image,
                  .wanted =
                      [](const std::string& p) {
                        return p.starts_with("operators") && !has(p, " | ") && has(p, " of 8-bit,") &&
                               !has(p, "gradient") && !has(p, "integral") && !has(p, "pyramid");
                      },
                  .spoil =
                      [](const std::string&, std::span<std::byte> answer) {
                        for (std::byte& byte : answer) {
                          if (byte != std::byte{0xa5})
                            byte = byte < std::byte{128} ? std::byte(int(byte) + 6) : std::byte(int(byte) - 6);
                        }
                      },
                  .cases = 20});
  expect_noticed({.name = "variance",
                  .check = ridge::check::check_image,
                  .wanted = [](const std::string& p) { return p.starts_with("variance") && !has(p, "16-bit"); },
                  .spoil =
                      [](const std::string&, std::span<std::byte> answer) {
                        change(answer, false, [](double x) { return x + 10 * 2e-5 * 256 * 256; });
                      },
                  .cases = 12});
  expect_noticed(
      {.name = "flow",
       .check = ridge::check::check_image,
       .wanted = [](const std::string& p) { return p.starts_with("flow"); },
       .spoil = [](const std::string&,
                   std::span<std::byte> answer) { change(answer, false, [](double x) { return x + 10 * 0.02; }); },
       .cases = 6});
}

// The input must not be written: one of its bytes is changed during the run.
TEST(CheckGates, AChangedInputIsNoticed) {
  const std::pair<const char*, Outcome (*)(Draw&)> checks[] = {{"transpose", ridge::check::check_transpose},
                                                               {"fft", ridge::check::check_fft},
                                                               {"tensor", ridge::check::check_tensor}};
  for (const auto& [name, check] : checks) {
    int changed = 0, noticed = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      Draw draw{ridge::host(), Random(seed), 300};
      bool here = false;
      draw.tamper_input = [&](std::span<std::byte> input) {
        if (has(draw.problem, "in place") || here) return;
        here = true;
        input.back() ^= std::byte{1};
      };
      try {
        const std::string wrong = check(draw).wrong;
        noticed += here && has(wrong, "the input was changed");
        changed += here;
      } catch (const ridge::Error&) {
      }
    }
    EXPECT_GT(changed, 10) << name;
    EXPECT_EQ(noticed, changed) << name;
  }
}

}  // namespace
