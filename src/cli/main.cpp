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
    "Ridgeline computes transforms, filter banks, stencils, images and your own loops close to the limits of this\n"
    "machine, and reports how close and which limit applies.";

constexpr const char* kFooter = R"(
First steps:
  ridge tour                                            measure this machine and every workload; write report.html
  ridge fft in.npy out.npy                              transform a file
  ridge stencil heat --demo --every 200 --png frames    heat in a plate, with pictures
  ridge channelize design response.svg                  the response of a filter bank
  ridge image gauss 2 a.png b.png                       filter an image
  ridge place blur.cpp --function blur --device opencl:pocl    run your own loops on a device, verified
  ridge bench transpose                                 time every variant against the copy bandwidth
  ridge machine --roofline                              the limits, measured once and saved

An output appears under its name when it is complete, follows symbolic links and keeps the permissions of the file it
replaces; an input is never replaced. Long operations show their progress on a terminal.
Every command accepts --trace FILE: records a time line for ridge trace and https://ui.perfetto.dev.
Devices are named host, opencl:0, opencl:pocl, cuda:0 or best; RIDGE_DEVICE sets the default.
Every command has its own --help. The exit code is 0 for success, 1 for a user error, 2 for a defect of ridge.)";

void add_commands(ridge::cli::Command& program) {
  program.begin_group("This machine");
  ridge::cli::add_tour(program);
  ridge::cli::add_devices(program);
  ridge::cli::add_machine(program);
  ridge::cli::add_bench(program);
  ridge::cli::add_check(program);
  ridge::cli::add_wisdom(program);
  ridge::cli::add_kernels(program);
  ridge::cli::add_trace(program);
  program.begin_group("Transforms and arrays");
  ridge::cli::add_fft(program);
  ridge::cli::add_nufft(program);
  ridge::cli::add_convolve(program);
  ridge::cli::add_transpose(program);
  ridge::cli::add_fftw(program);
  program.begin_group("Grids and images");
  ridge::cli::add_stencil(program);
  ridge::cli::add_flow(program);
  ridge::cli::add_variance(program);
  ridge::cli::add_image(program);
  program.begin_group("Telescopes and radar");
  ridge::cli::add_capture(program);
  ridge::cli::add_channelize(program);
  ridge::cli::add_search(program);
  ridge::cli::add_fold(program);
  ridge::cli::add_periods(program);
  ridge::cli::add_dedisperse(program);
  ridge::cli::add_beamform(program);
  ridge::cli::add_run(program);
  ridge::cli::add_sar(program);
  ridge::cli::add_size(program);
  program.begin_group("Your own programs");
  ridge::cli::add_place(program);
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
