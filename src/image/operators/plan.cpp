// Plans for chains of image operators: the problem in the planner's terms, and the public calls.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <mutex>
#include <span>

#include <fmt/format.h>

#include "base/threads.hpp"
#include "image/operators/definition.hpp"
#include "image/work.hpp"

namespace ridge::image {

OperatorPlan::OperatorPlan(const Device& device, const OperatorProblem& problem, const planner::Options& options)
    : problem_(problem) {
  state_ = chosen_plan(device, work_of(device, problem), options);
}
void OperatorPlan::run(const Image& in, Image& out) const { run_images(std::span(&in, 1), out); }
void OperatorPlan::run(const Image& in, const Image& guide, Image& out) const {
  run_images(std::array<Image, 2>{in, guide}, out);
}
void OperatorPlan::enqueue(Queue& queue, const Image& in, const Image& out) const {
  enqueue_images(queue, std::span(&in, 1), out);
}
void OperatorPlan::enqueue(Queue& queue, const Image& in, const Image& guide, const Image& out) const {
  enqueue_images(queue, std::array<Image, 2>{in, guide}, out);
}
std::vector<planner::Candidate> candidates(const Device& device, const OperatorProblem& problem) {
  static_cast<void>(output_shape(problem));
  return planner::candidates_of(list_variants(device, problem));
}

namespace {

// Text of the operator; long lists of weights are replaced by a hash.
std::string key_of(const Operation& operation) {
  const std::string text = to_string(operation);
  if (text.size() <= 200) return text;
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return fmt::format("{} weights {:016x}", short_name(operation), hash);
}

std::string key_of(const Device& device, const OperatorProblem& problem) {
  std::string key = "image";
  for (const Operation& operation : problem.chain) key += (key == "image" ? " " : " | ") + key_of(operation);
  std::string borders;  // a single name if all operators have the same border
  for (const Operation& operation : problem.chain) {
    const std::string border = to_string(border_for(operation, problem.border));
    if (!borders.ends_with(border)) borders += (borders.empty() ? "" : ",") + border;
  }
  key += fmt::format(" of {} {} {:g}", problem.input.text(), borders, problem.constant);
  if (device.is_host())
    key += fmt::format(" threads {}", problem.threads == 0 ? base::hardware_threads() : problem.threads);
  return key;
}

// Distance of the rows that are compared with the reference. Plain loops in double take minutes for large images and
// windows, so only some rows are compared. The distance is odd, so that the samples fall on every row position within a
// tile.
constexpr double kMostCompared = 100'000, kMostReferenced = 1 << 27;
constexpr std::size_t kFewValues = std::size_t{1} << 16;  // that one thread compares
double output_values(const OperatorProblem& problem) {
  const Shape out = output_shape(problem);
  return static_cast<double>(out.rows) * static_cast<double>(out.columns * out.channels);
}
std::size_t row_step(const OperatorProblem& problem) {
  const double values = output_values(problem);
  return values <= kMostCompared ? 1 : static_cast<std::size_t>(values / kMostCompared) | 1;
}

// Relative error, in the unit of planner::compare(), that a float or 32-bit result has if every operator before the
// last rounds one integer level the other way.
double rounding_of_steps(const OperatorProblem& problem, double unit) {
  if (problem.chain.size() < 2 || (problem.input.depth != Depth::u8 && problem.input.depth != Depth::u16)) return 0;
  const auto gain_of = [&]<class T>(const T& o) {
    const auto gain = definition<T>().gain;
    return gain == nullptr ? 1 : gain(o, output_shape(problem));
  };
  const double gain = std::visit(gain_of, problem.chain.back());
  return 1.001 * static_cast<double>(problem.chain.size() - 1) * gain / unit;
}

double root_mean_square(std::span<const double> values) {
  double squares = 0;
  for (const double value : values) squares += value * value;
  return values.empty() || squares == 0 ? 1 : std::sqrt(squares / static_cast<double>(values.size()));
}

// Compares the sampled rows with the reference. Integer results may differ by one per operator, because a value near
// one half may be rounded either way.
planner::Comparison judge(const OperatorProblem& problem, const Plain& expected, const Image& answer) {
  const bool whole = answer.depth() == Depth::u8 || answer.depth() == Depth::u16;
  const double most = answer.depth() == Depth::u8 ? 255 : 65535;
  const std::size_t step = row_step(problem), wide = answer.columns() * answer.channels();
  std::vector<double> right, got;
  planner::Comparison worst{.worst = 0, .allowed = 1.001 * static_cast<double>(problem.chain.size()), .where = {}};
  for (std::size_t r = 0; r < answer.rows(); ++r) {
    if (!is_sampled(r, answer.rows(), step)) continue;
    for (std::size_t i = 0; i < wide; ++i) {
      const double value = expected.values[r * wide + i], mine = value_at(answer, r, i);
      if (whole) {
        const double error = std::abs(mine - std::clamp(value, 0.0, most));
        if (!(error <= worst.worst)) worst = {error, worst.allowed, fmt::format("row {}, value {}", r, i)};
      } else {
        right.push_back(value);
        got.push_back(mine);
      }
    }
  }
  return whole ? worst : planner::compare(got, right, 2e-5 + rounding_of_steps(problem, root_mean_square(right)));
}

// Largest difference of two images and where it is; NaN if one is. `squares`: of all values expected.
struct ImageErrors {
  double worst = 0, squares = 0;
  std::size_t row = 0, value = 0;
  void add(double error, std::size_t r, std::size_t i) {
    if (error <= worst || std::isnan(worst)) return;
    worst = error;
    row = r;
    value = i;
  }
};

ImageErrors errors_of(const Image& expected, const Image& answer) {
  const std::size_t wide = answer.columns() * answer.channels();
  std::mutex mutex;
  ImageErrors all;
  base::parallel(wide * answer.rows() < kFewValues ? 1 : 0, [&](std::size_t thread, std::size_t threads) {
    const base::Share rows = base::share(answer.rows(), thread, threads);
    ImageErrors own;
    for (std::size_t r = rows.begin; r < rows.end; ++r) {
      for (std::size_t i = 0; i < wide; ++i) {
        const double value = value_at(expected, r, i);
        own.squares += value * value;
        own.add(std::abs(value_at(answer, r, i) - value), r, i);
      }
    }
    const std::lock_guard lock(mutex);
    all.add(own.worst, own.row, own.value);
    all.squares += own.squares;
  });
  return all;
}

// Compares all rows with a host result. The tolerance is doubled, because both sides may deviate from the reference.
planner::Comparison judge_whole(const OperatorProblem& problem, const Image& expected, const Image& answer) {
  const bool whole = answer.depth() == Depth::u8 || answer.depth() == Depth::u16;
  const ImageErrors errors = errors_of(expected, answer);
  const double values = static_cast<double>(answer.rows() * answer.columns() * answer.channels());
  const double size = std::sqrt(errors.squares / values), unit = whole || size == 0 ? 1 : size;
  return {.worst = errors.worst / unit,
          .allowed =
              whole ? 2.002 * static_cast<double>(problem.chain.size()) : 4e-5 + 2 * rounding_of_steps(problem, unit),
          .where = fmt::format("row {}, value {}", errors.row, errors.value)};
}

// Rounded to the depth of the result.
Image reference_image(OperatorProblem problem, std::span<const Image> in) {
  problem.input = in[0].shape();
  const Plain plain = reference(problem, plain_of(in[0]), in.size() > 1 ? plain_of(in[1]) : Plain{});
  Image image(output_shape(problem));
  const std::size_t wide = image.columns() * image.channels();
  const auto store = [&]<class T>(T) {
    for (std::size_t r = 0; r < image.rows(); ++r) {
      for (std::size_t i = 0; i < wide; ++i) {
        const double value = plain.values[r * wide + i];
        image.row<T>(r)[i] =
            std::is_integral_v<T>
                ? static_cast<T>(std::clamp(std::nearbyint(value), 0.0, double{std::numeric_limits<T>::max()}))
                : static_cast<T>(value);
      }
    }
  };
  switch (image.depth()) {
    case Depth::u8:
      store(std::uint8_t());
      break;
    case Depth::u16:
      store(std::uint16_t());
      break;
    case Depth::u32:
      store(std::uint32_t());
      break;
    case Depth::f32:
      store(float());
      break;
    case Depth::f64:
      store(double());
      break;
  }
  return image;
}

// As judge(), from the largest difference.
planner::Comparison judge_repeated(const OperatorProblem& problem, const RepeatedImages::Difference& found) {
  const Depth depth = output_shape(problem).depth;
  const bool whole = depth == Depth::u8 || depth == Depth::u16;
  const double unit = whole || found.size == 0 ? 1 : found.size;
  return {
      .worst = found.worst / unit,
      .allowed = whole ? 1.001 * static_cast<double>(problem.chain.size()) : 2e-5 + rounding_of_steps(problem, unit),
      .where = fmt::format("row {}, value {}", found.row, found.value)};
}

// Result of the first host variant that accepts the problem; tests compare every host variant with the reference.
Image on_host(OperatorProblem problem, std::span<const Image> images) {
  problem.threads = 0;
  for (const Entry& entry : list_variants(host(), problem)) {
    if (!entry.candidate.refusal.empty()) continue;
    Image answer(output_shape(problem));
    entry.build()->run(images, answer);
    return answer;
  }
  return {};
}

}  // namespace

Work work_of(const Device& device, const OperatorProblem& problem) {
  const Shape out = output_shape(problem);
  std::vector<Shape> in(inputs(problem), problem.input);
  double bytes = static_cast<double>(out.rows * out.row_bytes());
  for (const Shape& shape : in) bytes += static_cast<double>(shape.rows * shape.row_bytes());
  return {
      .problem = planner::Problem{.workload = "image", .key = key_of(device, problem), .flops = 0, .bytes = bytes},
      .inputs = in,
      .output = out,
      .entries = list_variants(device, problem),
      .data = [in] { return random_images(in); },
      // All variants of one selection get the same images, so the expected result is computed once.
      .judge =
          [problem, sampled = !device.is_host() && row_step(problem) > 1, expected = std::make_shared<Plain>(),
           by_host = std::make_shared<Image>()](std::span<const Image> images, const Image& answer) {
            if (sampled && by_host->rows() == 0) *by_host = on_host(problem, images);
            const double given = static_cast<double>(images[0].rows() * images[0].columns() * images[0].channels());
            // Not of very large images: the reference keeps whole images of double, made by one thread.
            if (by_host->rows() == 0 || std::max(output_values(problem), given) <= kMostReferenced) {
              if (expected->values.empty()) {
                *expected = reference(problem, plain_of(images[0]), images.size() > 1 ? plain_of(images[1]) : Plain{},
                                      row_step(problem));
              }
              const planner::Comparison rows = judge(problem, *expected, answer);
              if (by_host->rows() == 0 || !rows.right()) return rows;
            }
            return judge_whole(problem, *by_host, answer);
          },
      .reference = [problem](std::span<const Image> images) { return reference_image(problem, images); },
      .judge_repeated = [problem](const RepeatedImages::Difference& found) { return judge_repeated(problem, found); }};
}

}  // namespace ridge::image
