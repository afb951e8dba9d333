// Parses VDIF frames, puts them in order, and decodes their samples.
#include "io/telescopes/vdif.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <ridge/error.hpp>

namespace ridge::io {
namespace {

static_assert(std::endian::native == std::endian::little, "words are copied as they are");

constexpr std::uint32_t kSync = 0xACABFEED, kMostFrameBytes = 1u << 22;
constexpr std::size_t kLongFrame = std::size_t{1} << 16;     // bytes: longer than frames in use
constexpr std::size_t kReordered = 8;                        // frames of one thread that may be out of order
constexpr std::size_t kMostAhead = 4096;                     // frames read to find the threads
constexpr std::size_t kMostHeld = std::size_t{256} << 20;    // bytes of those, and of one time of all threads
constexpr std::int64_t kMostFrames = std::int64_t{1} << 24;  // per second: limit of the header's counter

std::uint32_t bits_of(std::uint32_t word, unsigned high, unsigned low) {
  return static_cast<std::uint32_t>((word >> low) & ((std::uint64_t{1} << (high - low + 1)) - 1));
}

[[noreturn]] void fail_at(const std::string& name, const std::string& what) {
  throw Error(ErrorKind::io, fmt::format("{}: not a VDIF stream that can be used: {}", name, what));
}

struct Frame {
  VdifHeader header;
  std::vector<std::uint32_t> words;
};

// A hash of a frame's samples, never 0.
std::uint64_t hash_of(const std::vector<std::uint32_t>& words) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const std::uint32_t word : words) hash = (hash ^ word) * 0x100000001b3u;
  return hash | 1;
}

// The frames of all threads at one time, as far as received.
struct Slot {
  std::vector<std::byte> samples;
  std::vector<std::uint64_t> hashes;  // per thread; 0: not received
};

// Frames whose headers place them far from all others. A damaged header does so once. After a real loss, or at the
// start of another recording, the following frames agree with it.
struct Jump {
  std::int64_t place = 0;  // position of the latest of them
  std::vector<Frame> frames;
  std::size_t against = 0;  // frames received since that continued as before
};

class VdifReader final : public SampleReader {
 public:
  VdifReader(std::unique_ptr<InputStream> in, std::size_t polarizations, double rate) : in_(std::move(in)) {
    look_ahead();
    const VdifHeader& h = ahead_.front().header;
    first_ = h;
    for (const Frame& frame : ahead_) check_same(frame.header);
    rate_ = h.sample_rate > 0 ? h.sample_rate : rate;
    streams_ = threads_.size() * h.channels();
    if (polarizations == 0) polarizations = streams_ % 2 == 0 ? 2 : 1;
    if (polarizations > 2 || streams_ % polarizations != 0) {
      fail(fmt::format("{} threads of {} channels do not make streams of {} polarizations", threads_.size(),
                       h.channels(), polarizations));
    }
    info_.format = "VDIF";
    info_.type = h.bits <= 8 ? SampleType::int8 : SampleType::int16;
    info_.streams = streams_ / polarizations;
    info_.polarizations = polarizations;
    info_.block = 1;
    if (h.samples() > kMostHeld / info_.sample_bytes()) {
      fail(fmt::format("{} threads with a frame length of {} are too much to hold", threads_.size(), h.frame_bytes));
    }
    info_.sample_seconds = rate_ > 0 ? 1 / rate_ : 0;
    info_.start = h.start();
    if (rate_ > 0) {
      const double frames = rate_ / static_cast<double>(h.samples());
      if (frames != std::floor(frames) || frames < 1 || frames > (1 << 24)) {
        fail(fmt::format("a sample rate of {} Hz is not a whole number of frames of {} samples per second", rate_,
                         h.samples()));
      }
      per_second_ = static_cast<std::uint64_t>(frames);
      info_.start = info_.start.after(h.frame / frames);
    } else if (h.frame > 0) {
      info_.start = {};  // at an unknown time within this second
    }
  }

