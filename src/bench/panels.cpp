// ridge bench panels: host arrays larger than the device memory that may be used, compared with the transfers alone.
#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <functional>
#include <memory>
#include <numbers>
#include <optional>

#include <fmt/format.h>
#include <ridge/device_memory.hpp>
#include <ridge/fft.hpp>
#include <ridge/transpose.hpp>

#include "base/aligned.hpp"
#include "base/clock.hpp"
#include "base/text.hpp"
#include "base/threads.hpp"
#include "bench/bench.hpp"

namespace ridge::cli {
namespace {

struct PanelsCase {
  std::size_t size = std::size_t{4} << 30, memory = 0, rounds = 2;
  bool pageable = false;
  std::vector<std::string> only{};
};

using Complex32 = std::complex<float>;

template <class Use>
void for_all(std::size_t count, const Use& use) {
  base::parallel(0, [&](std::size_t thread, std::size_t threads) {
    const base::Share share = base::share(count, thread, threads, 4096);
    for (std::size_t i = share.begin; i < share.end; ++i) use(i);
  });
}

// A number in [-1, 1) that depends on its index only.
float noise(std::size_t i) {
  std::uint64_t x = i * 0x9e3779b97f4a7c15ULL;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93ULL;
  return static_cast<float>(static_cast<std::int32_t>(x >> 32)) * 0x1p-31F;
}

// Two arrays of the same size in host memory, page-locked or not.
class HostArrays {
 public:
  HostArrays(const Device& device, std::size_t bytes, bool pageable) : bytes_(bytes) {
    for (Part& part : parts_) {
      if (pageable) {
        part.pageable = base::AlignedArray<std::byte>(bytes);
      } else {
        part.pinned = device.buffer(bytes, {.kind = MemoryKind::pinned, .name = "host array"});
        part.mapping.emplace(part.pinned.map());
      }
      auto* const words = reinterpret_cast<float*>(data(part));
      for_all(bytes / sizeof(float), [&](std::size_t i) { words[i] = 0; });
    }
  }
  std::byte* in() { return data(parts_[0]); }
  std::byte* out() { return data(parts_[1]); }
  std::size_t bytes() const { return bytes_; }

 private:
  struct Part {
    base::AlignedArray<std::byte> pageable{};
    Buffer pinned{};
    std::optional<Mapping> mapping{};
  };
  static std::byte* data(Part& part) { return part.mapping ? part.mapping->data() : part.pageable.data(); }
  std::size_t bytes_;
  Part parts_[2];
};

// One workload: fills the input, runs, and returns the largest error of sampled values relative to the result.
struct PanelWorkload {
  std::string name;
  double passes = 1;  // over the link
  double bytes = 0;   // per pass: the larger of both directions
  std::function<void()> fill = {}, run = {};
  std::function<double()> error = {};
  std::string explanation{};
};

constexpr std::size_t kSampled = 20000, kImpulses = 7;

class PanelsBench {
 public:
  PanelsBench(const Device& device, const PanelsCase& wanted)
      : device_(device), wanted_(wanted), arrays_(device, wanted.size, wanted.pageable) {
    set_device_memory(wanted.memory == 0 ? wanted.size / 4 : wanted.memory);
    points_ = std::bit_floor(wanted.size / sizeof(Complex32));
  }
  ~PanelsBench() { set_device_memory(0); }
  PanelsBench(const PanelsBench&) = delete;
  PanelsBench& operator=(const PanelsBench&) = delete;

  // Seconds for `bytes` in both directions at the same time, in whole blocks, without computation.
  double link_seconds() {
    constexpr std::size_t kBlock = std::size_t{256} << 20;
    const std::size_t block = std::min(kBlock, arrays_.bytes());
    const Buffer up = device_.buffer(block), down = device_.buffer(block);
    Queue upload = device_.queue(), download = device_.queue();
    double best = INFINITY;
    for (std::size_t round = 0; round < 2; ++round) {
      const double begin = base::now();
      for (std::size_t at = 0; at + block <= arrays_.bytes(); at += block) {
        upload.upload(arrays_.in() + at, up, block);
        download.download(down, arrays_.out() + at, block);
      }
      upload.finish();
      download.finish();
      best = std::min(best, base::now() - begin);
    }
    return best * static_cast<double>(wanted_.size) / static_cast<double>(arrays_.bytes() / block * block);
  }

  std::vector<PanelWorkload> workloads() {
    const int bits = std::countr_zero(points_);
    const std::size_t one = 1;
    return {transform("fft complex, one axis", {points_}, false),
            transform("fft complex, two axes", {one << (bits / 2), points_ >> (bits / 2)}, false),
            transform("fft complex, three axes", {one << (bits / 3), one << (bits / 3), points_ >> (2 * (bits / 3))},
                      false),
            transform("fft real, two axes", {one << (bits / 2), points_ >> (bits / 2)}, true),
            transpose(),
            convolution()};
  }

