// Python bindings of stencils: updates from weights or traced expressions, plans and sessions, for four cell types.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <ridge/stencil.hpp>
#include <ridge/stencil/from_expressions.hpp>
#include <ridge/stencil/problems.hpp>
#include <ridge/stencil/windows.hpp>

#include "arrays.hpp"
#include "base/clock.hpp"
#include "device_array.hpp"
#include "module.hpp"
#include "plans.hpp"
#include "stencil/expression.hpp"

namespace py = pybind11;

namespace ridge::python {
namespace {

using namespace ridge::stencil;  // NOLINT: this file binds one namespace only

template <template <class> class Of>
using ForCells = std::variant<Of<float>, Of<double>, Of<std::int32_t>, Of<std::uint8_t>>;

template <class T>
constexpr Element element_for() {
  if constexpr (std::is_same_v<T, float>) return Element::float32;
  if constexpr (std::is_same_v<T, double>) return Element::float64;
  if constexpr (std::is_same_v<T, std::int32_t>) return Element::int32;
  return Element::uint8;
}

// Calls make(T{}) with the cell type of this name.
template <class Result, class Make>
Result for_cells(const std::string& name, const Make& make) {
  if (name == "float32") return make(float{});
  if (name == "float64") return make(double{});
  if (name == "int32") return make(std::int32_t{});
  if (name == "uint8") return make(std::uint8_t{});
  throw py::type_error("cells must be float32, float64, int32 or uint8, got " + name);
}

// An expression as a Python object.
struct Recorded {
  Expression expression;
};

Offset offset_of(const std::vector<int>& given) {
  if (given.empty() || given.size() > 3) throw py::value_error("an offset must have one, two or three numbers");
  Offset offset{};
  for (std::size_t i = 0; i < given.size(); ++i) offset[3 - given.size() + i] = given[i];
  return offset;
}

constexpr std::pair<const char*, Node::Kind> kOperations[] = {
    {"add", Node::Kind::add},           {"subtract", Node::Kind::subtract}, {"multiply", Node::Kind::multiply},
    {"divide", Node::Kind::divide},     {"fma", Node::Kind::fma},           {"minimum", Node::Kind::minimum},
    {"maximum", Node::Kind::maximum},   {"absolute", Node::Kind::absolute}, {"sqrt", Node::Kind::square_root},
    {"negate", Node::Kind::negate},     {"less", Node::Kind::less},         {"less_equal", Node::Kind::less_equal},
    {"equal", Node::Kind::equal},       {"both", Node::Kind::both},         {"either", Node::Kind::either},
    {"opposite", Node::Kind::opposite}, {"select", Node::Kind::select},
};

Recorded operation(const std::string& name, const std::vector<Recorded>& operands) {
  for (const auto& [word, kind] : kOperations) {
    if (name != word) continue;
    std::vector<Expression> expressions;
    for (const Recorded& operand : operands) expressions.push_back(operand.expression);
    return {make_node(kind, std::move(expressions))};
  }
  throw py::value_error("unknown operation \"" + name + "\"");
}

struct AnyUpdate {
  ForCells<Update> update;
};

using Weight = std::tuple<std::vector<int>, double, std::size_t, std::size_t>;  // offset, weight, from field, to field

AnyUpdate linear_update(const std::string& cells, std::size_t dimensions, const std::vector<Weight>& weights) {
  std::vector<Term> terms;
  for (const auto& [offset, weight, from, to] : weights) {
    terms.push_back({.offset = offset_of(offset), .weight = weight, .field = from, .to = to});
  }
  return for_cells<AnyUpdate>(cells,
                              [&](auto zero) -> AnyUpdate { return {linear<decltype(zero)>(dimensions, terms)}; });
}

// Integer division by 0, or of the least integer by -1, ends the process: divisors must be constants.
void check_divisions(const std::vector<Expression>& outputs) {
  const Tape tape = flatten(outputs);
  for (const ridge::stencil::Operation& operation : tape.operations) {
    if (operation.kind != Node::Kind::divide) continue;
    const ridge::stencil::Operation& divisor = tape.operations[operation.from[1]];
    const auto by = static_cast<std::int32_t>(divisor.value);
    if (divisor.kind != Node::Kind::constant || by == 0 || by == -1) {
      throw py::value_error("integer cells can be divided only by integer constants other than 0 and -1");
    }
  }
}

AnyUpdate recorded_update(const std::string& cells, std::size_t dimensions, const std::vector<Recorded>& outputs) {
  std::vector<Expression> expressions;
  for (const Recorded& output : outputs) expressions.push_back(output.expression);
  if (cells == "int32" || cells == "uint8") check_divisions(expressions);
  return for_cells<AnyUpdate>(
      cells, [&](auto zero) -> AnyUpdate { return {from_expressions<decltype(zero)>(dimensions, expressions)}; });
}

template <class Make>
AnyUpdate floating(const std::string& cells, const Make& make) {
  if (cells == "float32") return {make(float{})};
  if (cells == "float64") return {make(double{})};
  throw py::type_error("cells must be float32 or float64, got " + cells);
}

Border border_named(const std::string& name) {
  if (name == "fixed") return Border::fixed;
  if (name == "mirror") return Border::mirror;
  if (name == "periodic") return Border::periodic;
  throw py::value_error("unknown border \"" + name + "\": use fixed, mirror or periodic");
}

Norm norm_named(const std::string& name) {
  if (name == "max") return Norm::max;
  if (name == "l2") return Norm::l2;
  throw py::value_error("unknown norm \"" + name + "\": use max or l2");
}

// Checks an array's shape: fields are the first axis, which a single field may omit. Returns true if that axis is
// present.
bool check_shape(const std::vector<std::size_t>& given, const std::vector<std::size_t>& shape, std::size_t fields,
                 const char* what) {
  std::vector<std::size_t> wanted = shape;
  const bool axis = given.size() != shape.size() || fields != 1;
  if (axis) wanted.insert(wanted.begin(), fields);
  if (given == wanted) return axis;
  std::string text;
  for (const std::size_t n : wanted) text += (text.empty() ? "" : ", ") + std::to_string(n);
  throw py::value_error(std::string(what) + " must have the shape (" + text + ")");
}

// A grid over the array's memory, with its strides.
template <class T>
Grid<T> grid_over(const Array& array, const std::vector<std::size_t>& shape, std::size_t fields, const char* what) {
  std::vector<std::ptrdiff_t> strides;
  if (!check_shape(array.shape(), shape, fields, what)) strides.push_back(0);
  for (std::size_t axis = 0; axis < array.axes(); ++axis) strides.push_back(array.stride(axis));
  return Grid<T>::over(static_cast<T*>(array.data()), shape, fields, strides);
}

// A read-only array, kept alive while the grid over it is used.
template <class T>
class Coefficients {
 public:
  Coefficients(const Plan<T>& plan, const py::object& given) {
    const std::size_t wanted = plan.update().coefficients;
    if (given.is_none()) {
      if (wanted != 0) throw py::value_error("the update reads coefficients: give an array of them");
      return;
    }
    if (wanted == 0) throw py::value_error("the update reads no coefficients");
    array_.emplace(given, false, "the coefficients", Elements{element_for<T>()});
    grid_.emplace(grid_over<T>(*array_, plan.problem().shape, wanted, "the coefficients"));
  }
  const Grid<T>* pointer() const { return grid_ ? &*grid_ : nullptr; }

