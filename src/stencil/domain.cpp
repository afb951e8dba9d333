// A running grid in one process.
#include "stencil/domain.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <ridge/error.hpp>

#include "base/clock.hpp"
#include "base/threads.hpp"
#include "stencil/layout.hpp"

namespace ridge::stencil {
namespace {

template <class T>
class LocalDomain final : public Domain<T> {
 public:
  LocalDomain(const Device& device, const Update<T>& update, const Problem& problem, const planner::Options& options)
      : plan_(device, update, problem, options), grid_(problem.shape, update.fields) {}

  bool root() const override { return true; }
  std::size_t processes() const override { return 1; }
  void start(const InitialState<T>& initial) override {
    const Layout layout = resolve(plan_.update(), plan_.problem());
    fill_initial<T>(initial, {{0, 0, 0}, layout.shape}, grid_.fields(), layout.threads, grid_.all().data());
    bring();
  }
  void load(const SlabReader<T>& read) override {
    for (std::size_t field = 0; field < grid_.fields(); ++field)
      read(field, 0, grid_.shape()[0], grid_.field(field).data());
    bring();
  }
  void run(std::size_t steps) override {
    session_->run(steps);
    session_->wait();
  }
  void prepare(std::size_t steps) override { session_->prepare(steps); }
  std::size_t leaps_from() const override { return session_ ? session_->leaps_from() : plan_.leaps_from(); }
  void steady() override {
    fetch();
    plan_.steady(grid_);
    bring();
  }
  double step_seconds() const override {
    const planner::Trial& winner = plan_.decisions().front().trials.at(plan_.decisions().front().winner);
    return winner.measured_seconds > 0 ? winner.measured_seconds : winner.predicted_seconds;
  }
  void show(const std::function<void(const SlabReader<T>&)>& use) override {
    fetch();
    const std::size_t slab = grid_.cells() / grid_.shape()[0];
    use([&](std::size_t field, std::size_t begin, std::size_t end, T* cells) {
      std::copy_n(grid_.field(field).data() + begin * slab, (end - begin) * slab, cells);
    });
  }
  Box part() const override { return {{0, 0, 0}, resolve(plan_.update(), plan_.problem()).shape}; }
  void read_part(std::span<T> cells) override {
    fetch();
    std::copy(grid_.all().begin(), grid_.all().end(), cells.begin());
  }
  void put_part(std::span<const T> cells) override {
    std::copy(cells.begin(), cells.end(), grid_.all().begin());
    bring();
  }
  double moving_seconds() const override { return moving_; }
  double from_root(double value) override { return value; }
  double largest(double value) override { return value; }
  std::string explain() const override { return plan_.explain(); }
  std::string variant() const override {
    return plan_.decisions().front().trials.at(plan_.decisions().front().winner).name;
  }

 private:
  void bring() {
    const double before = base::now();
    session_.emplace(plan_.start(grid_));
    moving_ += base::now() - before;
  }
  void fetch() {
    session_->wait();
    const double before = base::now();
    session_->read(grid_);
    moving_ += base::now() - before;
  }

  Plan<T> plan_;
  Grid<T> grid_;
  double moving_ = 0;
  std::optional<Session<T>> session_;
};

}  // namespace

template <class T>
void fill_initial(const InitialState<T>& initial, const Box& part, std::size_t fields, std::size_t threads, T* cells) {
  const std::size_t rows = part.extent[0] * part.extent[1], width = part.extent[2];
  base::parallel(threads, [&](std::size_t thread, std::size_t count) {
    std::vector<T> values(fields);
    const base::Share mine = base::share(rows, thread, count);
    for (std::size_t row = mine.begin; row < mine.end; ++row) {
      const std::size_t z = part.begin[0] + row / part.extent[1], y = part.begin[1] + row % part.extent[1];
      for (std::size_t x = 0; x < width; ++x) {
        initial({z, y, part.begin[2] + x}, values.data());
        for (std::size_t field = 0; field < fields; ++field) cells[(field * rows + row) * width + x] = values[field];
      }
    }
  });
}

template <class T>
std::unique_ptr<Domain<T>> local_domain(const Device& device, const Update<T>& update, const Problem& problem,
                                        const DomainOptions& options) {
  return std::make_unique<LocalDomain<T>>(device, update, problem, options.planner);
}

template void fill_initial(const InitialState<float>&, const Box&, std::size_t, std::size_t, float*);
template void fill_initial(const InitialState<double>&, const Box&, std::size_t, std::size_t, double*);
template void fill_initial(const InitialState<std::int32_t>&, const Box&, std::size_t, std::size_t, std::int32_t*);
template void fill_initial(const InitialState<std::uint8_t>&, const Box&, std::size_t, std::size_t, std::uint8_t*);
template std::unique_ptr<Domain<float>> local_domain(const Device&, const Update<float>&, const Problem&,
                                                     const DomainOptions&);
template std::unique_ptr<Domain<double>> local_domain(const Device&, const Update<double>&, const Problem&,
                                                      const DomainOptions&);
template std::unique_ptr<Domain<std::int32_t>> local_domain(const Device&, const Update<std::int32_t>&, const Problem&,
                                                            const DomainOptions&);
template std::unique_ptr<Domain<std::uint8_t>> local_domain(const Device&, const Update<std::uint8_t>&, const Problem&,
                                                            const DomainOptions&);

}  // namespace ridge::stencil