 private:
  // Impulses at a few points; the sum of their waves is known at every value of the spectrum.
  PanelWorkload transform(const std::string& name, std::vector<std::size_t> shape, bool real) {
    std::size_t spectrum = 1;
    for (const std::size_t n : shape) spectrum *= n;
    const std::size_t samples = spectrum;
    if (real) spectrum = spectrum / shape.back() * (shape.back() / 2 + 1);
    PanelWorkload one{.name = name, .passes = 2, .bytes = 8.0 * static_cast<double>(real ? spectrum : samples)};
    auto plan = std::make_shared<fft::Plan<float>>(device_,
                                                   fft::Problem{.shape = shape,
                                                                .kind = real ? fft::Kind::real : fft::Kind::complex,
                                                                .directions = fft::Directions::forward},
                                                   planner::Options{.effort = Effort::quick});
    one.explanation = plan->explain();
    auto* const numbers = reinterpret_cast<float*>(arrays_.in());
    const auto at = [samples](std::size_t i) { return (samples / kImpulses * i + 12345 * i * i) % samples; };
    const std::size_t each = real ? 1 : 2;
    one.fill = [=] {
      for_all(samples * each, [&](std::size_t i) { numbers[i] = 0; });
      for (std::size_t i = 0; i < kImpulses; ++i) numbers[at(i) * each] = static_cast<float>(i + 1);
    };
    one.run = [=, this] {
      auto* const out = reinterpret_cast<Complex32*>(arrays_.out());
      if (real) {
        plan->forward(std::span<const float>(numbers, samples), std::span(out, spectrum));
      } else {
        plan->forward(std::span<const Complex32>(reinterpret_cast<Complex32*>(numbers), samples),
                      std::span(out, spectrum));
      }
    };
    one.error = [=, this] {
      auto lengths = shape;
      if (real) lengths.back() = shape.back() / 2 + 1;
      const auto* const out = reinterpret_cast<Complex32*>(arrays_.out());
      double worst = 0;
      for (std::size_t s = 0; s < kSampled; ++s) {
        const std::size_t k = (spectrum / kSampled * s + s * s) % spectrum;
        std::complex<double> expected;
        for (std::size_t i = 0; i < kImpulses; ++i) {
          double turns = 0;
          std::size_t point = at(i), value = k;
          for (std::size_t axis = shape.size(); axis-- > 0;) {
            const std::size_t p = point % shape[axis], v = value % lengths[axis];
            point /= shape[axis], value /= lengths[axis];
            turns += static_cast<double>(p * v % shape[axis]) / static_cast<double>(shape[axis]);
          }
          expected += static_cast<double>(i + 1) * std::polar(1.0, -2 * std::numbers::pi * turns);
        }
        const double error = std::abs(std::complex<double>(out[k]) - expected) / kImpulses;
        worst = std::max(worst, std::isnan(error) ? INFINITY : error);
      }
      return worst;
    };
    return one;
  }

  PanelWorkload transpose() {
    const int bits = std::countr_zero(points_);
    const std::size_t rows = std::size_t{1} << ((bits + 1) / 2), columns = 2 * points_ / rows;
    PanelWorkload one{.name = "transpose, 4 bytes", .bytes = 8.0 * static_cast<double>(points_)};
    auto plan = std::make_shared<transpose::Plan<float>>(device_, transpose::Problem{.rows = rows, .columns = columns},
                                                         planner::Options{.effort = Effort::quick});
    one.explanation = plan->explain();
    auto* const in = reinterpret_cast<float*>(arrays_.in());
    auto* const out = reinterpret_cast<float*>(arrays_.out());
    one.fill = [=] { for_all(rows * columns, [&](std::size_t i) { in[i] = noise(i); }); };
    one.run = [=] { plan->run(std::span<const float>(in, rows * columns), std::span(out, rows * columns)); };
    one.error = [=] {
      std::size_t wrong = 0;
      for (std::size_t s = 0; s < kSampled; ++s) {
        const std::size_t i = (rows * columns / kSampled * s + s * s) % (rows * columns);
        if (!(out[i % columns * rows + i / columns] == noise(i))) ++wrong;
      }
      return static_cast<double>(wrong);
    };
    return one;
  }

