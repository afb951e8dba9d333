// ridge size: number of machines that sustain a stream of frames.
#include <charconv>
#include <cmath>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <ridge/fft/hybrid.hpp>
#include <ridge/machine.hpp>
#include <ridge/transpose.hpp>

#include "base/aligned.hpp"
#include "base/clock.hpp"
#include "base/text.hpp"
#include "bench/fft/fft.hpp"
#include "bench/lengths.hpp"
#include "cli/machine/machine.hpp"
#include "command/command.hpp"
#include "command/options.hpp"
#include "machine/energy.hpp"

namespace ridge::cli {
namespace {

struct SizeOptions {
  std::string frame = "1024x1024", devices;
  std::vector<std::string> workers;
  double rate = 0, seconds = 1, watts = 0;
  std::uint64_t rack = 16;
  std::uint64_t transforms = 0;
  bool paper = false, pinned = false;
};

// NAME=TIME[*UNITS][+SERIAL]
machine::Worker parse_worker(const std::string& text) {
  const auto refuse = [&] {
    mistake(fmt::format("--worker {}: needs NAME=TIME*UNITS+SERIAL with units of time, as in processor=3100ns*2+900us",
                        text));
  };
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) refuse();
  machine::Worker worker{.name = text.substr(0, equals)};
  std::string_view rest = std::string_view(text).substr(equals + 1);
  if (const std::size_t plus = rest.find('+'); plus != std::string_view::npos) {
    const auto serial = parse_seconds(rest.substr(plus + 1));
    if (!serial) refuse();
    worker.serial_seconds = *serial;
    rest = rest.substr(0, plus);
  }
  if (const std::size_t star = rest.find('*'); star != std::string_view::npos) {
    const std::string_view units = rest.substr(star + 1);
    const auto [end, error] = std::from_chars(units.data(), units.data() + units.size(), worker.units);
    if (error != std::errc() || end != units.data() + units.size() || worker.units == 0) refuse();
    rest = rest.substr(0, star);
  }
  const auto seconds = parse_seconds(rest);
  if (!seconds || *seconds <= 0) refuse();
  worker.seconds_per_item = *seconds;
  return worker;
}

// Workers of one machine, with rates measured alone and while all of them run.
struct Board {
  std::vector<machine::Worker> alone, together;
  double watts = 0;     // of all workers together; 0: unknown
  std::string power{};  // where the watts are from, or why there are none
};

Board given(const SizeOptions& options) {
  Board board;
  for (const std::string& text : options.workers) board.alone.push_back(parse_worker(text));
  board.together = board.alone;
  return board;
}

double transpose_seconds(std::size_t rows, std::size_t columns) {
  using Complex = std::complex<float>;
  const transpose::Plan<Complex> transposition(host(), {.rows = rows, .columns = columns}, {.effort = Effort::quick});
  base::AlignedArray<Complex> from(rows * columns), to(rows * columns);
  std::fill(from.begin(), from.end(), Complex{});
  return base::best_seconds([&] { transposition.run(std::span<const Complex>(from.span()), to.span()); },
                            {.seconds = 0.1});
}

// Adds up the energy of the devices while `work` runs for half a second.
void add_watts(const std::vector<Device>& devices, const std::function<void()>& work, Board& board) {
  std::vector<machine::EnergyCounter> counters;
  double before = 0;
  for (const Device& device : devices) {
    counters.push_back(machine::EnergyCounter::open(device));
    if (!counters.back().readable()) {
      board.power = fmt::format("{} has no energy counter ({}): give the power of a board with --watts", device.id(),
                                counters.back().why_not());
      return;
    }
    before += counters.back().joules();
  }
  const double begun = base::now();
  while (base::now() - begun < 0.5) work();
  double after = 0;
  for (auto& counter : counters) after += counter.joules();
  board.watts = (after - before) / (base::now() - begun);
  board.power = "measured while all workers transform";
}

// Measures transforms along both axes of a frame in host memory on these devices; the host does the transpose.
Board measured(const SizeOptions& options, const std::vector<Device>& devices, const std::vector<std::size_t>& frame) {
  const fft::HybridOptions hybrid{.memory = options.pinned ? fft::CallersMemory::pinned : fft::CallersMemory::pageable,
                                  .seconds = options.seconds};
  const std::size_t rows = frame[0], columns = frame[1];
  const double all = static_cast<double>(rows + columns);
  Board board;
  for (const Device& device : devices) board.alone.push_back({.name = device.id()});
  board.together = board.alone;
  const auto add = [&](std::size_t length, std::size_t lines) {
    const fft::HybridPlan<float> plan(devices, {.shape = {length}, .batch = lines}, hybrid);
    const double share = static_cast<double>(lines) / all;
    for (std::size_t i = 0; i < devices.size(); ++i) {
      const auto& found = plan.shares()[i];
      board.alone[i].seconds_per_item += share * found.alone_seconds / static_cast<double>(lines);
      // A device without a share gets the time of its whole batch per transform, so that the solver leaves it out.
      board.together[i].seconds_per_item += share * (found.rate > 0 ? 1 / found.rate : found.alone_seconds);
    }
    if (options.watts > 0 || !board.power.empty()) return;
    using Complex = std::complex<float>;
    base::AlignedArray<Complex> from(length * lines), to(length * lines);
    std::fill(from.begin(), from.end(), Complex{});
    add_watts(
        devices, [&] { plan.forward(std::span<const Complex>(from.span()), to.span()); }, board);
  };
  if (rows == columns) {
    add(columns, 2 * rows);
  } else {
    add(columns, rows);
    add(rows, columns);
  }
  const double transposition = transpose_seconds(rows, columns);
  for (auto* workers : {&board.alone, &board.together}) {
    for (std::size_t i = 0; i < devices.size(); ++i) {
      if (devices[i].is_host()) (*workers)[i].serial_seconds = transposition;
    }
  }
  return board;
}

std::vector<std::string> row(const std::string& name, const std::vector<machine::Worker>& workers, std::uint64_t items,
                             double rate) {
  const double seconds = machine::split(workers, items).seconds;
  return {name, base::human_seconds(seconds), fmt::format("{:.1f}", 1 / seconds), base::human_seconds(seconds * rate),
          fmt::format("{}", machine::machines_needed(workers, items, rate))};
}

void print_power(const Board& board, const SizeOptions& options, std::uint64_t boards) {
  const double watts = options.watts > 0 ? options.watts : board.watts;
  if (!(watts > 0)) {
    if (!board.power.empty()) fmt::print("power: {}\n", board.power);
    return;
  }
  const std::uint64_t racks = (boards + options.rack - 1) / options.rack;
  const double each = watts / options.rate * static_cast<double>(boards);
  fmt::print("power: {} board{} of {:.4g} W ({}), {:.4g} kW in {} rack{} of {}, {:.4g} J per frame\n", boards,
             boards == 1 ? "" : "s", watts, options.watts > 0 ? "given" : board.power,
             watts * static_cast<double>(boards) * 1e-3, racks, racks == 1 ? "" : "s", options.rack, each);
}

// Returns the number of boards.
std::uint64_t print(const Board& board, std::uint64_t items, double rate) {
  std::vector<std::vector<std::string>> rows{
      {"workers", "time per frame", "frames per second", "time per second of frames", "boards"}};
  std::string names;
  for (const machine::Worker& worker : board.alone) {
    rows.push_back(row(worker.name, {worker}, items, rate));
    names += (names.empty() ? "" : " + ") + worker.name;
  }
  const machine::Split split = machine::split(board.together, items);
  // Rates are lower while other workers run. If sharing costs more than it gains, one worker alone is the answer.
  const machine::Worker* better = nullptr;
  for (const machine::Worker& worker : board.alone) {
    if (machine::split({worker}, items).seconds <= split.seconds) better = &worker;
  }
  if (board.together.size() > 1 && better == nullptr) rows.push_back(row(names, board.together, items, rate));
  fmt::print("{}", base::table(rows));
  if (board.together.size() == 1) return machine::machines_needed(board.alone, items, rate);
  if (better != nullptr) {
    fmt::print("{} together are not faster than {} alone\n", names, better->name);
    return machine::machines_needed({*better}, items, rate);
  }
  for (std::size_t i = 0; i < board.together.size(); ++i) {
    const machine::Worker& worker = board.together[i];
    const std::string serial =
        worker.serial_seconds > 0 ? fmt::format(", after {} of serial work", base::human_seconds(worker.serial_seconds))
                                  : "";
    fmt::print("{}: {} transforms per frame, {} each on {} unit{}{}\n", worker.name, split.items[i],
               base::human_seconds(worker.seconds_per_item), worker.units, worker.units == 1 ? "" : "s", serial);
  }
  return machine::machines_needed(board.together, items, rate);
}

void run_size(SizeOptions options) {
  if (options.paper) {
    options.rate = 1555;
    options.workers = {"processor=3100ns*2+900us", "graphics=20480ns*20"};
  }
  if (!(options.rate > 0)) mistake("ridge size needs --rate, the frames per second (see ridge size --help)");
  const auto frame = parse_shape(options.frame);
  if (frame.size() != 2) mistake(fmt::format("--frame {}: needs two axes, as in 1024x1024", options.frame));
  if (!options.workers.empty() && !options.devices.empty())
    mistake("--worker and --device exclude each other: give one of them");
  const bool by_hand = !options.workers.empty();
  if (!by_hand && options.transforms > 0)
    mistake("--transforms needs --worker: without it the transforms of both axes are measured");
  const std::uint64_t items = options.transforms > 0 ? options.transforms : frame[0] + frame[1];
  fmt::print("{:g} frames of {} per second, {} transforms per frame\n", options.rate, options.frame, items);
  if (by_hand) {
    const Board board = given(options);
    print_power(board, options, print(board, items, options.rate));
    return;
  }
  std::vector<Device> devices;
  if (options.devices.empty()) {
    devices = {host()};
    if (const Device other = best(); !other.is_host()) devices.push_back(other);
  } else {
    devices = parse_joined_devices(options.devices);
  }
  const Board board = measured(options, devices, frame);
  print_power(board, options, print(board, items, options.rate));
}

}  // namespace

