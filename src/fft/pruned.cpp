// Runs a pruned transform axis by axis. Between two axes only the box that is not zero, or still needed, is stored. A
// pass copies a block of lines into a small buffer that stays in cache, transforms it there and copies the wanted
// points out.
#include <ridge/fft/pruned.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>

#include <fmt/format.h>
#include <ridge/fft.hpp>

#include "base/aligned.hpp"
#include "base/threads.hpp"
#include "plan/arguments.hpp"

namespace ridge::fft {
namespace {

constexpr const char* kPruned = "fft";
// Rows of a block, and their distance: not a power of two, which would cause cache set conflicts.
constexpr std::size_t kBlockRows = 16;
std::size_t pitch_of(std::size_t n) { return n + 8; }

// Columns of a block, side by side: as many as fit 256 KB.
std::size_t block_columns(std::size_t n, std::size_t complex_bytes) {
  return std::clamp<std::size_t>((std::size_t{1} << 18) / (n * complex_bytes) / 16 * 16, 16, 64);
}

[[noreturn]] void refuse_box(const std::string& message) {
  throw Error(ErrorKind::invalid_argument, "fft: " + message);
}

// Points of one axis, which may continue at its beginning.
struct AxisRun {
  std::size_t first = 0, count = 0;
};

std::vector<AxisRun> runs_of(const Box& box, const std::vector<std::size_t>& shape, const char* what) {
  std::vector<AxisRun> runs;
  const bool all = box.count.empty();
  if ((!all && box.count.size() != shape.size()) || (!box.first.empty() && box.first.size() != shape.size())) {
    refuse_box(fmt::format("the box {} needs {} firsts and counts, one per axis, got {} and {}", what, shape.size(),
                           box.first.size(), box.count.size()));
  }
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const AxisRun run{.first = box.first.empty() ? 0 : box.first[i], .count = all ? shape[i] : box.count[i]};
    if (run.count < 1 || run.count > shape[i] || run.first >= shape[i]) {
      refuse_box(fmt::format("the box {} needs 1 to {} points from 0 to {} on axis {}, got {} from {}", what, shape[i],
                             shape[i] - 1, i, run.count, run.first));
    }
    runs.push_back(run);
  }
  return runs;
}

// One axis of a pass: `outer` x `inner` lines of `given.count` points become lines of `wanted.count` points.
struct Pass {
  std::size_t n = 1;  // length of the transform
  std::size_t outer = 1, inner = 1;
  AxisRun given{}, wanted{};
  std::size_t lines() const { return outer * inner; }
  std::size_t in_size() const { return lines() * given.count; }
  std::size_t out_size() const { return lines() * wanted.count; }
};

// Axes in the order that transforms the fewest points: all permutations of up to three axes are compared.
std::vector<Pass> passes_of(const std::vector<std::size_t>& shape, std::size_t batch, const std::vector<AxisRun>& given,
                            const std::vector<AxisRun>& wanted) {
  std::vector<std::size_t> order(shape.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = order.size() - 1 - i;
  std::vector<Pass> best;
  double least = 0;
  std::vector<std::size_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  do {
    // The last axis first, if two orders cost the same.
    const std::vector<std::size_t> axes(sorted.rbegin(), sorted.rend());
    std::vector<std::size_t> sides;
    for (const AxisRun& run : given) sides.push_back(run.count);
    std::vector<Pass> passes;
    double points = 0;
    for (const std::size_t axis : axes) {
      Pass pass{.n = shape[axis], .outer = batch, .inner = 1, .given = given[axis], .wanted = wanted[axis]};
      for (std::size_t i = 0; i < shape.size(); ++i) (i < axis ? pass.outer : pass.inner) *= i == axis ? 1 : sides[i];
      sides[axis] = wanted[axis].count;
      points += static_cast<double>(pass.lines()) * static_cast<double>(pass.n);
      passes.push_back(pass);
    }
    if (best.empty() || points < least) {
      best = passes;
      least = points;
    }
  } while (std::next_permutation(sorted.begin(), sorted.end()));
  return best;
}

double points_of(const std::vector<Pass>& passes) {
  double points = 0;
  for (const Pass& pass : passes) points += static_cast<double>(pass.lines()) * static_cast<double>(pass.n);
  return points;
}

}  // namespace

template <class T>
struct PrunedState {
  using Complex = std::complex<T>;
  // Transforms of one length in a block, in place: rows, and columns side by side.
  struct Lines {
    std::size_t n = 1, columns_count = 16;
    std::shared_ptr<const Plan<T>> rows{}, columns{};
  };