  PanelWorkload convolution() {
    constexpr std::size_t kFilter = 1000;
    const std::size_t size = 2 * points_ - kFilter;
    PanelWorkload one{.name = "convolution, 1000 weights", .bytes = 8.0 * static_cast<double>(points_)};
    std::vector<float> weights(kFilter);
    for (std::size_t i = 0; i < kFilter; ++i) weights[i] = noise(i + 7);
    auto plan = std::make_shared<fft::Convolution<float>>(device_, std::span<const float>(weights));
    one.explanation = plan->explain();
    auto* const in = reinterpret_cast<float*>(arrays_.in());
    auto* const out = reinterpret_cast<float*>(arrays_.out());
    one.fill = [=] { for_all(size, [&](std::size_t i) { in[i] = noise(i); }); };
    one.run = [=] { plan->run(std::span<const float>(in, size), std::span(out, size + kFilter - 1)); };
    one.error = [=] {
      double worst = 0;
      for (std::size_t s = 0; s < kSampled / 10; ++s) {
        const std::size_t k = (size / (kSampled / 10) * s + s * s) % (size + kFilter - 1);
        double expected = 0;
        for (std::size_t m = 0; m < kFilter; ++m) {
          if (k >= m && k - m < size) expected += static_cast<double>(weights[m]) * static_cast<double>(noise(k - m));
        }
        const double error =
            std::abs(static_cast<double>(out[k]) - expected) / std::sqrt(static_cast<double>(kFilter) / 9);
        worst = std::max(worst, std::isnan(error) ? INFINITY : error);
      }
      return worst;
    };
    return one;
  }

  Device device_;
  PanelsCase wanted_;
  HostArrays arrays_;
  std::size_t points_ = 0;
};

BenchResult bench_panels(const Device& device, const PanelsCase& wanted, const Tell& tell) {
  constexpr double kGate = 2e-6;
  tell("allocating host arrays");
  PanelsBench bench(device, wanted);
  BenchResult result;
  const double link = bench.link_seconds(), size = static_cast<double>(wanted.size);
  result.notes.push_back(fmt::format(
      "{}: {} in each direction at the same time take {:.3f} s ({:.1f} GB/s each) with {} arrays", device.id(),
      base::human_bytes(size), link, size / link * 1e-9, wanted.pageable ? "pageable" : "page-locked"));
  for (const PanelWorkload& one : bench.workloads()) {
    const auto asked = [&](const std::string& part) { return one.name.find(part) != std::string::npos; };
    if (!wanted.only.empty() && std::none_of(wanted.only.begin(), wanted.only.end(), asked)) continue;
    tell(one.name);
    one.fill();
    double best = INFINITY;
    for (std::size_t round = 0; round < wanted.rounds; ++round) {
      const double begin = base::now();
      one.run();
      best = std::min(best, base::now() - begin);
    }
    const double error = one.error(), floor = one.passes * link * one.bytes / size;
    if (!(error <= kGate)) result.disagreements.push_back(fmt::format("{}: error {:.3g}", one.name, error));
    result.rows.push_back(row_of(device, one.name, fmt::format("{:.0f} pass{}", one.passes, one.passes > 1 ? "es" : ""),
                                 best, 0, 2 * one.passes * one.bytes));
    result.rows.back().more = {{"share_of_link", floor / best}, {"error", error}};
    result.notes.push_back(fmt::format("{}: {:.2f} of the transfers alone ({:.3f} s), largest error {:.2g}", one.name,
                                       floor / best, floor, error));
    result.explanation += one.explanation;
  }
  return result;
}

}  // namespace

Workload bench_of_panels() {
  auto wanted = std::make_shared<PanelsCase>();
  Workload bench{
      .name = "panels",
      .about = "Time transforms, a transpose and a convolution of host arrays larger than the device memory"};
  bench.footer =
      "\nExamples:\n"
      "  ridge bench panels --device cuda:0 --size 32G --device-memory 8G\n"
      "  ridge bench panels --device cuda:0 --size 8G --pageable --only transpose\n"
      "\nThe arrays are in page-locked host memory (--pageable: in ordinary memory) and pass through the device in "
      "panels.\n"
      "The notes have the share of the time of the transfers alone, in both directions at the same time. Sampled "
      "values\n"
      "of every result are compared with sums of impulses, or with plain loops.";
  bench.add_options = [=](Command& command) {
    command.bytes("--size", wanted->size, "Bytes of each of the two host arrays [4G]");
    command.bytes("--device-memory", wanted->memory, "Device memory that may be used [a quarter of --size]");
    command.option("--rounds", wanted->rounds, "Runs of each; the fastest counts").shows_default().between(1, 100);
    command.flag("--pageable", wanted->pageable, "Use pageable instead of page-locked host arrays");
    command.option("--only", wanted->only, "Workloads whose names contain this; may be repeated");
  };
  bench.tables = [=](const BenchOptions& options, const mpi::Communicator&) {
    BenchTable table("Panels", "Bytes: both directions of all passes over the link.");
    table.at_end = true;
    std::vector<std::string> names = options.devices;
    if (names.empty()) names.push_back("");
    for (const std::string& name : names) {
      const Device device = ridge::device(name);
      if (device.is_host()) mistake("bench panels: needs a device other than the host");
      table.cases.push_back({fmt::format("panels on {}", device.id()),
                             [=](const Tell& tell) { return bench_panels(device, *wanted, tell); }});
    }
    return std::vector{table};
  };
  return bench;
}

}  // namespace ridge::cli
