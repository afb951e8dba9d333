// Checkpoints of waves: the results so far, and the state of the run that is under way.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <ridge/mpi/communicator.hpp>

#include "base/json.hpp"
#include "cli/stencil/wave_options.hpp"
#include "command/process.hpp"
#include "io/encoding.hpp"

namespace ridge::cli {

// The number of values and a checksum, as text.
template <class Value>
std::string sum_of(const std::vector<Value>& values) {
  return fmt::format("{} values, {:08x}", values.size(), io::crc32c(values.data(), values.size() * sizeof(Value)));
}

// The options of a run that a continued one must have in common with it. `backward` names the kind of a gradient.
base::Json wave_parameters(const WaveOptions& options, const char* backward, const std::vector<std::size_t>& shape,
                           double dt, double frequency);

// Each process of an MPI run has a file of its own: FILE, FILE.rank1 and so on.
class WaveCheckpoint {
 public:
  // Reads the newest complete checkpoint with --resume. Error{invalid_argument} if its parameters are others.
  WaveCheckpoint(const WaveOptions& options, const mpi::Communicator& processes, base::Json parameters);

  // If a run is continued: sets the shot or step, the results before it and the last state, and returns the state of
  // the run, empty if it starts anew.
  template <class Value, class Cell>
  std::vector<std::byte> found(std::size_t& number, std::vector<Value>& done, std::vector<Cell>& field) {
    if (found_.empty()) return {};
    number = static_cast<std::size_t>(word());
    done.resize(word());
    take(done.data(), done.size() * sizeof(Value));
    field.resize(word());
    take(field.data(), field.size() * sizeof(Cell));
    std::vector<std::byte> state(found_.begin() + static_cast<std::ptrdiff_t>(read_), found_.end());
    found_.clear();
    return state;
  }
  // After this step, or because a signal came.
  bool due(std::size_t step) const;
  // Writes the file; ends the command if a signal came. `where`: "in shot 1".
  template <class Value, class Cell>
  void write(std::size_t number, const std::vector<Value>& done, const std::vector<Cell>& field,
             const std::vector<std::byte>& state, const std::string& where) {
    std::vector<std::byte> bytes;
    const auto put = [&bytes](const void* from, std::size_t count) {
      const auto* begin = static_cast<const std::byte*>(from);
      bytes.insert(bytes.end(), begin, begin + count);
    };
    const std::uint64_t numbers[] = {number, done.size()}, cells = field.size();
    put(numbers, sizeof numbers);
    put(done.data(), done.size() * sizeof(Value));
    put(&cells, sizeof cells);
    put(field.data(), field.size() * sizeof(Cell));
    put(state.data(), state.size());
    write_file(number, bytes, where);
  }
  template <class Value, class Cell>
  void shots_done(std::size_t next, const std::vector<Value>& done, const std::vector<Cell>& field) {
    write(next, done, field, {}, fmt::format("in shot {}", next + 1));
  }

 private:
  std::uint64_t word() {
    std::uint64_t number = 0;
    take(&number, sizeof number);
    return number;
  }
  void take(void* to, std::size_t bytes);
  void write_file(std::size_t number, const std::vector<std::byte>& bytes, const std::string& where);

  std::filesystem::path file_;
  std::size_t every_;
  bool root_;
  base::Json parameters_;
  StopSignals signals_{};
  std::vector<std::byte> found_{};
  std::size_t read_ = 0;
};

}  // namespace ridge::cli
