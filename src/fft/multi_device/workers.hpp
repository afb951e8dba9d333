// The workers of a hybrid plan, and the partition of the batch and the host's cores among them.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <ridge/fft/hybrid.hpp>

#include "fft/multi_device/spinning_pool.hpp"
#include "fft/multi_device/worker.hpp"

namespace ridge::fft {

// Transforms and host cores of each worker.
struct Sharing {
  std::vector<std::uint64_t> transforms;  // per worker
  std::vector<std::size_t> cores;         // per worker
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
  // Returns the seconds of each worker and, last, of the whole run.
  std::vector<double> run(Direction direction, const std::byte* in, std::byte* out);
  // Measures transforms per second of each worker while all repeat their shares without waiting for each other.
  std::vector<double> rates(const std::byte* in, std::byte* out, double seconds);

 private:
  struct Member {
    std::string device;
    bool is_host;
    std::unique_ptr<Worker> worker;
    std::size_t first = 0;           // index of the first transform
    std::size_t member = kNoMember;  // of the thread pool
  };
  static constexpr std::size_t kNoMember = ~std::size_t{0};
  // Runs task(worker) for all workers concurrently: the host's on the calling thread, each device's on its own thread.
  void together(const std::function<void(std::size_t worker)>& task);

  std::vector<Member> workers_;
  Sharing sharing_;
  std::unique_ptr<SpinningPool> pool_;
};

struct Division {
  Sharing sharing;
  std::vector<double> seconds;  // per worker, for its share in the median run
  std::vector<double> alone;    // per worker, for the whole batch alone
  std::vector<double> rates;    // Workers::rates with this sharing
  double best = 0, median = 0;  // seconds of the whole batch
};

// Measures each worker alone, then all together: shares come from the split solver and are corrected by the times
// measured together. Leaves the workers with the sharing whose median run is fastest; one worker alone is also a
// candidate. The median is used because a run is as slow as its slowest thread, and some threads are always late.
Division decide(Workers& workers, std::uint64_t batch, std::size_t cores, bool copies, const std::byte* in,
                std::byte* out, double seconds);

}  // namespace ridge::fft
