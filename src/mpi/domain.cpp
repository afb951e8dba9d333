#include "mpi/domain.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/clock.hpp"
#include "base/text.hpp"
#include "mpi/device_memory.hpp"
#include "mpi/edges.hpp"
#include "mpi/network.hpp"
#include "mpi/pinned_array.hpp"
#include "stencil/decomposition.hpp"

namespace ridge::mpi {
namespace {

using namespace ridge::stencil;

// Steps between exchanges where nothing speaks against it: what the host's temporal blocks like.
constexpr std::size_t kDepth = 32;
// Blocks each way of exchanging is tried before the better one stays.
constexpr int kTrials = 4;
// Equal parts wait for the slowest process. Speeds are measured this long, all processes at work, and count where
// equal parts would lose more than this share.
constexpr double kSpeedSeconds = 0.3, kAlike = 0.05;

// What the root asks the others for while it shows the grid.
struct Request {
  std::uint64_t what = 0, field = 0, begin = 0, end = 0;
};
enum : std::uint64_t { kSlabs = 1, kDone = 2, kFailed = 3 };

template <class T>
class SpreadDomain final : public Domain<T> {
 public:
  SpreadDomain(const Communicator& processes, const Device& device, const Update<T>& update, const Problem& problem,
               const DomainWishes& wishes)
      : processes_(processes),
        layout_(resolve(update, problem)),
        counts_(wishes.processes.empty() ? choose_processes(layout_, processes.count())
                                         : parse_processes(wishes.processes, layout_, processes.count())),
        depth_(depth_for(wishes.depth)),
        network_(wishes.planner.effort == Effort::measured ? measure_network(processes) : Network{}),
        speeds_(speeds_for(device, update, problem, wishes)),
        part_(part_of(layout_, counts_, depth_, processes.rank(), speeds_)),
        exchanges_(exchanges(layout_, counts_, depth_, processes.rank(), speeds_)),
        plan_(device, update, {part_.shape, part_.borders, problem.threads, LeapUse::never}, wishes.planner),
        grid_(part_.shape, update.fields),
        edges_(plan_, layout_, part_, exchanges_, depth_),
        overlap_(wishes.overlap) {
    const bool direct = !device.is_host() && carry_for(processes, device) == Carry::direct;
    for (const Exchange& exchange : exchanges_) {
      outgoing_.emplace_back(device, exchange.send.cells() * update.fields, direct);
      incoming_.emplace_back(device, exchange.receive.cells() * update.fields, direct);
      out_.push_back({exchange.rank, exchange.send_tag, outgoing_.back().data(), outgoing_.back().size() * sizeof(T)});
      in_.push_back(
          {exchange.rank, exchange.receive_tag, incoming_.back().data(), incoming_.back().size() * sizeof(T)});
    }
    // Every process must be able to: one that cannot would wait for messages in another order.
    const bool possible = processes.largest(edges_.possible() && processes.can_overlap() ? 0 : 1) == 0;
    // On one machine whoever carries halos takes a core, and there is no other one.
    const bool no_core = device.is_host() && processes.machines() == 1 &&
                         processes.largest(static_cast<double>(processes.threads())) < 2;
    if (!overlap_ && no_core) overlap_ = false;
    if (!possible) {
      if (overlap_ == true) {
        throw Error(ErrorKind::invalid_argument,
                    "--overlap: the parts are too thin for it, or this MPI does not allow a second thread");
      }
      overlap_ = false;
    }
  }

  bool root() const override { return processes_.root(); }
  std::size_t processes() const override { return processes_.count(); }

  void start(const InitialState<T>& initial) override {
    std::vector<T> cells(part_.global.cells() * layout_.fields);
    fill_initial<T>(initial, part_.global, layout_.fields, layout_.threads, cells.data());
    begin(cells);
  }

  void load(const SlabReader<T>& read) override {
    std::vector<T> cells(part_.global.cells() * layout_.fields);
    const Counts whole = slab_shape();
    const std::size_t slab = whole[1] * whole[2];
    const std::size_t at_a_time = std::max<std::size_t>(1, (std::size_t{8} << 20) / (slab * sizeof(T)));
    std::vector<T> piece(std::min(at_a_time, whole[0]) * slab);
    for (std::size_t field = 0; field < layout_.fields; ++field) {
      for (std::size_t begin = 0; begin < whole[0]; begin += at_a_time) {
        const std::size_t end = std::min(whole[0], begin + at_a_time);
        if (root()) read(field, begin, end, piece.data());
        processes_.broadcast(piece.data(), (end - begin) * slab * sizeof(T));
        const Overlap mine = overlap_with(processes_.rank(), begin, end);
        for_rows(mine, begin, [&](std::size_t in_piece, std::size_t in_part, std::size_t count) {
          std::copy_n(piece.data() + in_piece, count, cells.data() + field * part_.global.cells() + in_part);
        });
      }
    }
    begin(cells);
  }

