// A distributed transform as a pipeline of stages: each process transforms the axes it holds whole, slice by slice, and
// stores every slice where the next stage of its peers reads it.
#pragma once
#include <array>
#include <complex>
#include <cstddef>
#include <memory>
#include <vector>

#include <ridge/fft.hpp>
#include <ridge/mpi/box.hpp>
#include <ridge/mpi/communicator.hpp>

#include "base/aligned.hpp"
#include "fft/roots.hpp"
#include "mpi/fft/pass.hpp"
#include "mpi/route.hpp"

namespace ridge::mpi::fft {

// Transport of points between processes.
//   messages  slices are sent in `pieces` messages while the next ones are transformed
//   window    slices are transformed in cache and copied into the shared memory of the process that reads them next
//   array     one grid in shared memory: transforms store where the next stage reads, without copies
struct Exchange {
  enum class Kind { messages, window, array } kind = Kind::messages;
  std::size_t pieces = 1;
  bool shares_memory() const { return kind != Kind::messages; }
};

// One stage: the axes it transforms, which every process's box holds whole. Boxes count points of the spectrum.
struct StageBoxes {
  std::array<bool, 3> axes{};
  std::size_t cut = 0;  // the axis that is cut here and whole in the next stage
  std::vector<Box> boxes = {};
  bool twiddle = false;  // multiply by twiddle factors: one long transform as two axes (line_layout)
};

struct PipelineProblem {
  Points shape{};  // of the samples: z, y, x
  bool real = false, inverse = false;
  double scale = 1;
  std::vector<StageBoxes> stages = {};
  Points in_strides{}, out_strides{};  // of the caller's arrays, in their elements
  Exchange exchange = {};
  std::size_t threads = 1;
};

// Memory shared by the pipelines of one plan, of which one runs at a time.
struct Workspace {
  Communicator::Shared window;
  base::AlignedArray<std::byte> received, send, slices;
  std::byte* mine = nullptr;  // receives the peers' slices
};

template <class T>
class Pipeline {
 public:
  Pipeline(const Communicator& all, const PipelineProblem& problem, const Device& device,
           const planner::Options& options);
  // Bytes needed in the workspace.
  std::size_t received_bytes(std::size_t rank) const;
  std::size_t send_bytes() const { return send_bytes_; }
  std::size_t slice_bytes() const { return slice_bytes_; }
  std::size_t bytes_sent() const { return sent_; }

  // Collective. All processes must have left earlier runs.
  void run(const Workspace& workspace, const void* in, void* out) const;
  std::string explain() const;

 private:
  using Complex = std::complex<T>;
  struct Peer {
    std::size_t rank = 0;
    Copy copy = {};            // for one index of the slice axis; the user sets the extent
    std::size_t in_slice = 0;  // offset of the peer's part in a slice
    std::size_t row = 0;       // elements between indices, in the peer's memory and in messages
    std::size_t first = 0;     // elements: start of this exchange's area in the peer's memory
    std::size_t at = 0;        // elements: offset in the send memory
    bool streamed = false;     // whole planes by nontemporal stores: the peer reads them much later
  };
  struct Source {
    std::size_t rank = 0, begin = 0, count = 0, chunk = 1;  // the indices received from this rank
  };
  struct Stage {
    std::unique_ptr<Pass<T>> pass;  // null if this process has no points or the stage transforms nothing
    bool last = false, twiddle = false;
    bool streamed = false;  // last stage: results pass through a cached slice and are stored nontemporally
    std::size_t number = 0;
    Points extent{}, in{};             // this process's extents, and the strides of its input
    std::size_t in_bytes = 0;          // bytes per input element
    std::size_t in_first = 0;          // elements: offset of its points in the receive memory
    std::size_t axis = 0;              // slices are taken along this axis, which the next stage holds whole
    std::size_t begin = 0, count = 0;  // this process's indices of that axis
    std::size_t chunk = 1;             // indices per slice
    Points slice_strides{};
    std::size_t out_first = 0;  // elements: offset of its points in the shared array
    std::size_t slice_elements = 0;
    std::vector<Peer> peers;      // includes this process
    std::vector<Source> sources;  // excludes this process
    std::size_t own_row = 0;      // elements per index in this process's memory of this exchange
    std::size_t own_first = 0;
  };

  void build(Stage& stage, std::size_t number, const Device& device, const planner::Options& options);
  void build_exchange(Stage& stage, const Device& device);  // peers that read its slices, and those it reads from
  void run_stage(const Stage& stage, const Workspace& workspace, const void* in, void* out) const;
  void slices(const Stage& stage, const Workspace& workspace, const void* in, std::size_t thread, std::size_t begin,
              std::size_t end) const;
  void store(const Stage& stage, const Workspace& workspace, const Complex* slice, std::size_t begin,
             std::size_t end) const;
  void apply_twiddles(const Stage& stage, Complex* slice, std::size_t begin, std::size_t end) const;
  std::byte* received(const Workspace& workspace) const;
  std::size_t room(std::size_t exchange, std::size_t rank) const;  // elements received by a rank
  std::size_t first_of(std::size_t exchange, std::size_t rank) const;
  std::size_t row_of(std::size_t exchange, std::size_t rank) const;
  bool array() const { return problem_.exchange.kind == Exchange::Kind::array; }
  Points all_points() const;  // extents of the whole spectrum
  Points array_strides(std::size_t exchange) const;
  std::size_t in_array(std::size_t exchange, const Box& box) const;  // elements: offset of the box's first point

  Communicator all_;
  PipelineProblem problem_;
  std::vector<Stage> stages_;
  std::size_t send_bytes_ = 0, slice_bytes_ = 0, sent_ = 0;
  std::shared_ptr<const ridge::fft::AnyRoots<T>> roots_;
};

}  // namespace ridge::mpi::fft