 private:
  std::optional<Array> array_;
  std::optional<Grid<T>> grid_;
};

// Steps that run without looking for signals at first: about a hundredth of a second on one core.
template <class T>
std::size_t unbroken_steps(const Plan<T>& plan) {
  constexpr double kCells = 1e7;
  double cells = 1;
  for (const std::size_t n : plan.problem().shape) cells *= static_cast<double>(n);
  return std::max<std::size_t>(1, static_cast<std::size_t>(kCells / std::max(cells, 1.0)));
}

// Runs the steps in parts and lets Python handle signals between them, so that Ctrl-C ends a long run. Called without
// Python's lock. A leap is one part.
template <class T>
void run_in_parts(Session<T>& session, std::size_t steps, std::size_t part) {
  const std::size_t leaps_from = session.leaps_from();
  if (leaps_from > 0 && steps >= leaps_from) part = steps;
  const EndsBySignals ends;
  while (true) {
    const std::size_t now = std::min(part, steps);
    const double start = base::now();
    session.run(now);
    session.wait();
    if ((steps -= now) == 0) return;
    if (base::now() - start < 0.1) part *= 2;
    base::Interruptible::check();
  }
}

// Session::run_until() with a look for signals after every check, and between the parts of a long interval. The library
// chooses the interval of `check_every` 0 in the first one, which is a single part.
template <class T>
Stop run_until_in_parts(Session<T>& session, double tolerance, Norm norm, std::size_t most_steps,
                        std::size_t check_every, std::size_t part) {
  session.run_until(tolerance, norm, 0);  // refuses the tolerance
  const EndsBySignals ends;
  Stop stop;
  while (stop.steps < most_steps) {
    if (check_every == 0) {
      stop = session.run_until(std::numeric_limits<double>::infinity(), norm, most_steps);
      check_every = stop.steps;
    } else {
      const std::size_t steps = std::min(check_every, most_steps - stop.steps);
      run_in_parts(session, steps - 1, part);
      stop.change = session.change(norm);
      stop.steps += steps;
    }
    stop.converged = stop.change <= tolerance;
    if (stop.converged || std::isnan(stop.change)) break;
    base::Interruptible::check();
  }
  return stop;
}

class AnySession {
 public:
  template <class T>
  AnySession(Plan<T> plan, Session<T> session) : state_(Of<T>{std::move(plan), std::move(session)}) {}
  void run(std::size_t steps) {
    exclusively(
        this, [&] { std::visit([&](auto& of) { run_in_parts(of.session, steps, unbroken_steps(of.plan)); }, state_); });
  }
  double change(const std::string& norm) {
    const Norm which = norm_named(norm);
    return exclusively(this, [&] { return std::visit([&](auto& of) { return of.session.change(which); }, state_); });
  }
  std::size_t steps() const {
    return exclusively(this, [&] { return std::visit([](const auto& of) { return of.session.steps(); }, state_); });
  }
  void read(const py::object& output) {
    std::visit([&](auto& of) { read_into(of, output); }, state_);
  }

