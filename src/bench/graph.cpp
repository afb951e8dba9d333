// ridge bench graph: chains of three stages (ridge::graph) compared with each stage alone.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <memory>
#include <thread>

#include <fmt/format.h>
#include <ridge/fft.hpp>
#include <ridge/graph.hpp>

#include "bench/bench.hpp"
#include "command/process.hpp"
#include "device/random.hpp"

namespace ridge::cli {
namespace {

struct GraphCase {
  std::size_t points = 1024, block = std::size_t{8} << 20, blocks = 64, rounds = 3, repeat = 1, threads = 1;
  std::string schedule;
};

// Work of the stages of a graph. A stage without work passes its block on, so that the others are timed alone.
struct Parts {
  std::string name;
  bool host_source, copy, transform, host_sink, power;
};

class ThreeStages {
 public:
  ThreeStages(const Device& device, const GraphCase& wanted)
      : device_(device),
        wanted_(wanted),
        bytes_(wanted.block / (8 * wanted.points) * (8 * wanted.points)),
        plan_(device, {.shape = {wanted.points}, .batch = bytes_ / 8 / wanted.points, .threads = wanted.threads},
              {.effort = Effort::quick}),
        samples_(bytes_ / 8) {
    fill_random(std::as_writable_bytes(std::span(samples_)), Numbers::float32, 1);
    for (const auto& sample : samples_) energy_ += std::norm(std::complex<double>(sample));
  }

  // Seconds per block, from the end of the eighth block to the end of the last one.
  double seconds_per_block(const Parts& parts) {
    graph::Graph graph;
    const std::vector<Device> here, there{device_};
    double sum = 0;
    auto edge = graph.stage("copy", {}, {.bytes = bytes_, .devices = parts.host_source ? here : there},
                            [&](graph::Step& step) -> std::size_t {
                              if (step.number == wanted_.blocks) return 0;
                              if (parts.copy) std::memcpy(step.out->bytes.data(), samples_.data(), bytes_);
                              return bytes_;
                            });
    if (parts.transform) {
      edge = graph.stage("fft", {edge}, {.bytes = bytes_, .devices = device_.is_host() ? here : there},
                         [&](graph::Step& step) {
                           for (std::size_t i = 0; i < wanted_.repeat; ++i) transform(step);
                           return bytes_;
                         });
    }
    graph.stage("power", {edge}, {.devices = parts.host_sink ? here : there}, [&](graph::Step& step) -> std::size_t {
      if (parts.power) sum += power_of_block(step.in[0]->host<std::complex<float>>());
      return 0;
    });
    report_ = graph.run();
    const double expected = energy_ * static_cast<double>(wanted_.points * wanted_.blocks);
    if (parts.copy && parts.power && !(std::abs(sum - expected) <= 1e-4 * expected)) correct_ = false;
    for (const auto& worker : report_.workers) {
      if (worker.stage != "power") continue;
      const std::size_t warm = std::min<std::size_t>(8, worker.spans.size() / 2);
      return (worker.spans.back().end - worker.spans[warm - 1].end) / static_cast<double>(worker.spans.size() - warm);
    }
    return 0;
  }

  const graph::Report& report() const { return report_; }
  bool correct() const { return correct_; }
  std::size_t bytes() const { return bytes_; }
  double flops() const { return plan_.flops() * static_cast<double>(wanted_.repeat); }
  std::string explain() const { return plan_.explain(); }

 private:
  void transform(graph::Step& step) {
    if (step.queue != nullptr) {
      plan_.enqueue_forward(*step.queue, step.in[0]->buffer, step.out->buffer);
    } else {
      step.out->filled = bytes_;
      plan_.forward(step.in[0]->host<const std::complex<float>>(), step.out->host<std::complex<float>>());
    }
  }
  static double power_of_block(std::span<const std::complex<float>> block) {
    constexpr std::size_t kSums = 64;
    float sums[kSums] = {};
    const auto* values = reinterpret_cast<const float*>(block.data());
    double total = 0;
    for (std::size_t at = 0; at < 2 * block.size(); at += 16384) {  // short sums keep their accuracy
      const std::size_t end = std::min<std::size_t>(at + 16384, 2 * block.size());
      std::fill(std::begin(sums), std::end(sums), 0.0F);
      std::size_t i = at;
      for (; i + kSums <= end; i += kSums) {
        for (std::size_t k = 0; k < kSums; ++k) sums[k] += values[i + k] * values[i + k];
      }
      for (; i < end; ++i) sums[0] += values[i] * values[i];
      for (const float one : sums) total += static_cast<double>(one);
    }
    return total;
  }