  PrunedProblem problem{};
  std::size_t threads = 1;
  std::vector<Pass> forward{}, inverse{};
  std::vector<Lines> lengths{};  // one per distinct length
  mutable std::mutex busy{};
  mutable base::AlignedArray<Complex> between[2]{};
  mutable std::vector<base::AlignedArray<Complex>> blocks{};  // one per thread

  const Lines& lines_of(std::size_t n) const {
    return *std::find_if(lengths.begin(), lengths.end(), [&](const Lines& one) { return one.n == n; });
  }
  static void transform(const Plan<T>& plan, bool backward, Complex* block) {
    backward ? plan.inverse_unchecked(block, block) : plan.forward_unchecked(block, block);
  }

  // Columns [first, first + count) of one outer index; point p of the block is a run of `width` columns.
  void run_columns(const Pass& pass, const Lines& lines, bool backward, std::size_t outer, std::size_t first, T scale,
                   const Complex* in, Complex* out, Complex* block) const {
    const std::size_t n = pass.n, width = lines.columns_count, count = std::min(width, pass.inner - first);
    in += outer * pass.given.count * pass.inner + first;
    out += outer * pass.wanted.count * pass.inner + first;
    std::fill_n(block, n * width, Complex{});
    for (std::size_t p = 0; p < pass.given.count; ++p) {
      const std::size_t at = pass.given.first + p < n ? pass.given.first + p : pass.given.first + p - n;
      std::copy_n(in + p * pass.inner, count, block + at * width);
    }
    transform(*lines.columns, backward, block);
    for (std::size_t p = 0; p < pass.wanted.count; ++p) {
      const std::size_t at = pass.wanted.first + p < n ? pass.wanted.first + p : pass.wanted.first + p - n;
      const Complex* from = block + at * width;
      Complex* to = out + p * pass.inner;
      for (std::size_t line = 0; line < count; ++line) to[line] = from[line] * scale;
    }
  }

  void run_pass(const Pass& pass, bool backward, T scale, const Complex* in, Complex* out) const {
    // Lines of the fastest axis are rows of their own outer index: a block takes several of them.
    const bool rows = pass.inner == 1;
    const Lines& lines = lines_of(pass.n);
    const std::size_t per_outer = (pass.inner + lines.columns_count - 1) / lines.columns_count;
    const std::size_t units = rows ? (pass.outer + kBlockRows - 1) / kBlockRows : pass.outer * per_outer;
    std::atomic<std::size_t> next{0};
    base::parallel(std::min(threads, units), [&](std::size_t thread, std::size_t) {
      Complex* block = blocks[thread].data();
      for (std::size_t unit = next++; unit < units; unit = next++) {
        if (rows) {
          run_rows(pass, lines, backward, unit * kBlockRows, scale, in, out, block);
        } else {
          run_columns(pass, lines, backward, unit / per_outer, unit % per_outer * lines.columns_count, scale, in, out,
                      block);
        }
      }
    });
  }

  void run_rows(const Pass& pass, const Lines& lines, bool backward, std::size_t first, T scale, const Complex* in,
                Complex* out, Complex* block) const {
    const std::size_t n = pass.n, pitch = pitch_of(n), count = std::min(kBlockRows, pass.outer - first);
    const std::size_t before = std::min(pass.given.count, n - pass.given.first);
    const std::size_t kept = std::min(pass.wanted.count, n - pass.wanted.first);
    for (std::size_t line = 0; line < count; ++line) {
      const Complex* from = in + (first + line) * pass.given.count;
      Complex* row = block + line * pitch;
      std::fill_n(row, n, Complex{});
      std::copy_n(from, before, row + pass.given.first);
      std::copy_n(from + before, pass.given.count - before, row);
    }
    transform(*lines.rows, backward, block);
    for (std::size_t line = 0; line < count; ++line) {
      const Complex* row = block + line * pitch;
      Complex* to = out + (first + line) * pass.wanted.count;
      for (std::size_t p = 0; p < kept; ++p) to[p] = row[pass.wanted.first + p] * scale;
      for (std::size_t p = kept; p < pass.wanted.count; ++p) to[p] = row[p - kept] * scale;
    }
  }

