// Translates layers to updates, which the stencil variants can run.
#include <algorithm>

#include <fmt/format.h>
#include <ridge/stencil/from_expressions.hpp>

#include "stencil/adjoint/linear_map.hpp"
#include "stencil/layers/layers.hpp"
#include "stencil/time_levels.hpp"

namespace ridge::stencil {
namespace {

using Kind = Node::Kind;
constexpr std::array<const char*, 3> kLayerAxes{"z", "y", "x"};

[[noreturn]] void refuse_layer(const std::string& what) {
  throw Error(ErrorKind::invalid_argument, "stencil: " + what);
}

// Replaces reads of fields: `place` gives the new read.
template <class Place>
Expression replaced(const Expression& expression, const Place& place) {
  if (expression->kind == Kind::read) return place(expression->field, expression->offset);
  std::vector<Expression> operands;
  for (const Expression& operand : expression->operands) operands.push_back(replaced(operand, place));
  return operands.empty() ? expression : make_node(expression->kind, std::move(operands));
}

LayerPlace place_of(const LayerUpdate& layer, const Layout& layout) {
  const std::size_t axis = layer.axis;
  if (axis > 2 || axis < 3 - layout.dimensions)
    refuse_layer(fmt::format("a layer along axis {} of a grid of {} dimensions", axis, layout.dimensions));
  const auto radius = static_cast<std::size_t>(layout.radius[axis]);
  const Border side = layer.high ? layout.high[axis] : layout.low[axis];
  if (side != Border::fixed)
    refuse_layer(fmt::format("an absorbing layer needs a fixed border: the {} side along {} is {}",
                             layer.high ? "high" : "low", kLayerAxes[axis], to_string(side)));
  LayerPlace place{.axis = axis, .radius = radius, .cells = layer.cells};
  const std::size_t band = layer.cells + radius, changing = layout.end[axis] - layout.begin[axis];
  if (2 * band > changing)
    refuse_layer(
        fmt::format("absorbing layers of {} cells need at least {} changing cells along {}, got {}: use a "
                    "larger grid or thinner layers",
                    layer.cells, 2 * band, kLayerAxes[axis], changing));
  for (std::size_t k = 0; k < 3; ++k) {
    place.begin[k] = layout.begin[k];
    place.extent[k] = place.stored[k] = layout.end[k] - layout.begin[k];
  }
  if (layer.high) place.begin[axis] = layout.end[axis] - band;
  place.extent[axis] = band;
  place.stored[axis] = band + 2 * radius;
  return place;
}

void check_offsets(const std::vector<Expression>& outputs, const LayerPlace& place) {
  for (const Operation& op : flatten(outputs).operations) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const auto reach = axis == place.axis ? static_cast<int>(place.radius) : 0;
      if (op.offset[axis] > reach || op.offset[axis] < -reach)
        refuse_layer(fmt::format("a layer along {} reads {} cells away along {}: at most {} are possible",
                                 kLayerAxes[place.axis], op.offset[axis], kLayerAxes[axis], reach));
    }
  }
}

template <class T>
void lower_update(const LayerUpdate& layer, const Layout& layout, LoweredLayer<T>& lowered) {
  const std::size_t fields = layer.outputs.size();
  check_offsets(layer.outputs, lowered.place);
  lowered.memories = fields - 1;
  const SharedTerms shared = share_terms(linear_map(layer.outputs, fields));
  lowered.shared = shared.values.outputs.size();
  const auto in_first = [&](std::size_t field, const Offset& offset) {
    return make_read(Kind::coefficient, field == 0 ? lowered.previous() : lowered.others() + field - 1, offset);
  };
  const auto in_main = [&](std::size_t field, const Offset& offset) {
    if (field == 0) return make_read(Kind::read, lowered.previous_field(), offset);
    return make_read(Kind::read, field < fields ? field : field + 1, offset);
  };
  std::vector<Expression> first, main;
  if (lowered.shared > 0) {
    for (const Expression& value : to_expressions(shared.values)) first.push_back(replaced(value, in_first));
    lowered.first = from_expressions<T>(layout.dimensions, first, "layer, shared values");
  }
  // Without shared values the expressions are evaluated as they were written.
  const std::vector<Expression> outputs = lowered.shared > 0 ? to_expressions(shared.map) : layer.outputs;
  for (const Expression& value : outputs) main.push_back(replaced(value, in_main));
  main[0] = make_node(Kind::fma,
                      {make_read(Kind::coefficient, lowered.scaling(), {}), main[0], make_read(Kind::read, 0, {})});
  while (main.size() <= lowered.previous_field() + lowered.shared)
    main.push_back(make_read(Kind::read, main.size(), {}));
  lowered.main = from_expressions<T>(layout.dimensions, main, "layer");
}

}  // namespace

template <class T>
std::vector<LoweredLayer<T>> lower_layers(const Update<T>& update, const Layout& layout) {
  std::vector<LoweredLayer<T>> lowered;
  const TimeLevels levels = time_levels(flatten(update.outputs));
  if (update.fields != 2 || levels.pairs.size() != 1 || levels.pairs[0].newer != 0)
    refuse_layer(
        "absorbing layers need an update of two fields, the second of which is the first one's previous level");
  if (update.free_surface && layout.low[surface_axis(layout)] != Border::fixed)
    refuse_layer("a free surface needs a fixed border at the low side of the first axis");
  for (const LayerUpdate& layer : update.layers) {
    LoweredLayer<T> one{.place = place_of(layer, layout),
                        .profiles = layer.profiles.size(),
                        .scale = layer.scale,
                        .differences = layer.differences};
    if (layer.outputs.empty() || layer.scale >= layout.coefficients || layer.scale != update.layers[0].scale)
      refuse_layer("a layer needs outputs, and the same coefficient of the update as its scale as the other layers");
    const std::size_t band = layer.cells + one.place.radius;
    for (const std::vector<double>& profile : layer.profiles) {
      if (profile.size() != band)
        refuse_layer(
            fmt::format("a profile of a layer of {} cells needs {} values, got {}", layer.cells, band, profile.size()));
      std::vector<T> values(band + 2 * one.place.radius);
      std::transform(profile.begin(), profile.end(), values.begin() + static_cast<std::ptrdiff_t>(one.place.radius),
                     [](double value) { return static_cast<T>(value); });
      one.values.push_back(std::move(values));
    }
    lower_update(layer, layout, one);
    lowered.push_back(std::move(one));
  }
  return lowered;
}

template <class T>
std::shared_ptr<const Layers<T>> make_layers(const Device& device, const Update<T>& update, const Layout& layout,
                                             bool aligned) {
  if constexpr (std::is_floating_point_v<T>) {
    if (update.layers.empty() && !update.free_surface) return nullptr;
    return device.is_host() ? host_layers<T>(update, layout) : device_layers<T>(device, update, layout, aligned);
  }
  return nullptr;
}

template std::vector<LoweredLayer<float>> lower_layers(const Update<float>&, const Layout&);
template std::vector<LoweredLayer<double>> lower_layers(const Update<double>&, const Layout&);
template std::shared_ptr<const Layers<float>> make_layers(const Device&, const Update<float>&, const Layout&, bool);
template std::shared_ptr<const Layers<double>> make_layers(const Device&, const Update<double>&, const Layout&, bool);
template std::shared_ptr<const Layers<std::int32_t>> make_layers(const Device&, const Update<std::int32_t>&,
                                                                 const Layout&, bool);
template std::shared_ptr<const Layers<std::uint8_t>> make_layers(const Device&, const Update<std::uint8_t>&,
                                                                 const Layout&, bool);

}  // namespace ridge::stencil
