// Lists decompositions and transports with their expected cost, and builds them.
#include "mpi/fft/variant.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace ridge::mpi::fft {
namespace {

// Cost of one byte sent, relative to one byte copied: stored in place, copied once, packed and sent, sent between
// machines.
constexpr double kArray = 0.1, kWindow = 1, kMessages = 3, kBetweenMachines = 12;

// Replaces the extent of the last axis, held whole, by the number of samples.
std::vector<Box> with_samples(std::vector<Box> boxes, std::size_t samples) {
  for (Box& box : boxes) box.end[2] = samples;
  return boxes;
}

// The parts of one long transform as boxes of one axis: `rows` of `length` points over processes, clipped to the first
// `points`.
std::vector<Box> line_boxes(std::size_t rows, std::size_t length, std::size_t processes, std::size_t points) {
  std::vector<Box> boxes(processes);
  for (std::size_t rank = 0; rank < processes; ++rank) {
    const Part mine = part(rows, rank, processes);
    boxes[rank].begin[2] = std::min(points, mine.begin * length);
    boxes[rank].end[2] = std::min(points, mine.end * length);
  }
  return boxes;
}

bool same_points(const std::vector<Box>& a, const std::vector<Box>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Box& x, const Box& y) { return x.same_points(y) || (x.size() == 0 && y.size() == 0); });
}

const char* exchange_name(const Exchange& exchange) {
  switch (exchange.kind) {
    case Exchange::Kind::messages:
      return "messages";
    case Exchange::Kind::window:
      return "window";
    case Exchange::Kind::array:
      return "array";
  }
  return "";
}

bool is_line(const Variant& variant) { return variant.layout.name == "line"; }

std::vector<Box> sample_boxes(const Distribution& distributed, const Variant& variant, std::size_t processes) {
  if (is_line(variant)) return line_boxes(variant.layout.n0, variant.layout.n1, processes, distributed.samples[2]);
  return with_samples(variant.layout.forward.front().boxes, distributed.samples[2]);
}

std::vector<Box> spectrum_boxes(const Distribution& distributed, const Variant& variant, std::size_t processes) {
  if (is_line(variant)) return line_boxes(variant.layout.n1, variant.layout.n0, processes, distributed.spectrum[2]);
  std::vector<Box> boxes = variant.layout.forward.back().boxes;
  if (distributed.samples[0] > 1) {  // the order that the last stage writes fastest
    for (Box& box : boxes) box.order = {1, 0, 2};
  }
  return boxes;
}

}  // namespace

std::string Variant::short_name() const { return alone ? "alone" : layout.name; }

std::string Variant::name() const { return candidate(0).name(); }

planner::Candidate Variant::candidate(double flops) const {
  planner::Candidate result{.variant = short_name(), .refusal = refusal};
  if (!alone) {
    result.parameters.emplace_back("grid", layout.grid);
    result.parameters.emplace_back("exchange", exchange_name(exchange));
    if (!exchange.shares_memory()) result.parameters.emplace_back("pieces", std::to_string(exchange.pieces));
  }
  result.cost = {.flops = flops, .bytes = local_bytes + sent_bytes, .efficiency = 0.5, .threads = threads};
  return result;
}

