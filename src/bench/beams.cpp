// ridge bench beams: times the products and powers of beams on a device's matrix units.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>

#include <fmt/format.h>
#include <ridge/half.hpp>

#include "bench/bench.hpp"
#include "search/device/byte_beams.hpp"

namespace ridge::cli {
namespace {

constexpr std::size_t kJoined = 8;  // times per power

struct BeamsCase {
  std::size_t stations = 64, beams = 512, channels = 512, polarizations = 1, times = 2048;
  std::string arithmetic = "int8";
  double seconds = 0.1;
};

// Random values of one arithmetic: bytes of standard deviation 24, or 16-bit floats of 1.
std::vector<std::byte> random_values(bool float16, std::size_t bytes, std::uint64_t seed) {
  constexpr std::size_t kDrawn = std::size_t{1} << 20;  // repeated, an odd number of values later each time
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  std::vector<std::byte> drawn(std::min(bytes, kDrawn)), all;
  for (std::size_t i = 0; i + 1 < drawn.size(); i += float16 ? 2 : 1) {
    if (float16) {
      const std::uint16_t value = to_float16(normal(random));
      std::memcpy(&drawn[i], &value, 2);
    } else {
      drawn[i] = static_cast<std::byte>(static_cast<std::int8_t>(std::clamp(24 * normal(random), -127.0F, 127.0F)));
    }
  }
  all.reserve(bytes + drawn.size());
  while (all.size() < bytes) {
    const auto skipped = static_cast<std::ptrdiff_t>(random() % (drawn.size() / 2) / 2 * 2);
    all.insert(all.end(), drawn.begin() + skipped, drawn.end());
  }
  all.resize(bytes);
  return all;
}

double value_at(const std::byte* at, bool float16) {
  if (!float16) return static_cast<double>(static_cast<std::int8_t>(*at));
  std::uint16_t bits = 0;
  std::memcpy(&bits, at, 2);
  return static_cast<double>(from_float16(bits));
}

class BeamsRun {
 public:
  BeamsRun(const Device& device, const search::ByteBeamProblem& shape, bool warp_groups)
      : shape_(shape), beams_(device, shape, warp_groups), queue_(device.queue()) {
    samples_ = random_values(shape.float16, shape.packed_bytes(), 1);
    weights_ = random_values(shape.float16, shape.weight_bytes(), 2);
    in_ = device.buffer(samples_.size(), {.name = "packed samples"});
    table_ = device.buffer(weights_.size(), {.name = "weights"});
    out_ = device.buffer(shape.beams * shape.channels * bins() * sizeof(float), {.name = "power"});
    queue_.upload(std::span<const std::byte>(samples_), in_);
    queue_.upload(std::span<const std::byte>(weights_), table_);
    queue_.finish();
  }
  void run() { beams_.power(queue_, in_, table_, out_, bins(), 0); }
  Queue& queue() { return queue_; }
  std::size_t bins() const { return shape_.times / kJoined; }
  double bytes() const {
    return static_cast<double>(samples_.size() + weights_.size()) + static_cast<double>(out_.size());
  }

  // Largest relative error of some powers, compared with sums in double.
  double error() {
    constexpr std::size_t kCompared = 64;
    run();
    double worst = 0;
    for (std::size_t i = 0; i < kCompared; ++i) {
      const std::size_t beam = i * 40503 % shape_.beams, channel = i * 2654435761 % shape_.channels,
                        bin = i * 7919 % bins();
      float power = 0;
      queue_.download(out_, &power, sizeof(power), ((beam * shape_.channels + channel) * bins() + bin) * sizeof(float));
      queue_.finish();
      const double expected = exact(beam, channel, bin), apart = std::abs(power - expected) / expected;
      worst = std::max(worst, std::isnan(apart) ? HUGE_VAL : apart);
    }
    return worst;
  }

 private:
  double exact(std::size_t beam, std::size_t channel, std::size_t bin) const {
    const std::size_t row = shape_.row_bytes(), value = shape_.float16 ? 2 : 1;
    double power = 0;
    for (std::size_t k = 0; k < kJoined * shape_.polarizations; ++k) {
      const std::size_t polarization = k / kJoined, time = bin * kJoined + k % kJoined;
      const std::size_t first =
          (channel * shape_.polarizations + polarization) * shape_.padded() * 2 + beam / 8 * 16 + beam % 8;
      double parts[2] = {0, 0};  // the rows of weights of the real and the imaginary part
      for (std::size_t at = 0; at < row; at += value) {
        const double sample = value_at(&samples_[beams_.place(channel, polarization, time, at)], shape_.float16);
        for (std::size_t part = 0; part < 2; ++part)
          parts[part] += sample * value_at(&weights_[(first + 8 * part) * row + at], shape_.float16);
      }
      power += parts[0] * parts[0] + parts[1] * parts[1];
    }
    return power;
  }