  std::vector<std::string> remarks() const override {
    std::vector<std::string> found;
    if (discarded_ > 0) {
      found.push_back(fmt::format("{} frames not used: damaged headers, repeated or far out of order", discarded_));
    }
    if (rate_ == 0 && per_second_ > 0) {
      found.push_back(fmt::format("{} frames per second, from the frames of the first second (give --rate to be sure)",
                                  per_second_));
    }
    return found;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { fail_at(in_->name(), what); }

  bool read_frame(Frame& frame) {
    if (!read_vdif_header(*in_, frame.header)) return false;
    const VdifHeader& h = frame.header;
    const std::size_t bytes = h.frame_bytes - h.header_bytes();
    const auto check = [&](std::uint64_t got) {
      if (got < bytes)
        fail(fmt::format("it ends {} bytes into a frame whose length is {}", got + h.header_bytes(), h.frame_bytes));
    };
    // Checks the length before allocating: a damaged header may claim any.
    if (bytes > kLongFrame) check(in_->remaining().value_or(bytes));
    frame.words.resize(bytes / 4);
    check(in_->read(frame.words.data(), bytes));
    return true;
  }

  // The threads are those seen before any of them occurs a third time.
  void look_ahead() {
    std::map<std::uint32_t, std::size_t> seen;
    Frame frame;
    std::size_t held = 0;
    while (ahead_.size() < kMostAhead && held < kMostHeld && read_frame(frame)) {
      held += frame.header.frame_bytes;
      const std::size_t times = ++seen[frame.header.thread];
      ahead_.push_back(std::move(frame));
      frame = {};
      if (times == 3) break;
    }
    if (ahead_.empty()) fail("it is empty");
    for (const auto& [thread, count] : seen) threads_.push_back(thread);
    stations_.assign(threads_.size(), std::nullopt);
    // The first time is the earliest of the frames seen.
    std::stable_sort(ahead_.begin(), ahead_.end(), [](const Frame& a, const Frame& b) {
      return std::pair(a.header.seconds, a.header.frame) < std::pair(b.header.seconds, b.header.frame);
    });
    // A single earlier frame before two that agree has a damaged header and is dropped.
    const auto second = [&](std::size_t i) { return ahead_[i].header.seconds; };
    if (ahead_.size() >= 3 && second(0) + 1 < second(1) && second(2) <= second(1) + 1) {
      ahead_.pop_front();
      ++discarded_;
    }
  }

  bool take(Frame& frame) {
    if (!ahead_.empty()) {
      frame = std::move(ahead_.front());
      ahead_.pop_front();
      return true;
    }
    return read_frame(frame);
  }

  void check_same(const VdifHeader& h) {
    const auto same = [&](const char* field, std::uint32_t first, std::uint32_t now) {
      if (first != now) fail(fmt::format("{} is {}, and was {} in the first frame", field, now, first));
    };
    same("frame length", first_.frame_bytes, h.frame_bytes);
    same("bits per sample", first_.bits, h.bits);
    same("number of channels (log2)", first_.channels_log2, h.channels_log2);
    same("complex flag", first_.is_complex, h.is_complex);
    same("legacy flag", first_.legacy, h.legacy);
    same("reference epoch", first_.epoch, h.epoch);
    if (h.sample_rate != first_.sample_rate) {
      fail(fmt::format("sample rate is {} Hz, and was {} Hz in the first frame", h.sample_rate, first_.sample_rate));
    }
    std::optional<std::uint32_t>& station = stations_[thread_of(h)];
    if (!station) station = h.station;
    if (*station != h.station) {
      fail(fmt::format("station id of thread {} is {}, and was {} before", h.thread, h.station, *station));
    }
  }

  // Frames since the first, negative before it. While the rate is unknown, other seconds get positions beyond
  // kMostFrames.
  std::int64_t place_of(const VdifHeader& h) const {
    const std::int64_t seconds = std::int64_t{h.seconds} - std::int64_t{first_.seconds};
    const std::int64_t each = per_second_ > 0 ? static_cast<std::int64_t>(per_second_) : kMostFrames;
    return seconds * each + h.frame - std::int64_t{first_.frame};
  }

  // The headers give no rate: it follows from the frames of the second that has just ended.
  void learn_rate(const VdifHeader& h) {
    if (h.seconds != first_.seconds + 1 || last_frame_ < first_.frame) {
      fail("its headers hold no sample rate and the first second is not whole: frames cannot be counted; give --rate");
    }
    per_second_ = std::uint64_t{last_frame_} + 1;
    if (info_.sample_seconds == 0) info_.sample_seconds = 1 / static_cast<double>(per_second_ * first_.samples());
  }

  bool next(std::vector<std::byte>& piece) override {
    while (!ended_ && (slots_.empty() || slots_.begin()->first + kReordered > newest_)) {
      if (!slots_.empty() && slots_.begin()->first == emitted_ && complete(slots_.begin()->second)) break;
      Frame frame;
      if (!take(frame)) {
        ended_ = true;
        judge_last_jumps();
        break;
      }
      take_in(std::move(frame));
    }
    if (slots_.empty()) return false;
    auto oldest = slots_.begin();
    const std::size_t samples = first_.samples();
    if (oldest->first > emitted_) add_gap((oldest->first - emitted_) * samples);
    if (!complete(oldest->second)) note_gap(0, samples);
    piece = std::move(oldest->second.samples);
    emitted_ = oldest->first + 1;
    recent_[oldest->first] = std::move(oldest->second.hashes);
    while (recent_.begin()->first + kReordered < emitted_) recent_.erase(recent_.begin());
    slots_.erase(oldest);
    return true;
  }

  static bool complete(const Slot& slot) {
    return std::all_of(slot.hashes.begin(), slot.hashes.end(), [](std::uint64_t hash) { return hash != 0; });
  }

  // True if within kReordered frames of the newest, or not yet emitted.
  bool is_near(std::int64_t place) const {
    const auto newest = static_cast<std::int64_t>(newest_), reach = static_cast<std::int64_t>(kReordered);
    return place <= newest + reach && (place > newest - reach || place >= static_cast<std::int64_t>(emitted_));
  }

  // Stores a frame at its position, or among the jumps until later frames confirm or refute its header.
  void take_in(Frame frame) {
    check_same(frame.header);
    const std::int64_t place = place_of(frame.header), newest = static_cast<std::int64_t>(newest_);
    if (is_near(place)) {
      put(frame);
      for (Jump& jump : jumps_) ++jump.against;
      std::erase_if(jumps_, [&](const Jump& jump) {
        const bool wrong = jump.against > kReordered * threads_.size();
        if (wrong) discarded_ += jump.frames.size();
        return wrong;
      });
      return;
    }
    // Very late: already replaced by zeros and counted.
    if (place >= 0 && place < newest && is_lost(static_cast<std::uint64_t>(place) * first_.samples())) return;
    const auto near = [&](const Jump& jump) {
      return std::abs(jump.place - place) <= static_cast<std::int64_t>(kReordered);
    };
    auto jump = std::find_if(jumps_.begin(), jumps_.end(), near);
    if (jump == jumps_.end()) {
      if (jumps_.size() == kReordered) {
        discarded_ += jumps_.front().frames.size();
        jumps_.pop_front();
      }
      jump = jumps_.insert(jumps_.end(), Jump{});
    }
    jump->place = place;
    jump->frames.push_back(std::move(frame));
    // If only one thread jumps, the frames of the other threads count against it.
    if (jump->frames.size() < 2 + 2 * jump->against) return;
    const std::vector<Frame> believed = std::move(jump->frames);
    jumps_.erase(jump);
    if (place < newest) fail_backwards(believed.front().header);
    if (per_second_ == 0) learn_rate(believed.front().header);
    for (const Frame& one : believed) put(one);
  }

  [[noreturn]] void fail_backwards(const VdifHeader& h) const {
    fail(
        fmt::format("the frame counter runs back to second {}, frame {}, more than {} frames: two recordings in one "
                    "stream? channelize them one by one",
                    h.seconds, h.frame, kReordered));
  }

  // No later frames can confirm these. If the rate is unknown, the frame that begins a second may be alone. For an
  // unconfirmed last frame, only its existence is counted.
  void judge_last_jumps() {
    for (const Jump& jump : std::exchange(jumps_, {})) {
      const VdifHeader& front = jump.frames.front().header;
      const bool begins = front.seconds == first_.seconds + 1 && front.frame == 0 && last_frame_ >= first_.frame;
      if (per_second_ == 0 && begins) learn_rate(front);
      for (const Frame& frame : jump.frames) {
        const std::int64_t place = place_of(frame.header);
        if (is_near(place)) {
          put(frame);
          continue;
        }
        ++discarded_;
        if (jump.against > 0 || place < static_cast<std::int64_t>(newest_)) continue;
        const auto last = slots_.find(newest_);
        if (last == slots_.end() || last->second.hashes[thread_of(frame.header)] != 0) slot_of(++newest_);
      }
    }
  }

  std::size_t thread_of(const VdifHeader& h) const {
    const auto thread = std::find(threads_.begin(), threads_.end(), h.thread);
    if (thread == threads_.end()) fail(fmt::format("thread id {} was not among the first frames", h.thread));
    return static_cast<std::size_t>(thread - threads_.begin());
  }

  void put(const Frame& frame) {
    const VdifHeader& h = frame.header;
    if (per_second_ > 0 && h.frame >= per_second_) {
      fail(fmt::format("data frame number is {}, and a second has {}", h.frame, per_second_));
    }
    const std::int64_t place = place_of(h);
    if (h.seconds == first_.seconds) last_frame_ = std::max(last_frame_, h.frame);
    const std::size_t which = thread_of(h);
    const std::uint64_t hash = hash_of(frame.words);
    if (place < static_cast<std::int64_t>(emitted_)) {  // a duplicate, or before the first frame
      const auto before = place < 0 ? recent_.end() : recent_.find(static_cast<std::uint64_t>(place));
      if (before == recent_.end()) {
        ++discarded_;
      } else {
        check_repeated(h, before->second[which], hash);
      }
      return;
    }
    const auto index = static_cast<std::uint64_t>(place);
    newest_ = std::max(newest_, index);
    Slot& slot = slot_of(index);
    if (h.invalid) return;  // received, but marked invalid
    if (slot.hashes[which] != 0) return check_repeated(h, slot.hashes[which], hash);
    slot.hashes[which] = hash;
    info_.type == SampleType::int8 ? unpack<std::int8_t>(frame, which, slot) : unpack<std::int16_t>(frame, which, slot);
  }

  // A network may deliver a frame twice; the same frame with other samples means another recording.
  void check_repeated(const VdifHeader& h, std::uint64_t before, std::uint64_t now) const {
    if (before == 0 || before == now || h.invalid) return;
    fail(fmt::format("thread {}, second {}, frame {} comes twice with different samples: two recordings in one stream?",
                     h.thread, h.seconds, h.frame));
  }

  Slot& slot_of(std::uint64_t index) {
    Slot& slot = slots_[index];
    if (slot.hashes.empty()) {
      slot.hashes.assign(threads_.size(), 0);
      slot.samples.assign(first_.samples() * info_.sample_bytes(), std::byte{0});
    }
    return slot;
  }

  // 32-bit words, the first sample in the lowest bits, no sample across two words; real then imaginary part of a
  // channel.
  template <class T>
  void unpack(const Frame& frame, std::size_t thread, Slot& slot) const {
    const VdifHeader& h = first_;
    const std::uint32_t per_word = 32 / h.bits, parts = h.is_complex ? 2 : 1;
    const std::uint32_t mask = (1u << h.bits) - 1;
    std::size_t number = 0;
    for (std::size_t n = 0; n < h.samples(); ++n) {
      for (std::size_t c = 0; c < h.channels(); ++c) {
        T value[2] = {0, 0};
        for (std::uint32_t part = 0; part < parts; ++part, ++number) {
          const std::uint32_t raw = (frame.words[number / per_word] >> (number % per_word * h.bits)) & mask;
          value[part] = static_cast<T>(vdif_level(raw, h.bits));
        }
        const std::size_t stream = thread * h.channels() + c;
        std::memcpy(slot.samples.data() + (n * streams_ + stream) * sizeof value, value, sizeof value);
      }
    }
  }

  std::unique_ptr<InputStream> in_;
  std::deque<Frame> ahead_;
  std::vector<std::uint32_t> threads_;
  std::vector<std::optional<std::uint32_t>> stations_;  // of each thread
  VdifHeader first_;
  std::size_t streams_ = 1;
  std::uint64_t per_second_ = 0;  // frames per second and thread; 0: not known yet
  std::uint32_t last_frame_ = 0;  // highest number in the first second
  double rate_ = 0;               // samples per second, from the headers or the caller; 0: not known
  std::map<std::uint64_t, Slot> slots_;
  std::map<std::uint64_t, std::vector<std::uint64_t>> recent_;  // hashes of the latest slots emitted
  std::deque<Jump> jumps_;
  std::uint64_t discarded_ = 0;  // frames neither in the samples nor counted in a gap
  std::uint64_t emitted_ = 0, newest_ = 0;
  bool ended_ = false;
};

}  // namespace

