// Times the loops of the host on all threads and on one, by levels of the cache.
#include "machine/host/probes.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <string>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/threads.hpp"
#include "machine/host/kernels.hpp"

namespace ridge::machine {
namespace {

constexpr std::size_t kPage = 4096;

// Duration of a task: long compared with its start and end, short enough to fit between two interruptions.
constexpr double kTaskSeconds = 4e-3;
constexpr std::size_t kLongTask = 8;  // a long task is this many times longer
// Blocks per thread for dynamic scheduling. A core shared with another virtual machine does half the work of the
// others; with static shares it would limit the rate of all.
constexpr std::size_t kPieces = 16;

// Results are stored here, so that the compiler cannot remove a probe's work.
std::atomic<double> sink{0};

std::size_t round_down(std::size_t value, std::size_t to) { return value / to * to; }

using Pass = std::function<void(std::size_t thread)>;  // one pass over a thread's block

// Passes per task for a duration of about `target` seconds.
std::size_t passes_for(std::size_t threads, const Pass& pass, double target) {
  pass(0);
  double start = base::now();
  pass(0);
  const double once = std::max(base::now() - start, 1e-8);
  return static_cast<std::size_t>(std::clamp(target / once / (threads > 1 ? 2 : 1), 1.0, 1e7));
}

// Bytes per second of each kind of pass, measured alternately.
std::vector<double> rates(HostPieces& pieces, const std::vector<Pass>& walks, const std::vector<double>& bytes,
                          double seconds) {
  const double slice = seconds / static_cast<double>(walks.size());
  std::vector<std::function<void()>> calls;
  std::vector<std::size_t> passes;
  for (const auto& walk : walks) {
    passes.push_back(passes_for(pieces.threads(), walk, std::clamp(slice / 8, 2e-4, kTaskSeconds)));
    calls.push_back([&pieces, &walk, count = passes.back()] {
      base::parallel(pieces.threads(), [&](std::size_t thread, std::size_t) {
        for (std::size_t pass = 0; pass < count; ++pass) walk(thread);
      });
    });
  }
  const auto best = base::best_seconds_interleaved(calls, {.seconds = slice, .at_least = 3});
  std::vector<double> result;
  for (std::size_t i = 0; i < walks.size(); ++i)
    result.push_back(bytes[i] * static_cast<double>(passes[i] * pieces.threads()) / best[i]);
  return result;
}

std::vector<Pass> copy_walks(HostPieces& pieces) {
  const std::size_t half = pieces.half();
  return {[&pieces, half](std::size_t t) { copy_bytes(pieces.from(t), pieces.to(t), half); },
          [&pieces, half](std::size_t t) { std::memcpy(pieces.to(t), pieces.from(t), half); },
          [&pieces, half](std::size_t t) { copy_bytes_streaming(pieces.from(t), pieces.to(t), half); }};
}

template <class Chains>
double flops(std::size_t threads, double seconds, double an_iteration, const Chains& chains) {
  std::size_t iterations = 1000;
  // On this thread alone: a slow wake-up of other threads would be counted as work and give too few iterations.
  const double target = std::clamp(seconds / 8, 2e-3, kTaskSeconds);
  for (;;) {
    const double start = base::now();
    sink.store(chains(iterations), std::memory_order_relaxed);
    if (base::now() - start >= target / 2 || iterations > (1u << 30)) break;
    iterations *= 2;
  }
  // If waking many threads takes a large part of a short task, the longer task shows the rate.
  std::vector<std::size_t> lengths{iterations};
  if (threads > 1 && seconds >= kLongTask * kTaskSeconds) lengths.push_back(kLongTask * iterations);
  std::vector<std::function<void()>> calls;
  for (std::size_t& length : lengths) length = (length + kPieces - 1) / kPieces * kPieces;
  for (const std::size_t length : lengths) {
    calls.emplace_back([&, length] {
      std::atomic<std::size_t> next{0};
      base::parallel(threads, [&](std::size_t, std::size_t) {
        while (next.fetch_add(1, std::memory_order_relaxed) < kPieces * threads)
          sink.store(chains(length / kPieces), std::memory_order_relaxed);
      });
    });
  }
  const double each = seconds / static_cast<double>(lengths.size());
  const std::vector<double> best = base::best_seconds_interleaved(calls, {.seconds = each, .at_least = 3});
  double rate = 0;
  for (std::size_t i = 0; i < best.size(); ++i)
    rate = std::max(rate, an_iteration * static_cast<double>(lengths[i] * threads) / best[i]);
  return rate;
}

}  // namespace

HostPieces::HostPieces(std::size_t threads, std::size_t bytes_per_thread)
    : threads_(threads),
      half_(std::max<std::size_t>(round_down(bytes_per_thread / 2, 2 * base::kAlignment), 4096)),
      stride_((2 * half_ + 2048 + 2 * kPage - 1) / kPage * kPage),
      memory_(threads * stride_) {
  base::parallel(threads_, [&](std::size_t thread, std::size_t) {
    for (std::size_t word = 0; word < stride_ / 8; ++word) {
      const std::uint64_t value =
          word * 0x9e3779b97f4a7c15u + thread;  // never zero, which hardware may treat specially
      std::memcpy(from(thread) + word * 8, &value, 8);
    }
  });
}

Bandwidth host_bandwidth(HostPieces& pieces, bool best_of_all, double seconds) {
  const std::size_t half = pieces.half();
  auto walks = copy_walks(pieces);
  walks.insert(walks.end(),
               {[&](std::size_t t) {
                  sink.store(static_cast<double>(read_bytes(pieces.from(t), half) ^ read_bytes(pieces.to(t), half)),
                             std::memory_order_relaxed);
                },
                [&](std::size_t t) { write_bytes(pieces.to(t), half, 0x3ff8000000000001u + t); },
                [&](std::size_t t) { std::memset(pieces.to(t), static_cast<int>(t + 1), half); },
                [&](std::size_t t) { write_bytes_streaming(pieces.to(t), half, 0x3ff8000000000001u + t); }});
  const double one = static_cast<double>(half), two = 2 * one;
  const auto rate = rates(pieces, walks, {two, two, two, two, one, one, one}, seconds);
  Bandwidth result;
  result.copy = std::max(rate[0], rate[1]);
  result.read = rate[3];
  result.write = std::max(rate[4], rate[5]);
  if (has_streaming_stores()) {
    result.copy_streaming = rate[2];
    result.write_streaming = rate[6];
    if (best_of_all) result.copy = std::max(result.copy, rate[2]);
  }
  return result;
}

double host_copy_bandwidth(HostPieces& pieces, double seconds) {
  const double two = 2 * static_cast<double>(pieces.half());
  const auto rate = rates(pieces, copy_walks(pieces), {two, two, two}, seconds);
  return *std::max_element(rate.begin(), rate.end());
}

double host_flops_float(std::size_t threads, double seconds) {
  return flops(threads, seconds, fma_shape_float().flops(),
               [](std::size_t iterations) { return fma_chains_float(iterations, 0.75f); });
}

double host_flops_double(std::size_t threads, double seconds) {
  return flops(threads, seconds, fma_shape_double().flops(),
               [](std::size_t iterations) { return fma_chains_double(iterations, 0.75); });
}

double host_launch_seconds(double seconds) {
  return base::best_seconds([] { base::parallel(0, [](std::size_t, std::size_t) {}); },
                            {.seconds = seconds, .at_least = 3, .round = std::clamp(seconds / 20, 1e-4, 1e-2)});
}

std::size_t host_memory_probe_bytes(const std::vector<Cache>& caches, bool quick) {
  constexpr std::size_t kMega = 1u << 20;
  const Cache& last = caches.back();
  const std::size_t instances = (base::hardware_threads() + last.shared_by - 1) / last.shared_by;
  std::size_t bytes = std::clamp<std::size_t>(4 * last.size * instances, 256 * kMega, 1024 * kMega);
  if (quick) bytes = std::min<std::size_t>(bytes, 64 * kMega);  // for tests
  if (const std::size_t free = free_host_memory(); free != 0) bytes = std::min(bytes, free / 4);
  return std::max<std::size_t>(bytes, 8 * kMega);
}

Level host_level(const Cache* cache, const std::vector<Cache>& caches, bool quick, double seconds) {
  const std::size_t threads = base::hardware_threads();
  Level level;
  std::size_t of_one = 0, of_each = 0;
  if (cache == nullptr) {
    const std::size_t bytes = host_memory_probe_bytes(caches, quick);
    level.name = "memory";
    level.capacity = host().limits().memory;
    of_one = bytes / 2;
    of_each = bytes / threads;
  } else {
    level.name = fmt::format("L{}", cache->level);
    level.capacity = cache->size * ((threads + cache->shared_by - 1) / cache->shared_by);
    of_one = cache->size / 2;
    of_each = cache->size / 2 / cache->shared_by;
  }
  const bool memory = cache == nullptr;
  {
    HostPieces pieces(threads, of_each);
    level.all = host_bandwidth(pieces, memory, seconds * 0.6);
  }
  if (threads == 1) {
    level.one = level.all;
  } else {
    HostPieces pieces(1, of_one);
    level.one = host_bandwidth(pieces, memory, seconds * 0.4);
  }
  return level;
}

}  // namespace ridge::machine