std::optional<double> parse_seconds(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value) || value < 0) return std::nullopt;
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (unit == "s" || (unit.empty() && value == 0)) return value;  // a bare number has no defined unit
  if (unit == "ms") return value * 1e-3;
  if (unit == "us") return value * 1e-6;
  if (unit == "ns") return value * 1e-9;
  return std::nullopt;
}

void add_size(Command& program) {
  Command& command = program.subcommand("size", "Compute the number of machines needed for a stream of frames");
  command.footer(
      "\nExamples:\n"
      "  ridge size --rate 1555                                  this machine, measured now, frames of 1024x1024\n"
      "  ridge size --rate 200 --frame 4096x2048 --device host+cuda:0 --pinned\n"
      "  ridge size --rate 1555 --worker processor=3100ns*2+900us --worker graphics=20480ns*20\n"
      "  ridge size --paper                                      the example of the paper: the two workers above\n"
      "  ridge size --ranks 4096 --shape 1024x1024x1024 --latency 2us --bandwidth 1G --node 16\n"
      "  mpirun -n 8 ridge size --ranks 1024 --shape 256x256x256  a distributed transform: measured on 8, "
      "extrapolated\n"
      "\nA frame of RxC costs R transforms of C points, a transpose, and C transforms of R points. Each frame is\n"
      "processed by one board, whose workers divide its transforms so that all finish together; the next frame goes "
      "to\n"
      "the next board. So boards = time per frame x frames per second, rounded up.\n"
      "\nA worker is NAME=TIME*UNITS+SERIAL: the TIME of one transform on one unit (core, compute unit), the number "
      "of\n"
      "UNITS (default 1), and the SERIAL time per frame before its first transform, such as the transpose (default "
      "0).\n"
      "Times are written 20us, 3100ns, 0.9ms. Give the rates reached while all workers run, because they share "
      "memory;\n"
      "the devices of this machine are measured in this way, with frames in host memory.\n"
      "\nThe last line has the power of all boards, if the machine has energy counters or --watts is given.");
  auto options = std::make_shared<SizeOptions>();
  command.option("--rate", options->rate, "Frames per second").positive();
  command.option("--frame", options->frame, "Size of a frame, rows x columns").shows_default().value_name("RxC");
  command
      .option("--worker", options->workers,
              "A processor of each board: time per transform, concurrent transforms, serial time per frame; may be "
              "repeated")
      .value_name("NAME=TIME*UNITS+SERIAL");
  command.option("--transforms", options->transforms, "Transforms per frame, if not rows + columns");
  command
      .option("--device", options->devices, "Devices to measure, host+cuda:0 (default: the host and the best device)")
      .value_name("NAMES");
  command.flag("--pinned", options->pinned, "Measure with frames in page-locked memory");
  command.option("--seconds", options->seconds, "Time for measuring, in seconds").shows_default().between(0.01, 600.0);
  command.option("--watts", options->watts, "Power of a board (default: the energy counters, RAPL and NVML)")
      .positive();
  command.option("--rack", options->rack, "Boards per rack").shows_default().between(1, 100000);
  command.flag("--paper", options->paper, "The paper's radar: 1555 frames per second, two workers");
  auto distributed = std::make_shared<SizeRanksOptions>();
  const Option ranks = command
                           .option("--ranks", distributed->ranks,
                                   "Predict one distributed transform instead, for up to this number of processes")
                           .positive();
  command.option("--shape", distributed->shape, "With --ranks: shape of the transform")
      .shows_default()
      .only_with(ranks);
  command.option("--type", distributed->type, "With --ranks: precision, f32 or f64")
      .one_of({"f32", "f64"})
      .only_with(ranks);
  command.option("--latency", distributed->latency, "With --ranks: latency of a message between machines")
      .shows_default()
      .only_with(ranks);
  command
      .option("--bandwidth", distributed->bandwidth,
              "With --ranks: bytes per second that a process sends between machines")
      .shows_default()
      .only_with(ranks);
  command.option("--node", distributed->node, "With --ranks: processes per machine").shows_default().only_with(ranks);
  command.runs([options, distributed, ranks] {
    if (ranks.given()) return run_size_ranks(*distributed);
    run_size(*options);
  });
}

}  // namespace ridge::cli
