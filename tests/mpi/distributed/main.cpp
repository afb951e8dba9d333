// Tests of the distributed library, run under mpirun: results on several processes against those of one.
//   distributed redistribute|fft|boxes|columns|stencil|filterbank SEED CASES     random problems
//   distributed device NAME                     transforms of arrays in device memory
//   distributed mistakes                        every process throws the same message
//   distributed stopped                         one process never arrives
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <ridge/error.hpp>
#include <ridge/mpi.hpp>
#include <ridge/stencil/problems.hpp>

#include "columns.hpp"
#include "filterbank.hpp"
#include "random_boxes.hpp"

using ridge::mpi::Box;
using ridge::mpi::Communicator;
using ridge::mpi::Shape;
using namespace distributed;

namespace {

std::size_t product(const Shape& shape) {
  std::size_t points = 1;
  for (const std::size_t extent : shape) points *= extent;
  return points;
}

Shape random_shape(Random& random, std::size_t axes, std::size_t most) {
  Shape shape;
  for (std::size_t i = 0; i < axes; ++i) shape.push_back(1 + below(random, most));
  return shape;
}

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "FAILED: %s\n", what.c_str());
  std::_Exit(3);
}

template <class Element>
void redistribute(const Communicator& all, Random& random) {
  const Shape shape = random_shape(random, 1 + below(random, 3), 12);
  const std::size_t batch = 1 + below(random, 3), points = product(shape);
  const Box from = random_boxes(random, shape, all.count())[all.rank()],
            to = random_boxes(random, shape, all.count())[all.rank()];
  const ridge::mpi::Redistribute<Element> route(all, shape, from, to, batch);
  std::vector<Element> in(from.size() * batch), out(to.size() * batch);
  const auto value = [&](std::size_t b, std::size_t i) {
    return static_cast<Element>(float((b * points + i) % 251 + 1));
  };
  for (std::size_t b = 0; b < batch; ++b) {
    for_points(from, shape, [&](std::size_t at, std::size_t i) { in[b * from.size() + at] = value(b, i); });
  }
  route.run(in, out);
  for (std::size_t b = 0; b < batch; ++b) {
    for_points(to, shape, [&](std::size_t at, std::size_t i) {
      if (out[b * to.size() + at] != value(b, i)) fail("redistribute: " + to_string(from) + " to " + to_string(to));
    });
  }
  std::vector<Element> back(in.size());
  route.adjoint().run(out, back);
  if (back != in) fail("redistribute: adjoint of " + to_string(from) + " to " + to_string(to));
}

// The transform by definition, one axis after another, in a wider type.
template <class Wide>
std::vector<std::complex<Wide>> transformed(std::vector<std::complex<Wide>> data, const Shape& shape) {
  std::size_t inner = data.size();
  for (const std::size_t n : shape) {
    inner /= n;
    std::vector<std::complex<Wide>> roots(n), line(n);
    for (std::size_t k = 0; k < n; ++k) {
      const Wide turn = -2 * std::acos(Wide(-1)) * Wide(k) / Wide(n);
      roots[k] = {std::cos(turn), std::sin(turn)};
    }
    for (std::size_t start = 0; start < data.size(); ++start) {
      if (start / inner % n != 0) continue;
      for (std::size_t k = 0; k < n; ++k) {
        line[k] = 0;
        for (std::size_t j = 0; j < n; ++j) line[k] += data[start + j * inner] * roots[j * k % n];
      }
      for (std::size_t k = 0; k < n; ++k) data[start + k * inner] = line[k];
    }
  }
  return data;
}

template <class Wide>
void check(const Communicator& all, const std::vector<std::pair<std::complex<Wide>, std::complex<Wide>>>& pairs,
           double gate, const std::string& what) {
  double wrong = 0, size = 0;
  for (const auto& [got, wanted] : pairs) {
    wrong += static_cast<double>(std::norm(got - wanted));
    size += static_cast<double>(std::norm(wanted));
  }
  const double error = std::sqrt(all.sum(wrong) / all.sum(size));
  if (!(error <= gate)) fail(what + ": error " + std::to_string(error / gate) + " of the gate");
}