  Device device_;
  GraphCase wanted_;
  std::size_t bytes_;
  fft::Plan<float> plan_;
  std::vector<std::complex<float>> samples_;
  double energy_ = 0;
  graph::Report report_;
  bool correct_ = true;
};

// Rows of the stages alone and of the chain, which is the last one. They alternate, and the least time counts.
void add_chain(const Device& device, const GraphCase& wanted, ThreeStages& stages, const std::vector<Parts>& parts,
               BenchResult& result) {
  std::vector<double> least(parts.size(), INFINITY);
  graph::Report report;
  for (std::size_t round = 0; round < wanted.rounds; ++round) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const double seconds = stages.seconds_per_block(parts[i]);
      if (i + 1 == parts.size() && seconds < least[i]) report = stages.report();
      least[i] = std::min(least[i], seconds);
    }
  }
  const std::string& chain = parts.back().name;
  double slowest = 0, sum = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool alone = i + 1 < parts.size();
    result.rows.push_back(row_of(device, chain, alone ? parts[i].name + " alone" : "chain", least[i],
                                 parts[i].transform ? stages.flops() : 0, static_cast<double>(stages.bytes())));
    if (!alone) break;
    slowest = std::max(slowest, least[i]);
    sum += least[i];
  }
  result.rows.back().more = {{"share_of_slowest_stage", slowest / least.back()}};
  const double cores = static_cast<double>(std::max(1U, std::thread::hardware_concurrency()));
  std::string note = fmt::format(
      "{} {}: {:.3f} ms per block, {:.2f} of the slowest stage's own rate; one stage after another: {:.3f} ms",
      device.id(), chain, 1e3 * least.back(), slowest / least.back(), 1e3 * sum);
  if (device.info().shares_host_memory && sum / cores > slowest)
    note += fmt::format(", which {} cores cannot do in less than {:.3f} ms", cores, 1e3 * sum / cores);
  result.notes.push_back(note);
  if (parts.back().power) write_schedule(wanted.schedule, report);
}

BenchResult bench_graph(const Device& device, const GraphCase& wanted) {
  if (8 * wanted.points > wanted.block)
    mistake(fmt::format("bench graph: {} points need a --block of at least {} bytes, got {}", wanted.points,
                        8 * wanted.points, wanted.block));
  ThreeStages stages(device, wanted);
  BenchResult result{.explanation = stages.explain()};
  const bool host = device.is_host();
  if (!host) {
    add_chain(device, wanted, stages,
              {{"upload", true, false, false, false, false},
               {"fft", false, false, true, false, false},
               {"download", false, false, false, true, false},
               {"upload | fft | download", true, false, true, true, false}},
              result);
  }
  add_chain(device, wanted, stages,
            {{"copy", true, true, false, true, false},
             {"fft", host, false, true, host, false},
             {"power", true, false, false, true, true},
             {"copy | fft | power", true, true, true, true, true}},
            result);
  if (!stages.correct()) result.disagreements.push_back("the power of the spectra differs from that of the samples");
  return result;
}

}  // namespace

Workload bench_of_graph() {
  auto wanted = std::make_shared<GraphCase>();
  Workload bench{.name = "graph", .about = "Time chains of three stages beside each stage alone (ridge::graph)"};
  bench.footer =
      "\nExamples:\n"
      "  ridge bench graph --device host\n"
      "  ridge bench graph --device cuda:0 --block 64M --repeat 20 --schedule chain.svg\n"
      "\nA stream of blocks is copied, transformed on the device and summed on the host, three stages at the same "
      "time;\n"
      "on a device also a chain whose stages are the upload, the transforms and the download. A chain cannot be "
      "faster\n"
      "than its slowest stage alone: the note below the table has its share of that rate. The stages and the chain\n"
      "alternate, and the least time per block counts. The power of the spectra must equal that of the samples.";
  bench.add_options = [=](Command& command) {
    command.option("--points", wanted->points, "Points per transform").shows_default().between(1, 1 << 24);
    command.bytes("--block", wanted->block, "Bytes per block, 8 per point [8M]");
    command.option("--blocks", wanted->blocks, "Blocks per run").shows_default().between(2, 4096);
    command.option("--rounds", wanted->rounds, "Runs of each stage and of the chain").shows_default().between(1, 1000);
    command.option("--repeat", wanted->repeat, "Transforms of a block, to vary the work of the middle stage")
        .shows_default()
        .between(1, 1e6);
    command.threads(wanted->threads, "Host: threads of the transforms");
    add_schedule_option(command, wanted->schedule);
  };
  bench.tables = [=](const BenchOptions& options, const mpi::Communicator&) {
    BenchTable table("Graph", "Bytes: one block, 8 per complex sample.");
    table.at_end = true;
    for (const Device& device : bench_devices(options)) {
      table.cases.push_back(
          {fmt::format("graph on {}", device.id()), [=](const Tell&) { return bench_graph(device, *wanted); }});
    }
    return std::vector{table};
  };
  return bench;
}

}  // namespace ridge::cli
