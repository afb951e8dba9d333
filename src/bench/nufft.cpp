// ridge bench nufft: times nonuniform transforms of sorted points, and FINUFFT where its library is found.
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <ctime>
#include <numbers>

#include <fmt/format.h>
#include <ridge/nufft.hpp>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "bench/bench.hpp"
#include "bench/lengths.hpp"
#include "device/random.hpp"
#include "device/timing.hpp"
#include "nufft/reference.hpp"

namespace ridge::cli {
namespace {

struct NufftCase {
  std::string modes = "256x256", numbers = "f32", places = "uniform";
  std::size_t points = std::size_t{1} << 20, type = 0, threads = 0;
  double epsilon = 1e-6, seconds = 0.5;
  bool slopes = false;
};

template <class T>
struct NufftData {
  std::array<std::vector<T>, 3> axis;
  std::vector<std::complex<T>> strengths, modes;
};

// Uniform over the period, or within 1/100 of it per axis.
template <class T>
NufftData<T> random_data(const NufftCase& wanted, const std::vector<std::size_t>& modes) {
  constexpr Numbers kNumbers = sizeof(T) == 8 ? Numbers::float64 : Numbers::float32;
  NufftData<T> data;
  const T scale = std::numbers::pi_v<T> * (wanted.places == "cluster" ? T(0.01) : T(1));
  for (std::size_t i = 0; i < modes.size(); ++i) {
    data.axis[i].resize(wanted.points);
    fill_random(std::as_writable_bytes(std::span(data.axis[i])), kNumbers, 10 + i);
    for (T& x : data.axis[i]) x *= scale;
  }
  std::size_t count = 1;
  for (const std::size_t n : modes) count *= n;
  data.strengths.resize(wanted.points);
  data.modes.resize(count);
  fill_random(std::as_writable_bytes(std::span(data.strengths)), kNumbers, 1);
  fill_random(std::as_writable_bytes(std::span(data.modes)), kNumbers, 2);
  return data;
}

// FINUFFT through its C interface, which has been the same since version 2. Options are its defaults; OMP_NUM_THREADS
// sets its threads.
class Finufft {
 public:
  Finufft() {
    const char* path = std::getenv("RIDGE_FINUFFT");
    library_ = ::dlopen(path != nullptr ? path : "libfinufft.so", RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) {
      throw Error(ErrorKind::unavailable,
                  "finufft: libfinufft.so was not found; name its file in the variable RIDGE_FINUFFT");
    }
  }
  // Returns a function that runs once; the points are sorted here.
  template <class T>
  std::function<void()> prepare(const nufft::Problem& problem, NufftData<T>& data) const {
    const std::string prefix = sizeof(T) == 8 ? "finufft_" : "finufftf_";
    const auto make = symbol<int(int, int, const std::int64_t*, int, int, T, void**, void*)>(prefix + "makeplan");
    const auto set = symbol<int(void*, std::int64_t, T*, T*, T*, std::int64_t, T*, T*, T*)>(prefix + "setpts");
    const auto execute = symbol<int(void*, std::complex<T>*, std::complex<T>*)>(prefix + "execute");
    const auto destroy = symbol<int(void*)>(prefix + "destroy");
    std::vector<std::int64_t> modes(problem.modes.rbegin(), problem.modes.rend());  // FINUFFT: fastest first
    const auto axes = static_cast<int>(modes.size());
    T* places[3] = {nullptr, nullptr, nullptr};
    for (std::size_t i = 0; i < modes.size(); ++i) places[i] = data.axis[modes.size() - 1 - i].data();
    std::shared_ptr<void> held;
    int failed = 0;
    // Version 2.6 refuses errors that float does not reach, some of them in setpts; it is then asked for larger ones.
    for (double epsilon = problem.epsilon; epsilon < 100 * problem.epsilon; epsilon *= 1.25) {
      void* plan = nullptr;
      failed = make(static_cast<int>(problem.type), axes, modes.data(), problem.sign, 1, static_cast<T>(epsilon), &plan,
                    nullptr);
      if (failed > 1 || plan == nullptr) continue;
      held.reset(plan, [destroy](void* made) { destroy(made); });
      failed = set(plan, static_cast<std::int64_t>(data.strengths.size()), places[0], places[1], places[2], 0, nullptr,
                   nullptr, nullptr);
      if (failed > 1) continue;
      if (epsilon > problem.epsilon) {
        base::warn(fmt::format("finufft: refuses {:.1e}, is timed with {:.1e}", problem.epsilon, epsilon));
      }
      break;
    }
    if (failed > 1) throw Error(ErrorKind::unavailable, fmt::format("finufft: refuses the problem (code {})", failed));
    return [held, execute, &data] { execute(held.get(), data.strengths.data(), data.modes.data()); };
  }

