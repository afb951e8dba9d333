// ridge stencil: ready problems on structured grids.
#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "cli/command.hpp"
#include "cli/stencil_input.hpp"
#include "cli/stencil_run.hpp"
#include "cli/with_processes.hpp"

namespace ridge::cli {
namespace {

struct Wishes {
  RunWishes run;
  std::string size, border, type = "f32", overlap;
  bool measure = false, demo = false;
  std::size_t threads = 0;
  stencil::HeatWishes heat;
  stencil::WaveWishes wave;
  stencil::EulerWishes euler;
  stencil::LifeWishes life;
  stencil::ConvolveWishes convolve;
};

// CLI11 takes -3 for a very large number.
CLI::Option* whole(CLI::Option* option) {
  return option->check([](const std::string& text) {
    const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
    return digits ? std::string() : fmt::format("\"{}\" is not a whole number of 0 or more", text);
  });
}

void add_run_options(CLI::App& command, const std::shared_ptr<Wishes>& wishes) {
  RunWishes& run = wishes->run;
  command.add_option("--device", run.device, "Where to run; \"cuda:*\" gives each process of an MPI run its own")
      ->type_name("NAME");
  whole(command.add_option("--threads", wishes->threads, "Host: threads (0: all)")->capture_default_str());
  command
      .add_option("--border", wishes->border,
                  "fixed, mirror, periodic; by axis x=periodic,y=fixed; by side y=fixed/mirror (low/high)")
      ->type_name("KIND");
  command.add_option("--in", run.in, "Start from a .npy array or a .png image")->type_name("FILE");
  command
      .add_option("--out", run.out,
                  "NAME.pvd: a series for ParaView; .vti, .npy, .png: the last state; may be repeated")
      ->type_name("FILE");
  command.add_option("--png", run.frames, "A picture every --every steps, PREFIX_000100.png")->type_name("PREFIX");
  whole(command.add_option("--every", run.every, "Steps between grids, pictures and checkpoints")->type_name("N"));
  command.add_option("--checkpoint", run.checkpoint, "Keep the state in FILE and the one before in FILE.previous")
      ->type_name("FILE");
  whole(command.add_option("--checkpoint-every", run.checkpoint_every, "Steps between checkpoints, where not --every")
            ->type_name("N"));
  command.add_flag("--resume", run.resume, "Go on from the newest whole checkpoint, or start where there is none");
  command.add_option("--colours", run.colours, "Of pictures: ember, fern, balance or grey")->type_name("MAP");
  command.add_option("--field", run.field, "Shown in pictures")->type_name("NAME");
  command.add_option("--low", run.low, "What the colours' lower end stands for");
  command.add_option("--high", run.high, "What the upper end stands for");
  command.add_option("--pixels", run.pixels, "Of a picture's longer side, at most")
      ->capture_default_str()
      ->check(CLI::Range(16, 16384));
  command.add_flag("--base64", run.base64, ".vti files as plain XML text instead of raw numbers");
  command.add_option("--variant", run.domain.planner.variant, "Only this variant (ridge bench stencil lists them)")
      ->type_name("NAME");
  command.add_flag("--measure", wishes->measure, "Time the best variants first, and remember the winner");
  command.add_flag("--explain", run.explain, "Print the plan");
  command.add_option("--processes", run.domain.processes, "MPI: how the grid is cut, 2x2 (default: chosen)")
      ->type_name("AxBxC");
  whole(command.add_option("--halo", run.domain.depth, "MPI: steps between exchanges of halos (default: chosen)")
            ->type_name("N"));
  command.add_option("--overlap", wishes->overlap, "MPI: exchange while computing, on or off (default: measured)")
      ->check(CLI::IsMember({"on", "off"}));
}

void settle(Wishes& wishes) {
  check(wishes.run);
  wishes.run.domain.planner.effort = wishes.measure ? Effort::measured : Effort::quick;
  if (!wishes.overlap.empty()) wishes.run.domain.overlap = wishes.overlap == "on";
}

using Start = std::function<void(Wishes&, const mpi::Processes&)>;

std::shared_ptr<Wishes> add_problem(CLI::App& stencil, const char* name, const char* about, const char* footer,
                                    std::size_t steps, CLI::App*& command, const Start& start) {
  command = stencil.add_subcommand(name, about);
  command->footer(footer);
  auto wishes = std::make_shared<Wishes>();
  wishes->run.steps = steps;
  whole(command->add_option("--steps", wishes->run.steps, "Time steps, from the very start of the run")
            ->capture_default_str());
  add_run_options(*command, wishes);
  command->callback([wishes, start] {
    with_processes([&](const mpi::Processes& processes) {
      settle(*wishes);
      start(*wishes, processes);
    });
  });
  return wishes;
}

void add_type(CLI::App& command, const std::shared_ptr<Wishes>& wishes) {
  command.add_option("--type", wishes->type, "f32 or f64")->capture_default_str()->check(CLI::IsMember({"f32", "f64"}));
}
void add_size(CLI::App& command, const std::shared_ptr<Wishes>& wishes, const char* shown) {
  command.add_option("--size", wishes->size, fmt::format("Cells along each axis, slowest first (default {})", shown))
      ->type_name("AxBxC");
}

template <class T>
void start(const mpi::Processes& processes, stencil::Scenario<T> scenario, const Wishes& wishes) {
  scenario.problem.threads = wishes.threads;
  if (const int code = run_scenario(processes, std::move(scenario), wishes.run); code != 0)
    throw CLI::RuntimeError(code);
}

// f32 or f64: make<T>() is asked for one of them.
template <class Make>
void start_typed(const mpi::Processes& processes, const Wishes& wishes, const Make& make) {
  if (wishes.type == "f64") {
    start(processes, make.template operator()<double>(), wishes);
  } else {
    start(processes, make.template operator()<float>(), wishes);
  }
}

// The size asked for, that of the file given, or what stands there.
void take_size(const Wishes& wishes, std::vector<std::size_t>& shape) {
  if (!wishes.size.empty()) {
    shape = parse_cells(wishes.size);
  } else if (!wishes.run.in.empty()) {
    shape = read_grid(wishes.run.in, shape.size()).shape;
  }
}

void add_heat(CLI::App& stencil) {
  CLI::App* command = nullptr;
  const auto wishes = add_problem(
      stencil, "heat", "Heat spreads: u_t = alpha (u_xx + u_yy + u_zz), 1D to 3D",
      "\nExamples:\n"
      "  ridge stencil heat --demo --steps 1200 --every 200 --png frames     cold and hot spots in a plate\n"
      "  ridge stencil heat --size 8192x8192 --steps 200                     how fast is it?\n"
      "  ridge stencil heat --size 256x256x256 --border periodic --every 50 --out heat.pvd\n"
      "  ridge stencil heat --size 4096x4096 --steps 100000 --checkpoint heat.ckp --every 5000 --resume\n"
      "\nThe time step must satisfy alpha dt (sum of 1/dx^2) < 0.5; without --dt 0.9 of that is taken.",
      1000, command, [](Wishes& w, const mpi::Processes& processes) {
        if (w.demo) w.heat = stencil::heat_demo();
        take_size(w, w.heat.shape);
        if (!w.border.empty()) w.heat.border = w.border;
        start_typed(processes, w, [&]<class T>() { return stencil::heat_scenario<T>(w.heat); });
      });
  add_size(*command, wishes, "512x512");
  add_type(*command, wishes);
  stencil::HeatWishes& heat = wishes->heat;
  auto* demo =
      command->add_flag("--demo", wishes->demo, "The stenCINES paper's plate: 128x128, alpha 0.4, dt 1e-6, 16.64 cm");
  command->add_option("--alpha", heat.alpha, "Diffusivity")->capture_default_str()->excludes(demo);
  command->add_option("--dt", heat.dt, "Time step (default: 0.9 of the stable one)")->excludes(demo);
  command->add_option("--length", heat.length, "Of the first axis; cells are squares or cubes")
      ->capture_default_str()
      ->excludes(demo);
  command->add_option("--accuracy", heat.accuracy, "Order of the differences: 2, 4, 6 or 8")->capture_default_str();
  command->add_option("--initial", heat.initial, "spots, mode or random")->capture_default_str();
}

void add_wave(CLI::App& stencil) {
  CLI::App* command = nullptr;
  const auto wishes = add_problem(
      stencil, "wave", "Waves: u_tt = c^2 (u_xx + u_yy + u_zz), 1D to 3D",
      "\nExamples:\n"
      "  ridge stencil wave --every 100 --png pond                           a drop falls into a square pond\n"
      "  ridge stencil wave --size 200x200x200 --every 20 --out wave.pvd --border x=periodic,y=fixed,z=fixed/mirror\n"
      "\nfixed borders reflect with the opposite sign, mirror borders with the same. The Courant number\n"
      "c dt sqrt(sum of 1/dx^2) must not exceed 1; without --dt it is 0.9.",
      1000, command, [](Wishes& w, const mpi::Processes& processes) {
        take_size(w, w.wave.shape);
        if (!w.border.empty()) w.wave.border = w.border;
        start_typed(processes, w, [&]<class T>() { return stencil::wave_scenario<T>(w.wave); });
      });
  add_size(*command, wishes, "512x512");
  add_type(*command, wishes);
  stencil::WaveWishes& wave = wishes->wave;
  command->add_option("--speed", wave.speed, "c")->capture_default_str();
  command->add_option("--dt", wave.dt, "Time step (default: a Courant number of 0.9)");
  command->add_option("--length", wave.length, "Of the first axis")->capture_default_str();
  command->add_option("--initial", wave.initial, "drop or mode")->capture_default_str();
}

void add_euler(CLI::App& stencil) {
  CLI::App* command = nullptr;
  const auto wishes = add_problem(
      stencil, "euler", "A gas with shocks: Euler's equations in 2D, MUSCL-Hancock with HLLC fluxes, second order",
      "\nExamples:\n"
      "  ridge stencil euler --every 100 --png blast                         a circular explosion\n"
      "  ridge stencil euler --flow shear --size 1024x1024 --steps 20000 --every 500 --out shear.pvd\n"
      "  ridge stencil euler --flow sod --steps 200 --out sod.npy --png sod\n"
      "\nState: density, momentum along x and y, energy. Written and shown: density, velocity_x, velocity_y, "
      "pressure.\n"
      "One time step serves the whole run; it is checked against the flow whenever the grid is looked at.",
      1000, command, [](Wishes& w, const mpi::Processes& processes) {
        w.euler.border = w.border;
        if (!w.size.empty()) w.euler.shape = parse_cells(w.size);
        start_typed(processes, w, [&]<class T>() { return stencil::euler_scenario<T>(w.euler); });
      });
  add_size(*command, wishes, "what the flow wants");
  add_type(*command, wishes);
  stencil::EulerWishes& euler = wishes->euler;
  command->add_option("--flow", euler.flow, "blast, sod, vortex or shear")->capture_default_str();
  command->add_option("--gamma", euler.gamma, "Ratio of specific heats")->capture_default_str();
  command->add_option("--dt", euler.dt, "Time step (default: from --courant)");
  command->add_option("--courant", euler.courant, "dt ((|u| + c) / dx + (|v| + c) / dy) at its largest")
      ->capture_default_str();
}

void add_life(CLI::App& stencil) {
  CLI::App* command = nullptr;
  const auto wishes =
      add_problem(stencil, "life", "Cellular automata of 0 and 1: Life and its relatives",
                  "\nExamples:\n"
                  "  ridge stencil life --steps 500 --every 10 --png life\n"
                  "  ridge stencil life --rule B36/S23 --in pattern.png --steps 100 --out after.png\n"
                  "\nA rule names the numbers of living neighbours with which a cell is born and survives.",
                  1000, command, [](Wishes& w, const mpi::Processes& processes) {
                    take_size(w, w.life.shape);
                    if (!w.border.empty()) w.life.border = w.border;
                    auto scenario = stencil::life_scenario<std::uint8_t>(w.life);
                    start(processes, std::move(scenario), w);
                  });
  add_size(*command, wishes, "512x512");
  command->add_option("--rule", wishes->life.rule, "B<born>/S<survives>")->capture_default_str();
  command->add_option("--density", wishes->life.density, "Share of living cells at the start")->capture_default_str();
  whole(command->add_option("--seed", wishes->life.seed, "Of the random start")->capture_default_str());
}

void add_convolve(CLI::App& stencil) {
  CLI::App* command = nullptr;
  const auto wishes =
      add_problem(stencil, "convolve", "Filter an image or an array with a kernel, once or many times",
                  "\nExamples:\n"
                  "  ridge stencil convolve --in photo.png --kernel gauss:2 --out soft.png\n"
                  "  ridge stencil convolve --in field.npy --kernel \"0 1 0; 1 -4 1; 0 1 0\" --out laplacian.npy\n"
                  "\nKernels: gauss:SIGMA, box:RADIUS, sharpen, laplace, sobel-x, sobel-y, emboss, or rows of numbers.",
                  1, command, [](Wishes& w, const mpi::Processes& processes) {
                    if (w.run.in.empty())
                      throw Error(ErrorKind::invalid_argument, "ridge stencil convolve wants --in FILE");
                    const InputGrid image = read_grid(w.run.in, 2);
                    w.convolve.shape = image.shape;
                    w.convolve.channels = image.channels;
                    if (!w.border.empty()) w.convolve.border = w.border;
                    start_typed(processes, w, [&]<class T>() { return stencil::convolve_scenario<T>(w.convolve); });
                  });
  add_type(*command, wishes);
  command->add_option("--kernel", wishes->convolve.kernel, "What to filter with")->capture_default_str();
}

}  // namespace

void add_stencil(CLI::App& program) {
  auto* command =
      program.add_subcommand("stencil", "Run a problem on a structured grid: heat, wave, euler, life, convolve");
  command->require_subcommand(1);
  command->footer(
      "\nExamples:\n"
      "  ridge stencil heat --demo --steps 1200 --every 200 --png frames\n"
      "  ridge stencil wave --every 100 --out wave.pvd          open wave.pvd in ParaView, also while it runs\n"
      "  ridge stencil euler --flow blast --every 100 --png blast\n"
      "  mpirun -n 4 ridge stencil heat --size 16384x16384      over processes, and machines\n"
      "\nEvery problem has its own --help. A run that is killed goes on with the same line and --resume, on any number "
      "of\n"
      "processes. Files appear when they are whole.");
  add_heat(*command);
  add_wave(*command);
  add_euler(*command);
  add_life(*command);
  add_convolve(*command);
}

}  // namespace ridge::cli
