// ridge check accuracy: measures the rounding errors of the transforms, next to FFTW's.
#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/aligned.hpp"
#include "base/text.hpp"
#include "base/worst.hpp"
#include "bench/lengths.hpp"
#include "bench/peers/peer.hpp"
#include "command/command.hpp"
#include "fft/accuracy.hpp"

namespace ridge::cli {
namespace {

struct AccuracyCommand {
  std::string lengths, type = "both";
  bool variants = false, all = false, every_row = false;
  double gate = 1;
};

template <class T>
fft::PeerTransform<T> fftw_transform() {
  const std::vector<Peer> peers = fft_peers();
  const auto fftw = std::find_if(peers.begin(), peers.end(), [](const Peer& peer) { return peer.name == "fftw"; });
  if (fftw == peers.end() || !fftw->prepare) return {};
  // One plan per length, reused for several inputs.
  struct Prepared {
    std::size_t n = 0;
    base::AlignedArray<std::complex<T>> in, out;
    PeerRun run;
  };
  auto prepared = std::make_shared<Prepared>();
  return [prepare = fftw->prepare, prepared](std::size_t n, const std::complex<T>* in, std::complex<T>* out) {
    if (prepared->n != n) {
      prepared->run = {};
      prepared->in = base::AlignedArray<std::complex<T>>(n);
      prepared->out = base::AlignedArray<std::complex<T>>(n);
      PeerProblem problem{.shape = {n}, .float64 = sizeof(T) == sizeof(double), .quick = true};
      prepared->run = prepare(problem, prepared->in.data(), prepared->out.data());
      prepared->n = n;
    }
    std::copy_n(in, n, prepared->in.data());
    prepared->run();
    std::copy_n(prepared->out.data(), n, out);
    return true;
  };
}

template <class T>
std::size_t check_errors(const AccuracyCommand& options, const std::vector<std::size_t>& lengths) {
  const char* type = sizeof(T) == sizeof(float) ? "float" : "double";
  const auto rows = fft::measure_errors<T>({.lengths = lengths,
                                            .variants = options.variants,
                                            .peer = fftw_transform<T>(),
                                            .progress = base::terminal_progress(),
                                            .gate = options.gate});
  std::size_t broken = 0;
  double worst_ratio = 0;
  base::Worst worst;
  std::size_t worst_length = 0, worst_ratio_length = 0;
  std::vector<std::vector<std::string>> table{
      {"length", "type", "variant", "forward", "inverse", "of gate", "fftw", "to fftw", ""}};
  for (const fft::ErrorRow& row : rows) {
    const double share = base::worse(row.forward, row.inverse) / row.gate,
                 ratio = row.peer > 0 ? row.forward / row.peer : 0;
    if (worst.add(share)) worst_length = row.length;
    if (row.chosen && ratio > worst_ratio) worst_ratio = ratio, worst_ratio_length = row.length;
    if (!row.broken.empty()) ++broken;
    if (!options.every_row && row.broken.empty() && rows.size() > 400) continue;  // keeps the table short
    table.push_back({fmt::to_string(row.length), type, row.variant + (row.chosen ? " *" : ""),
                     fmt::format("{:.2e}", row.forward), fmt::format("{:.2e}", row.inverse),
                     fmt::format("{:.0f} %", 100 * share), row.peer > 0 ? fmt::format("{:.2e}", row.peer) : "-",
                     ratio > 0 ? fmt::format("{:.2f}x", ratio) : "-", row.broken});
  }
  if (table.size() > 1) fmt::print("{}", base::table(table));
  fmt::print("{}: {} rows, at most {:.0f} % of the gate ({} points)", type, rows.size(), 100 * worst.value(),
             worst_length);
  if (worst_ratio > 0) fmt::print(", at most {:.2f} times FFTW's error ({} points)", worst_ratio, worst_ratio_length);
  fmt::print("{}\n", broken == 0 ? "" : fmt::format("; {} BROKEN", broken));
  return broken;
}

}  // namespace

void add_check_accuracy(Command& check) {
  Command& command =
      check.subcommand("accuracy", "Rounding errors of transforms, compared with FFTW's; exit 1 above the gate");
  command.footer(
      "\nExamples:\n"
      "  ridge check accuracy                             lengths 1..64 and a sample up to 65536, float and double\n"
      "  ridge check accuracy --variants --lengths 1024   every variant of one length\n"
      "  ridge check accuracy --all                       every length up to 4096, a sample up to 2^20; minutes\n"
      "\nThe gates: relative L2 error at most 0.6 epsilon sqrt(log2 N) in both directions for every variant, and for\n"
      "the planner's choice (*) at most 1.5 times FFTW's. Inputs are uniform in [-0.5, 0.5]; the reference has "
      "double's\n"
      "digits for float and twice that for double.");
  auto options = std::make_shared<AccuracyCommand>();
  command.option("--lengths", options->lengths, "Lengths: 2^1..2^12, smooth, primes, or a list separated by commas");
  command.option("--type", options->type, "Precision: f32, f64 or both").shows_default().one_of({"f32", "f64", "both"});
  command.flag("--variants", options->variants, "Check every variant of each length, not only the planner's choice");
  command.option("--gate", options->gate, "Factor for the gate below; 0.5 allows half of it")
      .shows_default()
      .between(0.0, 1e6);
  command.flag("--all", options->all, "Check every length up to 4096");
  command.flag("--every-row", options->every_row, "Print all rows, also if there are more than 400");
  command.runs([options] {
    const auto lengths =
        options->lengths.empty() ? fft::accuracy_lengths(options->all) : parse_lengths(options->lengths);
    std::size_t broken = 0;
    if (options->type != "f64") broken += check_errors<float>(*options, lengths);
    if (options->type != "f32") broken += check_errors<double>(*options, lengths);
    for (const Peer& peer : fft_peers()) {
      if (peer.name == "fftw" && !peer.missing.empty()) fmt::print("fftw: {}\n", peer.missing);
    }
    if (broken > 0) throw ExitWith{1};
  });
}

}  // namespace ridge::cli
