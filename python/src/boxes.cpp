// Python bindings of transforms and filters of boxes, of columns, and of real-to-real transforms of boxes.
#include <array>
#include <complex>
#include <cstddef>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <ridge/fft.hpp>
#include <ridge/fft/box_filter.hpp>
#include <ridge/fft/columns.hpp>
#include <ridge/fft/real_boxes.hpp>

#include "arrays.hpp"
#include "module.hpp"

namespace py = pybind11;

namespace ridge::python {
namespace {

using ColumnRow = std::array<std::size_t, 4>;  // x, y, first, count

template <class T>
using ColumnPlan = fft::ColumnTransform<T>;

std::vector<ColumnRow> sphere_rows(const std::vector<std::size_t>& shape,
                                   const std::array<std::array<double, 3>, 3>& basis, double cutoff, bool real) {
  std::vector<ColumnRow> rows;
  const fft::Kind kind = real ? fft::Kind::real : fft::Kind::complex;
  for (const fft::Column& column : fft::sphere_columns(shape, basis, cutoff, kind))
    rows.push_back({column.x, column.y, column.first, column.count});
  return rows;
}

template <class T>
std::unique_ptr<ColumnPlan<T>> made_columns(const std::string& device, const std::vector<std::size_t>& shape,
                                            const std::vector<ColumnRow>& rows, bool real, double scale_forward,
                                            double scale_inverse, std::size_t threads) {
  fft::ColumnsProblem problem{.shape = shape,
                              .kind = real ? fft::Kind::real : fft::Kind::complex,
                              .scale_forward = scale_forward,
                              .scale_inverse = scale_inverse,
                              .threads = threads};
  for (const ColumnRow& row : rows)
    problem.columns.push_back({.x = row[0], .y = row[1], .first = row[2], .count = row[3]});
  const py::gil_scoped_release free;
  return std::make_unique<ColumnPlan<T>>(ridge::device(device), problem);
}

template <class T>
void run_columns(const ColumnPlan<T>& plan, const py::object& input, const py::object& output, bool inverse) {
  const Elements complexes{sizeof(T) == 4 ? Element::complex64 : Element::complex128};
  const bool real = plan.problem().kind == fft::Kind::real;
  const Elements samples = real ? Elements{sizeof(T) == 4 ? Element::float32 : Element::float64} : complexes;
  const Array in(input, false, "the input", inverse ? complexes : samples);
  const Array out(output, true, "the output", inverse ? samples : complexes);
  const auto run = [&]<class Sample>(Sample) {
    if (inverse) {
      const auto from = in.span<const std::complex<T>>("the input");
      const auto to = out.span<Sample>("the output");
      const py::gil_scoped_release free;
      plan.inverse(from, to);
    } else {
      const auto from = in.span<const Sample>("the input");
      const auto to = out.span<std::complex<T>>("the output");
      const py::gil_scoped_release free;
      plan.forward(from, to);
    }
  };
  real ? run(T()) : run(std::complex<T>());
}

template <class T>
std::unique_ptr<fft::RealBoxes<T>> made_boxes(const std::string& device, const std::vector<std::size_t>& shape,
                                              const std::vector<int>& kinds,
                                              const std::vector<std::vector<std::size_t>>& ranges, double scale,
                                              std::size_t threads) {
  fft::RealBoxesProblem problem{.shape = shape, .scale = scale, .threads = threads};
  for (const int kind : kinds) problem.kinds.push_back(static_cast<fft::RealKind>(kind));
  problem.given = {.first = ranges.at(0), .count = ranges.at(1)};
  problem.wanted = {.first = ranges.at(2), .count = ranges.at(3)};
  const py::gil_scoped_release free;
  return std::make_unique<fft::RealBoxes<T>>(ridge::device(device), problem);
}

template <class T>
void run_boxes(const fft::RealBoxes<T>& plan, const py::object& input, const py::object& output) {
  const Elements reals{sizeof(T) == 4 ? Element::float32 : Element::float64};
  const Array in(input, false, "the input", reals), out(output, true, "the output", reals);
  const auto from = in.span<const T>("the input");
  const auto to = out.span<T>("the output");
  const py::gil_scoped_release free;
  plan.run(from, to);
}

// A plan of fft with boxes, and its types.
template <class T>
std::unique_ptr<fft::Plan<T>> made_box_plan(const std::string& device, const std::vector<std::size_t>& shape,
                                            const std::vector<std::vector<std::size_t>>& ranges, bool real,
                                            std::size_t batch, double scale_forward, double scale_inverse,
                                            std::size_t threads) {
  const fft::Problem problem{.shape = shape,
                             .batch = batch,
                             .kind = real ? fft::Kind::real : fft::Kind::complex,
                             .scale_forward = scale_forward,
                             .scale_inverse = scale_inverse,
                             .threads = threads,
                             .given = fft::Box{.first = ranges.at(0), .count = ranges.at(1)},
                             .wanted = {.first = ranges.at(2), .count = ranges.at(3)}};
  const py::gil_scoped_release free;
  return std::make_unique<fft::Plan<T>>(ridge::device(device), problem, planner::Options{.effort = Effort::quick});
}

template <class T>
void run_box_plan(const fft::Plan<T>& plan, const py::object& input, const py::object& output, bool inverse) {
  const Elements complexes{sizeof(T) == 4 ? Element::complex64 : Element::complex128};
  const Elements reals{sizeof(T) == 4 ? Element::float32 : Element::float64};
  const bool real = plan.problem().kind == fft::Kind::real;
  const Array in(input, false, "the input", real && !inverse ? reals : complexes);
  const Array out(output, true, "the output", real && inverse ? reals : complexes);
  const auto run = [&](auto from, auto to) {
    const py::gil_scoped_release free;
    if constexpr (std::is_same_v<typename decltype(from)::element_type, const T>) {
      plan.forward(from, to);
    } else if constexpr (std::is_same_v<typename decltype(to)::element_type, T>) {
      plan.inverse(from, to);
    } else {
      inverse ? plan.inverse(from, to) : plan.forward(from, to);
    }
  };
  using Complex = std::complex<T>;
  if (real && !inverse) return run(in.span<const T>("the input"), out.span<Complex>("the output"));
  if (real) return run(in.span<const Complex>("the input"), out.span<T>("the output"));
  run(in.span<const Complex>("the input"), out.span<Complex>("the output"));
}

template <class T>
std::unique_ptr<fft::BoxFilter<T>> made_filter(const std::string& device,
                                               const std::vector<std::vector<std::size_t>>& shape_and_box,
                                               const py::object& spectrum, std::size_t threads) {
  const Array values(spectrum, false, "the spectrum", {sizeof(T) == 4 ? Element::complex64 : Element::complex128});
  const auto from = values.span<const std::complex<T>>("the spectrum");
  const fft::BoxFilterProblem problem{.shape = shape_and_box.at(0),
                                      .box = {.first = shape_and_box.at(1), .count = shape_and_box.at(2)},
                                      .threads = threads};
  const py::gil_scoped_release free;
  return std::make_unique<fft::BoxFilter<T>>(ridge::device(device), problem, from);
}

template <class T>
void run_filter(const fft::BoxFilter<T>& filter, const py::object& input, const py::object& output) {
  const Elements complexes{sizeof(T) == 4 ? Element::complex64 : Element::complex128};
  const Array in(input, false, "the input", complexes), out(output, true, "the output", complexes);
  const auto from = in.span<const std::complex<T>>("the input");
  const auto to = out.span<std::complex<T>>("the output");
  const py::gil_scoped_release free;
  filter.run(from, to);
}

template <class T>
void add_box_plans(py::module_& module, const std::string& number) {
  using Columns = ColumnPlan<T>;
  py::class_<Columns>(module, ("Columns" + number).c_str())
      .def(py::init(&made_columns<T>))
      .def("run", &run_columns<T>)
      .def("adjoint", [](const Columns& plan) { return plan.adjoint(); })
      .def("size", &Columns::size)
      .def("share", &Columns::share)
      .def("explain", &Columns::explain)
      .def("device", [](const Columns& plan) { return plan.device().id(); });
  using Fourier = fft::Plan<T>;
  py::class_<Fourier>(module, ("Boxes" + number).c_str())
      .def(py::init(&made_box_plan<T>))
      .def("run", &run_box_plan<T>)
      .def("adjoint", [](const Fourier& plan) { return plan.adjoint({.effort = Effort::quick}); })
      .def("explain", &Fourier::explain)
      .def("device", [](const Fourier& plan) { return plan.device().id(); });
  using Filter = fft::BoxFilter<T>;
  py::class_<Filter>(module, ("BoxFilter" + number).c_str())
      .def(py::init(&made_filter<T>))
      .def("run", &run_filter<T>)
      .def("explain", &Filter::explain)
      .def("device", [](const Filter& filter) { return filter.device().id(); });
  using Boxes = fft::RealBoxes<T>;
  py::class_<Boxes>(module, ("RealBoxes" + number).c_str())
      .def(py::init(&made_boxes<T>))
      .def("run", &run_boxes<T>)
      .def("adjoint", &Boxes::adjoint)
      .def("share", &Boxes::share)
      .def("explain", &Boxes::explain)
      .def("device", [](const Boxes& plan) { return plan.device().id(); });
}

}  // namespace

void add_boxes(py::module_& module) {
  add_box_plans<float>(module, "Float");
  add_box_plans<double>(module, "Double");
  module.def("sphere_columns", &sphere_rows);
}

}  // namespace ridge::python
