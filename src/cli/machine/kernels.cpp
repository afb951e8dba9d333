// ridge kernels: compiles the kernels of common transforms for many GPUs into one file, which packages ship.
#include <algorithm>
#include <atomic>
#include <exception>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ridge/fft.hpp>

#include "base/log.hpp"
#include "base/new_file.hpp"
#include "base/text.hpp"
#include "bench/lengths.hpp"
#include "command/command.hpp"
#include "device/cuda/nvrtc.hpp"
#include "device/kernel_pack.hpp"
#include "device/registry.hpp"

namespace ridge::cli {
namespace {

struct KernelsOptions {
  std::string out, devices = "a100,a40,rtx4090,h200,b200";
  std::string lengths =
      "2^1..2^22,100,120,200,240,243,360,480,500,625,720,1000,1009,1200,1536,1920,2000,3000,4000,5000,6000,8000,10000,"
      "12288,100000,1000000";
  std::string shapes = "128x128,256x256,512x512,1024x1024,2048x2048,4096x4096,64x64x64,128x128x128,256x256x256";
  std::string code = "machine+ptx";
  std::size_t threads = 0;
};

struct Collected {
  int architecture = 0;
  detail::ShippedCode kind = detail::ShippedCode::machine;
  KernelSource source;
};

// The transforms of one shape as the C++ interface, ridge.fft and ridge.torch plan them.
template <class T>
void plan_all(const Device& device, const std::vector<std::size_t>& shape) {
  double points = 1;
  for (const std::size_t length : shape) points *= static_cast<double>(length);
  constexpr double kManyPoints = 1 << 24;
  std::vector<std::size_t> batches{1, 16, 256};
  batches.push_back(std::max<std::size_t>(static_cast<std::size_t>(kManyPoints / points), 1));
  for (const fft::Kind kind : {fft::Kind::complex, fft::Kind::real}) {
    for (const double scale : {1.0, 1 / points}) {
      for (const std::size_t batch : batches) {
        if (points * static_cast<double>(batch) > 16 * kManyPoints) continue;
        const fft::Problem problem{.shape = shape, .batch = batch, .kind = kind, .scale_inverse = scale};
        fft::Plan<T>(device, problem, {.effort = Effort::quick});
      }
    }
  }
}

std::vector<std::vector<std::size_t>> wanted_shapes(const KernelsOptions& options) {
  std::vector<std::vector<std::size_t>> shapes;
  for (const std::size_t length : parse_lengths(options.lengths)) shapes.push_back({length});
  if (!options.shapes.empty())
    for (const std::string& word : split_text(options.shapes, ',')) shapes.push_back(parse_shape(word));
  return shapes;
}

std::vector<Collected> collect(const KernelsOptions& options) {
  std::vector<Collected> all;
  const auto shapes = wanted_shapes(options);
  for (const std::string& name : split_text(options.devices, ',')) {
    const Device device = detail::recorded_device("recorded:" + name);
    if (device.info().backend != Backend::cuda)
      throw Error(ErrorKind::invalid_argument, fmt::format("--devices {}: needs devices of NVIDIA", name));
    std::map<std::pair<std::string, std::vector<std::pair<std::string, std::string>>>, KernelSource> distinct;
    for (const auto& shape : shapes) {
      plan_all<float>(device, shape);
      plan_all<double>(device, shape);
      for (KernelSource& source : detail::take_kernels(device)) {
        auto key = std::pair(source.text, source.defines);
        distinct.emplace(std::move(key), std::move(source));
      }
    }
    for (auto& [key, source] : distinct)
      all.push_back({device.info().limits.architecture, detail::ShippedCode::machine, std::move(source)});
  }
  if (options.code == "machine") return all;
  // PTX of the newest architecture serves later ones.
  int newest = 0;
  for (const Collected& one : all) newest = std::max(newest, one.architecture);
  std::vector<Collected> ptx;
  for (const Collected& one : all)
    if (one.architecture == newest) ptx.push_back({newest, detail::ShippedCode::ptx, one.source});
  if (options.code == "ptx") return ptx;
  all.insert(all.end(), std::make_move_iterator(ptx.begin()), std::make_move_iterator(ptx.end()));
  return all;
}

void build_pack(const KernelsOptions& options) {
  const std::vector<Collected> sources = collect(options);
  if (sources.empty())
    throw Error(ErrorKind::invalid_argument, "no kernels: needs a length or shape of at most 2^28 points");
  std::map<detail::PackKey, std::string> kernels;
  std::map<std::string, std::size_t> counts;
  std::mutex mutex;
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  const auto progress = base::terminal_progress();
  const auto work = [&] {
    for (std::size_t i = next++; i < sources.size(); i = next++) {
      try {
        const Collected& one = sources[i];
        auto [key, code] = detail::shipped_kernel(one.source, one.architecture, one.kind);
        const bool ptx = one.kind == detail::ShippedCode::ptx;
        const std::lock_guard lock(mutex);
        counts[fmt::format("{}{}", ptx ? "PTX " : "sm_", one.architecture)] +=
            kernels.emplace(key, std::move(code)).second ? 1 : 0;
        progress(static_cast<double>(i) / static_cast<double>(sources.size()), one.source.name);
      } catch (...) {
        const std::lock_guard lock(mutex);
        failure = std::current_exception();
        next = sources.size();
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
    const std::size_t count = std::min(options.threads != 0 ? options.threads : cores, sources.size());
    for (std::size_t i = 1; i < count; ++i) threads.emplace_back(work);
    work();
  }
  progress(1, "");
  if (failure) std::rethrow_exception(failure);
  std::string description = "Ridgeline " RIDGE_VERSION ":";
  for (const auto& [architecture, count] : counts) description += fmt::format(" {}: {},", architecture, count);
  description.back() = '.';
  detail::write_kernel_pack(options.out, description, kernels);
  fmt::print("{}\n", detail::KernelPack(base::link_target(options.out)).describe());
}

}  // namespace

void add_kernels(Command& program) {
  Command& command = program.subcommand("kernels", "Compile kernels of common transforms ahead, for packages");
  command.needs_subcommand();
  command.footer(
      "\nExamples:\n"
      "  ridge kernels build ridge-kernels.pack             for five architectures of NVIDIA: needs NVRTC, no GPU\n"
      "  ridge kernels build h.pack --devices h200 --lengths 1024,4096 --shapes 512x512\n"
      "  ridge kernels show                                 the file that this installation uses\n"
      "\nPrograms use a kernel of the file instead of compiling it: first plans of these problems compile nothing, and "
      "no\n"
      "CUDA toolkit is needed. The file is looked for in lib/ridge beside the program; RIDGE_KERNELS=FILE names\n"
      "another, RIDGE_KERNELS=off none.");
  Command& build = command.subcommand("build", "Write a file of compiled kernels");
  build.footer("\nExamples:\n  ridge kernels build ridge-kernels.pack --devices a100,h200");
  auto options = std::make_shared<KernelsOptions>();
  build.option("file", options->out, "File to write").required().writes();
  build
      .option("--devices", options->devices,
              "Devices to compile for: names of recorded devices without \"recorded:\" (docs/device.md)")
      .shows_default();
  build.option("--lengths", options->lengths,
               "Lengths of transforms: complex and real, float and double, several batches");
  build.option("--shapes", options->shapes, "Shapes of transforms of two and three axes; \"\" for none");
  build
      .option("--code", options->code,
              "machine: for the devices; ptx: for the newest of them and later ones, which their drivers compile; "
              "machine+ptx: both")
      .shows_default()
      .one_of({"machine", "ptx", "machine+ptx"});
  build.threads(options->threads, "Kernels compiled at the same time (0: one per core)");
  build.runs([options] { build_pack(*options); });
  Command& show = command.subcommand("show", "Show the file of compiled kernels in use");
  show.footer("\nExamples:\n  ridge kernels show\n  RIDGE_KERNELS=h.pack ridge kernels show");
  show.runs([] {
    const detail::KernelPack& shipped = detail::shipped_kernels();
    fmt::print("{}\n", shipped ? shipped.describe()
                               : "no shipped kernels: every kernel is compiled on first use (ridge kernels build)");
  });
}

}  // namespace ridge::cli
