// The lanes of a hybrid plan and how the batch and the host's cores are shared among them.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <ridge/fft_hybrid.hpp>

#include "fft/hybrid/crew.hpp"
#include "fft/hybrid/lane.hpp"

namespace ridge::fft {

// Who does how much, and with how many of the host's cores.
struct Sharing {
  std::vector<std::uint64_t> transforms;  // one a lane
  std::vector<std::size_t> cores;         // one a lane
};

class Team {
 public:
  void add(std::string device, bool is_host, std::unique_ptr<Lane> lane);
  std::size_t size() const { return lanes_.size(); }
  const std::string& device(std::size_t lane) const { return lanes_[lane].device; }
  bool is_host(std::size_t lane) const { return lanes_[lane].is_host; }
  std::size_t grain(std::size_t lane) const { return lanes_[lane].lane->grain(); }

  void assign(const Sharing& sharing);
  const Sharing& sharing() const { return sharing_; }
  // Seconds of each lane, and of the whole run last.
  std::vector<double> run(Direction direction, const std::byte* in, std::byte* out);
  // Transforms a second of each lane while all do their share again and again, none waiting for another.
  std::vector<double> rates(const std::byte* in, std::byte* out, double seconds);

 private:
  struct Member {
    std::string device;
    bool is_host;
    std::unique_ptr<Lane> lane;
    std::size_t first = 0;         // transform
    std::size_t member = kNobody;  // of the crew
  };
  static constexpr std::size_t kNobody = ~std::size_t{0};
  // task(lane) for all lanes at once: the host's on the calling thread, a device's on one of its own.
  void together(const std::function<void(std::size_t lane)>& task);

  std::vector<Member> lanes_;
  Sharing sharing_;
  std::unique_ptr<Crew> crew_;
};

struct Verdict {
  Sharing sharing;
  std::vector<double> seconds;  // of each lane's share in the median run
  std::vector<double> alone;    // of the whole batch by each lane
  std::vector<double> rates;    // Team::rates with this sharing
  double best = 0, median = 0;  // of the whole batch
};

// Each lane alone, then together: shares from the split solver, corrected by what each took while the others ran. The
// sharing whose median run is fastest is what the team is left with; one lane alone is among them. The median, because
// a run is as slow as the slowest of many threads, and some are always late.
Verdict decide(Team& team, std::uint64_t batch, std::size_t cores, bool copies, const std::byte* in, std::byte* out,
               double seconds);

}  // namespace ridge::fft
