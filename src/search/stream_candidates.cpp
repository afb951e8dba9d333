// Candidates of a stream: the best detection of each group measured again, echoes of stronger pulses merged into them,
// and pulses that extend into the next block joined.
#include <algorithm>
#include <cmath>

#include "base/threads.hpp"
#include "search/stream_state.hpp"

namespace ridge::search {

// Describes a detection at the finest sample interval, for refine().
RefineJob StreamState::job_of(const Detection& best) const {
  const Lane& lane = lanes[best.segment];
  const std::size_t factor = lane.segment.factor, trial = best.trial - lane.first_trial;
  // The finest plane holds all samples of the block: a narrow pulse is not averaged with its neighbours there.
  const Lane& finest = lanes.front();
  const std::size_t fine = finest.segment.factor, ratio = factor / fine;
  const std::vector<double>& delays = lane.layout.delay;
  const std::size_t before = trial > 0 ? trial - 1 : 0, after = std::min(trial + 1, delays.size() - 1);
  const double scale = static_cast<double>(ratio), middle = kByteMean * static_cast<double>(band.channels);
  const std::size_t width = static_cast<std::size_t>(best.end - best.begin) / fine;
  return {
      .slope = finest.layout.slope,
      .plane = finest.plane.data(),
      .stride = finest.layout.row,
      .columns = columns(finest),
      .delay = delays[trial] * scale,
      .spacing = after > before ? scale * (delays[after] - delays[before]) / static_cast<double>(after - before) : 1,
      .shortest = finest.layout.delay.front(),
      .longest = lanes.back().layout.delay.back() * static_cast<double>(lanes.back().segment.factor / fine),
      .begin = static_cast<std::size_t>(best.begin - searched) / fine,
      .width = width,
      .narrowest = width <= 2 * ratio ? 1 : width / 2,  // a pulse shorter than a sample may be in two of them
      .widest = finest.widest(),
      .normal = {.mean = static_cast<float>(middle + (lane.normals[trial].mean - middle) / std::sqrt(scale)),
                 .sigma = lane.normals[trial].sigma}};
}

// The best boxcar at a detection's dispersion measure in samples of the finest interval.
Detection StreamState::at_finest(Detection one) const {
  const Refined fine = measure_at_trial(job_of(one));
  const std::size_t factor = lanes.front().segment.factor;
  one.begin = searched + fine.begin * factor, one.end = one.begin + fine.width * factor;
  one.snr = static_cast<float>(fine.snr);
  return one;
}

// Removes weak detections that are weak at the finest sample interval, too, and replaces the others by their boxcars
// there.
void StreamState::confirm_weak(const Lane& lane, std::vector<Detection>& found) const {
  constexpr double kNear = 0.85, kLeast = 5;  // at the trial's dispersion measure, of the S/N at the best one
  if (lane.limits == lane.sure) return;
  const double needed = std::max(kLeast, kNear * settings.threshold);
  std::vector<char> keep(found.size(), 1);
  base::parallel(threads, [&](std::size_t thread, std::size_t of) {
    for (std::size_t i = thread; i < found.size(); i += of) {
      Detection& one = found[i];
      const auto width = static_cast<std::size_t>(one.end - one.begin) / lane.segment.factor;
      const auto at = std::find(lane.widths.begin(), lane.widths.end(), width) - lane.widths.begin();
      if (one.snr >= lane.sure[static_cast<std::size_t>(at)]) continue;
      one = at_finest(one);
      keep[i] = one.snr >= needed ? 1 : 0;
    }
  });
  std::size_t next = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (keep[i] != 0) found[next++] = found[i];
  }
  found.resize(next);
}

// The best member of a cluster, measured again with exact delays.
Found StreamState::measured(const Cluster& cluster) const {
  const Detection& best = cluster.best;
  const Lane& lane = lanes[best.segment];
  const std::size_t trial = best.trial - lane.first_trial, fine = lanes.front().segment.factor;
  const Refined refined = refine(job_of(best));
  const double whole = delay_seconds(1, band.lowest_mhz(), band.highest_mhz());
  Candidate candidate;
  candidate.sample = searched + refined.begin * fine;
  candidate.samples = refined.width * fine;
  candidate.width = static_cast<double>(candidate.samples) * band.interval;
  candidate.time = static_cast<double>(candidate.sample) * band.interval + candidate.width / 2;
  candidate.dm = refined.delay * band.interval * static_cast<double>(fine) / whole;
  if (band.channels == 1 || !(whole > 0)) candidate.dm = lane.segment.dms[trial];
  candidate.snr = refined.snr;
  return {.cluster = cluster, .candidate = candidate};
}

void StreamState::describe_members(Found& found) const {
  const auto dm_of = [&](std::size_t number) {
    const Lane* of = &lanes.front();
    for (const Lane& one : lanes) {
      if (one.first_trial <= number) of = &one;
    }
    return of->segment.dms[number - of->first_trial];
  };
  found.candidate.members = found.cluster.members;
  found.candidate.dm_first = dm_of(found.cluster.trial_first);
  found.candidate.dm_last = dm_of(found.cluster.trial_last);
}

