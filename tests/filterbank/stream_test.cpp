// Tests of streams: pushes of any size, saved states, replaced weights, holes and starts in the middle.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support.hpp"

namespace ridge::filterbank::test {
namespace {

using testing::HasSubstr;

Problem small(Samples samples = Samples::int8) {
  return {.channels = 12, .taps = 5, .stations = 2, .samples = samples};
}

Problem oversampled() {
  return {.channels = 16, .taps = 3, .stations = 2, .samples = Samples::float32, .oversampling = {8, 7}};
}

void append(Stream& stream, std::span<const std::byte> in, std::size_t each, Spectra& all) {
  Spectra out(stream.due(in.size()) * each);
  ASSERT_EQ(stream.push(in, out) * each, out.size());
  all.insert(all.end(), out.begin(), out.end());
}

TEST(Stream, SplitAtEveryOffset) {
  for (const Problem& problem : {small(), small(Samples::int4), small(Samples::int16), oversampled()}) {
    for (const auto& candidate : candidates(host(), problem)) {
      if (!candidate.refusal.empty() || candidate.variant == "reference") continue;
      const Plan plan = plan_of(problem, candidate.name());
      const Bytes bytes = noise(problem, problem.channels * 9);
      const Spectra whole = run(plan, bytes);
      for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
        Stream stream(plan);
        Spectra parts;
        append(stream, std::span(bytes).first(cut), plan.spectrum_size(), parts);
        append(stream, std::span(bytes).subspan(cut), plan.spectrum_size(), parts);
        ASSERT_TRUE(same_bits(parts, whole)) << candidate.name() << " cut at byte " << cut;
      }
    }
  }
}

TEST(Stream, AnyNumberOfPiecesOfAnyLength) {
  for (const Problem& problem : {small(), oversampled(), Problem{.channels = 64, .taps = 16, .stations = 3}}) {
    const Plan plan = plan_of(problem);
    const Bytes bytes = noise(problem, problem.channels * 100);
    const Spectra whole = run(plan, bytes);
    for (const std::size_t most : {std::size_t{7}, std::size_t{300}, bytes.size() / 3}) {
      std::mt19937 random(static_cast<unsigned>(most));
      Stream stream(plan);
      Spectra parts;
      for (std::size_t at = 0; at < bytes.size();) {
        const std::size_t now = std::min<std::size_t>(random() % (most + 1), bytes.size() - at);
        append(stream, std::span(bytes).subspan(at, now), plan.spectrum_size(), parts);
        at += now;
      }
      EXPECT_TRUE(same_bits(parts, whole)) << most;
      EXPECT_EQ(stream.bytes(), bytes.size());
      EXPECT_EQ(stream.spectra() * plan.spectrum_size(), whole.size());
    }
  }
}

TEST(Stream, ThreadsDoNotChangeABit) {
  Problem problem{.channels = 32, .taps = 8, .stations = 3, .threads = 1};
  const Bytes bytes = noise(problem, 32 * 300);
  const Spectra one = run(plan_of(problem), bytes);
  for (const std::size_t threads : {2, 5}) {
    problem.threads = threads;
    EXPECT_TRUE(same_bits(run(plan_of(problem), bytes), one)) << threads;
  }
}

// A stream of zeros gives the same zeros, including their signs, however it is cut.
TEST(Stream, ZerosGiveZerosForAnyPieces) {
  const Problem problem = oversampled();
  const Plan plan = plan_of(problem);
  Bytes bytes = noise(problem, problem.channels * 9);
  std::fill(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() / 2), std::byte{0});
  const Spectra whole = run(plan, bytes);
  for (std::size_t cut = 0; cut <= bytes.size(); cut += 8) {
    Stream stream(plan);
    Spectra parts;
    append(stream, std::span(bytes).first(cut), plan.spectrum_size(), parts);
    append(stream, std::span(bytes).subspan(cut), plan.spectrum_size(), parts);
    ASSERT_TRUE(same_bits(parts, whole)) << cut;
  }
}

