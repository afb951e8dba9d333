// Rounds voltages, packs them for the matrix units, and launches the beams of byte_beams.cl.
#include "search/device/rounded_beams.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>
#include <ridge/half.hpp>

#include "base/threads.hpp"
#include "search/beam_rounding.hpp"

namespace ridge::search {
namespace {

using Value = std::complex<float>;
constexpr std::size_t kJoined = 8;  // times per sum of ByteBeams

std::size_t parts_of(const BeamProblem& p) { return (p.integrate + kJoined - 1) / kJoined; }
std::size_t up_to(std::size_t value, std::size_t factor) { return (value + factor - 1) / factor * factor; }

ByteBeamProblem shape_of(const BeamProblem& p, std::size_t stations, std::size_t times_factor) {
  const std::size_t times = p.times / p.integrate * parts_of(p) * kJoined;
  return {.stations = stations,
          .beams = p.beams,
          .channels = p.channels,
          .polarizations = 1,
          .times = up_to(times, times_factor),
          .float16 = p.arithmetic == BeamArithmetic::float16};
}

// Stations without voltages fill the rows for products of warp groups.
ByteBeamProblem shape_for_warp_groups(const BeamProblem& p) {
  return shape_of(p, up_to(p.stations, p.arithmetic == BeamArithmetic::float16 ? 32 : 64), 128);
}

bool by_warp_groups(const Device& device, const BeamProblem& p) {
  return ByteBeams::warp_group_refusal(device, shape_for_warp_groups(p)).empty();
}

ByteBeamProblem checked_shape(const Device& device, const BeamProblem& p) {
  if (by_warp_groups(device, p)) return shape_for_warp_groups(p);
  const ByteBeamProblem shape = shape_of(p, p.stations, 64);
  if (const std::string why = ByteBeams::refusal(device, shape); !why.empty()) {
    throw Error(ErrorKind::invalid_argument, fmt::format("beams: {} on {} {}: use float32 or the host",
                                                         shape.float16 ? "float16" : "int8", device.id(), why));
  }
  return shape;
}

// Adds weights of zero for the stations without voltages.
std::vector<Value> filled_up(std::span<const Value> weights, std::size_t stations, std::size_t filled) {
  std::vector<Value> all(weights.size() / stations * filled);
  for (std::size_t i = 0; i < weights.size(); ++i) all[i / stations * filled + i % stations] = weights[i];
  return all;
}

}  // namespace

RoundedBeams::RoundedBeams(const Device& device, const BeamProblem& problem, std::span<const Value> weights,
                           float weight_scale)
    : problem_(problem),
      weight_scale_(weight_scale),
      parts_(parts_of(problem)),
      shape_(checked_shape(device, problem)),
      beams_(device, shape_, by_warp_groups(device, problem)),
      queue_(device.queue()) {
  const auto buffer = [&](std::size_t bytes, const char* name) { return device.buffer(bytes, {.name = name}); };
  in_ = buffer(shape_.packed_bytes(), "packed voltages"), table_ = buffer(shape_.weight_bytes(), "packed weights");
  sums_ = buffer(shape_.beams * shape_.channels * (shape_.times / kJoined) * sizeof(float), "sums of powers");
  out_ = buffer(shape_.channels * rows() * bins() * sizeof(float), "power");
  packed_.assign(shape_.packed_bytes(), std::byte{0});
  if (problem.incoherent) own_.resize(shape_.channels * bins());
  const std::vector<std::byte> table = beams_.weights(filled_up(weights, problem.stations, shape_.stations), 1);
  queue_.upload(std::span<const std::byte>(table), table_);
  // No kernel writes the rows of the incoherent beam, but they are downloaded with the others.
  if (problem.incoherent) queue_.fill(out_, std::byte{0});
  queue_.finish();
}

// Packs the voltages, computes the incoherent beam and runs. `store(i, to)` writes voltage i, rounded, and returns its
// power.
template <class Store>
void RoundedBeams::pack(float voltage_scale, const Store& store, float* out) {
  const BeamProblem& p = problem_;
  const std::size_t bytes = shape_.float16 ? 4 : 2, jobs = p.channels * bins();
  base::parallel(p.threads, [&](std::size_t thread, std::size_t of) {
    const base::Share mine = base::share(jobs, thread, of);
    for (std::size_t job = mine.begin; job < mine.end; ++job) {
      const std::size_t channel = job / bins(), bin = job % bins();
      double own = 0;
      for (std::size_t t = 0; t < p.integrate; ++t) {
        const std::size_t time = bin * parts_ * kJoined + t;
        const std::size_t from = (channel * p.times + bin * p.integrate + t) * p.stations;
        for (std::size_t s = 0; s < p.stations; ++s)
          own += static_cast<double>(store(from + s, packed_.data() + beams_.place(channel, 0, time, s * bytes)));
      }
      if (p.incoherent) own_[job] = static_cast<float>(own / std::pow(static_cast<double>(voltage_scale), 2));
    }
  });
  run(voltage_scale, out);
}

void RoundedBeams::run(float voltage_scale, float* out) {
  const BeamProblem& p = problem_;
  const std::size_t sums = shape_.times / kJoined;
  // Applied twice by join(), because the square of the scale may exceed the range of float.
  const double factor = 1 / (static_cast<double>(voltage_scale) * static_cast<double>(weight_scale_));
  const double most = std::numeric_limits<float>::max();
  queue_.upload(std::span<const std::byte>(packed_), in_);
  beams_.power(queue_, in_, table_, sums_, sums, 0);
  beams_.join(queue_, sums_, sums, parts_, static_cast<float>(std::min(factor, most)), out_, rows(), bins());
  queue_.download(out_, out, p.channels * rows() * bins() * sizeof(float));
  queue_.finish();
  for (std::size_t i = 0; i < own_.size(); ++i) out[(i / bins() * rows() + p.beams) * bins() + i % bins()] = own_[i];
}

void RoundedBeams::power(const Value* in, float* out) {
  const float scale = problem_.scale;
  const auto store_bytes = [&](std::size_t i, std::byte* to) {
    const Value value = rounded(in[i], scale, BeamArithmetic::int8);
    to[0] = static_cast<std::byte>(static_cast<std::int8_t>(value.real()));
    to[1] = static_cast<std::byte>(static_cast<std::int8_t>(value.imag()));
    return std::norm(value);
  };
  const auto store_float16 = [&](std::size_t i, std::byte* to) {
    const Value value = rounded(in[i], scale, BeamArithmetic::float16);
    const std::array<std::uint16_t, 2> parts{to_float16(value.real()), to_float16(value.imag())};
    std::memcpy(to, parts.data(), sizeof(parts));
    return std::norm(value);
  };
  problem_.arithmetic == BeamArithmetic::int8 ? pack(scale, store_bytes, out) : pack(scale, store_float16, out);
}

void RoundedBeams::power(const std::int8_t* in, float* out) {
  pack(
      1,
      [&](std::size_t i, std::byte* to) {
        std::memcpy(to, in + 2 * i, 2);
        return static_cast<float>(in[2 * i] * in[2 * i] + in[2 * i + 1] * in[2 * i + 1]);
      },
      out);
}

}  // namespace ridge::search
