// ridge bench image: times flow, variance and operators next to OpenCV and libvips, on the same data.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <limits>
#include <memory>

#include <fmt/format.h>
#include <ridge/image.hpp>

#include "base/clock.hpp"
#include "base/progress.hpp"
#include "base/text.hpp"
#include "base/threads.hpp"
#include "bench/bench.hpp"
#include "bench/peers/image_peers.hpp"
#include "device/compile_ahead.hpp"
#include "device/timing.hpp"
#include "image/work.hpp"
#include "plan/predict.hpp"

namespace ridge::cli {
namespace {

struct ImageBenchOptions {
  std::string size = "3840x2160", pair;
  std::vector<std::string> only, kinds{"1x8-bit", "3x8-bit", "1xfloat"};
  std::size_t threads = 1;
  std::size_t trials = 3;
  double seconds = 0.5;
  std::string variant;
  bool live = false, cpu_time = false;
};

// Test image of smooth colours with noise: neither flat nor random, so that medians and flow do typical work. Each wave
// is sin(a row + b column), computed from tables of the rows' and columns' sines.
image::Image typical(const image::Shape& shape, double shift) {
  image::Image image(shape);
  struct Turn {
    float sine, cosine;
  };
  const auto turns = [](std::size_t count, double step, double phase, double from) {
    std::vector<Turn> all(count);
    for (std::size_t i = 0; i < count; ++i) {
      const double angle = step * (static_cast<double>(i) - from) + phase;
      all[i] = {static_cast<float>(std::sin(angle)), static_cast<float>(std::cos(angle))};
    }
    return all;
  };
  for (std::size_t k = 0; k < shape.channels; ++k) {
    const auto phase = static_cast<double>(k);
    const std::vector<Turn> down[3] = {turns(shape.rows, 0.31, phase, 0), turns(shape.rows, 0.11, 2 * phase, 0),
                                       turns(shape.rows, 0.02, 0, 0)};
    const std::vector<Turn> across[3] = {turns(shape.columns, 0.17, 0, shift), turns(shape.columns, -0.37, 0, shift),
                                         turns(shape.columns, 0.04, 0, shift)};
    base::parallel(0, [&](std::size_t thread, std::size_t threads) {
      const base::Share rows = base::share(shape.rows, thread, threads);
      for (std::size_t r = rows.begin; r < rows.end; ++r) {
        auto noise = static_cast<std::uint32_t>(2654435761U * (r * shape.channels + k + 1));
        for (std::size_t c = 0; c < shape.columns; ++c) {
          float wave = 0;
          for (std::size_t i = 0; i < 3; ++i)
            wave += down[i][r].sine * across[i][c].cosine + down[i][r].cosine * across[i][c].sine;
          noise = noise * 1664525U + 1013904223U;
          const float value = 128 + 36 * wave + static_cast<float>(noise >> 29);
          const std::size_t at = c * shape.channels + k;
          if (shape.depth == image::Depth::u8) {
            image.row<std::uint8_t>(r)[at] = static_cast<std::uint8_t>(value);
          } else {
            image.row<float>(r)[at] = value;
          }
        }
      }
    });
  }
  return image;
}

struct ImageCase {
  std::string name;
  ImageWork work;
  image::Shape shape = {};  // of the first image, which is generated later if it was not read
  image::Image first = {}, second = {};
};

// Sets channels and depth from their name in the table.
image::Shape shape_of(image::Shape shape, const std::string& kind) {
  for (shape.channels = 1; shape.channels <= 4; ++shape.channels) {
    for (const image::Depth depth : {image::Depth::u8, image::Depth::f32}) {
      shape.depth = depth;
      if (fmt::format("{}x{}", shape.channels, to_string(depth)) == kind) return shape;
    }
  }
  throw Error(ErrorKind::invalid_argument,
              fmt::format("--kinds {}: needs 1x8-bit to 4x8-bit or 1xfloat to 4xfloat", kind));
}

// "convolve 7x7" for "convolve 7x7 0.02,0.02,...".
std::string without_weights(const std::string& text) {
  const std::size_t comma = text.find(',');
  return comma == std::string::npos ? text : text.substr(0, text.rfind(' ', comma));
}

bool accepts(const image::Operation& operation, const image::Shape& shape) {
  try {
    static_cast<void>(image::output_shape(operation, shape));
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::vector<ImageCase> cases_of(const ImageBenchOptions& options) {
  image::Shape shape;
  char tail = 0;
  if (std::sscanf(options.size.c_str(), "%zux%zu%c", &shape.columns, &shape.rows, &tail) != 2) {
    throw Error(ErrorKind::invalid_argument, fmt::format("--size {}: needs COLUMNSxROWS", options.size));
  }
  image::check(shape, "bench image");
  const auto wanted = [&](const std::string& name) {
    return options.only.empty() || std::any_of(options.only.begin(), options.only.end(),
                                               [&](const std::string& word) { return name.starts_with(word); });
  };
  std::vector<ImageCase> cases;
  if (wanted("flow")) {
    ImageCase one{"flow", {.flow = true}};
    if (options.pair.empty()) {
      const image::Shape frame{388, 584, 3, image::Depth::u8};
      one.first = typical(frame, 0);
      one.second = typical(frame, 3);
    } else {
      const std::size_t comma = options.pair.find(',');
      one.first = image::read(options.pair.substr(0, comma));
      one.second = image::read(comma == std::string::npos ? options.pair : options.pair.substr(comma + 1));
    }
    one.shape = one.first.shape();
    cases.push_back(one);
  }
  if (wanted("variance")) cases.push_back({"variance 27", {.variance_window = 27}, shape});
  for (const std::string& kind : options.kinds) {
    const image::Shape here = shape_of(shape, kind);
    for (const image::OperatorInfo& info : image::operators()) {
      for (const std::string& text : info.examples) {
        const std::string name = without_weights(text);
        const std::vector<image::Operation> operation = image::parse_chain(text);
        if (wanted(name) && accepts(operation.front(), here)) cases.push_back({name, {.operation = operation}, here});
      }
    }
  }
  return cases;
}

// A plan and a call of it on images of the device.
struct Ours {
  std::function<void()> call;
  double bytes = 0;
  std::string variant, explanation;
};
template <class Plan>
Ours ours(std::shared_ptr<Plan> plan, std::function<void()> call) {
  const planner::Decision& decision = plan->decisions().front();
  return {std::move(call), plan->bytes(), decision.trials[decision.winner].name, plan->explain()};
}
Ours plan_case(const Device& device, const ImageCase& one, const ImageBenchOptions& own, std::size_t threads,
               Queue& queue, const std::function<void(const planner::Progress&)>& progress) {
  const planner::Options planning{
      .effort = Effort::measured, .most_trials = own.trials, .variant = own.variant, .progress = progress};
  const auto resident = [&](const image::Image& from) {
    image::Image to = image::Image::on(device, from.shape());
    upload(queue, from, to);
    queue.finish();
    return to;
  };
  const image::Image in = resident(one.first);
  if (one.work.flow) {
    image::FlowProblem problem;
    problem.rows = one.first.rows();
    problem.columns = one.first.columns();
    problem.channels = one.first.channels();
    problem.threads = threads;
    auto plan = std::make_shared<image::FlowPlan>(device, problem, planning);
    const image::Image second = resident(one.second);
    const image::Image out = image::Image::on(
        device, {.rows = in.rows(), .columns = in.columns(), .channels = 2, .depth = image::Depth::f32});
    return ours(plan, [plan, &queue, in, second, out] { plan->enqueue(queue, in, second, out); });
  }
  if (one.work.variance_window != 0) {
    image::VarianceProblem problem;
    problem.rows = in.rows();
    problem.columns = in.columns();
    problem.depth = in.depth();
    problem.window_rows = problem.window_columns = one.work.variance_window;
    problem.threads = threads;
    auto plan = std::make_shared<image::VariancePlan>(device, problem, planning);
    const image::Image out =
        image::Image::on(device, {.rows = in.rows(), .columns = in.columns(), .depth = image::Depth::f32});
    return ours(plan, [plan, &queue, in, out] { plan->enqueue(queue, in, out); });
  }
  image::OperatorProblem problem;
  problem.input = in.shape();
  problem.chain = one.work.operation;
  problem.threads = threads;
  auto plan = std::make_shared<image::OperatorPlan>(device, problem, planning);
  const image::Image out = image::Image::on(device, image::output_shape(problem));
  return ours(plan, [plan, &queue, in, out] { plan->enqueue(queue, in, out); });
}

// Minimum CPU seconds of this process over several alternating calls, including threads that a peer may start. Less
// sensitive to other processes than elapsed time.
std::vector<double> least_cpu_seconds(const std::vector<std::function<void()>>& calls, double seconds) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  std::vector<double> least(calls.size(), std::numeric_limits<double>::infinity());
  for (const auto& call : calls) call();
  const double begin = now();
  for (int round = 0; round < 3 || (round < 1000 && now() - begin < seconds * static_cast<double>(calls.size()));
       ++round) {
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const double start = now();
      calls[i]();
      least[i] = std::min(least[i], now() - start);
    }
  }
  return least;
}

// Minimum seconds per round with several threads: long enough for threads of the other library to go to sleep and ours
// to wake up.
constexpr double kRoundOfThreads = 4e-3;

// Compiles the kernels that the plans will time in parallel: on CUDA a kernel takes a second on one core.
void compile_ahead(const Device& device, const std::vector<ImageCase>& cases, std::size_t trials) {
  if (device.info().backend != Backend::cuda) return;
  std::vector<KernelSource> sources;
  for (const ImageCase& one : cases) {
    if (one.work.flow || one.work.variance_window != 0) continue;
    image::OperatorProblem problem;
    problem.input = one.shape;
    problem.chain = one.work.operation;
    const image::Work work = image::work_of(device, problem);
    std::vector<std::pair<double, const image::Entry*>> ranked;
    for (const image::Entry& entry : work.entries) {
      if (!entry.candidate.refusal.empty()) continue;
      ranked.emplace_back(planner::predict(machine::ceilings(device), work.problem, entry.candidate.cost).seconds,
                          &entry);
    }
    std::sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t i = 0; i < std::min(trials, ranked.size()); ++i) {
      for (KernelSource& source : ranked[i].second->kernels()) sources.push_back(std::move(source));
    }
  }
  compile_together(device, std::move(sources));
}

void run_bench(const BenchOptions& options, const ImageBenchOptions& own) {
  std::vector<ImagePeer> peers;
  for (const std::string& name : options.against) peers.push_back(image_peer(name));
  report::Bench result;
  result.title = "Images";
  result.note = fmt::format("Flow, local variance and operators; host and peers with {} thread{}.",
                            own.threads == 0 ? base::hardware_threads() : own.threads, own.threads == 1 ? "" : "s");
  const auto progress = base::terminal_progress();
  const std::vector<ImageCase> cases = cases_of(own);
  if (cases.empty())
    throw Error(ErrorKind::invalid_argument,
                fmt::format("--only {}: no case begins with it", fmt::join(own.only, ",")));
  const std::size_t threads = own.threads == 0 ? base::hardware_threads() : own.threads;
  std::size_t done = 0;
  const auto chosen = bench_devices(options);
  for (const Device& device : chosen) {
    Queue queue = device.queue();
    if (own.variant.empty()) {
      progress(0, fmt::format("compiling for {}", device.id()));
      const double begin = base::now();
      compile_ahead(device, cases, own.trials);
      if (own.live) {
        fmt::print("{}: kernels compiled in {:.1f} s\n", device.id(), base::now() - begin);
        std::fflush(stdout);
      }
    }
    image::Image input;  // shared by consecutive cases
    for (ImageCase one : cases) {
      if (!one.first) {
        if (!input || input.shape() != one.shape) {
          input = {};
          input = typical(one.shape, 0);
        }
        one.first = input;
      }
      const std::string what =
          fmt::format("{} {}x{} on {}", one.name, one.first.channels(), to_string(one.first.depth()), device.id());
      const double share = static_cast<double>(done++) / static_cast<double>(cases.size() * chosen.size());
      progress(share, what);
      const double begin = base::now();
      const Ours mine = plan_case(device, one, own, threads, queue, [&](const planner::Progress& now) {
        progress(share, fmt::format("{}: planning, {} of {}: {}", what, now.done + 1, now.of, now.candidate));
      });
      if (options.explain) fmt::print("{}\n", mine.explanation);
      report::BenchRow row;
      row.problem = fmt::format("{} {}x{} {}x{}", one.name, one.first.columns(), one.first.rows(), one.first.channels(),
                                to_string(one.first.depth()));
      row.device = device.id();
      row.variant = mine.variant;
      row.chosen = true;
      if (device.is_host()) {
        std::vector<std::function<void()>> calls{mine.call};
        std::vector<std::string> names;
        for (const ImagePeer& peer : peers) {
          if (PeerCall call = peer.prepare(one.work, one.first, one.second, threads)) {
            calls.push_back(call);
            names.push_back(peer.name);
          }
        }
        const auto seconds = own.cpu_time
                                 ? least_cpu_seconds(calls, own.seconds)
                                 : base::best_seconds_interleaved(calls, {.seconds = own.seconds,
                                                                          .at_least = 2,
                                                                          .at_most = 200,
                                                                          .round = threads == 1 ? 0 : kRoundOfThreads});
        row.seconds = seconds.front();
        for (std::size_t i = 0; i < names.size(); ++i) row.peers[names[i]] = seconds[i + 1];
      } else {
        // Alternates with a copy of as many bytes: the time of the memory traffic at this size.
        const auto half = static_cast<std::size_t>(mine.bytes / 2);
        const Buffer from = device.buffer(half, {.name = "copied"}), to = device.buffer(half, {.name = "copy"});
        const auto seconds = best_device_seconds(queue, {mine.call, [&] { queue.copy(from, to, half); }},
                                                 {.seconds = own.seconds, .at_least = 2, .at_most = 2000});
        row.seconds = seconds[0];
        row.peers["copy"] = seconds[1];
      }
      row.gbytes_per_s = mine.bytes / row.seconds * 1e-9;
      const machine::Bandwidth memory = machine::ceilings(device).memory().all;
      const double roof = std::max(memory.copy, memory.copy_streaming);
      row.roof_share = roof > 0 ? mine.bytes / row.seconds / roof : 0;
      if (own.live) {
        std::string beside;
        for (const auto& [name, seconds] : row.peers)
          beside += fmt::format(", {:.2f} of {}", seconds / row.seconds, name);
        fmt::print("{}: {} in {}{}; {:.1f} s in total\n", row.problem, row.variant, base::human_seconds(row.seconds),
                   beside, base::now() - begin);
        std::fflush(stdout);
      }
      result.rows.push_back(row);
    }
  }
  progress(1, "");
  finish_bench(result, options);
}

}  // namespace