  void run(std::size_t steps) override {
    looked_ = base::now();
    while (steps > 0) {
      const std::size_t now = std::min(steps, depth_);
      steps -= now;
      if (stale_) exchange_plainly();
      if (overlap_ == true && now == depth_) {
        overlapped_block();
      } else if (!overlap_ && now == depth_) {
        tried_block();
      } else {
        compute(now);
        stale_ = true;
      }
    }
  }

  Box part() const override { return part_.global; }
  void read_part(std::span<T> cells) override { session_->get(part_.owned, cells); }
  void put_part(std::span<const T> cells) override { begin(cells); }

  void show(const std::function<void(const SlabReader<T>&)>& use) override {
    session_->read(grid_);
    if (!root()) {
      lend();
      return;
    }
    try {
      use([&](std::size_t field, std::size_t begin, std::size_t end, T* cells) { collect(field, begin, end, cells); });
    } catch (...) {
      Request request{kFailed};
      processes_.broadcast(&request, sizeof request);
      throw;
    }
    Request request{kDone};
    processes_.broadcast(&request, sizeof request);
  }

  double from_root(double value) override {
    processes_.broadcast(&value, sizeof value);
    return value;
  }
  double largest(double value) override { return processes_.largest(value); }

  std::string explain() const override {
    std::size_t sent = 0;
    for (const Exchange& exchange : exchanges_) sent += exchange.send.cells() * layout_.fields * sizeof(T);
    std::string parts;
    if (!speeds_.empty()) {
      const auto [slowest, fastest] = std::minmax_element(speeds_.begin(), speeds_.end());
      parts = fmt::format(", parts by speed (the slowest process has {:.2f} of the fastest's)", *slowest / *fastest);
    }
    std::string floor;
    if (network_.bytes_per_second > 0) {
      floor =
          fmt::format(", network floor {}",
                      base::human_seconds(static_cast<double>(sent) / network_.bytes_per_second + network_.latency));
    }
    return fmt::format("{} processes as {}{}, halos of {} steps{}; rank {} sends {} in {} messages for them{}\n{}",
                       processes_.count(), processes_text(layout_, counts_), parts, depth_,
                       !overlap_   ? ""
                       : *overlap_ ? ", exchanged while the interior is computed"
                                   : ", exchanged between blocks",
                       processes_.rank(), base::human_bytes(static_cast<double>(sent)), exchanges_.size(), floor,
                       plan_.explain());
  }
  std::string spent() override {
    struct Mine {
      double computing, packing, exchanging;
    } mine{computing_, packing_, exchanging_};
    std::vector<Mine> all(processes_.count());
    processes_.gather(&mine, sizeof mine, all.data());
    const auto range = [&](double Mine::*which) {
      const auto [least, most] = std::minmax_element(all.begin(), all.end(),
                                                     [&](const Mine& a, const Mine& b) { return a.*which < b.*which; });
      return fmt::format("{} to {}", base::human_seconds((*least).*which), base::human_seconds((*most).*which));
    };
    return fmt::format("a process computed {}, packed halos {}, exchanged and waited {}", range(&Mine::computing),
                       range(&Mine::packing), range(&Mine::exchanging));
  }
  std::string variant() const override {
    return plan_.decisions().front().trials.at(plan_.decisions().front().winner).name;
  }

 private:
  std::size_t depth_for(std::size_t wished) const {
    if (wished == 0) return choose_depth(layout_, counts_, kDepth);
    if (wished > deepest(layout_, counts_)) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("--halo {}: parts of this size can exchange halos of at most {} steps", wished,
                              deepest(layout_, counts_)));
    }
    return wished;
  }

  // What each process does a second of the equal part it would have, while all the others do too.
  Speeds speeds_for(const Device& device, const Update<T>& update, const Problem& problem,
                    const DomainWishes& wishes) const {
    if (!wishes.speeds.empty()) {
      if (wishes.speeds.size() != processes_.count() ||
          std::any_of(wishes.speeds.begin(), wishes.speeds.end(), [](double speed) { return !(speed > 0); })) {
        throw Error(ErrorKind::invalid_argument,
                    fmt::format("stencil: {} speeds for {} processes, or one that is not above 0", wishes.speeds.size(),
                                processes_.count()));
      }
      return wishes.speeds;
    }
    if (!device.is_host() || wishes.planner.effort != Effort::measured || update.coefficients > 0) return {};
    const Part part = part_of(layout_, counts_, depth_, processes_.rank());
    const Plan<T> plan(device, update, {part.shape, part.borders, problem.threads, LeapUse::never}, wishes.planner);
    Grid<T> grid(part.shape, update.fields);
    std::fill(grid.all().begin(), grid.all().end(), T{1});
    Session<T> session = plan.start(grid);
    session.run(depth_);
    processes_.barrier();
    const double start = base::now();
    double blocks = 0, seconds = 0;
    for (; seconds < kSpeedSeconds; seconds = base::now() - start) {
      session.run(depth_);
      ++blocks;
    }
    const double mine = blocks / seconds;
    Speeds all(processes_.count());
    processes_.gather(&mine, sizeof mine, all.data());
    double sum = 0;
    for (const double speed : all) sum += speed;
    const double slowest = *std::min_element(all.begin(), all.end());
    return slowest * static_cast<double>(all.size()) > (1 - kAlike) * sum ? Speeds{} : all;
  }

