// ridge stencil: predefined problems on structured grids.
#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "cli/stencil/input.hpp"
#include "cli/stencil/run.hpp"
#include "command/command.hpp"
#include "command/process.hpp"

namespace ridge::cli {
namespace {

struct Options {
  RunOptions run;
  std::string size, border, type = "f32", overlap;
  std::string schedule = "automatic";
  bool measure = false, demo = false, no_leap = false;
  std::size_t threads = 0;
  stencil::HeatOptions heat;
  stencil::WaveOptions wave;
  stencil::EulerOptions euler;
  stencil::FluidOptions fluid;
  stencil::LifeOptions life;
  stencil::ConvolveOptions convolve;
};

void add_run_options(Command& command, const std::shared_ptr<Options>& options) {
  RunOptions& run = options->run;
  command
      .option("--device", run.device,
              "Device: host, cuda:0, opencl:pocl or best; \"cuda:*\" gives each process of an MPI run its own")
      .value_name("NAME");
  command.threads(options->threads);
  command
      .option("--schedule", options->schedule,
              "Host: division of the rows among threads, as in OpenMP; automatic: the variant's own")
      .shows_default()
      .one_of({"automatic", "static", "dynamic", "guided"});
  command
      .option("--border", options->border,
              "Borders: fixed, mirror, periodic; per axis x=periodic,y=fixed; per side y=fixed/mirror (low/high)")
      .value_name("KIND");
  command.option("--in", run.in, "Start from a .npy array or a .png image").reads();
  command
      .option("--out", run.out,
              "Output file: NAME.pvd: a series for ParaView; .vti, .npy, .png: the last state; may be repeated")
      .writes();
  command.option("--png", run.frames, "Write a picture every --every steps, PREFIX_000100.png").writes_names_with("_");
  command.option("--every", run.every, "Steps between grids, pictures and checkpoints").value_name("N").positive();
  command.option("--checkpoint", run.checkpoint, "Keep the state in FILE and the one before in FILE.previous").writes();
  command.option("--checkpoint-every", run.checkpoint_every, "Steps between checkpoints, if different from --every")
      .value_name("N")
      .positive();
  command.flag("--resume", run.resume, "Continue from the newest complete checkpoint, or start if there is none");
  command.option("--colours", run.colours, "Colours of pictures: ember, fern, balance or grey").value_name("MAP");
  command.option("--field", run.field, "Field shown in pictures").value_name("NAME");
  command.option("--low", run.low, "Value of the lowest colour");
  command.option("--high", run.high, "Value of the highest colour");
  command.option("--pixels", run.pixels, "Maximum pixels of a picture's longer side")
      .shows_default()
      .between(16, 16384);
  command.flag("--base64", run.base64, "Write .vti files as plain XML text instead of raw numbers");
  command.option("--variant", run.domain.planner.variant, "Use only this variant (ridge bench stencil lists them)")
      .value_name("NAME");
  command.flag("--measure", options->measure, "Time the best variants first and save the winner");
  command.explain(run.explain);
  command.flag("--no-leap", options->no_leap,
               "Compute every step, even if many steps could be computed at once by a leap");
  command.option("--processes", run.domain.processes, "MPI: processes along each axis, 2x2 (default: chosen)")
      .value_name("AxBxC");
  command.option("--halo", run.domain.depth, "MPI: steps between exchanges of halos (default: chosen)")
      .value_name("N")
      .positive();
  command.flag("--shared", run.domain.shared,
               "MPI: one grid in memory that the processes of a machine share, instead of parts with halos");
  command.option("--overlap", options->overlap, "MPI: exchange while computing, on or off (default: measured)")
      .one_of({"on", "off"});
}

void settle(Options& options) {
  check(options.run);
  options.run.domain.planner.effort = options.measure ? Effort::measured : Effort::quick;
  if (!options.overlap.empty()) options.run.domain.overlap = options.overlap == "on";
}

using Start = std::function<void(Options&, const mpi::Communicator&)>;

std::shared_ptr<Options> add_problem(Command& command, const char* footer, std::size_t steps, const Start& start) {
  command.footer(footer);
  auto options = std::make_shared<Options>();
  options->run.steps = steps;
  command.option("--steps", options->run.steps, "Number of time steps, counted from the start of the run")
      .shows_default()
      .between(0, kMostSteps);
  add_run_options(command, options);
  command.runs([options, start] {
    with_processes([&](const mpi::Communicator& processes) {
      settle(*options);
      start(*options, processes);
    });
  });
  return options;
}

void add_type(Command& command, const std::shared_ptr<Options>& options) { command.precision(options->type); }
void add_size(Command& command, const std::shared_ptr<Options>& options, const char* shown) {
  command.option("--size", options->size, fmt::format("Cells along each axis, slowest first (default {})", shown))
      .value_name("AxBxC");
}

template <class T>
void start(const mpi::Communicator& processes, stencil::Scenario<T> scenario, const Options& options) {
  scenario.problem.threads = options.threads;
  scenario.problem.schedule = stencil::parse_schedule(options.schedule);
  if (options.no_leap) scenario.problem.leap = stencil::LeapUse::never;
  if (const int code = run_scenario(processes, std::move(scenario), options.run); code != 0) throw ExitWith{code};
}

// Runs make<T>() for f32 or f64.
template <class Make>
void start_typed(const mpi::Communicator& processes, const Options& options, const Make& make) {
  if (options.type == "f64") {
    start(processes, make.template operator()<double>(), options);
  } else {
    start(processes, make.template operator()<float>(), options);
  }
}

// Sets the shape to the given size or that of the input file; otherwise keeps it.
void take_size(const Options& options, std::vector<std::size_t>& shape) {
  if (!options.size.empty()) {
    shape = parse_cells(options.size);
  } else if (!options.run.in.empty()) {
    shape = read_grid(options.run.in, shape.size()).shape;
  }
}

void add_heat(Command& stencil) {
  Command& command = stencil.subcommand("heat", "Heat equation: u_t = alpha (u_xx + u_yy + u_zz), 1D to 3D");
  const auto options = add_problem(
      command,
      "\nExamples:\n"
      "  ridge stencil heat --demo --steps 1200 --every 200 --png frames     cold and hot spots in a plate\n"
      "  ridge stencil heat --size 8192x8192 --steps 200                     a speed test\n"
      "  ridge stencil heat --size 256x256x256 --border periodic --every 50 --out heat.pvd\n"
      "  ridge stencil heat --size 4096x4096 --steps 100000 --checkpoint heat.ckp --every 5000 --resume\n"
      "  ridge stencil heat --size 2048x2048 --steady --png plate             the steady state, computed directly\n"
      "\nThe time step must satisfy alpha dt (sum of 1/dx^2) < 0.5; the default is 0.9 of this limit.\n"
      "Many steps between two outputs are computed by one leap if that is faster (not with --no-leap or\n"
      "--checkpoint).",
      1000, [](Options& w, const mpi::Communicator& processes) {
        if (w.demo) w.heat = stencil::heat_demo();
        take_size(w, w.heat.shape);
        if (!w.border.empty()) w.heat.border = w.border;
        start_typed(processes, w, [&]<class T>() { return stencil::heat_scenario<T>(w.heat); });
      });
  add_size(command, options, "512x512");
  add_type(command, options);
  stencil::HeatOptions& heat = options->heat;
  const Option demo =
      command.flag("--demo", options->demo, "The stenCINES paper's plate: 128x128, alpha 0.4, dt 1e-6, 16.64 cm");
  command.option("--alpha", heat.alpha, "Diffusivity").shows_default().positive().not_with(demo);
  command.option("--dt", heat.dt, "Time step (default: 0.9 of the stability limit)").positive().not_with(demo);
  command.option("--length", heat.length, "Length of the first axis; cells are squares or cubes")
      .shows_default()
      .positive()
      .not_with(demo);
  command.option("--accuracy", heat.accuracy, "Order of the finite differences")
      .shows_default()
      .one_of({"2", "4", "6", "8"});
  command.option("--initial", heat.initial, "Initial state").shows_default().one_of({"spots", "mode", "random"});
  command.flag("--steady", options->run.steady, "Compute the steady state directly");
}

void add_wave(Command& stencil) {
  Command& command = stencil.subcommand("wave", "Wave equation: u_tt = c^2 (u_xx + u_yy + u_zz), 1D to 3D");
  const auto options = add_problem(
      command,
      "\nExamples:\n"
      "  ridge stencil wave --every 100 --png pond                           a drop in a square pond\n"
      "  ridge stencil wave --size 200x200x200 --every 20 --out wave.pvd --border x=periodic,y=fixed,z=fixed/mirror\n"
      "\nfixed borders reflect with the opposite sign, mirror borders with the same. The Courant number\n"
      "c dt sqrt(sum of 1/dx^2) must not exceed 1; without --dt it is 0.9.",
      1000, [](Options& w, const mpi::Communicator& processes) {
        take_size(w, w.wave.shape);
        if (!w.border.empty()) w.wave.border = w.border;
        start_typed(processes, w, [&]<class T>() { return stencil::wave_scenario<T>(w.wave); });
      });
  add_size(command, options, "512x512");
  add_type(command, options);
  stencil::WaveOptions& wave = options->wave;
  command.option("--speed", wave.speed, "Wave speed c").shows_default().positive();
  command.option("--dt", wave.dt, "Time step (default: a Courant number of 0.9)").positive();
  command.option("--length", wave.length, "Length of the first axis").shows_default().positive();
  command.option("--initial", wave.initial, "Initial state").shows_default().one_of({"drop", "mode"});
}

void add_euler(Command& stencil) {
  Command& command = stencil.subcommand(
      "euler", "Gas dynamics with shocks: Euler's equations in 2D, MUSCL-Hancock with HLLC fluxes, second order");
  const auto options = add_problem(
      command,
      "\nExamples:\n"
      "  ridge stencil euler --every 100 --png blast                         a circular explosion\n"
      "  ridge stencil euler --flow shear --size 1024x1024 --steps 20000 --every 500 --out shear.pvd\n"
      "  ridge stencil euler --flow sod --steps 200 --out sod.npy --png sod\n"
      "\nState: density, momentum along x and y, energy. Written and shown: density, velocity_x, velocity_y, "
      "pressure.\n"
      "The time step is constant during a run; its stability is checked at every output.",
      1000, [](Options& w, const mpi::Communicator& processes) {
        w.euler.border = w.border;
        if (!w.size.empty()) w.euler.shape = parse_cells(w.size);
        start_typed(processes, w, [&]<class T>() { return stencil::euler_scenario<T>(w.euler); });
      });
  add_size(command, options, "suitable for the flow");
  add_type(command, options);
  stencil::EulerOptions& euler = options->euler;
  command.option("--flow", euler.flow, "Initial state").shows_default().one_of({"blast", "sod", "vortex", "shear"});
  command.option("--gamma", euler.gamma, "Ratio of specific heats").shows_default();
  command.option("--dt", euler.dt, "Time step (default: from --courant)").positive();
  command.option("--courant", euler.courant, "Courant number: maximum of dt ((|u| + c) / dx + (|v| + c) / dy)")
      .shows_default()
      .positive();
}

void add_fluid(Command& stencil) {
  Command& command = stencil.subcommand(
      "fluid", "Viscous flow in 3D: incompressible Navier-Stokes equations, second order in space and time");
  const auto options = add_problem(
      command,
      "\nExamples:\n"
      "  ridge stencil fluid --every 200 --out vortex.pvd                     a decaying vortex (Beltrami flow)\n"
      "  ridge stencil fluid --flow channel --steps 8000 --out channel.npy    flow between plates, from rest\n"
      "  ridge stencil fluid --flow channel --border x=periodic,y=fixed,z=fixed --size 65x65x32    a square duct\n"
      "\nWritten and shown: velocity_x, velocity_y, velocity_z, pressure. The vortex decays by exp(-viscosity t) in a\n"
      "cube of side 2 pi; the channel of height 1 tends to a parabola with the velocity 1 in its middle.",
      1000, [](Options& w, const mpi::Communicator& processes) {
        w.fluid.border = w.border;
        if (!w.size.empty()) w.fluid.shape = parse_cells(w.size);
        start_typed(processes, w, [&]<class T>() { return stencil::fluid_scenario<T>(w.fluid); });
      });
  add_size(command, options, "suitable for the flow");
  add_type(command, options);
  stencil::FluidOptions& fluid = options->fluid;
  command.option("--flow", fluid.flow, "Flow").shows_default().one_of({"vortex", "channel"});
  command.option("--viscosity", fluid.viscosity, "Kinematic viscosity").shows_default().positive();
  command.option("--sound", fluid.sound, "Speed of pressure waves (default: ten times the fastest flow)").positive();
  command.option("--dt", fluid.dt, "Time step (default: half of the stability limit)").positive();
}

void add_life(Command& stencil) {
  Command& command = stencil.subcommand("life", "Cellular automata of 0 and 1: Game of Life and similar rules");
  const auto options =
      add_problem(command,
                  "\nExamples:\n"
                  "  ridge stencil life --steps 500 --every 10 --png life\n"
                  "  ridge stencil life --rule B36/S23 --in pattern.png --steps 100 --out after.png\n"
                  "\nA rule lists the numbers of living neighbours with which a cell is born or survives.",
                  1000, [](Options& w, const mpi::Communicator& processes) {
                    take_size(w, w.life.shape);
                    if (!w.border.empty()) w.life.border = w.border;
                    auto scenario = stencil::life_scenario<std::uint8_t>(w.life);
                    start(processes, std::move(scenario), w);
                  });
  add_size(command, options, "512x512");
  command.option("--rule", options->life.rule, "Rule: B<born>/S<survives>").shows_default();
  command.option("--density", options->life.density, "Initial fraction of living cells").shows_default().between(0, 1);
  command.option("--seed", options->life.seed, "Seed of the random initial state").shows_default();
}

void add_convolve(Command& stencil) {
  Command& command = stencil.subcommand("convolve", "Filter an image or an array with a kernel, once or many times");
  const auto options =
      add_problem(command,
                  "\nExamples:\n"
                  "  ridge stencil convolve --in photo.png --kernel gauss:2 --out soft.png\n"
                  "  ridge stencil convolve --in field.npy --kernel \"0 1 0; 1 -4 1; 0 1 0\" --out laplacian.npy\n"
                  "\nKernels: gauss:SIGMA, box:RADIUS, sharpen, laplace, sobel-x, sobel-y, emboss, or rows of numbers.",
                  1, [](Options& w, const mpi::Communicator& processes) {
                    if (w.run.in.empty())
                      throw Error(ErrorKind::invalid_argument, "ridge stencil convolve needs --in FILE");
                    const InputGrid image = read_grid(w.run.in, 2);
                    w.convolve.shape = image.shape;
                    w.convolve.channels = image.channels;
                    if (!w.border.empty()) w.convolve.border = w.border;
                    start_typed(processes, w, [&]<class T>() { return stencil::convolve_scenario<T>(w.convolve); });
                  });
  add_type(command, options);
  command.option("--kernel", options->convolve.kernel, "Filter kernel").shows_default();
}

}  // namespace

void add_stencil(Command& program) {
  Command& command = program.subcommand(
      "stencil",
      "Run a problem on a structured grid: heat, wave, acoustic, maxwell, elastic, euler, fluid, life, convolve");
  command.needs_subcommand();
  command.footer(
      "\nExamples:\n"
      "  ridge stencil heat --demo --steps 1200 --every 200 --png frames\n"
      "  ridge stencil wave --every 100 --out wave.pvd          open wave.pvd in ParaView, also while it runs\n"
      "  ridge stencil acoustic --velocity model.npy --spacing 10 --steps 3000 --record shot.npy\n"
      "  ridge stencil euler --flow blast --every 100 --png blast\n"
      "  mpirun -n 4 ridge stencil heat --size 16384x16384      distributed over processes\n"
      "\nEvery problem has its own --help. A killed run continues with the same command and --resume, on any number "
      "of\n"
      "processes. Files appear when they are complete.");
  add_heat(command);
  add_wave(command);
  add_acoustic(command);
  add_maxwell(command);
  add_elastic(command);
  add_euler(command);
  add_fluid(command);
  add_life(command);
  add_convolve(command);
}

}  // namespace ridge::cli
