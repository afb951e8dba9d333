// Times variants of the nonuniform transform and compares some of their outputs with direct sums.
#include "nufft/trials.hpp"

#include <algorithm>
#include <limits>

#include "base/clock.hpp"
#include "device/random.hpp"
#include "device/timing.hpp"
#include "nufft/reference.hpp"

namespace ridge::nufft {
namespace {

constexpr base::Repeat kTrial{.seconds = 0.06, .at_least = 3, .at_most = 1000, .round = 2e-4};
constexpr std::size_t kMostTimed = std::size_t{1} << 22, kMostCompared = std::size_t{1} << 16;  // points
constexpr std::size_t kOutputs = 24;  // compared with direct sums

}  // namespace

template <class T>
typename Trials<T>::Data Trials<T>::random_data(std::size_t points) const {
  constexpr Numbers kNumbers = sizeof(T) == 8 ? Numbers::float64 : Numbers::float32;
  const auto fill = [](auto& array, std::uint64_t seed) {
    fill_random(std::as_writable_bytes(array.span()), kNumbers, seed);
  };
  Data data{.axis = {},
            .strengths = base::AlignedArray<std::complex<T>>(layout_.batch * points),
            .modes = base::AlignedArray<std::complex<T>>(layout_.batch * layout_.mode_count()),
            .points = {}};
  data.points.count = points;
  for (std::size_t i = 0; i < layout_.axes; ++i) {
    data.axis[i] = base::AlignedArray<T>(points);
    fill(data.axis[i], 10 + i);
    for (T& x : data.axis[i]) x *= T(3.14159265);
    data.points.axis[i] = data.axis[i].data();
  }
  fill(data.strengths, 1);
  fill(data.modes, 2);
  return data;
}

template <class T>
void Trials<T>::run(const Variant<T>& variant, const PointSet& points, Data& data) const {
  if (layout_.type == Type::to_modes) {
    variant.to_modes(points, layout_.sign, data.strengths.data(), data.modes.data());
  } else {
    variant.to_points(points, layout_.sign, data.modes.data(), data.strengths.data());
  }
}

template <class T>
double Trials<T>::seconds(const Variant<T>& variant) {
  Data data = random_data(std::min(layout_.points, kMostTimed));
  const auto points = variant.sort(data.points);
  if (device_.is_host()) return base::best_seconds([&] { run(variant, *points, data); }, kTrial);
  const Buffer strengths = device_.buffer(data.strengths.size() * sizeof(std::complex<T>), {.name = "trial strengths"});
  const Buffer modes = device_.buffer(data.modes.size() * sizeof(std::complex<T>), {.name = "trial modes"});
  Queue queue = device_.queue();
  queue.upload(data.strengths.data(), strengths, strengths.size());
  queue.upload(data.modes.data(), modes, modes.size());
  const bool to_modes = layout_.type == Type::to_modes;
  const auto enqueue = [&] {
    variant.enqueue(queue, *points, layout_.type, layout_.sign, to_modes ? strengths : modes,
                    to_modes ? modes : strengths);
  };
  return best_device_seconds(queue, {enqueue}, kTrial).front();
}

// Compares the last set of the batch.
template <class T>
planner::Comparison Trials<T>::compare(const Variant<T>& variant) {
  Data data = random_data(std::min(layout_.points, kMostCompared));
  const bool to_modes = layout_.type == Type::to_modes;
  auto& out = to_modes ? data.modes : data.strengths;
  std::fill(out.begin(), out.end(), std::complex<T>(std::numeric_limits<T>::quiet_NaN()));
  run(variant, *variant.sort(data.points), data);
  if (layout_.real) {  // widens the reals in place, from the last one on
    const T* reals = reinterpret_cast<const T*>(data.strengths.data());
    for (std::size_t i = data.strengths.size(); i-- > 0;) data.strengths[i] = std::complex<T>(reals[i], 0);
  }
  const std::size_t sets = layout_.batch - 1;
  return compare_with_sums(layout_, data.points, data.strengths.data() + sets * data.points.count,
                           data.modes.data() + sets * layout_.mode_count(), kOutputs);
}

template class Trials<float>;
template class Trials<double>;

}  // namespace ridge::nufft
