// Commands on .npy files of any size: memory is bounded by --memory, and --resume continues an interrupted run.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "command/disk_passes.hpp"
#include "command/options.hpp"
#include "io/arrays/npy.hpp"

namespace ridge::cli {

void add_transpose(Command& program);
void add_convolve(Command& program);

struct ArrayOptions {
  std::string in, out;
  std::size_t memory = std::size_t{64} << 20, threads = 0;
  bool resume = false;
};
// Adds --memory, --threads and --resume.
void add_array_options(Command& command, ArrayOptions& options);

// Error{invalid_argument} for "-". A link is replaced by its target.
void take_output(ArrayOptions& options, const std::vector<std::string>& inputs);

// A .npy file that is read at any position.
struct ArrayFile {
  ArrayFile(const std::string& path, std::size_t chunk);
  io::NpyHeader header{};
  std::size_t offset = 0;  // of the first element
  WorkFile file;
};

// Writes the header of a finished work file and gives it the output's name.
void finish_array(const WorkFile& result, const io::NpyHeader& header, const Ledger& ledger, const std::string& out);

}  // namespace ridge::cli