TEST(Stream, WeightsChangeAtASample) {
  for (const Problem& problem : {small(), oversampled()}) {
    Problem other = problem;
    other.weights = design(problem.channels, problem.taps, {.window = Window::hamming});
    const Plan plan = plan_of(problem);
    const Bytes bytes = noise(problem, problem.channels * 20);
    const Spectra before = run(plan, bytes), after = run(plan_of(other), bytes);
    for (const std::uint64_t sample : {std::uint64_t{0}, 5 * plan.hop(), 5 * plan.hop() + 1, 6 * plan.hop() - 1}) {
      Stream stream(plan);
      stream.replace_weights(other.weights, sample);
      Spectra out;
      append(stream, std::span(bytes).first(100), plan.spectrum_size(), out);
      append(stream, std::span(bytes).subspan(100), plan.spectrum_size(), out);
      // The first spectrum whose newest sample, (t + 1) * hop - 1, is not before it.
      const std::size_t changed = static_cast<std::size_t>(sample / plan.hop()) * plan.spectrum_size();
      Spectra wanted(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(changed));
      wanted.insert(wanted.end(), after.begin() + static_cast<std::ptrdiff_t>(changed), after.end());
      EXPECT_TRUE(same_bits(out, wanted)) << sample;
    }
  }
}

TEST(Stream, LaterChangesReplacePendingOnes) {
  const Problem problem = small();
  const Plan plan = plan_of(problem);
  const Bytes bytes = noise(problem, problem.channels * 20);
  const auto hamming = design(12, 5, {.window = Window::hamming}),
             gaussian = design(12, 5, {.window = Window::gaussian});
  Stream stream(plan), again(plan);
  stream.replace_weights(hamming, 4 * 12);
  stream.replace_weights(gaussian, 9 * 12);
  again.replace_weights(gaussian, 7 * 12);
  again.replace_weights(gaussian, 12 * 12);
  again.replace_weights(hamming, 4 * 12);  // replaces both
  again.replace_weights(gaussian, 9 * 12);
  Spectra a, b;
  append(stream, bytes, plan.spectrum_size(), a);
  append(again, bytes, plan.spectrum_size(), b);
  EXPECT_TRUE(same_bits(a, b));
  EXPECT_THROW(stream.replace_weights(hamming, 0), Error);
  EXPECT_THROW(stream.replace_weights(std::vector<double>(7), 1000000), Error);
}

TEST(Stream, ContinuesExactlyAfterSaveAndRestore) {
  for (const Problem& problem : {small(), oversampled()}) {
    const Plan plan = plan_of(problem);
    const Bytes bytes = noise(problem, problem.channels * 12);
    const auto later = design(problem.channels, problem.taps, {.window = Window::blackman});
    Stream whole(plan);
    whole.replace_weights(later, 8 * plan.hop());
    Spectra wanted;
    append(whole, bytes, plan.spectrum_size(), wanted);
    for (std::size_t cut = 0; cut <= bytes.size(); cut += 13) {
      Stream first(plan);
      first.replace_weights(later, 8 * plan.hop());
      Spectra out;
      append(first, std::span(bytes).first(cut), plan.spectrum_size(), out);
      const std::string state = first.save();
      EXPECT_EQ(variant_of_state(state), plan.variant());
      Stream second(plan);
      second.restore(state);
      EXPECT_EQ(second.bytes(), cut);
      append(second, std::span(bytes).subspan(cut), plan.spectrum_size(), out);
      ASSERT_TRUE(same_bits(out, wanted)) << cut;
    }
  }
}