int vdif_level(std::uint32_t raw, std::uint32_t bits) {
  const int half = 1 << (bits - 1), value = static_cast<int>(raw);
  return bits < 8 ? 2 * value - (2 * half - 1) : value - half;
}

std::size_t VdifHeader::samples() const {
  const std::size_t per_word = 32 / bits, words = (frame_bytes - header_bytes()) / 4;
  return words * per_word / (channels() * (is_complex ? 2 : 1));
}

StartTime VdifHeader::start() const {
  const std::chrono::year_month_day date{std::chrono::year(2000 + static_cast<int>(epoch / 2)),
                                         std::chrono::month(epoch % 2 == 0 ? 1 : 7), std::chrono::day(1)};
  return StartTime{40587 + std::chrono::sys_days(date).time_since_epoch().count(), 0}.after(seconds);
}

namespace {

// The fields of the first four words.
VdifHeader header_of(const std::uint32_t* words) {
  VdifHeader h;
  h.invalid = bits_of(words[0], 31, 31) != 0;
  h.legacy = bits_of(words[0], 30, 30) != 0;
  h.seconds = bits_of(words[0], 29, 0);
  h.epoch = bits_of(words[1], 29, 24);
  h.frame = bits_of(words[1], 23, 0);
  h.version = bits_of(words[2], 31, 29);
  h.channels_log2 = bits_of(words[2], 28, 24);
  h.frame_bytes = bits_of(words[2], 23, 0) * 8;
  h.is_complex = bits_of(words[3], 31, 31) != 0;
  h.bits = bits_of(words[3], 30, 26) + 1;
  h.thread = bits_of(words[3], 25, 16);
  h.station = bits_of(words[3], 15, 0);
  return h;
}

}  // namespace

