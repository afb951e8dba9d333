// Distributed columns of a spectrum against one process.
#pragma once
#include <algorithm>
#include <complex>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include <ridge/mpi.hpp>

#include "random_boxes.hpp"

namespace distributed {

// Columns that belong to random processes, against the same list on one process.
// `compare` checks pairs of values of all processes; `fail` ends the program.
template <class T, class Sample, class Compare, class Fail>
void columns(const ridge::mpi::Communicator& all, Random& random, const Compare& compare, const Fail& fail) {
  using Complex = std::complex<T>;
  constexpr bool real = std::is_same_v<Sample, T>;
  const ridge::mpi::Shape shape{1 + below(random, 9), 1 + below(random, 9), 1 + below(random, 9)};
  ridge::fft::ColumnsProblem problem{.shape = shape,
                                     .kind = real ? ridge::fft::Kind::real : ridge::fft::Kind::complex,
                                     .scale_forward = 0.5,
                                     .scale_inverse = 3};
  ridge::fft::ColumnsProblem mine = problem;
  std::vector<bool> taken(shape[0] * shape[1], false);
  std::vector<std::size_t> own;  // numbers of this process's modes in the whole list
  std::size_t modes = 0;
  const std::size_t owners = 1 + below(random, all.count());  // the others have no columns
  for (std::size_t line = 0; line < taken.size(); ++line) {
    const std::size_t x = line / shape[1], y = line % shape[1];
    const std::size_t mirror = (shape[0] - x) % shape[0] * shape[1] + (shape[1] - y) % shape[1];
    const std::size_t owner = below(random, owners), first = below(random, shape[2]),
                      most = below(random, shape[2] + 1);
    const bool one = real && mirror == line;  // its modes z and -z are conjugates
    const ridge::fft::Column column{.x = x, .y = y, .first = first, .count = line == 0 || one ? 1 : most};
    if ((line > 0 && below(random, 2) == 0) || (real && taken[mirror])) continue;
    taken[line] = true;
    problem.columns.push_back(column);
    if (owner == all.rank()) {
      mine.columns.push_back(column);
      for (std::size_t i = 0; i < column.count; ++i) own.push_back(modes + i);
    }
    modes += column.count;
  }
  // The processes' columns in the order of the ranks are another order than that of the list.
  const ridge::fft::ColumnTransform<T> single(problem);
  const ridge::mpi::fft::ColumnTransform<T> plan(all, mine);
  if (plan.size() != own.size()) fail("columns: number of modes");
  const ridge::mpi::Box box = plan.samples();
  const auto number = [&] { return static_cast<T>(random() % 65536) / T(65536) - T(0.5); };
  std::vector<Sample> samples(shape[0] * shape[1] * shape[2]), expected_samples(samples.size()), in(box.size()),
      back(box.size());
  for (Sample& sample : samples) {
    const T re = number(), im = number();
    if constexpr (real) sample = re + T(0) * im;
    if constexpr (!real) sample = {re, im};
  }
  std::vector<Complex> values(modes), expected(modes), given(own.size()), found(own.size());
  for (Complex& value : values) value = {number(), number()};
  for_points(box, shape, [&](std::size_t at, std::size_t i) { in[at] = samples[i]; });
  for (std::size_t i = 0; i < own.size(); ++i) given[i] = values[own[i]];
  std::vector<std::pair<std::complex<double>, std::complex<double>>> pairs, pairs_back;
  // The same with memory of the plan's device.
  ridge::Queue queue = ridge::host().queue();
  const auto buffer = [](std::size_t bytes) { return bytes > 0 ? ridge::host().buffer(bytes) : ridge::Buffer(); };
  const ridge::Buffer sample_buffer = buffer(in.size() * sizeof(Sample)),
                      mode_buffer = buffer(own.size() * sizeof(Complex));
  const auto upload = [&](const auto& values_of, const ridge::Buffer& to) {
    if (to) queue.upload(values_of.data(), to, to.size());
  };
  const auto equals = [&](const auto& values_of, const ridge::Buffer& from) {
    auto copy = values_of;
    if (from) queue.download(from, copy.data(), from.size());
    queue.finish();
    return copy == values_of;
  };
  for (const bool adjoint : {false, true}) {
    const auto one = adjoint ? single.adjoint() : single;
    const auto many = adjoint ? plan.adjoint() : plan;
    one.forward(std::span<const Sample>(samples), std::span(expected));
    one.inverse(std::span<const Complex>(values), std::span(expected_samples));
    many.forward(std::span<const Sample>(in), std::span(found));
    many.inverse(std::span<const Complex>(given), std::span(back));
    upload(in, sample_buffer);
    many.forward(queue, sample_buffer, mode_buffer);
    if (!equals(found, mode_buffer)) fail("columns: forward of buffers");
    upload(given, mode_buffer);
    many.inverse(queue, mode_buffer, sample_buffer);
    if (!equals(back, sample_buffer)) fail("columns: inverse of buffers");
    for (std::size_t i = 0; i < own.size(); ++i) pairs.emplace_back(found[i], expected[own[i]]);
    for_points(box, shape,
               [&](std::size_t at, std::size_t i) { pairs_back.emplace_back(back[at], expected_samples[i]); });
  }
  compare(pairs, 4 * std::numeric_limits<T>::epsilon(), "columns");
  compare(pairs_back, 4 * std::numeric_limits<T>::epsilon(), "columns, inverse");
  // Every column belongs to one process after a division of the list.
  const auto part = ridge::mpi::fft::own_columns(all, problem.columns);
  std::size_t most = 0, part_modes = 0;
  for (const auto& column : problem.columns) most = std::max(most, column.count);
  for (const auto& column : part) part_modes += column.count;
  if (all.sum(static_cast<double>(part_modes)) != static_cast<double>(modes)) fail("columns: division");
  if (part_modes > modes / all.count() + most) fail("columns: division is not even");
}

}  // namespace distributed