// A restored stream continues like the saved one: held samples, current and pending weights, delays.
TEST(Stream, RestoringReplacesTheWholeStateOfAUsedStream) {
  Problem tracked = small();
  tracked.delays = {.wanted = true, .frequency = 0.3, .longest = 9};
  for (const Problem& problem : {small(), oversampled(), tracked}) {
    const Plan plan = plan_of(problem);
    const std::size_t each = problem.polarizations * problem.stations;
    const Bytes bytes = noise(problem, problem.channels * 12), other = noise(problem, problem.channels * 31);
    const auto later = design(problem.channels, problem.taps, {.window = Window::blackman});
    const auto begin = [&](Stream& stream) {
      stream.replace_weights(later, 8 * plan.hop());
      if (!problem.delays.wanted) return;
      stream.set_delays(0, std::vector<double>(each, 1.25));
      stream.set_delays(10 * plan.hop(), std::vector<double>(each, 7.5));
    };
    Stream whole(plan);
    begin(whole);
    Spectra wanted;
    append(whole, bytes, plan.spectrum_size(), wanted);
    for (const std::size_t cut : {std::size_t{0}, bytes.size() / 3 + 1, bytes.size() / 2}) {
      Stream first(plan);
      begin(first);
      Spectra out, waste;
      append(first, std::span(bytes).first(cut), plan.spectrum_size(), out);
      Stream used(plan);
      if (problem.delays.wanted) used.set_delays(3, std::vector<double>(each, 4.0));
      used.replace_weights(design(problem.channels, problem.taps, {.window = Window::gaussian}), 2 * plan.hop());
      used.replace_weights(later, 100 * plan.hop());  // still pending
      used.start_at(0);
      // Small pushes too, which leave unused samples in the buffer.
      for (std::size_t at = 0; at < other.size(); at += 7)
        append(used, std::span(other).subspan(at, std::min<std::size_t>(7, other.size() - at)), plan.spectrum_size(),
               waste);
      used.restore(first.save());
      EXPECT_EQ(used.bytes(), cut);
      EXPECT_EQ(used.spectra(), first.spectra());
      append(used, std::span(bytes).subspan(cut), plan.spectrum_size(), out);
      ASSERT_TRUE(same_bits(out, wanted)) << cut;
    }
  }
}

// A state only restores to the problem it was saved from.
TEST(Stream, AStateOfAnyOtherProblemIsRefused) {
  const Problem base{.channels = 8, .taps = 4, .stations = 2, .polarizations = 2, .samples = Samples::int8};
  std::vector<std::pair<const char*, Problem>> others;
  const auto other = [&](const char* what, auto change) {
    Problem changed = base;
    change(changed);
    others.emplace_back(what, changed);
  };
  other("channels", [](Problem& p) { p.channels = 16; });
  other("taps", [](Problem& p) { p.taps = 5; });
  other("stations", [](Problem& p) { p.stations = 4; });
  other("polarizations", [](Problem& p) { p.polarizations = 1, p.stations = 4; });
  other("samples", [](Problem& p) { p.samples = Samples::int16; });
  other("oversampling", [](Problem& p) { p.oversampling = {2, 1}; });
  other("input_block", [](Problem& p) { p.input_block = 16; });
  other("centred", [](Problem& p) { p.centred = true; });
  other("order", [](Problem& p) { p.order = Order::channel, p.output_times = 4; });
  other("delays", [](Problem& p) { p.delays = {.wanted = true, .frequency = 0, .longest = 8}; });
  const auto reference = [](const Problem& problem) { return plan_of(problem, "reference"); };
  const std::string state = Stream(reference(base)).save();
  Stream(reference(base)).restore(state);
  for (const auto& [what, problem] : others) {
    Stream stream(reference(problem));
    EXPECT_THROW(stream.restore(state), Error) << what;
    Stream back(reference(base));
    EXPECT_THROW(back.restore(stream.save()), Error) << what;
  }
}

TEST(Stream, DamagedAndForeignStatesAreRefused) {
  const Plan plan = plan_of(small());
  Stream stream(plan);
  const Bytes bytes = noise(small(), 12 * 7 + 5);
  Spectra out;
  append(stream, bytes, plan.spectrum_size(), out);
  const std::string state = stream.save();
  Stream other(plan_of({.channels = 8, .taps = 5, .stations = 2}));
  EXPECT_THROW(other.restore(state), Error);
  for (std::size_t length = 0; length < state.size(); length += 7) {
    Stream fresh(plan);
    EXPECT_THROW(fresh.restore(std::string_view(state).substr(0, length)), Error);
    EXPECT_EQ(fresh.bytes(), 0u);
  }
  std::mt19937 random(5);
  for (int i = 0; i < 300; ++i) {
    std::string damaged = state;
    damaged[random() % damaged.size()] ^= static_cast<char>(1 + random() % 255);
    Stream fresh(plan);
    EXPECT_THROW(fresh.restore(damaged), Error);
  }
}

