// The subcommands, one file each: every function adds its command to the program.
#pragma once
#include <string>

#include "command/options.hpp"

namespace ridge::cli {

void add_devices(Command& program);
void add_machine(Command& program);
void add_bench(Command& program);
void add_tour(Command& program);
void add_wisdom(Command& program);
void add_kernels(Command& program);
void add_fft(Command& program);
void add_nufft(Command& program);
void add_sar(Command& program);
void add_size(Command& program);
void add_stencil(Command& program);
void add_capture(Command& program);
void add_run(Command& program);
void add_channelize(Command& program);
void add_flow(Command& program);
void add_image(Command& program);
void add_variance(Command& program);
void add_check(Command& program);
void add_place(Command& program);
void add_fftw(Command& program);
void add_search(Command& program);
void add_trace(Command& program);
void add_fold(Command& program);
void add_periods(Command& program);
void add_dedisperse(Command& program);
void add_beamform(Command& program);

// Subcommands of a command.
void add_check_accuracy(Command& check);
void add_fft_explain(Command& fft);
void add_fft_papers(Command& fft);
void add_channelize_signal(Command& channelize);
void add_channelize_synthesis(Command& channelize);
void add_search_signal(Command& search);
void add_search_convert(Command& search);
void add_acoustic(Command& stencil);
void add_maxwell(Command& stencil);
void add_elastic(Command& stencil);

}  // namespace ridge::cli