  void run(const std::vector<Pass>& passes, bool backward, double scale, const Complex* in, Complex* out) const {
    std::lock_guard lock(busy);
    const Complex* from = in;
    for (std::size_t i = 0; i < passes.size(); ++i) {
      const bool last = i + 1 == passes.size();
      Complex* to = last ? out : between[i % 2].data();
      run_pass(passes[i], backward, last ? static_cast<T>(scale) : T{1}, from, to);
      from = to;
    }
  }
};

template <class T>
PrunedPlan<T>::PrunedPlan(const PrunedProblem& problem, const planner::Options& options) {
  if (problem.shape.empty() || problem.shape.size() > 3 || problem.batch == 0) {
    refuse_box(fmt::format("a pruned transform needs one to three axes and a batch of at least 1, got {} and {}",
                           problem.shape.size(), problem.batch));
  }
  if (std::find(problem.shape.begin(), problem.shape.end(), 0) != problem.shape.end()) {
    refuse_box("a pruned transform needs at least one point per axis, got 0");
  }
  auto state = std::make_shared<PrunedState<T>>();
  state->problem = problem;
  state->threads = problem.threads == 0 ? base::hardware_threads() : problem.threads;
  const std::vector<AxisRun> given = runs_of(problem.given, problem.shape, "given");
  const std::vector<AxisRun> wanted = runs_of(problem.wanted, problem.shape, "wanted");
  state->forward = passes_of(problem.shape, problem.batch, given, wanted);
  state->inverse = passes_of(problem.shape, problem.batch, wanted, given);
  std::size_t largest = 1, most[2] = {1, 1};
  for (const auto* passes : {&state->forward, &state->inverse}) {
    for (std::size_t i = 0; i + 1 < passes->size(); ++i) most[i % 2] = std::max(most[i % 2], (*passes)[i].out_size());
  }
  for (const std::size_t n : problem.shape) {
    using Lines = typename PrunedState<T>::Lines;
    if (std::any_of(state->lengths.begin(), state->lengths.end(), [&](const Lines& one) { return one.n == n; }))
      continue;
    const std::size_t width = block_columns(n, sizeof(Complex));
    largest = std::max({largest, kBlockRows * pitch_of(n), n * width});
    const auto plan_lines = [&](std::size_t count, const Strides& strides) {
      const Problem block{
          .shape = {n}, .batch = count, .input = strides, .output = strides, .in_place = true, .threads = 1};
      return std::make_shared<const Plan<T>>(host(), block, options);
    };
    state->lengths.push_back({.n = n,
                              .columns_count = width,
                              .rows = plan_lines(kBlockRows, {.axes = {1}, .batch = pitch_of(n)}),
                              .columns = plan_lines(width, {.axes = {width}, .batch = 1})});
  }
  for (std::size_t i = 0; i < 2; ++i) state->between[i] = base::AlignedArray<Complex>(most[i]);
  for (std::size_t i = 0; i < state->threads; ++i) {
    state->blocks.emplace_back(largest);
    std::fill(state->blocks.back().begin(), state->blocks.back().end(), Complex{});  // a last block has fewer lines
  }
  state_ = std::move(state);
}

template <class T>
std::size_t PrunedPlan<T>::input_size() const {
  return state_->forward.front().in_size();
}
template <class T>
std::size_t PrunedPlan<T>::output_size() const {
  return state_->forward.back().out_size();
}

template <class T>
void PrunedPlan<T>::forward(std::span<const Complex> in, std::span<Complex> out) const {
  const std::size_t from = input_size() * sizeof(Complex), to = output_size() * sizeof(Complex);
  planner::check_length(kPruned, "input", in.size_bytes(), from);
  planner::check_length(kPruned, "output", out.size_bytes(), to);
  planner::check_apart(kPruned, in.data(), from, out.data(), to, false);
  state_->run(state_->forward, false, state_->problem.scale_forward, in.data(), out.data());
}

template <class T>
void PrunedPlan<T>::inverse(std::span<const Complex> in, std::span<Complex> out) const {
  const std::size_t from = output_size() * sizeof(Complex), to = input_size() * sizeof(Complex);
  planner::check_length(kPruned, "input", in.size_bytes(), from);
  planner::check_length(kPruned, "output", out.size_bytes(), to);
  planner::check_apart(kPruned, in.data(), from, out.data(), to, false);
  state_->run(state_->inverse, true, state_->problem.scale_inverse, in.data(), out.data());
}

template <class T>
double PrunedPlan<T>::share_of_lines() const {
  double whole = static_cast<double>(state_->problem.batch) * static_cast<double>(state_->problem.shape.size());
  for (const std::size_t n : state_->problem.shape) whole *= static_cast<double>(n);
  return points_of(state_->forward) / whole;
}

template <class T>
std::string PrunedPlan<T>::explain() const {
  std::string text = fmt::format("pruned transform: {:.3f} of the points of the whole transform\n", share_of_lines());
  for (const Pass& pass : state_->forward) {
    text += fmt::format("  {} lines of {} points: {} given, {} wanted\n", pass.lines(), pass.n, pass.given.count,
                        pass.wanted.count);
  }
  return text;
}

template <class T>
const PrunedProblem& PrunedPlan<T>::problem() const {
  return state_->problem;
}

template class PrunedPlan<float>;
template class PrunedPlan<double>;

}  // namespace ridge::fft
