// Python bindings of images: arrays of (rows, columns[, channels]) as views, flow, variance and chains of operators.
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <ridge/image.hpp>

#include "arrays.hpp"
#include "module.hpp"
#include "plans.hpp"

namespace py = pybind11;

namespace ridge::python {
namespace {

using namespace ridge::image;  // NOLINT: this file binds one namespace only

const Elements kPixels{Element::uint8, Element::uint16, Element::float32, Element::uint32, Element::float64};

Depth depth_of_element(Element element) {
  switch (element) {
    case Element::uint8:
      return Depth::u8;
    case Element::uint16:
      return Depth::u16;
    case Element::uint32:
      return Depth::u32;
    case Element::float64:
      return Depth::f64;
    default:
      return Depth::f32;
  }
}

Element element_of_depth(Depth depth) {
  constexpr Element kElements[] = {Element::uint8, Element::uint16, Element::float32, Element::uint32,
                                   Element::float64};
  return kElements[static_cast<std::size_t>(depth)];
}

Depth depth_named(const std::string& name) {
  Element element{};
  if (!element_named(name, element) || is_complex(element) || element == Element::int32) {
    throw py::type_error("pixels must be uint8, uint16 or float32, got " + name);
  }
  return depth_of_element(element);
}

Shape shape_of(const std::vector<std::size_t>& given, const std::string& type) {
  if (given.size() != 2 && given.size() != 3)
    throw py::value_error("an image must have the shape (rows, columns) or (rows, columns, channels)");
  return {
      .rows = given[0], .columns = given[1], .channels = given.size() == 3 ? given[2] : 1, .depth = depth_named(type)};
}

// An array as an image: rows may have any pitch, the pixels of a row are contiguous.
class Picture {
 public:
  Picture(const py::object& object, bool writable, const char* what) : array_(object, writable, what, kPixels) {
    const Shape shape = shape_of(array_.shape(), to_string(array_.element()));
    const auto channels = static_cast<std::ptrdiff_t>(shape.channels);
    const bool packed = (array_.axes() == 2 || shape.channels == 1 || array_.stride(2) == 1) &&
                        (shape.columns <= 1 || array_.stride(1) == channels);
    const std::ptrdiff_t row =
        shape.rows <= 1 ? channels * static_cast<std::ptrdiff_t>(shape.columns) : array_.stride(0);
    if (!packed || row < channels * static_cast<std::ptrdiff_t>(shape.columns)) {
      throw py::value_error(std::string(what) +
                            " must be contiguous along its rows: pass numpy.ascontiguousarray() of it");
    }
    const std::size_t pitch = static_cast<std::size_t>(row) * size_of(array_.element());
    image = writable ? Image::view(array_.data(), shape, pitch)
                     : Image::view(static_cast<const void*>(array_.data()), shape, pitch);
  }
  Image image;

