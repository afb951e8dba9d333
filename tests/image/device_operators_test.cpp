// Every operator on every device with kernels, by every way it has there, against plain loops in double. Sizes and
// pitches are given when a kernel runs, so that one compiled kernel sees them all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "image/operators/reference.hpp"
#include "image/operators_support.hpp"
#include "image/variant.hpp"
#include "support/devices.hpp"

namespace ridge::image {
namespace {

class DeviceOperators : public test::NeedsAccelerator<> {
 protected:
  const std::vector<Device> all = test::accelerators();
};

bool slow() { return std::getenv("RIDGE_SLOW") != nullptr; }

// The worst error of a variant, images of the caller's with a pitch that aligns nothing where `odd`.
double error_of(const Device& device, const OperatorProblem& problem, const Entry& entry, bool odd = false) {
  const Image images[2] = {test::random_image(problem.input, 1), test::random_image(problem.input, 2)};
  const std::span<const Image> in(images, inputs(problem));
  const Plain expected = reference(problem, plain_of(images[0]), plain_of(images[1]));
  const auto variant = entry.build();
  Image out(output_shape(problem));
  std::memset(out.bytes(), 0xff, out.span_bytes());
  if (!odd) {
    variant->run(in, out);
    return test::worst_difference(out, expected);
  }
  Queue queue = device.queue();
  const auto unaligned = [&](const Shape& shape) {
    const std::size_t one = bytes_of(shape.depth), pitch = shape.row_bytes() + one;
    return Image::of(device.buffer(shape.rows * pitch + one, {.name = "odd"}), shape, pitch, one);
  };
  std::vector<Image> resident;
  for (const Image& image : in) {
    resident.push_back(unaligned(image.shape()));
    upload(queue, image, resident.back());
  }
  const Image there = unaligned(out.shape());
  variant->enqueue(queue, resident, there);
  download(queue, there, out);
  queue.finish();
  return test::worst_difference(out, expected);
}

// Bands and blend round what the first of their products makes to two bytes; windows round weights to parts of a power
// of two, resample to 16 bits.
double allowed_of(const OperatorProblem& problem, const Entry& entry) {
  const std::string& variant = entry.candidate.variant;
  return test::allowed_error(problem) + (variant == "bands"      ? 0.02
                                         : variant == "blend"    ? 0.02
                                         : variant == "windows"  ? 0.004
                                         : variant == "resample" ? 0.012
                                                                 : 0);
}

struct Kind {
  std::size_t channels;
  Depth depth;
  Border border;
};
constexpr Kind kKinds[] = {{1, Depth::u8, Border::reflect_101}, {3, Depth::f32, Border::constant},
                           {4, Depth::u16, Border::wrap},       {2, Depth::u8, Border::replicate},
                           {1, Depth::f32, Border::reflect},    {3, Depth::u8, Border::reflect_101}};

// Of each variant there the one whose turn it is: its others differ in parameters. A GPU's compiler is quick enough for
// all of them.
std::vector<Entry> in_turn(const Device& device, std::vector<Entry> entries, std::size_t turn) {
  if (device.limits().sub_group != 0) return entries;
  std::vector<Entry> found;
  for (auto first = entries.begin(); first != entries.end();) {
    const auto last = std::find_if(
        first, entries.end(), [&](const Entry& entry) { return entry.candidate.variant != first->candidate.variant; });
    found.push_back(first[static_cast<std::ptrdiff_t>(turn % static_cast<std::size_t>(last - first))]);
    first = last;
  }
  return found;
}

// One way in turn: compiling takes most of the time. With RIDGE_SLOW=1 one of every variant.
void check_ways(const Device& device, OperatorProblem problem, std::size_t turn,
                const std::vector<std::pair<std::size_t, std::size_t>>& sizes) {
  for (const auto& [rows, columns] : sizes) {
    problem.input.rows = rows;
    problem.input.columns = columns;
    std::vector<Entry> entries = list_variants(device, problem);
    std::erase_if(entries, [](const Entry& entry) { return !entry.candidate.refusal.empty(); });
    ASSERT_FALSE(entries.empty()) << to_string(problem.chain.front());
    if (slow()) entries = in_turn(device, entries, turn);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (!slow() && i != turn % entries.size()) continue;
      SCOPED_TRACE(testing::Message() << device.id() << " " << entries[i].candidate.name() << ": "
                                      << to_string(problem.chain.front()) << " of " << problem.input.text() << ", "
                                      << to_string(problem.border));
      EXPECT_LE(error_of(device, problem, entries[i]), allowed_of(problem, entries[i]));
      if (rows * columns > 1) {
        EXPECT_LE(error_of(device, problem, entries[i], true), allowed_of(problem, entries[i]));
      }
    }
  }
}

// Each operator in one kind of image; with RIDGE_SLOW=1 in all of them.
TEST_F(DeviceOperators, EveryOperator) {
  for (const Device& device : all) {
    std::size_t turn = 0;
    for (const Operation& operation : test::all_operators()) {
      for (std::size_t i = 0; i < (slow() ? std::size(kKinds) : 1); ++i, ++turn) {
        const Kind& kind = kKinds[turn % std::size(kKinds)];
        OperatorProblem problem;
        problem.chain = {operation};
        problem.input.channels = kind.channels;
        problem.input.depth = kind.depth;
        problem.border = kind.border;
        problem.constant = 77;
        check_ways(device, problem, turn / 2, {{1, 1}, {1, 19}, {23, 1}, {37, 141}});
      }
    }
  }
}

// Several words of a row a work-item: every size of them, in the middle of the image, at its edges and unaligned.
TEST_F(DeviceOperators, BytesByWords) {
  for (const Device& device : all) {
    for (const Kind& kind : {Kind{1, Depth::u8, Border::reflect_101}, Kind{3, Depth::u8, Border::constant},
                             Kind{2, Depth::u16, Border::wrap}}) {
      int seen = 0;
      for (const std::size_t columns : {19, 1300}) {
        OperatorProblem problem;
        problem.input = {.rows = 37, .columns = columns, .channels = kind.channels, .depth = kind.depth};
        problem.chain = {Separable{{0.1f, 0.2f, 0.4f, 0.2f}, {-0.2f, 0.5f, 0.3f, 0.3f, 0.1f}}};
        if (kind.channels == 1) problem.chain = {Gauss{1, 2}};
        problem.border = kind.border;
        problem.constant = 77;
        for (const Entry& entry : list_variants(device, problem)) {
          if (entry.candidate.variant != "stream words") continue;
          SCOPED_TRACE(device.id() + " " + entry.candidate.name() + " " + problem.input.text());
          ASSERT_EQ(entry.candidate.refusal, "");
          EXPECT_LE(error_of(device, problem, entry), test::allowed_error(problem));
          EXPECT_LE(error_of(device, problem, entry, true), test::allowed_error(problem));
          ++seen;
        }
      }
      EXPECT_EQ(seen, 8);
    }
  }
}

// Strips of 128 channels: in the middle, at the image's ends, in images smaller than what a strip looks at, unaligned.
TEST_F(DeviceOperators, BytesByStrips) {
  struct Filter {
    std::size_t channels;
    Border border;
    Operation operation;
  };
  const std::vector<float> triangle{1, 2, 3, 2, 1};
  std::vector<Filter> filters{{1, Border::reflect_101, Gauss{1, 2}},
                              {3, Border::reflect, Separable{{0.1f, 0.2f, 0.4f}, {-0.2f, 0.5f, 0.3f, 0.3f, 0.1f}}},
                              {2, Border::constant, Separable{triangle, triangle}}};
  if (slow()) {
    filters.push_back({1, Border::wrap, Box{4, 9}});
    filters.push_back({1, Border::replicate, Gauss{5}});
    filters.push_back({4, Border::wrap, Separable{{2e-4f}, {3.1f, -700.0f, 3001.7f}}});
  }
  for (const Device& device : all) {
    std::size_t turn = 0;
    for (const Filter& filter : filters) {
      OperatorProblem problem;
      problem.chain = {filter.operation};
      problem.border = filter.border;
      problem.constant = 77;
      for (const auto& [rows, columns] :
           std::vector<std::pair<std::size_t, std::size_t>>{{1, 1}, {2, 3}, {3, 131}, {40, 520}, {19, 517}, {70, 44}}) {
        problem.input = {.rows = rows, .columns = columns, .channels = filter.channels, .depth = Depth::u8};
        std::vector<Entry> entries = list_variants(device, problem);
        std::erase_if(entries, [](const Entry& entry) { return entry.candidate.variant != "strips"; });
        ASSERT_EQ(entries.size(), 3u);
        const Entry& entry = entries[turn++ % 3];
        SCOPED_TRACE(device.id() + " " + entry.candidate.name() + " " + to_string(filter.operation) + " " +
                     problem.input.text());
        ASSERT_EQ(entry.candidate.refusal, "");
        EXPECT_LE(error_of(device, problem, entry), test::allowed_error(problem));
        if (turn % 2 == 1) {
          EXPECT_LE(error_of(device, problem, entry, true), test::allowed_error(problem));
        }
      }
    }
  }
}

// Windows of bytes: in the middle, over the ends of rows, in images smaller than a window, unaligned; weights of one,
// two and three bytes, with a sign and without, results beyond 255 and below 0.
TEST_F(DeviceOperators, BytesByWindows) {
  struct Filter {
    std::size_t channels;
    Border border;
    Operation operation;
    const char* bytes;
  };
  const std::vector<float> triangle{1, 2, 3, 2, 1};
  std::vector<Filter> filters{{1, Border::reflect_101, Gauss{1, 2}, "2"},
                              {3, Border::constant, Convolve{2, 3, {0.1f, -0.7f, 0.3f, 0.33f, 1.4f, -0.01f}}, "2"}};
  if (slow()) {
    filters.push_back({1, Border::wrap, Box{9, 9}, "1"});
    filters.push_back({2, Border::replicate, Separable{triangle, triangle}, "1"});
    filters.push_back({3, Border::reflect, Box{5, 9}, "1"});
    filters.push_back({4, Border::wrap, Convolve{3, 3, {-1, -1, -1, -1, 9, -1, -1, -1, -1}}, "1"});
    filters.push_back({1, Border::reflect, Gauss{1.5, 3}, "2"});
    const std::vector<float> odd{0.1234567f,  -0.3141593f, 0.2718282f, 0.5772157f, 0.9142136f,
                                 -0.7320508f, 0.4494897f,  0.6457513f, -0.1622777f};
    filters.push_back({3, Border::constant, Convolve{3, 3, odd}, "3"});
  }
  for (const Device& device : all) {
    std::size_t turn = 0;
    for (const Filter& filter : filters) {
      OperatorProblem problem;
      problem.chain = {filter.operation};
      problem.border = filter.border;
      problem.constant = 77;
      for (const auto& [rows, columns] : std::vector<std::pair<std::size_t, std::size_t>>{
               {1, 1}, {2, 30}, {40, 400}, {19, 517}, {70, 44}, {3, 272}}) {
        problem.input = {.rows = rows, .columns = columns, .channels = filter.channels, .depth = Depth::u8};
        std::vector<Entry> entries = list_variants(device, problem);
        std::erase_if(entries, [](const Entry& entry) { return entry.candidate.variant != "windows"; });
        ASSERT_GE(entries.size(), 3u);
        const Entry& entry =
            entries[slow() ? turn % entries.size() : entries.size() - 2];  // one kernel serves all sizes
        ++turn;
        SCOPED_TRACE(device.id() + " " + entry.candidate.name() + " " + to_string(filter.operation) + " " +
                     problem.input.text());
        ASSERT_EQ(entry.candidate.refusal, "");
        EXPECT_THAT(entry.candidate.name(), testing::HasSubstr(std::string("bytes=") + filter.bytes));
        EXPECT_LE(error_of(device, problem, entry), allowed_of(problem, entry));
        if (turn % 3 == 1) {
          EXPECT_LE(error_of(device, problem, entry, true), allowed_of(problem, entry));
        }
      }
    }
  }
}

// Two products of matrices of bytes: in the middle, at the image's ends, in images smaller than what is looked at,
// unaligned; results beyond 255; as many products across and down as there can be.
TEST_F(DeviceOperators, BytesByBands) {
  struct Filter {
    std::size_t channels;
    Border border;
    Operation operation;
  };
  std::vector<Filter> filters{{1, Border::reflect_101, Gauss{1, 2}}, {3, Border::constant, Box{4, 9}}};
  if (slow()) {
    filters.push_back({3, Border::reflect_101, Gauss{5}});  // 45 channels to either side
    filters.push_back({1, Border::wrap, Gauss{5}});
    filters.push_back({2, Border::replicate, Separable{{1, 2, 3, 2}, {0.1f, 0.1f}}});
    filters.push_back({4, Border::reflect, Separable{{0.3f, 0.3141f, 0.4f}, {0.2f, 0.3f, 0.4f, 0.3f, 0.2f}}});
    filters.push_back({1, Border::reflect, Gauss{8, 24}});
  }
  for (const Device& device : all) {
    std::size_t turn = 0;
    for (const Filter& filter : filters) {
      OperatorProblem problem;
      problem.chain = {filter.operation};
      problem.border = filter.border;
      problem.constant = 77;
      for (const auto& [rows, columns] : std::vector<std::pair<std::size_t, std::size_t>>{
               {1, 1}, {2, 30}, {180, 212}, {19, 517}, {70, 44}, {3, 272}}) {
        problem.input = {.rows = rows, .columns = columns, .channels = filter.channels, .depth = Depth::u8};
        std::vector<Entry> entries = list_variants(device, problem);
        std::erase_if(entries, [](const Entry& entry) { return entry.candidate.variant != "bands"; });
        ASSERT_GE(entries.size(), 3u);
        const Entry& entry =
            entries[slow() ? turn % entries.size() : entries.size() - 2];  // one kernel serves all sizes
        ++turn;
        SCOPED_TRACE(device.id() + " " + entry.candidate.name() + " " + to_string(filter.operation) + " " +
                     problem.input.text());
        ASSERT_EQ(entry.candidate.refusal, "");
        EXPECT_LE(error_of(device, problem, entry), allowed_of(problem, entry));
        if (turn % 3 == 1) {
          EXPECT_LE(error_of(device, problem, entry, true), allowed_of(problem, entry));
        }
      }
    }
  }
}

// Bytes to half their size, in words and beside them.
TEST_F(DeviceOperators, BytesHalved) {
  for (const Device& device : all) {
    for (const std::size_t channels : {1, 2, 3, 4}) {
      for (const Interpolation interpolation : {Interpolation::bilinear, Interpolation::bicubic}) {
        if (channels % 2 == 0 && (interpolation == Interpolation::bilinear || !slow())) continue;
        int seen = 0;
        for (const auto& [rows, columns] :
             std::vector<std::pair<std::size_t, std::size_t>>{{2, 2}, {10, 38}, {14, 1208}}) {
          OperatorProblem problem;
          problem.input = {.rows = rows, .columns = columns, .channels = channels, .depth = Depth::u8};
          problem.chain = {Resize{.scale = 0.5, .interpolation = interpolation}};
          for (const Entry& entry : list_variants(device, problem)) {
            if (entry.candidate.variant != "halve") continue;
            ++seen;
            if (!slow() && entry.candidate.parameters.front().second != "2") continue;
            SCOPED_TRACE(device.id() + " " + entry.candidate.name() + " " + problem.input.text());
            EXPECT_LE(error_of(device, problem, entry), test::allowed_error(problem));
            EXPECT_LE(error_of(device, problem, entry, true), test::allowed_error(problem));
          }
        }
        EXPECT_EQ(seen, interpolation == Interpolation::bilinear ? 6 : 9);
      }
    }
  }
}

// A level of a pyramid of bytes: every border, odd sizes, less than a work-item has, unaligned.
TEST_F(DeviceOperators, PyramidsOfBytes) {
  for (const Device& device : all) {
    std::size_t turn = 0;
    for (const std::size_t channels : {1, 3, 2, 4}) {
      for (const Border border :
           {Border::reflect_101, Border::constant, Border::wrap, Border::reflect, Border::replicate}) {
        if (++turn % 4 != 1 && !slow()) continue;
        for (const auto& [rows, columns] : std::vector<std::pair<std::size_t, std::size_t>>{
                 {1, 1}, {2, 9}, {10, 8}, {11, 40}, {14, 1208}, {9, 1025}}) {
          OperatorProblem problem;
          problem.input = {.rows = rows, .columns = columns, .channels = channels, .depth = Depth::u8};
          problem.chain = {Pyramid{1}};
          problem.border = border;
          problem.constant = 77;
          std::vector<Entry> entries = list_variants(device, problem);
          std::erase_if(entries, [](const Entry& entry) { return entry.candidate.variant != "halve"; });
          ASSERT_EQ(entries.size(), 3u);
          const Entry& entry = entries[turn % 3];  // a kernel for every border and number of channels
          SCOPED_TRACE(device.id() + " " + entry.candidate.name() + " " + problem.input.text() + " " +
                       to_string(border));
          EXPECT_LE(error_of(device, problem, entry), test::allowed_error(problem));
          EXPECT_LE(error_of(device, problem, entry, true), test::allowed_error(problem));
        }
      }
    }
  }
}

// Bytes sampled anew: larger and a little smaller, fours at the rows' ends, rows at the image's, unaligned.
TEST_F(DeviceOperators, BytesResampled) {
  struct Sampling {
    std::size_t channels;
    Resize resize;
  };
  std::vector<Sampling> samplings{{1, {.scale = 1.6}}, {3, {.scale = 1.37, .interpolation = Interpolation::bicubic}}};
  if (slow()) {
    samplings.push_back({2, {.scale = 3.1}});
    samplings.push_back({4, {.scale = 0.8}});
    samplings.push_back({1, {.scale = 0.7, .interpolation = Interpolation::bicubic}});
    samplings.push_back({3, {.rows = 41, .columns = 700, .interpolation = Interpolation::area}});
  }
  for (const Device& device : all) {
    for (const Sampling& sampling : samplings) {
      int seen = 0;
      for (const auto& [rows, columns] :
           std::vector<std::pair<std::size_t, std::size_t>>{{1, 1}, {2, 5}, {31, 397}, {18, 64}}) {
        OperatorProblem problem;
        problem.input = {.rows = rows, .columns = columns, .channels = sampling.channels, .depth = Depth::u8};
        problem.chain = {sampling.resize};
        std::vector<Entry> entries = list_variants(device, problem);
        std::erase_if(entries, [](const Entry& entry) {
          return entry.candidate.variant != "resample" || !entry.candidate.refusal.empty();
        });
        if (entries.empty()) continue;
        // Rows that fill a device are another kernel for every size.
        const Entry& entry = entries[slow() ? static_cast<std::size_t>(seen) % entries.size() : entries.size() - 1];
        SCOPED_TRACE(device.id() + " " + entry.candidate.name() + " " + to_string(problem.chain.front()) + " " +
                     problem.input.text());
        EXPECT_LE(error_of(device, problem, entry), allowed_of(problem, entry));
        EXPECT_LE(error_of(device, problem, entry, true), allowed_of(problem, entry));
        ++seen;
      }
      EXPECT_GE(seen, 3);
    }
  }
}

// Images that grow, by products of matrices: smaller than what a product takes, several groups across and down,
// unaligned.
TEST_F(DeviceOperators, BytesBlended) {
  std::vector<std::pair<std::size_t, Resize>> samplings{{1, {.scale = 1.6}}, {3, {.scale = 1.37}}};
  if (slow()) {
    samplings.push_back({2, {.scale = 3.1}});
    samplings.push_back({4, {.rows = 41, .columns = 700}});
  }
  for (const Device& device : all) {
    for (const auto& [channels, resize] : samplings) {
      int seen = 0;
      for (const auto& [rows, columns] :
           std::vector<std::pair<std::size_t, std::size_t>>{{1, 1}, {2, 5}, {31, 397}, {18, 64}, {90, 50}}) {
        OperatorProblem problem;
        problem.input = {.rows = rows, .columns = columns, .channels = channels, .depth = Depth::u8};
        problem.chain = {resize};
        for (const Entry& entry : list_variants(device, problem)) {
          if (entry.candidate.variant != "blend" || !entry.candidate.refusal.empty()) continue;
          SCOPED_TRACE(device.id() + " " + entry.candidate.name() + " " + to_string(problem.chain.front()) + " " +
                       problem.input.text());
          EXPECT_LE(error_of(device, problem, entry), allowed_of(problem, entry));
          EXPECT_LE(error_of(device, problem, entry, true), allowed_of(problem, entry));
          ++seen;
        }
      }
      EXPECT_GE(seen, 3);
    }
  }
}

// Floats through a ring of rows: several groups across and down, windows beyond small images, unaligned.
TEST_F(DeviceOperators, FloatsByMarch) {
  struct Filter {
    std::size_t channels;
    Border border;
    Operation operation;
  };
  const auto any = [](std::size_t rows, std::size_t columns) {  // no column times a row
    Convolve kernel{rows, columns};
    for (std::size_t i = 0; i < rows * columns; ++i) kernel.kernel.push_back(0.01f * static_cast<float>(i * i % 17));
    return kernel;
  };
  std::vector<Filter> filters{
      {1, Border::reflect_101, Gauss{1, 2}}, {3, Border::constant, Box{4, 5}}, {1, Border::replicate, any(3, 4)}};
  if (slow()) {
    filters.push_back({1, Border::reflect, Gauss{5}});
    filters.push_back({3, Border::wrap, any(7, 7)});
    filters.push_back({3, Border::reflect_101, Box{31, 15}});
    filters.push_back({1, Border::wrap, Box{17, 25}});
    filters.push_back({2, Border::replicate, Separable{{0.1f, -0.2f, 0.4f}, {1, 2, 3, 2}}});
    filters.push_back({4, Border::reflect, Gauss{0.5, 1}});
  }
  for (const Device& device : all) {
    for (const Filter& filter : filters) {
      OperatorProblem problem;
      problem.chain = {filter.operation};
      problem.border = filter.border;
      problem.constant = 0.7;
      int seen = 0;
      for (const auto& [rows, columns] :
           std::vector<std::pair<std::size_t, std::size_t>>{{1, 1}, {3, 7}, {53, 1100}, {17, 129}}) {
        problem.input = {.rows = rows, .columns = columns, .channels = filter.channels, .depth = Depth::f32};
        std::vector<Entry> entries = list_variants(device, problem);
        std::erase_if(entries, [](const Entry& entry) { return entry.candidate.variant != "march"; });
        ASSERT_GE(entries.size(), 1u);
        // Rows that fill a device are another kernel for every size.
        const Entry& entry = entries[slow() ? static_cast<std::size_t>(seen) % entries.size() : entries.size() - 1];
        ++seen;
        SCOPED_TRACE(device.id() + " " + entry.candidate.name() + " " + problem.input.text());
        ASSERT_EQ(entry.candidate.refusal, "");
        EXPECT_LE(error_of(device, problem, entry), test::allowed_error(problem));
        EXPECT_LE(error_of(device, problem, entry, true), test::allowed_error(problem));
      }
      EXPECT_EQ(seen, 4);
    }
  }
}

// Bytes that grow by ratios of small numbers: rows and columns at the ends, several groups, a last period cut short,
// unaligned.
TEST_F(DeviceOperators, BytesByPhases) {
  struct Sampling {
    std::size_t channels;
    Resize resize;
    std::vector<std::pair<std::size_t, std::size_t>> sizes;
  };
  const auto to = [](std::size_t rows, std::size_t columns, Interpolation interpolation) {
    return Resize{.rows = rows, .columns = columns, .interpolation = interpolation};
  };
  std::vector<Sampling> samplings{{1, {.scale = 2}, {{1, 8}, {7, 1040}}},
                                  {3, {.scale = 2, .interpolation = Interpolation::bicubic}, {{3, 4}, {7, 516}}}};
  if (slow()) {  // long texts to compile
    for (const Interpolation interpolation : {Interpolation::bilinear, Interpolation::bicubic}) {
      samplings.push_back({1, {.scale = 1.6, .interpolation = interpolation}, {{5, 20}, {15, 1300}}});
      samplings.push_back({3, {.scale = 1.6, .interpolation = interpolation}, {{5, 20}, {35, 660}}});
    }
    samplings.push_back({4, to(9, 24, Interpolation::bilinear), {{6, 16}}});
    samplings.push_back({2, to(10, 32, Interpolation::bicubic), {{4, 24}}});
  }
  for (const Device& device : all) {
    for (const Sampling& sampling : samplings) {
      for (const auto& [rows, columns] : sampling.sizes) {
        OperatorProblem problem;
        problem.input = {.rows = rows, .columns = columns, .channels = sampling.channels, .depth = Depth::u8};
        problem.chain = {sampling.resize};
        std::vector<Entry> entries = list_variants(device, problem);
        std::erase_if(entries, [](const Entry& entry) { return entry.candidate.variant != "phases"; });
        ASSERT_EQ(entries.size(), 2u) << problem.input.text();
        const Entry& entry = entries[rows > 9 ? 1 : 0];
        SCOPED_TRACE(device.id() + " " + entry.candidate.name() + " " + to_string(problem.chain.front()) + " " +
                     problem.input.text());
        ASSERT_EQ(entry.candidate.refusal, "");
        EXPECT_LE(error_of(device, problem, entry), test::allowed_error(problem));
        EXPECT_LE(error_of(device, problem, entry, true), test::allowed_error(problem));
      }
    }
  }
}

// Floats that grow, strip by strip: smaller than the taps, several groups across and down, unaligned.
TEST_F(DeviceOperators, FloatsEnlarged) {
  std::vector<std::pair<std::size_t, Resize>> samplings{{1, {.scale = 1.6}},
                                                        {3, {.scale = 1.37, .interpolation = Interpolation::bicubic}}};
  if (slow()) {
    samplings.push_back({2, {.scale = 3.1, .interpolation = Interpolation::bicubic}});
    samplings.push_back({4, {.scale = 1, .interpolation = Interpolation::nearest}});
  }
  for (const Device& device : all) {
    for (const auto& [channels, resize] : samplings) {
      std::size_t seen = 0;
      for (const auto& [rows, columns] :
           std::vector<std::pair<std::size_t, std::size_t>>{{1, 1}, {2, 5}, {55, 397}, {110, 67}}) {
        OperatorProblem problem;
        problem.input = {.rows = rows, .columns = columns, .channels = channels, .depth = Depth::f32};
        problem.chain = {resize};
        std::vector<Entry> entries = list_variants(device, problem);
        std::erase_if(entries, [](const Entry& entry) { return entry.candidate.variant != "enlarge"; });
        ASSERT_EQ(entries.size(), 3u);
        const Entry& entry = entries[seen++ % 3];
        SCOPED_TRACE(device.id() + " " + entry.candidate.name() + " " + to_string(problem.chain.front()) + " " +
                     problem.input.text());
        ASSERT_EQ(entry.candidate.refusal, "");
        EXPECT_LE(error_of(device, problem, entry), test::allowed_error(problem));
        EXPECT_LE(error_of(device, problem, entry, true), test::allowed_error(problem));
      }
    }
  }
}

// Pixels of three bytes, word by word: less than a tile, several, rows that end within a word, unaligned.
TEST_F(DeviceOperators, ThreesTurned) {
  for (const Device& device : all) {
    for (const Operation& operation : std::vector<Operation>{Transpose{}, Rotate{90}, Rotate{270}}) {
      for (const auto& [rows, columns] :
           std::vector<std::pair<std::size_t, std::size_t>>{{1, 1}, {3, 2}, {64, 64}, {67, 130}, {129, 5}}) {
        OperatorProblem problem;
        problem.input = {.rows = rows, .columns = columns, .channels = 3, .depth = Depth::u8};
        problem.chain = {operation};
        std::vector<Entry> entries = list_variants(device, problem);
        std::erase_if(entries, [](const Entry& entry) { return entry.candidate.variant != "threes"; });
        ASSERT_EQ(entries.size(), 1u);
        SCOPED_TRACE(device.id() + " " + to_string(operation) + " " + problem.input.text());
        EXPECT_EQ(error_of(device, problem, entries[0]), 0);
        EXPECT_EQ(error_of(device, problem, entries[0], true), 0);
      }
    }
  }
}

TEST_F(DeviceOperators, LargeKernelsByTransforms) {
  for (const Device& device : all) {
    std::size_t turn = 0;
    for (const Kind& kind : kKinds) {
      OperatorProblem problem;
      problem.input = {.rows = 97, .columns = 131, .channels = kind.channels, .depth = kind.depth};
      problem.chain = {test::large_kernel(40, 31)};  // kernels are compiled for the window: one serves all
      problem.border = kind.border;
      problem.constant = 77;
      std::vector<Entry> entries = list_variants(device, problem);
      std::erase_if(entries,
                    [](const Entry& e) { return e.candidate.variant != "fft" || !e.candidate.refusal.empty(); });
      ASSERT_FALSE(entries.empty());
      const Entry& entry = entries.front();
      SCOPED_TRACE(device.id() + " " + entry.candidate.name() + " " + problem.input.text());
      EXPECT_LE(error_of(device, problem, entry, turn++ % 2 == 1), test::allowed_error(problem));
      if (!slow() && turn == 3) break;
    }
  }
}

TEST_F(DeviceOperators, GrayAndGradients) {
  for (const Device& device : all) {
    OperatorProblem problem;
    for (const Depth depth : {Depth::u8, Depth::u16, Depth::f32}) {
      problem.input = {.rows = 1, .columns = 1, .channels = depth == Depth::u16 ? 4u : 3u, .depth = depth};
      problem.chain = {Gray{}};
      check_ways(device, problem, 0, {{1, 1}, {5, 131}});
      problem.input.channels = 1;
      problem.chain = {Gradient{depth == Depth::u8 ? GradientKind::scharr : GradientKind::sobel}};
      check_ways(device, problem, 0, {{1, 3}, {20, 47}, {9, 301}});
    }
  }
}

TEST_F(DeviceOperators, ChainsFusedAndNot) {
  for (const Device& device : all) {
    for (const char* text :
         {"gauss 1 | resize 0.5 | gray", "gray | transpose", "median 1 | gauss 0.8 2", "gray | gradient",
          "rotate 90 | gray | integral", "gray | rotate 20", "cross-bilateral 1 2 30 | box 3"}) {
      OperatorProblem problem;
      problem.input = {.rows = 50, .columns = 61, .channels = 3, .depth = Depth::u8};
      problem.chain = parse_chain(text);
      const std::vector<Entry> entries = list_variants(device, problem);
      EXPECT_GE(entries.size(), 2u) << text;
      bool fused = false;
      std::string names;
      for (const Entry& entry : entries) {
        names += fmt::format("\n{} [{}]", entry.candidate.name(), entry.candidate.refusal);
        if (!entry.candidate.refusal.empty() || (!slow() && fused)) continue;
        SCOPED_TRACE(device.id() + " " + text + " " + entry.candidate.name());
        fused = fused || entry.candidate.name().find(" + ") != std::string::npos;
        // A value near a half may be rounded the other way between two operators, and moves what follows by a weight.
        EXPECT_LE(error_of(device, problem, entry), 1.01);
      }
      EXPECT_TRUE(fused) << device.id() << ": " << text << names;
    }
  }
}

// Wrap needs the whole of what came before; windows larger than local memory go in two passes.
TEST_F(DeviceOperators, RefusalsAreInWords) {
  OperatorProblem problem;
  problem.input = {.rows = 6, .columns = 40, .channels = 4, .depth = Depth::f32};
  problem.chain = {Gauss{40}};
  bool refused = false, two_passes = false;
  for (const Entry& entry : list_variants(all.front(), problem)) {
    refused = refused || entry.candidate.refusal.find("local memory") != std::string::npos;
    if (entry.candidate.variant != "two passes") continue;
    two_passes = true;
    EXPECT_LE(error_of(all.front(), problem, entry), test::allowed_error(problem));
  }
  EXPECT_TRUE(refused);
  EXPECT_TRUE(two_passes);
  problem.chain = {Gauss{1}, Median{1}};
  problem.border = Border::wrap;
  for (const Entry& entry : list_variants(all.front(), problem)) EXPECT_EQ(entry.candidate.variant, "one by one");
}

TEST_F(DeviceOperators, PlansRunAndSayWhatWasFused) {
  for (const Device& device : all) {
    OperatorProblem problem;
    problem.input = {.rows = 24, .columns = 33, .channels = 3, .depth = Depth::u8};
    problem.chain = parse_chain("gauss 0.7 1 | gray");
    const OperatorPlan plan(device, problem, {.effort = Effort::quick, .use_wisdom = false, .save_wisdom = false});
    EXPECT_THAT(plan.explain(), testing::HasSubstr("gauss 0.7 1 + gray"));
    const Image in = test::random_image(problem.input, 1);
    Image out(output_shape(problem));
    plan.run(in, out);
    EXPECT_LE(test::worst_difference(out, reference(problem, plain_of(in), {})), 1.01);
    EXPECT_FALSE(plan.kernels().empty());
  }
}

}  // namespace
}  // namespace ridge::image
