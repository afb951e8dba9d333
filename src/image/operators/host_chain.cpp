// Host variants of operator chains: row-wise operators are fused, whole-image operators run between them.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "base/threads.hpp"
#include "image/methods/host/kernels/row_kernels.hpp"
#include "image/methods/host/out_rows.hpp"
#include "image/methods/host/ring.hpp"
#include "image/methods/spectral.hpp"
#include "image/operators/definition.hpp"
#include "image/variant.hpp"

namespace ridge::image {
namespace {

// Appends the stages of a row-wise operator; returns false for other operators.
bool add_rows(const Operation& operation, const Shape& in, std::size_t guide_channels, Stages& stages) {
  const auto add = [&]<class T>(const T& o) {
    const Definition<T>& defined = definition<T>();
    if (defined.rows != nullptr) {
      defined.rows(o, in, guide_channels, stages);
    } else if (const auto product = defined.product == nullptr ? std::nullopt : defined.product(o, in.depth)) {
      stages.push_back(separable_stage(*product, in, output_shape(operation, in)));
    } else {
      return false;
    }
    return true;
  };
  return std::visit(add, operation);
}

// The operator in the image's own type, or null.
std::unique_ptr<Native> native(const Operation& operation, const Shape& in, const Edge& edge) {
  // The border constant must be representable in the image's type.
  const float most = in.depth == Depth::u8 ? 255.0f : 65535.0f;
  const bool whole = edge.constant >= 0 && edge.constant <= most &&
                     edge.constant == static_cast<float>(static_cast<int>(edge.constant));
  if (edge.border == Border::constant && in.depth != Depth::f32 && !whole) return {};
  const auto make = [&]<class T>(const T& o) {
    const auto native_of = definition<T>().native;
    return native_of == nullptr ? nullptr : native_of(o, in, edge);
  };
  return std::visit(make, operation);
}

struct Part {
  Stages stages = {};
  std::vector<Edge> edges = {};  // border of each stage's input
  Operation whole = {};          // used if there are no stages, with `edge` as its border
  Edge edge = {};
  std::shared_ptr<const Native> native = {};  // replaces both if set
  Shape out = {};
};

// Time of an operation of a transform relative to one of a weighted sum.
constexpr double kSlowerTransforms = 2;

Edge edge_of(const OperatorProblem& problem, const Operation& operation) {
  return {border_for(operation, problem.border), static_cast<float>(problem.constant)};
}

// Lists the operators that pass rows to each other, for example "gauss 2 + gray".
std::string describe_fusion(const OperatorProblem& problem, bool fuse) {
  std::string text, row;
  Shape shape = problem.input;
  const auto end_row = [&] {
    if (row.find(" + ") != std::string::npos) text += (text.empty() ? "" : "; ") + row;
    row.clear();
  };
  for (const Operation& operation : problem.chain) {
    Stages stages;
    const bool rows = add_rows(operation, shape, problem.input.channels, stages);
    shape = output_shape(operation, shape);
    if (!rows || !fuse) end_row();
    if (rows) row += (row.empty() ? "" : " + ") + short_name(operation);
  }
  end_row();
  return text;
}

// FFT convolution with the cheapest tiles, or null if it is not much cheaper than weighted sums.
std::shared_ptr<const Native> spectral_where_it_pays(const Operation& operation, const Shape& in, const Edge& edge) {
  const auto window = window_of(operation, in.depth);
  if (!window) return nullptr;
  const std::vector<SpectralTile> tiles = spectral_tiles(*window, in);
  const auto cheaper = [](const SpectralTile& a, const SpectralTile& b) { return a.flops < b.flops; };
  const SpectralTile& tile = *std::min_element(tiles.begin(), tiles.end(), cheaper);
  if (tile.flops * kSlowerTransforms > window->direct_flops) return nullptr;
  return spectral_convolution(*window, tile, in.depth, edge);
}

class Fused final : public HostVariant {
 public:
  Fused(const OperatorProblem& problem, bool fuse, std::size_t threads) : threads_(threads) {
    Shape shape = problem.input;
    for (const Operation& operation : problem.chain) {
      Stages stages;
      const bool rows = add_rows(operation, shape, problem.input.channels, stages);
      const Edge edge = edge_of(problem, operation);
      const std::vector<Edge> edges(stages.size(), edge);
      std::shared_ptr<const Native> own = fuse && rows ? nullptr : native(operation, shape, edge);
      if (!fuse && !own) own = spectral_where_it_pays(operation, shape, edge);
      shape = output_shape(operation, shape);
      if (own) {
        parts_.push_back({.native = std::move(own), .out = shape});
      } else if (!rows) {
        parts_.push_back({.whole = operation, .edge = edge, .out = shape});
      } else if (fuse && !parts_.empty() && !parts_.back().stages.empty()) {
        parts_.back().stages.insert(parts_.back().stages.end(), stages.begin(), stages.end());
        parts_.back().edges.insert(parts_.back().edges.end(), edges.begin(), edges.end());
        parts_.back().out = shape;
      } else {
        parts_.push_back({.stages = std::move(stages), .edges = edges, .out = shape});
      }
    }
  }

