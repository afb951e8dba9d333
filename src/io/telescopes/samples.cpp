// Fills gaps with zeros, and converts the samples of any reader to blocks.
#include "io/telescopes/samples.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include <fmt/format.h>
#include <ridge/error.hpp>

namespace ridge::io {
namespace {

// A longer gap means a damaged counter, not lost packets.
constexpr std::uint64_t kLongestGap = std::uint64_t{1} << 34;  // samples
constexpr std::size_t kSamplesPiece = std::size_t{1} << 20, kMostGaps = std::size_t{1} << 20;

class RawReader final : public SampleReader {
 public:
  RawReader(std::unique_ptr<InputStream> in, const SampleInfo& info, std::size_t block)
      : in_(std::move(in)),
        block_(info.streams == 1 ? 1
               : info.block != 0 ? info.block
                                 : block) {
    info_ = info;
  }

 private:
  bool counts_losses() const override { return in_->knows_lost(); }
  bool next(std::vector<std::byte>& piece) override {
    piece.resize(kSamplesPiece);
    piece.resize(in_->read(piece.data(), piece.size()));
    note_lost(*in_, piece.size(), block_);
    return !piece.empty();
  }
  std::unique_ptr<InputStream> in_;
  std::size_t block_;
};

}  // namespace

std::size_t complex_bytes(SampleType type) {
  switch (type) {
    case SampleType::int4:
      return 1;
    case SampleType::int8:
      return 2;
    case SampleType::int16:
      return 4;
    default:
      return 8;
  }
}

std::unique_ptr<SampleReader> raw_reader(std::unique_ptr<InputStream> in, const SampleInfo& info, std::size_t block) {
  return std::make_unique<RawReader>(std::move(in), info, block);
}

std::size_t SampleReader::read(std::byte* to, std::size_t bytes) {
  std::size_t done = 0;
  while (done < bytes) {
    if (zeros_ > 0) {
      const auto now = static_cast<std::size_t>(std::min<std::uint64_t>(zeros_, bytes - done));
      std::memset(to + done, 0, now);
      zeros_ -= now, done += now;
    } else if (taken_ < piece_.size()) {
      const std::size_t now = std::min(piece_.size() - taken_, bytes - done);
      std::memcpy(to + done, piece_.data() + taken_, now);
      taken_ += now, done += now;
    } else {
      taken_ = 0;
      piece_.clear();
      if (!next(piece_)) {
        piece_.clear();
        if (zeros_ == 0) break;
      }
      made_ += piece_.size();
    }
  }
  return done;
}

void SampleReader::skip(std::uint64_t samples) {
  std::vector<std::byte> waste(kSamplesPiece);
  std::uint64_t left = samples * info_.sample_bytes();
  while (left > 0) {
    const std::size_t now = static_cast<std::size_t>(std::min<std::uint64_t>(left, waste.size()));
    if (read(waste.data(), now) < now) {
      throw Error(ErrorKind::io, fmt::format("the {} stream ends before sample {}", info_.format, samples));
    }
    left -= now;
  }
}

void SampleReader::remember(std::uint64_t first, std::uint64_t samples) {
  if (samples == 0) return;
  lost_ += samples;
  if (!gaps_.empty() && gaps_.back().first + gaps_.back().samples == first) {
    gaps_.back().samples += samples;
    return;
  }
  if (gaps_.size() == kMostGaps) throw Error(ErrorKind::io, fmt::format("more than {} gaps in the samples", kMostGaps));
  gaps_.push_back({first, samples});
}

void SampleReader::add_gap(std::uint64_t samples) {
  if (samples > kLongestGap) {
    throw Error(ErrorKind::io, fmt::format("a gap of {} samples in the {} stream: its counter cannot be right", samples,
                                           info_.format));
  }
  remember(made_ / info_.sample_bytes(), samples);
  zeros_ += samples * info_.sample_bytes();
  made_ += samples * info_.sample_bytes();
}

bool SampleReader::is_lost(std::uint64_t sample) const {
  const auto behind = std::upper_bound(gaps_.begin(), gaps_.end(), sample,
                                       [](std::uint64_t at, const Gap& gap) { return at < gap.first; });
  return behind != gaps_.begin() && sample - std::prev(behind)->first < std::prev(behind)->samples;
}

void SampleReader::note_lost(InputStream& in, std::size_t piece, std::size_t block) {
  const std::uint64_t start = in.position() - piece, unit = block * info_.sample_bytes();
  in.begin_lost(start);
  for (const LostBytes& lost : in.take_lost()) {
    const std::uint64_t begin = made_ + (std::max(lost.first, start) - start),
                        end = made_ + (lost.first + lost.bytes - start);
    std::uint64_t first = begin / unit * block;
    const std::uint64_t last = (end + unit - 1) / unit * block;
    if (!gaps_.empty()) first = std::max(first, gaps_.back().first + gaps_.back().samples);
    if (first < last) remember(first, last - first);
  }
}

void SampleReader::note_gap(std::uint64_t at, std::uint64_t samples) {
  remember(made_ / info_.sample_bytes() + at, samples);
}

}  // namespace ridge::io
