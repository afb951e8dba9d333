// Compares the host's flow with the plain reference, each kernel and the whole.
#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "base/threads.hpp"
#include "image/flow/host/host_flow.hpp"
#include "image/flow/reference.hpp"
#include "image/flow/weights.hpp"
#include "image/support.hpp"
#include "support/devices.hpp"
#include "support/error_of.hpp"

namespace ridge::image {
namespace {

using flow::Field;
using flow::Picture;
using flow::Size;

Image image_of(const Picture& picture, std::size_t channels, std::size_t slack, std::vector<std::uint8_t>& memory) {
  const auto rows = static_cast<std::size_t>(picture.size.rows),
             columns = static_cast<std::size_t>(picture.size.columns);
  const std::size_t pitch = columns * channels + slack;
  memory.assign(rows * pitch, 77);
  for (std::size_t i = 0; i < picture.cells.size(); ++i) {
    for (std::size_t k = 0; k < channels; ++k) {
      memory[i / columns * pitch + i % columns * channels + k] = k < 3 ? picture.cells[i].c[k] : 200;
    }
  }
  return Image::view(static_cast<const void*>(memory.data()), {.rows = rows, .columns = columns, .channels = channels},
                     pitch);
}

FlowProblem problem_of(Size size, std::size_t channels = 3) {
  FlowProblem problem;
  problem.rows = static_cast<std::size_t>(size.rows);
  problem.columns = static_cast<std::size_t>(size.columns);
  problem.channels = channels;
  return problem;
}

Field run(const flow::HostFlow& flow, const Image& first, const Image& second) {
  Image out({.rows = first.rows(), .columns = first.columns(), .channels = 2, .depth = Depth::f32});
  std::memset(out.bytes(), 0xff, out.span_bytes());
  flow.run(first, second, out);
  Field field({static_cast<int>(first.rows()), static_cast<int>(first.columns())});
  for (std::size_t i = 0; i < field.cells.size(); ++i) {
    const float* at = out.row<float>(i / first.columns()) + 2 * (i % first.columns());
    field.cells[i] = {at[1], at[0]};
  }
  return field;
}

// Counts pixels whose vector is further than 0.01 px from the reference's.
std::size_t moved(const Field& a, const Field& b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.cells.size(); ++i) {
    const double d = std::hypot(double{a.cells[i].u} - b.cells[i].u, double{a.cells[i].v} - b.cells[i].v);
    if (!(d <= 0.01)) ++count;
  }
  return count;
}

TEST(HostFlow, every_kernel_gives_the_reference_at_many_sizes) {
  for (const Size size : {Size{1, 1}, Size{1, 2}, Size{2, 1}, Size{1, 37}, Size{41, 1}, Size{2, 3}, Size{5, 5},
                          Size{7, 64}, Size{33, 18}, Size{61, 83}, Size{96, 131}}) {
    const auto [first, second] = test::moving_square(size);
    std::vector<std::uint8_t> a, b;
    const Image one = image_of(first, 3, 5, a), two = image_of(second, 3, 1, b);
    for (const Selection order : {Selection::aligned, Selection::scan_order}) {
      FlowProblem problem = problem_of(size);
      problem.parameters.selection = order;
      const Field expected = flow::simple_flow(first, second, problem.parameters, flow::WeightKind::polynomial);
      for (const flow::Kernels* kernels : flow::host_kernels()) {
        const flow::HostFlow host(problem, *kernels, 2);
        EXPECT_LE(moved(run(host, one, two), expected), size.cells() / 1000)
            << kernels->name << " " << size.rows << "x" << size.columns;
      }
    }
  }
}

TEST(HostFlow, the_number_of_threads_changes_nothing) {
  const Size size{101, 90};
  const auto [first, second] = test::moving_square(size);
  std::vector<std::uint8_t> a, b;
  const Image one = image_of(first, 3, 0, a), two = image_of(second, 3, 0, b);
  for (const flow::Kernels* kernels : flow::host_kernels()) {
    const Field alone = run(flow::HostFlow(problem_of(size), *kernels, 1), one, two);
    EXPECT_EQ(test::worst_difference(alone, run(flow::HostFlow(problem_of(size), *kernels, 3), one, two)), 0);
  }
}

TEST(HostFlow, other_parameters) {
  const Size size{48, 57};
  const auto [first, second] = test::moving_square(size);
  std::vector<std::uint8_t> a, b;
  const Image one = image_of(first, 3, 0, a), two = image_of(second, 3, 0, b);
  std::vector<FlowParameters> all(7);
  all[0].layers = 1;
  all[1].layers = 5;
  all[2].averaging_radius = 3;
  all[2].max_flow = 2;
  all[3].postprocess_window = 0;
  all[3].upscale_averaging_radius = 1;
  all[4].postprocess_window = 40;  // higher than a band of rows
  all[5].sigma_color_fix = 4;      // exponents that must be clamped
  all[5].upscale_sigma_color = 7;
  all[6].sigma_color = 3;
  all[6].averaging_radius = 0;
  for (const FlowParameters& parameters : all) {
    FlowProblem problem = problem_of(size);
    problem.parameters = parameters;
    const Field expected = flow::simple_flow(first, second, parameters, flow::WeightKind::polynomial);
    for (const flow::Kernels* kernels : flow::host_kernels()) {
      EXPECT_LE(moved(run(flow::HostFlow(problem, *kernels, 2), one, two), expected), size.cells() / 1000)
          << kernels->name << " case " << &parameters - all.data();
    }
  }
}

TEST(HostFlow, flat_and_equal_frames_are_at_rest) {
  const Size size{40, 55};
  const Picture flat(size, flow::Pixel{{7, 7, 7}}), texture = test::waves(size);
  std::vector<std::uint8_t> a;
  for (const flow::Kernels* kernels : flow::host_kernels()) {
    const flow::HostFlow host(problem_of(size), *kernels, 1);
    const Image quiet = image_of(flat, 3, 0, a);
    EXPECT_EQ(test::worst_difference(run(host, quiet, quiet), Field(size)), 0);
    const Image same = image_of(texture, 3, 0, a);
    EXPECT_EQ(test::worst_difference(run(host, same, same), Field(size)), 0);
  }
}

TEST(HostFlow, channels_one_and_four) {
  const Size size{30, 34};
  auto [first, second] = test::moving_square(size);
  for (Picture* picture : {&first, &second}) {
    for (flow::Pixel& pixel : picture->cells) pixel.c[1] = pixel.c[2] = pixel.c[0];
  }
  std::vector<std::uint8_t> a, b;
  const flow::Kernels& kernels = *flow::host_kernels().front();
  const Field expected = flow::simple_flow(first, second, {}, flow::WeightKind::polynomial);
  for (const std::size_t channels : {1, 3, 4}) {
    const Image one = image_of(first, channels, 3, a), two = image_of(second, channels, 2, b);
    EXPECT_EQ(moved(run(flow::HostFlow(problem_of(size, channels), kernels, 1), one, two), expected), 0u) << channels;
  }
}

TEST(HostFlow, the_search_equals_the_reference_to_the_bit) {
  const Size size{50, 61};
  const auto [first, second] = test::moving_square(size);
  const auto words = [&](const Picture& picture, std::vector<std::uint32_t>& memory) {
    constexpr int kBorder = flow::kSearchBorder;
    const int pitch = size.columns + 2 * kBorder;
    memory.assign(static_cast<std::size_t>(pitch * (size.rows + 2 * kBorder)), 0);
    for (int r = -kBorder; r < size.rows + kBorder; ++r) {
      for (int c = -kBorder; c < size.columns + kBorder; ++c) {
        const flow::Pixel p = picture.at(static_cast<int>(border_index(Border::reflect_101, r, size.rows)),
                                         static_cast<int>(border_index(Border::reflect_101, c, size.columns)));
        memory[static_cast<std::size_t>((r + kBorder) * pitch + c + kBorder)] =
            p.c[0] | static_cast<std::uint32_t>(p.c[1]) << 8 | static_cast<std::uint32_t>(p.c[2]) << 16;
      }
    }
    return flow::Words{memory.data() + kBorder * pitch + kBorder, pitch};
  };
  std::vector<std::uint32_t> a, b;
  const flow::Words from = words(first, a), to = words(second, b);
  std::mt19937 random(3);
  Field start(size);
  flow::Mask mask(size);
  for (std::size_t i = 0; i < start.cells.size(); ++i) {
    const bool uneven = random() % 3 == 0;  // most blocks have one start, some do not
    start.cells[i] = {uneven ? static_cast<float>(random() % 41) - 20.5f : 2.5f, uneven ? -1.0f : 3.5f};
    mask.cells[i] = random() % 2;
  }
  Field expected = start;
  flow::search(first, second, mask, expected, {}, flow::WeightKind::polynomial);
  const auto check = [&](const char* name, const auto& search) {
    std::vector<float> u, v;
    for (const flow::Vector& vector : start.cells) {
      u.push_back(vector.u);
      v.push_back(vector.v);
    }
    search(flow::SearchJob{from, to, size.rows, size.columns, mask.cells.data(), u.data(), v.data(),
                           flow::slope_of(FlowParameters().sigma_color), flow::slope_of(FlowParameters().sigma_dist)});
    std::size_t different = 0;
    for (std::size_t i = 0; i < u.size(); ++i) different += flow::Vector{u[i], v[i]} == expected.cells[i] ? 0 : 1;
    EXPECT_EQ(different, 0u) << name;
  };
  for (const flow::Kernels* kernels : flow::host_kernels()) {
    check(kernels->name, [&](const flow::SearchJob& job) { kernels->search(job, 0, size.rows); });
  }
  check("general", [&](const flow::SearchJob& job) { flow::search_general(job, 2, 4, 0, size.rows); });
}

TEST(FlowPlan, plans_runs_and_says_what_it_did) {
  const Size size{32, 45};
  const auto [first, second] = test::moving_square(size);
  std::vector<std::uint8_t> a, b;
  const Image one = image_of(first, 3, 0, a), two = image_of(second, 3, 0, b);
  const FlowPlan flow(host(), problem_of(size), {.use_wisdom = false, .save_wisdom = false, .verify = true});
  Image out({.rows = 32, .columns = 45, .channels = 2, .depth = Depth::f32});
  flow.run(one, two, out);
  EXPECT_NE(flow.explain().find("simd"), std::string::npos);
  EXPECT_GT(flow.flops(), 0);
  Queue queue = host().queue();
  Image from = Image::on(host(), one.shape()), to = Image::on(host(), two.shape()),
        field = Image::on(host(), out.shape());
  upload(queue, one, from);
  upload(queue, two, to);
  flow.enqueue(queue, from, to, field);
  Image again(out.shape());
  download(queue, field, again);
  queue.finish();
  for (std::size_t r = 0; r < out.rows(); ++r) {
    EXPECT_EQ(std::memcmp(out.row<float>(r), again.row<float>(r), out.shape().row_bytes()), 0) << r;
  }
}

TEST(FlowStream, gives_the_flow_of_every_pair_in_order) {
  const Size size{24, 33};
  FlowProblem problem = problem_of(size);
  problem.parameters = {.layers = 2, .averaging_radius = 1, .max_flow = 2, .postprocess_window = 2};
  problem.parameters.upscale_averaging_radius = 2;
  std::vector<Device> devices{host()};
  for (const Device& device : test::accelerators()) devices.push_back(device);
  std::vector<Image> frames;
  for (int i = 0; i < 5; ++i) {
    std::vector<std::uint8_t> bytes;
    frames.push_back(image_of(test::waves(size, 0.8 * i, -0.4 * i * i), 3, 0, bytes).clone());
  }
  for (const Device& device : devices) {
    SCOPED_TRACE(device.id());
    const FlowPlan flow(device, problem, {.effort = Effort::quick, .use_wisdom = false});
    FlowStream stream(flow);
    Image frame(frames.front().shape()), right(Shape{.rows = 24, .columns = 33, .channels = 2, .depth = Depth::f32});
    std::size_t taken = 0;
    const auto take = [&] {
      const Image field = stream.next();
      flow.run(frames[taken], frames[taken + 1], right);
      for (std::size_t r = 0; r < field.rows(); ++r)
        EXPECT_EQ(std::memcmp(field.row<float>(r), right.row<float>(r), right.shape().row_bytes()), 0) << taken;
      ++taken;
    };
    for (const Image& each : frames) {
      for (std::size_t r = 0; r < frame.rows(); ++r)  // one reused buffer, as a camera driver has
        std::memcpy(frame.row<std::uint8_t>(r), each.row<std::uint8_t>(r), frame.shape().row_bytes());
      if (stream.waiting() == stream.room()) take();
      stream.push(frame);
    }
    while (stream.waiting() > 1) take();
    if (stream.room() == 1) {
      EXPECT_THROW(stream.push(frame), Error);
    }
    while (stream.waiting() > 0) take();
    EXPECT_EQ(taken, frames.size() - 1);
    EXPECT_THROW(stream.next(), Error);
    EXPECT_THROW(stream.push(Image({.rows = 24, .columns = 32, .channels = 3})), Error);
    EXPECT_THROW(stream.push(Image()), Error);
    EXPECT_THROW(stream.push(Image::on(device, frame.shape())), Error);
  }
}

TEST(FlowPlan, refuses_what_cannot_be) {
  const auto message = [](const auto& call) { return ridge::test::error_of(call, ErrorKind::invalid_argument); };
  const planner::Options quick{.effort = Effort::quick};
  EXPECT_NE(message([&] { FlowPlan(host(), problem_of({0, 5}), quick); }).find("no pixels"), std::string::npos);
  FlowProblem odd = problem_of({8, 8});
  odd.parameters.sigma_color = NAN;
  EXPECT_NE(message([&] { FlowPlan(host(), odd, quick); }).find("sigma_color"), std::string::npos);
  odd = problem_of({8, 8}, 2);
  EXPECT_NE(message([&] { FlowPlan(host(), odd, quick); }).find("2 channels"), std::string::npos);
  const FlowPlan flow(host(), problem_of({8, 8}), quick);
  Image right({.rows = 8, .columns = 8, .channels = 3}), wrong({.rows = 8, .columns = 9, .channels = 3}), none;
  Image out({.rows = 8, .columns = 8, .channels = 2, .depth = Depth::f32});
  EXPECT_NE(message([&] { flow.run(right, wrong, out); }).find("second input is 9x8"), std::string::npos);
  EXPECT_NE(message([&] { flow.run(right, right, none); }).find("empty"), std::string::npos);
  Queue queue = host().queue();
  EXPECT_NE(message([&] { flow.enqueue(queue, right, right, out); }).find("host's memory"), std::string::npos);
}

}  // namespace
}  // namespace ridge::image
