// One file a subcommand. Each adds itself to the program and runs when it was chosen.
#pragma once
#include <string>

#include <CLI/CLI.hpp>

namespace ridge::cli {

void add_devices(CLI::App& program);
void add_machine(CLI::App& program);
void add_bench(CLI::App& program);
void add_tour(CLI::App& program);
void add_wisdom(CLI::App& program);
void add_fft(CLI::App& program);
void add_sar(CLI::App& program);
void add_size(CLI::App& program);
void add_stencil(CLI::App& program);
void add_channelize(CLI::App& program);
void add_check(CLI::App& program);
void add_check_accuracy(CLI::App& check);

// Of `ridge fft`.
void add_fft_explain(CLI::App& fft);

}  // namespace ridge::cli
