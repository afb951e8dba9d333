// ridge fft: transforms of files and pipes.
#include <memory>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "cli/byte_option.hpp"
#include "cli/command.hpp"
#include "cli/fft_files.hpp"
#include "cli/fft_lengths.hpp"
#include "cli/fft_papers.hpp"

namespace ridge::cli {

void add_fft(CLI::App& program) {
  auto* command =
      program.add_subcommand("fft", "Fourier transforms of .npy files, raw files and pipes; explain, check");
  command->require_subcommand(0, 1);
  command->footer(
      "\nExamples:\n"
      "  ridge fft signal.npy spectrum.npy                          the last axis, other axes are a batch\n"
      "  ridge fft image.npy spectrum.npy --shape 512x512 --real    two axes of reals, half the spectrum\n"
      "  ridge fft spectrum.npy image.npy --shape 512x512 --real --inverse --scale 1/n\n"
      "  ridge fft samples.raw spectrum.raw --shape 4096            complex float, to the end of the file\n"
      "  receiver | ridge fft - - --shape 1024 --samples i16 | detector\n"
      "  ridge fft signal.npy spectrum.npy --device cuda:0          on another device, the same answer\n"
      "  ridge fft signal.npy spectrum.npy --device host+cuda:0     both at once, each with the share it can do\n"
      "  ridge fft explain 1000                                     the plan, its floor and the losers\n"
      "  ridge fft papers --device opencl:pocl                      the papers' variants, their tables redrawn\n"
      "\nNothing is scaled unless --scale says so. Memory stays bounded however long the input is, and an output file\n"
      "appears when it is whole. A .npy input may hold complex64, complex128, float32, float64, int8, uint8, int16 or\n"
      "int32.");
  auto wishes = std::make_shared<FftFileWishes>();
  command->add_option("IN", wishes->in, "A .npy file, a raw file, or - for standard input");
  command->add_option("OUT", wishes->out, "A .npy file where the name ends so, else raw; - for standard output");
  command->add_option("--shape", wishes->shape, "Of one transform, 1024 or 64x64x64; of the samples where --real")
      ->type_name("AxBxC");
  command->add_flag("--inverse", wishes->inverse, "exp(+2 pi i k n / N)");
  command->add_flag("--real", wishes->real,
                    "Real samples, and the first n/2+1 values of the last axis of the spectrum");
  command->add_option("--batch", wishes->batch, "Raw input: how many transforms (default: to its end)");
  command->add_option("--type", wishes->type, "Compute in f32 or f64 (default: as the input)")
      ->check(CLI::IsMember({"f32", "f64"}));
  command->add_option("--samples", wishes->samples, "Raw input: numbers of i8, i16, f32, f64; complex ones are pairs")
      ->check(CLI::IsMember({"i8", "i16", "f32", "f64"}));
  command->add_option("--scale", wishes->scale, "A factor: a number, 1/n or 1/sqrt(n)")->capture_default_str();
  command->add_option("--variant", wishes->variant, "Only this variant (ridge fft explain N lists them)");
  command
      ->add_option("--device", wishes->device,
                   "Where to compute: host, cuda:0, opencl:pocl, best, or several: host+cuda:0")
      ->capture_default_str()
      ->type_name("NAME");
  command->add_option("--threads", wishes->threads, "0: all")->capture_default_str();
  add_byte_option(*command, "--memory", wishes->memory,
                  "Samples and spectra held at a time (default 64M; one transform at least)");
  command->add_flag("--measure", wishes->measure, "Time the best candidates first, and remember the winner");
  add_fft_explain(*command);
  add_fft_papers(*command);
  command->callback([command, wishes] {
    if (!command->get_subcommands().empty()) return;
    if (wishes->in.empty() || wishes->out.empty()) {
      throw Error(ErrorKind::invalid_argument,
                  "ridge fft wants IN and OUT, or explain, check or papers (see ridge fft --help)");
    }
    transform_file(*wishes);
  });
}

}  // namespace ridge::cli
