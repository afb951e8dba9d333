// Device variants of operator chains: fused as far as local memory allows, or one step per operator.
#include <algorithm>
#include <mutex>
#include <optional>

#include <fmt/format.h>

#include "image/methods/device/vec4.hpp"
#include "image/operators/definition.hpp"

namespace ridge::image {

bool product_of(const Operation& operation, Depth depth, Product& product) {
  const auto of = [&]<class T>(const T& o) {
    const auto product_function = definition<T>().product;
    return product_function == nullptr ? std::nullopt : product_function(o, depth);
  };
  auto found = std::visit(of, operation);
  if (found) product = *std::move(found);
  return found.has_value();
}

std::optional<Window> window_of(const Operation& operation, Depth depth) {
  const auto of = [&]<class T>(const T& o) {
    const auto window_function = definition<T>().window;
    return window_function == nullptr ? std::nullopt : window_function(o, depth);
  };
  return std::visit(of, operation);
}

}  // namespace ridge::image

namespace ridge::image::on_device {

bool add_stages(const Operation& operation, const Chain& chain, Shape& in, std::vector<TileStage>& stages) {
  StageList list(operation, chain, in, stages);
  const auto add = [&]<class T>(const T& o) {
    const Definition<T>& defined = definition<T>();
    if (defined.tile != nullptr) return defined.tile(o, list);
    const auto product = defined.product == nullptr ? std::nullopt : defined.product(o, in.depth);
    return product && list.add_product(*product);
  };
  return std::visit(add, operation);
}

namespace {

// All plans for a link: the operator's own methods, then those that serve several operators.
std::vector<StepPlan> list_steps(const Device& device, Chain chain, const Link& link) {
  const Operation* own = link.operations.size() == 1 ? &link.operations.front() : operation_besides_grays(link);
  std::vector<StepPlan> plans;
  if (own != nullptr) {
    chain.border = border_for(*own, chain.given);
    const auto list = [&]<class T>(const T&) {
      for (StepLister* lister : definition<T>().steps) lister(device, chain, link, plans);
    };
    std::visit(list, *own);
  }
  list_methods(device, chain, link, plans);
  return plans;
}

struct ChainStep {
  StepPlan plan = {};
  Shape out = {};
  std::string fused = {};  // names of the operators of a fused step: "gauss 2 + gray"
};

class DeviceChain final : public Variant {
 public:
  DeviceChain(const Device& device, const OperatorProblem& problem, const std::vector<ChainStep>& steps)
      : own_queue_(device.queue()),
        in_(Image::on(device, problem.input, "image")),
        out_(Image::on(device, steps.back().out, "result")) {
    if (inputs(problem) > 1) guide_ = Image::on(device, problem.input, "guide");
    for (const ChainStep& step : steps) {
      steps_.push_back(step.plan.build(device));
      has_memory_ = has_memory_ || steps_.back()->has_memory() || steps.size() > 1;
      if (steps_.size() < steps.size()) between_.push_back(Image::on(device, step.out, "between"));
    }
  }

  void enqueue(Queue& queue, std::span<const Image> in, const Image& out) const override {
    const Image guide = in.size() > 1 ? in[1] : Image();
    if (!has_memory_) return steps_.front()->enqueue(queue, in[0], guide, out);
    std::lock_guard lock(enqueuing_);
    if (last_) queue.wait_for(*last_);  // all queues share the images between steps
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      steps_[i]->enqueue(queue, i == 0 ? in[0] : between_[i - 1], guide, i < between_.size() ? between_[i] : out);
    }
    last_ = queue.record();
  }

  void run(std::span<const Image> in, Image& out) const override {
    std::lock_guard lock(running_);
    Queue queue = own_queue_;
    std::vector<Image> there{in_};
    if (in.size() > 1) there.push_back(guide_);
    for (std::size_t i = 0; i < in.size(); ++i) upload(queue, in[i], there[i]);
    enqueue(queue, there, out_);
    download(queue, out_, out);
    queue.finish();
  }