Box StreamState::box_of(const Detection& one) const {
  const Lane& lane = lanes[one.segment];
  return {.begin = static_cast<double>(one.begin),
          .samples = static_cast<double>(one.end - one.begin),
          .delay = lane.layout.delay[one.trial - lane.first_trial] * static_cast<double>(lane.segment.factor),
          .snr = one.snr};
}
Box StreamState::box_of(const Candidate& one) const {
  return {.begin = static_cast<double>(one.sample),
          .samples = static_cast<double>(one.samples),
          .delay = one.dm * delay_seconds(1, band.lowest_mhz(), band.highest_mhz()) / band.interval,
          .snr = one.snr};
}

// The detection, if `strong` does not explain it; S/N 0 otherwise. Added samples may have lost most of a narrow pulse,
// so a boxcar of at most two of them is measured at the finest interval if it exceeds the echo by more than usual
// noise.
Detection StreamState::unless_echo(const Box& strong, const Detection& one) const {
  constexpr double kNoise = 1.5;
  const std::vector<double>& slope = lanes.front().layout.slope;
  if (!explains(strong, box_of(one), slope)) return one;
  const std::size_t factor = lanes[one.segment].segment.factor;
  if (factor > lanes.front().segment.factor && one.end - one.begin <= 2 * factor &&
      one.snr > echo(strong, box_of(one), slope) + kNoise) {
    const Detection fine = at_finest(one);
    if (!explains(strong, box_of(fine), slope)) return fine;
  }
  return {};
}

// Divides a group into candidates, because pulses close in time share a group: measures its best detection, removes the
// detections that this one explains, and continues with the others.
void StreamState::separate(std::vector<Detection> group, std::vector<Found>& found) const {
  std::vector<std::vector<Detection>> groups{std::move(group)};
  for (std::size_t i = 0; i < groups.size() && i < settings.most_per_block; ++i) {
    const std::vector<Detection> members = std::move(groups[i]);
    const Detection best = cluster_of(members).best;
    Found strongest = measured(cluster_of({&best, 1}));
    const Box strong = box_of(strongest.candidate);
    std::vector<Detection> explained{best}, others;
    for (const Detection& one : members) {
      if (one.trial == best.trial && one.begin == best.begin && one.end == best.end) continue;
      const Detection clear = unless_echo(strong, one);
      (clear.snr > 0 ? others : explained).push_back(clear.snr > 0 ? clear : one);
    }
    strongest.cluster = cluster_of(explained);
    describe_members(strongest);
    found.push_back(strongest);
    for (std::vector<Detection>& rest : friends(std::move(others))) groups.push_back(std::move(rest));
  }
}

// Merges each candidate into the first stronger one that explains it.
void StreamState::join_echoes(std::vector<Found>& found) const {
  std::stable_sort(found.begin(), found.end(),
                   [](const Found& a, const Found& b) { return a.candidate.snr > b.candidate.snr; });
  std::vector<Found> kept;
  for (Found& one : found) {
    const auto strong = std::find_if(kept.begin(), kept.end(), [&](const Found& other) {
      return explains(box_of(other.candidate), box_of(one.candidate), lanes.front().layout.slope);
    });
    if (strong == kept.end()) {
      kept.push_back(std::move(one));
      continue;
    }
    strong->candidate.members += one.candidate.members;
    strong->candidate.dm_first = std::min(strong->candidate.dm_first, one.candidate.dm_first);
    strong->candidate.dm_last = std::max(strong->candidate.dm_last, one.candidate.dm_last);
  }
  found = std::move(kept);
}

// Joins the block's candidates with those of the previous block that touch them; candidates that end before the block
// does are ready.
void StreamState::keep(std::vector<Found> found) {
  for (Found& one : found) {
    for (std::size_t i = 0; i < pending.size();) {
      if (!touch(pending[i].cluster, one.cluster)) {
        ++i;
        continue;
      }
      const bool earlier = pending[i].candidate.snr > one.candidate.snr;
      Candidate best = earlier ? pending[i].candidate : one.candidate;
      best.members = pending[i].candidate.members + one.candidate.members;
      best.dm_first = std::min(pending[i].candidate.dm_first, one.candidate.dm_first);
      best.dm_last = std::max(pending[i].candidate.dm_last, one.candidate.dm_last);
      one.cluster = joined(pending[i].cluster, one.cluster);
      one.candidate = best;
      pending.erase(pending.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  const std::uint64_t end = searched + block;
  for (Found& one : pending) ready.push_back(one.candidate);
  pending.clear();
  for (Found& one : found) {
    if (one.cluster.end >= end) {
      pending.push_back(std::move(one));
    } else {
      ready.push_back(one.candidate);
    }
  }
}

}  // namespace ridge::search
