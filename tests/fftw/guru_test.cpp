// Random problems of the guru interface, by the drop-in library and by the real FFTW: same results, same memory.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "fftw/drop_in.hpp"

namespace ridge::fftw_test {
namespace {

enum class Form { complex, real_forward, real_inverse, real_to_real, split };

struct Problem {
  Form form = Form::complex;
  int sign = -1;
  std::vector<IoDim64> dims, loops;
  std::vector<int> kinds;
  bool in_place = false;
};

std::string problem_text(const Problem& p) {
  std::string text = "form " + std::to_string(static_cast<int>(p.form)) + " sign " + std::to_string(p.sign) +
                     (p.in_place ? " in place" : "") + " dims";
  for (const auto& d : p.dims) {
    text += " " + std::to_string(d.n) + ":" + std::to_string(d.is) + ":" + std::to_string(d.os);
  }
  text += " loops";
  for (const auto& d : p.loops) {
    text += " " + std::to_string(d.n) + ":" + std::to_string(d.is) + ":" + std::to_string(d.os);
  }
  for (const int k : p.kinds) text += " k" + std::to_string(k);
  return text;
}

// Four arrays of reals: input, its imaginary part, output, its imaginary part.
template <class R>
struct Arrays {
  std::vector<R> memory[4];
  std::ptrdiff_t first = 0;
  R* at(int which, bool in_place) { return memory[in_place && which >= 2 ? which - 2 : which].data() + first; }
};

template <class R>
void* make(const Library<R>& library, const Problem& p, Arrays<R>& a, unsigned flags) {
  const auto rank = static_cast<int>(p.dims.size()), loops = static_cast<int>(p.loops.size());
  const IoDim64 *dims = p.dims.data(), *loop_dims = p.loops.data();
  R *in = a.at(0, p.in_place), *in_im = a.at(1, p.in_place), *out = a.at(2, p.in_place), *out_im = a.at(3, p.in_place);
  switch (p.form) {
    case Form::complex:
      return library.call("plan_guru64_dft", rank, dims, loops, loop_dims, in, out, p.sign, flags);
    case Form::real_forward:
      return library.call("plan_guru64_dft_r2c", rank, dims, loops, loop_dims, in, out, flags);
    case Form::real_inverse:
      return library.call("plan_guru64_dft_c2r", rank, dims, loops, loop_dims, in, out, flags);
    case Form::real_to_real:
      return library.call("plan_guru64_r2r", rank, dims, loops, loop_dims, in, out, p.kinds.data(), flags);
    case Form::split:
      return library.call("plan_guru64_split_dft", rank, dims, loops, loop_dims, in, in_im, out, out_im, flags);
  }
  return nullptr;
}

std::ptrdiff_t farthest(const Problem& p, bool input) {
  std::ptrdiff_t sum = 0;
  for (const auto* list : {&p.dims, &p.loops}) {
    for (const IoDim64& d : *list) sum += (d.n > 0 ? d.n - 1 : 0) * std::abs(input ? d.is : d.os);
  }
  return sum;
}

std::vector<bool> places_of_answers(const Problem& p, std::size_t size, std::ptrdiff_t first) {
  std::vector<bool> places(size);
  std::vector<IoDim64> all = p.dims;
  if (p.form == Form::real_forward) all.back().n = all.back().n / 2 + 1;
  all.insert(all.end(), p.loops.begin(), p.loops.end());
  const bool pairs = p.form == Form::complex || p.form == Form::real_forward;
  std::ptrdiff_t items = 1;
  for (const IoDim64& d : all) items *= d.n;
  for (std::ptrdiff_t i = 0; i < items; ++i) {
    std::ptrdiff_t rest = i, place = 0;
    for (const IoDim64& d : all) {
      place += rest % d.n * d.os;
      rest /= d.n;
    }
    for (int part = 0; part < (pairs ? 2 : 1); ++part) {
      places[static_cast<std::size_t>(first + (pairs ? 2 * place + part : place))] = true;
    }
  }
  return places;
}

// Runs both libraries on the same numbers. Returns true if FFTW made a plan.
template <class R>
bool compare(const Library<R>& ours, const Library<R>& real, const Problem& p, std::mt19937& random) {
  SCOPED_TRACE(problem_text(p));
  const std::ptrdiff_t reach = 2 * std::max(farthest(p, true), farthest(p, false)) + 16;
  Arrays<R> mine, theirs;
  mine.first = theirs.first = reach;
  std::uniform_real_distribution<R> uniform(R(-0.5), R(0.5));
  for (int m = 0; m < 4; ++m) {
    mine.memory[m].resize(static_cast<std::size_t>(2 * reach + 16));
    for (R& x : mine.memory[m]) x = uniform(random);
    theirs.memory[m] = mine.memory[m];
  }
  const Arrays<R> before = mine;
  void* const their_plan = make(real, p, theirs, kEstimate);
  void* const my_plan = make(ours, p, mine, kEstimate);
  for (int m = 0; m < 4; ++m) EXPECT_EQ(mine.memory[m], before.memory[m]) << "planning touched an array";
  if (their_plan == nullptr) {
    ours.template call<void>("destroy_plan", my_plan);
    return false;
  }
  EXPECT_NE(my_plan, nullptr) << "FFTW plans this";
  if (my_plan == nullptr) {
    real.template call<void>("destroy_plan", their_plan);
    return true;
  }
  real.template call<void>("execute", their_plan);
  ours.template call<void>("execute", my_plan);
  // Positions of the results. In place, FFTW leaves garbage beside those of a c2r transform; otherwise gaps stay
  // unchanged.
  const std::vector<bool> answers = places_of_answers(p, mine.memory[0].size(), mine.first);
  double error = 0, norm = 0, points = 2;
  for (const IoDim64& d : p.dims) points *= static_cast<double>(d.n);
  for (int m = 2; m < 4; ++m) {
    const int where = p.in_place ? m - 2 : m;
    for (std::size_t i = 0; i < mine.memory[where].size(); ++i) {
      const double want = theirs.memory[where][i], got = mine.memory[where][i];
      if (answers[i] && (m == 2 || p.form == Form::split)) {
        error += (want - got) * (want - got);
        norm += want * want;
      } else if (!p.in_place) {
        EXPECT_EQ(before.memory[where][i], got) << "a gap of the output changed";
      }
    }
  }
  EXPECT_LE(std::sqrt(error),
            4 * std::numeric_limits<R>::epsilon() * std::sqrt(std::log2(points) + 1) * std::sqrt(norm));
  if (!p.in_place) {
    EXPECT_EQ(mine.memory[0], before.memory[0]) << "the input changed";
    EXPECT_EQ(mine.memory[1], before.memory[1]) << "the input changed";
  }
  ours.template call<void>("destroy_plan", my_plan);
  real.template call<void>("destroy_plan", their_plan);
  return true;
}

Problem any_problem(std::mt19937& random) {
  Problem p;
  p.form = static_cast<Form>(random() % 5);
  p.sign = random() % 2 == 0 ? -1 : 1;
  std::size_t points = 1;
  const auto length = [&] {
    const std::size_t most = std::max<std::size_t>(1, 20000 / points);
    const auto n = 1 + random() % std::min<std::size_t>(most, random() % 4 == 0 ? 300 : 9);
    points *= n;
    return static_cast<std::ptrdiff_t>(n);
  };
  const bool real = p.form == Form::real_forward || p.form == Form::real_inverse;
  const std::size_t rank = (real ? 1 : 0) + random() % 4, loops = random() % 3;
  for (std::size_t i = 0; i < rank; ++i) p.dims.push_back({length(), 0, 0});
  for (std::size_t i = 0; i < loops; ++i) p.loops.push_back({length(), 0, 0});
  for (std::size_t i = 0; i < rank; ++i) p.kinds.push_back(static_cast<int>(random() % 11));
  std::vector<IoDim64*> all;
  for (auto& d : p.dims) all.push_back(&d);
  for (auto& d : p.loops) all.push_back(&d);
  for (const bool input : {true, false}) {
    std::shuffle(all.begin(), all.end(), random);
    std::ptrdiff_t step = 1;
    for (IoDim64* d : all) {
      if (random() % 3 == 0) step += static_cast<std::ptrdiff_t>(random() % 3);
      // FFTW 3.3.10 itself recurses endlessly on some problems of several axes with negative strides.
      (input ? d->is : d->os) = rank < 2 && random() % 6 == 0 ? -step : step;
      step *= d->n + (real ? 2 : 0);
    }
  }
  if (random() % 3 == 0) {
    // And on some in-place problems.
    p.in_place = true;
    for (IoDim64* d : all) d->os = d->is = std::abs(d->is);
  }
  return p;
}

template <class R>
class DropInGuru : public DropIn<R> {};
TYPED_TEST_SUITE(DropInGuru, Precisions);

TYPED_TEST(DropInGuru, RandomProblems) {
  std::mt19937 random(7);
  int planned = 0;
  const int problems = std::getenv("RIDGE_SLOW") != nullptr ? 1000 : 200;
  for (int i = 0; i < problems && !this->HasFailure(); ++i) {
    planned += compare<TypeParam>(this->ours, this->real, any_problem(random), random) ? 1 : 0;
  }
  EXPECT_GT(planned, problems * 3 / 4) << "too few problems were compared";
}

}  // namespace
}  // namespace ridge::fftw_test