void add_bench_image(Command& bench) {
  Command& command =
      bench.subcommand("image", "Time optical flow, local variance and operators, and OpenCV and libvips");
  command.footer(
      "\nExamples:\n"
      "  ridge bench image --device host --against opencv,vips\n"
      "  ridge bench image --only flow --pair a.png,b.png --against opencv --device host\n"
      "  ridge bench image --only gauss --size 1920x1080 --threads 0\n"
      "  ridge bench image --device cuda:0                  operators relative to a copy of as many bytes");
  auto options = add_bench_options(command, "opencv, vips");
  auto own = std::make_shared<ImageBenchOptions>();
  command.option("--size", own->size, "Size of the images for operators and variance").shows_default();
  command.option("--pair", own->pair, "Two frames for the flow, separated by a comma").value_name("A,B");
  command.option("--only", own->only, "Time only cases that begin with these words: flow, variance, gauss, ...")
      .separated_by(',');
  command.option("--kinds", own->kinds, "Channels and depth of the operators' images, as in 3x8-bit")
      .separated_by(',')
      .shows_default();
  command.threads(own->threads, "Threads of the host and the peers (0: all)");
  command.option("--trials", own->trials, "Number of variants that a plan times, the most promising first")
      .shows_default();
  command.flag("--cpu-time", own->cpu_time, "Measure CPU time instead of elapsed time, one thread: for a busy machine");
  command.flag("--live", own->live, "Print every result immediately, and the table at the end");
  command.option("--seconds", own->seconds, "Time per measurement, in seconds").shows_default().between(0.0, 60.0);
  command.runs([options, own] {
    own->variant = options->variant;
    if (own->cpu_time && own->threads != 1) throw Error(ErrorKind::invalid_argument, "--cpu-time needs --threads 1");
    run_bench(*options, *own);
  });
}

}  // namespace ridge::cli