std::vector<Variant> list_variants(const Communicator& all, const Distribution& distributed, const Device& device) {
  const std::size_t processes = all.count();
  if (processes == 1) return {Variant{.alone = true, .threads = distributed.threads}};
  std::vector<Layout> layouts;
  if (distributed.axes == 1) {
    layouts.push_back(line_layout(distributed.samples[2], processes));
  } else {
    layouts.push_back(slab_layout(distributed.spectrum, processes));
    if (distributed.axes == 3) {
      std::size_t tried = 0;
      for (const auto& [rows, columns] : process_grids(processes)) {
        if (tried++ < 3) layouts.push_back(pencil_layout(distributed.spectrum, rows, columns));
      }
    }
  }
  const double points = static_cast<double>(distributed.spectrum[0]) * static_cast<double>(distributed.spectrum[1]) *
                        static_cast<double>(distributed.spectrum[2]);
  std::vector<Variant> variants;
  for (const Layout& layout : layouts) {
    // The largest part decides: processes with fewer points wait.
    std::size_t largest = 0;
    for (const StageBoxes& stage : layout.forward) {
      for (const Box& box : stage.boxes) largest = std::max(largest, box.size());
    }
    const double bytes = 16.0 * static_cast<double>(largest), stages = static_cast<double>(layout.forward.size());
    double crossings = 0;
    for (std::size_t i = 0; i + 1 < layout.forward.size(); ++i) {
      std::size_t moved = 0;  // points sent by the first process
      const Box& mine = layout.forward[i].boxes[0];
      for (std::size_t rank = 1; rank < processes; ++rank) {
        moved += intersection(mine, layout.forward[i + 1].boxes[rank]).size();
      }
      crossings += static_cast<double>(moved) / std::max(1.0, points / static_cast<double>(processes));
    }
    const bool far = all.machines() > 1;
    using Kind = Exchange::Kind;
    for (const Exchange exchange :
         {Exchange{Kind::array}, Exchange{Kind::window}, Exchange{Kind::messages}, Exchange{Kind::messages, 4}}) {
      Variant variant{.layout = layout, .exchange = exchange, .threads = distributed.threads};
      if (exchange.shares_memory() && far) variant.refusal = "needs all processes on one machine for shared memory";
      if (exchange.kind == Kind::array && !device.is_host()) {
        variant.refusal = "needs host transforms: a device overwrites the gaps of a shared array";
      }
      variant.local_bytes = 2 * bytes * stages;
      variant.sent_bytes = bytes * crossings *
                           (far                             ? kBetweenMachines
                            : exchange.kind == Kind::array  ? kArray
                            : exchange.kind == Kind::window ? kWindow
                                                            : kMessages);
      if (exchange.pieces > 1) variant.sent_bytes *= 0.9;  // partly hidden behind transforms
      variants.push_back(std::move(variant));
    }
  }
  return variants;
}

template <class T>
Running<T>::Running(const Communicator& all, const Distribution& distributed, const Variant& variant,
                    bool both_directions, const Device& device, const planner::Options& options)
    : all_(all), distribution_(distributed), variant_(variant) {
  const std::size_t rank = all.rank();
  if (variant.alone) {
    const auto whole = [](const Points& points) {
      Box box;
      for (std::size_t i = 0; i < 3; ++i) box.end[i] = points[i];
      return box;
    };
    input_ = distributed.input.empty() ? whole(distributed.samples) : distributed.input[0];
    output_ = distributed.output.empty() ? whole(distributed.spectrum) : distributed.output[0];
    const auto in = input_.strides(), out = output_.strides();
    ridge::fft::Problem problem{.kind = distributed.real ? ridge::fft::Kind::real : ridge::fft::Kind::complex,
                                .scale_forward = distributed.scale_forward,
                                .scale_inverse = distributed.scale_inverse,
                                .threads = distributed.threads};
    for (std::size_t i = 3 - distributed.axes; i < 3; ++i) {
      problem.shape.push_back(distributed.samples[i]);
      problem.input.axes.push_back(in[i]);
      problem.output.axes.push_back(out[i]);
    }
    alone_.emplace(device, problem, options);
    return;
  }
  samples_ = sample_boxes(distributed, variant, all.count());
  spectrum_ = spectrum_boxes(distributed, variant, all.count());
  const std::size_t sample_bytes = distributed.real ? sizeof(T) : sizeof(Complex);
  // Boxes of the caller with other points than the pipeline's need a redistribution. Another axis order is free.
  const auto settle = [&](const std::vector<Box>& wanted, std::vector<Box>& own, std::size_t bytes,
                          std::unique_ptr<Route>& to_own, std::unique_ptr<Route>& from_own) {
    if (wanted.empty()) return;
    if (same_points(wanted, own)) {
      own = wanted;
      return;
    }
    to_own = std::make_unique<Route>(all, wanted, own, bytes, 1);
    if (both_directions) from_own = std::make_unique<Route>(all, own, wanted, bytes, 1);
  };
  settle(distributed.input, samples_, sample_bytes, samples_in_, samples_out_);
  if (!distributed.output.empty() && !same_points(distributed.output, spectrum_)) {
    spectrum_out_ = std::make_unique<Route>(all, spectrum_, distributed.output, sizeof(Complex), 1);
    if (both_directions) spectrum_in_ = std::make_unique<Route>(all, distributed.output, spectrum_, sizeof(Complex), 1);
  } else if (!distributed.output.empty()) {
    spectrum_ = distributed.output;
  }
  input_ = distributed.input.empty() ? samples_[rank] : distributed.input[rank];
  output_ = distributed.output.empty() ? spectrum_[rank] : distributed.output[rank];
  forward_ = pipeline(false, device, options);
  if (both_directions) inverse_ = pipeline(true, device, options);
}