 private:
  template <class T>
  struct Of {
    Plan<T> plan;
    Session<T> session;
  };
  template <class T>
  void read_into(Of<T>& of, const py::object& output) {
    const auto& shape = of.plan.problem().shape;
    const std::size_t fields = of.plan.update().fields;
    const Array array(output, true, "the output", {element_for<T>()});
    Grid<T> grid = grid_over<T>(array, shape, fields, "the output");
    exclusively(this, [&] { of.session.read(grid); });
  }
  ForCells<Of> state_;
};

Problem problem_of(const std::vector<std::size_t>& shape, const std::vector<std::string>& low,
                   const std::vector<std::string>& high, std::size_t threads) {
  Problem problem{.shape = shape, .threads = threads};
  if (low.size() != shape.size() || high.size() != shape.size())
    throw py::value_error("needs one border per side of each axis");
  for (std::size_t axis = 0; axis < shape.size() && axis < 3; ++axis) {
    problem.borders.low[axis] = border_named(low[axis]);
    problem.borders.high[axis] = border_named(high[axis]);
  }
  return problem;
}

// Steps of a grid in host memory of which a device holds a part at a time. Returns how.
template <class T>
std::string run_windows(const Update<T>& update, const Problem& problem, const std::string& device, std::size_t memory,
                        const py::object& grid, std::size_t steps) {
  const Array array(grid, true, "the grid", {element_for<T>()});
  Grid<T> cells = grid_over<T>(array, problem.shape, update.fields, "the grid");
  const py::gil_scoped_release free;
  const WindowPlan<T> plan(ridge::device(device), update, problem, {.memory = memory}, options_of(false));
  plan.run(cells, steps);
  return plan.explain();
}

class AnyPlan {
 public:
  AnyPlan(const AnyUpdate& update, const std::vector<std::size_t>& shape, const std::vector<std::string>& low,
          const std::vector<std::string>& high, const std::string& device, std::size_t threads, bool measured) {
    const Problem problem = problem_of(shape, low, high, threads);
    const py::gil_scoped_release free;
    std::visit(
        [&](const auto& of) {
          plan_.emplace(ridge::stencil::plan(ridge::device(device), of, problem, options_of(measured)));
        },
        update.update);
  }

