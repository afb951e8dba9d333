// Fills in the strides of a problem, and checks sizes, ranges and shared elements.
#include "fft/layout.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ridge/error.hpp>

#include "fft/operators.hpp"

namespace ridge::fft {
namespace {

[[noreturn]] void refuse_layout(const std::string& what) {
  throw Error(ErrorKind::invalid_argument, fmt::format("fft: {}", what));
}

std::size_t times(std::size_t a, std::size_t b, const char* what) {
  std::size_t product;
  // The largest element has 16 bytes, and pointer differences must cover the whole array.
  if (__builtin_mul_overflow(a, b, &product) || product > std::numeric_limits<std::size_t>::max() / 64) {
    refuse_layout(fmt::format("{} is too large: {} times {} does not fit in memory", what, a, b));
  }
  return product;
}

// `padded_last` is the packed row length: longer than the shape if samples share memory with their spectrum.
Side fill(const Problem& problem, const Strides& given, std::size_t axes, std::array<std::size_t, kMostAxes> shape,
          std::size_t padded_last, const char* what) {
  if (!given.axes.empty() && given.axes.size() != axes) {
    refuse_layout(fmt::format("got {} strides for {} axes in {}: give one per axis", given.axes.size(), axes, what));
  }
  Side side;
  side.shape = shape;
  std::size_t packed = 1;
  for (std::size_t axis = axes; axis-- > 0;) {
    const std::size_t stride = given.axes.empty() ? 0 : given.axes[axis];
    side.strides[axis] = stride == 0 ? packed : stride;
    packed = times(packed, axis + 1 == axes ? padded_last : shape[axis], what);
  }
  side.batch = given.batch == 0 ? packed : given.batch;
  std::vector<Run> runs = {{problem.batch, side.batch}};
  side.extent = 1;
  for (std::size_t axis = 0; axis < axes; ++axis) runs.push_back({shape[axis], side.strides[axis]});
  for (const Run& run : runs) {
    side.extent += times(run.count - 1, run.step, what);
    times(side.extent, 1, what);
  }
  side.aliases = share_elements(runs);
  return side;
}

// Ranges of a box in an array of this shape.
std::array<AxisRange, kMostAxes> ranges_of(const Box& box, std::size_t axes,
                                           const std::array<std::size_t, kMostAxes>& shape, const char* name) {
  const bool all = box.count.empty();
  if ((!all && box.count.size() != axes) || (!box.first.empty() && box.first.size() != axes)) {
    refuse_layout(fmt::format("the box {} needs {} firsts and counts, one per axis, got {} and {}", name, axes,
                              box.first.size(), box.count.size()));
  }
  std::array<AxisRange, kMostAxes> ranges{};
  for (std::size_t i = 0; i < axes; ++i) {
    ranges[i] = {.first = box.first.empty() ? 0 : box.first[i], .count = all ? shape[i] : box.count[i]};
    if (ranges[i].count < 1 || ranges[i].count > shape[i] || ranges[i].first >= shape[i]) {
      refuse_layout(fmt::format("the box {} needs 1 to {} points from 0 to {} on axis {}, got {} from {}", name,
                                shape[i], shape[i] - 1, i, ranges[i].count, ranges[i].first));
    }
  }
  return ranges;
}

// Replaces the shapes of both sides by those of the boxes.
void resolve_boxes(const Problem& problem, Layout& layout, std::array<std::size_t, kMostAxes>& samples,
                   std::array<std::size_t, kMostAxes>& spectrum) {
  const std::size_t last = layout.axes - 1;
  layout.given = ranges_of(problem.given, layout.axes, samples, "given");
  layout.wanted = ranges_of(problem.wanted, layout.axes, spectrum, "wanted");
  const AxisRange& half = layout.wanted[last];
  if (problem.kind == Kind::real && half.first + half.count > spectrum[last]) {
    refuse_layout(
        fmt::format("the box wanted ends at {} on the last axis of a half spectrum of {} values: choose a "
                    "first and a count within it",
                    half.first + half.count, spectrum[last]));
  }
  for (std::size_t i = 0; i < layout.axes; ++i) {
    layout.boxed = layout.boxed || layout.given[i].count < samples[i] || layout.wanted[i].count < spectrum[i] ||
                   layout.given[i].first + layout.wanted[i].first > 0;
    samples[i] = layout.given[i].count;
    spectrum[i] = layout.wanted[i].count;
  }
  if (layout.boxed && problem.in_place) refuse_layout("boxes need an out-of-place plan, got in_place");
}

void check_same_memory(const Layout& layout, const Problem& problem) {
  const bool real = problem.kind == Kind::real;
  const std::size_t last = layout.axes - 1, each = real ? 2 : 1;
  const Side &a = layout.samples, &b = layout.spectrum;
  bool same = a.strides[last] == b.strides[last] && (!real || a.strides[last] == 1);
  for (std::size_t axis = 0; axis < last; ++axis) {
    same = same && (a.shape[axis] == 1 || a.strides[axis] == each * b.strides[axis]);
  }
  same = same && (problem.batch == 1 || a.batch == each * b.batch);
  if (!same) {
    refuse_layout(
        real
            ? "in place, rows of real samples need twice the stride of the spectrum's rows (2 (n/2 + 1) reals) and the "
              "same start"
            : "in place, input and output must have the same strides");
  }
}

void check_factors(const Layout& layout, const Problem& problem) {
  const auto check = [&](const char* what, std::size_t given, std::size_t points) {
    if (given != 0 && given != points)
      refuse_layout(fmt::format("{} has {} values, this problem needs {}", what, given, points));
  };
  const std::size_t samples = layout.samples.points(), spectrum = layout.spectrum.points();
  check("load_forward.window", problem.load_forward.window.size(), samples);
  check("load_forward.multiply", problem.load_forward.multiply.size(), samples);
  check("store_forward.window", problem.store_forward.window.size(), spectrum);
  check("store_forward.multiply", problem.store_forward.multiply.size(), spectrum);
  check("load_inverse.window", problem.load_inverse.window.size(), spectrum);
  check("load_inverse.multiply", problem.load_inverse.multiply.size(), spectrum);
  check("store_inverse.window", problem.store_inverse.window.size(), samples);
  check("store_inverse.multiply", problem.store_inverse.multiply.size(), samples);
  if (problem.kind == Kind::real &&
      !(problem.load_forward.multiply.empty() && problem.store_inverse.multiply.empty())) {
    refuse_layout("real samples cannot be multiplied by complex factors: use a window");
  }
  const Samples samples_type = problem.load_forward.samples;
  if (samples_type != Samples::same && samples_type != Samples::int8 && samples_type != Samples::int16) {
    refuse_layout("samples are int8, int16 or the plan's own (Samples::same)");
  }
  if (problem.load_inverse.samples != Samples::same)
    refuse_layout("integer samples need a forward transform: leave load_inverse.samples at Samples::same");
  if (problem.storage != Storage::same && samples_type != Samples::same) {
    refuse_layout("needs integer samples or 16-bit float storage, got both: set load_forward.samples or storage");
  }
  if (problem.in_place && samples_type != Samples::same) {
    refuse_layout("integer samples need an out-of-place plan, got in_place");
  }
}

}  // namespace

std::size_t Side::points() const { return shape[0] * shape[1] * shape[2]; }

Layout resolve(const Problem& problem) {
  if (problem.shape.empty() || problem.shape.size() > kMostAxes) {
    refuse_layout(fmt::format("needs one to three axes, got {}", problem.shape.size()));
  }
  if (problem.batch == 0) refuse_layout("needs a batch of at least 1 transform, got 0");
  std::size_t total = problem.batch;
  for (const std::size_t length : problem.shape) {
    if (length == 0) refuse_layout("needs axes of at least 1 point, got length 0");
    total = times(total, length, "the problem");
  }
  Layout layout;
  layout.axes = problem.shape.size();
  const std::size_t last = layout.axes - 1;
  const bool real = problem.kind == Kind::real;
  std::array<std::size_t, kMostAxes> samples{1, 1, 1};
  std::copy(problem.shape.begin(), problem.shape.end(), samples.begin());
  auto spectrum = samples;
  if (real) spectrum[last] = samples[last] / 2 + 1;
  times(total / samples[last], spectrum[last], "the spectrum");
  resolve_boxes(problem, layout, samples, spectrum);
  const std::size_t row = real && problem.in_place ? 2 * spectrum[last] : samples[last];
  layout.samples = fill(problem, problem.input, layout.axes, samples, row, "the input");
  layout.spectrum = fill(problem, problem.output, layout.axes, spectrum, spectrum[last], "the output");
  if (layout.spectrum.aliases) {
    refuse_layout(
        "the output's strides make two points share an element: make each stride at least as large as the extent "
        "within it");
  }
  if (problem.in_place) check_same_memory(layout, problem);
  check_factors(layout, problem);
  return layout;
}

double usual_flops(const Problem& problem) {
  double points = 1;
  for (const std::size_t n : problem.shape) points *= static_cast<double>(n);
  return (problem.kind == Kind::real ? 2.5 : 5) * points * std::log2(points) * static_cast<double>(problem.batch);
}

double least_bytes(const Layout& layout, const Problem& problem, std::size_t number) {
  const double samples = static_cast<double>(layout.samples.points()) *
                         static_cast<double>(sample_bytes(problem.load_forward.samples, problem.kind, number));
  const double spectrum = static_cast<double>(layout.spectrum.points()) * 2 * static_cast<double>(number);
  return (samples + spectrum) * static_cast<double>(problem.batch);
}

std::string shape_text(const Problem& problem) { return fmt::format("{}", fmt::join(problem.shape, "x")); }

bool share_elements(std::vector<Run> runs) {
  std::erase_if(runs, [](const Run& run) { return run.count == 1; });
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.step < b.step; });
  std::size_t reach = 0, total = 1;
  bool nested = true;
  for (const Run& run : runs) {
    if (run.step == 0) return true;
    nested = nested && run.step > reach;
    reach += (run.count - 1) * run.step;
    total *= run.count;
  }
  if (nested) return false;
  constexpr std::size_t kAffordable = std::size_t{1} << 24;
  if (total > reach + 1 || reach > kAffordable) return true;
  std::vector<bool> taken(reach + 1);
  for (std::size_t i = 0; i < total; ++i) {
    std::size_t rest = i, element = 0;
    for (const Run& run : runs) {
      element += rest % run.count * run.step;
      rest /= run.count;
    }
    if (taken[element]) return true;
    taken[element] = true;
  }
  return false;
}

}  // namespace ridge::fft
