// A transform as stages: each process transforms the axes it holds whole, slice by slice, and stores every slice where
// the next stage of its peers reads it.
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
#include "mpi/copy.hpp"
#include "mpi/fft/pass.hpp"

namespace ridge::mpi::fft {

// How points reach peers.
//   messages  slices are sent in `pieces` while the next ones are transformed
//   window    slices are transformed in cache and copied into the memory of who reads them next
//   array     one grid in memory that all processes see: transforms store where the next stage reads, nothing is copied
struct Exchange {
  enum class Kind { messages, window, array } kind = Kind::messages;
  std::size_t pieces = 1;
  bool shares_memory() const { return kind != Kind::messages; }
};

// One stage: the axes it transforms, which every process's box holds whole. Boxes count points of the spectrum.
struct StageBoxes {
  std::array<bool, 3> axes{};
  std::size_t cut = 0;  // an axis that is cut here and that the next stage has whole
  std::vector<Box> boxes = {};
  bool twiddle = false;  // of a long line that is two axes (line.hpp)
};

struct PipelineProblem {
  Points shape{};  // of the samples: z, y, x
  bool real = false, inverse = false;
  double scale = 1;
  std::vector<StageBoxes> stages = {};
  Points in_strides{}, out_strides{};  // of the caller's memory, in its elements
  Exchange exchange = {};
  std::size_t threads = 1;
};

// Memory that pipelines of one plan share: never two at once.
struct Workspace {
  Communicator::Shared window;
  base::AlignedArray<std::byte> received, send, slices;
  std::byte* mine = nullptr;  // where peers' slices arrive
};

template <class T>
class Pipeline {
 public:
  Pipeline(const Communicator& all, const PipelineProblem& problem, const Device& device,
           const planner::Options& options);
  // What it needs of the workspace.
  std::size_t received_bytes(std::size_t rank) const;
  std::size_t send_bytes() const { return send_bytes_; }
  std::size_t slice_bytes() const { return slice_bytes_; }
  std::size_t bytes_sent() const { return sent_; }

  // By all. Nobody may still be in an earlier run.
  void run(const Workspace& workspace, const void* in, void* out) const;
  std::string explain() const;

 private:
  using Complex = std::complex<T>;
  struct Peer {
    std::size_t rank = 0;
    Copy copy = {};            // of one index of the slices' axis; its extent is set by who uses it
    std::size_t in_slice = 0;  // where its part of a slice begins
    std::size_t row = 0;       // elements from one index to the next, in its memory and in messages
    std::size_t first = 0;     // where its memory of this exchange begins, elements
    std::size_t at = 0;        // in the send memory, elements
    bool streamed = false;     // whole planes past the caches: the peer reads them much later
  };
  struct Source {
    std::size_t rank = 0, begin = 0, count = 0, chunk = 1;  // the indices that come from it
  };
  struct Stage {
    std::unique_ptr<Pass<T>> pass;  // nothing where this process has no points, or nothing is transformed
    bool last = false, twiddle = false;
    bool streamed = false;  // the last: results go past the caches, through a slice in them
    std::size_t number = 0;
    Points extent{}, in{};             // this process's points and where they lie
    std::size_t in_bytes = 0;          // of an element
    std::size_t in_first = 0;          // where its points begin in what was received, elements
    std::size_t axis = 0;              // slices lie along it, and the next stage has it whole
    std::size_t begin = 0, count = 0;  // this process's indices of it
    std::size_t chunk = 1;             // indices a slice
    Points slice_strides{};
    std::size_t out_first = 0;  // an array: where its points begin there, elements
    std::size_t slice_elements = 0;
    std::vector<Peer> peers;      // this process among them
    std::vector<Source> sources;  // not among them
    std::size_t own_row = 0;      // elements an index in this process's memory of this exchange
    std::size_t own_first = 0;
  };

  void build(Stage& stage, std::size_t number, const Device& device, const planner::Options& options);
  void run_stage(const Stage& stage, const Workspace& workspace, const void* in, void* out) const;
  void slices(const Stage& stage, const Workspace& workspace, const void* in, std::size_t thread, std::size_t begin,
              std::size_t end) const;
  void store(const Stage& stage, const Workspace& workspace, const Complex* slice, std::size_t begin,
             std::size_t end) const;
  void turn_by_twiddles(const Stage& stage, Complex* slice, std::size_t begin, std::size_t end) const;
  std::byte* received(const Workspace& workspace) const;
  std::size_t room(std::size_t exchange, std::size_t rank) const;  // elements a rank receives
  std::size_t first_of(std::size_t exchange, std::size_t rank) const;
  std::size_t row_of(std::size_t exchange, std::size_t rank) const;
  bool array() const { return problem_.exchange.kind == Exchange::Kind::array; }
  Points all_points() const;  // of the whole spectrum
  Points array_strides(std::size_t exchange) const;
  std::size_t in_array(std::size_t exchange, const Box& box) const;  // its first point, elements

  Communicator all_;
  PipelineProblem problem_;
  std::vector<Stage> stages_;
  std::size_t send_bytes_ = 0, slice_bytes_ = 0, sent_ = 0;
  std::shared_ptr<const ridge::fft::AnyRoots<T>> roots_;
};

}  // namespace ridge::mpi::fft
