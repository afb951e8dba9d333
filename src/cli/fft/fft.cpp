// ridge fft: transforms files and pipes.
#include <memory>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "bench/lengths.hpp"
#include "cli/fft/files.hpp"
#include "command/command.hpp"

namespace ridge::cli {

void add_fft(Command& program) {
  Command& command = program.subcommand("fft", "Fourier transforms of .npy files, raw files and pipes");
  command.may_have_subcommand();
  command.footer(
      "\nExamples:\n"
      "  ridge fft signal.npy spectrum.npy                          the last axis, other axes are a batch\n"
      "  ridge fft image.npy spectrum.npy --shape 512x512 --real    two axes of real samples, half the spectrum\n"
      "  ridge fft spectrum.npy image.npy --shape 512x512 --real --inverse --scale 1/n\n"
      "  ridge fft image.npy cosines.npy --shape 512x512 --r2r dct2 cosine transform along both axes\n"
      "  ridge fft samples.raw spectrum.raw --shape 4096            complex float, to the end of the file\n"
      "  receiver | ridge fft - - --shape 1024 --samples i16 | detector\n"
      "  ridge fft signal.npy spectrum.npy --device cuda:0          on another device, the same result\n"
      "  ridge fft signal.npy spectrum.npy --device host+cuda:0     both at once, shares in proportion to their speed\n"
      "  ridge fft big.npy out.npy --shape 32768x32768 --memory 512M          larger than memory, in passes on disk\n"
      "  mpirun -n 8 ridge fft volume.npy spectrum.npy --shape 512x512x512    distributed over processes\n"
      "  ridge fft explain 1000                                     the plan, its lower bound and the rejected "
      "variants\n"
      "  ridge fft papers --device opencl:pocl                      the papers' variants and tables\n"
      "\nTransforms are unscaled unless --scale is given. Memory use is bounded for any length of the input. The "
      "output\n"
      "file appears when it is complete. A .npy input may be complex64, complex128, float32, float64, int8, uint8, "
      "int16,\n"
      "uint16 or int32.");
  auto options = std::make_shared<FftFileOptions>();
  command.option("IN", options->in, "A .npy file, a raw file, or - for standard input").reads();
  command.option("OUT", options->out, "A .npy file if the name ends in .npy, otherwise raw; - for standard output")
      .writes();
  command.option("--shape", options->shape, "Shape of one transform, 1024 or 64x64x64; with --real: of the samples")
      .value_name("AxBxC");
  command.flag("--inverse", options->inverse, "Inverse transform, exp(+2 pi i k n / N)");
  command.flag("--real", options->real, "Real samples, and the first n/2+1 values of the last axis of the spectrum");
  command
      .option("--r2r", options->r2r,
              "Reals to reals: dct1 to dct4, dst1 to dst4, hartley or halfcomplex, for all axes or one per axis: "
              "dct2,dst2; --inverse takes the inverse kinds")
      .value_name("KIND");
  command.option("--batch", options->batch, "Raw input: number of transforms (default: to its end)").positive();
  command.option("--type", options->type, "Compute in f32 or f64 (default: as the input)").one_of({"f32", "f64"});
  command.option("--samples", options->samples, "Raw input: sample type i8, i16, f32 or f64; complex samples are pairs")
      .one_of({"i8", "i16", "f32", "f64"});
  command
      .option("--scale", options->scale,
              "Scale factor: a number, 1/n or 1/sqrt(n); --r2r: n is the factor of a round trip")
      .shows_default();
  command.option("--variant", options->variant, "Use only this variant (ridge fft explain N lists them)");
  command.option("--device", options->device, "Device: host, cuda:0, opencl:pocl, best, or several: host+cuda:0")
      .shows_default()
      .value_name("NAME");
  command.threads(options->threads);
  const Option memory =
      command.bytes("--memory", options->memory,
                    "Memory limit (default 64M, at least one transform); a larger .npy transform then runs on disk");
  command.flag("--resume", options->resume, "Continue an interrupted transform that is larger than --memory");
  command.flag("--measure", options->measure, "Time the best candidates first and save the winner");
  add_fft_explain(command);
  add_fft_papers(command);
  command.runs([&command, options, memory] {
    if (command.has_subcommand()) return;
    options->memory_given = memory.given();
    if (options->in.empty() || options->out.empty()) {
      throw Error(ErrorKind::invalid_argument,
                  "ridge fft needs IN and OUT, or explain or papers (see ridge fft --help)");
    }
    transform_file(*options);
  });
}

}  // namespace ridge::cli
