// Streams of complex samples from files and pipes, whatever the format: gaps are filled with zeros, noted and counted.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/start_time.hpp"
#include "io/stream.hpp"

namespace ridge::io {

enum class SampleType { int4, int8, int16, float32 };
std::size_t complex_bytes(SampleType type);

// Order of the samples, slowest first: blocks of `block` samples, stream, sample, polarization.
struct SampleInfo {
  std::string format = "raw";
  SampleType type = SampleType::int8;
  std::size_t streams = 1;  // stations, or channels that the instrument has made already
  std::size_t polarizations = 2;
  std::size_t block = 0;       // samples of one stream that lie together; 0: does not matter
  double sample_seconds = 0;   // 0: not said
  double frequency_mhz = 0;    // the middle of the first stream
  double stream_step_mhz = 0;  // from a stream to the next; its sign is that of the bandwidth
  StartTime start{};           // of the first sample
  std::string source{}, telescope{};

  std::size_t sample_bytes() const { return streams * polarizations * complex_bytes(type); }  // all streams
};

// Samples that are not in the file; zeros stand for them.
struct Gap {
  std::uint64_t first = 0, samples = 0;  // of each stream
};

class SampleReader {
 public:
  virtual ~SampleReader() = default;
  const SampleInfo& info() const { return info_; }

  // As many bytes as there are, up to `bytes`: fewer only at the end. Error{io} naming the field that is wrong.
  std::size_t read(std::byte* to, std::size_t bytes);
  // Goes on at a sample number of each stream, which is a multiple of the block.
  void skip(std::uint64_t samples);

  const std::vector<Gap>& gaps() const { return gaps_; }  // those met so far
  std::uint64_t samples_lost() const { return lost_; }    // of each stream, in all gaps
  std::uint64_t bytes_read() const { return made_; }      // of samples, the zeros of gaps included
  // Whether the input has a counter that shows losses. Bytes without headers have none.
  virtual bool counts_losses() const { return true; }
  // Facts about the input for the caller's report, each a clause without a full stop: frames that were not used, a file
  // shorter than its header says.
  virtual std::vector<std::string> remarks() const { return {}; }

 protected:
  // The next piece of samples in their order; false at the end. Gaps before it are reported with add_gap.
  virtual bool next(std::vector<std::byte>& piece) = 0;
  // The next `samples` samples are missing and become zeros.
  void add_gap(std::uint64_t samples);
  // Whether zeros stand for this sample of each stream.
  bool is_lost(std::uint64_t sample) const;
  // The piece that next() returns holds zeros for `samples` samples from its sample number `at` on.
  void note_gap(std::uint64_t at, std::uint64_t samples);

  SampleInfo info_;

 private:
  void remember(std::uint64_t first, std::uint64_t samples);

  std::vector<std::byte> piece_;
  std::size_t taken_ = 0;    // of the piece
  std::uint64_t zeros_ = 0;  // bytes still to be filled before the piece
  std::uint64_t made_ = 0;   // bytes of pieces and gaps up to the end of the piece
  std::vector<Gap> gaps_;
  std::uint64_t lost_ = 0;
};

// Bytes as they are, described by the caller.
std::unique_ptr<SampleReader> raw_reader(std::unique_ptr<InputStream> in, const SampleInfo& info);

}  // namespace ridge::io