TEST(Stream, MemoryIsBoundedByTheFilter) {
  const Problem problem{.channels = 16, .taps = 4, .stations = 2};
  const Plan plan = plan_of(problem);
  const Bytes bytes = noise(problem, 16 * 50);
  Stream stream(plan);
  Spectra out(stream.due(bytes.size()) * plan.spectrum_size() + plan.spectrum_size());
  std::size_t most = 0;
  for (int i = 0; i < 50; ++i) {
    for (std::size_t at = 0; at < bytes.size(); at += 100) {
      stream.push(std::span(bytes).subspan(at, std::min<std::size_t>(100, bytes.size() - at)), out);
      most = std::max(most, stream.save().size());
    }
  }
  // Four rows of two stations of 64 bytes, the weights, and one more row.
  EXPECT_LT(most, 2u * (5 + 1) * 64 + 64 * 8 + 400);
}

TEST(Stream, StartedAnywhereItGivesTheSameSpectra) {
  for (const Problem& problem :
       {small(), oversampled(), Problem{.channels = 8, .taps = 4, .stations = 3, .input_block = 20}}) {
    const Plan plan = plan_of(problem);
    const Geometry g = resolve(problem);
    const Bytes bytes = noise(problem, problem.channels * 40);
    const Spectra whole = run(plan, bytes);
    for (std::size_t first = 0; first < whole.size() / plan.spectrum_size(); ++first) {
      Stream stream(plan);
      const std::uint64_t sample = stream.start_at(first);
      EXPECT_EQ(sample % g.block, 0u);
      Spectra out;
      const auto rest = std::span(bytes).subspan(sample / g.block * g.frame_bytes());
      append(stream, rest.first(rest.size() / 2), plan.spectrum_size(), out);
      append(stream, rest.subspan(rest.size() / 2), plan.spectrum_size(), out);
      const Spectra wanted(whole.begin() + static_cast<std::ptrdiff_t>(first * plan.spectrum_size()), whole.end());
      ASSERT_TRUE(same_bits(out, wanted)) << first;
    }
  }
  Stream begun(plan_of(small()));
  const Bytes one(1);
  Spectra none;
  begun.push(one, none);
  EXPECT_THROW(begun.start_at(3), Error);
}

// A hole flags exactly the spectra that depend on its samples.
TEST(Stream, HolesFlagTheSpectraTheyTouch) {
  for (const Problem& problem : {Problem{.channels = 8, .taps = 3, .polarizations = 1},
                                 Problem{.channels = 8, .taps = 3, .polarizations = 1, .oversampling = {8, 7}}}) {
    Problem ones = problem;
    ones.weights.assign(24, 1.0);
    const Plan plan = plan_of(ones);
    for (std::uint64_t at = 0; at < 60; at += 7) {
      Bytes bytes(2 * 200);
      const Spectra silent = run(plan, bytes);
      bytes[2 * at] = bytes[2 * (at + 4)] = std::byte{1};
      const Spectra touched = run(plan, bytes);
      const std::vector<Hole> holes{{at, 5}};
      const auto ranges = flagged(ones, holes);
      ASSERT_EQ(ranges.size(), 1u);
      for (std::size_t t = 0; t < silent.size() / 8; ++t) {
        const bool differs = std::abs(touched[t * 8] - silent[t * 8]) > 0;
        EXPECT_EQ(differs, t >= ranges[0].first && t < ranges[0].end) << at << " spectrum " << t;
      }
    }
  }
  const std::vector<Hole> joined{{0, 1}, {10, 1}, {1000, 1}};
  EXPECT_EQ(flagged({.channels = 8, .taps = 3}, joined).size(), 2u);
}

// A run may be resumed with any of these variants.
TEST(Stream, FastVariantsAgreeToTheLastBit) {
  const Problem problem{.channels = 40, .taps = 9, .stations = 2};
  const Bytes bytes = noise(problem, 40 * 70);
  const Spectra fused = run(plan_of(problem), bytes);
  for (const char* variant : {"simd_channels", "separate"}) {
    EXPECT_TRUE(same_bits(run(plan_of(problem, variant), bytes), fused)) << variant;
  }
}

TEST(Stream, AShortOutputConsumesNothing) {
  const Plan plan = plan_of(small());
  Stream stream(plan);
  const Bytes bytes = noise(small(), 12 * 4);
  Spectra out(plan.spectrum_size() * 3);
  try {
    stream.push(bytes, out);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("4 spectra"));
  }
  EXPECT_EQ(stream.bytes(), 0u);
  EXPECT_EQ(stream.spectra(), 0u);
}

}  // namespace
}  // namespace ridge::filterbank::test