// Host memory through each process's device, and device memory, against the definition.
void on_device(const Communicator& all, const ridge::Device& device, const Shape& shape, bool real) {
  const std::size_t points = product(shape), rank = all.rank();
  using Complex = std::complex<float>;
  const ridge::mpi::fft::Problem problem{.shape = shape,
                                         .kind = real ? ridge::fft::Kind::real : ridge::fft::Kind::complex,
                                         .scale_inverse = 1.0 / static_cast<double>(points)};
  const ridge::mpi::fft::Plan<float> plan(all, problem, {.effort = ridge::Effort::quick}, device);
  Shape half = shape;
  if (real) half.back() = half.back() / 2 + 1;
  std::vector<std::complex<double>> samples(points);
  Random random(7);
  for (auto& sample : samples) {
    const float re = static_cast<float>(random() % 1024) / 1024, im = static_cast<float>(random() % 1024) / 1024;
    sample = {re, real ? 0.0 : im};
  }
  const auto wanted = transformed(samples, shape);
  const Box in_box = plan.input(), out_box = plan.output();
  std::vector<float> in(in_box.size() * (real ? 1 : 2)), back(in.size());
  for_points(in_box, shape, [&](std::size_t at, std::size_t i) {
    in[real ? at : 2 * at] = static_cast<float>(samples[i].real());
    if (!real) in[2 * at + 1] = static_cast<float>(samples[i].imag());
  });
  std::vector<Complex> out(out_box.size()), out_there(out.size());
  const auto complex = [](std::vector<float>& data) {
    return std::span(reinterpret_cast<Complex*>(data.data()), data.size() / 2);
  };
  const std::string what = "on " + device.id() + ", rank " + std::to_string(rank) + ": " + plan.variant();
  const double gate = 0.6 * std::numeric_limits<float>::epsilon() * std::sqrt(std::log2(double(points)));
  const auto right = [&](const std::vector<Complex>& got) {
    std::vector<std::pair<std::complex<double>, std::complex<double>>> pairs;
    for_points(out_box, half, [&](std::size_t at, std::size_t i) {
      pairs.emplace_back(std::complex<double>(got[at]), wanted[i / half.back() * shape.back() + i % half.back()]);
    });
    check(all, pairs, gate, what);
  };
  const auto returned = [&] {
    std::vector<std::pair<std::complex<double>, std::complex<double>>> pairs;
    for (std::size_t i = 0; i < in.size(); ++i) pairs.emplace_back(double(back[i]), double(in[i]));
    check(all, pairs, 2 * gate, what + ", round trip");
  };
  real ? plan.forward(std::span<const float>(in), std::span(out))
       : plan.forward(std::span<const Complex>(complex(in)), std::span(out));
  right(out);
  real ? plan.inverse(std::span<const Complex>(out), std::span(back))
       : plan.inverse(std::span<const Complex>(out), complex(back));
  returned();

  ridge::Queue queue = device.queue();
  const ridge::Buffer from = device.buffer(std::max<std::size_t>(4, in.size() * sizeof(float))),
                      to = device.buffer(std::max<std::size_t>(8, out.size() * sizeof(Complex)));
  queue.upload(std::span<const float>(in), from);
  plan.forward(queue, from, to);
  queue.download(to, std::span(out_there));
  queue.fill(from, std::byte{0});
  plan.inverse(queue, to, from);
  std::fill(back.begin(), back.end(), 0.0f);
  queue.download(from, std::span(back));
  queue.finish();
  right(out_there);
  returned();
}

