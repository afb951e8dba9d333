// Folding: filterbank data or series averaged over the period of a pulsar.
//
//   ridge::search::Folder folder(band, {.frequency = 1 / 0.0333}, {.bins = 256, .dm = 56.8});
//   folder.push(rows);
//   std::cout << folder.profile().snr();
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ridge/search.hpp>

namespace ridge::search {

// One block of a polyco file of tempo: phase = reference + 60 dt f + c[0] + c[1] dt + c[2] dt^2 ..., dt in minutes.
struct PolycoBlock {
  std::int64_t day = 0;        // MJD of the middle
  double second = 0;           // of that day
  double reference_phase = 0;  // fraction of a turn
  double frequency = 0;        // Hz
  double span_minutes = 0;
  std::vector<double> coefficients = {};
};
// Error{io} with `name` and the line for text that is not a polyco file.
std::vector<PolycoBlock> parse_polyco(std::string_view text, const std::string& name);

// Turns of the pulsar since the first sample.
struct Rotation {
  double frequency = 0;  // Hz, at `epoch`
  double derivative = 0, second_derivative = 0;
  double epoch = 0;                      // seconds after the first sample
  double phase = 0;                      // turns at the epoch
  std::vector<PolycoBlock> polyco = {};  // replaces all of the above
  std::int64_t start_day = 0;            // MJD of the first sample, for polyco
  double start_second = 0;

  // Whole turns are kept where possible; Error{invalid_argument} if no block of the polyco file covers the time.
  double turns(double seconds) const;
  double frequency_at(double seconds) const;
};

struct FoldSettings {
  std::size_t bins = 256, subbands = 1;
  double dm = 0;  // channels are aligned with the highest one
  std::size_t bits = 8;
  bool is_signed = false;
};

// Values are in units of each channel's standard deviation, its mean removed (both of the first block).
struct Profile {
  std::size_t subbands = 0, bins = 0;
  std::vector<double> sum = {};          // [subband][bin]
  std::vector<std::uint64_t> hits = {};  // [subband][bin]
  std::vector<double> mean() const;      // sum / hits; 0 without hits
  // Largest S/N of a boxcar over phase, of all subbands together.
  double snr() const;
};

struct FolderState;

class Folder {
 public:
  Folder(const Band& band, const Rotation& rotation, const FoldSettings& settings);
  ~Folder();
  void push(std::span<const std::byte> bytes);  // rows of samples, any number of bytes
  Profile profile();                            // of all rows pushed so far
  std::uint64_t samples() const;

 private:
  std::unique_ptr<FolderState> state_;
};

}  // namespace ridge::search