template <class T>
std::unique_ptr<Pipeline<T>> Running<T>::pipeline(bool inverse, const Device& device,
                                                  const planner::Options& options) const {
  PipelineProblem problem{.shape = distribution_.samples,
                          .real = distribution_.real,
                          .inverse = inverse,
                          .scale = inverse ? distribution_.scale_inverse : distribution_.scale_forward,
                          .stages = inverse ? variant_.layout.inverse : variant_.layout.forward,
                          .exchange = variant_.exchange,
                          .threads = distribution_.threads};
  if (is_line(variant_)) {
    const std::size_t n0 = inverse ? variant_.layout.n1 : variant_.layout.n0,
                      n1 = inverse ? variant_.layout.n0 : variant_.layout.n1;
    problem.real = false;
    problem.shape = {1, n0, n1};
    problem.in_strides = {1, n1, 1};
    problem.out_strides = {1, 1, n0};
  } else {
    const auto samples = samples_[all_.rank()].strides(), spectrum = spectrum_[all_.rank()].strides();
    problem.in_strides = inverse ? spectrum : samples;
    problem.out_strides = inverse ? samples : spectrum;
  }
  return std::make_unique<Pipeline<T>>(all_, problem, device, options);
}

template <class T>
void Running<T>::take_memory() {
  if (variant_.alone) return;
  const auto most = [&](const auto& of) { return std::max(of(*forward_), inverse_ ? of(*inverse_) : std::size_t{0}); };
  const std::size_t received = most([&](const Pipeline<T>& p) { return p.received_bytes(all_.rank()); });
  const bool shared = variant_.exchange.shares_memory();
  if (shared) workspace_.window = all_.share(received);
  all_.agree([&] {
    if (shared && workspace_.window.empty()) {
      throw Error(ErrorKind::out_of_memory,
                  fmt::format("cannot allocate {} bytes of memory shared between processes", received));
    }
    if (!shared) workspace_.received = base::AlignedArray<std::byte>(received);
    workspace_.mine = shared ? static_cast<std::byte*>(workspace_.window.of(all_.rank())) : workspace_.received.data();
    workspace_.send = base::AlignedArray<std::byte>(most([](const Pipeline<T>& p) { return p.send_bytes(); }));
    workspace_.slices = base::AlignedArray<std::byte>(most([](const Pipeline<T>& p) { return p.slice_bytes(); }));
    const std::size_t sample_bytes = distribution_.real ? sizeof(T) : sizeof(Complex);
    if (samples_in_) staged_samples_ = base::AlignedArray<std::byte>(samples_[all_.rank()].size() * sample_bytes);
    if (spectrum_out_) {
      staged_spectrum_ = base::AlignedArray<std::byte>(spectrum_[all_.rank()].size() * sizeof(Complex));
    }
    if (is_line(variant_) && distribution_.real) {
      const Part in = part(variant_.layout.n0, all_.rank(), all_.count()),
                 out = part(variant_.layout.n1, all_.rank(), all_.count());
      line_in_ = base::AlignedArray<std::byte>((in.end - in.begin) * variant_.layout.n1 * sizeof(Complex));
      line_out_ = base::AlignedArray<std::byte>((out.end - out.begin) * variant_.layout.n0 * sizeof(Complex));
    }
  });
}

