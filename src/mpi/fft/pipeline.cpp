// Runs the stages of a transform slice by slice, while finished slices are sent.
#include "mpi/fft/pipeline.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/threads.hpp"
#include "fft/host/two_step_kernels.hpp"

namespace ridge::mpi::fft {
namespace {

Points extents(const Box& box) { return {box.extent(0), box.extent(1), box.extent(2)}; }

// Strides of a packed box with `slowest` as outermost axis and `row` elements between its indices.
Points strides_behind(const Points& extent, std::size_t slowest, std::size_t row) {
  Points strides{};
  std::size_t stride = 1;
  for (std::size_t i = 3; i-- > 0;) {
    if (i == slowest) continue;
    strides[i] = stride;
    stride *= extent[i];
  }
  strides[slowest] = row;
  return strides;
}

std::size_t others(const Points& extent, std::size_t axis) {
  std::size_t product = 1;
  for (std::size_t i = 0; i < 3; ++i) product *= i == axis ? 1 : extent[i];
  return product;
}

// True if the boxes overlap on all axes other than `but`.
bool meet(const Box& a, const Box& b, std::size_t but) {
  for (std::size_t i = 0; i < 3; ++i) {
    if (i != but && std::max(a.begin[i], b.begin[i]) >= std::min(a.end[i], b.end[i])) return false;
  }
  return true;
}

std::size_t chunks(std::size_t count, std::size_t chunk) { return (count + chunk - 1) / chunk; }

bool transforms_any(const StageBoxes& stage) { return stage.axes[0] || stage.axes[1] || stage.axes[2]; }

constexpr int kTagsPerExchange = 1000;

// x86 cores read a cache line before they write it; nontemporal stores avoid that read. From this size on, nothing
// would stay in the caches until the next stage anyway.
#if defined(__x86_64__)
constexpr std::size_t kStreamBytes = std::size_t{4} << 20;
#else
constexpr std::size_t kStreamBytes = ~std::size_t{0};
#endif

constexpr std::size_t kStreamedSlice = std::size_t{1} << 20;  // bytes at most: a core's cache holds it

// True if each index of the axis is one contiguous range, in any order of the other axes.
bool one_stretch(const Points& extent, const Points& strides, std::size_t axis) {
  std::size_t stride = 1;
  for (int turn = 0; turn < 2; ++turn) {
    for (std::size_t i = 0; i < 3; ++i) {
      if (i != axis && extent[i] > 1 && strides[i] == stride) {
        stride *= extent[i];
        break;
      }
    }
  }
  return stride == others(extent, axis) && strides[axis] == stride;
}

// True if each index of a slice is contiguous on both sides.
bool in_one_piece(const Copy& copy, std::size_t axis) {
  std::size_t stride = 1;
  for (std::size_t i = 3; i-- > 0;) {
    if (i == axis || copy.extent[i] == 1) continue;
    if (copy.from[i] != stride || copy.to[i] != stride) return false;
    stride *= copy.extent[i];
  }
  return true;
}

}  // namespace

template <class T>
Pipeline<T>::Pipeline(const Communicator& all, const PipelineProblem& problem, const Device& device,
                      const planner::Options& options)
    : all_(all), problem_(problem), stages_(problem.stages.size()) {
  for (std::size_t i = 0; i < stages_.size(); ++i) build(stages_[i], i, device, options);
  slice_bytes_ *= problem.threads;
}

template <class T>
Points Pipeline<T>::all_points() const {
  Points points = problem_.shape;
  if (problem_.real) points[2] = points[2] / 2 + 1;
  return points;
}

// Elements between indices in a rank's receive memory, padded so that planes start in different cache sets.
template <class T>
std::size_t Pipeline<T>::row_of(std::size_t exchange, std::size_t rank) const {
  constexpr std::size_t kLine = 64;
  const Points extent = array() ? all_points() : extents(problem_.stages[exchange + 1].boxes[rank]);
  const std::size_t points = others(extent, problem_.stages[exchange].cut);
  const std::size_t bytes = points * sizeof(Complex);
  if (bytes < 8 * kLine) return points;
  const std::size_t lines = (bytes + kLine - 1) / kLine;
  return (lines % 2 == 0 ? lines + 1 : lines) * kLine / sizeof(Complex);
}

template <class T>
std::size_t Pipeline<T>::room(std::size_t exchange, std::size_t rank) const {
  return all_points()[problem_.stages[exchange].cut] * row_of(exchange, rank);
}

template <class T>
Points Pipeline<T>::array_strides(std::size_t exchange) const {
  return strides_behind(all_points(), problem_.stages[exchange].cut, row_of(exchange, 0));
}

template <class T>
std::size_t Pipeline<T>::in_array(std::size_t exchange, const Box& box) const {
  const Points strides = array_strides(exchange);
  std::size_t at = first_of(exchange, 0);
  for (std::size_t i = 0; i < 3; ++i) at += box.begin[i] * strides[i];
  return at;
}

// Exchanges alternate between two areas: a stage reads from one while its results arrive in the other.
template <class T>
std::size_t Pipeline<T>::first_of(std::size_t exchange, std::size_t rank) const {
  if (exchange % 2 == 0) return 0;
  std::size_t most = 0;
  for (std::size_t i = 0; i + 1 < problem_.stages.size(); i += 2) most = std::max(most, room(i, rank));
  return (most + 15) / 16 * 16;
}

template <class T>
std::size_t Pipeline<T>::received_bytes(std::size_t rank) const {
  std::size_t most = 0;
  for (std::size_t i = 0; i + 1 < problem_.stages.size(); ++i) {
    most = std::max(most, first_of(i, rank) + room(i, rank));
  }
  if (array()) most = (most + all_.count() - 1) / all_.count();  // each process holds one share
  return most * sizeof(Complex);
}

template <class T>
void Pipeline<T>::build(Stage& stage, std::size_t number, const Device& device, const planner::Options& options) {
  const StageBoxes& boxes = problem_.stages[number];
  const Box& box = boxes.boxes[all_.rank()];
  const bool transforms = transforms_any(boxes);
  const bool real = problem_.real && boxes.axes[2];
  const bool scales = std::none_of(problem_.stages.begin() + static_cast<std::ptrdiff_t>(number) + 1,
                                   problem_.stages.end(), transforms_any);  // true for the last stage that transforms
  stage.number = number;
  stage.extent = extents(box);
  stage.last = number + 1 == problem_.stages.size();
  stage.twiddle = boxes.twiddle;
  stage.axis = boxes.cut;
  if (stage.last) {  // slices along the slowest axis with more than one index
    stage.axis = 3;
    for (std::size_t i = 0; i < 3; ++i) {
      if (!boxes.axes[i] && (stage.axis == 3 || (stage.extent[stage.axis] == 1 && stage.extent[i] > 1))) stage.axis = i;
    }
    if (!transforms) stage.axis = 0;
  }
  stage.begin = box.begin[stage.axis];
  stage.count = box.size() > 0 ? stage.extent[stage.axis] : 0;
  stage.chunk = chunk_for(stage.extent, stage.axis, sizeof(Complex), device);
  stage.in_bytes = real && !problem_.inverse ? sizeof(T) : sizeof(Complex);
  stage.in = number == 0 ? problem_.in_strides
             : array()   ? array_strides(number - 1)
                       : strides_behind(stage.extent, problem_.stages[number - 1].cut, row_of(number - 1, all_.rank()));
  if (number > 0) stage.in_first = array() ? in_array(number - 1, box) : first_of(number - 1, all_.rank());
  const std::size_t slice = others(stage.extent, stage.axis);
  stage.slice_strides = stage.last ? problem_.out_strides
                        : array()  ? array_strides(number)
                                   : strides_behind(stage.extent, stage.axis, slice);
  if (!stage.last && array()) stage.out_first = in_array(number, box);
  stage.slice_elements = slice * stage.chunk;
  if (!stage.last && !array())
    slice_bytes_ = std::max(slice_bytes_, (stage.slice_elements * sizeof(Complex) + 127) / 128 * 128);
  if (transforms && stage.count > 0) {
    stage.pass = std::make_unique<Pass<T>>(PassProblem{.samples = problem_.shape,
                                                       .extent = stage.extent,
                                                       .axes = boxes.axes,
                                                       .real = real,
                                                       .inverse = problem_.inverse,
                                                       .scale = scales ? problem_.scale : 1,
                                                       .axis = stage.axis,
                                                       .chunk = stage.chunk,
                                                       .in = stage.in,
                                                       .out = stage.slice_strides},
                                           device, options);
  }
  if (stage.twiddle) {
    roots_ = std::make_shared<const ridge::fft::AnyRoots<T>>(problem_.shape[1] * problem_.shape[2]);
  }
  if (stage.last) {
    const bool complex = !(problem_.inverse && real);
    const std::size_t bytes = stage.slice_elements * sizeof(Complex);
    stage.streamed = stage.pass && complex && device.is_host() && bytes <= kStreamedSlice &&
                     stage.count * slice * sizeof(Complex) >= kStreamBytes &&
                     one_stretch(stage.extent, problem_.out_strides, stage.axis);
    if (stage.streamed) slice_bytes_ = std::max(slice_bytes_, (bytes + 127) / 128 * 128);
  } else {
    build_exchange(stage, device);
  }
}

template <class T>
void Pipeline<T>::build_exchange(Stage& stage, const Device& device) {
  const std::size_t number = stage.number, slice = others(stage.extent, stage.axis);
  const StageBoxes& boxes = problem_.stages[number];
  const Box& box = boxes.boxes[all_.rank()];
  const auto& next = problem_.stages[number + 1].boxes;
  const Points& from = transforms_any(boxes) ? stage.slice_strides : stage.in;
  std::size_t send = 0;
  for (std::size_t step = 0; step < all_.count(); ++step) {
    const std::size_t rank = (all_.rank() + step) % all_.count();
    const Box& theirs = next[rank];
    if (stage.count == 0 || !meet(box, theirs, stage.axis)) continue;
    Peer peer{.rank = rank, .row = row_of(number, rank), .first = first_of(number, rank), .at = send};
    peer.copy.extent = extents(theirs);
    peer.copy.from = from;
    peer.copy.to = strides_behind(peer.copy.extent, stage.axis, peer.row);
    for (std::size_t i = 0; i < 3; ++i) {
      if (i != stage.axis) peer.in_slice += (theirs.begin[i] - box.begin[i]) * from[i];
    }
    if (step > 0) {
      sent_ += stage.count * others(peer.copy.extent, stage.axis) * sizeof(Complex);
      if (!problem_.exchange.shares_memory()) send += stage.count * peer.row;
    }
    peer.streamed = problem_.exchange.kind == Exchange::Kind::window && in_one_piece(peer.copy, stage.axis) &&
                    stage.count * slice * sizeof(Complex) >= kStreamBytes;
    stage.peers.push_back(peer);
  }
  send_bytes_ = std::max(send_bytes_, send * sizeof(Complex));
  stage.own_row = row_of(number, all_.rank());
  stage.own_first = first_of(number, all_.rank());
  const Box& mine = next[all_.rank()];
  for (std::size_t step = 1; step < all_.count() && mine.size() > 0; ++step) {
    const std::size_t rank = (all_.rank() + all_.count() - step) % all_.count();
    const Box& theirs = boxes.boxes[rank];
    if (theirs.size() == 0 || !meet(theirs, mine, stage.axis)) continue;
    stage.sources.push_back({rank, theirs.begin[stage.axis], theirs.extent(stage.axis),
                             chunk_for(extents(theirs), stage.axis, sizeof(Complex), device)});
  }
}

template <class T>
void Pipeline<T>::apply_twiddles(const Stage& stage, Complex* slice, std::size_t begin, std::size_t end) const {
  // Slices [j1][k0] are multiplied by exp(-2 pi i j1 k0 / N).
  const std::size_t n0 = stage.extent[1], order = roots_->order(), row = stage.slice_strides[2];
  for (std::size_t i = begin; i < end; ++i) {
    const std::size_t j1 = stage.begin + i;
    std::size_t turn = 0;
    for (std::size_t k0 = 0; k0 < n0; ++k0, turn += j1) {  // j1 k0 < N
      const Complex root = roots_->at(turn % order);
      Complex& value = slice[(i - begin) * row + k0];
      value = problem_.inverse ? value * std::conj(root) : value * root;
    }
  }
}

template <class T>
void Pipeline<T>::store(const Stage& stage, const Workspace& workspace, const Complex* slice, std::size_t begin,
                        std::size_t end) const {
  bool streamed = false;
  for (const Peer& peer : stage.peers) {
    Copy copy = peer.copy;
    copy.extent[stage.axis] = end - begin;
    std::byte* to;
    if (peer.rank == all_.rank()) {
      to = workspace.mine + (peer.first + (stage.begin + begin) * peer.row) * sizeof(Complex);
    } else if (problem_.exchange.kind == Exchange::Kind::window) {
      to = static_cast<std::byte*>(workspace.window.of(peer.rank)) +
           (peer.first + (stage.begin + begin) * peer.row) * sizeof(Complex);
    } else {
      to = const_cast<std::byte*>(workspace.send.data()) + (peer.at + begin * peer.row) * sizeof(Complex);
    }
    if (peer.streamed) {
      const std::size_t points = others(copy.extent, stage.axis);
      for (std::size_t i = 0; i < end - begin; ++i) {
        ridge::fft::two_step_kernels<T>().stream(
            reinterpret_cast<const T*>(slice + peer.in_slice + i * copy.from[stage.axis]), points,
            reinterpret_cast<T*>(to) + 2 * i * peer.row);
      }
      streamed = true;
      continue;
    }
    copy_box(copy, sizeof(Complex), slice + peer.in_slice, to);
  }
  if (streamed) ridge::fft::two_step_kernels<T>().finish();
}

// Memory that stages after the first read: data stored by peers, or the shared array.
template <class T>
std::byte* Pipeline<T>::received(const Workspace& workspace) const {
  return array() ? static_cast<std::byte*>(workspace.window.of(0)) : workspace.mine;
}

template <class T>
void Pipeline<T>::slices(const Stage& stage, const Workspace& workspace, const void* in, std::size_t thread,
                         std::size_t begin, std::size_t end) const {
  const auto* from = static_cast<const std::byte*>(in) + begin * stage.in[stage.axis] * stage.in_bytes;
  if (array()) {
    auto* to =
        reinterpret_cast<Complex*>(received(workspace)) + stage.out_first + begin * stage.slice_strides[stage.axis];
    if (stage.pass) {
      stage.pass->run(from, to, begin, end);
    } else {
      Copy copy{stage.extent, stage.in, stage.slice_strides};
      copy.extent[stage.axis] = end - begin;
      copy_box(copy, sizeof(Complex), from, to);
    }
    if (stage.twiddle) apply_twiddles(stage, to, begin, end);
    return;
  }
  if (!stage.pass) {
    store(stage, workspace, reinterpret_cast<const Complex*>(from), begin, end);
    return;
  }
  auto* slice = reinterpret_cast<Complex*>(const_cast<std::byte*>(workspace.slices.data()) +
                                           thread * (slice_bytes_ / problem_.threads));
  stage.pass->run(from, slice, begin, end);
  if (stage.twiddle) apply_twiddles(stage, slice, begin, end);
  store(stage, workspace, slice, begin, end);
}

template <class T>
void Pipeline<T>::run_stage(const Stage& stage, const Workspace& workspace, const void* in, void* out) const {
  const std::size_t all_chunks = chunks(stage.count, stage.chunk);
  const auto for_chunks = [&](std::size_t first, std::size_t last, const auto& work) {
    const std::size_t threads = std::min(problem_.threads, last - first);
    const auto some = [&](std::size_t thread, std::size_t of) {
      const base::Share mine = base::share(last - first, thread, of);
      for (std::size_t i = first + mine.begin; i < first + mine.end; ++i) {
        work(thread, i * stage.chunk, std::min(stage.count, (i + 1) * stage.chunk));
      }
    };
    if (threads > 1) {
      base::parallel(threads, some);
    } else if (last > first) {
      some(0, 1);
    }
  };
  if (stage.last) {
    if (!stage.pass) {
      copy_box({stage.extent, stage.in, problem_.out_strides}, sizeof(Complex), in, out);
      return;
    }
    const std::size_t out_bytes =
        problem_.real && problem_.inverse && problem_.stages[stage.number].axes[2] ? sizeof(T) : sizeof(Complex);
    for_chunks(0, all_chunks, [&](std::size_t thread, std::size_t begin, std::size_t end) {
      const std::byte* from = static_cast<const std::byte*>(in) + begin * stage.in[stage.axis] * stage.in_bytes;
      std::byte* to = static_cast<std::byte*>(out) + begin * problem_.out_strides[stage.axis] * out_bytes;
      if (!stage.streamed) return stage.pass->run(from, to, begin, end);
      auto* slice = reinterpret_cast<T*>(const_cast<std::byte*>(workspace.slices.data()) +
                                         thread * (slice_bytes_ / problem_.threads));
      stage.pass->run(from, slice, begin, end);
      ridge::fft::two_step_kernels<T>().stream(slice, (end - begin) * others(stage.extent, stage.axis),
                                               reinterpret_cast<T*>(to));
      ridge::fft::two_step_kernels<T>().finish();
    });
    return;
  }
  if (problem_.exchange.shares_memory()) {
    for_chunks(0, all_chunks, [&](std::size_t thread, std::size_t begin, std::size_t end) {
      slices(stage, workspace, in, thread, begin, end);
    });
    all_.publish(workspace.window);
    return;
  }
  const int tag = static_cast<int>(stage.number) * kTagsPerExchange;
  Communicator::Pending pending;
  for (const Source& source : stage.sources) {
    const std::size_t of = chunks(source.count, source.chunk), pieces = std::min(problem_.exchange.pieces, of);
    for (std::size_t i = 0; i < pieces; ++i) {
      const Part piece = part(of, i, pieces);
      const std::size_t begin = piece.begin * source.chunk, end = std::min(source.count, piece.end * source.chunk);
      const Communicator::Message message{
          source.rank, tag + static_cast<int>(i),
          workspace.mine + (stage.own_first + (source.begin + begin) * stage.own_row) * sizeof(Complex),
          (end - begin) * stage.own_row * sizeof(Complex)};
      all_.post(pending, {}, std::span(&message, 1));
    }
  }
  const std::size_t pieces = std::min(problem_.exchange.pieces, all_chunks);
  for (std::size_t i = 0; i < pieces; ++i) {
    const Part piece = part(all_chunks, i, pieces);
    for_chunks(piece.begin, piece.end, [&](std::size_t thread, std::size_t begin, std::size_t end) {
      slices(stage, workspace, in, thread, begin, end);
      if (problem_.threads == 1 && i > 0) pending.test();
    });
    const std::size_t begin = piece.begin * stage.chunk, end = std::min(stage.count, piece.end * stage.chunk);
    for (const Peer& peer : stage.peers) {
      if (peer.rank == all_.rank()) continue;
      const Communicator::Message message{
          peer.rank, tag + static_cast<int>(i),
          const_cast<std::byte*>(workspace.send.data()) + (peer.at + begin * peer.row) * sizeof(Complex),
          (end - begin) * peer.row * sizeof(Complex)};
      all_.post(pending, std::span(&message, 1), {});
    }
  }
  pending.wait();
}

template <class T>
void Pipeline<T>::run(const Workspace& workspace, const void* in, void* out) const {
  for (const Stage& stage : stages_) {
    const void* from = received(workspace) + stage.in_first * sizeof(Complex);
    run_stage(stage, workspace, stage.number == 0 ? in : from, out);
  }
}

template <class T>
std::string Pipeline<T>::explain() const {
  std::string text;
  for (const Stage& stage : stages_) {
    std::string axes;
    for (std::size_t i = 0; i < 3; ++i) {
      if (problem_.stages[stage.number].axes[i]) axes += fmt::format("{}{}", axes.empty() ? "" : ", ", "zyx"[i]);
    }
    text += fmt::format("  stage {}: {} of {}x{}x{} points here{}\n", stage.number + 1,
                        axes.empty() ? "nothing transformed" : "transforms along " + axes, stage.extent[0],
                        stage.extent[1], stage.extent[2],
                        stage.last ? ""
                        : array()  ? std::string(", stored in the shared array")
                                   : fmt::format(", slices of {} along {} go to {} processes", stage.chunk,
                                                 "zyx"[stage.axis], stage.peers.size()));
  }
  return text;
}

template class Pipeline<float>;
template class Pipeline<double>;

}  // namespace ridge::mpi::fft