 private:
  Array array_;
};

py::tuple describe(const Shape& shape) {
  return py::make_tuple(shape.rows, shape.columns, shape.channels, to_string(element_of_depth(shape.depth)));
}

FlowProblem flow_problem(const std::vector<std::size_t>& shape, const py::dict& d, std::size_t threads) {
  FlowProblem problem{
      .rows = shape.at(0), .columns = shape.at(1), .channels = shape.size() > 2 ? shape[2] : 1, .threads = threads};
  FlowParameters& p = problem.parameters;
  const auto take = [&](const char* name, auto& value) {
    if (d.contains(name)) value = get<std::remove_reference_t<decltype(value)>>(d, name);
  };
  take("layers", p.layers);
  take("averaging_radius", p.averaging_radius);
  take("max_flow", p.max_flow);
  take("sigma_dist", p.sigma_dist);
  take("sigma_color", p.sigma_color);
  take("postprocess_window", p.postprocess_window);
  take("sigma_dist_fix", p.sigma_dist_fix);
  take("sigma_color_fix", p.sigma_color_fix);
  take("occlusion_threshold", p.occlusion_threshold);
  take("upscale_averaging_radius", p.upscale_averaging_radius);
  take("upscale_sigma_dist", p.upscale_sigma_dist);
  take("upscale_sigma_color", p.upscale_sigma_color);
  take("speed_up_threshold", p.speed_up_threshold);
  if (d.contains("scan_order") && py::cast<bool>(d["scan_order"])) p.selection = Selection::scan_order;
  return problem;
}

template <class Plan>
py::class_<Plan> add_plan(py::module_& module, const char* name) {
  return py::class_<Plan>(module, name)
      .def("explain", [](const Plan& plan) { return plan.explain(); })
      .def("flops", [](const Plan& plan) { return plan.flops(); })
      .def("bytes", [](const Plan& plan) { return plan.bytes(); })
      .def("device", [](const Plan& plan) { return plan.device().id(); })
      .def("trials", [](const Plan& plan) { return trials_of(plan.decisions()); });
}

void add_flow_plan(py::module_& module) {
  add_plan<FlowPlan>(module, "FlowPlan")
      .def(py::init([](const std::string& device, const std::vector<std::size_t>& shape, const py::dict& parameters,
                       std::size_t threads, bool measured) {
        if (shape.size() < 2 || shape.size() > 3)
          throw py::value_error("frames must have the shape (rows, columns) or (rows, columns, channels)");
        const FlowProblem problem = flow_problem(shape, parameters, threads);
        const py::gil_scoped_release free;
        return FlowPlan(ridge::device(device), problem, options_of(measured));
      }))
      .def("run", [](const FlowPlan& plan, const py::object& first, const py::object& second, const py::object& out) {
        const Picture a(first, false, "the first frame"), b(second, false, "the second frame");
        Picture flow(out, true, "the flow");
        const py::gil_scoped_release free;
        const EndsBySignals ends;
        plan.run(a.image, b.image, flow.image);
      });
}

void add_variance_plan(py::module_& module) {
  add_plan<VariancePlan>(module, "VariancePlan")
      .def(py::init([](const std::string& device, const std::vector<std::size_t>& shape, const std::string& type,
                       std::pair<std::size_t, std::size_t> window, const std::string& method, const std::string& border,
                       double constant, std::size_t threads, bool measured) {
        if (shape.size() != 2) throw py::value_error("the variance needs an image of one channel: (rows, columns)");
        const VarianceProblem problem{.rows = shape[0],
                                      .columns = shape[1],
                                      .depth = depth_named(type),
                                      .method = variance_method(method),
                                      .window_rows = window.first,
                                      .window_columns = window.second,
                                      .border = border_of(border),
                                      .constant = constant,
                                      .threads = threads};
        const py::gil_scoped_release free;
        return VariancePlan(ridge::device(device), problem, options_of(measured));
      }))
      .def("run", [](const VariancePlan& plan, const py::object& in, const py::object& out) {
        const Picture from(in, false, "the image");
        Picture to(out, true, "the output");
        const py::gil_scoped_release free;
        plan.run(from.image, to.image);
      });
}

void add_operator_plan(py::module_& module) {
  add_plan<OperatorPlan>(module, "OperatorPlan")
      .def(py::init([](const std::string& device, const std::vector<std::size_t>& shape, const std::string& type,
                       const std::string& chain, const std::optional<std::string>& border, double constant,
                       const std::string& like, std::size_t threads, bool measured) {
        OperatorProblem problem{.input = shape_of(shape, type),
                                .chain = parse_chain(chain, like_of(like)),
                                .constant = constant,
                                .threads = threads};
        if (border) problem.border = border_of(*border);
        const py::gil_scoped_release free;
        return OperatorPlan(ridge::device(device), problem, options_of(measured));
      }))
      .def("inputs", [](const OperatorPlan& plan) { return inputs(plan.problem()); })
      .def("adjoint",
           [](const OperatorPlan& plan, const py::object& in, const py::object& out) {
             const Picture from(in, false, "the gradient");
             Picture to(out, true, "the output");
             const py::gil_scoped_release free;
             plan.adjoint().run(from.image, to.image);
           })
      .def("output", [](const OperatorPlan& plan) { return describe(output_shape(plan.problem())); })
      .def("run", [](const OperatorPlan& plan, const py::object& in, const py::object& guide, const py::object& out) {
        const Picture from(in, false, "the image");
        Picture to(out, true, "the output");
        if (guide.is_none()) {
          const py::gil_scoped_release free;
          plan.run(from.image, to.image);
        } else {
          const Picture other(guide, false, "the guide");
          const py::gil_scoped_release free;
          plan.run(from.image, other.image, to.image);
        }
      });
}

void add_image_files(py::module_& module) {
  py::class_<Image>(module, "ImageFile")
      .def(py::init([](const std::string& path, bool flow) {
        const py::gil_scoped_release free;
        return flow ? read_flow(path) : ridge::image::read(path);
      }))
      .def("shape", [](const Image& image) { return describe(image.shape()); })
      .def("copy", [](const Image& image, const py::object& out) {
        Picture to(out, true, "the output");
        convert(image, to.image);
      });
  module.def("write_image", [](const std::string& path, const py::object& image, bool flow) {
    const Picture from(image, false, "the image");
    const py::gil_scoped_release free;
    flow ? write_flow(path, from.image) : ridge::image::write(path, from.image);
  });
  module.def("flow_picture", [](const py::object& flow, double most, const py::object& out) {
    const Picture from(flow, false, "the flow");
    Picture to(out, true, "the output");
    const py::gil_scoped_release free;
    const Image made = flow_picture(from.image, most);
    convert(made, to.image);
  });
  module.def("compare_flow", [](const py::object& flow, const py::object& truth) {
    const Picture a(flow, false, "the flow"), b(truth, false, "the truth");
    const FlowErrors errors = compare_flow(a.image, b.image);
    py::dict d;
    d["known"] = errors.known, d["rmse"] = errors.rmse, d["mean"] = errors.mean, d["worst"] = errors.worst;
    d["angular"] = errors.angular;
    return d;
  });
}

}  // namespace

void add_image(py::module_& module) {
  add_flow_plan(module);
  add_variance_plan(module);
  add_operator_plan(module);
  add_image_files(module);
}

}  // namespace ridge::python