 private:
  Queue own_queue_;
  Image in_, guide_, out_;  // used by run(), one caller at a time
  std::vector<std::shared_ptr<const Step>> steps_;
  std::vector<Image> between_;
  bool has_memory_ = false;
  mutable std::mutex running_, enqueuing_;
  mutable std::optional<Event> last_;
};

// Replaces a pyramid by one operator per level, so that each level is planned and fused separately.
OperatorProblem level_by_level(OperatorProblem problem) {
  std::vector<Operation> chain;
  for (const Operation& operation : problem.chain) {
    const auto* pyramid = std::get_if<Pyramid>(&operation);
    chain.insert(chain.end(), pyramid == nullptr ? 1 : pyramid->levels, pyramid == nullptr ? operation : Pyramid{1});
  }
  problem.chain = std::move(chain);
  return problem;
}

// Splits a chain into links. A gray joins its predecessor, or its successor if it is first, because three channels are
// read or written there anyway.
std::vector<Link> links_of(const OperatorProblem& problem) {
  std::vector<Link> links;
  Shape shape = problem.input;
  for (const Operation& operation : problem.chain) {
    const Shape out = output_shape(operation, shape);
    const bool gray = std::holds_alternative<Gray>(operation);
    const bool joins = !links.empty() && (gray || std::holds_alternative<Gray>(links.back().operations.back())) &&
                       links.back().operations.size() == 1;
    if (joins) {
      links.back().operations.push_back(operation);
      links.back().out = out;
    } else {
      links.push_back({{operation}, shape, out});
    }
    shape = out;
  }
  return links;
}

std::string names_of(const std::vector<Operation>& operations) {
  std::string names;
  for (const Operation& operation : operations) names += (names.empty() ? "" : " + ") + short_name(operation);
  return names;
}

double typical_seconds(const StepPlan& plan) {  // seconds on a typical GPU, to rank the variants of one operator
  return std::max(plan.cost.flops / 20e12, plan.cost.bytes / 3e12) / plan.cost.efficiency + 3e-6 * plan.cost.launches;
}

const StepPlan* best_of(const std::vector<StepPlan>& plans) {
  const StepPlan* best = nullptr;
  for (const StepPlan& plan : plans) {
    if (plan.refusal.empty() && (best == nullptr || typical_seconds(plan) < typical_seconds(*best))) best = &plan;
  }
  return best;
}

// Appends the cheapest step for a link, or separate steps for its operators if no single step does all.
void add_best(const Device& device, const Chain& chain, const Link& link, std::vector<ChainStep>& steps) {
  std::vector<StepPlan> plans = list_steps(device, chain, link);
  if (const StepPlan* best = best_of(plans)) {
    steps.push_back({*best, link.out, link.operations.size() > 1 ? names_of(link.operations) : ""});
    return;
  }
  if (link.operations.size() == 1) {
    throw Error(ErrorKind::unavailable, fmt::format("{}: {}", short_name(link.operations.front()),
                                                    plans.empty() ? "has no device variant" : plans.front().refusal));
  }
  Shape shape = link.in;
  for (const Operation& operation : link.operations) {
    const Shape out = output_shape(operation, shape);
    add_best(device, chain, {{operation}, shape, out}, steps);
    shape = out;
  }
}

// Fuses as many adjacent links per launch as fit, unless the overlap of the tiles multiplies the input reads by more
// than 3.
std::vector<ChainStep> fused_steps(const Device& device, const Chain& chain, const OperatorProblem& problem,
                                   const TileDesign& design) {
  constexpr double kMostAgain = 3;
  std::vector<ChainStep> steps;
  const std::vector<Link> links = links_of(problem);
  for (std::size_t begin = 0; begin < links.size();) {
    std::size_t end = begin;
    std::optional<StepPlan> best;
    std::vector<Operation> operations, done;
    while (end < links.size()) {
      operations.insert(operations.end(), links[end].operations.begin(), links[end].operations.end());
      std::vector<TileStage> stages;
      if (!stages_of(chain, operations, links[begin].in, stages)) break;
      StepPlan plan = tile_plan(device, chain, stages, design);
      const bool again = end > begin && lay_out(stages, design.rows, design.columns, true).again > kMostAgain;
      if (!plan.refusal.empty() || again) break;
      best = std::move(plan);
      done = operations;
      ++end;
    }
    if (best && end > begin + 1) {
      steps.push_back({*best, links[end - 1].out, names_of(done)});
    } else {
      end = begin + 1;
      add_best(device, chain, links[begin], steps);
    }
    begin = end;
  }
  return steps;
}

planner::Cost cost_of(const std::vector<ChainStep>& steps) {
  planner::Cost cost{.efficiency = 1};
  double bytes_at_best = 0;
  for (const ChainStep& step : steps) {
    cost.flops += step.plan.cost.flops;
    cost.bytes += step.plan.cost.bytes;
    cost.launches += step.plan.cost.launches;
    bytes_at_best += step.plan.cost.bytes / step.plan.cost.efficiency;
  }
  cost.efficiency = cost.bytes / bytes_at_best;
  return cost;
}

Entry entry_of(const Device& device, const OperatorProblem& problem, planner::Candidate candidate,
               std::vector<ChainStep> steps) {
  return {.candidate = std::move(candidate),
          .kernels =
              [steps] {
                std::vector<KernelSource> sources;
                for (const ChainStep& step : steps) {
                  for (KernelSource& source : step.plan.kernels()) sources.push_back(std::move(source));
                }
                return sources;
              },
          .build = [device, problem, steps] { return std::make_shared<const DeviceChain>(device, problem, steps); }};
}

// Parameters for explain(): the fused operators ("gauss 2 + gray; box 3 3 + median 1") and the number of steps.
std::vector<std::pair<std::string, std::string>> describe_steps(const std::vector<ChainStep>& steps) {
  std::vector<std::pair<std::string, std::string>> parameters;
  std::string fused;
  for (const ChainStep& step : steps) {
    if (!step.fused.empty()) fused += (fused.empty() ? "" : "; ") + step.fused;
  }
  if (!fused.empty()) parameters.emplace_back("fused", fused);
  parameters.emplace_back("steps", std::to_string(steps.size()));
  return parameters;
}

}  // namespace
}  // namespace ridge::image::on_device

