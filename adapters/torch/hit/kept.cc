#include "adapters/torch/hit/kept.h"

#include <cmath>
#include <limits>
#include <map>

#include "adapters/torch/device/probe.h"
#include "adapters/torch/hit/saved.h"
#include "adapters/torch/interpose/tensors.h"
#include "adapters/torch/ops/op_table.h"
#include "adapters/torch/program/nodes.h"
#include "scan/census.h"
#include "scan/statistics.h"

namespace nanscope::torch_adapter {
namespace {

constexpr std::size_t kMostNodes = 2048;
constexpr std::int64_t kMostElements = 1 << 25;  // of one look

// A NaN is worse than an Inf, which is larger than any number.
bool is_larger(double a, double b) { return std::isnan(a) ? !std::isnan(b) : a > b; }

}  // namespace

std::optional<double> largest_or_bad(const at::Tensor& tensor, std::int64_t& elements_left) {
  const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  if (sight_of(impl) != Sight::kWatched || impl.numel() == 0 || impl.numel() > elements_left)
    return std::nullopt;
  elements_left -= impl.numel();
  if (!is_on_host(impl)) return largest_on_device(impl);
  Census seen;
  if (impl.is_non_overlapping_and_dense()) {
    seen = census_of(data_of(impl), static_cast<std::size_t>(impl.numel()),
                     dtype_of(tensor.scalar_type()));
  } else {
    const Statistics all = statistics_of(OwnedView(tensor).view());
    seen.nan = all.nan;
    seen.pos_inf = all.pos_inf + all.neg_inf;
    if (all.min) seen.least = *all.min;
    if (all.max) seen.most = *all.max;
  }
  if (seen.nan > 0) return std::numeric_limits<double>::quiet_NaN();
  if (seen.pos_inf + seen.neg_inf > 0) return std::numeric_limits<double>::infinity();
  return seen.largest_magnitude();
}

std::vector<Facts::Kept> kept_behind(const MakerWalk& walk) {
  std::map<std::uint32_t, Facts::Kept> by_place;
  std::int64_t elements_left = kMostElements;
  std::size_t nodes = 0;
  each_node_behind(walk, [&](const NodePtr& node) {
    const StackId stack = site_of(*node);
    if (stack == 0) return ++nodes < kMostNodes;
    for (const auto& [name, tensor] : saved_by(node).tensors) {
      if (!is_kept_activation(name) || (tensor.requires_grad() && tensor.is_leaf())) continue;
      const std::optional<double> largest = largest_or_bad(tensor, elements_left);
      if (!largest) continue;
      const Facts::Kept kept{stack, dtype_of(tensor.scalar_type()), *largest};
      const auto [place, is_new] = by_place.try_emplace(stack, kept);
      if (!is_new && is_larger(*largest, place->second.largest)) place->second = kept;
    }
    return ++nodes < kMostNodes;
  });
  std::vector<Facts::Kept> all;
  for (const auto& [stack, kept] : by_place) all.push_back(kept);
  return all;
}

}  // namespace nanscope::torch_adapter