template <class T, class Wide>
void fft(const Communicator& all, Random& random, std::size_t most) {
  using Complex = std::complex<T>;
  const std::size_t axes = 1 + below(random, 3);
  const Shape shape = random_shape(random, axes, axes == 1 ? most * most / 2 : axes == 2 ? 2 * most : most);
  const bool real = below(random, 2) == 0;
  ridge::mpi::fft::Problem problem{.shape = shape,
                                   .batch = 1 + below(random, 2),
                                   .kind = real ? ridge::fft::Kind::real : ridge::fft::Kind::complex,
                                   .scale_inverse = 1.0 / static_cast<double>(product(shape)),
                                   .threads = 1 + below(random, 2)};
  Shape half = shape;
  if (real) half.back() = half.back() / 2 + 1;
  if (below(random, 2) == 0) problem.input = random_boxes(random, shape, all.count())[all.rank()];
  if (below(random, 2) == 0) problem.output = random_boxes(random, half, all.count())[all.rank()];
  ridge::planner::Options options{.effort = ridge::Effort::quick};
  if (all.count() > 1) {
    const std::string exchange[] = {"exchange=array", "exchange=window", "exchange=messages, pieces=1",
                                    "exchange=messages, pieces=4"};
    std::string grid = std::to_string(all.count()), layout = axes == 1 ? "line" : "slabs";
    if (axes == 3 && below(random, 2) == 0) {
      layout = "pencils";
      std::vector<std::string> grids;
      for (std::size_t rows = 1; rows <= all.count(); ++rows) {
        if (all.count() % rows == 0) grids.push_back(std::to_string(rows) + "x" + std::to_string(all.count() / rows));
      }
      const std::size_t middle = grids.size() / 2;
      grid = grids[grids.size() > 3 ? middle - below(random, 2) : below(random, grids.size())];
    }
    options.variant = layout + "(grid=" + grid + ", " + exchange[below(random, 4)] + ")";
  }
  const ridge::mpi::fft::Plan<T> plan(all, problem, options);
  const Box in_box = plan.input(), out_box = plan.output();
  const std::size_t points = product(shape), half_points = product(half);
  std::string what = options.variant + (real ? " real " : " complex ") + (sizeof(T) == 8 ? "double" : "float");
  for (const std::size_t extent : shape) what += " " + std::to_string(extent);

  std::vector<std::vector<std::complex<Wide>>> samples(problem.batch), spectra(problem.batch);
  for (std::size_t b = 0; b < problem.batch; ++b) {
    samples[b].resize(points);
    for (auto& sample : samples[b]) {
      const auto number = [&] { return static_cast<T>(random() % 65536) / T(65536) - T(0.5); };
      const T re = number(), im = number();
      sample = {re, real ? T(0) : im};
    }
    spectra[b] = transformed(samples[b], shape);
  }
  std::vector<Complex> in(real ? 0 : in_box.size() * problem.batch), out(out_box.size() * problem.batch),
      back(in.size());
  std::vector<T> real_in(real ? in_box.size() * problem.batch : 0), real_back(real_in.size());
  for (std::size_t b = 0; b < problem.batch; ++b) {
    for_points(in_box, shape, [&](std::size_t at, std::size_t i) {
      const Complex sample(samples[b][i]);
      (real ? real_in[b * in_box.size() + at] : reinterpret_cast<T*>(in.data())[2 * (b * in_box.size() + at)]) =
          sample.real();
      if (!real) in[b * in_box.size() + at] = sample;
    });
  }
  real ? plan.forward(std::span<const T>(real_in), std::span(out)) : plan.forward(std::span<const Complex>(in), out);
  real ? plan.inverse(std::span<const Complex>(out), std::span(real_back))
       : plan.inverse(std::span<const Complex>(out), back);

  const double gate = 0.6 * std::numeric_limits<T>::epsilon() * std::sqrt(std::max(1.0, std::log2(double(points))));
  std::vector<std::pair<std::complex<Wide>, std::complex<Wide>>> pairs, pairs_back;
  (void)half_points;
  for (std::size_t b = 0; b < problem.batch; ++b) {
    for_points(out_box, half, [&](std::size_t at, std::size_t i) {
      const std::size_t whole = i / half.back() * shape.back() + i % half.back();
      pairs.emplace_back(std::complex<Wide>(out[b * out_box.size() + at]), spectra[b][whole]);
    });
    for_points(in_box, shape, [&](std::size_t at, std::size_t i) {
      const std::size_t k = b * in_box.size() + at;
      pairs_back.emplace_back(real ? std::complex<Wide>(real_back[k]) : std::complex<Wide>(back[k]), samples[b][i]);
    });
  }
  check(all, pairs, gate, what);
  check(all, pairs_back, 2 * gate, what + ", round trip");
}