  void begin(std::span<const T> cells) {
    // Halos before the first exchange must be numbers.
    std::fill(grid_.all().begin(), grid_.all().end(), cells.front());
    session_.emplace(plan_.start(grid_));
    session_->put(part_.owned, cells);
    stale_ = true;
  }

  // Adds the time from one look at the clock to the next to a sum.
  void count(double& sum) {
    const double now = base::now();
    sum += now - looked_;
    looked_ = now;
  }
  void compute(std::size_t steps) {
    session_->run(steps);
    session_->wait();
    count(computing_);
  }
  void pack_from_grid() {
    for (std::size_t i = 0; i < exchanges_.size(); ++i) session_->get(exchanges_[i].send, outgoing_[i].span());
    count(packing_);
  }
  void unpack() {
    for (std::size_t i = 0; i < exchanges_.size(); ++i)
      session_->put(exchanges_[i].receive, std::span<const T>(incoming_[i].data(), incoming_[i].size()));
    stale_ = false;
    count(packing_);
  }
  void exchange_plainly() {
    pack_from_grid();
    processes_.exchange(out_, in_);
    count(exchanging_);
    unpack();
  }
  // The cells neighbours wait for are computed first, and travel while the whole part is computed.
  void overlapped_block() {
    edges_.compute(*session_, depth_, outgoing_);
    processes_.exchange_during(out_, in_, [&] { compute(depth_); });
    count(exchanging_);
    unpack();
  }
  void plain_block() {
    compute(depth_);
    exchange_plainly();
  }
  // Both ways in turn, timed, until all processes agree on the better one.
  void tried_block() {
    const bool overlapped = tried_ % 2 == 1;
    processes_.barrier();
    count(exchanging_);
    const double before = looked_;
    if (overlapped) {
      overlapped_block();
    } else {
      plain_block();
    }
    const double seconds = processes_.largest(base::now() - before);
    count(exchanging_);
    double& best = overlapped ? seconds_overlapped_ : seconds_plain_;
    best = best == 0 ? seconds : std::min(best, seconds);
    if (++tried_ == 2 * kTrials) overlap_ = seconds_overlapped_ < seconds_plain_;
  }

  // --- the whole grid, slabs of the slowest axis it has

  std::size_t slab_axis() const { return 3 - layout_.dimensions; }
  // The whole grid as slabs, rows and cells of a row; axes beyond the slowest are merged where there are only two.
  Counts slab_shape() const {
    const auto& shape = layout_.shape;
    return layout_.dimensions == 3   ? Counts{shape[0], shape[1], shape[2]}
           : layout_.dimensions == 2 ? Counts{shape[1], 1, shape[2]}
                                     : Counts{shape[2], 1, 1};
  }
  // A process's box in those coordinates.
  Box slab_box(const Box& box) const {
    if (layout_.dimensions == 3) return box;
    if (layout_.dimensions == 2) return {{box.begin[1], 0, box.begin[2]}, {box.extent[1], 1, box.extent[2]}};
    return {{box.begin[2], 0, 0}, {box.extent[2], 1, 1}};
  }
  struct Overlap {
    Box box;                 // of the process, as slabs
    std::size_t begin, end;  // slabs in common
    std::size_t cells() const { return end > begin ? (end - begin) * box.extent[1] * box.extent[2] : 0; }
  };
  Overlap overlap_with(std::size_t rank, std::size_t begin, std::size_t end) const {
    const Box box = slab_box(part_of(layout_, counts_, depth_, rank, speeds_).global);
    return {box, std::max(begin, box.begin[0]), std::min(end, box.begin[0] + box.extent[0])};
  }
  // use(offset in the piece that starts at slab `first`, offset in the process's box, cells)
  template <class Use>
  void for_rows(const Overlap& overlap, std::size_t first, const Use& use) const {
    const Counts whole = slab_shape();
    const Box& box = overlap.box;
    for (std::size_t z = overlap.begin; z < overlap.end; ++z) {
      for (std::size_t y = 0; y < box.extent[1]; ++y) {
        use(((z - first) * whole[1] + box.begin[1] + y) * whole[2] + box.begin[2],
            ((z - box.begin[0]) * box.extent[1] + y) * box.extent[2], box.extent[2]);
      }
    }
  }
  // Slabs of this process's own part of a field, from the copy in grid_.
  std::vector<T> own_slabs(std::size_t field, const Overlap& overlap) const {
    std::vector<T> cells(overlap.cells());
    if (cells.empty()) return cells;
    const Box owned = slab_box(part_.owned);
    std::array<std::size_t, 3> local{1, 1, 1};
    for (std::size_t axis = 0; axis < layout_.dimensions; ++axis) local[slab_axis() + axis] = part_.shape[axis];
    const Box all = slab_box({{0, 0, 0}, local});
    T* to = cells.data();
    for (std::size_t z = overlap.begin; z < overlap.end; ++z) {
      for (std::size_t y = 0; y < owned.extent[1]; ++y) {
        const std::size_t row = (z - overlap.box.begin[0] + owned.begin[0]) * all.extent[1] + owned.begin[1] + y;
        to = std::copy_n(grid_.field(field).data() + row * all.extent[2] + owned.begin[2], owned.extent[2], to);
      }
    }
    return cells;
  }