  search::ByteBeamProblem shape_;
  search::ByteBeams beams_;
  Queue queue_;
  std::vector<std::byte> samples_, weights_;
  Buffer in_, table_, out_;
};

BenchResult bench_beams(const Device& device, const BeamsCase& wanted, const std::string& variant) {
  const search::ByteBeamProblem shape{.stations = wanted.stations,
                                      .beams = wanted.beams,
                                      .channels = wanted.channels,
                                      .polarizations = wanted.polarizations,
                                      .times = wanted.times,
                                      .float16 = wanted.arithmetic == "float16"};
  BenchResult result;
  for (const bool warp_groups : {false, true}) {
    const std::string name = warp_groups ? "warp_groups" : "warps";
    if (!variant.empty() && variant != name) continue;
    const std::string why =
        warp_groups ? search::ByteBeams::warp_group_refusal(device, shape) : search::ByteBeams::refusal(device, shape);
    if (!why.empty()) {
      result.notes.push_back(fmt::format("{} {}: {}", device.id(), name, why));
      continue;
    }
    BeamsRun run(device, shape, warp_groups);
    const report::BenchRow row = timed_row(
        run.queue(), device,
        fmt::format("beams {} stations x {}, {} beams, {} channels, {} times, {}", wanted.stations,
                    wanted.polarizations, wanted.beams, wanted.channels, wanted.times, wanted.arithmetic),
        {.name = name, .call = [&] { run.run(); }, .flops = shape.operations(), .bytes = run.bytes()}, wanted.seconds);
    const double error = run.error();
    result.rows.push_back(row);
    result.notes.push_back(fmt::format("{} {} {}: {:.1f} TOP/s, powers within {:.1e} of sums in double", device.id(),
                                       name, wanted.arithmetic, 1e-12 * shape.operations() / row.seconds, error));
    if (!(error <= 1e-4)) result.disagreements.push_back(fmt::format("{} differs from sums in double", name));
  }
  if (result.rows.empty()) mistake("bench beams: " + (result.notes.empty() ? "no such variant" : result.notes.front()));
  return result;
}

}  // namespace

Workload bench_of_beams() {
  auto wanted = std::make_shared<BeamsCase>();
  Workload bench{.name = "beams", .about = "Time the power of beams on the matrix units of a device"};
  bench.footer =
      "\nExamples:\n"
      "  ridge bench beams --device cuda:0 --polarizations 2\n"
      "  ridge bench beams --device cuda:0 --arithmetic float16\n"
      "\nWeighted sums of all stations and their power, summed over 8 times and all polarizations; samples are packed "
      "in\n"
      "device memory. Variants: warps (matrix units of every device) and warp_groups (wgmma of Hopper). GFLOP/s counts "
      "8\n"
      "operations per station, beam, channel, polarization and time.";
  bench.add_options = [=](Command& command) {
    command.option("--stations", wanted->stations, "Stations").shows_default().between(1, 128);
    command.option("--beams", wanted->beams, "Beams").shows_default().between(1, 65536);
    command.option("--channels", wanted->channels, "Channels").shows_default().between(1, 65536);
    command.option("--polarizations", wanted->polarizations, "Polarizations, whose powers are added")
        .shows_default()
        .between(1, 2);
    command.option("--times", wanted->times, "Times per channel, a multiple of 128")
        .shows_default()
        .between(128, 1 << 20);
    command.option("--arithmetic", wanted->arithmetic, "Number type of samples and weights")
        .shows_default()
        .one_of({"int8", "float16"});
    add_seconds(command, wanted->seconds, "Time per variant, in seconds");
  };
  bench.tables = [=](const BenchOptions& options, const mpi::Communicator&) {
    if (wanted->times % 128 != 0)
      mistake(fmt::format("bench beams: --times must be a multiple of 128, got {}", wanted->times));
    BenchTable table("Beams", "Weighted sums of stations on the matrix units, and their power.");
    table.at_end = table.notes_first = true;
    add_accelerators(table, options, "beams",
                     [=](const Device& device) { return bench_beams(device, *wanted, options.variant); });
    return std::vector{table};
  };
  return bench;
}

}  // namespace ridge::cli