  void run(const py::object& grid, std::size_t steps, const py::object& coefficients) const {
    on_cells(grid, coefficients, [&](const auto& plan, auto& cells, const auto* c) {
      const std::size_t unbroken = unbroken_steps(plan), leaps_from = plan.leaps_from();
      if (steps <= unbroken || (leaps_from > 0 && steps >= leaps_from)) return plan.run(cells, steps, c);
      auto session = plan.start(cells, c);
      run_in_parts(session, steps, unbroken);
      session.read(cells);
    });
  }
  // Runs on cells in the plan's device memory; arrays on the host are accepted by every plan.
  void run_there(const DeviceArray& cells, std::size_t steps, const DeviceArray* coefficients) {
    std::visit([&](const auto& plan) { run_in_place(plan, cells, steps, coefficients); }, *plan_);
  }
  py::tuple run_until(const py::object& grid, double tolerance, const std::string& norm, std::size_t most_steps,
                      std::size_t check_every, const py::object& coefficients) const {
    Stop stop;
    const Norm which = norm_named(norm);
    on_cells(grid, coefficients, [&](const auto& plan, auto& cells, const auto* c) {
      auto session = plan.start(cells, c);
      stop = run_until_in_parts(session, tolerance, which, most_steps, check_every, unbroken_steps(plan));
      session.read(cells);
    });
    return py::make_tuple(stop.steps, stop.change, stop.converged);
  }
  AnySession start(const py::object& grid, const py::object& coefficients) const {
    return std::visit([&](const auto& plan) { return start_of(plan, grid, coefficients); }, *plan_);
  }
  std::string explain() const {
    return std::visit([](const auto& plan) { return plan.explain(); }, *plan_);
  }
  py::list trials() const {
    return std::visit([](const auto& plan) { return trials_of(plan.decisions()); }, *plan_);
  }
  double flops() const {
    return std::visit([](const auto& plan) { return plan.flops(); }, *plan_);
  }
  double bytes() const {
    return std::visit([](const auto& plan) { return plan.bytes(); }, *plan_);
  }
  std::string device() const {
    return std::visit([](const auto& plan) { return plan.device().id(); }, *plan_);
  }
  std::size_t fields() const {
    return std::visit([](const auto& plan) { return plan.update().fields; }, *plan_);
  }
  std::string source() const {
    return std::visit(
        [](const auto& plan) {
          std::string text;
          for (const KernelSource& kernel : plan.kernels()) text += kernel.text;
          return text;
        },
        *plan_);
  }

