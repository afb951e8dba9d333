// Graphs of stages: order and values of blocks, overlap, several workers, errors, cancellation, transfers.
#include <ridge/graph.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <numeric>
#include <thread>

#include <ridge/transpose.hpp>

#include "device/opencl_support.hpp"

namespace {

using ridge::graph::Graph;
using ridge::graph::Report;
using ridge::graph::Step;
using ridge::test::thrown_error;

// Block k holds 1 + (7 k mod 11) numbers k, k + 1, ...
std::size_t count_of(std::uint64_t block) { return 1 + 7 * block % 11; }
Graph::Edge numbers(Graph& graph, std::uint64_t blocks, ridge::graph::StageOptions options = {}) {
  options.bytes = 11 * sizeof(int);
  return graph.stage("numbers", {}, options, [blocks](Step& step) -> std::size_t {
    if (step.number == blocks) return 0;
    step.out->filled = count_of(step.number) * sizeof(int);
    const auto out = step.out->host<int>();
    std::iota(out.begin(), out.end(), static_cast<int>(step.number));
    return out.size_bytes();
  });
}

// Sums of the values f(x) of each block.
template <class F>
std::vector<int> expected(std::uint64_t blocks, F f) {
  std::vector<int> sums(blocks);
  for (std::uint64_t k = 0; k < blocks; ++k) {
    for (std::size_t i = 0; i < count_of(k); ++i) sums[k] += f(static_cast<int>(k + i));
  }
  return sums;
}

void collect(Graph& graph, Graph::Edge from, std::vector<int>& sums) {
  graph.stage("collect", {from}, {}, [&sums](Step& step) -> std::size_t {
    const auto in = step.in[0]->host<int>();
    sums.push_back(std::accumulate(in.begin(), in.end(), 0));
    return 0;
  });
}

ridge::graph::Work squares(int offset = 0) {
  return [offset](Step& step) {
    const auto in = step.in[0]->host<int>();
    step.out->filled = step.in[0]->filled;
    for (std::size_t i = 0; i < in.size(); ++i) step.out->host<int>()[i] = in[i] * in[i] + offset;
    return step.in[0]->filled;
  };
}

TEST(Graph, BlocksPassEveryStageInOrder) {
  for (const std::uint64_t blocks : {0, 1, 2, 3, 37}) {
    for (const std::size_t slots : {1, 2, 5}) {
      Graph graph;
      const auto source = numbers(graph, blocks, {.blocks = slots});
      const auto squared =
          graph.stage("square", {source}, {.bytes = 44, .blocks = slots, .in_caller = true}, squares());
      std::vector<int> plain, square, joined;
      collect(graph, source, plain);
      collect(graph, squared, square);
      graph.stage("join", {squared, source}, {}, [&](Step& step) -> std::size_t {
        joined.push_back(step.in[0]->host<int>()[0] - step.in[1]->host<int>()[0]);
        return 0;
      });
      const Report report = graph.run();
      EXPECT_EQ(plain, expected(blocks, [](int x) { return x; }));
      EXPECT_EQ(square, expected(blocks, [](int x) { return x * x; }));
      ASSERT_EQ(joined.size(), blocks);
      for (std::size_t k = 0; k < blocks; ++k) EXPECT_EQ(joined[k], static_cast<int>(k * k - k));
      ASSERT_EQ(report.workers.size(), 5u);
      for (const auto& worker : report.workers) EXPECT_EQ(worker.blocks, blocks) << worker.stage;
      EXPECT_FALSE(report.cancelled);
    }
  }
}

TEST(Graph, StagesMaySkipBlocksAndFinish) {
  Graph graph;
  const auto source = numbers(graph, 10);
  std::vector<std::string> got;
  const auto threes =
      graph.stage("threes", {source}, {.finish = true}, [sum = 0, held = 0](Step& step) mutable -> std::size_t {
        if (!step.ended) sum += static_cast<int>(step.in[0]->filled / 4), ++held;
        if (held < (step.ended ? 1 : 3)) return 0;
        step.out->value = std::to_string(std::exchange(sum, 0));
        held = 0;
        return 1;
      });
  graph.stage("keep", {threes}, {}, [&](Step& step) -> std::size_t {
    got.push_back(std::any_cast<std::string>(step.in[0]->value));
    return 0;
  });
  graph.run();
  std::vector<std::string> wanted;
  for (std::uint64_t k = 0; k < 10; k += 3) {
    std::size_t sum = 0;
    for (std::uint64_t i = k; i < std::min<std::uint64_t>(10, k + 3); ++i) sum += count_of(i);
    wanted.push_back(std::to_string(sum));
  }
  EXPECT_EQ(got, wanted);
}

// The last stage holds block 0 until the first one has begun block 2: a graph without overlap would wait for ever.
TEST(Graph, SuccessiveBlocksAreInDifferentStagesAtTheSameTime) {
  Graph graph;
  std::atomic<std::uint64_t> begun = 0, squared = 0;
  bool overlapped = false;
  const auto source = graph.stage("source", {}, {.bytes = 4}, [&](Step& step) -> std::size_t {
    begun = step.number;
    return step.number < 6 ? 4 : 0;
  });
  const auto middle = graph.stage("middle", {source}, {.bytes = 4}, [&](Step& step) -> std::size_t {
    squared = step.number;
    return 4;
  });
  graph.stage("sink", {middle}, {}, [&](Step& step) -> std::size_t {
    for (int i = 0; i < 10000 && step.number == 0 && !overlapped; ++i) {
      overlapped = begun >= 2 && squared >= 1;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return 0;
  });
  graph.run();
  EXPECT_TRUE(overlapped);
}

TEST(Graph, SeveralWorkersKeepTheOrderAndASlowOneIsDropped) {
  Graph graph;
  const auto source = numbers(graph, 120);
  const ridge::Device host = ridge::host();
  const auto work = squares();
  const auto squared =
      graph.stage("square", {source}, {.bytes = 44, .devices = {host, host, host}}, [&](Step& step) -> std::size_t {
        std::this_thread::sleep_for(std::chrono::milliseconds(step.worker == 1 ? 120 : 4));
        return work(step);
      });
  std::vector<int> sums;
  collect(graph, squared, sums);
  const Report report = graph.run();
  EXPECT_EQ(sums, expected(120, [](int x) { return x * x; }));
  EXPECT_EQ(report.workers[1].blocks + report.workers[2].blocks + report.workers[3].blocks, 120u);
  EXPECT_NE(report.workers[2].note.find("dropped after"), std::string::npos) << report.text();
  EXPECT_EQ(report.workers[1].note + report.workers[3].note, "");
}

TEST(Graph, AnExceptionEndsEveryStage) {
  for (const std::string bad : {"numbers", "square", "sink"}) {
    Graph graph;
    const auto fails = [&bad](const std::string& here, Step& step) -> std::size_t {
      if (here == bad && step.number == 5) throw ridge::Error(ridge::ErrorKind::io, "no space in " + here);
      return 4;
    };
    const auto source = graph.stage("numbers", {}, {.bytes = 4}, [=](Step& step) { return fails("numbers", step); });
    const auto middle =
        graph.stage("square", {source}, {.bytes = 4}, [=](Step& step) { return fails("square", step); });
    graph.stage("sink", {middle}, {}, [=](Step& step) { return fails("sink", step); });
    EXPECT_STREQ(thrown_error([&] { graph.run(); }).what(), ("no space in " + bad).c_str());
    EXPECT_EQ(graph.failed_stage(), bad);
  }
}

TEST(Graph, CancelStopsAnEndlessSourceAndLeavesABlockedOne) {
  Graph graph;
  const auto open = std::make_shared<std::atomic<bool>>(false);
  const auto endless = graph.stage("endless", {}, {.bytes = 4}, [](Step&) -> std::size_t { return 4; });
  const auto blocked = graph.stage("blocked", {}, {.bytes = 4, .may_block = true}, [open](Step&) -> std::size_t {
    while (!*open) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return 0;
  });
  graph.stage("unused", {blocked}, {}, [](Step&) -> std::size_t { return 0; });
  std::uint64_t seen = 0;
  graph.stage("sink", {endless}, {}, [&](Step& step) -> std::size_t {
    seen = step.number + 1;
    if (step.number == 9) graph.cancel();
    return 0;
  });
  const Report report = graph.run();
  EXPECT_TRUE(report.cancelled);
  EXPECT_EQ(seen, 10u);
  EXPECT_NE(report.text().find("cancelled"), std::string::npos);
  *open = true;
}

TEST(Graph, RefusesWhatCannotRun) {
  Graph graph;
  const auto nothing = [](Step&) -> std::size_t { return 0; };
  const auto said = [&](const std::function<void()>& call) { return std::string(thrown_error(call).what()); };
  EXPECT_EQ(said([&] { graph.stage("a", {{3}}, {}, nothing); }),
            "graph: stage a: input 3 is not an edge of this graph");
  EXPECT_EQ(said([&] { graph.stage("a", {}, {.blocks = 0}, nothing); }),
            "graph: stage a needs at least 1 output block, got 0");
  EXPECT_EQ(said([&] {
              graph.stage("a", {}, {.devices = {ridge::host(), ridge::host()}}, nothing);
            }),
            "graph: stage a has 2 devices: needs an input, and neither finish nor in_caller");
  const auto source = graph.stage("a", {}, {.bytes = 4, .in_caller = true}, [](Step&) -> std::size_t { return 5; });
  EXPECT_EQ(said([&] { graph.stage("b", {source}, {.in_caller = true}, nothing); }),
            "graph: stages a and b cannot both run in the caller");
  EXPECT_EQ(said([&] { graph.run(); }),
            "graph: stage a returned 5 bytes, but its output blocks have 4: raise StageOptions::bytes");
  EXPECT_EQ(said([&] { graph.run(); }), "graph: run() was called before: make another graph");
  EXPECT_EQ(said([&] { graph.stage("c", {}, {}, nothing); }),
            "graph: stage c was added after run() or explain(): add it before");
}

TEST(Graph, TheScheduleIsATableAndAChart) {
  Graph graph;
  std::vector<int> sums;
  collect(graph, graph.stage("a<b", {numbers(graph, 5)}, {.bytes = 44}, squares()), sums);
  EXPECT_NE(graph.explain().find("3 x 44 B"), std::string::npos) << graph.explain();
  const Report report = graph.run();
  const std::string chart = report.svg(), table = report.text();
  std::size_t bars = 0;
  for (std::size_t at = chart.find("<rect class=\"f"); at != std::string::npos;
       at = chart.find("<rect class=\"f", at + 1))
    ++bars;
  EXPECT_EQ(bars, 15u);
  EXPECT_NE(chart.find("a&lt;b, host"), std::string::npos);
  EXPECT_EQ(chart.find("a<b"), std::string::npos);
  EXPECT_NE(table.find(report.slowest().stage + " on host is the busiest"), std::string::npos) << table;
  for (const auto& worker : report.workers) {
    for (std::size_t k = 0; k < worker.spans.size(); ++k) {
      EXPECT_LE(worker.spans[k].begin, worker.spans[k].end);
      EXPECT_LE(k > 0 ? worker.spans[k - 1].end : 0, worker.spans[k].begin);
    }
  }
}

class GraphDevice : public ridge::test::NeedsAccelerator<> {};

constexpr const char* kAdd =
    "KERNEL void add(GLOBAL const int* in, GLOBAL int* out, int value) {\n"
    "  out[GLOBAL_ID(0)] = in[GLOBAL_ID(0)] + value;\n}\n";

// host -> device -> device -> host, and a device beside the host in one stage.
TEST_F(GraphDevice, BlocksMoveBetweenHostAndDevices) {
  for (const ridge::Device& device : ridge::test::accelerators()) {
    const auto kernel = device.compile({.name = "add", .text = kAdd}).kernel("add");
    const auto add = [kernel](int value) -> ridge::graph::Work {
      return [kernel, value](Step& step) {
        const std::size_t count = step.in[0]->filled / sizeof(int);
        step.queue->launch(kernel, {.groups = {count}, .items = {1}}, {step.in[0]->buffer, step.out->buffer, value});
        return step.in[0]->filled;
      };
    };
    Graph graph;
    const auto source = numbers(graph, 90);
    const auto once = graph.stage("add 1", {source}, {.bytes = 44, .devices = {device}}, add(1));
    const auto twice = graph.stage("add 2", {once}, {.bytes = 44, .devices = {device}}, add(2));
    const auto on_device = add(4);
    const auto on_host = squares();
    const auto mixed = graph.stage("both", {twice}, {.bytes = 44, .devices = {ridge::host(), device}}, [&](Step& step) {
      step.out->value = step.worker;
      return step.queue != nullptr ? on_device(step) : on_host(step);
    });
    std::vector<int> first, third;
    collect(graph, once, first);
    graph.stage("check", {mixed}, {}, [&](Step& step) -> std::size_t {
      int sum = 0;
      const bool squared = std::any_cast<std::size_t>(step.in[0]->value) == 0;
      for (const int x : step.in[0]->host<int>()) sum += squared ? static_cast<int>(std::lround(std::sqrt(x))) : x - 4;
      third.push_back(sum);
      return 0;
    });
    EXPECT_NE(graph.explain().find("download add 1"), std::string::npos) << graph.explain();
    const Report report = graph.run();
    EXPECT_EQ(first, expected(90, [](int x) { return x + 1; })) << device.id();
    EXPECT_EQ(third, expected(90, [](int x) { return x + 3; })) << device.id();
    EXPECT_EQ(report.workers[1].blocks, 90u);
    EXPECT_EQ(report.workers[1].spans.size(), 90u);
    EXPECT_GT(report.workers[1].busy, 0);
  }
}

TEST_F(GraphDevice, PlansAreStagesOnTheHostAndOnDevices) {
  std::vector<ridge::Device> places = ridge::test::accelerators();
  places.push_back(ridge::host());
  for (const ridge::Device& device : places) {
    const ridge::transpose::Problem problem{.rows = 3, .columns = 5};
    const auto plan = ridge::transpose::plan<float>(device, problem);
    Graph graph;
    const auto in = graph.stage("in", {}, {.bytes = 60}, [](Step& step) -> std::size_t {
      step.out->filled = 60;
      const auto out = step.out->host<float>();
      for (std::size_t i = 0; i < 15; ++i) out[i] = static_cast<float>(step.number * 100 + i);
      return step.number < 7 ? 60 : 0;
    });
    const auto out = graph.stage("transpose", {in}, {.bytes = 60, .devices = {device}},
                                 ridge::graph::plan_work<float, float>(plan, 60));
    std::size_t seen = 0;
    graph.stage("check", {out}, {}, [&](Step& step) -> std::size_t {
      for (std::size_t i = 0; i < 15; ++i) {
        EXPECT_EQ(step.in[0]->host<float>()[i], static_cast<float>(step.number * 100 + i % 3 * 5 + i / 3));
      }
      ++seen;
      return 0;
    });
    graph.run();
    EXPECT_EQ(seen, 7u) << device.id();
  }
}

}  // namespace
