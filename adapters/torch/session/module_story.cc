#include "adapters/torch/session/module_story.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <torch/csrc/autograd/python_variable.h>

#include <cmath>
#include <string>
#include <unordered_map>

#include "adapters/torch/hit/kept.h"
#include "adapters/torch/interpose/tensors.h"
#include "adapters/torch/program/frames.h"

namespace nb = nanobind;

namespace nanscope::torch_adapter {
namespace {

constexpr std::int64_t kMostElements = 1 << 28;  // weights and gradients that are read

using Places = std::unordered_map<std::uintptr_t, std::size_t>;  // of modules, by address

void keep_larger(std::optional<double>& kept, const std::optional<double>& seen) {
  if (!seen) return;
  if (!kept || std::isnan(*seen) || (!std::isnan(*kept) && *seen > *kept)) kept = seen;
}

void add_parameter(const at::Tensor& parameter, std::int64_t& left, ModuleFacts& module) {
  if (module.weight_dtype.empty())
    module.weight_dtype = std::string(name_of(dtype_of(parameter.scalar_type())));
  keep_larger(module.weight, largest_or_bad(parameter, left));
  const at::Tensor& gradient = parameter.grad();
  if (gradient.defined()) keep_larger(module.gradient, largest_or_bad(gradient, left));
}

void add_kept(const EventFacts::Kept& kept, const Places& places, Finding& finding) {
  for (const RawFrame& frame : frames_of(kept.stack)) {
    const auto found = places.find(reinterpret_cast<std::uintptr_t>(frame.self));
    if (frame.self == nullptr || found == places.end()) continue;
    ModuleFacts& module = finding.modules[found->second];
    const std::optional<double> before = module.activation;
    keep_larger(module.activation, kept.largest);
    if (module.activation != before) module.activation_dtype = std::string(name_of(kept.dtype));
    return;  // the innermost module alone
  }
}

}  // namespace

void tell_modules(PyObject* tree, const std::vector<EventFacts::Kept>& kept, Finding& finding) {
  if (tree == nullptr) return;
  try {
    // Rows of (path, class, address, [parameters]), parents first.
    const nb::object rows = nb::borrow(tree)();
    Places places;
    std::int64_t left = kMostElements;
    for (nb::handle row : rows) {
      if (finding.modules.size() == ModuleFacts::kMost) {
        ++finding.modules_left_out;
        continue;
      }
      places.emplace(nb::cast<std::uintptr_t>(row[2]), finding.modules.size());
      ModuleFacts& module = finding.modules.emplace_back();
      module.path = nb::cast<std::string>(row[0]);
      module.type = nb::cast<std::string>(row[1]);
      for (nb::handle parameter : nb::object(row[3])) {
        if (THPVariable_Check(parameter.ptr()))
          add_parameter(THPVariable_Unpack(parameter.ptr()), left, module);
      }
    }
    for (const EventFacts::Kept& one : kept) add_kept(one, places, finding);
  } catch (const std::exception&) {
    finding.modules.clear();  // a model that cannot be walked has no picture
  }
}

}  // namespace nanscope::torch_adapter
