// The command `ridge`: lists the subcommands and starts the program.
#include <cstdio>
#include <cstring>

#include <ridge/threads.hpp>

#include "cli/arrays/arrays.hpp"
#include "command/command.hpp"
#include "command/options.hpp"
#include "command/process.hpp"

namespace {

constexpr const char* kAbout =
    "Ridgeline runs regular, heavy computations close to the limits of this machine,\n"
    "and reports how close and which limit applies.";

constexpr const char* kFooter = R"(
First steps:
  ridge tour                     measure this machine, run each workload on each device, write report.html
  ridge devices                  list the devices, and the reasons why others are missing
  ridge machine                  ceilings and rooflines, measured once and saved
  ridge fft in.npy out.npy       Fourier transforms of files and pipes
  ridge nufft points.npy strengths.npy modes.npy --modes 256x256    nonuniform Fourier transforms
  ridge convolve in.npy filter.npy out.npy              convolutions, also of files larger than memory
  ridge transpose in.npy out.npy                        exchange the last two axes, also of files larger than memory
  ridge sar --png scene.png      focus simulated radar echoes, measure the point targets, report the rate
  ridge size --rate 1555         number of machines needed for 1555 frames per second
  ridge stencil heat --demo --every 200 --png frames    heat, waves, gas flows on grids, with pictures
  ridge capture 127.0.0.1:4001 out                      receive UDP packets, count and flag every loss
  ridge channelize in out        filter banks over files, pipes and rings
  ridge search in.fil --dm 0..500                       dispersed pulses in filterbank files
  ridge run day.toml             pipelines of these commands, with a live page
  ridge fold in.fil p.npy --period 0.5                  the mean pulse of a pulsar; ridge periods finds periods
  ridge flow a.png b.png flow.flo                       dense optical flow of two frames
  ridge variance in.png out.npy  the local variance of an image
  ridge image gauss 2 a.png b.png                       image operators and chains of them
  ridge place blur.cpp --function blur                  run your own loops on a device, verified and explained
  ridge fftw -- octave-cli p.m   run a program built for FFTW with Ridgeline's plans
  ridge bench fft                time transforms of many lengths and other libraries
  ridge bench stencil            time stencils against the memory bandwidth and a plain loop
  ridge bench transpose          time every variant of the transpose against the copy bandwidth
  ridge check --seconds 60       compare random problems with plain references, on any device

An output appears under its name when it is complete, follows symbolic links and keeps the permissions of the file it
replaces; an input is never replaced. Long operations show their progress on a terminal.
Every command accepts --trace FILE: records a time line for ridge trace and https://ui.perfetto.dev.
Devices are named host, opencl:0, opencl:pocl, cuda:0 or best; RIDGE_DEVICE sets the default.
Every command has its own --help. The exit code is 0 for success, 1 for a user error, 2 for a defect of ridge.)";

void add_commands(ridge::cli::Command& program) {
  ridge::cli::add_tour(program);
  ridge::cli::add_devices(program);
  ridge::cli::add_machine(program);
  ridge::cli::add_bench(program);
  ridge::cli::add_fft(program);
  ridge::cli::add_nufft(program);
  ridge::cli::add_convolve(program);
  ridge::cli::add_transpose(program);
  ridge::cli::add_fftw(program);
  ridge::cli::add_sar(program);
  ridge::cli::add_size(program);
  ridge::cli::add_stencil(program);
  ridge::cli::add_capture(program);
  ridge::cli::add_channelize(program);
  ridge::cli::add_search(program);
  ridge::cli::add_fold(program);
  ridge::cli::add_periods(program);
  ridge::cli::add_dedisperse(program);
  ridge::cli::add_beamform(program);
  ridge::cli::add_run(program);
  ridge::cli::add_flow(program);
  ridge::cli::add_variance(program);
  ridge::cli::add_image(program);
  ridge::cli::add_place(program);
  ridge::cli::add_check(program);
  ridge::cli::add_wisdom(program);
  ridge::cli::add_kernels(program);
  ridge::cli::add_trace(program);
}

}  // namespace

int main(int count, char** values) {
  if (count == 2 && std::strcmp(values[1], "--version") == 0) {
    std::puts(RIDGE_VERSION);
    return ridge::cli::end_process(0);
  }
  ridge::cli::begin_process();
  ridge::set_pinning(true);  // the command assumes it owns the machine; RIDGE_NO_PIN=1 overrides
  return ridge::cli::end_process(ridge::cli::run_program(count, values, kAbout, kFooter, RIDGE_VERSION, add_commands));
}