 private:
  template <class Work>
  void on_cells(const py::object& grid, const py::object& coefficients, const Work& work) const {
    std::visit([&](const auto& plan) { on_cells_of(plan, grid, coefficients, work); }, *plan_);
  }
  template <class T, class Work>
  static void on_cells_of(const Plan<T>& plan, const py::object& grid, const py::object& coefficients,
                          const Work& work) {
    const Array array(grid, true, "the grid", {element_for<T>()});
    Grid<T> cells = grid_over<T>(array, plan.problem().shape, plan.update().fields, "the grid");
    const Coefficients<T> given(plan, coefficients);
    const py::gil_scoped_release free;
    work(plan, cells, given.pointer());
  }
  template <class T>
  static AnySession start_of(const Plan<T>& plan, const py::object& grid, const py::object& coefficients) {
    const Array array(grid, false, "the grid", {element_for<T>()});
    const Grid<T> cells = grid_over<T>(array, plan.problem().shape, plan.update().fields, "the grid");
    const Coefficients<T> given(plan, coefficients);
    const py::gil_scoped_release free;
    return AnySession(plan, plan.start(cells, given.pointer()));
  }
  template <class T>
  void run_in_place(const Plan<T>& plan, const DeviceArray& cells, std::size_t steps, const DeviceArray* coefficients) {
    check_there(plan, cells, plan.update().fields, "the grid");
    if ((coefficients != nullptr) != (plan.update().coefficients != 0))
      throw py::value_error(coefficients == nullptr ? "the update reads coefficients: give an array of them"
                                                    : "the update reads no coefficients");
    if (coefficients != nullptr) {
      check_there(plan, *coefficients, plan.update().coefficients, "the coefficients");
      check_device(*coefficients, cells.device(), "the array of coefficients");
    }
    const py::gil_scoped_release free;
    if (cells.device().is_host()) {
      const auto over = [&](const DeviceArray& array, std::size_t fields) {
        return Grid<T>::over(reinterpret_cast<T*>(array.address()), plan.problem().shape,
                             fields);  // NOLINT: an address
      };
      Grid<T> grid = over(cells, plan.update().fields);
      if (coefficients == nullptr) return plan.run(grid, steps);
      const Grid<T> given = over(*coefficients, plan.update().coefficients);
      return plan.run(grid, steps, &given);
    }
    const std::lock_guard lock(mutex_);  // calls of a plan share its memory
    Queue queue = plan.device().queue();
    plan.enqueue(queue, cells.buffer(), cells.buffer(), steps,
                 coefficients != nullptr ? coefficients->buffer() : Buffer{});
    queue.finish();
  }
  template <class T>
  static void check_there(const Plan<T>& plan, const DeviceArray& array, std::size_t fields, const char* what) {
    if (!array.device().is_host()) check_device(array, plan.device(), what);
    if (array.element() != element_for<T>())
      throw py::type_error(std::string(what) + " must hold " + to_string(element_for<T>()) + ", got " +
                           to_string(array.element()));
    check_shape(array.shape(), plan.problem().shape, fields, what);
  }
  std::mutex mutex_;
  std::optional<ForCells<Plan>> plan_;
};

}  // namespace

void add_stencil(py::module_& module) {
  py::class_<Recorded>(module, "Expression");
  module.def("constant", [](double value) { return Recorded{make_constant(value)}; });
  module.def("read", [](std::size_t field, const std::vector<int>& offset) {
    return Recorded{make_read(Node::Kind::read, field, offset_of(offset))};
  });
  module.def("coefficient", [](std::size_t field, const std::vector<int>& offset) {
    return Recorded{make_read(Node::Kind::coefficient, field, offset_of(offset))};
  });
  module.def("operation", &operation);

  py::class_<AnyUpdate>(module, "Update")
      .def_property_readonly("name",
                             [](const AnyUpdate& u) { return std::visit([](auto& of) { return of.name; }, u.update); })
      .def_property_readonly(
          "fields", [](const AnyUpdate& u) { return std::visit([](auto& of) { return of.fields; }, u.update); })
      .def_property_readonly(
          "linear",
          [](const AnyUpdate& u) { return std::visit([](auto& of) { return of.linear.has_value(); }, u.update); })
      .def_property_readonly(
          "flops", [](const AnyUpdate& u) { return std::visit([](auto& of) { return of.flops; }, u.update); });
  module.def("linear_update", &linear_update);
  module.def("recorded_update", &recorded_update);
  module.def("heat_update",
             [](const std::string& cells, double alpha, double dt, const std::vector<double>& spacing, int accuracy) {
               return floating(cells, [&](auto zero) {
                 return heat<decltype(zero)>({.alpha = alpha, .dt = dt, .spacing = spacing, .accuracy = accuracy});
               });
             });
  module.def("wave_update", [](const std::string& cells, double speed, double dt, const std::vector<double>& spacing) {
    return floating(cells,
                    [&](auto zero) { return wave<decltype(zero)>({.speed = speed, .dt = dt, .spacing = spacing}); });
  });
  module.def("euler_update", [](const std::string& cells, double gamma, double dt, double dy, double dx) {
    return floating(cells,
                    [&](auto zero) { return euler<decltype(zero)>({.gamma = gamma, .dt = dt, .dy = dy, .dx = dx}); });
  });
  module.def("life_update", [](const std::string& cells, const std::string& rule) -> AnyUpdate {
    if (cells == "uint8") return {life<std::uint8_t>(rule)};
    if (cells == "int32") return {life<std::int32_t>(rule)};
    throw py::type_error("cells must be uint8 or int32, got " + cells);
  });

  py::class_<AnySession>(module, "StencilSession")
      .def("run", &AnySession::run)
      .def("change", &AnySession::change)
      .def("steps", &AnySession::steps)
      .def("read", &AnySession::read);
  module.def("stencil_windows",
             [](const AnyUpdate& update, const std::vector<std::size_t>& shape, const std::vector<std::string>& low,
                const std::vector<std::string>& high, const std::string& device, std::size_t memory,
                const py::object& grid, std::size_t steps) {
               const Problem problem = problem_of(shape, low, high, 0);
               return std::visit([&](const auto& of) { return run_windows(of, problem, device, memory, grid, steps); },
                                 update.update);
             });
  py::class_<AnyPlan>(module, "StencilPlan")
      .def(py::init<const AnyUpdate&, const std::vector<std::size_t>&, const std::vector<std::string>&,
                    const std::vector<std::string>&, const std::string&, std::size_t, bool>())
      .def("run", &AnyPlan::run)
      .def("run_there", &AnyPlan::run_there)
      .def("run_until", &AnyPlan::run_until)
      .def("start", &AnyPlan::start)
      .def("explain", &AnyPlan::explain)
      .def("trials", &AnyPlan::trials)
      .def("flops", &AnyPlan::flops)
      .def("bytes", &AnyPlan::bytes)
      .def("device", &AnyPlan::device)
      .def("fields", &AnyPlan::fields)
      .def("source", &AnyPlan::source);
}

}  // namespace ridge::python
