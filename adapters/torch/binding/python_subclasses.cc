#include "adapters/torch/binding/python_subclasses.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <torch/csrc/autograd/python_variable.h>

#include <string>

#include "adapters/torch/binding/python_objects.h"
#include "adapters/torch/interpose/tensors.h"
#include "adapters/torch/watch/threads.h"

namespace nanscope::torch_adapter {
namespace {

constexpr int kMostLayers = 4;
constexpr std::size_t kMostTensors = 64;

void look_into(nb::handle subclass, int layer, std::vector<at::Tensor>& found);

// A tensor, or a container of them.
void take(nb::handle value, int layer, std::vector<at::Tensor>& found) {
  if (found.size() >= kMostTensors) return;
  if (is_tensor(value)) {
    const at::Tensor& tensor = unwrap(value);
    if (sight_of(*tensor.unsafeGetTensorImpl()) == Sight::kWrapped) {
      look_into(value, layer + 1, found);
    } else if (has_parts(*tensor.unsafeGetTensorImpl())) {
      for (const at::Tensor& part : parts_of(tensor)) found.push_back(part);
    } else {
      found.push_back(tensor);
    }
  } else if (nb::isinstance<nb::list>(value) || nb::isinstance<nb::tuple>(value)) {
    for (nb::handle item : value) take(item, layer, found);
  }
}

// By its own account; else by what it keeps as attributes.
void look_into(nb::handle subclass, int layer, std::vector<at::Tensor>& found) {
  if (layer > kMostLayers) return;
  const auto home = nb::cast<std::string>(nb::str(nb::handle(subclass.type().attr("__module__"))));
  if (home.starts_with("torch._subclasses")) return;  // a tensor without values
  if (nb::hasattr(subclass, "__tensor_flatten__")) {
    const nb::object names = subclass.attr("__tensor_flatten__")();
    for (nb::handle name : nb::object(names[0])) take(nb::getattr(subclass, name), layer, found);
  } else if (nb::hasattr(subclass, "__dict__")) {
    for (nb::handle value : nb::object(subclass.attr("__dict__").attr("values")()))
      take(value, layer, found);
  }
}

}  // namespace

std::vector<at::Tensor> wrapped_by(const at::Tensor& subclass) {
  const nb::gil_scoped_acquire gil;
  const Busy busy;
  std::vector<at::Tensor> found;
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  try {
    const nb::object object = nb::steal(THPVariable_Wrap(subclass));
    if (object.is_valid()) look_into(object, 0, found);
  } catch (const std::exception&) {  // it does not say
    found.clear();
  }
  PyErr_Restore(type, value, trace);
  return found;
}

}  // namespace nanscope::torch_adapter
