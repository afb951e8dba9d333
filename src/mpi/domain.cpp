// Divides a grid among processes, exchanges halos, and overlaps them with the inner cells.
#include "mpi/domain.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <ridge/error.hpp>
#include <ridge/mpi/redistribute.hpp>

#include "base/clock.hpp"
#include "base/text.hpp"
#include "mpi/device_memory.hpp"
#include "mpi/edges.hpp"
#include "mpi/pinned_array.hpp"
#include "mpi/scaling.hpp"
#include "mpi/shared_grid.hpp"
#include "stencil/decomposition.hpp"

namespace ridge::mpi {
namespace {

using namespace ridge::stencil;
using ridge::stencil::Box;
using ridge::stencil::Part;

// Preferred number of steps between halo exchanges: the depth of the host's temporal blocks.
constexpr std::size_t kDepth = 32;
// Blocks that each exchange method is timed for before the faster one is kept.
constexpr int kTrials = 4;
// Equal parts wait for the slowest process. Speeds are measured for kSpeedSeconds with all processes busy, and are used
// if equal parts would lose more than the fraction kAlike.
constexpr double kSpeedSeconds = 0.3, kAlike = 0.05;
// Weight of the newest block in the running average of a process's speed.
constexpr double kNewest = 0.5;
// The decomposition moves once the time it would have saved exceeds kWorth times the cost of moving, so that a core
// slow for only a second costs little. Before the first move its cost is assumed to be kBlocksOfMoving blocks.
constexpr double kWorth = 3, kBlocksOfMoving = 4;

// Request from the root to the other processes while it reads the whole grid.
struct Request {
  std::uint64_t what = 0, field = 0, begin = 0, end = 0;
};
enum : std::uint64_t { kSlabs = 1, kDone = 2, kFailed = 3 };

// The local part of the grid under the current decomposition, with its plan and messages.
template <class T>
struct Cut {
  Cut(const Device& device, const Update<T>& update, const Layout& layout, Part its_part,
      std::vector<Exchange> with_neighbours, std::size_t depth, std::size_t threads, const planner::Options& planning,
      bool direct)
      : part(std::move(its_part)),
        exchanges(std::move(with_neighbours)),
        plan(device, update, {part.shape, part.borders, threads, LeapUse::never, layout.schedule}, planning),
        grid(part.shape, update.fields),
        edges(plan, layout, part, exchanges, depth) {
    for (const Exchange& exchange : exchanges) {
      outgoing.emplace_back(device, exchange.send.cells() * update.fields, direct);
      incoming.emplace_back(device, exchange.receive.cells() * update.fields, direct);
      out.push_back({exchange.rank, exchange.send_tag, outgoing.back().data(), outgoing.back().size() * sizeof(T)});
      in.push_back({exchange.rank, exchange.receive_tag, incoming.back().data(), incoming.back().size() * sizeof(T)});
    }
  }

  Part part;
  std::vector<Exchange> exchanges;
  Plan<T> plan;
  Grid<T> grid;
  Edges<T> edges;
  std::optional<Session<T>> session;
  std::vector<PinnedArray<T>> outgoing, incoming;  // packed by the device itself
  std::vector<Communicator::Message> out, in;
};

template <class T>
class DistributedDomain final : public Domain<T> {
 public:
  DistributedDomain(const Communicator& processes, const Device& device, const Update<T>& update,
                    const Problem& problem, const DomainOptions& options)
      : processes_(processes),
        layout_(resolve(update, problem)),
        counts_(options.processes.empty() ? choose_processes(layout_, processes.count())
                                          : parse_processes(options.processes, layout_, processes.count())),
        depth_(depth_for(options.depth)),
        network_(options.planner.effort == Effort::measured ? measure_network(processes) : Network{}),
        speeds_(speeds_for(device, update, problem, options)),
        direct_(!device.is_host() && transport_for(processes, device) == Transport::direct),
        cut_(std::make_unique<Cut<T>>(device, update, layout_,
                                      part_of(layout_, counts_, depth_, processes.rank(), speeds_),
                                      exchanges(layout_, counts_, depth_, processes.rank(), speeds_), depth_,
                                      problem.threads, options.planner, direct_)),
        overlap_(options.overlap),
        cuts_(device.is_host() ? options.cuts : Cuts::fixed) {
    if (!update.layers.empty() || update.free_surface)
      throw Error(ErrorKind::invalid_argument,
                  "stencil: absorbing layers and free surfaces need a run in one process: start it without mpirun");
    // All processes must support overlap: one that does not would exchange messages in another order.
    const bool possible = processes.largest(cut_->edges.possible() && processes.can_overlap() ? 0 : 1) == 0;
    // With all processes on one machine, the messenger thread needs a core of its own.
    const bool no_core = device.is_host() && processes.machines() == 1 &&
                         processes.largest(static_cast<double>(processes.threads())) < 2;
    if (!overlap_ && no_core) overlap_ = false;
    if (!possible) {
      if (overlap_ == true) {
        throw Error(
            ErrorKind::invalid_argument,
            "--overlap needs parts of at least three halos per axis and an MPI with MPI_THREAD_SERIALIZED: use fewer "
            "processes or a smaller --halo");
      }
      overlap_ = false;
    }
  }

