// ridge dedisperse: complex voltages in .npy files, raw files and pipes.
#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <ridge/search/coherent.hpp>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "command/command.hpp"
#include "io/arrays/npy.hpp"
#include "io/telescopes/header_fields.hpp"

namespace ridge::cli {
namespace {

using Value = std::complex<float>;

struct CoherentOptions {
  std::string in, out, device;
  search::CoherentProblem problem{};
  bool explain = false;
};

// Refuses an input that is shorter than the sweep: no output would have all that belongs to it.
void check_sweep(const CoherentOptions& options, const std::optional<std::uint64_t>& samples) {
  const search::CoherentProblem& problem = options.problem;
  const double half = std::abs(problem.rate_mhz) / 2;
  if (!samples || !(problem.centre_mhz > half)) return;
  const double sweep = search::delay_seconds(problem.dm, problem.centre_mhz - half, problem.centre_mhz + half) *
                       std::abs(problem.rate_mhz) * 1e6;
  if (!(sweep > static_cast<double>(*samples))) return;
  mistake(fmt::format("{}: holds {} samples, and the sweep of DM {} takes {:.4g}: DM {:.4g} is the largest that fits",
                      options.in, *samples, problem.dm, sweep, problem.dm * static_cast<double>(*samples) / sweep));
}

// Dedisperses in pieces, each with the samples before and after it that the filter needs.
void run_coherent(const CoherentOptions& options) {
  io::InputStream in(options.in);
  const bool npy = io::looks_like_npy(in.peek(6));
  io::NpyHeader header{.type = io::ElementType::complex64, .shape = {0}};
  if (npy) {
    header = io::read_npy_header(in);
  } else {
    io::refuse_foreign(in);
  }
  if (header.type != io::ElementType::complex64 || header.shape.size() != 1)
    mistake(fmt::format("{}: needs one axis of complex64, got {} axes of {}", options.in, header.shape.size(),
                        io::name_of(header.type)));
  check_sweep(options, npy              ? std::optional<std::uint64_t>(header.elements())
                       : in.remaining() ? std::optional<std::uint64_t>(*in.remaining() / sizeof(Value))
                                        : std::nullopt);
  base::terminal_progress()(0, "planning");  // long filters take a while
  const search::CoherentPlan plan(ridge::device(options.device), options.problem);
  base::clear_progress();
  if (options.explain) fmt::print("{}\n", plan.explain());
  io::OutputStream out(options.out);
  if (npy) {
    const std::string text = io::npy_header(header);
    out.write(text.data(), text.size());
  }
  const std::size_t before = plan.before(), after = plan.after();
  const std::size_t piece = std::max<std::size_t>(std::size_t{1} << 20, 16 * plan.length());
  std::vector<Value> window, result;
  std::vector<std::byte> bytes;
  std::size_t done = 0;  // samples at the front of the window that were written before
  std::uint64_t total = 0;
  const double begin = base::now();
  const io::ReadProgress progress(in, "dedispersing");
  for (bool end = false; !end; progress.show()) {
    const std::size_t got = in.read_growing(bytes, piece * sizeof(Value)) / sizeof(Value);
    if (const std::size_t rest = bytes.size() % sizeof(Value); rest != 0)
      throw Error(ErrorKind::io, fmt::format("{} ends {} bytes into a sample of {}", in.name(), rest, sizeof(Value)));
    end = got < piece;
    const auto* values = reinterpret_cast<const Value*>(bytes.data());
    window.insert(window.end(), values, values + got);
    total += got;
    const std::size_t ready = end ? window.size() : window.size() - std::min(window.size(), after);
    if (ready <= done && !end) continue;
    result.resize(window.size());
    plan.run(window, result);
    out.write(result.data() + done, (ready - done) * sizeof(Value));
    const std::size_t dropped = ready > before ? ready - before : 0;
    window.erase(window.begin(), window.begin() + static_cast<std::ptrdiff_t>(dropped));
    done = ready - dropped;
  }
  if (total == 0) throw Error(ErrorKind::io, options.in + ": contains no samples");
  out.finish();
  base::clear_progress();
  if (options.out == "-") return;
  fmt::print("{} samples, transforms of {} points with {} of overlap: {}\n", total, plan.length(), before + after,
             base::human_rate(static_cast<double>(total) / (base::now() - begin), "sample/s"));
}

}  // namespace

void add_dedisperse(Command& program) {
  Command& command = program.subcommand("dedisperse", "Remove the dispersion of complex voltages (coherently)");
  command.footer(
      "\nExamples:\n"
      "  ridge dedisperse voltages.npy out.npy --dm 56.77 --centre 1400 --rate 6.25\n"
      "\nComplex64 samples of one band: a .npy file with one axis, a raw file or a pipe. Overlap-save; delays refer "
      "to\n"
      "the centre of the band. The outer 2 % of the band are attenuated, because the filter jumps at its edges.");
  auto options = std::make_shared<CoherentOptions>();
  search::CoherentProblem& problem = options->problem;
  command.option("in", options->in, "Complex64 samples: .npy, raw, or -").required().reads();
  command.option("out", options->out, "Output in the same form").required().writes();
  command.option("--dm", problem.dm, "Dispersion measure, pc/cm^3").required().between(0, 1e5);
  command.option("--centre", problem.centre_mhz, "Centre of the band, MHz").required().between(1e-3, 1e7);
  command.option("--rate", problem.rate_mhz, "Complex samples per microsecond; negative: an inverted band").required();
  command.option("--length", problem.length, "Points per transform (0: chosen)").shows_default().between(0, 1e9);
  command.option("--taper", problem.taper, "Attenuated part of the band on each side").shows_default().between(0, 0.49);
  command.device(options->device);
  command.threads(problem.threads);
  command.explain(options->explain);
  command.runs([options] { run_coherent(*options); });
}

}  // namespace ridge::cli
