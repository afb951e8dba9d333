// The workers of a hybrid plan and how the batch and the host's cores are shared among them.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <ridge/fft/hybrid.hpp>

#include "fft/multi_device/spinning_pool.hpp"
#include "fft/multi_device/worker.hpp"

namespace ridge::fft {

// Who does how much, and with how many of the host's cores.
struct Sharing {
  std::vector<std::uint64_t> transforms;  // one a worker
  std::vector<std::size_t> cores;         // one a worker
};

class Workers {
 public:
  void add(std::string device, bool is_host, std::unique_ptr<Worker> worker);
  std::size_t size() const { return workers_.size(); }
  const std::string& device(std::size_t worker) const { return workers_[worker].device; }
  bool is_host(std::size_t worker) const { return workers_[worker].is_host; }
  std::size_t grain(std::size_t worker) const { return workers_[worker].worker->grain(); }

  void assign(const Sharing& sharing);
  const Sharing& sharing() const { return sharing_; }
  // Seconds of each worker, and of the whole run last.
  std::vector<double> run(Direction direction, const std::byte* in, std::byte* out);
  // Transforms a second of each worker while all do their share again and again, none waiting for another.
  std::vector<double> rates(const std::byte* in, std::byte* out, double seconds);

 private:
  struct Member {
    std::string device;
    bool is_host;
    std::unique_ptr<Worker> worker;
    std::size_t first = 0;         // transform
    std::size_t member = kNobody;  // of the pool
  };
  static constexpr std::size_t kNobody = ~std::size_t{0};
  // task(worker) for all workers at once: the host's on the calling thread, a device's on one of its own.
  void together(const std::function<void(std::size_t worker)>& task);

  std::vector<Member> workers_;
  Sharing sharing_;
  std::unique_ptr<SpinningPool> pool_;
};

struct Verdict {
  Sharing sharing;
  std::vector<double> seconds;  // of each worker's share in the median run
  std::vector<double> alone;    // of the whole batch by each worker
  std::vector<double> rates;    // Workers::rates with this sharing
  double best = 0, median = 0;  // of the whole batch
};

// Each worker alone, then together: shares from the split solver, corrected by what each took while the others ran. The
// sharing whose median run is fastest is what the workers are left with; one worker alone is among them. The median,
// because a run is as slow as the slowest of many threads, and some are always late.
Verdict decide(Workers& workers, std::uint64_t batch, std::size_t cores, bool copies, const std::byte* in,
               std::byte* out, double seconds);

}  // namespace ridge::fft