 private:
  template <class Function>
  Function* symbol(const std::string& name) const {
    void* found = ::dlsym(library_, name.c_str());
    if (found == nullptr) throw Error(ErrorKind::unavailable, fmt::format("finufft: has no function {}", name));
    return reinterpret_cast<Function*>(found);
  }
  void* library_;  // never closed: its threads may outlive a run
};

// Compares the timed run's result, on its own points, with direct sums of about 2^28 terms in all.
template <class T>
void compare_result(const nufft::Problem& problem, NufftData<T>& data, Queue& queue, const Buffer& result,
                    const std::string& variant) {
  const bool to_modes = problem.type == nufft::Type::to_modes;
  auto& out = to_modes ? data.modes : data.strengths;
  queue.download(result, out.data(), result.size());
  queue.finish();
  nufft::Coordinates<T> points{.count = problem.points};
  for (std::size_t i = 0; i < 3; ++i) points.axis[i] = data.axis[i].data();
  const std::size_t terms = to_modes ? data.strengths.size() : data.modes.size();
  const std::size_t outputs = std::clamp<std::size_t>((std::size_t{1} << 28) / terms, 4, 64);
  const planner::Comparison found =
      nufft::compare_with_sums(nufft::resolve<T>(problem), points, data.strengths.data(), data.modes.data(), outputs);
  if (!found.right())
    throw Error(ErrorKind::internal, fmt::format("bench nufft: {} is wrong: {}", variant, found.text()));
}

template <class T>
BenchResult bench_nufft(const Device& device, const NufftCase& wanted, nufft::Type type, const BenchOptions& options) {
  const nufft::Problem problem{.type = type,
                               .modes = parse_shape(wanted.modes),
                               .points = wanted.points,
                               .epsilon = wanted.epsilon,
                               .threads = wanted.threads};
  NufftData<T> data = random_data<T>(wanted, problem.modes);
  auto plan = nufft::plan<T>(device, problem, {.variant = options.variant});
  Queue queue = device.queue();
  std::vector<Buffer> axes;  // coordinates on the device, so that sorting is timed without their transfer
  for (std::size_t i = 0; i < problem.modes.size(); ++i) {
    axes.push_back(device.buffer(std::span(data.axis[i]).size_bytes(), {.name = "coordinates"}));
    queue.upload(data.axis[i].data(), axes[i], axes[i].size());
  }
  plan.set_points(queue, wanted.points, axes);
  const auto sort = [&] { plan.set_points(queue, wanted.points, axes); };
  const double sorting = device.is_host() && wanted.threads == 1
                             ? least_cpu_seconds({sort}, wanted.seconds / 4, CLOCK_THREAD_CPUTIME_ID)[0]
                             : base::best_seconds(sort, {.seconds = wanted.seconds / 4, .at_least = 1});
  const Buffer strengths = device.buffer(std::span(data.strengths).size_bytes(), {.name = "strengths"});
  const Buffer modes = device.buffer(std::span(data.modes).size_bytes(), {.name = "modes"});
  queue.upload(data.strengths.data(), strengths, strengths.size());
  queue.upload(data.modes.data(), modes, modes.size());
  const bool to_modes = type == nufft::Type::to_modes;
  const Buffer derived =
      wanted.slopes ? device.buffer((1 + problem.modes.size()) * strengths.size(), {.name = "slopes"}) : Buffer{};
  const auto points = static_cast<double>(wanted.points);
  Contest contest{device, fmt::format("nufft type {} {} {} 2^{:.1f} points {:.0e}{}", static_cast<int>(type),
                                      wanted.numbers, wanted.modes, std::log2(std::max(1.0, points)), wanted.epsilon,
                                      wanted.places == "uniform" ? "" : " " + wanted.places)};
  contest.ours.push_back(
      {.name = winners({plan.decisions().front()}),
       .call = [&] { plan.enqueue(queue, to_modes ? strengths : modes, to_modes ? modes : strengths); },
       .flops = plan.flops(),
       .bytes = plan.bytes(),
       .chosen = true});
  if (wanted.slopes) contest.others.emplace_back([&] { plan.enqueue_slopes(queue, modes, derived); });
  if (device.is_host() && !options.against.empty())
    contest.peers.push_back({"finufft", Finufft().prepare<T>(problem, data)});
  BenchResult result{.rows = contest.time([&](const auto& calls) {
                       if (device.is_host() && wanted.threads == 1)  // on the calling thread only
                         return least_cpu_seconds(calls, wanted.seconds, CLOCK_THREAD_CPUTIME_ID);
                       return best_device_seconds(queue, calls,
                                                  {.seconds = wanted.seconds, .at_least = 3, .at_most = 500});
                     }),
                     .explanation = plan.explain()};
  report::BenchRow& row = result.rows.front();
  compare_result(problem, data, queue, to_modes ? modes : strengths, row.variant);
  row.more = {{"mpoints_per_s", points / row.seconds * 1e-6}, {"sort_seconds", sorting}};
  if (wanted.slopes) row.more["slopes_seconds"] = contest.other_seconds.front();
  return result;
}

std::vector<BenchTable> nufft_tables(const NufftCase& wanted, const BenchOptions& options) {
  check_peers(options, {"finufft"});
  BenchTable table("Nonuniform Fourier transforms",
                   "Points were sorted before; GB/s counts points, strengths and modes once.");
  table.at_end = true;
  for (const Device& device : bench_devices(options)) {
    const bool wide = wanted.numbers == "f64";
    if (wide && !device.limits().float64) {
      base::warn(fmt::format("{} is left out: it has no double precision", device.id()));
      continue;
    }
    for (const nufft::Type type : {nufft::Type::to_modes, nufft::Type::to_points}) {
      if (wanted.type != 0 && wanted.type != static_cast<std::size_t>(type)) continue;
      table.cases.push_back({fmt::format("nufft type {} on {}", static_cast<int>(type), device.id()), [=](const Tell&) {
                               return wide ? bench_nufft<double>(device, wanted, type, options)
                                           : bench_nufft<float>(device, wanted, type, options);
                             }});
    }
  }
  return {table};
}

}  // namespace

Workload bench_of_nufft() {
  auto wanted = std::make_shared<NufftCase>();
  Workload bench{
      .name = "nufft", .about = "Time nonuniform Fourier transforms of sorted points", .peers = "finufft, on the host"};
  bench.footer =
      "\nExamples:\n"
      "  ridge bench nufft --device host                             2^20 points, 256x256 modes, both types\n"
      "  ridge bench nufft --modes 64x64x64 --eps 1e-9 --numbers f64 --threads 1\n"
      "  RIDGE_FINUFFT=libfinufft.so ridge bench nufft --device host --threads 1 --against finufft\n"
      "\nTimes are CPU time on the host with --threads 1, elapsed time otherwise."
      "\nSorting the points is not included; --json has the seconds of sorting and the points per second.";
  bench.add_options = [=](Command& command) {
    command.option("--modes", wanted->modes, "Modes per axis").value_name("SHAPE").shows_default();
    command.option("--points", wanted->points, "Number of points").positive().shows_default();
    command.option("--type", wanted->type, "1: points to modes, 2: modes to points, 0: both")
        .between(0, 2)
        .shows_default();
    command.option("--eps", wanted->epsilon, "Relative error").between(1e-16, 0.1).shows_default();
    command.option("--numbers", wanted->numbers, "f32 or f64").one_of({"f32", "f64"}).shows_default();
    command.option("--places", wanted->places, "Points: uniform, or cluster (in 1/100 of the period per axis)")
        .one_of({"uniform", "cluster"})
        .shows_default();
    command.flag("--slopes", wanted->slopes,
                 "Time values with their derivatives by the points too (slopes_seconds in --json)");
    add_seconds(command, wanted->seconds);
    command.threads(wanted->threads);
  };
  bench.tables = [=](const BenchOptions& options, const mpi::Communicator&) { return nufft_tables(*wanted, options); };
  return bench;
}

}  // namespace ridge::cli