// Boxes of the samples and of the spectrum: compared with the same plan in one process.
template <class T>
void boxes(const Communicator& all, Random& random) {
  using Complex = std::complex<T>;
  const Shape shape = random_shape(random, 2 + below(random, 2), 9);
  const bool real = below(random, 2) == 0;
  Shape half = shape;
  if (real) half.back() = half.back() / 2 + 1;
  const auto random_box = [&](const Shape& extent, bool wraps) {
    ridge::fft::Box box;
    for (std::size_t axis = 0; axis < extent.size(); ++axis) {
      box.first.push_back(below(random, extent[axis]));
      const std::size_t most = wraps || axis + 1 < extent.size() ? extent[axis] : extent[axis] - box.first.back();
      box.count.push_back(1 + below(random, most));
    }
    return box;
  };
  const ridge::mpi::fft::Problem problem{.shape = shape,
                                         .batch = 1 + below(random, 2),
                                         .kind = real ? ridge::fft::Kind::real : ridge::fft::Kind::complex,
                                         .given = random_box(shape, true),
                                         .wanted = random_box(half, !real),
                                         .scale_forward = 0.5,
                                         .scale_inverse = 3};
  const ridge::planner::Options options{.effort = ridge::Effort::quick};
  const auto single = ridge::fft::plan<T>(ridge::host(),
                                          {.shape = shape,
                                           .batch = problem.batch,
                                           .kind = problem.kind,
                                           .scale_forward = 0.5,
                                           .scale_inverse = 3,
                                           .given = problem.given,
                                           .wanted = problem.wanted},
                                          options);
  const ridge::mpi::fft::Plan<T> plan(all, problem, options);
  const Box in_box = plan.input(), out_box = plan.output();
  const std::size_t given = product(problem.given.count), wanted = product(problem.wanted.count);
  const auto number = [&] { return static_cast<T>(random() % 65536) / T(65536) - T(0.5); };
  const std::size_t parts = real ? 1 : 2;
  std::vector<T> samples(parts * given * problem.batch), back(samples.size());
  std::vector<Complex> values(wanted * problem.batch), spectrum(values.size());
  for (T& sample : samples) sample = number();
  for (Complex& value : values) value = {number(), number()};
  // This process's part of an array, and its comparison with the part of another.
  const auto part_of = [&](const auto& whole, const Box& box, const Shape& extent, std::size_t each) {
    std::remove_cvref_t<decltype(whole)> mine(each * box.size() * problem.batch);
    for (std::size_t b = 0; b < problem.batch; ++b) {
      for_points(box, extent, [&](std::size_t at, std::size_t i) {
        for (std::size_t k = 0; k < each; ++k)
          mine[each * (b * box.size() + at) + k] = whole[each * (b * product(extent) + i) + k];
      });
    }
    return mine;
  };
  const auto complex = [](auto& numbers) {
    return std::span(reinterpret_cast<Complex*>(numbers.data()), numbers.size() / 2);
  };
  auto in = part_of(samples, in_box, problem.given.count, parts), found_back = in;
  auto out = part_of(values, out_box, problem.wanted.count, 1), found = out;
  if (real) {
    single.forward(std::span<const T>(samples), std::span(spectrum));
    single.inverse(std::span<const Complex>(values), std::span(back));
    plan.forward(std::span<const T>(in), std::span(found));
    plan.inverse(std::span<const Complex>(out), std::span(found_back));
  } else {
    single.forward(std::span<const Complex>(complex(samples)), std::span(spectrum));
    single.inverse(std::span<const Complex>(values), complex(back));
    plan.forward(std::span<const Complex>(complex(in)), std::span(found));
    plan.inverse(std::span<const Complex>(out), complex(found_back));
  }
  const auto expected = part_of(spectrum, out_box, problem.wanted.count, 1);
  const auto expected_back = part_of(back, in_box, problem.given.count, parts);
  std::vector<std::pair<std::complex<double>, std::complex<double>>> pairs, pairs_back;
  for (std::size_t i = 0; i < found.size(); ++i) pairs.emplace_back(found[i], expected[i]);
  for (std::size_t i = 0; i < found_back.size(); ++i) pairs_back.emplace_back(found_back[i], expected_back[i]);
  check(all, pairs, 4 * std::numeric_limits<T>::epsilon(), "boxes");
  check(all, pairs_back, 4 * std::numeric_limits<T>::epsilon(), "boxes, inverse");
}

