// Files of `ridge fft IN OUT`: input elements of any type, processed in batches of bounded memory.
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <ridge/fft/tensor.hpp>
#include <ridge/mpi/communicator.hpp>

#include "io/arrays/npy.hpp"

namespace ridge::cli {

struct FftFileOptions {
  std::string in, out;
  std::string shape;  // of the transform; empty: the last axis of a .npy file
  bool inverse = false, real = false, measure = false;
  std::string r2r;          // real to real: a kind for all axes, or one per axis, comma-separated
  std::size_t batch = 0;    // raw: number of transforms; 0: to the end
  std::string type;         // f32, f64; empty: the input's precision
  std::string samples;      // raw: i8, i16, f32, f64; empty: as --type
  std::string scale = "1";  // a number, 1/n, 1/sqrt(n)
  std::string variant;
  std::string device = "host";
  std::size_t threads = 0;
  std::size_t memory = std::size_t{64} << 20;  // bytes of samples held in memory
  bool memory_given = false;                   // a larger transform is then computed out of core
  bool resume = false;                         // continues an interrupted transform out of core
};

// The problem described by a file and the options.
struct FftFileProblem {
  io::ElementType element = io::ElementType::complex64;  // of the input
  std::vector<std::size_t> shape;                        // of the transform; real: of the samples
  std::vector<std::size_t> batch_axes;                   // leading axes of a .npy file
  std::optional<std::uint64_t> transforms;               // unknown for a raw pipe
  bool float64 = false;
  bool npy_out = false;
  std::size_t in_elements = 0, out_elements = 0;  // per transform
  double scale = 1;
  bool real = false, inverse = false;
  bool pairs = false;                       // raw integers: alternating real and imaginary parts
  std::vector<fft::RealKind> real_kinds{};  // real to real: one per axis of `shape`, inverted for --inverse
  bool real_to_real() const { return !real_kinds.empty(); }
  bool real_in() const { return (real && !inverse) || real_to_real(); }
  bool real_out() const { return (real && inverse) || real_to_real(); }
  std::size_t in_bytes() const;  // per transform
  io::ElementType out_element() const;
};

// Reads the header and removes it from the stream. Error{io, invalid_argument} with the reason.
FftFileProblem fft_file_problem(const FftFileOptions& options, io::InputStream& in);

inline constexpr std::size_t kNpyHeader = 256;  // minimum bytes, with space for any count
io::NpyHeader header_of(const FftFileProblem& problem, std::uint64_t transforms);  // of the output

// Transforms along the last axes of `count` contiguous arrays, in place or not. For real_to_real().
fft::TensorProblem tensor_problem(const FftFileProblem& problem, std::size_t count, std::size_t threads);

// In one process, or in all processes of an MPI run.
void transform_file(const FftFileOptions& options);
void transform_file_alone(const FftFileOptions& options);

void transform_file_mpi(const FftFileOptions& options, const mpi::Communicator& all);

// Transforms of a .npy file that exceeds the memory limit, in passes over panels on disk.

// True for a .npy file with a single transform that, with its result, exceeds a given --memory. Other inputs hold at
// least one transform in memory.
bool runs_out_of_core(const FftFileOptions& options, const FftFileProblem& problem);

// Two axes (three: planes count as rows): rows are transformed and written as tiles, columns of tiles are transformed,
// tiles are joined to rows. One axis of n = rows x columns points: tiles, columns with twiddle factors, rows,
// transposed; a cosine or sine transform of one axis is a complex one of up to twice the length. One of two work files
// beside the output becomes it. Panels are noted once they are on disk, so that --resume gives the same bytes.
void transform_out_of_core(FftFileOptions options, const FftFileProblem& problem);

}  // namespace ridge::cli
