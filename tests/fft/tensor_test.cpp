// Transforms over any axes, loops and strides against the definition, summed in long double.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <ridge/error.hpp>
#include <ridge/fft/tensor.hpp>

#include "fft/tensor/dimensions.hpp"
#include "support/worst.hpp"

namespace ridge::fft {
namespace {

using Wide = long double;
using WideComplex = std::complex<Wide>;
constexpr Wide kPi = std::numbers::pi_v<Wide>;

// cos(pi a / b) and sin(pi a / b) for integers, from tables: a long double sine takes microseconds on some machines.
class CircleTable {
 public:
  explicit CircleTable(std::size_t b) : b_(b), cosine_(2 * b), sine_(2 * b) {
    for (std::size_t a = 0; a < 2 * b; ++a) {
      cosine_[a] = std::cos(kPi * static_cast<Wide>(a) / static_cast<Wide>(b));
      sine_[a] = std::sin(kPi * static_cast<Wide>(a) / static_cast<Wide>(b));
    }
  }
  Wide cos(std::size_t a) const { return cosine_[a % (2 * b_)]; }
  Wide sin(std::size_t a) const { return sine_[a % (2 * b_)]; }

 private:
  std::size_t b_;
  std::vector<Wide> cosine_, sine_;
};

// The denominator of the angles of a kind.
std::size_t denominator(RealKind kind, std::size_t n) {
  switch (kind) {
    case RealKind::halfcomplex:
    case RealKind::halfcomplex_inverse:
    case RealKind::hartley:
      return n;
    case RealKind::dct1:
      return n - 1;
    case RealKind::dst1:
      return n + 1;
    case RealKind::dct4:
    case RealKind::dst4:
      return 4 * n;
    default:
      return 2 * n;
  }
}

Wide real_term(RealKind kind, std::size_t n, std::size_t j, std::size_t k, const CircleTable& turns) {
  const Wide alternating = k % 2 == 0 ? 1 : -1;
  switch (kind) {
    case RealKind::halfcomplex:
      return k <= n / 2 ? turns.cos(2 * j * k) : -turns.sin(2 * j * (n - k));
    case RealKind::halfcomplex_inverse:
      if (j == 0) return 1;
      if (2 * j == n) return alternating;
      return j < (n + 1) / 2 ? 2 * turns.cos(2 * j * k) : -2 * turns.sin(2 * (n - j) * k);
    case RealKind::hartley:
      return turns.cos(2 * j * k) + turns.sin(2 * j * k);
    case RealKind::dct1:
      if (j == 0) return 1;
      return j + 1 == n ? alternating : 2 * turns.cos(j * k);
    case RealKind::dct2:
      return 2 * turns.cos((2 * j + 1) * k);
    case RealKind::dct3:
      return j == 0 ? 1 : 2 * turns.cos(j * (2 * k + 1));
    case RealKind::dct4:
      return 2 * turns.cos((2 * j + 1) * (2 * k + 1));
    case RealKind::dst1:
      return 2 * turns.sin((j + 1) * (k + 1));
    case RealKind::dst2:
      return 2 * turns.sin((2 * j + 1) * (k + 1));
    case RealKind::dst3:
      return j + 1 == n ? alternating : 2 * turns.sin((j + 1) * (2 * k + 1));
    case RealKind::dst4:
      return 2 * turns.sin((2 * j + 1) * (2 * k + 1));
  }
  return 0;
}

constexpr RealKind kKinds[] = {RealKind::halfcomplex, RealKind::halfcomplex_inverse,
                               RealKind::hartley,     RealKind::dct1,
                               RealKind::dct2,        RealKind::dct3,
                               RealKind::dct4,        RealKind::dst1,
                               RealKind::dst2,        RealKind::dst3,
                               RealKind::dst4};

// Relative L2 error of a line against the definition.
template <class T>
double line_error(RealKind kind, std::size_t n, std::uint32_t seed, const CircleTable& turns) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<T> uniform(T(-0.5), T(0.5));
  std::vector<T> in(n), out(n, T(std::nan("")));
  for (T& x : in) x = uniform(random);
  const TensorPlan<T> plan(
      host(),
      {.kind = TensorKind::real_to_real, .axes = {{.length = n, .input = 1, .output = 1}}, .real_kinds = {kind}},
      {.effort = Effort::quick});
  plan.run(in.data(), out.data());
  Wide error = 0, norm = 0;
  // For long lines only some values, enough to estimate the error of all.
  const std::size_t step = n > 128 ? n / 40 + random() % 3 : 1;
  for (std::size_t k = 0; k < n; k += step) {
    Wide sum = 0;
    for (std::size_t j = 0; j < n; ++j) sum += static_cast<Wide>(in[j]) * real_term(kind, n, j, k, turns);
    error += (sum - static_cast<Wide>(out[k])) * (sum - static_cast<Wide>(out[k]));
    norm += sum * sum;
  }
  return static_cast<double>(norm > 0 ? std::sqrt(error / norm) : std::sqrt(error));
}

template <class T>
double gate(std::size_t n) {
  return 0.6 * std::numeric_limits<T>::epsilon() * std::sqrt(std::max(1.0, std::log2(static_cast<double>(n))));
}

template <class T>
class RealLines : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(RealLines, Precisions);

// The limit of complex transforms. A kind adds a multiplication by twiddles, and a single short line may exceed the
// limit by chance, so the root mean square over several inputs counts.
TYPED_TEST(RealLines, EveryKindEveryLength) {
  std::vector<std::size_t> lengths = {60, 61, 64, 97, 100, 127, 128, 255, 256, 243, 500, 512, 1000, 1001, 1009, 1024};
  for (std::size_t n = 1; n <= 40; ++n) lengths.push_back(n);
  for (const RealKind kind : kKinds) {
    for (const std::size_t n : lengths) {
      if (kind == RealKind::dct1 && n == 1) continue;
      const std::size_t rounds = std::max<std::size_t>(1, 400 / n);
      const CircleTable turns(denominator(kind, n));
      double sum = 0;
      for (std::size_t i = 0; i < rounds; ++i) {
        const double e = line_error<TypeParam>(kind, n, static_cast<std::uint32_t>(1000 * n + i), turns);
        sum += e * e;
      }
      const double error = std::sqrt(sum / static_cast<double>(rounds));
      EXPECT_LE(error, 1.25 * gate<TypeParam>(2 * n)) << to_string(kind) << " of " << n;
    }
  }
}

TEST(RealLines, Refusals) {
  const auto make = [](RealKind kind, std::size_t n) {
    return TensorPlan<float>(
        host(),
        {.kind = TensorKind::real_to_real, .axes = {{.length = n, .input = 1, .output = 1}}, .real_kinds = {kind}});
  };
  EXPECT_THROW(make(RealKind::dct1, 1), Error);
  EXPECT_THROW(make(RealKind::dct2, 0), Error);
  EXPECT_THROW(
      TensorPlan<float>(host(), {.kind = TensorKind::real_to_real, .axes = {{.length = 4, .input = 1, .output = 1}}}),
      Error);
}

// --- whole tensors -----------------------------------------------------------------------------------------------

// The array of one side: all elements that the strides reach, with a margin that must not change.
struct Arena {
  Reach reach;
  std::size_t size() const { return static_cast<std::size_t>(reach.high - reach.low + 1) + 2 * kMargin; }
  std::ptrdiff_t first() const { return kMargin - reach.low; }
  static constexpr std::ptrdiff_t kMargin = 5;
};

std::vector<Dimension> joined(std::vector<Dimension> a, const std::vector<Dimension>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// One axis after another, by definition, over a packed array of values (last axis fastest).
template <class Term>
void transform_axis(std::vector<WideComplex>& data, std::vector<std::size_t>& shape, std::size_t axis,
                    std::size_t out_length, const Term& term) {
  std::size_t before = 1, after = 1;
  for (std::size_t a = 0; a < axis; ++a) before *= shape[a];
  for (std::size_t a = axis + 1; a < shape.size(); ++a) after *= shape[a];
  const std::size_t n = shape[axis];
  std::vector<WideComplex> result(before * out_length * after);
  for (std::size_t b = 0; b < before; ++b) {
    for (std::size_t k = 0; k < out_length; ++k) {
      for (std::size_t j = 0; j < n; ++j) {
        const WideComplex w = term(j, k);
        for (std::size_t a = 0; a < after; ++a) {
          result[(b * out_length + k) * after + a] += data[(b * n + j) * after + a] * w;
        }
      }
    }
  }
  shape[axis] = out_length;
  data = std::move(result);
}

std::string problem_text(const TensorProblem& p) {
  std::string text = "kind " + std::to_string(static_cast<int>(p.kind)) + (p.in_place ? " in place" : "") +
                     (p.split_input ? " split in" : "") + (p.split_output ? " split out" : "") + " axes";
  const auto add = [&](const std::vector<Dimension>& dimensions) {
    for (const Dimension& d : dimensions) {
      text += " " + std::to_string(d.length) + ":" + std::to_string(d.input) + ":" + std::to_string(d.output);
    }
  };
  add(p.axes);
  text += " loops";
  add(p.loops);
  return text;
}

// The transform of a problem by definition, without its scale: values of the input over the loops and axes of `shape`.
std::vector<WideComplex> transformed(const TensorProblem& problem, std::vector<WideComplex> values,
                                     std::vector<std::size_t> shape) {
  const bool forward = problem.kind == TensorKind::real_forward, inverse = problem.kind == TensorKind::real_inverse;
  const std::size_t loops = problem.loops.size();
  const auto root = [](std::size_t n, bool back) {
    return [n, back](std::size_t j, std::size_t k) {
      return std::polar(Wide(1), (back ? 2 : -2) * kPi * static_cast<Wide>(j * k % n) / static_cast<Wide>(n));
    };
  };
  for (std::size_t a = 0; a < problem.axes.size(); ++a) {
    const std::size_t n = problem.axes[a].length;
    const bool last = a + 1 == problem.axes.size();
    if (problem.kind == TensorKind::real_to_real) {
      const CircleTable turns(denominator(problem.real_kinds[a], n));
      transform_axis(values, shape, loops + a, n, [&](std::size_t j, std::size_t k) {
        return WideComplex(real_term(problem.real_kinds[a], n, j, k, turns));
      });
    } else if (inverse && last) {
      // Half of a spectrum: the other half is its conjugate mirror, so real parts of twice each term are summed.
      std::vector<WideComplex> sums = values;
      transform_axis(sums, shape, loops + a, n, [&](std::size_t j, std::size_t k) {
        const bool alone = j == 0 || 2 * j == n;
        return alone ? WideComplex(j == 0 ? 1 : (k % 2 == 0 ? 1 : -1)) : Wide(2) * root(n, true)(j, k);
      });
      for (WideComplex& v : sums) v = v.real();
      // The values without a mirror (index 0 and n/2) contribute their real part only: what their imaginary parts add
      // is imaginary and dropped here.
      values = std::move(sums);
    } else {
      const bool back = inverse || problem.kind == TensorKind::complex_inverse;
      transform_axis(values, shape, loops + a, forward && last ? n / 2 + 1 : n, root(n, back));
    }
  }
  return values;
}

// Elements of the output beside the results, and the input of an out-of-place transform, must be unchanged.
template <class T>
void check_rest(const TensorProblem& problem, const std::vector<T> (&memory)[4], const std::vector<T> (&before)[4],
                const std::vector<bool> (&written)[2]) {
  const int out_part = problem.in_place ? 0 : 2;
  for (int part = 0; part < 2; ++part) {
    for (std::size_t i = 0; i < written[part].size(); ++i) {
      if (written[part][i]) continue;
      ASSERT_EQ(memory[out_part + part][i], before[out_part + part][i]) << "wrote beside its output";
    }
    if (!problem.in_place) {
      EXPECT_EQ(memory[part], before[part]) << "the input was changed";
    }
  }
}

template <class T>
void check_problem(const TensorProblem& problem, std::mt19937& random) {
  SCOPED_TRACE(problem_text(problem));
  const bool r2r = problem.kind == TensorKind::real_to_real;
  const bool forward = problem.kind == TensorKind::real_forward, inverse = problem.kind == TensorKind::real_inverse;
  const bool complex_in = !r2r && !forward, complex_out = !r2r && !inverse;
  std::vector<Dimension> in_axes = problem.axes, out_axes = problem.axes;
  if (inverse) in_axes.back().length = in_axes.back().length / 2 + 1;
  if (forward) out_axes.back().length = out_axes.back().length / 2 + 1;
  const std::vector<Dimension> in_dims = joined(problem.loops, in_axes), out_dims = joined(problem.loops, out_axes);
  const bool in_pairs = complex_in && !problem.split_input, out_pairs = complex_out && !problem.split_output;

  Arena in_arena{reach(in_dims, TensorSide::input)}, out_arena{reach(out_dims, TensorSide::output)};
  const std::size_t in_each = in_pairs ? 2 : 1, out_each = out_pairs ? 2 : 1;
  // All arrays hold reals; the second array holds the imaginary parts of split sides. In place both sides have the same
  // start.
  const std::ptrdiff_t in_first = in_arena.first() * static_cast<std::ptrdiff_t>(in_each);
  const std::ptrdiff_t out_first = out_arena.first() * static_cast<std::ptrdiff_t>(out_each);
  const std::ptrdiff_t first = std::max(in_first, out_first);
  const std::size_t size = std::max(in_arena.size() * in_each, out_arena.size() * out_each) +
                           2 * static_cast<std::size_t>(std::abs(in_first - out_first));
  std::uniform_real_distribution<T> uniform(T(-0.5), T(0.5));
  std::vector<T> memory[4];
  for (auto& m : memory) {
    m.resize(size + 8);
    for (T& x : m) x = uniform(random);
  }
  T* const in_re = memory[0].data() + first;
  T* const in_im = memory[1].data() + first;
  T* const out_re = problem.in_place ? in_re : memory[2].data() + first;
  T* const out_im = problem.in_place ? in_im : memory[3].data() + first;

  // The expected result.
  std::vector<WideComplex> values;
  for_each_item(in_dims, 0, count(in_dims), [&](std::ptrdiff_t i, std::ptrdiff_t) {
    if (!complex_in) {
      values.emplace_back(static_cast<Wide>(in_re[i]), Wide(0));
    } else if (problem.split_input) {
      values.emplace_back(static_cast<Wide>(in_re[i]), static_cast<Wide>(in_im[i]));
    } else {
      values.emplace_back(static_cast<Wide>(in_re[2 * i]), static_cast<Wide>(in_re[2 * i + 1]));
    }
  });
  std::vector<std::size_t> shape;
  for (const Dimension& d : in_dims) shape.push_back(d.length);
  values = transformed(problem, std::move(values), std::move(shape));
  for (WideComplex& v : values) v *= static_cast<Wide>(problem.scale);
  const TensorPlan<T> plan(host(), problem, {.effort = Effort::quick});
  std::vector<T> before[4];
  for (int m = 0; m < 4; ++m) before[m] = memory[m];
  if (problem.split_input || problem.split_output) {
    plan.run(in_re, in_im, out_re, out_im);
  } else {
    plan.run(in_re, out_re);
  }

  // Checks the results, and that all other elements are unchanged.
  std::vector<bool> written[2] = {std::vector<bool>(size + 8), std::vector<bool>(size + 8)};
  Wide error = 0, norm = 0;
  std::size_t item = 0;
  for_each_item(out_dims, 0, count(out_dims), [&](std::ptrdiff_t, std::ptrdiff_t o) {
    const WideComplex expected = values[item++];
    WideComplex got;
    const auto mark = [&](int part, std::ptrdiff_t at) { written[part][static_cast<std::size_t>(first + at)] = true; };
    if (!complex_out) {
      got = static_cast<Wide>(out_re[o]), mark(0, o);
    } else if (problem.split_output) {
      got = {static_cast<Wide>(out_re[o]), static_cast<Wide>(out_im[o])}, mark(0, o), mark(1, o);
    } else {
      got = {static_cast<Wide>(out_re[2 * o]), static_cast<Wide>(out_re[2 * o + 1])}, mark(0, 2 * o),
      mark(0, 2 * o + 1);
    }
    error += std::norm(got - expected);
    norm += std::norm(expected);
  });
  const double points = static_cast<double>(std::max<std::size_t>(count(problem.axes), 2));
  EXPECT_LE(
      static_cast<double>(std::sqrt(error)),
      3 * std::numeric_limits<T>::epsilon() * std::sqrt(std::log2(points) + 1) * static_cast<double>(std::sqrt(norm)));
  check_rest<T>(problem, memory, before, written);
}

// Nested strides in a random order, with random signs and gaps.
void give_places(std::vector<Dimension*> dimensions, TensorSide side, std::mt19937& random, bool half_last,
                 Dimension* last) {
  std::shuffle(dimensions.begin(), dimensions.end(), random);
  std::ptrdiff_t step = 1;
  for (Dimension* d : dimensions) {
    step += static_cast<std::ptrdiff_t>(random() % 3 == 0 ? random() % 3 : 0);
    const std::ptrdiff_t places = static_cast<std::ptrdiff_t>(half_last && d == last ? d->length / 2 + 1 : d->length);
    (side == TensorSide::input ? d->input : d->output) = random() % 8 == 0 ? -step : step;
    step *= std::max<std::ptrdiff_t>(places, 1);
  }
}

TensorProblem any_problem(std::mt19937& random) {
  TensorProblem p;
  p.kind = static_cast<TensorKind>(random() % 5);
  const bool real = p.kind == TensorKind::real_forward || p.kind == TensorKind::real_inverse;
  const std::size_t axes = (real ? 1 : 0) + random() % 5;
  const std::size_t loops = random() % 4;
  std::size_t points = 1;
  const auto length = [&] {
    const std::size_t most = std::max<std::size_t>(1, 600 / points);
    const std::size_t widest =
        random() % 3 == 0 ? 40 : 7;  // drawn first: the order within an expression is unspecified
    const std::size_t n = 1 + random() % std::min(most, widest);
    points *= n;
    return n;
  };
  for (std::size_t a = 0; a < axes; ++a) p.axes.push_back({.length = length()});
  for (std::size_t l = 0; l < loops; ++l) p.loops.push_back({.length = length()});
  if (p.kind == TensorKind::real_to_real) {
    for (Dimension& axis : p.axes) {
      RealKind kind = kKinds[random() % std::size(kKinds)];
      if (kind == RealKind::dct1 && axis.length == 1) kind = RealKind::dct2;
      p.real_kinds.push_back(kind);
    }
  }
  const bool complex_in = p.kind != TensorKind::real_to_real && p.kind != TensorKind::real_forward;
  const bool complex_out = p.kind != TensorKind::real_to_real && p.kind != TensorKind::real_inverse;
  p.split_input = complex_in && random() % 6 == 0;
  p.split_output = complex_out && random() % 6 == 0;
  if (complex_in && complex_out) p.split_output = p.split_input;
  std::vector<Dimension*> all;
  for (Dimension& d : p.axes) all.push_back(&d);
  for (Dimension& d : p.loops) all.push_back(&d);
  Dimension* const last = p.axes.empty() ? nullptr : &p.axes.back();
  give_places(all, TensorSide::input, random, p.kind == TensorKind::real_inverse, last);
  give_places(all, TensorSide::output, random, p.kind == TensorKind::real_forward, last);
  if (random() % 3 == 0) {
    p.in_place = true;
    if (!real && random() % 2 == 0) {
      for (Dimension* d : all) d->output = d->input;
    }
  }
  p.threads = 1 + random() % 2;
  if (random() % 3 == 0) p.scale = 0.375;
  return p;
}

template <class T>
class Tensors : public testing::Test {};
TYPED_TEST_SUITE(Tensors, Precisions);

TYPED_TEST(Tensors, RandomProblems) {
  std::mt19937 random(20261115);
  for (int i = 0; i < 600 && !this->HasFatalFailure() && !this->HasFailure(); ++i) {
    check_problem<TypeParam>(any_problem(random), random);
  }
}

// The real parts of the spectrum overwrite the samples, the imaginary parts go to a second array.
TYPED_TEST(Tensors, RealLinesInPlaceIntoTwoArrays) {
  std::mt19937 random(7);
  for (const std::size_t n : {1, 2, 3, 24, 25, 64}) {
    for (const std::ptrdiff_t step : {1, 2}) {
      check_problem<TypeParam>({.kind = TensorKind::real_forward,
                                .axes = {{.length = n, .input = step, .output = step}},
                                .in_place = true,
                                .split_output = true},
                               random);
    }
  }
}

TYPED_TEST(Tensors, TheSamePlanAgain) {
  const TensorProblem problem{.axes = {{.length = 64, .input = 1, .output = 1}}, .scale = 0.5};
  const auto first = cached_tensor_plan<TypeParam>(problem), second = cached_tensor_plan<TypeParam>(problem);
  EXPECT_EQ(&first.problem(), &second.problem());
  forget_cached_plans();
  EXPECT_NE(&first.problem(), &cached_tensor_plan<TypeParam>(problem).problem());
}

TYPED_TEST(Tensors, EmptyLoopsDoNothing) {
  TypeParam x = 3, y = 4;
  const TensorPlan<TypeParam> plan(host(),
                                   {.axes = {{.length = 4, .input = 1, .output = 1}}, .loops = {{.length = 0}}});
  plan.run(&x, &y);
  EXPECT_EQ(y, 4);
}

TYPED_TEST(Tensors, SharedOutputsAreRefused) {
  EXPECT_THROW(TensorPlan<TypeParam>(host(), {.axes = {{.length = 4, .input = 1, .output = 1}},
                                              .loops = {{.length = 2, .input = 4, .output = 2}}}),
               Error);
  EXPECT_THROW(TensorPlan<TypeParam>(host(), {.axes = {{.length = 4, .input = 1, .output = 0}}}), Error);
}

TYPED_TEST(Tensors, ManyAxesAndLongLines) {
  std::mt19937 random(5);
  TensorProblem seven;
  for (int a = 0; a < 7; ++a) seven.axes.push_back({.length = static_cast<std::size_t>(2 + a % 3)});
  std::ptrdiff_t step = 1;
  for (std::size_t a = 7; a-- > 0;) {
    seven.axes[a].input = seven.axes[a].output = step;
    step *= static_cast<std::ptrdiff_t>(seven.axes[a].length);
  }
  for (const TensorKind kind :
       {TensorKind::complex_forward, TensorKind::complex_inverse, TensorKind::real_forward, TensorKind::real_inverse}) {
    seven.kind = kind;
    TensorProblem p = seven;
    // Packed on the side with the short last axis.
    std::ptrdiff_t in = 1, out = 1;
    for (std::size_t a = 7; a-- > 0;) {
      const auto n = static_cast<std::ptrdiff_t>(p.axes[a].length);
      p.axes[a].input = in, p.axes[a].output = out;
      in *= kind == TensorKind::real_inverse && a == 6 ? n / 2 + 1 : n;
      out *= kind == TensorKind::real_forward && a == 6 ? n / 2 + 1 : n;
    }
    check_problem<TypeParam>(p, random);
  }
  check_problem<TypeParam>({.axes = {{.length = 601, .input = -1, .output = 2}}}, random);
  check_problem<TypeParam>({.axes = {{.length = 700, .input = 3, .output = 3}},
                            .loops = {{.length = 3, .input = 1, .output = 1}},
                            .in_place = true,
                            .threads = 2},
                           random);
}

}  // namespace
}  // namespace ridge::fft
