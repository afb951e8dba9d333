// ridge bench image: times flow, variance and operators next to OpenCV and libvips, on the same data.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ridge/image.hpp>
#include <ridge/recording.hpp>

#include "base/clock.hpp"
#include "base/text.hpp"
#include "base/threads.hpp"
#include "bench/bench.hpp"
#include "bench/peers/image_peers.hpp"
#include "device/compile_cache.hpp"
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
  std::size_t images = 1;  // per call
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

std::size_t threads_of(const ImageBenchOptions& own) {
  return own.threads == 0 ? base::hardware_threads() : own.threads;
}

void print_now(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
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
  mistake(fmt::format("--kinds {}: needs 1x8-bit to 4x8-bit or 1xfloat to 4xfloat", kind));
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
  if (std::sscanf(options.size.c_str(), "%zux%zu%c", &shape.columns, &shape.rows, &tail) != 2)
    mistake(fmt::format("--size {}: needs COLUMNSxROWS", options.size));
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

// A device with what its cases share.
struct ImagePlace {
  Device device;
  Queue queue = device.queue();
  image::Image input{};  // of consecutive cases
  bool compiled = false;
};

using PlanProgress = std::function<void(const planner::Progress&)>;

// A planned case: its entry of the contest without the call, and the call for any queue.
struct PlannedCase {
  Contest::Entry entry;
  Recording::Work work;
};

// Plans a case for images of the device.
PlannedCase plan_case(ImagePlace& place, const ImageCase& one, const ImageBenchOptions& own, std::size_t threads,
                      const PlanProgress& progress, std::string& explanation) {
  const planner::Options planning{
      .effort = Effort::measured, .most_trials = own.trials, .variant = own.variant, .progress = progress};
  const Device& device = place.device;
  Queue& queue = place.queue;
  const auto resident = [&](const image::Image& from) {
    image::Image to = image::Image::on(device, from.shape());
    upload(queue, from, to);
    queue.finish();
    return to;
  };
  const auto entry = [&](const auto& plan, const Recording::Work& work) -> PlannedCase {
    explanation = plan->explain();
    return {{.name = winners({plan->decisions().front()}), .call = {}, .bytes = plan->bytes(), .chosen = true}, work};
  };
  const image::Image in = resident(one.first);
  if (one.work.flow) {
    image::FlowProblem problem{.rows = in.rows(), .columns = in.columns(), .channels = in.channels()};
    problem.threads = threads;
    auto plan = std::make_shared<image::FlowPlan>(device, problem, planning);
    const image::Image second = resident(one.second);
    const image::Image out = image::Image::on(
        device, {.rows = in.rows(), .columns = in.columns(), .channels = 2, .depth = image::Depth::f32});
    return entry(plan, [plan, in, second, out](Queue& on) { plan->enqueue(on, in, second, out); });
  }
  if (one.work.variance_window != 0) {
    image::VarianceProblem problem{.rows = in.rows(), .columns = in.columns(), .depth = in.depth()};
    problem.window_rows = problem.window_columns = one.work.variance_window;
    problem.threads = threads;
    auto plan = std::make_shared<image::VariancePlan>(device, problem, planning);
    const image::Image out =
        image::Image::on(device, {.rows = in.rows(), .columns = in.columns(), .depth = image::Depth::f32});
    return entry(plan, [plan, in, out](Queue& on) { plan->enqueue(on, in, out); });
  }
  image::OperatorProblem problem;
  problem.input = in.shape();
  problem.chain = one.work.operation;
  problem.threads = threads;
  auto plan = std::make_shared<image::OperatorPlan>(device, problem, planning);
  const image::Image out = image::Image::on(device, image::output_shape(problem));
  return entry(plan, [plan, in, out](Queue& on) { plan->enqueue(on, in, out); });
}

// The entry of the contest: one image, or several with plans of their own, recorded and enqueued with one call.
Contest::Entry entry_of_case(ImagePlace& place, const ImageCase& one, const ImageBenchOptions& own, std::size_t threads,
                             const PlanProgress& progress, std::string& explanation) {
  PlannedCase first = plan_case(place, one, own, threads, progress, explanation);
  if (own.images == 1 || place.device.is_host()) {
    first.entry.call = [work = first.work, &queue = place.queue] { work(queue); };
    return first.entry;
  }
  std::vector<Recording::Work> works{first.work};
  while (works.size() < own.images) works.push_back(plan_case(place, one, own, threads, progress, explanation).work);
  first.entry.call = [all = Recording(place.device, works), &queue = place.queue] { all.enqueue(queue); };
  first.entry.bytes *= static_cast<double>(own.images);
  return first.entry;
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

std::vector<report::BenchRow> time_case(ImagePlace& place, const ImageCase& one, const ImageBenchOptions& own,
                                        std::size_t threads, const std::vector<ImagePeer>& peers, Contest& contest) {
  if (place.device.is_host()) {
    for (const ImagePeer& peer : peers) {
      if (PeerCall call = peer.prepare(one.work, one.first, one.second, threads))
        contest.peers.push_back({peer.name, call});
    }
    return contest.time([&](const auto& calls) {
      if (own.cpu_time) return least_cpu_seconds(calls, own.seconds, CLOCK_PROCESS_CPUTIME_ID);
      return base::best_seconds_interleaved(
          calls, {.seconds = own.seconds, .at_least = 2, .at_most = 200, .round = threads == 1 ? 0 : kRoundOfThreads});
    });
  }
  // Alternates with a copy of as many bytes: the time of the memory traffic at this size.
  const auto half = static_cast<std::size_t>(contest.ours.front().bytes / 2);
  const Buffer from = place.device.buffer(half, {.name = "copied"}), to = place.device.buffer(half, {.name = "copy"});
  contest.peers.push_back({"copy", [&] { place.queue.copy(from, to, half); }});
  return contest.time([&](const auto& calls) {
    return best_device_seconds(place.queue, calls, {.seconds = own.seconds, .at_least = 2, .at_most = 2000});
  });
}

BenchResult bench_image(ImagePlace& place, ImageCase one, const ImageBenchOptions& own,
                        const std::vector<ImagePeer>& peers, const std::string& what, const Tell& tell) {
  if (!one.first) {
    if (!place.input || place.input.shape() != one.shape) {
      place.input = {};
      place.input = typical(one.shape, 0);
    }
    one.first = place.input;
  }
  const double begin = base::now();
  const std::size_t threads = threads_of(own);
  BenchResult result;
  const std::string images = own.images > 1 && !place.device.is_host() ? fmt::format(", {} images", own.images) : "";
  Contest contest{place.device, fmt::format("{} {}x{} {}x{}{}", one.name, one.first.columns(), one.first.rows(),
                                            one.first.channels(), to_string(one.first.depth()), images)};
  const auto progress = [&](const planner::Progress& now) {
    tell(fmt::format("{}: planning, {} of {}: {}", what, now.done + 1, now.of, now.candidate));
  };
  contest.ours.push_back(entry_of_case(place, one, own, threads, progress, result.explanation));
  Contest::Entry& ours = contest.ours.front();
  if (const double ceiling = copy_ceiling(place.device); ceiling > 0) ours.floor_seconds = ours.bytes / ceiling;
  result.rows = time_case(place, one, own, threads, peers, contest);
  if (own.live) {
    const report::BenchRow& row = result.rows.front();
    std::string beside;
    for (const auto& [name, seconds] : row.peers) beside += fmt::format(", {:.2f} of {}", seconds / row.seconds, name);
    print_now(fmt::format("{}: {} in {}{}; {:.1f} s in total", row.problem, row.variant,
                          base::human_seconds(row.seconds), beside, base::now() - begin));
  }
  return result;
}

std::vector<BenchTable> image_tables(const BenchOptions& options, const ImageBenchOptions& own) {
  if (own.cpu_time && own.threads != 1) mistake("--cpu-time needs --threads 1");
  std::vector<ImagePeer> peers;
  for (const std::string& name : options.against) peers.push_back(image_peer(name));
  BenchTable table("Images", fmt::format("Flow, local variance and operators; host and peers with {} thread{}.",
                                         threads_of(own), own.threads == 1 ? "" : "s"));
  table.at_end = true;
  const auto cases = std::make_shared<const std::vector<ImageCase>>(cases_of(own));
  if (cases->empty()) mistake(fmt::format("--only {}: no case begins with it", fmt::join(own.only, ",")));
  for (const Device& device : bench_devices(options)) {
    auto place = std::make_shared<ImagePlace>(ImagePlace{device});
    for (const ImageCase& one : *cases) {
      const std::string what =
          fmt::format("{} {}x{} on {}", one.name, one.shape.channels, to_string(one.shape.depth), device.id());
      table.cases.push_back(
          {what, [=](const Tell& tell) {
             if (own.variant.empty() && !std::exchange(place->compiled, true)) {
               tell(fmt::format("compiling for {}", device.id()));
               const double begin = base::now();
               compile_ahead(device, *cases, own.trials);
               if (own.live)
                 print_now(fmt::format("{}: kernels compiled in {:.1f} s", device.id(), base::now() - begin));
             }
             return bench_image(*place, one, own, peers, what, tell);
           }});
    }
  }
  return {table};
}

}  // namespace

Workload bench_of_image() {
  auto own = std::make_shared<ImageBenchOptions>();
  Workload bench{.name = "image",
                 .about = "Time optical flow, local variance and operators, and OpenCV and libvips",
                 .peers = "opencv, vips"};
  bench.footer =
      "\nExamples:\n"
      "  ridge bench image --device host --against opencv,vips\n"
      "  ridge bench image --only flow --pair a.png,b.png --against opencv --device host\n"
      "  ridge bench image --only gauss --size 1920x1080 --threads 0\n"
      "  ridge bench image --device cuda:0                  operators relative to a copy of as many bytes\n"
      "  ridge bench image --device cuda:0 --only gauss --images 16         16 images per launch";
  bench.add_options = [=](Command& command) {
    command.option("--size", own->size, "Size of the images for operators and variance").shows_default();
    command.option("--pair", own->pair, "Two frames for the flow, separated by a comma").value_name("A,B");
    command.option("--only", own->only, "Time only cases that begin with these words: flow, variance, gauss, ...")
        .separated_by(',');
    command.option("--kinds", own->kinds, "Channels and depth of the operators' images, as in 3x8-bit")
        .separated_by(',')
        .shows_default();
    command
        .option("--images", own->images, "Devices: images per call, recorded as one launch (a video, several cameras)")
        .shows_default()
        .between(1, 256);
    command.threads(own->threads, "Threads of the host and the peers (0: all)");
    command.option("--trials", own->trials, "Number of variants that a plan times, the most promising first")
        .shows_default();
    command.flag("--cpu-time", own->cpu_time,
                 "Measure CPU time instead of elapsed time, one thread: for a busy machine");
    command.flag("--live", own->live, "Print every result immediately, and the table at the end");
    add_seconds(command, own->seconds);
  };
  bench.tables = [=](const BenchOptions& options, const mpi::Communicator&) {
    own->variant = options.variant;
    return image_tables(options, *own);
  };
  return bench;
}

}  // namespace ridge::cli
