#include "adapters/torch/sentinel/stepped_optimizers.h"

namespace nb = nanobind;

namespace nanscope::torch_adapter {
namespace {

constexpr std::int64_t kStepsBetween = 8;
constexpr std::size_t kManyOptimizers = 64;

PyObject* target_of(const nb::object& reference) { return PyWeakref_GetObject(reference.ptr()); }

}  // namespace

SteppedOptimizers::Seen& SteppedOptimizers::find(nb::handle optimizer) {
  const auto known = seen_.find(optimizer.ptr());
  if (known != seen_.end() && target_of(known->second.reference) == optimizer.ptr())
    return known->second;
  if (seen_.size() >= kManyOptimizers) {
    std::erase_if(seen_,
                  [](const auto& entry) { return target_of(entry.second.reference) == Py_None; });
  }
  Seen& seen = seen_[optimizer.ptr()];
  seen = {nb::weakref(optimizer), 0, false};
  return seen;
}

SteppedOptimizers::Optimizers SteppedOptimizers::to_look_at(nb::handle optimizer, bool all) {
  Seen& seen = find(optimizer);
  const std::int64_t number = seen.steps++;
  seen.looked_at = false;
  if (all) return unseen();
  if (number >= kStepsBetween && number % kStepsBetween != 0) return {};
  seen.looked_at = true;
  return {nb::borrow(optimizer)};
}

SteppedOptimizers::Optimizers SteppedOptimizers::alive() const {
  Optimizers optimizers;
  for (const auto& [address, seen] : seen_) {
    PyObject* optimizer = target_of(seen.reference);
    if (optimizer != Py_None) optimizers.push_back(nb::borrow(optimizer));
  }
  return optimizers;
}

SteppedOptimizers::Optimizers SteppedOptimizers::unseen() {
  Optimizers optimizers;
  for (auto& [address, seen] : seen_) {
    PyObject* optimizer = target_of(seen.reference);
    if (seen.looked_at || optimizer == Py_None) continue;
    seen.looked_at = true;
    optimizers.push_back(nb::borrow(optimizer));
  }
  return optimizers;
}

}  // namespace nanscope::torch_adapter
