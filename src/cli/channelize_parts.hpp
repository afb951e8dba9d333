// The stations of a bank over several devices of this process and over other processes: each has some of them, the
// root has the stream.
#pragma once
#include <complex>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <ridge/filterbank.hpp>

#include "mpi/processes.hpp"

namespace ridge::cli {

// Processes that work on one stream: `root` and those behind it.
struct Team {
  std::size_t root = 0, count = 1;
};

class Part;

// The same bytes out as one bank of all stations, which it is where there is one device and one process. The root only:
// the others of the team serve().
class StationParts {
 public:
  StationParts(const filterbank::Problem& problem, const std::vector<Device>& devices, const planner::Options& options,
               const mpi::Processes& processes, const Team& team);
  ~StationParts();

  std::size_t hop() const { return hop_; }
  std::size_t spectrum_size() const { return spectrum_size_; }
  std::string variant() const { return variant_; }
  // Bytes a push must be a multiple of, but for the last.
  std::size_t grain() const { return parts_.size() == 1 ? 1 : frame_bytes_; }

  std::uint64_t start_at(std::uint64_t spectrum);
  void set_delays(std::uint64_t sample, std::span<const double> delays);
  void replace_weights(std::uint64_t sample, const std::vector<double>& weights);
  // As Stream::push; `last` where nothing follows.
  std::size_t push(std::span<const std::byte> in, std::span<std::complex<float>> out, bool last);
  std::uint64_t spectra() const { return spectra_; }

 private:
  void split(std::span<const std::byte> in, std::size_t part, std::vector<std::byte>& to) const;
  void join(const std::vector<std::complex<float>>& from, std::size_t part, std::size_t spectra,
            std::complex<float>* out) const;

  filterbank::Problem problem_;
  std::size_t hop_ = 0, spectrum_size_ = 0, frame_bytes_ = 0;
  std::string variant_;
  std::vector<std::unique_ptr<Part>> parts_;
  std::uint64_t bytes_ = 0, spectra_ = 0;
};

// What the others of a team do until the root's StationParts is gone.
void serve_parts(const filterbank::Problem& problem, const std::vector<Device>& devices,
                 const planner::Options& options, const mpi::Processes& processes, const Team& team);

}  // namespace ridge::cli
