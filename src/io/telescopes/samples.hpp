// Streams of complex samples from files and pipes in any format. Gaps are filled with zeros, recorded and counted.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/telescopes/start_time.hpp"
#include "io/telescopes/stream.hpp"

namespace ridge::io {

enum class SampleType { int4, int8, int16, float32 };
std::size_t complex_bytes(SampleType type);

// Order of the samples, slowest first: blocks of `block` samples, stream, sample, polarization.
struct SampleInfo {
  std::string format = "raw";
  SampleType type = SampleType::int8;
  std::size_t streams = 1;  // stations, or channels made by the instrument
  std::size_t polarizations = 2;
  std::size_t block = 0;       // contiguous samples per stream; 0: any
  double sample_seconds = 0;   // 0: not given
  double frequency_mhz = 0;    // centre of the first stream
  double stream_step_mhz = 0;  // between streams; negative for an inverted band
  StartTime start{};           // time of the first sample
  std::string source{}, telescope{};

  std::size_t sample_bytes() const { return streams * polarizations * complex_bytes(type); }  // all streams
};

// Samples missing in the file, replaced by zeros.
struct Gap {
  std::uint64_t first = 0, samples = 0;  // per stream
};

class SampleReader {
 public:
  virtual ~SampleReader() = default;
  const SampleInfo& info() const { return info_; }

  // Reads up to `bytes` bytes, fewer only at the end. Throws Error{io} with the field that is wrong.
  std::size_t read(std::byte* to, std::size_t bytes);
  // Continues at this sample of each stream, a multiple of the block.
  void skip(std::uint64_t samples);

  const std::vector<Gap>& gaps() const { return gaps_; }  // those found so far
  std::uint64_t samples_lost() const { return lost_; }    // per stream, over all gaps
  std::uint64_t bytes_read() const { return made_; }      // bytes of samples, zeros of gaps included
  // True if the input has a counter that shows losses. Raw bytes have none.
  virtual bool counts_losses() const { return true; }
  // Remarks on the input for the caller's report, each a clause without a full stop: unused frames, a file shorter than
  // its header says.
  virtual std::vector<std::string> remarks() const { return {}; }

 protected:
  // Delivers the next samples in order; returns false at the end. Gaps before them are reported with add_gap.
  virtual bool next(std::vector<std::byte>& piece) = 0;
  // Reports that the next `samples` samples are missing; they become zeros.
  void add_gap(std::uint64_t samples);
  // True if this sample of each stream was replaced by zeros.
  bool is_lost(std::uint64_t sample) const;
  // Reports that the samples returned by next() contain zeros for `samples` samples from index `at` on.
  void note_gap(std::uint64_t at, std::uint64_t samples);

  // Notes the lost samples of a ring. `piece`: bytes that were just read; `block`: samples of a stream that are
  // contiguous; all samples of a block with a loss are noted.
  void note_lost(InputStream& in, std::size_t piece, std::size_t block);

  SampleInfo info_;

 private:
  void remember(std::uint64_t first, std::uint64_t samples);

  std::vector<std::byte> piece_;
  std::size_t taken_ = 0;    // bytes already delivered of the current piece
  std::uint64_t zeros_ = 0;  // zero bytes still to be delivered before the piece
  std::uint64_t made_ = 0;   // bytes of pieces and gaps up to the end of the current piece
  std::vector<Gap> gaps_;
  std::uint64_t lost_ = 0;
};

// Reads bytes without a header, described by the caller. `block`: contiguous samples per stream if `info` has 0.
std::unique_ptr<SampleReader> raw_reader(std::unique_ptr<InputStream> in, const SampleInfo& info,
                                         std::size_t block = 1);

}  // namespace ridge::io