  bool root() const override { return processes_.root(); }
  std::size_t processes() const override { return processes_.count(); }

  void start(const InitialState<T>& initial) override {
    std::vector<T> cells(cut_->part.global.cells() * layout_.fields);
    fill_initial<T>(initial, cut_->part.global, layout_.fields, layout_.threads, cells.data());
    begin(cells);
  }

  void load(const SlabReader<T>& read) override {
    std::vector<T> cells(cut_->part.global.cells() * layout_.fields);
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
          std::copy_n(piece.data() + in_piece, count, cells.data() + field * cut_->part.global.cells() + in_part);
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
        const double before = computing_;
        compute(now);
        stale_ = true;
        if (cuts_ != Cuts::fixed && overlap_ == false && now == depth_ && steps > 0) move_cuts(computing_ - before);
      }
    }
  }

  Box part() const override { return cut_->part.global; }
  void read_part(std::span<T> cells) override { cut_->session->get(cut_->part.owned, cells); }
  void put_part(std::span<const T> cells) override { begin(cells); }

  void show(const std::function<void(const SlabReader<T>&)>& use) override {
    cut_->session->read(cut_->grid);
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
    for (const Exchange& exchange : cut_->exchanges) sent += exchange.send.cells() * layout_.fields * sizeof(T);
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
                       processes_.rank(), base::human_bytes(static_cast<double>(sent)), cut_->exchanges.size(), floor,
                       cut_->plan.explain());
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
    return fmt::format("per process: computed {}, packed halos {}, exchanged and waited {}{}", range(&Mine::computing),
                       range(&Mine::packing), range(&Mine::exchanging),
                       moved_ > 0 ? fmt::format("; the cuts were moved {} times", moved_) : std::string());
  }
  std::string variant() const override {
    return cut_->plan.decisions().front().trials.at(cut_->plan.decisions().front().winner).name;
  }

 private:
  std::size_t depth_for(std::size_t requested) const {
    if (requested == 0) return choose_depth(layout_, counts_, kDepth);
    if (requested > deepest(layout_, counts_)) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("--halo {}: parts of this size can exchange halos of at most {} steps", requested,
                              deepest(layout_, counts_)));
    }
    return requested;
  }

  // Measures how many blocks per second each process computes of an equal part, while all processes are busy.
  Speeds speeds_for(const Device& device, const Update<T>& update, const Problem& problem,
                    const DomainOptions& options) const {
    if (!options.speeds.empty()) {
      if (options.speeds.size() != processes_.count() ||
          std::any_of(options.speeds.begin(), options.speeds.end(), [](double speed) { return !(speed > 0); })) {
        throw Error(ErrorKind::invalid_argument,
                    fmt::format("stencil: got {} speeds for {} processes: give one above 0 per process",
                                options.speeds.size(), processes_.count()));
      }
      return options.speeds;
    }
    if (!device.is_host() || options.planner.effort != Effort::measured || update.coefficients > 0) return {};
    const Part part = part_of(layout_, counts_, depth_, processes_.rank());
    const Plan<T> plan(device, update, {part.shape, part.borders, problem.threads, LeapUse::never, problem.schedule},
                       options.planner);
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
    // Halo cells must hold finite values before the first exchange.
    std::fill(cut_->grid.all().begin(), cut_->grid.all().end(), cells.front());
    cut_->session.emplace(cut_->plan.start(cut_->grid));
    cut_->session->put(cut_->part.owned, cells);
    stale_ = true;
  }

  // --- Moving cuts: parts follow the measured speeds. All processes compute the same cuts.

  void move_cuts(double seconds) {
    const std::size_t ranks = processes_.count();
    std::vector<double> took(ranks), cells(ranks);
    processes_.gather(&seconds, sizeof seconds, took.data());
    rates_.resize(ranks, 0);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      cells[rank] = static_cast<double>(computed_cells(part_of(layout_, counts_, depth_, rank, speeds_)));
      const double rate = cells[rank] / std::max(took[rank], 1e-9);
      rates_[rank] = rates_[rank] == 0 ? rate : kNewest * rate + (1 - kNewest) * rates_[rank];
    }
    double now = 0, then = 0;  // seconds per block with the present and with the new cuts
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      now = std::max(now, cells[rank] / rates_[rank]);
      then = std::max(
          then, static_cast<double>(computed_cells(part_of(layout_, counts_, depth_, rank, rates_))) / rates_[rank]);
    }
    count(exchanging_);
    lost_ += std::max(now - then, 0.0);
    if (cuts_ == Cuts::every_block || lost_ > kWorth * (moved_ > 0 ? moving_ : kBlocksOfMoving * now)) repartition();
  }
  static std::size_t computed_cells(const Part& part) {
    std::size_t cells = 1;
    for (const std::size_t extent : part.shape) cells *= extent;
    return cells;
  }
  void repartition() {
    const double before = base::now();
    const Plan<T>& plan = cut_->plan;
    Part next = part_of(layout_, counts_, depth_, processes_.rank(), rates_);
    std::vector<T> cells(cut_->part.global.cells() * layout_.fields), theirs(next.global.cells() * layout_.fields);
    cut_->session->get(cut_->part.owned, cells);
    Shape shape(layout_.shape.end() - static_cast<std::ptrdiff_t>(layout_.dimensions), layout_.shape.end());
    Redistribute<T>(processes_, shape, box_of(cut_->part.global, layout_.dimensions),
                    box_of(next.global, layout_.dimensions), layout_.fields)
        .run(cells, theirs);
    planner::Options same{.effort = Effort::quick, .use_wisdom = false, .save_wisdom = false, .variant = variant()};
    const auto make = [&] {
      return std::make_unique<Cut<T>>(plan.device(), plan.update(), layout_, next,
                                      exchanges(layout_, counts_, depth_, processes_.rank(), rates_), depth_,
                                      plan.problem().threads, same, direct_);
    };
    try {
      cut_ = make();
    } catch (const Error&) {  // the old box's variant does not support the new box
      same.variant.clear();
      cut_ = make();
    }
    speeds_ = rates_;
    begin(theirs);
    moving_ = processes_.largest(base::now() - before);
    lost_ = 0;
    ++moved_;
    count(exchanging_);
  }

  // Adds the time since the previous call to `sum`.
  void count(double& sum) {
    const double now = base::now();
    sum += now - looked_;
    looked_ = now;
  }
  void compute(std::size_t steps) {
    cut_->session->run(steps);
    cut_->session->wait();
    count(computing_);
  }
  void pack_from_grid() {
    for (std::size_t i = 0; i < cut_->exchanges.size(); ++i)
      cut_->session->get(cut_->exchanges[i].send, cut_->outgoing[i].span());
    count(packing_);
  }
  void unpack() {
    for (std::size_t i = 0; i < cut_->exchanges.size(); ++i)
      cut_->session->put(cut_->exchanges[i].receive,
                         std::span<const T>(cut_->incoming[i].data(), cut_->incoming[i].size()));
    stale_ = false;
    count(packing_);
  }
  void exchange_plainly() {
    pack_from_grid();
    processes_.exchange(cut_->out, cut_->in);
    count(exchanging_);
    unpack();
  }
  // Computes the cells that neighbours need first and sends them while the whole part is computed.
  void overlapped_block() {
    cut_->edges.compute(*cut_->session, depth_, cut_->outgoing);
    processes_.exchange_during(cut_->out, cut_->in, [&] { compute(depth_); });
    count(exchanging_);
    unpack();
  }
  void plain_block() {
    compute(depth_);
    exchange_plainly();
  }
  // Alternates both exchange methods and times them, until all processes agree on the faster one.
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

  // --- The whole grid, as slabs of its slowest axis.

  std::size_t slab_axis() const { return 3 - layout_.dimensions; }
  // Shape of the whole grid as slabs, rows, cells per row; a missing axis has extent 1.
  Counts slab_shape() const {
    const auto& shape = layout_.shape;
    return layout_.dimensions == 3   ? Counts{shape[0], shape[1], shape[2]}
           : layout_.dimensions == 2 ? Counts{shape[1], 1, shape[2]}
                                     : Counts{shape[2], 1, 1};
  }
  // A process's box in the coordinates of slab_shape().
  Box slab_box(const Box& box) const {
    if (layout_.dimensions == 3) return box;
    if (layout_.dimensions == 2) return {{box.begin[1], 0, box.begin[2]}, {box.extent[1], 1, box.extent[2]}};
    return {{box.begin[2], 0, 0}, {box.extent[2], 1, 1}};
  }
  struct Overlap {
    Box box;                 // the process's box in slab coordinates
    std::size_t begin, end;  // slabs in common
    std::size_t cells() const { return end > begin ? (end - begin) * box.extent[1] * box.extent[2] : 0; }
  };
  Overlap overlap_with(std::size_t rank, std::size_t begin, std::size_t end) const {
    const Box box = slab_box(part_of(layout_, counts_, depth_, rank, speeds_).global);
    return {box, std::max(begin, box.begin[0]), std::min(end, box.begin[0] + box.extent[0])};
  }
  // Calls use(offset in the chunk that starts at slab `first`, offset in the process's box, cells) for each row.
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
  // This process's slabs of a field, from the copy in cut_->grid.
  std::vector<T> own_slabs(std::size_t field, const Overlap& overlap) const {
    std::vector<T> cells(overlap.cells());
    if (cells.empty()) return cells;
    const Box owned = slab_box(cut_->part.owned);
    std::array<std::size_t, 3> local{1, 1, 1};
    for (std::size_t axis = 0; axis < layout_.dimensions; ++axis) local[slab_axis() + axis] = cut_->part.shape[axis];
    const Box all = slab_box({{0, 0, 0}, local});
    T* to = cells.data();
    for (std::size_t z = overlap.begin; z < overlap.end; ++z) {
      for (std::size_t y = 0; y < owned.extent[1]; ++y) {
        const std::size_t row = (z - overlap.box.begin[0] + owned.begin[0]) * all.extent[1] + owned.begin[1] + y;
        to = std::copy_n(cut_->grid.field(field).data() + row * all.extent[2] + owned.begin[2], owned.extent[2], to);
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
  Network network_;  // zero unless planning measures
  Speeds speeds_;
  bool direct_;  // messages from and to device memory
  std::unique_ptr<Cut<T>> cut_;
  bool stale_ = true;  // halos are older than the cells
  std::optional<bool> overlap_;
  Cuts cuts_;
  std::vector<double> rates_;  // cells per second of each process, averaged over the last blocks
  double lost_ = 0;            // seconds that other cuts would have saved since the last move
  double moving_ = 0;          // seconds that the last move took
  int moved_ = 0;
  int tried_ = 0;
  double looked_ = 0, computing_ = 0, packing_ = 0, exchanging_ = 0;
  double seconds_plain_ = 0, seconds_overlapped_ = 0;
};

}  // namespace

mpi::Box box_of(const ridge::stencil::Box& part, std::size_t axes) {
  mpi::Box box;
  for (std::size_t i = 0; i < axes; ++i) {
    const std::size_t axis = i + 3 - axes;
    box.begin[i] = part.begin[axis];
    box.end[i] = part.begin[axis] + part.extent[axis];
  }
  return box;
}

template <class T>
std::unique_ptr<Domain<T>> make_domain(const Communicator& processes, const Device& device, const Update<T>& update,
                                       const Problem& problem, const DomainOptions& options) {
  if (processes.count() == 1) {
    if (!options.processes.empty()) parse_processes(options.processes, resolve(update, problem), 1);
    return local_domain(device, update, problem, options);
  }
  if (options.shared) {
    const std::string reason = why_not_shared(processes, device, update, problem, options);
    if (!reason.empty()) throw Error(ErrorKind::invalid_argument, "stencil: a shared grid " + reason);
    return shared_grid(processes, device, update, problem, options);
  }
  return std::make_unique<DistributedDomain<T>>(processes, device, update, problem, options);
}

template std::unique_ptr<Domain<float>> make_domain(const Communicator&, const Device&, const Update<float>&,
                                                    const Problem&, const DomainOptions&);
template std::unique_ptr<Domain<double>> make_domain(const Communicator&, const Device&, const Update<double>&,
                                                     const Problem&, const DomainOptions&);
template std::unique_ptr<Domain<std::int32_t>> make_domain(const Communicator&, const Device&,
                                                           const Update<std::int32_t>&, const Problem&,
                                                           const DomainOptions&);
template std::unique_ptr<Domain<std::uint8_t>> make_domain(const Communicator&, const Device&,
                                                           const Update<std::uint8_t>&, const Problem&,
                                                           const DomainOptions&);

}  // namespace ridge::mpi