// A distributed grid against the same grid in one process, bit for bit.
void stencil(const Communicator& all, Random& random) {
  const std::size_t axes = 1 + below(random, 3), fields = 1;
  Shape shape;
  for (std::size_t i = 0; i < axes; ++i) shape.push_back(12 + 2 * all.count() + below(random, axes == 3 ? 6 : 30));
  const auto update = ridge::stencil::heat<float>({.dt = 0.1, .spacing = std::vector<double>(axes, 1)});
  ridge::stencil::Problem problem{.shape = shape, .threads = 1};
  const std::size_t steps = 1 + below(random, 12);
  const auto initial = [&](const std::array<std::size_t, 3>& cell, float* value) {
    *value = static_cast<float>((cell[0] * 31 + cell[1] * 17 + cell[2] * 7) % 101) / 101;
  };
  ridge::mpi::stencil::Options options{.planning = {.effort = ridge::Effort::quick}, .halo = 1 + below(random, 3)};
  if (below(random, 2) == 0) {  // processes of different speed have different boxes and the same cells
    for (std::size_t i = 0; i < all.count(); ++i) options.speeds.push_back(1 + static_cast<double>(below(random, 5)));
  }
  if (below(random, 2) == 0) {
    options.cuts = ridge::mpi::stencil::Cuts::every_block;
    options.overlap = false;
  }
  ridge::mpi::stencil::Session<float> distributed(all, ridge::host(), update, problem, options);
  ridge::mpi::stencil::Session<float> whole(Communicator::alone(), ridge::host(), update, problem, options);
  distributed.start(initial);
  whole.start(initial);
  std::vector<float> mine, grid(product(shape) * fields);
  const auto read = [&](std::vector<float>& cells) {
    cells.resize(distributed.box().size() * fields);
    distributed.read(cells);
  };
  distributed.run(steps);
  read(mine);
  distributed.start(std::span<const float>(mine));  // continues from what was read
  distributed.save("half_way.npy");
  distributed.run(steps);
  whole.run(2 * steps);
  read(mine);
  whole.read(grid);
  const auto compare = [&](const std::vector<float>& cells, const char* what) {
    for_points(distributed.box(), shape, [&](std::size_t at, std::size_t i) {
      if (!(cells[at] == grid[i])) fail(what + to_string(distributed.box()));
    });
  };
  compare(mine, "stencil: the grid differs in ");
  const bool moved = distributed.spent().find("cuts were moved") != std::string::npos;
  if (moved != (options.cuts == ridge::mpi::stencil::Cuts::every_block && all.count() > 1 && steps > options.halo)) {
    fail("stencil: the cuts moved although they should not, or did not although they should");
  }
  // A checkpoint written by all, resumed by one and by all.
  std::vector<float> again(grid.size());
  whole.load("half_way.npy");
  whole.run(steps);
  whole.read(again);
  if (again != grid) fail("stencil: the grid differs from a checkpoint of " + std::to_string(all.count()));
  std::vector<float> ours;
  distributed.load("half_way.npy");
  distributed.run(steps);
  read(ours);
  compare(ours, "stencil: the grid from its own checkpoint differs in ");
}

// Every process must throw an error that contains this text.
template <class Call>
void must_throw(const Communicator& all, const char* wanted, const Call& call) {
  try {
    call();
  } catch (const ridge::Error& error) {
    if (std::strstr(error.what(), wanted) == nullptr) fail(std::string("no \"") + wanted + "\" in: " + error.what());
    all.barrier();
    return;
  }
  fail(std::string("nothing thrown: ") + wanted);
}

