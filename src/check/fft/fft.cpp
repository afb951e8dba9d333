// Checks transforms of any shape, kind, stride, batch and operator in both directions: with spans, with device buffers,
// and split between host and device.
#include <algorithm>
#include <optional>

#include <ridge/fft/hybrid.hpp>

#include "check/check.hpp"
#include "check/fft/direction.hpp"
#include "check/systematic.hpp"

namespace ridge::check {
namespace {

// Runs a plan on buffers of its device.
template <class T>
class Resident {
 public:
  explicit Resident(const fft::Plan<T>& plan) : plan_(plan) {}
  template <class In, class Out>
  void forward(std::span<const In> in, std::span<Out> out) const {
    run(in, out, [&](Queue& queue, const Buffer& from, const Buffer& to) { plan_.enqueue_forward(queue, from, to); });
  }
  template <class In, class Out>
  void inverse(std::span<const In> in, std::span<Out> out) const {
    run(in, out, [&](Queue& queue, const Buffer& from, const Buffer& to) { plan_.enqueue_inverse(queue, from, to); });
  }

 private:
  // Uploads the output too, so that gaps between its points must stay unchanged. Runs twice, to find state left by the
  // first run.
  template <class In, class Out, class Enqueue>
  void run(std::span<const In> in, std::span<Out> out, const Enqueue& enqueue) const {
    const Device& device = plan_.device();
    Queue queue = device.queue();
    const bool in_place = plan_.problem().in_place;
    const Buffer from =
        device.buffer(std::max(in.size_bytes(), in_place ? out.size_bytes() : 0), {.name = "check fft in"});
    const Buffer to = in_place ? from : device.buffer(out.size_bytes(), {.name = "check fft out"});
    for (int i = 0; i < 2; ++i) {
      queue.upload(in, from);
      if (!in_place) queue.upload(std::span<const Out>(out), to);
      enqueue(queue, from, to);
    }
    queue.download(to, out);
    queue.finish();
  }

  const fft::Plan<T>& plan_;
};

const planner::Options kQuick{.effort = Effort::quick, .use_wisdom = false, .save_wisdom = false};

template <class T>
Outcome one_direction(Draw& draw, const TextProblem& wanted) {
  const FftCase made{.problem = wanted.problem, .data = draw.random.bits()};
  const fft::Plan<T> plan(draw.device, made.problem, kQuick);
  return {.wrong = FftDirection<T>(made, sides_of(made.problem), !wanted.inverse).check(plan, draw)};
}

template <class T, class Plan>
std::string both_directions(const FftCase& made, const FftSides& sides, const Plan& plan, const Draw& draw) {
  std::string wrong = FftDirection<T>(made, sides, true).check(plan, draw);
  if (!wrong.empty()) return "forward: " + wrong;
  if (sides.samples.aliases) return {};
  wrong = FftDirection<T>(made, sides, false).check(plan, draw);
  return wrong.empty() ? "" : "inverse: " + wrong;
}

// Packed batches divided between the host and the device.
template <class T>
Outcome check_hybrid(Draw& draw) {
  FftCase made = draw_fft<T>(draw);
  made.problem.in_place = false;
  made.problem.given = made.problem.wanted = {};
  made.problem.input = made.problem.output = {};
  made.problem.load_forward = made.problem.load_inverse = {};
  made.problem.store_forward = made.problem.store_inverse = {};
  made.problem.threads = 0;
  Random random(made.by_chance);
  fft::HybridOptions options{.cores = random.below(4),
                             .piece_bytes = random.chance(0.5) ? 0 : random.magnitude(1 << 16)};
  options.seconds = 0.02;
  options.planning = kQuick;
  draw.problem = fft_in_words<T>(made) + ", hybrid";
  std::vector<Device> devices{host()};
  if (!draw.device.is_host()) devices.push_back(draw.device);
  const fft::HybridPlan<T> plan(devices, made.problem, options);
  for (const fft::HybridShare& share : plan.shares())
    draw.problem += fmt::format(", {} of {}", share.transforms, share.device);
  return {.wrong = both_directions<T>(made, sides_of(made.problem), plan, draw)};
}

template <class T>
Outcome check_samples(Draw& draw) {
  // The reference's tables for a long double-precision transform are slow to compute.
  if (sizeof(T) == 8) draw.points = std::min<std::size_t>(draw.points, std::size_t{1} << 18);
  const FftCase made = draw_fft<T>(draw);
  draw.problem = fft_in_words<T>(made);
  planner::Options options = kQuick;
  if (made.problem.shape.size() == 1)
    options = some_variant(fft::candidates<T>(draw.device, made.problem.shape[0]), made.by_chance);
  std::optional<fft::Plan<T>> plan;
  try {
    plan.emplace(draw.device, made.problem, options);
  } catch (const Error& error) {
    // The variants were listed for a packed batch: the drawn one may refuse this problem.
    if (options.variant.empty() || error.kind() != ErrorKind::invalid_argument) throw;
    options.variant.clear();
    plan.emplace(draw.device, made.problem, options);
  }
  draw.problem += ", " + chosen_by(plan->decisions());
  const FftSides sides = sides_of(made.problem);
  const bool resident = !draw.device.is_host() && Random(made.data).chance(0.4);
  if (!resident) return {.wrong = both_directions<T>(made, sides, *plan, draw)};
  draw.problem += ", buffers";
  return {.wrong = both_directions<T>(made, sides, Resident<T>(*plan), draw)};
}

}  // namespace

Outcome check_transform(Draw& draw, const TextProblem& problem) {
  draw.problem = to_text(problem);
  return problem.float64 ? one_direction<double>(draw, problem) : one_direction<float>(draw, problem);
}

Outcome check_fft(Draw& draw) {
  const double part = draw.random.uniform();
  if (part < 0.1) return check_convolution(draw);
  if (part < 0.3) return check_tensor(draw);
  if (part > 0.94) return check_boxes(draw);
  const bool wide = draw.random.chance(0.4) && draw.device.limits().float64;
  if (part < 0.33) return wide ? check_hybrid<double>(draw) : check_hybrid<float>(draw);
  return wide ? check_samples<double>(draw) : check_samples<float>(draw);
}

}  // namespace ridge::check
