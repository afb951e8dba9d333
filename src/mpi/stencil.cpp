// Sessions of a stencil on a grid that is distributed over processes.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ridge/error.hpp>
#include <ridge/mpi/stencil.hpp>

#include "io/telescopes/stream.hpp"
#include "mpi/domain.hpp"
#include "mpi/shared_file.hpp"

namespace ridge::mpi::stencil {

static_assert(static_cast<int>(Cuts::every_block) == static_cast<int>(ridge::stencil::Cuts::every_block));

template <class T>
class Session<T>::Impl {
 public:
  Impl(const Communicator& all, const Device& device, const ridge::stencil::Update<T>& update,
       const ridge::stencil::Problem& given, const Options& options)
      : all_(all), shape_(given.shape), axes_(given.shape.size()), fields_(update.fields) {
    std::string words = "a stencil of";
    for (const std::size_t extent : given.shape) words += fmt::format(" {}", extent);
    all.must_be_equal(fmt::format("{} cells, {} fields, processes \"{}\", halo {}, speeds [{}], cuts {}, shared {}",
                                  words, update.fields, options.processes, options.halo,
                                  fmt::join(options.speeds, ", "), static_cast<int>(options.cuts), options.shared));
    ridge::stencil::Problem problem = given;
    if (problem.threads == 0) problem.threads = all.threads();
    problem.leap = ridge::stencil::LeapUse::never;  // the same bits on any number of processes
    const ridge::stencil::DomainOptions domain_options{
        options.planning, options.processes, options.halo,
        options.overlap,  options.speeds,    static_cast<ridge::stencil::Cuts>(options.cuts),
        options.shared};
    domain_ = make_domain(all, device, update, problem, domain_options);
  }

  Box box() const { return box_of(domain_->part(), axes_); }
  void start(const ridge::stencil::InitialState<T>& initial) {
    domain_->start([&](const std::array<std::size_t, 3>& cell, T* values) {  // on three axes
      std::array<std::size_t, 3> own{0, 0, 0};
      for (std::size_t i = 0; i < axes_; ++i) own[i] = cell[i + 3 - axes_];
      initial(own, values);
    });
    started_ = true;
  }
  void start(std::span<const T> cells) {
    all_.agree([&] { must_be(cells.size()); });
    domain_->put_part(cells);
    started_ = true;
  }
  void run(std::size_t steps) {
    all_.agree([&] { must_have_started(); });
    domain_->run(steps);
  }
  void read(std::span<T> cells) const {
    all_.agree([&] {
      must_have_started();
      must_be(cells.size());
    });
    domain_->read_part(cells);
  }
  void save(const std::string& path) const {
    all_.agree([&] { must_have_started(); });
    const Box mine = box();
    std::vector<T> cells(mine.size() * fields_);
    domain_->read_part(cells);
    const std::string header = io::npy_header({element_type_of<T>(), file_shape()});
    SharedOutput out(all_, path, header.size() + points() * fields_ * sizeof(T));
    all_.agree([&] {
      if (all_.root()) out.write(0, header.data(), header.size());
      for (std::size_t field = 0; field < fields_; ++field) {
        out.write(header.size() + field * points() * sizeof(T), shape_, mine, sizeof(T),
                  cells.data() + field * mine.size());
      }
    });
    out.commit();
  }
  void load(const std::string& path) {
    const Box mine = box();
    std::vector<T> cells(mine.size() * fields_);
    all_.agree([&] {
      io::InputStream stream(path);
      const std::uint64_t whole = stream.remaining().value_or(0);
      const io::NpyHeader header = io::read_npy_header(stream);
      if (header.type != element_type_of<T>() || header.shape != file_shape()) {
        throw Error(
            ErrorKind::io,
            fmt::format(
                "{} is not a checkpoint of this stencil: it holds {}, this grid needs {} fields of its shape and "
                "type",
                path, io::name_of(header.type), fields_));
      }
      const std::uint64_t first = whole - header.elements() * sizeof(T);
      const SharedInput in(path);
      for (std::size_t field = 0; field < fields_; ++field) {
        in.read(first + field * points() * sizeof(T), shape_, mine, sizeof(T), cells.data() + field * mine.size());
      }
    });
    domain_->put_part(cells);
    started_ = true;
  }
  std::string explain() const { return domain_->explain(); }
  std::string spent() const { return domain_->spent(); }

 private:
  std::vector<std::size_t> file_shape() const {
    std::vector<std::size_t> shape{fields_};
    shape.insert(shape.end(), shape_.begin(), shape_.end());
    return shape;
  }
  std::uint64_t points() const {
    std::uint64_t product = 1;
    for (const std::size_t extent : shape_) product *= extent;
    return product;
  }
  void must_be(std::size_t cells) const {
    if (cells == domain_->part().cells() * fields_) return;
    throw Error(ErrorKind::invalid_argument,
                fmt::format("stencil: the array has {} cells, the box needs {} of {} fields", cells,
                            domain_->part().cells(), fields_));
  }
  void must_have_started() const {
    if (!started_) throw Error(ErrorKind::invalid_argument, "stencil: call start() first");
  }

  Communicator all_;
  Shape shape_;
  std::size_t axes_, fields_;
  std::unique_ptr<ridge::stencil::Domain<T>> domain_;
  bool started_ = false;
};

template <class T>
Session<T>::Session(const Communicator& communicator, const Device& device, const ridge::stencil::Update<T>& update,
                    const ridge::stencil::Problem& problem, const Options& options)
    : impl_(std::make_shared<Impl>(communicator, device, update, problem, options)) {}
template <class T>
Box Session<T>::box() const {
  return impl_->box();
}
template <class T>
void Session<T>::start(const std::function<void(const std::array<std::size_t, 3>& cell, T* values)>& initial) {
  impl_->start(initial);
}
template <class T>
void Session<T>::start(std::span<const T> cells) {
  impl_->start(cells);
}
template <class T>
void Session<T>::run(std::size_t steps) {
  impl_->run(steps);
}
template <class T>
void Session<T>::read(std::span<T> cells) const {
  impl_->read(cells);
}
template <class T>
void Session<T>::save(const std::string& path) const {
  impl_->save(path);
}
template <class T>
void Session<T>::load(const std::string& path) {
  impl_->load(path);
}
template <class T>
std::string Session<T>::explain() const {
  return impl_->explain();
}

template <class T>
std::string Session<T>::spent() const {
  return impl_->spent();
}

template class Session<float>;
template class Session<double>;
template class Session<std::int32_t>;
template class Session<std::uint8_t>;

}  // namespace ridge::mpi::stencil