  void run(std::span<const Image> in, Image& out) const override {
    Image now = in[0];
    const Image* guide = in.size() > 1 ? &in[1] : nullptr;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      Image next = i + 1 == parts_.size() ? out : Image(parts_[i].out);
      if (parts_[i].native) {
        parts_[i].native->run(now, next, threads_);
      } else if (parts_[i].stages.empty()) {
        whole(parts_[i], now, next);
      } else {
        rows(parts_[i], now, guide, next);
      }
      now = next;
    }
  }

 private:
  void whole(const Part& part, const Image& in, Image& out) const {
    std::visit([&]<class T>(const T& o) { definition<T>().whole(o, part.edge, in, out, threads_); }, part.whole);
  }

  void rows(const Part& part, const Image& in, const Image* guide, Image& out) const {
    base::parallel(std::min(threads_, out.rows()), [&](std::size_t thread, std::size_t of) {
      const base::Share share = base::share(out.rows(), thread, of, 1);
      if (share.begin < share.end) band(part, in, guide, share.begin, share.end, out);
    });
  }

  // Computes rows [begin, end) with ring buffers owned by this thread.
  void band(const Part& part, const Image& in, const Image* guide, std::size_t begin, std::size_t end,
            Image& out) const {
    const auto& stages = part.stages;
    std::vector<std::unique_ptr<RowSource>> sources;
    const auto guide_of = [&](std::size_t i) -> RowSource* {
      if (!stages[i]->wants_guide()) return nullptr;
      sources.push_back(std::make_unique<ImageRing>(*guide, stages[i]->pad(), stages[i]->keep(), part.edges[i]));
      return sources.back().get();
    };
    sources.push_back(
        std::make_unique<ImageRing>(in, stages.front()->pad(), stages.front()->keep(), part.edges.front()));
    RowSource* from = sources.back().get();
    for (std::size_t i = 0; i + 1 < stages.size(); ++i) {
      RowSource* look = guide_of(i);
      sources.push_back(std::make_unique<StageRing>(*stages[i], *from, look, stages[i + 1]->pad(),
                                                    stages[i + 1]->keep(), part.edges[i + 1]));
      from = sources.back().get();
    }
    const Stage& last = *stages.back();
    RowSource* look = guide_of(stages.size() - 1);
    const std::size_t stride = (last.out().columns + kRowSlack + 15) / 16 * 16;
    const std::size_t together = last.rows_at_once(), each = last.out().channels * stride;
    base::AlignedArray<float> planes(together * each), scratch(last.scratch() + 1);
    float* outs[Stage::kMostRows] = {};
    for (std::size_t j = 0; j < together; ++j) outs[j] = planes.data() + j * each;
    const auto store_all = [&]<class T>() {
      OutRows<T> rows(out, 1);
      for (std::size_t r = begin; r < end; r += together) {
        last.make_rows(r, *from, look, outs, stride, scratch.data());
        for (std::size_t j = 0; j < together && r + j < end; ++j) {
          pack(outs[j], stride, out.channels(), out.columns(), rows.row(r + j));
          rows.done(r + j);
        }
      }
    };
    switch (out.depth()) {
      case Depth::u8:
        return store_all.operator()<std::uint8_t>();
      case Depth::u16:
        return store_all.operator()<std::uint16_t>();
      default:
        return store_all.operator()<float>();
    }
  }