// A real transform as a complex one with zero imaginary parts. The inverse completes the half spectrum by conjugate
// symmetry.
template <class T>
void Running<T>::run_line(bool inverse, const void* in, void* out) const {
  auto* samples = reinterpret_cast<Complex*>(line_in_.data());
  auto* spectrum = reinterpret_cast<Complex*>(line_out_.data());
  const std::size_t count = line_in_.size() / sizeof(Complex), n = distribution_.samples[2];
  const std::size_t kept = spectrum_[all_.rank()].size(), first = spectrum_[all_.rank()].begin[2];
  if (!inverse) {
    for (std::size_t i = 0; i < count; ++i) samples[i] = static_cast<const T*>(in)[i];
    forward_->run(workspace_, samples, spectrum);
    std::copy_n(spectrum, kept, static_cast<Complex*>(out));
    return;
  }
  std::fill_n(spectrum, line_out_.size() / sizeof(Complex), Complex{});
  for (std::size_t i = 0; i < kept; ++i) {
    const std::size_t k = first + i;
    const bool once = k == 0 || 2 * k == n;
    spectrum[i] = static_cast<const Complex*>(in)[i] * static_cast<T>(once ? 1 : 2);
  }
  inverse_->run(workspace_, spectrum, samples);
  for (std::size_t i = 0; i < count; ++i) static_cast<T*>(out)[i] = samples[i].real();
}

template <class T>
void Running<T>::run(bool inverse, const void* in, void* out) const {
  if (alone_) {
    const std::size_t samples = alone_->input_size(), spectrum = alone_->output_size();
    const auto* complex_in = static_cast<const Complex*>(in);
    auto* complex_out = static_cast<Complex*>(out);
    if (distribution_.real && !inverse) {
      alone_->forward(std::span(static_cast<const T*>(in), samples), std::span(complex_out, spectrum));
    } else if (distribution_.real) {
      alone_->inverse(std::span(complex_in, spectrum), std::span(static_cast<T*>(out), samples));
    } else if (inverse) {
      alone_->inverse(std::span(complex_in, spectrum), std::span(complex_out, samples));
    } else {
      alone_->forward(std::span(complex_in, samples), std::span(complex_out, spectrum));
    }
    return;
  }
  const std::unique_ptr<Route>& before = inverse ? spectrum_in_ : samples_in_;
  const std::unique_ptr<Route>& after = inverse ? samples_out_ : spectrum_out_;
  std::byte* staged_in = (inverse ? staged_spectrum_ : staged_samples_).data();
  std::byte* staged_out = (inverse ? staged_samples_ : staged_spectrum_).data();
  if (before) before->run(in, staged_in);
  const void* from = before ? staged_in : in;
  void* to = after ? staged_out : out;
  if (is_line(variant_) && distribution_.real) {
    run_line(inverse, from, to);
  } else {
    (inverse ? inverse_ : forward_)->run(workspace_, from, to);
  }
  if (after) after->run(staged_out, out);
}

template <class T>
std::size_t Running<T>::bytes_sent() const {
  std::size_t bytes = forward_ ? forward_->bytes_sent() : 0;
  for (const auto* route : {samples_in_.get(), spectrum_out_.get()}) {
    if (route != nullptr) bytes += route->bytes_sent();
  }
  return bytes;
}

template <class T>
std::string Running<T>::explain() const {
  if (alone_) return alone_->explain();
  return fmt::format("{}{}{}", samples_in_ ? "  before stage 1: samples redistributed from the caller's boxes\n" : "",
                     forward_->explain(),
                     spectrum_out_ ? "  after the last stage: spectrum redistributed to the caller's boxes\n" : "");
}

template class Running<float>;
template class Running<double>;

}  // namespace ridge::mpi::fft