bool looks_like_vdif(InputStream& in) {
  const auto header_at = [&](std::size_t at, VdifHeader& h) {
    std::uint32_t words[4];
    const std::string_view bytes = in.peek(at + sizeof words);
    if (bytes.size() < at + sizeof words) return false;
    std::memcpy(words, bytes.data() + at, sizeof words);
    h = header_of(words);
    return words[1] >> 30 == 0;
  };
  VdifHeader a, b;
  if (!header_at(0, a) || a.version > 1 || a.bits > 16 || a.channels_log2 > 20) return false;
  if (a.frame_bytes <= a.header_bytes() || a.frame_bytes > kLongFrame || !header_at(a.frame_bytes, b)) return false;
  const auto shape = [](const VdifHeader& h) {
    return std::tuple(h.legacy, h.epoch, h.version, h.channels_log2, h.frame_bytes, h.is_complex, h.bits, h.station);
  };
  const bool next_frame = b.seconds == a.seconds && b.frame - a.frame <= 1, next_second = b.seconds == a.seconds + 1;
  const bool same_frame = b.seconds == a.seconds && b.frame == a.frame && b.thread == a.thread;
  return shape(a) == shape(b) && !same_frame && (next_frame || (next_second && b.frame == 0));
}

bool read_vdif_header(InputStream& in, VdifHeader& header) {
  std::uint32_t words[8] = {};
  const std::size_t got = in.read(words, 16);
  if (got == 0) return false;
  const auto fail = [&](const std::string& what) { fail_at(in.name(), what); };
  if (got != 16) fail("it ends within a frame header");
  VdifHeader h = header_of(words);
  const std::uint64_t length = h.frame_bytes;
  if (!h.legacy && in.read(words + 4, 16) != 16) fail("it ends within a frame header");
  if (length <= h.header_bytes() || length > kMostFrameBytes) {
    fail(fmt::format("frame length is {} bytes; it must be above {} and at most {}", length, h.header_bytes(),
                     kMostFrameBytes));
  }
  if (h.bits > 16) fail(fmt::format("bits per sample is {}; 1 to 16 are read", h.bits));
  if (h.channels_log2 > 20) fail(fmt::format("number of channels is 2^{}", h.channels_log2));
  const std::size_t in_frame = (length - h.header_bytes()) / 4 * (32 / h.bits),
                    each = h.channels() * (h.is_complex ? 2 : 1);
  if (in_frame % each != 0) {
    fail(fmt::format("frame length is {} bytes, not a whole number of samples of {} channels and {} bits", length,
                     h.channels(), h.bits));
  }
  if (!h.legacy) {
    h.extended = bits_of(words[4], 31, 24);
    if (h.extended == 1 || h.extended == 3) {
      if (words[5] != kSync)
        fail(fmt::format("the sync word of extended data version {} is {:08x}, not acabfeed", h.extended, words[5]));
      h.sample_rate = bits_of(words[4], 22, 0) * (bits_of(words[4], 23, 23) != 0 ? 1e6 : 1e3);
    }
  }
  header = h;
  return true;
}