  std::size_t threads_;
  std::vector<Part> parts_;
};

class Transformed final : public HostVariant {
 public:
  Transformed(const Window& window, const SpectralTile& tile, const OperatorProblem& problem, std::size_t threads)
      : native_(spectral_convolution(window, tile, problem.input.depth, edge_of(problem, problem.chain.front()))),
        threads_(threads) {}
  void run(std::span<const Image> in, Image& out) const override { native_->run(in[0], out, threads_); }

 private:
  std::unique_ptr<const Native> native_;
  std::size_t threads_;
};

double values_of(const Shape& shape) { return static_cast<double>(shape.rows * shape.columns * shape.channels); }

void list_transforms(const OperatorProblem& problem, double bytes, std::size_t threads, std::vector<Entry>& entries) {
  const auto window = window_of(problem.chain.front(), problem.input.depth);
  if (!window) return;
  for (const SpectralTile& tile : spectral_tiles(*window, problem.input)) {
    entries.push_back(
        {.candidate = planner::Candidate{.variant = "fft",
                                         .parameters = {{"tile", tile.text()}, {"threads", std::to_string(threads)}},
                                         .refusal = tile.refusal,
                                         .cost = {.flops = values_of(problem.input) * tile.flops,
                                                  .bytes = bytes,
                                                  .launches = 1,
                                                  .efficiency = 0.4 / kSlowerTransforms,
                                                  .threads = threads}},
         .build = [=] { return std::make_shared<Transformed>(*window, tile, problem, threads); }});
  }
}

}  // namespace

void list_host_operators(const Device&, const OperatorProblem& problem, std::vector<Entry>& entries) {
  const std::size_t threads = problem.threads == 0 ? base::hardware_threads() : problem.threads;
  const Shape out = output_shape(problem);
  double traffic = static_cast<double>(problem.input.rows * problem.input.row_bytes()), whole = traffic;
  double flops = 0;
  Shape shape = problem.input;
  for (const Operation& operation : problem.chain) {
    if (const auto window = window_of(operation, shape.depth)) flops += values_of(shape) * window->direct_flops;
    shape = output_shape(operation, shape);
    traffic += 2 * static_cast<double>(shape.rows * shape.row_bytes());
  }
  whole += static_cast<double>(out.rows * out.row_bytes());
  const auto add = [&](const char* name, bool fuse, double bytes, double efficiency) {
    planner::Candidate candidate{
        .variant = name,
        .parameters = {{"threads", std::to_string(threads)}},
        .refusal = {},
        .cost = {.flops = flops, .bytes = bytes, .launches = 1, .efficiency = efficiency, .threads = threads}};
    if (const std::string fused = describe_fusion(problem, fuse); !fused.empty())
      candidate.parameters.insert(candidate.parameters.begin(), {"fused", fused});
    entries.push_back({.candidate = std::move(candidate),
                       .build = [problem, fuse, threads] { return std::make_shared<Fused>(problem, fuse, threads); }});
  };
  add("rows", true, whole, flops > 0 ? 0.4 : 0.2);  // data between row-wise operators stay in the cache
  if (problem.chain.size() > 1) {
    add("one by one", false, traffic, 0.2);
    return;
  }
  if (native(problem.chain.front(), problem.input, edge_of(problem, problem.chain.front())))
    add("native", false, whole, 0.6);
  list_transforms(problem, whole, threads, entries);
}

}  // namespace ridge::image