  void collect(std::size_t field, std::size_t begin, std::size_t end, T* cells) {
    Request request{kSlabs, field, begin, end};
    processes_.broadcast(&request, sizeof request);
    for (std::size_t rank = 0; rank < processes_.count(); ++rank) {
      const Overlap overlap = overlap_with(rank, begin, end);
      if (overlap.cells() == 0) continue;
      std::vector<T> theirs;
      if (rank == processes_.rank()) {
        theirs = own_slabs(field, overlap);
      } else {
        theirs.resize(overlap.cells());
        processes_.receive(rank, theirs.data(), theirs.size() * sizeof(T));
      }
      const T* from = theirs.data();
      for_rows(overlap, begin, [&](std::size_t in_piece, std::size_t, std::size_t count) {
        std::copy_n(from, count, cells + in_piece);
        from += count;
      });
    }
  }

  void lend() {
    for (;;) {
      Request request;
      processes_.broadcast(&request, sizeof request);
      if (request.what == kDone) return;
      if (request.what != kSlabs) throw Error(ErrorKind::io, "");
      const Overlap overlap = overlap_with(processes_.rank(), request.begin, request.end);
      const std::vector<T> cells = own_slabs(request.field, overlap);
      if (!cells.empty()) processes_.send(0, cells.data(), cells.size() * sizeof(T));
    }
  }

  const Communicator& processes_;
  Layout layout_;
  Counts counts_;
  std::size_t depth_;
  Network network_;  // where planning measures
  Speeds speeds_;
  Part part_;
  std::vector<Exchange> exchanges_;
  Plan<T> plan_;
  Grid<T> grid_;
  Edges<T> edges_;
  std::optional<Session<T>> session_;
  std::vector<PinnedArray<T>> outgoing_, incoming_;  // packed by the device itself
  std::vector<Communicator::Message> out_, in_;
  bool stale_ = true;  // halos are older than the cells
  std::optional<bool> overlap_;
  int tried_ = 0;
  double looked_ = 0, computing_ = 0, packing_ = 0, exchanging_ = 0;
  double seconds_plain_ = 0, seconds_overlapped_ = 0;
};

}  // namespace

template <class T>
std::unique_ptr<Domain<T>> make_domain(const Communicator& processes, const Device& device, const Update<T>& update,
                                       const Problem& problem, const DomainWishes& wishes) {
  if (processes.count() == 1) {
    if (!wishes.processes.empty()) parse_processes(wishes.processes, resolve(update, problem), 1);
    return local_domain(device, update, problem, wishes);
  }
  return std::make_unique<SpreadDomain<T>>(processes, device, update, problem, wishes);
}

template std::unique_ptr<Domain<float>> make_domain(const Communicator&, const Device&, const Update<float>&,
                                                    const Problem&, const DomainWishes&);
template std::unique_ptr<Domain<double>> make_domain(const Communicator&, const Device&, const Update<double>&,
                                                     const Problem&, const DomainWishes&);
template std::unique_ptr<Domain<std::int32_t>> make_domain(const Communicator&, const Device&,
                                                           const Update<std::int32_t>&, const Problem&,
                                                           const DomainWishes&);
template std::unique_ptr<Domain<std::uint8_t>> make_domain(const Communicator&, const Device&,
                                                           const Update<std::uint8_t>&, const Problem&,
                                                           const DomainWishes&);

}  // namespace ridge::mpi
