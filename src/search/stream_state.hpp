// State of a search of a stream: settings, planes and series of each segment, and candidates that are not yet final.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <ridge/search.hpp>

#include "base/aligned.hpp"
#include "search/detections.hpp"
#include "search/device/pulses.hpp"
#include "search/flags.hpp"
#include "search/host/rows.hpp"
#include "search/input_block.hpp"
#include "search/layout.hpp"

namespace ridge::search {

// Trials of one sample interval.
struct Lane {
  Segment segment{};
  std::size_t first_trial = 0;  // counted over all segments
  std::vector<std::size_t> widths{};
  Layout layout{};
  std::vector<Plan> plan{};     // exactly one
  std::vector<float> limits{};  // per width: least S/N of a detection
  std::vector<float> sure{};    // weaker detections are measured at the finest sample interval before they count
  base::AlignedArray<std::uint8_t> plane{};
  base::AlignedArray<float> series{};
  std::vector<Normal> normals{};
  std::unique_ptr<DevicePulses> pulses{};  // null: filters run on the host
  std::size_t widest() const { return widths.back(); }
};

struct Found {
  Cluster cluster{};
  Candidate candidate{};
};

struct StreamState {
  Device device;
  Band band;
  Settings settings;
  std::size_t threads = 1;
  std::vector<Segment> segments{};
  std::size_t trials = 0;
  std::size_t block = 0, ahead = 1;
  std::vector<Lane> lanes{};
  std::unique_ptr<Normalizer> normalizer{};
  std::vector<std::byte> raw{};  // rows of the block being read
  std::size_t raw_bytes = 0;
  std::vector<std::byte> given{};  // flags of the caller that are not yet used
  bool has_given = false;
  std::function<void(std::span<const std::byte>, std::size_t)> on_mask{};
  std::size_t filled = 0;      // blocks in the planes
  std::uint64_t searched = 0;  // input samples whose pulses have been searched
  std::uint64_t arrived = 0;   // input samples in the planes, from the start of the stream
  bool finished = false;
  std::vector<Found> pending{};
  std::vector<Candidate> ready{};
  Report report{};
  ChannelStatistics statistics{};  // of the last whole block

  std::size_t row_bytes() const { return band.channels * settings.bits / 8; }
  std::size_t columns(const Lane& lane) const { return block * (1 + ahead) / lane.segment.factor; }

  void choose_block();
  void check_memory() const;
  float detection_limit(const Lane& lane, std::size_t width) const;
  float weakest_limit(const Lane& lane, std::size_t width) const;
  void make_lanes(const planner::Options& options);
  void take_block(std::size_t rows);
  void append(std::size_t rows, const Mask& mask, const RawRows& raw_rows);
  void append_nothing();
  void search_block();
  std::size_t valid_samples(const Lane& lane, std::size_t trial) const;
  std::vector<Detection> search_lane(std::size_t index);
  bool search_on_device(std::size_t index, std::vector<Detection>& found);
  Detection at_finest(Detection one) const;
  Detection unless_echo(const Box& strong, const Detection& one) const;
  void confirm_weak(const Lane& lane, std::vector<Detection>& found) const;
  RefineJob job_of(const Detection& one) const;
  Box box_of(const Detection& one) const;
  Box box_of(const Candidate& one) const;
  void separate(std::vector<Detection> group, std::vector<Found>& found) const;
  void join_echoes(std::vector<Found>& found) const;
  void keep(std::vector<Found> found);
  Found measured(const Cluster& cluster) const;
  void describe_members(Found& found) const;
};

}  // namespace ridge::search