void mistakes(const Communicator& all) {
  using Plan = ridge::mpi::fft::Plan<float>;
  const ridge::planner::Options quick{.effort = ridge::Effort::quick};
  const std::size_t rank = all.rank(), last = all.count() - 1;
  const Shape shape{8, 8, 8};
  must_throw(all, "needs axes of at least 1 point", [&] { Plan(all, {.shape = {8, 0, 8}}, quick); });
  must_throw(all, "rank 1: got", [&] { Plan(all, {.shape = {8, 8, rank == 1 ? 9u : 8u}}, quick); });
  must_throw(all, "rank 1: got", [&] { Plan(all, {.shape = shape, .batch = rank == 1 ? 2u : 1u}, quick); });
  must_throw(all, "no such", [&] {
    try {
      Plan(all, {.shape = shape}, {.effort = ridge::Effort::quick, .variant = "no such"});
    } catch (const ridge::Error& error) {
      throw ridge::Error(error.kind(), std::string(error.what()) + " no such");
    }
  });
  Box mine = ridge::mpi::slabs(shape, all.count())[rank];
  must_throw(all, "overlap", [&] {
    Box wrong = mine;
    if (rank == last) --wrong.begin[0];
    Plan(all, {.shape = shape, .input = wrong}, quick);
  });
  must_throw(all, "not within", [&] {
    Box wrong = mine;
    if (rank == last) wrong.end[1] = 9;
    Plan(all, {.shape = shape, .output = wrong}, quick);
  });
  must_throw(all, "every point must belong to one rank", [&] {
    Box wrong = mine;
    if (rank == last) --wrong.end[2];
    Plan(all, {.shape = shape, .input = wrong}, quick);
  });
  must_throw(all, "rank 1: got", [&] {
    Plan(all,
         rank == 1 ? ridge::mpi::fft::Problem{.shape = shape} : ridge::mpi::fft::Problem{.shape = shape, .input = mine},
         quick);
  });
  const Plan plan(all, {.shape = shape}, quick);
  std::vector<std::complex<float>> in(plan.input().size()), out(plan.output().size());
  must_throw(all, "rank 1: fft:", [&] {
    plan.forward(std::span<const std::complex<float>>(in.data(), in.size() - (rank == 1 ? 1 : 0)), out);
  });
  must_throw(all, "this plan has complex samples",
             [&] { plan.forward(std::span<const float>(reinterpret_cast<float*>(in.data()), 2 * in.size()), out); });
  plan.forward(std::span<const std::complex<float>>(in), out);
  // Errors of other modules: filter banks, stencils, files, messages of unexpected length.
  namespace bank = ridge::mpi::filterbank;
  must_throw(all, "rank 1: got",
             [&] { bank::Plan(all, ridge::host(), {.channels = 16, .taps = 2, .stations = rank == 1 ? 3u : 2u}); });
  must_throw(all, "stations distributed over", [&] {
    bank::Plan(all, ridge::host(), {.channels = 16, .taps = 2, .stations = 4},
               {.planning = quick, .stations = std::vector<std::size_t>(all.count(), 3)});
  });
  const bank::Plan channels(all, ridge::host(), {.channels = 16, .taps = 2, .stations = 2}, {.planning = quick});
  bank::Stream stream(channels);
  std::vector<std::byte> samples(4096);
  must_throw(all, "rank 0: filterbank: the output has", [&] { stream.push_from_root(samples, {}); });
  using Grid = ridge::mpi::stencil::Session<float>;
  const auto update = ridge::stencil::heat<float>({.dt = 0.1, .spacing = {1, 1}});
  must_throw(all, "rank 1: got", [&] {
    Grid(all, ridge::host(), update, {.shape = {40, rank == 1 ? 41u : 40u}}, {.planning = quick});
  });
  Grid grid(all, ridge::host(), update, {.shape = {40, 40}}, {.planning = quick});
  must_throw(all, "speeds for", [&] {
    Grid(all, ridge::host(), update, {.shape = {40, 40}}, {.planning = quick, .speeds = {1, 0, 1, 1}});
  });
  must_throw(all, "call start() first", [&] { grid.run(1); });
  must_throw(all, "boxes of a distributed transform need two or three axes, got 1",
             [&] { ridge::mpi::fft::Plan<float>(all, {.shape = {64}, .given = {.count = {32}}}); });
  must_throw(all, "the box wanted needs 1 to 8 points from 0 to 7 on axis 1, got 9 from 0", [&] {
    ridge::mpi::fft::Plan<float>(all, {.shape = {8, 8}, .wanted = {.count = {8, 9}}});
  });
  // Every process has column (1, 2); real grids: its mirror image is on another process.
  must_throw(all, "column (1, 2) is in the list twice", [&] {
    ridge::mpi::fft::ColumnTransform<float>(all, {.shape = {4, 4, 4}, .columns = {{1, 2, 0, 4}}});
  });
  must_throw(all, "hold conjugate modes of a real grid", [&] {
    ridge::fft::ColumnsProblem half{.shape = {4, 4, 4}, .kind = ridge::fft::Kind::real};
    if (rank < 2) half.columns.push_back({rank == 0 ? 1u : 3u, rank == 0 ? 1u : 3u, 0, 4});
    ridge::mpi::fft::ColumnTransform<float>(all, half);
  });
  must_throw(all, "but rank 0 has", [&] {
    ridge::mpi::fft::ColumnTransform<float>(all, {.shape = {4, 4, rank == 1 ? 5u : 4u}, .columns = {{rank, 2, 0, 4}}});
  });
  must_throw(all, "cannot read nowhere.npy", [&] { grid.load("nowhere.npy"); });
  must_throw(all, "rank 1:", [&] {
    std::vector<float> cells(grid.box().size() + (rank == 1 ? 1 : 0));
    grid.start(std::span<const float>(cells));
  });
  if (all.root()) std::puts("all well");
}