namespace ridge::image {

void list_device_operators(const Device& device, const OperatorProblem& asked, std::vector<Entry>& entries) {
  using namespace on_device;
  const OperatorProblem problem = level_by_level(asked);
  const Chain chain{.given = problem.border, .constant = problem.constant, .guide = problem.input};
  const std::vector<Link> links = links_of(problem);
  if (links.size() == 1) {
    for (const StepPlan& plan : list_steps(device, chain, links.front())) {
      planner::Candidate candidate{plan.name, plan.parameters, plan.refusal, plan.cost};
      std::string fused;
      if (links.front().operations.size() > 1) {
        fused = names_of(links.front().operations);
        candidate.parameters.emplace_back("fused", fused);
      }
      entries.push_back(entry_of(device, problem, std::move(candidate), {{plan, links.front().out, fused}}));
    }
    if (links.front().operations.size() == 1) return;
  } else {
    for (const TileDesign& design : {TileDesign{32, 32}, TileDesign{16, 64}, TileDesign{16, 32}}) {
      std::vector<ChainStep> steps = fused_steps(device, chain, problem, design);
      if (steps.size() == links.size()) continue;  // nothing was fused
      auto parameters = describe_steps(steps);
      parameters.emplace_back("tile", fmt::format("{}x{}", design.columns, design.rows));
      const planner::Cost cost = cost_of(steps);
      entries.push_back(entry_of(device, problem, {"fused", std::move(parameters), {}, cost}, std::move(steps)));
    }
  }
  std::vector<ChainStep> apart;
  Shape shape = problem.input;
  for (const Operation& operation : problem.chain) {
    const Shape out = output_shape(operation, shape);
    add_best(device, chain, {{operation}, shape, out}, apart);
    shape = out;
  }
  // Described before the move below: the order in which arguments are evaluated is unspecified.
  planner::Candidate one_by_one{"one by one", describe_steps(apart), {}, cost_of(apart)};
  entries.push_back(entry_of(device, problem, std::move(one_by_one), std::move(apart)));
  if (links.size() == 1 || links.size() == problem.chain.size()) return;
  std::vector<ChainStep> linked;
  for (const Link& link : links) add_best(device, chain, link, linked);
  planner::Candidate joined{"grays joined", describe_steps(linked), {}, cost_of(linked)};
  entries.push_back(entry_of(device, problem, std::move(joined), std::move(linked)));
}

}  // namespace ridge::image
