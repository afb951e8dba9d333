// Images: the type, dense optical flow (SimpleFlow), local variance and the operators around them, on any device.
//
//   auto first = ridge::image::Image::view(pixels, {.rows = 1080, .columns = 1920, .channels = 3}, pitch);
//   auto flow = ridge::image::plan(ridge::best(), ridge::image::FlowProblem{.rows = 1080, .columns = 1920});
//   flow.run(first, second, field);
#pragma once
#include <ridge/image/adjoint.hpp>
#include <ridge/image/files.hpp>
#include <ridge/image/flow.hpp>
#include <ridge/image/image.hpp>
#include <ridge/image/operators.hpp>
#include <ridge/image/plan.hpp>
#include <ridge/image/variance.hpp>
