// Streams of blocks through a graph of stages: plans are nodes, buffers are edges, devices are workers.
//
//   ridge::graph::Graph graph;
//   auto samples = graph.stage("read", {}, {.bytes = bytes}, [&](Step& step) { return file.read(step.out->bytes); });
//   auto spectra = graph.stage("fft", {samples}, {.bytes = bytes, .devices = {gpu}}, [&](Step& step) {
//     fft.enqueue_forward(*step.queue, step.in[0]->buffer, step.out->buffer);
//     return step.in[0]->filled;
//   });
//   graph.stage("write", {spectra}, {}, [&](Step& step) { return sink.write(step.in[0]->host<Complex>()); });
//   std::puts(graph.run().text().c_str());
//
// Every stage has its own thread, and on a device its own queue, so successive blocks are in different stages at the
// same time. Stages on different devices are connected by upload and download stages that the graph adds. A block of an
// edge is reused when all its readers are done with it.
#pragma once
#include <any>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <ridge/device.hpp>

namespace ridge::graph {

// A block of an edge: memory of the host or of a device, or any object.
struct Block {
  std::span<std::byte> bytes{};  // host memory, all of it; empty in a stage on a device
  Buffer buffer{};               // device memory; empty in a stage on the host
  std::size_t filled = 0;        // valid bytes
  std::any value{};              // an object that accompanies or replaces the memory
  template <class T>
  std::span<T> host() const {  // the valid part of `bytes`
    return {reinterpret_cast<T*>(bytes.data()), filled / sizeof(T)};
  }
};

// One call of a stage.
struct Step {
  std::vector<Block*> in{};  // one block per input; empty in a source and at the end
  Block* out = nullptr;      // the block to fill
  Queue* queue = nullptr;    // of the stage's device; null on the host
  std::size_t worker = 0;    // index in StageOptions::devices
  std::uint64_t number = 0;  // of this call, from 0
  bool ended = false;        // no more input: see StageOptions::finish
};

// Fills the output block and returns its valid bytes (any positive number for objects). 0 means: no block this time; in
// a source: the end of the stream. On a device it enqueues and does not wait. An exception ends the whole graph.
using Work = std::function<std::size_t(Step&)>;

struct StageOptions {
  std::size_t bytes = 0;   // capacity of an output block; 0: objects only, or no output
  std::size_t blocks = 3;  // output blocks: one is written, one is read, one absorbs different speeds
  // Devices that run the stage; empty: the host. With several devices each block is given to the next device that is
  // free, and blocks leave in order, so the work must not depend on earlier blocks. A device named twice overlaps its
  // transfers with its kernels. A device that delays the others is dropped (Report explains it).
  std::vector<Device> devices{};
  std::optional<Device> locked_by{};  // page-locks output blocks in host memory, for a device that the readers' work
                                      // uses itself
  bool finish = false;                // call the work after the last input with Step::ended, until it returns 0
  bool in_caller = false;             // run in the thread that calls Graph::run(); at most one stage
  bool may_block = false;  // the work may wait for ever (a pipe): it is left behind after a failure or cancel(), so it
                           // must own the objects that it uses
};

struct Span {
  double begin = 0, end = 0;  // seconds since the start of run()
};

struct WorkerReport {
  std::string stage{}, device{};
  std::uint64_t blocks = 0;
  double busy = 0;                   // seconds of work, on a device by its clock
  double no_input = 0, no_room = 0;  // seconds of waiting for a block to read, to write
  std::vector<Span> spans{};         // of the first 4096 blocks
  std::string note{};
};

struct Report {
  std::vector<WorkerReport> workers{};
  double seconds = 0;
  bool cancelled = false;
  const WorkerReport& slowest() const;            // the busiest worker, which limits the rate
  std::string text() const;                       // a table of the schedule
  std::string svg(bool standalone = true) const;  // the schedule as a Gantt chart, one row per worker
};

class Graph {
 public:
  struct Edge {
    std::size_t index = 0;
  };
  Graph();
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // Adds a stage and returns its output, which any number of later stages may read.
  Edge stage(const std::string& name, const std::vector<Edge>& inputs, const StageOptions& options, Work work);

  // Runs until all sources have ended and all blocks are processed; once per graph. Rethrows the first exception of a
  // stage, after the others have stopped.
  Report run();
  void cancel();                            // from any thread or stage: run() returns after the blocks in work
  const std::string& failed_stage() const;  // after an exception of run(); empty otherwise
  std::string explain() const;  // stages, workers and the memory of the edges, with the transfers that run() adds

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// The work of a plan with run(in, out) and enqueue(queue, in, out), for all its devices.
template <class In, class Out, class Plan>
Work plan_work(const Plan& plan, std::size_t out_bytes) {
  return [&plan, out_bytes](Step& step) {
    step.out->filled = out_bytes;
    if (step.queue != nullptr) {
      plan.enqueue(*step.queue, step.in[0]->buffer, step.out->buffer);
    } else {
      plan.run(std::span<const In>(step.in[0]->template host<In>()), step.out->template host<Out>());
    }
    return out_bytes;
  };
}

}  // namespace ridge::graph