std::string vdif_header(const VdifHeader& h) {
  std::uint32_t words[8] = {};
  words[0] = (h.invalid ? 1u << 31 : 0) | (h.legacy ? 1u << 30 : 0) | (h.seconds & 0x3fffffff);
  words[1] = (h.epoch & 0x3f) << 24 | (h.frame & 0xffffff);
  words[2] = (h.version & 7) << 29 | (h.channels_log2 & 31) << 24 | (h.frame_bytes / 8 & 0xffffff);
  words[3] =
      (h.is_complex ? 1u << 31 : 0) | ((h.bits - 1) & 31) << 26 | (h.thread & 0x3ff) << 16 | (h.station & 0xffff);
  if (h.sample_rate > 0) {
    const bool mega = std::fmod(h.sample_rate, 1e6) == 0;
    words[4] = (h.extended == 1 ? 1u : 3u) << 24 | (mega ? 1u << 23 : 0) |
               (static_cast<std::uint32_t>(h.sample_rate / (mega ? 1e6 : 1e3)) & 0x7fffff);
    words[5] = kSync;
  }
  return {reinterpret_cast<const char*>(words), h.header_bytes()};
}

std::unique_ptr<SampleReader> vdif_reader(std::unique_ptr<InputStream> in, std::size_t polarizations, double rate) {
  return std::make_unique<VdifReader>(std::move(in), polarizations, rate);
}

}  // namespace ridge::io