void random_cases(const Communicator& all, const std::string& what, int cases) {
  Random random(static_cast<unsigned>(all.count()));
  for (int i = 0; i < cases; ++i) {
    const std::size_t type = below(random, 4);
    if (what == "redistribute") {
      if (type == 0) redistribute<float>(all, random);
      if (type == 1) redistribute<double>(all, random);
      if (type == 2) redistribute<std::complex<double>>(all, random);
      if (type == 3) redistribute<std::uint8_t>(all, random);
    } else if (what == "stencil") {
      stencil(all, random);
    } else if (what == "filterbank") {
      filterbank(all, random, fail);
    } else if (what == "fft" && type == 0) {
      fft<double, long double>(all, random, 9);
    } else if (what == "columns") {
      const auto compare = [&](const auto& pairs, double gate, const std::string& name) {
        check(all, pairs, gate, name);
      };
      type == 0   ? columns<float, float>(all, random, compare, fail)
      : type == 1 ? columns<float, std::complex<float>>(all, random, compare, fail)
      : type == 2 ? columns<double, double>(all, random, compare, fail)
                  : columns<double, std::complex<double>>(all, random, compare, fail);
    } else if (what == "boxes") {
      type < 2 ? boxes<float>(all, random) : boxes<double>(all, random);
    } else if (what == "fft") {
      fft<float, double>(all, random, 20);
    } else {
      fail("no cases of " + what);
    }
  }
}

}  // namespace

int main(int count, char** words) {
  const std::string what = count > 1 ? words[1] : "";
  const Communicator all = Communicator::world();
  all.set_deadline(60);
  try {
    if (what == "mistakes") {
      mistakes(all);
    } else if (what == "device") {
      const std::string name = count > 2 ? words[2] : "";
      const auto& there = ridge::devices().devices;
      if (std::none_of(there.begin(), there.end(), [&](const ridge::Device& one) { return one.id() == name; }))
        return 77;
      const ridge::Device device = ridge::device(name);
      // Few lengths: each one compiles kernels.
      on_device(all, device, {8, 8, 8}, false);
      on_device(all, device, {2, 8, 8}, true);  // fewer planes than processes
      on_device(all, device, {8, 8}, false);
      if (all.root()) std::printf("all tests passed on %zu\n", all.count());
    } else if (what == "stopped") {
      all.set_deadline(2);
      if (all.rank() == 1) pause();
      all.barrier();
    } else {
      for (int word = 1; word + 1 < count; word += 2) {
        random_cases(all, words[word], std::atoi(words[word + 1]));
      }
      if (all.root()) std::printf("all tests passed on %zu\n", all.count());
    }
  } catch (const std::exception& error) {
    fail(error.what());
  }
}
